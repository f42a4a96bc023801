"""Checks of sentences, by writing them again from the certificate.

The wording is in :mod:`tacit.model.words`, which infers nothing; what the words are about is read from the releases again. Bounds on
rules (R01) are redone step by step (:class:`tacit.checker.rules.World`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from tacit.checker.lines import JointBook, name_of
from tacit.checker.rules import MOST_ITEMS, Bounds, Reject, RuleBook, Set, World
from tacit.model.finding import Change, ItemEvent, render_bound, render_steps
from tacit.model.numbers import Bound, render_decimal
from tacit.model.release import Release
from tacit.model.words import (
    describe_event,
    describe_printed,
    explain_joint,
    explain_rule_sum,
    join_names,
    render_people,
    state_joint,
)

Finding = Mapping[str, Any]


def read_event(told: Mapping[str, Any]) -> ItemEvent:
    """Return the event of a finding in canonical form."""
    event = ItemEvent(
        present=tuple(told["present"]),
        absent=tuple(told["absent"]),
        not_all=tuple(told.get("not_all", ())),
        inside=tuple(told.get("inside", ())),
        outside=tuple(told.get("outside", ())),
        changes=tuple(_read_change(one) for one in told.get("changes", ())),
    )
    if event.to_dict() != dict(told):
        raise Reject("its event is not written as an audit writes it")
    return event


def _read_change(told: Mapping[str, Any]) -> Change:
    if told.get("changed"):
        return Change(told["column"])
    before, after = ((tuple(told[half]["present"]), tuple(told[half]["absent"])) for half in ("before", "after"))
    return Change(told["column"], before, after)


def check_statement(finding: Finding, names: Sequence[str]) -> None:
    """Raise unless the statement matches event and count."""
    if finding["statement"] != state_joint(read_event(finding["event"]), Bound(*finding["count"]), names):
        raise Reject("its sentence does not say what its event and count say")


def check_joint_words(finding: Finding, book: JointBook, names: Sequence[str]) -> None:
    """Raise unless the words of X01 match its certificate."""
    check_statement(finding, names)
    if tuple(finding["steps"]) != render_steps(explain_joint(finding["certificate"], book.look_up)):
        raise Reject("its steps do not say what its certificate says")


def population_names(releases: Sequence[Release], population: Sequence[int]) -> list[str]:
    """Return the default names of populations."""
    owner = list(population) or list(range(len(releases)))
    out = []
    for number in sorted(set(owner)):
        own = [place for place, one in enumerate(owner) if one == number]
        out.append(name_of(releases[own[0]], own[0]) if len(own) == 1 else f"group {number + 1}")
    return out


_MOST_STEPS = 40  #: Derivations of more steps than this are not written out.


def check_rules(finding: Mapping[str, Any], book: RuleBook, cited: Sequence[int | str]) -> Bounds:
    """Return bounds proved by a certificate; check its words."""
    event = finding["event"]
    present, absent, not_all = (frozenset(event.get(key, ())) for key in ("present", "absent", "not_all"))
    if len(absent) > MOST_ITEMS or (absent and not_all):
        raise Reject("its event is too long to check")
    world = World(book, cited)
    for step in finding["certificate"]["steps"]:
        world.replay(step)
    if "same_people" in finding:
        others = frozenset(book.values) - absent
        same = {"present": sorted(present | others), "absent": []}
        if len(book.values) != 2 or len(others) != 1 or finding["same_people"] != same:
            raise Reject("the same people are described wrongly")
    _Words(finding, book, world).check()
    return world.people(present, absent, not_all)


def check_rule_citations(because: Sequence[Mapping[str, Any]], book: RuleBook) -> None:
    """Raise unless header entries and lines are cited in order."""
    order = sorted(because, key=lambda one: (0, str(one["cell"])) if "cell" in one else (1, f"{book.by_line[one['line']]:020}"))
    places = [one.get("line", one.get("cell")) for one in because]
    if list(because) != order or len(set(places)) < len(places) or any("weight" in one for one in because):
        raise Reject("the lines it cites are not those of its steps, each once and in order")


class _Words:
    def __init__(self, finding: Mapping[str, Any], book: RuleBook, world: World) -> None:
        self.finding = finding
        self.book = book
        self.world = world
        event = finding["event"]
        self.present, self.absent = (frozenset(event[key]) for key in ("present", "absent"))
        self.not_all = frozenset(event.get("not_all", ()))
        self.count = Bound(*finding["count"])
        self.entries: list[Mapping[str, Any]] = list(finding["certificate"]["steps"])
        self.forms = [frozenset(self._forms(place)) for place in range(len(self.entries))]
        self._told: dict[tuple[Set, Set], Bound] = {}

    def check(self) -> None:
        steps = list(self.finding["steps"])
        if not steps or len(set(steps)) < len(steps):
            raise Reject("it has no steps, or one twice")
        event = read_event(self.finding["event"])
        summed = explain_rule_sum(
            event,
            self.count,
            self.entries,
            release=self.book.release,
            values=self.book.values,
            index_of=self.book.by_line.__getitem__,
        )
        if summed is not None:
            if tuple(steps) != render_steps(summed):
                raise Reject("its steps do not say what its certificate says")
            return
        *before, last = steps
        if last not in self._last_forms():
            raise Reject("its last step does not say what its event and count say")
        follows = "The bounds follow from the cited lines in"
        many = range(_MOST_STEPS + 1, 3 * len(self.entries) + 1)
        if len(before) == 1 and any(before[0] == f"{follows} {number:,} steps, too many to write out here." for number in many):
            return
        known = frozenset().union(*self.forms)
        if any(step not in known and not self._is_between(step) for step in before):
            raise Reject("it has a step that its certificate does not make")
        if any(not forms & set(before) for forms in self.forms):
            raise Reject("a step of its certificate is not explained")
        needs_difference = len(self.absent) > 1 and last == self._conclusion()
        if needs_difference and not set(before) & set(self._differences(self.present, self.absent)):
            raise Reject("a step of its certificate is not explained")

    def _forms(self, place: int) -> Iterator[str]:
        entry = self.entries[place]
        side, value = ("at least", entry["at_least"]) if "at_least" in entry else ("at most", entry["at_most"])
        says = f"{side} {value:,} {'person has' if value == 1 else 'people have'} {_names(entry['items'])}"
        for law in self._laws(entry):
            yield law if law.endswith(".") else f"{law}{says}."
            for other in self.entries:
                same = all(other.get(key) == entry.get(key) for key in ("items", "by", "line", "from"))
                ends = {**entry, **other}
                if not same or law.endswith(".") or "at_least" not in ends or "at_most" not in ends:
                    continue
                if ends["at_least"] <= ends["at_most"]:
                    count = Bound(ends["at_least"], ends["at_most"])
                    yield f"{law}{render_people(count)} {'has' if count == Bound(1, 1) else 'have'} {_names(entry['items'])}."

    def _laws(self, entry: Mapping[str, Any]) -> Iterator[str]:
        """Yield the beginnings of a sentence about an entry.

        A beginning that ends with a full stop is the whole sentence.
        """
        by = entry["by"]
        items = frozenset(entry["items"])
        low = "at_least" in entry
        if by in ("count", "antecedent"):
            yield self._line(entry)
        elif by == "confidence":
            yield f"The confidence of line {entry['line']}, {self._interval(entry['line'])}, then says: "
        elif by == "inside":
            larger, smaller = (entry["from"], entry["items"]) if low else (entry["items"], entry["from"])
            yield f"Everyone with {_names(larger)} has {_names(smaller)}: "
        elif by == "n":
            yield f"There are {entry['at_least' if low else 'at_most']:,} people in all (n)."
        elif by == "distribution":
            yield "The published distribution says: "
        elif by == "values":
            yield f"Each person has one of the {len(self.book.values):,} values of {self.book.sensitive}: "
        elif by == "missing":
            value = min(items - frozenset(entry["from"]))
            yield f"The list is complete and has no rule from {_names(entry['from'])} to {value}: "
        elif by == "groups":
            for size in range(len(items)):
                for has in combinations(sorted(items), size):
                    who = f"with {join_names(has, 'and')}" if has else "of all people"
                    yield f"Those {who} without {join_names(sorted(items - set(has)), 'or')} cannot be fewer than 0: "

    def _line(self, entry: Mapping[str, Any]) -> str:
        release = self.book.release
        index = self.book.by_line[entry["line"]]
        count = release.count(index) if entry["by"] == "count" else release.whole(index)
        withheld = release.support is None and not release.count(index).is_exact
        printed = release.confidence is None or release.confidence.digits[index] >= 0
        if withheld or (entry["by"] == "antecedent" and not printed):
            how = ", as far as the thresholds show"
        elif entry["by"] == "antecedent":
            how = ", its count divided by its confidence"
        else:
            how = "" if release.support is None else describe_printed(release.support.text(index), release.count(index))
        have = "has" if count == Bound(1, 1) else "have"
        return f"Line {entry['line']}: {render_people(count)} {have} {_names(entry['items'])}{how}."

    def _interval(self, number: int) -> str:
        line = self.book.line(number)
        return f"from {render_decimal(float(line.low), 6)} to {render_decimal(float(line.high), 6)}"

    def _last_forms(self) -> Iterator[str]:
        event = self.finding["event"]
        if event["present"] and event["absent"]:
            rest = f"those with {join_names(event['present'], 'and')} less those with {join_names(event['absent'], 'or')}"
            yield f"Nobody has two values of {self.book.sensitive}: {rest} are {render_people(self.count)}."
        if self.not_all:
            yield from self._exceptions(self.present, self.present | self.not_all, self.count)
            return
        yield self._conclusion()
        if len(self.absent) == 1:
            yield from self._exceptions(self.present, self.present | self.absent, self.count)

    def _conclusion(self) -> str:
        return f"So {render_people(self.count)} {describe_event(read_event(self.finding['event']), self.count)}."

    def _exceptions(self, has: Set, whole: Set, count: Bound | None = None) -> Iterator[str]:
        wider = self._bound(has)
        narrower = self._bound(whole)
        difference = wider - narrower
        if count in (None, difference):
            those = f"Those with {_names(has)} less those with {_names(whole)}"
            yield f"{those}: {_ends(wider)} - {_ends(narrower)}, that is {render_people(difference)}."
        tied = Bound(*self.world.people(has, frozenset(), whole - has))
        if count not in (None, tied):
            return
        then = f"{'all of ' if len(whole - has) > 1 else ''}{join_names(sorted(whole - has), 'and')}"
        for number, line in self.world.by_number.items():
            if (line.has, line.all) == (has, whole):
                law = f"The confidence of line {number}, {self._interval(number)}, ties the two numbers to each other"
                yield f"{law}: those with {_names(has)} but not {then} are {render_people(tied)}."

    def _is_between(self, step: str) -> bool:
        """Return True if a step is about a difference."""
        items = self.present | self.absent
        for line in self.world.by_number.values():
            if line.all <= items and len(line.all - line.has) == 1 and step in self._exceptions(line.has, line.all):
                return True
        for size in range(1, len(items) + 1):
            for lacks in combinations(sorted(items), size):
                rest = sorted(items - set(lacks))
                for few in range(len(rest) + 1):
                    for has in combinations(rest, few):
                        if step.startswith(f"{_those_without(has, lacks)}: "):
                            return step in self._differences(frozenset(has), frozenset(lacks))
        return False

    def _differences(self, has: Set, lacks: Set) -> Iterator[str]:
        for item in sorted(lacks):
            wider = self._pattern(has, lacks - {item})
            narrower = self._pattern(has | {item}, lacks - {item})
            found = render_bound(self._pattern(has, lacks))
            yield f"{_those_without(has, lacks)}: {_ends(wider)} - {_ends(narrower)}, that is {found}."

    def _pattern(self, has: Set, lacks: Set) -> Bound:
        """Return bounds on a pattern, possibly below 0."""
        if not lacks:
            return self._bound(has)
        if (has, lacks) not in self._told:
            parts = [self._pattern(has, lacks - {item}) - self._pattern(has | {item}, lacks - {item}) for item in lacks]
            if len(lacks) == 1 and any((line.has, line.all) == (has, has | lacks) for line in self.world.lines):
                parts.append(Bound(*self.world.people(has, lacks, frozenset())))
            self._told[has, lacks] = Bound(max(part.lo for part in parts), min(part.hi for part in parts))
        return self._told[has, lacks]

    def _bound(self, items: Set) -> Bound:
        return Bound(self.world.lo[items], self.world.hi[items])


def _names(items: Any) -> str:
    return join_names(sorted(items), "and") if items else "nothing asked of them"


def _those_without(has: Any, lacks: Any) -> str:
    return f"Those who have {join_names(sorted(has), 'and') if has else 'anything'} without {join_names(sorted(lacks), 'or')}"


def _ends(bound: Bound) -> str:
    return f"{bound.lo:,}" if bound.is_exact else f"[{bound.lo:,} to {bound.hi:,}]"
