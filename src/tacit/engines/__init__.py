"""Rows to counts: the table of engines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tacit.engines.base import Engine
from tacit.errors import OptionError, nearest_name
from tacit.model.table import Table


@dataclass(frozen=True, slots=True)
class EngineEntry:
    """A row of the table: what the engine is called, what it is, and how it takes in a table."""

    name: str
    title: str
    open: Callable[[Table], Engine]


def _memory(table: Table) -> Engine:
    from tacit.engines.memory import MemoryEngine

    return MemoryEngine(table)


def _duckdb(table: Table) -> Engine:
    from tacit.engines.duckdb import DuckDBEngine

    return DuckDBEngine.from_table(table)


ENGINES: tuple[EngineEntry, ...] = (
    EngineEntry("duckdb", "embedded database, the default", _duckdb),
    EngineEntry("memory", "plain Python, the reference", _memory),
)


def engine_entry(name: str) -> EngineEntry:
    """The engine of this name."""
    for entry in ENGINES:
        if entry.name == name:
            return entry
    raise OptionError(
        f"unknown engine {name!r}", where="--engine", remedy=nearest_name(name, [entry.name for entry in ENGINES], "engines")
    )


def open_engine(name: str, table: Table) -> Engine:
    """The rows of a table in the engine of this name."""
    return engine_entry(name).open(table)
