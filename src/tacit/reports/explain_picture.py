"""Explanations of findings as pictures.

Colours follow the reader's light or dark setting; whatever a colour says is also written, and every picture has a title and a text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Any

from tacit.model import finding as model
from tacit.model.finding import Goal, More, Share, Shorter, ShownAbove, Step, Term, Total
from tacit.model.release import Release
from tacit.model.words import join_names, state_values
from tacit.reports.document import capitalise, counted
from tacit.reports.explain import Explanation
from tacit.reports.pictures import WIDTH, Canvas, shorten
from tacit.reports.sentences import signed_amount

MOST_ROWS = 16  #: Rows drawn at most; the others are counted.

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

    ``values`` are those of the sensitive column, ``bars`` the policy's limits; ``name`` distinguishes several pictures of a page.
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
    if "rows" in proof.get("counts", ()):
        return _draw_class(artist, bars or {})
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
        room = WIDTH - 8 - _NUMBER

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
    found = list(_terms(told.derivation))
    terms = _above_zero([one for one in found if not isinstance(one, More)])
    if not terms:
        return None
    lo, hi = told.finding["count"]
    others = max(0, len(terms) - MOST_ROWS) + sum(one.number for one in found if isinstance(one, More))
    terms = terms[:MOST_ROWS]
    if others:  # in one bar, from where the others end to what is left
        rest = max(0.0, lo) - sum(value for _, value, _ in terms)
        terms.append((counted(others, "more term"), rest, f"{'+' if rest > 0 else '-'} {abs(rest):,.0f}"))
    rows = []
    at = 0.0
    for label, value, number in terms:
        rows.append(Row(label, min(at, at + value), max(at, at + value), "add" if value > 0 else "take", number))
        at += value
    left = _span(lo, hi)
    rows.append(Row("what is left", 0, max(0.0, lo), "left", f"= {left}"))
    note = "Grey bars take away what blue bars add; orange is who is left."
    spoken = ", ".join(f"{number} {label}" for label, _, number in terms)
    return artist.bars(rows, note, f"The sum: {spoken}; that leaves {left}.")


def _above_zero(terms: list[tuple[str, float, str]]) -> list[tuple[str, float, str]]:
    """Return terms in an order without negative partial sums, if one exists."""
    out: list[tuple[str, float, str]] = []
    at = 0.0
    while terms:
        fitting = next((place for place, (_, value, _) in enumerate(terms) if at + value >= 0), 0)
        out.append(terms.pop(fitting))
        at += out[-1][1]
    return out


def _terms(steps: Sequence[Step]) -> Iterator[tuple[str, float, str] | More]:
    """Yield the terms of the shorter sum, or of the group's first, and how many more there are."""
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
        elif isinstance(step, More) and has_begun and step.what.startswith("terms"):
            yield step
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
        row = last.get(label, Row(label, 0.0, far, "add", number="", before=(0.0, far)))
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
        Row("blank records that it reveals", 0, finding["count"][1], "left", f"{finding['count'][1]:,}"),
    ]
    limit = bars.get("min_confidence")
    note = f"The policy allows a rule up to {100 * limit:g} % of those that fit." if limit is not None else "Counts of records."
    return artist.bars(rows, note, _speak(rows), limit=whole * limit if limit is not None else None)


def _draw_class(artist: _Artist, bars: Mapping[str, float]) -> Canvas | None:
    lo, hi = artist.told.finding["count"]
    least = bars.get("k", 0)
    if hi >= least:
        return None  # the sensitive values are told, and the number of people says nothing
    rows = [Row("rows that show these values", 0, lo, "left", f"{lo:,}")]
    if hi > lo:
        rows.append(Row("and those that may, as cells are blank", 0, hi, "add", f"{hi:,}"))
    rows.append(Row("people that the policy asks for", 0, least, "take", f"{least:,}"))
    return artist.bars(rows, "People with the same quasi-identifiers.", _speak(rows))


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
