"""T02 what-blanks-say: values that readers infer from blanks if they know that a blank hides something.

Infers
    Several readings, each with its largest confidence. *Known only*: the share of a value among the records with the pattern whose value is
    shown. *Wildcard*: as T01, but a blank condition cell fits every value. *Share of blanks*: among the other blanks with the pattern,
    how many hide the value of a sensitive record. *Models*, trained on what the table shows: naive Bayes; and where the policy limits
    probabilities, or T02 is asked for by name, the maximum-entropy model that fits every rule with one condition.
Assumes
    Known only, wildcard and the models need nothing but the table; the share of blanks needs the hidden values, which the owner knows, and a
    reader who knows that blanks were made because of the value. The policy's confidence and support decide, for models its largest probability.
Claim
    Estimates. The counts are exact; the reading that a reader takes is not known, so each is reported by itself.
Cost
    That of T01 three times, and one pass over all cells for naive Bayes; maximum entropy takes seconds with many different rows.
Example
    All four blanks of a table hide the value s, two of them made so that no rule predicts the other two. A reader who knows
    that reads s in each.
Reference
    Ours; against the hiding of Li, Shirani-Mehr, Yang, DASFAA 2007. The confidence of a rule is a mean of the share among known values and that
    among blanks: if it exceeds the limit, so does one of the two, whatever is hidden in the sensitive column.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tacit.known.sensitive_values import BEHIND_PROOFS
from tacit.model.arrays import Codes, Flags, Floats, Ints
from tacit.model.audit import SURE, AttackRun, Target, cautions_of
from tacit.model.errors import LimitReached
from tacit.model.finding import BoxEvent, Finding, remark
from tacit.model.numbers import Bound
from tacit.model.partial import Thresholds
from tacit.model.policy import Check
from tacit.model.words import BlankRule, describe_pattern
from tacit.partial import words
from tacit.partial.case import Attribute, TableCase
from tacit.partial.rules_about_blanks import NOTHING
from tacit.partial.unsafe_rules import Cells, DistinctRows, Node, RuleList, count_people, unsafe_rules, walk_with_others
from tacit.solve.entropy import linear_algebra

CODE = "T02"
NAME = "what-blanks-say"
PENALTY = 1.0  #: L2 penalty of the weights: a normal prior.


@dataclass(frozen=True, slots=True, eq=False)
class BlankShare:
    """Pattern with ``both`` of ``whole`` other blanks hiding ``value``."""

    cells: Cells
    value: int
    whole: int
    both: int
    rows: Ints


@dataclass(frozen=True, slots=True, eq=False)
class BlankReading:
    """Largest share of any sensitive record, and excessive shares."""

    largest: float = 0.0
    found: tuple[BlankShare, ...] = ()
    undecided: int = 0


def read_blanks(
    conditions: Codes,
    truth: Codes,
    rows: Ints,
    made: Flags,
    bars: Thresholds,
    *,
    others: int = 0,
    people: Ints | None = None,
) -> BlankReading:
    """Infer values from other blanks with the same pattern.

    The reader knows for which values blanks were made. ``conditions`` and ``truth`` are those of the records whose sensitive cell is
    blank (-1: unknown even to the owner), ``rows`` are the records to protect, ``made`` marks the blanks made to protect others. For each
    record to protect, and each pattern of its published cells, the share of its value among the *other* blanks with the pattern counts; a
    pattern needs more of them than the support, the empty one (all blanks) does not. A share counts against the table only if some of
    those blanks were made: the records to protect were the owner's choice. The last ``others`` columns of the conditions have no role. A row
    stands for so many ``people``, by default for one.
    """
    owners = rows[truth[rows] >= 0]
    if not len(owners) or (len(truth) if people is None else people.sum()) < 2:
        return BlankReading()
    columns = [conditions[:, place] for place in range(conditions.shape[1])]
    blanks = DistinctRows.of([*columns, truth, made.astype(np.int32)], people)
    holders = DistinctRows.of([*(column[owners] for column in columns), truth[owners]])
    starts, members = holders.members()
    width = int(truth.max(initial=-1)) + 2
    value = blanks.cells[-2] + 1
    mine = holders.cells[-1]
    largest = 0.0
    best: dict[int, tuple[Cells, int, int]] = {}
    exposed: dict[int, list[Ints]] = {}

    def visit(node: Node) -> bool:
        nonlocal largest
        counts = np.bincount(value[node.rows], blanks.weights[node.rows], minlength=width).astype(np.int64)
        whole = int(counts.sum()) - 1
        is_made = bool(blanks.cells[-1][node.rows].any())
        deeper = False
        for code in np.unique(mine[node.owners]).tolist():
            both = int(counts[code + 1]) - 1
            deeper |= both > bars.support
            if whole <= 0 or (node.cells and both <= bars.support):
                continue
            largest = max(largest, both / whole)
            if is_made and both > bars.most_safe(whole):
                places = node.owners[mine[node.owners] == code].tolist()
                exposed.setdefault(code, []).extend(members[starts[one] : starts[one + 1]] for one in places)
                known = best.get(code)
                if known is None or (both * known[1], both) > (known[2] * whole, known[2]):
                    best[code] = node.cells, whole, both
        return deeper or not node.cells

    undecided = walk_with_others(blanks.cells[:-2], holders.cells[:-1], visit, others=others, root=True)
    found = (
        BlankShare(cells, code, whole, both, rows=np.unique(owners[np.concatenate(exposed[code])]))
        for code, (cells, whole, both) in sorted(best.items())
    )
    return BlankReading(largest, tuple(found), undecided)


def naive_bayes(conditions: Codes, values: Codes, rows: Ints, people: Ints | None = None) -> Floats:
    """Return P(value | published cells) by naive Bayes, rows x values.

    A row stands for so many ``people``, by default for one. Cells have Laplace smoothing, values have none. The result is empty if no value
    is known.
    """
    known = values >= 0
    number = int(values.max(initial=-1)) + 1
    counts = count_people(values[known], None if people is None else people[known], number).astype(float)
    with np.errstate(divide="ignore"):
        score = np.tile(np.log(counts / max(1.0, counts.sum())), (len(rows), 1))
    for place in range(conditions.shape[1]):
        # Only values that the table shows are possible: a code may be kept free for blanks.
        different, cells = np.unique(conditions[:, place], return_inverse=True)
        blanks = int((different < 0).sum())
        cells = cells.reshape(-1) - blanks
        width = len(different) - blanks
        seen = known & (cells >= 0)
        place_of = values[seen].astype(np.int64) * width + cells[seen]
        pairs = count_people(place_of, None if people is None else people[seen], number * width).reshape(number, width)
        chance = np.log((pairs + 1) / (pairs.sum(axis=1, keepdims=True) + max(1, width)))
        shown = cells[rows] >= 0
        score[shown] += chance[:, cells[rows][shown]].T
    return _softmax(score) if number and len(rows) else score


def maximum_entropy(
    conditions: Codes, values: Codes, rows: Ints, people: Ints | None = None, *, check: Check = lambda: None
) -> Floats:
    """Return P(value | published cells) by maximum entropy, rows x values.

    A row stands for so many ``people``, by default for one.
    """
    from scipy.optimize import minimize

    known = np.flatnonzero(values >= 0)
    number = int(values.max(initial=-1)) + 1
    if not number or not len(rows):
        return np.zeros((len(rows), number))
    merged = DistinctRows.of(
        [*(conditions[known, place] for place in range(conditions.shape[1])), values[known]],
        None if people is None else people[known],
    )
    width, encode = _encoder(conditions)
    features = encode(np.stack(merged.cells[:-1], axis=1))
    back = features.T.tocsr()
    weight = merged.weights.astype(float)
    seen = np.zeros((len(weight), number))
    seen[np.arange(len(weight)), merged.cells[-1]] = weight

    def dual(flat: Floats) -> tuple[float, Floats]:
        """Return the negative penalised log-likelihood and its gradient."""
        check()
        weights = flat.reshape(width, number)
        score = features @ weights
        score -= score.max(axis=1, keepdims=True)
        total = np.exp(score).sum(axis=1, keepdims=True)
        likelihood = float((seen * (score - np.log(total))).sum())
        slope = back @ (np.exp(score) / total * weight[:, None] - seen)
        # The feature of all records is not penalised: shares of values are as the table shows them.
        slope[:-1] += PENALTY * weights[:-1]
        return PENALTY / 2 * float((weights[:-1] ** 2).sum()) - likelihood, slope.reshape(-1)

    start = np.zeros(width * number)
    # Start from the shares of the values, which are right without any condition.
    counts = seen.sum(axis=0)
    start[-number:] = np.log(np.maximum(counts, 0.5) / counts.sum())
    options: Any = {"maxiter": 300, "ftol": 1e-12, "gtol": 1e-7}
    with linear_algebra().limit(limits=1, user_api="blas"):  # a step adds few numbers, and threads would wait for each other
        found = minimize(dual, start, jac=True, method="L-BFGS-B", options=options)
    shares = _softmax(encode(conditions[rows]) @ found.x.reshape(width, number))
    shares[:, counts == 0] = 0.0
    return np.asarray(shares / shares.sum(axis=1, keepdims=True), np.float64)


def _encoder(conditions: Codes) -> tuple[int, Callable[[Codes], Any]]:
    from scipy.sparse import csr_array

    starts = np.cumsum([0, *(int(conditions[:, place].max(initial=-1)) + 1 for place in range(conditions.shape[1]))])
    width = int(starts[-1]) + 1

    def encode(cells: Codes) -> Any:
        shown = cells >= 0
        features = np.where(shown, cells + starts[:-1], width - 1)
        columns = np.append(features, np.full((len(cells), 1), width - 1), axis=1)
        weights = np.append(shown, np.ones((len(cells), 1), np.bool_), axis=1).astype(float)
        offsets = np.arange(len(cells) + 1) * columns.shape[1]
        return csr_array((weights.reshape(-1), columns.reshape(-1), offsets), shape=(len(cells), width))

    return width, encode


def _softmax(score: Floats) -> Floats:
    weight = np.exp(score - score.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True), np.float64)


def run(target: Target) -> AttackRun:
    """Find what other readings of the blanks reveal."""
    case = TableCase.of(target)
    if not case.at_risk:
        return AttackRun(CODE, NAME, "estimates", "not-relevant", reason=NOTHING)
    return _Outcome(target, case).run()


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    reading: words.Reading
    attribute: Attribute
    cells: Cells
    value: int
    whole: int
    both: int
    share: float
    rows: Ints


class _Outcome:
    def __init__(self, target: Target, case: TableCase) -> None:
        self.target = target
        self.case = case
        self.bars = case.thresholds(target.policy)
        self.found: list[_Found] = []
        self.complete = True
        self.known = self.wildcard = 0.0
        self.undecided = 0
        self.models: dict[str, tuple[float, int]] = {}
        self.sure: set[int] = set()  #: Rows.
        shares = []
        for attribute in case.attributes:
            self._rules(attribute)
            shares.append(self._blanks(attribute))
            self._models(attribute)
        self.null_share = max((one for one in shares if one is not None), default=None)
        self.found.sort(key=lambda one: (-one.share, -self.case.count(one.rows), one.reading, one.cells))

    def _rules(self, attribute: Attribute) -> None:
        case = self.case.rule_inputs(attribute)
        check = partial(self.target.limits.check, CODE)
        known = unsafe_rules(case, self.bars, reading="known-only", check=check)
        wild = unsafe_rules(case, self.bars, reading="wildcard", check=check)
        self.known = max(self.known, known.worst_confidence)
        self.wildcard = max(self.wildcard, wild.worst_confidence)
        self.complete &= known.complete and wild.complete
        self.undecided += known.undecided + wild.undecided
        self._add("known-only", attribute, known)
        if bool((self.case.conditions_about(attribute) < 0).any()):
            self._add("wildcard", attribute, wild)  # without blank conditions it is what T01 finds

    def _add(self, reading: words.Reading, attribute: Attribute, rules: RuleList) -> None:
        for value in np.unique(rules.value).tolist():
            mine = np.flatnonzero(rules.value == value)
            first = int(mine[0])
            rows = np.unique(np.concatenate([rules.owners_of(one) for one in mine.tolist()]))
            cells = tuple((column, code) for column, code in enumerate(rules.cells[first].tolist()) if code >= 0)
            whole = int(rules.whole[first])
            both = int(rules.both[first])
            self.found.append(_Found(reading, attribute, cells, value, whole=whole, both=both, share=both / whole, rows=rows))

    def _blanks(self, attribute: Attribute) -> float | None:
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
        conditions = self.case.conditions_about(attribute)[rows]
        people = self.case.partial.weights[rows]
        read = read_blanks(conditions, attribute.true[rows], at_risk, made, bars=self.bars, others=others, people=people)
        self.undecided += read.undecided
        for one in read.found:
            counts = (one.whole, one.both, one.both / one.whole)
            self.found.append(_Found("blanks", attribute, one.cells, one.value, *counts, rows=rows[one.rows]))
        return read.largest

    def _models(self, attribute: Attribute) -> None:
        case = self.case.rule_inputs(attribute)
        self._model("model", attribute, naive_bayes(case.conditions, case.sensitive, case.rows, case.people))
        if CODE not in self.target.named and self.target.policy.max_posterior is None:
            return
        check = partial(self.target.limits.check, CODE)
        try:
            self._model(
                "entropy", attribute, maximum_entropy(case.conditions, case.sensitive, case.rows, case.people, check=check)
            )
        except LimitReached:
            self.complete = False

    def _model(self, reading: words.Reading, attribute: Attribute, chance: Floats) -> None:
        if not chance.shape[1]:
            return
        guessed = np.where(attribute.truth >= 0, attribute.truth, chance.argmax(axis=1))
        sure: Floats = np.zeros(len(guessed))
        there = guessed < chance.shape[1]
        sure[there] = chance[there, guessed[there]]
        largest, inferred = self.models.get(reading, (0.0, 0))
        over = self.case.count(attribute.rows[sure > float(self.bars.confidence)])
        self.models[reading] = max(largest, round(float(sure.max(initial=0.0)), 9)), inferred + over
        limit = self.target.policy.max_posterior
        if limit is None:
            self.sure.update(attribute.rows[sure > SURE].tolist())
            return
        for value in np.unique(guessed[sure > limit]).tolist():
            mine = (guessed == value) & (sure > limit)
            share = float(sure[mine].max())
            self.found.append(_Found(reading, attribute, (), value, 0, both=0, share=share, rows=attribute.rows[mine]))

    def run(self) -> AttackRun:
        people = np.array([self.case.count(one.rows) for one in self.found], np.int64)
        exposed = self.case.count(np.unique(np.concatenate([one.rows for one in self.found]))) if self.found else 0
        share = np.array([one.share for one in self.found], np.float64)
        reason = "; ".join(part for part in (words.caution(self.case, self.bars), words.not_looked_at(self.undecided)) if part)
        return AttackRun(
            CODE,
            NAME,
            "estimates",
            "ran" if self.complete else "stopped",
            reason=reason if self.complete else "the time limit was reached; there may be more findings",
            people=exposed,
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
                "pattern": np.array(
                    [describe_pattern(self.case.pattern(one.cells, one.attribute)) for one in self.found], object
                ),
                "column": np.array([one.attribute.name for one in self.found], object),
                "value": np.array([one.attribute.values[one.value] for one in self.found], object),
                "confidence": share,
                "count": people,
                "count_hi": people,
            },
            severity=BEHIND_PROOFS + ((1 - share) * 1e9).astype(np.int64),
            event=self.event,
            show=self.show,
            cautions=cautions_of(
                CODE, self.case.count(np.array(sorted(self.sure), np.int64)), self.case.at_risk, about="hidden value"
            ),
        )

    def event(self, index: int) -> BoxEvent:
        one = self.found[index]
        event = self.case.event(one.cells, one.attribute, one.value)
        name = "reading"
        while name in self.case.partial.people.names:
            name += "_"
        return BoxEvent(event.allowed | {name: (one.reading,)})

    def show(self, index: int) -> Finding:
        one = self.found[index]
        pattern = self.case.pattern(one.cells, one.attribute)
        value = one.attribute.values[one.value]
        rows = self.case.partial.number_people(one.rows)
        told = BlankRule(pattern, one.attribute.name, value, one.whole, both=one.both, rows=rows.tolist())
        statement, steps = words.told(one.reading, told, one.share)
        derivation = tuple(map(remark, steps))
        probability = one.share if one.reading in ("model", "entropy") else None
        count = Bound.of(len(rows))
        return Finding(CODE, self.event(index), count, statement, derivation=derivation, probability=probability)
