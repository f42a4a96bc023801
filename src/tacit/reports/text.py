"""Documents as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from tacit.reports.document import Document, Facts, Figure, Gallery, Heading, Listing, Paragraph, Part, Proof, Table
from tacit.reports.sentences import UNBROKEN, WIDTH, bullet, fold, visible

#: The number of remarks below the verdict; pages list all.
SHOWN_REMARKS = 10
_INDENT = "       "


def render_text(document: Document, *, width: int = WIDTH) -> str:
    """Return a document as text, the verdict first."""
    word = f"{document.verdict.upper()}: " if document.verdict else ""
    top = [line for sentence in (word + document.lead[0], *document.lead[1:]) for line in fold(sentence, width)]
    for remark in document.remarks[:SHOWN_REMARKS]:
        top += bullet("-", remark, width)
    if (more := len(document.remarks) - SHOWN_REMARKS) > 0:
        top += bullet("-", f"And {more:,} more, which the record lists.", width)
    blocks = ["\n".join(top)]
    for section in document.sections_for("text"):
        lines = [line for part in section.parts for line in part_lines(part, width)]
        blocks.append("\n".join([visible(section.title), *lines] if section.title else lines))
    return "\n\n".join(blocks) + "\n"


def part_lines(part: Part, width: int) -> Iterator[str]:
    """Yield the lines of a part; figures have none."""
    match part:
        case Paragraph():
            yield from (f"  {line}" for line in fold(f"{part.lead}: {part.text}" if part.lead else part.text, width - 2))
        case Heading():
            yield visible(part.text)
        case Listing():
            yield from _list_lines(part, width)
        case Table():
            yield from table_lines(part, width)
        case Facts():
            yield from fact_lines(part.rows, width)
        case Gallery():
            for inner in part.parts:
                yield from part_lines(inner, width)
        case Proof():
            yield from proof_lines(part, width)
        case Figure():
            return


def fact_lines(rows: Iterable[tuple[str, str]], width: int) -> Iterator[str]:
    """Yield names and values in two columns."""
    listed = [(visible(name), value) for name, value in rows]
    column = max(8, *(len(name) for name, _ in listed)) if listed else 0
    for name, value in listed:
        yield from (line.rstrip() for line in bullet(name.ljust(column), value, width, indent=""))


def facts_text(rows: Iterable[tuple[str, str]], *, headline: str = "", width: int = UNBROKEN) -> str:
    """Return a headline, and names with values below it."""
    return "\n".join([*([headline] if headline else []), *fact_lines(rows, width)]) + "\n"


def _list_lines(listing: Listing, width: int) -> Iterator[str]:
    indent = "  "
    if listing.title:
        yield f"  {visible(listing.title)}"
        indent = "    "
    for number, item in enumerate(listing.items, start=1):
        yield from bullet(f"{number}." if listing.is_numbered else item.mark, "".join(item.parts), width, indent=indent)
        for command in item.commands:
            yield f"{_INDENT}{visible(command)}"  # not folded, so that it can be copied


def table_lines(table: Table, width: int = UNBROKEN) -> Iterator[str]:
    """Yield a table, numbers right-aligned, long texts folded."""
    lines = [[visible(cell) for cell in row] for row in (table.columns, *table.rows)]
    wide = _column_widths(lines, width)
    for line in lines:
        folded = [wrap(cell, size, break_on_hyphens=False) or [""] for cell, size in zip(line, wide, strict=True)]
        for level in range(max(map(len, folded))):
            cells = [parts[level] if level < len(parts) else "" for parts in folded]
            columns = zip(cells, wide, table.is_numeric, strict=True)
            aligned = (cell.rjust(size) if is_number else cell.ljust(size) for cell, size, is_number in columns)
            yield "  ".join(aligned).rstrip()


def _column_widths(lines: Sequence[Sequence[str]], width: int) -> list[int]:
    columns = list(zip(*lines, strict=True))
    wide = [max(1, *map(len, cells)) for cells in columns]
    least = [max(1, *(len(word) for cell in cells for word in [*cell.split(), ""])) for cells in columns]
    while sum(wide) + 2 * (len(wide) - 1) > width:
        shrinking = [column for column in range(len(wide)) if wide[column] > least[column]]
        if not shrinking:
            break
        wide[max(shrinking, key=lambda column: wide[column])] -= 1
    return wide


def proof_lines(proof: Proof, width: int = WIDTH) -> Iterator[str]:
    """Yield a finding with the sum that proves it."""
    yield from bullet(proof.mark, proof.statement, width)
    column = max((len(number) for number, _ in proof.terms), default=0)
    for number, what in proof.terms:
        sign, _, digits = number.partition(" ")
        aligned = f"{sign} {digits:>{column - 2}}" if digits else " " * column
        yield from bullet(aligned, what, width, indent=_INDENT) if what else [f"{_INDENT}{aligned}"]
    if proof.in_full:
        yield from bullet("in full:", proof.in_full, width, indent=_INDENT)
    if proof.waived_by:
        yield from bullet("waived by", f"{proof.waived_by}: {proof.waived_for}", width, indent=_INDENT)
