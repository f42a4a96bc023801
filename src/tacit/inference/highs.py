"""Calls of HiGHS through SciPy, and the worker process that answers them.

This file is also run by its path, as a program of its own: :mod:`tacit.inference.solving` starts it, writes questions to its standard input and
reads answers from its standard output. So it imports nothing of Tacit.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import sys
import threading
from typing import IO, Any

#: A question or an answer is its length in bytes, then its pickle.
HEAD = struct.Struct("<Q")


def solve_linear(given: dict[str, Any]) -> dict[str, Any]:
    """Solve a linear program; the arguments are those of :func:`scipy.optimize.linprog`."""
    from scipy.optimize import linprog

    solve: Any = linprog
    found = solve(**given)
    answer = {"status": int(found.status), "x": found.x, "value": found.fun, "steps": int(found.nit)}
    if found.status == 0:
        answer["above"] = found.ineqlin.marginals
        answer["equal"] = found.eqlin.marginals
    return answer


def solve_whole(given: dict[str, Any]) -> dict[str, Any]:
    """Solve an integer program: rows ``low <= matrix @ x <= high``, unknowns from 0 to ``most``."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    matrix = given["matrix"]
    found = milp(
        given["cost"],
        integrality=given["integrality"],
        bounds=Bounds(0, given["most"]),
        constraints=LinearConstraint(matrix, given["low"], given["high"]) if matrix.shape[0] else (),
        options=given["options"],
    )
    return {"status": int(found.status), "x": found.x, "value": found.fun, "bound": found.mip_dual_bound}


#: Kinds of programs by the name that questions give.
SOLVERS = {"linear": solve_linear, "whole": solve_whole}


def read_message(stream: IO[bytes]) -> bytes | None:
    """Return the next message, or None at the end of the stream."""
    head = stream.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    (size,) = HEAD.unpack(head)
    body = stream.read(size)
    return body if len(body) == size else None


def write_message(stream: IO[bytes], body: bytes) -> None:
    """Write one message."""
    stream.write(HEAD.pack(len(body)))
    stream.write(body)
    stream.flush()


def _serve() -> None:
    """Answer questions until whoever asks them has gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asks
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what libraries print is not an answer
    import scipy.optimize  # noqa: F401 - what takes long to import, before the first question

    write_message(answers, b"")
    while True:
        question = read_message(sys.stdin.buffer)
        if question is None:
            os._exit(0)
        # The solver has a thread of its own, so that the end of the asking process is noticed while it runs.
        threading.Thread(target=_answer, args=(question, answers), daemon=True).start()


def _answer(question: bytes, answers: IO[bytes]) -> None:
    try:
        kind, given = pickle.loads(question)
        answer: dict[str, Any] | None = SOLVERS[kind](given)
    except Exception:  # whoever asks counts the program as unsolved
        answer = None
    write_message(answers, pickle.dumps(answer, pickle.HIGHEST_PROTOCOL))


if __name__ == "__main__":
    _serve()
