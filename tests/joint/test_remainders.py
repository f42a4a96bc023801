"""People who have none of the values that lines count, where columns are too wide for all sets of values."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.joint import joint_releases, lower
from tacit.joint.cube import make_cubes
from tacit.joint.remainders import list_remainders
from tacit.model.people import Same
from tests.judge import wide_tables
from tests.judge.cases import draw
from tests.judge.verdicts import judge
from tests.shell import tacit as run

WIDE = 50  #: Values of each of three columns: their sets make more groups than a cube has.


def write_list(folder: Path, *, inside: int, rounded: bool = False) -> Path:
    """Write a list in which ``inside`` of the people with B=v0 have neither A=v0 nor A=v1."""
    step = 5 if rounded else 1
    rows: list[tuple[tuple[str, ...], int]]
    rows = [((f"{column}=v{value}",), 1000) for column in "ABC" for value in range(WIDE)]
    rows += [(("A=v0", "B=v0"), 600 - inside), (("A=v1", "B=v0"), 400)]
    lines = ["itemset,count"]
    lines += ['"' + json.dumps(items).replace('"', '""') + f'",{round(count / step) * step}' for items, count in rows]
    path = folder / "list.csv"
    path.write_text("\n".join(lines) + "\n")
    header = {"format": "tacit.itemsets/1", "n": 1000 * WIDE, "columns": list("ABC")}
    Path(f"{path}.json").write_text(json.dumps(header | ({"rounding": {"base": 5}} if rounded else {})))
    return path


def write_data(folder: Path, *, inside: int) -> Path:
    """Write people who fit the list."""
    random = np.random.default_rng(0)
    left = dict.fromkeys(range(WIDE), 1000)
    people = []
    for value, count in ((0, 600 - inside), (1, 400), (2, inside)):
        people += [(value, 0)] * count
        left[value] -= count
    others = random.permutation([value for value, count in left.items() for _ in range(count)])
    groups = random.permutation(np.repeat(np.arange(1, WIDE), 1000))
    people += list(zip(others.tolist(), groups.tolist(), strict=True))
    last = random.permutation(np.repeat(np.arange(WIDE), 1000)).tolist()
    rows = [f"v{a},v{b},v{c}" for (a, b), c in zip(people, last, strict=True)]
    path = folder / "data.csv"
    path.write_text("\n".join(["A,B,C", *rows]) + "\n")
    return path


def test_few_people_who_lack_all_counted_values_are_found(tmp_path: Path) -> None:
    path = write_list(tmp_path, inside=5)
    release = tacit.read_release(path)
    assert not lower.lower((release,), Same()).has_unions  # otherwise the cubes hold them
    audit = tacit.audit(path, k=10)
    assert [finding.statement for finding in audit.findings] == ["5 people have B=v0, and neither A=v0 nor A=v1."]
    record = tmp_path / "audit.json"
    assert run("audit", str(path), "--k", "10", "--json", str(record)).exit_code == 1
    assert "HOLDS: 1 of 1 proved finding" in run("verify", str(record), str(path)).output


def test_many_people_who_lack_them_are_not_small(tmp_path: Path) -> None:
    assert not tacit.audit(write_list(tmp_path, inside=10), k=10).findings


@pytest.mark.parametrize(("inside", "is_asked"), [(3, True), (0, False)])
def test_rounded_remainders_are_questions_that_the_data_may_refute(
    inside: int, is_asked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: set[tuple[tuple[str, ...], tuple[str, ...]]] = set()

    def note(search: joint_releases._Search) -> None:
        asked.update((event.present, event.absent) for event in search.open if len(event.absent) > 1)

    monkeypatch.setattr(joint_releases._Search, "_refute_by_exchange", note)
    path = write_list(tmp_path, inside=inside, rounded=True)
    data = write_data(tmp_path, inside=inside)
    assert not tacit.audit(path, data=data, k=10, attacks=["X01"], time_limit=60).findings
    assert asked == ({(("B=v0",), ("A=v0", "A=v1"))} if is_asked else set())


@pytest.mark.parametrize("seed", [7096, 7126])
def test_every_database_agrees_where_no_cube_has_sets_of_values(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lower, "MOST_GROUPS", 0)
    monkeypatch.setattr(lower, "ASKED_WHOLE", 0)
    assert judge(draw("long-column-table", seed)).outcome == "right"


@pytest.mark.parametrize("seed", [*range(10), 771844, 772135])  # the last ones were missed once
def test_no_set_of_hidden_cells_is_told_by_a_clean_table(seed: int) -> None:
    outcome, told = wide_tables.judge(wide_tables.draw(seed))
    assert outcome != "missed", told


def test_sets_of_cells_that_follow_from_other_rows_are_found() -> None:
    audit = tacit.audit(wide_tables.draw(771844).table(), k=wide_tables.K)
    told = [finding.statement for finding in audit.findings]
    assert told == ["4 people have row=r1, and neither column=c0, column=c2, column=c3, column=c4 nor column=c5."]
    assert tacit.verify(audit.to_dict(), wide_tables.draw(771844).table()).ok


def test_remainders_are_the_people_of_a_line_less_its_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lower, "MOST_GROUPS", 0)
    monkeypatch.setattr(lower, "ASKED_WHOLE", 0)
    rng = np.random.default_rng(1)
    many = 0
    for _ in range(20):
        problem = lower.lower((tacit.read_release(_random_table(tmp_path, rng)),), Same())
        kinds = np.stack([rng.integers(0, len(axis.classes), 500) for axis in problem.axes], axis=1)

        def count(masks: object, kinds: np.ndarray = kinds) -> int:
            assert isinstance(masks, dict)
            inside = [(1 << kinds[:, place] & mask) > 0 for place, mask in masks.items()]
            return int(np.all(inside, axis=0).sum()) if inside else len(kinds)

        cubes, _, _ = make_cubes(problem)
        for one in list_remainders(problem, cubes):
            many += 1
            cube = cubes[one.number]
            parts = [count(cube.box(part)) for part in one.parts]
            assert count(dict(one.box)) == count(cube.box(one.whole)) - sum(parts)
            assert one.box[one.axis] not in problem.axes[one.axis].slot_of
    assert many > 20


def _random_table(folder: Path, rng: np.random.Generator) -> Path:
    lines = ["A,B,count"]
    for a in range(4):
        shown = rng.permutation(6) < rng.integers(2, 5)
        lines += [f"a{a},b{b},{int(rng.integers(20, 60))}" for b in range(6) if shown[b]]
        lines += [f"a{a},b{b}," for b in range(6) if not shown[b]]
        lines.append(f"a{a},total,400")
    path = folder / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    return path
