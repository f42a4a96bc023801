"""How groups mix sensitive values, and how to undo it on average.

Counting everybody's value by the shares of her group spreads each value over those that it shares groups with. Where groups are formed without
looking at the quasi-identifiers, what is counted for some people is on average ``N Pi``: N is how many of them have each value, and
``Pi[v, s]`` the mean share of s in the groups of people with v. ``Pi`` follows from the published groups, so N can be estimated.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tacit.model.buckets import Buckets

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Mixing:
    """What becomes of counts when they are taken by groups.

    ``pi`` is as above, over the values that occur; ``share`` is the share of each among all people, and ``noise`` the variance of the share of
    a value in the group of somebody whose own value is known, summed over values.

    >>> from tacit.model.table import Table
    >>> people = Table.from_rows(["sex", "ill"], [("F", "flu"), ("M", "cold"), ("M", "flu"), ("F", "flu")])
    >>> mixing = Mixing.of(Buckets.of(people.select(["sex"]), people.column("ill"), np.array([0, 0, 1, 1], np.int32)))
    >>> mixing.pi.round(3).tolist(), mixing.share.tolist()
    ([[0.5, 0.5], [0.167, 0.833]], [0.25, 0.75])
    """

    pi: Floats
    share: Floats
    noise: float

    @classmethod
    def of(cls, buckets: Buckets) -> Mixing:
        """How the groups of a release mix values."""
        n_values, size = len(buckets.values), buckets.sizes.astype(np.float64)
        owner = np.repeat(np.arange(len(buckets)), np.diff(buckets.starts))
        inside = buckets.count / size[owner]
        pi, squares = np.zeros((n_values, n_values)), np.zeros((n_values, n_values))
        # Pairs of entries of the same group, entry i of each with entry j of each, so that memory stays small.
        widest = int(np.diff(buckets.starts).max(initial=0))
        for step in range(-widest + 1, widest):
            place = np.arange(max(0, -step), len(owner) - max(0, step))
            place = place[owner[place] == owner[place + step]]
            pair = buckets.value[place].astype(np.int64) * n_values + buckets.value[place + step]
            for table, weight in ((pi, inside), (squares, inside**2)):
                table += np.bincount(pair, buckets.count[place] * weight[place + step], n_values**2).reshape(pi.shape)
        people = np.bincount(buckets.value, buckets.count, n_values)
        held = np.maximum(people, 1)[:, None]
        pi, squares = pi / held, squares / held
        return cls(pi, people / max(1, buckets.n), float((people / max(1, buckets.n)) @ (squares - pi**2).sum(axis=1)))

    @property
    def condition(self) -> float:
        """The condition number of ``pi`` over the values that occur: by how much errors may grow when the mixing is undone."""
        singular = self._parts[1]
        return float(singular[0] / singular[-1]) if len(singular) and singular[-1] > 0 else float("inf")

    def undone(self, counted: Floats, people: Floats) -> Floats:
        """How many people of each cell have each value, given what is counted for them by groups and how many they are.

        Cells are rows. Directions in which a cell holds too few people to tell anything are damped: the estimate is the mean of what people
        have, when their shares are taken to spread around ``share`` as far as shares can. It lies between 0 and the number of people.
        """
        left, singular, right = self._parts
        usual = people[:, None] * self.share
        spread = float((self.share * (1 - self.share)).sum())
        damping = self.noise / max(spread, 1e-300) / np.maximum(people, 1e-9)
        factor = singular / np.maximum(singular**2 + damping[:, None], 1e-300)
        occurs = self.share > 0
        found = usual.copy()
        found[:, occurs] += ((counted - usual)[:, occurs] @ right.T * factor) @ left.T
        return np.asarray(np.clip(found, 0.0, people[:, None]))

    @cached_property
    def _parts(self) -> tuple[Floats, Floats, Floats]:
        """The singular value decomposition of ``pi`` over the values that occur."""
        occurs = np.flatnonzero(self.share > 0)
        left, singular, right = np.linalg.svd(self.pi[np.ix_(occurs, occurs)])
        return left, singular, right
