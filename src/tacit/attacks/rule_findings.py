"""What rules give away, as columns, and one by one as findings with their arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.attacks.rule_numbers import Whole
from tacit.attacks.rule_patterns import SmallPatterns
from tacit.attacks.rule_steps import Story
from tacit.attacks.rule_table import CODE, RuleTable
from tacit.model.bound import Bound
from tacit.model.certificate import certificate
from tacit.model.event import ItemEvent
from tacit.model.finding import Finding
from tacit.wording import listed, people, sentence

#: What a group is: the exceptions of a rule, a pattern on a set, or who has none of the values of several rules.
RULE, PATTERN, REST = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Groups:
    """Small groups as columns: what each is, the rule (-1: none) or set that it is about, bits of absent items, and bounds on its people."""

    kind: Whole
    rule: Whole
    place: Whole
    absent: Whole
    lo: Whole
    hi: Whole

    @classmethod
    def rules(cls, rules: Whole, lo: Whole, hi: Whole) -> Groups:
        """The exceptions of these rules."""
        nothing = np.full(len(rules), -1)
        return cls(np.full(len(rules), RULE), rules, nothing, np.zeros(len(rules), np.int64), lo, hi)

    @classmethod
    def rest(cls, places: Whole, lo: Whole, hi: Whole) -> Groups:
        """Who has these antecedents and none of the values of their rules."""
        return cls(np.full(len(places), REST), np.full(len(places), -1), places, np.zeros(len(places), np.int64), lo, hi)

    @classmethod
    def patterns(cls, found: SmallPatterns) -> Groups:
        """Patterns on sets."""
        size = len(found.place)
        return cls(np.full(size, PATTERN), np.full(size, -1), found.place, found.absent, found.lo, found.hi)

    @classmethod
    def joined(cls, parts: list[Groups]) -> Groups:
        """All parts one after the other."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in _FIELDS))

    def sizes(self, table: RuleTable) -> Whole:
        """How many items each group speaks of."""
        named, release = table.named, table.release
        lengths = np.append(named.sets.lengths, 0)
        of_rules = np.append(release.antecedents.lengths + release.consequents.lengths, 0)
        values = np.bincount(named.whole, minlength=len(lengths))
        of_sets = lengths[self.place] + np.where(self.kind == REST, values[self.place], 0)
        return np.where(self.kind == RULE, of_rules[self.rule], of_sets)

    def worst_first(self, table: RuleTable) -> Groups:
        """Smallest groups first, then shortest descriptions, then single rules, in the order of the file."""
        order = np.lexsort((self.absent, self.place, self.rule, self.kind, self.sizes(table), self.hi))
        return Groups(*(getattr(self, name)[order] for name in _FIELDS))


_FIELDS = ("kind", "rule", "place", "absent", "lo", "hi")


@dataclass(frozen=True, eq=False)
class RuleFindings:
    """The groups of one release, written out when they are looked at."""

    table: RuleTable
    groups: Groups
    index: int

    def event(self, index: int) -> ItemEvent:
        """What group ``index`` is about."""
        named, release = self.table.named, self.table.release
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
        """Group ``index`` with its derivation."""
        event = self.event(index)
        count = Bound(int(self.groups.lo[index]), int(self.groups.hi[index]))
        story = Story(self.table)
        same = None
        if self.groups.kind[index] == RULE:
            rule = int(self.groups.rule[index])
            last, same = [exceptions_of_rule(story, rule, count)], self._other_value(rule)
        elif self.groups.kind[index] == REST:
            last = self._rest(story, int(self.groups.place[index]), event, count)
        else:
            last = PatternStory(story).told(event, count)
        statement = f"{people(count)} {sentence(event, count)}."
        proof = certificate(event, count, steps=story.proof)
        return Finding(CODE, event, count, statement, story.citations(self.index), story.told(last), same, proof)

    def _other_value(self, rule: int) -> ItemEvent | None:
        """The same people by the value that they have, where the SA has only two."""
        named = self.table.named
        if len(named.values) != 2:
            return None
        has = self.table.release.antecedents[rule].tolist()
        other = [value for value in named.values.tolist() if value != self.table.release.consequents[rule][0]]
        return ItemEvent(tuple(named.items.names[item] for item in [*has, *other]))

    def _rest(self, story: Story, place: int, event: ItemEvent, count: Bound) -> list[str]:
        named = self.table.named
        story.bounds(place)
        for rule in np.flatnonzero(named.whole == place).tolist():
            story.cite(rule)
            story.bounds(int(named.both[rule]))
        column = " & ".join(self.table.release.header.sa)
        return [
            f"Nobody has two values of {column}: those with {listed(event.present, 'and')} less those with "
            f"{listed(event.absent, 'or')} are {people(count)}."
        ]


def exceptions_of_rule(story: Story, rule: int, count: Bound) -> str:
    """How many people have the antecedent of a rule and lack its consequent, and why."""
    table = story.table
    named = table.named
    whole, both = story.bounds(int(named.whole[rule])), story.bounds(int(named.both[rule]))
    line = story.cite(rule)
    has, has_both = story.names(int(named.whole[rule])), story.names(int(named.both[rule]))
    then = tuple(sorted(named.items.names[item] for item in table.release.consequents[rule]))
    if (whole.lo - both.hi, whole.hi - both.lo) == (count.lo, count.hi):
        return f"Those with {has} less those with {has_both}: {_minus(whole, both)}, that is {people(count)}."
    return (
        f"The confidence of {line}, {story.interval(rule)}, ties the two numbers to each other: "
        f"those with {has} but not {'all of ' if len(then) > 1 else ''}{listed(then, 'and')} are {people(count)}."
    )


def _minus(whole: Bound, part: Bound) -> str:
    """``81 - 80``, with bounds in brackets."""
    left, right = (f"{one.lo:,}" if one.is_exact else f"[{one.lo:,} to {one.hi:,}]" for one in (whole, part))
    return f"{left} - {right}"


class PatternStory:
    """The people with some items and without others, one absent item after the other."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.table = story.table
        self.number = {name: item for item, name in enumerate(self.table.named.items.names)}
        self._seen: dict[tuple[tuple[int, ...], tuple[int, ...]], Bound] = {}

    def told(self, event: ItemEvent, count: Bound) -> list[str]:
        """The last steps; what they rest on is told before them."""
        has = tuple(sorted(self.number[name] for name in event.present))
        lacks = tuple(sorted(self.number[name] for name in event.absent))
        self.bounds(has, lacks)
        return [f"So {people(count)} {sentence(event, count)}."]

    def bounds(self, has: tuple[int, ...], lacks: tuple[int, ...]) -> Bound:
        """Bounds on a pattern, told."""
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
        """A pattern as one with an absent item less, less those who have it; whichever item gives the tightest bounds."""
        best = min(range(len(lacks)), key=lambda j: self._width(has, lacks, j))
        rest = lacks[:best] + lacks[best + 1 :]
        more = tuple(sorted((*has, lacks[best])))
        wider, narrower = self.bounds(has, rest), self.bounds(more, rest)
        found = wider - narrower
        # Each end may come from another item; the other orders are told only where they are needed.
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
            self.story.steps.append(f"Those who have {self._words(event)}: {_minus(wider, narrower)}, that is {_range(found)}.")
        return found

    def _words(self, event: ItemEvent) -> str:
        has = listed(event.present, "and") if event.present else "anything"
        return f"{has} without {listed(event.absent, 'or')}"

    def _width(self, has: tuple[int, ...], lacks: tuple[int, ...], j: int) -> int:
        rest = lacks[:j] + lacks[j + 1 :]
        shown = self._quiet(has, rest) - self._quiet(tuple(sorted((*has, lacks[j]))), rest)
        return shown.hi - shown.lo

    def _quiet(self, has: tuple[int, ...], lacks: tuple[int, ...]) -> Bound:
        """Bounds on a pattern, not told."""
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
        """The rule from these items to the other, where it is tighter than its two numbers; -1 when there is none."""
        named = self.table.named
        whole, both = named.find(has), named.find((*has, lacks))
        rules = np.flatnonzero((named.whole == whole) & (named.both == both))
        if len(rules) == 0:
            return -1
        tied, apart = _lacking(self.table, int(rules[0])), self.table.bound(whole) - self.table.bound(both)
        return int(rules[0]) if tied.lo > apart.lo or tied.hi < apart.hi else -1


def _lacking(table: RuleTable, rule: int) -> Bound:
    lo, hi = table.lacking(np.array([rule]))
    return Bound(int(lo[0]), int(hi[0]))


def _range(bound: Bound) -> str:
    return f"{bound.lo:,}" if bound.is_exact else f"{bound.lo:,} to {bound.hi:,}"
