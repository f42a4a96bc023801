"""``tacit sweep rules``: verdicts over thresholds and ways to print rules."""

from __future__ import annotations

from typing import Any

import click

from tacit.cli import options, reading
from tacit.cli.output import check_outputs, emit, report_form, watched, write_file
from tacit.cli.program import DONE, INCOMPLETE
from tacit.cli.settings import Settings
from tacit.errors import OptionError

pictures = options.together(
    click.option("--csv", "csv_to", metavar="FILE", help="Write the table as CSV."),
    click.option("--picture", "picture_to", metavar="FILE.svg", help="Draw it, as SVG."),
    options.report,
)


def write_report(path: str | None, title: str, caption: str, **made: str) -> None:
    """Write a sweep as a report, where one is wanted; ``made`` are its text, its table as CSV and its picture."""
    if path is None:
        return
    from tacit.reports.swept import sweep_document

    write_file(path, sweep_document(title, caption=caption, **made).bytes(report_form(path)))


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
@reading.policy
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
    from tacit.sweeps import sweep_rules

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
    from tacit.reports.rule_sweep import rule_sweep_csv, rule_sweep_svg, rule_sweep_text

    if csv_to is not None:
        write_file(csv_to, rule_sweep_csv(sweep).encode())
    if picture_to is not None:
        write_file(picture_to, rule_sweep_svg(sweep).encode())
    made = {"text": rule_sweep_text(sweep), "table": rule_sweep_csv(sweep), "picture": rule_sweep_svg(sweep)}
    write_report(report, "which thresholds for rules", "What each list of rules gives away, over its thresholds.", **made)
    emit(sweep.to_dict(), lambda: rule_sweep_text(sweep), json_to=json_to)
    return DONE if sweep.finished else INCOMPLETE
