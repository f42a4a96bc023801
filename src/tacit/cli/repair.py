"""``tacit repair``: make a release safe."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

import tacit
from tacit.cli import DONE, EXPOSED, disarm, options, reading
from tacit.cli.completion import complete_repairs
from tacit.cli.options import ReleaseOptions, command, option, refuse_options
from tacit.cli.output import Bar, check_outputs, emit, watched, write_release, write_reports
from tacit.cli.reading import Settings, load_settings
from tacit.model.errors import LimitReached, OptionError
from tacit.model.policy import seconds_left

if TYPE_CHECKING:
    from tacit.model.changes import LineChange
    from tacit.model.repair import Goal, Repair

MOST_CHANGES = 10  #: Changed lines that are printed; the record lists all.


@dataclass(frozen=True, kw_only=True)
class _RepairOptions(ReleaseOptions):
    releases: tuple[str, ...]
    output: str
    report: tuple[str, ...]
    method: str | None
    goal: Goal
    rounding_base: int | None
    decimals: int | None
    lines: str | None
    cost: Any
    keep: tuple[str, ...]
    hide_first: tuple[str, ...]
    protect: str | None
    attacker: Any
    seed: int | None
    suggest: bool


@command(
    "repair",
    "tacit repair itemsets.csv -o safer.csv",
    "tacit repair rules.csv --data adult.csv --max-posterior 0.9 -o safer.csv",
    "tacit repair itemsets.csv --method raise-threshold --k 10 --data adult.csv -o safer.csv",
    "tacit repair itemsets.csv --method leave-out --lines 3,17 -o safer.csv",
    "tacit repair itemsets.csv --method raise-threshold --min-support 10% -o safer.csv",
    "tacit repair last-year.csv this-year.csv --people nested -o safer",
    "tacit repair table.csv --method suppress --keep sex=F,job=* -o safer.csv",
)
@click.argument("releases", nargs=-1, required=True, metavar="RELEASE...")
@option("--method METHOD", "How to repair; see tacit repairs.  [the cheapest that works]", shell_complete=complete_repairs)
@option("--data DATA", "The data that the release was made from.", section=options.GIVEN)
@options.known
@options.knowledge
@options.withheld
@options.people
@options.any_data
@options.release_file
@options.max_length
@options.frequency_table
@options.policy
@options.rows
@options.marks
@options.blank
@options.min_confidence
@options.min_rule_support
@options.goal
@option(
    "--base B",
    "With --method round or round-controlled: rounding base of counts.  [the finest that is safe, at least the policy's safe_round_base]",
    into="rounding_base",
    type=int,
    rare=True,
)
@option("--decimals D", "With --method round: supports with D decimals instead of counts.", type=int, rare=True)
@option("--lines LINES", "With --method leave-out or withdraw: remove just these lines, such as 3,17.", rare=True)
@option(
    "--cost COST",
    "With --method suppress: minimise hidden cells, the people in them (people), or the sum of their logarithms (log).  [cells]",
    type=click.Choice(["cells", "people", "log"]),
    rare=True,
)
@option(
    "--keep LINES...", "With --method suppress: lines that stay published; a file, or a condition such as sex=F,job=*.", rare=True
)
@option("--hide-first LINES...", "With --method suppress: lines to hide before others; a file, or a condition.", rare=True)
@option(
    "--protect SHARE",
    "With --method suppress: the attacker's range of a small cell must exceed its count by at least this share, both ways.",
    rare=True,
)
@option(
    "--attacker WHO",
    "With --method suppress: an attacker who treats all hidden cells alike (reader), knows which are small (rule), or also that "
    "the others are not (method).  [method, else rule]",
    type=click.Choice(["method", "rule", "reader"]),
    rare=True,
)
@option(
    "--seed SEED",
    "With --method round-controlled: round at random, from this seed, which is to stay secret.",
    type=int,
    rare=True,
)
@option(
    "--suggest/--no-suggest",
    "Rules: try every method, and name the cheapest that meets the policy.  [suggest]",
    default=True,
    rare=True,
)
@option(
    "-o --output OUT",
    "Write the repaired release to OUT and its header to OUT.json; several, into the folder OUT.",
    required=True,
    section=options.OUTPUT,
)
@options.report
@options.running
def repair_command(**given: Any) -> int:
    """Change a release until no attack succeeds, and audit the result.

    Without --method every repair that fits is tried and audited, and the cheapest that leaves nothing to find is carried out, for one release
    or for several together. Exit code: 0 the result is clean, or with --goal frequent-only I01 finds nothing; 1 the goal is not met (a result
    of --method is still written); 2 bad input; 3 the audit is incomplete.
    """
    asked = _RepairOptions(**given)
    several = len(asked.releases) > 1 or os.path.isdir(asked.releases[0])
    outputs = [asked.output] if several else [asked.output, f"{asked.output}.json"]
    if several and os.path.isdir(asked.output):
        outputs = []  # of several releases, each has its own file in the folder
    check_outputs([asked.json_to, *asked.report, *outputs], inputs=[*asked.releases, asked.data or asked.known, *asked.knowledge])
    settings = load_settings(asked, near=asked.data or asked.known, releases=asked.releases)
    with watched("repairing" if asked.method else "auditing") as progress:
        done = _carry_out(asked, settings, progress)
    disarm()
    written = _write(done, asked)
    if asked.report:
        from tacit.files.disk import Input
        from tacit.reports.repair import repair_document

        digests = {os.path.basename(path): Input(path).sha256 for path in written}
        write_reports(asked.report, repair_document(done, digests, kind=asked.report_kind))
    from tacit.reports.sentences import verdict_line

    external = f"After: {verdict_line(done.after)}. Before: {verdict_line(done.before)}." if asked.is_external else None
    emit(done.to_dict(), _text(done, asked.output), json_to=asked.json_to, external=external)
    return DONE if done.ok else EXPOSED


def _carry_out(asked: _RepairOptions, settings: Settings[_RepairOptions], progress: Bar) -> Repair:
    if asked.method is not None:
        return _by_method(asked, settings, progress)
    of_methods = {"--base": asked.rounding_base, "--decimals": asked.decimals, "--lines": asked.lines, **_table_options(asked)}
    for name, value in of_methods.items() | {("--goal", None if asked.goal == "all" else asked.goal)}:
        if value is not None:
            raise OptionError("is about one method", where=name, remedy="Name the method with --method")
    from tacit.verbs.audit import audit
    from tacit.verbs.suggest import repair_best

    gathered, others = reading.read_audit_inputs(asked.releases, settings)
    found = audit(gathered, **others, time_limit=asked.time_limit, progress=progress)
    if not (found.ok or found.may_be_repaired):
        what = "the audit is incomplete, so that there is nothing to repair yet"
        raise LimitReached(what, where="repair", remedy="Give what it lacks: tacit audit names it")
    seconds = None if asked.time_limit is None else seconds_left()
    progress(0.0)
    return repair_best(
        found,
        tuple(gathered.releases),
        seconds=seconds,
        progress=progress,
        announce=lambda method: progress.stage(f"trying {method}"),
        **others,
    )


def _table_options(asked: _RepairOptions) -> dict[str, Any]:
    return {
        "--cost": asked.cost,
        "--keep": asked.keep or None,
        "--hide-first": asked.hide_first or None,
        "--protect": asked.protect,
        "--attacker": asked.attacker,
        "--seed": asked.seed,
    }


def _by_method(asked: _RepairOptions, settings: Settings[_RepairOptions], progress: Bar) -> Repair:
    from tacit.verbs.repair import OF_TABLES, is_of_tables, refuse_given, repair_tables

    method = asked.method or ""
    min_support = None
    if method == "raise-threshold":
        # For lists, the option names the new threshold; the policy has none of this name.
        min_support = asked.min_support
        asked = replace(asked, min_support=None)
        settings = replace(settings, given=asked)
    gathered = reading.gather_releases(asked.releases, asked, settings)
    if is_of_tables(method, gathered.releases):
        refuse_given({"--decimals": asked.decimals, "--lines": asked.lines}, f"does not apply to --method {method}")
        if asked.goal != "all":
            raise OptionError(f"{asked.goal} is a goal for itemsets", where="--goal", remedy="Remove the option")
        gathered, others = reading.read_audit_inputs(asked.releases, settings, gathered)
        wanted = _table_options(asked) | {"--base": asked.rounding_base}
        return repair_tables(gathered, method, wanted, time_limit=asked.time_limit, **others)
    refuse_given(_table_options(asked), f"applies to --method {' or '.join(OF_TABLES)}")
    if len(gathered.releases) > 1:
        raise OptionError("repairs one release", where="--method", remedy="Leave it out, or repair one release after the other")
    for_others = ("known", "people", *options.OF_TABLES, "id_column", "item_column", "hierarchies")
    refuse_options(asked, for_others, "is not for one method", "Leave out --method, or this option")
    release = gathered.releases[0]
    return tacit.repair(
        release,
        data=reading.read_owners_data(release, settings),
        knowledge=list(asked.knowledge) or None,
        withheld=asked.withheld or "at-threshold",
        policy=settings.policy,
        base=asked.rounding_base,
        lines=_parse_lines(asked.lines),
        min_support=min_support,
        progress=progress,
        **asked.pick("method", "goal", "decimals", "suggest", "time_limit"),
    )


def _write(done: Repair, asked: _RepairOptions) -> list[str]:
    """Write the result; return the files."""
    from tacit.files.header import header_path, writable_name

    made = done.release if isinstance(done.release, tuple) else (done.release,)
    if len(asked.releases) == 1 and len(made) == 1:
        paths = [asked.output]
    else:
        os.makedirs(asked.output, exist_ok=True)
        files = asked.releases if len(asked.releases) > 1 else _names_of(done)
        names = [writable_name(os.path.basename(os.path.normpath(path))) for path in files]
        paths = [os.path.join(asked.output, name) for name in names[: len(made)]]
    for release, path in zip(made, paths, strict=True):
        write_release(release, path)
    return [path for one in paths for path in (one, header_path(one)) if os.path.isfile(path)]


def _names_of(done: Repair) -> list[str]:
    """Return the names of the files in the folder that was repaired."""
    before = done.start if isinstance(done.start, tuple) else ()
    return [one.source.name if one.source else f"release-{place}.csv" for place, one in enumerate(before, start=1)]


def _parse_lines(given: str | None) -> list[int] | None:
    if given is None:
        return None
    parts = [part.strip() for part in given.split(",") if part.strip()]
    if not parts or not all(part.isdecimal() and len(part) < 16 for part in parts):
        raise OptionError("is not a list of line numbers", where="--lines", remedy="Write for instance --lines 3,17")
    return [int(part) for part in parts]


def _text(done: Repair, output: str) -> str:
    from tacit.model.repair import OUT_OF_TIME
    from tacit.reports.repair import cost_rows, describe_numbers
    from tacit.reports.sentences import verdict_line

    lines = [f"Before  {verdict_line(done.before)}", f"After   {verdict_line(done.after)}"]
    if done.what:
        lines.append(f"Done    {done.what} ({done.method})")
        late = [one.method for one in done.tried if one.reason == OUT_OF_TIME]
        if late:
            lines.append(f"Note    Not tried (out of time): {', '.join(late)}; allow more with --time-limit 300")
        if done.cost.get("itemsets_lost") and "data" not in done.before.options["given"]:
            lines.append("Note    With --data more repairs can be tried, some of which keep more of the list")
    lines += _list_changes(done)
    if done.goal != "all":
        outcome = "met: I01 finds nothing" if done.ok else "not met"
        lines.append(f"Goal    {done.goal} is {outcome}; the other attacks were not run")
    if done.remark:
        lines.append(f"Note    {done.remark}")
    lines += [f"{what:<7} {told}" for what, told in describe_numbers(done)]
    lines.append("Cost")
    lines += [f"  {name}: {told}" for name, told in cost_rows(done.cost)]
    lines += _compare_methods(done) if not done.what else []
    return "\n".join([*lines, f"Repaired release written to {output}"]) + "\n"


def _list_changes(done: Repair) -> list[str]:
    changes = done.changes
    if not changes:
        return []
    lines = [f"Changed {len(changes):,} line{'' if len(changes) == 1 else 's'}"]
    lines += [f"  {_change_words(change)}" for change in changes[:MOST_CHANGES]]
    if (more := len(changes) - MOST_CHANGES) > 0:
        lines.append(f"  and {more:,} more (--json lists all)")
    return lines


def _change_words(change: LineChange) -> str:
    from tacit.reports.repair import change_subject, number_words

    named = change_subject(change)
    where = f"line {change.line}" if isinstance(change.line, int) else f"cell {change.line}"
    subject = f"{where if change.line is not None else 'new'}{f' {named}' if named else ''}"
    old = number_words(change.before)
    new = number_words(change.after)
    if change.after is None:
        return f"{subject}: taken out (was {old})"
    return f"{subject}: {old or 'no number'} -> {new or 'no number'}"


def _compare_methods(done: Repair) -> list[str]:
    if not done.tried:
        return []
    from tacit.reports.repair import cost_rows

    lines = ["Methods"]
    for one in done.tried:
        names = ("rules_lost", "values_withheld", "support_error_max", "information_lost_share")
        costs = ", ".join(
            f"{name} {told}" for name, told in cost_rows({name: one.cost[name] for name in names if name in one.cost})
        )
        lines.append(f"  {one.method}: {one.verdict}; {costs}" if one.verdict else f"  {one.method}: not done; {one.reason}")
    if done.suggested is None:
        return [*lines, "Suggested  none: no method meets the policy"]
    same = " (this one)" if done.suggested == done.method else f": tacit repair .. --method {done.suggested}"
    return [*lines, f"Suggested  {done.suggested}{same}, which loses the least information of those that meet the policy"]
