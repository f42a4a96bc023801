"""Documents as typed parts for all output formats, and as text for a terminal."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from tacit.model.numbers import render_decimal
from tacit.model.version import __version__

if TYPE_CHECKING:
    from tacit.model.audit import Verdict
    from tacit.reports.pictures import Canvas


ReportKind = Literal["internal", "external"]
REPORT_KINDS: tuple[ReportKind, ...] = ("internal", "external")

Form = Literal["text", "html", "markdown"]
SCREEN: frozenset[Form] = frozenset({"text"})
PAGES: frozenset[Form] = frozenset({"html", "markdown"})

SHOWN_TERMS = 10  #: Terms of a proof up to which pages show them unfolded.

_NUMBER = re.compile(r"|-|not counted|infinite|[-+]?[\d,]*\.?\d+(e[-+]?\d+)?(-[\d.]+)?( ?%)?")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Sentences behind a ``lead``; a note is softer."""

    kind: ClassVar = "paragraph"
    text: str
    lead: str = ""
    is_note: bool = False


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading below that of its section."""

    kind: ClassVar = "heading"
    text: str


class Command(str):
    """Part of a sentence that is a command to type; pages set it as code."""

    __slots__ = ()


class Linked(str):
    """Text that pages link to an anchor of the page."""

    target: str

    @classmethod
    def to(cls, target: str, text: str) -> Linked:
        """Return a text that leads to an anchor."""
        made = cls(text)
        made.target = target
        return made


class Cell(str):
    """Cell of a table that pages may mark or link."""

    parts: Sentence
    mark: str
    anchor: str
    hint: str

    @classmethod
    def of(cls, *parts: str, mark: str = "", anchor: str = "", hint: str = "") -> Cell:
        """Return a cell of texts and links; ``mark`` is a style, ``hint`` explains it."""
        made = cls("".join(parts))
        made.parts = parts
        made.mark = mark
        made.anchor = anchor
        made.hint = hint
        return made


Sentence = tuple[str, ...]  #: A sentence in parts, some of which may be commands or links.


@dataclass(frozen=True, slots=True)
class Item:
    """Entry of a list, with commands below it and mark."""

    parts: Sentence
    commands: tuple[str, ...] = ()
    mark: str = "-"


@dataclass(frozen=True, slots=True)
class Listing:
    """List with an optional title."""

    kind: ClassVar = "listing"
    items: tuple[Item, ...]
    title: str = ""
    is_numbered: bool = False

    @classmethod
    def of(cls, sentences: Iterable[str | Sentence], *, title: str = "") -> Listing:
        """Return a list of sentences."""
        return cls(tuple(Item((one,) if isinstance(one, str) else one) for one in sentences), title)


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose rows begin with a heading; ``style`` is for pages."""

    kind: ClassVar = "table"
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    style: str = ""

    @classmethod
    def of(cls, caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, style: str = "") -> Table:
        """Return a table of anything, as text."""
        texts = (tuple(cell if isinstance(cell, str) else str(cell) for cell in row) for row in rows)
        return cls(caption, tuple(columns), tuple(texts), style)

    @property
    def is_numeric(self) -> tuple[bool, ...]:
        """Tell for each column if it holds numbers, or dashes for them."""
        columns = [[row[place] for row in self.rows] for place in range(len(self.columns))]
        return tuple(any(cells) and all(map(_NUMBER.fullmatch, cells)) for cells in columns)


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with their values."""

    kind: ClassVar = "facts"
    caption: str
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture with its caption; pages alone show it."""

    kind: ClassVar = "figure"
    picture: Canvas
    caption: str


@dataclass(frozen=True, slots=True)
class Gallery:
    """Figures and tables side by side."""

    kind: ClassVar = "gallery"
    parts: tuple[Figure | Table, ...]


@dataclass(frozen=True, slots=True)
class Proof:
    """Finding with the terms or steps that prove it.

    Pages show its ``picture``, link the places that it was computed from (``cited``), and can filter by its attack and columns.
    """

    kind: ClassVar = "proof"
    mark: str
    statement: str
    terms: tuple[tuple[str, str], ...]
    in_full: str = ""
    waived_by: str = ""
    waived_for: str = ""
    about: str = ""
    anchor: str = ""
    attack: str = ""
    columns: tuple[str, ...] = ()
    cited: Sentence = ()
    picture: Canvas | None = None

    @property
    def is_sum(self) -> bool:
        """Return True if the terms are added up."""
        return any(number for number, _ in self.terms)

    @property
    def is_long(self) -> bool:
        """Return True if pages fold the terms."""
        return len(self.terms) > SHOWN_TERMS


@dataclass(frozen=True, slots=True)
class Proofs:
    """Findings that pages can filter by attack and by column."""

    kind: ClassVar = "proofs"
    items: tuple[Proof, ...]

    @property
    def attacks(self) -> tuple[str, ...]:
        """Codes of the attacks, each once."""
        return tuple(sorted({one.attack for one in self.items if one.attack}))

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the groups, each once."""
        return tuple(sorted({column for one in self.items for column in one.columns}))


Part = Paragraph | Heading | Listing | Table | Facts | Figure | Gallery | Proof | Proofs


@dataclass(frozen=True, slots=True)
class Section:
    """Parts under a heading, for some output formats; pages may fold it."""

    title: str
    parts: tuple[Part, ...]
    forms: frozenset[Form] = SCREEN | PAGES
    is_folded: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A report, as every writer takes it.

    ``subject`` says what kind of report it is, ``facts`` what it is about. ``lead`` are the lines of the verdict, ``remarks`` what limits it,
    ``tiles`` the few numbers that matter, ``picture`` the one that shows them. ``opening`` are the parts of the first screen.
    """

    title: str
    lead: tuple[str, ...]
    sections: tuple[Section, ...]
    verdict: Verdict | None = None
    remarks: tuple[str, ...] = ()
    tiles: tuple[tuple[int, str], ...] = ()
    note: str = ""
    page_title: str = ""
    subject: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    picture: Figure | None = None
    opening: tuple[Part, ...] = ()
    footer: str = f"Written by Tacit {__version__}."

    def sections_for(self, form: Form) -> list[Section]:
        """Return the nonempty sections that a form shows."""
        shown = []
        for section in self.sections:
            if form in section.forms and (parts := nonempty(section.parts)):
                shown.append(replace(section, parts=parts))
        return shown


def nonempty(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Return the parts without empty lists and tables."""
    return tuple(one for one in parts if getattr(one, "items", True) and getattr(one, "rows", True))


# Text

WIDTH = 100  #: The width of lines where the terminal names none.
UNBROKEN = 1_000_000  #: A width at which no line is broken.
#: The number of remarks below the verdict; pages list all.
SHOWN_REMARKS = 10
_INDENT = "       "


def visible(text: str) -> str:
    """Escape signs that a terminal or browser obeys."""
    return text if text.isprintable() else "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def fold(text: str, width: int) -> list[str]:
    """Return a text in lines; words stay whole."""
    return wrap(visible(text), width, break_long_words=False, break_on_hyphens=False)


def bullet(mark: str, text: str, width: int, *, indent: str = "  ") -> list[str]:
    """Return a text as an indented bullet."""
    lead = f"{indent}{mark} "
    lines = fold(text, max(30, width - len(lead))) or [""]
    return [lead + lines[0], *(" " * len(lead) + line for line in lines[1:])]


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
        case Proofs():
            for proof in part.items:
                yield from proof_lines(proof, width)
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


# Numbers and sentences


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def places_name(places: Iterable[int | str]) -> str:
    """Return the noun for places of a release.

    >>> places_name([2, 3]), places_name(["B4", "C4"])
    ('Line', 'Cell')
    """
    return "Cell" if any(not str(place).isdecimal() for place in places) else "Line"


def people(number: int) -> str:
    """Return a number of people."""
    return counted(number, "person", "people")


def as_share(count: int, n: int | None) -> str:
    """Return a count as a percentage in parentheses."""
    if not n:
        return ""
    share = 100 * count / n
    return f" ({share:.2f} %)" if share >= 0.1 else f" ({render_decimal(share, 2)} %)"


def people_of(count: int, n: int | None) -> str:
    """Return a number of people, and their share of all."""
    return f"{people(count)}{as_share(count, n)}"


def format_number(value: Any) -> str:
    """Return a measure as it is shown."""
    if value is None:
        return "not counted"
    if isinstance(value, float) and not value.is_integer():
        return "infinite" if math.isinf(value) else render_decimal(value, 6)
    return f"{int(value):,}"


def format_measure(value: Any, unit: str) -> str:
    """Return a measure in a form for reading: shares in percent, tiny numbers as bounds."""
    if not isinstance(value, float) or not math.isfinite(value):
        return format_number(value)
    if unit.startswith(("share", "probability")):
        return format_percent(value)
    if value and abs(value) < 0.001:
        return "less than 0.001" if value > 0 else "almost 0"
    return format_number(value) if value.is_integer() else f"{value:,.3f}"


def format_percent(value: float) -> str:
    """Return a share in percent; the ends are named only where they are reached."""
    percent = 100 * value
    if 0 < percent < 0.01:
        return "less than 0.01 %"
    if 99.99 < percent < 100:
        return "more than 99.99 %"
    return f"{percent:.0f} %" if percent == round(percent) else f"{percent:.2f} %"


def format_limit(value: object) -> str:
    """Return a limit as in a settings file."""
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def capitalise(sentence: str) -> str:
    """Return a sentence that begins with a capital letter."""
    return sentence[:1].upper() + sentence[1:]


def first_sentence(text: str) -> str:
    """Return the first sentence of a text."""
    line = " ".join(text.strip().partition("\n")[0].split())
    end = line.find(". ")
    return line if end < 0 else line[: end + 1]
