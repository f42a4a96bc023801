"""The verbs: the only module that joins the stages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tacit.attacks import ATTACKS, Attack, Target
from tacit.attacks.base import Progress, silent
from tacit.errors import OptionError, nearest_name
from tacit.formats.releases import read_release, write_release
from tacit.formats.tables import read_table
from tacit.formats.transactions import read_data, read_transactions
from tacit.measures import cost_of, measure, people_changed
from tacit.mining.items import table_rows
from tacit.mining.itemsets import mine_itemsets
from tacit.mining.rules import mine_rules
from tacit.model.audit import AttackRun, Audit
from tacit.model.hierarchy import Hierarchy
from tacit.model.items import Items
from tacit.model.policy import Limits, Policy
from tacit.model.release import Header, Itemsets, Only, Release
from tacit.model.repair import Repair
from tacit.model.table import Table
from tacit.model.transactions import Transactions
from tacit.repairs import GOALS, REPAIRS, Goal, RepairCase, RepairMethod

__all__ = [
    "audit",
    "mine_itemsets",
    "mine_rules",
    "read_data",
    "read_release",
    "read_table",
    "read_transactions",
    "repair",
    "with_coarser_items",
    "write_release",
]


def audit(
    release: Release | str | Path | Any,
    *,
    data: Transactions | Table | str | Path | Any = None,
    policy: Policy | None = None,
    attacks: Iterable[str] | None = None,
    time_limit: float | None = None,
    progress: Progress = silent,
) -> Audit:
    """Attack a release and say what it gives away.

    Parameters
    ----------
    release
        A mined or read release, or anything :func:`read_release` takes.
    data
        The owner's data. Findings are the same without it; some are found only with it when ``2**|M|`` sums would take too long.
    policy
        What the publisher accepts; the default is a smallest group of ten.
    attacks
        The codes of the attacks to run; all that apply by default.
    time_limit
        Seconds after which an attack stops and says so.
    progress
        Called with the share of the work done, from 0 to 1.

    Examples
    --------
    >>> import tacit
    >>> baskets = tacit.read_transactions([["a", "b"]] * 49 + [["a"]] + [["c"]] * 20)
    >>> found = tacit.audit(tacit.mine_itemsets(baskets, min_support=40))
    >>> found.verdict, found.findings[0].statement
    ('exposed', '1 person has a but not b.')
    """
    target = read_release(release)
    policy = policy or Policy()
    limits = Limits.within(time_limit)
    rows = _owner_rows(target, data)
    case = Target(target, policy, limits, rows, 0, progress)
    asked_for = _asked_for(attacks)
    runs = tuple(_run(attack, case, asked_for) for attack in ATTACKS)
    return Audit((_described(target),), _adversary(target), policy, runs, measure(target, runs))


def repair(
    release: Release | str | Path | Any,
    *,
    method: str,
    data: Transactions | Table | str | Path | Any = None,
    policy: Policy | None = None,
    goal: Goal = "all",
    time_limit: float | None = None,
    progress: Progress = silent,
) -> Repair:
    """Change a release until no attack succeeds; the audit of the result says whether it worked.

    Parameters are those of :func:`audit`; :data:`REPAIRS` lists the methods. ``goal`` says which attacks must fail: every one that
    applies, or with ``"frequent-only"`` those on published itemsets (I01).

    Examples
    --------
    >>> import tacit
    >>> baskets = tacit.read_transactions([["a", "b"]] * 49 + [["a"]] + [["c"]] * 20)
    >>> safe = tacit.repair(tacit.mine_itemsets(baskets, min_support=40), method="raise-threshold")
    >>> safe.after.verdict, len(safe.release), safe.cost["itemsets_lost"]
    ('clean', 1, 2)
    """
    start = read_release(release)
    chosen = _method(method, start, data)
    rows = _owner_rows(start, data)
    policy = policy or Policy()
    if goal not in GOALS:
        raise OptionError(f"there is no goal {goal!r}", where="--goal", remedy=nearest_name(goal, GOALS, "goals"))
    attacks = ["I01"] if goal == "frequent-only" else None

    def look(candidate: Release, people: Transactions | None) -> Audit:
        return audit(candidate, data=people, policy=policy, attacks=attacks, time_limit=time_limit, progress=progress)

    before = look(start, rows)
    if before.ok:
        return Repair(method, start, before, before, cost_of(start, start))

    def mine(people: Transactions, only: Only | None = None, least: int | None = None) -> Itemsets:
        kind: Only = only or (start.only if isinstance(start, Itemsets) else "all")
        mined = mine_itemsets(people, min_support=least or start.min_support or 1, only=kind)
        return replace(mined, header=replace(start.header, n=people.n))

    case = RepairCase(start, policy.k, look, mine, lambda people: mine(people, "all"), rows, goal)
    proposal = chosen.propose(case)
    after = look(proposal.release, proposal.data)
    compared = (start, proposal.release)
    if isinstance(start, Itemsets) and start.only == "closed" and rows is not None and proposal.data is not None:
        # Closed sets come and go while the frequent ones stay, so costs are counted over all frequent itemsets.
        listed_all = isinstance(proposal.release, Itemsets) and proposal.release.only == "all"
        result = proposal.release if listed_all else mine(proposal.data, "all", proposal.release.min_support)
        compared = (mine(rows, "all"), result)
    cost = dict(cost_of(*compared))
    if rows is not None and proposal.data is not None:
        cost["people_changed"] = people_changed(rows, proposal.data)
    return Repair(method, proposal.release, before, after, cost)


def with_coarser_items(people: Table | Transactions, trees: dict[str, Hierarchy] | None) -> Table | Transactions:
    """The same people; where there are hierarchies, each row also holds the coarser values that its values belong to."""
    if not trees or not isinstance(people, Table):
        return people
    rows, pairs = table_rows(people, people.names, trees)
    return Transactions(rows.sets, rows.weights, Items.of_columns(pairs), people.source)


def _method(name: str, release: Release, data: Any) -> RepairMethod:
    """The repair of this name, if it fits the release and the data are there."""
    known = {row.name: row for row in REPAIRS}
    if name not in known:
        raise OptionError(f"there is no repair {name!r}", where="--method", remedy=nearest_name(name, known, "repairs"))
    chosen = known[name]
    if release.kind not in chosen.of:
        raise OptionError(
            f"{name} repairs {' and '.join(chosen.of)}, not {release.kind}", where="--method", remedy="See tacit repairs"
        )
    if chosen.needs_data and data is None:
        raise OptionError(f"{name} looks at rows and needs the data", where="--method", remedy="Give them with --data")
    if chosen.needs_data and (not release.header.complete or release.min_support is None):
        remedy = "Mine the release with tacit, or choose raise-threshold"
        raise OptionError(
            f"{name} mines again, and the release names no threshold that it is complete above", where="--method", remedy=remedy
        )
    return chosen


def _asked_for(codes: Iterable[str] | None) -> frozenset[str]:
    """The codes of the attacks to run."""
    known = [attack.code for attack in ATTACKS]
    for code in (wanted := known if codes is None else list(codes)):
        if code not in known:
            raise OptionError(f"there is no attack {code!r}", where="--attack", remedy=nearest_name(code, known, "attacks"))
    return frozenset(wanted)


def _run(attack: Attack, case: Target, asked_for: frozenset[str]) -> AttackRun:
    """Run one attack, or say why it is not run."""
    if attack.code not in asked_for:
        return attack.skipped("not asked for")
    if attack.needs != case.release.kind:
        return attack.skipped(f"needs {attack.needs}; the release holds {case.release.kind}")
    return attack.run(case)


def _owner_rows(release: Release, data: Any) -> Transactions | None:
    """The owner's data as transactions over the items of the release."""
    if data is None:
        return None
    if not isinstance(data, (Transactions, Table)):
        data = read_data(data, **_roles(release.header))
    return data.transactions() if isinstance(data, Table) else data


def _roles(header: Header) -> dict[str, Any]:
    """Roles and missing-value rule as the release's header gives them."""
    roles: dict[str, Any] = {"qi": header.qi, "sa": header.sa, "missing": header.missing}
    return roles | ({"missing_rule": header.missing_rule} if header.missing_rule else {})


def _described(release: Release) -> dict[str, Any]:
    """What the record says about a release."""
    out: dict[str, Any] = {"kind": release.kind, "n": release.n, "lines": len(release), "min_support": release.min_support}
    if isinstance(release, Itemsets):
        out["only"] = release.only
    source = release.source
    return out | {"file": source.name if source else None, "sha256": source.sha256 if source else None}


def _adversary(release: Release) -> dict[str, Any]:
    """What the adversary is taken to know besides the release."""
    header = release.header
    return {"knows_n": header.n is not None, "knows_that_the_list_is_complete": header.complete, "rounding": header.rounding}
