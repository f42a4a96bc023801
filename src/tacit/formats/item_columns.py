"""Items of other programs as values of columns: ``sex=F``, ``sex_F`` as pandas.get_dummies writes it, or ``sex:F``.

Which columns there are is for the caller to say: those with a role, and those of the data. An item that fits none of them, or more than one, is
refused, and never guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tacit.errors import InputError, OptionError
from tacit.formats.tables import Names, column_names, sensitive_names
from tacit.model.items import Items
from tacit.model.release import Listed, Rules
from tacit.model.schema import Schema

Pair = tuple[str, str]

#: What stands between the name of a column and a value.
SEPARATORS = ("=", "_", ":")


def with_columns(release: Listed, *, qi: Names = (), sa: Names = (), columns: Names = ()) -> Listed:
    """The list with its items as values of columns, and the roles of these.

    Of a list that names its columns itself only roles are added that it lacks. ``columns`` are those of the data. Without roles, a list whose
    items are no values of these stays as it is.
    """
    known = column_names(columns, ())
    quasi = column_names(qi, known)
    sensitive, no_sa = sensitive_names(sa, known)
    if not (quasi or sensitive or no_sa or known):
        return release
    Schema(qi=quasi, sa=sensitive)  # refuses a column with two roles
    header = release.header
    if release.items.pairs is None and (quasi or sensitive or known):
        wanted = dict.fromkeys((*quasi, *sensitive, *known))
        pairs = [_pair_of(name, list(wanted)) for name in release.items.names]
        strangers = [item for item, pair in enumerate(pairs) if pair is None]
        if strangers and not (quasi or sensitive):
            return release
        if strangers:
            _refuse(release, strangers[0], list(wanted))
        matched = [pair for pair in pairs if pair is not None]
        _check_pairs(release, matched)
        source = release.source
        if source is not None:
            used = dict.fromkeys(column for column, _ in matched)
            source = replace(source, options={**source.options, "columns": [column for column in known if column in used]})
        release = replace(release, items=Items.of_columns(matched), source=source)
    own = dict.fromkeys(column for column, _ in release.items.pairs or ())
    fresh = replace(
        header,
        qi=header.qi or quasi or (tuple(column for column in own if column not in sensitive) if sensitive else ()),
        sa=header.sa or sensitive,
        no_sa=header.no_sa or (no_sa and not header.sa),
    )
    return release if fresh == header else replace(release, header=fresh)


def _pair_of(name: str, columns: Sequence[str]) -> Pair | None:
    """The column and the value of an item; None where no column fits, or several do.

    >>> _pair_of("sex_F", ["sex", "age"]), _pair_of("age:30", ["sex", "age"]), _pair_of("beer", ["sex"])
    (('sex', 'F'), ('age', '30'), None)
    >>> _pair_of("sex_old_1", ["sex", "sex_old"]) is None
    True
    """
    fitting = {
        (column, name[len(column) + 1 :])
        for column in columns
        if name.startswith(tuple(column + mark for mark in SEPARATORS)) and len(name) > len(column) + 1
    }
    return fitting.pop() if len(fitting) == 1 else None


def _refuse(release: Listed, item: int, columns: Sequence[str]) -> None:
    """Raise because an item is no value of the columns; the line that holds it is named, and not the item."""
    raise OptionError(
        f"{_line_of(release, item)} holds an item that is not a value of exactly one of the columns {', '.join(columns)}",
        where="--qi and --sa",
        remedy="Name the columns of all items, which are written column=value, column_value or column:value",
    )


def _line_of(release: Listed, item: int) -> str:
    """Where an item stands first."""
    parts = (release.antecedents, release.consequents) if isinstance(release, Rules) else (release.sets,)
    first = min(int(part.owners()[part.members == item].min()) for part in parts if (part.members == item).any())
    name = release.source.name if release.source else "the release"
    return f"{name}, line {release.line(first)},"


def _check_pairs(release: Listed, pairs: Sequence[Pair]) -> None:
    """Refuse a value that is written in two ways, and a line that names two values of one column."""
    name = release.source.name if release.source else "the release"
    if len(set(pairs)) < len(pairs):
        raise InputError("writes one value of a column in two ways", where=name, remedy="Write every value in one way")
    number = {column: place for place, column in enumerate(dict.fromkeys(column for column, _ in pairs))}
    owner = np.array([number[column] for column, _ in pairs], np.int64)
    parts = (release.antecedents, release.consequents) if isinstance(release, Rules) else (release.sets,)
    for part in parts:
        keys = part.owners() * len(number) + owner[part.members]
        order = np.sort(keys)
        if len(twice := np.flatnonzero(order[1:] == order[:-1])):
            line = release.line(int(order[twice[0]]) // len(number))
            remedy = "Leave out the roles of columns that people have several values of"
            raise InputError("names two values of one column, and nobody has both", where=f"{name}, line {line}", remedy=remedy)
