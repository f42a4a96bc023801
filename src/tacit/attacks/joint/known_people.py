"""The part of X01 about people who are known: values that are certain only when several releases are taken together.

All lines are statements about everybody's combination of quasi-identifiers (:mod:`tacit.attacks.sensitive.several`), whose bounds R03 has.
Here stand only findings that no release proves by itself, each with the sum that proves it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tacit.attacks.base import Target
from tacit.attacks.sensitive.certain_bounds import bounds_together
from tacit.attacks.sensitive.proofs import Proof, Prover
from tacit.attacks.sensitive.several import SeveralCase
from tacit.attacks.sensitive.several_words import SeveralWords
from tacit.errors import LimitReached
from tacit.model.audit import AttackRun
from tacit.model.event import Event
from tacit.model.finding import Finding

Numbers = npt.NDArray[np.int64]


def with_values(run: AttackRun, target: Target) -> AttackRun:
    """The run with what is found about values of known people added to its groups; as it is where nobody is known."""
    if target.several is None:
        return run
    found = _Together(target.several, target)
    return found.joined(run)


@dataclass(frozen=True, slots=True)
class _Certain:
    """A combination, what is ruled out for it, and why."""

    combination: int
    ruled_out: tuple[int, ...]
    proof: Proof


class _Together:
    """What several releases say about known people that none of them says by itself."""

    def __init__(self, case: SeveralCase, target: Target) -> None:
        self.case, self.target = case, target
        self.said, bounds = bounds_together(case, target.limits)
        self.impossible = bounds.impossible
        self.undecided = int(bounds.unsettled.sum())
        self.reasons: list[str] = []
        if self.undecided:
            self.reasons.append(f"of {self.undecided:,} pairs of combination and value it is not known whether anybody has them")
        self.found: list[_Certain] = []
        try:
            self._prove()
        except LimitReached:
            self.undecided += 1
            self.reasons.append("the time limit was reached before all certain values were proved")

    def _prove(self) -> None:
        """Prove what is left to fewer than l values, unless one release leaves no more by itself."""
        left = self.case.values_left(self.impossible)
        exposed = np.flatnonzero(left < self.target.policy.l)
        new = exposed[~self._alone(exposed, left)]
        people = self.case.population.people
        prover, unwritten = Prover(self.said, self._check), 0
        for q in new[np.lexsort((new, people[new], left[new]))].tolist():
            self.target.limits.check("X01")
            ruled_out = tuple(np.flatnonzero(self.impossible[q]).tolist())
            proof = prover.ruled_out(q, ruled_out)
            if proof is None:
                unwritten += 1
            else:
                self.found.append(_Certain(q, ruled_out, proof))
        if unwritten:
            self.undecided += unwritten
            self.reasons.append(f"{unwritten:,} combinations rest on cases that no single sum proves, and are left undecided")

    def _check(self) -> float | None:
        self.target.limits.check("X01")
        return self.target.limits.seconds_left

    def _alone(self, exposed: Numbers, left: Numbers) -> npt.NDArray[np.bool_]:
        """Which combinations one release leaves no more values than all of them do."""
        told = np.zeros(len(exposed), np.bool_)
        chosen = np.zeros_like(self.case.population.people)
        chosen[exposed] = self.case.population.people[exposed]
        for number in self.case.knowing if len(exposed) else ():
            _, bounds = bounds_together(self.case.alone(number), self.target.limits, chosen)
            told |= self.case.values_left(bounds.impossible[exposed]) <= left[exposed]
        return told

    def joined(self, run: AttackRun) -> AttackRun:
        """The findings about groups and those about values as one run, worst first."""
        people = self.case.population.people[[one.combination for one in self.found]]
        values_left = np.array([len(self.case.values) - len(one.ruled_out) for one in self.found], np.int64)
        width = np.full(len(people), len(self.case.population.columns) + 1, np.int64)
        own: dict[str, npt.NDArray[np.generic]] = {
            "items": width,
            "count": people,
            "count_hi": people,
            "together": np.ones(len(people), np.bool_),
        }
        severity = np.concatenate((run.severity, people << 16))
        order = np.argsort(severity, kind="stable")
        groups, is_value = len(run.severity), order >= len(run.severity)
        columns = {
            name: np.concatenate((column, own.get(name, np.zeros(len(people), column.dtype))))[order]
            for name, column in run.columns.items()
        }
        columns["values_left"] = np.concatenate((np.zeros(groups, np.int64), values_left))[order]

        def event(index: int) -> Event:
            place = int(order[index])
            if is_value[index]:
                return self._words(place - groups).event
            assert run.event is not None
            return run.event(place)

        def show(index: int) -> Finding:
            place = int(order[index])
            if is_value[index]:
                return self._words(place - groups).finding(run.code, self.found[place - groups].proof)
            assert run.show is not None
            return run.show(place)

        return replace(
            run,
            reason="; ".join(why for why in (run.reason, *self.reasons) if why),
            people=max(run.people, int(people.sum())),
            undecided=run.undecided + self.undecided,
            columns=columns,
            severity=severity[order],
            event=event,
            show=show,
        )

    def _words(self, place: int) -> SeveralWords:
        one = self.found[place]
        return SeveralWords(self.case, self.said, one.combination, one.ruled_out)
