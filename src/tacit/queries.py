"""Questions about a release: how many people fit a pattern, and all its inference channels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tacit.attacks import Target
from tacit.attacks.channels import run as maximal_channels
from tacit.attacks.condensed import channels_from_condensed
from tacit.attacks.pattern_support import pattern_support
from tacit.errors import OptionError
from tacit.formats.releases import read_release
from tacit.model.policy import Policy
from tacit.model.release import Itemsets, Release
from tacit.model.support import Channel, PatternSupport

__all__ = ["all_channels", "support_of"]


def support_of(release: Release | str | Path | Any, *, pattern: str) -> PatternSupport:
    """How many people fit a pattern, as the release gives it away: one number, or the tightest bounds over the items used.

    Parameters
    ----------
    release
        A mined or read release, or anything :func:`read_release` takes.
    pattern
        Items joined with ``and``, ``or``, ``not`` and parentheses, at most 16 of them; names with blanks in quotation marks.

    Examples
    --------
    >>> import tacit
    >>> baskets = tacit.read_transactions([["a", "b"]] * 49 + [["a"]] + [["c"]] * 20)
    >>> found = tacit.support_of(tacit.mine_itemsets(baskets, min_support=40), pattern="a and not b")
    >>> found.lo, found.hi, found.steps[0]
    (1, 1, 'plus 50: people with a (line 2)')
    """
    if not isinstance(pattern, str):
        raise OptionError("is not text", where="pattern", remedy='Write for instance "a and not b"')
    return pattern_support(read_release(release), pattern)


def all_channels(release: Release | str | Path | Any, *, policy: Policy | None = None) -> Iterator[Channel]:
    """All inference channels of a list of itemsets, maximal or not, one by one: the set Ch(k) of Atzori and others.

    An audit lists the maximal ones, which say all; here are the others as well, rebuilt from them and the supports (Theorem 18). There may be
    billions, so they are made while they are asked for, itemset by itemset.

    Examples
    --------
    >>> import tacit
    >>> baskets = tacit.read_transactions([["a", "b", "c"]] * 40 + [["a", "b"]])
    >>> [(c.present, c.absent, c.people) for c in tacit.all_channels(tacit.mine_itemsets(baskets, min_support=40))]
    [((), ('c',), 1), (('a',), ('c',), 1), (('b',), ('c',), 1), (('a', 'b'), ('c',), 1)]
    """
    target = read_release(release)
    if not isinstance(target, Itemsets):
        raise OptionError(f"needs itemsets, not {target.kind}", where="all_channels", remedy="Give a list of frequent itemsets")
    limits = policy or Policy()
    return channels_from_condensed(target, maximal_channels(Target(target, limits)), limits.k)
