"""Calls about commands: run one, see how far it is, cancel it, take what it wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response

from tacit.web import texts
from tacit.web.jobs import Job
from tacit.web.projects import Project
from tacit.web.screens import SCREENS
from tacit.web.site import Handler, Site, fail, read_object


async def run(site: Site, request: Request, project: Project) -> Response:
    """Ask for the answer of a screen."""
    given = await read_object(request)
    screen = SCREENS.get(str(given.get("screen", "")))
    asked = {name: str(value) for name, value in given.items()}
    command = None if screen is None else screen.command(site, project, screen.settings(asked))
    if command is None:
        return fail(404, texts.NOTHING_TO_RUN)
    missing = [file.name for file in project.files if file.role != "unused" and not site.workspace.has(project, file)]
    if missing:
        return fail(409, texts.FILES_ARE_GONE.format(names=", ".join(missing)))
    return JSONResponse(_describe(site.jobs.start(project, command)), 202)


async def look(site: Site, request: Request, project: Project) -> Response:
    """Return how far a job is."""
    job = site.jobs.get(project, request.path_params["job"])
    if job is None:
        return fail(404, texts.NEVER_RUN)
    return JSONResponse({**_describe(job), **site.jobs.progress(project, job.id)})


async def cancel(site: Site, request: Request, project: Project) -> Response:
    """End a job."""
    await site.jobs.cancel(project, request.path_params["job"])
    return JSONResponse({"cancelled": request.path_params["job"]})


async def download(site: Site, request: Request, project: Project) -> Response:
    """Return a file that a job wrote."""
    job = site.jobs.get(project, request.path_params["job"])
    name = request.path_params["name"]
    if job is None or not job.has_answer:
        return fail(404, texts.ANSWER_IS_GONE)
    folder = site.jobs.folder(project, job.id)
    written = {path.name: path for path in (folder / "out").iterdir() if path.is_file()}
    written |= {one: folder / one for one in ("record.json", "report.html")}
    if name not in written:
        return fail(404, texts.NO_SUCH_FILE)
    return FileResponse(written[name], filename=_download_name(project, job, name), media_type="application/octet-stream")


CALLS: tuple[tuple[str, str, Handler], ...] = (
    ("POST", "/run", run),
    ("GET", "/jobs/{job}", look),
    ("DELETE", "/jobs/{job}", cancel),
    ("GET", "/jobs/{job}/files/{name}", download),
)


def _describe(job: Job) -> Mapping[str, Any]:
    return {"job": job.id, "status": job.status, "message": job.message, "is_over": job.is_over, "has_answer": job.has_answer}


def _download_name(project: Project, job: Job, name: str) -> str:
    if name not in ("record.json", "report.html"):
        return name
    release = (project.having("release") or ["release"])[0].partition(".")[0]
    kind = "external-" if "external" in job.words else ""
    return f"{release}-{job.words[0]}-{kind}{name}"
