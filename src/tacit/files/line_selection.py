"""Lines of releases that are named: by number, by cell, or by a condition on their columns.

A file has an entry in each line: ``17``, ``B4``, ``sex=F,job=*``, or a JSON object of columns and values; before it the name of a release and
a colon, if there are several. A condition alone may stand in place of a file.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tacit.files.disk import Input
from tacit.model.errors import OptionError
from tacit.model.frequencies import ANY, FrequencyTable
from tacit.model.release import Release

Place = tuple[int, int]  #: A published line: the number of its release, and its index there.
_REMEDY = "Write a line number, a cell such as B4, or a condition such as sex=F,job=*"
_CELL = re.compile(r"[A-Z]{1,3}\d{1,9}")


def select_lines(given: Any, releases: Sequence[Release], *, where: str) -> frozenset[Place]:
    """Return the lines that entries name.

    Entries are texts as in a file, paths of files, line numbers, or mappings from columns to values.
    """
    if given is None:
        return frozenset()
    parts = [given] if isinstance(given, (str, os.PathLike, Mapping, int)) else list(given)
    found: set[Place] = set()
    for part in parts:
        for entry, at in _entries(part, where):
            found |= _find(entry, at, releases)
    return frozenset(found)


def _entries(given: Any, where: str) -> Iterator[tuple[Any, str]]:
    if isinstance(given, (Mapping, int)):
        yield given, where
        return
    text = os.fspath(given)
    if not os.path.isfile(text):
        yield text, where
        return
    name = os.path.basename(text)
    with Input(text).open_text() as lines:
        for number, line in enumerate(lines, 1):
            if line.strip() and not line.lstrip().startswith("#"):
                yield line.strip(), f"{name}, line {number}"


def _find(entry: Any, where: str, releases: Sequence[Release]) -> set[Place]:
    numbers: Iterable[int] = range(len(releases))
    is_named = False
    if isinstance(entry, str):
        entry, named = _split_release(entry.strip(), releases)
        if named is not None:
            numbers = [named]
            is_named = True
    if isinstance(entry, str) and (entry.isdecimal() or _CELL.fullmatch(entry)):
        entry = int(entry) if entry.isdecimal() else entry
        if len(releases) > 1 and not is_named:
            remedy = "Write the name of the file and a colon before it"
            raise OptionError("is a line of one of several releases", where=where, remedy=remedy)
        found = _at_place(entry, numbers, releases)
    elif isinstance(entry, int):
        found = _at_place(entry, numbers, releases)
    else:
        condition = _condition(entry, where)
        found = {place for number in numbers for place in _matching(number, releases[number], condition)}
    if not found:
        raise OptionError("names no line of the releases", where=where, remedy=_REMEDY)
    return found


def _split_release(text: str, releases: Sequence[Release]) -> tuple[str, int | None]:
    for number, release in enumerate(releases):
        name = release.source.name if release.source else None
        if name and text.startswith(f"{name}:"):
            return text[len(name) + 1 :].strip(), number
    return text, None


def _at_place(place: int | str, numbers: Iterable[int], releases: Sequence[Release]) -> set[Place]:
    found = set()
    for number in numbers:
        release = releases[number]
        if release.kind not in ("frequencies", "itemsets", "rules"):
            continue
        told: Any = getattr(release, "place", None) or release.line
        found |= {(number, index) for index in range(len(release)) if told(index) == place}
    return found


def _condition(entry: Any, where: str) -> dict[str, str]:
    if isinstance(entry, str) and entry.startswith("{"):
        try:
            entry = json.loads(entry)
        except json.JSONDecodeError:
            raise OptionError("is not a JSON object", where=where, remedy=_REMEDY) from None
    if isinstance(entry, Mapping):
        return {str(column): str(value) for column, value in entry.items()}
    found = {}
    for part in entry.split(","):
        column, sign, value = part.partition("=")
        if not sign or not column.strip():
            raise OptionError("is neither a file, a line nor a condition", where=where, remedy=_REMEDY)
        found[column.strip()] = value.strip()
    return found


def _matching(number: int, release: Release, condition: Mapping[str, str]) -> Iterator[Place]:
    if not isinstance(release, FrequencyTable) or not condition.keys() <= set(release.columns):
        return
    codes = release.codes.reshape(len(release), len(release.columns))
    fits = np.ones(len(release), np.bool_)
    for column, value in condition.items():
        place = release.columns.index(column)
        known = {text: code for code, text in enumerate(release.values[place])}
        wanted = known.get(value)
        if wanted is None and value in ("*", release.any_mark):
            wanted = ANY
        fits &= codes[:, place] == wanted if wanted is not None else np.zeros(len(release), np.bool_)
    for index in np.flatnonzero(fits).tolist():
        yield number, index
