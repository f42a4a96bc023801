"""Parquet files and folders of Spark's FPGrowth.

``freqItemsets`` has the columns ``items`` and ``freq``; ``associationRules`` has the lists ``antecedent`` and ``consequent`` and the doubles
``confidence`` and, in newer versions, ``support`` and ``lift``. Lines are row numbers from 1, over the files of a folder by name.
"""

from __future__ import annotations

import numpy as np

from tacit.errors import InputError
from tacit.files.delimited import Head, holds
from tacit.files.disk import Input, shown
from tacit.files.duckdb import parquet_columns, read_parquet, sql_name, text_of
from tacit.files.header import FileHeader
from tacit.files.printout import Bags, Numbering, Printout, TextColumn, finish, with_extras
from tacit.files.recognition import is_spark


def read(file: Input, known: FileHeader) -> Printout:
    """Return the rows of Spark's itemsets or rules."""
    kinds = parquet_columns(file)
    if not is_spark(Head(columns=kinds)):
        raise InputError(
            "has no lists 'items' with 'freq', nor lists 'antecedent' and 'consequent'",
            where=shown(file),
            remedy="Save freqItemsets or associationRules of Spark's FPGrowth",
        )
    rules = not holds(kinds, "items", "freq")
    lists = ["antecedent", "consequent"] if rules else ["items"]
    numbers = [name for name in (("support", "confidence") if rules else ("freq",)) if name in kinds]
    bags = [Bags(numbering := Numbering()), Bags(numbering)][: len(lists)]
    texts: dict[str, list[str]] = {name: [] for name in numbers}
    expressions = [f"CAST({sql_name(name)} AS VARCHAR[])" for name in lists]
    for rows in read_parquet(file, expressions + [text_of(name, kinds[name]) for name in numbers]):
        columns = list(zip(*rows, strict=True))
        for bag, column in zip(bags, columns, strict=False):
            bag.add([cell or [] for cell in column])
        for name, column in zip(numbers, columns[len(lists) :], strict=True):
            texts[name].extend("" if cell is None else cell for cell in column)
    printed = {name: TextColumn(name, cells) for name, cells in texts.items()}
    items, sets = finish(bags)
    printout = Printout.of(
        file.name,
        np.arange(1, len(sets[0]) + 1),
        (items, sets),
        known,
        count=printed.get("freq"),
        support=printed.get("support"),
        confidence=printed.get("confidence"),
        unit="row",
    )
    beside = [name for name in kinds if name not in (*lists, *numbers)]
    columns_beside = {
        name: [str(cell or "") for rows in read_parquet(file, [text_of(name, kinds[name])]) for (cell,) in rows]
        for name in beside
    }
    return with_extras(printout, columns_beside)
