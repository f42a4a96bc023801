"""``tacit repair``: make a release safe."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

import tacit
from tacit.cli import DONE, EXPOSED, options, reading
from tacit.cli.options import ReleaseOptions, command, option
from tacit.cli.output import check_outputs, emit, watched, write_release, write_report
from tacit.cli.reading import load_settings
from tacit.errors import OptionError

if TYPE_CHECKING:
    from tacit.model.repair import Goal, Repair


@dataclass(frozen=True, kw_only=True)
class _RepairOptions(ReleaseOptions):
    release: str
    output: str
    report: str | None
    method: str
    goal: Goal
    rounding_base: int | None
    decimals: int | None
    lines: str | None
    suggest: bool


@command(
    "repair",
    "tacit repair itemsets.csv --method raise-threshold --k 10 --data adult.csv -o safer.csv",
    "tacit repair itemsets.csv --method leave-out --lines 3,17 -o safer.csv",
    "tacit repair rules.csv --method withdraw --max-posterior 0.9 --data adult.csv -o safer.csv",
)
@click.argument("release", metavar="RELEASE")
@option("--method METHOD", "How to repair; see tacit repairs.", required=True)
@option("--data DATA", "The data that the release was made from.")
@option("--knowledge FILE...", "Rules: what an adversary knows besides the release (repeatable).")
@options.withheld
@options.roles
@options.missing
@options.release_file
@options.policy
@options.goal
@option(
    "--base B",
    "With --method round: rounding base of counts.  [the finest that is safe, at least the policy's safe_round_base]",
    into="rounding_base",
    type=int,
)
@option("--decimals D", "With --method round: supports with D decimals instead of counts.", type=int)
@option("--lines LINES", "With --method leave-out or withdraw: remove just these lines, such as 3,17.")
@option(
    "--suggest/--no-suggest", "Rules: try every method, and name the cheapest that meets the policy.  [suggest]", default=True
)
@option("-o --output OUT", "Write the repaired release to OUT and its header to OUT.json.", required=True)
@options.report
@options.running
def repair_command(**given: Any) -> int:
    """Change a release until no attack succeeds, and audit the result.

    Exit code: 0 the result is clean, or with --goal frequent-only I01 finds nothing; 1 the goal is not met (the result is still written);
    2 bad input.
    """
    asked = _RepairOptions(**given)
    output = asked.output
    check_outputs([asked.json_to, output, f"{output}.json", asked.report], inputs=[asked.release, *asked.knowledge])
    settings = load_settings(asked, near=asked.data, releases=[asked.release])
    with watched("repairing") as progress:
        release = reading.read_release(asked.release, asked, settings)
        done = tacit.repair(
            release,
            data=reading.read_owners_data(release, settings),
            knowledge=list(asked.knowledge) or None,
            withheld=asked.withheld or "at-threshold",
            policy=settings.policy,
            base=asked.rounding_base,
            lines=_parse_lines(asked.lines),
            progress=progress,
            **asked.pick("method", "goal", "decimals", "suggest", "time_limit"),
        )
    write_release(done.release, output)
    if asked.report is not None:
        from tacit.files.disk import Input
        from tacit.files.header import header_path
        from tacit.reports.repair import repair_document

        written = [path for path in (output, header_path(output)) if os.path.isfile(path)]
        write_report(asked.report, repair_document(done, {os.path.basename(path): Input(path).sha256 for path in written}))
    emit(done.to_dict(), _text(done, output), json_to=asked.json_to)
    return DONE if done.ok else EXPOSED


def _parse_lines(given: str | None) -> list[int] | None:
    if given is None:
        return None
    parts = [part.strip() for part in given.split(",") if part.strip()]
    if not parts or not all(part.isdecimal() and len(part) < 16 for part in parts):
        raise OptionError("is not a list of line numbers", where="--lines", remedy="Write for instance --lines 3,17")
    return [int(part) for part in parts]


def _text(done: Repair, output: str) -> str:
    from tacit.reports.sentences import verdict_line

    lines = [f"Before  {verdict_line(done.before)}", f"After   {verdict_line(done.after)}"]
    if done.goal != "all":
        outcome = "met: I01 finds nothing" if done.ok else "not met"
        lines.append(f"Goal    {done.goal} is {outcome}; the other attacks were not run")
    if done.remark:
        lines.append(f"Note    {done.remark}")
    lines += _describe_numbers(done)
    lines.append("Cost")
    lines += [f"  {name.replace('_', ' ')}: {_format_cost(name, value)}" for name, value in done.cost.items()]
    lines += _compare_methods(done)
    return "\n".join([*lines, f"Repaired release written to {output}"]) + "\n"


def _format_cost(name: str, value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4f} nats per person" if name == "information_lost" else f"{value:.2%}"


def _describe_numbers(done: Repair) -> list[str]:
    header = done.release.header
    if done.release.kind == "rules":
        support = f"support at least {header.min_support:,} people" if header.min_support else "no support threshold"
        bar = f", confidence at least {float(header.min_confidence):.4g}" if header.min_confidence is not None else ""
        numbers = f"; supports with {header.digits} decimals" if header.digits is not None else ""
        whole = "complete" if header.complete else "incomplete"
        return [f"Rules   {len(done.release):,}, {support}{bar}{numbers}; the header declares the list {whole}"]
    if done.method != "round" or (header.base is None and header.digits is None):
        return []
    if header.base is not None:
        return [f"Counts  rounded to multiples of {header.base:,}"]
    return [f"Counts  withheld; supports are printed with {header.digits} decimal{'' if header.digits == 1 else 's'}"]


def _compare_methods(done: Repair) -> list[str]:
    if not done.tried:
        return []
    lines = ["Methods"]
    for one in done.tried:
        costs = ", ".join(
            f"{name.replace('_', ' ')} {_format_cost(name, one.cost[name])}"
            for name in ("rules_lost", "values_withheld", "support_error_max", "information_lost")
            if name in one.cost
        )
        lines.append(f"  {one.method}: {one.verdict}; {costs}" if one.verdict else f"  {one.method}: not done; {one.reason}")
    if done.suggested is None:
        return [*lines, "Suggested  none: no method meets the policy"]
    same = " (this one)" if done.suggested == done.method else f": tacit repair .. --method {done.suggested}"
    return [*lines, f"Suggested  {done.suggested}{same}, which loses the least information of those that meet the policy"]
