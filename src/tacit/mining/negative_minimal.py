"""The search for minimal negative rules in many columns: nothing is looked at that a rule already decides.

An antecedent stays open for a value as long as the value occurs in it, as it does in every more general antecedent, and enough of its people
lack the value. Where it is open for no value, nothing below it is looked at (the pruning of Apriori, value by value). The choices of levels
are visited in depth, and so that more general ones come first: only the rows of one path are in memory at a time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tacit.errors import LimitReached
from tacit.mining.antecedents import Case, Grouped, Numbers, Watch, heights
from tacit.mining.negative_search import Bar, Batch, Flags, Found, frequent, joined, marks_of, split

Marks = npt.NDArray[np.uint64]
Choice = tuple[int, ...]

#: More open antecedents than these do not fit into memory any more (a few dozen bytes each).
MOST_OPEN = 40_000_000
#: So much work, in rows looked at, may go into counting the antecedents that the search leaves out.
MOST_COUNTING = 200_000_000
#: What one choice of levels costs besides its rows, in the same unit.
_PER_CHOICE = 20_000


def choices(case: Case, length: int) -> int:
    """How many choices of levels there are with at most ``length`` columns.

    Each column is used at one of its levels or not at all.
    """
    by_length = [1] + [0] * length
    for levels in case.levels:
        for used in range(length, 0, -1):
            by_length[used] += by_length[used - 1] * len(levels)
    return sum(by_length) - 1


def most_antecedents(case: Case, least: float, length: int) -> int:
    """An upper bound of how many antecedents are frequent: there are no more at all, and everyone is in few of them."""
    everything = [1] + [0] * length
    for levels in case.levels:
        nodes = len(np.unique(np.concatenate([level.node[level.node >= 0] for level in levels])))
        for used in range(length, 0, -1):
            everything[used] += everything[used - 1] * nodes
    bound = sum(everything) - 1
    if not case.is_fuzzy and least >= 1:
        bound = min(bound, math.floor(case.n * choices(case, length) / least))
    return bound


def count_all(case: Case, bar: Bar, length: int, watch: Watch) -> tuple[int, int] | None:
    """How many antecedents are frequent and how many rules there are in all; None when that would take too long."""
    itemsets, rules, work = 0, 0, choices(case, min(2, length)) * _PER_CHOICE
    for batch in frequent(case, bar.least, length, watch):
        itemsets += len(batch.people)
        rules += int(np.count_nonzero(batch.absent(case, case.values) & (batch.people[:, None] >= bar.needed)))
        work += len(batch.rows.row) + _PER_CHOICE
        if work > MOST_COUNTING:
            return None
    return itemsets, rules


@dataclass(eq=False)
class _Open:
    """The open antecedents of one choice of levels, by their marks, and the values that each is open for as packed bits."""

    marks: Marks
    values: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, marks: Marks, values: Flags) -> _Open:
        order = np.argsort(marks)
        return cls(marks[order], np.packbits(values[order], axis=1))

    def at(self, marks: Marks) -> npt.NDArray[np.uint8]:
        """What the antecedents with these marks are open for."""
        place = np.minimum(np.searchsorted(self.marks, marks), len(self.marks) - 1)
        return np.where((self.marks[place] == marks)[:, None], self.values[place], np.uint8(0))


@dataclass(eq=False)
class _Search:
    """What is known so far: the open antecedents by choice of levels, and the rules."""

    case: Case
    bar: Bar
    watch: Watch
    height: Numbers = field(init=False)
    mix: Marks = field(init=False)
    known: dict[Choice, _Open] = field(default_factory=dict)
    rules: list[Found] = field(default_factory=list)
    looked_at: int = 0
    kept: int = 0

    def __post_init__(self) -> None:
        self.height = heights(self.case.levels, self.case.n_nodes)
        self.mix, _ = marks_of(self.case.n_nodes, self.case.n_values)
        of_all = self.case.shares * self.case.n
        fits = (of_all > 0) & (self.case.n - of_all >= self.bar.needed)
        self.known[(-1,) * len(self.case.codes)] = _Open.of(np.zeros(1, np.uint64), fits[None, :])

    def look(self, batch: Batch) -> Batch | None:
        """Take the rules out of a batch; what of it stays open, for the search below it."""
        self.looked_at += len(batch.people)
        above = np.unpackbits(self._above(batch), axis=1, count=self.case.n_values).astype(np.bool_)
        counts = batch.counts(self.case, self.case.values)
        absent = batch.absent(self.case, self.case.values)
        group, value = np.nonzero(absent & above & (batch.people[:, None] >= self.bar.needed))
        self.rules.append(Found(batch.nodes[group], value, batch.people[group], np.zeros(len(group)), len(batch.people)))
        # What a more special antecedent without the value can have at most; sums of degrees are not exact.
        room = (batch.people[:, None] - counts) * (1 + 1e-9)
        stays = above & ~absent & (room >= self.bar.needed)
        keep = stays.any(axis=1)
        if not keep.any():
            return None
        marks = self.mix[batch.nodes[keep]].sum(axis=1, dtype=np.uint64)
        self.known[tuple(self.height[batch.nodes[0]].tolist())] = _Open.of(marks, stays[keep])
        self.kept += int(keep.sum())
        if self.kept > MOST_OPEN:
            raise LimitReached(
                f"more than {MOST_OPEN:,} antecedents are open at once",
                where="mine negative",
                remedy="Ask for shorter ones with --max-length, or for more with --min-expectation or --significance",
            )
        number = np.where(keep, np.cumsum(keep) - 1, -1)[batch.rows.group]
        return Batch(batch.nodes[keep], batch.people[keep], batch.rows.only(number >= 0, number))

    def _above(self, batch: Batch) -> npt.NDArray[np.uint8]:
        """The values that every antecedent one step more general is open for."""
        marks = self.mix[batch.nodes].sum(axis=1, dtype=np.uint64)
        choice = self.height[batch.nodes[0]]
        parents = np.append(self.case.parent, -1)
        out = np.full((len(marks), (self.case.n_values + 7) // 8), 255, np.uint8)
        for column in np.flatnonzero(choice >= 0).tolist():
            up = parents[batch.nodes[:, column]]
            raised = marks - self.mix[batch.nodes[:, column]] + self.mix[up]
            height = self.height[up]
            for step in np.unique(height).tolist():
                own = height == step
                known = self.known.get((*choice[:column].tolist(), step, *choice[column + 1 :].tolist()))
                out[own] &= known.at(raised[own]) if known is not None else np.uint8(0)
        return out


def minimal_rules(case: Case, bar: Bar, length: int, watch: Watch) -> tuple[Found, int]:
    """The minimal rules whose antecedents use at most ``length`` columns, and how many antecedents were looked at."""
    search = _Search(case, bar, watch)
    branches = sum(len(levels) for levels in case.levels)
    done = 0

    def below(rows: Grouped, chosen: npt.NDArray[np.int32], first: int, depth: int) -> None:
        nonlocal done
        # Last column first, coarsest level first: whatever is more general has then been looked at.
        for column in reversed(range(first, len(case.codes))):
            for level in reversed(case.levels[column]):
                if depth == 0:
                    watch.tell(done / branches)
                    done += 1
                watch.check()
                entries, node = rows.at(level, case.codes[column])
                batch = split(case, entries, node, chosen, column, bar.least)
                kept = search.look(batch) if batch is not None else None
                if kept is not None and depth + 1 < length:
                    below(kept.rows, kept.nodes, column + 1, depth + 1)

    below(case.everyone, np.full((1, len(case.codes)), -1, np.int32), 0, 0)
    return joined(search.rules, len(case.codes), 0), search.looked_at
