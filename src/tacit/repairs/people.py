"""People as rows of bits, for repairs that change rows.

A release can reveal a small group on its maximal itemsets, and on those just below the threshold. Repairs add people to such groups
(:func:`with_people`), or change rows in rounds until no small group is left on any set that an attack can reach (:func:`until_clean`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tacit.kernels.deduction import Book
from tacit.kernels.projection import Crowd, small_groups_on
from tacit.kernels.rows import find_maximal
from tacit.model.arrays import Ints, Words
from tacit.model.errors import OptionError, RepairError
from tacit.model.policy import check_time
from tacit.model.release import Items, Itemsets, Sets
from tacit.model.repair import Proposal, RepairCase
from tacit.model.table import Transactions
from tacit.repairs.lists import mentioned_items

MOST_FREQUENT = 1 << 25  #: A release that stands for more frequent itemsets than this is not looked at below its threshold.


def in_items(sets: Sets, names: tuple[str, ...], items: Items) -> Sets:
    """Sets over one list of names as sets over another."""
    number = {name: i for i, name in enumerate(items.names)}
    place = np.array([number[name] for name in names], np.int64) if names else np.empty(0, np.int64)
    return Sets.from_pairs(sets.owners(), place[sets.members], len(sets)) if len(sets) else sets


def maximal(release: Itemsets, items: Items) -> Sets:
    """Return the maximal published sets, or else the empty set."""
    if len(release) == 0:
        return Sets.from_lists([[]])
    largest = find_maximal(release.sets.offsets, release.sets.members, len(release.items))
    return in_items(release.sets.take(largest), release.items.names, items)


def border(release: Itemsets, items: Items) -> Sets:
    """Return the negative border over ``items``: minimal infrequent itemsets."""
    top = maximal(release, items)
    if (1 << top.lengths.astype(object)).sum() > MOST_FREQUENT:
        what = "the release stands for too many frequent itemsets to look just below them"
        remedy = "Use --goal frequent-only, raise the threshold, or choose another method"
        raise OptionError(what, where="--goal all", remedy=remedy)
    book = Book(top.members)
    for one in top:
        keys = book.subsets(one.astype(np.int64))
        book.enter(keys, np.zeros((len(keys), 2), np.int64))
    return Sets.from_lists([book.members(words).tolist() for words in book.candidates(book.everything(), first=True)])


@dataclass(frozen=True, slots=True, eq=False)
class BitRows:
    """Distinct rows as bits over the items, with numbers of people."""

    words: Words
    weights: Ints
    items: Items

    @classmethod
    def of(cls, data: Transactions) -> BitRows:
        """Return the distinct rows of some transactions."""
        merged = data.merged()
        return cls(_as_bits(merged.rows, max(1, -(-len(data.items) // 64))), merged.weights.copy(), data.items)

    def transactions(self) -> Transactions:
        """Return the people as transactions, without rows of nobody."""
        kept = np.flatnonzero(self.weights)
        words = self.words[kept]
        rows, places = np.nonzero(words)  # most words are 0: only the others are taken apart
        bits = np.unpackbits(words[rows, places].astype("<u8").view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
        which, bit = np.nonzero(bits)
        members = 64 * places[which] + bit
        return Transactions(Sets.from_pairs(rows[which], members, len(kept)), self.weights[kept], self.items).merged()

    def masks(self, family: Sets) -> Words:
        """Return itemsets as bits."""
        return _as_bits(family, self.words.shape[1])

    def small_groups(self, family: Sets, k: int) -> tuple[Ints, Words]:
        """Return the groups of 1..k-1 people: set number, items present."""
        alive = self.transactions()
        crowd = Crowd.of(alive.rows, alive.weights, np.arange(len(self.items)))
        numbers = [np.empty(0, np.int64)]
        groups = [np.empty((0, self.words.shape[1]), np.uint64)]
        for which, present, _ in small_groups_on(crowd, family.offsets, family.members, k, lambda _: check_time("repair")):
            numbers.append(which)
            groups.append(self._spread_bits(family, which, present))
        return np.concatenate(numbers), np.concatenate(groups)

    def _spread_bits(self, family: Sets, which: Ints, present: Words) -> Words:
        out = np.zeros((len(which), self.words.shape[1]), np.uint64)
        for place in range(int(family.lengths[which].max(initial=0))):
            rows = np.flatnonzero(family.lengths[which] > place)
            item = family.members[family.offsets[which[rows]] + place].astype(np.int64)
            bit = (present[rows, place // 64] >> np.uint64(place % 64)) & np.uint64(1)
            out[rows, item >> 6] |= bit << (item & 63).astype(np.uint64)
        return out

    def within(self, masks: Words, groups: Words) -> npt.NDArray[np.bool_]:
        """Mark the rows in a group, which mentions the items in its mask."""
        hit = np.zeros(len(self.weights), np.bool_)
        for mask, group in zip(masks, groups, strict=True):
            check_time("repair")
            hit |= ((self.words & mask) == group).all(axis=1)
        return hit & (self.weights > 0)

    def nearest(self, row: int, among: Ints) -> int:
        """Return the row with fewest differences, then with most people."""
        distance = np.bitwise_count(self.words[among] ^ self.words[row]).sum(axis=1, dtype=np.int64)
        best = np.flatnonzero(distance == distance.min())
        return int(among[best[np.argmax(self.weights[among[best]])]])


def _as_bits(sets: Sets, width: int) -> Words:
    words = np.zeros((len(sets), width), np.uint64)
    members = sets.members.astype(np.int64)
    np.bitwise_or.at(words, (sets.owners(), members >> 6), np.uint64(1) << (members & 63).astype(np.uint64))
    return words


def small_groups(release: Itemsets, case: RepairCase) -> tuple[BitRows, Words, Words]:
    """Return rows, small groups on maximal sets, and these sets."""
    assert case.data is not None
    rows = BitRows.of(case.data)
    family = maximal(release, case.data.items)
    _, groups = rows.small_groups(family, case.k)
    return rows, groups, rows.masks(family)


def with_people(case: RepairCase, rows: BitRows, added: Words, people: Ints) -> Proposal:
    """Return the release of the rows with more people."""
    data = BitRows(np.concatenate((rows.words, added)), np.concatenate((rows.weights, people)), rows.items).transactions()
    return Proposal(case.mine(data), data)


#: Rounds after which it gives up. Every round makes different rows fewer, so an end is certain; this is for the pathological.
MOST_ROUNDS = 1000


def until_clean(case: RepairCase, change: Callable[[BitRows, Words, Words], Ints]) -> Proposal:
    """Change rows, mine and look again, until the audit is clean.

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
        numbers, groups = rows.small_groups(sets, case.k)
        if len(numbers):
            data = replace(rows, weights=change(rows, rows.masks(sets)[numbers], groups)).transactions()
            release = case.mine(data)
            continue
        number = {name: i for i, name in enumerate(data.items.names)}
        found = mentioned_items(case.audit(release, data))
        fresh = {tuple(sorted(number[item] for item in names)) for names in found} - deeper
        if not fresh:
            return Proposal(release, data)
        deeper |= fresh
    raise RepairError(f"no end after {MOST_ROUNDS} rounds", where="repair", remedy="Choose another method")
