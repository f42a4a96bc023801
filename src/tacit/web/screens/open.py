"""Open: the files of a project, and what they were recognised as, to be corrected."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from tacit.files.disk import new_name
from tacit.model.errors import OptionError
from tacit.web import commands, texts
from tacit.web.commands import Command
from tacit.web.projects import File, Project, make_room, safe_name
from tacit.web.recognised import Question, Recognised
from tacit.web.site import Screen, Site, View, as_mapping, fail

MOST_PARTS = 500  #: Files of a folder that is sent.
_DEEPEST = 4  #: Folders within folders.


def _command(_: Site, project: Project, __: Mapping[str, str]) -> Command | None:
    return commands.recognise_command(project) if project.files else None


def recognised(site: Site, project: Project) -> Recognised | None:
    """Return what a project's files were recognised as, if known."""
    job = site.answered(project, commands.recognise_command(project))
    return None if job is None else Recognised.of(project, site.jobs.record(project, job))


def open_question(site: Site, project: Project) -> Question | None:
    """Return the first open question about recognised files."""
    found = recognised(site, project) if project.having("release") else None
    return None if found is None else found.question([])


def _context(site: Site, project: Project, view: View) -> Mapping[str, Any]:
    found = Recognised.of(project, view.record)
    is_here = {file.name: site.workspace.has(project, file) for file in project.files}
    names = {file.name for file in project.files}
    return {
        "found": found,
        "is_done": bool(view.record) or not project.files,
        "is_here": is_here,
        "is_lost": any(file.role != "unused" and not is_here[file.name] for file in project.files),
        "headers": {name for name in names if name.endswith(".json") and name.removesuffix(".json") in names},
        "question": found.question([name for name, here in is_here.items() if not here]),
        "adopts": bool(found.roles()),
        "texts": texts,
        "forms": commands.FORMS,
        "settings": {setting.name: setting for setting in commands.SETTINGS if setting.name in texts.SETTINGS},
    }


async def receive(site: Site, request: Request, project: Project) -> Response:
    """Keep a file that is sent, whole or not at all."""
    name = safe_name(request.path_params["name"])
    digest = await _keep(request, site.workspace.files(project.id) / name)
    if digest is None:
        return fail(400, texts.FILE_IS_NOT_WHOLE)
    current = site.current(project)
    known = current.file(name)
    is_header = name.endswith(".json") and current.file(name.removesuffix(".json")) is not None
    role = known.role if known is not None else "unused" if is_header else "release"
    made = File(name, role, digest, is_guess=known.is_guess if known is not None else not is_header)
    site.workspace.save(current.with_file(made))
    return JSONResponse({"name": name}, 201)


async def receive_part(site: Site, request: Request, project: Project) -> Response:
    """Keep a file of a folder that is sent."""
    name = safe_name(request.path_params["name"])
    parts = [safe_name(part) for part in request.path_params["path"].split("/") if part]
    folder = site.workspace.files(project.id) / name
    known = project.file(name)
    if not parts or len(parts) > _DEEPEST or (known is not None and len(known.parts) >= MOST_PARTS):
        raise OptionError(texts.FOLDER_TOO_LARGE.format(most=MOST_PARTS), where=name, remedy=texts.SMALLER_FOLDER)
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    target = folder.joinpath(*parts)
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest = await _keep(request, target)
    if digest is None:
        return fail(400, texts.FILE_IS_NOT_WHOLE)
    current = site.current(project)
    before = current.file(name) or File(name, "release", "", is_guess=True)
    site.workspace.save(current.with_file(before.with_part("/".join(parts), digest)))
    return JSONResponse({"name": name}, 201)


async def _keep(request: Request, target: Path) -> str | None:
    """Write a request's body to a file; return its SHA-256, None if incomplete."""
    temporary = new_name(target.parent)
    digest = hashlib.sha256()
    try:
        with open(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as stream:
            async for piece in request.stream():
                digest.update(piece)
                stream.write(piece)
        if target.is_dir():
            make_room(target)
        os.replace(temporary, target)
    except ClientDisconnect:
        return None
    finally:
        temporary.unlink(missing_ok=True)
    return digest.hexdigest()


async def forget(site: Site, request: Request, project: Project) -> Response:
    """Remove a file from a project; a named file itself stays."""
    name = request.path_params["name"]
    if project.file(name) is None:
        return fail(404, texts.FILE_IS_GONE)
    make_room(site.workspace.files(project.id) / name)
    header = f"{name}.json"
    (site.workspace.files(project.id) / header).unlink(missing_ok=True)
    site.workspace.save(project.without_file(name).without_file(header))
    return JSONResponse({"removed": name})


async def adopt(site: Site, _: Request, project: Project) -> Response:
    """Give files that nobody has given a role the one that they were recognised to have."""
    found = recognised(site, project)
    roles = {} if found is None else found.roles()
    changed = {name: role for name, role in roles.items() if (file := project.file(name)) is not None and file.role != role}
    site.workspace.save(project.with_roles(roles))
    return JSONResponse({"changed": bool(changed)})


def _set(project: Project, given: object) -> Project:
    settings = {**project.settings, **commands.checked(as_mapping(given))}
    return replace(project, settings={name: value for name, value in settings.items() if value})


def _give_roles(project: Project, given: object) -> Project:
    return project.with_roles({name: str(role) for name, role in as_mapping(given).items()})


def _choose_sheets(project: Project, given: object) -> Project:
    return project.with_sheets({name: str(sheet)[:200] for name, sheet in as_mapping(given).items()})


SCREEN = Screen(
    "open",
    command=_command,
    context=_context,
    changes={"settings": _set, "roles": _give_roles, "sheets": _choose_sheets},
    calls=(
        ("PUT", "/files/{name}", receive),
        ("DELETE", "/files/{name}", forget),
        ("PUT", "/folders/{name}/{path:path}", receive_part),
        ("POST", "/adopt", adopt),
    ),
)
