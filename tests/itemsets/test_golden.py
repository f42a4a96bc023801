"""The papers' examples, number by number: what is mined, and what is found with and without the data."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.model.finding import ItemEvent
from tacit.model.release import Only
from tests.itemsets import naive_channels as naive
from tests.itemsets.naive_deduction import deduced_groups

FOLDER = Path(__file__).parent
CASES = [
    pytest.param(case | {"code": path.stem}, id=f"{path.stem}-{number}")
    for path in sorted(FOLDER.glob("I*.toml"))
    for number, case in enumerate(tomllib.loads(path.read_text(encoding="utf-8"))["case"])
]
#: What a case expects: (has, lacks, fewest people, most people).
Group = tuple[frozenset[str], frozenset[str], int, int]
Case = dict[str, Any]


def rows_of(case: Case) -> list[str]:
    """The transactions, one letter per item; ``50*abc`` stands for fifty equal ones."""
    rows = []
    for word in case["transactions"].split():
        times, star, items = word.rpartition("*")
        rows += [items] * (int(times) if star else 1)
    return rows


def supports_of(case: Case) -> dict[frozenset[str], int]:
    return {frozenset(items): int(count) for items, count in (word.split(":") for word in case["itemsets"].split())}


def channels_of(case: Case) -> set[Group]:
    found = set()
    for text in case["channels"]:
        pattern, count = text.split("=")
        has, lacks = pattern.split("|")
        fewest, _, most = count.partition("-")
        found.add((frozenset(has.strip()), frozenset(lacks.strip()), int(fewest), int(most or fewest)))
    assert len(found) == len(case["channels"])
    return found


def audited(case: Case, only: Only, with_data: bool) -> tacit.Audit:
    baskets = tacit.read_transactions([list(row) for row in rows_of(case)])
    release = tacit.mine_itemsets(baskets, min_support=case["min_support"], only=only)
    return tacit.audit(release, data=baskets if with_data else None, policy=tacit.Policy(k=case["k"]), attacks=[case["code"]])


@pytest.mark.parametrize("case", CASES)
def test_mined_itemsets_are_those_of_the_paper(case: Case) -> None:
    baskets = tacit.read_transactions([list(row) for row in rows_of(case)])
    release = tacit.mine_itemsets(baskets, min_support=case["min_support"])
    assert {frozenset(line["itemset"]): line["count"] for line in release.records()} == supports_of(case)
    assert release.n == len(rows_of(case))


@pytest.mark.parametrize("with_data", [True, False], ids=["data", "release-only"])
@pytest.mark.parametrize("only", ["all", "closed"])
@pytest.mark.parametrize("case", CASES)
def test_channels_are_those_of_the_paper(case: Case, only: Only, with_data: bool) -> None:
    audit = audited(case, only, with_data)
    found = set()
    for finding in audit.findings:
        assert isinstance(finding.event, ItemEvent)
        found.add((frozenset(finding.event.present), frozenset(finding.event.absent), finding.count.lo, finding.count.hi))
    assert found == channels_of(case)
    assert len(audit.findings) == audit.attack(case["code"]).findings == len(found)
    assert audit.asked_verdict == ("exposed" if found else "clean")


@pytest.mark.parametrize("case", CASES)
def test_expectations_follow_from_the_definition(case: Case) -> None:
    rows = [frozenset(row) for row in rows_of(case)]
    assert naive.frequent(rows, case["min_support"]) == supports_of(case)
    if case["code"] == "I01":
        expected = {(has, lacks, n, n) for has, lacks, n in naive.maximal_channels(rows, case["min_support"], case["k"])}
    else:
        groups = deduced_groups(supports_of(case), len(rows), case["min_support"], case["k"])
        expected = {(has, lacks, *bounds) for (has, lacks), bounds in groups.items()}
    assert expected == channels_of(case)


@pytest.mark.parametrize(("number", "every", "strongest"), [(0, 53, 29), (1, 58, 5)])
def test_all_channels_are_as_many_as_the_papers_say(number: int, every: int, strongest: int) -> None:
    """Atzori et al. count 58 channels, 5 of them maximal, after Theorem 18; PMICD's example has 53 and 29."""
    case = tomllib.loads((FOLDER / "I01.toml").read_text(encoding="utf-8"))["case"][number]
    rows = [frozenset(row) for row in rows_of(case)]
    assert len(naive.all_channels(rows, case["min_support"], case["k"])) == every
    assert len(naive.maximal_channels(rows, case["min_support"], case["k"])) == strongest


def test_every_attack_has_a_case_from_its_paper_and_one_without_findings() -> None:
    for attack in tacit.ATTACKS:
        cases = tomllib.loads(next(FOLDER.parent.glob(f"*/{attack.code}.toml")).read_text(encoding="utf-8"))["case"]
        assert any(case["cite"] != "own" and case["channels"] for case in cases)
        assert any(not case["channels"] for case in cases)
