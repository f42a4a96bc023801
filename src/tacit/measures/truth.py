"""Estimates beside the truth, which only the owner of the data can do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.errors import OptionError
from tacit.model.audit import Audit
from tacit.model.table import Table


@dataclass(frozen=True, eq=False)
class Comparison:
    """How far estimates are from the truth: ``individual[q]`` nats for combination q, ``overall`` on average over all people.

    ``D_individual`` and ``D_overall`` of Zhu, Wang, Du: the Kullback-Leibler divergence of the estimate from the true distribution of the
    sensitive value. It is 0 where the estimate is the truth, and infinite where the truth was ruled out.
    """

    individual: npt.NDArray[np.float64]
    overall: float
    top_guess_right: int

    @property
    def D_individual(self) -> npt.NDArray[np.float64]:
        """The divergence of each combination, in nats, in the order of the posterior table."""
        return self.individual

    @property
    def D_overall(self) -> float:
        """The mean divergence over all people, in nats."""
        return self.overall

    @property
    def measures(self) -> Mapping[str, float]:
        """The numbers by their names in ``MEASURES``."""
        worst = float(self.individual.max(initial=0.0))
        return {"D_overall": self.overall, "D_individual_max": worst, "top_guess_right": self.top_guess_right}


def compare(audit: Audit, people: Table) -> Comparison:
    """The estimates of an audit of rules beside the true values of the people that they are about.

    >>> import tacit
    >>> people = tacit.read_table({"sex": ["F", "F", "M"], "ill": ["yes", "yes", "no"]}, qi="sex", sa="ill")
    >>> audit = tacit.audit(tacit.mine_rules(people, min_support=1, min_confidence=1), known=people.qi)
    >>> round(tacit.compare(audit, people).D_overall, 6)
    0.0
    """
    if "posterior" not in audit.tables:
        remedy = "Audit rules with known=people.qi, or with the data"
        raise OptionError("the audit estimated nobody's sensitive value", where="compare", remedy=remedy)
    table = audit.table("posterior")
    sensitive, qi = people.sa, people.qi.merged().names
    values = list(dict.fromkeys(table[sensitive.name].tolist()))
    estimate = table["posterior"].reshape(-1, len(values))
    keys = list(zip(*(table[name][:: len(values)].tolist() for name in qi), strict=True))
    number = {key: place for place, key in enumerate(keys)}
    code = {value: place for place, value in enumerate(values)}
    truth = np.zeros(estimate.shape)
    columns = [people.column(name) for name in qi]
    texts = zip(*([column.values[c] for c in column.codes.tolist()] for column in columns), strict=True)
    for key, value, weight in zip(texts, sensitive.codes.tolist(), people.weights.tolist(), strict=True):
        if key not in number or sensitive.values[value] not in code:
            remedy = "Give the data that the audited rules were made from"
            raise OptionError("the data hold people or values that the audit does not know", where="compare", remedy=remedy)
        truth[number[key], code[sensitive.values[value]]] += weight
    return _divergence(truth, estimate)


def _divergence(truth: npt.NDArray[np.float64], estimate: npt.NDArray[np.float64]) -> Comparison:
    n_q = truth.sum(axis=1, keepdims=True)
    share = truth / np.maximum(n_q, 1)
    with np.errstate(divide="ignore"):  # a true value that the estimate rules out is infinitely far
        terms = np.where(share > 0, share * (np.log(np.where(share > 0, share, 1.0)) - np.log(estimate)), 0.0)
    individual = np.maximum(terms.sum(axis=1), 0.0)
    overall = float((individual * n_q[:, 0]).sum() / max(1.0, n_q.sum()))
    right = truth[np.arange(len(truth)), estimate.argmax(axis=1)].sum() if len(truth) else 0
    return Comparison(individual, overall, int(right))
