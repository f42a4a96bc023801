"""``tacit mine``: make a release of frequent itemsets or of rules, or list negative rules.

``tacit mine negative``: list what an attacker knows to be impossible, or unlikely, before anything is published.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from tacit.cli import options
from tacit.cli.options import Settings
from tacit.cli.output import as_argument, check_outputs, emit, watched, width, wrote
from tacit.cli.program import Program
from tacit.errors import OptionError

if TYPE_CHECKING:
    from tacit.model.negative import NegativeRules
    from tacit.model.release import Listed
    from tacit.model.table import Table, Transactions


@click.command(
    "negative",
    epilog=options.examples(
        "tacit mine negative adult.csv --qi age,sex --sa occupation --min-expectation 0.9 -o negative.csv",
        "tacit mine negative adult.csv --qi age,sex --sa occupation --min-expectation 0.9 --significance 0.05",
        "tacit mine negative adult.csv --qi age,sex --sa occupation --min-expectation 0.9 --fuzzy age=2",
    ),
)
@click.argument("data", metavar="DATA")
@options.roles
@click.option(
    "--min-expectation", metavar="E", help="The least chance that somebody would have the value, were it random: 0.9 or 90%."
)
@click.option(
    "--min-confidence", metavar="C", default="1",
    help="The least share of an antecedent's people without the value; below 1 rules have exceptions, and nobody can be matched by them.  [1]",
)  # fmt: skip
@click.option(
    "--fuzzy", multiple=True, metavar="COLUMN=SPREAD",
    help="Take values of a numeric column as fuzzy: who is up to SPREAD away counts in part.  Repeat for several.",
)  # fmt: skip
@click.option("--max-length", type=int, metavar="L", help="The most columns of an antecedent.  [all]")
@click.option("--significance", metavar="ALPHA", help="Correct for how many antecedents and values are looked at (Bonferroni).")
@click.option(
    "--permutations", type=int, default=0, callback=options.not_negative, metavar="N",
    help="Mine N times with shuffled values, to tell how many rules chance gives.",
)  # fmt: skip
@click.option(
    "--seed", type=int, default=0, callback=options.not_negative, metavar="SEED", help="What the shuffling starts from.  [0]"
)
@options.missing
@options.hierarchies
@click.option("-o", "--output", metavar="OUT", help="Write the rules to OUT (.csv), what they come from to OUT.json.")
@options.running
def negative_command(data: str, **given: Any) -> None:
    """List negative rules: QI values that never occur with an SA value.

    In many columns only the minimal rules are listed, those that no more general rule implies; they say everything.
    """
    from tacit.files.header import header_path
    from tacit.files.knowledge import check_negative_output, write_negative_rules
    from tacit.reports.repair import negative_record, negative_text

    settings = Settings.of(given, near=data)
    settings.needed("qi", "age,sex")
    settings.needed("sa", "occupation")
    settings.needed("min_expectation", "0.9")
    spreads = spreads_of(given["fuzzy"])
    out, json_to = given["output"], given["json_to"]
    if out is not None:
        check_negative_output(out)
    check_outputs([json_to, *([out, header_path(out)] if out is not None else [])], inputs=[data])
    with watched("mining") as progress:
        rules = _mined(settings.read(data), data, settings, spreads, progress)
    if out is not None:
        write_negative_rules(rules, out)
        wrote(out)
    last = (
        f"Written to {out} and {out}.json" if out is not None else "Nothing was written; add -o negative.csv to keep the rules."
    )
    emit(negative_record(rules), lambda: f"{negative_text(rules)}\n{last}\n", json_to=json_to)


def spreads_of(given: Sequence[str]) -> dict[str, Any]:
    """The spreads of fuzzy columns, as they are written in ``COLUMN=SPREAD``.

    >>> spreads_of(["age=2", "zip = code=100"])
    {'age': '2', 'zip = code': '100'}
    """
    spreads: dict[str, str] = {}
    for text in given:
        name, equals, spread = text.rpartition("=")
        if not equals or not name.strip():
            raise OptionError("is not of the form COLUMN=SPREAD", where="--fuzzy", remedy="Write for instance --fuzzy age=2")
        if name.strip() in spreads:
            raise OptionError(f"names column {name.strip()!r} twice", where="--fuzzy", remedy="Give each column one spread")
        spreads[name.strip()] = spread.strip()
    return spreads


def _mined(
    people: Table | Transactions, data: str, settings: Settings, spreads: dict[str, Any], progress: Callable[[float], None]
) -> NegativeRules:
    from tacit.model.table import Table
    from tacit.verbs.mine import mine_negative_rules

    if not isinstance(people, Table):
        raise OptionError("holds transactions, which have no columns", where=data, remedy="Give a table")
    if not spreads:  # what tacit.toml says about columns that are not in use here does not matter
        spreads = {name: spread for name, spread in settings.config.fuzzy.items() if name in people.schema.qi}
    names = ("min_confidence", "max_length", "significance", "permutations", "seed", "time_limit")
    chosen: dict[str, Any] = {name: settings.given[name] for name in names}
    return mine_negative_rules(
        people,
        min_expectation=settings["min_expectation"],
        **chosen,
        fuzzy=spreads,
        hierarchies=settings.hierarchies_of(people, people.schema.qi),
        progress=progress,
    )


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
        from tacit.verbs.mine import mine_itemsets

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
        from tacit.model.table import Table
        from tacit.verbs.mine import mine_rules

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
        from tacit.files.releases import write_release

        write_release(release, out)
        wrote(out)
    emit(_record(release), lambda: _text(release, people, data, settings), json_to=json_to)


def _check_outputs(out: str | None, json_to: str | None, data: str) -> None:
    """Refuse before long work what cannot be written after it."""
    if out is None:
        check_outputs([json_to], inputs=[data])
        return
    from tacit.files.header import header_path
    from tacit.files.lists import ending_of

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
