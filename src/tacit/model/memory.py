"""Sizes of memory, as people write them."""

from __future__ import annotations

import os
import re

from tacit.model.errors import OptionError

_SIZE = re.compile(r"\s*(\d+(?:\.\d*)?)\s*([KMGT]?)B?\s*", re.ASCII)
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def half_of_memory() -> int:
    """Return half of the machine's memory, in bytes."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):
        return 2**62


def in_bytes(number: int) -> str:
    """Return a number of bytes as people write it.

    >>> in_bytes(4 * 10**9), in_bytes(200_000)
    ('4 GB', '0.2 MB')
    """
    return f"{number / 1e9:.3g} GB" if number >= 10**9 else f"{number / 1e6:.3g} MB"


def parse_bytes(text: str, *, where: str) -> int:
    """Return the bytes of a size such as ``4GB``.

    >>> parse_bytes("1.5 GB", where="--memory")
    1500000000
    """
    found = _SIZE.fullmatch(text.upper())
    size = int(float(found[1]) * _UNITS[found[2]]) if found else 0
    if not size:
        raise OptionError("is not a size of memory", where=where, remedy="Write for instance 4GB")
    return size
