"""Release in, findings out: one module per attack, one row each in the table."""

from __future__ import annotations

from tacit.attacks import channels
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
)

__all__ = ["ATTACKS", "Attack", "Target"]
