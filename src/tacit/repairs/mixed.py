"""mixed: print, withhold or withdraw each rule, whichever loses least.

Changes
    Every rule is printed, or listed without numbers, or taken out. Those that are printed have their counts as before, or supports with fewer
    decimals, the same number for all, as the header says. The list is as complete as before unless a rule is taken out; then the header says
    so. For each precision lists are grown from nothing, from what is left when the most influential rules are taken out, and from the list
    without numbers if that is safe. Rules are printed again, those first that say most by themselves, in groups that double as long as no
    attack succeeds. After a trial the list that leaves least uncertainty is finished; then rules that are still out are listed without numbers.
Guarantee
    Every line stays true of the data. Each database that fits the old list fits the new one: nothing is proved that was not proved before, and
    the largest entropy can only rise. Single estimates can still rise, so every step is audited again, and only lists in which nothing was
    found are kept.
Cost
    At most 450 audits by the fast attacks, and one of the result by all.
Example
    Of 6 doctorates 5 earn much, and all 4 women among them do. The rule about the women keeps its place and loses its number.
Reference
    Our own; named as future work by Zhu, Wang, Du, Deriving Private Information from Association Rule Mining Results, ICDE 2009, section VII.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from tacit.mining.rules import Published, publish
from tacit.model.arrays import Flags, Floats, Ints
from tacit.model.audit import Audit
from tacit.model.release import Decimals, Rules
from tacit.model.repair import Proposal, RepairCase
from tacit.model.rounding import Precision
from tacit.repairs.lists import Lines, safety
from tacit.repairs.withdraw import most_influential

NAME = "mixed"

#: What becomes of a rule: it is printed with its numbers, listed without them, or taken out.
PRINTED = 0
WITHHELD = 1
WITHDRAWN = 2
DECIMALS = (2, 1)  #: Precisions that are tried besides the present one.
#: Audits in parts of ``most_looks``: all of them, those of one cut, and those after which lists are compared.
BUDGET = 3.0
OF_CUT = 0.5
OF_TRIAL = 0.2


def propose(case: RepairCase) -> Proposal:
    """Propose the mixture that leaves least uncertainty."""
    search = _Search(case, Lines.of(case))
    begun = []
    for draft in search.drafts():
        steps = search.improve(draft)
        for _ in islice(steps, int(OF_TRIAL * case.most_looks)):
            pass
        begun.append((draft, steps))
    best, steps = min(begun, key=lambda one: one[0].loss)
    for _ in steps:
        pass
    return Proposal(print_rules(search.lines, best.form, best.levels))


@dataclass(eq=False)
class _Draft:
    """A list in which nothing is found: form and levels of its rules.

    ``loss`` is the entropy that it leaves, then how much of its rules is gone.
    """

    form: Published
    levels: Ints
    loss: tuple[float, int]


class _Search:
    """Drafts of one list within a budget of audits."""

    def __init__(self, case: RepairCase, lines: Lines) -> None:
        self.lines = lines
        self._case = case
        self._left = int(BUDGET * case.most_looks)
        #: Present levels, which no rule exceeds.
        self._start: Ints = np.where(lines.release.withheld, WITHHELD, PRINTED).astype(np.int64)
        nothing = np.full(len(lines.release), WITHDRAWN)
        self._left -= 1
        audit = case.look(print_rules(lines, Published(), nothing))
        self._nothing = nothing
        self._wanted = max(1, safety(audit))
        self._nothing_loss = _loss(audit, nothing)
        has_estimates = audit.measures.get("posterior_entropy") is not None
        self._limit = audit.policy.max_posterior if has_estimates else None
        self._order = np.argsort(-_say_alone(lines), kind="stable")

    def drafts(self) -> Iterator[_Draft]:
        """Yield lists to begin with; the first is empty."""
        for form in _forms(self.lines.release, self._start):
            yield _Draft(form, self._nothing, self._nothing_loss)
            silent = np.full_like(self._start, WITHHELD)
            audit = self._look(form, silent)
            if audit is not None and safety(audit) >= self._wanted:
                yield _Draft(form, silent, _loss(audit, silent))
            yield from self._cut(form)

    def improve(self, draft: _Draft) -> Iterator[None]:
        """Print rules, then list others, as far as is safe; one audit a step."""
        for level in (PRINTED, WITHHELD):
            may = (self._start <= level) & (draft.levels > level) & ~self._say_too_much(draft.form, level)
            waiting = self._order[may[self._order]]
            size = 1
            while len(waiting):
                levels = draft.levels.copy()
                levels[waiting[:size]] = level
                audit = self._look(draft.form, levels)
                if audit is None:
                    return
                if safety(audit) >= self._wanted:
                    draft.levels = levels
                    draft.loss = _loss(audit, levels)
                    waiting = waiting[size:]
                    size *= 2
                elif size == 1:
                    waiting = waiting[1:]
                else:
                    size = max(1, min(size, len(waiting)) // 4)
                yield

    def _look(self, form: Published, levels: Ints) -> Audit | None:
        """Audit a list, or return None when the budget is spent."""
        self._left -= 1
        return self._case.look(print_rules(self.lines, form, levels)) if self._left >= 0 else None

    def _cut(self, form: Published) -> Iterator[_Draft]:
        """Remove rules that reveal too much, then influential ones, until safe."""
        levels = np.where(self._say_too_much(form, PRINTED), WITHDRAWN, self._start)
        for _ in range(int(OF_CUT * self._case.most_looks)):
            audit = self._look(form, levels)
            if audit is None:
                return
            if safety(audit) >= self._wanted:
                yield _Draft(form, levels, _loss(audit, levels))
                return
            kept = np.flatnonzero(levels < WITHDRAWN)
            if len(kept) == 0:
                return
            levels[kept[most_influential(audit, print_rules(self.lines, form, levels))]] = WITHDRAWN

    def _say_too_much(self, form: Published, level: int) -> Flags:
        """Tell which rules exceed the limit for estimates by themselves.

        If more than this share of a group have a value, so does the estimate for a person in it.
        """
        levels = np.full_like(self._start, level)
        if self._limit is None:
            return np.zeros(len(levels), np.bool_)
        least = print_rules(self.lines, form, levels).lo
        return np.asarray(least > float(self._limit) * self.lines.wholes)


def _loss(audit: Audit, levels: Ints) -> tuple[float, int]:
    return float(audit.measures.get("posterior_entropy") or 0.0), int(levels.sum())


def _say_alone(lines: Lines) -> Floats:
    """Measure what each rule says by itself: entropy that it removes, times people."""
    n_values = max(2, len(lines.release.header.sa_values))
    share = lines.counts / np.maximum(lines.wholes, 1)
    others = (1 - share) / (n_values - 1)
    parts = [part * np.log(np.where(part > 0, part, 1.0)) for part in (share, others)]
    return np.asarray(lines.wholes * (np.log(n_values) + parts[0] + (n_values - 1) * parts[1]))


def _forms(release: Rules, start: Ints) -> list[Published]:
    """Return the form of printed rules now, then coarser ones."""
    now = release.header.digits
    if release.support is not None and now is None:
        now = int(release.support.digits.max(initial=0))
    first = Published(digits=now, with_confidence=now is not None and release.confidence is not None)
    if not release.n or not (start == PRINTED).any():
        return [first]
    coarser = [one for one in DECIMALS if (now is None or one < now) and Precision(decimals=one).step(release.n) >= 1]
    return [first, *(Published(digits=one) for one in coarser)]


def print_rules(lines: Lines, form: Published, levels: Ints) -> Rules:
    """Return the rules that are not withdrawn, each as its level says."""
    release = lines.release
    kept = np.flatnonzero(levels < WITHDRAWN)
    is_complete = release.header.complete and len(kept) == len(release)
    rounding = release.header.rounding if form.digits == release.header.digits else "half-up"
    header = replace(release.header, complete=is_complete, digits=form.digits, rounding=rounding, base=None)
    part = release.take(kept, header)
    silent = levels[kept] == WITHHELD
    told = publish(lines.counts[kept], lines.wholes[kept], header, form)
    nothing = publish(lines.counts[kept], lines.wholes[kept], header, Published(withhold_values=True))
    return replace(
        part,
        lo=np.where(silent, nothing.lo, told.lo),
        hi=np.where(silent, nothing.hi, told.hi),
        whole_lo=np.where(silent, nothing.whole_lo, told.whole_lo),
        whole_hi=np.where(silent, nothing.whole_hi, told.whole_hi),
        support=_without(told.support, silent),
        confidence=_without(told.confidence, silent),
    )


def _without(printed: Decimals | None, silent: Flags) -> Decimals | None:
    if printed is None:
        return None
    return Decimals(np.where(silent, 0, printed.scaled), np.where(silent, -1, printed.digits).astype(np.int8))
