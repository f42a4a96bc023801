"""``tacit explain``: one finding, line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tacit.cli import options, reading
from tacit.cli.output import check_outputs, emit, watched, width
from tacit.cli.settings import Settings
from tacit.errors import OptionError

if TYPE_CHECKING:
    from tacit.model.finding import Finding


@click.command(
    "explain",
    epilog=options.examples("tacit explain itemsets.csv", "tacit explain itemsets.csv --k 10 --finding I01-3f2a9c1b04de"),
)
@click.argument("release_file", metavar="RELEASE")
@click.option("--finding", "wanted", metavar="ID", help="The id of a finding, as in the record of tacit audit.  [the worst]")
@click.option("--data", metavar="DATA", help="The data the release was made from: the same findings, found faster.")
@options.roles
@options.missing
@reading.release_file
@reading.policy
@options.running
def explain_command(release_file: str, wanted: str | None, json_to: str | None, **given: Any) -> None:
    """Explain one finding, line by line.

    Each step names the published line that it adds or takes away, so that a reader can redo the sum.
    """
    from tacit.api import audit

    check_outputs([json_to], inputs=[release_file])
    settings = Settings.of(given, near=given["data"] or release_file)
    with watched("auditing") as progress:
        release = reading.read(release_file, given)
        people = reading.owners_data(release, settings)
        found = audit(release, data=people, policy=settings.policy, time_limit=given["time_limit"], progress=progress)
    if wanted is None and not found.findings:
        remedy = "Raise --k to see larger groups"
        raise OptionError(f"there is nothing to explain: the audit is {found.verdict}", where=release_file, remedy=remedy)
    finding = found.findings[0] if wanted is None else found.finding(wanted)
    emit({"format": "tacit.explanation/1", "finding": finding.to_dict()}, lambda: _text(finding), json_to=json_to)


def _text(finding: Finding) -> str:
    from tacit.reports.text import bullet

    steps = [line for number, step in enumerate(finding.steps, start=1) for line in bullet(f"{number:>3}.", step, width())]
    return "\n".join([*bullet(f"{finding.id}:", finding.statement, width(), indent=""), "", *steps]) + "\n"
