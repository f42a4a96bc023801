"""Trees with numbers, pipelines and forests: each leaf is held against the people who are in it."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import tacit
from tacit.model.cuts import Cut
from tacit.model.errors import InputError, OptionError
from tests import shell


@cache
def people(seed: int = 0, n: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "job": rng.choice(["clerk", "cook", "nurse"], n, p=[0.6, 0.3, 0.1]),
            "age": rng.integers(18, 80, n),
            "pay": rng.normal(30, 5, n).round(2),
        }
    )
    table["ill"] = np.where((table.age > 50) & (table.sex == "F") | (rng.random(n) < 0.2), "yes", "no")
    return table


COLUMNS = ["sex", "job", "age", "pay"]


def encoded(table: pd.DataFrame) -> pd.DataFrame:
    return pd.get_dummies(table[COLUMNS])


def is_inside(value: Any, asked: str) -> bool:
    """Read a condition straight from its words."""
    if asked.startswith("not "):
        return value not in asked.removeprefix("not ").split(", ")
    if not asked.startswith(("over ", "up to ")):
        return bool(value == asked)
    low, _, high = asked.removeprefix("over ").partition("up to ") if asked.startswith("over ") else ("-inf", "", asked[6:])
    return bool(float(low or "-inf") < np.float32(value) <= float(high or "inf"))


def holds(release: Any, table: pd.DataFrame, *, exact: bool = True) -> None:
    """Count the people of each leaf by class, one by one."""
    counts: Counter[str] = Counter()
    for index, line in enumerate(release.records()):
        inside = [
            row["ill"]
            for _, row in table.iterrows()
            if all(is_inside(row[column], asked) for column, asked in line["antecedent"].items())
        ]
        bound = release.count(index)
        true = inside.count(line["consequent"])
        assert bound.lo <= true <= bound.hi
        assert not exact or bound.is_exact
        assert release.whole(index).lo == release.whole(index).hi == len(inside)
        counts[line["consequent"]] += true
    assert counts == Counter(table.ill)
    assert release.n == len(table)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("named", [True, False])
def test_leaves_count_the_people_in_their_intervals(seed: int, *, named: bool) -> None:
    table = people(seed)
    tree = DecisionTreeClassifier(max_depth=5, random_state=0).fit(encoded(table), table.ill)
    release = tacit.read_tree(tree, sa="ill", columns=COLUMNS if named else ())
    assert release.header.cuts
    held = table if named else encoded(table).astype(float).assign(ill=table.ill)
    holds(release, held)
    assert ("job_clerk" in release.header.qi) == (not named and any(one.column == "job_clerk" for one in release.header.cuts))


@pytest.mark.parametrize("given", ["data", "known", "encoded"])
def test_estimates_are_the_shares_of_the_leaves(given: str) -> None:
    table = people()
    ones = encoded(table)
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(ones, table.ill)
    beside: dict[str, Any] = {
        "data": {"data": table},
        "known": {"known": table[COLUMNS]},
        "encoded": {"data": ones.assign(ill=table.ill)},
    }[given]
    audit = tacit.audit(tree, sa="ill", k=1, **beside)
    assert audit.posterior is not None
    found = audit.table("posterior")
    (release,) = audit.asked.releases  # type: ignore[union-attr]
    names = [name for name in found if name in release.header.qi]
    cuts = {cut.column: cut for cut in release.header.cuts}
    held = table if given != "encoded" else ones.assign(ill=table.ill)
    keys = list(zip(*(found[name].tolist() for name in names), found["ill"].tolist(), strict=True))
    shares = dict(zip(keys, found["posterior"].tolist(), strict=True))

    def told(name: str, value: Any) -> str:
        if name not in cuts:
            return str(value)
        (inside,) = [one for one in cuts[name].values if is_inside(value, one)]
        return inside

    for (_, row), expected in zip(held.iterrows(), tree.predict_proba(ones).tolist(), strict=True):
        for value, share in zip(tree.classes_.tolist(), expected, strict=True):
            assert shares[*(told(name, row[name]) for name in names), value] == pytest.approx(share, abs=1e-9)


def test_a_threshold_is_compared_in_single_precision() -> None:
    """0.1 as a float is above 0.1 as a double: the library compares the float."""
    cut = Cut("x", (0.1,))
    assert cut.values[cut.place(0.1)] == "over 0.1"
    low, high = cut.bounds(cut.values)
    assert (low, high) == (-math.inf, math.inf)
    exact = float(np.float32(0.1))
    assert Cut("x", (exact,)).place(0.1) == 0


def test_leaves_with_intervals_stand_in_a_file_and_are_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = people()
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(encoded(table), table.ill)
    release = tacit.read_tree(tree, sa="ill", columns=COLUMNS)
    tacit.write_release(release, "leaves.csv")
    again = tacit.read_release("leaves.csv")
    assert again.header == release.header
    assert list(again.records()) == list(release.records())
    table.to_csv("people.csv", index=False)
    made = shell.record("audit", "leaves.csv", "--data", "people.csv", "--k", "5", code=1)
    assert made["measures"]["people_certain"] > 0
    Path("audit.json").write_text(json.dumps(made))
    assert shell.tacit("verify", "audit.json", "leaves.csv", "--data", "people.csv").exit_code == 0
    header = json.loads(Path("leaves.csv.json").read_text())
    header["cuts"][0]["at"][0] += 1
    Path("leaves.csv.json").write_text(json.dumps(header))
    assert shell.tacit("verify", "audit.json", "leaves.csv", "--data", "people.csv").exit_code == 1


@pytest.mark.parametrize(
    "cuts",
    [
        {},
        [1],
        [{"column": "age"}],
        [{"column": "age", "at": []}],
        [{"column": "age", "at": ["x"]}],
        [{"column": "age", "at": [3, 2]}],
    ],
)
def test_cuts_that_make_no_sense_are_refused(cuts: object, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text('antecedent,consequent,count\n"{""age"": ""up to 3""}",x,3\n')
    (tmp_path / "r.csv.json").write_text(json.dumps({"format": "tacit.rules/1", "n": 5, "cuts": cuts}))
    with pytest.raises(InputError, match=r"r\.csv\.json, key 'cuts'"):
        tacit.read_release(tmp_path / "r.csv")


def test_data_that_are_no_numbers_are_refused() -> None:
    table = people()
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(encoded(table), table.ill)
    with pytest.raises(InputError, match="column 'age' holds values that are not numbers"):
        tacit.audit(tree, sa="ill", data=table.assign(age="old"))


# Pipelines


def pipeline(step: Any, model: Any) -> Any:
    table = people()
    return make_pipeline(step, model).fit(table[COLUMNS], table.ill)


ENCODERS: dict[str, Callable[[], Any]] = {
    "rest passed through": lambda: make_column_transformer((OneHotEncoder(), ["sex", "job"]), remainder="passthrough"),
    "first value dropped": lambda: make_column_transformer(
        (OneHotEncoder(drop="first"), ["job", "sex"]), ("passthrough", ["age"]), remainder="drop"
    ),
    "columns by number": lambda: make_column_transformer((OneHotEncoder(), [0, 1]), ("passthrough", slice(2, 4))),
    "everything": lambda: OneHotEncoder(),
}


@pytest.mark.parametrize("name", ENCODERS)
def test_pipelines_that_encode_values_are_read(name: str) -> None:
    table = people()
    clf = pipeline(ENCODERS[name](), DecisionTreeClassifier(max_depth=4, random_state=0))
    (release,) = tacit.audit(clf, sa="ill", attacks=["R01"]).asked.releases  # type: ignore[union-attr]
    held = table.astype(str) if name == "everything" else table
    holds(release, held)


# Forests


def trees_of(forest: Any) -> tuple[tacit.Rules, ...]:
    return tacit.read_forest(forest, sa="ill", columns=COLUMNS)


def test_trees_of_all_people_are_about_the_same_people() -> None:
    table = people()
    forest = ExtraTreesClassifier(4, max_depth=4, random_state=0).fit(encoded(table), table.ill)
    trees = trees_of(forest)
    assert len(trees) == 4
    for tree in trees:
        holds(tree, table)
    cuts = {cut for tree in trees for cut in tree.header.cuts}
    assert len(cuts) == len({cut.column for cut in cuts})  # a column is cut at the same ends in all of them
    audit = tacit.audit(forest, sa="ill", data=table, attacks=["R02", "R03"], k=1)
    assert audit.adversary["people"] == "same"
    alone = [tacit.audit(tree, data=table, attacks=["R02", "R03"], k=1).measures["people_certain"] for tree in trees]
    assert audit.measures["people_certain"] >= max(alone)  # together they say at least as much
    assert audit.verdict == "exposed"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("max_samples", [None, 0.5])
def test_trees_of_drawn_people_are_about_those_drawn(seed: int, max_samples: float | None) -> None:
    table = people(seed)
    forest = RandomForestClassifier(3, max_depth=4, max_samples=max_samples, random_state=seed).fit(encoded(table), table.ill)
    inexact = 0
    for drawn, release in zip(forest.estimators_samples_, trees_of(forest), strict=True):
        holds(release, table.iloc[np.unique(drawn)], exact=False)
        inexact += int((release.lo < release.hi).sum())
    assert inexact > 0


def test_drawn_trees_are_audited_one_by_one() -> None:
    table = people()
    forest = RandomForestClassifier(2, max_depth=3, random_state=0).fit(encoded(table), table.ill)
    audit = tacit.audit(forest, sa="ill", attacks=["R01"])
    assert audit.adversary["people"] == "unknown"
    assert audit.verdict == "exposed"
    with pytest.raises(OptionError, match="about one population"):
        tacit.audit(forest, sa="ill", data=table)


def test_trees_that_cut_a_column_elsewhere_are_audited_together() -> None:
    """The intervals of one tree are no values beside those of another: both are cut finer."""
    ages = [[age] for age in range(100)]
    classes = [["no", "yes"][age >= 40] for age in range(100)]
    other = [["a", "b"][age >= 45] for age in range(100)]
    releases = [
        tacit.read_tree(DecisionTreeClassifier(max_depth=1).fit(ages, said), features=["age"], sa=name)
        for name, said in (("ill", classes), ("town", other))
    ]
    found = tacit.audit(releases, people=tacit.Same(), k=10)
    assert found.verdict == "exposed"  # 5 people are over 39.5 up to 44.5
    small = {(finding.count.lo, finding.count.hi) for finding in found.findings}
    assert (5, 5) in small
    tables = [releases[0], tacit.read_release({"age": ["1", "2"], "count": [40, 60]})]
    with pytest.raises(OptionError, match="cuts age into intervals"):
        tacit.audit(tables, people=tacit.Same())


X = encoded(people())
Y = people().ill
CODES = X.assign(age=np.arange(len(X)) % 3)
REFUSED: dict[str, tuple[str, Callable[[], Any]]] = {
    "scaled": ("the step StandardScaler changes", lambda: make_pipeline(StandardScaler(), DecisionTreeClassifier()).fit(X, Y)),
    "two steps": (
        "OneHotEncoder and StandardScaler",
        lambda: make_pipeline(OneHotEncoder(), StandardScaler(with_mean=False), DecisionTreeClassifier()).fit(X, Y),
    ),
    "rare values joined": (
        "the step OneHotEncoder",
        lambda: pipeline(OneHotEncoder(min_frequency=30), DecisionTreeClassifier()),
    ),
    "no names": ("does not say what its columns are called", lambda: DecisionTreeClassifier().fit(X.to_numpy(), Y)),
    "weights of classes": ("with weights", lambda: RandomForestClassifier(2, class_weight="balanced").fit(X, Y)),
    "weights of people": ("with weights", lambda: ExtraTreesClassifier(2).fit(X, Y, sample_weight=np.arange(len(X)) % 3 + 1.0)),
    "boosted numbers": ("not a fitted decision tree", lambda: GradientBoostingRegressor(n_estimators=2).fit(X, Y == "yes")),
    "boosted draws": ("draws of the people", lambda: GradientBoostingClassifier(n_estimators=2, subsample=0.5).fit(X, Y)),
    "boosted categories": (
        "categories by their codes",
        lambda: HistGradientBoostingClassifier(max_iter=1, min_samples_leaf=1, categorical_features=["age"]).fit(
            CODES, CODES.age == 1
        ),
    ),
    "boosted weights": (
        "with weights",
        lambda: GradientBoostingClassifier(n_estimators=2).fit(X, Y, sample_weight=np.arange(len(X)) % 3 + 1.0),
    ),
    "missing": (
        "asks if feature 0 is missing",
        lambda: DecisionTreeClassifier().fit(pd.DataFrame({"a": [1.0, 1.0, np.nan, np.nan]}), ["x", "x", "y", "y"]),
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_models_that_cannot_be_read_are_refused(what: str) -> None:
    message, make = REFUSED[what]
    with pytest.raises(OptionError, match=message):
        tacit.audit(make(), sa="ill")


def test_a_column_is_either_numbers_or_values() -> None:
    tree = DecisionTreeClassifier().fit(pd.DataFrame({"age": [1, 2], "age_30": [0, 1]}), ["x", "y"])
    with pytest.raises(OptionError, match="both a number and a set of values"):
        tacit.read_tree(tree, sa="ill", columns=["age"])
    with pytest.raises(OptionError, match="not name all columns that the model asks for"):
        tacit.audit(DecisionTreeClassifier(random_state=0).fit(X, Y), sa="ill", qi="sex")


BOOSTED: dict[str, Callable[[int], Any]] = {
    "gradient": lambda depth: GradientBoostingClassifier(n_estimators=4, max_depth=depth, random_state=0),
    "adaptive": lambda depth: AdaBoostClassifier(DecisionTreeClassifier(max_depth=depth, random_state=0), n_estimators=4),
    "histograms": lambda depth: HistGradientBoostingClassifier(max_iter=4, max_depth=depth, min_samples_leaf=3, random_state=0),
}


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("kind", BOOSTED)
def test_boosted_trees_count_the_people_of_each_leaf(kind: str, depth: int) -> None:
    table = people(3)
    model = BOOSTED[kind](depth).fit(encoded(table), table.ill)
    trees = tacit.read_forest(model, sa="ill", columns=COLUMNS)
    assert len(trees) == 4
    for number, tree in enumerate(trees):
        is_first = number == 0 and kind != "histograms"
        holds(tree, table, exact=is_first)
        assert is_first or not any(tree.count(index).is_exact for index in range(len(tree)) if tree.whole(index).hi)


def test_the_first_step_of_three_classes_tells_no_counts() -> None:
    table = people(1)
    three = table.job
    model = GradientBoostingClassifier(n_estimators=1, max_depth=1).fit(table[["age", "pay"]], three)
    assert not any(tree.count(0).is_exact for tree in tacit.read_forest(model, sa="job"))
