"""T02 what-blanks-say: readers who do not take a blank for "something else", but for what it is: hidden.

Infers
    Several readings, each with its largest confidence. *Known only*: the share of a value among the records with the pattern whose value is
    shown. *Wildcard*: the same as T01, but a blank condition cell fits every value. *Share of blanks*: among the other blanks with the pattern,
    how many hide the value of a sensitive record. *Models*, trained on what the table shows: naive Bayes; and where the policy limits
    probabilities, or T02 is asked for by name, the distribution of largest entropy that shows every rule with one condition.
Assumes
    Known only, wildcard and the models need nothing but the table; the share of blanks needs what the blanks hide, which the owner knows, and a
    reader who knows that blanks were made where the value is. The policy's confidence and support decide, for models its largest probability.
Claim
    Estimates. The counts are exact; which reading a reader takes is not known, so that each is told by itself.
Cost
    That of T01 three times, and one look at every cell for naive Bayes; the largest entropy takes seconds with many different rows.
Example
    All four blanks of a table hide the value s, two of them made so that no rule tells the other two. Whoever knows that reads s in each.
Reference
    Ours; against the hiding of Li, Shirani-Mehr, Yang, DASFAA 2007. The confidence of a rule is a mean of the share among known values and that
    among blanks: where it is above the limit one of the two is, whatever is hidden in the sensitive column.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from tacit.attacks.base import Target
from tacit.attacks.sensitive.values import BEHIND_PROOFS
from tacit.attacks.tables import blank_words as words
from tacit.attacks.tables.case import Attribute, TableCase
from tacit.attacks.tables.rules import NOTHING
from tacit.attacks.tables.words import not_looked_at
from tacit.errors import LimitReached
from tacit.inference.blanks import BlankReading, naive_bayes, read_blanks
from tacit.inference.log_linear import largest_entropy
from tacit.inference.patterns import Cells
from tacit.inference.unsafe import RuleList, unsafe_rules
from tacit.model.audit import AttackRun
from tacit.model.bound import Bound
from tacit.model.caution import SURE, cautions_of
from tacit.model.event import BoxEvent
from tacit.model.finding import Finding
from tacit.model.partial import Numbers

CODE = "T02"
NAME = "what-blanks-say"


def run(target: Target) -> AttackRun:
    """What other readings of the blanks tell."""
    case = TableCase.of(target)
    if not case.at_risk:
        return AttackRun(CODE, NAME, "estimates", "unavailable", NOTHING)
    return _Outcome(target, case).run()


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """One finding: a reading, the pattern and value that it is worst for, the counts or the probability, and all rows that it tells."""

    reading: words.Reading
    attribute: Attribute
    cells: Cells
    value: int
    whole: int
    both: int
    share: float
    rows: Numbers


class _Outcome:
    """The findings of one run, written out only when they are looked at."""

    def __init__(self, target: Target, case: TableCase) -> None:
        self.target, self.case, self.bars = target, case, case.thresholds(target.policy)
        self.found: list[_Found] = []
        self.complete = True
        self.known = self.wildcard = 0.0
        self.undecided = 0
        self.models: dict[str, tuple[float, int]] = {}
        self.sure: set[int] = set()
        shares = []
        for attribute in case.attributes:
            self._rules(attribute)
            shares.append(self._blanks(attribute))
            self._models(attribute)
        known = [one for one in shares if one is not None]
        self.null_share = max(known) if known else None
        self.found.sort(key=lambda one: (-one.share, -len(one.rows), one.reading, one.cells))

    def _rules(self, attribute: Attribute) -> None:
        """The readings that count as T01 does, among others."""
        case, check = self.case.counted(attribute), lambda: self.target.limits.check(CODE)
        known = unsafe_rules(case, self.bars, reading="known-only", check=check)
        wild = unsafe_rules(case, self.bars, reading="wildcard", check=check)
        self.known, self.wildcard = max(self.known, known.worst_confidence), max(self.wildcard, wild.worst_confidence)
        self.complete &= known.complete and wild.complete
        self.undecided += known.undecided + wild.undecided
        self._add("known-only", attribute, known)
        if bool((self.case.conditions_of(attribute) < 0).any()):
            self._add("wildcard", attribute, wild)  # without blank conditions it is what T01 finds

    def _add(self, reading: words.Reading, attribute: Attribute, rules: RuleList) -> None:
        """One finding for each value that rules tell: the worst of them."""
        for value in np.unique(rules.value).tolist():
            mine = np.flatnonzero(rules.value == value)
            first, rows = int(mine[0]), np.unique(np.concatenate([rules.owners_of(one) for one in mine.tolist()]))
            cells = tuple((column, code) for column, code in enumerate(rules.cells[first].tolist()) if code >= 0)
            whole, both = int(rules.whole[first]), int(rules.both[first])
            self.found.append(_Found(reading, attribute, cells, value, whole, both, both / whole, rows))

    def _blanks(self, attribute: Attribute) -> float | None:
        """The share of the true value among other blanks; None where nobody knows what they hide."""
        if attribute.true is None:
            return None
        blank = attribute.shown < 0
        blank[attribute.rows] = True
        rows = np.flatnonzero(blank)
        at_risk = np.searchsorted(rows, attribute.rows)
        made = np.ones(len(rows), np.bool_)
        if self.case.is_declared:
            made[at_risk] = False
        others = self.case.others_of(attribute)
        read = read_blanks(
            self.case.conditions_of(attribute)[rows], attribute.true[rows], at_risk, made, self.bars, others=others
        )
        self.undecided += read.undecided
        self._add_blanks(attribute, read, rows)
        return read.largest

    def _add_blanks(self, attribute: Attribute, read: BlankReading, rows: Numbers) -> None:
        for one in read.found:
            told = _Found("blanks", attribute, one.cells, one.value, one.whole, one.both, one.both / one.whole, rows[one.rows])
            self.found.append(told)

    def _models(self, attribute: Attribute) -> None:
        """What models make of the table."""
        case = self.case.counted(attribute)
        self._model("model", attribute, naive_bayes(case.conditions, case.sensitive, case.rows))
        if CODE not in self.target.named and self.target.policy.max_posterior is None:
            return
        check = partial(self.target.limits.check, CODE)
        try:
            self._model("entropy", attribute, largest_entropy(case.conditions, case.sensitive, case.rows, check=check))
        except LimitReached:
            self.complete = False

    def _model(self, reading: words.Reading, attribute: Attribute, chance: npt.NDArray[np.float64]) -> None:
        """The probabilities of true values, or of the most probable ones; findings only where the policy limits them."""
        if not chance.shape[1]:
            return
        guessed = np.where(attribute.truth >= 0, attribute.truth, chance.argmax(axis=1))
        sure: npt.NDArray[np.float64] = np.zeros(len(guessed))
        there = guessed < chance.shape[1]
        sure[there] = chance[there, guessed[there]]
        largest, inferred = self.models.get(reading, (0.0, 0))
        over = int((sure > float(self.bars.confidence)).sum())
        self.models[reading] = max(largest, round(float(sure.max(initial=0.0)), 9)), inferred + over
        limit = self.target.policy.max_posterior
        if limit is None:
            self.sure.update(attribute.rows[sure > SURE].tolist())
            return
        for value in np.unique(guessed[sure > limit]).tolist():
            mine = (guessed == value) & (sure > limit)
            rows, share = attribute.rows[mine], float(sure[mine].max())
            self.found.append(_Found(reading, attribute, (), value, 0, 0, share, rows))

    def run(self) -> AttackRun:
        """The run with its measures and findings."""
        people = np.array([len(one.rows) for one in self.found], np.int64)
        told = len(np.unique(np.concatenate([one.rows for one in self.found]))) if self.found else 0
        share = np.array([one.share for one in self.found], np.float64)
        late = "" if self.complete else "the time limit was reached; there may be more"
        return AttackRun(
            CODE,
            NAME,
            "estimates",
            "ran" if self.complete else "stopped",
            late or "; ".join(part for part in (words.caution(self.case, self.bars), not_looked_at(self.undecided)) if part),
            people=told,
            undecided=self.undecided,
            measures={
                **self.case.figures,
                "known_only_confidence": self.known,
                "null_share_confidence": self.null_share,
                "wildcard_confidence": self.wildcard,
                **{f"{reading}_posterior": largest for reading, (largest, _) in self.models.items()},
                **{f"{reading}_inferred": inferred for reading, (_, inferred) in self.models.items()},
            },
            columns={
                "reading": np.array([one.reading for one in self.found], object),
                "pattern": np.array([words.described(self.case.pattern(one.cells, one.attribute)) for one in self.found], object),
                "column": np.array([one.attribute.name for one in self.found], object),
                "value": np.array([one.attribute.values[one.value] for one in self.found], object),
                "confidence": share,
                "count": people,
                "count_hi": people,
            },
            severity=BEHIND_PROOFS + ((1 - share) * 1e9).astype(np.int64),
            event=self.event,
            show=self.show,
            cautions=cautions_of(CODE, len(self.sure), self.case.at_risk, hidden=True),
        )

    def event(self, index: int) -> BoxEvent:
        """Who has the pattern and the value, and by which reading."""
        one = self.found[index]
        event = self.case.event(one.cells, one.attribute, one.value)
        name = "reading"
        while name in self.case.partial.people.names:
            name += "_"
        return BoxEvent(event.allowed | {name: (one.reading,)})

    def show(self, index: int) -> Finding:
        """The finding in words."""
        one = self.found[index]
        told = words.Told(
            self.case.pattern(one.cells, one.attribute),
            one.attribute.name,
            one.attribute.values[one.value],
            one.whole,
            one.both,
            one.rows.tolist(),
        )
        statement, steps = words.told(one.reading, told, one.share)
        return Finding(CODE, self.event(index), Bound.of(len(one.rows)), statement, steps=steps)
