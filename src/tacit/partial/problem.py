"""Problem of hiding cells: classes, rules and thresholds.

Only values of some sensitive record can be part of a rule, so all others count as one; a table of a million records becomes a few
thousand classes. Records of a class with the same cells hidden form a *pile*; hiding a cell moves records from one pile to another. Cells are
numbered: condition attributes, then sensitive columns; a set of hidden cells is a bit mask of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.model.arrays import Codes, Flags, Ints
from tacit.model.errors import OptionError
from tacit.model.policy import Check
from tacit.model.table import row_keys

LARGEST = 1 << 62  #: Products of counts and the parts of the confidence stay below this.


@dataclass(frozen=True, slots=True)
class IntegerThresholds:
    """Thresholds of unsafe rules in whole numbers; a rule exceeds both."""

    numerator: int
    denominator: int
    support: int

    @classmethod
    def of(cls, confidence: Fraction, support: int, *, people: int) -> IntegerThresholds:
        """Return the thresholds, a long confidence simplified."""
        if confidence.denominator * max(1, people) * 2 >= LARGEST:
            confidence = largest_below(confidence, max(1, people))
        return cls(confidence.numerator, confidence.denominator, support)

    def excess(self, having: Ints, both: Ints) -> Ints:
        """Return the excess over the thresholds (parts of the denominator); 0 if safe."""
        allowed = np.maximum(self.numerator * having, self.denominator * self.support)
        return np.maximum(0, self.denominator * both - allowed)

    def unsafe(self, having: Ints, both: Ints) -> Flags:
        """Return the rules over both thresholds."""
        return self.excess(having, both) > 0

    def values_to_hide(self, having: Ints, both: Ints) -> Ints:
        """Count the values to hide until rules are safe (the paper's beta)."""
        return -(-self.excess(having, both) // self.denominator)

    def records_to_hide(self, having: Ints, both: Ints) -> Ints:
        """Count the records that must lose a rule's pattern (MinHide)."""
        over = np.maximum(0, self.denominator * both - self.numerator * having)
        rest = max(1, self.denominator - self.numerator)  # with a confidence of 1 no rule is over it
        return np.asarray(np.minimum(-(-over // rest), np.maximum(0, both - self.support)))


def largest_below(confidence: Fraction, denominator: int) -> Fraction:
    """Return the largest fraction up to ``confidence`` with bounded denominator.

    No share of a whole of at most that size lies between the two, so they decide alike.
    """
    if confidence.denominator <= denominator:
        return confidence
    older = (0, 1)
    newer = (1, 0)
    rest: tuple[Any, Any] = (confidence.numerator, confidence.denominator)
    while True:
        whole = rest[0] // rest[1]
        following = (older[0] + whole * newer[0], older[1] + whole * newer[1])
        if following[1] > denominator:
            break
        older = newer
        newer = following
        rest = (rest[1], rest[0] - whole * rest[1])
    steps = (denominator - older[1]) // newer[1]
    ends = (Fraction(*newer), Fraction(older[0] + steps * newer[0], older[1] + steps * newer[1]))
    return max(end for end in ends if end <= confidence)


#: Roles of a record in a rule whose pattern it has.
RELEVANT = 0
OTHER = 1
OWNER = 2
#: Patterns are bit masks of condition attributes, of 64 bits.
MOST_ATTRIBUTES = 60
REGIONS = ("ns", "nc", "sc")


@dataclass(frozen=True, eq=False)
class Cells:
    """Coded table; -1 is a blank.

    ``protected`` marks the sensitive cells to protect, ``published`` the cells (conditions, then sensitive ones) that must be published.
    A row stands for so many ``people``, by default for one. Rows with the same number in ``alike`` are the same for everybody.
    """

    conditions: Codes
    values: Codes
    protected: Flags
    published: Flags | None = None
    people: Ints | None = None
    alike: Ints | None = None

    @property
    def attributes(self) -> int:
        """Number of condition attributes."""
        return int(self.conditions.shape[1])

    @property
    def sensitive(self) -> Flags:
        """Records with a cell to protect."""
        return np.asarray(self.protected.any(axis=1))

    def may_hide(self, regions: frozenset[str]) -> Flags:
        """Return the cells that may be hidden."""
        inside = _mark_regions(self.sensitive, self.conditions, self.values, regions)
        inside[:, self.attributes :] &= ~self.protected
        return inside if self.published is None else inside & ~self.published


def _mark_regions(sensitive: Flags, conditions: Codes, values: Codes, regions: frozenset[str]) -> Flags:
    k = conditions.shape[1]
    inside = np.concatenate([conditions, values], axis=1) >= 0
    inside[~sensitive, :k] &= "nc" in regions
    inside[sensitive, :k] &= "sc" in regions
    inside[:, k:] &= "ns" in regions
    return inside


@dataclass(frozen=True, eq=False)
class Classes:
    """Records that are equal for every rule.

    ``people[c]`` people are in class c. ``conditions`` keeps values of some sensitive record (-1: another one), ``value`` the numbers of
    protected values that are published in the sensitive columns, ``truth`` those of the protected cells, ``free`` the cells that need not
    be published. ``order[start[c] : start[c + 1]]`` are the rows of class c.
    """

    conditions: Codes
    value: Codes
    truth: Codes
    sensitive: Flags
    free: Flags
    people: Ints
    order: Ints
    start: Ints

    def __len__(self) -> int:
        return len(self.people)

    def rows_of(self, number: int) -> Ints:
        """Return the rows of a class."""
        return self.order[self.start[number] : self.start[number + 1]]


@dataclass(frozen=True, eq=False)
class Rules:
    """Rules that could reveal a protected cell.

    ``mask`` are the attributes of the pattern as bits, ``target`` is the number of the value; ``having`` records have the pattern, ``both`` the
    value too; the rule is about ``owners`` protected cells. ``member[start[i]:start[i + 1]]`` are the classes with the pattern of rule i.
    """

    mask: Ints
    target: Codes
    having: Ints
    both: Ints
    owners: Ints
    start: Ints
    member: Codes
    role: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.mask)

    def select(self, kept: Flags) -> Rules:
        """Return some of the rules."""
        lengths = np.diff(self.start)
        entries = np.repeat(kept, lengths)
        start = np.concatenate([[0], np.cumsum(lengths[kept])]).astype(np.int64)
        counted = (self.mask[kept], self.target[kept], self.having[kept], self.both[kept], self.owners[kept])
        return Rules(*counted, start=start, member=self.member[entries], role=self.role[entries])


@dataclass(frozen=True, eq=False)
class Problem:
    """Classes, rules and thresholds of a suppression problem.

    ``weights`` are the people of each row of the table, ``alike`` numbers rows that are the same for everybody.
    """

    classes: Classes
    rules: Rules
    column: Codes
    thresholds: IntegerThresholds
    attributes: int
    weights: Ints
    alike: Ints

    @classmethod
    def of(cls, cells: Cells, thresholds: IntegerThresholds, check: Check = lambda: None) -> Problem:
        """Build the problem of a table; ``check`` may raise."""
        if cells.attributes > MOST_ATTRIBUTES:
            remedy = f"Name at most {MOST_ATTRIBUTES}"
            raise OptionError(f"names {cells.attributes} condition attributes", where="--qi", remedy=remedy)
        value, truth, column = _number_targets(cells)
        classes = _build_classes(cells, value, truth)
        rules = _find_rules(classes, column, thresholds, check)
        rows = len(cells.values)
        return cls(
            classes,
            rules,
            column,
            thresholds,
            attributes=cells.attributes,
            weights=np.ones(rows, np.int64) if cells.people is None else cells.people,
            alike=np.arange(rows) if cells.alike is None else cells.alike,
        )

    @property
    def people(self) -> int:
        """Number of records."""
        return int(self.weights.sum())

    @property
    def cells(self) -> int:
        """Number of cells per record: conditions, then sensitive ones."""
        return self.attributes + int(self.classes.value.shape[1])

    def may_hide(self, regions: frozenset[str]) -> Flags:
        """Return the useful cells that may be hidden."""
        classes = self.classes
        return _mark_regions(classes.sensitive, classes.conditions, classes.value, regions) & classes.free

    def merge_classes(self) -> Problem:
        """Merge classes that support the same rules.

        Methods that see only these hide the same cells, faster. Classes are compared by two random 64-bit hashes of their roles.
        """
        rules = self.rules
        classes = self.classes
        k = self.attributes
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
        order, start = _sort_equal_rows(parts)
        first = order[start[:-1]]
        number = np.empty(len(classes), np.int32)
        number[order] = np.repeat(np.arange(len(first), dtype=np.int32), np.diff(start))
        conditions = np.where(used, classes.conditions, np.int32(-1))[first]
        rows, row_start = _join_rows(classes, order, start)
        known = (conditions, classes.value[first], classes.truth[first], classes.sensitive[first])
        people = np.add.reduceat(classes.people[order], start[:-1]) if len(first) else np.zeros(0, np.int64)
        merged = Classes(*known, free=classes.free[first], people=people, order=rows, start=row_start)
        return replace(self, classes=merged, rules=_renumber(rules, rule, number, len(first)))

    def keep_unsafe(self) -> Problem:
        """Keep the unsafe rules only."""
        return replace(self, rules=self.rules.select(self.thresholds.unsafe(self.rules.having, self.rules.both)))


def _number_targets(cells: Cells) -> tuple[Codes, Codes, Codes]:
    value = np.full(cells.values.shape, -1, np.int32)
    truth = value.copy()
    columns: list[int] = []
    for j in range(cells.values.shape[1]):
        codes = cells.values[:, j]
        protected = cells.protected[:, j]
        known = np.unique(codes[protected & (codes >= 0)])
        number = np.full(int(codes.max(initial=-1)) + 2, -1, np.int32)  # the last one is what code -1 finds
        number[known] = np.arange(len(known), dtype=np.int32) + len(columns)
        number[-1] = -1
        numbered = number[codes]
        value[:, j] = np.where(protected, -1, numbered)
        truth[:, j] = np.where(protected, numbered, -1)
        columns += [j] * len(known)
    return value, truth, np.array(columns, np.int32)


def _build_classes(cells: Cells, value: Codes, truth: Codes) -> Classes:
    """Merge equal rows; values of no sensitive record count as one."""
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
    order, start = _sort_equal_rows(parts)
    first = order[start[:-1]]
    known = (conditions[first], value[first], truth[first], sensitive[first])
    people = np.diff(start)
    if cells.people is not None:
        people = np.diff(np.append(0, np.cumsum(cells.people[order]))[start])
    return Classes(*known, free=free[first], people=people, order=order, start=start)


def _sort_equal_rows(columns: list[Codes]) -> tuple[Ints, Ints]:
    key = row_keys(columns, len(columns[0]))
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    start = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]) if len(key) else np.zeros(0, bool))
    return order, np.append(start, len(key)).astype(np.int64)


def _join_rows(classes: Classes, order: Ints, start: Ints) -> tuple[Ints, Ints]:
    lengths = np.diff(classes.start)[order]
    ends = np.cumsum(lengths)
    begins = np.repeat(classes.start[order] - (ends - lengths), lengths)
    return classes.order[begins + np.arange(len(begins))], np.concatenate([[0], ends])[start]


def _renumber(rules: Rules, rule: Ints, number: Codes, many: int) -> Rules:
    keys = np.unique((rule * many + number[rules.member]) * 3 + rules.role)
    start = np.searchsorted(keys // 3 // many, np.arange(len(rules) + 1)).astype(np.int64)
    return replace(rules, start=start, member=(keys // 3 % many).astype(np.int32), role=(keys % 3).astype(np.int8))


class _Search:
    """Depth-first search over frequent patterns of sensitive records."""

    def __init__(self, classes: Classes, targets: int, thresholds: IntegerThresholds, check: Check) -> None:
        self.classes = classes
        self.targets = targets
        self.thresholds = thresholds
        self.check = check
        self.found: list[tuple[int, int, int, int, int]] = []
        self.members: list[Codes] = []
        self.roles: list[npt.NDArray[np.int8]] = []
        # Number ``targets`` stands for any other value, so that -1 can be counted.
        self.value = np.where(classes.value < 0, targets, classes.value)
        self.truth = np.where(classes.truth < 0, targets, classes.truth)

    def extend(self, mask: int, first: int, inside: Codes) -> None:
        conditions = self.classes.conditions
        sensitive = self.classes.sensitive
        self.check()
        for a in range(first, conditions.shape[1]):
            codes = conditions[inside, a]
            for code in np.unique(codes[sensitive[inside]]).tolist():
                if code >= 0:
                    below = inside[codes == code]
                    if self.keep(mask | 1 << a, below):
                        self.extend(mask | 1 << a, a + 1, below)

    def keep(self, mask: int, inside: Codes) -> bool:
        """Record a pattern's rules; tell if longer ones can exist."""
        people = self.classes.people[inside]
        having = int(people.sum())
        owners = self._count_values(self.truth, inside, people)
        both = self._count_values(self.value, inside, people)
        targets = np.flatnonzero((owners > 0) & (both > self.thresholds.support)).tolist()
        for target in targets:
            self.found.append((mask, target, having, int(both[target]), int(owners[target])))
            role = np.full(len(inside), OTHER, np.int8)
            role[(self.value[inside] == target).any(axis=1)] = RELEVANT
            role[(self.truth[inside] == target).any(axis=1)] = OWNER
            self.members.append(inside)
            self.roles.append(role)
        return bool(targets)

    def _count_values(self, numbers: Codes, inside: Codes, people: Ints) -> Ints:
        counts = np.zeros(self.targets + 1)
        for j in range(numbers.shape[1]):
            counts += np.bincount(numbers[inside, j], weights=people, minlength=self.targets + 1)
        return counts[:-1].astype(np.int64)


def _find_rules(classes: Classes, column: Codes, thresholds: IntegerThresholds, check: Check) -> Rules:
    """Find every rule above the support threshold.

    Hiding cells only lowers supports, so no other rule can become unsafe.
    """
    search = _Search(classes, len(column), thresholds, check)
    search.extend(0, 0, np.flatnonzero((classes.conditions >= 0).any(axis=1)).astype(np.int32))
    facts = np.array(search.found, np.int64).reshape(-1, 5)
    lengths = [len(member) for member in search.members]
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    member = np.concatenate([np.zeros(0, np.int32), *search.members]).astype(np.int32)
    role = np.concatenate([np.zeros(0, np.int8), *search.roles]).astype(np.int8)
    mask, target, having, both, owners = facts.T
    return Rules(mask, target.astype(np.int32), having, both, owners=owners, start=start, member=member, role=role)


@dataclass(frozen=True, slots=True)
class Pile:
    """Records of one class with the same cells hidden."""

    of: int
    hidden: int


@dataclass(frozen=True, slots=True, eq=False)
class Touched:
    """Rules that change if a record loses a cell."""

    rules: Ints
    having: Ints
    both: Ints
    owners: Ints


class Hiding:
    """Table in progress: hidden cells and rule counts."""

    def __init__(self, problem: Problem, regions: frozenset[str]) -> None:
        self.problem = problem
        self.allowed: Flags = problem.may_hide(regions)
        rules = problem.rules
        classes = problem.classes
        self.having = rules.having.copy()
        self.both = rules.both.copy()
        self.owners = rules.owners.copy()
        self.piles = [Pile(c, 0) for c in range(len(classes))]
        self.people: list[int] = classes.people.tolist()
        self._number: dict[Pile, int] = {}
        # The same entries as in the rules, but by class.
        by_class = np.argsort(rules.member, kind="stable")
        self._rule_of = np.repeat(np.arange(len(rules)), np.diff(rules.start))[by_class]
        self._role_of = rules.role[by_class]
        self._start = np.searchsorted(rules.member[by_class], np.arange(len(classes) + 1))
        self._column = problem.column[rules.target]

    @property
    def unsafe(self) -> Flags:
        """Rules that reveal a protected cell now."""
        return self.problem.thresholds.unsafe(self.having, self.both) & (self.owners > 0)

    @property
    def is_safe(self) -> bool:
        """Return True if no rule is unsafe."""
        return not self.unsafe.any()

    @property
    def cells_hidden(self) -> int:
        """Number of hidden cells, not counting the protected ones."""
        return sum(pile.hidden.bit_count() * people for pile, people in zip(self.piles, self.people, strict=True))

    def rules_of(self, number: int) -> tuple[Ints, npt.NDArray[np.int8]]:
        """Return the rules that fit a pile, and its roles."""
        k = self.problem.attributes
        pile = self.piles[number]
        inside = slice(self._start[pile.of], self._start[pile.of + 1])
        rules = self._rule_of[inside]
        role = self._role_of[inside]
        if pile.hidden:
            kept = (self.problem.rules.mask[rules] & pile.hidden) == 0
            rules = rules[kept]
            role = role[kept]
            if values := pile.hidden >> k:
                hidden = (values >> self._column[rules]) & 1 == 1
                role = np.where(hidden & (role == RELEVANT), np.int8(OTHER), role)
        return rules, role

    def touched(self, number: int, cell: int) -> Touched:
        """Return the changes if a pile's record loses this cell."""
        k = self.problem.attributes
        rules, role = self.rules_of(number)
        if cell >= k:
            rules = rules[(role == RELEVANT) & (self._column[rules] == cell - k)]
            ones = np.ones(len(rules), np.int64)
            return Touched(rules, 0 * ones, ones, 0 * ones)
        kept = (self.problem.rules.mask[rules] >> cell) & 1 == 1
        rules = rules[kept]
        role = role[kept]
        ones = np.ones(len(rules), np.int64)
        return Touched(rules, ones, (role == RELEVANT).astype(np.int64), (role == OWNER).astype(np.int64))

    def hide(self, number: int, cell: int, records: int = 1) -> tuple[int, Touched]:
        """Hide a cell; return the new pile and changes."""
        pile = self.piles[number]
        changed = self.touched(number, cell)
        self.having[changed.rules] -= records * changed.having
        self.both[changed.rules] -= records * changed.both
        self.owners[changed.rules] -= records * changed.owners
        target = self.number_of(Pile(pile.of, pile.hidden | 1 << cell))
        self.people[number] -= records
        self.people[target] += records
        return target, changed

    def restore(self, number: int, cell: int, records: int = 1) -> None:
        """Restore a hidden cell: hide it in minus so many records."""
        target = self.number_of(Pile(self.piles[number].of, self.piles[number].hidden & ~(1 << cell)))
        self.hide(target, cell, -records)

    def may_hide(self, number: int, cell: int) -> bool:
        """Tell if a pile's cell is visible and permitted."""
        pile = self.piles[number]
        return bool(self.allowed[pile.of, cell]) and not pile.hidden >> cell & 1

    def number_of(self, pile: Pile) -> int:
        """Return the number of a pile, added if new."""
        if not pile.hidden:
            return pile.of
        if pile not in self._number:
            self._number[pile] = len(self.piles)
            self.piles.append(pile)
            self.people.append(0)
        return self._number[pile]

    def take(self, hidden: list[tuple[Pile, int]]) -> None:
        """Hide the cells of a list of piles."""
        for pile, records in hidden:
            number = pile.of
            for cell in range(self.problem.cells):
                if pile.hidden >> cell & 1 and records:
                    number, _ = self.hide(number, cell, records)

    def outcome(self) -> list[tuple[Pile, int]]:
        """Return piles with hidden cells and record counts."""
        counted = zip(self.piles, self.people, strict=True)
        return sorted(((p, n) for p, n in counted if p.hidden and n), key=lambda entry: (entry[0].of, entry[0].hidden))


def draw_records(problem: Problem, outcome: list[tuple[Pile, int]], *, seed: int) -> Iterator[tuple[int, Ints, Ints]]:
    """Draw the records of each pile: yield its hidden cells, and how many people of which rows are in it.

    It is drawn first how many of those who are alike lose cells, so that chance does not depend on the order of the rows.
    """
    chance = np.random.default_rng(seed)
    order = np.random.default_rng([seed, 1])
    left: dict[int, tuple[Ints, Ints, Ints, Ints]] = {}
    for pile, records in outcome:
        if pile.of not in left:
            rows = order.permutation(problem.classes.rows_of(pile.of))
            rows = rows[np.argsort(problem.alike[rows], kind="stable")]
            _, start = np.unique(problem.alike[rows], return_index=True)
            ends = np.cumsum(problem.weights[rows])
            whole = np.add.reduceat(problem.weights[rows], start)
            left[pile.of] = rows, ends, ends[start] - problem.weights[rows][start], whole
        rows, ends, first, whole = left[pile.of]
        taken = chance.multivariate_hypergeometric(whole, records, method="marginals")
        left[pile.of] = rows, ends, first + taken, whole - taken
        # People are numbered row after row; those from ``first`` on are taken from each kind.
        begin = np.searchsorted(ends, first[taken > 0], side="right")
        end = np.searchsorted(ends, (first + taken)[taken > 0] - 1, side="right") + 1
        number = end - begin
        place = np.repeat(begin - (np.cumsum(number) - number), number) + np.arange(int(number.sum()))
        low = np.maximum(ends[place] - problem.weights[rows[place]], np.repeat(first[taken > 0], number))
        high = np.minimum(ends[place], np.repeat((first + taken)[taken > 0], number))
        yield pile.hidden, rows[place], high - low


def draw_hidden_cells(problem: Problem, outcome: list[tuple[Pile, int]], *, seed: int) -> Flags:
    """Draw records of a table with a row for each, and return their hidden cells."""
    out = np.zeros((len(problem.weights), problem.cells), bool)
    for hidden, rows, _ in draw_records(problem, outcome, seed=seed):
        out[rows] = mask_to_flags(hidden, problem.cells)
    return out


def mask_to_flags(mask: int, cells: int) -> Flags:
    """Return the cells of a mask as flags."""
    return np.array([mask >> cell & 1 for cell in range(cells)], np.bool_)


def count_hopeless_rules(problem: Problem, regions: frozenset[str]) -> tuple[int, int]:
    """Count the rules that no hiding makes safe.

    Also returns the number of protected cells that they are about. Each rule is tested alone, at its best: all its records lose their
    value or, if that may not be hidden, a cell of the pattern, and no other record loses anything. If an owner has to publish the whole
    pattern and the rule is unsafe even then, it is hopeless.
    """
    state = Hiding(problem, regions)
    rules = problem.rules
    classes = problem.classes
    k = problem.attributes
    hopeless = 0
    stuck_classes = np.zeros(len(classes), bool)
    for rule in np.flatnonzero(state.unsafe).tolist():
        inside = slice(rules.start[rule], rules.start[rule + 1])
        member = rules.member[inside]
        role = rules.role[inside]
        pattern = [a for a in range(k) if int(rules.mask[rule]) >> a & 1]
        can_leave = state.allowed[member][:, pattern].any(axis=1)
        stuck = (role == OWNER) & ~can_leave
        if not stuck.any():
            continue
        people = classes.people[member]
        loses_value = (role == RELEVANT) & state.allowed[member, k + problem.column[rules.target[rule]]]
        loses_pattern = (role == RELEVANT) & ~loses_value & can_leave
        having = rules.having[rule] - people[loses_pattern].sum()
        both = rules.both[rule] - people[loses_value | loses_pattern].sum()
        if problem.thresholds.unsafe(np.array([having]), np.array([both]))[0]:
            hopeless += 1
            stuck_classes[member[stuck]] = True
    return hopeless, int(classes.people[stuck_classes].sum())
