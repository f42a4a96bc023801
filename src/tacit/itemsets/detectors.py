"""Published detectors of inference channels, for comparison.

The default detector (hierarchical projection) is the attack I01 itself. These three find the same maximal channels as their papers say, in
plain Python and numpy, to compare the fast one with; they take exact lists of all or of closed itemsets.

A set of items is a whole number here, bit ``i`` for item ``i``: sets are then keys of a dictionary, and ``part & whole == part`` means "is a
subset of".

References: Atzori, Bonchi, Giannotti, Pedreschi, k-Anonymous Patterns, PKDD 2005; A new approach for detecting anonymity of patterns (PMICD),
WAIM 2008.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import groupby

import numpy as np

from tacit.itemsets.clash import refuse_clash
from tacit.itemsets.supports import Found, Supports, refuse_other_data
from tacit.model.arrays import Ints
from tacit.model.audit import Target
from tacit.model.errors import OptionError
from tacit.model.release import Itemsets

Emit = Callable[[Found], None]
#: Groups on an itemset: the present items by position, and the number of people.
_Channels = list[tuple[int, int]]
_Items = tuple[int, ...]

MOST_FREQUENT = 1 << 22  #: Most frequent itemsets: the detectors hold each as an object.
NO_LINE = -1  #: Line of the empty set, which is not published.


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
    def maximal(self) -> list[tuple[int, _Items]]:
        """M(D, sigma): number and items of each maximal set."""
        lines = self.supports.maximal.tolist()
        return [(line, tuple(self.release.sets[line].tolist())) for line in lines] or [(NO_LINE, ())]

    @cached_property
    def published(self) -> dict[int, int]:
        """Published sets with their supports."""
        counts = self.release.lo.tolist()
        return {_mask_of(items.tolist()): count for items, count in zip(self.release.sets, counts, strict=True)}

    @cached_property
    def frequent(self) -> dict[int, int]:
        """F(D, sigma): all frequent sets with their supports."""
        assert self.release.n is not None
        found = {} if self.supports.by_closure else dict(self.published)
        self._refuse_too_many(len(found))
        for closed, support in sorted(self.published.items(), key=lambda entry: -entry[1]) if self.supports.by_closure else ():
            self.target.limits.check("I01")
            waiting = [closed]
            while waiting:
                part = waiting.pop()
                if part not in found:  # what is known already belongs to a more frequent set, and so do all its subsets
                    found[part] = support
                    self._refuse_too_many(len(found))
                    waiting.extend(part ^ item for item in _single_items(part))
        return found | {0: self.release.n}

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
            for item in _single_items(whole)
            if frequent[part := whole ^ item] == support
        }
        return [part for part in frequent if part not in not_closed]

    def channels(self, items: Sequence[int], parts: Iterable[int]) -> _Channels:
        """Return the small groups with exactly these parts of some items, by signed sums."""
        subsets = [0]
        for item in items:
            subsets += [subset | 1 << item for subset in subsets]
        counts = np.fromiter(map(self.frequent.__getitem__, subsets), np.int64, len(subsets))
        cube = counts.reshape((2,) * len(items), order="F")
        found = []
        for part in parts:
            size = group_size(cube, part)
            if size < 0:
                lines = (number for number, published in enumerate(self.release.sets) if set(items) <= set(published.tolist()))
                refuse_clash(self.release, next(lines))
            if 0 < size < self.k:
                found.append((part, size))
        return found

    def found(self, line: int, n_items: int, groups: _Channels) -> Found:
        """Return groups as columns."""
        words = max(1, -(-n_items // 64))
        present = [[part >> 64 * word & 0xFFFF_FFFF_FFFF_FFFF for word in range(words)] for part, _ in groups]
        sizes = np.array([size for _, size in groups], np.int64)
        return np.full(len(groups), line, np.int64), np.array(present, np.uint64).reshape(-1, words), sizes, sizes

    def pause(self, done: int, whole: int) -> None:
        """Check the time limit, and report progress."""
        self.target.limits.check("I01")
        self.target.progress(done / max(1, whole))


def group_size(cube: Ints, present: int) -> int:
    """Count people with exactly ``present`` (Lemma 8), from all subsets' supports.

    The cube has an axis for each item: place 1 is with the item, place 0 with or without.

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


def _mask_of(items: Sequence[int]) -> int:
    return sum(1 << item for item in items)


def _single_items(mask: int) -> Iterator[int]:
    """Yield the items of a set as singletons: 9 is 1 and 8."""
    while mask:
        item = mask & -mask
        yield item
        mask ^= item


def _detect_naively(family: Family, emit: Emit) -> Result:
    """Emit the maximal channels; count all (Atzori and others, Algorithm 1).

    For every frequent itemset J and every I inside it the signed sum is computed: ``2**|J|`` sums of up to ``2**|J|`` terms. The maximal
    channels say as much as all: the groups on a J that is not maximal are unions of groups on a larger one, so a channel is maximal exactly if
    its J is. (Definition 16, read literally, compares a channel also with itself and with infrequent itemsets, and then no channel is maximal;
    what is meant is: no other channel, of frequent itemsets, has at least its present and at least its absent items.)
    """
    line_of = {_mask_of(items): line for line, items in family.maximal}
    every = 0
    maximal = 0
    for whole, n_items, channels in every_channel(family):
        every += len(channels)
        if whole in line_of:
            maximal += len(channels)
            emit(family.found(line_of[whole], n_items, channels))
    return Result(f"naive: {every:,} channels in all, {maximal:,} of them maximal", {"all_channels": every})


def every_channel(family: Family) -> Iterator[tuple[int, int, _Channels]]:
    """Yield Ch(k, F(D, sigma)) by itemset J."""
    sums = _count_sums(family)
    done = 0
    for whole in family.frequent:
        family.pause(done, sums)
        items = [item.bit_length() - 1 for item in _single_items(whole)]
        done += 1 << len(items)
        yield whole, len(items), family.channels(items, range(1 << len(items)))
    family.pause(sums, sums)


def _count_sums(family: Family) -> int:
    return sum(1 << whole.bit_count() for whole in family.frequent)


def _detect_by_closed_sets(family: Family, emit: Emit) -> Result:
    r"""Emit the maximal channels; count sums (Atzori and others, Algorithm 2).

    The PMICD paper calls it OICD. For every maximal itemset J and every closed I inside it the signed sum over the supports between them is
    computed, ``2**|J \ I|`` terms; supports are looked up by hash. That I has to be closed costs nothing (Proposition 17): the people whose
    items of J are exactly I have all items of the closure of I, which lies inside J, so a group on an I that is not closed is empty.
    """
    pairs = 0
    terms = 0
    for done, (line, items) in enumerate(family.maximal):
        family.pause(done, len(family.maximal))
        inside = _closed_inside(family, items)
        pairs += len(inside)
        terms += sum(1 << len(items) - part.bit_count() for part in inside)
        emit(family.found(line, len(items), family.channels(items, inside)))
    family.pause(1, 1)
    return Result(f"oicd: {pairs:,} sums of {terms:,} published supports")


def _closed_inside(family: Family, items: _Items) -> list[int]:
    whole = _mask_of(items)
    return [
        sum((part >> item & 1) << place for place, item in enumerate(items)) for part in family.closed if part & whole == part
    ]


def _count_supports(family: Family) -> int:
    inside = ((len(items), _closed_inside(family, items)) for _, items in family.maximal)
    return sum(1 << n_items - part.bit_count() for n_items, parts in inside for part in parts)


@dataclass(frozen=True, slots=True)
class ScanCost:
    """Closed itemsets that OICD looks at if it scans a list for each support.

    The PMICD paper has OICD scan the closed itemsets, where :func:`detect` asks a hash. ``pairs`` are looks to find the closed sets inside
    each maximal set. A support is that of the most frequent closed superset: ``every`` counts looks at the whole list for each of the
    ``supports`` added; ``first`` counts looks if the list is sorted by descending support, so that the scan ends at the first superset.
    """

    pairs: int
    supports: int
    first: int
    every: int


def count_scanned(family: Family) -> ScanCost:
    """Count the steps of an OICD that scans, without carrying them out.

    The support of X is added for every maximal set J around X and every closed I inside X. So the sum over J and over X inside J of the
    number of closed subsets of X, times the looks at X, is the cost.
    """
    n_closed = len(family.closed)
    looks = _scan_places(family)
    supports = 0
    first = 0
    for done, (_, items) in enumerate(family.maximal):
        family.pause(done, len(family.maximal))
        closed_subsets = np.zeros(1 << len(items), np.int64)
        closed_subsets[_closed_inside(family, items)] = 1
        cube = closed_subsets.reshape((2,) * len(items))
        for axis in range(len(items)):
            np.cumsum(cube, axis=axis, out=cube)
        subsets = [0]
        for item in items:
            subsets += [subset | 1 << item for subset in subsets]
        places = np.fromiter(map(looks.__getitem__, subsets), np.int64, len(subsets))
        supports += int(closed_subsets.sum())
        first += int((closed_subsets * places).sum())
    family.pause(1, 1)
    return ScanCost(len(family.maximal) * n_closed, supports, first, supports * n_closed)


def _scan_places(family: Family) -> dict[int, int]:
    """Return the place of each frequent set's closure, in order of support."""
    places: dict[int, int] = {}
    for place, closed in enumerate(sorted(family.closed, key=lambda part: -family.frequent[part]), start=1):
        waiting = [closed]
        while waiting:
            part = waiting.pop()
            if part not in places:  # the closure of a set is its first superset, and so it is for what lies inside
                places[part] = place
                waiting.extend(part ^ item for item in _single_items(part))
    return places


def _detect_by_sorting(family: Family, emit: Emit) -> Result:
    """Emit the maximal channels; count those of the printed version (PMICD, Figure 3).

    For every maximal itemset M the transactions are projected on M, sorted in lexicographic order, and scanned: equal ones are adjacent, and a
    run of fewer than k of them is a channel. No support is added up; the cost is ``n log n`` comparisons of item lists for each M.

    As printed, a run is emitted only when the next one begins, so the last run of every M is lost: of Example 6 it drops cd with its 2 people,
    and of the whole worked example 8 of 29 channels. Here the last run is emitted as well; the result says how many channels the printed
    version would have found. Which run is last depends on the order of the items, so that number does, too.
    """
    data = family.target.data
    assert data is not None
    number = {name: item for item, name in enumerate(family.release.items.names)}
    known = [number.get(name) for name in data.items.names]
    rows = ([item for old in row.tolist() if (item := known[old]) is not None] for row in data.rows)
    people = [(tuple(sorted(row)), weight) for row, weight in zip(rows, data.weights.tolist(), strict=True)]
    found = 0
    lost = 0
    for done, (line, items) in enumerate(family.maximal):
        family.pause(done, len(family.maximal))
        place = {item: 1 << number for number, item in enumerate(items)}
        projected = sorted((tuple(filter(place.__contains__, row)), weight) for row, weight in people)
        runs = [(part, sum(weight for _, weight in run)) for part, run in groupby(projected, key=lambda row: row[0])]
        small = [(sum(place[item] for item in part), size) for part, size in runs if size < family.k]
        found += len(small)
        lost += bool(runs) and runs[-1][1] < family.k
        emit(family.found(line, len(items), small))
    family.pause(1, 1)
    summary = f"pmicd: {len(family.maximal):,} projections of {len(people):,} different rows sorted"
    return Result(
        f"{summary}; as printed, without its last runs, it finds {found - lost:,} of {found:,}",
        {"channels_as_printed": found - lost},
    )


def _count_projected(family: Family) -> int:
    return len(family.maximal) * family.target.data.n if family.target.data is not None else 0


@dataclass(frozen=True, slots=True)
class Detector:
    """A row of the table of detectors; ``work`` counts their steps."""

    name: str
    detect: Callable[[Family, Emit], Result]
    work: Callable[[Family], int]
    needs_data: bool = False


DETECTORS: tuple[Detector, ...] = (
    Detector("naive", _detect_naively, _count_sums),
    Detector("oicd", _detect_by_closed_sets, _count_supports),
    Detector("pmicd", _detect_by_sorting, _count_projected, needs_data=True),
)


def detect(target: Target, supports: Supports, emit: Emit) -> Result:
    """Emit the maximal channels by the target's detector."""
    detector = next(row for row in DETECTORS if row.name == target.algorithm)
    _refuse_unfit(detector, target, supports)
    if target.data is not None:
        refuse_other_data(supports.release, target.data)  # the findings are those of the release only if the data are its own
    return detector.detect(Family(target, supports), emit)


def _refuse_unfit(detector: Detector, target: Target, supports: Supports) -> None:
    release = supports.release
    remedy = "Remove the option"
    if detector.needs_data and target.data is None:
        what = "needs the data, which are not given"
        remedy = "Give them with --data, or choose oicd"
    elif release.only == "maximal":
        what = "needs the supports of all subsets, which maximal itemsets do not give"
    elif not release.is_exact:
        what = "needs exact counts; those of this release are rounded"
    elif release.n is None:
        what = "needs the number of people"
        remedy = "Give it with --n, or remove the option"
    elif supports.has_gaps:
        what = "needs the supports of all subsets; this list has gaps"
    else:
        return
    raise OptionError(f"{detector.name} {what}", where="--algorithm", remedy=remedy)
