"""Frequent, closed and maximal itemsets, for the detectors.

A set of items is a whole number here, bit ``i`` for item ``i``: sets are then keys of a dictionary, and ``part & whole == part`` means "is a
subset of".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np

from tacit.errors import OptionError
from tacit.itemsets.clash import refuse_clash
from tacit.itemsets.supports import Found, Supports
from tacit.model.arrays import Ints
from tacit.model.audit import Target
from tacit.model.release import Itemsets

Emit = Callable[[Found], None]

#: Most frequent itemsets: the detectors hold each as an object.
MOST_FREQUENT = 1 << 22
#: Line of the empty set, which is not published.
NO_LINE = -1


@dataclass(frozen=True, slots=True)
class Result:
    """Remark and measures of a detector."""

    reason: str
    measures: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Family:
    """Itemsets of an exact, complete list, with the empty set."""

    target: Target
    supports: Supports

    def under(self, target: Target) -> Family:
        """Return the same itemsets under another target."""
        other = Family(target, self.supports)
        vars(other).update({name: made for name, made in vars(self).items() if name not in ("target", "supports")})
        return other

    @property
    def release(self) -> Itemsets:
        """The release."""
        return self.supports.release

    @property
    def k(self) -> int:
        """Groups of fewer people are channels."""
        return self.target.policy.k

    @cached_property
    def maximal(self) -> list[tuple[int, tuple[int, ...]]]:
        """M(D, sigma): number and items of each maximal set."""
        lines = self.supports.maximal.tolist()
        return [(line, tuple(self.release.sets[line].tolist())) for line in lines] or [(NO_LINE, ())]

    @cached_property
    def published(self) -> dict[int, int]:
        """Published sets with their supports."""
        counts = self.release.lo.tolist()
        return {mask_of(items.tolist()): count for items, count in zip(self.release.sets, counts, strict=True)}

    @cached_property
    def frequent(self) -> dict[int, int]:
        """F(D, sigma): all frequent sets with their supports."""
        assert self.release.n is not None
        found = self._with_subsets() if self.supports.by_closure else dict(self.published)
        self._refuse_too_many(len(found))
        return found | {0: self.release.n}

    def _with_subsets(self) -> dict[int, int]:
        found: dict[int, int] = {}
        for closed, support in sorted(self.published.items(), key=lambda entry: -entry[1]):
            self.target.limits.check("I01")
            waiting = [closed]
            while waiting:
                part = waiting.pop()
                if part not in found:  # what is known already belongs to a more frequent set, and so do all its subsets
                    found[part] = support
                    self._refuse_too_many(len(found))
                    waiting.extend(part ^ item for item in single_items(part))
        return found

    def _refuse_too_many(self, number: int) -> None:
        if number > MOST_FREQUENT:
            what = f"{self.target.algorithm} keeps every frequent itemset in memory, and there are more than {MOST_FREQUENT:,}"
            raise OptionError(what, where="--algorithm", remedy="Remove the option")

    @cached_property
    def closed(self) -> list[int]:
        """Cl(D, sigma): sets without an equally frequent superset."""
        if self.supports.by_closure:
            everyone_has_something = max(self.published.values(), default=0) == self.release.n
            return [*self.published, *([] if everyone_has_something else [0])]
        frequent = self.frequent
        # A larger set of the same support exists exactly when adding one of its items alone does not change the support either.
        not_closed = {
            part
            for whole, support in frequent.items()
            for item in single_items(whole)
            if frequent[part := whole ^ item] == support
        }
        return [part for part in frequent if part not in not_closed]

    def cube(self, items: Sequence[int]) -> Ints:
        """Return all subsets' supports, one axis per item.

        Place 1 of an axis is with the item, place 0 with or without.
        """
        subsets = [0]
        for item in items:
            subsets += [subset | 1 << item for subset in subsets]
        counts = np.fromiter(map(self.frequent.__getitem__, subsets), np.int64, len(subsets))
        return counts.reshape((2,) * len(items), order="F")

    def found(self, line: int, n_items: int, groups: Sequence[tuple[int, int]]) -> Found:
        """Return groups (present items by position, size) as columns."""
        words = max(1, -(-n_items // 64))
        present = [[part >> 64 * word & 0xFFFF_FFFF_FFFF_FFFF for word in range(words)] for part, _ in groups]
        sizes = np.array([size for _, size in groups], np.int64)
        return np.full(len(groups), line, np.int64), np.array(present, np.uint64).reshape(-1, words), sizes, sizes

    def pause(self, done: int, whole: int) -> None:
        """Check the time limit, and report progress."""
        self.target.limits.check("I01")
        self.target.progress(done / max(1, whole))

    def refuse_negative(self, size: int, items: Sequence[int]) -> None:
        """Raise a contradiction if a group would be negative."""
        if size < 0:
            line = next(number for number, part in enumerate(self.release.sets) if set(items) <= set(part.tolist()))
            refuse_clash(self.release, line)


def group_size(cube: Ints, present: int) -> int:
    """Count people with exactly ``present`` (Lemma 8).

    >>> cube = np.array([[10, 6], [5, 4]])  # n = 10, one item 5, the other 6, both 4
    >>> [group_size(cube, present) for present in range(4)]
    [3, 1, 2, 4]
    """
    between = cube[tuple(1 if present >> place & 1 else slice(None) for place in range(cube.ndim))]
    return int((between * _signs(between.ndim)).sum())


@cache
def _signs(n_items: int) -> Ints:
    signs = np.ones((), np.int64)
    for _ in range(n_items):
        signs = np.stack((signs, -signs))
    return signs


def mask_of(items: Sequence[int]) -> int:
    """Return a set of item numbers as bits.

    >>> mask_of([0, 3])
    9
    """
    return sum(1 << item for item in items)


def single_items(mask: int) -> Iterator[int]:
    """Yield the items of a set as singletons.

    >>> list(single_items(9))
    [1, 8]
    """
    while mask:
        item = mask & -mask
        yield item
        mask ^= item
