"""Bounds of how many of the known people can have each sensitive value."""

from __future__ import annotations

import numpy as np

from tacit.attacks.sensitive.case import PeopleCase
from tacit.attacks.sensitive.several import SeveralCase
from tacit.errors import LimitReached
from tacit.inference.bounds import Bounds, bound
from tacit.inference.branching import NoWhole
from tacit.inference.clash import clashing
from tacit.inference.classes import Clash, Problem, reduce
from tacit.inference.program import Infeasible
from tacit.inference.statements import Numbers, Statements
from tacit.model.policy import Limits

#: Without a time limit the search ends after this much work: a few minutes, and the same findings on every machine.
USUAL_WORK = 150_000_000
#: Bounds take this share of the time at most; the rest is for proofs of what they show.
BOUNDING = 0.7
#: Of more lines of several releases only what single ones settle is concluded: every program would have a row for each of them.
MOST_LINES = 10_000


def bounds_together(case: SeveralCase, limits: Limits, people: Numbers | None = None) -> tuple[Statements, Bounds]:
    """All that several releases say, and its bounds: of everybody, which are found once, or of those with ``people`` only.

    Of a few people it is only looked at which values they can have. Everybody's bounds take half of the time at most: what is certain only
    together is looked for after that.
    """
    known: tuple[Statements, Bounds] | None = case.remembered.get("bounds")
    if known is None or people is not None:
        said = all_said(case)
        known = said, bounds_of(case, said, limits if people is not None else limits.part(0.5), people)
        if people is None:
            case.remembered["bounds"] = known
    return known


def bounds_of(case: PeopleCase, said: Statements, limits: Limits, people: Numbers | None = None) -> Bounds:
    """The bounds of all combinations, or of those with ``people`` only; raises where no people keep all that is said."""

    def check() -> float | None:
        limits.check("R03")
        return limits.seconds_left

    problem: Problem | None = None
    try:
        problem = reduce(said)
        work = USUAL_WORK if limits.deadline is None else None
        work = 0 if isinstance(case, SeveralCase) and case.n_lines > MOST_LINES else work
        own = case.population.people if people is None else people
        return bound(problem, own, check=check, stop=LimitReached, most_work=work, tight=people is None)
    except Clash as clash:
        case.refuse(clashing(said, check=check, stop=LimitReached) or clash.origins)
    except Infeasible:
        case.refuse(clashing(said, check=check, stop=LimitReached) or [one.origin for one in said.listed])
    except NoWhole as why:
        assert problem is not None
        case.refuse([origin for row in why.rows for origin in problem.origins[row]])


def all_said(case: PeopleCase) -> Statements:
    """Everything that the release says: its lines, its distribution, and every missing rule that says something."""
    said = case.published()
    missing = case.missing
    for event, value in np.argwhere(missing.most < missing.wholes[:, None]).tolist():
        missing.say(said, event, value)
    return said
