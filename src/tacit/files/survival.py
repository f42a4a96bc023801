"""Survival tables: people at risk, events, people censored and the share who survive, by time.

A Kaplan-Meier table is a frequency table of follow-up time and status. The number at risk counts everybody whose time is at least the one
listed; events and people censored have a time and a status; so differences of lines, of strata and of the whole are sums over groups as
anywhere else. Where events are hidden or not listed, the printed survival bounds them: it falls by ``d/n`` of itself where ``d`` of ``n``
people at risk have the event. A life table has intervals in the place of times: those at risk are there when the interval begins.

Programs list every time with an event, or a few chosen times; then the events of a line happened since the line before. The second reading
holds of the first kind of table, too. It is used unless the numbers show that every event is listed, or the caller says so.

Follow-up starts at time 0: where a line of time 0 does not say that somebody left then, nobody is taken to have left. Any reader knows that,
even where the numbers of that line are hidden.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor
from typing import NamedTuple

import numpy as np

from tacit.files.frequency_building import Listed, TableHeader, build_table, read_labels
from tacit.files.frequency_cells import HIDDEN_MARKS, Cells, read_cell
from tacit.files.recognition import SURVIVAL_ROLES, CellOptions, survival_role
from tacit.model.arrays import Ints
from tacit.model.errors import Contradiction, InputError
from tacit.model.frequencies import ANY, UNBOUNDED, FrequencyTable
from tacit.model.intervals import ABOVE, Cut, Interval, Number, read_interval, read_number, split_intervals
from tacit.model.numbers import Printed, Rounding, column_steps
from tacit.model.release import ValueGroup

EVENT = "event"
CENSORED = "censored"
MOST_TIMES = 2_000  #: Lines of a table at most.

AT_ZERO: Cut = (Fraction(0), 0)
AFTER_ZERO: Cut = (Fraction(0), 1)

#: Roles of columns that count people.
_COUNTS = ("at risk", "events", "censored", "removed", "left", "failed")


class _Group(NamedTuple):
    """People of a stratum: times in these intervals, and a status or any."""

    times: tuple[Interval, ...]
    status: str | None

    def since(self, start: Cut) -> _Group:
        """Return the people of the group whose time is after a cut."""
        later = (Interval(max(one.lo, start), one.hi) for one in self.times if one.hi > start)
        return _Group(tuple(later), self.status)


class _Cell(NamedTuple):
    """Cell of the file: row, column of the file, and whom it counts."""

    row: int
    column: int
    group: _Group


@dataclass(slots=True)
class _Stratum:
    """Lines of one stratum, in the order of time."""

    rows: list[int]
    times: list[Fraction]
    texts: Mapping[str, list[str]]
    labels: tuple[str | None, ...]
    #: The reading that every time with an event is listed.
    lists_every_event: bool = False
    #: Intervals in the place of times, as life tables have them: those at risk are there when it begins.
    spans: Sequence[Interval] = ()
    counts: dict[str, list[int | None]] = field(default_factory=dict)
    shares: list[Printed | None] = field(default_factory=list)
    accounts_for_everybody: bool = False
    has_no_later_event: bool = False
    is_ambiguous: bool = False  #: It may list every event, and does not show it.

    @property
    def begins_at_zero(self) -> bool:
        """Tell if the first line is about everybody's start."""
        return self.spans[0].lo <= AFTER_ZERO if self.spans else self.times[0] == 0

    def known(self, role: str) -> list[int | None]:
        """Return the printed numbers of a role, None where none is printed."""
        return self.counts.get(role, [None] * len(self.rows))


def read_survival(cells: Cells, known: TableHeader, said: CellOptions) -> FrequencyTable:
    """Read a survival table as a frequency table of times and statuses."""
    roles = _assign_roles(cells, said)
    (time,) = roles["time"]
    time_name = cells.names[time]
    status = next(name for name in ("status", "outcome", "end of follow-up") if name not in cells.names)
    dimensions = roles.get("stratum", [])
    texts = {role: cells.texts[places[0]] for role, places in roles.items() if role in (*_COUNTS, "survival", "entered")}
    names, labels = _strata(cells, dimensions, known, said)
    strata = _split(cells, labels, time, texts)
    exact = said.base is None and said.convention is None and known.printing.is_exact
    every = known.complete if said.complete is None else said.complete
    printed = {role: texts[role] for role in _COUNTS if role in texts}
    for stratum in strata:
        _check_entries(cells, stratum)
        stratum.counts = {role: [_count(stratum.texts[role][at]) for at in range(len(stratum.rows))] for role in printed}
        if "survival" in roles and not stratum.shares:
            _read_shares(cells, strata, roles["survival"][0], said.rounding or "nearest")
    unclear = _choose_readings(strata, every, exact=exact)
    zeros_shown = said.zeros_shown is True or known.printing.zeros_shown
    start = _choose_start(strata, zeros_shown=zeros_shown)
    used = {role: roles[role][0] for role in printed if role not in unclear}
    n = _people(strata, known.n if said.n is None else said.n)
    chosen = [cell for stratum in strata for cell in _count_cells(stratum, used, start)]
    derived = _Derived(cells, roles, strata, n, unclear, start)
    extra = [*derived.gaps(time), *derived.survival()]
    groups, label_of, pieces = _label(time_name, [*chosen, *(cell for cell, *_ in extra)], start)
    columns = (*names, time_name, status)

    def cell_labels(listed: Iterable[_Cell]) -> list[list[str | None]]:
        own = [(*(column[cell.row] for column in labels), label_of[cell.group.times], cell.group.status) for cell in listed]
        return [list(column) for column in zip(*own, strict=True)] if own else [[] for _ in columns]

    reading = [f"Read as a survival table by {time_name!r}; the file does not name the column {status!r}."]
    reading += _sentences(strata, derived)
    if start > AT_ZERO and not all(map(_prints_that_nobody_left, strata)):
        reading.append("Nobody is taken to have an event, or to be censored, at time 0, where follow-up starts.")
    listed = Listed(
        cells,
        columns,
        cell_labels(chosen),
        [cells.texts[cell.column][cell.row] for cell in chosen],
        lines=cells.lines[[cell.row for cell in chosen]],
        across=np.array([cell.column for cell in chosen], np.int64),
        any_mark=known.any_mark or "*",
        unread=derived.unread(),
        ignored=tuple(name for name in cells.names if name in said.ignore),
        assumed=tuple(reading),
    )
    labelled = {label for column in (*cell_labels([cell for cell, *_ in extra]), *listed.labels) for label in column if label}
    table = build_table(
        listed,
        replace(known, groups=(*known.groups, *groups), complete=True),
        replace(said, n=n, complete=None, by=(), no_total=(*said.no_total, *sorted(labelled))),
    )
    _check_risk(table, cells, strata)
    more = (*[()] * len(names), tuple(pieces), (EVENT, CENSORED))
    return _append(table, cells, extra, cell_labels([cell for cell, *_ in extra]), more)


# Columns


def _assign_roles(cells: Cells, said: CellOptions) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place, name in enumerate(cells.names):
        if name in said.ignore:
            continue
        role = "stratum" if name in said.by else survival_role(name)
        if role in found and role not in ("stratum", "derived"):
            what = f"the columns {cells.names[found[role][0]]!r} and {name!r} may both be the {role}"
            raise InputError(what, where=f"{cells.where}, line 1", remedy=f"Leave one of them out with --ignore {name}")
        found.setdefault(role, []).append(place)
    if "time" not in found or not {"at risk", "survival", "left"} & found.keys():
        remedy = f"Name its columns time, n.risk, n.event, n.censor and survival (or as in: {', '.join(SURVIVAL_ROLES)})"
        raise InputError(
            "lacks the times or the people at risk of a survival table", where=f"{cells.where}, line 1", remedy=remedy
        )
    return found


def _strata(
    cells: Cells, places: Sequence[int], known: TableHeader, said: CellOptions
) -> tuple[list[str], list[list[str | None]]]:
    """Return the names of the columns that divide people into strata, and their labels."""
    names = []
    labels: list[list[str | None]] = []
    for place in places:
        name = cells.names[place]
        texts = cells.texts[place]
        parts = [text.partition("=") for text in texts]
        if name.casefold() == "strata" and len({part[0] for part in parts}) == 1 and all(part[1] for part in parts):
            name = parts[0][0].strip()  # R writes strata as column=value
            texts = [part[2].strip() for part in parts]
        names.append(name)
        labels.append(read_labels(texts, known, said))
    return names, labels


def _split(cells: Cells, labels: Sequence[Sequence[str | None]], time: int, texts: Mapping[str, Sequence[str]]) -> list[_Stratum]:
    """Return the strata with their lines in the order of time."""
    if len(cells.lines) > MOST_TIMES:
        remedy = "Give fewer times"
        raise InputError(f"has more than {MOST_TIMES:,} lines", where=cells.where, remedy=remedy)
    rows: dict[tuple[str | None, ...], dict[Fraction, list[int]]] = {}
    spans = _read_spans(cells.texts[time])
    for row, text in enumerate(cells.texts[time]):
        value = _end(spans[row]) if spans else read_number(text)
        if not isinstance(value, Fraction) or value < 0:
            remedy = "Write a number of at least 0"
            raise InputError("the time is not a number", where=f"{cells.place(row)}, column {cells.names[time]!r}", remedy=remedy)
        own = rows.setdefault(tuple(column[row] for column in labels), {})
        if own and value < max(own):
            remedy = "Sort the lines of each stratum by time, or name the column of the strata with --by"
            raise InputError("the times do not ascend", where=cells.place(row), remedy=remedy)
        own.setdefault(value, []).append(row)
    found = []
    for key, own in rows.items():
        if "left" not in texts and any(len(same) > 1 for same in own.values()):
            place = next(same[1] for same in own.values() if len(same) > 1)
            remedy = "Name the column of the strata with --by"
            raise InputError("the time stands twice", where=cells.place(place), remedy=remedy)
        # Programs that write a line for each person print what is left in the last line of a time.
        last = {role: [_last(column, same, role) for same in own.values()] for role, column in texts.items()}
        own_rows = [same[-1] for same in own.values()]
        found.append(_Stratum(own_rows, list(own), last, key, spans=[spans[row] for row in own_rows] if spans else ()))
    return found


def _read_spans(texts: Sequence[str]) -> list[Interval]:
    """Return the intervals of a life table; none if times are no intervals."""
    read = [found for text in texts if read_number(text) is None and (found := read_interval(text)) is not None]
    return read if len(read) == len(texts) else []


def _end(span: Interval) -> Number:
    """Return the end of an interval, or a time within it if it has none."""
    return span.hi[0] if span.hi < ABOVE else span.lo[0] + 1


def _last(column: Sequence[str], rows: Sequence[int], role: str) -> str:
    shown = [column[row] for row in rows if role != "survival" or column[row].strip().casefold() not in HIDDEN_MARKS]
    return shown[-1] if shown else column[rows[-1]]


def _count(text: str) -> int | None:
    found = read_cell(text)
    return None if found is None else found.number


def _check_entries(cells: Cells, stratum: _Stratum) -> None:
    """Raise if people come under observation after the first time."""
    for at, text in enumerate(stratum.texts.get("entered", ())):
        if at and _count(text) != 0:
            remedy = "Give a table of people who are all followed from the start"
            what = "people enter after the first time, so that those at risk are not those who stay"
            raise InputError(what, where=cells.place(stratum.rows[at]), remedy=remedy)


# The two readings


_FEW_LINES = 4  #: With fewer lines, chosen times may happen to account for everybody.


def _choose_readings(strata: Sequence[_Stratum], every: bool | None, *, exact: bool) -> list[str]:
    """Choose the reading of each stratum; return roles that stay unclear.

    ``every`` tells if the caller says that every time with an event is listed. Where those at risk less events and people censored are those at
    risk in the next line, people censored left between two lines; otherwise they did since the line before, as with chosen times.
    """
    if any(stratum.spans for stratum in strata):
        return []
    known = [_balance(stratum) for stratum in strata]
    fits = all(holds is not False for own in known for holds in own)
    proved = fits and all(None not in own for own in known) and all(map(_fits_survival, strata))
    many = every is True or sum(map(len, known)) >= _FEW_LINES or all(stratum.times[0] == 0 for stratum in strata)
    accounts = exact and every is not False and proved and many
    for stratum in strata:
        stratum.accounts_for_everybody = accounts
        stratum.has_no_later_event = accounts or (exact and every is True)
        is_shown = exact and every is not False and _shows_every_event(stratum)
        stratum.lists_every_event = stratum.has_no_later_event or is_shown
        stratum.is_ambiguous = every is None and not stratum.lists_every_event and _may_list_every_event(stratum)
    is_unclear = fits and not accounts and every is not False
    return [role for role in ("censored", "removed") if is_unclear and any(role in stratum.counts for stratum in strata)]


def _balance(stratum: _Stratum) -> list[bool | None]:
    """Tell of each line if those who stay are at risk next."""
    risk = stratum.known("at risk")
    gone = stratum.known("removed")
    if None in gone:
        pairs = zip(stratum.known("events"), stratum.known("censored"), strict=True)
        gone = [None if event is None or censored is None else event + censored for event, censored in pairs]
    lines = zip(risk, gone, [*risk[1:], 0], strict=True)
    return [None if here is None or left is None or after is None else here - left == after for here, left, after in lines]


def _fits_survival(stratum: _Stratum) -> bool:
    """Tell if the survival is a product-limit estimate."""
    share = Fraction(1)
    for people, count, printed in zip(stratum.known("at risk"), stratum.known("events"), stratum.shares, strict=False):
        if people is None or count is None or people < count or people == 0:
            return people is None or count is None
        share *= Fraction(people - count, people)
        if printed is not None and not printed.lo <= share <= printed.hi:
            return False
    return True


def _listed_events(stratum: _Stratum) -> list[int | None]:
    """Return the events since the line before."""
    failed = stratum.known("failed")
    if "events" in stratum.counts or None in failed:
        return stratum.known("events")
    totals = [total or 0 for total in failed]
    return [totals[0], *(here - before for before, here in pairwise(totals))]


def _is_exact(stratum: _Stratum) -> bool:
    """Tell if counts say all that survival says."""
    risk = stratum.known("left" if "left" in stratum.counts else "at risk")
    is_complete = stratum.lists_every_event or "left" in stratum.counts or bool(stratum.spans)
    return is_complete and None not in _listed_events(stratum) and None not in risk


def _read_shares(cells: Cells, strata: Sequence[_Stratum], place: int, rounding: Rounding) -> None:
    """Read the printed survival of each stratum."""
    every = [text for one in strata for text in one.texts["survival"]]
    for stratum in strata:
        texts = stratum.texts["survival"]
        steps = column_steps([*texts, *every])
        for at, text in enumerate(texts):
            body = text.strip()
            scale = 100 if body.endswith("%") else 1
            value = read_number(body.rstrip("% "))
            if body.casefold() in HIDDEN_MARKS:
                stratum.shares.append(None)
                continue
            if not isinstance(value, Fraction) or not 0 <= value / scale <= 1:
                remedy = "Write a share from 0 to 1, or a percentage"
                where = f"{cells.place(stratum.rows[at])}, column {cells.names[place]!r}"
                raise InputError("the survival is not a share", where=where, remedy=remedy)
            # Products of doubles are off in their last digits.
            step = steps[at] + value / scale / 2**40
            stratum.shares.append(Printed.around(value / scale, step, rounding))


def _shows_every_event(stratum: _Stratum) -> bool:
    """Tell if the printed survival leaves no room for an event between the times.

    One event earlier, when more people were at risk, would have left a larger share.
    """
    risk = stratum.known("at risk")
    events = stratum.known("events")
    share = Fraction(1)
    if len(risk) < 2 or None in risk or None in events or None in stratum.shares or not stratum.shares:
        return False
    for people, count, printed in zip(risk, events, stratum.shares, strict=True):
        assert people is not None
        assert count is not None
        assert printed is not None
        if people < count or people == 0:
            return False
        if count and share * Fraction(people - count + 1, people + 1) <= printed.hi:
            return False
        share *= Fraction(people - count, people)
        if not printed.lo <= share <= printed.hi:
            return False
    return True


def _may_list_every_event(stratum: _Stratum) -> bool:
    """Tell if the events of each line can be at its time."""
    risk = stratum.known("at risk")
    return "left" not in stratum.counts and all(
        before is None or here is None or count is None or here <= before - count
        for before, here, count in zip(risk, risk[1:], stratum.known("events"), strict=False)
    )


def _choose_start(strata: Sequence[_Stratum], *, zeros_shown: bool) -> Cut:
    """Return the cut before the first time that a person can have."""
    first = [stratum for stratum in strata if stratum.times[0] == 0 and not stratum.spans]
    return AFTER_ZERO if first and not any(_may_show_who_left(stratum, zeros_shown) for stratum in first) else AT_ZERO


def _may_show_who_left(stratum: _Stratum, zeros_shown: bool) -> bool:
    """Tell if the line of time 0 says that somebody left then."""
    if "left" in stratum.counts or (stratum.shares and (share := stratum.shares[0]) is not None and share.hi < 1):
        return True
    for role in ("events", "censored", "removed", "failed"):
        if role in stratum.counts:
            cell = read_cell(stratum.texts[role][0])
            if cell is None or (zeros_shown if cell.number is None and not cell.least else cell.number or cell.least):
                return True
    return False


def _prints_that_nobody_left(stratum: _Stratum) -> bool:
    """Tell if the line of time 0, if there is one, prints zeros."""
    has_all = stratum.known("removed")[0] == 0 or stratum.known("events")[0] == stratum.known("censored")[0] == 0
    return stratum.times[0] > 0 or has_all


def _people(strata: Sequence[_Stratum], n: int | None) -> int | None:
    """Return the number of people, None if it is not known."""
    if n is not None:
        return n
    parts = [stratum for stratum in strata if None not in stratum.labels] or strata
    starts = [stratum.known("at risk")[0] for stratum in parts]
    begins = all(_has_everybody_at_risk(stratum) for stratum in parts)
    return sum(start or 0 for start in starts) if begins and None not in starts else None


def _has_everybody_at_risk(stratum: _Stratum) -> bool:
    """Tell if the table counts nobody who left before its first line."""
    counts_others = {"censored", "removed", "failed"} & stratum.counts.keys() and not stratum.accounts_for_everybody
    return stratum.begins_at_zero or (stratum.lists_every_event and not counts_others)


def _count_cells(stratum: _Stratum, places: Mapping[str, int], start: Cut) -> list[_Cell]:
    """Return whom each printed count of a stratum is about, unless it can be nobody."""
    out = []
    for at, (row, time) in enumerate(zip(stratum.rows, stratum.times, strict=True)):
        below, above = stratum.spans[at] if stratum.spans else Interval((time, 0), (time, 1))
        since = (stratum.times[at - 1], 1) if at else start
        until: Cut = (stratum.times[at + 1], 0) if at + 1 < len(stratum.times) else ABOVE
        if stratum.spans:
            since = below
        now = Interval(below, above) if stratum.lists_every_event else Interval(since, above)
        gone = Interval(below, until) if stratum.accounts_for_everybody else Interval(since, above)
        groups = {
            "at risk": _Group((Interval(below, ABOVE),), None),
            "events": _Group((now,), EVENT),
            "censored": _Group((gone,), CENSORED),
            "removed": _Group((gone,), None),
            "left": _Group((Interval(above, ABOVE),), None),
            "failed": _Group((Interval(start, above),), EVENT),
        }
        own = ((place, groups[role].since(start)) for role, place in places.items())
        out += [_Cell(row, place, group) for place, group in own if group.times]
    return out


# What follows from times and from survival

_Extra = tuple[_Cell, int, int, str]  #: A cell with its bounds, and the text of its mark (empty: a number).


@dataclass(slots=True)
class _Derived:
    """Statements that follow from listed times, and from the printed survival."""

    cells: Cells
    roles: Mapping[str, list[int]]
    strata: Sequence[_Stratum]
    n: int | None
    unclear: Collection[str]  #: Roles of columns whose meaning is not clear.
    start: Cut
    used: bool = False  #: Survival bounds events that are not printed.
    open: bool = False  #: Survival may say more than these bounds.

    def gaps(self, time: int) -> list[_Extra]:
        """Return that nobody has an event between listed times."""
        out: list[_Extra] = []
        for stratum in self.strata:
            for at, (row, here) in enumerate(zip(stratum.rows, stratum.times, strict=True)):
                between = [Interval((stratum.times[at - 1], 1) if at else self.start, (here, 0))] if here > 0 else []
                if stratum.has_no_later_event and at == len(stratum.times) - 1:
                    between.append(Interval((here, 1), ABOVE))
                if between and stratum.lists_every_event:
                    out.append((_Cell(row, time, _Group(tuple(between), EVENT)), 0, 0, ""))
        return out

    def survival(self) -> list[_Extra]:
        """Return bounds on events by the printed survival, where no line prints them."""
        if "survival" not in self.roles:
            return []
        out: list[_Extra] = []
        (place,) = self.roles["survival"]
        for stratum in self.strata:
            if stratum.spans:  # survival of a life table is estimated in other ways
                self.open |= not _is_exact(stratum)
                continue
            shares = stratum.shares
            risk = self._risk(stratum)
            events = _listed_events(stratum)
            everybody = risk[0][1] if stratum.times[0] == 0 or stratum.lists_every_event else self.n
            ranges = bound_events(shares, risk, everybody, every_event=stratum.lists_every_event)
            for at, bound in enumerate(ranges):
                row = stratum.rows[at]
                count = events[at]
                is_own = _last_shown(shares, at) == (at - 1 if at else None)
                if bound is None or (count is not None and is_own and not bound[0] <= count <= bound[1]):
                    what = "the survival does not fit the people at risk and the events, as a product-limit estimate"
                    remedy = "Correct the line; or leave the column out with --ignore"
                    raise Contradiction(what, where=self.cells.place(row), remedy=remedy, lines=[int(self.cells.lines[row])])
                if count is not None or shares[at] is None:
                    continue
                earlier = _last_shown(shares, at)
                since: Cut = self.start if earlier is None else (stratum.times[earlier], 1)
                if stratum.times[at] == 0 and self.start == AFTER_ZERO:
                    continue
                cell = _Cell(row, place, _Group((Interval(since, (stratum.times[at], 1)),), EVENT))
                out.append((cell, bound[0], bound[1], self.cells.texts[place][row].strip()))
                self.used = True
            self.open |= not _is_exact(stratum)
        return out

    def _risk(self, stratum: _Stratum) -> list[tuple[int, int | None]]:
        """Return bounds on the people at risk in each line."""
        return [(0, self.n) if one is None else (one, one) for one in stratum.known("at risk")]

    def unread(self) -> tuple[str, ...]:
        """Return the columns that say more than is used."""
        places = (
            []
            if all(map(_is_exact, self.strata))
            else [*self.roles.get("derived", []), *(self.roles.get("survival", []) if self.open else [])]
        )
        places += [place for role in self.unclear for place in self.roles[role]]
        if any(stratum.is_ambiguous for stratum in self.strata):
            places += self.roles["time"]
        return tuple(self.cells.names[place] for place in sorted(places))


def _last_shown(shares: Sequence[Printed | None], at: int) -> int | None:
    """Return the last line before one that prints its survival."""
    return next((back for back in range(at - 1, -1, -1) if shares[back] is not None), None)


def bound_events(
    shares: Sequence[Printed | None],
    risk: Sequence[tuple[int, int | None]],
    everybody: int | None,
    *,
    every_event: bool,
) -> list[tuple[int, int] | None]:
    """Return bounds on the events behind each printed survival.

    ``risk`` bounds the people at risk just before each time, ``everybody`` those at the start. Survival falls by at least ``d/m`` of itself
    if ``d`` of the ``m`` people who are there first have the event, and by at most ``d/n`` if ``n`` are left; if every event is listed, these
    are the same people.
    """
    size = len(shares)
    lo = [least for least, _ in risk]
    hi = [UNBOUNDED if most is None else most for _, most in risk]
    for at in range(1, size):
        hi[at] = min(hi[at], hi[at - 1])
    before = [_last_shown(shares, at) for at in range(size)]
    out: list[tuple[int, int] | None] = [(0, UNBOUNDED)] * size
    for _ in range(3):  # those at risk are at least those with a later event
        later = 0
        for at in range(size - 1, -1, -1):
            lo[at] = max(lo[at], later, lo[at + 1] if at + 1 < size else 0)
            found = out[at]
            later += 0 if found is None or shares[at] is None else found[0]
        gone = 0
        for at, now in enumerate(shares):
            earlier = before[at]
            first = everybody if earlier is None else hi[earlier]
            if everybody is not None and first is not None:
                first = min(first, everybody - gone)
            is_step = every_event and earlier == (at - 1 if at else None)
            if now is not None:
                past = None if earlier is None else shares[earlier]
                out[at] = _events_between(past, now, lo[at], most=min(hi[at], first or hi[at]) if is_step else first)
                gone += 0 if (found := out[at]) is None else found[0]
    return out


def _events_between(past: Printed | None, now: Printed, least: int, *, most: int | None) -> tuple[int, int] | None:
    """Return bounds on the events between two printed survivals."""
    start = Printed(Fraction(1), Fraction(1)) if past is None else past
    if start.hi <= 0:
        return 0, UNBOUNDED if most is None else most
    high = Fraction(1) if start.lo <= 0 else min(Fraction(1), now.hi / start.lo)
    low = max(Fraction(0), now.lo / min(Fraction(1), start.hi))
    if low > 1:
        return None
    fewest = max(ceil((1 - high) * least), int(high < 1))
    largest = 0 if low == 1 else UNBOUNDED if most is None else floor((1 - low) * most)
    return (fewest, largest) if fewest <= largest else None


# The table


def _label(
    column: str, cells: Sequence[_Cell], start: Cut
) -> tuple[list[ValueGroup], dict[tuple[Interval, ...], str], tuple[str, ...]]:
    """Return groups of times, labels of unions, and all pieces."""
    always = Interval(start, ABOVE)
    unions = list(dict.fromkeys(cell.group.times for cell in cells))
    pieces = split_intervals([always.text, *(one.text for times in unions for one in times)])
    groups: dict[str, ValueGroup] = {}
    labels = {}
    for times in unions:
        label = " or ".join(one.text for one in times)
        members = tuple(dict.fromkeys(piece for one in times for piece in pieces[one.text]))
        labels[times] = label
        if members != (label,):
            groups[label] = ValueGroup(column, label, members)
    return list(groups.values()), labels, pieces[always.text]


def _sentences(strata: Sequence[_Stratum], derived: _Derived) -> list[str]:
    if any(stratum.spans for stratum in strata):
        return ["Those at risk are taken to be there when the interval of their line begins."]
    every = [stratum.lists_every_event for stratum in strata]
    out = []
    why = "the numbers account for everybody, or the survival leaves no room for other events"
    if all(every):
        out.append(f"Every time with an event is taken to be listed: {why}.")
    elif not any(every):
        out.append("The events of a line are taken to have happened since the line before.")
    else:
        out.append(f"Every time with an event is taken to be listed in strata where {why}.")
    if any(stratum.is_ambiguous for stratum in strata):
        out.append("It may list every time with an event: say --complete if it does, --incomplete if it does not.")
    if derived.used:
        out.append("The survival is read as a Kaplan-Meier estimate; it bounds events that are not printed.")
    if derived.open:
        out.append("What the survival says beyond bounds on the events of each line is not used.")
    return out


def _check_risk(table: FrequencyTable, cells: Cells, strata: Sequence[_Stratum]) -> None:
    for stratum in strata:
        risk = stratum.known("at risk")
        events = stratum.known("events")
        for at, row in enumerate(stratum.rows):
            here = risk[at]
            follows = at and here is not None and risk[at - 1] is not None and here > (risk[at - 1] or 0)
            event = events[at]
            exceeds = stratum.lists_every_event and here is not None and event is not None and event > here
            if table.printing.is_exact and (follows or exceeds):
                what = "more people are at risk than in the line before" if follows else "more events than people at risk"
                remedy = "Correct the line, or name the column of the strata with --by"
                raise Contradiction(what, where=cells.place(row), remedy=remedy, lines=[int(cells.lines[row])])


def _append(
    table: FrequencyTable,
    cells: Cells,
    extra: Sequence[_Extra],
    labels: Sequence[Sequence[str | None]],
    more: Sequence[Sequence[str]],
) -> FrequencyTable:
    """Return the table with derived cells and ``more`` values."""
    width = len(table.columns)
    own = zip(table.values, labels, more, strict=True)
    order = [sorted({*known, *added, *(label for label in column if label is not None)}) for known, column, added in own]
    moved = [np.array([order[place].index(value) for value in table.values[place]] or [0], np.int32) for place in range(width)]
    old = table.codes.reshape(len(table), width)
    codes = np.empty((len(table) + len(extra), width), np.int32)
    for place in range(width):
        codes[: len(table), place] = np.where(old[:, place] == ANY, ANY, moved[place][np.maximum(old[:, place], 0)])
        known: dict[str | None, int] = {value: code for code, value in enumerate(order[place])} | {None: ANY}
        codes[len(table) :, place] = [known[label] for label in labels[place]]
    texts = sorted({text for *_, text in extra if text} - set(table.marks))
    marks = (*table.marks, *texts)
    most = UNBOUNDED if table.n is None else table.n
    assert table.across is not None
    assert table.lines is not None
    return replace(
        table,
        values=tuple(map(tuple, order)),
        codes=codes.reshape(-1),
        lo=_join(table.lo, [lo for _, lo, _, _ in extra]),
        hi=_join(table.hi, [min(hi, most) for _, _, hi, _ in extra]),
        printed=_join(table.printed, [-1 - marks.index(text) if text else 0 for *_, text in extra]),
        marks=marks,
        lines=_join(table.lines, cells.lines[[cell.row for cell, *_ in extra]].tolist()),
        across=_join(table.across, [cell.column for cell, *_ in extra]),
    )


def _join(numbers: Ints, more: Sequence[int]) -> Ints:
    return np.concatenate((numbers, np.array(more, np.int64)))
