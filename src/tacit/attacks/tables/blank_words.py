"""What readings of blanks tell, in words, with what to do instead."""

from __future__ import annotations

from typing import Literal

import numpy as np

from tacit.attacks.tables.case import TableCase
from tacit.attacks.tables.words import Told, described, percent, records, rows, show
from tacit.model.partial import Thresholds

#: ``known-only`` and ``wildcard`` as in :mod:`tacit.inference.unsafe`; ``blanks``: how many other blanks hide the value; ``model``: naive Bayes;
#: ``entropy``: the distribution of largest entropy.
Reading = Literal["known-only", "wildcard", "blanks", "model", "entropy"]

_INSTEAD = (
    "Hide condition cells of the sensitive records instead, the same attribute for all of them: "
    "tacit hide DATA --may-hide sc --method uniform."
)

__all__ = ["Reading", "Told", "caution", "described", "told"]


def told(reading: Reading, found: Told, share: float) -> tuple[str, tuple[str, ...]]:
    """The sentence and the steps of a finding: what a reader does, what comes out, what to do instead."""
    if reading in ("model", "entropy"):
        return _model(found, share, "Naive Bayes" if reading == "model" else "The distribution of largest entropy")
    return {"known-only": _known_only, "wildcard": _wildcard, "blanks": _blanks}[reading](found)


def _known_only(found: Told) -> tuple[str, tuple[str, ...]]:
    fits, share = described(found.pattern), percent(found.both, found.whole)
    statement = (
        f"Of the {records(found.whole)} with {fits} whose {found.column} is known, {found.both:,} {show(found.both)} {found.value} ({share}): "
        f"leaving blanks out, a reader infers it for {records(len(found.rows))}."
    )
    return statement, (
        "This reader needs the table only: blanks are left out of the count, instead of counted as another value.",
        f"The {found.column} of {records(found.whole)} with {fits} is shown, for {found.both:,} of them {found.value}: {share}.",
        f"By this pattern or another, {found.value} is inferred for {rows(found.rows)}.",
        "Blanks in the sensitive column cannot prevent it without making the blanks themselves telling. " + _INSTEAD,
    )


def _wildcard(found: Told) -> tuple[str, tuple[str, ...]]:
    fits, share = described(found.pattern), percent(found.both, found.whole)
    statement = (
        f"If a blank fits every value, {found.both:,} of the {records(found.whole)} with {fits} {show(found.both)} {found.column} {found.value} "
        f"({share}), which tells {records(len(found.rows))}."
    )
    return statement, (
        "This reader needs the table only: a blank condition cell is taken to fit every value.",
        f"In this way {fits} fits {records(found.whole)}; {found.both:,} of them {show(found.both)} {found.column} {found.value}: {share}.",
        f"By this pattern or another, {found.value} is inferred for {rows(found.rows)}.",
        "Condition cells of other records were hidden where the value is, which puts them back. " + _INSTEAD,
    )


def _blanks(found: Told) -> tuple[str, tuple[str, ...]]:
    fits, share = described(found.pattern), percent(found.both, found.whole)
    among = f" of records with {fits}" if fits else ""
    statement = (
        f"{found.both:,} of {found.whole:,} other blanks in {found.column}{among} hide {found.value} ({share}): whoever knows how "
        f"they were made reads {found.value} in {records(len(found.rows))}."
    )
    return statement, (
        "What the blanks hide is known to the owner; a reader guesses it who knows that blanks were made where the value is.",
        f"Each record's own blank left out, {found.whole:,} cells of {found.column} are blank{among}; {found.both:,} hide {found.value}.",
        f"{found.both:,} / {found.whole:,} = {share}: a blank means {found.value}. By this pattern or another this tells {rows(found.rows)}.",
        _INSTEAD,
    )


def _model(found: Told, share: float, model: str) -> tuple[str, tuple[str, ...]]:
    people = records(len(found.rows))
    statement = f"{model} gives {found.column} {found.value} a probability of up to {share:.3f} for {people}."
    return statement, (
        "This reader needs the table only: a model is trained on all records that show their value.",
        "It takes several cells together where each rule by itself is within the limits.",
        f"The records are {rows(found.rows)}.",
        "Hide more condition cells of these records, or publish fewer columns.",
    )


def caution(case: TableCase, bars: Thresholds) -> str:
    """What no reading can tell from the table: how the owner chose the rows."""
    if not case.is_declared:
        return "an outsider's view" if case.original is None else "every blank is at risk: no rows are named"
    for attribute in case.attributes:
        known = attribute.truth[attribute.truth >= 0]
        most = int(np.bincount(known).max(initial=0)) if len(known) else 0
        if len(known) > 1 and most > bars.most_safe(len(known)):
            shown = "all" if most == len(known) else f"{most:,} of"
            return f"{shown} {len(known):,} rows to protect have the same sensitive value: nobody may learn how they were chosen"
    return ""
