"""Make: from data to a release, audited as soon as it is made."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tacit.model.errors import OptionError
from tacit.web import commands, texts
from tacit.web.commands import Command, Given
from tacit.web.jobs import Job
from tacit.web.projects import File, Project, fingerprint
from tacit.web.recognised import Recognised
from tacit.web.screens.open import recognised
from tacit.web.site import Screen, Site, View, read_object


@dataclass(frozen=True)
class Field:
    """Option of a verb as a field; ``guess`` is the role that fills it."""

    name: str
    form: str = "text"
    value: str = ""
    choices: tuple[str, ...] = ()
    guess: str = ""
    is_needed: bool = False
    is_rare: bool = False  #: True if the field is folded away.
    each: str = ""

    @property
    def label(self) -> str:
        """Name of the field."""
        return texts.MAKE_OPTIONS[self.name][0]

    @property
    def hint(self) -> str:
        """Explanation below the field."""
        return texts.MAKE_OPTIONS[self.name][1]

    def words(self, value: str) -> Iterator[str]:
        """Yield the words of the command line for a value."""
        if self.form == "flag":
            yield f"--{self.name}"
            return
        for one in value.split(self.each) if self.each else (value,):
            yield from commands.option_words(self.name, one.strip())


@dataclass(frozen=True)
class Make:
    """Verb that makes a release: its words, the name of what it writes, and its fields."""

    verb: tuple[str, ...]
    output: str
    fields: tuple[Field, ...]
    audits: tuple[str, ...] = ()  #: Fields that the audit of the result needs as well.


_QI = Field("qi", guess="known")
_SA = Field("sa", guess="sensitive")
_KNOWN = replace(_QI, is_needed=True)
_SENSITIVE = replace(_SA, is_needed=True)
_MISSING = (
    Field("missing", is_rare=True),
    Field("missing-rule", "choice", "category", ("category", "drop", "drop-any"), is_rare=True),
)
_GROUPING = ("balanced", "balanced-1", "balanced-2", "injector", "anatomy")
_HIDING = ("", "greedy", "uniform", "ilp", "smc", "rgraph-max-descendant", "rgraph-random-max", "rgraph-random", "cr")

#: What can be made; defaults are those of the program, except thresholds, which it does not have.
MAKES: Mapping[str, Make] = {
    "itemsets": Make(
        ("mine", "itemsets"),
        "itemsets.csv",
        (
            Field("min-support", value="5%", is_needed=True),
            Field("only", "choice", "all", ("all", "closed", "maximal")),
            Field("max-length", "number", is_rare=True),
            _QI,
            _SA,
            Field("person", is_rare=True),
            *_MISSING,
        ),
    ),
    "rules": Make(
        ("mine", "rules"),
        "rules.csv",
        (
            _KNOWN,
            _SENSITIVE,
            Field("min-support", value="5%", is_needed=True),
            Field("min-confidence", value="60%", is_needed=True),
            Field("max-length", "number", is_rare=True),
            Field("digits", "number", is_rare=True),
            Field("withhold-values", "flag", is_rare=True),
            *_MISSING,
        ),
    ),
    "tabulate": Make(
        ("tabulate",),
        "table.csv",
        (
            Field("by", each=";", is_needed=True),
            Field("hide-below", "number"),
            Field("round", "number"),
            Field("total", "flag"),
            Field("ways", "number", is_rare=True),
            _SA,
            *_MISSING,
        ),
    ),
    "bucketize": Make(
        ("bucketize",),
        "groups",
        (
            _KNOWN,
            _SENSITIVE,
            Field("l", "number", "2"),
            Field("method", "choice", "balanced", _GROUPING),
            Field("suppress", "flag"),
            *_MISSING,
        ),
        audits=("l",),
    ),
    "hide": Make(
        ("hide",),
        "published.csv",
        (
            _KNOWN,
            _SENSITIVE,
            Field("rows", is_needed=True),
            Field("min-confidence", value="0.6"),
            Field("min-support", value="0"),
            Field("method", "choice", "", _HIDING, is_rare=True),
            Field("may-hide", "choice", "", ("", "all", "ns", "nc", "sc", "ns,nc", "ns,sc", "nc,sc"), is_rare=True),
            *_MISSING,
        ),
        audits=("rows", "min-confidence", "min-support"),
    ),
}
_LONGEST = 1_000


def _settings(query: Mapping[str, str]) -> Mapping[str, str]:
    made = MAKES.get(query.get("make", ""))
    if made is None:
        return {}
    names = {field.name for field in made.fields}
    options = {name: value.strip()[:_LONGEST] for name, value in query.items() if name in names and "\0" not in value}
    step = {"step": "audit"} if query.get("step") == "audit" else {}
    return {"make": query["make"], **step, **options}


def _command(site: Site, project: Project, asked: Mapping[str, str]) -> Command | None:
    if "make" not in asked or len(asked) == 1:
        return None
    made = make_command(project, asked)
    if "step" not in asked:
        return made
    job = site.answered(project, made)
    if job is None:
        raise OptionError(texts.NOT_MADE, where=asked["make"], remedy=texts.MAKE_FIRST)
    return _audit_command(site, project, asked, job)


def make_command(project: Project, asked: Mapping[str, str]) -> Command:
    """Return the command that makes a release."""
    made = MAKES[asked["make"]]
    data = project.having("data")
    if not data:
        raise OptionError(texts.NO_DATA, where=project.name, remedy=texts.ADD_DATA)
    words = [*made.verb, data[0]]
    for field in made.fields:
        value = asked.get(field.name, "")
        is_usual = value == field.value and not field.is_needed
        if value and not is_usual and (field.form != "choice" or value in field.choices):
            words += field.words(value)
    return Command(tuple(words), (made.output,), ("-o", made.output), has_report=False)


def _audit_command(site: Site, project: Project, asked: Mapping[str, str], job: Job) -> Command:
    """Return the audit of what was made, with the data."""
    made = MAKES[asked["make"]]
    place = site.jobs.folder(project, job.id) / "out" / made.output
    words = ["audit", made.output, "--data", project.having("data")[0]]
    for field in made.fields:
        value = asked.get(field.name, "")
        if field.name in made.audits and value and (value != field.value or field.is_needed):
            words += field.words(value)
    limits = {name: project.settings.get(name, "") for name in ("k", "max-posterior")}
    words += commands.setting_words(limits, "audit")
    return Command(tuple(words), given=(Given(1, place=str(place), version=job.id),))


def make_address(project: Project, verb: str, options: Sequence[str]) -> str:
    """Return the address that makes a release with these options, if there is one."""
    made = MAKES.get(verb)
    if made is None or made.verb != (verb,) or not project.having("data"):
        return ""
    fields = {f"--{field.name}": field for field in made.fields}
    asked = {"make": verb}
    words = list(options)
    while words:
        field = fields.get(words.pop(0))
        if field is None:
            return ""
        if field.form == "flag":
            asked[field.name] = "yes"
            continue
        value = words.pop(0)
        asked[field.name] = f"{asked[field.name]}{field.each}{value}" if field.each and field.name in asked else value
    if "rows" in {field.name for field in made.fields}:
        asked["rows"] = project.settings.get("rows", "")
    return f"/p/{project.id}/make?{urlencode(asked)}#made"


def _context(site: Site, project: Project, view: View) -> Mapping[str, Any]:
    found = recognised(site, project)
    name = view.asked.get("make", "")
    context: dict[str, Any] = {
        "texts": texts,
        "makes": MAKES,
        "chosen": name,
        "data": project.having("data"),
        "found": found,
        "columns": [] if found is None else found.columns,
        "fields": [],
        "audit": None,
    }
    if not name:
        return context
    asked = len(view.asked) > 1
    context["fields"] = [
        (field, view.asked.get(field.name, "" if asked else _first(field, found))) for field in MAKES[name].fields
    ]
    if view.job is not None and view.job.has_answer:
        context["audit"] = site.view(SCREEN, project, {**view.asked, "step": "audit"})
        context["outputs"] = view.outputs
    return context


def _first(field: Field, found: Recognised | None) -> str:
    """Return what a field holds before somebody writes into it."""
    if found is None:
        return field.value
    if field.guess:
        return ",".join(found.with_role(field.guess))
    if field.name == "person":
        return ",".join(found.with_role("person"))
    if field.name == "missing":
        return found.project.settings.get("missing", "") or found.missing
    if field.name == "by":
        return ",".join([*found.with_role("known")[:1], *found.with_role("sensitive")[:1]])
    return field.value


async def use(site: Site, request: Request, project: Project) -> Response:
    """Make the release that was made the one of the project."""
    given = await read_object(request)
    asked = _settings({name: str(value) for name, value in given.items()})
    job = site.answered(project, make_command(project, asked)) if asked else None
    if job is None:
        raise OptionError(texts.NOT_MADE, where="release", remedy=texts.MAKE_FIRST)
    made = MAKES[asked["make"]]
    options = {name: asked[name] for name in made.audits if name in ("l", "rows") and asked.get(name)}
    adopt_release(site, project, site.jobs.folder(project, job.id) / "out", options)
    return JSONResponse({"release": made.output}, 201)


def adopt_release(site: Site, project: Project, out: Path, settings: Mapping[str, str]) -> None:
    """Replace a project's releases with what a command wrote."""
    project = site.current(project)
    published = {file.name for file in project.files if file.role == "earlier"}
    project = project.with_roles(dict.fromkeys((file.name for file in project.files if file.role == "release"), "unused"))
    written = {path.name: path for path in sorted(out.iterdir()) if path.suffix != ".zip"}
    if list(written) == [commands.SEVERAL]:
        # One file for each of several releases; those that have left already stay as they are.
        parts = [path for path in sorted(written[commands.SEVERAL].iterdir()) if path.name.removesuffix(".json") not in published]
        written = {commands.repaired_name(path.name): path for path in parts}
    for name, origin in written.items():
        site.workspace.take_copy(project, origin, name)
        is_header = name.endswith(".json") and name.removesuffix(".json") in written
        project = project.with_file(File(name, "unused" if is_header else "release", _digest(origin)))
    project = replace(project, settings={**project.settings, **settings})
    site.workspace.save(project)
    site.jobs.start(project, commands.recognise_command(project))


def _digest(path: Path) -> str:
    return fingerprint(path) if path.is_dir() else hashlib.sha256(path.read_bytes()).hexdigest()


SCREEN = Screen(
    "make",
    settings=_settings,
    command=_command,
    context=_context,
    calls=(("POST", "/make/use", use),),
)
