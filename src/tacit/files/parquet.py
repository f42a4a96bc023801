"""Parquet files and folders, by DuckDB."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tacit.errors import InputError
from tacit.files.disk import Input, private_folder, readable, sha256_of, shown
from tacit.files.duckdb import connect, literal_path, sql_name, sql_text
from tacit.model.release import Source

_BATCH = 50_000


def parquet_columns(file: Input) -> dict[str, str]:
    """Return the columns and their DuckDB types."""
    with _scan(file) as (con, files):
        return {row[0]: row[1] for row in con.execute("DESCRIBE SELECT * FROM read_parquet(?)", [files]).fetchall()}


def read_parquet(file: Input, expressions: list[str]) -> Iterator[list[tuple[Any, ...]]]:
    """Yield batches of SQL expressions in file order.

    The files of a folder come in the order of their names.
    """
    with _scan(file) as (con, files):
        sql = f"SELECT {', '.join(expressions)} FROM read_parquet(?, filename = 'tacit_file', file_row_number = true)"
        con.execute(f"{sql} ORDER BY tacit_file, file_row_number", [files])
        while rows := con.fetchmany(_BATCH):
            yield rows


def text_of(column: str, kind: str) -> str:
    """Return the SQL expression that prints numbers.

    Doubles are printed in full, 32-bit floats with the digits they really have.
    """
    name = sql_name(column)
    return f"printf('%.6g', {name})" if kind in ("FLOAT", "REAL") else f"CAST({name} AS VARCHAR)"


def parquet_source(file: Input) -> Source:
    """Return the source of a file or Parquet folder.

    The SHA-256 of a folder is that of the names and hashes of its files.
    """
    if not os.path.isdir(file):
        return file.source
    digest = hashlib.sha256()
    for part in _parts(file):
        digest.update(f"{part.name}\0{sha256_of(part)}\n".encode())
    return Source(file.name, digest.hexdigest(), file.header_sha256)


def _parts(folder: Input) -> list[Path]:
    """Return the Parquet files of a Spark folder."""
    parts = sorted(part for part in Path(folder).glob("*.parquet") if not part.name.startswith((".", "_")))
    if not parts:
        raise InputError(
            "the folder holds no Parquet file", where=shown(folder), remedy="Give the folder that Spark wrote, or a file"
        )
    return parts


@contextlib.contextmanager
def unpacked_parquet(file: Input) -> Iterator[str]:
    """Yield a Parquet path that DuckDB can open."""
    if not file.is_gzip:
        yield file.path
        file.check_unchanged()
        return
    with private_folder() as folder:
        path = os.path.join(folder, "unpacked.parquet")
        with file.open_bytes() as packed, readable(file), open(path, "wb") as plain:
            shutil.copyfileobj(packed, plain)
        yield path


@contextlib.contextmanager
def _scan(file: Input) -> Iterator[tuple[Any, list[str]]]:
    """Yield a connection and the files to read.

    No message of DuckDB, which may quote values, passes.
    """
    import duckdb

    with contextlib.ExitStack() as stack:
        is_folder = os.path.isdir(file)
        files = [str(part) for part in _parts(file)] if is_folder else [stack.enter_context(unpacked_parquet(file))]
        con = stack.enter_context(connect(files))
        try:
            yield con, [literal_path(path) for path in files]
        except duckdb.Error:
            raise InputError(
                "is damaged, or holds columns that Tacit does not read", where=shown(file), remedy="Write the Parquet file again"
            ) from None


def write_by_csv(
    path: Path, write_csv: Callable[[Path], None], columns: Sequence[str], texts: Sequence[str], chosen: str
) -> None:
    """Write Parquet via CSV with the ``chosen`` columns.

    An empty cell is NULL, except in ``texts``.
    """
    plain = path.with_name(path.name + ".csv")
    sql = f"""
        COPY (
            SELECT {chosen}
            FROM read_csv({sql_text(literal_path(str(plain)))}, header = true, delim = ',', quote = '"', escape = '"',
                          columns = {dict.fromkeys(columns, "VARCHAR")}, force_not_null = {list(texts)}, auto_detect = false,
                          parallel = false, max_line_size = 1000000000)
        ) TO {sql_text(str(path))} (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)
    """
    try:
        write_csv(plain)
        with connect([str(plain), str(path)]) as con:
            con.execute(sql)
    finally:
        with contextlib.suppress(OSError):
            plain.unlink()
