"""What an attack is given, and what a row of the table of attacks holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, get_args

import numpy as np
import numpy.typing as npt

from tacit.model.audit import AttackRun
from tacit.model.bound import Bound
from tacit.model.event import Event
from tacit.model.finding import Claim
from tacit.model.policy import Limits, Policy
from tacit.model.release import Itemsets, Release
from tacit.model.transactions import Transactions

if TYPE_CHECKING:
    from tacit.attacks.buckets.case import BucketCase
    from tacit.attacks.joint.case import JointCase
    from tacit.attacks.sensitive.case import RuleCase
    from tacit.attacks.sensitive.several import SeveralCase
    from tacit.attacks.tables.case import TableCase

Progress = Callable[[float], None]

#: How I01 finds its channels: its own way, or one of the papers' (``attacks/detectors``).
Algorithm = Literal["projection", "naive", "oicd", "pmicd"]
ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)


class Stream(Protocol):
    """Where findings go while they are found, so that they need not be kept."""

    def add_patterns(
        self,
        code: str,
        release: Itemsets,
        line: npt.NDArray[np.int64],
        present: npt.NDArray[np.uint64],
        free: npt.NDArray[np.uint64] | None,
        bounds: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]],
    ) -> None:
        """Take patterns on published sets: the number of the set (-1: the empty one), which items are present and which left open (bits)."""

    def add_events(self, code: str, found: Iterable[tuple[Event, Bound]]) -> None:
        """Take findings of any kind."""


def silent(_: float) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A release under attack.

    ``data`` is the owner's shortcut: an attack may use it only to find, faster, what follows from the release alone. With ``first_hit`` an
    attack may end with its first finding. An attack that hands findings to ``stream`` keeps the worst only. ``rules`` is the release
    beside everybody's quasi-identifiers, where both are there; ``buckets`` a bucketized one beside what is known about its people.
    ``named`` are the attacks that somebody asked for by their codes; ``table`` is a table with blanks beside what its owner says. ``together``
    are several releases, of which ``release`` is the first, under one attack; ``several`` the same releases beside everybody's
    quasi-identifiers, where these are known and the people are the same.
    """

    release: Release
    policy: Policy
    limits: Limits = field(default_factory=Limits)
    data: Transactions | None = None
    index: int = 0
    progress: Progress = silent
    algorithm: Algorithm = "projection"
    first_hit: bool = False
    stream: Stream | None = None
    rules: RuleCase | None = None
    buckets: BucketCase | None = None
    named: frozenset[str] = frozenset()
    table: TableCase | None = None
    together: JointCase | None = None
    several: SeveralCase | None = None


def never(_: Target) -> str:
    """The reason against an attack that applies to every release of its kind: none."""
    return ""


@dataclass(frozen=True, slots=True)
class Attack:
    """A row of the table: ``needs`` names the kind of release, ``run`` carries the attack out.

    ``reason_against`` says why the attack does not apply to a release of this kind; it is empty where it applies.
    """

    code: str
    name: str
    needs: str
    claim: Claim
    run: Callable[[Target], AttackRun]
    summary: str
    source: str
    reason_against: Callable[[Target], str] = never

    def skipped(self, reason: str) -> AttackRun:
        """Return the run of an attack that does not apply."""
        return AttackRun(self.code, self.name, self.claim, "not-relevant", reason)

    def not_asked(self, target: Target) -> AttackRun:
        """Return the run of an attack on this kind of release that nobody asked for."""
        if why := self.reason_against(target):
            return self.skipped(why)
        return AttackRun(self.code, self.name, self.claim, "not-asked", "it applies, and was not asked for")
