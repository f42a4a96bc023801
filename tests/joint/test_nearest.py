"""Worlds by exchanges, against every world that fits."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.joint import nearest, programs
from tacit.joint.cube import OPEN
from tacit.joint.nearest import Exchanges, Name, Walk, _Ties
from tacit.joint.worlds import Masks, Rows
from tacit.model.arrays import Ints
from tacit.model.policy import Limits
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


def at(rows: Rows, world: np.ndarray, seed: int = 0) -> Walk:
    found = Walk(rows, Limits(seed=seed))
    found.world = world
    return found


def test_a_box_is_refuted_if_some_world_empties_or_fills_it() -> None:
    random = np.random.default_rng(3)
    refuted = 0
    missed = 0
    for _ in range(60):
        rows, world = drawn(random)
        every = np.array(worlds_of(rows.cells.problem, PEOPLE))
        boxes: list[Masks] = [{0: 1}, {1: 2}, {0: 2, 1: 1}, {1: 1, 2: 2}, {0: 1, 1: 1, 2: 1}, {0: 2, 1: 2, 2: 1}]
        counts = np.stack([every[:, rows.cells.inside(box)].sum(axis=1) for box in boxes], axis=1)
        true = ((counts == 0) | (counts >= K)).any(axis=0)
        near = at(rows, world)
        found = near.refute(boxes, K, [(0, OPEN)] * len(boxes))
        assert rows.fits(near.world)
        assert not (found & ~true).any()
        refuted += int(found.sum())
        missed += int((true & ~found).sum())
    assert refuted > 200
    assert missed <= 0.02 * refuted


def test_what_bounds_exclude_is_not_tried() -> None:
    rows = Rows.of(problem_of(4, [([(1, {"a": True})], 0, 4)]), (0, 1, 2))
    world = np.array([1, 1, 1, 0, 1, 0, 0, 0])
    for ends, is_refuted in (((1, 2), False), ((0, 2), True), ((1, OPEN), True)):
        assert at(rows, world).refute([{0: 1}], 4, [ends]).tolist() == [is_refuted]


def test_a_world_is_found_near_the_mean_of_all() -> None:
    """Also where lines about two groups leave few pairs of numbers."""
    random = np.random.default_rng(8)
    found = 0
    for seed in range(60):
        rows, _ = drawn(random)
        every = np.array(worlds_of(rows.cells.problem, PEOPLE))
        world = Walk(rows, Limits(seed=seed)).find(every.mean(axis=0))
        assert world is None or rows.fits(world)
        found += world is not None
    assert found >= 55


def test_exchanges_keep_what_is_exact_and_list_what_they_change() -> None:
    random = np.random.default_rng(6)
    for _ in range(40):
        rows, world = drawn(random)
        held: dict[Name, Ints] = {((0, 1),): rows.cells.inside({0: 1})} if random.random() < 0.5 else {}
        ties = _Ties.of(rows, random.random(len(world)), held)
        assert ties is not None
        matrix = rows.whole[0]
        exchanges = Exchanges(ties, world, random)
        starts, places, values = exchanges._changes
        is_kept = ties.basic[-1] >= 0 or not ties.table[-1, : len(world)].any()
        left = np.flatnonzero(~ties.is_tied)
        assert (np.diff(starts) > 0).all()
        for number in range(len(ties.own)):
            chosen = slice(starts[number], starts[number + 1])
            change = np.zeros(len(world) + len(left), np.int64)
            change[places[chosen]] = values[chosen]
            moved = np.zeros(len(world), np.int64) + change[: len(world)]
            assert change[ties.own[number]] == 1
            assert (np.rint(matrix @ moved)[ties.is_tied] == 0).all()
            assert (np.rint(matrix @ moved)[left] == change[len(world) :]).all()
            assert all(moved[inside].sum() == 0 for inside in held.values() if is_kept)
        # Basic cells follow from all others.
        numbers = np.array([world[inside].sum() for inside in held.values()], np.int64)
        forgotten = world.copy()
        forgotten[ties.basic[ties.solved]] = 0
        assert (ties.tie(forgotten, numbers) == world).all()


def test_a_search_that_fails_changes_nothing() -> None:
    random = np.random.default_rng(7)
    outcomes = set()
    for _ in range(40):
        rows, world = drawn(random)
        ties = _Ties.of(rows, world + random.random(len(world)), {})
        assert ties is not None
        exchanges = Exchanges(ties, world, random)
        group: Ints = rows.cells.inside({0: 1, 1: 2})
        is_found = exchanges.reach(group, K, 1, nearest.EFFORTS[2])
        outcomes.add(is_found)
        assert rows.adds_up(exchanges.people)
        assert exchanges.people[group].sum() >= K if is_found else (exchanges.people == world).all()
    assert outcomes == {False, True}


def test_numbers_that_fit_together_are_chosen() -> None:
    """Eleven people have a, and those who have b as well are between .35 and .37 of them: 4 of 11, and of no number near."""
    said: list[Said] = [([(1, {"a": True})], 8, 14)]
    said += [([(100, {"a": True, "b": True}), (-35, {"a": True})], 0, None)]
    said += [([(100, {"a": True, "b": True}), (-37, {"a": True})], None, 0)]
    rows = Rows.of(problem_of(20, said), (0, 1, 2))
    middle = np.full(8, 2.5)
    middle[rows.cells.inside({0: 1})] = 2.8
    world = Walk(rows, Limits()).find(middle)
    assert world is not None
    assert rows.fits(world)
    assert world[rows.cells.inside({0: 1})].sum() in (11, 14)


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
