"""Audits of the same inputs under changing settings, without repeating what does not change.

A step changes a limit of the policy, or the release itself: a higher threshold, a coarser rounding. What an attack found is kept by the limits
that it reads. Attacks on exact itemsets run once, with the largest k asked for, and smaller ones leave findings out. An attack that has
shown itself slow, or is known to be, is left for :meth:`LiveAudit.audit` with more time: until then its run says that it is not finished, so
that no verdict is clean before every attack has looked.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from tacit.mining.rules import Published
from tacit.model.audit import AttackRun, Audit, Progress, Target, silent
from tacit.model.errors import LimitReached, OptionError
from tacit.model.finding import Event, Finding
from tacit.model.people import Gathered
from tacit.model.policy import Limits, Policy
from tacit.model.release import Itemsets, Listed, Release, Rules
from tacit.model.rounding import Precision, rounded
from tacit.repairs.lists import Lines, select_above
from tacit.repairs.raise_threshold import above
from tacit.repairs.round import DECIMALS, usual_bases
from tacit.verbs.attacks import ATTACKS, MOST_LINES, Attack, carried_out_by
from tacit.verbs.audit import audit
from tacit.verbs.kinds import kind_of
from tacit.verbs.round_controlled import round_tables
from tacit.verbs.suggest.tables import can_be_rounded

MOST_L = 10  #: Largest l of a slider.
MOST_THRESHOLDS = 200  #: Steps of a slider of thresholds.
MOST_BASES = 8  #: Steps of a slider of bases.
MOST_K = 50  #: Largest k of a slider: what is found with it is narrowed for smaller ones.
QUICK = 0.06  #: Seconds that an attack may have taken to be run in every step.
PATIENCE = 60.0  #: Seconds that the other attacks get once.
FOREVER = math.inf  #: Stands for as many seconds as an attack needs.
KEPT = 64  #: Steps that are remembered.
HURRY = 0.4  #: Seconds that a slow attack gets which has been quick so far.
_SLOW = ("known", "groups", "joint")  #: Cases of attacks that are taken to be slow until they have shown otherwise.
CELL_BASES = (3, 5, 10, 20, 50, 100)  #: Steps of a slider of bases for frequency tables.
MOST_CELLS = 2_000  #: Most cells of a table that is rounded at a step of a slider.
MOST_POINTS = 14  #: Steps of a curve.
COMPUTING = "is being computed"


Given = Mapping[str, Any]  #: Arguments of an audit besides the releases.


@dataclass(frozen=True, slots=True)
class Slider:
    """Change of releases in steps.

    ``steps`` returns the values that it can take for a release and what is given besides, the present one first (None: none of them), or
    nothing where it does not apply; ``make`` returns the releases as they would be published. If it ``joins``, several releases are changed
    together.
    """

    name: str
    steps: Callable[[Any, Given], tuple[int | None, ...]]
    make: Callable[[Gathered, int, Given], tuple[Release, ...]]
    joins: bool = False


def _thresholds(release: Listed) -> tuple[int | None, ...]:
    counts = sorted({int(count) for count in release.lo})
    if not counts:
        return ()
    least = release.min_support or counts[0]
    return tuple(dict.fromkeys((least, *counts[:: max(1, len(counts) // MOST_THRESHOLDS)])))


def _decimals(n: int | None, fewer_than: int | None = None) -> tuple[int | None, ...]:
    """Return numbers of decimals that print less than counts, the most first."""
    fitting = [one for one in DECIMALS if n and Precision(decimals=one).step(n) >= 1]
    return (None, *(one for one in reversed(fitting) if fewer_than is None or one < fewer_than))


Steps = Callable[[Any], tuple[int | None, ...]]


def _of_exact_itemsets(steps: Steps) -> Callable[[Itemsets, Given], tuple[int | None, ...]]:
    def steps_of(release: Itemsets, _: Given) -> tuple[int | None, ...]:
        return steps(release) if release.is_exact and release.only != "maximal" and len(release) else ()

    return steps_of


def _of_exact_rules(steps: Steps) -> Callable[[Rules, Given], tuple[int | None, ...]]:
    """Return steps for rules that can be repaired, which needs the data."""

    def steps_of(release: Rules, given: Given) -> tuple[int | None, ...]:
        is_exact = (release.lo == release.hi).all() and (release.whole_lo == release.whole_hi).all()
        can_be_made = given.get("data") is not None and release.header.first_match is None
        return steps(release) if is_exact and can_be_made and len(release) else ()

    return steps_of


def _raise_threshold(gathered: Gathered, least: int, _: Given) -> tuple[Release, ...]:
    return (above(_only_release(gathered), least),)


def _round_counts(gathered: Gathered, base: int, _: Given) -> tuple[Release, ...]:
    return (rounded(_only_release(gathered), Precision(base=base)),)


def _print_shares(gathered: Gathered, decimals: int, _: Given) -> tuple[Release, ...]:
    return (rounded(_only_release(gathered), Precision(decimals=decimals)),)


def _raise_threshold_of_rules(gathered: Gathered, least: int, _: Given) -> tuple[Release, ...]:
    lines = Lines.of_rules(_only_release(gathered), None)
    return (select_above(lines, least, lines.release.header),)


def _print_shares_of_rules(gathered: Gathered, decimals: int, _: Given) -> tuple[Release, ...]:
    return (Lines.of_rules(_only_release(gathered), None).printed(Published(digits=decimals)),)


def _bases_of_cells(release: Any, _: Given) -> tuple[int | None, ...]:
    is_plain = can_be_rounded(release) and release.printing.convention is None and not release.is_hidden.any()
    return (1, *CELL_BASES) if is_plain and len(release) <= MOST_CELLS else ()


def _round_cells(gathered: Gathered, base: int, given: Given) -> tuple[Release, ...]:
    return round_tables(gathered, base, Limits.within(PATIENCE), data=given.get("data"), people=given.get("people"))


def _only_release(gathered: Gathered) -> Any:
    (release,) = gathered.releases
    return release


#: Changes of each kind of release, in the order of the sliders.
SLIDERS: Mapping[str, tuple[Slider, ...]] = {
    "itemsets": (
        Slider("min-support", _of_exact_itemsets(_thresholds), _raise_threshold),
        Slider("base", _of_exact_itemsets(lambda release: (1, *usual_bases(release)[:MOST_BASES])), _round_counts),
        Slider("decimals", _of_exact_itemsets(lambda release: _decimals(release.n)), _print_shares),
    ),
    "rules": (
        Slider("min-support", _of_exact_rules(_thresholds), _raise_threshold_of_rules),
        Slider("decimals", _of_exact_rules(lambda release: _decimals(release.n)), _print_shares_of_rules),
    ),
    "frequencies": (Slider("cell-base", _bases_of_cells, _round_cells, joins=True),),
}


@dataclass(frozen=True)
class Change:
    """Step of one slider that changes releases; the releases stay as they are without a name."""

    name: str = ""
    value: int = 0

    @property
    def is_none(self) -> bool:
        """True if the releases stay as they are."""
        return not self.name

    def apply(self, gathered: Gathered, given: Given) -> Gathered:
        """Return the releases as they would be published."""
        if self.is_none:
            return gathered
        slider = next((one for one in sliders_of(gathered, given) if one.name == self.name), None)
        if slider is None:
            raise OptionError("does not apply to these releases", where=self.name, remedy="Change the releases themselves")
        return replace(gathered, releases=slider.make(gathered, self.value, given))


def sliders_of(gathered: Gathered, given: Given) -> tuple[Slider, ...]:
    """Return the changes that apply to releases."""
    kinds = {release.kind for release in gathered.releases}
    if len(kinds) > 1:
        return ()
    found = SLIDERS.get(next(iter(kinds)), ())
    fitting = [one for one in found if len(gathered.releases) == 1 or one.joins]
    return tuple(one for one in fitting if all(len(one.steps(release, given)) > 1 for release in gathered.releases))


@dataclass(frozen=True, eq=False)
class Step:
    """Audit under one setting, its releases, and its unfinished attacks."""

    audit: Audit
    releases: tuple[Release, ...]
    pending: tuple[str, ...]

    @property
    def release(self) -> Release | None:
        """The release, if there is only one."""
        return self.releases[0] if len(self.releases) == 1 else None


@dataclass(frozen=True)
class Point:
    """Findings and lost lines at one step; ``is_open`` if attacks were left out."""

    value: int
    findings: int
    lines_lost: int
    is_open: bool


@dataclass(frozen=True)
class Range:
    """Values that a setting can take in steps."""

    name: str
    values: tuple[int, ...]
    now: int | None


@dataclass(eq=False)
class LiveAudit:
    """Inputs of an audit that are read once, and what was found about them.

    ``others`` are the arguments of :func:`tacit.audit` besides the releases and the policy.
    """

    gathered: Gathered
    others: Mapping[str, Any]
    _runs: dict[tuple[object, ...], tuple[Release, AttackRun]] = field(default_factory=dict)
    _seconds: dict[tuple[str, int], float] = field(default_factory=dict)
    _steps: dict[tuple[object, ...], Step] = field(default_factory=dict)
    _changed: dict[Change, Gathered] = field(default_factory=dict)
    _pending: list[str] = field(default_factory=list)
    _limit: float | None = None

    def audit(
        self, policy: Policy, change: Change | None = None, *, seconds: float | None = None, progress: Progress = silent
    ) -> Step:
        """Audit under a policy, with ``seconds`` for each slow attack.

        With ``FOREVER`` they get all the time that they need.
        The result of a finished step is that of :func:`tacit.audit` with the same arguments.
        """
        change = change or Change()
        key = (repr(policy.to_dict()), repr(policy.set_by), change)
        known = self._steps.get(key)
        if known is not None and (not known.pending or seconds is None):
            return known
        gathered = self._gather(change)
        self._pending = []
        self._limit = seconds
        with carried_out_by(self._carry_out):
            found = audit(gathered, **self.others, policy=policy, progress=progress)
        step = Step(found, tuple(gathered.releases), tuple(dict.fromkeys(self._pending)))
        if len(self._steps) >= KEPT:
            self._steps.pop(next(iter(self._steps)))
        self._steps[key] = step
        return step

    def ranges(self, found: Audit) -> tuple[Range, ...]:
        """Return the settings that make sense for the releases of an audit, each with its steps."""
        read = {name for attack in ATTACKS if found.attack(attack.code).status != "not-relevant" for name in attack.reads}
        out = [Range("k", tuple(range(2, MOST_K + 1)), found.policy.k)] if "k" in read else []
        if "l" in read and any(kind_of(release).has_sensitive_column for release in self.gathered.releases):
            out.append(Range("l", tuple(range(2, MOST_L + 1)), found.policy.l))
        for slider in sliders_of(self.gathered, self.others):
            now, *later = slider.steps(self.gathered.releases[0], self.others)
            values = tuple(value for value in (now, *later) if value is not None)
            out.append(Range(slider.name, values, now))
        return tuple(out)

    def curve(self, policy: Policy, name: str) -> tuple[Point, ...]:
        """Return findings and lost lines for a few steps of a change.

        Attacks that are slow are not run: a point without findings may still be exposed.
        """
        found = self.audit(policy).audit
        known = next((one for one in self.ranges(found) if one.name == name), None)
        if known is None:
            return ()
        start = sum(release.n_lines for release in self.gathered.releases)
        values = known.values[:: max(1, -(-len(known.values) // MOST_POINTS))]
        points = []
        for value in values:
            change = Change() if value == known.now else Change(name, value)
            step = self.audit(policy, change)
            findings = sum(run.findings for run in step.audit.runs)
            left = sum(release.n_lines for release in step.releases)
            points.append(Point(value, findings, start - left, is_open=bool(step.pending)))
            if not findings and name == "min-support":
                break  # a shorter list lets nothing more be proved
        return tuple(points)

    def _gather(self, change: Change) -> Gathered:
        if change.is_none:
            return self.gathered
        if change not in self._changed:
            if len(self._changed) >= KEPT:
                self._changed.pop(next(iter(self._changed)))
            self._changed[change] = change.apply(self.gathered, self.others)
        return self._changed[change]

    def _carry_out(self, attack: Attack, target: Target) -> AttackRun:
        """Return what is known of an attack, run it, or leave it for later."""
        limits = tuple(getattr(target.policy, name) for name in attack.reads)
        key = (attack.code, id(target.release), limits)
        if key in self._runs:
            return self._runs[key][1]
        if attack.can_narrow(target) and target.policy.k <= MOST_K:
            wide = replace(target, policy=replace(target.policy, k=MOST_K))
            most = (attack.code, id(target.release), MOST_K)
            if most not in self._runs:
                found = self._run(attack, wide)
                if found is None:
                    return self._later(attack)
                self._keep(most, target.release, _remembering(found))
            narrowed = attack.narrow(self._runs[most][1], target.policy.k)
            self._keep(key, target.release, narrowed)
            return narrowed
        found = self._run(attack, target)
        if found is None:
            return self._later(attack)
        self._keep(key, target.release, _remembering(found))
        return self._runs[key][1]

    def _run(self, attack: Attack, target: Target) -> AttackRun | None:
        """Return the outcome of an attack, or None if there is no time for it."""
        name = (attack.code, id(target.release))
        # A release that has not been attacked yet is taken to be like those that have.
        seen = [seconds for (code, _), seconds in self._seconds.items() if code == attack.code]
        expected = self._seconds.get(name, max(seen, default=1.0) if attack.takes in _SLOW else 0.0)
        is_quick = expected <= QUICK or attack.takes not in _SLOW
        if not is_quick:
            lines = sum(one.n_lines for one in self.gathered.releases)
            if self._limit is None or expected > self._limit or (lines > MOST_LINES and self._limit < FOREVER):
                return None
        allowed = PATIENCE if attack.takes not in _SLOW else self._limit or HURRY
        started = time.monotonic()
        try:
            found = attack.run(replace(target, limits=Limits.within(None if allowed == FOREVER else allowed)))
        except LimitReached:
            found = None
        self._seconds[name] = time.monotonic() - started
        # With a limit of time, something may be open for lack of time only.
        is_limited = attack.takes in _SLOW and allowed < FOREVER
        is_whole = found is not None and found.status != "stopped" and not (is_limited and found.undecided)
        if not is_whole:
            self._seconds[name] = PATIENCE
        return found if is_whole else None

    def _later(self, attack: Attack) -> AttackRun:
        self._pending.append(attack.code)
        return attack.end("stopped", COMPUTING)

    def _keep(self, key: tuple[object, ...], release: Release, run: AttackRun) -> None:
        # The release is kept as well, so that no other one is given its id.
        if len(self._runs) >= 4 * KEPT:
            self._runs.pop(next(iter(self._runs)))
        self._runs[key] = (release, run)


def _remembering(run: AttackRun) -> AttackRun:
    """Return a run that writes a finding or a group out once."""
    event = run.event
    show = run.show
    if event is None or show is None:
        return run

    @lru_cache(maxsize=20_000)
    def event_at(index: int) -> Event:
        return event(index)

    @lru_cache(maxsize=2_000)
    def show_at(index: int) -> Finding:
        return show(index)

    return replace(run, event=event_at, show=show_at)
