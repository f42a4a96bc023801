"""What a method that hides cells works on: classes of records that are alike, and the rules that may give a sensitive cell away.

Only values that some sensitive record has can stand in a rule, so all others count as one. What is left of a table of a million
records is a few thousand classes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tacit.errors import OptionError
from tacit.hiding.thresholds import IntegerThresholds

Codes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

#: What a record of a class is to a rule whose pattern it has.
RELEVANT, OTHER, OWNER = 0, 1, 2
#: Patterns are bit masks of condition attributes in whole numbers of 64 bits.
MOST_ATTRIBUTES = 60
REGIONS = ("ns", "nc", "sc")


@dataclass(frozen=True, eq=False)
class Cells:
    """A table as numbers: -1 is a blank.

    ``conditions`` are the codes of the condition attributes, ``values`` those of the sensitive ones, ``protected`` says which of these cells
    are to be protected, ``published`` which cells (condition attributes, then sensitive ones) must be published.
    """

    conditions: Codes
    values: Codes
    protected: Flags
    published: Flags | None = None

    @property
    def attributes(self) -> int:
        """How many condition attributes there are."""
        return int(self.conditions.shape[1])

    @property
    def sensitive(self) -> Flags:
        """Which records have a cell to protect."""
        return np.asarray(self.protected.any(axis=1))

    def may_hide(self, regions: frozenset[str]) -> Flags:
        """Which cells may be hidden; those to protect are not among them, since they are hidden in any case."""
        sensitive = self.sensitive
        inside = np.zeros((len(sensitive), self.attributes + self.values.shape[1]), bool)
        if "nc" in regions:
            inside[~sensitive, : self.attributes] = True
        if "sc" in regions:
            inside[sensitive, : self.attributes] = True
        if "ns" in regions:
            inside[:, self.attributes :] = ~self.protected
        inside &= np.concatenate([self.conditions, self.values], axis=1) >= 0
        return inside if self.published is None else inside & ~self.published


@dataclass(frozen=True, eq=False)
class Classes:
    """Records that are alike for every rule: ``people[c]`` of them are in class c.

    ``conditions`` keeps values that some sensitive record has (-1: none of them), ``value`` the numbers of the values to protect that are
    published in the sensitive columns, ``truth`` those of the protected cells, ``free`` the cells that are not bound to be published.
    ``order[start[c] : start[c + 1]]`` are the rows of class c.
    """

    conditions: Codes
    value: Codes
    truth: Codes
    sensitive: Flags
    free: Flags
    people: Counts
    order: Counts
    start: Counts

    def __len__(self) -> int:
        return len(self.people)


@dataclass(frozen=True, eq=False)
class Rules:
    """Every rule that could give a protected cell away: a pattern and a value that one of the sensitive records has.

    ``mask`` are the attributes of the pattern as bits, ``target`` the number of the value, ``having`` and ``both`` how many records have the
    pattern, and the value too; ``owners`` how many protected cells it speaks of. Entries ``start[i]`` to ``start[i + 1]`` of ``member`` are the
    classes that have the pattern of rule i, ``role`` what they are to it.
    """

    mask: Counts
    target: Codes
    having: Counts
    both: Counts
    owners: Counts
    start: Counts
    member: Codes
    role: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.mask)

    def only(self, kept: Flags) -> Rules:
        """Some of the rules."""
        lengths = np.diff(self.start)
        entries = np.repeat(kept, lengths)
        start = np.concatenate([[0], np.cumsum(lengths[kept])]).astype(np.int64)
        counts = (self.having[kept], self.both[kept], self.owners[kept])
        return Rules(self.mask[kept], self.target[kept], *counts, start, self.member[entries], self.role[entries])


@dataclass(frozen=True, eq=False)
class Problem:
    """Classes, rules and thresholds; ``column[t]`` is the sensitive column of value t, counted from 0."""

    classes: Classes
    rules: Rules
    column: Codes
    thresholds: IntegerThresholds
    attributes: int
    rows: int

    @classmethod
    def of(cls, cells: Cells, thresholds: IntegerThresholds, check: Callable[[], None] = lambda: None) -> Problem:
        """The problem of a table; ``check`` is called now and then and may raise when time is over."""
        if cells.attributes > MOST_ATTRIBUTES:
            remedy = f"Name {MOST_ATTRIBUTES} at the most"
            raise OptionError(f"names {cells.attributes} condition attributes", where="--qi", remedy=remedy)
        value, truth, column = _targets(cells)
        classes = _classes(cells, value, truth)
        rules = _rules(classes, column, thresholds, check)
        return cls(classes, rules, column, thresholds, cells.attributes, len(cells.values))

    @property
    def cells(self) -> int:
        """How many cells a record has: condition attributes, then sensitive ones."""
        return self.attributes + int(self.classes.value.shape[1])

    def may_hide(self, regions: frozenset[str]) -> Flags:
        """Which cells of which classes may be hidden, where that could change a rule."""
        k, classes = self.attributes, self.classes
        inside = np.zeros((len(classes), self.cells), bool)
        if "nc" in regions:
            inside[~classes.sensitive, :k] = True
        if "sc" in regions:
            inside[classes.sensitive, :k] = True
        if "ns" in regions:
            inside[:, k:] = True
        inside[:, :k] &= classes.conditions >= 0
        inside[:, k:] &= classes.value >= 0
        return inside & classes.free

    def merged(self) -> Problem:
        """The problem with classes merged that support the same rules: methods that look at nothing else hide the same cells there, faster.

        Classes are told apart by two random numbers of 64 bits for what they are to each rule, added up.
        """
        rules, classes, k = self.rules, self.classes, self.attributes
        drawn = np.random.default_rng(0).integers(0, 1 << 64, (2, 3, len(rules)), dtype=np.uint64)
        rule = np.repeat(np.arange(len(rules)), np.diff(rules.start))
        used = np.zeros((len(classes), k), np.bool_)
        for a in range(k):
            used[rules.member[(rules.mask[rule] >> a) & 1 == 1], a] = True
        keys = np.zeros((2, len(classes)), np.uint64)
        for key, numbers in zip(keys, drawn, strict=True):
            np.add.at(key, rules.member, numbers[rules.role, rule])
        parts = [np.unique(key, return_inverse=True)[1].reshape(-1).astype(np.int32) for key in keys]
        cells = np.concatenate([used, classes.value >= 0], axis=1) & classes.free
        parts += [*classes.value.T, *classes.truth.T, classes.sensitive.astype(np.int32), *cells.T.astype(np.int32)]
        order, start = _alike(parts)
        first, number = order[start[:-1]], np.empty(len(classes), np.int32)
        number[order] = np.repeat(np.arange(len(first), dtype=np.int32), np.diff(start))
        conditions = np.where(used, classes.conditions, np.int32(-1))[first]
        rows, row_start = _joined(classes, order, start)
        merged = Classes(
            conditions, classes.value[first], classes.truth[first], classes.sensitive[first], classes.free[first],
            np.diff(row_start), rows, row_start,
        )  # fmt: skip
        return replace(self, classes=merged, rules=_renumbered(rules, rule, number, len(first)))

    def only_unsafe(self) -> Problem:
        """The problem with the rules that are unsafe now, for methods that can make no other rule unsafe."""
        unsafe = self.thresholds.unsafe(self.rules.having, self.rules.both)
        parts = (self.column, self.thresholds, self.attributes, self.rows)
        return Problem(self.classes, self.rules.only(unsafe), *parts)


def _targets(cells: Cells) -> tuple[Codes, Codes, Codes]:
    """The published values that are protected somewhere, the protected ones, and the column of each, all values numbered together."""
    value = np.full(cells.values.shape, -1, np.int32)
    truth = value.copy()
    columns: list[int] = []
    for j in range(cells.values.shape[1]):
        codes, protected = cells.values[:, j], cells.protected[:, j]
        known = np.unique(codes[protected & (codes >= 0)])
        number = np.full(int(codes.max(initial=-1)) + 2, -1, np.int32)  # the last one is what code -1 finds
        number[known] = np.arange(len(known), dtype=np.int32) + len(columns)
        number[-1] = -1
        numbered = number[codes]
        value[:, j] = np.where(protected, -1, numbered)
        truth[:, j] = np.where(protected, numbered, -1)
        columns += [j] * len(known)
    return value, truth, np.array(columns, np.int32)


def _classes(cells: Cells, value: Codes, truth: Codes) -> Classes:
    """Rows that are alike, once all values that no sensitive record has count as one."""
    sensitive = cells.sensitive
    conditions = np.full(cells.conditions.shape, -1, np.int32)
    for a in range(cells.attributes):
        codes = cells.conditions[:, a]
        kept = np.zeros(int(codes.max(initial=-1)) + 2, bool)
        kept[codes[sensitive]] = True
        kept[-1] = False
        conditions[:, a] = np.where(kept[codes], codes, -1)
    parts = [*conditions.T, *value.T, *truth.T, sensitive.astype(np.int32)]
    free: Flags = np.concatenate([conditions, value], axis=1) >= -1  # all of them
    if cells.published is not None:
        free = ~cells.published
        parts += list(free.T.astype(np.int32))
    order, start = _alike(parts)
    first = order[start[:-1]]
    counts = np.diff(start)
    return Classes(conditions[first], value[first], truth[first], sensitive[first], free[first], counts, order, start)


def _alike(columns: list[Codes]) -> tuple[Counts, Counts]:
    """Rows sorted so that those with equal codes in all columns stand together, and where each such group starts."""
    key, largest = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        values = int(column.max(initial=-1)) + 2
        if largest * values >= 1 << 62:
            # Numbered anew, the key lies below rows x values: it never overflows.
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            largest = len(key)
        key, largest = key * values + (column + 1), largest * values
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    start = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]) if len(key) else np.zeros(0, bool))
    return order, np.append(start, len(key)).astype(np.int64)


def _joined(classes: Classes, order: Counts, start: Counts) -> tuple[Counts, Counts]:
    """The rows of classes put together, and where each group of classes starts among them."""
    lengths = classes.people[order]
    ends = np.cumsum(lengths)
    begins = np.repeat(classes.start[order] - (ends - lengths), lengths)
    rows = classes.order[begins + np.arange(len(begins))]
    return rows, np.concatenate([[0], ends])[start]


def _renumbered(rules: Rules, rule: Counts, number: Codes, many: int) -> Rules:
    """The rules with classes numbered anew, each class once in every rule."""
    keys = np.unique((rule * many + number[rules.member]) * 3 + rules.role)
    of_rule = keys // 3 // many
    start = np.searchsorted(of_rule, np.arange(len(rules) + 1)).astype(np.int64)
    return replace(rules, start=start, member=(keys // 3 % many).astype(np.int32), role=(keys % 3).astype(np.int8))


class _Search:
    """Depth-first over patterns of sensitive records, cut where too few records have the pattern and a value of its owners."""

    def __init__(self, classes: Classes, targets: int, thresholds: IntegerThresholds, check: Callable[[], None]) -> None:
        self.classes, self.targets, self.thresholds, self.check = classes, targets, thresholds, check
        self.found: list[tuple[int, int, int, int, int]] = []
        self.members: list[Codes] = []
        self.roles: list[npt.NDArray[np.int8]] = []
        # Number ``targets`` stands for any other value, so that -1 can be counted.
        self.value = np.where(classes.value < 0, targets, classes.value)
        self.truth = np.where(classes.truth < 0, targets, classes.truth)

    def extend(self, mask: int, first: int, inside: Codes) -> None:
        """Look at every pattern that adds an attribute from ``first`` on to one that the classes ``inside`` have."""
        conditions, sensitive = self.classes.conditions, self.classes.sensitive
        self.check()
        for a in range(first, conditions.shape[1]):
            codes = conditions[inside, a]
            for code in np.unique(codes[sensitive[inside]]).tolist():
                if code >= 0:
                    below = inside[codes == code]
                    if self.keep(mask | 1 << a, below):
                        self.extend(mask | 1 << a, a + 1, below)

    def keep(self, mask: int, inside: Codes) -> bool:
        """Note the rules of a pattern; whether a longer one can have any."""
        people = self.classes.people[inside]
        having = int(people.sum())
        either = False
        owners = self._counted(self.truth, inside, people)
        both = self._counted(self.value, inside, people)
        for target in np.flatnonzero((owners > 0) & (both > self.thresholds.support)).tolist():
            either = True
            self.found.append((mask, target, having, int(both[target]), int(owners[target])))
            role = np.full(len(inside), OTHER, np.int8)
            role[(self.value[inside] == target).any(axis=1)] = RELEVANT
            role[(self.truth[inside] == target).any(axis=1)] = OWNER
            self.members.append(inside)
            self.roles.append(role)
        return either

    def _counted(self, numbers: Codes, inside: Codes, people: Counts) -> Counts:
        """How many records have each value."""
        counts = np.zeros(self.targets + 1)
        for j in range(numbers.shape[1]):
            counts += np.bincount(numbers[inside, j], weights=people, minlength=self.targets + 1)
        return counts[:-1].astype(np.int64)


def _rules(classes: Classes, column: Codes, thresholds: IntegerThresholds, check: Callable[[], None]) -> Rules:
    """Every rule with more records than the support threshold; hiding cells only makes them fewer, so no other can be unsafe."""
    search = _Search(classes, len(column), thresholds, check)
    search.extend(0, 0, np.flatnonzero((classes.conditions >= 0).any(axis=1)).astype(np.int32))
    facts = np.array(search.found, np.int64).reshape(-1, 5)
    lengths = [len(member) for member in search.members]
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    member = np.concatenate([np.zeros(0, np.int32), *search.members]).astype(np.int32)
    role = np.concatenate([np.zeros(0, np.int8), *search.roles]).astype(np.int8)
    return Rules(facts[:, 0], facts[:, 1].astype(np.int32), facts[:, 2], facts[:, 3], facts[:, 4], start, member, role)
