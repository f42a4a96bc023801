"""What a row of the table of repairs holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tacit.model.audit import Audit
from tacit.model.release import Release

#: Audits a release under the policy of the repair; repairs are handed it, so that they share no code with the attacks.
AuditFunction = Callable[[Release], Audit]


@dataclass(frozen=True, slots=True)
class RepairMethod:
    """A row of the table: ``of`` names the kinds of release, ``propose`` returns a changed one. The audit decides whether it is safe."""

    name: str
    of: tuple[str, ...]
    propose: Callable[[Release, AuditFunction], Release]
    summary: str
    source: str
