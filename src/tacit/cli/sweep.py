"""``tacit sweep``: verdicts over a grid, of thresholds or of precisions.

``tacit sweep rules``: verdicts over thresholds and ways to print rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tacit.cli import options
from tacit.cli.options import Settings
from tacit.cli.output import check_outputs, emit, report_form, watched, write_file
from tacit.cli.program import DONE, INCOMPLETE, Program
from tacit.errors import OptionError

if TYPE_CHECKING:
    from tacit.model.sweep import ItemsetSweep, RoundingSweep
    from tacit.reports.document import Document

pictures = options.together(
    click.option("--csv", "csv_to", metavar="FILE", help="Write the table as CSV."),
    click.option("--picture", "picture_to", metavar="FILE.svg", help="Draw it, as SVG."),
    options.report,
)


def write_report(path: str | None, document: Document) -> None:
    """Write a sweep as a report, where one is wanted."""
    from tacit.reports import page_bytes

    if path is not None:
        write_file(path, page_bytes(document, report_form(path)))


@click.command(
    "rules",
    epilog=options.examples(
        "tacit sweep rules adult.csv --qi sex,race,education --sa salary --min-support 5%,10% --min-confidence 60%,80%,90%",
        "tacit sweep rules adult.csv --qi sex,race --sa salary --min-support 5% --min-confidence 60% --digits 2,3 --withhold-values",
    ),
)
@click.argument("data", metavar="DATA")
@click.option(
    "--min-support",
    multiple=True,
    metavar="S",
    help="Supports to try, shares (0.05, 5%) or whole numbers of people: repeat, or separate with commas.",
)
@click.option("--min-confidence", multiple=True, metavar="C", help="Confidences to try: repeat, or separate with commas.")
@click.option("--digits", multiple=True, metavar="D", help="Decimals of supports to try, besides exact counts.")
@click.option("--withhold-values", is_flag=True, help="Try lists without any number, too.")
@click.option("--incomplete", is_flag=True, help="Say that rules may have been left out: missing ones then tell nothing.")
@click.option(
    "--certain",
    is_flag=True,
    help="Bound everybody's value (R03) in every cell, which can take long; without it nothing is called clean.",
)
@options.strict
@options.roles
@options.missing
@options.policy
@pictures
@options.running
def rules_command(
    data: str, csv_to: str | None, picture_to: str | None, json_to: str | None, report: str | None, **given: Any
) -> int:
    """Find thresholds and digits: what would rules give away?

    For every support, confidence and way to print them: mines the rules of DATA, attacks them, and compares estimates with the truth. Exit
    code: 0 done, 2 bad input, 3 when time ran out before the end.
    """
    from tacit.model.table import Table
    from tacit.verbs.sweep import sweep_rules

    check_outputs([json_to, csv_to, picture_to, report], inputs=[data])
    settings = Settings.of(given, near=data)
    with watched("sweeping") as progress:
        people = settings.read(data)
        if not isinstance(people, Table):
            raise OptionError("holds transactions, not a table", where=data, remedy="Rules QI => SA need columns: give a table")
        sweep = sweep_rules(
            people,
            min_support=given["min_support"] or settings.needed("min_support", "5%,10%"),
            min_confidence=given["min_confidence"] or settings.needed("min_confidence", "60%,80%"),
            digits=given["digits"],
            withhold_values=given["withhold_values"],
            strict=given["strict"],
            incomplete=given["incomplete"],
            policy=settings.policy,
            certain=given["certain"],
            time_limit=given["time_limit"],
            progress=progress,
        )
    from tacit.reports.sweep import rule_sweep_csv, rule_sweep_document, rule_sweep_svg, rule_sweep_text

    if csv_to is not None:
        write_file(csv_to, rule_sweep_csv(sweep).encode())
    if picture_to is not None:
        write_file(picture_to, rule_sweep_svg(sweep).encode())
    write_report(report, rule_sweep_document(sweep))
    emit(sweep.to_dict(), lambda: rule_sweep_text(sweep), json_to=json_to)
    return DONE if sweep.finished else INCOMPLETE


@click.group(
    "sweep",
    cls=Program,
    epilog=options.examples(
        "tacit sweep itemsets adult.csv --min-support 1%,5%,10% --k 5,10      # which threshold?",
        "tacit sweep rounding itemsets.csv --k 10                             # how many digits?",
        "tacit sweep rules adult.csv --qi sex,race --sa salary --min-support 5%,10% --min-confidence 60%,90%",
    ),
)
def sweep_command() -> None:
    """Choose a threshold or a precision: verdicts over a grid."""


@sweep_command.command(
    "itemsets",
    epilog=options.examples(
        "tacit sweep itemsets mushroom.dat.gz --min-support 10%,15%,20%,25% --k 10,30 --picture channels.svg",
        "tacit sweep itemsets adult.csv --missing '?' --min-support 5% --min-support 2000 --k 10 --csv grid.csv",
    ),
)
@click.argument("data", metavar="DATA")
@click.option(
    "--min-support",
    multiple=True,
    metavar="S",
    help="Thresholds to try, shares (0.05, 5%) or whole numbers of people: repeat, or separate with commas.",
)
@click.option("--k", multiple=True, metavar="K", help="Smallest groups to allow: repeat, or separate with commas.  [10]")
@options.policy_file
@click.option(
    "--every-attack",
    is_flag=True,
    help="Count I02 in every cell; otherwise it runs where I01 finds nothing, enough for the verdict.",
)
@options.strict
@options.roles
@options.missing
@options.long_table
@options.hierarchies
@pictures
@options.running
def itemsets_command(
    data: str, csv_to: str | None, picture_to: str | None, json_to: str | None, report: str | None, **given: Any
) -> int:
    """Find a threshold: what would itemsets give away?

    For every threshold and k: counts the frequent itemsets of DATA and the groups of fewer than k people that follow from them. For
    each k: searches the lowest threshold at which I01 and I02 find nothing. Exit code: 0 done, 2 bad input, 3 when time ran out before the end.
    """
    from tacit.verbs.sweep import sweep_itemsets

    check_outputs([json_to, csv_to, picture_to, report], inputs=[data])
    settings = Settings.of(given, near=data)
    min_support = given["min_support"] or settings.needed("min_support", "5%,10%,20%")
    k = given["k"] or settings.policy.k
    with watched("sweeping") as progress:
        people = settings.read(data)
        sweep = sweep_itemsets(
            people,
            min_support=min_support,
            k=k,
            strict=given["strict"],
            hierarchies=settings.hierarchies_of(people, getattr(people, "names", ())),
            every_attack=given["every_attack"],
            time_limit=given["time_limit"],
            progress=progress,
        )
    from tacit.reports.sweep import itemset_sweep_csv, itemset_sweep_document, itemset_sweep_svg, itemset_sweep_text

    if csv_to is not None:
        write_file(csv_to, itemset_sweep_csv(sweep).encode())
    if picture_to is not None:
        write_file(picture_to, itemset_sweep_svg(sweep).encode())
    write_report(report, itemset_sweep_document(sweep))
    return _told(sweep, itemset_sweep_text(sweep), json_to)


@sweep_command.command(
    "rounding",
    epilog=options.examples(
        "tacit sweep rounding itemsets.csv --k 10",
        "tacit sweep rounding itemsets.csv --k 30 --base 5,10,20 --csv precision.csv",
    ),
)
@click.argument("release_file", metavar="RELEASE")
@click.option("--data", metavar="DATA", help="The data the release was made from: the same findings, found faster.")
@click.option(
    "--base", multiple=True, metavar="B", help="Bases to round counts to: repeat, or separate with commas.  [2,5,10,20,50,..]"
)
@click.option(
    "--decimals", multiple=True, metavar="D", help="Decimals of supports: repeat, or separate with commas.  [0,1,2,3,4,5,6]"
)
@options.roles
@options.missing
@options.long_table
@options.hierarchies
@options.release_file
@options.policy
@pictures
@options.running
def rounding_command(
    release_file: str, csv_to: str | None, picture_to: str | None, json_to: str | None, report: str | None, **given: Any
) -> int:
    """Find a precision: what would rounded counts give away?

    Prints the counts of a RELEASE with every number of decimals and rounded to every base, attacks each as it would be printed, and
    names the finest that leaves no finding. Exit code: 0 done, 2 bad input, 3 when time ran out before the end.
    """
    from tacit.verbs.sweep import sweep_rounding

    check_outputs([json_to, csv_to, picture_to, report], inputs=[release_file])
    settings = Settings.of(given, near=given["data"], releases=[release_file])
    chosen = {name: _whole_numbers(name, given[name]) for name in ("base", "decimals")}
    with watched("sweeping") as progress:
        release = options.read(release_file, given)
        people = options.owners_data(release, settings)
        sweep = sweep_rounding(
            release,
            base=chosen["base"],
            decimals=chosen["decimals"],
            data=people,
            policy=settings.policy,
            time_limit=given["time_limit"],
            progress=progress,
        )
    from tacit.reports.sweep import rounding_sweep_csv, rounding_sweep_document, rounding_sweep_svg, rounding_sweep_text

    if csv_to is not None:
        write_file(csv_to, rounding_sweep_csv(sweep).encode())
    if picture_to is not None:
        write_file(picture_to, rounding_sweep_svg(sweep).encode())
    write_report(report, rounding_sweep_document(sweep))
    return _told(sweep, rounding_sweep_text(sweep), json_to)


sweep_command.add_command(rules_command)


def _whole_numbers(name: str, given: tuple[str, ...]) -> list[int] | None:
    """Whole numbers from repeated options and comma lists; None where there are none."""
    parts = [part.strip() for one in given for part in one.split(",") if part.strip()]
    if not all(part.isascii() and part.isdecimal() and len(part) < 19 for part in parts):
        raise OptionError("takes whole numbers", where=f"--{name}", remedy=f"Write for instance --{name} 2,5,10")
    return [int(part) for part in parts] if given else None


def _told(sweep: ItemsetSweep | RoundingSweep, text: str, json_to: str | None) -> int:
    """Text or record, and the exit code."""
    emit(sweep.to_dict(), lambda: text, json_to=json_to)
    return DONE if sweep.finished else INCOMPLETE
