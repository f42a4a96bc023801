"""Where something came from, without saying where it lies on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Source:
    """The base name and the SHA-256 of a file that was read, and how it was read.

    ``header`` is the SHA-256 of the header file beside it, empty where there is none. ``options`` are those that a caller gave to read it.
    """

    name: str
    sha256: str = ""
    header: str = ""
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
