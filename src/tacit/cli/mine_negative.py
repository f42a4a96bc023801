"""``tacit mine negative``: list what an attacker knows to be impossible, or unlikely, before anything is published."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from tacit.cli import options
from tacit.cli.output import check_outputs, emit, watched, wrote
from tacit.cli.settings import Settings
from tacit.errors import OptionError

if TYPE_CHECKING:
    from tacit.model.negative import NegativeRules
    from tacit.model.table import Table
    from tacit.model.transactions import Transactions


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
    from tacit.formats.header import header_path
    from tacit.formats.negative import check_negative_output, write_negative_rules
    from tacit.reports.negative import negative_record, negative_text

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
    from tacit.negative import mine_negative_rules

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
