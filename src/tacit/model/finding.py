"""Findings of attacks: group, published numbers, derivation and proof.

The proof of a finding is in numbers that anybody can check again; ``docs/verify.md`` describes its forms. Attacks build the steps of its
derivation, records and reports render them. A step knows its numbers and the lines that it names.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from tacit.model.numbers import Bound
from tacit.model.shown import Shown

if TYPE_CHECKING:
    from tacit.model.policy import Waiver

Side = tuple[tuple[str, ...], tuple[str, ...]]  #: What a person has and lacks.


@dataclass(frozen=True, slots=True)
class Change:
    """Change between two releases; any change if both sides are empty."""

    name: str
    before: Side = ((), ())
    after: Side = ((), ())

    @property
    def is_any(self) -> bool:
        """Tell if the new value may be any other."""
        return not any((*self.before, *self.after))

    @property
    def differs(self) -> bool:
        """Tell if the value differs from the one before."""
        had, lacked = self.before
        has, lacks = self.after
        other = bool(had) and bool(has) and set(had) != set(has)
        return self.is_any or other or bool(set(had) & set(lacks)) or bool(set(lacked) & set(has))

    def to_dict(self) -> dict[str, Any]:
        """The change as in the record."""
        out: dict[str, Any] = {"column": self.name}
        for name, (present, absent) in (("before", self.before), ("after", self.after)):
            out[name] = {"present": list(present), "absent": list(absent)}
        return {"column": self.name, "changed": True} if self.is_any else out


@dataclass(frozen=True, slots=True)
class ItemEvent:
    """People with all ``present`` and no ``absent`` items.

    They lack at least one of ``not_all``, where there are such. Where several releases are about different people, they are among those of the
    populations ``inside`` and not among those of ``outside``. ``changes`` are about columns whose values may have changed.
    """

    present: tuple[str, ...]
    absent: tuple[str, ...] = ()
    not_all: tuple[str, ...] = ()
    inside: tuple[int, ...] = ()
    outside: tuple[int, ...] = ()
    changes: tuple[Change, ...] = ()

    def __post_init__(self) -> None:
        for name in ("present", "absent", "not_all"):
            object.__setattr__(self, name, tuple(sorted(set(getattr(self, name)))))

    def to_dict(self) -> dict[str, list[Any]]:
        """The event as in the record."""
        out: dict[str, list[Any]] = {"present": list(self.present), "absent": list(self.absent)}
        where = {name: list(getattr(self, name)) for name in ("inside", "outside") if getattr(self, name)}
        where |= {"changes": [change.to_dict() for change in self.changes]} if self.changes else {}
        return out | ({"not_all": list(self.not_all)} if self.not_all else {}) | where

    def holds(self, items: frozenset[str]) -> bool:
        """Tell if a person with these items belongs."""
        lacks_some = not self.not_all or not items.issuperset(self.not_all)
        return items.issuperset(self.present) and items.isdisjoint(self.absent) and lacks_some


@dataclass(frozen=True, slots=True)
class BoxEvent:
    """People whose values are allowed, column by column."""

    allowed: dict[str, tuple[str, ...]]

    def to_dict(self) -> dict[str, list[str]]:
        """The event as in the record."""
        return {column: sorted(set(values)) for column, values in sorted(self.allowed.items())}


Event = ItemEvent | BoxEvent


def mentions(event: Event) -> frozenset[tuple[str | None, str]]:
    """Return the columns and items that an event is about.

    The column of an item is what stands before its first ``=``; other items have none. Events about several populations, or about values
    that changed, are about more than items: the set is then empty.
    """
    if isinstance(event, BoxEvent):
        return frozenset((column, f"{column}={value}") for column, values in event.allowed.items() for value in values)
    if event.inside or event.outside or event.changes:
        return frozenset()
    items = (*event.present, *event.absent, *event.not_all)
    return frozenset((item.partition("=")[0] if "=" in item else None, item) for item in items)


def comparable(event: Event) -> object:
    """Return a key that is the same for the same event, in columns or in items."""
    if isinstance(event, ItemEvent):
        present = frozenset(event.present)
        absent = frozenset(event.absent)
        lacked = frozenset(event.not_all) - present
        if len(lacked) == 1:
            absent |= lacked
        if absent & lacked:
            lacked = frozenset()  # One of them is absent anyway.
        return present, absent, lacked, frozenset(event.inside), frozenset(event.outside), frozenset(event.changes)
    if all(len(values) == 1 for values in event.allowed.values()):
        return comparable(ItemEvent(tuple(f"{column}={values[0]}" for column, values in event.allowed.items())))
    return frozenset((column, frozenset(values)) for column, values in event.allowed.items())


THE_GROUP = "in the group"  #: The group of a goal that is the group of the finding itself.


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines that a step names; without a file, of the only release."""

    numbers: tuple[int, ...]
    file: str | None = None


Phrase = tuple[str | Lines, ...]  #: A piece of a sentence, with the lines that it names.


@dataclass(frozen=True, slots=True)
class Term:
    """Number that a sum adds or subtracts ``times`` times."""

    times: Fraction | int
    bound: Bound
    what: str = ""
    where: Phrase = ()
    printed: str = ""  #: What the line prints, where that is not the number itself.


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
    """Return a step in words, as in the record."""
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
    """Return a term's factor in words; empty for 1."""
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
    """Return a number, or both its ends."""
    return f"{bound.lo:,}" if bound.is_exact else f"{bound.lo:,} to {bound.hi:,}"


def render_total(bound: Bound) -> str:
    """Return the value of a sum."""
    return f"{bound.lo:,}" if bound.is_exact else f"between {bound.lo:,} and {bound.hi:,}"


def render_phrase(phrase: Phrase, render: Callable[[Lines], str] | None = None) -> str:
    """Return a phrase as text, its lines by ``render``."""
    by = render or render_lines
    return "".join(part if isinstance(part, str) else by(part) for part in phrase)


def render_lines(lines: Lines) -> str:
    """Return lines as a step names them."""
    *most, last = map(str, lines.numbers)
    named = f"lines {', '.join(most)} and {last}" if most else f"line {last}"
    return named if lines.file is None else f"{lines.file}, {named}"


def join_phrases(phrases: Sequence[Phrase], between: str) -> Phrase:
    """Join distinct phrases by a separator."""
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


Claim = Literal["proves", "estimates"]

#: The attacks whose findings are about all releases together, so that no single one of them is part of their names.
OF_SEVERAL = frozenset({"X01"})


def finding_id(code: str, event: Event, release: int = 0) -> str:
    """Return the id: attack code and hash of event and later release."""
    text = json.dumps([code, event.to_dict(), *([release] if release else [])], ensure_ascii=False, sort_keys=True)
    return f"{code}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


@dataclass(frozen=True, slots=True)
class PeopleOfTerm:
    """Known people of a term, numbered from 1."""

    term: int

    def __str__(self) -> str:
        return f"people with {self.term}"


@dataclass(frozen=True, slots=True)
class PeopleInTerms:
    """Known people in exactly these terms; ``asked``: with the combination in question."""

    terms: tuple[int, ...]
    asked: bool

    def __str__(self) -> str:
        return f"people{' asked about' if self.asked else ''} in {', '.join(map(str, self.terms)) or 'none'}"


@dataclass(frozen=True, slots=True)
class MissingRule:
    """A rule that a complete list leaves out."""

    antecedent: tuple[tuple[str, str], ...]
    value: str

    def __str__(self) -> str:
        return f"missing rule {json.dumps(dict(self.antecedent), ensure_ascii=False)} => {self.value}"

    @classmethod
    def named(cls, text: str, values: Iterable[str]) -> MissingRule | None:
        """Return the rule of this name, or None."""
        for value in values:
            start = "missing rule "
            end = f" => {value}"
            if text.startswith(start) and text.endswith(end):
                return cls(tuple(json.loads(text[len(start) : -len(end)]).items()), value)
        return None


@dataclass(frozen=True, slots=True)
class Distribution:
    """The published number of people with a sensitive value."""

    value: str

    def __str__(self) -> str:
        return f"sa_distribution {self.value}"


@dataclass(frozen=True, slots=True)
class KnownShare:
    """Background fact about the share of a value."""

    value: str
    source: str

    def __str__(self) -> str:
        return f"fact {self.value} by {self.source}"


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Background fact: nobody in ``event`` has the value."""

    source: str
    event: Mapping[str, tuple[str, ...]]
    value: str

    def __str__(self) -> str:
        event = {column: list(values) for column, values in sorted(self.event.items())}
        return f"{self.source}: {json.dumps(event, ensure_ascii=False)} => not {self.value}"


@dataclass(frozen=True, slots=True)
class UsedUp:
    """Values of a group that others must have."""

    values: tuple[str, ...]

    def __str__(self) -> str:
        return f"used up {json.dumps(list(self.values), ensure_ascii=False)}"


@dataclass(frozen=True, slots=True)
class RecordsWith:
    """The records of a table that show these cells."""

    cells: Mapping[str, str]

    def __str__(self) -> str:
        return f"records with {json.dumps(dict(self.cells), ensure_ascii=False)}"


#: Where a number stands: a line, the name of a header entry or of a cell, or what a list, a table or the background knowledge says.
Place = int | str | PeopleOfTerm | PeopleInTerms | MissingRule | Distribution | KnownShare | Exclusion | UsedUp | RecordsWith


def place_entry(place: Place) -> dict[str, int | str]:
    """Return a place as in the record."""
    return {"line": place} if isinstance(place, int) else {"cell": str(place)}


@dataclass(frozen=True, slots=True)
class Citation:
    """Published number that a finding rests on.

    The weight is negative where the number is taken away, and None where it bounds the result in another way.
    """

    release: int
    at: Place
    count: Bound
    weight: int | None = 1

    @property
    def place(self) -> int | str:
        """Line number, or name of another place."""
        return self.at if isinstance(self.at, int) else str(self.at)

    def to_dict(self) -> dict[str, Any]:
        """Return the citation as in the record."""
        out: dict[str, Any] = {"release": self.release, **place_entry(self.at), "count": self.count.to_list()}
        return out if self.weight is None else out | {"weight": self.weight}


@dataclass(frozen=True, slots=True, repr=False)
class Finding(Shown):
    """One inference of an attack: ``count`` people are in ``event``.

    ``because`` lists the published numbers, ``derivation`` the arithmetic; ``steps`` are the same in words. ``same_people`` is a shorter event
    that is proved to hold exactly the same people, where there is one. ``certificate`` holds the proof in numbers; a checker that shares no
    code with the attacks checks it again. ``probability`` is that of an estimate.
    """

    code: str
    event: Event
    count: Bound
    statement: str
    because: tuple[Citation, ...] = ()
    derivation: tuple[Step, ...] = ()
    same_people: Event | None = None
    certificate: Mapping[str, Any] | None = None
    waived: Waiver | None = None
    probability: float | None = None

    @property
    def id(self) -> str:
        """Stable name that depends only on what is inferred."""
        of_one = self.code not in OF_SEVERAL and self.because and "people" not in (self.certificate or {})
        return finding_id(self.code, self.event, self.because[0].release if of_one else 0)

    @property
    def steps(self) -> tuple[str, ...]:
        """The derivation in words."""
        return render_steps(self.derivation)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as in the record."""
        out: dict[str, Any] = {"id": self.id, "code": self.code, "statement": self.statement, "event": self.event.to_dict()}
        out |= {"count": self.count.to_list(), "because": [c.to_dict() for c in self.because], "steps": list(self.steps)}
        if self.same_people is not None:
            out["same_people"] = self.same_people.to_dict()
        if self.certificate is not None:
            out["certificate"] = dict(self.certificate)
        if self.waived is not None:
            out["waived"] = {"name": self.waived.name, "reason": self.waived.reason}
        return out


FORMAT = "tacit.certificate/1"  #: The format of every certificate; it changes when a checker of today could no longer read one.


def certificate(event: Event, count: Bound, **proof: Any) -> Mapping[str, Any]:
    """Return a claim about an event with its proof."""
    return {"format": FORMAT, "claim": {"event": event.to_dict(), "at_least": count.lo, "at_most": count.hi}, **proof}
