"""Repairs that were tried, with their costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tacit.reports.document import Item, Listing, Paragraph, Part, capitalise, counted

if TYPE_CHECKING:
    from tacit.model.repair import Suggestion, Suggestions

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
    "support_error_mean": "counts off by {:.2f} % on average",
    "information_lost_share": "{:.1f} % of the information about sensitive values lost",
    "people_changed": ("person changed", "people changed"),
    "mean_group": "{:.2f} people in a group on average",
    "suppressed": ("person left out", "people left out"),
}


def suggestion_parts(suggestions: Suggestions | None, *, is_named: bool) -> Iterator[Part]:
    """Yield safe repairs, then the others tried; files are named inside only."""
    if suggestions is None:
        return
    clean = []
    others = []
    for one in suggestions:
        if one in suggestions.late:
            continue
        if one.ok:
            commands = tuple(suggestions.lines(one)) if is_named else ()
            clean.append(Item((f"{capitalise(one.what)}: {cost_words(one)}.",), commands))
            continue
        reason = one.reason if is_named else "could not be done"
        if one.verdict == "exposed":
            reason = "still exposed"
        elif one.verdict is not None:
            reason = "nothing is found any more, but not everything could be decided"
            if still_open := sum(run.undecided for run in one.after.runs) if one.after is not None else 0:
                stay = counted(still_open, "question stays", "questions stay")
                reason = f"not proved safe: nothing is found any more, but {stay} open"
        others.append(f"{one.what}: {reason.rstrip('.')}.")
    if clean:
        title = "Repairs that were carried out and audited, all of them clean, the cheapest first"
        yield Listing(tuple(clean), title, is_numbered=True)
    else:
        yield Paragraph("No repair that was tried makes it clean.")
    best = suggestions.best
    if best is not None and len(suggestions.clean) > 1:
        yield Paragraph(f"The first loses least: {best.measured}.", is_note=True)
    if others:
        yield Listing.of(others, title="Also tried")
    if suggestions.late:
        names = ", ".join(one.method for one in suggestions.late)
        yield Paragraph(f"Not tried (out of time): {names}; allow more with --suggest {suggestions.more_seconds}.")


def cost_words(one: Suggestion) -> str:
    """Return what a suggestion costs."""
    words = []
    for name, noun in COSTS.items():
        if cost := one.cost.get(name):
            words.append(noun.format(100 * cost) if isinstance(noun, str) else counted(cost, *noun))
    return ", ".join(words) or "nothing is lost that is measured"
