"""Decision trees as releases of class counts by leaf.

A path to a leaf asks for the presence of some values; for a column that is one value that a person has, or values that they do not have.
The leaf becomes one rule for each class, with exact counts, whose antecedent holds the value or a group of values with a name such as
``not clerk``. Nothing of scikit-learn is imported: the arrays of a fitted tree are enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import OptionError
from tacit.model.release import Header, Items, Rules, Sets, ValueGroup

_LEAF = -1
_NEAR = 1e-6  #: Counts are computed from shares in double precision; further from a whole number they are not counts.

#: What a path asks for: by column, the value that a person has (None: not asked), and those that they do not have.
Path = dict[str, tuple[str | None, tuple[str, ...]]]


def read_tree(clf: Any, *, features: Sequence[str], sa: str) -> Rules:
    """Return a fitted tree as a release of its leaves with class counts.

    Parameters
    ----------
    clf
        A fitted ``DecisionTreeClassifier`` of scikit-learn, trained without weights on columns of 0 and 1.
    features
        What each of these columns stands for, as ``"column=value"``.
    sa
        The name of the sensitive column, which the tree predicts.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> import tacit
    >>> tree = DecisionTreeClassifier(random_state=0).fit([[1], [1], [0], [0]], ["ill", "ill", "ill", "well"])
    >>> leaves = tacit.read_tree(tree, features=["sex=F"], sa="health")
    >>> [(line["antecedent"], line["consequent"], line["count"]) for line in leaves.records()]
    [({'sex': 'not F'}, 'ill', 1), ({'sex': 'not F'}, 'well', 1), ({'sex': 'F'}, 'ill', 2), ({'sex': 'F'}, 'well', 0)]
    """
    tree = getattr(clf, "tree_", None)
    if tree is None or getattr(clf, "classes_", None) is None:
        remedy = "Give a fitted sklearn.tree.DecisionTreeClassifier"
        raise OptionError("is not a fitted decision tree for classes", where="read_tree", remedy=remedy)
    if tree.n_outputs != 1:
        raise OptionError("predicts several columns at once", where="read_tree", remedy="Train a tree for each of them")
    if not np.array_equal(tree.weighted_n_node_samples, tree.n_node_samples):
        remedy = "Train it without sample_weight and class_weight; a weighted count says nothing about whole people"
        raise OptionError("was trained with weights", where="read_tree", remedy=remedy)
    classes = [str(one) for one in np.asarray(clf.classes_).tolist()]
    if len(features) != tree.n_features or len(set(features)) < len(features):
        remedy = f"Name the {tree.n_features} columns that the tree was trained on, each once, in their order"
        raise OptionError(f"holds {len(features)} names", where="features", remedy=remedy)
    if len(set(classes)) < len(classes):
        raise OptionError("two of its classes read the same", where="read_tree", remedy="Train it on texts as classes")
    counts = _class_counts(tree)
    leaves = list(_leaves(tree, features))
    columns = list(dict.fromkeys(feature.partition("=")[0] for feature in features))
    if sa in columns:
        raise OptionError("is a column that the tree asks for", where="sa", remedy="Name the column that it predicts")
    header = Header(n=int(tree.n_node_samples[0]), qi=tuple(columns), sa=(sa,), sa_values=tuple(classes))
    return _rules([path for _, path in leaves], counts[[node for node, _ in leaves]], header)


def _class_counts(tree: Any) -> npt.NDArray[np.int64]:
    """Return the class counts of each node: older versions of the library keep counts, newer ones shares."""
    values = np.asarray(tree.value, float)[:, 0, :]
    people = np.asarray(tree.n_node_samples, float)[:, None]
    counts = values * people / np.maximum(values.sum(axis=1, keepdims=True), 1e-300)
    whole = np.rint(counts)
    if np.abs(counts - whole).max(initial=0.0) > _NEAR * max(1.0, float(people.max())):
        raise OptionError("its class counts are not whole numbers", where="read_tree", remedy="Train it without weights")
    return np.asarray(whole, np.int64)


def _leaves(tree: Any, features: Sequence[str]) -> Iterator[tuple[int, Path]]:
    """Yield every leaf with its path, left to right."""
    waiting: list[tuple[int, Path]] = [(0, {})]
    while waiting:
        node, path = waiting.pop()
        left = int(tree.children_left[node])
        right = int(tree.children_right[node])
        if left == _LEAF:
            yield node, path
            continue
        column, equals, value = features[int(tree.feature[node])].partition("=")
        if not equals or not 0 <= float(tree.threshold[node]) < 1:
            what = f"the tree asks for the size of feature {int(tree.feature[node])}"
            raise OptionError(what, where="features", remedy="Train it on columns of 0 and 1, named column=value")
        has, lacks = path.get(column, (None, ()))
        if has not in (None, value):  # two values of one column: only people of several rows could be there
            raise OptionError("a leaf asks for two values of one column", where="read_tree", remedy="Train it on one-hot columns")
        waiting.append((right, path | {column: (value, lacks)}))
        waiting.append((left, path | {column: (has, (*lacks, value))}))


def _rules(paths: Sequence[Path], counts: npt.NDArray[np.int64], header: Header) -> Rules:
    """Return one rule for each leaf and class."""
    groups: dict[tuple[str, str], ValueGroup] = {}
    plain: set[tuple[str, str]] = set()
    sides: list[list[tuple[str, str]]] = []
    for path in paths:
        side = []
        for column, (has, lacks) in path.items():
            if has is None:
                name = f"not {', '.join(sorted(lacks))}"
                groups[column, name] = ValueGroup(column, name, tuple(sorted(lacks)), excluded=True)
            else:
                name = has
                plain.add((column, name))
            side.append((column, name))
        sides.append(side)
    if plain & set(groups):
        raise OptionError("a value is named 'not ..' as if it were several", where="features", remedy="Rename the value")
    pairs = list(dict.fromkeys(pair for side in sides for pair in side))
    number = {pair: place for place, pair in enumerate(pairs)}
    sensitive = [(header.sa[0], value) for value in header.sa_values]
    n_values = len(sensitive)
    both = counts.reshape(-1)
    wholes = counts.sum(axis=1).repeat(n_values)
    return Rules(
        Sets.from_lists([number[pair] for pair in side] for side in sides for _ in range(n_values)),
        Sets.from_lists([len(pairs) + value] for _ in sides for value in range(n_values)),
        both,
        both,
        wholes,
        wholes,
        Items.of_columns([*pairs, *sensitive]),
        Header(n=header.n, qi=header.qi, sa=header.sa, sa_values=header.sa_values, groups=tuple(groups.values())),
    )
