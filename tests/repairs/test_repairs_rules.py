"""Every repair of rules on random small tables: what it promises, judged by going through the data."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import isnan, log, nan

import numpy as np
import pytest

import tacit
from tacit.model.audit import AttackRun
from tacit.repairs import REPAIRS
from tests.rules.made_people import line_numbers, people, true_numbers

METHODS = [row.name for row in REPAIRS if "rules" in row.of]
TAKING_OUT = ("withdraw", "mixed")
POLICIES = [tacit.Policy(k=3, max_posterior=0.8), tacit.Policy(k=3, max_gain=0.3), tacit.Policy(k=4, l=1)]
FORMS = [{}, {"digits": 2}, {"withhold_values": True}, {"publish_sa_distribution": True}]


@cache
def audited(seed: int, form: int) -> tuple[tacit.Table, tacit.Rules, tacit.Audit]:
    data = people(seed, n=48, values=2 + seed % 3)
    rules = tacit.mine_rules(data, min_support=5, min_confidence=0.5, **FORMS[form])  # type: ignore[arg-type]
    return data, rules, tacit.audit(rules, data=data, policy=POLICIES[seed % len(POLICIES)])


@cache
def repaired(seed: int, method: str, form: int) -> tuple[tacit.Table, tacit.Repair]:
    data, rules, found = audited(seed, form)
    return data, tacit.repair(rules, method=method, data=data, policy=found.policy, before=found, suggest=False)


def cases() -> list[tuple[int, str, int]]:
    """Every method on every form, and under each policy and each number of sensitive values."""
    return [
        (seed, method, form)
        for seed in range(len(POLICIES))
        for method in METHODS
        for form in range(len(FORMS))
        if not (method == "round" and form == 2) and (form == 0 or form % len(POLICIES) == seed)
    ]


@pytest.mark.parametrize(("seed", "method", "form"), cases())
def test_what_is_published_is_true_and_complete_where_it_says_so(seed: int, method: str, form: int) -> None:
    """Takes seconds where thresholds rise on rounded numbers: each list on the way is audited with every attack."""
    data, done = repaired(seed, method, form)
    rules, header = done.release, done.release.header
    assert isinstance(rules, tacit.Rules)
    assert header.min_support is not None
    assert header.min_confidence is not None
    truth = true_numbers(data, header.min_support, float(header.min_confidence))
    published = line_numbers(rules)
    for key, (lo, hi) in published.items():
        assert lo <= truth[key] <= hi  # every line reaches the thresholds of the header
    assert header.complete == (len(published) == len(truth)) or (method in TAKING_OUT and not header.complete)
    assert header.complete or method in TAKING_OUT
    assert header.n == data.n
    _cost_is_what_was_lost(data, done, method, form)


def _cost_is_what_was_lost(data: tacit.Table, done: tacit.Repair, method: str, form: int) -> None:
    before = tacit.mine_rules(data, min_support=5, min_confidence=0.5, **FORMS[form])  # type: ignore[arg-type]
    assert done.cost["rules_lost"] == len(before) - len(done.release)
    left = [audit.measures.get("posterior_entropy", nan) for audit in (done.before, done.after)]
    assert ("information_lost" in done.cost) != isnan(sum(left))
    if "information_lost" in done.cost:
        assert done.cost["information_lost"] == pytest.approx(left[1] - left[0], abs=1e-8)
        if method in ("withhold", "withdraw", "round", "mixed") or form in (0, 3):
            # Each database that fits the old list fits the new one, so the largest entropy does not fall.
            assert done.cost["information_lost"] >= -1e-8
        full = sum(log(len(one.values)) for one in done.before.posteriors)
        if full - left[0] > 1e-6:
            share = done.cost["information_lost_share"]
            assert share == pytest.approx(min(max(done.cost["information_lost"] / (full - left[0]), 0), 1), abs=1e-6)
    if method in ("withdraw", "raise-threshold") and form in (0, 3):
        assert done.cost["support_error_max"] == 0
    if method == "mixed":
        assert done.cost["values_withheld"] == (0 if form == 2 else int(done.release.withheld.sum()))
        return
    assert done.cost["values_withheld"] == (len(done.release) if method == "withhold" and form != 2 and not done.before.ok else 0)


@pytest.mark.parametrize("method", ["withdraw", "mixed", "raise-threshold"])
@pytest.mark.parametrize("seed", range(4))
def test_taking_rules_out_always_leads_somewhere_safe(seed: int, method: str) -> None:
    """The empty list gives nothing away: nothing must be found afterwards."""
    _, done = repaired(seed, method, 0)
    assert sum(run.findings for run in done.after.runs) == 0
    if done.before.verdict == "exposed" and method != "mixed":
        assert len(done.release) < done.before.measures["rules"]


def short_list(seed: int) -> tuple[tacit.Table, tacit.Rules, tacit.Audit]:
    """Few rules of which only some, and not all of them together, give something away."""
    data = people(seed, values=2 + seed % 3)
    rules = tacit.mine_rules(data, min_support=7, min_confidence=0.6)
    found = tacit.audit(rules, data=data, policy=POLICIES[seed % len(POLICIES)])
    assert found.verdict == "exposed"
    assert not found.attack("X01").findings
    return data, rules, found


@pytest.mark.parametrize("seed", [4, 7, 8, 10, 11])
def test_no_withdrawn_rule_can_be_put_back_alone(seed: int) -> None:
    data, rules, found = short_list(seed)
    done = tacit.repair(rules, method="withdraw", data=data, policy=found.policy, before=found, suggest=False)
    assert isinstance(done.release, tacit.Rules)
    kept = line_numbers(done.release)
    places = [i for i, key in enumerate(line_numbers(rules)) if key in kept]
    for extra in set(range(len(rules))) - set(places):
        more = rules.take(np.array(sorted([*places, extra])), done.release.header)
        assert tacit.audit(more, known=data.qi, policy=found.policy, first_hit=True).verdict == "exposed"


@pytest.mark.parametrize("seed", range(5))
def test_rounding_takes_the_most_decimals_that_are_safe(seed: int) -> None:
    data, done = repaired(seed, "round", 0)
    policy = POLICIES[seed % len(POLICIES)]
    if done.before.verdict != "exposed":
        return
    safe = []
    for digits in range(2):  # 60 people: two decimals and more print every count exactly
        printed = tacit.mine_rules(data, min_support=5, min_confidence=0.5, digits=digits)
        runs = tacit.audit(printed, known=data.qi, policy=policy, first_hit=True).runs
        safe += [] if any(run.findings or run.status == "stopped" for run in runs) else [digits]
    if safe:
        assert done.release.header.digits == max(safe)


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_without_limits_on_estimates_the_longest_safe_list_is_found(seed: int) -> None:
    """Proofs vanish one by one as thresholds rise, so halving finds what going through all of them finds."""
    data = people(seed)
    rules = tacit.mine_rules(data, min_support=5, min_confidence=0.5)
    policy = tacit.Policy(k=5, l=1)
    done = tacit.repair(rules, method="raise-threshold", data=data, policy=policy, suggest=False)
    most = 0
    for confidence in ("0.5", "0.55", "0.6", "0.65", "0.7", "0.75", "0.8", "0.85", "0.9", "0.95", "1"):
        for support in range(5, 40):
            shorter = tacit.mine_rules(data, min_support=support, min_confidence=confidence)
            if len(shorter) <= most:
                break  # from here on lists are shorter still
            if all(run.decides for run in _runs(shorter, data, policy)):
                most = len(shorter)
    assert len(done.release) == most


def _runs(rules: tacit.Rules, data: tacit.Table, policy: tacit.Policy) -> list[AttackRun]:
    """The attacks that could say something, up to the first finding: none of them decides where there is one."""
    audit = tacit.audit(rules, known=data.qi, policy=policy, first_hit=True)
    if any(run.findings for run in audit.runs):
        return [replace(run, status="stopped") for run in audit.runs[:1]]
    # What stays open in the general attack does not keep a repair from accepting a list.
    return [run for run in audit.runs if run.status not in ("not-relevant", "unavailable") and run.code != "X01"]


@pytest.mark.parametrize("seed", range(6))
def test_an_incomplete_list_says_less_line_by_line(seed: int) -> None:
    """Entropy rises with every line that goes, and with giving completeness up."""
    data = people(seed, values=3)
    rules = tacit.mine_rules(data, min_support=5, min_confidence=0.4)
    last = tacit.audit(rules, known=data.qi, attacks=["R02"]).measures["posterior_entropy"]
    for size in range(len(rules), -1, -1):
        shorter = rules.take(np.arange(size), replace(rules.header, complete=False))
        now = tacit.audit(shorter, known=data.qi, attacks=["R02"]).measures["posterior_entropy"]
        assert now >= last - 1e-8
        last = now


def test_the_suggestion_is_the_cheapest_of_those_that_are_clean() -> None:
    from tacit.model.repair import Tried
    from tacit.verbs.repair import cheapest

    def one(method: str, verdict: str, information: float, lost: int) -> Tried:
        return Tried(method, verdict, {"information_lost": information, "rules_lost": lost})  # type: ignore[arg-type]

    assert cheapest(()) is None
    assert cheapest((one("a", "exposed", 0.0, 0), one("b", "incomplete", 0.0, 0))) is None
    assert cheapest((one("a", "clean", 0.2, 0), one("b", "clean", 0.1, 9), one("c", "exposed", 0.0, 0))) == "b"
    assert cheapest((one("a", "clean", 0.1, 3), one("b", "clean", 0.1, 2))) == "b"
    assert cheapest((one("a", "clean", 0.1, 3), Tried("b", None, {}, "late"))) == "a"


@pytest.mark.parametrize("method", ["withdraw", "round"])
def test_an_audit_that_was_made_is_used_and_changes_nothing(method: str) -> None:
    data, rules, found = short_list(4)
    made = tacit.repair(rules, method=method, data=data, policy=found.policy, suggest=False)
    again = tacit.repair(rules, method=method, data=data, policy=found.policy, before=found, suggest=False)
    assert again.before is found
    assert again.to_dict() == made.to_dict()
    other = replace(found.policy, k=found.policy.k + 1)
    assert tacit.repair(rules, method=method, data=data, policy=other, before=found, suggest=False).before is not found
