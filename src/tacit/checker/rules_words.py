"""Re-checks findings about rules: their certificates, and their words, which have known forms and say no more than was shown in numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tacit.checker.rules import MOST_ITEMS, Bounds, Reject, RuleBook, Set, World

_NUMBER = r"-?[\d,]+"
_RANGE = rf"(?:{_NUMBER}|{_NUMBER} to {_NUMBER}) (?:person|people)"
_BRACKETS = rf"(?:{_NUMBER}|\[{_NUMBER} to {_NUMBER}\])"
_HOW = r"(?:, its count divided by its confidence|, as far as the thresholds tell|, printed as [\d.]+)?"
_LINE = re.compile(rf"Line (\d+): ({_NUMBER})(?: to ({_NUMBER}))? (?:person|people) (?:has|have) (.*?){_HOW}\.", re.DOTALL)
_SIDE = re.compile(r".*: (at least|at most) ([\d,]+) (?:person|people) (?:has|have) (.*)\.", re.DOTALL)
_BOTH = re.compile(r".*: ([\d,]+)(?: to ([\d,]+))? (?:person|people) (?:has|have) (.*)\.", re.DOTALL)
_MINUS = re.compile(
    rf"Those .*: ({_NUMBER}|\[{_NUMBER} to {_NUMBER}\]) - ({_NUMBER}|\[{_NUMBER} to {_NUMBER}\]), that is (.*?)(?: person| people)?\.",
    re.DOTALL,
)
_PEOPLE = re.compile(rf"There are ({_NUMBER}) people in all \(n\)\.")
_BEGINNINGS = ("The confidence", "Everyone", "The published", "Each person", "The list", "Those ")
#: The beginnings of steps that say "at least" or "at most", and of the other steps.
_LAWS = (
    r"The confidence of line \d+, from [\d.e-]+ to [\d.e-]+, then says: ",
    r"Everyone with .* has .*: ",
    r"The published distribution says: ",
    r"Each person has one of the [\d,]+ values of .*: ",
    r"The list is complete and has no rule from .* to .*: ",
    r"Those .* without .* cannot be fewer than 0: ",
)
_FORMS = tuple(
    re.compile(form, re.DOTALL)
    for form in (
        *(f"{law}(?:(?:at least|at most) {_NUMBER} (?:person|people)|{_RANGE}) (?:has|have) .*" for law in _LAWS),
        _LINE.pattern,
        _MINUS.pattern,
        _PEOPLE.pattern,
        rf"The confidence of line \d+, from [\d.e-]+ to [\d.e-]+, ties the two numbers to each other: those with .* are {_RANGE}\.",
        rf"Nobody has two values of .*: those with .* less those with .* are {_RANGE}\.",
        rf"So {_RANGE} .*\.",
        r"The bounds follow from the cited lines in [\d,]+ steps, too many to write out here\.",
    )
)


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
    _check_words(finding, book, {items: (world.lo[items], world.hi[items]) for items in {*world.lo, *world.hi}})
    return world.people(present, absent, not_all)


def _check_words(finding: Mapping[str, Any], book: RuleBook, shown: Mapping[Set, Bounds]) -> None:
    """Raise where a step says more than the bounds that were shown, or prints another number than its line."""
    if not finding["steps"]:
        raise Reject("it has no steps")
    named = {_listed(items): (items, bounds) for items, bounds in shown.items()}
    for step in finding["steps"]:
        _check_step(step, book, named)
    lo, hi = finding["count"]
    number = f"{lo:,}" if lo == hi else f"{lo:,} to {hi:,}"
    if f" {number} {'person' if (lo, hi) == (1, 1) else 'people'}" not in finding["steps"][-1]:
        raise Reject("its last step does not give its count")


def _check_step(step: str, book: RuleBook, named: Mapping[str, tuple[Set, Bounds]]) -> None:
    """A step must have a known form, and everything that it says must follow."""
    if not any(form.fullmatch(step) for form in _FORMS):
        raise Reject("it has a step that cannot be checked")
    nothing: tuple[Set | None, Bounds] = (None, (0, 0))
    if match := _PEOPLE.fullmatch(step):
        if (_int(match[1]),) * 2 != book.bounds("n"):
            raise Reject("a step prints another number of people than the release")
    elif match := _LINE.fullmatch(step):
        line, items = book.line(int(match[1])), named.get(match[4], nothing)[0]
        printed = line.people if items == line.all else line.whole
        if items not in (line.has, line.all) or (_int(match[2]), _int(match[3] or match[2])) != printed:
            raise Reject("a step prints another number than its line")
    elif match := _SIDE.fullmatch(step):
        (items, (lo, hi)), value = named.get(match[3], nothing), _int(match[2])
        if items is None or (value > lo if match[1] == "at least" else value < hi):
            raise Reject("a step says more than follows from the lines")
    elif match := _MINUS.fullmatch(step):
        left, right, told = (_ends(text) for text in match.groups())
        computed = left[0] - right[1], left[1] - right[0]
        if not computed[0] <= told[0] <= told[1] <= computed[1]:
            raise Reject("a difference in its steps is wrong")
    elif step.startswith(_BEGINNINGS) and (match := _BOTH.fullmatch(step)):
        (items, (lo, hi)), told = named.get(match[3], nothing), (_int(match[1]), _int(match[2] or match[1]))
        if items is None or told[0] > lo or told[1] < hi:
            raise Reject("a step says more than follows from the lines")


def _listed(items: Set) -> str:
    names = sorted(items)
    if not names:
        return "nothing asked of them"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _int(text: str) -> int:
    return int(text.replace(",", ""))


def _ends(text: str) -> Bounds:
    """A number, or two with "to" between them, in brackets or not."""
    numbers = [_int(part) for part in re.findall(_NUMBER, text)]
    if len(numbers) not in (1, 2):
        raise Reject("it has a step that cannot be checked")
    return numbers[0], numbers[-1]
