"""An estimate about somebody, as text and as a picture.

What an attacker would guess about everybody's sensitive value, in numbers and sentences, the same for the terminal and the page.

Estimates beside the truth, as text and as CSV; for the owner of the data only.

What a bucketized release is good for, as text; for the owner of the data only.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise
from textwrap import wrap
from typing import Any

import numpy as np

from tacit.model.audit import Audit
from tacit.model.estimates import Comparison, Guess, Judged, PersonEstimate, Posterior
from tacit.model.measures import ESTIMATORS, Utility
from tacit.reports.svg import Bar, Range, histogram, ranges
from tacit.reports.sweep import table
from tacit.reports.words import WIDTH, ReportKind, as_share, bullet, counted, visible

TITLE = "What an attacker would guess"
#: The measures of people above a probability, with what they count.
ABOVE = {"people_above_50": "0.5", "people_above_90": "0.9", "people_above_99": "0.99"}
#: The ends of the bars of the picture.
_ENDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


def estimates_of(audit: Audit) -> Posterior | None:
    """The estimates of an audit, where there are any about anybody."""
    found = audit.posterior
    return found if found is not None and found.is_estimated and len(found.population) else None


def sentences(found: Posterior, kind: ReportKind) -> Iterator[str]:
    """What the numbers are, and what they are not."""
    what = f"the value of {visible(found.sensitive)}" if kind == "internal" else "the sensitive value"
    yield (
        f"Estimates, no proofs: the probability of {what} for whoever has given quasi-identifiers, by maximum entropy over published "
        "and missing rules (R02)."
    )
    source = "as published" if found.baseline_is_published else "estimated as well, since it is not published"
    if kind == "internal":
        listed = np.argsort(-found.baseline, kind="stable")[:5]
        shares = ", ".join(f"{visible(found.values[place])} {found.baseline[place]:.3f}" for place in listed.tolist())
        more = f" and {len(found.values) - 5:,} more" if len(found.values) > 5 else ""
        yield f"Among all people, which an outsider has anyway ({source}): {shares}{more}."
    outside = found.outside_bounds()
    if outside:
        yield (
            f"For {counted(outside, 'combination')} the estimate lies outside the bounds of R03, by less than one person: estimates need not be "
            "whole people."
        )


def title_of_groups(audit: Audit) -> str:
    """What the estimates from groups are called: what they are, or what they add to those over all that is known."""
    return TITLE if estimates_of(audit) is None else "What an attacker would guess from the groups alone"


def bucket_sentences(audit: Audit) -> Iterator[str]:
    """What an attacker would guess about the people of a bucketized release; nothing of another release."""
    found = audit.measures
    n = sum(release["n"] or 0 for release in audit.release)
    if "above_one_in_l" in found:
        people, certain = int(found["above_one_in_l"]), int(found["people_certain"])
        most = f"nobody's value is more probable than {found['max_posterior']:.3f}"
        if certain:
            most = f"the value of {counted(certain, 'person', 'people')} is certain"
        yield (
            f"If every assignment that fits is equally likely, {most}; for "
            f"{counted(people, 'person', 'people')}{as_share(people, n)} some value is more probable than 1/{audit.policy.l} (B02)."
        )
    if found.get("people_approximate"):
        people = int(found["people_approximate"])
        yield f"That is approximate for {counted(people, 'person', 'people')} in groups with too many assignments to count."
    if "surviving_expected_right" in found and "group_guess_right" in found:
        together, alone = found["surviving_expected_right"], found["group_guess_right"]
        yield (
            f"What all groups show together would make {together:.1%} of the guesses right, {alone:.1%} without it; the value of "
            f"{counted(int(found['surviving_above_90']), 'person', 'people')} would have more than 0.9 (B03)."
        )


def above(measures: Mapping[str, Any]) -> list[tuple[str, int]]:
    """The probabilities, each with how many people are guessed with more."""
    return [(text, int(measures[name])) for name, text in ABOVE.items() if name in measures]


def who(guess: Guess) -> str:
    """Whom a guess is about."""
    return ", ".join(f"{column}={value}" for column, value in guess.who.items())


def bounds(guess: Guess) -> str:
    """The bounds of a guess, or that there are none."""
    return "-" if guess.lower is None or guess.upper is None else f"{guess.lower:.3f}-{guess.upper:.3f}"


def picture(found: Posterior) -> str:
    """How many people are guessed with which probability."""
    place = np.searchsorted(_ENDS, found.largest)
    people = np.bincount(place, found.population.people, len(_ENDS) + 1).astype(np.int64).tolist()
    ends = ["0", *(f"{end:g}" for end in _ENDS), "1"]
    labels = [f"{low.removeprefix('0')}-{high.removeprefix('0')}" for low, high in pairwise(ends)]
    labels[0] = "to .5"
    bars = [Bar(label, number) for label, number in zip(labels, people, strict=True)]
    while len(bars) > 2 and bars[0].value == 0:
        bars.pop(0)
    return histogram(
        bars,
        name="guesses",
        title="How surely people are guessed",
        description="; ".join(f"{counted(bar.value, 'person', 'people')} {bar.label}" for bar in bars),
        x_label="probability of the most probable value",
        y_label="people",
        style="fact",
    )


def against_baseline(guesses: Sequence[Guess]) -> str:
    """Estimates beside the share among all people and what is proved, one row each, numbered as in their table."""
    rows = [Range(str(n), one.baseline, one.probability, one.lower, one.upper) for n, one in enumerate(guesses, start=1)]
    told = "; ".join(
        f"{n}: among all {one.baseline:.3f}, estimated {one.probability:.3f}"
        + ("" if one.lower is None else f", proved {bounds(one)}")
        for n, one in enumerate(guesses, start=1)
    )
    return ranges(rows, name="gains", title="Estimates against the share among all people", description=told)


def text_lines(audit: Audit, found: Posterior, *, top: int, kind: ReportKind, width: int) -> Iterator[str]:
    """The estimates as text."""
    for sentence in sentences(found, kind):
        yield from bullet("-", sentence, width)
    told = "; ".join(
        f"above {text}: {counted(people, 'person', 'people')}{as_share(people, found.population.n)}"
        for text, people in above(audit.measures)
    )
    yield from bullet("-", f"The most probable value has a probability {told}.", width)
    if kind == "external":
        return
    for title, gained in (("Highest", False), ("Most above the share among all", True)):
        guesses = found.highest(top, gained=gained)
        if guesses:
            yield f"  {title}"
        for guess in guesses:
            yield from bullet(f"  {guess.probability:.3f}", _told(guess), width)


def _told(guess: Guess) -> str:
    proved = "" if guess.lower is None else f", proved {bounds(guess)}"
    beside = f"(among all {guess.baseline:.3f}{proved})"
    return f"{guess.sensitive} {guess.value} {beside}: {counted(guess.people, 'person', 'people')} with {who(guess)}"


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


def comparison_text(found: Comparison, *, top: int, width: int = WIDTH) -> str:
    """The divergences, how often guesses are right, and the combinations at both ends."""
    population, measures = found.posterior.population, found.measures
    n = population.n
    sensitive = visible(found.posterior.sensitive)
    about = (
        f"{counted(n, 'person', 'people')} in {counted(len(population), 'combination')} of quasi-identifiers, {sensitive} "
        "estimated by maximum entropy (R02)"
    )
    sure = int(population.people[found.posterior.largest > 0.9].sum())
    lines = [
        ("People", about),
        (
            "Divergence",
            f"{nats(found.D_overall)} on average over all people (D_overall), {nats(measures['D_individual_max'])} at most",
        ),
        (
            "Top guess",
            f"right for {_people(found.top_guess_right, n)}; the most frequent value alone for {_people(found.baseline_right, n)}",
        ),
        ("Above 0.9", f"{_people(sure, n)}; the guess is right for {int(measures['sure_guess_right']):,} of them"),
    ]
    blocks = ["\n".join(line for name, text in lines for line in bullet(f"{name:<10}", text, width, indent=""))]
    blocks.append("\n".join(["How often top guesses are right", *_calibration(found)]))
    for title, judged in (
        ("Surest guesses that are true", found.given_away(top)),
        ("Farthest from the truth", found.farthest(top)),
    ):
        if judged:
            blocks.append("\n".join([title, *_judged(judged, width)]))
    return "\n\n".join(blocks) + "\n"


def _people(number: int, n: int) -> str:
    return f"{counted(number, 'person', 'people')}{as_share(number, n)}"


def nats(value: float) -> str:
    """A divergence with its unit.

    >>> nats(0.13845), nats(float("inf"))
    ('0.1384 nats', 'infinite')
    """
    return f"{value:.4f} nats" if np.isfinite(value) else "infinite"


def _calibration(found: Comparison) -> Iterator[str]:
    rows = [
        [f"{line.above:g}-{line.at_most:g}", f"{line.people:,}", f"{line.estimated:.3f}", f"{line.right:.3f}"]
        for line in found.calibration()
    ]
    yield from (f"  {line}" for line in table(["probability", "people", "estimated", "right"], rows).splitlines())


def _judged(lines: Iterable[Judged], width: int) -> Iterator[str]:
    for line in lines:
        guess = line.guess
        true = "true" if line.right == 1 else "false" if line.right == 0 else f"true of {round(line.right * guess.people):,}"
        head = f"{guess.sensitive} {guess.value} with probability {guess.probability:.3f}"
        text = f"{counted(guess.people, 'person', 'people')} with {told(guess)}: {head}, {true}; {nats(line.divergence)}"
        yield from bullet("-", text, width)


def told(guess: Guess) -> str:
    """Whom a guess is about, in words."""
    return ", ".join(f"{column}={value}" for column, value in guess.who.items())


def comparison_csv(found: Comparison) -> Iterator[str]:
    """One line for each combination and sensitive value, as CSV in parts; infinite divergences stand as ``inf``."""
    columns = found.table()
    yield _lines([list(columns)])
    size = len(next(iter(columns.values())))
    for start in range(0, size, 1 << 16):
        part = [column[start : start + (1 << 16)].tolist() for column in columns.values()]
        yield _lines([_cell(cell) for cell in row] for row in zip(*part, strict=True))


def _cell(value: Any) -> Any:
    return "" if isinstance(value, float) and value != value else value


def _lines(rows: Iterable[Iterable[Any]]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue()


#: What the columns of the table of errors are called, by the names of the measures.
_COLUMNS = {
    "confidence_error": "confidence",
    "identification_false_positive": "rules added",
    "identification_false_negative": "rules lost",
    "query_error": "answers",
    "query_error_median": "median answer",
}
_WAYS = {
    "uniform": "by the shares of groups, as the papers do",
    "rule-aware": "all assignments that fit the knowledge equally likely",
    "debiased": "the mixing of values in groups undone on average",
    "modelled": "what groups show about who has what, used for everybody (B03)",
}


def utility_text(found: Utility, *, width: int = WIDTH) -> str:
    """What is known of the groups, the errors of each way to read them, and how often guesses are right."""
    blocks = ["\n".join(line for name, text in _utility_lines(found) for line in bullet(f"{name:<8}", text, width, indent=""))]
    shown = [name for name in ESTIMATORS if name in found.errors]
    measured = [name for name in _COLUMNS if any(name in found.errors[one] for one in shown)]
    if measured:
        rows = [[one, *(_percent(found.errors[one].get(name)) for name in measured)] for one in shown]
        lines = table(["read", *(_COLUMNS[name] for name in measured)], rows, left=[0]).splitlines()
        blocks.append("\n".join(["Errors, relative to the data", *(f"  {line}" for line in lines)]))
        blocks.append("\n".join(line for one in shown for line in bullet(f"{one:<10}", _WAYS[one], width)))
    if found.notes:
        blocks.append("\n".join(line for note in found.notes for line in bullet("Note:", f"{note}.", width, indent="")))
    return "\n\n".join(blocks) + "\n"


def _utility_lines(found: Utility) -> list[tuple[str, str]]:
    figures, guesses, settings = found.figures, found.guesses, found.settings
    sure = int(guesses["surviving_above_90"])
    told = (
        f"; {counted(sure, 'person', 'people')} above 0.9, of which {_percent(guesses['surviving_above_90_right'])} right"
        if sure
        else ""
    )
    support = settings["min_support"]
    least = f"{support:,} people" if isinstance(support, int) else _percent(support)
    return [
        (
            "People",
            f"{counted(found.n, 'person', 'people')} in {counted(found.groups, 'group')}, {visible(found.sensitive)} in them",
        ),
        (
            "Groups",
            f"k = {figures['k_anonymity']:,.0f}, l = {figures['l_diversity']:.0f} different values (entropy l = "
            f"{figures['entropy_l']:.4g}), t = {figures['t_closeness']:.3g}, largest share {figures['largest_share']:.3g}",
        ),
        (
            "Rules",
            f"{found.rules:,} with a support of at least {least}, a conviction of at least {settings['min_conviction']:g} and up "
            f"to {counted(settings['max_length'], 'column')}",
        ),
        (
            "Answers",
            f"to {counted(found.queries, 'question')} about {counted(settings['dim'], 'column')}, each for up to "
            f"{_percent(settings['selectivity'])} of its values",
        ),
        (
            "Guesses",
            f"right for {_percent(guesses['surviving_guess_right'])} of the people by what survives in the groups (B03); by the most "
            f"frequent value of each group for {_percent(guesses['group_guess_right'])}{told}",
        ),
    ]


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"
