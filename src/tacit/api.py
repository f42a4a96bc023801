"""The verbs: the only module that joins the stages."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tacit.attacks.base import Algorithm, Progress, silent
from tacit.auditing import (
    check_roles,
    owners_people,
    people_of,
    repairable,
    rows_of,
)
from tacit.auditing_releases import audit_one, audit_together, joint_case
from tacit.errors import OptionError, nearest_name
from tacit.formats.folder import gather_releases, read_releases
from tacit.formats.hierarchies import read_hierarchies
from tacit.formats.inputs import inputs_of
from tacit.formats.releases import read_release, write_release
from tacit.formats.tables import Names, columns_of, read_table
from tacit.formats.transactions import read_data, read_transactions
from tacit.measures import cost_of, people_changed
from tacit.measures.truth import compare
from tacit.mining import itemsets as itemset_mining
from tacit.mining import rules as rule_mining
from tacit.mining.items import table_rows
from tacit.model.audit import Audit
from tacit.model.hierarchy import Hierarchy
from tacit.model.items import Items
from tacit.model.people import People
from tacit.model.policy import Limits, Policy
from tacit.model.policy import time_limit as within_time
from tacit.model.release import Itemsets, Only, Release, Rules
from tacit.model.repair import Repair
from tacit.model.rounding import Precision
from tacit.model.table import Table
from tacit.model.transactions import Transactions
from tacit.repairing import repair_rules
from tacit.repairs import GOALS, REPAIRS, Goal, Proposal, RepairCase, RepairMethod

__all__ = [
    "audit",
    "compare",
    "mine_itemsets",
    "mine_rules",
    "people_of",
    "read_data",
    "read_release",
    "read_releases",
    "read_table",
    "read_transactions",
    "repair",
    "trees_of",
    "with_coarser_items",
    "write_release",
]

#: Hierarchies by column, or a folder of files that hold them.
Trees = Mapping[str, Hierarchy] | str | Path | None


def mine_itemsets(
    data: Transactions | Table | str | Path | Any,
    *,
    min_support: Any,
    only: Only = "all",
    strict: bool = False,
    hierarchies: Trees = None,
    max_itemsets: int | None = None,
    threads: int | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Itemsets:
    """The frequent itemsets of the data with their counts; :func:`tacit.mining.itemsets.mine_itemsets` says what the options mean.

    Data may also be a file, a frame, or a list of lists of items; hierarchies may be a folder of files.

    Examples
    --------
    >>> import tacit
    >>> found = tacit.mine_itemsets([["a", "b"], ["a", "b"], ["a"]], min_support=2, only="closed")
    >>> len(found), found.min_support, found.n
    (2, 2, 3)
    """
    people = people_of(data)
    return itemset_mining.mine_itemsets(
        people,
        min_support=min_support,
        only=only,
        strict=strict,
        hierarchies=trees_of(hierarchies, people),
        max_itemsets=max_itemsets,
        threads=threads,
        time_limit=time_limit,
        progress=progress,
    )


def mine_rules(
    people: Table,
    *,
    min_support: Any,
    min_confidence: Any,
    strict: bool = False,
    withhold_values: bool = False,
    digits: int | None = None,
    with_confidence: bool = False,
    incomplete: bool = False,
    publish_sa_distribution: bool = False,
    hierarchies: Trees = None,
    max_rules: int | None = None,
    threads: int | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Rules:
    """The rules QI => SA of a table; :func:`tacit.mining.rules.mine_rules` says what the options mean. Hierarchies may be a folder of files.

    Examples
    --------
    >>> import tacit
    >>> people = tacit.read_table({"sex": ["F", "F", "M"], "ill": ["yes", "yes", "no"]}, qi="sex", sa="ill")
    >>> next(tacit.mine_rules(people, min_support=2, min_confidence=0.6).records())
    {'antecedent': {'sex': 'F'}, 'consequent': 'yes', 'count': 2, 'support': 0.6666666666666666, 'confidence': 1.0}
    """
    if not isinstance(people, Table):
        remedy = "Read the data with tacit.read_table(.., qi=.., sa=..) first"
        raise OptionError("needs a table whose columns have roles", where="mine_rules", remedy=remedy)
    return rule_mining.mine_rules(
        people,
        min_support=min_support,
        min_confidence=min_confidence,
        strict=strict,
        withhold_values=withhold_values,
        digits=digits,
        with_confidence=with_confidence,
        incomplete=incomplete,
        publish_sa_distribution=publish_sa_distribution,
        hierarchies=trees_of(hierarchies, people),
        max_rules=max_rules,
        threads=threads,
        time_limit=time_limit,
        progress=progress,
    )


def audit(
    release: Release | str | Path | Any,
    *,
    data: Transactions | Table | str | Path | Any = None,
    known: Table | str | Path | Any = None,
    knowledge: Any = None,
    rows: Any = None,
    qi: Names = (),
    sa: Names = (),
    convention: str | None = None,
    people: People | None = None,
    ignore: Names = (),
    policy: Policy | None = None,
    attacks: Iterable[str] | None = None,
    algorithm: Algorithm = "projection",
    first_hit: bool = False,
    findings_to: str | Path | None = None,
    time_limit: float | None = None,
    progress: Progress = silent,
) -> Audit:
    """Attack a release and say what it gives away.

    Parameters
    ----------
    release
        A mined or read release, or anything :func:`read_release` takes; a list of them, or a folder of files, to be attacked together. In a
        list, a list or a folder stands for releases about the same people: ``[[a, b], [c, d]]`` are two groups of people.
    data
        The owner's data. Findings are the same without it; some are found only with it when ``2**|M|`` sums would take too long.
    known
        Everybody's quasi-identifiers, as an adversary may have them from elsewhere: for rules, itemsets and frequency tables, and for several
        releases about the same people, which are then attacked as one. With ``data`` these are taken from there, and estimates are compared
        with the truth.
    knowledge
        What else an adversary knows about people who are known, or whom a bucketized release lists: a file of facts or negative rules, a list of
        ``({column: value}, excluded value)``, mined negative rules, or a list of all these.
    rows
        For a table: the rows whose sensitive cells are to be protected, as numbers, a file of them, or a condition such as ``"age<30"``. With
        ``data``, the table before cells were hidden, only their true values count.
    qi, sa
        The quasi-identifying columns and the sensitive ones, where the release does not name them; ``sa="none"`` says that none is sensitive.
    convention
        For frequency tables: the publisher's convention, such as ``"opensafely"``, where the header does not name it.
    people
        For several releases: how their people hang together (``Same()``, ``Nested()``, ``Churn()``, ``Changed()``, ``Unknown()``); needed
        where n differs.
    ignore
        Files of a folder, and columns of a file, that say nothing about people. Whatever else is not read makes the audit incomplete.
    policy
        What the publisher accepts; the default is a smallest group of ten.
    attacks
        The codes of the attacks to run; all that apply by default.
    algorithm
        How I01 searches: ``"projection"``, or a paper's own detector as a reference, ``"naive"``, ``"oicd"`` or ``"pmicd"`` (slower, the
        same findings; exact lists of all or of closed itemsets only).
    first_hit
        Stop at the first finding: enough for a yes or no.
    findings_to
        A file (``.parquet``, ``.csv``, ``.csv.gz``) that receives every finding while it is found. Millions then need no memory: the audit holds
        the worst only, and counts them all.
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
    how: dict[str, Any] = {"policy": policy or Policy(), "limits": Limits.within(time_limit)}
    how |= {"attacks": None if attacks is None else list(attacks), "known": known, "knowledge": knowledge}
    how |= {"algorithm": algorithm, "first_hit": first_hit, "progress": progress}
    columns = columns_of(data) or columns_of(known)
    gathered = gather_releases(
        release, qi=qi, sa=sa, convention=convention, ignore=ignore, columns=columns, people=_counter(data)
    )
    check_roles(gathered.releases)
    besides = {"data": data, "known": known, "knowledge": knowledge, "rows": rows}
    told: dict[str, Any] = {"not_read": gathered.not_read, "ignored": gathered.ignored, "inputs": inputs_of(**besides)}
    if len(gathered.releases) > 1:
        found = audit_together(joint_case(gathered, people, rows=rows, findings=findings_to), data=data, **how)
    elif people is not None:
        raise OptionError("is about several releases, and there is one", where="--people", remedy="Leave it out")
    else:
        found = audit_one(gathered.releases[0], data=data, rows=rows, findings_to=findings_to, **how)
    told["options"] = {
        "given": [name for name, value in besides.items() if value is not None],
        "people": None if people is None else people.to_text(),
        "attacks": how["attacks"],
        "algorithm": algorithm,
        "first_hit": first_hit,
    }
    return replace(found, **told)


def _counter(data: Any) -> Callable[[], int] | None:
    """How to count the people of the data, where they are given."""
    if data is None:
        return None
    return lambda: (read_data(data) if isinstance(data, (str, os.PathLike)) else people_of(data)).n


def repair(
    release: Release | str | Path | Any,
    *,
    method: str,
    data: Transactions | Table | str | Path | Any = None,
    knowledge: Any = None,
    policy: Policy | None = None,
    goal: Goal = "all",
    base: int | None = None,
    decimals: int | None = None,
    lines: Iterable[int] | None = None,
    suggest: bool = True,
    time_limit: float | None = None,
    progress: Progress = silent,
) -> Repair:
    """Change a release until no attack succeeds; the audit of the result says whether it worked.

    Parameters are those of :func:`audit`; :data:`REPAIRS` lists the methods. ``goal`` says which attacks must fail: every one that
    applies, or with ``"frequent-only"`` those on published itemsets (I01). ``base`` or ``decimals`` say how the method ``round`` prints counts;
    by default as fine as no attack breaks, and never finer than the policy's ``safe_round_base``. ``lines`` are those of the file that
    ``leave-out`` and ``withdraw`` take out; by default few that all
    proofs rest on. Rules QI => SA are repaired beside their data, others from their own numbers; with ``suggest`` the other methods are tried as
    well, and the result names the cheapest that meets the policy.
    Where the release does not say how many people it is about, the data do, and the result
    says it.
    When ``time_limit`` passes, :class:`LimitReached` is raised.

    Examples
    --------
    >>> import tacit
    >>> baskets = tacit.read_transactions([["a", "b"]] * 49 + [["a"]] + [["c"]] * 20)
    >>> safe = tacit.repair(tacit.mine_itemsets(baskets, min_support=40), method="raise-threshold")
    >>> safe.after.verdict, len(safe.release), safe.cost["itemsets_lost"]
    ('clean', 1, 2)
    """
    start = repairable(read_release(release))
    chosen = _method(method, start, data)
    precision, named = _precision(method, base, decimals), _named_lines(method, lines)
    people = owners_people(start, data)
    _check_goal(goal, knowledge, start)
    policy, limits = policy or Policy(), Limits.within(time_limit)
    if precision is not None and precision.base is not None and precision.base < (policy.safe_round_base or 0):
        remedy = f"Round to {policy.safe_round_base:,} or more, or leave --base out"
        raise OptionError("is smaller than the policy's safe_round_base", where="--base", remedy=remedy)
    if isinstance(start, Rules):
        look_at = partial(_look_at_rules, policy=policy, limits=limits, progress=progress, knowledge=knowledge)
        how: dict[str, Any] = {"precision": precision, "look": look_at, "limits": limits, "suggest": suggest, "lines": named}
        return repair_rules(start, chosen, people, policy, **how)
    rows = rows_of(people)
    if start.n is None and rows is not None:
        # Repairs that change rows print n, so all of them are judged against an attacker who knows it.
        start = replace(start, header=replace(start.header, n=rows.n))
    if chosen.needs_data and rows is not None and _has_coarser_items(rows):
        remedy = "Repair a release of the plain columns, or choose raise-threshold"
        raise OptionError(f"{method} mines again, which it cannot do with hierarchies", where="--method", remedy=remedy)
    attacks = ["I01"] if goal == "frequent-only" else None

    def look(candidate: Release, people: Transactions | None = None, first_hit: bool = False) -> Audit:
        limits.check("repair")  # every repair looks again and again, so this bounds the whole
        how: dict[str, Any] = {"policy": policy, "attacks": attacks, "first_hit": first_hit}
        return audit(candidate, data=people, time_limit=limits.seconds_left, progress=progress, **how)

    before = look(start, rows)
    if before.asked_verdict == "clean" and precision is None and named is None:
        return Repair(method, start, before, before, cost_of(start, start), goal=goal)

    def mine(people: Transactions, only: Only | None = None, least: int | None = None) -> Itemsets:
        kind: Only = only or (start.only if isinstance(start, Itemsets) else "all")
        limits.check("repair")
        mined = mine_itemsets(people, min_support=least or start.min_support or 1, only=kind, time_limit=limits.seconds_left)
        # People who were added or changed may lack the sensitive column: then its values are not all that there is.
        column, values = " & ".join(start.header.sa), start.header.sa_values
        values = values if people.has_one_of([f"{column}={value}" for value in values]) else ()
        return replace(mined, header=replace(start.header, n=people.n, sa_values=values))

    all_sets, first_look = partial(mine, only="all"), partial(look, first_hit=True)
    case = RepairCase(
        start, policy.k, look, mine, all_sets, rows, goal, precision, first_look, lines=named, least_base=policy.least_base
    )
    with within_time(limits.seconds_left):
        proposal = chosen.propose(case)
    made = chosen.signed(proposal.release, start)
    # What was cut or rounded without new data is still true of the old ones, which refute quickly what is not small.
    after = look(made, rows if proposal.data is None else proposal.data)
    cost = _cost(case, proposal, all_sets)
    return Repair(method, made, before, after, cost, remark=proposal.remark, goal=goal)


def _look_at_rules(release: Rules, *, policy: Policy, limits: Limits, progress: Progress, **who: Any) -> Audit:
    """The audit of rules beside whoever is known, within the time that is left."""
    limits.check("repair")
    return audit(release, policy=policy, time_limit=limits.seconds_left, progress=progress, **who)


def _cost(case: RepairCase, proposal: Proposal, mine_all: Callable[..., Itemsets]) -> dict[str, float]:
    """What a repair cost, in itemsets, counts and people."""
    start, result, rows = case.release, proposal.release, case.data
    if isinstance(start, Itemsets) and start.only == "closed" and rows is not None and proposal.data is not None:
        # Closed sets come and go while the frequent ones stay, so costs are counted over all frequent itemsets.
        listed_all = isinstance(result, Itemsets) and result.only == "all"
        start, result = mine_all(rows), result if listed_all else mine_all(proposal.data, least=result.min_support)
    cost = dict(cost_of(start, result))
    if rows is not None and proposal.data is not None:
        cost["people_changed"] = people_changed(rows, proposal.data)
    return cost


def trees_of(given: Trees, people: Table | Transactions) -> dict[str, Hierarchy] | None:
    """Hierarchies as they are, or read from a folder for the columns of the data."""
    if given is None or isinstance(given, Mapping):
        return None if given is None else dict(given)
    return read_hierarchies(given, people.names if isinstance(people, Table) else ())


def with_coarser_items(people: Table | Transactions, trees: dict[str, Hierarchy] | None) -> Table | Transactions:
    """The same people; where there are hierarchies, each row also holds the coarser values that its values belong to."""
    if not trees or not isinstance(people, Table):
        return people
    rows, pairs = table_rows(people, people.names, trees)
    return Transactions(rows.sets, rows.weights, Items.of_columns(pairs), people.source)


def _has_coarser_items(rows: Transactions) -> bool:
    """Whether rows of a table hold coarser values beside their own: more items than there are columns."""
    pairs = rows.items.pairs
    return pairs is not None and len(rows.rows) > 0 and len(rows.rows[0]) > len({column for column, _ in pairs})


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


def _check_goal(goal: Goal, knowledge: Any, release: Release) -> None:
    """Raise when there is no such goal, or when it is not one for the release; nor is knowledge for one without rules."""
    if knowledge is not None and not isinstance(release, Rules):
        raise OptionError("helps to attack rules, and the release holds none", where="--knowledge", remedy="Leave it out")
    if goal not in GOALS:
        raise OptionError(f"there is no goal {goal!r}", where="--goal", remedy=nearest_name(goal, GOALS, "goals"))
    if goal != "all" and release.kind == "rules":
        raise OptionError(f"{goal} is a goal for itemsets", where="--goal", remedy="Leave it out")


def _named_lines(method: str, lines: Iterable[int] | None) -> tuple[int, ...] | None:
    """The lines to take out, where somebody names them."""
    if lines is None:
        return None
    if method not in ("leave-out", "withdraw"):
        remedy = "Add --method leave-out (itemsets) or --method withdraw (rules), or leave it out"
        raise OptionError("says which lines are taken out", where="--lines", remedy=remedy)
    return tuple(lines)


def _precision(method: str, base: int | None, decimals: int | None) -> Precision | None:
    """How counts are to be printed, where somebody says it."""
    if base is None and decimals is None:
        return None
    if method != "round":
        where = "--decimals" if base is None else "--base"
        raise OptionError("says how the method round prints counts", where=where, remedy="Add --method round, or leave it out")
    return Precision(base, decimals)
