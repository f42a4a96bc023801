"""Open: the files of a project with their roles, and what is said about them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from tacit.files.disk import new_name
from tacit.web import commands, texts
from tacit.web.projects import File, Project, safe_name
from tacit.web.site import Screen, Site, View, as_mapping, fail


def _context(site: Site, project: Project, _: View) -> Mapping[str, Any]:
    return {
        "settings": commands.SETTINGS,
        "groups": tuple(dict.fromkeys(setting.group for setting in commands.SETTINGS)),
        "is_here": {file.name: site.workspace.has(project, file) for file in project.files},
        "names": {file.name for file in project.files},
    }


async def receive(site: Site, request: Request, project: Project) -> Response:
    """Keep a file that is sent, whole or not at all."""
    name = safe_name(request.path_params["name"])
    target = site.workspace.files(project.id) / name
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
        return fail(400, texts.FILE_IS_NOT_WHOLE)
    finally:
        temporary.unlink(missing_ok=True)
    current = site.current(project)
    known = {file.name: file.role for file in current.files}
    is_header = name.endswith(".json") and name.removesuffix(".json") in known
    role = known.get(name, "unused" if is_header else "release")
    site.workspace.save(current.with_file(File(name, role, digest.hexdigest())))
    return JSONResponse({"name": name}, 201)


async def forget(site: Site, request: Request, project: Project) -> Response:
    """Remove a file from a project; a named file itself stays."""
    name = request.path_params["name"]
    if name not in {file.name for file in project.files}:
        return fail(404, texts.FILE_IS_GONE)
    (site.workspace.files(project.id) / name).unlink(missing_ok=True)
    site.workspace.save(project.without_file(name))
    return JSONResponse({"removed": name})


def _set(project: Project, given: object) -> Project:
    return replace(project, settings=commands.checked(as_mapping(given)))


def _give_roles(project: Project, given: object) -> Project:
    return project.with_roles({name: str(role) for name, role in as_mapping(given).items()})


SCREEN = Screen(
    "open",
    context=_context,
    changes={"settings": _set, "roles": _give_roles},
    calls=(("PUT", "/files/{name}", receive), ("DELETE", "/files/{name}", forget)),
)
