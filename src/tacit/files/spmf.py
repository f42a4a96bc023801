"""Text files of SPMF: itemsets and rules with supports.

Itemsets are lines ``1 2 3 #SUP: 5``, rules ``1 2 ==> 3 #SUP: 5 #CONF: 0.75``. Supports are counts; numbers with a decimal point are shares.
Lines ``@ITEM=1=bread`` name the items. Items are divided by blanks, in some rules by commas, so names must not hold blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tacit.errors import InputError
from tacit.files.disk import Input
from tacit.files.header import FileHeader
from tacit.files.printout import Printout, TextColumn, named_sets, place

_LINE = re.compile(
    r"(?P<sets>.*?)\s*#SUP:\s*(?P<support>[^\s#]+)(?:\s*#CONF:\s*(?P<confidence>[^\s#]+))?(?P<rest>(?:\s*#.*)?)\s*"
)
_FIELD = re.compile(r"#[^\s:#]*")
_ITEM = re.compile(r"@ITEM=(?P<number>[^=]*)=(?P<name>.*)")
_NUMBERS = re.compile(r"\d+(?:,\d+)+")
_ARROW = "==>"


def read(file: Input, known: FileHeader) -> Printout:
    """Read an SPMF file of itemsets or rules."""
    where = file.name
    names: dict[str, str] = {}
    lines: list[int] = []
    sets: list[str] = []
    supports: list[str] = []
    confidences: list[str] = []
    unread: dict[str, None] = {}
    with file.open_text() as stream:
        for number, line in enumerate(stream, 1):
            line = line.strip()
            if not line or line.startswith(("@", "%")):
                if item := _ITEM.fullmatch(line):
                    names[item["number"].strip()] = item["name"].strip()
                continue
            match = _LINE.fullmatch(line)
            if match is None:
                raise InputError("is not a line of SPMF", where=place(where, number), remedy="Write it like 1 2 3 #SUP: 5")
            lines.append(number)
            sets.append(match["sets"])
            supports.append(match["support"])
            confidences.append(match["confidence"] or "")
            unread.update(dict.fromkeys(_FIELD.findall(match["rest"])))
    is_rules = bool(sets) and _ARROW in sets[0]
    for number, text in zip(lines, sets, strict=True):
        if text.count(_ARROW) != is_rules:
            raise InputError(
                "mixes itemsets and rules, or has more than one arrow", where=place(where, number), remedy="Write one rule a line"
            )
    named = named_sets(*(_side(sets, side, names) for side in ((0, 2) if is_rules else (0,))))
    support = TextColumn("#SUP", supports)
    is_share = any("." in text for text in supports)
    return Printout.of(
        where,
        lines,
        named,
        known,
        count=None if is_share else support,
        support=support if is_share else None,
        confidence=TextColumn("#CONF", confidences) if is_rules else None,
        unread=tuple(unread),
    )


def _side(sets: list[str], side: int, names: dict[str, str]) -> Iterator[list[str]]:
    """Yield the items before (0) or after (2) arrows."""
    for text in sets:
        tokens = text.partition(_ARROW)[side].split()
        parts = [part for token in tokens for part in (token.split(",") if _NUMBERS.fullmatch(token) else [token])]
        yield [names.get(part, part) for part in parts]
