"""Text files of Borgelt's and FIMI programs: ``a b c (12.3)``.

Borgelt's programs print the support as a percentage of the transactions unless it was asked for as a count; FIMI programs print counts.
Numbers that are all whole, some of them above 100, are counts; numbers with decimals are percentages; whole numbers up to 100 may be either,
so the form must be named: ``fimi`` reads counts, ``borgelt`` percentages. Two numbers are a percentage and a count. A rule
``head <- body (40, 80)`` prints the support of its **body** and its confidence.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Literal

from tacit.errors import InputError
from tacit.files.disk import Input
from tacit.files.header import FileHeader
from tacit.files.printout import Printout, TextColumn, named_sets, place
from tacit.files.recognition import LINE_WITH_NUMBERS, split_numbers

_ARROW = re.compile(r"(?:^|(?<=\s))<-(?=\s|$)")


def read(file: Input, known: FileHeader, unit: Literal["percentages", "counts"] | None = None) -> Printout:
    """Read a file of percentages or counts."""
    where = file.name
    lines: list[int] = []
    sides: list[list[str]] = []
    numbers: list[list[str]] = []
    with file.open_text() as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            match = LINE_WITH_NUMBERS.fullmatch(line.strip())
            printed = split_numbers(match["numbers"]) if match else []
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
    if not is_rules and numbers and all(len(printed) == 2 for printed in numbers):
        return _counts_and_percentages(where, lines, sides, numbers, known)
    supports = [printed[0] for printed in numbers]
    if unit is None and supports and all(text.isdecimal() and int(text) <= 100 for text in supports):
        remedy = "Say --form fimi for counts, --form borgelt for percentages"
        raise InputError("the numbers may be counts or percentages", where=where, remedy=remedy)
    # Whole numbers, some of them above 100.
    are_counts = unit == "counts" or (unit is None and bool(supports) and all(text.isdecimal() for text in supports))
    column = TextColumn("support", supports if are_counts else [f"{text}%" for text in supports])
    kept = 2 if is_rules else 1
    unread = [f"number {place} in parentheses" for place in range(kept + 1, 1 + max(map(len, numbers), default=0))]
    # The body, which is the antecedent, stands behind the arrow.
    named = named_sets(*([parts[side].split() for parts in sides] for side in ((1, 0) if is_rules else (0,))))
    name = "count" if are_counts else "support"
    columns = {name: column}
    if is_rules:
        confidences = [f"{printed[1]}%" if len(printed) > 1 else "" for printed in numbers]
        columns = {f"whole_{name}": column, "confidence": TextColumn("confidence", confidences)}
    return Printout.of(where, lines, named, known, unread=tuple(unread), **columns)


def _counts_and_percentages(
    where: str, lines: list[int], sides: list[list[str]], numbers: list[list[str]], known: FileHeader
) -> Printout:
    """Read itemsets with a percentage and a count each."""
    first, second = ([printed[place] for printed in numbers] for place in (0, 1))
    whole = [all(text.isdecimal() for text in texts) for texts in (first, second)]
    if whole == [True, True]:
        # A count is at least its percentage where there are 100 people or more, and is above 100 somewhere.
        whole = [any(int(text) > 100 for text in texts) for texts in (first, second)]
    if whole not in ([True, False], [False, True]):
        remedy = "Print one number, and say --form fimi for counts or --form borgelt for percentages"
        raise InputError("which of the two numbers is the count cannot be told", where=where, remedy=remedy)
    counts, shares = (first, second) if whole[0] else (second, first)
    columns = {"count": TextColumn("count", counts), "support": TextColumn("support", [f"{text}%" for text in shares])}
    return Printout.of(where, lines, named_sets([parts[0].split() for parts in sides]), known, **columns)


read_percentages = partial(read, unit="percentages")
read_counts = partial(read, unit="counts")
