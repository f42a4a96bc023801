"""Estimates of sensitive values, in total and individually.

Texts that compare with the truth are for the owner of the data only.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.model.estimates import Comparison, Guess, Judged, PersonEstimate, Posterior
from tacit.model.measures import ESTIMATORS, Utility
from tacit.reports.document import (
    WIDTH,
    Figure,
    Gallery,
    Item,
    Listing,
    Part,
    ReportKind,
    Table,
    bullet,
    counted,
    fact_lines,
    fold,
    people,
    people_of,
    table_lines,
    visible,
)

if TYPE_CHECKING:
    from tacit.reports.pictures import Canvas

#: The measures of people above a probability.
ABOVE = {"people_above_50": "0.5", "people_above_90": "0.9", "people_above_99": "0.99"}
_ENDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)  #: The ends of the bars of the picture.
SHOWN_VALUES = 12  #: The number of values of a person that are shown, the most probable first.

# Everybody


def page_parts(found: Posterior, measures: Mapping[str, Any], *, top: int, kind: ReportKind, number: int = 1) -> Iterator[Part]:
    """Yield the estimates of a sensitive column for a page; names only inside."""
    mark = "" if number == 1 else f"-{number}"
    yield Listing.of(_sentences(found, kind))
    rows = [(f"above {text}", f"{number:,}") for text, number in _people_above(measures)]
    drawn = Figure(certainty_picture(found, name=f"guesses{mark}"), "People by the probability of their most probable value.")
    yield Gallery((drawn, Table.of("People by probability", ("Probability", "People"), rows, style="narrow")))
    gained = found.highest(top, gained=True)
    if kind == "external" or not gained:
        return
    yield _guess_table(found.highest(top), "The highest estimates")
    yield _guess_table(gained, "The estimates that exceed the share among all people most")
    caption = "The same, drawn: the share among all people (ring), the estimate (diamond) and what is proved (bar)."
    yield Figure(_gain_picture(gained, name=f"gains{mark}"), caption)


def screen_parts(found: Posterior, measures: Mapping[str, Any], *, top: int, kind: ReportKind) -> Iterator[Part]:
    """Yield the estimates for a terminal."""
    n = found.population.n
    above = "; ".join(f"above {text}: {people_of(number, n)}" for text, number in _people_above(measures))
    yield Listing.of([*_sentences(found, kind), f"The most probable value has a probability {above}."])
    if kind == "external":
        return
    for title, gained in (("Highest", False), ("Most above the share among all", True)):
        if guesses := found.highest(top, gained=gained):
            items = []
            for guess in guesses:
                proved = "" if guess.lower is None else f", proved {_bounds(guess)}"
                estimate = f"{guess.sensitive} {guess.value} (among all {guess.baseline:.3f}{proved})"
                said = f"{estimate}: {people(guess.people)} with {_who(guess.who)}"
                items.append(Item((said,), mark=f"{guess.probability:.3f}"))
            yield Listing(tuple(items), title)


def _sentences(found: Posterior, kind: ReportKind) -> Iterator[str]:
    what = f"the value of {visible(found.sensitive)}" if kind == "internal" else "the sensitive value"
    yield (
        f"Estimates, not proofs: the probability of {what} for people with given quasi-identifiers, by maximum entropy over published "
        "and missing rules (R02)."
    )
    source = "as published" if found.baseline_is_published else "estimated as well, since it is not published"
    if kind == "internal":
        listed = np.argsort(-found.baseline, kind="stable")[:5]
        shares = ", ".join(f"{visible(found.values[place])} {found.baseline[place]:.3f}" for place in listed.tolist())
        more = f" and {len(found.values) - 5:,} more" if len(found.values) > 5 else ""
        yield f"Among all people, which an outsider has anyway ({source}): {shares}{more}."
    if outside := found.outside_bounds():
        yield (
            f"For {counted(outside, 'combination')} the estimate lies outside the bounds of R03, by less than one person: estimates "
            "need not be whole people."
        )


def _people_above(measures: Mapping[str, Any]) -> list[tuple[str, int]]:
    return [(text, int(measures[name])) for name, text in ABOVE.items() if name in measures]


def _who(who: Mapping[str, str]) -> str:
    return ", ".join(f"{column}={value}" for column, value in who.items())


def _bounds(guess: Guess) -> str:
    return "-" if guess.lower is None or guess.upper is None else f"{guess.lower:.3f}-{guess.upper:.3f}"


def _guess_table(guesses: Sequence[Guess], caption: str) -> Table:
    rows = []
    for number, guess in enumerate(guesses, start=1):
        numbers = (f"{guess.probability:.3f}", f"{guess.baseline:.3f}", _bounds(guess))
        rows.append((f"{number}. {_who(guess.who)}", f"{guess.people:,}", guess.value, *numbers))
    columns = ("Who", "People", "Value", "Estimate", "Among all", "Proved bounds")
    return Table.of(caption, columns, rows, style="guesses")


def certainty_picture(found: Posterior, *, name: str = "guesses") -> Canvas:
    """Draw the number of people by the probability of their most probable value."""
    from tacit.reports.pictures import bars_of_shares, histogram

    bars = bars_of_shares(found.largest, found.population.people, _ENDS)
    return histogram(
        bars,
        name=name,
        title="How surely people are guessed",
        description="; ".join(f"{people(bar.value)} {bar.label}" for bar in bars),
        x_label="probability of the most probable value",
        y_label="people",
        style="fact",
    )


def _gain_picture(guesses: Sequence[Guess], *, name: str) -> Canvas:
    from tacit.reports.pictures import Range, ranges

    rows = []
    described = []
    for number, one in enumerate(guesses, start=1):
        rows.append(Range(str(number), one.baseline, one.probability, lower=one.lower, upper=one.upper))
        proved = "" if one.lower is None else f", proved {_bounds(one)}"
        described.append(f"{number}: among all {one.baseline:.3f}, estimated {one.probability:.3f}{proved}")
    title = "Estimates against the share among all people"
    return ranges(rows, name=name, title=title, description="; ".join(described))


# One person


def person_text(found: PersonEstimate, *, width: int = WIDTH) -> str:
    """Return the estimate of each value, with reasons."""
    several = f", in {found.combinations:,} combinations of quasi-identifiers" if found.combinations > 1 else ""
    fit = counted(found.people, "person fits", "people fit")
    spread = " with withheld confidences spread above their threshold" if found.withheld == "spread" else ""
    head = f"{fit} {_description(found)}{several}. {found.sensitive}, by maximum entropy{spread}:"
    blocks = [fold(head, width), [f"  {line}" for line in _value_lines(found)], _notes(found, width)]
    if found.proof:
        is_certain = sum(upper > 0 for upper in found.upper or ()) == 1
        numbered = ((f"{number:>3}.", step) for number, step in enumerate(found.proof, start=1))
        blocks.append(_listed("Why that is certain" if is_certain else "Why some values are ruled out", numbered, width))
    top = found.order[0]
    value = visible(found.values[top])
    if found.steps:
        steps = [(1 / len(found.values), "without any rule")]
        steps += [(step.posterior[top], f"and {step.said.says}") for step in found.steps]
        if rest := found.statements - len(found.steps):
            more = "one more statement" if rest == 1 else f"all {rest:,} further statements"
            steps.append((found.posterior[top], f"and {more} of the release"))
        marked = ((format_share(share).rjust(6), what) for share, what in steps)
        blocks.append(_listed(f"How the estimate of {value} comes about", marked, width))
    if found.influences:
        title = f"What single lines do to the estimate of {value} ({format_share(found.posterior[top])})"
        blocks.append(_listed(title, _influences(found, top), width))
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _listed(title: str, entries: Iterable[tuple[str, str]], width: int) -> list[str]:
    return [title, *(line for mark, text in entries for line in bullet(mark, text, width))]


def _influences(found: PersonEstimate, top: int) -> Iterator[tuple[str, str]]:
    for one in found.influences:
        about = "" if one.said.people else " (about others; it works through lines about both)"
        if one.without is None:
            yield "     ?", f"{one.said.says}{about}; there was no time to look"
        else:
            moved = found.posterior[top] - one.without[top]
            yield f"{moved:+.3f}", f"{one.said.says}{about}; without it {format_share(one.without[top])}"


def _description(found: PersonEstimate) -> str:
    return visible(_who(found.who) or "any description")


def _value_lines(found: PersonEstimate) -> list[str]:
    columns = ["value", "among all", "estimate"]
    if found.combinations > 1:
        columns.append("from-to")
    if found.lower is not None:
        columns.append("bounds")
    rows = []
    for place in found.order[:SHOWN_VALUES]:
        row = [found.values[place], format_share(found.baseline[place]), format_share(found.posterior[place])]
        if found.combinations > 1:
            row.append(f"{format_share(found.least[place])}-{format_share(found.most[place])}")
        if found.lower is not None and found.upper is not None:
            row.append(f"{format_share(found.lower[place])}-{format_share(found.upper[place])}")
        rows.append(row)
    lines = list(table_lines(Table.of("", columns, rows)))
    left = len(found.values) - SHOWN_VALUES
    return [*lines, f"and {counted(left, 'less probable value')}"] if left > 0 else lines


def format_share(value: float) -> str:
    """Return a probability with three decimals."""
    return f"{value:.0f}" if value in (0.0, 1.0) else f"{value:.3f}"


def _notes(found: PersonEstimate, width: int) -> list[str]:
    source = "published" if found.baseline_is_published else "itself estimated: it is not published"
    notes = [
        f"among all: the share of the value among all people, which an outsider has anyway; {source}",
        "estimate: what published and missing rules leave most open; a probability, not a proof",
    ]
    if found.combinations > 1:
        notes.append("from-to: the smallest and largest estimate among the combinations that fit")
    if found.lower is None:
        notes.append("no bounds: whether any value is certain was not computed")
    else:
        notes.append("bounds: proved; no database that fits the release has a share outside")
    return [line for note in notes for line in bullet("-", note, width)]


def person_svg(found: PersonEstimate) -> str:
    """Return prior, estimate and bounds of each value as SVG."""
    from tacit.reports.pictures import Range, ranges

    rows = []
    described = []
    for place in found.order[:SHOWN_VALUES]:
        row = Range(found.values[place], found.baseline[place], found.posterior[place])
        said = f"{found.values[place]}: among all {format_share(row.baseline)}, estimated {format_share(row.estimate)}"
        if found.lower is not None and found.upper is not None:
            row = replace(row, lower=found.lower[place], upper=found.upper[place])
            said += f", proved between {format_share(found.lower[place])} and {format_share(found.upper[place])}"
        if found.combinations > 1:
            row = replace(row, least=found.least[place], most=found.most[place])
        rows.append(row)
        described.append(said)
    return ranges(
        rows,
        name="person",
        title=f"{found.sensitive}: what an attacker would guess",
        subtitle=f"about {_description(found)} ({people(found.people)})",
        description=f"{'; '.join(described)}.",
    ).standalone()


# Against the truth


def comparison_text(found: Comparison, *, top: int, width: int = WIDTH) -> str:
    """Return divergences, right guesses, and extreme combinations."""
    population = found.posterior.population
    measures = found.measures
    n = population.n
    sure = int(population.people[found.posterior.largest > 0.9].sum())
    average = f"{format_closeness(found.D_overall)} on average over all people (D_overall)"
    worst = f"{format_closeness(measures['D_individual_max'])} at the worst"
    estimated = f"{visible(found.posterior.sensitive)} estimated by maximum entropy (R02)"
    alone = f"the most frequent value alone for {people_of(found.baseline_right, n)}"
    facts = [
        ("People", f"{people(n)} in {counted(len(population), 'combination')} of quasi-identifiers, {estimated}"),
        ("Closeness", f"{average}, {worst}; at 100 % the estimates are the truth"),
        ("Top guess", f"right for {people_of(found.top_guess_right, n)}; {alone}"),
        ("Above 0.9", f"{people_of(sure, n)}; the guess is right for {int(measures['sure_guess_right']):,} of them"),
    ]
    rows = []
    for line in found.calibration():
        rows.append((f"{line.above:g}-{line.at_most:g}", f"{line.people:,}", f"{line.estimated:.3f}", f"{line.right:.3f}"))
    calibration = table_lines(Table.of("", ("probability", "people", "estimated", "right"), rows))
    blocks = [list(fact_lines(facts, width)), ["How often top guesses are right", *(f"  {line}" for line in calibration)]]
    extremes = {"Surest guesses that are true": found.given_away(top), "Farthest from the truth": found.farthest(top)}
    for title, judged in extremes.items():
        if judged:
            blocks.append(_listed(title, (("-", _judgement(one)) for one in judged), width))
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def format_closeness(divergence: float) -> str:
    """Return the share of its true probability that an estimate gives to what is true, in percent.

    It is the geometric mean, the exponential of the negative divergence: 100 % where the estimates are the truth.

    >>> format_closeness(0.0), format_closeness(0.1157), format_closeness(float("inf"))
    ('100 %', '89.1 %', '0 %')
    """
    if divergence <= 0 or not np.isfinite(divergence):
        return "100 %" if divergence <= 0 else "0 %"
    return f"{100 * np.exp(-divergence):.1f} %"


def _judgement(line: Judged) -> str:
    guess = line.guess
    true = "true" if line.right == 1 else "false" if line.right == 0 else f"true of {round(line.right * guess.people):,}"
    said = f"{guess.sensitive} {guess.value} with probability {guess.probability:.3f}"
    return f"{people(guess.people)} with {_who(guess.who)}: {said}, {true}; closeness {format_closeness(line.divergence)}"


def comparison_csv(found: Comparison) -> str:
    """Return CSV, a line per combination and value."""
    columns = found.table()
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    for start in range(0, len(next(iter(columns.values()))), 1 << 16):
        part = [column[start : start + (1 << 16)].tolist() for column in columns.values()]
        for row in zip(*part, strict=True):
            writer.writerow("" if isinstance(cell, float) and cell != cell else cell for cell in row)
    return stream.getvalue()


# From groups

#: The errors of a bucketized release, by the names of their measures.
_ERRORS = {
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
    """Return the errors of each way to read groups."""
    blocks = [list(fact_lines(_utility_facts(found), width))]
    shown = [name for name in ESTIMATORS if name in found.errors]
    measured = [name for name in _ERRORS if any(name in found.errors[one] for one in shown)]
    if measured:
        rows = [[one, *(_percent(found.errors[one].get(name)) for name in measured)] for one in shown]
        lines = table_lines(Table.of("", ["read", *(_ERRORS[name] for name in measured)], rows))
        blocks.append(["Errors, relative to the data", *(f"  {line}" for line in lines)])
        blocks.append([f"  {line}" for line in fact_lines(((one, _WAYS[one]) for one in shown), width - 2)])
    if found.notes:
        blocks.append([line for note in found.notes for line in bullet("Note:", f"{note}.", width, indent="")])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _utility_facts(found: Utility) -> Iterator[tuple[str, str]]:
    figures = found.figures
    guesses = found.guesses
    settings = found.settings
    yield "People", f"{people(found.n)} in {counted(found.groups, 'group')}, {visible(found.sensitive)} in them"
    values = f"l = {figures['l_diversity']:.0f} different values (entropy l = {figures['entropy_l']:.4g})"
    ordered = f" (ordered {figures['t_closeness_ordered']:.3g})" if "t_closeness_ordered" in figures else ""
    shares = f"t = {figures['t_closeness']:.3g}{ordered}, largest share {figures['largest_share']:.3g}"
    yield "Groups", f"k = {figures['k_anonymity']:,.0f}, {values}, {shares}"
    support = settings["min_support"]
    least = f"{support:,} people" if isinstance(support, int) else _percent(support)
    bars = f"a support of at least {least}, a conviction of at least {settings['min_conviction']:g}"
    yield "Rules", f"{found.rules:,} with {bars} and up to {counted(settings['max_length'], 'column')}"
    asked = f"to {counted(found.queries, 'question')} about {counted(settings['dim'], 'column')}"
    yield "Answers", f"{asked}, each for up to {_percent(settings['selectivity'])} of its values"
    sure = int(guesses["surviving_above_90"])
    right = f"; {people(sure)} above 0.9, of which {_percent(guesses['surviving_above_90_right'])} right" if sure else ""
    survive = f"right for {_percent(guesses['surviving_guess_right'])} of the people by what survives in the groups (B03)"
    yield "Guesses", f"{survive}; by the most frequent value of each group for {_percent(guesses['group_guess_right'])}{right}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"
