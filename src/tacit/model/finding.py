"""What an attack infers, from which published lines, with its arithmetic.

The proof of a finding, in numbers that whoever doubts it can check again; ``docs/verify.md`` says what each form means.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tacit.model.event import Event
from tacit.model.numbers import Bound
from tacit.model.policy import Waiver

Claim = Literal["proves", "estimates"]

#: The attacks whose findings are about all releases together, so that no single one of them is part of their names.
OF_SEVERAL = frozenset({"X01"})


def finding_id(code: str, event: Event, release: int = 0) -> str:
    """The name of a finding: its attack's code and a hash of its event, and of the release where that is not the first."""
    what = [code, event.to_dict(), *([release] if release else [])]
    text = json.dumps(what, ensure_ascii=False, sort_keys=True)
    return f"{code}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


@dataclass(frozen=True, slots=True)
class Citation:
    """One published number that a finding rests on, and how often it is added (negative: taken away; None: it bounds the result otherwise).

    ``place`` is a line number of the release's file, or the name of a header entry such as ``"n"``.
    """

    release: int
    place: int | str
    count: Bound
    weight: int | None = 1

    def to_dict(self) -> dict[str, Any]:
        """The citation as in the record."""
        key = "line" if isinstance(self.place, int) else "cell"
        out: dict[str, Any] = {"release": self.release, key: self.place, "count": self.count.to_list()}
        return out if self.weight is None else out | {"weight": self.weight}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing an attack infers: ``count`` people are in ``event``.

    ``because`` lists the published numbers, ``steps`` the arithmetic in words. ``same_people`` is a shorter event that is proved to hold the
    very same people, where there is one. ``certificate`` holds the proof in numbers (:mod:`tacit.model.finding`); a checker that shares
    no code with the attacks re-checks it.
    """

    code: str
    event: Event
    count: Bound
    statement: str
    because: tuple[Citation, ...] = ()
    steps: tuple[str, ...] = ()
    same_people: Event | None = None
    certificate: Mapping[str, Any] | None = None
    waived: Waiver | None = None

    @property
    def id(self) -> str:
        """A name that depends only on what is inferred, so that it stays the same from run to run."""
        of_one = self.code not in OF_SEVERAL and self.because and "people" not in (self.certificate or {})
        return finding_id(self.code, self.event, self.because[0].release if of_one else 0)

    def to_dict(self) -> dict[str, Any]:
        """The finding as in the record."""
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
    """A claim, that so many people are in an event, and its proof: ``weights``, ``steps``, a ``matching`` or ``counts``.

    >>> from tacit.model.event import ItemEvent
    >>> found = certificate(ItemEvent(("a",), ("b",)), Bound(1, 1), weights=[])
    >>> found["format"], found["claim"]
    ('tacit.certificate/1', {'event': {'present': ['a'], 'absent': ['b']}, 'at_least': 1, 'at_most': 1})
    """
    return {"format": FORMAT, "claim": {"event": event.to_dict(), "at_least": count.lo, "at_most": count.hi}, **proof}
