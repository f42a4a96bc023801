"""Several releases about known people, on small worlds made by chance, against all worlds that print the same."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tacit
from tacit.buckets.case import BucketCase
from tacit.checker.known import KnownBook, check_known
from tacit.joint import certain_values
from tacit.known.case import estimate
from tacit.known.proofs import bounds_of, state_everything
from tacit.known.releases import SeveralCase
from tacit.model.audit import Target
from tacit.model.buckets import Buckets
from tacit.model.knowledge import Amount, Fact
from tacit.model.policy import Limits, Policy
from tacit.model.release import ONLY
from tacit.model.table import Schema, Table
from tacit.verbs.known import several_case
from tests.buckets.made_buckets import random_buckets
from tests.examples import examples
from tests.known import naive_certain, naive_known

DOMAIN = ("flu", "cold", "mumps")
COLUMNS = ("sex", "age")
ROWS = st.lists(st.tuples(st.sampled_from("FM"), st.sampled_from(("old", "young"))), min_size=1, max_size=6)
quick = settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def cases(draw: st.DrawFn) -> tuple[Table, list[Any], list[naive_known.Publish]]:
    """People, some releases about them, and how each of these was printed."""
    people = draw(ROWS)
    truth = draw(st.lists(st.sampled_from(DOMAIN), min_size=len(people), max_size=len(people)))
    schema = Schema(qi=COLUMNS, sa=("ill",))
    table = Table.from_rows([*COLUMNS, "ill"], [(*one, value) for one, value in zip(people, truth, strict=True)], schema)
    releases: list[Any] = [_rules(table, least := draw(st.integers(1, 3)), draw(st.sampled_from(["1/2", "1"])))]
    how = naive_certain.Printing(least, Fraction(releases[0].header.min_confidence))
    domain = releases[0].header.sa_values

    def rules(people: Sequence[naive_known.Person], values: Sequence[str]) -> Any:
        return naive_certain.release(people, values, domain, how)

    printed: list[naive_known.Publish] = [rules]
    for kind in draw(st.lists(st.sampled_from(["table", "itemsets"]), min_size=1, max_size=2, unique=True)):
        if kind == "table":
            columns, hidden = draw(st.sampled_from([(0,), (1,), (0, 1)])), draw(st.integers(1, 3))
            by = ",".join([*(COLUMNS[column] for column in columns), "ill"])
            releases.append(tacit.tabulate(table, by=by, hide_below=hidden))
            printed.append(naive_known.cells(columns, hidden))
        else:
            number, only = draw(st.integers(1, 3)), draw(st.sampled_from(ONLY))
            releases.append(tacit.mine_itemsets(table, min_support=number, only=only))
            printed.append(naive_known.itemsets(number, only))
    return table, releases, printed


def _rules(table: Table, least: int, confidence: str) -> tacit.Rules:
    return tacit.mine_rules(table, min_support=least, min_confidence=Fraction(confidence))


def people_of(table: Table) -> tuple[list[tuple[str, ...]], list[str]]:
    texts = [[column.values[code] for code in column.codes.tolist()] for column in table.columns]
    rows = list(zip(*texts, strict=True))
    return [row[:-1] for row in rows], [row[-1] for row in rows]


def left(case: SeveralCase) -> dict[tuple[str, ...], set[str]]:
    found = bounds_of(case, state_everything(case), Limits())
    described = [tuple(case.population.describe(q).values()) for q in range(len(case.population))]
    return {
        who: {value for place, value in enumerate(case.values) if not found.impossible[q, place]}
        for q, who in enumerate(described)
    }


@quick
@given(cases())
def test_what_is_left_of_known_people_is_what_all_worlds_leave(drawn: tuple[Table, list[Any], list[Any]]) -> None:
    table, releases, printed = drawn
    people, truth = people_of(table)
    case = several_case(releases, known=table.qi)
    assert case is not None
    found, true = left(case), naive_known.possible(people, truth, case.values, printed)
    for who, values in true.items():
        assert values <= found[who], "a value was ruled out that somebody can have"
    if all(release.kind != "itemsets" or release.only == "all" for release in releases):
        assert found == true


@quick
@given(cases())
def test_every_finding_holds_when_it_is_checked_and_estimates_rule_nothing_out(drawn: tuple[Table, list[Any], list[Any]]) -> None:
    table, releases, _ = drawn
    case = several_case(releases, known=table.qi)
    assert case is not None
    run = certain_values.run(Target(releases[0], Policy(l=3), case=case))
    books = [KnownBook(releases, table.qi), KnownBook(releases)]
    assert run.show is not None
    for index in range(len(run.severity)):
        finding = run.show(index).to_dict()
        if "certificate" in finding:
            for book in books:
                check_known(finding, book, 3)
    guessed = estimate(case, case.missing)
    if guessed.solution.converged:
        certainly = run.details["lower"] == 1
        assert (guessed.posterior()[certainly] > 0.99).all()


@pytest.mark.parametrize("seed", range(40))
def test_a_bucketized_release_alone_leaves_what_b01_leaves(seed: int) -> None:
    buckets, known, _ = random_buckets(seed, people=10, size=5, values=4)
    if buckets.n == 0:
        return
    column = buckets.people.columns[0]
    facts = [
        Fact({"kind": (column.values[kind],)}, value, at_most=Amount.parse(0))
        for kind, pattern in enumerate(known.patterns)
        for value, excluded in zip(known.values, pattern, strict=True)
        if excluded
    ]
    alone = BucketCase(buckets, tuple(facts))
    case = several_case([buckets], knowledge=facts)
    assert case is not None
    found = left(case)
    for row in range(buckets.n):
        who = (*alone.describe(row).values(), buckets.names[int(buckets.group[row])])
        cells = alone.valid.cells
        start, end = cells.rows[cells.cell[row]], cells.rows[cells.cell[row] + 1]
        values = cells.buckets.value[cells.entries[start:end][alone.valid.possible[start:end]]]
        assert found[who] == {buckets.values[int(value)] for value in values}


@st.composite
def grouped(draw: st.DrawFn) -> tuple[Table, np.ndarray, np.ndarray, list[tuple[str, str]]]:
    people = draw(ROWS)
    n = len(people)
    truth = draw(st.lists(st.sampled_from(DOMAIN), min_size=n, max_size=n))
    schema = Schema(qi=COLUMNS, sa=("ill",))
    table = Table.from_rows([*COLUMNS, "ill"], [(*one, value) for one, value in zip(people, truth, strict=True)], schema)
    one, two = (draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)) for _ in range(2))
    pairs = [
        (sex, value)
        for sex in "FM"
        for value in DOMAIN
        if not any(p[0] == sex and v == value for p, v in zip(people, truth, strict=True))
    ]
    never = draw(st.lists(st.sampled_from(pairs), max_size=2, unique=True)) if pairs else []
    numbered = [np.unique(group, return_inverse=True)[1].astype(np.int32) for group in (one, two)]
    return table, numbered[0], numbered[1], never


@quick
@given(grouped())
def test_groups_rules_and_negative_rules_together_are_never_too_sharp(drawn: Any) -> None:
    table, one, two, never = drawn
    people, truth = people_of(table)
    releases = [Buckets.of(table.qi, table.sa, group) for group in (one, two)]
    facts = [({"sex": sex}, value) for sex, value in never]
    case = several_case([*releases, tacit.tabulate(table, by="age,ill")], knowledge=facts)
    assert case is not None
    found = left(case)
    told = [(*person, str(group + 1)) for person, group in zip(people, one.tolist(), strict=True)]
    printed = [naive_known.groups(one.tolist()), naive_known.groups(two.tolist()), naive_known.cells((1,), 1)]

    def allowed(person: tuple[str, ...], value: str) -> bool:
        return (person[0], value) not in never

    true = naive_known.possible(told, truth, case.values, printed, allowed)
    # Whoever reads does not know the second group of people with equal quasi-identifiers, so that more may be possible, never less.
    for who, values in true.items():
        assert values <= found[who]
