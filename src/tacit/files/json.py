"""JSON cells: lists of items and objects ``{column: value}``.

Cells are parsed in batches joined to one text, which is several times faster than one by one. They are joined with a line break, which no
JSON string may hold, so that a broken cell cannot swallow its neighbour. A batch that does not yield one list or object per cell is read
again cell by cell to find the line at fault.
"""

from __future__ import annotations

import json
from typing import Any

from tacit.errors import InputError
from tacit.files.counts import Place
from tacit.files.printout import BATCH, Bags, TextColumn

_WORDS = {True: "true", False: "false", None: "null"}


class Pairs(list[tuple[str, Any]]):
    """Pairs of a JSON object, in their order.

    A repeated key is kept.
    """

    __slots__ = ()


def item_name(value: Any) -> str:
    """Return an item's name; numbers keep their spelling."""
    return value if isinstance(value, str) else _WORDS[value]


def pair_name(pair: tuple[str, Any]) -> tuple[str, str]:
    """Column and value as texts."""
    return pair[0], item_name(pair[1])


def _loads(text: str) -> Any:
    # Numbers are kept as they are spelled: values are text, whatever they look like.
    return json.loads(text, parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=Pairs)


def add_lists(bags: Bags, column: TextColumn, place: Place) -> None:
    """Take in cells that hold JSON lists of items."""
    _add(bags, column, place, list, "[]", 'is not a JSON list of items; write it like ["bread", "milk"]')


def add_objects(bags: Bags, column: TextColumn, place: Place) -> None:
    """Take in cells that hold JSON objects ``{column: value}``."""
    _add(bags, column, place, Pairs, "{}", 'is not a JSON object of columns and values; write it like {"age": "30"}')


def _add(bags: Bags, column: TextColumn, place: Place, kind: type, ends: str, fault: str) -> None:
    for start in range(0, len(column.texts), BATCH):
        cells = [cell.strip() for cell in column.texts[start : start + BATCH]]
        try:
            bags.add(_batch(cells, kind, ends))
        except (ValueError, TypeError, RecursionError):  # a TypeError: a list or object inside a cell is no key
            bags.add([_single(cell, kind, place(start + i, column.name), fault) for i, cell in enumerate(cells)])


def _batch(cells: list[str], kind: type, ends: str) -> list[Any]:
    """Return all cells at once.

    A ValueError when something in them is not as it should be.
    """
    if not all(cell[:1] == ends[0] and cell[-1:] == ends[1] for cell in cells):
        raise ValueError
    parsed: list[Any] = _loads("[" + ",\n".join(cells) + "]")
    if len(parsed) != len(cells) or not all(type(part) is kind for part in parsed):
        raise ValueError
    if kind is Pairs and not all(map(_has_distinct_keys, parsed)):
        raise ValueError
    return parsed


def _has_distinct_keys(pairs: Pairs) -> bool:
    return len({key for key, _ in pairs}) == len(pairs)


def _single(cell: str, kind: type, where: str, fault: str) -> Any:
    what, remedy = fault.split("; ")
    try:
        parsed = _loads(cell)
    except (ValueError, RecursionError):
        raise InputError(what, where=where, remedy=remedy.capitalize()) from None
    values = [value for _, value in parsed] if type(parsed) is Pairs else parsed
    flat = type(parsed) is kind and not any(isinstance(value, list) for value in values)
    if not flat or (type(parsed) is Pairs and not _has_distinct_keys(parsed)):
        raise InputError(what, where=where, remedy=remedy.capitalize())
    return parsed
