"""What is written is what is read: arrays, names and header, for every way to print a release."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.files.releases import read_listed, write_release
from tacit.model.numbers import Printed
from tacit.model.release import ONLY, Decimals, Header, Items, Itemsets, Listed, Rules, Sets
from tacit.model.table import sort_names

ENDINGS = (".csv", ".csv.gz", ".parquet")
Mode = Literal["exact", "digits", "base", "withheld"]

#: Names that hurt: quotation marks, delimiters, brackets, line ends, blanks, nothing at all, other scripts, and words of JSON and SQL.
HARD = [
    *('"', '""', "'", ",", "[", "]", "{}", "\n", "\r\n", "\\", '\\"', " a ", ""),
    *("null", "NULL", "1", "1.0", "é", "日本", "=", "a=b", "%", "\t"),
]
NAMES = st.one_of(st.sampled_from(HARD), st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6))


@st.composite
def databases(draw: st.DrawFn) -> tuple[tuple[str, ...], list[frozenset[int]]]:
    names = sort_names(draw(st.sets(NAMES, min_size=1, max_size=5)))
    rows = draw(st.lists(st.frozensets(st.integers(0, len(names) - 1)), min_size=1, max_size=40))
    return names, rows


def frequent(rows: list[frozenset[int]], width: int) -> list[tuple[tuple[int, ...], int]]:
    """Every itemset that someone has, with its count."""
    every = [items for size in range(1, width + 1) for items in combinations(range(width), size)]
    counted = [(items, sum(row.issuperset(items) for row in rows)) for items in every]
    return [(items, count) for items, count in counted if count]


def printed(count: int, n: int, digits: int) -> int:
    """The share in units of its last digit, rounded as Python prints it."""
    return int((Decimal(count) / Decimal(n)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_EVEN).scaleb(digits))


@st.composite
def itemset_releases(draw: st.DrawFn) -> Itemsets:
    names, rows = draw(databases())
    n, found = len(rows), frequent(rows, len(names))
    chosen = draw(st.lists(st.sampled_from(found), unique=True, max_size=12)) if found else []
    used = sorted({item for items, _ in chosen for item in items})
    number = {item: i for i, item in enumerate(used)}
    sets = Sets.from_lists([[number[item] for item in items] for items, _ in chosen])
    counts = np.array([count for _, count in chosen], np.int64)
    mode: Mode = draw(st.sampled_from(["exact", "digits", "base", "withheld"]))
    least = draw(st.sampled_from([None, int(counts.min()) if len(counts) else 1]))
    digits = draw(st.integers(0, 6)) if mode == "digits" else None
    base = draw(st.integers(1, 12)) if mode == "base" else None
    header = Header(
        n=n, min_support=least, complete=draw(st.booleans()), strict=draw(st.booleans()), digits=digits, base=base,
        missing=draw(st.none() | NAMES), missing_rule=draw(st.sampled_from([None, "drop", "category"])), sa_values=("x", "é\n"),
        sa_counts=draw(st.sampled_from([(), (n, 0)])),
    )  # fmt: skip
    only = draw(st.sampled_from(ONLY))
    lo, hi, support, rounded = counts.copy(), counts.copy(), None, None
    if digits is not None:
        scaled = np.array([printed(count, n, digits) for _, count in chosen], np.int64)
        for i, value in enumerate(scaled.tolist()):
            bound = Printed.around(Fraction(value, 10**digits), Fraction(1, 10**digits), "nearest").counts(n)
            assert bound is not None
            lo[i], hi[i] = max(bound.lo, least or 0), bound.hi
        support = Decimals(scaled, np.full(len(scaled), digits, np.int8)) if len(scaled) else None
    elif base is not None:
        rounded = (counts + base // 2) // base * base if len(counts) else None
        if rounded is not None:
            lo, hi = np.maximum(rounded - base // 2, least or 0), np.minimum(rounded + base // 2, n)
    elif mode == "withheld":
        lo[:], hi[:] = least or 0, n
    return Itemsets(sets, lo, hi, draw(item_names([names[item] for item in used])), header, only, support, rounded)


@st.composite
def item_names(draw: st.DrawFn, names: list[str]) -> Items:
    """Plain names in their usual order, or items of two columns, the second of which sorts first."""
    if not names or draw(st.booleans()):
        return Items(tuple(names))
    cut = draw(st.integers(0, len(names)))
    return Items.of_columns([*(("z", name) for name in sorted(names[:cut])), *(("a", name) for name in sorted(names[cut:]))])


def same(got: Listed, given_: Listed) -> None:
    assert got.kind == given_.kind
    expected = given_.header
    exact = bool((given_.lo == given_.hi).all())
    is_bounded = expected.complete and expected.min_support is None and len(given_) > 0
    if is_bounded and isinstance(given_, Itemsets) and (exact or given_.only != "maximal"):
        # What is missing from a complete list lies below its smallest count.
        expected = replace(expected, min_support=int(given_.hi.min()))
    assert got.header == expected
    assert got.items.names == given_.items.names
    assert (got.lo.tolist(), got.hi.tolist()) == (given_.lo.tolist(), given_.hi.tolist())
    assert [text(got.support, i) for i in range(len(got))] == [text(given_.support, i) for i in range(len(got))]
    assert list(got.records()) == list(given_.records())


def text(decimals: Decimals | None, index: int) -> str | None:
    return None if decimals is None else decimals.text(index)


def through(release: Listed, ending: str) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"r{ending}")
        write_release(release, path)
        return read_listed(path)


@pytest.mark.parametrize(("ending", "examples"), [(".csv", 80), (".csv.gz", 10), (".parquet", 12)])
def test_itemsets(ending: str, examples: int) -> None:
    @settings(max_examples=examples, deadline=None)
    @given(itemset_releases())
    def holds(release: Itemsets) -> None:
        got = through(release, ending)
        same(got, release)
        assert got.sets.offsets.tolist() == release.sets.offsets.tolist()
        assert got.sets.members.tolist() == release.sets.members.tolist()
        assert got.only == release.only
        assert got.items == release.items
        assert (None if got.rounded is None else got.rounded.tolist()) == (
            None if release.rounded is None else release.rounded.tolist()
        )
        first = 1 if ending == ".parquet" else 2
        assert [got.line(i) for i in range(len(got))] == list(range(first, len(got) + first))

    holds()


@st.composite
def rule_releases(draw: st.DrawFn) -> Rules:
    names, rows = draw(databases())
    n, found = len(rows), dict(frequent(rows, len(names)))
    pairs = draw(st.booleans())
    rules = [
        (tuple(i for i in items if i != last), last, count) for items, count in found.items() if len(items) > 1 for last in items
    ]
    if pairs:
        # With an SA, consequents are its values: here the items with the highest number.
        rules = [rule for rule in rules if rule[1] == len(names) - 1]
    chosen = draw(st.lists(st.sampled_from(rules), unique=True, max_size=8)) if rules else []
    lo = np.array([count for _, _, count in chosen], np.int64)
    whole = np.array([found[left] for left, _, _ in chosen], np.int64)
    # Only items that are used have a number in a file.
    used = sorted({item for left, right, _ in chosen for item in (*left, right)})
    number = {item: i for i, item in enumerate(used)}
    antecedents = Sets.from_lists([[number[i] for i in left] for left, _, _ in chosen])
    consequents = Sets.from_lists([[number[right]] for _, right, _ in chosen])
    if pairs:
        columns = [f"c{i}" if i < len(names) - 1 else "pay" for i in used]
        items = Items.of_columns(list(zip(columns, (names[i] for i in used), strict=True)))
        header = Header(
            n=n,
            qi=tuple(f"c{i}" for i in range(len(names))),
            sa=("pay",),
            min_confidence=draw(st.sampled_from([None, Fraction(1, 50)])),
        )
    else:
        items, header = Items(tuple(names[i] for i in used)), Header(n=n, min_support=draw(st.sampled_from([None, 1])))
    if draw(st.booleans()):
        return Rules(antecedents, consequents, lo, lo.copy(), whole, whole.copy(), items, header)
    least = np.full(len(lo), header.min_support or 0)
    full = np.full(len(lo), n)
    return Rules(antecedents, consequents, least, full, least.copy(), full.copy(), items, header)


@pytest.mark.parametrize(("ending", "examples"), [(".csv", 80), (".parquet", 12)])
def test_rules(ending: str, examples: int) -> None:
    @settings(max_examples=examples, deadline=None)
    @given(rule_releases())
    def holds(release: Rules) -> None:
        got = through(release, ending)
        same(got, release)
        assert got.items.pairs == release.items.pairs or not len(release)
        for ours, theirs in ((got.antecedents, release.antecedents), (got.consequents, release.consequents)):
            assert ours.offsets.tolist() == theirs.offsets.tolist()
            assert ours.members.tolist() == theirs.members.tolist()
        assert (got.whole_lo.tolist(), got.whole_hi.tolist()) == (release.whole_lo.tolist(), release.whole_hi.tolist())

    holds()
