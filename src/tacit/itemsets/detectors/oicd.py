r"""oicd: Algorithm 2 of Atzori and others.

The PMICD paper calls it OICD. For every maximal itemset J and every closed I inside it the signed sum over the supports between them is
computed; supports are looked up by hash. That I has to be closed costs nothing: the people whose items of J are exactly I have all items
of the closure of I, which lies inside J, so a group on an I that is not closed is empty.

Cost: ``2**|J \ I|`` terms for each pair; the frequent itemsets in memory.

Reference: Atzori, Bonchi, Giannotti, Pedreschi, k-Anonymous Patterns, PKDD 2005, Algorithm 2 and Proposition 17.
"""

from __future__ import annotations

from tacit.itemsets.detectors.family import Emit, Family, Result, group_size, mask_of

NAME = "oicd"


def detect(family: Family, emit: Emit) -> Result:
    """Emit the maximal channels; return the number of sums."""
    pairs = terms = 0
    for done, (line, items) in enumerate(family.maximal):
        family.pause(done, len(family.maximal))
        inside = closed_inside(family, items)
        cube = family.cube(items)
        channels = []
        for part in inside:
            size = group_size(cube, part)
            family.refuse_negative(size, items)
            if 0 < size < family.k:
                channels.append((part, size))
        pairs += len(inside)
        terms += sum(1 << len(items) - part.bit_count() for part in inside)
        emit(family.found(line, len(items), channels))
    family.pause(1, 1)
    return Result(f"oicd: {pairs:,} sums of {terms:,} published supports")


def closed_inside(family: Family, items: tuple[int, ...]) -> list[int]:
    """Return closed subsets of a maximal set, as bits."""
    whole = mask_of(items)
    return [
        sum((part >> item & 1) << place for place, item in enumerate(items)) for part in family.closed if part & whole == part
    ]


def work(family: Family) -> int:
    """Return the number of supports added up."""
    inside = ((len(items), closed_inside(family, items)) for _, items in family.maximal)
    return sum(1 << n_items - part.bit_count() for n_items, parts in inside for part in parts)
