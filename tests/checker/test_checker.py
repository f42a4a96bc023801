"""The checker accepts true audits and rejects every tampered one."""

from __future__ import annotations

import copy
import hashlib
import json
import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.checker import check_audit
from tacit.model.errors import InputError
from tacit.model.policy import Policy
from tacit.model.release import Header, Items, Itemsets, Only, Sets
from tests.itemsets.made_releases import released
from tests.itemsets.naive_channels import rows_of

PMICD = rows_of("a b c d/b c e f/a b c/c d e f/b e f/a c d/b c d f/a b c d e f/b c d e f/a b c d e")
Record = dict[str, Any]


def audited(release: Itemsets, k: int, top: int = 1000) -> Record:
    return tacit.audit(release, policy=Policy(k=k), attacks=["I01", "I02"]).to_dict(top=top)


@pytest.mark.parametrize("only", ["all", "closed"])
@pytest.mark.parametrize("seed", range(15))
def test_true_audits_hold(seed: int, only: Only) -> None:
    chance = random.Random(seed)
    rows = [frozenset(x for x in "abcdef" if chance.random() < 0.7) for _ in range(chance.randint(1, 25))]
    release = released([*rows, frozenset("ab")], chance.randint(1, 8), only)
    record = audited(release, chance.randint(2, 6))
    outcome = check_audit(record, [release])
    assert outcome.problems == ()
    assert outcome.held == len(record["findings"]) == sum(attack["findings"] for attack in record["attacks"])


def first(record: Record) -> Record:
    found: Record = next(finding for finding in record["findings"] if finding["code"] == "I01")
    return found


def deduced(record: Record) -> Record:
    found: Record = next(finding for finding in record["findings"] if finding["code"] == "I02")
    return found


def count(record: Record) -> None:
    first(record)["count"] = [2, 2] if first(record)["count"] == [1, 1] else [1, 1]


def line(record: Record) -> None:
    entry = next(citation for citation in first(record)["because"] if "line" in citation)
    entry["line"] += 1


def cited_count(record: Record) -> None:
    first(record)["because"][0]["count"] = [9, 9]


def weight(record: Record) -> None:
    first(record)["because"][0]["weight"] *= -1


def dropped_citation(record: Record) -> None:
    first(record)["because"].pop()


def event(record: Record) -> None:
    event = first(record)["event"]
    event["present"], event["absent"] = event["absent"], event["present"]


def statement(record: Record) -> None:
    first(record)["statement"] = "9 people " + first(record)["statement"].split(" ", 2)[2]


def step(record: Record) -> None:
    steps = first(record)["steps"]
    steps[0] = steps[0].replace("plus", "minus")


def last_step(record: Record) -> None:
    steps = first(record)["steps"]
    steps[-1] = "sum: 7"


def free_step(record: Record) -> None:
    first(record)["steps"].append("and so it is known that he is ill")


def deduced_count(record: Record) -> None:
    deduced(record)["count"] = [2, 2] if deduced(record)["count"] == [1, 1] else [1, 1]


def deduced_line(record: Record) -> None:
    deduced(record)["because"].pop(1)


def deduced_number(record: Record) -> None:
    place = next(i for i, step in enumerate(deduced(record)["steps"]) if "(line" in step)
    step = deduced(record)["steps"][place]
    at = step.index(" (line") - 1
    deduced(record)["steps"][place] = step[:at] + str((int(step[at]) + 1) % 10) + step[at + 1 :]


def deduced_sum(record: Record) -> None:
    steps = deduced(record)["steps"]
    place = next(i for i, step in enumerate(steps) if "= " in step)
    steps[place] = steps[place].replace("= ", "= 7", 1)


def identity(record: Record) -> None:
    first(record)["id"] = "I01-000000000000"


def doubled(record: Record) -> None:
    record["findings"].append(first(record))


def verdict(record: Record) -> None:
    record["verdict"] = "clean"


def no_findings(record: Record) -> None:
    record["findings"] = []


def total(record: Record) -> None:
    record["attacks"][0]["findings"] = 3


def stricter_policy(record: Record) -> None:
    record["policy"]["k"] = 1


def singles(record: Record) -> None:
    record["measures"]["groups_of_one"] = 0


def another_n(record: Record) -> None:
    record["release"][0]["n"] = 99


def another_file(record: Record) -> None:
    record["release"][0]["sha256"] = "0" * 64


TAMPERINGS: list[Callable[[Record], None]] = [
    *(count, line, cited_count, weight, dropped_citation, event, statement, step, last_step, free_step, identity, doubled),
    *(deduced_count, deduced_line, deduced_number, deduced_sum),
    *(verdict, no_findings, total, stricter_policy, singles, another_n, another_file),
]


@cache
def true_audit(only: Only) -> tuple[Itemsets, Record]:
    release = released(PMICD, 4, only)
    record = audited(release, 3)
    assert check_audit(record, [release]).ok
    return release, record


@pytest.mark.parametrize("only", ["all", "closed"])
@pytest.mark.parametrize("tamper", TAMPERINGS, ids=lambda function: function.__name__)
def test_tampered_audits_are_rejected(tamper: Callable[[Record], None], only: Only) -> None:
    release, record = true_audit(only)
    tampered = copy.deepcopy(record)
    tamper(tampered)
    assert tampered != record
    assert not check_audit(tampered, [release]).ok


def test_another_release_is_rejected() -> None:
    record = audited(released(PMICD, 4, "closed"), 3)
    assert not check_audit(record, [released([*PMICD[1:], frozenset("a")], 4, "closed")]).ok
    assert not check_audit(record, []).ok


@pytest.mark.parametrize(
    "record", [{}, {"format": "tacit.audit/9"}, {"format": "tacit.audit/1"}, {"format": "tacit.audit/1", "release": 3}]
)
def test_what_is_no_audit_is_an_error(record: Record) -> None:
    with pytest.raises(InputError):
        check_audit(record, [released(PMICD, 4, "all")])


def test_an_incomplete_list_deduces_nothing() -> None:
    release = released(PMICD, 4, "all")
    record = audited(release, 3)
    incomplete = replace(release, header=replace(release.header, complete=False))
    assert any("complete" in problem for problem in check_audit(record, [incomplete]).problems)


def test_rounded_supports_that_share_a_line_do_not_cancel() -> None:
    """Line {a, b, d} tells the supports of {a, b} and of {a, b, d}; rounded, they need not be equal."""
    header = Header(n=100, min_support=10, complete=True)
    counts = np.array([60, 50, 30]), np.array([60, 52, 34])
    release = Itemsets(Sets.from_lists([[0], [0, 2], [0, 1, 2]]), *counts, Items(("a", "b", "d")), header, "closed")
    event = {"present": ["a"], "absent": ["b", "d"]}
    identity = hashlib.sha256(json.dumps(["I01", event], sort_keys=True).encode()).hexdigest()[:12]
    finding: Record = {"id": f"I01-{identity}", "code": "I01", "event": event, "steps": []}
    finding["because"] = [
        {"release": 0, "line": 2, "count": [60, 60], "weight": 1},
        {"release": 0, "line": 3, "count": [50, 52], "weight": -1},
    ]
    for count, accepted in (([8, 10], False), ([4, 14], True)):  # a - ad alone; a - ab - ad + abd, each by itself
        finding |= {"count": count, "statement": f"{count[0]} to {count[1]} people have a, and neither b nor d."}
        terms = ["plus 60: people with a (line 2)", "minus 50 to 52: people with a and d (line 3)"]
        finding["steps"] = [*terms, f"sum: between {count[0]} and {count[1]}"]
        claim = {"event": event, "at_least": count[0], "at_most": count[1]}
        weights = [{"release": 0, "line": 2, "weight": "1"}, {"release": 0, "line": 3, "weight": "-1"}]
        finding["certificate"] = {"format": "tacit.certificate/1", "claim": claim, "weights": weights}
        problems = check_audit(audited(release, 15) | {"findings": [finding]}, [release]).problems
        assert any(problem.startswith(finding["id"]) for problem in problems) is not accepted
