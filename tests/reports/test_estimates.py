"""What reports say about estimates: numbers beside their baseline and bounds, and no names outside."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.model.audit import AttackRun, Audit
from tacit.reports.audit import audit_text
from tacit.reports.estimates import certainty_picture
from tacit.reports.record import audit_record, dump
from tacit.reports.sentences import Summary, next_steps, policy_sentences
from tests.known.test_posterior import by_hand, doctorates
from tests.reports.audit_cases import audit_html
from tests.reports.test_html import read

THRESHOLDS: dict[str, Any] = {"min_support": 0.3, "min_confidence": 0.8}


def audit_of(**given: Any) -> Audit:
    people = doctorates()
    return tacit.audit(tacit.mine_rules(people, **THRESHOLDS), known=people.qi, attacks=["R02"], **given)


AUDIT = audit_of()


def test_the_text_shows_estimates_without_any_limit() -> None:
    text = audit_text(AUDIT, top=2)
    flat = " ".join(text.split())
    assert "What an attacker would guess" in text
    assert "Estimates, not proofs: the probability of the value of salary" in flat
    assert "(estimated as well, since it is not published): 50K+" in flat
    assert "above 0.9: 4 people (33.33 %)" in flat
    assert "1.000 salary 50K+ (among all 0.792): 4 people with education=Doctorate, gender=F" in flat
    assert "Most above the share among all" in text
    assert text.index("Attacks") < text.index("What an attacker would guess") < text.index("Next")


def test_the_page_shows_them_as_tables_and_a_picture() -> None:
    page = audit_html(AUDIT, top=2)
    reader = read(page)
    text = " ".join(reader.texts)
    for wanted in (
        "What an attacker would guess",
        "The highest estimates",
        "education=Doctorate, gender=F",
        "Among all",
        "above 0.99",
    ):
        assert wanted in text
    assert "How surely people are guessed" in text
    assert "<b>4</b><span>people whose sensitive value is estimated above 0.9</span>" in page


def test_nothing_outside_names_a_value_or_a_group() -> None:
    shown = [audit_text(AUDIT, top=3, kind="external"), audit_html(AUDIT, kind="external")]
    shown.append(dump(audit_record(AUDIT, top=3, kind="external")).decode())
    limited = audit_of(policy=tacit.Policy(max_posterior=0.9))
    shown += [audit_text(limited, top=3, kind="external"), audit_html(limited, kind="external")]
    shown.append(dump(audit_record(limited, top=3, kind="external")).decode())
    for text in shown:
        assert not re.search("Doctorate|Masters|gender|education|salary|50K", text)
    assert "above 0.9" in shown[0]
    assert "above 0.9" in shown[1]


def test_bounds_stand_beside_the_estimates() -> None:
    found = by_hand([[0.7, 0.3]], [3], [0.5, 0.5], bounds=(0.25, 0.65))
    audit = replace(AUDIT, posteriors=(found,))
    text = " ".join(audit_text(audit, top=1).split())
    assert "0.700 ill v0 (among all 0.500, proved 0.250-0.650): 3 people with q=0" in text
    assert "For 1 combination the estimate lies outside the bounds of R03, by less than one person" in text
    assert "0.250-0.650" in audit_html(audit)
    assert audit_record(audit, top=1)["estimates"]["outside_bounds"] == 1


def test_nothing_is_said_where_nothing_was_estimated() -> None:
    people = doctorates()
    audit = tacit.audit(tacit.mine_rules(people, **THRESHOLDS), attacks=["R02"])
    assert "What an attacker would guess" not in audit_text(audit, top=3)
    assert "What an attacker would guess" not in audit_html(audit)
    assert any("--known" in sentence for sentence in map("".join, next_steps(audit)))


def test_the_picture_counts_everybody_once() -> None:
    found = by_hand([[0.5, 0.5], [0.55, 0.45], [0.995, 0.005], [1.0, 0.0]], [4, 1, 5, 2], [0.5, 0.5])
    picture = certainty_picture(found).embedded()
    numbers = [int(text) for text in re.findall(r'class="number"[^>]*>([\d,]+)<', picture)]
    assert numbers == [4, 1, 0, 0, 0, 0, 0, 7]
    assert 'class="bar fact"' in picture


def test_the_verdict_tells_estimates_and_certain_values_apart_from_groups() -> None:
    run = AttackRun(
        "R03", "certain-values", "proves", "ran", people=7, columns={"count_hi": np.array([3, 4])}, severity=np.array([3, 4])
    )
    certain = replace(AUDIT, runs=(run,))
    assert Summary(certain).sentence() == "the sensitive value of 7 people is certain."
    assert Summary(certain).groups == 0
    three = replace(certain, policy=tacit.Policy(l=3))
    assert Summary(three).sentence() == "7 people keep fewer than 3 possible values."
    both = audit_of(policy=tacit.Policy(max_posterior=0.9))
    assert (
        Summary(both).sentence()
        == "the sensitive value of 4 people is estimated with a higher probability than the policy allows."
    )
    clean = replace(AUDIT, runs=(replace(run, people=0, columns={}, severity=np.empty(0, np.int64)),))
    assert "and everybody keeps at least 2 possible values, by the attacks that ran" in Summary(clean).sentence()


def test_the_policy_is_told_as_far_as_it_matters() -> None:
    assert len(policy_sentences(AUDIT)) == 2
    limited = replace(AUDIT, policy=tacit.Policy(max_posterior=0.8, max_gain=0.3))
    assert policy_sentences(limited)[2:] == [
        "no sensitive value may be estimated with a probability above 0.8",
        "no estimate may exceed the share among all people by more than 0.3",
    ]


@pytest.mark.parametrize("kind", ["internal", "external"])
def test_records_are_json_and_the_same_each_time(kind: Any) -> None:
    made = [dump(audit_record(audit_of(), top=3, kind=kind)) for _ in range(2)]
    assert made[0] == made[1]
    assert json.loads(made[0])["estimates"]["combinations"] == 4
