"""Numbers about a release, each with its unit: one row each in the table."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from tacit.measures.diversity import plain_figures
from tacit.model.audit import AttackRun
from tacit.model.buckets import Buckets
from tacit.model.items import Items
from tacit.model.partial import PartialTable
from tacit.model.release import Itemsets, Release
from tacit.model.sets import Sets
from tacit.model.transactions import Transactions


def measure(release: Release, runs: tuple[AttackRun, ...]) -> Mapping[str, float | None]:
    """The measures of one release that its audit gives."""
    if isinstance(release, PartialTable):
        return {name: value for run in runs for name, value in run.measures.items()}
    out: dict[str, float | None] = {"cells" if release.kind == "frequencies" else release.kind: len(release)}
    if isinstance(release, Buckets):
        out |= plain_figures(release) if release.n else {}
        return out | {name: value for run in runs for name, value in run.measures.items()}
    if len(release) and release.kind != "frequencies":
        out["smallest_count"] = int(release.hi.min())
    sizes = [run.sizes for run in runs if run.claim == "proves" and run.finds_groups]
    if any(run.status in ("ran", "stopped") for run in runs):
        out["groups_of_one"] = sum(one.get(1, 0) for one in sizes)
        if any(sizes):
            out["smallest_group"] = min(min(one) for one in sizes if one)
    for run in runs:
        out.update(run.measures)
    return out


def cost_of(before: Release, after: Release) -> Mapping[str, float]:
    """What a repair of itemsets cost: what was lost, what was added, how far counts moved (middles of intervals)."""
    if not isinstance(before, Itemsets) or not isinstance(after, Itemsets):
        return {}
    names = {name: i for i, name in enumerate(dict.fromkeys(before.items.names + after.items.names))}
    old, new = _keys(before, names), _keys(after, names)
    _, in_old, in_new = np.intersect1d(old, new, assume_unique=True, return_indices=True)
    was = (before.lo[in_old] + before.hi[in_old]) / 2
    moved = np.abs((after.lo[in_new] + after.hi[in_new]) / 2 - was)
    errors = moved[was > 0] / was[was > 0]
    people = {name: n for name, n in (("people_before", before.n), ("people_after", after.n)) if n is not None}
    return {
        "itemsets_lost": len(old) - len(in_old),
        "itemsets_ghost": len(new) - len(in_new),
        "supports_changed": float((moved > 0).mean()) if len(moved) else 0.0,
        "support_error_mean": float(errors.mean()) if len(errors) else 0.0,
        "support_error_max": float(errors.max()) if len(errors) else 0.0,
    } | people


def people_changed(before: Transactions, after: Transactions) -> int:
    """How many people have other items after a repair, or are new, or gone: as few as the two sets of rows allow."""
    names = {name: i for i, name in enumerate(dict.fromkeys(before.items.names + after.items.names))}
    people: dict[int, int] = {}
    for data, sign in ((before, 1), (after, -1)):
        for key, weight in zip(_hashes(data.rows, data.items, names).tolist(), data.weights.tolist(), strict=True):
            people[key] = people.get(key, 0) + sign * weight
    return max(sum(n for n in people.values() if n > 0), -sum(n for n in people.values() if n < 0))


def _keys(release: Itemsets, names: Mapping[str, int]) -> npt.NDArray[np.uint64]:
    return _hashes(release.sets, release.items, names)


def _hashes(sets: Sets, items: Items, names: Mapping[str, int]) -> npt.NDArray[np.uint64]:
    """A number per set that is the same for the same names, whatever their order in ``items``."""
    place = np.array([names[name] for name in items.names], np.int64)
    return Sets(sets.offsets, place[sets.members] if len(sets.members) else sets.members).hashes()
