"""Which support threshold, which k: what itemsets would give away over a grid of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tacit.api import people_of, trees_of, with_coarser_items
from tacit.attacks.base import Progress, silent
from tacit.errors import LimitReached
from tacit.mining.itemsets import count_by_threshold
from tacit.model.audit import Verdict
from tacit.model.hierarchy import Hierarchy
from tacit.model.policy import Limits
from tacit.model.release import Only
from tacit.model.sweep import Cell, ItemsetSweep, Lowest
from tacit.model.table import Table
from tacit.model.transactions import Transactions
from tacit.sweeps.grid import sizes, thresholds
from tacit.sweeps.looking import Looker
from tacit.sweeps.lowest import lowest_thresholds

_LATE = "the time limit was reached; what is missing was not looked at"


def sweep_itemsets(
    data: Transactions | Table | str | Path | Any,
    *,
    min_support: Any,
    k: Any = 10,
    strict: bool = False,
    hierarchies: Mapping[str, Hierarchy] | str | Path | None = None,
    every_attack: bool = False,
    time_limit: float | None = None,
    progress: Progress = silent,
) -> ItemsetSweep:
    """What frequent itemsets would give away at every threshold and k, and the lowest threshold that I01 and I02 leave clean.

    Parameters
    ----------
    data
        Transactions, a table, a file, a frame, or a list of lists of items; as for :func:`tacit.mine_itemsets`.
    min_support
        One threshold or several: shares (``0.1``, ``"10%"``) or counts of people.
    k
        One smallest group or several.
    strict
        Read thresholds as "more than".
    hierarchies
        Coarser values of a table's columns, or a folder of files that hold them.
    every_attack
        Count what missing itemsets give away (I02) in every cell. By default I02 runs only where I01 finds nothing, which is enough for
        the verdict: at low thresholds it can take very long. Where both find nothing, the verdict is that of all attacks.
    time_limit
        Seconds after which it stops; the sweep then says that it is not finished. The highest thresholds are looked at first.
    progress
        Called with the share of the work done, from 0 to 1.

    Examples
    --------
    >>> import tacit
    >>> swept = tacit.sweep_itemsets([["a", "b"]] * 49 + [["a"]] + [["c"]] * 20, min_support=[20, 50], k=10)
    >>> [(cell.min_support, cell.channels, cell.verdict) for cell in swept.cells]
    [(50, 0, 'clean'), (20, 1, 'exposed')]
    >>> swept.lowest[0].min_support
    50
    """
    limits = Limits.within(time_limit)
    people = people_of(data)
    if isinstance(people, Table):
        people = people.select([name for name in people.names if name not in people.schema.identifying])
    trees = trees_of(hierarchies, people)
    whole = with_coarser_items(people, trees)
    rows = (whole.transactions() if isinstance(whole, Table) else whole).merged()
    grid, ks = thresholds(min_support, people.n, strict=strict), sizes(k)
    looker = Looker(people, trees, rows, np.array(ks, np.int64), limits)
    cells = {(least, one): Cell(least, one) for least in grid for one in ks}
    lowest = {one: Lowest(one) for one in ks}
    counts: dict[Only, list[int]] = {}
    reason = ""
    try:
        for done, least in enumerate(grid):
            for place, one in enumerate(ks):
                cells[least, one] = _cell(looker, least, place, every_attack)
            progress(0.5 * (done + 1) / len(grid))
        lowest_thresholds(looker, lowest, lambda share: progress(0.5 + 0.2 * share))
        kinds: tuple[Only, ...] = ("closed", "all")
        for only in kinds:
            limits.check("sweep")
            counts[only] = count_by_threshold(
                people, thresholds=grid, only=only, hierarchies=trees, time_limit=limits.seconds_left
            )
        progress(1.0)
    except LimitReached:
        reason = _LATE
    return ItemsetSweep(people.n, tuple(_counted(cells, grid, counts)), tuple(lowest.values()), reason)


def _cell(looker: Looker, least: int, place: int, every_attack: bool) -> Cell:
    """One cell, but for the numbers of itemsets."""
    look, k = looker.look(least), int(looker.k[place])
    channels, people = int(look.channels[place]), int(look.people[place])
    single = look.groups_of_one if k > 1 else 0
    if channels and not every_attack:
        return Cell(least, k, None, None, look.maximal, channels, single, None, people, "exposed")
    run = looker.deduce(least, k)
    people = max(people, run.people)
    deduced = run.findings if run.decides or run.findings else None
    verdict: Verdict = "exposed"
    if not channels and not run.findings:
        # Nothing is called clean that the other attacks, the general adversary among them, did not look at.
        whole = looker.audit_whole(least, k)
        verdict = whole.verdict
        people = max((one.people for one in whole.runs), default=0)
    return Cell(least, k, None, None, look.maximal, channels, single, deduced, people, verdict)


def _counted(cells: dict[tuple[int, int], Cell], grid: list[int], counts: dict[Only, list[int]]) -> list[Cell]:
    """The cells with the numbers of itemsets, where these were counted."""

    def number(only: Only, least: int) -> int | None:
        return counts[only][grid.index(least)] if only in counts else None

    return [replace(cell, itemsets=number("all", least), closed=number("closed", least)) for (least, _), cell in cells.items()]
