"""Statements, tables and figures of a paper, compared with Tacit.

All that a reproduction says follows from the data and the version. Seconds of a machine are kept apart (:class:`Timed`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

Cell = str | int | float | None

#: Outcome of a claim; ``open`` if the draws do not decide, ``not run`` if its data are missing.
Standing = Literal["confirmed", "confirmed under a reading", "open", "not confirmed", "not applicable", "not run"]
STANDINGS: tuple[Standing, ...] = get_args(Standing)


@dataclass(frozen=True, slots=True)
class Claim:
    """Statement of a numbered item of a paper, and its outcome."""

    item: str
    says: str
    standing: Standing
    why: str = ""

    @property
    def sentence(self) -> str:
        """Statement and outcome in one sentence."""
        said = f"{self.item}: {self.says}" if self.says else self.item
        return f"{said}: {self.standing}{f' ({self.why})' if self.why else ''}"

    def to_dict(self) -> dict[str, str]:
        """The claim as in the record."""
        return {"item": self.item, "says": self.says, "standing": self.standing, "why": self.why}


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read what a paper leaves open.

    ``likely`` says why it is the likely one.
    """

    name: str
    text: str
    likely: str = ""


class Judged(NamedTuple):
    """Outcome of a claim under one reading, with its numbers."""

    standing: Standing
    why: str


def judge_readings(item: str, says: str, outcomes: Iterable[tuple[Reading, Judged]]) -> Claim:
    """Return a claim from its outcomes under all readings."""
    found = list(outcomes)
    standings = {judged.standing for _, judged in found}
    confirming = [reading for reading, judged in found if judged.standing == "confirmed"]
    numbers = "; ".join(f"{reading.name}: {judged.standing}, {judged.why}" for reading, judged in found)
    if standings == {"confirmed"} or standings == {"not confirmed"} or standings == {"not applicable"}:
        return Claim(item, says, found[0][1].standing, numbers)
    if confirming:
        likely = next((reading for reading in confirming if reading.likely), confirming[0])
        reason = f"; {likely.name} is the likely reading: {likely.likely}" if likely.likely else ""
        return Claim(item, says, "confirmed under a reading", f"{numbers}{reason}")
    return Claim(item, says, "open", numbers)


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
    """Table or figure of a paper, compared with ours, and the claims that it settles."""

    name: str
    title: str
    reading: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    claims: tuple[Claim, ...] = ()
    note: str = ""
    chart: Chart | None = None
    graph: Graph | None = None

    def to_dict(self) -> dict[str, Any]:
        """The part as in the record."""
        return {
            "name": self.name,
            "title": self.title,
            "reading": self.reading,
            "head": list(self.head),
            "rows": [list(row) for row in self.rows],
            "claims": [claim.to_dict() for claim in self.claims],
            "note": self.note,
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Part:
        """The part of a record, without its picture."""
        rows = tuple(tuple(row) for row in record["rows"])
        claims = tuple(Claim(**claim) for claim in record["claims"])
        head = tuple(record["head"])
        return cls(record["name"], record["title"], record["reading"], head, rows=rows, claims=claims, note=record["note"])


class Timed(NamedTuple):
    """Seconds that a program took on this machine."""

    item: str
    setting: str
    program: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Reproduced parts of a paper, those left out, and every numbered item.

    ``times`` are not part of the record; ``is_stopped``: a time limit was reached.
    """

    name: str
    citation: str
    parts: tuple[Part, ...]
    left_out: tuple[str, ...]
    items: tuple[str, ...]
    times: tuple[Timed, ...] = field(default=(), compare=False)
    is_stopped: bool = False

    @property
    def index(self) -> tuple[Claim, ...]:
        """Claims by numbered item, in the paper's order; items without a claim are not run."""
        found: dict[str, list[Claim]] = {item: [] for item in self.items}
        for part in self.parts:
            for claim in part.claims:
                found.setdefault(claim.item, []).append(claim)
        missing = "its data are not there" if self.left_out else ""
        listed = (claims or [Claim(item, "", "not run", missing)] for item, claims in found.items())
        return tuple(claim for claims in listed for claim in claims)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Reproduction:
        """Return the reproduction of a record, without pictures."""
        parts = tuple(Part.from_dict(part) for part in record["parts"])
        return cls(record["name"], record["citation"], parts, tuple(record["left_out"]), items=tuple(record["items"]))

    def to_dict(self) -> Mapping[str, Any]:
        """The reproduction as in the record."""
        return {
            "name": self.name,
            "citation": self.citation,
            "items": list(self.items),
            "index": [claim.to_dict() for claim in self.index],
            "parts": [part.to_dict() for part in self.parts],
            "left_out": list(self.left_out),
        }
