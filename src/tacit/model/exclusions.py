"""Which sensitive values somebody who knows negative rules can rule out for whom."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.errors import InputError
from tacit.model.knowledge import Fact
from tacit.model.population import Population
from tacit.model.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Exclusions:
    """For row i of a table the values ``v`` with ``patterns[kind[i], v]`` are ruled out; ``values`` names them.

    People with the same pattern are interchangeable for whoever knows nothing else, so everything is done per kind.

    >>> from tacit.model.knowledge import Amount
    >>> people = Table.from_rows(["sex"], [("F",), ("M",), ("F",)])
    >>> known = Exclusions.of([Fact({"sex": ("M",)}, "pregnant", at_most=Amount.parse(0))], people, ("flu", "pregnant"))
    >>> known.patterns[known.kind].tolist()
    [[False, False], [False, True], [False, False]]
    """

    values: tuple[str, ...]
    patterns: npt.NDArray[np.bool_]
    kind: npt.NDArray[np.int32]

    @classmethod
    def none(cls, rows: int, values: tuple[str, ...]) -> Exclusions:
        """Nothing is ruled out for anybody."""
        return cls(values, np.zeros((1, len(values)), np.bool_), np.zeros(rows, np.int32))

    @classmethod
    def of(cls, facts: Iterable[Fact], people: Table, values: tuple[str, ...]) -> Exclusions:
        """What facts that exclude a value say about each row of a table; values that nobody can have are passed over.

        A fact that allows exceptions is refused: by it people would be matched to values as if their own were impossible.
        """
        place = {value: number for number, value in enumerate(values)}
        population = Population.of(people)
        excluded = np.zeros((len(population), len(values)), np.bool_)
        for fact in facts:
            if not fact.excludes:
                raise InputError(
                    "says how many people have a value, not that nobody has it, so nobody can be matched to values by it",
                    where=fact.place,
                    remedy="Give negative rules without exceptions only (mine them with --min-confidence 1)",
                )
            if fact.value in place:
                excluded[population.among(fact.allowed), place[fact.value]] = True
        patterns, kind = np.unique(excluded, axis=0, return_inverse=True)
        return cls(values, patterns, kind.reshape(-1)[population.places_of(people)].astype(np.int32))
