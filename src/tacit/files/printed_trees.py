"""Decision trees as scikit-learn prints them: ``export_text`` with weights, and ``export_graphviz``.

The text is turned into the arrays of a fitted tree, which :mod:`tacit.files.trees` reads. The counts of a leaf are in the order of the
classes; the class that a leaf predicts is the first with most people, and gives it its name. Classes that no leaf predicts get a name.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

import numpy as np

from tacit.files.disk import Input
from tacit.files.header import read_header
from tacit.files.trees import leaves_of_arrays
from tacit.model.errors import InputError
from tacit.model.release import Rules
from tacit.model.table import Names, column_names

_PRINTED_LINE = re.compile(r"(?P<before>(?:\| *)*)\|-+ ?(?P<text>.*)")
_QUESTION = re.compile(r"(?P<feature>.+) (?P<sign><=|>) +(?P<bar>-?\d+(?:\.\d*)?(?:e[+-]?\d+)?)")
_LEAF = re.compile(r"weights: \[(?P<counts>[^\]]*)\] class: ?(?P<name>.*)")
_LEAVES = ("weights: [", "class:", "value:", "truncated branch")
_VALUES = re.compile(r"value = \[([^\]]*)\]")
_NODE = re.compile(r"(?P<number>\d+) \[label=(?:\"(?P<plain>.*?)\"|<(?P<marked>.*)>)(?:, fillcolor=\"[^\"]*\")?\] ;")
_EDGE = re.compile(r"(?P<parent>\d+) -> (?P<child>\d+)\b.*")
_PRINT_COUNTS = "Print it with export_text(.., show_weights=True), or export_graphviz(.., proportion=False)"
_MOST = 2**49  #: Bound on the number of people.


@dataclass(slots=True)
class _Node:
    """Node as it is printed: its question or its class counts, and its line."""

    line: int
    feature: str | None = None
    bar: float = 0.0
    counts: tuple[int, ...] = ()
    name: str | None = None
    children: list[int] = field(default_factory=list)


def read_printed_tree(file: Input, *, sa: str = "class", columns: Names = ()) -> Rules:
    """Read the text of a tree; ``columns`` are those of the data before they were encoded."""
    with file.open_text() as stream:
        lines = stream.read().splitlines()
    nodes = _read_graph(lines, file.name) if lines[0].startswith("digraph") else _read_text(lines, file.name)
    leaves = [node for node in nodes if not node.children]
    if len({len(node.counts) for node in leaves}) != 1:
        raise InputError("its leaves have different numbers of classes", where=file.name, remedy=_PRINT_COUNTS)
    if len(leaves) > 1 and all(sum(node.counts) == 1 for node in leaves):
        raise InputError("its leaves seem to hold shares, not counts", where=file.name, remedy=_PRINT_COUNTS)
    known = read_header(file).header.sa_values
    classes, made_up = _class_names([node for node in nodes if node.counts], known, file)
    if made_up and columns:
        what = f"does not name {len(made_up)} of its {len(classes)} classes, since no leaf predicts them"
        remedy = f'Name all classes in their order in {file.beside.name}: {{"sa_values": [..]}}'
        raise InputError(what, where=file.name, remedy=remedy)
    names = list(dict.fromkeys(node.feature for node in nodes if node.feature is not None))
    release = leaves_of_arrays(_Arrays.of(nodes, names), names, classes, sa=sa, columns=columns, where=file.name)
    assumed = ["The counts of the leaves are taken to be numbers of people, of a tree that was trained without weights."]
    assumed.append("Lines are these counts, numbered from the top.")
    if release.header.cuts:
        assumed.append("Thresholds are taken to be exact as printed.")
    if made_up:
        assumed.append(f"Classes that no leaf predicts are not named in the text; here they are called {', '.join(made_up)}.")
    return replace(
        release,
        header=replace(release.header, assumed=tuple(assumed)),
        lines=np.arange(1, len(release) + 1),
        source=replace(file.source, options={"columns": list(column_names(columns, ()))} if columns else {}),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Arrays:
    """Arrays of a fitted tree, under the names of scikit-learn."""

    children_left: Sequence[int]
    children_right: Sequence[int]
    feature: Sequence[int]
    threshold: Sequence[float]
    value: np.ndarray[tuple[int, int, int], np.dtype[np.float64]]
    n_node_samples: np.ndarray[tuple[int], np.dtype[np.int64]]
    n_outputs: int = 1

    @property
    def weighted_n_node_samples(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Numbers of people: there are no weights."""
        return self.n_node_samples

    @classmethod
    def of(cls, nodes: Sequence[_Node], names: Sequence[str]) -> _Arrays:
        """Number the features, and add up the leaves from below."""
        n_classes = max(len(node.counts) for node in nodes)
        counts = np.zeros((len(nodes), n_classes), np.int64)
        for number in range(len(nodes) - 1, -1, -1):  # children stand behind their parents
            node = nodes[number]
            counts[number] = sum(counts[child] for child in node.children) if node.children else node.counts
        return cls(
            children_left=[node.children[0] if node.children else -1 for node in nodes],
            children_right=[node.children[1] if node.children else -1 for node in nodes],
            feature=[-2 if node.feature is None else names.index(node.feature) for node in nodes],
            threshold=[node.bar for node in nodes],
            value=counts[:, None, :].astype(np.float64),
            n_node_samples=counts.sum(axis=1),
        )


def _class_names(nodes: Sequence[_Node], known: Sequence[str], file: Input) -> tuple[list[str], list[str]]:
    """Return the names of the classes, known or printed, and those of them that are made up."""
    n_classes = len(nodes[0].counts)
    found = dict(enumerate(known))
    if known and len(known) != n_classes:
        what = f"names {len(known)} values, and the tree has {n_classes} classes"
        raise InputError(what, where=f"{file.beside.name}, key 'sa_values'", remedy="Name all classes in their order")
    for node in nodes:
        if node.name is not None:
            number = node.counts.index(max(node.counts))
            if found.setdefault(number, node.name) != node.name:
                place = f"{file.name}, line {node.line}"
                raise InputError("names a class otherwise than another place", where=place, remedy="Correct one of them")
    made_up = {number: f"class {number + 1} of {n_classes}" for number in range(n_classes) if number not in found}
    return [found.get(number) or made_up[number] for number in range(n_classes)], list(made_up.values())


def _read_counts(text: str, place: str) -> tuple[int, ...]:
    """Return class counts; raise if they are not whole numbers of people."""
    counts = []
    for one in text.split(","):
        whole, _, rest = one.strip().partition(".")
        if not whole.isdecimal() or rest.strip("0") or int(whole) >= _MOST:
            remedy = f"{_PRINT_COUNTS}, of a tree that was trained without weights"
            raise InputError("its numbers are not whole numbers of people", where=place, remedy=remedy)
        counts.append(int(whole))
    return tuple(counts)


def _unreadable(place: str) -> NoReturn:
    remedy = "Print the tree again, or audit it in Python with tacit.read_tree(tree, features=.., sa=..)"
    raise InputError("is not what scikit-learn prints of a decision tree here", where=place, remedy=remedy)


# export_text


@dataclass(slots=True)
class _Open:
    """Question above the current line; ``is_turned`` if its second branch has begun."""

    node: _Node
    is_turned: bool = False


def _read_text(lines: Sequence[str], where: str) -> list[_Node]:
    nodes: list[_Node] = []
    above: list[_Open] = []
    for line, text in enumerate(lines, 1):
        place = f"{where}, line {line}"
        printed = _PRINTED_LINE.fullmatch(text.rstrip())
        if printed is None:
            if text.strip():
                _unreadable(place)
            continue
        depth = printed["before"].count("|")
        is_leaf = printed["text"].startswith(_LEAVES)
        asked = None if is_leaf else _QUESTION.fullmatch(printed["text"])
        if asked is not None and asked["sign"] == ">":
            _turn(above, depth, asked, place)
            continue
        if depth != len(above) or (nodes and not above):
            _unreadable(place)
        if asked is not None:
            node = _Node(line, asked["feature"], float(asked["bar"]))
        else:
            counts, name = _read_leaf(printed["text"], lines, place, where)
            node = _Node(line, counts=counts, name=name)
        if above:
            if len(above[-1].node.children) != above[-1].is_turned:
                _unreadable(place)
            above[-1].node.children.append(len(nodes))
        nodes.append(node)
        if asked is not None:
            above.append(_Open(node))
        while above and len(above[-1].node.children) == 2 and asked is None:
            above.pop()
    if above or not nodes:
        _unreadable(f"{where}, line {len(lines)}")
    return nodes


def _turn(above: Sequence[_Open], depth: int, asked: re.Match[str], place: str) -> None:
    """Begin the second branch of the innermost question."""
    if not above or depth != len(above) - 1:
        _unreadable(place)
    last = above[-1]
    if (
        last.is_turned
        or len(last.node.children) != 1
        or (last.node.feature, last.node.bar) != (asked["feature"], float(asked["bar"]))
    ):
        _unreadable(place)
    last.is_turned = True


def _read_leaf(text: str, lines: Sequence[str], place: str, where: str) -> tuple[tuple[int, ...], str]:
    if text.startswith("truncated branch"):
        remedy = "Print it with export_text(.., max_depth=1000)"
        raise InputError("the tree is cut off below this line, so that leaves are missing", where=place, remedy=remedy)
    if text.startswith("class:"):
        leaves = sum("- class:" in line for line in lines)
        what = f"is a decision tree of {leaves:,} leaves without numbers of people, so that nothing can be counted in it"
        raise InputError(what, where=where, remedy="Print it with export_text(.., show_weights=True)")
    if text.startswith("value:"):
        raise InputError("is a tree that predicts numbers, which has no classes", where=where, remedy="Give a tree for classes")
    leaf = _LEAF.fullmatch(text)
    if leaf is None:
        _unreadable(place)
    return _read_counts(leaf["counts"], place), leaf["name"].strip()


# export_graphviz


def _read_graph(lines: Sequence[str], where: str) -> list[_Node]:
    nodes: list[_Node] = []
    for line, text in enumerate(lines, 1):
        place = f"{where}, line {line}"
        if edge := _EDGE.fullmatch(text):
            parent = int(edge["parent"])
            child = int(edge["child"])
            if not parent < child == len(nodes) - 1 or len(nodes[parent].children) == 2:
                _unreadable(place)
            nodes[parent].children.append(child)
        elif found := _NODE.fullmatch(text):
            if int(found["number"]) != len(nodes):
                _unreadable(place)
            nodes.append(_read_node(found, line, place))
        elif text[:1].isdecimal():
            _unreadable(place)
    is_child = [number for node in nodes for number in node.children]
    if not nodes or sorted(is_child) != list(range(1, len(nodes))):
        _unreadable(where)
    for node in nodes:
        if len(node.children) != (0 if node.feature is None else 2):
            _unreadable(f"{where}, line {node.line}")
    return nodes


def _read_node(found: re.Match[str], line: int, place: str) -> _Node:
    if found["plain"] is not None:
        label = found["plain"].replace("\\n", "\n").replace('\\"', '"')
    else:
        label = html.unescape(re.sub(r"<SUB>(.*?)</SUB>", r"[\1]", found["marked"].replace("<br/>", "\n"))).replace("≤", "<=")
    parts = label.split("\n")
    if parts == ["(...)"]:
        remedy = "Print it with export_graphviz(.., max_depth=None)"
        raise InputError("the tree is cut off here, so that leaves are missing", where=place, remedy=remedy)
    values = _VALUES.search(label)
    if values is None:
        raise InputError("has no class counts", where=place, remedy=_PRINT_COUNTS)
    node = _Node(line, counts=_read_counts(values[1].replace("\n", ","), place))
    for part in parts:
        if part.startswith("class = "):
            node.name = part.removeprefix("class = ")
        elif asked := _QUESTION.fullmatch(part):
            node.feature = asked["feature"]
            node.bar = float(asked["bar"])
    return node
