"""Rebuilt people against every population that fits, and against the owner's own."""

from __future__ import annotations

import copy
import tomllib
from collections import Counter
from dataclasses import replace
from itertools import product
from math import comb
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import tacit
from tacit.joint.lower import lower
from tacit.joint.rebuilding import LivingRows, Rebuilding, common, distance
from tacit.joint.worlds import Rows
from tacit.model.errors import OptionError
from tacit.model.policy import Limits
from tests.joint import naive_rebuilding as naive
from tests.joint.test_golden_joint import release_of

CASES = tomllib.loads((Path(__file__).parent / "rebuilt.toml").read_text(encoding="utf-8"))["case"]

COLUMNS = 3


def made_people(seed: int, n: int, columns: int = COLUMNS) -> list[naive.Kind]:
    rng = np.random.default_rng(seed)
    rows = rng.random((n, columns)) < rng.uniform(0.2, 0.8, columns)
    classes = (rows[:, 0] & rows[:, -1]) ^ (rng.random(n) < 0.25)
    people = [(*map(int, row), int(one)) for row, one in zip(rows, classes, strict=True)]
    return [*people[:-2], (*people[0][:-1], 0), (*people[0][:-1], 1)]  # both classes


def forest(people: list[naive.Kind], trees: int, depth: int | None, seed: int) -> RandomForestClassifier:
    model = RandomForestClassifier(trees, max_depth=depth, bootstrap=False, max_features=1, random_state=seed)
    return model.fit(np.array([person[:-1] for person in people]), ["yes" if person[-1] else "no" for person in people])


def read(model: RandomForestClassifier, columns: int = COLUMNS) -> tuple[tacit.Rules, ...]:
    return tacit.read_forest(model, features=[f"{name}=yes" for name in "abcdefghijkl"[:columns]], sa="class")


def kind_of(step: dict[str, Any], columns: list[str]) -> tuple[int | None, ...]:
    """Return the values of a group: 1, 0, or None where a column is open."""
    box = {one["column"]: ("yes" in one["values"]) != one["excluded"] for one in step["event"]}
    return tuple(None if name not in box else int(box[name]) for name in columns)


def is_fitting(kind: naive.Kind, group: tuple[int | None, ...], used: list[int]) -> bool:
    return all(value is None or kind[place] == value for place, value in zip(used, group, strict=True))


@pytest.mark.parametrize("trees", [2, 4])
@pytest.mark.parametrize("seed", range(25))
def test_nobody_is_rebuilt_who_is_absent_from_a_population_that_fits(seed: int, trees: int) -> None:
    people = made_people(seed, 5 + seed % 2)
    model = forest(people, trees, (None, 1, 2)[seed % 3], seed)
    releases = list(read(model))
    every = list(naive.worlds(model.estimators_, people))
    audit = tacit.audit(releases, people=tacit.Same(), k=2, rebuild=True)
    told = audit.rebuilt
    assert told is not None
    assert told.worlds > 0
    assert told.most is not None
    assert told.n == len(people)
    names = [*"abc"[:COLUMNS], "class"]
    used = [names.index(name) for name in told.columns]
    full = 0
    for group in told.groups:
        box = kind_of(dict(group.steps[0]), list(told.columns))
        assert (None in box) == bool(group.without)
        assert all(sum(n for kind, n in world.items() if is_fitting(kind, box, used)) >= group.at_least for world in every)
        full += 0 if group.without else group.at_least
    # A column that no tree asks for belongs to nobody's kind.
    seen: list[Counter[tuple[int, ...]]] = [Counter() for _ in every]
    for world, narrow in zip(every, seen, strict=True):
        for kind, number in world.items():
            narrow[tuple(kind[place] for place in used)] += number
    exact = naive.rebuilt(seen).total()
    assert told.people == full <= exact <= told.most
    assert told.undecided or told.people == exact
    assert told.people <= told.but_one <= len(people)
    assert tacit.verify(audit.to_dict(top=100), releases).ok


def test_most_small_cases_are_decided() -> None:
    told = []
    for seed in range(40):
        releases = read(forest(made_people(100 + seed, 9), 3, 3, seed))
        found = Rebuilding(lower(releases, tacit.Same()), Limits())
        found.look()
        told.append((found.people, found.most(9)))
    assert sum(one == other for one, other in told) >= 38
    assert sum(one for one, _ in told) > 100


def test_everybody_is_rebuilt_from_many_trees_and_nothing_else_is_asked() -> None:
    people = made_people(1, 40, columns=8)
    releases = read(forest(people, 40, None, 0), 8)
    audit = tacit.audit(list(releases), people=tacit.Same(), k=2, rebuild=True, attacks=["X01"])
    assert audit.rebuilt is not None
    assert audit.rebuilt.people == audit.rebuilt.n == 40
    assert audit.rebuilt.sentence == "40 of 40 people can be rebuilt completely (all 9 columns)."
    assert audit.attack("X01").decides
    alone = sum(people.count(person) == 1 for person in set(people))
    assert sum(finding.count.hi == 1 for finding in audit.findings) == alone
    assert audit.measures["bits_left"] < 40 * 9
    assert tacit.verify(audit.to_dict(top=100), list(releases)).ok


def test_the_owner_learns_how_far_a_reconstruction_is_from_the_truth() -> None:
    people = made_people(2, 30, columns=6)
    columns = {name: [("no", "yes")[person[place]] for person in people] for place, name in enumerate("abcdef")}
    table = tacit.read_table(columns | {"class": [("no", "yes")[person[-1]] for person in people]}, qi=list("abcdef"), sa="class")
    errors = []
    for trees, depth in ((1, 2), (30, None)):
        releases = read(forest(people, trees, depth, 0), 6)
        given = list(releases) if trees > 1 else releases[0]
        measures = tacit.audit(given, data=table, k=2, rebuild=True).measures
        errors.append(measures["reconstruction_error"])
        assert 0 < measures["reconstruction_error_baseline"] < 0.4
        assert measures["people_guessed"] >= measures["people_rebuilt_baseline"]
    assert errors[1] == 0 < errors[0]


def test_uncertainty_of_a_tree_is_that_of_its_leaves() -> None:
    people = made_people(3, 20, columns=4)
    model = DecisionTreeClassifier(max_depth=2, random_state=0)
    model.fit([person[:-1] for person in people], ["yes" if person[-1] else "no" for person in people])
    leaves = tacit.read_tree(model, features=[f"{name}=yes" for name in "abcd"], sa="class")
    measures = tacit.audit(leaves, k=2, rebuild=True).measures
    asked = sorted({int(one) for one in model.tree_.feature if one >= 0})
    kinds = set(product((0, 1), repeat=5))
    places = naive.leaf_places(model, sorted(kinds))
    bits = 0.0
    for person in people:
        alike = {tuple(kind[one] for one in (*asked, 4)) for kind in kinds if places[kind] == places[person]}
        bits += np.log2(len(alike))
    assert measures["bits_left"] == pytest.approx(bits)
    assert measures["uncertainty_left"] == pytest.approx(bits / (20 * (len(asked) + 1)))


def test_frequency_tables_rebuild_people_as_well() -> None:
    one = tacit.read_release({"sex": ["F", "F", "M", "M"], "town": ["A", "B", "A", "B"], "count": [1, 0, 2, 3]})
    other = tacit.read_release({"sex": ["F", "F", "M", "M"], "ill": ["yes", "no"] * 2, "count": [1, 0, 0, 5]})
    audit = tacit.audit([one, other], people=tacit.Same(), k=3, rebuild=True)
    assert audit.rebuilt is not None
    assert audit.rebuilt.people == 6
    assert audit.rebuilt.groups[0].steps[0]["weights"]
    assert tacit.verify(audit.to_dict(top=50), [one, other]).ok


def test_time_that_is_over_leaves_people_open() -> None:
    releases = read(forest(made_people(4, 40, columns=8), 10, 4, 0), 8)
    audit = tacit.audit(list(releases), people=tacit.Same(), k=2, rebuild=True, time_limit=0.02)
    assert audit.verdict != "clean"
    told = audit.rebuilt
    assert told is not None
    assert told.undecided
    assert told.reason == "the time limit was reached"
    assert told.sentence.startswith("At least 0 and at most 40 of 40 people")


def test_an_extended_sum_holds_for_every_kind() -> None:
    """Weights over the kinds that are left do not count anybody else below zero."""
    people = made_people(5, 12, columns=6)
    problem = lower(read(forest(people, 6, 4, 1), 6), tacit.Same())
    found = Rebuilding(problem, Limits())
    found.look()
    assert found.claims
    whole = Rows.of(problem, tuple(range(len(problem.axes))))
    by_line = {row.says_hi: row for row in whole.rows}
    assert isinstance(found.rows, LivingRows)
    assert len(found.kinds) < len(whole.cells)
    for claim in (*found.claims, *found.wider):
        for step, sign in ((claim.least, 1), (claim.most, -1)):
            if step.cases is not None:
                continue
            left = np.zeros(len(whole.cells))
            left[whole.cells.inside(claim.box)] += sign
            total = 0.0
            for cited, weight in step.weights.items():
                line = problem.lines[cited[1]]
                total += float(weight) * ((line.lo if weight > 0 else line.hi) or 0)
                for factor, masks in problem.boxes[cited[1]]:
                    left[whole.cells.inside(masks)] -= float(weight) * factor
            assert left.min() > -1e-9
            assert np.ceil(total - 1e-9) >= sign * step.value
    assert by_line


MUTATIONS = {
    "one more": lambda told: told["groups"][0].update(at_least=told["groups"][0]["at_least"] + 1),
    "another total": lambda told: told.update(people=told["people"] + 1),
    "twice": lambda told: told["groups"].append(told["groups"][0]),
    "fewer columns": lambda told: told["columns"].pop(),
    "another n": lambda told: told.update(n=told["n"] + 1, undecided=told["undecided"] + 1),
    "wide values": lambda told: told["groups"][0]["steps"][-1]["event"][0].update(values=[], excluded=True),
    "no proof": lambda told: told["groups"][0]["steps"].clear(),
    "more in all but one": lambda told: told.update(all_but_one=told["all_but_one"] + 1),
}


@pytest.mark.parametrize("what", MUTATIONS)
def test_verify_rejects_other_rebuilt_people(what: str) -> None:
    people = made_people(6, 12, columns=4)
    releases = list(read(forest(people, 5, 3, 0), 4))
    record = tacit.audit(releases, people=tacit.Same(), k=2, rebuild=True).to_dict(top=5)
    assert record["rebuilt"]["people"] > 0
    forged = copy.deepcopy(record)
    MUTATIONS[what](forged["rebuilt"])
    problems = tacit.verify(forged, releases, again=False).problems
    assert any(problem.startswith("rebuilt people: ") for problem in problems)
    assert tacit.verify(record, releases, again=False).rebuilt == record["rebuilt"]["people"]
    assert tacit.verify(forged, releases, again=False).rebuilt is None


def test_verify_rejects_other_measures_and_a_missing_entry() -> None:
    releases = list(read(forest(made_people(6, 12, columns=4), 5, 3, 0), 4))
    record = tacit.audit(releases, people=tacit.Same(), k=2, rebuild=True).to_dict(top=5)
    forged = copy.deepcopy(record)
    forged["measures"]["people_rebuilt"] += 1
    assert not tacit.verify(forged, releases, again=False).ok
    del record["rebuilt"]
    assert "it was asked to rebuild people, and does not say how many" in tacit.verify(record, releases, again=False).problems


def test_rebuilding_is_refused_where_it_says_nothing() -> None:
    releases = list(read(forest(made_people(7, 8), 2, 2, 0)))
    with pytest.raises(OptionError, match="X01"):
        tacit.audit(releases, people=tacit.Same(), rebuild=True, attacks=["R01"])
    with pytest.raises(OptionError, match="same people"):
        tacit.audit(releases, people=tacit.Unknown(), rebuild=True)
    table = tacit.read_table({"sex": ["F", "M"] * 6, "ill": ["yes", "no", "no"] * 4}, qi=["sex"], sa="ill")
    with pytest.raises(OptionError, match="releases of counts"):
        tacit.audit(tacit.bucketize(table, l=2), rebuild=True)


def test_people_of_an_unknown_number_are_rebuilt_as_well() -> None:
    of_twenty = release_of("20; a:10, b:8, a b:8")
    lines = replace(of_twenty, header=replace(of_twenty.header, n=None))
    audit = tacit.audit(lines, k=2, rebuild=True)
    told = audit.rebuilt
    assert told is not None
    assert (told.n, told.people, told.most) == (None, 10, 10)
    assert told.sentence == "10 people can be rebuilt completely (all 2 columns)."
    assert tacit.verify(audit.to_dict(top=50), lines).ok


def test_matching_counts_the_fewest_values_that_differ() -> None:
    one = np.array([[0, 0], [1, 1], [1, 0]])
    other = np.array([[1, 1], [0, 1], [1, 0]])
    assert distance(one, other) == pytest.approx(1 / 6)
    assert distance(one, other[:2]) is None
    assert common(one, other) == 2


@pytest.mark.parametrize("case", CASES, ids=[case["where"] for case in CASES])
def test_golden_cases(case: dict[str, Any]) -> None:
    releases = [release_of(text) for text in case["releases"]]
    people = tacit.Same() if len(releases) > 1 else None
    audit = tacit.audit(releases if people else releases[0], people=people, k=2, rebuild=True)
    told = audit.rebuilt
    assert told is not None
    assert [told.people, told.but_one, told.n, told.most] == case["rebuilt"]
    assert tacit.verify(audit.to_dict(top=100), releases).ok


def test_the_guess_names_whoever_is_most_probable_by_the_margins() -> None:
    """Against the probability of every number of people of every kind, in the plain binomial sum."""
    rng = np.random.default_rng(0)
    shape = (2, 3, 2)
    for _ in range(10):
        people = np.stack([np.minimum(rng.geometric(0.6, 25) - 1, size - 1) for size in shape], axis=1)
        shares = [np.bincount(people[:, at], minlength=size) / 25 for at, size in enumerate(shape)]
        ranked = []
        for kind in product(*map(range, shape)):
            chance = float(np.prod([shares[at][value] for at, value in enumerate(kind)]))
            below = 0.0
            for copies in range(1, 26):
                below += comb(25, copies - 1) * chance ** (copies - 1) * (1 - chance) ** (26 - copies)
                ranked.append((1 - below, kind))
        wanted = Counter(kind for _, kind in sorted(ranked, key=lambda one: -one[0])[:25])
        found = Rebuilding.guess(SimpleNamespace(kinds=SimpleNamespace(shape=shape)), people)  # type: ignore[arg-type]
        assert Counter(map(tuple, found.tolist())) == wanted
