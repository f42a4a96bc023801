"""The checker of certain values: every true finding holds, every change to one is noticed."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest

import tacit
from tacit.checker import check_audit
from tacit.model.release import Rules
from tacit.model.table import Table

Record = dict[str, Any]
PEOPLE = {
    "education": ["Doctorate", "Doctorate", "Masters"],
    "gender": ["Female", "Male", "Female"],
    "salary": ["50K+", "50K+", "50K-"],
}


@pytest.fixture
def audited() -> tuple[Record, Rules, Table]:
    table = tacit.read_table(PEOPLE, qi=["education", "gender"], sa="salary")
    rules = tacit.mine_rules(table, min_support=0.6, min_confidence=0.9)
    audit = tacit.audit(rules, known=table.qi, attacks=["R03"])
    return json.loads(json.dumps(audit.to_dict())), rules, table.qi


def third(record: Record) -> Record:
    """The finding that takes two statements."""
    found: Record = record["findings"][2]
    assert len(found["steps"]) == 5
    return found


def cited(record: Record, name: str) -> Record:
    return next(one for one in third(record)["because"] if str(one.get("cell", one.get("line"))).startswith(name))


def renamed(record: Record, column: str, value: str) -> None:
    finding = third(record)
    finding["event"][column] = [value]
    text = json.dumps([finding["code"], finding["event"]], ensure_ascii=False, sort_keys=True)
    finding["id"] = f"R03-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def replaced(record: Record, old: str, new: str) -> None:
    third(record)["statement"] = third(record)["statement"].replace(old, new)


def test_all_findings_hold_with_the_known_people_and_without(audited: tuple[Record, Rules, Table]) -> None:
    record, rules, known = audited
    for given in (known, None):
        outcome = check_audit(record, [rules], known=given)
        assert (outcome.held, outcome.problems) == (3, ())


def otherwise(record: Record) -> None:
    renamed(record, "salary", "50K+")
    replaced(record, "50K-", "50K+")


CHANGES: dict[str, Callable[[Record], Any]] = {
    "another value": lambda record: renamed(record, "salary", "50K+"),
    "another value, and so said": otherwise,
    "another person": lambda record: renamed(record, "gender", "Male"),
    "another sentence": lambda record: replaced(record, "certainly has", "hardly has"),
    "another person in the sentence": lambda record: replaced(record, "Masters", "Bachelors"),
    "more people": lambda record: third(record).update(count=[2, 2]),
    "another weight": lambda record: cited(record, "2").update(weight=-2),
    "a weight of the other sign": lambda record: cited(record, "missing").update(weight=-1),
    "a line that says more": lambda record: cited(record, "2").update(count=[3, 3]),
    "a line that is not there": lambda record: cited(record, "2").update(line=9),
    "a missing rule that says more": lambda record: cited(record, "missing").update(count=[0, 0]),
    "a missing rule that is published": lambda record: cited(record, "missing").update(
        cell='missing rule {"education": "Doctorate"} => 50K+'
    ),
    "a missing rule about the sensitive column": lambda record: cited(record, "missing").update(
        cell='missing rule {"salary": "50K+"} => 50K+'
    ),
    "a place that is unknown": lambda record: cited(record, "missing").update(cell="hearsay"),
    "a denominator that is too large": lambda record: cited(record, "denominator").update(count=[2, 2]),
    "no denominator": lambda record: third(record)["because"].remove(cited(record, "denominator")),
    "no line": lambda record: third(record)["because"].remove(cited(record, "2")),
    "people counted too seldom": lambda record: cited(record, "people in").update(weight=0),
    "fewer than no people": lambda record: cited(record, "people in").update(count=[-1, -1]),
    "a step that says something else": lambda record: third(record)["steps"].__setitem__(0, "It is so."),
    "a step left out": lambda record: third(record)["steps"].pop(),
    "another sum": lambda record: third(record)["steps"].__setitem__(3, "sum: -1"),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("with_people", [False, True])
def test_changes_are_noticed(name: str, with_people: bool, audited: tuple[Record, Rules, Table]) -> None:
    record, rules, known = audited
    changed = copy.deepcopy(record)
    CHANGES[name](changed)
    assert changed != record
    outcome = check_audit(changed, [rules], known=known if with_people else None)
    assert outcome.held == 2
    assert len(outcome.problems) == 1


def test_a_sum_that_is_written_out_rightly_but_counts_people_too_seldom_is_noticed(audited: tuple[Record, Rules, Table]) -> None:
    record, rules, _ = audited
    cited(record, "people in").update(weight=-1)
    next(one for one in third(record)["certificate"]["groups"] if not one["asked"]).update(weight="-1")
    steps = third(record)["steps"]
    steps[2], steps[3] = steps[2].replace("plus 1", "minus 1"), "sum: -2"
    assert check_audit(record, [rules]).problems == (f"{third(record)['id']}: its sum does not count everybody often enough",)


def test_people_who_are_not_counted_are_noticed_where_the_people_are_known() -> None:
    # Nothing is said about the women but by the list, and the record leaves one of them out.
    table = tacit.read_table(PEOPLE, qi=["education", "gender"], sa="salary")
    rules = tacit.mine_rules(table, min_support=0.6, min_confidence=0.9)
    record = json.loads(json.dumps(tacit.audit(rules, known=table.qi, attacks=["R03"]).to_dict()))
    others = {column: [*values, values[1]] for column, values in PEOPLE.items()}
    more = tacit.read_table(others, qi=["education", "gender"], sa="salary").qi
    assert check_audit(record, [rules], known=table.qi).ok
    assert not check_audit(record, [rules], known=more).ok


def test_a_value_of_a_larger_column_that_is_left_open_is_no_finding() -> None:
    table = tacit.read_table(PEOPLE, qi=["education", "gender"], sa="salary")
    rules = tacit.mine_rules(table, min_support=0.6, min_confidence=0.9)
    record = json.loads(json.dumps(tacit.audit(rules, known=table.qi, attacks=["R03"]).to_dict()))
    record["policy"]["l"] = 1
    assert check_audit(record, [rules], known=table.qi).held == 0


def test_weights_may_be_fractions_and_the_column_may_have_three_values() -> None:
    people = {"one": list("aaabbb"), "two": list("cdecde"), "ill": list("uuvvuw")}
    table = tacit.read_table(people, qi=["one", "two"], sa="ill")
    for least in (1, 2):
        rules = tacit.mine_rules(table, min_support=least, min_confidence=0.5, publish_sa_distribution=True)
        audit = tacit.audit(rules, known=table.qi, attacks=["R03"], policy=tacit.Policy(l=3))
        record = json.loads(json.dumps(audit.to_dict()))
        outcome = check_audit(record, [rules], known=table.qi)
        assert outcome.ok
        assert outcome.held == audit.attack("R03").findings
