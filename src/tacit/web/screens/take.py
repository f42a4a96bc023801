"""Take away: releases, reports, records, the same command elsewhere, and the review."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tacit.model.errors import OptionError, TacitError
from tacit.web import commands, texts, waivers
from tacit.web.commands import Command
from tacit.web.jobs import Job
from tacit.web.projects import Project
from tacit.web.site import Screen, Site, View, as_mapping, read_object

#: What can be taken away besides what other screens made, each the result of a command.
TAKEN = ("external", "acro", "mark")
_REVIEW = ("decision", "by", "comment")
_DECISIONS = ("", "approved", "returned")
_LONGEST = 2_000  #: Letters of a comment.


def _settings(query: Mapping[str, str]) -> Mapping[str, str]:
    what = query.get("what", "")
    return {"what": what} if what in TAKEN else {}


def _command(_: Site, project: Project, asked: Mapping[str, str]) -> Command:
    return commands.take_command(project, asked.get("what", "external"))


def is_approved(site: Site, project: Project) -> bool:
    """Return True if a release was approved, and neither it nor the settings changed since."""
    job = site.audited(project)
    review = project.review
    return job is not None and review.get("decision") == "approved" and review.get("about") == job.id


def _context(site: Site, project: Project, _: View) -> Mapping[str, Any]:
    context: dict[str, Any] = {
        "newline": Markup("\n"),
        "texts": texts,
        "audit": None,
        "shown": "",
        "python": "",
        "views": {},
        "repairs": [],
        "findings": [],
        "is_current": True,
        "waivers_file": waivers.FILE_NAME,
    }
    if not project.having("release"):
        return context
    done = site.audited(project)
    record = {} if done is None else site.jobs.record(project, done)
    about = project.review.get("about", "")
    try:
        shown = commands.audit_command(project).shown
        python = commands.python_lines(project)
    except TacitError:
        return context
    return {
        **context,
        "shown": shown,
        "python": python,
        "audit": done,
        "views": {what: site.view(SCREEN, project, {"what": what}) for what in TAKEN},
        "repairs": [(job, site.outputs(project, job), site.jobs.record(project, job)) for job in _repairs(site, project)],
        "findings": record.get("findings", []),
        "waived": record.get("waivers", []),
        "is_one": len(commands.releases_of(project)) == 1,
        "is_current": not project.review.get("decision") or (done is not None and about == done.id),
    }


def _repairs(site: Site, project: Project) -> list[Job]:
    """Return the repairs of the release as it is, the newest first."""
    return site.jobs.answers(project, "repair")[:5]


async def review(site: Site, request: Request, project: Project) -> Response:
    """Keep a decision about the release as it is now."""
    given = await read_object(request)
    project = site.current(project)
    kept = {name: str(value).strip()[:_LONGEST] for name, value in as_mapping(given).items() if name in _REVIEW}
    project = _reviewed(project, kept)
    job = site.audited(project)
    about = "" if job is None else job.id
    site.workspace.save(replace(project, review={**project.review, "about": about}))
    return JSONResponse({"project": project.id})


def _reviewed(project: Project, given: object) -> Project:
    review = {name: str(value).strip()[:_LONGEST] for name, value in as_mapping(given).items() if name in _REVIEW}
    decision = review.get("decision", "")
    if decision not in _DECISIONS or (decision and not review.get("by")):
        raise OptionError(texts.DECISION_NEEDS_NAME, where="review", remedy=texts.GIVE_NAME)
    return replace(project, review=review)


async def waive(site: Site, request: Request, project: Project) -> Response:
    """Accept findings, with a reason and a name."""
    made = waivers.check_waiver(await read_object(request))
    project = site.current(project)
    if len(project.waivers) >= waivers.MOST:
        raise OptionError(texts.TOO_MANY_WAIVERS, where="waiver", remedy=texts.FEWER_WAIVERS)
    site.workspace.save(replace(project, waivers=(*project.waivers, made)))
    return JSONResponse({"waivers": len(project.waivers) + 1}, 201)


async def unwaive(site: Site, request: Request, project: Project) -> Response:
    """Take a waiver back, by its number from 0."""
    number = request.path_params["number"]
    kept = [one for place, one in enumerate(project.waivers) if str(place) != number]
    if len(kept) == len(project.waivers):
        raise OptionError(texts.NO_SUCH_WAIVER, where="waiver", remedy=texts.RELOAD)
    site.workspace.save(replace(project, waivers=tuple(kept)))
    return JSONResponse({"waivers": len(kept)})


async def waivers_file(_: Site, __: Request, project: Project) -> Response:
    """Return the waivers as the file that the command names."""
    return _file(waivers.waivers_text(project.waivers), waivers.FILE_NAME)


async def review_file(site: Site, _: Request, project: Project) -> Response:
    """Return the decision with what it is about: the verdict and the digest of the record."""
    job = site.audited(project)
    record = {} if job is None else site.jobs.record(project, job)
    is_current = job is not None and project.review.get("about") == job.id
    content = {
        "format": "tacit.review/1",
        "project": project.name,
        **{name: project.review.get(name, "") for name in _REVIEW},
        "is_about_this_record": is_current,
        "command": "" if job is None else job.shown,
        "verdict": record.get("verdict", ""),
        "headline": record.get("headline", ""),
        "record": record.get("binding", ""),
        "releases": [{name: one.get(name) for name in ("file", "kind", "n", "sha256")} for one in record.get("release", ())],
        "waivers": record.get("waivers", []),
    }
    return _file(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "review.json")


def _file(content: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content.encode(), media_type="application/octet-stream", headers=headers)


SCREEN = Screen(
    "take",
    settings=_settings,
    command=_command,
    context=_context,
    changes={"review": _reviewed},
    calls=(
        ("POST", "/review", review),
        ("GET", "/review.json", review_file),
        ("GET", f"/{waivers.FILE_NAME}", waivers_file),
        ("POST", "/waivers", waive),
        ("DELETE", "/waivers/{number}", unwaive),
    ),
)
