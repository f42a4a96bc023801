"""Repair: every repair that was tried by risk and loss, one carried out, and its changes line by line.

A repair is chosen by its number in the list of those tried, by a step of a slider, or by lines: those that must go, or those to hide first and
those to keep; of several tables, too. Lines are named by their numbers, so that no address holds a value.
"""

from __future__ import annotations

import hashlib
import math
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tacit.model.errors import InputError
from tacit.web import commands, texts
from tacit.web.commands import Command, Given
from tacit.web.plot import FLOOR, HEIGHT, LEFT, RIGHT, WIDTH, Plotted, height_of, marks_up_to, place_of
from tacit.web.projects import Project
from tacit.web.screens.make import adopt_release, make_address
from tacit.web.screens.open import open_question
from tacit.web.screens.verdict import CHANGES, is_here, step_command, step_settings
from tacit.web.site import Screen, Site, View, read_object

if TYPE_CHECKING:
    from tacit.model.changes import LineChange

SECONDS = 60  #: Time in which repairs are tried.
PAGE = 100  #: Changed lines on a page.
MOST_LINES = 2_000  #: Lines that an address may name.
_PLACE = r"(?:\d{1,3}:)?[A-Z]{0,3}\d{1,9}"
_PLACES = re.compile(rf"{_PLACE}(,{_PLACE})*")  #: Lines; of several releases, with the number of the release before.
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
    """Return the repair that keeps and hides the chosen lines."""
    words = ["--method", "suppress"]
    texts_of = {}
    for name, option in (("keep", "--keep"), ("hide", "--hide-first")):
        if name in asked:
            text = "".join(f"{_entry(project, place)}\n" for place in asked[name].split(","))
            file = f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.txt"
            texts_of[file] = text
            words += [option, file]
    made = commands.repair_command(project, words)
    given = [Given(made.words.index(file), text) for file, text in texts_of.items()]
    return replace(made, given=(*made.given, *given))


def _entry(project: Project, place: str) -> str:
    """Return a line as a file of lines names it."""
    number, mark, line = place.rpartition(":")
    names = commands.releases_of(project)
    if not mark:
        return line
    if not 1 <= int(number) <= len(names):
        raise InputError(texts.NO_SUCH_LINE, where=project.name, remedy=texts.CHOOSE)
    return f"{names[int(number) - 1]}: {line}"


def _kind(site: Site, project: Project, tried: Command) -> str:
    for command in (tried, commands.audit_command(project)):
        job = site.answered(project, command)
        if job is not None:
            return str(site.jobs.record(project, job)["release"][0]["kind"])
    return ""


def _options(site: Site, project: Project, tried: Command, chosen: str) -> Sequence[str]:
    """Return the options of a suggestion by its number."""
    job = site.answered(project, tried)
    if job is None:
        raise InputError(texts.NOT_TRIED, where=project.name, remedy=texts.TRY_FIRST)
    ways = {str(number): way for number, way in enumerate(suggestions(project, site.jobs.record(project, job)), start=1)}
    if chosen not in ways or not ways[chosen].options:
        raise InputError(texts.NO_SUCH_REPAIR, where=project.name, remedy=texts.CHOOSE)
    return ways[chosen].options


@dataclass(frozen=True)
class Way:
    """Repair that was tried: ``options`` of its command, or its ``address``.

    With neither, the ``commands`` are shown: they work on one file after another.
    """

    what: str
    verdict: str
    findings: int
    loss: float | None
    loss_measure: str
    options: tuple[str, ...] = ()
    address: str = ""
    commands: tuple[str, ...] = ()


def suggestions(project: Project, record: Mapping[str, Any]) -> list[Way]:
    """Return the repairs of a record that were carried out."""
    made = []
    for one in record.get("suggestions") or []:
        if one["verdict"] is None:
            continue
        loss = one.get("loss")
        is_finite = isinstance(loss, int | float) and math.isfinite(loss)
        way = Way(
            what=one["what"],
            verdict=one["verdict"],
            findings=one.get("findings", 0),
            loss=loss if is_finite else None,
            loss_measure=one["loss_measure"],
        )
        made.append(replace(way, **_how(project, one["commands"])))
    return made


def _how(project: Project, lines: Sequence[str]) -> dict[str, Any]:
    """Return how a suggestion is carried out."""
    if len(lines) == 1:
        verb, options = commands.read_suggestion(lines[0])
        if verb == "repair":
            return {"options": tuple(options)}
        if address := make_address(project, verb, options):
            return {"address": address}
    return {"commands": tuple(name_files(project, line) for line in lines)}


def name_files(project: Project, line: str) -> str:
    """Return the command of a suggestion with the files of the project."""
    places = dict(commands.knowledge_files(project))
    names = {f"RELEASE{number}": name for number, name in enumerate(commands.releases_of(project), start=1)}
    names["RELEASE"] = names["RELEASE1"]
    names |= {"DATA": places.get("data", places.get("known", "DATA")), "KNOWLEDGE": places.get("knowledge", "KNOWLEDGE")}
    return shlex.join(names.get(word, word) for word in shlex.split(line))


def late(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the repairs that were not carried out, with the reason."""
    return [one for one in record.get("suggestions") or [] if one["verdict"] is None and one.get("reason")]


# The picture of risk and loss


def plot(record: Mapping[str, Any], found: Sequence[Way]) -> Mapping[str, Any]:
    """Return the points of the picture: the release and the repairs."""
    now = _findings(record)
    shown = [(number, one, one.loss) for number, one in enumerate(found, start=1) if one.loss is not None]
    most_loss = max([0.01, *(loss for _, _, loss in shown)])
    most = max([now, *(one.findings for _, one, _ in shown)])
    points = []
    taken: dict[tuple[int, int], int] = {}
    for number, one, loss in shown:
        x = place_of(loss, most_loss)
        y = height_of(one.findings, most)
        again = taken[round(x / 9), round(y / 9)] = taken.get((round(x / 9), round(y / 9)), 0) + 1
        tells = texts.POINT.format(number=number, what=one.what, verdict=one.verdict, loss=f"{100 * loss:.2f}")
        address = f"?choice={number}" if one.options else one.address or f"#way-{number}"
        points.append(Plotted(x, y - 17 * (again - 1), address, label=str(number), tells=tells, style=one.verdict))
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
    name: str = ""  #: The place, with the number of the release if there are several.


def changes(record: Mapping[str, Any], number: int) -> Mapping[str, Any]:
    """Return a page of the lines that a repair changed."""
    every = record.get("changes") or []
    pages = max(1, -(-len(every) // PAGE))
    number = min(max(1, number), pages)
    from tacit.model.changes import LineChange

    shown = [_row(LineChange(**one)) for one in every[(number - 1) * PAGE : number * PAGE]]
    gone = [str(one["line"]) for one in every if one["after"] is None and one["line"] is not None]
    files = [one["file"] for one in record["before"]["release"]]
    return {
        "rows": shown,
        "number": number,
        "pages": pages,
        "total": len(every),
        "first": (number - 1) * PAGE + 1,
        "last": min(number * PAGE, len(every)),
        "gone": gone if len(gone) <= MOST_LINES else [],
        "files": files if len(files) > 1 else [],
    }


def _row(change: LineChange) -> Row:
    from tacit.reports.repair import change_subject, number_words

    style = "gone" if change.after is None else "new" if change.before is None else "changed"
    after = texts.TAKEN_OUT if change.after is None else number_words(change.after) or texts.NO_NUMBER
    before = texts.NOT_PUBLISHED if change.before is None else number_words(change.before) or texts.NO_NUMBER
    place = "" if change.line is None else str(change.line)
    name = place if change.release is None or not place else f"{change.release + 1}:{place}"
    return Row(place, change_subject(change), before=before, after=after, style=style, name=name)


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
                "lines": sum((one.get("lines") or 0) - (one.get("hidden_cells") or 0) for one in summary["release"]),
            }
        )
    return out


def _context(site: Site, project: Project, view: View) -> Mapping[str, Any]:
    record = view.record
    base: dict[str, Any] = {"seconds": SECONDS, "is_live": is_here(site, project), "suggestions": [], "late": []}
    base["question"] = open_question(site, project)
    if record.get("format") == "tacit.repair/1":
        from tacit.reports.repair import cost_rows

        kinds = {str(one["kind"]) for one in record["before"]["release"]}
        is_several = len(record["before"]["release"]) > 1
        return base | {
            "changes": changes(record, int(view.asked.get("page", "1"))),
            "sides": sides(record),
            "costs": list(cost_rows(record["cost"])),
            "takes_lines": not is_several and kinds <= _BY_LINES.keys(),
            "takes_cells": "frequencies" in kinds,
            "lines": view.asked.get("lines", ""),
            "kept": view.asked.get("keep", ""),
            "hidden": view.asked.get("hide", ""),
            "address": {name: value for name, value in view.asked.items() if name != "page"},
        }
    found = suggestions(project, record)
    return base | {"suggestions": found, "late": late(record), "plot": plot(record, found) if found else None}


async def use(site: Site, request: Request, project: Project) -> Response:
    """Make the repaired release the one of the project."""
    given = await read_object(request)
    asked = _settings({name: str(value) for name, value in given.items()})
    job = site.answered(project, _command(site, project, asked)) if asked else None
    if job is None or not site.outputs(project, job):
        raise InputError(texts.NOT_TRIED, where=project.name, remedy=texts.TRY_FIRST)
    adopt_release(site, project, site.jobs.folder(project, job.id) / "out", {})
    return JSONResponse({"project": project.id}, 201)


SCREEN = Screen("repair", settings=_settings, command=_command, context=_context, calls=(("POST", "/repair/use", use),))
