"""X01 on the papers' databases and on printed confidences: how many signed patterns are proved to be small, and which numbers fit."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.joint.cube import Cube
from tacit.joint.lower import lower
from tacit.joint.programs import Programs
from tacit.joint.worlds import Rows
from tacit.model.errors import Contradiction
from tacit.model.numbers import Rounding
from tacit.model.policy import Limits
from tacit.model.release import Decimals, Header, Items, Itemsets, Rules, Sets

#: Figure 1 of PMICD (WAIM 2008), and of k-Anonymous Patterns (PKDD 2005) as its published supports determine it.
PMICD = "abcd bcef abc cdef bef acd bcdf abcdef bcdef abcde"
PATTERNS = "abcdefgh abcdeg abcde abcdefg abcde abcde abde aefg cdefg cde cdefgh abfg"


@pytest.mark.parametrize(
    ("rows", "items", "least", "small"),
    [
        (PMICD, "abcdef", 4, 138),
        (PMICD, "abcdef", 6, 30),
        (PATTERNS, "abcdeg", 6, 102),
        (PATTERNS, "abcdefg", 8, 34),
    ],
)
def test_bounds_prove_as_many_small_patterns_as_an_integer_program(rows: str, items: str, least: int, small: int) -> None:
    """Of all signed patterns those that bounds leave open are refuted by worlds of whole people, every one."""
    baskets = tacit.read_transactions([sorted(set(row) & set(items)) for row in rows.split()])
    problem = lower([tacit.mine_itemsets(baskets, min_support=least)], tacit.Same())
    everything = tuple(range(len(problem.axes)))
    cube = Cube(problem, everything)
    cube.tighten(range(len(problem.lines)), lambda: None)
    proved = (cube.lo > 0) & (cube.hi < 3)
    open_groups = np.flatnonzero(~proved & (cube.hi > 0) & (cube.lo < 3))
    boxes = [cube.box(group) for group in open_groups.tolist()]
    settled = Programs(Rows.of(problem, everything), Limits(), boxes, 3)
    settled.settle()
    assert int(proved.sum()) + len(settled.proofs) == small
    assert int(settled.open.sum()) == 0


def with_confidence(rounding: Rounding) -> Rules:
    """80 people with x and y, and a confidence printed as 98.7 %; how many have x is not told."""
    sides = Sets.from_lists([[0]]), Sets.from_lists([[1]])
    both, few, many = np.array([80]), np.array([80]), np.array([2**40])
    shown = Decimals(np.array([987]), np.array([3], np.int8))
    return Rules(*sides, both, both, few, many, Items(("x", "y")), Header(n=200, rounding=rounding), confidence=shown)


def test_a_confidence_that_no_count_prints_as_is_a_contradiction() -> None:
    """80 of 81 is 98.77 %, which is 98.8 % rounded and 98.7 % cut off."""
    beside = Itemsets(Sets.from_lists([[0]]), np.array([9]), np.array([9]), Items(("z",)), Header(n=200))
    with pytest.raises(Contradiction, match="no people fit"):
        tacit.audit([with_confidence("nearest"), beside], people=tacit.Same(), attacks=["X01"])
    problem = lower([with_confidence("truncated"), beside], tacit.Same())
    cube = Cube(problem, tuple(range(len(problem.axes))))
    cube.tighten(range(len(problem.lines)), lambda: None)
    place = next(number for number, axis in enumerate(problem.axes) if axis.key.name == "x")
    group = cube.group({place: problem.axes[place].slots[0]})
    assert group is not None
    assert (int(cube.lo[group]), int(cube.hi[group])) == (81, 81)
