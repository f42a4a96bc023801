"""Data and hierarchies that are read already, or given as files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tacit.errors import OptionError
from tacit.files.hierarchies import read_hierarchies
from tacit.files.tables import read_table
from tacit.files.transactions import read_data, read_transactions
from tacit.model.table import Hierarchy, Table, Transactions

Trees = Mapping[str, Hierarchy] | str | Path | None  #: Hierarchies by column, or a folder of files that hold them.


def people_of(data: Any, **roles: Any) -> Table | Transactions:
    """Return data, read if they are not yet."""
    if isinstance(data, (Table, Transactions)):
        return data
    if isinstance(data, (str, os.PathLike)):
        return read_data(data, **roles)
    return read_transactions(data) if isinstance(data, (list, tuple)) else read_table(data)


def require_table(people: object, where: str) -> None:
    """Raise if the data are not a table."""
    if not isinstance(people, Table):
        remedy = "Read the data with tacit.read_table(.., qi=.., sa=..) first"
        raise OptionError("needs a table whose columns have roles", where=where, remedy=remedy)


def trees_of(given: Trees, people: Table | Transactions) -> dict[str, Hierarchy] | None:
    """Return hierarchies, read from a folder if needed."""
    if given is None or isinstance(given, Mapping):
        return None if given is None else dict(given)
    return read_hierarchies(given, people.names if isinstance(people, Table) else ())
