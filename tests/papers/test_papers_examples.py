"""Examples of single functions and types of ``tacit.papers``."""

from __future__ import annotations

from tacit.papers import reproduce
from tacit.papers.bench import Database, listed, pairs
from tacit.papers.li07 import Node, nodes
from tacit.papers.report import format_cell


def test_reproduce() -> None:
    made = reproduce("pmicd08")
    assert ([part.name for part in made.parts], len(made.left_out)) == (["worked-example"], 2)


def test_database_support() -> None:
    assert Database("ab a b").support("a", "b") == 1


def test_listed() -> None:
    assert listed({"ab": 2, "": 5, "b": 3}) == "{}:5 b:3 ab:2"


def test_pairs() -> None:
    assert pairs({("g", "fg"): 1}) == "g in fg: 1"


def test_nodes() -> None:
    assert ([node.pattern for node in nodes()][:3], next(node for node in nodes() if node.pattern == "bd")) == (
        ["abc", "abd", "ab"],
        Node(pattern="bd", having=3, both=2, least=1, exact=2),
    )


def test_format_cell() -> None:
    assert (format_cell(1258), format_cell(0.01234), format_cell(None)) == ("1,258", "0.0123", "")
