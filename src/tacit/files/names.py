"""Names of items and features that other programs write for values of columns."""

from __future__ import annotations

from collections.abc import Sequence


def pair_of(name: str, columns: Sequence[str]) -> tuple[str, str] | None:
    """Return column and value of a name such as ``sex=F``, ``sex_F`` or ``sex:F``; None where none or several columns fit.

    >>> pair_of("sex_F", ["sex", "age"]), pair_of("sex_F", ["age"]), pair_of("a_b_c", ["a", "a_b"])
    (('sex', 'F'), None, None)
    """
    fitting = {
        (column, name[len(column) + 1 :])
        for column in columns
        if name.startswith(tuple(column + mark for mark in "=_:")) and len(name) > len(column) + 1
    }
    return fitting.pop() if len(fitting) == 1 else None
