"""Cautions about values that tables show: edges, and cells of equal numbers."""

from __future__ import annotations

from tacit.joint.words import CODE
from tacit.model.audit import Caution, cautions_of
from tacit.model.frequencies import FrequencyTable, Numbers, numbered_tables
from tacit.model.intervals import shows_extremes
from tacit.model.release import Release


def find_shown_values(releases: tuple[Release, ...]) -> tuple[Caution, ...]:
    """Return the cautions about the tables among the releases."""
    tables = numbered_tables(releases)
    people = sum(release.n or 0 for release in releases[:1])
    edges = {column for table in tables.values() for column in table.columns if _has_edges_of_data(table, column)}
    alike = max((_count_alike(table, numbers) for table in tables.values() for numbers in table.numbers), default=0)
    return (
        *cautions_of(CODE, 2 * len(edges), max(people, 2 * len(edges)), about="edges"),
        *cautions_of(CODE, alike, max(people, alike), about="same number"),
    )


def _has_edges_of_data(table: FrequencyTable, column: str) -> bool:
    """Tell if undeclared bins seem to end at the extremes."""
    if any(bins.column == column for bins in table.header.bins):
        return False
    return shows_extremes(table.values[table.columns.index(column)])


def _count_alike(table: FrequencyTable, numbers: Numbers) -> int:
    """Return the people in cells of one table of whom everyone has the same number."""
    found: dict[frozenset[str], int] = {}
    for index in range(len(table)):
        if int(table.lo[index]) > 0 and _are_alike(numbers, index):
            columns = frozenset(table.cell(index))
            found[columns] = found.get(columns, 0) + int(table.lo[index])
    return max(found.values(), default=0)


def _are_alike(numbers: Numbers, index: int) -> bool:
    """Tell if everyone in a cell has the printed number."""
    values = {name: decimals.value(index) for name, decimals in numbers.printed.items()}
    smallest = values.get("min")
    return 0 in (values.get("sum"), values.get("max")) or (smallest is not None and smallest == values.get("max"))
