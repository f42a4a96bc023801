"""The judge of clashing lines: whether any database, of fractions of people, fits some supports; decided by another program."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.optimize import linprog

from tests.itemsets.naive_channels import Interval, subsets


def fits(supports: Mapping[frozenset[str], Interval]) -> bool:
    """Whether numbers of people per combination of items, none negative, have these supports; the empty set stands for n."""
    if not supports:
        return True
    rows = list(subsets(set().union(*supports)))
    held = np.array([[float(items <= row) for row in rows] for items in supports])
    ends = np.array(list(supports.values()), float)
    matrix, bounds = np.concatenate((held, -held)), np.concatenate((ends[:, 1], -ends[:, 0]))
    return bool(linprog(np.zeros(len(rows)), A_ub=matrix, b_ub=bounds, method="highs").status == 0)


def negative_sums(supports: Mapping[frozenset[str], Interval]) -> list[list[frozenset[str]]]:
    """The sets of every inclusion-exclusion sum that is known and negative even with the most favourable values."""
    found = []
    for whole in supports:
        for part in subsets(whole):
            between = [part | more for more in subsets(whole - part)]
            if all(x in supports for x in between):
                signs = {x: (-1) ** len(x - part) for x in between}
                if sum(sign * supports[x][0 if sign < 0 else 1] for x, sign in signs.items()) < 0:
                    found.append(between)
    return found
