"""Data about people: tables, roles, transactions, hierarchies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast, get_args

import numpy as np
import numpy.typing as npt

from tacit.model.bins import Bins
from tacit.model.errors import OptionError, nearest_column, nearest_name
from tacit.model.release import Items, Sets, Source
from tacit.model.shown import Shown

MissingRule = Literal["category", "drop", "drop-any"]
MISSING_RULES: tuple[MissingRule, ...] = get_args(MissingRule)


@dataclass(frozen=True, slots=True)
class Missing:
    """Mark and meaning of a missing value.

    ``category``: a value like any other; rows with the mark are left out if it is in a column in use (``drop``) or in any (``drop-any``).
    """

    mark: str | None = None
    rule: MissingRule = "category"

    def __post_init__(self) -> None:
        if self.rule not in MISSING_RULES:
            remedy = nearest_name(self.rule, MISSING_RULES, "rules")
            raise OptionError(f"unknown rule {self.rule!r}", where="--missing-rule", remedy=remedy)
        if self.mark is None and self.rule != "category":
            remedy = "Name the mark, for instance --missing '?'"
            raise OptionError(f"--missing-rule {self.rule} needs a mark", where="--missing-rule", remedy=remedy)


@dataclass(frozen=True, slots=True)
class Schema:
    """Roles of columns; unnamed columns are insensitive."""

    qi: tuple[str, ...] = ()
    sa: tuple[str, ...] = ()
    identifying: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        seen: dict[str, str] = {}
        for role, names in (("--qi", self.qi), ("--sa", self.sa), ("identifying", self.identifying)):
            for name in names:
                if seen.get(name) == role:
                    raise OptionError(f"column {name!r} is named twice", where=role, remedy="Name each column once")
                if name in seen:
                    what = f"column {name!r} is also given as {seen[name]}"
                    raise OptionError(what, where=role, remedy="Give each column one role")
                seen[name] = role

    @property
    def used(self) -> tuple[str, ...]:
        """The columns with the roles QI and SA."""
        return self.qi + self.sa

    def check(self, columns: Sequence[str], *, where: str) -> None:
        """Raise when a named column does not exist."""
        for name in self.qi + self.sa + self.identifying:
            require_column(name, columns, where=where)


def require_column(name: str, columns: Sequence[str], *, where: str) -> None:
    """Raise :class:`OptionError` unless the column exists."""
    if name not in columns:
        raise OptionError(f"there is no column {name!r}", where=where, remedy=nearest_column(name, columns))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Transactions(Shown):
    """Rows of items with weights: ``weights[i]`` people have exactly the items of ``rows[i]``.

    >>> baskets = Transactions.from_lists([["beer", "crisps"], ["beer", "beer"], []])
    >>> baskets.n, baskets.items.names, len(baskets.rows)
    (3, ('beer', 'crisps'), 3)
    """

    rows: Sets
    weights: npt.NDArray[np.int64]
    items: Items
    source: Source | None = None

    @classmethod
    def from_lists(cls, lists: Iterable[Iterable[object]]) -> Transactions:
        """Transactions from lists of item names; an empty list is a person without items."""
        rows = [[str(item) for item in row] for row in lists]
        names = sort_names({item for row in rows for item in row})
        number = {name: i for i, name in enumerate(names)}
        sets = Sets.from_lists([number[item] for item in row] for row in rows)
        return cls(sets, np.ones(len(sets), np.int64), Items(names))

    @property
    def n(self) -> int:
        """Number of people."""
        return int(self.weights.sum())

    def has_one_of(self, names: Iterable[str]) -> bool:
        """Tell if everybody has exactly one of these items."""
        wanted = frozenset(names)
        named = np.array([name in wanted for name in self.items.names], np.bool_)
        return bool((np.bincount(self.rows.owners(), named[self.rows.members], len(self.rows)) == 1).all())

    def merged(self) -> Transactions:
        """The same people with equal rows merged into one, in the order of their first appearance."""
        if len(self.rows) < 2:
            return self
        keys = self.rows.hashes()
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        if len(first) == len(keys):
            return self
        # Rows are merged only where they are really equal: a row that merely shares the hash of another stays by itself.
        head = first[group.reshape(-1)]
        lengths = self.rows.lengths
        same = lengths == lengths[head]
        for rows in self.rows.slices():
            size = np.where(same[rows], lengths[rows], 0)
            owner = np.repeat(np.arange(rows.start, rows.stop), size)
            place = np.arange(len(owner)) - np.repeat(np.cumsum(size) - size, size)
            differs = (
                self.rows.members[self.rows.offsets[owner] + place] != self.rows.members[self.rows.offsets[head[owner]] + place]
            )
            same[owner[differs]] = False
        target = np.where(same, head, np.arange(len(keys)))
        if (self.weights == 1).all():
            weights = np.bincount(target, minlength=len(keys))
        else:
            weights = np.zeros(len(keys), np.int64)
            np.add.at(weights, target, self.weights)
        kept = np.flatnonzero(target == np.arange(len(keys)))
        return replace(self, rows=self.rows.take(kept), weights=weights[kept].astype(np.int64))


#: Groups of items, at most 64 each, by the words that people's items make: called with the number of a group, the words and their people.
WordSearch = Callable[[int, npt.NDArray[np.uint64], npt.NDArray[np.int64]], Mapping[str, npt.NDArray[np.int64]]]


class RemoteTransactions(Transactions):
    """Transactions that stay where they are, for questions that can be answered there.

    Rows are fetched, once, where they are asked for after all.
    """

    _fetch: Callable[[], Transactions]
    _found: Transactions | None
    _people: int
    by_words: Callable[[Sequence[Sequence[str]], WordSearch, Sequence[str]], Mapping[str, npt.NDArray[np.int64]]]

    def __init__(
        self,
        items: Items,
        people: int,
        fetch: Callable[[], Transactions],
        by_words: Callable[[Sequence[Sequence[str]], WordSearch, Sequence[str]], Mapping[str, npt.NDArray[np.int64]]],
    ) -> None:
        for name, value in (("items", items), ("source", None), ("_people", people), ("_fetch", fetch), ("_found", None)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "by_words", by_words)

    @property
    def n(self) -> int:
        """Number of people."""
        return self._people

    def fetch(self) -> Transactions:
        """Return the rows, fetched if they are not here yet."""
        found = self._found
        if found is None:
            found = self._fetch()
            object.__setattr__(self, "_found", found)
        return found

    rows = property(lambda self: self.fetch().rows)
    weights = property(lambda self: self.fetch().weights)

    def merged(self) -> Transactions:
        """Return the same people, equal rows merged."""
        return self.fetch().merged()


def sort_names(names: Iterable[str]) -> tuple[str, ...]:
    """Sort names as whole numbers if possible, else text."""
    listed = list(names)
    if all(name.isascii() and name.isdecimal() for name in listed):
        # By length and text instead of by number: Python reads no number of thousands of digits.
        plain = {name: name.lstrip("0") for name in listed}
        return tuple(sorted(listed, key=lambda name: (len(plain[name]), plain[name], name)))
    return tuple(sorted(listed))


def row_keys(columns: Iterable[npt.NDArray[np.integer[Any]]], rows: int) -> npt.NDArray[np.int64]:
    """Return a key per row that sorts as its codes do, from -1 on."""
    key = np.zeros(rows, np.int64)
    largest = 1
    for codes in columns:
        width = int(codes.max(initial=-1)) + 2
        if largest * width >= 1 << 62:
            # Renumbered, the key lies below rows x values: it never overflows.
            key = np.unique(key, return_inverse=True)[1].reshape(-1).astype(np.int64)
            largest = len(key) + 1
        key = key * width + (codes + 1)
        largest *= width
    return key


def stable_order(keys: npt.NDArray[np.integer[Any]], below: int) -> npt.NDArray[np.int64]:
    """Return the order that sorts whole numbers from 0 to ``below``; equal ones keep theirs.

    Numpy counts numbers of sixteen bits instead of comparing them. Others are sorted with their places behind them, if both fit into a word:
    numpy sorts numbers many times faster than their order. Else sixteen bits at a time.
    """
    bits = max(1, (len(keys) - 1).bit_length())
    if below > 1 << 16 and (below - 1).bit_length() + bits <= 64:
        packed = keys.astype(np.uint64) << np.uint64(bits)
        packed |= np.arange(len(keys), dtype=np.uint64)
        packed.sort()
        packed &= np.uint64((1 << bits) - 1)
        return packed.view(np.int64)
    order = np.argsort(keys.astype(np.uint16), kind="stable")
    shift = 16
    while (below - 1) >> shift > 0:
        order = order[np.argsort((keys[order] >> keys.dtype.type(shift)).astype(np.uint16), kind="stable")]
        shift += 16
    return order


def number_keys(keys: npt.NDArray[np.integer[Any]], below: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the first row of each distinct key from 0 to ``below``, ascending, and each row's number among them."""
    if below > max(8 * len(keys), 1 << 16):
        order = stable_order(keys, below)
        ordered = keys[order]
        fresh = np.append(True, ordered[1:] != ordered[:-1])[: len(keys)]
        number = np.empty(len(keys), np.int64)
        number[order] = np.cumsum(fresh) - 1
        return order[fresh], number
    # Looking up is faster than sorting where few keys are possible.
    first_of = np.full(below, -1, np.int64)
    first_of[keys[::-1]] = np.arange(len(keys))[::-1]
    occurs = first_of >= 0
    return first_of[occurs], (np.cumsum(occurs) - 1)[keys]


def distinct_rows(rows: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return a row of each kind, and each row's kind."""
    packed = np.ascontiguousarray(np.packbits(rows, axis=1) if rows.dtype == np.bool_ else rows)
    whole = packed.view(np.dtype((np.void, packed.dtype.itemsize * packed.shape[1]))).reshape(-1)
    _, first, kind = np.unique(whole, return_index=True, return_inverse=True)
    return first, kind.reshape(-1)


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """Column whose row ``i`` holds ``values[codes[i]]``; values are sorted, and bins are by their numbers."""

    name: str
    values: tuple[str, ...]
    codes: npt.NDArray[np.int32]

    @classmethod
    def from_texts(cls, name: str, texts: Sequence[str]) -> Column:
        """A column from one text per row."""
        values = tuple(sorted(set(texts)))
        code = {value: i for i, value in enumerate(values)}
        return cls(name, values, np.fromiter((code[text] for text in texts), np.int32, len(texts)))

    @classmethod
    def renumbered(cls, name: str, texts: Sequence[str], codes: npt.NDArray[np.integer[Any]]) -> Column:
        """Return the column of distinct unsorted texts and their codes."""
        order = sorted(range(len(texts)), key=texts.__getitem__)
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        return cls(name, tuple(texts[place] for place in order), rank[codes.reshape(-1)])

    def take(self, rows: npt.NDArray[np.int64]) -> Column:
        """Return the column restricted to these rows."""
        codes = self.codes[rows]
        occurs = np.bincount(codes, minlength=len(self.values)) > 0
        if occurs.all():
            return Column(self.name, self.values, codes)
        kept = np.flatnonzero(occurs).tolist()
        return Column(self.name, tuple(self.values[i] for i in kept), (np.cumsum(occurs) - 1)[codes].astype(np.int32))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Table(Shown):
    """Rows of people with column roles; ``weights`` says how many people each row stands for.

    >>> people = Table.from_rows(["sex", "pay"], [("F", "high"), ("M", "low"), ("F", "high")], Schema(qi=("sex",), sa=("pay",)))
    >>> people.n, people.qi.names, len(people.merged().weights)
    (3, ('sex',), 2)
    """

    columns: tuple[Column, ...]
    weights: npt.NDArray[np.int64]
    schema: Schema = field(default_factory=Schema)
    missing: Missing = field(default_factory=Missing)
    dropped: int = 0
    source: Source | None = None
    bins: tuple[Bins, ...] = ()
    is_by_row: bool = True  #: True if rows come as the data list them, so that their numbers mean something.

    @classmethod
    def from_rows(cls, names: Sequence[str], rows: Sequence[Sequence[str]], schema: Schema | None = None) -> Table:
        """A table from one sequence of texts per row."""
        columns = tuple(Column.from_texts(name, [row[i] for row in rows]) for i, name in enumerate(names))
        return cls(columns, np.ones(len(rows), np.int64), schema or Schema())

    @property
    def n(self) -> int:
        """Number of people."""
        return int(self.weights.sum())

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in the order of the file."""
        return tuple(column.name for column in self.columns)

    @property
    def qi(self) -> Table:
        """The quasi-identifying part: what an adversary may know about everyone."""
        return self.select(self.schema.qi)

    @property
    def sa(self) -> Column:
        """The sensitive column; several are combined into one whose values join theirs with ``" & "``."""
        if not self.schema.sa:
            raise OptionError("the table has no sensitive column", where="sa", remedy="Name it with --sa (Python: sa=)")
        parts = [self.column(name) for name in self.schema.sa]
        if len(parts) == 1:
            return parts[0]
        kept, fresh = np.unique(np.stack([part.codes for part in parts], axis=1), axis=0, return_inverse=True)
        texts = [" & ".join(part.values[code] for part, code in zip(parts, row, strict=True)) for row in kept]
        return Column.renumbered(" & ".join(self.schema.sa), texts, fresh)

    def column(self, name: str) -> Column:
        """The column of this name."""
        require_column(name, self.names, where="column")
        return self.columns[self.names.index(name)]

    def select(self, names: Sequence[str]) -> Table:
        """The table with these columns only; roles of the others are forgotten."""
        roles = (self.schema.qi, self.schema.sa, self.schema.identifying)
        schema = Schema(*(tuple(name for name in role if name in names) for role in roles))
        return replace(self, columns=tuple(self.column(name) for name in names), schema=schema)

    def take(self, rows: npt.NDArray[np.int64]) -> Table:
        """The table of these rows only."""
        return replace(self, columns=tuple(column.take(rows) for column in self.columns), weights=self.weights[rows])

    def merged(self) -> Table:
        """The same people with equal rows merged, sorted by their codes."""
        key = row_keys((column.codes for column in self.columns), len(self.weights))
        first, group = number_keys(key, int(key.max(initial=0)) + 1)
        weights = np.zeros(len(first), np.int64)
        np.add.at(weights, group, self.weights)
        columns = tuple(Column(c.name, c.values, c.codes[first]) for c in self.columns)
        return replace(self, columns=columns, weights=weights, is_by_row=False)

    def by_person(self, person: str, columns: Sequence[str]) -> Transactions:
        """Each person as the set of items ``column: value`` that some of their rows has.

        The items are not named ``column=value``, because a person may have several values of a column.
        """
        people = self.column(person)
        names = [f"{name}: {value}" for name in columns for value in self.column(name).values]
        if len(set(names)) < len(names):
            remedy = "Rename a column so that no other begins with it and a colon"
            raise OptionError("two columns make items of the same name", where="--person", remedy=remedy)
        starts = np.cumsum([0, *(len(self.column(name).values) for name in columns)])
        members = [self.column(name).codes + start for name, start in zip(columns, starts.tolist(), strict=False)]
        rows = np.tile(people.codes.astype(np.int64), len(members))
        sets = Sets.from_pairs(rows, np.concatenate([np.empty(0, np.int32), *members]), len(people.values))
        return Transactions(sets, np.ones(len(people.values), np.int64), Items(tuple(names)), self.source)

    def transactions(self) -> Transactions:
        """Each row as the set of its items ``column=value``."""
        pairs = [(column.name, value) for column in self.columns for value in column.values]
        starts = np.cumsum([0] + [len(column.values) for column in self.columns])
        width = len(self.columns)
        rows = len(self.weights)
        members = np.empty((rows, width), np.int32)
        for i, column in enumerate(self.columns):
            members[:, i] = column.codes + starts[i]
        offsets = np.arange(rows + 1, dtype=np.int64) * width
        return Transactions(Sets(offsets, members.reshape(-1)), self.weights, Items.of_columns(pairs), self.source)


ROOT = "*"  #: The root that every value belongs to; it says nothing and is never an item.


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Coarser values of a column: ``levels[value]``, finest first.

    ``repeated[value]`` levels above the value only repeat it: whoever counts levels counts them.
    """

    column: str
    levels: dict[str, tuple[str, ...]]
    file: str = field(default="hierarchies", compare=False)
    repeated: Mapping[str, int] = field(default_factory=dict)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The coarser values, sorted."""
        return tuple(sorted({node for chain in self.levels.values() for node in chain}))

    def members(self, node: str) -> tuple[str, ...]:
        """The raw values that belong to ``node``, sorted."""
        return tuple(sorted(value for value, chain in self.levels.items() if node in chain))


Names = str | Sequence[str] | None  #: Column names: one, several with commas between them, or a sequence of such texts.


def column_names(given: Names, known: Sequence[str]) -> tuple[str, ...]:
    """Return the names in a text or sequence.

    A text that is not a known name is split at its commas.
    """
    texts = [given] if isinstance(given, str) else list(cast(Iterable[Any], given or ()))
    names: list[str] = []
    for text in texts:
        if not isinstance(text, str):
            raise OptionError("a column is not named by text", where="columns", remedy="Give the names of columns")
        names += [text] if text in known else [part.strip() for part in text.split(",") if part.strip()]
    return tuple(names)


def sensitive_names(given: Names, known: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """Return the sensitive columns, and True if declared empty with ``none``."""
    names = column_names(given, known)
    if "none" not in names or "none" in known:
        return names, False
    if len(names) > 1:
        raise OptionError("names columns, and says that there are none", where="--sa", remedy="Name the columns, or write none")
    return (), True
