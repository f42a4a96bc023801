"""A reproduction as text, as CSV, and as pictures."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from textwrap import wrap

from tacit.model.reproduction import Cell, Part, Reproduction
from tacit.reports.graph import graph_picture
from tacit.reports.lines import line_chart


def reproduction_text(made: Reproduction, *, width: int) -> str:
    """The whole reproduction for a terminal: what is missing first, then part by part, the paper beside ours."""
    blocks = [f"{made.name}: {made.citation}"]
    if made.left_out:
        listed = (f"  - {line}" if first else f"    {line}" for what in made.left_out for first, line in _folded(what, width - 4))
        blocks.append("\n".join(["NOT REPRODUCED:", *listed]))
    return "\n\n".join([*blocks, *(_part_text(part, width) for part in made.parts)]) + "\n"


def _part_text(part: Part, width: int) -> str:
    lines = [part.title]
    for label, text in (("Read as", part.reading), ("Outcome", part.outcome)):
        lines += [f"  {label if first else '':<8} {line}" for first, line in _folded(text, width - 11)]
    return "\n".join([*lines, *(f"    {line}".rstrip() for line in grid(part.head, part.rows, width - 4))])


def _folded(text: str, width: int) -> Iterator[tuple[bool, str]]:
    """The lines of a text, each with whether it is the first."""
    for number, line in enumerate(wrap(text, max(30, width), break_long_words=False, break_on_hyphens=False)):
        yield number == 0, line


def grid(head: Sequence[str], rows: Sequence[Sequence[Cell]], width: int) -> Iterator[str]:
    """A table in lines: numbers to the right, texts to the left and folded where the lines would be too long.

    >>> list(grid(["k", "found"], [[3, "all of them"], [30, "none"]], 10))
    [' k  found', ' 3  all of', '    them', '30  none']
    """
    table = [list(head), *([shown(cell) for cell in row] for row in rows)]
    numbers = [all(isinstance(row[column], (int, float, type(None))) for row in rows) for column in range(len(head))]
    wide = _widths(table, width)
    for line in table:
        folded = [wrap(cell, size, break_on_hyphens=False) or [""] for cell, size in zip(line, wide, strict=True)]
        for level in range(max(map(len, folded))):
            cells = [lines[level] if level < len(lines) else "" for lines in folded]
            aligned = (
                cell.rjust(size) if right else cell.ljust(size) for cell, size, right in zip(cells, wide, numbers, strict=True)
            )
            yield "  ".join(aligned).rstrip()


def _widths(table: Sequence[Sequence[str]], width: int) -> list[int]:
    """How wide the columns are: as wide as their content, the widest made narrower until a line fits, but none so that a word breaks."""
    wide = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
    least = [max(len(word) for line in table for word in [*line[column].split(), ""]) for column in range(len(wide))]
    while sum(wide) + 2 * (len(wide) - 1) > width:
        shrinking = [column for column in range(len(wide)) if wide[column] > least[column]]
        if not shrinking:
            break
        wide[max(shrinking, key=lambda column: wide[column])] -= 1
    return wide


def shown(cell: Cell) -> str:
    """A cell as text; seconds and shares with three significant digits.

    >>> shown(1258), shown(0.01234), shown(None)
    ('1,258', '0.0123', '')
    """
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:.3g}" if abs(cell) < 1000 else f"{cell:,.0f}"


def part_csv(part: Part) -> bytes:
    """The rows of a part, numbers as they are."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(part.head)
    writer.writerows(
        [["" if cell is None else f"{cell:.6g}" if isinstance(cell, float) else cell for cell in row] for row in part.rows]
    )
    return stream.getvalue().encode()


def part_svg(part: Part) -> bytes | None:
    """The picture of a part, if it has one."""
    if part.graph is not None:
        return graph_picture(part.graph, title=part.title, description=f"{part.reading} {part.outcome}").encode()
    if part.chart is None or not any(points for _, points in part.chart.lines):
        return None
    return line_chart(part.chart, title=part.title, description=f"{part.reading} {part.outcome}").encode()
