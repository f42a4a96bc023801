"""Re-checks findings about rules: their certificates, and their words, which are written again from the certificate and compared.

Re-checks the sentences of findings about groups: each is written again from its event and its certificate, and compared.

How sentences are worded stands in :mod:`tacit.model.words`, which infers nothing; what they are about is read from the releases anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from tacit.checker.lines import JointBook
from tacit.checker.rules import MOST_ITEMS, Bounds, Reject, RuleBook, Set, World
from tacit.model.event import Change, ItemEvent
from tacit.model.frequencies import FrequencyTable
from tacit.model.numbers import Bound
from tacit.model.release import Itemsets, Release
from tacit.model.steps import render_steps
from tacit.model.words import Said, joint_statement, joint_steps, people, printed_as, sentence
from tacit.model.words import listed as joined

Finding = Mapping[str, Any]


def read_event(told: Mapping[str, Any]) -> ItemEvent:
    """Return the event of a finding; raise where it is not written as an audit writes it."""
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
    """Raise unless the statement of a finding says its event and its count, and nothing else."""
    if finding["statement"] != joint_statement(read_event(finding["event"]), Bound(*finding["count"]), names):
        raise Reject("its sentence does not say what its event and count say")


def check_joint_words(finding: Finding, book: JointBook, names: Sequence[str]) -> None:
    """Raise unless statement and steps of a finding of X01 say what its event and its certificate say."""
    check_statement(finding, names)

    def look_up(entry: Mapping[str, Any]) -> Said:
        said = book.statement(entry)
        number = int(entry["release"])
        release = book.releases[number]
        return Said(
            terms=said.terms,
            lo=said.lo,
            hi=said.hi,
            release=name_of(release, number),
            place=entry["line"] if "line" in entry else entry["cell"],
            what=entry["what"],
            items=entry.get("items", ()),
            printed=Bound(*said.printed),
            text=_text(release, book.by_line[number], entry),
        )

    if tuple(finding["steps"]) != render_steps(joint_steps(finding["certificate"], look_up)):
        raise Reject("its steps do not say what its certificate says")


def name_of(release: Release, number: int) -> str:
    """Return what a release is called in sentences: its file, or its number."""
    return release.source.name if release.source else f"release {number + 1}"


def population_names(releases: Sequence[Release], population: Sequence[int]) -> list[str]:
    """Return what the groups of people that releases are about are called where nobody says: their only file, or their number."""
    owner = list(population) or list(range(len(releases)))
    out = []
    for number in sorted(set(owner)):
        own = [place for place, one in enumerate(owner) if one == number]
        out.append(name_of(releases[own[0]], own[0]) if len(own) == 1 else f"group {number + 1}")
    return out


def _text(release: Release, places: Mapping[int | str, int], entry: Mapping[str, Any]) -> str:
    """What a line prints about its count."""
    place = entry["line"] if "line" in entry else entry["cell"]
    if entry["what"] != "count" or not isinstance(release, Itemsets | FrequencyTable) or place not in places:
        return ""
    return release.text(places[place])


def check_every_way_words(finding: Finding, n: int | None) -> None:
    """Raise unless the words of a finding that holds in every choice of people say what its certificate says."""
    check_statement(finding, ())
    ways, lines = finding["certificate"]["worlds"]["fit"], len(finding["because"])
    fitting = "One choice fits" if ways == 1 else f"{ways:,} choices fit"
    count = Bound(*finding["count"])
    steps = [
        f"{n} people are chosen in every possible way, one after another by their value.",
        f"{fitting} the counts, means and medians of all {lines} lines.",
        f"In {'it' if ways == 1 else 'each of them'} {people(count)} {sentence(read_event(finding['event']), count)}.",
    ]
    if list(finding["steps"]) != steps:
        raise Reject("its steps do not say what its certificate says")


_NUMBER = r"-?[\d,]+"
_ENDS = rf"({_NUMBER}|\[{_NUMBER} to {_NUMBER}\])"
_PATTERN = re.compile(rf"Those who have (.*): {_ENDS} - {_ENDS}, that is ({_NUMBER}(?: to {_NUMBER})?)\.", re.DOTALL)
_TIED = re.compile(rf"(.*) are ({_NUMBER})(?: to ({_NUMBER}))? (?:person|people)\.", re.DOTALL)
_MANY = "The bounds follow from the cited lines in "
#: Derivations of more steps than this are not written out.
_MOST_STEPS = 40


def check_rules(finding: Mapping[str, Any], book: RuleBook, cited: Sequence[int | str]) -> Bounds:
    """Bounds on the people of a finding's event, by the steps of its certificate on the lines that it cites; its words are checked, too."""
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
    """Raise unless header entries are cited before lines, both in their order, each once and without a weight."""
    order = sorted(because, key=lambda one: (0, str(one["cell"])) if "cell" in one else (1, f"{book.by_line[one['line']]:020}"))
    places = [one.get("line", one.get("cell")) for one in because]
    if list(because) != order or len(set(places)) < len(places) or any("weight" in one for one in because):
        raise Reject("the lines it cites are not those of its steps, each once and in order")


class _Words:
    """The words of one finding, and what they may be."""

    def __init__(self, finding: Mapping[str, Any], book: RuleBook, world: World) -> None:
        self.finding, self.book, self.world = finding, book, world
        event = finding["event"]
        self.present, self.absent = (frozenset(event[key]) for key in ("present", "absent"))
        self.not_all = frozenset(event.get("not_all", ()))
        self.count = Bound(*finding["count"])
        self.entries: list[Mapping[str, Any]] = list(finding["certificate"]["steps"])
        self.forms = [frozenset(self._forms(place)) for place in range(len(self.entries))]

    def check(self) -> None:
        """Raise where a step is none of those that the certificate makes, or where one of these is missing."""
        steps = list(self.finding["steps"])
        if not steps or len(set(steps)) < len(steps):
            raise Reject("it has no steps, or one twice")
        *before, last = steps
        if not self._is_last(last):
            raise Reject("its last step does not say what its event and count say")
        if before and before[0].startswith(_MANY):
            self._check_many(before)
            return
        known = frozenset().union(*self.forms)
        for step in before:
            if step not in known and not self._is_between(step):
                raise Reject("it has a step that its certificate does not make")
        if any(not forms & set(before) for forms in self.forms):
            raise Reject("a step of its certificate is not told")
        told = {match[1] for step in before if (match := _PATTERN.fullmatch(step))}
        if len(self.absent) > 1 and last.startswith("So ") and _without(self.present, self.absent) not in told:
            raise Reject("a step of its certificate is not told")

    def _check_many(self, before: Sequence[str]) -> None:
        """Steps that are too many to be written out are counted; what follows them may be differences."""
        match = re.fullmatch(rf"{_MANY}([\d,]+) steps, too many to write out here\.", before[0])
        if len(before) > 1 or match is None or not _MOST_STEPS < _int(match[1]) <= 3 * len(self.entries):
            raise Reject("it has a step that its certificate does not make")

    def _forms(self, place: int) -> Iterator[str]:
        """The sentences that may tell an entry of the certificate, alone or together with the other end of the same."""
        entry = self.entries[place]
        for law in self._laws(entry):
            yield law if law.endswith(".") else f"{law}{_says(entry)}."
            for other in self.entries:
                same = all(other.get(key) == entry.get(key) for key in ("items", "by", "line", "from"))
                ends = {**entry, **other}
                if same and "at_least" in ends and "at_most" in ends and not law.endswith(".") and _is_span(ends):
                    count = Bound(ends["at_least"], ends["at_most"])
                    yield f"{law}{people(count)} {'has' if count == Bound(1, 1) else 'have'} {_names(entry['items'])}."

    def _laws(self, entry: Mapping[str, Any]) -> Iterator[str]:
        """How the sentence about an entry begins; the whole sentence where it ends with a full stop."""
        by, items, low = entry["by"], frozenset(entry["items"]), "at_least" in entry
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
            column = " & ".join(self.book.release.header.sa)
            yield f"Each person has one of the {len(self.book.values):,} values of {column}: "
        elif by == "missing":
            value = min(items - frozenset(entry["from"]))
            yield f"The list is complete and has no rule from {_names(entry['from'])} to {value}: "
        elif by == "groups":
            for size in range(len(items)):
                for has in combinations(sorted(items), size):
                    who = f"with {joined(has, 'and')}" if has else "of all people"
                    yield f"Those {who} without {joined(sorted(items - set(has)), 'or')} cannot be fewer than 0: "

    def _line(self, entry: Mapping[str, Any]) -> str:
        release, index = self.book.release, self.book.by_line[entry["line"]]
        count = release.count(index) if entry["by"] == "count" else release.whole(index)
        withheld = release.support is None and not release.count(index).is_exact
        printed = release.confidence is None or release.confidence.digits[index] >= 0
        if withheld or (entry["by"] == "antecedent" and not printed):
            how = ", as far as the thresholds tell"
        elif entry["by"] == "antecedent":
            how = ", its count divided by its confidence"
        else:
            how = "" if release.support is None else printed_as(release.support.text(index), release.count(index))
        have = "has" if count == Bound(1, 1) else "have"
        return f"Line {entry['line']}: {people(count)} {have} {_names(entry['items'])}{how}."

    def _interval(self, number: int) -> str:
        line = self.book.line(number)
        return f"from {float(line.low):.6g} to {float(line.high):.6g}"

    def _is_last(self, step: str) -> bool:
        """Whether a step concludes the finding: by a rule, by the rest of all values, or from the differences before it."""
        event = self.finding["event"]
        column = " & ".join(self.book.release.header.sa)
        if event["present"] and event["absent"]:
            rest = f"those with {joined(event['present'], 'and')} less those with {joined(event['absent'], 'or')}"
            if step == f"Nobody has two values of {column}: {rest} are {people(self.count)}.":
                return True
        if self.not_all:
            return self._is_exception(step, self.present, self.present | self.not_all, self.count)

        if step == f"So {people(self.count)} {sentence(read_event(event), self.count)}.":
            return True
        return len(self.absent) == 1 and self._is_exception(step, self.present, self.present | self.absent, self.count)

    def _is_exception(self, step: str, has: Set, whole: Set, count: Bound | None) -> bool:
        """Whether a step tells how many people have the antecedent of a rule and lack its consequent."""
        wider = Bound(self.world.lo[has], self.world.hi[has])
        narrower = Bound(self.world.lo[whole], self.world.hi[whole])
        difference = Bound(wider.lo - narrower.hi, wider.hi - narrower.lo)
        if count in (None, difference) and step == (
            f"Those with {_names(has)} less those with {_names(whole)}: {_ends(wider)} - {_ends(narrower)}, that is {people(difference)}."
        ):
            return True
        match = _TIED.fullmatch(step)
        told = Bound(_int(match[2]), _int(match[3] or match[2])) if match else None
        if match is None or told is None or count not in (None, told):
            return False
        then = joined(sorted(whole - has), "and")
        what = f"those with {_names(has)} but not {'all of ' if len(whole - has) > 1 else ''}{then}"
        lo, hi = self.world.people(has, frozenset(), whole - has)
        return any(
            match[1] == f"The confidence of line {number}, {self._interval(number)}, ties the two numbers to each other: {what}"
            and told.lo <= lo <= hi <= told.hi
            and step == f"{match[1]} are {people(told)}."
            for number, line in self.world.by_number.items()
            if (line.has, line.all) == (has, whole)
        )

    def _is_between(self, step: str) -> bool:
        """Whether a step on the way tells a difference on the items of the event, and no more than follows."""
        items = self.present | self.absent
        if any(
            self._is_exception(step, line.has, line.all, None)
            for line in self.world.by_number.values()
            if line.all <= items and len(line.all - line.has) == 1
        ):
            return True
        match = _PATTERN.fullmatch(step)
        if match is None:
            return False
        for size in range(len(items) + 1):
            for has in combinations(sorted(items), size):
                rest = sorted(items - set(has))
                for many in range(1, len(rest) + 1):
                    for lacks in combinations(rest, many):
                        if match[1] == _without(has, lacks):
                            return self._is_difference(match, frozenset(has), frozenset(lacks))
        return False

    def _is_difference(self, match: re.Match[str], has: Set, lacks: Set) -> bool:
        """Whether the numbers of a difference follow from those of the two groups, and are no tighter than the certificate shows."""
        left, right, told = (_read(text) for text in (match[2], match[3], match[4]))
        lo, hi = self.world.people(has, lacks, frozenset())
        operands = [
            (self.world.people(has, lacks - {item}, frozenset()), self.world.people(has | {item}, lacks - {item}, frozenset()))
            for item in lacks
        ]
        known = any(
            left.lo <= wider[0] and wider[1] <= left.hi and right.lo <= narrower[0] and narrower[1] <= right.hi
            for wider, narrower in operands
        )
        fits = left.lo - right.hi <= told.lo <= told.hi <= left.hi - right.lo
        return known and fits and told.lo <= lo and hi <= told.hi


def _says(entry: Mapping[str, Any]) -> str:
    """The bound of an entry: "at least 5 people have a"."""
    side, value = ("at least", entry["at_least"]) if "at_least" in entry else ("at most", entry["at_most"])
    many = "person has" if value == 1 else "people have"
    return f"{side} {value:,} {many} {_names(entry['items'])}"


def _is_span(ends: Mapping[str, Any]) -> bool:
    return bool(ends["at_least"] <= ends["at_most"])


def _names(items: Any) -> str:
    return joined(sorted(items), "and") if items else "nothing asked of them"


def _without(has: Any, lacks: Any) -> str:
    return f"{joined(sorted(has), 'and') if has else 'anything'} without {joined(sorted(lacks), 'or')}"


def _ends(bound: Bound) -> str:
    return f"{bound.lo:,}" if bound.is_exact else f"[{bound.lo:,} to {bound.hi:,}]"


def _int(text: str) -> int:
    return int(text.replace(",", ""))


def _read(text: str) -> Bound:
    """A number, or two with "to" between them, in brackets or not."""
    numbers = [_int(part) for part in re.findall(_NUMBER, text)]
    return Bound(numbers[0], numbers[-1])
