"""How many examples property tests draw."""

from __future__ import annotations

import os


def examples(number: int) -> int:
    """A quarter of them where every run draws the same ones, and all of them where each draws new ones."""
    return min(number, max(15, number // 4)) if os.environ.get("CI") == "true" else number
