"""Pages and calls of the web application.

======================================  ============================================================
``GET /``                               projects, examples, a place to drop files
``GET /p/ID/SCREEN``                    a screen of a project (``screens``: one module each)
``POST /p``, ``PATCH`` and ``DELETE``   make, change and remove a project
``POST /p/ID/run``, ``/p/ID/jobs/..``   commands and what they wrote (``answers``)
other ``/p/ID/..``                      the calls of a screen
======================================  ============================================================

Settings of one view, such as another k, are in the address; what is kept is in the project.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tacit.model.errors import TacitError
from tacit.reports.pages import page_script, style_sheet
from tacit.web import answers, examples, texts
from tacit.web.guard import TooLarge, refuse_size
from tacit.web.projects import LONGEST_NAME, Project
from tacit.web.screens import SCREENS
from tacit.web.site import Change, Handler, Screen, Site, fail, is_full, read_object, show_page

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_KINDS = {"svg": "image/svg+xml", "css": "text/css", "js": "text/javascript"}


def application(site: Site) -> Starlette:
    """Return the application."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await site.keepers.stop()
        await site.jobs.stop()

    def at(path: str, handler: Handler, method: str = "GET") -> Route:
        return Route(f"/p/{{project}}{path}", _of_project(site, handler), methods=[method])

    routes = [
        Route("/", _home(site)),
        Route("/favicon.ico", _static),
        Route("/static/{name}", _static),
        Route("/p", _create(site), methods=["POST"]),
        at("", change, "PATCH"),
        at("", remove, "DELETE"),
        *(at(path, handler, method) for method, path, handler in answers.CALLS),
        *(at(f"/{screen.name}", _screen(screen)) for screen in SCREENS.values()),
        *(at(path, handler, method) for screen in SCREENS.values() for method, path, handler in screen.calls),
        at("/{screen}", no_page),
    ]
    handlers = {TacitError: _say, TooLarge: _say_size, OSError: _say_disk}
    return Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)


def _of_project(site: Site, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """Return a handler that is given the project of the address."""

    async def handle(request: Request) -> Response:
        project = site.workspace.get(request.path_params["project"])
        if project is None:
            return fail(404, texts.PROJECT_IS_GONE)
        return await handler(site, request, project)

    return handle


def _home(site: Site) -> Callable[[Request], Awaitable[Response]]:
    async def home(_: Request) -> Response:
        """Return the list of projects."""
        shown = [(one, site.summary(one)) for one in site.workspace.projects()]
        where = _where(site.workspace.root)
        return show_page("home.html", title=texts.PROJECTS, projects=shown, where=where, examples=texts.EXAMPLES)

    return home


def _create(site: Site) -> Callable[[Request], Awaitable[Response]]:
    async def create(request: Request) -> Response:
        """Make a project."""
        given = await read_object(request)
        example = str(given.get("example", ""))
        made = examples.create(site.workspace, example) if example else site.workspace.create(str(given.get("name", "")))
        return JSONResponse({"project": made.id}, 201)

    return create


def _screen(screen: Screen) -> Handler:
    async def show(site: Site, request: Request, project: Project) -> Response:
        """Return a screen of a project."""
        view = site.view(screen, project, request.query_params)
        return show_page(
            f"{screen.name}.html",
            title=f"{texts.SCREENS[screen.name]} - {project.name}",
            screen=screen.name,
            project=project,
            summary=site.summary(project),
            view=view,
            **screen.context(site, project, view),
        )

    return show


async def change(site: Site, request: Request, project: Project) -> Response:
    """Change parts of a project; each belongs to a screen."""
    given = await read_object(request)
    project = site.current(project)
    for name, value in given.items():
        if name in _CHANGES:
            project = _CHANGES[name](project, value)
    site.workspace.save(project)
    return JSONResponse({"project": project.id})


async def remove(site: Site, _: Request, project: Project) -> Response:
    """Remove a project."""
    await site.keepers.cancel(project.id)
    await site.keepers.stop_of(project.id)
    await site.jobs.stop_of(project)
    site.workspace.remove(project)
    return JSONResponse({"removed": project.id})


async def no_page(_: Site, __: Request, ___: Project) -> Response:
    """Say that there is no such screen."""
    return fail(404, texts.PAGE_IS_GONE)


def _rename(project: Project, name: object) -> Project:
    return replace(project, name=str(name).strip()[:LONGEST_NAME] or project.name)


_CHANGES: Mapping[str, Change] = {
    "name": _rename,
    **{name: change for screen in SCREENS.values() for name, change in screen.changes.items()},
}


def _where(path: Path) -> str:
    home = os.path.expanduser("~")
    return str(path).replace(home, "~", 1) if str(path).startswith(home + os.sep) else str(path)


async def _say(_: Request, exc: Exception) -> Response:
    return fail(507, texts.DISK_IS_FULL) if is_full(exc.__context__) else fail(422, str(exc))


async def _say_disk(_: Request, exc: Exception) -> Response:
    if is_full(exc):
        return fail(507, texts.DISK_IS_FULL)
    reason = exc.strerror if isinstance(exc, OSError) else ""
    return fail(500, texts.NOT_WRITTEN.format(reason=reason or type(exc).__name__))


async def _say_size(_: Request, __: Exception) -> Response:
    return refuse_size()


async def _static(request: Request) -> Response:
    name = request.path_params.get("name", "favicon.svg")
    content = _assets().get(name)
    if content is None:
        return fail(404, texts.NO_SUCH_FILE)
    return Response(content, media_type=_KINDS[name.rpartition(".")[2]])


@cache
def _assets() -> Mapping[str, str]:
    """Return the files that pages load."""
    own = {path.name: path.read_text("utf-8") for path in files("tacit.web").joinpath("static").iterdir()}
    return {**own, "report.css": style_sheet(), "page.js": page_script()}
