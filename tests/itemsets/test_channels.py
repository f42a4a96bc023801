"""I01 against brute force: every maximal channel, nothing else, with and without the data, and arithmetic that adds up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tacit.itemsets.inference_channels import run
from tacit.model.audit import AttackRun, Target
from tacit.model.finding import Finding, ItemEvent
from tacit.model.policy import Policy
from tacit.model.release import Header, Items, Itemsets, Only, Sets
from tacit.model.table import Transactions
from tests.examples import examples
from tests.itemsets import naive_channels as naive

ITEMS = "abcdef"
Rows = list[naive.Row]
often = settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)


@st.composite
def databases(draw: st.DrawFn) -> Rows:
    """Small databases; dense, sparse, with items in every row, with duplicate rows, with empty rows."""
    items = ITEMS[: draw(st.integers(1, len(ITEMS)))]
    row = st.sets(st.sampled_from(items)).map(frozenset)
    dense = st.sets(st.sampled_from(items), max_size=2).map(lambda lacking: frozenset(items) - lacking)
    rows: Rows = draw(st.lists(st.one_of(row, dense), min_size=1, max_size=12))
    rows = rows * draw(st.sampled_from((1, 1, 2)))
    everywhere = frozenset(draw(st.sets(st.sampled_from(items), max_size=1)))
    return [frozenset(row | everywhere) for row in rows]


def itemsets(
    supports: Mapping[frozenset[str], tuple[int, int]], *, n: int | None, only: Only = "all", complete: bool = True
) -> Itemsets:
    """A release of these itemsets, shuffled, so that nothing rests on the order of the lines."""
    names = tuple(sorted(set().union(*supports)))
    number = {name: i for i, name in enumerate(names)}
    listed = sorted(supports.items(), key=lambda entry: (sum(map(ord, "".join(entry[0]))) * 31 % 97, sorted(entry[0])))
    bounds = np.array([count for _, count in listed], np.int64).reshape(-1, 2)
    sets = Sets.from_lists([number[item] for item in items] for items, _ in listed)
    return Itemsets(sets, bounds[:, 0], bounds[:, 1], Items(names), Header(n=n, complete=complete), only)


def exactly(supports: naive.Supports) -> dict[frozenset[str], tuple[int, int]]:
    """Supports as intervals of one number."""
    return {items: (count, count) for items, count in supports.items()}


def attack(release: Itemsets, k: int, rows: Sequence[naive.Row] | None = None) -> AttackRun:
    """I01 on a release, with the owner's data when it is given."""
    data = None if rows is None else Transactions.from_lists(rows)
    return run(Target(release, Policy(k=k), data=data))


def shown(found: AttackRun) -> list[Finding]:
    """All findings, written out."""
    assert found.show is not None
    return [found.show(i) for i in range(found.findings)]


def event_of(finding: Finding) -> tuple[frozenset[str], frozenset[str]]:
    """The present and the absent items of a finding."""
    assert isinstance(finding.event, ItemEvent)
    return frozenset(finding.event.present), frozenset(finding.event.absent)


def channels(found: AttackRun) -> set[naive.Channel]:
    """The findings as triples; each is there once, its count is exact and equal to the column's."""
    listed = [(*event_of(f), f.count.lo) for f in shown(found)]
    assert len(set(listed)) == len(listed)
    assert [f.count.hi for f in shown(found)] == [count for _, _, count in listed] == found.columns["count"].tolist()
    return set(listed)


@often
@given(databases(), st.integers(1, 5), st.integers(1, 8), st.sampled_from(("all", "closed")), st.booleans())
@example([frozenset("ab")] * 3, 1, 8, "closed", True)
@example([frozenset()] * 3, 2, 5, "all", False)
@example([frozenset("a"), frozenset()], 1, 2, "all", True)
def test_findings_are_the_maximal_channels(rows: Rows, sigma: int, k: int, only: Only, with_data: bool) -> None:
    frequent = naive.frequent(rows, sigma)
    chosen = naive.closed(frequent) if only == "closed" else frequent
    found = attack(itemsets(exactly(chosen), n=len(rows), only=only), k, rows if with_data else None)
    assert (found.status, found.undecided) == ("ran", 0)
    assert channels(found) == naive.maximal_channels(rows, sigma, k)


@often
@given(databases(), st.integers(1, 6), st.integers(2, 8), st.sampled_from(("all", "closed")))
def test_findings_are_true_and_add_up(rows: Rows, sigma: int, k: int, only: Only) -> None:
    frequent = naive.frequent(rows, sigma)
    chosen = naive.closed(frequent) if only == "closed" else frequent
    release = itemsets(exactly(chosen), n=len(rows), only=only)
    lines = {release.line(i): (set(release.names(i)), release.count(i)) for i in range(len(release))}
    found = attack(release, k, rows)
    by_set: dict[int, int] = {}
    for finding, itemset in zip(shown(found), found.columns["itemset"].tolist(), strict=True):
        assert isinstance(finding.event, ItemEvent)
        assert sum(finding.event.holds(row) for row in rows) == finding.count.lo
        assert sum((cited.weight or 0) * cited.count.lo for cited in finding.because) == finding.count.lo
        for cited in finding.because:
            published = len(rows) if cited.place == "n" else lines[int(cited.place)][1].lo
            assert cited.count.lo == cited.count.hi == published
            if cited.place != "n":
                # A sum over I..J cites itemsets between them; in a closed list their closures, which may go further.
                assert set(finding.event.present) <= lines[int(cited.place)][0]
        if finding.same_people is not None:
            assert isinstance(finding.same_people, ItemEvent)
            assert [finding.same_people.holds(row) for row in rows] == [finding.event.holds(row) for row in rows]
            assert set(finding.same_people.present) <= set(finding.event.present)
            assert set(finding.same_people.absent) <= set(finding.event.absent)
        by_set[itemset] = by_set.get(itemset, 0) + finding.count.lo
    # Groups on one set do not overlap: together they are people of the data, and the largest sum is what the attack reports.
    assert found.people == max(by_set.values(), default=0) <= len(rows)


@often
@given(databases(), st.integers(1, 6), st.integers(2, 8))
def test_without_n_only_the_empty_part_is_left_open(rows: Rows, sigma: int, k: int) -> None:
    frequent = naive.frequent(rows, sigma)
    found = attack(itemsets(exactly(frequent), n=None), k)
    expected = {entry for entry in naive.maximal_channels(rows, sigma, k) if entry[0]}
    assert channels(found) == (expected if frequent else set())
    assert found.undecided > 0 or not frequent
    assert not found.decides


@often
@given(databases(), st.integers(1, 6), st.integers(2, 8), st.randoms(use_true_random=False))
def test_a_list_with_gaps_says_what_its_lines_say(rows: Rows, sigma: int, k: int, chance: np.random.Generator) -> None:
    kept = {items: count for items, count in naive.frequent(rows, sigma).items() if chance.random() < 0.8}
    found = attack(itemsets(exactly(kept), n=len(rows), complete=False), k)
    expected = naive.proved_channels(exactly(kept | {frozenset(): len(rows)}), k)
    assert channels(found) == {(i, d, lo) for (i, d), (lo, _) in expected.items()}


@often
@given(databases(), st.integers(1, 6), st.integers(3, 12), st.sampled_from(("all", "closed")), st.data())
def test_rounded_counts_prove_what_their_intervals_prove(rows: Rows, sigma: int, k: int, only: Only, data: st.DataObject) -> None:
    frequent = naive.frequent(rows, sigma)
    slack = st.tuples(st.sampled_from((0, 0, 0, 1)), st.sampled_from((0, 0, 0, 1)))
    rounded = {}
    for items, count in (naive.closed(frequent) if only == "closed" else frequent).items():
        below, above = data.draw(slack)
        rounded[items] = (max(0, count - below), min(len(rows), count + above))
    release = itemsets(rounded, n=len(rows), only=only)
    found = attack(release, k)
    known = {frozenset[str](): (len(rows), len(rows))}
    for items in frequent:
        # The support of a set is that of its closure, the most frequent published set around it; without closures, its own.
        around = [
            i
            for i in range(len(release))
            if items == set(release.names(i)) or (only == "closed" and items < set(release.names(i)))
        ]
        best = release.count(max(around, key=lambda i: (release.count(i).hi, -i)))
        known[items] = (best.lo, best.hi)
    assert {event_of(f): (f.count.lo, f.count.hi) for f in shown(found)} == naive.proved_channels(known, k)
    for finding in shown(found):
        assert isinstance(finding.event, ItemEvent)
        assert finding.count.lo <= sum(finding.event.holds(row) for row in rows) <= finding.count.hi


def test_a_set_of_more_than_64_items_is_searched_with_the_data() -> None:
    wide = [f"i{j:03}" for j in range(70)]
    rows = [frozenset(wide)] * 20 + [frozenset(wide[:69])] * 2 + [frozenset(wide[1:])] + [frozenset[str]()] * 3
    closed = {frozenset(wide): 20, frozenset(wide[1:]): 21, frozenset(wide[:69]): 22, frozenset(wide[1:69]): 23}
    release = itemsets(exactly(closed), n=len(rows), only="closed")
    found = attack(release, 5, rows)
    assert {(70 - len(p), len(a), n) for p, a, n in channels(found)} == {(1, 1, 2), (1, 1, 1), (70, 70, 3)}
    for finding in shown(found):
        if len(finding.event.to_dict()["absent"]) < 2:
            assert sum((cited.weight or 0) * cited.count.lo for cited in finding.because) == finding.count.lo
    assert attack(release, 5).undecided == 1


@often
@given(databases(), st.integers(1, 6), st.integers(2, 8))
def test_maximal_itemsets_alone_say_what_their_lines_say(rows: Rows, sigma: int, k: int) -> None:
    published = exactly(naive.maximal(naive.frequent(rows, sigma)))
    found = attack(itemsets(published, n=len(rows), only="maximal"), k)
    expected = naive.proved_channels(published | {frozenset(): (len(rows), len(rows))}, k)
    # That a small database is small is said only where nothing else is.
    assert channels(found) == {(i, d, lo) for (i, d), (lo, _) in expected.items() if i or d or not published}
