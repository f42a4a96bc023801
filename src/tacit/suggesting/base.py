"""What a search for repairs is given, what a way to try is, and how ways are tried within the time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tacit.errors import LimitReached, TacitError
from tacit.model.audit import Audit
from tacit.model.policy import Policy
from tacit.model.release import Release
from tacit.model.suggestion import Suggestion

#: Words of a command line.
Words = tuple[str, ...]

OUT_OF_TIME = "not done: the time was over"


@dataclass(frozen=True, slots=True, eq=False)
class SuggestCase:
    """An exposed release (or several), its audit, and what the owner can give: ``data``, what is known, the rows to protect."""

    releases: tuple[Release, ...]
    before: Audit
    policy: Policy
    data: Any = None
    known: Any = None
    knowledge: Any = None
    rows: Any = None
    people: Any = None

    @property
    def release(self) -> Release:
        """The release, where there is one."""
        return self.releases[0]

    def policy_words(self, *names: str) -> Words:
        """The options that say what the publisher accepts, where that is not the default."""
        usual = Policy()
        words: list[str] = []
        for name in names:
            value = getattr(self.policy, name)
            if value is not None and value != getattr(usual, name):
                words += ["--" + name.replace("_", "-"), f"{float(value):g}" if not isinstance(value, int) else str(value)]
        return tuple(words)


@dataclass(frozen=True, slots=True, eq=False)
class Done:
    """What a way came to: the result with its audit, what it cost, and how it is done again."""

    release: Release | tuple[Release, ...]
    after: Audit
    loss: float
    measured: str
    cost: Mapping[str, Any]
    commands: tuple[Words, ...]
    what: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """Something to try: ``carry_out`` is given the seconds that it may take, and raises where it comes to nothing."""

    method: str
    what: str
    carry_out: Callable[[float], Done] = field(repr=False)


def tried(ways: Sequence[Way], seconds: float, tell: Callable[[float], None]) -> list[Suggestion]:
    """Every way tried once with half of the time that is left; those that needed more, once more with all that the others left."""
    end = time.monotonic() + seconds
    found: dict[int, Suggestion] = {}
    waiting = list(range(len(ways)))
    for again in (False, True):
        late = []
        for turn, number in enumerate(waiting):
            left = end - time.monotonic()
            if left <= 0:
                found.setdefault(number, _not_done(ways[number], OUT_OF_TIME))
                continue
            last = again or turn == len(waiting) - 1
            one = _tried(ways[number], left if last else left / 2)
            found[number] = one
            late += [number] if one.reason == OUT_OF_TIME else []
            tell((0.8 if again else 0.0) + (0.2 if again else 0.8) * (turn + 1) / len(waiting))
        waiting = late
    return [found[number] for number in sorted(found)]


def _tried(way: Way, seconds: float) -> Suggestion:
    """What became of one way within some seconds; a way that is not possible here says why."""
    start = time.monotonic()
    try:
        done = way.carry_out(seconds)
    except LimitReached:
        return _not_done(way, OUT_OF_TIME)
    except TacitError as error:
        return _not_done(way, f"{error.what}. {error.remedy}")
    took = time.monotonic() - start
    told = (done.after.verdict, done.loss, done.measured, done.cost, done.commands)
    return Suggestion(way.method, done.what or way.what, *told, release=done.release, after=done.after, seconds=took)


def _not_done(way: Way, reason: str) -> Suggestion:
    return Suggestion(way.method, way.what, None, reason=reason)
