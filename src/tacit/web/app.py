"""Pages and calls of the web application.

======================================  ============================================================
``GET /``                               projects, examples, a place to drop files
``GET /p/ID/SCREEN``                    a screen of a project: open, verdict, repair, take
``POST /p``, ``PATCH`` and ``DELETE``   make, change and remove a project
``PUT /p/ID/files/NAME``                send a file, as it is
``POST /p/ID/run``                      ask for the answer of a screen
``GET /p/ID/jobs/JOB``                  how far it is; ``DELETE`` cancels it
``GET /p/ID/jobs/JOB/files/NAME``       what it wrote
======================================  ============================================================

Settings of one view, such as another k, stand in the address; what is kept stands in the project.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from tacit.files.disk import new_name
from tacit.model.errors import InputError, TacitError
from tacit.reports.pages import body_of, environment, page_script, style_sheet
from tacit.web import commands
from tacit.web.commands import Command
from tacit.web.guard import TooLarge, refuse_size
from tacit.web.jobs import Job, Jobs
from tacit.web.projects import File, Project, Workspace, safe_name

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SCREENS = {"open": "Open", "verdict": "Verdict", "repair": "Repair", "take": "Take away"}
SECONDS = 60  #: Time in which repairs are tried.
_KINDS = {"svg": "image/svg+xml", "css": "text/css", "js": "text/javascript"}
_REVIEW = ("decision", "by", "comment")
_DECISIONS = ("", "approved", "returned")
Handler = Callable[["App", Request, Project], Awaitable[Response]]


@dataclass
class App:
    """Parts that the handlers share."""

    workspace: Workspace
    jobs: Jobs

    def starlette(self) -> Starlette:
        """Return the application."""

        @asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            yield
            await self.jobs.stop()

        routes = [
            Route("/", self.home),
            Route("/favicon.ico", _static),
            Route("/static/{name}", _static),
            Route("/p", self.create, methods=["POST"]),
            *(Route(path, self.of_project(handler), methods=[method]) for method, path, handler in _ROUTES),
        ]
        return Starlette(routes=routes, lifespan=lifespan, exception_handlers={TacitError: _say, TooLarge: _say_size})

    def of_project(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """Return a handler that is given the project of the address."""

        async def handle(request: Request) -> Response:
            project = self.workspace.get(request.path_params["project"])
            if project is None:
                return _failure(404, "This project is gone. Start from the list of projects.")
            return await handler(self, request, project)

        return handle

    async def home(self, _: Request) -> Response:
        """Return the list of projects."""
        shown = [(one, self._summary(one)) for one in self.workspace.projects()]
        return _page("home.html", title="Projects", projects=shown, where=_where(self.workspace.root))

    async def create(self, request: Request) -> Response:
        """Make a project."""
        given = await _object(request)
        made = self.workspace.create(str(given.get("name", "")))
        return JSONResponse({"project": made.id}, 201)

    async def screen(self, request: Request, project: Project) -> Response:
        """Return a screen of a project."""
        name = request.path_params["screen"]
        if name not in SCREENS:
            return _failure(404, "There is no such page.")
        changed = _overrides(request.query_params)
        context: dict[str, Any] = {"screen": name, "changed": changed, "refused": "", "verdict_command": "", "verdict_job": ""}
        try:
            command = self.command(project, name, {**changed, "choice": request.query_params.get("choice", "")})
        except TacitError as exc:
            command = None
            context["refused"] = str(exc)
        job = None if command is None else self.jobs.find(project, command)
        context |= {"command": command, "job": job, "answer": "", "record": {}, "outputs": []}
        if job is not None and job.has_answer:
            page = (self.jobs.folder(project, job.id) / "report.html").read_text("utf-8")
            context |= {"answer": body_of(page), "record": self.jobs.record(project, job), "outputs": self.outputs(project, job)}
        if name == "take" and project.having("release"):
            audit = commands.audit_command(project)
            done = self.jobs.find(project, audit)
            context |= {"verdict_command": audit.shown, "verdict_job": done.id if done is not None and done.has_answer else ""}
        return self.render(f"{name}.html", project, **context)

    def render(self, template: str, project: Project, **context: Any) -> Response:
        """Return a page of a project."""
        here = {file.name: self.workspace.has(project, file) for file in project.files}
        return _page(
            template,
            title=f"{SCREENS[context['screen']]} - {project.name}",
            project=project,
            screens=SCREENS,
            settings=commands.SETTINGS,
            seconds=SECONDS,
            newline=Markup("\n"),
            groups=tuple(dict.fromkeys(setting.group for setting in commands.SETTINGS)),
            is_here=here,
            names={file.name for file in project.files},
            suggestions=_suggestions(context.get("record", {})),
            python=commands.python_lines(project) if project.having("release") else "",
            summary=self._summary(project),
            **context,
        )

    def command(self, project: Project, screen: str, asked: Mapping[str, str]) -> Command | None:
        """Return the command whose answer a screen shows."""
        if screen == "verdict":
            return commands.audit_command(project, {name: value for name, value in asked.items() if name == "k"})
        if screen == "repair":
            chosen = asked.get("choice", "")
            return commands.repair_command(project, self._choice(project, chosen)) if chosen else self._tried(project)
        if screen == "take":
            return commands.take_command(project, "external")
        return None

    async def change(self, request: Request, project: Project) -> Response:
        """Change name, settings, roles or review of a project."""
        given = await _object(request)
        if "name" in given:
            project = replace(project, name=str(given["name"]).strip()[:120] or project.name)
        if "settings" in given:
            project = replace(project, settings=commands.checked(_mapping(given["settings"])))
        if "roles" in given:
            project = project.with_roles({name: str(role) for name, role in _mapping(given["roles"]).items()})
        if "review" in given:
            review = {name: str(value).strip()[:2_000] for name, value in _mapping(given["review"]).items() if name in _REVIEW}
            if review.get("decision", "") not in _DECISIONS or (review.get("decision") and not review.get("by")):
                return _failure(422, "A decision needs the name of the person who takes it.")
            project = replace(project, review=review)
        self.workspace.save(project)
        return JSONResponse({"project": project.id})

    async def remove(self, _: Request, project: Project) -> Response:
        """Remove a project."""
        await self.jobs.stop_of(project)
        self.workspace.remove(project)
        return JSONResponse({"removed": project.id})

    async def receive(self, request: Request, project: Project) -> Response:
        """Keep a file that is sent, whole or not at all."""
        name = safe_name(request.path_params["name"])
        target = self.workspace.files(project.id) / name
        temporary = new_name(target.parent)
        digest = hashlib.sha256()
        try:
            with open(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as stream:
                async for piece in request.stream():
                    digest.update(piece)
                    stream.write(piece)
            if target.is_symlink():
                target.unlink()
            os.replace(temporary, target)
        except ClientDisconnect:
            return _failure(400, "The file did not arrive whole. Send it again.")
        finally:
            temporary.unlink(missing_ok=True)
        current = self.workspace.get(project.id) or project
        known = {file.name: file.role for file in current.files}
        is_header = name.endswith(".json") and name.removesuffix(".json") in known
        role = known.get(name, "unused" if is_header else "release")
        self.workspace.save(current.with_file(File(name, role, digest.hexdigest())))
        return JSONResponse({"name": name}, 201)

    async def forget(self, request: Request, project: Project) -> Response:
        """Remove a file from a project; a named file itself stays."""
        name = request.path_params["name"]
        if name not in {file.name for file in project.files}:
            return _failure(404, "This file is gone.")
        (self.workspace.files(project.id) / name).unlink(missing_ok=True)
        self.workspace.save(project.without_file(name))
        return JSONResponse({"removed": name})

    async def run(self, request: Request, project: Project) -> Response:
        """Ask for the answer of a screen."""
        given = await _object(request)
        asked = {name: str(given[name]) for name in ("k", "choice") if given.get(name)}
        command = self.command(project, str(given.get("screen", "")), asked)
        if command is None:
            return _failure(404, "There is nothing to run here.")
        missing = [file.name for file in project.files if file.role != "unused" and not self.workspace.has(project, file)]
        if missing:
            return _failure(409, f"{', '.join(missing)}: not here any more. Add the file again on the page Open.")
        return JSONResponse(_told(self.jobs.start(project, command)), 202)

    async def look(self, request: Request, project: Project) -> Response:
        """Return how far a job is."""
        job = self.jobs.get(project, request.path_params["job"])
        if job is None:
            return _failure(404, "This command was never run.")
        return JSONResponse(_told(job) | self.jobs.progress(project, job.id))

    async def cancel(self, request: Request, project: Project) -> Response:
        """End a job."""
        await self.jobs.cancel(project, request.path_params["job"])
        return JSONResponse({"cancelled": request.path_params["job"]})

    async def download(self, request: Request, project: Project) -> Response:
        """Return a file that a job wrote."""
        job = self.jobs.get(project, request.path_params["job"])
        name = request.path_params["name"]
        if job is None or not job.has_answer:
            return _failure(404, "This file is gone. Run the command again.")
        folder = self.jobs.folder(project, job.id)
        written = {path.name: path for path in (folder / "out").iterdir() if path.is_file()}
        written |= {one: folder / one for one in ("record.json", "report.html")}
        if name not in written:
            return _failure(404, "There is no such file.")
        return FileResponse(written[name], filename=_download_name(project, job, name), media_type="application/octet-stream")

    def outputs(self, project: Project, job: Job) -> list[str]:
        """Return the names of the files of a release that a job wrote."""
        return sorted(path.name for path in (self.jobs.folder(project, job.id) / "out").iterdir() if path.is_file())

    def _tried(self, project: Project) -> Command:
        return commands.suggest_command(project, SECONDS)

    def _choice(self, project: Project, chosen: str) -> list[str]:
        """Return the options of a suggestion by its number."""
        job = self.jobs.find(project, self._tried(project))
        if job is None or not job.has_answer:
            raise InputError("the repairs have not been tried", where=project.name, remedy="Try them first")
        options = {
            str(number): one["options"] for number, one in enumerate(_suggestions(self.jobs.record(project, job)), start=1)
        }
        if chosen not in options:
            raise InputError("there is no such repair", where=project.name, remedy="Choose one of the list")
        found: list[str] = options[chosen]
        return found

    def _summary(self, project: Project) -> dict[str, Any]:
        """Return the verdict on a project as it is now, if it is known."""
        if not project.having("release"):
            return {"verdict": "", "headline": "No release yet."}
        try:
            job = self.jobs.find(project, commands.audit_command(project))
        except TacitError:
            job = None
        if job is None or not job.has_answer:
            return {"verdict": "", "headline": "Not audited yet."}
        record = self.jobs.record(project, job)
        headline = record["headline"].removeprefix(f"{record['verdict'].upper()}: ")
        return {"verdict": record["verdict"], "headline": headline}


_ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "/p/{project}/{screen}", App.screen),
    ("PATCH", "/p/{project}", App.change),
    ("DELETE", "/p/{project}", App.remove),
    ("PUT", "/p/{project}/files/{name}", App.receive),
    ("DELETE", "/p/{project}/files/{name}", App.forget),
    ("POST", "/p/{project}/run", App.run),
    ("GET", "/p/{project}/jobs/{job}", App.look),
    ("DELETE", "/p/{project}/jobs/{job}", App.cancel),
    ("GET", "/p/{project}/jobs/{job}/files/{name}", App.download),
)


def _overrides(query: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of one view, as the address has them."""
    k = query.get("k", "")
    return {"k": k} if k.isascii() and k.isdigit() and len(k) < 10 else {}


def _suggestions(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the suggestions of a record with the options that carry them out."""
    made = []
    for one in record.get("suggestions") or []:
        options = [words for command in one["commands"] if (words := commands.chosen_options(command))]
        loss = one.get("loss")
        finite = isinstance(loss, int | float) and math.isfinite(loss)
        made.append(
            {**one, "options": options[0] if len(one["commands"]) == 1 and options else [], "loss": loss if finite else None}
        )
    return [one for one in made if one["options"]]


def _told(job: Job) -> dict[str, Any]:
    return {"job": job.id, "status": job.status, "message": job.message, "is_over": job.is_over, "has_answer": job.has_answer}


def _download_name(project: Project, job: Job, name: str) -> str:
    if name not in ("record.json", "report.html"):
        return name
    release = (project.having("release") or ["release"])[0].partition(".")[0]
    kind = "external-" if "external" in job.words else ""
    return f"{release}-{job.words[0]}-{kind}{name}"


def _where(path: Path) -> str:
    home = os.path.expanduser("~")
    return str(path).replace(home, "~", 1) if str(path).startswith(home + os.sep) else str(path)


async def _object(request: Request) -> Mapping[str, Any]:
    """Return the object that a request holds."""
    try:
        return _mapping(json.loads(await request.body() or b"{}"))
    except ValueError:
        raise InputError("is not a JSON object", where="request", remedy="Reload the page") from None


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InputError("is not a JSON object", where="request", remedy="Reload the page")
    return value


async def _say(_: Request, exc: Exception) -> Response:
    return _failure(422, str(exc))


async def _say_size(_: Request, __: Exception) -> Response:
    return refuse_size()


def _failure(status: int, sentence: str) -> Response:
    return JSONResponse({"error": sentence}, status)


def _page(template: str, **context: Any) -> Response:
    return HTMLResponse(environment("tacit.web").get_template(template).render(**context))


async def _static(request: Request) -> Response:
    name = request.path_params.get("name", "favicon.svg")
    content = _assets().get(name)
    if content is None:
        return _failure(404, "There is no such file.")
    return Response(content, media_type=_KINDS[name.rpartition(".")[2]])


@cache
def _assets() -> Mapping[str, str]:
    """Return the files that pages load."""
    own = {path.name: path.read_text("utf-8") for path in files("tacit.web").joinpath("static").iterdir()}
    return {**own, "report.css": style_sheet(), "page.js": page_script()}
