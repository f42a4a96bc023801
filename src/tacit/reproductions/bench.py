"""What reproductions work with: the public data sets, the rivals on the same input, and the time that they may take."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

from tacit.api import audit, mine_itemsets, read_transactions
from tacit.attacks.base import Progress, Target
from tacit.attacks.detectors import DETECTORS, Family, naive, oicd, pmicd
from tacit.attacks.detectors.family import Found
from tacit.attacks.supports import Supports
from tacit.errors import LimitReached, OptionError
from tacit.formats.files import shown
from tacit.model.audit import AttackRun
from tacit.model.policy import Limits, Policy
from tacit.model.release import Itemsets
from tacit.model.transactions import Transactions

Made = TypeVar("Made")

#: How much each rival has to do: a number that does not depend on the machine, and what it counts.
WORK = {naive.NAME: naive.work, oicd.NAME: oicd.work, pmicd.NAME: pmicd.work}
UNITS = {naive.NAME: "sums", oicd.NAME: "supports added", pmicd.NAME: "rows sorted"}
#: The name of the data that come with Tacit, where a folder is asked for.
BUNDLED = "bundled"
#: A rival that takes less than this is run three times, and the least time counts.
QUICK = 0.3


@dataclass(frozen=True, eq=False)
class Setting:
    """A data set at a threshold (a share of the people, or a count), and the k that groups are compared with."""

    people: Transactions
    min_support: float
    k: int

    @cached_property
    def closed(self) -> Itemsets:
        """What is published: the closed itemsets."""
        return mine_itemsets(self.people, min_support=self.min_support, only="closed")

    @cached_property
    def family(self) -> Family:
        """The itemsets as the papers' detectors take them."""
        return Family(Target(self.closed, Policy(k=self.k), data=self.people), Supports(self.closed))

    def with_k(self, k: int) -> Setting:
        """The same publication under another k; nothing is mined again."""
        other = Setting(self.people, self.min_support, k)
        target = replace(self.family.target, policy=Policy(k=k))
        vars(other).update(closed=self.closed, family=self.family.under(target))
        return other


@dataclass(frozen=True, slots=True)
class Timing:
    """How a rival did: its seconds and what it found, or None and the seconds that it would take about; and how much it has to do."""

    seconds: float | None
    found: int | None = None
    measures: dict[str, int] = field(default_factory=dict)
    steps: int | None = None
    about: float | None = None

    @property
    def told(self) -> float | str:
        """The seconds, or why there are none."""
        if self.seconds is not None:
            return self.seconds
        return "not run: too many itemsets" if self.about is None else f"not run: would take about {_length(self.about)}"


def _length(seconds: float) -> str:
    """A time in words.

    >>> _length(40.2), _length(600), _length(9000)
    ('40 s', '10 min', '2.5 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


@dataclass(eq=False)
class Bench:
    """A folder of data sets, and a clock; it learns how fast each rival works, and runs what fits into the time."""

    folder: Path | None
    limits: Limits
    allowance: float
    progress: Progress
    rates: dict[str, float] = field(default_factory=dict)

    @classmethod
    def open(cls, folder: str | os.PathLike[str] | None, time_limit: float, progress: Progress) -> Bench:
        """A bench over a folder, which must exist where one is given; ``bundled`` is what comes with Tacit, Adult only."""
        if folder == BUNDLED and not Path(BUNDLED).exists():
            folder = str(files("tacit").joinpath("data"))
        place = None if folder is None else Path(folder)
        if place is not None and not place.is_dir():
            what = "is not a folder" if place.exists() else "does not exist"
            raise OptionError(what, where=shown(place), remedy="Give the folder that holds the files with --data")
        return cls(place, Limits.within(time_limit), time_limit / 10, progress)

    def people(self, name: str) -> Transactions | None:
        """A data set of the FIMI repository, or None where the folder does not hold it."""
        if self.folder is None:
            return None
        for ending in (".dat", ".dat.gz"):
            path = self.folder / f"{name}{ending}"
            if path.is_file():
                return read_transactions(path)
        return None

    def missing(self, name: str, parts: str) -> str:
        """What to say about a data set that is not there, and what is left out without it."""
        where = "no folder was given with --data" if self.folder is None else f"it is not in {shown(self.folder)}"
        return f"{parts}: they need {name}.dat or {name}.dat.gz of the FIMI repository (Frequent Itemset Mining Implementations), and {where}"

    def ours(self, setting: Setting) -> Timing:
        """Tacit's own search: the whole audit call, the comparison of every published count with the data included."""

        def attack() -> AttackRun:
            found = audit(setting.closed, data=setting.people, policy=Policy(k=setting.k), attacks=["I01"])
            return found.attack("I01")

        attack()  # kernels are compiled once, and that is not what is measured
        best, run = _least(attack)
        return Timing(best, run.findings)

    def rival(self, name: str, setting: Setting) -> Timing:
        """A paper's detector on the itemsets of a setting, which are made ready before the clock starts."""
        family = setting.family
        try:
            steps = WORK[name](family)
            if name != pmicd.NAME:
                len(family.frequent)  # worked out once, here
        except OptionError:  # more frequent itemsets than the references hold
            return Timing(None)
        about, left = self.rates.get(name, 0.0) * steps, self.limits.seconds_left or 0.0
        if about > min(self.allowance, left) or left < 0.01:
            return Timing(None, steps=steps, about=about)
        shares = [0.0]
        target = replace(family.target, limits=Limits.within(min(self.allowance, left)), progress=shares.append)
        begun = time.perf_counter()
        try:
            seconds, (found, measures) = _least(lambda: _detected(name, family.under(target)))
        except LimitReached:
            about = (time.perf_counter() - begun) / max(shares[-1], 1e-3)
            self.rates[name] = about / max(1, steps)
            return Timing(None, steps=steps, about=about)
        self.rates[name] = seconds / max(1, steps)
        return Timing(seconds, found, measures, steps)


def _detected(name: str, family: Family) -> tuple[int, dict[str, int]]:
    """How many channels a detector hands on, and its numbers."""
    found = 0

    def count(channels: Found) -> None:
        nonlocal found
        found += len(channels[0])

    told = next(row for row in DETECTORS if row.name == name).detect(family, count)
    return found, told.measures


def _least(call: Callable[[], Made]) -> tuple[float, Made]:
    """The seconds that a call takes, the least of three where it is quick, and what it returns."""
    best = float("inf")
    for _ in range(3):
        begun = time.perf_counter()
        made = call()
        best = min(best, time.perf_counter() - begun)
        if best > QUICK:
            break
    return best, made
