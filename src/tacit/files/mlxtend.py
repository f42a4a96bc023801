"""CSV files of mlxtend frames.

Sets print as ``frozenset({'a', 'b'})``, or in other libraries as ``{'a'}``, ``['a', 'b']`` or ``('a', 'b')``; supports are shares. Nothing is
evaluated: a set is cut into tokens, and each distinct token is read once as a Python literal.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tacit.errors import InputError
from tacit.files.counts import Place
from tacit.files.delimited import holds, read_grid
from tacit.files.disk import Input
from tacit.files.header import FileHeader
from tacit.files.printout import Printout, TextColumn, named_sets, place, with_extras

_STRING = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_PLAIN = r"""[^\s,'"(){}\[\]]+"""
#: A string, a number or word, or a NumPy scalar such as ``np.int64(3)``.
_TOKEN = re.compile(rf"(?:{_STRING}|[A-Za-z_][\w.]*\((?:{_STRING}|{_PLAIN})\)|{_PLAIN})")
_LIST = rf"\s*(?:{_TOKEN.pattern}(?:\s*,\s*{_TOKEN.pattern})*\s*,?\s*)?"
_SET = re.compile(
    rf"\s*(?:(?:frozenset|set)\(\)|(?:frozenset|set)\((?:\{{{_LIST}\}}|\[{_LIST}\])\)|\{{{_LIST}\}}|\[{_LIST}\]|\({_LIST}\))\s*"
)
_WRAPPED = re.compile(r"\s*(?:frozenset|set)\((.*)\)\s*", re.DOTALL)


def read(file: Input, known: FileHeader, delimiter: str) -> Printout:
    """Read a CSV file of mlxtend's itemsets or rules.

    An index column may stand first.
    """
    grid = read_grid(file, delimiter)

    def at(index: int, column: str) -> str:
        return place(grid.where, int(grid.lines[index]), column)

    is_rules = holds(grid.names, "antecedents", "consequents")
    sides = [_tokens(grid.need(name), at) for name in (("antecedents", "consequents") if is_rules else ("itemsets",))]
    printout = Printout.of(
        grid.where,
        grid.lines,
        named_sets(*sides, name_of=lambda token: token_name(token) or ""),
        known,
        support=grid.column("support") if is_rules else grid.need("support"),
        confidence=grid.column("confidence") if is_rules else None,
        whole_support=grid.column("antecedent support") if is_rules else None,
        in_full=True,
    )
    read_here = ("antecedents", "consequents", "itemsets", "support", "confidence", "antecedent support")
    return with_extras(printout, grid.others(read_here))


def set_tokens(text: str) -> list[str] | None:
    """Return the tokens of a printed set, or None.

    >>> set_tokens("frozenset({'a', np.int64(3)})")
    ["'a'", 'np.int64(3)']
    """
    if not _SET.fullmatch(text):
        return None
    wrapped = _WRAPPED.fullmatch(text)
    return _TOKEN.findall(wrapped.group(1) if wrapped else text)


def _tokens(column: TextColumn, at: Place) -> Iterator[list[str]]:
    """Yield the checked tokens of every cell."""
    readable: set[str] = set()
    for line, text in enumerate(column.texts):
        tokens = set_tokens(text)
        if tokens is not None and not readable.issuperset(tokens):
            readable.update(token for token in tokens if token_name(token) is not None)
        if tokens is None or not readable.issuperset(tokens):
            raise InputError(
                "is not a printed set", where=at(line, column.name), remedy="Write it like frozenset({'bread', 'milk'})"
            )
        yield tokens


def token_name(token: str) -> str | None:
    """Return the item of a token, or None when it cannot be read.

    >>> token_name("np.str_('a')"), token_name("3.50"), token_name("nan")
    ('a', '3.50', 'nan')
    """
    if token[:1] not in "'\"" and token.endswith(")"):
        token = token[token.index("(") + 1 : -1]
    if token[:1] not in ("'", '"'):
        return token
    try:
        value = ast.literal_eval(token)
    except (ValueError, SyntaxError):
        return None
    return value if isinstance(value, str) else None
