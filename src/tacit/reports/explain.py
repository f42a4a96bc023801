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
from html import escape
from typing import Any

from tacit.model import finding as model
from tacit.model.finding import Finding, Goal, Lines, More, Phrase, Remark, Share, Shorter, ShownAbove, Step, Term, Total
from tacit.model.numbers import Bound
from tacit.model.words import join_names, state_values
from tacit.reports.document import WIDTH, bullet, fold, visible
from tacit.reports.pictures import shorten
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

_WIDE = 720
_LABEL = 268
_LEFT = 280
_RIGHT = 100
_ROW = 36
#: So many letters fit in a line of the title, of a label, and of a note; titles and labels take two lines at most.
_TITLE = 68
_LETTERS = 38
_NOTE = 104
_STYLE = (
    "svg{--ink:#1b1b1b;--soft:#5a5a5a;--page:#fff;--grid:#d9d9d9;--add:#0072b2;--take:#9a9a9a;--left:#d55e00;--band:#bcd9ee}"
    "@media (prefers-color-scheme:dark){svg{--ink:#eee;--soft:#b5b5b5;--page:#1b1d20;--grid:#44474c;--add:#56b4e9;--take:#7d7d7d;"
    "--left:#ff8c42;--band:#24465c}}"
    "text{font:13px system-ui,sans-serif;fill:var(--ink)}.title{font-size:16px;font-weight:600}.small{font-size:12px;fill:var(--soft)}"
    ".label{font-size:12px}"
    ".page{fill:var(--page)}.grid{stroke:var(--grid)}.axis{stroke:var(--soft)}.add{fill:var(--add)}.take{fill:var(--take)}"
    ".left{fill:var(--left)}.before{fill:var(--band)}.mark{stroke:var(--left);stroke-width:2}.out{fill:none;stroke:var(--take);stroke-width:2}"
)


@dataclass(frozen=True, slots=True)
class Row:
    """Row of a picture: label, bar, style, number."""

    label: str
    start: float
    end: float
    style: str
    number: str
    before: tuple[float, float] | None = None  #: Where what was known before ends, on both sides.


def explanation_svg(told: Explanation, *, values: Sequence[str] = (), bars: Mapping[str, float] | None = None) -> str | None:
    """Return the picture of a finding, or None.

    ``values`` are those of the sensitive column, ``bars`` the policy's limits.
    """
    finding = told.finding
    if "certificate" not in finding:
        return _estimate_svg(told, bars or {})
    proof = finding["certificate"]
    if "worlds" in proof:
        return _choices_svg(told)
    if "matching" in proof or "below" in proof:
        return _values_svg(told, values)
    if "counts" in proof:
        return _counts_svg(told, bars or {})
    is_sum = any(isinstance(step, model.Term) for step in told.derivation)
    if finding["code"] == "I02" or (finding["code"] == "R01" and not is_sum):
        return _bounds_svg(told)
    return _sum_svg(told)


def _sum_svg(told: Explanation) -> str | None:
    terms = list(_terms(told.derivation))
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
    note = "grey bars take away what blue bars add; orange is who is left"
    if hidden:
        note = f"and {counted(hidden, 'more term')}, not drawn"
    spoken = ", ".join(f"{number} {label}" for label, _, number in terms[:MOST_ROWS])
    return _picture(told, rows, note, f"The sum: {spoken}; that leaves {left}.")


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


def _bounds_svg(told: Explanation) -> str | None:
    finding = told.finding
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
    note += "wide band: possible at first; blue: what the steps leave of it; orange: the group of the finding"
    return _picture(told, rows, note, f"How many people there can be: {_speak(rows)}.")


def _values_svg(told: Explanation, values: Sequence[str]) -> str:
    finding = told.finding
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
    parts = []
    rows = [*((value, "possible" if len(left) > 1 else "certain") for value in left), *out]
    hidden = max(0, len(rows) - MOST_ROWS)
    for place, (value, why) in enumerate(rows[:MOST_ROWS]):
        y = _top(told) + _ROW * (place + 0.5)
        is_left = value in left and why in ("possible", "certain")
        parts += _label(value, y)
        if is_left:
            parts.append(f'<circle class="left" cx="{_LEFT + 14}" cy="{y:.1f}" r="9"/>')
        else:
            parts.append(f'<circle class="out" cx="{_LEFT + 14}" cy="{y:.1f}" r="8"/>')
            parts.append(f'<path class="axis" d="M{_LEFT + 9},{y - 5:.1f}l10,10m0,-10l-10,10"/>')
        parts.append(f'<text x="{_LEFT + 36}" y="{y + 4:.1f}">{escape(shorten(why, 44))}</text>')
    note = f"and {counted(hidden, 'more value')}" if hidden else "filled: the person can have it; crossed: nobody who fits has it"
    spoken = "; ".join(f"{value}: {why}" for value, why in rows)
    return _frame(told, parts, len(rows[:MOST_ROWS]), note, spoken)


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


def _counts_svg(told: Explanation, bars: Mapping[str, float]) -> str | None:
    counts = told.finding["certificate"]["counts"]
    if not counts:
        return None
    whole = counts["records"]
    both = counts["showing"]
    rows = [
        Row("records that fit the pattern", 0, whole, "take", f"{whole:,}"),
        Row("of them with the value in sight", 0, both, "add", f"{both:,} ({100 * both / whole:.1f} %)"),
        Row("blank records that it tells", 0, told.finding["count"][1], "left", f"{told.finding['count'][1]:,}"),
    ]
    limit = bars.get("min_confidence")
    note = f"the policy allows a rule up to {100 * limit:g} % of those that fit" if limit is not None else "counts of records"
    return _picture(told, rows, note, _speak(rows), mark=whole * limit if limit is not None else None)


def _estimate_svg(told: Explanation, bars: Mapping[str, float]) -> str | None:
    if told.probability is None:
        return None
    shares = [f"{step.share:.3f}" for step in told.derivation if isinstance(step, Share)]
    probability = f"{told.probability:.3f}"
    rows = [Row("share among all people", 0, float(share), "take", share) for share in shares[:1]]
    rows.append(Row("probability for these people, estimated", 0, float(probability), "left", probability))
    limit = bars.get("max_posterior")
    note = "grey is what an outsider knows anyway" if shares else "an estimate, no proof"
    note += f"; the policy allows up to {limit:g}" if limit is not None else ""
    return _picture(told, rows, note, _speak(rows), mark=limit)


def _choices_svg(told: Explanation) -> str:
    (lo, hi) = told.finding["count"]
    fit = int(told.finding["certificate"]["worlds"]["fit"])
    rows = [
        Row("choices of people that fit all lines", 0, fit, "add", f"{fit:,}"),
        Row("people in the group, in each of them", 0, hi, "left", _span(lo, hi)),
    ]
    return _picture(told, rows, "every way to choose the people was tried", _speak(rows))


def _span(lo: int, hi: int) -> str:
    return f"{lo:,}" if lo == hi else f"{lo:,} to {hi:,}"


def _speak(rows: Iterable[Row]) -> str:
    return "; ".join(f"{row.label}: {row.number}" for row in rows)


def _picture(told: Explanation, rows: Sequence[Row], note: str, spoken: str, *, mark: float | None = None) -> str:
    near = min([0.0, *(row.start for row in rows)])
    far = max([1.0, *(row.end for row in rows)])
    top = _top(told)
    room = _WIDE - _LEFT - _RIGHT

    def x(value: float) -> float:
        return _LEFT + room * (value - near) / (far - near)

    floor = top + _ROW * len(rows)
    parts = [f'<line class="axis" x1="{x(0):.1f}" y1="{top - 4}" x2="{x(0):.1f}" y2="{floor}"/>']
    for place, row in enumerate(rows):
        y = top + _ROW * place + _ROW / 2
        parts += _label(row.label, y)
        if row.before is not None:
            low = x(row.before[0])
            high = x(row.before[1])
            parts.append(f'<rect class="before" x="{low:.1f}" y="{y - 9}" width="{high - low:.1f}" height="18"/>')
        low = x(row.start)
        high = x(row.end)
        wide = max(3.0, high - low)  # one person among thousands stays in sight
        parts.append(f'<rect class="{row.style}" x="{low:.1f}" y="{y - 8}" width="{wide:.1f}" height="16"/>')
        right = max(low + wide, x(row.before[1]) if row.before else 0.0)
        parts.append(f'<text x="{right + 6:.1f}" y="{y + 4:.1f}">{escape(row.number)}</text>')
    if mark is not None:
        parts.append(f'<line class="mark" x1="{x(mark):.1f}" y1="{top - 4}" x2="{x(mark):.1f}" y2="{floor}"/>')
    return _frame(told, parts, len(rows), note, spoken)


def _top(told: Explanation) -> int:
    return 68 + 20 * (len(_lines(told.finding["statement"], _TITLE)) - 1)


def _frame(told: Explanation, parts: Sequence[str], rows: int, note: str, spoken: str) -> str:
    finding = told.finding
    top = _top(told)
    notes = _lines(note, _NOTE)
    height = top + _ROW * rows + 16 + 17 * len(notes)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {_WIDE} {height}" width="{_WIDE}" height="{height}">'
    from_where = f"{finding['id']}" + (f", from {told.sources}" if told.sources else "")
    title = f"<title>{escape(visible(finding['statement']))}</title><desc>{escape(visible(spoken))}</desc><style>{_STYLE}</style>"
    words = [
        f'<text class="title" x="12" y="{26 + 20 * number}">{escape(line)}</text>'
        for number, line in enumerate(_lines(finding["statement"], _TITLE))
    ]
    words.append(f'<text class="small" x="12" y="{top - 22}">{escape(shorten(from_where, _NOTE))}</text>')
    words += [
        f'<text class="small" x="12" y="{top + _ROW * rows + 20 + 17 * number}">{escape(line)}</text>'
        for number, line in enumerate(notes)
    ]
    page = f'<rect class="page" width="{_WIDE}" height="{height}"/>'
    return "\n".join([head, title, page, *words, *parts, "</svg>", ""])


def _label(text: str, y: float) -> list[str]:
    lines = _lines(text, _LETTERS)
    first = y + 4 - 7 * (len(lines) - 1)
    return [
        f'<text class="label" x="{_LABEL}" y="{first + 14 * number:.1f}" text-anchor="end">{escape(line)}</text>'
        for number, line in enumerate(lines)
    ]


def _lines(text: str, letters: int) -> list[str]:
    seen = visible(text)
    if len(seen) <= letters:
        return [seen]
    break_at = seen.rfind(" ", 1, letters + 1)
    first = seen[:break_at] if break_at > letters // 3 else seen[:letters]
    rest = seen[len(first) :].strip()
    return [first, rest if len(rest) <= letters else rest[: letters - 1] + "…"]
