"""``tacit register``: published releases, and new ones audited with them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from tacit.cli import Program, options, reading
from tacit.cli.audit import AuditOptions, audit_command, run_audit
from tacit.cli.options import ReleaseOptions, command, json_option, option
from tacit.cli.output import check_outputs, emit, examples, wrote
from tacit.cli.reading import Settings

if TYPE_CHECKING:
    from tacit.model.people import Gathered, People
    from tacit.verbs.register import Register

#: Options of an audit that mean nothing beside a register: repairs would change one file and not know of the others.
_NOT_OF_REGISTERS = frozenset({"releases", "people", "suggest", "acro_to", "mark_to"})


@click.group(
    "register",
    cls=Program,
    epilog=examples(
        "tacit register add published/ smokers-2024.csv --population 2024",
        "tacit register audit published/ smokers-2025.csv --population 2025 --people left:0-3,joined:0-2",
        "tacit register list published/",
    ),
)
def register_command() -> None:
    """Keep a list of published releases, and audit new ones with them.

    A register is a folder with a copy of each release and a list in which every line holds the hash of the line before it. Releases of
    one population are about the same people.
    """


population = option(
    "--population NAME",
    "The people that the release is about, for instance 2025.  [the newest population]",
    section=options.GIVEN,
)
people = option(
    "--people HOW",
    "How a second population is related to the first, and each later one to the one before: same, nested, left:0-3,joined:0-2, unknown.",
    section=options.KNOWN,
)


@dataclass(frozen=True, kw_only=True)
class _AddOptions(ReleaseOptions):
    folder: str
    releases: tuple[str, ...]
    population: str | None
    signed_by: str | None
    note: str | None


@command(
    "add",
    "tacit register add published/ smokers-2024.csv --population 2024",
    "tacit register add published/ smokers-2025.csv --population 2025 --people left:0-3,joined:0-2",
    "tacit register add published/ jobs-2025.csv --date 2025-06-01 --signed-by 'A. Checker' --note 'for the ministry'",
    group=register_command,
)
@click.argument("folder", metavar="DIR")
@click.argument("releases", nargs=-1, required=True, metavar="RELEASE...")
@population
@people
@option("--signed-by NAME", "Name of the person who records the publication.", section=options.GIVEN)
@option("--note TEXT", "Anything else, such as the recipient.", section=options.GIVEN)
@options.today
@options.roles
@options.release_file
@options.frequency_table
@options.table_base
@options.report_kind
@json_option
def add_command(**given: Any) -> None:
    """Record published releases, with a copy of each.

    Nothing is audited: audit a release with tacit register audit before you publish it. DIR is made if it does not exist.
    """
    from tacit.verbs.register import LISTED, Register

    asked = _AddOptions(**given)
    check_outputs([asked.json_to], inputs=asked.releases)
    register = Register.open(asked.folder, create=True)
    relation = _relation(asked.people)
    for path in asked.releases:
        release = reading.read_release(path, asked)
        register = register.add(
            path,
            release=release,
            population=asked.population,
            people=relation,
            date=asked.today,
            by=asked.signed_by,
            note=asked.note,
        )
        relation = None
        wrote(f"{asked.folder.rstrip('/')}/{LISTED}")
    _emit(register, asked.json_to, is_external=asked.is_external)


@command("list", "tacit register list published/", group=register_command)
@click.argument("folder", metavar="DIR")
@options.report_kind
@json_option
def list_command(folder: str, report_kind: str, json_to: str | None) -> None:
    """List the published releases, and check that nothing was changed since.

    The chain of the list is checked, and every copy against its SHA-256. Write the head down elsewhere: it shows later whether the end of
    the list was cut off.
    """
    from tacit.verbs.register import Register

    check_outputs([json_to])
    register = Register.open(folder)
    register.check_copies()
    _emit(register, json_to, is_external=report_kind == "external")


@dataclass(frozen=True, kw_only=True)
class _RegisterAuditOptions(AuditOptions):
    folder: str
    population: str | None


@command(
    "audit",
    "tacit register audit published/ smokers-2025.csv --population 2025 --people left:0-3,joined:0-2",
    "tacit register audit published/ jobs-2025.csv --report audit.html",
    "tacit register audit published/",
    group=register_command,
)
@click.argument("folder", metavar="DIR")
@click.argument("releases", nargs=-1, metavar="[RELEASE...]")
@population
@people
def audit_register_command(**given: Any) -> int:
    """Audit new releases together with all published ones.

    Takes the options of tacit audit. Without a RELEASE, the published ones are audited. Exit code: 0 clean, 1 exposed, 2 bad input,
    3 incomplete.
    """
    from tacit.verbs.register import Register

    asked = _RegisterAuditOptions(**given, suggest=None, acro_to=None, mark_to=None, is_repairable=False)
    relation = _relation(asked.people)
    register = Register.open(asked.folder)

    def gather(settings: Settings[AuditOptions]) -> Gathered:
        new = [reading.read_release(path, settings.given, settings) for path in asked.releases]
        return register.gather(new, population=asked.population, people=relation)

    return run_audit(replace(asked, people=None), gather)


audit_register_command.params += [one for one in audit_command.params if one.name not in _NOT_OF_REGISTERS]


def _relation(told: str | None) -> People | None:
    from tacit.model.people import read_people

    return None if told is None else read_people(told)


def _emit(register: Register, json_to: str | None, *, is_external: bool) -> None:
    external = _sentence(register) if is_external else None
    emit(register.to_dict(), lambda width: _list_text(register, width), json_to=json_to, external=external)


def _sentence(register: Register) -> str:
    from tacit.reports.document import counted

    populations = counted(len(register.populations), "population")
    return f"{counted(len(register.entries), 'release')} about {populations}; the list and its copies are unchanged."


def _list_text(register: Register, columns: int) -> str:
    from tacit.reports.document import Table, bullet, table_lines

    rows = []
    for entry in register.entries:
        n = "" if entry.n is None else f"{entry.n:,}"
        rows.append(
            (str(entry.number), entry.population, entry.file, entry.kind, n, entry.date or "", entry.by or "", entry.note or "")
        )
    head = ("", "population", "file", "kind", "people", "date", "signed by", "note")
    used = [place for place in range(len(head)) if any(row[place] for row in rows)]
    table = Table("", tuple(head[place] for place in used), tuple(tuple(row[place] for place in used) for row in rows))
    lines = [_sentence(register), ""]
    lines += table_lines(table, columns)
    lines.append("")
    if register.people is not None:
        lines += bullet("People", f"from each population to the next: {register.people.to_text()}", columns, indent="")
    lines += bullet("Head  ", register.head, columns, indent="")
    return "\n".join(lines) + "\n"
