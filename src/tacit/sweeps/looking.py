"""What a list of itemsets would give away at one threshold, for every k at once; remembered, because searches come back to thresholds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tacit.api import audit, mine_itemsets
from tacit.errors import LimitReached
from tacit.kernels.groups import Vertical, small_groups_on, vertical
from tacit.model.audit import AttackRun, Audit
from tacit.model.hierarchy import Hierarchy
from tacit.model.policy import Limits, Policy
from tacit.model.release import Itemsets
from tacit.model.table import Table
from tacit.model.transactions import Transactions

Whole = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Look:
    """What the itemsets above one threshold give away by adding and subtracting (I01), for each k in its order.

    ``people`` is the largest number of people in small groups of one set (these do not overlap), ``unsafe`` the count of the most frequent
    maximal set with a small group, 0 where there is none: every threshold up to it is unsafe as well.
    """

    maximal: int
    channels: Whole
    people: Whole
    unsafe: Whole
    groups_of_one: int


@dataclass(eq=False)
class Looker:
    """Looks at thresholds: ``rows`` are the people with all items, ``k`` the sizes of group that are asked about, ascending."""

    people: Table | Transactions
    trees: dict[str, Hierarchy] | None
    rows: Transactions
    k: Whole
    limits: Limits
    _looks: dict[int, Look] = field(default_factory=dict)
    _deductions: dict[tuple[int, int], AttackRun] = field(default_factory=dict)
    _release: Itemsets | None = None

    def seen(self) -> dict[int, Look]:
        """The thresholds that were looked at so far."""
        return self._looks

    def look(self, least: int) -> Look:
        """What is given away by the itemsets that at least so many people have."""
        if least not in self._looks:
            self.limits.check("sweep")
            maximal = mine_itemsets(
                self.people, min_support=least, only="maximal", hierarchies=self.trees, time_limit=self.limits.seconds_left
            )
            self._looks[least] = self._groups(maximal)
        return self._looks[least]

    def deduce(self, least: int, k: int) -> AttackRun:
        """What missing itemsets give away besides (I02)."""
        if (least, k) not in self._deductions:
            self.limits.check("sweep")
            if self._release is None or self._release.min_support != least:
                self._release = mine_itemsets(
                    self.people, min_support=least, only="closed", hierarchies=self.trees, time_limit=self.limits.seconds_left
                )
            found = audit(self._release, policy=Policy(k=k), attacks=["I02"], time_limit=self.limits.seconds_left)
            run = found.attack("I02")
            if run.status == "stopped":
                raise LimitReached("the time limit was reached", where="sweep", remedy="Give more time with --time-limit")
            self._deductions[least, k] = run
        return self._deductions[least, k]

    def audit_whole(self, least: int, k: int) -> Audit:
        """Audit the complete list of one threshold by every attack that applies."""
        self.limits.check("sweep")
        release = mine_itemsets(self.people, min_support=least, hierarchies=self.trees, time_limit=self.limits.seconds_left)
        return audit(release, data=self.rows, policy=Policy(k=k), time_limit=self.limits.seconds_left)

    def _groups(self, maximal: Itemsets) -> Look:
        """Small groups on the maximal sets, counted for every k in one pass."""
        if len(maximal) == 0:
            # A list without itemsets still tells how many people there are: one group, on the empty set.
            tally = _Tally(self.k, np.array([self.rows.n]))
            some = np.array([self.rows.n] if self.rows.n else [], np.int64)
            tally.add(np.zeros(len(some), np.int64), some)
        else:
            tally = _Tally(self.k, maximal.lo)
            sets = maximal.sets
            for which, _, sizes in small_groups_on(
                self._by_item(maximal), sets.offsets, sets.members, int(self.k.max()), self._pause
            ):
                tally.add(which, sizes)
        return Look(len(maximal), tally.channels, tally.people, tally.unsafe, tally.groups_of_one)

    def _by_item(self, release: Itemsets) -> Vertical:
        number = {name: i for i, name in enumerate(self.rows.items.names)}
        wanted = np.array([number[name] for name in release.items.names], np.int64)
        return vertical(self.rows.rows.offsets, self.rows.rows.members, self.rows.weights, wanted)

    @property
    def _pause(self) -> Callable[[float], None]:
        return lambda _: self.limits.check("sweep")


class _Tally:
    """Adds up small groups for every k, piece by piece; all groups of a set come in one piece."""

    def __init__(self, k: Whole, counts: Whole) -> None:
        self._k, self._counts = k, counts
        self.channels, self.people, self.unsafe = (np.zeros(len(k), np.int64) for _ in range(3))
        self.groups_of_one = 0

    def add(self, which: Whole, sizes: Whole) -> None:
        """Groups of these sizes on the sets of these numbers."""
        self.groups_of_one += int((sizes == 1).sum())
        for place, k in enumerate(self._k.tolist()):
            small = sizes < k
            if not small.any():
                continue
            sets, owner = np.unique(which[small], return_inverse=True)
            people = np.zeros(len(sets), np.int64)
            np.add.at(people, owner, sizes[small])
            self.channels[place] += int(small.sum())
            self.people[place] = max(self.people[place], int(people.max()))
            self.unsafe[place] = max(self.unsafe[place], int(self._counts[sets].max()))
