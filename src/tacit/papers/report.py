"""Reports of reproductions of papers.

Each is a text and, part by part, CSV and a picture; together they make one page.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from tacit.model.reproduction import STANDINGS, Cell, Part, Reproduction, Timed
from tacit.papers.bench import HEAD
from tacit.reports.document import Document, Figure, Heading, Listing, Paragraph, Section, Table, bullet, fact_lines, table_lines
from tacit.reports.document import Part as Block
from tacit.reports.pages import render_html, render_markdown
from tacit.reports.pictures import Canvas, Curve, graph_picture, line_chart


def reproduction_text(made: Reproduction, *, width: int) -> str:
    """Return a reproduction as text, what is missing first."""
    blocks = [f"{made.name}: {made.citation}"]
    if made.left_out:
        missing = [line for what in made.left_out for line in bullet("-", what, width)]
        blocks.append("\n".join(["NOT REPRODUCED:", *missing]))
    blocks.append(
        "\n".join(
            [f"Every numbered item: {tally(made)}", *(f"  {line}".rstrip() for line in table_lines(_index(made), width - 2))]
        )
    )
    return "\n\n".join([*blocks, *(_part_text(part, width) for part in made.parts)]) + "\n"


def tally(made: Reproduction) -> str:
    """Return how many claims have each standing."""
    found = [claim.standing for claim in made.index]
    return ", ".join(f"{found.count(standing)} {standing}" for standing in STANDINGS if standing in found)


def _index(made: Reproduction) -> Table:
    rows = [(claim.item, claim.says, claim.standing, claim.why) for claim in made.index]
    return Table.of("What the paper states, and what it comes to", ("Item", "Statement", "Standing", "Why"), rows)


def _part_text(part: Part, width: int) -> str:
    facts = [("Read as", part.reading), *(("Claim", sentence) for sentence in _sentences(part)), ("Note", part.note)]
    lines = [f"  {line}" for line in fact_lines(((name, text) for name, text in facts if text), width - 2)]
    rows = [f"    {line}".rstrip() for line in table_lines(_table(part), width - 4)]
    return "\n".join([part.title, *lines, *rows])


def _sentences(part: Part) -> list[str]:
    """Return the claims of a part; those of a table of facts are its rows."""
    return [] if part.head == HEAD else [claim.sentence for claim in part.claims]


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
    description = " ".join([part.reading, *(claim.sentence for claim in part.claims)])
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


def times_csv(times: Iterable[tuple[str, Timed]]) -> bytes:
    """Return the seconds of this machine as CSV, by paper."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["paper", *Timed._fields])
    writer.writerows([paper, *timed[:-1], f"{timed.seconds:.4g}"] for paper, timed in times)
    return stream.getvalue().encode()


def papers_markdown(made: Sequence[Reproduction], *, body_only: bool = False) -> str:
    """Return the page about all papers as Markdown."""
    return render_markdown(papers_document(made), body_only=body_only)


def papers_html(made: Sequence[Reproduction]) -> str:
    """Return the page of all papers as HTML."""
    return render_html(papers_document(made))


def papers_document(made: Sequence[Reproduction]) -> Document:
    """Return one page about all papers."""
    found = {one.name: [claim.standing for claim in one.index] for one in made}
    shown = [standing for standing in STANDINGS if any(standing in standings for standings in found.values())]
    rows = [(name, *(standings.count(standing) for standing in shown)) for name, standings in found.items()]
    overview = Table.of("Claims by standing", ("Paper", *shown), rows)
    sections = (Section("All papers", (overview,)), *(Section(one.name, tuple(_paper_parts(one))) for one in made))
    return Document(title="Papers compared with Tacit", lead=(), sections=sections, footer="Made by tacit reproduce.")


def _paper_parts(made: Reproduction) -> Iterator[Block]:
    yield Paragraph(made.citation)
    if made.left_out:
        yield Listing.of(made.left_out, title="Not reproduced")
    yield Heading("Every numbered item")
    yield _index(made)
    for part in made.parts:
        yield Heading(part.title)
        yield Paragraph(part.reading, lead="Read as")
        if sentences := _sentences(part):
            yield Listing.of(sentences, title="Claims")
        if part.note:
            yield Paragraph(part.note)
        if (picture := part_picture(part, f"{made.name}-{part.name}")) is not None:
            yield Figure(picture, part.title)
        yield _table(part)
