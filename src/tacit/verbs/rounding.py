"""Rounding of frequency tables: each count by itself, to the nearest multiple."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tacit.model.audit import Audit
from tacit.model.errors import OptionError
from tacit.model.frequencies import FrequencyTable, numbered_tables
from tacit.model.people import Gathered
from tacit.model.policy import Limits, Policy
from tacit.model.release import Release
from tacit.model.repair import Repair
from tacit.verbs.attacks import building_on
from tacit.verbs.audit import audit, whole_of

NAME = "round"
BASES = (5, 10, 20, 50, 100, 200, 500)  #: Bases that are tried without ``--base``, those of at least the policy's.


def round_tables(
    gathered: Gathered,
    *,
    base: int | None,
    policy: Policy,
    time_limit: float | None = None,
    before: Audit | None = None,
    **given: Any,
) -> Repair:
    """Round all tables to a base; by default to the finest that is clean."""
    if base is not None and base < 2:
        raise OptionError("must be a whole number of at least 2", where="--base", remedy="Write for instance --base 5")
    limits = Limits.within(time_limit)
    tables = list(numbered_tables(gathered.releases).values())
    if len(tables) < len(gathered.releases):
        raise OptionError("repairs one list, or frequency tables", where="--method round", remedy="Leave the method out")
    for table in tables:
        check_exact(table)

    def look(releases: Sequence[Release], **how: Any) -> Audit:
        limits.check(NAME)
        return audit(replace(gathered, releases=tuple(releases)), policy=policy, time_limit=limits.seconds_left, **how, **given)

    found = look(gathered.releases) if before is None else before
    least = policy.least_base
    tried = [base] if base is not None else [least, *(one for one in BASES if one > least)]
    with building_on(found):
        for one in tried:
            releases = tuple(rounded_cells(table, one) for table in tables)
            quick = look(releases, first_hit=True)
            if quick.ok:
                break
        after = whole_of(quick) or look(releases)
    shown = [max(1, int((~table.is_hidden).sum())) for table in tables]
    errors = [cell_error(table, made) for table, made in zip(tables, releases, strict=True)]
    several = len(releases) > 1
    return Repair(
        NAME,
        releases if several else releases[0],
        found,
        after,
        {"support_error_mean": float(np.average(errors, weights=shown))},
        what=f"print counts as multiples of {one:,}",
        start=gathered.releases if several else gathered.releases[0],
    )


def check_exact(table: FrequencyTable) -> None:
    """Raise unless a table shows nothing but exact counts."""
    if not can_be_rounded(table):
        what = "its counts are rounded already, or printed together with other numbers"
        raise OptionError(what, where=table.source.name if table.source else NAME, remedy="Give the table of exact counts")


def can_be_rounded(release: FrequencyTable) -> bool:
    """Tell if a table shows nothing but exact counts."""
    if not release.printing.is_exact or release.measured is not None or release.numbers:
        return False
    shown = ~release.is_hidden
    return bool(shown.any() and (release.lo == release.hi)[shown].all())


def rounded_cells(table: FrequencyTable, base: int) -> FrequencyTable:
    """Round the shown counts to multiples, halves up."""
    shown = ~table.is_hidden
    printing = replace(table.printing, base=base, rounding="half-up")
    printed = np.where(shown, (2 * table.printed + base) // (2 * base) * base, table.printed)
    lo, hi = printing.numbers(printed, table.n)
    return replace(
        table,
        lo=np.where(shown, lo, table.lo),
        hi=np.where(shown, hi, table.hi),
        printed=printed,
        header=replace(table.header, base=base),
        printing=printing,
        lines=None,
        source=None,
    )


def cell_error(before: FrequencyTable, after: FrequencyTable) -> float:
    """Return the mean relative error of shown cells."""
    shown = ~before.is_hidden
    moved = np.abs(after.printed - before.printed)[shown] / np.maximum(1, before.printed[shown])
    return float(moved.mean()) if len(moved) else 0.0
