"""Programs that are solved in a worker process, which is ended when it does not answer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from tacit.model.policy import time_limit
from tacit.solve import solver
from tacit.solve.highs import FAILED, LIMIT, OPTIMAL
from tacit.solve.solver import solve_linear, solve_whole

MATRIX = csr_array(np.array([[1.0, 2.0], [3.0, 1.0]]))
LIMITS = np.array([4.0, 6.0])
COST = np.array([-1.0, -1.0])
#: A worker that says it is ready and then never answers.
SILENT = "import struct, sys, time\nsys.stdout.buffer.write(struct.pack('<Q', 0))\nsys.stdout.buffer.flush()\ntime.sleep(600)\n"
#: One that ends as soon as it is asked.
SHORT_LIVED = (
    "import struct, sys\nsys.stdout.buffer.write(struct.pack('<Q', 0))\nsys.stdout.buffer.flush()\nsys.stdin.buffer.read(1)\n"
)


@pytest.fixture(autouse=True)
def own_workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every program goes to a worker, and none is left from or for other tests."""
    solver.end_workers()
    monkeypatch.setattr(solver, "SMALL_LINEAR", -1)
    monkeypatch.setattr(solver, "SMALL_WHOLE", -1)
    yield
    solver.end_workers()


def use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str) -> None:
    script = tmp_path / "worker.py"
    script.write_text(program)
    monkeypatch.setattr(solver, "WORKER", str(script))


def linear(seconds: float | None = None) -> solver.Solution:
    return solve_linear(COST, above=(MATRIX, LIMITS), seconds=seconds)


def whole(seconds: float | None = None) -> solver.Solution:
    return solve_whole(COST, matrix=MATRIX, low=np.zeros(2), high=LIMITS, most=10.0, seconds=seconds)


def test_a_worker_answers_as_this_process_does(monkeypatch: pytest.MonkeyPatch) -> None:
    far = linear(), whole()
    assert len(solver._idle) == 1, "the worker is used again"
    monkeypatch.setattr(solver, "SMALL_LINEAR", 100)
    monkeypatch.setattr(solver, "SMALL_WHOLE", 100)
    for one, other in zip(far, (linear(), whole()), strict=True):
        assert (one.status, one.value, one.steps, one.bound) == (other.status, other.value, other.steps, other.bound)
        assert one.x is not None
        assert other.x is not None
        assert one.x.tolist() == other.x.tolist()
        assert one.above.tolist() == other.above.tolist()


def test_programs_are_solved_side_by_side_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    costs = [COST * factor for factor in (1, 2, 3)]
    programs = [solver.linear_program(cost, above=(MATRIX, LIMITS)) for cost in costs]
    monkeypatch.setattr(solver, "SMALL_LINEAR", 100)
    programs.insert(1, solver.linear_program(COST * 4, above=(MATRIX, LIMITS)))
    assert [program.is_small for program in programs] == [False, True, False, False]
    one = solve_linear(COST, above=(MATRIX, LIMITS)).value
    assert one is not None
    assert [found.value for found in solver.solve(programs)] == [pytest.approx(one * factor) for factor in (1, 4, 2, 3)]
    assert len(solver._idle) == min(solver.LANES, 3)


@pytest.mark.parametrize("small", [-1, 10**6])
def test_costs_in_turn_have_the_optima_and_weights_of_costs_alone(monkeypatch: pytest.MonkeyPatch, small: int) -> None:
    monkeypatch.setattr(solver, "SMALL_LINEAR", small)
    random = np.random.default_rng(3)
    people = random.integers(0, 9, 24).astype(float)
    dense = (random.random((10, 24)) < 0.4).astype(float)
    row, column = np.nonzero(dense)
    matrix = solver.Matrix.of_entries(row, column, np.ones(len(row)), (10, 24))
    printed = dense @ people
    constraints = solver.Constraints(matrix, np.where(np.arange(10) < 6, printed, printed - 2), printed)
    costs = [np.sign(random.random(24) - 0.5) for _ in range(12)]
    costs.insert(5, np.full(24, -np.inf))  # a cost that HiGHS refuses
    alone = solver.solve([constraints.minimise(cost, None) for cost in costs])
    in_turn = solver.solve_in_turn(constraints.minimise(costs[0], None), costs[1:])
    assert [one.status for one in in_turn] == [one.status for one in alone]
    assert {one.status for one in alone} > {OPTIMAL}
    for cost, one, other in zip(costs, in_turn, alone, strict=True):
        if other.status != OPTIMAL:
            continue
        assert one.value == pytest.approx(other.value)
        assert one.x is not None
        assert one.x @ cost == pytest.approx(one.value)
        weights = constraints.duals(one)
        assert (cost - weights @ dense >= -1e-6).all(), "the weights prove that nothing is cheaper"


def test_costs_in_turn_that_are_not_reached_in_time_are_unsolved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    use(monkeypatch, tmp_path, SILENT)
    constraints = solver.Constraints(solver.Matrix.diagonal(np.ones(2)), np.zeros(2), np.ones(2))
    assert [one.status for one in solver.solve_in_turn(constraints.minimise(COST, 0.2), [-COST])] == [LIMIT, LIMIT]


def test_a_worker_that_does_not_answer_in_time_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    use(monkeypatch, tmp_path, SILENT)
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def start(*args: object, **how: object) -> subprocess.Popen[bytes]:
        started.append(popen(*args, **how))  # type: ignore[call-overload]
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    begun = time.monotonic()
    assert linear(seconds=0.2).status == LIMIT
    with time_limit(0.2):
        assert whole().status == LIMIT, "the deadline of all that runs holds as well"
    assert time.monotonic() - begun < 60
    assert [one.poll() is None for one in started] == [False, False]
    assert solver._idle == []


def test_a_worker_that_ends_leaves_its_program_unsolved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    use(monkeypatch, tmp_path, SHORT_LIVED)
    assert linear().status == FAILED
    assert linear().x is None
    assert solver._idle == []


@pytest.mark.parametrize("program", ["raise SystemExit(1)\n", None])
def test_without_a_worker_programs_are_solved_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str | None) -> None:
    if program is None:
        monkeypatch.setattr(sys, "executable", str(tmp_path / "missing"))
    else:
        use(monkeypatch, tmp_path, program)
    assert linear().status == 0
    assert whole().value == pytest.approx(-2.0)


def test_a_worker_is_ended_when_whoever_waits_is_interrupted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    use(monkeypatch, tmp_path, SILENT)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupted)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            linear()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert solver._idle == []


def test_a_worker_ends_with_the_process_that_started_it() -> None:
    source = (
        "import numpy as np, time\n"
        "from scipy.sparse import csr_array\n"
        "from tacit.solve import solver as solving\n"
        "solving.SMALL_LINEAR = -1\n"
        "solving.solve_linear(np.ones(1), above=(csr_array(np.ones((1, 1))), np.ones(1)))\n"
        "print(solving._idle[0].process.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        os.kill(worker, 0)
        parent.kill()
    for _ in range(300):
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{worker}/stat").exists() and Path(f"/proc/{worker}/stat").read_text().split()[2] == "Z":
            return
        time.sleep(0.1)
    pytest.fail("the worker outlived the process that started it")
