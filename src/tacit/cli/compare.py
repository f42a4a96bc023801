"""``tacit compare``: what a release lets one estimate beside the truth, for the owner of the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tacit.cli import compare_buckets, options
from tacit.cli.options import Settings
from tacit.cli.output import check_outputs, emit, say, watched, width, write_file
from tacit.errors import LimitReached, OptionError

if TYPE_CHECKING:
    from tacit.model.release import Release
    from tacit.model.table import Table

#: How many combinations the record writes out, and how many the terminal shows, unless --top says otherwise.
TOP, TOP_ON_SCREEN = 10, 3


@click.command(
    "compare",
    epilog=options.examples(
        "tacit compare rules.csv --data adult.csv",
        "tacit compare rules.csv --data adult.csv --csv everybody.csv --json comparison.json",
        "tacit compare groups --data adult.csv --knowledge negative.csv --interval age=10",
    ),
)
@click.argument("release_file", metavar="RELEASE")
@click.option("--data", required=True, metavar="DATA", help="The data that the release was made from.")
@options.roles
@options.missing
@options.release_file
@click.option("--top", type=int, callback=options.not_negative, metavar="N", help=f"How many combinations to write out.  [{TOP}]")
@click.option(
    "--csv", "csv_to", metavar="FILE", help="Write estimate, baseline and truth for every combination and value as CSV."
)
@compare_buckets.options
@options.running
def compare_command(release_file: str, csv_to: str | None, json_to: str | None, **given: Any) -> None:
    """Hold what can be guessed or estimated from a release against the truth.

    Of rules: estimates everybody's sensitive value from the RELEASE alone (attack R02), then looks it up in the data: how far the estimates are
    from the truth (D_overall, D_individual), for how many people the most probable value is the true one, and whether a probability of 0.9
    means right nine times in ten. Of a bucketized release (a folder with qit and st): how far rules and counts estimated from it are from those
    of the data, read in four ways, and how often guesses about single people are right. Only the owner of the data can do this, and what it
    prints may be about single people: keep it with the data.
    """
    from tacit.model.buckets import Buckets
    from tacit.model.table import Table

    check_outputs([json_to, csv_to], inputs=[release_file, given["data"]])
    settings = Settings.of(given, near=given["data"])
    release = options.read(release_file, given)
    if release.kind == "itemsets":
        remedy = "Give rules QI => SA, for instance from tacit mine rules"
        raise OptionError("holds itemsets, which estimate nobody's sensitive value", where=release_file, remedy=remedy)
    if release.kind == "table":
        remedy = "Audit it instead: tacit audit TABLE --data ORIGINAL"
        raise OptionError("is a table, which shows everybody's cells and estimates nothing", where=release_file, remedy=remedy)
    people = options.owners_data(release, settings)
    if not isinstance(people, Table):
        raise OptionError("are transactions, which have no sensitive column", where="--data", remedy="Give a table")
    if not people.schema.sa:
        remedy = "Name the sensitive column with --sa"
        raise OptionError("the file does not say which column is sensitive", where=release_file, remedy=remedy)
    if isinstance(release, Buckets):
        compare_buckets.compare_buckets(release, people, given | {"csv_to": csv_to}, json_to)
    else:
        compare_buckets.refuse(given)
        _compare_rules(release, release_file, people, csv_to, json_to, given)


def _compare_rules(
    release: Release, release_file: str, people: Table, csv_to: str | None, json_to: str | None, given: dict[str, Any]
) -> None:
    """Hold estimates from rules against the truth, and say it."""
    from tacit.known.measures import compare
    from tacit.reports.estimates import comparison_csv, comparison_text
    from tacit.reports.words import UNBROKEN, first_sentence
    from tacit.verbs.audit import audit

    with watched("estimating") as progress:
        found = audit(release, known=people, attacks=["R02"], time_limit=given["time_limit"], progress=progress)
        run = found.attack("R02")
        if run.status == "stopped":
            raise LimitReached(run.reason, where=release_file, remedy="Give more time with --time-limit")
        if run.status != "ran":
            raise OptionError(f"nothing was estimated: {run.reason}", where=release_file, remedy="See tacit audit")
        comparison = compare(found, people)
    if csv_to is not None:
        write_file(csv_to, "".join(comparison_csv(comparison)).encode())
    top, shown = (TOP, TOP_ON_SCREEN) if given["top"] is None else (given["top"], given["top"])
    record = comparison.to_dict(top=top)
    said = first_sentence(comparison_text(comparison, top=0, width=UNBROKEN))
    emit(record, lambda: comparison_text(comparison, top=shown, width=width()), json_to=json_to, headline=said)
    if csv_to is not None and json_to != "-":
        say(f"\nEverybody written to {csv_to}")
