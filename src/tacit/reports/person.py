"""An estimate about somebody, as text and as a picture."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from textwrap import wrap

from tacit.model.person import PersonEstimate
from tacit.reports.layout import WIDTH, bullet
from tacit.reports.summary import counted, visible
from tacit.reports.sweeps import table

#: So many values are shown, the most probable first; of the others it is only said that they are there.
SHOWN_VALUES = 12


def person_text(found: PersonEstimate, *, width: int = WIDTH) -> str:
    """Prior, estimate and bounds of each value, how the estimate comes about, and what it would be without single lines."""
    fit = "fits" if found.people == 1 else "fit"
    several = f", in {found.combinations:,} combinations of quasi-identifiers" if found.combinations > 1 else ""
    head = (
        f"{counted(found.people, 'person', 'people')} {fit} {described(found)}{several}. {found.sensitive}, by maximum entropy:"
    )
    blocks = ["\n".join(wrap(visible(head), width, break_long_words=False, break_on_hyphens=False))]
    blocks.append("\n".join(f"  {line}" for line in _values(found)))
    blocks.append("\n".join(_notes(found, width)))
    if found.proof:
        blocks.append("\n".join(_proof(found, width)))
    if found.steps:
        blocks.append("\n".join(_steps(found, width)))
    if found.influences:
        blocks.append("\n".join(_influences(found, width)))
    return "\n\n".join(blocks) + "\n"


def described(found: PersonEstimate) -> str:
    """Whom it is about, in words."""
    return visible(", ".join(f"{column}={value}" for column, value in found.who.items()) or "any description")


def _values(found: PersonEstimate) -> list[str]:
    head = ["value", "among all", "estimate"]
    if found.combinations > 1:
        head.append("from-to")
    if found.lower is not None:
        head.append("bounds")
    rows = []
    for number in found.order[:SHOWN_VALUES]:
        row = [visible(found.values[number]), share(found.baseline[number]), share(found.posterior[number])]
        if found.combinations > 1:
            row.append(f"{share(found.least[number])}-{share(found.most[number])}")
        if found.lower is not None and found.upper is not None:
            row.append(f"{share(found.lower[number])}-{share(found.upper[number])}")
        rows.append(row)
    lines = table(head, rows, left=[0]).splitlines()
    left = len(found.values) - SHOWN_VALUES
    return [*lines, f"and {counted(left, 'less probable value')}"] if left > 0 else lines


def share(value: float) -> str:
    """A probability with three decimals.

    >>> share(0.25), share(1.0), share(0.99999)
    ('0.250', '1', '1.000')
    """
    return f"{value:.0f}" if value in (0.0, 1.0) else f"{value:.3f}"


def _notes(found: PersonEstimate, width: int) -> Iterator[str]:
    source = "published" if found.baseline_is_published else "itself estimated: it is not published"
    yield from bullet("-", f"among all: the share of the value among all people, which an outsider has anyway; {source}", width)
    yield from bullet("-", "estimate: what published and missing rules leave most open; a probability, no proof", width)
    if found.combinations > 1:
        yield from bullet("-", "from-to: the smallest and largest estimate among the combinations that fit", width)
    if found.lower is None:
        yield from bullet("-", "no bounds: whether any value is certain was not computed", width)
    else:
        yield from bullet("-", "bounds: proved; no database that fits the release has a share outside", width)


def _proof(found: PersonEstimate, width: int) -> Iterator[str]:
    yield "Why that is certain" if sum(upper > 0 for upper in found.upper or ()) == 1 else "Why some values are ruled out"
    for number, step in enumerate(found.proof, start=1):
        yield from bullet(f"{number:>3}.", step, width)


def _steps(found: PersonEstimate, width: int) -> Iterator[str]:
    top = found.order[0]
    yield f"How the estimate of {visible(found.values[top])} comes about"
    yield from bullet(share(1 / len(found.values)).rjust(6), "without any rule", width)
    for step in found.steps:
        yield from bullet(share(step.posterior[top]).rjust(6), f"and {step.said.says}", width)
    rest = found.statements - len(found.steps)
    if rest:
        more = f"and {'one more statement' if rest == 1 else f'all {rest:,} further statements'} of the release"
        yield from bullet(share(found.posterior[top]).rjust(6), more, width)


def _influences(found: PersonEstimate, width: int) -> Iterator[str]:
    top = found.order[0]
    yield f"What single lines do to the estimate of {visible(found.values[top])} ({share(found.posterior[top])})"
    for one in found.influences:
        about = "" if one.said.people else " (about others; it works through lines about both)"
        if one.without is None:
            yield from bullet("     ?", f"{one.said.says}{about}; there was no time to look", width)
            continue
        moved = found.posterior[top] - one.without[top]
        yield from bullet(f"{moved:+.3f}", f"{one.said.says}{about}; without it {share(one.without[top])}", width)


# The picture

_WIDE, _LEFT, _RIGHT, _ROW, _TOP = 640, 150, 20, 44, 92
_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#222}.title{font-size:16px;font-weight:600}.small{font-size:12px;fill:#555}"
    ".grid{stroke:#ddd}.axis{stroke:#444}.band{fill:#bcd9ee}.edge{stroke:#0072B2;stroke-width:2}"
    ".estimate{fill:#D55E00}.range{stroke:#D55E00;stroke-width:3}.prior{fill:#fff;stroke:#222;stroke-width:2}"
)


def person_svg(found: PersonEstimate) -> str:
    """Prior, estimate and bounds of each value on one scale from 0 to 1, as an SVG file that stands alone."""
    shown = found.order[:SHOWN_VALUES]
    floor = _TOP + _ROW * len(shown)
    height = floor + 62
    about = f"about {described(found)} ({counted(found.people, 'person', 'people')})"
    parts = [
        f'<text class="title" x="16" y="26">{_cut(f"{found.sensitive}: what an attacker would guess", 70)}</text>',
        f'<text class="small" x="16" y="46">{_cut(about, 95)}</text>',
        *_legend(found),
        *_scale(floor),
    ]
    for place, number in enumerate(shown):
        parts += _value(found, number, _TOP + _ROW * (place + 0.5))
    told = "; ".join(
        f"{found.values[n]}: among all {share(found.baseline[n])}, estimated {share(found.posterior[n])}{_said_bounds(found, n)}"
        for n in shown
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {_WIDE} {height}" width="{_WIDE}" height="{height}">'
    title = f"<title>{_safe(f'{found.sensitive}: what an attacker would guess')}</title><desc>{_safe(told)}.</desc><style>{_STYLE}</style>"
    return "\n".join([head, title, f'<rect width="{_WIDE}" height="{height}" fill="#fff"/>', *parts, "</svg>", ""])


def _said_bounds(found: PersonEstimate, number: int) -> str:
    if found.lower is None or found.upper is None:
        return ""
    return f", proved between {share(found.lower[number])} and {share(found.upper[number])}"


def _x(value: float) -> float:
    return _LEFT + (_WIDE - _LEFT - _RIGHT) * value


def _scale(floor: float) -> Iterator[str]:
    for tenth in range(0, 11, 2):
        x = _x(tenth / 10)
        yield f'<line class="grid" x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{floor}"/>'
        yield f'<text class="small" x="{x:.1f}" y="{floor + 18}" text-anchor="middle">{tenth / 10:g}</text>'
    yield f'<line class="axis" x1="{_LEFT}" y1="{floor}" x2="{_WIDE - _RIGHT}" y2="{floor}"/>'
    yield f'<text class="small" x="{(_LEFT + _WIDE - _RIGHT) / 2:.0f}" y="{floor + 42}" text-anchor="middle">probability</text>'


def _value(found: PersonEstimate, number: int, y: float) -> Iterator[str]:
    """One value: the band of its bounds, the range of its estimates, the estimate, and the prior."""
    name = _cut(found.values[number], 18)
    yield f'<text x="{_LEFT - 10}" y="{y + 4:.1f}" text-anchor="end">{name}</text>'
    if found.lower is not None and found.upper is not None:
        low, high = _x(found.lower[number]), _x(found.upper[number])
        yield f'<rect class="band" x="{low:.1f}" y="{y - 13:.1f}" width="{max(high - low, 0.0):.1f}" height="26"/>'
        yield from (f'<line class="edge" x1="{x:.1f}" y1="{y - 13:.1f}" x2="{x:.1f}" y2="{y + 13:.1f}"/>' for x in (low, high))
    if found.combinations > 1:
        low, high = _x(found.least[number]), _x(found.most[number])
        yield f'<line class="range" x1="{low:.1f}" y1="{y:.1f}" x2="{high:.1f}" y2="{y:.1f}"/>'
    prior, estimate = _x(found.baseline[number]), _x(found.posterior[number])
    yield f'<circle class="prior" cx="{prior:.1f}" cy="{y:.1f}" r="6"/>'
    yield f'<path class="estimate" d="M{estimate:.1f},{y - 8:.1f}l7,8l-7,8l-7,-8z"/>'
    above = y - 14 if found.lower is None else y - 16
    anchor = "end" if found.posterior[number] > 0.9 else "start" if found.posterior[number] < 0.1 else "middle"
    yield f'<text class="small" x="{estimate:.1f}" y="{above:.1f}" text-anchor="{anchor}">{share(found.posterior[number])}</text>'


def _legend(found: PersonEstimate) -> Iterator[str]:
    y, x = 70, 16
    yield f'<circle class="prior" cx="{x + 6}" cy="{y}" r="6"/><text class="small" x="{x + 18}" y="{y + 4}">among all people</text>'
    x += 144
    yield f'<path class="estimate" d="M{x + 6},{y - 8}l7,8l-7,8l-7,-8z"/><text class="small" x="{x + 18}" y="{y + 4}">estimate</text>'
    x += 90
    if found.combinations > 1:
        yield f'<line class="range" x1="{x}" y1="{y}" x2="{x + 20}" y2="{y}"/>'
        yield f'<text class="small" x="{x + 26}" y="{y + 4}">estimates of those who fit</text>'
        x += 190
    if found.lower is not None:
        yield f'<rect class="band" x="{x}" y="{y - 8}" width="20" height="16"/><text class="small" x="{x + 26}" y="{y + 4}">proved bounds</text>'


def _cut(text: str, letters: int) -> str:
    seen = visible(text)
    return escape(seen if len(seen) <= letters else seen[: letters - 1] + "…")


def _safe(text: str) -> str:
    return escape(visible(text))
