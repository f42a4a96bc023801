"""The reproduction of Injector: its example, its trees, and its figures on a small file that looks like Adult."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tacit.model.reproduction import Part
from tacit.papers import injector08, reproduce
from tacit.papers.bench import COLUMN_NAMES, read_adult
from tacit.papers.injector08 import QI, SA, trees

JOBS = [
    "Sales",
    "Craft-repair",
    "Adm-clerical",
    "Exec-managerial",
    "Tech-support",
    "Other-service",
    "Prof-specialty",
    "Transport-moving",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """900 people in the form of adult.data; some jobs go with some degrees, one never occurs with a doctorate, one row lacks a job."""
    place, chance = tmp_path_factory.mktemp("uci"), random.Random(11)
    lines = []
    for number in range(900):
        degree = chance.choice(["HS-grad", "HS-grad", "Doctorate", "Masters", "11th"])
        jobs = JOBS[:7] if degree == "Doctorate" else JOBS
        job = "Prof-specialty" if degree == "Doctorate" and chance.random() < 0.05 else chance.choice(jobs)
        cells = dict.fromkeys(COLUMN_NAMES, "same") | {
            "age": str(chance.randint(20, 59)),
            "sex": chance.choice(["Male", "Female"]),
        }
        cells |= {
            "education": degree,
            "occupation": "?" if number == 7 else job,
            "race": chance.choice(["White", "White", "Black"]),
        }
        cells |= {"workclass": chance.choice(["Private", "State-gov", "Self-emp-inc"])}
        cells |= {"marital-status": chance.choice(["Divorced", "Married-civ-spouse"])}
        lines.append(", ".join(cells[name] for name in COLUMN_NAMES))
    (place / "adult.data").write_text("\n".join(lines) + "\n")
    return place


def test_the_example_needs_no_data() -> None:
    made = reproduce("injector08")
    assert [part.name for part in made.parts] == ["example"]
    assert [row[1] for row in made.parts[0].rows if row[-1] != "yes"] == ["people whose value is certain with it"]
    assert "adult.data" in made.left_out[0]


def test_trees_hold_every_value_once(folder: Path) -> None:
    people = read_adult(folder / "adult.data", qi=QI, sa=SA, missing_rule="drop")
    assert people.n == 899
    made = trees(people)
    assert set(made) == {"workclass", "education", "marital-status", "race"}
    assert made["education"].levels["Doctorate"] == ("Graduate", "Higher education")
    assert made["race"].levels == {"Black": ("Non-White",), "White": ()}
    assert made["workclass"].repeated == {"Private": 1}


@pytest.fixture(scope="module")
def parts(folder: Path) -> dict[str, Part]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(injector08, "QUERIES", 100)
        made = reproduce("injector08", data=folder)
    assert made.left_out == ()
    return {part.name: part for part in made.parts}


def test_every_figure_is_there_with_its_picture(parts: dict[str, Part]) -> None:
    drawn = {name for name, part in parts.items() if part.chart is not None}
    assert drawn == {
        "figure-3-rules", "figure-4a", "figure-4b", "figure-6a", "figure-6b", "figure-7a-added", "figure-7a-lost", "figure-7b-added",
        "figure-7b-lost", "debiased", "figure-8a", "figure-8b", "figure-8c",
    }  # fmt: skip
    assert set(parts) - drawn == {"example", "figure-3-people", "figure-5", "beyond"}
    assert all(part.reading and part.outcome for part in parts.values())


def test_injector_leaves_nobody_vulnerable_and_says_so(parts: dict[str, Part]) -> None:
    for name in ("figure-4a", "figure-4b"):
        for _, anatomy, *ours in parts[name].rows:
            assert float(anatomy or 0) >= 0
            assert ours == [0, 0, 0]
        assert "'Injector has no vulnerable tuples': confirmed" in parts[name].outcome
    assert float(parts["figure-4a"].rows[-1][1] or 0) > 0


def test_people_by_values_ruled_out_add_up(parts: dict[str, Part]) -> None:
    for expectation in injector08.EXPECTATIONS:
        ours = [float(row[3] or 0) for row in parts["figure-3-people"].rows if row[0] == expectation]
        assert sum(ours) == pytest.approx(100, abs=0.05)


def test_statements_are_judged_by_the_numbers(parts: dict[str, Part]) -> None:
    for name in ("figure-6a", "figure-8a", "figure-8b"):
        better = all(float(row[2] or 0) < float(row[1] or 0) for row in parts[name].rows)
        assert (": confirmed" in parts[name].outcome) == better


def test_seconds_stay_out_of_the_record(parts: dict[str, Part]) -> None:
    made = parts["figure-5"].to_dict()
    assert made["outcome"] is None
    assert set(made["rows"][0]) == {"min. expectation", "l"}


def test_the_time_limit_leaves_figures_out(folder: Path) -> None:
    made = reproduce("injector08", data=folder, time_limit=0.01)
    assert [part.name for part in made.parts] == ["example"]
    assert len(made.left_out) == 6
    assert all("time limit" in told for told in made.left_out)
