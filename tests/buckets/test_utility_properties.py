"""Measures of bucketized releases are their definitions, computed person by person; what is learnt from groups is what a slow loop learns."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import tacit
from tacit.buckets import surviving_correlations
from tacit.buckets.assignments import valid_values
from tacit.buckets.estimators import Combinations, Estimator, Mixing, estimators
from tacit.buckets.surviving_correlations import Places, estimate, guess, learn, split_rows
from tacit.buckets.utility import PositiveRules, draw_queries, link_guesses, match_rows, plain_figures
from tacit.model.knowledge import Exclusions
from tacit.model.numbers import Threshold
from tacit.model.table import Schema
from tests.buckets import naive_utility as naive
from tests.buckets.naive_utility import Person
from tests.examples import examples

MANY = settings(max_examples=examples(80), deadline=None)


@st.composite
def people(draw: st.DrawFn, most: int = 14) -> list[Person]:
    """A few people with two quasi-identifiers, a value of three, and a group of at most five people."""
    n = draw(st.integers(2, most))
    who = st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"))
    rows = draw(st.lists(st.tuples(who, st.sampled_from(["cold", "flu", "mumps"])), min_size=n, max_size=n))
    groups = draw(st.lists(st.integers(0, max(1, n // 3)), min_size=n, max_size=n))
    assume(max(groups.count(group) for group in groups) <= 5)
    return [(qi, value, group) for (qi, value), group in zip(rows, groups, strict=True)]


def exclusions(rows: list[Person], rule: tuple[str, str] | None) -> Exclusions:
    """What rules out a value for people with a first quasi-identifier, where nobody with it has the value."""
    buckets, _ = naive.released(rows)
    if rule is None or any(qi[0] == rule[0] and value == rule[1] for qi, value, _ in rows):
        return Exclusions.none(len(rows), buckets.values)
    patterns = np.zeros((2, len(buckets.values)), np.bool_)
    patterns[1] = [value == rule[1] for value in buckets.values]
    return Exclusions(buckets.values, patterns, np.array([qi[0] == rule[0] for qi, _, _ in rows], np.int32))


def read(rows: list[Person], rule: tuple[str, str] | None) -> tuple[Combinations, dict[str, Estimator], Mixing]:
    buckets, table = naive.released(rows)
    cells = Combinations.of(buckets, replace(table, schema=Schema(qi=buckets.people.names, sa=("ill",))))
    valid = valid_values(buckets, exclusions(rows, rule))
    found, mixing = estimators(cells, valid, learn(valid))
    return cells, {one.name: one for one in found}, mixing


def summed(rows: list[Person], shares: list[dict[str, Fraction]], cells: Combinations) -> np.ndarray:
    """Shares added up by combination, in the order of the cells."""
    out = np.zeros((len(cells), len(cells.values)))
    for place in range(len(cells)):
        who = tuple(column.values[column.codes[place]] for column in cells.columns)
        for (qi, _, _), share in zip(rows, shares, strict=True):
            if qi == who:
                out[place] += [float(share.get(value, 0)) for value in cells.values]
    return out


@MANY
@given(people(), st.tuples(st.sampled_from("ab"), st.sampled_from(["cold", "flu", "mumps"])))
def test_what_is_counted_is_what_the_definitions_count(rows: list[Person], rule: tuple[str, str]) -> None:
    cells, found, mixing = read(rows, rule)
    assert np.allclose(cells.true, summed(rows, naive.truth(rows), cells))
    assert np.allclose(found["uniform"].counted, summed(rows, naive.uniform(rows), cells))
    if "rule-aware" in found:
        aware = naive.equally_likely(rows, lambda qi, value: qi[0] == rule[0] and value == rule[1])
        assert np.allclose(found["rule-aware"].counted, summed(rows, aware, cells))
    assert np.allclose(mixing.pi, np.array(naive.mixing(rows, cells.values), float))
    assert found["modelled"].counted.sum() == pytest.approx(len(rows))


@MANY
@given(people())
def test_undoing_the_mixing_of_many_people_is_the_inverse(rows: list[Person]) -> None:
    buckets, _ = naive.released(rows)
    mixing = Mixing.of(buckets)
    assume(mixing.condition < 1e3)
    truth = np.arange(1.0, len(buckets.values) + 1)[None, :] * 1e12
    counted = truth @ np.array(naive.mixing(rows, buckets.values), float)
    assert np.allclose(mixing.undo(counted, truth.sum(axis=1)), truth, rtol=1e-3)
    # Whatever is counted, between nobody and everybody has a value; of nobody, nobody does.
    some = np.array([3.0, 1.0, 0.0])
    found = mixing.undo(np.eye(len(buckets.values))[[0, -1, 0]] * some[:, None], some)
    assert (found >= 0).all()
    assert (found <= some[:, None]).all()


@MANY
@given(people(), st.integers(1, 5), st.sampled_from(["1.1", "1.5", "1", "2"]), st.integers(1, 2))
def test_errors_of_rules_are_those_of_the_definitions(rows: list[Person], least: int, conviction: str, length: int) -> None:
    cells, found, _ = read(rows, None)
    rules = PositiveRules.of(
        cells, list(found.values()), least=Threshold.parse(least), conviction=Fraction(conviction), length=length, intervals={}
    )
    how = {"least": least, "conviction": Fraction(conviction), "length": length}
    original = naive.positive_rules(rows, naive.truth(rows), **how)  # type: ignore[arg-type]
    assert len(rules) == len(original)
    if not original:
        return
    shares = naive.uniform(rows)
    again = naive.positive_rules(rows, shares, **how)  # type: ignore[arg-type]
    off = [
        abs(now - was) / was for now, was in zip(naive.confidences(rows, shares, list(original)), original.values(), strict=True)
    ]
    errors = rules.errors(found["uniform"], cells.true.sum(axis=0))
    assert errors["confidence_error"] == pytest.approx(float(sum(off) / len(off)))
    assert errors["identification_false_positive"] == pytest.approx(len(again.keys() - original.keys()) / len(original))
    assert errors["identification_false_negative"] == pytest.approx(len(original.keys() - again.keys()) / len(original))


@MANY
@given(people(), st.integers(1, 2), st.integers(0, 9))
def test_errors_of_answers_are_those_of_counting(rows: list[Person], dim: int, seed: int) -> None:
    cells, found, _ = read(rows, None)
    asked = draw_queries(cells, number=12, dim=dim, selectivity=Fraction(1, 2), seed=seed)
    errors = asked.errors(list(found.values()))["uniform"]
    shares = naive.uniform(rows)
    for number, question in enumerate(asked.asked):
        assert len(question) == dim
        wanted = {value for value, marked in zip(cells.values, asked.wanted[number].tolist(), strict=True) if marked}
        assert wanted
        fitting = [
            row
            for row, (qi, _, _) in enumerate(rows)
            if all(marked[cells.columns[column].values.index(qi[column])] for column, marked in question)
        ]
        true = sum(rows[row][1] in wanted for row in fitting)
        estimate = sum(float(share) for row in fitting for value, share in shares[row].items() if value in wanted)
        assert true == asked.true[number] > 0
        assert errors[number] == pytest.approx(abs(estimate - true) / true)


@MANY
@given(people())
def test_plain_figures_are_those_of_loops(rows: list[Person]) -> None:
    buckets, _ = naive.released(rows)
    found = plain_figures(buckets)
    groups = [{v: c / inside.total() for v, c in inside.items()} for inside in naive.contents(rows).values()]
    usual = {value: sum(own == value for _, own, _ in rows) / len(rows) for value in buckets.values}
    assert found["k_anonymity"] == min(inside.total() for inside in naive.contents(rows).values())
    assert found["l_diversity"] == min(map(len, groups))
    assert found["entropy_l"] == pytest.approx(min(np.exp(-sum(p * np.log(p) for p in one.values())) for one in groups))
    assert found["t_closeness"] == pytest.approx(max(sum(abs(one.get(v, 0) - p) for v, p in usual.items()) / 2 for one in groups))
    assert found["largest_share"] == pytest.approx(max(max(one.values()) for one in groups))
    tails = [sorted(one.values(), reverse=True) for one in groups]
    least = int(found["l_diversity"])
    assert found["recursive_c"] == pytest.approx(max(one[0] / sum(one[least - 1 :]) for one in tails))
    assert found["beta_likeness"] == pytest.approx(max((p - usual[v]) / usual[v] for one in groups for v, p in one.items()))
    assert found["delta_disclosure"] == pytest.approx(max(abs(np.log(p / usual[v])) for one in groups for v, p in one.items()))


@settings(max_examples=examples(25), deadline=None)
@given(people(most=10), st.integers(1, 4), st.booleans())
def test_learning_is_what_a_slow_loop_learns(rows: list[Person], rounds: int, is_large: bool) -> None:
    buckets, _ = naive.released(rows)
    valid = valid_values(buckets, Exclusions.none(len(rows), buckets.values))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(surviving_correlations, "_MOST_ROUNDS", rounds)
        patch.setattr(surviving_correlations, "_STILL", -1.0)
        patch.setattr(surviving_correlations, "_FITS", -1.0)
        patch.setattr(surviving_correlations, "_ROUNDS_USING", 4)
        if is_large:  # by loops that are compiled for large releases
            patch.setattr(surviving_correlations, "COMPILED_FROM", 0)
        model = learn(valid)
        found = np.zeros((len(rows), len(buckets.values)))
        for places, share in estimate(valid, model):
            found[places.rows[places.who], places.value] = share
    values, slow = naive.learnt(rows, rounds, 4)
    assert model.rounds == rounds
    assert tuple(values) == buckets.values
    assert np.allclose(found, slow, atol=1e-9)


@MANY
@given(people(), st.tuples(st.sampled_from("ab"), st.sampled_from(["cold", "flu", "mumps"])))
def test_guesses_keep_to_groups_and_to_what_is_possible(rows: list[Person], rule: tuple[str, str]) -> None:
    buckets, _ = naive.released(rows)
    valid = valid_values(buckets, exclusions(rows, rule))
    model = learn(valid)
    found = guess(valid, model, limit=np.full(len(buckets.values), 0.5))
    given = np.zeros(len(buckets.count))
    for places, share in estimate(valid, model):
        assert valid.allowed[places.rows[places.who], places.value].all()
        assert np.allclose(np.add.reduceat(share, places.first[:-1]), 1)
        assert np.allclose(np.maximum.reduceat(share, places.first[:-1]), found.largest[places.rows])
        given += np.bincount(places.entry, share, len(given))
        over = share > 0.5
        assert set(zip(places.rows[places.who[over]].tolist(), places.value[over].tolist(), strict=True)) == set(
            zip(found.row.tolist(), found.value.tolist(), strict=True)
        )
    assert valid.allowed[np.arange(len(rows)), found.top].all()
    # Groups are filled until what they give out is right, to a thousandth of a person for each.
    assert np.abs(given - buckets.count).sum() <= 0.02 * len(rows)


@settings(max_examples=examples(40), deadline=None)
@given(people(most=8))
def test_people_who_differ_are_found_again(rows: list[Person]) -> None:
    """Where quasi-identifiers tell everybody apart, right guesses are counted exactly although the release is shuffled."""
    rows = [((qi[0], f"{qi[1]}{number}"), value, group) for number, (qi, value, group) in enumerate(rows)]
    cells, _, _ = read(rows, None)
    buckets, _ = naive.released(rows)
    own = [buckets.values.index(value) for _, value, _ in rows]
    for top in range(len(buckets.values)):
        guessed = np.full(len(rows), top, np.int64)
        assert np.allclose(link_guesses(buckets, cells, guessed), [value == top for value in own])


@settings(max_examples=examples(40), deadline=None)
@given(people(most=8), st.just([]) | people(most=5))
@example(  # the first person is the only one with flu of their combination, and need not have it: others were left out
    [(("a", "x"), "flu", 0), (("b", "x"), "cold", 0)], [(("a", "x"), "cold", 0)] * 2 + [(("b", "x"), "flu", 0)] * 2
)
def test_matching_with_the_data_is_fitting_round_by_round(rows: list[Person], others: list[Person]) -> None:
    """Rounds come near a certain value slowly: the distance falls like one over their number."""
    buckets, _ = naive.released(rows)
    _, data = naive.released([*rows, *others])
    cells = Combinations.of(buckets, replace(data, schema=Schema(qi=buckets.people.names, sa=("ill",))))
    slow = naive.linked(rows, others, 1000)
    for top, value in enumerate(buckets.values):
        found = link_guesses(buckets, cells, np.full(len(rows), top, np.int64))
        assert np.allclose(found, [one.get(value, 0.0) for one in slow], atol=0.05)


def test_people_who_are_alike_share_what_the_data_say_of_them() -> None:
    """Three women in three groups of flu and cold, two of whom have flu: each has it with 2/3."""
    sick = [("F", "flu"), ("M", "cold"), ("F", "flu"), ("M", "cold"), ("F", "cold"), ("M", "flu")]
    rows: list[Person] = [((sex, "x"), ill, number // 2) for number, (sex, ill) in enumerate(sick)]
    cells, _, _ = read(rows, None)
    buckets, _ = naive.released(rows)
    flu = np.full(len(rows), buckets.values.index("flu"), np.int64)
    assert np.allclose(link_guesses(buckets, cells, flu), [2 / 3, 1 / 3] * 3, atol=1e-4)


def test_data_are_in_the_order_of_the_release_only_if_every_group_has_its_values() -> None:
    rows: list[Person] = [
        (("a", "x"), ill, group) for group, ills in enumerate((["flu", "flu", "cold"], ["flu", "cold", "cold"])) for ill in ills
    ]
    buckets, table = naive.released(rows)
    table = replace(table, schema=Schema(qi=buckets.people.names, sa=("ill",)))
    own = match_rows(buckets, table)
    assert own is not None
    assert [buckets.values[value] for value in own.tolist()] == [value for _, value, _ in rows]
    assert match_rows(buckets, table.take(np.array([3, 4, 5, 0, 1, 2]))) is None
    assert match_rows(buckets, table.take(np.arange(5))) is None


def test_parts_hold_everybody_once_and_whole_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surviving_correlations, "_AT_ONCE", 5)
    rows: list[Person] = [(("a", "x"), value, group) for group in range(7) for value in ("cold", "flu", "mumps")]
    buckets, _ = naive.released(rows)
    parts = split_rows(buckets)
    assert len(parts) > 2
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(rows)))
    assert all(len(set(buckets.group[part].tolist())) * 3 == len(part) for part in parts)
    valid = valid_values(buckets, Exclusions.none(len(rows), buckets.values))
    assert sum(len(Places.of(valid, part).rows) for part in parts) == len(rows)


@MANY
@given(people(), st.tuples(st.sampled_from("ab"), st.sampled_from(["cold", "flu", "mumps"])), st.integers(2, 4))
def test_whoever_has_one_possible_value_is_listed_with_it(rows: list[Person], rule: tuple[str, str], least: int) -> None:
    buckets, _ = naive.released(rows)
    knowledge = [({"q0": rule[0]}, rule[1])] if exclusions(rows, rule).patterns.any() else None
    table = tacit.audit(buckets, knowledge=knowledge, policy=tacit.Policy(l=least), attacks=["B01"]).table("B01")
    allowed = valid_values(buckets, exclusions(rows, rule)).allowed
    for row, value, left in zip(table["row"].tolist(), table["value"].tolist(), table["values_left"].tolist(), strict=True):
        possible = np.flatnonzero(allowed[row]).tolist()
        assert left == len(possible)
        assert value == (possible[0] if len(possible) == 1 else -1)
