"""What is either one or the other: why a rule is missing, what a printed 0 means, and which values a complete list leaves out."""

from __future__ import annotations

import copy
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.joint import conditions, cube, joint_releases, lower, nearest, programs
from tacit.joint.worlds import World
from tacit.model.arrays import Ints
from tacit.model.numbers import Bound
from tests.judge.cases import KINDS, draw
from tests.judge.verdicts import WRONG, judge

RULES = (
    "antecedent,consequent,count,support,confidence\n"
    '"{""A"": ""y""}",f,4,,1.0\n"{""A"": ""x"", ""B"": ""u""}",f,2,,1.0\n'
    '"{""A"": ""y"", ""B"": ""u""}",f,3,,1.0\n"{""B"": ""u""}",f,5,,1.0\n'
)
HEADER: dict[str, Any] = {
    "format": "tacit.rules/1",
    "n": 7,
    "qi": ["A", "B"],
    "sa": "S",
    "sa_values": ["f", "g"],
    "min_support": 2,
    "min_confidence": "3/4",
    "complete": True,
}


def written(folder: Path, name: str, text: str, header: dict[str, Any]) -> Path:
    path = folder / name
    path.write_text(text)
    Path(f"{path}.json").write_text(json.dumps(header))
    return path


def test_a_missing_rule_is_too_rare_or_too_weak(tmp_path: Path) -> None:
    """Of 3 people with x, 2 have f. That x => f is missing cannot be for its support, so that it is for its confidence: one has g."""
    release = tacit.read_release(written(tmp_path, "rules.csv", RULES, HEADER))
    audit = tacit.audit(release, attacks=["X01"])
    (found,) = (finding for finding in audit.findings if finding.statement == "1 person has S=g.")
    assert any("missing rule A=x => S=f has too little support" in step for step in found.steps)
    record = audit.to_dict(top=1_000)
    assert tacit.verify(record, [release]).ok

    def changed(key: str, value: Any) -> dict[str, Any]:
        out = copy.deepcopy(record)
        for finding in out["findings"]:
            for step in finding["certificate"]["least"]:
                if "release" in step.get("split", {}):
                    step["split"][key] = value
        return out

    assert not tacit.verify(changed("items", ["A=y", "S=f"]), [release]).ok
    assert not tacit.verify(changed("cell", "missing rule A=y => S=f"), [release]).ok
    assert not tacit.verify(changed("what", "count"), [release]).ok


def test_without_a_complete_list_nothing_follows_from_a_missing_rule(tmp_path: Path) -> None:
    release = tacit.read_release(written(tmp_path, "rules.csv", RULES, HEADER | {"complete": False}))
    audit = tacit.audit(release, attacks=["X01"])
    assert "1 person has S=g." not in [finding.statement for finding in audit.findings]


def test_values_that_only_another_release_names_are_missing_from_a_complete_list(tmp_path: Path) -> None:
    """All 6 people have x or y, 3 each. Of the 2 of them in the list fewer than 2 have x, and fewer than 2 have y: 1 each."""
    rules = "antecedent,consequent,count,support,confidence\n" + "".join(f'"{{""A"": ""{a}""}}",v,,,\n' for a in "xy")
    head = {"format": "tacit.rules/1", "n": 6, "qi": ["A"], "sa": "B", "sa_values": ["u", "v"], "complete": False}
    one = written(tmp_path, "one.csv", rules, head | {"min_support": 3, "min_confidence": "3/5"})
    head = {"format": "tacit.itemsets/1", "complete": True, "n": 2, "min_support": 2, "columns": ["A", "B"]}
    two = written(tmp_path, "two.csv", 'itemset,count,support\n"[""B=v""]",2,\n', head)
    releases = [tacit.read_release(path) for path in (one, two)]
    audit = tacit.audit(releases, people=tacit.Nested())
    assert "1 person has A=x, among the people of two.csv." in [finding.statement for finding in audit.findings]
    assert tacit.verify(audit.to_dict(top=1_000), releases).ok
    without = written(tmp_path, "two.csv", 'itemset,count,support\n"[""B=v""]",2,\n', head | {"columns": ["B"]})
    audit = tacit.audit([releases[0], tacit.read_release(without)], people=tacit.Nested())
    assert "1 person has A=x, among the people of two.csv." not in [finding.statement for finding in audit.findings]


@pytest.mark.parametrize(("most", "cells", "is_found"), [(40, 1, True), (10, 1_000, True), (10, 1, False)])
def test_who_lacks_a_value_of_a_wide_column_is_asked_about(
    most: int, cells: int, is_found: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """4 to 8 people have a=x and not b=u; where neither a cube nor a program can hold them, it is said that they were not looked at."""
    monkeypatch.setattr(joint_releases, "MOST_CELLS", cells)
    for module in (lower, cube):
        monkeypatch.setattr(module, "MOST_GROUPS", most)
    monkeypatch.setattr(cube, "WINDOW_GROUPS", most)
    sets = {"a=x": 100, "a=x b=u": 94, "b=v": 50, "b=w": 40, "c=p": 60, "c=q": 62}
    lines = ['"' + json.dumps(one.split()).replace('"', '""') + f'",{count}' for one, count in sets.items()]
    header = {"format": "tacit.itemsets/1", "n": 300, "rounding": {"base": 2}, "columns": ["a", "b", "c"]}
    path = written(tmp_path, "sets.csv", "itemset,count\n" + "\n".join(lines) + "\n", header)
    audit = tacit.audit(path, policy=tacit.Policy(k=10), attacks=["X01"])
    run = audit.attack("X01")
    assert run is not None
    events = [finding.to_dict()["event"] for finding in audit.findings]
    assert ({"present": ["a=x"], "absent": ["b=u"]} in events) == is_found
    assert ("not looked at together" in run.reason) == (cells == 1)
    assert audit.verdict == ("exposed" if is_found else "incomplete")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("most", [12, 40])
def test_columns_too_wide_for_one_cube_are_never_taken_for_safe(kind: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is done where columns are many or wide, done where they are not, beside every world that fits."""
    for module in (lower, cube):
        monkeypatch.setattr(module, "MOST_GROUPS", most)
    monkeypatch.setattr(cube, "WINDOW_GROUPS", most)
    for module in (joint_releases, programs):
        monkeypatch.setattr(module, "MOST_CELLS", 4)
    monkeypatch.setattr(joint_releases, "MOST_DIVED", 0)
    for seed in range(4):
        verdict = judge(draw(kind, 1_000 + seed))
        assert verdict.outcome not in WRONG, f"--kind {kind} --seed {1_000 + seed}: {verdict.notes}"


@pytest.mark.parametrize("kind", ["rules", "rounded-table", "convention-table", "two-mixed-same", "two-mixed-nested"])
def test_worlds_of_many_cells_are_found_as_those_of_few(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is done where there are many cells, done where there are few, beside every world that fits."""
    monkeypatch.setattr(joint_releases, "MOST_DIVED", 0)
    monkeypatch.setattr(programs, "FEW_CELLS", 2)
    outcomes: Counter[str] = Counter()
    for seed in range(15):
        verdict = judge(draw(kind, seed))
        assert verdict.outcome not in WRONG, f"--kind {kind} --seed {seed}: {verdict.notes}"
        outcomes[verdict.outcome] += 1
    assert outcomes["right"] >= 12


@pytest.mark.parametrize("kind", ["two-lists-unknown", "two-tables-nested", "two-tables-churn", "two-mixed-same"])
def test_a_release_tells_no_less_beside_another_where_columns_are_too_many_to_be_looked_at_together(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cube, "MOST_GROUPS", 12)
    monkeypatch.setattr(cube, "WINDOW_GROUPS", 12)
    monkeypatch.setattr(joint_releases, "MOST_CELLS", 2)
    monkeypatch.setattr(joint_releases, "MOST_DIVED", 0)
    told = 0
    for seed in range(15):
        case = draw(kind, seed)
        verdict = judge(case)
        assert verdict.outcome not in WRONG, f"--kind {kind} --seed {seed}: {verdict.notes}"
        alone = [judge(replace(case, releases=[release], people=None)) for release in case.releases]
        told += any(one.said == "exposed" for one in alone)
        assert verdict.said == "exposed" or all(one.said != "exposed" for one in alone), f"--kind {kind} --seed {seed}"
    assert told > 2


@pytest.mark.parametrize("few", [2, 1_000])
def test_conditions_that_cannot_be_told_leave_questions_open(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conditions, "MOST_ANTECEDENTS", 0)
    monkeypatch.setattr(programs, "FEW_CELLS", few)
    for seed in range(15):
        verdict = judge(draw("rules", seed))
        assert verdict.outcome not in WRONG, f"--kind rules --seed {seed}: {verdict.notes}"


def test_what_a_table_of_counts_tells_alone_is_told_beside_rows_that_say_it_in_fewer_words(tmp_path: Path) -> None:
    """The rows show that A=x is one person; the cell A=x, B=u is small in the table alone, and stays a finding."""
    people = written(
        tmp_path,
        "people.csv",
        "A,B,S\ny,u,f\ny,v,\nx,u,f\ny,v,g\n",
        {"format": "tacit.table/1", "n": 4, "qi": ["A", "B"], "sa": "S"},
    )
    header = {"format": "tacit.frequencies/1", "n": 4, "columns": ["A", "B"], "sa": []}
    table = written(tmp_path, "table.csv", "A,B,count\nx,u,1\nx,v,\ny,u,\ny,v,\n*,*,4\n", header)
    found = tacit.audit([people, table], people=tacit.Same(), policy=tacit.Policy(k=2), attacks=["X01"])
    assert {"present": ["A=x", "B=u"], "absent": []} in [finding.event.to_dict() for finding in found.findings]


def test_people_who_cannot_stand_behind_the_rows_refute_nothing(tmp_path: Path) -> None:
    """Four rows show A=x, as many as there are, so that the row without A has y: one person has y and h. Bounds on boxes do not say it."""
    text = "A,S\nx,\nx,g\n,h\ny,f\nx,h\ny,\nx,h\n"
    people = written(tmp_path, "people.csv", text, {"format": "tacit.table/1", "n": 7, "qi": ["A"], "sa": "S"})
    header = {"format": "tacit.frequencies/1", "n": 7, "columns": ["A", "S"], "sa": [], "hidden_below": 3, "zeros_shown": True}
    table = written(tmp_path, "table.csv", "A,S,count\n*,f,\n*,g,\n*,h,3\nx,*,4\ny,*,3\n", header)
    found = tacit.audit([people, table], people=tacit.Same(), policy=tacit.Policy(k=2), attacks=["X01"])
    told = [finding.event.to_dict() for finding in found.findings]
    assert {"present": ["A=y", "S=h"], "absent": []} in told or found.attack("X01").undecided == 1


def test_a_rounded_zero_of_few_people_is_nobody_in_every_release(tmp_path: Path) -> None:
    """Three people cannot hide behind a rounded 0, so all have x and v; two of them are in the rules, and one is not."""
    header = {"format": "tacit.frequencies/1", "n": 3, "columns": ["A", "B"], "sa": [], "hidden_below": 4, "zeros_shown": True}
    text = "A,B,count\nx,u,0\nx,v,\ny,u,0\ny,v,0\n*,*,\n"
    table = written(tmp_path, "table.csv", text, header | {"rounding": {"base": 10, "mode": "half-even"}})
    stated = {"format": "tacit.rules/1", "n": 2, "qi": ["A"], "sa": "B", "sa_values": ["u", "v"], "min_support": 2}
    line = 'antecedent,consequent,count\n"{""A"": ""x""}",v,2\n'
    rules = written(tmp_path, "rules.csv", line, stated | {"min_confidence": "3/4", "complete": True})
    found = tacit.audit([table, rules], people=tacit.Nested(), k=2)
    told = [(finding.event.to_dict(), finding.count) for finding in found.findings if finding.code == "X01"]
    assert ({"present": ["A=x", "B=v"], "absent": [], "inside": [0], "outside": [1]}, Bound(1, 1)) in told, told
    assert tacit.verify(found.to_dict(top=100), [table, rules]).problems == ()


@pytest.mark.parametrize(("kind", "seed"), [("two-mixed-same", 1700378), ("blanks", 1500034), ("blanks", 1700282)])
def test_cases_that_were_wrong_once_are_right(kind: str, seed: int) -> None:
    """A missing rule that a proof cites twice, with different numbers; a cell that rows say in fewer words; no value of S is named."""
    verdict = judge(draw(kind, seed))
    assert verdict.outcome == "right", verdict.notes


@pytest.mark.parametrize("seed", range(3))
def test_nearest_worlds_refute_what_they_show(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted person by person, such a world fits every line, and what it refutes is empty there or not small."""
    k = 4
    chance = np.random.default_rng(seed)
    columns = {name: chance.integers(0, 3, 80).astype(str).tolist() for name in "abcd"}
    stayed = {name: values[2:] for name, values in columns.items()}
    people = (tacit.read_table(rows, qi="a,b,c", sa="d") for rows in (columns, stayed))
    tables = [tacit.tabulate(table, by=[[*"abcd"]], ways=2, hide_below=k) for table in people]
    found: list[World] = []
    refuted: list[int] = []
    look_at = nearest._Questions.look_at

    def look(questions: nearest._Questions, world: Ints) -> None:
        before = questions.settled.copy()
        look_at(questions, world)
        cells = questions.rows.cells
        found.append(World(cells.problem, cells.kinds(world)))
        fresh = np.flatnonzero(questions.settled & ~before).tolist()
        refuted.append(len(fresh))
        for place in fresh:
            assert not 0 < found[-1].count(questions.boxes[place]) < k

    monkeypatch.setattr(nearest._Questions, "look_at", look)
    monkeypatch.setattr(programs, "FEW_CELLS", 0)
    monkeypatch.setattr(programs, "_MOST_EXCHANGES", 0)
    tacit.audit(tables, people=tacit.Nested(), policy=tacit.Policy(k=k), attacks=["X01"])
    assert sum(refuted) > 0
    assert all(world.fits() for world in found)
