"""Delta and Iceberg tables, through the Arrow readers of their libraries."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

from tacit.files.batches import Batches, needs
from tacit.model.errors import InputError


def open_lake(folder: str, *, where: str) -> Batches | None:
    """Open a folder that holds a Delta or an Iceberg table; None for other folders."""
    if os.path.isdir(os.path.join(folder, "_delta_log")):
        return _open_delta(folder, where)
    newest = _newest_metadata(os.path.join(folder, "metadata"))
    return None if newest is None else _open_iceberg(newest, folder, where)


@contextlib.contextmanager
def _silenced(kind: str, where: str) -> Iterator[None]:
    """Convert failures of a library into one sentence, which holds no value."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception:
        what = f"the {kind} table cannot be read"
        raise InputError(what, where=where, remedy="Check that it is complete, or export it as Parquet") from None


def _open_delta(folder: str, where: str) -> Batches:
    try:
        from deltalake import DeltaTable
    except ImportError:
        raise needs("delta", "reading Delta tables", where=where) from None
    with _silenced("Delta", where):
        dataset = DeltaTable(folder).to_pyarrow_dataset()
        names = tuple(dataset.schema.names)

    def scan(wanted: Sequence[str]) -> Iterator[Any]:
        with _silenced("Delta", where):
            yield from dataset.to_batches(columns=list(wanted))

    return Batches(names, where, os.path.basename(os.path.normpath(folder)), scan)


def _open_iceberg(metadata: str, folder: str, where: str) -> Batches:
    try:
        from pyiceberg.table import StaticTable
    except ImportError:
        raise needs("iceberg", "reading Iceberg tables", where=where) from None
    with _silenced("Iceberg", where):
        table = StaticTable.from_metadata(metadata)
        names = tuple(field.name for field in table.schema().fields)

    def scan(wanted: Sequence[str]) -> Iterator[Any]:
        with _silenced("Iceberg", where):
            for batch in table.scan(selected_fields=tuple(wanted)).to_arrow_batch_reader():
                yield batch.select(list(wanted))

    return Batches(names, where, os.path.basename(os.path.normpath(folder)), scan)


def _newest_metadata(folder: str) -> str | None:
    """Return the metadata file with the highest number, if any."""
    if not os.path.isdir(folder):
        return None
    numbered = [(int(found[1]), name) for name in os.listdir(folder) if (found := re.match(r"v?(\d+).*\.metadata\.json$", name))]
    return os.path.join(folder, max(numbered)[1]) if numbered else None
