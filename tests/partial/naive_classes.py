"""Classes of a table straight from the definition: every row against every other one."""

from __future__ import annotations

from collections.abc import Sequence

Row = tuple[str, ...]


def exposed_classes(rows: Sequence[Row], k: int, least: int) -> dict[Row, tuple[int, int, tuple[str, ...]]]:
    """Return the exposed classes with the fewest and most people, and the possible values if there are fewer than ``least``.

    A row is its cells with the sensitive one last; an empty cell is a blank.
    """
    out = {}
    for cells in {row[:-1] for row in rows}:
        shows = [row for row in rows if all(not cell or cell == other for cell, other in zip(cells, row[:-1], strict=True))]
        fits = [
            row
            for row in rows
            if all(not cell or not other or cell == other for cell, other in zip(cells, row[:-1], strict=True))
        ]
        values = tuple(sorted({row[-1] for row in fits}))
        is_told = "" not in values and len(values) < least
        if len(fits) < k or is_told:
            out[cells] = len(shows), len(fits), values if is_told else ()
    return out
