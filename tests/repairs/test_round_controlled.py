"""Controlled rounding: parts add up, counts move least, and the interval that the header tells is true."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.model.frequencies import CellPrinting, FrequencyTable
from tacit.model.policy import Limits
from tacit.repairs.round_controlled import RoundCase, propose
from tests.shell import tacit as run

CELLS = [[row, col] for row in ("a", "b", "*") for col in ("x", "y", "*")]


def _table(counts: list[int]) -> FrequencyTable:
    cube = np.array(counts).reshape(2, 2)
    whole = np.block([[cube, cube.sum(axis=1, keepdims=True)], [cube.sum(axis=0, keepdims=True), cube.sum().reshape(1, 1)]])
    return FrequencyTable.of(["row", "col"], CELLS, [int(one) for one in whole.ravel()], n=int(cube.sum()), no_sa=True)


def _least_moved(counts: np.ndarray[Any, Any], base: int) -> int:
    """The least total move over all ways to round the four cells that also round every total to a neighbour."""
    best = 10**9
    options = [sorted({count // base * base, -(-count // base) * base}) for count in counts.tolist()]
    for cells in product(*options):
        cube = np.array(cells).reshape(2, 2)
        true = counts.reshape(2, 2)
        pairs = [
            (cube, true),
            (cube.sum(axis=0), true.sum(axis=0)),
            (cube.sum(axis=1), true.sum(axis=1)),
            (cube.sum(), true.sum()),
        ]
        moves = np.concatenate([np.abs(np.atleast_1d(new - old)).ravel() for new, old in pairs])
        if (moves < base).all():
            best = min(best, int(moves.sum()))
    return best


@pytest.mark.parametrize("seed", range(20))
def test_the_nearest_additive_rounding_is_found(seed: int) -> None:
    random = Random(seed)
    counts = np.array([random.randint(0, 40) for _ in range(4)])
    base = random.choice((3, 5, 10))
    done = tacit.repair(_table(counts.tolist()), method="round-controlled", base=base, k=3)
    printed = done.release.printed.reshape(3, 3)
    assert (printed % base == 0).all()
    assert (printed[:2, :2].sum(axis=0) == printed[2, :2]).all()
    assert (printed[:, :2].sum(axis=1) == printed[:, 2]).all()
    assert done.facts["moved"] == done.facts["lower_bound"] == _least_moved(counts, base)
    assert done.facts["optimal"]
    start: Any = done.start
    assert (done.release.lo <= start.lo).all()
    assert (start.hi <= done.release.hi).all()


def test_random_rounding_depends_on_its_seed_alone() -> None:
    table = _table([13, 27, 31, 48])
    made = {
        seed: tacit.repair(table, method="round-controlled", base=10, seed=seed).release.printed.tolist() for seed in range(8)
    }
    again = tacit.repair(table, method="round-controlled", base=10, seed=3).release.printed.tolist()
    assert made[3] == again
    assert len({tuple(one) for one in made.values()}) > 1
    for one in made.values():
        assert one[0] + one[1] == one[2]


def test_without_a_base_the_finest_clean_one_is_taken() -> None:
    table = _table([3, 27, 31, 48])
    done = tacit.repair(table, method="round-controlled", k=10)
    assert done.ok
    assert done.facts["base"] == 10
    assert not tacit.repair(table, method="round-controlled", base=5, k=10).ok


def test_tables_share_their_rounded_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one.csv").write_text("row,col,count\na,x,13\na,y,28\nb,x,31\nb,y,48\na,*,41\nb,*,79\n*,*,120\n", encoding="utf-8")
    Path("two.csv").write_text("row,sex,count\na,F,17\na,M,24\nb,F,46\nb,M,33\na,*,41\nb,*,79\n*,*,120\n", encoding="utf-8")
    done = run(
        "repair",
        "one.csv",
        "two.csv",
        "--people",
        "same",
        "--sa",
        "none",
        "--method",
        "round-controlled",
        "--base",
        "10",
        "-o",
        "out",
    )
    assert done.exit_code == 0, done.output
    made: list[Any] = [tacit.read_release(f"out/{name}.csv") for name in ("one", "two")]
    assert made[0].printed[4:].tolist() == made[1].printed[4:].tolist()
    for one in made:
        assert one.printing == CellPrinting(zeros_shown=True, base=10, rounding="random")
        assert one.printed[0] + one.printed[1] == one.printed[4]


def test_hidden_cells_need_the_data_and_sums_that_cannot_be_rounded_are_told() -> None:
    hidden = FrequencyTable.of(["row"], [["a"], ["b"], ["*"]], [None, 20, 23], n=23, printing=CellPrinting(hidden_below=5))
    with pytest.raises(tacit.OptionError, match="hidden cells"):
        tacit.repair(hidden, method="round-controlled", base=5)
    people = tacit.read_table({"row": ["a"] * 3 + ["b"] * 20})
    assert tacit.repair(hidden, method="round-controlled", base=5, data=people).release.printed.tolist() == [5, 20, 25]
    with pytest.raises(tacit.OptionError, match="at least 2"):
        tacit.repair(_table([1, 2, 3, 4]), method="round-controlled", base=1)
    with pytest.raises(tacit.Infeasible):
        propose(RoundCase(np.array([1, 1, 20]), [(2, (0, 1))], 5, None, Limits()))
