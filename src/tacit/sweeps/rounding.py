"""Which precision: what a release would give away if its counts were printed with fewer digits."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tacit.api import audit, read_release
from tacit.attacks.base import Progress, silent
from tacit.errors import OptionError
from tacit.measures import cost_of
from tacit.model.audit import Audit
from tacit.model.policy import Limits, Policy
from tacit.model.release import Itemsets
from tacit.model.rounding import Precision, rounded
from tacit.model.sweep import RoundingSweep, Setting, Settled
from tacit.model.table import Table
from tacit.model.transactions import Transactions
from tacit.repairs.round import DECIMALS, usual_bases

_LATE = "the time limit was reached; what is missing was not looked at"


def sweep_rounding(
    release: Itemsets | str | Path | Any,
    *,
    base: Iterable[int] | None = None,
    decimals: Iterable[int] | None = None,
    data: Transactions | Table | str | Path | Any = None,
    policy: Policy | None = None,
    time_limit: float | None = None,
    progress: Progress = silent,
) -> RoundingSweep:
    """What a release of itemsets would give away with its counts rounded to each base, and its supports cut to each number of decimals.

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
    limits, policy = Limits.within(time_limit), policy or Policy()
    exact = read_release(release)
    if not isinstance(exact, Itemsets):
        what = f"holds {exact.kind}, not itemsets"
        raise OptionError(what, where="sweep rounding", remedy="Give a release of itemsets")
    chosen = _precisions(exact, base, decimals)
    forms: list[tuple[Precision | None, Itemsets]] = [(None, exact), *((one, rounded(exact, one)) for one in chosen)]
    found: list[Audit | None] = []
    for number, (precision, printed) in enumerate(forms):
        if precision is not None and printed.is_exact:
            found.append(found[0])  # such small steps round nothing
        else:
            # Each setting may take an equal part of the time that is left, so that none goes without.
            found.append(_audited(printed, data, policy, limits, len(forms) - number))
        progress((number + 1) / len(forms))
    pairs = zip(forms, found, strict=True)
    settings = tuple(_setting(precision, exact, printed, one) for (precision, printed), one in pairs)
    late = any(one is None or any(run.status == "stopped" for run in one.runs) for one in found)
    return RoundingSweep(exact.n, policy.k, settings, _LATE if late else "")


def _audited(printed: Itemsets, data: Any, policy: Policy, limits: Limits, parts: int) -> Audit | None:
    """The audit of one printed form in its part of the time; None where the time is over."""
    if limits.is_over:
        return None
    seconds = limits.seconds_left
    return audit(printed, data=data, policy=policy, time_limit=None if seconds is None else seconds / parts)


def _precisions(release: Itemsets, base: Iterable[int] | None, decimals: Iterable[int] | None) -> list[Precision]:
    """The settings to try: decimals from many to few, then bases from small to large."""
    if base is None and decimals is None:
        base, decimals = usual_bases(release), DECIMALS if release.n else ()
    shares = {Precision(decimals=one) for one in decimals or ()}
    counts = {Precision(base=one) for one in base or ()}
    return sorted(shares, key=lambda one: -(one.decimals or 0)) + sorted(counts, key=lambda one: one.base or 0)


def _setting(precision: Precision | None, exact: Itemsets, printed: Itemsets, found: Audit | None) -> Setting:
    """One setting with what the attacks say."""
    step = float(precision.step(exact.n)) if precision is not None else 1.0
    settled: Settled = "undecided" if found is None or found.verdict == "incomplete" else found.verdict
    ran = [run for run in found.runs if run.status != "not-relevant"] if found is not None else []
    reasons = (
        "; ".join(dict.fromkeys(run.reason for run in ran if run.reason and not run.decides)) if found is not None else _LATE
    )
    findings = {run.code: run.findings for run in ran if run.status == "ran" or run.findings}
    people = max((run.people for run in ran), default=0)
    return Setting(precision, step, findings, people, settled, reasons, float(cost_of(exact, printed)["support_error_mean"]))
