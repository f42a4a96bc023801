"""``tacit audit``: attack a release and say what it gives away.

``tacit audit --suggest``: repairs that were really carried out and audited, with the commands to type.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from tacit.cli import options
from tacit.cli.options import Settings
from tacit.cli.output import check_outputs, coloured, emit, report_form, watched, width, write_file, wrote
from tacit.cli.program import OF_VERDICT
from tacit.cli.signals import disarm
from tacit.errors import OptionError

if TYPE_CHECKING:
    from tacit.model.audit import Audit
    from tacit.model.people import Gathered, People
    from tacit.model.release import Release

#: Options of an audit that the commands of a repair take as well, and how they are written.
READING = {
    "repair": ("n", "rounding", "only", "form", "missing", "missing_rule"),
    "audit": ("n", "rounding", "only", "form"),
    "bucketize": ("missing", "missing_rule"),
    "hide": ("missing", "missing_rule"),
    "tabulate": ("missing", "missing_rule"),
}


def _seconds(_ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """The seconds that are given, or the usual ones."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < float("inf"):
        remedy = "Write for instance --suggest 10, or put --suggest at the end of the line"
        raise OptionError("takes a number of seconds above 0", where=param.opts[0], remedy=remedy)
    return seconds


suggest = click.option(
    "--suggest",
    is_flag=False,
    flag_value="10",
    callback=_seconds,
    metavar="[SECONDS]",
    help="Where it is exposed: carry out and audit every repair that fits, for so many seconds, and name the cheapest clean ones "
    "with their commands.  [10]",
)


def with_suggestions(
    found: Audit, releases: Sequence[Release], paths: Sequence[str], how: Mapping[str, Any], given: Mapping[str, Any]
) -> Audit:
    """The audit with what could be done, where that was asked for and something is exposed."""
    if given["suggest"] is None or found.verdict != "exposed":
        return found
    from tacit.verbs.suggest import suggestions_for

    tried = suggestions_for(found, tuple(releases), seconds=given["suggest"], **how)
    files = {f"@{number}": path for number, path in enumerate(paths)} if len(paths) == len(releases) else {}
    for name, value in (("@data", given["data"]), ("@rows", given["rows"] or given["marks"])):
        files |= {name: value} if value else {}
    if len(given["knowledge"]) == 1:
        files["@knowledge"] = given["knowledge"][0]
    files |= {f"@out/{number + 1}": _beside(path) for number, path in enumerate(paths)}
    files["@out"] = _beside(paths[0])
    given_options = {verb: tuple(_words(given, names)) for verb, names in READING.items()}
    return replace(found, suggestions=replace(tried, files=files, options=given_options))


def _beside(path: str) -> str:
    """A name for the repaired file in the folder one works in.

    >>> _beside("out/list.csv.gz"), _beside("groups/"), _beside("rules")
    ('list-safer.csv.gz', 'groups-safer', 'rules-safer')
    """
    name = os.path.basename(os.path.normpath(path))
    stem, dot, ending = name.partition(".")
    return f"{stem}-safer{dot}{ending}" if stem else f"{name}-safer"


def _words(given: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Options that were given, to be given again."""
    return [word for name in names if given.get(name) is not None for word in ("--" + name.replace("_", "-"), str(given[name]))]


#: How many findings the record and the page write out, and how many of them the terminal shows, unless --top says otherwise.
TOP, TOP_ON_SCREEN = 10, 3


@click.command(
    "audit",
    epilog=options.examples(
        "tacit audit itemsets.csv",
        "tacit audit mlxtend.csv --n 30162 --k 10 --report audit.html",
        "tacit audit itemsets.csv --policy organisation.toml --date 2026-11-15 --acro for-checking",
        "tacit audit itemsets.csv --data adult.csv --json audit.json",
        "tacit audit itemsets.csv --data adult.csv --findings all.parquet",
        "tacit audit rules.csv --known register.csv --knowledge facts.csv --max-posterior 90%",
        "tacit audit buckets/ --knowledge negative.csv --l 6",
        "tacit audit itemsets.csv rules.csv --people same",
        "tacit audit last-year.csv this-year.csv --people left:0-3,joined:0-2",
        "tacit audit 2024/ 2025/ --people left:10,joined:0",
        "tacit audit published.csv --qi age,sex --sa job --rows rows.txt --data original.csv --min-confidence 0.6 --min-support 60",
    ),
)
@click.argument("releases", nargs=-1, required=True, metavar="RELEASE...")
@options.data
@click.option(
    "--known",
    metavar="DATA",
    help="The QI columns of everybody, as an adversary may have them: for rules, itemsets and frequency tables, and several releases.",
)
@click.option(
    "--knowledge",
    multiple=True,
    metavar="FILE",
    help="For people who are known, or listed by a bucketized release: facts about groups of them, or negative rules, that the adversary "
    "knows as well (repeatable).",
)
@click.option(
    "--people",
    metavar="HOW",
    help="For several releases: how their people hang together: same, nested (each one's are among those of the one before), "
    "left:0-3,joined:0-2 (since the one before), same,changed:COLUMN:0-2 (so many have another value there), or unknown.  [same, where n is]",
)
@options.roles
@options.missing
@options.long_table
@options.hierarchies
@options.release_file
@options.frequency_table
@options.policy
@options.of_tables
@click.option(
    "--attack",
    "attacks",
    multiple=True,
    metavar="CODE",
    help="Run only the attack with this code (repeatable); see tacit attacks.",
)
@click.option(
    "--algorithm",
    type=click.Choice(["projection", "naive", "oicd", "pmicd"]),
    default="projection",
    help="How I01 searches: its own way, or as a paper says (slower, the same findings).  [projection]",
)
@click.option(
    "--top",
    type=int,
    callback=options.not_negative,
    metavar="N",
    help=f"How many findings to write out, the worst first.  [{TOP}]",
)
@click.option(
    "--findings",
    "findings_to",
    metavar="FILE",
    help="Write every finding to FILE (.parquet, .csv, .csv.gz) while it is found, however many there are.",
)
@click.option("--first-hit", is_flag=True, help="Stop at the first finding: enough for a yes or no.")
@options.report
@click.option(
    "--acro",
    "acro_to",
    metavar="DIR",
    help="Write a folder in ACRO's record layout, which SACRO-Viewer opens: results.json, config.json, checksums, the release.",
)
@click.option(
    "--report-kind",
    type=click.Choice(["internal", "external"]),
    default="internal",
    help="internal names the groups; external holds counts only, in the report, the record and the text.  [internal]",
)
@suggest
@click.option("--quiet", "-q", is_flag=True, help="Print the verdict only: clean, exposed or incomplete.")
@options.running
def audit_command(releases: tuple[str, ...], json_to: str | None, report: str | None, **given: Any) -> int:
    """Attack a RELEASE file, or several files and folders together, and say what they give away.

    Reads Tacit's own files and those of mlxtend, arules, SPMF, Borgelt, Spark and PMML; of a bucketized release the folder that holds its
    two tables, qit.csv and st.csv; and tables of people with blank cells, whose columns --qi and --sa name. Of another folder, every release
    in it; beside others, its files are about the same people. Exit code: 0 clean, 1 exposed, 2 bad input, 3 incomplete.
    """
    data, kind, top = given["data"] or given["known"], given["report_kind"], _top(given)
    findings_to = given["findings_to"]
    if findings_to is not None and kind == "external":
        raise OptionError(
            "names groups of people, which an external report may not", where="--findings", remedy="Leave one of them out"
        )
    if given["acro_to"] is not None:
        from tacit.verbs.report import check_acro_folder

        check_acro_folder(given["acro_to"], inputs=releases, beside=[json_to, report, findings_to])
    check_outputs([json_to, report, findings_to], inputs=[*releases, *([data] if data else []), *given["knowledge"]])
    given["people"] = _people(given)
    settings = Settings.of(given, near=data, releases=releases)
    release, found = _audit(releases, settings)
    disarm()
    if findings_to is not None:
        wrote(findings_to)
    if report is not None:
        from tacit.verbs.report import report_bytes

        write_file(report, report_bytes(found, report_form(report), release=release, kind=kind, top=top))
    if given["acro_to"] is not None:
        from tacit.verbs.report import write_acro

        write_acro(found, given["acro_to"], releases=releases, kind=kind, top=top, today=given["date"])
        wrote(given["acro_to"])

    from tacit.reports.record import audit_record

    emit(audit_record(found, top=top, kind=kind), lambda: _text(found, release, settings, report), json_to=json_to)
    return OF_VERDICT[found.verdict]


def _top(given: Mapping[str, Any]) -> int:
    return TOP if given["top"] is None else given["top"]


def _audit(paths: tuple[str, ...], settings: Settings) -> tuple[Release | None, Audit]:
    """Read the release or the releases and attack them."""
    from tacit.verbs.audit import audit

    given = settings.given
    codes = [code.upper() for code in given["attacks"]] or None
    with watched("auditing") as progress:
        gathered = options.gather(paths, given, settings)
        release = gathered.releases[0]
        if len(gathered.releases) > 1:
            return None, _audit_together(gathered, paths, settings, progress)
        people = options.owners_data(release, settings)
        how: dict[str, Any] = {
            "data": people,
            "known": options.known_people(release, settings),
            "knowledge": list(given["knowledge"]) or None,
            "rows": options.rows_of(release, people, given),
            "people": given["people"],
            "policy": options.policy_of(release, settings),
        }
        found = audit(
            gathered,
            **how,
            attacks=codes,
            algorithm=given["algorithm"],
            first_hit=given["first_hit"],
            findings_to=given["findings_to"],
            time_limit=given["time_limit"],
            progress=progress,
        )
        found = with_suggestions(found, gathered.releases, paths, how, given)
    return release, found


def _audit_together(gathered: Gathered, paths: tuple[str, ...], settings: Settings, progress: Any) -> Audit:
    """Attack several releases together."""
    from tacit.verbs.audit import audit

    given, read = settings.given, gathered.releases
    rules = next((release for release in read if release.kind == "rules"), read[0])
    how: dict[str, Any] = {
        "data": options.owners_data(rules, settings) if given["data"] else None,
        "known": options.known_people(rules, settings),
        "knowledge": list(given["knowledge"]) or None,
        "rows": given["rows"],
        "people": given["people"],
        "policy": options.policy_of(read[0], settings),
    }
    found = audit(
        gathered,
        **how,
        attacks=[code.upper() for code in given["attacks"]] or None,
        algorithm=given["algorithm"],
        first_hit=given["first_hit"],
        findings_to=given["findings_to"],
        time_limit=given["time_limit"],
        progress=progress,
    )
    return with_suggestions(found, read, paths, how, given)


def _people(given: Mapping[str, Any]) -> People | None:
    """What is declared about the people of several releases."""
    from tacit.model.people import read_people

    return None if given["people"] is None else read_people(given["people"])


_COLOURS = {"clean": "green", "exposed": "red", "incomplete": "yellow"}


def _text(found: Audit, release: Release | None, settings: Settings, report: str | None) -> str:
    from tacit.reports.audit import audit_text

    given = settings.given
    if given["quiet"]:
        return f"{found.verdict}\n"
    shown = TOP_ON_SCREEN if given["top"] is None else given["top"]
    origin = settings.config.where if given["report_kind"] == "internal" else ""
    told = audit_text(found, release=release, top=shown, kind=given["report_kind"], origin=origin, width=width())
    told = coloured(found.verdict.upper(), _COLOURS[found.verdict]) + told.removeprefix(found.verdict.upper())
    files = {"Report": report, "Record for ACRO": given["acro_to"], "Findings": given["findings_to"]}
    return told + "".join(f"\n{what} written to {path}\n" for what, path in files.items() if path)
