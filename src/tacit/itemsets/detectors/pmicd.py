"""pmicd: the projection-based detector, its lost last run restored.

For every maximal itemset M the transactions are projected on M, sorted in lexicographic order, and scanned: equal ones are adjacent, and a
run of fewer than k of them is a channel. No support is added up.

As printed (Figure 3), a run is emitted only when the next one begins, so the last run of every M is lost: of Example 6 it drops cd with
its 2 people, and of the whole worked example 8 of 29 channels. Here the last run is emitted after the loop; the result says how many channels
the printed version would have found. Which run is last depends on the order of the items, so that number does, too.

Cost: ``n log n`` comparisons of item lists for each M, and the data.

Reference: A new approach for detecting anonymity of patterns (PMICD), WAIM 2008, Figure 3 and Definitions 11 and 12.
"""

from __future__ import annotations

from collections.abc import Iterator

from tacit.itemsets.detectors.family import Emit, Family, Result

NAME = "pmicd"
Items = tuple[int, ...]


def detect(family: Family, emit: Emit) -> Result:
    """Emit the maximal channels; return their number."""
    people = transactions(family)
    found = lost = 0
    for done, (line, items) in enumerate(family.maximal):
        family.pause(done, len(family.maximal))
        place = {item: 1 << number for number, item in enumerate(items)}
        sizes = list(runs(projected(people, items)))
        small = [(sum(place[item] for item in part), size) for part, size in sizes if size < family.k]
        found += len(small)
        lost += bool(sizes) and sizes[-1][1] < family.k
        emit(family.found(line, len(items), small))
    family.pause(1, 1)
    summary = f"pmicd: {len(family.maximal):,} projections of {len(people):,} different rows sorted"
    return Result(
        f"{summary}; as printed, without its last runs, it finds {found - lost:,} of {found:,}",
        {"channels_as_printed": found - lost},
    )


def transactions(family: Family) -> list[tuple[Items, int]]:
    """Return D: people by their items."""
    data = family.target.data
    assert data is not None
    number = {name: item for item, name in enumerate(family.release.items.names)}
    known = [number.get(name) for name in data.items.names]
    rows = ([item for old in row.tolist() if (item := known[old]) is not None] for row in data.rows)
    return [(tuple(sorted(row)), weight) for row, weight in zip(rows, data.weights.tolist(), strict=True)]


def projected(people: list[tuple[Items, int]], items: Items) -> list[tuple[Items, int]]:
    """Return the sorted projection of D on a set."""
    inside = frozenset(items).__contains__
    return sorted((tuple(filter(inside, row)), weight) for row, weight in people)


def runs(rows: list[tuple[Items, int]]) -> Iterator[tuple[Items, int]]:
    """Yield runs of equal rows, with their length.

    >>> list(runs([((0,), 1), ((0, 1), 1), ((0, 1), 1), ((1,), 2)]))
    [((0,), 1), ((0, 1), 2), ((1,), 2)]
    """
    if not rows:
        return
    current, count = rows[0]
    for row, weight in rows[1:]:
        if row == current:
            count += weight
        else:
            yield current, count
            current = row
            count = weight
    yield current, count  # the run that the printed version loses


def work(family: Family) -> int:
    """Return the number of transactions projected."""
    return len(family.maximal) * family.target.data.n if family.target.data is not None else 0
