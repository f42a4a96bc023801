"""``tacit mine``: make a release of frequent itemsets or of rules, or list negative rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from tacit.cli import options
from tacit.cli.mine_negative import negative_command
from tacit.cli.output import as_argument, check_outputs, emit, watched, width, wrote
from tacit.cli.program import Program
from tacit.cli.settings import Settings
from tacit.errors import OptionError

if TYPE_CHECKING:
    from tacit.model.release import Listed
    from tacit.model.table import Table
    from tacit.model.transactions import Transactions


@click.group(
    "mine",
    cls=Program,
    epilog=options.examples(
        "tacit mine itemsets adult.csv --min-support 5% -o itemsets.csv",
        "tacit mine rules adult.csv --qi age,sex --sa salary --min-support 10% --min-confidence 60% -o rules.csv",
    ),
)
def mine_command() -> None:
    """Make a release: frequent itemsets, or rules; or list negative rules."""


@mine_command.command(
    "itemsets",
    epilog=options.examples(
        "tacit mine itemsets mushroom.dat.gz --min-support 10% --only closed",
        "tacit mine itemsets adult.csv --min-support 5% --missing '?' --missing-rule drop -o itemsets.csv",
    ),
)
@click.argument("data", metavar="DATA")
@options.min_support
@click.option("--only", type=click.Choice(["all", "closed", "maximal"]), help="Which frequent itemsets to list.  [all]")
@options.strict
@options.roles
@options.missing
@options.long_table
@options.hierarchies
@options.output
@options.running
def itemsets_command(data: str, **given: Any) -> None:
    """List frequent itemsets.

    Of transactions (.dat: one person per line) or of the columns of a table. The items of a table are column=value; with --qi and
    --sa, of these columns only.
    """
    settings = Settings.of(given, near=data)
    min_support = settings.min_support

    def mine(people: Table | Transactions, progress: Callable[[float], None]) -> Listed:
        from tacit.api import mine_itemsets

        return mine_itemsets(
            people,
            min_support=min_support,
            only=given["only"] or "all",
            strict=given["strict"],
            hierarchies=settings.hierarchies_of(people, getattr(people, "names", ())),
            time_limit=given["time_limit"],
            progress=progress,
        )

    _mine(data, settings, mine)


@mine_command.command(
    "rules",
    epilog=options.examples(
        "tacit mine rules adult.csv --qi age,sex --sa salary --min-support 10% --min-confidence 60%",
        "tacit mine rules adult.csv --qi age --qi sex --sa salary --min-support 300 --min-confidence 0.6 --digits 3 -o rules.csv",
    ),
)
@click.argument("data", metavar="DATA")
@options.roles
@options.min_support
@click.option(
    "--min-confidence", metavar="C", help="The share of the people with the antecedent that a rule holds for: 0.6 or 60%."
)
@options.strict
@click.option("--withhold-values", is_flag=True, help="Publish which rules reach the thresholds, without their numbers.")
@click.option(
    "--digits", type=int, callback=options.not_negative, metavar="D", help="Publish supports with D decimals instead of counts."
)
@click.option("--with-confidence", is_flag=True, help="With --digits: publish confidences, too; they say more.")
@click.option("--publish-sa-distribution", is_flag=True, help="Publish how many people have each sensitive value, too.")
@click.option(
    "--incomplete", is_flag=True, help="Say in the header that the list is not complete, so that a missing rule tells nothing."
)
@options.missing
@options.hierarchies
@options.output
@options.running
def rules_command(data: str, **given: Any) -> None:
    """List rules from QI columns to SA columns."""
    settings = Settings.of(given, near=data)
    thresholds: dict[str, Any] = {"min_support": settings.min_support, "min_confidence": settings.min_confidence}
    settings.needed("qi", "age,sex")
    settings.needed("sa", "salary")
    flags = ("strict", "withhold_values", "digits", "with_confidence", "publish_sa_distribution", "incomplete", "time_limit")

    def mine(people: Table | Transactions, progress: Callable[[float], None]) -> Listed:
        from tacit.api import mine_rules
        from tacit.model.table import Table

        if not isinstance(people, Table):
            raise OptionError("holds transactions, which have no columns", where=data, remedy="Give a table")
        hierarchies = settings.hierarchies_of(people, people.schema.qi)
        chosen: dict[str, Any] = {name: given[name] for name in flags}
        return mine_rules(people, **thresholds, **chosen, hierarchies=hierarchies, progress=progress)

    _mine(data, settings, mine)


mine_command.add_command(negative_command)


def _mine(data: str, settings: Settings, mine: Callable[[Table | Transactions, Callable[[float], None]], Listed]) -> None:
    """Read, mine, write, tell."""
    given = settings.given
    out, json_to = given["output"], given["json_to"]
    _check_outputs(out, json_to, data)
    with watched("mining") as progress:
        people = settings.read(data)
        release = mine(people, progress)
    if out is not None:
        from tacit.api import write_release

        write_release(release, out)
        wrote(out)
    emit(_record(release), lambda: _text(release, people, data, settings), json_to=json_to)


def _check_outputs(out: str | None, json_to: str | None, data: str) -> None:
    """Refuse before long work what cannot be written after it."""
    if out is None:
        check_outputs([json_to], inputs=[data])
        return
    from tacit.formats.header import header_path
    from tacit.formats.own_writing import ending_of

    ending_of(out)
    check_outputs([out, header_path(out), json_to], inputs=[data])


def _record(release: Listed) -> dict[str, Any]:
    from tacit.model.release import Itemsets
    from tacit.reports.record import itemsets_record, rules_record

    return itemsets_record(release) if isinstance(release, Itemsets) else rules_record(release)


#: Options that an audit needs to read the same data; the header of the release holds the others.
_TO_READ_AGAIN = ("id_column", "item_column", "hierarchies")


def _text(release: Listed, people: Table | Transactions, data: str, settings: Settings) -> str:
    from tacit.reports.text import mined_text

    out = settings.given["output"]
    told = mined_text(release, dropped=getattr(people, "dropped", 0), origin=settings.config.where, width=width())
    if out is None:
        return f"{told}\nNothing was written; add -o {release.kind}.csv to keep the release.\n"
    same = "".join(
        f" --{name.replace('_', '-')} {as_argument(settings.given[name])}" for name in _TO_READ_AGAIN if settings.given.get(name)
    )
    audit = f"tacit audit {as_argument(out)} --data {as_argument(data)}{same}"
    return f"{told}\nWritten to {out} and {out}.json. Before it leaves: {audit}\n"
