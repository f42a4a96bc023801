"""Linear and integer programs within a time limit.

HiGHS looks at its time limit between steps, and a single step of an integer program can take many minutes, in which no signal is handled either.
So all but small programs are solved in a worker process (:mod:`tacit.solve.highs`), which is ended when it does not answer in time. A worker
is started when the first program needs it, is used again, and ends with the process that started it.

Matrices are in numpy alone: importing a library of sparse matrices takes longer than auditing a small list, and programs need little of it.
Rows are chosen, stacked and multiplied by vectors, and the solver gets columns. Sums are added up in the order of the entries, one after the
other, and entries that are 0 stay: the solver chooses between equally good solutions by the order of what it is given.
"""

from __future__ import annotations

import atexit
import os
import pickle
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.model.arrays import Flags, Floats, Ints
from tacit.model.policy import seconds_left
from tacit.solve import highs

Side = tuple[Any, npt.NDArray[Any]]  #: A matrix, and the number that each of its rows is held to.

#: Denominators that dual weights are rounded to, simple ones first; those of programs about people are small.
DENOMINATORS = (1, 2, 6, 60, 5040, 10**6)
#: Programs with at most this many non-zero entries are solved here: linear ones, and those over whole numbers.
SMALL_LINEAR = 20_000
SMALL_WHOLE = 2_000
GRACE = 0.5  #: Seconds after the time limit at which a worker is ended, within which HiGHS mostly notices it by itself.
#: Seconds after which an integer program is given up without a time limit: what HiGHS does between two nodes may have no end.
LONGEST_WHOLE = 30.0
#: Options of a linear program whose answer need not be a corner.
INTERIOR = {"solver": "ipm", "run_crossover": "off"}
WORKER = highs.__file__  #: The program that a worker runs.
#: Programs that are solved at the same time, and workers that are kept for the next ones.
LANES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
_DIGIT = 2**16  #: Numbers below this are sorted digit by digit, in linear time.


# Sparse matrices


@dataclass(frozen=True, eq=False)
class Columns:
    """Sparse matrix by columns, for the solver.

    Column c has ``values[starts[c]:starts[c + 1]]`` in the same places of ``rows``, ascending. HiGHS takes places of 32 bits.
    """

    starts: npt.NDArray[np.int32]
    rows: npt.NDArray[np.int32]
    values: Floats
    shape: tuple[int, int]

    def toarray(self) -> Floats:
        """Return the matrix with all its zeros."""
        out = np.zeros(self.shape)
        out[self.rows, np.repeat(np.arange(self.shape[1]), np.diff(self.starts))] = self.values
        return out


@dataclass(frozen=True, eq=False)
class Matrix:
    """Sparse matrix by rows.

    Row r has ``values[starts[r]:starts[r + 1]]``; ``places`` are the columns of these, each once in a row.
    """

    starts: Ints
    places: Ints
    values: Floats
    shape: tuple[int, int]

    __array_ufunc__ = None  #: A vector on the left leaves the product to the matrix.

    @classmethod
    def of_entries(cls, rows: Any, columns: Any, values: Any, shape: tuple[int, int]) -> Matrix:
        """Return the matrix with these entries; those of one place are added up."""
        row = np.asarray(rows, np.int64)
        column = np.asarray(columns, np.int64)
        value: Floats = np.asarray(values, np.float64)
        place = row * shape[1] + column
        if (place[1:] <= place[:-1]).any():
            order = np.argsort(place, kind="stable")
            place = place[order]
            is_first = np.append(True, place[1:] != place[:-1])
            value = np.bincount(np.cumsum(is_first) - 1, value[order]).astype(np.float64, copy=False)
            row = row[order[is_first]]
            column = column[order[is_first]]
        return cls(_starts(np.bincount(row, minlength=shape[0])), column, value, shape)

    @classmethod
    def of_table(cls, table: npt.NDArray[Any]) -> Matrix:
        """Return the matrix of all entries of a table that are not 0."""
        row, column = np.nonzero(table)
        return cls.of_entries(row, column, table[row, column], table.shape)

    @classmethod
    def empty(cls, shape: tuple[int, int]) -> Matrix:
        """Return a matrix without entries."""
        return cls(np.zeros(shape[0] + 1, np.int64), np.empty(0, np.int64), np.empty(0), shape)

    @classmethod
    def diagonal(cls, values: Floats) -> Matrix:
        """Return the square matrix with these values on its diagonal."""
        size = len(values)
        return cls(np.arange(size + 1), np.arange(size), values, (size, size))

    @cached_property
    def _row(self) -> Ints:
        return np.repeat(np.arange(self.shape[0]), np.diff(self.starts))

    @cached_property
    def columns(self) -> Columns:
        """The same matrix by columns."""
        order = _order_of(self.places, self.shape[1])
        starts = _starts(np.bincount(self.places, minlength=self.shape[1]))
        return Columns(starts.astype(np.int32), self._row.astype(np.int32)[order], self.values[order], self.shape)

    @cached_property
    def _is_whole(self) -> bool:
        return bool((self.values == np.rint(self.values)).all())

    def __matmul__(self, vector: npt.NDArray[Any]) -> Floats:
        products = self.values * vector.astype(np.float64, copy=False).take(self.places)
        if vector.dtype.kind != "i" or not self._is_whole or not len(products):
            return np.bincount(self._row, products, self.shape[0]).astype(np.float64, copy=False)
        # Sums of whole numbers are the same in any order, and this one is the quickest.
        filled = np.flatnonzero(np.diff(self.starts))
        out = np.zeros(self.shape[0])
        out[filled] = np.add.reduceat(products, self.starts[filled])
        return out

    def __rmatmul__(self, vector: npt.NDArray[Any]) -> Floats:
        return np.bincount(self.places, self.values * vector[self._row], self.shape[1]).astype(np.float64, copy=False)

    def __neg__(self) -> Matrix:
        return replace(self, values=-self.values)

    def __getitem__(self, rows: Ints | Flags) -> Matrix:
        numbers = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        sizes = np.diff(self.starts)[numbers]
        starts = _starts(sizes)
        at = np.arange(starts[-1]) + np.repeat(self.starts[numbers] - starts[:-1], sizes)
        return Matrix(starts, self.places[at], self.values[at], (len(numbers), self.shape[1]))

    def keep_columns(self, kept: Flags) -> Matrix:
        """Return the matrix with some of its columns."""
        entries = kept[self.places]
        starts = np.concatenate(([0], np.cumsum(entries)))[self.starts]
        number = np.cumsum(kept) - 1
        return Matrix(starts, number[self.places[entries]], self.values[entries], (self.shape[0], int(kept.sum())))

    def scale_rows(self, factors: Floats) -> Matrix:
        """Return the matrix with every row times its factor."""
        return replace(self, values=self.values * factors[self._row])

    def sum_columns(self) -> Floats:
        """Return the sum of each column."""
        return np.bincount(self.places, self.values, self.shape[1]).astype(np.float64, copy=False)

    def toarray(self) -> Floats:
        """Return the matrix with all its zeros."""
        return self.columns.toarray()


def stack_rows(matrices: Sequence[Matrix]) -> Matrix:
    """Return matrices of the same width one below the other."""
    if len(matrices) == 1:
        return matrices[0]
    return Matrix(
        _starts(np.concatenate([np.diff(one.starts) for one in matrices])),
        np.concatenate([one.places for one in matrices]),
        np.concatenate([one.values for one in matrices]),
        (sum(one.shape[0] for one in matrices), matrices[0].shape[1]),
    )


def stack_columns(left: Matrix, right: Matrix) -> Matrix:
    """Return two matrices of the same height side by side."""
    row = np.concatenate((left._row, right._row))
    order = _order_of(row, left.shape[0])
    places = np.concatenate((left.places, right.places + left.shape[1]))
    values = np.concatenate((left.values, right.values))
    return Matrix(left.starts + right.starts, places[order], values[order], (left.shape[0], left.shape[1] + right.shape[1]))


def _starts(sizes: Ints) -> Ints:
    out = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=out[1:])
    return out


def _order_of(numbers: Ints, below: int) -> Ints:
    if below <= _DIGIT:
        return np.argsort(numbers.astype(np.uint16), kind="stable")
    order = _order_of(numbers % _DIGIT, _DIGIT)
    return order[_order_of(numbers[order] // _DIGIT, (below - 1) // _DIGIT + 1)]


# Programs


def _none() -> Floats:
    return np.empty(0)


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Solution of HiGHS; ``status``: 0 optimal, 1 limit, 2 infeasible.

    ``above`` and ``equal`` are the weights (marginals) of the inequalities and equations of a linear program that was solved, ``bound`` what no
    solution of an integer program is below.
    """

    status: int
    x: Floats | None = None
    value: float | None = None
    steps: int = 0
    above: Floats = field(default_factory=_none)
    equal: Floats = field(default_factory=_none)
    bound: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """Program with a deadline; ``above`` inequalities come first."""

    given: dict[str, Any]
    above: int
    until: float | None
    is_small: bool


class Constraints:
    """Constraints ``low <= matrix @ x <= high`` as inequalities and equations.

    Without ``equations``, an equation is two inequalities.
    """

    def __init__(self, matrix: Matrix, low: Floats, high: Floats, *, equations: bool = True) -> None:
        self._is_equal = low == high if equations else np.zeros(len(low), np.bool_)
        self._has_low = np.isfinite(low) & ~self._is_equal
        self._has_high = np.isfinite(high) & ~self._is_equal
        self.above = stack_rows((matrix[self._has_high], -matrix[self._has_low]))
        self.limits = np.concatenate((high[self._has_high], -low[self._has_low]))
        self.equal = matrix[self._is_equal]
        self.sums = low[self._is_equal]

    @cached_property
    def _columns(self) -> Columns:
        return stack_rows((self.above, self.equal)).columns

    def minimise(self, cost: Floats, seconds: float | None) -> Program:
        """Make a linear program: minimise ``cost @ x``, no unknown below 0."""
        return _linear_program(cost, self._columns, (self.limits, self.sums), (0, np.inf), seconds)

    def duals(self, found: Solution) -> Floats:
        """Return the dual of each constraint."""
        weights = np.zeros(len(self._is_equal))
        of_high, of_low = np.split(found.above, [int(self._has_high.sum())])
        weights[self._is_equal] = found.equal
        weights[self._has_high] += of_high
        weights[self._has_low] -= of_low
        return weights


def linear_program(
    cost: Floats,
    *,
    above: Side | None = None,
    equal: Side | None = None,
    bounds: Any = (0, np.inf),
    seconds: float | None = None,
    interior: bool = False,
) -> Program:
    """Make a linear program that minimises ``cost @ x``.

    These are ``matrix @ x <= limits`` (above) and ``matrix @ x == sums`` (equal), within ``seconds``. Matrices may be those of SciPy. With
    ``interior`` the answer is a point near the middle of all that are best, and no corner; of large programs it is found far sooner.
    """
    inside, limits = above or (None, _none())
    exact, sums = equal or (None, _none())
    matrices = [matrix for matrix in (inside, exact) if matrix is not None and matrix.shape[0]]
    columns = _stack_columns(matrices or [Matrix.empty((0, len(cost)))])
    program = _linear_program(cost, columns, (limits, sums), bounds, seconds)
    return replace(program, given=program.given | {"options": INTERIOR}) if interior else program


def _linear_program(cost: Floats, columns: Columns, ends: tuple[Floats, Floats], bounds: Any, seconds: float | None) -> Program:
    """Make a linear program; first inequalities up to the first ends, then equations."""
    until = _find_deadline(seconds)
    high = np.concatenate(ends)
    low = np.concatenate((np.full(len(ends[0]), -np.inf), ends[1]))
    sides = np.broadcast_to(np.asarray(bounds, np.float64), (len(cost), 2))
    given = _make_arrays(cost, columns, low, high, least=sides[:, 0], most=sides[:, 1])
    given |= {"whole": None, "options": {}}
    return Program(given, len(ends[0]), until, len(columns.values) <= SMALL_LINEAR)


def whole_program(
    cost: Floats,
    *,
    matrix: Any,
    low: Any,
    high: Any,
    most: Any,
    integrality: Any = None,
    nodes: int | None = None,
    gap: float | None = None,
    seconds: float | None = None,
) -> Program:
    """Make an integer program that minimises ``cost @ x``.

    The constraints are ``low <= matrix @ x <= high`` for whole x from 0 to ``most``; the limits are ``seconds`` and ``nodes``.
    """
    until = _find_deadline(LONGEST_WHOLE if seconds is None else seconds)
    # The feasibility jump finds nothing where most rows are equations, and takes a fifth of the time.
    options: dict[str, Any] = {"mip_heuristic_run_feasibility_jump": False}
    options |= {} if nodes is None else {"mip_max_nodes": nodes}
    options |= {} if gap is None else {"mip_rel_gap": gap}
    columns = matrix if isinstance(matrix, Columns) else _stack_columns([matrix])
    given = _make_arrays(cost, columns, low, high, least=0.0, most=most)
    given |= {"whole": np.ones(len(cost), np.int64) if integrality is None else np.asarray(integrality), "options": options}
    return Program(given, 0, until, len(columns.values) <= SMALL_WHOLE)


def _stack_columns(matrices: Sequence[Any]) -> Columns:
    """Stack matrices of Tacit, or of SciPy; return them by columns."""
    if isinstance(matrices[0], Matrix):
        return stack_rows(matrices).columns
    from scipy.sparse import csc_array, vstack

    columns = vstack(matrices, format="csc") if len(matrices) > 1 else csc_array(matrices[0])
    columns.sum_duplicates()
    return Columns(columns.indptr, columns.indices, columns.data.astype(np.float64), columns.shape)


def _make_arrays(cost: Floats, columns: Columns, low: Any, high: Any, *, least: Any, most: Any) -> dict[str, Any]:
    return {
        "cost": np.asarray(cost, np.float64),
        "starts": columns.starts,
        "rows": columns.rows,
        "values": columns.values,
        "low": np.asarray(low, np.float64),
        "high": np.asarray(high, np.float64),
        "least": np.broadcast_to(np.asarray(least, np.float64), len(cost)).copy(),
        "most": np.broadcast_to(np.asarray(most, np.float64), len(cost)).copy(),
    }


def solve_linear(cost: Floats, **given: Any) -> Solution:
    """Solve a :func:`linear_program`."""
    return _solve_one(linear_program(cost, **given), [])


def solve_whole(cost: Floats, **given: Any) -> Solution:
    """Solve a :func:`whole_program`."""
    return _solve_one(whole_program(cost, **given), [])


def solve(programs: Iterable[Program]) -> list[Solution]:
    """Solve programs in parallel, made on demand."""
    return list(solve_ahead(iter(programs), None))


def solve_in_turn(program: Program, further: Sequence[Floats]) -> list[Solution]:
    """Solve a linear program, and then again for each further cost, from the optimum of the one before.

    This takes a tenth of the time of programs by themselves. Those that were not reached in time have the status of a limit.
    """
    answer = _run(replace(program, given=program.given | {"further": [*further]}), [])
    answers = [answer, *(answer or {}).pop("further", [])]
    unsolved = [Solution(highs.LIMIT)] * (1 + len(further) - len(answers))
    return [*(_read_answer(program, one) for one in answers), *unsolved]


def solve_ahead(programs: Iterator[Program], ahead: int | None) -> Iterator[Solution]:
    """Solve programs in parallel; yield solutions in order.

    Of programs to come, so many are made ahead, and each further one when a solution was used: what it asks may rest on that.
    """
    busy: list[_Worker] = []
    waiting: deque[Future[Solution]] = deque()
    with ThreadPoolExecutor(LANES) as lanes:

        def start(program: Program) -> Future[Solution]:
            if not program.is_small:
                return lanes.submit(_solve_one, program, busy)
            done: Future[Solution] = Future()  # starting a thread takes longer than solving it here
            done.set_result(_solve_one(program, busy))
            return done

        try:
            waiting.extend(map(start, islice(programs, ahead)))
            while waiting:
                found = waiting[0].result()
                waiting.popleft()
                yield found
                waiting.extend(map(start, islice(programs, 1)))
        finally:
            # Where this process is told to stop, nobody waits for what is still asked.
            lanes.shutdown(wait=False, cancel_futures=True)
            while not all(one.done() for one in waiting):
                for worker in [*busy]:
                    worker.end()
                time.sleep(0.01)


def _solve_one(program: Program, busy: list[_Worker]) -> Solution:
    return _read_answer(program, _run(program, busy))


def _run(program: Program, busy: list[_Worker]) -> dict[str, Any] | None:
    """Return the answer of HiGHS, None if it failed."""
    left = _seconds_left(program.until)
    given = program.given
    if left is not None:
        given = given | {"options": given["options"] | {"time_limit": max(left, 0.001)}}
    try:
        return highs.run_highs(given) if program.is_small else _ask(given, program.until, busy)
    except _NoWorker:
        return highs.run_highs(given)


def _read_answer(program: Program, answer: dict[str, Any] | None) -> Solution:
    if answer is None:
        return Solution(highs.FAILED)
    weights = answer.pop("weights", _none())
    return Solution(**answer, above=weights[: program.above], equal=weights[program.above :])


def _find_deadline(seconds: float | None) -> float | None:
    left = [one for one in (seconds, seconds_left()) if one is not None]
    return time.monotonic() + min(left) if left else None


def _seconds_left(until: float | None) -> float | None:
    return None if until is None else max(0.0, until - time.monotonic())


class _NoWorker(Exception):
    """A worker cannot be started on this machine."""


class _Worker:
    def __init__(self) -> None:
        command = [sys.executable, "-P", WORKER]
        pipe = subprocess.PIPE
        try:
            self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        except (OSError, ValueError):
            raise _NoWorker from None
        self._is_ready = False
        self._started = threading.Event()
        self._answers: SimpleQueue[bytes | None] = SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        """Await the greeting, then forward answers, None last."""
        assert self.process.stdout is not None
        with suppress(OSError, ValueError):
            self._is_ready = highs.read_message(self.process.stdout) is not None
            self._started.set()
            while (message := highs.read_message(self.process.stdout)) is not None:
                self._answers.put(message)
        self._started.set()
        self._answers.put(None)

    def ask(self, question: bytes, until: float | None) -> None:
        if not self._started.wait(_seconds_left(until)):
            return
        if not self._is_ready:
            raise _NoWorker
        assert self.process.stdin is not None
        with suppress(OSError):  # it has ended, as its answer will tell
            highs.write_message(self.process.stdin, question)

    def answer(self, until: float | None) -> bytes | None:
        """Return the next answer, None after the end, or raise :class:`queue.Empty`."""
        return self._answers.get(timeout=_seconds_left(until))

    def end(self) -> None:
        with suppress(OSError):
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                assert stream is not None
                stream.close()


_idle: list[_Worker] = []
_lock = threading.Lock()


def _ask(given: dict[str, Any], until: float | None, busy: list[_Worker]) -> dict[str, Any] | None:
    until = None if until is None else until + GRACE
    with _lock:
        idle = _idle.pop() if _idle else None
    worker = idle or _Worker()
    busy.append(worker)
    message: bytes | None = None
    try:
        worker.ask(pickle.dumps(given, pickle.HIGHEST_PROTOCOL), until)
        message = worker.answer(until)
        return None if message is None else pickle.loads(message)
    except Empty:
        return {"status": highs.LIMIT}
    finally:
        busy.remove(worker)
        with _lock:
            is_kept = message is not None and len(_idle) < LANES
            if is_kept:
                _idle.append(worker)
        if not is_kept:
            worker.end()


@atexit.register
def end_workers() -> None:
    """End all workers that wait for a program."""
    with _lock:
        waiting = list(_idle)
        _idle.clear()
    for worker in waiting:
        worker.end()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)
