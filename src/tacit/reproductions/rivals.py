"""Tables that several papers share: run times of all detectors, and numbers of channels by threshold and k."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from tacit.api import audit, mine_itemsets
from tacit.model.policy import Policy
from tacit.model.reproduction import Cell, Chart, Part
from tacit.model.transactions import Transactions
from tacit.reproductions.bench import UNITS, Timing

RIVALS = ("naive", "oicd", "pmicd")
NAMES = {"naive": "naive", "oicd": "OICD", "pmicd": "PMICD", "Tacit": "Tacit"}
READING = (
    "detection only, as the papers measure it: itemsets are ready before the clock starts. Tacit's time is its whole audit call, which also "
    "compares every published count with the data. The rivals are the readable references of this package, plain Python with sums in numpy, so "
    "their times do not compare with compiled programs; how much they have to do stands beside. docs/benchmarks.md has PMICD in C++."
)


def times_part(
    name: str, title: str, what: str, timed: Sequence[tuple[float, dict[str, Timing]]], claim: str, reading: str = READING
) -> Part:
    """Seconds of every detector by ``what``, how much the rivals have to do, and whether all found the same."""
    rows = tuple(
        (x, *(times[rival].told for rival in NAMES), *(times[rival].steps for rival in RIVALS), _same(times))
        for x, times in timed
    )
    seconds = {rival: [(x, found) for x, times in timed if (found := times[rival].seconds) is not None] for rival in NAMES}
    return Part(
        name,
        title,
        reading,
        (what, *(f"{told} s" for told in NAMES.values()), *(f"{NAMES[rival]}: {UNITS[rival]}" for rival in RIVALS), "found"),
        rows,
        claim,
        frozenset(f"{told} s" for told in NAMES.values()),
        Chart(what, "seconds", tuple((NAMES[rival], tuple(points)) for rival, points in seconds.items() if points)),
    )


def _same(times: dict[str, Timing]) -> str:
    """What was found, and whether all who ran found it."""
    numbers = {timing.found for timing in times.values() if timing.found is not None}
    return f"{max(numbers):,}, all the same" if len(numbers) == 1 else f"DIFFERENT: {sorted(numbers)}"


def counts_by_support(
    name: str, title: str, reading: str, people: Transactions, shares: Sequence[float], levels: Sequence[int]
) -> Part:
    """Numbers of maximal channels by support (percent) and k: one search with the largest k, then counted for each."""
    rows: list[tuple[Cell, ...]] = []
    for share in shares:
        release = mine_itemsets(people, min_support=share / 100, only="closed")
        found = audit(release, data=people, policy=Policy(k=max(levels)), attacks=["I01"])
        sizes = np.asarray(found.table("I01")["count"])
        rows.append((share, *(int((sizes < k).sum()) for k in levels)))
    lines = [(f"k = {k}", tuple((float(row[0]), float(row[1 + i])) for row in rows)) for i, k in enumerate(levels)]  # type: ignore[arg-type]
    falls = all(earlier[i] <= later[i] for earlier, later in pairwise(rows) for i in range(1, len(levels) + 1))  # type: ignore[operator]
    free = [f"k = {k}: {_lowest_free(rows, i + 1)}" for i, k in enumerate(levels)]
    return Part(
        name,
        title,
        reading,
        ("min. support %", *(f"k = {k}" for k in levels)),
        tuple(rows),
        f"The number falls as the support rises, as the paper shows{'' if falls else ', but not at every step'}. "
        f"Lowest of these supports without a channel: {'; '.join(free)}.",
        chart=Chart("min. support %", "maximal inference channels", tuple(lines)),
    )


def _lowest_free(rows: Sequence[tuple[Cell, ...]], column: int) -> str:
    """The lowest support from which on no channel is left."""
    free = None
    for row in rows:
        if row[column]:
            break
        free = row[0]
    return "none" if free is None else f"{free:g} %"
