"""A partial table together with how its cells were chosen, and the audit of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from tacit.model.audit import Audit
from tacit.model.partial import PartialTable
from tacit.model.repair import Tried, repair_record


@dataclass(frozen=True, slots=True, eq=False)
class Hidden(PartialTable):
    """A table with cells hidden by ``method``, as it may be published; safe only when ``after``, the audit of it, is clean.

    ``before`` is the audit of the table with nothing but the protected cells hidden. ``cost`` says what was hidden, and what that does to the
    table's use; ``tried``, where something remains, what hiding the same attributes of all sensitive records would come to.
    """

    method: str = ""
    before: Audit | None = None
    after: Audit | None = None
    cost: Mapping[str, Any] = field(default_factory=dict)
    tried: tuple[Tried, ...] = ()

    @classmethod
    def made(cls, partial: PartialTable, **how: Any) -> Hidden:
        """The table with how it was made."""
        parts = {part.name: getattr(partial, part.name) for part in fields(PartialTable) if part.init}
        return cls(**parts, **how)

    @property
    def ok(self) -> bool:
        """Whether the table may be published under the policy it was made for."""
        return self.after is not None and self.after.ok

    def to_dict(self) -> dict[str, Any]:
        """The record."""
        tried = [one.to_dict() for one in self.tried]
        return repair_record(self.method, self.before, self.after, self.cost) | {"tried": tried}
