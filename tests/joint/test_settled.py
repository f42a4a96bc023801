"""What people who fit one release settle for another: nothing but what is true of both, and nothing where it says more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import Any

import numpy as np

import tacit
from tacit.joint.boxes import item_event
from tacit.joint.cube import make_cubes, tighten_cubes
from tacit.joint.lower import lower
from tacit.joint.settled import Settled
from tacit.model.audit import AttackRun
from tacit.model.release import Itemsets, Rules
from tacit.model.rounding import Precision, rounded
from tacit.repairs.lists import some_lines
from tacit.repairs.raise_threshold import above
from tacit.verbs.attacks import building_on
from tacit.verbs.rounding import can_be_rounded, rounded_cells
from tests.examples import examples
from tests.joint import naive_joint as naive
from tests.joint.test_joint_properties import itemsets_of

K = 3
ITEMS = "abc"


def draw_table(random: Random) -> Any:
    """Draw a table of few columns, of which some values are rare."""
    columns = {name: "xyz"[: random.choice([2, 2, 3])] for name in "abcd"[: random.choice([2, 3, 3, 4])]}
    people = random.randint(8, 40)
    return tacit.read_table(
        {
            name: [random.choices(values, weights=[4, 2, 1][: len(values)])[0] for _ in range(people)]
            for name, values in columns.items()
        }
    )


def draw_release(random: Random, table: Any) -> Any:
    """Draw a list of itemsets or rules, or a frequency table."""
    kind = random.choice(["itemsets", "closed", "rules", "table", "transactions"])
    names = [column.name for column in table.columns]
    if kind == "rules":
        least = random.choice([1, 2, 3])
        return tacit.mine_rules(table, qi=names[:-1], sa=names[-1], min_support=least, min_confidence=random.choice([0, 0.4]))
    if kind == "table":
        return tacit.tabulate(table, by=[names[:2], names[1:]], total=True)
    if kind == "transactions":
        people = [[item for item in "pqrs" if random.random() < 0.6] for _ in range(random.randint(8, 30))]
        return tacit.mine_itemsets(tacit.read_transactions(people), min_support=random.choice([1, 3, 4]))
    return tacit.mine_itemsets(table, min_support=random.choice([1, 2, 4]), only="all" if kind == "itemsets" else "closed")


def draw_others(random: Random, release: Any) -> Iterator[Any]:
    """Draw releases that say less, and some that say more or something else."""
    size = len(release)
    if not size:
        return
    kept = np.flatnonzero(np.array([random.random() < 0.8 for _ in range(size)]))
    moved = replace(release, lo=release.lo + (np.arange(size) == random.randrange(size)))
    moved = replace(moved, hi=np.maximum(moved.lo, moved.hi))
    if isinstance(release, Itemsets):
        yield rounded(release, Precision(base=random.choice([2, 3, 5])))
        yield above(release, int(release.lo.min()) + random.randint(0, 4))
        yield some_lines(release, kept)
        yield replace(release, hi=release.hi + random.randint(0, 2), header=replace(release.header, base=None))
        yield replace(release, header=replace(release.header, complete=False))
        yield moved
    elif isinstance(release, Rules):
        yield some_lines(release, kept)
        yield replace(release, lo=np.maximum(release.lo - 1, 0), hi=np.minimum(release.hi + 1, release.whole_lo))
        yield replace(release, header=replace(release.header, complete=False))
        yield replace(release, header=replace(release.header, min_support=(release.header.min_support or 1) + 1))
    elif can_be_rounded(release):
        yield rounded_cells(release, random.choice([2, 3, 5]))
        yield release.take(kept) if hasattr(release, "take") else release


def attack(release: Any) -> AttackRun | str:
    """Return the run of X01, or the name of an error."""
    try:
        return tacit.audit(release, attacks=["X01"], k=K).attack("X01")
    except tacit.TacitError as error:
        return type(error).__name__


def told(run: AttackRun | str) -> Any:
    """Return the findings of a run with their numbers."""
    if isinstance(run, str):
        return run
    assert run.event is not None
    numbers = zip(run.columns["count"].tolist(), run.columns["count_hi"].tolist(), strict=True)
    return {(str(run.event(index)), *ends) for index, ends in enumerate(numbers)}


def judge(seed: int) -> tuple[int, int]:
    """Judge what is settled by every world of two small lists; count the lists that follow, and the groups that are settled."""
    random = Random(seed)
    people = [frozenset(item for item in ITEMS if random.random() < 0.5) for _ in range(random.randint(3, 6))]
    others = people if random.random() < 0.7 else [frozenset(ITEMS[: random.randint(0, 3)]) for _ in people]
    release, other = (draw_list(random, rows) for rows in (people, others))
    tell = tacit.audit(release, attacks=["X01"], k=K).attack("X01").settled
    settled = None if tell is None else tell()
    problem = lower((other,), tacit.Same())
    if not isinstance(settled, Settled) or not settled.implies(problem):
        return 0, 0
    kinds = naive.kinds_of([[frozenset(), frozenset([item])] for item in ITEMS], tacit.Same(), 1)
    found = list(naive.worlds(kinds, [release], tacit.Same()))
    assert set(found) <= set(naive.worlds(kinds, [other], tacit.Same())), seed
    groups = 0
    for cube in tighten_cubes(make_cubes(problem)[0], lambda: None):
        for group in np.flatnonzero(settled.refute(cube, np.ones(len(cube.lo), np.bool_))).tolist():
            event = item_event(cube.axes, cube.slots(group), problem.members)
            if event is not None:
                named = frozenset(event.present), frozenset(event.absent), frozenset[int](), frozenset[int]()
                counts = {sum(naive.members(named, kinds, world)) for world in found}
                assert counts - set(range(1, K)), (seed, event)
                groups += 1
    return 1, groups


def draw_list(random: Random, rows: Sequence[frozenset[str]]) -> Itemsets:
    """Draw a list of itemsets of these people."""
    every = [chosen for size in (1, 2, 3) for chosen in combinations(ITEMS, size)]
    some = random.sample(every, random.randint(2, 7))
    return itemsets_of(rows, some, random.choice([0, 0, 1, 2]), random.choice([None, None, 1, 2]))


def test_every_world_of_the_first_list_fits_one_that_says_less() -> None:
    """A list follows from another only if every world says so; a group is settled only if some world shows it."""
    outcomes = [judge(seed) for seed in range(examples(300))]
    assert sum(implied for implied, _ in outcomes) > 0.05 * len(outcomes)
    assert sum(groups for _, groups in outcomes) > len(outcomes)


def test_missing_rules_follow_only_from_the_same_missing_rules() -> None:
    """A complete list of rules with other thresholds does not follow, since other rules are missing from it."""
    random = Random(480)
    release = draw_release(random, draw_table(random))
    tell = tacit.audit(release, attacks=["X01"], k=K).attack("X01").settled
    settled = None if tell is None else tell()
    assert isinstance(release, Rules)
    assert isinstance(settled, Settled)
    wider = replace(release, lo=np.maximum(release.lo - 1, 0), hi=np.minimum(release.hi + 1, release.whole_lo))
    others = [release, wider]
    for changed in ({"complete": False}, {"min_support": 4}, {"min_confidence": Fraction(1, 2)}, {"strict": True}):
        others.append(replace(release, header=replace(release.header, **changed)))
    assert [settled.implies(lower((other,), tacit.Same())) for other in others] == [True, True, True, False, False, False]


def compare(seed: int) -> int:
    """Compare audits with and without what is settled; count those that could use it."""
    random = Random(seed)
    table = draw_table(random)
    release = draw_release(random, table)
    first = tacit.audit(release, attacks=["X01"], k=K)
    tell = first.attack("X01").settled
    settled = None if tell is None else tell()
    used = 0
    for other in [*draw_others(random, release), draw_release(random, draw_table(random))]:
        alone = attack(other)
        with building_on(first):
            together = attack(other)
        assert told(together) == told(alone), seed
        if isinstance(alone, AttackRun) and isinstance(together, AttackRun):
            used += isinstance(settled, Settled)
    return used


def test_what_is_settled_changes_no_finding() -> None:
    """Audits find the same with and without an earlier one, whether that one says more or not."""
    assert sum(compare(seed) for seed in range(30)) >= 15
