"""People placed part by part: everybody once, groups as their recipes say, and the audit of the parts is that of the whole."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.buckets import placing
from tacit.buckets.classes import Classes
from tacit.buckets.grouping import form_groups
from tacit.buckets.placing import Placement, secret_seed
from tacit.files.buckets import write_buckets
from tacit.kernels.placing import draw_keys, permute
from tacit.model.policy import Limits
from tacit.model.repair import Bucketized, BucketizedParts
from tacit.verbs import bucketize
from tests.buckets.naive_grouping import tables
from tests.examples import examples

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]


def test_permutations_reach_every_place_once() -> None:
    keys = draw_keys(np.random.default_rng(1), 2)
    for size in (*range(1, 40), 255, 256, 257, 1000):
        images = [[permute(place, size, key) for place in range(size)] for key in keys]
        assert [sorted(one) for one in images] == [list(range(size))] * 2
        assert size < 10 or images[0] != images[1]


@settings(max_examples=examples(60), deadline=None)
@given(rows=tables(), weight=st.integers(1, 5), seed=st.integers(0, 9))
def test_everybody_is_placed_as_the_recipes_say(rows: Rows, weight: int, seed: int) -> None:
    value, kind, patterns = rows
    weights = (np.arange(len(value)) * 7 + weight) % 5 + 1
    classes = Classes.of(value, kind, patterns, seed=seed, weights=weights)
    assert classes.n == weights.sum()
    recipes, left = form_groups(classes, 2, "balanced-2", Limits())
    placement = Placement(recipes, classes, weights, seed)
    parts = list(placement.parts())
    people = np.concatenate([rows for _, rows, _ in parts] or [np.empty(0, np.int64)])
    assert np.bincount(people, minlength=len(weights)).tolist() == placement.placed_weights.tolist()
    assert int(placement.placed.sum()) + int(left.sum()) == classes.n
    of_row = np.empty(len(value), np.int64)
    of_row[classes.rows] = np.repeat(np.arange(len(classes)), np.diff(classes.starts))
    found: Counter[tuple[int, ...]] = Counter()
    for _, some, group in parts:
        for number in range(int(group.max()) + 1):
            found[tuple(sorted(of_row[some[group == number]].tolist()))] += 1
    assert found == Counter({tuple(recipes.members(r)): int(recipes.groups[r]) for r in range(len(recipes))})


def people(n: int = 900) -> tacit.Table:
    rng = np.random.default_rng(3)
    rows = {
        "age": [str(20 + 10 * int(x)) for x in rng.integers(0, 4, n)],
        "ill": [str(x) for x in rng.choice(["flu", "cold", "mumps", "acne", "none"], n, p=[0.3, 0.25, 0.2, 0.15, 0.1])],
        "sex": [str(x) for x in rng.choice(["F", "M"], n)],
    }
    return tacit.read_table(rows, qi=["sex", "age"], sa="ill")


@pytest.fixture
def in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bucketize, "AT_ONCE", 100)
    monkeypatch.setattr(placing, "PART", 200)


@pytest.mark.usefixtures("in_parts")
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_audit_of_parts_is_that_of_the_release_written(tmp_path: Path, form: str) -> None:
    table = people()
    knowledge = [({"sex": "M"}, "acne")]
    kept = np.array(
        [
            not (sex == 1 and table.sa.values[ill] == "acne")
            for sex, ill in zip(table.column("sex").codes, table.sa.codes, strict=True)
        ]
    )
    table = table.take(np.flatnonzero(kept))
    made = bucketize.bucketize_parts(table, l=3, knowledge=knowledge)
    assert isinstance(made, BucketizedParts)
    assert made.after is not None
    assert sum(1 for _ in made.parts()) > 2
    write_buckets(made, tmp_path / "groups", form=form)  # type: ignore[arg-type]
    read = tacit.read_buckets(tmp_path / "groups")
    assert (read.n, len(read)) == (made.n, len(made)) == (table.n, made.cost["groups"])
    again = tacit.audit(read, knowledge=knowledge, l=3)
    ours = {name: value for name, value in made.after.measures.items() if not name.startswith("surviving")}
    theirs = {name: value for name, value in again.measures.items() if not name.startswith("surviving")}
    assert ours == pytest.approx(theirs)
    assert made.after.verdict == again.verdict == "clean"
    assert [run.people for run in made.after.runs] == [run.people for run in again.runs]
    for name in ("sex", "age"):
        mine = table.column(name)
        assert Counter(mine.values[code] for code in mine.codes) == Counter(
            read.people.column(name).values[code] for code in read.people.column(name).codes
        )
    assert read.value_counts() == dict(Counter(table.sa.values[code] for code in table.sa.codes))


@pytest.mark.usefixtures("in_parts")
def test_the_verdict_on_parts_is_not_better(tmp_path: Path) -> None:
    knowledge = [({"sex": "M"}, "flu"), ({"sex": "F"}, "cold")]
    table = people(600)
    kept = [
        not (table.column("sex").values[sex] == "M" and table.sa.values[ill] == "flu")
        and not (table.column("sex").values[sex] == "F" and table.sa.values[ill] == "cold")
        for sex, ill in zip(table.column("sex").codes, table.sa.codes, strict=True)
    ]
    table = table.take(np.flatnonzero(kept))
    made = bucketize.bucketize_parts(table, l=2, method="anatomy", knowledge=knowledge)
    assert isinstance(made, BucketizedParts)
    assert made.after is not None
    write_buckets(made, tmp_path / "groups")
    again = tacit.audit(tmp_path / "groups", knowledge=knowledge, l=2)
    assert (made.after.verdict, made.after.attack("B01").findings) == ("exposed", again.attack("B01").findings)
    assert made.cost["vulnerable"] == again.measures["vulnerable"] > 0
    rival = bucketize.bucketize_parts(table, l=2, knowledge=knowledge)
    assert rival.tried[0].cost["vulnerable"] > 0


@pytest.mark.usefixtures("in_parts")
def test_people_who_are_left_out_are_in_no_part() -> None:
    made = bucketize.bucketize_parts(people(), l=2, max_posterior=0.31, suppress=True)
    assert isinstance(made, BucketizedParts)
    assert made.n == sum(part.n for part in made.parts()) == 900 - made.cost["suppressed"]
    joined = tacit.bucketize(people(), l=2, max_posterior=0.31, suppress=True)
    assert joined.to_dict() == made.to_dict()
    assert tacit.audit(joined, l=2, policy={"max_posterior": 0.31}).verdict == "clean"
    assert list(joined.records()) == [line for part in made.parts() for line in part.records()]


def test_merged_rows_and_rows_in_any_order_make_the_same_release(tmp_path: Path) -> None:
    table = people(300)
    ways = [table, table.merged(), table.take(np.arange(300)[::-1])]
    made = [bucketize.bucketize_parts(one, l=3) for one in ways]
    for number, one in enumerate(made):
        write_buckets(one, tmp_path / str(number))
    for name in ("qit.csv", "st.csv", "buckets.json"):
        assert len({(tmp_path / str(number) / name).read_bytes() for number in range(3)}) == 1
    assert len({str(one.to_dict()) for one in made}) == 1
    assert isinstance(made[2], Bucketized)
    assert np.array_equal(made[2].people.column("age").codes, ways[2].column("age").codes)


def test_chance_depends_on_the_data_and_the_seed() -> None:
    one = people(100).merged()
    assert secret_seed(one, 0) == secret_seed(people(100).merged(), 0)
    assert len({secret_seed(one, 0), secret_seed(one, 1), secret_seed(people(101).merged(), 0)}) == 3
