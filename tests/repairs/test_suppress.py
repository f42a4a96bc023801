"""Suppression: the fewest cells, judged by every world; what is kept, hidden first, protected and weighed."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.joint.protection import Need, find_told
from tacit.model.frequencies import CellPrinting, FrequencyTable
from tacit.model.people import Same
from tacit.model.policy import Limits
from tacit.model.release import ValueGroup
from tacit.repairs.suppress import FEW_ROUNDS, MOST_JUDGED, Separation, SuppressCase, propose, smallest_hitting_set
from tacit.verbs.suppress import Options, Plan
from tests.judge.magnitudes import full_case, table_of
from tests.judge.magnitudes import judge as judge_sums
from tests.judge.suppression import SHAPES, Judged, Small, all_worlds, draw, judge, lines_over, releases
from tests.shell import tacit as run


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(6))
def test_every_world_finds_nothing_told_and_no_smaller_choice(shape: str, seed: int) -> None:
    outcome, told = judge(draw(seed, shape))
    assert outcome == "right", told


@pytest.mark.parametrize("seed", [9, 16])  # tables whose ranges are too narrow without the margin
def test_every_world_finds_ranges_as_wide_as_asked_and_no_smaller_choice(seed: int) -> None:
    outcome, told = judge(draw(seed, margin=Fraction(1)))
    assert outcome == "right", told


@pytest.mark.parametrize("seed", [*range(4), 1105, 1149])  # the last two were not the smallest once
def test_programs_find_no_sum_told_and_no_smaller_choice(seed: int) -> None:
    outcome, told = judge_sums(seed)
    assert outcome == "right", told


@pytest.mark.parametrize(("attacker", "is_told"), [("method", False), ("rule", False), ("reader", True)])
def test_an_attacker_who_runs_the_method_on_every_world_learns_nothing(attacker: Any, is_told: bool) -> None:
    """The minimality attack: of all tables, only those that would have been published so are possible."""
    columns: dict[str, tuple[str, ...]] = {"a": ("a1", "a2"), "b": ("b1", "b2")}
    lines = (lines_over(columns, ("a", "b")),)
    k = 2
    published: dict[tuple[int, ...], list[list[int]]] = {}
    for world in all_worlds(4, 6).tolist():
        case = Small(columns, lines, tuple(world), k, attacker, False, {})
        try:
            done = tacit.repair(releases(case)[0], method="suppress", k=k, attacker=attacker)
        except tacit.Infeasible:
            continue
        published.setdefault(tuple(done.release.printed.tolist()), []).append(world)
    groups = Judged(Small(columns, lines, (6, 0, 0, 0), k, attacker, False, {})).group_flags
    told = 0
    for worlds in published.values():
        sizes = np.array(worlds) @ groups
        told += int(((sizes.min(axis=0) > 0) & (sizes.max(axis=0) < k)).any())
    assert len(published) > 15
    assert (told > 0) == is_told


# The search


def _brute_force(cuts: list[frozenset[int]], weights: list[float]) -> float:
    every = range(len(weights))
    choices = (chosen for size in range(len(weights) + 1) for chosen in combinations(every, size))
    return min(sum(weights[one] for one in chosen) for chosen in choices if all(cut & set(chosen) for cut in cuts))


@pytest.mark.parametrize("seed", range(20))
def test_the_smallest_hitting_set_is_that_of_all_choices(seed: int) -> None:
    random = Random(seed)
    weights = [float(random.randint(1, 4)) for _ in range(8)]
    cuts = [frozenset(random.sample(range(8), random.randint(1, 4))) for _ in range(6)]
    case = _search_case(weights, cuts)
    found = smallest_hitting_set(cuts, case)
    best = _brute_force(cuts, weights)
    assert sum(weights[one] for one in found.chosen) == best == found.bound
    choice = propose(case)
    assert choice.is_safe
    assert choice.is_optimal
    assert choice.weight == choice.lower_bound == best


def _search_case(weights: list[float], cuts: list[frozenset[int]]) -> SuppressCase:
    """A case whose judge names one broken cut at a time."""

    def separate(chosen: frozenset[int], _: Limits) -> Separation:
        broken = [cut for cut in cuts if not cut & chosen]
        return Separation(tuple(broken[:1]), is_safe=not broken)

    return SuppressCase(np.array(weights), np.ones(len(weights)), 1.0, separate=separate, limits=Limits())


def test_a_judge_who_cannot_decide_leaves_nothing_safe() -> None:
    case = SuppressCase(np.ones(2), np.ones(2), 1.0, separate=lambda _, __: Separation(), limits=Limits())
    choice = propose(case)
    assert not choice.is_safe
    assert not choice.is_optimal


def test_a_proof_that_rests_on_no_line_makes_it_infeasible() -> None:
    case = SuppressCase(np.ones(2), np.ones(2), 1.0, separate=lambda _, __: Separation((frozenset(),)), limits=Limits())
    with pytest.raises(tacit.Infeasible, match="has to stay published"):
        propose(case)


def test_a_judge_who_knows_only_that_everything_is_safe_hides_as_few_as_bisection_finds() -> None:
    def separate(chosen: frozenset[int], _: Limits) -> Separation:
        return Separation(is_safe=chosen >= {0, 1, 2})

    choice = propose(SuppressCase(np.ones(9), np.ones(9), 1.0, separate=separate, limits=Limits()))
    assert choice.is_safe
    assert choice.hidden == {0, 1, 2}
    assert not choice.is_optimal


def test_everything_is_hidden_where_the_search_has_no_time() -> None:
    def separate(chosen: frozenset[int], limits: Limits) -> Separation:
        limits.check("judge")
        return Separation((frozenset([3]),) if 3 not in chosen else (), is_safe=len(chosen) == 4)

    over = Limits(deadline=0.0)
    choice = propose(SuppressCase(np.ones(4), np.ones(4), 1.0, separate=separate, limits=over))
    assert choice.is_safe
    assert choice.hidden == {0, 1, 2, 3}
    with pytest.raises(tacit.LimitReached):
        propose(SuppressCase(np.ones(4), np.ones(4), 1.0, separate=separate, limits=over, reserve=over))


def test_the_first_proof_that_nothing_breaks_ends_the_search() -> None:
    asked: list[int] = []

    def separate(chosen: frozenset[int], _: Limits) -> Separation:
        asked.append(len(chosen))
        return Separation((frozenset(set(range(20)) - chosen),))

    with pytest.raises(tacit.Infeasible, match="has to stay published"):
        propose(SuppressCase(np.ones(20), np.ones(20), 1.0, separate=separate, limits=Limits()))
    assert asked == [0, 20]


def _regions(groups: dict[str, str]) -> FrequencyTable:
    people = dict(zip("ABIJKLMN", (2, 2, 8, 8, 3, 3, 3, 7), strict=True))
    cells = [[region] for region in people] + [[name] for name in groups] + [["*"]]
    counts: list[int | None] = [*people.values(), *(sum(people[one] for one in own) for own in groups.values()), 36]
    named = tuple(ValueGroup("region", name, tuple(own)) for name, own in groups.items())
    return FrequencyTable.of(["region"], cells, counts, n=36, groups=named, no_sa=True)


@pytest.mark.parametrize(("k", "attacker", "hidden"), [(3, "method", 6), (4, "reader", 12), (4, "rule", 16)])
def test_two_hierarchies_of_one_column_are_safe_together(k: int, attacker: Any, hidden: int) -> None:
    """The linked tables of sdcTools/UserSupport 136, which protection one by one in turn left unsafe."""
    linked = [_regions({"county-1": "ABIJ", "county-2": "KLMN"}), _regions({"BIG": "LM", "small": "ABIJKN"})]
    done = tacit.repair(linked, method="suppress", k=k, attacker=attacker)
    assert done.ok
    assert done.facts["optimal"]
    assert done.facts["hidden"] == hidden
    people = np.array([2, 2, 8, 8, 3, 3, 3, 7])
    sums = np.array([[region in own for region in "ABIJKLMN"] for own in [*"ABIJKLMN", "ABIJ", "KLMN", "LM", "ABIJKN"]], int)
    shown = [not release.is_hidden[place] for release in done.release for place in range(8, 10)]
    kept = [*(~done.release[0].is_hidden[:8]).tolist(), *shown]
    worlds = all_worlds(kept[:8].count(False), int(people[~np.array(kept[:8])].sum()))
    full = np.tile(people, (len(worlds), 1))
    full[:, ~np.array(kept[:8])] = worlds
    fits = full[(full @ sums[kept].T == sums[kept] @ people).all(axis=1)]
    sizes = fits @ sums.T
    assert not ((sizes.min(axis=0) > 0) & (sizes.max(axis=0) < k)).any()


# Ranges of hidden cells


@pytest.mark.parametrize("seed", range(12))
def test_ranges_of_hidden_cells_are_those_of_all_worlds(seed: int) -> None:
    case = draw(seed, "two-way")
    judged = Judged(case)
    random = Random(seed)
    lines = case.tables[0]
    hidden = {line for line in lines if random.random() < 0.6 and judged.cell(line) != judged.everybody}
    counts: list[int | None] = [None if line in hidden else judged.truth[judged.cell(line)] for line in lines]
    table = FrequencyTable.of(list(case.columns), [list(line) for line in lines], counts, n=case.n, no_sa=True)
    fits = np.ones(len(judged.worlds), np.bool_)
    for line in lines:
        if line not in hidden:
            fits &= judged.counts[judged.cell(line)] == judged.truth[judged.cell(line)]
    for index, line in enumerate(lines):
        sizes = judged.counts[judged.cell(line)][fits]
        least = int(sizes.min())
        most = int(sizes.max())
        assert not _told(table, Need(0, index, least, most))
        assert _told(table, Need(0, index, least - 1, None))
        assert _told(table, Need(0, index, None, most + 1))
        assert _told(table, Need(0, index, least - 1, most + 1, either=True))
        assert not _told(table, Need(0, index, least - 1, most, either=True))


def _told(table: FrequencyTable, need: Need) -> bool:
    found = find_told([table], Same(), (0,), [need], Limits())
    assert not found.open
    return bool(found.told)


# Options

CELLS = [["a", "x"], ["a", "y"], ["a", "z"], ["b", "x"], ["b", "y"], ["b", "z"], ["*", "x"], ["*", "y"], ["*", "z"]]
CELLS += [["a", "*"], ["b", "*"], ["*", "*"]]
COUNTS: list[int | None] = [3, 20, 40, 30, 25, 60, 33, 45, 100, 63, 115, 178]


def _table(hide_below: int | None = None) -> FrequencyTable:
    counts = [None if hide_below is not None and (count or 0) < hide_below else count for count in COUNTS]
    printing = None if hide_below is None else CellPrinting(hidden_below=hide_below)
    return FrequencyTable.of(["row", "col"], CELLS, counts, n=178, printing=printing, no_sa=True)


def test_a_small_cell_is_protected_by_a_block() -> None:
    done = tacit.repair(_table(), method="suppress")
    assert done.ok
    assert done.before.verdict == "exposed"
    record = done.to_dict()
    assert {name: record[name] for name in ("primary", "hidden", "lower_bound", "optimal")} == {
        "primary": 1,
        "hidden": 4,
        "lower_bound": 4,
        "optimal": True,
    }
    assert [change["before"]["count"] for change in record["changes"]] == [3, 20, 30, 25]
    assert all(change["after"] == {} for change in record["changes"])


def test_hidden_cells_are_all_alike_and_promise_nothing(tmp_path: Path) -> None:
    done = tacit.repair(_table(hide_below=10), method="suppress")
    assert done.facts["hidden"] == done.facts["lower_bound"] == 3
    out = tmp_path / "out.csv"
    tacit.write_release(done.release, out)
    header = json.loads((tmp_path / "out.csv.json").read_text())
    assert header["hidden_below"] is None
    assert header["zeros_shown"] is False
    assert header["made_by"] == {"method": "suppress", "changes": "lines"}
    back: Any = tacit.read_release(out)
    assert set(back.marks) == {""}
    assert tacit.audit(back).ok
    assert {int(hi) for hi in back.hi[back.is_hidden]} == {178}


def test_lines_are_kept_and_hidden_first(tmp_path: Path) -> None:
    first = tmp_path / "first.txt"
    first.write_text('# whole columns\n\n{"col": "z"}\n', encoding="utf-8")
    done = tacit.repair(_table(), method="suppress", keep="row=a,col=y", hide_first=first)
    hidden = {tuple(CELLS[index]) for index in np.flatnonzero(done.release.is_hidden).tolist()}
    assert ("a", "y") not in hidden
    assert done.ok
    assert hidden == {("a", "x"), ("a", "z"), ("b", "x"), ("b", "z")}


def test_what_has_to_stay_may_leave_nothing_to_hide() -> None:
    with pytest.raises(tacit.Infeasible):
        tacit.repair(_table(), method="suppress", keep=["row=*", "row=b", "col=*", 3, 4])


@pytest.mark.parametrize("keep", ["row=a,col=x", 2])
def test_a_small_cell_cannot_be_kept(keep: Any) -> None:
    with pytest.raises(tacit.Infeasible, match="fewer than 10 people"):
        tacit.repair(_table(), method="suppress", keep=keep)


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"keep": "row=nowhere"}, "names no line"),
        ({"keep": "nonsense"}, "neither a file"),
        ({"keep": "{row"}, "not a JSON object"),
        ({"hide_first": 99}, "names no line"),
        ({"cost": "money"}, "no cost"),
        ({"attacker": "nobody"}, "no attacker"),
        ({"protect": 2}, "at most 1"),
        ({"protect": 0}, "above 0"),
        ({"base": 5}, "does not apply"),
        ({"seed": 5}, "does not apply"),
        ({"lines": [2]}, "does not apply"),
        ({"goal": "frequent-only"}, "goal for itemsets"),
    ],
)
def test_what_makes_no_sense_is_refused(given: Any, what: str) -> None:
    with pytest.raises(tacit.OptionError, match=what):
        tacit.repair(_table(), method="suppress", **given)


def test_costs_weigh_people_or_cells() -> None:
    by_cells = tacit.repair(_table(), method="suppress", cost="cells")
    by_people = tacit.repair(_table(), method="suppress", cost="people")
    by_log = tacit.repair(_table(), method="suppress", cost="log")
    assert by_cells.facts["hidden"] <= by_people.facts["hidden"]
    assert by_people.cost["people_hidden"] <= by_cells.cost["people_hidden"]
    assert by_people.facts["value"] == by_people.cost["people_hidden"]
    for done in (by_cells, by_people, by_log):
        assert done.ok
        assert done.facts["optimal"]


@pytest.mark.parametrize("attacker", ["method", "reader"])
def test_protected_cells_have_wide_ranges(attacker: Any) -> None:
    """A margin as wide as the count: from nobody to twice as many, as far as the attacker does not know k."""
    done = tacit.repair(_table(), method="suppress", protect="100%", attacker=attacker)
    assert done.ok
    hidden = np.flatnonzero(done.release.is_hidden).tolist()
    place = CELLS.index(["a", "x"])
    assert place in hidden
    assert not _told(done.release, Need(0, place, 1, 6))


def test_protection_of_hidden_cells_needs_their_counts() -> None:
    with pytest.raises(tacit.OptionError, match="counts of hidden cells"):
        tacit.repair(_table(hide_below=10), method="suppress", protect=0.2)
    rows = [
        (row, col) for (row, col), count in zip(CELLS, COUNTS, strict=True) for _ in range(count or 0) if "*" not in (row, col)
    ]
    people = tacit.read_table({"row": [row for row, _ in rows], "col": [col for _, col in rows]})
    assert tacit.repair(_table(hide_below=10), method="suppress", protect=0.2, data=people).ok


def test_zeros_stay_where_readers_take_hidden_cells_for_anything() -> None:
    counts: list[int | None] = [0, 23, 40, 30, 25, 60, 30, 48, 100, 63, 115, 178]
    table = FrequencyTable.of(["row", "col"], CELLS, counts, n=178, no_sa=True)
    read = tacit.repair(table, method="suppress", attacker="reader")
    assert read.release is table
    assert read.facts["hidden"] == 0
    known = tacit.repair(table, method="suppress")
    assert known.release.is_hidden[0]
    assert known.facts["hidden"] == 4
    kept = tacit.repair(table, method="suppress", keep=2)
    assert kept.release is table


def test_a_list_beside_a_table_loses_lines() -> None:
    rows = ["a x"] * 15 + ["a y"] * 3 + ["b x"] * 20 + ["b y"] * 30
    people = tacit.read_table({"row": [one[0] for one in rows], "col": [one[2] for one in rows]})
    table = tacit.tabulate(people, by="row", sa="none")
    listed = tacit.mine_itemsets(people, min_support=15)
    assert tacit.audit([table, listed]).verdict == "exposed"
    done = tacit.repair([table, listed], method="suppress", attacker="reader")
    assert done.ok
    assert len(done.release) == 2
    assert done.facts["hidden"] >= 1


def test_rounded_tables_are_refused() -> None:
    table = FrequencyTable.of(["row"], [["a"], ["b"]], [10, 20], n=30, printing=CellPrinting(base=5))
    with pytest.raises(tacit.OptionError, match="rounded"):
        tacit.repair(table, method="suppress")


def test_suggestions_hold_it_and_the_command_of_it() -> None:
    ways = tacit.suggest(_table(hide_below=10), seconds=30)
    found = {one.method: one for one in ways}
    assert found["suppress"].ok
    assert found["suppress"].cost["cells_lost"] == 3
    assert found["suppress"].lines() == ["tacit repair RELEASE --method suppress -o OUT"]


def test_the_command_writes_several_tables_into_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = "\n".join(f"{row},{col},{count}" for (row, col), count in zip(CELLS, COUNTS, strict=True))
    Path("one.csv").write_text(f"row,col,count\n{lines}\n", encoding="utf-8")
    Path("two.csv").write_text("row,sex,count\na,F,30\na,M,33\nb,F,55\nb,M,60\na,*,63\nb,*,115\n*,*,178\n", encoding="utf-8")
    Path("keep.txt").write_text("two.csv: 2\none.csv: row=*\n", encoding="utf-8")
    done = run(
        "repair",
        "one.csv",
        "two.csv",
        "--people",
        "same",
        "--sa",
        "none",
        "--method",
        "suppress",
        "--keep",
        "keep.txt",
        "-o",
        "out",
        "--json",
        "-",
    )
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    assert record["method"] == "suppress"
    assert record["hidden"] == record["lower_bound"]
    assert record["optimal"] is True
    assert sorted(path.name for path in Path("out").iterdir()) == ["one.csv", "one.csv.json", "two.csv", "two.csv.json"]
    assert run("audit", "out/one.csv", "out/two.csv", "--people", "same").exit_code == 0


def test_a_line_that_need_not_be_hidden_is_shown_rather_than_protected() -> None:
    """To hide line 0 is only a problem if line 1 stays: showing it is cheaper than hiding both."""

    def separate(chosen: frozenset[int], _: Limits) -> Separation:
        broken = [cut for cut in (frozenset({0, 2}),) if not cut & chosen]
        given = ((frozenset({1, 3}), 0),) if 0 in chosen and not chosen & {1, 3} else ()
        return Separation(tuple(broken), is_safe=not broken and not given, given=given)

    case = SuppressCase(np.array([1.0, 1.0, 1.0, 1.0]), np.array([0.1, 1, 1, 1]), 1.0, separate=separate, limits=Limits())
    choice = propose(case)
    assert choice.hidden == {2}
    assert choice.is_optimal


@pytest.mark.parametrize("seed", range(40))
def test_the_smallest_choice_meets_conditional_cuts_too(seed: int) -> None:
    random = Random(seed)
    size = 7
    cuts = [frozenset(random.sample(range(size), random.randint(1, 3))) for _ in range(random.randint(1, 4))]
    given = [(frozenset(random.sample(range(size), random.randint(0, 2))), random.randrange(size)) for _ in range(4)]
    given = [(units - {line}, line) for units, line in given]
    case = _search_case([float(random.randint(1, 3)) for _ in range(size)], [])

    def is_met(chosen: frozenset[int]) -> bool:
        return all(cut & chosen for cut in cuts) and all(units & chosen or line not in chosen for units, line in given)

    choices = [frozenset(one) for number in range(size + 1) for one in combinations(range(size), number)]
    lightest = min((sum(case.weights[unit] for unit in one) for one in choices if is_met(one)), default=None)
    found = smallest_hitting_set(cuts, case, given=given)
    if lightest is None:
        assert not found.is_exact
        return
    assert is_met(found.chosen)
    assert sum(case.weights[unit] for unit in found.chosen) == pytest.approx(lightest)
    assert found.bound <= lightest + 1e-6


@pytest.mark.parametrize("seed", range(40))
def test_of_sums_no_line_is_hidden_alone(seed: int) -> None:
    random = Random(seed)
    size = 7
    cuts = [frozenset(random.sample(range(size), random.randint(1, 3))) for _ in range(random.randint(1, 3))]
    sums = [frozenset(random.sample(range(size), random.randint(2, 4))) for _ in range(3)]
    held = frozenset(random.sample(range(size), random.randint(0, 2)))
    cuts = [cut for cut in cuts if not cut & held] or [frozenset({next(one for one in range(size) if one not in held)})]
    case = _search_case([float(random.randint(1, 3)) for _ in range(size)], [])

    def is_met(chosen: frozenset[int]) -> bool:
        return all(cut & chosen for cut in cuts) and all(len(own & (chosen | held)) != 1 for own in sums)

    rest = [unit for unit in range(size) if unit not in held]
    choices = [frozenset(one) for number in range(len(rest) + 1) for one in combinations(rest, number)]
    lightest = min((sum(case.weights[unit] for unit in one) for one in choices if is_met(one)), default=None)
    found = smallest_hitting_set(cuts, case, sums=sums, held=held)
    if lightest is None:
        assert not found.is_exact
        return
    assert is_met(found.chosen)
    assert sum(case.weights[unit] for unit in found.chosen) == pytest.approx(lightest) == found.bound


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("attacker", ["method", "rule", "reader"])
def test_a_line_hidden_alone_of_a_sum_hides_nothing(shape: str, attacker: Any) -> None:
    """Every world that fits without the line gives it the number that it has."""
    looked = 0
    for seed in range(40):
        case = replace(draw(seed, shape), attacker=attacker)
        judged = Judged(case)
        given = releases(case)
        plan = Plan(tuple(given), Same(), (0,) * len(given), case.k, options=Options(), attacker=attacker)
        cell_of = {unit: case.cell(case.tables[places[0][0]][places[0][1]]) for unit, places in enumerate(plan.units)}
        random = Random(seed)
        for own in plan.sums:
            others = frozenset(cell for unit, cell in cell_of.items() if unit not in own and random.random() < 0.5)
            for unit in own:
                shown = judged.primary | others
                assert (judged.possible(shown | {cell_of[unit]}) == judged.possible(shown)).all()
                looked += 1
    assert looked > 50


def _block(width: int, small: tuple[int, int]) -> FrequencyTable:
    counts = np.array([[20 + (3 * row + 5 * column) % 7 for column in range(width)] for row in range(width)])
    counts[small] = 2
    full = np.pad(counts, ((0, 1), (0, 1)))
    full[-1] = full.sum(axis=0)
    full[:, -1] = full.sum(axis=1)
    names = [*(f"{place:02}" for place in range(width)), "*"]
    cells = [[row, column] for row in names for column in names]
    return FrequencyTable.of(["a", "b"], cells, full.ravel().tolist(), n=int(full[-1, -1]), no_sa=True)


def test_that_a_block_is_needed_is_seen_at_once() -> None:
    """Without sums, this takes a proof for every corner that others could have: 17 rounds."""
    done = tacit.repair(_block(12, (0, 0)), method="suppress", k=5)
    assert done.ok
    assert done.facts["hidden"] == done.facts["lower_bound"] == 4
    assert done.facts["rounds"] <= 6


def test_what_follows_from_others_does_not_protect() -> None:
    """A judge who overlooks that line 0 follows from shown lines does not make a choice safe that rests on it."""

    def separate(chosen: frozenset[int], _: Limits) -> Separation:
        broken = [cut for cut in (frozenset({0, 2}),) if not cut & chosen]
        return Separation(tuple(broken), is_safe=not broken)

    case = SuppressCase(np.array([1.0, 3.0, 5.0]), np.ones(3), 1.0, separate=separate, limits=Limits(), sums=(frozenset({0, 1}),))
    choice = propose(case)
    assert choice.is_safe
    assert choice.hidden == {0, 1}
    assert choice.lower_bound == 4
    alone = replace(case, sums=(frozenset({0}),), separate=lambda chosen, _: Separation(is_safe=0 in chosen))
    assert not propose(alone).is_safe


def test_a_cell_that_its_column_tells_protects_no_row_of_adults() -> None:
    """20 preschoolers are married, as their column says; without them, 9 people of the row are in small cells."""
    counts = np.array([[1, 0, 20, 4, 22], [30, 40, 50, 60, 70], [35, 45, 55, 65, 75]])
    full = np.pad(counts, ((0, 1), (0, 1)))
    full[-1] = full.sum(axis=0)
    full[:, -1] = full.sum(axis=1)
    cells = [[row, column] for row in [*"xyz", "*"] for column in [*"abcde", "*"]]
    table = FrequencyTable.of(["row", "column"], cells, full.ravel().tolist(), n=int(full[-1, -1]), no_sa=True)
    done: Any = tacit.repair(table, method="suppress", k=10, attacker="reader", cost="people")
    assert done.ok
    hidden = np.pad(done.release.is_hidden.reshape(4, 6), 0)
    small = (full > 0) & (full < 10)
    small[-1] = small[:, -1] = False
    for lines in (hidden, hidden.T):
        for line, primary in zip(lines, small if lines is hidden else small.T, strict=True):
            assert primary.any() or line.sum() != 1


def test_numbers_beside_counts_do_not_follow_from_sums() -> None:
    case = full_case(3)
    table = table_of(case)
    how: dict[str, Any] = {"options": Options(), "attacker": "rule"}
    assert Plan((table,), Same(), (0,), case.k, **how).sums == ()
    assert Plan((replace(table, numbers=()),), Same(), (0,), case.k, **how).sums


def test_a_search_of_many_lines_ends_without_a_best_choice() -> None:
    """Each judged choice teaches little: what is found by then is returned with its bound."""
    size = MOST_JUDGED // FEW_ROUNDS
    asked: list[int] = []

    def separate(chosen: frozenset[int], _: Limits) -> Separation:
        asked.append(len(chosen))
        left = sorted(set(range(40)) - chosen)
        return Separation((frozenset(left[:20]),) if len(left) > 10 else (), is_safe=len(left) <= 10)

    choice = propose(SuppressCase(np.ones(size), np.ones(size), 1.0, separate=separate, limits=Limits()))
    assert choice.is_safe
    assert not choice.is_optimal
    assert choice.lower_bound >= 1
    assert len(asked) < 60
