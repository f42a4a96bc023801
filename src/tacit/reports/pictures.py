"""Pictures as SVG: canvas, axis, and charts.

A picture is part of a page, which holds the style sheet, or a file, which then holds its own. Sizes keep letters readable when
a page scales the picture down to the width of a phone. Curves differ in colour (safe for colour-blind readers) and in their marks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from textwrap import wrap

import numpy as np

from tacit.model.arrays import Ints
from tacit.model.reproduction import Graph
from tacit.reports.colours import DARK, LIGHT
from tacit.reports.document import visible

WIDTH = 460
_LEFT = 46
_RIGHT = 10
_LETTER = 7.0  #: The approximate width of a letter of a label.

#: Okabe and Ito's colours, as far as they are seen on white and on black.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7a5c00", "#56b4e9", "#7f7f7f")
#: The corners of the marks of curves; the first mark is a circle.
_MARKS: tuple[tuple[tuple[float, float], ...], ...] = (
    (),
    ((-4, -4), (4, -4), (4, 4), (-4, 4)),
    ((0, -5.5), (5, 4), (-5, 4)),
    ((0, -6), (5, 0), (0, 6), (-5, 0)),
)

Points = Sequence[tuple[float, float]]


class Canvas:
    """A picture under construction."""

    def __init__(
        self, name: str, *, title: str, description: str, height: float, width: float = WIDTH, subtitle: str = ""
    ) -> None:
        self.name = name
        self.title = title
        self.subtitle = subtitle
        self.description = description
        self.width = width
        self.height = height
        self._parts: list[str] = []

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
        """Draw a straight line."""
        self._shape("line", style, x1=x1, y1=y1, x2=x2, y2=y2)

    def rect(self, x: float, y: float, width: float, height: float, style: str, *, radius: float = 0) -> None:
        """Draw a rectangle."""
        self._shape("rect", style, x=x, y=y, width=width, height=height, rx=radius)

    def circle(self, x: float, y: float, radius: float, style: str) -> None:
        """Draw a circle."""
        self._shape("circle", style, cx=x, cy=y, r=radius)

    def diamond(self, x: float, y: float, style: str) -> None:
        """Draw a diamond around a point."""
        self._shape("path", style, d=f"M{x:.1f},{y - 7:.1f}l6,7l-6,7l-6,-7z")

    def ring(self, x: float, y: float, width: float, height: float, style: str) -> None:
        """Draw the outline of a rounded rectangle inside the canvas."""
        left = max(1.0, x)
        top = max(1.0, y)
        self._shape("rect", style, x=left, y=top, width=width - (left - x), height=height - (top - y), rx=2)

    def squares(self, number: float, across: int, style: str) -> None:
        """Draw squares in rows from the left, the last one in part."""
        step = self.width / across
        gap = min(2.0, 0.14 * step)
        for row in range(math.ceil(number / across)):
            here = min(float(across), number - row * across)
            whole = int(here)
            long = step * whole + (here - whole) * (step - gap)
            y = step * (row + 0.5)
            dashes = {"stroke-dasharray": f"{step - gap:.3f} {gap:.3f}", "stroke-width": f"{step - gap:.2f}"}
            self._shape("line", f"row {style}", x1=0.0, y1=y, x2=max(0.4, long), y2=y, **dashes)

    def text(self, x: float, y: float, text: str, style: str = "", *, anchor: str = "middle", turned: bool = False) -> None:
        """Write a text; ``turned`` makes it read upwards."""
        turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
        place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{turn}'
        self._parts.append(f'<text class="{style}" {place}>{_escape(text)}</text>')

    def curve(self, points: Points, number: int) -> None:
        """Draw a line with marks; dash repeated colours."""
        if not points:
            return
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        again = number // len(_COLOURS)
        dashes = {"stroke-dasharray": f"{6 * again} 4"} if again else {}
        self._shape("polyline", "curve", points=corners, stroke=_COLOURS[number % len(_COLOURS)], **dashes)
        for x, y in points:
            self.mark(x, y, number)

    def mark(self, x: float, y: float, number: int) -> None:
        """Draw the mark of a curve."""
        colour = _COLOURS[number % len(_COLOURS)]
        corners = _MARKS[number % len(_MARKS)]
        if not corners:
            self._shape("circle", "mark", cx=x, cy=y, r=4.5, fill=colour)
            return
        points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
        self._shape("polygon", "mark", points=points, fill=colour)

    def __repr__(self) -> str:
        return f"<Picture {visible(self.title)}>"

    def _repr_svg_(self) -> str:
        return self.standalone()

    def save(self, path: str | Path) -> None:
        """Write the picture as an SVG file."""
        Path(path).write_text(self.standalone(), encoding="utf-8")

    def _shape(self, tag: str, style: str, **attributes: float | str) -> None:
        shown = {name: value for name, value in attributes.items() if name != "rx" or value}
        listed = (f'{name}="{value if isinstance(value, str) else format(value, ".1f")}"' for name, value in shown.items())
        self._parts.append(f'<{tag} class="{style}" {" ".join(listed)}/>')

    def embedded(self) -> str:
        """Return the picture for a page with style sheet."""
        name = escape(self.name)
        head = f'<svg class="picture" role="img" aria-labelledby="{name}-title {name}-desc" viewBox="0 0 {self.width:g} {self.height:g}">'
        words = f'<title id="{name}-title">{_escape(self.title)}</title><desc id="{name}-desc">{_escape(self.description)}</desc>'
        return "\n".join([head, words, *self._parts, "</svg>"])

    def standalone(self) -> str:
        """Return the picture as a file with styles."""
        lines = [(line, "title") for line in wrap(visible(self.title), 54)]
        lines += [(line, "small") for line in wrap(visible(self.subtitle), 70)]
        above = 20 * len(lines) + 8
        heading = Canvas("", title="", description="", height=0)
        heading.rect(0, -above, self.width, self.height + above, "sheet")
        for number, (line, style) in enumerate(lines):
            heading.text(12, 20 * (number + 1) - above, line, style, anchor="start")
        size = f'width="{self.width:g}" height="{self.height + above:g}"'
        box = f'viewBox="0 {-above} {self.width:g} {self.height + above:g}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" class="picture" role="img" {box} {size}>'
        words = f"<title>{_escape(self.title)}</title><desc>{_escape(self.description)}</desc><style>{_style_sheet()}</style>"
        return "\n".join([head, words, *heading._parts, *self._parts, "</svg>", ""])


def _escape(text: str) -> str:
    return escape(visible(text))


@cache
def _style_sheet() -> str:
    """Return rules with plain colours for simple viewers."""
    rules = files("tacit.reports").joinpath("templates", "picture.css").read_text("utf-8")

    def colour(palette: dict[str, str]) -> str:
        return re.sub(r"var\(--([\w-]+)\)", lambda found: palette[found[1]], rules)

    return f"\n{colour(LIGHT)}@media (prefers-color-scheme: dark) {{\n{colour(DARK)}}}\n"


def shorten(text: str, letters: int) -> str:
    """Cut a text that is too long."""
    shown = visible(text)
    return shown if len(shown) <= letters else shown[: letters - 1] + "…"


def tick_text(value: float) -> str:
    """Write a number at an axis."""
    for unit, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if value >= 10_000 and value >= unit and value % unit == 0:
            return f"{value / unit:,.0f}{letter}"
    return f"{value:,.0f}" if value == round(value) else f"{value:.4g}"


@dataclass(frozen=True, slots=True)
class Axis:
    """Scale between two coordinates, and its labels.

    On a logarithmic axis ``low`` and ``high`` are exponents, and ``zero`` is the place of 0, where it has one.
    """

    start: float
    end: float
    low: float
    high: float
    ticks: tuple[float, ...]
    is_logarithmic: bool = False
    zero: float | None = None

    @classmethod
    def linear(cls, values: Sequence[float], start: float, end: float, *, from_zero: bool = False) -> Axis:
        """Return an axis in about five round steps."""
        low = 0.0 if from_zero else min(values, default=0.0)
        high = max(values, default=1.0)
        span = (high - low) or abs(high) or 1.0
        unit = 10.0 ** math.floor(math.log10(span / 4))
        step = next(unit * factor for factor in (1, 2, 5, 10) if span / (unit * factor) <= 5)
        first = math.floor(low / step + 1e-9)
        last = max(math.ceil(high / step - 1e-9), first + 1)
        ticks = tuple(number * step for number in range(first, last + 1))
        return cls(start, end, low=ticks[0], high=ticks[-1], ticks=ticks)

    @classmethod
    def decades(cls, values: Sequence[float], start: float, end: float, *, gap: float = 0) -> Axis:
        """Return a logarithmic axis; 0 lies ``gap`` below."""
        positive = [value for value in values if value > 0] or [1.0]
        low = math.floor(math.log10(min(positive)) + 1e-9)
        if gap:
            low = min(low, 0)
        high = max(math.ceil(math.log10(max(positive)) - 1e-9), low + 1)
        step = max(1, math.ceil((high - low) / 7))
        ticks = tuple(10.0**power for power in range(low, high + 1, step))
        lowest = start + math.copysign(gap, end - start)
        zero = start if gap else None
        return cls(lowest, end, low=low, high=high, ticks=ticks, is_logarithmic=True, zero=zero)

    @classmethod
    def of_values(cls, values: Sequence[float], start: float, end: float, *, may_be_logarithmic: bool) -> Axis:
        """Return an axis marked at the values."""
        chosen = tuple(sorted(set(values))) or (1.0,)
        low = chosen[0]
        high = chosen[-1]
        if may_be_logarithmic and low > 0 and high / low > 20:
            return cls(start, end, low=math.log10(low), high=math.log10(high), ticks=chosen, is_logarithmic=True)
        return cls(start, end, low=low, high=high, ticks=chosen)

    def shows(self, value: float) -> bool:
        """Return True if the value has a place."""
        return value > 0 or not self.is_logarithmic or self.zero is not None

    def at(self, value: float) -> float:
        """Return the coordinate of a value."""
        if self.is_logarithmic and value <= 0:
            assert self.zero is not None
            return self.zero
        position = math.log10(value) if self.is_logarithmic else value
        share = (position - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return self.start + (self.end - self.start) * share


# Bars


@dataclass(frozen=True, slots=True)
class Bar:
    """Bar with its label and height."""

    label: str
    value: int


def histogram(
    bars: Sequence[Bar], *, name: str, title: str, description: str, x_label: str, y_label: str, style: str = "danger"
) -> Canvas:
    """Draw labelled bars in style ``danger`` or ``fact``."""
    canvas = Canvas(name, title=title, description=description, height=280)
    _draw_bars(canvas, {style: bars}, top=30, x_label=x_label, y_label=y_label)
    return canvas


def before_and_after(before: Sequence[Bar], after: Sequence[Bar], *, name: str, title: str, description: str) -> Canvas:
    """Draw two bars for each label, with their numbers."""
    canvas = Canvas(name, title=title, description=description, height=280)
    _draw_bars(canvas, {"danger": before, "fact": after}, top=44, x_label="people in the group", y_label="groups")
    canvas.text(_LEFT, 16, f"before: {sum(bar.value for bar in before):,}", "label danger", anchor="start")
    canvas.text(WIDTH - _RIGHT, 16, f"after: {sum(bar.value for bar in after):,}", "label fact", anchor="end")
    return canvas


def _draw_bars(canvas: Canvas, series: dict[str, Sequence[Bar]], *, top: float, x_label: str, y_label: str) -> None:
    floor = canvas.height - 46
    room = floor - top
    most = max((bar.value for bars in series.values() for bar in bars), default=0) or 1
    labels = [bar.label for bar in next(iter(series.values()))]
    step = (WIDTH - _LEFT - _RIGHT) / max(1, len(labels))
    wide = 0.8 * step / len(series)
    canvas.line(_LEFT, floor, WIDTH - _RIGHT, floor, "axis")
    canvas.text(14, top + room / 2, y_label, "label", turned=True)
    canvas.text((WIDTH + _LEFT) / 2, canvas.height - 6, x_label, "label")
    for place, label in enumerate(labels):
        left = _LEFT + (place + 0.1) * step
        for number, (style, bars) in enumerate(series.items()):
            value = bars[place].value
            tall = room * value / most
            if value:
                canvas.rect(left + number * wide, floor - tall, wide * 0.95, tall, f"bar {style}")
            if value or len(series) == 1:
                canvas.text(left + (number + 0.475) * wide, floor - tall - 5, f"{value:,}", "number")
        canvas.text(left + 0.4 * step, floor + 16, label, "tick")


def bars_of_sizes(sizes: Ints, numbers: Ints, k: int, *, most_bars: int = 12) -> list[Bar]:
    """Count groups by size (or range) up to k-1."""
    last = max(1, k - 1)
    wide = -(-last // most_bars)
    totals = np.zeros(-(-last // wide), np.int64)
    np.add.at(totals, np.minimum((sizes - 1) // wide, len(totals) - 1), numbers)
    bars = []
    for start, total in zip(range(1, last + 1, wide), totals.tolist(), strict=True):
        end = min(start + wide - 1, last)
        bars.append(Bar(f"{start:,}" if start == end else f"{start:,}-{end:,}", total))
    return bars


def bars_of_shares(shares: Iterable[float], people: Ints, ends: Sequence[float]) -> list[Bar]:
    """Count people by probability, without leading empty bars."""
    place = np.searchsorted(ends, list(shares))
    totals = np.bincount(place, people, len(ends) + 1).astype(np.int64).tolist()
    names = [f"{end:g}".removeprefix("0") for end in (*ends, 1.0)]
    labels = [f"to {names[0]}", *(f"{low}-{high}" for low, high in pairwise(names))]
    bars = [Bar(label, total) for label, total in zip(labels, totals, strict=True)]
    while len(bars) > 2 and bars[0].value == 0:
        bars.pop(0)
    return bars


def published_and_computed(
    published: Ints, sizes: Ints, numbers: Ints, *, k: int, n: int | None, name: str, title: str, description: str
) -> Canvas:
    """Draw published counts, and computed groups below them."""
    above_at = 122.0
    below_at = 146.0
    room = 88.0
    canvas = Canvas(name, title=title, description=description, height=280)
    right = max(10, n or 0, int(published.max(initial=0)), k)
    decades = max(1, math.ceil(math.log10(right)))
    scale = (WIDTH - _LEFT - _RIGHT) / decades
    above = _log_histogram(published, np.ones(len(published), np.int64), decades * 8)
    below = _log_histogram(sizes, numbers, decades * 8)
    for heights, axis, style, upwards in ((above, above_at, "bar fact", True), (below, below_at, "bar danger", False)):
        most = max(1, int(heights.max(initial=0)))
        for place in np.flatnonzero(heights).tolist():
            tall = max(2.0, room * int(heights[place]) / most)  # the smallest stays visible
            canvas.rect(_LEFT + place * scale / 8 + 0.5, axis - tall if upwards else axis, scale / 8 - 1, tall, style)
        canvas.line(_LEFT, axis, WIDTH - _RIGHT, axis, "axis")
    for decade in range(decades + 1):
        anchor = "end" if decade == decades else "start" if decade == 0 else "middle"
        canvas.text(_LEFT + decade * scale, above_at + 17, tick_text(10**decade), "tick", anchor=anchor)
    x = _LEFT + math.log10(k) * scale
    canvas.line(x, 24, x, above_at, "limit")
    canvas.line(x, below_at, x, below_at + room + 6, "limit")
    is_right = x > WIDTH - 90
    canvas.text(x - 5 if is_right else x + 5, 34, f"k = {k:,}", "number", anchor="end" if is_right else "start")
    canvas.text(WIDTH - _RIGHT, 14, f"published: {int(above.sum()):,} counts", "label fact", anchor="end")
    canvas.text(WIDTH - _RIGHT, below_at + 20, "people, logarithmic scale", "label", anchor="end")
    canvas.text(_LEFT, canvas.height - 10, f"computed: {int(below.sum()):,} groups", "label danger", anchor="start")
    return canvas


def _log_histogram(values: Ints, numbers: Ints, bins: int) -> Ints:
    """Count the values in each eighth of a decade."""
    kept = values > 0
    places = np.minimum((np.log10(values[kept]) * 8 + 1e-9).astype(np.int64), bins - 1)
    return np.bincount(places, weights=numbers[kept], minlength=bins).astype(np.int64)


# People

_SQUARES = 1_000  #: Squares of a picture of people, where there are more people.
_MOST_ACROSS = 50


def waffle(concerned: int, guessed: int, n: int, *, name: str, title: str, description: str) -> Canvas:
    """Draw all people as squares: those ``concerned``, up to those ``guessed``, and the others.

    Areas are exact: a square is filled in part where it stands for more people than are concerned, and a ring makes it visible.
    """
    squares = min(n, _SQUARES)
    across = min(_MOST_ACROSS, max(10, math.ceil(math.sqrt(2.5 * squares))))
    step = WIDTH / across
    rows = -(-squares // across)
    canvas = Canvas(name, title=title, description=description, height=rows * step + 4)
    canvas.squares(squares, across, "square")
    for number, style in ((max(concerned, guessed), "caution"), (concerned, "danger")):
        canvas.squares(number * squares / n, across, style)
    filled = max(concerned, guessed) * squares / n
    if 0 < filled < 3:
        canvas.ring(-1, -1, math.ceil(filled) * step + 2, step + 2, "halo" if concerned else "halo caution-halo")
    return canvas


# Estimates


@dataclass(frozen=True, slots=True)
class Range:
    """Estimate with baseline, range and proved bounds."""

    label: str
    baseline: float
    estimate: float
    lower: float | None = None
    upper: float | None = None
    least: float | None = None
    most: float | None = None


def ranges(rows: Sequence[Range], *, name: str, title: str, description: str, subtitle: str = "") -> Canvas:
    """Draw estimates with their baselines (rings) and bounds (bars)."""
    step = 36.0
    top = 44.0
    floor = top + step * len(rows)
    canvas = Canvas(name, title=title, subtitle=subtitle, description=description, height=floor + 46)
    labels = [shorten(row.label, 18) for row in rows]
    left = 22 + max(24.0, _LETTER * max(map(len, labels), default=0))
    scale = Axis(left, WIDTH - 24, low=0, high=1, ticks=(0, 0.2, 0.4, 0.6, 0.8, 1))
    _draw_range_legend(canvas, rows)
    for tick in scale.ticks:
        canvas.line(scale.at(tick), top, scale.at(tick), floor, "grid")
        canvas.text(scale.at(tick), floor + 17, f"{tick:g}", "tick")
    canvas.line(left, floor, WIDTH - 24, floor, "axis")
    canvas.text((WIDTH + left) / 2, floor + 38, "probability", "label")
    for place, (row, label) in enumerate(zip(rows, labels, strict=True)):
        y = top + step * (place + 0.6)
        baseline = scale.at(row.baseline)
        estimate = scale.at(row.estimate)
        canvas.text(left - 12, y + 4, label, "tick", anchor="end")
        if row.lower is not None and row.upper is not None:
            low = scale.at(row.lower)
            high = scale.at(row.upper)
            canvas.rect(low, y - 8, max(high - low, 0.0), 16, "band")
            canvas.line(low, y - 8, low, y + 8, "edge")
            canvas.line(high, y - 8, high, y + 8, "edge")
        if row.least is not None and row.most is not None:
            canvas.line(scale.at(row.least), y, scale.at(row.most), y, "range")
        canvas.line(baseline, y, estimate, y, "gain")
        canvas.circle(baseline, y, 5, "ring")
        canvas.diamond(estimate, y, "estimate")
        anchor = "end" if row.estimate > 0.9 else "start" if row.estimate < 0.1 else "middle"
        canvas.text(estimate, y - 10, f"{row.estimate:.3f}", "small", anchor=anchor)
    return canvas


def _draw_range_legend(canvas: Canvas, rows: Sequence[Range]) -> None:
    canvas.circle(16, 14, 5, "ring")
    canvas.text(28, 18, "among all", "small", anchor="start")
    canvas.diamond(108, 14, "estimate")
    canvas.text(120, 18, "estimate", "small", anchor="start")
    x = 190
    if any(row.lower is not None for row in rows):
        canvas.rect(x, 7, 20, 14, "band")
        canvas.text(x + 26, 18, "proved bounds", "small", anchor="start")
        x += 124
    if any(row.least is not None for row in rows):
        canvas.line(x, 14, x + 20, 14, "range")
        canvas.text(x + 26, 18, "range within the group", "small", anchor="start")


# Curves


@dataclass(frozen=True, slots=True)
class Curve:
    """Points from left to right, with legend."""

    name: str
    points: tuple[tuple[float, float], ...]
    remark: str = ""


#: The top and the floor of the plot of a line chart, and the height of a row of its legend.
_TOP = 28
_FLOOR = 250
_LEGEND_ROW = 19


def line_chart(
    curves: Sequence[Curve],
    *,
    name: str,
    title: str,
    description: str,
    x_label: str,
    y_label: str,
    unit: str = "",
    is_linear: bool = False,
    draws_zero: bool = True,
    may_stretch: bool = True,
) -> Canvas:
    """Draw curves over an axis, with a legend.

    Heights are logarithmic unless ``is_linear``; ``draws_zero`` then gives 0 a place of its own on the floor. ``unit`` stands behind the
    numbers of the lower axis, which may be logarithmic where ``may_stretch``.
    """
    left = 62
    right = WIDTH - 16
    heights = [y for curve in curves for _, y in curve.points]
    values = [x for curve in curves for x, _ in curve.points]
    across = Axis.of_values(values, left + 14, right - 14, may_be_logarithmic=may_stretch)
    if is_linear:
        upwards = Axis.linear(heights, _FLOOR, _TOP, from_zero=not draws_zero)
    else:
        upwards = Axis.decades(heights, _FLOOR, _TOP, gap=26 if draws_zero else 0)
    columns = 1 if any(curve.remark or len(curve.name) > 24 for curve in curves) else 2
    rows = -(-len(curves) // columns)
    canvas = Canvas(name, title=title, description=description, height=_FLOOR + 54 + rows * _LEGEND_ROW)
    canvas.text(4, 14, y_label if is_linear else f"{y_label} (logarithmic)", "small", anchor="start")
    for tick in upwards.ticks:
        canvas.line(left, upwards.at(tick), right, upwards.at(tick), "grid")
        canvas.text(left - 8, upwards.at(tick) + 4, tick_text(tick), "tick", anchor="end")
    if upwards.zero is not None:
        canvas.text(left - 8, upwards.zero + 4, "0", "tick", anchor="end")
    canvas.line(left, _FLOOR, right, _FLOOR, "axis")
    _draw_ticks(canvas, across, unit)
    logarithmic = " (logarithmic)" if across.is_logarithmic else ""
    canvas.text((left + right) / 2, _FLOOR + 38, f"{x_label}{logarithmic}", "label")
    for number, curve in enumerate(curves):
        canvas.curve([(across.at(x), upwards.at(y)) for x, y in curve.points if upwards.shows(y)], number)
        _draw_entry(canvas, curves, number, columns)
    return canvas


def _draw_ticks(canvas: Canvas, axis: Axis, unit: str) -> None:
    taken = -math.inf
    for value in axis.ticks:
        x = axis.at(value)
        label = f"{tick_text(value)}{unit}"
        half = len(label) * _LETTER / 2
        canvas.line(x, _FLOOR, x, _FLOOR + 5, "axis")
        if x - half >= taken:
            canvas.text(x, _FLOOR + 19, label, "tick")
            taken = x + half + 8


def _draw_entry(canvas: Canvas, curves: Sequence[Curve], number: int, columns: int) -> None:
    row, column = divmod(number, columns)
    x = 24 + column * (WIDTH - 24) / columns
    y = _FLOOR + 62 + row * _LEGEND_ROW
    curve = curves[number]
    canvas.mark(x, y - 4, number)
    canvas.text(x + 14, y, shorten(curve.name, 58), "label", anchor="start")
    if curve.remark:
        longest = max(len(one.name) for one in curves)
        canvas.text(x + 30 + _LETTER * min(longest, 36), y, curve.remark, "small", anchor="start")


# Graphs


def graph_picture(graph: Graph, *, name: str, title: str, description: str) -> Canvas:
    """Draw a graph in rows; shaded nodes stand out."""
    wide = 84
    high = 34
    across = wide + 18
    down = high + 58
    longest = max((len(row) for row in graph.rows), default=1)
    width = max(WIDTH, longest * across + 22)
    canvas = Canvas(name, title=title, description=description, width=width, height=len(graph.rows) * down - 58 + 24)
    places: dict[str, tuple[float, float]] = {}
    for number, row in enumerate(graph.rows):
        left = (width - len(row) * across + 18) / 2
        for place, (node, _, _) in enumerate(row):
            places[node] = (left + place * across, 12.0 + number * down)
    for upper, lower in graph.edges:
        x, y = places[upper]
        to_x, to_y = places[lower]
        canvas.line(x + wide / 2, y + high, to_x + wide / 2, to_y, "grid")
    for row in graph.rows:
        for node, below, shaded in row:
            x, y = places[node]
            canvas.rect(x, y, wide, high, "shaded" if shaded else "node", radius=6)
            canvas.text(x + wide / 2, y + 14, node)
            canvas.text(x + wide / 2, y + 27, below, "small")
    return canvas
