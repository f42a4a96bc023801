"""What rules and leaves of trees say about the sensitive values of known people, read beside other releases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacit.attacks.sensitive.case import DISTRIBUTION, LINE, RuleCase
from tacit.attacks.sensitive.known import Known, Origin, Reading, Spoken, about, pair_of
from tacit.model.release import Rules


def read_rules(known: Known, number: int, release: Rules) -> Reading:
    """The lines of rules, the distribution where it is printed, and the rules that a complete list leaves out."""
    lines = [index for index in range(len(release)) if _is_about(known, release, index)]
    found = Reading(left_out=len(release) - len(lines), unread=_not_used(known, release, lines))
    case = _case(known, release, lines)
    for line, (lo, hi) in enumerate(zip(*(bound.tolist() for bound in case.counts), strict=True)):
        origin = Origin(number, case.release.line(line), LINE, about(case.antecedent(line)))
        found.spoken.append(Spoken(case.holders[line], case.codes[line], lo, hi, origin))
    for value, count in zip(release.header.sa_values, release.header.sa_counts, strict=False):
        origin = Origin(number, f"sa_distribution {value}", DISTRIBUTION)
        found.spoken.append(Spoken(known.everybody, known.values.index(value), count, count, origin))
    if known.is_open:
        case.missing.most[:, -1] = case.missing.wholes  # a list may leave out each of many values, and yet not all of them
    found.missing = case.missing if len(case.missing.events) else None
    found.columns = case.population.names
    return found


def _case(known: Known, release: Rules, lines: list[int]) -> RuleCase:
    """Some lines of a release beside the columns that its rules were looked for in."""
    used = (pair_of(release, item)[0] for item in release.antecedents.members.tolist())
    columns = release.header.qi or tuple(dict.fromkeys(used))
    head = replace(release.header, sa=(known.sensitive,), sa_values=known.values, sa_counts=())
    items = replace(release.items, pairs=tuple(pair_of(release, item) for item in range(len(release.items))))
    chosen = replace(
        release.take(np.array(lines, np.int64), head),
        items=items,
        lines=np.array([release.line(index) for index in lines], np.int64),
        source=release.source,
    )
    return RuleCase(chosen, known.only(columns))


def _not_used(known: Known, release: Rules, lines: list[int]) -> int:
    """How many of the other lines name the sensitive column all the same."""
    naming = {item for item in range(len(release.items)) if pair_of(release, item)[0] == known.sensitive}
    rest = sorted(set(range(len(release))) - set(lines))
    return sum(
        not naming.isdisjoint([*release.antecedents[index].tolist(), *release.consequents[index].tolist()]) for index in rest
    )


def _is_about(known: Known, release: Rules, index: int) -> bool:
    """Whether a line is about known columns and one sensitive value."""
    then = [pair_of(release, item) for item in release.consequents[index].tolist()]
    if release.header.coarser or len(then) != 1 or then[0][0] != known.sensitive or then[0][1] not in known.values:
        return False
    return known.knows([pair_of(release, item)[0] for item in release.antecedents[index].tolist()])
