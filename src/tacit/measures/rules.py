"""What a repair of rules cost: rules, values, accuracy, information."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tacit.model.audit import Audit
from tacit.model.release import Rules

#: One person more or less never counts as information: estimates are computed to about this many nats.
NOISE = 1e-9


def rule_cost(before: Rules, after: Rules, audit_before: Audit, audit_after: Audit) -> Mapping[str, float]:
    """What was lost between two releases of rules.

    A support that is printed rounded is read as printed, one that is withheld as the support threshold: the least that it can be.
    """
    new = {_key(after, index): index for index in range(len(after))}
    pairs = [(index, new[key]) for index in range(len(before)) if (key := _key(before, index)) in new]
    was, now = (_read(one)[[pair[side] for pair in pairs]] for side, one in enumerate((before, after)))
    errors = np.abs(now - was)[was > 0] / was[was > 0]
    shown = sum(_prints(before, i) and not _prints(after, j) for i, j in pairs)
    cost: dict[str, float] = {
        "rules_lost": len(before) - len(pairs),
        "values_withheld": int(shown),
        "support_error_mean": float(errors.mean()) if len(errors) else 0.0,
        "support_error_max": float(errors.max()) if len(errors) else 0.0,
    }
    left_before, left_after = (audit.measures.get("posterior_entropy") for audit in (audit_before, audit_after))
    if left_before is not None and left_after is not None:
        lost = float(left_after) - float(left_before)
        cost["information_lost"] = lost if abs(lost) > NOISE else 0.0
    return cost


def _key(release: Rules, index: int) -> tuple[frozenset[str], frozenset[str]]:
    """A rule by its items."""
    names = release.items.names
    left, right = (frozenset(names[item] for item in side[index].tolist()) for side in (release.antecedents, release.consequents))
    return left, right


def _read(release: Rules) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The number of people that a reader takes each line to be about."""
    if release.support is None:
        return release.lo.astype(float)
    values = [release.support.value(index) for index in range(len(release))]
    n = release.n or 0
    return np.array([float(low if value is None else value * n) for value, low in zip(values, release.lo.tolist(), strict=True)])


def _prints(release: Rules, index: int) -> bool:
    """Whether a line prints its support."""
    return bool(release.support.text(index)) if release.support is not None else int(release.lo[index]) == int(release.hi[index])
