"""Documents as typed parts, for all output formats."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from tacit.model.audit import Verdict
from tacit.model.version import __version__

if TYPE_CHECKING:
    from tacit.reports.pictures import Canvas

Form = Literal["text", "html", "markdown"]
SCREEN: frozenset[Form] = frozenset({"text"})
PAGES: frozenset[Form] = frozenset({"html", "markdown"})

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


Sentence = tuple[str, ...]  #: A sentence in parts, some of which may be commands.


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
        return cls(caption, tuple(columns), tuple(tuple(str(cell) for cell in row) for row in rows), style)

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
    """Finding with the terms or steps that prove it."""

    kind: ClassVar = "proof"
    mark: str
    statement: str
    terms: tuple[tuple[str, str], ...]
    in_full: str = ""
    waived_by: str = ""
    waived_for: str = ""
    about: str = ""

    @property
    def is_sum(self) -> bool:
        """Return True if the terms are added up."""
        return any(number for number, _ in self.terms)


Part = Paragraph | Heading | Listing | Table | Facts | Figure | Gallery | Proof


@dataclass(frozen=True, slots=True)
class Section:
    """Parts under a heading, for some output formats."""

    title: str
    parts: tuple[Part, ...]
    forms: frozenset[Form] = SCREEN | PAGES


@dataclass(frozen=True, slots=True)
class Document:
    """A report, as every writer takes it.

    ``lead`` are the lines of the verdict, ``remarks`` what limits it, ``tiles`` the few numbers that matter.
    """

    title: str
    lead: tuple[str, ...]
    sections: tuple[Section, ...]
    verdict: Verdict | None = None
    remarks: tuple[str, ...] = ()
    tiles: tuple[tuple[int, str], ...] = ()
    note: str = ""
    page_title: str = ""
    footer: str = f"Written by Tacit {__version__}."

    def sections_for(self, form: Form) -> list[Section]:
        """Return the nonempty sections that a form shows."""
        shown = []
        for section in self.sections:
            # An empty list or table is left out.
            parts = tuple(one for one in section.parts if getattr(one, "items", True) and getattr(one, "rows", True))
            if form in section.forms and parts:
                shown.append(replace(section, parts=parts))
        return shown
