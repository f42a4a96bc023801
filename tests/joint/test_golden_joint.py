"""X01 on releases whose answers are known: every group with its exact bounds, nothing else, and each re-checked."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.checker import check_audit
from tacit.joint.boxes import HAS, Allowed
from tacit.joint.cube import Cube
from tacit.joint.lower import lower
from tacit.model.frequencies import FrequencyTable
from tacit.model.people import read_people
from tacit.model.release import Header, Items, Itemsets, Sets

CASES = tomllib.loads((Path(__file__).parent / "X01.toml").read_text(encoding="utf-8"))["case"]
#: Cases that count all signed patterns on which the bounds are small, and those that list the groups that are found.
PATTERNS = [case for case in CASES if any(text.endswith("signed patterns") for text in case["channels"])]
GROUPS = [case for case in CASES if case not in PATTERNS]


def table_of(text: str) -> FrequencyTable:
    """A frequency table written as in the cases."""
    n, columns, cells = (part.strip() for part in text.split(";"))
    pairs = [cell.rsplit(":", 1) for cell in cells.split(",")]
    return FrequencyTable.of(columns.split(), [values.split() for values, _ in pairs], [int(c) for _, c in pairs], n=int(n))


def release_of(text: str) -> Itemsets | FrequencyTable:
    """A release written as in the cases."""
    if text.startswith("table "):
        return table_of(text.removeprefix("table "))
    n, *complete, lines = (part.strip() for part in text.split(";"))
    pairs = [line.rsplit(":", 1) for line in lines.split(",")]
    names = sorted({item for items, _ in pairs for item in items.split()})
    counts = np.array([int(count) for _, count in pairs], np.int64)
    least = int(complete[0].split()[1]) if complete else None
    header = Header(n=int(n), complete=bool(complete), min_support=least)
    pairs_of_items = [(column, value) for column, is_value, value in (name.partition("=") for name in names) if is_value]
    return Itemsets(
        Sets.from_lists([names.index(item) for item in items.split()] for items, _ in pairs),
        counts,
        counts,
        Items.of_columns(pairs_of_items) if pairs_of_items else Items(tuple(names)),
        header,
    )


def group_of(finding: tacit.Finding) -> tuple[Any, ...]:
    event = finding.event.to_dict()
    lists = [tuple(event.get(name, ())) for name in ("present", "absent", "inside", "outside")]
    return (*lists, finding.count.lo, finding.count.hi)


def expected(text: str) -> tuple[Any, ...]:
    """A group written as in the cases, as :func:`group_of` gives it."""
    found = re.fullmatch(r"(.*)\|([^@]*?)(?:@ (\d)(?: - (\d))?)? ?= ?(\d+)(?:-(\d+))?", text)
    assert found is not None, text
    has, lacks, inside, outside, fewest, most = found.groups()
    where = [() if one is None else (int(one),) for one in (inside, outside)]
    return (tuple(sorted(has.split())), tuple(sorted(lacks.split())), *where, int(fewest), int(most or fewest))


@pytest.mark.parametrize("case", GROUPS, ids=lambda case: case["where"])
def test_groups_are_found_exactly_and_hold(case: dict[str, Any]) -> None:
    releases = [release_of(text) for text in case["releases"]]
    together: dict[str, Any] = {"people": read_people(case["people"])} if len(releases) > 1 else {}
    what = releases if len(releases) > 1 else releases[0]
    audit = tacit.audit(what, policy=tacit.Policy(k=case["k"]), attacks=["X01"], **together)
    found = audit.findings
    assert {group_of(finding) for finding in found} == {expected(text) for text in case["channels"]}
    outcome = check_audit(audit.to_dict(top=len(found)), releases)
    assert outcome.ok, outcome.problems
    assert outcome.held == len(found)


@pytest.mark.parametrize("case", PATTERNS, ids=lambda case: case["where"])
def test_all_small_patterns_are_counted(case: dict[str, Any]) -> None:
    problem = lower([release_of(text) for text in case["releases"]], tacit.Same())
    cube = Cube(problem, tuple(range(len(problem.axes))))
    cube.tighten(range(len(problem.lines)), lambda: None)
    assert int(((cube.lo > 0) & (cube.hi < case["k"])).sum()) == int(case["channels"][0].split()[0])


def test_margins_of_two_tables_bound_a_cell_as_sharply_as_can_be() -> None:
    """Counts of a, b and of b, c over ten people: neither and all three lie in [3, 4] and [2, 3]."""
    first = release_of("10; a:5, b:4, a b:3")
    second = release_of("10; b:4, c:4, b c:3")
    problem = lower([first, second], tacit.Same())
    cube = Cube(problem, tuple(range(len(problem.axes))))
    cube.tighten(range(len(problem.lines)), lambda: None)
    slots = [axis.slot_of[axis.mask(Allowed(frozenset([HAS])))] for axis in cube.axes]
    everything = sum(slot * stride for slot, stride in zip(slots, cube.strides, strict=True))
    nothing = sum((1 - slot) * stride for slot, stride in zip(slots, cube.strides, strict=True))
    assert (int(cube.lo[everything]), int(cube.hi[everything])) == (2, 3)
    assert (int(cube.lo[nothing]), int(cube.hi[nothing])) == (3, 4)
