"""Whether some rule stays unsafe whatever is hidden."""

from __future__ import annotations

import numpy as np

from tacit.hiding.counts import Hiding
from tacit.hiding.problem import OWNER, RELEVANT, Problem


def hopeless_rules(problem: Problem, regions: frozenset[str]) -> tuple[int, int]:
    """How many rules are unsafe in every table that could be published, and how many protected cells they speak of.

    A rule is looked at alone, at its best: all its records lose their value or, where that may not be hidden, a cell of the pattern, and no
    other record loses anything. Where an owner has to publish the whole pattern and the rule is unsafe even so, nothing helps.
    """
    state = Hiding(problem, regions)
    rules, classes, k = problem.rules, problem.classes, problem.attributes
    hopeless, stuck_classes = 0, np.zeros(len(classes), bool)
    for rule in np.flatnonzero(state.unsafe).tolist():
        inside = slice(rules.start[rule], rules.start[rule + 1])
        member, role = rules.member[inside], rules.role[inside]
        pattern = [a for a in range(k) if int(rules.mask[rule]) >> a & 1]
        can_leave = state.allowed[member][:, pattern].any(axis=1)
        stuck = (role == OWNER) & ~can_leave
        if not stuck.any():
            continue
        people = classes.people[member]
        loses_value = (role == RELEVANT) & state.allowed[member, k + problem.column[rules.target[rule]]]
        loses_pattern = (role == RELEVANT) & ~loses_value & can_leave
        having = rules.having[rule] - people[loses_pattern].sum()
        both = rules.both[rule] - people[loses_value | loses_pattern].sum()
        if problem.thresholds.unsafe(np.array([having]), np.array([both]))[0]:
            hopeless += 1
            stuck_classes[member[stuck]] = True
    return hopeless, int(classes.people[stuck_classes].sum())
