"""The sum behind a finding, in the fewest words that a reader can check."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from tacit.model.event import ItemEvent
from tacit.model.finding import Finding
from tacit.model.release import Itemsets, Release

#: The step after which an attack tells the same people in fewer words.
_SHORTER = "The same people in fewer words: "
_SIGNS = {"plus": "+", "minus": "-"}
_LINE = re.compile(r"(?:, printed as [^()]*)? \(line (\d+)\)$")


@dataclass(frozen=True, slots=True)
class Term:
    """One line of a sum: the signed number, empty where it is a remark, and what it counts."""

    number: str
    what: str

    @classmethod
    def of(cls, step: str) -> Term:
        """A step of a finding as a term.

        >>> Term.of("minus 1,650: people with a (line 7)"), Term.of("sum: 1")
        (Term(number='- 1,650', what='people with a (line 7)'), Term(number='= 1', what=''))
        >>> Term.of("plus 2 times 40: people with a (line 7)").number, Term.of("in words")
        ('+ 2 x 40', Term(number='', what='in words'))
        """
        head, colon, rest = step.partition(": ")
        word, _, number = head.partition(" ")
        if colon and word == "sum":
            return cls(f"= {rest}", "")
        if colon and word in _SIGNS and number[:1].isdigit():
            return cls(f"{_SIGNS[word]} {number.replace(' times', ' x')}", rest)
        return cls("", step)


@dataclass(frozen=True, slots=True)
class Derivation:
    """A finding in the fewest words, and the sum that proves just that."""

    statement: str
    terms: tuple[Term, ...]

    @property
    def lines(self) -> int:
        """How many published numbers the sum adds up."""
        return sum(term.number[:1] in ("+", "-") for term in self.terms)

    @classmethod
    def of(cls, finding: Finding, release: Release | None = None) -> Derivation:
        """The derivation of a finding; with the release, terms that share its people are told as parts of the first one."""
        statement, steps = finding.statement, finding.steps
        for place, step in enumerate(finding.steps):
            if step.startswith(_SHORTER):
                statement, steps = step.removeprefix(_SHORTER), finding.steps[place + 1 :]
        terms = tuple(Term.of(step) for step in steps)
        event = finding.same_people or finding.event
        if isinstance(release, Itemsets) and isinstance(event, ItemEvent):
            terms = _parts_of_the_first(terms, event, release)
        return cls(statement, terms)


def _parts_of_the_first(terms: tuple[Term, ...], event: ItemEvent, release: Itemsets) -> tuple[Term, ...]:
    """The terms with what they all share told once: ``of them with x`` instead of ``people with a, b and x``."""
    items = [_items(term, release) for term in terms]
    sums = [place for place, term in enumerate(terms) if term.number[:1] in ("+", "-")]
    base = frozenset(event.present)
    first = next((place for place in sums if items[place] == base), None)
    told_apart = all(
        found is not None and base <= found <= base | set(event.absent) for found in (items[place] for place in sums)
    )
    if first is None or not told_apart:
        return terms
    parts = [terms[first]]
    for place in sums:
        if place != first:
            names = sorted((items[place] or base) - base)
            line = _LINE.search(terms[place].what)
            parts.append(Term(terms[place].number, f"of them with {_listed(names)}{line[0] if line else ''}"))
    return (*parts, *(term for place, term in enumerate(terms) if place not in sums))


def _items(term: Term, release: Itemsets) -> frozenset[str] | None:
    """The items of the published line that a term names; none for all people, None for anything else."""
    if term.what == "all people (n)":
        return frozenset()
    found = _LINE.search(term.what)
    if found is None:
        return None
    line = int(found[1])
    index = np.flatnonzero(release.lines == line) if release.lines is not None else np.array([line - 2])
    return frozenset(release.names(int(index[0]))) if len(index) and 0 <= index[0] < len(release) else None


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
