"""Table with blank cells, and its owner's knowledge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tacit.model.arrays import Codes, Flags, Ints
from tacit.model.audit import Target
from tacit.model.errors import InputError
from tacit.model.finding import BoxEvent
from tacit.model.partial import PartialTable, Thresholds
from tacit.model.policy import Policy
from tacit.partial.unsafe_rules import Case


@dataclass(frozen=True, eq=False)
class Attribute:
    """Sensitive attribute and the rows at risk; ``true`` values if known."""

    name: str
    values: tuple[str, ...]
    shown: Codes
    true: Codes | None
    rows: Ints

    @property
    def truth(self) -> Codes:
        """True values of rows at risk, -1 if unknown."""
        return np.full(len(self.rows), -1, np.int32) if self.true is None else self.true[self.rows]


@dataclass(frozen=True, eq=False)
class TableCase:
    """Table before or after publication.

    ``rows`` are those that the owner declares sensitive (None: not declared, and every blank sensitive cell is at risk), ``original`` the table
    before cells were hidden. ``cells`` (rows x sensitive columns) marks the cells to protect, if these are not all of those rows. Such a cell
    counts as blank even if the table shows it: then the table is the original itself, unless another one is given.
    """

    partial: PartialTable
    rows: Ints | None = None
    original: PartialTable | None = None
    cells: Flags | None = None

    def __post_init__(self) -> None:
        if self.rows is None and self.partial.sensitive is not None:
            object.__setattr__(self, "rows", self.partial.sensitive)
        if self.original is not None:
            object.__setattr__(self, "original", _align(self.partial, self.original))

    @classmethod
    def of(cls, target: Target) -> TableCase:
        """Return the case of an attack or a bare table."""
        if isinstance(target.case, cls):
            return target.case
        return cls(target.release_as(PartialTable))

    @property
    def is_declared(self) -> bool:
        """Return True if the sensitive rows are declared."""
        return self.rows is not None

    def thresholds(self, policy: Policy) -> Thresholds:
        """Return the thresholds of unsafe rules."""
        return Thresholds.of(min_confidence=policy.min_confidence, min_support=policy.min_support, n=self.partial.n)

    @cached_property
    def conditions(self) -> Codes:
        """Codes of the condition columns; those without role last."""
        return self.partial.cells_of(self.condition_names)

    @property
    def condition_names(self) -> tuple[str, ...]:
        """Names of all columns that are not sensitive."""
        return (*self.partial.people.schema.qi, *self.partial.others)

    @cached_property
    def attributes(self) -> tuple[Attribute, ...]:
        """Sensitive attributes."""
        return tuple(self._attribute(place, name) for place, name in enumerate(self.partial.people.schema.sa))

    def _attribute(self, place_of_column: int, name: str) -> Attribute:
        column = self.partial.people.column(name)
        texts = set(column.values) - {""}
        if self.original is not None:
            before = self.original.people.column(name)
            texts |= set(before.values) - {""}
        values = tuple(sorted(texts))
        place = {value: code for code, value in enumerate(values)} | {"": -1}
        shown = _recode(column.values, column.codes, place)
        true: Codes | None = None
        if self.original is not None:
            true = _recode(before.values, before.codes, place)
        declared = self.rows
        if self.cells is not None:
            declared = np.flatnonzero(self.cells[:, place_of_column]).astype(np.int64)
        if self.original is None and declared is not None and bool((shown[declared] >= 0).any()):
            true = shown
        blank = shown < 0 if true is None else (shown < 0) & (true >= 0)
        rows = np.flatnonzero(blank).astype(np.int64) if declared is None else declared
        return Attribute(name, values, shown, true, rows=rows)

    def rule_inputs(self, attribute: Attribute) -> Case:
        """Return the inputs of the rule search for an attribute."""
        known = (self.conditions_about(attribute), attribute.shown, attribute.rows, attribute.truth)
        return Case(*known, others=self.others_of(attribute), people=self.partial.weights)

    def conditions_about(self, attribute: Attribute) -> Codes:
        """Return the codes of an attribute's possible predictors."""
        columns = [self.conditions]
        for other in self._other_attributes(attribute):
            cells = other.shown.copy()
            cells[other.rows] = -1
            columns.append(cells[:, None])
        return np.concatenate(columns, axis=1)

    def others_of(self, attribute: Attribute) -> int:
        """Return how many columns are not condition attributes."""
        return len(self.partial.others) + len(self._other_attributes(attribute))

    def _other_attributes(self, attribute: Attribute) -> list[Attribute]:
        return [other for other in self.attributes if other.name != attribute.name]

    def still_shown(self, attribute: Attribute) -> Ints:
        """Return the sensitive rows whose cell is still shown."""
        if self.original is None or self.rows is None:
            return np.empty(0, np.int64)
        return attribute.rows[attribute.shown[attribute.rows] >= 0]

    @property
    def at_risk(self) -> int:
        """Number of records with a sensitive cell at risk."""
        return self.count(np.unique(np.concatenate([attribute.rows for attribute in self.attributes])))

    def count(self, rows: Ints) -> int:
        """Return the number of people of these rows."""
        return int(self.partial.weights[rows].sum())

    @property
    def figures(self) -> Mapping[str, int]:
        """Numbers of hidden cells, by region if known."""
        hidden = self.partial.hidden if self.original is None else self.partial.hidden & ~self.original.hidden
        known = PartialTable(self.partial.people, hidden, self.rows, self.partial.header)
        out = {"cells_hidden": known.cells_hidden}
        if self.rows is not None:
            out |= {f"cells_hidden_{region}": count for region, count in known.hidden_by_region().items()}
        return out | {"records_at_risk": self.at_risk}

    def pattern(self, cells: Sequence[tuple[int, int]], attribute: Attribute) -> dict[str, str]:
        """Return a pattern's columns and values."""
        known = [(name, self.partial.people.column(name).values) for name in self.condition_names]
        known += [(other.name, other.values) for other in self._other_attributes(attribute)]
        return {known[place][0]: known[place][1][code] for place, code in cells}

    def event(self, cells: Sequence[tuple[int, int]], attribute: Attribute, value: int) -> BoxEvent:
        """Return the event: the pattern and the value."""
        allowed: dict[str, tuple[str, ...]] = {name: (text,) for name, text in self.pattern(cells, attribute).items()}
        return BoxEvent(allowed | {attribute.name: (attribute.values[value],)})


def _recode(values: Sequence[str], codes: Codes, place: Mapping[str, int]) -> Codes:
    return np.array([place[value] for value in values], np.int32)[codes]


def _align(partial: PartialTable, original: PartialTable) -> PartialTable:
    remedy = "Give the table before cells were hidden, with its rows in the same order"
    lacks = [name for name in partial.people.schema.used if name not in original.people.names]
    same_rows = np.array_equal(partial.weights, original.weights)
    if lacks or not same_rows:
        what = f"has no column {', '.join(lacks)}" if lacks else f"has {original.n:,} rows, the table {partial.n:,}"
        raise InputError(what, where="--data", remedy=remedy)
    differ: Flags = np.zeros(len(partial.hidden), np.bool_)
    columns = []
    for place, mine in enumerate(partial.people.columns):
        # A column without a role may be missing there.
        before = original.people.column(mine.name) if mine.name in original.people.names else mine
        known = {value: code for code, value in enumerate(before.values)}
        same = np.array([known.get(value, -1) for value in mine.values], np.int64)[mine.codes] == before.codes
        differ |= ~same & ~partial.hidden[:, place]
        columns.append(before)
    if differ.any():
        row = int(np.flatnonzero(differ)[0])
        what = f"differs from the table in {int(differ.sum()):,} rows, first in row {row}"
        raise InputError(what, where="--data", remedy=remedy)
    return PartialTable.of(replace(original.people, columns=tuple(columns), schema=partial.people.schema))
