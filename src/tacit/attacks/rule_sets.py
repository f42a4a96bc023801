"""The itemsets that a release of rules speaks of, each once, and how they lie inside each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tacit.errors import InternalError
from tacit.model.items import Items
from tacit.model.release import Rules
from tacit.model.sets import Sets

Whole = npt.NDArray[np.int64]

#: Pairs of antecedent and SA value that are looked at, published or not; above, only published ones are.
MOST_PAIRS = 2_000_000
#: Up to this many itemsets every pair is compared; above, sets are compared with those that lack one item.
MOST_COMPARED = 3_000


@dataclass(frozen=True, eq=False)
class NamedSets:
    """Distinct itemsets, and which of them the rules are about.

    ``whole`` and ``both`` give, for every rule, the set of its antecedent and of all its items. ``children[i, v]`` is the set of antecedent
    ``parents[i]`` with SA value number ``v``; empty where the list does not say which values there are. ``values`` are the items of these.
    ``nobody`` is the place of the empty set, which everybody has; -1 when n is not known.
    """

    sets: Sets
    items: Items
    whole: Whole
    both: Whole
    parents: Whole
    children: Whole
    values: Whole
    nobody: int

    @classmethod
    def of(cls, release: Rules) -> NamedSets:
        """The sets of a release of rules; where its header gives the values of the SA, also each antecedent with each value."""
        both = united(release.antecedents, release.consequents)
        items, values = _sa_items(release)
        parts = [release.antecedents, both]
        counted = release.n is not None
        if counted:
            parts.append(Sets.from_lists([[]]))
        sets, place = distinct(joined(parts))
        lines = len(release)
        nobody = int(place[-1]) if counted else -1
        antecedents = np.unique(place[:lines])
        if counted:
            antecedents = np.union1d(antecedents, [nobody])
        if len(values) == 0 or len(antecedents) * len(values) > MOST_PAIRS:
            nothing = np.empty(0, np.int64)
            return cls(sets, items, place[:lines], place[lines : 2 * lines], nothing, np.empty((0, 0), np.int64), nothing, nobody)
        pairs = united(
            sets.take(np.repeat(antecedents, len(values))),
            Sets(np.arange(len(antecedents) * len(values) + 1, dtype=np.int64), np.tile(values, len(antecedents))),
        )
        every, again = distinct(joined([sets, pairs]))
        place, children = again[place], again[len(sets) :].reshape(len(antecedents), len(values))
        nobody = int(again[nobody]) if counted else -1
        return cls(every, items, place[:lines], place[lines : 2 * lines], again[antecedents], children, values, nobody)

    @cached_property
    def less_one(self) -> Whole:
        """For every member of every set, the number of the set without it; -1 where no rule names that."""
        found = np.full(len(self.sets.members), -1, np.int64)
        hashes = self.sets.hashes()
        order = np.argsort(hashes, kind="stable")
        lengths = self.sets.lengths
        for length in range(1, int(lengths.max(initial=0)) + 1):
            owners = np.flatnonzero(lengths == length)
            places = self.sets.offsets[owners][:, None] + np.arange(length)
            members = self.sets.members[places]
            wanted = hashes[owners][:, None] - self.sets.member_hashes()[places]
            at = order[np.minimum(np.searchsorted(hashes[order], wanted), len(order) - 1)]
            same = (hashes[at] == wanted) & (lengths[at] == length - 1)
            for position in range(length):
                chosen = np.flatnonzero(same[:, position])
                rest = np.delete(members[chosen], position, axis=1)
                smaller = at[chosen, position]
                named = self.sets.members[self.sets.offsets[smaller][:, None] + np.arange(length - 1)]
                # Equal hashes almost always mean equal sets; a proof needs always.
                kept = (rest == named).all(axis=1)
                found[places[chosen[kept], position]] = smaller[kept]
        return found

    @cached_property
    def inside(self) -> tuple[Whole, Whole]:
        """Pairs (smaller, larger) of sets, one inside the other: all of them in a short list, else those that the list shows at once."""
        if len(self.sets) <= MOST_COMPARED:
            held = np.zeros((len(self.sets), len(self.items)), np.bool_)
            held[self.sets.owners(), self.sets.members] = True
            shared = held.astype(np.float32) @ held.T.astype(np.float32)
            lengths = self.sets.lengths
            smaller, larger = np.nonzero((shared == lengths[:, None]) & (lengths[:, None] < lengths[None, :]))
            return smaller, larger
        known = self.less_one >= 0
        smaller = np.concatenate((self.less_one[known], self.whole))
        larger = np.concatenate((self.sets.owners()[known], self.both))
        return smaller, larger

    def find(self, items: Sequence[int]) -> int:
        """The number of the set of these items, or -1."""
        wanted = Sets.from_lists([items])
        for place in np.flatnonzero(self._hashes == wanted.hashes()[0]).tolist():
            if np.array_equal(self.sets[place], wanted[0]):
                return int(place)
        return -1

    @cached_property
    def _hashes(self) -> npt.NDArray[np.uint64]:
        return self.sets.hashes()

    def names(self, place: int) -> tuple[str, ...]:
        """The items of a set, by name, sorted."""
        return tuple(sorted(self.items.names[item] for item in self.sets[place]))


def _sa_items(release: Rules) -> tuple[Items, Whole]:
    """The items with all values of the SA among them, and the numbers of these; none where the list does not say that each person has one."""
    header, items = release.header, release.items
    nothing = np.empty(0, np.int64)
    if not header.sa or not header.qi or not header.sa_values or items.pairs is None:
        return items, nothing
    column = " & ".join(header.sa)
    used = {items.pairs[item][0] for item in np.unique(release.antecedents.members).tolist()}
    single = bool((release.consequents.lengths == 1).all())
    reached = {items.pairs[item] for item in np.unique(release.consequents.members).tolist()}
    domain = [(column, value) for value in header.sa_values]
    if not single or column in used or not used <= set(header.qi) or not reached <= set(domain):
        return items, nothing
    pairs = list(dict.fromkeys([*items.pairs, *domain]))
    number = {pair: place for place, pair in enumerate(pairs)}
    return Items.of_columns(pairs), np.array([number[pair] for pair in domain], np.int64)


def united(left: Sets, right: Sets) -> Sets:
    """The union of each pair of sets."""
    rows = np.concatenate((left.owners(), right.owners()))
    return Sets.from_pairs(rows, np.concatenate((left.members, right.members)), len(left))


def joined(parts: Sequence[Sets]) -> Sets:
    """Several lists of sets as one."""
    starts = np.cumsum([0, *(int(part.offsets[-1]) for part in parts)])
    offsets = [np.zeros(1, np.int64), *(part.offsets[1:] + start for part, start in zip(parts, starts, strict=False))]
    return Sets(np.concatenate(offsets), np.concatenate([part.members for part in parts]))


def distinct(sets: Sets) -> tuple[Sets, Whole]:
    """Each set once, in the order of first appearance, and where each of the given ones is now."""
    _, first, group = np.unique(sets.hashes(), return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    chosen = sets.take(first[order])
    index = rank[group]
    again = chosen.take(index)
    if not np.array_equal(again.offsets, sets.offsets) or not np.array_equal(again.members, sets.members):
        raise InternalError("two itemsets share a hash", where="rules", remedy="Please report it")
    return chosen, index
