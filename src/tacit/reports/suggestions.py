"""Repairs tried on an exposed release, with costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.reports.document import Item, Listing, Paragraph, Part, capitalise
from tacit.reports.words import counted

if TYPE_CHECKING:
    from tacit.model.repair import Suggestion, Suggestions

TITLE = "What would make it clean"
CAPTION = "Repairs that were carried out and audited, all of them clean, the cheapest first"
NOTHING = "No repair that was tried makes it clean."
TRIED = "Also tried"
#: Costs that mean something to a reader, in the order in which they are listed.
COSTS: dict[str, tuple[str, str] | str] = {
    "itemsets_lost": ("itemset lost", "itemsets lost"),
    "itemsets_ghost": ("new itemset that was not frequent before", "new itemsets that were not frequent before"),
    "rules_lost": ("rule lost", "rules lost"),
    "values_withheld": ("without its number", "without their numbers"),
    "lines_lost": ("line lost", "lines lost"),
    "lines_rounded": ("line rounded", "lines rounded"),
    "cells_lost": ("cell lost", "cells lost"),
    "cells_hidden": ("cell hidden", "cells hidden"),
    "support_error_mean": "counts off by {:.2%} on average",
    "information_lost": "{:.4f} nats of information lost per person",
    "people_changed": ("person changed", "people changed"),
    "mean_group": "{:.2f} people in a group on average",
    "suppressed": ("person left out", "people left out"),
}


def parts(suggestions: Suggestions | None, *, is_named: bool) -> Iterator[Part]:
    """Yield safe repairs, then the others tried."""
    if suggestions is None:
        return
    tried = _entries(suggestions, is_named)
    clean = [one for one in tried if one.is_clean]
    if clean:
        items = tuple(Item(f"{capitalise(one.what)}: {one.cost}.", one.commands) for one in clean)
        yield Listing(items, CAPTION, is_numbered=True)
    else:
        yield Paragraph(NOTHING)
    if order := _order(suggestions):
        yield Paragraph(order, is_note=True)
    if others := [f"{one.what}: {one.cost.rstrip('.')}." for one in tried if not one.is_clean]:
        yield Listing.of(others, title=TRIED)


@dataclass(frozen=True, slots=True)
class _Entry:
    """Suggestion with its cost or reason of failure."""

    what: str
    cost: str
    commands: tuple[str, ...] = ()
    is_clean: bool = False


def _entries(suggestions: Suggestions, is_named: bool) -> list[_Entry]:
    """Return all suggestions; file names stay inside."""
    out = []
    for one in suggestions:
        if one.ok:
            commands = tuple(suggestions.lines(one)) if is_named else ()
            out.append(_Entry(one.what, cost_words(one), commands, is_clean=True))
        elif one.verdict is None:
            out.append(_Entry(one.what, one.reason if is_named else "could not be done"))
        else:
            out.append(_Entry(one.what, "still exposed" if one.verdict == "exposed" else _undecided(one)))
    return out


def _undecided(one: Suggestion) -> str:
    """Return the known facts about an undecided repair."""
    still_open = sum(run.undecided for run in one.after.runs) if one.after is not None else 0
    if not still_open:
        return "nothing is found any more, but not everything could be decided"
    return f"not proved safe: nothing is found any more, but {counted(still_open, 'question stays', 'questions stay')} open"


def cost_words(one: Suggestion) -> str:
    """Return what a suggestion costs.

    >>> from tacit.model.repair import Suggestion
    >>> cost_words(Suggestion("round", "", "clean", cost={"itemsets_lost": 1, "support_error_mean": 0.0618}))
    '1 itemset lost, counts off by 6.18% on average'
    """
    words = []
    for name, noun in COSTS.items():
        if cost := one.cost.get(name):
            words.append(noun.format(cost) if isinstance(noun, str) else counted(cost, *noun))
    return ", ".join(words) or "nothing is lost that is measured"


def _order(suggestions: Suggestions) -> str:
    """Return the order of the repairs, if any."""
    best = suggestions.best
    return f"The first loses least: {best.measured}." if best is not None and len(suggestions.clean) > 1 else ""
