"""A table with blanks beside what is known of it: whose sensitive cells are at risk, and what they really are where the owner says so.

Every pattern of some records' cells once, with the rows that fit it: the search that readings of partial tables share.

A pattern is a set of cells ``(column, code)`` that at least one of the given records publishes. The search goes depth first, columns in their
order, so that each pattern is seen once however many records have it; whoever looks decides whether longer patterns are worth it.

Rules that tell a blank cell: every pattern of a sensitive record, how many records fit it, and how many of them show the value.

The sensitive cells of sensitive records count as not known (NULL): such a record counts among those that fit a pattern, never among those that
show the value. A rule is unsafe when its support and its confidence are both above their thresholds, in whole numbers and fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tacit.errors import InputError, LimitReached
from tacit.model.arrays import Codes, Flags, Ints
from tacit.model.audit import Target
from tacit.model.event import BoxEvent
from tacit.model.partial import PartialTable, Thresholds
from tacit.model.policy import Policy

Cells = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """Equal rows taken together: ``cells[c][i]`` is the code of distinct row i in column c, ``weights[i]`` how many rows it stands for.

    ``group`` says for each row which distinct row it is.

    >>> merged = Merged.of([np.array([0, 1, 0], np.int32), np.array([-1, 2, -1], np.int32)])
    >>> merged.weights.tolist(), merged.group.tolist()
    ([2, 1], [0, 1, 0])
    """

    cells: tuple[Codes, ...]
    weights: Ints
    group: Ints

    @classmethod
    def of(cls, columns: Sequence[npt.NDArray[np.integer[Any]]]) -> Merged:
        """The distinct rows of columns of codes; -1 is a code like any other here."""
        key, largest = np.zeros(len(columns[0]), np.int64), 1
        for column in columns:
            width = int(column.max(initial=-1)) + 2
            if largest * width >= 1 << 62:
                # Numbered anew, the key lies below rows x values: it never overflows.
                key = np.unique(key, return_inverse=True)[1].reshape(-1).astype(np.int64)
                largest = len(key) + 1
            key, largest = key * width + (column + 1), largest * width
        _, first, group, weights = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
        cells = tuple(np.ascontiguousarray(column[first], np.int32) for column in columns)
        return cls(cells, weights.astype(np.int64), group.reshape(-1).astype(np.int64))

    def members(self) -> tuple[Ints, Ints]:
        """The rows that each distinct row stands for: ``rows[starts[i]:starts[i + 1]]``, as (starts, rows)."""
        return np.append(0, np.cumsum(self.weights)), np.argsort(self.group, kind="stable").astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A pattern, the distinct rows that fit it, and the records (by their distinct rows) whose pattern it is."""

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
    """Show every pattern of the owners' published cells to ``visit``, which says whether to look at longer ones.

    ``rows`` and ``owners`` are columns of codes, -1 where a cell is blank. The empty pattern is shown with ``root`` only. With ``wildcard`` a
    blank cell of a row fits every value; an owner's blank cell is never part of a pattern. A pattern starts with one of the ``first`` columns,
    has at most ``longest`` cells, and at most ``most`` patterns are shown. Return how many patterns have longer ones that were not looked at.
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
            theirs, ours = owners[column][node.owners], rows[column][node.rows]
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


#: Patterns with a column that has no role: so long where there are very many, and so many are looked at.
LONGEST, MOST_PATTERNS = 3, 200_000


def walk_with_others(
    rows: Sequence[Codes],
    owners: Sequence[Codes],
    visit: Callable[[Node], bool],
    *,
    others: int,
    root: bool = False,
    wildcard: bool = False,
) -> int:
    """Show every pattern once, where the last ``others`` columns have no role: first those without them, then those with one of them or more.

    The latter are shown to the end where there are at most ``MOST_PATTERNS`` of them, else those of at most ``LONGEST`` cells. Return how many
    patterns have longer ones that were not looked at; patterns may then be shown twice.
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
        """The sensitive rows that a rule is about, in their order."""
        return self.owners[self.starts[rule] : self.starts[rule + 1]]

    @property
    def exposed(self) -> Ints:
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
    rows: Ints
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
    weights: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    truth: Codes = field(default_factory=lambda: np.empty(0, np.int32))
    values: int = 0
    seen: int = 0
    undecided: int = 0
    members: tuple[Ints, Ints] = field(default_factory=lambda: (np.empty(0, np.int64), np.empty(0, np.int64)))

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

    def _note_worst(self, cells: Cells, values: npt.NDArray[np.integer], whole: int, both: Ints) -> None:
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


@dataclass(frozen=True, eq=False)
class Attribute:
    """One sensitive attribute: its values, what is shown of it, what it really is (None: not known), and the rows at risk."""

    name: str
    values: tuple[str, ...]
    shown: Codes
    true: Codes | None
    rows: Ints

    @property
    def truth(self) -> Codes:
        """The true values of the rows at risk; -1 where they are not known."""
        if self.true is None:
            return np.full(len(self.rows), -1, np.int32)
        return self.true[self.rows]


@dataclass(frozen=True, eq=False)
class TableCase:
    """A table as it is, or is to be, published.

    ``rows`` are those that the owner declares sensitive (None: nobody says, and every blank sensitive cell is at risk), ``original`` the table
    before cells were hidden. ``cells`` (rows x sensitive columns) says which cells of those rows are meant, where these are not all. Such a cell
    counts as blank even where the table shows it: then the table is the original itself, unless another one is given.
    """

    partial: PartialTable
    rows: Ints | None = None
    original: PartialTable | None = None
    cells: Flags | None = None

    def __post_init__(self) -> None:
        if self.rows is None and self.partial.sensitive is not None:
            object.__setattr__(self, "rows", self.partial.sensitive)
        if self.original is not None:
            object.__setattr__(self, "original", _aligned(self.partial, self.original))

    @classmethod
    def of(cls, target: Target) -> TableCase:
        """The case of an attack; of a bare table, nothing else is known."""
        if isinstance(target.case, cls):
            return target.case
        assert isinstance(target.release, PartialTable)
        return cls(target.release)

    @property
    def is_declared(self) -> bool:
        """Whether the owner says which rows are sensitive."""
        return self.rows is not None

    def thresholds(self, policy: Policy) -> Thresholds:
        """When a rule is unsafe."""
        return Thresholds.of(min_confidence=policy.min_confidence, min_support=policy.min_support, n=self.partial.n)

    @cached_property
    def conditions(self) -> Codes:
        """The cells of every column that is not sensitive as codes, -1 where one is blank; those without a role come last."""
        return self.partial.cells_of(self.condition_names)

    @property
    def condition_names(self) -> tuple[str, ...]:
        """The columns of the conditions: whoever reads the table reads all of it, whatever role a column was given."""
        return (*self.partial.people.schema.qi, *self.partial.others)

    @cached_property
    def attributes(self) -> tuple[Attribute, ...]:
        """The sensitive attributes one by one."""
        return tuple(self._attribute(place, name) for place, name in enumerate(self.partial.people.schema.sa))

    def _declared(self, place: int) -> Ints | None:
        """The rows whose cell of a sensitive column the owner wants to protect."""
        return self.rows if self.cells is None else np.flatnonzero(self.cells[:, place]).astype(np.int64)

    def _attribute(self, place_of_column: int, name: str) -> Attribute:
        column = self.partial.people.column(name)
        texts = set(column.values) - {""}
        if self.original is not None:
            before = self.original.people.column(name)
            texts |= set(before.values) - {""}
        values = tuple(sorted(texts))
        place = {value: code for code, value in enumerate(values)} | {"": -1}
        shown = _recoded(column.values, column.codes, place)
        true: Codes | None = None
        if self.original is not None:
            true = _recoded(before.values, before.codes, place)
        declared = self._declared(place_of_column)
        if self.original is None and declared is not None and bool((shown[declared] >= 0).any()):
            true = shown
        blank = shown < 0 if true is None else (shown < 0) & (true >= 0)
        rows = np.flatnonzero(blank).astype(np.int64) if declared is None else declared
        return Attribute(name, values, shown, true, rows)

    def counted(self, attribute: Attribute) -> Case:
        """What rules about an attribute are counted in."""
        return Case(self.conditions_of(attribute), attribute.shown, attribute.rows, attribute.truth, self.others_of(attribute))

    def conditions_of(self, attribute: Attribute) -> Codes:
        """The cells that an attribute may be told by: those of every other column, cells to be protected blank."""
        columns = [self.conditions]
        for other in self._beside(attribute):
            cells = other.shown.copy()
            cells[other.rows] = -1
            columns.append(cells[:, None])
        return np.concatenate(columns, axis=1)

    def others_of(self, attribute: Attribute) -> int:
        """How many of these columns are no condition attributes."""
        return len(self.partial.others) + len(self._beside(attribute))

    def _beside(self, attribute: Attribute) -> list[Attribute]:
        """The other sensitive attributes."""
        return [other for other in self.attributes if other.name != attribute.name]

    def still_shown(self, attribute: Attribute) -> Ints:
        """Rows that are declared sensitive and whose cell the table shows nevertheless, where the original is another table."""
        if self.original is None or self.rows is None:
            return np.empty(0, np.int64)
        return attribute.rows[attribute.shown[attribute.rows] >= 0]

    @property
    def at_risk(self) -> int:
        """How many records have a sensitive cell at risk."""
        return len(np.unique(np.concatenate([attribute.rows for attribute in self.attributes])))

    @property
    def figures(self) -> Mapping[str, int]:
        """How many cells are hidden, by region where the sensitive rows are known."""
        hidden = self.partial.hidden if self.original is None else self.partial.hidden & ~self.original.hidden
        known = PartialTable(self.partial.people, hidden, self.rows, self.partial.header)
        out = {"cells_hidden": known.cells_hidden}
        if self.rows is not None:
            out |= {f"cells_hidden_{region}": count for region, count in known.hidden_by_region().items()}
        return out | {"records_at_risk": self.at_risk}

    def pattern(self, cells: Sequence[tuple[int, int]], attribute: Attribute) -> dict[str, str]:
        """The columns and values of a pattern about an attribute."""
        known = [(name, self.partial.people.column(name).values) for name in self.condition_names]
        known += [(other.name, other.values) for other in self._beside(attribute)]
        return {known[place][0]: known[place][1][code] for place, code in cells}

    def event(self, cells: Sequence[tuple[int, int]], attribute: Attribute, value: int) -> BoxEvent:
        """Who has the pattern and the value."""
        allowed: dict[str, tuple[str, ...]] = {name: (text,) for name, text in self.pattern(cells, attribute).items()}
        return BoxEvent(allowed | {attribute.name: (attribute.values[value],)})


def _recoded(values: Sequence[str], codes: Codes, place: Mapping[str, int]) -> Codes:
    return np.array([place[value] for value in values], np.int32)[codes]


def _aligned(partial: PartialTable, original: PartialTable) -> PartialTable:
    """The original with the columns of the table in their order; the table must be it with cells hidden."""
    remedy = "Give the table that cells were hidden in, its rows in the same order"
    lacks = [name for name in partial.people.schema.used if name not in original.people.names]
    if lacks or len(partial) != len(original):
        what = f"has no column {', '.join(lacks)}" if lacks else f"has {len(original):,} rows, and the table {len(partial):,}"
        raise InputError(what, where="--data", remedy=remedy)
    differ: Flags = np.zeros(len(partial), np.bool_)
    columns = []
    for place, mine in enumerate(partial.people.columns):
        # A column that is neither a condition nor sensitive may be missing there.
        before = original.people.column(mine.name) if mine.name in original.people.names else mine
        known = {value: code for code, value in enumerate(before.values)}
        same = np.array([known.get(value, -1) for value in mine.values], np.int64)[mine.codes] == before.codes
        differ |= ~same & ~partial.hidden[:, place]
        columns.append(before)
    if differ.any():
        row = int(np.flatnonzero(differ)[0])
        what = f"shows other cells than the table in {int(differ.sum()):,} rows (the first is row {row})"
        raise InputError(what, where="--data", remedy=remedy)
    return PartialTable.of(replace(original.people, columns=tuple(columns), schema=partial.people.schema))
