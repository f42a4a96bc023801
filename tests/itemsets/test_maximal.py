"""Lists of maximal itemsets against every small world in which they could have been made."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import tacit
from tacit.checker import check_audit
from tacit.model.finding import ItemEvent
from tacit.model.policy import Policy
from tacit.model.release import Header, Items, Itemsets, Sets
from tests.itemsets.naive_channels import Counts, Interval, Row, frequent, maximal, renamings, subsets

Pattern = tuple[frozenset[str], frozenset[str]]


def releases(items: str, n: int, sigma: int) -> Iterator[tuple[dict[frozenset[str], int], list[tuple[Row, ...]]]]:
    """All lists of maximal itemsets that n people can give, each with every database that gives it.

    Of lists that differ only in the names of the items, one is taken.
    """
    together = defaultdict(list)
    for rows in combinations_with_replacement(list(subsets(items)), n):
        together[frozenset(maximal(frequent(rows, sigma)).items())].append(rows)
    seen: set[Counts] = set()
    for published, worlds in together.items():
        if published and published not in seen:
            seen |= renamings(published, items)
            yield dict(published), worlds


def release_of(counts: dict[frozenset[str], int], n: int | None, sigma: int, slack: int = 0) -> Itemsets:
    names = tuple("abcd")
    sets = Sets.from_lists([names.index(item) for item in items] for items in counts)
    count = np.array(list(counts.values()), np.int64)
    most = n if n is not None else 10**6
    lo, hi = np.maximum(count - slack, sigma), np.minimum(count + slack, most)
    return Itemsets(sets, lo, hi, Items(names), Header(n=n, min_support=sigma, complete=True), "maximal")


def size(pattern: Pattern, rows: tuple[Row, ...]) -> int:
    return sum(pattern[0] <= row and not pattern[1] & row for row in rows)


def provable(items: frozenset[str], worlds: list[tuple[Row, ...]], k: int) -> dict[Pattern, Interval]:
    """Everything that is true of 1 to k-1 people in all worlds."""
    found = {}
    for roles in product("-+0", repeat=len(items)):
        chosen = dict(zip(sorted(items), roles, strict=True))
        pattern = frozenset(x for x in items if chosen[x] == "+"), frozenset(x for x in items if chosen[x] == "0")
        sizes = [size(pattern, rows) for rows in worlds]
        if any(pattern) and min(sizes) > 0 and max(sizes) < k:
            found[pattern] = (min(sizes), max(sizes))
    return found


def found_in(release: Itemsets, k: int) -> dict[Pattern, Interval]:
    """The findings of an audit; each is there once, and the checker agrees with all of them."""
    audit = tacit.audit(release, policy=Policy(k=k))
    assert check_audit(audit.to_dict(top=1000), [release]).problems == ()
    found: dict[Pattern, Interval] = {}
    for finding in audit.findings:
        assert isinstance(finding.event, ItemEvent)
        pattern = frozenset(finding.event.present), frozenset(finding.event.absent)
        assert pattern not in found
        found[pattern] = (finding.count.lo, finding.count.hi)
    return found


@pytest.mark.parametrize(("items", "n"), [("abc", 3), ("abc", 4), ("abc", 5), ("abcd", 3)])
def test_findings_are_proofs_and_whoever_can_be_exposed_from_groups_of_two_on_is(items: str, n: int) -> None:
    exposed = missed_ones = 0
    for sigma in range(1, n + 1):
        for counts, worlds in releases(items, n, sigma):
            for k in (2, 3, 4):
                found = found_in(release_of(counts, n, sigma), k)
                truth = provable(frozenset().union(*counts), worlds, k)
                for pattern, (lo, hi) in found.items():
                    assert pattern in truth
                    assert lo <= truth[pattern][0]
                    assert truth[pattern][1] <= hi
                exposed += bool(truth)
                if truth and not found:
                    assert k == 2
                    missed_ones += 1
    assert exposed > 50
    # What takes three lines together to prove: the page of the attack says so.
    assert missed_ones <= exposed // 20


@pytest.mark.parametrize("slack", [1, 2])
def test_rounded_counts_lead_to_no_false_proof(slack: int) -> None:
    proofs = 0
    for sigma in (1, 2, 3):
        for counts, worlds in releases("abc", 5, sigma):
            release = release_of(counts, 5, sigma, slack)
            for pattern, (lo, hi) in found_in(release, 4).items():
                proofs += 1
                assert all(lo <= size(pattern, rows) <= hi for rows in worlds)
    assert proofs > 20


def test_without_n_nothing_is_called_clean() -> None:
    counts = {frozenset("a"): 90, frozenset("bc"): 80}
    audit = tacit.audit(release_of(counts, None, 50))
    assert audit.verdict == "incomplete"
    assert [run.undecided for run in audit.runs if run.status == "ran"] == [1, 2, 0]
    assert tacit.audit(release_of({frozenset("ab"): 9}, None, 5)).verdict == "exposed"


def test_who_lacks_an_item_that_nearly_everyone_has() -> None:
    counts = {frozenset("ab"): 97, frozenset("cd"): 60}
    audit = tacit.audit(release_of(counts, 100, 58), policy=Policy(k=5))
    told = [finding.statement for finding in audit.findings]
    assert told == [
        "3 people have no a.",
        "3 people have no b.",
        "3 people have c and d but not a.",
        "3 people have c and d but not b.",
    ]
    assert audit.findings[2].steps == (
        "The list is complete down to 58 people and no line holds a, c and d: at most 57 people have them all.",
        "Those with c and d without a: at least 60 (line 3) - 57 people.",
        "Those without a: at most 100 (n) - 97 (line 2) people.",
    )
