"""What frequency tables say, read anew for the checker of findings about several releases.

Like :mod:`tacit.checker`, of which it is a part, it shares no code with the attacks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.checker.rules import Reject
from tacit.model.frequencies import UNBOUNDED, FrequencyTable

#: The columns of a group with the values that they allow, or with those that they do not.
Axis = tuple[str, str]
Values = tuple[frozenset[str], bool]
Box = dict[Axis, Values]


def places(table: FrequencyTable) -> dict[int | str, int]:
    """Where each cell stands, by line or as in a spreadsheet."""
    return {table.place(index): index for index in range(len(table))}


def cell(
    table: FrequencyTable, known: Mapping[int | str, int], cited: Mapping[str, Any]
) -> tuple[Box, int, int | None, tuple[int, int]]:
    """The group of a cited cell, the fewest and the most people in it, and the ends that are printed."""
    index = known.get(cited.get("line", cited.get("cell")))
    if index is None or cited["what"] != "count":
        raise Reject("it cites a place where no cell of a table stands")
    width = len(table.columns)
    box: Box = {}
    for column in range(width):
        code = int(table.codes[index * width + column])
        if code >= 0:
            name, label = table.columns[column], table.values[column][code]
            box["column", name] = (frozenset(labelled(table, name, label)), False)
    least, most = int(table.lo[index]), int(table.hi[index])
    return box, least, None if most >= UNBOUNDED else most, (least, most)


def domains(table: FrequencyTable) -> dict[tuple[str, str], frozenset[str]]:
    """The columns of which the table lists every value, with these; none where it says that values are left out."""
    if not table.header.complete:
        return {}
    out = {("column", column): frozenset(values) for column, values in zip(table.columns, table.values, strict=True)}
    if table.measured is not None:
        out["column", table.measured.column] = frozenset(labelled(table, table.measured.column, ">=0"))
    return out


def labelled(table: FrequencyTable, column: str, label: str) -> set[str]:
    """The values that a label stands for: itself, or of a measured column the numbers of a range."""
    if table.measured is None or column != table.measured.column:
        return {label}
    span = table.measured.span
    return {str(number) for number in range(span.lo, span.hi + 1) if smallest(label) <= number <= largest(label)}


def smallest(label: str) -> float:
    """The smallest number of a range such as ``7``, ``0-4``, ``64+``, ``>=64``, ``>63``, ``<18``.

    >>> [(smallest(label), largest(label)) for label in ("7", "0-4", "64+", "<18")]
    [(7, 7), (0, 4), (64, inf), (0, 17)]
    """
    told = _plain(label)
    if told.startswith("<"):
        return 0
    if told.startswith(">"):
        return int(told[2:]) if told.startswith(">=") else int(told[1:]) + 1
    return int(told.rstrip("+").split("-")[0])


def largest(label: str) -> float:
    """The largest number of such a range."""
    told = _plain(label)
    if told.startswith("<"):
        return int(told[2:]) if told.startswith("<=") else int(told[1:]) - 1
    if told.startswith(">") or told.endswith("+"):
        return float("inf")
    return int(told.split("-")[-1])


def _plain(label: str) -> str:
    return label.replace(" ", "").replace("≥", ">=").replace("≤", "<=").replace("–", "-").replace("to", "-")
