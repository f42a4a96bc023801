"""Objects that show themselves: a line, a card in a notebook, a picture, a frame.

The types of this package hold no words and no pictures. The parts above provide them, and are imported when an object is looked at:
:data:`PROVIDED` is the only place where a part is named by one below it. Lines, cards and pictures are for others to see as well, since
notebooks are shared: they count, and describe no group. Frames hold everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

#: Functions of parts above this one, as ``module.function``.
PROVIDED = {
    "line": "tacit.reports.cards.line_of",
    "card": "tacit.reports.cards.card_of",
    "picture": "tacit.reports.cards.picture_of",
    "headline": "tacit.reports.sentences.headline",
    "frame": "tacit.files.frames.to_frame",
    "report": "tacit.verbs.report.write_report",
    "repair": "tacit.verbs.repair.repair_audited",
}


def provided(name: str) -> Callable[..., Any]:
    """Import a function of :data:`PROVIDED`."""
    module, _, function = PROVIDED[name].rpartition(".")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found


class Shown:
    """Object with a line and a card, both of which only count."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(provided("line")(self))

    def _repr_html_(self) -> str:
        return str(provided("card")(self))


class Drawn(Shown):
    """Object with a picture."""

    __slots__ = ()

    def plot(self) -> Any:
        """Return a picture, which a notebook shows; ``save(path)`` writes it as SVG."""
        return provided("picture")(self)


class Lines(Shown):
    """Object whose ``records()`` are the lines of a frame."""

    __slots__ = ()

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the lines as dictionaries."""
        raise NotImplementedError

    def to_frame(self) -> Any:
        """Return the lines as a frame of pandas, or of polars or Arrow where it is not installed."""
        return provided("frame")(self.records())
