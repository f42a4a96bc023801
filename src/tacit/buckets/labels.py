"""Labels: sensitive values, each with the totals that depend on who has it.

If a person gives a value to another, the total of a fact about this value changes if one of them is in its event and the other is not. A
*label* is a value together with the facts about it whose event its holder is in. Another person *may take* the label if no total leaves its
bounds by that: they are in the event of no fact with an upper bound that the holder is not in, and in the event of every fact with a lower
bound that the holder is in. Means bound a sum from both sides. In a fact without exceptions, no holder is in the event.

Every exchange of labels keeps all totals within the bounds that hold in the data. So the values that people have in some assignment of labels
are possible for them given the groups and all facts together: they are *plausible*. And if everybody of every group may take every label in it,
all assignments are equally likely, because equally likely assignments meet every bound on average already.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.buckets.assignments import valid_values
from tacit.buckets.classes import Classes
from tacit.buckets.statistics import Statistics
from tacit.model.arrays import Codes, Flags, Ints
from tacit.model.buckets import Buckets
from tacit.model.knowledge import Exclusions
from tacit.model.table import Column, Table, distinct_rows


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels of rows, and who may not take them.

    Row r holds label ``own[r]`` of the value ``shown[own[r]]``; ``patterns[kind[r]]`` marks the labels that it may not take.
    """

    own: Codes
    shown: Ints
    kind: Codes
    patterns: Flags

    @classmethod
    def of(cls, values: Codes, known: Exclusions, statistics: Statistics | None) -> Labels:
        """Return the labels of rows with these values; without totals, the values themselves."""
        if statistics is None:
            return cls(values, np.arange(len(known.values)), known.kind, known.patterns)
        inside = statistics.inside
        own = np.zeros(len(values), np.int32)
        shown: list[int] = []
        taken: list[Flags] = []
        for value in range(len(known.values)):
            about = statistics.speaks[:, value]
            upper = inside[:, about & statistics.is_bounded_above]
            lower = inside[:, about & statistics.is_bounded_below]
            example, sort = _distinct_kinds(np.concatenate([upper, lower], axis=1))
            holders = np.flatnonzero(values == value)
            sort_of_holder = sort[statistics.kind[holders]]
            for one in np.unique(sort_of_holder).tolist():
                kind = int(example[one])
                own[holders[sort_of_holder == one]] = len(shown)
                shown.append(value)
                taken.append(~(upper & ~upper[kind]).any(axis=1) & ~(lower[kind] & ~lower).any(axis=1))
        names = np.array(shown, np.int64)
        key = known.kind.astype(np.int64) * len(inside) + statistics.kind
        _, example, kind_of_row = np.unique(key, return_index=True, return_inverse=True)
        barred = known.patterns[known.kind[example]][:, names]
        barred |= ~np.stack(taken, axis=1)[statistics.kind[example]]
        first, kind_of_key = distinct_rows(barred)
        return cls(own, names, kind_of_key[kind_of_row.reshape(-1)].astype(np.int32), barred[first])

    def classes(self, *, seed: int, weights: Ints | None = None) -> Classes:
        """Return the classes of people who hold and may take the same labels."""
        return Classes.of(self.own, self.kind, self.patterns, seed=seed, shown=self.shown, weights=weights)

    def count_plausible(self, group: Codes) -> Ints:
        """Count the plausible values of each row in its group."""
        names = tuple(f"{number:09}" for number in range(len(self.shown)))
        people = Table((), np.ones(len(group), np.int64))
        valid = valid_values(
            Buckets.of(people, Column("label", names, self.own), group), Exclusions(names, self.patterns, self.kind), self.own
        )
        cells = valid.cells
        owner = np.repeat(np.arange(len(cells.group)), np.diff(cells.rows))[valid.possible]
        value = self.shown[cells.buckets.value[cells.entries[valid.possible]]]
        width = int(self.shown.max(initial=0)) + 1
        pairs = np.unique(owner * width + value)
        return np.asarray(np.bincount(pairs // width, minlength=len(cells.group))[cells.cell])


def _distinct_kinds(inside: Flags) -> tuple[Ints, Ints]:
    if inside.shape[1] == 0:
        return np.zeros(1, np.int64), np.zeros(len(inside), np.int64)
    return distinct_rows(inside)
