"""Decision trees as scikit-learn prints them, read as the fitted trees themselves."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, export_graphviz, export_text

import tacit
from tacit.model.errors import InputError, OptionError
from tests import shell

DRAWN = np.random.default_rng(4)
PEOPLE = pd.DataFrame(
    {
        "age": DRAWN.integers(18, 70, 300),
        "job": DRAWN.choice(["clerk", "cook", "nurse"], 300),
        "ill": DRAWN.choice(["flu", "no", "tbc > 2"], 300, p=[0.5, 0.4, 0.1]),
    }
)
X = pd.get_dummies(PEOPLE[["age", "job"]])
Y = PEOPLE["ill"]


def fitted(depth: int | None, seed: int = 0) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_depth=depth, random_state=seed).fit(X, Y)


def as_text(tree: DecisionTreeClassifier, **options: Any) -> str:
    return str(export_text(tree, feature_names=list(X.columns), **{"show_weights": True, "max_depth": 99} | options))


def as_graph(tree: DecisionTreeClassifier, **options: Any) -> str:
    return str(export_graphviz(tree, **{"feature_names": list(X.columns), "class_names": list(tree.classes_)} | options))


@pytest.mark.parametrize("depth", [1, 3, None])
@pytest.mark.parametrize("columns", [(), ("age", "job", "ill")])
def test_a_printed_tree_is_the_fitted_one(depth: int | None, columns: tuple[str, ...], tmp_path: Path) -> None:
    tree = fitted(depth)
    leaves = tacit.read_tree(tree, sa="ill", columns=[one for one in columns if one != "ill"])
    texts = {
        "text": as_text(tree),
        "spaced": as_text(tree, spacing=1, decimals=6),
        "graph": as_graph(tree),
        "coloured": as_graph(tree, filled=True, rounded=True, special_characters=True, node_ids=True, leaves_parallel=True),
    }
    (tmp_path / "tree.txt.json").write_text(json.dumps({"sa_values": tree.classes_.tolist()}))
    for name, text in texts.items():
        (tmp_path / "tree.txt").write_text(text, encoding="utf-8")
        printed = tacit.read_release(tmp_path / "tree.txt", sa="ill", columns=columns)
        assert isinstance(printed, tacit.Rules)
        asked = {column for line in leaves.records() for column in line["antecedent"]}
        assert set(printed.header.qi) == asked, name  # what the tree never asks for is not printed
        assert replace(printed.header, assumed=(), qi=leaves.header.qi) == leaves.header, name
        assert list(printed.records()) == list(leaves.records()), name


def test_findings_are_those_of_the_fitted_tree_and_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tree.txt").write_text(as_text(fitted(4)))
    PEOPLE.to_csv("people.csv", index=False)
    made = shell.record("audit", "tree.txt", "--data", "people.csv", "--sa", "ill", "--k", "5", code=1)
    direct = tacit.audit(fitted(4), data=PEOPLE, sa="ill", k=5)
    assert made["measures"]["people_certain"] == direct.measures["people_certain"]
    Path("audit.json").write_text(json.dumps(made))
    assert shell.tacit("verify", "audit.json", "tree.txt").exit_code == 0


def test_classes_that_no_leaf_predicts_are_called_by_number(tmp_path: Path) -> None:
    (tmp_path / "tree.txt").write_text(as_text(fitted(1)))
    printed = tacit.read_release(tmp_path / "tree.txt", sa="ill")
    assert printed.header.sa_values[2] == "class 3 of 3"
    assert "class 3 of 3" in printed.header.assumed[-1]
    with pytest.raises(InputError, match=r"1 of its 3 classes.*tree\.txt\.json"):
        tacit.audit(tmp_path / "tree.txt", data=PEOPLE, sa="ill")
    (tmp_path / "tree.txt.json").write_text('{"sa_values": ["flu", "no", "tbc > 2"]}')
    named = tacit.audit(tmp_path / "tree.txt", data=PEOPLE, sa="ill", k=5)
    assert named.verdict == tacit.audit(fitted(1), data=PEOPLE, sa="ill", k=5).verdict
    for wrong in (["flu", "no"], ["no", "flu", "tbc > 2"]):
        (tmp_path / "tree.txt.json").write_text(json.dumps({"sa_values": wrong}))
        with pytest.raises(InputError, match="class"):
            tacit.read_release(tmp_path / "tree.txt", sa="ill")


def regression() -> str:
    return str(export_text(DecisionTreeRegressor(max_depth=1).fit(X, PEOPLE["age"])))


def weighted() -> str:
    return str(export_text(DecisionTreeClassifier(class_weight="balanced", max_depth=2).fit(X, Y), show_weights=True))


def alike() -> str:
    tree = DecisionTreeClassifier().fit([[0.001], [0.0012], [0.0014]] * 3, ["a", "b", "a"] * 3)
    return str(export_text(tree, show_weights=True))


REFUSED: dict[str, tuple[Callable[[], str], str]] = {
    "no weights": (lambda: as_text(fitted(2), show_weights=False), r"4 leaves without numbers.*show_weights=True"),
    "cut off": (lambda: as_text(fitted(None), max_depth=2), r"line \d+: the tree is cut off.*max_depth"),
    "weights": (weighted, r"not whole numbers of people.*without weights"),
    "regression": (regression, "predicts numbers"),
    "alike": (alike, "printed alike.*decimals=6"),
    "shares": (lambda: as_graph(fitted(2), proportion=True), r"not whole numbers of people.*proportion=False"),
    "cut graph": (lambda: as_graph(fitted(None), max_depth=1), "the tree is cut off"),
    "one leaf short": (lambda: as_text(fitted(2)).rpartition("\n|   |--- ")[0], "not what scikit-learn prints"),
    "a line twice": (lambda: as_text(fitted(2)) + "|--- weights: [1.00, 2.00, 3.00] class: no\n", "not what scikit-learn prints"),
    "no second branch": (lambda: "".join(as_text(fitted(1)).splitlines(keepends=True)[:2]), "not what scikit-learn prints"),
    "an edge less": (lambda: as_graph(fitted(1)).replace("0 -> 2", "# 0 -> 2"), "not what scikit-learn prints"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_missing_is_said(case: str, tmp_path: Path) -> None:
    make, what = REFUSED[case]
    (tmp_path / "tree.txt").write_text(make())
    with pytest.raises((InputError, OptionError), match=what) as caught:
        tacit.read_release(tmp_path / "tree.txt", sa="ill")
    assert "tree.txt" in caught.value.where
