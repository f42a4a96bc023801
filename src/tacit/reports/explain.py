"""Explanations of findings in sentences and sums.

A record holds its steps in words. :func:`recorded_steps` reads them back for ``tacit explain --audit``: the inverse of
:func:`tacit.model.finding.render_step`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from textwrap import wrap
from typing import Any

from tacit.model.finding import (
    THE_GROUP,
    Finding,
    Goal,
    Lines,
    More,
    Phrase,
    Remark,
    Share,
    Shorter,
    ShownAbove,
    Step,
    Term,
    Total,
    lines_named,
    render_amount,
    render_counted,
    render_lines,
    render_phrase,
    render_step,
    render_times,
    render_total,
)
from tacit.model.numbers import Bound
from tacit.reports.sentences import WIDTH, bullet, counted, visible

_SIGNS = {"plus": 1, "minus": -1}


def recorded_steps(finding: Mapping[str, Any], files: Sequence[str]) -> tuple[Step, ...]:
    """Return the steps of a recorded finding."""
    reader = _Reader(files)
    return tuple(reader.step(text) for text in finding["steps"])


def recorded_probability(finding: Mapping[str, Any]) -> float | None:
    """Return the probability of a recorded estimate, or None.

    >>> recorded_probability({"statement": "Whoever has a=1 has ill flu with probability 0.875 (estimated)."})
    0.875
    """
    _, found, rest = finding["statement"].rpartition(" probability ")
    number = rest.removeprefix("of up to ").partition(" ")[0]
    return float(number) if found and _is_decimal(number) else None


class _Reader:
    """Parser of one finding's steps."""

    def __init__(self, files: Sequence[str]) -> None:
        self._files = sorted(files, key=len, reverse=True)

    def step(self, text: str) -> Step:
        for read in (self._term, _recorded_total, _goal, _more, _shorter, _share):
            step = read(text)
            if step is not None and render_step(step) == text:
                return step
        return Remark(self._phrase(text))

    def _term(self, text: str) -> Step | None:
        word, _, rest = text.partition(" ")
        if word not in _SIGNS:
            return None
        times = Fraction(_SIGNS[word])
        number, _, after = rest.partition(" ")
        if after.startswith("times "):
            times *= Fraction(number.replace(",", ""))
            rest = after.removeprefix("times ")
        above = rest.removeprefix("what was shown above (").removesuffix(")")
        if above != rest and above.isdecimal():
            return ShownAbove(times, int(above))
        head, _, counted = rest.partition(": ")
        bound = _bound(head)
        if bound is None:
            head, _, counted = rest.partition(" (")
            bound = _bound(head)
            return None if bound is None else Term(times, bound, where=self._phrase(counted.removesuffix(")")))
        what, where = _bracket_at_end(counted)
        return Term(times, bound, what, self._phrase(where))

    def _phrase(self, text: str) -> Phrase:
        """Return a text with the lines that it names.

        They stand at its start, in brackets, or one after the other.
        """
        parts: list[str | Lines] = []
        end = 0
        place = text.lower().find("line")
        while place >= 0:
            lines = self._lines(text, place)
            if lines is not None:
                begin = place if lines.file is None else place - len(f"{lines.file}, ")
                follows = bool(parts) and text[end:begin] in (", ", "; ")
                if begin == 0 or text[:begin].endswith(("(", "The confidence of ")) or follows:
                    parts += [text[end:begin], lines]
                    end = begin + len(render_lines(lines))
            place = text.lower().find("line", max(end, place + 1))
        return tuple(part for part in (*parts, text[end:]) if part)

    def _lines(self, text: str, place: int) -> Lines | None:
        """Return the lines named in a text, with file."""
        word, _, rest = text[place:].partition(" ")
        listed = rest.partition(")")[0].replace(" and ", ", ").split(", ") if word == "lines" else _digits(rest)
        if word.lower() not in ("line", "lines") or not all(number.isdecimal() for number in listed):
            return None
        file = next((file for file in self._files if text[:place].endswith(f"{file}, ")), None)
        return Lines(tuple(map(int, listed)), file)


def _digits(text: str) -> list[str]:
    rest = text.lstrip("0123456789")
    return [text[: len(text) - len(rest)]] if rest[:1] in ("", ",", ")", ":", ";") else [""]


def _recorded_total(text: str) -> Step | None:
    told = text.removeprefix("sum: ")
    bound = _bound(told.removeprefix("between ").replace(" and ", " to "))
    return None if told == text or bound is None else Total(bound)


def _goal(text: str) -> Step | None:
    words = text.removesuffix(":").split(" ", 3)
    if len(words) < 4 or words[0] != "At" or not _is_whole(words[2]):
        return None
    value = int(words[2].replace(",", ""))
    group = THE_GROUP if words[3] == THE_GROUP else words[3]
    return Goal("least" if words[1] == "least" else "most", value, group)


def _more(text: str) -> Step | None:
    words = text.split(" ", 3)
    fits = len(words) == 4 and (words[0], words[2]) == ("and", "more") and _is_whole(words[1])
    return More(int(words[1].replace(",", "")), words[3]) if fits else None


def _shorter(text: str) -> Step | None:
    return Shorter(text.partition(": ")[2])


def _share(text: str) -> Step | None:
    number = text.removesuffix(".").rpartition(" ")[2]
    return Share(float(number)) if _is_decimal(number) else None


def _bound(text: str) -> Bound | None:
    lo, _, hi = text.partition(" to ")
    if not _is_whole(lo) or not _is_whole(hi or lo):
        return None
    ends = [int(end.replace(",", "")) for end in (lo, hi or lo)]
    return Bound(*ends) if ends[0] <= ends[1] else None


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").replace(",", "").isdecimal()


def _is_decimal(text: str) -> bool:
    return text.replace(".", "", 1).isdecimal()


def _bracket_at_end(text: str) -> tuple[str, str]:
    """Split the final bracket off a text.

    >>> _bracket_at_end("people with a (b) (a (1).csv, line 3)"), _bracket_at_end("all people")
    (('people with a (b)', 'a (1).csv, line 3'), ('all people', ''))
    """
    depth = 0
    for place in range(len(text) - 1, 0, -1) if text.endswith(")") else ():
        depth += {")": 1, "(": -1}.get(text[place], 0)
        if depth == 0:
            return text[: place - 1], text[place + 1 : -1]
    return text, ""


#: How many lines of a file the last sentence names.
SHOWN_LINES = 12


@dataclass(frozen=True, slots=True)
class Sentence:
    """Sentence, and the (file, line) pairs it cites."""

    text: str
    lines: tuple[tuple[str, int], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the sentence as in the record."""
        return {"text": self.text, "lines": [{"file": file, "line": line} for file, line in self.lines]}


@dataclass(frozen=True, slots=True)
class Explanation:
    """A finding in plain sentences.

    ``finding`` is its entry in the record, ``files`` are the names of the releases, ``derivation`` its steps, ``probability`` that of an
    estimate.
    """

    finding: Mapping[str, Any]
    files: tuple[str, ...]
    derivation: tuple[Step, ...]
    probability: float | None = None

    @classmethod
    def of(cls, finding: Finding, files: Sequence[str | None]) -> Explanation:
        """Return the explanation of a finding."""
        return cls(finding.to_dict(), _names(files), finding.derivation, finding.probability)

    @classmethod
    def recorded(cls, finding: Mapping[str, Any], files: Sequence[str | None]) -> Explanation:
        """Return the explanation of a recorded finding.

        >>> steps = ["plus 50: people with a (line 2)", "minus 49: people with a and b (line 4)", "sum: 1"]
        >>> cited = [{"release": 0, "line": 2, "count": [50, 50]}, {"release": 0, "line": 4, "count": [49, 49]}]
        >>> found = {"id": "I01-1", "code": "I01", "statement": "1 person has a but not b.", "count": [1, 1], "because": cited}
        >>> for step in Explanation.recorded(found | {"steps": steps}, ["shop.csv"]).steps:
        ...     print(step.text)
        Start from 50: people with a (shop.csv, line 2).
        Take away 49: people with a and b (shop.csv, line 4).
        That leaves 1 person.
        """
        names = _names(files)
        return cls(finding, names, recorded_steps(finding, names), recorded_probability(finding))

    @property
    def steps(self) -> tuple[Sentence, ...]:
        """The derivation as plain sentences."""
        owners = {cited["release"] for cited in self.finding["because"]}
        owner = self.files[owners.pop()] if len(owners) == 1 and max(owners) < len(self.files) else None
        owner = owner or (self.files[0] if len(self.files) == 1 else None)
        return tuple(_sentences(self.derivation, self.finding["code"], owner))

    @property
    def is_proved(self) -> bool:
        """Return True if proved, False if estimated."""
        return "certificate" in self.finding

    @property
    def sources(self) -> str:
        """Published lines behind it, file by file."""
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
    """Return statement, numbered steps, and sources."""
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


def _names(files: Sequence[str | None]) -> tuple[str, ...]:
    return tuple(name or f"release {number}" for number, name in enumerate(files, start=1))


def _sentences(steps: Iterable[Step], code: str, owner: str | None) -> Iterator[Sentence]:
    """Yield steps as sentences; ``owner`` is the only file."""

    def render(lines: Lines) -> str:
        return render_lines(Lines(lines.numbers, lines.file or owner))

    has_begun = False
    for step in steps:
        if isinstance(step, Term | ShownAbove):
            verb = "Take away" if step.times < 0 else "Add" if has_begun else "Start from"
            has_begun = True
            if isinstance(step, Term):
                text = f"{verb} {render_amount(step)}{render_counted(step, render)}"
            else:
                text = f"{verb} {render_times(step.times)}what was shown above ({step.number})"
        elif isinstance(step, Total):
            has_begun = False
            text = _total(step.bound, code)
        elif isinstance(step, More):
            text = f"And {step.number:,} more {step.what}"
        elif isinstance(step, Remark):
            text = render_phrase(step.phrase, render)
        else:
            has_begun = has_begun and not isinstance(step, Goal)
            text = render_step(step)
        cited = [(lines.file or owner, number) for lines in lines_named(step) for number in lines.numbers]
        ended = text if text.endswith((".", ":")) else f"{text}."
        yield Sentence(ended, tuple((file, number) for file, number in cited if file is not None))


def _total(bound: Bound, code: str) -> str:
    if code == "R03":
        return f"The sum is {render_total(bound)}."
    if bound.is_exact:
        return f"That leaves {counted(bound.lo, 'person', 'people')}."
    return f"That leaves {render_total(bound)} people."


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
    """Return the files of an audit by its record.

    Of a bucketized release it is the second file, whose lines are cited.
    """
    names = [entry.get("file") for entry in releases]
    kinds = [entry.get("kind") for entry in releases]
    return [name.rpartition(" and ")[2] if name and kind == "buckets" else name for name, kind in zip(names, kinds, strict=True)]
