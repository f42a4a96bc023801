"""What tables of people and bucketized releases say, counted anew for the checker of findings about several releases.

Like :mod:`tacit.checker`, of which it is a part, it shares no code with the attacks: rows are compared with values one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tacit.checker.joint_tables import Box
from tacit.checker.rules import Reject
from tacit.model.buckets import Buckets
from tacit.model.partial import PartialTable


@dataclass(slots=True)
class RowBook:
    """The rows of a release that shows people one by one, as texts by column; None where a cell is blank."""

    release: PartialTable | Buckets
    rows: dict[str, list[str | None]] = field(default_factory=dict)
    counted: dict[str, tuple[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for place, column in enumerate(self.release.people.columns):
            texts: list[str | None] = [column.values[code] for code in column.codes.tolist()]
            if isinstance(self.release, PartialTable):
                blank = self.release.hidden[:, place].tolist()
                texts = [None if hidden or not text else text for text, hidden in zip(texts, blank, strict=True)]
            self.rows[column.name] = texts

    @property
    def columns(self) -> set[str]:
        """The columns that the release speaks of."""
        own = {self.release.sensitive} if isinstance(self.release, Buckets) else set()
        return {*self.rows, *own}

    def domains(self) -> dict[tuple[str, str], frozenset[str]]:
        """The columns of which everybody's value is shown, with the values that occur."""
        out = {("column", name): frozenset(filter(None, texts)) for name, texts in self.rows.items() if None not in texts}
        if isinstance(self.release, Buckets):
            out = {("column", name): frozenset(str(text) for text in texts) for name, texts in self.rows.items()}
            out["column", self.release.sensitive] = frozenset(self.release.values)
        return out

    def statement(self, cited: Mapping[str, Any]) -> tuple[Box, int, int]:
        """The group that a cited place is about, with the fewest and the most people in it."""
        what, items = cited["what"], list(cited["items"])
        place = f"{what} with {' and '.join(items)}"
        if cited.get("cell") != place:
            raise Reject("it cites a place of a table that says something else")
        fixed = self._fixed(items)
        if place not in self.counted:
            self.counted[place] = self._count(what, fixed)
        box: Box = {("column", column): (frozenset({value}), False) for column, value in fixed.items()}
        return (box, *self.counted[place])

    def _fixed(self, items: Sequence[str]) -> dict[str, str]:
        out: dict[str, str] = {}
        for item in items:
            fitting = [column for column in self.columns if item.startswith(f"{column}=")]
            if len(fitting) != 1 or fitting[0] in out:
                raise Reject("it speaks of columns that the release does not show")
            out[fitting[0]] = item[len(fitting[0]) + 1 :]
        return out

    def _count(self, what: str, fixed: Mapping[str, str]) -> tuple[int, int]:
        """The fewest and the most people with these values."""
        release = self.release
        sensitive = fixed.get(release.sensitive) if isinstance(release, Buckets) else None
        shown = {column: value for column, value in fixed.items() if column in self.rows}
        if what == "rows" and len(shown) == len(fixed) > 0:
            every = range(release.n)
            surely = sum(all(self.rows[column][row] == value for column, value in shown.items()) for row in every)
            maybe = sum(all(self.rows[column][row] in (value, None) for column, value in shown.items()) for row in every)
            return surely, maybe
        if not isinstance(release, Buckets) or sensitive is None:
            raise Reject("it cites something that the release does not show")
        having = [release.contents(group).get(sensitive, 0) for group in range(len(release))]
        if what == "values" and not shown:
            return sum(having), sum(having)
        if what != "groups" or not shown:
            raise Reject("it cites something that the release does not show")
        groups = release.group.tolist()
        sizes = Counter(groups)
        fits = Counter(
            groups[row] for row in range(release.n) if all(self.rows[column][row] == value for column, value in shown.items())
        )
        least = sum(max(0, fits[group] + having[group] - sizes[group]) for group in range(len(release)))
        return least, sum(min(fits[group], having[group]) for group in range(len(release)))
