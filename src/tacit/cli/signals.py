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
from contextlib import suppress

#: After Ctrl-C the program has so many seconds to end by itself, with a sentence that says what was written.
PATIENCE = 3.0
TERMINATED = 128 + signal.SIGTERM
INTERRUPTED = 128 + signal.SIGINT


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
            if number == signal.SIGINT and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                patience = PATIENCE


def end(code: int) -> None:
    """Leave at once with this exit code; temporary files are removed, and nothing else runs."""
    if "tacit.model.temporaries" in sys.modules:
        from tacit.model.temporaries import remove_own

        with suppress(Exception):
            remove_own()
    os._exit(code)
