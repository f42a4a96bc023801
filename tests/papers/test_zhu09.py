"""The reproduction of Zhu, Wang, Du: its examples, and its figures on a small file that looks like Adult."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tacit.errors import InputError
from tacit.papers import reproduce, zhu09
from tacit.papers.bench import COLUMN_NAMES, QI, find_adult, read_adult


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """600 people in the form of adult.data: no header, a blank behind each comma, question marks, an empty last line."""
    place, chance = tmp_path_factory.mktemp("uci"), random.Random(5)
    lines = []
    for number in range(600):
        sex, degree, job = (
            chance.choice(["Male", "Female"]),
            chance.choice(["HS-grad", "Doctorate", "Masters"]),
            chance.choice("ABC"),
        )
        rich = chance.random() < 0.15 + 0.5 * (degree == "Doctorate") + 0.1 * (sex == "Male")
        cells = dict.fromkeys(COLUMN_NAMES, "same") | {"age": "30", "sex": sex, "education": degree, "occupation": job}
        cells |= {"workclass": "?" if number % 50 == 0 else "Private", "salary": ">50K" if rich else "<=50K"}
        lines.append(", ".join(cells[name] for name in COLUMN_NAMES))
    (place / "adult.data").write_text("\n".join(lines) + "\n\n")
    return place


def test_the_examples_need_no_data() -> None:
    made = reproduce("zhu09")
    assert [part.name for part in made.parts] == ["examples"]
    assert [row[0] for row in made.parts[0].rows if row[-1] != "yes"] == ["Eq. (3)"]
    assert "adult.data" in made.left_out[0]


def test_adult_is_read_as_the_paper_says(folder: Path) -> None:
    path = find_adult(folder)
    assert path is not None
    people = read_adult(path)
    assert (people.n, people.schema.qi, people.schema.sa) == (588, QI, ("salary",))
    assert people.column("salary").values == ("<=50K", ">50K")
    assert find_adult(None) is None


def test_a_file_with_its_names_is_read_the_same(folder: Path, tmp_path: Path) -> None:
    text = (folder / "adult.data").read_text().replace(", ", ",")
    (tmp_path / "adult.csv").write_text(",".join(COLUMN_NAMES) + "\n" + text)
    assert read_adult(tmp_path / "adult.csv").n == 588


@pytest.mark.parametrize("text", ["age,sex\n1,2\n", "1, 2, 3\n", ""])
def test_files_that_are_not_adult_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "adult.csv").write_text(text)
    with pytest.raises(InputError, match=r"adult\.csv"):
        read_adult(tmp_path / "adult.csv")


def test_all_figures_are_made_from_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zhu09, "CONFIDENCES", (0.6, 0.8, 1.0))
    monkeypatch.setattr(zhu09, "SUPPORTS", (0.1, 0.02))
    monkeypatch.setattr(zhu09, "FIRST_RULES", (2, 5))
    made = reproduce("zhu09", data=folder)
    parts = {part.name: part for part in made.parts}
    assert set(parts) == {
        "examples",
        "numbers",
        "figure-8",
        *(f"figure-{one}" for one in ("5a", "5b", "5c", "6", "7a", "7b", "7c")),
    }
    assert made.left_out == ()
    exact = [row[1] for row in parts["figure-5a"].rows]
    assert exact == sorted(exact)  # type: ignore[type-var]
    assert [row[1] for row in parts["figure-6"].rows] == exact
    assert "confirmed" in parts["figure-5a"].outcome
    found = [float(row[1] or 0) for row in parts["figure-5c"].rows]
    assert found == sorted(found, reverse=True)
    assert parts["numbers"].rows[0][3] == 588
    record = next(one for one in made.to_dict()["parts"] if one["name"] == "figure-8")
    assert set(record["rows"][0]) == {"min. confidence", "variables"}
    means = [float(row[1] or 0) for row in parts["figure-7c"].rows]
    assert means == sorted(means, reverse=True)


def test_what_time_does_not_allow_is_said(folder: Path) -> None:
    made = reproduce("zhu09", data=folder, time_limit=0.001)
    assert [part.name for part in made.parts] == ["examples"]
    assert len(made.left_out) == 5
    assert all("time limit" in what for what in made.left_out)
