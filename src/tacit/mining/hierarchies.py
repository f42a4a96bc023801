"""Hierarchies of columns, built from the negative rules of their values.

Values that exclude the same sensitive values may be merged without losing a rule, and then say more, because more people lack the value. The
evidence for a rule ``X => not s`` is ``count(X) * -log(1 - P(s))``, which decides whether it has the least expectation; it adds up when values
are merged, and is lost for the sensitive values that only one side excludes. Values are merged in pairs, those first that lose the least
evidence, then those whose shares of sensitive values differ least, then in the order of their names. In a numeric column only neighbours are
merged, so that coarser values are intervals. Each level has half as many values as the one below (Li and Li, section VIII.C).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from tacit.files.engines import Engine
from tacit.files.inputs import require_table
from tacit.model.arrays import Floats, Ints
from tacit.model.errors import InputError, OptionError
from tacit.model.numbers import exact
from tacit.model.policy import Limits
from tacit.model.table import Column, Hierarchy, Names, Table

MOST_VALUES = 1_000  #: All pairs of values are compared.


def build_hierarchies(
    people: Table | Any,
    *,
    columns: Sequence[str] | None = None,
    time_limit: float | None = None,
    qi: Names = None,
    sa: Names = None,
    engine: Engine | str | None = None,
) -> dict[str, Hierarchy]:
    """Build a hierarchy for each quasi-identifying column.

    Values that exclude the same sensitive values, or similar ones, are merged first; in numeric columns only neighbours.

    Parameters
    ----------
    people
        A table whose columns have roles; or a file or frame, with ``qi`` and ``sa`` given.
    columns
        The columns to build hierarchies for; all quasi-identifying ones with at least three values by default.
    time_limit
        Seconds after which it stops with :class:`LimitReached`.
    qi, sa
        The columns with these roles, for a file or frame.
    engine
        Program that merges equal rows of a file (see :func:`tacit.engine`).

    Examples
    --------
    >>> import tacit
    >>> rows = {"job": ["cook", "nurse", "baker", "medic"] * 5, "ill": ["flu", "burn", "flu", "burn"] * 5}
    >>> people = tacit.read_table(rows, qi="job", sa="ill")
    >>> tacit.build_hierarchies(people)["job"].levels["cook"]
    ('baker and 1 more',)
    """
    people = require_table(people, "build_hierarchies", qi=qi, sa=sa, engine=engine)
    limits = Limits.within(time_limit)
    for name in columns or ():
        if name not in people.schema.qi:
            raise OptionError(f"{name!r} is not a quasi-identifying column", where="columns", remedy="Name some of the qi")
    sensitive = people.sa
    names = people.schema.qi if columns is None else columns
    chosen = [people.column(name) for name in names]
    used = {column.name: np.bincount(column.codes, people.weights, len(column.values)) > 0 for column in chosen}
    return {
        column.name: _build(column, sensitive, people.weights, limits)
        for column in chosen
        if columns is not None or np.count_nonzero(used[column.name]) > 2
    }


def _build(column: Column, sensitive: Column, weights: Ints, limits: Limits) -> Hierarchy:
    if len(column.values) > MOST_VALUES:
        what = f"has {len(column.values):,} values, too many to compare all pairs"
        raise InputError(what, where=f"column {column.name}", remedy=f"Leave it out, or give it at most {MOST_VALUES:,} values")
    size = len(column.values) * len(sensitive.values)
    key = column.codes.astype(np.int64) * len(sensitive.values) + sensitive.codes
    counts = np.bincount(key, weights, size).astype(np.int64).reshape(len(column.values), -1)
    numbers = _read_numbers(column.values)
    order = list(range(len(column.values))) if numbers is None else sorted(range(len(numbers)), key=numbers.__getitem__)
    merges = merge_order(counts[order], only_neighbours=numbers is not None, check=lambda: limits.check("build_hierarchies"))
    values = [column.values[place] for place in order]
    clusters = [[number] for number in range(len(values))]
    chains: dict[str, list[str]] = {value: [] for value in values}
    taken = set(values)
    goal = -(-len(values) // 2)
    for one, other in merges:
        clusters[one] += clusters[other]
        clusters[other] = []
        if sum(map(bool, clusters)) == goal and goal > 1:
            _add_level(chains, values, clusters, taken, is_numeric=numbers is not None)
            goal = -(-goal // 2)
    return Hierarchy(column.name, {value: tuple(chains[value]) for value in sorted(values)})


def _add_level(
    chains: dict[str, list[str]], values: Sequence[str], clusters: Sequence[list[int]], taken: set[str], *, is_numeric: bool
) -> None:
    for members in clusters:
        if len(members) < 2:
            continue
        listed = [values[number] for number in sorted(members)]
        if chains[listed[0]] and sum(chain[-1:] == chains[listed[0]][-1:] for chain in chains.values()) == len(listed):
            continue  # the same set as one level below
        name = f"{listed[0]}-{listed[-1]}" if is_numeric else f"{listed[0]} and {len(listed) - 1} more"
        while name in taken:
            name += "'"
        taken.add(name)
        for value in listed:
            chains[value].append(name)


def _read_numbers(values: Sequence[str]) -> list[Fraction] | None:
    try:
        return [exact(value, where="") for value in values]
    except OptionError:
        return None


def merge_order(counts: Ints, *, only_neighbours: bool, check: Callable[[], None] = lambda: None) -> list[tuple[int, int]]:
    """Return pairs of rows to merge, the second into the first, until one is left.

    ``counts[a, s]`` people have the value a of the column and the sensitive value s.
    """
    counts = counts.copy()
    people = counts.sum(axis=0)
    n = max(1, int(people.sum()))
    with np.errstate(divide="ignore"):
        evidence = np.where(people < n, -np.log1p(-people / n), 0.0)
    alive = np.ones(len(counts), np.bool_)
    following = list(range(1, len(counts) + 1))
    loss = np.full((len(counts), len(counts)), np.inf)
    apart = np.full_like(loss, np.inf)

    def compare(one: int, others: Ints) -> None:
        lost, far = _compare(counts[one], counts[others], evidence)
        low = np.minimum(one, others)
        high = np.maximum(one, others)
        loss[low, high] = lost
        apart[low, high] = far

    for one in range(len(counts) - 1):
        compare(one, np.arange(one + 1, one + 2 if only_neighbours else len(counts)))
    out = []
    for _ in range(len(counts) - 1):
        check()
        least = np.flatnonzero(loss.reshape(-1) <= loss.min())
        one, other = divmod(int(least[np.argmin(apart.reshape(-1)[least])]), len(counts))
        out.append((one, other))
        counts[one] += counts[other]
        alive[other] = False
        loss[other] = loss[:, other] = np.inf
        following[one] = following[other]
        if only_neighbours:
            before = np.flatnonzero(alive[:one])[-1:]
            after = np.array([following[one]] if following[one] < len(counts) else [], np.int64)
            compare(one, np.concatenate([before, after]))
        else:
            compare(one, np.flatnonzero(alive & (np.arange(len(counts)) != one)))
    return out


def _compare(one: Ints, others: Ints, evidence: Floats) -> tuple[Floats, Floats]:
    """Return the evidence lost by merging a row with each other one, and their distances."""
    mine = (one == 0) * evidence
    theirs = (others == 0) * evidence
    people = others.sum(axis=1)
    lost = one.sum() * (mine * (others > 0)).sum(axis=1) + people * (theirs * (one > 0)).sum(axis=1)
    far = np.abs(one / max(1, int(one.sum())) - others / np.maximum(1, people)[:, None]).sum(axis=1) / 2
    return np.round(lost, 9), np.round(far, 12)
