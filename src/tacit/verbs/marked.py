"""Release as a workbook with its exposed cells marked."""

from __future__ import annotations

import re

from tacit.files.disk import FilePath
from tacit.files.marked_workbooks import Cell, Mark, check_marked, rows_of, write_marked
from tacit.model.audit import Audit
from tacit.model.errors import OptionError
from tacit.model.finding import Finding, ItemEvent
from tacit.model.frequencies import FrequencyTable, frequency_tables
from tacit.model.release import Release

MOST_MARKED = 10_000  #: Findings whose cells are marked, at most, the worst first.
_PLACE = re.compile(r"([A-Z]+)(\d+)")


def mark_release(audit: Audit, release: Release, source: FilePath, path: FilePath) -> None:
    """Write the release to a workbook with exposed and cited cells marked.

    It names groups of people, like an internal report.
    """
    check_marked(path)
    if len(audit.release) != 1:
        raise OptionError("applies to one release; there are several", where="--mark", remedy="Remove the option")
    rows = rows_of(source)
    findings = audit.findings[:MOST_MARKED]
    exposed: dict[Cell, tuple[Mark, str]] = {}
    used: dict[Cell, tuple[Mark, str]] = {}
    by_cell: dict[frozenset[str], int | str] = {}
    column = 0
    for table in frequency_tables([release]):
        by_cell = _cells_of(table)
        column = _column_of_counts(table, rows)
    for finding in findings:
        event = finding.event
        place = None
        if isinstance(event, ItemEvent) and not event.absent and not event.not_all:
            place = by_cell.get(frozenset(event.present))
        if place is not None:
            exposed.setdefault(_cell(place, column), ("exposed", finding.statement))
        elif not by_cell:
            _mark_lines(finding, rows, exposed)
            continue
        for one in finding.because:
            used.setdefault(_cell(one.place, column), ("used", ""))
    told = [f"Verdict: {audit.verdict}. Findings: {len(audit.findings):,}.", *(finding.statement for finding in findings)]
    write_marked(path, rows, used | exposed, told)


def _mark_lines(finding: Finding, rows: list[list[str]], marks: dict[Cell, tuple[Mark, str]]) -> None:
    """Mark the lines of a list that a finding follows from."""
    for one in finding.because:
        row = _cell(one.place, 0)[0]
        for column in range(len(rows[row]) if 0 <= row < len(rows) else 0):
            marks.setdefault((row, column), ("used", finding.statement if column == 0 else ""))


def _cells_of(table: FrequencyTable) -> dict[frozenset[str], int | str]:
    cells = range(len(table))
    return {frozenset(f"{column}={value}" for column, value in table.cell(index).items()): table.place(index) for index in cells}


def _column_of_counts(table: FrequencyTable, rows: list[list[str]]) -> int:
    """Return the column that prints the counts of a line each."""
    lines = [(table.line(index) - 1, table.text(index)) for index in range(len(table))]
    fitting = [
        sum(column < len(rows[row]) and rows[row][column] == text for row, text in lines) for column in range(len(rows[0]))
    ]
    return max(range(len(fitting)), key=lambda column: (fitting[column], column), default=0)


def _cell(place: int | str | None, column: int) -> Cell:
    """Return row and column of a place: ``B4``, or a line and its column of counts."""
    found = _PLACE.fullmatch(str(place))
    if found is None:
        return int(place or 0) - 1, column
    number = 0
    for letter in found[1]:
        number = number * 26 + ord(letter) - ord("A") + 1
    return int(found[2]) - 1, number - 1
