"""``tacit tabulate``: make a release of frequency tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

import tacit
from tacit.cli import options, reading
from tacit.cli.options import Options
from tacit.cli.output import check_release_output, emit, watched, wrote
from tacit.cli.settings import Settings, load_settings

if TYPE_CHECKING:
    from tacit.model.frequencies import FrequencyTable
    from tacit.model.table import Table


@dataclass(frozen=True, kw_only=True)
class TabulateOptions(Options):
    """Options of ``tacit tabulate``."""

    data: str
    output: str | None
    by: tuple[str, ...]
    ways: int | None
    total: bool
    hide_below: int | None
    show_zeros: bool | None
    round_to: int | None


@click.command(
    "tabulate",
    epilog=options.examples(
        "tacit tabulate adult.csv --by occupation,salary,sex --sa salary --hide-below 10 -o table.csv",
        "tacit tabulate adult.csv --by education,salary --by sex,salary --round 5 --total -o tables.csv",
        "tacit tabulate adult.csv --by education,marital-status,occupation,sex,salary --ways 2 --hide-below 10 -o tables.csv",
    ),
)
@click.argument("data", metavar="DATA")
@options.option(
    "--by COLUMNS", "Columns of a table, separated with commas; repeat for more tables.", multiple=True, required=True
)
@options.option("--ways W", "Make all tables over one to W of the columns, instead of one over all.", type=int)
@options.option("--total", "Also list the totals of every table.", is_flag=True)
@options.option("--hide-below K", "Hide cells with fewer than K people.", type=int)
@options.option(
    "--show-zeros/--hide-zeros",
    "With --hide-below: show empty cells, or hide them too.  [hide, unless the policy says zeros_are_disclosive = false]",
    default=None,
)
@options.option("--round BASE", "Round counts to the nearest multiple of BASE.", into="round_to", type=int)
@options.roles
@options.policy_file
@options.missing
@options.output
@options.running
def tabulate_command(**given: Any) -> None:
    """Make a release of frequency tables.

    Counts the people of DATA in every combination of values, empty ones too. Small cells can be hidden and counts rounded; the header
    beside the file says so, because readers of a published table know it.
    """
    from tacit.reports.releases import frequencies_record

    asked = TabulateOptions(**given)
    settings = load_settings(asked, near=asked.data)
    check_release_output(asked.output, asked.json_to, inputs=[asked.data])
    with watched("counting"):
        people = _read_columns(settings)
        qi, sa = _roles(settings, people.names)
        made = tacit.tabulate(
            people,
            by=asked.by,
            ways=asked.ways,
            total=asked.total,
            hide_below=asked.hide_below,
            round_to=asked.round_to,
            qi=qi,
            sa=sa,
            show_zeros=_shows_zeros(settings),
            time_limit=asked.time_limit,
        )
    if asked.output is not None:
        tacit.write_release(made, asked.output)
        wrote(asked.output)
    emit(frequencies_record(made), lambda: _text(made, people.dropped, settings), json_to=asked.json_to)


def _shows_zeros(settings: Settings[TabulateOptions]) -> bool:
    asked = settings.given
    if asked.show_zeros is not None:
        return asked.show_zeros
    return asked.hide_below is not None and not settings.policy.zeros_are_disclosive


def _read_columns(settings: Settings[TabulateOptions]) -> Table:
    from tacit.model.table import require_column

    asked = settings.given
    everything = reading.read_whole_table(asked.data)
    for option, columns in (("--qi", asked.qi), ("--sa", asked.sa)):
        for column in _column_names(columns, everything.names):
            require_column(column, everything.names, where=option)
    named = [name for text in asked.by for name in ([text] if text in everything.names else text.split(","))]
    used = [name for name in dict.fromkeys(name.strip() for name in named) if name in everything.names]
    people = tacit.read_table(
        everything,
        columns=used or list(everything.names),
        missing=settings.missing,
        missing_rule=settings.missing_rule or "category",
        where=asked.data,
    )
    return reading.merge_rows(people, asked.engine) if asked.engine else people


def _column_names(given: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    from tacit.files.tables import sensitive_names

    return sensitive_names(given, known)[0]


def _roles(settings: Settings[TabulateOptions], columns: tuple[str, ...]) -> tuple[list[str], list[str]]:
    from tacit.files.tables import sensitive_names

    sensitive, has_none = sensitive_names(settings.sa, columns)
    qi = [name for name in _column_names(settings.qi, columns) if name in columns]
    sa = [name for name in sensitive if name in columns]
    return qi, sa or (["none"] if sensitive or has_none else [])


def _text(made: FrequencyTable, dropped: int, settings: Settings[TabulateOptions]) -> str:
    from tacit.reports.releases import frequencies_text

    text = frequencies_text(made, dropped=dropped, origin=settings.config.where)
    out = settings.given.output
    if out is None:
        return f"{text}\nNothing was written; add -o table.csv to keep the release.\n"
    return f"{text}\nWritten to {out} and {out}.json. Before you publish it: tacit audit {quote(out)}\n"
