"""Data sets, rival detectors and tables for reproductions.

UCI Adult is read as the papers use it: by default as Zhu, Wang and Du, eight categorical columns, the salary, rows with a missing value
removed.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from itertools import chain, combinations, pairwise, takewhile
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt

from tacit.files.disk import shown
from tacit.files.tables import read_table
from tacit.files.transactions import read_transactions
from tacit.itemsets.detectors import DETECTORS, Family, count_scanned
from tacit.itemsets.supports import Found, Supports
from tacit.mining.itemsets import mine_itemsets
from tacit.model.audit import AttackRun, Progress, Target
from tacit.model.errors import InputError, LimitReached, OptionError, TacitError
from tacit.model.policy import Limits, Policy
from tacit.model.release import Itemsets
from tacit.model.reproduction import Cell, Chart, Claim, Judged, Part, Standing, Timed
from tacit.model.table import Table, Transactions
from tacit.verbs.audit import audit

Made = TypeVar("Made")

#: How much each rival has to do: a number that does not depend on the machine, and what it counts.
WORK = {row.name: row.work for row in DETECTORS}
UNITS = {"naive": "sums", "oicd": "supports added", "pmicd": "rows sorted"}
#: Most counted steps up to which a rival is run, so that what is run does not depend on the machine.
MOST_STEPS = {"naive": 1_500_000, "oicd": 30_000_000, "pmicd": 1_500_000}
BUNDLED = "bundled"  #: The name of the data that come with Tacit, where a folder is asked for.


@dataclass(frozen=True, eq=False)
class Setting:
    """Data set with threshold (a share of the people, or a count) and k."""

    people: Transactions
    min_support: float
    k: int

    @cached_property
    def closed(self) -> Itemsets:
        """Closed itemsets, which are published."""
        return mine_itemsets(self.people, min_support=self.min_support, only="closed")

    @cached_property
    def family(self) -> Family:
        """Itemsets as the papers' detectors take them."""
        return Family(Target(self.closed, Policy(k=self.k), data=self.people), Supports(self.closed))

    def with_k(self, k: int) -> Setting:
        """Return the same publication under another k."""
        other = Setting(self.people, self.min_support, k)
        vars(other).update(closed=self.closed, family=self.family.under(replace(self.family.target, policy=Policy(k=k))))
        return other


@dataclass(frozen=True, slots=True)
class Timing:
    """Result of a rival: seconds, findings and counted steps; no findings if it was not run."""

    seconds: float | None = None
    found: int | None = None
    measures: dict[str, int] = field(default_factory=dict)
    steps: int | None = None
    scanned: int | None = None


@dataclass(eq=False)
class Bench:
    """Folder of data sets, and the seconds that programs took on them."""

    folder: Path | None
    limits: Limits
    progress: Progress
    times: list[Timed] = field(default_factory=list)
    is_stopped: bool = False

    @classmethod
    def open(cls, folder: str | os.PathLike[str] | None, time_limit: float | None, progress: Progress) -> Bench:
        """Open a bench over a folder, if given; ``bundled``: Tacit's own data."""
        if folder == BUNDLED and not Path(BUNDLED).exists():
            folder = str(files("tacit").joinpath("data"))
        place = None if folder is None else Path(folder)
        if place is not None and not place.is_dir():
            what = "is not a folder" if place.exists() else "does not exist"
            raise OptionError(what, where=shown(place), remedy="Give the folder that holds the files with --data")
        return cls(place, Limits() if time_limit is None else Limits.within(time_limit), progress)

    def people(self, name: str) -> Transactions | None:
        """Return a FIMI data set, or a part of it (``kosarak_head1000.dat``), or None."""
        if self.folder is None:
            return None
        whole = [self.folder / f"{name}{ending}" for ending in (".dat", ".dat.gz")]
        cut = sorted(path for ending in (".dat", ".dat.gz") for path in self.folder.glob(f"{name}_*{ending}"))
        return next((read_transactions(path) for path in (*whole, *cut) if path.is_file()), None)

    def missing(self, name: str, parts: str) -> str:
        """Return the message about a missing data set."""
        where = "no folder was given with --data" if self.folder is None else f"it is not in {shown(self.folder)}"
        return f"{parts}: they need {name}.dat or {name}.dat.gz of the FIMI repository (Frequent Itemset Mining Implementations), and {where}"

    def ours(self, setting: Setting) -> Timing:
        """Time Tacit's whole audit call, consistency check included."""

        def attack() -> AttackRun:
            return audit(setting.closed, data=setting.people, policy=Policy(k=setting.k), attacks=["I01"]).attack("I01")

        attack()  # kernels are compiled once, and that is not what is measured
        best, run = _time_call(attack)
        return Timing(best, run.findings)

    def rival(self, name: str, setting: Setting) -> Timing:
        """Time a paper's detector on itemsets that are ready."""
        family = setting.family
        try:
            steps = WORK[name](family)
            if name != "pmicd":
                len(family.frequent)  # worked out once, here
        except OptionError:  # more frequent itemsets than the references hold
            return Timing()
        scanned = count_scanned(family).first if name == "oicd" else None
        if steps > MOST_STEPS[name]:
            return Timing(steps=steps, scanned=scanned)
        target = replace(family.target, limits=self.limits)
        seconds, (found, measures) = _time_call(lambda: _detect(name, family.under(target)))
        return Timing(seconds, found, measures, steps, scanned=scanned)

    def time_all(self, setting: Setting, item: str, what: str) -> dict[str, Timing]:
        """Time every rival, and Tacit; note the seconds for this item."""
        found = {name: self.rival(name, setting) for name in RIVALS} | {"Tacit": self.ours(setting)}
        for name, timing in found.items():
            if timing.seconds is not None:
                self.times.append(Timed(item, what, NAMES[name], timing.seconds))
        return found


def _detect(name: str, family: Family) -> tuple[int, dict[str, int]]:
    found = 0

    def count(channels: Found) -> None:
        nonlocal found
        found += len(channels[0])

    told = next(row for row in DETECTORS if row.name == name).detect(family, count)
    return found, told.measures


def _time_call(call: Callable[[], Made]) -> tuple[float, Made]:
    """Time a call, quick ones three times for the least; return its result."""
    best = float("inf")
    for _ in range(3):
        begun = time.perf_counter()
        made = call()
        best = min(best, time.perf_counter() - begun)
        if best > 0.3:
            break
    return best, made


RIVALS = ("naive", "oicd", "pmicd")
NAMES = {"naive": "naive", "oicd": "OICD", "pmicd": "PMICD", "Tacit": "Tacit"}
READING = (
    "detection only, as the papers measure it: itemsets are ready before it begins. What each detector does is counted, so that the outcome "
    "does not depend on a machine; seconds are in run-times.csv. Detectors are run up to a number of steps, and counted beyond. The rivals "
    "are the readable references of this package; docs/benchmarks.md has PMICD in C++."
)


def work_part(
    name: str,
    title: str,
    what: str,
    timed: Sequence[tuple[float, dict[str, Timing]]],
    claims: Sequence[Claim],
    reading: str = READING,
) -> Part:
    """Make the table of what detectors do and find."""
    rows = tuple((x, *(times[rival].steps for rival in RIVALS), _compare_findings(times)) for x, times in timed)
    steps = {rival: [(x, float(found)) for x, times in timed if (found := times[rival].steps) is not None] for rival in RIVALS}
    lines = tuple((f"{NAMES[rival]}: {UNITS[rival]}", tuple(points)) for rival, points in steps.items() if points)
    head = (what, *(f"{NAMES[rival]}: {UNITS[rival]}" for rival in RIVALS), "found")
    return Part(name, title, reading, head, rows=rows, claims=tuple(claims), chart=Chart(what, "steps", lines))


def _compare_findings(times: dict[str, Timing]) -> str:
    numbers = {timing.found for timing in times.values() if timing.found is not None}
    run = ", ".join(NAMES[name] for name, timing in times.items() if timing.found is not None)
    return f"{max(numbers):,} by {run}" if len(numbers) == 1 else f"DIFFERENT: {sorted(numbers)}"


def counts_by_support(
    name: str, item: str, title: str, reading: str, people: Transactions, shares: Sequence[float], levels: Sequence[int]
) -> Part:
    """Count maximal channels by support (percent) and k."""
    rows: list[tuple[Cell, ...]] = []
    for share in shares:  # one search with the largest k, then counted for each
        release = mine_itemsets(people, min_support=share / 100, only="closed")
        sizes = np.asarray(audit(release, data=people, policy=Policy(k=max(levels)), attacks=["I01"]).table("I01")["count"])
        rows.append((share, *(int((sizes < k).sum()) for k in levels)))
    lines = [(f"k = {k}", tuple((float(row[0]), float(row[1 + i])) for row in rows)) for i, k in enumerate(levels)]  # type: ignore[arg-type]
    steps = [earlier[i] <= later[i] for earlier, later in pairwise(rows) for i in range(1, len(levels) + 1)]  # type: ignore[operator]
    falls = 10 * sum(steps) >= 9 * len(steps)
    free = [f"k = {k}: {_find_lowest_free(rows, i + 1)}" for i, k in enumerate(levels)]
    return Part(
        name,
        title,
        reading,
        ("min. support %", *(f"k = {k}" for k in levels)),
        rows=tuple(rows),
        claims=(
            Claim(
                item,
                "the number of channels falls as the support rises",
                confirm(falls),
                f"at {sum(steps)} of {len(steps)} steps",
            ),
            Claim(item, "for any k some support has no threat", confirm(not any(row for row in rows[0][1:])), "; ".join(free)),
        ),
        chart=Chart("min. support %", "maximal inference channels", tuple(lines)),
    )


def _find_lowest_free(rows: Sequence[tuple[Cell, ...]], column: int) -> str:
    free = [row[0] for row in takewhile(lambda row: not row[column], rows)]
    return f"{free[-1]:g} %" if free else "none"


FILES = ("adult.data", "adult.csv", "adult.csv.gz")
_COLUMNS = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex capital-gain capital-loss "
    "hours-per-week native-country salary"
)
COLUMN_NAMES = tuple(_COLUMNS.split())
QI = ("workclass", "marital-status", "occupation", "relationship", "race", "sex", "native-country", "education")
SA = "salary"
#: The levels of education in their order: the column education-num numbers them from 1, and the copy that comes with Tacit leaves it out.
_LEVELS = (
    "Preschool 1st-4th 5th-6th 7th-8th 9th 10th 11th 12th HS-grad Some-college Assoc-voc Assoc-acdm Bachelors Masters "
    "Prof-school Doctorate"
)
EDUCATION = tuple(_LEVELS.split())
#: What to say where the data are not there.
NEEDED = (
    "they need adult.data of the UCI repository (Adult), or adult.csv or adult.csv.gz with its column names "
    "(--data bundled takes the copy that comes with Tacit)"
)


def find_adult(folder: Path | None) -> Path | None:
    """Find the training file of Adult in a folder."""
    return next((folder / name for name in FILES if (folder / name).is_file()), None) if folder is not None else None


def read_adult(
    path: Path, *, qi: Sequence[str] = QI, sa: str = SA, missing_rule: Literal["category", "drop", "drop-any"] = "drop-any"
) -> Table:
    """Read the people of a paper; leave out rows with a question mark."""
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    rows = [row for row in csv.reader(io.StringIO(text.decode("utf-8", "replace")), skipinitialspace=True) if row]
    names = [name.strip() for name in rows.pop(0)] if rows and not rows[0][0].strip().isdigit() else list(COLUMN_NAMES)
    wrong = next((number for number, row in enumerate(rows, 1) if len(row) != len(names)), None)
    columns = {name: [row[place].strip() for row in rows] for place, name in enumerate(names)} if wrong is None else {}
    if "education-num" not in columns and set(columns.get("education", "?")) <= set(EDUCATION):
        columns["education-num"] = [str(EDUCATION.index(level) + 1) for level in columns["education"]]
    if not rows or not {*qi, sa} <= columns.keys():
        what = f"row {wrong} has another number of cells" if wrong is not None else "lacks columns of Adult, or rows"
        raise InputError(what, where=path.name, remedy="Give the file adult.data as UCI distributes it")
    return read_table(columns, qi=list(qi), sa=sa, missing="?", missing_rule=missing_rule)


def run_on_adult(
    bench: Bench,
    parts: list[Part],
    what: str,
    read: Callable[[Path], Made],
    steps: Sequence[Callable[[Made], list[Part]]],
    *,
    excuses: tuple[type[TacitError], ...] = (),
) -> tuple[tuple[Part, ...], tuple[str, ...]]:
    """Add the parts that need Adult, and return those left out too.

    A step whose data raise one of the ``excuses`` is left out, with the error as its reason.
    """
    path = find_adult(bench.folder)
    if path is None:
        where = "and no folder was given with --data" if bench.folder is None else "and the folder holds none of them"
        return tuple(parts), (f"{what}: {NEEDED}, {where}",)
    trial = read(path)
    left_out = []
    for done, step in enumerate(steps):
        if bench.limits.seconds_left is not None and bench.limits.seconds_left < 1:
            bench.is_stopped = True
            left_out.append(f"{step.__doc__ or ''} the time limit was reached".replace(".", ":", 1))
            continue
        try:
            parts += step(trial)
        except LimitReached as error:
            bench.is_stopped = True
            left_out.append(f"{step.__doc__ or ''} {error.what}".replace(".", ":", 1))
        except excuses as error:
            left_out.append(f"{step.__doc__ or ''} {error}".replace(".", ":", 1))
        bench.progress((done + 1) / len(steps))
    return tuple(parts), tuple(left_out)


def confirm(holds: bool) -> Standing:
    """Return the standing of a statement."""
    return "confirmed" if holds else "not confirmed"


@dataclass(frozen=True, slots=True)
class Paired:
    """Mean of paired differences over draws, with its standard error."""

    mean: float
    error: float
    draws: int

    @classmethod
    def of(cls, first: npt.ArrayLike, second: npt.ArrayLike) -> Paired:
        """Return how much larger the second is, draw by draw."""
        apart = np.asarray(second, np.float64) - np.asarray(first, np.float64)
        return cls(float(apart.mean()), float(apart.std(ddof=1) / np.sqrt(len(apart))), len(apart))

    @property
    def errors(self) -> float:
        """Mean difference in standard errors."""
        return self.mean / self.error if self.error else float(np.sign(self.mean)) * float("inf") if self.mean else 0.0

    def judge(self) -> Judged:
        """Judge that the second is larger: open within two standard errors."""
        standing: Standing = "confirmed" if self.errors >= DECIDED else "not confirmed" if self.errors <= -DECIDED else "open"
        return Judged(standing, f"difference {self.mean:.3g} +- {self.error:.2g}, {self.errors:.1f} s.e. of {self.draws} draws")


DECIDED = 2.0  #: Standard errors from which on draws decide.
HEAD = ("where", "what", "paper", "Tacit", "agrees")
Row = tuple[Cell, ...]


def fact(where: str, what: str, paper: Cell, ours: Cell, why: str = "") -> Row:
    """A row; ``why`` says what is behind a difference."""
    return where, what, paper, ours, "yes" if paper == ours else f"NO{': ' if why else ''}{why}"


def facts_part(name: str, title: str, reading: str, rows: Sequence[Row], note: str = "") -> Part:
    """Make a table of facts; each is a claim of the item that it names."""
    claims = []
    for where, what, paper, ours, agrees in rows:
        why = str(agrees).removeprefix("NO").removeprefix(": ")
        apart = f"here {ours}{f': {why}' if why else ''}"
        claims.append(Claim(str(where), f"{what}: {paper}", confirm(agrees == "yes"), "" if agrees == "yes" else apart))
    return Part(name, title, reading, HEAD, rows=tuple(rows), claims=tuple(claims), note=note)


class Database:
    """Few people with letters as items."""

    def __init__(self, rows: str) -> None:
        self.rows = [frozenset(row) for row in rows.split()]

    @property
    def people(self) -> Transactions:
        """Same people as transactions."""
        return Transactions.from_lists(sorted(row) for row in self.rows)

    def support(self, present: str, absent: str = "") -> int:
        """Count people with first and without second letters."""
        return sum(row.issuperset(present) and row.isdisjoint(absent) for row in self.rows)

    def frequent(self, least: int) -> dict[str, int]:
        """Return all frequent sets of letters."""
        items = sorted(frozenset().union(*self.rows))
        return {part: count for part in subsets(items) if (count := self.support(part)) >= least}

    def channels(self, least: int, k: int) -> dict[tuple[str, str], int]:
        """Return all channels as (I, J): 1 to k-1 people have exactly I of J."""
        found = {}
        for whole in self.frequent(least):
            for part in subsets(whole):
                size = self.support(part, "".join(set(whole) - set(part)))
                if 0 < size < k:
                    found[part, whole] = size
        return found


def subsets(items: Iterable[str]) -> Iterable[str]:
    """All subsets of some letters, as words."""
    listed = sorted(items)
    return map("".join, chain.from_iterable(combinations(listed, size) for size in range(len(listed) + 1)))


def listed(supports: dict[str, int]) -> str:
    """List sets with supports, shortest first."""
    entries = sorted(supports.items(), key=lambda entry: (len(entry[0]), entry[0]))
    return " ".join(f"{items or '{}'}:{count}" for items, count in entries)


def pairs(channels: dict[tuple[str, str], int]) -> str:
    """Channels in one line: ``I in J: size``."""
    entries = sorted(channels.items(), key=lambda entry: (entry[0][1], entry[0][0]))
    return ", ".join(f"{part or '{}'} in {whole}: {size}" for (part, whole), size in entries)
