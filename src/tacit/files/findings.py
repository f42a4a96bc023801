"""File of all findings of an audit, written incrementally."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.files.disk import FilePath, private_folder, replace_file, shown
from tacit.files.duckdb import connect, sql_text
from tacit.model.errors import OptionError
from tacit.model.finding import Event
from tacit.model.numbers import Bound
from tacit.model.release import Itemsets

#: How each ending is written.
_FORMATS = {
    ".parquet": "FORMAT parquet, COMPRESSION zstd",
    ".csv.gz": "FORMAT csv, HEADER true, COMPRESSION gzip",
    ".csv": "FORMAT csv, HEADER true",
}
#: Signs that may separate the names of items on their way into the database; one that no name holds is taken.
_SEPARATORS = [chr(code) for code in (0x1F, 0x1E, 0x1D, 0x1C, *range(1, 9), *range(0xE000, 0xE100))]
_BATCH = 10_000
_MEMORY = 256_000_000  #: What the database may keep in memory; it writes the rest beside the file.


class FindingsFile:
    """File that findings are added to.

    It appears whole on success, else not at all. Columns: attack code, least and largest number of people, and event (JSON).
    """

    def __init__(self, path: FilePath) -> None:
        name = os.fspath(path).casefold()
        self._format = next((format_ for ending, format_ in _FORMATS.items() if name.endswith(ending)), None)
        if self._format is None:
            remedy = "End it with .csv, .csv.gz or .parquet"
            raise OptionError("the ending does not name a format of findings", where=shown(path), remedy=remedy)
        self._path = path
        self._parts: list[str] = []
        self._tables: dict[tuple[str, int], int] = {}

    def __enter__(self) -> FindingsFile:
        self._writing = self._write()
        return self._writing.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._writing.__exit__(*error)

    @contextlib.contextmanager
    def _write(self) -> Iterator[FindingsFile]:
        with replace_file(self._path) as written, private_folder(written.parent) as folder:
            database = str(folder / "findings.duckdb")
            with connect([str(written)], folders=[str(folder)], database=database, memory=_MEMORY) as self._con:
                self._con.execute("CREATE TABLE events (code VARCHAR, lo BIGINT, hi BIGINT, event VARCHAR)")
                yield self
                events = "SELECT code AS attack, lo AS count_lo, hi AS count_hi, event FROM events"
                everything = " UNION ALL ".join([*self._parts, events])
                self._con.execute(f"COPY ({everything}) TO {sql_text(str(written))} ({self._format}, USE_TMP_FILE false)")

    def add_patterns(
        self,
        code: str,
        release: Itemsets,
        line: npt.NDArray[np.int64],
        present: npt.NDArray[np.uint64],
        free: npt.NDArray[np.uint64] | None,
        bounds: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]],
    ) -> None:
        """Add patterns on published sets.

        The number of the set (-1: the empty one), which items are present and which left open (bits).
        """
        number = self._table(code, present.shape[1])
        words = {f"word{word}": np.ascontiguousarray(present[:, word]) for word in range(present.shape[1])}
        opened = np.zeros(len(line), np.uint64) if free is None else free
        columns = {"line": line, "free": opened, "lo": bounds[0], "hi": bounds[1]}
        self._insert(f"patterns{number} SELECT line, free, lo, hi, {', '.join(words)}", columns | words)
        # All patterns on a set come together, so its items are written once.
        names = release.items.names
        sign = next(sign for sign in _SEPARATORS if not any(sign in name for name in names))
        lines = np.unique(line[line >= 0])
        texts = [sign.join(names[item] for item in release.sets[line].tolist()) for line in lines.tolist()]
        sets = {"line": lines, "items": np.array(texts, object)}
        self._insert(f"sets{number} SELECT line, string_split(items, {sql_text(sign)})", sets)

    def add_events(self, code: str, found: Iterable[tuple[Event, Bound]]) -> None:
        """Add findings of any kind, one by one."""
        findings = iter(found)
        while batch := list(islice(findings, _BATCH)):
            texts = [json.dumps(event.to_dict(), ensure_ascii=False, separators=(",", ":")) for event, _ in batch]
            columns = {
                "lo": np.array([count.lo for _, count in batch], np.int64),
                "hi": np.array([count.hi for _, count in batch], np.int64),
                "event": np.array(texts, object),
            }
            self._insert(f"events SELECT {sql_text(code)}, lo, hi, event", columns)

    def _insert(self, what: str, columns: dict[str, Any]) -> None:
        """Insert columns; ``what`` names the table and says what of the columns goes into it."""
        if len(next(iter(columns.values()))):
            self._con.register("piece", columns)
            self._con.execute(f"INSERT INTO {what} FROM piece")
            self._con.unregister("piece")

    def _table(self, code: str, width: int) -> int:
        """Return the table number for this pattern width."""
        number = self._tables.setdefault((code, width), len(self._tables))
        if len(self._parts) <= number:
            words = ", ".join(f"word{word} UBIGINT" for word in range(width))
            self._con.execute(f"CREATE TABLE patterns{number} (line BIGINT, free UBIGINT, lo BIGINT, hi BIGINT, {words})")
            self._con.execute(f"CREATE TABLE sets{number} (line BIGINT, items VARCHAR[])")
            self._con.execute(f"INSERT INTO sets{number} VALUES (-1, [])")
            # Of a set with items left open, only the first 64 could be: longer ones are never decided that way.
            fixed = "(i > 64 OR (free >> (i - 1)) & 1 = 0)"
            bit = "(word0 >> (i - 1)) & 1"
            if width > 1:
                cases = " ".join(f"WHEN {word} THEN (word{word} >> ((i - 1) % 64)) & 1" for word in range(width))
                bit = f"CASE (i - 1) // 64 {cases} END"
            have = f"list_sort(list_filter(items, lambda x, i: {bit} = 1))"
            lack = f"list_sort(list_filter(items, lambda x, i: {bit} = 0 AND {fixed}))"
            event = f"CAST(to_json({{'present': {have}, 'absent': {lack}}}) AS VARCHAR)"
            chosen = f"SELECT {sql_text(code)} AS attack, lo AS count_lo, hi AS count_hi, {event} AS event"
            self._parts.append(f"{chosen} FROM patterns{number} JOIN sets{number} USING (line)")
        return number
