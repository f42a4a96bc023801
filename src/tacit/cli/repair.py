"""``tacit repair`` and ``tacit repairs``: change a release until no attack succeeds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from tacit.cli import options
from tacit.cli.options import Settings
from tacit.cli.output import check_outputs, emit, report_form, watched, write_file, wrote
from tacit.cli.program import DONE, EXPOSED
from tacit.errors import OptionError

if TYPE_CHECKING:
    from tacit.model.repair import Repair


@click.command(
    "repair",
    epilog=options.examples(
        "tacit repair itemsets.csv --method raise-threshold --k 10 --data adult.csv -o safer.csv",
        "tacit repair itemsets.csv --method leave-out --lines 3,17 -o safer.csv",
        "tacit repair rules.csv --method withdraw --max-posterior 0.9 --data adult.csv -o safer.csv",
    ),
)
@click.argument("release_file", metavar="RELEASE")
@click.option("--method", required=True, metavar="METHOD", help="How to repair; see tacit repairs.")
@click.option("--data", metavar="DATA", help="The data the release was made from.")
@click.option("--knowledge", multiple=True, metavar="FILE", help="Of rules: what an attacker knows besides the release.  Repeat.")
@options.roles
@options.missing
@options.release_file
@options.policy
@click.option(
    "--goal",
    type=click.Choice(["all", "frequent-only"]),
    default="all",
    help="Which attacks must fail: every one that applies, or those on published itemsets (I01) only.  [all]",
)
@click.option(
    "--base",
    type=int,
    metavar="B",
    help="With --method round: counts as multiples of B.  [the finest that is safe, at least the policy's safe_round_base]",
)
@click.option("--decimals", type=int, metavar="D", help="With --method round: supports with D decimals instead of counts.")
@click.option("--lines", metavar="LINES", help="With --method leave-out or withdraw: take out just these lines, such as 3,17.")
@click.option(
    "--suggest/--no-suggest",
    default=True,
    help="Of rules: try every method, and name the cheapest that meets the policy.  [suggest]",
)
@click.option("-o", "--output", required=True, metavar="OUT", help="Write the repaired release to OUT, its header to OUT.json.")
@options.report
@options.running
def repair_command(release_file: str, method: str, output: str, json_to: str | None, report: str | None, **given: Any) -> int:
    """Change a RELEASE until no attack succeeds, and audit the result.

    Exit code: 0 when the audit of the result is clean, or with --goal frequent-only I01 finds nothing; 1 when the goal is not met (the
    result is still written); 2 bad input.
    """
    from tacit.files.releases import write_release
    from tacit.verbs.repair import repair

    check_outputs([json_to, output, f"{output}.json", report], inputs=[release_file, *given["knowledge"]])
    settings = Settings.of(given, near=given["data"], releases=[release_file])
    with watched("repairing") as progress:
        release = options.read(release_file, given, settings)
        people = options.owners_data(release, settings)
        done = repair(
            release,
            method=method,
            data=people,
            knowledge=list(given["knowledge"]) or None,
            policy=settings.policy,
            goal=given["goal"],
            base=given["base"],
            decimals=given["decimals"],
            lines=_lines(given["lines"]),
            suggest=given["suggest"],
            time_limit=given["time_limit"],
            progress=progress,
        )
    write_release(done.release, output)
    wrote(output)
    if report is not None:
        _write_report(done, output, report)
    emit(done.to_dict(), lambda: _text(done, output), json_to=json_to)
    return DONE if done.ok else EXPOSED


def _write_report(done: Repair, output: str, report: str) -> None:
    """Write what the repair did, with the files that it made."""
    from tacit.files.disk import sha256_of
    from tacit.files.header import header_path
    from tacit.reports.repair import repair_document

    made = [path for path in (output, header_path(output)) if os.path.isfile(path)]
    outputs = {os.path.basename(path): sha256_of(path) for path in made}
    write_file(report, repair_document(done, outputs).bytes(report_form(report)))


def _lines(given: str | None) -> list[int] | None:
    """The numbers of a comma list."""
    if given is None:
        return None
    parts = [part.strip() for part in given.split(",") if part.strip()]
    if not parts or not all(part.isdecimal() and len(part) < 16 for part in parts):
        raise OptionError("is no list of line numbers", where="--lines", remedy="Write for instance --lines 3,17")
    return [int(part) for part in parts]


def _text(done: Repair, output: str) -> str:
    from tacit.reports.words import told

    costs = [f"  {name.replace('_', ' ')}: {_shown(name, value)}" for name, value in done.cost.items()]
    lines = [
        f"Before  {told(done.before)}",
        f"After   {told(done.after)}",
        *_goal(done),
        *_remark(done),
        *_printed(done),
        "Cost",
        *costs,
        *_compared(done),
    ]
    return "\n".join([*lines, f"Repaired release written to {output}"]) + "\n"


def _remark(done: Repair) -> list[str]:
    return [f"Note    {done.remark}"] if done.remark else []


def _goal(done: Repair) -> list[str]:
    """What came of a goal that asks for some attacks only."""
    if done.goal == "all":
        return []
    return [f"Goal    {done.goal} is {'met: I01 finds nothing' if done.ok else 'not met'}; the other attacks were not run"]


def _shown(name: str, value: float) -> str:
    """A measure of cost with its unit."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4f} nats a person" if name == "information_lost" else f"{value:.2%}"


def _compared(done: Repair) -> list[str]:
    """What every method would come to, and the cheapest."""
    if not done.tried:
        return []
    lines = ["Methods"]
    for one in done.tried:
        costs = ", ".join(
            f"{name.replace('_', ' ')} {_shown(name, one.cost[name])}"
            for name in ("rules_lost", "values_withheld", "support_error_max", "information_lost")
            if name in one.cost
        )
        lines.append(f"  {one.method}: {one.verdict}; {costs}" if one.verdict else f"  {one.method}: not done; {one.reason}")
    if done.suggested is None:
        return [*lines, "Suggested  none: no method meets the policy"]
    same = " (this one)" if done.suggested == done.method else f": tacit repair .. --method {done.suggested}"
    return [*lines, f"Suggested  {done.suggested}{same}, which loses the least information of those that meet the policy"]


def _printed(done: Repair) -> list[str]:
    """How counts are printed now, where the repair rounds them."""
    header = done.release.header
    if done.release.kind == "rules":
        bar = f", confidence at least {float(header.min_confidence):.4g}" if header.min_confidence is not None else ""
        numbers = f"; supports with {header.digits} decimals" if header.digits is not None else ""
        whole = "complete" if header.complete else "not complete"
        people = f"support at least {header.min_support:,} people" if header.min_support else "no support threshold"
        return [f"Rules   {len(done.release):,}, {people}{bar}{numbers}; the list is {whole}, and says so"]
    if done.method != "round" or (header.base is None and header.digits is None):
        return []
    if header.base is not None:
        return [f"Counts  rounded to multiples of {header.base:,}"]
    return [f"Counts  withheld; supports are printed with {header.digits} decimal{'' if header.digits == 1 else 's'}"]


@click.command("repairs", epilog=options.examples("tacit repairs"))
@options.json_option
def repairs_command(json_to: str | None) -> None:
    """List the repairs.

    Each with the kinds of release that it changes.
    """
    from tacit.repairs import REPAIRS

    def text() -> str:
        return "\n".join(f"{row.name}: {row.summary}\n    of {', '.join(row.of)}; {row.source}" for row in REPAIRS) + "\n"

    rows = [{"name": row.name, "of": list(row.of), "summary": row.summary, "source": row.source} for row in REPAIRS]
    emit({"format": "tacit.repairs/1", "repairs": rows}, text, json_to=json_to)
