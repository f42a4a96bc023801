"""The part of a report about rebuilt people: how many of all, their values, and how far a plain guess goes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tacit.model.audit import Audit
from tacit.model.rebuilt import Rebuilt
from tacit.reports.document import Facts, Figure, Part, ReportKind, Section, Table, capitalise, counted, format_percent
from tacit.reports.sentences import rebuilt_line

MOST_LISTED = 200  #: Most rebuilt people of a page, each kind of people in a row.


def rebuilt_section(audit: Audit, *, top: int, kind: ReportKind, on_screen: bool) -> Section:
    """Return the section about rebuilt people, empty if nobody asked for it."""
    found = audit.rebuilt
    return Section("Rebuilt people", () if found is None else tuple(_parts(audit, found, top, kind, on_screen=on_screen)))


def _parts(audit: Audit, found: Rebuilt, top: int, kind: ReportKind, *, on_screen: bool) -> Iterator[Part]:
    if found.n and not on_screen:
        yield _figure(found, found.n)
    yield Facts("Rebuilt people in numbers", tuple(_facts(audit.measures, found)))
    if kind == "internal" and found.groups and top:
        most = top if on_screen else MOST_LISTED
        people = [[group.at_least, *_values(group.event, found.columns)] for group in found.groups if not group.without][:most]
        caption = f"Whoever is rebuilt: {counted(len(people), 'kind')} of people, and how many are of it at least"
        yield Table.of(caption, ["people", *found.columns], people)


def _figure(found: Rebuilt, n: int) -> Figure:
    from tacit.reports.pictures import waffle

    told = [f"{found.people:,} of {n:,} people are proved to have certain values in every column (red)"]
    if found.but_one > found.people:
        told.append(f"{found.but_one:,} in every column or all but one (up to the end of the amber squares)")
    each = "person" if n <= 1_000 else f"{n / 1_000:,.0f} people"
    caption = f"{capitalise('; '.join(told))}. {'One square is one' if n <= 1_000 else 'A square stands for about'} {each}."
    drawn = waffle(found.people, found.but_one, n, name="rebuilt", title="Rebuilt people, of all", description=caption)
    return Figure(drawn, caption)


def _facts(measures: Mapping[str, Any], found: Rebuilt) -> Iterator[tuple[str, str]]:
    yield "Rebuilt", rebuilt_line(found, measures)
    if found.reason:
        left = "" if found.undecided is None else f"{counted(found.undecided, 'person', 'people')}: "
        yield "Left open", f"{left}{found.reason}"
    yield "Populations", f"{counted(found.worlds, 'population')} that fit the releases were compared"
    if (guessed := measures.get("people_guessed")) is not None:
        yield "A guess", f"from the margins alone gets {counted(guessed, 'person', 'people')} right in every column"
    if (error := measures.get("reconstruction_error")) is not None:
        plain = measures.get("reconstruction_error_baseline")
        told = f"{format_percent(error)} of the values of a probable population that fits are wrong"
        yield "Error", told + (f"; of that guess, {format_percent(plain)}" if plain is not None else "")
    if (bits := measures.get("bits_left")) is not None:
        share = measures.get("uncertainty_left")
        part = f", {format_percent(share)} of what there is without any release" if share is not None else ""
        yield "Uncertainty", f"at most {bits:,.0f} bits{part}"


def _values(event: Any, columns: tuple[str, ...]) -> Iterator[str]:
    """Yield the value of each column in words."""
    allowed = {next(one[kind] for kind in ("column", "item") if kind in one): one for one in event}
    for column in columns:
        one = allowed[column]
        is_item = "item" in one
        if is_item:
            yield "no" if one["excluded"] else "yes"
        else:
            yield ("not " if one["excluded"] else "") + ", ".join(one["values"])
