"""Data and hierarchies that are read already, or given as files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tacit.files.engines import Engine
from tacit.files.hierarchies import read_hierarchies
from tacit.files.tables import TRANSACTION_ENDINGS, read_table
from tacit.files.transactions import read_data, read_one_hot, read_transactions
from tacit.model.errors import OptionError
from tacit.model.table import Hierarchy, Names, Table, Transactions

Trees = Mapping[str, Hierarchy] | str | Path | None  #: Hierarchies by column, or a folder of files that hold them.


def holds_transactions(data: object) -> bool:
    """Tell if data are a file of transactions, by its ending."""
    return isinstance(data, (str, os.PathLike)) and os.fspath(data).casefold().removesuffix(".gz").endswith(TRANSACTION_ENDINGS)


def people_of(data: Any, **roles: Any) -> Table | Transactions:
    """Return data, read if they are not yet.

    A frame of truth values, or of zeros and ones, holds transactions, unless roles are given: a zero is not an item.
    """
    if isinstance(data, (Table, Transactions)):
        return data
    if isinstance(data, (str, os.PathLike)):
        return read_data(data, **roles)
    if isinstance(data, (list, tuple)):
        return read_transactions(data)
    has_roles = bool(roles.get("qi") or roles.get("sa"))
    return (None if has_roles else read_one_hot(data)) or read_table(data, **roles)


def require_table(
    people: object,
    where: str,
    *,
    qi: Names = None,
    sa: Names = None,
    columns: Names = None,
    engine: Engine | str | None = None,
) -> Table:
    """Return a table with roles, read from a file or frame if necessary."""
    if isinstance(people, Table):
        return read_table(people, qi=qi, sa=sa, columns=columns) if qi or sa else people
    if isinstance(people, (Transactions, list, tuple)) or not (qi or sa):
        named = "Name the columns with qi=.. and sa=.., or read" if qi is not None else "Read"
        remedy = f"{named} the data with tacit.read_table(.., qi=.., sa=..) first"
        raise OptionError("needs a table whose columns have roles", where=where, remedy=remedy)
    return read_table(people, qi=qi, sa=sa, columns=columns, engine=engine)


def trees_of(given: Trees, people: Table | Transactions) -> dict[str, Hierarchy] | None:
    """Return hierarchies, read from a folder if needed."""
    if given is None or isinstance(given, Mapping):
        return None if given is None else dict(given)
    return read_hierarchies(given, people.names if isinstance(people, Table) else ())
