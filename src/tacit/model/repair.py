"""A changed release, what the change cost, and the audit of the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tacit.model.audit import Audit
from tacit.model.release import Release


@dataclass(frozen=True, slots=True, eq=False)
class Repair:
    """What a repair did; it succeeded only when the audit of the result is clean."""

    method: str
    release: Release
    before: Audit
    after: Audit
    cost: Mapping[str, Any]

    @property
    def ok(self) -> bool:
        """Whether the repaired release may be published under the policy."""
        return self.after.ok

    def to_dict(self) -> dict[str, Any]:
        """The record."""
        return {
            "format": "tacit.repair/1",
            "method": self.method,
            "before": self.before.summary(),
            "after": self.after.summary(),
            "cost": dict(self.cost),
        }
