"""The one place that knows numba: how kernels are compiled, cached, and announced.

With ``TACIT_NO_JIT=1`` in the environment kernels are plain Python functions, so that the same source runs under a debugger or a coverage
tool, and on a machine without numba.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

#: Whether kernels are compiled.
ENABLED = os.environ.get("TACIT_NO_JIT", "") != "1"

#: What a program may tell its user while kernels compile.
NOTICE = "compiling kernels, first run only"


def kernel(function: Function) -> Function:
    """The function compiled on its first call, without the interpreter lock; compiled code is kept on disk for later runs."""
    return _compiled(function) if ENABLED else function


def part(function: Function) -> Function:
    """A function that kernels call: compiled together with each of them, and not callable fast by itself, which saves compile time."""
    if not ENABLED:
        return function
    import numba

    decorated: Function = numba.njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
    return decorated


def _compiled(function: Function) -> Function:
    import numba

    _listen()
    try:
        dispatcher = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # neither the package's folder nor the user's cache can be written: compile anew in each run
        dispatcher = numba.njit(nogil=True)(function)
    _depend_on_all_sources(dispatcher)
    compiled: Function = dispatcher
    return compiled


def _depend_on_all_sources(dispatcher: Any) -> None:
    """Let a cached kernel expire when any kernel source changes: numba looks only at the file of the kernel itself, not of those it calls."""
    cache_file: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if hasattr(cache_file, "_source_stamp"):
        stats = [(path.name, path.stat()) for path in sorted(Path(__file__).parent.glob("*.py"))]
        cache_file._source_stamp = str([(name, stat.st_mtime_ns, stat.st_size) for name, stat in stats])


def _word_instruction(generate: Callable[[Any, Any], Any], plain: Callable[[int], int]) -> Callable[[Any], int]:
    """A number read off a 64-bit word: ``generate(builder, word)`` makes the machine instruction, ``plain`` is the same in Python."""
    if not ENABLED:
        return lambda word: plain(int(word))
    from numba import types
    from numba.extending import intrinsic

    @intrinsic  # type: ignore[untyped-decorator]
    def instruction(_typing: Any, word: Any) -> Any:
        def code(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return generate(builder, arguments[0])

        return types.int64(types.uint64), code

    made: Callable[[Any], int] = instruction
    return made


def _trailing_zeros(builder: Any, word: Any) -> Any:
    from llvmlite import ir  # type: ignore[import-untyped]

    return builder.cttz(word, ir.Constant(ir.IntType(1), 0))


#: How many ones a 64-bit word holds.
popcount = _word_instruction(lambda builder, word: builder.ctpop(word), int.bit_count)

#: The place of the lowest one of a 64-bit word that is not zero.
lowest_one = _word_instruction(_trailing_zeros, lambda word: (word & -word).bit_length() - 1)


def _has_fast_extract() -> bool:
    """Whether this processor pushes bits together in one fast instruction; the first AMD Zen processors have it, and it is slow there."""
    if not ENABLED:
        return False
    import llvmlite.binding as llvm  # type: ignore[import-untyped]

    return bool(llvm.get_host_cpu_features().get("bmi2")) and llvm.get_host_cpu_name() not in ("znver1", "znver2")


#: Whether :func:`extract` can be called.
HAS_EXTRACT = _has_fast_extract()


def _extract_instruction() -> Callable[[Any, Any], Any]:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic  # type: ignore[untyped-decorator]
    def instruction(_typing: Any, _word: Any, _mask: Any) -> Any:
        def code(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            word = ir.IntType(64)
            pext = builder.module.declare_intrinsic("llvm.x86.bmi.pext.64", (), ir.FunctionType(word, [word, word]))
            return builder.call(pext, arguments)

        return types.uint64(types.uint64, types.uint64), code

    made: Callable[[Any, Any], Any] = instruction
    return made


def _no_extract(_word: Any, _mask: Any) -> Any:
    raise NotImplementedError


#: The bits of a word under a mask, pushed together at the low end; only where ``HAS_EXTRACT``.
extract = _extract_instruction() if HAS_EXTRACT else _no_extract


class _Watch:
    """Adds up the time spent compiling and speaks up once when it passes the patience."""

    def __init__(self, write: Callable[[str], object], patience: float) -> None:
        self._write, self._left = write, patience
        self._depth, self._started = 0, 0.0
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
        write, self._write = self._write, lambda _line: None
        write(NOTICE)


_watch: _Watch | None = None
_listening = False


@contextmanager
def first_run_notice(write: Callable[[str], object], *, patience: float = 1.0) -> Iterator[None]:
    """Within this context, ``write(NOTICE)`` is called once if compiling takes more than ``patience`` seconds in all.

    Nothing is written when compiled kernels are found on disk, however long they then run. ``write`` is called from another thread.
    """
    global _watch  # noqa: PLW0603  numba's listeners are global, too
    outer, _watch = _watch, _Watch(write, patience)
    try:
        yield
    finally:
        _watch.cancel()
        _watch = outer


def _listen() -> None:
    """Pass numba's compile events on to the current watch; done once, with the first kernel."""
    global _listening  # noqa: PLW0603
    if _listening:
        return
    from numba.core import event

    class Forward(event.Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            if _watch is not None:
                _watch.begin()

        def on_end(self, event: Any) -> None:
            if _watch is not None:
                _watch.end()

    event.register("numba:compile", Forward())
    _listening = True
