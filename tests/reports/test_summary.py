from __future__ import annotations

import pytest

from tacit.reports.document import Command, as_share, visible
from tacit.reports.sentences import Summary, assumptions, describe_release, next_steps, open_runs, thresholds
from tests.reports.audit_cases import LEAKING, audit_of, ended, itemsets, with_many_findings


def test_the_verdict_is_told_in_people() -> None:
    summary = Summary(audit_of(itemsets(LEAKING)))
    assert summary.sentence() == (
        "1 group of 1-9 people can be computed from this release; it is a single person; at least 1 person is concerned."
    )


def test_several_groups_are_counted_with_thousands_separators() -> None:
    summary = Summary(with_many_findings(9_000))
    assert (summary.groups, summary.single) == (9_000, 1_000)
    assert summary.sentence() == (
        "9,000 groups of 1-9 people can be computed from this release; 1,000 of them are a single person; at least 9 people are concerned."
    )


def test_no_group_of_one_is_not_mentioned() -> None:
    summary = Summary(audit_of(itemsets({"a": 50, "b": 80, "a b": 47})))
    assert "single person" not in summary.sentence()
    assert "1 group of 1-9 people" in summary.sentence()


def test_clean_and_incomplete_are_never_confused() -> None:
    clean = audit_of(itemsets({"a": 50}))
    assert Summary(clean).sentence() == "no group of 1-9 people can be computed from this release by the attacks that ran."
    stopped = ended(clean, status="stopped", reason="the time limit was reached")
    assert "This is not a pass" in Summary(stopped).sentence()
    assert next_steps(stopped) == [("Do not read this as safe: give more time with --time-limit, and audit again.",)]
    assert [run.code for run in open_runs(stopped)] == ["I01"]


def test_a_release_that_no_attack_applies_to_is_not_safe() -> None:
    audit = ended(audit_of(itemsets({"a": 50})), status="not-relevant", reason="needs rules")
    assert audit.verdict == "incomplete"
    assert "no attack that was run applies" in Summary(audit).sentence()
    assert "tacit attacks" in next_steps(audit)[0][0]


def test_undecided_sets_ask_for_the_data() -> None:
    audit = ended(audit_of(itemsets({"a": 50})), undecided=3)
    assert "--data" in next_steps(audit)[0][0]


def test_the_advice_for_itemsets_names_a_form_that_tells_less() -> None:
    assert Command("tacit mine itemsets --only maximal") in next_steps(audit_of(itemsets(LEAKING)))[2]
    assert "maximal" not in " ".join(map("".join, next_steps(audit_of(itemsets(LEAKING), kind="rules"))))


@pytest.mark.parametrize(("k", "span"), [(1, "1 person"), (2, "1 person"), (3, "1-2 people"), (5000, "1-4,999 people")])
def test_the_span_of_sizes_follows_k(k: int, span: str) -> None:
    assert Summary(audit_of(itemsets({"a": 50}), k=k)).span == span


def test_sizes_are_aggregated_without_writing_findings_out() -> None:
    audit = with_many_findings(1_000_000)
    summary = Summary(audit)
    assert summary.sizes.tolist() == list(range(1, 10))
    assert summary.groups_of_size.sum() == 1_000_000
    assert audit.runs[0].columns["shown"] == []


def test_a_release_is_described_with_and_without_its_name() -> None:
    about = audit_of(itemsets(LEAKING)).release[0]
    assert describe_release(about, "internal") == "itemsets.csv: 3 itemsets about 100 people"
    assert describe_release(about, "external") == "3 itemsets about 100 people"
    assert (
        describe_release(dict(about) | {"n": None, "only": "closed", "lines": 1}, "external")
        == "1 closed itemset about an unknown number of people"
    )


def test_thresholds_stand_as_count_and_share() -> None:
    audit = audit_of(itemsets(LEAKING))
    assert (
        thresholds(audit.release[0], audit.measures)
        == "at least 49 people (49.00 %); smallest published count 49 people (49.00 %)"
    )
    assert thresholds({"n": None}, {}) == "not stated"
    assert as_share(0, 10) == " (0 %)"


def test_assumptions_name_what_the_attacker_knows() -> None:
    audit = audit_of(itemsets(LEAKING))
    told = " ".join(assumptions(audit, "internal"))
    assert "knows how many people" in told
    assert "complete" in told
    assert "nearest" in told


def test_control_characters_are_shown_not_obeyed() -> None:
    assert visible("a\x1b]0;x\x07\u202eb\n") == "a\\x1b]0;x\\x07\\u202eb\\n"
    assert visible("Zürich <ж>") == "Zürich <ж>"
