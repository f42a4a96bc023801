"""Which precision: what a release would give away if its counts were printed with fewer digits."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tacit.api import audit, read_release
from tacit.attacks.base import Progress, silent
from tacit.errors import LimitReached, OptionError
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
        Bases to round counts to; by default 2, 5, 10, 20, 50, .. as long as there are that many people.
    decimals
        Numbers of decimals of printed supports; by default 0 to 6 where the number of people is known. When only one of the two is given,
        the other is left out.
    data
        The owner's data; makes the audit of the exact counts faster, and finds the same.
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
        raise OptionError("holds rules, not itemsets", where="sweep rounding", remedy="Give a release of itemsets")
    chosen = _precisions(exact, base, decimals)
    candidates: list[tuple[Precision | None, Itemsets]] = [(None, exact), *((one, rounded(exact, one)) for one in chosen)]
    settings = []
    reason = ""
    for done, (precision, printed) in enumerate(candidates):

        def share(part: float, done: int = done) -> None:
            progress((done + part) / len(candidates))

        try:
            limits.check("sweep")
            people = data if precision is None else None
            found = audit(printed, data=people, policy=policy, time_limit=limits.seconds_left, progress=share)
        except LimitReached:
            found = None
        if found is None or any(run.status == "stopped" for run in found.runs):
            reason = _LATE
        settings.append(_setting(precision, exact, printed, found))
    progress(1.0)
    return RoundingSweep(exact.n, policy.k, tuple(settings), reason)


def _precisions(release: Itemsets, base: Iterable[int] | None, decimals: Iterable[int] | None) -> list[Precision]:
    """The settings to try: decimals from many to few, then bases from small to large."""
    if base is None and decimals is None:
        base, decimals = usual_bases(release), DECIMALS if release.n else ()
    shares = {Precision(decimals=one) for one in decimals or ()}
    counts = {Precision(base=one) for one in base or ()}
    return sorted(shares, key=lambda one: -(one.decimals or 0)) + sorted(counts, key=lambda one: one.base or 0)


def _setting(precision: Precision | None, exact: Itemsets, printed: Itemsets, found: Audit | None) -> Setting:
    """One setting with what its audit says."""
    step = float(precision.step(exact.n)) if precision is not None else 1.0
    error = float(cost_of(exact, printed)["support_error_mean"])
    if found is None:
        return Setting(precision, step, {}, 0, "undecided", _LATE, error)
    ran = [run for run in found.runs if run.status != "not-relevant"]
    verdict: Settled = "undecided" if found.verdict == "incomplete" else found.verdict
    reasons = "; ".join(dict.fromkeys(run.reason for run in ran if run.reason and not run.decides))
    findings = {run.code: run.findings for run in ran}
    return Setting(precision, step, findings, max((run.people for run in ran), default=0), verdict, reasons, error)
