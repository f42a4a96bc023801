"""Findings about blank cells: statements, steps and citations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tacit.model.finding import Citation, RecordsWith
from tacit.model.numbers import Bound
from tacit.model.partial import Thresholds
from tacit.partial.case import TableCase

#: How many rows a step names.
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Told:
    """Rule about blank cells: pattern, value, counts, revealed rows."""

    pattern: Mapping[str, str]
    column: str
    value: str
    whole: int
    both: int
    rows: Sequence[int]


def view(case: TableCase, undecided: int = 0) -> str:
    """Return an audit's view, and the number of undecided patterns."""
    if case.original is not None:
        told = "the owner's view: only rules that tell the true value count"
    elif not case.is_declared:
        told = "an outsider's view: every blank sensitive cell is at risk, by whatever value a rule tells"
    elif any(attribute.true is not None for attribute in case.attributes):
        told = "the owner's view: the sensitive cells of the rows that are named count as blank"
    else:
        told = "the rows that are named, by whatever value a rule tells: their true values are not given"
    return "; ".join(part for part in (told, not_looked_at(undecided)) if part)


def not_looked_at(undecided: int) -> str:
    """Return the omissions of a search over all columns."""
    if not undecided:
        return ""
    patterns = "1 pattern" if undecided == 1 else f"{undecided:,} patterns"
    return (
        f"{patterns} of columns without a role {'has' if undecided == 1 else 'have'} longer ones that were not looked at: publish fewer "
        "columns, or raise --min-support"
    )


def rule(told: Told, bars: Thresholds) -> tuple[str, tuple[str, ...]]:
    """Return the sentence and the steps of an unsafe rule."""
    fits = described(told.pattern)
    share = percent(told.both, told.whole)
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
    """Sentence and step about protected cells that are shown."""
    verb = "is" if len(told.rows) == 1 else "are"
    statement = f"The {told.column} {told.value} of {records(len(told.rows))} that {verb} to be protected is published as it is."
    return statement, (f"The table shows {told.column} {told.value} in {rows(told.rows)}.",)


def citations(told: Told, release: int, line: Callable[[int], int]) -> tuple[Citation, ...]:
    """Both counts, and the lines of the revealed records."""
    both = dict(told.pattern) | {told.column: told.value}
    cells = [(told.pattern, told.whole), (both, told.both)] if told.pattern else []
    counts = [Citation(release, RecordsWith(one), Bound.of(n), None) for one, n in cells]
    return (*counts, *(Citation(release, line(row), Bound.of(1), None) for row in told.rows))


def described(pattern: Mapping[str, str]) -> str:
    """Return a pattern in words."""
    return ", ".join(f"{column}={value}" for column, value in pattern.items())


def percent(part: int, whole: int) -> str:
    """Percentage rounded to at most one decimal."""
    return f"{round(100 * part / whole, 1):g} %"


def records(number: int) -> str:
    """Return a number of records in words."""
    return "1 record" if number == 1 else f"{number:,} records"


def show(number: int) -> str:
    """Return the verb after a number of records."""
    return "shows" if number == 1 else "show"


def rows(numbers: Sequence[int]) -> str:
    """Row numbers for a sentence, counted from 0 and truncated."""
    if len(numbers) == 1:
        return f"row {numbers[0]}"
    shown = [str(number) for number in numbers[:_SHOWN]]
    last = f"{len(numbers) - _SHOWN:,} more" if len(numbers) > _SHOWN else shown.pop()
    return f"rows {', '.join(shown)} and {last}"


#: ``known-only`` and ``wildcard`` as in :mod:`tacit.partial.case`; ``blanks``: how many other blanks hide the value; ``model``: naive Bayes;
#: ``entropy``: the distribution of largest entropy.
Reading = Literal["known-only", "wildcard", "blanks", "model", "entropy"]

_INSTEAD = (
    "Hide condition cells of the sensitive records instead, the same attribute for all of them: "
    "tacit hide DATA --may-hide sc --method uniform."
)


def told(reading: Reading, found: Told, share: float) -> tuple[str, tuple[str, ...]]:
    """Return the statement and steps about blanks."""
    of = records(len(found.rows))
    if reading in ("model", "entropy"):
        model = "Naive Bayes" if reading == "model" else "The distribution of largest entropy"
        return f"{model} gives {found.column} {found.value} a probability of up to {share:.3f} for {of}.", (
            "This reader needs the table only: a model is trained on all records that show their value.",
            "It takes several cells together where each rule by itself is within the limits.",
            f"The records are {rows(found.rows)}.",
            "Hide more condition cells of these records, or publish fewer columns.",
        )
    fits = described(found.pattern)
    both = f"{found.both:,}"
    ratio = percent(found.both, found.whole)
    inferred = f"By this pattern or another, {found.value} is inferred for {rows(found.rows)}."
    if reading == "known-only":
        statement = (
            f"Of the {records(found.whole)} with {fits} whose {found.column} is known, {both} {show(found.both)} {found.value} ({ratio}): "
            f"leaving blanks out, a reader infers it for {of}."
        )
        return statement, (
            "This reader needs the table only: blanks are left out of the count, instead of counted as another value.",
            f"The {found.column} of {records(found.whole)} with {fits} is shown, for {both} of them {found.value}: {ratio}.",
            inferred,
            "Blanks in the sensitive column cannot prevent it without making the blanks themselves telling. " + _INSTEAD,
        )
    if reading == "wildcard":
        shows = f"{show(found.both)} {found.column} {found.value}"
        return (
            f"If a blank fits every value, {both} of the {records(found.whole)} with {fits} {shows} ({ratio}), which tells {of}.",
            (
                "This reader needs the table only: a blank condition cell is taken to fit every value.",
                f"In this way {fits} fits {records(found.whole)}; {both} of them {shows}: {ratio}.",
                inferred,
                "Condition cells of other records were hidden where the value is, which puts them back. " + _INSTEAD,
            ),
        )
    among = f" of records with {fits}" if fits else ""
    statement = (
        f"{both} of {found.whole:,} other blanks in {found.column}{among} hide {found.value} ({ratio}): whoever knows how "
        f"they were made reads {found.value} in {of}."
    )
    return statement, (
        "What the blanks hide is known to the owner; a reader guesses it who knows that blanks were made where the value is.",
        f"Each record's own blank left out, {found.whole:,} cells of {found.column} are blank{among}; {both} hide {found.value}.",
        f"{both} / {found.whole:,} = {ratio}: a blank means {found.value}. By this pattern or another this tells {rows(found.rows)}.",
        _INSTEAD,
    )


def caution(case: TableCase, bars: Thresholds) -> str:
    """Return the caution about the owner's choice of rows."""
    if not case.is_declared:
        return "an outsider's view" if case.original is None else "every blank is at risk: no rows are named"
    for attribute in case.attributes:
        known = attribute.truth[attribute.truth >= 0]
        most = int(np.bincount(known).max(initial=0)) if len(known) else 0
        if len(known) > 1 and most > bars.most_safe(len(known)):
            shown = "all" if most == len(known) else f"{most:,} of"
            return f"{shown} {len(known):,} rows to protect have the same sensitive value: nobody may learn how they were chosen"
    return ""
