"""Numbers about a release, each with its unit: one row each in the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tacit.model.audit import AttackRun
from tacit.model.release import Itemsets, Release


@dataclass(frozen=True, slots=True)
class Measure:
    """A row of the table."""

    name: str
    unit: str
    meaning: str


MEASURES: tuple[Measure, ...] = (
    Measure("itemsets", "itemsets", "how many itemsets are published"),
    Measure("rules", "rules", "how many rules are published"),
    Measure("smallest_count", "people", "the smallest published count (its upper end where it is rounded)"),
    Measure("smallest_group", "people", "the smallest group that is proved to exist"),
    Measure("groups_of_one", "findings", "how many findings are about exactly one person"),
    Measure("itemsets_lost", "itemsets", "published before the repair and not after it"),
    Measure("itemsets_ghost", "itemsets", "published after the repair and not before it"),
    Measure("support_error_mean", "share", "mean of |new - old| / old over the itemsets published before and after"),
    Measure("support_error_max", "share", "largest |new - old| / old over the itemsets published before and after"),
)


def measure(release: Release, runs: tuple[AttackRun, ...]) -> Mapping[str, int]:
    """The measures of one release that its audit gives."""
    out: dict[str, int] = {release.kind: len(release)}
    if len(release):
        out["smallest_count"] = int(release.hi.min())
    counts = [run.columns["count_hi"] for run in runs if run.claim == "proves" and "count_hi" in run.columns]
    sizes = np.concatenate(counts) if counts else np.empty(0, np.int64)
    if any(run.status in ("ran", "stopped") for run in runs):
        out["groups_of_one"] = int((sizes == 1).sum())
        if len(sizes):
            out["smallest_group"] = int(sizes.min())
    return out


def cost_of(before: Release, after: Release) -> Mapping[str, float]:
    """What a repair of itemsets cost: what was lost, what was added, how far counts moved (middles of intervals)."""
    if not isinstance(before, Itemsets) or not isinstance(after, Itemsets):
        return {}
    old = {frozenset(before.names(i)): (int(before.lo[i]) + int(before.hi[i])) / 2 for i in range(len(before))}
    new = {frozenset(after.names(i)): (int(after.lo[i]) + int(after.hi[i])) / 2 for i in range(len(after))}
    errors = [abs(new[key] - old[key]) / old[key] for key in old.keys() & new.keys() if old[key]]
    return {
        "itemsets_lost": len(old.keys() - new.keys()),
        "itemsets_ghost": len(new.keys() - old.keys()),
        "support_error_mean": sum(errors) / len(errors) if errors else 0.0,
        "support_error_max": max(errors, default=0.0),
    }
