"""Engines: programs that merge equal rows of data and count them.

All that Tacit infers depends on counts. So rows that are equal in the columns in use may become one class of people with a weight, and every
answer stays the same. ``memory`` reads all rows and merges them, and is the reference; ``duckdb`` merges them where they lie, and keeps classes
only; ``spark`` lets a cluster do that (:mod:`tacit.files.spark`). An engine counts and merges in whole numbers, and thinks nothing: what is
inferred from classes is the same code for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from tacit.model.arrays import Flags, Ints
from tacit.model.errors import EngineError, OptionError, nearest_name
from tacit.model.memory import half_of_memory, parse_bytes
from tacit.model.table import Column, number_keys, row_keys

ENGINES = ("duckdb", "memory", "spark")


@dataclass(frozen=True, slots=True)
class Engine:
    """Program that merges rows, and the bytes of memory that it may use."""

    name: str = "duckdb"
    memory: int | None = None
    master: str | None = None
    session: Any = None

    def __post_init__(self) -> None:
        if self.name not in ENGINES:
            remedy = nearest_name(self.name, ENGINES, "engines")
            raise OptionError(f"unknown engine {self.name!r}", where="--engine", remedy=remedy)
        if self.name != "spark" and (self.master is not None or self.session is not None):
            raise OptionError("is for Spark only", where="--master", remedy="Add --engine spark, or leave it out")
        if self.name == "spark" and find_spec("pyspark") is None:
            raise EngineError("Spark is not installed", where="--engine spark", remedy="pip install 'tacit[spark]'")

    @property
    def is_reference(self) -> bool:
        """True if all rows are read."""
        return self.name == "memory"

    @property
    def is_cluster(self) -> bool:
        """True if rows are read by Spark."""
        return self.name == "spark"

    @property
    def bytes(self) -> int:
        """Bytes of memory to use, by default half of the machine's."""
        return self.memory or half_of_memory()


def engine(name: str = "duckdb", *, memory: str | int | None = None, master: str | None = None, session: Any = None) -> Engine:
    """Return an engine by its name, with a limit of memory.

    Parameters
    ----------
    name
        ``"duckdb"`` merges rows where they lie; ``"memory"`` reads all of them, and is the reference; ``"spark"`` lets a cluster merge them.
    memory
        Memory that merging may use, such as ``"4GB"``; by default half of the machine's.
    master
        Address of the master of a Spark cluster; by default Spark runs on this machine.
    session
        Session of Spark that exists already.

    Examples
    --------
    >>> import tacit
    >>> rows = {"sex": ["F", "F", "M"], "ill": ["no", "no", "yes"]}
    >>> len(tacit.read_table(rows, engine=tacit.engine("duckdb", memory="1GB")).weights)
    2
    """
    return Engine(name, parse_bytes(memory, where="memory") if isinstance(memory, str) else memory, master, session)


def as_engine(given: Engine | str | None) -> Engine | None:
    """Return an engine given by itself or by its name."""
    return Engine(given) if isinstance(given, str) else given


class Classes(NamedTuple):
    """Distinct rows with their weights; ``marked`` ones lack a value in another column."""

    columns: tuple[Column, ...]
    weights: Ints
    marked: Flags


def merge(columns: tuple[Column, ...], weights: Ints, marked: Flags) -> Classes:
    """Merge equal rows, sorted by their codes; unmarked ones first."""
    key = row_keys((marked.astype(np.int8), *(column.codes for column in columns)), len(weights))
    first, group = number_keys(key, int(key.max(initial=0)) + 1)
    merged = np.zeros(len(first), np.int64)
    np.add.at(merged, group, weights)
    return Classes(tuple(Column(one.name, one.values, one.codes[first]) for one in columns), merged, marked[first])
