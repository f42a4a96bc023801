"""Re-checks the words of findings about items: every step has a known form, prints what the release prints, and adds up."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from tacit.checker.rules import Reject

#: What the release prints at a line, or at ``"n"``.
Bounds = Callable[[int | str], tuple[int, int]]

_TERM = re.compile(r"(plus|minus)(?: (\d+) times)? ([\d,]+)(?: to ([\d,]+))?: .*\((?:line (\d+)|n)\)", re.DOTALL)
_GROUP = re.compile(r": ([^:]*?) [+-] x = (-?[\d,]+) [+-] x people")
_SUMMAND = re.compile(r"([+-]) ([\d,]+) \(")
#: A published number inside a sentence, with its place.
_INLINE = re.compile(r"(?:\[([\d,]+) to ([\d,]+)\]|([\d,]+)) \((?:line (\d+)|n)\)")
_BOUNDS = r"(?:-?[\d,]+|\[-?[\d,]+ to -?[\d,]+\])"
_PLACED = rf"{_BOUNDS} \((?:line \d+|n|from above|a sum of \d+ supports)\)"
_SUM = rf"(?:x|(?:- )?{_PLACED}(?: [+-] {_PLACED})* [+-] x(?: = {_BOUNDS} [+-] x)?)"
#: What a line prints that is not its count, and the counts that it means.
_PRINTED = re.compile(r"Line (\d+): ([\d,.]+) is printed, that is ([\d,]+)(?: to ([\d,]+))? (?:person|people)\.")
_PRINTED_AS = re.compile(r", printed as ([\d,.]+) \(line (\d+)\)$")
#: Every form that a step may have.
_FORMS = tuple(
    re.compile(form, re.DOTALL)
    for form in (
        _TERM.pattern,
        _PRINTED.pattern,
        r"and [\d,]+ more terms, all listed as published lines with their weights",
        r"sum: (between )?[\d,]+( and [\d,]+)?",
        r"The same people in fewer words: .*",
        r"No line says how many people have .*; call it x\.",
        rf"Those .*: {_SUM} people cannot be negative: x is at (least|most) [\d,]+\.",
        rf"Those .*: {_SUM} people, that is [\d,]+( to [\d,]+)? (person|people)\.",
        r"The list is complete from [\d,]+ people on and leaves it out: x is at most [\d,]+\.",
        r"So x is (between )?[\d,]+( and [\d,]+)?\.",
        r"The list is complete from [\d,]+ people on and no line holds .*: at most [\d,]+ people have them all\.",
        rf"Those .*: at (least|most) {_PLACED}( [+-] {_PLACED})*( - [\d,]+)? people\.",
        r"It follows through [\d,]+ unpublished subsets, too many to write out here; all published lines are cited\.",
    )
)


def check_steps(steps: Sequence[str], bounds: Bounds, text: Callable[[int], str]) -> None:
    """Raise where a step cannot be checked, prints another count than the release, or adds up wrongly; ``text`` is what a line prints."""
    for step in steps:
        _check_step(step, bounds)
        told = [(match[1], match[2]) for match in [_PRINTED.fullmatch(step)] if match]
        told += [(match[2], match[1]) for match in [_PRINTED_AS.search(step)] if match]
        rounded = [(int(line), printed) for line, printed in told if len(set(bounds(int(line)))) > 1]
        if any(text(line) != printed for line, printed in rounded):
            raise Reject("a step prints another number than the release")
    _check_sums(steps)


def _check_step(step: str, bounds: Bounds) -> None:
    """A step must have a known form, and print what the release prints wherever it cites it."""
    if not any(form.fullmatch(step) for form in _FORMS):
        raise Reject("it has a step that cannot be checked")
    if match := _PRINTED.fullmatch(step):
        printed = [(match[3], match[4] or match[3], match[1])]
    elif match := _TERM.fullmatch(step):
        printed = [(match[3], match[4] or match[3], match[5])]
    else:
        found = _INLINE.findall(step) if step.startswith("Those ") else []
        printed = [(low or exact, high or exact, line) for low, high, exact, line in found]
    for low, high, line in printed:
        if (_number(low), _number(high)) != bounds(int(line) if line else "n"):
            raise Reject("a step prints another count than the release")


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def _check_sums(steps: Sequence[str]) -> None:
    """Sums that the steps write out must be right."""
    low = high = 0
    whole = True
    for step in steps:
        if match := _TERM.fullmatch(step):
            weight = int(match[2] or 1) * (1 if match[1] == "plus" else -1)
            numbers = [_number(match[3]), _number(match[4] or match[3])]
            low += weight * numbers[0 if weight > 0 else 1]
            high += weight * numbers[1 if weight > 0 else 0]
        elif step.startswith("and "):
            whole = False
        elif step.startswith("sum: "):
            if whole and low == high and step != f"sum: {low:,}":
                raise Reject("a sum in its steps is wrong")
            low, high, whole = 0, 0, True
        elif (match := _GROUP.search(step)) and "[" not in match[1]:
            total = sum((-1 if sign == "-" else 1) * _number(number) for sign, number in _SUMMAND.findall("+ " + match[1]))
            if _number(match[2]) != total:
                raise Reject("a sum in its steps is wrong")
