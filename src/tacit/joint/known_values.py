"""Values of known people that several releases reveal together."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tacit.errors import LimitReached
from tacit.known.proofs import Proof, Prover, bounds_together
from tacit.known.releases import SeveralCase
from tacit.known.words import SeveralWords
from tacit.model.arrays import Flags, Ints
from tacit.model.audit import AttackRun, Target
from tacit.model.event import Event
from tacit.model.finding import Finding


def add_known_values(run: AttackRun, known: SeveralCase, target: Target) -> AttackRun:
    """Add the findings about values of known people to a run."""
    return _Together(known, target).join(run)


@dataclass(frozen=True, slots=True)
class _Certain:
    """A combination, what is ruled out for it, and why."""

    combination: int
    ruled_out: tuple[int, ...]
    proof: Proof


class _Together:
    """What several releases reveal about known people that none of them reveals alone."""

    def __init__(self, case: SeveralCase, target: Target) -> None:
        self.case = case
        self.target = target
        self.said, bounds = bounds_together(case, target.limits)
        self.impossible = bounds.impossible
        self.undecided = int(bounds.unsettled.sum())
        self.reasons: list[str] = []
        if self.undecided:
            self.reasons.append(
                f"{self.undecided:,} pairs of combination and value are neither ruled out nor shown to be possible"
            )
        self.found: list[_Certain] = []
        try:
            self._prove()
        except LimitReached:
            self.undecided += 1
            self.reasons.append("the time limit was reached before all certain values were proved")

    def _prove(self) -> None:
        """Prove combinations with fewer than l values left, unless one release alone leaves as few."""
        left = self.case.values_left(self.impossible)
        exposed = np.flatnonzero(left < self.target.policy.l)
        new = exposed[~self._alone(exposed, left)]
        people = self.case.population.people
        prover = Prover(self.said, self._check)
        unwritten = 0
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
            self.reasons.append(f"{unwritten:,} combinations need a proof by cases, which is not written out, and stay undecided")

    def _check(self) -> float | None:
        self.target.limits.check("X01")
        return self.target.limits.seconds_left

    def _alone(self, exposed: Ints, left: Ints) -> Flags:
        """Return the combinations to which one release alone leaves as few values."""
        revealed = np.zeros(len(exposed), np.bool_)
        chosen = np.zeros_like(self.case.population.people)
        chosen[exposed] = self.case.population.people[exposed]
        for number in self.case.knowing if len(exposed) else ():
            _, bounds = bounds_together(self.case.alone(number), self.target.limits, chosen)
            revealed |= self.case.values_left(bounds.impossible[exposed]) <= left[exposed]
        return revealed

    def join(self, run: AttackRun) -> AttackRun:
        """Return the findings about groups and those about values as one run, worst first."""
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
        groups = len(run.severity)
        is_value = order >= len(run.severity)
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
