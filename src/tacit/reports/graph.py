"""Graphs in rows as SVG files that stand alone, in the style of the reports' pictures."""

from __future__ import annotations

from html import escape

from tacit.model.reproduction import Graph

_NODE, _HIGH, _GAP, _BETWEEN, _TOP, _SIDE = 84, 34, 18, 58, 44, 20
_STYLE = (
    "text{font:11px system-ui,sans-serif;fill:#222;text-anchor:middle}.title{font-size:13px;font-weight:600}"
    ".node{fill:#fff;stroke:#444}.shaded{fill:#f3d6c4;stroke:#a63;stroke-width:1.6}.edge{stroke:#999}"
)


def graph_picture(graph: Graph, *, title: str, description: str) -> str:
    """A graph as a whole SVG file; shaded nodes also have a thicker border, so that they can be told apart without seeing colours."""
    longest = max((len(row) for row in graph.rows), default=1)
    width = max(460, longest * (_NODE + _GAP) - _GAP + 2 * _SIDE)
    height = _TOP + len(graph.rows) * (_HIGH + _BETWEEN) - _BETWEEN + _SIDE
    places: dict[str, tuple[float, float]] = {}
    for number, row in enumerate(graph.rows):
        left = (width - len(row) * (_NODE + _GAP) + _GAP) / 2
        for place, (name, _, _) in enumerate(row):
            places[name] = left + place * (_NODE + _GAP), _TOP + number * (_HIGH + _BETWEEN)
    parts = [f'<text class="title" x="{width / 2:.1f}" y="20">{escape(title)}</text>']
    for upper, lower in graph.edges:
        (x, y), (to_x, to_y) = places[upper], places[lower]
        parts.append(
            f'<line class="edge" x1="{x + _NODE / 2:.1f}" y1="{y + _HIGH:.1f}" x2="{to_x + _NODE / 2:.1f}" y2="{to_y:.1f}"/>'
        )
    for row in graph.rows:
        for name, below, shaded in row:
            x, y = places[name]
            kind, middle = "shaded" if shaded else "node", x + _NODE / 2
            parts.append(f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{_NODE}" height="{_HIGH}" rx="6"/>')
            parts.append(f'<text x="{middle:.1f}" y="{y + 14:.1f}">{escape(name)}</text>')
            parts.append(f'<text x="{middle:.1f}" y="{y + 27:.1f}">{escape(below)}</text>')
    head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    told = f"<title>{escape(title)}</title><desc>{escape(description)}</desc><style>{_STYLE}</style>"
    return "\n".join([head, told, f'<rect width="{width}" height="{height}" fill="#fff"/>', *parts, "</svg>", ""])
