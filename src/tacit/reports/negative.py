"""What negative rules say, as text and as a record."""

from __future__ import annotations

from typing import Any

import numpy as np

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
