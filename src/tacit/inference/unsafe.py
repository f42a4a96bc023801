"""Rules that tell a blank cell: every pattern of a sensitive record, how many records fit it, and how many of them show the value.

The sensitive cells of sensitive records count as not known (NULL): such a record counts among those that fit a pattern, never among those that
show the value. A rule is unsafe when its support and its confidence are both above their thresholds, in whole numbers and fractions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from tacit.errors import LimitReached
from tacit.inference.patterns import Cells, Merged, Node, walk_with_others
from tacit.model.partial import Codes, Numbers, Thresholds

#: How a reader takes blanks. ``plain``: a blank fits nothing, and a record with an unknown value counts as not having it. ``known-only``: the
#: share is taken among known values. ``wildcard``: a blank condition cell fits every value.
Reading = Literal["plain", "known-only", "wildcard"]


@dataclass(frozen=True, slots=True, eq=False)
class RuleList:
    """Rules ``pattern => value`` about sensitive records, in flat form.

    ``cells[i, c]`` is the code of column c in the pattern of rule i, -1 where it is not part of it. ``whole`` records fit the pattern (of
    those that the reading counts), ``both`` of them show the value. ``owners[starts[i]:starts[i + 1]]`` are the sensitive rows that rule i is
    about. ``worst`` is the rule of the largest confidence with enough support, unsafe or not, as (cells, value, whole, both); None where no
    rule has enough. Where the time ran out, ``complete`` is false and there may be more rules. ``undecided`` patterns have longer ones that were
    not looked at.
    """

    cells: Codes
    value: Codes
    whole: Numbers
    both: Numbers
    starts: Numbers
    owners: Numbers
    worst: tuple[Cells, int, int, int] | None = None
    complete: bool = True
    undecided: int = 0

    def __len__(self) -> int:
        return len(self.value)

    def owners_of(self, rule: int) -> Numbers:
        """The sensitive rows that a rule is about, in their order."""
        return self.owners[self.starts[rule] : self.starts[rule + 1]]

    @property
    def exposed(self) -> Numbers:
        """The sensitive rows that some rule is about."""
        return np.unique(self.owners)

    @property
    def worst_confidence(self) -> float:
        """The largest confidence of a rule with enough support; 0 where there is none."""
        return 0.0 if self.worst is None else self.worst[3] / self.worst[2]


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """What rules are counted in: condition codes (rows x columns, -1 blank), sensitive codes (-1 blank), the sensitive rows and their values.

    A true value of -1 is not known: then every value that a rule tells counts. The last ``others`` columns have no role.
    """

    conditions: Codes
    sensitive: Codes
    rows: Numbers
    truth: Codes
    others: int = 0

    def __post_init__(self) -> None:
        shown = self.sensitive.astype(np.int32)
        shown[self.rows] = -1
        object.__setattr__(self, "sensitive", shown)


def unsafe_rules(
    case: Case, bars: Thresholds, *, reading: Reading = "plain", every: bool = False, check: Callable[[], None] = lambda: None
) -> RuleList:
    """The unsafe rules about the sensitive rows, each once; with ``every`` all their rules, safe or not.

    Patterns grow only while enough records show a value, so that many columns do not blow up. ``check`` is called now and then; when it raises
    :class:`LimitReached`, the rules found so far come back.

    >>> case = Case(np.array([[0], [0], [0], [1]], np.int32), np.array([0, 0, 0, 1], np.int32), np.array([0]), np.array([0], np.int32))
    >>> found = unsafe_rules(case, Thresholds.of(min_confidence=0.6, min_support=1, n=4))
    >>> found.cells.tolist(), found.whole.tolist(), found.both.tolist(), found.owners.tolist()
    ([[0]], [3], [2], [0])
    """
    collector, complete = _Collector(case, bars, reading, every, check), True
    if len(case.rows) and case.conditions.shape[1]:
        try:
            collector.search()
        except LimitReached:
            complete = False
    return collector.finished(case.conditions.shape[1], complete)


@dataclass(slots=True, eq=False)
class _Collector:
    """Counts at each pattern, and keeps the rules that are asked for."""

    case: Case
    bars: Thresholds
    reading: Reading
    every: bool
    check: Callable[[], None]
    rules: list[tuple[Cells, int, int, int, npt.NDArray[np.int64]]] = field(default_factory=list)
    worst: tuple[Cells, int, int, int] | None = None
    value: Codes = field(default_factory=lambda: np.empty(0, np.int32))
    weights: Numbers = field(default_factory=lambda: np.empty(0, np.int64))
    truth: Codes = field(default_factory=lambda: np.empty(0, np.int32))
    values: int = 0
    seen: int = 0
    undecided: int = 0
    members: tuple[Numbers, Numbers] = field(default_factory=lambda: (np.empty(0, np.int64), np.empty(0, np.int64)))

    def search(self) -> None:
        """Look at every pattern of the sensitive rows."""
        case = self.case
        columns = [case.conditions[:, place] for place in range(case.conditions.shape[1])]
        rows = Merged.of([*columns, case.sensitive])
        owners = Merged.of([*(column[case.rows] for column in columns), case.truth])
        # Place 0 of a count is for records whose value is not known.
        self.value, self.weights, self.truth = rows.cells[-1] + 1, rows.weights, owners.cells[-1]
        self.values = max(int(case.sensitive.max(initial=-1)), int(case.truth.max(initial=-1))) + 2
        starts, members = owners.members()
        self.members = starts, members
        is_wildcard = self.reading == "wildcard"
        self.undecided = walk_with_others(
            rows.cells[:-1], owners.cells[:-1], self.visit, others=case.others, wildcard=is_wildcard
        )

    def visit(self, node: Node) -> bool:
        """Count one pattern; whether longer ones can have enough support."""
        self.seen += 1
        if self.seen % 256 == 0:
            self.check()
        counts = np.bincount(self.value[node.rows], self.weights[node.rows], minlength=self.values).astype(np.int64)
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
            self._note_worst(node.cells, asked[enough], whole, both[enough])
            unsafe = asked[enough & (both > self.bars.most_safe(whole))]
        for value in unsafe.tolist():
            mine = node.owners[(truth == value) | (truth < 0)]
            self.rules.append((node.cells, value, whole, int(counts[value + 1]), mine))
        return True

    def _note_worst(self, cells: Cells, values: npt.NDArray[np.integer], whole: int, both: Numbers) -> None:
        best = int(both.argmax())
        if self.worst is None or int(both[best]) * self.worst[2] > self.worst[3] * whole:
            self.worst = cells, int(values[best]), whole, int(both[best])

    def finished(self, width: int, complete: bool) -> RuleList:
        """The rules in flat form, the longest-shown first: by falling confidence, then support, then shorter patterns."""
        rules = sorted(
            self.rules, key=lambda rule: (-rule[3] / rule[2] if rule[2] else 0.0, -rule[3], len(rule[0]), rule[0], rule[1])
        )
        cells = np.full((len(rules), width), -1, np.int32)
        starts, members = self.members
        owners = []
        for place, rule in enumerate(rules):
            for column, code in rule[0]:
                cells[place, column] = code
            mine = [members[starts[one] : starts[one + 1]] for one in rule[4].tolist()]
            owners.append(np.sort(self.case.rows[np.concatenate(mine)]))
        value, whole, both = (np.array([rule[place] for rule in rules], np.int64) for place in (1, 2, 3))
        bounds = np.cumsum([0, *map(len, owners)]).astype(np.int64)
        flat = np.concatenate(owners).astype(np.int64) if owners else np.empty(0, np.int64)
        return RuleList(cells, value.astype(np.int32), whole, both, bounds, flat, self.worst, complete, self.undecided)
