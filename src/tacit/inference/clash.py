"""Which statements cannot all be true: weights that prove it, and as few statements as the proof needs.

Weights of the statements bound nothing at all by less than 0 people: no numbers of people keep them (Farkas). Statements are then taken away one
by one while the rest still clashes, so that none of those that are named can be spared.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

import numpy as np

from tacit.inference.bounds import components
from tacit.inference.classes import Clash, reduce
from tacit.inference.program import Infeasible, Program, Unsolved
from tacit.inference.statements import Statements

Origins = tuple[Hashable, ...]


def clashing(
    said: Statements, *, check: Callable[[], float | None] = lambda: None, stop: type[Exception] = TimeoutError
) -> Origins | None:
    """The origins of few statements that cannot all be true; None where fractions of people keep all of them, or nothing could be proved.

    When ``check`` raises ``stop``, what clashes is named as far as it is known by then.
    """
    try:
        found = _clash(said, check)
    except stop:
        return None
    if found is None:
        return None
    try:
        # The last statements go first, so that of two equal explanations the one further up is given.
        order = {one.origin: place for place, one in enumerate(said.listed)}
        for origin in sorted(found, key=lambda one: -order[one]):
            if origin in found:
                found = _clash(_only(said, [one for one in found if one != origin]), check) or found
    except stop:
        pass
    return tuple(sorted(found, key=lambda one: order[one]))


def _clash(said: Statements, check: Callable[[], float | None]) -> Origins | None:
    """Some statements that cannot all be true, proved by their weights."""
    try:
        problem = reduce(said, settle=False)
    except Clash as clash:
        return clash.origins
    for chosen in components(problem):
        program = Program(problem, chosen)
        try:
            program.most(np.zeros(len(program)), check=check)
        except Infeasible as why:
            rows = program.rows[np.flatnonzero(why.weights)].tolist()
            return tuple(dict.fromkeys(origin for row in rows for origin in problem.origins[row]))
        except Unsolved:
            continue
    return None


def _only(said: Statements, origins: Iterable[Hashable]) -> Statements:
    """The statements of these origins alone."""
    kept = set(origins)
    out = Statements(said.population, said.n_values)
    for one in said.listed:
        if one.origin in kept:
            out.say(said.events[one.event], one.value, one.lo, one.hi, one.origin)
    return out
