"""Every pattern of some records' cells once, with the rows that fit it: the search that readings of partial tables share.

A pattern is a set of cells ``(column, code)`` that at least one of the given records publishes. The search goes depth first, columns in their
order, so that each pattern is seen once however many records have it; whoever looks decides whether longer patterns are worth it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.model.partial import Codes, Numbers

Cells = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """Equal rows taken together: ``cells[c][i]`` is the code of distinct row i in column c, ``weights[i]`` how many rows it stands for.

    ``group`` says for each row which distinct row it is.

    >>> merged = Merged.of([np.array([0, 1, 0], np.int32), np.array([-1, 2, -1], np.int32)])
    >>> merged.weights.tolist(), merged.group.tolist()
    ([2, 1], [0, 1, 0])
    """

    cells: tuple[Codes, ...]
    weights: Numbers
    group: Numbers

    @classmethod
    def of(cls, columns: Sequence[npt.NDArray[np.integer[Any]]]) -> Merged:
        """The distinct rows of columns of codes; -1 is a code like any other here."""
        key, largest = np.zeros(len(columns[0]), np.int64), 1
        for column in columns:
            width = int(column.max(initial=-1)) + 2
            if largest * width >= 1 << 62:
                # Numbered anew, the key lies below rows x values: it never overflows.
                key = np.unique(key, return_inverse=True)[1].reshape(-1).astype(np.int64)
                largest = len(key) + 1
            key, largest = key * width + (column + 1), largest * width
        _, first, group, weights = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
        cells = tuple(np.ascontiguousarray(column[first], np.int32) for column in columns)
        return cls(cells, weights.astype(np.int64), group.reshape(-1).astype(np.int64))

    def members(self) -> tuple[Numbers, Numbers]:
        """The rows that each distinct row stands for: ``rows[starts[i]:starts[i + 1]]``, as (starts, rows)."""
        return np.append(0, np.cumsum(self.weights)), np.argsort(self.group, kind="stable").astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A pattern, the distinct rows that fit it, and the records (by their distinct rows) whose pattern it is."""

    cells: Cells
    rows: Numbers
    owners: Numbers


def walk(
    rows: Sequence[Codes],
    owners: Sequence[Codes],
    visit: Callable[[Node], bool],
    *,
    root: bool = False,
    wildcard: bool = False,
    first: int | None = None,
    longest: int | None = None,
    most: int | None = None,
) -> int:
    """Show every pattern of the owners' published cells to ``visit``, which says whether to look at longer ones.

    ``rows`` and ``owners`` are columns of codes, -1 where a cell is blank. The empty pattern is shown with ``root`` only. With ``wildcard`` a
    blank cell of a row fits every value; an owner's blank cell is never part of a pattern. A pattern starts with one of the ``first`` columns,
    has at most ``longest`` cells, and at most ``most`` patterns are shown. Return how many patterns have longer ones that were not looked at.
    """
    everything = Node((), np.arange(len(rows[0])), np.arange(len(owners[0])))
    if root and not visit(everything):
        return 0
    waiting = [everything]
    shown = cut = 0
    while waiting:
        node = waiting.pop()
        if most is not None and shown >= most:
            cut += 1
            continue
        for column in range(node.cells[-1][0] + 1 if node.cells else 0, len(rows) if node.cells or first is None else first):
            theirs, ours = owners[column][node.owners], rows[column][node.rows]
            for code in np.unique(theirs[theirs >= 0]).tolist():
                fits = ours == code
                if wildcard:
                    fits |= ours < 0
                child = Node((*node.cells, (column, code)), node.rows[fits], node.owners[theirs == code])
                shown += 1
                if visit(child) and column + 1 < len(rows):
                    if len(child.cells) == longest:
                        cut += 1
                    else:
                        waiting.append(child)
    return cut


#: Patterns with a column that has no role: so long where there are very many, and so many are looked at.
LONGEST, MOST_PATTERNS = 3, 200_000


def walk_with_others(
    rows: Sequence[Codes],
    owners: Sequence[Codes],
    visit: Callable[[Node], bool],
    *,
    others: int,
    root: bool = False,
    wildcard: bool = False,
) -> int:
    """Show every pattern once, where the last ``others`` columns have no role: first those without them, then those with one of them or more.

    The latter are shown to the end where there are at most ``MOST_PATTERNS`` of them, else those of at most ``LONGEST`` cells. Return how many
    patterns have longer ones that were not looked at; patterns may then be shown twice.
    """
    known = len(rows) - others
    if known:
        walk(rows[:known], owners[:known], visit, root=root, wildcard=wildcard)
    if not others:
        return 0
    order = [*range(known, len(rows)), *range(known)]
    seen: set[Cells] = set()

    def visit_once(node: Node) -> bool:
        cells = tuple(sorted((order[column], code) for column, code in node.cells))
        if cells in seen:
            return True
        wanted = visit(Node(cells, node.rows, node.owners))
        if wanted:
            seen.add(cells)
        return wanted

    permuted = [rows[place] for place in order], [owners[place] for place in order]
    cut = walk(*permuted, visit_once, wildcard=wildcard, first=others, longest=LONGEST, most=MOST_PATTERNS)
    if not cut:
        return 0
    return walk(*permuted, visit_once, wildcard=wildcard, first=others, most=MOST_PATTERNS)
