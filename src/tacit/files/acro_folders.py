"""Folders that ACRO writes: the tables of a session, with what its record says about them.

``results.json`` names the columns of each table, whether it counts people, and how it was mitigated. With suppression, ACRO deletes the people
of small cells and counts again, as the convention ``acro`` says; with rounding, totals are added up from rounded cells, and are not rounded
counts themselves. The limits in ``config.json`` say how to read cells, and are not limits of the audit: whoever submits a release must not
bring them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tacit.files.disk import FilePath, Input
from tacit.files.frequency_cells import is_total
from tacit.model.errors import TacitError

RESULTS = "results.json"
CONFIG = "config.json"
SUMMARY = "session_summary.json"
RECORDS = frozenset({RESULTS, CONFIG, SUMMARY, "session_summary.csv", "checksums"})  #: Files of a session that are not outputs.
_THRESHOLD = 10  #: ACRO's own, where config.json does not say another.
_LARGEST = 1 << 26


class Described(Input):
    """File with options for reading it that another file gives."""

    def __init__(self, path: FilePath, options: Mapping[str, Any]) -> None:
        super().__init__(path)
        self.options = dict(options)


@dataclass(frozen=True, slots=True)
class Session:
    """Tables of a session that can be read, and why others cannot, by file."""

    tables: Mapping[str, Described] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)


def read_session(folder: Path) -> Session | None:
    """Return the session whose folder it is, or None."""
    results = _object(folder / RESULTS)
    outputs = results.get("results")
    if "version" not in results or not isinstance(outputs, dict) or not all(isinstance(one, dict) for one in outputs.values()):
        return None
    if any(_part(one, "properties").get("tool") == "Tacit" for one in outputs.values()):
        return None  # a record that Tacit wrote in this layout
    summary = _object(folder / SUMMARY).get("outputs")
    told = {one.get("uid"): one for one in summary if isinstance(one, dict)} if isinstance(summary, list) else {}
    threshold = _object(folder / CONFIG).get("safe_threshold")
    # From this version on, a value stays in its table when all its people are deleted.
    major = str(results["version"]).partition(".")[0]
    lists_values = major.isdecimal() and int(major) >= 1
    tables: dict[str, Described] = {}
    reasons: dict[str, str] = {}
    for uid, output in outputs.items():
        files = output.get("files")
        for entry in files if isinstance(files, list) else ():
            name = entry.get("name") if isinstance(entry, dict) else None
            if not isinstance(name, str) or name in RECORDS or not (folder / name).is_file():
                continue
            options = _options(output, entry, told.get(uid, {}), threshold if isinstance(threshold, int) else _THRESHOLD)
            if isinstance(options, str):
                reasons[name] = options
            elif options.get("base") and _has_totals(folder / name):
                reasons[name] = "has totals that ACRO added up from rounded counts, which are not rounded counts"
            else:
                complete = {"complete": True} if lists_values and "convention" in options else {}
                tables[name] = Described(folder / name, options | complete)
    return Session(tables, reasons)


def _options(
    output: Mapping[str, Any], entry: Mapping[str, Any], told: Mapping[str, Any], threshold: int
) -> dict[str, Any] | str:
    """Return the options for reading a table, or why it cannot be read."""
    if output.get("type") != "table":
        return f"is an output of ACRO of type {output.get('type') or 'unknown'}, which Tacit does not read"
    fair = _part(output, "fair")
    columns = fair.get("independent") or told.get("independent_variables")
    measured = fair.get("dependent") or told.get("dependent_variables") or "unknown"
    statistic = fair.get("statbarn", "Frequencies" if measured in ("unknown", "none") and columns else None)
    if statistic != "Frequencies" or measured not in ("unknown", "none"):
        return "holds other numbers than counts of people, or ACRO's record does not say that it counts people"
    if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
        return "has columns that ACRO's record does not name"
    options: dict[str, Any] = {"by": tuple(columns)}
    properties = _part(output, "properties")
    suppressed = _part(_part(entry, "sdc"), "summary").get("suppressed") is True
    how = properties.get("mitigation", "suppress" if suppressed else "none")
    if how == "suppress":
        return options | {"convention": "acro", "hidden_below": threshold}
    if how == "round":
        base = properties.get("round_base")
        return (
            options | {"base": base, "rounding": "half-even"}
            if isinstance(base, int) and base > 1
            else "is rounded to an unknown base"
        )
    return options if how == "none" else "is mitigated in a way that Tacit does not know"


def _part(entry: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = entry.get(key)
    return found if isinstance(found, dict) else {}


def _object(path: Path) -> Mapping[str, Any]:
    """Return a file's JSON object; nothing if it has none."""
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return {}
        with Input(path).open_text() as stream:
            found = json.load(stream)
    except (OSError, ValueError, RecursionError, TacitError):
        return {}
    return found if isinstance(found, dict) else {}


def _has_totals(path: Path) -> bool:
    from tacit.files.delimited import read_grid

    grid = read_grid(Input(path), ",")
    return any(map(is_total, grid.names)) or any(map(is_total, grid.cells[0]))
