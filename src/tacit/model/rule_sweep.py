"""What rules would give away over a grid of thresholds and of ways to print them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from tacit.model.audit import Verdict


@dataclass(frozen=True, slots=True)
class RuleForm:
    """How the numbers of rules are printed: exactly, with some decimals, or not at all.

    >>> RuleForm().label, RuleForm(digits=3).label, RuleForm(withheld=True).label
    ('exact', '3 digits', 'withheld')
    """

    digits: int | None = None
    withheld: bool = False

    @property
    def label(self) -> str:
        """The form in words."""
        if self.withheld:
            return "withheld"
        return "exact" if self.digits is None else f"{self.digits} digit{'' if self.digits == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class RuleCell:
    """One support, one confidence, one form; None where something was not computed.

    ``missing`` is how many missing rules remain after pruning, ``groups`` how many groups of fewer than k people follow (R01), ``above_90`` how
    many people have a value with an estimated probability above .9 and ``max_posterior`` the largest one (R02), ``certain`` how many people's
    value is certain (R03), ``divergence`` D_overall, how far estimates are from the truth on average (nats), ``entropy`` what the rules
    leave open.
    """

    min_support: int
    min_confidence: float
    form: RuleForm
    rules: int | None = None
    missing: int | None = None
    groups: int | None = None
    max_posterior: float | None = None
    above_90: int | None = None
    certain: int | None = None
    divergence: float | None = None
    entropy: float | None = None
    verdict: Verdict = "incomplete"
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The cell as in the record, measures by their names in ``MEASURES``."""
        out: dict[str, Any] = {
            "min_support": self.min_support,
            "min_confidence": self.min_confidence,
            "printed_as": self.form.label,
        }
        out |= asdict(self.form) | {"rules": self.rules, "missing_rules_kept": self.missing, "groups": self.groups}
        out |= {"max_posterior": self.max_posterior, "people_above_90": self.above_90, "people_certain": self.certain}
        out |= {"D_overall": self.divergence, "posterior_entropy": self.entropy}
        return out | {"verdict": self.verdict, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class RuleSweep:
    """What rules would give away in every cell: supports from high to low, then confidences, then forms; ``reason`` says what was left out."""

    n: int
    cells: tuple[RuleCell, ...]
    reason: str = ""

    @property
    def finished(self) -> bool:
        """Whether all that was asked for was done."""
        return not self.reason

    @property
    def richest(self) -> RuleCell | None:
        """Of the cells that are clean, the one whose rules leave the least open."""
        clean = [cell for cell in self.cells if cell.verdict == "clean" and cell.entropy is not None]
        return min(clean, key=lambda cell: cell.entropy or 0.0, default=None)

    def to_dict(self) -> dict[str, Any]:
        """The record."""
        head = {"format": "tacit.sweep/1", "of": "rules", "n": self.n, "finished": self.finished, "reason": self.reason}
        best = self.richest
        return head | {"cells": [cell.to_dict() for cell in self.cells], "richest": best.to_dict() if best else None}
