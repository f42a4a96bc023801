"""Parts that the screens share: projects, answers, pages and how failures are told."""

from __future__ import annotations

import errno
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from tacit.model.errors import InputError, TacitError
from tacit.reports.pages import body_of, environment
from tacit.web import commands, texts
from tacit.web.commands import Command
from tacit.web.jobs import Job, Jobs
from tacit.web.live import Keepers
from tacit.web.projects import Project, Workspace


@dataclass
class Site:
    """Projects and answers that handlers work on."""

    workspace: Workspace
    jobs: Jobs
    keepers: Keepers

    def current(self, project: Project) -> Project:
        """Return a project as it is now; another tab may have changed it."""
        return self.workspace.get(project.id) or project

    def outputs(self, project: Project, job: Job) -> list[str]:
        """Return the names of the files of a release that a job wrote."""
        return sorted(path.name for path in (self.jobs.folder(project, job.id) / "out").iterdir() if path.is_file())

    def report(self, project: Project, job: Job) -> str:
        """Return the body of the report that a job wrote, if it wrote one."""
        path = self.jobs.folder(project, job.id) / "report.html"
        return body_of(path.read_text("utf-8")) if path.is_file() else ""

    def answered(self, project: Project, command: Command) -> Job | None:
        """Return the job of a command if it has an answer."""
        job = self.jobs.find(project, command)
        return job if job is not None and job.has_answer else None

    def audited(self, project: Project) -> Job | None:
        """Return the answer of a project's current audit, if there is one."""
        try:
            return self.answered(project, commands.audit_command(project))
        except TacitError:
            return None

    def summary(self, project: Project) -> dict[str, Any]:
        """Return the verdict on a project as it is now, if it is known."""
        if not project.having("release"):
            return {"verdict": "", "headline": texts.NO_RELEASE}
        job = self.audited(project)
        if job is None:
            return {"verdict": "", "headline": texts.NOT_AUDITED}
        record = self.jobs.record(project, job)
        headline = record["headline"].removeprefix(f"{record['verdict'].upper()}: ")
        return {"verdict": record["verdict"], "headline": headline}

    def view(self, screen: Screen, project: Project, query: Mapping[str, str]) -> View:
        """Return what a screen shows now: its command, its job, its answer."""
        asked = screen.settings(query)
        try:
            command = screen.command(self, project, asked)
        except TacitError as exc:
            return View(asked, refused=str(exc))
        if command is None:
            return View(asked)
        job = self.jobs.find(project, command)
        if job is None or not job.has_answer:
            return View(asked, command=command, job=job)
        return View(
            asked,
            command=command,
            job=job,
            answer=self.report(project, job),
            record=self.jobs.record(project, job),
            outputs=self.outputs(project, job),
        )


@dataclass(frozen=True)
class View:
    """State of a screen: settings, command, and the answer if known."""

    asked: Mapping[str, str]
    command: Command | None = None
    job: Job | None = None
    refused: str = ""  #: Why there is no command.
    answer: str = ""
    record: Mapping[str, Any] = field(default_factory=dict)
    outputs: list[str] = field(default_factory=list)


Handler = Callable[[Site, Request, Project], Awaitable[Response]]
Change = Callable[[Project, object], Project]


def _no_settings(_: Mapping[str, str]) -> Mapping[str, str]:
    return {}


def _no_command(_: Site, __: Project, ___: Mapping[str, str]) -> Command | None:
    return None


def _nothing_more(_: Site, __: Project, ___: View) -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True)
class Screen:
    """A screen: ``templates/NAME.html`` with what fills it, and the calls that belong to it.

    ``settings`` picks those of one view from an address, ``command`` is the command that the screen stands for, ``context`` is what the
    template needs besides a :class:`View`, ``changes`` are the parts of a project that a ``PATCH`` may hold, ``calls`` are further routes
    below ``/p/ID``.
    """

    name: str
    settings: Callable[[Mapping[str, str]], Mapping[str, str]] = _no_settings
    command: Callable[[Site, Project, Mapping[str, str]], Command | None] = _no_command
    context: Callable[[Site, Project, View], Mapping[str, Any]] = _nothing_more
    changes: Mapping[str, Change] = field(default_factory=dict)
    calls: tuple[tuple[str, str, Handler], ...] = ()


def show_page(template: str, **context: Any) -> Response:
    """Return a page."""
    return HTMLResponse(environment("tacit.web").get_template(template).render(screens=texts.SCREENS, **context))


def fail(status: int, sentence: str) -> Response:
    """Return the answer that something did not work."""
    return JSONResponse({"error": sentence}, status)


def is_full(failure: BaseException | None) -> bool:
    """Return True if writing failed because the disk or quota is full."""
    return isinstance(failure, OSError) and failure.errno in (errno.ENOSPC, errno.EDQUOT)


async def read_object(request: Request) -> Mapping[str, Any]:
    """Return the object that a request holds."""
    try:
        return as_mapping(json.loads(await request.body() or b"{}"))
    except ValueError:
        raise InputError(texts.NOT_AN_OBJECT, where="request", remedy=texts.RELOAD) from None


def as_mapping(value: object) -> Mapping[str, Any]:
    """Return a JSON object; raise if it is something else."""
    if not isinstance(value, dict):
        raise InputError(texts.NOT_AN_OBJECT, where="request", remedy=texts.RELOAD)
    return value
