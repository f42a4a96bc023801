"""``tacit hide``: hide cells that rules would reveal."""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Any, Literal

import click

import tacit
from tacit.cli import INCOMPLETE, OF_VERDICT, options, reading
from tacit.cli.options import Options
from tacit.cli.output import check_release_output, emit, watched, wrote
from tacit.cli.reading import load_settings, rule_thresholds

if TYPE_CHECKING:
    from tacit.partial.methods import Method


@dataclass(frozen=True, kw_only=True)
class HideOptions(Options):
    """Options of ``tacit hide``."""

    data: str
    output: str
    rows: str | None
    marks: str | None
    may_hide: tuple[str, ...]
    method: Method | None
    min_confidence: str | None
    min_support: str | None
    other_columns: Literal["drop", "keep"]
    blank: tuple[str, ...]
    seed: int


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
@options.option(
    "--may-hide REGIONS",
    "Where cells may be hidden: ns (sensitive cells of other records), nc (their condition cells), sc (condition cells of the "
    "sensitive records); repeat, or separate with commas.",
    multiple=True,
    required=True,
)
@options.option(
    "--method METHOD",
    "How to choose them: greedy, uniform, ilp, smc, rgraph-max-descendant, rgraph-random-max, rgraph-random or cr.  "
    "[uniform for sc alone, else greedy]",
)
@options.min_confidence
@options.min_rule_support
@options.policy_file
@options.option(
    "--marks FILE",
    "Marks of cells: + must be published, - is sensitive; a file of the table's shape, or of lines row,column,mark.",
)
@options.option(
    "--other-columns",
    "Columns that --qi and --sa do not name: drop them, or keep them and protect against them too.  [drop]",
    type=click.Choice(["drop", "keep"]),
    default="drop",
)
@options.blank
@options.seed
@options.missing
@options.option("-o --output OUT", "Write the table to OUT (.csv, .csv.gz, .parquet) and its roles to OUT.json.", required=True)
@options.running
def hide_command(**given: Any) -> int:
    """Hide cells of a table until no rule reveals the sensitive ones.

    The sensitive cells of the rows that --rows names are hidden, and as few others as necessary: rules learnt from the rest must not
    infer any of them with more than the minimum confidence from more than the minimum support. All rows are kept, and the columns that
    --qi and --sa name (others with --other-columns keep); hidden cells are empty, and nothing written shows which rows are sensitive. The
    result is audited.

    Exit code: 0 the result is clean, 1 something remains (the result is still written), 2 no safe table exists or the input is bad
    (nothing is written).
    """
    from tacit.files.partial import write_partial
    from tacit.reports.repair import hidden_text

    asked = HideOptions(**given)
    settings = load_settings(asked, near=asked.data)
    settings.require_roles(sa="occupation")
    check_release_output(asked.output, asked.json_to, inputs=[asked.data, asked.marks, asked.rows])
    with watched("hiding") as progress:
        everything = reading.read_whole_table(asked.data)
        roles = settings.merged
        table = tacit.read_table(
            everything,
            columns=list(everything.names),
            qi=roles.qi,
            sa=roles.sa,
            missing=roles.missing,
            missing_rule=roles.missing_rule or "category",
            where=asked.data,
        )
        people = tacit.read_partial(table, blank=asked.blank)
        thresholds = rule_thresholds(settings, people.n, asked.min_confidence, asked.min_support)
        made = tacit.hide(
            people,
            min_confidence=thresholds.confidence,
            min_support=thresholds.support,
            progress=progress,
            **asked.pick("rows", "may_hide", "method", "marks", "other_columns", "seed", "time_limit"),
        )
        write_partial(made, asked.output)
    wrote(asked.output)
    text = hidden_text(made, dropped=made.people.dropped, origin=settings.config.where)
    if made.after is not None:
        policy = made.after.policy
        files = {"--rows": asked.rows, "--marks": asked.marks, "--data": None if made.people.dropped else asked.data}
        named = "".join(f" {option} {quote(path)}" for option, path in files.items() if path)
        limits = f" --min-confidence {float(policy.min_confidence):g} --min-support {policy.min_support}"
        text += f"\nWritten to {asked.output}. For details: tacit audit {quote(asked.output)}{named}{limits}\n"
    emit(made.to_dict(), text, json_to=asked.json_to)
    return OF_VERDICT[made.after.verdict] if made.after is not None else INCOMPLETE
