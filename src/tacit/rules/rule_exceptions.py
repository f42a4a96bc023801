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

from tacit.errors import Contradiction, LimitReached, numbered
from tacit.model.arrays import Ints
from tacit.model.audit import AttackRun, Status, Target
from tacit.model.event import ItemEvent
from tacit.model.finding import Finding, Step, certificate, remark, render_bound
from tacit.model.numbers import Bound
from tacit.model.release import Rules
from tacit.model.words import describe_event, join_names, render_people
from tacit.rules.bounds import CODE, RuleTable
from tacit.rules.groups import PatternSearch, SmallPatterns
from tacit.rules.words import Story

__all__ = ["CODE", "NAME", "run"]

NAME = "rule-exceptions"
#: Kinds of groups: the exceptions of a rule, a pattern on a set, or the people with none of the values of several rules.
RULE = 0
PATTERN = 1
REST = 2


@dataclass(frozen=True, eq=False)
class Groups:
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
    def of_rules(cls, rules: Ints, lo: Ints, hi: Ints) -> Groups:
        """Return the exceptions of these rules."""
        nothing = np.full(len(rules), -1)
        return cls(np.full(len(rules), RULE), rules, nothing, np.zeros(len(rules), np.int64), lo=lo, hi=hi)

    @classmethod
    def of_rest(cls, places: Ints, lo: Ints, hi: Ints) -> Groups:
        """Return people with none of the values of their rules."""
        return cls(np.full(len(places), REST), np.full(len(places), -1), places, np.zeros(len(places), np.int64), lo=lo, hi=hi)

    @classmethod
    def of_patterns(cls, found: SmallPatterns) -> Groups:
        """Return patterns on sets."""
        size = len(found.place)
        return cls(np.full(size, PATTERN), np.full(size, -1), found.place, found.absent, lo=found.lo, hi=found.hi)

    @classmethod
    def concatenate(cls, parts: list[Groups]) -> Groups:
        """Concatenate groups."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in _FIELDS))

    def sizes(self, table: RuleTable) -> Ints:
        """Return the number of items in the description of each group."""
        named = table.named
        release = table.release
        lengths = np.append(named.sets.lengths, 0)
        of_rules = np.append(release.antecedents.lengths + release.consequents.lengths, 0)
        values = np.bincount(named.whole, minlength=len(lengths))
        of_sets = lengths[self.place] + np.where(self.kind == REST, values[self.place], 0)
        return np.where(self.kind == RULE, of_rules[self.rule], of_sets)

    def worst_first(self, table: RuleTable) -> Groups:
        """Sort by size, then length, then the order of the file."""
        order = np.lexsort((self.absent, self.place, self.rule, self.kind, self.sizes(table), self.hi))
        return Groups(*(getattr(self, name)[order] for name in _FIELDS))


_FIELDS = ("kind", "rule", "place", "absent", "lo", "hi")


@dataclass(frozen=True, eq=False)
class RuleFindings:
    """Findings of one release, written out on demand."""

    table: RuleTable
    groups: Groups
    index: int

    def event(self, index: int) -> ItemEvent:
        """Return the event of group ``index``."""
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
        """Return group ``index`` with its derivation."""
        event = self.event(index)
        count = Bound(int(self.groups.lo[index]), int(self.groups.hi[index]))
        story = Story(self.table)
        same = None
        if self.groups.kind[index] == RULE:
            rule = int(self.groups.rule[index])
            last = [exceptions_of_rule(story, rule, count)]
            same = self._other_value(rule)
        elif self.groups.kind[index] == REST:
            last = self._rest(story, int(self.groups.place[index]), event, count)
        else:
            last = PatternStory(story).last_steps(event, count)
        statement = f"{render_people(count)} {describe_event(event, count)}."
        proof = certificate(event, count, steps=story.proof)
        return Finding(CODE, event, count, statement, story.citations(self.index), story.all_steps(last), same, proof)

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


def exceptions_of_rule(story: Story, rule: int, count: Bound) -> Step:
    """Return the step to the people who have the antecedent of a rule and lack its consequent."""
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


class PatternStory:
    """Derivation of a pattern's bounds, one absent item after the other."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.table = story.table
        self.number = {name: item for item, name in enumerate(self.table.named.items.names)}
        self._seen: dict[tuple[tuple[int, ...], tuple[int, ...]], Bound] = {}

    def last_steps(self, event: ItemEvent, count: Bound) -> list[Step]:
        """Return the last steps; what they rest on is explained before them."""
        has = tuple(sorted(self.number[name] for name in event.present))
        lacks = tuple(sorted(self.number[name] for name in event.absent))
        self.bounds(has, lacks)
        return [remark(f"So {render_people(count)} {describe_event(event, count)}.")]

    def bounds(self, has: tuple[int, ...], lacks: tuple[int, ...]) -> Bound:
        """Return bounds on a pattern, and add the steps that prove them."""
        if (has, lacks) in self._seen:
            return self._seen[has, lacks]
        if not lacks:
            found = self.story.bounds(self.table.named.find(has))
        elif len(lacks) == 1 and (rule := self._tying_rule(has, lacks[0])) >= 0:
            found = _lacking(self.table, rule)
            self.story.steps.append(exceptions_of_rule(self.story, rule, found))
        else:
            found = self._difference(has, lacks)
        self._seen[has, lacks] = found
        return found

    def _difference(self, has: tuple[int, ...], lacks: tuple[int, ...]) -> Bound:
        best = min(range(len(lacks)), key=lambda j: self._width(has, lacks, j))
        rest = lacks[:best] + lacks[best + 1 :]
        more = tuple(sorted((*has, lacks[best])))
        wider = self.bounds(has, rest)
        narrower = self.bounds(more, rest)
        found = wider - narrower
        # Each end may come from another item; the other orders are shown only if needed.
        for j in range(len(lacks)):
            other = lacks[:j] + lacks[j + 1 :]
            shown = self._quiet(has, other) - self._quiet(tuple(sorted((*has, lacks[j]))), other)
            if j != best and (shown.lo > found.lo or shown.hi < found.hi):
                self.bounds(has, other)
                self.bounds(tuple(sorted((*has, lacks[j]))), other)
                found = Bound(max(found.lo, shown.lo), min(found.hi, shown.hi))
        if len(lacks) > 1 or not found.is_exact:
            names = self.table.named.items.names
            event = ItemEvent(tuple(names[i] for i in has), tuple(names[i] for i in lacks))
            those = f"Those who have {self._words(event)}"
            self.story.steps.append(remark(f"{those}: {_minus(wider, narrower)}, that is {render_bound(found)}."))
        return found

    def _words(self, event: ItemEvent) -> str:
        has = join_names(event.present, "and") if event.present else "anything"
        return f"{has} without {join_names(event.absent, 'or')}"

    def _width(self, has: tuple[int, ...], lacks: tuple[int, ...], j: int) -> int:
        rest = lacks[:j] + lacks[j + 1 :]
        shown = self._quiet(has, rest) - self._quiet(tuple(sorted((*has, lacks[j]))), rest)
        return shown.hi - shown.lo

    def _quiet(self, has: tuple[int, ...], lacks: tuple[int, ...]) -> Bound:
        """Return the bounds of a pattern without adding steps."""
        if not lacks:
            place = self.table.named.find(has)
            return self.table.bound(place)
        options = []
        if len(lacks) == 1 and (rule := self._tying_rule(has, lacks[0])) >= 0:
            options.append(_lacking(self.table, rule))
        for j in range(len(lacks)):
            rest = lacks[:j] + lacks[j + 1 :]
            options.append(self._quiet(has, rest) - self._quiet(tuple(sorted((*has, lacks[j]))), rest))
        return Bound(max(one.lo for one in options), min(one.hi for one in options))

    def _tying_rule(self, has: tuple[int, ...], lacks: int) -> int:
        """Return a rule tighter than its two numbers, or -1."""
        named = self.table.named
        whole = named.find(has)
        both = named.find((*has, lacks))
        rules = np.flatnonzero((named.whole == whole) & (named.both == both))
        if len(rules) == 0:
            return -1
        tied = _lacking(self.table, int(rules[0]))
        apart = self.table.bound(whole) - self.table.bound(both)
        return int(rules[0]) if tied.lo > apart.lo or tied.hi < apart.hi else -1


def _lacking(table: RuleTable, rule: int) -> Bound:
    lo, hi = table.lacking(np.array([rule]))
    return Bound(int(lo[0]), int(hi[0]))


def run(target: Target) -> AttackRun:
    """Find all small groups of exceptions, and shortest small patterns."""
    release = target.release
    assert isinstance(release, Rules)
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
    found = [_find_exceptions(table, target.policy.k), _find_rest(table, target.policy.k)]
    patterns = _find_patterns(table, target)
    if patterns.impossible >= 0:
        _refuse(table, patterns.impossible)
    if patterns.stopped:
        status = "stopped"
        reason = "the time limit was reached; findings so far are kept"
    if patterns.left_open:
        undecided = patterns.left_open
        reason = reason or f"{patterns.left_open:,} long patterns were not examined"
    found.append(Groups.of_patterns(patterns))
    findings = RuleFindings(table, Groups.concatenate(found).worst_first(table), target.index)
    target.progress(1.0)
    groups = findings.groups
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


def _find_exceptions(table: RuleTable, k: int) -> Groups:
    lo, hi = table.lacking(np.arange(len(table.release)))
    small = np.flatnonzero((lo > 0) & (hi < k))
    return Groups.of_rules(small, lo[small], hi[small])


def _find_rest(table: RuleTable, k: int) -> Groups:
    """Return antecedents with few people outside their rules' values."""
    if not _has_exclusive_consequents(table.release):
        return Groups.of_rules(*(np.empty(0, np.int64),) * 3)
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
    return Groups.of_rest(several[small], lo[small], hi[small])


def _has_exclusive_consequents(release: Rules) -> bool:
    pairs = release.items.pairs
    column = " & ".join(release.header.sa)
    if pairs is None or not column or not bool((release.consequents.lengths == 1).all()):
        return False
    return all(pairs[item][0] == column for item in np.unique(release.consequents.members).tolist())


def _find_patterns(table: RuleTable, target: Target) -> SmallPatterns:
    named = table.named
    # With two values of the SA, lacking one is having the other, which is a set of its own.
    may_lack = np.ones(len(named.items), np.bool_)
    two_values = len(named.values) == 2
    may_lack[named.values if two_values else np.empty(0, np.int64)] = False
    plain = np.ones(len(named.sets), np.bool_)
    if named.nobody >= 0:
        plain[named.nobody] = len(table.release) == 0
    if two_values:
        plain[_find_sets_of_exceptions(table)] = False
    found = PatternSearch(table, target.policy.k, may_lack, target.limits).run(plain)
    return _drop_exceptions(table, found)


def _find_sets_of_exceptions(table: RuleTable) -> Ints:
    """Return antecedents with the only other value of a rule."""
    children = table.named.children
    published = np.isin(children, table.named.both)
    return children[:, ::-1][published & ~published[:, ::-1]]


def _drop_exceptions(table: RuleTable, found: SmallPatterns) -> SmallPatterns:
    """Drop the patterns that are just the exceptions of one rule."""
    release = table.release
    named = table.named
    single = release.consequents.lengths == 1
    items = release.consequents.members[release.consequents.offsets[:-1][single]] if len(release) else np.empty(0, np.int64)
    told = set(zip(named.both[single].tolist(), items.tolist(), strict=True))
    kept = np.ones(len(found.place), np.bool_)
    for index in np.flatnonzero(np.bitwise_count(found.absent.astype(np.uint64)) == 1).tolist():
        position = int(found.absent[index]).bit_length() - 1
        kept[index] = (int(found.place[index]), int(named.sets[int(found.place[index])][position])) not in told
    columns = (found.place[kept], found.absent[kept], found.lo[kept], found.hi[kept])
    return SmallPatterns(*columns, found.left_open, found.stopped, found.impossible)


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
