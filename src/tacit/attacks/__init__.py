"""Release in, findings out: one module per attack, one row each in the table."""

from __future__ import annotations

from tacit.attacks import channels, unpublished
from tacit.attacks.base import Attack, Target

ATTACKS: tuple[Attack, ...] = (
    Attack(
        channels.CODE,
        channels.NAME,
        needs="itemsets",
        claim="proves",
        run=channels.run,
        summary="groups of fewer than k people, by adding and subtracting published supports",
        source="Atzori et al. 2005; PMICD 2008",
    ),
    Attack(
        unpublished.CODE,
        unpublished.NAME,
        needs="itemsets",
        claim="proves",
        run=unpublished.run,
        summary="groups of fewer than k people, through itemsets that a complete list leaves out",
        source="Atzori et al. 2005, section 3; Calders and Goethals 2002",
    ),
)

__all__ = ["ATTACKS", "Attack", "Target"]
