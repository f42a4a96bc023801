"""What an attacker would guess about everybody's sensitive value, in numbers and sentences, the same for the terminal and the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tacit.model.audit import Audit
from tacit.model.posterior import Guess, Posterior
from tacit.reports.layout import bullet
from tacit.reports.summary import ReportKind, as_share, counted, visible
from tacit.reports.svg import Bar, Range, histogram, ranges

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
