"""Linear and integer programs, solved within a time limit that holds.

HiGHS looks at its time limit between steps, and a single step of an integer program can take many minutes, in which no signal is handled either.
So all but small programs are solved in a worker process (:mod:`tacit.inference.highs`), which is ended when it does not answer in time. A worker
is started when the first program needs it, is used again, and ends with the process that started it.
"""

from __future__ import annotations

import atexit
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.inference import highs
from tacit.model.policy import seconds_left

Floats = npt.NDArray[np.float64]
#: A matrix, and the number that each of its rows is held to.
Side = tuple[Any, npt.NDArray[Any]]

#: Programs with at most this many non-zero entries are solved here: linear ones, and those over whole numbers.
SMALL_LINEAR = 20_000
SMALL_WHOLE = 2_000
#: A worker is ended so many seconds after the time limit, within which HiGHS mostly notices it by itself.
GRACE = 0.5
#: Without a time limit an integer program is given up after so many seconds: what HiGHS does between two nodes may have no end.
LONGEST_WHOLE = 120.0
#: The program that a worker runs.
WORKER = highs.__file__
#: Workers that are kept for the next program.
MOST_IDLE = 2
#: The status of a program whose time was over, and of one that HiGHS could not solve.
OUT_OF_TIME = 1
FAILED = 4


def _none() -> Floats:
    return np.empty(0)


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """What HiGHS found; ``status`` is 0 for an optimum, 1 for a limit that was reached, 2 where there is no solution.

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
    """A program that can be solved, here or by a worker, within so many seconds."""

    kind: str
    given: dict[str, Any]
    seconds: float | None
    is_small: bool


def linear_program(
    cost: Floats,
    *,
    above: Side | None = None,
    equal: Side | None = None,
    bounds: Any = (0, None),
    method: str = "highs",
    seconds: float | None = None,
) -> Program:
    """Minimise ``cost @ x`` with ``matrix @ x <= limits`` (above) and ``matrix @ x == sums`` (equal), within ``seconds``."""
    left = _least(seconds, seconds_left())
    given: dict[str, Any] = {"c": cost, "bounds": bounds, "method": method, "options": _limited({}, left)}
    entries = 0
    for part, (matrix, ends) in (("ub", above or (None, None)), ("eq", equal or (None, None))):
        if matrix is not None and matrix.shape[0]:
            given |= {f"A_{part}": matrix, f"b_{part}": ends}
            entries += matrix.nnz
    return Program("linear", given, left, entries <= SMALL_LINEAR)


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
    """Minimise ``cost @ x`` over whole x from 0 to ``most`` with ``low <= matrix @ x <= high``, within ``seconds`` and ``nodes``."""
    left = _least(LONGEST_WHOLE if seconds is None else seconds, seconds_left())
    options: dict[str, Any] = {} if nodes is None else {"node_limit": nodes}
    options |= {} if gap is None else {"mip_rel_gap": gap}
    given = {"cost": cost, "matrix": matrix, "low": low, "high": high, "most": most}
    given |= {"integrality": np.ones(len(cost), np.int64) if integrality is None else integrality}
    given |= {"options": _limited(options, left)}
    return Program("whole", given, left, matrix.nnz <= SMALL_WHOLE)


def solve_linear(cost: Floats, **given: Any) -> Solution:
    """Solve a :func:`linear_program`."""
    return solve([linear_program(cost, **given)])[0]


def solve_whole(cost: Floats, **given: Any) -> Solution:
    """Solve a :func:`whole_program`."""
    return solve([whole_program(cost, **given)])[0]


def solve(programs: Sequence[Program]) -> list[Solution]:
    """Solve programs, all but small ones at the same time."""
    asked = [program for program in programs if not program.is_small]
    try:
        answers = _ask(asked) if asked else []
    except _NoWorker:
        answers = [highs.SOLVERS[program.kind](program.given) for program in asked]
    waiting = iter(answers)
    found = (highs.SOLVERS[program.kind](program.given) if program.is_small else next(waiting) for program in programs)
    return [Solution(FAILED) if answer is None else Solution(**answer) for answer in found]


def _least(*seconds: float | None) -> float | None:
    """The least of those that are given."""
    return min((one for one in seconds if one is not None), default=None)


def _limited(options: dict[str, Any], seconds: float | None) -> dict[str, Any]:
    return options if seconds is None else options | {"time_limit": max(seconds, 0.001)}


def _left(until: float | None) -> float | None:
    """Seconds until a moment."""
    return None if until is None else max(0.0, until - time.monotonic())


class _NoWorker(Exception):
    """A worker cannot be started on this machine."""


class _Worker:
    """A process that solves one program after the other."""

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
        """Wait for the greeting, then hand over every answer, and None when there are no more."""
        assert self.process.stdout is not None
        with suppress(OSError, ValueError):
            self._is_ready = highs.read_message(self.process.stdout) is not None
            self._started.set()
            while (message := highs.read_message(self.process.stdout)) is not None:
                self._answers.put(message)
        self._started.set()
        self._answers.put(None)

    def ask(self, question: bytes, until: float | None) -> None:
        """Hand over a question, where the worker is ready in time."""
        if not self._started.wait(_left(until)):
            return
        if not self._is_ready:
            raise _NoWorker
        assert self.process.stdin is not None
        with suppress(OSError):  # it has ended, as its answer will tell
            highs.write_message(self.process.stdin, question)

    def answer(self, until: float | None) -> bytes | None:
        """Return the next answer, or None where the worker has ended; raises :class:`queue.Empty` when the time is over."""
        return self._answers.get(timeout=_left(until))

    def end(self) -> None:
        """End the process, whatever it does."""
        with suppress(OSError):
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                assert stream is not None
                stream.close()


_idle: list[_Worker] = []
_lock = threading.Lock()


def _ask(programs: Sequence[Program]) -> list[dict[str, Any] | None]:
    """Ask a worker each, and end those that give no answer in time, or all where this process is told to stop."""
    out: list[dict[str, Any] | None] = []
    busy: list[tuple[_Worker, float | None]] = []
    try:
        for program in programs:
            busy.append((_take(), None if program.seconds is None else time.monotonic() + program.seconds + GRACE))
        for (worker, until), program in zip(busy, programs, strict=True):
            worker.ask(pickle.dumps((program.kind, program.given), pickle.HIGHEST_PROTOCOL), until)
        while busy:
            worker, until = busy[0]
            try:
                answer = worker.answer(until)
                out.append(None if answer is None else pickle.loads(answer))
            except Empty:
                out.append({"status": OUT_OF_TIME})
                answer = None
            del busy[0]
            if answer is None:
                worker.end()
            else:
                _release(worker)
    finally:
        for worker, _ in busy:
            worker.end()
    return out


def _take() -> _Worker:
    with _lock:
        if _idle:
            return _idle.pop()
    return _Worker()


def _release(worker: _Worker) -> None:
    with _lock:
        if len(_idle) < MOST_IDLE:
            _idle.append(worker)
            return
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
