"""Rounding of each kind of release, for suggestions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

import numpy as np

from tacit.mining.rules import Published
from tacit.model.frequencies import FrequencyTable
from tacit.model.release import Itemsets, Listed, Release, Rules
from tacit.model.rounding import Precision, rounded
from tacit.repairs.lists import Lines
from tacit.repairs.round import DECIMALS
from tacit.verbs.suggest.frequencies import can_be_rounded, cell_error, rounded_cells, tabulate_words
from tacit.verbs.suggest.ways import SuggestCase, Words

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
