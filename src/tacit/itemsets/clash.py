"""Which lines of a release clash, once an attack has met a group with fewer than no people.

A group "all of I, none of D" is a signed sum of ``2**|D|`` supports. The search takes the shortest sum that is negative, so the fewest lines:
one absent item first (two lines: a set is more frequent than a part of it), then two, and so on. All sums inside it are possible then, and
what is left is made irreducible by an exact test: no line that is named can be spared (:mod:`tacit.solve.feasibility`). Sums of more than
five absent items are named whole. All this runs only when the release is refused, with a bounded amount of work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from tacit.errors import Contradiction, numbered
from tacit.itemsets.supports import MOST_ITEMS as LONGEST_CUBE
from tacit.itemsets.supports import Cube, Supports
from tacit.kernels.moebius import cells, superset_all
from tacit.model.arrays import Ints
from tacit.model.release import Itemsets
from tacit.solve.feasibility import MOST_ITEMS, Clash, Statement, smallest_clash

#: Who says what stands on no line: the number of people; that what a complete list leaves out is below its threshold.
N = -1
COMPLETE = -3
#: How many numbers the search may look at in one set, and in all; a second or two.
WORK_ON_A_SET = 1 << 25
WORK = 1 << 27
#: How many equally short sums are made irreducible, to take the one with the fewest lines.
MOST_SUMS = 8
#: A sum of more lines than this is not written out.
MOST_TERMS = 12


@dataclass(frozen=True, slots=True)
class Sum:
    """A negative group on a published set: the present and the absent items, as numbers of items."""

    present: tuple[int, ...]
    absent: tuple[int, ...]


def refuse_clash(release: Itemsets, line: int) -> NoReturn:
    """Raise a :class:`Contradiction` that names the fewest lines that cannot all be true; published set ``line`` has a negative group."""
    supports = Supports(release)
    found = [_clash(supports, one) for one in _shortest_sums(supports, line)]
    raise contradiction(release, min(found, key=lambda clash: (len(_file_lines(clash)), clash.lines)))


def refuse_incomplete(supports: Supports, candidates: Sequence[Ints]) -> NoReturn:
    """Raise a :class:`Contradiction` about unpublished itemsets whose support would have to be larger than it can be."""
    release = supports.release
    shortest = sorted(candidates, key=lambda items: (len(items), items.tolist()))[:MOST_SUMS]
    found = [_behind(supports, items) for items in shortest if len(items) <= MOST_ITEMS]
    if not found:
        found = [_two_sums(_statements(supports, shortest[0]), release)]
    raise contradiction(release, min(found, key=lambda clash: (COMPLETE in clash.lines, len(clash.lines), clash.lines)))


def refuse_gaps(supports: Supports) -> None:
    """Raise a :class:`Contradiction` when a list of all frequent itemsets is said to be complete and lacks a part of one of its itemsets."""
    release = supports.release
    if release.only != "all" or not release.header.complete or not supports.has_gaps:
        return
    sets = release.sets
    listed = set(sets.hashes().tolist())
    hashes = sets.hashes()
    owners = sets.owners()
    long = sets.lengths[owners] > 1
    parts = (hashes[owners[long]] - sets.member_hashes()[long]).tolist()
    lines = sorted({release.line(owner) for owner, part in zip(owners[long].tolist(), parts, strict=True) if part not in listed})
    name = release.source.name if release.source else "the release"
    raise Contradiction(
        "the list cannot be complete: parts of these itemsets stand on no line, and are at least as frequent"
        if len(lines) > 1
        else "the list cannot be complete: a part of this itemset stands on no line, and is at least as frequent",
        where=f"{name}, {numbered(lines)}",
        remedy="Add what is missing, or say that the list is not complete (--incomplete)",
        lines=lines,
    )


def contradiction(release: Itemsets, clash: Clash) -> Contradiction:
    """What is wrong with a release whose lines clash, in words that hold no item."""
    lines = [release.line(line) for line in _file_lines(clash)]
    name = release.source.name if release.source else "the release"
    complete = [weight for one, weight in zip(clash.statements, clash.weights, strict=True) if one.line == COMPLETE]
    if complete:
        least = _written(release, clash, sign=-1) if complete == [1] else ""
        found = sum(complete) * ((release.min_support or 1) - 1) - clash.total
        forced = (
            f"at least {least} = {found:,} people have"
            if least and not _is_rounded(clash)
            else "by these lines the threshold is reached by"
        )
        what = (
            f"the list cannot be complete: {forced} an itemset that it leaves out, and its threshold is {release.min_support:,}"
        )
        remedy = "Check the threshold and the counts, or say that the list is not complete (--incomplete)"
    else:
        reading = "read as a complete list of closed itemsets, " if Supports(release).by_closure else ""
        total = f"{'at most ' if _is_rounded(clash) else ''}{clash.total:,}"
        written = _written(release, clash)
        what = f"{reading}the counts cannot all be true: " + (
            f"{written} is a number of people, and comes to {total}" if written else f"some group would have {total} people"
        )
        remedy = "Check these lines, the number of people and how numbers were rounded (--rounding)"
    return Contradiction(what, where=f"{name}, {numbered(lines)}" if lines else name, remedy=remedy, lines=lines)


def _file_lines(clash: Clash) -> list[int]:
    """The lines of the file among those that clash."""
    return [line for line in clash.lines if line >= 0]


def _is_rounded(clash: Clash) -> bool:
    return any(statement.lo < statement.hi for statement in clash.statements if statement.line >= 0)


def _written(release: Itemsets, clash: Clash, sign: int = 1) -> str:
    """The sum that goes wrong, line by line; nothing when it is long."""
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


def _shortest_sums(supports: Supports, first: int) -> list[Sum]:
    """Negative sums with the fewest absent items, at most :data:`MOST_SUMS`, from all maximal sets that the work allows; ``first`` has one."""
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
        sums, spent = _sums_on(supports.cube(items), best)
        work -= spent
        if sums and (best is None or len(sums[0].absent) < best):
            best = len(sums[0].absent)
            found = {}
        found.update(dict.fromkeys(sums))
    return list(found)[:MOST_SUMS]


def _sums_on(cube: Cube, most: int | None) -> tuple[list[Sum], int]:
    """The negative sums on one set with the fewest absent items, none with more than ``most``, and how much was looked at for them."""
    size = len(cube.free)
    spent = 0
    for absent in range(size + 1 if most is None else min(size, most) + 1):
        spent += comb(size, absent) << (size - absent)
        if spent > WORK_ON_A_SET:
            return ([_descended(cube)] if most is None else []), spent
        ready = (np.where(cube.known, cube.lo, 0), np.where(cube.known, cube.hi, 0), cube.known)
        sums = []
        for present, gone in _negative(*ready, list(range(size)), (), absent):
            sums.append(_named(cube, present, gone))
            if len(sums) == MOST_SUMS:
                break
        if sums:
            return sums, spent
    return [], spent


def _negative(
    lo: Ints, hi: Ints, known: npt.NDArray[np.bool_], free: list[int], gone: tuple[int, ...], absent: int
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Masks of present items and positions of absent ones, for every negative sum that lacks ``absent`` more items behind the last one.

    The arrays are about the items of ``free``, all others of the set being lacked already.
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
        yield from _negative(
            (low[:, 0] - high[:, 1]).reshape(-1),
            (high[:, 0] - low[:, 1]).reshape(-1),
            (sure[:, 0] & sure[:, 1]).reshape(-1),
            free[:place] + free[place + 1 :],
            gone=(*gone, item),
            absent=absent - 1,
        )


def _descended(cube: Cube) -> Sum:
    """A negative sum on a long set: from a negative group, one item less as long as the sum stays negative."""
    usable = cube.known.copy()
    superset_all(usable)
    lo = np.where(cube.known, cube.lo, 0)
    hi = np.where(cube.known, cube.hi, 0)
    cells(lo, hi)
    negative = np.flatnonzero(usable & (hi < 0))
    start = int(negative[np.argmax(np.bitwise_count(negative.astype(np.uint64)))])
    size = len(cube.free)
    present = start
    gone = [j for j in range(size) if not start >> j & 1]
    for j in list(gone):
        rest = [other for other in gone if other != j]
        for candidate in (present, present | 1 << j):
            if _most(cube, candidate, rest) < 0:
                present = candidate
                gone = rest
                break
    return _named(cube, present, tuple(gone))


def _most(cube: Cube, present: int, gone: Sequence[int]) -> int:
    """The largest number of people that a group may have."""
    masks, signs = _terms(present, gone)
    return int(np.where(signs > 0, cube.hi[masks], -cube.lo[masks]).sum())


def _terms(present: int, gone: Sequence[int]) -> tuple[Ints, Ints]:
    """The sets of a group's sum as masks, and their signs."""
    masks = np.array([present], np.int64)
    signs = np.array([1], np.int64)
    for j in gone:
        masks = np.concatenate((masks, masks | 1 << j))
        signs = np.concatenate((signs, -signs))
    return masks, signs


def _named(cube: Cube, present: int, gone: Sequence[int]) -> Sum:
    has = tuple(int(cube.free[j]) for j in range(len(cube.free)) if present >> j & 1)
    return Sum(has, tuple(int(cube.free[j]) for j in gone))


# From a sum to the lines that clash


def _clash(supports: Supports, negative: Sum) -> Clash:
    """The lines of a negative sum, made irreducible where it is short."""
    has = np.array(negative.present, np.int64)
    lacks = np.array(negative.absent, np.int64)
    within = np.union1d(has, lacks)
    cube = supports.cube(lacks, has, _around(supports, within))
    statements = [_statement(cube, mask) for mask in range(len(cube.line))]
    # Nobody has to look up how many people have the present items where it is enough that they are at most all.
    everyone = [] if supports.release.n is None else [Statement(0, 0, supports.release.n, N)]
    smallest = smallest_clash([*everyone, *statements], len(lacks)) if 0 < len(lacks) <= MOST_ITEMS else None
    return smallest or Clash(tuple(statements), tuple(1 - 2 * (mask.bit_count() & 1) for mask in range(len(statements))))


def _around(supports: Supports, items: Ints) -> Ints:
    """All items: a closure may reach beyond the items of a sum."""
    return np.arange(len(supports.release.items)) if supports.by_closure else items


def _statement(cube: Cube, mask: int) -> Statement:
    return Statement(mask, int(cube.lo[mask]), int(cube.hi[mask]), int(cube.line[mask]))


def _statements(supports: Supports, items: Ints) -> list[Statement]:
    """What a complete list says about all subsets of some items: the published supports, and that the others are below the threshold."""
    release = supports.release
    cube = supports.cube(items, within=_around(supports, items))
    least = release.min_support or 1
    return [
        _statement(cube, mask) if cube.line[mask] > -2 else Statement(mask, 0, least - 1, COMPLETE)
        for mask in range(len(cube.line))
        if mask or release.n is not None
    ]


def _behind(supports: Supports, items: Ints) -> Clash:
    """Why the subsets of an unpublished itemset cannot have the supports that a complete list gives them."""
    statements = _statements(supports, items)
    published = [statement for statement in statements if statement.line != COMPLETE]
    # Counts that clash by themselves are wrong whether the list is complete or not.
    return smallest_clash(published, len(items)) or smallest_clash(statements, len(items)) or _all_of(statements)


def _two_sums(statements: Sequence[Statement], release: Itemsets) -> Clash:
    """Why a long unpublished itemset clashes: the sum that bounds its support from below, and the one from above unless the threshold does.

    Where the subsets are themselves deduced, all that is said about them.
    """
    whole = len(statements) - 1
    if any(statement.line == COMPLETE for statement in statements[:-1]) or statements[0].mask:
        return _all_of(statements)
    lo, hi = (np.array([getattr(statement, end) for statement in statements], np.int64) for end in ("lo", "hi"))
    lo[whole] = hi[whole] = 0
    cells(lo, hi)
    odd = np.bitwise_count(np.arange(len(statements), dtype=np.uint64) ^ np.uint64(whole)).astype(np.int64) & 1
    below = int(np.argmin(np.where(odd == 0, hi, np.iinfo(np.int64).max)))
    parts = [below]
    if -hi[below] < (release.min_support or 1):
        parts.append(int(np.argmin(np.where(odd == 1, hi, np.iinfo(np.int64).max))))
    weights: dict[int, int] = {}
    for part in parts:
        gone = [j for j in range(whole.bit_length()) if not part >> j & 1]
        for mask, sign in zip(*(array.tolist() for array in _terms(part, gone)), strict=True):
            weights[mask] = weights.get(mask, 0) + sign
    used = sorted(mask for mask, weight in weights.items() if weight)
    return Clash(tuple(statements[mask] for mask in used), tuple(weights[mask] for mask in used))


def _all_of(statements: Sequence[Statement]) -> Clash:
    """All statements, where the search for fewer would take too long; the weights say only which of them are sure to be needed."""
    return Clash(tuple(statements), tuple(int(statement.line == COMPLETE) for statement in statements))
