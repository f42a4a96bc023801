"""Names of items and features that other programs write for values of columns."""

from __future__ import annotations

from collections.abc import Sequence


def pair_of(name: str, columns: Sequence[str], *, longest: bool = False) -> tuple[str, str] | None:
    """Return column and value of a name such as ``sex=F``, ``sex_F`` or ``sex:F``.

    None where no column fits, or several do and not the ``longest`` one is taken.

    >>> pair_of("sex_F", ["sex", "age"]), pair_of("sex_F", ["age"]), pair_of("a_b_c", ["a", "a_b"])
    (('sex', 'F'), None, None)
    >>> pair_of("a_b_c", ["a", "a_b"], longest=True)
    ('a_b', 'c')
    """
    fitting = {
        (column, name[len(column) + 1 :])
        for column in columns
        if name.startswith(tuple(column + mark for mark in "=_:")) and len(name) > len(column) + 1
    }
    if len(fitting) > 1 and not longest:
        return None
    return max(fitting, key=lambda pair: len(pair[0]), default=None)
