"""Signals that end the program at once, wherever it is, without leaving temporary files.

Python runs signal handlers between two of its own steps, and a step into a library can take minutes; an exception that a handler raises can also
get lost in one. So a thread of its own waits for signals and ends the program.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from tacit.errors import LimitReached

#: After Ctrl-C the program has so many seconds to end by itself, with a sentence that says what was written.
PATIENCE = 3.0
#: So many seconds after the time limit, and then again and again, whatever still runs is told to stop.
BACKSTOP = 2.5
#: When a library does not return for so many of these, the program ends with the code that says so.
MOST_UNNOTICED = 3
INCOMPLETE = 3
TERMINATED = 128 + signal.SIGTERM
INTERRUPTED = 128 + signal.SIGINT


@dataclass
class _Alarms:
    """How often the time was told to be over while a library ran, and what to say when that is too often."""

    unnoticed: int = 0
    sentence: str = ""


_alarms = _Alarms()


def watch_signals() -> None:
    """End the program on SIGTERM at once, and on Ctrl-C when it does not end by itself."""
    with suppress(AttributeError, ValueError, OSError):
        signal.signal(signal.SIGTERM, _terminated)
    with suppress(AttributeError, ValueError, OSError, RuntimeError):
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        thread = threading.Thread(target=_watch, args=(reading,), daemon=True)
        thread.start()
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)


@contextmanager
def backstop(seconds: float, where: str) -> Iterator[None]:
    """Raise :class:`LimitReached` in what still runs shortly after the time limit, though it never asks for the time.

    Attacks stop as if they had asked, and keep what they found; reading and writing end with nothing half done. :func:`disarm` ends it.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    reached = LimitReached("the time limit was reached", where=where, remedy="Give more time with --time-limit")

    def over(*_: object) -> None:
        _alarms.unnoticed = 0
        raise reached

    _alarms.unnoticed = 0
    _alarms.sentence = str(reached)
    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds + BACKSTOP, min(BACKSTOP, 1.0))
    try:
        yield
    finally:
        disarm()
        signal.signal(signal.SIGALRM, before)


def disarm() -> None:
    """Let what was found be written, though the time is over."""
    _alarms.sentence = ""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)


def _terminated(*_: object) -> None:
    end(TERMINATED)


def _watch(reading: int) -> None:
    """Wait for signals, whose numbers are written by the system's own handler."""
    patience: float | None = None
    while True:
        ready, _, _ = select.select([reading], [], [], patience)
        if not ready:
            end(INTERRUPTED)
        for number in os.read(reading, 64):
            if number == signal.SIGTERM:
                end(TERMINATED)
            if hasattr(signal, "SIGALRM") and number == signal.SIGALRM and _alarms.sentence:
                _alarms.unnoticed += 1
                if _alarms.unnoticed >= MOST_UNNOTICED:
                    with suppress(OSError):
                        os.write(2, f"{_alarms.sentence}\n".encode(errors="backslashreplace"))
                    end(INCOMPLETE)
            if number == signal.SIGINT and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                patience = PATIENCE


def end(code: int) -> None:
    """Leave at once with this exit code; temporary files are removed, and nothing else runs."""
    if "tacit.files.disk" in sys.modules:
        from tacit.files.disk import remove_own

        with suppress(Exception):
            remove_own()
    os._exit(code)
