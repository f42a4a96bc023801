"""A bucketized release together with how it was made, and the audit of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from tacit.model.audit import Audit
from tacit.model.buckets import Buckets
from tacit.model.repair import Tried, repair_record


@dataclass(frozen=True, slots=True, eq=False)
class Bucketized(Buckets):
    """Groups of people as they may be published, made by ``method``; safe only when ``after``, the audit of them, is clean.

    ``before`` is the audit of the table as it is: everybody's value beside her quasi-identifiers. ``cost`` says what the groups are like,
    ``tried`` what other methods come to, for the same people and the same knowledge.
    """

    method: str = ""
    before: Audit | None = None
    after: Audit | None = None
    cost: Mapping[str, Any] = field(default_factory=dict)
    tried: tuple[Tried, ...] = ()

    @classmethod
    def made(cls, buckets: Buckets, **how: Any) -> Bucketized:
        """The release with how it was made."""
        parts = {part.name: getattr(buckets, part.name) for part in fields(Buckets) if part.init}
        return cls(**parts, **how)

    @property
    def ok(self) -> bool:
        """Whether the release may be published under the policy it was made for."""
        return self.after is not None and self.after.ok

    def to_dict(self) -> dict[str, Any]:
        """The record."""
        tried = [one.to_dict() for one in self.tried]
        return repair_record(self.method, self.before, self.after, self.cost) | {"tried": tried}
