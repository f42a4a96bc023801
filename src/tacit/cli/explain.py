"""``tacit explain``: one finding, or the support of one pattern, line by line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from tacit.cli import options, reading
from tacit.cli.output import check_outputs, emit, watched, width
from tacit.cli.settings import Settings
from tacit.errors import OptionError


@click.command(
    "explain",
    epilog=options.examples(
        "tacit explain itemsets.csv",
        "tacit explain itemsets.csv --k 10 --finding I01-3f2a9c1b04de",
        "tacit explain itemsets.csv --pattern 'bread and not (butter or \"peanut butter\")'",
    ),
)
@click.argument("release_file", metavar="RELEASE")
@click.option("--finding", "wanted", metavar="ID", help="The id of a finding, as in the record of tacit audit.  [the worst]")
@click.option(
    "--pattern", metavar="PATTERN", help="Tell instead how many people fit a pattern: items with and, or, not and parentheses."
)
@click.option("--data", metavar="DATA", help="The data the release was made from: the same findings, found faster.")
@options.roles
@options.missing
@reading.release_file
@reading.policy
@options.running
def explain_command(release_file: str, wanted: str | None, pattern: str | None, json_to: str | None, **given: Any) -> None:
    """Explain one finding, or how many people fit a pattern, line by line.

    Each step names the published line that it adds or takes away, so that a reader can redo the sum. With --pattern the answer is one number
    where the release gives it away, else the tightest bounds, each with the sum that proves it.
    """
    check_outputs([json_to], inputs=[release_file])
    if pattern is not None:
        _explain_pattern(release_file, pattern, json_to, given | {"finding": wanted})
        return
    from tacit.api import audit

    settings = Settings.of(given, near=given["data"] or release_file)
    with watched("auditing") as progress:
        release = reading.read(release_file, given)
        people = reading.owners_data(release, settings)
        found = audit(release, data=people, policy=settings.policy, time_limit=given["time_limit"], progress=progress)
    if wanted is None and not found.findings:
        remedy = "Raise --k to see larger groups"
        raise OptionError(f"there is nothing to explain: the audit is {found.verdict}", where=release_file, remedy=remedy)
    finding = found.findings[0] if wanted is None else found.finding(wanted)
    head = f"{finding.id}:", finding.statement
    emit({"format": "tacit.explanation/1", "finding": finding.to_dict()}, lambda: _text(head, finding.steps), json_to=json_to)


def _explain_pattern(release_file: str, pattern: str, json_to: str | None, given: dict[str, Any]) -> None:
    """What the release says about the support of a pattern."""
    from tacit.queries import support_of

    for name in ("finding", "data", "k"):
        if given.get(name) is not None:
            remedy = "Leave one of the two out"
            raise OptionError("belongs to a finding, not to a pattern", where=f"--{name}", remedy=remedy)
    with watched("reading"):
        found = support_of(reading.read(release_file, given), pattern=pattern)
    number, _, rest = found.statement.partition(": ")
    emit({"format": "tacit.explanation/1"} | found.to_dict(), lambda: _text((f"{number}:", rest), found.steps), json_to=json_to)


def _text(head: tuple[str, str], told: Sequence[str]) -> str:
    from tacit.reports.text import bullet

    steps = [line for number, step in enumerate(told, start=1) for line in bullet(f"{number:>3}.", step, width())]
    return "\n".join([*bullet(*head, width(), indent=""), "", *steps]) + "\n"
