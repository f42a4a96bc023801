"""The verb that measures a bucketized release beside its data: numbers worked out by hand, pycanon's figures, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.buckets.utility import plain_figures
from tacit.model.buckets import Buckets
from tacit.model.table import Table

#: Tables as (u, w, ill) in three letters a row, and what pycanon 1.3.6 says of them with u and w as quasi-identifiers (it needs older versions
#: of numpy and pandas than these tests, so its answers are written down): k, l, floor of entropy l, alpha, beta, enhanced beta, t, delta.
PYCANON = [
    ("1xb0xc0yc0xa0yb0xa1xc0xc0ya0xc0yb0xc", (2, 2, 1, 0.666666667, 1.0, 1.0, 0.25, 0.693147181)),
    (
        "1xa2xc0xa2xd2yc1yc1xb2xa2yd1yc2xa2yb1xd1xa2yc2yd2ya0yd2xa2yd1yc0yc0xd0xc0xd1ya0yd2yb1yd1yb0xb0xb0yb1ya0yc2yb2xd2yd1ya1ya",
        (4, 3, 2, 0.5, 0.818181818, 0.818181818, 0.277777778, 1.011600912),
    ),
    (
        "1xb3xa2xa0xe0ye0xb3xc2yd0xd3yd2xb0yc3xe0xe2xe0ya2yb2xe2xe1xd1xe3ya0yd2xe2yc2xb0xd1yb3xd2xa3xd1yc0yd3xb1xa1yb3yb1xa0xd1xa2xc1yc"
        "3xa2ye3xe1xd1xb1xd0xc3xe0xb2xa3xa3ye1yd3xe2xd1ya3yc0xd",
        (4, 4, 3, 0.444444444, 1.5, 1.5, 0.35, 1.011600912),
    ),
    ("0xb0xb0ya0xa0ya0xb0yb0yb0ya0yb0yb0xa0xa0ya0ya0yb0yb0ya0ya0xa0xa0ya0xb0ya0xa", (10, 2, 1, 0.6, 0.0, 0.0, 0.0, 0.0)),
]
NAMES = (
    "k_anonymity", "l_diversity", "entropy_l", "largest_share", "beta_likeness", "enhanced_beta_likeness", "t_closeness",
    "delta_disclosure",
)  # fmt: skip


def table(text: str) -> Table:
    rows = [text[at : at + 3] for at in range(0, len(text), 3)]
    return tacit.read_table(
        {name: [row[at] for row in rows] for at, name in enumerate(("u", "w", "ill"))}, qi=["u", "w"], sa="ill"
    )


@pytest.mark.parametrize(("text", "expected"), PYCANON)
def test_plain_figures_of_a_table_are_those_of_pycanon(text: str, expected: tuple[float, ...]) -> None:
    found = plain_figures(table(text))
    entropy = int(found["entropy_l"])
    got = [entropy if name == "entropy_l" else found[name] for name in NAMES]
    assert got == pytest.approx(list(expected), abs=1e-9)


def people(times: int = 5) -> Table:
    rows = {
        "sex": ["F", "F", "M", "M"] * times,
        "age": ["31", "39", "42", "47"] * times,
        "ill": ["flu", "cold", "flu", "flu"] * times,
    }
    return tacit.read_table(rows, qi=["sex", "age"], sa="ill")


def release(table: Table, size: int = 4) -> Buckets:
    group = np.arange(len(table.weights), dtype=np.int32) // size
    return Buckets.of(table.qi, table.sa, group)


def test_errors_worked_out_by_hand() -> None:
    data = people()
    found = tacit.utility(release(data), data=data, max_length=1, intervals={"age": 10}, dim=1, queries=50)
    # Rules: men (and their decade) have flu for certain, women (and theirs) cold with 1/2; groups give 3/4 and 1/4 to everybody.
    assert found.rules == 4
    assert found.measures["confidence_error"] == pytest.approx((0.25 + 0.5) / 2)
    assert found.measures["identification_false_negative"] == 1.0
    assert found.measures["identification_false_positive"] == 0.0
    assert found.measures["group_guess_right"] == 0.75
    assert found.measures["surviving_guess_right"] == pytest.approx(1.0, abs=0.3)
    assert found.measures["queries"] == 50


def test_a_release_that_hides_nothing_has_no_errors() -> None:
    data = people()
    found = tacit.utility(release(data, size=1), data=data, dim=2)
    for estimator in ("uniform", "debiased", "modelled"):
        assert all(value == pytest.approx(0, abs=1e-9) for value in found.errors[estimator].values()), estimator
    assert found.measures["mixing_condition"] == pytest.approx(1.0)
    assert found.measures["surviving_guess_right"] == 1.0


def test_knowledge_adds_the_estimates_that_use_it() -> None:
    data = people()
    without = tacit.utility(release(data), data=data)
    found = tacit.utility(release(data), data=data, knowledge=[({"sex": "M"}, "cold")])
    assert "confidence_error_rule_aware" not in without.measures
    assert found.measures["confidence_error_rule_aware"] < found.measures["confidence_error"]
    assert set(found.measures) <= {measure.name for measure in tacit.MEASURES}
    assert json.loads(json.dumps(found.to_dict()))["format"] == "tacit.utility/1"


def test_debiasing_finds_what_random_groups_hide() -> None:
    chance = np.random.default_rng(3)
    sex = chance.choice(["F", "M"], 4000)
    ill = np.where(chance.random(4000) < np.where(sex == "F", 0.8, 0.3), "flu", "cold")
    data = tacit.read_table({"sex": sex.tolist(), "ill": ill.tolist()}, qi="sex", sa="ill")
    group = chance.permutation(np.arange(4000, dtype=np.int32) // 4)
    found = tacit.utility(Buckets.of(data.qi, data.sa, group), data=data, dim=1)
    assert found.measures["confidence_error"] > 0.2
    assert found.measures["confidence_error_debiased"] < 0.05
    assert found.measures["confidence_error_modelled"] < 0.15
    assert found.measures["surviving_guess_right"] > found.measures["group_guess_right"] + 0.05


def test_a_shuffled_release_from_a_folder_is_measured(tmp_path: Path) -> None:
    data = people()
    folder = tmp_path / "published"
    folder.mkdir()
    tacit.write_release(release(data), folder)
    found = tacit.utility(str(folder), data=data, seed=4)
    same = tacit.utility(release(data), data=data, seed=4)
    assert found.measures["query_error"] == pytest.approx(same.measures["query_error"])
    assert found.measures["confidence_error"] == pytest.approx(same.measures["confidence_error"])


def test_people_who_were_left_out_are_counted() -> None:
    data = people()
    kept = data.take(np.arange(16))
    found = tacit.utility(release(kept), data=data)
    assert any("4 people of the data are not in the release" in note for note in found.notes)


def test_nothing_to_measure_is_said() -> None:
    data = tacit.read_table({"sex": ["F", "M"], "ill": ["flu", "flu"]}, qi="sex", sa="ill")
    found = tacit.utility(release(data, size=2), data=data)
    assert found.settings["dim"] == 1
    assert found.rules == 0
    assert "confidence_error" not in found.measures
    assert any("no rule" in note for note in found.notes)


@pytest.mark.parametrize(
    ("how", "where"),
    [
        ({"dim": 3}, "--dim"),
        ({"dim": 0}, "--dim"),
        ({"queries": 0}, "--queries"),
        ({"selectivity": 0}, "--selectivity"),
        ({"selectivity": 2}, "--selectivity"),
        ({"min_conviction": 0}, "--min-conviction"),
        ({"min_support": "x"}, "--min-support"),
        ({"max_length": 0}, "--max-length"),
        ({"intervals": {"sex": 10}}, "--interval"),
        ({"intervals": {"agee": 10}}, "--interval"),
        ({"intervals": {"age": 0}}, "--interval"),
        ({"seed": -1}, "--seed"),
    ],
)
def test_options_that_make_no_sense_are_refused(how: dict[str, object], where: str) -> None:
    data = people()
    with pytest.raises(tacit.OptionError) as caught:
        tacit.utility(release(data), data=data, **how)  # type: ignore[arg-type]
    assert str(caught.value).startswith(where)


def test_other_data_are_refused_without_their_values() -> None:
    data = people()
    others = tacit.read_table({"sex": ["X"] * 20, "age": ["99"] * 20, "ill": ["pox"] * 20}, qi=["sex", "age"], sa="ill")
    fewer = data.take(np.arange(12))
    no_age = tacit.read_table({"sex": ["F"], "ill": ["flu"]}, qi="sex", sa="ill")
    other_sa = tacit.read_table({"sex": ["F"], "age": ["1"], "pay": ["low"]}, qi=["sex", "age"], sa="pay")
    for wrong in (others, fewer, no_age, other_sa):
        with pytest.raises(tacit.OptionError) as caught:
            tacit.utility(release(data), data=wrong)
        assert str(caught.value).startswith("--data")
        assert "pox" not in str(caught.value)


def test_time_runs_out() -> None:
    data = people(50)
    with pytest.raises(tacit.LimitReached):
        tacit.utility(release(data), data=data, time_limit=1e-9)


def test_an_audit_with_the_data_holds_the_same_numbers() -> None:
    data = people()
    audit = tacit.audit(release(data), data=data)
    found = tacit.utility(release(data), data=data)
    for name in ("confidence_error", "identification_false_negative", "query_error", "surviving_guess_right", "l_diversity"):
        assert audit.measures[name] == found.measures[name]
    assert "confidence_error" not in tacit.audit(release(data)).measures
    assert set(audit.measures) <= {measure.name for measure in tacit.MEASURES}
    aware = tacit.audit(release(data), data=data, knowledge=[({"sex": "M"}, "cold")])
    assert "query_error_rule_aware" in aware.measures
    with pytest.raises(tacit.OptionError, match="--data: has no sensitive column"):
        tacit.audit(release(data), data=data.qi)


def test_making_groups_tells_what_they_cost() -> None:
    data = people(20)
    made = tacit.bucketize(data, l=2)
    found = tacit.utility(made, data=data)
    for name in (
        "confidence_error",
        "identification_false_positive",
        "identification_false_negative",
        "query_error",
        "group_guess_right",
    ):
        assert made.cost[name] == found.measures[name], name
    assert made.cost["surviving_guess_right_exact"] == found.measures["surviving_guess_right"]


def test_of_very_many_people_only_guesses_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.buckets.utility.MEASURED_AT_ONCE", 50)
    monkeypatch.setattr("tacit.buckets.surviving_correlations.LEARNT_FROM", 30)
    made = tacit.bucketize(people(20), l=2)
    assert "confidence_error" not in made.cost
    assert 0 < made.cost["surviving_guess_right_exact"] <= 1
