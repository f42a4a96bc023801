"""How much estimates of sensitive values say: about certainty, about what is gained over the baseline, and about the diversity that is left.

All are computed once, from the arrays of a :class:`~tacit.model.posterior.Posterior`; ``docs/measures.md`` gives their formulas.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from tacit.model.policy import Policy
from tacit.model.posterior import Posterior

Floats = npt.NDArray[np.float64]

#: Probabilities of the most probable value above which people are counted, by the name of the measure.
ABOVE = {"people_above_50": 0.5, "people_above_90": 0.9, "people_above_99": 0.99}
#: A value that is less probable than this does not count as one that a person may have.
HARDLY = 0.001


def posterior_measures(found: Posterior, policy: Policy) -> Mapping[str, float]:
    """The measures of estimates, by their names in ``MEASURES``; none where nothing was estimated or nobody is known."""
    people = found.population.people
    if not found.is_estimated or len(people) == 0:
        return {}
    left, gained, distance = entropies(found.share), divergences(found), distances(found)
    out: dict[str, float] = {name: int(people[found.largest > above].sum()) for name, above in ABOVE.items()}
    out |= {
        "max_gain": float(found.gain.max()),
        "baseline_entropy": float(entropies(found.baseline[None, :])[0]),
        "knowledge_gained": _mean(gained, people),
        "knowledge_gained_max": float(gained.max()),
        "l_distinct": int((found.share >= HARDLY).sum(axis=1).min()),
        "l_entropy": float(np.exp(left.min())),
        "t_closeness": float(distance.max()),
        "t_closeness_mean": _mean(distance, people),
        "smallest_combination": int(people.min()),
    }
    if policy.max_posterior is not None:
        outside = (people < policy.k) | (found.largest > policy.max_posterior)
        out["people_outside_alpha_k"] = int(people[outside].sum())
    return out


def entropies(share: Floats) -> Floats:
    """The entropy of each row, in nats.

    >>> entropies(np.array([[0.5, 0.5], [1.0, 0.0]])).round(4).tolist()
    [0.6931, 0.0]
    """
    return np.asarray(-_times_log(share, share).sum(axis=1)) + 0.0


def divergences(found: Posterior) -> Floats:
    """What is learnt about each combination beyond the baseline: the divergence of its estimate from the baseline, in nats.

    Nothing is lost by a baseline of 0: it is the mean of the estimates, so that they are 0 there as well.
    """
    known = np.where(found.baseline > 0, found.baseline, 1.0)
    gained = (_times_log(found.share, found.share) - found.share * np.log(known)).sum(axis=1)
    return np.asarray(np.maximum(gained, 0.0))


def distances(found: Posterior) -> Floats:
    """The total variation distance of each combination's estimate from the baseline: 0 (the same) to 1."""
    return np.asarray(np.abs(found.gain).sum(axis=1) / 2)


def _times_log(factor: Floats, share: Floats) -> Floats:
    """``factor * log(share)``, 0 where the share is 0."""
    return np.asarray(factor * np.log(share, where=share > 0, out=np.zeros_like(share)))


def _mean(values: Floats, people: npt.NDArray[np.int64]) -> float:
    """The mean over all people."""
    return float(values @ people / people.sum())
