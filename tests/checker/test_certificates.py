"""Every proved finding of every attack carries a certificate; the checker accepts it, and rejects it after any change."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

import tacit
from tacit.checker import check_audit
from tacit.model.errors import InputError
from tests.itemsets.made_releases import released
from tests.itemsets.naive_channels import rows_of
from tests.reports.audit_cases import itemsets as itemsets_of

Record = dict[str, Any]
Case = tuple[Record, list[Any]]
PMICD = rows_of("a b c d/b c e f/a b c/c d e f/b e f/a c d/b c d f/a b c d e f/b c d e f/a b c d e")
PATIENTS = {
    "age": ["old"] * 9 + ["young"] * 9 + ["old"] * 3,
    "sex": ["F", "M", "M"] * 7,
    "ill": ["flu"] * 5 + ["cold"] * 4 + ["flu"] * 8 + ["cold"] + ["none"] * 3,
}
QIT = {"sex": list("FMMFFM"), "age": [30, 40, 50, 30, 20, 20], "group": [1, 1, 1, 2, 2, 2]}
ST = {"group": [1, 1, 1, 2, 2], "ill": ["flu", "cold", "baby", "flu", "cold"], "count": [1, 1, 1, 2, 1]}


def itemsets() -> Case:
    release = released(PMICD, 4, "all")
    return tacit.audit(release, policy=tacit.Policy(k=3)).to_dict(top=500), [release]


def closed_itemsets() -> Case:
    release = released(PMICD, 4, "closed")
    return tacit.audit(release, policy=tacit.Policy(k=3)).to_dict(top=500), [release]


def maximal_itemsets() -> Case:
    baskets = tacit.read_transactions([["a", "b"]] * 8 + [["a"]] + [["b"]])
    release = tacit.mine_itemsets(baskets, min_support=9, only="maximal")
    return tacit.audit(release, policy=tacit.Policy(k=3)).to_dict(top=500), [release]


def rules() -> Case:
    table = tacit.read_table(PATIENTS, qi=["age", "sex"], sa="ill")
    release = tacit.mine_rules(table, min_support=2, min_confidence=0.3, digits=3, with_confidence=True)
    return tacit.audit(release, known=table.qi, policy=tacit.Policy(k=8)).to_dict(top=500), [release]


def certain_rules() -> Case:
    people = {"education": ["D", "D", "M"], "sex": ["F", "M", "F"], "salary": ["high", "high", "low"]}
    table = tacit.read_table(people, qi=["education", "sex"], sa="salary")
    release = tacit.mine_rules(table, min_support=0.6, min_confidence=0.9)
    return tacit.audit(release, known=table.qi, attacks=["R03"]).to_dict(top=500), [release]


def buckets() -> Case:
    release = tacit.read_buckets(qit=QIT, st=ST)
    known = [({"sex": "M"}, "baby"), ({"age": ["50", "60"]}, "flu")]
    return tacit.audit(release, knowledge=known, policy=tacit.Policy(l=3)).to_dict(top=500), [release]


def table() -> Case:
    cells = {"a": ["x"] * 8 + ["y"] * 4, "b": ["u", "v"] * 6, "s": ["1"] * 6 + ["", ""] + ["2"] * 3 + [""]}
    release = tacit.read_partial(cells, qi=["a", "b"], sa="s")
    return tacit.audit(release, attacks=["T01"]).to_dict(top=500), [release]


def together() -> Case:
    releases = [itemsets_of({"x": 50, "y": 30, "x y": 20}, complete=False), itemsets_of({"z": 50, "x y z": 19}, complete=False)]
    return tacit.audit(releases, people=tacit.Same(), attacks=["X01"]).to_dict(top=500), releases


CASES: dict[str, Callable[[], Case]] = {
    "I01": itemsets,
    "I01 closed": closed_itemsets,
    "I02": itemsets,
    "I02 closed": closed_itemsets,
    "I02 maximal": maximal_itemsets,
    "R01": rules,
    "R03": certain_rules,
    "B01": buckets,
    "T01": table,
    "X01": together,
}


@cache
def made(name: str) -> tuple[str, tuple[Any, ...]]:
    record, releases = CASES[name]()
    return json.dumps(record), tuple(releases)


def audited(name: str) -> Case:
    """A fresh copy of a record that holds only findings of one attack, and its releases."""
    text, releases = made(name)
    record = json.loads(text)
    record["findings"] = [one for one in record["findings"] if one["code"] == name[:3]]
    assert record["findings"], name
    return record, list(releases)


def outcome(record: Record, releases: list[Any]) -> str:
    """What becomes of a record: held, rejected, or refused."""
    try:
        return "held" if check_audit(record, releases).ok else "rejected"
    except InputError:
        return "refused"


@pytest.mark.parametrize("name", CASES)
def test_every_proved_finding_carries_a_certificate_that_holds(name: str) -> None:
    record, releases = audited(name)
    for finding in record["findings"]:
        assert finding["certificate"]["format"] == "tacit.certificate/1"
        lo, hi = finding["count"]
        assert finding["certificate"]["claim"] == {"event": finding["event"], "at_least": lo, "at_most": hi}
    found = check_audit(record, releases)
    assert found.problems == ()
    assert found.holding == found.listed == {name[:3]: len(record["findings"])}


@pytest.mark.parametrize("name", CASES)
def test_the_certificate_is_no_part_of_the_name_of_a_finding(name: str) -> None:
    record, releases = audited(name)
    assert len({finding["id"] for finding in record["findings"]}) == len(record["findings"])
    del record["findings"][0]["certificate"]
    assert "it carries no certificate" in check_audit(record, releases).problems[0]


def leaves(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all numbers and words in a record."""
    entries = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for key, value in entries:
        yield from leaves(value, (*path, key))
    if not isinstance(part, dict | list):
        yield path


def changed(finding: Record, path: tuple[Any, ...]) -> Record:
    """The finding with one number or word made another: bounds tighter, everything else different."""
    out = copy.deepcopy(finding)
    inner = out
    for key in path[:-1]:
        inner = inner[key]
    old = inner[path[-1]]
    if isinstance(old, bool):
        inner[path[-1]] = not old
    elif isinstance(old, int):
        # Another line of the same antecedent may prove as much: it has to be one that is not there.
        by = {"at_most": -1, "line": 1000}.get(str(path[-1]), 1)
        inner[path[-1]] = old + by
    elif old.lstrip("-").isdigit():
        inner[path[-1]] = str(int(old) + 1)
    else:
        inner[path[-1]] = f"{old}x"
    return out


@pytest.mark.parametrize("name", CASES)
def test_any_change_of_a_certificate_is_noticed(name: str) -> None:
    """Every number and every word of it, in a short and in a long one."""
    record, releases = audited(name)
    by_length = sorted(record["findings"], key=lambda one: len(json.dumps(one["certificate"])))
    for finding in (by_length[0], by_length[-1]):
        paths = list(leaves(finding["certificate"], ("certificate",)))
        if len(paths) > 120:
            paths = random.Random(7).sample(paths, 120)
        for path in paths:
            tampered = record | {"findings": [changed(finding, path)]}
            expected = {"refused"} if path[-1] == "format" else {"rejected", "refused"}
            assert outcome(tampered, releases) in expected, path


@pytest.mark.parametrize("name", CASES)
def test_changes_around_a_certificate_are_noticed(name: str) -> None:
    """The event, the count, cited lines, steps and the sentence."""
    record, releases = audited(name)
    finding = record["findings"][0]
    paths = [path for path in leaves(finding) if path[0] not in ("certificate", "code")]
    for path in paths:
        if path[:1] == ("steps",) and name[:3] == "X01":
            continue  # its words are made from the certificate, which alone is checked
        assert outcome(record | {"findings": [changed(finding, path)]}, releases) != "held", path


@pytest.mark.parametrize("name", CASES)
def test_changes_of_the_record_are_noticed(name: str) -> None:
    record, releases = audited(name)
    strict = record["policy"] | {"k": 1, "l": 1, "min_confidence": 1.0}
    entry = record["release"][0]
    attack = next(one for one in record["attacks"] if one["code"] == name[:3])
    others = [one for one in record["attacks"] if one["code"] != name[:3]]
    changes: list[Record] = [
        {"verdict": "clean"},
        {"policy": strict},
        {"release": [entry | {"n": entry["n"] + 1}, *record["release"][1:]]},
        {"release": [entry | {"sha256": "0" * 64}, *record["release"][1:]]},
        {"release": [entry | {"kind": "poem"}, *record["release"][1:]]},
        {"release": []},
        {"attacks": [*others, attack | {"findings": 0}]},
        {"attacks": [*others, attack | {"claim": "estimates"}]},
        {"attacks": others},
        {"findings": []},
        {"findings": record["findings"] * 2},
    ]
    for change in changes:
        assert outcome(record | change, releases) == "rejected", change


@pytest.mark.parametrize("name", ["I02", "R01", "I02 closed"])
def test_a_step_that_is_needed_cannot_be_left_out(name: str) -> None:
    record, releases = audited(name)
    finding = max(record["findings"], key=lambda one: len(one["certificate"]["steps"]))
    whole = finding["certificate"]["steps"]
    outcomes = []
    for place in range(len(whole)):
        finding["certificate"]["steps"] = whole[:place] + whole[place + 1 :]
        outcomes.append(outcome(record | {"findings": [finding]}, releases))
    finding["certificate"]["steps"] = []
    assert outcome(record | {"findings": [finding]}, releases) == "rejected"
    assert outcomes.count("rejected") >= len(whole) / 2


def test_a_record_of_another_format_is_refused_with_the_reason() -> None:
    record, releases = audited("I01")
    record["findings"][0]["certificate"]["format"] = "tacit.certificate/2"
    with pytest.raises(InputError, match=r"another format than tacit\.certificate/1"):
        check_audit(record, releases)
    with pytest.raises(InputError, match="not an audit of a version that can be checked"):
        check_audit(audited("I01")[0] | {"format": "tacit.audit/9"}, releases)


def test_estimates_are_counted_and_not_checked() -> None:
    table = tacit.read_table(PATIENTS, qi=["age", "sex"], sa="ill")
    release = tacit.mine_rules(table, min_support=2, min_confidence=0.3)
    audit = tacit.audit(release, known=table.qi, policy=tacit.Policy(max_posterior=0.5))
    record = audit.to_dict(top=500)
    found = tacit.verify(record, release)
    assert found.ok
    assert found.estimates["R02"] == sum(one["code"] == "R02" for one in record["findings"]) > 0
    assert found.proved == sum(found.listed.values()) == len(record["findings"]) - found.estimates["R02"]
    assert found.to_dict()["attacks"]["R01"]["held"] == found.listed["R01"]
    assert tacit.verify(audit, [release]).ok
