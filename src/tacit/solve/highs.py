"""Worker process that calls HiGHS.

This file is also run by its path, as a program of its own: :mod:`tacit.solve.solver` starts it, writes questions to its standard input and
reads answers from its standard output. So it imports nothing of Tacit, and little else: a worker is ready in a tenth of a second.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import sys
import threading
from typing import IO, Any

import numpy as np

HEAD = struct.Struct("<Q")  #: A question or an answer is its length in bytes, then its pickle.

INTERIOR_STEPS = 30  #: A step of the interior point method takes as long as so many of the simplex method.
OPTIMAL, LIMIT, INFEASIBLE, UNBOUNDED, FAILED = range(5)


def run_highs(given: dict[str, Any]) -> dict[str, Any]:
    """Minimise ``cost @ x`` within bounds.

    The bounds are ``low <= matrix @ x <= high`` and ``least <= x <= most``. The matrix is given by columns (``starts``, ``rows``, ``values``),
    ``whole`` says which unknowns are whole numbers, if any. The answer is the arguments of :class:`tacit.solve.solver.Solution`. Where there are
    ``further`` costs, it has an entry ``further`` with the answer for each, found from the optimum of the one before.
    """
    import highspy

    new: Any = highspy.Highs
    solver = new()
    for name, value in (("output_flag", False), ("threads", 1), *given["options"].items()):
        solver.setOptionValue(name, value)
    solver.passModel(_model(highspy, given))
    solver.run()
    status = solver.getModelStatus()
    if status == highspy.HighsModelStatus.kUnboundedOrInfeasible:
        # Presolving cannot tell which of the two it is.
        solver.setOptionValue("presolve", "off")
        solver.run()
        status = solver.getModelStatus()
    answer = _answer_of(highspy, solver, status, is_whole=given["whole"] is not None)
    if len(given.get("further", ())):
        answer["further"] = [_solve_next(highspy, solver, cost) for cost in given["further"]]
    return answer


def _solve_next(highspy: Any, solver: Any, cost: Any) -> dict[str, Any]:
    """Minimise another cost by the primal simplex, from the last feasible point."""
    solver.setOptionValue("simplex_strategy", 4)
    solver.changeColsCost(len(cost), np.arange(len(cost), dtype=np.int32), cost)
    solver.run()
    return _answer_of(highspy, solver, solver.getModelStatus(), is_whole=False)


def _model(highspy: Any, given: dict[str, Any]) -> Any:
    model = highspy.HighsLp()
    model.num_col_ = len(given["cost"])
    model.num_row_ = len(given["low"])
    model.col_cost_ = given["cost"]
    model.col_lower_ = given["least"]
    model.col_upper_ = given["most"]
    model.row_lower_ = given["low"]
    model.row_upper_ = given["high"]
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = given["starts"]
    model.a_matrix_.index_ = given["rows"]
    model.a_matrix_.value_ = given["values"]
    if given["whole"] is not None:
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        model.integrality_ = [kinds[int(is_whole)] for is_whole in given["whole"].tolist()]
    return model


def _answer_of(highspy: Any, solver: Any, status: Any, *, is_whole: bool) -> dict[str, Any]:
    known = highspy.HighsModelStatus
    found = {
        known.kOptimal: OPTIMAL,
        known.kModelEmpty: OPTIMAL,
        known.kInfeasible: INFEASIBLE,
        known.kUnbounded: UNBOUNDED,
        known.kTimeLimit: LIMIT,
        known.kIterationLimit: LIMIT,
        known.kSolutionLimit: LIMIT,
    }.get(status, FAILED)
    info = solver.getInfo()
    steps = max(int(info.simplex_iteration_count), 0) + INTERIOR_STEPS * max(int(info.ipm_iteration_count), 0)
    answer: dict[str, Any] = {"status": found, "steps": steps}
    has_solution = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    if found == OPTIMAL or (found == LIMIT and is_whole and has_solution):
        solution = solver.getSolution()
        answer |= {"x": np.array(solution.col_value), "value": float(info.objective_function_value)}
        if not is_whole:
            answer["weights"] = np.array(solution.row_dual)
    if is_whole:
        answer["bound"] = float(info.mip_dual_bound)
    return answer


def read_message(stream: IO[bytes]) -> bytes | None:
    """Return the next message, or None."""
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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asks
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what libraries print is not an answer
    import highspy  # noqa: F401 - before the first question

    write_message(answers, b"")
    while True:
        question = read_message(sys.stdin.buffer)
        if question is None:
            os._exit(0)
        # The solver has a thread of its own, so that the end of the asking process is noticed while it runs.
        threading.Thread(target=_answer, args=(question, answers), daemon=True).start()


def _answer(question: bytes, answers: IO[bytes]) -> None:
    try:
        answer: dict[str, Any] | None = run_highs(pickle.loads(question))
    except Exception:  # whoever asks counts the program as unsolved
        answer = None
    write_message(answers, pickle.dumps(answer, pickle.HIGHEST_PROTOCOL))


if __name__ == "__main__":
    _serve()
