"""Estimates of Zhu, Wang and Du from rules about Adult, in each form of publication."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tacit.known.case import Multipliers, RuleCase, estimate
from tacit.mining.rules import mine_rules
from tacit.model.arrays import Codes, Floats
from tacit.model.errors import LimitReached
from tacit.model.people import Population
from tacit.model.release import Rules
from tacit.model.reproduction import Reading
from tacit.model.table import Table
from tacit.papers.bench import QI, Bench, read_adult
from tacit.papers.lattice import Lattice, Missing
from tacit.solve.entropy import Solution, solve
from tacit.solve.statements import Problem, reduce


class Form(NamedTuple):
    """Published numbers, and what else the attacker uses."""

    withheld: bool = False
    missing: bool = False
    distribution: bool = False

    @property
    def name(self) -> str:
        """Name of a line in a figure."""
        texts = ["withheld" if self.withheld else "exact"]
        texts += ["missing rules"] if self.missing else []
        texts += ["SA distribution"] if self.distribution else []
        return " + ".join(texts)


COMPLETE = Form(missing=True)  #: Exact numbers of all rules.
_LIKELY = "Figure 1 publishes the numbers, and withholding them is an experiment of its own (Section VI.B)"
#: Forms of publication that Section VI leaves open, missing rules not used.
FORMS = {
    form: Reading(form.name, "", _LIKELY if form == Form() else "")
    for form in (Form(withheld, False, distribution) for withheld in (False, True) for distribution in (False, True))
}


class Found(NamedTuple):
    """Estimate of every combination, and its distance from the truth in nats."""

    share: Floats
    entropy: float
    individual: Floats
    overall: float
    multipliers: Multipliers


@dataclass(eq=False)
class Trial:
    """Adult data, and cached estimates about them.

    ``domains`` are numbers of values by column, rows without that value removed.
    """

    people: Table
    domains: dict[str, int]
    bench: Bench
    _found: dict[tuple[float, float, Form], Found] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path, bench: Bench) -> Trial:
        """Read the people as the paper does."""
        people = read_adult(path)
        domains = {name: len(read_adult(path, qi=(name,), missing_rule="drop").column(name).values) for name in QI}
        return cls(people, domains | {people.sa.name: len(people.sa.values)}, bench)

    @cached_property
    def lattice(self) -> Lattice:
        """All patterns."""
        return Lattice.of(self.people)

    @property
    def population(self) -> Population:
        """Combinations of quasi-identifiers."""
        return self.lattice.population

    def rules(self, support: object, confidence: object, form: Form = COMPLETE, *, strict: bool = False) -> Rules:
        """Mine the rules in some form."""
        how: dict[str, Any] = {"withhold_values": form.withheld, "incomplete": not form.missing}
        how |= {"publish_sa_distribution": form.distribution, "strict": strict}
        return mine_rules(self.people, min_support=support, min_confidence=confidence, **how)

    def found(self, support: float, confidence: float, form: Form) -> Found:
        """Estimate from the rules at these thresholds."""
        key = (support, confidence, form)
        if key not in self._found:
            simpler = form._replace(missing=False) if form.missing else form._replace(distribution=False)
            known = None if simpler == form else self.found(support, confidence, simpler).multipliers
            self._found[key] = self.estimated(self.rules(support, confidence, form), known)
        return self._found[key]

    def estimated(self, rules: Rules, known: Multipliers | None = None) -> Found:
        """Estimate from some rules; multipliers of a similar estimate save steps."""
        case = RuleCase(rules, self.population)
        made = estimate(case, case.missing, multipliers=known, check=self._check)
        self.require(made.solution)
        share = made.posterior()
        individual = self._divergence(share)
        overall = float(individual @ self.population.people / self.population.n)
        return Found(share, made.solution.entropy, individual, overall, made.multipliers)

    def solved(self, rules: Rules, missing: Missing, bounds: Iterable[tuple[Codes, int, int]]) -> tuple[Problem, Solution]:
        """Solve rules together with these missing rules, all at once; it may not converge."""
        said = RuleCase(rules, self.population).published()
        for number, (holders, people, value) in enumerate(bounds):
            said.say(holders, value, 0, missing.most(people), origin=("missing", number))
        problem = reduce(said)
        return problem, solve(problem, check=self._check)

    @staticmethod
    def require(solution: Solution) -> None:
        """Raise an error if an estimate did not converge."""
        if not solution.converged:
            raise LimitReached("the estimate did not converge", where="R02", remedy="Give the data that the paper uses")

    def _check(self) -> None:
        self.bench.limits.check("R02")

    def _divergence(self, share: Floats) -> Floats:
        true = self.lattice.truth / self.population.people[:, None]
        some = true > 0
        with np.errstate(divide="ignore"):  # a value that is ruled out and true is infinitely far
            logs = np.log(np.where(some, true, 1.0)) - np.log(np.where(some, share, 1.0))
        return np.asarray(np.maximum((true * logs).sum(axis=1), 0.0))
