"""Spark: the same bytes as from the other engines, on a cluster that loses a worker as well."""

from __future__ import annotations

import contextlib
import os
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
from tacit.files.disk import spill_folder
from tacit.mining import shards
from tests.files.spark_cluster import FOR_SECONDS, Cluster, running_cluster
from tests.files.test_engines import PEOPLE, VERBS, answers_of, counted
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
    with pytest.MonkeyPatch.context() as patch, running_cluster(folder) as cluster:
        for name, value in FOR_SECONDS.items():
            patch.setenv(name, value)
        yield Here(cluster, folder)
        for session in spark._sessions.values():
            session.stop()
        spark._sessions.clear()


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_gives_the_same_bytes(here: Here, verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.parquet").symlink_to(here.folder / "people.parquet")
    # Rows that Spark hands over have no order; all that is written is the same.
    in_order = verb != "hide"
    here_and_there = [
        answers_of(verb, "people.parquet", *engine, in_order=in_order)
        for engine in (("--engine", "duckdb"), ("--engine", "spark", "--master", here.cluster.url))
    ]
    assert here_and_there[0] == here_and_there[1]


def test_nothing_of_the_data_lies_on_disk(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark, "MOST_IN_ONE_TASK", 0)
    canary = "canary-5b1f7e"
    path = here.folder / "canary.parquet"
    parquet.write_table(pyarrow.table({"who": [f"{canary}-{row}" for row in range(5000)]}), path, compression="none")
    (here.folder / "canary.dat").write_text("".join(f"{canary}-{row % 40} b\n" for row in range(2000)))
    assert canary.encode() in path.read_bytes()
    assert len(tacit.read_table(path, engine=here.engine).weights) == 5000
    assert len(tacit.mine_itemsets(here.folder / "canary.dat", min_support=50, engine=here.engine)) == 81
    folders = (here.folder / "spill", here.folder / "work", spill_folder())
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    assert any("shuffle" in file.name for file in files)
    for file in files:
        with contextlib.suppress(FileNotFoundError):
            assert canary.encode() not in file.read_bytes(), file
    assert spill_folder().stat().st_mode & 0o777 == 0o700


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


@pytest.mark.parametrize(("only", "in_shards"), [("all", True), ("closed", True), ("closed", False), ("maximal", True)])
def test_itemsets_mined_there_are_those_mined_here(
    here: Here, only: Any, in_shards: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(here.folder)
    if in_shards:
        monkeypatch.setattr(spark, "MOST_IN_ONE_TASK", 0)
        monkeypatch.setattr(spark, "MOST_UNMERGED", 0)
        monkeypatch.setattr(spark, "SMALL_FILE", 0)
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
    log = here.folder / "tasks"
    log.mkdir()
    folder = str(log)
    usual = shards.searcher

    def slowly(*arguments: Any) -> Callable[[Any], Any]:
        search = usual(*arguments)

        def slow(table: Any) -> Any:
            shard = table.column("shard")[0].as_py()
            # Python's workers are children of a daemon, which is one of the executor, which is one of Spark's worker.
            process = os.getpid()
            for _ in range(3):
                with open(f"/proc/{process}/stat") as stream:
                    process = int(stream.read().rpartition(")")[2].split()[1])
            begun = os.path.join(folder, f"{process}-{shard}")
            with open(begun, "w"):
                time.sleep(1.5)
            found = search(table)
            os.rename(begun, begun + "-done")
            return found

        return slow

    victim, survivor = here.cluster.workers

    def kill() -> None:
        while not list(log.glob(f"{victim.pid}-*")):
            time.sleep(0.02)
        here.cluster.kill(victim)

    monkeypatch.setattr(spark, "MOST_IN_ONE_TASK", 0)
    monkeypatch.setattr(shards, "searcher", slowly)
    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    data = here.folder / "baskets.dat"
    found = tacit.mine_itemsets(data, min_support=8, only="closed", engine=here.engine)
    killer.join(5)
    assert victim.poll() is not None
    # The task that ran there when it was killed never ended, and ran again on the other worker.
    lost = {path.name.split("-")[1] for path in log.glob(f"{victim.pid}-*") if not path.name.endswith("-done")}
    done = {path.name.split("-")[1] for path in log.glob(f"{survivor.pid}-*-done")}
    assert lost
    assert lost <= done
    # The driver knows it, too, as soon as it has read its messages.
    jobs = spark.session_of(here.engine).sparkContext.statusTracker()
    stages = [stage for job in jobs.getJobIdsForGroup() for stage in jobs.getJobInfo(job).stageIds]
    end = time.monotonic() + 30
    while not any(one.numFailedTasks for one in map(jobs.getStageInfo, stages) if one) and time.monotonic() < end:
        time.sleep(0.1)
    assert any(one.numFailedTasks for one in map(jobs.getStageInfo, stages) if one)
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
