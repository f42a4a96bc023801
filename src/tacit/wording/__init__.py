"""Findings in words: the same sentences for those who write a finding down and for those who check it.

Nothing here infers anything. A sentence is made of an event, a count and a certificate alone, so whoever holds these can write it again.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.model.bound import Bound
from tacit.model.event import ItemEvent

__all__ = ["listed", "people", "printed_as", "sentence"]


def people(count: Bound) -> str:
    """``1 person``, ``1 to 3 people``.

    >>> people(Bound(1, 1)), people(Bound(1, 3))
    ('1 person', '1 to 3 people')
    """
    number = f"{count.lo:,}" if count.is_exact else f"{count.lo:,} to {count.hi:,}"
    return f"{number} {'person' if count == Bound(1, 1) else 'people'}"


def sentence(event: ItemEvent, count: Bound) -> str:
    """What the people of an event have and lack.

    >>> sentence(ItemEvent(("a", "b"), ("c", "d")), Bound(1, 1)), sentence(ItemEvent((), ("c",)), Bound(2, 2))
    ('has a and b, and neither c nor d', 'have no c')
    >>> sentence(ItemEvent(("a",), not_all=("b", "c")), Bound(1, 1))
    'has a but not all of b and c'
    """
    verb = "has" if count == Bound(1, 1) else "have"
    if event.not_all:
        first = f"{verb} {listed(event.present, 'and')} but" if event.present else f"{'does' if verb == 'has' else 'do'} not have"
        return f"{first} {'not ' if event.present else ''}all of {listed(event.not_all, 'and')}"
    if not event.absent:
        return f"{verb} {listed(event.present, 'and')}" if event.present else f"{'is' if verb == 'has' else 'are'} in the data"
    lacking = f"neither {listed(event.absent, 'nor')}" if len(event.absent) > 1 else f"not {event.absent[0]}"
    if not event.present:
        return f"{verb} no {event.absent[0]}" if len(event.absent) == 1 else f"{verb} {lacking}"
    return f"{verb} {listed(event.present, 'and')}{', and' if len(event.absent) > 1 else ' but'} {lacking}"


def listed(names: Sequence[str], word: str) -> str:
    """Names as in a sentence: ``a, b and c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def printed_as(text: str, count: Bound) -> str:
    """What a line prints, where that is not the count itself.

    >>> printed_as("50", Bound(45, 54)), printed_as("50", Bound(50, 50)), printed_as("", Bound(0, 4))
    (', printed as 50', '', '')
    """
    return "" if count.is_exact or not text else f", printed as {text}"
