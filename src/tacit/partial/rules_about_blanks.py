"""T01 rules-about-blanks: blank sensitive cells of a table, predicted by rules that the rest of the table shows.

Infers
    Rules ``condition cells => value`` that more records than the support show, and more than the confidence of those that fit the conditions.
    A person who fits the conditions, and whose cell is blank, is taken to have the value.
Assumes
    The reader has the table. A blank condition cell fits nothing; a record whose sensitive cell is blank counts among those that fit, and
    never among those that show the value. The owner declares which rows are sensitive, and may give the table before cells were hidden: then
    only rules that predict the true value count. Without that, every blank sensitive cell is at risk, whatever value a rule predicts.
Claim
    Proves. The counts are exact, both thresholds are strict; that the reader believes such a rule is what the thresholds say.
Cost
    Each pattern of the sensitive records' cells is counted once, among distinct rows, and only while enough records show a value:
    less than a second for a million rows, seven conditions and dozens of sensitive records.
Example
    Of six records with the same condition four show the value s, and two are blank: 4 / 6 is above 0.55, so both blanks are predicted.
Reference
    Li, Shirani-Mehr, Yang, Protecting Individual Information Against Inference Attacks in Data Publishing, DASFAA 2007, section 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.model.arrays import Floats, Ints
from tacit.model.audit import AttackRun, Target
from tacit.model.finding import BoxEvent, Finding, certificate, remark
from tacit.model.numbers import Bound
from tacit.model.words import BlankRule, describe_pattern
from tacit.partial import words
from tacit.partial.case import Attribute, TableCase
from tacit.partial.unsafe_rules import RuleList, unsafe_rules

CODE = "T01"
NAME = "rules-about-blanks"
NOTHING = "no sensitive cell is blank, and no rows to protect are named"


def run(target: Target) -> AttackRun:
    """Find the rules that predict blank cells."""
    case = TableCase.of(target)
    if not case.at_risk:
        return AttackRun(CODE, NAME, "proves", "not-relevant", reason=NOTHING)
    return _Outcome(target, case).run()


class _Outcome:
    def __init__(self, target: Target, case: TableCase) -> None:
        self.case = case
        self.index = target.index
        self.bars = case.thresholds(target.policy)
        self.found: list[tuple[Attribute, RuleList]] = [
            (one, unsafe_rules(case.rule_inputs(one), self.bars, check=lambda: target.limits.check(CODE)))
            for one in case.attributes
        ]
        #: Each finding: which attribute, which of its rules; or -1 - value where a cell that is to be protected is shown as it is.
        shown = []
        for place, (attribute, _) in enumerate(self.found):
            values = np.unique(attribute.shown[case.still_shown(attribute)])
            shown += [(place, -1 - int(value)) for value in values.tolist()]
        every = [(place, rule) for place, (_, rules) in enumerate(self.found) for rule in range(len(rules))]
        every.sort(key=lambda one: (-self._confidence(*one), one))
        self.listed = np.array(shown + every, np.int64).reshape(-1, 2)

    def _confidence(self, place: int, rule: int) -> float:
        rules = self.found[place][1]
        return 1.0 if rule < 0 else float(rules.both[rule] / rules.whole[rule])

    def rows(self, place: int, rule: int) -> Ints:
        attribute, rules = self.found[place]
        if rule >= 0:
            return rules.owners_of(rule)
        shown = self.case.still_shown(attribute)
        return np.asarray(shown[attribute.shown[shown] == -1 - rule], np.int64)

    def run(self) -> AttackRun:
        rows = [self.rows(*one) for one in self.listed.tolist()]
        people = self.case.count(np.unique(np.concatenate(rows))) if rows else 0
        complete = all(rules.complete for _, rules in self.found)
        undecided = sum(rules.undecided for _, rules in self.found)
        return AttackRun(
            CODE,
            NAME,
            "proves",
            "ran" if complete else "stopped",
            reason=words.view(self.case, undecided) if complete else "the time limit was reached; there may be more rules",
            people=people,
            undecided=undecided,
            measures={
                **self.case.figures,
                "unsafe_rules": sum(len(rules) for _, rules in self.found),
                "rule_confidence": max((rules.worst_confidence for _, rules in self.found), default=0.0),
                "records_told": people,
            },
            columns=self._columns([self.case.count(some) for some in rows]),
            severity=((1 - self._confidences()) * 1e9).astype(np.int64),
            event=self.event,
            show=self.show,
        )

    def _confidences(self) -> Floats:
        return np.array([self._confidence(*one) for one in self.listed.tolist()], np.float64)

    def _columns(self, people: list[int]) -> Mapping[str, npt.NDArray[Any]]:
        counts = np.array([self._counts(*one) for one in self.listed.tolist()], np.int64).reshape(-1, 2)
        events = [self._parts(*one) for one in self.listed.tolist()]
        texts = np.array([describe_pattern(self.case.pattern(cells, attribute)) for cells, attribute, _ in events], object)
        attributes = np.array([attribute.name for _, attribute, _ in events], object)
        values = np.array([attribute.values[value] for _, attribute, value in events], object)
        count = np.array(people, np.int64)
        out: dict[str, npt.NDArray[Any]] = {"pattern": texts, "column": attributes, "value": values}
        out |= {"support": counts[:, 1], "whole": counts[:, 0], "confidence": self._confidences()}
        return out | {"count": count, "count_hi": count}

    def _counts(self, place: int, rule: int) -> tuple[int, int]:
        rules = self.found[place][1]
        if rule < 0:
            return (self.case.count(self.rows(place, rule)),) * 2
        return int(rules.whole[rule]), int(rules.both[rule])

    def _parts(self, place: int, rule: int) -> tuple[list[tuple[int, int]], Attribute, int]:
        attribute, rules = self.found[place]
        if rule < 0:
            return [], attribute, -1 - rule
        cells = [(column, code) for column, code in enumerate(rules.cells[rule].tolist()) if code >= 0]
        return cells, attribute, int(rules.value[rule])

    def event(self, index: int) -> BoxEvent:
        return self.case.event(*self._parts(*self.listed[index].tolist()))

    def show(self, index: int) -> Finding:
        place, rule = self.listed[index].tolist()
        cells, attribute, value = self._parts(place, rule)
        rows = self.case.partial.number_people(self.rows(place, rule))
        whole, both = self._counts(place, rule)
        pattern = self.case.pattern(cells, attribute)
        told = BlankRule(pattern, attribute.name, attribute.values[value], whole, both=both, rows=rows.tolist())
        statement, steps = told.state_shown() if rule < 0 else told.state(self.bars.confidence, self.bars.support)
        because = told.cite(self.index, self.case.partial.line)
        event = self.event(index)
        count = Bound.of(len(rows))
        counts = {"records": whole, "showing": both} if rule >= 0 else {}
        proof = certificate(event, count, counts=counts, lines=[self.case.partial.line(row) for row in rows.tolist()])
        return Finding(CODE, event, count, statement, because=because, derivation=tuple(map(remark, steps)), certificate=proof)
