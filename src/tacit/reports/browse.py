"""An audit to be browsed: findings and lines page by page, with filters.

A page of a browser asks for a part at a time, so that a release of many thousands of lines, and as many findings, stays usable. All of it names
groups and values: it is for those who may see the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from tacit.model.arrays import Flags, Ints
from tacit.model.audit import AttackRun, Audit
from tacit.model.finding import Event, Finding, ItemEvent
from tacit.model.release import Release
from tacit.reports.audit import drawn_proof
from tacit.reports.document import Cell, Proof, Table, counted, people
from tacit.reports.evidence import Evidence, Listed, is_grid, roles_in

PAGE_OF_FINDINGS = 20
PAGE_OF_LINES = 50
MOST_ROWS = 24  #: Columns or items of the heat map.
LIT = 100  #: Findings whose lines are lit.
COUNTED = 10_000  #: Findings of each attack that are counted for each column.


@dataclass(frozen=True)
class Filter:
    """Findings to list: by attack, column or item, and size.

    Groups have at most ``size_to`` people.
    """

    attack: str = ""
    column: str = ""
    size: int = 0
    size_to: int = 0

    @property
    def is_none(self) -> bool:
        """True if every finding is listed."""
        return self == Filter()


@dataclass(frozen=True)
class Page:
    """Place in a longer list: items ``first`` to ``last`` of ``total``, counted from 1."""

    number: int
    pages: int
    first: int
    last: int
    total: int

    @classmethod
    def of(cls, number: int, size: int, total: int) -> Page:
        """Return a page by its number, or the nearest that exists."""
        pages = max(1, -(-total // size))
        number = min(max(1, number), pages)
        return cls(number, pages, first=(number - 1) * size + 1 if total else 0, last=min(number * size, total), total=total)


@dataclass(frozen=True)
class Row:
    """Finding in a list: its rank among all, and what it says in short."""

    rank: int
    code: str
    statement: str
    size: str
    id: str
    waived: str = ""


@dataclass(frozen=True)
class HeatCell:
    """Findings about a column with some number of people."""

    number: int
    level: int


@dataclass(frozen=True)
class Heat:
    """Columns or items against sizes of groups, with those left out.

    ``left`` more columns are not shown; ``searched`` findings were counted.
    """

    sizes: tuple[tuple[int, int], ...]
    rows: tuple[tuple[str, tuple[HeatCell, ...], int], ...]
    left: int
    searched: int
    total: int

    @property
    def labels(self) -> tuple[str, ...]:
        """Sizes as they are printed."""
        return tuple(f"{first:,}" if first == last else f"{first:,}-{last:,}" for first, last in self.sizes)


@dataclass(eq=False)
class Browser:
    """Parts of an audit that a page shows."""

    audit: Audit
    releases: Sequence[Release]
    filter: Filter

    @cached_property
    def ranks(self) -> Ints:
        """Ranks, from 1, of the findings that pass the filter."""
        if self.filter.is_none:
            return np.arange(1, len(self.audit.findings) + 1)
        passes = [self._passes(run) for run in self.audit.runs]
        kept = np.concatenate(passes or [np.empty(0, np.bool_)])[self.audit.findings.order]
        return np.flatnonzero(kept) + 1

    def _passes(self, run: AttackRun) -> Flags:
        asked = self.filter
        kept = np.full(len(run.severity), not asked.attack or run.code == asked.attack)
        sizes = run.columns.get("count_hi")
        if asked.size and sizes is not None:
            kept &= (sizes >= asked.size) & (sizes <= max(asked.size, asked.size_to))
        if asked.column and kept.any():
            kept[COUNTED:] = False
            for index in np.flatnonzero(kept).tolist():
                kept[index] = run.event is not None and asked.column in _columns_of(run.event(index))
        return kept

    # Findings

    def findings(self, number: int) -> tuple[Page, list[Row]]:
        """Return a page of the findings that pass the filter."""
        page = Page.of(number, PAGE_OF_FINDINGS, len(self.ranks))
        shown = self.ranks[page.first - 1 : page.last] if page.total else _NONE
        return page, [self._row(int(rank)) for rank in shown]

    def _row(self, rank: int) -> Row:
        finding = self.audit.findings[rank - 1]
        count = finding.count
        size = people(count.lo) if count.is_exact else f"{count.lo:,}-{count.hi:,} people"
        waived = "" if finding.waived is None else finding.waived.name
        return Row(rank, finding.code, statement=finding.statement, size=size, id=finding.id, waived=waived)

    def proof(self, rank: int) -> tuple[Proof, Sequence[Table]] | None:
        """Return a finding with its proof and the lines it rests on."""
        if not 1 <= rank <= len(self.audit.findings):
            return None
        listed = Listed(rank, f"finding-{rank}", self.audit.findings[rank - 1])
        evidence = Evidence(self.audit, tuple(self.releases), (listed,), links_all=True)
        alone = self.releases[0] if len(self.releases) == 1 else None
        return drawn_proof(listed, self.audit, evidence, alone), self._cited(listed)

    def _cited(self, listed: Listed) -> list[Table]:
        out = []
        for owner, release in enumerate(self.releases):
            evidence = Evidence(self.audit, tuple(self.releases), (listed,))
            used = [] if is_grid(release) or release.kind == "table" else evidence.used(owner)[:PAGE_OF_LINES]
            if used:
                table = replace(evidence, chosen={owner: used}).table(owner)
                out.append(replace(table, rows=tuple(tuple(map(_unanchored, row[:-1])) for row in table.rows)))
                out[-1] = replace(out[-1], columns=table.columns[:-1], caption="The lines that it rests on")
        return out

    # Lines

    def lines(self, owner: int, number: int, *, only_used: bool, line: int | None = None) -> tuple[Page, Table]:
        """Return a page of a release, with the worst findings' lines marked.

        ``only_used`` leaves the other lines out. With ``line``, the page is the one that has this line of the file.
        """
        release = self.releases[owner]
        evidence = self._evidence
        indices: Sequence[int] = evidence.used(owner) if only_used else range(release.n_lines)
        if is_grid(release):
            return Page.of(1, max(1, len(indices)), len(indices)), evidence.table(owner)
        if line is not None:
            at = next((place for place, index in enumerate(indices) if release.place(index) == line), 0)
            number = at // PAGE_OF_LINES + 1
        page = Page.of(number, PAGE_OF_LINES, len(indices))
        chosen = indices[page.first - 1 : page.last] if page.total else ()
        return page, replace(evidence, chosen={owner: chosen}).table(owner)

    @cached_property
    def _evidence(self) -> Evidence:
        listed = tuple(Listed(rank, f"finding-{rank}", self._finding(rank)) for rank in self.ranks[:LIT].tolist())
        return Evidence(self.audit, tuple(self.releases), listed, links_all=True)

    def _finding(self, rank: int) -> Finding:
        return self.audit.findings[rank - 1]

    # Columns

    @cached_property
    def heat(self) -> Heat | None:
        """Columns or items against sizes of groups, or None where there is nothing to compare."""
        found: dict[str, dict[int, int]] = {}
        searched = 0
        for run in self.audit.runs:
            sizes = run.columns.get("count_hi")
            if run.event is None or sizes is None:
                continue
            for index, size in enumerate(sizes[:COUNTED].tolist()):
                searched += 1
                for name in _columns_of(run.event(index)):
                    of_column = found.setdefault(name, {})
                    of_column[size] = of_column.get(size, 0) + 1
        if not found:
            return None
        largest = max(size for of_column in found.values() for size in of_column)
        bins = _bins(largest)
        names = sorted(found, key=lambda name: (-sum(found[name].values()), name))
        counts = {
            name: [sum(number for size, number in found[name].items() if low <= size <= high) for low, high in bins]
            for name in names[:MOST_ROWS]
        }
        most = max(number for numbers in counts.values() for number in numbers)
        rows = tuple(
            (name, tuple(HeatCell(number, -(-5 * number // most)) for number in numbers), sum(found[name].values()))
            for name, numbers in counts.items()
        )
        total = sum(len(run.severity) for run in self.audit.runs)
        return Heat(bins, rows, left=len(names) - len(rows), searched=searched, total=total)

    @property
    def attacks(self) -> tuple[tuple[str, int], ...]:
        """Codes of the attacks with findings, and their numbers."""
        return tuple((run.code, run.findings) for run in self.audit.runs if run.findings)

    @property
    def listed_words(self) -> str:
        """Number of findings that pass the filter, in words."""
        return counted(len(self.ranks), "finding")


_NONE: Ints = np.empty(0, np.int64)


def _bins(largest: int) -> tuple[tuple[int, int], ...]:
    """Return ranges of sizes: a single person, then wider and wider ones."""
    starts = [start for start in (1, 2, 3, 5, 10, 20, 50, 100, 1_000, 10_000) if start <= largest]
    return tuple((start, end) for start, end in zip(starts, [*(start - 1 for start in starts[1:]), largest], strict=True))


def _columns_of(event: Event) -> tuple[str, ...]:
    """Return the columns or items that an event names."""
    return _columns_of_items(event) if isinstance(event, ItemEvent) else tuple(roles_in(event))


@lru_cache(maxsize=40_000)
def _columns_of_items(event: ItemEvent) -> tuple[str, ...]:
    return tuple(roles_in(event))


def _unanchored(cell: str) -> str:
    return Cell.of(*cell.parts, mark=cell.mark, hint=cell.hint) if isinstance(cell, Cell) else cell
