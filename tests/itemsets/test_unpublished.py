"""I02 against its slow twin, and every proof of I01 and I02 against all worlds in which the release could have been made."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import tacit
from tacit.checker import check_audit
from tacit.itemsets import few_items, inference_channels, unpublished_itemsets
from tacit.model.audit import AttackRun, Target
from tacit.model.errors import Contradiction
from tacit.model.finding import ItemEvent
from tacit.model.policy import Policy
from tacit.model.release import Header, Itemsets, Only
from tacit.model.table import Hierarchy
from tests.itemsets.made_releases import released_supports as released
from tests.itemsets.naive_channels import frequent
from tests.itemsets.naive_deduction import Groups, deduced_groups, worlds_by_release

Way = Callable[[pytest.MonkeyPatch], None]


def groups_of(found: AttackRun) -> Groups:
    assert found.event is not None
    groups: Groups = {}
    for index in range(found.findings):
        event = found.event(index)
        assert isinstance(event, ItemEvent)
        key = frozenset(event.present), frozenset(event.absent)
        assert key not in groups, "a group is listed twice"
        groups[key] = int(found.columns["count"][index]), int(found.columns["count_hi"][index])
    return groups


def small_database(seed: int) -> tuple[list[frozenset[str]], int, int]:
    """Rows, a threshold and k; most items are in most rows and the threshold is high, since deduction needs little room."""
    chance = random.Random(seed)
    letters = "abcdef"[: chance.choice([1, 2, 4, 5, 6, 6])]
    weight = {x: chance.choice([0.5, 0.7, 0.85, 0.95, 1.0]) for x in letters}
    rows = [frozenset(x for x in letters if chance.random() < weight[x]) for _ in range(chance.choice([1, 2, 12, 20, 40]))]
    return rows, max(1, len(rows) * chance.randint(5, 9) // 10), chance.randint(2, 8)


def only_level_by_level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(few_items, "MOST_DENSE", -1)


def only_over_few_items(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the other way, which is taken where numbers contradict."""
    monkeypatch.setattr(few_items, "SPARSE", 10**6)
    monkeypatch.setattr(unpublished_itemsets, "_enter_frequent", None)


WAYS = [only_level_by_level, only_over_few_items]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("only", ["all", "closed"])
@pytest.mark.parametrize("seed", range(120))
def test_findings_equal_the_twin(seed: int, only: Only, way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    way(monkeypatch)
    rows, sigma, k = small_database(seed)
    supports = frequent(rows, sigma)
    release = released(supports, len(rows), sigma, only, tuple("abcdef"))
    found = unpublished_itemsets.run(Target(release, Policy(k=k)))
    assert found.status == "ran"
    assert found.undecided == 0
    groups = groups_of(found)
    assert groups == deduced_groups(supports, len(rows), sigma, k)
    for (present, absent), (lo, hi) in groups.items():
        assert lo <= sum(present <= row and not absent & row for row in rows) <= hi
        assert present | absent not in supports
    assert found.show is not None
    for index in range(min(5, found.findings)):
        finding = found.show(index)
        assert finding.event == (found.event(index) if found.event else None)
        number = finding.statement.split(" pe")[0]
        assert finding.steps[-1].endswith(f"that is {number} {'person' if finding.count.hi == 1 else 'people'}.")


# The last three have deduced sets that lie in several largest known ones.
@pytest.mark.parametrize("seed", [*range(30), 454, 492, 551])
def test_both_ways_find_the_same(seed: int) -> None:
    """Columns and all, on more items and people than the twin could look at."""
    chance = random.Random(seed)
    items = [f"i{number:02}" for number in range(chance.randint(5, 9))]
    weight = {item: chance.choice([0.7, 0.9, 0.97, 1.0]) for item in items}
    rows = [[item for item in items if chance.random() < weight[item]] for _ in range(chance.choice([9, 60, 400]))]
    release = tacit.mine_itemsets(rows, min_support=max(1, len(rows) * chance.randint(4, 9) // 10), only="closed")
    target = Target(release, Policy(k=chance.randint(2, 30)))
    runs = []
    for way in WAYS:
        with pytest.MonkeyPatch.context() as patch:
            way(patch)
            runs.append(unpublished_itemsets.run(target))
    slow, fast = runs
    assert (slow.status, slow.undecided, slow.people) == (fast.status, fast.undecided, fast.people)
    assert {name: column.tolist() for name, column in slow.columns.items()} == {
        name: column.tolist() for name, column in fast.columns.items()
    }
    assert slow.details["wider"].tolist() == fast.details["wider"].tolist()
    assert slow.event is not None
    assert fast.event is not None
    for index in range(0, slow.findings, 7):
        assert slow.event(index) == fast.event(index)


def test_of_too_many_findings_the_worst_are_listed_and_all_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(4)
    rows = [[item for item in "abcdefgh" if chance.random() < 0.9] for _ in range(60)]
    target = Target(tacit.mine_itemsets(rows, min_support=40, only="closed"), Policy(k=12))
    whole = unpublished_itemsets.run(target)
    monkeypatch.setattr(few_items, "MOST_LISTED", 20)
    monkeypatch.setattr(few_items, "AT_ONCE", 5)
    some = unpublished_itemsets.run(target)
    assert (some.findings, some.sizes, some.people) == (whole.findings, whole.sizes, whole.people)
    assert some.decides
    assert "worst groups are listed" in some.reason
    listed = len(some.severity)
    assert 20 <= listed < whole.findings
    exact = whole.columns["count"] == whole.columns["count_hi"]
    worst = set(np.flatnonzero(exact)[:20].tolist()) | set(np.flatnonzero(~exact).tolist())
    for name, column in some.columns.items():
        assert column.tolist() == whole.columns[name][sorted(worst)].tolist()
    narrower = unpublished_itemsets.narrow(some, 5)
    assert narrower.sizes == {size: number for size, number in whole.sizes.items() if size < 5}


@pytest.mark.parametrize("extra", [61, 130])
@pytest.mark.parametrize("seed", [1, 5, 8, 13])
def test_itemsets_may_span_several_words(seed: int, extra: int) -> None:
    """Many more frequent items, each in rows of its own, so that the others reach into the second and third word."""
    rows, _, k = small_database(seed)
    sigma = 4
    others = [f"A{i:03}" for i in range(extra)]
    supports = frequent(rows, sigma) | {frozenset({other}): sigma for other in others}
    n = len(rows) + sigma * extra
    found = unpublished_itemsets.run(Target(released(supports, n, sigma, "all", (*others, *"abcdef")), Policy(k=k)))
    assert groups_of(found) == deduced_groups(supports, n, sigma, k)


def test_twin_finds_something_often_enough() -> None:
    """The test above would pass on silence; here is how often there is something to find."""
    hits = 0
    for seed in range(120):
        rows, sigma, k = small_database(seed)
        hits += bool(deduced_groups(frequent(rows, sigma), len(rows), sigma, k))
    assert hits >= 15


@pytest.mark.parametrize(("n", "sigma"), [(4, 2), (5, 2), (5, 3), (6, 4), (6, 5), (7, 6)])
def test_every_proof_holds_in_every_world(n: int, sigma: int) -> None:
    """Three items, n people: each finding must be true in each of the databases that publish the same list."""
    proofs = 0
    for supports, worlds in worlds_by_release("abc", n, sigma):
        target = Target(released(supports, n, sigma, "all", ("a", "b", "c")), Policy(k=3))
        for attack in (inference_channels, unpublished_itemsets):
            for (present, absent), (lo, hi) in groups_of(attack.run(target)).items():
                proofs += 1
                sizes = {sum(present <= row and not absent & row for row in rows) for rows in worlds}
                assert lo <= min(sizes)
                assert max(sizes) <= hi
    assert proofs > 20


def test_a_list_that_cannot_be_complete_is_refused() -> None:
    supports = {frozenset("a"): 10, frozenset("b"): 10}
    with pytest.raises(Contradiction, match="cannot be complete"):
        unpublished_itemsets.run(Target(released(supports, 10, 5, "all", ("a", "b")), Policy()))


def test_incomplete_lists_are_not_relevant() -> None:
    release = released({frozenset("a"): 9}, 10, 5, "all", ("a", "b"))
    for header in (Header(n=10, min_support=5, complete=False), Header(n=10, min_support=None, complete=True)):
        changed = Itemsets(release.sets, release.lo, release.hi, release.items, header)
        run = tacit.audit(changed).attack("I02")
        assert run.status == "not-relevant"
        assert run.reason


@pytest.mark.parametrize("only", ["all", "closed"])
@pytest.mark.parametrize("seed", range(60))
def test_without_n_the_rest_is_found_and_checked(seed: int, only: Only) -> None:
    """What follows without n is found by taking any n that is large enough: then sums with n say nothing."""
    rows, sigma, k = small_database(seed)
    supports = frequent(rows, sigma)
    release = released(supports, len(rows), sigma, only, tuple("abcdef"))
    unknown = replace(release, header=replace(release.header, n=None))
    found = unpublished_itemsets.run(Target(unknown, Policy(k=k)))
    assert (found.status, found.decides) == ("ran", False)
    assert "number of people is not known" in found.reason
    groups = groups_of(found)
    assert groups == {key: count for key, count in deduced_groups(supports, 10**6, sigma, k).items() if key[0]}
    for (present, absent), (lo, hi) in groups.items():
        assert lo <= sum(present <= row and not absent & row for row in rows) <= hi
    record = tacit.audit(unknown, policy=Policy(k=k)).to_dict(top=50)
    assert check_audit(record, [unknown]).problems == ()
    assert record["adversary"]["knows_n"] is False


def test_without_n_something_is_found_often_enough() -> None:
    """Nothing would be found if every sum needed n."""
    hits = 0
    for seed in range(120):
        rows, sigma, k = small_database(seed)
        hits += any(key[0] for key in deduced_groups(frequent(rows, sigma), 10**6, sigma, k))
    assert hits >= 5


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("only", ["all", "closed"])
def test_coarser_values_as_items_lead_to_no_false_proof(seed: int, only: Only) -> None:
    """A value and what it belongs to are never listed together; that they are missing must not be read as rare."""
    chance = random.Random(seed)
    ages = [chance.choice(["30", "31", "32", "50"]) for _ in range(60)]
    people = tacit.read_table(
        {"age": ages, "ill": [chance.choice("yyyyn") for _ in ages], "sex": [chance.choice("FFFM") for _ in ages]}
    )
    tree = Hierarchy("age", {"30": ("thirties",), "31": ("thirties",), "32": ("thirties",), "50": ("fifties",)})
    release = tacit.mine_itemsets(people, min_support=chance.randint(10, 40), only=only, hierarchies={"age": tree})
    found = tacit.audit(release, policy=tacit.Policy(k=12), attacks=["I02"])
    rows = [
        {f"age={age}", f"age={tree.levels[age][0]}", *(f"{c.name}={c.values[c.codes[i]]}" for c in people.columns[1:])}
        for i, age in enumerate(ages)
    ]
    for finding in found.findings:
        assert isinstance(finding.event, ItemEvent)
        size = sum(row.issuperset(finding.event.present) and row.isdisjoint(finding.event.absent) for row in rows)
        assert finding.count.lo <= size <= finding.count.hi
    record = found.to_dict(top=50)
    assert check_audit(record, [release]).problems == ()
