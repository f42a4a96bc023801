"""Decision trees as releases: what leaves say about everybody, and trees that cannot be read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import tacit
from tacit.model.errors import InputError, OptionError
from tests import shell
from tests.rules.made_people import people


def one_hot(data: tacit.Table) -> tuple[list[str], np.ndarray[Any, Any], list[str]]:
    """Feature names, columns of 0 and 1, and classes of a table."""
    names, columns = [], []
    for name in data.schema.qi:
        column = data.column(name)
        for code, value in enumerate(column.values):
            names.append(f"{name}={value}")
            columns.append(column.codes == code)
    return names, np.array(columns, float).T, [data.sa.values[code] for code in data.sa.codes.tolist()]


@pytest.mark.parametrize("values", [2, 3, 4])
@pytest.mark.parametrize("seed", range(4))
def test_estimates_are_the_shares_of_the_leaves(seed: int, values: int) -> None:
    data = people(seed, values=values)
    features, ones, classes = one_hot(data)
    tree = DecisionTreeClassifier(max_leaf_nodes=2 + seed * 2, random_state=seed).fit(ones, classes)
    leaves = tacit.read_tree(tree, features=features, sa="ill")
    table = tacit.audit(leaves, known=data.qi, attacks=["R02", "R03"]).table("posterior")
    keys = list(zip(*(table[name].tolist() for name in (*data.schema.qi, "ill")), strict=True))
    found = dict(zip(keys, zip(*(table[name].tolist() for name in ("lower", "posterior", "upper")), strict=True), strict=True))
    rows = list(zip(*([c.values[code] for code in c.codes.tolist()] for c in data.qi.columns), strict=True))
    for row, shares in zip(rows, tree.predict_proba(ones).tolist(), strict=True):
        for value, share in zip(tree.classes_.tolist(), shares, strict=True):
            lower, posterior, upper = found[*row, value]
            assert posterior == pytest.approx(share, abs=1e-9)
            assert lower - 1e-9 <= share <= upper + 1e-9
            assert share not in (0.0, 1.0) or lower == upper == share  # in a pure leaf everything is certain


def test_leaves_stand_in_a_file_like_rules(tmp_path: Path) -> None:
    data = people(1, values=3)
    features, ones, classes = one_hot(data)
    leaves = tacit.read_tree(DecisionTreeClassifier(max_leaf_nodes=5).fit(ones, classes), features=features, sa="ill")
    tacit.write_release(leaves, tmp_path / "leaves.csv")
    again = tacit.read_release(tmp_path / "leaves.csv")
    assert again.header == leaves.header
    assert list(again.records()) == list(leaves.records())
    assert sum(line["count"] for line in leaves.records()) == data.n


def test_one_leaf_is_the_distribution() -> None:
    data = people(1)
    features, ones, classes = one_hot(data)
    leaves = tacit.read_tree(
        DecisionTreeClassifier(max_depth=1, min_samples_split=1000).fit(ones, classes), features=features, sa="ill"
    )
    found = tacit.audit(leaves, known=data.qi).table("posterior")
    assert set(found["posterior"].round(9)) == {round(classes.count(value) / data.n, 9) for value in data.sa.values}


X, Y = [[1, 0], [0, 1], [1, 1], [0, 0]], ["a", "b", "a", "b"]
NAMES = ["sex=F", "job=clerk"]
REFUSED: list[tuple[str, Callable[[], object]]] = [
    ("not a fitted", lambda: tacit.read_tree(DecisionTreeClassifier(), features=NAMES, sa="ill")),
    ("this model is not fitted", lambda: tacit.audit(DecisionTreeClassifier(), sa="ill")),
    ("not a fitted", lambda: tacit.read_tree(DecisionTreeRegressor().fit(X, [1.0, 2.0, 1.0, 2.0]), features=NAMES, sa="ill")),
    ("not a fitted", lambda: tacit.read_tree(LogisticRegression().fit(X, Y), features=NAMES, sa="ill")),
    ("several columns", lambda: tacit.read_tree(DecisionTreeClassifier().fit(X, [Y, Y, Y[::-1], Y]), features=NAMES, sa="ill")),
    ("weights", lambda: tacit.read_tree(DecisionTreeClassifier().fit(X, Y, sample_weight=[1, 2, 1, 1]), features=NAMES, sa="x")),
    ("features: holds 1", lambda: tacit.read_tree(DecisionTreeClassifier().fit(X, Y), features=NAMES[:1], sa="ill")),
    ("features: holds 2", lambda: tacit.read_tree(DecisionTreeClassifier().fit(X, Y), features=["sex=F"] * 2, sa="ill")),
    (
        "size of feature 0",
        lambda: tacit.read_tree(DecisionTreeClassifier().fit([[30], [60]], ["a", "b"]), features=["sex=F"], sa="x"),
    ),
    ("sa: is a column", lambda: tacit.read_tree(DecisionTreeClassifier().fit(X, Y), features=NAMES, sa="sex")),
]


@pytest.mark.parametrize(("what", "call"), REFUSED)
def test_trees_that_cannot_be_read_are_refused(what: str, call: Callable[[], object]) -> None:
    with pytest.raises(OptionError, match=what):
        call()


@pytest.mark.parametrize(
    "groups",
    [
        {},
        [1],
        [{"column": "a", "name": "b"}],
        [{"column": "a", "name": "b", "values": ["x"], "not": ["y"]}],
        [{"column": "a", "name": "b", "not": "x"}],
        [{"column": "a", "name": "b", "not": ["x"]}, {"column": "a", "name": "b", "values": ["y"]}],
    ],
)
def test_groups_of_values_that_make_no_sense_are_refused(groups: object, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text('antecedent,consequent,count\n"{""a"": ""b""}",x,3\n')
    (tmp_path / "r.csv.json").write_text(json.dumps({"format": "tacit.rules/1", "n": 5, "value_groups": groups}))
    with pytest.raises(InputError, match=r"r\.csv\.json, key 'value_groups'"):
        tacit.read_release(tmp_path / "r.csv")


def test_leaves_are_audited_from_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of leaves made by hand: of 3 people outside town A, all are ill."""
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("town\n" + "A\n" * 6 + "B\nC\nC\n")
    Path("leaves.csv").write_text('antecedent,consequent,count\n"{""town"": ""A""}",yes,2\n"{""town"": ""elsewhere""}",yes,3\n')
    group = {"column": "town", "name": "elsewhere", "not": ["A"]}
    header: dict[str, Any] = {
        "format": "tacit.rules/1",
        "n": 9,
        "qi": ["town"],
        "sa": "ill",
        "sa_values": ["no", "yes"],
        "value_groups": [group],
    }
    Path("leaves.csv.json").write_text(json.dumps(header))
    made = shell.record("audit", "leaves.csv", "--known", "people.csv", "--k", "1", code=1)
    assert made["measures"]["people_certain"] == 3
    Path("audit.json").write_text(json.dumps(made))
    assert shell.tacit("verify", "audit.json", "leaves.csv").exit_code == 0
    header["value_groups"][0]["not"] = ["B"]  # then other people are elsewhere, and the sum is wrong
    Path("leaves.csv.json").write_text(json.dumps(header))
    assert shell.tacit("verify", "audit.json", "leaves.csv").exit_code == 1


@pytest.mark.parametrize("method", ["withdraw", "round", "withhold", "raise-threshold", "mixed"])
def test_leaves_are_repaired_like_rules(method: str) -> None:
    data = people(2)
    features, ones, classes = one_hot(data)
    leaves = tacit.read_tree(
        DecisionTreeClassifier(max_leaf_nodes=6, random_state=0).fit(ones, classes), features=features, sa="ill"
    )
    done = tacit.repair(leaves, method=method, data=data, policy=tacit.Policy(k=1, max_posterior=0.8), suggest=False)
    assert done.before.verdict == "exposed"
    assert not done.release.header.complete
    assert done.cost["information_lost"] > 0
    if method in ("withdraw", "withhold", "raise-threshold", "mixed"):
        assert done.after.verdict == "clean"
