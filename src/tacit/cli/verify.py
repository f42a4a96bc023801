"""``tacit verify``: re-check the proved findings of an audit."""

from __future__ import annotations

from typing import Any

import click

from tacit.cli import options, reading, tables
from tacit.cli.output import check_outputs, emit, width
from tacit.cli.program import DONE, EXPOSED
from tacit.cli.settings import Settings


@click.command(
    "verify",
    epilog=options.examples(
        "tacit audit itemsets.csv --json audit.json",
        "tacit verify audit.json itemsets.csv",
        "tacit verify audit.json rules.csv --known register.csv",
        "tacit verify audit.json buckets/ --knowledge negative.csv",
        "tacit verify audit.json published.csv",
        "tacit verify audit.json 2024/ 2025/",
    ),
)
@click.argument("audit_file", metavar="AUDIT.json")
@click.argument("releases", nargs=-1, required=True, metavar="RELEASE...")
@click.option("--known", metavar="DATA", help="The QI columns of everybody, to count them anew instead of trusting the record.")
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

    The checker shares no code with the attacks: it looks up each line that a certificate cites and redoes the arithmetic in whole numbers.
    Estimates cannot be proved and are not checked. Exit code: 0 every proved finding follows, 1 something does not (or the release, the
    verdict or a total is another), 2 unreadable or a certificate of another format.
    """
    from tacit.checker import check_audit
    from tacit.formats.knowledge import read_knowledge
    from tacit.reports.verification import verification_text
    from tacit.verifying import read_record

    check_outputs([json_to], inputs=[audit_file, *releases, *([given["known"]] if given["known"] else []), *given["knowledge"]])
    record = read_record(audit_file)
    read = reading.gather(releases, given, record=record).releases
    settings = Settings.of(given | {"data": None, "config": None}, near=given["known"] or releases[0])
    known = reading.known_people(read[0], settings)
    knowledge = read_knowledge(list(given["knowledge"])) if given["knowledge"] else None
    outcome = check_audit(record, read, known=known, knowledge=knowledge)
    found = sum(attack["findings"] for attack in record["attacks"] if attack["claim"] == "proves")
    emit(outcome.to_dict(), lambda: verification_text(outcome, found=found, width=width()), json_to=json_to)
    return DONE if outcome.ok else EXPOSED
