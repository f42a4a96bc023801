"""Worlds near a known one, against every world that fits."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.joint import nearest, programs, rearranging
from tacit.joint.cube import OPEN
from tacit.joint.nearest import Effort, choose_cells, refute_near
from tacit.joint.rearranging import Rearranging
from tacit.joint.worlds import Rows
from tacit.model.policy import Limits
from tacit.solve.highs import Session
from tacit.solve.solver import Matrix, solve_linear
from tests.joint.test_engine import Said, problem_of, worlds_of

PEOPLE = 6
K = 3


def drawn(random: np.random.Generator) -> tuple[Rows, np.ndarray]:
    """A few lines about people who have or lack three items, one of them about two groups, and a world that fits."""
    world = random.multinomial(PEOPLE, random.dirichlet(np.ones(8)))
    boxes = [{name: bool(random.integers(2)) for name in "abc" if random.random() < 0.6} for _ in range(5)]
    sums: list[list[tuple[int, dict[str, bool]]]] = [[(1, box)] for box in boxes[2:]]
    sums.append([(3, boxes[0]), (-2, boxes[1])])
    blank = problem_of(PEOPLE, [(terms, None, None) for terms in sums])
    cells = Rows.of(blank, (0, 1, 2)).cells
    said: list[Said] = []
    for terms, masks in zip(sums, blank.boxes[1:], strict=True):
        total = sum(factor * int(world[cells.inside(box)].sum()) for factor, box in masks)
        slack = int(random.choice([0, 0, 1]))
        said.append((terms, total - slack, total + slack))
    return Rows.of(problem_of(PEOPLE, said), (0, 1, 2)), world


@pytest.mark.parametrize("far", [10, 0])
def test_a_box_is_refuted_if_some_world_empties_or_fills_it(far: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where rows that a world is far from missing are left out at first, and looked at afterwards."""
    monkeypatch.setattr(nearest, "EFFORTS", (Effort(4, 50, 4, idle=20), *(Effort(8, 200, 8, idle=20),) * 6))
    monkeypatch.setattr(rearranging, "FAR", far)
    random = np.random.default_rng(3)
    refuted = 0
    missed = 0
    for _ in range(30):
        rows, world = drawn(random)
        every = np.array(worlds_of(rows.cells.problem, PEOPLE))
        boxes = [{0: 1}, {1: 2}, {0: 2, 1: 1}, {1: 1, 2: 2}, {0: 1, 1: 1, 2: 1}, {0: 2, 1: 2, 2: 1}]
        counts = np.stack([every[:, rows.cells.inside(box)].sum(axis=1) for box in boxes], axis=1)
        true = ((counts == 0) | (counts >= K)).any(axis=0)
        near = Rearranging(rows, world, Limits())
        found = refute_near(near, boxes, K, [(0, OPEN)] * len(boxes))
        assert rows.fits(near.world)
        assert not (found & ~true).any()
        refuted += int(found.sum())
        missed += int((true & ~found).sum())
    assert refuted > 100
    assert missed <= 0.02 * refuted


def test_what_bounds_exclude_is_not_tried() -> None:
    rows = Rows.of(problem_of(4, [([(1, {"a": True})], 0, 4)]), (0, 1, 2))
    world = np.array([1, 1, 1, 0, 1, 0, 0, 0])
    for ends, is_refuted in (((1, 2), False), ((0, 2), True), ((1, OPEN), True)):
        assert refute_near(Rearranging(rows, world, Limits()), [{0: 1}], 4, [ends]).tolist() == [is_refuted]


def test_a_second_search_follows_where_the_first_finds_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """With many cells, and after something else was found: the second is for few people in all open groups."""
    costs: list[np.ndarray] = []
    search = programs.Solver.world

    def fail_once(solver: programs.Solver, cost: np.ndarray) -> np.ndarray | None:
        costs.append(cost)
        return search(solver, cost) if len(costs) > 1 else None

    monkeypatch.setattr(programs, "FEW_CELLS", 0)
    monkeypatch.setattr(programs.Solver, "world", fail_once)
    rows = Rows.of(problem_of(4, [([(1, {"a": True})], 0, 4)]), (0, 1, 2))
    asked = programs.Programs(rows, Limits(), [{0: 1}, {1: 1}, {2: 1}], K, eager=False)
    asked.settle()
    assert asked.world is not None
    assert not asked.open.any()
    assert [bool(cost.any()) for cost in costs] == [False, True]


def test_cells_around_a_box_hold_its_people() -> None:
    random = np.random.default_rng(4)
    for most in (1, 2, 4, 8):
        rows, world = drawn(random)
        near = Rearranging(rows, world, Limits())
        for box in ({0: 1}, {0: 2, 1: 1}):
            cells = choose_cells(near, box, most)
            assert len(cells) <= most
            inside = rows.cells.inside(box)
            assert not world[inside].any() or world[np.intersect1d(cells, inside)].any()


def test_a_session_finds_the_optimum_of_each_question() -> None:
    """Every question starts anew: an infeasible one leaves nothing behind for the next."""
    random = np.random.default_rng(5)
    outcomes = set()
    for _ in range(20):
        matrix = random.integers(-1, 2, (4, 6)).astype(float)
        low = -random.integers(0, 3, 4).astype(float)
        high = random.integers(0, 3, 4).astype(float)
        cost = random.uniform(1, 2, 6)
        row, column = np.nonzero(matrix)
        columns = Matrix.of_entries(row, column, matrix[row, column], (4, 6)).columns
        arrays = {"starts": columns.starts, "rows": columns.rows, "values": columns.values, "low": low, "high": high}
        session = Session({"cost": cost, "least": np.zeros(6), "most": np.full(6, 5.0), **arrays}, 1_000)
        for _ in range(6):
            places = np.flatnonzero(random.random(6) < 0.5)
            factors = random.choice([-1.0, 1.0], len(places))
            wanted = float(random.integers(1, 4))
            found = session.solve(places, factors, wanted, np.inf)
            extra = np.zeros(6)
            extra[places] = -factors
            above = np.concatenate((matrix, -matrix, [extra]))
            row, column = np.nonzero(above)
            sparse = Matrix.of_entries(row, column, above[row, column], (9, 6))
            known = solve_linear(cost, above=(sparse, np.concatenate((high, -low, [-wanted]))), bounds=(0, 5))
            assert (found is None) == (known.x is None)
            if found is not None:
                assert cost @ found[0] == pytest.approx(known.value)
            outcomes.add(found is None)
    assert outcomes == {False, True}
