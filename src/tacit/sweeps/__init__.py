"""A grid in, verdicts out: thresholds of itemsets and rules, precisions. Built on the verbs; nothing here decides what an attack finds."""

from __future__ import annotations

from tacit.sweeps.itemsets import sweep_itemsets
from tacit.sweeps.rounding import sweep_rounding
from tacit.sweeps.rules import sweep_rules

__all__ = ["sweep_itemsets", "sweep_rounding", "sweep_rules"]
