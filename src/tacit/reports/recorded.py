"""Steps of a finding that comes from a record.

A record tells its steps in words only. This module is the one place that reads them back, for ``tacit explain --audit``: the inverse of
:func:`tacit.model.steps.render_step`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from tacit.model.numbers import Bound
from tacit.model.steps import (
    THE_GROUP,
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
    render_lines,
    render_step,
)

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
        """Return the parsed step, or a remark."""
        for read in (self._term, _total, _goal, _more, _shorter, _share):
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
    """Return the number that a text begins with."""
    rest = text.lstrip("0123456789")
    return [text[: len(text) - len(rest)]] if rest[:1] in ("", ",", ")", ":", ";") else [""]


def _total(text: str) -> Step | None:
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
