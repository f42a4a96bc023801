"""What a complete list of maximal itemsets says about sets that no line holds: the part of I02 for such lists.

Everything above a maximal itemset M is below the threshold sigma, so of the people with M at least count(M) - sigma + 1 lack any given other
item d. At least as many people have d as the most frequent line with d says, so at most n less that many lack d. And when two lines A and B
have more than n people together, some people have both, yet fewer than sigma. Nothing else is looked for: more than two lines together may
prove more, which brute force over small worlds shows to happen for groups of one person only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.attacks.base import Target
from tacit.attacks.derivation import print_steps
from tacit.errors import LimitReached
from tacit.model.audit import AttackRun, Status
from tacit.model.bound import Bound
from tacit.model.certificate import certificate
from tacit.model.event import ItemEvent
from tacit.model.finding import Citation, Finding
from tacit.model.release import Itemsets
from tacit.wording import listed, people, sentence

Whole = npt.NDArray[np.int64]
WITHOUT_N = "the number of people is not known, and nothing follows from maximal itemsets without it"
#: At most this many pairs of lines are looked at for people who have both.
MOST_PAIRS = 1 << 16
_NOBODY = -1


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups as columns: two lines and an item, -1 where there is none, and bounds on the number of people.

    With an item: those of ``line`` who lack it (``alone``: all who lack it), at most all people without ``other``, a line that holds the item.
    Without: those who have both lines.
    """

    line: Whole
    other: Whole
    item: Whole
    alone: Whole
    lo: Whole
    hi: Whole

    @classmethod
    def of(cls, rows: list[tuple[Whole, Whole, Whole, Whole, Whole, Whole]]) -> Groups:
        """All pieces one after the other."""
        return cls(
            *(np.concatenate([np.empty(0, np.int64), *columns]) for columns in (zip(*rows, strict=True) if rows else [[]] * 6))
        )

    def take(self, index: Whole) -> Groups:
        """The groups at these positions."""
        return Groups(*(getattr(self, name)[index] for name in ("line", "other", "item", "alone", "lo", "hi")))


def run(target: Target, code: str, name: str) -> AttackRun:
    """Groups of fewer than k people on sets that no line of a complete list of maximal itemsets holds."""
    release = target.release
    assert isinstance(release, Itemsets)
    status: Status = "ran"
    reason, undecided = "", 0
    rows: list[tuple[Whole, Whole, Whole, Whole, Whole, Whole]] = []
    if release.n is None:
        undecided, reason = max(1, len(release)), WITHOUT_N
    else:
        try:
            for part in _lacking(target, release, release.n):
                rows.append(part)
            both, more = _in_both(release, release.n, target.policy.k)
            rows.append(both)
            undecided, reason = (
                (1, f"more than {MOST_PAIRS:,} pairs of itemsets share people; not all were looked at") if more else (0, "")
            )
        except LimitReached:
            status, reason = "stopped", "the time limit was reached; findings so far are kept"
    groups = _worst_first(Groups.of(rows), release)
    sizes = np.array([len(_items(release, groups, i)[0]) for i in range(len(groups.line))], np.int64)

    def event(index: int) -> ItemEvent:
        return _event(release, groups, index)

    return AttackRun(
        code,
        name,
        "proves",
        status,
        reason,
        people=int(groups.lo.max(initial=0)),
        undecided=undecided,
        columns={
            "items": sizes,
            "itemset": groups.line,
            "other": groups.other,
            "count": groups.lo,
            "count_hi": groups.hi,
            "level": np.ones(len(sizes), np.int64),
            "new": (groups.item < 0) | (groups.alone > 0),
        },
        severity=(groups.hi << 16) | np.minimum(sizes, 0xFFFF),
        event=event,
        show=lambda index: _write_out(code, release, target.index, groups, index),
    )


def _lacking(target: Target, release: Itemsets, n: int) -> Iterator[tuple[Whole, Whole, Whole, Whole, Whole, Whole]]:
    """For every item that nearly everyone has: who lacks it, and those of each line without it who do."""
    k, sigma = target.policy.k, release.min_support or 1
    members, owners = release.sets.members.astype(np.int64), release.sets.owners()
    order = np.lexsort((owners, -release.lo[owners], members))
    items, first = np.unique(members[order], return_index=True)
    best = owners[order][first]  # for every item, the first of its most frequent lines
    for item, line in zip(items.tolist(), best.tolist(), strict=True):
        if n - release.lo[line] >= k:
            continue
        target.limits.check("I02")
        without = np.setdiff1d(np.arange(len(release)), owners[members == item])
        lo, hi = release.lo[without] - sigma + 1, np.minimum(release.hi[without], n - release.lo[line])
        without, lo, hi = (column[(lo > 0) & (lo <= hi)] for column in (without, lo, hi))
        yield without, np.full(len(without), line), np.full(len(without), item), np.zeros(len(without), np.int64), lo, hi
        if len(without) and len(release.sets[line]) > 1:
            # Those who lack the item at all are the fewest words; where the item is a line by itself, that line says how many they are.
            most = int(np.argmax(lo))
            row = (without[most], line, item, 1, lo[most], n - release.lo[line])
            yield tuple(np.array([value], np.int64) for value in row)  # type: ignore[misc]


def _in_both(release: Itemsets, n: int, k: int) -> tuple[tuple[Whole, Whole, Whole, Whole, Whole, Whole], bool]:
    """Pairs of lines that more than n people have together: some have both, fewer than the threshold; and whether there are too many pairs."""
    sigma = release.min_support or 1
    found: dict[tuple[int, ...], tuple[int, int, int]] = {}
    order = np.argsort(-release.lo, kind="stable").tolist() if sigma <= k else []
    pairs = 0
    for i, a in enumerate(order):
        for b in order[i + 1 :]:
            least = int(release.lo[a] + release.lo[b]) - n
            if least <= 0 or pairs > MOST_PAIRS:
                break
            pairs += 1
            together = tuple(np.union1d(release.sets[a], release.sets[b]).tolist())
            if least < sigma and least > found.get(together, (0, 0, 0))[2]:
                found[together] = (a, b, least)
    line, other, lo = (np.array(column, np.int64) for column in (zip(*found.values(), strict=True) if found else ((), (), ())))
    none = np.full(len(line), _NOBODY)
    return (line, other, none, np.zeros(len(line), np.int64), lo, np.full(len(line), sigma - 1)), pairs > MOST_PAIRS


def _worst_first(groups: Groups, release: Itemsets) -> Groups:
    """Smallest groups first, then shortest descriptions, then the order of the file."""
    lengths = np.array([len(_items(release, groups, i)[0]) for i in range(len(groups.line))], np.int64)
    return groups.take(np.lexsort((groups.item, groups.other, groups.line, lengths, groups.hi)))


def _items(release: Itemsets, groups: Groups, index: int) -> tuple[Whole, int]:
    """The items of a group, and the one that is lacked (-1: none)."""
    item = int(groups.item[index])
    if groups.alone[index]:
        return np.array([item]), item
    other = release.sets[int(groups.other[index])] if item < 0 else np.array([item])
    return np.union1d(release.sets[int(groups.line[index])], other).astype(np.int64), item


def _event(release: Itemsets, groups: Groups, index: int) -> ItemEvent:
    items, lacked = _items(release, groups, index)
    names = release.items.names
    return ItemEvent(tuple(names[i] for i in items if i != lacked), (names[lacked],) if lacked >= 0 else ())


def _write_out(code: str, release: Itemsets, index: int, groups: Groups, finding: int) -> Finding:
    """The finding with its arithmetic."""
    n, least = release.n or 0, release.min_support or 1
    line, other, item = (int(column[finding]) for column in (groups.line, groups.other, groups.item))
    event = _event(release, groups, finding)
    count = Bound(int(groups.lo[finding]), int(groups.hi[finding]))
    union = np.union1d(release.sets[line], release.sets[other] if item < 0 else [item])
    together = listed(tuple(release.items.names[i] for i in union), "and")
    first, second = _printed(release, line), _printed(release, other)
    steps = print_steps(release, sorted((line, other)))
    steps += [
        f"The list is complete from {least:,} people on and no line holds {together}: at most {least - 1:,} people have them all."
    ]
    if item < 0:
        steps.append(f"Those with {together}: at least {first} + {second} - {n:,} (n) people.")
    else:
        had, lacked = listed(tuple(release.names(line)), "and"), release.items.names[item]
        steps.append(f"Those with {had} without {lacked}: at least {first} - {least - 1:,} people.")
        steps.append(f"Those without {lacked}: at most {n:,} (n) - {second} people.")
    because = [
        Citation(index, "n", Bound.of(n), None),
        *(Citation(index, release.line(one), release.count(one), None) for one in sorted((line, other))),
        Citation(index, "min_support", Bound.of(least), None),
    ]
    shown = {"items": sorted(release.items.names[i] for i in union), "at_most": least - 1, "by": "min_support"}
    proof = certificate(event, count, steps=[shown])
    return Finding(code, event, count, f"{people(count)} {sentence(event, count)}.", tuple(because), tuple(steps), None, proof)


def _printed(release: Itemsets, line: int) -> str:
    """A published count with its place."""
    count = release.count(line)
    number = f"{count.lo:,}" if count.is_exact else f"[{count.lo:,} to {count.hi:,}]"
    return f"{number} (line {release.line(line)})"
