"""Methods that hide cells: the paper's example in full, what must be published, what cannot be done, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tacit.model.errors import Infeasible, LimitReached, OptionError, RepairError
from tacit.model.policy import Limits
from tacit.partial.greedy import Gains
from tacit.partial.methods import METHODS, NEEDS, choose_method, find_cells, parse_regions
from tacit.partial.papers import _Graph
from tacit.partial.problem import (
    MOST_ATTRIBUTES,
    OWNER,
    RELEVANT,
    Cells,
    Hiding,
    IntegerThresholds,
    Pile,
    Problem,
    draw_hidden_cells,
    largest_below,
)
from tests.partial.naive_hiding import figure_2, is_safe, leaks, made_cells, problem_of

CONFIDENCE = Fraction(11, 20)
LOW = Fraction(3, 10)
NONE = Limits()


def hidden(problem: Problem, regions: str, method: str, *, seed: int = 0) -> int:
    """How many cells a method hides."""
    return find_cells(problem, parse_regions(regions), method, seed=seed, limits=NONE).state.cells_hidden  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def problem() -> Problem:
    return problem_of(figure_2(), CONFIDENCE, 0)


# The paper's example: pattern, records that have it, with the value, MinHide, ExactMatch, beta. The 11th node, abd, has no such record.
NODES = {
    "abc": (3, 2, 1, 2, 1),
    "ab": (5, 3, 1, 1, 1),
    "ac": (3, 2, 1, 0, 1),
    "bc": (3, 2, 1, 0, 1),
    "ad": (2, 1, 0, 1, 0),
    "bd": (3, 2, 1, 2, 1),
    "a": (6, 4, 2, 0, 1),
    "b": (7, 5, 3, 0, 2),
    "c": (3, 2, 1, 0, 1),
    "d": (5, 3, 1, 0, 1),
}


def pattern_of(problem: Problem, rule: int) -> str:
    """The letters of a rule's pattern."""
    codes = problem.classes.conditions[problem.rules.member[problem.rules.start[rule]]]
    return "".join(chr(code) for a, code in enumerate(codes) if int(problem.rules.mask[rule]) >> a & 1)


def test_the_nodes_of_the_papers_example(problem: Problem) -> None:
    rules, limits = problem.rules, problem.thresholds
    records, values = (f(rules.having, rules.both) for f in (limits.records_to_hide, limits.values_to_hide))
    found = {
        pattern_of(problem, i): (int(rules.having[i]), int(rules.both[i]), int(records[i]), int(values[i]))
        for i in range(len(rules))
    }
    assert found == {name: (*numbers[:3], numbers[4]) for name, numbers in NODES.items()}


def test_exact_matches_of_the_papers_example(problem: Problem) -> None:
    graph = _Graph(Hiding(problem, frozenset({"nc"})), 0)
    found = {"".join(chr(code) for code in node.codes if code >= 0): node.records for node in graph.nodes.values()}
    assert found == {name: numbers[3] for name, numbers in NODES.items() if numbers[3]}


@pytest.mark.parametrize(
    ("regions", "method", "cells"),
    [
        ("ns", "smc", 2),
        ("nc", "rgraph-max-descendant", 7),
        ("sc", "uniform", 6),
        *((regions, method, 2) for regions in ("ns", "ns,nc", "ns,sc", "ns,nc,sc") for method in ("greedy", "ilp")),
        *((regions, method, 6) for regions in ("sc", "nc,sc") for method in ("greedy", "ilp")),
        *(("nc", method, 7) for method in ("greedy", "ilp")),
    ],
)
def test_cells_hidden_in_the_papers_example(problem: Problem, regions: str, method: str, cells: int) -> None:
    assert hidden(problem, regions, method) == cells


def test_chance_hides_seven_or_eight_cells_of_the_papers_example(problem: Problem) -> None:
    assert {hidden(problem, "nc", "rgraph-random", seed=seed) for seed in range(30)} <= {7, 8}
    assert {hidden(problem, "nc", "rgraph-random-max", seed=seed) for seed in range(30)} == {7, 8}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_makes_the_papers_example_safe(problem: Problem, method: str) -> None:
    cells = figure_2()
    for region in ("ns", "nc", "sc"):
        if region in NEEDS.get(method, ("ns", "nc", "sc")):  # type: ignore[call-overload]
            found = find_cells(problem, frozenset({region}), method, seed=3, limits=NONE)  # type: ignore[arg-type]
            state = found.state
            blank = draw_hidden_cells(state.problem, state.outcome(), seed=3)
            assert blank.sum() == state.cells_hidden
            assert is_safe(cells, blank, CONFIDENCE, 0)
            assert not (blank & ~cells.may_hide(frozenset({region}))).any()


def test_hiding_and_publishing_again_are_each_others_opposite(problem: Problem) -> None:
    state = Hiding(problem, frozenset({"ns", "nc", "sc"}))
    before = [part.copy() for part in (state.having, state.both, state.owners)]
    numbers = [(of, cell) for of in range(len(problem.classes)) for cell in range(problem.cells) if state.may_hide(of, cell)]
    for of, cell in numbers:
        target, _ = state.hide(of, cell)
        assert state.cells_hidden == 1
        state.restore(target, cell)
        for part, at_first in zip((state.having, state.both, state.owners), before, strict=True):
            assert np.array_equal(part, at_first)
    assert len(numbers) > 10


def test_a_record_whose_value_is_hidden_supports_no_rule_any_more(problem: Problem) -> None:
    state = Hiding(problem, frozenset({"ns", "nc"}))
    classes = problem.classes
    number = int(np.flatnonzero((classes.people == 2) & (classes.value[:, 0] == 0) & (classes.conditions[:, 0] >= 0))[0])
    after_value, _ = state.hide(number, 3)
    both = state.both.copy()
    state.hide(after_value, 0)
    assert np.array_equal(state.both, both)
    assert (state.having < problem.rules.having).any()


def test_a_pile_that_was_empty_gets_its_gains_back(problem: Problem) -> None:
    state = Hiding(problem, frozenset({"nc"}))
    gains = Gains(state)
    number = int(np.flatnonzero((problem.classes.people == 2) & ~problem.classes.sensitive)[0])
    a, b = np.flatnonzero(state.allowed[number]).tolist()[:2]
    gains.hide(number, a, 1)
    target = state.number_of(Pile(number, 1 << a))
    gains.hide(target, b, 1)
    assert not np.isfinite(gains.gain[target]).any()
    gains.hide(number, a, 1)
    assert np.isfinite(gains.gain[target, b])


def test_roles_of_records(problem: Problem) -> None:
    rules, people = problem.rules, problem.classes.people
    for i in range(len(rules)):
        inside = slice(rules.start[i], rules.start[i + 1])
        member, role = rules.member[inside], rules.role[inside]
        assert people[member].sum() == rules.having[i]
        assert people[member[role == RELEVANT]].sum() == rules.both[i]
        assert people[member[role == OWNER]].sum() == rules.owners[i]


# Must be published


def marked(cells: Cells, published: np.ndarray) -> Cells:
    return replace(cells, published=published)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(6))
def test_cells_that_must_be_published_are_never_hidden(method: str, seed: int) -> None:
    cells = made_cells(seed, one_value=seed % 2 == 0)
    chance = np.random.default_rng(seed)
    cells = marked(cells, chance.random((22, 4)) < 0.3)
    for region in NEEDS.get(method, ("ns", "nc", "sc")):  # type: ignore[call-overload]
        regions = frozenset({region})
        try:
            found = find_cells(problem_of(cells, CONFIDENCE, 0), regions, method, seed=0, limits=NONE)  # type: ignore[arg-type]
        except RepairError:
            continue
        blank = draw_hidden_cells(found.state.problem, found.state.outcome(), seed=0)
        assert cells.published is not None
        assert not (blank & cells.published).any()
        assert not (blank & ~cells.may_hide(regions)).any()
        assert is_safe(cells, blank, CONFIDENCE, 0)


def test_no_safe_table_exists_when_marks_forbid_it() -> None:
    cells = figure_2()
    everything = np.ones((9, 4), bool)
    for method in METHODS:
        with pytest.raises(Infeasible, match="no safe table exists: 9 rules stay unsafe whatever is hidden"):
            find_cells(
                problem_of(marked(cells, everything), CONFIDENCE, 0), frozenset({"ns", "nc", "sc"}), method, seed=0, limits=NONE
            )


def test_infeasible_is_said_only_where_enumeration_finds_no_safe_table() -> None:
    """Small tables with many marks: what is said about them is what trying every choice of cells shows."""
    said = {True: 0, False: 0}
    for seed in range(60):
        cells = made_cells(seed, people=7, attributes=2, values=2, sensitive=2, one_value=seed % 3 == 0)
        cells = marked(cells, np.random.default_rng(seed).random((7, 3)) < 0.7)
        regions = frozenset({"nc", "sc"} if seed % 2 else {"ns", "sc"})
        try:
            find_cells(problem_of(cells, LOW, 0), regions, "greedy", seed=0, limits=NONE)
            feasible = True
        except Infeasible:
            feasible = False
        assert feasible == any_choice_is_safe(cells, regions), seed
        said[feasible] += 1
    assert min(said.values()) > 4


def any_choice_is_safe(cells: Cells, regions: frozenset[str]) -> bool:
    """Whether some choice of cells leaves nothing to infer."""
    free = np.argwhere(cells.may_hide(regions))
    for choice in range(1 << len(free)):
        blank = np.zeros((len(cells.values), cells.attributes + 1), bool)
        for place, (row, cell) in enumerate(free.tolist()):
            blank[row, cell] = choice >> place & 1
        if is_safe(cells, blank, LOW, 0):
            return True
    return False


def test_uniform_says_when_marks_stand_in_its_way() -> None:
    cells = figure_2()
    published = np.zeros((9, 4), bool)
    published[0, :3] = True
    with pytest.raises(RepairError, match="every choice of attributes includes"):
        find_cells(problem_of(marked(cells, published), CONFIDENCE, 0), frozenset({"sc", "ns"}), "uniform", seed=0, limits=NONE)


def test_uniform_prefers_the_attribute_with_the_fewest_cells() -> None:
    """Only both attributes together tell the value; the second one is blank in one of the two sensitive records, so hiding it costs less."""
    rows = [(0, 0, 0), (0, -1, 0), *[(0, 0, 0)] * 3, *[(0, 1, 1)] * 3, *[(1, 0, 1)] * 3]
    table = np.array(rows, np.int32)
    protected = np.zeros((len(rows), 1), bool)
    protected[:2] = True
    problem = problem_of(Cells(table[:, :2], table[:, 2:], protected), CONFIDENCE, 0)
    found = find_cells(problem, frozenset({"sc"}), "uniform", seed=0, limits=NONE)
    assert draw_hidden_cells(problem, found.state.outcome(), seed=0)[:2].tolist() == [[False, True, False], [False, False, False]]


# Several sensitive columns


def test_several_sensitive_columns_are_each_protected() -> None:
    for seed in range(5):
        one, two = made_cells(seed), made_cells(seed + 100)
        cells = Cells(one.conditions, np.hstack([one.values, two.values]), np.hstack([one.protected, one.protected]))
        for regions in ("ns", "nc", "sc", "ns,nc,sc"):
            found = find_cells(problem_of(cells, CONFIDENCE, 0), parse_regions(regions), "greedy", seed=0, limits=NONE)
            blank = draw_hidden_cells(found.state.problem, found.state.outcome(), seed=0)
            assert is_safe(cells, blank, CONFIDENCE, 0)
        found = find_cells(problem_of(cells, CONFIDENCE, 0), frozenset({"ns"}), "smc", seed=0, limits=NONE)
        assert is_safe(cells, draw_hidden_cells(found.state.problem, found.state.outcome(), seed=0), CONFIDENCE, 0)


# Extremes


def test_a_table_that_is_safe_already_hides_nothing() -> None:
    cells = Cells(np.zeros((1, 1), np.int32), np.zeros((1, 1), np.int32), np.ones((1, 1), bool))
    for method in METHODS:
        assert hidden(problem_of(cells, CONFIDENCE, 0), ",".join(NEEDS.get(method, ("ns",))), method) == 0


def test_blanks_fit_no_pattern() -> None:
    cells = figure_2()
    conditions = cells.conditions.copy()
    conditions[:, 0] = -1
    problem = problem_of(replace(cells, conditions=conditions), CONFIDENCE, 0)
    assert all(int(mask) & 1 == 0 for mask in problem.rules.mask)
    assert problem_of(replace(cells, conditions=np.full((9, 3), -1, np.int32)), CONFIDENCE, 0).rules.mask.tolist() == []


def test_a_protected_cell_without_a_value_has_nothing_to_protect() -> None:
    cells = figure_2()
    values = cells.values.copy()
    values[0] = -1
    problem = problem_of(replace(cells, values=values), CONFIDENCE, 0)
    assert "abc" not in [pattern_of(problem, rule) for rule in range(len(problem.rules))]


def test_a_confidence_with_many_digits_decides_as_it_stands() -> None:
    exactly = Fraction("0.66666666666666666666")
    limits = IntegerThresholds.of(exactly, 0, people=9)
    assert limits.unsafe(np.array([3, 3]), np.array([2, 1])).tolist() == [True, False]
    assert not IntegerThresholds.of(Fraction(2, 3), 0, people=9).unsafe(np.array([3]), np.array([2])).any()
    for share in (exactly, Fraction("0.6000000000000000000001"), Fraction("0.0000000000000000001")):
        below = largest_below(share, 50)
        assert all(share * whole // 1 == below * whole // 1 for whole in range(51))


def test_too_many_attributes_are_refused() -> None:
    cells = Cells(np.zeros((2, MOST_ATTRIBUTES + 1), np.int32), np.zeros((2, 1), np.int32), np.array([[True], [False]]))
    with pytest.raises(OptionError, match="--qi: names 61 condition attributes"):
        problem_of(cells, CONFIDENCE, 0)


def test_many_attributes_do_not_blow_up_under_a_support_threshold() -> None:
    chance = np.random.default_rng(0)
    conditions = chance.integers(0, 4, (1000, 40)).astype(np.int32)
    protected = np.zeros((1000, 1), bool)
    protected[:5] = True
    problem = problem_of(Cells(conditions, np.zeros((1000, 1), np.int32), protected), CONFIDENCE, 60)
    assert problem.rules.both.min() > 60
    assert hidden(problem, "ns", "smc") > 0


def test_time_runs_out() -> None:
    problem = problem_of(made_cells(1, people=300), Fraction(1, 10), 0)
    for method in ("greedy", "smc", "cr", "rgraph-random"):
        with pytest.raises(LimitReached):
            find_cells(problem, frozenset({"ns", "nc"}), method, seed=0, limits=Limits(deadline=0.0))


# Names


def test_regions() -> None:
    assert parse_regions({"ns", "nc"}) == parse_regions("nc,ns") == {"ns", "nc"}
    with pytest.raises(OptionError, match="--may-hide: there is no region 'xx'"):
        parse_regions("ns,xx")
    with pytest.raises(OptionError, match="names no region"):
        parse_regions("")


def test_a_method_that_does_not_fit_is_refused() -> None:
    assert choose_method(None, frozenset({"sc"})) == "uniform"
    assert choose_method(None, frozenset({"sc", "ns"})) == "greedy"
    with pytest.raises(
        OptionError, match=r"--method: smc hides ns \(sensitive cells of other records\), which --may-hide does not allow"
    ):
        choose_method("smc", frozenset({"nc"}))
    with pytest.raises(OptionError, match="Did you mean 'greedy'"):
        choose_method("gredy", frozenset({"nc"}))


def test_the_slow_twin_finds_the_papers_leaks() -> None:
    found = set(leaks(figure_2(), np.zeros((9, 4), bool), CONFIDENCE, 0))
    assert len(found) == 7 + 5  # all patterns of the first sensitive record; a, b, d, ab and bd of the second
