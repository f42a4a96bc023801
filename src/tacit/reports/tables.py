"""What an audit of a table with blank cells says, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.model.audit import Audit

#: What each measure of a reading is called, in the order in which they are told.
_READINGS = {
    "rule_confidence": "of a rule, blanks counted as another value",
    "known_only_confidence": "among known values only",
    "wildcard_confidence": "if a blank condition fits every value",
    "null_share_confidence": "of one value among the blanks (the owner knows)",
    "model_posterior": "by naive Bayes",
    "entropy_posterior": "by the largest entropy that shows all rules with one condition",
}


def is_table(audit: Audit) -> bool:
    """Whether the audit is about a table."""
    return any(release["kind"] == "table" for release in audit.release)


def sentence(audit: Audit) -> str:
    """The verdict in terms of records; empty where that says nothing about tables."""
    runs = {run.code: run for run in audit.runs if run.status in ("ran", "stopped")}
    if audit.verdict == "clean":
        kept = []
        if "T01" in runs:
            kept.append("no rule tells a sensitive cell")
        if "T02" in runs:
            kept.append("no other reading of the blanks does" if kept else "no reading of the blanks tells a sensitive cell")
        return f"{', and '.join(kept)}, by the attacks that ran."
    if audit.verdict == "incomplete":
        return ""
    parts = []
    if (rules := runs.get("T01")) and rules.people:
        parts.append(f"rules tell the sensitive cell of {_records(rules.people)}")
    if (blanks := runs.get("T02")) and blanks.people:
        other = "other readings of the blanks" if parts else "readings of the blanks"
        parts.append(
            f"{other} tell that of {blanks.people:,}"
            if parts
            else f"{other} tell the sensitive cell of {_records(blanks.people)}"
        )
    return f"{'; '.join(parts)}." if parts else ""


def _records(number: int) -> str:
    return "1 record" if number == 1 else f"{number:,} records"


def hidden(release: Mapping[str, Any], measures: Mapping[str, Any], *, named: bool) -> str:
    """How many cells are hidden, by region; where columns may be named, how many are blank in each."""
    parts = []
    if "cells_hidden" in measures:
        regions = [
            f"{region} {measures[f'cells_hidden_{region}']:,}"
            for region in ("ns", "nc", "sc")
            if f"cells_hidden_{region}" in measures
        ]
        told = f" ({', '.join(regions)})" if regions else ""
        parts.append(f"{measures['cells_hidden']:,} cells hidden{told}")
    if named and (columns := release.get("blank_cells")):
        parts.append("blank cells by column: " + ", ".join(f"{name} {count:,}" for name, count in columns.items()))
    return "; ".join(parts) or "none"


def policy(audit: Audit) -> str:
    """What the publisher accepts."""
    limits = audit.policy.to_dict()
    return (
        f"no rule may tell a sensitive cell with a confidence above {limits['min_confidence']:g} "
        f"and a support above {_records(limits['min_support'])}"
    )


def readings(audit: Audit) -> list[str]:
    """The largest confidence that each reading of the table gives, one sentence each."""
    if not is_table(audit):
        return []
    known = {name: audit.measures.get(name) for name in _READINGS}
    limit, out = audit.policy.to_dict()["min_confidence"], []
    for name, value in known.items():
        if value is not None:
            inferred = audit.measures.get(name.replace("_posterior", "_inferred")) if name.endswith("_posterior") else 0
            over = f", above {limit:g} for {_records(int(inferred))}" if inferred else ""
            out.append(f"{value:.3f} {_READINGS[name]}{over}")
    return out


def next_steps(audit: Audit) -> list[str]:
    """What the owner can do now."""
    if audit.verdict == "exposed":
        limits = audit.policy.to_dict()
        bars = f"--min-confidence {limits['min_confidence']:g} --min-support {limits['min_support']}"
        hide = f"tacit hide DATA --qi .. --sa .. --rows FILE --may-hide sc --method uniform {bars} -o OUT"
        return ["Do not publish this table as it is.", f"Hide condition cells of the sensitive records: {hide}."]
    if audit.verdict == "clean":
        return [
            "Clean holds for this table, these rows, these thresholds and the attacks that ran.",
            "Facts known from elsewhere, or other releases about the same people, may add to it.",
        ]
    return []
