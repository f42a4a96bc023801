"""Valid values: what each person of a bucketized release can have, in at least one assignment that fits groups and knowledge.

Everything is done once for each *cell*: the people of one group whom the same values are ruled out for. The kernels and the layout of
their arrays are those of :mod:`tacit.kernels.assignments`.

How probable each value is for everybody in a bucketized release, when every assignment that fits groups and knowledge is equally likely.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tacit.errors import Contradiction, numbered
from tacit.model.arrays import Codes, Flags, Floats, Ints
from tacit.model.buckets import Buckets
from tacit.model.knowledge import Exclusions


@dataclass(frozen=True, eq=False)
class Cells:
    """The people of a bucketized release by group and by what is ruled out for them.

    Row r belongs to cell ``cell[r]``; cell c holds ``people[c]`` people of kind ``kind[c]`` in group ``group[c]``; the cells of group g are
    ``starts[g]`` to ``starts[g + 1]``. ``blocks[g]`` is where the block of group g begins, ``may`` says block by block which entries of the
    group are not ruled out for a cell.

    >>> from tacit.model.table import Table
    >>> people = Table.from_rows(["sex", "ill"], [("F", "flu"), ("M", "cold"), ("M", "flu")])
    >>> buckets = Buckets.of(people.select(["sex"]), people.column("ill"), np.array([0, 0, 1], np.int32))
    >>> known = Exclusions(buckets.values, np.array([[False, False], [True, False]]), np.array([1, 0, 0], np.int32))
    >>> cells = Cells.of(buckets, known)
    >>> cells.cell.tolist(), cells.group.tolist(), cells.may.tolist()
    ([1, 0, 2], [0, 0, 1], [True, True, False, True, True])
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
        """The cells of a release for whoever knows this."""
        kinds = max(1, len(known.patterns))
        key = buckets.group.astype(np.int64) * kinds + known.kind
        order = np.argsort(key, kind="stable")
        ordered = key[order]
        first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
        keys = ordered[first]
        people = np.diff(np.append(first, len(ordered)))
        cell = np.empty(len(key), np.int64)
        cell[order] = np.repeat(np.arange(len(keys)), people)
        group = keys // kinds
        kind = keys % kinds
        starts = np.searchsorted(group, np.arange(len(buckets) + 1))
        width = np.diff(buckets.starts)
        blocks = np.append(0, np.cumsum(np.diff(starts) * width))
        value = buckets.value[_spread(buckets.starts[group], width[group])]
        may = ~known.patterns[np.repeat(kind, width[group]), value]
        return cls(buckets, known, cell, group, kind=kind, people=people, starts=starts, blocks=blocks, may=may)

    @cached_property
    def rows(self) -> Ints:
        """Where the row of each cell begins in its block; the last one is where they all end."""
        return np.append(0, np.cumsum(np.diff(self.buckets.starts)[self.group]))

    @cached_property
    def entries(self) -> Ints:
        """The entry of the ST that each place of the blocks is about."""
        return _spread(self.buckets.starts[self.group], np.diff(self.rows))

    def total(self, marked: Flags) -> Ints:
        """How many places of each cell are marked."""
        return np.diff(np.append(0, np.cumsum(marked, dtype=np.int64))[self.rows])


@dataclass(frozen=True, eq=False)
class Valid:
    """The values that everybody can have.

    ``possible`` marks, in the blocks of ``cells``, what people of a cell can have; ``hold`` is how many of them have it in one assignment that
    fits; ``part`` the first entry (within its group) of the values that can be exchanged with that of an entry.
    """

    cells: Cells
    possible: Flags
    hold: Ints
    part: Ints

    @cached_property
    def number(self) -> Ints:
        """How many values people of each cell can have."""
        return self.cells.total(self.possible)

    @cached_property
    def unexcluded(self) -> Ints:
        """How many values of their group are not ruled out for people of each cell by themselves, which is less than a proof needs."""
        return self.cells.total(self.cells.may)

    @property
    def counts(self) -> Ints:
        """How many values the person of each row can have."""
        return np.asarray(self.number[self.cells.cell])

    @property
    def allowed(self) -> Flags:
        """Whether the person of each row can have each value: rows by values of the release. Large for many rows."""
        cells = self.cells
        by_cell = np.zeros((len(cells.group), len(cells.buckets.values)), np.bool_)
        owner = np.repeat(np.arange(len(cells.group)), np.diff(cells.rows))
        by_cell[owner, cells.buckets.value[cells.entries]] = self.possible
        return np.asarray(by_cell[cells.cell])


def valid_values(buckets: Buckets, known: Exclusions, own: Codes | None = None) -> Valid:
    """What everybody can have, in some assignment of values to people that fits the groups' contents and what is ruled out.

    With ``own``, the value of each row, that assignment is the one to begin with; otherwise one is searched for. Raises
    :class:`Contradiction` where a group has none, or where somebody's own value is ruled out.

    Examples
    --------
    >>> from tacit.model.table import Table
    >>> people = Table.from_rows(["sex", "ill"], [("F", "flu"), ("M", "cold"), ("F", "mumps")])
    >>> buckets = Buckets.of(people.select(["sex"]), people.column("ill"), np.zeros(3, np.int32))
    >>> known = Exclusions(buckets.values, np.array([[False, False, False], [True, False, True]]), np.array([0, 1, 0], np.int32))
    >>> valid_values(buckets, known).allowed.tolist()
    [[True, False, True], [False, True, False], [True, False, True]]
    """
    from tacit.kernels.assignments import close_groups, match_groups

    cells = Cells.of(buckets, known)
    if own is None:
        hold = np.zeros(len(cells.may), np.int64)
        failed = match_groups(cells.starts, buckets.starts, cells.blocks, cells.people, buckets.count, cells.may, hold)
        if failed >= 0:
            raise _no_assignment(buckets, failed)
    else:
        hold = _held(cells, own)
    possible = np.zeros(len(cells.may), np.bool_)
    part = np.zeros(len(buckets.value), np.int64)
    close_groups(cells.starts, buckets.starts, cells.blocks, cells.may, hold, part, possible)
    return Valid(cells, possible, hold, part)


def _spread(starts: Ints, lengths: Ints) -> Ints:
    """The numbers from each start on, so many of them, one stretch after the other."""
    ends = np.cumsum(lengths)
    return np.asarray(np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths))


def _held(cells: Cells, own: Codes) -> Ints:
    """How many people of each cell have each value of their group."""
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
        remedy = "Give the table that the groups were made of, and knowledge that is true of it"
        raise Contradiction("somebody's own value is ruled out, or not in the group", where="own values", remedy=remedy)
    return np.bincount(place, minlength=len(cells.may)).astype(np.int64)


def _no_assignment(buckets: Buckets, group: int) -> Contradiction:
    """The error for a group whose values cannot be given to its people."""
    lines = sorted(buckets.line(entry) for entry in range(int(buckets.starts[group]), int(buckets.starts[group + 1])))
    name = buckets.sources[-1].name if buckets.sources else "the release"
    return Contradiction(
        "what is known besides contradicts the release: the values of this group cannot be given to its people",
        where=f"{name}, {numbered(lines)}",
        remedy="Correct the knowledge, or leave out what is not certain",
        lines=lines,
    )


#: A part of a group with more states than this is scaled, not counted: counting would take seconds for each.
MOST_STATES = 1 << 16
#: Scaling ends after so many rounds, when what is missed is far below what an estimate shows.
_MOST_ROUNDS = 5_000
#: So many groups are looked at before the clock is.
_GROUPS_AT_ONCE = 2_000


@dataclass(frozen=True, eq=False)
class Shares:
    """Probabilities in the blocks of ``valid.cells``: of an entry's value, for somebody of a cell; ``exact[g]``: they were counted."""

    valid: Valid
    share: Floats
    exact: npt.NDArray[np.bool_]

    @cached_property
    def largest(self) -> Floats:
        """The probability of the most probable value of each cell."""
        rows = self.valid.cells.rows
        return np.maximum.reduceat(self.share, rows[:-1]) if len(rows) > 1 else np.empty(0)

    @property
    def people_scaled(self) -> int:
        """How many people are in groups that were scaled, not counted."""
        cells = self.valid.cells
        return int(cells.people[~self.exact[cells.group]].sum())


def share_values(valid: Valid, *, most_states: int = MOST_STATES, check: Callable[[], None] = lambda: None) -> Shares:
    """The probability of every value for everybody; ``check`` is called now and then and may raise.

    Examples
    --------
    >>> from tacit.buckets.assignments import valid_values
    >>> from tacit.model.buckets import Buckets
    >>> from tacit.model.knowledge import Exclusions
    >>> from tacit.model.table import Table
    >>> people = Table.from_rows(["sex", "ill"], [("F", "flu"), ("M", "cold"), ("F", "mumps")])
    >>> buckets = Buckets.of(people.select(["sex"]), people.column("ill"), np.zeros(3, np.int32))
    >>> known = Exclusions(buckets.values, np.array([[False, False, False], [False, False, True]]), np.array([0, 1, 0], np.int32))
    >>> share_values(valid_values(buckets, known)).share.reshape(2, 3).tolist()
    [[0.25, 0.25, 0.5], [0.5, 0.5, 0.0]]
    """
    from tacit.kernels.assignments import room
    from tacit.kernels.assignments import share_values as fill

    cells = valid.cells
    buckets = valid.cells.buckets
    share = np.zeros(len(valid.possible))
    exact = np.ones(len(buckets), np.bool_)
    example, same_as = _alike(valid)
    tallest, widest, people = (
        int(size.max(initial=1)) for size in (np.diff(cells.starts), np.diff(buckets.starts), buckets.sizes)
    )
    space = room(tallest, widest, people, most_states)
    for first in range(0, len(example), _GROUPS_AT_ONCE):
        check()
        some = example[first : first + _GROUPS_AT_ONCE]
        arrays = (cells.starts, buckets.starts, cells.blocks, cells.people, buckets.count, valid.possible, valid.part)
        fill(some, *arrays, *space, share, exact)
    for group in np.flatnonzero(~exact).tolist():
        check()
        _scale(valid, group, share)
    exact = exact[example][same_as]
    return Shares(valid, share[_places(cells.blocks, example[same_as])], exact)


def _scale(valid: Valid, group: int, share: Floats) -> None:
    """Fill the block of a group with the distribution of largest entropy instead, by scaling rows and columns in turn."""
    cells = valid.cells
    buckets = valid.cells.buckets
    block = slice(int(cells.blocks[group]), int(cells.blocks[group + 1]))
    people = cells.people[cells.starts[group] : cells.starts[group + 1]].astype(float)
    count = buckets.count[buckets.starts[group] : buckets.starts[group + 1]].astype(float)
    fits = valid.possible[block].reshape(len(people), len(count)).astype(float)
    across = np.ones(len(count))
    for _ in range(_MOST_ROUNDS):
        down = people / (fits @ across)
        have = down @ fits * across
        across *= count / have
        if np.abs(have - count).sum() <= 1e-12 * people.sum():
            break
    found = fits * across
    share[block] = (found / found.sum(axis=1, keepdims=True)).reshape(-1)


def _alike(valid: Valid) -> tuple[Ints, Ints]:
    """One group of each kind, and the kind of each group: groups with the same kinds of people and the same contents are the same."""
    cells = valid.cells
    buckets = valid.cells.buckets
    owner = np.repeat(np.arange(len(buckets)), np.diff(buckets.starts))
    marks = np.zeros((2, len(buckets)), np.uint64)
    for number, mark in enumerate(marks):
        salt = np.uint64(0x9E3779B97F4A7C15 + 2 * number)
        mark += _sums(cells.group, _mixed(cells.kind, cells.people, salt), len(buckets))
        mark += _sums(owner, _mixed(buckets.value, buckets.count, salt + np.uint64(0x2545F4914F6CDD1C)), len(buckets))
    order = np.lexsort((marks[1], marks[0]))
    fresh = np.append(True, (marks[:, order[1:]] != marks[:, order[:-1]]).any(axis=0))[: len(order)]
    same_as = np.empty(len(order), np.int64)
    same_as[order] = np.cumsum(fresh) - 1
    return order[fresh], same_as


def _mixed(one: npt.NDArray[np.integer], two: Ints, salt: np.uint64) -> npt.NDArray[np.uint64]:
    """A number for each pair that is the same for the same pair, and as good as different for others."""
    mark = (one.astype(np.uint64) * np.uint64(0x1000193) + two.astype(np.uint64)) ^ salt
    for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
        mark = (mark ^ (mark >> np.uint64(30))) * np.uint64(factor)
    return mark ^ (mark >> np.uint64(31))


def _sums(owner: npt.NDArray[np.integer], marks: npt.NDArray[np.uint64], groups: int) -> npt.NDArray[np.uint64]:
    """The sum of the marks of each group; owners are sorted."""
    total = np.append(np.uint64(0), np.cumsum(marks, dtype=np.uint64))
    ends = np.searchsorted(owner, np.arange(groups + 1))
    return np.asarray(total[ends[1:]] - total[ends[:-1]], np.uint64)


def _places(blocks: Ints, source: Ints) -> Ints:
    """The places of the blocks of these groups, one after the other."""
    lengths = (blocks[1:] - blocks[:-1])[source]
    ends = np.cumsum(lengths)
    return np.asarray(np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(blocks[source] - (ends - lengths), lengths))
