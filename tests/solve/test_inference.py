"""Populations, statements and what is left of them; the kernels beside numpy; the conditions that a solution must meet."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from tacit.kernels.entropy import covariance, shares
from tacit.model.people import Population
from tacit.model.table import Table
from tacit.solve import entropy
from tacit.solve.entropy import inside_of, largest_miss, solve
from tacit.solve.statements import Clash, Problem, Statements, reduce
from tests.examples import examples

Event = tuple[list[int], int, int, int]


def population(sizes: list[int]) -> Population:
    """Combinations 0, 1, .. of so many people."""
    rows = [(f"{place:02d}",) for place, size in enumerate(sizes) for _ in range(size)]
    return Population.of(Table.from_rows(["q"], rows))


def said(sizes: list[int], events: list[Event], n_values: int = 2) -> Statements:
    """Statements (combinations, value, lo, hi); the origin of each is its place in the list."""
    out = Statements(population(sizes), n_values)
    for place, (combinations, value, lo, hi) in enumerate(events):
        out.say(np.array(sorted(combinations), np.int32), value, lo, hi, place)
    return out


@st.composite
def consistent(draw: st.DrawFn) -> tuple[list[int], list[Event], int]:
    """Statements that are true of some people."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=6))
    n_values = draw(st.integers(2, 3))
    truth = [draw(st.lists(st.integers(0, n_values - 1), min_size=size, max_size=size)) for size in sizes]
    events: list[Event] = []
    for _ in range(draw(st.integers(0, 8))):
        places = sorted(draw(st.sets(st.integers(0, len(sizes) - 1), min_size=1)))
        value = draw(st.integers(0, n_values - 1))
        count = sum(truth[place].count(value) for place in places)
        below, above = draw(st.sampled_from([(0, 0), (0, 0), (1, 0), (0, 1), (1, 2)]))
        events.append((places, value, max(0, count - below), count + above))
    return sizes, events, n_values


def test_values_are_looked_up_one_by_one_and_among_several() -> None:
    known = Population.of(Table.from_rows(["a", "b"], [("x", "1"), ("x", "2"), ("y", "1"), ("x", "1"), ("z", "3")]))
    assert [known.describe(place) for place in known.holding([("a", "x")])] == [{"a": "x", "b": "1"}, {"a": "x", "b": "2"}]
    assert known.holding([("a", "x"), ("b", "3")]).tolist() == known.holding([("a", "nobody")]).tolist() == []
    assert known.holding([]).tolist() == known.among({}).tolist() == [0, 1, 2, 3]
    assert known.people[known.among({"a": ["x", "z"], "b": ["1", "3"]})].tolist() == [2, 1]
    assert known.among({"a": ["nobody"]}).tolist() == []
    assert (known.n, len(known), known.knows("a", "z"), known.knows("b", "z")) == (5, 4, True, False)


def test_equal_events_have_one_number_and_one_key() -> None:
    one, other = said([1, 2, 3], [([0, 1], 0, 1, 2), ([2], 0, 1, 1), ([1, 0], 1, 1, 1)]), said([1, 2, 3], [([0, 1], 0, 1, 2)])
    assert [statement.event for statement in one.listed] == [0, 1, 0]
    assert one.keys()[0] == other.keys()[0] != one.keys()[1]
    assert (one.whole(0), one.whole(1)) == (3, 3)


def test_what_says_nothing_is_dropped_and_what_says_the_same_is_merged() -> None:
    problem = reduce(said([3, 3, 3], [([0, 1], 0, 0, 6), ([0, 1], 0, 2, 6), ([0, 1], 1, 2, 6), ([0, 1], 0, 0, 4)]))
    assert (problem.lo.tolist(), problem.hi.tolist(), problem.values.tolist()) == ([2], [4], [0])  # of two values one is enough
    assert problem.origins == ((1, 2),)  # the last says what the third does
    assert problem.people.sum() == 9
    assert len(problem.people) == 2  # 0 and 1 are one class


def test_settled_people_are_subtracted() -> None:
    problem = reduce(said([2, 2, 2], [([0], 0, 2, 2), ([0, 1, 2], 0, 3, 5), ([1], 0, 0, 0)]))
    # All of 0 have value 0, none of 1 has: of the two people left at least 1 and at most 2 have it.
    assert problem.closed.sum() == 2
    assert (problem.lo.tolist(), problem.whole.tolist()) == ([1], [2])


@pytest.mark.parametrize(
    ("events", "origins"),
    [
        ([([0], 0, 4, 4)], {0}),
        ([([0, 1], 0, 0, 1), ([0, 1], 0, 2, 4)], {0, 1}),
        ([([0], 0, 2, 2), ([1], 0, 2, 2), ([2], 0, 1, 1), ([0, 1], 0, 0, 3)], {0, 1, 3}),
        ([([0], 0, 0, 0), ([0, 1], 0, 3, 4)], {0, 1}),
    ],
)
def test_clashes_name_the_statements_that_lead_to_them(events: list[Event], origins: set[int]) -> None:
    with pytest.raises(Clash) as caught:
        reduce(said([2, 2, 2], events))
    assert set(caught.value.origins) == origins


def random_problem(seed: int) -> tuple[Problem, Any]:
    """Classes and statements without meaning, for the kernels."""
    rng = np.random.default_rng(seed)
    size, n_values, n_rows = int(rng.integers(1, 7)), int(rng.integers(1, 5)), int(rng.integers(1, 6))
    lists = [np.flatnonzero(rng.random(n_rows) < 0.5) for _ in range(size)]
    closed = (rng.random((size, n_values)) < 0.3).astype(np.uint8)
    closed[np.arange(size), rng.integers(0, n_values, size)] = 0
    starts = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    rows = np.concatenate(lists).astype(np.int32)
    zeros = np.zeros(n_rows, np.int64)
    values = rng.integers(0, n_values, n_rows)
    people = rng.integers(1, 9, size)
    made = Problem(np.arange(size), people, starts, rows, values, zeros, zeros, zeros, closed, (), zeros, int(people.sum()))
    return made, rng.normal(size=n_rows)


@pytest.mark.parametrize("seed", range(25))
def test_kernels_are_what_numpy_says(seed: int) -> None:
    p, multipliers = random_problem(seed)
    size, n_values = p.closed.shape
    weights = p.people / p.n
    about = np.zeros((size, n_values, len(p.values)))
    for c in range(size):
        for j in p.rows[p.starts[c] : p.starts[c + 1]]:
            about[c, p.values[j], j] = 1
    exponent = np.where(p.closed == 0, about @ multipliers, -np.inf)
    norm = np.exp(exponent).sum(axis=1)
    expected = np.exp(exponent) / norm[:, None]
    out, sums = np.empty(size * n_values), np.zeros(len(p.values))
    total = shares(p.starts, p.rows, p.values, weights, p.closed.reshape(-1), multipliers, 0, size, out, sums)
    assert out.reshape(size, n_values) == pytest.approx(expected)
    assert total == pytest.approx(float(weights @ np.log(norm)))
    assert sums == pytest.approx(np.einsum("c,cv,cvj->j", weights, expected, about))
    matrix = np.zeros(len(p.values) ** 2)
    covariance(p.starts, p.rows, p.values, weights, out, n_values, 0, size, matrix)
    mean = np.einsum("cv,cvj->cj", expected, about)
    twin = np.einsum("c,cv,cvi,cvj->ij", weights, expected, about, about) - np.einsum("c,ci,cj->ij", weights, mean, mean)
    assert matrix.reshape(twin.shape) == pytest.approx(np.tril(twin))


@settings(max_examples=examples(200), deadline=None)
@given(consistent())
def test_solutions_meet_the_conditions_of_the_optimum(made: tuple[list[int], list[Event], int]) -> None:
    problem = reduce(said(*made))
    found = solve(problem)
    assert found.converged
    assert found.share.sum(axis=1) == pytest.approx(np.ones(len(problem.people)))
    assert (found.share[problem.closed == 1] == 0).all()
    assert found.violation <= 1e-9
    assert largest_miss(problem, found.share) <= 1e-9
    assert found.gap <= 1e-10
    inside = inside_of(problem)
    if inside is not None and (len(inside[1]) < len(problem.values) or (inside[0].closed != problem.closed).any()):
        return  # something is settled together: multipliers have no end there
    # Shares come from the multipliers, which push only against bounds that are reached, and only away from them.
    classes = np.repeat(np.arange(len(problem.people)), np.diff(problem.starts))
    exponent = np.zeros(found.share.shape)
    np.add.at(exponent, (classes, problem.values[problem.rows]), found.multipliers[problem.rows])
    weight = np.where(problem.closed == 0, np.exp(exponent - exponent.max(axis=1, keepdims=True)), 0.0)
    assert found.share == pytest.approx(weight / weight.sum(axis=1, keepdims=True), abs=1e-9)
    people = problem.people[classes] * found.share[classes, problem.values[problem.rows]]
    sums = np.bincount(problem.rows, people, len(problem.values))
    free = (sums > problem.lo + 1e-3) & (sums < problem.hi - 1e-3)
    assert np.abs(found.multipliers[free]).max(initial=0.0) <= 1e-6
    assert found.multipliers[(problem.lo < problem.hi) & (sums > problem.lo + 1e-3)].max(initial=0.0) <= 1e-6
    assert found.multipliers[(problem.lo < problem.hi) & (sums < problem.hi - 1e-3)].min(initial=0.0) >= -1e-6


def test_small_systems_are_solved_on_one_thread_and_others_keep_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = reduce(said([4, 4, 4], [([0, 1], 0, 3, 3), ([1, 2], 1, 2, 5)]))

    def threads() -> list[int]:
        return [library["num_threads"] for library in entropy.linear_algebra().info() if library["user_api"] == "blas"]

    seen: list[list[int]] = []
    with threadpool_limits(2, "blas"):
        before = threads()
        assert 2 in before
        solve(problem, check=lambda: seen.append(threads()))
        assert seen
        assert all(set(one) == {1} for one in seen)
        assert threads() == before
        monkeypatch.setattr(entropy, "SYSTEM_FOR_THREADS", 0)
        solve(problem, check=lambda: seen.append(threads()))
        assert seen[-1] == before


@settings(max_examples=examples(60), deadline=None)
@given(consistent())
def test_multipliers_of_before_lead_to_the_same_answer(made: tuple[list[int], list[Event], int]) -> None:
    problem = reduce(said(*made))
    cold = solve(problem)
    for start in (cold.multipliers, np.ones(len(problem.values))):
        warm = solve(problem, multipliers=start)
        assert warm.converged
        assert warm.share == pytest.approx(cold.share, abs=2e-6)


@settings(max_examples=examples(100), deadline=None)
@given(consistent())
def test_the_slower_method_leads_to_the_same_answer(made: tuple[list[int], list[Event], int]) -> None:
    problem = reduce(said(*made))
    inside = inside_of(problem)
    smaller = problem if inside is None else inside[0]
    found = entropy._descend(smaller, None, lambda: None, at_first=entropy.MOST_DOWN)
    assert found.converged
    assert largest_miss(problem, found.share) <= 1e-9
    assert found.share == pytest.approx(solve(problem).share, abs=2e-6)


def crossed(seed: int) -> Statements:
    """Rules about pairs of four columns, printed with few digits: many narrow intervals, most of which are reached."""
    rng = np.random.default_rng(seed)
    n_values = int(rng.integers(5, 15))
    sizes = rng.integers(1, 400, 24).tolist()
    kind = rng.integers(0, 8, 24)
    types = rng.dirichlet(np.full(n_values, 0.1), 8)
    truth = np.array([rng.multinomial(size, types[one]) for size, one in zip(sizes, kind, strict=True)])
    n = sum(sizes)
    cells = rng.integers(0, 3, (24, 4))
    pairs = [[(column, cell)] for column in range(4) for cell in range(3)]
    pairs += [[one, other] for [one] in pairs for [other] in pairs if other[0] < one[0]]
    events: list[Event] = []
    for antecedent in pairs:
        places = np.flatnonzero(np.all([cells[:, column] == cell for column, cell in antecedent], axis=0))
        for value in np.flatnonzero(truth[places].sum(axis=0) > 0.02 * n).tolist():
            count = int(truth[places, value].sum())
            events.append((places.tolist(), value, max(0, count - n // 2000), count + n // 2000))
    return said(sizes, events, n_values)


LOST = (15, 30, 33, 39)  #: The central path leads nowhere for these.


@pytest.mark.parametrize("seed", [*LOST, 0, 1])
def test_every_search_ends_with_an_answer(seed: int) -> None:
    problem = reduce(crossed(seed))
    found = solve(problem)
    assert found.converged
    assert largest_miss(problem, found.share) <= 1e-9
    assert found.gap <= 1e-10


def test_the_central_path_may_lose_its_way() -> None:
    paths = [entropy._follow_path(reduce(crossed(seed)), None, lambda: None)[0] for seed in LOST]
    assert not any(path.converged for path in paths)
