"""The verbs ``sweep``: audits over a grid of settings.

The lowest support threshold at which I01 and I02 find nothing is found by bisection. Raising the threshold leaves a part of the family of
published sets, and every set of it lies inside a maximal set of the larger family. Call a set safe if every group of people that its items
distinguish is empty or has at least k members; groups on fewer items are unions of groups on more, so subsets of safe sets are safe. Hence a
threshold without a channel (all maximal sets safe) stays without one when it is raised: the safe thresholds are an upper range. An unsafe set
that c people have makes every threshold up to c unsafe, so the search continues above the most frequent unsafe set.

Deduction through missing itemsets (I02) by itself is not monotone: what is deduced at a high threshold may be published at a low one. Together
with channels it is. Let a group on J be deduced at a threshold. At a lower one J is either published, and then the group, which is really
small, is a channel; or it is missing there as well, its subsets are known all the same, and the upper bound on its support is
lower, so that the same group is deduced again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, partial
from itertools import product
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from tacit.files.engines import Engine, as_engine
from tacit.files.inputs import people_of, require_table, trees_of
from tacit.files.releases import read_release
from tacit.kernels.projection import Crowd, small_groups_on
from tacit.mining.itemsets import count_by_threshold, mine_itemsets
from tacit.mining.rules import mine_rules
from tacit.model.arrays import Ints
from tacit.model.audit import AttackRun, Audit, Progress, Verdict, silent
from tacit.model.errors import LimitReached, OptionError, TacitError
from tacit.model.numbers import Threshold, share
from tacit.model.policy import Limits, Policy, policy_of
from tacit.model.release import Itemsets, Only, Rules
from tacit.model.repair import Goal, RepairMethod
from tacit.model.rounding import Precision, rounded
from tacit.model.sweep import (
    Cell,
    ItemsetSweep,
    Lowest,
    RepairRow,
    RepairSweep,
    RoundingSweep,
    RuleCell,
    RuleForm,
    RuleSweep,
    Setting,
)
from tacit.model.table import Hierarchy, Names, Table, Transactions
from tacit.repairs import REPAIRS
from tacit.repairs.round import DECIMALS, usual_bases
from tacit.verbs.audit import audit
from tacit.verbs.data import merge_data, with_coarser_items
from tacit.verbs.repair import FAST, cost_of, repair
from tacit.verbs.suggest.lists import count_published, itemset_loss


def listed(given: Any) -> list[Any]:
    """Return values as a list; split text at commas."""
    if isinstance(given, str):
        return [part.strip() for part in given.split(",") if part.strip()]
    if isinstance(given, Iterable):
        return [part for one in given for part in listed(one)]
    return [given]


def thresholds(given: Any, n: int, *, strict: bool) -> list[int]:
    """Return distinct support thresholds as counts, highest first."""
    chosen = [Threshold.parse(one, where="--min-support").least_count(n, strict=strict) for one in listed(given)]
    if not chosen:
        raise OptionError("is missing", where="--min-support", remedy="Write for instance --min-support 5%,10%,20%")
    return sorted(set(chosen), reverse=True)


def sizes(given: Any) -> list[int]:
    """Return values of k, the smallest first, each once."""
    chosen = [
        int(one) if isinstance(one, str) and one.isascii() and one.isdecimal() and len(one) < 19 else one for one in listed(given)
    ]
    if not chosen:
        raise OptionError("is missing", where="--k", remedy="Write for instance --k 5,10,30")
    return sorted({Policy(k=k).k for k in chosen})


class _Look:
    """Findings of I01 above one threshold, by k.

    ``counts`` are those of the maximal sets. ``people`` is the largest number of people in small groups of one set (these do not overlap),
    ``unsafe`` the count of the most frequent maximal set with a small group, 0 where there is none: every threshold up to it is unsafe as
    well.
    """

    def __init__(self, k: Ints, counts: Ints, maximal: int) -> None:
        self._k = k
        self._counts = counts
        self.maximal = maximal
        self.channels, self.people, self.unsafe = (np.zeros(len(k), np.int64) for _ in range(3))
        self.groups_of_one = 0

    def add(self, which: Ints, sizes: Ints) -> None:
        """Add groups of these sizes; all groups of a set come together."""
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


@dataclass(eq=False)
class _ItemsetLooker:
    """Search of thresholds over ``rows``, with ascending ``k``."""

    people: Table | Transactions
    trees: dict[str, Hierarchy] | None
    rows: Transactions
    k: Ints
    limits: Limits
    _looks: dict[int, _Look] = field(default_factory=dict)
    _deductions: dict[tuple[int, int], AttackRun] = field(default_factory=dict)
    _release: Itemsets | None = None

    def look(self, least: int) -> _Look:
        if least not in self._looks:
            maximal = self._mine(least, "maximal")
            if len(maximal) == 0:
                # A list without itemsets still tells how many people there are: one group, on the empty set.
                look = _Look(self.k, np.array([self.rows.n]), 0)
                some = np.array([self.rows.n] if self.rows.n else [], np.int64)
                look.add(np.zeros(len(some), np.int64), some)
            else:
                look = _Look(self.k, maximal.lo, len(maximal))
                number = {name: i for i, name in enumerate(self.rows.items.names)}
                wanted = np.array([number[name] for name in maximal.items.names], np.int64)
                crowd = Crowd.of(self.rows.rows, self.rows.weights, wanted)
                sets = maximal.sets
                for which, _, sizes in small_groups_on(
                    crowd, sets.offsets, sets.members, int(self.k.max()), lambda _: self.limits.check("sweep")
                ):
                    look.add(which, sizes)
            self._looks[least] = look
        return self._looks[least]

    def deduce(self, least: int, k: int) -> AttackRun:
        if (least, k) not in self._deductions:
            self.limits.check("sweep")
            if self._release is None or self._release.min_support != least:
                self._release = self._mine(least, "closed")
            found = audit(self._release, policy=Policy(k=k), attacks=["I02"], time_limit=self.limits.seconds_left)
            run = found.attack("I02")
            if run.status == "stopped":
                raise LimitReached("the time limit was reached", where="sweep", remedy="Give more time with --time-limit")
            self._deductions[least, k] = run
        return self._deductions[least, k]

    def _mine(self, least: int, only: Only) -> Itemsets:
        self.limits.check("sweep")
        return mine_itemsets(
            self.people, min_support=least, only=only, hierarchies=self.trees, time_limit=self.limits.seconds_left
        )

    def cell(self, least: int, place: int, *, every_attack: bool) -> Cell:
        """Return one cell, but for the numbers of itemsets."""
        look = self.look(least)
        k = int(self.k[place])
        channels = int(look.channels[place])
        people = int(look.people[place])
        deduced: int | None = None
        verdict: Verdict = "exposed"
        if every_attack or not channels:
            run = self.deduce(least, k)
            people = max(people, run.people)
            deduced = run.findings if run.decides or run.findings else None
            if not channels and not run.findings:
                # Nothing is called clean that the other attacks, the general adversary among them, did not look at.
                release = self._mine(least, "all")
                whole = audit(release, data=self.rows, policy=Policy(k=k), time_limit=self.limits.seconds_left)
                verdict = whole.verdict
                people = max((one.people for one in whole.runs), default=0)
        return Cell(
            least,
            k,
            None,
            None,
            maximal=look.maximal,
            channels=channels,
            groups_of_one=look.groups_of_one if k > 1 else 0,
            deduced=deduced,
            people=people,
            verdict=verdict,
        )

    def lowest_without_channels(self, place: int, k: int) -> int | None:
        n = self.rows.n
        if self.look(n + 1).unsafe[place]:
            return None
        if int(self.rows.weights.min(initial=k)) >= k:
            return 1  # nobody's whole row is rare, so no set of items makes anybody rare
        unsafe = 0
        safe = n + 1
        for least, look in self._looks.items():
            if look.unsafe[place]:
                unsafe = max(unsafe, int(look.unsafe[place]))
            else:
                safe = min(safe, least)
        while safe - unsafe > 1:
            middle = (safe + unsafe) // 2
            above = int(self.look(middle).unsafe[place])
            if above:
                unsafe = above
            else:
                safe = middle
        return safe

    def lowest_without_deduction(self, k: int, lowest: int) -> Lowest:
        """Return the threshold from ``lowest`` on without findings of I02, either."""
        safe = self.rows.n + 1
        unsafe = lowest - 1
        decided = True
        middle = lowest
        while safe - unsafe > 1:
            run = self.deduce(middle, k)
            if run.findings == 0 and run.decides:
                safe = middle
            else:
                unsafe = middle
                decided = decided and run.findings > 0
            middle = (safe + unsafe) // 2
        return Lowest(k, lowest, safe, decided)


_LATE = "the time limit was reached; what is missing was not looked at"


def sweep_itemsets(
    data: Transactions | Table | str | Path | Any,
    *,
    min_support: Any,
    k: Any = 10,
    strict: bool = False,
    hierarchies: Mapping[str, Hierarchy] | str | Path | None = None,
    every_attack: bool = False,
    time_limit: float | None = None,
    progress: Progress = silent,
    engine: Engine | str | None = None,
) -> ItemsetSweep:
    """Audit frequent itemsets at every threshold and k, and find the lowest clean threshold.

    Parameters
    ----------
    data
        Transactions, a table, a file, a frame, or a list of lists of items; as for :func:`tacit.mine_itemsets`.
    min_support
        One threshold or several: shares (``0.1``, ``"10%"``) or counts of people.
    k
        One smallest group or several.
    strict
        Read thresholds as "more than".
    hierarchies
        Coarser values of a table's columns, or a folder of files that hold them.
    every_attack
        Count what missing itemsets reveal (I02) in every cell. By default I02 runs only where I01 finds nothing, which is enough for
        the verdict: at low thresholds it can take very long. Where both find nothing, the verdict is that of all attacks.
    time_limit
        Seconds after which it stops; the sweep then says that it is not finished. The highest thresholds are looked at first.
    progress
        Called with the share of the work done, from 0 to 1.
    engine
        Program that merges equal rows of a file (see :func:`tacit.engine`).

    Examples
    --------
    >>> import tacit
    >>> swept = tacit.sweep_itemsets([["a", "b"]] * 49 + [["a"]] + [["c"]] * 20, min_support=[20, 50], k=10)
    >>> [(cell.min_support, cell.channels, cell.verdict) for cell in swept.cells]
    [(50, 0, 'clean'), (20, 1, 'exposed')]
    >>> swept.lowest[0].min_support
    50
    """
    limits = Limits.within(time_limit)
    people = people_of(data, engine=as_engine(engine))
    if isinstance(people, Table):
        people = people.select([name for name in people.names if name not in people.schema.identifying])
    trees = trees_of(hierarchies, people)
    whole = with_coarser_items(people, trees)
    rows = (whole.transactions() if isinstance(whole, Table) else whole).merged()
    grid = thresholds(min_support, people.n, strict=strict)
    ks = sizes(k)
    looker = _ItemsetLooker(people, trees, rows, np.array(ks, np.int64), limits)
    cells = {(least, one): Cell(least, one) for least in grid for one in ks}
    lowest = {one: Lowest(one) for one in ks}
    counts: dict[Only, dict[int, int]] = {"closed": {}, "all": {}}
    reason = ""
    try:
        for done, least in enumerate(grid):
            for place, one in enumerate(ks):
                cells[least, one] = looker.cell(least, place, every_attack=every_attack)
            progress(0.5 * (done + 1) / len(grid))
        for place, one in enumerate(ks):
            published = looker.lowest_without_channels(place, one)
            lowest[one] = Lowest(one, published, None, decided=published is None)
            if published is not None:
                lowest[one] = looker.lowest_without_deduction(one, published)
            progress(0.5 + 0.2 * ((place + 1) / len(ks)))
        for only in counts:
            limits.check("sweep")
            found = count_by_threshold(people, thresholds=grid, only=only, hierarchies=trees, time_limit=limits.seconds_left)
            counts[only] = dict(zip(grid, found, strict=True))
        progress(1.0)
    except LimitReached:
        reason = _LATE
    counted = [
        replace(cell, itemsets=counts["all"].get(least), closed=counts["closed"].get(least)) for (least, _), cell in cells.items()
    ]
    return ItemsetSweep(people.n, tuple(counted), tuple(lowest.values()), reason)


def sweep_rounding(
    release: Itemsets | str | Path | Any,
    *,
    base: Iterable[int] | None = None,
    decimals: Iterable[int] | None = None,
    data: Transactions | Table | str | Path | Any = None,
    policy: Policy | Mapping[str, Any] | None = None,
    time_limit: float | None = None,
    progress: Progress = silent,
    engine: Engine | str | None = None,
) -> RoundingSweep:
    """Audit itemsets with counts rounded to each base, and supports to each number of decimals.

    Every setting is printed and attacked by itself: a printed number is the interval of counts that print so.

    Parameters
    ----------
    release
        A mined or read release with exact counts, or anything :func:`tacit.read_release` takes.
    base
        Bases to round counts to; by default 2, 5, 10, 20, 50, .. up to the smallest published count.
    decimals
        Numbers of decimals of printed supports; by default 0 to 6 where the number of people is known. When only one of the two is given,
        the other is left out.
    data
        The owner's data; makes audits faster and decides more of them, and finds the same.
    policy
        What the publisher accepts; the default is a smallest group of ten.
    time_limit
        Seconds after which it stops; settings that were not audited by then are undecided.
    progress
        Called with the share of the work done, from 0 to 1.
    engine
        Program that merges equal rows of a file (see :func:`tacit.engine`).

    Examples
    --------
    >>> import tacit
    >>> baskets = tacit.read_transactions([["a", "b"]] * 49 + [["a"]] + [["c"]] * 20)
    >>> swept = tacit.sweep_rounding(tacit.mine_itemsets(baskets, min_support=20), base=[2, 5, 10])
    >>> [(setting.label, setting.verdict) for setting in swept.settings]
    [('exact counts', 'exposed'), ('base 2', 'clean'), ('base 5', 'clean'), ('base 10', 'clean')]
    >>> swept.finest_base
    2
    """
    limits = Limits.within(time_limit)
    policy = policy_of(policy)
    exact = read_release(release)
    if exact.kind != "itemsets":
        what = f"holds {exact.kind}, not itemsets"
        raise OptionError(what, where="sweep rounding", remedy="Give a release of itemsets")
    data = merge_data([exact], data, engine)
    if base is None and decimals is None:
        base = usual_bases(exact)
        decimals = DECIMALS if exact.n else ()
    shares = sorted({Precision(decimals=one) for one in decimals or ()}, key=lambda one: -(one.decimals or 0))
    multiples = sorted({Precision(base=one) for one in base or ()}, key=lambda one: one.base or 0)
    forms: list[tuple[Precision | None, Itemsets]] = [(None, exact)]
    forms += [(one, rounded(exact, one)) for one in (*shares, *multiples)]
    found: list[Audit | None] = []
    for number, (precision, printed) in enumerate(forms):
        if precision is not None and printed.is_exact:
            found.append(found[0])  # such small steps round nothing
        elif limits.is_over:
            found.append(None)
        else:
            # Each setting may take an equal part of the time that is left, so that none goes without.
            seconds = None if limits.seconds_left is None else limits.seconds_left / (len(forms) - number)
            found.append(audit(printed, data=data, policy=policy, time_limit=seconds))
        progress((number + 1) / len(forms))
    pairs = zip(forms, found, strict=True)
    settings = tuple(_setting(precision, exact, printed, one) for (precision, printed), one in pairs)
    late = any(one is None or any(run.status == "stopped" for run in one.runs) for one in found)
    return RoundingSweep(exact.n, policy.k, settings, _LATE if late else "")


def _setting(precision: Precision | None, exact: Itemsets, printed: Itemsets, found: Audit | None) -> Setting:
    step = float(precision.step(exact.n)) if precision is not None else 1.0
    error_mean = float(cost_of(exact, printed)["support_error_mean"])
    if found is None:
        return Setting(precision, step, {}, 0, verdict="undecided", reason=_LATE, error_mean=error_mean)
    ran = [run for run in found.runs if run.status != "not-relevant"]
    return Setting(
        precision,
        step,
        {run.code: run.findings for run in ran if run.status == "ran" or run.findings},
        max((run.people for run in ran), default=0),
        verdict="undecided" if found.verdict == "incomplete" else found.verdict,
        reason="; ".join(dict.fromkeys(run.reason for run in ran if run.reason and not run.decides)),
        error_mean=error_mean,
    )


def sweep_repairs(
    release: Itemsets | str | Path | Any,
    *,
    data: Transactions | Table | str | Path | Any = None,
    policy: Policy | Mapping[str, Any] | None = None,
    goal: Goal = "all",
    time_limit: float | None = None,
    progress: Progress = silent,
    engine: Engine | str | None = None,
) -> RepairSweep:
    """Repair itemsets by every method; audit and measure each result.

    Parameters
    ----------
    release
        A mined or read release of itemsets, or anything :func:`tacit.read_release` takes.
    data
        The owner's data. Methods that need them are listed without a result if they are not given.
    policy
        What the publisher accepts; the default is a smallest group of ten.
    goal
        Attacks that must fail, as for :func:`tacit.repair`.
    time_limit
        Seconds after which it stops; methods that did not finish say so. By default every method takes its time.
    progress
        Called with the share of the work done, from 0 to 1.
    engine
        Program that merges equal rows of a file (see :func:`tacit.engine`).

    Examples
    --------
    >>> import tacit
    >>> baskets = tacit.read_transactions([["a", "b"]] * 49 + [["a"]] + [["c"]] * 20)
    >>> swept = tacit.sweep_repairs(tacit.mine_itemsets(baskets, min_support=20), data=baskets)
    >>> [(row.method, row.verdict, row.people_changed) for row in swept.rows[:3]]
    [('substitute', 'clean', 1), ('additive', 'clean', 10), ('merge-channels', 'clean', 10)]
    >>> swept.cheapest.method
    'suppressive'
    """
    limits = Limits.within(time_limit)
    policy = policy_of(policy)
    start = read_release(release)
    if start.kind != "itemsets":
        remedy = "Give a release of itemsets; tacit repair compares the repairs of rules"
        raise OptionError(f"holds {start.kind}, not itemsets", where="sweep repairs", remedy=remedy)
    data = merge_data([start], data, engine)
    attacks = ["I01"] if goal == "frequent-only" else None
    before = audit(start, data=data, policy=policy, attacks=attacks, time_limit=limits.seconds_left)
    published = cache(partial(count_published, start, data))
    methods = [row for row in REPAIRS if "itemsets" in row.of]
    rows: list[RepairRow] = []

    def carry_out(method: RepairMethod, seconds: float | None) -> RepairRow:
        began = monotonic()
        done = repair(
            start, method=method.name, data=data, policy=policy, goal=goal, before=before, suggest=False, time_limit=seconds
        )
        return RepairRow(
            method.name,
            done.after.asked_verdict,
            findings=sum(run.findings for run in done.after.runs),
            itemsets_lost=int(done.cost["itemsets_lost"]),
            itemsets_ghost=int(done.cost["itemsets_ghost"]),
            support_error_mean=done.cost["support_error_mean"],
            support_error_max=done.cost["support_error_max"],
            people_changed=int(done.cost.get("people_changed", 0)),
            loss=itemset_loss(done.cost, published, start.n or done.release.n),
            seconds=monotonic() - began,
        )

    for number, method in enumerate(methods):
        # Each method may take an equal part of the time that is left, so that none goes without.
        seconds = None if limits.seconds_left is None else limits.seconds_left / (len(methods) - number)
        try:
            rows.append(carry_out(method, seconds))
        except LimitReached:
            rows.append(RepairRow(method.name, reason=_LATE_REPAIR))
        except TacitError as error:
            rows.append(RepairRow(method.name, reason=f"{error.what}. {error.remedy}"))
        progress((number + 1) / len(methods))
    late = any(row.reason == _LATE_REPAIR for row in rows)
    findings = sum(run.findings for run in before.runs)
    return RepairSweep(start.n, policy.k, goal, findings, rows=tuple(rows), reason=_LATE if late else "")


_LATE_REPAIR = "the time limit was reached"
_NOT_ASKED = "whether anybody's value is certain and what all rules reveal together were not examined (--certain does)"
_SLOW = "R03"  #: The attack that bounds everybody's value: it can take minutes, so it runs where it is asked for.
_GENERAL = "X01"  #: The general adversary, which decides where all other attacks find nothing.


def sweep_rules(
    people: Table | Any,
    *,
    min_support: Any,
    min_confidence: Any,
    digits: Any = (),
    withhold_values: bool = False,
    strict: bool = False,
    incomplete: bool = False,
    policy: Policy | Mapping[str, Any] | None = None,
    certain: bool = False,
    time_limit: float | None = None,
    progress: Progress = silent,
    qi: Names = None,
    sa: Names = None,
    engine: Engine | str | None = None,
) -> RuleSweep:
    """Audit rules at every support, confidence and printed form.

    Parameters
    ----------
    people
        A table with QI and SA columns; or a file or frame, with ``qi`` and ``sa`` given.
    min_support, min_confidence
        One threshold or several: shares (``0.1``, ``"10%"``); a support may also be a count of people.
    digits
        Numbers of decimals of printed supports to try besides exact counts.
    withhold_values
        Try lists without any number, too.
    strict, incomplete
        As for :func:`tacit.mine_rules`.
    policy
        What the publisher accepts; set ``max_posterior`` or ``max_gain`` to let estimates count.
    certain
        Bound everybody's value (R03) in every cell, and take all rules together (X01) where nothing else is found, which can take long.
        Without it a cell in which nothing is found is not called clean.
    time_limit, progress
        As for :func:`tacit.sweep_itemsets`.
    qi, sa
        The columns with these roles, for a file or frame.
    engine
        Program that merges equal rows of a file (see :func:`tacit.engine`).

    Examples
    --------
    >>> import tacit
    >>> table = {"sex": ["F"] * 40 + ["M"] * 40, "ill": ["yes"] * 39 + ["no"] * 41}
    >>> people = tacit.read_table(table, qi="sex", sa="ill")
    >>> swept = tacit.sweep_rules(people, min_support=20, min_confidence=[0.6, 0.9], withhold_values=True)
    >>> [(cell.min_confidence, cell.form.label, cell.rules, cell.groups) for cell in swept.cells]
    [(0.6, 'exact', 2, 1), (0.6, 'withheld', 2, 0), (0.9, 'exact', 2, 1), (0.9, 'withheld', 2, 0)]
    """
    people = require_table(people, "sweep_rules", qi=qi, sa=sa, engine=engine)
    limits = Limits.within(time_limit)
    policy = policy_of(policy)
    supports = thresholds(min_support, people.n, strict=strict)
    confidences = sorted({share(one, where="--min-confidence") for one in listed(min_confidence)})
    if not confidences:
        raise OptionError("is missing", where="--min-confidence", remedy="Write for instance --min-confidence 60%,80%")
    grid = list(product(supports, confidences, _forms(digits, withhold_values)))
    people = people.select([*people.schema.qi, *people.schema.sa]).merged()
    cells = {key: RuleCell(key[0], float(key[1]), key[2]) for key in grid}
    reason = ""

    def mine(support: int, confidence: Fraction, form: RuleForm) -> Rules:
        limits.check("sweep")
        return mine_rules(
            people,
            min_support=Threshold(Fraction(support - strict), is_count=True),
            min_confidence=confidence,
            strict=strict,
            digits=form.digits,
            withhold_values=form.withheld,
            incomplete=incomplete,
            time_limit=limits.seconds_left,
        )

    def attack(rules: Rules, *codes: str) -> Audit:
        limits.check("sweep")
        return audit(rules, data=people, policy=policy, attacks=codes, time_limit=limits.seconds_left)

    for done, key in enumerate(grid):
        try:
            cells[key] = _rule_cell(cells[key], partial(attack, mine(*key)), policy, certain=certain)
        except LimitReached:
            reason = _LATE
            break
        progress((done + 1) / len(grid))
    return RuleSweep(people.n, tuple(cells.values()), reason)


def _forms(digits: Any, withhold_values: bool) -> list[RuleForm]:
    """Return exact counts, then fewer decimals, then none."""
    wanted = sorted({int(one) if str(one).isdecimal() else one for one in listed(digits)}, reverse=True)
    for one in wanted:
        Precision(decimals=one)  # refuses what is not a number of decimals
    return [RuleForm(), *(RuleForm(digits=one) for one in wanted), *([RuleForm(withheld=True)] if withhold_values else [])]


def _rule_cell(cell: RuleCell, attack: Callable[..., Audit], policy: Policy, *, certain: bool) -> RuleCell:
    fast = attack(*FAST)
    runs = {run.code: run for run in fast.runs}
    people_certain = None
    if certain:
        slow = attack(_SLOW)
        runs[_SLOW] = slow.attack(_SLOW)
        people_certain = slow.measures.get("people_certain")
        if not any(run.findings for run in runs.values()):
            runs[_GENERAL] = attack(_GENERAL).attack(_GENERAL)
    else:
        runs[_SLOW] = replace(runs[_SLOW], status="not-asked", reason=_NOT_ASKED)
        runs[_GENERAL] = replace(runs[_GENERAL], reason="")
    verdict = Audit((), {}, policy, tuple(runs.values())).verdict
    reasons = [run.reason for run in runs.values() if run.status in ("stopped", "unavailable", "not-asked") and run.reason]
    known = fast.measures
    return replace(
        cell,
        rules=known["rules"],
        missing=known.get("missing_rules_kept"),
        groups=runs["R01"].findings,
        max_posterior=known.get("max_posterior"),
        above_90=known.get("people_above_90"),
        certain=people_certain,
        divergence=known.get("D_overall"),
        entropy=known.get("posterior_entropy"),
        verdict=verdict,
        reason="; ".join(reasons) if verdict == "incomplete" else "",
    )
