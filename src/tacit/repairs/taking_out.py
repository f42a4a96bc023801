"""Taking lines out of a list: which ones all proofs rest on, the list without them, and as many of them put back as can be.

Itemsets go with all larger ones: a list that holds every subset of its itemsets stays such a list. From such a list every small difference of
two counts is a small group of people who have some items and lack others, which is what attacks look for; in a list with gaps it need not be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tacit.errors import OptionError, RepairError, numbered
from tacit.model.audit import Audit
from tacit.model.event import ItemEvent
from tacit.model.release import Itemsets, Listed
from tacit.repairs.base import RepairCase
from tacit.repairs.lines import safety

#: Of so many proofs of each attack the cited lines are looked at; the worst come first.
MOST_PROOFS = 500
#: The same where audits follow each other quickly, so that few are enough.
FEW_PROOFS = 20
#: Lines are put back in so many groups at first.
GROUPS = 8

#: A published line: the number of its release, and its line there.
Line = tuple[int, int]
Places = npt.NDArray[np.int64]


def cited_lines(audit: Audit, *, most: int = MOST_PROOFS) -> list[frozenset[Line]]:
    """The lines that each proof cites, proofs that cite none left out."""
    proofs = []
    for run in audit.runs:
        if run.claim != "proves" or run.show is None:
            continue
        for index in range(min(most, len(run.severity))):
            cited = frozenset(
                (citation.release, citation.place) for citation in run.show(index).because if isinstance(citation.place, int)
            )
            proofs += [cited] if cited else []
    return proofs


def breaking(proofs: Iterable[frozenset[Line]], worth: Callable[[Line], float]) -> list[Line]:
    """Some lines such that every proof cites one of them: again and again the line in most proofs, the least worth where several are.

    >>> breaking([frozenset({(0, 2), (0, 3)}), frozenset({(0, 3), (0, 4)}), frozenset({(0, 5)})], lambda line: line[1])
    [(0, 3), (0, 5)]
    """
    left = list(proofs)
    chosen: list[Line] = []
    while left:
        counted = Counter(line for proof in left for line in proof)
        line = min(counted, key=lambda one: (-counted[one], worth(one), one))
        chosen.append(line)
        left = [proof for proof in left if line not in proof]
    return chosen


def some_lines(release: Listed, kept: Places) -> Listed:
    """Some of the lines; a list that lacks some says so, and closed itemsets of which some are missing are just itemsets."""
    if len(kept) == len(release):
        return release
    part = release.take(kept, replace(release.header, complete=False))
    return replace(part, only="all") if isinstance(part, Itemsets) and part.only == "closed" else part


def without_lines(release: Listed, lines: Iterable[int]) -> Listed:
    """The release without the lines of its file that have these numbers."""
    place = {release.line(index): index for index in range(len(release))}
    named = sorted(set(lines))
    if unknown := [line for line in named if line not in place]:
        what = f"{numbered(unknown)} of the file {'is' if len(unknown) == 1 else 'are'} no line of the list"
        raise OptionError(what, where="--lines", remedy="Name lines as findings cite them; line 1 of a CSV file is its header")
    return some_lines(release, np.delete(np.arange(len(release)), [place[line] for line in named]))


def holding(release: Itemsets, wanted: Iterable[frozenset[str]]) -> set[int]:
    """The places of the itemsets that hold all items of one of the sets."""
    having: dict[str, set[int]] = {name: set() for name in release.items.names}
    for place, item in zip(release.sets.owners().tolist(), release.sets.members.tolist(), strict=True):
        having[release.items.names[item]].add(place)
    found: set[int] = set()
    for items in wanted:
        found |= set.intersection(*(having.get(item, set()) for item in items)) if items else set()
    return found


def without_findings(case: RepairCase, release: Itemsets) -> Itemsets:
    """The list without the itemsets that findings are about, or rest on, and without all larger ones, until nothing is found."""
    kept = np.arange(len(release), dtype=np.int64)
    audit = case.audit(release, case.data)
    now = release
    while any(run.findings for run in audit.runs):
        gone = holding(now, _spoken_of(audit)) or holding(now, _rested_on(audit, now))
        if not gone:
            raise RepairError("what is found rests on no itemset of the list", where="repair", remedy="Choose another method")
        kept = np.delete(kept, sorted(gone))
        part = some_lines(release, kept)
        assert isinstance(part, Itemsets)
        now = part
        audit = case.audit(now, case.data)
    return now


def _spoken_of(audit: Audit) -> set[frozenset[str]]:
    """The items that findings speak of, as present or absent."""
    events = [run.event(index) for run in audit.runs if run.event is not None for index in range(len(run.severity))]
    return {frozenset(event.present + event.absent) for event in events if isinstance(event, ItemEvent)}


def _rested_on(audit: Audit, release: Itemsets) -> set[frozenset[str]]:
    """Itemsets such that each of the worst proofs cites one of them."""
    place = {release.line(index): index for index in range(len(release))}
    chosen = breaking(cited_lines(audit, most=FEW_PROOFS), lambda one: float(release.hi[place[one[1]]]))
    return {frozenset(release.names(place[line])) for _, line in chosen}


def without_proofs(case: RepairCase) -> Listed:
    """The release without a few lines that all proofs rest on; lines that turn out not to matter are put back, the broadest first."""
    release = case.release
    kept, audit = np.arange(len(release), dtype=np.int64), case.audit(release, case.data)
    people = {release.line(index): float(release.hi[index]) for index in range(len(release))}
    while len(kept) and safety(audit) == 0:
        now = some_lines(release, kept)
        place = {now.line(index): index for index in range(len(now))}
        gone = [place[line] for _, line in breaking(cited_lines(audit), lambda one: people[one[1]])]
        if not gone:
            raise RepairError("what is found rests on no line of the list", where="repair", remedy="Choose another method")
        kept = np.delete(kept, gone)
        audit = case.audit(some_lines(release, kept), case.data)
    return some_lines(release, with_more(case, release, kept, np.argsort(-release.lo, kind="stable"), safety(audit)))


def with_more(case: RepairCase, release: Listed, kept: Places, order: Places, reached: int) -> Places:
    """The kept lines and as many others as can be put back, in their order: whole groups of them, then halves of groups that were too much."""
    others = order[~np.isin(order, kept)].tolist()
    size = max(1, -(-len(others) // GROUPS))
    waiting = [others[first : first + size] for first in range(0, len(others), size)][::-1]
    for _ in range(case.most_looks):
        if not waiting:
            break
        group = waiting.pop()
        more = np.sort(np.append(kept, group))
        # Where everything is back nothing is taken out, and that was not safe.
        if len(more) < len(release) and safety(case.look(some_lines(release, more))) >= max(1, reached):
            kept = more
        elif len(group) > 1:
            half = len(group) // 2
            waiting += [group[half:], group[:half]]
    return kept
