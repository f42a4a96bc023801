from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.model.audit import Target
from tacit.model.finding import Finding, ItemEvent, Shorter, Term, Total
from tacit.model.numbers import Bound
from tacit.model.policy import Policy
from tacit.reports.document import Proof
from tacit.reports.proofs import proof_of
from tacit.verbs.attacks import ATTACKS
from tests.examples import examples
from tests.reports.audit_cases import LEAKING, audit_of, itemsets

#: Everyone with a and c has b: "a and not b" says the same as "a, c and not b".
SHORTENED = {"a": 50, "b": 80, "c": 60, "a b": 49, "a c": 50, "b c": 50, "a b c": 49}


def test_fewer_words_are_preferred_with_their_own_sum() -> None:
    total = Total(Bound.of(1))
    steps = (Term(1, Bound.of(3), "x"), Shorter("short."), total)
    long = Finding("I01", ItemEvent(("a",)), Bound.of(1), "long.", derivation=steps)
    told = proof_of(long)
    assert (told.statement, told.terms) == ("short.", (("= 1", ""),))
    plain = Finding("I01", ItemEvent(("a",)), Bound.of(1), "plain.", derivation=(Term(1, Bound.of(1), "x"), total))
    assert proof_of(plain).statement == "plain."
    assert proof_of(plain).terms == (("+ 1", "x"), ("= 1", ""))


def test_the_marker_of_fewer_words_is_the_one_the_attack_writes() -> None:
    finding = audit_of(itemsets(SHORTENED)).findings[0]
    assert finding.same_people is not None
    told = proof_of(finding)
    assert told.statement != finding.statement
    assert len(told.terms) < len(finding.steps)


def test_terms_are_told_as_parts_of_the_first() -> None:
    release = itemsets(LEAKING)
    told = proof_of(audit_of(release).findings[0], release)
    assert told.terms == (
        ("+ 50", "people with a (line 2)"),
        ("- 49", "of them with b (line 4)"),
        ("= 1", ""),
    )


def test_all_people_can_be_the_first_term() -> None:
    release = itemsets({"a": 50, "b": 97, "a b": 48}, n=100)
    told = proof_of(audit_of(release, k=2).findings[0], release)
    assert told.statement == "1 person has neither a nor b."
    assert [what for _, what in told.terms] == [
        "all people (n)",
        "of them with b (line 3)",
        "of them with a (line 2)",
        "of them with a and b (line 4)",
        "",
    ]


def test_lines_are_found_where_the_file_has_them() -> None:
    release = replace(itemsets(LEAKING), lines=np.array([7, 8, 9]))
    assert proof_of(audit_of(release).findings[0], release).terms[1][1] == "of them with b (line 9)"


def test_a_closed_set_that_says_more_is_told_in_full() -> None:
    closed = replace(itemsets({"c": 60, "b": 80, "a c": 50, "b c": 50, "a b c": 49}), only="closed")
    told = proof_of(audit_of(closed).findings[0], closed)
    assert told.statement == "1 person has a but not b."
    assert [what for _, what in told.terms][:2] == ["people with a and c (line 4)", "people with a, b and c (line 6)"]


def test_a_line_that_holds_more_than_the_finding_is_told_in_full() -> None:
    """Everyone with a and b has c, so that the closed list gives the count of both on a line with all three."""
    closed = replace(itemsets({"a": 50, "b": 80, "c": 60, "a b c": 49}), only="closed")
    told = proof_of(audit_of(closed).findings[0], closed)
    assert told.statement == "1 person has a but not c."
    assert [what for _, what in told.terms] == ["people with a (line 2)", "people with a, b and c (line 5)", ""]


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.sets(st.sampled_from("abcd"), min_size=1), min_size=3, max_size=14))
def test_a_shorter_telling_keeps_every_number(rows: list[set[str]]) -> None:
    """The sum told in parts adds up to the same count, over the same lines."""
    from itertools import combinations

    subsets = [" ".join(names) for size in (1, 2, 3, 4) for names in combinations("abcd", size)]
    counts = {text: sum(set(text.split()) <= row for row in rows) for text in subsets}
    release = itemsets({text: count for text, count in counts.items() if count} or {"a": 1}, n=len(rows))
    run = ATTACKS[0].run(Target(release, Policy(k=5)))
    assert run.show is not None
    for index in range(min(run.findings, 8)):
        finding = run.show(index)
        plain, told = proof_of(finding), proof_of(finding, release)
        assert sorted(number for number, _ in told.terms) == sorted(number for number, _ in plain.terms)
        total = sum(int(sign + "1") * _value(number) for sign, number in re.findall(r"^([+-]) (.*)$", _numbers(told), re.M))
        assert total == finding.count.lo


def _numbers(told: Proof) -> str:
    return "\n".join(number for number, _ in told.terms)


def _value(number: str) -> int:
    value = 1
    for part in number.replace(",", "").split(" x "):
        value *= int(part)
    return value
