"""How text stands on the terminal."""

from __future__ import annotations

from textwrap import wrap

from tacit.reports.summary import visible

#: How wide lines are where the terminal does not say.
WIDTH = 100
#: A width at which no line is broken.
UNBROKEN = 1_000_000


def bullet(mark: str, text: str, width: int, *, indent: str = "  ") -> list[str]:
    """Text behind a mark, further lines under the first."""
    lead = f"{indent}{mark} "
    room = max(30, width - len(lead))
    lines = wrap(visible(text), room, break_long_words=False, break_on_hyphens=False) or [""]
    return [lead + lines[0], *(" " * len(lead) + line for line in lines[1:])]
