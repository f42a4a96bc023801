"""R01 rule-exceptions: the few people to whom a strong rule does not apply, and small groups between several rules.

Infers
    The support of a rule divided by its confidence is the number of people with its antecedent. Minus those who have the consequent as well, it
    is the number of exceptions: if that lies between 1 and k-1, one line reveals a small group. All lines together bound the supports of
    all itemsets that they name, and sums of these give groups that no single line gives.
Assumes
    Printed numbers were rounded as the header or ``--rounding`` says. If the header names the values of the sensitive column, each
    person has one of them; if it says that the list is complete, missing rules do not reach the thresholds.
Claim
    Proves.
Cost
    A few passes over the lines, then one look-up per pattern and item; patterns of one length are left open above 6 million.
Example
    80 people have a and b, the confidence of a => b is 98.7 %, truncated after the last digit: 81 people have a, so 1 has a and not b.
Reference
    Atzori, Bonchi, Giannotti, Pedreschi, k-Anonymous Patterns, PKDD 2005, example 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.model.arrays import Flags, Ints
from tacit.model.audit import AttackRun, Status, Target
from tacit.model.errors import Contradiction, LimitReached, numbered
from tacit.model.finding import Finding, ItemEvent, Step, certificate, remark, render_bound
from tacit.model.numbers import Bound
from tacit.model.policy import Limits
from tacit.model.release import Rules
from tacit.model.words import describe_event, explain_rule_sum, join_names, render_people
from tacit.rules.bounds import CODE, RuleTable
from tacit.rules.words import Story

__all__ = ["CODE", "NAME", "run"]

NAME = "rule-exceptions"
#: Kinds of groups: the exceptions of a rule, a pattern on a set, or the people with none of the values of several rules.
RULE = 0
PATTERN = 1
REST = 2
MOST_PATTERNS = 6_000_000  #: Most patterns of one length; above, longer ones are left open.
#: Patterns on longer sets are left open: the bits of a key.
MOST_ITEMS = 31
_SHIFT = 32


@dataclass(frozen=True, eq=False)
class _Level:
    """Patterns sorted by ``key``: number of the set, bits of absent items."""

    key: Ints
    lo: Ints
    hi: Ints

    def __len__(self) -> int:
        return len(self.key)

    def find(self, keys: Ints) -> Ints:
        if len(self.key) == 0:
            return np.full(len(keys), -1, np.int64)
        at = np.minimum(np.searchsorted(self.key, keys), len(self.key) - 1)
        return np.where(self.key[at] == keys, at, -1)

    def take(self, index: Ints | Flags) -> _Level:
        return _Level(self.key[index], self.lo[index], self.hi[index])


class _PatternSearch:
    """Search for patterns of 1 to k-1 people over a table.

    The people with all of I and none of D are those with I and none of D but its last item, minus those who have that item, too. So patterns
    with one more absent item follow from two with one less; both are looked up by number, and no sum is computed twice. A pattern is not
    extended once it is proved to be small or empty: every longer one would say less.
    """

    def __init__(self, table: RuleTable, k: int, limits: Limits) -> None:
        named = table.named
        self.table = table
        self.k = k
        self.limits = limits
        self.sets = named.sets
        self.less_one = named.less_one
        self.lengths = self.sets.lengths
        self.exact = bool((table.lo == table.hi).all())
        self.short = self.lengths <= MOST_ITEMS
        self.left_open = int((~self.short).sum())
        self.stopped = False
        #: A set with a negative group, or -1.
        self.impossible = -1
        #: Patterns that were not extended by every item, because there were too many.
        self.cut = 0
        self.may_lack = np.ones(len(named.items), np.bool_)
        self.plain = np.ones(len(named.sets), np.bool_)
        if named.nobody >= 0:
            self.plain[named.nobody] = len(table.release) == 0
        if len(named.values) == 2:
            # With two values of the SA, lacking one is having the other, which is a set of its own.
            self.may_lack[named.values] = False
            published = np.isin(named.children, named.both)
            self.plain[named.children[:, ::-1][published & ~published[:, ::-1]]] = False

    def run(self) -> _Groups:
        """Find all shortest small patterns but the exceptions of one rule."""
        parts = [_EMPTY]
        level = self._plain_sets(self.plain)
        try:
            small = self._is_small(level)
            parts.append(self._keep_shortest(level.take(small), None))
            level = self._build_first_level()
            before = self._plain_sets(np.ones(len(self.sets), np.bool_))
            while len(level) and self.impossible < 0:
                self.limits.check(CODE)
                small = self._is_small(level)
                parts.append(self._keep_shortest(level.take(small), before.take(self._is_small(before))))
                if self.cut or len(level) > MOST_PATTERNS:
                    self.left_open += self.cut + len(level)
                    break
                before = level
                level = self._extend(level)
            if not len(level):
                self.left_open += self.cut
        except LimitReached:
            self.stopped = True
        key, lo, hi = (np.concatenate(column) for column in zip(*(vars(part).values() for part in parts), strict=True))
        place = key >> _SHIFT
        absent = key & ((1 << _SHIFT) - 1)
        release = self.table.release
        single = release.consequents.lengths == 1
        items = release.consequents.members[release.consequents.offsets[:-1][single]] if len(release) else np.empty(0, np.int64)
        exceptions = set(zip(self.table.named.both[single].tolist(), items.tolist(), strict=True))
        kept = np.ones(len(place), np.bool_)
        for index in np.flatnonzero(np.bitwise_count(absent.astype(np.uint64)) == 1).tolist():
            position = int(absent[index]).bit_length() - 1
            kept[index] = (int(place[index]), int(self.sets[int(place[index])][position])) not in exceptions
        return _Groups.of_sets(PATTERN, place[kept], absent[kept], lo[kept], hi=hi[kept])

    def _is_small(self, level: _Level) -> Flags:
        return (level.lo > 0) & (level.hi < self.k)

    def _plain_sets(self, chosen: Flags) -> _Level:
        places = np.flatnonzero(self.short & chosen)
        return _Level(places << _SHIFT, self.table.lo[places], self.table.hi[places])

    def _build_first_level(self) -> _Level:
        sets = self.sets
        table = self.table
        owners = sets.owners()
        position = np.arange(len(sets.members)) - sets.offsets[owners]
        usable = np.flatnonzero((self.less_one >= 0) & self.may_lack[sets.members] & self.short[owners])
        owner = owners[usable]
        smaller = self.less_one[usable]
        key = (owner << _SHIFT) | (np.int64(1) << position[usable])
        level = _Level(key, table.lo[smaller] - table.hi[owner], table.hi[smaller] - table.lo[owner])
        order = np.argsort(key)
        level = self._tighten_by_rules(level.take(order))
        self._record_impossible(level)
        return level.take(level.hi > 0)

    def _tighten_by_rules(self, level: _Level) -> _Level:
        named = self.table.named
        release = self.table.release
        single = np.flatnonzero((release.consequents.lengths == 1) & self.short[named.both])
        lo, hi = self.table.lacking(single)
        item = release.consequents.members[release.consequents.offsets[single]]
        both = named.both[single]
        at = level.find((both << _SHIFT) | self._find_bits(both, item))
        known = at >= 0
        np.maximum.at(level.lo, at[known], lo[known])
        np.minimum.at(level.hi, at[known], hi[known])
        return level

    def _find_bits(self, places: Ints, items: npt.NDArray[np.integer]) -> Ints:
        starts = self.sets.offsets[places]
        bits = np.zeros(len(places), np.int64)
        for position in range(int(self.lengths[places].max(initial=0))):
            inside = position < self.lengths[places]
            here = self.sets.members[np.where(inside, starts + position, 0)] == items
            bits |= np.where(inside & here, np.int64(1) << position, 0)
        return bits

    def _extend(self, level: _Level) -> _Level:
        place = level.key >> _SHIFT
        absent = level.key & ((1 << _SHIFT) - 1)
        keys = []
        lows = []
        highs = []
        budget = 4 * MOST_PATTERNS
        for position in range(1, int(self.lengths[place].max(initial=0))):
            self.limits.check(CODE)
            rows = np.flatnonzero((absent < (1 << position)) & (position < self.lengths[place]))
            member = self.sets.offsets[place[rows]] + position
            fits = (self.less_one[member] >= 0) & self.may_lack[self.sets.members[member]]
            rows = rows[fits]
            member = member[fits]
            # The absent items come before the new one, so their bits are the same in the set without it.
            wider = level.find((self.less_one[member] << _SHIFT) | absent[rows])
            good = (wider >= 0) & ~self._is_small(level)[wider]
            rows = rows[good]
            wider = wider[good]
            keys.append((place[rows] << _SHIFT) | absent[rows] | (np.int64(1) << position))
            lows.append(level.lo[wider] - level.hi[rows])
            highs.append(level.hi[wider] - level.lo[rows])
            budget -= len(rows)
            if budget < 0:
                self.cut = int((self.lengths[place] > position).sum())
                break
        if not keys:
            return _EMPTY
        found = _Level(np.concatenate(keys), np.concatenate(lows), np.concatenate(highs))
        found = found.take(np.argsort(found.key))
        if not self.exact:
            found = self._tighten_by_order(found, level)
        self._record_impossible(found)
        return found.take(found.hi > 0)

    def _tighten_by_order(self, found: _Level, level: _Level) -> _Level:
        place = found.key >> _SHIFT
        absent = found.key & ((1 << _SHIFT) - 1)
        lo = found.lo.copy()
        hi = found.hi.copy()
        for position in range(int(self.lengths[place].max(initial=0))):
            rows = np.flatnonzero((absent >> position) & 1)
            rest = absent[rows] ^ (np.int64(1) << position)
            smaller = self.less_one[self.sets.offsets[place[rows]] + position]
            wider = level.find((smaller << _SHIFT) | _drop_bit(rest, position))
            narrower = level.find((place[rows] << _SHIFT) | rest)
            both = (wider >= 0) & (narrower >= 0)
            rows = rows[both]
            wider = wider[both]
            narrower = narrower[both]
            lo[rows] = np.maximum(lo[rows], level.lo[wider] - level.hi[narrower])
            hi[rows] = np.minimum(hi[rows], level.hi[wider] - level.lo[narrower])
        return _Level(found.key, lo, hi)

    def _keep_shortest(self, small: _Level, fewer_absent: _Level | None) -> _Level:
        place = small.key >> _SHIFT
        absent = small.key & ((1 << _SHIFT) - 1)
        covered = np.zeros(len(small), np.bool_)
        for position in range(int(self.lengths[place].max(initial=0))):
            rows = np.flatnonzero(position < self.lengths[place])
            smaller = self.less_one[self.sets.offsets[place[rows]] + position]
            lacks = ((absent[rows] >> position) & 1).astype(np.bool_)
            key = (smaller << _SHIFT) | _drop_bit(absent[rows] & ~(np.int64(1) << position), position)
            known = smaller >= 0
            covered[rows] |= known & ~lacks & (small.find(key) >= 0)
            if fewer_absent is not None:
                covered[rows] |= known & lacks & (fewer_absent.find(key) >= 0)
        return small.take(~covered)

    def _record_impossible(self, level: _Level) -> None:
        wrong = np.flatnonzero((level.hi < 0) | (level.lo > level.hi))
        if len(wrong) and self.impossible < 0:
            self.impossible = int(level.key[wrong[0]] >> _SHIFT)


def _drop_bit(bits: Ints, position: int) -> Ints:
    """Remove one bit, and shift those above it down."""
    below = (np.int64(1) << position) - 1
    return (bits & below) | ((bits >> (position + 1)) << position)


_EMPTY = _Level(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))


@dataclass(frozen=True, eq=False)
class _Groups:
    """Small groups as columns.

    ``rule`` is -1 and ``place`` a set if the group is not that of a rule; ``absent`` are bits.
    """

    kind: Ints
    rule: Ints
    place: Ints
    absent: Ints
    lo: Ints
    hi: Ints

    @classmethod
    def of_rules(cls, rules: Ints, lo: Ints, hi: Ints) -> _Groups:
        nothing = np.full(len(rules), -1)
        return cls(np.full(len(rules), RULE), rules, nothing, np.zeros(len(rules), np.int64), lo=lo, hi=hi)

    @classmethod
    def of_sets(cls, kind: int, place: Ints, absent: Ints, lo: Ints, hi: Ints) -> _Groups:
        return cls(np.full(len(place), kind), np.full(len(place), -1), place, absent, lo=lo, hi=hi)

    @classmethod
    def concatenate(cls, parts: list[_Groups]) -> _Groups:
        return cls(*(np.concatenate(column) for column in zip(*(vars(part).values() for part in parts), strict=True)))

    def sizes(self, table: RuleTable) -> Ints:
        """Return the number of items in the description of each group."""
        named = table.named
        release = table.release
        lengths = np.append(named.sets.lengths, 0)
        of_rules = np.append(release.antecedents.lengths + release.consequents.lengths, 0)
        values = np.bincount(named.whole, minlength=len(lengths))
        of_sets = lengths[self.place] + np.where(self.kind == REST, values[self.place], 0)
        return np.where(self.kind == RULE, of_rules[self.rule], of_sets)

    def worst_first(self, table: RuleTable) -> _Groups:
        """Sort by size, then length, then the order of the file."""
        order = np.lexsort((self.absent, self.place, self.rule, self.kind, self.sizes(table), self.hi))
        return _Groups(*(column[order] for column in vars(self).values()))


@dataclass(frozen=True, eq=False)
class _Findings:
    """Findings of one release, written out on demand."""

    table: RuleTable
    groups: _Groups
    index: int

    def event(self, index: int) -> ItemEvent:
        named = self.table.named
        release = self.table.release
        names = named.items.names
        if self.groups.kind[index] == RULE:
            rule = int(self.groups.rule[index])
            has = tuple(names[item] for item in release.antecedents[rule])
            lacks = tuple(names[item] for item in release.consequents[rule])
            return ItemEvent(has, lacks) if len(lacks) == 1 else ItemEvent(has, not_all=lacks)
        place = int(self.groups.place[index])
        items = named.sets[place].tolist()
        if self.groups.kind[index] == REST:
            values = [release.consequents[rule][0] for rule in np.flatnonzero(named.whole == place).tolist()]
            return ItemEvent(tuple(names[item] for item in items), tuple(names[item] for item in values))
        bits = int(self.groups.absent[index])
        lacks = tuple(names[item] for position, item in enumerate(items) if bits >> position & 1)
        return ItemEvent(tuple(names[item] for position, item in enumerate(items) if not bits >> position & 1), lacks)

    def show(self, index: int) -> Finding:
        event = self.event(index)
        count = Bound(int(self.groups.lo[index]), int(self.groups.hi[index]))
        story = Story(self.table)
        same = None
        if self.groups.kind[index] == RULE:
            rule = int(self.groups.rule[index])
            last = [_explain_exceptions(story, rule, count)]
            same = self._other_value(rule)
        elif self.groups.kind[index] == REST:
            last = self._rest(story, int(self.groups.place[index]), event, count)
        else:
            number = {name: item for item, name in enumerate(self.table.named.items.names)}
            has, lacks = (tuple(sorted(number[name] for name in names)) for names in (event.present, event.absent))
            _PatternStory(story).bounds(has, lacks)
            last = [remark(f"So {render_people(count)} {describe_event(event, count)}.")]
        statement = f"{render_people(count)} {describe_event(event, count)}."
        proof = certificate(event, count, steps=story.proof)
        named = self.table.named
        values = [named.items.names[value] for value in named.values.tolist()]
        summed = explain_rule_sum(event, count, story.proof, release=self.table.release, values=values, index_of=story.index_of)
        steps = story.all_steps(last) if summed is None else tuple(summed)
        return Finding(
            CODE,
            event,
            count,
            statement,
            because=story.citations(self.index),
            derivation=steps,
            same_people=same,
            certificate=proof,
        )

    def _other_value(self, rule: int) -> ItemEvent | None:
        """Return the same people by the only other value."""
        named = self.table.named
        if len(named.values) != 2:
            return None
        has = self.table.release.antecedents[rule].tolist()
        other = [value for value in named.values.tolist() if value != self.table.release.consequents[rule][0]]
        return ItemEvent(tuple(named.items.names[item] for item in [*has, *other]))

    def _rest(self, story: Story, place: int, event: ItemEvent, count: Bound) -> list[Step]:
        named = self.table.named
        story.bounds(place)
        for rule in np.flatnonzero(named.whole == place).tolist():
            story.cite(rule)
            story.bounds(int(named.both[rule]))
        column = " & ".join(self.table.release.header.sa)
        rest = f"those with {join_names(event.present, 'and')} less those with {join_names(event.absent, 'or')}"
        return [remark(f"Nobody has two values of {column}: {rest} are {render_people(count)}.")]


def _explain_exceptions(story: Story, rule: int, count: Bound) -> Step:
    """Return the step to those with a rule's antecedent, not its consequent."""
    table = story.table
    named = table.named
    whole = story.bounds(int(named.whole[rule]))
    both = story.bounds(int(named.both[rule]))
    line = story.cite(rule)
    has = story.names(int(named.whole[rule]))
    has_both = story.names(int(named.both[rule]))
    then = tuple(sorted(named.items.names[item] for item in table.release.consequents[rule]))
    if (whole.lo - both.hi, whole.hi - both.lo) == (count.lo, count.hi):
        return remark(f"Those with {has} less those with {has_both}: {_minus(whole, both)}, that is {render_people(count)}.")
    those = f"those with {has} but not {'all of ' if len(then) > 1 else ''}{join_names(then, 'and')}"
    tied = f", {story.interval(rule)}, ties the two numbers to each other: {those} are {render_people(count)}."
    return remark("The confidence of ", line, tied)


def _minus(whole: Bound, part: Bound) -> str:
    """Write ``81 - 80``, with bounds in brackets."""
    left, right = (f"{one.lo:,}" if one.is_exact else f"[{one.lo:,} to {one.hi:,}]" for one in (whole, part))
    return f"{left} - {right}"


_Pattern = tuple[tuple[int, ...], tuple[int, ...]]  #: Items present and absent.


class _PatternStory:
    """Derivation of a pattern's bounds, one absent item after the other."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.table = story.table
        self._seen: dict[_Pattern, Bound] = {}
        self._known: dict[_Pattern, Bound] = {}

    def bounds(self, has: tuple[int, ...], lacks: tuple[int, ...]) -> Bound:
        """Return bounds on a pattern, and add the steps that prove them."""
        if (has, lacks) in self._seen:
            return self._seen[has, lacks]
        if not lacks:
            found = self.story.bounds(self.table.named.find(has))
        elif len(lacks) == 1 and (rule := self._tying_rule(has, lacks[0])) >= 0:
            found = _lacking(self.table, rule)
            self.story.steps.append(_explain_exceptions(self.story, rule, found))
        else:
            found = self._difference(has, lacks)
        self._seen[has, lacks] = found
        return found

    def _difference(self, has: tuple[int, ...], lacks: tuple[int, ...]) -> Bound:
        differences = [self._subtract(has, lacks, j) for j in range(len(lacks))]
        best = min(range(len(lacks)), key=lambda j: differences[j].hi - differences[j].lo)
        rest = lacks[:best] + lacks[best + 1 :]
        wider = self.bounds(has, rest)
        narrower = self.bounds(tuple(sorted((*has, lacks[best]))), rest)
        found = wider - narrower
        # Each end may come from another item; the other orders are shown only if needed.
        for j, shown in enumerate(differences):
            if j != best and (shown.lo > found.lo or shown.hi < found.hi):
                other = lacks[:j] + lacks[j + 1 :]
                self.bounds(has, other)
                self.bounds(tuple(sorted((*has, lacks[j]))), other)
                found = Bound(max(found.lo, shown.lo), min(found.hi, shown.hi))
        if len(lacks) > 1 or not found.is_exact:
            names = self.table.named.items.names
            event = ItemEvent(tuple(names[i] for i in has), tuple(names[i] for i in lacks))
            had = join_names(event.present, "and") if event.present else "anything"
            those = f"Those who have {had} without {join_names(event.absent, 'or')}"
            self.story.steps.append(remark(f"{those}: {_minus(wider, narrower)}, that is {render_bound(found)}."))
        return found

    def _subtract(self, has: tuple[int, ...], lacks: tuple[int, ...], j: int) -> Bound:
        """Bound a pattern by two with one absent item less."""
        rest = lacks[:j] + lacks[j + 1 :]
        return self._quiet(has, rest) - self._quiet(tuple(sorted((*has, lacks[j]))), rest)

    def _quiet(self, has: tuple[int, ...], lacks: tuple[int, ...]) -> Bound:
        """Return the bounds of a pattern without adding steps."""
        if not lacks:
            return self.table.bound(self.table.named.find(has))
        if (has, lacks) not in self._known:
            options = [self._subtract(has, lacks, j) for j in range(len(lacks))]
            if len(lacks) == 1 and (rule := self._tying_rule(has, lacks[0])) >= 0:
                options.append(_lacking(self.table, rule))
            self._known[has, lacks] = Bound(max(one.lo for one in options), min(one.hi for one in options))
        return self._known[has, lacks]

    def _tying_rule(self, has: tuple[int, ...], lacks: int) -> int:
        """Return a rule tighter than its two numbers, or -1."""
        named = self.table.named
        whole = named.find(has)
        both = named.find((*has, lacks))
        rule = named.first_rules.get((whole, both), -1)
        if rule < 0:
            return -1
        tied = _lacking(self.table, rule)
        apart = self.table.bound(whole) - self.table.bound(both)
        return rule if tied.lo > apart.lo or tied.hi < apart.hi else -1


def _lacking(table: RuleTable, rule: int) -> Bound:
    lo, hi = table.lacking(np.array([rule]))
    return Bound(int(lo[0]), int(hi[0]))


def run(target: Target) -> AttackRun:
    """Find all small groups of exceptions, and shortest small patterns."""
    release = target.release_as(Rules)
    status: Status = "ran"
    reason = ""
    undecided = 0
    try:
        table = RuleTable.of(release, target.limits)
        refuse_impossible(table)
        target.progress(0.3)
        table.deduce(target.limits)
        refuse_impossible(table)
    except LimitReached:
        return AttackRun(CODE, NAME, "proves", "stopped", reason="the time limit was reached before the lines were compared")
    target.progress(0.5)
    lo, hi = table.lacking(np.arange(len(release)))
    small = np.flatnonzero((lo > 0) & (hi < target.policy.k))
    found = [_Groups.of_rules(small, lo[small], hi[small]), _find_rest(table, target.policy.k)]
    search = _PatternSearch(table, target.policy.k, target.limits)
    found.append(search.run())
    if search.impossible >= 0:
        _refuse(table, search.impossible)
    if search.stopped:
        status = "stopped"
        reason = "the time limit was reached; findings so far are kept"
    if search.left_open:
        undecided = search.left_open
        reason = reason or f"{search.left_open:,} long patterns were not examined"
    groups = _Groups.concatenate(found).worst_first(table)
    findings = _Findings(table, groups, target.index)
    target.progress(1.0)
    return AttackRun(
        CODE,
        NAME,
        "proves",
        status,
        reason=reason,
        people=int(groups.lo.max(initial=0)),
        undecided=undecided,
        columns={"rule": groups.rule, "items": groups.sizes(table), "count": groups.lo, "count_hi": groups.hi},
        severity=(groups.hi << 16) | np.minimum(groups.sizes(table), 0xFFFF),
        event=findings.event,
        show=findings.show,
    )


def _find_rest(table: RuleTable, k: int) -> _Groups:
    """Return antecedents with few people outside their rules' values."""
    release = table.release
    pairs = release.items.pairs
    column = " & ".join(release.header.sa)
    single = bool((release.consequents.lengths == 1).all())
    reached = np.unique(release.consequents.members).tolist()
    if pairs is None or not column or not single or any(pairs[item][0] != column for item in reached):
        return _Groups.of_rules(*(np.empty(0, np.int64),) * 3)
    named = table.named
    size = len(table.named.sets)
    rules = np.zeros(size, np.int64)
    low = np.zeros(size, np.int64)
    high = np.zeros(size, np.int64)
    np.add.at(rules, named.whole, 1)
    np.add.at(low, named.whole, table.lo[named.both])
    np.add.at(high, named.whole, table.hi[named.both])
    # If one value is left, its people are bounded as a set of their own.
    several = np.flatnonzero((rules > 1) & (rules != named.children.shape[1] - 1))
    lo = table.lo[several] - high[several]
    hi = table.hi[several] - low[several]
    small = (lo > 0) & (hi < k)
    places = several[small]
    return _Groups.of_sets(REST, places, np.zeros(len(places), np.int64), lo[small], hi=hi[small])


def refuse_impossible(table: RuleTable) -> None:
    """Raise a contradiction if the bounds of some set are empty."""
    if table.empty >= 0:
        _refuse(table, table.empty)


def _refuse(table: RuleTable, place: int) -> None:
    story = Story(table)
    parts = table.named.less_one[table.named.sets.offsets[place] : table.named.sets.offsets[place + 1]]
    for one in [place] if table.empty >= 0 else [place, *parts[parts >= 0].tolist()]:
        story.both_ends(one)
    lines = [citation.place for citation in story.citations(0) if isinstance(citation.place, int)]
    name = table.release.source.name if table.release.source else "the release"
    raise Contradiction(
        "the numbers of these rules cannot all be true: no number of people with some items fits all of them",
        where=f"{name}, {numbered(lines)}" if lines else name,
        remedy="Check the lines, the header and the number of people, or say how numbers were printed (--rounding)",
        lines=lines,
    )
