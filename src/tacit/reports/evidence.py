"""Releases as tables with the lines behind findings marked, and columns against findings.

All of it names groups and values: it is for internal reports only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.model.audit import Audit
from tacit.model.buckets import Buckets
from tacit.model.finding import BoxEvent, Event, Finding, ItemEvent
from tacit.model.frequencies import FrequencyTable, frequency_tables
from tacit.model.partial import PartialTable
from tacit.model.release import Itemsets, Release, Rules
from tacit.reports.document import Cell, Linked, Paragraph, Part, Sentence, Table, counted, places_name

MOST_LINES = 40  #: Lines of a release that a page shows at most: those of the worst findings.
MOST_OTHERS = 20  #: Lines up to which lines that no finding rests on are added.
MOST_LINKS = 12  #: Places that a finding, and findings that a line, is linked to.
MOST_CELLS = 240  #: Cells up to which a table of two columns is shown as a grid.
MOST_ACROSS = 12  #: Columns up to which it is.
MOST_COLUMNS = 16  #: Columns or items that are held against findings.
SEARCHED = 2_000  #: Findings of each attack that are counted for each column.

Place = int | str
RowOf = Callable[[int], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Listed:
    """Finding that a page lists: its rank from 1, and the anchor of its proof."""

    rank: int
    anchor: str
    finding: Finding

    @property
    def link(self) -> Linked:
        """Link to the proof, named by the rank."""
        return Linked.to(self.anchor, str(self.rank))


@dataclass(frozen=True)
class Evidence:
    """Listed findings, and the lines of the releases that they rest on.

    ``chosen`` are the lines to show of each release, by number; without it, those that listed findings rest on. ``links_all`` links lines
    that are not shown as well, for pages that can fetch them.
    """

    audit: Audit
    releases: tuple[Release, ...]
    listed: tuple[Listed, ...]
    chosen: Mapping[int, Sequence[int]] | None = None
    links_all: bool = False

    @cached_property
    def _by_place(self) -> Mapping[tuple[int, Place], list[Listed]]:
        found: dict[tuple[int, Place], list[Listed]] = {}
        for one in self.listed:
            for cited in dict.fromkeys((cited.release, cited.place) for cited in one.finding.because):
                found.setdefault(cited, []).append(one)
        return found

    @cached_property
    def _revealed(self) -> Mapping[frozenset[str], Listed | None]:
        """Items of published cells that findings are about, each with its finding if that is listed."""
        found: dict[frozenset[str], Listed | None] = {}
        for event in events_of(self.audit):
            if (items := _whole(event)) is not None:
                found[items] = None
        for one in reversed(self.listed):
            if (items := _whole(one.finding.event)) is not None:
                found[items] = one
        return found

    @cached_property
    def _shown(self) -> Mapping[int, list[int]]:
        """Numbers of the lines that are shown, for each release."""
        if self.chosen is not None:
            return {owner: list(indices) for owner, indices in self.chosen.items()}
        return {owner: self._choose(owner, release) for owner, release in enumerate(self.releases)}

    @cached_property
    def _anchors(self) -> frozenset[tuple[int, Place]]:
        return frozenset(
            (owner, self.releases[owner].place(index)) for owner, indices in self._shown.items() for index in indices
        )

    def _choose(self, owner: int, release: Release) -> list[int]:
        total = release.n_lines
        if total <= (MOST_CELLS if is_grid(release) else MOST_OTHERS):
            return list(range(total))
        cited = self.used(owner)
        if len(cited) > MOST_LINES:
            cited.sort(key=lambda index: self._worst_user(owner, release.place(index)))
            cited = sorted(cited[:MOST_LINES])
        taken = set(cited)
        others = (index for index in range(total) if index not in taken)
        return [*cited, *(index for index, _ in zip(others, range(MOST_OTHERS - len(cited)), strict=False))]

    def used(self, owner: int) -> list[int]:
        """Return the lines that listed findings rest on; of a table, those with blanks."""
        wanted = {place for release_of, place in self._by_place if release_of == owner}
        found: list[int] = self.releases[owner].find_lines(wanted).tolist()
        return found

    def _worst_user(self, owner: int, place: Place) -> int:
        return min((one.rank for one in self._by_place.get((owner, place), ())), default=0)

    # Links

    def cited(self, finding: Finding) -> Sentence:
        """Return the places that a finding rests on, linked where they are shown."""
        places = list(dict.fromkeys((one.release, one.place) for one in finding.because))
        parts: list[str] = []
        for owner, place in places[:MOST_LINKS]:
            if isinstance(place, str) and (owner, place) not in self._anchors:
                continue  # not a place of the file, such as n
            text = f"line {place}" if isinstance(place, int) else f"cell {place}"
            if len(self.releases) > 1:
                text = f"{_name(self.releases[owner], owner)}, {text}"
            is_shown = self.links_all or (owner, place) in self._anchors
            parts += [", "] if parts else []
            parts.append(Linked.to(_anchor(owner, place), text) if is_shown else text)
        if parts and len(places) > MOST_LINKS:
            parts.append(f" and {len(places) - MOST_LINKS:,} more")
        return tuple(parts)

    # Tables

    def tables(self) -> Iterator[Part]:
        """Yield each release as a table, with what was left out."""
        for owner, release in enumerate(self.releases):
            indices = self._shown[owner]
            total = release.n_lines
            name = _name(release, owner)
            if not indices:
                continue
            yield self.table(owner)
            if left := total - len(indices):
                what = counted(left, "more line is", "more lines are")
                first = "; lines that listed findings rest on come first" if self.listed else ""
                yield Paragraph(f"{name}: {what} not shown{first}.", is_note=True)

    def table(self, owner: int) -> Table:
        """Return a release's shown lines; a small table of two columns is a grid."""
        release = self.releases[owner]
        grid = _grid_of(release)
        return self._lines(owner, release, self._shown[owner]) if grid is None else self._grid(owner, grid)

    def _lines(self, owner: int, release: Release, indices: Sequence[int]) -> Table:
        used = any(self._by_place.get((owner, release.place(index))) for index in indices)
        columns, row_of = _rows(release)
        rows = []
        for index in indices:
            place = release.place(index)
            users = self._by_place.get((owner, place), ())
            first = Cell.of(str(place), mark="used" if users else "", anchor=_anchor(owner, place))
            rows.append((first, *row_of(index), *([self._users(users)] if used else [])))
        names = (places_name(release.place(index) for index in indices), *columns, *(["Used by"] if used else []))
        return Table.of(self._caption(release, owner), names, rows, style="release")

    def _users(self, users: Sequence[Listed]) -> Cell:
        parts: list[str] = []
        for one in users[:MOST_LINKS]:
            parts += [", ", one.link] if parts else [one.link]
        if len(users) > MOST_LINKS:
            parts.append(f" and {len(users) - MOST_LINKS:,} more")
        return Cell.of(*parts)

    def _caption(self, release: Release, owner: int) -> str:
        marked = ""
        if any(release_of == owner for release_of, _ in self._by_place):
            marked = "; marked lines are those that listed findings rest on"
        return f"{_name(release, owner)} as published{marked}"

    def _grid(self, owner: int, release: FrequencyTable) -> Table:
        down, across = release.columns
        texts = {tuple(release.cell(index).get(name, "") for name in (down, across)): index for index in range(len(release))}
        rows = [*release.values[0], *([""] if any(row == "" for row, _ in texts) else [])]
        columns = [*release.values[1], *([""] if any(column == "" for _, column in texts) else [])]
        body = []
        for row in rows:
            cells: list[str] = [row or "All"]
            for column in columns:
                index = texts.get((row, column))
                cells.append("" if index is None else self._cell(owner, release, index))
            body.append(cells)
        names = (f"{down} \\ {across}", *(column or "All" for column in columns))
        marked = "; red cells are revealed, yellow ones are used by listed findings" if self.listed else ""
        return Table.of(f"{_name(release, owner)} as published{marked}", names, body, style="release crosstab")

    def _cell(self, owner: int, release: FrequencyTable, index: int) -> Cell:
        place = release.place(index)
        users = self._by_place.get((owner, place), ())
        items = frozenset(f"{column}={value}" for column, value in release.cell(index).items())
        text = release.text(index) or "hidden"
        number = f"{int(text):,}" if text.isdecimal() else text
        anchor = _anchor(owner, place)
        if items in self._revealed:
            finding = self._revealed[items]
            shown = number if finding is None else Linked.to(finding.anchor, number)
            hint = "revealed" if finding is None else f"revealed: finding {finding.rank}"
            return Cell.of(shown, mark="revealed", anchor=anchor, hint=hint)
        if users:
            ranks = ", ".join(str(one.rank) for one in users[:MOST_LINKS])
            return Cell.of(Linked.to(users[0].anchor, number), mark="used", anchor=anchor, hint=f"used by finding {ranks}")
        return Cell.of(number, anchor=anchor)

    # Columns

    def columns(self) -> Iterator[Part]:
        """Yield the columns, or items, against the listed findings."""
        listed = [(one, roles_of(one.finding)) for one in self.listed]
        totals, searched = _totals(self.audit)
        for _, roles in listed:
            for name in roles:
                totals.setdefault(name, 1)
        if len(totals) < 2 or not listed:
            return
        names = sorted(totals, key=lambda name: (-totals[name], name))[:MOST_COLUMNS]
        most = max(totals.values())
        signs = {"has": "●", "lacks": "○", "both": "◐"}
        rows = []
        for name in names:
            cells: list[str] = []
            for one, roles in listed:
                role = roles.get(name)
                hint = f"finding {one.rank}: {name}, {role}"
                cells.append(Cell.of(Linked.to(one.anchor, signs[role]), mark=role, hint=hint) if role else "")
            level = -(-5 * totals[name] // most)
            rows.append((name, *cells, Cell.of(f"{totals[name]:,}", mark=f"heat{level}")))
        left = len(totals) - len(names)
        which = f"the first {SEARCHED:,} of each attack" if searched else "all"
        more = f"; {counted(left, 'more column or item', 'more columns or items')} not shown" if left else ""
        yield Table.of(
            "Findings by column or item", ("Column or item", *(one.link for one, _ in listed), "Findings"), rows, style="heat"
        )
        signs_mean = "● the group of the finding has a value of it; ○ it lacks one; ◐ both."
        yield Paragraph(f"{signs_mean} The last column counts findings that use it ({which}){more}.", is_note=True)


def roles_of(finding: Finding) -> dict[str, str]:
    """Return the columns or items that describe a group, each with ``has``, ``lacks`` or ``both``."""
    return roles_in(finding.same_people or finding.event)


def roles_in(event: Event) -> dict[str, str]:
    """Return the columns or items that an event names, each with ``has``, ``lacks`` or ``both``."""
    if isinstance(event, BoxEvent):
        return dict.fromkeys(event.allowed, "has")
    roles: dict[str, str] = {}
    for role, names in (("has", event.present), ("lacks", (*event.absent, *event.not_all))):
        for name in names:
            column = name.partition("=")[0] or name
            roles[column] = role if roles.get(column, role) == role else "both"
    for change in event.changes:
        roles.setdefault(change.name, "has")
    return roles


def _whole(event: Event) -> frozenset[str] | None:
    """Return the items of a group that is all people with them, or None."""
    if isinstance(event, ItemEvent) and not (event.absent or event.not_all or event.changes or event.outside):
        return frozenset(event.present)
    return None


def events_of(audit: Audit) -> Iterator[Event]:
    """Yield the groups of the worst findings of each attack."""
    for run in audit.runs:
        for index in range(min(len(run.severity), SEARCHED) if run.event is not None else 0):
            assert run.event is not None
            yield run.event(index)


def _totals(audit: Audit) -> tuple[dict[str, int], bool]:
    """Return the number of findings about each column; True if not all were looked at."""
    totals: dict[str, int] = {}
    for event in events_of(audit):
        for name in roles_in(event):
            totals[name] = totals.get(name, 0) + 1
    return totals, any(len(run.severity) > SEARCHED for run in audit.runs)


# Lines of each kind of release


def _name(release: Release, owner: int) -> str:
    return release.source.name if release.source is not None else f"release {owner + 1}"


def _anchor(owner: int, place: Place) -> str:
    return f"line-{owner + 1}-{place}"


def is_grid(release: Release) -> bool:
    """Return True if a release is a table of two columns that fits on a page."""
    return _grid_of(release) is not None


def _grid_of(release: Release) -> FrequencyTable | None:
    """Return a frequency table that is shown as a grid, or None."""
    for table in frequency_tables([release]):
        if len(table.columns) == 2:
            down, across = (len(values) + 1 for values in table.values)
            return table if down * across <= MOST_CELLS and across <= MOST_ACROSS else None
    return None


def _rows(release: Release) -> tuple[tuple[str, ...], RowOf]:
    """Return a release's column names, and the function that reads a line."""
    match release:
        case Itemsets():
            return ("Itemset", "Published"), lambda index: (", ".join(release.names(index)), release.text(index) or "withheld")
        case Rules():
            return ("If", "Then", "Support", "Confidence"), lambda index: _rule(release, index)
        case Buckets():
            groups = np.repeat(np.arange(len(release)), np.diff(release.starts))
            return ("Group", release.sensitive, "People"), lambda entry: (
                release.names[int(groups[entry])],
                release.values[int(release.value[entry])],
                f"{int(release.count[entry]):,}",
            )
        case PartialTable():
            release = release.one_by_one()
            used = [place for place, name in enumerate(release.people.names) if name in release.people.schema.used]
            columns = [release.people.columns[place] for place in used]
            return tuple(column.name for column in columns), lambda row: tuple(
                Cell.of("blank", mark="blank") if release.hidden[row, place] else column.values[int(column.codes[row])]
                for place, column in zip(used, columns, strict=True)
            )
        case FrequencyTable():
            return (*release.columns, "People"), lambda index: (
                *(release.cell(index).get(name, release.any_mark) for name in release.columns),
                release.text(index) or "hidden",
            )


def _rule(release: Rules, index: int) -> tuple[str, ...]:
    names = release.items.names
    sides = [", ".join(names[item] for item in side[index]) for side in (release.antecedents, release.consequents)]
    count = release.count(index)
    whole = release.whole(index)
    support = release.support.text(index) if release.support is not None else f"{count.lo:,}" if count.is_exact else ""
    confidence = ""
    if release.confidence is not None:
        confidence = release.confidence.text(index)
    elif count.is_exact and whole.is_exact and whole.lo:
        confidence = f"{100 * count.lo / whole.lo:.1f} %"
    return (*sides, support or "withheld", confidence or "withheld")
