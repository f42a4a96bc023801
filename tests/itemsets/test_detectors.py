"""The papers' detectors against brute force and against the default: the same channels wherever all can run, and refusals where one cannot."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import tacit
from tacit.cli.audit import audit_command
from tacit.itemsets import detectors
from tacit.itemsets.detectors import DETECTORS, Family, ScanCost, count_scanned, every_channel
from tacit.itemsets.inference_channels import run
from tacit.itemsets.supports import Supports
from tacit.model.audit import ALGORITHMS, Algorithm, AttackRun, Target
from tacit.model.errors import Contradiction, InputError, OptionError
from tacit.model.finding import ItemEvent
from tacit.model.policy import Limits, Policy
from tacit.model.release import Itemsets, Only
from tacit.model.table import Transactions
from tests.examples import examples
from tests.itemsets import naive_channels as naive
from tests.itemsets.made_releases import released, released_supports

ITEMS = "abcdef"
REFERENCES: tuple[Algorithm, ...] = ALGORITHMS[1:]
PMICD = naive.rows_of("a b c d/b c e f/a b c/c d e f/b e f/a c d/b c d f/a b c d e f/b c d e f/a b c d e")
ATZORI = naive.rows_of(
    "a b c d e f g h/a b c d e g/a b c d e/a b c d e f g/a b c d e/a b c d e/a b d e/a e f g/c d e f g/c d e/c d e f g h/a b f g"
)
Rows = list[naive.Row]
often = settings(max_examples=examples(120), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def databases(draw: st.DrawFn) -> Rows:
    """Small databases; dense and sparse rows, empty rows, repeated rows, items in every row."""
    items = ITEMS[: draw(st.integers(1, len(ITEMS)))]
    row = st.sets(st.sampled_from(items)).map(frozenset)
    dense = st.sets(st.sampled_from(items), max_size=2).map(lambda lacking: frozenset(items) - lacking)
    rows: Rows = draw(st.lists(st.one_of(row, dense), min_size=1, max_size=12))
    everywhere = frozenset(draw(st.sets(st.sampled_from(items), max_size=2)))
    return [frozenset(row | everywhere) for row in rows] * draw(st.sampled_from((1, 1, 2)))


def attack(release: Itemsets, k: int, rows: Rows | None, algorithm: Algorithm) -> AttackRun:
    """I01 on a release by one algorithm."""
    data = None if rows is None else Transactions.from_lists(rows).merged()
    return run(Target(release, Policy(k=k), data=data, algorithm=algorithm))


def channels(found: AttackRun) -> list[naive.Channel]:
    """The findings as triples, in their order."""
    listed = []
    for index in range(found.findings):
        assert found.event is not None
        event = found.event(index)
        assert isinstance(event, ItemEvent)
        listed.append((frozenset(event.present), frozenset(event.absent), int(found.columns["count"][index])))
    return listed


@often
@given(databases(), st.integers(1, 6), st.integers(1, 9), st.sampled_from(("all", "closed")))
@example([frozenset("ab")] * 3, 1, 8, "closed")  # fewer people than k, fewer than k asked for
@example([frozenset()] * 3, 2, 5, "all")  # nobody has anything
@example([frozenset("a"), frozenset()], 1, 2, "all")
@example([frozenset("abc")] * 4 + [frozenset("ab")], 3, 2, "closed")  # two items in every row
def test_all_algorithms_find_the_maximal_channels(rows: Rows, sigma: int, k: int, only: Only) -> None:
    release = released(rows, sigma, only)
    default = channels(attack(release, k, rows, "projection"))
    assert set(default) == naive.maximal_channels(rows, sigma, k)
    for algorithm in REFERENCES:
        found = attack(release, k, rows, algorithm)
        assert (found.status, found.undecided) == ("ran", 0)
        assert channels(found) == default, algorithm
        without = attack(release, k, None, algorithm) if algorithm != "pmicd" else found
        assert channels(without) == default, algorithm


@often
@given(databases(), st.integers(1, 6), st.integers(1, 9), st.sampled_from(("all", "closed")))
def test_naive_counts_every_channel(rows: Rows, sigma: int, k: int, only: Only) -> None:
    found = attack(released(rows, sigma, only), k, None, "naive")
    assert found.measures == {"all_channels": len(naive.all_channels(rows, sigma, k))}


@often
@given(databases(), st.integers(1, 6), st.sampled_from(("all", "closed")))
def test_the_family_is_what_the_papers_call_so(rows: Rows, sigma: int, only: Only) -> None:
    release = released(rows, sigma, only)
    made = Family(Target(release, Policy()), Supports(release))
    names = release.items.names

    def named(mask: int) -> frozenset[str]:
        return frozenset(name for item, name in enumerate(names) if mask >> item & 1)

    frequent = {frozenset[str](): len(rows)} | naive.frequent(rows, sigma)
    assert {named(mask): support for mask, support in made.frequent.items()} == frequent
    assert sorted(map(sorted, map(named, made.closed))) == sorted(map(sorted, naive.closed(frequent)))
    assert {frozenset(names[i] for i in items) for _, items in made.maximal} == set(naive.maximal(frequent))


def scan_naively(rows: Rows, sigma: int, k: int) -> tuple[set[naive.Channel], int, int, int]:
    """OICD with scans as the PMICD paper has it, step by step: channels, looks for pairs, supports added, looks for supports."""
    frequent = {frozenset[str](): len(rows)} | naive.frequent(rows, sigma)
    in_order = sorted(naive.closed(frequent).items(), key=lambda one: -one[1])
    found = set()
    pairs = 0
    added = 0
    looks = 0
    for whole in naive.maximal(frequent):
        for part, _ in in_order:
            pairs += 1
            if not part <= whole:
                continue
            size = 0
            for more in naive.subsets(whole - part):
                added += 1
                for closed, support in in_order:
                    looks += 1
                    if part | more <= closed:
                        size += (-1) ** len(more) * support
                        break
            if 0 < size < k:
                found.add((part, whole - part, size))
    return found, pairs, added, looks


@often
@given(databases(), st.integers(1, 6), st.integers(1, 9), st.sampled_from(("all", "closed")))
@example(PMICD, 4, 3, "closed")
def test_the_cost_of_scans_is_that_of_a_run(rows: Rows, sigma: int, k: int, only: Only) -> None:
    release = released(rows, sigma, only)
    found, pairs, added, _ = scan_naively(rows, sigma, k)
    assert found == naive.maximal_channels(rows, sigma, k)
    family = Family(Target(release, Policy()), Supports(release))
    cost = count_scanned(family)
    n_closed = len(naive.closed({frozenset[str](): len(rows)} | naive.frequent(rows, sigma)))
    assert (cost.pairs, cost.supports, cost.every) == (pairs, added, added * n_closed)
    assert cost.supports == next(row for row in DETECTORS if row.name == "oicd").work(family)
    assert cost.supports <= cost.first <= cost.every


@often
@given(databases(), st.integers(1, 6))
def test_a_scan_that_stops_at_the_first_superset_is_counted_exactly(rows: Rows, sigma: int) -> None:
    """Equally frequent closed sets may come in any order, so the twin takes that of the family."""
    release = released(rows, sigma, "closed")
    family = Family(Target(release, Policy()), Supports(release))
    in_order = sorted(family.closed, key=lambda part: -family.frequent[part])
    looks = 0
    for _, items in family.maximal:
        whole = sum(1 << item for item in items)
        for part in (one for one in in_order if one & ~whole == 0):
            for subset in range(whole + 1):
                if subset & ~whole == 0 and part & ~subset == 0:
                    looks += 1 + next(place for place, closed in enumerate(in_order) if subset & ~closed == 0)
    assert count_scanned(family).first == looks


@pytest.mark.parametrize(
    ("rows", "sigma", "expected"),
    [(PMICD, 4, ScanCost(198, 209, 2179, 209 * 22)), (ATZORI, 6, ScanCost(36, 111, 995, 111 * 12))],
    ids=["pmicd", "atzori"],
)
def test_the_cost_of_scans_on_the_worked_examples(rows: Rows, sigma: int, expected: ScanCost) -> None:
    release = released(rows, sigma, "closed")
    assert count_scanned(Family(Target(release, Policy()), Supports(release))) == expected
    assert scan_naively(rows, sigma, 3)[1:] == (expected.pairs, expected.supports, expected.first)


@settings(max_examples=examples(25), deadline=None)
@given(st.lists(st.sets(st.integers(0, 69), max_size=3), min_size=1, max_size=14), st.integers(2, 5))
def test_pmicd_and_projection_agree_beyond_64_items(lacking: list[set[int]], k: int) -> None:
    wide = [f"i{number:02}" for number in range(70)]
    rows = [frozenset(wide)] * 6 + [frozenset(name for i, name in enumerate(wide) if i not in lost) for lost in lacking]
    rows.append(frozenset())
    release = tacit.mine_itemsets(Transactions.from_lists(rows), min_support=6, only="closed")
    assert int(release.sets.lengths.max()) == 70
    groups = Counter(rows)
    expected = {(row, frozenset(wide) - row, size) for row, size in groups.items() if size < k}
    assert (frozenset(), frozenset(wide), 1) in expected
    for algorithm in ("pmicd", "projection"):
        assert set(channels(attack(release, k, rows, algorithm))) == expected


@pytest.mark.parametrize(
    ("rows", "sigma", "every", "maximal", "as_printed"), [(PMICD, 4, 53, 29, 21), (ATZORI, 6, 58, 5, 3)], ids=["pmicd", "atzori"]
)
def test_the_worked_examples(rows: Rows, sigma: int, every: int, maximal: int, as_printed: int) -> None:
    for only in ("all", "closed"):
        release = released(rows, sigma, only)
        found = {name: attack(release, 3, rows, name) for name in ALGORITHMS}
        assert {run.findings for run in found.values()} == {maximal}
        assert found["naive"].measures == {"all_channels": every}
        assert f"{every} channels in all" in found["naive"].reason
        assert found["pmicd"].measures == {"channels_as_printed": as_printed}
        assert f"it finds {as_printed} of {maximal}" in found["pmicd"].reason


def test_the_measures_of_a_detector_stand_in_the_audit() -> None:
    release = released(PMICD, 4, "all")
    assert tacit.audit(release, policy=Policy(k=3), algorithm="naive").measures["all_channels"] == 53
    assert "all_channels" not in tacit.audit(release, policy=Policy(k=3)).measures


def test_the_names_are_those_of_the_table_and_of_the_command() -> None:
    assert ("projection", *(row.name for row in DETECTORS)) == ALGORITHMS
    option = next(parameter for parameter in audit_command.params if parameter.name == "algorithm")
    assert tuple(option.type.choices) == ALGORITHMS  # type: ignore[attr-defined]


@pytest.mark.parametrize("algorithm", REFERENCES)
def test_what_a_reference_cannot_do_is_refused(algorithm: Algorithm) -> None:
    release, rows = released(PMICD, 4, "all"), PMICD
    gaps = replace(release, sets=release.sets.take(range(3, len(release))), lo=release.lo[3:], hi=release.hi[3:])
    for unfit, what in (
        (tacit.mine_itemsets(Transactions.from_lists(rows), min_support=4, only="maximal"), "maximal itemsets"),
        (replace(release, hi=release.hi + 1), "exact counts"),
        (replace(release, header=replace(release.header, n=None)), "number of people"),
        (replace(gaps, header=replace(release.header, complete=False)), "has gaps"),
    ):
        with pytest.raises(OptionError, match=f"^--algorithm: {algorithm} needs .*{what}"):
            attack(unfit, 3, rows, algorithm)


def test_pmicd_needs_the_data() -> None:
    with pytest.raises(OptionError, match=r"^--algorithm: pmicd needs the data, which are not given\. Give them"):
        attack(released(PMICD, 4, "all"), 3, None, "pmicd")


@pytest.mark.parametrize("algorithm", REFERENCES)
def test_data_of_somebody_else_are_refused(algorithm: Algorithm) -> None:
    with pytest.raises(InputError, match="Give the data that the release was made from"):
        attack(released(PMICD, 4, "all"), 3, PMICD[1:] + PMICD[:1] * 2, algorithm)


def test_an_algorithm_that_would_not_be_used_is_refused() -> None:
    release = released(PMICD, 4, "all")
    for wrong in ({"attacks": ["I02"]}, {"algorithm": "oicde"}):
        with pytest.raises(OptionError, match=r"^--algorithm: "):
            tacit.audit(release, **({"algorithm": "naive"} | wrong))


@pytest.mark.parametrize("algorithm", ["naive", "oicd"])
def test_counts_that_cannot_all_be_true_are_refused(algorithm: Algorithm) -> None:
    supports = {frozenset("a"): 6, frozenset("b"): 6, frozenset("ab"): 1}
    with pytest.raises(Contradiction, match="cannot all be true"):
        attack(released_supports(supports, 10, 1, "all", ("a", "b")), 3, None, algorithm)


@pytest.mark.parametrize("algorithm", REFERENCES)
def test_the_time_limit_is_noticed_and_what_was_found_is_kept(algorithm: Algorithm, monkeypatch: pytest.MonkeyPatch) -> None:
    shares: list[float] = []
    target = Target(released(PMICD, 4, "all"), Policy(k=3), data=Transactions.from_lists(PMICD), algorithm=algorithm)

    def progress(share: float) -> None:
        shares.append(share)
        if share > 0.5:
            monkeypatch.setattr(time, "monotonic", lambda: float("inf"))

    whole = run(replace(target, progress=shares.append))
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    stopped = run(replace(target, limits=Limits.within(1e9), progress=progress))
    assert (stopped.status, stopped.decides) == ("stopped", False)
    assert stopped.findings < whole.findings
    assert set(channels(stopped)) < set(channels(whole))


def test_more_frequent_itemsets_than_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detectors, "MOST_FREQUENT", 20)
    for only in ("all", "closed"):
        with pytest.raises(OptionError, match="more than 20"):
            attack(released(PMICD, 4, only), 3, None, "oicd")


def test_naive_lists_channels_by_their_set() -> None:
    release = released(ATZORI, 6, "closed")
    listed = list(every_channel(Family(Target(release, Policy(k=3)), Supports(release))))
    assert len(listed) == len(naive.frequent(ATZORI, 6)) + 1
    assert sum(len(found) for _, _, found in listed) == 58
    assert all(np.uint64(part).bit_count() <= size and 0 < count < 3 for _, size, found in listed for part, count in found)
