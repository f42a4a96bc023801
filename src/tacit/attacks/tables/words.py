"""Findings about blank cells as sentences, as steps that a reader can redo, and as citations that a program can check."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tacit.attacks.tables.case import TableCase
from tacit.model.bound import Bound
from tacit.model.finding import Citation
from tacit.model.partial import Thresholds

#: How many rows a step names.
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Told:
    """A rule in words: pattern, sensitive column, value, how many records fit and show it, and the rows it is about."""

    pattern: Mapping[str, str]
    column: str
    value: str
    whole: int
    both: int
    rows: Sequence[int]


def view(case: TableCase, undecided: int = 0) -> str:
    """Whose view an audit takes, and how many patterns were not looked at to the end."""
    return "; ".join(part for part in (_view(case), not_looked_at(undecided)) if part)


def not_looked_at(undecided: int) -> str:
    """What was left out of a search through all columns; empty where nothing was."""
    if not undecided:
        return ""
    patterns = "1 pattern" if undecided == 1 else f"{undecided:,} patterns"
    return (
        f"{patterns} of columns without a role {'has' if undecided == 1 else 'have'} longer ones that were not looked at: publish fewer "
        "columns, or raise --min-support"
    )


def _view(case: TableCase) -> str:
    if case.original is not None:
        return "the owner's view: only rules that tell the true value count"
    if not case.is_declared:
        return "an outsider's view: every blank sensitive cell is at risk, by whatever value a rule tells"
    if any(attribute.true is not None for attribute in case.attributes):
        return "the owner's view: the sensitive cells of the rows that are named count as blank"
    return "the rows that are named, by whatever value a rule tells: their true values are not given"


def rule(told: Told, bars: Thresholds) -> tuple[str, tuple[str, ...]]:
    """The sentence and the steps of an unsafe rule."""
    fits, share = described(told.pattern), percent(told.both, told.whole)
    of = records(len(told.rows))
    statement = (
        f"{told.both:,} of the {records(told.whole)} with {fits} {show(told.both)} {told.column} {told.value} ({share}), "
        f"which tells the {told.column} of {of}."
    )
    need = f"{percent(bars.confidence.numerator, bars.confidence.denominator)} and {records(bars.support)}"
    return statement, (
        f"{records(told.whole)} {show(told.whole)} {fits}.",
        f"{told.both:,} of them {show(told.both)} {told.column} {told.value}; a blank shows nothing.",
        f"{told.both:,} / {told.whole:,} = {share}, which is more than {need} allow.",
        f"So a reader takes {told.value} for the {told.column} of {of} with {fits}: {rows(told.rows)}.",
    )


def shown_cell(told: Told) -> tuple[str, tuple[str, ...]]:
    """The sentence and the step about cells that are to be protected and are shown."""
    verb = "is" if len(told.rows) == 1 else "are"
    statement = f"The {told.column} {told.value} of {records(len(told.rows))} that {verb} to be protected is published as it is."
    return statement, (f"The table shows {told.column} {told.value} in {rows(told.rows)}.",)


def citations(told: Told, release: int, line: Callable[[int], int]) -> tuple[Citation, ...]:
    """The two counts, and the lines of the records that are told."""
    both = dict(told.pattern) | {told.column: told.value}
    cells = [(told.pattern, told.whole), (both, told.both)] if told.pattern else []
    counts = [
        Citation(release, f"records with {json.dumps(dict(one), ensure_ascii=False)}", Bound.of(n), None) for one, n in cells
    ]
    return (*counts, *(Citation(release, line(row), Bound.of(1), None) for row in told.rows))


def described(pattern: Mapping[str, str]) -> str:
    """A pattern in words."""
    return ", ".join(f"{column}={value}" for column, value in pattern.items())


def percent(part: int, whole: int) -> str:
    """A share as it is read; always rounded to nearest with at most one decimal.

    >>> percent(4, 6), percent(11, 20), percent(1, 1)
    ('66.7 %', '55 %', '100 %')
    """
    return f"{round(100 * part / whole, 1):g} %"


def records(number: int) -> str:
    """A number of records."""
    return "1 record" if number == 1 else f"{number:,} records"


def show(number: int) -> str:
    """The verb after a number of records."""
    return "shows" if number == 1 else "show"


def rows(numbers: Sequence[int]) -> str:
    """Row numbers as in a sentence, counted from 0 and cut where there are many."""
    if len(numbers) == 1:
        return f"row {numbers[0]}"
    shown = [str(number) for number in numbers[:_SHOWN]]
    last = f"{len(numbers) - _SHOWN:,} more" if len(numbers) > _SHOWN else shown.pop()
    return f"rows {', '.join(shown)} and {last}"
