"""What an attack is given, and what a row of the table of attacks holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, get_args

from tacit.model.audit import AttackRun
from tacit.model.finding import Claim
from tacit.model.policy import Limits, Policy
from tacit.model.release import Release
from tacit.model.transactions import Transactions

Progress = Callable[[float], None]

#: How I01 finds its channels: its own way, or one of the papers' (``attacks/detectors``).
Algorithm = Literal["projection", "naive", "oicd", "pmicd"]
ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)


def silent(_: float) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A release under attack.

    ``data`` is the owner's shortcut: an attack may use it only to find, faster, what follows from the release alone.
    """

    release: Release
    policy: Policy
    limits: Limits = field(default_factory=Limits)
    data: Transactions | None = None
    index: int = 0
    progress: Progress = silent
    algorithm: Algorithm = "projection"


@dataclass(frozen=True, slots=True)
class Attack:
    """A row of the table: ``needs`` names the kind of release, ``run`` carries the attack out."""

    code: str
    name: str
    needs: str
    claim: Claim
    run: Callable[[Target], AttackRun]
    summary: str
    source: str

    def skipped(self, reason: str) -> AttackRun:
        """The run of an attack that does not apply."""
        return AttackRun(self.code, self.name, self.claim, "not-relevant", reason)
