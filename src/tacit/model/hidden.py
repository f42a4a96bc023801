"""A partial table together with how its cells were chosen, and the audit of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from tacit.model.audit import Audit
from tacit.model.partial import PartialTable
from tacit.model.repair import Tried, repair_record

#: What becomes of columns without a role: they are left out, or published and protected against.
OtherColumns = Literal["drop", "keep"]
OTHER_COLUMNS: tuple[OtherColumns, ...] = get_args(OtherColumns)


@dataclass(frozen=True, slots=True, eq=False)
class Hidden(PartialTable):
    """A table with cells hidden by ``method``, as it may be published; safe only when ``after``, the audit of it, is clean.

    ``before`` is the audit of the table with nothing but the protected cells hidden. ``cost`` says what was hidden, and what that does to the
    table's use; ``tried``, where something remains, what hiding the same attributes of all sensitive records would come to. ``other_names`` are
    the columns of the data that had no role, and ``other_columns`` says what became of them.
    """

    method: str = ""
    before: Audit | None = None
    after: Audit | None = None
    cost: Mapping[str, Any] = field(default_factory=dict)
    tried: tuple[Tried, ...] = ()
    other_columns: OtherColumns = "drop"
    other_names: tuple[str, ...] = ()

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
        others = {"other_columns": {"rule": self.other_columns, "columns": list(self.other_names)}}
        return repair_record(self.method, self.before, self.after, self.cost) | others | {"tried": tried}
