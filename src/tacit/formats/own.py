"""Tacit's own release files, read: CSV or Parquet, with a header file beside.

Itemsets have the columns ``itemset`` (a JSON list), ``count``, ``support``; rules have ``antecedent`` (a JSON object of columns and values,
or a JSON list of items), ``consequent``, ``count``, ``support``, ``confidence``. An empty cell is a withheld value. Where the header names
the ``sa``, a consequent is one of its values as plain text; otherwise it is a JSON list or object like the antecedent, or plain text.
In Parquet ``itemset`` is a list of texts, counts are BIGINT, shares DOUBLE (the header's ``digits`` says how they print), the rest text.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np

from tacit.errors import InputError
from tacit.formats.delimited import read_grid
from tacit.formats.extras import with_extras
from tacit.formats.files import FilePath
from tacit.formats.head import Head, holds, read_head
from tacit.formats.header import FileHeader, split_items
from tacit.formats.jsoncells import add_lists, add_objects, item_name, pair_name
from tacit.formats.numbers import Place
from tacit.formats.parquet import quoted, read_parquet, text_of
from tacit.formats.printout import Bags, Numbering, Printout, TextColumn, finish, place
from tacit.model.items import Items
from tacit.model.release import Counts
from tacit.model.sets import Sets

#: The column that a consequent is filed under when no header names the SA.
UNNAMED_SA = "consequent"


def _is_own(names: set[str]) -> bool:
    return (holds(names, "itemset") and ("count" in names or "support" in names)) or holds(names, "antecedent", "consequent")


def looks_like(head: Head) -> bool:
    """Whether a file has the columns of Tacit's own releases."""
    if head.columns:
        lists = {name for name, kind in head.columns.items() if kind.endswith("[]")}
        return _is_own(set(head.columns)) and not lists & {"antecedent", "consequent"}
    return head.delimiter(_is_own) is not None


def read(path: FilePath, known: FileHeader) -> Printout:
    """The lines of an own release, CSV or Parquet."""
    head = read_head(path)
    if head.columns:
        columns, lines = _parquet_columns(path, head.columns)
        where = os.path.basename(os.fspath(path).rstrip("/"))
    else:
        grid = read_grid(path, head.delimiter(_is_own) or ",")
        columns = {name: column for name in COLUMNS if (column := grid.column(name)) is not None}
        lines, where = grid.lines, grid.where
    unit = "row" if head.columns else "line"
    found = printout(columns, lines, known, where=where, unit=unit)
    if head.columns:
        return replace(found, unread=tuple(name for name in head.columns if name not in COLUMNS))
    return with_extras(found, grid.others(COLUMNS))


COLUMNS = ("itemset", "antecedent", "consequent", "count", "support", "confidence")


def printout(columns: dict[str, TextColumn], lines: Counts, known: FileHeader, *, where: str, unit: Any) -> Printout:
    """The printout of these columns."""

    def at(index: int, column: str) -> str:
        return place(where, int(lines[index]), column, unit)

    kind = "itemsets" if "itemset" in columns else "rules"
    if kind == "rules" and not holds(columns, "antecedent", "consequent"):
        raise InputError(
            "has neither a column 'itemset' nor 'antecedent' and 'consequent'",
            where=f"{where}, line 1",
            remedy="Name the columns so",
        )
    if known.kind not in (None, kind):
        raise InputError(
            f"says {known.kind}, but {where} holds {kind}", where=f"{known.where}, key 'format'", remedy="Correct it"
        )
    consequents: Sets | None = None
    if kind == "itemsets":
        bags = Bags(Numbering(item_name))
        add_lists(bags, columns["itemset"], at)
        items, sets = _itemsets(bags, known.columns or known.header.qi + known.header.sa)
    else:
        items, sets, consequents = _rules(columns["antecedent"], columns["consequent"], known, at)
    return Printout(
        where, lines, items, sets, consequents,
        count=columns.get("count"),
        support=columns.get("support"),
        confidence=columns.get("confidence") if kind == "rules" else None,
        header=known.header,
        only=known.only or "all",
        unit=unit,
        exact=known.exact,
    )  # fmt: skip


def _itemsets(bags: Bags, columns: tuple[str, ...]) -> tuple[Items, Sets]:
    """Items and itemsets; items ``column=value`` stand in the order of the columns and then of their values."""
    names = tuple(bags.numbering.numbers)
    pairs = split_items(names, columns) if columns else None
    if pairs is None:
        items, (sets,) = finish([bags])
        return items, sets
    order = sorted(range(len(names)), key=lambda i: (columns.index(pairs[i][0]), pairs[i][1]))
    return Items.of_columns([pairs[i] for i in order]), bags.sets(bags.numbering.ranks([names[i] for i in order]))


def _rules(antecedent: TextColumn, consequent: TextColumn, known: FileHeader, at: Place) -> tuple[Items, Sets, Sets]:
    """Items, antecedents and consequents; antecedents are all objects or all lists."""
    if antecedent.texts and not any(cell.lstrip().startswith("{") for cell in antecedent.texts):
        bags = [Bags(numbering := Numbering(item_name)), Bags(numbering)]
        add_lists(bags[0], antecedent, at)
        if all(cell.lstrip().startswith("[") for cell in consequent.texts):
            add_lists(bags[1], consequent, at)
        else:
            bags[1].add([(cell,) for cell in consequent.texts])
        items, (antecedents, consequents) = finish(bags)
        return items, antecedents, consequents
    bags = [Bags(numbering := Numbering(pair_name)), Bags(numbering)]
    add_objects(bags[0], antecedent, at)
    if not known.header.sa and consequent.texts and all(cell.lstrip().startswith("{") for cell in consequent.texts):
        add_objects(bags[1], consequent, at)
    else:
        column = " & ".join(known.header.sa) or UNNAMED_SA
        bags[1].add([((column, cell),) for cell in consequent.texts])
    pairs = _ordered(list(numbering.numbers), known)
    ranks = numbering.ranks(pairs)
    return Items.of_columns(pairs), bags[0].sets(ranks), bags[1].sets(ranks)


def _ordered(pairs: list[tuple[str, str]], known: FileHeader) -> list[tuple[str, str]]:
    """Pairs by column, in the order of the header and then of the file, and by value."""
    order = {column: i for i, column in enumerate(known.header.qi)}
    for column, _ in pairs:
        order.setdefault(column, len(order))
    return sorted(pairs, key=lambda pair: (order[pair[0]], pair[1]))


def _parquet_columns(path: FilePath, kinds: dict[str, str]) -> tuple[dict[str, TextColumn], Counts]:
    """The columns of an own Parquet file as texts, and the numbers of its rows."""
    names = [name for name in COLUMNS if name in kinds]
    expressions = [
        f"CAST(to_json({quoted(name)}) AS VARCHAR)" if kinds[name].endswith("[]") else text_of(name, kinds[name])
        for name in names
    ]
    texts: list[list[str]] = [[] for _ in names]
    for rows in read_parquet(path, expressions):
        for cells, column in zip(texts, zip(*rows, strict=True), strict=True):
            cells.extend("" if cell is None else cell for cell in column)
    columns = {name: TextColumn(name, cells) for name, cells in zip(names, texts, strict=True)}
    return columns, np.arange(1, len(texts[0]) + 1, dtype=np.int64)
