"""Parquet files and folders of them, read and written with DuckDB."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tacit.errors import InputError
from tacit.files.disk import FilePath, is_gzip, open_bytes, private_folder, readable, sha256_beside, sha256_of, shown, source_of
from tacit.files.duckdb import connect
from tacit.model.release import Source

_BATCH = 50_000


def parquet_columns(path: FilePath) -> dict[str, str]:
    """The columns and their DuckDB types."""
    with _scan(path) as (con, files):
        return {row[0]: row[1] for row in con.execute("DESCRIBE SELECT * FROM read_parquet(?)", [files]).fetchall()}


def read_parquet(path: FilePath, expressions: list[str]) -> Iterator[list[tuple[Any, ...]]]:
    """Batches of rows of these SQL expressions, in the order of the file (a folder: of its files, by name)."""
    with _scan(path) as (con, files):
        sql = f"SELECT {', '.join(expressions)} FROM read_parquet(?, filename = 'tacit_file', file_row_number = true)"
        con.execute(f"{sql} ORDER BY tacit_file, file_row_number", [files])
        while rows := con.fetchmany(_BATCH):
            yield rows


def text_of(column: str, kind: str) -> str:
    """The SQL expression that prints a number column: doubles in full, 32-bit floats with the digits they really have."""
    name = quoted(column)
    return f"printf('%.6g', {name})" if kind in ("FLOAT", "REAL") else f"CAST({name} AS VARCHAR)"


def quoted(column: str) -> str:
    """A column name as an SQL identifier."""
    return '"' + column.replace('"', '""') + '"'


def parquet_source(path: FilePath) -> Source:
    """The base name and the SHA-256; that of a folder is the hash of the names and hashes of its Parquet files."""
    name = os.path.basename(os.fspath(path).rstrip("/"))
    if not os.path.isdir(path):
        return source_of(path)
    digest = hashlib.sha256()
    for part in _parts(path):
        digest.update(f"{part.name}\0{sha256_of(part)}\n".encode())
    return Source(name, digest.hexdigest(), sha256_beside(path))


def _parts(folder: FilePath) -> list[Path]:
    """The Parquet files of a folder as Spark writes it; marks such as ``_SUCCESS`` and hidden files are none."""
    parts = sorted(part for part in Path(folder).glob("*.parquet") if not part.name.startswith((".", "_")))
    if not parts:
        raise InputError(
            "the folder holds no Parquet file", where=shown(folder), remedy="Give the folder that Spark wrote, or a file"
        )
    return parts


@contextlib.contextmanager
def _scan(path: FilePath) -> Iterator[tuple[Any, list[str]]]:
    """A connection and the files to read; DuckDB's complaints, which may quote values, become one sentence."""
    import duckdb

    with contextlib.ExitStack() as stack:
        if os.path.isdir(path):
            files = [str(part) for part in _parts(path)]
        elif is_gzip(path):
            folder = stack.enter_context(private_folder())
            files = [os.path.join(folder, "unpacked.parquet")]
            with open_bytes(path) as packed, readable(path), open(files[0], "wb") as plain:
                shutil.copyfileobj(packed, plain)
        else:
            files = [os.fspath(path)]
        con = stack.enter_context(connect(files))
        try:
            yield con, [literal_name(file) for file in files]
        except duckdb.Error:
            raise InputError(
                "is damaged, or holds columns that Tacit does not read", where=shown(path), remedy="Write the Parquet file again"
            ) from None


def literal_name(file: str) -> str:
    """A file name in which DuckDB sees no pattern."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in file)


def sql_text(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def write_by_csv(
    path: Path, write_csv: Callable[[Path], None], columns: Sequence[str], texts: Sequence[str], chosen: str
) -> None:
    """Write Parquet by way of a CSV file with these columns, as ``chosen`` selects them; an empty cell is NULL, except in ``texts``."""
    plain = path.with_name(path.name + ".csv")
    sql = f"""
        COPY (
            SELECT {chosen}
            FROM read_csv({sql_text(literal_name(str(plain)))}, header = true, delim = ',', quote = '"', escape = '"',
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
