"""Several cores work on one search; what they find comes out in the order of the work, whoever is faster."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence

from tacit.mining.collector import Piece

#: A job: gives pieces, or None after a step without one.
Job = Callable[[], Iterator[Piece | None]]

#: What may wait for a slower job, in bytes, before faster ones pause.
MOST_WAITING = 4 * 2**20

#: How often the waiting thread looks up, in seconds: at Ctrl-C and at the clock.
POLL = 0.05


class Team:
    """Runs jobs on threads; :meth:`pieces` gives what they find, job after job, and None when there is nothing new yet.

    Only the jobs in front are finished: those behind pause when too much of what they found is waiting.
    """

    def __init__(self, jobs: Sequence[Job], cores: int) -> None:
        self._jobs = jobs
        self._found: list[deque[Piece]] = [deque() for _ in jobs]
        self._finished = [False] * len(jobs)
        self._next, self._front, self._waiting = 0, 0, 0
        self._error: BaseException | None = None
        self._stopped = False
        self._change = threading.Condition()
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(min(cores, len(jobs)))]

    @property
    def share_done(self) -> float:
        """How many of the jobs are finished, from 0 to 1."""
        return sum(self._finished) / len(self._jobs)

    def pieces(self) -> Generator[Piece | None]:
        """What the jobs find, in order; closing the iterator stops all of them."""
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
        """What the job in front has found; empty after a short wait."""
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
        """Take jobs until there are no more."""
        try:
            while (number := self._claim()) is not None:
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

    def _claim(self) -> int | None:
        """The number of the next job."""
        with self._change:
            if self._stopped or self._next == len(self._jobs):
                return None
            self._next += 1
            return self._next - 1

    def _put(self, number: int, piece: Piece | None) -> bool:
        """Leave a piece for the waiting thread, when there is room; False when all is to stop."""
        with self._change:
            while self._waiting > MOST_WAITING and number != self._front and not self._stopped:
                self._change.wait(POLL)
            if piece is not None:
                self._found[number].append(piece)
                self._waiting += piece.nbytes
                self._change.notify_all()
            return not self._stopped
