"""A grid in, verdicts out: thresholds of itemsets, precisions of a release. Built on the verbs; nothing here decides what an attack finds."""

from __future__ import annotations

from tacit.sweeps.itemsets import sweep_itemsets
from tacit.sweeps.rounding import sweep_rounding

__all__ = ["sweep_itemsets", "sweep_rounding"]
