"""Steps of a derivation, and how they read.

Attacks build steps, records and reports render them. A step knows its numbers and the lines that it names, so that nothing has to be read
out of a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from tacit.model.numbers import Bound

#: The group of a goal that is the group of the finding itself.
THE_GROUP = "in the group"


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines that a step names.

    Without a file, they are those of the only release that the finding cites.
    """

    numbers: tuple[int, ...]
    file: str | None = None


#: A piece of a sentence, with the lines that it names.
Phrase = tuple[str | Lines, ...]


@dataclass(frozen=True, slots=True)
class Term:
    """Number that a sum adds or subtracts ``times`` times."""

    times: Fraction | int
    bound: Bound
    what: str = ""
    where: Phrase = ()
    #: What the line prints, where that is not the number itself.
    printed: str = ""


@dataclass(frozen=True, slots=True)
class ShownAbove:
    """Bound of an earlier goal as a term."""

    times: Fraction | int
    number: int


@dataclass(frozen=True, slots=True)
class More:
    """Terms or groups that are not shown."""

    number: int
    what: str


@dataclass(frozen=True, slots=True)
class Total:
    """The value of a sum."""

    bound: Bound


@dataclass(frozen=True, slots=True)
class Goal:
    """Bound on a group, proved by the next steps."""

    end: Literal["least", "most"]
    value: int
    group: str = THE_GROUP


@dataclass(frozen=True, slots=True)
class Shorter:
    """Shorter description of the same people."""

    statement: str


@dataclass(frozen=True, slots=True)
class Share:
    """Share of a value among all people, for comparison."""

    share: float


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence."""

    phrase: Phrase


Step = Term | ShownAbove | More | Total | Goal | Shorter | Share | Remark


def remark(*parts: str | Lines) -> Remark:
    """Return a sentence of texts and lines."""
    return Remark(parts)


def render_step(step: Step) -> str:
    """Return a step in words, as in the record.

    >>> render_step(Term(-2, Bound(45, 54), "people with a", (Lines((3,)),), printed="50"))
    'minus 2 times 45 to 54: people with a, printed as 50 (line 3)'
    >>> render_step(Total(Bound(1, 3))), render_step(Goal("least", 1))
    ('sum: between 1 and 3', 'At least 1 in the group:')
    >>> render_step(remark(Lines((2, 4)), ": one person."))
    'Lines 2 and 4: one person.'
    """
    match step:
        case Term():
            return f"{render_sign(step.times)} {render_amount(step)}{render_counted(step)}"
        case ShownAbove():
            return f"{render_sign(step.times)} {render_times(step.times)}what was shown above ({step.number})"
        case More():
            return f"and {step.number:,} more {step.what}"
        case Total():
            return f"sum: {render_total(step.bound)}"
        case Goal():
            return f"At {step.end} {step.value:,} {step.group}:"
        case Shorter():
            return f"The same people in fewer words: {step.statement}"
        case Share():
            return f"Among all people the share is {step.share:.3f}."
        case Remark():
            text = render_phrase(step.phrase)
            first = step.phrase[0]
            return text[0].upper() + text[1:] if isinstance(first, Lines) and first.file is None else text


def render_steps(steps: Iterable[Step]) -> tuple[str, ...]:
    """Return steps in words."""
    return tuple(render_step(step) for step in steps)


def render_sign(times: Fraction | int) -> str:
    """Return the word for adding or taking away."""
    return "plus" if times > 0 else "minus"


def render_times(times: Fraction | int) -> str:
    """Return a term's factor in words; empty for 1.

    >>> render_times(-2), render_times(Fraction(1, 2)), render_times(1)
    ('2 times ', '1/2 times ', '')
    """
    size = abs(Fraction(times))
    if size == 1:
        return ""
    return f"{size.numerator:,} times " if size.denominator == 1 else f"{size} times "


def render_amount(term: Term) -> str:
    """Return the number of a term with its factor."""
    return f"{render_times(term.times)}{render_bound(term.bound)}"


def render_counted(term: Term, render: Callable[[Lines], str] | None = None) -> str:
    """Return a term's group and place, after its number."""
    printed = f", printed as {term.printed}" if term.printed else ""
    what = f": {term.what}{printed}" if term.what else ""
    return f"{what} ({render_phrase(term.where, render)})" if term.where else what


def render_bound(bound: Bound) -> str:
    """Return a number, or both its ends.

    >>> render_bound(Bound(3, 3)), render_bound(Bound(1000, 2000))
    ('3', '1,000 to 2,000')
    """
    return f"{bound.lo:,}" if bound.is_exact else f"{bound.lo:,} to {bound.hi:,}"


def render_total(bound: Bound) -> str:
    """Return the value of a sum."""
    return f"{bound.lo:,}" if bound.is_exact else f"between {bound.lo:,} and {bound.hi:,}"


def render_phrase(phrase: Phrase, render: Callable[[Lines], str] | None = None) -> str:
    """Return a phrase as text, its lines by ``render``."""
    by = render or render_lines
    return "".join(part if isinstance(part, str) else by(part) for part in phrase)


def render_lines(lines: Lines) -> str:
    """Return lines as a step names them.

    >>> render_lines(Lines((3,))), render_lines(Lines((3, 5, 9))), render_lines(Lines((3,), "a.csv"))
    ('line 3', 'lines 3, 5 and 9', 'a.csv, line 3')
    """
    *most, last = map(str, lines.numbers)
    named = f"lines {', '.join(most)} and {last}" if most else f"line {last}"
    return named if lines.file is None else f"{lines.file}, {named}"


def join_phrases(phrases: Sequence[Phrase], between: str) -> Phrase:
    """Join distinct phrases by a separator.

    >>> join_phrases([(Lines((1,)),), ("known",), (Lines((1,)),)], "; ")
    (Lines(numbers=(1,), file=None), '; ', 'known')
    """
    out: list[str | Lines] = []
    for phrase in dict.fromkeys(phrases):
        out += [between, *phrase] if out else phrase
    return tuple(out)


def lines_named(step: Step) -> Iterator[Lines]:
    """Yield the lines that a step names."""
    phrase = step.phrase if isinstance(step, Remark) else step.where if isinstance(step, Term) else ()
    for part in phrase:
        if isinstance(part, Lines):
            yield part
