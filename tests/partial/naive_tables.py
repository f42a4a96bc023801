"""Readings of partial tables as their definitions say them: every subset of every sensitive record's cells, counted row by row."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

#: The nine records of Fig. 2 (Li, Shirani-Mehr, Yang 2007); each star there is a value of its own.
FIG2 = [
    *(("a", "b", "c", "s"), ("a", "b", "c", "s"), ("a", "b", "c", "s"), ("a", "b", "x4", "s"), ("a", "b", "d", "s")),
    *(("a", "x6", "d", "s"), ("x7", "b", "d", "s"), ("x8", "b", "d", "s"), ("x9a", "x9b", "d", "x9c")),
]
FIG2_ROWS = (0, 4)

Pattern = frozenset[tuple[int, str]]
Rows = Sequence[Sequence[str]]


def fits(row: Sequence[str], pattern: Pattern, wildcard: bool = False) -> bool:
    """Whether a row has the pattern; the last cell of a row is the sensitive one, and the empty text is a blank."""
    return all(row[column] == value or (wildcard and row[column] == "") for column, value in pattern)


def patterns_of(row: Sequence[str]) -> list[Pattern]:
    """All non-empty sets of published condition cells of a row."""
    cells = [(column, value) for column, value in enumerate(row[:-1]) if value != ""]
    return [frozenset(some) for size in range(1, len(cells) + 1) for some in combinations(cells, size)]


def rules_about(
    rows: Rows, sensitive: Sequence[int], truth: Sequence[str | None], *, reading: str = "plain"
) -> dict[tuple[Pattern, str], tuple[int, int, list[int]]]:
    """Every rule of every sensitive record: how many records fit, how many of them show the value, and whom it is about."""
    shown = [row[-1] if number not in sensitive else "" for number, row in enumerate(rows)]
    values = sorted({value for value in [*shown, *(one for one in truth if one)] if value != ""})
    out: dict[tuple[Pattern, str], tuple[int, int, list[int]]] = {}
    for owner, true in zip(sensitive, truth, strict=True):
        for pattern in patterns_of(rows[owner]):
            for value in values if true is None else [true]:
                whole = [number for number, row in enumerate(rows) if fits(row, pattern, reading == "wildcard")]
                if reading == "known-only":
                    whole = [number for number in whole if shown[number] != ""]
                both = sum(shown[number] == value for number in whole)
                known = out.setdefault((pattern, value), (len(whole), both, []))
                known[2].append(owner)
    return out


def unsafe_about(
    rows: Rows,
    sensitive: Sequence[int],
    truth: Sequence[str | None],
    *,
    min_confidence: Fraction,
    min_support: int,
    reading: str = "plain",
) -> dict[tuple[Pattern, str], tuple[int, int, list[int]]]:
    """Those rules that are above both thresholds."""
    found = rules_about(rows, sensitive, truth, reading=reading)
    return {
        rule: (whole, both, sorted(owners))
        for rule, (whole, both, owners) in found.items()
        if both > min_support and both > min_confidence * whole
    }


def shares_of_blanks(
    rows: Rows, truth: Sequence[str | None], sensitive: Sequence[int], *, min_support: int
) -> dict[tuple[int, Pattern], tuple[int, int]]:
    """For each sensitive record and pattern: how many other blanks fit it, and how many of those hide the record's value.

    ``truth`` is what each record's sensitive cell holds where that is blank; a pattern needs more than the support, the empty one does not.
    """
    blank = [number for number, row in enumerate(rows) if row[-1] == "" or number in sensitive]
    out = {}
    for owner in sensitive:
        if truth[owner] is None:
            continue
        for pattern in [frozenset[tuple[int, str]](), *patterns_of(rows[owner])]:
            whole = [number for number in blank if number != owner and fits(rows[number], pattern)]
            both = sum(truth[number] == truth[owner] for number in whole)
            if whole and (not pattern or both > min_support):
                out[owner, pattern] = len(whole), both
    return out


def bayes(rows: Rows, sensitive: Sequence[int]) -> list[dict[str, float]]:
    """What naive Bayes gives each value for each sensitive record, one product after the other."""
    shown = [row[-1] if number not in sensitive else "" for number, row in enumerate(rows)]
    values = sorted(set(shown) - {""})
    out = []
    for owner in sensitive:
        weight = {}
        for value in values:
            mine = [row for row, one in zip(rows, shown, strict=True) if one == value]
            product = len(mine) / sum(one != "" for one in shown)
            for column, cell in enumerate(rows[owner][:-1]):
                if cell != "":
                    known = [row[column] for row in mine if row[column] != ""]
                    width = len({row[column] for row in rows} - {""})
                    product *= (known.count(cell) + 1) / (len(known) + width)
            weight[value] = product
        out.append({value: one / sum(weight.values()) for value, one in weight.items()})
    return out
