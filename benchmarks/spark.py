"""Frequent itemsets on Spark: MLlib's FPGrowth and Tacit in one session.

``python -m benchmarks.spark`` prints the section.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any
from unittest.mock import patch

import tacit
from benchmarks.datasets import Case, cases
from benchmarks.mining import table
from tacit.files import spark

TIMES = 3  #: Calls of each; the first one of a session also starts workers and loads code.
MASTER = "local[2]"


def clock(call: Callable[[], int]) -> tuple[float, float, int]:
    """Return the seconds of the first call, those of the fastest other one, and what it returned."""
    seconds = []
    for _ in range(1 + TIMES):
        start = perf_counter()
        found = call()
        seconds.append(perf_counter() - start)
    return seconds[0], min(seconds[1:]), found


def measure(case: Case, path: Path, session: Any) -> list[object]:
    """Return a row for one data set: the file is read in every call."""
    from pyspark.ml.fpm import FPGrowth
    from pyspark.sql import functions as f

    engine = tacit.engine("spark", session=session)

    def ours() -> int:
        return len(tacit.mine_itemsets(path, min_support=case.everything, engine=engine))

    def in_shards() -> int:
        with patch.object(spark, "MOST_IN_ONE_TASK", 0):
            return ours()

    def theirs() -> int:
        lines = session.read.text(str(path)).select(f.split("value", " ").alias("items"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return int(FPGrowth(minSupport=case.everything, minConfidence=1.0).fit(lines).freqItemsets.count())

    first, fastest, found = clock(ours)
    _, shards, same = clock(in_shards)
    their_first, their_fastest, their_found = clock(theirs)
    assert found == same == their_found, (found, same, their_found)
    times = [f"{their_first:.1f}", f"{their_fastest:.1f}", f"{first:.1f}", f"{fastest:.2f}", f"{shards:.2f}"]
    return [case.name, f"{case.everything:.2%}", f"{found:,}", *times, f"**{their_fastest / fastest:.0f}**"]


def run() -> str:
    """Measure, and return the section."""
    session = spark.session_of(tacit.engine("spark", master=MASTER, memory="4GB"))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases():
            if case.kind == "sparse":
                path = Path(folder) / "baskets.dat"
                path.write_text("".join(" ".join(map(str, basket)) + "\n" for basket in case.baskets))
                rows.append(measure(case, path, session))
    session.stop()
    spark._sessions.clear()
    head = (
        "data",
        "min. support",
        "found",
        "MLlib, first call",
        "later",
        "Tacit, first call",
        "later",
        "in shards",
        "times faster",
    )
    return f"""## Itemsets on Spark

All frequent itemsets of a text file by MLlib's FPGrowth and by Tacit, in one local session ({MASTER}), by the clock in seconds. The first call
also starts Python's workers and loads code; later ones are the fastest of {TIMES}. Tacit mines few rows in one task; *in shards* is how it mines
large data. Goal: 20 times faster on retail.

{table(head, rows)}
"""


if __name__ == "__main__":
    print(run())
