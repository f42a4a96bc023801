"""``tacit tabulate``: make a release of frequency tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tacit.cli import options
from tacit.cli.options import Settings, grouped
from tacit.cli.output import as_argument, check_outputs, emit, watched, wrote
from tacit.errors import OptionError
from tacit.model.table import require_column

if TYPE_CHECKING:
    from tacit.model.frequencies import FrequencyTable


@click.command(
    "tabulate",
    epilog=options.examples(
        "tacit tabulate adult.csv --by occupation,salary,sex --sa salary --hide-below 10 -o table.csv",
        "tacit tabulate adult.csv --by education,salary --by sex,salary --round 5 --total -o tables.csv",
        "tacit tabulate adult.csv --by education,marital-status,occupation,sex,salary --ways 2 --hide-below 10 -o tables.csv",
    ),
)
@click.argument("data", metavar="DATA")
@click.option(
    "--by",
    "by",
    multiple=True,
    required=True,
    metavar="COLUMNS",
    help="The columns of a table, separated with commas; repeat for several tables.",
)
@click.option(
    "--ways",
    type=int,
    metavar="W",
    help="All tables over one to W of the columns, instead of one over all of them.",
)
@click.option("--total", is_flag=True, help="List the totals of every table, too.")
@click.option("--hide-below", type=int, metavar="K", help="Hide cells with fewer than K people.")
@click.option(
    "--show-zeros/--hide-zeros",
    default=None,
    help="With --hide-below: show cells with nobody, or hide them, too.  [hide, unless the policy says zeros_are_disclosive = false]",
)
@click.option("--round", "round_to", type=int, metavar="BASE", help="Round counts to the nearest multiple of BASE.")
@options.roles
@options.policy_file
@options.missing
@options.output
@options.running
def tabulate_command(data: str, **given: Any) -> None:
    """Count the people of DATA in the cells of tables.

    Every combination of values is a cell, those with nobody too. Small cells can be hidden and counts be rounded; the header beside the file
    says so, as readers of a published table know it.
    """
    from tacit.verbs.mine import tabulate

    settings = Settings.of(given, near=data)
    out, json_to = given["output"], given["json_to"]
    _check(out, json_to, data)
    chosen = {name: given[name] for name in ("by", "ways", "total", "hide_below", "round_to", "time_limit")}
    with watched("counting"):
        people = _people(settings, data)
        made = tabulate(people, **chosen, **_roles(settings, people.names), show_zeros=_zeros_are_shown(settings))
    if out is not None:
        from tacit.files.releases import write_release

        write_release(made, out)
        wrote(out)
    emit(_record(made), lambda: _text(made, people.dropped, out, settings), json_to=json_to)


def _zeros_are_shown(settings: Settings) -> bool:
    """Whether cells with nobody are shown where small ones are hidden: as the option says, else as the policy does."""
    given: bool | None = settings.given["show_zeros"]
    if given is not None:
        return given
    return settings.given["hide_below"] is not None and not settings.policy.zeros_are_disclosive


def _people(settings: Settings, data: str) -> Any:
    """The table with the columns that are counted over."""
    from tacit.files.tables import read_table
    from tacit.files.transactions import TRANSACTION_ENDINGS

    if data.casefold().removesuffix(".gz").endswith(TRANSACTION_ENDINGS):
        raise OptionError("holds transactions, which have no columns", where=data, remedy="Give a table")
    everything = read_table(data)
    for name in ("qi", "sa"):
        for column in _named(settings.given[name], everything.names):
            require_column(column, everything.names, where=f"--{name}")
    wanted = [name for text in settings.given["by"] for name in ([text] if text in everything.names else text.split(","))]
    used = [name for name in dict.fromkeys(name.strip() for name in wanted) if name in everything.names]
    rule = {name: value for name in ("missing", "missing_rule") if (value := settings[name]) is not None}
    people = read_table(everything, columns=used or list(everything.names), where=data, **rule)
    return grouped(people, settings.given["engine"]) if settings.given["engine"] else people


def _named(given: Any, known: Any) -> tuple[str, ...]:
    """The columns that an option names, ``none`` left out."""
    from tacit.files.tables import sensitive_names

    return sensitive_names(given, known)[0]


def _roles(settings: Settings, columns: tuple[str, ...]) -> dict[str, Any]:
    """The roles of the columns that are counted over; where the sensitive ones are not among these, no column is sensitive."""
    from tacit.files.tables import sensitive_names

    sensitive, no_sa = sensitive_names(settings["sa"] or (), columns)
    own = [name for name in sensitive if name in columns]
    qi = [name for name in _named(settings["qi"] or (), columns) if name in columns]
    return {"qi": qi, "sa": own or (["none"] if sensitive or no_sa else [])}


def _check(out: str | None, json_to: str | None, data: str) -> None:
    """Refuse before long work what cannot be written after it."""
    if out is None:
        check_outputs([json_to], inputs=[data])
        return
    from tacit.files.header import header_path
    from tacit.files.tables import table_ending

    table_ending(out)
    check_outputs([out, header_path(out), json_to], inputs=[data])


def _record(made: FrequencyTable) -> dict[str, Any]:
    from tacit.reports.releases import frequencies_record

    return frequencies_record(made)


def _text(made: FrequencyTable, dropped: int, out: str | None, settings: Settings) -> str:
    from tacit.reports.releases import frequencies_text

    told = frequencies_text(made, dropped=dropped, origin=settings.config.where)
    if out is None:
        return f"{told}\nNothing was written; add -o table.csv to keep the release.\n"
    return f"{told}\nWritten to {out} and {out}.json. Before it leaves: tacit audit {as_argument(out)}\n"
