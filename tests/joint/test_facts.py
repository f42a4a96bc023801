"""What is known besides, in a joint audit without known people: every proof holds in every world that fits the facts, and is re-checked."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.checker import check_audit
from tacit.files.knowledge import read_knowledge
from tacit.model.errors import Contradiction
from tacit.model.table import Schema, Table
from tests.examples import examples
from tests.joint.naive_joint import bounds, group_of, kinds_of, worlds

SCHEMA = Schema(qi=("a",), sa=("s",))


@given(st.data())
@settings(max_examples=examples(30), deadline=None)
def test_negative_rules_narrow_groups_of_unknown_people(data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.tuples(st.sampled_from("xy"), st.sampled_from("123")), min_size=2, max_size=5))
    people = Table.from_rows(["a", "s"], rows, SCHEMA)
    rules = tacit.mine_rules(people, min_support=1, min_confidence=0.5, withhold_values=True, incomplete=True)
    table = tacit.tabulate(people, by=["a", "s"], hide_below=data.draw(st.sampled_from([None, 2])))
    absent = [(a, s) for a in "xy" for s in rules.header.sa_values if (a, s) not in rows]
    facts = [({"a": a}, s) for a, s in absent]
    audit = tacit.audit([rules, table], people=tacit.Same(), policy=tacit.Policy(k=4), attacks=["X01"], knowledge=facts or None)
    values = dict(zip(table.columns, table.values, strict=True))
    kinds = kinds_of([[frozenset([f"{name}={value}"]) for value in values[name]] for name in "as"], tacit.Same(), 2)
    barred = [{f"a={a}", f"s={s}"} for a, s in absent]
    impossible = [place for place, (items, _) in enumerate(kinds) if any(pair <= items for pair in barred)]
    fitting = [world for world in worlds(kinds, [rules, table], tacit.Same()) if not any(world[place] for place in impossible)]
    assert fitting
    for finding in audit.findings:
        fewest, most = bounds(group_of(finding.to_dict()["event"]), kinds, fitting)
        assert finding.count.lo <= fewest <= most <= finding.count.hi
    record = audit.to_dict(top=1000)
    for known in (None, read_knowledge(facts)):
        outcome = check_audit(record, [rules, table], knowledge=known)
        assert outcome.ok, outcome.problems


def silent() -> list[Any]:
    """Rules and totals that leave open who of twenty people has the third value."""
    rows = [("x", "1")] * 9 + [("y", "2")] * 9 + [("x", "3"), ("y", "3")]
    people = Table.from_rows(["a", "s"], rows, SCHEMA)
    rules = tacit.mine_rules(people, min_support=5, min_confidence=0.6, withhold_values=True, incomplete=True)
    return [rules, tacit.tabulate(people, by=["a", "s"])]


def test_a_fact_tells_what_releases_leave_open_and_is_named() -> None:
    releases = silent()
    facts = [({"a": "x"}, "2"), ({"a": "y"}, "1")]
    without = tacit.audit(releases, people=tacit.Same(), policy=tacit.Policy(k=5), attacks=["X01"])
    found = tacit.audit(releases, people=tacit.Same(), policy=tacit.Policy(k=5), attacks=["X01"], knowledge=facts)
    fresh = {finding.statement for finding in found.findings} - {finding.statement for finding in without.findings}
    assert fresh >= {"1 person has a=x and s=3.", "1 person has a=y and s=3."}
    record = found.to_dict(top=100)
    assert record["adversary"]["background_facts"] == 2
    assert check_audit(record, releases, knowledge=read_knowledge(facts)).ok
    assert not check_audit(record, releases, knowledge=read_knowledge([({"a": "x"}, "1")])).ok


def test_facts_that_no_people_fit_are_a_contradiction() -> None:
    with pytest.raises(Contradiction):
        tacit.audit(silent(), people=tacit.Same(), attacks=["X01"], knowledge=[({}, "1")])
