"""Suggestions for tables: other groups, more hidden cells, coarser counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.files.inputs import people_of
from tacit.model.audit import Audit
from tacit.model.errors import OptionError
from tacit.model.frequencies import FrequencyTable
from tacit.model.policy import Limits
from tacit.model.table import Table
from tacit.verbs.attacks import ATTACKS
from tacit.verbs.audit import audit, whole_of
from tacit.verbs.data import owners_people
from tacit.verbs.rounding import cell_error, check_exact, rounded_cells
from tacit.verbs.suggest import Done, SuggestCase, Way, Words

if TYPE_CHECKING:
    from tacit.buckets.grouping import Method as Grouping
    from tacit.partial.methods import Method as Hiding


def ways(case: SuggestCase) -> list[Way]:
    """Return the ways to make the release again."""
    return {"buckets": _ways_to_group, "table": _ways_to_hide, "frequencies": _ways_to_count}[case.release.kind](case)


# Bucketized releases

GROUPINGS: dict[Grouping, str] = {
    "balanced": "group the people again, in groups of balanced values that what is known does not help to break",
    "injector": "group the people again as the Injector paper does",
    "anatomy": "group the people again as Anatomy does, which does not look at what is known",
}


def _ways_to_group(case: SuggestCase) -> list[Way]:
    if case.data is None:
        return [Way("bucketize", "group the people again", partial(_group, case, "balanced", False))]
    made = [Way(name, what, partial(_group, case, name, False)) for name, what in GROUPINGS.items()]
    without = "group the people again, without those for whom there is no group"
    return [*made, Way("balanced, leaving out", without, partial(_group, case, "balanced", True))]


def _group(case: SuggestCase, method: Grouping, suppress: bool, seconds: float) -> Done:
    from tacit.verbs.bucketize import bucketize

    limits = Limits.within(seconds)
    people = owners_people(case.release, case.data)
    if not isinstance(people, Table) or not people.schema.sa:
        remedy = "Give the table that it was made from, with its columns' roles, with --data"
        raise OptionError("people are grouped again from the data", where="--data", remedy=remedy)
    least = max(2, case.policy.l)
    made = bucketize(
        people,
        l=least,
        method=method,
        knowledge=case.knowledge,
        max_posterior=None if method == "anatomy" else case.policy.max_posterior,
        suppress=suppress,
        time_limit=limits.seconds_left,
    )
    if suppress and not made.cost["suppressed"]:
        raise OptionError("nobody has to be left out", where="--suppress", remedy="The same groups without it do")
    # B03 decides only if it is asked for by name: if it found something, it was.
    named = [attack.code for attack in ATTACKS if attack.needs == "buckets"] if case.before.attack("B03").findings else None
    words: Words = ("tacit", "bucketize", "@data", "--qi", ",".join(people.schema.qi), "--sa", ",".join(people.schema.sa))
    words += ("--l", str(least), "--method", method)
    words += ("--knowledge", "@knowledge") if case.knowledge is not None else ()
    words += case.policy_words("max_posterior") if method != "anatomy" else ()
    words += ("--suppress",) if suppress else ()
    return Done(
        made,
        audit(made, knowledge=case.knowledge, policy=case.policy, attacks=named, time_limit=limits.seconds_left),
        loss=float(made.cost["mean_group"]) + float(made.cost["suppressed"]) * people.n,
        measured="people in a group on average; each person who is left out counts as all of them",
        cost=made.cost,
        commands=((*words, "-o", "@out"),),
    )


# Tables with blank cells


def _ways_to_hide(case: SuggestCase) -> list[Way]:
    from tacit.partial.methods import MEANING
    from tacit.verbs.hide import HIDINGS

    if case.before.attack("T03").findings:
        return []  # classes are made larger by coarser columns, which only the owner can choose
    if case.data is None or case.rows is None:
        return [Way("hide", "hide more cells", partial(_hide, case, *HIDINGS[0]))]
    found = []
    for regions, method in HIDINGS:
        what = "hide " + " and ".join(MEANING[region] for region in regions.split(","))
        what += ", the same attributes for all of them" if method == "uniform" else ""
        found.append(Way(f"{method}, {regions}", what, partial(_hide, case, regions, method)))
    return found


def _hide(case: SuggestCase, regions: str, method: Hiding, seconds: float) -> Done:
    from tacit.files.partial import read_partial
    from tacit.files.selection import Marks
    from tacit.verbs.hide import hide

    limits = Limits.within(seconds)
    if case.data is None or case.rows is None:
        lacking = "--data" if case.data is None else "--rows"
        remedy = "Give the table before cells were hidden with --data, and the rows to protect with --rows"
        raise OptionError("cells are hidden in the original, for rows that are to be protected", where=lacking, remedy=remedy)
    head = case.release.header
    original = read_partial(case.data, qi=head.qi, sa=head.sa)
    option = "marks" if isinstance(case.rows, Marks) else "rows"
    made = hide(
        original,
        may_hide=regions,
        method=method,
        time_limit=limits.seconds_left,
        min_confidence=case.policy.min_confidence,
        min_support=case.policy.min_support,
        **{option: case.rows},
    )
    schema = original.people.schema
    words: Words = ("tacit", "hide", "@data", "--qi", ",".join(schema.qi), "--sa", ",".join(schema.sa))
    words += (f"--{option}", "@rows", "--may-hide", regions, "--method", method)
    return Done(
        made,
        audit(made, data=original, rows=case.rows, policy=case.policy, time_limit=limits.seconds_left),
        loss=float(made.cost["cells_hidden"]),
        measured="cells hidden besides the sensitive ones",
        cost=made.cost,
        commands=((*words, *case.policy_words("min_confidence", "min_support"), "-o", "@out"),),
    )


# Frequency tables

#: What the loss of a frequency table measures.
MEASURED = (
    "mean over the cells: 1 for one that is hidden or left out, else the relative error of its count (of empty cells: the error)"
)
BASES = (5, 10, 20, 50, 100, 200, 500)
TIMES = (1, 2, 3, 5, 10, 20, 50)  #: Multiples of k below which cells are hidden.


def _ways_to_count(case: SuggestCase) -> list[Way]:
    """Return the forms to try; without data only rounding."""
    least = case.policy.least_base
    bases = [{"round_to": base} for base in (least, *(base for base in BASES if base > least))]
    sizes = [{"hide_below": case.policy.k * times} for times in TIMES]
    multiples = "print counts as multiples of a base"
    fewest = Way("suppress", "hide the fewest further cells", partial(_suppress, case))
    if case.data is None:
        return [Way("round", multiples, partial(_round, case, bases)), fewest]
    small = "leave out totals, and hide small cells"
    return [
        fewest,
        Way("round", multiples, partial(_tabulate, case, bases, True)),
        Way("hide", "hide more cells", partial(_tabulate, case, sizes, True)),
        Way("hide, without totals", small, partial(_tabulate, case, sizes, False)),
    ]


def _round(case: SuggestCase, forms: list[dict[str, int]], seconds: float) -> Done:
    release = case.release
    assert release.kind == "frequencies"
    check_exact(release)
    limits = Limits.within(seconds)
    form, made, after = _first_safe(case, forms, lambda form: rounded_cells(release, form["round_to"]), limits)
    error = cell_error(release, made)
    return Done(
        made,
        after,
        loss=error,
        measured=MEASURED,
        cost={"support_error_mean": error},
        commands=(_repair_words(case, "round", "--base", str(form["round_to"])),),
        what=_describe(form),
    )


def _suppress(case: SuggestCase, seconds: float) -> Done:
    from tacit.verbs.suppress import suppress_releases

    made = suppress_releases(
        case.releases,
        policy=case.policy,
        time_limit=seconds,
        before=case.before,
        data=case.data,
        known=case.known,
        knowledge=case.knowledge,
    )
    assert case.release.kind == "frequencies"
    shown = int((~case.release.is_hidden).sum())
    return Done(
        made.release,
        made.after,
        loss=made.facts["hidden"] / max(1, shown),
        measured=MEASURED,
        cost=made.cost,
        commands=(_repair_words(case, "suppress"),),
        what=made.what,
    )


def _repair_words(case: SuggestCase, method: str, *how: str) -> Words:
    """Return the command that repairs the table as it is."""
    given = case.inputs("data", "known", "knowledge")
    return ("tacit", "repair", "@0", *given, "--method", method, *how, *case.policy_words("k"), "-o", "@out")


def _tabulate(case: SuggestCase, forms: list[dict[str, int]], with_totals: bool, seconds: float) -> Done:
    from tacit.verbs.tabulate import tabulate

    limits = Limits.within(seconds)
    people = people_of(case.data)
    if not isinstance(people, Table):
        raise OptionError("tables are made again from the data", where="--data", remedy="Give the table that they were made from")
    release = case.release
    assert release.kind == "frequencies"
    tables = [list(table) for table in release.tables() if table]
    exact = tables
    if not with_totals:
        tables = [table for table in tables if not any(set(table) < set(other) for other in tables)]
    roles = _roles(release)
    form, made, after = _first_safe(case, forms, lambda form: tabulate(people, by=tables, **roles, **form), limits)
    loss, cost = _loss(tabulate(people, by=exact), release, made)
    return Done(
        made,
        after,
        loss=loss,
        measured=MEASURED,
        cost=cost,
        commands=(_words(tables, form, roles),),
        what=_describe(form) + ("" if with_totals else ", without totals"),
    )


def _first_safe(
    case: SuggestCase, forms: list[dict[str, int]], make: Callable[[Any], FrequencyTable], limits: Limits
) -> tuple[dict[str, int], FrequencyTable, Audit]:
    """Return the first safe form, else the last, with its audit."""
    for form in forms:
        limits.check("suggest")
        made = make(form)
        quick = audit(made, policy=case.policy, first_hit=True, time_limit=limits.seconds_left)
        if _holds(quick, made):
            break
    return form, made, whole_of(quick) or audit(made, policy=case.policy, time_limit=limits.seconds_left)


def _holds(found: Audit, made: FrequencyTable) -> bool:
    """Tell if nothing is found, as far as decidable."""
    if found.ok or made.header.has_roles:
        return found.ok
    ended = [run for run in found.runs if run.status != "not-relevant" and run.code != "R03"]
    return found.verdict != "exposed" and all(run.decides for run in ended)


def _loss(exact: FrequencyTable, before: FrequencyTable, after: FrequencyTable) -> tuple[float, dict[str, Any]]:
    """Return the loss over shown cells, and the costs."""
    true = {_key(exact, index): int(exact.lo[index]) for index in range(len(exact))}
    now = {_key(after, index): index for index in range(len(after))}
    errors = []
    hidden = 0
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


def _describe(form: dict[str, int]) -> str:
    if "round_to" in form:
        return f"print counts as multiples of {form['round_to']:,}"
    return f"hide cells of fewer than {form['hide_below']:,} people"


def _roles(release: FrequencyTable) -> dict[str, Any]:
    return {"qi": list(release.header.qi), "sa": ["none"] if release.header.no_sa else list(release.header.sa)}


def _words(tables: Iterable[Iterable[str]], form: dict[str, int], roles: dict[str, Any], *, total: bool = False) -> Words:
    by = [word for table in tables for word in ("--by", ",".join(table))]
    options = {"round_to": "--round", "hide_below": "--hide-below"}
    how = [word for name, value in form.items() for word in (options[name], str(value))]
    named = [word for name, columns in roles.items() if columns for word in (f"--{name}", ",".join(columns))]
    return ("tacit", "tabulate", "@data", *by, *named, *(("--total",) if total else ()), *how, "-o", "@out")
