"""Explanations of findings: sentences, sums and pictures.

A record holds its steps in words. They are read back for ``tacit explain --audit``: the inverse of
:func:`tacit.model.finding.render_step`. Colours of pictures follow the reader's light or dark setting; whatever a colour says is also
written, and every picture has a title and a text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from textwrap import wrap
from typing import Any

from tacit.model import finding as model
from tacit.model.finding import Finding, Goal, Lines, More, Phrase, Remark, Share, Shorter, ShownAbove, Step, Term, Total
from tacit.model.numbers import Bound
from tacit.model.release import Release
from tacit.model.words import join_names, state_values
from tacit.reports.document import WIDTH, bullet, capitalise, fold
from tacit.reports.pictures import WIDTH as PICTURE_WIDTH
from tacit.reports.pictures import Canvas, shorten
from tacit.reports.sentences import counted, people, signed_amount

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
        what = "the table shows these counts" if finding["code"] == "T01" else "it is so in every database that fits"
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
    return Bound(*sorted((_read_whole(lo), _read_whole(hi or lo))))  # swapped ends are no bound, and render otherwise


def _read_whole(text: str) -> int:
    return int(text.replace(",", ""))


def _bracket_at_end(text: str) -> tuple[str, str]:
    depth = 0
    for place in range(len(text) - 1, 0, -1) if text.endswith(")") else ():
        depth += {")": 1, "(": -1}.get(text[place], 0)
        if depth == 0:
            return text[: place - 1], text[place + 1 : -1]
    return text, ""


# Pictures

MOST_ROWS = 16  #: So many rows are drawn; of the others it is said how many there are.

#: The height of a row, the place of its bar below its label, and the room for a number to the right of the bars.
_ROW = 36.0
_BAR = 13.0
_NUMBER = 92.0
_LETTERS = 64  #: So many letters fit in a label or a line of a note.


@dataclass(frozen=True, slots=True)
class Row:
    """Row of a picture: label, bar, style, number."""

    label: str
    start: float
    end: float
    style: str
    number: str
    before: tuple[float, float] | None = None  #: Where what was known before ends, on both sides.


def sensitive_values(told: Explanation, releases: Iterable[Release]) -> tuple[str, ...]:
    """Return the values of the sensitive column that a finding about rules is about."""
    headers = [one.header for one in releases if one.kind == "rules"]
    event = told.finding["event"]
    known = [one for header in headers for one in header.sensitive if not header.marginals or one.column in event]
    return next((one.values for one in known if one.values), ())


def explanation_picture(
    told: Explanation, *, values: Sequence[str] = (), bars: Mapping[str, float] | None = None, name: str = "finding"
) -> Canvas | None:
    """Draw a finding, or return None.

    ``values`` are those of the sensitive column, ``bars`` the policy's limits; ``name`` tells several pictures of a page apart.
    """
    finding = told.finding
    artist = _Artist(told, name)
    if "certificate" not in finding:
        return _draw_estimate(artist, bars or {})
    proof = finding["certificate"]
    if "worlds" in proof:
        return _draw_choices(artist)
    if "matching" in proof or "below" in proof:
        return _draw_values(artist, values)
    if "counts" in proof:
        return _draw_counts(artist, bars or {})
    is_sum = any(isinstance(step, model.Term) for step in told.derivation)
    if finding["code"] == "I02" or (finding["code"] == "R01" and not is_sum):
        return _draw_bounds(artist)
    return _draw_sum(artist)


@dataclass(frozen=True, slots=True)
class _Artist:
    """Drawer of the picture of one finding."""

    told: Explanation
    name: str

    def canvas(self, rows: int, note: str, spoken: str) -> Canvas:
        """Return a canvas with a note below the rows."""
        notes = wrap(note, _LETTERS)
        sources = f", from {self.told.sources}" if self.told.sources else ""
        canvas = Canvas(
            self.name,
            title=self.told.finding["statement"],
            subtitle=shorten(f"{self.told.finding['id']}{sources}", 2 * _LETTERS),
            description=spoken,
            height=_ROW * rows + 8 + 17 * len(notes),
        )
        for number, line in enumerate(notes):
            canvas.text(4, _ROW * rows + 18 + 17 * number, line, "small", anchor="start")
        return canvas

    def bars(self, rows: Sequence[Row], note: str, spoken: str, *, limit: float | None = None) -> Canvas:
        """Return a picture of bars, each below its label."""
        near = min([0.0, *(row.start for row in rows)])
        far = max([1.0, *(row.end for row in rows)])
        room = PICTURE_WIDTH - 8 - _NUMBER

        def x(value: float) -> float:
            return 4 + room * (value - near) / (far - near)

        canvas = self.canvas(len(rows), note, spoken)
        canvas.line(x(0), 2, x(0), _ROW * len(rows), "axis")
        for place, row in enumerate(rows):
            top = _ROW * place
            canvas.text(8, top + 12, shorten(row.label, _LETTERS), "small", anchor="start")
            end = 0.0
            if row.before is not None:
                end = x(row.before[1])
                canvas.rect(x(row.before[0]), top + 17, end - x(row.before[0]), _BAR, "before")
            wide = max(3.0, x(row.end) - x(row.start))  # one person among thousands stays in sight
            canvas.rect(x(row.start), top + 17, wide, _BAR, row.style)
            canvas.text(max(x(row.start) + wide, end) + 6, top + 28, row.number, "number", anchor="start")
        if limit is not None:
            canvas.line(x(limit), 2, x(limit), _ROW * len(rows), "limit")
        return canvas


def _draw_sum(artist: _Artist) -> Canvas | None:
    told = artist.told
    terms = _above_zero(list(_terms(told.derivation)))
    if not terms:
        return None
    lo, hi = told.finding["count"]
    rows = []
    at = 0.0
    for label, value, number in terms:
        rows.append(Row(label, min(at, at + value), max(at, at + value), "add" if value > 0 else "take", number))
        at += value
    hidden = max(0, len(rows) - MOST_ROWS)
    rows = rows[:MOST_ROWS]
    left = _span(lo, hi)
    rows.append(Row("what is left", 0, max(0.0, lo), "left", f"= {left}"))
    note = "Grey bars take away what blue bars add; orange is who is left."
    if hidden:
        note = f"And {counted(hidden, 'more term')}, not drawn."
    spoken = ", ".join(f"{number} {label}" for label, _, number in terms[:MOST_ROWS])
    return artist.bars(rows, note, f"The sum: {spoken}; that leaves {left}.")


def _above_zero(terms: list[tuple[str, float, str]]) -> list[tuple[str, float, str]]:
    """Return terms in an order in which no sum of the first few is negative, where there is one."""
    out: list[tuple[str, float, str]] = []
    at = 0.0
    while terms:
        fitting = next((place for place, (_, value, _) in enumerate(terms) if at + value >= 0), 0)
        out.append(terms.pop(fitting))
        at += out[-1][1]
    return out


def _terms(steps: Sequence[Step]) -> Iterator[tuple[str, float, str]]:
    """Yield the terms of the shorter sum, or of the group's first."""
    begin = max((place + 1 for place, step in enumerate(steps) if isinstance(step, Shorter)), default=0)
    goals: list[Goal] = []
    is_wanted = not any(isinstance(step, Goal) for step in steps)
    has_begun = False
    for step in steps[begin:]:
        if isinstance(step, Goal):
            if has_begun:
                return
            is_wanted = step.group == model.THE_GROUP
            goals.append(step)
        elif not is_wanted:
            continue
        elif isinstance(step, Term):
            has_begun = True
            end = step.bound.lo if step.times > 0 else step.bound.hi
            yield step.what or model.render_phrase(step.where), float(step.times * end), signed_amount(step)
        elif isinstance(step, ShownAbove) and step.number <= len(goals):
            has_begun = True
            value = float(step.times * goals[step.number - 1].value)
            yield f"shown before ({step.number})", value, f"{'+' if value > 0 else '-'} {abs(value):,.0f}"
        elif isinstance(step, Total):
            return


def _draw_bounds(artist: _Artist) -> Canvas:
    finding = artist.told.finding
    steps = finding["certificate"]["steps"]
    ends = [float(step[end]) for step in steps for end in ("at_least", "at_most") if end in step]
    far = max([*ends, float(finding["count"][1])])
    last: dict[str, Row] = {}
    for step in steps:
        label = join_names(step["items"], "and") if step["items"] else "all people"
        row = last.get(label, Row(label, 0.0, far, "add", "", (0.0, far)))
        low = max(row.start, step.get("at_least", 0))
        high = min(row.end, step.get("at_most", far))
        open_end = high >= far and not any("at_most" in one and one["items"] == step["items"] for one in steps)
        number = f"{low:,.0f} or more" if open_end else f"{low:,.0f}" if low == high else f"{low:,.0f} to {high:,.0f}"
        last[label] = replace(row, start=low, end=high, number=number)
    rows = list(last.values())
    hidden = max(0, len(rows) - MOST_ROWS)
    lo, hi = finding["count"]
    rows = [*rows[hidden:], Row("the group of the finding", lo, hi, "left", _span(lo, hi))]
    note = f"{counted(hidden, 'earlier itemset')} not drawn; " if hidden else ""
    note += "light: possible at first; blue: what the steps leave of it; orange: the group of the finding."
    return artist.bars(rows, capitalise(note), f"How many people there can be: {_speak(rows)}.")


def _draw_values(artist: _Artist, values: Sequence[str]) -> Canvas:
    finding = artist.told.finding
    matching = finding["certificate"].get("matching")
    if matching is not None:
        left = list(matching["left"])
        others = f"used up by {counted(matching['users'], 'other')} of the group"
        out = [(value, "ruled out by what is known") for value in matching["ruled_out"]]
        out += [(value, others) for value in matching["used_up"]]
    else:
        left = _left_values(finding)
        out = [(value, "ruled out by the published numbers") for value in values if value not in left]
        out = out or [("every other value", "ruled out by the published numbers")]
    rows = [*((value, "possible" if len(left) > 1 else "certain") for value in left), *out]
    hidden = max(0, len(rows) - MOST_ROWS)
    note = (
        f"And {counted(hidden, 'more value')}." if hidden else "Filled: the person can have it. Crossed: nobody who fits has it."
    )
    spoken = "; ".join(f"{value}: {why}" for value, why in rows)
    canvas = artist.canvas(len(rows[:MOST_ROWS]), note, spoken)
    for place, (value, why) in enumerate(rows[:MOST_ROWS]):
        y = _ROW * (place + 0.5)
        if why in ("possible", "certain"):
            canvas.circle(16, y, 9, "left")
        else:
            canvas.circle(16, y, 8, "out")
            canvas.line(11, y - 5, 21, y + 5, "axis")
            canvas.line(11, y + 5, 21, y - 5, "axis")
        canvas.text(36, y - 1, shorten(value, 56), "number", anchor="start")
        canvas.text(36, y + 13, why, "small", anchor="start")
    return canvas


def _left_values(finding: Mapping[str, Any]) -> list[str]:
    event = finding["event"]
    sensitive = finding["certificate"].get("sensitive")
    if sensitive in event:
        return list(event[sensitive])
    for column, values in event.items():
        _, ending = state_values("|", finding["count"][0], column, values).split("|", 1)
        if len(values) > 1 or finding["statement"].endswith(ending):
            return list(values)
    return []


def _draw_counts(artist: _Artist, bars: Mapping[str, float]) -> Canvas | None:
    finding = artist.told.finding
    counts = finding["certificate"]["counts"]
    if not counts:
        return None
    whole = counts["records"]
    both = counts["showing"]
    rows = [
        Row("records that fit the pattern", 0, whole, "take", f"{whole:,}"),
        Row("of them with the value in sight", 0, both, "add", f"{both:,} ({100 * both / whole:.1f} %)"),
        Row("blank records that it tells", 0, finding["count"][1], "left", f"{finding['count'][1]:,}"),
    ]
    limit = bars.get("min_confidence")
    note = f"The policy allows a rule up to {100 * limit:g} % of those that fit." if limit is not None else "Counts of records."
    return artist.bars(rows, note, _speak(rows), limit=whole * limit if limit is not None else None)


def _draw_estimate(artist: _Artist, bars: Mapping[str, float]) -> Canvas | None:
    told = artist.told
    if told.probability is None:
        return None
    shares = [f"{step.share:.3f}" for step in told.derivation if isinstance(step, Share)]
    probability = f"{told.probability:.3f}"
    rows = [Row("share among all people", 0, float(share), "take", share) for share in shares[:1]]
    rows.append(Row("probability for these people, estimated", 0, float(probability), "left", probability))
    limit = bars.get("max_posterior")
    note = "Grey is what an outsider knows anyway" if shares else "An estimate, not a proof"
    note += f"; the policy allows up to {limit:g}." if limit is not None else "."
    return artist.bars(rows, note, _speak(rows), limit=limit)


def _draw_choices(artist: _Artist) -> Canvas:
    finding = artist.told.finding
    lo, hi = finding["count"]
    fit = int(finding["certificate"]["worlds"]["fit"])
    rows = [
        Row("choices of people that fit all lines", 0, fit, "add", f"{fit:,}"),
        Row("people in the group, in each of them", 0, hi, "left", _span(lo, hi)),
    ]
    return artist.bars(rows, "Every way to choose the people was tried.", _speak(rows))


def _span(lo: int, hi: int) -> str:
    return f"{lo:,}" if lo == hi else f"{lo:,} to {hi:,}"


def _speak(rows: Iterable[Row]) -> str:
    return "; ".join(f"{row.label}: {row.number}" for row in rows)
