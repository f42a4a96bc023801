"""Kernels: machine code, plain Python and twins in numpy give the same results, bit by bit."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tacit.buckets import surviving_correlations
from tacit.buckets.assignments import share_values, valid_values
from tacit.buckets.classes import Classes
from tacit.buckets.grouping import Rule, form_groups
from tacit.buckets.surviving_correlations import guess, learn
from tacit.kernels import jit
from tacit.kernels.deduction import Book, derive_supports, widen
from tacit.kernels.entropy import covariance, shares
from tacit.kernels.exchanges import eliminate, fit_people, list_changes, transpose
from tacit.kernels.exchanges import search as search_exchanges
from tacit.kernels.projection import Comparison, Crowd, groups_on, people_with, small_groups_on
from tacit.kernels.rows import OUTSIDE, find_holders, lines_within
from tacit.mining import search
from tacit.mining.database import Rows
from tacit.model.buckets import Buckets
from tacit.model.knowledge import Exclusions
from tacit.model.policy import Limits
from tacit.model.release import Sets
from tacit.model.table import Table
from tests.examples import examples

pytestmark = pytest.mark.skipif(not jit.ENABLED, reason="nothing is compiled")

SLOW = settings(
    deadline=None, max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)

#: How many entries count in arrays that a kernel returns with room behind them.
USED: dict[str, Callable[[Any, Any], int]] = {
    "candidates": lambda result, arguments: result[0] * (arguments[1].size // arguments[0].size),
    "deduce": lambda result, _: 5 * result[0],
    "derive_supports": lambda result, _: 5 * result[0],
    "small_groups": lambda result, _: int(result[0].sum()),
}

#: What a kernel with a twin writes to its arguments, without scratch.
WRITTEN: dict[str, Callable[[Any, Any], tuple[Any, ...]]] = {
    "lines_within": lambda used, arguments: (arguments[3][:used], arguments[4][:used]),
    "project_rows": lambda used, arguments: (arguments[4][:used], arguments[5][:used]),
    "small_groups": lambda _, arguments: (arguments[15],),
}


def run_both(kernel: jit.Kernel[Any, Any], *arguments: Any) -> Any:
    others = copy.deepcopy(arguments)
    for_twin = copy.deepcopy(arguments)
    with np.errstate(over="ignore"):
        plain = kernel.plain(*arguments)
    compiled = kernel.compiled(*others)
    for one, other in zip(arguments, others, strict=True):
        same(one, other)
    if kernel.plain.__name__ in USED:
        used = USED[kernel.plain.__name__](plain, arguments)
        same(plain[0], compiled[0])
        same(tuple(part[:used] for part in plain[1:]), tuple(part[:used] for part in compiled[1:]))
    else:
        same(plain, compiled)
    if kernel.twin is not None:
        result = kernel.twin(*for_twin)
        name = kernel.plain.__name__
        same(WRITTEN[name](result, for_twin), WRITTEN[name](plain, arguments))
        if name in USED:
            used = USED[name](plain, arguments)
            same(tuple(part[:used] for part in plain), tuple(part[:used] for part in result))
        else:
            same(plain, result)
    return plain


def same(one: Any, other: Any) -> None:
    if isinstance(one, tuple):
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            same(left, right)
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()
    else:
        assert one == other


@pytest.fixture(autouse=True)
def _both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit.Kernel, "__call__", run_both)


def sets_of(n_items: int, most: int, *, least: int = 0) -> st.SearchStrategy[list[list[int]]]:
    return st.lists(st.sets(st.integers(0, n_items - 1)).map(sorted), min_size=least, max_size=most)


@SLOW
@given(
    rows=sets_of(6, 12),
    least=st.integers(1, 4),
    only=st.sampled_from(["all", "closed", "maximal"]),
    dense=st.booleans(),
    with_classes=st.booleans(),
    data=st.data(),
)
def test_mining(rows: list[list[int]], least: int, only: Any, dense: bool, with_classes: bool, data: st.DataObject) -> None:
    weights = np.array([data.draw(st.integers(1, 5)) for _ in rows], np.int64)
    classes = np.array([data.draw(st.integers(0, 1)) for _ in rows], np.int32) if with_classes else None
    wanted = search.Wanted("all", part=1, whole=2) if with_classes else search.Wanted(only)
    sets = Sets.from_lists(rows)
    what = Rows(sets, weights, 6, classes=classes, n_classes=2 if with_classes else 1)
    search.mine(what, least, wanted, search.Limits(threads=1), dense=dense)


@SLOW
@given(
    rows=sets_of(70, 12, least=1),
    sets=sets_of(70, 12),
    k=st.integers(1, 5),
    first_only=st.booleans(),
    data=st.data(),
)
def test_small_groups(rows: list[list[int]], sets: list[list[int]], k: int, first_only: bool, data: st.DataObject) -> None:
    weights = np.array([data.draw(st.integers(1, 5)) for _ in rows], np.int64)
    people, asked = Sets.from_lists(rows), Sets.from_lists([one for one in sets if one])
    crowd = Crowd.of(people, weights, np.arange(70))
    list(small_groups_on(crowd, asked.offsets, asked.members, k, lambda _share: None, 1, first_only))
    people_with(crowd, asked.offsets, asked.members)
    holders = find_holders(asked.offsets, asked.members, 70)
    counts: list[int] = []
    comparison = Comparison(holders, lambda found: counts.extend(found.tolist()), True)
    maximal = np.unique(holders).astype(np.int64)
    list(groups_on(crowd, (asked.offsets, asked.members), maximal, k, lambda _share: None, comparison=comparison))
    assert counts == people_with(crowd, asked.offsets, asked.members).tolist()
    lines = np.empty(len(asked), np.int64)
    position = np.where(np.arange(70) < 60, np.arange(70), OUTSIDE)
    lines_within(asked.offsets, asked.members, position, lines, np.zeros_like(lines))


@SLOW
@given(rows=sets_of(5, 8), k=st.integers(1, 4), n_items=st.sampled_from([5, 70]))
def test_deduction(rows: list[list[int]], k: int, n_items: int) -> None:
    items = np.arange(n_items, dtype=np.int64)
    book = Book(items)
    pairs = [[], *([i] for i in range(5)), *([i, j] for i in range(5) for j in range(i)), [0, 1, 2]]
    keys = Sets.from_lists([sorted(pair) for pair in pairs])
    counts = np.array([sum(set(pair) <= set(row) for row in rows) for pair in pairs], np.int64)
    book.enter(book.keys(keys.offsets, keys.members), np.stack((counts, counts + counts % 2), axis=1))
    fresh = book.candidates(book.everything(), first=True)
    book.candidates(book.everything()[:3], first=False)
    book.deduce(fresh, np.array([k, 3, 4, 4], np.int64))
    book.bounds(fresh)


@SLOW
@given(rows=sets_of(5, 12), k=st.integers(2, 5), least=st.integers(1, 6))
def test_deduction_over_few_items(rows: list[list[int]], k: int, least: int) -> None:
    masks = np.array([sum(1 << item for item in row) for row in rows], np.int64)
    counts = [int(((masks & whole) == whole).sum()) for whole in range(32)]
    support = np.array([count if count >= least or whole == 0 else -1 for whole, count in enumerate(counts)], np.int64)
    rules = np.full(32, -1, np.int32)
    ask = np.array([k, least - 1])
    derive_supports(np.flatnonzero(support >= 0), True, support, rules, ask, np.empty(0, np.int64))
    fresh = [
        whole
        for whole in range(32)
        if support[whole] < 0 and all(support[whole ^ 1 << j] >= 0 for j in range(5) if whole >> j & 1)
    ]
    derive_supports(np.array(fresh, np.int64), False, support, rules, ask, np.empty(2 * len(fresh), np.int64))
    words, people = np.unique(masks.astype(np.uint64), return_counts=True)
    out = np.empty(3, np.int64)
    widen(words, people.astype(np.int64), np.array([3, 7, 31]), np.array([1, 2, 5]), np.array([1, 2, 3]), out)


@SLOW
@given(data=st.data(), people=st.integers(2, 12), values=st.integers(2, 4))
def test_assignments(data: st.DataObject, people: int, values: int) -> None:
    own = [data.draw(st.integers(0, values - 1)) for _ in range(people)]
    table = Table.from_rows(["place", "ill"], [("xy"[i % 2], "abcd"[v]) for i, v in enumerate(own)])
    _, group = np.unique([data.draw(st.integers(0, 1)) for _ in range(people)], return_inverse=True)
    buckets = Buckets.of(table.select(["place"]), table.column("ill"), group.astype(np.int32))
    codes = table.column("ill").codes
    ruled = np.array([[data.draw(st.booleans()) for _ in buckets.values] for _ in range(people)])
    ruled[np.arange(people), codes] = False
    known = Exclusions(buckets.values, ruled, np.arange(people, dtype=np.int32))
    valid = valid_values(buckets, known)
    share_values(valid)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(surviving_correlations, "COMPILED_FROM", 0)
        patch.setattr(surviving_correlations, "_MOST_ROUNDS", 2)
        guess(valid, learn(valid))


@SLOW
@given(
    data=st.data(),
    people=st.integers(0, 14),
    size=st.integers(2, 3),
    rule=st.sampled_from(["injector", "balanced-1", "balanced-2"]),
)
def test_grouping(data: st.DataObject, people: int, size: int, rule: Rule) -> None:
    value = np.array([data.draw(st.integers(0, 3)) for _ in range(people)], np.int64)
    kind = np.array([data.draw(st.integers(0, 1)) for _ in range(people)], np.int64)
    patterns = np.array([[data.draw(st.booleans()) for _ in range(4)] for _ in range(2)])
    for person in range(people):
        patterns[kind[person], value[person]] = False
    form_groups(Classes.of(value, kind, patterns, seed=0), size, rule, Limits())


@SLOW
@given(data=st.data(), classes=st.integers(1, 4), statements=st.integers(1, 5))
def test_maximum_entropy(data: st.DataObject, classes: int, statements: int) -> None:
    number = st.floats(-50, 50)
    about = [data.draw(st.sets(st.integers(0, statements - 1)).map(sorted)) for _ in range(classes)]
    starts = np.cumsum([0, *map(len, about)])
    rows = np.array([j for one in about for j in one], np.int64)
    values = np.array([data.draw(st.integers(0, 2)) for _ in range(statements)], np.int64)
    weights = np.array([data.draw(st.integers(1, 9)) for _ in range(classes)], np.float64)
    closed = np.array([data.draw(st.integers(0, 1)) for _ in range(3 * classes)], np.int8)
    closed[::3] = 0
    multipliers = np.array([data.draw(number) for _ in range(statements)])
    out = np.zeros(3 * classes)
    shares(starts, rows, values, weights, closed, multipliers, 0, classes, out, np.zeros(statements))
    covariance(starts, rows, values, weights, out, 3, 0, classes, np.zeros(statements * statements))


@given(word=st.integers(1, 2**64 - 1))
def test_word_instructions(word: int) -> None:
    assert ones_and_lowest(np.uint64(word)) == (word.bit_count(), (word & -word).bit_length() - 1)


@jit.kernel(steps=lambda _word: 1)
def ones_and_lowest(word: Any) -> tuple[int, int]:
    return jit.popcount(word), jit.lowest_one(word)


@pytest.mark.parametrize("seed", range(8))
def test_exchanges(seed: int) -> None:
    """From fractions of people to a world in which a group is empty."""
    random = np.random.default_rng(seed)
    cells, rows = 12, 5
    matrix = (random.random((rows, cells)) < 0.4).astype(np.int64) * random.choice([1, 1, 1, 3, -2], (rows, 1))
    total = matrix @ random.integers(0, 4, cells)
    row, places = np.nonzero(matrix)
    starts = np.searchsorted(row, np.arange(rows + 1))
    ends = total - 0.5, total + 0.5, np.abs(matrix).max(axis=1).clip(1).astype(float)
    run_both(fit_people, random.random(cells), (starts, places, matrix[row, places].astype(float)), ends, 20)
    left = matrix[:3].astype(np.int32)
    basic = np.full(3, -1)
    arguments = (left, total[:3].copy(), np.count_nonzero(left, axis=1), random.random(cells), np.ones(3, np.bool_), basic)
    run_both(eliminate, *arguments)
    used = np.flatnonzero(basic >= 0)
    own = np.setdiff1d(np.arange(cells), basic)
    ties = np.ascontiguousarray(left[np.ix_(used, own)].T)
    column, of_row = np.nonzero(matrix.T)
    columns = np.searchsorted(column, np.arange(cells + 1)), of_row.astype(np.int32), matrix[of_row, column]
    kept = np.array([-1, -1, -1, cells, cells + 1])
    found = np.zeros(len(own) + 1, np.int64), np.zeros(500, np.int32), np.zeros(500, np.int64)
    run_both(list_changes, ties, basic[used], own, columns, kept, found)
    by_place = run_both(transpose, found, cells + 2)
    point = np.concatenate((random.integers(0, 4, cells), total[3:]))
    low = np.concatenate((np.zeros(cells, np.int64), total[3:] - 2))
    high = np.concatenate((np.full(cells, 50), total[3:] + 2))
    state = [point, *(np.zeros(cells + 2, kind) for kind in (np.float64, np.int64, np.int64))]
    state += [np.zeros((2, len(own)), np.int64), np.zeros((60, 2), np.int64)]
    inside = np.arange(cells) < 3
    asked = np.arange(3), inside, 0, -1
    run_both(
        search_exchanges,
        found,
        by_place,
        own,
        (low, high, np.ones(cells + 2)),
        tuple(state),
        asked,
        (60, 8, 30),
        np.array([seed + 1]),
    )
