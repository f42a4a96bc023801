"""Which thresholds, how many digits: what rules QI => SA would give away over a grid of both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

from tacit.api import audit, mine_rules
from tacit.attacks import ATTACKS
from tacit.attacks.base import Progress, silent
from tacit.errors import LimitReached, OptionError
from tacit.model.audit import Audit
from tacit.model.number import Threshold, share
from tacit.model.policy import Limits, Policy
from tacit.model.release import Rules
from tacit.model.rounding import Precision
from tacit.model.rule_sweep import RuleCell, RuleForm, RuleSweep
from tacit.model.table import Table
from tacit.sweeps.grid import listed, thresholds

_LATE = "the time limit was reached; what is missing was not looked at"
_NOT_ASKED = "whether anybody's value is certain and what all rules tell together were not looked at (--certain looks)"
#: The attack that bounds everybody's value: it can take minutes, so it runs where it is asked for.
_SLOW = "R03"
#: The general adversary, which decides where all other attacks find nothing.
_GENERAL = "X01"


def sweep_rules(
    people: Table,
    *,
    min_support: Any,
    min_confidence: Any,
    digits: Any = (),
    withhold_values: bool = False,
    strict: bool = False,
    incomplete: bool = False,
    policy: Policy | None = None,
    certain: bool = False,
    time_limit: float | None = None,
    progress: Progress = silent,
) -> RuleSweep:
    """What rules would give away at every support, confidence and way to print them.

    Parameters
    ----------
    people
        A table with QI and SA columns.
    min_support, min_confidence
        One threshold or several: shares (``0.1``, ``"10%"``); a support may also be a count of people.
    digits
        Numbers of decimals of printed supports to try besides exact counts.
    withhold_values
        Try lists without any number, too.
    strict, incomplete
        As for :func:`tacit.mine_rules`.
    policy
        What the publisher accepts; set ``max_posterior`` or ``max_gain`` to let estimates count.
    certain
        Bound everybody's value (R03) in every cell, and take all rules together (X01) where nothing else is found, which can take long.
        Without it a cell in which nothing is found is not called clean.
    time_limit
        Seconds after which it stops; the sweep then says that it is not finished.
    progress
        Called with the share of the work done, from 0 to 1.

    Examples
    --------
    >>> import tacit
    >>> table = {"sex": ["F"] * 40 + ["M"] * 40, "ill": ["yes"] * 39 + ["no"] * 41}
    >>> people = tacit.read_table(table, qi="sex", sa="ill")
    >>> swept = tacit.sweep_rules(people, min_support=20, min_confidence=[0.6, 0.9], withhold_values=True)
    >>> [(cell.min_confidence, cell.form.label, cell.rules, cell.groups) for cell in swept.cells]
    [(0.6, 'exact', 2, 1), (0.6, 'withheld', 2, 0), (0.9, 'exact', 2, 1), (0.9, 'withheld', 2, 0)]
    """
    if not isinstance(people, Table):
        remedy = "Read the data with tacit.read_table(.., qi=.., sa=..) first"
        raise OptionError("needs a table whose columns have roles", where="sweep_rules", remedy=remedy)
    limits, policy = Limits.within(time_limit), policy or Policy()
    supports = thresholds(min_support, people.n, strict=strict)
    grid = list(product(supports, _confidences(min_confidence), _forms(digits, withhold_values)))
    people = people.select([*people.schema.qi, *people.schema.sa]).merged()
    cells = {key: RuleCell(key[0], float(key[1]), key[2]) for key in grid}
    reason = ""
    looker = _Looker(people, strict, incomplete, policy, certain, limits)
    for done, key in enumerate(grid):
        try:
            cells[key] = looker.look(*key)
        except LimitReached:
            reason = _LATE
            break
        progress((done + 1) / len(grid))
    return RuleSweep(people.n, tuple(cells.values()), reason)


def _confidences(given: Any) -> list[Fraction]:
    """Confidence thresholds, the lowest first, each once."""
    chosen = sorted({share(one, where="--min-confidence") for one in listed(given)})
    if not chosen:
        raise OptionError("is missing", where="--min-confidence", remedy="Write for instance --min-confidence 60%,80%")
    return chosen


def _forms(digits: Any, withhold_values: bool) -> list[RuleForm]:
    """Exact counts, then fewer and fewer decimals, then no number at all."""
    wanted = sorted({int(one) if str(one).isdecimal() else one for one in listed(digits)}, reverse=True)
    for one in wanted:
        Precision(decimals=one)  # refuses what is no number of decimals
    return [RuleForm(), *(RuleForm(digits=one) for one in wanted), *([RuleForm(withheld=True)] if withhold_values else [])]


@dataclass(frozen=True, eq=False)
class _Looker:
    """Looks at one cell after the other."""

    people: Table
    strict: bool
    incomplete: bool
    policy: Policy
    certain: bool
    limits: Limits

    def look(self, support: int, confidence: Fraction, form: RuleForm) -> RuleCell:
        """One cell: the fast attacks, and the slow one where it is asked for."""
        rules = self._mined(support, confidence, form)
        codes = [attack.code for attack in ATTACKS if attack.needs == rules.kind]
        fast = self._attacked(rules, [code for code in codes if code != _SLOW])
        runs = {run.code: run for run in fast.runs}
        certain = None
        if self.certain and _SLOW in codes:
            slow = self._attacked(rules, [_SLOW])
            runs[_SLOW] = slow.attack(_SLOW)
            certain = slow.measures.get("people_certain")
            if not any(run.findings for run in runs.values()):
                runs[_GENERAL] = self._attacked(rules, [_GENERAL]).attack(_GENERAL)
        elif _SLOW in codes:
            runs[_SLOW] = replace(runs[_SLOW], status="not-asked", reason=_NOT_ASKED)
            runs[_GENERAL] = replace(runs[_GENERAL], reason="")
        verdict = Audit((), {}, self.policy, tuple(runs.values())).verdict
        reasons = [run.reason for run in runs.values() if run.status in ("stopped", "unavailable", "not-asked") and run.reason]
        known = fast.measures
        return RuleCell(
            support, float(confidence), form, len(rules), known.get("missing_rules_kept"), runs["R01"].findings,
            known.get("max_posterior"), known.get("people_above_90"), certain, known.get("D_overall"),
            known.get("posterior_entropy"), verdict, "; ".join(reasons) if verdict == "incomplete" else "",
        )  # fmt: skip

    def _mined(self, support: int, confidence: Fraction, form: RuleForm) -> Rules:
        """The rules of a cell; ``support`` is the smallest count that reaches the threshold."""
        self.limits.check("sweep")
        return mine_rules(
            self.people,
            min_support=Threshold(Fraction(support - self.strict), is_count=True),
            min_confidence=confidence,
            strict=self.strict,
            digits=form.digits,
            withhold_values=form.withheld,
            incomplete=self.incomplete,
            time_limit=self.limits.seconds_left,
        )

    def _attacked(self, rules: Rules, codes: list[str]) -> Audit:
        self.limits.check("sweep")
        return audit(rules, data=self.people, policy=self.policy, attacks=codes, time_limit=self.limits.seconds_left)
