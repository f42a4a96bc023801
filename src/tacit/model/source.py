"""Where something came from, without saying where it lies on this machine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Source:
    """The base name and the SHA-256 of a file that was read."""

    name: str
    sha256: str = ""
