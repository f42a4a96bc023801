"""Histograms whose bins are two columns of edges, as they are written from ``numpy.histogram``.

A bin reaches from one column to the other: all but the last are open above, as NumPy counts.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from fractions import Fraction

from tacit.files.frequency_cells import Cells
from tacit.model.intervals import read_number

#: Words of the names of the lower and of the upper edge.
_PAIRS = (("left", "right"), ("start", "end"), ("lower", "upper"), ("low", "high"), ("from", "to"), ("lo", "hi"))


def join_edges(cells: Cells, named: Collection[str]) -> Cells:
    """Return cells with two columns of edges as one.

    ``named`` are columns that the caller names, and that stay as they are.
    """
    found = _find_pair(cells, named)
    if found is None:
        return cells
    left, right, name = found
    ends = [(read_number(low), read_number(high)) for low, high in zip(cells.texts[left], cells.texts[right], strict=True)]
    known = [(low, high) for low, high in ends if isinstance(low, Fraction) and isinstance(high, Fraction) and low < high]
    if len(known) < len(ends) or not known:
        return cells
    last = max(high for _, high in known)
    if not {high for _, high in known} - {last} <= {low for low, _ in known}:
        return cells  # bins of a histogram leave no gaps
    labels = [
        f"[{low.strip()}, {high.strip()}{']' if end == last else ')'}"
        for low, high, (_, end) in zip(cells.texts[left], cells.texts[right], known, strict=True)
    ]
    names = [name if place == left else one for place, one in enumerate(cells.names) if place != right]
    texts = [labels if place == left else one for place, one in enumerate(cells.texts) if place != right]
    return replace(cells, names=names, texts=texts)


def _find_pair(cells: Cells, named: Collection[str]) -> tuple[int, int, str] | None:
    """Return the places of the two edges and a name for both."""
    plain = [name.casefold() for name in cells.names]
    for low, high in _PAIRS:
        for left, name in enumerate(plain):
            parts = re.split(r"[\W_]+", name)
            if low not in parts or cells.names[left] in named:
                continue
            other = re.sub(rf"(?<![a-z]){low}(?![a-z])", high, name)
            right = plain.index(other) if other in plain else -1
            rest = "_".join(part for part in parts if part not in (low, "edge", "edges", "bin", "bins", ""))
            joined = rest or "bin"
            if right >= 0 and right != left and cells.names[right] not in named and joined not in plain:
                return left, right, joined
    return None
