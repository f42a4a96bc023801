"""Counts that pandas, polars and Arrow make are read as frequency tables, whatever their shape."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tacit
from tacit.model.errors import InputError

RNG = np.random.default_rng(1)
PEOPLE = pd.DataFrame(
    {"sex": RNG.choice(["F", "M"], 90), "job": RNG.choice(["cook", "nurse"], 90), "ill": RNG.choice(["flu", "none"], 90)}
)


def naive(columns: list[str], *, margins: bool = False) -> Counter[tuple[str, ...]]:
    """Cells counted one by one, with every total where there are margins."""
    out: Counter[tuple[str, ...]] = Counter()
    for row in PEOPLE[columns].itertuples(index=False, name=None):
        for kept in product([True, False] if margins else [True], repeat=len(columns)):
            out[tuple(value if keep else "*" for value, keep in zip(row, kept, strict=True))] += 1
    return out


def cells(release: Any, columns: list[str]) -> dict[tuple[str, ...], int]:
    return {tuple(line[column] for column in columns): line["count"] for line in release.records() if line["count"]}


SHAPES: dict[str, Callable[[], Any]] = {
    "series": lambda: PEOPLE.groupby(["sex", "job"]).size(),
    "value counts": lambda: PEOPLE[["sex", "job"]].value_counts(),
    "column 0": lambda: PEOPLE.groupby(["sex", "job"]).size().reset_index(),
    "column size": lambda: PEOPLE.groupby(["sex", "job"], as_index=False).size(),
    "named, in the index": lambda: PEOPLE.groupby(["sex", "job"]).agg(n=("ill", "size")),
    "crosstab": lambda: pd.crosstab(PEOPLE.sex, PEOPLE.job),
    "polars": lambda: pl.from_pandas(PEOPLE).group_by("sex", "job").len(),
    "arrow": lambda: pa.Table.from_pandas(PEOPLE).group_by(["sex", "job"]).aggregate([([], "count_all")]),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_counts_are_read_from_every_shape(shape: str) -> None:
    release = tacit.read_release(SHAPES[shape]())
    assert cells(release, ["sex", "job"]) == naive(["sex", "job"])
    assert release.n == 90


@pytest.mark.parametrize(("rows", "columns"), [(["sex"], ["job"]), (["sex"], ["job", "ill"]), (["sex", "ill"], ["job"])])
@pytest.mark.parametrize("margins", [False, True])
def test_crosstabs_of_any_depth_are_read(rows: list[str], columns: list[str], *, margins: bool) -> None:
    made = pd.crosstab([PEOPLE[one] for one in rows], [PEOPLE[one] for one in columns], margins=margins)
    release = tacit.read_release(made)
    found = cells(release, [*rows, *columns])
    expected = naive([*rows, *columns], margins=margins)
    assert found.items() <= expected.items()
    assert found.items() >= naive([*rows, *columns]).items()
    assert release.n == 90
    assert margins == (tuple("*" for _ in (*rows, *columns)) in found)


@pytest.mark.parametrize("columns", [["job"], ["job", "ill"]])
def test_shares_of_all_people_are_read(columns: list[str]) -> None:
    made = pd.crosstab(PEOPLE.sex, [PEOPLE[one] for one in columns], normalize=True)
    release = tacit.read_release(made, n=90)
    assert cells(release, ["sex", *columns]).items() >= naive(["sex", *columns]).items()
    series = tacit.read_release(PEOPLE.job.value_counts(normalize=True), n=90)
    assert cells(series, ["job"]) == naive(["job"])


def test_polars_counts_of_one_column_are_read() -> None:
    release = tacit.read_release(pl.from_pandas(PEOPLE)["job"].value_counts())
    assert cells(release, ["job"]) == naive(["job"])


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "shares within rows": (lambda: pd.crosstab(PEOPLE.sex, PEOPLE.job, normalize="index"), "shares within each row or column"),
    "no counts": (lambda: PEOPLE.job, "its index has no name"),
    "numbers without names": (lambda: pd.DataFrame(np.zeros((4, 3), int)), "not those of a known release"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_other_series_and_frames_are_refused(what: str) -> None:
    make, message = REFUSED[what]
    with pytest.raises(InputError, match=message):
        tacit.read_release(make())


def test_roles_go_with_counts() -> None:
    found = tacit.audit(PEOPLE.groupby(["sex", "ill"]).size(), qi="sex", sa="ill", data=PEOPLE, k=2)
    assert found.attack("R03").status == "ran"
    assert found.posterior is not None


def test_rounded_shares_do_not_tell_how_many_people_there_are() -> None:
    """With three decimals some hundreds of people explain many shares that 20,000 people have."""
    random = np.random.default_rng(5)
    shares = np.round(np.unique(random.integers(2_000, 6_000, 400)) / 20_000, 3)
    frame = pd.DataFrame({"support": shares, "itemsets": [frozenset([f"i{place}"]) for place in range(len(shares))]})
    with pytest.raises(InputError, match="does not say of how many people"):
        tacit.read_release(frame)
    halves = pd.DataFrame(
        {"support": [f"{part / 60:.3f}" for part in range(10, 50)], "itemset": [f'["i{p}"]' for p in range(40)]}
    )
    assert tacit.read_release(halves).n == 60, "where the steps are much finer than 1/n they do"
