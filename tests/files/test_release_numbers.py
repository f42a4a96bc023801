"""What printed numbers say, against trying every number of people."""

from __future__ import annotations

import json
import tempfile
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tacit.files.counts import Ratio, narrow, read_shares, sure_wholes
from tacit.files.printout import TextColumn
from tacit.files.releases import read_listed
from tacit.model.errors import Contradiction
from tacit.model.numbers import ROUNDINGS, Printed, Rounding, column_steps
from tacit.model.release import Itemsets, Rules
from tests.examples import examples


def read_text(text: str, header: dict[str, object], rounding: Rounding = "nearest") -> Itemsets | Rules:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "r.csv")
        path.write_text(text)
        Path(folder, "r.csv.json").write_text(json.dumps(header))
        return read_listed(path, rounding=rounding)


def fixed(value: Fraction, digits: int, mode: str) -> str:
    """The value with this many decimals."""
    decimal = Decimal(value.numerator) / Decimal(value.denominator)
    return str(decimal.quantize(Decimal(1).scaleb(-digits), mode))


#: Ways in which programs print a share.
WRITERS = {
    "fixed": lambda value, digits: fixed(value, digits, ROUND_HALF_EVEN),
    "fixed, half up": lambda value, digits: fixed(value, digits, ROUND_HALF_UP),
    "fixed, zeros dropped": lambda value, digits: repr(round(float(value), max(digits, 1))),
    "significant": lambda value, digits: f"{float(value):.{max(digits, 1)}g}",
    "15 significant": lambda value, digits: f"{float(value):.15g}",
    "double": lambda value, digits: repr(float(value)),
}


@settings(max_examples=examples(300), deadline=None)
@given(
    st.integers(1, 3000).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.integers(0, n), min_size=1, max_size=8))),
    st.sampled_from(sorted(WRITERS)),
    st.integers(0, 9),
)
@example((66, [56]), "15 significant", 0)  # the double lies on the other side of a middle than 56/66
def test_the_truth_is_always_among_the_counts(people: tuple[int, list[int]], writer: str, digits: int) -> None:
    n, counts = people
    texts = [WRITERS[writer](Fraction(count, n), digits) for count in counts]
    text = "itemset,count,support\n" + "".join(f'"[""{i}""]",,{share}\n' for i, share in enumerate(texts))
    got = read_text(text, {"n": n})
    assert isinstance(got, Itemsets)
    assert len(got) == len(counts)
    for i, count in enumerate(counts):
        assert got.lo[i] <= count <= got.hi[i]
    if any(len(share.lstrip("0.")) >= 15 for share in texts):
        assert got.is_exact


@settings(max_examples=examples(400), deadline=None)
@given(
    st.integers(1, 10**7).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.integers(0, n), min_size=1, max_size=6))),
    st.sampled_from(sorted(WRITERS)),
    st.integers(1, 9),
    st.sampled_from(ROUNDINGS),
    st.booleans(),
)
def test_floating_point_agrees_with_exact_arithmetic(
    people: tuple[int, list[int]], writer: str, digits: int, rounding: Rounding, percent: bool
) -> None:
    n, counts = people
    texts = [WRITERS[writer](Fraction(count, n), digits) for count in counts]
    if percent:
        texts = [f"{text}%" for text in texts]
    shares = read_shares(TextColumn("s", texts), rounding=rounding, digits=None, place=lambda line, _: str(line))
    lo, hi = shares.sure_counts(n)
    steps = column_steps(shares.texts)
    for number, text in enumerate(shares.texts):
        printed = shares.printed(number)
        assert printed is not None
        bound = printed.counts(n)
        if lo[number] >= 0:
            assert bound is not None
            assert (int(lo[number]), int(hi[number])) == (bound.lo, bound.hi)
        assert printed.lo <= Fraction(Decimal(text.rstrip("%"))) / (100 if percent else 1) <= printed.hi
        # Steps that come from the widest texts are those of the whole column.
        assert abs(float(steps[number]) - shares.steps[number]) <= shares.steps[number] * 1e-9 or shares.is_double


@settings(max_examples=examples(300), deadline=None)
@given(st.integers(1, 10**6), st.data(), st.sampled_from(["0", "0.5", "0.6"]), st.booleans())
def test_sure_wholes_agree_with_exact_arithmetic(n: int, data: st.DataObject, least: str, strict: bool) -> None:
    whole = data.draw(st.integers(1, n))
    part = data.draw(st.integers(1, whole))
    shares = read_shares(
        TextColumn("s", [repr(part / whole), "0.3333333333333333"]), rounding="nearest", digits=None, place=lambda *_: ""
    )
    ends = [np.array([end]) for end in (part, part, 0, data.draw(st.sampled_from([n, whole, whole - 1])))]
    sure = int(sure_wholes(ends[0], ends[1], ends[2], ends[3], shares.floats[:1], float(least))[0])
    exact = narrow(part, part, 0, int(ends[3][0]), Ratio.of(shares.printed(0), Fraction(least), strict=strict))
    assert sure < 0 or exact == (part, part, sure, sure)
    if n < 10**5 and ends[3][0] >= whole and part > Fraction(least) * whole:
        assert sure == whole


@settings(max_examples=examples(200), deadline=None)
@given(st.integers(1, 400), st.integers(0, 4), st.data(), st.sampled_from(["nearest", "truncated"]), st.integers(0, 50))
def test_counts_of_a_share_are_those_that_print_so(
    n: int, digits: int, data: st.DataObject, rounding: Rounding, least: int
) -> None:
    count = data.draw(st.integers(0, n))
    modes = (ROUND_HALF_EVEN, ROUND_HALF_UP) if rounding == "nearest" else (ROUND_DOWN,)
    share = fixed(Fraction(count, n), digits, modes[0])
    every = [c for c in range(least, n + 1) if any(fixed(Fraction(c, n), digits, mode) == share for mode in modes)]
    if rounding == "nearest":
        # A tie may be rounded in either direction.
        step = Fraction(1, 10**digits)
        every = [c for c in range(least, n + 1) if abs(Fraction(c, n) - Fraction(share)) <= step / 2]
    assume(every)
    header: dict[str, object] = {"n": n, "digits": digits, "min_support": least}
    got = read_text(f'itemset,count,support\n"[""a""]",,{share}\n', header, rounding)
    assert (int(got.lo[0]), int(got.hi[0])) == (every[0], every[-1])


def fitting(parts: range, wholes: range, ratio: Ratio) -> list[tuple[int, int]]:
    """All pairs that fit, by trying them."""
    low, high = Fraction(*ratio.lo), Fraction(*ratio.hi)
    found = []
    for whole in wholes:
        for part in parts:
            above = part > low * whole if ratio.lo_open else part >= low * whole
            below = part < high * whole if ratio.hi_open else part <= high * whole
            if above and below:
                found.append((part, whole))
    return found


@settings(max_examples=examples(400), deadline=None)
@given(
    st.tuples(st.integers(0, 40), st.integers(0, 40)).map(sorted),
    st.tuples(st.integers(0, 40), st.integers(0, 40)).map(sorted),
    st.tuples(st.fractions(0, 1, max_denominator=30), st.fractions(0, 1, max_denominator=30)).map(sorted),
    st.booleans(),
    st.booleans(),
)
def test_narrowed_ends_are_the_tightest(
    parts: list[int], wholes: list[int], ends: list[Fraction], lo_open: bool, hi_open: bool
) -> None:
    ratio = Ratio.of(Printed(ends[0], ends[1], lo_open, hi_open), Fraction(0), strict=False)
    every = fitting(range(parts[0], parts[1] + 1), range(wholes[0], wholes[1] + 1), ratio)
    got = narrow(parts[0], parts[1], wholes[0], wholes[1], ratio)
    if not every:
        assert got is None
        return
    assert got == (
        min(part for part, _ in every), max(part for part, _ in every), min(whole for _, whole in every), max(whole for _, whole in every),
    )  # fmt: skip


def test_a_ratio_has_the_narrower_of_two_ends() -> None:
    half, one = Fraction(1, 2), Fraction(1)
    assert Ratio.of(None, half, strict=False) == Ratio((1, 2), (1, 1))
    assert Ratio.of(None, half, strict=True) == Ratio((1, 2), (1, 1), lo_open=True)
    assert Ratio.of(Printed(half, one, lo_open=True), half, strict=False) == Ratio((1, 2), (1, 1), lo_open=True)
    assert Ratio.of(Printed(half, one), half, strict=True) == Ratio((1, 2), (1, 1), lo_open=True)
    assert Ratio.of(Printed(Fraction(1, 3), Fraction(2, 3), hi_open=True), half, strict=False) == Ratio(
        (1, 2), (2, 3), hi_open=True
    )
    assert Ratio.of(Printed(Fraction(2, 3), Fraction(3, 2)), half, strict=True) == Ratio((2, 3), (1, 1))


def test_a_ratio_too_narrow_to_follow_stays_true() -> None:
    ratio = Ratio.of(Printed(Fraction(123456790, 10**9), Fraction(123456791, 10**9)), Fraction(0), strict=False)
    got = narrow(1, 10**6, 0, 10**8, ratio)
    assert got is not None
    # 10 of 81 is one such confidence, and so are its multiples.
    assert Fraction(*ratio.lo) <= Fraction(10, 81) <= Fraction(*ratio.hi)
    assert got[0] <= 10
    assert got[1] == 10**6
    assert got[2] <= 81
    assert got[3] >= 8_100_000


@settings(max_examples=examples(150), deadline=None)
@given(st.integers(1, 60), st.data(), st.integers(1, 3), st.booleans(), st.sampled_from([None, "1/2", "0.6"]), st.booleans())
def test_rules_against_every_pair_of_counts(
    n: int, data: st.DataObject, digits: int, counted: bool, threshold: str | None, strict: bool
) -> None:
    whole = data.draw(st.integers(1, n))
    part = data.draw(st.integers(1, whole))
    least = Fraction(threshold or 0)
    assume(part > least * whole if strict else part >= least * whole)
    confidence, share = fixed(Fraction(part, whole), digits, ROUND_HALF_EVEN), fixed(Fraction(part, n), digits, ROUND_HALF_EVEN)
    step = Fraction(1, 10**digits)
    every = [
        (p, w)
        for w in range(1, n + 1)
        for p in range(w + 1)
        if (p > least * w if strict and least else p >= least * w)
        and abs(Fraction(p, w) - Fraction(confidence)) <= step / 2
        and (p == part if counted else abs(Fraction(p, n) - Fraction(share)) <= step / 2)
    ]
    assert (part, whole) in every
    header = {"n": n, "sa": "pay", "digits": digits, "min_confidence": threshold, "strict": strict}
    cells = f"{part},," if counted else f",{share},"
    got = read_text(f'antecedent,consequent,count,support,confidence\n"{{""a"": ""b""}}",x,{cells}{confidence}\n', header)
    assert isinstance(got, Rules)
    assert got.count(0).to_list() == [min(p for p, _ in every), max(p for p, _ in every)]
    assert got.whole(0).to_list() == [min(w for _, w in every), max(w for _, w in every)]


@settings(max_examples=examples(100), deadline=None)
@given(st.integers(1, 500), st.integers(1, 20), st.data(), st.sampled_from(["nearest", "truncated"]))
def test_counts_rounded_to_a_base(n: int, base: int, data: st.DataObject, mode: str) -> None:
    count = data.draw(st.integers(0, n))
    rounded = (count + base // 2) // base * base if mode == "nearest" else count // base * base
    reach = [c for c in range(n + 1) if (2 * abs(c - rounded) <= base if mode == "nearest" else c // base * base == rounded)]
    got = read_text(f'itemset,count,support\n"[""a""]",{rounded},\n', {"n": n, "rounding": {"base": base, "mode": mode}})
    assert (int(got.lo[0]), int(got.hi[0])) == (reach[0], reach[-1])
    assert got.lo[0] <= count <= got.hi[0]


@settings(max_examples=examples(100), deadline=None)
@given(st.integers(1, 300), st.data())
def test_a_share_beside_a_count_must_be_its_share(n: int, data: st.DataObject) -> None:
    count, digits = data.draw(st.integers(0, n)), data.draw(st.integers(0, 4))
    other = data.draw(st.integers(0, n))
    share = fixed(Fraction(other, n), digits, ROUND_HALF_EVEN)
    text = f'itemset,count,support\n"[""a""]",{count},{share}\n'
    fits = abs(Fraction(count, n) - Fraction(share)) <= Fraction(1, 2 * 10**digits)
    try:
        got = read_text(text, {"n": n, "digits": digits})
    except Contradiction:
        assert not fits
    else:
        assert fits
        assert (int(got.lo[0]), int(got.hi[0])) == (count, count)
