"""Slow, obvious twins for frequent itemsets and inference channels, straight from the definitions; nothing here uses Tacit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, permutations

Row = frozenset[str]
Supports = Mapping[frozenset[str], int]
Counts = frozenset[tuple[frozenset[str], int]]
#: What a channel says: people who have all of the first set and none of the second, and how many they are.
Channel = tuple[frozenset[str], frozenset[str], int]


def rows_of(text: str) -> list[Row]:
    """Rows from lines, one item per word.

    >>> [sorted(row) for row in rows_of("a b/c")]
    [['a', 'b'], ['c']]
    """
    return [frozenset(line.split()) for line in text.split("/")]


def renamings(published: Counts, items: str) -> set[Counts]:
    """The same list under all names of its items."""
    names = [dict(zip(items, order, strict=True)) for order in permutations(items)]
    return {frozenset((frozenset(name[x] for x in one), count) for one, count in published) for name in names}


def subsets(items: Iterable[str]) -> Iterator[frozenset[str]]:
    """All subsets, the empty one included.

    >>> len(list(subsets("abc")))
    8
    """
    listed = sorted(items)
    return map(frozenset, chain.from_iterable(combinations(listed, size) for size in range(len(listed) + 1)))


def support(rows: Sequence[Row], items: frozenset[str]) -> int:
    """How many rows have all the items."""
    return sum(items <= row for row in rows)


def frequent(rows: Sequence[Row], sigma: int) -> dict[frozenset[str], int]:
    """All itemsets with at least ``sigma`` rows, the empty set left out, with their supports."""
    found = {}
    for items in subsets(set().union(*rows)):
        if items and (count := support(rows, items)) >= sigma:
            found[items] = count
    return found


def closed(supports: Supports) -> dict[frozenset[str], int]:
    """The itemsets without a proper superset of the same support."""
    return {x: n for x, n in supports.items() if not any(x < y and n == m for y, m in supports.items())}


def maximal(supports: Supports) -> dict[frozenset[str], int]:
    """The itemsets without a proper superset."""
    return {x: n for x, n in supports.items() if not any(x < y for y in supports)}


def all_channels(rows: Sequence[Row], sigma: int, k: int) -> set[Channel]:
    """Every channel, maximal or not: I inside a frequent J (or the empty set) with 0 < f < k people whose items of J are exactly I."""
    found = set()
    for whole in [frozenset[str](), *frequent(rows, sigma)]:
        for part in subsets(whole):
            count = sum(row & whole == part for row in rows)
            if 0 < count < k:
                found.add((part, whole - part, count))
    return found


def maximal_channels(rows: Sequence[Row], sigma: int, k: int) -> set[Channel]:
    """The channels with no other channel above them: none that has at least its present items and at least its absent ones."""
    channels = all_channels(rows, sigma, k)
    return {(i, d, n) for i, d, n in channels if not any((i, d) != (h, e) and i <= h and d <= e for h, e, _ in channels)}


Interval = tuple[int, int]


def proved_channels(
    published: Mapping[frozenset[str], Interval], k: int
) -> dict[tuple[frozenset[str], frozenset[str]], Interval]:
    """What inclusion-exclusion proves from intervals of supports, and only from them; the empty set stands for n.

    Keys are (present, absent) with every support between them known. Those whose group is split into two known ones, of which one is
    proved small as well, are left out: the split one says more.
    """
    found = {}
    for whole in published:
        for part in subsets(whole):
            between = [part | more for more in subsets(whole - part)]
            if all(x in published for x in between):
                plus = [published[x] for x in between if len(x - part) % 2 == 0]
                minus = [published[x] for x in between if len(x - part) % 2 == 1]
                lo = sum(x[0] for x in plus) - sum(x[1] for x in minus)
                hi = sum(x[1] for x in plus) - sum(x[0] for x in minus)
                if lo > 0 and hi < k:
                    found[part, whole - part] = (lo, hi)
    items = set().union(*published)
    return {
        (i, d): count
        for (i, d), count in found.items()
        if not any((i, d | {a}) in found or (i | {a}, d) in found for a in items - i - d)
    }
