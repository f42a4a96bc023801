"""What could be done about frequency tables: counts rounded, or more cells hidden, made anew from the data."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from tacit.api import audit, people_of
from tacit.errors import OptionError
from tacit.model.frequencies import FrequencyTable
from tacit.model.policy import Limits
from tacit.model.table import Table
from tacit.suggesting.base import Done, SuggestCase, Way, Words
from tacit.tabulating import tabulate

#: How the loss is measured.
MEASURED = (
    "mean over the cells: 1 for one that is hidden or left out, else the relative error of its count (of empty cells: the error)"
)
BASES = (5, 10, 20, 50, 100, 200, 500)
#: Cells below so many times k are hidden.
TIMES = (1, 2, 3, 5, 10, 20, 50)


def ways(case: SuggestCase) -> list[Way]:
    """The same tables rounded; with more cells hidden; without their totals."""
    if case.data is None:
        return [Way("tabulate", "make the tables anew", partial(_carry_out, case, "round"))]
    return [
        Way("round", "print counts as multiples of a base", partial(_carry_out, case, "round")),
        Way("hide", "hide more cells", partial(_carry_out, case, "hide")),
        Way("hide, without totals", "leave out totals, and hide small cells", partial(_carry_out, case, "no totals")),
    ]


def _carry_out(case: SuggestCase, how: str, seconds: float) -> Done:
    """The first form of the tables that no attack breaks; the last where all are broken."""
    limits, people, release = Limits.within(seconds), _people(case), case.release
    assert isinstance(release, FrequencyTable)
    tables = [table for table in release.tables() if table]
    if how == "no totals":
        tables = [table for table in tables if not any(set(table) < set(other) for other in tables)]
    forms = list(_forms(case, how))
    for form in forms:
        made = tabulate(people, by=[list(table) for table in tables], **form)
        limits.check("suggest")
        after = audit(made, policy=case.policy, first_hit=True, time_limit=limits.seconds_left)
        if after.ok or form is forms[-1]:
            break
    after = audit(made, policy=case.policy, time_limit=limits.seconds_left)
    loss, cost = _loss(people, release, made)
    return Done(made, after, loss, MEASURED, cost, (_words(tables, form),), _what(how, form))


def _forms(case: SuggestCase, how: str) -> Iterator[dict[str, Any]]:
    """The options of ``tabulate`` to try, each coarser than the one before."""
    if how == "round":
        yield from ({"round_to": base} for base in BASES)
    else:
        yield from ({"hide_below": case.policy.k * times} for times in TIMES)


def _people(case: SuggestCase) -> Table:
    """The table that the people are counted in."""
    people = None if case.data is None else people_of(case.data)
    if not isinstance(people, Table):
        raise OptionError("tables are made anew from the data", where="--data", remedy="Give the table that they were made from")
    return people


def _loss(people: Table, before: FrequencyTable, after: FrequencyTable) -> tuple[float, dict[str, Any]]:
    """The loss over the cells that were published with a number; see ``MEASURED``."""
    exact = tabulate(people, by=[list(table) for table in before.tables() if table])
    true = {_key(exact, index): int(exact.lo[index]) for index in range(len(exact))}
    now = {_key(after, index): index for index in range(len(after))}
    errors, hidden = [], 0
    for index in np.flatnonzero(~before.is_hidden).tolist():
        key = _key(before, index)
        place = now.get(key)
        if key not in true:
            continue  # a grand total, which is n
        if place is None or after.is_hidden[place]:
            hidden += 1
        else:
            errors.append(abs(int(after.printed[place]) - true[key]) / max(1, true[key]))
    cells = max(1, hidden + len(errors))
    mean = float(np.mean(errors)) if errors else 0.0
    return (hidden + sum(errors)) / cells, {"cells_lost": hidden, "support_error_mean": mean}


def _key(release: FrequencyTable, index: int) -> frozenset[tuple[str, str]]:
    return frozenset(release.cell(index).items())


def _words(tables: list[tuple[str, ...]], form: dict[str, Any]) -> Words:
    """The command that does it again."""
    by = [word for table in tables for word in ("--by", ",".join(table))]
    options = {"round_to": "--round", "hide_below": "--hide-below"}
    return (
        "tacit",
        "tabulate",
        "@data",
        *by,
        *(word for name, value in form.items() for word in (options[name], str(value))),
        "-o",
        "@out",
    )


def _what(how: str, form: dict[str, Any]) -> str:
    if how == "round":
        return f"print counts as multiples of {form['round_to']:,}"
    return f"hide cells of fewer than {form['hide_below']:,} people" + (", without totals" if how == "no totals" else "")
