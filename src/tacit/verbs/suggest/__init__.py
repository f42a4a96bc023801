"""The verb ``suggest``: try and audit every fitting repair."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from tacit.errors import OptionError
from tacit.files.releases import read_release
from tacit.model.audit import Audit, Progress, silent
from tacit.model.people import People
from tacit.model.policy import Policy
from tacit.model.release import Release
from tacit.model.repair import Suggestions
from tacit.verbs.audit import audit
from tacit.verbs.kinds import kind_of
from tacit.verbs.suggest.ways import SuggestCase, Way, try_ways

__all__ = ["SECONDS", "suggest", "suggestions_for"]

#: Seconds for trying repairs, unless the caller says otherwise.
SECONDS = 10.0


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
    progress: Progress = silent,
) -> Suggestions:
    """Try repairs of an exposed release; return those tried, the cheapest clean one first.

    Parameters
    ----------
    release, data, known, knowledge, rows, people, policy
        As for :func:`audit`. Without the data only what can be computed from the release alone is tried.
    seconds
        Time for repairs, not counting the audit of the release itself. Repairs that did not fit into it are listed, and say so.
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
    are_several = isinstance(release, (list, tuple))
    listed: Any = release if are_several else [release]
    releases = tuple(read_release(one) for one in listed)
    given = {"data": data, "known": known, "knowledge": knowledge, "rows": rows, "people": people, "policy": policy or Policy()}
    found = audit(list(releases) if are_several else releases[0], **given)
    return suggestions_for(found, releases, seconds=seconds, progress=progress, **given)


def suggestions_for(
    found: Audit,
    releases: tuple[Release, ...],
    *,
    policy: Policy,
    seconds: float = SECONDS,
    progress: Progress = silent,
    **given: Any,
) -> Suggestions:
    """Try repairs of exposed releases; none for others."""
    if not 0 < seconds < float("inf"):
        raise OptionError("must be more than 0 seconds", where="--suggest", remedy="Write for instance 10")
    if found.verdict != "exposed":
        return Suggestions()
    case = SuggestCase(releases, found, policy, **given)
    module = "tacit.verbs.suggest.several" if len(releases) > 1 else kind_of(case.release).suggestions
    ways: Callable[[SuggestCase], list[Way]] = import_module(module).ways
    return Suggestions.of(try_ways(ways(case), seconds, progress))
