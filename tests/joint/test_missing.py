"""Rules that a complete list leaves out, beside frequency tables of the same people: what follows holds in every world, and is re-checked."""

from __future__ import annotations

from itertools import product
from math import ceil, floor
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.checker import check_audit
from tacit.model.frequencies import FrequencyTable
from tacit.model.table import Schema, Table
from tests.examples import examples
from tests.joint.naive_joint import World, bounds, cited, group_of, kinds_of, worlds

SCHEMA = Schema(qi=("a",), sa=("s",))


def missing_fit(world: World, kinds: list[Any], rules: tacit.Rules) -> bool:
    """Whether no rule that the list leaves out would have been listed."""
    assert rules.items.pairs is not None
    listed = {
        (rules.items.names[int(rules.antecedents[i][0])], rules.items.names[int(rules.consequents[i][0])])
        for i in range(len(rules))
        if len(rules.antecedents[i]) == 1
    }
    for a, s in product(("x", "y"), rules.header.sa_values):
        if (f"a={a}", f"s={s}") in listed:
            continue
        whole = sum(times for times, (items, _) in zip(world, kinds, strict=True) if f"a={a}" in items)
        both = sum(times for times, (items, _) in zip(world, kinds, strict=True) if {f"a={a}", f"s={s}"} <= items)
        share = (rules.min_confidence or 0) * whole
        most = max((rules.min_support or 1) - 1, floor(share) if rules.header.strict else ceil(share) - 1)
        if both > most:
            return False
    return True


@given(st.data())
@settings(max_examples=examples(40), deadline=None)
def test_missing_rules_bound_who_has_the_value(data: st.DataObject) -> None:
    row = st.tuples(st.sampled_from("xy"), st.sampled_from("12"))
    rows = data.draw(st.lists(row, min_size=2, max_size=6))
    people = Table.from_rows(["a", "s"], rows, SCHEMA)
    strict = data.draw(st.booleans())
    least, share = data.draw(st.integers(1, 3)), data.draw(st.sampled_from([0.5, 0.6, 0.75]))
    rules = tacit.mine_rules(people, min_support=least, min_confidence=share, strict=strict, withhold_values=True)
    table = tacit.tabulate(people, by=data.draw(st.sampled_from(["a", "a,s"])), hide_below=data.draw(st.sampled_from([None, 2])))
    audit = tacit.audit([rules, table], people=tacit.Same(), policy=tacit.Policy(k=4), attacks=["X01"])
    values = dict(zip(table.columns, table.values, strict=True))
    domains = {"a": values["a"], "s": rules.header.sa_values}
    kinds = kinds_of([[frozenset([f"{name}={value}"]) for value in domains[name]] for name in "as"], tacit.Same(), 2)
    fitting = [world for world in worlds(kinds, [rules, table], tacit.Same()) if missing_fit(world, kinds, rules)]
    assert fitting
    for finding in audit.findings:
        fewest, most = bounds(group_of(finding.to_dict()["event"]), kinds, fitting)
        assert finding.count.lo <= fewest <= most <= finding.count.hi
    outcome = check_audit(audit.to_dict(top=1000), [rules, table])
    assert outcome.ok, outcome.problems


def withheld() -> list[Any]:
    """Forty people have a=x; that most of them have s=1 is no rule of 90 per cent, and those who have it are listed otherwise."""
    rows = [("x", "1")] * 30 + [("x", "2")] * 10 + [("y", "1")] * 38 + [("y", "2")] * 2
    people = Table.from_rows(["a", "s"], rows, SCHEMA)
    rules = tacit.mine_rules(people, min_support=20, min_confidence=0.9, withhold_values=True)
    return [
        rules,
        FrequencyTable.of(["a"], [["x"], ["y"]], [40, 40], n=80),
        FrequencyTable.of(["s"], [["1"], ["2"]], [73, 7], n=80),
    ]


def test_a_rule_that_is_missing_tells_a_small_group() -> None:
    """At most 35 of the 40 with x have s=1, so that of the 7 with s=2 at least five have x."""
    releases = withheld()
    audit = tacit.audit(releases, people=tacit.Same(), policy=tacit.Policy(k=10), attacks=["X01"])
    told = {finding.statement: finding for finding in audit.findings}
    assert "5 to 7 people have a=x and s=2." in told
    record = audit.to_dict(top=100)
    assert check_audit(record, releases).ok
    weights = cited(record, "missing-rule")
    assert weights
    for weight in weights:
        before = dict(weight)
        listed = {"items": ["a=y", "s=1"], "cell": "missing rule a=y => s=1"}
        inside = {name: value for name, value in before.items() if name not in ("weight", "given")}
        for change in (listed, {"given": {"release": 2, "line": 2, "what": "count"}}, {"given": inside}, {"cell": "min_support"}):
            weight.update(change)
            assert not check_audit(record, releases).ok
            weight.clear()
            weight.update(before)


def test_a_list_that_is_not_complete_leaves_nothing_out() -> None:
    rules, *tables = withheld()
    rules = tacit.read_release(rules, complete=False)
    audit = tacit.audit([rules, *tables], people=tacit.Same(), policy=tacit.Policy(k=10), attacks=["X01"])
    assert "5 to 7 people have a=x and s=2." not in {finding.statement for finding in audit.findings}
