"""What rules say about known people, straight from the definition, and the distribution of largest entropy by a general solver.

Every pattern that somebody has is listed. Nothing here uses Tacit, except that releases are read through their ``records()`` and header.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import null_space
from scipy.optimize import linprog

from tests.rules.naive_rules import printed

Person = tuple[str, ...]
Pattern = frozenset[tuple[int, str]]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Said:
    """Between ``lo`` and ``hi`` people who match a pattern have the value."""

    pattern: Pattern
    value: int
    lo: int
    hi: int


def combinations_of(people: Sequence[Person]) -> list[Person]:
    return sorted(set(people))


def patterns_of(people: Sequence[Person]) -> list[Pattern]:
    """Every set of quasi-identifiers that somebody has, but the empty one."""
    found = set()
    for person in set(people):
        pairs = list(enumerate(person))
        found |= {frozenset(part) for size in range(1, len(pairs) + 1) for part in combinations(pairs, size)}
    return sorted(found, key=sorted)


def matches(pattern: Pattern, person: Person) -> bool:
    return all(person[column] == value for column, value in pattern)


def size_of(pattern: Pattern, people: Sequence[Person]) -> int:
    return sum(matches(pattern, person) for person in people)


def reaches(count: int, whole: int, header: Any) -> bool:
    """Whether a rule with these counts is published."""
    bar = header.min_confidence * whole
    return bool(count >= max(1, header.min_support) and (count > bar if header.strict else count >= bar))


def published(release: Any, names: Sequence[str]) -> list[tuple[Pattern, int, dict[str, Any]]]:
    code = {value: number for number, value in enumerate(release.header.sa_values)}
    return [
        (frozenset((names.index(column), value) for column, value in line["antecedent"].items()), code[line["consequent"]], line)
        for line in release.records()
    ]


def statements(release: Any, names: Sequence[str], people: Sequence[Person]) -> list[Said]:
    """Everything that a release says: its lines, the rules that are missing, the distribution."""
    header, n = release.header, len(people)
    lines = published(release, names)
    said = []
    for pattern, value, line in lines:
        whole = size_of(pattern, people)
        fitting = [count for count in range(whole + 1) if reaches(count, whole, header) and fits(count, whole, n, line, header)]
        said.append(Said(pattern, value, min(fitting), max(fitting)))
    if header.complete:
        there = {(pattern, value) for pattern, value, _ in lines}
        for pattern in patterns_of(people):
            whole = size_of(pattern, people)
            most = max(count for count in range(whole + 1) if not reaches(count, whole, header))
            said += [Said(pattern, value, 0, most) for value in range(len(header.sa_values)) if (pattern, value) not in there]
    return said + [Said(frozenset(), value, count, count) for value, count in enumerate(header.sa_counts)]


def fits(count: int, whole: int, n: int, line: dict[str, Any], header: Any) -> bool:
    """Whether a line would print so."""
    if header.digits is None:
        return line["count"] is None or count == line["count"]
    shares = {"support": Fraction(count, n), "confidence": Fraction(count, whole)}
    told = {name: share for name, share in shares.items() if line[name] is not None}
    return all(float(printed(share, header.digits, "nearest")) == line[name] for name, share in told.items())


def largest_entropy(said: Sequence[Said], people: Sequence[Person], n_values: int) -> tuple[Floats, float]:
    """P(value | combination) of largest entropy, and that entropy in nats, by cvxpy and Clarabel.

    General solvers need an inside. What is fixed everywhere (a share of 0, a bound that is always reached) is found first by one linear
    program, which pushes every share and every slack up as far as ``LEAST``; then only what is free is left to the solver.
    """
    import cvxpy as cp

    known, sizes = combinations_of(people), Counter(people)
    weights = np.array([sizes[q] / len(people) for q in known])
    one_each, rows, lo, hi = _system(said, known, weights, n_values, len(people))
    *columns, lo, hi = np.unique(np.column_stack([rows, lo, hi]), axis=0).T  # what is said twice is one statement
    rows = np.array(columns).T
    inside, slack = _inside(one_each, rows, lo, hi)
    fixed = np.concatenate([one_each, rows[(slack < SMALL).any(axis=0)], np.eye(rows.shape[1])[inside < SMALL]])
    free = null_space(fixed, rcond=1e-10)
    share = np.where(inside < SMALL, 0.0, inside)
    if free.shape[1]:
        step = cp.Variable(free.shape[1])
        cells = np.flatnonzero(inside >= SMALL)
        moved = inside[cells] + free[cells] @ step
        loose = (slack >= SMALL).all(axis=0)
        rules = [rows[loose] @ (inside + free @ step) >= lo[loose], rows[loose] @ (inside + free @ step) <= hi[loose]]
        aim = cp.Maximize(weights.repeat(n_values)[cells] @ cp.entr(moved))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # finer than it can is no harm
            cp.Problem(aim, rules if loose.any() else []).solve(
                solver=cp.CLARABEL, tol_gap_abs=1e-13, tol_gap_rel=1e-13, tol_feas=1e-13
            )
        assert step.value is not None
        near = inside + free @ step.value
        bounds = rows[loose]
        duals = [rule.dual_value for rule in rules] if loose.any() else []
        tried = []
        for least in (1e-6, 1e-5, 1e-4, 1e-3, 1e-2):  # which bounds press, and which multipliers are the solver's noise, is tried
            fixed_too = np.concatenate([fixed, *(bounds[dual > least] for dual in duals)])
            guess = share.copy()
            guess[cells] = _polished(near, cells, null_space(fixed_too, rcond=1e-10), weights.repeat(n_values))
            if (bounds @ guess >= lo[loose] - 1e-12).all() and (bounds @ guess <= hi[loose] + 1e-12).all():
                tried.append(guess)
        share = max(tried, key=lambda one: entropy(one.reshape(-1, n_values), weights))
    shares = share.reshape(-1, n_values)
    return shares, entropy(shares, weights)


def _polished(near: Floats, cells: npt.NDArray[np.int64], free: Floats, weights: Floats) -> Floats:
    """The last digits, which the solver leaves open: Newton's method with the bounds that press taken as equations."""
    share, free, weights = np.maximum(near[cells], 1e-12), free[cells], weights[cells]
    for _ in range(30 if free.shape[1] else 0):
        slope = free.T @ (weights * (-np.log(share) - 1))
        step = free @ np.linalg.solve(free.T @ (free * (weights / share)[:, None]), slope)
        falling = step < 0
        size = min(1.0, float((-0.9 * share[falling] / step[falling]).min(initial=1.0)))
        share = share + size * step
    return share


#: Shares and slacks are pushed up to the first; what cannot reach the second is nothing.
LEAST, SMALL = 1e-3, 1e-7
_System = tuple[Floats, Floats, Floats, Floats]


def _system(said: Sequence[Said], known: Sequence[Person], weights: Floats, n_values: int, n: int) -> _System:
    """Every combination has shares that add up to 1; rows of weights between bounds."""
    one_each: Floats = np.kron(np.eye(len(known)), np.ones(n_values)).astype(np.float64)
    rows = np.zeros((len(said), len(known) * n_values))
    for row, one in zip(rows, said, strict=True):
        for q, person in enumerate(known):
            row[q * n_values + one.value] = weights[q] * matches(one.pattern, person)
    return one_each, rows, np.array([one.lo / n for one in said]), np.array([one.hi / n for one in said])


def _inside(one_each: Floats, rows: Floats, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
    """Shares that are as far from every border as ``LEAST``, or as they can be; and what the rows leave below and above."""
    cells, m = rows.shape[1], len(rows)
    zero = np.zeros((cells, 2 * m))
    push = np.block([
        [-np.eye(cells), np.eye(cells), zero],
        [-rows, np.zeros((m, cells)), np.eye(m), np.zeros((m, m))],
        [rows, np.zeros((m, cells)), np.zeros((m, m)), np.eye(m)],
    ])  # fmt: skip
    limit = np.concatenate([np.zeros(cells), -lo, hi])
    total = np.concatenate([np.zeros(cells), -np.ones(cells + 2 * m)])
    equal = np.hstack([one_each, np.zeros((len(one_each), cells + 2 * m))])
    bounds = [(0, 1)] * cells + [(0, LEAST)] * (cells + 2 * m)
    found: Any = linprog(total, A_ub=push, b_ub=limit, A_eq=equal, b_eq=np.ones(len(one_each)), bounds=bounds, method="highs")
    assert found.status == 0
    share = found.x[:cells]
    return np.where(found.x[cells : 2 * cells] < SMALL, 0.0, share), np.stack(
        [found.x[2 * cells :][:m], found.x[2 * cells + m :]]
    )


def entropy(share: Floats, weights: Floats) -> float:
    logs = np.log(share, where=share > 0, out=np.zeros_like(share))
    return float(-(weights[:, None] * share * logs).sum())


def missing_rules(release: Any, names: Sequence[str], people: Sequence[Person]) -> tuple[int, int, int]:
    """How many rules are missing, how many Theorem 3 keeps, and how many combinations these match."""
    header = release.header
    there = {(pattern, value) for pattern, value, _ in published(release, names)}
    sizes = {pattern: size_of(pattern, people) for pattern in patterns_of(people)}
    wanted = [(p, v) for p in sizes for v in range(len(header.sa_values)) if (p, v) not in there]
    light = {pattern for pattern, size in sizes.items() if _most(size, header) < header.min_support}
    kept = [
        (pattern, value)
        for pattern, value in wanted
        if not any((part, value) not in there and part in light for part in parts(pattern))
    ]
    known = combinations_of(people)
    return len(wanted), len(kept), sum(matches(pattern, q) for pattern, _ in kept for q in known)


def parts(pattern: Pattern) -> Iterator[Pattern]:
    """The smaller sets of it, but the empty one."""
    for size in range(1, len(pattern)):
        yield from map(frozenset, combinations(sorted(pattern), size))


def _most(whole: int, header: Any) -> int:
    """The most people with whom a rule does not reach the confidence."""
    bar: Fraction = header.min_confidence * whole
    return math.floor(bar) if header.strict else math.ceil(bar) - 1
