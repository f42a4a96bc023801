"""The itemsets on which a release can give a group away: the maximal ones, and those just below the threshold."""

from __future__ import annotations

import numpy as np

from tacit.errors import OptionError
from tacit.kernels.book import Book
from tacit.kernels.counting import maximal_flags
from tacit.model.items import Items
from tacit.model.release import Itemsets
from tacit.model.sets import Sets

#: A release that stands for more frequent itemsets than this is not looked at below its threshold.
MOST_FREQUENT = 1 << 25


def in_items(sets: Sets, names: tuple[str, ...], items: Items) -> Sets:
    """Sets over one list of names as sets over another."""
    number = {name: i for i, name in enumerate(items.names)}
    place = np.array([number[name] for name in names], np.int64) if names else np.empty(0, np.int64)
    return Sets.from_pairs(sets.owners(), place[sets.members], len(sets)) if len(sets) else sets


def maximal(release: Itemsets, items: Items) -> Sets:
    """The published sets that are contained in no other, over ``items``; the empty set when nothing is published."""
    if len(release) == 0:
        return Sets.from_lists([[]])
    order = np.argsort(-release.sets.lengths, kind="stable")
    flags = np.zeros(len(release), np.int8)
    maximal_flags(release.sets.offsets, release.sets.members.astype(np.int32), order, len(release.items), flags)
    return in_items(release.sets.take(np.flatnonzero(flags)), release.items.names, items)


def border(release: Itemsets, items: Items) -> Sets:
    """The smallest itemsets of frequent items that are not frequent: all their subsets are, they are not; over ``items``."""
    top = maximal(release, items)
    if (1 << top.lengths.astype(object)).sum() > MOST_FREQUENT:
        remedy = "Use --goal frequent-only, raise the threshold, or choose another method"
        raise OptionError(
            "the release stands for too many frequent itemsets to look just below them", where="--goal all", remedy=remedy
        )
    book = Book.of_items(top.members)
    for one in top:
        keys = book.subsets(one.astype(np.int64))
        book.enter(keys, np.zeros((len(keys), 2), np.int64))
    return Sets.from_lists([book.members(words).tolist() for words in book.candidates(book.everything(), first=True)])
