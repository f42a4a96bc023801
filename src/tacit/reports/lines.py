"""Line charts as SVG files that stand alone, in the style of the reports' pictures.

Every line has its own colour and its own mark, so that it can be told apart without seeing colours; the legend stands below.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape

from tacit.model.reproduction import Chart

WIDTH, PLOT = 460, 230
_LEFT, _RIGHT, _TOP = 62, 26, 34
_ROW, _LEGEND_COLUMNS = 18, 2

#: Okabe and Ito's colours, which people with the usual kinds of colour blindness can tell apart; dark ones first.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
_STYLE = (
    "text{font:11px system-ui,sans-serif;fill:#222}.title{font-size:13px;font-weight:600}.axis{stroke:#444}.grid{stroke:#ddd}"
)


def line_chart(chart: Chart, *, title: str, description: str) -> str:
    """A chart as a whole SVG file."""
    legend = -(-len(chart.lines) // _LEGEND_COLUMNS) * _ROW
    height = _TOP + PLOT + 48 + legend
    across = _Scale.over((x for _, points in chart.lines for x, _ in points), _LEFT, WIDTH - _RIGHT, logarithmic=False)
    upwards = _Scale.over(
        (y for _, points in chart.lines for _, y in points), _TOP + PLOT, _TOP, logarithmic=chart.logarithmic, from_zero=True
    )
    parts = [_text(WIDTH / 2, 18, title, style="title"), *_grid(across, upwards)]
    parts.append(_text((_LEFT + WIDTH - _RIGHT) / 2, _TOP + PLOT + 34, chart.x_label))
    parts.append(_text(13, _TOP + PLOT / 2, chart.y_label, turned=True))
    for number, (name, points) in enumerate(chart.lines):
        parts += _line(number, [(across.place(x), upwards.place(y)) for x, y in points if upwards.shows(y)])
        column, row = number % _LEGEND_COLUMNS, number // _LEGEND_COLUMNS
        x, y = _LEFT + column * (WIDTH - _LEFT - _RIGHT) / _LEGEND_COLUMNS, _TOP + PLOT + 52 + row * _ROW
        parts += [*_line(number, [(x, y), (x + 24, y)]), _text(x + 32, y + 4, name, anchor="start")]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">'
    told = f"<title>{escape(title)}</title><desc>{escape(description)}</desc><style>{_STYLE}</style>"
    return "\n".join([head, told, f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>', *parts, "</svg>", ""])


class _Scale:
    """Where numbers lie between two ends of an axis, and which of them are written at it."""

    def __init__(self, low: float, high: float, start: float, end: float, *, logarithmic: bool) -> None:
        self._logarithmic = logarithmic
        self._start, self._end = start, end
        if logarithmic:
            low, high = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
        self._low, self._high = low, max(high, low + 1) if logarithmic or high <= low else high
        self.ticks = list(self._ticks())

    @classmethod
    def over(cls, values: Iterable[float], start: float, end: float, *, logarithmic: bool, from_zero: bool = False) -> _Scale:
        """A scale that shows all the values; on a logarithmic one, those above 0."""
        listed = [value for value in values if value > 0 or not logarithmic] or [1.0]
        low = 0.0 if from_zero and not logarithmic else min(listed)
        return cls(low, max(listed), start, end, logarithmic=logarithmic)

    def shows(self, value: float) -> bool:
        """Whether a value has a place."""
        return value > 0 or not self._logarithmic

    def place(self, value: float) -> float:
        """The coordinate of a value."""
        position = math.log10(value) if self._logarithmic else value
        return self._start + (self._end - self._start) * (position - self._low) / (self._high - self._low)

    def _ticks(self) -> Iterable[float]:
        if self._logarithmic:
            step = max(1, math.ceil((self._high - self._low) / 7))
            return [10.0**power for power in range(int(self._low), int(self._high) + 1, step)]
        rough = (self._high - self._low) / 6
        unit = 10 ** math.floor(math.log10(rough))
        step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough * 0.999)
        first = math.ceil(self._low / step - 1e-9)
        return [number * step for number in range(first, math.floor(self._high / step + 1e-9) + 1)]


def _grid(across: _Scale, upwards: _Scale) -> list[str]:
    floor, right = _TOP + PLOT, WIDTH - _RIGHT
    parts = []
    for value in upwards.ticks:
        y = upwards.place(value)
        parts.append(f'<line class="grid" x1="{_LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}"/>')
        parts.append(_text(_LEFT - 6, y + 4, _short(value), anchor="end"))
    for value in across.ticks:
        x = across.place(value)
        parts.append(f'<line class="axis" x1="{x:.1f}" y1="{floor}" x2="{x:.1f}" y2="{floor + 4}"/>')
        parts.append(_text(x, floor + 17, _short(value)))
    parts.append(f'<path class="axis" fill="none" d="M{_LEFT},{_TOP}V{floor}H{right}"/>')
    return parts


def _line(number: int, points: list[tuple[float, float]]) -> list[str]:
    """A line with a mark at every point; the mark changes with the number of the line."""
    colour = COLOURS[number % len(COLOURS)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dashes = ("", "6 3", "2 3", "8 3 2 3")[number % 4]
    parts = [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6" stroke-dasharray="{dashes}"/>']
    return parts + [_mark(number, x, y, colour) for x, y in points]


def _mark(number: int, x: float, y: float, colour: str) -> str:
    if number % 3 == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{colour}"/>'
    if number % 3 == 1:
        return f'<rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6" fill="{colour}"/>'
    return f'<path d="M{x:.1f},{y - 4:.1f}l4,7h-8z" fill="{colour}"/>'


def _short(value: float) -> str:
    """A number as it stands at an axis.

    >>> [_short(value) for value in (0.001, 0.25, 40.0, 2000.0, 1e6)]
    ['0.001', '0.25', '40', '2,000', '1,000,000']
    """
    return f"{value:,.0f}" if value == round(value) else f"{value:.6g}"


def _text(x: float, y: float, text: str, *, anchor: str = "middle", style: str = "", turned: bool = False) -> str:
    turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
    kind = f' class="{style}"' if style else ""
    return f'<text{kind} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{turn}>{escape(text)}</text>'
