"""Relations between the populations of releases, and known quasi-identifiers.

Releases about the same people, such as the files of one folder, have one *population*. A declaration is about populations in the given order;
if every file stands for itself, each is one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, overload
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

from tacit.model.arrays import Codes, Ints
from tacit.model.cuts import Cut
from tacit.model.errors import InputError, OptionError
from tacit.model.release import NO_RULE, Release
from tacit.model.shown import Shown
from tacit.model.table import Column, Table, stable_order

#: Populations at most among which people may come and go: each additional one doubles the sets of them that somebody can be in.
MOST_POPULATIONS = 5

_FORMS = "Write same, nested, unknown, for instance left:0-3,joined:0-2, or same,changed:COLUMN:0-2"
_MOVED = re.compile(r"(left|joined):(\d{1,15})(?:-(\d{1,15}))?", re.IGNORECASE)
_CHANGED = re.compile(r"changed:(.+):(\d{1,15})(?:-(\d{1,15}))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Same:
    """All releases are about the very same people.

    >>> Same().to_text()
    'same'
    """

    def to_text(self) -> str:
        """The declaration as ``--people`` takes it."""
        return "same"


@dataclass(frozen=True, slots=True)
class Nested:
    """The people of release ``inner`` are among those of release ``outer``, as a filtered table's are.

    Of more than two releases, each one's people are among those of the one before it; with ``Nested(outer=1, inner=0)``, of the one after it.

    >>> Nested(outer=1, inner=0).to_text()
    'nested:1,0'
    """

    outer: int = 0
    inner: int = 1

    def __post_init__(self) -> None:
        if {self.outer, self.inner} != {0, 1}:
            remedy = "Write Nested(outer=0, inner=1), or Nested(outer=1, inner=0)"
            raise OptionError("outer and inner are the numbers of two releases, 0 and 1", where="--people", remedy=remedy)

    def to_text(self) -> str:
        """The declaration as ``--people`` takes it."""
        return "nested" if self.outer == 0 else "nested:1,0"


@dataclass(frozen=True, slots=True)
class Churn:
    """Nearly the same people: bounds on those who left and joined from release to release.

    Of more than two releases, these numbers leave and join from each one to the next; people who left may come back.

    >>> Churn(left=(0, 3), joined=(0, 2)).to_text()
    'left:0-3,joined:0-2'
    """

    left: tuple[int, int] = (0, 0)
    joined: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        for name in ("left", "joined"):
            object.__setattr__(self, name, _span(getattr(self, name), name))

    def to_text(self) -> str:
        """The declaration as ``--people`` takes it."""
        return f"left:{self.left[0]}-{self.left[1]},joined:{self.joined[0]}-{self.joined[1]}"


@dataclass(frozen=True, slots=True)
class Changed:
    """The same people; bounds on those whose value changed, column by column.

    >>> Changed(columns=["salary"], people=(0, 2)).to_text()
    'same,changed:salary:0-2'
    """

    columns: Sequence[str]
    people: tuple[int, int]

    def __post_init__(self) -> None:
        named = (self.columns,) if isinstance(self.columns, str) else tuple(self.columns)
        if not named or not all(isinstance(name, str) and name for name in named) or len(set(named)) < len(named):
            remedy = 'Write for instance columns=["salary"]'
            raise OptionError("columns does not name columns, each once", where="--people", remedy=remedy)
        object.__setattr__(self, "columns", tuple(sorted(named)))
        object.__setattr__(self, "people", _span(self.people, "people"))

    def to_text(self) -> str:
        """The declaration as ``--people`` takes it."""
        return f"same,changed:{'+'.join(map(_escape, self.columns))}:{self.people[0]}-{self.people[1]}"


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing is known about who is in which release.

    >>> Unknown().to_text()
    'unknown'
    """

    def to_text(self) -> str:
        """The declaration as ``--people`` takes it."""
        return "unknown"


People = Same | Nested | Churn | Changed | Unknown


def _span(pair: Any, name: str) -> tuple[int, int]:
    fits = isinstance(pair, (tuple, list)) and len(pair) == 2 and all(type(end) is int for end in pair)
    if not fits or not 0 <= pair[0] <= pair[1]:
        remedy = f"Write for instance {name}=(0, 3): at least none, at most three"
        raise OptionError(f"{name} is not a pair of the fewest and the most people", where="--people", remedy=remedy)
    return pair[0], pair[1]


def _escape(name: str) -> str:
    for sign in "%:,+":
        name = name.replace(sign, f"%{ord(sign):02X}")
    return name


def read_people(text: str) -> People:
    """The declaration that ``--people`` gives."""
    plain: dict[str, People] = {"same": Same(), "nested": Nested(), "nested:0,1": Nested(), "unknown": Unknown()}
    plain["nested:1,0"] = Nested(outer=1, inner=0)
    told = text.replace(" ", "").casefold()
    if told in plain:
        return plain[told]
    parts = [part.strip() for part in text.split(",")]
    changed = _CHANGED.fullmatch(parts[-1])
    if changed is not None and [part.casefold() for part in parts[:-1]] in ([], ["same"]):
        return Changed(tuple(unquote(name.strip()) for name in changed[1].split("+")), _describe_span(changed[2], changed[3]))
    moved: dict[str, tuple[int, int]] = {}
    for part in told.split(","):
        found = _MOVED.fullmatch(part)
        if found is None or found[1] in moved:
            raise OptionError("does not say how the populations of the releases are related", where="--people", remedy=_FORMS)
        moved[found[1]] = _describe_span(found[2], found[3])
    return Churn(**moved)


def _describe_span(fewest: str, most: str | None) -> tuple[int, int]:
    return int(fewest), int(most if most else fewest)


def check_people(people: People | None, counts: Sequence[int | None]) -> People:
    """Return the declared relation, by default the same people."""
    told = [n for n in counts if n is not None]
    if people is None:
        if len(told) < len(counts) or len(set(told)) > 1:
            what = "the releases are about different numbers of people" if len(set(told)) > 1 else "not every release says its n"
            remedy = "Declare who they are about: --people same, nested, left:0-3,joined:0-2 or unknown"
            raise OptionError(f"{what}, so they may be about different people", where="--people", remedy=remedy)
        return Same()
    if isinstance(people, (Same, Changed)) and len(set(told)) > 1:
        what = "the same people are declared, and the releases say different numbers of them"
        remedy = "Declare nested, left:0-3,joined:0-2 or unknown, or correct n"
        raise OptionError(what, where="--people", remedy=remedy)
    if isinstance(people, (Nested, Churn, Changed)) and len(counts) < 2:
        remedy = "Give one folder or file for each group of people, or leave it out"
        raise OptionError("is about several groups of people, and there is one", where="--people", remedy=remedy)
    if isinstance(people, Changed) and len(counts) > 2:
        what = f"values that change are followed from one release to another, and there are {len(counts)}"
        remedy = "Audit two of them at a time, or put the files of each time into one folder"
        raise OptionError(what, where="--people", remedy=remedy)
    come_and_go = isinstance(people, Churn) and people.left[1] > 0 and people.joined[1] > 0
    if come_and_go and len(counts) > MOST_POPULATIONS:
        what = f"people who come and go among {len(counts)} releases can be in too many sets of them"
        remedy = f"Audit at most {MOST_POPULATIONS} at a time, or declare that nobody joined (joined:0) or left (left:0)"
        raise OptionError(what, where="--people", remedy=remedy)
    for first, second in pairwise(counts):
        if first is None or second is None:
            continue
        grown = second - first
        if isinstance(people, Nested) and (grown > 0 if people.outer == 0 else grown < 0):
            remedy = "Name the larger release first, or declare left:..,joined:.."
            raise OptionError("the inner release is about more people than the outer one", where="--people", remedy=remedy)
        if isinstance(people, Churn) and not people.joined[0] - people.left[1] <= grown <= people.joined[1] - people.left[0]:
            remedy = "Allow more people to leave or to join, or correct n"
            raise OptionError("the numbers of people differ by more than this allows", where="--people", remedy=remedy)
    return people


AS_TOLD = "is ignored, as --ignore says"  #: Why something is left out that the caller names.


@dataclass(frozen=True, slots=True)
class NotRead:
    """File or column that was not read, with reason."""

    file: str
    reason: str
    column: str = ""

    def to_dict(self) -> dict[str, str]:
        """The entry of the record."""
        out = {"file": self.file, "reason": self.reason}
        return out | {"column": self.column} if self.column else out


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Releases(Shown, Sequence[Release]):
    """Releases of one folder by name; ``ignored`` files say nothing about people.

    If it ``is_session``, they were made one after another from one data set.
    """

    name: str
    releases: tuple[Release, ...]
    not_read: tuple[NotRead, ...] = ()
    ignored: tuple[NotRead, ...] = ()
    is_session: bool = False

    def __len__(self) -> int:
        return len(self.releases)

    @overload
    def __getitem__(self, index: int) -> Release: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Release]: ...

    def __getitem__(self, index: int | slice) -> Release | Sequence[Release]:
        return self.releases[index]


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """Releases of an audit, their named populations, and how these are related."""

    releases: tuple[Release, ...]
    population: tuple[int, ...]
    names: tuple[str, ...]
    not_read: tuple[NotRead, ...] = ()
    ignored: tuple[NotRead, ...] = ()
    people: People | None = None
    is_session: bool = False


@dataclass(frozen=True, eq=False)
class Population:
    """Combinations of QI values, with numbers of people."""

    columns: tuple[Column, ...]
    people: Ints

    @classmethod
    def of(cls, table: Table) -> Population:
        """The combinations of all columns of a table."""
        merged = table.merged()
        return cls(merged.columns, merged.weights)

    def __len__(self) -> int:
        return len(self.people)

    @cached_property
    def n(self) -> int:
        """Number of people."""
        return int(self.people.sum())

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def describe(self, index: int) -> dict[str, str]:
        """The values of a combination by column."""
        return {column.name: column.values[column.codes[index]] for column in self.columns}

    def knows(self, column: str, value: str) -> bool:
        """Tell if some person has this value."""
        return (column, value) in self._places

    def holding(self, pairs: Iterable[tuple[str, str]]) -> Codes:
        """Return the combinations with all these values, ascending."""
        wanted = [self._places.get(pair) for pair in pairs]
        if any(place is None for place in wanted):
            return np.empty(0, np.int32)
        if not wanted:
            return np.arange(len(self), dtype=np.int32)
        # From the rarest value on: the others are looked up only where it is.
        first, *rest = sorted((place for place in wanted if place is not None), key=lambda place: len(self._lists[place]))
        found = self._lists[first]
        for column, code in rest:
            found = found[self._codes[column][found] == code]
        return found

    def holding_each(self, sets: Sequence[Iterable[tuple[str, str]]]) -> Iterator[tuple[int, Codes]]:
        """Yield the number of each set of known values, and its :meth:`holding`.

        Sets that share their rarest values share the work; so they come in an order of their own.
        """
        places = [
            sorted((self._places[pair] for pair in pairs), key=lambda place: (len(self._lists[place]), place)) for pairs in sets
        ]
        path: list[tuple[tuple[int, int], Codes]] = []  # the values of the set before, rarest first, with who has them so far
        for number in sorted(range(len(sets)), key=places.__getitem__):
            wanted = places[number]
            shared = 0
            while shared < min(len(path), len(wanted)) and path[shared][0] == wanted[shared]:
                shared += 1
            del path[shared:]
            for place in wanted[shared:]:
                found = self._lists[place]
                if path:
                    found = path[-1][1]
                    found = found[self._codes[place[0]][found] == place[1]]
                path.append((place, found))
            yield number, path[-1][1] if path else np.arange(len(self), dtype=np.int32)

    def places_of(self, table: Table) -> Ints:
        """Return each row's combination, or -1."""
        mine = np.zeros(len(self), np.int64)
        theirs = np.zeros(len(table.weights), np.int64)
        known = np.ones(len(theirs), np.bool_)
        span = 1
        for column in self.columns:
            other = table.column(column.name)
            code = {value: number for number, value in enumerate(column.values)}
            fresh = np.array([code.get(value, -1) for value in other.values], np.int64)[other.codes]
            known &= fresh >= 0
            if span > np.iinfo(np.int64).max // max(1, len(column.values)):
                # Too many combinations for one number: only those that occur are numbered.
                kept, mine = np.unique(mine, return_inverse=True)
                place = np.minimum(np.searchsorted(kept, theirs), max(0, len(kept) - 1))
                known &= kept[place] == theirs
                theirs = place
                span = len(kept)
            mine = mine * len(column.values) + column.codes
            theirs = theirs * len(column.values) + np.maximum(fresh, 0)
            span *= len(column.values)
        order = np.argsort(mine)
        found = np.minimum(np.searchsorted(mine, theirs, sorter=order), max(0, len(mine) - 1))
        places = order[found] if len(mine) else np.zeros(len(theirs), np.int64)
        known &= mine[places] == theirs if len(mine) else np.zeros(len(theirs), np.bool_)
        return np.where(known, places, -1)

    def among(self, allowed: Mapping[str, Sequence[str]]) -> Codes:
        """Return the combinations with allowed values, ascending."""
        found = np.arange(len(self), dtype=np.int32)
        for name, values in allowed.items():
            column = self.columns[self.names.index(name)]
            wanted = np.array([value in values for value in column.values], np.bool_)
            found = found[wanted[column.codes[found]]]
        return found

    @cached_property
    def _places(self) -> dict[tuple[str, str], tuple[int, int]]:
        columns = enumerate(self.columns)
        return {(column.name, value): (number, code) for number, column in columns for code, value in enumerate(column.values)}

    @cached_property
    def _codes(self) -> list[npt.NDArray[Any]]:
        """Codes of the columns, in a byte where that is enough: they are looked up again and again."""
        return [column.codes.astype(np.uint8) if len(column.values) <= 256 else column.codes for column in self.columns]

    @cached_property
    def _lists(self) -> dict[tuple[int, int], Codes]:
        lists: dict[tuple[int, int], Codes] = {}
        for number, column in enumerate(self.columns):
            order = stable_order(column.codes, len(column.values)).astype(np.int32)
            cuts = np.cumsum(np.bincount(column.codes, minlength=len(column.values)))[:-1]
            lists |= {(number, code): part for code, part in enumerate(np.split(order, cuts))}
        return lists


def as_released(table: Table, releases: Sequence[Release]) -> Table:
    """Return the table with columns as releases have them.

    Numbers become intervals, where a release cuts their column. There is a column of first rules for each list in order whose columns the
    table has.
    """
    cuts = {cut.column: cut for release in releases for cut in release.header.cuts}
    if any(column.name in cuts for column in table.columns):
        columns = (_in_intervals(one, cuts[one.name]) if one.name in cuts else one for one in table.columns)
        table = replace(table, columns=tuple(columns))
    for release in releases:
        match = release.header.first_match
        if match is None or match.column in table.names:
            continue
        if not {one.column for rule in match.rules for one in rule} <= set(table.names):
            continue
        number = np.full(len(table.weights), len(match.rules), np.int32)
        for place in reversed(range(len(match.rules))):
            inside = np.ones(len(table.weights), bool)
            for one in match.rules[place]:
                column = table.column(one.column)
                allowed = set(one.among(column.values))
                inside &= np.array([value in allowed for value in column.values], bool)[column.codes]
            number[inside] = place
        names = [*map(str, range(1, len(match.rules) + 1)), NO_RULE]
        table = replace(table, columns=(*table.columns, Column.from_texts(match.column, [names[one] for one in number.tolist()])))
    return table


#: Truth values as the numbers that a model is trained on.
_TRUTH = {"False": "0", "True": "1"}


def _in_intervals(column: Column, cut: Cut) -> Column:
    if set(column.values) <= set(cut.values):
        return column
    try:
        numbers = [float(_TRUTH.get(value, value)) for value in column.values]
        places = [cut.place(number) for number in numbers if not math.isnan(number)]
    except ValueError:
        places = []
    if len(places) < len(column.values):
        remedy = "Give the numbers that the model was trained on"
        raise InputError(f"column {column.name!r} holds values that are not numbers", where="the data", remedy=remedy)
    used = sorted(set(places))
    codes = np.array([used.index(place) for place in places], np.int64)
    return Column.renumbered(column.name, [cut.values[place] for place in used], codes[column.codes])
