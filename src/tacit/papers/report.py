"""All papers on one page: what each states beside what Tacit finds, confirmed or not, with how it was read.

A reproduction as text, as CSV, and as pictures.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from textwrap import wrap

from tacit.model.reproduction import Cell, Part, Reproduction
from tacit.reports.graph import graph_picture
from tacit.reports.lines import line_chart
from tacit.reports.page import code, figure, listed, page, safe, section, table


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


TITLE = "The papers beside Tacit"
COLUMNS = ("Paper", "Part", "Standing", "Outcome")
#: What the page says of a part whose outcome is about seconds of a machine, where they are left out.
TIMED = "Run times of a machine, which this page leaves out."
_YES, _NO = re.compile(r"(?<!not )confirmed", re.IGNORECASE), re.compile(r"not (?:confirmed|reproduced)", re.IGNORECASE)


def standing(part: Part) -> str:
    """Whether what the paper states is confirmed, as its outcome tells it: in part where some is and some is not.

    >>> standing(Part("f", "", "", (), (), "'D rises': confirmed; 'it is flat': NOT confirmed."))
    'in part'
    >>> standing(Part("f", "", "", (), (), "3 of 3 statements confirmed."))
    'confirmed'
    """
    if not part.outcome:
        return "run times"
    yes, no = bool(_YES.search(part.outcome)), bool(_NO.search(part.outcome))
    no |= any(str(cell).startswith("NO") for row in part.rows for cell in row[-1:])  # the column that says whether a row agrees
    if yes:
        return "in part" if no else "confirmed"
    return "not confirmed" if no else "shown"


def papers_markdown(made: Sequence[Reproduction], *, level: int = 1) -> str:
    """The page as Markdown; ``level`` is that of its first heading, 0 leaves that out."""
    return "\n\n".join(_markdown(made, level)) + "\n"


def _markdown(made: Sequence[Reproduction], level: int) -> Iterator[str]:
    if level:
        yield f"{'#' * level} {TITLE}"
    rows = [(one.name, part.title, standing(part), part.outcome or TIMED) for one in made for part in one.parts]
    yield _table(COLUMNS, rows)
    for one in made:
        yield f"{'#' * (max(1, level) + 1)} {one.name}\n\n{_plain(one.citation)}"
        if one.left_out:
            yield "\n".join(["**Not reproduced:**", "", *(f"- {_plain(what)}" for what in one.left_out)])
        for part in one.parts:
            yield f"{'#' * (max(1, level) + 2)} {_plain(part.title)}"
            yield f"*Read as:* {_plain(part.reading)}"
            yield f"*Outcome ({standing(part)}):* {_plain(part.outcome or TIMED)}"
            yield _table(part.head, part.rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """Rows as a Markdown table, numbers to the right."""
    numbers = [all(isinstance(row[column], (int, float, type(None))) for row in rows) for column in range(len(head))]
    lines = [f"| {' | '.join(map(_plain, head))} |", f"|{'|'.join('---:' if right else '---' for right in numbers)}|"]
    return "\n".join([*lines, *(f"| {' | '.join(_plain(shown(cell)) for cell in row)} |" for row in rows)])


def _plain(text: str) -> str:
    r"""Text that Markdown shows as it is.

    >>> _plain("P(x | y) < 1, a*b")
    'P(x \\| y) \\< 1, a\\*b'
    """
    return re.sub(r"([\\`*_|<>\[\]#])", r"\\\1", text).strip()


def papers_html(made: Sequence[Reproduction]) -> str:
    """The page as one HTML file with its pictures inside."""
    return page(TITLE, _html(made))


def _html(made: Sequence[Reproduction]) -> Iterator[str]:
    yield f"<h1>{TITLE}</h1>"
    rows = [(one.name, part.title, standing(part), part.outcome or TIMED) for one in made for part in one.parts]
    yield section("All parts", table("What the papers state, and whether it is confirmed", COLUMNS, rows))
    for one in made:
        told = [f"<p>{safe(one.citation)}</p>"]
        if one.left_out:
            told.append(f"<p><strong>Not reproduced:</strong></p>{listed(one.left_out)}")
        told += [_part(part) for part in one.parts]
        yield section(one.name, *told)
    yield f"<footer><p>Made by {code('tacit reproduce')}.</p></footer>"


def _part(part: Part) -> str:
    """One table or figure with how it was read and what came out."""
    head = f"<h3>{safe(part.title)}</h3><p><em>Read as:</em> {safe(part.reading)}</p>"
    head += f"<p><em>Outcome ({standing(part)}):</em> {safe(part.outcome or TIMED)}</p>"
    picture = part_svg(part)
    drawn = figure(picture.decode(), part.title) if picture is not None else ""
    rows = [[shown(cell) for cell in row] for row in part.rows]
    return head + drawn + table(part.title, part.head, rows)
