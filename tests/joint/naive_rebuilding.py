"""Rebuilding people by trying every population: the slow twin of :mod:`tacit.joint.rebuilding`.

Counts are taken from the fitted trees by walking them person by person; nothing of Tacit is used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np

Kind = tuple[int, ...]  #: A person: columns of 0 and 1, and the class last.


def leaf_counts(tree: Any, people: Sequence[Kind]) -> Counter[tuple[int, int]]:
    """Return how many people of each class are in each leaf."""
    leaves = tree.apply(np.array([person[:-1] for person in people], np.float32))
    return Counter((int(leaf), person[-1]) for leaf, person in zip(leaves, people, strict=True))


def worlds(trees: Sequence[Any], people: Sequence[Kind]) -> Iterator[Counter[Kind]]:
    """Yield every population of as many people with the same counts in all leaves."""
    kinds = list(product((0, 1), repeat=len(people[0])))
    places = [leaf_places(tree, kinds) for tree in trees]
    wanted = [Counter(table[person] for person in people) for table in places]
    for chosen in combinations_with_replacement(kinds, len(people)):
        if all(Counter(table[person] for person in chosen) == counts for table, counts in zip(places, wanted, strict=True)):
            yield Counter(chosen)


def leaf_places(tree: Any, kinds: Sequence[Kind]) -> dict[Kind, tuple[int, int]]:
    """Return the leaf and class of each kind of person."""
    leaves = tree.apply(np.array([kind[:-1] for kind in kinds], np.float32))
    return {kind: (int(leaf), kind[-1]) for leaf, kind in zip(leaves, kinds, strict=True)}


def rebuilt(found: Sequence[Counter[Kind]]) -> Counter[Kind]:
    """Return how many people of each kind all populations have at least."""
    kinds = {kind for world in found for kind in world}
    least = {kind: min(world[kind] for world in found) for kind in kinds}
    return Counter({kind: number for kind, number in least.items() if number})
