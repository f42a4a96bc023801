"""Totals of a frequency table under other names than ``All``, and ranges that overlap: found by their names and by arithmetic.

A total that is taken for a value hides the plainest inference there is: a hidden cell is the total less the other parts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from math import inf

from tacit.errors import InputError
from tacit.model.release import Counts

Labels = list[list[str | None]]

#: What totals are called in tables of several languages, whatever the case; numbers must agree.
_NAMES = frozenset(
    (
        *("any", "either", "both", "everyone", "everybody", "overall", "whole", "altogether", "combined", "insgesamt", "gesamt"),
        *("gesamtergebnis", "summe", "alle", "zusammen", "ensemble", "tous", "toutes", "somme", "totale", "totali", "tutti"),
        *("tutte", "complessivo", "todos", "todas", "ambos", "ambas", "suma", "soma", "totaal", "alles", "samtlige", "totalt"),
        *("yhteensä", "razem", "ogółem", "celkem", "spolu", "összesen", "skupaj", "ukupno", "toplam", "σύνολο", "всего", "итого"),
        *("разом", "合计", "总计", "總計", "合計", "総数", "計", "계", "합계", "tổng"),
    )
)
_WORDS = re.compile(
    r"(?:all|both|total|totals|toutes?|tous|todos|todas|alle|ambos|tutti|tutte)\b.*|.*\b(?:total|totals|combined|gesamt|insgesamt)"
)
_NOT_TOTALS = re.compile(r"all\s+others?\b.*")
_NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,6})?")
_RANGE = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*(?:-|–|—|to)\s*(\d{1,9}(?:\.\d{1,6})?)")
_FROM = re.compile(r"(?:>=?|≥)\s*(\d{1,9})|(\d{1,9})\s*(?:\+|and over|and older|or more)")
_UP_TO = re.compile(r"(?:<=?|≤|under|below|up to)\s*(\d{1,9})")


def sounds_like_total(label: str) -> bool:
    """Whether a label is what tables call a total.

    >>> [sounds_like_total(label) for label in ("Both", "Total persons", "All sexes", "Insgesamt", "All others", "Alloy")]
    [True, True, True, True, False, False]
    """
    told = " ".join(label.casefold().split())
    return told in _NAMES or (_WORDS.fullmatch(told) is not None and _NOT_TOTALS.fullmatch(told) is None)


def mark_totals(
    columns: Sequence[str],
    labels: Labels,
    ends: tuple[Counts, Counts],
    place: Callable[[int, str], str],
    *,
    n: int | None,
    values: Iterable[str],
    declared: bool,
) -> Labels:
    """The labels, with None for each total under another name; a value that may be one, or not, is refused.

    ``values`` are labels that the caller says are no totals; ``declared`` says that a header names the mark of totals, so that other labels
    are doubted only where both name and numbers speak for a total.
    """
    out = list(labels)
    known = set(values)
    for number, column in enumerate(columns):

        def refuse(label: str, at: int = number, name: str = column) -> None:
            what = "the value may be the total of the others"
            remedy = "Say --any VALUE if it is, --no-total VALUE if it is not"
            raise InputError(what, where=place(out[at].index(label), name), remedy=remedy)

        named = {label for label in out[number] if label is not None and sounds_like_total(label)} - known
        possible = _possible_totals(out, number, ends, n) if named else {}
        for label in sorted(named):
            if (declared and label in possible) or (not declared and label not in possible):
                refuse(label)
        if declared:
            continue
        if named:
            out[number] = [None if label in named else label for label in out[number]]
        # One other value is not enough to doubt: two values of equal counts are common.
        for label, others in _possible_totals(out, number, ends, n).items():
            if others > 1 and label not in known:
                refuse(label)
        _check_ranges(out[number], column, known, place)
    return out


def _possible_totals(labels: Labels, number: int, ends: tuple[Counts, Counts], n: int | None) -> dict[str, int]:
    """The values whose counts may be the sum of all others wherever they stand beside others, and beside how many at most."""
    lo, hi = (one.tolist() for one in ends)
    groups: dict[tuple[str | None, ...], list[int]] = {}
    others = [column for place, column in enumerate(labels) if place != number]
    for row, key in enumerate(zip(*others, strict=True) if others else [()] * len(labels[number])):
        groups.setdefault(key, []).append(row)
    evidence: dict[str, int] = {}
    refuted: set[str] = set()
    for key, rows in groups.items():
        parts = [row for row in rows if labels[number][row] is not None]
        whole = [(lo[row], hi[row]) for row in rows if labels[number][row] is None]
        if n is not None and all(label is None for label in key):
            whole.append((n, n))
        least = sum(lo[row] for row in parts)
        most = sum(hi[row] for row in parts)
        for row in parts:
            label = labels[number][row]
            assert label is not None
            is_sum = lo[row] <= most - hi[row] and hi[row] >= least - lo[row]
            if len(parts) > 1 and not (is_sum and all(low <= hi[row] and lo[row] <= high for low, high in whole)):
                refuted.add(label)
            elif len(parts) > 1 and lo[row] > 0:
                evidence[label] = max(evidence.get(label, 0), len(parts) - 1)
    return {label: most for label, most in evidence.items() if label not in refuted}


# Ranges


def _check_ranges(labels: Sequence[str | None], column: str, known: set[str], place: Callable[[int, str], str]) -> None:
    """Refuse numeric ranges of one column that overlap: nobody would be in one of them only."""
    told = sorted({label for label in labels if label is not None} - known)
    spans = {label: span for label in told if (span := _span(label)) is not None}
    if len(spans) < len(told) or not any(low < high for low, high in spans.values()):
        return
    reached = -inf
    single = False
    for label in sorted(spans, key=lambda one: spans[one]):
        low, high = spans[label]
        # Ranges such as 0-5 and 5-10 share an end in many tables; a single number inside a range does not.
        if low < reached or (low == reached and (single or low == high)):
            what = "the ranges of the column overlap, so that its values do not exclude each other"
            remedy = "Put ranges that overlap into files with columns of their own, and audit these together; or say --any VALUE for a total"
            raise InputError(what, where=place(list(labels).index(label), column), remedy=remedy)
        reached = max(reached, high)
        single = low == high


def _span(label: str) -> tuple[float, float] | None:
    """The ends of a label that is a number or a range of numbers; None where it is neither."""
    told = label.strip().casefold()
    if _NUMBER.fullmatch(told):
        return float(told), float(told)
    if found := _RANGE.fullmatch(told):
        low, high = float(found[1]), float(found[2])
        return (low, high) if low < high else None
    if found := _FROM.fullmatch(told):
        return float(found[1] or found[2]), inf
    if found := _UP_TO.fullmatch(told):
        return -inf, float(found[1])
    return None
