"""``tacit verify``: check an audit by proofs, or again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import click

import tacit
from tacit.cli import DONE, EXPOSED, INCOMPLETE, options, reading
from tacit.cli.options import ReleaseOptions, command, option
from tacit.cli.output import check_outputs, emit
from tacit.cli.reading import load_settings


@dataclass(frozen=True, kw_only=True)
class _VerifyOptions(ReleaseOptions):
    audit_file: str
    releases: tuple[str, ...]
    again: bool | None


@command(
    "verify",
    "tacit audit itemsets.csv --json audit.json",
    "tacit verify audit.json itemsets.csv",
    "tacit verify audit.json rules.csv --known register.csv",
    "tacit verify audit.json buckets/ --knowledge negative.csv",
    "tacit verify audit.json itemsets.csv --data adult.csv --again",
    "tacit verify audit.json 2024/ 2025/",
)
@click.argument("audit_file", metavar="AUDIT.json")
@click.argument("releases", nargs=-1, required=True, metavar="RELEASE...")
@option(
    "--again/--no-audit",
    "Audit again and compare the whole record, or never do.  [if no finding decides the verdict]",
    default=None,
)
@options.data
@option("--known DATA", "Everybody's quasi-identifiers, to count people instead of trusting the record.")
@option("--knowledge FILE...", "The facts that the audit was given, to compare them instead of trusting the record (repeatable).")
@options.rows
@options.marks
@options.any_data
@options.policy_file
@options.today
@options.running
def verify_command(**given: Any) -> int:
    """Check the record of an audit and every finding it proves.

    The checker shares no code with the attacks: it looks up each line that a certificate cites and repeats the arithmetic in whole
    numbers. The record says how the releases are read. A verdict of clean or incomplete has no proof: it is confirmed by auditing again
    with the same options. Exit code: 0 everything holds, 1 something does not (or a file is another one), 2 unreadable, 3 cannot confirm.
    """
    from tacit.reports.document import UNBROKEN, first_sentence
    from tacit.reports.record import verification_text
    from tacit.verbs.verify import read_record

    asked = _VerifyOptions(**given)
    check_outputs([asked.json_to], inputs=[asked.audit_file, *asked.releases, asked.data or asked.known, *asked.knowledge])
    record = read_record(asked.audit_file)
    outcome = tacit.verify(record, list(asked.releases), **asked.pick("again", "time_limit"), **_read_inputs(record, asked))
    external = first_sentence(verification_text(outcome, width=UNBROKEN)) if asked.is_external else None
    emit(outcome.to_dict(), lambda width: verification_text(outcome, width=width), json_to=asked.json_to, external=external)
    return DONE if outcome.ok else EXPOSED if outcome.problems else INCOMPLETE


def _read_inputs(record: Any, asked: _VerifyOptions) -> dict[str, Any]:
    knowledge = list(asked.knowledge) or None
    if not (asked.data or asked.known or asked.rows or asked.marks or asked.policy_file):
        return {"knowledge": knowledge}
    from tacit.checker import check_record
    from tacit.model.policy import LIMITS
    from tacit.verbs.verify import OtherFile, read_audited

    check_record(record)
    try:
        releases = read_audited(record, list(asked.releases)).releases
    except OtherFile:
        return {}  # the checker names the file
    rules = next((release for release in releases if release.kind == "rules"), releases[0])
    settings = load_settings(asked, near=asked.data or asked.known, releases=asked.releases)
    data = reading.read_owners_data(rules, settings) if asked.data else None
    policy = None
    if asked.policy_file:  # its waivers, with the limits of the record
        waived = settings.policy
        limits = tacit.Policy(**{name: record["policy"][name] for name in LIMITS})
        policy = replace(limits, waivers=waived.waivers, today=waived.today)
    return {
        "data": data,
        "known": reading.read_known(rules, settings),
        "knowledge": knowledge,
        "rows": reading.rows_to_protect(releases[0], data, asked) if len(releases) == 1 else asked.rows,
        "policy": policy,
    }
