"""naive: Algorithm 1 of Atzori and others.

For every frequent itemset J and every I inside it the signed sum is computed. All channels are counted; the maximal ones are emitted,
which say as much: the groups on a J that is not maximal are unions of groups on a larger one, so a channel is maximal exactly if its J is.
(Definition 16 of the paper, read literally, compares a channel also with itself and with infrequent itemsets, and then no channel is maximal;
what is meant is: no other channel, of frequent itemsets, has at least its present and at least its absent items.)

Cost: ``2**|J|`` sums of up to ``2**|J|`` terms for each frequent itemset J.

Reference: Atzori, Bonchi, Giannotti, Pedreschi, k-Anonymous Patterns, PKDD 2005, Algorithm 1 and Definitions 12 and 16.
"""

from __future__ import annotations

from collections.abc import Iterator

from tacit.itemsets.detectors.family import Emit, Family, Result, group_size, mask_of, single_items

NAME = "naive"


def detect(family: Family, emit: Emit) -> Result:
    """Emit the maximal channels; count all."""
    line_of = {mask_of(items): line for line, items in family.maximal}
    every = maximal = 0
    for whole, n_items, channels in every_channel(family):
        every += len(channels)
        if whole in line_of:
            maximal += len(channels)
            emit(family.found(line_of[whole], n_items, channels))
    return Result(f"naive: {every:,} channels in all, {maximal:,} of them maximal", {"all_channels": every})


def every_channel(family: Family) -> Iterator[tuple[int, int, list[tuple[int, int]]]]:
    """Yield Ch(k, F(D, sigma)) by itemset J."""
    sums = work(family)
    done = 0
    for whole in family.frequent:
        family.pause(done, sums)
        items = [item.bit_length() - 1 for item in single_items(whole)]
        cube = family.cube(items)
        channels = []
        for part in range(1 << len(items)):
            size = group_size(cube, part)
            family.refuse_negative(size, items)
            if 0 < size < family.k:
                channels.append((part, size))
        done += 1 << len(items)
        yield whole, len(items), channels
    family.pause(sums, sums)


def work(family: Family) -> int:
    """Return the number of signed sums."""
    return sum(1 << whole.bit_count() for whole in family.frequent)
