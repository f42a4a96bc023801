"""The lowest support threshold at which I01 and I02 find nothing, by halving.

Why halving is right: raising the threshold leaves a part of the family of published sets, and every set of it lies inside a maximal set of
the larger family. Call a set safe when every group of people that its items tell apart is empty or has at least k members; groups on fewer
items are unions of groups on more, so subsets of safe sets are safe. Hence a threshold without a channel (all maximal sets safe) stays
without one when it is raised: the safe thresholds are an upper range. An unsafe set that c people have makes every threshold up to c unsafe,
so the search goes on above the most frequent unsafe set and not in the middle of what is known to be unsafe.

Deduction through missing itemsets (I02) by itself is not monotone: what is deduced at a high threshold may be published at a low one. Together
with channels it is. Say a group on J is deduced at a threshold. At a lower one J is either published, and then the group, which is really
small, is a channel; or it is missing there as well, its subsets are known all the same, and the bound on its support from above is
lower, so that the same group is deduced again.
"""

from __future__ import annotations

from collections.abc import Callable

from tacit.model.sweep import Lowest
from tacit.sweeps.looking import Looker


def lowest_thresholds(looker: Looker, found: dict[int, Lowest], progress: Callable[[float], None]) -> None:
    """For each k the lowest thresholds, written into ``found`` as they are found."""
    for done, k in enumerate(looker.k.tolist()):
        published = _without_channels(looker, done, k)
        found[k] = Lowest(k, published, None, decided=published is None)
        if published is not None:
            found[k] = _without_threats(looker, k, published)
        progress((done + 1) / len(looker.k))


def _without_channels(looker: Looker, place: int, k: int) -> int | None:
    """The lowest threshold at which no published sets give a small group (I01); None when even an empty list does."""
    n = looker.rows.n
    if looker.look(n + 1).unsafe[place]:
        return None
    if int(looker.rows.weights.min(initial=k)) >= k:
        return 1  # nobody's whole row is rare, so no set of items makes anybody rare
    unsafe, safe = 0, n + 1
    for least, look in looker.seen().items():
        if look.unsafe[place]:
            unsafe = max(unsafe, int(look.unsafe[place]))
        else:
            safe = min(safe, least)
    while safe - unsafe > 1:
        middle = (safe + unsafe) // 2
        above = int(looker.look(middle).unsafe[place])
        if above:
            unsafe = above
        else:
            safe = middle
    return safe


def _without_threats(looker: Looker, k: int, lowest: int) -> Lowest:
    """The lowest threshold at which missing itemsets give nothing away either; at or above the lowest without channels."""
    safe, unsafe, decided = looker.rows.n + 1, lowest - 1, True
    middle = lowest
    while safe - unsafe > 1:
        run = looker.deduce(middle, k)
        if run.findings == 0 and run.decides:
            safe = middle
        else:
            unsafe = middle
            decided = decided and run.findings > 0
        middle = (safe + unsafe) // 2
    return Lowest(k, lowest, safe, decided)
