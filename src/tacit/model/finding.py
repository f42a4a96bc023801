"""Findings of attacks: group, published numbers, and proof.

The proof of a finding is in numbers that anybody can check again; ``docs/verify.md`` describes its forms.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tacit.model.event import Event
from tacit.model.numbers import Bound
from tacit.model.policy import Waiver
from tacit.model.steps import Step, render_steps

Claim = Literal["proves", "estimates"]

#: The attacks whose findings are about all releases together, so that no single one of them is part of their names.
OF_SEVERAL = frozenset({"X01"})


def finding_id(code: str, event: Event, release: int = 0) -> str:
    """Return the id: attack code and event hash.

    The hash includes the release unless it is the first.
    """
    what = [code, event.to_dict(), *([release] if release else [])]
    text = json.dumps(what, ensure_ascii=False, sort_keys=True)
    return f"{code}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


@dataclass(frozen=True, slots=True)
class PeopleOfTerm:
    """Known people of a term, numbered from 1."""

    term: int

    def __str__(self) -> str:
        return f"people with {self.term}"


@dataclass(frozen=True, slots=True)
class PeopleInTerms:
    """Known people in exactly these terms, numbered from 1.

    ``asked``: they have the combination in question.
    """

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
        """Return the rule of this name, or None.

        >>> MissingRule.named('missing rule {"sex": "F"} => flu', ["cold", "flu"])
        MissingRule(antecedent=(('sex', 'F'),), value='flu')
        """
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
    """Return a place as in the record.

    >>> place_entry(3), place_entry(PeopleInTerms((1, 2), asked=True))
    ({'line': 3}, {'cell': 'people asked about in 1, 2'})
    """
    return {"line": place} if isinstance(place, int) else {"cell": str(place)}


@dataclass(frozen=True, slots=True)
class Citation:
    """Published number that a finding rests on.

    ``at`` is where it stands, ``place`` the same as in the record: a line number or a name. The weight is negative where the number is taken
    away, and None where the number bounds the result in another way.
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


@dataclass(frozen=True, slots=True)
class Finding:
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


#: The format of every certificate; it changes when a checker of today could no longer read one.
FORMAT = "tacit.certificate/1"


def certificate(event: Event, count: Bound, **proof: Any) -> Mapping[str, Any]:
    """Return a claim about an event with its proof.

    The proof has ``weights``, ``steps``, a ``matching`` or ``counts``.

    >>> from tacit.model.event import ItemEvent
    >>> found = certificate(ItemEvent(("a",), ("b",)), Bound(1, 1), weights=[])
    >>> found["format"], found["claim"]
    ('tacit.certificate/1', {'event': {'present': ['a'], 'absent': ['b']}, 'at_least': 1, 'at_most': 1})
    """
    return {"format": FORMAT, "claim": {"event": event.to_dict(), "at_least": count.lo, "at_most": count.hi}, **proof}
