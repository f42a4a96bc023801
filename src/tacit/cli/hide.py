"""``tacit hide``: hide cells that rules would reveal."""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Any, Literal

import click

import tacit
from tacit.cli import options, reading
from tacit.cli.options import Options
from tacit.cli.output import check_release_output, emit, watched, wrote
from tacit.cli.program import INCOMPLETE, OF_VERDICT
from tacit.cli.settings import Settings, load_settings, rule_thresholds

if TYPE_CHECKING:
    from tacit.model.partial import PartialTable
    from tacit.model.repair import Hidden
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

    asked = HideOptions(**given)
    settings = load_settings(asked, near=asked.data)
    settings.require_roles(sa="occupation")
    inputs = [path for path in (asked.data, asked.marks, asked.rows) if path is not None]
    check_release_output(asked.output, asked.json_to, inputs=inputs)
    with watched("hiding") as progress:
        people = _read_table(settings)
        thresholds = rule_thresholds(settings, people.n, asked.min_confidence, asked.min_support)
        made = tacit.hide(
            people,
            rows=asked.rows,
            may_hide=asked.may_hide,
            method=asked.method,
            marks=asked.marks,
            other_columns=asked.other_columns,
            seed=asked.seed,
            min_confidence=thresholds.confidence,
            min_support=thresholds.support,
            time_limit=asked.time_limit,
            progress=progress,
        )
        write_partial(made, asked.output)
    wrote(asked.output)
    emit(made.to_dict(), lambda: _text(made, settings), json_to=asked.json_to)
    return OF_VERDICT[made.after.verdict] if made.after is not None else INCOMPLETE


def _read_table(settings: Settings[HideOptions]) -> PartialTable:
    data = settings.given.data
    everything = reading.read_whole_table(data)
    people = tacit.read_table(
        everything,
        columns=list(everything.names),
        qi=settings.qi,
        sa=settings.sa,
        missing=settings.missing,
        missing_rule=settings.missing_rule or "category",
        where=data,
    )
    return tacit.read_partial(people, blank=settings.given.blank)


def _text(made: Hidden, settings: Settings[HideOptions]) -> str:
    from tacit.reports.repair import hidden_text

    text = hidden_text(made, dropped=made.people.dropped, origin=settings.config.where)
    if made.after is None:
        return text
    asked = settings.given
    policy = made.after.policy
    given = {"--rows": asked.rows, "--marks": asked.marks, "--data": None if made.people.dropped else asked.data}
    files = "".join(f" {option} {quote(path)}" for option, path in given.items() if path)
    limits = f" --min-confidence {float(policy.min_confidence):g} --min-support {policy.min_support}"
    return f"{text}\nWritten to {asked.output}. For details: tacit audit {quote(asked.output)}{files}{limits}\n"
