"""Runs the search kernels over a database: in bounded steps, on one or several cores, interruptible at any time."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from tacit.errors import LimitReached
from tacit.mining.collector import Collector, Mined, Numbers, Piece, as_labels
from tacit.mining.database import Database, Rows, make_database
from tacit.mining.team import Team
from tacit.model.policy import check_time
from tacit.model.release import ONLY, Only

Progress = Callable[[float], None]

#: What a kernel may do before it comes back to Python: some hundredths of a second.
WORK_PER_CALL = 1 << 22

#: A search that takes longer than this many seconds is shared among cores.
SHARE_AFTER = 0.05

#: First sizes of the arrays that problems are written to (they grow when a problem needs more), and sizes of the output of one call.
BITS, BOOK = 1 << 17, 1 << 16
MEMBERS, LINES = 1 << 17, 1 << 14


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is searched for: which itemsets, or rules whose confidence is at least ``part / whole``.

    ``family``: items of one column exclude each other, which changes what closed and maximal mean (see :mod:`tacit.kernels.patterns`).
    """

    only: Only = "all"
    family: bool = False
    part: int = 0
    whole: int = 1

    @property
    def enumerates(self) -> bool:
        """Whether every frequent itemset is visited."""
        return self.only == "all" or self.family

    @property
    def needs_masks(self) -> bool | None:
        """Whether rows must be kept as masks: the test looks at all items of a row, which lists do not offer. None: as it fits."""
        return True if self.family and self.only != "all" else None


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a search may take, how many cores it may use, how many patterns may come out, and who wants to hear of its progress."""

    time_limit: float | None = None
    threads: int | None = None
    max_itemsets: int | None = None
    progress: Progress | None = None
    started: float = field(default_factory=time.monotonic)

    def check(self) -> None:
        """Raise when time is up."""
        check_time("--time-limit")
        if self.time_limit is not None and time.monotonic() - self.started > self.time_limit:
            raise LimitReached(
                f"mining did not finish within {self.time_limit:g} seconds",
                where="--time-limit",
                remedy="Allow more time, or raise --min-support",
            )

    def report(self, share: float) -> None:
        """Tell how much is done."""
        if self.progress is not None:
            self.progress(share)

    @property
    def cores(self) -> int:
        """How many cores may be used."""
        if self.threads is not None:
            return max(1, self.threads)
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Task:
    """The search of some root items, one bounded step after the other; its memory can be used for other roots afterwards."""

    def __init__(self, database: Database, wanted: Wanted) -> None:
        from tacit.kernels import conditional, node

        self._database, self._wanted = database, wanted
        self._ask = np.zeros(conditional.ASKED, np.int64)
        self._ask[conditional.MAX_PROBLEMS] = min(256, -(-database.n_items // 16))
        self._ask[conditional.LEAST] = database.least
        self._ask[conditional.KEEP_EARLIER] = wanted.only != "all"
        self._ask[conditional.ABSORB] = not wanted.enumerates
        self._box = np.zeros(node.STATES, np.int64)
        self._box[node.LEAST], self._box[node.WANTED] = database.least, ONLY.index(wanted.only)
        self._box[node.CLASSES], self._box[node.N_ITEMS] = database.n_classes, database.n_items
        self._box[node.RATIO_PART], self._box[node.RATIO_WHOLE] = wanted.part, wanted.whole
        self._bits, self._book = np.empty(BITS, np.uint64), np.empty(BOOK, np.int64)
        self._tids, self._known = np.empty(0, np.uint64), np.empty(0, np.uint64)
        self._lists = np.empty((0, 2), np.int64)
        self._frames = np.empty((database.longest + 2, node.HEAD + database.longest), np.int64)
        self._lines = np.empty((max(LINES, 2 * database.n_classes), 4), np.int64)
        self._members = np.empty(max(MEMBERS, 2 * database.n_classes * database.longest), np.int32)

    def begin(self, first: int, end: int) -> None:
        """Turn to the root items from ``first`` to ``end`` (not included)."""
        from tacit.kernels import conditional

        self._ask[conditional.FIRST_ROOT], self._ask[conditional.NEXT_ROOT], self._ask[conditional.END_ROOT] = first, first, end

    def give_up_rest(self) -> int:
        """Keep only the roots begun so far; the first of those given up."""
        from tacit.kernels import conditional

        self._ask[conditional.END_ROOT] = self._ask[conditional.NEXT_ROOT]
        return self.next_root

    @property
    def next_root(self) -> int:
        """The first root that was not begun."""
        from tacit.kernels import conditional

        return int(self._ask[conditional.NEXT_ROOT])

    def pieces(self) -> Iterator[Piece | None]:
        """The patterns of these roots; None after a step that has nothing to hand over yet."""
        from tacit.kernels import conditional, node

        while self._ask[conditional.NEXT_ROOT] < self._ask[conditional.END_ROOT]:
            self._project()
            self._box[node.PROBLEM], self._box[node.N_PROBLEMS], self._box[node.DEPTH] = 0, self._ask[conditional.MADE], -1
            while (status := self._search()) != node.DONE:
                yield self._hand_over() if status == node.OUTPUT_FULL else None
            yield None
        if self._box[node.N_SETS]:
            yield self._hand_over()

    def _project(self) -> None:
        """Make the next problems, and enough memory to search them."""
        from tacit.kernels import closed, conditional

        db, ask = self._database, self._ask
        conditional.project(db.lists, db.masks, db.starts, db.places, db.parts, db.labels, ask, self._bits, self._book)
        if ask[conditional.MADE] == 0:
            if len(self._bits) < ask[conditional.NEED_BITS]:
                self._bits = np.empty(ask[conditional.NEED_BITS], np.uint64)
            if len(self._book) < ask[conditional.NEED_BOOK]:
                self._book = np.empty(ask[conditional.NEED_BOOK], np.int64)
        depth, items = len(self._frames), int(ask[conditional.MOST_ITEMS])
        words = int(ask[conditional.MOST_WORDS]) + (items + 63) // 64
        if len(self._tids) < depth * words:
            self._tids = np.empty(depth * words, np.uint64)
        if len(self._lists) < depth * (items + 1):
            self._lists = np.empty((depth * (items + 1), 2), np.int64)
        if not self._wanted.enumerates and len(self._known) < closed.KNOWN_WORDS * (items + depth):
            self._known = np.empty(closed.KNOWN_WORDS * (items + depth), np.uint64)

    def _search(self) -> int:
        """Go on searching for a while."""
        from tacit.kernels import closed, node, patterns

        self._box[node.WORK_LEFT] = WORK_PER_CALL
        memory = (self._bits, self._book, self._box, self._tids, self._lists, self._frames)
        if self._wanted.enumerates:
            return patterns.search(*memory, self._members, self._lines)
        return closed.search(self._database.lists, *memory, self._known, self._members, self._lines)

    def _hand_over(self) -> Piece:
        """What is in the output, which is empty afterwards."""
        from tacit.kernels import node

        members = as_labels(self._members[: self._box[node.N_MEMBERS]], self._database.n_items)
        ends, counts, wholes, classes = self._lines[: self._box[node.N_SETS]].T
        self._box[node.N_SETS], self._box[node.N_MEMBERS] = 0, 0
        if self._database.n_classes < 0:
            return Piece(members, ends.astype(np.int32), counts.copy())
        return Piece(members, ends.astype(np.int32), counts.copy(), wholes.copy(), classes.astype(np.int32))


def mine(
    rows: Rows, least: int, wanted: Wanted, limits: Limits, *, keep: bool = True, dense: bool | None = None
) -> tuple[Database, Mined, int]:
    """The patterns of ``rows`` with at least ``least`` people, in dictionary order, and how many there are.

    ``keep=False`` only counts them; ``dense`` forces rows as masks or as lists.
    """
    if wanted.needs_masks:
        dense = True
    database = make_database(rows, least, dictionary_order=wanted.enumerates, dense=dense)
    collector = Collector(database.n_items, keep=keep, max_itemsets=limits.max_itemsets)
    if database.n_items:
        _run(database, wanted, limits, collector)
    limits.report(1.0)
    mined = collector.finish()
    if not (wanted.enumerates and len(database.masks)):
        mined.sort(database.n_items)
    return database, mined, collector.total


def count(rows: Rows, levels: Numbers, wanted: Wanted, limits: Limits) -> Numbers:
    """How many patterns of ``rows`` at least so many people have, for each level; one search from the lowest level on."""
    database = make_database(rows, int(levels.min()), dictionary_order=wanted.enumerates, dense=wanted.needs_masks)
    collector = Collector(database.n_items, keep=False, levels=levels)
    if database.n_items:
        _run(database, wanted, limits, collector)
    limits.report(1.0)
    return collector.reaching


def _run(database: Database, wanted: Wanted, limits: Limits, collector: Collector) -> None:
    """Search all roots: here, and when it takes longer on all cores."""
    task, n_roots, cores = Task(database, wanted), database.n_items, limits.cores
    task.begin(0, n_roots)
    begun = time.monotonic()
    pieces = task.pieces()
    for piece in pieces:
        if piece is not None:
            collector.add(piece)
        limits.check()
        limits.report(task.next_root / n_roots)
        if cores > 1 and time.monotonic() - begun > SHARE_AFTER and task.next_root < n_roots:
            _share(database, wanted, limits, collector, pieces, task.give_up_rest())
            return


def _share(
    database: Database, wanted: Wanted, limits: Limits, collector: Collector, begun: Iterator[Piece | None], first: int
) -> None:
    """Finish what was begun and search the roots from ``first`` on, on all cores."""
    own = threading.local()

    def block(start: int, end: int) -> Iterator[Piece | None]:
        if not hasattr(own, "task"):
            own.task = Task(database, wanted)
        own.task.begin(start, end)
        yield from own.task.pieces()

    n_roots = database.n_items
    size = max(1, (n_roots - first) // 256)
    team = Team(
        [lambda: begun, *(partial(block, at, min(at + size, n_roots)) for at in range(first, n_roots, size))], limits.cores
    )
    with closing(team.pieces()) as pieces:
        for piece in pieces:
            if piece is not None:
                collector.add(piece)
            limits.check()
            limits.report(first / n_roots + (1 - first / n_roots) * team.share_done)
