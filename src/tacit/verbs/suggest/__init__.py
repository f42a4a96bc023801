"""The verb that suggests repairs: every way that fits the release is carried out and audited within the time, and told with its cost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tacit.errors import OptionError
from tacit.files.releases import read_release
from tacit.model.audit import Audit
from tacit.model.people import People
from tacit.model.policy import Policy
from tacit.model.release import Release
from tacit.model.repair import SuggestCase, Suggestions, Way, tried
from tacit.verbs.audit import audit
from tacit.verbs.suggest import buckets, frequencies, itemsets, partial, rules, several

__all__ = ["SECONDS", "suggest", "suggestions_for"]

#: So long ways are tried, unless the caller says otherwise.
SECONDS = 10.0
#: What to try for each kind of release.
KINDS: dict[str, Callable[[SuggestCase], list[Way]]] = {
    "itemsets": itemsets.ways,
    "rules": rules.ways,
    "buckets": buckets.ways,
    "table": partial.ways,
    "frequencies": frequencies.ways,
}


def suggest(
    release: Release | str | Path | Any,
    *,
    data: Any = None,
    known: Any = None,
    knowledge: Any = None,
    rows: Any = None,
    people: People | None = None,
    policy: Policy | None = None,
    seconds: float = SECONDS,
    progress: Callable[[float], None] | None = None,
) -> Suggestions:
    """What could be done about a release that is exposed: repairs that were carried out and audited, the cheapest clean one first.

    Parameters
    ----------
    release, data, known, knowledge, rows, people, policy
        As for :func:`audit`. Without the data only what can be computed from the release alone is tried.
    seconds
        How long to try, besides the audit of the release itself. What could not be tried in this time is listed, and says so.
    progress
        Called with the share of the work done, from 0 to 1.

    Examples
    --------
    >>> import tacit
    >>> baskets = tacit.read_transactions([["a", "b"]] * 49 + [["a"]] + [["c"]] * 20)
    >>> ways = tacit.suggest(tacit.mine_itemsets(baskets, min_support=20), data=baskets)
    >>> ways.best.method, ways.best.verdict, round(ways.best.loss, 3)
    ('suppressive', 'clean', 0.019)
    >>> ways.best.lines()
    ['tacit repair RELEASE --data DATA --method suppressive -o OUT']
    """
    several_given = isinstance(release, (list, tuple))
    listed: Any = release if isinstance(release, (list, tuple)) else [release]
    releases = tuple(read_release(one) for one in listed)
    policy = policy or Policy()
    given = {"data": data, "known": known, "knowledge": knowledge, "rows": rows, "people": people, "policy": policy}
    found = audit(list(releases) if several_given else releases[0], **given)
    return suggestions_for(found, releases, seconds=seconds, progress=progress, **given)


def suggestions_for(
    found: Audit,
    releases: tuple[Release, ...],
    *,
    policy: Policy,
    seconds: float = SECONDS,
    progress: Callable[[float], None] | None = None,
    **given: Any,
) -> Suggestions:
    """What could be done about releases whose audit is at hand; nothing where that is not exposed."""
    if not 0 < seconds < float("inf"):
        raise OptionError("must be more than 0 seconds", where="--suggest", remedy="Write for instance 10")
    if found.verdict != "exposed":
        return Suggestions()
    case = SuggestCase(releases, found, policy, **given)
    ways = several.ways(case) if len(releases) > 1 else KINDS[case.release.kind](case)
    return Suggestions.of(tried(ways, seconds, progress or (lambda _share: None)))
