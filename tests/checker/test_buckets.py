"""Findings about bucketized releases are re-checked, and nothing that does not follow passes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

import tacit
from tacit.checker import check_audit
from tacit.files.knowledge import read_knowledge
from tacit.model.measures import Verification

PEOPLE = {"sex": list("FMMFFM"), "age": [30, 40, 50, 30, 20, 20], "group": [1, 1, 1, 2, 2, 2]}
VALUES = {"group": [1, 1, 1, 2, 2], "ill": ["flu", "cold", "baby", "flu", "cold"], "count": [1, 1, 1, 2, 1]}
KNOWN = [({"sex": "M"}, "baby"), ({"age": ["50", "60"]}, "flu")]


@pytest.fixture(scope="module")
def release() -> tacit.Buckets:
    return tacit.read_buckets(qit=PEOPLE, st=VALUES)


@pytest.fixture(scope="module")
def record(release: tacit.Buckets) -> dict[str, Any]:
    return tacit.audit(release, knowledge=KNOWN, policy=tacit.Policy(l=3)).to_dict(top=100)


def test_every_finding_holds_with_and_without_the_knowledge(release: tacit.Buckets, record: dict[str, Any]) -> None:
    assert [finding["event"]["ill"] for finding in record["findings"][:3]] == [["baby"], ["flu"], ["cold"]]
    assert check_audit(record, [release]) == Verification(6, ())
    assert check_audit(record, [release], knowledge=read_knowledge(KNOWN)) == Verification(6, ())


def test_steps_can_be_redone_by_hand(record: dict[str, Any]) -> None:
    assert record["findings"][1]["steps"] == [
        "The 3 people of group 1 have ill baby (1), cold (1), flu (1) (lines 4, 3 and 2).",
        "knowledge entry 1: nobody with sex M has ill baby.",
        "knowledge entry 2: nobody with age 50 or 60 has ill flu.",
        "This person cannot have baby.",
        "1 person of the group can only have cold, which occurs once: nobody else has it.",
        "So this person has flu.",
    ]
    assert {"release": 0, "line": 4, "count": [1, 1]} in record["findings"][1]["because"]


def _renamed(finding: dict[str, Any]) -> None:
    import hashlib
    import json

    text = json.dumps(["B01", finding["event"]], ensure_ascii=False, sort_keys=True)
    finding["id"] = f"B01-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _other_value(finding: dict[str, Any]) -> None:
    finding["event"]["ill"] = ["flu"]
    _renamed(finding)


def _other_group(finding: dict[str, Any]) -> None:
    finding["event"]["group"] = ["2"]
    _renamed(finding)


def _without_facts(finding: dict[str, Any]) -> None:
    finding["because"] = [one for one in finding["because"] if "=> not" not in one.get("cell", "")]
    finding["certificate"]["matching"]["facts"] = []


def _more_used_up(finding: dict[str, Any]) -> None:
    for one in finding["because"]:
        if one.get("cell", "").startswith("used up"):
            one["cell"], one["count"] = 'used up ["flu"]', [1, 1]
    finding["certificate"]["matching"] |= {"used_up": ["flu"], "users": 1}


def _other_count(finding: dict[str, Any]) -> None:
    finding["count"] = [2, 2]


def _other_line(finding: dict[str, Any]) -> None:
    finding["because"][0]["count"] = [2, 2]


def _fewer_lines(finding: dict[str, Any]) -> None:
    del finding["because"][0]


def _other_words(finding: dict[str, Any]) -> None:
    finding["statement"] = finding["statement"].replace("certainly", "perhaps")


def _other_step(finding: dict[str, Any]) -> None:
    finding["steps"][0] = finding["steps"][0].replace("3 people", "4 people")


def _other_id(finding: dict[str, Any]) -> None:
    finding["id"] = "B01-000000000000"


def _a_citation_of_nothing(finding: dict[str, Any]) -> None:
    finding["because"].append({"release": 0, "cell": "trust me", "count": [0, 0]})


@pytest.mark.parametrize(
    ("tamper", "why"),
    [
        (_other_value, "something else"),
        (_other_group, "not those of its group"),
        (_without_facts, "too few others are bound"),
        (_more_used_up, "too few others are bound"),
        (_other_count, "its count is not that"),
        (_other_line, "not those of its group"),
        (_fewer_lines, "not those of its group"),
        (_other_words, "its words do not say"),
        (_other_step, "its words do not say"),
        (_other_id, "its id is not that"),
        (_a_citation_of_nothing, "something else than the facts"),
    ],
)
def test_tampering_is_rejected(
    release: tacit.Buckets, record: dict[str, Any], tamper: Callable[[dict[str, Any]], None], why: str
) -> None:
    forged = copy.deepcopy(record)
    tamper(forged["findings"][0])
    found = check_audit(forged, [release])
    assert found.held == 5
    assert len(found.problems) == 1
    assert why in found.problems[0]


def test_facts_that_are_not_in_the_knowledge_are_rejected(release: tacit.Buckets, record: dict[str, Any]) -> None:
    found = check_audit(record, [release], knowledge=read_knowledge(KNOWN[:1]))
    assert found.held == 4
    assert all("the knowledge does not contain the fact knowledge entry 2" in why for why in found.problems)


def test_a_finding_that_the_policy_allows_and_another_release_are_rejected(
    release: tacit.Buckets, record: dict[str, Any]
) -> None:
    milder = copy.deepcopy(record)
    milder["policy"]["l"] = 2
    assert check_audit(milder, [release]).held == 3
    other = tacit.read_buckets(qit=PEOPLE, st=VALUES | {"ill": ["flu", "cold", "gout", "flu", "cold"]})
    assert not check_audit(record, [other]).ok
    itemsets = tacit.mine_itemsets([["a", "b"], ["a"]], min_support=1)
    assert not check_audit(record, [itemsets]).ok
