"""A slow, obvious twin of the deduction through unpublished itemsets, and the judge over all small worlds; nothing here uses Tacit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations_with_replacement

from tests.itemsets.naive_channels import Row, frequent, subsets

#: (present, absent) -> (fewest people, most people).
Groups = dict[tuple[frozenset[str], frozenset[str]], tuple[int, int]]


def deduced_groups(supports: dict[frozenset[str], int], n: int, sigma: int, k: int) -> Groups:
    """Groups of 1..k-1 people on unpublished itemsets, by the deduction rules, level by level until nothing new is known."""
    known = {frozenset[str](): n} | supports
    items = set().union(*supports) if supports else set()
    looked_at: set[frozenset[str]] = set()
    found: Groups = {}
    while True:
        wanted = {
            whole
            for part in known
            for item in items - part
            if (whole := part | {item}) not in known and whole not in looked_at and all(whole - {x} in known for x in whole)
        }
        if not wanted:
            return found
        derived = {}
        for whole in wanted:
            looked_at.add(whole)
            rest = {
                part: sum((-1) ** len(x - part) * known[x] for x in subsets(whole) if part <= x < whole)
                for part in subsets(whole)
            }
            least = max([0, *(-rest[part] for part in rest if len(whole - part) % 2 == 0)])
            most = min([sigma - 1, *(rest[part] for part in rest if len(whole - part) % 2 == 1)])
            for part, count in rest.items():
                sizes = sorted(count + (-1) ** len(whole - part) * x for x in (least, most))
                if sizes[0] > 0 and sizes[1] < k:
                    found[part, whole - part] = (sizes[0], sizes[1])
            if least == most:
                derived[whole] = least
        known |= derived


def worlds_by_release(items: str, n: int, sigma: int) -> Iterator[tuple[dict[frozenset[str], int], list[tuple[Row, ...]]]]:
    """All databases of n rows, grouped by the complete list of frequent itemsets that they publish."""
    together = defaultdict(list)
    for rows in combinations_with_replacement(list(subsets(items)), n):
        together[frozenset(frequent(rows, sigma).items())].append(rows)
    for published, worlds in together.items():
        yield dict(published), worlds
