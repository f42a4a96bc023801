"""Suggestions for partial tables: more hidden cells."""

from __future__ import annotations

from functools import partial
from typing import Any

from tacit.errors import OptionError
from tacit.files.partial import read_partial
from tacit.files.selection import Marks
from tacit.model.partial import PartialTable
from tacit.model.policy import Limits
from tacit.partial.methods import MEANING, Method
from tacit.verbs.audit import audit
from tacit.verbs.hide import hide
from tacit.verbs.suggest import Done, SuggestCase, Way, Words

#: What the loss of a table measures.
MEASURED = "cells hidden besides the sensitive ones"
#: Where cells may be hidden, and how they are chosen.
CHOICES: tuple[tuple[str, Method], ...] = (
    ("ns", "greedy"),
    ("ns,nc", "greedy"),
    ("ns,nc,sc", "greedy"),
    ("sc", "uniform"),
    ("nc", "rgraph-max-descendant"),
)


def ways(case: SuggestCase) -> list[Way]:
    """Return every choice of places for hidden cells."""
    if case.data is None or case.rows is None:
        return [Way("hide", "hide more cells", partial(_carry_out, case, *CHOICES[0]))]
    return [
        Way(f"{method}, {regions}", _what(regions, method), partial(_carry_out, case, regions, method))
        for regions, method in CHOICES
    ]


def _what(regions: str, method: Method) -> str:
    places = " and ".join(MEANING[region] for region in regions.split(","))
    return f"hide {places}" + (", the same attributes for all of them" if method == "uniform" else "")


def _carry_out(case: SuggestCase, regions: str, method: Method, seconds: float) -> Done:
    limits = Limits.within(seconds)
    original = _original(case)
    how: dict[str, Any] = {"marks": case.rows} if isinstance(case.rows, Marks) else {"rows": case.rows}
    how |= {"min_confidence": case.policy.min_confidence, "min_support": case.policy.min_support}
    made = hide(original, may_hide=regions, method=method, time_limit=limits.seconds_left, **how)
    after = audit(made, data=original, rows=case.rows, policy=case.policy, time_limit=limits.seconds_left)
    return Done(
        made,
        after,
        loss=float(made.cost["cells_hidden"]),
        measured=MEASURED,
        cost=made.cost,
        commands=(_words(case, original, regions, method),),
    )


def _original(case: SuggestCase) -> PartialTable:
    if case.data is None or case.rows is None:
        lacking = "--data" if case.data is None else "--rows"
        remedy = "Give the table before cells were hidden with --data, and the rows to protect with --rows"
        raise OptionError("cells are hidden in the original, for rows that are to be protected", where=lacking, remedy=remedy)
    head = case.release.header
    return case.data if isinstance(case.data, PartialTable) else read_partial(case.data, qi=head.qi, sa=head.sa)


def _words(case: SuggestCase, original: PartialTable, regions: str, method: Method) -> Words:
    schema = original.people.schema
    words: Words = ("tacit", "hide", "@data", "--qi", ",".join(schema.qi), "--sa", ",".join(schema.sa))
    words += ("--marks" if isinstance(case.rows, Marks) else "--rows", "@rows", "--may-hide", regions, "--method", method)
    return (*words, *case.policy_words("min_confidence", "min_support"), "-o", "@out")
