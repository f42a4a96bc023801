"""Texts that a spreadsheet would take for formulas, written so that it does not, and read back as they were.

A text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return, and is not a number, gets an apostrophe in front, which
spreadsheets do not show. One that begins with apostrophes and then with such a sign gets one more, so that every text comes back.
"""

from __future__ import annotations

import re

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d+)*|[.,]\d+)([eE][+-]?\d+)?\s*%?")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")


def is_formula(text: str) -> bool:
    """Whether a spreadsheet might compute the text, or it looks as if it was guarded against that.

    >>> is_formula("=1+1"), is_formula("-1"), is_formula("-5 to -1"), is_formula("'@x"), is_formula("x=y")
    (True, False, True, True, False)
    """
    return _FORMULA.match(text) is not None and _NUMBER.fullmatch(text) is None


def guard(text: str) -> str:
    """Return the text as it is written.

    >>> guard("=1+1"), guard("'=x"), guard("-1"), guard("plain")
    ("'=1+1", "''=x", '-1', 'plain')
    """
    return f"'{text}" if is_formula(text) else text


def unguard(text: str) -> str:
    """Return the text that was written so.

    >>> unguard("'=1+1"), unguard("''=x"), unguard("-1"), unguard("'plain'")
    ('=1+1', "'=x", '-1', "'plain'")
    """
    return text[1:] if _GUARDED.match(text) else text
