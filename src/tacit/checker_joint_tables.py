"""What frequency tables say, read anew for the checker of findings about several releases.

Like :mod:`tacit.checker`, of which it is a part, it shares no code with the attacks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.checker_rules import Reject
from tacit.model.frequencies import UNBOUNDED, FrequencyTable

#: The columns of a group with the values that they allow, or with those that they do not.
Box = dict[tuple[str, str], tuple[frozenset[str], bool]]


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
            box["column", table.columns[column]] = (frozenset({table.values[column][code]}), False)
    least, most = int(table.lo[index]), int(table.hi[index])
    return box, least, None if most >= UNBOUNDED else most, (least, most)


def domains(table: FrequencyTable) -> dict[tuple[str, str], frozenset[str]]:
    """The columns of which the table lists every value, with these; none where it says that values are left out."""
    if not table.header.complete:
        return {}
    return {("column", column): frozenset(values) for column, values in zip(table.columns, table.values, strict=True)}
