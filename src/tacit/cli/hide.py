"""``tacit hide``: hide as few cells as keep rules from telling the sensitive ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tacit.cli import options
from tacit.cli.options import Settings
from tacit.cli.output import as_argument, check_outputs, emit, watched, wrote
from tacit.cli.program import OF_VERDICT
from tacit.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.model.partial import PartialTable
    from tacit.model.repair import Hidden


@click.command(
    "hide",
    epilog=options.examples(
        "tacit hide adult.csv --qi sex,education --sa occupation --rows rows.txt --may-hide sc -o published.csv",
        "tacit hide adult.csv --qi sex,education --sa occupation --rows 'age<20' --may-hide ns,nc --min-support 60 -o published.csv",
    ),
)
@click.argument("data", metavar="DATA")
@options.roles
@options.rows
@click.option(
    "--may-hide",
    multiple=True,
    required=True,
    metavar="REGIONS",
    help="Where cells may be hidden: ns (sensitive cells of other records), nc (their condition cells), sc (condition cells of the "
    "sensitive records).  Repeat, or separate with commas.",
)
@click.option(
    "--method",
    metavar="METHOD",
    help="How to choose them: greedy, uniform, ilp, smc, rgraph-max-descendant, rgraph-random-max, rgraph-random or cr.  "
    "[uniform for sc alone, else greedy]",
)
@options.min_confidence
@options.min_rule_support
@options.policy_file
@click.option(
    "--marks",
    metavar="FILE",
    help="Marks of cells: + must be published, - is sensitive; a file of the table's shape, or of lines row,column,mark.",
)
@click.option(
    "--other-columns",
    type=click.Choice(["drop", "keep"]),
    default="drop",
    help="Columns that --qi and --sa do not name: drop them, or keep them and protect against them as well.  [drop]",
)
@options.blank
@click.option("--seed", type=int, default=0, callback=options.not_negative, metavar="SEED", help="What chance starts from.  [0]")
@options.missing
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="OUT",
    help="Write the table to OUT (.csv, .csv.gz, .parquet), its roles to OUT.json.",
)
@options.running
def hide_command(data: str, output: str, json_to: str | None, **given: Any) -> int:
    """Hide cells of DATA until no rule tells the sensitive ones, and audit the result.

    The sensitive cells of the rows that --rows names are hidden, and as few others as are needed: a reader who learns rules from what is left
    must not infer one of them with more than the minimum confidence from more than the minimum support. All rows are kept, and the columns that
    --qi and --sa name (others with --other-columns keep); hidden cells are empty, and nothing written says which rows are sensitive.

    Exit code: 0 when the audit of the result is clean, 1 when something remains (the result is still written), 2 when no safe table exists or
    the input is bad (nothing is written).
    """
    from tacit.files.header import header_path, table_ending
    from tacit.files.partial import write_partial

    settings = Settings.of(given, near=data)
    settings.needed("qi", "age,sex")
    settings.needed("sa", "occupation")
    table_ending(output)
    inputs = [data, *(name for name in (given["marks"], given["rows"]) if name is not None)]
    check_outputs([json_to, output, header_path(output)], inputs=inputs)
    with watched("hiding") as progress:
        people = _people(settings, data)
        made = _made(people, settings, progress)
        write_partial(made, output)
    wrote(output)
    emit(made.to_dict(), lambda: _text(made, settings, data, output), json_to=json_to)
    return OF_VERDICT[made.after.verdict] if made.after is not None else OF_VERDICT["incomplete"]


def _made(people: PartialTable, settings: Settings, progress: Callable[[float], None]) -> Hidden:
    from tacit.model.partial import Thresholds
    from tacit.verbs.hide import hide
    from tacit.verbs.settings import refuse_looser

    given, policy = settings.given, settings.policy
    bars = {name: getattr(policy, name) if given[name] is None else given[name] for name in ("min_confidence", "min_support")}
    at_most = Thresholds.of(n=people.n, **bars)
    refuse_looser("min_confidence", at_most.confidence, settings.organisation)
    refuse_looser("min_support", at_most.support, settings.organisation)
    return hide(
        people,
        rows=given["rows"],
        may_hide=given["may_hide"],
        method=given["method"],
        marks=given["marks"],
        other_columns=given["other_columns"],
        seed=given["seed"],
        time_limit=given["time_limit"],
        progress=progress,
        **bars,
    )


def _people(settings: Settings, data: str) -> PartialTable:
    """The table with all its columns, those without a role too."""
    from tacit.files.partial import read_partial
    from tacit.files.tables import read_table
    from tacit.files.transactions import TRANSACTION_ENDINGS

    if data.casefold().removesuffix(".gz").endswith(TRANSACTION_ENDINGS):
        raise OptionError("holds transactions, which have no columns", where=data, remedy="Give a table")
    everything = read_table(data)
    roles = {name: value for name in ("qi", "sa", "missing", "missing_rule") if (value := settings[name]) not in (None, ())}
    people = read_table(everything, columns=list(everything.names), where=data, **roles)
    return read_partial(people, blank=settings.given["blank"])


def _text(made: Hidden, settings: Settings, data: str, output: str) -> str:
    from tacit.reports.repair import hidden_text

    told = hidden_text(made, dropped=made.people.dropped, origin=settings.config.where)
    if made.after is None:
        return told
    given, policy = settings.given, made.after.policy
    rows = "".join(f" --{name} {as_argument(given[name])}" for name in ("rows", "marks") if given[name])
    compared = "" if made.people.dropped else f" --data {as_argument(data)}"
    limits = f" --min-confidence {float(policy.min_confidence):g} --min-support {policy.min_support}"
    return f"{told}\nWritten to {output}. To look closer: tacit audit {as_argument(output)}{rows}{compared}{limits}\n"
