"""Spark: rows are grouped where they lie, and classes come back through Arrow.

Only whole numbers are added, and what comes back is sorted here: the answer does not depend on the cluster, on the order of its tasks, or on
tasks that were lost and done again. Shuffled and spilled rows are encrypted, and lie in a private folder on this machine.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.files.batches import Merging
from tacit.files.disk import spill_folder
from tacit.files.duckdb import BLANKS, nested
from tacit.files.engines import Classes, Engine
from tacit.files.frames import as_frame
from tacit.model.arrays import Flags, Ints
from tacit.model.errors import EngineError, InputError, OptionError
from tacit.model.release import Items, Sets
from tacit.model.table import Column, RemoteTransactions, Transactions, WordSearch, sort_names

_FLOATS = ("float", "double")
_NESTED = ("array", "map", "struct", "binary", "variant")
MOST_IN_ONE_TASK = 5_000_000  #: Most items of all lines that one task takes: their search is faster than a shuffle.
SMALL_FILE = 1 << 26  #: Most bytes of a local file whose counts of items are added here, which saves a shuffle;
MOST_UNMERGED = 16  #: most partitions of any other data.
#: Choice of items, as in :mod:`tacit.files.transactions`.
Chosen = Callable[[Sequence[str], Ints, int], Flags]
_sessions: dict[tuple[str, int | None], Any] = {}


@contextlib.contextmanager
def _silenced(what: str, *, where: str, remedy: str) -> Iterator[None]:
    """Convert failures of Spark, whose messages may hold cells, into one sentence."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about versions of pandas, which is not used here
            yield
    except (InputError, OptionError, MemoryError, KeyboardInterrupt):
        raise
    except Exception:
        raise EngineError(what, where=where, remedy=remedy) from None


def session_of(engine: Engine) -> Any:
    """Return the session of an engine; its own is started once and kept."""
    if engine.session is not None:
        return engine.session
    key = (engine.master or "local[*]", engine.memory)
    if key not in _sessions:
        where = f"--engine spark --master {key[0]}"
        with _silenced("the session cannot be started", where=where, remedy="Check the address, and that Java 17 is installed"):
            _sessions[key] = _start(key[0], engine.bytes)
    return _sessions[key]


def _start(master: str, memory: int) -> Any:
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    settings = {
        "spark.master": master,
        "spark.app.name": "tacit",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.ansi.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
        "spark.io.encryption.enabled": "true",
        "spark.local.dir": str(spill_folder()),
        "spark.sql.warehouse.dir": str(spill_folder() / "warehouse"),
        "spark.driver.maxResultSize": "0",
        "spark.pyspark.python": sys.executable,
        "spark.pyspark.driver.python": sys.executable,
    }
    if master.startswith("local"):
        settings |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": f"{max(512, memory >> 21)}m",
            "spark.authenticate": "true",
            "spark.network.crypto.enabled": "true",
            "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 1)),
        }
    conf = SparkConf(loadDefaults=False)
    conf.setAll(list(settings.items()))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # Java writes about itself to the terminal, where only our own sentences belong.
    gateway = launch_gateway(conf, popen_kwargs={"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL})
    context = SparkContext(conf=conf, gateway=gateway)
    context.setLogLevel("OFF")
    session = SparkSession(context)
    atexit.register(session.stop)
    return session


@dataclass(frozen=True, slots=True)
class SparkTable:
    """Table that Spark reads: Parquet, or a table of its catalogue."""

    frame: Any
    names: tuple[str, ...]
    types: tuple[str, ...]
    where: str
    label: str

    @classmethod
    def open(cls, path: str, engine: Engine, *, where: str) -> SparkTable:
        """Open a Parquet file or folder, or a table that the session knows."""
        is_local = os.path.exists(path)
        if is_local and not os.path.isdir(path) and not path.endswith((".parquet", ".pq")):
            remedy = "Write the data as Parquet, or use --engine duckdb"
            raise OptionError("reads Parquet and tables of its catalogue", where="--engine spark", remedy=remedy)
        session = session_of(engine)
        with _silenced("is not a Parquet file or a table that Spark can read", where=where, remedy="Check the name"):
            is_file = is_local or "://" in path
            frame = session.read.parquet(os.path.abspath(path) if is_local else path) if is_file else session.table(path)
            types = tuple(kind for _, kind in frame.dtypes)
        return cls(frame, tuple(frame.columns), types, where, os.path.basename(os.path.normpath(path)))

    @classmethod
    def of_frame(cls, frame: Any, *, where: str) -> SparkTable:
        """Return a frame of Spark as a table."""
        return cls(frame, tuple(frame.columns), tuple(kind for _, kind in frame.dtypes), where, "the frame")

    def read(self, wanted: Sequence[str]) -> tuple[Column, ...]:
        """Refuse to hand over rows."""
        raise OptionError("hands over classes of rows, not rows", where="--engine spark", remedy="Use --engine duckdb or memory")

    def classes(self, wanted: Sequence[str], others: Sequence[str] = (), mark: str | None = None) -> Classes:
        """Return the distinct rows, counted by Spark; marked ``others`` apart."""
        for name in (*wanted, *others):
            if self.types[self.names.index(name)].startswith(_NESTED):
                raise nested(name, self.where)
        remedy = "Check that the cluster still runs, and start again"
        with _silenced("Spark could not group the rows", where=self.where, remedy=remedy):
            from pyspark.sql import functions as f

            marked = f.lit(False)
            for name in others:
                marked = marked | self._has_mark(name, mark or "")
            columns = [self.frame[f"`{name.replace('`', '``')}`"].alias(f"t{place}") for place, name in enumerate(wanted)]
            chosen = self.frame.select(*columns, marked.alias("marked"))
            grouped = chosen.groupBy(*chosen.columns).agg(f.count(f.lit(1)).alias("weight")).toArrow()
        merging = Merging(wanted)
        for batch in grouped.to_batches():
            frame = as_frame(
                batch.select([f"t{place}" for place in range(len(wanted))]).rename_columns(list(wanted)), where=self.where
            )
            assert frame is not None
            weights = np.ascontiguousarray(batch.column("weight").to_numpy(zero_copy_only=False), np.int64)
            flags = np.ascontiguousarray(batch.column("marked").to_numpy(zero_copy_only=False), np.bool_)
            merging.add([frame.column(name, where=self.where) for name in wanted], weights, flags)
        return merging.finish()

    def _has_mark(self, name: str, mark: str) -> Any:
        from pyspark.sql import functions as f

        column = self.frame[f"`{name.replace('`', '``')}`"]
        kind = self.types[self.names.index(name)]
        text = f.btrim(column.cast("string"), f.lit(BLANKS))
        if kind == "boolean":
            text = f.initcap(text)
        if kind in _FLOATS:
            try:
                text = f.when(column == f.lit(float(mark)), f.lit(mark)).otherwise(f.lit("other"))
            except ValueError:
                text = f.lit("other")
            text = f.when(f.isnan(column), f.lit("")).when(column.isNull(), f.lit("")).otherwise(text)
        return f.coalesce(text, f.lit("")) == f.lit(mark)


@dataclass(frozen=True, slots=True)
class SparkBaskets:
    """Transactions on a cluster: their lines, number, and items.

    Items are numbered from the most frequent one on. There are ``entries`` items in all lines together, rare ones as well.
    """

    lines: Any
    names: tuple[str, ...]
    n: int
    entries: int
    where: str

    @property
    def is_small(self) -> bool:
        """Return True if one task takes all lines."""
        return self.entries <= MOST_IN_ONE_TASK

    @classmethod
    def open(cls, path: str, engine: Engine, chosen: Chosen) -> SparkBaskets:
        """Count the items of a transactions file; keep the chosen ones."""
        session = session_of(engine)
        with _silenced("Spark could not read the transactions", where=path, remedy="Check the file and the cluster"):
            from pyspark.sql import functions as f

            lines = session.read.text(os.path.abspath(path) if os.path.exists(path) else path)
            counted = lines.mapInArrow(_count_items, "item string, people long")
            is_small = os.path.isfile(path) and os.path.getsize(path) <= SMALL_FILE
            if not is_small and lines.rdd.getNumPartitions() > MOST_UNMERGED:
                counted = counted.groupBy("item").agg(f.sum("people").alias("people"))
            found = counted.toArrow()
        people: Counter[str] = Counter()
        for item, number in zip(found.column("item").to_pylist(), found.column("people").to_pylist(), strict=True):
            people[item or ""] += number  # all lines are counted under no name
        n = people.pop("", 0)
        if not n:
            raise InputError("holds no transactions", where=path, remedy="Write the items of one person per line")
        names = sort_names(people)
        flags = chosen(names, np.array([people[name] for name in names], np.int64), n)
        ranked = sorted((name for name, is_chosen in zip(names, flags, strict=True) if is_chosen), key=lambda name: -people[name])
        return cls(lines, tuple(ranked), n, people.total(), path)

    def cutter(self) -> Callable[[Any], Transactions]:
        """Return the function that cuts a batch of lines to the items, equal rows merged."""
        number = {name: rank for rank, name in enumerate(self.names)}

        def cut(batch: Any) -> Transactions:
            rows, height = _items_of(batch, number)
            return Transactions(rows, np.ones(height, np.int64), Items(())).merged()

        return cut

    def remote(self) -> RemoteTransactions:
        """Return the transactions, which stay on the cluster until their rows are asked for."""
        return RemoteTransactions(Items(sort_names(self.names)), self.n, self.collect, self.by_words)

    def by_words(
        self, groups: Sequence[Sequence[str]], search: WordSearch, columns: Sequence[str]
    ) -> Mapping[str, npt.NDArray[np.int64]]:
        """Return what a search finds on each group of items, in the order of the groups.

        The place of each item in the groups goes to the workers with the task, which Spark broadcasts if it is large. Each line becomes a word
        for every group that it has an item of; equal words are merged, in their batch and then among all, and a task searches those of a group,
        or of all groups where there are few lines.
        """
        number = {name: rank for rank, name in enumerate(self.names)}
        pairs: list[list[tuple[int, int]]] = [[] for _ in self.names]
        for group, names in enumerate(groups):
            for bit, name in enumerate(names):
                pairs[number[name]].append((group, bit))
        first = np.append(0, np.cumsum([len(one) for one in pairs])).astype(np.int64)
        flat = np.array([pair for one in pairs for pair in one], np.int64).reshape(-1, 2)
        group_of = flat[:, 0]
        bit_of = np.uint64(1) << flat[:, 1].astype(np.uint64)
        many = len(groups)
        names = ["chunk", "place", *columns]

        def project(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow

            for batch in batches:
                rows, _ = _items_of(batch, number)
                if not len(rows.members):
                    continue
                times = first[rows.members + 1] - first[rows.members]
                place = np.repeat(first[rows.members] - (np.cumsum(times) - times), times) + np.arange(int(times.sum()))
                key = np.repeat(rows.owners(), times) * many + group_of[place]
                order = np.argsort(key, kind="stable")
                starts = np.flatnonzero(np.append(True, key[order][1:] != key[order][:-1])[: len(order)])
                if not len(starts):
                    continue
                words = np.bitwise_or.reduceat(bit_of[place][order], starts)
                group = key[order][starts] % many
                order = np.lexsort((words, group))
                words, group = words[order], group[order]
                starts = np.flatnonzero(np.append(True, (words[1:] != words[:-1]) | (group[1:] != group[:-1])))
                weights = np.diff(np.append(starts, len(words)))
                arrays = (group[starts].astype(np.int32), words[starts].view(np.int64), weights.astype(np.int64))
                yield pyarrow.RecordBatch.from_arrays(list(map(pyarrow.array, arrays)), names=["chunk", "word", "weight"])

        def search_group(table: Any) -> Any:
            import pyarrow

            chunk = int(table.column("chunk")[0].as_py())
            words = np.ascontiguousarray(table.column("word").to_numpy(), np.int64).view(np.uint64)
            weights = np.ascontiguousarray(table.column("weight").to_numpy(), np.int64)
            order = np.argsort(words)
            found = search(chunk, words[order], weights[order])
            height = len(found[columns[0]])
            parts = [np.full(height, chunk), np.arange(height), *(found[name] for name in columns)]
            return pyarrow.table(dict(zip(names, map(pyarrow.array, parts), strict=True)))

        def search_all(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow

            if not (parts := list(project(batches))):
                return
            words = pyarrow.Table.from_batches(parts).group_by(["chunk", "word"]).aggregate([("weight", "sum")])
            words = words.select(["chunk", "word", "weight_sum"]).rename_columns(["chunk", "word", "weight"]).sort_by("chunk")
            starts = np.unique(words.column("chunk").to_numpy(), return_index=True)[1].tolist()
            for start, end in zip(starts, [*starts[1:], len(words)], strict=True):
                yield from search_group(words.slice(start, end - start)).to_batches()

        with _silenced("Spark could not search the transactions", where=self.where, remedy="Check the cluster, and start again"):
            from pyspark.sql import functions as f

            told = ", ".join(f"{name} long" for name in names)
            if self.is_small:
                found = self.lines.coalesce(1).mapInArrow(search_all, told).toArrow()
            else:
                words = self.lines.mapInArrow(project, "chunk int, word long, weight long")
                merged = words.groupBy("chunk", "word").agg(f.sum("weight").alias("weight"))
                found = merged.groupBy("chunk").applyInArrow(search_group, told).toArrow()
        arrays = {name: np.asarray(found.column(name).to_numpy(), np.int64) for name in names}
        order = np.lexsort((arrays["place"], arrays["chunk"]))
        return {name: arrays[name][order] for name in columns}

    def collect(self) -> Transactions:
        """Return the rows of frequent items as they are merged."""
        cut = self.cutter()

        def merge_lines(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow

            for batch in batches:
                merged = cut(batch)
                columns = [lists_of(merged.rows), pyarrow.array(merged.weights)]
                yield pyarrow.RecordBatch.from_arrays(columns, names=["items", "weight"])

        with _silenced("Spark could not merge the transactions", where=self.where, remedy="Check the cluster, and start again"):
            from pyspark.sql import functions as f

            rows = self.lines.mapInArrow(merge_lines, "items array<int>, weight long")
            found = rows.groupBy("items").agg(f.sum("weight").alias("weight")).toArrow().combine_chunks()
        ranks = found.column("items").combine_chunks()
        offsets = np.asarray(ranks.offsets.to_numpy(), np.int64)
        names = sort_names(self.names)
        place = {name: number for number, name in enumerate(names)}
        fresh = np.array([place[name] for name in self.names], np.int64)
        members = (
            fresh[np.asarray(ranks.values.to_numpy(zero_copy_only=False), np.int64)] if len(names) else np.empty(0, np.int64)
        )
        owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        sets = Sets.from_pairs(owner, members, len(offsets) - 1)
        weights = np.asarray(found.column("weight").to_numpy(), np.int64)
        order = np.argsort(sets.hashes(), kind="stable")
        return Transactions(sets.take(order), weights[order], Items(names))


def _items_of(batch: Any, number: Mapping[str, int] | None) -> tuple[Any, Any]:
    """Return the items of each nonblank line as numbers, and the names if new."""
    from pyarrow import compute

    lists = compute.ascii_split_whitespace(batch.column(0))
    offsets = np.asarray(lists.offsets.to_numpy(), np.int64)
    coded = lists.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0])).dictionary_encode()
    names = coded.dictionary.to_pylist()
    known = {name: place for place, name in enumerate(names) if name} if number is None else number
    lookup = np.array([known.get(name, -1) for name in names], np.int64)
    members = lookup[np.asarray(coded.indices.to_numpy(), np.int64)] if names else np.empty(0, np.int64)
    is_item = (
        np.array([bool(name) for name in names], np.bool_)[np.asarray(coded.indices.to_numpy(), np.int64)]
        if names
        else members > 0
    )
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    is_person = np.bincount(owner[is_item], minlength=len(offsets) - 1) > 0
    row = (np.cumsum(is_person) - 1)[owner]
    kept = members >= 0
    height = int(is_person.sum())
    sets = Sets.from_pairs(row[kept], members[kept], height)
    return sets, height if number is not None else (height, names)


def _count_items(batches: Iterator[Any]) -> Iterator[Any]:
    """Count the lines that have each item; all lines are counted under no name."""
    import pyarrow

    for batch in batches:
        sets, (height, names) = _items_of(batch, None)
        people = np.bincount(sets.members, minlength=len(names))
        listed = [(name, int(number)) for name, number in zip(names, people, strict=True) if number]
        items = pyarrow.array([None, *(name for name, _ in listed)], pyarrow.string())
        counts = pyarrow.array([height, *(number for _, number in listed)], pyarrow.int64())
        yield pyarrow.RecordBatch.from_arrays([items, counts], names=["item", "people"])


def sets_of(lists: Any) -> Sets:
    """Return an Arrow array of lists of ascending numbers as sets."""
    offsets = np.asarray(lists.offsets.to_numpy(), np.int64)
    members = np.asarray(lists.values.to_numpy(zero_copy_only=False), np.int32)
    return Sets(offsets - offsets[0], members[offsets[0] : offsets[-1]])


def lists_of(sets: Sets) -> Any:
    """Return sets as an Arrow array of lists."""
    import pyarrow

    return pyarrow.ListArray.from_arrays(
        pyarrow.array(sets.offsets.astype(np.int32)), pyarrow.array(sets.members.astype(np.int32))
    )


def cores_of(baskets: SparkBaskets) -> int:
    """Return the number of tasks that the cluster runs at a time."""
    return int(baskets.lines.sparkSession.sparkContext.defaultParallelism)


def run_on_cluster(baskets: SparkBaskets, cut: Any, search: Any, shards: int) -> tuple[Sets, Ints]:
    """Search the rows in shards of prefixes; return sets and counts.

    Few rows are one shard and one task, and are not shuffled; others are shuffled once. Equal ones are merged before, batch by batch, and once
    more by the search: a round of its own that merges them would cost more than it saves, since prefixes are long and mostly different.
    """

    def search_all(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        if parts := list(cut(batches)):
            yield from search(pyarrow.Table.from_batches(parts)).to_batches()

    with _silenced("Spark could not mine the transactions", where=baskets.where, remedy="Check the cluster, and start again"):
        from pyspark.sql import functions as f

        told = "items array<int>, people long"
        if shards == 1:
            found = baskets.lines.coalesce(1).mapInArrow(search_all, told).toArrow()
        else:
            prefixes = baskets.lines.mapInArrow(cut, "shard int, items array<int>, weight long")
            # A partition for each shard: few bytes may take long to search, so partitions are not joined for being small.
            by_number = hasattr(prefixes, "repartitionById")  # before Spark 4.1 two shards may share one
            split = prefixes.repartitionById(shards, f.col("shard")) if by_number else prefixes.repartition(shards, "shard")
            found = split.groupBy("shard").applyInArrow(search, told).toArrow()
    lists = found.column("items").combine_chunks()
    return sets_of(lists), np.asarray(found.column("people").to_numpy(), np.int64)
