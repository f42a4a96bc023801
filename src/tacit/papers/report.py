"""Reports of reproductions of papers.

Each is a text and, part by part, CSV and a picture; together they make one page.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence

from tacit.model.reproduction import Cell, Part, Reproduction
from tacit.reports.document import Document, Figure, Heading, Listing, Paragraph, Section, Table
from tacit.reports.document import Part as Block
from tacit.reports.pages import render_html, render_markdown
from tacit.reports.pictures import Canvas, Curve, graph_picture, line_chart
from tacit.reports.sentences import bullet
from tacit.reports.text import fact_lines, table_lines

#: The outcome of a part about seconds of a machine, where they are left out.
TIMED = "Run times of a machine, which this page leaves out."
_YES = re.compile(r"(?<!not )confirmed", re.IGNORECASE)
_NO = re.compile(r"not (?:confirmed|reproduced)", re.IGNORECASE)


def reproduction_text(made: Reproduction, *, width: int) -> str:
    """Return a reproduction as text, what is missing first."""
    blocks = [f"{made.name}: {made.citation}"]
    if made.left_out:
        missing = [line for what in made.left_out for line in bullet("-", what, width)]
        blocks.append("\n".join(["NOT REPRODUCED:", *missing]))
    return "\n\n".join([*blocks, *(_part_text(part, width) for part in made.parts)]) + "\n"


def _part_text(part: Part, width: int) -> str:
    facts = [("Read as", part.reading), ("Outcome ", part.outcome)]
    lines = [f"  {line}" for line in fact_lines(((name, text) for name, text in facts if text), width - 2)]
    rows = [f"    {line}".rstrip() for line in table_lines(_table(part), width - 4)]
    return "\n".join([part.title, *lines, *rows])


def _table(part: Part) -> Table:
    rows = [[format_cell(cell) for cell in row] for row in part.rows]
    return Table.of("What the paper states, and what Tacit finds", part.head, rows)


def format_cell(cell: Cell) -> str:
    """Return a cell as text, rounded if needed."""
    if cell is None or isinstance(cell, str):
        return cell or ""
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:.3g}" if abs(cell) < 1000 else f"{cell:,.0f}"


def part_csv(part: Part) -> bytes:
    """Return the rows of a part as CSV."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(part.head)
    writer.writerows(
        [["" if cell is None else f"{cell:.6g}" if isinstance(cell, float) else cell for cell in row] for row in part.rows]
    )
    return stream.getvalue().encode()


def part_svg(part: Part) -> bytes | None:
    """Return the picture of a part, if any."""
    picture = part_picture(part)
    return None if picture is None else picture.standalone().encode()


def part_picture(part: Part, name: str = "part") -> Canvas | None:
    """Draw the graph or chart of a part."""
    description = f"{part.reading} {part.outcome}"
    if part.graph is not None:
        return graph_picture(part.graph, name=name, title=part.title, description=description)
    chart = part.chart
    if chart is None or not any(points for _, points in chart.lines):
        return None
    return line_chart(
        [Curve(line, points) for line, points in chart.lines],
        name=name,
        title=part.title,
        description=description,
        x_label=chart.x_label,
        y_label=chart.y_label,
        is_linear=not chart.logarithmic,
        draws_zero=False,
        may_stretch=False,
    )


def standing(part: Part) -> str:
    """Return if the outcome of a part confirms it."""
    if not part.outcome:
        return "run times"
    is_confirmed = bool(_YES.search(part.outcome))
    is_refuted = bool(_NO.search(part.outcome))
    is_refuted |= any(str(cell).startswith("NO") for row in part.rows for cell in row[-1:])  # if the row agrees
    if is_confirmed:
        return "in part" if is_refuted else "confirmed"
    return "not confirmed" if is_refuted else "shown"


def papers_markdown(made: Sequence[Reproduction], *, body_only: bool = False) -> str:
    """Return the page about all papers as Markdown."""
    return render_markdown(papers_document(made), body_only=body_only)


def papers_html(made: Sequence[Reproduction]) -> str:
    """Return the page of all papers as HTML."""
    return render_html(papers_document(made))


def papers_document(made: Sequence[Reproduction]) -> Document:
    """Return one page about all papers."""
    rows = [(one.name, part.title, standing(part), part.outcome or TIMED) for one in made for part in one.parts]
    overview = Table.of("What the papers state, and if it is confirmed", ("Paper", "Part", "Standing", "Outcome"), rows)
    sections = (Section("All parts", (overview,)), *(Section(one.name, tuple(_paper_parts(one))) for one in made))
    return Document(title="Papers compared with Tacit", lead=(), sections=sections, footer="Made by tacit reproduce.")


def _paper_parts(made: Reproduction) -> Iterator[Block]:
    yield Paragraph(made.citation)
    if made.left_out:
        yield Listing.of(made.left_out, title="Not reproduced")
    for part in made.parts:
        yield Heading(part.title)
        yield Paragraph(part.reading, lead="Read as")
        yield Paragraph(part.outcome or TIMED, lead=f"Outcome ({standing(part)})")
        if (picture := part_picture(part, f"{made.name}-{part.name}")) is not None:
            yield Figure(picture, part.title)
        yield _table(part)
