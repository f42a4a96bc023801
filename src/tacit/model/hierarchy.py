"""A tree of coarser and coarser values of one column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

#: The root that every value belongs to; it says nothing and is never an item.
ROOT = "*"


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Coarser values of a column: ``levels[value]`` lists what the value belongs to, from finest to coarsest, without the root.

    ``file`` is where it stands, for errors. ``repeated[value]`` levels above the value only repeat it: whoever counts levels counts them.

    >>> tree = Hierarchy("race", {"Black": ("Non-White",), "White": ()})
    >>> tree.nodes
    ('Non-White',)
    """

    column: str
    levels: dict[str, tuple[str, ...]]
    file: str = field(default="hierarchies", compare=False)
    repeated: Mapping[str, int] = field(default_factory=dict)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The coarser values, sorted."""
        return tuple(sorted({node for chain in self.levels.values() for node in chain}))

    def members(self, node: str) -> tuple[str, ...]:
        """The raw values that belong to ``node``, sorted."""
        return tuple(sorted(value for value, chain in self.levels.items() if node in chain))
