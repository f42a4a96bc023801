"""What every form of report says about an audit, in rows: attacks, measures, files, and what a finding rests on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tacit.measures.table import MEASURES
from tacit.model.audit import Audit
from tacit.model.finding import Finding
from tacit.reports.summary import ReportKind, Summary, counted, described, finds_groups, reason, thresholds, visible
from tacit.version import __version__

SENSITIVE: dict[ReportKind, str] = {
    "internal": "Internal report: it describes groups of people. Keep it with the data.",
    "external": "External report: it holds counts only, no description of a group, no value and no name of a column.",
}
ATTACK_COLUMNS = ("Code", "Attack", "Claim", "Status", "Findings", "Waived", "Undecided", "Why")
SKIPPED_COLUMNS = ("Code", "Attack", "Why it does not apply")
SKIPPED_CAPTION = "Attacks that do not apply to what was audited"
ATTACKS_CAPTION = "What became of each attack, and why. “Proves”: true in every database that fits the release."
MEASURE_COLUMNS = ("Measure", "Value", "Unit", "Meaning")
LIMIT_COLUMNS = ("Limit", "Value", "Set by", "Meaning")
WAIVER_COLUMNS = ("About", "Accepted by", "Reason", "Until", "Outcome")
_LIMIT_OF = {"buckets": "Groups", "table": "Blanks"}


def title(audit: Audit) -> str:
    """The heading of a report."""
    return f"Tacit: what {'this release gives' if len(audit.release) == 1 else 'these releases give'} away"


def tiles(audit: Audit, summary: Summary) -> list[tuple[int, str]]:
    """The few numbers that matter; none is shown that was not decided."""
    entries: list[tuple[int, str]] = []
    if audit.verdict != "incomplete" and finds_groups(audit):
        entries.append((summary.groups, f"groups of {summary.span} that can be computed"))
    if summary.groups:
        entries += [(summary.single, "of them a single person"), (summary.people, "people concerned at least")]
    if joint := len(joint_findings(audit)):
        more = " at least" if joint and audit.attack("X01").findings > _MOST_LOOKED_AT else ""
        entries.append((joint, f"groups that need more than one release{more}"))
    if summary.waived:
        entries.append((summary.waived, "findings that somebody accepts"))
    if "vulnerable" in audit.measures:
        entries.append((int(audit.measures["vulnerable"]), f"people who keep fewer than {counted(summary.l, 'possible value')}"))
    if "people_certain" in audit.measures:
        entries.append((int(audit.measures["people_certain"]), "people whose sensitive value is certain"))
    if "people_above_90" in audit.measures:
        entries.append((int(audit.measures["people_above_90"]), "people whose sensitive value is estimated above 0.9"))
    for name, what in (("records_told", "records told by a rule"), ("cells_hidden", "cells hidden")):
        if name in audit.measures:
            entries.append((int(audit.measures[name]), what))
    if "smallest_count" in audit.measures:
        entries.append((audit.measures["smallest_count"], "people in the smallest published count"))
    return entries


JOINT_TITLE = "Findings that need more than one release"
#: So many findings of X01 are looked at to see which files they need.
_MOST_LOOKED_AT = 2_000


def joint_findings(audit: Audit) -> list[Finding]:
    """The findings that no single release tells, worst first; of very many, among the worst of them."""
    if len(audit.release) == 1:
        return []
    run = next((run for run in audit.runs if run.code == "X01"), None)
    if run is None or run.show is None:
        return []
    owner = audit.runs.index(run)
    shown = [index for index in range(min(len(run.severity), _MOST_LOOKED_AT)) if audit.waived.waiver_of(owner, index) is None]
    return [finding for finding in map(run.show, shown) if len({one.release for one in finding.because}) > 1]


def attacks(audit: Audit, kind: ReportKind) -> Iterator[tuple[str, ...]]:
    """One row for each attack that was wanted, also where it could not run."""
    for owner, run in enumerate(audit.runs):
        if run.status == "not-relevant":
            continue
        looked = run.status in ("ran", "stopped")
        numbers = (run.findings, audit.waived.number(owner), run.undecided)
        counts = tuple(f"{number:,}" for number in numbers) if looked else ("-", "-", "-")
        yield run.code, run.name, run.claim, run.status, *counts, reason(audit, run, kind) or "-"


def skipped(audit: Audit, kind: ReportKind) -> list[tuple[str, str, str]]:
    """One row for each attack that does not apply, and why."""
    return [(run.code, run.name, reason(audit, run, kind) or "-") for run in audit.runs if run.status == "not-relevant"]


def measures(audit: Audit) -> Iterator[tuple[str, str, str, str]]:
    """One row for each measure of the record: its name, value, unit and meaning."""
    known = {measure.name: measure for measure in MEASURES}
    for name, value in audit.measures.items():
        if (measure := known.get(name)) is not None:
            yield name, number(value), measure.unit, measure.meaning.replace("`", "")


def number(value: Any) -> str:
    """A measure as it is shown.

    >>> number(30162), number(0.123456789), number(None), number(float("inf")), number(1e-9)
    ('30,162', '0.123457', 'not counted', 'infinite', '1e-09')
    """
    if value is None:
        return "not counted"
    if isinstance(value, float) and not value.is_integer():
        return f"{value:.6g}" if abs(value) != float("inf") else "infinite"
    return f"{int(value):,}"


def files(audit: Audit, kind: ReportKind) -> list[tuple[str, str]]:
    """What was audited and by what: every file with its SHA-256."""
    rows: list[tuple[str, str]] = []
    for release in audit.release:
        limit = _LIMIT_OF.get(release["kind"], "Threshold")
        rows += [("Release", described(release, kind)), (limit, thresholds(release, audit.measures, kind))]
        rows.append(("SHA-256", release["sha256"] or "not read from a file"))
    for entry in audit.inputs:
        name = visible(entry["file"]) if kind == "internal" else "a file"
        rows += [(entry["role"].capitalize(), name), ("SHA-256", entry["sha256"] or "not read from a file")]
    for file in audit.policy.files:
        rows += [("Policy", file.name if kind == "internal" else f"a file of the {file.level}"), ("SHA-256", file.sha256)]
    return [*rows, ("Tacit", __version__)]


def cited(finding: Finding, audit: Audit) -> str:
    """Which of several releases a finding rests on; empty where there is one, or where it cites none."""
    places = sorted({citation.release for citation in finding.because})
    if len(audit.release) == 1 or not places:
        return ""
    names = [visible(str(audit.release[place].get("file") or f"release {place + 1}")) for place in places]
    return f"rests on {names[0]} alone" if len(names) == 1 else f"needs {' and '.join([', '.join(names[:-1]), names[-1]])}"
