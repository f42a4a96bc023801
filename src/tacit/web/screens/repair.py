"""Repair: every repair that was tried by risk and loss, one carried out, and its changes line by line.

A repair is chosen by its number in the list of those tried, by a step of a slider, or by lines: those that must go, or those to hide first and
those to keep. Lines are named by their numbers, so that no address holds a value.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tacit.model.errors import InputError
from tacit.web import commands, texts
from tacit.web.commands import Command, Given
from tacit.web.plot import FLOOR, HEIGHT, LEFT, RIGHT, WIDTH, Plotted, height_of, marks_up_to, place_of
from tacit.web.projects import Project
from tacit.web.screens.verdict import CHANGES, is_here, step_command, step_settings
from tacit.web.site import Screen, Site, View

if TYPE_CHECKING:
    from tacit.model.changes import LineChange

SECONDS = 60  #: Time in which repairs are tried.
PAGE = 100  #: Changed lines on a page.
MOST_LINES = 2_000  #: Lines that an address may name.
_PLACES = re.compile(r"[A-Z]{0,3}\d{1,9}(,[A-Z]{0,3}\d{1,9})*")
_BY_LINES = {"itemsets": "leave-out", "rules": "withdraw"}  #: Methods that remove named lines.


def _settings(query: Mapping[str, str]) -> Mapping[str, str]:
    kept = dict(step_settings(query))
    if (choice := query.get("choice", "")).isdecimal():
        kept["choice"] = choice
    for name in ("lines", "keep", "hide"):
        if _PLACES.fullmatch(query.get(name, "")) and query[name].count(",") < MOST_LINES:
            kept[name] = query[name]
    if (page := query.get("page", "")).isdecimal() and len(page) < 6:
        kept["page"] = page
    return kept


def _command(site: Site, project: Project, asked: Mapping[str, str]) -> Command:
    tried = commands.suggest_command(project, SECONDS)
    if "choice" in asked:
        return commands.repair_command(project, _options(site, project, tried, asked["choice"]))
    if any(name in asked for name in CHANGES):
        return step_command(project, asked)
    if "lines" in asked:
        method = _BY_LINES.get(_kind(site, project, tried), "leave-out")
        return commands.repair_command(project, ("--method", method, "--lines", asked["lines"]))
    if "keep" in asked or "hide" in asked:
        return _with_lines(project, asked)
    return tried


def _with_lines(project: Project, asked: Mapping[str, str]) -> Command:
    """Return the repair that keeps and hides the lines that were chosen, which it reads from files."""
    words = ["--method", "suppress"]
    texts_of = {}
    for name, option in (("keep", "--keep"), ("hide", "--hide-first")):
        if name in asked:
            text = "".join(f"{place}\n" for place in asked[name].split(","))
            file = f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.txt"
            texts_of[file] = text
            words += [option, file]
    made = commands.repair_command(project, words)
    given = [Given(made.words.index(file), text) for file, text in texts_of.items()]
    return replace(made, given=(*made.given, *given))


def _kind(site: Site, project: Project, tried: Command) -> str:
    for command in (tried, commands.audit_command(project)):
        job = site.answered(project, command)
        if job is not None:
            return str(site.jobs.record(project, job)["release"][0]["kind"])
    return ""


def _options(site: Site, project: Project, tried: Command, chosen: str) -> list[str]:
    """Return the options of a suggestion by its number."""
    job = site.answered(project, tried)
    if job is None:
        raise InputError(texts.NOT_TRIED, where=project.name, remedy=texts.TRY_FIRST)
    ways = {str(number): one["options"] for number, one in enumerate(suggestions(site.jobs.record(project, job)), start=1)}
    if chosen not in ways:
        raise InputError(texts.NO_SUCH_REPAIR, where=project.name, remedy=texts.CHOOSE)
    found: list[str] = ways[chosen]
    return found


def suggestions(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the suggestions of a record with the options that carry them out."""
    made = []
    for one in record.get("suggestions") or []:
        options = [chosen for command in one["commands"] if (chosen := commands.chosen_options(command))]
        loss = one.get("loss")
        finite = isinstance(loss, int | float) and math.isfinite(loss)
        made.append(
            {**one, "options": options[0] if len(one["commands"]) == 1 and options else [], "loss": loss if finite else None}
        )
    return [one for one in made if one["options"]]


def late(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the repairs that were not carried out, with the reason."""
    return [one for one in record.get("suggestions") or [] if one["verdict"] is None and one.get("reason")]


# The picture of risk and loss


def plot(record: Mapping[str, Any], found: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the points of the picture: the release as it is, and each repair that has a loss."""
    now = _findings(record)
    shown = [(number, one) for number, one in enumerate(found, start=1) if one["loss"] is not None]
    most_loss = max([0.01, *(one["loss"] for _, one in shown)])
    most = max([now, *(one.get("findings", 0) for _, one in shown)])
    points = []
    taken: dict[tuple[int, int], int] = {}
    for number, one in shown:
        x = place_of(one["loss"], most_loss)
        y = height_of(one.get("findings", 0), most)
        again = taken[round(x / 9), round(y / 9)] = taken.get((round(x / 9), round(y / 9)), 0) + 1
        tells = texts.POINT.format(number=number, what=one["what"], verdict=one["verdict"], loss=f"{100 * one['loss']:.2f}")
        points.append(Plotted(x, y - 17 * (again - 1), f"?choice={number}", label=str(number), tells=tells, style=one["verdict"]))
    return {
        "points": points,
        "now": (place_of(0, most_loss), height_of(now, most), now),
        "marks": marks_up_to(most),
        "most_loss": most_loss,
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": RIGHT,
        "floor": FLOOR,
    }


def _findings(summary: Mapping[str, Any]) -> int:
    return sum(run["findings"] - run.get("waived", 0) for run in summary["attacks"])


# Changes


@dataclass(frozen=True)
class Row:
    """Changed line: its place, what it is about, its numbers before and after."""

    place: str
    about: str
    before: str
    after: str
    style: str


def changes(record: Mapping[str, Any], number: int) -> Mapping[str, Any]:
    """Return a page of the lines that a repair changed."""
    every = record.get("changes") or []
    pages = max(1, -(-len(every) // PAGE))
    number = min(max(1, number), pages)
    from tacit.model.changes import LineChange

    shown = [_row(LineChange(**one)) for one in every[(number - 1) * PAGE : number * PAGE]]
    gone = [str(one["line"]) for one in every if one["after"] is None and one["line"] is not None]
    return {
        "rows": shown,
        "number": number,
        "pages": pages,
        "total": len(every),
        "first": (number - 1) * PAGE + 1,
        "last": min(number * PAGE, len(every)),
        "gone": gone if len(gone) <= MOST_LINES else [],
    }


def _row(change: LineChange) -> Row:
    from tacit.reports.repair import change_subject, number_words

    style = "gone" if change.after is None else "new" if change.before is None else "changed"
    after = texts.TAKEN_OUT if change.after is None else number_words(change.after) or texts.NO_NUMBER
    before = texts.NOT_PUBLISHED if change.before is None else number_words(change.before) or texts.NO_NUMBER
    place = "" if change.line is None else str(change.line)
    return Row(place, change_subject(change), before=before, after=after, style=style)


def sides(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the audits before and after, side by side."""
    out = []
    for name in ("before", "after"):
        summary = record[name]
        runs = [run for run in summary["attacks"] if run["status"] != "not-relevant"]
        people = max((run["people"] for run in runs if run["findings"]), default=0)
        out.append(
            {
                "title": texts.SIDES[name],
                "verdict": summary["verdict"],
                "findings": _findings(summary),
                "people": people,
                "runs": runs,
                "lines": sum(one.get("lines") or 0 for one in summary["release"]),
            }
        )
    return out


def _context(site: Site, project: Project, view: View) -> Mapping[str, Any]:
    record = view.record
    base: dict[str, Any] = {"seconds": SECONDS, "is_live": is_here(site, project), "suggestions": [], "late": []}
    if record.get("format") == "tacit.repair/1":
        from tacit.reports.repair import cost_rows

        kind = str(record["before"]["release"][0]["kind"])
        return base | {
            "changes": changes(record, int(view.asked.get("page", "1"))),
            "sides": sides(record),
            "costs": list(cost_rows(record["cost"])),
            "takes_lines": kind in _BY_LINES and len(record["before"]["release"]) == 1,
            "takes_cells": kind == "frequencies" and len(record["before"]["release"]) == 1,
            "kept": view.asked.get("keep", ""),
            "hidden": view.asked.get("hide", ""),
            "address": {name: value for name, value in view.asked.items() if name != "page"},
        }
    found = suggestions(record)
    return base | {"suggestions": found, "late": late(record), "plot": plot(record, found) if found else None}


SCREEN = Screen("repair", settings=_settings, command=_command, context=_context)
