"""R01 rule-exceptions: the few people whom a strong rule leaves out, and small groups between several rules.

Infers
    The support of a rule divided by its confidence is the number of people with its antecedent. Less those who have the consequent as well, it
    is the number of exceptions: when that lies between 1 and k-1, one line gives a small group away. All lines together bound the supports of
    all itemsets that they name, and sums of these give groups that no single line gives.
Assumes
    That printed numbers were rounded as the header or ``--rounding`` says. Where the header names the values of the sensitive column, each
    person has one of them; where it says that the list is complete, missing rules do not reach the thresholds.
Claim
    Proves.
Cost
    A few passes over the lines, then one look-up per pattern and item; patterns of one length are left open above 6 million.
Example
    80 people have a and b, the confidence of a => b is 98.7 %, cut off after the last digit: 81 people have a, so 1 has a and not b.
Reference
    Atzori, Bonchi, Giannotti, Pedreschi, k-Anonymous Patterns, PKDD 2005, example 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.attacks.base import Target
from tacit.attacks.rule_findings import Groups, RuleFindings
from tacit.attacks.rule_patterns import PatternSearch, SmallPatterns
from tacit.attacks.rule_steps import Story
from tacit.attacks.rule_table import CODE, RuleTable
from tacit.errors import Contradiction, LimitReached, numbered
from tacit.model.audit import AttackRun, Status
from tacit.model.release import Rules

__all__ = ["CODE", "NAME", "run"]

NAME = "rule-exceptions"


def run(target: Target) -> AttackRun:
    """All exceptions of rules, and all shortest patterns between them, of fewer than k people."""
    release = target.release
    assert isinstance(release, Rules)
    status: Status = "ran"
    reason, undecided = "", 0
    try:
        table = RuleTable.of(release, target.limits)
        refuse_impossible(table)
        target.progress(0.3)
        table.deduce(target.limits)
        refuse_impossible(table)
    except LimitReached:
        return AttackRun(CODE, NAME, "proves", "stopped", "the time limit was reached before the lines were compared")
    target.progress(0.5)
    found = [_of_rules(table, target.policy.k), _of_rest(table, target.policy.k)]
    patterns = _between_rules(table, target)
    if patterns.impossible >= 0:
        _refuse(table, patterns.impossible)
    if patterns.stopped:
        status, reason = "stopped", "the time limit was reached; findings so far are kept"
    if patterns.left_open:
        undecided, reason = patterns.left_open, reason or f"{patterns.left_open:,} long patterns were not looked at"
    found.append(Groups.patterns(patterns))
    findings = RuleFindings(table, Groups.joined(found).worst_first(table), target.index)
    target.progress(1.0)
    groups = findings.groups
    return AttackRun(
        CODE,
        NAME,
        "proves",
        status,
        reason,
        people=int(groups.lo.max(initial=0)),
        undecided=undecided,
        columns={"rule": groups.rule, "items": groups.sizes(table), "count": groups.lo, "count_hi": groups.hi},
        severity=(groups.hi << 16) | np.minimum(groups.sizes(table), 0xFFFF),
        event=findings.event,
        show=findings.show,
    )


def _of_rules(table: RuleTable, k: int) -> Groups:
    """Rules with 1 to k-1 exceptions."""
    lo, hi = table.lacking(np.arange(len(table.release)))
    small = np.flatnonzero((lo > 0) & (hi < k))
    return Groups.rules(small, lo[small], hi[small])


def _of_rest(table: RuleTable, k: int) -> Groups:
    """Antecedents of several rules, and the 1 to k-1 people who have none of their values of the SA."""
    exclusive = _ExclusiveValues.of(table)
    if exclusive is None:
        return Groups.rules(*(np.empty(0, np.int64),) * 3)
    named, size = table.named, len(table.named.sets)
    rules, low, high = np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64)
    np.add.at(rules, named.whole, 1)
    np.add.at(low, named.whole, table.lo[named.both])
    np.add.at(high, named.whole, table.hi[named.both])
    several = np.flatnonzero((rules > 1) & (rules != exclusive.told_apart))
    lo, hi = table.lo[several] - high[several], table.hi[several] - low[several]
    small = (lo > 0) & (hi < k)
    return Groups.rest(several[small], lo[small], hi[small])


@dataclass(frozen=True, slots=True)
class _ExclusiveValues:
    """That nobody has two consequents. With ``told_apart`` rules of one antecedent a single value is left, and is bounded as a set itself."""

    told_apart: int

    @classmethod
    def of(cls, table: RuleTable) -> _ExclusiveValues | None:
        release = table.release
        pairs, column = release.items.pairs, " & ".join(release.header.sa)
        if pairs is None or not column or not bool((release.consequents.lengths == 1).all()):
            return None
        if any(pairs[item][0] != column for item in np.unique(release.consequents.members).tolist()):
            return None
        return cls(table.named.children.shape[1] - 1)


def _between_rules(table: RuleTable, target: Target) -> SmallPatterns:
    """Small patterns over all sets of the table, those apart that single rules tell."""
    named = table.named
    # With two values of the SA, lacking one is having the other, which is a set of its own.
    may_lack = np.ones(len(named.items), np.bool_)
    two_values = len(named.values) == 2
    may_lack[named.values if two_values else np.empty(0, np.int64)] = False
    plain = np.ones(len(named.sets), np.bool_)
    if named.nobody >= 0:
        plain[named.nobody] = len(table.release) == 0
    if two_values:
        plain[_told_by_rules(table)] = False
    found = PatternSearch(table, target.policy.k, may_lack, target.limits).run(plain)
    return _without_rules(table, found)


def _told_by_rules(table: RuleTable) -> npt.NDArray[np.int64]:
    """The sets that hold the exceptions of one rule: its antecedent with the only other value."""
    children = table.named.children
    published = np.isin(children, table.named.both)
    return children[:, ::-1][published & ~published[:, ::-1]]


def _without_rules(table: RuleTable, found: SmallPatterns) -> SmallPatterns:
    """The patterns that are not just "antecedent without consequent" of one rule."""
    release, named = table.release, table.named
    single = release.consequents.lengths == 1
    items = release.consequents.members[release.consequents.offsets[:-1][single]] if len(release) else np.empty(0, np.int64)
    told = set(zip(named.both[single].tolist(), items.tolist(), strict=True))
    kept = np.ones(len(found.place), np.bool_)
    for index in np.flatnonzero(np.bitwise_count(found.absent.astype(np.uint64)) == 1).tolist():
        position = int(found.absent[index]).bit_length() - 1
        kept[index] = (int(found.place[index]), int(named.sets[int(found.place[index])][position])) not in told
    columns = (found.place[kept], found.absent[kept], found.lo[kept], found.hi[kept])
    return SmallPatterns(*columns, found.left_open, found.stopped, found.impossible)


def refuse_impossible(table: RuleTable) -> None:
    """Raise when no number of people is left for some set."""
    if table.empty >= 0:
        _refuse(table, table.empty)


def _refuse(table: RuleTable, place: int) -> None:
    """Raise a contradiction that names the lines behind the bounds of a set and of its parts."""
    story = Story(table)
    parts = table.named.less_one[table.named.sets.offsets[place] : table.named.sets.offsets[place + 1]]
    for one in [place] if table.empty >= 0 else [place, *parts[parts >= 0].tolist()]:
        story.both_ends(one)
    lines = [citation.place for citation in story.citations(0) if isinstance(citation.place, int)]
    name = table.release.source.name if table.release.source else "the release"
    raise Contradiction(
        "the numbers of these rules cannot all be true: no number of people with some items fits all of them",
        where=f"{name}, {numbered(lines)}" if lines else name,
        remedy="Check the lines, the header and the number of people, or say how numbers were printed (--rounding)",
        lines=lines,
    )
