"""Rows prepared for the mining kernels.

The items of a table are ``column=value``, and for columns with a hierarchy ``column=coarser value``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.model.arrays import Codes, Ints
from tacit.model.errors import OptionError
from tacit.model.release import Sets
from tacit.model.table import ROOT, Column, Hierarchy, Table, require_column

#: Rows are kept as masks when a mask is at most this many words per item that a row holds on average; otherwise as lists.
MASK_WORDS_PER_ITEM = 1.0

MOST_CELLS = 2**31 - 1  #: The kernels count positions in 32 bits.


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Weighted sets of items, with classes and columns."""

    sets: Sets
    weights: Ints
    n_items: int
    columns: Ints | None = None
    classes: Codes | None = None
    n_classes: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Database:
    """Frequent items of merged rows, in parts (see :mod:`tacit.kernels.search`).

    ``kept[label]`` is the number that a frequent item had in the rows; labels ascend with it. ``least`` is the threshold, ``n_classes`` how
    many classes reach it (-1: there are no classes), ``longest`` the largest number of frequent items in a row.
    """

    kept: Ints
    least: int
    n_classes: int
    lists: Codes
    masks: npt.NDArray[np.uint64]
    starts: Ints
    places: Codes
    parts: Ints
    labels: Ints
    longest: int

    @property
    def n_items(self) -> int:
        """Number of frequent items."""
        return len(self.kept)


def make_database(rows: Rows, least: int, *, dictionary_order: bool = False, dense: bool | None = None) -> Database:
    """Prepare the rows for mining with the threshold ``least``.

    ``dictionary_order`` numbers the items in their own order where rows are kept as masks (all sets then come out in dictionary order);
    otherwise rare items come first, which is faster for sparse data. ``dense`` forces masks or lists.
    """
    from tacit.kernels.rows import index, merge, supports

    offsets = np.ascontiguousarray(rows.sets.offsets, np.int64)
    given = np.ascontiguousarray(rows.sets.members, np.int32)
    weights = rows.weights.astype(np.int64)  # a copy: merging changes it
    counts = np.zeros((rows.n_items, 2), np.int64)
    supports(offsets, given, weights, counts)
    kept = np.flatnonzero(counts[:, 1] >= least)
    cells = int(counts[kept, 0].sum())
    people = counts[kept, 1]
    if dense is None:
        dense = (len(kept) + 63) // 64 <= MASK_WORDS_PER_ITEM * cells / max(1, len(weights))
    order = np.arange(len(kept)) if dense and dictionary_order else np.argsort(people, kind="stable")
    number = np.full(rows.n_items, -1, np.int32)
    number[kept[order]] = np.arange(len(kept))
    classes, n_classes = _find_frequent_classes(rows, least)
    lengths = np.empty(len(weights), np.int32)
    merge(offsets, given, number, classes, weights, lengths, np.full(1 << max(1, 2 * len(weights)).bit_length(), -1, np.int32))
    chosen, ends, parts = _lay_out_parts(weights, classes, rows.n_classes)
    del weights
    cells = int(lengths[chosen].sum(dtype=np.int64))
    if cells + len(chosen) >= MOST_CELLS:
        raise OptionError("the data have over 2 billion frequent cells", where="min_support", remedy="Raise --min-support")
    if not dense:
        parts[:, 0] = np.cumsum(lengths[chosen] + 1, dtype=np.int64)[ends - 1]
    longest = int(lengths.max(initial=0))
    del lengths
    starts = np.zeros(len(kept) + 1, np.int64)
    places = np.empty(cells, np.int32)
    width = (len(kept) + 63) // 64
    masks = np.zeros(len(chosen) * width if dense else 0, np.uint64)
    lists = np.empty(0 if dense else cells + len(chosen) + 1, np.int32)
    index(offsets, given, number, chosen, starts, places, lists, masks)
    columns = kept if rows.columns is None else rows.columns[kept]
    labels = np.stack((order, columns[order], people[order], np.zeros_like(order)), axis=1).astype(np.int64)
    return Database(
        kept, least, n_classes, lists, masks=masks, starts=starts, places=places, parts=parts, labels=labels, longest=longest
    )


def _find_frequent_classes(rows: Rows, least: int) -> tuple[Codes, int]:
    """Return each row's class, all rare ones as one; count frequent classes."""
    if rows.classes is None:
        return np.empty(0, np.int32), -1
    people = np.zeros(rows.n_classes, np.int64)
    np.add.at(people, rows.classes, rows.weights)
    rare = people < least
    return np.where(rare[rows.classes], rows.n_classes, rows.classes).astype(np.int32), int(np.count_nonzero(~rare))


def _lay_out_parts(weights: Ints, classes: Codes, n_classes: int) -> tuple[Codes, Ints, Ints]:
    """Group rows into parts; return them, their ends, and end, weight and class.

    A row that stands for 13 people is in the parts of weights 8, 4 and 1 of its class: three bits instead of thirteen. The class behind the
    others, of which no rule is wanted, gets the number -1.
    """
    planes = int(weights.max(initial=0)).bit_length()
    chosen = [np.flatnonzero(weights >> plane & 1).astype(np.int32) for plane in range(planes)]
    sizes = np.array([len(part) for part in chosen], np.int64)
    rows = np.concatenate(chosen) if chosen else np.empty(0, np.int32)
    plane = np.arange(planes)
    found = np.zeros(planes, np.int64)
    if len(classes):
        keys = np.repeat(plane, sizes) + planes * classes[rows].astype(np.int64)
        order = np.argsort(keys, kind="stable")
        rows = rows[order]
        known, sizes = np.unique(keys, return_counts=True)
        found, plane = np.divmod(known, max(1, planes))
    plane = plane[sizes > 0]
    found = found[sizes > 0]
    sizes = sizes[sizes > 0]
    ends = np.cumsum(sizes)
    parts = np.stack((ends, 1 << plane, np.where(found == n_classes, -1, found)), axis=1).astype(np.int64)
    return rows, ends, parts


Pair = tuple[str, str]


def table_rows(
    people: Table, columns: Sequence[str], hierarchies: Mapping[str, Hierarchy] | None, classes: Column | None = None
) -> tuple[Rows, list[Pair]]:
    """Return rows as itemsets, with classes if given, and the items' meaning.

    A value brings along every coarser value that it belongs to, except the root, which says nothing, and a coarser value that has the name of a
    value, which would print like it.
    """
    for known in hierarchies or {}:
        require_column(known, people.names, where="hierarchies")
    pairs: list[Pair] = []
    owners: list[int] = []
    blocks = []
    for number, name in enumerate(columns):
        column = people.column(name)
        tree = (hierarchies or {}).get(name)
        items, nodes = _number_items(column, tree, len(pairs))
        pairs += [(name, value) for value in (*column.values, *nodes)]
        owners += [number] * (len(column.values) + len(nodes))
        blocks.append(items[column.codes])
    table = np.concatenate(blocks, axis=1) if blocks else np.zeros((len(people.weights), 0), np.int32)
    present = table >= 0
    offsets = np.concatenate(([0], np.cumsum(present.sum(axis=1)))).astype(np.int64)
    codes = None if classes is None else classes.codes
    n_classes = 1 if classes is None else len(classes.values)
    rows = Rows(
        Sets(offsets, table[present]), people.weights, len(pairs), np.array(owners, np.int64), classes=codes, n_classes=n_classes
    )
    return rows, pairs


def _number_items(column: Column, tree: Hierarchy | None, first: int) -> tuple[npt.NDArray[np.int32], list[str]]:
    """Return each value's items (padded), and coarser values."""
    values = set(column.values)
    chains = [
        [node for node in dict.fromkeys(tree.levels.get(value, ())) if node != ROOT and node not in values] if tree else []
        for value in column.values
    ]
    nodes = sorted({node for chain in chains for node in chain})
    number = {node: first + len(column.values) + i for i, node in enumerate(nodes)}
    items = np.full((len(column.values), 1 + max(map(len, chains), default=0)), -1, np.int32)
    items[:, 0] = first + np.arange(len(column.values))
    for i, chain in enumerate(chains):
        items[i, 1 : 1 + len(chain)] = sorted(number[node] for node in chain)
    return items, nodes
