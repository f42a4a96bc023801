"""``tacit verify``: check an audit by proofs, or again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

import tacit
from tacit.cli import options, reading
from tacit.cli.options import ReleaseOptions
from tacit.cli.output import check_outputs, emit, width
from tacit.cli.program import DONE, EXPOSED, INCOMPLETE
from tacit.cli.settings import Settings, load_settings

if TYPE_CHECKING:
    from tacit.model.policy import Policy


@dataclass(frozen=True, kw_only=True)
class VerifyOptions(ReleaseOptions):
    """Options of ``tacit verify``."""

    audit_file: str
    releases: tuple[str, ...]
    again: bool | None


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
@options.option(
    "--again/--no-audit",
    "Audit again and compare the whole record, or never do.  [if no finding decides the verdict]",
    default=None,
)
@options.data
@options.option("--known DATA", "Everybody's quasi-identifiers, to count people instead of trusting the record.")
@options.option(
    "--knowledge FILE",
    "The facts that the audit was given, to compare them instead of trusting the record (repeatable).",
    multiple=True,
)
@options.rows
@options.marks
@options.roles
@options.missing
@options.long_table
@options.hierarchies
@options.policy_file
@options.today
@options.running
def verify_command(**given: Any) -> int:
    """Check the record of an audit and every finding it proves.

    The checker shares no code with the attacks: it looks up each line that a certificate cites and repeats the arithmetic in whole
    numbers. The record says how the releases are read. A verdict of clean or incomplete has no proof: it is confirmed by auditing again
    with the same options. Exit code: 0 everything holds, 1 something does not (or a file is another one), 2 unreadable, 3 cannot confirm.
    """
    from tacit.reports.record import verification_text
    from tacit.reports.sentences import UNBROKEN, first_sentence
    from tacit.verbs.verify import read_record

    asked = VerifyOptions(**given)
    data = asked.data or asked.known
    inputs = [asked.audit_file, *asked.releases, *([data] if data else []), *asked.knowledge]
    check_outputs([asked.json_to], inputs=inputs)
    record = read_record(asked.audit_file)
    outcome = tacit.verify(
        record, list(asked.releases), again=asked.again, time_limit=asked.time_limit, **_read_inputs(record, asked)
    )
    headline = first_sentence(verification_text(outcome, width=UNBROKEN))
    emit(outcome.to_dict(), lambda: verification_text(outcome, width=width()), json_to=asked.json_to, headline=headline)
    return DONE if outcome.ok else EXPOSED if outcome.problems else INCOMPLETE


def _read_inputs(record: Any, asked: VerifyOptions) -> dict[str, Any]:
    knowledge = list(asked.knowledge) or None
    if not (asked.data or asked.known or asked.rows or asked.marks or asked.policy_file):
        return {"knowledge": knowledge}
    from tacit.checker import check_record
    from tacit.verbs.verify import OtherFile, read_audited

    check_record(record)
    try:
        releases = read_audited(record, list(asked.releases)).releases
    except OtherFile:
        return {}  # the checker names the file
    rules = next((release for release in releases if release.kind == "rules"), releases[0])
    settings = load_settings(asked, near=asked.data or asked.known, releases=asked.releases)
    data = reading.read_owners_data(rules, settings) if asked.data else None
    return {
        "data": data,
        "known": reading.read_known(rules, settings),
        "knowledge": knowledge,
        "rows": reading.rows_to_protect(releases[0], data, asked) if len(releases) == 1 else asked.rows,
        "policy": _policy(record, settings) if asked.policy_file else None,
    }


def _policy(record: Any, settings: Settings[VerifyOptions]) -> Policy:
    """Return the recorded limits with the policy's waivers."""
    from tacit.model.policy import LIMITS

    limits = tacit.Policy(**{name: record["policy"][name] for name in LIMITS})
    policy = settings.policy
    return replace(limits, waivers=policy.waivers, today=policy.today)
