"""Hierarchies of values in ARX's format."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from itertools import pairwise, takewhile

import numpy as np

from tacit.files.delimited import find_delimiter, records
from tacit.files.disk import FilePath, Input, replace_file, shown
from tacit.files.duckdb import BLANKS
from tacit.model.errors import InputError, OptionError
from tacit.model.table import ROOT, Column, Hierarchy, Table, require_column


def read_hierarchy(path: FilePath, column: str) -> Hierarchy:
    """Return the hierarchy in a file.

    Lines are ``value;coarser;coarser still;*``, separated by ``;``, ``,`` or tabs. Repeated levels and the root ``*`` are dropped. The lines
    must make a tree: each value has one line and each coarser value one parent, and none is named like a raw value unless it stands
    for that value alone.
    """
    where = shown(path)
    chains: dict[str, tuple[str, ...]] = {}
    repeated: dict[str, int] = {}
    lines: dict[str, int] = {}
    width = 0
    file = Input.of(path)
    delimiter = find_delimiter(file, prefer=";")
    with file.open_text(keep_newlines=True) as stream:
        for line, cells in records(stream, delimiter, where=where):
            place = f"{where}, line {line}"
            width = width or len(cells)
            if len(cells) != width:
                what = f"has {len(cells)} level{'' if len(cells) == 1 else 's'} where the first line has {width}"
                raise InputError(what, where=place, remedy="Give every value the same number of levels")
            value, *levels = (cell.strip(BLANKS) for cell in cells)
            chain = _chain(value, levels, where=place)
            if chains.setdefault(value, chain) != chain:
                what = f"gives the value of line {lines[value]} other levels"
                raise InputError(what, where=place, remedy="Keep one of the two lines")
            lines.setdefault(value, line)
            if repeats := len(list(takewhile(value.__eq__, levels))):
                repeated[value] = repeats
    if not chains:
        raise InputError("is empty", where=where, remedy="Write one line per value: value;coarser;...;*")
    _check_tree(chains, lines, where)
    return Hierarchy(column, chains, where, repeated)


def read_hierarchies(folder: FilePath, columns: Sequence[str]) -> dict[str, Hierarchy]:
    """Read the hierarchies of columns from a folder.

    They are called ``<column>.csv`` or ``*_<column>.csv`` (also ``.gz``).
    """
    where = shown(folder)
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        remedy = "Give the folder of the hierarchy files"
        raise InputError("is not a folder that can be read", where=where, remedy=remedy) from None
    files: dict[str, list[str]] = {}
    for name in names:
        stem = name.removesuffix(".gz").removesuffix(".csv")
        fitting = [column for column in columns if stem == column or stem.endswith(f"_{column}")]
        if fitting and name.removesuffix(".gz").endswith(".csv"):
            files.setdefault(max(fitting, key=len), []).append(name)
    for column, found in files.items():
        if len(found) > 1:
            what = f"{' and '.join(found)} are both hierarchies of column {column!r}"
            raise InputError(what, where=where, remedy="Keep one of them in the folder")
    if not files:
        listed = ", ".join(f"{column}.csv" for column in columns)
        raise InputError("holds no hierarchy of any column", where=where, remedy=f"Call the files for instance {listed}")
    return {column: read_hierarchy(os.path.join(folder, files[column][0]), column) for column in columns if column in files}


def check_hierarchies(trees: Mapping[str, Hierarchy], people: Table) -> None:
    """Raise if hierarchies do not fit a table's QI columns."""
    for name, tree in trees.items():
        if not isinstance(tree, Hierarchy):
            remedy = "Give a folder of files, or Hierarchy(column, levels) for each column"
            raise OptionError(f"what is given for column {name!r} is not a hierarchy", where="hierarchies", remedy=remedy)
        if tree.column != name:
            what = f"is the hierarchy of column {tree.column!r} and given for column {name!r}"
            raise InputError(what, where=tree.file, remedy="Give each column its own")
        require_column(name, people.names, where=tree.file)
        if name in people.schema.qi:
            check_covers(tree, people.column(name), where=tree.file, is_by_row=people.is_by_row)
            _check_tree(tree.levels, {value: line for line, value in enumerate(tree.levels, start=1)}, tree.file)


def check_covers(hierarchy: Hierarchy, column: Column, *, where: str = "hierarchies", is_by_row: bool = True) -> None:
    """Raise if the hierarchy lacks a value of the column; name its first row unless rows were merged."""
    absent = [code for code, value in enumerate(column.values) if value not in hierarchy.levels]
    if absent:
        first = int(np.flatnonzero(np.isin(column.codes, absent))[0]) + 1
        are, values = ("is", "1 value") if len(absent) == 1 else ("are", f"{len(absent)} values")
        place = f" (first in row {first} of the data)" if is_by_row else ""
        what = f"{values} of column {column.name!r} {are} not in its hierarchy{place}"
        remedy = "Add a line for each to the hierarchy, or drop rows with missing values"
        raise InputError(what, where=where, remedy=remedy)


def _chain(value: str, levels: Sequence[str], *, where: str) -> tuple[str, ...]:
    """Return the levels without repeats and without the root."""
    remedy = "Write the levels from finest to coarsest, '*' last"
    chain: list[str] = []
    ended = False
    for level in levels:
        if level == ROOT:
            ended = True
        elif ended or not level:
            what = "has a level after the root '*'" if ended else "has an empty level"
            raise InputError(what, where=where, remedy=remedy)
        elif level != (chain[-1] if chain else value):
            chain.append(level)
    if len(set(chain)) < len(chain) or value in chain:
        raise InputError("has the same level twice", where=where, remedy=remedy)
    return tuple(chain)


def _check_tree(chains: dict[str, tuple[str, ...]], lines: dict[str, int], where: str) -> None:
    parents: dict[str, tuple[str, int]] = {}
    for value, chain in chains.items():
        place = f"{where}, line {lines[value]}"
        for node in chain:
            if node in chains:
                what = f"has a coarser value with the name of the raw value of line {lines[node]}"
                raise InputError(what, where=place, remedy="Give the coarser value a name of its own")
        for node, parent in pairwise((*chain, ROOT)):
            known, first = parents.setdefault(node, (parent, lines[value]))
            if known != parent:
                what = f"puts a coarser value under another one than line {first} does"
                raise InputError(what, where=place, remedy="Put each coarser value under one still coarser value")


def write_hierarchies(trees: Mapping[str, Hierarchy], folder: FilePath) -> tuple[str, ...]:
    """Write ``<column>.csv`` for each hierarchy into a folder; return the files."""
    os.makedirs(folder, exist_ok=True)
    written = []
    for column, tree in trees.items():
        path = os.path.join(os.fspath(folder), f"{column}.csv")
        depth = max((len(chain) for chain in tree.levels.values()), default=0)
        with replace_file(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, delimiter=";", lineterminator="\n")
            for value, chain in tree.levels.items():
                writer.writerow([value, *chain, *[ROOT] * (depth + 1 - len(chain))])
        written.append(path)
    return tuple(written)
