"""Estimates beside the truth, as text and as CSV; for the owner of the data only."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from tacit.model.comparison import Comparison, Judged
from tacit.model.posterior import Guess
from tacit.reports.layout import WIDTH, bullet
from tacit.reports.summary import as_share, counted, visible
from tacit.reports.sweeps import table


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
