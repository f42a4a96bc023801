"""Driver of the search kernels, on several cores.

A :class:`Task` searches some root items step by step, so that a search can be interrupted at any time. A :class:`Team` runs tasks on several
cores; their output keeps the order of the work, whichever is faster. A :class:`Collector` gathers patterns in arrays that grow in place, with
no object per pattern.
"""

from __future__ import annotations

import mmap
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.kernels import search as kernels
from tacit.mining.database import Database, Rows, make_database
from tacit.model.arrays import Ints
from tacit.model.errors import LimitReached, OptionError
from tacit.model.memory import half_of_memory, in_bytes
from tacit.model.policy import check_time
from tacit.model.release import ONLY, Only

FIRST = 1 << 16  #: The first reservation, in bytes; what stays below it becomes an ordinary array.


class Growing:
    """An array that grows at its end.

    Memory is reserved from the system in steps that double, and moved without copying where the system can do that; reserved memory that was
    never written to costs nothing. An array that numpy grows would be copied, or filled with zeros, and take up to twice its size.
    """

    def __init__(self, dtype: npt.DTypeLike) -> None:
        self._dtype = np.dtype(dtype)
        self._memory: mmap.mmap | None = None
        self._used = 0

    def __len__(self) -> int:
        return self._used

    @property
    def nbytes(self) -> int:
        """Bytes of memory written to."""
        return self._used * self._dtype.itemsize

    def extend(self, values: npt.NDArray[Any]) -> None:
        """Add values at the end."""
        end = self._used + len(values)
        need = end * self._dtype.itemsize
        if self._memory is None:
            self._memory = _reserve_memory(max(need, FIRST))
        elif need > len(self._memory):
            size = max(need, 2 * len(self._memory))
            try:
                self._memory.resize(size)
            except (SystemError, ValueError):  # a system that cannot extend memory in place
                larger = _reserve_memory(size)
                larger[: self.nbytes] = self._memory[: self.nbytes]
                self._memory = larger
        np.frombuffer(self._memory, self._dtype, len(values), self.nbytes)[:] = values
        self._used = end

    def finish(self) -> npt.NDArray[Any]:
        """Return the array at its final size."""
        if self._memory is None or self._used == 0:
            return np.empty(0, self._dtype)
        whole = np.frombuffer(self._memory, self._dtype, self._used)
        return whole.copy() if self.nbytes <= FIRST else whole


def _reserve_memory(size: int) -> mmap.mmap:
    """Reserve private memory, where the system allows it."""
    if hasattr(mmap, "MAP_PRIVATE"):
        return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return mmap.mmap(-1, size)


LabelArray = npt.NDArray[np.int16] | npt.NDArray[np.int32]


def label_type(n_labels: int) -> type[np.int16] | type[np.int32]:
    """Return the smallest type that holds item numbers."""
    return np.int16 if n_labels <= np.iinfo(np.int16).max else np.int32


def as_labels(numbers: npt.NDArray[np.integer[Any]], n_labels: int) -> LabelArray:
    """Return item numbers in the smallest type."""
    return numbers.astype(np.int16) if label_type(n_labels) is np.int16 else numbers.astype(np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Piece of the mined patterns.

    Pattern i holds the ``members`` before ``ends[i]``, from where the one before it ends. ``counts`` says how many people have it; for rules,
    ``wholes`` how many have the antecedent, and ``classes`` the consequents.
    """

    members: LabelArray
    ends: npt.NDArray[np.int32]
    counts: Ints
    wholes: Ints | None = None
    classes: npt.NDArray[np.int32] | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return sum(part.nbytes for part in (self.members, self.ends, self.counts, self.wholes, self.classes) if part is not None)


@dataclass(slots=True, eq=False)
class Mined:
    """Mined patterns: pattern i is ``members[offsets[i]:offsets[i + 1]]``."""

    offsets: Ints
    members: LabelArray
    counts: Ints
    wholes: Ints
    classes: npt.NDArray[np.int32]

    def sort(self, n_labels: int) -> None:
        """Sort the patterns in dictionary order."""
        from tacit.kernels.rows import arrange, dictionary_order

        order = dictionary_order(self.offsets, self.members, n_labels)
        offsets = np.zeros_like(self.offsets)
        members = np.empty_like(self.members)
        arrange(self.offsets, self.members, order, offsets, members)
        self.offsets = offsets
        self.members = members
        self.counts = self.counts[order]
        if len(self.wholes):
            self.wholes = self.wholes[order]
            self.classes = self.classes[order]


class Collector:
    """Collector of pieces, in order; with ``keep=False`` only their number.

    ``reaching[i]`` counts the patterns that at least ``levels[i]`` people have.
    """

    def __init__(
        self,
        n_labels: int,
        *,
        keep: bool = True,
        max_itemsets: int | None = None,
        memory: int | None = None,
        levels: Ints | None = None,
    ) -> None:
        self.total = 0
        self._levels = np.empty(0, np.int64) if levels is None else levels
        self.reaching = np.zeros(len(self._levels), np.int64)
        self._keep = keep
        self._max_itemsets = max_itemsets
        self._offsets = Growing(np.int64)
        self._counts = Growing(np.int64)
        self._wholes = Growing(np.int64)
        self._members = Growing(label_type(n_labels))
        self._classes = Growing(np.int32)
        self._offsets.extend(np.zeros(1, np.int64))
        self._most_bytes = memory or half_of_memory()

    def add(self, piece: Piece) -> None:
        """Append a piece; refuse more patterns than wanted, or memory holds."""
        self.total += len(piece.counts)
        if self._max_itemsets is not None and self.total > self._max_itemsets:
            raise too_many_error(f"more than {self._max_itemsets:,} patterns reach it")
        if len(self._levels):
            self.reaching += (piece.counts >= self._levels[:, None]).sum(axis=1)
        if not self._keep:
            return
        self._offsets.extend(piece.ends.astype(np.int64) + len(self._members))
        self._members.extend(piece.members)
        self._counts.extend(piece.counts)
        if piece.wholes is not None and piece.classes is not None:
            self._wholes.extend(piece.wholes)
            self._classes.extend(piece.classes)
        parts = (self._offsets, self._members, self._counts, self._wholes, self._classes)
        if sum(part.nbytes for part in parts) > self._most_bytes:
            raise too_many_error(f"the first {self.total:,} patterns that reach it fill {in_bytes(self._most_bytes)} of memory")

    def finish(self) -> Mined:
        """Everything that was gathered."""
        parts = (self._offsets, self._members, self._counts, self._wholes, self._classes)
        return Mined(*(part.finish() for part in parts))


def too_many_error(what: str) -> OptionError:
    """Return the error about more patterns than are wanted or fit into memory."""
    remedy = "Raise --min-support, list shorter itemsets with --max-length 3, use --only closed, or name fewer columns with --qi"
    remedy += "; --memory 8GB lists more"
    return OptionError(what, where="--min-support", remedy=remedy)


Job = Callable[[], Iterator[Piece | None]]  #: A job: gives pieces, or None after a step without one.

MOST_WAITING = 4 * 2**20  #: What may wait for a slower job, in bytes, before faster ones pause.

POLL = 0.05  #: How often the waiting thread looks up, in seconds: at Ctrl-C and at the clock.


class Team:
    """Threads that run jobs.

    Only the jobs in front are finished: those behind pause when too much of what they found is waiting.
    """

    def __init__(self, jobs: Sequence[Job], cores: int) -> None:
        self._jobs = jobs
        self._found: list[deque[Piece]] = [deque() for _ in jobs]
        self._finished = [False] * len(jobs)
        self._next = 0
        self._front = 0
        self._waiting = 0
        self._error: BaseException | None = None
        self._stopped = False
        self._change = threading.Condition()
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(min(cores, len(jobs)))]

    @property
    def share_done(self) -> float:
        """Share of the jobs that are finished."""
        return sum(self._finished) / len(self._jobs)

    def pieces(self) -> Generator[Piece | None]:
        """Yield the jobs' results in order; None when there are none yet."""
        for thread in self._threads:
            thread.start()
        try:
            while self._front < len(self._jobs):
                taken = self._take()
                yield from taken
                if not taken:
                    yield None
        finally:
            with self._change:
                self._stopped = True
                self._change.notify_all()
            for thread in self._threads:
                thread.join()

    def _take(self) -> list[Piece]:
        with self._change:
            found = self._found[self._front]
            if not found and not self._finished[self._front]:
                self._change.wait(POLL)
            if self._error is not None:
                raise self._error
            taken = list(found)
            found.clear()
            self._waiting -= sum(piece.nbytes for piece in taken)
            if self._finished[self._front]:
                self._front += 1
            self._change.notify_all()
            return taken

    def _work(self) -> None:
        try:
            while True:
                with self._change:
                    if self._stopped or self._next == len(self._jobs):
                        return
                    number = self._next
                    self._next += 1
                for piece in self._jobs[number]():
                    if not self._put(number, piece):
                        return
                with self._change:
                    self._finished[number] = True
                    self._change.notify_all()
        except BaseException as error:  # handed to the thread that waits
            with self._change:
                self._error = error
                self._change.notify_all()

    def _put(self, number: int, piece: Piece | None) -> bool:
        """Put a piece into the queue; False: stop."""
        with self._change:
            while self._waiting > MOST_WAITING and number != self._front and not self._stopped:
                self._change.wait(POLL)
            if piece is not None:
                self._found[number].append(piece)
                self._waiting += piece.nbytes
                self._change.notify_all()
            return not self._stopped


Progress = Callable[[float], None]

#: What a kernel may do before it comes back to Python: some hundredths of a second. The first call does little, which need not be compiled.
WORK_PER_CALL = 1 << 22
WORK_OF_FIRST_CALL = 1 << 13

SHARE_AFTER = 0.05  #: A search that takes longer than this many seconds is shared among cores.

#: First sizes of the arrays that problems are written to (they grow when a problem needs more), and sizes of the output of one call.
BITS = 1 << 17
BOOK = 1 << 16
MEMBERS = 1 << 17
LINES = 1 << 14


@dataclass(frozen=True, slots=True)
class Wanted:
    """Aim: itemsets, or rules of confidence ``part / whole``.

    ``family``: items of one column exclude each other, which changes what closed and maximal mean (see :mod:`tacit.kernels.search`).
    ``max_length``: the most items of a set, if all itemsets or rules are wanted.
    """

    only: Only = "all"
    family: bool = False
    part: int = 0
    whole: int = 1
    max_length: int | None = None

    @property
    def enumerates(self) -> bool:
        """True if every frequent itemset is visited."""
        return self.only == "all" or self.family

    @property
    def needs_masks(self) -> bool | None:
        """True if rows must be masks, to test all items; None: either."""
        return True if self.family and self.only != "all" else None


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a search, and its listener for progress."""

    time_limit: float | None = None
    threads: int | None = None
    max_itemsets: int | None = None
    progress: Progress | None = None
    memory: int | None = None
    started: float = field(default_factory=time.monotonic)

    def check(self) -> None:
        """Raise when time is up."""
        check_time("--time-limit")
        if self.time_limit is not None and time.monotonic() - self.started > self.time_limit:
            what = f"mining did not finish within {self.time_limit:g} seconds"
            raise LimitReached(what, where="--time-limit", remedy="Allow more time, or raise --min-support")

    def report(self, share: float) -> None:
        """Tell how much is done."""
        if self.progress is not None:
            self.progress(share)

    @property
    def cores(self) -> int:
        """Number of cores that may be used."""
        if self.threads is not None:
            return max(1, self.threads)
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Task:
    """Search of some roots, in bounded steps; its memory can be reused."""

    def __init__(self, database: Database, wanted: Wanted) -> None:
        self._database = database
        self._wanted = wanted
        self._work = min(WORK_OF_FIRST_CALL, WORK_PER_CALL)
        self._ask = np.zeros(kernels.ASKED, np.int64)
        self._ask[kernels.MAX_PROBLEMS] = min(256, -(-database.n_items // 16))
        self._ask[kernels.LEAST] = database.least
        self._ask[kernels.KEEP_EARLIER] = wanted.only != "all"
        self._ask[kernels.ABSORB] = not wanted.enumerates
        self._box = np.zeros(kernels.STATES, np.int64)
        self._box[kernels.LEAST_PEOPLE] = database.least
        self._box[kernels.WANTED] = ONLY.index(wanted.only)
        self._box[kernels.CLASSES] = database.n_classes
        self._box[kernels.N_ITEMS] = database.n_items
        self._box[kernels.LONGEST] = database.longest if wanted.max_length is None else wanted.max_length
        self._box[kernels.RATIO_PART] = wanted.part
        self._box[kernels.RATIO_WHOLE] = wanted.whole
        self._bits = np.empty(BITS, np.uint64)
        self._book = np.empty(BOOK, np.int64)
        self._tids = np.empty(0, np.uint64)
        self._known = np.empty(0, np.uint64)
        self._lists = np.empty((0, 2), np.int64)
        self._frames = np.empty((database.longest + 2, kernels.HEAD + database.longest), np.int64)
        self._lines = np.empty((max(LINES, 2 * database.n_classes), 4), np.int64)
        self._members = np.empty(max(MEMBERS, 2 * database.n_classes * database.longest), np.int32)

    def begin(self, first: int, end: int) -> None:
        """Turn to roots ``first`` to ``end`` (exclusive)."""
        self._ask[kernels.FIRST_ROOT] = first
        self._ask[kernels.NEXT_ROOT] = first
        self._ask[kernels.END_ROOT] = end

    def give_up_rest(self) -> int:
        """Give up unbegun roots; return the first."""
        self._ask[kernels.END_ROOT] = self._ask[kernels.NEXT_ROOT]
        return self.next_root

    @property
    def next_root(self) -> int:
        """First root that was not begun."""
        return int(self._ask[kernels.NEXT_ROOT])

    def pieces(self) -> Iterator[Piece | None]:
        """Yield the roots' patterns; None after empty steps."""
        while self._ask[kernels.NEXT_ROOT] < self._ask[kernels.END_ROOT]:
            self._project()
            self._box[kernels.PROBLEM] = 0
            self._box[kernels.N_PROBLEMS] = self._ask[kernels.MADE]
            self._box[kernels.DEPTH] = -1
            while (status := self._search()) != kernels.DONE:
                yield self._hand_over() if status == kernels.OUTPUT_FULL else None
            yield None
        if self._box[kernels.N_SETS]:
            yield self._hand_over()

    def _project(self) -> None:
        db = self._database
        ask = self._ask
        kernels.project(db.lists, db.masks, db.starts, db.places, db.parts, db.labels, ask, self._bits, self._book)
        if ask[kernels.MADE] == 0:
            if len(self._bits) < ask[kernels.NEED_BITS]:
                self._bits = np.empty(ask[kernels.NEED_BITS], np.uint64)
            if len(self._book) < ask[kernels.NEED_BOOK]:
                self._book = np.empty(ask[kernels.NEED_BOOK], np.int64)
        depth = len(self._frames)
        items = int(ask[kernels.MOST_ITEMS])
        words = int(ask[kernels.MOST_WORDS]) + (items + 63) // 64
        if len(self._tids) < depth * words:
            self._tids = np.empty(depth * words, np.uint64)
        if len(self._lists) < depth * (items + 1):
            self._lists = np.empty((depth * (items + 1), 2), np.int64)
        if not self._wanted.enumerates and len(self._known) < kernels.KNOWN_WORDS * (items + depth):
            self._known = np.empty(kernels.KNOWN_WORDS * (items + depth), np.uint64)

    def _search(self) -> int:
        self._box[kernels.WORK_LEFT] = self._work
        self._work = WORK_PER_CALL
        memory = (self._bits, self._book, self._box, self._tids, self._lists, self._frames)
        if self._wanted.enumerates:
            return kernels.search_patterns(*memory, self._members, self._lines)
        return kernels.search_closed(self._database.lists, *memory, self._known, self._members, self._lines)

    def _hand_over(self) -> Piece:
        members = as_labels(self._members[: self._box[kernels.N_MEMBERS]], self._database.n_items)
        ends, counts, wholes, classes = self._lines[: self._box[kernels.N_SETS]].T
        self._box[kernels.N_SETS] = 0
        self._box[kernels.N_MEMBERS] = 0
        if self._database.n_classes < 0:
            return Piece(members, ends.astype(np.int32), counts.copy())
        return Piece(members, ends.astype(np.int32), counts.copy(), wholes.copy(), classes.astype(np.int32))


def mine(
    rows: Rows, least: int, wanted: Wanted, limits: Limits, *, keep: bool = True, dense: bool | None = None
) -> tuple[Database, Mined, int]:
    """Mine patterns of ``least`` people in dictionary order; without ``keep``, count them."""
    database = make_database(rows, least, dictionary_order=wanted.enumerates, dense=wanted.needs_masks or dense)
    collector = Collector(database.n_items, keep=keep, max_itemsets=limits.max_itemsets, memory=limits.memory)
    _run(database, wanted, limits, collector)
    mined = collector.finish()
    if not (wanted.enumerates and len(database.masks)):
        mined.sort(database.n_items)
    return database, mined, collector.total


def count(rows: Rows, levels: Ints, wanted: Wanted, limits: Limits) -> Ints:
    """Count the patterns that reach each level."""
    database = make_database(rows, int(levels.min()), dictionary_order=wanted.enumerates, dense=wanted.needs_masks)
    collector = Collector(database.n_items, keep=False, levels=levels)
    _run(database, wanted, limits, collector)
    return collector.reaching


def _run(database: Database, wanted: Wanted, limits: Limits, collector: Collector) -> None:
    """Search all roots; if that takes long, on all cores."""
    n_roots = database.n_items
    if n_roots:
        task = Task(database, wanted)
        cores = limits.cores
        task.begin(0, n_roots)
        begun = time.monotonic()
        pieces = task.pieces()
        for piece in pieces:
            if piece is not None:
                collector.add(piece)
            limits.check()
            limits.report(task.next_root / n_roots)
            if cores > 1 and time.monotonic() - begun > SHARE_AFTER and task.next_root < n_roots:
                _share(database, wanted, limits, collector, begun=pieces, first=task.give_up_rest())
                break
    limits.report(1.0)


def _share(
    database: Database, wanted: Wanted, limits: Limits, collector: Collector, begun: Iterator[Piece | None], first: int
) -> None:
    own = threading.local()

    def block(start: int, end: int) -> Iterator[Piece | None]:
        if not hasattr(own, "task"):
            own.task = Task(database, wanted)
        own.task.begin(start, end)
        yield from own.task.pieces()

    n_roots = database.n_items
    size = max(1, (n_roots - first) // 256)
    blocks = [partial(block, at, min(at + size, n_roots)) for at in range(first, n_roots, size)]
    team = Team([lambda: begun, *blocks], limits.cores)
    with closing(team.pieces()) as pieces:
        for piece in pieces:
            if piece is not None:
                collector.add(piece)
            limits.check()
            limits.report(first / n_roots + (1 - first / n_roots) * team.share_done)
