"""Exchanges of people against all worlds, one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.model.arrays import Ints
from tacit.solve import bounds
from tacit.solve.bounds import components
from tacit.solve.exchanges import Exchanges, _eliminate
from tacit.solve.program import Program
from tacit.solve.statements import Problem, reduce
from tests.examples import examples
from tests.solve.test_inference import Event, consistent, said

Case = tuple[list[int], list[Event], int]


def programs(problem: Problem) -> list[Program]:
    return [Program(problem, chosen) for chosen in components(problem)]


def worlds(program: Program) -> npt.NDArray[np.int64]:
    """Every world, as a row."""
    every = product(*(range(size + 1) for size in program.size.tolist()))
    return np.array([one for one in every if program.keeps(np.array(one))], np.int64)


def exchanges_of(program: Program, every: npt.NDArray[np.int64]) -> Exchanges:
    """Exchanges between the columns that move, around the mean of all worlds."""
    return Exchanges(program, every.min(axis=0), every.max(axis=0), middle=every.mean(axis=0))


def start(program: Program, every: npt.NDArray[np.int64]) -> Exchanges:
    found = exchanges_of(program, every)
    if not found.mend(50):
        found.go_to(every[0])
    return found


def is_among(people: Ints, every: npt.NDArray[np.int64]) -> bool:
    return bool((every == people).all(axis=1).any())


@settings(max_examples=examples(60), deadline=None)
@given(consistent(), st.integers(0, 5))
def test_every_point_is_a_world_and_nothing_else_is_seen(made: Case, walks: int) -> None:
    for program in programs(reduce(said(*made))):
        if np.prod(program.size + 1.0) > 3000:
            continue
        every = worlds(program)
        low = every.min(axis=0)
        high = every.max(axis=0)
        found = start(program, every)
        assert is_among(found.people, every)
        for _ in range(walks):
            found.walk()
            assert is_among(found.people, every)
        for column in range(len(program)):
            for sign, end in ((1, high), (-1, low)):
                before = found.people
                reached = found.reach(column, int(end[column]), sign, 60)
                assert is_among(found.people, every)
                assert reached or (found.people == before).all(), "a search that fails changes nothing"
                assert not reached or found.people[column] == end[column]
                assert not found.reach(column, int(end[column]) + sign, sign, 5)
        assert (found.seen_low >= low).all()
        assert (found.seen_high <= high).all()


def crossed(seed: int) -> Problem:
    """A table of three columns of which all pairs are published: one person moves only with seven others."""
    chance = np.random.default_rng(seed)
    cells = list(product(range(3), repeat=3))
    sizes = chance.integers(1, 4, len(cells)).tolist()
    truth = [int(chance.integers(0, size + 1)) for size in sizes]
    events: list[Event] = []
    for left, right in ((0, 1), (0, 2), (1, 2)):
        for one, other in product(range(3), repeat=2):
            places = [at for at, cell in enumerate(cells) if (cell[left], cell[right]) == (one, other)]
            count = sum(truth[at] for at in places)
            events.append((places, 0, count, count + int(chance.integers(0, 2))))
    return reduce(said(sizes, events))


@pytest.mark.parametrize("seed", range(6))
def test_the_ends_of_a_crossed_table_are_reached(seed: int) -> None:
    for program in programs(crossed(seed)):
        ends = bounds._Ends(program)
        middle = bounds._shut_together(ends, lambda: None)
        assert middle is not None
        found = Exchanges(program, ends.lo, ends.hi, middle=middle)
        assert found.mend(400)
        for column in found.free.tolist():
            for sign in (1, -1):
                gain = np.zeros(len(program))
                gain[column] = sign
                best = program.whole_people(gain)
                assert best is not None
                goal = int(best[column])
                assert found.has_seen(column, goal, sign) or any(found.reach(column, goal, sign, 400) for _ in range(10))
                assert program.keeps(found.people)


@settings(max_examples=examples(100), deadline=None)
@given(st.integers(0, 10**6))
def test_ties_express_basic_columns_and_say_no_more_than_the_rows(seed: int) -> None:
    chance = np.random.default_rng(seed)
    rows = (chance.random((int(chance.integers(1, 7)), int(chance.integers(1, 9)))) < 0.5).astype(np.int64)
    people = chance.integers(0, 5, rows.shape[1])
    basic, ties, sums = _eliminate(rows, rows @ people, chance.uniform(size=(rows.shape[1],)))
    assert (ties[:, basic] == np.eye(len(basic))).all()
    assert (ties @ people == sums).all()
    rank = np.linalg.matrix_rank
    assert rank(np.concatenate((rows, ties))) == rank(rows)
    assert len(basic) <= rank(rows)


def test_a_row_without_a_pivot_stays_a_condition() -> None:
    """Twice the one column is the sum of the others: no exchange may break that."""
    rows = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    basic, _, _ = _eliminate(rows, np.array([2, 2, 2]), np.array([3.0, 2.0, 1.0]))
    assert len(basic) == 2
    assert abs(np.linalg.det(rows)) == pytest.approx(2)
    problem = reduce(said([4, 4, 4], [([0, 1], 0, 4, 4), ([1, 2], 0, 4, 4), ([0, 2], 0, 4, 4)]))
    (program,) = programs(problem)
    found = Exchanges(program, np.zeros(3, np.int64), program.size, middle=np.full(3, 2.0))
    assert found.mend(10)
    found.walk()
    assert not found.reach(0, 3, 1, 50)
    assert found.people.tolist() == [2, 2, 2]
