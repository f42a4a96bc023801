"""Running a search: limits, progress, Ctrl-C, several cores, and what may go wrong on them."""

from __future__ import annotations

import mmap
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from tacit.mining import database, search
from tacit.mining import search as growing_module
from tacit.mining.database import Rows, make_database
from tacit.mining.itemsets import count_itemsets, mine_itemsets
from tacit.mining.search import Collector, Growing, Piece, Team
from tacit.model.errors import LimitReached, OptionError
from tacit.model.release import Sets
from tacit.model.table import Transactions


def endless() -> Transactions:
    """Data with far more frequent itemsets than can be listed."""
    rng = random.Random(1)
    return Transactions.from_lists([[item for item in range(60) if rng.random() < 0.95] for _ in range(300)])


@pytest.mark.parametrize("threads", [1, 2])
def test_time_runs_out(threads: int) -> None:
    count_itemsets(Transactions.from_lists([["a"]]), min_support=1)  # compiled kernels are loaded
    begun = time.monotonic()
    with pytest.raises(LimitReached, match=r"^--time-limit: mining did not finish within 0.3 seconds. Allow more time"):
        count_itemsets(endless(), min_support=1, threads=threads, time_limit=0.3)
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize("threads", [1, 2])
def test_progress_goes_from_0_to_1(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "SHARE_AFTER", 0.0)
    rng = random.Random(2)
    baskets = Transactions.from_lists([[item for item in range(40) if rng.random() < 0.5] for _ in range(400)])
    told: list[float] = []
    mine_itemsets(baskets, min_support=20, threads=threads, progress=told.append)
    assert told == sorted(told)
    assert 0 <= told[0] < told[-1] == 1.0
    assert len(set(told)) > (5 if threads == 1 else 1), "two threads tell together how far they are"


def test_too_many_itemsets() -> None:
    with pytest.raises(
        OptionError,
        match=r"^--min-support: more than 1,000 patterns reach it. Raise --min-support, list shorter itemsets with --max-length 3, ",
    ):
        mine_itemsets(Transactions.from_lists([range(16)] * 3), min_support=1, max_itemsets=1000)
    few = Transactions.from_lists([["a", "b"]])
    assert len(mine_itemsets(few, min_support=1, max_itemsets=3)) == 3


def test_a_result_that_does_not_fit_in_memory() -> None:
    draw = random.Random(7)
    rows = [[item for item in range(60) if draw.random() < 0.3] for _ in range(300)]
    with pytest.raises(OptionError, match=r"patterns that reach it fill 0\.05 MB of memory"):
        mine_itemsets(Transactions.from_lists(rows), min_support=2, memory=50_000)


def test_the_subsets_of_one_long_itemset_are_counted_before_they_are_made() -> None:
    rows = [[*range(60), 100 + person] for person in range(30)] + [[1, 2]] * 20
    with pytest.raises(OptionError, match=f"at least {2**60:,} itemsets reach it: 30 people or more have 60 items in common"):
        mine_itemsets(Transactions.from_lists(rows), min_support=30)
    closed = mine_itemsets(Transactions.from_lists(rows), min_support=30, only="closed")
    assert [(len(closed.names(i)), closed.count(i).lo) for i in range(len(closed))] in ([(60, 30), (2, 50)], [(2, 50), (60, 30)])


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_stops_soon(threads: int) -> None:
    code = f"""
        import random
        from tacit.mining.itemsets import count_itemsets
        from tacit.model.table import Transactions
        rng = random.Random(1)
        baskets = Transactions.from_lists([[item for item in range(60) if rng.random() < 0.95] for _ in range(300)])
        count_itemsets(Transactions.from_lists([["a"]]), min_support=1)
        try:
            count_itemsets(baskets, min_support=1, only=["all"], threads={threads}, progress=lambda share: print("at", share, flush=True))
        except KeyboardInterrupt:
            print("stopped", flush=True)
        """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    for line in child.stdout:
        if line.startswith("at 0."):
            break
    time.sleep(0.3)
    sent = time.monotonic()
    child.send_signal(signal.SIGINT)
    rest, _ = child.communicate(timeout=60)
    assert rest.endswith("stopped\n")
    assert child.returncode == 0
    assert time.monotonic() - sent < 5


def test_an_error_on_another_core_is_raised_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "SHARE_AFTER", -1.0)
    monkeypatch.setattr(search, "WORK_PER_CALL", 10)
    here = threading.get_ident()
    whole = search.Task._search

    def failing(task: search.Task) -> int:
        if threading.get_ident() != here:
            raise MemoryError("not here")
        return whole(task)

    monkeypatch.setattr(search.Task, "_search", failing)
    with pytest.raises(MemoryError, match="not here"):
        mine_itemsets(endless(), min_support=150, threads=2)


def piece(*labels: int) -> Piece:
    """Sets of one item each."""
    return Piece(np.array(labels, np.int16), np.arange(1, len(labels) + 1, dtype=np.int32), np.ones(len(labels), np.int64))


def test_a_team_hands_over_in_order_and_waits_for_slow_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MOST_WAITING", 100)
    monkeypatch.setattr(search, "POLL", 0.01)
    ahead: list[int] = []

    def job(number: int) -> Iterator[Piece | None]:
        for part in range(20):
            if number == 0:
                time.sleep(0.005)
                yield None
            else:
                ahead.append(number)
            yield piece(number, part)

    several = Team([lambda number=number: job(number) for number in range(4)], 2)  # type: ignore[misc]
    first: list[tuple[int, int]] = []
    for found in several.pieces():
        if found is not None:
            number, part = found.members.tolist()
            if number == 0 and part == 19:
                assert len(ahead) < 30  # the other core has paused long before its jobs were done
            first.append((number, part))
    assert first == [(number, part) for number in range(4) for part in range(20)]
    assert several.share_done == 1


def test_closing_a_team_ends_its_threads() -> None:
    def job() -> Iterator[Piece | None]:
        while True:
            yield piece(1)

    before = threading.active_count()
    pieces = Team([job, job], 2).pieces()
    next(pieces)
    pieces.close()
    assert threading.active_count() == before


def test_arrays_grow_without_losing_anything() -> None:
    growing = Growing(np.int16)
    assert growing.finish().tolist() == []
    for i in range(400):
        growing.extend(np.full(i, i))
        if i == 100:
            assert growing.finish().tolist() == [i for i in range(101) for _ in range(i)]
    assert (len(growing), growing.nbytes) == (79_800, 159_600)
    assert growing.finish().tolist() == [i for i in range(400) for _ in range(i)]


def test_arrays_grow_where_memory_cannot_be_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    class Fixed(mmap.mmap):
        def resize(self, newsize: int) -> None:
            raise SystemError("mmap: resizing not available--no mremap()")

    monkeypatch.setattr(growing_module, "_reserve_memory", lambda size: Fixed(-1, size))
    growing = Growing(np.int64)
    for i in range(100):
        growing.extend(np.full(1000, i))
    assert growing.finish().tolist() == [i for i in range(100) for _ in range(1000)]


@pytest.mark.parametrize(("n_labels", "dtype"), [(32767, np.int16), (32768, np.int32)])
def test_item_numbers_take_the_smallest_type(n_labels: int, dtype: type) -> None:
    gathered = Collector(n_labels)
    gathered.add(piece(1, 2))
    gathered.add(piece(3))
    mined = gathered.finish()
    assert mined.members.dtype == dtype
    assert (mined.members.tolist(), mined.offsets.tolist(), mined.counts.tolist()) == ([1, 2, 3], [0, 1, 2, 3], [1, 1, 1])


def test_more_items_than_16_bits_hold() -> None:
    rows = [[i, i + 1] for i in range(0, 40_000, 2)] + [[39_998, 39_999]]
    data = Rows(Sets.from_lists(rows), np.ones(len(rows), np.int64), 40_000)
    _, mined, total = search.mine(data, 1, search.Wanted("closed"), search.Limits(threads=1))
    assert total == 20_000
    assert mined.members[-2:].tolist() == [39_998, 39_999]
    assert mined.counts[-1] == 2


def test_dense_and_sparse_rows_are_told_apart() -> None:
    rng = random.Random(3)
    dense = [[item for item in range(50) if rng.random() < 0.5] for _ in range(50)]
    sparse = [rng.sample(range(2000), 3) for _ in range(2000)]
    for rows, masks in ((dense, True), (sparse, False)):
        made = make_database(Rows(Sets.from_lists(rows), np.ones(len(rows), np.int64), 2000), 1)
        assert (len(made.masks) > 0, len(made.lists) > 0) == (masks, not masks)


def test_a_row_for_13_people_takes_three_bits() -> None:
    made = make_database(Rows(Sets.from_lists([[0, 1], [0], [0, 1]]), np.array([6, 1, 7]), 2), 1, dense=True)
    assert made.parts.tolist() == [[2, 1, 0], [3, 4, 0], [4, 8, 0]]  # {0} once and {0, 1} 1 + 4 + 8 times


def test_more_cells_than_positions_can_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "MOST_CELLS", 3)
    with pytest.raises(OptionError, match="over 2 billion frequent cells"):
        make_database(Rows(Sets.from_lists([[0, 1], [1]]), np.ones(2, np.int64), 2), 1)
