"""Published detectors of inference channels, for comparison.

The default detector (hierarchical projection) is the attack I01 itself. These three find the same maximal channels as their papers say, in
plain Python and numpy, to compare the fast one with; they take exact lists of all or of closed itemsets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tacit.errors import OptionError
from tacit.itemsets.detectors import naive, oicd, pmicd
from tacit.itemsets.detectors.family import Emit, Family, Result
from tacit.itemsets.supports import Supports, matching_rows
from tacit.model.audit import Target


@dataclass(frozen=True, slots=True)
class Detector:
    """A row of the table of detectors."""

    name: str
    detect: Callable[[Family, Emit], Result]
    needs_data: bool
    summary: str
    source: str


DETECTORS: tuple[Detector, ...] = (
    Detector(
        naive.NAME,
        naive.detect,
        needs_data=False,
        summary="every pair of frequent itemsets, one inside the other; finds all channels and keeps the maximal ones",
        source="Atzori et al. 2005, Algorithm 1",
    ),
    Detector(
        oicd.NAME,
        oicd.detect,
        needs_data=False,
        summary="inclusion-exclusion for every closed itemset inside a maximal one",
        source="Atzori et al. 2005, Algorithm 2",
    ),
    Detector(
        pmicd.NAME,
        pmicd.detect,
        needs_data=True,
        summary="sorts the people projected on every maximal itemset and counts runs",
        source="PMICD 2008, Figure 3, its lost last run restored",
    ),
)


def detect(target: Target, supports: Supports, emit: Emit) -> Result:
    """Emit the maximal channels by the target's detector."""
    detector = next(row for row in DETECTORS if row.name == target.algorithm)
    refuse_unfit(detector, target, supports)
    if target.data is not None:
        matching_rows(supports.release, target.data)  # the findings are those of the release only if the data are its own
    return detector.detect(Family(target, supports), emit)


def refuse_unfit(detector: Detector, target: Target, supports: Supports) -> None:
    """Raise if a detector does not fit the release."""
    release = supports.release
    if detector.needs_data and target.data is None:
        what = "needs the data, which are not given"
        remedy = "Give them with --data, or choose oicd"
    elif release.only == "maximal":
        what = "needs the supports of all subsets, which maximal itemsets do not give"
        remedy = "Remove the option"
    elif not release.is_exact:
        what = "needs exact counts; those of this release are rounded"
        remedy = "Remove the option"
    elif release.n is None:
        what = "needs the number of people"
        remedy = "Give it with --n, or remove the option"
    elif supports.has_gaps:
        what = "needs the supports of all subsets; this list has gaps"
        remedy = "Remove the option"
    else:
        return
    raise OptionError(f"{detector.name} {what}", where="--algorithm", remedy=remedy)


__all__ = ["DETECTORS", "Detector", "Family", "Result", "detect"]
