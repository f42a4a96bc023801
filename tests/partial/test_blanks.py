"""What blanks say, against its definition, on random tables."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB
from sklearn.preprocessing import OneHotEncoder

import tacit
from tacit.files.partial import read_partial
from tacit.partial.what_blanks_say import maximum_entropy, naive_bayes
from tests.examples import examples
from tests.partial.naive_tables import bayes, shares_of_blanks

VALUES = st.sampled_from(["s", "t"])


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]], list[int]]:
    """A table, the same with cells hidden, and the rows to protect."""
    width = draw(st.integers(1, 3))
    before = draw(st.lists(st.tuples(*[st.sampled_from("uv")] * width, VALUES), min_size=2, max_size=12))
    hidden = draw(st.lists(st.tuples(*[st.booleans()] * (width + 1)), min_size=len(before), max_size=len(before)))
    rows = draw(st.lists(st.integers(0, len(before) - 1), unique=True, min_size=1, max_size=4).map(sorted))
    after = [
        tuple(
            "" if blank or (place == width and number in rows) else cell
            for place, (cell, blank) in enumerate(zip(row, which, strict=True))
        )
        for number, (row, which) in enumerate(zip(before, hidden, strict=True))
    ]
    return before, after, rows


def frame(rows: list[tuple[str, ...]]) -> dict[str, list[str]]:
    names = [*(f"A{place}" for place in range(len(rows[0]) - 1)), "S"]
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


@settings(max_examples=examples(60), deadline=None)
@given(tables(), st.integers(0, 2), st.sampled_from([Fraction(1, 2), Fraction(3, 5), Fraction(9, 10)]))
def test_shares_of_blanks_are_those_of_the_definition(
    case: tuple[list[tuple[str, ...]], list[tuple[str, ...]], list[int]], support: int, confidence: Fraction
) -> None:
    before, after, rows = case
    conditions = list(frame(before))[:-1]
    original, published = (read_partial(frame(one), qi=conditions, sa="S") for one in (before, after))
    policy = tacit.Policy(min_confidence=confidence, min_support=support)  # type: ignore[arg-type]
    audit = tacit.audit(published, data=original, rows=rows, policy=policy, attacks=["T02"])
    truth = [row[-1] for row in before]
    shares = shares_of_blanks(after, truth, rows, min_support=support)
    assert audit.measures["null_share_confidence"] == max((both / whole for whole, both in shares.values()), default=0.0)
    made = [number for number, row in enumerate(after) if row[-1] == "" and number not in rows]
    told: dict[str, set[int]] = {}
    for (owner, pattern), (whole, both) in shares.items():
        near = any(all(after[number][place] == cell for place, cell in pattern) for number in made)
        if near and both > confidence * whole:
            told.setdefault(truth[owner], set()).add(owner)
    table = audit.table("T02")
    mine = table["reading"] == "blanks"
    found = dict(zip(table["value"][mine].tolist(), table["count"][mine].tolist(), strict=True))
    assert found == {value: len(owners) for value, owners in told.items()}


@settings(max_examples=examples(80), deadline=None)
@given(tables())
def test_naive_bayes_is_that_of_the_formula(case: tuple[list[tuple[str, ...]], list[tuple[str, ...]], list[int]]) -> None:
    _, after, rows = case
    published = read_partial(frame(after), qi=list(frame(after))[:-1], sa="S")
    shown = published.codes("S")
    if not (shown >= 0).any():
        return
    values = published.people.column("S").values
    found = naive_bayes(published.conditions, shown, np.array(rows))
    for mine, other in zip(found, bayes(after, rows), strict=True):
        for value, share in zip(values, mine.tolist(), strict=False):
            assert share == pytest.approx(other.get(value, 0.0))


def test_naive_bayes_is_that_of_another_library() -> None:
    rng = np.random.default_rng(7)
    cells, values = rng.integers(0, 4, (300, 5)).astype(np.int32), rng.integers(0, 3, 300).astype(np.int32)
    values[:40] = -1
    model = CategoricalNB(alpha=1, min_categories=4).fit(cells[40:], values[40:])
    assert naive_bayes(cells, values, np.arange(40)) == pytest.approx(model.predict_proba(cells[:40]))


def test_the_largest_entropy_is_that_of_another_library() -> None:
    rng = np.random.default_rng(8)
    cells = rng.integers(0, 4, (300, 3)).astype(np.int32)
    values = ((cells[:, 0] + rng.integers(0, 3, 300)) % 3).astype(np.int32)
    values[:40] = -1
    features = OneHotEncoder(categories=[range(4)] * 3).fit_transform(cells)
    model = LogisticRegression(C=1.0, max_iter=5000, tol=1e-10).fit(features[40:], values[40:])
    assert maximum_entropy(cells, values, np.arange(40)) == pytest.approx(model.predict_proba(features[:40]), abs=1e-5)


def test_the_largest_entropy_shows_the_shares_of_values_as_they_are() -> None:
    rng = np.random.default_rng(9)
    cells, values = rng.integers(-1, 3, (200, 2)).astype(np.int32), rng.integers(0, 4, 200).astype(np.int32)
    shares = maximum_entropy(cells, values, np.arange(200))
    assert shares.sum(axis=0) == pytest.approx(np.bincount(values), abs=1e-3)
    values[values == 2] = 1
    assert (maximum_entropy(cells, values, np.arange(9))[:, 2] == 0).all()
    assert maximum_entropy(cells, np.full(200, -1, np.int32), np.arange(9)).shape == (9, 0)
