"""Tables and figures of a paper, compared with Tacit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Chart:
    """Named lines of points over a common axis."""

    x_label: str
    y_label: str
    lines: tuple[tuple[str, tuple[tuple[float, float], ...]], ...]
    logarithmic: bool = True


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes in rows with labels and shading; edges."""

    rows: tuple[tuple[tuple[str, str, bool], ...], ...]
    edges: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Part:
    """Table or figure of a paper, compared with ours.

    ``clock`` names the columns that hold seconds of this machine, or depend on them. The record leaves them out, and what they confirm,
    because it is the same for the same input.
    """

    name: str
    title: str
    reading: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    outcome: str
    clock: frozenset[str] = frozenset()
    chart: Chart | None = None
    graph: Graph | None = None

    def to_dict(self) -> dict[str, Any]:
        """The part as in the record."""
        rows = [{name: cell for name, cell in zip(self.head, row, strict=True) if name not in self.clock} for row in self.rows]
        return {
            "name": self.name,
            "title": self.title,
            "reading": self.reading,
            "rows": rows,
            "outcome": None if self.clock else self.outcome,
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Part:
        """The part of a record."""
        head = tuple(record["rows"][0]) if record["rows"] else ()
        rows = tuple(tuple(row[name] for name in head) for row in record["rows"])
        return cls(record["name"], record["title"], record["reading"], head, rows=rows, outcome=record["outcome"] or "")


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Reproduced parts of a paper, and those left out."""

    name: str
    citation: str
    parts: tuple[Part, ...]
    left_out: tuple[str, ...]

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Reproduction:
        """Return the reproduction of a record, without pictures."""
        parts = tuple(Part.from_dict(part) for part in record["parts"])
        return cls(record["name"], record["citation"], parts, tuple(record["left_out"]))

    def to_dict(self) -> Mapping[str, Any]:
        """The reproduction as in the record."""
        parts = [part.to_dict() for part in self.parts]
        return {"name": self.name, "citation": self.citation, "parts": parts, "left_out": list(self.left_out)}
