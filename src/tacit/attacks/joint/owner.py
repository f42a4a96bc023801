"""The owner's rows as a world that fits what was published: whatever is not small there cannot be proved to be small."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.attacks.joint.boxes import Axis, literal
from tacit.attacks.joint.lines import Problem
from tacit.model.transactions import Transactions

Whole = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OwnWorld:
    """People by their class on every axis: ``people[i]`` of them are as ``kinds[i]`` says."""

    problem: Problem
    kinds: Whole
    people: Whole

    @classmethod
    def of(cls, problem: Problem, data: Transactions) -> OwnWorld | None:
        """The world of these rows; None where they do not fit the lines, so that they are no world of theirs."""
        columns = [_classes(axis, data) for axis in problem.axes]
        if any(column is None for column in columns):
            return None
        kinds = np.stack([column for column in columns if column is not None], axis=1) if columns else np.zeros((1, 0), np.int64)
        kinds, which = np.unique(kinds, axis=0, return_inverse=True)
        people = np.zeros(len(kinds), np.int64)
        np.add.at(people, which.ravel(), data.weights)
        found = cls(problem, kinds, people)
        return found if found._fits() else None

    def count(self, box: Mapping[int, int]) -> int:
        """How many people a box holds."""
        inside = np.ones(len(self.kinds), np.bool_)
        for axis, mask in box.items():
            allowed = np.array([bool(mask >> place & 1) for place in range(len(self.problem.axes[axis].classes))])
            inside &= allowed[self.kinds[:, axis]]
        return int(self.people[inside].sum())

    def _fits(self) -> bool:
        for line, terms in zip(self.problem.lines, self.problem.boxes, strict=True):
            total = sum(factor * self.count(masks) for factor, masks in terms)
            if (line.lo is not None and total < line.lo) or (line.hi is not None and total > line.hi):
                return False
        return True


def _classes(axis: Axis, data: Transactions) -> Whole | None:
    """The class of every row on an axis; None where that cannot be told."""
    number = {name: place for place, name in enumerate(data.items.names)}
    owners = data.rows.owners()
    found = np.full(len(data.rows), -1, np.int64)
    for place, values in enumerate(axis.classes):
        for value in values:
            item = None if value is None else number.get(literal(axis.key, value))
            if item is not None:
                found[owners[data.rows.members == item]] = place
    rest = [place for place, values in enumerate(axis.classes) if None in values]
    if (found < 0).any():
        if not rest:
            return None
        found[found < 0] = rest[0]
    return found
