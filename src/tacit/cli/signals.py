"""Signals that end the program without temporary files.

Python runs signal handlers between two of its own instructions, and a call into a library can take minutes; an exception that a handler
raises can also get lost in one. So a separate thread waits for signals and ends the program.
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

#: Seconds after Ctrl-C in which the program may end by itself, with a sentence about what was written.
PATIENCE = 3.0
#: Seconds after the time limit at which whatever still runs is told to stop, and then again and again.
BACKSTOP = 2.5
#: Number of such alarms after which the program ends although a library does not return.
MOST_UNNOTICED = 3
INCOMPLETE = 3
TERMINATED = 128 + signal.SIGTERM
INTERRUPTED = 128 + signal.SIGINT


@dataclass
class _Alarms:
    """Unnoticed alarms, and the sentence to end with."""

    unnoticed: int = 0
    sentence: str = ""


_alarms = _Alarms()


def watch_signals() -> None:
    """End the program on SIGTERM and stubborn Ctrl-C."""
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
    """Raise :class:`LimitReached` in code without time checks.

    Attacks stop as if they had checked, and keep what they found; reading and writing leave nothing half done. :func:`disarm` ends it.
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
    """Cancel the alarm, so that results are written."""
    _alarms.sentence = ""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)


def _terminated(*_: object) -> None:
    end(TERMINATED)


def _watch(reading: int) -> None:
    """Wait for signals on the wakeup pipe."""
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
    """Exit at once; remove only temporary files."""
    if "tacit.files.disk" in sys.modules:
        from tacit.files.disk import remove_own

        with suppress(Exception):
            remove_own()
    os._exit(code)
