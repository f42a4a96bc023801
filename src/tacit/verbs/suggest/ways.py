"""Repairs to try for a suggestion, within the time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tacit.errors import LimitReached, TacitError
from tacit.model.audit import Audit
from tacit.model.policy import Policy
from tacit.model.release import Release
from tacit.model.repair import Suggestion

#: Words of a command line.
Words = tuple[str, ...]

OUT_OF_TIME = "not tried: out of time"


@dataclass(frozen=True, slots=True, eq=False)
class SuggestCase:
    """Exposed releases, their audit, and further inputs."""

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
        """First release, or the only one."""
        return self.releases[0]

    def policy_words(self, *names: str) -> Words:
        """Return the options for limits that differ from defaults."""
        usual = Policy()
        words: list[str] = []
        for name in names:
            value = getattr(self.policy, name)
            if value is not None and value != getattr(usual, name):
                words.append("--" + name.replace("_", "-"))
                words.append(str(value) if isinstance(value, int) else f"{float(value):g}")
        return tuple(words)


@dataclass(frozen=True, slots=True, eq=False)
class Done:
    """Result of a repair: audit, cost, and commands."""

    release: Release | tuple[Release, ...]
    after: Audit
    loss: float
    measured: str
    cost: Mapping[str, Any]
    commands: tuple[Words, ...]
    what: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """Repair to try: ``carry_out`` takes seconds, or raises."""

    method: str
    what: str
    carry_out: Callable[[float], Done] = field(repr=False)


def try_ways(ways: Sequence[Way], seconds: float, tell: Callable[[float], None]) -> list[Suggestion]:
    """Try every repair in half the time, then late ones."""
    end = time.monotonic() + seconds
    found: dict[int, Suggestion] = {}
    waiting = list(range(len(ways)))
    for is_second_round in (False, True):
        late = []
        for turn, number in enumerate(waiting):
            left = end - time.monotonic()
            if left <= 0:
                found.setdefault(number, _not_done(ways[number], OUT_OF_TIME))
                continue
            is_last = is_second_round or turn == len(waiting) - 1
            found[number] = _try_way(ways[number], left if is_last else left / 2)
            if found[number].reason == OUT_OF_TIME:
                late.append(number)
            done = (turn + 1) / len(waiting)
            tell(0.8 + 0.2 * done if is_second_round else 0.8 * done)
        waiting = late
    return [found[number] for number in sorted(found)]


def _try_way(way: Way, seconds: float) -> Suggestion:
    """Try one repair; return why it fails."""
    start = time.monotonic()
    try:
        done = way.carry_out(seconds)
    except LimitReached:
        return _not_done(way, OUT_OF_TIME)
    except TacitError as error:
        return _not_done(way, f"{error.what}. {error.remedy}")
    return Suggestion(
        way.method,
        done.what or way.what,
        done.after.verdict,
        loss=done.loss,
        measured=done.measured,
        cost=done.cost,
        commands=done.commands,
        release=done.release,
        after=done.after,
        seconds=time.monotonic() - start,
    )


def _not_done(way: Way, reason: str) -> Suggestion:
    return Suggestion(way.method, way.what, None, reason=reason)
