"""Where the number of people is not known: everything that does not need it is found, the rest is undecided, nothing is clean."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.model.policy import Policy
from tacit.model.release import Only
from tests.itemsets import naive_channels as naive
from tests.itemsets.test_channels import Rows, attack, databases, event_of, exactly, itemsets, often, shown


@often
@given(databases(), st.integers(1, 6), st.integers(2, 8), st.sampled_from(("all", "closed")), st.integers(0, 1))
def test_findings_are_those_that_need_no_n(rows: Rows, sigma: int, k: int, only: Only, slack: int) -> None:
    frequent = naive.frequent(rows, sigma)
    chosen = naive.closed(frequent) if only == "closed" else frequent
    rounded = {items: (max(0, lo - slack), min(len(rows), hi + slack)) for items, (lo, hi) in exactly(chosen).items()}
    known = itemsets(rounded, n=len(rows), only=only)
    unknown = replace(known, header=replace(known.header, n=None))
    with_n = {event_of(finding): finding.count for finding in shown(attack(known, k))}
    found = attack(unknown, k)
    without = {event_of(finding): finding.count for finding in shown(found)}
    assert without.items() >= {event: count for event, count in with_n.items() if event[0]}.items()
    # Rounded patterns are left out where a longer one is proved; without n the longer one may need it, and the shorter one is told.
    for present, absent in without.keys() - with_n.keys():
        assert present
        assert any(present == has and absent < lacks for has, lacks in with_n) or any(present < has for has, _ in with_n)
    assert slack or set(without) == {event for event in with_n if event[0]}
    assert not found.decides
    if len(known):
        audit = tacit.audit(unknown, policy=Policy(k=k))
        assert audit.verdict == ("exposed" if without or audit.attack("X01").findings else "incomplete")
