"""``tacit compare``: compare estimates from a release with truth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

import tacit
from tacit.cli import options, reading
from tacit.cli.options import ReleaseOptions, command, option, refuse_external, refuse_options
from tacit.cli.output import check_outputs, emit, say, watched, write_file
from tacit.cli.reading import load_settings
from tacit.model.errors import LimitReached, OptionError

if TYPE_CHECKING:
    from tacit.model.buckets import Buckets
    from tacit.model.release import Release
    from tacit.model.table import Table

TOP = 10  #: Combinations in the record, unless --top is given.
TOP_ON_SCREEN = 3  #: Combinations on the terminal, unless --top is given.
#: Options about bucketized releases.
_OF_BUCKETS = ("rule_support", "min_conviction", "max_length", "queries", "dim", "selectivity", "seed")


@dataclass(frozen=True, kw_only=True)
class _CompareOptions(ReleaseOptions):
    release: str
    data: str
    top: int | None
    csv_to: str | None
    interval: tuple[str, ...]
    rule_support: str | None
    min_conviction: str | None
    max_length: int | None
    queries: int | None
    dim: int | None
    selectivity: str | None
    seed: int | None


@command(
    "compare",
    "tacit compare rules.csv --data adult.csv",
    "tacit compare rules.csv --data adult.csv --csv everybody.csv --json comparison.json",
    "tacit compare groups --data adult.csv --knowledge negative.csv --interval age=10",
)
@click.argument("release", metavar="RELEASE")
@option("--data DATA", "The data that the release was made from.", required=True)
@options.roles
@options.missing
@options.release_file
@option("--top N", f"How many combinations to write out.  [{TOP}]", type=int, callback=options.not_negative)
@option("--csv FILE", "Write estimate, baseline and truth for every combination and value as CSV.", into="csv_to")
@option("--knowledge FILE...", "Buckets: what a reader knows, such as negative rules (repeatable).")
@options.sa_order
@option("--interval COLUMN=WIDTH...", "Buckets: take a numeric column in intervals, such as age=10 (repeatable).")
@option("--rule-support S", "Buckets: support threshold of the rules compared.  [1%]")
@option("--min-conviction C", "Buckets: least conviction of the rules compared.  [1.1]")
@option("--max-length L", "Buckets: most columns in a rule.  [3]", type=int)
@option("--queries N", "Buckets: number of count queries.  [1000]", type=int)
@option("--dim D", "Buckets: columns in a query.  [2, or fewer]", type=int)
@option("--selectivity P", "Buckets: largest share of a column's values in a query.  [50%]")
@option("--seed SEED", "Buckets: random seed.  [0]", type=int, callback=options.not_negative)
@options.running
def compare_command(**given: Any) -> None:
    """Compare what a release lets others estimate with the truth.

    From rules: everybody's sensitive value is estimated from the RELEASE alone (attack R02) and looked up in the data: the distance of the
    estimates from the truth (D_overall, D_individual), for how many people the most probable value is the true one, and whether a
    probability of 0.9 means right nine times in ten. From a bucketized release (a folder with qit and st): the error of rules and counts
    estimated from it, read in four ways, and how often guesses about individuals are right. Only the owner of the data can do this, and
    the output may be about individuals: keep it with the data.
    """
    asked = _CompareOptions(**given)
    refuse_external(asked, "csv_to")
    check_outputs([asked.json_to, asked.csv_to], inputs=[asked.release, asked.data])
    settings = load_settings(asked, near=asked.data)
    release = reading.read_release(asked.release, replace(asked, max_length=None))  # that of the rules to compare
    if release.kind == "itemsets":
        remedy = "Give rules QI => SA, for instance from tacit mine rules"
        raise OptionError("has itemsets, from which no sensitive value is estimated", where=asked.release, remedy=remedy)
    if release.kind == "table":
        remedy = "Audit it instead: tacit audit TABLE --data ORIGINAL"
        raise OptionError("is a table, from which nothing is estimated", where=asked.release, remedy=remedy)
    people = reading.read_owners_data(release, settings)
    if not isinstance(people, tacit.Table):
        raise OptionError("has transactions, which have no sensitive column", where="--data", remedy="Give a table")
    if not people.schema.sa:
        remedy = "Name the sensitive column with --sa"
        raise OptionError("does not say which column is sensitive", where=asked.release, remedy=remedy)
    if isinstance(release, tacit.Buckets):
        _compare_buckets(release, people, asked, settings.config.sa_order)
    else:
        _compare_rules(release, people, asked)


def _compare_rules(release: Release, people: Table, asked: _CompareOptions) -> None:
    from tacit.reports.estimates import comparison_csv, comparison_text

    refuse_options(asked, (*_OF_BUCKETS, "knowledge", "interval", "sa_order"), "applies to bucketized releases; this is not one")
    with watched("estimating") as progress:
        found = tacit.audit(release, known=people, attacks=["R02"], time_limit=asked.time_limit, progress=progress)
        run = found.attack("R02")
        if run.status == "stopped":
            raise LimitReached(run.reason, where=asked.release, remedy="Give more time with --time-limit")
        if run.status != "ran":
            raise OptionError(f"nothing was estimated: {run.reason}", where=asked.release, remedy="See tacit audit")
        comparison = tacit.compare(found, people)
    if asked.csv_to is not None:
        write_file(asked.csv_to, comparison_csv(comparison).encode())
    shown = TOP_ON_SCREEN if asked.top is None else asked.top
    record = comparison.to_dict(top=TOP if asked.top is None else asked.top)
    external = f"Estimates about {people.n:,} people compared with the truth." if asked.is_external else None
    emit(record, lambda width: comparison_text(comparison, top=shown, width=width), json_to=asked.json_to, external=external)
    if asked.csv_to is not None and asked.json_to != "-":
        say(f"\nEverybody written to {asked.csv_to}")


def _compare_buckets(release: Buckets, people: Table, asked: _CompareOptions, order: tuple[str, ...]) -> None:
    from tacit.reports.estimates import utility_text

    refuse_options(asked, ("top", "csv_to"), "applies to rules; this is a bucketized release")
    given = {name: value for name in _OF_BUCKETS if (value := getattr(asked, name)) is not None}
    if "rule_support" in given:
        given["min_support"] = given.pop("rule_support")
    with watched("measuring") as progress:
        found = tacit.utility(
            release,
            data=people,
            knowledge=list(asked.knowledge) or None,
            intervals=_parse_intervals(asked.interval),
            sa_order=asked.sa_order or order,
            time_limit=asked.time_limit,
            progress=progress,
            **given,
        )
    external = f"{found.groups:,} groups of {found.n:,} people compared with the data." if asked.is_external else None
    emit(found.to_dict(), lambda width: utility_text(found, width=width), json_to=asked.json_to, external=external)


def _parse_intervals(given: tuple[str, ...]) -> dict[str, float]:
    widths: dict[str, float] = {}
    for text in given:
        name, equals, number = text.rpartition("=")
        try:
            widths[name] = float(number)
        except ValueError:
            equals = ""
        if not equals:
            raise OptionError("is not a column with a width", where="--interval", remedy="Write for instance age=10") from None
    return widths
