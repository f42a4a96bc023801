"""Controlled rounding of frequency tables: which counts add up, and the finest base that is clean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacit.files.inputs import people_of
from tacit.model.arrays import Ints
from tacit.model.audit import Audit
from tacit.model.errors import OptionError
from tacit.model.frequencies import CellPrinting, FrequencyTable, numbered_tables
from tacit.model.people import Gathered
from tacit.model.policy import Limits, Policy
from tacit.model.release import MadeBy, Release
from tacit.model.repair import Repair
from tacit.repairs import round_controlled as method
from tacit.repairs.round_controlled import RoundCase, Sum
from tacit.verbs.audit import audit
from tacit.verbs.suppress import Place, count_people, join_lines, published_sums, relation_of

BASES = (3, 5, 10, 20, 50, 100)  #: Bases that are tried without ``--base``, those of at least the policy's.


def round_controlled(
    gathered: Gathered,
    *,
    base: int | None,
    seed: int | None,
    policy: Policy,
    time_limit: float | None = None,
    before: Audit | None = None,
    **given: Any,
) -> Repair:
    """Round all tables so that parts add up, by default to the finest clean base."""
    if base is not None and base < 2:
        raise OptionError("must be a whole number of at least 2", where="--base", remedy="Write for instance --base 5")
    limits = Limits.within(time_limit)
    tables = _check_tables(gathered, given.get("data"))

    def look(releases: Sequence[Release]) -> Audit:
        limits.check(method.NAME)
        return audit(replace(gathered, releases=tuple(releases)), policy=policy, time_limit=limits.seconds_left, **given)

    found = look(gathered.releases) if before is None else before
    cells = _Cells.of(gathered, tables, given.get("people"))
    least = policy.least_base
    tried = [base] if base is not None else [least, *(one for one in BASES if one > least)]
    for one in tried:
        made = method.propose(RoundCase(cells.counts, cells.sums, one, seed, limits))
        releases = cells.print(made.printed, one)
        after = look(releases)
        if after.ok:
            break
    counts = cells.counts
    moved = [abs(int(new) - int(old)) / max(1, int(old)) for new, old in zip(made.printed, counts, strict=True)]
    several = len(releases) > 1
    facts: dict[str, Any] = {"base": one, "seed": seed, "moved": made.moved, "lower_bound": made.lower_bound}
    facts["optimal"] = made.lower_bound is not None and made.moved == made.lower_bound
    return Repair(
        method.NAME,
        tuple(releases) if several else releases[0],
        found,
        after,
        {"support_error_mean": float(np.mean(moved)) if moved else 0.0, "support_error_max": max(moved, default=0.0)},
        what=f"round all counts to multiples of {one} that add up" + ("" if seed is None else ", at random"),
        start=gathered.releases if several else gathered.releases[0],
        facts=facts,
    )


def round_tables(gathered: Gathered, base: int, limits: Limits, *, data: Any = None, people: Any = None) -> tuple[Release, ...]:
    """Return the tables rounded to a base so that parts add up, without an audit."""
    tables = _check_tables(gathered, data)
    cells = _Cells.of(gathered, tables, people)
    made = method.propose(RoundCase(cells.counts, cells.sums, base, seed=None, limits=limits))
    return tuple(cells.print(made.printed, base))


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """Distinct cells of all tables, their counts, and the sums among them."""

    tables: Sequence[FrequencyTable]
    units: Sequence[Sequence[Place]]
    counts: Ints
    sums: Sequence[Sum]

    @classmethod
    def of(cls, gathered: Gathered, tables: Sequence[FrequencyTable], given: Any) -> _Cells:
        people, population = relation_of(gathered, given)
        units = list(join_lines(tables, people, population).values())
        counts = np.array([int(tables[places[0][0]].lo[places[0][1]]) for places in units], np.int64)
        return cls(tables, units, counts, list(published_sums(tables, units)))

    def print(self, printed: Ints, base: int) -> list[FrequencyTable]:
        return _print(self.tables, self.units, printed, base)


def _check_tables(gathered: Gathered, data: Any) -> list[FrequencyTable]:
    tables = numbered_tables(gathered.releases)
    for number, release in enumerate(gathered.releases):
        if number not in tables:
            raise OptionError("is not a frequency table", where=_name(release), remedy="Give frequency tables")
    return [_check_table(table, data) for table in tables.values()]


def _name(release: Release) -> str:
    return release.source.name if release.source else "the release"


def _check_table(release: FrequencyTable, data: Any) -> FrequencyTable:
    name = _name(release)
    has_numbers = release.measured is not None or bool(release.numbers)
    is_plain = release.printing.is_exact and release.printing.convention is None and not has_numbers
    if not is_plain or (release.lo != release.hi)[~release.is_hidden].any():
        what = "has numbers that are rounded already, or numbers beside counts"
        raise OptionError(what, where=name, remedy="Give the table of exact counts")
    if not release.is_hidden.any():
        return release
    if data is None:
        remedy = "Give the table with all its counts, or the data with --data"
        raise OptionError("has hidden cells, and all counts are rounded together", where=name, remedy=remedy)
    counts = count_people(release, people_of(data))
    return replace(release, lo=counts, hi=counts, printed=counts, printing=CellPrinting(zeros_shown=True))


def _print(tables: Sequence[FrequencyTable], units: Sequence[Sequence[Place]], printed: Ints, base: int) -> list[FrequencyTable]:
    shown = [np.zeros(len(table), np.int64) for table in tables]
    for places, number in zip(units, printed.tolist(), strict=True):
        for release, index in places:
            shown[release][index] = number
    made = []
    for table, own in zip(tables, shown, strict=True):
        printing = CellPrinting(zeros_shown=True, base=base, rounding="random")
        lo, hi = printing.numbers(own, table.n)
        header = replace(table.header, base=base, made_by=(*table.header.made_by, MadeBy(method.NAME, "numbers")))
        made.append(replace(table, lo=lo, hi=hi, printed=own, printing=printing, header=header, source=None, marks=("",)))
    return made
