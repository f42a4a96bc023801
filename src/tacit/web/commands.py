"""Commands that the screens stand for: what is run, what is shown, and the same in Python.

A screen asks for one command of the program ``tacit``. What runs is this command, with files for its results. So a page says what the
terminal says, and the command that is shown does the same when it is pasted.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from tacit.model.errors import OptionError
from tacit.web import texts
from tacit.web.projects import Project
from tacit.web.waivers import FILE_NAME, has_dates, waivers_text

CONVENTIONS = ("", "opensafely", "opensafely-midpoint6", "nomis", "acro", "omop", "rr3")
FORMS = (
    *("", "tacit", "mlxtend", "arules", "spark", "pmml", "spmf", "borgelt-or-fimi", "joined", "borgelt", "fimi"),
    *("buckets", "table", "frequencies", "crosstab", "survival", "naive-bayes", "tree"),
)
PEOPLE = ("", "same", "nested", "unknown")
#: Parts of what an attacker may have besides the release.
ATTACKER = ("people", "facts", "earlier")
SEVERAL = "safer"  #: Folder of several releases that were repaired together.
NOTHING = "nothing"  #: Stands for an attacker who has the release only.
_LONGEST = 2_000  #: Letters of one setting.


def option_words(name: str, value: str) -> tuple[str, ...]:
    """Return an option with its value, as one word where necessary."""
    return (f"--{name}={value}",) if value.startswith("-") else (f"--{name}", value)


@dataclass(frozen=True)
class Setting:
    """Setting of a project; most become an option of the verbs in its row.

    ``each`` is a sign that separates values which become one option each; ``flags`` are options that stand for choices.
    """

    name: str
    form: str = "text"
    choices: tuple[str, ...] = ()
    verbs: frozenset[str] = frozenset({"audit", "repair"})
    each: str = ""
    flags: tuple[tuple[str, str], ...] = ()

    @property
    def label(self) -> str:
        """Name of the setting on a page."""
        return texts.SETTINGS[self.name][0]

    @property
    def hint(self) -> str:
        """Explanation below the field."""
        return texts.SETTINGS[self.name][1]

    def words(self, value: str) -> Iterator[str]:
        """Yield the words of the command line for a value."""
        if self.flags:
            yield dict(self.flags)[value]
            return
        for one in value.split(self.each) if self.each else (value,):
            yield from option_words(self.name, one.strip())


_NO_VERBS: frozenset[str] = frozenset()
_READING = frozenset({"audit", "repair", "add"})

#: The settings, in the order of the command line.
SETTINGS = (
    Setting("n", "number", verbs=_READING),
    Setting("qi", verbs=_READING),
    Setting("sa", verbs=_READING),
    Setting("form", "choice", FORMS, verbs=_READING),
    Setting("by", each=";", verbs=_READING),
    Setting("missing", verbs=frozenset({"audit", "repair", "make"})),
    Setting("convention", "choice", CONVENTIONS, verbs=_READING),
    Setting("complete", "choice", ("", "yes", "no"), verbs=_READING, flags=(("yes", "--complete"), ("no", "--incomplete"))),
    Setting("rows"),
    Setting("people", "text"),
    Setting("k", "number"),
    Setting("l", "number"),
    Setting("max-posterior"),
    Setting("attacker", verbs=_NO_VERBS),
    Setting("identifying", verbs=_NO_VERBS),
    Setting("person", verbs=_NO_VERBS),
    Setting("register", verbs=_NO_VERBS),
    Setting("population", verbs=_NO_VERBS),
    Setting("note", verbs=_NO_VERBS),
)
_BY_NAME = {setting.name: setting for setting in SETTINGS}
_NUMBERS = frozenset({"n", "k", "l", "max-posterior"})


def checked(given: Mapping[str, object]) -> dict[str, str]:
    """Return settings without white space around them; raise on what is none."""
    kept = {}
    for name, value in given.items():
        setting = _BY_NAME.get(name)
        if setting is None or not isinstance(value, str) or len(value) > _LONGEST or "\0" in value:
            raise OptionError(texts.NO_SUCH_SETTING, where=name[:40], remedy=texts.RELOAD)
        if setting.form == "choice" and value not in setting.choices:
            raise OptionError(texts.NO_SUCH_CHOICE, where=name, remedy=texts.CHOOSE)
        kept[name] = value.strip()
    return kept


def names_in(value: str | None) -> list[str]:
    """Return the names in a setting of columns."""
    return [name for one in (value or "").split(",") if (name := one.strip())]


@dataclass(frozen=True)
class Given:
    """Word of a command that stands for a file: a text or a place."""

    at: int  #: Place of the word in the command.
    text: str = ""
    place: str = ""
    version: str = ""  #: Tells one content of the place from another.


@dataclass(frozen=True)
class Command:
    """Command of the program, and the names of the files it writes.

    ``given`` are words that are replaced when it runs, since the files are not those of the project. ``program`` is the module that runs.
    """

    words: tuple[str, ...]
    outputs: tuple[str, ...] = ()
    result: tuple[str, ...] = ()  #: The option and the name of the release that it writes.
    has_report: bool = True
    given: tuple[Given, ...] = ()
    program: str = "tacit"

    @property
    def shown(self) -> str:
        """The command to paste."""
        return shlex.join(["tacit", *self.words, *self.result])

    def to_read(self, folder: Path) -> list[str]:
        """Return the words, with the files that :meth:`prepare` writes into a folder."""
        words = list(self.words)
        for one in self.given:
            words[one.at] = one.place or str(folder / words[one.at])
        return words

    def to_run(self, folder: Path) -> list[str]:
        """Return the words to run, with results in a folder."""
        words = self.to_read(folder)
        words += ["--json", str(folder / "record.json")]
        if self.has_report:
            words += ["--report", str(folder / "report.html")]
        if self.result:
            option, name = self.result
            words += [option, str(folder / "out" / name)]
        return words

    def prepare(self, folder: Path) -> None:
        """Write the files that the command reads and no project has."""
        for one in self.given:
            if not one.place:
                (folder / self.words[one.at]).write_text(one.text, encoding="utf-8")


def refuse_outside(command: Command, folder: Path) -> None:
    """Raise if a typed word names a file outside the project's folder."""
    for place, word in enumerate(command.words):
        if place in {one.at for one in command.given}:
            continue
        for text in {word, word.partition("=")[2]}:
            if (os.sep in text or text.startswith("~")) and os.path.lexists(folder / os.path.expanduser(text)):
                raise OptionError(texts.OUTSIDE, where=command.words[0], remedy=texts.NAME_A_FILE)


def audit_command(project: Project, changed: Mapping[str, str] | None = None) -> Command:
    """Return the audit of a project's releases."""
    return _audit(project, (), changed)


def suggest_command(project: Project, seconds: int) -> Command:
    """Return the audit that also tries all repairs."""
    return _audit(project, ("--suggest", str(seconds)))


def repair_command(project: Project, chosen: Sequence[str], changed: Mapping[str, str] | None = None) -> Command:
    """Return a repair by the words of a suggestion."""
    names = releases_of(project)
    name = repaired_name(names[0]) if len(names) == 1 else SEVERAL
    words = ["repair", *_inputs(project, "repair", changed)]
    # What a suggestion repeats of the settings is said once.
    for option, *values in _options_in(chosen):
        if option not in words:
            words += [option, *values]
    return Command(tuple(words), (name,), ("-o", name))


def _options_in(words: Sequence[str]) -> Iterator[list[str]]:
    """Yield each option with its values."""
    found: list[str] = []
    for word in words:
        if word.startswith("--") and found:
            yield found
            found = []
        found.append(word)
    if found:
        yield found


def take_command(project: Project, what: str) -> Command:
    """Return the audit whose results are taken away: external ones, ACRO's folder, a marked workbook."""
    signed = project.review.get("by", "") if project.review.get("decision") == "approved" else ""
    signature = option_words("signed-by", signed) if signed else ()
    if what == "acro":
        return _audit(project, signature, result=("--acro", "acro"))
    if what == "mark":
        return _audit(project, signature, result=("--mark", "marked.xlsx"))
    if what == "internal":
        return _audit(project, signature)
    return _audit(project, ("--report-kind", "external", *signature))


def recognise_command(project: Project) -> Command:
    """Return the process that says what the files of a project are."""
    settings = project.settings
    reading: dict[str, object] = {name: value for name in ("form", "convention", "missing") if (value := settings.get(name))}
    number = settings.get("n", "")
    if number.isascii() and number.isdigit() and len(number) < 18:
        reading["n"] = int(number)
    if settings.get("complete"):
        reading["complete"] = settings["complete"] == "yes"
    for name in ("qi", "sa"):
        if names := names_in(settings.get(name)):
            reading[name] = names
    if by := settings.get("by"):
        pairs = [one.rpartition("=") for one in by.split(";")]
        reading["by"] = {file.strip(): names_in(columns) for file, _, columns in pairs}
    words = ["--reading", json.dumps(reading, sort_keys=True)]
    for option, roles in (("--data", ("data", "known")), ("--release", ("earlier", "release"))):
        for name in (name for role in roles for name in project.having(role)):
            words += [option, name]
    return Command(tuple(words), has_report=False, program="tacit.web.recognition")


def repaired_name(name: str) -> str:
    """Return the name of a repaired release."""
    stem, dot, ending = name.partition(".")
    return f"{stem}-safer{dot}{ending}"


#: Options of a suggestion that name files: the project has them.
_OF_FILES = frozenset({"--data", "--known", "--knowledge", "--rows", "-o"})


def read_suggestion(command: str) -> tuple[str, list[str]]:
    """Return the verb and options, without files, of a suggestion's command."""
    _, verb, *words = shlex.split(command)
    while words and not words[0].startswith("-"):
        words = words[1:]  # places of files
    kept: list[str] = []
    while words:
        end = next((place for place, word in enumerate(words[1:], start=1) if word.startswith("-")), len(words))
        kept += [] if words[0] in _OF_FILES else words[:end]
        words = words[end:]
    return verb, kept


def has_of_attacker(project: Project, part: str) -> bool:
    """Return True if the attacker has this part; by default they have all."""
    chosen = project.settings.get("attacker", "")
    return not chosen or part in names_in(chosen)


def releases_of(project: Project) -> list[str]:
    """Return the releases that are audited together, those published earlier first."""
    earlier = project.having("earlier") if has_of_attacker(project, "earlier") else []
    return [*earlier, *project.having("release")]


def knowledge_files(project: Project) -> Iterator[tuple[str, str]]:
    """Yield the options about people and facts with their files."""
    if has_of_attacker(project, "people"):
        for role in ("data", "known"):
            names = project.having(role)
            if len(names) > 1:
                raise OptionError(
                    texts.TWO_OF_A_ROLE.format(role=texts.ROLES[role]), where=project.name, remedy=texts.ANOTHER_ROLE
                )
            # The program has everybody's quasi-identifiers from the data, if it has the data.
            if names and not (role == "known" and project.having("data")):
                yield role, names[0]
    if has_of_attacker(project, "facts"):
        for name in project.having("knowledge"):
            yield "knowledge", name


def _audit(
    project: Project,
    more: Iterable[str] = (),
    changed: Mapping[str, str] | None = None,
    result: tuple[str, ...] = (),
) -> Command:
    words = ["audit", *_inputs(project, "audit", changed), *more]
    given: tuple[Given, ...] = ()
    if project.waivers:
        words += ["--config", FILE_NAME]
        given = (Given(len(words) - 1, waivers_text(project.waivers)),)
        if has_dates(project.waivers):
            words += ["--date", date.today().isoformat()]
    return Command(tuple(words), outputs=result[1:], result=result, given=given)


def _inputs(project: Project, verb: str, changed: Mapping[str, str] | None) -> Iterator[str]:
    if not project.having("release"):
        raise OptionError(texts.NO_RELEASE_CHOSEN, where=project.name, remedy=texts.ADD_RELEASE)
    releases = releases_of(project)
    yield from releases
    for role, name in knowledge_files(project):
        yield from (f"--{role}", name)
    settings = {**project.settings, **(changed or {})}
    if len(releases) == 1:
        settings.pop("people", None)
    yield from setting_words(settings, verb)


def setting_words(settings: Mapping[str, str], verb: str) -> Iterator[str]:
    """Yield the options of a verb that stand for settings."""
    for setting in SETTINGS:
        value = settings.get(setting.name)
        if value and verb in setting.verbs:
            yield from setting.words(value)


_READ_ONLY = ("form", "by", "missing", "complete")  #: Options that only the function that reads a release has.


def python_lines(project: Project) -> str:
    """Return the audit in Python."""
    settings = project.settings
    releases = releases_of(project)
    reading = list(_python_settings({name: settings[name] for name in _READ_ONLY if settings.get(name)}))
    if reading:
        reading += _python_settings({name: settings[name] for name in ("n", "qi", "sa", "convention") if settings.get(name)})
        shown = [f"tacit.read_release({name!r}, {', '.join(reading)})" for name in releases]
    else:
        shown = [repr(name) for name in releases]
    arguments = [shown[0] if len(shown) == 1 else f"[{', '.join(shown)}]"]
    facts = [name for role, name in knowledge_files(project) if role == "knowledge"]
    arguments += [f"{role}={name!r}" for role, name in knowledge_files(project) if role != "knowledge"]
    if facts:
        arguments.append(f"knowledge={facts[0]!r}" if len(facts) == 1 else f"knowledge={facts!r}")
    own = ("rows", "k", "l", "max-posterior", *(() if reading else ("n", "qi", "sa", "convention")))
    arguments += _python_settings({name: settings[name] for name in own if settings.get(name)})
    lines = ["import tacit"]
    people = settings.get("people") if len(releases) > 1 else None
    if people:
        plain = {"same": "tacit.Same()", "nested": "tacit.Nested()", "unknown": "tacit.Unknown()"}
        lines += [] if people in plain else ["from tacit.model.people import read_people"]
        arguments.append(f"people={plain.get(people, f'read_people({people!r})')}")
    lines.append("")
    if project.waivers:
        lines = ["import tomllib", "", *lines, f"with open({FILE_NAME!r}, 'rb') as file:"]
        lines += ["    waivers = [tacit.Waiver(**waiver) for waiver in tomllib.load(file)['waivers']]"]
        arguments.append(f"policy=tacit.Policy(waivers=waivers{_python_limits(settings)})")
        arguments = [one for one in arguments if not one.startswith(("k=", "l=", "max_posterior="))]
    lines += [f"audit = tacit.audit({', '.join(arguments)})", "print(audit.verdict, audit.findings[:3])"]
    return "\n".join(lines)


def _python_limits(settings: Mapping[str, str]) -> str:
    made = _python_settings({name: settings[name] for name in ("k", "l", "max-posterior") if settings.get(name)})
    return "".join(f", {one}" for one in made)


def _python_settings(settings: Mapping[str, str]) -> Iterator[str]:
    for name, value in settings.items():
        if name in _NUMBERS:
            shown = value
        elif name == "complete":
            shown = str(value == "yes")
        elif name in ("qi", "sa", "by") and value != "none" and ";" not in value and "=" not in value:
            shown = repr(names_in(value))
        else:
            shown = repr(value)
        yield f"{name.replace('-', '_')}={shown}"


def identity(command: Command, prints: Mapping[str, str], version: str) -> str:
    """Return a name for the answer of a command about these versions of files."""
    given = [(one.at, one.text, one.version) for one in command.given]
    told = json.dumps([version, command.program, command.words, command.result, given, sorted(prints.items())], ensure_ascii=True)
    return hashlib.sha256(told.encode()).hexdigest()[:20]
