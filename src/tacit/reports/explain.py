"""A finding explained: numbered plain sentences with their numbers, each with the lines of the files that it rests on.

The sum behind a finding, in the fewest words that a reader can check.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np

from tacit.model.event import ItemEvent
from tacit.model.finding import Finding
from tacit.model.release import Itemsets, Release
from tacit.reports.words import WIDTH, bullet, counted, visible

#: How many lines of a file the last sentence names.
SHOWN_LINES = 12

_TERM = re.compile(r"(plus|minus)(?: ([\d,/]+) times)? (-?[\d,]+(?: to -?[\d,]+)?): (.*)", re.DOTALL)
_SHOWN_ABOVE = re.compile(r"(plus|minus)(?: ([\d,/]+) times)? (what was shown above \(\d+\))")
_BETWEEN = re.compile(r"(?:between )?([\d,]+)(?: and ([\d,]+))?")
#: Where a step of one release names lines; the file is put before them.
_LINES = re.compile(
    r"(?:(?<=\()|(?<=, )|^|(?<=^The confidence of ))(?P<word>[Ll]ines?) (?P<lines>\d+(?:, \d+)*(?: and \d+)?)(?=[,):])"
)
_NAMED = re.compile(r"\((?P<file>[^()]+), line (?P<lines>\d+)\)$")


@dataclass(frozen=True, slots=True)
class Step:
    """One sentence, and the lines that it cites as (file, line)."""

    text: str
    lines: tuple[tuple[str, int], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The step as in the record."""
        return {"text": self.text, "lines": [{"file": file, "line": line} for file, line in self.lines]}


@dataclass(frozen=True, slots=True)
class Explanation:
    """A finding in plain sentences; ``finding`` is its entry in the record, ``files`` are the names of the releases."""

    finding: Mapping[str, Any]
    files: tuple[str, ...]
    steps: tuple[Step, ...]

    @classmethod
    def of(cls, finding: Mapping[str, Any], files: Sequence[str | None]) -> Explanation:
        """The explanation of a finding as it stands in the record of its audit.

        >>> steps = ["plus 50: people with a (line 2)", "minus 49: people with a and b (line 4)", "sum: 1"]
        >>> found = {"id": "I01-1", "code": "I01", "statement": "1 person has a but not b.", "count": [1, 1], "because": [], "steps": steps}
        >>> for step in Explanation.of(found, ["shop.csv"]).steps:
        ...     print(step.text)
        Start from 50: people with a (shop.csv, line 2).
        Take away 49: people with a and b (shop.csv, line 4).
        That leaves 1 person.
        """
        names = tuple(name or f"release {number}" for number, name in enumerate(files, start=1))
        owners = {cited["release"] for cited in finding["because"]}
        owner = names[owners.pop()] if len(owners) == 1 and max(owners) < len(names) else None
        owner = owner or (names[0] if len(names) == 1 else None)
        return cls(finding, names, tuple(_sentences(finding, owner)))

    @property
    def is_proved(self) -> bool:
        """Whether it carries a proof; else it is an estimate."""
        return "certificate" in self.finding

    @property
    def sources(self) -> str:
        """The published lines that it rests on, file by file."""
        lines: dict[int, set[int]] = {}
        for cited in self.finding["because"]:
            lines.setdefault(cited["release"], set())
            if "line" in cited:
                lines[cited["release"]].add(cited["line"])
        parts = [
            f"{self.files[owner]}{_numbered(sorted(mine))}" for owner, mine in sorted(lines.items()) if owner < len(self.files)
        ]
        return "; ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """The explanation as in the record."""
        told = {"proved": self.is_proved, "sources": self.sources, "steps": [step.to_dict() for step in self.steps]}
        return {"format": "tacit.explanation/1", "finding": dict(self.finding), "explanation": told}


def explanation_text(told: Explanation, *, width: int = WIDTH) -> str:
    """The statement, the numbered steps, and what they rest on."""
    finding = told.finding
    lines = [*bullet(f"{finding['id']}:", finding["statement"], width, indent=""), ""]
    for number, step in enumerate(told.steps, start=1):
        lines += bullet(f"{number:>3}.", step.text, width)
    sources = f" Published in {told.sources}." if told.sources else ""
    if told.is_proved:
        what = "the table shows these counts" if finding["code"] == "T01" else "it is so in every database that fits"
        last = f"Proved: {what}.{sources} tacit verify re-checks it."
    else:
        last = f"Estimated: a probability, not a proof.{sources}"
    return "\n".join([*lines, "", *wrap(visible(last), width, break_long_words=False, break_on_hyphens=False)]) + "\n"


def _sentences(finding: Mapping[str, Any], owner: str | None) -> Iterator[Step]:
    """The steps of a finding as plain sentences."""
    begun = False
    for step in finding["steps"]:
        if match := _TERM.fullmatch(step):
            sign, times, number, what = match.groups()
            verb = "Take away" if sign == "minus" else "Add" if begun else "Start from"
            begun = True
            yield _placed(f"{verb} {f'{times} times ' if times else ''}{number}: {what}", owner)
        elif match := _SHOWN_ABOVE.fullmatch(step):
            verb = "Take away" if match[1] == "minus" else "Add" if begun else "Start from"
            begun = True
            yield Step(f"{verb} {f'{match[2]} times ' if match[2] else ''}{match[3]}.")
        elif step.startswith("sum: "):
            begun = False
            yield Step(_total(step.removeprefix("sum: "), finding["code"]))
        else:
            begun = begun and not step.endswith(":")
            yield _placed(f"And {step.removeprefix('and ')}" if step.startswith("and ") else step, owner)


def _total(number: str, code: str) -> str:
    """What a sum comes to; of a finding about a group, that is its people."""
    match = _BETWEEN.fullmatch(number)
    if code == "R03" or match is None:
        return f"The sum is {number}."
    if match[2]:
        return f"That leaves between {match[1]} and {match[2]} people."
    return f"That leaves {counted(int(match[1].replace(',', '')), 'person', 'people')}."


def _placed(text: str, owner: str | None) -> Step:
    """A sentence with the file before every line that it names."""
    lines: list[tuple[str, int]] = []
    named = _NAMED.search(text)
    if named and owner in (None, named["file"]):  # what is about several files names them itself
        lines.append((named["file"], int(named["lines"])))
    elif owner is not None:
        file = owner

        def put(match: re.Match[str]) -> str:
            lines.extend((file, int(number)) for number in re.findall(r"\d+", match["lines"]))
            return f"{file}, {match['word'].lower()} {match['lines']}"

        text = _LINES.sub(put, text)
    return Step(text if text.endswith((".", ":")) else f"{text}.", tuple(lines))


def _numbered(lines: Sequence[int]) -> str:
    """Line numbers as in a sentence.

    >>> _numbered([3]), _numbered([2, 5, 7]), _numbered([])
    (', line 3', ', lines 2, 5 and 7', '')
    """
    if not lines:
        return ""
    if len(lines) == 1:
        return f", line {lines[0]}"
    shown = [str(line) for line in lines[:SHOWN_LINES]]
    last = f"{len(lines) - SHOWN_LINES:,} more" if len(lines) > SHOWN_LINES else shown.pop()
    return f", lines {', '.join(shown)} and {last}"


def files_of(releases: Iterable[Mapping[str, Any]]) -> list[str | None]:
    """The names of the files of an audit, as its record has them; of a bucketized release the second, whose lines are cited."""
    names = [entry.get("file") for entry in releases]
    kinds = [entry.get("kind") for entry in releases]
    return [name.rpartition(" and ")[2] if name and kind == "buckets" else name for name, kind in zip(names, kinds, strict=True)]


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
