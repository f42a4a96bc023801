"""Estimates as an audit holds them, and their measures, against numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tacit
from tacit.known.sensitive_values import posterior_measures
from tacit.model.estimates import Posterior
from tacit.model.people import Population
from tacit.model.policy import Policy
from tacit.model.table import Table

DOCTORATES = {
    "education": [
        *("Doctorate", "Masters", "Doctorate", "Bachelors", "Masters", "Doctorate"),
        *("Masters", "Doctorate", "Masters", "Doctorate", "Masters", "Doctorate"),
    ],
    "gender": ["M", "F", "F", "M", "F", "M", "F", "F", "F", "F", "F", "F"],
    "salary": ["50K-", "50K-", "50K+", "50K-", "50K+", "50K+", "50K+", "50K+", "50K+", "50K+", "50K+", "50K+"],
}


def doctorates() -> Table:
    """The people of Figure 1 of Zhu, Wang, Du."""
    return tacit.read_table(DOCTORATES, qi="education,gender", sa="salary")


def by_hand(
    share: list[list[float]], people: list[int], baseline: list[float], bounds: tuple[float, float] | None = None
) -> Posterior:
    """Estimates about combinations named 0, 1, .. of one column."""
    rows = [(str(q),) for q, number in enumerate(people) for _ in range(number)]
    found = np.array(share)
    lower, upper = (np.full(found.shape, np.nan if bounds is None else bound) for bound in bounds or (0, 0))
    values = tuple(f"v{number}" for number in range(found.shape[1]))
    known = Population.of(Table.from_rows(["q"], rows))
    return Posterior(known, "ill", values, found, lower, upper, np.array(baseline), baseline_is_published=False)


#: 4 people of whom half have each value; 1 person with .95; 5 people with .2. The mean is .4 / .6.
FOUND = by_hand([[0.5, 0.5], [0.95, 0.05], [0.2, 0.8]], [4, 1, 5], [0.395, 0.605])


def test_measures_by_hand() -> None:
    made = posterior_measures(FOUND, Policy(k=3, max_posterior=0.7))
    h = [math.log(2), -0.95 * math.log(0.95) - 0.05 * math.log(0.05), -0.2 * math.log(0.2) - 0.8 * math.log(0.8)]
    baseline = -0.395 * math.log(0.395) - 0.605 * math.log(0.605)
    kl = [
        sum(p * math.log(p / b) for p, b in zip(row, (0.395, 0.605), strict=True))
        for row in ((0.5, 0.5), (0.95, 0.05), (0.2, 0.8))
    ]
    assert (made["people_above_50"], made["people_above_90"], made["people_above_99"]) == (6, 1, 0)
    assert made["max_gain"] == pytest.approx(0.555)
    assert made["baseline_entropy"] == pytest.approx(baseline)
    assert made["knowledge_gained"] == pytest.approx((4 * kl[0] + kl[1] + 5 * kl[2]) / 10)
    # The baseline is the mean of the estimates, so that what is gained is what is no longer unknown.
    assert made["knowledge_gained"] == pytest.approx(baseline - (4 * h[0] + h[1] + 5 * h[2]) / 10)
    assert made["knowledge_gained_max"] == pytest.approx(max(kl))
    assert made["l_distinct"] == 2
    assert made["l_entropy"] == pytest.approx(math.exp(h[1]))
    assert made["t_closeness"] == pytest.approx(0.555)
    assert made["t_closeness_mean"] == pytest.approx((4 * 0.105 + 0.555 + 5 * 0.195) / 10)
    assert made["smallest_combination"] == 1
    assert made["people_outside_alpha_k"] == 6  # one alone, and five above .7
    assert "people_outside_alpha_k" not in posterior_measures(FOUND, Policy())


def test_a_value_that_nobody_has_and_a_certain_one_are_no_special_case() -> None:
    made = posterior_measures(by_hand([[1.0, 0.0, 0.0], [0.0, 0.9995, 0.0005]], [1, 3], [0.25, 0.749625, 0.000375]), Policy())
    assert made["l_distinct"] == 1
    assert made["l_entropy"] == 1
    assert made["people_above_99"] == 4
    assert made["knowledge_gained_max"] == pytest.approx(math.log(4))
    assert all(math.isfinite(value) for value in made.values())


def test_nothing_is_measured_where_nothing_was_estimated() -> None:
    assert posterior_measures(by_hand([[math.nan, math.nan]], [2], [0.5, 0.5]), Policy()) == {}
    assert posterior_measures(by_hand([[1.0, 0.0]], [2], [1.0, 0.0]), Policy())["smallest_combination"] == 2


def test_every_measure_of_an_audit_stands_in_the_table() -> None:
    people = doctorates()
    audit = tacit.audit(
        tacit.mine_rules(people, min_support=0.3, min_confidence=0.8),
        data=people,
        policy=tacit.Policy(max_posterior=0.9),
        attacks=["R01", "R02"],
    )
    assert set(audit.measures) <= {row.name for row in tacit.MEASURES}
    assert {"people_above_90", "l_entropy", "t_closeness", "people_outside_alpha_k", "sure_guess_right"} <= set(audit.measures)


def test_the_highest_come_first_and_larger_groups_before_smaller_ones() -> None:
    found = by_hand([[0.9, 0.1], [0.9, 0.1], [0.3, 0.7]], [1, 3, 2], [0.7, 0.3])
    assert [(g.who["q"], g.value) for g in found.highest(3)] == [("1", "v0"), ("0", "v0"), ("2", "v1")]
    assert [(g.who["q"], g.value) for g in found.highest(2, gained=True)] == [("2", "v1"), ("1", "v0")]
    assert len(found.highest(100)) == 6
    assert found.highest(0) == []
    assert by_hand([[math.nan, math.nan]], [2], [0.5, 0.5]).highest(3) == []


def test_estimates_outside_their_bounds_are_counted() -> None:
    assert by_hand([[0.5, 0.5]], [3], [0.5, 0.5], bounds=(0.4, 0.6)).outside_bounds() == 0
    assert by_hand([[0.7, 0.3]], [3], [0.5, 0.5], bounds=(0.4, 0.6)).outside_bounds() == 1
    assert FOUND.outside_bounds() == 0


def test_the_record_of_an_audit_holds_the_estimates_and_no_infinity() -> None:
    people = doctorates()
    audit = tacit.audit(tacit.mine_rules(people, min_support=0.3, min_confidence=0.8), data=people, attacks=["R02"])
    told = audit.to_dict(top=2)["estimates"]
    assert (told["sensitive"], told["combinations"], told["baseline_is_published"]) == ("salary", 4, False)
    assert sum(told["baseline"].values()) == pytest.approx(1)
    assert len(told["highest"]) == len(told["most_gained"]) == 2
    assert told["highest"][0]["event"]["gender"] == ["F"]
    assert told["highest"][0]["lower"] is None
    assert "estimates" not in tacit.audit(tacit.mine_rules(people, min_support=0.3, min_confidence=0.8)).to_dict()


def test_the_table_has_a_line_for_each_combination_and_value() -> None:
    people = doctorates()
    audit = tacit.audit(tacit.mine_rules(people, min_support=0.3, min_confidence=0.8), known=people.qi, attacks=["R02"])
    table = audit.table("posterior")
    assert list(table) == ["education", "gender", "salary", "people", "posterior", "lower", "upper"]
    men = (table["education"] == "Doctorate") & (table["gender"] == "M") & (table["salary"] == "50K+")
    assert table["posterior"][men] == pytest.approx([0.5], abs=1e-6)
    assert np.isnan(table["lower"]).all()
