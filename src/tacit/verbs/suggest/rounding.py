"""Suggestions for frequency tables, and rounding of each kind of release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np

from tacit.errors import OptionError
from tacit.mining.rules import Published
from tacit.model.audit import Audit
from tacit.model.frequencies import FrequencyTable
from tacit.model.policy import Limits
from tacit.model.release import Itemsets, Listed, Release, Rules
from tacit.model.rounding import Precision, rounded
from tacit.model.table import Table
from tacit.repairs.lists import Lines
from tacit.repairs.round import DECIMALS
from tacit.verbs.audit import audit
from tacit.verbs.data import people_of
from tacit.verbs.mine import tabulate
from tacit.verbs.suggest import Done, SuggestCase, Way, Words

#: What the loss measures.
MEASURED = (
    "mean over the cells: 1 for one that is hidden or left out, else the relative error of its count (of empty cells: the error)"
)
BASES = (5, 10, 20, 50, 100, 200, 500)
#: Multiples of k below which cells are hidden.
TIMES = (1, 2, 3, 5, 10, 20, 50)


def ways(case: SuggestCase) -> list[Way]:
    """Return the forms to try; without data only rounding."""
    if case.data is None:
        return [Way("round", "print counts as multiples of a base", partial(_round_as_published, case))]
    return [
        Way("round", "print counts as multiples of a base", partial(_carry_out, case, "round")),
        Way("hide", "hide more cells", partial(_carry_out, case, "hide")),
        Way("hide, without totals", "leave out totals, and hide small cells", partial(_carry_out, case, "no totals")),
    ]


def can_be_rounded(release: FrequencyTable) -> bool:
    """Tell if a table shows nothing but exact counts."""
    if not release.printing.is_exact or release.measured is not None:
        return False
    shown = ~release.is_hidden
    return bool(shown.any() and (release.lo == release.hi)[shown].all())


def rounded_cells(table: FrequencyTable, base: int) -> FrequencyTable:
    """Round the shown counts to multiples, halves up.

    >>> from tacit.model.frequencies import CellPrinting
    >>> table = FrequencyTable.of(["sex"], [["F"], ["M"], ["*"]], [12, None, 15], n=15, printing=CellPrinting(hidden_below=5))
    >>> [rounded_cells(table, 10).count(cell).to_list() for cell in range(3)]
    [[5, 14], [0, 4], [15, 15]]
    """
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


def tabulate_words(table: FrequencyTable, form: dict[str, Any]) -> Words:
    """Return the command that makes the tables again."""
    below = {"hide_below": table.printing.hidden_below} if table.printing.hidden_below is not None else {}
    return _words([one for one in table.tables() if one], below | form, _roles(table), total=() in table.tables())


def _round_as_published(case: SuggestCase, seconds: float) -> Done:
    limits = Limits.within(seconds)
    release = case.release
    assert release.kind == "frequencies"
    if not can_be_rounded(release):
        raise OptionError(
            "its counts are rounded already, or printed together with other numbers",
            where="round",
            remedy="Give the data with --data",
        )
    for base in _bases(case):
        limits.check("suggest")
        made = rounded_cells(release, base)
        if _holds(audit(made, policy=case.policy, first_hit=True, time_limit=limits.seconds_left), made):
            break
    after = audit(made, policy=case.policy, time_limit=limits.seconds_left)
    error = cell_error(release, made)
    form = {"round_to": base}
    return Done(
        made,
        after,
        loss=error,
        measured=MEASURED,
        cost={"support_error_mean": error},
        commands=(tabulate_words(release, form),),
        what=_what("round", form),
    )


def cell_error(before: FrequencyTable, after: FrequencyTable) -> float:
    """Return the mean relative error of shown cells."""
    shown = ~before.is_hidden
    moved = np.abs(after.printed - before.printed)[shown] / np.maximum(1, before.printed[shown])
    return float(moved.mean()) if len(moved) else 0.0


def _carry_out(case: SuggestCase, how: str, seconds: float) -> Done:
    limits = Limits.within(seconds)
    people = _people(case)
    release = case.release
    assert release.kind == "frequencies"
    tables = [table for table in release.tables() if table]
    if how == "no totals":
        tables = [table for table in tables if not any(set(table) < set(other) for other in tables)]
    forms = list(_forms(case, how))
    for form in forms:
        made = tabulate(people, by=[list(table) for table in tables], **_roles(release), **form)
        limits.check("suggest")
        after = audit(made, policy=case.policy, first_hit=True, time_limit=limits.seconds_left)
        if _holds(after, made) or form is forms[-1]:
            break
    after = audit(made, policy=case.policy, time_limit=limits.seconds_left)
    loss, cost = _loss(people, release, made)
    return Done(
        made,
        after,
        loss=loss,
        measured=MEASURED,
        cost=cost,
        commands=(_words(tables, form, _roles(release)),),
        what=_what(how, form),
    )


def _roles(release: FrequencyTable) -> dict[str, Any]:
    return {"qi": list(release.header.qi), "sa": ["none"] if release.header.no_sa else list(release.header.sa)}


def _holds(found: Audit, made: FrequencyTable) -> bool:
    """Tell if nothing is found, as far as decidable."""
    if found.ok or made.header.has_roles:
        return found.ok
    ended = [run for run in found.runs if run.status != "not-relevant" and run.code != "R03"]
    return found.verdict != "exposed" and all(run.decides for run in ended)


def _forms(case: SuggestCase, how: str) -> Iterator[dict[str, Any]]:
    """Yield options of ``tabulate``, ever coarser."""
    if how == "round":
        yield from ({"round_to": base} for base in _bases(case))
    else:
        yield from ({"hide_below": case.policy.k * times} for times in TIMES)


def _bases(case: SuggestCase) -> list[int]:
    least = case.policy.least_base
    return [least, *(base for base in BASES if base > least)]


def _people(case: SuggestCase) -> Table:
    people = None if case.data is None else people_of(case.data)
    if not isinstance(people, Table):
        raise OptionError("tables are made again from the data", where="--data", remedy="Give the table that they were made from")
    return people


def _loss(people: Table, before: FrequencyTable, after: FrequencyTable) -> tuple[float, dict[str, Any]]:
    """Return the loss over shown cells, and the costs."""
    exact = tabulate(people, by=[list(table) for table in before.tables() if table])
    true = {_key(exact, index): int(exact.lo[index]) for index in range(len(exact))}
    now = {_key(after, index): index for index in range(len(after))}
    errors = []
    hidden = 0
    for index in np.flatnonzero(~before.is_hidden).tolist():
        key = _key(before, index)
        place = now.get(key)
        if key not in true:
            continue  # a grand total, which is n
        if place is None or after.is_hidden[place]:
            hidden += 1
        else:
            errors.append(abs(int(after.printed[place]) - true[key]) / max(1, true[key]))
    cells = max(1, hidden + len(errors))
    mean = float(np.mean(errors)) if errors else 0.0
    return (hidden + sum(errors)) / cells, {"cells_lost": hidden, "support_error_mean": mean}


def _key(release: FrequencyTable, index: int) -> frozenset[tuple[str, str]]:
    return frozenset(release.cell(index).items())


def _words(tables: list[tuple[str, ...]], form: dict[str, Any], roles: dict[str, Any], *, total: bool = False) -> Words:
    by = [word for table in tables for word in ("--by", ",".join(table))]
    options = {"round_to": "--round", "hide_below": "--hide-below"}
    how = [word for name, value in form.items() for word in (options[name], str(value))]
    named = [word for name, columns in roles.items() if columns for word in (f"--{name}", ",".join(columns))]
    return ("tacit", "tabulate", "@data", *by, *named, *(("--total",) if total else ()), *how, "-o", "@out")


def _what(how: str, form: dict[str, Any]) -> str:
    if how == "round":
        return f"print counts as multiples of {form['round_to']:,}"
    return f"hide cells of fewer than {form['hide_below']:,} people" + (", without totals" if how == "no totals" else "")


R = TypeVar("R", bound="Release")
L = TypeVar("L", bound="Listed")


class Rounder(Generic[R]):
    """Rounding of one kind; by default none."""

    def is_exact(self, release: R) -> bool:
        """Tell if a release prints exact numbers."""
        return False

    def precisions(self, release: R, bases: Sequence[int]) -> list[Precision]:
        """Return the precisions to try, ever coarser."""
        raise NotImplementedError

    def print(self, release: R, precision: Precision) -> R:
        """Return the release in another precision."""
        raise NotImplementedError

    def error(self, before: R, after: R) -> float:
        """Return the mean relative error of the counts."""
        raise NotImplementedError

    def words(self, release: R, case: SuggestCase, number: int, precision: Precision) -> Words:
        """Return the command that rounds release ``number``."""
        raise NotImplementedError


class _Lists(Rounder[L]):
    def error(self, before: L, after: L) -> float:
        counted = before.lo > 0
        moved = np.abs((after.lo + after.hi) / 2 - before.lo)[counted] / before.lo[counted]
        return float(moved.mean()) if len(moved) else 0.0

    def words(self, release: L, case: SuggestCase, number: int, precision: Precision) -> Words:
        how: Words = ("--base", str(precision.base)) if precision.base is not None else ("--decimals", str(precision.decimals))
        return ("tacit", "repair", f"@{number}", "--method", "round", *how, *case.policy_words("k"), "-o", f"@out/{number + 1}")


class _Itemsets(_Lists[Itemsets]):
    def is_exact(self, release: Itemsets) -> bool:
        return release.is_exact and len(release) > 0

    def precisions(self, release: Itemsets, bases: Sequence[int]) -> list[Precision]:
        most = int(release.lo.min())
        return [Precision(base=base) for base in bases if base <= most] or [Precision(base=bases[0])]

    def print(self, release: Itemsets, precision: Precision) -> Itemsets:
        return rounded(release, precision)


class _Rules(_Lists[Rules]):
    def is_exact(self, release: Rules) -> bool:
        if not len(release) or not release.n:
            return False
        return bool((release.lo == release.hi).all() and (release.whole_lo == release.whole_hi).all())

    def precisions(self, release: Rules, bases: Sequence[int]) -> list[Precision]:
        every = [Precision(decimals=digits) for digits in reversed(DECIMALS)]
        return [one for one in every if one.step(release.n or 0) >= 2]

    def print(self, release: Rules, precision: Precision) -> Rules:
        return Lines(release, release.lo, release.whole_lo).printed(Published(digits=precision.decimals))


class _Frequencies(Rounder[FrequencyTable]):
    def is_exact(self, release: FrequencyTable) -> bool:
        return can_be_rounded(release)

    def precisions(self, release: FrequencyTable, bases: Sequence[int]) -> list[Precision]:
        return [Precision(base=base) for base in bases]

    def print(self, release: FrequencyTable, precision: Precision) -> FrequencyTable:
        return rounded_cells(release, precision.base or 1)

    def error(self, before: FrequencyTable, after: FrequencyTable) -> float:
        return cell_error(before, after)

    def words(self, release: FrequencyTable, case: SuggestCase, number: int, precision: Precision) -> Words:
        words = tabulate_words(release, {"round_to": precision.base})
        return (*words[:-1], f"@out/{number + 1}")


_ROUNDERS: dict[str, Rounder] = {"itemsets": _Itemsets(), "rules": _Rules(), "frequencies": _Frequencies()}  # type: ignore[type-arg]
_NONE: Rounder[Release] = Rounder()


def rounder_of(release: Release) -> Rounder:  # type: ignore[type-arg]
    """Return how a release is rounded."""
    return _ROUNDERS.get(release.kind, _NONE)
