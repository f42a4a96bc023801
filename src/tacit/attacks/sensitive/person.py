"""Why an estimate about somebody is what it is: the published and missing rules that move it, from the multipliers of the solution.

The logarithm of P(v | q) is, up to a constant, the sum of the multipliers of the statements about v and q. So each statement has its part in the
odds, and what the estimate would be without it is found by solving once more, from the solution that is there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tacit.attacks.sensitive.case import DISTRIBUTION, LINE, MISSING, RuleCase
from tacit.attacks.sensitive.missing import Estimate, estimate
from tacit.errors import LimitReached
from tacit.inference.statements import Statement
from tacit.model.person import Influence
from tacit.model.population import Places

Floats = npt.NDArray[np.float64]
Origins = tuple[Hashable, ...]

#: Multipliers below this (nats) move nothing that anybody could see.
NOTHING = 1e-6
#: A statement is kept with nothing to spare when its sum is this close to a bound, as a share of its people.
CLOSE = 1e-7


@dataclass(frozen=True, eq=False)
class Person:
    """Whoever has one of these combinations, beside the estimate that is to be explained."""

    case: RuleCase
    found: Estimate
    combinations: Places

    @property
    def people(self) -> npt.NDArray[np.int64]:
        """How many people have each of the combinations."""
        return self.case.population.people[self.combinations]

    def mean(self, posterior: Floats) -> Floats:
        """The probability of each value, mean over the people described."""
        weights = self.people / self.people.sum()
        return np.asarray(weights @ posterior[self.combinations])

    def influences(self, *, top: int, check: Callable[[], None] = lambda: None) -> tuple[tuple[Influence, ...], int]:
        """What moves the estimate, strongest first, and how many further ones there are.

        Those listed say what the estimate would be without them, unless ``check`` says meanwhile that the time is over.
        """
        told = _Telling(self.case, self.found)
        parts = [*self._weighed(told), *self._settled(told)]
        chosen = []
        for origins, influence in parts[:top]:
            try:
                without = tuple(self.mean(self._posterior_without(origins, check)).tolist())
                chosen.append(replace(influence, without=without))
            except LimitReached:
                chosen.append(influence)
        return tuple(chosen), max(0, len(parts) - top)

    def _weighed(self, told: _Telling) -> list[tuple[Origins, Influence]]:
        """The statements with a multiplier, strongest first."""
        problem, multipliers = self.found.problem, self.found.solution.multipliers
        covered = np.zeros(len(problem.values), np.int64)
        for place, number in zip(problem.class_of[self.combinations].tolist(), self.people.tolist(), strict=True):
            covered[problem.rows[problem.starts[place] : problem.starts[place + 1]]] += number
        weights = multipliers * covered / self.people.sum()
        rows = np.flatnonzero(np.abs(weights) > NOTHING)
        rows = rows[np.lexsort((rows, -np.abs(weights[rows]).round(6)))]
        return [
            (
                problem.origins[row],
                told.influence(problem.origins[row], int(problem.values[row]), float(weights[row]), int(covered[row])),
            )
            for row in rows.tolist()
        ]

    def _settled(self, told: _Telling) -> list[tuple[Origins, Influence]]:
        """Where a value is ruled out, the statements about these people that are kept with nothing to spare; the narrowest first."""
        problem, case = self.found.problem, self.case
        sure = problem.closed[problem.class_of[self.combinations]].any(axis=1)
        if not sure.any():
            return []
        inside = np.zeros(len(case.population), np.bool_)
        inside[self.combinations[sure]] = True
        weighed = {origin for origins in problem.origins for origin in origins}
        counts = self.found.posterior() * case.population.people[:, None]
        out = []
        for whole, combinations, one in told.statements():
            if one.origin in weighed or not inside[combinations].any():
                continue
            total = counts[combinations, one.value].sum()
            if min(total - one.lo, one.hi - total) > CLOSE * whole or (one.lo <= 0 and one.hi >= whole):
                continue
            people = int(case.population.people[combinations[inside[combinations]]].sum())
            out.append((whole, (one.origin,), told.influence((one.origin,), one.value, None, people)))
        return [(origins, influence) for _, origins, influence in sorted(out, key=lambda part: part[0])]

    def _posterior_without(self, origins: Origins, check: Callable[[], None]) -> Floats:
        """The estimate of somebody who does not know these statements."""
        check()
        case, problem = self.case, self.found.problem
        pairs = zip(problem.events.tolist(), problem.values.tolist(), strict=True)
        rows = zip(pairs, problem.origins, self.found.solution.multipliers.tolist(), strict=True)
        # Missing rules get their numbers anew, in another order: their multipliers would start other statements.
        known = {pair: weight for pair, said, weight in rows if not any(_kind(origin) == MISSING for origin in said)}
        return estimate(case, case.missing, check=check, multipliers=known, left_out=frozenset(origins)).posterior()


def _kind(origin: Hashable) -> str:
    return str(origin[0]) if isinstance(origin, tuple) and origin else str(origin)


class _Telling:
    """Statements in words."""

    def __init__(self, case: RuleCase, found: Estimate) -> None:
        self._case = case
        said = case.published()
        self._statements: dict[Hashable, tuple[int, Places, Statement]] = {
            one.origin: (said.whole(one.event), said.events[one.event], one) for one in said.listed
        }
        for event, value in found.missing_pairs:
            combinations = case.missing.events[event].astype(np.int32)
            one = Statement(-1, value, 0, int(case.missing.most[event, value]), (MISSING, event, value))
            self._statements[one.origin] = int(case.missing.wholes[event]), combinations, one

    def statements(self) -> Iterator[tuple[int, Places, Statement]]:
        """Every statement that the estimate keeps, with how many people and which combinations it is about."""
        yield from self._statements.values()

    def influence(self, origins: Origins, value: int, weight: float | None, people: int) -> Influence:
        """What statements with the same meaning do; ``weight`` is that for ``value``."""
        first = self._statements[origins[0]][2]
        if weight is not None and first.value != value:
            weight = -weight  # of two values, what speaks for one speaks against the other
        lines = sorted(
            {self._case.release.line(int(origin[1])) for origin in origins if isinstance(origin, tuple) and origin[0] == LINE}
        )
        says = "; ".join(dict.fromkeys(self._says(origin) for origin in origins))
        return Influence(_kind(origins[0]), tuple(lines), says, self._case.values[first.value], weight, people)

    def _says(self, origin: Hashable) -> str:
        case = self._case
        whole, combinations, one = self._statements[origin]
        has = f"{case.sensitive} {case.values[one.value]}"
        number = _between(one.lo, one.hi, whole)
        if _kind(origin) == LINE and isinstance(origin, tuple):
            who = _listed(dict(case.antecedent(origin[1])))
            return f"line {case.release.line(origin[1])}: {number} of the {whole:,} people with {who} have {has}"
        if _kind(origin) == MISSING:
            who = _listed(common_values(case, combinations))
            return f"no rule for {has} and the {whole:,} people with {who}: {number} of them have it"
        if _kind(origin) == DISTRIBUTION:
            return f"the published distribution: {number} of all {whole:,} people have {has}"
        who = _listed(common_values(case, combinations))
        return f"known from elsewhere: {number} of the {whole:,} people with {who} have {has}"


def _between(lo: int, hi: int, whole: int) -> str:
    """The bounds of a number in words.

    >>> _between(3, 3, 9), _between(3, 9, 9), _between(0, 4, 9), _between(3, 4, 9)
    ('3', 'at least 3', 'at most 4', '3 to 4')
    """
    if lo == hi:
        return f"{lo:,}"
    if hi >= whole:
        return f"at least {lo:,}"
    return f"at most {hi:,}" if lo <= 0 else f"{lo:,} to {hi:,}"


def common_values(case: RuleCase, combinations: Places) -> Mapping[str, str]:
    """The values that all these combinations share."""
    out = {}
    for column in case.population.columns:
        codes = column.codes[combinations]
        if len(codes) and (codes == codes[0]).all():
            out[column.name] = column.values[codes[0]]
    return out


def _listed(values: Mapping[str, str]) -> str:
    return ", ".join(f"{column}={value}" for column, value in values.items()) or "any values"
