"""Verdicts and measures over a grid of settings."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from tacit.model.audit import Verdict
from tacit.model.repair import Goal
from tacit.model.rounding import Precision
from tacit.model.shown import Drawn


@dataclass(frozen=True, slots=True)
class Cell:
    """Result for one support threshold and one k.

    ``channels`` are groups of 1 to k-1 people that follow by adding and subtracting (I01), ``deduced`` those that follow through unpublished
    itemsets (I02). Where both find nothing, all attacks were run for ``verdict`` and ``people``.
    """

    min_support: int
    k: int
    itemsets: int | None = None
    closed: int | None = None
    maximal: int | None = None
    channels: int | None = None
    groups_of_one: int | None = None
    deduced: int | None = None
    people: int | None = None
    verdict: Verdict = "incomplete"


@dataclass(frozen=True, slots=True)
class Lowest:
    """Lowest threshold without findings of I01 (``published``) and I02 (``min_support``), or None.

    Other attacks may find something there: audit the list. ``decided``: no lower threshold was merely undecided.
    """

    k: int
    published: int | None = None
    min_support: int | None = None
    decided: bool = False


class Sweep(Drawn):
    """Common part of all sweeps."""

    __slots__ = ()

    reason: str

    @property
    def finished(self) -> bool:
        """True if everything asked for was done in full."""
        return not self.reason


@dataclass(frozen=True, slots=True, repr=False)
class ItemsetSweep(Sweep):
    """Findings in itemsets by threshold (descending) and k."""

    n: int
    cells: tuple[Cell, ...]
    lowest: tuple[Lowest, ...]
    reason: str = ""

    def share(self, count: int | None) -> float | None:
        """A count as a share of all people."""
        return None if count is None or not self.n else count / self.n

    def to_dict(self) -> dict[str, Any]:
        """The record."""
        cells = [{"min_support": cell.min_support, "share": self.share(cell.min_support)} | asdict(cell) for cell in self.cells]
        lowest = [asdict(one) | {"share": self.share(one.min_support)} for one in self.lowest]
        head = {"format": "tacit.sweep/1", "of": "itemsets", "n": self.n, "finished": self.finished, "reason": self.reason}
        return head | {"cells": cells, "lowest": lowest}


Settled = Literal["exposed", "clean", "undecided"]  #: ``undecided``: nothing was found, but the bounds do not settle everything.


@dataclass(frozen=True, slots=True)
class Setting:
    """One precision of counts; None means exact.

    ``step`` people lie between two printed numbers; ``error_mean`` is the mean error of printed counts relative to true ones.
    """

    precision: Precision | None
    step: float
    findings: dict[str, int]
    people: int
    verdict: Settled
    reason: str = ""
    error_mean: float = 0.0

    @property
    def label(self) -> str:
        """The setting in words."""
        return "exact counts" if self.precision is None else self.precision.label

    def to_dict(self) -> dict[str, Any]:
        """The setting as in the record."""
        one = self.precision
        out: dict[str, Any] = {"base": one.base if one else None, "decimals": one.decimals if one else None, "step": self.step}
        out |= {"findings": dict(self.findings), "people": self.people, "verdict": self.verdict, "reason": self.reason}
        return out | {"support_error_mean": self.error_mean}


@dataclass(frozen=True, slots=True, repr=False)
class RoundingSweep(Sweep):
    """Findings in a release by precision, exact first."""

    n: int | None
    k: int
    settings: tuple[Setting, ...]
    reason: str = ""

    @property
    def finest_base(self) -> int | None:
        """The smallest base that leaves no finding."""
        return min((one.base for one in self._safe() if one.base is not None), default=None)

    @property
    def finest_decimals(self) -> int | None:
        """The most decimals that leave no finding."""
        return max((one.decimals for one in self._safe() if one.decimals is not None), default=None)

    def _safe(self) -> list[Precision]:
        return [one.precision for one in self.settings if one.verdict == "clean" and one.precision is not None]

    def to_dict(self) -> dict[str, Any]:
        """The record."""
        head = {"format": "tacit.sweep/1", "of": "rounding", "n": self.n, "k": self.k}
        head |= {"finished": self.finished, "reason": self.reason}
        finest = {"base": self.finest_base, "decimals": self.finest_decimals}
        return head | {"settings": [one.to_dict() for one in self.settings], "finest": finest}


@dataclass(frozen=True, slots=True)
class RuleForm:
    """Form of rules: exact, with decimals, or withheld."""

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
    """Result for one support, confidence and form.

    ``missing`` rules remain after pruning, ``groups`` of fewer than k people follow (R01), ``above_90`` people have an estimate above .9
    (R02), ``certain`` people a certain one (R03). ``divergence`` is D_overall (nats), ``entropy`` what the rules leave open.
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
        """Return the cell as in the record."""
        out: dict[str, Any] = {"min_support": self.min_support, "min_confidence": self.min_confidence}
        out |= {"printed_as": self.form.label} | asdict(self.form)
        out |= {"rules": self.rules, "missing_rules_kept": self.missing, "groups": self.groups}
        out |= {"max_posterior": self.max_posterior, "people_above_90": self.above_90, "people_certain": self.certain}
        out |= {"D_overall": self.divergence, "posterior_entropy": self.entropy}
        return out | {"verdict": self.verdict, "reason": self.reason}


@dataclass(frozen=True, slots=True, repr=False)
class RuleSweep(Sweep):
    """Findings in rules by support, confidence and form."""

    n: int
    cells: tuple[RuleCell, ...]
    reason: str = ""

    @property
    def richest(self) -> RuleCell | None:
        """Return the clean cell that loses the least information."""
        clean = [cell for cell in self.cells if cell.verdict == "clean" and cell.entropy is not None]
        return min(clean, key=lambda cell: cell.entropy or 0.0, default=None)

    def to_dict(self) -> dict[str, Any]:
        """The record."""
        head = {"format": "tacit.sweep/1", "of": "rules", "n": self.n, "finished": self.finished, "reason": self.reason}
        best = self.richest
        return head | {"cells": [cell.to_dict() for cell in self.cells], "richest": best.to_dict() if best else None}


@dataclass(frozen=True, slots=True)
class RepairRow:
    """Result of one repair of itemsets.

    ``verdict`` is that of the attacks asked for on the result, and ``findings`` their number; both are None, and ``reason`` says why, if there
    is no result. ``loss`` is the one by which suggestions are ordered. ``seconds`` are in no record.
    """

    method: str
    verdict: Verdict | None = None
    findings: int | None = None
    itemsets_lost: int | None = None
    itemsets_ghost: int | None = None
    support_error_mean: float | None = None
    support_error_max: float | None = None
    people_changed: int | None = None
    loss: float | None = None
    reason: str = ""
    seconds: float = field(default=0.0, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the row as in the record."""
        return {name: value for name, value in asdict(self).items() if name != "seconds"}


@dataclass(frozen=True, slots=True, repr=False)
class RepairSweep(Sweep):
    """Every repair of one list of itemsets, in the order of the table of repairs.

    ``before`` is the number of findings in the list as it is.
    """

    n: int | None
    k: int
    goal: Goal
    before: int
    rows: tuple[RepairRow, ...]
    reason: str = ""

    @property
    def cheapest(self) -> RepairRow | None:
        """Return the clean result with the least loss."""
        clean = [row for row in self.rows if row.verdict == "clean" and row.loss is not None]
        return min(clean, key=lambda row: row.loss or 0.0, default=None)

    def to_dict(self) -> dict[str, Any]:
        """The record."""
        head = {"format": "tacit.sweep/1", "of": "repairs", "n": self.n, "k": self.k, "goal": self.goal}
        head |= {"finished": self.finished, "reason": self.reason, "findings": self.before}
        best = self.cheapest
        return head | {"repairs": [row.to_dict() for row in self.rows], "cheapest": best.method if best else None}
