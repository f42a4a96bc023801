"""A table with blanks beside what is known of it: whose sensitive cells are at risk, and what they really are where the owner says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tacit.attacks.base import Target
from tacit.errors import InputError
from tacit.inference.unsafe import Case
from tacit.model.event import BoxEvent
from tacit.model.partial import Codes, Flags, Numbers, PartialTable, Thresholds
from tacit.model.policy import Policy


@dataclass(frozen=True, eq=False)
class Attribute:
    """One sensitive attribute: its values, what is shown of it, what it really is (None: not known), and the rows at risk."""

    name: str
    values: tuple[str, ...]
    shown: Codes
    true: Codes | None
    rows: Numbers

    @property
    def truth(self) -> Codes:
        """The true values of the rows at risk; -1 where they are not known."""
        if self.true is None:
            return np.full(len(self.rows), -1, np.int32)
        return self.true[self.rows]


@dataclass(frozen=True, eq=False)
class TableCase:
    """A table as it is, or is to be, published.

    ``rows`` are those that the owner declares sensitive (None: nobody says, and every blank sensitive cell is at risk), ``original`` the table
    before cells were hidden. ``cells`` (rows x sensitive columns) says which cells of those rows are meant, where these are not all. Such a cell
    counts as blank even where the table shows it: then the table is the original itself, unless another one is given.
    """

    partial: PartialTable
    rows: Numbers | None = None
    original: PartialTable | None = None
    cells: Flags | None = None

    def __post_init__(self) -> None:
        if self.rows is None and self.partial.sensitive is not None:
            object.__setattr__(self, "rows", self.partial.sensitive)
        if self.original is not None:
            object.__setattr__(self, "original", _aligned(self.partial, self.original))

    @classmethod
    def of(cls, target: Target) -> TableCase:
        """The case of an attack; of a bare table, nothing else is known."""
        if target.table is not None:
            return target.table
        assert isinstance(target.release, PartialTable)
        return cls(target.release)

    @property
    def is_declared(self) -> bool:
        """Whether the owner says which rows are sensitive."""
        return self.rows is not None

    def thresholds(self, policy: Policy) -> Thresholds:
        """When a rule is unsafe."""
        return Thresholds.of(min_confidence=policy.min_confidence, min_support=policy.min_support, n=self.partial.n)

    @cached_property
    def conditions(self) -> Codes:
        """The cells of every column that is not sensitive as codes, -1 where one is blank; those without a role come last."""
        return self.partial.cells_of(self.condition_names)

    @property
    def condition_names(self) -> tuple[str, ...]:
        """The columns of the conditions: whoever reads the table reads all of it, whatever role a column was given."""
        return (*self.partial.people.schema.qi, *self.partial.others)

    @cached_property
    def attributes(self) -> tuple[Attribute, ...]:
        """The sensitive attributes one by one."""
        return tuple(self._attribute(place, name) for place, name in enumerate(self.partial.people.schema.sa))

    def _declared(self, place: int) -> Numbers | None:
        """The rows whose cell of a sensitive column the owner wants to protect."""
        return self.rows if self.cells is None else np.flatnonzero(self.cells[:, place]).astype(np.int64)

    def _attribute(self, place_of_column: int, name: str) -> Attribute:
        column = self.partial.people.column(name)
        texts = set(column.values) - {""}
        if self.original is not None:
            before = self.original.people.column(name)
            texts |= set(before.values) - {""}
        values = tuple(sorted(texts))
        place = {value: code for code, value in enumerate(values)} | {"": -1}
        shown = _recoded(column.values, column.codes, place)
        true: Codes | None = None
        if self.original is not None:
            true = _recoded(before.values, before.codes, place)
        declared = self._declared(place_of_column)
        if self.original is None and declared is not None and bool((shown[declared] >= 0).any()):
            true = shown
        blank = shown < 0 if true is None else (shown < 0) & (true >= 0)
        rows = np.flatnonzero(blank).astype(np.int64) if declared is None else declared
        return Attribute(name, values, shown, true, rows)

    def counted(self, attribute: Attribute) -> Case:
        """What rules about an attribute are counted in."""
        return Case(self.conditions_of(attribute), attribute.shown, attribute.rows, attribute.truth, self.others_of(attribute))

    def conditions_of(self, attribute: Attribute) -> Codes:
        """The cells that an attribute may be told by: those of every other column, cells to be protected blank."""
        columns = [self.conditions]
        for other in self._beside(attribute):
            cells = other.shown.copy()
            cells[other.rows] = -1
            columns.append(cells[:, None])
        return np.concatenate(columns, axis=1)

    def others_of(self, attribute: Attribute) -> int:
        """How many of these columns are no condition attributes."""
        return len(self.partial.others) + len(self._beside(attribute))

    def _beside(self, attribute: Attribute) -> list[Attribute]:
        """The other sensitive attributes."""
        return [other for other in self.attributes if other.name != attribute.name]

    def still_shown(self, attribute: Attribute) -> Numbers:
        """Rows that are declared sensitive and whose cell the table shows nevertheless, where the original is another table."""
        if self.original is None or self.rows is None:
            return np.empty(0, np.int64)
        return attribute.rows[attribute.shown[attribute.rows] >= 0]

    @property
    def at_risk(self) -> int:
        """How many records have a sensitive cell at risk."""
        return len(np.unique(np.concatenate([attribute.rows for attribute in self.attributes])))

    @property
    def figures(self) -> Mapping[str, int]:
        """How many cells are hidden, by region where the sensitive rows are known."""
        hidden = self.partial.hidden if self.original is None else self.partial.hidden & ~self.original.hidden
        known = PartialTable(self.partial.people, hidden, self.rows, self.partial.header)
        out = {"cells_hidden": known.cells_hidden}
        if self.rows is not None:
            out |= {f"cells_hidden_{region}": count for region, count in known.hidden_by_region().items()}
        return out | {"records_at_risk": self.at_risk}

    def pattern(self, cells: Sequence[tuple[int, int]], attribute: Attribute) -> dict[str, str]:
        """The columns and values of a pattern about an attribute."""
        known = [(name, self.partial.people.column(name).values) for name in self.condition_names]
        known += [(other.name, other.values) for other in self._beside(attribute)]
        return {known[place][0]: known[place][1][code] for place, code in cells}

    def event(self, cells: Sequence[tuple[int, int]], attribute: Attribute, value: int) -> BoxEvent:
        """Who has the pattern and the value."""
        allowed: dict[str, tuple[str, ...]] = {name: (text,) for name, text in self.pattern(cells, attribute).items()}
        return BoxEvent(allowed | {attribute.name: (attribute.values[value],)})


def _recoded(values: Sequence[str], codes: Codes, place: Mapping[str, int]) -> Codes:
    return np.array([place[value] for value in values], np.int32)[codes]


def _aligned(partial: PartialTable, original: PartialTable) -> PartialTable:
    """The original with the columns of the table in their order; the table must be it with cells hidden."""
    remedy = "Give the table that cells were hidden in, its rows in the same order"
    lacks = [name for name in partial.people.schema.used if name not in original.people.names]
    if lacks or len(partial) != len(original):
        what = f"has no column {', '.join(lacks)}" if lacks else f"has {len(original):,} rows, and the table {len(partial):,}"
        raise InputError(what, where="--data", remedy=remedy)
    differ: Flags = np.zeros(len(partial), np.bool_)
    columns = []
    for place, mine in enumerate(partial.people.columns):
        # A column that is neither a condition nor sensitive may be missing there.
        before = original.people.column(mine.name) if mine.name in original.people.names else mine
        known = {value: code for code, value in enumerate(before.values)}
        same = np.array([known.get(value, -1) for value in mine.values], np.int64)[mine.codes] == before.codes
        differ |= ~same & ~partial.hidden[:, place]
        columns.append(before)
    if differ.any():
        row = int(np.flatnonzero(differ)[0])
        what = f"shows other cells than the table in {int(differ.sum()):,} rows (the first is row {row})"
        raise InputError(what, where="--data", remedy=remedy)
    return PartialTable.of(replace(original.people, columns=tuple(columns), schema=partial.people.schema))
