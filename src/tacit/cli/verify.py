"""``tacit verify``: re-check the proved findings of an audit."""

from __future__ import annotations

import json
from typing import Any

import click

from tacit.cli import options, reading, tables
from tacit.cli.output import check_outputs, emit, width
from tacit.cli.program import DONE, EXPOSED
from tacit.cli.settings import Settings
from tacit.errors import InputError


@click.command(
    "verify",
    epilog=options.examples(
        "tacit audit itemsets.csv --json audit.json",
        "tacit verify audit.json itemsets.csv",
        "tacit verify audit.json rules.csv --known register.csv",
        "tacit verify audit.json buckets/ --knowledge negative.csv",
        "tacit verify audit.json published.csv",
    ),
)
@click.argument("audit_file", metavar="AUDIT.json")
@click.argument("releases", nargs=-1, required=True, metavar="RELEASE...")
@click.option(
    "--known", metavar="DATA", help="For rules: the QI columns of everybody, to count them anew instead of trusting the record."
)
@click.option(
    "--knowledge",
    multiple=True,
    metavar="FILE",
    help="For bucketized releases: the facts that the audit was given, to compare them instead of trusting the record (repeatable).",
)
@options.roles
@options.missing
@tables.blank
@reading.release_file
@reading.frequency_table
@options.json_option
def verify_command(audit_file: str, releases: tuple[str, ...], json_to: str | None, **given: Any) -> int:
    """Re-check every proved finding of an audit.

    The checker shares no code with the attacks: it looks up each cited line and redoes the arithmetic. Exit code: 0 every finding
    follows, 1 something does not, 2 unreadable.
    """
    from tacit.checker import check_audit
    from tacit.formats.files import open_text
    from tacit.formats.knowledge import read_knowledge

    check_outputs([json_to], inputs=[audit_file, *releases, *([given["known"]] if given["known"] else []), *given["knowledge"]])
    try:
        with open_text(audit_file) as lines:
            record = json.load(lines)
    except (ValueError, RecursionError):
        remedy = "Give the file that `tacit audit --json` wrote"
        raise InputError("is not a record of an audit", where=audit_file, remedy=remedy) from None
    read = [reading.read(path, tables.as_recorded(record, place, given)) for place, path in enumerate(releases)]
    settings = Settings.of(given | {"data": None, "config": None}, near=given["known"] or releases[0])
    known = reading.known_people(read[0], settings)
    knowledge = read_knowledge(list(given["knowledge"])) if given["knowledge"] else None
    outcome = check_audit(record, read, known=known, knowledge=knowledge)

    def text() -> str:
        from tacit.reports.layout import bullet
        from tacit.reports.summary import counted

        lines = [f"{'HOLDS' if outcome.ok else 'REJECTED'}: {counted(outcome.held, 'listed finding')} re-checked and true."]
        return "\n".join([*lines, *(line for why in outcome.problems for line in bullet("-", why, width()))]) + "\n"

    emit(outcome.to_dict(), text, json_to=json_to)
    return DONE if outcome.ok else EXPOSED
