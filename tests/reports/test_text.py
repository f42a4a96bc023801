from __future__ import annotations

import numpy as np
import pytest

from tacit.model.release import Sets
from tacit.reports.audit import audit_text
from tacit.reports.releases import mined_text
from tacit.reports.sentences import outcome
from tests.reports.audit_cases import LEAKING, audit_of, ended, itemsets, rules


def test_the_verdict_comes_first_and_the_sum_is_written_out() -> None:
    text = audit_text(audit_of(itemsets(LEAKING)), top=3)
    lines = text.splitlines()
    assert lines[0].startswith("EXPOSED: 1 group of 1-9 people can be computed")
    assert "  1. 1 person has a but not b." in lines
    assert "       + 50 people with a (line 2)" in lines
    assert "       - 49 people with a and b (line 4)" in lines
    assert "       =  1" in lines
    assert text.index("Assumptions") < text.index("Attacks") < text.index("Worst findings (1 of 1)") < text.index("Next")


def test_external_text_names_no_item() -> None:
    release = itemsets({"CANARYa": 50, "CANARYb": 80, "CANARYa CANARYb": 49})
    assert "CANARY" in audit_text(audit_of(release), top=3)
    external = audit_text(audit_of(release, file="CANARY.csv"), top=3, kind="external")
    assert "CANARY" not in external
    assert "1. I01: 1 person" in external


def test_no_findings_are_listed_when_none_are_wanted() -> None:
    assert "Worst findings" not in audit_text(audit_of(itemsets(LEAKING)), top=0)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_lines_keep_within_the_width(width: int) -> None:
    release = itemsets({f"a{'x' * 20}": 50, "b": 80, f"a{'x' * 20} b": 49})
    assert max(map(len, audit_text(audit_of(release), top=3, width=width).splitlines())) <= max(width, 76)


def test_terminal_escapes_in_names_are_harmless() -> None:
    text = audit_text(audit_of(itemsets({"a\x1b[2J": 50, "b": 80, "a\x1b[2J b": 49})), top=3)
    assert "\x1b" not in text
    assert "a\\x1b[2J" in text


def test_what_became_of_an_attack_is_told_with_its_reason() -> None:
    run = audit_of(itemsets(LEAKING)).runs[0]
    assert outcome(run) == "ran, proves, 1 finding"
    clean = audit_of(itemsets({"a": 50}))
    assert outcome(clean.runs[0]) == "ran, proves, nothing found"
    assert outcome(ended(clean, status="stopped", reason="time").runs[0]) == "STOPPED EARLY, proves, nothing found (time)"
    assert outcome(ended(clean, status="not-relevant", reason="needs rules").runs[0]) == "not relevant (needs rules)"
    assert outcome(ended(clean, status="unavailable", reason="no solver").runs[0]) == "could not run (no solver)"
    assert outcome(ended(clean, undecided=1200).runs[0]) == "ran, proves, nothing found, 1,200 left undecided"


def test_mined_itemsets_show_threshold_missing_rule_and_the_most_frequent() -> None:
    release = itemsets(LEAKING, missing="?", missing_rule="drop")
    lines = mined_text(release, dropped=2399).splitlines()
    assert lines[0] == "3 frequent itemsets about 100 people"
    assert "Support     at least 49 people (49.00 %)" in lines
    assert "Missing     the mark '?' in a column in use drops the row: 2,399 rows dropped" in lines
    assert lines[-3:] == ["         80 b", "         50 a", "         49 a, b"]


def test_nothing_frequent_is_said_plainly() -> None:
    empty = itemsets({"a": 50})
    none = type(empty)(Sets.from_lists([]), np.empty(0, np.int64), np.empty(0, np.int64), empty.items, empty.header)
    assert mined_text(none, dropped=0).splitlines()[0] == "0 frequent itemsets about 100 people"
    assert "Most frequent" not in mined_text(none, dropped=0)


def test_mined_rules_show_confidence() -> None:
    text = mined_text(rules(), dropped=0)
    assert "1 rule about 100 people" in text
    assert "Confidence  at least 60 %" in text
    assert "30 sex=F => ill=yes  (75.0 % of 40)".replace("  (", " (") in " ".join(text.split())


def test_withheld_and_rounded_values_are_not_shown_exactly() -> None:
    assert "withheld sex=F => ill=yes" in " ".join(mined_text(rules(withheld=True), dropped=0).split())
    assert "more than 60 %" in mined_text(rules(withheld=True), dropped=0)
    assert "0.35 sex=F => ill=yes" in " ".join(mined_text(rules(digits=True), dropped=0).split())
