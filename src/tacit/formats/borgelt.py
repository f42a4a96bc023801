"""Text files of Borgelt's programs, and of the FIMI programs (LCM and others), which look alike: ``a b c (12.3)``.

Borgelt's programs print the support as a percentage of the transactions unless it was asked for as a count; FIMI programs print counts.
Numbers that are all whole, some of them above 100, are counts; otherwise they are percentages. Where that is wrong, name the form:
``fimi`` reads counts, ``borgelt`` percentages. A rule ``head <- body (40, 80)`` prints the support of its **body** and its confidence.
"""

from __future__ import annotations

import os
import re
from typing import Literal

import numpy as np

from tacit.errors import InputError
from tacit.formats.files import FilePath, open_text
from tacit.formats.head import Head
from tacit.formats.header import FileHeader
from tacit.formats.printout import Printout, TextColumn, named_sets, place

_LINE = re.compile(r"(?P<sets>.*?)\s*\((?P<numbers>[^()]*)\)\s*")
_NUMBER = re.compile(r"[0-9.][0-9.eE+-]*")
_ARROW = re.compile(r"(?:^|(?<=\s))<-(?=\s|$)")


def looks_like(head: Head) -> bool:
    """Whether the first lines end in numbers in parentheses."""
    lines = head.lines[:5]
    matches = [_LINE.fullmatch(line) for line in lines]
    return bool(lines) and all(match and _numbers(match["numbers"]) for match in matches)


def read_percentages(path: FilePath, known: FileHeader) -> Printout:
    """The lines of a file whose supports are percentages."""
    return _read(path, known, "percentages")


def read_counts(path: FilePath, known: FileHeader) -> Printout:
    """The lines of a file whose supports are counts."""
    return _read(path, known, "counts")


def read(path: FilePath, known: FileHeader) -> Printout:
    """The lines of a file whose numbers themselves tell whether they are percentages or counts."""
    return _read(path, known, None)


def _numbers(text: str) -> list[str]:
    parts = re.split(r"[,;\s]+", text.strip().replace("%", ""))
    return parts if all(_NUMBER.fullmatch(part) for part in parts) else []


def _read(path: FilePath, known: FileHeader, unit: Literal["percentages", "counts"] | None) -> Printout:
    where = os.path.basename(os.fspath(path))
    lines: list[int] = []
    sides: list[list[str]] = []
    numbers: list[list[str]] = []
    with open_text(path) as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            match = _LINE.fullmatch(line.strip())
            printed = _numbers(match["numbers"]) if match else []
            parts = _ARROW.split(match["sets"]) if match else []
            if not printed or len(parts) > 2 or (sides and len(parts) != len(sides[0])):
                raise InputError(
                    "does not read as items and a number in parentheses like the lines before",
                    where=place(where, number),
                    remedy="Write it like a b c (12.3), or a rule like c <- a b (40, 80)",
                )
            lines.append(number)
            sides.append(parts)
            numbers.append(printed)
    is_rules = bool(sides) and len(sides[0]) == 2
    supports = [printed[0] for printed in numbers]
    are_counts = unit == "counts" or (unit is None and _are_counts(supports))
    column = TextColumn("support", supports if are_counts else [f"{text}%" for text in supports])
    # The body, which is the antecedent, stands behind the arrow.
    items, sets = named_sets(*([parts[side].split() for parts in sides] for side in ((1, 0) if is_rules else (0,))))
    confidences = TextColumn("confidence", [f"{printed[1]}%" if len(printed) > 1 else "" for printed in numbers])
    return Printout(
        where, np.array(lines, np.int64), items, sets[0], sets[1] if is_rules else None,
        count=column if are_counts and not is_rules else None,
        support=column if not are_counts and not is_rules else None,
        confidence=confidences if is_rules else None,
        whole_count=column if are_counts and is_rules else None,
        whole_support=column if not are_counts and is_rules else None,
        header=known.header,
        only=known.only or "all",
    )  # fmt: skip


def _are_counts(texts: list[str]) -> bool:
    """Whether these numbers can only be counts: all whole, and some above 100."""
    return all(text.isdecimal() for text in texts) and any(int(text) > 100 for text in texts)
