"""The reproduction of safe partial tables: its example, its graph, and its figures on a small file that looks like Adult."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tacit.model.reproduction import Part
from tacit.papers import li07, reproduce
from tacit.papers.bench import COLUMN_NAMES
from tacit.papers.report import part_svg


def part(parts: tuple[Part, ...], name: str) -> Part:
    return next(one for one in parts if one.name == name)


def test_the_graph_of_figure_2_is_the_tabulated_one() -> None:
    made = reproduce("li07")
    graph = part(made.parts, "figure-2")
    assert [row[0] for row in graph.rows] == ["abc", "abd", "ab", "ac", "ad", "bc", "bd", "a", "b", "c", "d"]
    assert {row[0]: row[1:] for row in graph.rows}["b"] == (7, 5, 3, 0)
    assert {row[0]: row[3:] for row in graph.rows if row[4]} == {"abc": (1, 2), "ab": (1, 1), "ad": (0, 1), "bd": (1, 2)}
    assert graph.outcome == "11 nodes, 9 of them unsafe (shaded)."
    assert graph.graph is not None
    # Each of the two largest patterns has three children, each pair two; ab belongs to both.
    assert len(graph.graph.edges) == 2 * 3 + 5 * 2
    assert [len(row) for row in graph.graph.rows] == [2, 5, 4]
    picture = (part_svg(graph) or b"").decode()
    assert picture.count('class="shaded"') == 9
    assert picture.count("<line") == 16


def test_the_example_is_confirmed() -> None:
    made = reproduce("li07")
    example = part(made.parts, "example")
    assert example.outcome == "4 of 4 statements confirmed."
    assert "ns 2, nc 7, sc 6, ns+nc 2, ns+nc+sc 2" in example.reading
    assert len(made.left_out) == 1


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1,200 people in the form of adult.data, most of whom have the job that goes with their degree."""
    place, chance = tmp_path_factory.mktemp("uci"), random.Random(5)
    usual = {"Doctorate": "Prof-specialty", "Masters": "Exec-managerial", "HS-grad": "Craft-repair"}
    others = ["Sales", "Adm-clerical", "Tech-support", "Other-service", "Transport-moving", "Farming-fishing"]
    lines = []
    for _ in range(1200):
        degree = chance.choice(list(usual))
        job = usual[degree] if chance.random() < 0.8 else chance.choice([*usual.values(), *others])
        cells = dict.fromkeys(COLUMN_NAMES, "same") | {"age": "30", "education": degree, "occupation": job}
        cells |= {"sex": chance.choice(["Male", "Female"])}
        lines.append(", ".join(cells[name] for name in COLUMN_NAMES))
    (place / "adult.data").write_text("\n".join(lines) + "\n")
    return place


def test_figures_on_a_file_like_adult(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(li07, "DRAWS", {"few": 1, "many": 2})
    monkeypatch.setattr(li07, "PEOPLE", 1000)
    made = reproduce("li07", data=folder)
    assert made.left_out == ()
    rates = part(made.parts, "figure-3bd").rows
    assert [row[0] for row in rates] == [step / 10 for step in range(1, 11)]
    assert [row[1] for row in rates] == sorted((row[1] for row in rates), reverse=True)  # type: ignore[type-var]
    assert rates[0][1] > 0 == rates[-1][1]  # type: ignore[operator]
    assert all(row[1] <= row[2] + 1e-9 for row in part(made.parts, "figure-3ac").rows)  # type: ignore[operator]
    assert "CR hides" in part(made.parts, "figure-3e").outcome
    assert [row[0] for row in part(made.parts, "several-values").rows] == [1, 3, 5, 9]
    assert all(part_svg(one) for one in made.parts if one.name != "example")


def test_what_the_time_does_not_suffice_for_is_said(folder: Path) -> None:
    made = reproduce("li07", data=folder, time_limit=0.01)
    assert len(made.left_out) == 5
    assert all("time limit" in why for why in made.left_out)
