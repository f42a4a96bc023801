"""Pictures as SVG text: no library, no script, colours from the page's own style sheet.

Sizes are chosen so that letters stay readable when a page scales the picture down to the width of a phone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from tacit.model.arrays import Ints

WIDTH = 460
_LEFT, _RIGHT = 46, 10


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its label under the axis, its height as a number."""

    label: str
    value: int


def histogram(
    bars: Sequence[Bar], *, name: str, title: str, description: str, x_label: str, y_label: str, style: str = "danger"
) -> str:
    """A bar chart; every bar carries its number. ``style`` says what the bars stand for: a ``danger`` or a ``fact``."""
    height, top, bottom = 280, 30, 46
    floor, room = height - bottom, height - bottom - top
    most = max((bar.value for bar in bars), default=0) or 1
    step = (WIDTH - _LEFT - _RIGHT) / max(1, len(bars))
    parts = [_line(_LEFT, floor, WIDTH - _RIGHT, floor, "axis"), _text(14, top + room / 2, y_label, "label", turned=True)]
    for place, bar in enumerate(bars):
        middle = _LEFT + (place + 0.5) * step
        tall = room * bar.value / most
        if bar.value:
            parts.append(_rect(middle - step * 0.38, floor - tall, step * 0.76, tall, f"bar {style}"))
        parts.append(_text(middle, floor - tall - 5, f"{bar.value:,}", "number"))
        parts.append(_text(middle, floor + 16, bar.label, "tick"))
    parts.append(_text((WIDTH + _LEFT) / 2, height - 6, x_label, "label"))
    return _picture(name, title, description, height, parts)


def before_and_after(before: Sequence[Bar], after: Sequence[Bar], *, name: str, title: str, description: str) -> str:
    """Two bars for each label: what there was, and what there is; every bar carries its number."""
    height, top, bottom = 280, 44, 46
    floor, room = height - bottom, height - bottom - top
    most = max((bar.value for bar in (*before, *after)), default=0) or 1
    step = (WIDTH - _LEFT - _RIGHT) / max(1, len(before))
    parts = [_line(_LEFT, floor, WIDTH - _RIGHT, floor, "axis"), _text(14, top + room / 2, "groups", "label", turned=True)]
    for place, pair in enumerate(zip(before, after, strict=True)):
        middle = _LEFT + (place + 0.5) * step
        for bar, shift, style in zip(pair, (-0.21, 0.21), ("danger", "fact"), strict=True):
            tall = room * bar.value / most
            if bar.value:
                parts.append(_rect(middle + step * (shift - 0.19), floor - tall, step * 0.38, tall, f"bar {style}"))
                parts.append(_text(middle + step * shift, floor - tall - 5, f"{bar.value:,}", "number"))
        parts.append(_text(middle, floor + 16, pair[0].label, "tick"))
    parts.append(_text(_LEFT, 16, f"before: {sum(bar.value for bar in before):,}", "label danger", anchor="start"))
    parts.append(_text(WIDTH - _RIGHT, 16, f"after: {sum(bar.value for bar in after):,}", "label fact", anchor="end"))
    parts.append(_text((WIDTH + _LEFT) / 2, height - 6, "people in the group", "label"))
    return _picture(name, title, description, height, parts)


@dataclass(frozen=True, slots=True)
class Range:
    """One row: its label, the share among all people, the estimate, and the proved bounds where there are any."""

    label: str
    baseline: float
    estimate: float
    lower: float | None = None
    upper: float | None = None


def ranges(rows: Sequence[Range], *, name: str, title: str, description: str) -> str:
    """Estimates on a scale from 0 to 1, each beside its baseline (a ring) and on its bounds (a bar)."""
    step, top = 24, 34
    floor = top + step * len(rows)
    scale = WIDTH - _LEFT - _RIGHT - 10
    parts = [
        _line(_LEFT, floor, WIDTH - _RIGHT, floor, "axis"),
        _text(WIDTH / 2, 16, "ring: among all; diamond: estimate; bar: proved", "label"),
    ]
    for tenth in range(0, 11, 2):
        parts.append(_text(_LEFT + scale * tenth / 10, floor + 17, f"{tenth / 10:g}", "tick"))
    parts.append(_text((WIDTH + _LEFT) / 2, floor + 38, "probability", "label"))
    for place, row in enumerate(rows):
        y = top + step * (place + 0.5)
        first, last = (_LEFT + scale * share for share in (row.baseline, row.estimate))
        parts.append(_text(_LEFT - 14, y + 4, row.label, "tick", anchor="end"))
        if row.lower is not None and row.upper is not None:
            low, high = (_LEFT + scale * share for share in (row.lower, row.upper))
            parts.append(_rect(low - 1, y - 6, max(high - low, 0.0) + 2, 12, "bar band"))
        parts.append(_line(first, y, last, y, "gain"))
        parts.append(f'<circle class="ring" cx="{first:.1f}" cy="{y:.1f}" r="4.5"/>')
        parts.append(f'<path class="bar danger" d="M{last:.1f},{y - 6:.1f}l6,6l-6,6l-6,-6z"/>')
    return _picture(name, title, description, floor + 46, parts)


def bars_of_sizes(sizes: Ints, numbers: Ints, k: int, *, most_bars: int = 12) -> list[Bar]:
    """How many groups there are of each size from 1 to k-1, in ranges where the sizes are many.

    >>> [(bar.label, bar.value) for bar in bars_of_sizes(np.array([1, 3]), np.array([5, 2]), 4)]
    [('1', 5), ('2', 0), ('3', 2)]
    """
    last = max(1, k - 1)
    wide = -(-last // most_bars)
    starts = np.arange(1, last + 1, wide)
    totals = np.zeros(len(starts), np.int64)
    np.add.at(totals, np.minimum((sizes - 1) // wide, len(starts) - 1), numbers)
    ends = [min(int(start) + wide - 1, last) for start in starts]
    return [Bar(_range(int(a), b), int(value)) for a, b, value in zip(starts, ends, totals, strict=True)]


def _range(first: int, last: int) -> str:
    return f"{first:,}" if first == last else f"{first:,}-{last:,}"


def published_and_computed(
    published: Ints, sizes: Ints, numbers: Ints, *, k: int, n: int | None, name: str, title: str, description: str
) -> str:
    """Published counts above a logarithmic axis, the sizes of the groups computed from them below it, and k between."""
    height, above_at, below_at, room = 280, 122, 146, 88
    right = max(10, n or 0, int(published.max(initial=0)), k)
    decades = max(1, math.ceil(math.log10(right)))
    scale = (WIDTH - _LEFT - _RIGHT) / decades
    above = _log_histogram(published, np.ones(len(published), np.int64), decades * 8)
    below = _log_histogram(sizes, numbers, decades * 8)
    parts = [
        *_half(above, above_at, room, scale / 8, "bar fact", upwards=True),
        *_half(below, below_at, room, scale / 8, "bar danger", upwards=False),
        _line(_LEFT, above_at, WIDTH - _RIGHT, above_at, "axis"),
        _line(_LEFT, below_at, WIDTH - _RIGHT, below_at, "axis"),
    ]
    for decade in range(decades + 1):
        parts.append(_text(_LEFT + decade * scale, above_at + 17, _short(10**decade), "tick", anchor=_anchor(decade, decades)))
    x = _LEFT + math.log10(k) * scale
    parts += [_line(x, 24, x, above_at, "limit"), _line(x, below_at, x, below_at + room + 6, "limit")]
    left = x > WIDTH - 90
    parts.append(_text(x - 5 if left else x + 5, 34, f"k = {k:,}", "number", anchor="end" if left else "start"))
    parts.append(_text(WIDTH - _RIGHT, 14, f"published: {int(above.sum()):,} counts", "label fact", anchor="end"))
    parts.append(_text(WIDTH - _RIGHT, below_at + 20, "people, logarithmic scale", "label", anchor="end"))
    parts.append(_text(_LEFT, height - 10, f"computed: {int(below.sum()):,} groups", "label danger", anchor="start"))
    return _picture(name, title, description, height, parts)


def _anchor(place: int, last: int) -> str:
    return "end" if place == last else "start" if place == 0 else "middle"


def _log_histogram(values: Ints, numbers: Ints, bins: int) -> Ints:
    """How many values lie in each eighth of a decade."""
    kept = values > 0
    places = np.minimum((np.log10(values[kept]) * 8 + 1e-9).astype(np.int64), bins - 1)
    return np.bincount(places, weights=numbers[kept], minlength=bins).astype(np.int64)


def _half(heights: Ints, axis: float, room: float, step: float, style: str, *, upwards: bool) -> list[str]:
    """The bars on one side of the axis; the smallest stays visible."""
    most = max(1, int(heights.max(initial=0)))
    out = []
    for place in np.flatnonzero(heights).tolist():
        tall = max(2.0, room * int(heights[place]) / most)
        out.append(_rect(_LEFT + place * step + 0.5, axis - tall if upwards else axis, step - 1, tall, style))
    return out


def _short(number: int) -> str:
    """A power of ten with at most four characters.

    >>> _short(100), _short(100_000), _short(10**7)
    ('100', '100k', '10M')
    """
    for unit, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= unit:
            return f"{number // unit}{letter}"
    return str(number)


def _picture(name: str, title: str, description: str, height: int, parts: list[str]) -> str:
    """The parts as one picture with a title and a description for those who do not see it."""
    head = f'<svg class="picture" role="img" aria-labelledby="{name}-title {name}-desc" viewBox="0 0 {WIDTH} {height}">'
    told = f'<title id="{name}-title">{escape(title)}</title><desc id="{name}-desc">{escape(description)}</desc>'
    return "\n".join([head, told, *parts, "</svg>"])


def _rect(x: float, y: float, width: float, height: float, style: str) -> str:
    return f'<rect class="{style}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>'


def _line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    return f'<line class="{style}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, style: str, *, anchor: str = "middle", turned: bool = False) -> str:
    turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{turn}>{escape(text)}</text>'
