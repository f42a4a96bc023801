"""All papers on one page: what each states beside what Tacit finds, confirmed or not, with how it was read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tacit.model.reproduction import Cell, Part, Reproduction
from tacit.reports.page import code, figure, listed, page, safe, section, table
from tacit.reports.reproduction import part_svg, shown

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
