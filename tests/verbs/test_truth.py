"""Estimates beside the truth: divergences, guesses that are right, calibration."""

from __future__ import annotations

import json
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.model.audit import Audit
from tacit.model.errors import OptionError
from tacit.model.estimates import RANGES, Posterior
from tacit.model.people import Population
from tacit.model.policy import Policy
from tacit.model.table import Schema, Table
from tests.examples import examples

Row = tuple[str, str, str]
ROWS = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.sampled_from(["no", "yes"])), min_size=1, max_size=30)


def table_of(rows: list[Row]) -> Table:
    return Table.from_rows(["p", "q", "ill"], rows, Schema(qi=("p", "q"), sa=("ill",)))


def audit_with(people: Table, share: np.ndarray, values: tuple[str, ...] = ("no", "yes")) -> Audit:
    """An audit that estimates just this."""
    known = Population.of(people.qi)
    open_ = np.full(share.shape, np.nan)
    baseline = known.people @ share / known.n
    found = Posterior(known, "ill", values, share, open_, open_, baseline, baseline_is_published=False)
    return Audit((), {}, Policy(), (), {}, {"posterior": found.table}, (found,))


@settings(max_examples=examples(100), deadline=None)
@given(ROWS, st.integers(0, 2**32 - 1))
def test_everything_equals_the_definition_row_by_row(rows: list[Row], seed: int) -> None:
    people = table_of(rows)
    known = Population.of(people.qi)
    share = np.random.default_rng(seed).dirichlet((1, 1), len(known))
    found = tacit.compare(audit_with(people, share), people)
    counts, sizes = Counter(rows), Counter((p, q) for p, q, _ in rows)
    overall, right, sure = 0.0, 0, 0
    for place in range(len(known)):
        who = known.describe(place)
        key = (who["p"], who["q"])
        individual = 0.0
        for value, estimate in zip(("no", "yes"), share[place].tolist(), strict=True):
            true = counts[(*key, value)] / sizes[key]
            individual += true * math.log(true / estimate) if true else 0.0
        assert found.D_individual[place] == pytest.approx(individual, abs=1e-12)
        overall += individual * sizes[key] / len(rows)
        guessed = counts[(*key, ("no", "yes")[int(share[place].argmax())])]
        right += guessed
        sure += guessed if share[place].max() > 0.9 else 0
    assert found.D_overall == pytest.approx(overall, abs=1e-12)
    assert found.measures["top_guess_right"] == right
    assert found.measures["sure_guess_right"] == sure
    assert found.measures["baseline_guess_right"] == max(Counter(row[2] for row in rows).values())
    lines = found.calibration()
    assert sum(line.people for line in lines) == len(rows)
    assert sum(line.people * line.right for line in lines) == pytest.approx(right)
    assert all(line.above < line.estimated <= line.at_most for line in lines)


def test_the_audit_of_a_release_is_compared_in_the_order_of_its_table() -> None:
    rows = [("a", "x", "yes")] * 4 + [("a", "x", "no")] + [("b", "y", "no")] * 5 + [("b", "x", "yes")] * 2
    people = table_of(rows)
    audit = tacit.audit(tacit.mine_rules(people, min_support=2, min_confidence=0.5), known=people.qi, attacks=["R02"])
    found = tacit.compare(audit, people)
    assert found.D_individual == pytest.approx(np.zeros(3), abs=1e-6)
    told = found.table()
    assert list(told)[-3:] == ["baseline", "truth", "D_individual"]
    assert told["truth"] == pytest.approx(told["posterior"], abs=1e-6)


def test_a_truth_that_was_ruled_out_is_infinitely_far_and_null_in_the_record() -> None:
    people = table_of([("a", "x", "yes"), ("b", "x", "no")])
    found = tacit.compare(audit_with(people, np.array([[1.0, 0.0], [0.5, 0.5]])), people)
    assert math.isinf(found.D_overall)
    record = found.to_dict(top=5)
    json.dumps(record, allow_nan=False)
    assert record["measures"]["D_individual_max"] is None
    assert record["farthest"][0]["D_individual"] is None
    assert [line["event"]["p"] for line in record["given_away"]] == [["b"]]


def test_the_surest_guesses_that_are_true_come_first() -> None:
    rows = [("a", "x", "yes")] * 3 + [("a", "y", "no")] + [("b", "x", "yes"), ("b", "x", "no")]
    people = table_of(rows)
    found = tacit.compare(audit_with(people, np.array([[0.1, 0.9], [0.05, 0.95], [0.1, 0.9]])), people)
    assert [(line.guess.who["p"], line.right) for line in found.given_away(9)] == [("a", 1.0), ("b", 0.5)]
    assert found.farthest(1)[0].guess.who == {"p": "a", "q": "y"}


@pytest.mark.parametrize(
    "rows",
    [
        [("a", "x", "yes"), ("b", "x", "no"), ("c", "x", "no")],
        [("a", "x", "yes"), ("b", "x", "perhaps")],
        [("a", "x", "yes"), ("a", "x", "yes"), ("b", "x", "no")],
        [("a", "x", "yes"), ("a", "x", "no")],
    ],
    ids=["a person more", "a value more", "one counted twice", "one gone"],
)
def test_other_people_are_refused(rows: list[Row]) -> None:
    audit = audit_with(table_of([("a", "x", "yes"), ("b", "x", "no")]), np.array([[0.5, 0.5], [0.5, 0.5]]))
    with pytest.raises(OptionError, match="the data hold"):
        tacit.compare(audit, table_of(rows))


def test_other_columns_are_refused() -> None:
    people = table_of([("a", "x", "yes"), ("b", "x", "no")])
    audit = audit_with(people, np.array([[0.5, 0.5], [0.5, 0.5]]))
    other = Table.from_rows(["p", "q", "pay"], [("a", "x", "yes")], Schema(qi=("p", "q"), sa=("pay",)))
    with pytest.raises(OptionError, match="the rules are about 'ill'"):
        tacit.compare(audit, other)
    with pytest.raises(OptionError, match="have no column 'q'"):
        tacit.compare(audit, Table.from_rows(["p", "ill"], [("a", "yes")], Schema(qi=("p",), sa=("ill",))))
    with pytest.raises(OptionError, match="estimated nobody"):
        tacit.compare(Audit((), {}, Policy(), ()), people)


def test_ranges_cover_all_probabilities() -> None:
    assert RANGES[0] == 0
    assert RANGES[-1] == 1
    assert list(RANGES) == sorted(RANGES)


@settings(max_examples=examples(60), deadline=None)
@given(ROWS, ROWS)
def test_rows_find_their_combination(mine: list[Row], theirs: list[Row]) -> None:
    known = Population.of(table_of(mine).qi)
    wanted = {tuple(known.describe(place).values()): place for place in range(len(known))}
    assert known.places_of(table_of(theirs)).tolist() == [wanted.get(row[:2], -1) for row in theirs]


def test_rows_find_their_combination_where_the_combinations_are_too_many_to_number() -> None:
    chance = np.random.default_rng(3)
    names = [f"c{number}" for number in range(30)]
    rows = [tuple(map(str, row)) for row in chance.integers(0, 5, (60, 30)).tolist()]
    known = Population.of(Table.from_rows(names, rows[:40]))
    wanted = {tuple(known.describe(place).values()): place for place in range(len(known))}
    assert known.places_of(Table.from_rows(names, rows)).tolist() == [wanted.get(row, -1) for row in rows]
