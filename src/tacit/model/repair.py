"""A changed release, what the change cost, and the audit of the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tacit.model.audit import Audit, Verdict
from tacit.model.release import Release


@dataclass(frozen=True, slots=True)
class Tried:
    """What a method of repair would come to: the verdict on its result and its cost; ``reason`` says why there is none."""

    method: str
    verdict: Verdict | None
    cost: Mapping[str, Any]
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The attempt as in the record."""
        out: dict[str, Any] = {"method": self.method, "verdict": self.verdict, "cost": dict(self.cost)}
        return out | {"reason": self.reason} if self.reason else out


def repair_record(method: str, before: Audit | None, after: Audit | None, cost: Mapping[str, Any]) -> dict[str, Any]:
    """What the record says about a release that was repaired, or made to be safe."""
    summaries = {"before": before.summary() if before else None, "after": after.summary() if after else None}
    return {"format": "tacit.repair/1", "method": method, **summaries, "cost": dict(cost)}


@dataclass(frozen=True, slots=True, eq=False)
class Repair:
    """What a repair did; it succeeded only when its goal is met.

    The ``goal`` ``"all"`` is met when the audit of the result is clean; ``"frequent-only"`` when I01, the only attack that it asks for, finds
    nothing. The verdict of the audits is that of every audit: with attacks that nobody asked for it is at best incomplete.
    ``remark`` says what else is to be known about how it ended, in a sentence. ``tried`` says what every method would come to, this one
    among them, and ``suggested`` which of those that meet the goal is the cheapest, where methods were compared.
    """

    method: str
    release: Release
    before: Audit
    after: Audit
    cost: Mapping[str, Any]
    suggested: str | None = None
    tried: tuple[Tried, ...] = ()
    remark: str = ""
    goal: str = "all"

    @property
    def ok(self) -> bool:
        """Whether the goal is met."""
        return self.after.asked_verdict == "clean" if self.goal == "frequent-only" else self.after.ok

    def to_dict(self) -> dict[str, Any]:
        """The record."""
        out = repair_record(self.method, self.before, self.after, self.cost) | {"goal": self.goal, "goal_met": self.ok}
        out |= {"remark": self.remark} if self.remark else {}
        return out | {"suggested": self.suggested, "tried": [one.to_dict() for one in self.tried]} if self.tried else out
