"""The verb ``repair``: change lists or tables until safe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from tacit.files.engines import Engine
from tacit.mining.itemsets import mine_itemsets
from tacit.model.arrays import Words
from tacit.model.audit import Audit, Progress, described, silent
from tacit.model.errors import LimitReached, OptionError, TacitError, nearest_name
from tacit.model.knowledge import Withheld, check_withheld
from tacit.model.numbers import Threshold
from tacit.model.people import Gathered, People
from tacit.model.policy import Limits, Policy, policy_of
from tacit.model.policy import time_limit as within_time
from tacit.model.release import Items, Itemsets, Listed, Only, Release, Rules, Sets
from tacit.model.repair import GOALS, Goal, Proposal, Repair, RepairCase, RepairMethod, Tried
from tacit.model.rounding import Precision
from tacit.model.table import Names, Table, Transactions
from tacit.repairs import REPAIRS
from tacit.repairs import round_controlled as controlled
from tacit.repairs import suppress as suppression
from tacit.repairs.lists import rule_cost, true_counts
from tacit.verbs import rounding
from tacit.verbs.attacks import ATTACKS, building_on
from tacit.verbs.audit import audit, gather_for, whole_of
from tacit.verbs.data import merge_data, owners_people, rows_of
from tacit.verbs.kinds import kind_of
from tacit.verbs.round_controlled import round_controlled
from tacit.verbs.suggest import remembered, repair_best
from tacit.verbs.suppress import Attacker, Weighing, suppress
from tacit.verbs.suppress import Options as Suppression

#: Attacks on rules that take seconds at most.
FAST = tuple(attack.code for attack in ATTACKS if attack.needs == "rules" and attack.code != "R03")
FEW_LOOKS = 10  #: Audits of a search that runs the slow attacks as well, at most.
Look = Callable[..., Audit]  #: Audits a release; options are those of :func:`tacit.audit`.


def repair(
    release: Release | str | Path | Any,
    *,
    method: str | None = None,
    data: Transactions | Table | str | Path | Any = None,
    knowledge: Any = None,
    withheld: Withheld = "at-threshold",
    n: int | None = None,
    qi: Names = (),
    sa: Names = (),
    k: int | None = None,
    l: int | None = None,  # noqa: E741 - the letter is the field's own name for it
    max_posterior: float | None = None,
    policy: Policy | Mapping[str, Any] | None = None,
    goal: Goal = "all",
    base: int | None = None,
    decimals: int | None = None,
    lines: Iterable[int] | None = None,
    min_support: Any = None,
    people: People | None = None,
    cost: Weighing | None = None,
    keep: Any = None,
    hide_first: Any = None,
    protect: float | str | None = None,
    attacker: Attacker | None = None,
    seed: int | None = None,
    suggest: bool = True,
    before: Audit | None = None,
    time_limit: float | None = None,
    progress: Progress = silent,
    engine: Engine | str | None = None,
) -> Repair:
    """Change a release until no attack succeeds; the audit of the result says if it worked.

    Parameters are those of :func:`audit`; :data:`REPAIRS` lists the methods; without one, every method is tried, and the cheapest that leaves
    nothing to find is carried out. ``goal`` says which attacks must fail: all that apply, or with
    ``"frequent-only"`` those on published itemsets (I01). ``base`` or ``decimals`` say how the method ``round`` prints counts; by default as
    finely as no attack breaks, and never finer than the policy's ``safe_round_base``. ``lines`` are those of the file that ``leave-out`` and
    ``withdraw`` remove; by default a few that all proofs rest on. ``min_support`` is the threshold of ``raise-threshold``, a share or a number
    of people; by default the lowest safe one. Rules QI => SA are repaired with their data, others from their own numbers;
    with ``suggest`` the other methods are tried as well, and the result names the cheapest that meets the policy. If the release does not say
    how many people it is about, the data do, and so does the result. ``before`` is an audit of this release by all attacks, with these data
    and this policy, if there is one: it is not made again. When ``time_limit`` passes, :class:`LimitReached` is raised.

    Frequency tables are also rounded by ``round``, each count by itself. Several releases are repaired together by ``suppress``, several tables
    also by ``round`` and ``round-controlled``, or without a method; ``people`` says how their populations are related. For
    ``suppress``, ``cost`` is what is minimised (``"cells"``, ``"people"`` or ``"log"``), ``keep`` and ``hide_first`` name lines (by
    number, condition, or a file of these), ``protect`` is the share of its count by which the range of a small cell is wider at either
    side, and ``attacker`` knows the size of no hidden cell (``"reader"``), which of them are small (``"rule"``), or also that all others are
    not (``"method"``, the default where that is possible). Under a time limit, the best safe result so far is returned. ``round-controlled``
    takes a ``base``, and a ``seed`` for random rounding.

    Examples
    --------
    >>> import tacit
    >>> baskets = tacit.read_transactions([["a", "b"]] * 49 + [["a"]] + [["c"]] * 20)
    >>> safe = tacit.repair(tacit.mine_itemsets(baskets, min_support=40), method="raise-threshold")
    >>> safe.after.verdict, len(safe.release), safe.cost["itemsets_lost"]
    ('clean', 1, 2)
    """
    whole = gather_for(release, data=data, n=n, qi=qi, sa=sa, engine=engine)
    gathered = whole.releases
    data = merge_data(gathered, data, engine)
    chosen_policy = policy_of(policy, k=k, l=l, max_posterior=max_posterior)
    of_suppress = {
        "--cost": cost,
        "--keep": keep,
        "--hide-first": hide_first,
        "--protect": protect,
        "--attacker": attacker,
    }
    if method is None:
        named = {
            "--base": base,
            "--decimals": decimals,
            "--lines": lines,
            "--min-support": min_support,
            "--seed": seed,
            **of_suppress,
        }
        for option, value in named.items():
            if value is not None:
                raise OptionError("is about one method", where=option, remedy="Name the method with --method")
        given: dict[str, Any] = {"data": data, "knowledge": knowledge, "withheld": withheld, "policy": chosen_policy}
        given |= {} if people is None else {"people": people}
        found = before or audit(gathered[0] if len(gathered) == 1 else list(gathered), time_limit=time_limit, **given)
        return repair_best(found, gathered, seconds=time_limit, progress=progress, **given)
    if is_of_tables(method, gathered):
        further: dict[str, Any] = {"data": data, "knowledge": knowledge, "withheld": withheld, "people": people}
        further |= {"policy": chosen_policy, "time_limit": time_limit, "before": before}
        refuse_given({"--decimals": decimals, "--lines": lines}, f"does not apply to --method {method}")
        if goal != "all":
            raise OptionError(f"{goal} is a goal for itemsets", where="--goal", remedy="Remove the option")
        options = of_suppress | {"--base": base, "--seed": seed}
        return repair_tables(whole, method, options, **further)
    refuse_given(of_suppress, f"applies to --method {suppression.NAME}")
    refuse_given({"--seed": seed}, f"applies to --method {controlled.NAME}")
    if len(gathered) > 1:
        remedy = "Leave out the method: then they are repaired together"
        raise OptionError("names a repair of one release, and there are several", where="--method", remedy=remedy)
    start = _repairable(gathered[0])
    chosen = _method(method, start, data)
    if method != "round" and (base is not None or decimals is not None):
        where = "--decimals" if base is None else "--base"
        remedy = "Add --method round, or remove the option"
        raise OptionError("says how the method round prints counts", where=where, remedy=remedy)
    if method not in ("leave-out", "withdraw") and lines is not None:
        remedy = "Add --method leave-out (itemsets) or --method withdraw (rules), or remove the option"
        raise OptionError("says which lines are removed", where="--lines", remedy=remedy)
    if method != "raise-threshold" and min_support is not None:
        remedy = "Add --method raise-threshold, or remove the option"
        raise OptionError("names the new threshold", where="--min-support", remedy=remedy)
    request = Request(
        method=chosen,
        policy=chosen_policy,
        limits=Limits.within(time_limit),
        goal=goal,
        precision=None if base is None and decimals is None else Precision(base, decimals),
        lines=None if lines is None else tuple(lines),
        min_support=None if min_support is None else _threshold(min_support, start),
    )
    owners = owners_people(start, data)
    _check_request(request, start, knowledge, withheld)
    if before is not None and not _is_audit_of(before, start, request, withheld, data=data, knowledge=knowledge):
        before = None
    if start.kind == "itemsets":
        return _repair_itemsets(start, request, rows_of(owners), progress, before)

    def look(candidate: Rules, **options: Any) -> Audit:
        request.limits.check("repair")
        return audit(
            candidate,
            knowledge=knowledge,
            withheld=withheld,
            policy=request.policy,
            time_limit=request.limits.seconds_left,
            progress=progress,
            **options,
        )

    return repair_rules(start, request, owners, look, suggest=suggest, before=before)


OF_TABLES = (suppression.NAME, controlled.NAME)  #: Methods that take nothing but frequency tables, one or several.


def is_of_tables(method: str, releases: Sequence[Release]) -> bool:
    """Tell if a method is one that repairs frequency tables together."""
    return method in OF_TABLES or (method == rounding.NAME and all(one.kind == "frequencies" for one in releases))


def repair_tables(gathered: Gathered, method: str, options: Mapping[str, Any], **further: Any) -> Repair:
    """Carry out a repair of frequency tables; ``options`` by their names, None if not given."""
    own = {rounding.NAME: ("--base",), controlled.NAME: ("--base", "--seed")}
    of_suppress = [name for name in options if name not in own[controlled.NAME]]
    others = {name: value for name, value in options.items() if name not in own.get(method, of_suppress)}
    refuse_given(others, f"does not apply to --method {method}")
    if method == rounding.NAME:
        return rounding.round_tables(gathered, base=options["--base"], **further)
    if method == controlled.NAME:
        return round_controlled(gathered, base=options["--base"], seed=options["--seed"], **further)
    chosen = Suppression(
        weighing=options["--cost"] or "cells",
        keep=options["--keep"],
        hide_first=options["--hide-first"],
        protect=options["--protect"],
        attacker=options["--attacker"],
    )
    return suppress(gathered, options=chosen, **further)


def refuse_given(options: Mapping[str, Any], what: str) -> None:
    """Raise if an option of another method is given."""
    for option, value in options.items():
        if value is not None:
            raise OptionError(what, where=option, remedy="Remove the option")


def repair_audited(found: Audit, *, method: str | None = None, **options: Any) -> Repair:
    """Repair what was audited: by a method, or in the cheapest way that is clean."""
    asked = remembered(found)
    if method is None:
        return repair_best(found, asked.releases, policy=found.policy, **asked.given, **options)
    given = {name: asked.given[name] for name in ("data", "knowledge", "withheld", "people")}
    audited = asked.releases[0] if len(asked.releases) == 1 else list(asked.releases)
    return repair(audited, method=method, policy=found.policy, before=found, **given, **options)


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """Options of a repair; see :func:`repair`."""

    method: RepairMethod
    policy: Policy
    limits: Limits
    goal: Goal = "all"
    precision: Precision | None = None
    lines: tuple[int, ...] | None = None
    min_support: int | None = None

    @property
    def is_wish(self) -> bool:
        """True if the result is chosen, and not only that it be safe."""
        return self.precision is not None or self.lines is not None or self.min_support is not None


def _threshold(given: Any, release: Listed) -> int:
    """Return a new threshold as a number of people."""
    parsed = Threshold.parse(given, where="--min-support")
    if release.n is None and not parsed.is_count:
        raise OptionError("is a share, and the number of people is not known", where="--min-support", remedy="Give a number")
    least = parsed.least_count(release.n or 0)
    if release.min_support is not None and least < release.min_support:
        remedy = f"Choose {release.min_support:,} or more, or mine again"
        raise OptionError("is below the threshold of the release", where="--min-support", remedy=remedy)
    return least


def _is_audit_of(found: Audit, release: Listed, request: Request, withheld: Withheld, **given: Any) -> bool:
    """Tell if an audit is the one that a repair of the release begins with."""
    is_whole = request.goal == "all" and found.options["attacks"] is None and not found.options["first_hit"]
    is_same = found.release == (described(release),) and found.policy == request.policy
    is_same &= found.adversary.get("withheld", "at-threshold") == withheld
    return is_whole and is_same and found.options["given"] == [name for name, value in given.items() if value is not None]


def _repairable(release: Release) -> Listed:
    kind = kind_of(release)
    if kind.remedy:
        raise OptionError(f"{kind.held}, which cannot be repaired this way", where="the release", remedy=kind.remedy)
    if release.header.first_match is not None:
        what = "is a rule list in order, and without a rule the later ones are about other people"
        raise OptionError(what, where="the release", remedy="Make the list again with fewer rules, or larger groups")
    assert release.kind == "itemsets" or release.kind == "rules"
    # The result is written without the columns that were not read.
    return replace(release, header=replace(release.header, unread=())) if release.header.unread else release


def _method(name: str, release: Listed, data: Any) -> RepairMethod:
    known = {row.name: row for row in REPAIRS}
    if name not in known:
        raise OptionError(f"there is no repair {name!r}", where="--method", remedy=nearest_name(name, known, "repairs"))
    chosen = known[name]
    if release.kind not in chosen.of:
        what = f"{name} repairs {' and '.join(chosen.of)}, not {release.kind}"
        raise OptionError(what, where="--method", remedy="See tacit repairs")
    if chosen.needs_data and data is None:
        raise OptionError(f"{name} looks at rows and needs the data", where="--method", remedy="Give them with --data")
    if chosen.needs_data and (not release.header.complete or release.min_support is None):
        what = f"{name} mines again, and the release names no threshold that it is complete above"
        raise OptionError(what, where="--method", remedy="Mine the release with tacit, or choose raise-threshold")
    return chosen


def _check_request(request: Request, release: Listed, knowledge: Any, withheld: Withheld) -> None:
    goal = request.goal
    check_withheld(withheld)
    if withheld != "at-threshold" and release.kind != "rules":
        raise OptionError("applies to rules; this release has none", where="--withheld", remedy="Remove the option")
    if knowledge is not None and not kind_of(release).takes_knowledge:
        raise OptionError("applies to rules; this release has none", where="--knowledge", remedy="Remove the option")
    if goal not in GOALS:
        raise OptionError(f"there is no goal {goal!r}", where="--goal", remedy=nearest_name(goal, GOALS, "goals"))
    if goal != "all" and release.kind != "itemsets":
        raise OptionError(f"{goal} is a goal for itemsets", where="--goal", remedy="Remove the option")
    base = None if request.precision is None else request.precision.base
    least = request.policy.safe_round_base
    if base is not None and least is not None and base < least:
        remedy = f"Round to {least:,} or more, or leave --base out"
        raise OptionError("is smaller than the policy's safe_round_base", where="--base", remedy=remedy)


# Itemsets


def _repair_itemsets(
    start: Itemsets, request: Request, rows: Transactions | None, progress: Progress, before: Audit | None
) -> Repair:
    method = request.method
    if start.n is None and rows is not None:
        # Repairs that change rows print n, so all of them are judged against an attacker who knows it.
        start = replace(start, header=replace(start.header, n=rows.n))
        before = None
    if method.needs_data and rows is not None and _has_coarser_items(rows):
        what = f"{method.name} mines again, which it cannot do with hierarchies"
        remedy = "Repair a release of the plain columns, or choose raise-threshold"
        raise OptionError(what, where="--method", remedy=remedy)
    attacks = ["I01"] if request.goal == "frequent-only" else None

    first_looks: dict[tuple[Itemsets, Transactions | None], Audit] = {}

    @lru_cache(maxsize=2)  # many methods begin with the audit of the release, and end with that of their proposal
    def look(candidate: Itemsets, people: Transactions | None = None, first_hit: bool = False) -> Audit:
        if candidate is start and before is not None and not first_hit:
            return before
        if not first_hit and (known := first_looks.get((candidate, people))) is not None:
            return known
        request.limits.check("repair")  # every repair looks again and again, so this bounds the whole
        found = audit(
            method.signed(candidate, start),
            data=people,
            policy=request.policy,
            attacks=attacks,
            first_hit=first_hit,
            time_limit=request.limits.seconds_left,
            progress=progress,
        )
        if first_hit and (whole := whole_of(found)) is not None:
            first_looks[candidate, people] = whole
        return found

    def mine(people: Transactions, only: Only | None = None, least: int | None = None) -> Itemsets:
        request.limits.check("repair")
        mined = mine_itemsets(
            people,
            min_support=least or start.min_support or 1,
            only=only or start.only,
            max_length=start.header.max_length,
            time_limit=request.limits.seconds_left,
        )
        # People who were added or changed may lack the sensitive column: then its values are not all that there is.
        column = " & ".join(start.header.sa)
        values = start.header.sa_values
        if not people.has_one_of([f"{column}={value}" for value in values]):
            values = ()
        return replace(mined, header=replace(start.header, n=people.n, sa_values=values))

    first = look(start, rows)
    if first.asked_verdict == "clean" and not request.is_wish:
        return Repair(method.name, start, first, first, cost_of(start, start), goal=request.goal, start=start)
    case = RepairCase(
        start,
        request.policy.k,
        audit=look,
        mine=mine,
        mine_all=partial(mine, only="all"),
        data=rows,
        goal=request.goal,
        precision=request.precision,
        first_look=partial(look, first_hit=True),
        lines=request.lines,
        least_base=request.policy.least_base,
        min_support=request.min_support,
    )
    with within_time(request.limits.seconds_left), building_on(first):
        proposal = method.propose(case)
    # What was cut or rounded without new data is still true of the old ones, which refute quickly what is not small.
    assert proposal.release.kind == "itemsets"
    with building_on(first):
        after = look(proposal.release, rows if proposal.data is None else proposal.data)
    cost = _itemset_cost(start, proposal, rows, partial(mine, only="all"))
    made = method.signed(proposal.release, start)
    return Repair(method.name, made, first, after, cost, remark=proposal.remark, goal=request.goal, start=start)


def _itemset_cost(
    start: Itemsets, proposal: Proposal, rows: Transactions | None, mine_all: Callable[..., Itemsets]
) -> dict[str, float]:
    result = proposal.release
    if rows is None or proposal.data is None:
        return dict(cost_of(start, result))
    if start.only == "closed":
        # Closed sets come and go while the frequent ones stay, so costs are counted over all frequent itemsets.
        start = mine_all(rows)
        if result.kind == "rules" or result.only != "all":
            result = mine_all(proposal.data, least=result.min_support)
    return {**cost_of(start, result), "people_changed": people_changed(rows, proposal.data)}


def cost_of(before: Release, after: Release) -> Mapping[str, float]:
    """Return the cost: itemsets lost and added, count errors.

    An inexact count is taken as the middle of its interval.
    """
    if before.kind != "itemsets" or after.kind != "itemsets":
        return {}
    old, new = _hashes((before.sets, before.items), (after.sets, after.items))
    _, in_old, in_new = np.intersect1d(old, new, assume_unique=True, return_indices=True)
    was = (before.lo[in_old] + before.hi[in_old]) / 2
    moved = np.abs((after.lo[in_new] + after.hi[in_new]) / 2 - was)
    errors = moved[was > 0] / was[was > 0]
    people = {name: n for name, n in (("people_before", before.n), ("people_after", after.n)) if n is not None}
    return {
        "itemsets_lost": len(old) - len(in_old),
        "itemsets_ghost": len(new) - len(in_new),
        "supports_changed": float((moved > 0).mean()) if len(moved) else 0.0,
        "support_error_mean": float(errors.mean()) if len(errors) else 0.0,
        "support_error_max": float(errors.max()) if len(errors) else 0.0,
    } | people


def people_changed(before: Transactions, after: Transactions) -> int:
    """Return the fewest people that a repair changed."""
    old, new = _hashes((before.rows, before.items), (after.rows, after.items))
    people: Counter[int] = Counter()
    for keys, weights, sign in ((old, before.weights, 1), (new, after.weights, -1)):
        for key, weight in zip(keys.tolist(), weights.tolist(), strict=True):
            people[key] += sign * weight
    return max(sum(n for n in people.values() if n > 0), -sum(n for n in people.values() if n < 0))


def _hashes(*families: tuple[Sets, Items]) -> list[Words]:
    """Return hashes of sets by the names of their items alone."""
    names = {name: number for number, name in enumerate(dict.fromkeys(name for _, items in families for name in items.names))}
    found = []
    for sets, items in families:
        place = np.array([names[name] for name in items.names], np.int64)
        found.append(Sets(sets.offsets, place[sets.members] if len(sets.members) else sets.members).hashes())
    return found


def _has_coarser_items(rows: Transactions) -> bool:
    pairs = rows.items.pairs
    return pairs is not None and len(rows.rows) > 0 and len(rows.rows[0]) > len({column for column, _ in pairs})


# Rules


def repair_rules(
    start: Rules, request: Request, people: Any, look: Look, *, suggest: bool, before: Audit | None = None
) -> Repair:
    """Repair rules by one method, or try all.

    Rules QI => SA are judged together with their people; for other rules, and where lines are named, ``people`` may be None.
    """
    has_people = start.items.pairs is not None and bool(start.header.sa)
    is_alone = not has_people or (people is None and request.lines is not None)
    if not is_alone and not isinstance(people, Table):
        remedy = "Give the table that the rules were made from with --data"
        raise OptionError("rules are repaired together with the people that they are about", where="--data", remedy=remedy)
    who: dict[str, Any] = {"data": people}
    if is_alone:
        look = partial(look, **who)
    else:
        true_counts(start, people)  # other data are refused before anything is attacked
        who = {"known": people.select(start.header.qi or people.schema.qi).merged()}
    before = before or look(start, data=people)
    case = RepairCase(
        start,
        request.policy.k,
        audit=lambda candidate, _: look(candidate, **who),
        mine=_refuse_mining,
        mine_all=_refuse_mining,
        precision=request.precision,
        first_look=partial(look, **who, first_hit=True, attacks=FAST),
        table=None if is_alone else people,
        lines=request.lines,
        min_support=request.min_support,
    )
    done = _carry_out(case, request.method, before, look)
    found_by = [run.code for run in done.after.runs if run.findings]
    if found_by and not any(code in FAST for code in found_by):
        # The slow attack runs at every step only if a search without it was not enough.
        slow = replace(case, first_look=partial(look, **who, first_hit=True), most_looks=FEW_LOOKS)
        done = _carry_out(slow, request.method, before, look)
    if not suggest:
        return done
    tried = tuple(_try(case, row, done, look) for row in REPAIRS if "rules" in row.of)
    return replace(done, suggested=cheapest(tried), tried=tried)


def _carry_out(case: RepairCase, method: RepairMethod, before: Audit, look: Look) -> Repair:
    start = case.release
    assert start.kind == "rules"
    if before.ok and case.precision is None and case.lines is None:
        return Repair(method.name, start, before, before, rule_cost(start, start, before, before), start=start)
    result = method.signed(method.propose(case).release, start)
    assert result.kind == "rules"
    after = look(result) if case.table is None else look(result, data=case.table)
    return Repair(method.name, result, before, after, rule_cost(start, result, before, after), start=start)


def _try(case: RepairCase, method: RepairMethod, done: Repair, look: Look) -> Tried:
    if method.name == done.method:
        return Tried(method.name, done.after.verdict, done.cost)
    try:
        other = _carry_out(replace(case, lines=None), method, done.before, look)
    except LimitReached:
        return Tried(method.name, None, {}, "the time limit was reached")
    except TacitError as error:
        return Tried(method.name, None, {}, str(error))
    return Tried(method.name, other.after.verdict, other.cost)


def cheapest(tried: tuple[Tried, ...]) -> str | None:
    """Return the safe method with the least loss."""
    good = [one for one in tried if one.verdict == "clean"]
    costs = {one.method: (one.cost.get("information_lost", float("inf")), one.cost["rules_lost"]) for one in good}
    return min(costs, key=lambda name: costs[name]) if costs else None


def _refuse_mining(_: object) -> NoReturn:
    raise AssertionError("repairs of rules do not mine")
