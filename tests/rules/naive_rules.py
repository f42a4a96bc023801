"""Rules straight from the definition, printed as files, and all small worlds by what they print; nothing here uses Tacit."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

from tests.itemsets.naive_channels import Row, subsets, support

#: Antecedent and consequent.
Rule = tuple[frozenset[str], frozenset[str]]
HEAD = "antecedent,consequent,count,support,confidence\n"


@dataclass(frozen=True)
class Form:
    """How rules are chosen and printed; ``digits`` None: exact counts. ``header`` is written beside the file, where there is one."""

    least: int
    confidence: Fraction
    digits: int | None = None
    mode: str = "nearest"
    with_count: bool = False
    with_confidence: bool = True
    withheld: bool = False
    header: dict[str, Any] = field(default_factory=dict)
    distribution: bool = False


def reaching(rows: Sequence[Row], wanted: Sequence[Rule], form: Form) -> list[tuple[Rule, int, int]]:
    """The rules that reach the thresholds, with both their counts."""
    found = []
    for rule in wanted:
        both, whole = support(rows, rule[0] | rule[1]), support(rows, rule[0])
        if both >= max(1, form.least) and both >= form.confidence * whole:
            found.append((rule, both, whole))
    return found


def printed(value: Fraction, digits: int, mode: str) -> str:
    """A share with some decimals, to the nearest (halves up) or cut off."""
    scaled = value * 10**digits
    number = int(scaled + Fraction(1, 2)) if mode == "nearest" else int(scaled)
    return f"{number // 10**digits}.{number % 10**digits:0{digits}d}" if digits else str(number)


def cell(items: frozenset[str], columns: bool) -> str:
    """A side of a rule as a cell: an object of columns, or a list."""
    value: object = dict(sorted(item.split("=") for item in items)) if columns else sorted(items)
    return '"' + json.dumps(value).replace('"', '""') + '"'


def file_of(rows: Sequence[Row], wanted: Sequence[Rule], form: Form) -> tuple[str, str]:
    """The file and its header ("" where there is none) that a world prints."""
    n = len(rows)
    columns = bool(form.header)
    lines = [HEAD]
    for (has, then), both, whole in reaching(rows, wanted, form):
        count, share, confidence = str(both), "", ""
        if form.withheld:
            count = ""
        elif form.digits is None:
            confidence = repr(both / whole)
        else:
            count = count if form.with_count else ""
            share = "" if form.with_count else printed(Fraction(both, n), form.digits, form.mode)
            confidence = printed(Fraction(both, whole), form.digits, form.mode) if form.with_confidence else ""
        right = next(iter(then)).partition("=")[2] if columns else cell(then, columns=False)
        lines.append(f"{cell(has, columns)},{right},{count},{share},{confidence}\n")
    if not columns:
        return "".join(lines), ""
    header = form.header | {"n": n, "min_support": form.least, "min_confidence": str(form.confidence), "digits": form.digits}
    if form.distribution:
        values = form.header["sa_values"]
        header["sa_distribution"] = {value: support(rows, frozenset({f"{form.header['sa']}={value}"})) for value in values}
    return "".join(lines), json.dumps(header)


def worlds_by_file(
    people: Sequence[Row], n: int, wanted: Sequence[Rule], form: Form
) -> Iterator[tuple[tuple[str, str], list[tuple[Row, ...]]]]:
    """All databases of n such people, grouped by the file that they print."""
    together: dict[tuple[str, str], list[tuple[Row, ...]]] = defaultdict(list)
    for rows in combinations_with_replacement(people, n):
        together[file_of(rows, wanted, form)].append(rows)
    yield from together.items()


def rules_between(items: str) -> list[Rule]:
    """All rules over some items, consequents of any length."""
    return [(has, then - has) for then in subsets(items) for has in subsets(then) if has and has != then]


def rules_to_values(columns: dict[str, str], sa: str) -> list[Rule]:
    """All rules from values of the other columns to a value of the sensitive one."""
    antecedents = [frozenset[str]()]
    for name, values in columns.items():
        if name != sa:
            antecedents += [has | {f"{name}={value}"} for has in antecedents for value in values]
    return [(has, frozenset({f"{sa}={value}"})) for has in antecedents if has for value in columns[sa]]


def people_of(columns: dict[str, str]) -> list[Row]:
    """Every combination of values."""
    found = [frozenset[str]()]
    for name, values in columns.items():
        found = [row | {f"{name}={value}"} for row in found for value in values]
    return found
