"""What negative rules say, as text and as a record."""

from __future__ import annotations

from typing import Any

from tacit.model.negative import NegativeRules
from tacit.reports.summary import counted, visible

#: How many rules the text shows.
SHOWN = 5


def negative_record(rules: NegativeRules) -> dict[str, Any]:
    """The record of ``mine negative``; ``excluded_values`` is the share of people with 0, 1, 2, .. values ruled out."""
    n = max(1, rules.header.n or 0)
    out: dict[str, Any] = {
        "format": "tacit.negative/1",
        "n": rules.header.n,
        "rules": len(rules),
        "minimal_rules": rules.minimal_rules,
    }
    out |= {"min_expectation": rules.min_expectation, "significance": rules.significance, "itemsets": rules.itemsets}
    out["excluded_values"] = {str(number): people / n for number, people in enumerate(rules.excluded_values.tolist())}
    if rules.by_chance is not None:
        out["by_chance"] = {"rules": rules.by_chance[0], "minimal_rules": rules.by_chance[1]}
    return out


def negative_text(rules: NegativeRules) -> str:
    """The rules in a few lines."""
    n = rules.header.n or 0
    few = f"{rules.minimal_rules:,} of them {'is' if rules.minimal_rules == 1 else 'are'} minimal"
    lines = [f"{counted(len(rules), 'negative rule')} about {counted(n, 'person', 'people')}; {few}"]
    lines.append(f"Expectation at least {rules.min_expectation:.10g} that somebody would have the value by chance")
    lines.append(_testing(rules))
    lines.append("")
    lines.append("Values ruled out per person:")
    for number, people in enumerate(rules.excluded_values.tolist()):
        if people:
            lines.append(f"  {number:>3}  {people:>11,} people ({100 * people / max(1, n):.2f} %)")
    order = sorted(range(len(rules)), key=lambda i: (-int(rules.minimal[i]), -int(rules.count[i]), i))[:SHOWN]
    if order:
        lines += ["", f"Most people ({len(order)} of {len(rules):,}):"]
    for index in order:
        told = ", ".join(f"{node.column}={visible(node.name)}" for node in rules.antecedent(index))
        sensitive = " & ".join(rules.header.sa)
        lines.append(f"  {int(rules.count[index]):>9,} {told} => not {sensitive}={visible(rules.value(index))}")
    return "\n".join(lines) + "\n"


def _testing(rules: NegativeRules) -> str:
    """How chance was taken into account."""
    if rules.significance is not None:
        looked = f"{rules.itemsets:,} antecedents x {len(rules.header.sa_values):,} values"
        told = f"Corrected for {looked} (Bonferroni, {rules.significance:g})"
    else:
        told = "Not corrected for the number of antecedents looked at: some rules may be chance (--significance, --permutations)"
    if rules.by_chance is not None:
        told += f"\nWith shuffled values {rules.by_chance[0]:,.1f} rules come out on average, {rules.by_chance[1]:,.1f} of them minimal"
    return told
