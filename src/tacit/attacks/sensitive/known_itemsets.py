"""What itemsets whose items are values of columns say about the sensitive values of known people, read beside other releases.

An itemset with one sensitive value counts the people with its quasi-identifiers and that value. One without is compared with the known people.
A complete list says that whatever it leaves out does not reach its threshold; only closed sets of known values are looked at, since
others say the same about the same people.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tacit.attacks.sensitive.case import LINE, Pair
from tacit.attacks.sensitive.known import Known, Origin, Reading, Spoken, about, name_of, pair_of
from tacit.attacks.sensitive.missing import Missing, rows_of
from tacit.mining.itemsets import count_itemsets, mine_itemsets
from tacit.model.population import Population
from tacit.model.release import Itemsets
from tacit.model.sets import Sets

#: Closed sets of known values that a complete list is compared with, at most, and comparisons with sets that may hold them.
MOST_CLOSED, MOST_COMPARED = 50_000, 5_000_000

#: By sensitive value: the listed sets that hold it, without it, with the most people that they can have.
Listed = Mapping[str, dict[frozenset[Pair], int]]


def read_itemsets(known: Known, number: int, release: Itemsets) -> Reading:
    """The lines with one sensitive value, and what a complete list leaves out."""
    if release.header.coarser:
        return Reading(left_out=len(release), unread=len(release))
    found = Reading()
    listed: dict[str, dict[frozenset[Pair], int]] = {}
    for index in range(len(release)):
        pairs = [pair_of(release, item) for item in release.sets[index].tolist()]
        own = [value for column, value in pairs if column == known.sensitive]
        rest = tuple(pair for pair in pairs if pair[0] != known.sensitive)
        if len(own) > 1 or not set(own) <= set(known.values) or not known.knows([column for column, _ in rest]):
            found.left_out += 1
            found.unread += bool(own)
            continue
        places, count = known.population.holding(rest), release.count(index)
        if not own:
            known.compare(places, count.lo, count.hi, f"{name_of(release, number)} line {release.line(index)}")
            continue
        listed.setdefault(own[0], {})[frozenset(rest)] = count.hi
        origin = Origin(number, release.line(index), LINE, about(rest))
        found.spoken.append(Spoken(places, known.values.index(own[0]), count.lo, count.hi, origin))
    if listed and release.header.complete and release.min_support is not None and release.items.pairs is not None:
        named = (*(column for column, _ in release.items.pairs), *release.header.columns)
        used = {column: None for column in named if column != known.sensitive}
        inner = known.only(release.header.qi or tuple(used))
        found.missing, found.columns = _missing(known, inner, release, listed), inner.names
        found.left_out += found.missing is None
        found.unread += found.missing is None
    # That closed sets of rounded counts differ, and that others are equal to their closure, is not used.
    found.unread += release.only == "closed" and not release.is_exact
    return found


def _missing(known: Known, inner: Population, release: Itemsets, listed: Listed) -> Missing | None:
    """What follows from sets that are not listed; None where there are too many to look at."""
    least = max(1, release.min_support or 1)
    rows = rows_of(inner)
    sets: list[frozenset[Pair]] = [frozenset()]
    if inner.columns:
        if count_itemsets(rows, min_support=least, only=["closed"])["closed"] > MOST_CLOSED:
            return None
        mined = mine_itemsets(rows, min_support=least, only="closed")
        pairs = mined.items.pairs or ()
        sets += [frozenset(pairs[item] for item in members.tolist()) for members in mined.sets]
    if release.only != "all" and len(sets) * sum(map(len, listed.values())) > MOST_COMPARED:
        return None
    events = [known.population.holding(sorted(one)) for one in sets]
    wholes = np.array([known.people(places) for places in events], np.int64)
    most = np.array(
        [
            [
                whole if known.is_open and value == known.values[-1] else _most(release, one, listed.get(value, {}), least, whole)
                for value in known.values
            ]
            for one, whole in zip(sets, wholes.tolist(), strict=True)
        ],
        np.int64,
    )
    useful = np.flatnonzero((most < wholes[:, None]).any(axis=1)).tolist()
    chosen = [events[place] for place in useful]
    ends = np.cumsum([0, *map(len, chosen)], dtype=np.int64)
    members = np.concatenate(chosen) if chosen else np.empty(0, np.int32)
    return Missing(Sets(ends, members), most[useful], wholes[useful])


def _most(release: Itemsets, one: frozenset[Pair], listed: Mapping[frozenset[Pair], int], least: int, whole: int) -> int:
    """The most people of a closed set who can have a value, as the list has it; all of them where a line says it, or none does."""
    if one in listed:
        return whole
    if release.only == "all":
        return min(whole, least - 1)
    above = [count for larger, count in listed.items() if one <= larger]
    if not above:
        return min(whole, least - 1)
    # Of closed sets, a set that is left out has the count of the largest one that holds it.
    return min(whole, max(above)) if release.only == "closed" and release.is_exact else whole
