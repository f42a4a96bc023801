"""``tacit verify``: re-check an audit by its proofs, or by auditing again."""

from __future__ import annotations

from typing import Any

import click

from tacit.cli import options
from tacit.cli.options import Settings
from tacit.cli.output import check_outputs, emit, width
from tacit.cli.program import DONE, EXPOSED, INCOMPLETE


@click.command(
    "verify",
    epilog=options.examples(
        "tacit audit itemsets.csv --json audit.json",
        "tacit verify audit.json itemsets.csv",
        "tacit verify audit.json rules.csv --known register.csv",
        "tacit verify audit.json buckets/ --knowledge negative.csv",
        "tacit verify audit.json itemsets.csv --data adult.csv --again",
        "tacit verify audit.json 2024/ 2025/",
    ),
)
@click.argument("audit_file", metavar="AUDIT.json")
@click.argument("releases", nargs=-1, required=True, metavar="RELEASE...")
@click.option(
    "--again/--no-audit",
    default=None,
    help="Audit again and compare the whole record, or never do.  [where no finding decides the verdict]",
)
@options.data
@click.option("--known", metavar="DATA", help="The QI columns of everybody, to count them anew instead of trusting the record.")
@click.option(
    "--knowledge",
    multiple=True,
    metavar="FILE",
    help="The facts that the audit was given, to compare them instead of trusting the record (repeatable).",
)
@options.rows
@options.marks
@options.roles
@options.missing
@options.long_table
@options.hierarchies
@options.policy_file
@options.date
@options.running
def verify_command(audit_file: str, releases: tuple[str, ...], json_to: str | None, **given: Any) -> int:
    """Re-check an audit: every proved finding, and the record around them.

    The checker shares no code with the attacks: it looks up each line that a certificate cites and redoes the arithmetic in whole numbers. How
    the releases are read stands in the record. That nothing was found has no proof: a record that is clean or incomplete is confirmed by
    auditing again with the same options. Exit code: 0 everything holds, 1 something does not (or a file is another one), 2 unreadable, 3 cannot
    confirm.
    """
    from tacit.reports.record import verification_text
    from tacit.reports.words import UNBROKEN, first_sentence
    from tacit.verbs.verify import read_record, verify

    data = given["data"] or given["known"]
    check_outputs([json_to], inputs=[audit_file, *releases, *([data] if data else []), *given["knowledge"]])
    record = read_record(audit_file)
    besides = _besides(record, releases, given)
    outcome = verify(record, list(releases), **besides, again=given["again"], time_limit=given["time_limit"])
    said = first_sentence(verification_text(outcome, width=UNBROKEN))
    emit(outcome.to_dict(), lambda: verification_text(outcome, width=width()), json_to=json_to, headline=said)
    return DONE if outcome.ok else EXPOSED if outcome.problems else INCOMPLETE


def _besides(record: Any, releases: tuple[str, ...], given: dict[str, Any]) -> dict[str, Any]:
    """What the audit was given besides its releases, read as it was then."""
    from tacit.checker import check_record
    from tacit.verbs.verify import OtherFile, read_audited

    wanted = ("data", "known", "rows", "marks", "policy_file")
    knowledge = list(given["knowledge"]) or None
    if not any(given[name] for name in wanted):
        return {"knowledge": knowledge}
    check_record(record)
    try:
        read = read_audited(record, list(releases)).releases
    except OtherFile:
        return {}  # the checker says which file it is
    first = next((release for release in read if release.kind == "rules"), read[0])
    settings = Settings.of(given, near=given["data"] or given["known"], releases=releases)
    people = options.owners_data(first, settings) if given["data"] else None
    return {
        "data": people,
        "known": options.known_people(first, settings),
        "knowledge": knowledge,
        "rows": options.rows_of(read[0], people, given) if len(read) == 1 else given["rows"],
        "policy": _policy(record, settings) if given["policy_file"] else None,
    }


def _policy(record: Any, settings: Settings) -> Any:
    """The limits of the record with the waivers of the policy file."""
    from dataclasses import replace

    from tacit.model.policy import LIMITS, Policy

    limits = Policy(**{name: record["policy"][name] for name in LIMITS})
    return replace(limits, waivers=settings.policy.waivers, today=settings.policy.today)
