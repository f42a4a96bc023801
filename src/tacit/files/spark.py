"""Parquet files and folders of Spark's FPGrowth: ``freqItemsets`` (``items``, ``freq``) and ``associationRules``.

Rules have the lists ``antecedent`` and ``consequent`` and the doubles ``confidence`` and, in newer versions, ``support`` and ``lift``. Lines are
row numbers from 1, over the files of a folder in the order of their names.
"""

from __future__ import annotations

import os

import numpy as np

from tacit.errors import InputError
from tacit.files.columns import with_extras
from tacit.files.delimited import Bags, Head, Numbering, Printout, TextColumn, finish, holds
from tacit.files.disk import FilePath, shown
from tacit.files.header import FileHeader
from tacit.files.parquet import parquet_columns, quoted, read_parquet, text_of


def is_itemsets(names: set[str]) -> bool:
    """Whether these are the columns of Spark's itemsets."""
    return holds(names, "items", "freq")


def looks_like(head: Head) -> bool:
    """Whether a Parquet file has Spark's columns, with lists of items."""
    lists = {name for name, kind in head.columns.items() if kind.endswith("[]")}
    return (is_itemsets(set(head.columns)) and "items" in lists) or holds(lists, "antecedent", "consequent")


def read(path: FilePath, known: FileHeader) -> Printout:
    """The rows of Spark's itemsets or rules."""
    kinds = parquet_columns(path)
    if not looks_like(Head(columns=kinds)):
        raise InputError(
            "has no lists 'items' with 'freq', nor lists 'antecedent' and 'consequent'",
            where=shown(path),
            remedy="Save freqItemsets or associationRules of Spark's FPGrowth",
        )
    rules = not is_itemsets(set(kinds))
    lists = ["antecedent", "consequent"] if rules else ["items"]
    numbers = [name for name in (("support", "confidence") if rules else ("freq",)) if name in kinds]
    bags = [Bags(numbering := Numbering()), Bags(numbering)][: len(lists)]
    texts: dict[str, list[str]] = {name: [] for name in numbers}
    expressions = [f"CAST({quoted(name)} AS VARCHAR[])" for name in lists]
    for rows in read_parquet(path, expressions + [text_of(name, kinds[name]) for name in numbers]):
        columns = list(zip(*rows, strict=True))
        for bag, column in zip(bags, columns, strict=False):
            bag.add([cell or [] for cell in column])
        for name, column in zip(numbers, columns[len(lists) :], strict=True):
            texts[name].extend("" if cell is None else cell for cell in column)
    items, sets = finish(bags)
    printed = {name: TextColumn(name, cells) for name, cells in texts.items()}
    beside = [name for name in kinds if name not in (*lists, *numbers)]
    printout = Printout(
        os.path.basename(os.fspath(path).rstrip("/")),
        np.arange(1, len(sets[0]) + 1, dtype=np.int64),
        items,
        sets[0],
        sets[1] if rules else None,
        count=printed.get("freq"),
        support=printed.get("support"),
        confidence=printed.get("confidence"),
        header=known.header,
        only=known.only or "all",
        unit="row",
    )
    return with_extras(printout, {name: _texts(path, name, kinds[name]) for name in beside})


def _texts(path: FilePath, name: str, kind: str) -> list[str]:
    """One more column as texts."""
    return [str(cell or "") for rows in read_parquet(path, [text_of(name, kind)]) for (cell,) in rows]
