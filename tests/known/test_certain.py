"""Hard bounds on sensitive values against every database that prints the same rules."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import example, given, settings
from hypothesis import strategies as st

import tacit
from tacit.model.audit import Audit
from tests.examples import examples
from tests.known.naive_certain import Person, Printing, bounds

DOMAIN = ("u", "v", "w")


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[Person], list[str], tuple[str, ...], Printing]:
    domain = DOMAIN[: draw(st.integers(1, 3))]
    size = draw(st.integers(1, 7 if len(domain) < 3 else 5))
    people: list[Person] = [(draw(st.sampled_from("ab")), draw(st.sampled_from("cde"))) for _ in range(size)]
    values = [draw(st.sampled_from(domain)) for _ in people]
    how = Printing(
        draw(st.integers(1, 3)),
        draw(st.sampled_from([Fraction(1, 4), Fraction(1, 2), Fraction(3, 5), Fraction(4, 5), Fraction(1)])),
        strict=draw(st.booleans()),
        withheld=draw(st.booleans()),
        digits=draw(st.sampled_from([None, None, 1, 2])),
        complete=draw(st.integers(0, 3)) > 0,
        distribution=draw(st.booleans()),
    )
    return people, values, tuple(sorted(set(values))), how


Case = tuple[list[Person], list[str], tuple[str, ...], Printing]


def found_bounds(audit: Audit) -> dict[tuple[Person, str], tuple[int, int]]:
    """The bounds of an audit in people."""
    table = audit.table("posterior")
    columns = [table[name].tolist() for name in ("one", "two", "ill", "people", "lower", "upper")]
    return {
        ((one, two), ill): (round(lower * people), round(upper * people))
        for one, two, ill, people, lower, upper in zip(*columns, strict=True)
    }


#: Two values that no statement tells apart: one of them is had, but neither for certain.
TWO_LEFT: Case = ([("a", "c")] * 5, list("uuuvw"), DOMAIN, Printing(2, Fraction(1, 2), complete=False))


@settings(max_examples=examples(100), deadline=None)
@given(cases())
@example(TWO_LEFT)
def test_bounds_are_those_of_all_databases(case: Case) -> None:
    people, values, domain, how = case
    audit = audited(people, values, domain, how)
    expected = bounds(people, values, domain, how)
    assert found_bounds(audit) == expected
    certain = {person for person in people if sum(expected[person, value][1] > 0 for value in domain) == 1}
    run = audit.attack("R03")
    assert (run.status, run.undecided, run.findings) == ("ran", 0, len(certain))
    assert audit.measures["people_certain"] == sum(person in certain for person in people)
    assert audit.measures["bounds_open"] == 0


def audited(people: list[Person], values: list[str], domain: tuple[str, ...], how: Printing) -> Audit:
    table = tacit.read_table(
        {"one": [p[0] for p in people], "two": [p[1] for p in people], "ill": values}, qi=["one", "two"], sa="ill"
    )
    rules = tacit.mine_rules(
        table,
        min_support=how.least,
        min_confidence=how.confidence,
        strict=how.strict,
        withhold_values=how.withheld,
        digits=None if how.withheld else how.digits,
        incomplete=not how.complete,
        publish_sa_distribution=how.distribution,
    )
    return tacit.audit(rules, known=table.qi, attacks=["R03"])
