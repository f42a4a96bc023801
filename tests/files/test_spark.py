"""Spark: the same bytes as from the other engines, on a cluster that loses a worker as well."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from importlib import util
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet
from pyspark import cloudpickle

import tacit
from tacit.files import spark
from tacit.mining import shards
from tests.files.spark_cluster import Cluster, running_cluster
from tests.files.test_engines import PEOPLE, VERBS, counted
from tests.shell import tacit as run

NAMES = ["sex", "age", "area", "ill"]


@dataclass(frozen=True)
class Here:
    """The cluster, and a folder with data."""

    cluster: Cluster
    folder: Path

    @property
    def engine(self) -> Any:
        return tacit.engine("spark", master=self.cluster.url)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Here]:
    folder = tmp_path_factory.mktemp("spark")
    rows = pyarrow.table(dict(zip(NAMES, map(list, zip(*PEOPLE, strict=True)), strict=True)))
    parquet.write_table(rows, folder / "people.parquet")
    rng = np.random.default_rng(4)
    lines = [" ".join(f"i{item}" for item in rng.geometric(0.12, rng.integers(1, 9))) for _ in range(400)]
    (folder / "baskets.dat").write_text("\n".join([*lines[:200], "", "  ", " i1\ti2  i2 ", *lines[200:]]) + "\n")
    with running_cluster(folder) as cluster:
        yield Here(cluster, folder)
        for session in spark._sessions.values():
            session.stop()
        spark._sessions.clear()


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_gives_the_same_bytes(here: Here, verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.parquet").symlink_to(here.folder / "people.parquet")
    answers = []
    for engine in (("--engine", "duckdb"), ("--engine", "spark", "--master", here.cluster.url)):
        told: list[Any] = []
        for words in VERBS[verb]:
            to = {"audit": (), "bucketize": ("-o", "out")}.get(words[0], ("-o", "out.csv"))
            given = tuple("people.parquet" if word == "DATA" else word for word in words)
            done = run(*given, *to, *engine, "--json", "record.json")
            assert done.exit_code in (0, 1, 3), done.output
            told.append(json.loads(Path("record.json").read_text()))
            told += [path.read_bytes() for path in (Path("out.csv"), *sorted(Path("out").glob("*"))) if path.exists()]
        answers.append(told)
    assert answers[0] == answers[1]


def test_cells_print_as_from_other_engines(here: Here) -> None:
    columns = {
        "t": [" a ", "a", None, "?"],
        "i": [1, None, 3, 1],
        "f": [0.1, float("nan"), None, 1e20],
        "b": [True, False, None, True],
        "d": [date(2024, 1, 2), None, date(2024, 1, 2), date(1999, 12, 31)],
        "odd `name": ["x", "y", "x", "?"],
    }
    path = here.folder / "kinds.parquet"
    parquet.write_table(pyarrow.table(columns), path)
    for given in ({}, {"missing": "?", "missing_rule": "drop-any"}, {"missing": "", "missing_rule": "drop-any"}):
        for held in (["t", "i"], ["f"], ["b", "d"]):
            tables = [tacit.read_table(path, columns=held, engine=one, **given) for one in ("duckdb", here.engine)]  # type: ignore[arg-type]
            assert counted(tables[0].select(held)) == counted(tables[1].select(held))
            assert tables[0].dropped == tables[1].dropped
    parquet.write_table(pyarrow.table({"a": [[1]]}), here.folder / "lists.parquet")
    with pytest.raises(tacit.InputError, match="holds lists, records or bytes"):
        tacit.read_table(here.folder / "lists.parquet", engine=here.engine)


@pytest.mark.parametrize("only", ["all", "closed", "maximal"])
def test_itemsets_mined_in_shards_are_those_mined_here(
    here: Here, only: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(here.folder)
    answers = []
    for engine in ((), ("--engine", "spark", "--master", here.cluster.url)):
        out = tmp_path / "out.csv"
        words = ("mine", "itemsets", "baskets.dat", "--min-support", "8", "--only", only, "-o", str(out))
        assert run(*words, *engine, "--json", str(tmp_path / "record.json")).exit_code == 0
        answers.append([(tmp_path / name).read_bytes() for name in ("record.json", "out.csv", "out.csv.json")])
    assert answers[0] == answers[1]
    audits = [
        tacit.audit(out, data=tacit.read_transactions("baskets.dat", engine=one), attacks=["I01"], k=5).findings
        for one in (None, here.engine)
    ]
    assert [one.to_dict() for one in audits[0]] == [one.to_dict() for one in audits[1]]


def test_sessions_and_frames_of_the_user(here: Here) -> None:
    session = spark.session_of(here.engine)
    assert session.conf.get("spark.io.encryption.enabled") == "true"
    frame = session.read.parquet(str(here.folder / "people.parquet"))
    frame.createOrReplaceTempView("clinic")
    mine = tacit.engine("spark", session=session)
    expected = counted(tacit.read_table(here.folder / "people.parquet", engine="duckdb"))
    assert counted(tacit.read_table("clinic", engine=mine)) == expected
    assert counted(tacit.read_table(frame)) == expected
    with pytest.raises(tacit.EngineError, match="is not a Parquet file or a table that Spark can read"):
        tacit.read_table("nowhere", engine=mine)
    with pytest.raises(tacit.OptionError, match="reads Parquet and tables of its catalogue"):
        tacit.read_table(here.folder / "baskets.dat", engine=mine)


def test_a_worker_that_is_killed_changes_nothing(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last test of this module: the cluster has one worker less behind it."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    begun = str(here.folder / "begun")
    usual = shards.searcher

    def slowly(*arguments: Any) -> Callable[[Any], Any]:
        search = usual(*arguments)

        def slow(table: Any) -> Any:
            with open(begun, "a") as stream:
                stream.write("x")
            time.sleep(0.5)
            return search(table)

        return slow

    def kill() -> None:
        # Both workers are inside a task from here on, or were until a moment ago; then the first one is not.
        while not Path(begun).exists() or Path(begun).stat().st_size < 3:
            time.sleep(0.02)
        time.sleep(0.1)
        here.cluster.kill(here.cluster.workers[0])

    monkeypatch.setattr(shards, "searcher", slowly)
    monkeypatch.setattr(shards, "SHARDS", 10)
    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    data = here.folder / "baskets.dat"
    found = tacit.mine_itemsets(data, min_support=8, only="closed", engine=here.engine)
    killer.join(5)
    assert here.cluster.workers[0].poll() is not None
    context = spark.session_of(here.engine).sparkContext
    assert context._jsc.sc().getExecutorMemoryStatus().size() - 1 <= 1  # executors that are left
    assert len(Path(begun).read_text()) >= 10
    assert list(found.records()) == list(tacit.mine_itemsets(data, min_support=8, only="closed").records())


def test_prefixes_hold_what_a_shard_needs() -> None:
    rng = np.random.default_rng(0)
    lists = [sorted(rng.choice(12, rng.integers(0, 6), replace=False).tolist()) for _ in range(60)]
    sets = tacit.model.release.Sets.from_lists(lists)
    shard, row, end = shards.project(sets.offsets, sets.members.astype(np.int64), 4)
    found = Counter((s, tuple(lists[r][:e])) for s, r, e in zip(shard.tolist(), row.tolist(), end.tolist(), strict=True))
    expected: Counter[tuple[int, tuple[int, ...]]] = Counter()
    for items in lists:
        for number in range(4):
            last = [place for place, item in enumerate(items) if item % 4 == number]
            if last:
                expected[number, tuple(items[: last[-1] + 1])] += 1
    assert found == expected


def test_what_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(tacit.OptionError, match="--master: is for Spark only"):
        tacit.engine("duckdb", master="local")
    monkeypatch.setattr("tacit.files.engines.find_spec", lambda name: None if name == "pyspark" else util.find_spec(name))
    done = run("tabulate", "people.parquet", "--by", "sex", "--engine", "spark")
    assert done.exit_code == 2
    assert done.output == "--engine spark: Spark is not installed. pip install 'tacit[spark]'.\n"
