"""Repairs of rules: inputs, cost, and the cheapest method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NoReturn

from tacit.errors import LimitReached, OptionError, TacitError
from tacit.model.audit import Audit
from tacit.model.policy import Limits, Policy
from tacit.model.release import Rules
from tacit.model.repair import Repair, RepairCase, RepairMethod, Tried
from tacit.model.rounding import Precision
from tacit.model.table import Table
from tacit.repairs import REPAIRS
from tacit.repairs.lists import rule_cost, true_counts
from tacit.verbs.attacks import ATTACKS

#: Attacks on rules that take seconds at most, and how many audits a search may take that asks the slow ones as well.
FAST = tuple(attack.code for attack in ATTACKS if attack.needs == "rules" and attack.code != "R03")
FEW_LOOKS = 10
#: Attacks a release: (release, known quasi-identifiers or the owner's data by name, whether one finding is enough).
Look = Callable[..., Audit]


def repair_rules(
    start: Rules,
    chosen: RepairMethod,
    people: Any,
    policy: Policy,
    *,
    precision: Precision | None,
    look: Look,
    limits: Limits,
    suggest: bool,
    lines: tuple[int, ...] | None = None,
) -> Repair:
    """Rules changed by the chosen method, with what the other methods would come to.

    Rules QI => SA are judged beside their people; ``people`` may be None of other rules, and where ``lines`` are named.
    """
    alone = people is None and (lines is not None or start.items.pairs is None or not start.header.sa)
    if not alone and not isinstance(people, Table):
        remedy = "Give the table that the rules were made from with --data"
        raise OptionError("rules are repaired beside the people that they are about", where="--data", remedy=remedy)
    known = None
    if not alone:
        true_counts(start, people)  # other data are refused before anything is attacked
        known = people.select(start.header.qi or people.schema.qi).merged()

    before = look(start, data=people)
    case = RepairCase(
        start, policy.k, lambda candidate, _: look(candidate, known=known), _no_mining, _no_mining, None, "all", precision,
        partial(look, known=known, first_hit=True, attacks=FAST), people, lines=lines,
    )  # fmt: skip
    done = _carried_out(case, chosen, before, look)
    if _found_by_slow(done.after):
        # The slow attack is asked at every step only where a search without it was not enough.
        slowly = replace(case, first_look=partial(look, known=known, first_hit=True), most_looks=FEW_LOOKS)
        done = _carried_out(slowly, chosen, before, look)
    if not suggest:
        return done
    tried = tuple(_tried(case, row, done, look) for row in REPAIRS if "rules" in row.of)
    return Repair(done.method, done.release, before, done.after, done.cost, cheapest(tried), tried)


def _found_by_slow(audit: Audit) -> bool:
    """Whether only attacks that the search left out found something."""
    return any(run.findings for run in audit.runs) and not any(run.findings for run in audit.runs if run.code in FAST)


def _carried_out(case: RepairCase, method: RepairMethod, before: Audit, look: Look) -> Repair:
    """What one method does; a release that is safe stays as it is."""
    start = case.release
    assert isinstance(start, Rules)
    if before.ok and case.precision is None and case.lines is None:
        return Repair(method.name, start, before, before, rule_cost(start, start, before, before))
    result = method.signed(method.propose(case).release, start)
    assert isinstance(result, Rules)
    after = look(result, data=case.table)
    return Repair(method.name, result, before, after, rule_cost(start, result, before, after))


def _tried(case: RepairCase, method: RepairMethod, done: Repair, look: Look) -> Tried:
    """What a method comes to, or why it comes to nothing."""
    if method.name == done.method:
        return Tried(method.name, done.after.verdict, done.cost)
    try:
        other = _carried_out(replace(case, lines=None), method, done.before, look)
    except LimitReached:
        return Tried(method.name, None, {}, "the time limit was reached")
    except TacitError as error:
        return Tried(method.name, None, {}, str(error))
    return Tried(method.name, other.after.verdict, other.cost)


def cheapest(tried: tuple[Tried, ...]) -> str | None:
    """The method that meets the goal and loses the least information, then the fewest rules; None where no method meets it."""
    good = [one for one in tried if one.verdict == "clean"]
    costs = {one.method: (one.cost.get("information_lost", float("inf")), one.cost["rules_lost"]) for one in good}
    return min(costs, key=lambda name: costs[name]) if costs else None


def _no_mining(_: object) -> NoReturn:
    raise AssertionError("repairs of rules do not mine")
