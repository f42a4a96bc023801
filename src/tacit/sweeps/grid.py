"""What a sweep runs over: several thresholds and several k, from whatever the caller gives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tacit.errors import OptionError
from tacit.model.number import Threshold
from tacit.model.policy import Policy


def listed(given: Any) -> list[Any]:
    """One value or several as a list; a text may hold several, separated by commas.

    >>> listed("5%, 10%"), listed(3), listed([1, "2,3"])
    (['5%', '10%'], [3], [1, '2', '3'])
    """
    if isinstance(given, str):
        return [part.strip() for part in given.split(",") if part.strip()]
    if isinstance(given, Iterable):
        return [part for one in given for part in listed(one)]
    return [given]


def thresholds(given: Any, n: int, *, strict: bool) -> list[int]:
    """Support thresholds as counts of people, the highest first, each once."""
    chosen = [Threshold.parse(one, where="--min-support").least_count(n, strict=strict) for one in listed(given)]
    if not chosen:
        raise OptionError("is missing", where="--min-support", remedy="Write for instance --min-support 5%,10%,20%")
    return sorted(set(chosen), reverse=True)


def sizes(given: Any) -> list[int]:
    """Values of k, the smallest first, each once."""
    chosen = [_whole(one) for one in listed(given)]
    if not chosen:
        raise OptionError("is missing", where="--k", remedy="Write for instance --k 5,10,30")
    return sorted({Policy(k=k).k for k in chosen})


def _whole(value: Any) -> Any:
    """A whole number from text; the policy refuses what is none."""
    return int(value) if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 19 else value
