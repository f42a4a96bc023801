"""The engine of the joint attack by its parts: lines about several groups, windows that tell each other, cases, clashes, exact weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.checker import check_audit
from tacit.checker.joint import _check_case, _Claim, certificate_box, least_of
from tacit.checker.lines import Box, Statement
from tacit.checker.rules import Reject
from tacit.joint import cube as proofs
from tacit.joint import joint_releases as attack
from tacit.joint import worlds as joint_worlds
from tacit.joint.boxes import HAS, Allowed, Axis, Key, Line, Origin, Problem
from tacit.joint.cube import Cube, Prover, Split, Step, Tree
from tacit.joint.lower import lower
from tacit.joint.programs import Cases, Programs, Solver, clashes, smallest_clash
from tacit.joint.words import _tree_record, box_record
from tacit.joint.worlds import Rows, World
from tacit.model.frequencies import FrequencyTable
from tacit.model.numbers import Bound
from tacit.model.people import Same
from tacit.model.policy import Limits
from tests.joint.test_golden_joint import release_of

Said = tuple[list[tuple[int, dict[str, bool]]], int | None, int | None]


def problem_of(n: int, said: list[Said], names: str = "abc") -> Problem:
    """Lines written as ``[(factor, {"a": True, "b": False}), ..], least, most`` about n people who have or lack items."""
    keys = [Key("item", name) for name in names]
    has = Allowed(frozenset([HAS]))
    axes = tuple(Axis.of(key, [HAS], True, [has]) for key in keys)
    lines = [Line(((1, {}),), n, n, Origin(0, "n", "n", Bound.of(n)))]
    for place, (terms, least, most) in enumerate(said):
        boxes = tuple(
            (factor, {Key("item", name): Allowed(has.values, not inside) for name, inside in box.items()})
            for factor, box in terms
        )
        lines.append(Line(boxes, least, most, Origin(0, place + 2, "count", Bound(0, n))))
    return Problem(axes, tuple(lines), (0,), {}, 0, {axis.key: place for place, axis in enumerate(axes)})


def worlds_of(problem: Problem, n: int) -> list[tuple[int, ...]]:
    """All worlds of n people that fit the lines, by cell."""
    rows = Rows.of(problem, tuple(range(len(problem.axes))))
    size = len(rows.cells)
    return [world for world in compositions(n, size) if rows.fits(np.array(world))]


def compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    if parts == 1:
        return [(total,)]
    return [(first, *rest) for first in range(total + 1) for rest in compositions(total - first, parts - 1)]


def test_lines_about_several_groups_bound_each_of_them_and_every_bound_is_proved() -> None:
    """Random lines of two and three groups with any factors, against all worlds; every proof is re-added by hand."""
    random = np.random.default_rng(5)
    moved = 0
    for _ in range(60):
        world = random.multinomial(4, [1 / 4] * 4)
        said: list[Said] = []
        for _ in range(3):
            boxes = [
                {name: bool(random.integers(2)) for name in "ab" if random.random() < 0.7} for _ in range(random.integers(1, 4))
            ]
            factors = [int(random.choice([-3, -2, -1, 1, 2, 3])) for _ in boxes]
            blank = problem_of(4, [([(factor, box) for factor, box in zip(factors, boxes, strict=True)], None, None)], "ab")
            rows = Rows.of(blank, (0, 1))
            value = (
                sum(factor * int(world[cells].sum()) for factor, cells in rows.where(len(rows.rows) - 1))
                if len(rows.rows) > 1
                else 4
            )
            slack = int(random.integers(0, 2))
            said.append((list(zip(factors, boxes, strict=True)), value - slack, None if random.random() < 0.3 else value + slack))
        problem = problem_of(4, said, "ab")
        cube = Cube(problem, (0, 1))
        cube.tighten(range(len(problem.lines)), lambda: None)
        assert cube.clash < 0
        found = worlds_of(problem, 4)
        cells = Rows.of(problem, (0, 1)).cells
        prover = Prover([cube])
        for group in range(len(cube.lo)):
            inside = cells.inside(cube.box(group))
            counts = [sum(one[cell] for cell in inside.tolist()) for one in found]
            assert cube.lo[group] <= min(counts) <= max(counts) <= cube.hi[group]
            for end in ("lo", "hi"):
                steps = prover.prove(0, group, end)
                moved += len(steps) > 1
                assert steps[-1].value == int(getattr(cube, end)[group])
                re_add(problem, steps)
    assert moved > 50


def test_bounds_alone_lead_to_worlds_with_any_number_of_people_in_a_group() -> None:
    """What is found is one of all worlds, and hardly any number is left without one."""
    random = np.random.default_rng(6)
    outcomes = Counter[str]()
    for _ in range(14):
        world = random.multinomial(5, [1 / 8] * 8)
        boxes = [{name: bool(random.integers(2)) for name in "abc" if random.random() < 0.7} for _ in range(4)]
        blank = problem_of(5, [([(1, box)], 0, 5) for box in boxes])
        held = Rows.of(blank, (0, 1, 2)).cells
        counts = [int(world[held.inside(masks)].sum()) for ((_, masks),) in blank.boxes[1:]]
        said: list[Said] = [([(1, box)], count, count + 1) for box, count in zip(boxes, counts, strict=True)]
        problem = problem_of(5, said)
        cube = Cube(problem, (0, 1, 2))
        cube.tighten(range(len(problem.lines)), lambda: None)
        before = cube.lo.copy(), cube.hi.copy()
        cells = Rows.of(problem, (0, 1, 2)).cells
        known = set(worlds_of(problem, 5))
        for group in range(len(cube.lo)):
            inside = cells.inside(cube.box(group)).tolist()
            for people in range(int(cube.lo[group]), int(cube.hi[group]) + 1):
                found = cube.dive(group, people, lambda: None)
                if found is not None:
                    assert tuple(found.tolist()) in known
                    assert found[inside].sum() == people
                outcomes["missed" if found is None else "found"] += 1
        assert np.array_equal(before, (cube.lo, cube.hi))
    assert outcomes["found"] > 400
    assert outcomes["missed"] * 20 < outcomes["found"]


def test_worlds_add_up_in_matrices_as_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows with a case more share the matrix of the rows before; a rebuilt one and whole numbers of any size are the slow twins."""
    random = np.random.default_rng(8)
    outcomes = set()
    for _ in range(40):
        world = random.multinomial(5, [1 / 4] * 4)
        factors = random.choice([-3, -1, 1, 7], 2).tolist()
        blank = problem_of(5, [([(factors[0], {"a": True}), (factors[1], {"b": False})], None, None)], "ab")
        value = sum(factor * int(world[cells].sum()) for factor, cells in Rows.of(blank, (0, 1)).where(1))
        rows = Rows.of(problem_of(5, [([(factors[0], {"a": True}), (factors[1], {"b": False})], value, value + 1)], "ab"), (0, 1))
        assert rows.matrix.shape == (2, 4)
        most = int(random.integers(5))
        longer = rows.with_case(((2, {0: 1}), (1, {1: 2})), None, most, 0)
        again = Rows(rows.cells, longer.rows, longer.everybody)
        assert (longer.matrix.toarray() == again.matrix.toarray()).all()
        for one in (world, random.multinomial(5, [1 / 4] * 4)):
            by_matrix = longer.adds_up(one)
            with monkeypatch.context() as patch:
                patch.setattr(joint_worlds, "MOST_EXACT", 0)
                assert again.adds_up(one) == by_matrix
            outcomes.add(by_matrix)
    assert outcomes == {False, True}


def re_add(problem: Problem, steps: list[Step]) -> None:
    """Check steps cell by cell: the slow twin of the checker."""
    cells = Rows.of(problem, tuple(range(len(problem.axes)))).cells
    for step in steps:
        sign = 1 if step.end == "lo" else -1
        left = {cell: Fraction(0) for cell in range(len(cells))}
        total = Fraction(0)
        for cell in cells.inside(step.box).tolist():
            left[cell] += sign
        for (kind, number), weight in step.weights.items():
            if kind == "line":
                line = problem.lines[number]
                bound, terms = line.lo if weight > 0 else line.hi, problem.boxes[number]
                assert bound is not None
                total += weight * bound
                parts: list[tuple[int, Any]] = [(factor, masks) for factor, masks in terms]
            else:
                used = steps[number]
                assert weight > 0
                own = 1 if used.end == "lo" else -1
                total += weight * own * used.value
                parts = [(own, used.box)]
            for factor, masks in parts:
                for cell in cells.inside(masks).tolist():
                    left[cell] -= weight * factor
        assert min(left.values()) >= 0
        assert -(-total // 1) >= sign * step.value


def chain() -> list[Any]:
    """Two releases whose items hang together in a row: how many have c follows from the first, and the second needs it."""
    return [release_of("100; a b:95, b c:97"), release_of("100; d:96, d e:9, c e:10, c d e:8")]


def test_windows_tell_each_other_what_they_have_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = lower(chain(), tacit.Same())
    whole = Cube(problem, tuple(range(len(problem.axes))))
    whole.tighten(range(len(problem.lines)), lambda: None)
    monkeypatch.setattr(proofs, "MOST_GROUPS", 30)
    monkeypatch.setattr(proofs, "WINDOW_GROUPS", 30)
    chosen, skipped = proofs.choose_windows(problem)
    assert len(chosen) > 1
    assert skipped == 0
    cubes = proofs.tighten_cubes([Cube(problem, axes) for axes in chosen], lambda: None)
    prover = Prover(cubes)
    taken = 0
    for number, cube in enumerate(cubes):
        taken += sum(move.taken is not None for move in cube.moves)
        for group in range(len(cube.lo)):
            there = whole.group(cube.box(group))
            assert cube.lo[group] <= whole.lo[there]
            assert cube.hi[group] >= whole.hi[there]
            re_add(problem, prover.prove(number, group, "lo"))
            re_add(problem, prover.prove(number, group, "hi"))
    assert taken > 0
    alone = [Cube(problem, axes) for axes in chosen]
    for cube in alone:
        cube.tighten(range(len(problem.lines)), lambda: None)
    assert sum(int((one.hi - one.lo).sum()) for one in cubes) < sum(int((one.hi - one.lo).sum()) for one in alone)


def test_windows_keep_to_themselves_where_groups_cannot_be_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = lower(chain(), tacit.Same())
    monkeypatch.setattr(proofs, "MOST_GROUPS", 30)
    monkeypatch.setattr(proofs, "WINDOW_GROUPS", 30)
    monkeypatch.setattr(proofs, "MOST_COLUMNS", 40)
    cubes = proofs.tighten_cubes([Cube(problem, axes) for axes in proofs.choose_windows(problem)[0]], lambda: None)
    assert len(cubes) > 1
    assert all(move.taken is None for cube in cubes for move in cube.moves)


def test_windows_find_and_prove_what_the_whole_cube_does(monkeypatch: pytest.MonkeyPatch) -> None:
    releases = chain()
    found = tacit.audit(releases, people=tacit.Same(), attacks=["X01"], policy=tacit.Policy(k=3))
    monkeypatch.setattr(proofs, "MOST_GROUPS", 90)
    monkeypatch.setattr(proofs, "WINDOW_GROUPS", 90)
    monkeypatch.setattr(attack, "MOST_CELLS", 20)
    again = tacit.audit(releases, people=tacit.Same(), attacks=["X01"], policy=tacit.Policy(k=3))
    told = {finding.statement for finding in again.findings}
    assert told
    assert told <= {finding.statement for finding in found.findings}
    assert again.attack("X01").undecided > 0
    assert check_audit(again.to_dict(top=1000), releases).ok


#: People with a and b, with a and c, and exactly one of the three kinds that lack one of them: those who lack c are as many as those who
#: lack b, so that neither is one person, and the one lacks a. Half a person of either kind fits as well.
PARITY: list[Said] = [
    ([(1, {"a": True, "b": True})], 2, 2),
    ([(1, {"a": True, "c": True})], 2, 2),
    (
        [
            (1, {"a": True, "b": True, "c": False}),
            (1, {"a": True, "b": False, "c": True}),
            (1, {"a": False, "b": True, "c": True}),
        ],
        1,
        1,
    ),
]


class Book:
    """What the checker asks of the releases, for lines that were made by hand."""

    is_whole = True

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.domains: dict[Any, frozenset[str]] = {}

    def statement(self, cited: dict[str, Any]) -> Statement:
        place = {"n": 0}.get(cited.get("cell", ""), cited.get("line", 2) - 1)
        line = self.problem.lines[place]
        terms = tuple(
            (Fraction(factor), {tuple(key): (allowed.values, allowed.excluded) for key, allowed in box.items()})
            for factor, box in line.terms
        )
        return Statement(terms, line.lo, line.hi, (0, 0))


@pytest.fixture(name="parity")
def made_parity() -> tuple[Problem, Rows, dict[int, int]]:
    problem = problem_of(4, PARITY)
    has, lacks = (Allowed(frozenset([HAS]), excluded) for excluded in (False, True))
    box = {place: problem.axes[place].mask(lacks if place == 0 else has) for place in range(3)}
    return problem, Rows.of(problem, (0, 1, 2)), box


def test_a_proof_by_cases_is_found_where_weights_leave_half_a_person_open(parity: tuple[Problem, Rows, dict[int, int]]) -> None:
    problem, rows, box = parity
    group = rows.cells.inside(box)
    least = Solver(rows, Limits()).bound(group, 1)
    assert least is not None
    assert least[0] == 0
    tree = Cases(rows, Limits(), box, 1, 1).prove()
    assert isinstance(tree, Split)
    found = worlds_of(problem, 4)
    assert {sum(world[cell] for cell in group.tolist()) for world in found} == {1}
    check_tree(problem, box, tree)
    settled = Programs(rows, Limits(), [box], 2)
    settled.settle()
    assert [(low.value, high.value) for low, high in settled.proofs.values()] == [(1, 1)]
    refuted = Cases(rows, Limits(), {1: box[1]}, 1, 4)
    assert refuted.prove() is None
    assert refuted.world is not None
    assert int(refuted.world[rows.cells.inside({1: box[1]})].sum()) < 4


def check_tree(
    problem: Problem, box: dict[int, int], tree: Tree, claimed: int = 1, change: Callable[[Any], None] | None = None
) -> None:
    record: dict[str, Any] = {"event": box_record(problem, box), "at_least": claimed} | _tree_record(problem, tree)
    if change is not None:
        change(record)
    book: Any = Book(problem)
    _check_case(_Claim(book, certificate_box(record["event"]), 1, claimed, [], {}), record, ())


def leaves(record: dict[str, Any]) -> list[dict[str, Any]]:
    return leaves(record["le"]) + leaves(record["ge"]) if "split" in record else [record]


def move_the_split(record: dict[str, Any]) -> None:
    record["split"]["at"] += 1


def split_at_half(record: dict[str, Any]) -> None:
    record["split"]["at"] = 0.5


def call_all_impossible(record: dict[str, Any]) -> None:
    for leaf in leaves(record):
        leaf["impossible"] = not leaf.get("impossible", False)


def use_a_case_outside(record: dict[str, Any]) -> None:
    for leaf in leaves(record):
        leaf["weights"] = [{"case": 9, "weight": "1"}]


def use_the_other_case(record: dict[str, Any]) -> None:
    record["le"], record["ge"] = record["ge"], record["le"]


def say_nothing_is_possible(record: dict[str, Any]) -> None:
    for leaf in leaves(record):
        leaf["weights"], leaf["impossible"] = [], True


def say_it_without_cases(record: dict[str, Any]) -> None:
    record.pop("split")
    record["weights"], record["impossible"] = [], True


@pytest.mark.parametrize(
    "change",
    [
        move_the_split,
        split_at_half,
        call_all_impossible,
        use_a_case_outside,
        use_the_other_case,
        say_it_without_cases,
        say_nothing_is_possible,
    ],
)
def test_tampered_cases_are_rejected(parity: tuple[Problem, Rows, dict[int, int]], change: Callable[[Any], None]) -> None:
    problem, rows, box = parity
    tree = Cases(rows, Limits(), box, 1, 1).prove()
    assert tree is not None
    check_tree(problem, box, tree)
    with pytest.raises(Reject):
        check_tree(problem, box, tree, change=change)
    with pytest.raises(Reject):
        check_tree(problem, box, tree, claimed=2)


def refused(problem: Problem, record: dict[str, Any], claimed: int) -> bool:
    book: Any = Book(problem)
    try:
        _check_case(_Claim(book, certificate_box(record["event"]), 1, claimed, [], {}), record, ())
    except Reject:
        return True
    return False


def test_a_case_says_exactly_one_person_more_than_the_other() -> None:
    problem = problem_of(4, [([(1, {"a": True})], 1, 4)], "ab")
    box = {0: problem.axes[0].mask(Allowed(frozenset([HAS])))}
    told = {"event": box_record(problem, box), "at": 0}
    line = {"release": 0, "line": 2, "what": "count"}
    fewer = {"weights": [line | {"weight": "1"}, {"case": 0, "weight": "-1"}], "impossible": True}
    record = {"event": told["event"], "split": told, "le": fewer, "ge": {"weights": [{"case": 0, "weight": "1"}]}}
    assert not refused(problem, record, 1)
    assert refused(problem, record, 2)


def test_lines_that_clash_prove_nothing_about_a_group() -> None:
    problem = problem_of(4, [([(1, {"a": True})], 3, 3), ([(1, {"a": True, "b": True})], 4, 4)], "ab")
    lines = [
        {"release": 0, "line": 3, "what": "count", "weight": "1"},
        {"release": 0, "line": 2, "what": "count", "weight": "-1"},
    ]
    assert refused(problem, {"event": [], "weights": lines, "impossible": True}, 9)


def test_cases_prove_what_holds_in_all_worlds_and_nothing_else() -> None:
    """Random lines about several groups: the least in any world is proved by weights or cases, one more is not."""
    random = np.random.default_rng(12)
    cells = [dict(zip("ab", signs, strict=True)) for signs in product((True, False), repeat=2)]
    split = 0
    for _ in range(40):
        world = random.multinomial(5, [1 / 4] * 4)
        said: list[Said] = []
        for _ in range(2):
            chosen = random.permutation(4)[: int(random.integers(2, 5))].tolist()
            factors = [int(random.choice([1, 2, 3])) for _ in chosen]
            total = sum(factor * int(world[cell]) for factor, cell in zip(factors, chosen, strict=True))
            said.append(([(factor, cells[cell]) for factor, cell in zip(factors, chosen, strict=True)], total, total))
        problem = problem_of(5, said, "ab")
        rows = Rows.of(problem, (0, 1))
        found = worlds_of(problem, 5)
        for cell in range(4):
            box = rows.cells.box(cell)
            least = min(one[cell] for one in found)
            tree = Cases(rows, Limits(), box, 1, least).prove()
            assert tree is not None
            check_tree(problem, box, tree, claimed=least)
            split += isinstance(tree, Split)
            refuting = Cases(rows, Limits(), box, 1, least + 1)
            assert refuting.prove() is None
            assert refuting.world is not None
    assert split > 10


def test_lines_that_clash_are_as_few_as_can_be() -> None:
    """Of many lines two clash, or three; each alone and each smaller set is possible."""
    many = ", ".join(f"{one}:50" for one in "pqrs")
    two = lower([release_of(f"100; x:50, y:40, x y:20, {many}"), release_of("100; z:50, x y z:21, x z:30")], tacit.Same())
    kept = smallest_clash(two, range(len(two.lines)), Limits())
    assert {(two.lines[line].origin.release, two.lines[line].origin.place) for line in kept} == {(0, 4), (1, 3)}
    three = lower([release_of(f"100; x:60, y:60, {many}"), release_of("100; x y:19, x:60, z:10")], tacit.Same())
    kept = smallest_clash(three, range(len(three.lines)), Limits())
    named = [three.lines[line].origin.what for line in kept]
    assert sorted(named) == ["count", "count", "count", "n"]
    for line in kept:
        assert not clashes(three, [other for other in kept if other != line], Limits())


def test_clashes_that_only_weights_show_are_found() -> None:
    """Three groups of two columns each that overlap too little: along single sums everything fits."""
    problem = problem_of(
        3, [([(1, {"a": True, "b": True}), (1, {"b": True, "c": True})], 6, None), ([(1, {"a": True, "c": True})], 0, 1)]
    )
    assert smallest_clash(problem, range(3), Limits()) == [0, 1, 2]


@pytest.mark.parametrize("size", [1, 2**55, 10**30])
def test_weights_are_exact_however_large_the_numbers_of_a_line_are(size: int) -> None:
    """A confidence with a slack of 2 to the -50 has such factors; neither floats nor 64 bits hold their products."""
    said: list[Said] = [([(3 * size, {"a": True, "b": True}), (-2 * size - 1, {"a": True})], 0, None), ([(1, {"a": True})], 3, 3)]
    problem = problem_of(9, said, "ab")
    rows = Rows.of(problem, (0, 1))
    both = rows.cells.inside({place: axis.mask(Allowed(frozenset([HAS]))) for place, axis in enumerate(problem.axes)})
    bound = Solver(rows, Limits()).bound(both, 1)
    assert bound is not None
    assert bound[0] <= 3
    lone, factors = bound[1], {number: problem.lines[number] for _, number in bound[1]}
    total = sum(
        weight * ((factors[number].lo if weight > 0 else factors[number].hi) or 0) for (_, number), weight in lone.items()
    )
    assert total <= 3
    step = Step(
        {0: problem.axes[0].mask(Allowed(frozenset([HAS]))), 1: problem.axes[1].mask(Allowed(frozenset([HAS])))},
        "lo",
        bound[0],
        lone,
    )
    re_add(problem, [step])


def test_kinds_of_people_are_searched_as_if_all_were_tried() -> None:
    random = np.random.default_rng(2)
    axes = [("item", "a"), ("column", "c"), ("column", "d")]
    domains = {("column", "d"): frozenset("uvw")}
    choices: list[list[str | None]] = [["has", None], ["x", "y", None], ["u", "v", "w"]]
    below = 0
    for _ in range(400):
        terms: list[tuple[Fraction, Box]] = []
        for _ in range(int(random.integers(1, 6))):
            box: Box = {}
            for axis, values in zip(axes, choices, strict=True):
                if random.random() < 0.6:
                    named = [value for value in values if value and random.random() < 0.6]
                    box[axis] = (frozenset(named), bool(random.integers(2)))
            terms.append((Fraction(int(random.integers(-3, 4)), int(random.integers(1, 4))), box))
        least = min(
            sum(
                (
                    weight
                    for weight, box in terms
                    if all((value in box[axis][0]) != box[axis][1] for axis, value in kind if axis in box)
                ),
                Fraction(0),
            )
            for kind in ([*zip(axes, values, strict=True)] for values in product(*choices))
        )
        found = least_of(terms, domains)
        assert (found < 0) == (least < 0)
        assert found >= min(least, Fraction(0))
        below += found < 0
    assert 50 < below < 350


def test_the_owners_rows_refute_only_where_they_fit_the_lines() -> None:
    rows = [["x", "y", "z"]] * 19 + [["x", "y"]] + [["x"]] * 30 + [["y"]] * 20 + [["z"]] * 31
    data = tacit.read_transactions([*rows[:-1], ["z"]])
    releases = [release_of("101; x:50, y:40, x y:20"), release_of("101; z:50, x y z:19")]
    problem = lower(releases, tacit.Same())
    world = World.of_rows(problem, data)
    assert world is not None
    place = {axis.key.name: number for number, axis in enumerate(problem.axes)}
    has = {name: problem.axes[place[name]].mask(Allowed(frozenset([HAS]))) for name in "xyz"}
    lacks = problem.axes[place["z"]].mask(Allowed(frozenset([HAS]), True))
    assert world.count({place["x"]: has["x"], place["y"]: has["y"], place["z"]: lacks}) == 1
    assert world.count({place["z"]: has["z"]}) == 50
    assert World.of_rows(problem, tacit.read_transactions(rows[1:])) is None


def _people_of(seed: int, *, totals: bool) -> World:
    """Many people in few cells, whose table has totals or not."""
    random = np.random.default_rng(seed)
    counts = random.integers(0, 9, (4, 3))
    full = np.pad(counts, ((0, 1), (0, 1)))
    full[-1] = full.sum(axis=0)
    full[:, -1] = full.sum(axis=1)
    names = ([*"abcd", "*"], [*"xyz", "*"])
    kept = [(row, column) for row in range(5) for column in range(4) if totals or (row == 4) != (column == 3)]
    cells = [[names[0][row], names[1][column]] for row, column in kept]
    table = FrequencyTable.of(["a", "b"], cells, [int(full[one]) for one in kept], n=int(counts.sum()), no_sa=True)
    problem = lower([table], Same())
    rows = np.argwhere(counts >= 0).repeat(counts.ravel(), axis=0)
    classes = []
    for axis in problem.axes:
        place = "ab".index(axis.key.name)
        found = [next(one for one, values in enumerate(axis.classes) if name in values) for name in names[place][:-1]]
        classes.append(np.array(found)[rows[:, place]])
    return World(problem, np.stack(classes, axis=1))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("totals", [True, False])
def test_totals_of_people_counted_by_kind_are_those_counted_one_by_one(seed: int, *, totals: bool) -> None:
    world = _people_of(seed, totals=totals)
    assert np.prod([len(axis.classes) for axis in world.problem.axes]) < 0.5 * len(world.kinds)  # else nothing is merged
    one_by_one = [sum(factor * world.count(masks) for factor, masks in terms) for terms in world.problem.boxes]
    assert world.totals == one_by_one
    assert world.fits()


@pytest.mark.parametrize("totals", [True, False])
def test_exchanges_of_a_rigid_problem_change_no_count(*, totals: bool) -> None:
    """People of one row are alike to the lines only if they are alike in everything: exchanges lead nowhere, and are not tried."""
    world = _people_of(1, totals=totals)
    everything = world.problem.tally(world.kinds)((0, 1))
    assert world.problem.is_rigid == totals
    tallies = []
    for seed in range(5):
        random = np.random.default_rng(seed)
        found = world._exchange(random, 1.0, lambda: None)
        tallies.append((found.problem.tally(found.kinds)((0, 1)) == everything).all())
        again = world.exchange(random)
        assert again.fits()
    assert all(tallies) == totals


def test_a_group_that_rests_on_a_hidden_count_told_by_its_column_is_found() -> None:
    """Of row 0, 20 people are in a hidden cell that its column tells; the total less these and the shown ones leaves 9."""
    counts = np.array([[1, 3, 20, 4, 22, 30, 1], [31, 32, 33, 34, 35, 36, 37], [41, 42, 43, 44, 45, 46, 47]])
    full = np.pad(counts, ((0, 1), (0, 1)))
    full[-1] = full.sum(axis=0)
    full[:, -1] = full.sum(axis=1)
    hidden = {(row, column) for row in (0, 1) for column in (0, 1, 3, 6)} | {(0, 2)}
    names = ([*"012", "*"], [*"abcdefg", "*"])
    every = [(row, column) for row in range(4) for column in range(8)]
    cells = [[names[0][row], names[1][column]] for row, column in every]
    shown = [None if one in hidden else int(full[one]) for one in every]
    table = FrequencyTable.of(["row", "column"], cells, shown, n=int(counts.sum()), no_sa=True)
    found = tacit.audit(table, k=10)
    assert found.verdict == "exposed"
    assert [one.statement for one in found.findings] == ["9 people have row=0, and neither column=c, column=e nor column=f."]
    assert check_audit(found.to_dict(top=1000), [table]).ok
