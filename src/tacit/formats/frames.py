"""Releases as frames in memory: results of mlxtend, Spark and Tacit's own columns, from pandas, polars, Arrow or Spark.

A frame is read the way its CSV file would be: a float stands for the values that print like it in its column. Lines are row numbers from 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

import numpy as np

from tacit.errors import InputError
from tacit.formats import mlxtend, spark
from tacit.formats.extras import with_extras
from tacit.formats.head import holds
from tacit.formats.header import FileHeader
from tacit.formats.own import COLUMNS, printout
from tacit.formats.printout import Printout, TextColumn, named_sets, place

WHERE = "frame"
Columns = dict[str, Callable[[], list[Any]]]


def columns_of(frame: Any) -> Columns | None:
    """For each column of a frame, how to get its values; None when the object is no frame."""
    if hasattr(frame, "collect_schema") and hasattr(frame, "collect"):
        frame = frame.collect()  # a lazy polars frame; an eager one has no collect
    if hasattr(frame, "toPandas"):
        frame = frame.toPandas()
    if hasattr(frame, "column_names") and hasattr(frame, "column"):
        return {name: _values(frame.column(name), "to_pylist", frame.column(name).type) for name in frame.column_names}
    if hasattr(frame, "columns") and hasattr(frame, "__getitem__"):
        if len(set(frame.columns)) < len(frame.columns):
            raise InputError("two columns have the same name", where=WHERE, remedy="Rename one of the two")
        return {str(name): _values(frame[name], "to_list", frame[name].dtype) for name in frame.columns}
    return None


def _values(series: Any, method: str, kind: Any) -> Callable[[], list[Any]]:
    """How to get the values of a column; 32-bit floats come as texts with the digits they really have."""
    get: Callable[[], list[Any]] = getattr(series, method)
    if str(kind).casefold() in ("float32", "float"):
        return lambda: [None if value is None or math.isnan(value) else f"{value:.6g}" for value in get()]
    return get


def read(columns: Columns, known: FileHeader) -> Printout:
    """The rows of a frame with the columns of one of the known results."""
    names = set(columns)
    if mlxtend.is_itemsets(names):
        return _sets(columns, ["itemsets"], known, support="support")
    if mlxtend.is_rules(names):
        sides = ["antecedents", "consequents"]
        return _sets(columns, sides, known, support="support", confidence="confidence", whole_support="antecedent support")
    if spark.is_itemsets(names):
        return _sets(columns, ["items"], known, count="freq")
    if holds(names, "itemset") or holds(names, "antecedent", "consequent"):
        return _own_or_spark_rules(columns, known)
    raise InputError(
        "the columns are those of no release that Tacit knows",
        where=WHERE,
        remedy="Give support and itemsets, antecedents and consequents, items and freq, or itemset and count",
    )


def _own_or_spark_rules(columns: Columns, known: FileHeader) -> Printout:
    side = columns["itemset" if "itemset" in columns else "antecedent"]()
    if side and all(isinstance(cell, str) for cell in side):
        texts = {name: TextColumn(name, [_text(value) for value in values()]) for name, values in columns.items()}
        found = printout(texts, np.arange(1, len(side) + 1, dtype=np.int64), known, where=WHERE, unit="row")
        return with_extras(found, {name: column.texts for name, column in texts.items() if name not in COLUMNS})
    if "itemset" in columns:
        return _sets(columns, ["itemset"], known, count="count", support="support")
    return _sets(columns, ["antecedent", "consequent"], known, count="count", support="support", confidence="confidence")


def _sets(columns: Columns, sides: list[str], known: FileHeader, **numbers: str) -> Printout:
    cells = [[_members(cell, row, name) for row, cell in enumerate(columns[name](), 1)] for name in sides]
    items, sets = named_sets(*cells)
    printed = {
        ours: TextColumn(name, [_text(value) for value in columns[name]()]) for ours, name in numbers.items() if name in columns
    }
    printout = Printout(
        WHERE,
        np.arange(1, len(sets[0]) + 1, dtype=np.int64),
        items,
        sets[0],
        sets[1] if len(sets) > 1 else None,
        count=printed.get("count"),
        support=printed.get("support"),
        confidence=printed.get("confidence"),
        whole_support=printed.get("whole_support"),
        header=known.header,
        only=known.only or "all",
        unit="row",
        in_full="support" in printed and sides[0] in ("itemsets", "antecedents"),
    )
    beside = [name for name in columns if name not in (*sides, *numbers.values())]
    return with_extras(printout, {name: [_text(value) for value in columns[name]()] for name in beside})


def _members(cell: Any, row: int, column: str) -> list[str]:
    """The items of one cell: a set or list, or the text that one prints."""
    if isinstance(cell, str):
        tokens = mlxtend.set_tokens(cell)
        names = None if tokens is None else [mlxtend.token_name(token) for token in tokens]
        if names is not None and all(name is not None for name in names):
            return [name or "" for name in names]
    elif isinstance(cell, Iterable):
        return [str(item) for item in cell]
    raise InputError("is not a set of items", where=place(WHERE, row, column, "row"), remedy="Give frozensets or lists")


def _text(value: Any) -> str:
    """A number as its shortest text; nothing for a missing one."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return repr(float(value))
    return str(value) if isinstance(value, (str, int, Decimal, np.integer)) else ""
