"""Decision trees and forests as releases of class counts by leaf.

A path to a leaf asks for the presence of some values; for a column that is one value that a person has, or values that they do not have.
The leaf becomes one rule for each class, with exact counts, whose antecedent holds the value or a group of values with a name such as
``not clerk``. A path also asks if numbers are up to a threshold. All thresholds of a column cut it into intervals, which are its values, and
a path asks for a group of them with a name such as ``over 30.5``.

A tree of a forest is about all people, or about those whom chance drew for it, some of them several times. Such a tree says how many of the
people drawn are in each leaf. How many have each class it says of leaves with one class; of others, how often people of each class were drawn.
Boosted trees say how many people are in each leaf (:mod:`tacit.files.boosting`).

Nothing of scikit-learn is imported: the arrays of a fitted tree are enough.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.files.boosting import Boosted, boosted_trees, is_boosted
from tacit.files.frames import texts_of
from tacit.files.names import pair_of
from tacit.model.arrays import Ints
from tacit.model.cuts import Cut, interval_name
from tacit.model.errors import OptionError
from tacit.model.release import Header, Items, Rules, Sets, ValueGroup, common_cuts
from tacit.model.table import Names, column_names

_LEAF = -1
_NEAR = 1e-6  #: Counts are computed from shares in double precision; further from a whole number they are not counts.
_TREE = "Give a fitted sklearn.tree.DecisionTreeClassifier"
_FOREST = "Give a fitted RandomForestClassifier, ExtraTreesClassifier or boosted classifier of sklearn.ensemble"


@dataclass(frozen=True, slots=True)
class Feature:
    """Column of the training data: 1 for people with a value of a column, or a number where there is no value.

    ``every`` are all values that the column has, where an encoder learnt them from the data.
    """

    column: str
    value: str | None = None
    every: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """Conditions of a path on one column: the value, values that are not, or the ends of an interval."""

    has: str | None = None
    lacks: tuple[str, ...] = ()
    low: float = -math.inf
    high: float = math.inf


Path = dict[str, Asked]


def read_tree(clf: Any, *, features: Sequence[str] | None = None, sa: str = "class", columns: Names = ()) -> Rules:
    """Return a fitted tree as a release of its leaves with class counts.

    Parameters
    ----------
    clf
        A fitted ``DecisionTreeClassifier`` of scikit-learn, trained without weights and without missing numbers; or a ``Pipeline`` that ends
        with one, after a ``OneHotEncoder`` or a ``ColumnTransformer`` that encodes some columns so and passes the others through.
    features
        The names of the columns that the tree was trained on, as it knows them itself where it was fitted on a frame. ``"column=value"`` is 1
        for people with this value; other columns hold numbers.
    sa
        The name of the sensitive column, which the tree predicts.
    columns
        The columns of the data before they were encoded. A feature ``job_clerk`` is then read as the value ``clerk`` of the column ``job``.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> import tacit
    >>> tree = DecisionTreeClassifier(random_state=0).fit([[1, 30], [1, 40], [0, 30], [0, 40]], ["ill", "ill", "ill", "well"])
    >>> leaves = tacit.read_tree(tree, features=["sex=F", "age"], sa="health")
    >>> [(line["antecedent"], line["count"]) for line in leaves.records() if line["consequent"] == "ill"]
    [({'age': 'up to 35'}, 2), ({'age': 'over 35', 'sex': 'not F'}, 0), ({'age': 'over 35', 'sex': 'F'}, 1)]
    """
    model, meant = _features(clf, features, columns, "read_tree")
    return _leaves_of(model, meant, sa, "read_tree")


def read_forest(clf: Any, *, features: Sequence[str] | None = None, sa: str = "class", columns: Names = ()) -> tuple[Rules, ...]:
    """Return the trees of a fitted forest, or of a boosted model, as releases, one each.

    Trees that were trained on all people are about the same people. Those of a forest with ``bootstrap=True``, the default of
    ``RandomForestClassifier``, are each about the people whom chance drew for it; audit them with ``people=tacit.Unknown()``.

    Parameters
    ----------
    clf
        A fitted ``RandomForestClassifier``, ``ExtraTreesClassifier``, ``GradientBoostingClassifier``, ``HistGradientBoostingClassifier`` or
        ``AdaBoostClassifier`` of scikit-learn, trained without weights and without missing numbers; or a ``Pipeline`` that ends with one.
        Boosted trees tell how many people are in each leaf, and classes only for the first one (:mod:`tacit.files.boosting`).
    features, sa, columns
        As for :func:`read_tree`.

    Examples
    --------
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> import tacit
    >>> clf = ExtraTreesClassifier(2, random_state=0).fit([[1], [1], [0], [0]], ["ill", "ill", "ill", "well"])
    >>> [(len(tree), tree.n) for tree in tacit.read_forest(clf, features=["sex=F"], sa="health")]
    [(4, 4), (4, 4)]
    """
    model, meant = _features(clf, features, columns, "read_forest")
    if not is_forest(model):
        raise OptionError("is not a fitted forest for classes", where="read_forest", remedy=_FOREST)
    classes = np.asarray(model.classes_)
    if is_boosted(model):
        boosted = enumerate(boosted_trees(model, "read_forest"), 1)
        return common_cuts(_boosted_leaves(one, meant, sa, f"tree {number}", classes=classes) for number, one in boosted)
    if getattr(model, "class_weight", None) is not None or not _are_draws(model):
        remedy = "Train it without sample_weight and class_weight; a weighted count says nothing about whole people"
        raise OptionError("was trained with weights", where="read_forest", remedy=remedy)
    # The trees of a forest predict numbers of classes.
    trees = enumerate(model.estimators_, 1)
    return common_cuts(
        _leaves_of(one, meant, sa, f"tree {number}", classes=classes, drawn=bool(model.bootstrap)) for number, one in trees
    )


def _are_draws(model: Any) -> bool:
    """Tell if weights of a forest can be numbers of draws: as many for each tree."""
    totals = {float(one.tree_.weighted_n_node_samples[0]) for one in model.estimators_}
    wanted = getattr(model, "_n_samples_bootstrap", None)
    return not model.bootstrap or (len(totals) == 1 and (wanted is None or totals == {float(wanted)}))


def is_tree(model: Any) -> bool:
    """Tell if a model is a fitted tree, or a pipeline that ends with one."""
    return hasattr(_last(model), "tree_")


def is_forest(model: Any) -> bool:
    """Tell if a model is a fitted forest or boosted model for classes, or a pipeline that ends with one."""
    last = _last(model)
    if is_boosted(last):
        return True
    trees = getattr(last, "estimators_", None)
    return isinstance(trees, list) and hasattr(last, "bootstrap") and all(hasattr(one, "tree_") for one in trees)


def is_drawn(model: Any) -> bool:
    """Tell if every tree of a forest is about people whom chance drew."""
    return bool(getattr(_last(model), "bootstrap", False))


def _last(model: Any) -> Any:
    steps = getattr(model, "steps", None)
    return steps[-1][1] if isinstance(steps, list) and steps else model


# Features


def _features(clf: Any, names: Sequence[str] | None, columns: Names, where: str) -> tuple[Any, list[Feature]]:
    """Return the model without its pipeline, and the meaning of its columns."""
    model = _last(clf)
    if not is_tree(model) and not is_forest(model):
        kind = "forest" if where == "read_forest" else "decision tree"
        raise OptionError(f"is not a fitted {kind} for classes", where=where, remedy=_FOREST if kind == "forest" else _TREE)
    encoded = None if model is clf or names is not None else _encoded([step for _, step in clf.steps[:-1]], where)
    if encoded is not None:
        return model, encoded
    if names is None:
        names = getattr(model, "feature_names_in_", None)
    if names is None:
        remedy = "Name them with features=[..], or fit the model on a frame"
        raise OptionError("does not say what its columns are called", where=where, remedy=remedy)
    texts = [str(name) for name in names]
    wanted = int(model.n_features_in_)
    if len(texts) != wanted or len(set(texts)) < len(texts):
        remedy = f"Name the {wanted} columns that the tree was trained on, each once, in their order"
        raise OptionError(f"holds {len(texts)} names", where="features", remedy=remedy)
    return model, _meanings(texts, columns)


def _meanings(names: Sequence[str], columns: Names) -> list[Feature]:
    """Return the meaning of features by their names."""
    known = column_names(columns, ())
    meant = [_feature(name, known) for name in names]
    numbers = {one.column for one in meant if one.value is None}
    if any(one.column in numbers for one in meant if one.value is not None):
        remedy = "Name the features with features=[..], those of 0 and 1 as column=value"
        raise OptionError("a column is both a number and a set of values", where="features", remedy=remedy)
    return meant


def _feature(name: str, columns: Sequence[str]) -> Feature:
    if name in columns:
        return Feature(name)
    column, equals, value = name.partition("=")
    pair = (column, value) if equals else pair_of(name, columns, longest=True)
    return Feature(name) if pair is None else Feature(*pair)


def _encoded(steps: Sequence[Any], where: str) -> list[Feature] | None:
    """Return the features that steps before the model make; None where there are none."""
    if not steps:
        return None
    if len(steps) > 1:
        raise _unknown_step(" and ".join(type(step).__name__ for step in steps), where)
    step = steps[0]
    if hasattr(step, "transformers_"):
        names = list(step.feature_names_in_) if hasattr(step, "feature_names_in_") else None
        found: list[Feature] = []
        for _, inner, chosen in step.transformers_:
            called = [_called(one, names, where) for one in _places(chosen, names, where)]
            found += [] if inner == "drop" or not called else _made_by(inner, called, where)
        return found
    if not hasattr(step, "feature_names_in_"):
        raise OptionError("was fitted without names of columns", where=where, remedy="Fit the pipeline on a frame")
    return _made_by(step, [str(name) for name in step.feature_names_in_], where)


def _places(chosen: Any, names: list[Any] | None, where: str) -> list[Any]:
    """Return the columns of a step, as names or numbers."""
    if isinstance(chosen, slice):
        if isinstance(chosen.start, str) or isinstance(chosen.stop, str):
            raise OptionError("chooses columns from one name to another", where=where, remedy="Fit it with a list of names")
        return list(names or ())[chosen]
    listed = [chosen] if isinstance(chosen, str) else list(chosen)
    if listed and isinstance(listed[0], (bool, np.bool_)):
        return [place for place, is_chosen in enumerate(listed) if is_chosen]
    return listed


def _called(one: Any, names: list[Any] | None, where: str) -> str:
    if isinstance(one, str):
        return one
    if names is None:
        raise OptionError("was fitted without names of columns", where=where, remedy="Fit the pipeline on a frame")
    return str(names[one])


def _made_by(step: Any, names: Sequence[str], where: str) -> list[Feature]:
    """Return the features that one step makes of these columns."""
    kind = type(step).__name__
    is_whole = step == "passthrough" or (kind == "FunctionTransformer" and step.func is None)
    if is_whole:
        return [Feature(name) for name in names]
    infrequent = getattr(step, "infrequent_categories_", None) if kind == "OneHotEncoder" else None
    if kind != "OneHotEncoder" or any(one is not None for one in infrequent or ()):
        raise _unknown_step(kind, where)
    # Given categories may leave values of the data out, unless these are refused.
    is_complete = isinstance(step.categories, str) or step.handle_unknown == "error"
    dropped = step.drop_idx_ if step.drop_idx_ is not None else [None] * len(names)
    found = []
    for name, values, left_out in zip(names, step.categories_, dropped, strict=True):
        texts = texts_of(values.tolist(), name, where=where)
        every = tuple(texts) if is_complete else ()
        found += [Feature(name, text, every) for place, text in enumerate(texts) if place != left_out]
    return found


def _unknown_step(kind: str, where: str) -> OptionError:
    what = f"the step {kind} changes values before the tree, so its thresholds are not those of the data"
    return OptionError(what, where=where, remedy="Give the last step, and name its columns with features=[..]")


# Leaves


def _leaves_of(clf: Any, features: Sequence[Feature], sa: str, where: str, *, classes: Any = None, drawn: bool = False) -> Rules:
    """Return the leaves of one tree; with ``drawn``, of the people whom chance drew."""
    tree = getattr(clf, "tree_", None)
    named = getattr(clf, "classes_", None) if classes is None else classes
    if tree is None or named is None:
        raise OptionError("is not a fitted decision tree for classes", where=where, remedy=_TREE)
    return _leaves_with_counts(tree, features, sa, where, classes=named, drawn=drawn)


def leaves_of_arrays(tree: Any, names: Sequence[str], classes: Sequence[str], *, sa: str, columns: Names, where: str) -> Rules:
    """Return the leaves of a tree that is given as the arrays of a fitted one, with the names of its features."""
    return _leaves_with_counts(tree, _meanings(names, columns), sa, where, classes=classes)


def _leaves_with_counts(
    tree: Any, features: Sequence[Feature], sa: str, where: str, *, classes: Any, drawn: bool = False
) -> Rules:
    if tree.n_outputs != 1:
        raise OptionError("predicts several columns at once", where=where, remedy="Train a tree for each of them")
    is_weighted = not np.array_equal(tree.weighted_n_node_samples, tree.n_node_samples)
    if is_weighted and not (drawn and np.array_equal(np.rint(tree.weighted_n_node_samples), tree.weighted_n_node_samples)):
        remedy = "Train it without sample_weight and class_weight; a weighted count says nothing about whole people"
        raise OptionError("was trained with weights", where=where, remedy=remedy)
    texts = texts_of(np.asarray(classes).tolist(), sa, where=where)
    if len(set(texts)) < len(texts):
        raise OptionError("two of its classes read the same", where=where, remedy="Train it on texts as classes")
    leaves, header = _leaves_and_header(tree, features, sa, texts, where)
    nodes = [node for node, _ in leaves]
    times = _class_counts(tree, where)[nodes]
    people = np.asarray(tree.n_node_samples, np.int64)[nodes]
    lo, hi = (times, times) if not is_weighted else _people_drawn(times, people)
    return _rules([path for _, path in leaves], lo, hi, people, header)


def _boosted_leaves(one: Boosted, features: Sequence[Feature], sa: str, where: str, *, classes: Any) -> Rules:
    """Return the leaves of a boosted tree, of whose classes little may be known."""
    texts = texts_of(np.asarray(classes).tolist(), sa, where=where)
    leaves, header = _leaves_and_header(one.tree, features, sa, texts, where)
    nodes = [node for node, _ in leaves]
    people = np.asarray(one.tree.n_node_samples, np.int64)[nodes]
    every = np.repeat(people[:, None], len(texts), axis=1)
    lo, hi = (np.zeros_like(every), every) if one.classes is None else (one.classes[nodes], one.classes[nodes])
    return _rules([path for _, path in leaves], lo, hi, people, header)


def _leaves_and_header(
    tree: Any, features: Sequence[Feature], sa: str, classes: Sequence[str], where: str
) -> tuple[list[tuple[int, Path]], Header]:
    leaves = list(_paths(tree, features, where))
    columns = dict.fromkeys(one.column for one in features if one.value is not None)
    columns |= dict.fromkeys(column for _, path in leaves for column in path)
    if sa in columns:
        raise OptionError("is a column that the tree asks for", where="sa", remedy="Name the column that it predicts")
    order = [column for column in dict.fromkeys(one.column for one in features) if column in columns]
    every = {one.column: one.every for one in features if one.every and one.column in columns}
    header = Header(n=int(tree.n_node_samples[0]), qi=tuple(order), sa=(sa,), sa_values=tuple(classes))
    return leaves, replace(header, all_values=tuple(every.items()))


def _class_counts(tree: Any, where: str) -> npt.NDArray[np.int64]:
    """Return the class counts of each node: older versions of the library keep counts, newer ones shares."""
    values = np.asarray(tree.value, float)[:, 0, :]
    people = np.asarray(tree.weighted_n_node_samples, float)[:, None]
    counts = values * people / np.maximum(values.sum(axis=1, keepdims=True), 1e-300)
    whole = np.rint(counts)
    if np.abs(counts - whole).max(initial=0.0) > _NEAR * max(1.0, float(people.max())):
        raise OptionError("its class counts are not whole numbers", where=where, remedy="Train it without weights")
    return np.asarray(whole, np.int64)


def _people_drawn(times: Ints, people: Ints) -> tuple[Ints, Ints]:
    """Bound the people of each class in a leaf, from how often people were drawn and how many they are."""
    there = times > 0
    others = there.sum(axis=1, keepdims=True) - there
    rest = times.sum(axis=1, keepdims=True) - times
    lo = np.maximum(there.astype(np.int64), people[:, None] - rest)
    hi = np.minimum(times, people[:, None] - others)
    return np.where(there, lo, 0), np.where(there, hi, 0)


def _paths(tree: Any, features: Sequence[Feature], where: str) -> Iterator[tuple[int, Path]]:
    """Yield every leaf with its path, left to right."""
    waiting: list[tuple[int, Path]] = [(0, {})]
    while waiting:
        node, path = waiting.pop()
        left = int(tree.children_left[node])
        right = int(tree.children_right[node])
        if left == _LEAF:
            yield node, path
            continue
        number = int(tree.feature[node])
        bar = float(tree.threshold[node])
        feature = features[number]
        asked = path.get(feature.column, Asked())
        if not math.isfinite(bar):
            remedy = "Train it on numbers that are all there"
            raise OptionError(f"asks if feature {number} is missing", where=where, remedy=remedy)
        if feature.value is None:
            if not asked.low < bar < asked.high:
                remedy = "Print it with more digits: export_text(.., decimals=6), or export_graphviz(.., precision=6)"
                raise OptionError("two thresholds of one column are printed alike", where=where, remedy=remedy)
            waiting.append((right, path | {feature.column: replace(asked, low=max(asked.low, bar))}))
            waiting.append((left, path | {feature.column: replace(asked, high=min(asked.high, bar))}))
            continue
        if not 0 <= bar < 1:
            what = f"the tree asks for the size of feature {number}"
            raise OptionError(
                what, where="features", remedy="Name columns of 0 and 1 column=value, and columns of numbers otherwise"
            )
        if asked.has not in (None, feature.value):  # two values of one column: only people of several rows could be there
            raise OptionError("a leaf asks for two values of one column", where=where, remedy="Train it on one-hot columns")
        waiting.append((right, path | {feature.column: replace(asked, has=feature.value)}))
        waiting.append((left, path | {feature.column: replace(asked, lacks=(*asked.lacks, feature.value))}))


def _cuts(paths: Iterable[Path]) -> dict[str, Cut]:
    """Return the columns of numbers, cut at all ends of their intervals."""
    ends: dict[str, set[float]] = {}
    for path in paths:
        for column, asked in path.items():
            ends.setdefault(column, set()).update(end for end in (asked.low, asked.high) if math.isfinite(end))
    return {column: Cut(column, tuple(sorted(found))) for column, found in ends.items() if found}


def _rules(paths: Sequence[Path], lo: Ints, hi: Ints, people: Ints, header: Header) -> Rules:
    """Return one rule for each leaf and class."""
    cuts = _cuts(paths)
    groups: dict[tuple[str, str], ValueGroup] = {}
    plain: set[tuple[str, str]] = set()
    sides: list[list[tuple[str, str]]] = []
    for path in paths:
        side = []
        for column, asked in path.items():
            group = _group(column, asked, cuts)
            if group.values == (group.name,) and not group.excluded:
                plain.add((column, group.name))
            else:
                groups[column, group.name] = group
            side.append((column, group.name))
        sides.append(side)
    if plain & set(groups):
        raise OptionError("a value is named 'not ..' as if it were several", where="features", remedy="Rename the value")
    pairs = list(dict.fromkeys(pair for side in sides for pair in side))
    number = {pair: place for place, pair in enumerate(pairs)}
    sensitive = [(header.sa[0], value) for value in header.sa_values]
    n_values = len(sensitive)
    wholes = people.repeat(n_values)
    return Rules(
        Sets.from_lists([number[pair] for pair in side] for side in sides for _ in range(n_values)),
        Sets.from_lists([len(pairs) + value] for _ in sides for value in range(n_values)),
        lo.reshape(-1),
        hi.reshape(-1),
        whole_lo=wholes,
        whole_hi=wholes,
        items=Items.of_columns([*pairs, *sensitive]),
        header=replace(header, groups=tuple(groups.values()), cuts=tuple(cuts.values())),
    )


def _group(column: str, asked: Asked, cuts: Mapping[str, Cut]) -> ValueGroup:
    """Return the values that a path allows in a column; one of them is a group, too."""
    if column in cuts:
        values = cuts[column].between(asked.low, asked.high)
        return ValueGroup(column, interval_name(asked.low, asked.high), values)
    if asked.has is not None:
        return ValueGroup(column, asked.has, (asked.has,))
    return ValueGroup(column, f"not {', '.join(sorted(asked.lacks))}", tuple(sorted(asked.lacks)), excluded=True)
