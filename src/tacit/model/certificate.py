"""The proof of a finding, in numbers that whoever doubts it can check again; ``docs/verify.md`` says what each form means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.model.bound import Bound
from tacit.model.event import Event

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
