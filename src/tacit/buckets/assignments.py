"""Assignments of sensitive values in a bucketized release.

An assignment is consistent when it fits the contents of every group and all that is ruled out. :func:`valid_values` finds the values
that each person has in at least one of them, :func:`share_values` their probabilities when all are equally likely. Both work on *cells*:
the people of one group for whom the same values are ruled out. The layout of their arrays is that of :mod:`tacit.kernels.assignments`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tacit.model.arrays import Codes, Flags, Floats, Ints, Words
from tacit.model.buckets import Buckets
from tacit.model.errors import Contradiction, numbered
from tacit.model.knowledge import Exclusions
from tacit.model.policy import Check
from tacit.model.table import stable_order

MOST_STATES = 1 << 16  #: Parts of a group with more states than this are approximated: counting would take seconds for each.
_MOST_ROUNDS = 5_000  #: Rounds of proportional fitting at most; the remaining error is far below what an estimate shows.
_GROUPS_AT_ONCE = 2_000  #: Groups between two checks of the time limit.


@dataclass(frozen=True, eq=False)
class Cells:
    """People by group and by the values ruled out.

    Row r belongs to cell ``cell[r]``; cell c holds ``people[c]`` people of kind ``kind[c]`` in group ``group[c]``; the cells of group g are
    ``starts[g]`` to ``starts[g + 1]``. The block of group g begins at ``blocks[g]``; ``may`` marks, block by block, the entries of the group
    that are not ruled out for a cell.
    """

    buckets: Buckets
    known: Exclusions
    cell: Ints
    group: Ints
    kind: Ints
    people: Ints
    starts: Ints
    blocks: Ints
    may: Flags

    @classmethod
    def of(cls, buckets: Buckets, known: Exclusions) -> Cells:
        """Return the cells of a release given this knowledge."""
        kinds = max(1, len(known.patterns))
        key = buckets.group.astype(np.int64) * kinds + known.kind
        order = stable_order(key, len(buckets) * kinds)
        ordered = key[order]
        first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
        keys = ordered[first]
        rows = np.diff(np.append(first, len(ordered)))
        people = np.diff(np.append(0, np.cumsum(buckets.people.weights[order]))[np.append(first, len(ordered))])
        cell = np.empty(len(key), np.int64)
        cell[order] = np.repeat(np.arange(len(keys)), rows)
        group = keys // kinds
        kind = keys % kinds
        starts = np.searchsorted(group, np.arange(len(buckets) + 1))
        width = np.diff(buckets.starts)
        blocks = np.append(0, np.cumsum(np.diff(starts) * width))
        value = buckets.value[concatenate_ranges(buckets.starts[group], width[group])]
        may = ~known.patterns[np.repeat(kind, width[group]), value]
        return cls(buckets, known, cell, group, kind=kind, people=people, starts=starts, blocks=blocks, may=may)

    @cached_property
    def rows(self) -> Ints:
        """Starts of the cells' rows in blocks, and the end."""
        return np.append(0, np.cumsum(np.diff(self.buckets.starts)[self.group]))

    @cached_property
    def entries(self) -> Ints:
        """Sensitive table entry of each place in the blocks."""
        return concatenate_ranges(self.buckets.starts[self.group], np.diff(self.rows))

    def total(self, marked: Flags) -> Ints:
        """Count the marked places of each cell."""
        return np.diff(np.append(0, np.cumsum(marked, dtype=np.int64))[self.rows])


@dataclass(frozen=True, eq=False)
class Valid:
    """Values that each person can have.

    ``possible`` marks, in the blocks of ``cells``, the values that people of a cell can have; ``hold`` counts the people who have each in one
    consistent assignment; ``part`` is the first entry (within its group) of the values that can be exchanged with that of an entry.
    """

    cells: Cells
    possible: Flags
    hold: Ints
    part: Ints

    @cached_property
    def number(self) -> Ints:
        """Number of valid values of each cell."""
        return self.cells.total(self.possible)

    @cached_property
    def unexcluded(self) -> Ints:
        """Number of the group's unexcluded values, by cell."""
        return self.cells.total(self.cells.may)

    @property
    def counts(self) -> Ints:
        """Number of valid values of each row."""
        return np.asarray(self.number[self.cells.cell])

    @property
    def allowed(self) -> Flags:
        """Boolean matrix of valid values by row."""
        cells = self.cells
        by_cell = np.zeros((len(cells.group), len(cells.buckets.values)), np.bool_)
        owner = np.repeat(np.arange(len(cells.group)), np.diff(cells.rows))
        by_cell[owner, cells.buckets.value[cells.entries]] = self.possible
        return np.asarray(by_cell[cells.cell])


def valid_values(buckets: Buckets, known: Exclusions, own: Codes | None = None) -> Valid:
    """Find each person's values over all consistent assignments.

    With ``own``, the value of each row, the search starts from that assignment; otherwise one is found first. Raises
    :class:`Contradiction` if a group has none, or if a person's own value is ruled out.
    """
    from tacit.kernels.assignments import close_groups, match_groups

    cells = Cells.of(buckets, known)
    if own is None:
        hold = np.zeros(len(cells.may), np.int64)
        group = match_groups(cells.starts, buckets.starts, cells.blocks, cells.people, buckets.count, cells.may, hold)
        if group >= 0:
            lines = sorted(buckets.line(entry) for entry in range(int(buckets.starts[group]), int(buckets.starts[group + 1])))
            name = buckets.sources[-1].name if buckets.sources else "the release"
            what = "the knowledge contradicts the release: the values of this group cannot be assigned to its people"
            remedy = "Correct the knowledge, or remove what is not certain"
            raise Contradiction(what, where=f"{name}, {numbered(lines)}", remedy=remedy, lines=lines)
    else:
        hold = _count_held(cells, own)
    possible = np.zeros(len(cells.may), np.bool_)
    part = np.zeros(len(buckets.value), np.int64)
    close_groups(cells.starts, buckets.starts, cells.blocks, cells.may, hold, part, possible)
    return Valid(cells, possible, hold, part)


def concatenate_ranges(starts: Ints, lengths: Ints) -> Ints:
    """Concatenate integer ranges with these starts and lengths."""
    ends = np.cumsum(lengths)
    return np.asarray(np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths))


def _count_held(cells: Cells, own: Codes) -> Ints:
    buckets = cells.buckets
    n_values = max(1, len(buckets.values))
    listed = np.repeat(np.arange(len(buckets)), np.diff(buckets.starts)) * n_values + buckets.value
    wanted = buckets.group.astype(np.int64) * n_values + own
    if len(buckets) * n_values <= 8 * len(wanted):
        entry_of = np.zeros(len(buckets) * n_values, np.int64)
        entry_of[listed] = np.arange(len(listed))
        entry = entry_of[wanted]
    else:
        order = np.argsort(listed, kind="stable")
        entry = order[np.minimum(np.searchsorted(listed, wanted, sorter=order), len(listed) - 1)]
    place = cells.rows[cells.cell] + entry - buckets.starts[buckets.group]
    if not np.array_equal(listed[entry], wanted) or not cells.may[place].all():
        remedy = "Give the table that the groups were made from, and knowledge that is true of it"
        raise Contradiction("a person's own value is ruled out, or not in their group", where="own values", remedy=remedy)
    return np.bincount(place, buckets.people.weights, len(cells.may)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Shares:
    """Probability of each value in the blocks; ``exact`` False for approximated groups."""

    valid: Valid
    share: Floats
    exact: Flags

    @cached_property
    def largest(self) -> Floats:
        """Probability of the most probable value of each cell."""
        rows = self.valid.cells.rows
        return np.maximum.reduceat(self.share, rows[:-1]) if len(rows) > 1 else np.empty(0)


def share_values(
    valid: Valid, *, weight: Floats | None = None, most_states: int = MOST_STATES, check: Check = lambda: None
) -> Shares:
    """Compute value probabilities over equally likely assignments.

    With ``weight``, in blocks and equal for cells of one kind, an assignment is as likely as the product of the weights of its pairs.
    """
    from tacit.kernels.assignments import room
    from tacit.kernels.assignments import share_values as fill

    cells = valid.cells
    buckets = valid.cells.buckets
    weights = valid.possible.astype(np.float64) if weight is None else weight
    share = np.zeros(len(valid.possible))
    exact = np.ones(len(buckets), np.bool_)
    example, same_as = _merge_identical_groups(valid)
    most_cells = int(np.diff(cells.starts).max(initial=1))
    most_entries = int(np.diff(buckets.starts).max(initial=1))
    space = room(most_cells, most_entries, int(buckets.sizes.max(initial=1)), most_states)
    for first in range(0, len(example), _GROUPS_AT_ONCE):
        check()
        some = example[first : first + _GROUPS_AT_ONCE]
        arrays = (cells.starts, buckets.starts, cells.blocks, cells.people, buckets.count, weights, valid.part)
        fill(some, *arrays, *space, share, exact)
    for group in np.flatnonzero(~exact).tolist():
        check()
        _scale(valid, group, weights, share)
    source = example[same_as]
    places = concatenate_ranges(cells.blocks[source], np.diff(cells.blocks)[source])
    return Shares(valid, share[places], exact[source])


def _scale(valid: Valid, group: int, weight: Floats, share: Floats) -> None:
    """Fill a block by iterative proportional fitting."""
    cells = valid.cells
    buckets = valid.cells.buckets
    block = slice(int(cells.blocks[group]), int(cells.blocks[group + 1]))
    people = cells.people[cells.starts[group] : cells.starts[group + 1]].astype(float)
    count = buckets.count[buckets.starts[group] : buckets.starts[group + 1]].astype(float)
    fits = weight[block].reshape(len(people), len(count))
    across = np.ones(len(count))
    for _ in range(_MOST_ROUNDS):
        down = people / (fits @ across)
        have = down @ fits * across
        across *= count / have
        if np.abs(have - count).sum() <= 1e-12 * people.sum():
            break
    found = fits * across
    share[block] = (found / found.sum(axis=1, keepdims=True)).reshape(-1)


def _merge_identical_groups(valid: Valid) -> tuple[Ints, Ints]:
    cells = valid.cells
    buckets = valid.cells.buckets
    owner = np.repeat(np.arange(len(buckets)), np.diff(buckets.starts))
    marks = np.zeros((2, len(buckets)), np.uint64)
    for number, mark in enumerate(marks):
        salt = np.uint64(0x9E3779B97F4A7C15 + 2 * number)
        mark += _sum_by_group(cells.group, _mix(cells.kind, cells.people, salt), len(buckets))
        mark += _sum_by_group(owner, _mix(buckets.value, buckets.count, salt + np.uint64(0x2545F4914F6CDD1C)), len(buckets))
    order = np.lexsort((marks[1], marks[0]))
    fresh = np.append(True, (marks[:, order[1:]] != marks[:, order[:-1]]).any(axis=0))[: len(order)]
    same_as = np.empty(len(order), np.int64)
    same_as[order] = np.cumsum(fresh) - 1
    return order[fresh], same_as


def _mix(one: npt.NDArray[np.integer], two: Ints, salt: np.uint64) -> Words:
    mark = (one.astype(np.uint64) * np.uint64(0x1000193) + two.astype(np.uint64)) ^ salt
    for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
        mark = (mark ^ (mark >> np.uint64(30))) * np.uint64(factor)
    return mark ^ (mark >> np.uint64(31))


def _sum_by_group(owner: npt.NDArray[np.integer], marks: Words, groups: int) -> Words:
    total = np.append(np.uint64(0), np.cumsum(marks, dtype=np.uint64))
    ends = np.searchsorted(owner, np.arange(groups + 1))
    return np.asarray(total[ends[1:]] - total[ends[:-1]], np.uint64)
