"""How probable each value is for everybody in a bucketized release, when every assignment that fits groups and knowledge is equally likely."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tacit.inference.valid import Numbers, Valid

Floats = npt.NDArray[np.float64]

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
    >>> from tacit.inference.valid import valid_values
    >>> from tacit.model.buckets import Buckets
    >>> from tacit.model.exclusions import Exclusions
    >>> from tacit.model.table import Table
    >>> people = Table.from_rows(["sex", "ill"], [("F", "flu"), ("M", "cold"), ("F", "mumps")])
    >>> buckets = Buckets.of(people.select(["sex"]), people.column("ill"), np.zeros(3, np.int32))
    >>> known = Exclusions(buckets.values, np.array([[False, False, False], [False, False, True]]), np.array([0, 1, 0], np.int32))
    >>> share_values(valid_values(buckets, known)).share.reshape(2, 3).tolist()
    [[0.25, 0.25, 0.5], [0.5, 0.5, 0.0]]
    """
    from tacit.kernels.assignments import room
    from tacit.kernels.assignments import share_values as fill

    cells, buckets = valid.cells, valid.cells.buckets
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
    cells, buckets = valid.cells, valid.cells.buckets
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


def _alike(valid: Valid) -> tuple[Numbers, Numbers]:
    """One group of each kind, and the kind of each group: groups with the same kinds of people and the same contents are the same."""
    cells, buckets = valid.cells, valid.cells.buckets
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


def _mixed(one: npt.NDArray[np.integer], two: Numbers, salt: np.uint64) -> npt.NDArray[np.uint64]:
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


def _places(blocks: Numbers, source: Numbers) -> Numbers:
    """The places of the blocks of these groups, one after the other."""
    lengths = (blocks[1:] - blocks[:-1])[source]
    ends = np.cumsum(lengths)
    return np.asarray(np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(blocks[source] - (ends - lengths), lengths))
