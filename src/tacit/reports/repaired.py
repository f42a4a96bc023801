"""The report of a repair: what the release gave away before, what it gives away now, and what that cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.model.audit import Audit
from tacit.model.repair import Repair
from tacit.reports import facts, policy
from tacit.reports.document import Document, Drawn, Part, rows
from tacit.reports.summary import Summary, counted, next_steps, policy_sentences
from tacit.reports.svg import bars_of_sizes, before_and_after


def repair_document(done: Repair, outputs: Mapping[str, str]) -> Document:
    """A repair as a report; ``outputs`` are the files that were written, each with its SHA-256."""
    before, after = Summary.of(done.before), Summary.of(done.after)
    tiles = [(before.findings, "findings before"), (after.findings, "findings after the repair")]
    if before.groups:
        tiles += [(before.single, "single persons before"), (after.single, "single persons after the repair")]
    told = f"after {done.method}: {after.sentence()} Before: {before.sentence()}"
    return Document(
        title="Tacit: a release and its repair",
        verdict=done.after.verdict,
        sentence=told,
        tiles=tuple(tiles),
        parts=(
            Part("What to do next", tuple(_next(done))),
            Part("Before and after", tables=(_attacks(done), _measures(done)), pictures=_pictures(before, after)),
            Part("Cost", tables=(rows("What the repair changed", ("What", "Cost"), _costs(done.cost)), _tried(done))),
            Part("Worst findings that remain", tuple(finding.statement for finding in done.after.findings[:10])),
            Part("Policy", tuple(policy_sentences(done.after)), (_limits(done.after),)),
            Part("Files", tables=(_files(done, outputs),)),
        ),
    )


def _next(done: Repair) -> list[str]:
    if done.ok and not done.after.ok:
        return [f"The goal {done.goal} is met: I01 finds nothing. The other attacks were not run.", *next_steps(done.after)]
    if done.ok:
        old = "" if done.before.ok else "; the old one may not"
        return [
            f"The repaired release may leave under this policy, as far as the attacks that ran can tell{old}.",
            *next_steps(done.after),
        ]
    other = "" if done.suggested in (None, done.method) else f"The method {done.suggested} would meet the policy."
    return [one for one in ("This method did not meet the policy.", done.remark, other, *next_steps(done.after)) if one]


def _pictures(before: Summary, after: Summary) -> tuple[Drawn, ...]:
    if not before.groups:
        return ()
    first, second = (bars_of_sizes(one.sizes, one.groups_of_size, one.k) for one in (before, after))
    told = "; ".join(
        f"size {one.label}: {counted(one.value, 'group')} before, {two.value:,} after"
        for one, two in zip(first, second, strict=True)
    )
    drawn = before_and_after(
        first, second, name="repair", title="Groups that can be computed, before and after", description=told
    )
    return (
        Drawn(drawn, "How many groups of each size can be computed from the release before (left) and after (right) the repair."),
    )


def _attacks(done: Repair) -> Any:
    lines = []
    for run in done.before.runs:
        if run.status != "not-relevant":
            after = done.after.attack(run.code)
            lines.append((run.code, run.name, f"{run.findings:,}", f"{after.findings:,}", after.status))
    return rows("Findings of each attack", ("Code", "Attack", "Before", "After", "Status after"), lines)


def _measures(done: Repair) -> Any:
    after = {row[0]: row[1] for row in facts.measures(done.after)}
    lines = [(name, value, after[name], meaning) for name, value, _, meaning in facts.measures(done.before) if name in after]
    return rows("Measures", ("Measure", "Before", "After", "Meaning"), lines)


def _costs(cost: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(name.replace("_", " "), facts.number(value)) for name, value in cost.items()]


def _tried(done: Repair) -> Any:
    lines = [
        (one.method, one.verdict or "not done", one.reason or ", ".join(f"{name} {value}" for name, value in _costs(one.cost)))
        for one in done.tried
    ]
    return rows("What every method would come to", ("Method", "Verdict", "Cost or reason"), lines)


def _limits(audit: Audit) -> Any:
    lines = [(limit.name, limit.value, limit.set_by, limit.meaning) for limit in policy.limits(audit)]
    return rows("The limits, and who set them", facts.LIMIT_COLUMNS, lines)


def _files(done: Repair, outputs: Mapping[str, str]) -> Any:
    lines = [("Before", value) if name == "Release" else (name, value) for name, value in facts.files(done.before, "internal")]
    return rows(
        "What was read and written", ("File", "Fact"), [*lines, *(("After", f"{name}: {sha}") for name, sha in outputs.items())]
    )
