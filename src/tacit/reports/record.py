"""Records: one reproducible JSON object per command."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from tacit.model.audit import BINDING, Audit, bound, tool
from tacit.model.measures import Verification
from tacit.reports.document import WIDTH, ReportKind, bullet, counted
from tacit.reports.sentences import headline, reason


def dump(record: dict[str, Any]) -> bytes:
    """Return the record as indented UTF-8."""
    return (json.dumps(record, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode("utf-8", "backslashreplace")


def with_headline(record: dict[str, Any], said: str) -> dict[str, Any]:
    """Return a record with program and headline."""
    first = {name: record[name] for name in ("format",) if name in record}
    whole = first | {"tool": tool(), "headline": said} | {name: value for name, value in record.items() if name not in first}
    return bound(whole) if BINDING in record else whole


def audit_record(audit: Audit, *, top: int, kind: ReportKind = "internal") -> dict[str, Any]:
    """Return an audit's record; external: counts only."""
    if kind == "internal":
        return with_headline(audit.to_dict(top=top), headline(audit))
    # Ids are hashes of what is inferred, so short descriptions could be guessed from them: they stay inside.
    record = audit.to_dict(top=0) | {"report_kind": "external"}
    record["release"] = [_without_names(entry) | {"file": None} for entry in record["release"]]
    for name in ("not_read", "ignored"):
        if name in record:
            record[name] = [{"file": None, "reason": None} for _ in record[name]]
    record["adversary"] = _without_names(record["adversary"])
    if "estimates" in record:
        kept = ("attack", "method", "combinations", "baseline_is_published", "outside_bounds")
        found = record["estimates"]
        record["estimates"] = [_pick(one, kept) for one in found] if isinstance(found, list) else _pick(found, kept)
    if "measures_by_column" in record:
        numbered = enumerate(record["measures_by_column"].values(), start=1)
        record["measures_by_column"] = {f"column {number}": measures for number, measures in numbered}
    if "rebuilt" in record:
        record["rebuilt"] = _pick(record["rebuilt"], ("people", "at_most", "all_but_one", "n", "undecided", "worlds"))
    for entry, run in zip(record["attacks"], audit.runs, strict=True):
        entry["reason"] = reason(audit, run, kind)
    record["inputs"] = [entry | {"file": None} for entry in record["inputs"]]
    record["policy_files"] = [file | {"file": None} for file in record["policy_files"]]
    record["waivers"] = [_pick(waiver, ("name", "until", "status", "findings")) for waiver in record["waivers"]]
    if "suggestions" in record:
        record["suggestions"] = [_pick(one, ("method", "verdict", "loss", "loss_measure")) for one in record["suggestions"]]
    record["options"] = {"top": top}
    record["findings"] = []
    for finding in audit.findings[:top]:
        waived = {"waived": {"name": finding.waived.name}} if finding.waived else {}
        record["findings"].append({"code": finding.code, "count": finding.count.to_list()} | waived)
    return with_headline(record, headline(audit))


def _pick(entry: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: entry[name] for name in names}


#: Texts that say nothing about a data set.
_HARMLESS = frozenset({"kind", "only", "rounding", "sha256", "convention", "made_by", "n_from", "withheld"})


def _without_names(facts: Mapping[str, Any]) -> dict[str, Any]:
    plain = (bool, int, float)
    return {name: value for name, value in facts.items() if value is None or isinstance(value, plain) or name in _HARMLESS}


def verification_text(outcome: Verification, *, width: int = WIDTH) -> str:
    """Return confirmed, unconfirmed and wrong claims."""
    verdict = "HOLDS" if outcome.ok else "REJECTED" if outcome.problems else "CANNOT CONFIRM"
    claims = []
    if outcome.proved:
        parts = f": {_by_attack(outcome.holding)}" if outcome.held else ""
        true = "" if outcome.ok else " and true"
        claims.append(f"{outcome.held:,} of {counted(outcome.proved, 'proved finding')} re-checked{true}{parts}")
    if outcome.rebuilt is not None:
        claims.append(f"the proofs of {counted(outcome.rebuilt, 'rebuilt person', 'rebuilt people')} re-checked")
    if outcome.again:
        claims.append("audited again with the same outcome")
    if not claims:
        claims.append("the record does not hold" if outcome.problems else "the record lists no proved finding")
    notes = [*outcome.problems, *([outcome.unconfirmed] if outcome.unconfirmed else []), *outcome.open]
    if outcome.estimates:
        total = sum(outcome.estimates.values())
        are = "estimate is" if total == 1 else "estimates are"
        it = "it is" if total == 1 else "they are"
        why = f"a probability cannot be proved, so {it} not checked"
        notes.append(f"{total:,} {are} listed ({_by_attack(outcome.estimates)}): {why}.")
    lines = [f"{verdict}: {'; '.join(claims)}.", *(line for note in notes for line in bullet("-", note, width))]
    return "\n".join(lines) + "\n"


def _by_attack(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {code}" for code, number in sorted(numbers.items()))
