"""``tacit audit``: attack releases and report what they reveal."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from tacit.cli import OF_VERDICT, disarm, options, reading
from tacit.cli.completion import complete_attacks
from tacit.cli.options import ReleaseOptions, command, option, refuse_external
from tacit.cli.output import check_outputs, coloured, emit, watched, write_file, write_reports, wrote
from tacit.cli.reading import Settings, load_settings
from tacit.model.errors import OptionError

if TYPE_CHECKING:
    from tacit.model.audit import Algorithm, Audit
    from tacit.model.people import Gathered
    from tacit.model.release import Release
    from tacit.model.repair import Suggestions

TOP = 10  #: Findings in the record and the report, unless --top is given.
TOP_ON_SCREEN = 3  #: Findings on the terminal, unless --top is given.
#: Options of an audit that the commands which make a release again take as well.
_OF_DATA = ("missing", "missing_rule", "bins")
#: Options that an audit and a repair have each for itself, and those that only several releases together take.
_OWN = frozenset({"json_to", "report", "suggest", "report_kind", "time_limit", "people"})
#: Options of an audit that say what is written or searched for, and not what is audited.
_OF_OUTCOME = frozenset(
    {
        *("findings_to", "acro_to", "mark_to", "signed_by", "sarif", "junit", "attacks", "algorithm", "first_hit", "top"),
        *("verbose", "quiet"),
    }
)
_COLOURS = {"clean": "green", "exposed": "red", "incomplete": "yellow"}


@dataclass(frozen=True, kw_only=True)
class AuditOptions(ReleaseOptions):
    """Options of an audit; they can be repaired if the command that does so is known."""

    releases: tuple[str, ...]
    attacks: tuple[str, ...]
    algorithm: Algorithm
    first_hit: bool
    top: int | None
    findings_to: str | None
    report: tuple[str, ...]
    sarif: str | None
    junit: str | None
    acro_to: str | None
    mark_to: str | None
    signed_by: str | None
    suggest: float | None
    verbose: bool
    quiet: bool
    rebuild: bool = False
    is_repairable: bool = True


def _seconds(_ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    with suppress(ValueError):
        if value is None or 0 < float(value) < float("inf"):
            return None if value is None else float(value)
    remedy = "Write for instance --suggest 10, or put --suggest at the end of the line"
    raise OptionError("takes a number of seconds above 0", where=param.opts[0], remedy=remedy)


def _one_line(_ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None and not (value.strip() and value.isprintable()):
        raise OptionError("takes a name of printable letters", where=param.opts[0], remedy="Write for instance 'A. Checker'")
    return value


@command(
    "audit",
    "tacit audit itemsets.csv",
    "tacit audit rules.csv --data adult.csv --report audit.html",
    "tacit audit last-year.csv this-year.csv --people left:0-3,joined:0-2",
    "tacit audit mlxtend.csv --n 30162 --k 10 --report audit.html",
    "tacit audit itemsets.csv --policy organisation.toml --date 2026-11-15 --acro for-checking",
    "tacit audit itemsets.csv --data adult.csv --json audit.json",
    "tacit audit itemsets.csv --data adult.csv --findings all.parquet",
    "tacit audit rules.csv --known register.csv --knowledge facts.csv --max-posterior 90%",
    "tacit audit crosstab.xlsx --by sex,job --mark checked.xlsx",
    "tacit audit acro_outputs/",
    "tacit audit buckets/ --knowledge negative.csv --l 6",
    "tacit audit itemsets.csv rules.csv --people same",
    "tacit audit tree1.dot tree2.dot tree3.dot --rebuild",
    "tacit audit 2024/ 2025/ --people left:10,joined:0",
    "tacit audit published.csv --qi age,sex --sa job --rows rows.txt --data original.csv --min-confidence 0.6 --min-support 60",
)
@click.argument("releases", nargs=-1, required=True, metavar="RELEASE...")
@options.data
@options.known
@options.knowledge
@options.withheld
@options.sa_order
@options.people
@options.any_data
@options.any_release
@option(
    "--attack CODE...",
    "Run only the attack with this code (repeatable); see tacit attacks.",
    into="attacks",
    rare=True,
    shell_complete=complete_attacks,
)
@option(
    "--algorithm",
    "How I01 searches: Tacit's way, or a paper's (slower, the same findings).  [projection]",
    type=click.Choice(["projection", "naive", "oicd", "pmicd"]),
    default="projection",
    rare=True,
)
@option(
    "--top N",
    f"How many findings to write out, the worst first.  [{TOP}]",
    rare=True,
    type=int,
    callback=options.not_negative,
    section=options.OUTPUT,
)
@option(
    "--findings FILE",
    "Write every finding to FILE (.parquet, .csv, .csv.gz) as soon as it is found.",
    into="findings_to",
    section=options.OUTPUT,
    rare=True,
)
@option(
    "--rebuild",
    "Prove how many people have a certain value in every column; releases of counts, also trees and forests.",
    is_flag=True,
    rare=True,
)
@option("--first-hit", "Stop at the first finding: enough for a yes or no.", is_flag=True, rare=True)
@options.report
@option(
    "--acro DIR",
    "Write a folder in ACRO's layout, which SACRO-Viewer opens: results.json, config.json, checksums, the release.",
    into="acro_to",
    section=options.OUTPUT,
    rare=True,
)
@option(
    "--signed-by NAME",
    "Who answers for the audit: named in the report and in the record.",
    callback=_one_line,
    section=options.OUTPUT,
    rare=True,
)
@option("--sarif FILE", "Write the worst findings as SARIF, for code scanning.", section=options.OUTPUT, rare=True)
@option("--junit FILE", "Write the outcome of each attack as JUnit, for build servers.", section=options.OUTPUT, rare=True)
@option(
    "--mark OUT.xlsx",
    "Write the release as a workbook with its exposed cells marked; one release in rows.",
    into="mark_to",
    section=options.OUTPUT,
    rare=True,
)
@option(
    "--suggest [SECONDS]",
    "If exposed, try every repair for this long; the commands of those that make it clean are printed, the cheapest first.  [10]",
    is_flag=False,
    flag_value="10",
    callback=_seconds,
    section=options.OUTPUT,
)
@option("--verbose -v", "Print everything: assumptions, attacks, estimates, whole proofs.", is_flag=True, section=options.OUTPUT)
@option("--quiet -q", "Print the verdict only: clean, exposed or incomplete.", is_flag=True, section=options.OUTPUT)
@options.running
def audit_command(**given: Any) -> int:
    """Attack one or more releases and report what they reveal.

    A RELEASE is a list of Tacit, mlxtend, arules, SPMF, Borgelt, Spark or PMML; a table of counts or a crosstab; a folder with the two
    tables of a bucketized release, qit.csv and st.csv; a table of people with blank cells, whose columns --qi and --sa name; the folder
    of an ACRO session; or a folder of releases, which are about the same people if other releases are given as well. Files are text,
    Parquet, JSON lines or Excel workbooks (FILE#SHEET). Exit code: 0 clean, 1 exposed, 2 bad input, 3 incomplete.
    """
    return run_audit(AuditOptions(**given))


def run_audit(asked: AuditOptions, gather: Callable[[Settings[AuditOptions]], Gathered] | None = None) -> int:
    """Audit the named releases, or those that ``gather`` returns, and write everything that was asked for."""
    outputs = [asked.json_to, *asked.report, asked.findings_to, asked.mark_to, asked.sarif, asked.junit]
    refuse_external(asked, "findings_to", "mark_to")
    if asked.mark_to is not None:
        from tacit.files.marked_workbooks import check_marked

        check_marked(asked.mark_to)
    if asked.acro_to is not None:
        from tacit.verbs.report import check_acro_folder

        check_acro_folder(asked.acro_to, inputs=asked.releases, beside=outputs)
    files = [path.rpartition("#")[0] or path for path in asked.releases]
    check_outputs(outputs, inputs=[*files, *asked.releases, asked.data or asked.known, *asked.knowledge])
    settings = load_settings(asked, near=asked.data or asked.known, releases=asked.releases)
    with watched("auditing") as progress:
        gathered, others = reading.read_audit_inputs(asked.releases, settings, None if gather is None else gather(settings))
        from tacit.verbs.audit import audit

        found = audit(
            gathered,
            **others,
            attacks=[code.upper() for code in asked.attacks] or None,
            progress=progress,
            **asked.pick("algorithm", "first_hit", "findings_to", "rebuild", "time_limit"),
        )
        if asked.suggest is not None and found.may_be_repaired:
            from tacit.verbs.suggest import suggestions_for

            progress(0.0)
            tried = suggestions_for(
                found,
                tuple(gathered.releases),
                seconds=asked.suggest,
                progress=progress,
                announce=lambda method: progress.stage(f"trying {method}"),
                **others,
            )
            found = replace(found, suggestions=_name_files(tried, asked, len(gathered.releases)))
    if asked.signed_by is not None:
        found = replace(found, signed_by=asked.signed_by)
    disarm()
    _write(found, gathered.releases[0] if len(gathered.releases) == 1 else None, settings)
    return OF_VERDICT[found.verdict]


def _name_files(tried: Suggestions, asked: AuditOptions, releases: int) -> Suggestions:
    """Return suggestions whose commands have the user's files and options."""
    paths = asked.releases
    files = {f"@{number}": path for number, path in enumerate(paths)} if len(paths) == releases else {}
    if asked.data:
        files["@data"] = asked.data
    if rows := asked.rows or asked.marks:
        files["@rows"] = rows
    files |= {"@known": asked.known} if asked.known else {}
    files |= {"@knowledge": asked.knowledge[0]} if asked.knowledge else {}  # of several, all take its place
    files |= {f"@out/{number}": _repaired_name(path) for number, path in enumerate(paths, start=1)}
    files["@out"] = _repaired_name(paths[0]) if len(paths) == 1 else "safer"
    given = _given_options()
    from tacit.cli.repair import repair_command

    known = {param.name for param in repair_command.params}
    repeated = {verb: [words for name, words in given.items() if name in _OF_DATA] for verb in ("bucketize", "hide", "tabulate")}
    repeated["repair"] = [words for name, words in given.items() if name in known - _OWN]
    repeated["audit"] = [words for name, words in given.items() if name not in _OWN | _OF_OUTCOME]
    at_once = repair_words(paths) if len(paths) != releases else ""
    return replace(tried, files=files, options={verb: tuple(words) for verb, words in repeated.items()}, at_once=at_once)


def _given_options() -> dict[str, tuple[str, ...]]:
    """Return the options of the command line by their fields, each as it is typed."""
    context = click.get_current_context()
    given: dict[str, tuple[str, ...]] = {}
    for param in context.command.params:
        name = param.name or ""
        if not isinstance(param, click.Option) or context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value: Any = context.params[name]
        if param.is_flag:
            given[name] = (param.opts[0] if value else param.secondary_opts[0],)
            continue
        values = value if param.multiple else (value,)
        given[name] = tuple(word for one in values for word in (param.opts[0], str(one)))
    return given


def _repaired_name(path: str) -> str:
    from tacit.files.header import writable_name

    name = writable_name(os.path.basename(os.path.normpath(path.rpartition("#")[0] or path)))
    stem, dot, ending = name.partition(".")
    return f"{stem}-safer{dot}{ending}" if stem else f"{name}-safer"


def _write(found: Audit, release: Release | None, settings: Settings[AuditOptions]) -> None:
    asked = settings.given
    kind = asked.report_kind
    top = TOP if asked.top is None else asked.top
    if asked.findings_to is not None:
        wrote(asked.findings_to)
    if asked.report:
        from tacit.reports.audit import audit_document

        repair = repair_words(asked.releases, names_only=True) if _has_repair(found, asked) else ""
        write_reports(asked.report, audit_document(found, release=release, top=top, kind=kind, repair=repair))
    if asked.sarif is not None or asked.junit is not None:
        from tacit.reports import machines

        if asked.sarif is not None:
            write_file(asked.sarif, machines.sarif(found, paths=_paths(found, asked), top=top, kind=kind))
        if asked.junit is not None:
            write_file(asked.junit, machines.junit(found, top=top, kind=kind))
    if asked.mark_to is not None:
        if release is None or not os.path.isfile(asked.releases[0].rpartition("#")[0] or asked.releases[0]):
            raise OptionError("applies to one release in one file", where="--mark", remedy="Remove the option")
        from tacit.verbs.marked import mark_release

        mark_release(found, release, asked.releases[0], asked.mark_to)
        wrote(asked.mark_to)
    if asked.acro_to is not None:
        from tacit.verbs.report import write_acro

        write_acro(found, asked.acro_to, releases=asked.releases, kind=kind, top=top, today=asked.today)
        wrote(asked.acro_to)

    def record() -> dict[str, Any]:
        from tacit.reports.record import audit_record

        return audit_record(found, top=top, kind=kind)

    if asked.quiet:
        emit(record, f"{found.verdict}\n", json_to=asked.json_to)
        return
    verdict = found.verdict.upper()

    def text(width: int) -> str:
        files = {"Report": ", ".join(asked.report), "ACRO record": asked.acro_to, "Findings": asked.findings_to}
        files |= {"SARIF": asked.sarif, "JUnit": asked.junit, "Marked workbook": asked.mark_to}
        written = "".join(f"\n{what} written to {path}\n" for what, path in files.items() if path)
        return _text(found, release, settings, width).removeprefix(verdict) + written

    emit(record, text, json_to=asked.json_to, head=coloured(verdict, _COLOURS[found.verdict]))


def _text(found: Audit, release: Release | None, settings: Settings[AuditOptions], width: int) -> str:
    asked = settings.given
    kind = asked.report_kind
    origin = settings.config.where if kind == "internal" else ""
    repair = repair_words(asked.releases) if _has_repair(found, asked) else ""
    if not asked.verbose:
        from tacit.reports.screen import brief_text

        return brief_text(found, release=release, kind=kind, repair=repair, origin=origin, top=asked.top, width=width)
    from tacit.reports.audit import audit_text

    top = TOP_ON_SCREEN if asked.top is None else asked.top
    return audit_text(found, release=release, top=top, kind=kind, repair=repair, origin=origin, width=width)


def _has_repair(found: Audit, asked: AuditOptions) -> bool:
    from tacit.reports.sentences import judges_classes

    is_worth_it = found.verdict == "exposed" or (found.may_be_repaired and bool(asked.data))
    is_repairable = asked.is_repairable and not judges_classes(found)
    return is_worth_it and asked.report_kind == "internal" and is_repairable


def _paths(found: Audit, asked: AuditOptions) -> Sequence[str]:
    """Return the files of the releases as they were given, or by name where folders were."""
    return asked.releases if len(asked.releases) == len(found.release) else [entry["file"] for entry in found.release]


def repair_words(paths: Sequence[str], *, names_only: bool = False) -> str:
    """Return the command that repairs these files, with the options that were given.

    ``names_only`` leaves the folders of absolute paths out, for files that others read.
    """
    from tacit.cli.repair import repair_command

    known = {param.name for param in repair_command.params} - _OWN | {"people"}
    words = ["tacit", "repair", *paths]
    words += [word for name, typed in _given_options().items() if name in known for word in typed]
    words += ["-o", _repaired_name(paths[0]) if len(paths) == 1 else "safer"]
    if names_only:
        words = [os.path.basename(os.path.normpath(word)) if os.path.isabs(word) else word for word in words]
    return shlex.join(words)
