"""The items of a table: ``column=value``, and for columns with a hierarchy ``column=coarser value``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tacit.mining.database import Rows
from tacit.model.hierarchy import ROOT, Hierarchy
from tacit.model.schema import require_column
from tacit.model.sets import Sets
from tacit.model.table import Column, Table

Pair = tuple[str, str]


def table_rows(
    people: Table, columns: Sequence[str], hierarchies: Mapping[str, Hierarchy] | None, classes: Column | None = None
) -> tuple[Rows, list[Pair]]:
    """The rows of some columns of a table as sets of items, and what each item is; ``classes`` gives every row a class.

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
        items, nodes = _items_of_values(column, tree, len(pairs))
        pairs += [(name, value) for value in (*column.values, *nodes)]
        owners += [number] * (len(column.values) + len(nodes))
        blocks.append(items[column.codes])
    table = np.concatenate(blocks, axis=1) if blocks else np.zeros((len(people.weights), 0), np.int32)
    present = table >= 0
    offsets = np.concatenate(([0], np.cumsum(present.sum(axis=1)))).astype(np.int64)
    codes = None if classes is None else classes.codes
    n_classes = 1 if classes is None else len(classes.values)
    rows = Rows(Sets(offsets, table[present]), people.weights, len(pairs), np.array(owners, np.int64), codes, n_classes)
    return rows, pairs


def _items_of_values(column: Column, tree: Hierarchy | None, first: int) -> tuple[npt.NDArray[np.int32], list[str]]:
    """For every value of a column the numbers of its items, padded with -1, and the coarser values in use."""
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
