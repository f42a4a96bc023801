"""What could be done about an exposed release, in sentences: the same for the terminal and the page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tacit.model.repair import Suggestion, Suggestions
from tacit.reports.words import bullet

TITLE = "What would make it clean"
NOTHING = "No way that was tried makes it clean."
TRIED = "Tried besides"
#: Costs that say something to a reader, with their words, in the order in which they are told.
COSTS = {
    "itemsets_lost": "{:,} itemsets lost",
    "itemsets_ghost": "{:,} made up",
    "rules_lost": "{:,} rules lost",
    "values_withheld": "{:,} without their numbers",
    "lines_lost": "{:,} lines lost",
    "lines_rounded": "{:,} lines rounded",
    "cells_lost": "{:,} cells lost",
    "cells_hidden": "{:,} cells hidden",
    "support_error_mean": "counts off by {:.2%} on average",
    "information_lost": "{:.4f} nats a person less certain",
    "people_changed": "{:,} people changed",
    "mean_group": "{:.2f} people in a group on average",
    "suppressed": "{:,} people left out",
}


@dataclass(frozen=True, slots=True)
class Told:
    """A suggestion for a reader: what it does, what it costs or why it is not enough, and the commands (none outside)."""

    what: str
    cost: str
    commands: tuple[str, ...]
    ok: bool


def told(suggestions: Suggestions, *, named: bool) -> list[Told]:
    """All suggestions in their order; without ``named`` commands and reasons are left out, which may name files and columns."""
    return [_told(one, tuple(suggestions.lines(one)), named) for one in suggestions]


def _told(one: Suggestion, commands: tuple[str, ...], named: bool) -> Told:
    if one.ok:
        return Told(one.what, cost_words(one), commands if named else (), True)
    if one.verdict is None:
        return Told(one.what, one.reason if named else "could not be done", (), False)
    return Told(one.what, "still exposed" if one.verdict == "exposed" else _undecided(one), (), False)


def _undecided(one: Suggestion) -> str:
    """What is said of a result in which nothing is found and not everything is decided."""
    still_open = sum(run.undecided for run in one.after.runs) if one.after is not None else 0
    if not still_open:
        return "nothing is found any more, but not everything could be decided"
    number = "1 question stays" if still_open == 1 else f"{still_open:,} questions stay"
    return f"not proved safe: nothing is found any more, but {number} open"


def cost_words(one: Suggestion) -> str:
    """What a suggestion costs.

    >>> cost_words(Suggestion("round", "", "clean", cost={"itemsets_lost": 0, "support_error_mean": 0.0618}))
    'counts off by 6.18% on average'
    """
    parts = [_words(text.format(one.cost[name])) for name, text in COSTS.items() if one.cost.get(name)]
    return ", ".join(parts) or "nothing is lost that is measured"


def _words(text: str) -> str:
    """A number with its noun, which is one where the number is.

    >>> _words("1 rules lost"), _words("21 rules lost"), _words("1 people changed")
    ('1 rule lost', '21 rules lost', '1 person changed')
    """
    number, _, rest = text.partition(" ")
    noun, _, then = rest.partition(" ")
    if number != "1" or noun not in ("itemsets", "rules", "lines", "cells", "people"):
        return text
    return f"1 {'person' if noun == 'people' else noun[:-1]} {then}"


def measured_by(suggestions: Suggestions) -> str:
    """How the ways are put in order, one sentence; empty where nothing is clean."""
    best = suggestions.best
    return f"The first loses least: {best.measured}." if best is not None and len(suggestions.clean) > 1 else ""


def text_lines(suggestions: Suggestions, *, named: bool, width: int) -> Iterator[str]:
    """The suggestions for a terminal: the clean ones numbered, with commands, then what was tried besides."""
    all_told = told(suggestions, named=named)
    clean = [one for one in all_told if one.ok]
    if not clean:
        yield from bullet("-", NOTHING, width)
    for number, one in enumerate(clean, 1):
        yield from bullet(f"{number}.", f"{sentence(one.what)}: {one.cost}.", width)
        for command in one.commands:
            yield f"       {command}"  # not folded, so that it can be copied
    if by := measured_by(suggestions):
        yield from bullet("-", by, width)
    for one in (one for one in all_told if not one.ok):
        yield from bullet("-", f"{TRIED}: {one.what}: {one.cost.rstrip('.')}.", width)


def sentence(text: str) -> str:
    """A text that begins with a capital letter."""
    return text[:1].upper() + text[1:]


#: The head of the table in a page of text, and what a page says above the clean ones.
COLUMNS = ("What to change", "Verdict after", "Cost, or why not", "Command")
CAPTION = "Repairs that were carried out and audited; all of these are clean, the cheapest first"


def rows(suggestions: Suggestions, *, named: bool) -> list[tuple[str, str, str, str]]:
    """One row for each way that was tried, for the pages; a verdict of ``-`` where there is no result."""
    told_of = zip(suggestions, told(suggestions, named=named), strict=True)
    return [(sentence(one.what), way.verdict or "-", one.cost, " && ".join(one.commands) or "-") for way, one in told_of]
