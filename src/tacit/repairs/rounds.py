"""Changing rows in rounds until no small group is left on any set that an attack can reach."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tacit.errors import RepairError
from tacit.model.audit import Audit
from tacit.model.event import ItemEvent
from tacit.model.sets import Sets
from tacit.model.transactions import Transactions
from tacit.repairs.base import Proposal, RepairCase
from tacit.repairs.family import border, maximal
from tacit.repairs.rows import BitRows, Whole, Words

#: Rounds after which it gives up. Every round makes different rows fewer, so an end is certain; this is for the pathological.
MOST_ROUNDS = 1000


def until_clean(case: RepairCase, change: Callable[[BitRows, Words, Words], Whole]) -> Proposal:
    """Change rows, mine, look again: first the maximal sets and the border, then whatever the audit still finds.

    ``change`` says how many people each row stands for afterwards, given the sets (as bits) and the small groups on them.
    """
    assert case.data is not None
    data = case.data
    release = case.mine(data)
    deeper: set[tuple[int, ...]] = set()
    for _ in range(MOST_ROUNDS):
        family = [*maximal(release, data.items)]
        if case.goal == "all":
            family += [*border(release, data.items)]
        sets = Sets.from_lists([*(one.tolist() for one in family), *deeper])
        rows = BitRows.of(data)
        numbers, groups, _ = rows.small_groups(sets, case.k)
        if len(numbers):
            data = replace(rows, weights=change(rows, rows.masks(sets)[numbers], groups)).transactions()
            release = case.mine(data)
            continue
        fresh = _reached(case.audit(release, data), data) - deeper
        if not fresh:
            return Proposal(release, data)
        deeper |= fresh
    raise RepairError(f"no end after {MOST_ROUNDS} rounds", where="repair", remedy="Choose another method")


def _reached(found: Audit, data: Transactions) -> set[tuple[int, ...]]:
    """The itemsets that the remaining findings speak of."""
    number = {name: i for i, name in enumerate(data.items.names)}
    events = [run.event(i) for run in found.runs if run.event is not None for i in range(run.findings)]
    named = [event.present + event.absent for event in events if isinstance(event, ItemEvent)]
    return {tuple(sorted(number[item] for item in names)) for names in named}
