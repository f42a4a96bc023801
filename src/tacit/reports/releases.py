"""Texts and records of releases that Tacit made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote
from typing import Any

import numpy as np

from tacit.model.frequencies import FrequencyTable
from tacit.model.negative import NegativeRules
from tacit.model.release import Itemsets, LeftOut, Listed, Rules
from tacit.reports.document import UNBROKEN, WIDTH, bullet, counted, fact_lines, facts_text, people, people_of, visible

SHOWN = 5  #: The number of lines of a release that its text shows.

# Itemsets and rules


def itemsets_record(release: Itemsets) -> dict[str, Any]:
    """Return the record of ``mine itemsets``."""
    head = {"format": "tacit.itemsets/1", "n": release.n, "min_support": release.min_support, release.only: len(release)}
    return head | _mined_entries(release)


def _mined_entries(release: Listed) -> dict[str, Any]:
    header = release.header
    out: dict[str, Any] = {} if header.max_length is None else {"max_length": header.max_length}
    return out | ({"left_out": {one.column: one.holds for one in header.left_out}} if header.left_out else {})


def rules_record(release: Rules) -> dict[str, Any]:
    """Return the record of ``mine rules``."""
    confidence = None if release.min_confidence is None else float(release.min_confidence)
    head = {"format": "tacit.rules/1", "n": release.n, "rules": len(release)}
    return head | {"min_support": release.min_support, "min_confidence": confidence} | _mined_entries(release)


def mined_text(
    release: Listed,
    *,
    dropped: int,
    origin: str = "",
    only_shown: int = SHOWN,
    width: int = WIDTH,
    many_numbers: Sequence[str] = (),
    k: int = 0,
    repeated: str = "",
) -> str:
    """Return a summary of mined itemsets or rules.

    ``many_numbers`` are columns that are better mined in bins; a threshold below ``k`` people is told, and which column is ``repeated`` so that
    rows are not people.
    """
    facts = list(_mining_facts(release, dropped))
    if many_numbers:
        advice = " ".join(f"--bins {quote(f'{name}=q4')}" for name in many_numbers)
        facts.append(("Advice", f"columns with many different numbers say more in bins: {advice}"))
    if repeated:
        facts.append(("Warning", repeated))
    least = release.min_support or 0
    if 0 < least < k:
        facts.append(
            ("Warning", f"the threshold of {people(least)} is below k = {k:,}: groups that small are printed as they are")
        )
    if origin:
        facts.append(("Settings", f"from {origin}"))
    lines = [f"{counted(len(release), release.described)} about {people(release.n or 0)}"]
    lines += fact_lines([(name.ljust(11), value) for name, value in facts], UNBROKEN)
    if len(release):
        lines += ["", f"Most frequent ({min(only_shown, len(release)):,} of {len(release):,}):"]
        for number, pattern in _most_frequent(release, only_shown):
            lines += bullet(number, pattern, width)
    return "\n".join(lines) + "\n"


def _mining_facts(release: Listed, dropped: int) -> Iterator[tuple[str, str]]:
    header = release.header
    least = header.min_support or 0
    strictly = ", read strictly (more than the threshold)" if header.strict else ""
    yield "Support", f"at least {people_of(least, release.n)}{strictly}"
    if header.min_confidence is not None:
        yield "Confidence", f"{'more than' if header.strict else 'at least'} {float(100 * header.min_confidence):g} %"
    if header.person is not None:
        yield "People", f"by {visible(header.person)}: a person has what one of their rows has"
    if header.bins:
        yield "Bins", "; ".join(f"{visible(one.column)}={one.text}" for one in header.bins)
    if header.max_length is not None:
        yield "Length", f"{release.first_side} of up to {counted(header.max_length, 'item')}"
    if header.left_out:
        yield "Left out", f"{describe_left_out(header.left_out)}. To mine them too, name all columns with --qi"
    if header.missing is not None:
        meaning = {
            "category": "counts as a value like any other",
            "drop": f"in a column in use drops the row: {counted(dropped, 'row')} dropped",
            "drop-any": f"in any column drops the row: {counted(dropped, 'row')} dropped",
        }[header.missing_rule or "category"]
        yield "Missing", f"the mark {visible(header.missing)!r} {meaning}"


_HELD = {"identifiers": "nearly every row has its own value", "dates": "dates"}


def describe_left_out(columns: Sequence[LeftOut]) -> str:
    """Return which columns were not mined, and why."""
    parts = []
    for holds, why in _HELD.items():
        names = [visible(one.column) for one in columns if one.holds == holds]
        if names:
            parts.append(f"{', '.join(names)} ({why})")
    return "; ".join(parts)


def _most_frequent(release: Listed, shown: int) -> Iterator[tuple[str, str]]:
    for index in np.argsort(-release.hi, kind="stable")[:shown].tolist():
        count = release.count(index)
        number = f"{count.lo:,}" if count.is_exact else "withheld" if release.support is None else release.support.text(index)
        pattern = " => ".join(", ".join(release.items.names[item] for item in side[index]) for side in release.sides)
        for lo, hi in release.spans[1:]:
            if 0 < lo[index] == hi[index]:
                pattern += f"  ({100 * count.lo / lo[index]:.1f} % of {lo[index]:,})"
        yield f"{number:>9}", pattern


# Negative rules


def negative_record(rules: NegativeRules) -> dict[str, Any]:
    """Return the record of ``mine negative``.

    ``excluded_values`` is the share of people with 0, 1, 2, .. values ruled out.
    """
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
        "excluded_values": {str(number): excluded / n for number, excluded in enumerate(rules.excluded_values.tolist())},
    }
    if rules.by_chance is not None:
        out["by_chance"] = {"rules": rules.by_chance[0], "minimal_rules": rules.by_chance[1]}
    return out


def negative_text(rules: NegativeRules, *, is_whole: bool = False) -> str:
    """Return negative rules in a few lines; ``is_whole``: all numbers of values ruled out."""
    n = rules.header.n or 0
    minimal = counted(rules.minimal_rules, "of them is", "of them are")
    listed = " (only these are listed)" if rules.lists_minimal else ""
    lines = [f"{counted(rules.all_rules or 0, 'negative rule')} about {people(n)}; {minimal} minimal{listed}"]
    if rules.all_rules is None:
        every = counted(rules.minimal_rules, "minimal negative rule")
        lines = [f"{every} about {people(n)}; all rules are too many to be counted"]
    lines.append(f"Expectation at least {rules.min_expectation:.10g} that somebody would have the value by chance")
    if len(rules.header.sa_values) < 2:
        lines.append("There is only one sensitive value: nothing can be ruled out, and everyone's value is known")
    lines += [*_caveats(rules), "", "Values ruled out per person:"]
    shares = [(number, excluded) for number, excluded in enumerate(rules.excluded_values.tolist()) if excluded]
    shown = shares if is_whole or len(shares) <= SHOWN + 1 else shares[:SHOWN]
    for number, excluded in shown:
        noun = "person" if excluded == 1 else "people"
        lines.append(f"  {number:>3}  {excluded:>11,} {noun} ({100 * excluded / max(1, n):.2f} %)")
    if rest := shares[len(shown) :]:
        others = sum(excluded for _, excluded in rest)
        share = f"{people(others)} ({100 * others / max(1, n):.2f} %)"
        lines.append(f"  and {rest[0][0]} to {rest[-1][0]}: {share}; -v lists them")
    order = np.lexsort((-rules.count, ~rules.minimal))[:SHOWN].tolist()
    if order:
        lines += ["", f"Most people ({len(order)} of {len(rules):,}):"]
    for index in order:
        antecedent = ", ".join(f"{node.column}={visible(node.name)}" for node in rules.antecedent(index))
        sensitive = " & ".join(rules.header.sa)
        lines.append(f"  {int(rules.count[index]):>9,} {antecedent} => not {sensitive}={visible(rules.value(index))}")
    return "\n".join(lines) + "\n"


def _caveats(rules: NegativeRules) -> Iterator[str]:
    if rules.min_confidence < 1:
        yield f"Confidence at least {float(rules.min_confidence):.10g}: rules may have exceptions, and say what is unlikely"
        yield f"They would rule out the true value of {people(rules.own_excluded)}, so nobody can be matched to values by them"
    if rules.fuzzy:
        spreads = ", ".join(f"{name} (spread {spread:g})" for name, spread in rules.fuzzy.items())
        yield f"Fuzzy: {spreads}; people who are that close count in part, and have the value as little as the others"
    if rules.significance is None:
        yield "Not corrected for the number of antecedents looked at: some rules may be chance (--significance, --permutations)"
    else:
        most = "" if rules.itemsets_counted else "at most "
        looked = f"{most}{rules.itemsets:,} antecedents x {len(rules.header.sa_values):,} values"
        yield f"Corrected for {looked} (Bonferroni, {rules.significance:g})"
    if rules.by_chance is not None:
        every, minimal = rules.by_chance
        came = f"{minimal:,.1f} minimal rules come out on average"
        if every is not None:
            came = f"{every:,.1f} rules come out on average, {minimal:,.1f} of them minimal"
        yield f"With shuffled values {came}"


# Frequency tables


def frequencies_record(table: FrequencyTable) -> dict[str, Any]:
    """Return the record of frequency tables."""
    printing = table.printing
    return {
        "format": "tacit.frequencies/1",
        "n": table.n,
        "columns": list(table.columns),
        "tables": [list(columns) for columns in table.tables()],
        "cells": len(table),
        "hidden_cells": table.hidden_cells,
        "hidden_below": printing.hidden_below,
        "zeros_shown": printing.zeros_shown,
        "base": printing.base,
    }


def frequencies_text(table: FrequencyTable, *, dropped: int = 0, origin: str = "") -> str:
    """Return frequency tables in a few lines."""
    record = frequencies_record(table)
    printing = table.printing
    facts = []
    if printing.hidden_below is not None:
        cells = counted(record["hidden_cells"], "cell")
        zeros = f"cells with nobody are {'shown' if printing.zeros_shown else 'hidden, too'}"
        facts.append(("Hidden", f"{cells} with fewer than {printing.hidden_below:,} people; {zeros}"))
    if printing.base is not None:
        facts.append(("Rounded", f"to the nearest multiple of {printing.base:,}; the header says n exactly"))
    if dropped:
        facts.append(("Left out", f"{counted(dropped, 'row')} with a missing value"))
    if origin:
        facts.append(("Options", f"from {origin}"))
    cells = counted(record["cells"], "cell")
    return facts_text(facts, headline=f"{counted(len(record['tables']), 'table')} with {cells} about {people(table.n or 0)}")
