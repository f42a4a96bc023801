"""What stands in a cell of a frequency table: a number, or a sign that it is hidden, with what that sign says itself."""

from __future__ import annotations

import re
from typing import NamedTuple

from tacit.model.convention import Convention

#: What other programs and offices write into a hidden cell, whatever the case; nothing at all is such a mark, too.
HIDDEN_MARKS = (
    *("", "*", "**", "~", "-", "--", "–", "—", "..", "...", ".", ":", "^", "#", "c", "s", "x", "z", "?"),
    *("nan", "na", "n/a", "null", "none", "[redacted]", "redacted", "suppressed", "hidden"),
)
#: What they call a total, whatever the case.
TOTALS = ("all", "total", "totals", "sum", "grand total", "*")

_NUMBER = re.compile(r"\d{1,16}(?:\.0*)?")
_THOUSANDS = re.compile(r"\d{1,3}(?:[,' \u00a0\u2009\u202f]\d{3}){1,5}")
_BELOW = re.compile(r"(?:<|under|fewer than|less than)\s*(\d{1,15})")
_AT_MOST = re.compile(r"(?:<=|≤|up to)\s*(\d{1,15})")
_RANGE = re.compile(r"(\d{1,15})\s*(?:-|–|to)\s*(\d{1,15})")
_NEGATIVE = re.compile(r"-(\d{1,15})(?:\.0*)?")
_AT_LEAST = re.compile(r"(?:>=|≥)\s*(\d{1,15})|(\d{1,15})\s*\+")


class CellText(NamedTuple):
    """A cell as it is printed: its number, or None where it is hidden; and the ends that the text itself gives, None where it gives none."""

    number: int | None
    least: int | None = None
    most: int | None = None


def read_cell(text: str) -> CellText | None:
    """What a cell says; None when it is neither a number nor a known mark.

    >>> read_cell("1,234").number, read_cell("12.0").number, read_cell("[REDACTED]").number, read_cell("about 5")
    (1234, 12, None, None)
    >>> read_cell("<5"), read_cell("1-4")
    (CellText(number=None, least=None, most=4), CellText(number=None, least=1, most=4))
    """
    told = text.strip().casefold()
    if _NUMBER.fullmatch(told):
        return CellText(int(told.split(".")[0]))
    if _THOUSANDS.fullmatch(told):
        return CellText(int(re.sub(r"\D", "", told)))
    if told in HIDDEN_MARKS:
        return CellText(None)
    if found := _BELOW.fullmatch(told):
        return CellText(None, most=int(found[1]) - 1) if int(found[1]) else None
    if found := _AT_MOST.fullmatch(told):
        return CellText(None, most=int(found[1]))
    if (found := _RANGE.fullmatch(told)) and int(found[1]) <= int(found[2]):
        return CellText(None, int(found[1]), int(found[2]))
    if found := _AT_LEAST.fullmatch(told):
        return CellText(None, least=int(found[1] or found[2]))
    return None


def read_cell_by(convention: Convention, text: str) -> CellText | None:
    """What a cell says under a convention: where it prints zeros, a mark of a small count stands for at least one person.

    >>> from tacit.model.convention import find_convention
    >>> omop = find_convention("omop")
    >>> read_cell_by(omop, "-5"), read_cell_by(omop, "<5"), read_cell_by(omop, "7").number
    (CellText(number=None, least=1, most=4), CellText(number=None, least=1, most=4), 7)
    """
    if convention.negative and (found := _NEGATIVE.fullmatch(text.strip())):
        text = f"<{found[1]}"
    cell = read_cell(text)
    if cell is None or cell.most is None or cell.least is not None:
        return cell
    return cell._replace(least=convention.least_hidden)


def is_total(text: str) -> bool:
    """Whether a label stands for any value.

    >>> is_total("All"), is_total("Alloy")
    (True, False)
    """
    return text.strip().casefold() in TOTALS
