"""Unsafe rules: patterns that predict a blank cell.

A pattern is a set of cells ``(column, code)`` that at least one sensitive record publishes. The sensitive cells of sensitive records
count as unknown: such a record counts among those that fit a pattern, never among those that show the value. A rule is unsafe if its
support and its confidence both exceed their thresholds, in exact arithmetic. The search goes depth first, columns in their order, so that
each pattern is seen once however many records have it; the visitor decides whether longer patterns are worth it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tacit.model.arrays import Codes, Ints
from tacit.model.errors import LimitReached
from tacit.model.partial import Thresholds
from tacit.model.policy import Check
from tacit.model.table import row_keys

Column = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class DistinctRows:
    """Distinct rows (``cells[column][row]``), their weights, and the number of each row."""

    cells: tuple[Codes, ...]
    weights: Ints
    group: Ints

    @classmethod
    def of(cls, columns: Sequence[Column], people: Ints | None = None) -> DistinctRows:
        """Find the distinct rows of columns of codes; each row is one person, or stands for so many ``people``."""
        key = row_keys(columns, len(columns[0]))
        _, first, group = np.unique(key, return_index=True, return_inverse=True)
        group = group.reshape(-1).astype(np.int64)
        cells = tuple(np.ascontiguousarray(column[first], np.int32) for column in columns)
        return cls(cells, count_people(group, people, len(first)), group)

    def members(self) -> tuple[Ints, Ints]:
        """Return ``(starts, rows)``: the rows of each distinct row."""
        rows = np.bincount(self.group, minlength=len(self.weights))
        return np.append(0, np.cumsum(rows)), np.argsort(self.group, kind="stable").astype(np.int64)


def count_people(group: npt.NDArray[np.integer[Any]], people: Ints | None, groups: int) -> Ints:
    """Return the number of people of each group of rows; without ``people`` a row is one person."""
    if people is None:
        return np.bincount(group, minlength=groups).astype(np.int64)
    out = np.zeros(groups, np.int64)
    np.add.at(out, group, people)
    return out


#: Limits on patterns with a column without a role: their length if there are very many, and their number.
LONGEST = 3
MOST_PATTERNS = 200_000
Cells = tuple[tuple[int, int], ...]
#: Interpretation of blanks. ``plain``: a blank fits nothing, and a record with an unknown value counts as not having it. ``known-only``:
#: the share is taken among known values. ``wildcard``: a blank condition cell fits every value.
Reading = Literal["plain", "known-only", "wildcard"]


@dataclass(frozen=True, slots=True, eq=False)
class RuleList:
    """Rules ``pattern => value`` about sensitive records, as columns.

    ``cells[i, c]`` is the code of column c in the pattern of rule i, -1 if it is not part of it. ``whole`` records fit the pattern (of
    those that the reading counts), ``both`` of them show the value. ``owners[starts[i]:starts[i + 1]]`` are the sensitive rows that rule i is
    about. ``worst`` is the rule with the largest confidence among those with enough support, as (cells, value, whole, both), or None.
    ``complete`` is False if time ran out. ``undecided`` patterns have longer ones that were not examined.
    """

    cells: Codes
    value: Codes
    whole: Ints
    both: Ints
    starts: Ints
    owners: Ints
    worst: tuple[Cells, int, int, int] | None = None
    complete: bool = True
    undecided: int = 0

    def __len__(self) -> int:
        return len(self.value)

    def owners_of(self, rule: int) -> Ints:
        """Return the sensitive rows of a rule, in order."""
        return self.owners[self.starts[rule] : self.starts[rule + 1]]

    @property
    def exposed(self) -> Ints:
        """Sensitive rows that some rule is about."""
        return np.unique(self.owners)

    @property
    def worst_confidence(self) -> float:
        """Largest confidence of a frequent rule, or 0."""
        return 0.0 if self.worst is None else self.worst[3] / self.worst[2]


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """Coded table and its sensitive rows; -1 is a blank.

    ``truth`` are the true values of the sensitive ``rows``; if unknown, every predicted value counts. The last ``others`` columns have no role.
    A row stands for so many ``people``, by default for one.
    """

    conditions: Codes
    sensitive: Codes
    rows: Ints
    truth: Codes
    others: int = 0
    people: Ints | None = None

    def __post_init__(self) -> None:
        shown = self.sensitive.astype(np.int32)
        shown[self.rows] = -1
        object.__setattr__(self, "sensitive", shown)


def unsafe_rules(
    case: Case, bars: Thresholds, *, reading: Reading = "plain", every: bool = False, check: Check = lambda: None
) -> RuleList:
    """Find the unsafe rules about the sensitive rows.

    With ``every``, find all their rules. Patterns grow only while enough records show a value. ``check`` is called now and then; if it
    raises :class:`LimitReached`, the rules found so far are returned.
    """
    width = case.conditions.shape[1]
    if not len(case.rows) or not width:
        nothing = np.empty(0, np.int64)
        start = np.zeros(1, np.int64)
        return RuleList(np.empty((0, width), np.int32), np.empty(0, np.int32), nothing, nothing, starts=start, owners=nothing)
    collector = _Collector(case, bars, reading, every=every, check=check)
    try:
        collector.search()
    except LimitReached:
        return collector.to_rule_list(width, complete=False)
    return collector.to_rule_list(width, complete=True)


class _Collector:
    def __init__(self, case: Case, bars: Thresholds, reading: Reading, *, every: bool, check: Check) -> None:
        self.case = case
        self.bars = bars
        self.reading = reading
        self.every = every
        self.check = check
        columns = [case.conditions[:, place] for place in range(case.conditions.shape[1])]
        self.table = DistinctRows.of([*columns, case.sensitive], case.people)
        self.owners = DistinctRows.of([*(column[case.rows] for column in columns), case.truth])
        self.value = self.table.cells[-1] + 1  # 0 is an unknown value
        self.truth = self.owners.cells[-1]
        self.values = max(int(case.sensitive.max(initial=-1)), int(case.truth.max(initial=-1))) + 2
        self.rules: list[tuple[Cells, int, int, int, Ints]] = []
        self.worst: tuple[Cells, int, int, int] | None = None
        self.seen = 0
        self.undecided = 0

    def search(self) -> None:
        wildcard = self.reading == "wildcard"
        columns = (self.table.cells[:-1], self.owners.cells[:-1])
        self.undecided = walk_with_others(*columns, self.visit, others=self.case.others, wildcard=wildcard)

    def visit(self, node: Node) -> bool:
        """Count one pattern; return True if extensions can be frequent."""
        self.seen += 1
        if self.seen % 256 == 0:
            self.check()
        counts = np.bincount(self.value[node.rows], self.table.weights[node.rows], minlength=self.values).astype(np.int64)
        whole = int(counts.sum()) - (int(counts[0]) if self.reading == "known-only" else 0)
        truth = self.truth[node.owners]
        asked = np.arange(self.values - 1) if (truth < 0).any() else np.unique(truth)
        both = counts[asked + 1]
        if self.every:
            unsafe = asked
        else:
            enough = both > self.bars.support
            if not enough.any():
                return False
            best = int(np.where(enough, both, -1).argmax())
            if self.worst is None or int(both[best]) * self.worst[2] > self.worst[3] * whole:
                self.worst = node.cells, int(asked[best]), whole, int(both[best])
            unsafe = asked[enough & (both > self.bars.most_safe(whole))]
        for value in unsafe.tolist():
            mine = node.owners[(truth == value) | (truth < 0)]
            self.rules.append((node.cells, value, whole, int(counts[value + 1]), mine))
        return True

    def to_rule_list(self, width: int, complete: bool) -> RuleList:
        def rank(rule: tuple[Cells, int, int, int, Ints]) -> tuple[Any, ...]:
            cells, value, whole, both, _ = rule
            return -both / whole if whole else 0.0, -both, len(cells), cells, value

        rules = sorted(self.rules, key=rank)
        cells = np.full((len(rules), width), -1, np.int32)
        starts, members = self.owners.members()
        owners = []
        for place, rule in enumerate(rules):
            for column, code in rule[0]:
                cells[place, column] = code
            mine = [members[starts[one] : starts[one + 1]] for one in rule[4].tolist()]
            owners.append(np.sort(self.case.rows[np.concatenate(mine)]))
        value, whole, both = (np.array([rule[place] for rule in rules], np.int64) for place in (1, 2, 3))
        bounds = np.cumsum([0, *map(len, owners)]).astype(np.int64)
        flat = np.concatenate([np.empty(0, np.int64), *owners]).astype(np.int64)
        found = RuleList(cells, value.astype(np.int32), whole, both, starts=bounds, owners=flat)
        return replace(found, worst=self.worst, complete=complete, undecided=self.undecided)


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """Pattern with its fitting rows and sensitive records."""

    cells: Cells
    rows: Ints
    owners: Ints


def walk(
    rows: Sequence[Codes],
    owners: Sequence[Codes],
    visit: Callable[[Node], bool],
    *,
    root: bool = False,
    wildcard: bool = False,
    first: int | None = None,
    longest: int | None = None,
    most: int | None = None,
) -> int:
    """Call ``visit`` on every pattern of the owners' published cells.

    It returns True to see longer ones. ``rows`` and ``owners`` are columns of codes, -1 if a cell is blank. The empty pattern is shown
    with ``root`` only. With ``wildcard`` a blank cell of a row fits every value; an owner's blank cell is never part of a pattern. A
    pattern starts with one of the ``first`` columns, has at most ``longest`` cells, and at most ``most`` patterns are shown. Returns how
    many patterns have longer ones that were not examined.
    """
    everything = Node((), np.arange(len(rows[0])), np.arange(len(owners[0])))
    if root and not visit(everything):
        return 0
    waiting = [everything]
    shown = cut = 0
    while waiting:
        node = waiting.pop()
        if most is not None and shown >= most:
            cut += 1
            continue
        for column in range(node.cells[-1][0] + 1 if node.cells else 0, len(rows) if node.cells or first is None else first):
            theirs = owners[column][node.owners]
            ours = rows[column][node.rows]
            for code in np.unique(theirs[theirs >= 0]).tolist():
                fits = ours == code
                if wildcard:
                    fits |= ours < 0
                child = Node((*node.cells, (column, code)), node.rows[fits], node.owners[theirs == code])
                shown += 1
                if visit(child) and column + 1 < len(rows):
                    if len(child.cells) == longest:
                        cut += 1
                    else:
                        waiting.append(child)
    return cut


def walk_with_others(
    rows: Sequence[Codes],
    owners: Sequence[Codes],
    visit: Callable[[Node], bool],
    *,
    others: int,
    root: bool = False,
    wildcard: bool = False,
) -> int:
    """Visit every pattern; the last ``others`` columns have no role.

    Patterns without these columns come first. Those with one of them are all shown if there are at most ``MOST_PATTERNS``, else those of at
    most ``LONGEST`` cells. Returns how many patterns have longer ones that were not examined; patterns may then be shown twice.
    """
    known = len(rows) - others
    if known:
        walk(rows[:known], owners[:known], visit, root=root, wildcard=wildcard)
    if not others:
        return 0
    order = [*range(known, len(rows)), *range(known)]
    seen: set[Cells] = set()

    def visit_once(node: Node) -> bool:
        cells = tuple(sorted((order[column], code) for column, code in node.cells))
        if cells in seen:
            return True
        wanted = visit(Node(cells, node.rows, node.owners))
        if wanted:
            seen.add(cells)
        return wanted

    permuted = [rows[place] for place in order], [owners[place] for place in order]
    cut = walk(*permuted, visit_once, wildcard=wildcard, first=others, longest=LONGEST, most=MOST_PATTERNS)
    if not cut:
        return 0
    return walk(*permuted, visit_once, wildcard=wildcard, first=others, most=MOST_PATTERNS)
