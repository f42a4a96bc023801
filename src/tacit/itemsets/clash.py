"""Smallest contradictions among lines of itemsets.

A group "all of I, none of D" is a signed sum of ``2**|D|`` supports, and cannot be negative. The search takes the shortest sum that is,
so the fewest lines: one absent item first (two lines: a set is more frequent than a subset), then two, and so on. Then all sums inside it
are possible, and the rest is made irreducible by an exact test of feasibility. Sums of more than five absent items are named whole. All this
runs only when a release is refused, with a bounded amount of work.

The test: no database fits the statements exactly when some integer weights of them count no combination of items less than 0 times and yet
come to less than 0 people (Farkas). These weights are the proof. Numbers of people are fractions here, so a contradiction that needs people
to be whole is not seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb, gcd
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from tacit.itemsets.supports import MOST_ITEMS as LONGEST_CUBE
from tacit.itemsets.supports import Cube, Supports
from tacit.kernels.rows import cells
from tacit.model.arrays import Flags, Ints
from tacit.model.errors import Contradiction, numbered
from tacit.model.release import Itemsets

#: Tables over more items than this are not searched: 2**5 lines are made irreducible in half a second, 2**6 in seven.
MOST_ITEMS = 5

Table = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Statement:
    """Bounds on the support of ``mask``, from a ``line`` (negative: none)."""

    mask: int
    lo: int
    hi: int
    line: int


@dataclass(frozen=True, slots=True)
class Clash:
    """Irreducible infeasible statements, with proof weights."""

    statements: tuple[Statement, ...]
    weights: tuple[int, ...]

    @property
    def lines(self) -> tuple[int, ...]:
        """Lines of these statements, ascending."""
        return tuple(sorted({statement.line for statement in self.statements}))

    @property
    def total(self) -> int:
        """Upper bound of the weighted sum, below 0."""
        pairs = zip(self.statements, self.weights, strict=True)
        return sum(weight * (statement.hi if weight > 0 else statement.lo) for statement, weight in pairs)

    def holds(self, items: int) -> bool:
        """Tell if nobody is counted less than 0 times, and the sum is negative."""
        pairs = [(statement.mask, weight) for statement, weight in zip(self.statements, self.weights, strict=True)]
        never_negative = all(sum(w for mask, w in pairs if mask & row == mask) >= 0 for row in range(1 << items))
        return never_negative and self.total < 0


def smallest_clash(statements: Sequence[Statement], items: int) -> Clash | None:
    """Find a clash of few lines, or None.

    Lines are taken away one at a time while the rest still clashes, so that no line can be spared in what is left. What stands on no line
    (the number of people, say) is known anyway and stays.
    """
    found = clash(statements, items)
    if found is None:
        return None
    known = [statement for statement in statements if statement.line < 0]
    # The last lines of a file go first, so that of two equal explanations the one further up is given.
    for line in sorted(found.lines, reverse=True):
        if line >= 0 and line in found.lines:
            rest = [statement for statement in found.statements if statement.line >= 0 and statement.line != line]
            found = clash([*known, *rest], items) or found
    return found


def clash(statements: Sequence[Statement], items: int) -> Clash | None:
    """Find statements that no fractional database fits, with their weights."""
    masks = np.array([statement.mask for statement in statements], np.int64)
    rows = np.arange(1 << items, dtype=np.int64)
    # Combinations of items that the statements do not distinguish are one unknown.
    held = np.unique((rows[None, :] & masks[:, None] == masks[:, None]).astype(np.int64), axis=1)
    weights = _weights(statements, held)
    if weights is None:
        return None
    used = [i for i, weight in enumerate(weights) if weight]
    return Clash(tuple(statements[i] for i in used), tuple(weights[i] for i in used))


def _weights(statements: Sequence[Statement], held: npt.NDArray[np.int64]) -> list[int] | None:
    """Find weights that prove infeasibility, by simplex.

    They are the dual of the least by which the statements must be missed. The table holds whole numbers over one common denominator, so that
    nothing is rounded (Edmonds).
    """
    bounds = [(i, 1, statement.hi) for i, statement in enumerate(statements)]
    bounds += [(i, -1, statement.lo) for i, statement in enumerate(statements) if 0 < statement.lo < statement.hi]
    exact = {i for i, statement in enumerate(statements) if statement.lo == statement.hi}
    unknowns = held.shape[1]
    height = len(bounds)
    # Columns: people per combination, what is left to each bound, how far each bound is missed, the bound itself.
    table = np.zeros((height + 1, unknowns + 2 * height + 1), object)
    for row, (i, side, bound) in enumerate(bounds):
        table[row, :unknowns] = held[i].astype(object)
        table[row, unknowns + row] = 0 if i in exact else side
        table[row, unknowns + height + row] = 1
        table[row, -1] = bound
    missed = [row for row, (i, side, _) in enumerate(bounds) if i in exact or side < 0]
    basis = [unknowns + (height if row in missed else 0) + row for row in range(height)]
    for row in missed:
        table[-1] -= table[row]
    table[-1, [unknowns + height + row for row in missed]] = 0
    table[-1, [unknowns + height + row for row in range(height) if row not in missed]] = 1
    denominator = _minimise(table, basis, unknowns + height)
    if table[-1, -1] == 0:
        return None
    weights = [0] * len(statements)
    for row, (i, _, _) in enumerate(bounds):
        weights[i] += int(table[-1, unknowns + height + row]) - denominator
    common = gcd(*weights)
    return [weight // common for weight in weights]


def _minimise(table: Table, basis: list[int], columns: int) -> int:
    """Minimise a simplex table in place; return its denominator."""
    denominator = 1
    while True:
        entering = next((column for column in range(columns) if table[-1, column] < 0), None)
        if entering is None:
            return denominator
        # The ratio test; ties go to the first unknown (Bland's rule), which guarantees termination.
        best: tuple[int, int, int, int] | None = None
        for row, unknown in enumerate(basis):
            slope = table[row, entering]
            room = table[row, -1]
            if slope > 0 and (best is None or (room * best[1], unknown) < (best[0] * slope, best[2])):
                best = (room, slope, unknown, row)
        assert best is not None, "how far the bounds are missed is never less than 0"
        leaving = best[3]
        pivot = table[leaving, entering]
        kept = table[leaving].copy()
        table[:] = (table * pivot - np.outer(table[:, entering], kept)) // denominator
        table[leaving] = kept
        basis[leaving] = entering
        denominator = pivot


#: Sources of statements without a line: the number of people; the threshold of a complete list.
N = -1
COMPLETE = -3
#: Numbers that the search may examine in one set, and in all: a second or two.
WORK_ON_A_SET = 1 << 25
WORK = 1 << 27
MOST_SUMS = 8  #: Equally short sums that are made irreducible, to find the one with the fewest lines.
MOST_TERMS = 12  #: Longest sum that is written out.


@dataclass(frozen=True, slots=True)
class Sum:
    """Negative group: its present and absent items."""

    present: tuple[int, ...]
    absent: tuple[int, ...]


def refuse_clash(release: Itemsets, line: int) -> NoReturn:
    """Raise a :class:`Contradiction` with the fewest lines that clash."""
    supports = Supports(release)
    found = [_find_clash(supports, one) for one in _find_shortest_sums(supports, line)]
    raise _make_contradiction(release, min(found, key=lambda clash: (len(_file_lines(clash)), clash.lines)))


def refuse_incomplete(supports: Supports, candidates: Sequence[Ints]) -> NoReturn:
    """Raise a :class:`Contradiction` about unpublished itemsets with contradictory bounds."""
    release = supports.release
    shortest = sorted(candidates, key=lambda items: (len(items), items.tolist()))[:MOST_SUMS]
    found = [_find_incompleteness(supports, items) for items in shortest if len(items) <= MOST_ITEMS]
    if not found:
        found = [_clash_of_two_sums(_statements(supports, shortest[0]), release)]
    raise _make_contradiction(release, min(found, key=lambda clash: (COMPLETE in clash.lines, len(clash.lines), clash.lines)))


def _make_contradiction(release: Itemsets, clash: Clash) -> Contradiction:
    """Return the error for contradictory lines, without items."""
    lines = [release.line(line) for line in _file_lines(clash)]
    name = release.source.name if release.source else "the release"
    complete = [weight for one, weight in zip(clash.statements, clash.weights, strict=True) if one.line == COMPLETE]
    if complete:
        least = _write_sum(release, clash, sign=-1) if complete == [1] else ""
        found = sum(complete) * ((release.min_support or 1) - 1) - clash.total
        forced = "by these lines the threshold is reached by"
        if least and not _is_rounded(clash):
            forced = f"at least {least} = {found:,} people have"
        what = (
            f"the list cannot be complete: {forced} an itemset that it leaves out, and its threshold is {release.min_support:,}"
        )
        remedy = "Check the threshold and the counts, or say that the list is not complete (--incomplete)"
    else:
        reading = "read as a complete list of closed itemsets, " if Supports(release).by_closure else ""
        total = f"{'at most ' if _is_rounded(clash) else ''}{clash.total:,}"
        written = _write_sum(release, clash)
        what = f"{reading}the counts cannot all be true: " + (
            f"{written} is a number of people, and comes to {total}" if written else f"some group would have {total} people"
        )
        remedy = "Check these lines, the number of people and how numbers were rounded (--rounding)"
    return Contradiction(what, where=f"{name}, {numbered(lines)}" if lines else name, remedy=remedy, lines=lines)


def _file_lines(clash: Clash) -> list[int]:
    return [line for line in clash.lines if line >= 0]


def _is_rounded(clash: Clash) -> bool:
    return any(statement.lo < statement.hi for statement in clash.statements if statement.line >= 0)


def _write_sum(release: Itemsets, clash: Clash, sign: int = 1) -> str:
    weights: dict[int, int] = {}
    for statement, weight in zip(clash.statements, clash.weights, strict=True):
        weights[statement.line] = weights.get(statement.line, 0) + sign * weight
    terms = [(weight, line) for line, weight in weights.items() if weight and line != COMPLETE]
    if len(terms) > MOST_TERMS:
        return ""
    terms.sort(key=lambda term: (term[0] < 0, term[1]))
    written = ""
    for weight, line in terms:
        times = f"{abs(weight)} x " if abs(weight) > 1 else ""
        written += f"{' - ' if weight < 0 else ' + '}{times}{'n' if line == N else f'line {release.line(line)}'}"
    return written.removeprefix(" + ").strip()


# The shortest negative sum


def _find_shortest_sums(supports: Supports, first: int) -> list[Sum]:
    others = [line for line in supports.maximal.tolist() if line != first]
    work = WORK
    best = None
    found = dict[Sum, None]()
    for line in (first, *others):
        items = supports.release.sets[line].astype(np.int64)
        work -= len(supports.release.sets.members) + (1 << min(len(items), 40))
        if line != first and work < 0:
            break
        if len(items) > LONGEST_CUBE:
            continue
        sums, spent = _find_sums(supports.cube(items), best)
        work -= spent
        if sums and (best is None or len(sums[0].absent) < best):
            best = len(sums[0].absent)
            found = {}
        found.update(dict.fromkeys(sums))
    return list(found)[:MOST_SUMS]


def _find_sums(cube: Cube, most: int | None) -> tuple[list[Sum], int]:
    """Return one set's shortest negative sums, and work."""
    size = len(cube.free)
    spent = 0
    for absent in range(size + 1 if most is None else min(size, most) + 1):
        spent += comb(size, absent) << (size - absent)
        if spent > WORK_ON_A_SET:
            return ([_descend(cube)] if most is None else []), spent
        ready = (np.where(cube.known, cube.lo, 0), np.where(cube.known, cube.hi, 0), cube.known)
        sums = []
        for present, gone in _find_negative(*ready, list(range(size)), (), absent):
            sums.append(_name_items(cube, present, gone))
            if len(sums) == MOST_SUMS:
                break
        if sums:
            return sums, spent
    return [], spent


def _find_negative(
    lo: Ints, hi: Ints, known: Flags, free: list[int], gone: tuple[int, ...], absent: int
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the items of negative sums with ``absent`` more absent items.

    The arrays are about the items of ``free``; all others of the set are absent already.
    """
    if absent == 0:
        for mask in np.flatnonzero(known & (hi < 0)).tolist():
            yield sum(1 << free[j] for j in range(len(free)) if mask >> j & 1), gone
        return
    for place, item in enumerate(free):
        if gone and item < gone[-1]:
            continue
        low = lo.reshape(-1, 2, 1 << place)
        high = hi.reshape(-1, 2, 1 << place)
        sure = known.reshape(-1, 2, 1 << place)
        yield from _find_negative(
            (low[:, 0] - high[:, 1]).reshape(-1),
            (high[:, 0] - low[:, 1]).reshape(-1),
            (sure[:, 0] & sure[:, 1]).reshape(-1),
            free[:place] + free[place + 1 :],
            gone=(*gone, item),
            absent=absent - 1,
        )


def _descend(cube: Cube) -> Sum:
    """Return a greedily shortened negative sum."""
    usable, _, hi = cube.groups()
    negative = np.flatnonzero(usable & (hi < 0))
    start = int(negative[np.argmax(np.bitwise_count(negative.astype(np.uint64)))])
    size = len(cube.free)
    present = start
    gone = [j for j in range(size) if not start >> j & 1]
    for j in list(gone):
        rest = [other for other in gone if other != j]
        for candidate in (present, present | 1 << j):
            masks, signs = _terms(candidate, rest)
            if int(np.where(signs > 0, cube.hi[masks], -cube.lo[masks]).sum()) < 0:
                present = candidate
                gone = rest
                break
    return _name_items(cube, present, tuple(gone))


def _terms(present: int, gone: Sequence[int]) -> tuple[Ints, Ints]:
    masks = np.array([present], np.int64)
    signs = np.array([1], np.int64)
    for j in gone:
        masks = np.concatenate((masks, masks | 1 << j))
        signs = np.concatenate((signs, -signs))
    return masks, signs


def _name_items(cube: Cube, present: int, gone: Sequence[int]) -> Sum:
    has = tuple(int(cube.free[j]) for j in range(len(cube.free)) if present >> j & 1)
    return Sum(has, tuple(int(cube.free[j]) for j in gone))


# From a sum to the lines that clash


def _find_clash(supports: Supports, negative: Sum) -> Clash:
    has = np.array(negative.present, np.int64)
    lacks = np.array(negative.absent, np.int64)
    within = np.union1d(has, lacks)
    cube = supports.cube(lacks, has, _items_around(supports, within))
    statements = [_statement(cube, mask) for mask in range(len(cube.line))]
    # The support of the present items need not be cited if it is enough that it is at most n.
    everyone = [] if supports.release.n is None else [Statement(0, 0, supports.release.n, N)]
    smallest = smallest_clash([*everyone, *statements], len(lacks)) if 0 < len(lacks) <= MOST_ITEMS else None
    return smallest or Clash(tuple(statements), tuple(1 - 2 * (mask.bit_count() & 1) for mask in range(len(statements))))


def _items_around(supports: Supports, items: Ints) -> Ints:
    return np.arange(len(supports.release.items)) if supports.by_closure else items


def _statement(cube: Cube, mask: int) -> Statement:
    return Statement(mask, int(cube.lo[mask]), int(cube.hi[mask]), int(cube.line[mask]))


def _statements(supports: Supports, items: Ints) -> list[Statement]:
    release = supports.release
    cube = supports.cube(items, within=_items_around(supports, items))
    least = release.min_support or 1
    everyone = int(release.hi.max()) if release.n is None else release.n

    def unlisted(mask: int) -> Statement:
        # Longer sets than a list holds may be as frequent as any.
        return (
            Statement(mask, 0, least - 1, COMPLETE)
            if release.header.covers(mask.bit_count())
            else Statement(mask, 0, everyone, N)
        )

    return [
        _statement(cube, mask) if cube.line[mask] > -2 else unlisted(mask)
        for mask in range(len(cube.line))
        if mask or release.n is not None
    ]


def _find_incompleteness(supports: Supports, items: Ints) -> Clash:
    statements = _statements(supports, items)
    published = [statement for statement in statements if statement.line != COMPLETE]
    # Counts that clash by themselves are wrong whether the list is complete or not.
    return smallest_clash(published, len(items)) or smallest_clash(statements, len(items)) or _clash_of_all(statements)


def _clash_of_two_sums(statements: Sequence[Statement], release: Itemsets) -> Clash:
    """Return the clash of a long itemset: the sums that bound its support.

    The upper one is left out if the threshold bounds it. If subsets are deduced themselves, all statements are returned.
    """
    whole = len(statements) - 1
    is_bounded = statements[-1].line == COMPLETE
    if any(statement.line == COMPLETE for statement in statements[:-1]) or statements[0].mask:
        return _clash_of_all(statements)
    lo, hi = (np.array([getattr(statement, end) for statement in statements], np.int64) for end in ("lo", "hi"))
    lo[whole] = hi[whole] = 0
    cells(lo, hi)
    odd = np.bitwise_count(np.arange(len(statements), dtype=np.uint64) ^ np.uint64(whole)).astype(np.int64) & 1
    below = int(np.argmin(np.where(odd == 0, hi, np.iinfo(np.int64).max)))
    parts = [below]
    if not is_bounded or -hi[below] < (release.min_support or 1):
        parts.append(int(np.argmin(np.where(odd == 1, hi, np.iinfo(np.int64).max))))
    weights: dict[int, int] = {}
    for part in parts:
        gone = [j for j in range(whole.bit_length()) if not part >> j & 1]
        for mask, sign in zip(*(array.tolist() for array in _terms(part, gone)), strict=True):
            weights[mask] = weights.get(mask, 0) + sign
    used = sorted(mask for mask, weight in weights.items() if weight)
    return Clash(tuple(statements[mask] for mask in used), tuple(weights[mask] for mask in used))


def _clash_of_all(statements: Sequence[Statement]) -> Clash:
    """Return all statements; the weights mark only those certainly needed."""
    return Clash(tuple(statements), tuple(int(statement.line == COMPLETE) for statement in statements))
