"""The number of people in any pattern over items, or the tightest bounds on it, as a release gives them away, with the sum written out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fractions import Fraction

import numpy as np

from tacit.attacks.pattern_bounds import MOST_ITEMS, Impossible, Proof, Tie, signed_weights, term_by_term, tightest
from tacit.attacks.pattern_statements import MISSING, NOBODY, ONE_VALUE, PEOPLE, Knowledge, Statements, knowledge_of
from tacit.attacks.rule_numbers import UNBOUNDED, Whole
from tacit.errors import Contradiction, OptionError
from tacit.model.bound import Bound
from tacit.model.buckets import Buckets
from tacit.model.finding import Citation
from tacit.model.frequencies import FrequencyTable
from tacit.model.partial import PartialTable
from tacit.model.pattern import Pattern, Truth
from tacit.model.release import Release
from tacit.model.support import Method, PatternSupport
from tacit.wording import listed

#: How many terms of a sum the steps show; ``because`` lists all of them.
SHOWN_TERMS = 24
#: Fractions with larger denominators are shown as decimals.
MOST_DENOMINATOR = 10_000
#: Items that the pattern does not name are called to help up to this many items in all: each doubles the groups.
MOST_WITH_HELP = 8


def pattern_support(release: Release, text: str) -> PatternSupport:
    """What a release says about the number of people in a pattern."""
    pattern = Pattern.parse(text)
    if isinstance(release, Buckets | PartialTable | FrequencyTable):
        remedy = "Ask about a person with tacit explain --finding, or give itemsets or rules"
        kind = "bucketized" if isinstance(release, Buckets) else "a table"
        raise OptionError(f"is about itemsets and rules, and this release is {kind}", where="--pattern", remedy=remedy)
    knowledge = knowledge_of(release)
    items = _items(pattern, knowledge)
    statements = knowledge.statements(items)
    truth = pattern.truth()
    weights = signed_weights(truth)
    if bool(statements.exact[weights != 0].all()):
        words = _Words(knowledge, items, statements, release.n, release.min_support)
        proof = Proof({mask: Fraction(weight) for mask, weight in enumerate(weights.tolist()) if weight}, Fraction(0))
        total = sum(int(weight * statements.lo[mask]) for mask, weight in proof.weights.items())
        if total < 0:
            raise _clash(release)
        steps = words.sum(proof, total)
        return PatternSupport(pattern.text, total, total, "sum", words.citations(), tuple(steps))
    ties = knowledge.ties(items)
    alone = _Answer.of(release, statements, truth, ties)
    if alone.width > 0 and len(items) < MOST_WITH_HELP:
        together = np.concatenate((items, _helpers(knowledge, items)))
        helped_by, tied = knowledge.statements(together), knowledge.ties(together)
        helped = _Answer.of(release, helped_by, pattern.root.truth(len(together)), tied)
        if helped.width < alone.width:
            alone, statements, items, ties = helped, helped_by, together, tied
    words = _Words(knowledge, items, statements, release.n, release.min_support, ties)
    steps = words.bounds(alone.lower, alone.upper, alone.method)
    used = {item for proof in (alone.lower, alone.upper) if proof for mask in _masks(proof, ties) for item in words.members(mask)}
    called = tuple(sorted(knowledge.items.names[item] for item in used - set(items[: len(pattern.names)].tolist())))
    most = None if alone.upper is None else alone.upper.most
    return PatternSupport(pattern.text, alone.lower.least, most, alone.method, words.citations(), tuple(steps), called)


def _masks(proof: Proof, ties: Sequence[Tie]) -> set[int]:
    """The itemsets that a proof rests on."""
    return {*proof.weights, *(ties[tie].part for tie, _ in proof.ties)}


@dataclass(frozen=True, slots=True)
class _Answer:
    """The best bounds that can be had, and how."""

    lower: Proof
    upper: Proof | None
    method: Method

    @property
    def width(self) -> int:
        """How far the bounds are apart."""
        return UNBOUNDED - self.lower.least if self.upper is None else self.upper.most - self.lower.least

    @classmethod
    def of(cls, release: Release, statements: Statements, truth: Truth, ties: Sequence[Tie]) -> _Answer:
        if len(truth) > 1 << MOST_ITEMS:
            return cls(*term_by_term(truth, statements.lo, statements.hi), "terms")
        try:
            found = cls(*tightest(truth, statements.lo, statements.hi, ties), "bounds")
        except Impossible:
            raise _clash(release) from None
        if found.width < 0:
            raise _clash(release)
        return found


def _clash(release: Release) -> Contradiction:
    return Contradiction(
        "the numbers about these items cannot all be true of any group of people",
        where=release.source.name if release.source else "the release",
        remedy="Audit the release to see which lines clash, and correct them",
    )


def _items(pattern: Pattern, knowledge: Knowledge) -> Whole:
    """The numbers of the pattern's items."""
    number = {name: item for item, name in enumerate(knowledge.items.names)}
    for name, position in zip(pattern.names, pattern.positions, strict=True):
        if name not in number:
            # Names of items are values of the data: of a near one it is said that it exists, not which it is.
            near = get_close_matches(name, number, n=1, cutoff=0.6) or any(
                name.casefold() == other.casefold() for other in number
            )
            hint = (
                "One item is spelled almost so; check capitals and signs" if near else "Items of tables are written column=value"
            )
            raise OptionError(
                f"the release has no item {name!r}",
                where=f"--pattern, position {position}",
                remedy=f"{hint}, and put names with blanks or parentheses in quotation marks",
            )
    return np.array([number[name] for name in pattern.names], np.int64)


def _helpers(knowledge: Knowledge, items: Whole) -> Whole:
    """Items that are published most often together with those of the pattern."""
    sets = knowledge.sets
    touching = np.zeros(len(sets), np.bool_)
    touching[sets.owners()[np.isin(sets.members, items)]] = True
    members = sets.members[touching[sets.owners()]].astype(np.int64)
    found, times = np.unique(members[~np.isin(members, items)], return_counts=True)
    order = np.lexsort((found, -times))
    return np.sort(found[order][: MOST_WITH_HELP - len(items)])


@dataclass(eq=False)
class _Words:
    """A proof in words, and what it cites."""

    knowledge: Knowledge
    items: Whole
    statements: Statements
    n: int | None
    min_support: int | None
    ties: Sequence[Tie] = ()
    before: list[str] = field(default_factory=list)
    cited: dict[tuple[str, int | str], Citation] = field(default_factory=dict)

    def citations(self) -> tuple[Citation, ...]:
        """Header entries, then lines in the order of the file."""
        return tuple(
            self.cited[key] for key in sorted(self.cited, key=lambda key: (isinstance(key[1], int), str(key[0]), key[1]))
        )

    def members(self, mask: int) -> list[int]:
        """The items of a mask."""
        return [int(item) for position, item in enumerate(self.items.tolist()) if mask >> position & 1]

    def sum(self, proof: Proof, total: int) -> list[str]:
        """The signed sum of exact supports."""
        merged: dict[int, tuple[int, Fraction]] = {}
        for mask, weight in self._ordered(proof):
            # Subsets with one closure share its line: equal terms are one, and opposite ones none.
            source = int(self.statements.low[mask])
            first, before = merged.get(source, (mask, Fraction(0))) if source >= 0 else (mask, Fraction(0))
            merged[source if source >= 0 else -1 - mask - (1 << len(self.items))] = first, before + weight
        terms = [self._term(mask, weight, "") for mask, weight in merged.values() if weight]
        return [*self.before, *_shown(terms), f"sum: {total:,}"]

    def bounds(self, lower: Proof, upper: Proof | None, method: Method) -> list[str]:
        """Both bounds, each with its sum."""
        out: list[str] = []
        for proof, side in ((lower, "at least"), (upper, "at most")):
            if proof is None:
                out.append("Nothing that is published bounds it from above: the number of people is not known.")
                continue
            end = proof.least if side == "at least" else proof.most
            head = f"{side.capitalize()} {end:,} {'person' if end == 1 else 'people'}"
            if not proof.weights and not proof.ties:
                out.append(f"{head}: nothing that is published says more.")
                continue
            ends = ("at least", "at most") if side == "at least" else ("at most", "at least")
            terms = [self._term(mask, weight, ends[0] if weight > 0 else ends[1]) for mask, weight in self._ordered(proof)]
            terms += [self._tie(tie, which, weight) for (tie, which), weight in proof.ties.items()]
            out += [f"{head}:", *_shown(terms), _total(proof.total, side)]
            if method == "bounds":
                counts = "no one who fits is counted more than once, no one else more than 0 times"
                if side == "at most":
                    counts = "everyone who fits is counted at least once, no one less than 0 times"
                out.append(f"In this sum {counts}.")
            else:
                out.append("Each term is taken at its worst; taken together they may say more.")
        return [*self.before, *out]

    def _ordered(self, proof: Proof) -> list[tuple[int, Fraction]]:
        """Terms from the widest group to the narrowest."""
        return sorted(proof.weights.items(), key=lambda entry: (entry[0].bit_count(), entry[0]))

    def _term(self, mask: int, weight: Fraction, end: str) -> str:
        """One line of a sum."""
        low = end == "at least" or not end
        value = int(self.statements.lo[mask] if low else self.statements.hi[mask])
        source = int(self.statements.low[mask] if low else self.statements.high[mask])
        times = "" if abs(weight) == 1 else f" {_number(abs(weight))} times"
        exact = self.statements.lo[mask] == self.statements.hi[mask]
        number = f"{value:,}" if exact or not end else f"{end} {value:,}"
        who = f"people with {self._names(mask)}" if mask else "all people"
        return f"{'plus' if weight > 0 else 'minus'}{times} {number}: {who} ({self._place(mask, source, low)})"

    def _tie(self, number: int, side: int, weight: Fraction) -> str:
        """A sum of two supports that a confidence keeps from being negative."""
        tie = self.ties[number]
        self.cited["line", tie.line] = Citation(0, tie.line, tie.count, None)
        part, whole = (f"people with {self._names(mask)}" if mask else "all people" for mask in (tie.part, tie.whole))
        less = f"{part} less {_decimal(tie.low)} of {whole}" if side == 0 else f"{_decimal(tie.high)} of {whole} less {part}"
        times = "" if abs(weight) == 1 else f" {_number(abs(weight))} times"
        return f"{'plus' if weight > 0 else 'minus'}{times} at least 0: {less} (the confidence of line {tie.line})"

    def _names(self, mask: int) -> str:
        return listed(tuple(sorted(self.knowledge.items.names[item] for item in self.members(mask))), "and")

    def _place(self, mask: int, source: int, low: bool) -> str:
        """Who says so."""
        if source == PEOPLE:
            self.cited["n", "n"] = Citation(0, "n", Bound.of(self.n or 0), None)
            return "n"
        if source == MISSING:
            self.cited["min_support", "min_support"] = Citation(0, "min_support", Bound.of(self.min_support or 0), None)
            return f"left out of a complete list from {self.min_support or 0:,} on"
        if source == ONE_VALUE:
            return "nobody has two values of one column"
        if source == NOBODY:
            return "no line says more"
        steps, citations, place = self.knowledge.told(source)
        self.before += [step for step in steps if step not in self.before]
        self.cited |= {("line" if isinstance(one.place, int) else str(one.place), one.place): one for one in citations}
        if low and bool(self.statements.above[mask]):
            return f"everyone of {place} has them" if place.startswith("line") else "everyone with more items has them"
        return place


def _shown(terms: list[str]) -> list[str]:
    """The terms, cut where there are too many."""
    if len(terms) <= SHOWN_TERMS:
        return terms
    return [*terms[:SHOWN_TERMS], f"and {len(terms) - SHOWN_TERMS} more terms, whose lines are all cited"]


def _decimal(value: Fraction) -> str:
    """A share, for reading."""
    return f"{float(value):.6g}"


def _total(value: Fraction, side: str) -> str:
    """The last line of a sum; people are whole."""
    whole = f", and people are whole: {side} {_whole(value, side):,}" if value.denominator > 1 else ""
    return f"sum: {_number(value)}{whole}"


def _whole(value: Fraction, side: str) -> int:
    return -(-value.numerator // value.denominator) if side == "at least" else value.numerator // value.denominator


def _number(value: Fraction) -> str:
    """A whole number or a fraction; a long one nearly, for reading.

    >>> _number(Fraction(1200)), _number(Fraction(7, 3))
    ('1,200', '7/3')
    """
    if value.denominator > MOST_DENOMINATOR:
        return f"{float(value):.6g}"
    return f"{value.numerator:,}" if value.denominator == 1 else f"{value.numerator:,}/{value.denominator:,}"
