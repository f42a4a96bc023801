"""Register: earlier releases about these people, audited together with the new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tacit.model.errors import OptionError
from tacit.web import commands, texts
from tacit.web.commands import Command
from tacit.web.projects import File, Project, fingerprint, safe_name
from tacit.web.registers import Registers
from tacit.web.screens.take import is_approved
from tacit.web.site import Screen, Site, View

DEFAULT = "published"  #: Name of a register that nobody has named.
_WHATS = ("audit", "add", "list")


def _settings(query: Mapping[str, str]) -> Mapping[str, str]:
    what = query.get("what", "")
    return {"what": what} if what in _WHATS else {}


def _command(site: Site, project: Project, asked: Mapping[str, str]) -> Command | None:
    registers = Registers.of(site.workspace)
    name = registers.chosen(project.settings.get("register", ""))
    what = asked.get("what", "list")
    if what == "add":
        return _add_command(site, registers, name, project)
    if not registers.exists(name):
        return None
    folder = str(registers.folder(name))
    if what == "list":
        return Command(("register", "list", folder), has_report=False, given=(registers.given(name, 2),))
    words = ["register", "audit", folder, *project.having("release"), *_population(registers, name, project)]
    words += commands.setting_words(_without_people(project), "audit")
    return Command(tuple(words), given=(registers.given(name, 2),))


def _add_command(site: Site, registers: Registers, name: str, project: Project) -> Command:
    if not is_approved(site, project):
        raise OptionError(texts.NOT_APPROVED, where=project.name, remedy=texts.APPROVE_FIRST)
    name = name or DEFAULT
    folder = str(registers.folder(name))
    words = ["register", "add", folder, *project.having("release"), *_population(registers, name, project)]
    words += commands.setting_words(_without_people(project), "add")
    for option, value in (("signed-by", project.review.get("by", "")), ("note", project.settings.get("note", ""))):
        words += commands.option_words(option, value) if value else ()
    words += ["--date", date.today().isoformat()]
    return Command(tuple(words), has_report=False, given=(registers.given(name, 2),))


def _without_people(project: Project) -> Mapping[str, str]:
    return {name: value for name, value in project.settings.items() if name != "people"}


def _population(registers: Registers, name: str, project: Project) -> tuple[str, ...]:
    """Return the options about the population of the new release."""
    population = project.settings.get("population", "")
    if not population and not registers.exists(name):
        raise OptionError(texts.NO_POPULATION, where=project.name, remedy=texts.NAME_POPULATION)
    words = commands.option_words("population", population) if population else ()
    last = registers.last(name)
    people = project.settings.get("people", "")
    is_second = last is not None and population and population != last["population"] and not last["people"]
    return (*words, *commands.option_words("people", people)) if is_second and people else words


def _context(site: Site, project: Project, view: View) -> Mapping[str, Any]:
    registers = Registers.of(site.workspace)
    name = registers.chosen(project.settings.get("register", ""))
    listed: Mapping[str, Any] = {}
    list_view = view
    if view.asked.get("what", "list") != "list":
        list_view = site.view(SCREEN, project, {"what": "list"})
    if list_view.record.get("format") == "tacit.register/1":
        listed = list_view.record
    return {
        "texts": texts,
        "names": registers.names,
        "register": name,
        "exists": registers.exists(name),
        "list_view": list_view,
        "listed": listed,
        "last": registers.last(name),
        "what": view.asked.get("what", "list"),
        "is_approved": is_approved(site, project),
        "has_left": _has_left(listed, project),
        "where": str(registers.folder(name or DEFAULT)),
        "default": DEFAULT,
        "settings": {setting.name: setting for setting in commands.SETTINGS if setting.name in texts.SETTINGS},
    }


def _has_left(listed: Mapping[str, Any], project: Project) -> bool:
    """Return True if one of the project's releases is in the register as it is."""
    prints = {file.fingerprint for file in project.files if file.role == "release"}
    return any(entry["sha256"] in prints for entry in listed.get("releases", ()))


async def take_last(site: Site, _: Request, project: Project) -> Response:
    """Add the last published release to the project, as an earlier one."""
    registers = Registers.of(site.workspace)
    last = registers.last(project.settings.get("register", ""))
    if last is None:
        raise OptionError(texts.EMPTY_REGISTER, where="register", remedy=texts.ADD_FIRST)
    file, mark, sheet = last["file"].partition("#")
    origin = registers.folder(last["register"]) / last["population"] / file
    name = safe_name(f"{last['population']}-{file}")
    site.workspace.take_copy(project, origin, name)
    added = File(name, "earlier", fingerprint(origin), sheet=sheet if mark else "")
    project = project.with_file(added)
    header = origin.with_name(f"{origin.name}.json")
    if header.is_file():
        site.workspace.take_copy(project, header, f"{name}.json")
        project = project.with_file(File(f"{name}.json", "unused", fingerprint(header)))
    settings = {key: value for key, value in project.settings.items() if key != "attacker"}
    if last["people"] and not settings.get("people"):
        settings["people"] = last["people"]
    site.workspace.save(replace(project, settings=settings))
    return JSONResponse({"name": name}, 201)


SCREEN = Screen(
    "register",
    settings=_settings,
    command=_command,
    context=_context,
    calls=(("POST", "/register/last", take_last),),
)
