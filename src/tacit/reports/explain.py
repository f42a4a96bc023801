"""Explanations of findings in sentences and sums.

A record holds its steps in words. They are read back for ``tacit explain --audit``: the inverse of
:func:`tacit.model.finding.render_step`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.model import finding as model
from tacit.model.finding import Finding, Goal, Lines, More, Phrase, Remark, Share, Shorter, ShownAbove, Step, Term, Total
from tacit.model.numbers import Bound
from tacit.reports.document import WIDTH, bullet, fold, people

SHOWN_LINES = 12  #: The number of lines of a file that the last sentence names.


# Sentences


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
        """Return the explanation of a recorded finding."""
        names = _names(files)
        reader = _Reader(names)
        # An estimate ends: "with probability 0.875 (estimated)."
        _, found, rest = finding["statement"].rpartition(" probability ")
        number = rest.removeprefix("of up to ").partition(" ")[0]
        probability = float(number) if found and number.replace(".", "", 1).isdecimal() else None
        return cls(finding, names, tuple(map(reader.step, finding["steps"])), probability)

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
        named = [(self.files[owner], sorted(mine)) for owner, mine in sorted(lines.items()) if owner < len(self.files)]
        return "; ".join(f"{file}{_numbered(mine)}" for file, mine in named)

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
        what = "the table shows these counts" if finding["code"] in ("T01", "T03") else "it is so in every database that fits"
        last = f"Proved: {what}.{sources} tacit verify re-checks it."
    else:
        last = f"Estimated: a probability, not a proof.{sources}"
    return "\n".join([*lines, "", *fold(last, width)]) + "\n"


def _names(files: Sequence[str | None]) -> tuple[str, ...]:
    return tuple(name or f"release {number}" for number, name in enumerate(files, start=1))


def _sentences(steps: Iterable[Step], code: str, owner: str | None) -> Iterator[Sentence]:
    def render(lines: Lines) -> str:
        return model.render_lines(Lines(lines.numbers, lines.file or owner))

    has_begun = False
    for step in steps:
        if isinstance(step, Term | ShownAbove):
            verb = "Take away" if step.times < 0 else "Add" if has_begun else "Start from"
            has_begun = True
            if isinstance(step, Term):
                text = f"{verb} {model.render_amount(step)}{model.render_counted(step, render)}"
            else:
                text = f"{verb} {model.render_times(step.times)}what was shown above ({step.number})"
        elif isinstance(step, Total):
            has_begun = False
            text = f"The sum is {model.render_total(step.bound)}."
            if code != "R03":
                left = people(step.bound.lo) if step.bound.is_exact else f"{model.render_total(step.bound)} people"
                text = f"That leaves {left}."
        elif isinstance(step, More):
            text = f"And {step.number:,} more {step.what}"
        elif isinstance(step, Remark):
            text = model.render_phrase(step.phrase, render)
        else:
            has_begun = has_begun and not isinstance(step, Goal)
            text = model.render_step(step)
        cited = [(lines.file or owner, number) for lines in model.lines_named(step) for number in lines.numbers]
        ended = text if text.endswith((".", ":")) else f"{text}."
        yield Sentence(ended, tuple((file, number) for file, number in cited if file is not None))


def _numbered(lines: Sequence[int]) -> str:
    if not lines:
        return ""
    if len(lines) == 1:
        return f", line {lines[0]}"
    shown = [str(line) for line in lines[:SHOWN_LINES]]
    last = f"{len(lines) - SHOWN_LINES:,} more" if len(lines) > SHOWN_LINES else shown.pop()
    return f", lines {', '.join(shown)} and {last}"


def files_of(releases: Iterable[Mapping[str, Any]]) -> list[str | None]:
    """Return the files of an audit by its record."""
    # Of a bucketized release it is the second file, whose lines are cited.
    names = [entry.get("file") for entry in releases]
    kinds = [entry.get("kind") for entry in releases]
    return [name.rpartition(" and ")[2] if name and kind == "buckets" else name for name, kind in zip(names, kinds, strict=True)]


# Steps of a record


class _Reader:
    """Parser of the steps of one finding."""

    def __init__(self, files: Sequence[str]) -> None:
        self._files = sorted(files, key=len, reverse=True)

    def step(self, text: str) -> Step:
        """Return the step that reads like this, or a remark."""
        for read in (self._term, _read_total, _read_goal, _read_more, _read_shorter, _read_share):
            with suppress(ValueError, LookupError, ArithmeticError):
                step = read(text)
                if model.render_step(step) == text:
                    return step
        return Remark(self._phrase(text))

    def _term(self, text: str) -> Step:
        word, _, rest = text.partition(" ")
        times = Fraction({"plus": 1, "minus": -1}[word])
        number, _, after = rest.partition(" ")
        if after.startswith("times "):
            times *= Fraction(number.replace(",", ""))
            rest = after.removeprefix("times ")
        if rest.startswith("what was shown above ("):
            return ShownAbove(times, int(rest.removeprefix("what was shown above (").removesuffix(")")))
        head, _, group = rest.partition(": ")
        if "(" in head:  # only a place follows the number
            head, _, where = rest.partition(" (")
            return Term(times, _read_bound(head), where=self._phrase(where.removesuffix(")")))
        what, where = _bracket_at_end(group)
        return Term(times, _read_bound(head), what, self._phrase(where))

    def _phrase(self, text: str) -> Phrase:
        """Return a text with lines at its start, in brackets, or listed."""
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
                    end = begin + len(model.render_lines(lines))
            place = text.lower().find("line", max(end, place + 1))
        return tuple(part for part in (*parts, text[end:]) if part)

    def _lines(self, text: str, place: int) -> Lines | None:
        word, _, rest = text[place:].partition(" ")
        after = rest.lstrip("0123456789")
        listed = [rest[: len(rest) - len(after)]] if after[:1] in ("", ",", ")", ":", ";") else [""]
        if word == "lines":
            listed = rest.partition(")")[0].replace(" and ", ", ").split(", ")
        if word.lower() not in ("line", "lines") or not all(number.isdecimal() for number in listed):
            return None
        file = next((file for file in self._files if text[:place].endswith(f"{file}, ")), None)
        return Lines(tuple(map(int, listed)), file)


def _read_total(text: str) -> Step:
    return Total(_read_bound(text.removeprefix("sum: ").removeprefix("between ").replace(" and ", " to ")))


def _read_goal(text: str) -> Step:
    _, end, number, group = text.removesuffix(":").split(" ", 3)
    return Goal("least" if end == "least" else "most", _read_whole(number), group)


def _read_more(text: str) -> Step:
    _, number, _, what = text.split(" ", 3)
    return More(_read_whole(number), what)


def _read_shorter(text: str) -> Step:
    return Shorter(text.partition(": ")[2])


def _read_share(text: str) -> Step:
    return Share(float(text.removesuffix(".").rpartition(" ")[2]))


def _read_bound(text: str) -> Bound:
    lo, _, hi = text.partition(" to ")
    return Bound(*sorted((_read_whole(lo), _read_whole(hi or lo))))  # swapped ends are not a bound, and render otherwise


def _read_whole(text: str) -> int:
    return int(text.replace(",", ""))


def _bracket_at_end(text: str) -> tuple[str, str]:
    depth = 0
    for place in range(len(text) - 1, 0, -1) if text.endswith(")") else ():
        depth += {")": 1, "(": -1}.get(text[place], 0)
        if depth == 0:
            return text[: place - 1], text[place + 1 : -1]
    return text, ""
