"""People as rows of bits, for repairs that change rows: who is in a small group, and who is like whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.kernels.groups import small_groups_on, vertical
from tacit.model.items import Items
from tacit.model.policy import check_time
from tacit.model.sets import Sets
from tacit.model.transactions import Transactions

Words = npt.NDArray[np.uint64]
Whole = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class BitRows:
    """Different rows as bits over the items, each with the number of people it stands for (0: nobody any more)."""

    words: Words
    weights: Whole
    items: Items

    @classmethod
    def of(cls, data: Transactions) -> BitRows:
        """The different rows of some transactions."""
        merged = data.merged()
        width = max(1, -(-len(data.items) // 64))
        words = np.zeros((len(merged.rows), width), np.uint64)
        members = merged.rows.members.astype(np.int64)
        np.bitwise_or.at(words, (merged.rows.owners(), members >> 6), np.uint64(1) << (members & 63).astype(np.uint64))
        return cls(words, merged.weights.copy(), data.items)

    def transactions(self) -> Transactions:
        """The people as transactions, rows of nobody left out."""
        kept = np.flatnonzero(self.weights)
        bits = np.unpackbits(np.ascontiguousarray(self.words[kept]).view(np.uint8), axis=1, bitorder="little")
        rows, members = np.nonzero(bits)
        return Transactions(Sets.from_pairs(rows, members, len(kept)), self.weights[kept], self.items).merged()

    def masks(self, family: Sets) -> Words:
        """Itemsets as bits."""
        masks = np.zeros((len(family), self.words.shape[1]), np.uint64)
        members = family.members.astype(np.int64)
        np.bitwise_or.at(masks, (family.owners(), members >> 6), np.uint64(1) << (members & 63).astype(np.uint64))
        return masks

    def small_groups(self, family: Sets, k: int) -> tuple[Whole, Words, Whole]:
        """Groups of 1..k-1 people on the sets of a family: number of the set, the group's items as bits over all items, size."""
        alive = self.transactions()
        by_item = vertical(alive.rows.offsets, alive.rows.members, alive.weights, np.arange(len(self.items)))
        numbers, groups, sizes = [np.empty(0, np.int64)], [np.empty((0, self.words.shape[1]), np.uint64)], [np.empty(0, np.int64)]
        for which, present, size in small_groups_on(by_item, family.offsets, family.members, k, lambda _: check_time("repair")):
            numbers.append(which)
            groups.append(self._spread(family, which, present))
            sizes.append(size)
        return np.concatenate(numbers), np.concatenate(groups), np.concatenate(sizes)

    def _spread(self, family: Sets, which: Whole, present: Words) -> Words:
        """Bits over the items of each set as bits over all items."""
        out = np.zeros((len(which), self.words.shape[1]), np.uint64)
        for place in range(int(family.lengths[which].max(initial=0))):
            rows = np.flatnonzero(family.lengths[which] > place)
            item = family.members[family.offsets[which[rows]] + place].astype(np.int64)
            bit = (present[rows, place // 64] >> np.uint64(place % 64)) & np.uint64(1)
            out[rows, item >> 6] |= bit << (item & 63).astype(np.uint64)
        return out

    def within(self, masks: Words, groups: Words) -> npt.NDArray[np.bool_]:
        """Which rows lie in at least one of the groups; ``masks[i]`` are the items that group ``i`` speaks of."""
        hit = np.zeros(len(self.weights), np.bool_)
        for mask, group in zip(masks, groups, strict=True):
            check_time("repair")
            hit |= ((self.words & mask) == group).all(axis=1)
        return hit & (self.weights > 0)

    def nearest(self, row: int, among: Whole) -> int:
        """The row among others that differs in the fewest items, the one with the most people where several do."""
        distance = np.bitwise_count(self.words[among] ^ self.words[row]).sum(axis=1, dtype=np.int64)
        best = np.flatnonzero(distance == distance.min())
        return int(among[best[np.argmax(self.weights[among[best]])]])
