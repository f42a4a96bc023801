"""Whether the numbers of a release can all be true of some group of people, as far as pairs of lines show it.

Checked are: counts from 0 to n; no rule with more people than its antecedent; one line per set; and no set with more people than a published
part of it. The last is complete where the release is closed under subsets or small enough to compare every pair of lines; a large release
with gaps is compared with the subsets that are smaller by one or two items. What only many lines together contradict is found by the attacks.
"""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from tacit.errors import Contradiction, InputError, numbered
from tacit.formats.selection import selected
from tacit.formats.subsets import Clash, any_clash
from tacit.model.release import Counts, Itemsets, Listed, Rules
from tacit.model.sets import Sets


def check_release(release: Listed) -> Listed:
    """The release without lines that say what another line says as well; a :class:`Contradiction` names the lines that cannot both be true."""
    if isinstance(release, Rules):
        _check_sides(release)
    _check_ends(release)
    release = _without_repeats(release)
    events = _events(release)
    clash = any_clash(events.sets, events.lo, events.hi)
    if clash is not None:
        _report(release, events, clash)
    return release


class _Events(NamedTuple):
    """Everything a release counts, as sets with ends; ``lines[i]`` is the position of the line that says it."""

    sets: Sets
    lo: Counts
    hi: Counts
    lines: npt.NDArray[np.int64]


def _events(release: Listed) -> _Events:
    positions = np.arange(len(release), dtype=np.int64)
    if isinstance(release, Itemsets):
        return _Events(release.sets, release.lo, release.hi, positions)
    both = united(release.antecedents, release.consequents)
    sets = Sets(
        np.concatenate((both.offsets, release.antecedents.offsets[1:] + both.offsets[-1])),
        np.concatenate((both.members, release.antecedents.members)),
    )
    lo, hi = np.concatenate((release.lo, release.whole_lo)), np.concatenate((release.hi, release.whole_hi))
    return _Events(sets, lo, hi, np.concatenate((positions, positions)))


def united(left: Sets, right: Sets) -> Sets:
    """The union of each pair of sets."""
    rows = np.concatenate((left.owners(), right.owners()))
    return Sets.from_pairs(rows, np.concatenate((left.members, right.members)), len(left))


def _at(release: Listed, *positions: int) -> dict[str, Any]:
    """Where a message points: the file with its lines in words, and the lines."""
    lines = sorted({release.line(position) for position in positions})
    name = release.source.name if release.source is not None else "release"
    return {"where": f"{name}, {numbered(lines)}", "lines": lines}


def _check_sides(release: Rules) -> None:
    """Antecedent and consequent share no item."""
    shared = np.flatnonzero(
        united(release.antecedents, release.consequents).lengths < release.antecedents.lengths + release.consequents.lengths
    )
    if len(shared):
        where = _at(release, int(shared[0]))["where"]
        raise InputError("antecedent and consequent share an item", where=where, remedy="Write each item on one side")


def _check_ends(release: Listed) -> None:
    """Counts from 0 to n, and not more people in a rule than in its antecedent."""
    ends = [(release.lo, release.hi)] + ([(release.whole_lo, release.whole_hi)] if isinstance(release, Rules) else [])
    for lo, hi in ends:
        _first(release, lo > hi, "no whole number of people fits the line")
        _first(release, hi < 0, "the count is negative")
        if release.n is not None:
            _first(release, lo > release.n, f"the count is above n = {release.n}")
    if isinstance(release, Rules):
        _first(release, release.lo > release.whole_hi, "more people fit the rule than its antecedent: its confidence is above 1")


def _first(release: Listed, wrong: npt.NDArray[np.bool_], what: str) -> None:
    found = np.flatnonzero(wrong)
    if len(found):
        raise Contradiction(what, remedy="Correct the line or n", **_at(release, int(found[0])))


def _without_repeats(release: Listed) -> Listed:
    """One line per set. Of lines about the same set one must say all that the others say: the narrowest stays."""
    if isinstance(release, Itemsets):
        keys, ends = release.sets.hashes(), np.stack((release.lo, release.hi))
    else:
        # The multiplier is odd, so that a rule and its converse get different numbers.
        keys = release.antecedents.hashes() * np.uint64(0x9E3779B97F4A7C15) + release.consequents.hashes()
        ends = np.stack((release.lo, release.hi, release.whole_lo, release.whole_hi))
    _, first, group, sizes = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    if len(first) == len(keys):
        return release
    kept = np.ones(len(keys), bool)
    members = np.flatnonzero(sizes[group] > 1)
    for positions in np.split(members[np.argsort(group[members], kind="stable")], np.cumsum(sizes[sizes > 1])[:-1]):
        kept[positions] = False
        kept[_narrowest(release, ends, positions.tolist())] = True
    return selected(release, np.flatnonzero(kept))


def _narrowest(release: Listed, ends: Counts, positions: list[int]) -> list[int]:
    """Of lines with one hash: for each set the line that says most, the first of equals."""
    chosen: dict[tuple[bytes, ...], int] = {}
    for position in positions:
        name = _set_name(release, position)
        other = chosen.setdefault(name, position)
        inside, outside = _within(ends, other, position), _within(ends, position, other)
        if outside and not inside:
            chosen[name] = position
        elif not inside:
            what = "the same itemset" if isinstance(release, Itemsets) else "the same rule"
            raise Contradiction(
                f"{what} stands twice with different numbers",
                remedy="Keep one of the two lines",
                **_at(release, other, position),
            )
    return list(chosen.values())


def _set_name(release: Listed, position: int) -> tuple[bytes, ...]:
    if isinstance(release, Itemsets):
        return (release.sets[position].tobytes(),)
    return release.antecedents[position].tobytes(), release.consequents[position].tobytes()


def _within(ends: Counts, inner: int, outer: int) -> bool:
    """Whether each interval of one line lies within that of the other."""
    lows, highs = ends[0::2], ends[1::2]
    return bool((lows[:, inner] >= lows[:, outer]).all() and (highs[:, inner] <= highs[:, outer]).all())


def _report(release: Listed, events: _Events, clash: Clash) -> NoReturn:
    larger, smaller = (int(events.lines[position]) for position in clash)
    if isinstance(release, Itemsets):
        what = f"the itemset of line {release.line(larger)} holds that of line {release.line(smaller)} but is more frequent"
    elif len(events.sets[clash.larger]) == len(events.sets[clash.smaller]):
        what = "the two rules give the same set of items different numbers of people"
    else:
        what = f"items of line {release.line(larger)} include items of line {release.line(smaller)} but are more frequent"
    raise Contradiction(what, remedy="Correct one of the two", **_at(release, larger, smaller))
