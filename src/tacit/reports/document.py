"""A report as parts that become a page or Markdown alike: sentences, tables and pictures under headings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tacit.model.audit import Verdict
from tacit.model.version import __version__
from tacit.reports import markdown, page


@dataclass(frozen=True, slots=True)
class Rows:
    """A table; the first cell of a row is its heading."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture as SVG, with its caption."""

    picture: str
    caption: str


@dataclass(frozen=True, slots=True)
class Part:
    """What stands under one heading."""

    title: str
    sentences: tuple[str, ...] = ()
    tables: tuple[Rows, ...] = ()
    pictures: tuple[Drawn, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A report: its title, a verdict in people where there is one, the few numbers that matter, and its parts."""

    title: str
    verdict: Verdict | None
    sentence: str
    tiles: tuple[tuple[int, str], ...] = ()
    parts: tuple[Part, ...] = ()
    note: str = field(default="Internal report: it may describe groups of people. Keep it with the data.")

    def html(self) -> str:
        """The report as a page."""
        return page.page(self.title, self._html())

    def _html(self) -> Iterator[str]:
        yield f"<h1>{page.safe(self.title)}</h1>"
        style, word = (self.verdict, self.verdict.upper()) if self.verdict else ("plain", "")
        strong = f"<strong>{word}</strong>" if word else ""
        yield f'<div class="verdict {style}">{strong}<p>{page.safe(_capital(self.sentence))}</p></div>'
        yield page.tiles(self.tiles)
        yield f'<p class="note">{page.safe(self.note)}</p>'
        for part in self.parts:
            drawn = "".join(page.figure(one.picture, one.caption) for one in part.pictures)
            yield page.section(
                part.title,
                page.listed(part.sentences) if part.sentences else "",
                f'<div class="wide">{drawn}</div>' if drawn else "",
                *(page.table(one.caption, one.columns, one.rows, style=_style(one)) for one in part.tables if one.rows),
            )
        yield f"<footer><p>Written by Tacit {page.safe(__version__)}. {page.safe(self.note)}</p></footer>"

    def markdown(self) -> str:
        """The report as Markdown; pictures are told by their tables."""
        return "\n\n".join(part for part in self._markdown() if part) + "\n"

    def _markdown(self) -> Iterator[str]:
        plain = markdown.plain
        yield f"# {plain(self.title)}"
        yield f"**{self.verdict.upper()}.** {plain(_capital(self.sentence))}" if self.verdict else plain(_capital(self.sentence))
        yield markdown.table(("Number", "What"), [(f"{number:,}", what) for number, what in self.tiles])
        yield f"*{plain(self.note)}*"
        for part in self.parts:
            tables = [f"{plain(one.caption)}\n\n{markdown.table(one.columns, one.rows)}" for one in part.tables if one.rows]
            told = [*([markdown.listed(part.sentences)] if part.sentences else []), *tables]
            yield "\n\n".join([f"## {plain(part.title)}", *told]) if told else ""
        yield f"Written by Tacit {__version__}."

    def bytes(self, form: str) -> bytes:
        """The report in the form ``html`` or ``markdown``."""
        return (self.markdown() if form == "markdown" else self.html()).encode("utf-8", "backslashreplace")


def _style(table: Rows) -> str:
    """Tables of many columns are printed small."""
    return "attacks grid" if len(table.columns) > 6 else "attacks"


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def rows(caption: str, columns: Sequence[str], lines: Sequence[Sequence[object]]) -> Rows:
    """A table of anything, as text."""
    return Rows(caption, tuple(columns), tuple(tuple(str(cell) for cell in line) for line in lines))
