"""Audits for other programs: SARIF for code scanning, JUnit for build servers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from tacit.model.audit import AttackRun, Audit
from tacit.model.finding import Finding
from tacit.model.version import __version__
from tacit.reports import sentences
from tacit.reports.document import ReportKind
from tacit.reports.sentences import headline

SARIF_VERSION = "2.1.0"
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(audit: Audit, *, paths: Sequence[str], top: int, kind: ReportKind = "internal") -> bytes:
    """Return the worst findings as a SARIF log.

    ``paths`` are the files of the releases as they were given. What could not be decided is a notification, so that nobody takes a log without
    results for a clean verdict.
    """
    results = [_result(finding, paths, kind) for finding in audit.findings[:top]]
    undecided = [run for run in audit.runs if run.status != "not-relevant" and not run.decides]
    notes = [
        {"level": "warning", "message": {"text": _outcome(audit, run, kind)}, "descriptor": {"id": run.code}} for run in undecided
    ]
    driver = {
        "name": "tacit",
        "version": __version__,
        "rules": [{"id": run.code, "name": run.name} for run in audit.runs if run.status != "not-relevant"],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": audit.verdict != "incomplete", "toolExecutionNotifications": notes}],
        "results": results,
        "properties": {
            "verdict": audit.verdict,
            "headline": headline(audit),
            "findings": sum(one.findings for one in audit.runs),
        },
    }
    log = {"$schema": SARIF_SCHEMA, "version": SARIF_VERSION, "runs": [run]}
    return (json.dumps(log, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "backslashreplace")


def _result(finding: Finding, paths: Sequence[str], kind: ReportKind) -> dict[str, Any]:
    level = "note" if finding.waived else "error"
    if kind == "external":
        return {"ruleId": finding.code, "level": level, "message": {"text": sentences.counted_only(finding)}}
    out: dict[str, Any] = {"ruleId": finding.code, "level": level, "message": {"text": finding.statement}}
    cited = [one for one in finding.because if isinstance(one.at, int) and one.release < len(paths)]
    out["locations"] = [
        {"physicalLocation": {"artifactLocation": {"uri": paths[one.release]}, "region": {"startLine": one.at}}}
        for one in cited[:10]
    ]
    out["partialFingerprints"] = {"tacit/v1": finding.id}
    if finding.waived:
        out["suppressions"] = [{"kind": "external", "justification": f"{finding.waived.name}: {finding.waived.reason}"}]
    return out


def junit(audit: Audit, *, top: int, kind: ReportKind = "internal") -> bytes:
    """Return an audit as a JUnit suite with a case for each attack."""
    suite = ElementTree.Element("testsuite", name="tacit")
    counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    findings = audit.findings[:top]
    for run in audit.runs:
        case = ElementTree.SubElement(suite, "testcase", classname="tacit.audit", name=f"{run.code} {run.name}")
        counts["tests"] += 1
        outcome = _outcome(audit, run, kind)
        if audit.counted(run.code):
            counts["failures"] += 1
            told = ElementTree.SubElement(case, "failure", message=outcome)
            own = [one for one in findings if one.code == run.code]
            told.text = "\n".join(
                sentences.counted_only(one) if kind == "external" else f"{one.statement} [{one.id}]" for one in own
            )
        elif run.status == "not-relevant":
            counts["skipped"] += 1
            ElementTree.SubElement(case, "skipped", message=outcome)
        elif not run.decides:
            counts["errors"] += 1
            ElementTree.SubElement(case, "error", message=outcome)
    verdict = ElementTree.SubElement(suite, "testcase", classname="tacit.audit", name="verdict")
    counts["tests"] += 1
    if audit.verdict != "clean":
        name = "failure" if audit.verdict == "exposed" else "error"
        counts["failures" if name == "failure" else "errors"] += 1
        ElementTree.SubElement(verdict, name, message=headline(audit))
    for name, number in counts.items():
        suite.set(name, str(number))
    ElementTree.indent(suite)
    text: bytes = ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _outcome(audit: Audit, run: AttackRun, kind: ReportKind) -> str:
    waived = sum(audit.waived.number(owner) for owner, one in enumerate(audit.runs) if one is run)
    return sentences.outcome(run, waived=waived, because=sentences.reason(audit, run, kind))
