"""The reproduction of Injector: every numbered item, its algorithms as printed, and its figures on a small file that looks like Adult."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.buckets.classes import Classes
from tacit.buckets.estimators import Estimator, by_groups
from tacit.buckets.utility import PositiveRules
from tacit.model.errors import Infeasible
from tacit.model.numbers import Threshold
from tacit.model.reproduction import Part, Reproduction
from tacit.papers import injector08, injector08_adult, injector08_trial, injector08_utility, reproduce
from tacit.papers.bench import COLUMN_NAMES, Bench, read_adult
from tacit.papers.injector08 import CASE, ITEMS, code, woman_and_men
from tacit.papers.injector08_printed import (
    Counts,
    Person,
    bucketize_as_printed,
    check_as_printed,
    check_by_definition,
    check_corrected,
    count_incompatible,
    match,
    meets,
    random_people,
)
from tacit.papers.injector08_trial import AXES, EXPECTATIONS, GROUPINGS, QI, SA, SETTINGS, Trial, form_recipes, trees
from tacit.papers.injector08_utility import RULE_SETS, Antecedents, RuleSet, judge

JOBS = [
    "Sales",
    "Craft-repair",
    "Adm-clerical",
    "Exec-managerial",
    "Tech-support",
    "Other-service",
    "Prof-specialty",
    "Transport-moving",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """900 people in the form of adult.data; some jobs go with some degrees, one never occurs with a doctorate, one row lacks a job."""
    place, chance = tmp_path_factory.mktemp("uci"), random.Random(11)
    lines = []
    for number in range(900):
        degree = chance.choice(["HS-grad", "HS-grad", "Doctorate", "Masters", "11th"])
        jobs = JOBS[:7] if degree == "Doctorate" else JOBS
        job = "Prof-specialty" if degree == "Doctorate" and chance.random() < 0.05 else chance.choice(jobs)
        cells = dict.fromkeys(COLUMN_NAMES, "same") | {
            "age": str(chance.randint(20, 59)),
            "sex": chance.choice(["Male", "Female"]),
        }
        cells |= {
            "education": degree,
            "occupation": "?" if number == 7 else job,
            "race": chance.choice(["White", "White", "Black"]),
        }
        cells |= {"workclass": chance.choice(["Private", "State-gov", "Self-emp-inc"])}
        cells |= {"marital-status": chance.choice(["Divorced", "Married-civ-spouse"])}
        lines.append(", ".join(cells[name] for name in COLUMN_NAMES))
    (place / "adult.data").write_text("\n".join(lines) + "\n")
    return place


def test_every_numbered_item_of_the_paper_is_listed() -> None:
    numbered = {
        "Table I",
        "Table II",
        "Table III",
        "Definition 1",
        "Definition 2",
        *(f"Figure {number}" for number in range(1, 9)),
    }
    assert numbered <= {item.split(" (")[0] for item in ITEMS}
    assert len(set(ITEMS)) == len(ITEMS)


def test_what_needs_no_data() -> None:
    made = reproduce("injector08")
    assert [part.name for part in made.parts] == ["example", "mining", "figure-1", "figure-2", "definitions"]
    failed = [row[0] for part in made.parts for row in part.rows if str(row[-1]).startswith("NO")]
    assert failed == ["Table II", *["Figure 1"] * 3, *["Figure 2"] * 4]
    assert "adult.data" in made.left_out[0]
    assert {claim.item for claim in made.index if claim.standing == "not run"} == {
        "Section III", "Table III", "Section VI", "Figure 3", "Figure 4", "Figure 5", "Figure 6 (a)", "Figure 6 (b)", "Figure 7", "Figure 8"
    }  # fmt: skip


def test_the_only_woman_has_the_cancer_and_figure_1_misses_both_ways() -> None:
    group = woman_and_men(2)
    assert [check_by_definition(group, one) for one in range(3)] == [
        {"ovarian"},
        {"disease 1", "disease 2"},
        {"disease 1", "disease 2"},
    ]
    assert [check_as_printed(group, one) for one in range(3)] == [set(), {"disease 2", "ovarian"}, {"disease 1", "ovarian"}]
    free = [Person("1", "a"), Person("2", "b")]
    assert meets(check_by_definition, free, 2)
    assert not meets(check_as_printed, free, 2)


@given(st.integers(0, 10**6))
def test_figure_1_corrected_finds_what_all_assignments_give(seed: int) -> None:
    group = random_people(seed, most=5)
    assert all(check_corrected(group, one) == check_by_definition(group, one) for one in range(len(group)))
    assert match(group) == len(group)
    assert Counts.of(group).incompatible(group[:2]) == count_incompatible(group[:2], group)


def test_a_matching_is_not_larger_than_the_values_that_can_be_taken() -> None:
    only_a = frozenset("b")
    assert match([Person("1", "a", only_a), Person("2", "b", only_a)]) == 1


def test_figure_2_as_printed_leaves_a_feasible_table_unfinished() -> None:
    made = bucketize_as_printed(CASE, 2, check_corrected)
    assert made.stuck == "line 22"
    assert bucketize_as_printed(CASE[:1], 2, check_corrected).stuck == "line 19"
    assert made.wrong == 2  # the first person finds no group, and N counts them from then on


@given(st.integers(0, 10**6), st.integers(2, 3))
def test_figure_2_places_everybody_where_it_ends(seed: int, least: int) -> None:
    people = random_people(seed)
    made = bucketize_as_printed(people, least, check_corrected)
    if not made.stuck:
        assert sorted(person.name for group in made.groups for person in group) == sorted(person.name for person in people)
        assert all(meets(check_by_definition, group, least) for group in made.groups if len(group) < 7)


def test_trees_hold_every_value_once(folder: Path) -> None:
    people = read_adult(folder / "adult.data", qi=QI, sa=SA, missing_rule="drop")
    assert people.n == 899
    made = trees(people)
    assert set(made) == {"workclass", "education", "marital-status", "race"}
    assert made["education"].levels["Doctorate"] == ("Graduate", "Higher education")
    assert made["race"].levels == {"Black": ("Non-White",), "White": ()}
    assert made["workclass"].repeated == {"Private": 1}


@given(st.integers(0, 10**6), st.integers(2, 3))
def test_people_left_over_join_as_printed_with_enough_values(seed: int, least: int) -> None:
    people = random_people(seed)
    _, sensitive, kind, patterns = code(people)
    classes = Classes.of(sensitive, kind, patterns, seed=0)
    try:
        recipes = form_recipes(classes, least, "Injector")
    except Infeasible:  # lines 19 and 22 have no group to select
        return
    group = recipes.assign(classes, len(people), seed=0)
    assert group.min() == 0
    for number in range(int(group.max()) + 1):
        assert meets(check_corrected, [person for person, one in zip(people, group, strict=True) if one == number], least)


@pytest.fixture(scope="module")
def trial(folder: Path) -> Trial:
    return Trial.read(folder / "adult.data", Bench.open(folder, None, lambda _: None))


@pytest.mark.parametrize("grouping", GROUPINGS)
@pytest.mark.parametrize("setting", SETTINGS[:2])
def test_groups_are_those_of_tacit_and_leave_nobody_vulnerable(trial: Trial, grouping: str, setting: tuple[int, float]) -> None:
    buckets = trial.buckets(grouping, *setting, seed=3)
    known = trial.rules(setting[1]).known
    assert buckets.n == trial.people.n
    assert buckets.group.min() == 0
    if grouping != "Injector":
        assert (
            buckets.group.tolist()
            == trial.group("anatomy" if grouping == "Anatomy" else "balanced-2", setting[0], known, 3).tolist()
        )
    if grouping != "Anatomy":
        assert (trial.valid(buckets, known).counts >= setting[0]).all()


def test_counts_by_shares_are_those_of_the_estimator(trial: Trial) -> None:
    told = trial.counted("Injector", 3, 0.9, seed=1)
    uniform, _, _ = by_groups(trial.cells, trial.buckets("Injector", 3, 0.9, seed=1))
    assert np.allclose(told["shares"], uniform.counted)
    # A shuffle leaves the number of people of each combination and of each value as it is.
    assert (told["permuted"].sum(axis=1) == trial.cells.true.sum(axis=1)).all()
    assert (told["permuted"].sum(axis=0) == trial.cells.true.sum(axis=0)).all()
    assert (told["permuted"] != trial.cells.true).any()


@pytest.mark.parametrize("rules", [*RULE_SETS, RuleSet(Fraction(1, 20), Fraction(101, 100)), RuleSet(conviction=Fraction(1, 2))])
def test_errors_of_rules_are_those_of_the_measures(trial: Trial, rules: RuleSet) -> None:
    antecedents = Antecedents.of(trial.cells, [RuleSet(columns=6), RuleSet(Fraction(1, 200)), RuleSet(ages=0)])
    counted = trial.counted("Injector", 3, 0.9, seed=0)["shares"]
    reader = Estimator("uniform", counted, lambda table, _: table)
    slow = PositiveRules.of(
        trial.cells,
        [reader],
        least=Threshold.parse(f"{float(100 * rules.support):g}%"),
        conviction=rules.conviction,
        length=rules.columns,
        intervals={"age": rules.ages} if rules.ages else {},
    )
    assert int(antecedents.holding(rules).sum()) == len(slow)
    if len(slow):
        found = antecedents.errors(antecedents.count(counted), rules)
        assert found == pytest.approx([100 * off for off in slow.errors(reader, trial.cells.true.sum(axis=0)).values()])


def test_a_claim_is_judged_at_every_point() -> None:
    same, low, noisy = [5.0, 5.0, 5.0], [1.0, 1.1, 0.9], [2.0, 9.0, 4.0]
    anatomy = [5.0, 5.0, 5.0]
    cases = {"confirmed": [low, low], "not confirmed": [low, [9.0, 9.1, 8.9]], "open": [low, noisy]}
    for standing, draws in cases.items():
        points = {float(x): {"Anatomy": anatomy, "Injector": drawn} for x, drawn in enumerate(draws)}
        assert judge(points, "Injector").standing == standing
    equal = judge({3.0: {"Anatomy": anatomy, "Injector": same}}, "Injector")
    assert equal == ("not confirmed", "equal at all")


@pytest.fixture(scope="module")
def made(folder: Path) -> Reproduction:
    return reproduce_quickly(folder)


def reproduce_quickly(folder: Path) -> Reproduction:
    """Few draws and questions, so that it takes seconds."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (injector08_adult, injector08_trial, injector08_utility):
            patch.setattr(module, "DRAWS", 3)
        patch.setattr(injector08_utility, "QUERIES", 20)
        patch.setattr(injector08, "TABLES", 20)
        return reproduce("injector08", data=folder)


@pytest.fixture(scope="module")
def parts(made: Reproduction) -> dict[str, Part]:
    return {part.name: part for part in made.parts}


def test_every_item_has_a_claim_with_the_data(made: Reproduction) -> None:
    assert made.left_out == ()
    claimed = {claim.item for part in made.parts for claim in part.claims}
    assert claimed == set(ITEMS)
    assert all(claim.standing != "not run" for claim in made.index)


def test_every_figure_is_there_with_its_picture(parts: dict[str, Part]) -> None:
    drawn = {name for name, part in parts.items() if part.chart is not None}
    assert drawn == {
        "figure-3-rules", "figure-4a", "figure-4b", "figure-6a", "figure-6b", "figure-7a-added", "figure-7a-lost", "figure-7b-added",
        "figure-7b-lost", "debiased", "figure-8a", "figure-8b", "figure-8c",
    }  # fmt: skip
    assert all(part.reading and part.rows for part in parts.values())


def test_injector_leaves_nobody_vulnerable_and_says_so(parts: dict[str, Part]) -> None:
    for name in ("figure-4a", "figure-4b"):
        assert all(row[2:] == (0, 0) for row in parts[name].rows)
        assert parts[name].claims[0].standing == "confirmed"
    assert float(parts["figure-4a"].rows[-1][1] or 0) > 0


def test_people_by_values_ruled_out_add_up(parts: dict[str, Part]) -> None:
    for expectation in EXPECTATIONS:
        ours = [float(row[3] or 0) for row in parts["figure-3-people"].rows if row[0] == expectation]
        assert sum(ours) == pytest.approx(100, abs=0.05)


def test_differences_are_those_of_the_means(parts: dict[str, Part]) -> None:
    for axis in AXES:
        part = parts[f"figure-6{axis.letter}"]
        assert {row[1] for row in part.rows} == {x for x, _ in axis.points}
        for _, _, anatomy, injector, _, apart, _ in part.rows:
            assert float(anatomy or 0) - float(injector or 0) == pytest.approx(float(apart or 0), abs=0.02)


def test_the_record_has_no_clock(made: Reproduction, folder: Path) -> None:
    assert reproduce_quickly(folder).to_dict() == made.to_dict()
    assert {timed.item for timed in made.times} == {"Figure 5"}
    assert {timed.program for timed in made.times} == {"mining", *GROUPINGS}


def test_the_time_limit_leaves_figures_out(folder: Path) -> None:
    made = reproduce("injector08", data=folder, time_limit=0.01)
    assert [part.name for part in made.parts][-1] == "definitions"
    assert len(made.left_out) == 8
    assert all("time limit" in told for told in made.left_out)
