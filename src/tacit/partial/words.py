"""Findings about blank cells: statements, steps and citations."""

from __future__ import annotations

from typing import Literal

import numpy as np

from tacit.model.partial import Thresholds
from tacit.model.words import BlankRule, describe_pattern, render_percent, render_records, render_rows, show_or_shows
from tacit.partial.case import TableCase


def view(case: TableCase, undecided: int = 0) -> str:
    """Return an audit's view, and the number of undecided patterns."""
    if case.original is not None:
        told = "the owner's view: only rules that reveal the true value count"
    elif not case.is_declared:
        told = "an outsider's view: every blank sensitive cell is at risk, by whatever value a rule reveals"
    elif any(attribute.true is not None for attribute in case.attributes):
        told = "the owner's view: the sensitive cells of the rows that are named count as blank"
    else:
        told = "the rows that are named, by whatever value a rule reveals: their true values are not given"
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


#: ``known-only`` and ``wildcard`` as in :mod:`tacit.partial.case`; ``blanks``: how many other blanks hide the value; ``model``: naive Bayes;
#: ``entropy``: the distribution of largest entropy.
Reading = Literal["known-only", "wildcard", "blanks", "model", "entropy"]

_INSTEAD = (
    "Hide condition cells of the sensitive records instead, the same attribute for all of them: "
    "tacit hide DATA --may-hide sc --method uniform."
)


def told(reading: Reading, found: BlankRule, share: float) -> tuple[str, tuple[str, ...]]:
    """Return the statement and steps about blanks."""
    of = render_records(len(found.rows))
    if reading in ("model", "entropy"):
        model = "Naive Bayes" if reading == "model" else "The distribution of largest entropy"
        return f"{model} gives {found.column} {found.value} a probability of up to {share:.3f} for {of}.", (
            "This reader needs the table only: a model is trained on all records that show their value.",
            "It takes several cells together where each rule by itself is within the limits.",
            f"The records are {render_rows(found.rows)}.",
            "Hide more condition cells of these records, or publish fewer columns.",
        )
    fits = describe_pattern(found.pattern)
    both = f"{found.both:,}"
    ratio = render_percent(found.both, found.whole)
    inferred = f"By this pattern or another, {found.value} is inferred for {render_rows(found.rows)}."
    if reading == "known-only":
        statement = (
            f"Of the {render_records(found.whole)} with {fits} whose {found.column} is known, {both} {show_or_shows(found.both)} "
            f"{found.value} ({ratio}): leaving blanks out, a reader infers it for {of}."
        )
        return statement, (
            "This reader needs the table only: blanks are left out of the count, instead of counted as another value.",
            f"The {found.column} of {render_records(found.whole)} with {fits} is shown, for {both} of them {found.value}: {ratio}.",
            inferred,
            "Blanking more of this column would itself reveal the value. " + _INSTEAD,
        )
    if reading == "wildcard":
        shows = f"{show_or_shows(found.both)} {found.column} {found.value}"
        return (
            f"If a blank fits every value, {both} of the {render_records(found.whole)} with {fits} {shows} ({ratio}), which reveals {of}.",
            (
                "This reader needs the table only: a blank condition cell is taken to fit every value.",
                f"In this way {fits} fits {render_records(found.whole)}; {both} of them {shows}: {ratio}.",
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
        "The owner knows what the blanks hide; a reader who knows that blanks were made where the value is can guess it.",
        f"Each record's own blank left out, {found.whole:,} cells of {found.column} are blank{among}; {both} hide {found.value}.",
        f"{both} / {found.whole:,} = {ratio}: a blank means {found.value}. "
        f"By this pattern or another, {found.value} is inferred for {render_rows(found.rows)}.",
        _INSTEAD,
    )


def caution(case: TableCase, bars: Thresholds) -> str:
    """Return the caution about the owner's choice of rows."""
    if not case.is_declared:
        return "an outsider's view" if case.original is None else "every blank is at risk: no rows are named"
    for attribute in case.attributes:
        is_known = attribute.truth >= 0
        people = np.bincount(attribute.truth[is_known], case.partial.weights[attribute.rows[is_known]])
        whole = int(people.sum())
        most = int(people.max(initial=0))
        if whole > 1 and most > bars.most_safe(whole):
            shown = "all" if most == whole else f"{most:,} of"
            return f"{shown} {whole:,} rows to protect have the same sensitive value: nobody may learn how they were chosen"
    return ""
