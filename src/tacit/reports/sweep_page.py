"""The report of a sweep: its picture, its table, and what it recommends."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

from tacit.reports.document import Document, Drawn, Part, rows


def sweep_document(title: str, *, text: str, table: str, picture: str, caption: str) -> Document:
    """A sweep as a report, from what the terminal shows (``text``), its table as CSV and its picture."""
    head, _, *more = text.strip().split("\n\n")
    names, *lines = list(csv.reader(io.StringIO(table)))
    told = tuple(sentence for block in more for sentence in _sentences(block) if sentence[:1] != "-")
    columns = tuple(name.replace("_", " ") for name in names)
    return Document(
        title=f"Tacit: {title}",
        verdict=None,
        sentence=f"{' '.join(head.split())}.",
        parts=(
            Part("What came out", told),
            Part("Picture", pictures=(Drawn(picture, caption),)),
            Part(
                "Every setting",
                tables=(
                    rows(
                        "One row for each; empty where something was not counted",
                        columns,
                        [tuple(map(_shown, line)) for line in lines],
                    ),
                ),
            ),
        ),
        note="Internal report: it tells thresholds at which single people show. It names no group and no value.",
    )


def _sentences(block: str) -> Iterator[str]:
    r"""The lines of a paragraph: indented ones behind their heading, words explained with a colon.

    >>> list(_sentences("Lowest\n  k = 5: 7 people\nof one    a single person"))
    ['Lowest, k = 5: 7 people', 'of one: a single person']
    """
    lines = block.splitlines()
    for place, line in enumerate(lines):
        if line.startswith(" "):
            heading = next(one for one in reversed(lines[:place]) if not one.startswith(" "))
            yield f"{heading}, {line.strip()}"
        elif not (place + 1 < len(lines) and lines[place + 1].startswith(" ")):
            yield re.sub(r" {2,}", ": ", line.strip(), count=1)


def _shown(cell: str) -> str:
    """A number of the table with few digits."""
    if re.fullmatch(r"\d+", cell):
        return f"{int(cell):,}"
    return f"{float(cell):.4g}" if re.fullmatch(r"\d+\.\d+(e-?\d+)?", cell) else cell
