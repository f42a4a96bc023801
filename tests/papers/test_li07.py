"""The reproduction of safe partial tables: theorems, example and graph, and its figures on a small file that looks like Adult."""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.model.errors import Infeasible
from tacit.model.policy import Limits
from tacit.model.reproduction import Part
from tacit.papers import li07, li07_adult, reproduce
from tacit.papers.bench import COLUMN_NAMES, Bench, find_adult
from tacit.papers.report import part_svg
from tacit.partial.methods import find_cells
from tacit.partial.papers import hide_along_graph, hide_rule_by_rule, hide_values

#: All numbered items of the paper.
NUMBERED = {
    *("Theorem 1", "Theorem 2", "Lemma 1", "Definition 1", "Figure 1", "Figure 2 (a)", "Figure 2 (b)"),
    *(f"Figure 3 ({letter})" for letter in "abcdef"),
}


def part(parts: tuple[Part, ...], name: str) -> Part:
    return next(one for one in parts if one.name == name)


def standings(made: Part) -> dict[str, str]:
    return {f"{claim.item}: {claim.says}": claim.standing for claim in made.claims}


def test_items_are_all_numbered_ones() -> None:
    assert set(li07.ITEMS) >= NUMBERED
    assert len(set(li07.ITEMS)) == len(li07.ITEMS)


def test_the_graph_of_figure_2_is_the_tabulated_one() -> None:
    graph = li07.graph_part()
    assert [row[0] for row in graph.rows] == ["abc", "abd", "ab", "ac", "ad", "bc", "bd", "a", "b", "c", "d"]
    assert {row[0]: row[1:] for row in graph.rows}["b"] == (7, 5, 3, 0)
    assert {row[0]: row[3:] for row in graph.rows if row[4]} == {"abc": (1, 2), "ab": (1, 1), "ad": (0, 1), "bd": (1, 2)}
    assert set(standings(graph).values()) == {"confirmed"}
    assert graph.note == "11 nodes, 9 of them unsafe (shaded), 16 edges."
    assert graph.graph is not None
    assert [len(row) for row in graph.graph.rows] == [2, 5, 4]
    picture = (part_svg(graph) or b"").decode()
    assert picture.count('class="shaded"') == 9
    assert picture.count("<line") == 16


def test_what_the_example_does_not_confirm_are_slips_of_the_text() -> None:
    example = li07.example()
    wrong = [claim.item for claim in example.claims if claim.standing != "confirmed"]
    assert wrong == ["Section 4.1", "Section 5.1", "Figure 2 (a)"]
    assert all(claim.why for claim in example.claims if claim.item in wrong and claim.standing == "not confirmed")
    assert li07.fewest_sets() == 2


def test_subcases_and_lemma() -> None:
    made = li07.subcases()
    assert {row[1]: row[2] for row in made.rows} == {
        "ns": 2,
        "nc": 7,
        "sc": 6,
        "nc+sc": 6,
        "ns+sc": 2,
        "ns+nc+sc": 2,
        "ns+nc": 2,
    }
    assert [claim.standing for claim in made.claims] == ["confirmed", "not applicable", "confirmed"]


def test_hardness_is_confirmed_by_reductions() -> None:
    made = li07.hardness()
    assert [claim.standing for claim in made.claims] == ["confirmed"] * 3
    assert len(made.rows) == 9 + len(li07.GRAPHS) * len(li07.SUBCASES)


@settings(max_examples=15, deadline=None)
@given(st.sets(st.sampled_from(list(combinations(range(5), 2))), min_size=1, max_size=7))
def test_fewest_cells_are_a_minimum_vertex_cover(edges: set[tuple[int, int]]) -> None:
    listed = sorted(edges)
    size = li07.cover_size(listed)
    assert li07.vertex_table(listed).fewest("ns") == li07.vertex_table(listed).fewest("nc") == size
    assert li07.edge_table(listed).fewest("sc") == li07.edge_table(listed).fewest("ns+nc+sc") == size


@settings(max_examples=15, deadline=None)
@given(st.sets(st.sampled_from([(a, b, c) for a in (1, -1) for b in (2, -2) for c in (3, -3, 4, -4)]), min_size=1, max_size=14))
def test_a_safe_table_exists_if_the_formula_is_satisfiable(clauses: set[tuple[int, ...]]) -> None:
    listed = sorted(clauses)
    assert (li07.formula_table(listed).fewest("nc") is not None) == li07.is_satisfiable(listed)


def test_a_table_that_cannot_be_safe_is_refused() -> None:
    clauses = [(a, b, c) for a in (1, -1) for b in (2, -2) for c in (3, -3)]
    assert not li07.is_satisfiable(clauses)
    with pytest.raises(Infeasible, match="no choice of hidden cells"):
        find_cells(li07.formula_table(clauses).problem, frozenset({"nc"}), "greedy", seed=0, limits=Limits())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1,200 people in the form of adult.data, most of whom have the job that goes with their degree."""
    place, chance = tmp_path_factory.mktemp("uci"), random.Random(5)
    usual = {"Doctorate": "Prof-specialty", "Masters": "Exec-managerial", "HS-grad": "Craft-repair"}
    others = ["Sales", "Adm-clerical", "Tech-support", "Other-service", "Transport-moving", "?"]
    lines = []
    for _ in range(1200):
        degree = chance.choice(list(usual))
        job = usual[degree] if chance.random() < 0.8 else chance.choice([*usual.values(), *others])
        cells = dict.fromkeys(COLUMN_NAMES, "same") | {"age": "30", "education": degree, "occupation": job}
        cells |= {"sex": chance.choice(["Male", "Female"])}
        lines.append(", ".join(cells[name] for name in COLUMN_NAMES))
    (place / "adult.data").write_text("\n".join(lines) + "\n")
    return place


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few draws of few people."""
    for name, value in {"DRAWS": 3, "VALUE_DRAWS": 3, "PEOPLE": 1000, "SIZES": (300, 600, 1000), "SMALL": 200}.items():
        monkeypatch.setattr(li07_adult, name, value)


def read(folder: Path) -> li07_adult.Trial:
    bench = Bench.open(folder, None, lambda _: None)
    path = find_adult(bench.folder)
    assert path is not None
    return li07_adult.Trial.read(path, bench)


@pytest.mark.usefixtures("small")
def test_every_item_has_a_claim_on_a_file_like_adult(folder: Path) -> None:
    made = reproduce("li07", data=folder)
    assert made.left_out == ()
    assert {claim.item for claim in made.index} == set(li07.ITEMS)
    assert all(claim.standing != "not run" for claim in made.index)
    levels = part(made.parts, "figure-3bd")
    assert [row[1] for row in levels.rows] == [0.3, 0.4, 0.6, 0.8, 1.0] * 2
    kept = [row[2] for row in levels.rows if row[0] == "'?' kept"]
    assert kept == sorted(kept, reverse=True)  # type: ignore[type-var]
    assert kept[0] > 0 == kept[-1]  # type: ignore[operator]
    assert standings(part(made.parts, "bound")) == {
        "Section 4.1: SMC hides at most H_k times the fewest cells": "confirmed",
        "Section 4.1: sensitive values can be treated one by one": "confirmed",
    }
    unsafe = [row[1] for row in part(made.parts, "support").rows]
    assert unsafe == sorted(unsafe, reverse=True)  # type: ignore[type-var]
    assert [row[0] for row in part(made.parts, "work").rows[::4]] == [300, 600, 1000]
    assert all(part_svg(one) for one in made.parts if one.chart)
    assert made.to_dict() == reproduce("li07", data=folder).to_dict()
    assert {timed.program for timed in made.times} == {*li07_adult.HEURISTICS, "CR, conditions"}


def test_what_the_time_does_not_suffice_for_is_said(folder: Path) -> None:
    made = reproduce("li07", data=folder, time_limit=0.01)
    assert len(made.left_out) == len(li07_adult.STEPS)
    assert all("time limit" in why for why in made.left_out)
    assert {claim.item for claim in made.index if claim.standing == "not run"} == {
        *(f"Figure 3 ({letter})" for letter in "abcdef"),
        "Section 6.2",
    }


@pytest.mark.usefixtures("small")
def test_methods_hide_the_same_cells_without_the_safe_rules(folder: Path) -> None:
    trial = read(folder)
    hidden = 0
    for seed in range(6):
        draw = trial.draw(li07_adult.Way(True), seed)
        problem = draw.problem(10, values=draw.values("record")[:1])
        whole = {
            "SMC": hide_values(problem, li07_adult.NS),
            "MAX-DESCENDANT": hide_along_graph(problem, li07_adult.NC, "max-descendant", seed=seed),
            "RANDOM": hide_along_graph(problem, li07_adult.NC, "random", seed=seed),
            "CR, conditions": hide_rule_by_rule(problem, li07_adult.NC),
        }
        for method, state in whole.items():
            assert state is not None
            assert li07_adult.run_method(problem, method, seed).cells == state.cells_hidden
            hidden += state.cells_hidden
    assert hidden


@pytest.mark.usefixtures("small")
def test_smaller_settings_of_a_draw_are_part_of_larger_ones(folder: Path) -> None:
    draw = read(folder).draw(li07_adult.Way(True), 1)
    value = int(np.bincount(draw.own).argmax())
    few, many = (draw.problem(10, values=[value], size=size) for size in (300, 1000))
    owners = []
    for problem in (few, many):
        classes = problem.classes
        owners.append(classes.order[np.repeat(classes.sensitive, classes.people)])
    assert sorted(owners[0].tolist()) == sorted(owners[1].tolist())
    assert len(owners[0]) == 10
    several = draw.problem(20, values=draw.values("value")[:6])
    assert sorted(several.classes.people[several.classes.sensitive].tolist())[-1] <= 4
    assert len(several.column) == 6


def test_shares_are_even() -> None:
    assert li07_adult.share_out(20, 9) == [3, 3, 2, 2, 2, 2, 2, 2, 2]
    assert li07_adult.share_out(20, 1) == [20]


def test_a_rise_is_judged_by_its_ends_and_its_steps() -> None:
    noise = np.random.default_rng(0).normal(0, 0.01, (30, 3))
    assert li07_adult.judge_rise(noise + np.array([0, 1, 2])).standing == "confirmed"
    assert li07_adult.judge_rise(noise + np.array([2, 1, 0])).standing == "not confirmed"
    assert li07_adult.judge_rise(noise + np.array([0, 3, 2])).standing == "not confirmed"
    assert li07_adult.judge_rise(noise * 0).standing == "open"


def test_a_printed_mean_is_open_if_draws_cannot_tell() -> None:
    chance = np.random.default_rng(0)
    near = chance.normal(1, 0.1, 30)
    assert li07_adult.judge_value(near, 1.0).standing == "confirmed"
    assert li07_adult.judge_value(near, 2.0).standing == "not confirmed"
    assert li07_adult.judge_value(chance.normal(1, 10, 30), 1.0).standing == "open"
