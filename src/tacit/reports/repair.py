"""The report of a repair: what the release gave away before, what it gives away now, and what that cost.

What became of people who were put into groups, as text.

What became of a table in which cells were hidden, as text.

What negative rules say, as text and as a record.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tacit.model.audit import Audit
from tacit.model.negative import NegativeRules
from tacit.model.repair import Bucketized, Hidden, Repair, Tried
from tacit.reports import words
from tacit.reports.document import Document, Drawn, Part, rows
from tacit.reports.estimates import bucket_sentences
from tacit.reports.svg import bars_of_sizes, before_and_after
from tacit.reports.words import Summary, counted, next_steps, policy_sentences, told, visible


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
    after = {row[0]: row[1] for row in words.measures(done.after)}
    lines = [(name, value, after[name], meaning) for name, value, _, meaning in words.measures(done.before) if name in after]
    return rows("Measures", ("Measure", "Before", "After", "Meaning"), lines)


def _costs(cost: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(name.replace("_", " "), words.number(value)) for name, value in cost.items()]


def _tried(done: Repair) -> Any:
    lines = [
        (one.method, one.verdict or "not done", one.reason or ", ".join(f"{name} {value}" for name, value in _costs(one.cost)))
        for one in done.tried
    ]
    return rows("What every method would come to", ("Method", "Verdict", "Cost or reason"), lines)


def _limits(audit: Audit) -> Any:
    lines = [(limit.name, limit.value, limit.set_by, limit.meaning) for limit in words.limits(audit)]
    return rows("The limits, and who set them", words.LIMIT_COLUMNS, lines)


def _files(done: Repair, outputs: Mapping[str, str]) -> Any:
    lines = [("Before", value) if name == "Release" else (name, value) for name, value in words.files(done.before, "internal")]
    return rows(
        "What was read and written", ("File", "Fact"), [*lines, *(("After", f"{name}: {sha}") for name, sha in outputs.items())]
    )


def bucketized_text(made: Bucketized, *, dropped: int = 0, origin: str = "") -> str:
    """The groups in a few lines: what they are like, what the audits say, and what Anatomy would come to.

    ``dropped`` rows had a missing value; ``origin`` is the file that settings came from.
    """
    cost = made.cost
    lines = [
        f"{counted(cost['groups'], 'group')} of {counted(made.n, 'person', 'people')}; "
        f"{cost['mean_group']:.2f} people on average, {cost['largest_group']:,} at the most"
    ]
    lines.append(f"Method   {_method(made)}")
    if cost["suppressed"]:
        lines.append(f"Left out {counted(cost['suppressed'], 'person', 'people')} for whom there is no such group")
    if cost.get("beyond_bound"):
        lines.append(f"Bound    no group within it was found for {counted(cost['beyond_bound'], 'person', 'people')}")
    if dropped:
        lines.append(f"Missing  {counted(dropped, 'row')} with the mark of a missing value dropped")
    if origin:
        lines.append(f"Settings from {visible(origin)}")
    if made.before is not None:
        lines.append(f"Before   {told(made.before)} (the table as it is)")
    if made.after is not None:
        lines.append(f"After    {told(made.after)}")
        lines += [f"Guesses  {sentence}" for sentence in bucket_sentences(made.after)]
    lines += _utility(cost)
    lines += [_rival(made, one.method, one.cost.get("vulnerable"), one.reason) for one in made.tried]
    return "\n".join(lines) + "\n"


def _utility(cost: Mapping[str, Any]) -> list[str]:
    """What the groups cost whoever counts by them, and what all of them together leave to guess."""
    lines = []
    if "surviving_guess_right_exact" in cost:
        lines.append(
            f"Truth    {cost['surviving_guess_right_exact']:.1%} of the guesses of B03 are right, which only you can tell"
        )
    shown = (("confidence_error", "confidences of rules"), ("query_error", "counts"))
    known = [f"{what} are off by {cost[name]:.1%}" for name, what in shown if name in cost]
    if known:
        lines.append(f"Utility  counted by groups, {' and '.join(known)} on average")
    return lines


def _method(made: Bucketized) -> str:
    """The method, and how many people it had no group for at first."""
    cost = made.cost
    which = f"{made.method} ({cost['grouped_by']} came out better)" if cost["grouped_by"] != made.method else made.method
    if not cost["residue"]:
        return f"{which}; nobody was left over"
    left_over = counted(cost["residue"], "person", "people")
    merged = f", {counted(cost['merges'], 'merge')} of groups" if cost["merges"] else ""
    return f"{which}; {left_over} left over at first joined a group{merged}"


def _rival(made: Bucketized, method: str, vulnerable: int | None, reason: str) -> str:
    """What another method would come to."""
    name = f"{method.capitalize():<9}"
    if vulnerable is None:
        return f"{name}not possible: {reason}"
    least = made.after.policy.l if made.after is not None else 0
    people = counted(vulnerable, "person", "people")
    return f"{name}which does not look at the knowledge, would leave {people} with fewer than {least:,} valid values"


#: Regions in words.
PLACES = {
    "ns": "sensitive cells of other records",
    "nc": "condition cells of other records",
    "sc": "condition cells of the sensitive records",
}


def hidden_text(made: Hidden, *, dropped: int = 0, origin: str = "") -> str:
    """The hidden cells in a few lines: how many and where, what the audits say, and what they do to the use of the table.

    ``dropped`` rows had a missing value; ``origin`` is the file that settings came from.
    """
    cost = made.cost
    hidden, sensitive = counted(cost["cells_hidden"], "cell"), counted(cost["sensitive_cells"], "sensitive cell")
    lines = [f"{hidden} hidden besides {sensitive}; {cost['cells_hidden_share']:.3%} of the cells in use"]
    lines.append(f"Method   {made.method}{_optimum(made)}")
    lines += [f"Where    {count:,} of the {PLACES[region]} ({region})" for region, count in cost["by_region"].items() if count]
    if cost["by_column"]:
        lines.append("Columns  " + ", ".join(f"{visible(name)} {count:,}" for name, count in cost["by_column"].items()))
    lines += _others(made)
    if dropped:
        lines.append(f"Missing  {counted(dropped, 'row')} with the mark of a missing value dropped; row numbers count the others")
    if origin:
        lines.append(f"Settings from {visible(origin)}")
    if made.before is not None:
        lines.append(f"Before   {told(made.before)} (only the sensitive cells hidden)")
    if made.after is not None:
        lines.append(f"After    {told(made.after)}")
    lines.append(_use(made))
    lines += [_instead(one) for one in made.tried]
    return "\n".join(lines) + "\n"


def _others(made: Hidden) -> list[str]:
    """What became of columns without a role."""
    if not made.other_names:
        return []
    names = ", ".join(map(visible, made.other_names))
    columns = counted(len(made.other_names), "column")
    if made.other_columns == "drop":
        return [f"Dropped  {columns} without a role: {names} (--other-columns keep publishes them)"]
    return [f"Others   {columns} without a role published, and protected against: {names}"]


def _optimum(made: Hidden) -> str:
    """How far the table may be from the best one, where that is known."""
    if "least_cells" not in made.cost:
        return ""
    if made.cost["gap"] == 0:
        return "; no safe table hides fewer cells"
    return f"; every safe table hides at least {counted(made.cost['least_cells'], 'cell')}"


def _use(made: Hidden) -> str:
    """What is left of rules and counts."""
    cost = made.cost
    rules = f"{cost['rules_lost']:,} of {counted(cost['rules'], 'rule')} lost, {cost['rules_changed']:,} changed, {cost['rules_new']:,} new"
    return f"Use      {rules}; counts are off by {cost['query_error']:.1%} on average"


def _instead(one: Tried) -> str:
    """What hiding the same attributes of all sensitive records would come to."""
    if one.verdict is None:
        return f"Instead  --may-hide sc --method {one.method} is not possible: {one.reason}"
    cells = counted(one.cost["cells_hidden"], "cell")
    return f"Instead  --may-hide sc --method {one.method} would hide {cells} of the sensitive records, and its audit is {one.verdict}"


#: How many rules the text shows.
SHOWN = 5


def negative_record(rules: NegativeRules) -> dict[str, Any]:
    """The record of ``mine negative``; ``excluded_values`` is the share of people with 0, 1, 2, .. values ruled out."""
    n = max(1, rules.header.n or 0)
    out: dict[str, Any] = {
        "format": "tacit.negative/1",
        "n": rules.header.n,
        "rules": rules.all_rules,
        "minimal_rules": rules.minimal_rules,
        "listed": "minimal" if rules.lists_minimal else "all",
        "min_expectation": rules.min_expectation,
        "min_confidence": float(rules.min_confidence),
        "significance": rules.significance,
        "fuzzy": dict(rules.fuzzy),
        "itemsets": rules.itemsets,
        "itemsets_counted": rules.itemsets_counted,
        "own_excluded": rules.own_excluded,
    }
    out["excluded_values"] = {str(number): people / n for number, people in enumerate(rules.excluded_values.tolist())}
    if rules.by_chance is not None:
        out["by_chance"] = {"rules": rules.by_chance[0], "minimal_rules": rules.by_chance[1]}
    return out


def negative_text(rules: NegativeRules) -> str:
    """The rules in a few lines."""
    n = rules.header.n or 0
    lines = [_number(rules, n)]
    lines.append(f"Expectation at least {rules.min_expectation:.10g} that somebody would have the value by chance")
    if len(rules.header.sa_values) < 2:
        lines.append("There is only one sensitive value: nothing can be ruled out, and everyone's value is known")
    lines += [*_softness(rules), _testing(rules), "", "Values ruled out per person:"]
    for number, people in enumerate(rules.excluded_values.tolist()):
        if people:
            lines.append(
                f"  {number:>3}  {people:>11,} {'person' if people == 1 else 'people'} ({100 * people / max(1, n):.2f} %)"
            )
    order = np.lexsort((-rules.count, ~rules.minimal))[:SHOWN].tolist()
    if order:
        lines += ["", f"Most people ({len(order)} of {len(rules):,}):"]
    for index in order:
        told = ", ".join(f"{node.column}={visible(node.name)}" for node in rules.antecedent(index))
        sensitive = " & ".join(rules.header.sa)
        lines.append(f"  {int(rules.count[index]):>9,} {told} => not {sensitive}={visible(rules.value(index))}")
    return "\n".join(lines) + "\n"


def _number(rules: NegativeRules, n: int) -> str:
    """How many rules there are, all and minimal."""
    people = counted(n, "person", "people")
    if rules.all_rules is None:
        return f"{counted(rules.minimal_rules, 'minimal negative rule')} about {people}; all rules are too many to be counted"
    few = f"{rules.minimal_rules:,} of them {'is' if rules.minimal_rules == 1 else 'are'} minimal"
    listed = " (only these are listed)" if rules.lists_minimal else ""
    return f"{counted(rules.all_rules, 'negative rule')} about {people}; {few}{listed}"


def _softness(rules: NegativeRules) -> list[str]:
    """Whether rules have exceptions, and which columns are fuzzy."""
    lines = []
    if rules.min_confidence < 1:
        lines.append(
            f"Confidence at least {float(rules.min_confidence):.10g}: rules may have exceptions, and say what is unlikely"
        )
        lines.append(
            f"They would rule out the own value of {counted(rules.own_excluded, 'person', 'people')}, so nobody can be matched to values by them"
        )
    if rules.fuzzy:
        told = ", ".join(f"{name} (spread {spread:g})" for name, spread in rules.fuzzy.items())
        lines.append(f"Fuzzy: {told}; who is that close counts in part, and has the value as little as the others")
    return lines


def _testing(rules: NegativeRules) -> str:
    """How chance was taken into account."""
    if rules.significance is not None:
        looked = f"{'' if rules.itemsets_counted else 'at most '}{rules.itemsets:,} antecedents x {len(rules.header.sa_values):,} values"
        told = f"Corrected for {looked} (Bonferroni, {rules.significance:g})"
    else:
        told = "Not corrected for the number of antecedents looked at: some rules may be chance (--significance, --permutations)"
    if rules.by_chance is not None:
        every, minimal = rules.by_chance
        came = f"{minimal:,.1f} minimal rules" if every is None else f"{every:,.1f} rules"
        more = "" if every is None else f", {minimal:,.1f} of them minimal"
        told += f"\nWith shuffled values {came} come out on average{more}"
    return told
