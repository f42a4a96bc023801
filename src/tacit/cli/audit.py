"""``tacit audit``: attack a release and say what it gives away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from tacit.cli import options
from tacit.cli.output import check_outputs, emit, watched, width, write_file
from tacit.cli.program import OF_VERDICT
from tacit.cli.settings import ROLES, Settings
from tacit.errors import OptionError

if TYPE_CHECKING:
    from tacit.model.audit import Audit
    from tacit.model.release import Release

#: How many findings the record and the page write out, and how many of them the terminal shows, unless --top says otherwise.
TOP, TOP_ON_SCREEN = 10, 3


@click.command(
    "audit",
    epilog=options.examples(
        "tacit audit itemsets.csv",
        "tacit audit mlxtend.csv --n 30162 --k 10 --report audit.html",
        "tacit audit itemsets.csv --data adult.csv --json audit.json",
    ),
)
@click.argument("releases", nargs=-1, required=True, metavar="RELEASE...")
@click.option("--data", metavar="DATA", help="The data the release was made from: the same findings, found faster.")
@options.roles
@options.missing
@click.option("--n", type=int, metavar="N", help="The number of people, where the file does not say it.")
@click.option(
    "--rounding", type=click.Choice(["nearest", "truncated", "unknown"]), help="How the file's numbers were printed.  [nearest]"
)
@click.option(
    "--only", type=click.Choice(["all", "closed", "maximal"]), help="Which itemsets the file lists, where it does not say it."
)
@click.option("--form", metavar="FORM", help="The form of the file, such as mlxtend or spmf; by default its content decides.")
@click.option("--k", type=int, metavar="K", help="The smallest group the policy allows.  [10]")
@click.option(
    "--attack",
    "attacks",
    multiple=True,
    metavar="CODE",
    help="Run only the attack with this code (repeatable); see tacit attacks.",
)
@click.option(
    "--top",
    type=int,
    callback=options.not_negative,
    metavar="N",
    help=f"How many findings to write out, the worst first.  [{TOP}]",
)
@click.option("--report", metavar="FILE.html", help="Write a self-contained HTML report.")
@click.option(
    "--report-kind",
    type=click.Choice(["internal", "external"]),
    default="internal",
    help="internal names the groups; external holds counts only, in the report, the record and the text.  [internal]",
)
@click.option("--quiet", "-q", is_flag=True, help="Print the verdict only: clean, exposed or incomplete.")
@options.running
def audit_command(releases: tuple[str, ...], json_to: str | None, report: str | None, **given: Any) -> int:
    """Attack a RELEASE file and say what it gives away.

    Reads Tacit's own files and those of mlxtend, arules, SPMF, Borgelt, Spark and PMML. Exit code: 0 clean, 1 exposed, 2 bad input,
    3 incomplete.
    """
    if len(releases) > 1:
        raise OptionError("takes one release at a time", where="tacit audit", remedy="Audit each file by itself")
    data, kind, top = given["data"], given["report_kind"], _top(given)
    check_outputs([json_to, report], inputs=[*releases, *([data] if data else [])])
    settings = Settings.of(given, near=data or releases[0])
    release, found = _audit(releases[0], settings)
    if report is not None:
        from tacit.reports.html import audit_html

        write_file(report, audit_html(found, release=release, top=top, kind=kind).encode())

    from tacit.reports.record import audit_record

    emit(audit_record(found, top=top, kind=kind), lambda: _text(found, settings, report), json_to=json_to)
    return OF_VERDICT[found.verdict]


def _top(given: Mapping[str, Any]) -> int:
    return TOP if given["top"] is None else given["top"]


def _audit(path: str, settings: Settings) -> tuple[Release, Audit]:
    """Read the release and attack it."""
    from tacit.api import audit, read_release

    given = settings.given
    with watched("auditing") as progress:
        release = read_release(
            path, n=given["n"], rounding=given["rounding"] or "nearest", only=given["only"], form=given["form"]
        )
        people = settings.read(given["data"], header=release.header) if given["data"] else None
        _refuse_idle(given)
        codes = [code.upper() for code in given["attacks"]] or None
        found = audit(
            release, data=people, policy=settings.policy, attacks=codes, time_limit=given["time_limit"], progress=progress
        )
    return release, found


def _refuse_idle(given: Mapping[str, Any]) -> None:
    """Raise when an option is given that has nothing to act on."""
    for name in (*ROLES, "engine"):
        if given[name] and not given["data"]:
            option = "--" + name.replace("_", "-")
            raise OptionError(
                "says how to read the data, and there are none", where=option, remedy="Give them with --data, or leave it out"
            )


def _text(found: Audit, settings: Settings, report: str | None) -> str:
    from tacit.reports.text import audit_text

    given = settings.given
    if given["quiet"]:
        return f"{found.verdict}\n"
    shown = TOP_ON_SCREEN if given["top"] is None else given["top"]
    told = audit_text(found, top=shown, kind=given["report_kind"], origin=settings.config.where, width=width())
    return f"{told}\nReport written to {report}\n" if report else told
