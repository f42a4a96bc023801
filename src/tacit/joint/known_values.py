"""X01 about known people: sensitive values that no release rules out alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacit.joint.words import CODE
from tacit.known.proofs import Claims, Proof, Prover, bounds_together
from tacit.known.releases import SeveralCase
from tacit.known.words import SeveralWords
from tacit.model.arrays import Flags
from tacit.model.audit import AttackRun, Target
from tacit.model.errors import LimitReached
from tacit.model.finding import Event, Finding


class KnownValues:
    """Values of known people that several releases reveal and none of them alone."""

    def __init__(self, case: SeveralCase, target: Target) -> None:
        self.case = case
        self.target = target
        self.people = case.population.people
        self.said, bounds = bounds_together(case, target.limits)
        self.undecided = int(bounds.unsettled.sum())
        self.reasons: list[str] = []
        if self.undecided:
            pairs = f"{self.undecided:,} pairs of combination and value"
            self.reasons.append(f"{pairs} are neither ruled out nor shown to be possible")
        #: Combinations, the values that are ruled out for them, and why.
        self.found: list[tuple[int, tuple[int, ...], Proof]] = []
        try:
            self._prove(bounds.impossible)
        except LimitReached:
            self.undecided += 1
            self.reasons.append("the time limit was reached before all certain values were proved")

    def _check(self) -> float | None:
        self.target.limits.check(CODE)
        return self.target.limits.seconds_left

    def _prove(self, impossible: Flags) -> None:
        """Prove combinations with fewer than l values left, unless one release alone leaves as few."""
        left = self.case.values_left(impossible)
        exposed = np.flatnonzero(left < self.target.policy.l)
        chosen = np.zeros_like(self.people)
        chosen[exposed] = self.people[exposed]
        revealed_alone = np.zeros(len(exposed), np.bool_)
        for number in self.case.knowing if len(exposed) else ():
            _, bounds = bounds_together(self.case.alone(number), self.target.limits, chosen)
            revealed_alone |= self.case.values_left(bounds.impossible[exposed]) <= left[exposed]
        new = exposed[~revealed_alone]
        claims = Claims.of(new[np.lexsort((new, self.people[new], left[new]))], impossible)
        prover = Prover(self.said, self._check, claims)
        unwritten = 0
        for q, ruled_out in claims.listed:
            self.target.limits.check(CODE)
            proof = prover.ruled_out(q, ruled_out)
            if proof is None:
                unwritten += 1
            else:
                self.found.append((q, ruled_out, proof))
        if unwritten:
            self.undecided += unwritten
            self.reasons.append(f"{unwritten:,} combinations need a proof by cases, which is not written out, and stay undecided")

    def join(self, run: AttackRun) -> AttackRun:
        """Return the findings about groups and those about values as one run, worst first."""
        people = self.people[[q for q, _, _ in self.found]]
        values_left = np.array([len(self.case.values) - len(ruled_out) for _, ruled_out, _ in self.found], np.int64)
        own = {
            "items": np.full(len(people), len(self.case.population.columns) + 1, np.int64),
            "count": people,
            "count_hi": people,
            "together": np.ones(len(people), np.bool_),
        }
        groups = len(run.severity)
        severity = np.concatenate((run.severity, people << 16))
        order = np.argsort(severity, kind="stable")
        columns = {}
        for name, column in run.columns.items():
            columns[name] = np.concatenate((column, own.get(name, np.zeros(len(people), column.dtype))))[order]
        columns["values_left"] = np.concatenate((np.zeros(groups, np.int64), values_left))[order]

        def words_at(place: int) -> SeveralWords:
            return SeveralWords(self.case, self.said, *self.found[place][:2])

        def event(index: int) -> Event:
            place = int(order[index])
            if place >= groups:
                return words_at(place - groups).event
            assert run.event is not None
            return run.event(place)

        def show(index: int) -> Finding:
            place = int(order[index])
            if place >= groups:
                return words_at(place - groups).finding(run.code, self.found[place - groups][2])
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
