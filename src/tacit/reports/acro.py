"""An audit in ACRO's record layout, which SACRO-Viewer opens: what is written into its folder, as plain values.

ACRO knows one status for each output: pass, fail or review. One audit is one output, with all files that it is about: their verdict is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from tacit.model.audit import Audit, Verdict
from tacit.model.version import __version__
from tacit.reports import words
from tacit.reports.words import ReportKind, Summary, assumptions, files_not_read, next_steps, reason, visible

#: The Viewer takes records of this version and no other; its layout is what is followed here.
ACRO_VERSION = "0.4.8"
#: The name of the one output.
OUTPUT = "output_0"
TOOL = "Tacit"
STATUS: dict[Verdict, str] = {"clean": "pass", "exposed": "fail", "incomplete": "review"}
#: The table of counts that stands for the release where the release itself may not be shown.
COUNTS_FILE = "attacks.csv"


def results(
    audit: Audit, files: Sequence[Mapping[str, Any]], *, kind: ReportKind, timestamp: str, remarks: Sequence[str] = ()
) -> dict[str, Any]:
    """The content of ``results.json``; ``files`` are the entries of the files that would leave."""
    summary = Summary.of(audit)
    said = summary.sentence().removesuffix(".")
    accepted = words.waiver_sentences(audit, kind)
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
        "summary": _marked("; ".join([STATUS[audit.verdict], said, *(caution.text for caution in audit.cautions)])),
        "timestamp": timestamp,
        "comments": [
            _marked(one)
            for one in (*remarks, *files_not_read(audit, visible, kind), *assumptions(audit, kind), *next_steps(audit))
        ],
        "exception": _marked("; ".join(accepted)),
    }
    return {"version": ACRO_VERSION, "results": {OUTPUT: output}}


def config(audit: Audit) -> dict[str, Any]:
    """The content of ``config.json``: the limits under ACRO's names where it has them."""
    return audit.policy.to_dict()


def sdc(audit: Audit, place: int, rows: Mapping[str, Sequence[Sequence[int]]]) -> dict[str, Any]:
    """What the checks say about one file: findings by attack, and the cells that those written out rest on."""
    counted = {run.code: audit.counted(run.code) for run in audit.runs if run.status in ("ran", "stopped")}
    waived, undecided = len(audit.waived.places), sum(run.undecided for run in audit.runs)
    summary = {"suppressed": False, "release": place, "waived": waived, "undecided": undecided, **counted}
    return {"summary": summary, "cells": {code: [list(cell) for cell in cells] for code, cells in rows.items()}}


def flagged(audit: Audit, place: int, column: int, *, top: int) -> dict[str, list[tuple[int, int]]]:
    """The cells of a CSV file that the worst findings cite, by attack: rows and columns as ACRO counts them.

    The first row below the heading is row 0; the first column is no cell but the row's name, so the second is column 0.
    """
    cells: dict[str, dict[tuple[int, int], None]] = {}
    for finding in audit.findings[:top]:
        lines = (one.place for one in finding.because if one.release == place and isinstance(one.place, int) and one.place > 1)
        for line in lines:
            cells.setdefault(finding.code, {})[line - 2, column] = None
    return {code: list(found) for code, found in cells.items()}


def counts_csv(audit: Audit) -> str:
    """The attacks with their counts as CSV."""
    columns = ("claim", "status", "findings", "waived", "undecided")
    rows = [",".join([code, *(str(row[name]) for name in columns)]) for code, row in _outcome(audit, "external").items()]
    return "\n".join([",".join(("attack", *columns)), *rows]) + "\n"


def _outcome(audit: Audit, kind: ReportKind) -> dict[str, dict[str, Any]]:
    """What became of each attack."""
    rows = {}
    for owner, run in enumerate(audit.runs):
        row = {"name": run.name, "claim": run.claim, "status": run.status, "findings": run.findings}
        row |= {"waived": audit.waived.number(owner), "undecided": run.undecided, "reason": reason(audit, run, kind)}
        rows[run.code] = row
    return rows


def _marked(text: str) -> str:
    """Text as the Viewer shows it: it takes what is written here for HTML."""
    return escape(visible(text), quote=False)
