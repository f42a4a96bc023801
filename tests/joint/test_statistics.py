"""Medians, quantiles and deviations beside counts: what they bound, how they are printed, and which rules withhold them."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.checker import numbers as checker
from tacit.mining.frequencies import Measure
from tacit.model.frequencies import Numbers, name_quantile
from tacit.model.numbers import Bound
from tacit.model.release import Decimals
from tests.judge.statistics import draw, judge
from tests.shell import tacit as run

SHARES = (Fraction(1, 4), Fraction(1, 2), Fraction(9, 10))


def _numbers(values: tuple[int, ...], statistics: list[str], digits: int) -> Numbers:
    """The numbers of one cell, printed."""
    known = np.array(values, float)
    found = {"mean": known.mean(), "min": known.min(), "max": known.max(), "std": known.std(ddof=1) if len(values) > 1 else 0.0}
    found |= {name_quantile(share): np.quantile(known, float(share)) for share in SHARES}
    printed = {}
    for name in statistics:
        places = 0 if name in ("min", "max") else digits
        text = f"{found[name]:.{places}f}"
        printed[name] = Decimals(np.array([int(text.replace(".", ""))], np.int64), np.array([places], np.int8))
    return Numbers("pay", printed, is_exact=True)


def _fits(values: tuple[int, ...], told: Numbers, statistics: list[str], digits: int) -> bool:
    own = _numbers(values, statistics, digits)
    return all(own.printed[name].text(0) == told.printed[name].text(0) for name in statistics)


@pytest.mark.parametrize("seed", range(60))
def test_sums_lie_between_the_ends_that_two_programs_find(seed: int) -> None:
    random = Random(seed)
    scale = (0, 1, 2, 5, 20)
    size = random.randint(1, 5)
    values = tuple(sorted(random.choice(scale) for _ in range(size)))
    statistics = random.sample(["mean", "min", "max", *map(name_quantile, SHARES)], random.randint(1, 4))
    digits = random.randint(0, 2)
    told = _numbers(values, statistics, digits)
    least, most = told.total(0, Bound.of(size))
    assert (least, most) == checker._sum_ends(told, 0, size, size)
    every = [one for one in combinations_with_replacement(scale, size) if _fits(one, told, statistics, digits)]
    assert values in every
    assert least <= min(map(sum, every))
    assert most is None or max(map(sum, every)) <= most


@pytest.mark.parametrize("seed", range(40))
def test_squares_lie_between_the_ends_that_two_programs_find(seed: int) -> None:
    random = Random(seed)
    size = random.randint(1, 4)
    values = tuple(sorted(random.choice((0, 1, 3, 10)) for _ in range(size)))
    told = _numbers(values, ["mean", "std"], 2)
    squares = told.squares
    assert squares is not None
    least, most = squares.total(0, Bound.of(size))
    assert (least, most) == checker._square_ends(told, 0, size, size)
    assert most is not None
    assert least <= sum(value * value for value in values) <= most


def test_a_median_of_one_or_two_people_is_their_sum() -> None:
    assert _numbers((7,), ["median"], 0).total(0, Bound.of(1)) == (Fraction(13, 2), Fraction(15, 2))
    assert _numbers((3, 8), ["median"], 1).total(0, Bound.of(2)) == (Fraction(109, 10), Fraction(111, 10))
    assert _numbers((3, 8, 9), ["median"], 1).total(0, Bound.of(3))[1] is None  # the largest may be anything
    assert _numbers((3, 8, 9), ["median", "max"], 0).total(0, Bound.of(3)) == (Fraction(33, 2), Fraction(26))


@pytest.mark.parametrize("seed", range(40))
def test_what_statistics_tell_is_true_of_every_choice_of_values(seed: int) -> None:
    assert judge(draw(seed))[0] in ("right", "too large"), f"python -m tests.judge.statistics --seed {seed} --cases 1"


def test_a_median_and_a_deviation_of_two_people_tell_both_values() -> None:
    lines = {"sex": ["F", "M"], "count": ["2", "9"], "median_pay": ["50", "40"], "sd_pay": ["14.1421", "3.0"]}
    told = [one.statement for one in tacit.audit(tacit.read_release(lines, sa="none"), k=5).findings]
    assert "2 people have sex=F; their pay adds up to 100." in told or any("pay adds up to 99" in one for one in told)
    assert any("pay squared adds up to" in one for one in told)


def test_tables_with_quantiles_are_made_read_and_repaired(tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    rows = [f"{sex},{pay}" for sex, pays in {"F": (1, 2, 4, 9), "M": (5, 5, 5), "X": (8,)}.items() for pay in pays]
    data.write_text("sex,pay\n" + "\n".join(rows) + "\n")
    out = tmp_path / "t.csv"
    options = ("--median", "pay", "--quantile", "pay:0.75", "--std", "pay", "--mean-digits", 2, "--sa", "none")
    assert run("tabulate", data, "--by", "sex", "--total", *options, "-o", out).exit_code == 0
    assert out.read_text().splitlines() == [
        "sex,count,median_pay,q75_pay,std_pay",
        "F,4,3.00,5.25,3.56",
        "M,3,5.00,5.00,0.00",
        "X,1,8.00,8.00,",
        "*,8,5.00,5.75,2.70",
    ]
    release: Any = tacit.read_release(out)
    assert {one.column for one in release.numbers} == {"pay"}
    audit = tacit.audit(release, k=2)
    assert any("their pay is 8" in one.statement or "their pay is 7.99" in one.statement for one in audit.findings)
    assert tacit.verify(audit.to_dict(top=100), release).ok
    safe = tmp_path / "safe.csv"
    assert run("repair", out, "--method", "suppress", "--k", 2, "-o", safe).exit_code == 0
    assert tacit.audit(tacit.read_release(safe), k=2).verdict == "clean"


@pytest.mark.parametrize("option", ["--median", "--std"])
def test_columns_of_text_have_no_quantiles(tmp_path: Path, option: str) -> None:
    data = tmp_path / "people.csv"
    data.write_text("sex,job\nF,cook\n")
    result = run("tabulate", data, "--by", "sex", option, "job", "-o", tmp_path / "t.csv")
    assert result.exit_code == 2
    assert "holds something else than plain numbers" in result.stderr
    for wrong in ("job", "job:2", "sex:"):
        assert run("tabulate", data, "--by", "sex", "--quantile", wrong, "-o", tmp_path / "t.csv").exit_code == 2


def test_quantiles_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(tacit.TacitError, match="no people have these numbers"):
        tacit.read_release({"sex": ["F"], "count": ["9"], "q25_pay": ["50"], "median_pay": ["40"]})


#: Contributions, and if the cell is sensitive by each rule: p % with p = 10 (all but the two largest are less than 10 % of the largest), and
#: (1, 75) and (2, 90) dominance (the n largest are more than k % of the total), as sdcTable and tau-ARGUS define them; computed by hand.
RULES = [
    ((100, 50, 10), False, False, True),  # 10 < 10: no; 100 > 120: no; 150 > 144: yes
    ((100, 50, 9), True, False, True),  # 9 < 10; 100 > 119.25: no; 150 > 143.1: yes
    ((100, 50, 11), False, False, True),  # 11 < 10: no; 150 > 144.9
    ((90, 5, 4, 1), True, True, True),  # 5 < 9; 90 > 75; 95 > 90
    ((75, 15, 10), False, False, False),  # 10 < 7.5: no; 75 > 75: no; 90 > 90: no
    ((76, 14, 10), False, True, False),  # 10 < 7.6: no; 76 > 75; 90 > 90: no
    ((40, 30, 20, 10), False, False, False),
    ((5,), True, True, True),  # 0 < 0.5; 5 > 3.75; 5 > 4.5
    ((5, 5), True, False, True),  # 0 < 0.5; 5 > 7.5: no; 10 > 9
    ((0, 0, 0), False, False, False),  # nothing is dominated by nothing
    ((), False, False, False),
]


@pytest.mark.parametrize(("values", "by_percent", "by_one", "by_two"), RULES)
def test_rules_of_dominance_are_those_of_offices(values: tuple[int, ...], by_percent: bool, by_one: bool, by_two: bool) -> None:
    own = np.array(values, np.int64)
    assert Measure(p_percent=Fraction(1, 10)).is_dominated(own) is by_percent
    assert Measure(dominance=(1, Fraction(3, 4))).is_dominated(own) is by_one
    assert Measure(dominance=(2, Fraction(9, 10))).is_dominated(own) is by_two


def test_cells_of_people_with_the_same_number_are_a_caution() -> None:
    lines = {
        "sex": ["F", "M", "X"],
        "count": ["12", "15", "20"],
        "sum_benefit": ["0", "900", "800"],
        "max_benefit": ["0", "90", "95"],
    }
    audit = tacit.audit(tacit.read_release(lines, sa="none"), k=5)
    assert [(one.number, one.of) for one in audit.cautions] == [(12, 47)]
    assert "everyone has the same one" in audit.cautions[0].text
