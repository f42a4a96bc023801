"""Verdict: what the releases reveal, and what they would under other settings.

The audit with the project's settings is a command like any other. Sliders ask the process that keeps the releases read; where it leaves an
attack unfinished, another process finishes it and takes over, so that its findings join the lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tacit.web import commands, texts
from tacit.web.commands import Command
from tacit.web.live import PATIENT, Superseded
from tacit.web.projects import Project
from tacit.web.screens.open import open_question
from tacit.web.site import Screen, Site, View, as_mapping, fail, read_object

LIMITS = ("k", "l")
CHANGES: Mapping[str, tuple[str, ...]] = {
    "min-support": ("--method", "raise-threshold", "--min-support"),
    "base": ("--method", "round", "--base"),
    "decimals": ("--method", "round", "--decimals"),
    "cell-base": ("--method", "round-controlled", "--base"),
}
PARTS = ("head", "body", "proof", "lines", "curves")
_LONGEST = 2_000  #: Letters of a field of a question.


def step_settings(query: Mapping[str, str]) -> Mapping[str, str]:
    """Return the settings of sliders that an address has."""
    return {name: value for name in (*LIMITS, *CHANGES) if _is_number(value := query.get(name, ""))}


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


def step_command(project: Project, asked: Mapping[str, str]) -> Command:
    """Return the command whose answer is that of a step of sliders."""
    limits = {name: value for name, value in asked.items() if name in LIMITS}
    for name, words in CHANGES.items():
        if name in asked:
            return commands.repair_command(project, (*words, asked[name]), limits)
    return commands.audit_command(project, limits)


def _context(site: Site, project: Project, view: View) -> Mapping[str, Any]:
    answer = view.answer
    record = view.record
    if not answer and view.asked and project.having("release"):
        # What the address asks for comes from the process that keeps the releases; until then, the audit as it is.
        base = site.answered(project, commands.audit_command(project))
        if base is not None:
            answer = site.report(project, base)
            record = site.jobs.record(project, base)
    k = view.asked.get("k") or project.settings.get("k") or (record["policy"]["k"] if "policy" in record else 10)
    return {
        "answer": answer,
        "k": k,
        "sliders": texts.SLIDERS,
        "is_live": is_here(site, project),
        "question": open_question(site, project),
    }


def is_here(site: Site, project: Project) -> bool:
    """Return True if all files in use are at hand."""
    return all(site.workspace.has(project, file) for file in project.files if file.role != "unused")


async def ask(site: Site, request: Request, project: Project) -> Response:
    """Return a part of the screen under other settings."""
    given = await read_object(request)
    part = str(given.get("part", ""))
    if part not in PARTS:
        return fail(404, texts.PAGE_IS_GONE)
    if not is_here(site, project):
        return fail(409, texts.FILES_ARE_GONE.format(names=", ".join(file.name for file in project.files)))
    settings = step_settings({name: str(value) for name, value in as_mapping(given.get("settings", {})).items()})
    query = {str(name): str(value)[:_LONGEST] for name, value in as_mapping(given.get("query", {})).items()}
    asked = {"part": part, "settings": settings, "query": query, "seconds": PATIENT if given.get("patient") else None}
    if part == "head":
        asked["told"] = _read_answer(site, project, settings)
    try:
        answer = await site.keepers.ask(project, commands.audit_command(project), asked)
    except Superseded:
        return fail(409, texts.SUPERSEDED)
    if "error" in answer:
        return fail(422, str(answer["error"]))
    return JSONResponse({name: answer[name] for name in ("html", "pending", "verdict", "ranges")})


def _read_answer(site: Site, project: Project, settings: Mapping[str, str]) -> Mapping[str, Any] | None:
    """Return what a command has said under these settings, if it is an audit that has been run."""
    if any(name in settings for name in CHANGES):
        return None
    job = site.answered(project, step_command(project, settings))
    if job is None:
        return None
    record = site.jobs.record(project, job)
    headline = record["headline"].removeprefix(f"{record['verdict'].upper()}: ")
    found = {run["code"]: run["findings"] for run in record["attacks"]}
    return {"verdict": record["verdict"], "headline": headline, "runs": found}


async def finish(site: Site, request: Request, project: Project) -> Response:
    """Run the attacks that a step has left for later, in a process of their own."""
    given = await read_object(request)
    settings = step_settings({name: str(value) for name, value in as_mapping(given.get("settings", {})).items()})
    made = await site.keepers.finish(project, commands.audit_command(project), settings)
    return JSONResponse(made.describe(), 202)


async def look(site: Site, _: Request, project: Project) -> Response:
    """Return how far the slow attacks are."""
    found = site.keepers.finishing(project.id)
    return fail(404, texts.CANCELLED) if found is None else JSONResponse(found.describe())


async def cancel(site: Site, _: Request, project: Project) -> Response:
    """End the slow attacks."""
    await site.keepers.cancel(project.id)
    return JSONResponse({"cancelled": project.id})


def _command(_: Site, project: Project, asked: Mapping[str, str]) -> Command:
    return step_command(project, asked)


_CALLS = (
    ("POST", "/live", ask),
    ("POST", "/live/finish", finish),
    ("GET", "/live/finish", look),
    ("DELETE", "/live/finish", cancel),
)
SCREEN = Screen("verdict", settings=step_settings, command=_command, context=_context, calls=_CALLS)
