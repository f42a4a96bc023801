"""Patterns of items, as people write them.

A pattern such as ``a and b and not (c or d)`` has the words ``and``, ``or``, ``not`` in any case, and parentheses; everything else between
blanks and parentheses is the name of an item. Names that contain these, or read like one of the words, are written in single or double
quotation marks; inside, the mark itself is doubled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit.model.arrays import Flags
from tacit.model.errors import OptionError

#: Patterns over more items than this are refused: their truth table has 2**16 lines.
MOST_ITEMS = 16
_MOST_DEPTH = 100
_TOKEN = re.compile(
    r"""\s*(?:(?P<sign>[()])|"(?P<double>(?:[^"]|"")*)"|'(?P<single>(?:[^']|'')*)'|(?P<word>[^\s()"'][^\s()]*))"""
)
_WORDS = ("and", "or", "not")


class Token(NamedTuple):
    """Word, parenthesis or name, with its place (from 1)."""

    kind: str
    text: str
    position: int


@dataclass(frozen=True, slots=True)
class Node:
    """Item, or ``and``, ``or``, ``not`` of its parts."""

    kind: str
    parts: tuple[Node, ...] = ()
    item: int = 0

    def truth(self, items: int) -> Flags:
        """Return the truth table over all item combinations."""
        if self.kind == "item":
            return (np.arange(1 << items) >> self.item & 1).astype(np.bool_)
        parts = [part.truth(items) for part in self.parts]
        if self.kind == "not":
            return ~parts[0]
        joined: Flags = np.logical_and.reduce(parts) if self.kind == "and" else np.logical_or.reduce(parts)
        return joined


@dataclass(frozen=True, slots=True)
class Pattern:
    """Pattern over items: its text, items and meaning."""

    text: str
    names: tuple[str, ...]
    positions: tuple[int, ...]
    root: Node

    @classmethod
    def parse(cls, text: str) -> Pattern:
        """Parse a pattern; raise :class:`OptionError` at its place."""
        reader = _Reader(text)
        root = reader.whole()
        if len(reader.places) > MOST_ITEMS:
            what = f"speaks of {len(reader.places)} items, and every combination of them would have to be looked at"
            raise OptionError(what, where="--pattern", remedy=f"Use at most {MOST_ITEMS} items")
        return cls(text.strip(), tuple(reader.places), tuple(reader.places.values()), root)

    def truth(self) -> Flags:
        """Return the truth table over all item combinations."""
        return self.root.truth(len(self.names))


class _Reader:
    """Recursive-descent parser of patterns."""

    def __init__(self, text: str) -> None:
        self.tokens = list(_tokens(text))
        self.end = len(text.rstrip()) + 1
        self.at = 0
        self.depth = 0
        #: Names of items, and where each is first used.
        self.places: dict[str, int] = {}

    def whole(self) -> Node:
        if not self.tokens:
            raise OptionError("is empty", where="--pattern", remedy='Write for instance "a and not b"')
        found = self.one_of("or")
        if self.at < len(self.tokens):
            token = self.tokens[self.at]
            missing = "'and' or 'or' is missing before this place"
            raise _wrong("a closing parenthesis has no opening one" if token.kind == ")" else missing, token.position)
        return found

    def one_of(self, word: str) -> Node:
        """Parse parts joined by ``or``, then by ``and``."""
        parts = [self.one_of("and") if word == "or" else self.negated()]
        while self.peek() == word:
            self.at += 1
            parts.append(self.one_of("and") if word == "or" else self.negated())
        return parts[0] if len(parts) == 1 else Node(word, tuple(parts))

    def negated(self) -> Node:
        if self.peek() != "not":
            return self.single()
        self.deeper()
        self.at += 1
        part = self.negated()
        self.depth -= 1
        return Node("not", (part,))

    def single(self) -> Node:
        kind = self.peek()
        position = self.tokens[self.at].position if kind else self.end
        if kind == "(":
            self.deeper()
            self.at += 1
            inner = self.one_of("or")
            if self.peek() != ")":
                raise _wrong("the parenthesis that opens here is not closed", position)
            self.at += 1
            self.depth -= 1
            return inner
        if kind != "item":
            raise _wrong("an item is missing at this place", position)
        name = self.tokens[self.at].text
        self.at += 1
        self.places.setdefault(name, position)
        return Node("item", item=list(self.places).index(name))

    def peek(self) -> str:
        return self.tokens[self.at].kind if self.at < len(self.tokens) else ""

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > _MOST_DEPTH:
            raise _wrong("parentheses are nested too deeply", self.tokens[self.at].position)


def _tokens(text: str) -> Iterator[Token]:
    at = 0
    body = text.rstrip()
    while at < len(body):
        match = _TOKEN.match(body, at)
        if match is None:
            start = at + len(body[at:]) - len(body[at:].lstrip())
            raise _wrong("the quotation mark that opens here is not closed", start + 1)
        at = match.end()
        kind = match.lastgroup or ""
        text = match[kind]
        start = match.start(kind)
        if kind == "sign":
            yield Token(text, text, start + 1)
        elif kind == "word":
            yield Token(text.lower() if text.lower() in _WORDS else "item", text, start + 1)
        else:
            mark = '"' if kind == "double" else "'"
            yield Token("item", text.replace(mark * 2, mark), start)


def _wrong(what: str, position: int) -> OptionError:
    remedy = 'Write for instance "a and not (b or c)", names with blanks or parentheses in quotation marks'
    return OptionError(what, where=f"--pattern, position {position}", remedy=remedy)
