"""A chart of curves as one SVG file that stands by itself: no library, no script, nothing from outside.

Counts go from nothing to millions, so heights are logarithmic, with a place of its own for 0; other numbers may be drawn on a plain scale.
Curves differ in colour (safe for colour-blind readers) and in the shape of their marks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 760, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 230, 54, 58
_FLOOR = HEIGHT - _BOTTOM
#: Between 0 and 1 a logarithmic axis has endless room; here it is this many points.
_GAP = 26
#: How wide a letter of a label is, about, and the room between two labels.
_LETTER, _ROOM = 7.5, 8
#: Okabe and Ito's colours.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#7A5C00", "#56B4E9", "#000000")
_SHAPES = ("circle", "square", "triangle", "diamond")
#: From this ratio of the largest to the smallest on, the lower axis is logarithmic as well.
_WIDE = 20

_STYLE = """
text { font: 13px system-ui, sans-serif; fill: #222 }
.title { font-size: 16px; font-weight: 600 }
.small { font-size: 12px; fill: #555 }
.axis { stroke: #444 } .grid { stroke: #ddd } .curve { fill: none; stroke-width: 2 }
"""


@dataclass(frozen=True, slots=True)
class Curve:
    """Points (x, a number) from left to right, with a name and a remark for the legend; x is above 0."""

    name: str
    points: tuple[tuple[float, float], ...]
    remark: str = ""


def chart(
    curves: Sequence[Curve], *, title: str, description: str, x_label: str, y_label: str, unit: str = "", linear: bool = False
) -> str:
    """The curves as a picture; ``unit`` stands behind the numbers of the lower axis, ``linear`` makes heights plain instead of logarithmic."""
    across = _Across.of([x for curve in curves for x, _ in curve.points])
    heights = [y for curve in curves for _, y in curve.points]
    up = _Plain.of(heights) if linear else _Up(max(heights, default=0))
    parts = [_text(_LEFT, 24, title, "title"), *up.ticks(), *across.ticks(unit)]
    parts.append(_line(_LEFT, _FLOOR, WIDTH - _RIGHT, _FLOOR, "axis"))
    for number, curve in enumerate(curves):
        places = [(across.at(x), up.at(y)) for x, y in curve.points]
        parts += _curve(places, number)
        parts += _legend(curve, number, len(curves))
    log = " (logarithmic)" if across.log else ""
    parts.append(_text((_LEFT + WIDTH - _RIGHT) / 2, HEIGHT - 14, x_label + log, "label", anchor="middle"))
    parts.append(_text(_LEFT, _TOP - 12, y_label if linear else f"{y_label} (logarithmic)", "small"))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">'
    told = f"<title>{escape(title)}</title><desc>{escape(description)}</desc><style>{_STYLE}</style>"
    return "\n".join([head, told, f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>', *parts, "</svg>"]) + "\n"


@dataclass(frozen=True, slots=True)
class _Across:
    """The lower axis."""

    values: tuple[float, ...]
    low: float
    high: float
    log: bool

    @classmethod
    def of(cls, values: Sequence[float]) -> _Across:
        chosen = tuple(sorted(set(values)))
        low, high = (chosen[0], chosen[-1]) if chosen else (1.0, 1.0)
        log = low > 0 and high / low > _WIDE
        return cls(chosen, math.log10(low) if log else low, math.log10(high) if log else high, log)

    def at(self, value: float) -> float:
        """Where a value lies; a little inside, so that marks do not touch the edge."""
        inner = WIDTH - _LEFT - _RIGHT - 40
        place = math.log10(value) if self.log else value
        share = (place - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return _LEFT + 20 + inner * share

    def ticks(self, unit: str) -> list[str]:
        """A label under every value, as far as there is room."""
        parts = []
        taken = -math.inf
        for value in self.values:
            x, label = self.at(value), f"{value:,.4g}{unit}"
            parts.append(_line(x, _FLOOR, x, _FLOOR + 5, "axis"))
            half = len(label) * _LETTER / 2
            if x - half >= taken:
                parts.append(_text(x, _FLOOR + 21, label, "tick", anchor="middle"))
                taken = x + half + _ROOM
        return parts


@dataclass(frozen=True, slots=True)
class _Up:
    """The axis of counts: 0 on the floor, then a gap, then powers of ten."""

    most: float

    @property
    def decades(self) -> int:
        return max(1, math.ceil(math.log10(max(self.most, 1)) - 1e-9))

    def at(self, count: float) -> float:
        """How high a count lies."""
        if count <= 0:
            return _FLOOR
        return _FLOOR - _GAP - math.log10(count) * (_FLOOR - _GAP - _TOP) / self.decades

    def ticks(self) -> list[str]:
        parts = [_text(_LEFT - 10, _FLOOR + 4, "0", "tick", anchor="end")]
        for decade in range(self.decades + 1):
            y = self.at(10**decade)
            parts.append(_line(_LEFT, y, WIDTH - _RIGHT, y, "grid"))
            parts.append(_text(_LEFT - 10, y + 4, f"{10**decade:,}", "tick", anchor="end"))
        return parts


@dataclass(frozen=True, slots=True)
class _Plain:
    """An axis of numbers in round steps, from below the smallest to above the largest."""

    step: float
    first: int
    last: int

    @classmethod
    def of(cls, values: Sequence[float]) -> _Plain:
        """The axis for these values, in about five steps.

        >>> axis = _Plain.of([0.076, 0.202])
        >>> [round(step * axis.step, 2) for step in range(axis.first, axis.last + 1)]
        [0.05, 0.1, 0.15, 0.2, 0.25]
        """
        low, high = (min(values), max(values)) if values else (0.0, 1.0)
        span = (high - low) or abs(high) or 1.0
        ten = 10.0 ** math.floor(math.log10(span / 4))
        step = next(ten * part for part in (1, 2, 5, 10) if span / (ten * part) <= 5)
        return cls(step, math.floor(low / step + 1e-9), max(math.ceil(high / step - 1e-9), math.floor(low / step + 1e-9) + 1))

    def at(self, value: float) -> float:
        """How high a value lies."""
        share = (value / self.step - self.first) / (self.last - self.first)
        return _FLOOR - share * (_FLOOR - _TOP)

    def ticks(self) -> list[str]:
        parts = []
        for number in range(self.first, self.last + 1):
            y = self.at(number * self.step)
            parts += [_line(_LEFT, y, WIDTH - _RIGHT, y, "grid")] if number > self.first else []
            parts.append(_text(_LEFT - 10, y + 4, f"{number * self.step:,.6g}", "tick", anchor="end"))
        return parts


def _curve(places: Sequence[tuple[float, float]], number: int) -> list[str]:
    """A line through the points, and a mark on each."""
    colour = _COLOURS[number % len(_COLOURS)]
    way = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    line = [f'<polyline class="curve" points="{way}" stroke="{colour}"{_dashes(number)}/>'] if len(places) > 1 else []
    return line + [_mark(x, y, number) for x, y in places]


def _dashes(number: int) -> str:
    """Dashes where the colours begin again."""
    again = number // len(_COLOURS)
    return f' stroke-dasharray="{6 * again} 4"' if again else ""


def _mark(x: float, y: float, number: int) -> str:
    colour, shape = _COLOURS[number % len(_COLOURS)], _SHAPES[number % len(_SHAPES)]
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colour}"/>'
    corners = {
        "square": ((-4, -4), (4, -4), (4, 4), (-4, 4)),
        "triangle": ((0, -5.5), (5, 4), (-5, 4)),
        "diamond": ((0, -6), (5, 0), (0, 6), (-5, 0)),
    }[shape]
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return f'<polygon points="{points}" fill="{colour}"/>'


def _legend(curve: Curve, number: int, total: int) -> list[str]:
    """Name and remark on the right, closer together where there are many."""
    step = min(40.0, (HEIGHT - _TOP - 20) / max(1, total))
    x, y = WIDTH - _RIGHT + 22, _TOP + 8 + number * step
    parts = [_mark(x, y, number), _text(x + 14, y + 4, curve.name, "label")]
    if curve.remark and step >= 30:
        parts.append(_text(x + 14, y + 20, curve.remark, "small"))
    return parts


def _line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    return f'<line class="{style}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, style: str, *, anchor: str = "start") -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
