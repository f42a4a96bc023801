"""``tacit tabulate``: make a release of frequency tables."""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

import tacit
from tacit.cli import options, reading
from tacit.cli.options import Options
from tacit.cli.output import check_release_output, emit, watched, write_release
from tacit.cli.reading import Settings, load_settings

if TYPE_CHECKING:
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
    from tacit.reports.releases import frequencies_record, frequencies_text

    asked = TabulateOptions(**given)
    settings = load_settings(asked, near=asked.data)
    check_release_output(asked.output, asked.json_to, inputs=[asked.data])
    show_zeros = asked.show_zeros
    if show_zeros is None:
        show_zeros = asked.hide_below is not None and not settings.policy.zeros_are_disclosive
    with watched("counting"):
        people = _read_columns(settings)
        qi, sa = _roles(settings, people.names)
        made = tacit.tabulate(
            people,
            qi=qi,
            sa=sa,
            show_zeros=show_zeros,
            **asked.pick("by", "ways", "total", "hide_below", "round_to", "time_limit"),
        )
    out = asked.output
    write_release(made, out)
    text = frequencies_text(made, dropped=people.dropped, origin=settings.config.where)
    last = "Nothing was written; add -o table.csv to keep the release."
    if out is not None:
        last = f"Written to {out} and {out}.json. Before you publish it: tacit audit {quote(out)}"
    emit(frequencies_record(made), f"{text}\n{last}\n", json_to=asked.json_to)


def _read_columns(settings: Settings[TabulateOptions]) -> Table:
    from tacit.files.tables import sensitive_names
    from tacit.model.table import require_column

    asked = settings.given
    everything = reading.read_whole_table(asked.data)
    for option, columns in (("--qi", asked.qi), ("--sa", asked.sa)):
        for column in sensitive_names(columns, everything.names)[0]:
            require_column(column, everything.names, where=option)
    named = [name for text in asked.by for name in ([text] if text in everything.names else text.split(","))]
    used = [name for name in dict.fromkeys(name.strip() for name in named) if name in everything.names]
    people = tacit.read_table(
        everything,
        columns=used or list(everything.names),
        missing=settings.merged.missing,
        missing_rule=settings.merged.missing_rule or "category",
        where=asked.data,
    )
    return reading.merge_rows(people, asked.engine) if asked.engine else people


def _roles(settings: Settings[TabulateOptions], columns: tuple[str, ...]) -> tuple[list[str], list[str]]:
    from tacit.files.tables import sensitive_names

    sensitive, has_none = sensitive_names(settings.merged.sa, columns)
    qi = [name for name in sensitive_names(settings.merged.qi, columns)[0] if name in columns]
    sa = [name for name in sensitive if name in columns]
    return qi, sa or (["none"] if sensitive or has_none else [])
