"""Five releases about the same people of the bundled census data, each nearly silent: sums alone prove far more of them together."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import as_file, files

import numpy as np
import pytest

import tacit
from tacit.joint.boxes import item_event
from tacit.joint.cube import Cube, Groups, choose_windows, tighten_cubes
from tacit.joint.lower import lower
from tacit.model.release import Release
from tacit.model.table import Table

COLUMNS = ("education", "marital-status", "occupation", "sex", "salary")
K = 10


@pytest.fixture(scope="module")
def people() -> Table:
    """The people without a missing value in any column of the file, and five of their columns."""
    with as_file(files("tacit") / "data" / "adult.csv.gz") as path:
        whole = tacit.read_table(path, missing="?", missing_rule="drop-any")
    return tacit.read_table(whole.select(COLUMNS), qi=COLUMNS[:4], sa="salary")


@pytest.fixture(scope="module")
def releases(people: Table) -> list[Release]:
    return [
        tacit.mine_itemsets(people, min_support=0.05),
        tacit.tabulate(people, by="occupation,salary,sex", hide_below=10),
        tacit.tabulate(people, by="education,salary,sex", round_to=5),
        tacit.tabulate(people, by="marital-status,occupation", hide_below=10),
        tacit.mine_rules(people, min_support=0.01, min_confidence=0.6, digits=3, with_confidence=True),
    ]


def small_groups(chosen: Sequence[Release]) -> dict[tuple[frozenset[str], frozenset[str]], tuple[int, int]]:
    """The groups that sums prove to be small, with what they say about their number."""
    problem = lower(chosen, tacit.Same())
    (cube,) = tighten_cubes([Cube(problem, axes) for axes in choose_windows(problem)[0]], lambda: None)
    groups = Groups.of(cube, K)
    out = {}
    for group in np.flatnonzero(groups.small & groups.choose_reported()).tolist():
        event = item_event(cube.axes, cube.slots(group), problem.members)
        assert event is not None
        out[frozenset(event.present), frozenset(event.absent)] = (int(cube.lo[group]), int(cube.hi[group]))
    return out


def test_five_releases_prove_more_than_each_of_them(people: Table, releases: list[Release]) -> None:
    assert people.n == 30162
    alone = [small_groups([release]) for release in releases]
    assert [sum(not lacks for _, lacks in found) for found in alone[:4]] == [2, 0, 3, 0]
    together = small_groups(releases)
    beyond = {group: ends for group, ends in together.items() if not any(group in found for found in alone)}
    assert len(beyond) >= 29
    assert len(together) >= 34
    rows = people.transactions()
    names = [frozenset(rows.items.names[item] for item in rows.rows[row]) for row in range(len(rows.rows))]
    for (has, lacks), (fewest, most) in together.items():
        true = sum(has <= row and lacks.isdisjoint(row) for row in names)
        assert 0 < fewest <= true <= most < K
