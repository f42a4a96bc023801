"""Kernels: interpreted on little data, compiled on much.

Starting numba takes a third of a second, longer than a small audit, and compiling takes seconds. A kernel therefore runs as the plain Python
function that it is, or as a *twin* of it in numpy, until the work of all kernels adds up to :data:`PLAIN_STEPS`, or to
:data:`PLAIN_STEPS_AT_FIRST` where no kernel was compiled before. Then it is compiled, and kept on disk for later runs. All give the same
results.

With ``TACIT_NO_JIT=1`` in the environment kernels are never compiled, so that the same source runs under a debugger or a coverage tool, and on
a machine without numba.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, update_wrapper
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Function = TypeVar("Function", bound=Callable[..., Any])

ENABLED = os.environ.get("TACIT_NO_JIT", "") != "1"  #: True if kernels may be compiled.

PLAIN_STEPS = 500_000  #: Steps of plain Python that take less time than numba takes to start.
PLAIN_STEPS_AT_FIRST = 8_000_000  #: Steps that take two seconds at most, less than it takes to compile some kernels.

NOTICE = "compiling kernels, first run only"  #: Message for the user while kernels compile.

_lock = threading.RLock()
_steps_done = 0

#: Functions whose type compiled code has yet to be told, each with a function that makes what compiled code calls.
_undeclared: list[tuple[Any, Callable[[], Any]]] = []


class Kernel(Generic[Parameters, Result]):
    """Function over arrays, compiled for large inputs.

    ``plain`` is the Python function. ``steps`` estimates from its arguments how often its innermost statement runs. A ``twin`` does ``pace``
    steps in the time of a plain one.
    """

    def __init__(
        self,
        plain: Callable[Parameters, Result],
        steps: Callable[Parameters, int],
        twin: Callable[..., Any] | None,
        pace: int,
    ) -> None:
        update_wrapper(self, plain)
        self.plain = plain
        self.twin = twin
        self._pace = pace
        self._steps = steps
        self._dispatcher: Callable[Parameters, Result] | None = None
        self._run: Callable[Parameters, Result] = self._choose if ENABLED else self._run_plain

    def __call__(self, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        """Run the function, compiled or not."""
        return self._run(*args, **kwargs)

    @property
    def compiled(self) -> Callable[Parameters, Result]:
        """Dispatcher that numba compiles or loads when called."""
        with _lock:
            if self._dispatcher is None:
                _declare()
                self._dispatcher = _compile(self.plain)
            return self._dispatcher

    def _choose(self, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        global _steps_done  # noqa: PLW0603  a start of numba serves all kernels
        steps = _steps_done + self._steps(*args, **kwargs) // self._pace
        if steps <= PLAIN_STEPS or (steps <= PLAIN_STEPS_AT_FIRST and not _was_compiled()):
            _steps_done = steps
            run: Callable[Parameters, Result] = self.twin or self._run_plain
            return run(*args, **kwargs)
        self._run = self.compiled
        return self._run(*args, **kwargs)

    def _run_plain(self, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        import numpy as np

        with np.errstate(over="ignore"):  # machine code wraps around silently, as hashing wants it
            return self.plain(*args, **kwargs)


def kernel(
    *, steps: Callable[..., int], twin: Callable[..., Any] | None = None, pace: int = 1
) -> Callable[[Callable[Parameters, Result]], Kernel[Parameters, Result]]:
    """Make a function a :class:`Kernel`."""
    return lambda function: Kernel(function, steps, twin, pace)


@cache
def _was_compiled() -> bool:
    """Return True if numba was started, or finds compiled kernels where it keeps them."""
    if "numba" in sys.modules:
        return True
    folder = os.environ.get("NUMBA_CACHE_DIR")
    places = [Path(folder)] if folder else [Path(__file__).parent / "__pycache__", Path.home() / ".cache" / "numba"]
    return any(next(place.rglob("*.nbi"), None) is not None for place in places)


def part(function: Function) -> Function:
    """Make a function callable from kernels."""
    return _replace(function, lambda: _make_part(function))


def part_with_extract(fast: Callable[..., Any]) -> Callable[[Function], Function]:
    """Like :func:`part`, with ``fast`` using :func:`extract`."""
    return lambda function: _replace(function, lambda: _make_part(fast if _has_fast_extract() else function))


def _replace(function: Function, make: Callable[[], Any]) -> Function:
    """Replace a function in compiled code by ``make()``."""
    if ENABLED:
        with _lock:
            _undeclared.append((function, make))
    return function


def _make_part(function: Callable[..., Any]) -> Any:
    import numba

    return numba.njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)


def _declare() -> None:
    _start()
    from numba.core.registry import cpu_target

    made = [(function, make()) for function, make in _undeclared]
    _undeclared.clear()
    cpu_target.typing_context.refresh()
    for function, replacement in made:
        function._replacement = replacement  # numba itself does not keep it alive
        function._numba_type_ = cpu_target.typing_context.resolve_value_type(replacement)


@cache
def _start() -> None:
    """Import numba without scipy, and forward its compile events."""
    import numba
    from numba.core import event
    from numba.np import linalg

    # Numba imports scipy to see if matrix products would work. Scipy is there, and no kernel multiplies matrices.
    ensure = linalg.ensure_blas
    linalg.ensure_blas = lambda: None
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        linalg.ensure_blas = ensure

    class Forward(event.Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            _watch.begin()

        def on_end(self, event: Any) -> None:
            _watch.end()

    event.register("numba:compile", Forward())


def _compile(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    import numba

    try:
        dispatcher: Callable[Parameters, Result] = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # neither the package's folder nor the user's cache can be written: compile in each run
        dispatcher = numba.njit(nogil=True)(function)
    cache_file: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if hasattr(cache_file, "_source_stamp"):
        cache_file._source_stamp = _stamp_sources()
    return dispatcher


@cache
def _stamp_sources() -> str:
    # Numba itself looks only at the file of a kernel, not at those of the functions it calls.
    stats = [(path.name, path.stat()) for path in sorted(Path(__file__).parent.glob("*.py"))]
    return str([(name, stat.st_mtime_ns, stat.st_size) for name, stat in stats])


def popcount(word: Any) -> int:
    """Count the ones of a 64-bit word."""
    return int(word).bit_count()


def lowest_one(word: Any) -> int:
    """Return the lowest set bit's place."""
    number = int(word)
    return (number & -number).bit_length() - 1


def extract(_word: Any, _mask: Any) -> Any:
    """Extract masked bits of a word (compiled only)."""
    raise NotImplementedError


def _count_trailing_zeros(builder: Any, arguments: Any) -> Any:
    from llvmlite import ir  # type: ignore[import-untyped]

    return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))


def _extract_bits(builder: Any, arguments: Any) -> Any:
    from llvmlite import ir

    word = ir.IntType(64)
    pext = builder.module.declare_intrinsic("llvm.x86.bmi.pext.64", (), ir.FunctionType(word, [word, word]))
    return builder.call(pext, arguments)


def _make_instruction(generate: Callable[[Any, Any], Any], result: str, arity: int) -> Any:
    from numba import types
    from numba.extending import intrinsic

    def code(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return generate(builder, arguments)

    signature = getattr(types, result)(*[types.uint64] * arity)
    if arity == 1:
        return intrinsic(lambda _typing, _word: (signature, code))
    return intrinsic(lambda _typing, _word, _mask: (signature, code))


_replace(popcount, lambda: _make_instruction(lambda builder, arguments: builder.ctpop(arguments[0]), "int64", 1))
_replace(lowest_one, lambda: _make_instruction(_count_trailing_zeros, "int64", 1))
_replace(extract, lambda: _make_instruction(_extract_bits, "uint64", 2))


def _has_fast_extract() -> bool:
    import llvmlite.binding as llvm  # type: ignore[import-untyped]

    return bool(llvm.get_host_cpu_features().get("bmi2")) and llvm.get_host_cpu_name() not in ("znver1", "znver2")


class _Watch:
    """Time spent compiling, announced once it passes the patience."""

    def __init__(self, write: Callable[[str], object], patience: float) -> None:
        self._write = write
        self._left = patience
        self._depth = 0
        self._started = 0.0
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()

    def begin(self) -> None:
        with self._lock:
            self._depth += 1
            if self._depth == 1:
                self._started = time.perf_counter()
                self._timer = threading.Timer(max(self._left, 0.0), self._speak)
                self._timer.daemon = True
                self._timer.start()

    def end(self) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._left -= time.perf_counter() - self._started
                self.cancel()

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _speak(self) -> None:
        write = self._write
        self._write = lambda _line: None
        write(NOTICE)


def _tell(text: str) -> None:
    """Write a line to standard error, if there is one."""
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"tacit: {text}\n")
        sys.stderr.flush()


PATIENCE = 1.0  #: Seconds of compiling before anybody is told.
_watch = _Watch(_tell, PATIENCE)  #: The current listener: from Python a line on standard error, once in a process.


@contextmanager
def first_run_notice(write: Callable[[str], object], *, patience: float = PATIENCE) -> Iterator[None]:
    """Write ``NOTICE`` once if compiling exceeds ``patience`` seconds, in place of the line on standard error.

    Nothing is written when compiled kernels are found on disk, however long they then run. ``write`` is called from another thread.
    """
    global _watch  # noqa: PLW0603  numba's listeners are global, too
    outer = _watch
    _watch = _Watch(write, patience)
    try:
        yield
    finally:
        _watch.cancel()
        _watch = outer
