"""The screen of an audit: at most 20 lines, the worst first, variants counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tacit
from tacit.model.audit import AttackRun
from tacit.model.finding import Finding, ItemEvent
from tacit.model.numbers import Bound
from tacit.reports import sentences
from tacit.reports.proofs import families
from tacit.reports.screen import MOST_LINES, brief_text
from tests.reports.audit_cases import LEAKING, audit_html, audit_of, itemsets


def finding(present: str, absent: str = "", count: int = 1) -> Finding:
    return Finding("I01", ItemEvent(tuple(present.split()), tuple(absent.split())), Bound.of(count), f"{count} people: {present}")


def test_the_sum_of_a_single_finding_is_written_in_columns() -> None:
    lines = brief_text(audit_of(itemsets(LEAKING)), repair="tacit repair r.csv -o safer.csv").splitlines()
    assert lines[0].startswith("EXPOSED: 1 group of 1-9 people can be computed")
    assert any(line.startswith("  1. 1 person has a but not b. [I01-") for line in lines)
    assert "       + 50 people with a (line 2)" in lines
    assert "       - 49 people with a and b (line 4)" in lines
    assert "       =  1" in lines
    assert lines[-1] == "Repair  tacit repair r.csv -o safer.csv"


def test_attacks_that_do_not_apply_are_counted_on_one_line() -> None:
    text = brief_text(tacit.audit(itemsets(LEAKING)))
    assert text.count("others do not apply") == 1
    assert "needs rules" not in text


def test_smaller_and_larger_descriptions_are_variants_of_the_worst() -> None:
    found = families([finding("a b", "c"), finding("a", "c"), finding("a b d", "c"), finding("x", "y")])
    assert [(one.worst.statement, one.variants) for one in found] == [("1 people: a b", 2), ("1 people: x", 0)]


def test_groups_that_share_less_than_half_are_not_variants() -> None:
    assert len(families([finding("husband", "male"), finding("husband", "married")])) == 2


def test_external_text_describes_no_group() -> None:
    release = itemsets({"CANARYa": 50, "CANARYb": 80, "CANARYa CANARYb": 49})
    assert "CANARY" in brief_text(audit_of(release))
    external = brief_text(audit_of(release, file="CANARY.csv"), kind="external")
    assert "CANARY" not in external
    assert "1. I01: 1 person" in external


@pytest.mark.parametrize("seed", range(6))
def test_no_audit_takes_more_than_twenty_lines(seed: int) -> None:
    draw = np.random.default_rng(seed)
    names = [f"item-{'long-' * 6}{number}" for number in range(5)]
    rows = [[name for name in names if draw.random() < 0.8] or names[:1] for _ in range(40 * (seed + 1))]
    mined = tacit.mine_itemsets(tacit.read_transactions(rows), min_support=10 * (seed + 1))
    audit = tacit.audit(mined)
    assert audit.findings
    for width in (80, 100, 120):
        text = brief_text(audit, release=mined, repair="tacit repair r.csv -o safer.csv", width=width)
        assert len(text.splitlines()) <= MOST_LINES


def test_named_findings_are_all_shown() -> None:
    draw = np.random.default_rng(3)
    rows = [[name for name in "abcdef" if draw.random() < 0.7] or ["a"] for _ in range(120)]
    mined = tacit.mine_itemsets(tacit.read_transactions(rows), min_support=20)
    audit = tacit.audit(mined)
    number = len(families(audit.findings[:200]))
    assert number > 3
    text = brief_text(audit, top=number)
    assert f"  {number}. " in text


def test_assumptions_make_room_for_sums_of_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    audit = audit_of(itemsets(LEAKING))
    taken = [f"Column {number} is read as {'very ' * 20}usual." for number in range(6)]
    monkeypatch.setattr(sentences, "taken_for_granted", lambda *_: taken)
    text = brief_text(audit, repair="tacit repair r.csv -o safer.csv")
    assert "       =  1\n" in text
    assert len(text.splitlines()) <= MOST_LINES
    told = sum(line.startswith("Assumed") for line in text.splitlines())
    assert 0 < told < len(taken)
    assert f"(-v shows more, and {len(taken) - told} more assumption" in text.replace("\n        ", " ")


def test_what_the_data_leave_open_is_repaired() -> None:
    run = AttackRun("X01", "joint-releases", "proves", "ran", undecided=4)
    about = replace(audit_of(itemsets({"a": 50})), runs=(run,))
    assert about.verdict == "incomplete"
    assert about.may_be_repaired
    assert "give the data with --data" in brief_text(about)
    page = audit_html(about)
    assert "What is left open" in page
    assert "X01 joint-releases: 4 questions are undecided." in page
    given = replace(about, options={**about.options, "given": ["data"]})
    text = brief_text(given, repair="tacit repair r.csv --data d.csv -o safer.csv")
    assert "--data, and audit again" not in text
    assert "round the numbers or publish fewer lines" in text.replace("\n        ", " ")
    assert text.endswith("Repair  tacit repair r.csv --data d.csv -o safer.csv\n")
    for status in ("stopped", "unavailable", "not-asked"):
        assert not replace(about, runs=(replace(run, status=status),)).may_be_repaired
