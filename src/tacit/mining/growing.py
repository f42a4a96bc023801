"""An array that grows at its end and never holds more memory than was written to it."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
import numpy.typing as npt

#: The first reservation, in bytes; what stays below it becomes an ordinary array.
FIRST = 1 << 16


class Growing:
    """An array that grows at its end.

    Memory is reserved from the system in steps that double, and moved without copying where the system can do that; reserved memory that was
    never written to costs nothing. An array that numpy grows would be copied, or filled with zeros, and take up to twice its size.
    """

    def __init__(self, dtype: npt.DTypeLike) -> None:
        self._dtype = np.dtype(dtype)
        self._memory: mmap.mmap | None = None
        self._used = 0

    def __len__(self) -> int:
        return self._used

    @property
    def nbytes(self) -> int:
        """How much memory was written to."""
        return self._used * self._dtype.itemsize

    def extend(self, values: npt.NDArray[Any]) -> None:
        """Add values at the end."""
        end = self._used + len(values)
        memory = self._reserve(end * self._dtype.itemsize)
        np.frombuffer(memory, self._dtype, len(values), self.nbytes)[:] = values
        self._used = end

    def finish(self) -> npt.NDArray[Any]:
        """The array at its final size; nothing can be added any more."""
        if self._memory is None or self._used == 0:
            return np.empty(0, self._dtype)
        if self.nbytes <= FIRST:
            return np.frombuffer(self._memory, self._dtype, self._used).copy()
        return np.frombuffer(self._memory, self._dtype, self._used)

    def _reserve(self, need: int) -> mmap.mmap:
        """Memory of at least so many bytes that begins with what was written so far."""
        if self._memory is None:
            self._memory = _reserved(max(need, FIRST))
        elif need > len(self._memory):
            size = max(need, 2 * len(self._memory))
            try:
                self._memory.resize(size)
            except (SystemError, ValueError):  # a system that cannot extend memory in place
                larger = _reserved(size)
                larger[: self.nbytes] = self._memory[: self.nbytes]
                self._memory = larger
        return self._memory


def _reserved(size: int) -> mmap.mmap:
    """Memory from the system, of this process alone where the system lets us say so."""
    if hasattr(mmap, "MAP_PRIVATE"):
        return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return mmap.mmap(-1, size)
