"""Commands that the screens stand for: what is run, what is shown, and the same in Python.

A screen asks for one command of the program ``tacit``. What runs is this command, with files for its results. So a page says what the
terminal says, and the command that is shown does the same when it is pasted.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tacit.model.errors import OptionError
from tacit.web import texts
from tacit.web.projects import Project

CONVENTIONS = ("", "opensafely", "opensafely-midpoint6", "nomis", "acro", "omop", "rr3")
PEOPLE = ("", "same", "nested", "unknown")
_LONGEST = 2_000  #: Letters of one setting.


@dataclass(frozen=True)
class Setting:
    """Setting of a project that becomes an option of the program."""

    name: str
    group: str
    form: str = "text"
    choices: tuple[str, ...] = ()
    verbs: frozenset[str] = frozenset({"audit", "repair"})

    @property
    def option(self) -> str:
        """The option of the command line."""
        return f"--{self.name}"

    @property
    def label(self) -> str:
        """Name of the setting on a page."""
        return texts.SETTINGS[self.name][0]

    @property
    def hint(self) -> str:
        """Explanation below the field."""
        return texts.SETTINGS[self.name][1]


#: The settings, in the order of the page; every name is an option of the verbs in its row.
SETTINGS = (
    Setting("n", texts.RELEASE, "number"),
    Setting("qi", texts.RELEASE),
    Setting("sa", texts.RELEASE),
    Setting("missing", texts.RELEASE),
    Setting("convention", texts.RELEASE, "choice", CONVENTIONS),
    Setting("people", texts.ATTACKER, "choice", PEOPLE),
    Setting("k", texts.LIMITS, "number"),
    Setting("l", texts.LIMITS, "number"),
    Setting("max-posterior", texts.LIMITS),
)
_BY_NAME = {setting.name: setting for setting in SETTINGS}
_PYTHON = {"max-posterior": "max_posterior"}
_NUMBERS = frozenset({"n", "k", "l", "max-posterior"})


def checked(given: Mapping[str, object]) -> dict[str, str]:
    """Return settings without empty ones; raise on what is none."""
    kept = {}
    for name, value in given.items():
        setting = _BY_NAME.get(name)
        if setting is None or not isinstance(value, str) or len(value) > _LONGEST or "\0" in value:
            raise OptionError(texts.NO_SUCH_SETTING, where=name[:40], remedy=texts.RELOAD)
        if setting.form == "choice" and value not in setting.choices and name != "people":
            raise OptionError(texts.NO_SUCH_CHOICE, where=name, remedy=texts.CHOOSE)
        if value.strip():
            kept[name] = value.strip()
    return kept


@dataclass(frozen=True)
class Command:
    """Command of the program, and the names of the files it writes."""

    words: tuple[str, ...]
    outputs: tuple[str, ...] = ()
    result: tuple[str, ...] = ()  #: The option and the name of the release that it writes.

    @property
    def shown(self) -> str:
        """The command to paste."""
        return shlex.join(["tacit", *self.words, *self.result])

    def to_run(self, folder: Path) -> list[str]:
        """Return the words to run, with results in a folder."""
        words = [*self.words, "--json", str(folder / "record.json"), "--report", str(folder / "report.html")]
        if self.result:
            option, name = self.result
            words += [option, str(folder / "out" / name)]
        return words


def audit_command(project: Project, changed: Mapping[str, str] | None = None) -> Command:
    """Return the audit of a project's releases."""
    return Command(("audit", *_inputs(project, "audit", changed)))


def suggest_command(project: Project, seconds: int) -> Command:
    """Return the audit that also tries all repairs."""
    return Command(("audit", *_inputs(project, "audit", None), "--suggest", str(seconds)))


def repair_command(project: Project, chosen: Sequence[str], changed: Mapping[str, str] | None = None) -> Command:
    """Return a repair by the words of a suggestion."""
    names = project.having("release")
    name = repaired_name(names[0]) if len(names) == 1 else "safer"
    return Command(("repair", *_inputs(project, "repair", changed), *chosen), (name,), ("-o", name))


def take_command(project: Project, kind: str) -> Command:
    """Return the audit whose report and record are for a kind of reader."""
    return Command(("audit", *_inputs(project, "audit", None), "--report-kind", kind))


def repaired_name(name: str) -> str:
    """Return the name of a repaired release."""
    stem, dot, ending = name.partition(".")
    return f"{stem}-safer{dot}{ending}"


def chosen_options(command: str) -> list[str]:
    """Return the method and its options from the command of a suggestion, as the record prints it."""
    words = shlex.split(command)
    if words[:2] != ["tacit", "repair"]:
        return []
    options = words[3:]
    end = options.index("-o") if "-o" in options else len(options)
    kept = options[:end]
    return [] if any(word.isupper() and word not in ("OUT",) for word in kept if not word.startswith("-")) else kept


def python_lines(project: Project) -> str:
    """Return the audit in Python."""
    releases = project.having("release")
    arguments = [repr(releases[0]) if len(releases) == 1 else repr(releases)]
    for role in ("data", "known", "knowledge"):
        if names := project.having(role):
            arguments.append(f"{role}={names[0]!r}" if len(names) == 1 else f"{role}={names!r}")
    for name, value in project.settings.items():
        if name in ("people", "missing"):
            continue
        shown = (
            value
            if name in _NUMBERS
            else repr([one.strip() for one in value.split(",")])
            if name in ("qi", "sa")
            else repr(value)
        )
        arguments.append(f"{_PYTHON.get(name, name)}={shown}")
    if people := {"same": "Same", "nested": "Nested", "unknown": "Unknown"}.get(project.settings.get("people", "")):
        arguments.append(f"people=tacit.{people}()")
    return "\n".join(
        ("import tacit", "", f"audit = tacit.audit({', '.join(arguments)})", "print(audit.verdict, audit.findings[:3])")
    )


def _inputs(project: Project, verb: str, changed: Mapping[str, str] | None) -> Iterable[str]:
    releases = project.having("release")
    if not releases:
        raise OptionError(texts.NO_RELEASE_CHOSEN, where=project.name, remedy=texts.ADD_RELEASE)
    yield from releases
    for role, option in (("data", "--data"), ("known", "--known"), ("knowledge", "--knowledge")):
        names = project.having(role)
        if len(names) > 1 and role != "knowledge":
            raise OptionError(texts.TWO_OF_A_ROLE.format(role=role), where=project.name, remedy=texts.ANOTHER_ROLE)
        for name in names:
            yield from (option, name)
    settings = dict(project.settings) | dict(changed or {})
    for setting in SETTINGS:
        value = settings.get(setting.name)
        if value and verb in setting.verbs:
            yield from (setting.option, value) if not value.startswith("-") else (f"{setting.option}={value}",)


def identity(command: Command, prints: Mapping[str, str], version: str) -> str:
    """Return a name for the answer of a command about these versions of files."""
    import hashlib

    told = json.dumps([version, command.words, command.result, sorted(prints.items())], ensure_ascii=True)
    return hashlib.sha256(told.encode()).hexdigest()[:20]
