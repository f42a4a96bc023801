"""Audits in ACRO's record layout, which SACRO-Viewer opens.

ACRO knows one status for each output: pass, fail or review. One audit is one output with all its files, since they have one verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from tacit.model.audit import Audit, Verdict
from tacit.model.version import __version__
from tacit.reports import sentences
from tacit.reports.document import ReportKind, visible
from tacit.reports.sentences import Summary, reason

ACRO_VERSION = "0.4.8"  #: The version of the layout; the Viewer takes no other.
#: The name of the one output.
OUTPUT = "output_0"
TOOL = "Tacit"
STATUS: dict[Verdict, str] = {"clean": "pass", "exposed": "fail", "incomplete": "review"}
COUNTS_FILE = "attacks.csv"  #: The table of counts in place of a release that may not be shown.


def results(
    audit: Audit, files: Sequence[Mapping[str, Any]], *, kind: ReportKind, timestamp: str, remarks: Sequence[str] = ()
) -> dict[str, Any]:
    """Return ``results.json`` for the entries in ``files``."""
    summary = Summary(audit)
    said = summary.sentence().removesuffix(".")
    accepted = sentences.waiver_sentences(audit, kind)
    names = " ".join(str(release.get("file") or "RELEASE") for release in audit.release) if kind == "internal" else "RELEASE"
    output = {
        "uid": OUTPUT,
        "status": STATUS[audit.verdict],
        "type": "custom",
        "properties": {
            "method": " and ".join(dict.fromkeys(str(release["kind"]) for release in audit.release)),
            "tool": TOOL,
            "tool_version": __version__,
            "verdict": audit.verdict,
            "report_kind": kind,
        },
        "files": [dict(file) for file in files],
        "outcome": _outcome(audit, kind),
        "command": f"tacit audit {names}",
        "summary": _escape("; ".join([STATUS[audit.verdict], said, *(caution.text for caution in audit.cautions)])),
        "timestamp": timestamp,
        "comments": [
            *map(_escape, (*remarks, *sentences.files_not_read(audit, kind), *sentences.assumptions(audit, kind))),
            *(_escape("".join(step)) for step in sentences.next_steps(audit)),
        ],
        "exception": _escape("; ".join(accepted)),
    }
    return {"version": ACRO_VERSION, "results": {OUTPUT: output}}


def sdc(audit: Audit, place: int, rows: Mapping[str, Sequence[Sequence[int]]]) -> dict[str, Any]:
    """Return a file's findings by attack, and cells."""
    counted = {run.code: audit.counted(run.code) for run in audit.runs if run.status in ("ran", "stopped")}
    undecided = sum(run.undecided for run in audit.runs)
    summary = {"suppressed": False, "release": place, "waived": len(audit.waived.places), "undecided": undecided, **counted}
    return {"summary": summary, "cells": {code: [list(cell) for cell in cells] for code, cells in rows.items()}}


def flagged(audit: Audit, place: int, column: int, *, top: int) -> dict[str, list[tuple[int, int]]]:
    """Return the cells of the worst findings, by attack.

    Row 0 is the first row below the heading. The first column is the name of a row, so column 0 is the second.
    """
    cells: dict[str, dict[tuple[int, int], None]] = {}
    for finding in audit.findings[:top]:
        lines = (one.place for one in finding.because if one.release == place and isinstance(one.place, int) and one.place > 1)
        for line in lines:
            cells.setdefault(finding.code, {})[line - 2, column] = None
    return {code: list(found) for code, found in cells.items()}


def counts_csv(audit: Audit) -> str:
    """Return the attacks with their counts as CSV."""
    columns = ("claim", "status", "findings", "waived", "undecided")
    rows = [",".join([code, *(str(row[name]) for name in columns)]) for code, row in _outcome(audit, "external").items()]
    return "\n".join([",".join(("attack", *columns)), *rows]) + "\n"


def _outcome(audit: Audit, kind: ReportKind) -> dict[str, dict[str, Any]]:
    rows = {}
    for owner, run in enumerate(audit.runs):
        row = {"name": run.name, "claim": run.claim, "status": run.status, "findings": run.findings}
        row |= {"waived": audit.waived.number(owner), "undecided": run.undecided, "reason": reason(audit, run, kind)}
        rows[run.code] = row
    return rows


def _escape(text: str) -> str:
    """Escape text for the Viewer, which renders HTML."""
    return escape(visible(text), quote=False)
