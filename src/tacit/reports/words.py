"""Nouns, numbers and lines, as every report writes them."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap
from typing import Any, Literal

ReportKind = Literal["internal", "external"]
REPORT_KINDS: tuple[ReportKind, ...] = ("internal", "external")

#: The width of lines where the terminal names none.
WIDTH = 100
#: A width at which no line is broken.
UNBROKEN = 1_000_000


@dataclass(frozen=True, slots=True)
class KindWords:
    """Words about one kind of release.

    ``line`` is one published entry, ``limits`` the label of what limits the entries. ``finds_groups`` is False where everybody is named
    anyway, ``has_values`` where a sensitive value may be revealed.
    """

    line: str
    limits: str
    finds_groups: bool = True
    has_values: bool = True


KINDS = {
    "itemsets": KindWords("itemset", "Threshold", has_values=False),
    "rules": KindWords("rule", "Threshold"),
    "buckets": KindWords("group", "Groups", finds_groups=False),
    "table": KindWords("row", "Blanks", finds_groups=False),
    "frequencies": KindWords("cell", "Cells"),
}


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun.

    >>> counted(1, "group"), counted(2641, "group"), counted(3, "person", "people")
    ('1 group', '2,641 groups', '3 people')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def people(number: int) -> str:
    """Return a number of people.

    >>> people(1), people(1200)
    ('1 person', '1,200 people')
    """
    return counted(number, "person", "people")


def as_share(count: int, n: int | None) -> str:
    """Return a count as a percentage in parentheses.

    >>> as_share(1509, 30162), as_share(1, 30162), as_share(3, None)
    (' (5.00 %)', ' (0.0033 %)', '')
    """
    if not n:
        return ""
    share = 100 * count / n
    return f" ({share:.2f} %)" if share >= 0.1 else f" ({share:.2g} %)"


def format_number(value: Any) -> str:
    """Return a measure as it is shown.

    >>> format_number(30162), format_number(0.123456789), format_number(None), format_number(float("inf")), format_number(1e-9)
    ('30,162', '0.123457', 'not counted', 'infinite', '1e-09')
    """
    if value is None:
        return "not counted"
    if isinstance(value, float) and not value.is_integer():
        return f"{value:.6g}" if abs(value) != float("inf") else "infinite"
    return f"{int(value):,}"


def format_limit(value: object) -> str:
    """Return a limit as in a settings file.

    >>> format_limit(None), format_limit(True), format_limit(0.8), format_limit(10)
    ('not set', 'true', '0.8', '10')
    """
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def visible(text: str) -> str:
    r"""Escape signs that a terminal or browser obeys.

    >>> visible("a\x1b[31mb\u202e")
    'a\\x1b[31mb\\u202e'
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def first_sentence(text: str) -> str:
    r"""Return the first sentence of a text.

    >>> first_sentence("3 groups of 9 people. More follows.\nMethod   balanced")
    '3 groups of 9 people.'
    """
    line = " ".join(text.strip().partition("\n")[0].split())
    end = line.find(". ")
    return line if end < 0 else line[: end + 1]


def fold(text: str, width: int) -> list[str]:
    """Return a text in lines; words stay whole."""
    return wrap(visible(text), width, break_long_words=False, break_on_hyphens=False)


def bullet(mark: str, text: str, width: int, *, indent: str = "  ") -> list[str]:
    """Return a text as an indented bullet."""
    lead = f"{indent}{mark} "
    lines = fold(text, max(30, width - len(lead))) or [""]
    return [lead + lines[0], *(" " * len(lead) + line for line in lines[1:])]
