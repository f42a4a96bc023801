"""Measures of estimates, and of their errors.

All are computed once, from the arrays of a :class:`~tacit.model.estimates.Posterior`; ``docs/measures.md`` gives their formulas.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tacit.errors import OptionError, nearest_column
from tacit.model.arrays import Floats, Ints
from tacit.model.audit import Audit
from tacit.model.estimates import Comparison, Posterior
from tacit.model.policy import Policy
from tacit.model.table import Table

#: Thresholds of the largest posterior above which people are counted, by the name of the measure.
ABOVE = {"people_above_50": 0.5, "people_above_90": 0.9, "people_above_99": 0.99}
#: Less probable values do not count as ones that a person may have.
HARDLY = 0.001


def posterior_measures(found: Posterior, policy: Policy) -> Mapping[str, float]:
    """Return the ``MEASURES`` of estimates by name, if any."""
    people = found.population.people
    if not found.is_estimated or len(people) == 0:
        return {}
    left = entropies(found.share)
    gained = divergences(found)
    distance = distances(found)
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
    """Return the entropy of each row, in nats.

    >>> entropies(np.array([[0.5, 0.5], [1.0, 0.0]])).round(4).tolist()
    [0.6931, 0.0]
    """
    return np.asarray(-_times_log(share, share).sum(axis=1)) + 0.0


def divergences(found: Posterior) -> Floats:
    """Return each estimate's divergence from the baseline, in nats.

    Nothing is lost by a baseline of 0: it is the mean of the estimates, so that they are 0 there as well.
    """
    known = np.where(found.baseline > 0, found.baseline, 1.0)
    gained = (_times_log(found.share, found.share) - found.share * np.log(known)).sum(axis=1)
    return np.asarray(np.maximum(gained, 0.0))


def distances(found: Posterior) -> Floats:
    """Return each estimate's total variation distance from the baseline."""
    return np.asarray(np.abs(found.gain).sum(axis=1) / 2)


def _times_log(factor: Floats, share: Floats) -> Floats:
    """Return ``factor * log(share)``, 0 at share 0."""
    return np.asarray(factor * np.log(share, where=share > 0, out=np.zeros_like(share)))


def _mean(values: Floats, people: Ints) -> float:
    """Return the mean over all people."""
    return float(values @ people / people.sum())


def compare(audit: Audit, people: Table) -> Comparison:
    """Compare the estimates of an audit of rules with the true values of its people.

    >>> import tacit
    >>> people = tacit.read_table({"sex": ["F", "F", "M"], "ill": ["yes", "yes", "no"]}, qi="sex", sa="ill")
    >>> audit = tacit.audit(tacit.mine_rules(people, min_support=1, min_confidence=1), known=people.qi)
    >>> round(tacit.compare(audit, people).D_overall, 6)
    0.0
    """
    posterior = audit.posterior
    if posterior is None or not posterior.is_estimated:
        remedy = "Audit rules with known=people.qi, or with the data"
        raise OptionError("the audit estimated nobody's sensitive value", where="compare", remedy=remedy)
    truth = true_counts(posterior, people)
    n_q = truth.sum(axis=1, keepdims=True)
    share = truth / np.maximum(n_q, 1)
    ruled_out = (share > 0) & (posterior.share <= 0)  # infinitely far from the truth
    both = (share > 0) & ~ruled_out
    terms = np.where(both, share * (np.log(np.where(both, share, 1.0)) - np.log(np.where(both, posterior.share, 1.0))), 0.0)
    terms[ruled_out] = np.inf
    individual = np.maximum(terms.sum(axis=1), 0.0)
    overall = float((individual * n_q[:, 0]).sum() / max(1.0, n_q.sum()))
    return Comparison(posterior, truth, individual, overall)


def true_counts(posterior: Posterior, people: Table) -> Floats:
    """Count people by combination and value; raise on mismatch."""
    remedy = "Give the data that the audited rules were made from"
    sensitive = people.sa
    if sensitive.name != posterior.sensitive:
        raise OptionError(
            f"the rules are about {posterior.sensitive!r}, and the sensitive column of the data is {sensitive.name!r}",
            where="compare",
            remedy=nearest_column(posterior.sensitive, people.names),
        )
    for name in posterior.population.names:
        if name not in people.names:
            raise OptionError(f"the data have no column {name!r}", where="compare", remedy=remedy)
    places = posterior.population.places_of(people)
    code = {value: number for number, value in enumerate(posterior.values)}
    values = np.array([code.get(value, -1) for value in sensitive.values], np.int64)[sensitive.codes]
    if (places < 0).any() or (values < 0).any():
        raise OptionError("the data hold people or values that the audit does not know", where="compare", remedy=remedy)
    size = len(posterior.population) * len(posterior.values)
    weights = people.weights.astype(np.float64)
    counts = np.bincount(places * len(posterior.values) + values, weights, size).reshape(posterior.share.shape)
    if (counts.sum(axis=1) != posterior.population.people).any():
        raise OptionError("the data hold other people than the audit is about", where="compare", remedy=remedy)
    return np.asarray(counts, np.float64)
