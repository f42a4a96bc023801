"""Release in, safer release out: one module per repair, one row each in the table."""

from __future__ import annotations

from tacit.repairs import raise_threshold
from tacit.repairs.base import RepairMethod

REPAIRS: tuple[RepairMethod, ...] = (
    RepairMethod(
        raise_threshold.NAME,
        of=("itemsets",),
        propose=raise_threshold.propose,
        summary="publish only itemsets above the lowest threshold at which no attack succeeds",
        source="Atzori et al. 2005, section 3 (the threshold as the only lever)",
    ),
)

__all__ = ["REPAIRS", "RepairMethod"]
