"""Lists with a line taken out: refused only when no database gives them, and true of the data once they are said to be incomplete."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np
import pytest

import tacit
from tacit.files import consistency
from tacit.files.consistency import check_listing
from tacit.model.audit import Audit
from tacit.model.errors import Contradiction
from tacit.model.finding import ItemEvent
from tacit.model.policy import Policy
from tacit.model.release import Header, Items, Itemsets, Only, Sets
from tests.itemsets.naive_channels import Counts, Row, closed, frequent, maximal, renamings, subsets

CHOSEN: dict[str, Callable[[dict[frozenset[str], int]], dict[frozenset[str], int]]] = {
    "all": lambda supports: supports,
    "closed": closed,
    "maximal": maximal,
}


def worlds_by_list(n: int, sigma: int, only: Only) -> dict[Counts, list[tuple[Row, ...]]]:
    """Every list that n people with the items a, b and c can give, with the databases that give it."""
    together = defaultdict(list)
    for rows in combinations_with_replacement(list(subsets("abc")), n):
        together[frozenset(CHOSEN[only](frequent(rows, sigma)).items())].append(rows)
    return together


def as_read(counts: Counts, n: int, sigma: int, only: Only, *, complete: bool = True) -> Itemsets:
    """The list as if it had been read from a file, so that its claims are not taken on trust."""
    names = tuple("abc")
    chosen = sorted(counts, key=lambda entry: sorted(entry[0]))
    sets = Sets.from_lists([names.index(item) for item in items] for items, _ in chosen)
    count = np.array([count for _, count in chosen], np.int64)
    header = Header(n=n, min_support=sigma, complete=complete)
    return Itemsets(sets, count, count, Items(names), header, only, lines=np.arange(len(chosen)) + 2)


def audited(release: Itemsets) -> Audit | None:
    """The audit, or None when the release is refused."""
    try:
        return tacit.audit(release, policy=Policy(k=3))
    except Contradiction as refused:
        return None if refused.lines else pytest.fail("the refusal names no line")


def assert_true(audit: Audit, worlds: list[tuple[Row, ...]]) -> int:
    """Every finding holds in every world; returns how many there are."""
    for finding in audit.findings:
        event = finding.event
        assert isinstance(event, ItemEvent)
        assert all(finding.count.lo <= sum(event.holds(row) for row in rows) <= finding.count.hi for rows in worlds)
    return len(audit.findings)


@pytest.mark.parametrize(("n", "sigma"), [(3, 1), (4, 2), (5, 4)])
@pytest.mark.parametrize("only", ["all", "closed", "maximal"])
def test_a_list_with_a_line_taken_out(only: Only, n: int, sigma: int) -> None:
    possible = worlds_by_list(n, sigma, only)
    refused = missed = findings = 0
    seen: set[Counts] = set()
    for counts, worlds in possible.items():
        if counts in seen:
            continue
        seen |= renamings(counts, "abc")
        audit = audited(as_read(counts, n, sigma, only))
        assert audit is not None, "a true list is refused"
        assert_true(audit, worlds)
        for gone in counts:
            left = counts - {gone}
            audit = audited(as_read(left, n, sigma, only))
            if audit is None:
                refused += 1
                assert left not in possible, "a list that some database gives is refused"
            elif left in possible:
                findings += assert_true(audit, possible[left])
            else:
                missed += 1
            told = audited(as_read(left, n, sigma, only, complete=False))
            assert told is not None
            findings += assert_true(told, worlds)
    assert findings > 0
    assert missed == 0, "a list that no database gives passes"
    assert refused > 0 or only == "maximal"


def release_of(*lines: tuple[str, int], only: Only = "closed", n: int | None = 100, **header: object) -> Itemsets:
    names = tuple("abcdef")
    sets = Sets.from_lists([names.index(item) for item in items] for items, _ in lines)
    count = np.array([count for _, count in lines], np.int64)
    about = Header(n=n, min_support=10, complete=True)
    return Itemsets(sets, count, count, Items(names), replace(about, **header), only, lines=np.arange(len(lines)) + 2)  # type: ignore[arg-type]


class TestRefusals:
    def message(self, release: Itemsets) -> tuple[str, tuple[int, ...]]:
        with pytest.raises(Contradiction) as caught:
            check_listing(release)
        return str(caught.value), caught.value.lines

    def test_a_closed_set_with_as_many_people_as_one_around_it(self) -> None:
        told, lines = self.message(release_of(("a", 50), ("c", 60), ("ab", 50)))
        assert lines == (2, 4)
        assert told.startswith(
            "release, lines 2 and 4: the itemset of line 2 is not closed: that of line 4 holds it and has at least as many people."
        )

    def test_what_two_closed_sets_share(self) -> None:
        told, lines = self.message(release_of(("b", 80), ("abc", 50), ("abd", 40)))
        assert lines == (3, 4)
        assert "the list cannot be complete: what two closed itemsets share is closed" in told
        assert "(--incomplete)" in told
        check_listing(release_of(("b", 80), ("abc", 50), ("abd", 40), complete=False))
        check_listing(release_of(("b", 80), ("abc", 50), ("abd", 40), coarser=True))
        check_listing(release_of(("b", 80), ("ab", 60), ("abc", 50), ("abd", 40)))

    def test_only_the_most_frequent_sets_of_a_long_list_are_compared(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(consistency, "MOST_PAIRS", 4)
        check_listing(release_of(("e", 90), ("b", 80), ("abc", 50), ("abd", 40)))
        self.message(release_of(("e", 20), ("f", 10), ("abc", 50), ("abd", 40)))

    def test_a_maximal_set_inside_another(self) -> None:
        told, lines = self.message(release_of(("a", 50), ("c", 60), ("ab", 40), only="maximal"))
        assert lines == (2, 4)
        assert told.startswith("release, lines 2 and 4: the itemset of line 2 is not maximal: that of line 4 holds it.")

    def test_two_maximal_sets_that_many_people_share(self) -> None:
        told, lines = self.message(release_of(("a", 60), ("e", 12), ("bc", 50), only="maximal"))
        assert lines == (2, 4)
        assert "at least 10 of all 100 people have both" in told
        check_listing(release_of(("a", 60), ("e", 12), ("bc", 49), only="maximal"))
        check_listing(release_of(("a", 60), ("e", 12), ("bc", 50), only="maximal", n=None))

    def test_mined_lists_are_what_they_say(self) -> None:
        check_listing(replace(release_of(("a", 50), ("ab", 50)), lines=None))
        check_listing(release_of(only="closed"))
        check_listing(release_of(("a", 50), ("ab", 50), only="all"))

    def test_a_complete_list_without_a_part_of_its_itemsets(self) -> None:
        gap = release_of(("a", 50), ("ab", 40), ("c", 30), ("bc", 20), only="all")
        for attack in ("I01", "I02"):
            with pytest.raises(
                Contradiction, match="the list cannot be complete: parts of these itemsets are on no line"
            ) as caught:
                tacit.audit(gap, attacks=[attack])
            assert caught.value.lines == (3, 5)
        incomplete = replace(gap, header=replace(gap.header, complete=False))
        assert tacit.audit(incomplete).attack("I01").findings == 0
