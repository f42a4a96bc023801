"""Estimates beside the truth, which only the owner of the data can do."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.errors import OptionError, nearest_column
from tacit.model.audit import Audit
from tacit.model.comparison import Comparison
from tacit.model.posterior import Posterior
from tacit.model.table import Table

Floats = npt.NDArray[np.float64]


def compare(audit: Audit, people: Table) -> Comparison:
    """The estimates of an audit of rules beside the true values of the people that they are about.

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
    """How many people of each combination have each value; raises where they are not the people that the estimates are about."""
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
