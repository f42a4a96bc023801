"""Whole people by cases: what a linear program over fractions of people leaves open is settled by telling cases apart.

Where a solution has half a person in a class, either at most so many whole people are there or at least one more. Both cases are looked at
again, and each ends with weights that prove its bound exactly, or with a witness. The cases together are the proof.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tacit.inference.program import Cut, Infeasible, Program, Proof, Unsolved
from tacit.inference.statements import Numbers

#: How much is looked at before an end is left open: cases, times the unknowns of each; never fewer cases than the second.
MOST_WORK, FEWEST_CASES = 100_000, 20
_FRACTION = 1e-6


class NoWhole(Exception):
    """Fractions of people keep all statements, whole people do not; ``rows`` are the statements that it takes to see it."""

    def __init__(self, rows: tuple[int, ...]) -> None:
        super().__init__("no whole numbers of people keep all statements")
        self.rows = rows


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """The end of one case: what it assumes, and the weights of statements and assumptions that settle it."""

    cuts: tuple[Cut, ...]
    proof: Proof


@dataclass(eq=False)
class Branching:
    """Witnesses on the way, the cases, and the most that the gain can be; None where the search was cut short."""

    seen: int
    witnesses: list[Numbers] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)
    most: int | None = None


def branch(
    program: Program, gain: Numbers, seen: int, *, goal: int, check: Callable[[], float | None] = lambda: None
) -> Branching:
    """The most that ``gain @ people`` can be for whole people, above ``seen``, which a witness attains; the search ends at ``goal``.

    Raises :class:`NoWhole` where no whole people keep the statements.
    """
    found = Branching(seen)
    waiting: list[tuple[Cut, ...]] = [()]
    looked_at = 0
    while waiting:
        looked_at += 1
        if looked_at > max(FEWEST_CASES, MOST_WORK // max(1, len(program))):
            return found
        cuts = waiting.pop()
        try:
            answer = program.most(gain.astype(float), cuts=cuts, check=check)
        except Infeasible as why:
            # Less than nobody: whatever is asked, it does not happen in this case.
            found.cases.append(Case(cuts, Proof(why.weights, why.denominator, -1)))
            continue
        except Unsolved:
            return found
        proof = program.proof(gain, answer.weights, cuts, goal=found.seen)
        if proof is not None and proof.most <= found.seen:
            found.cases.append(Case(cuts, proof))
            continue
        whole = np.rint(answer.people).astype(np.int64)
        if program.keeps(whole) and int(gain @ whole) > found.seen:
            found.seen = int(gain @ whole)
            found.witnesses.append(whole)
            if found.seen >= goal:
                found.most = None
                return found
            waiting.append(cuts)
            continue
        distance = np.abs(answer.people - np.rint(answer.people))
        column = int(distance.argmax())
        if distance[column] < _FRACTION:
            return found
        below = int(np.floor(answer.people[column]))
        waiting += [(*cuts, Cut(column, below, upper=True)), (*cuts, Cut(column, below + 1, upper=False))]
    if seen < _least(program, gain) and not found.witnesses:
        used = {int(row) for case in found.cases for row in np.flatnonzero(case.proof.weights[: len(program.rows)])}
        raise NoWhole(tuple(int(program.rows[row]) for row in sorted(used)))
    found.most = found.seen
    return found


def _least(program: Program, gain: Numbers) -> int:
    """What the gain is at least, whoever has which value; less is seen only where there is no witness yet."""
    return int(np.where(gain < 0, gain * program.size, 0).sum())
