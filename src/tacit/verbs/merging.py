"""Runs of one attack on several parts as one run.

Parts are releases, or the rules of one release about each of its sensitive columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tacit.model.audit import AttackRun, Status
from tacit.model.finding import comparable
from tacit.model.release import Rules

#: Measures that are added up over sensitive columns: numbers of rules, and uncertainty, which is that of all columns together.
ADDED = frozenset({"missing_rules", "missing_rules_kept", "variable_occurrences", "posterior_entropy"})
#: Measures of which the smallest is the worst; of all others the largest is.
SMALL_IS_WORSE = frozenset(
    {"l_distinct", "l_entropy", "baseline_entropy", "D_overall", "D_individual_max", "smallest_combination"}
)


def worst_measures(columns: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """Return the worst of each measure over sensitive columns."""
    if len(columns) == 1:
        return dict(columns[0])
    out: dict[str, float | None] = {}
    for name in dict.fromkeys(name for one in columns for name in one):
        values = [one[name] for one in columns if name in one]
        known = [value for value in values if value is not None]
        worst = sum if name in ADDED else min if name in SMALL_IS_WORSE else max
        out[name] = worst(known) if len(known) == len(values) else None
    return out


def merge_runs(runs: Sequence[AttackRun], names: Sequence[str], part: str) -> AttackRun:
    """Return the runs on parts with these names as one.

    The worst findings come first; a column ``part`` holds the number of the part of each.
    """
    ended = [(number, run) for number, run in enumerate(runs) if run.status != "not-relevant"]
    if not ended:
        return runs[0]
    statuses = {run.status for _, run in ended}
    worst: tuple[Status, ...] = ("stopped", "unavailable", "not-asked")
    severity = np.concatenate([run.severity for _, run in ended])
    order = np.argsort(severity, kind="stable")
    owner = np.concatenate([np.full(len(run.severity), number, np.int64) for number, run in ended])[order]
    inner = np.concatenate([np.arange(len(run.severity)) for _, run in ended])[order]
    found = [run for _, run in ended if len(run.severity)]
    shared = [name for name in (found[0].columns if found else ()) if all(name in run.columns for run in found)]
    columns = {name: np.concatenate([run.columns[name] for run in found])[order] for name in shared}

    def of_part(name: str) -> Callable[[int], Any]:
        return lambda index: getattr(runs[int(owner[index])], name)(int(inner[index]))

    first = ended[0][1]
    return AttackRun(
        first.code,
        first.name,
        first.claim,
        next((one for one in worst if one in statuses), "ran"),
        _join_reasons([(names[number], run.reason) for number, run in ended]),
        people=max(run.people for _, run in ended),
        undecided=sum(run.undecided for _, run in ended),
        columns=columns | {part: owner},
        severity=severity[order],
        event=of_part("event"),
        show=of_part("show"),
        cautions=tuple(one for _, run in ended for one in run.cautions),
    )


def _join_reasons(reasons: Sequence[tuple[str, str]]) -> str:
    """Return the reasons with their parts' names, or once if all agree."""
    if len(reasons) > 1 and len({reason for _, reason in reasons}) == 1:
        return reasons[0][1]
    return "; ".join(f"{name}: {reason}" for name, reason in reasons if reason)


def merge_columns(runs: Sequence[AttackRun], names: Sequence[str]) -> AttackRun:
    """Return the runs on each sensitive column as one; a group counts once."""
    merged = merge_runs(runs, names, "sensitive")
    if not merged.columns:
        return merged
    if merged.finds_groups and merged.event is not None:
        first: dict[object, int] = {}
        for index in range(merged.findings):
            first.setdefault(comparable(merged.event(index)), index)
        merged = merged.only(np.array(list(first.values()), np.int64))
    owners = merged.columns["sensitive"].tolist()
    reasons = {run.reason for run in runs}
    return replace(
        merged,
        reason=reasons.pop() if len(reasons) == 1 else merged.reason,
        columns=dict(merged.columns) | {"sensitive": np.array([names[owner] for owner in owners], object)},
        cautions=tuple(sorted(merged.cautions, key=lambda one: -one.number)[:1]),
        measures=worst_measures([run.measures for run in runs]),
        parts=tuple(runs),
    )


def merge_lists(runs: Sequence[AttackRun], parts: Sequence[Rules], whole: Rules) -> AttackRun:
    """Merge the runs on parts of a list of rules into one."""
    names = ["all columns" if part is whole else part.header.sa[0] for part in parts]
    number = {whole.line(index): index for index in range(len(whole))}
    places = [np.array([number[part.line(index)] for index in range(len(part))], np.int64) for part in parts]
    lined = []
    influence = np.zeros(len(whole))
    for run, place in zip(runs, places, strict=True):
        influence[place] += run.details.get("influence", 0.0)
        columns = dict(run.columns)
        if "rule" in columns:
            columns["rule"] = np.array([place[rule] if rule >= 0 else rule for rule in columns["rule"].tolist()], np.int64)
        lined.append(replace(run, columns=columns))
    details = {"influence": influence} if any("influence" in run.details for run in runs) else {}
    return replace(merge_columns(lined, names), details=details)
