"""Boosted trees as releases of how many people are in each leaf.

A boosted tree is trained on all people, to correct the trees before it. It stores how many people are in each leaf, and no class counts, but
for the first one: there everybody weighs the same, so that counts of classes follow from the shares (AdaBoost) or from the step of each leaf
(gradient boosting with two classes). The steps of later leaves tell about classes as well, and are not used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from tacit.model.arrays import Floats, Ints
from tacit.model.errors import OptionError

_NEAR = 1e-6  #: Counts are computed from numbers in double precision; further from a whole number they are not counts.


@dataclass(frozen=True, slots=True, eq=False)
class Boosted:
    """Tree of a boosted model; ``classes`` are class counts by node, or None if they are not known."""

    tree: Any
    classes: Ints | None = None


def is_boosted(model: Any) -> bool:
    """Tell if a model is a fitted boosted classifier."""
    if not hasattr(model, "classes_"):
        return False
    return hasattr(model, "_predictors") or (hasattr(model, "estimators_") and (_is_adaptive(model) or hasattr(model, "init_")))


def _is_adaptive(model: Any) -> bool:
    return hasattr(model, "estimator_weights_")


def boosted_trees(model: Any, where: str) -> list[Boosted]:
    """Return the trees of a boosted model, in the order of training."""
    if getattr(model, "subsample", 1.0) < 1.0:
        remedy = "Train it with subsample=1.0; it is not known who was drawn for a tree"
        raise OptionError("was trained on draws of the people", where=where, remedy=remedy)
    if hasattr(model, "_predictors"):
        found = [Boosted(_of_nodes(one.nodes, where)) for group in model._predictors for one in group]
    else:
        found = list(_adaptive(model, where) if _is_adaptive(model) else _gradient(model, where))
    if len({int(one.tree.n_node_samples[0]) for one in found}) > 1:
        remedy = "Train it without weights of 0"
        raise OptionError("its trees were trained on other numbers of people", where=where, remedy=remedy)
    return found


def _adaptive(model: Any, where: str) -> Iterator[Boosted]:
    for place, one in enumerate(model.estimators_):
        tree = getattr(one, "tree_", None)
        if tree is None:
            raise OptionError("boosts models that are not trees", where=where, remedy="Give a model that boosts decision trees")
        people = np.asarray(tree.n_node_samples, np.int64)
        values = np.asarray(tree.value, float)[:, 0, :]
        weights = np.asarray(tree.weighted_n_node_samples, float)
        is_plain = place == 0 and len(model.classes_) == values.shape[1] and np.allclose(weights / weights[0] * people[0], people)
        shares = values / np.maximum(values.sum(axis=1, keepdims=True), 1e-300)
        yield Boosted(_without_weights(tree), _whole(shares * people[:, None], people) if is_plain else None)


def _gradient(model: Any, where: str) -> Iterator[Boosted]:
    prior = getattr(model.init_, "class_prior_", None)
    is_plain = model.loss == "log_loss" and getattr(model.init_, "strategy", "") == "prior"
    share = float(prior[1]) if is_plain and prior is not None and len(prior) == 2 else None
    for one in np.asarray(model.estimators_).ravel().tolist():
        tree = one.tree_
        if not np.array_equal(tree.weighted_n_node_samples, tree.n_node_samples):
            remedy = "Train it without sample_weight; a weighted count says nothing about whole people"
            raise OptionError("was trained with weights", where=where, remedy=remedy)
        classes = None
        if share is not None:
            # The step of a leaf is the sum of y - p over the sum of p (1 - p), for the share p of the second class among all.
            people = np.asarray(tree.n_node_samples, np.int64)
            steps = np.asarray(tree.value, float)[:, 0, 0]
            second = people * (share + steps * share * (1 - share))
            leaves = np.asarray(tree.children_left) < 0
            second = np.where(leaves, second, 0.0)
            classes = _whole(np.column_stack((np.where(leaves, people - second, 0.0), second)), np.where(leaves, people, 0))
        share = None
        yield Boosted(tree, classes)


def _whole(counts: Floats, people: Ints) -> Ints | None:
    """Return counts by class if they are whole numbers that add up, else None."""
    whole = np.rint(counts).astype(np.int64)
    is_whole = np.abs(counts - whole).max(initial=0.0) <= _NEAR * max(1.0, float(people.max(initial=1)))
    return whole if is_whole and (whole >= 0).all() and (whole.sum(axis=1) == people).all() else None


def _without_weights(tree: Any) -> Any:
    """Return the arrays of a tree whose weights are not those of people."""
    names = ("children_left", "children_right", "feature", "threshold", "n_node_samples", "n_outputs")
    return SimpleNamespace(**{name: getattr(tree, name) for name in names}, weighted_n_node_samples=tree.n_node_samples)


def _of_nodes(nodes: Any, where: str) -> Any:
    """Return the nodes of a tree on histograms as arrays of a tree."""
    if nodes["is_categorical"].any():
        remedy = "Train it on columns of 0 and 1 and on numbers"
        raise OptionError("asks for categories by their codes", where=where, remedy=remedy)
    is_leaf = nodes["is_leaf"].astype(bool)
    people = nodes["count"].astype(np.int64)
    return SimpleNamespace(
        children_left=np.where(is_leaf, -1, nodes["left"].astype(np.int64)),
        children_right=np.where(is_leaf, -1, nodes["right"].astype(np.int64)),
        feature=nodes["feature_idx"].astype(np.int64),
        threshold=nodes["num_threshold"].astype(float),
        n_node_samples=people,
        weighted_n_node_samples=people,
        n_outputs=1,
    )
