"""Cells and sets: the fast readers against slow and obvious ones."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.files import consistency
from tacit.files.delimited import Pairs, add_cells, item_name, pair_name
from tacit.files.printout import Bags, Numbering, TextColumn, finish, set_tokens, split_set, token_name
from tacit.model.errors import InputError
from tacit.model.release import Sets
from tests.examples import examples

FRAGMENTS = st.lists(
    st.sampled_from([*'[]{},:"', '"a"', '"b"', "1", "\n", " ", '["a"]', '["a", "b"]', '{"a": "b"}', "\\"]), max_size=5
)
CELLS = st.one_of(
    st.lists(st.sampled_from(["a", "b", "c,", '"', "]"]), max_size=3).map(json.dumps),
    st.dictionaries(st.sampled_from("ab"), st.sampled_from(["x", "]"]), max_size=2).map(json.dumps),
    FRAGMENTS.map("".join),
)


def one_by_one(cells: list[str], kind: type[list[Any]]) -> list[list[Any]] | int:
    """The cells as lists of names, or the number of the first that is none."""
    found: list[list[Any]] = []
    for number, cell in enumerate(cells):
        try:
            value: Any = json.loads(cell, parse_int=str, object_pairs_hook=Pairs)
        except ValueError:
            return number
        if type(value) is not kind:
            return number
        entries: list[Any] = list(value)
        inner = [entry for _, entry in entries] if kind is Pairs else entries
        if any(isinstance(entry, list) for entry in inner) or (kind is Pairs and len(dict(entries)) < len(entries)):
            return number
        found.append(sorted(set(entries)))
    return found


@settings(max_examples=examples(600), deadline=None)
@given(st.lists(CELLS, max_size=6), st.booleans())
def test_batches_of_json_against_cell_by_cell(cells: list[str], objects: bool) -> None:
    bags = Bags(Numbering(pair_name if objects else item_name))
    kind = Pairs if objects else list
    expected = one_by_one(cells, kind)
    column = TextColumn("c", cells)
    if isinstance(expected, int):
        with pytest.raises(InputError) as caught:
            add_cells(bags, column, lambda line, _: str(line), kind)
        assert caught.value.where == str(expected)
        return
    add_cells(bags, column, lambda line, _: str(line), kind)
    names = sorted(bags.numbering.numbers)
    sets = bags.sets(bags.numbering.ranks(names))
    assert [[names[i] for i in part] for part in sets] == expected


@settings(max_examples=examples(300), deadline=None)
@given(
    st.lists(
        st.frozensets(
            st.one_of(st.text(st.characters(exclude_characters="\0"), max_size=5), st.integers(), st.booleans(), st.none()),
            max_size=5,
        ),
        max_size=4,
    )
)
def test_printed_frozensets(family: list[frozenset[Any]]) -> None:
    for items in family:
        for printed in (
            repr(items),
            repr(set(items)),
            repr(sorted(items, key=repr)),
            repr(frozenset(map(np.str_, map(str, items)))),
        ):
            tokens = set_tokens(printed)
            assert tokens is not None
            assert {token_name(token) for token in tokens} == {str(item) for item in items}


@given(st.lists(st.text(st.characters(exclude_characters=",()[]", exclude_categories=["Cs"]), min_size=1), max_size=5))
def test_sets_of_arules(items: list[str]) -> None:
    assert split_set(",".join(items)) == items
    assert split_set(",".join(f"{item}=[1,2)" for item in items)) == [f"{item}=[1,2)" for item in items]


FAMILIES = st.lists(st.frozensets(st.integers(0, 5), max_size=4), min_size=1, max_size=14)


def clashes(family: list[frozenset[int]], lo: list[int], hi: list[int]) -> set[tuple[int, int]]:
    """Every clashing pair, by comparing all."""
    every = range(len(family))
    return {(i, j) for i in every for j in every if family[i] >= family[j] and lo[i] > hi[j]}


@st.composite
def counted(draw: st.DrawFn, closed: bool) -> tuple[list[frozenset[int]], list[int], list[int]]:
    """A family of sets with ends around true counts, one of them sometimes moved."""
    family = draw(FAMILIES)
    if closed:
        family = [
            frozenset(part)
            for items in set(family)
            for size in range(len(items) + 1)
            for part in combinations(sorted(items), size)
        ]
        family = draw(st.permutations(sorted(set(family), key=sorted)))
    rows = draw(st.lists(st.frozensets(st.integers(0, 5)), max_size=12))
    counts = [sum(row >= items for row in rows) for items in family]
    widths = draw(st.lists(st.sampled_from([0, 0, 1, 5]), min_size=len(family), max_size=len(family)))
    lo = [count - width for count, width in zip(counts, widths, strict=True)]
    hi = [count + width for count, width in zip(counts, widths, strict=True)]
    moved, by = draw(st.integers(0, len(family) - 1)), draw(st.integers(-4, 4))
    lo[moved], hi[moved] = lo[moved] + by, hi[moved] + by
    return list(family), lo, hi


@settings(max_examples=examples(300), deadline=None)
@given(counted(closed=False))
def test_every_clash_is_found_by_pairs(case: tuple[list[frozenset[int]], list[int], list[int]]) -> None:
    family, lo, hi = case
    got = consistency.clash_of_pairs(Sets.from_lists(family), np.array(lo), np.array(hi))
    every = clashes(family, lo, hi)
    assert got in every if every else got is None


@settings(max_examples=examples(300), deadline=None)
@given(counted(closed=True))
def test_every_clash_is_found_through_subsets_when_all_are_there(case: tuple[list[frozenset[int]], list[int], list[int]]) -> None:
    family, lo, hi = case
    got = consistency.clash_of_subsets(Sets.from_lists(family), np.array(lo), np.array(hi))
    every = clashes(family, lo, hi)
    assert got in every if every else got is None


@settings(max_examples=examples(300), deadline=None)
@given(counted(closed=False))
def test_clashes_across_small_gaps_are_found_through_subsets(case: tuple[list[frozenset[int]], list[int], list[int]]) -> None:
    family, lo, hi = case
    got = consistency.clash_of_subsets(Sets.from_lists(family), np.array(lo), np.array(hi))
    every = clashes(family, lo, hi)
    if got is None:
        assert all(len(family[i]) - len(family[j]) > 2 for i, j in every)
    else:
        assert got in every


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.lists(st.text(max_size=2), max_size=6), max_size=8))
def test_sets_of_names(lists: list[list[str]]) -> None:
    bags = Bags(Numbering())
    for start in range(0, len(lists), 3):
        bags.add(lists[start : start + 3])
    items, (sets,) = finish([bags])
    assert [{items.names[i] for i in part} for part in sets] == [set(part) for part in lists]
    assert all((np.diff(part) > 0).all() for part in sets)
