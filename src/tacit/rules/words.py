"""Derivations of bounds on rules, with citations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tacit.kernels.rows import cells
from tacit.model.finding import Citation, Lines, Phrase, Remark, Step, remark
from tacit.model.numbers import Bound, render_decimal
from tacit.model.words import describe_printed, join_names, render_people
from tacit.rules.bounds import HI, LO, Reason, RuleTable, confidence_of
from tacit.rules.bounds import Step as Bounding

#: Derivations of more steps than this are not written out; their lines are cited all the same.
MOST_STEPS = 40
_HUGE = np.iinfo(np.int64).max


class Story:
    """Steps of a derivation, and their citations."""

    def __init__(self, table: RuleTable) -> None:
        self.table = table
        self.steps: list[Step] = []
        self.proof: list[dict[str, Any]] = []
        self._lines: set[int] = set()
        self._cells: set[str] = set()
        self._told: set[tuple[int, int, int]] = set()

    def citations(self, release: int) -> tuple[Citation, ...]:
        """Return header entries, then lines in order."""
        source = self.table.release
        header = source.header
        numbers = {"n": source.n, "min_support": source.min_support}
        numbers |= {"sa_values": len(header.sa_values), "sa_distribution": sum(header.sa_counts)}
        cited = [Citation(release, cell, Bound.of(numbers[cell] or 0), None) for cell in sorted(self._cells)]
        return (*cited, *(Citation(release, source.line(line), source.count(line), None) for line in sorted(self._lines)))

    def all_steps(self, last: Iterable[Step]) -> tuple[Step, ...]:
        """Return all steps (or their number), and the last."""
        if len(self.steps) > MOST_STEPS:
            many = f"The bounds follow from the cited lines in {len(self.steps):,} steps, too many to write out here."
            return (remark(many), *last)
        return (*self.steps, *last)

    def index_of(self, number: int) -> int:
        """Return the rule of a cited line of the file."""
        return next(line for line in self._lines if self.table.release.line(line) == number)

    def cite(self, line: int) -> Lines:
        """Cite a line; return its name."""
        self._lines.add(line)
        return Lines((self.table.release.line(line),))

    def bounds(self, place: int) -> Bound:
        """Explain both bounds of a set; what they are."""
        low, high = (self.table.log.latest(place, end) for end in (LO, HI))
        if low is not None and high is not None and (low.reason, low.source) == (high.reason, high.source):
            self._explain_both(low, high)
        else:
            for step in (low, high):
                if step is not None:
                    self.explain(step)
        return Bound(low.value if low else 0, high.value if high else _HUGE)

    def both_ends(self, place: int) -> None:
        """Explain both bounds of a set, possibly contradictory."""
        for end in (LO, HI):
            if (step := self.table.log.latest(place, end)) is not None:
                self.explain(step)

    def explain(self, step: Bounding) -> None:
        """Explain a bound, what it rests on first."""
        if (step.place, step.end, step.time) not in self._told:
            self._told.add((step.place, step.end, step.time))
            law, is_sentence = self._law(step)
            side = "at least" if step.end == LO else "at most"
            people = "person has" if step.value == 1 else "people have"
            says = f"{side} {step.value:,} {people} {self.names(step.place)}."
            self._add(Remark(law if is_sentence else (*law, says)))
            self._prove(step)

    def _explain_both(self, low: Bounding, high: Bounding) -> None:
        both = {(step.place, step.end, step.time) for step in (low, high)}
        if both <= self._told:
            return
        self._told |= both
        laws: dict[int, tuple[Phrase, bool]] = {}
        for step in sorted((low, high), key=lambda step: (step.time, step.end)):  # the later one may rest on the earlier
            laws[step.end] = self._law(step)
            self._prove(step)
        law, is_sentence = laws[LO]
        count = Bound(low.value, high.value)
        both_ends = f"{render_people(count)} {'has' if count == Bound(1, 1) else 'have'} {self.names(low.place)}."
        self._add(Remark(law if is_sentence else (*law, both_ends)))

    def _prove(self, step: Bounding) -> None:
        entry: dict[str, Any] = {"items": list(self.table.named.names(step.place))}
        entry |= {"at_least" if step.end == LO else "at_most": step.value, "by": step.reason.value}
        if step.reason in (Reason.COUNT, Reason.WHOLE, Reason.CONFIDENCE):
            entry["line"] = self.table.release.line(step.source)
        elif step.reason in (Reason.INSIDE, Reason.VALUES, Reason.MISSING):
            entry["from"] = list(self.table.named.names(step.source))
        self.proof.append(entry)

    def _add(self, step: Step) -> None:
        if step not in self.steps:
            self.steps.append(step)

    def _law(self, step: Bounding) -> tuple[Phrase, bool]:
        """Return a bound's law; tell if a sentence."""
        named = self.table.named
        law: Phrase
        match step.reason:
            case Reason.COUNT | Reason.WHOLE:
                return self._line_alone(step), True
            case Reason.PEOPLE:
                self._cells.add("n")
                return (f"There are {step.value:,} people in all (n).",), True
            case Reason.CONFIDENCE:
                is_whole = step.place == named.whole[step.source]
                other = int(named.both[step.source] if is_whole else named.whole[step.source])
                self._earlier(other, step.end, step)
                law = "The confidence of ", self.cite(step.source), f", {self.interval(step.source)}, then says: "
            case Reason.INSIDE:
                self._earlier(step.source, step.end, step)
                larger, smaller = (step.source, step.place) if step.end == LO else (step.place, step.source)
                law = (f"Everyone with {self.names(larger)} has {self.names(smaller)}: ",)
            case Reason.DISTRIBUTION:
                self._cells.add("sa_distribution")
                law = ("The published distribution says: ",)
            case Reason.VALUES:
                law = self._values(step)
            case Reason.MISSING:
                self._cells.add("min_support")
                self._earlier(step.source, HI, step)
                value = sorted(set(named.names(step.place)) - set(named.names(step.source)))[0]
                law = (f"The list is complete and has no rule from {self.names(step.source)} to {value}: ",)
            case Reason.GROUPS:
                law = self._groups(step)
        return law, False

    def names(self, place: int) -> str:
        """A set in words."""
        names = self.table.named.names(place)
        return join_names(names, "and") if names else "nothing asked of them"

    def _earlier(self, place: int, end: int, step: Bounding) -> int:
        found = self.table.log.latest(place, end, step.time)
        if found is None:
            return 0 if end == LO else _HUGE
        self.explain(found)
        return found.value

    def _line_alone(self, step: Bounding) -> Phrase:
        release = self.table.release
        line = step.source
        count = release.count(line) if step.reason == Reason.COUNT else release.whole(line)
        have = "has" if count == Bound(1, 1) else "have"
        how = ""
        if release.support is None and not release.count(line).is_exact:
            how = ", as far as the thresholds show"
        elif step.reason == Reason.WHOLE:
            printed = release.confidence is None or release.confidence.digits[line] >= 0
            how = ", its count divided by its confidence" if printed else ", as far as the thresholds show"
        elif release.support is not None:
            how = describe_printed(release.support.text(line), release.count(line))
        return self.cite(line), f": {render_people(count)} {have} {self.names(step.place)}{how}."

    def interval(self, line: int) -> str:
        """The confidences that a line allows."""
        allowed = confidence_of(self.table.release, line)
        low, high = (render_decimal(float(end), 6) for end in (allowed.low, allowed.high))
        return f"from {low} to {high}"

    def _values(self, step: Bounding) -> Phrase:
        named = self.table.named
        self._cells.add("sa_values")
        row = named.children[int(np.flatnonzero(named.parents == step.source)[0])].tolist()
        # The people of the antecedent are the sum over the values: for one value, what the others leave.
        others = step.end if step.place == step.source else 1 - step.end
        for child in row:
            if child != step.place:
                self._earlier(child, others, step)
        if step.place != step.source:
            self._earlier(step.source, step.end, step)
        self._earlier(step.source, HI, step)
        column = " & ".join(self.table.release.header.sa)
        return (f"Each person has one of the {len(row):,} values of {column}: ",)

    def _groups(self, step: Bounding) -> Phrase:
        items = self.table.named.sets[step.place].tolist()
        size = 1 << len(items)
        places = [self.table.named.find([items[j] for j in range(len(items)) if mask >> j & 1]) for mask in range(size - 1)]
        ends = np.zeros((2, size), np.int64)
        for mask, place in enumerate(places):
            ends[:, mask] = [self._earlier(place, end, step) for end in (LO, HI)]
        cells(ends[0], ends[1])
        masks = np.arange(size)
        odd = (len(items) - np.bitwise_count(masks.astype(np.uint64)).astype(np.int64)) & 1
        worth = np.where(odd == 0, -ends[1], -_HUGE) if step.end == LO else np.where(odd == 1, -ends[1], -_HUGE)
        chosen = int(np.argmax(worth))
        has = [self.table.named.items.names[items[j]] for j in range(len(items)) if chosen >> j & 1]
        lacks = [self.table.named.items.names[items[j]] for j in range(len(items)) if not chosen >> j & 1]
        who = f"with {join_names(tuple(sorted(has)), 'and')}" if has else "of all people"
        return (f"Those {who} without {join_names(tuple(sorted(lacks)), 'or')} cannot be fewer than 0: ",)
