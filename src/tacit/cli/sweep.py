"""``tacit sweep``: verdicts over thresholds or precisions."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

import tacit
from tacit.cli import DONE, INCOMPLETE, Program, options, reading
from tacit.cli.options import Options, ReleaseOptions, command, option
from tacit.cli.output import check_outputs, emit, examples, watched, write_file, write_reports
from tacit.cli.reading import load_settings
from tacit.model.errors import OptionError

if TYPE_CHECKING:
    from tacit.model.repair import Goal
    from tacit.model.sweep import ItemsetSweep, RepairSweep, RoundingSweep, RuleSweep
    from tacit.reports.document import ReportKind
    from tacit.reports.sweep import SweepReport


@click.group(
    "sweep",
    cls=Program,
    epilog=examples(
        "tacit sweep itemsets adult.csv --min-support 1%,5%,10% --k 5,10      # which threshold?",
        "tacit sweep rounding itemsets.csv --k 10                             # how many digits?",
        "tacit sweep repairs itemsets.csv --data adult.csv --k 10             # which repair?",
        "tacit sweep rules adult.csv --qi sex,race --sa salary --min-support 5%,10% --min-confidence 60%,90%",
    ),
)
def sweep_command() -> None:
    """Choose a threshold, precision or repair by trying a grid of them."""


@dataclass(frozen=True, kw_only=True)
class _SweepFiles:
    json_to: str | None
    csv_to: str | None
    picture_to: str | None
    report: tuple[str, ...]
    report_kind: ReportKind = "internal"

    def check(self, data: str) -> None:
        check_outputs([self.json_to, self.csv_to, self.picture_to, *self.report], inputs=[data])


_files = options.combine(
    option("--csv FILE", "Write the table as CSV.", into="csv_to"),
    option("--picture FILE.svg", "Draw it, as SVG.", into="picture_to"),
    options.report,
)


@dataclass(frozen=True, kw_only=True)
class _SweepItemsetsOptions(_SweepFiles, Options):
    data: str
    min_support: tuple[str, ...]
    group_sizes: tuple[str, ...]
    every_attack: bool
    strict: bool


@command(
    "itemsets",
    "tacit sweep itemsets mushroom.dat.gz --min-support 10%,15%,20%,25% --k 10,30 --picture channels.svg",
    "tacit sweep itemsets adult.csv --missing '?' --min-support 5% --min-support 2000 --k 10 --csv grid.csv",
    group=sweep_command,
)
@click.argument("data", metavar="DATA")
@option("--min-support S...", "Thresholds to try, shares (0.05, 5%) or numbers of people: repeat, or separate with commas.")
@option("--k K...", "Smallest groups to allow: repeat, or separate with commas.  [10]", into="group_sizes")
@options.policy_file
@option(
    "--every-attack",
    "Run I02 in every cell; by default it runs only where I01 finds nothing, which is enough for the verdict.",
    is_flag=True,
)
@options.strict
@options.any_data
@_files
@options.running
def itemsets_command(**given: Any) -> int:
    """Find a threshold: what would itemsets reveal?

    For every threshold and k, counts the frequent itemsets of DATA and the groups of fewer than k people that follow from them. For each
    k, finds the lowest threshold at which I01 and I02 find nothing. Exit code: 0 done, 2 bad input, 3 out of time.
    """
    asked = _SweepItemsetsOptions(**given)
    asked.check(asked.data)
    settings = load_settings(asked, near=asked.data)
    min_support = settings.require("min_support", "5%,10%,20%")
    with watched("sweeping") as progress:
        people = reading.read_people(asked.data, settings)
        sweep = tacit.sweep_itemsets(
            people,
            min_support=min_support,
            k=asked.group_sizes or settings.policy.k,
            strict=asked.strict,
            hierarchies=reading.read_hierarchies(people, settings),
            every_attack=asked.every_attack,
            time_limit=asked.time_limit,
            progress=progress,
        )
    from tacit.reports.sweep import report_itemset_sweep

    return _write(sweep, report_itemset_sweep(sweep), asked)


@dataclass(frozen=True, kw_only=True)
class _SweepRoundingOptions(_SweepFiles, ReleaseOptions):
    release: str
    rounding_bases: tuple[str, ...]
    decimals: tuple[str, ...]


@command(
    "rounding",
    "tacit sweep rounding itemsets.csv --k 10",
    "tacit sweep rounding itemsets.csv --k 30 --base 5,10,20 --csv precision.csv",
    group=sweep_command,
)
@click.argument("release", metavar="RELEASE")
@option("--data DATA", "The data behind the release: the same findings, found faster.")
@option("--base B...", "Rounding bases of counts: repeat, or separate with commas.  [2,5,10,20,50,..]", into="rounding_bases")
@option("--decimals D...", "Decimals of supports: repeat, or separate with commas.  [0,1,2,3,4,5,6]")
@options.any_data
@options.release_file
@options.max_length
@options.policy
@_files
@options.running
def rounding_command(**given: Any) -> int:
    """Find a precision: what would rounded counts reveal?

    Prints the counts of a RELEASE with every number of decimals and rounded to every base, attacks each version, and names the finest
    that leaves no finding. Exit code: 0 done, 2 bad input, 3 out of time.
    """
    asked = _SweepRoundingOptions(**given)
    asked.check(asked.release)
    settings = load_settings(asked, near=asked.data, releases=[asked.release])
    bases = _parse_numbers("--base", asked.rounding_bases)
    decimals = _parse_numbers("--decimals", asked.decimals)
    with watched("sweeping") as progress:
        release = reading.read_release(asked.release, asked)
        sweep = tacit.sweep_rounding(
            release,
            base=bases,
            decimals=decimals,
            data=reading.read_owners_data(release, settings),
            policy=settings.policy,
            time_limit=asked.time_limit,
            progress=progress,
        )
    from tacit.reports.sweep import report_rounding_sweep

    return _write(sweep, report_rounding_sweep(sweep), asked)


@dataclass(frozen=True, kw_only=True)
class _SweepRulesOptions(_SweepFiles, Options):
    data: str
    min_support: tuple[str, ...]
    min_confidence: tuple[str, ...]
    digits: tuple[str, ...]
    withhold_values: bool
    incomplete: bool
    certain: bool
    strict: bool


@command(
    "rules",
    "tacit sweep rules adult.csv --qi sex,race,education --sa salary --min-support 5%,10% --min-confidence 60%,80%,90%",
    "tacit sweep rules adult.csv --qi sex,race --sa salary --min-support 5% --min-confidence 60% --digits 2,3 --withhold-values",
    group=sweep_command,
)
@click.argument("data", metavar="DATA")
@option("--min-support S...", "Supports to try, shares (0.05, 5%) or numbers of people: repeat, or separate with commas.")
@option("--min-confidence C...", "Confidences to try: repeat, or separate with commas.")
@option("--digits D...", "Decimals of supports to try, in addition to exact counts.")
@option("--withhold-values", "Also try lists without numbers.", is_flag=True)
@option("--incomplete", "Declare the lists incomplete: nothing follows from a missing rule.", is_flag=True)
@option(
    "--certain",
    "Bound everybody's value (R03) in every cell, which can take long; without it nothing is called clean.",
    is_flag=True,
)
@options.strict
@options.roles
@options.missing
@options.policy
@_files
@options.running
def rules_command(**given: Any) -> int:
    """Find thresholds and digits: what would rules reveal?

    For every support, confidence and way to print them, mines the rules of DATA, attacks them, and compares the estimates with the truth.
    Exit code: 0 done, 2 bad input, 3 out of time.
    """
    asked = _SweepRulesOptions(**given)
    asked.check(asked.data)
    settings = load_settings(asked, near=asked.data)
    with watched("sweeping") as progress:
        sweep = tacit.sweep_rules(
            reading.read_people_table(asked.data, settings),
            min_support=settings.require("min_support", "5%,10%"),
            min_confidence=settings.require("min_confidence", "60%,80%"),
            policy=settings.policy,
            progress=progress,
            **asked.pick("digits", "withhold_values", "strict", "incomplete", "certain", "time_limit"),
        )
    from tacit.reports.sweep import report_rule_sweep

    return _write(sweep, report_rule_sweep(sweep), asked)


def _parse_numbers(option: str, given: tuple[str, ...]) -> list[int] | None:
    parts = [part.strip() for text in given for part in text.split(",") if part.strip()]
    if not all(part.isascii() and part.isdecimal() and len(part) < 19 for part in parts):
        raise OptionError("takes whole numbers", where=option, remedy=f"Write for instance {option} 2,5,10")
    return [int(part) for part in parts] if given else None


@dataclass(frozen=True, kw_only=True)
class _SweepRepairsOptions(_SweepFiles, ReleaseOptions):
    release: str
    goal: Goal


@command(
    "repairs",
    "tacit sweep repairs itemsets.csv --data adult.csv --k 10",
    "tacit sweep repairs itemsets.csv --data mushroom.dat.gz --k 30 --goal frequent-only --csv repairs.csv",
    group=sweep_command,
)
@click.argument("release", metavar="RELEASE")
@option("--data DATA", "The data that the release was made from; most repairs need them.")
@options.goal
@options.any_data
@options.release_file
@options.max_length
@options.policy
@_files
@options.running
def repairs_command(**given: Any) -> int:
    """Find a repair: what would each cost, and is it enough?

    Repairs the itemsets of a RELEASE by every method, attacks each result, and measures the loss. Nothing is written but the table; tacit
    repair carries out one method. On a terminal the table has the seconds as well. Exit code: 0 done, 2 bad input, 3 out of time.
    """
    asked = _SweepRepairsOptions(**given)
    asked.check(asked.release)
    settings = load_settings(asked, near=asked.data, releases=[asked.release])
    with watched("repairing") as progress:
        release = reading.read_release(asked.release, asked, settings)
        sweep = tacit.sweep_repairs(
            release,
            data=reading.read_owners_data(release, settings),
            policy=settings.policy,
            progress=progress,
            **asked.pick("goal", "time_limit"),
        )
    from tacit.reports.sweep import report_repair_sweep

    return _write(sweep, report_repair_sweep(sweep, with_seconds=sys.stdout.isatty()), asked)


def _write(sweep: ItemsetSweep | RoundingSweep | RuleSweep | RepairSweep, report: SweepReport, files: _SweepFiles) -> int:
    external = None
    if files.report_kind == "external":
        report = report.without_reasons()
        external = report.lead
    if files.csv_to is not None:
        write_file(files.csv_to, report.csv().encode())
    if files.picture_to is not None:
        write_file(files.picture_to, report.picture.standalone().encode())
    if files.report:
        write_reports(files.report, report.document())
    emit(sweep.to_dict(), report.text(), json_to=files.json_to, external=external)
    return DONE if sweep.finished else INCOMPLETE
