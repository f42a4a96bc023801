"""Some lines of a release, each still knowing where it stands in its file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacit.model.release import Counts, Decimals, Itemsets, Listed, Rules


def selected(release: Listed, index: Counts) -> Listed:
    """The lines at these positions only, in this order."""
    return _itemsets(release, index) if isinstance(release, Itemsets) else _rules(release, index)


def _itemsets(release: Itemsets, index: Counts) -> Itemsets:
    return replace(
        release,
        sets=release.sets.take(index),
        lo=release.lo[index],
        hi=release.hi[index],
        support=_decimals(release.support, index),
        rounded=None if release.rounded is None else release.rounded[index],
        lines=_lines(release, index),
    )


def _rules(release: Rules, index: Counts) -> Rules:
    return replace(
        release,
        antecedents=release.antecedents.take(index),
        consequents=release.consequents.take(index),
        lo=release.lo[index],
        hi=release.hi[index],
        whole_lo=release.whole_lo[index],
        whole_hi=release.whole_hi[index],
        support=_decimals(release.support, index),
        confidence=_decimals(release.confidence, index),
        lines=_lines(release, index),
    )


def _lines(release: Listed, index: Counts) -> Counts:
    return np.array([release.line(int(i)) for i in index], np.int64) if release.lines is None else release.lines[index]


def _decimals(decimals: Decimals | None, index: Counts) -> Decimals | None:
    return None if decimals is None else Decimals(decimals.scaled[index], decimals.digits[index])
