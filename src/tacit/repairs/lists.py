"""Removal of few lines from a list, and its cost.

Itemsets go with all larger ones: a list that holds every subset of its itemsets stays such a list. From such a list every small difference of
two counts is a small group of people who have some items and lack others, which is what attacks look for; in a list with gaps it need not be.

Rules are removed one by one (:func:`without_proofs`) or by higher thresholds (:func:`safe_thresholds`); :class:`Lines` holds their true counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import log
from typing import TypeGuard

import numpy as np
import numpy.typing as npt

from tacit.mining.rules import Published, publish
from tacit.model.arrays import Ints
from tacit.model.audit import AttackRun, Audit
from tacit.model.errors import InputError, OptionError, RepairError, numbered
from tacit.model.finding import ItemEvent
from tacit.model.numbers import Rounding
from tacit.model.release import Header, Itemsets, Listed, Release, Rules
from tacit.model.repair import RepairCase
from tacit.model.table import Schema, Table

CHECK = "Give the data that the rules were made from, with the same columns and missing-value rule"


@dataclass(frozen=True, eq=False)
class Lines:
    """Rules with their true ``counts``, and the counts of their antecedents (``wholes``)."""

    release: Rules
    counts: Ints
    wholes: Ints

    @classmethod
    def of(cls, case: RepairCase) -> Lines:
        """Return rules with their data, or with exact numbers."""
        assert case.release.kind == "rules"
        return cls.of_rules(case.release, case.table)

    @classmethod
    def of_rules(cls, release: Rules, table: Table | None) -> Lines:
        """Return rules with the table that they are about, or with exact numbers."""
        if table is not None:
            return cls(release, *true_counts(release, table))
        if (release.lo != release.hi).any() or (release.whole_lo != release.whole_hi).any():
            remedy = "Give the table that the rules were made from with --data"
            raise OptionError("rules without exact numbers are repaired beside their data", where="--data", remedy=remedy)
        return cls(release, release.lo, release.whole_lo)

    def printed(self, form: Published, header: Header | None = None) -> Rules:
        """Return the same lines in another form."""
        release = self.release
        rounding: Rounding = "nearest" if form.digits is None else "half-up"
        header = replace(header or release.header, digits=form.digits, rounding=rounding, base=None)
        numbers = publish(self.counts, self.wholes, header, form)
        lo, hi, whole_lo, whole_hi = numbers[:4]
        return Rules(
            release.antecedents,
            release.consequents,
            lo=lo,
            hi=hi,
            whole_lo=whole_lo,
            whole_hi=whole_hi,
            items=release.items,
            header=header,
            support=numbers.support,
            confidence=numbers.confidence,
        )

    def reaching(self, min_support: int, header: Header) -> npt.NDArray[np.int64]:
        """Return the lines that reach a support and a header's confidence."""
        bar = header.min_confidence
        enough = self.counts >= min_support
        if bar is not None:
            # Whole numbers of any size: a confidence may have many digits.
            counts = self.counts.astype(object) * bar.denominator
            wholes = self.wholes.astype(object) * bar.numerator
            enough &= (counts > wholes if header.strict else counts >= wholes).astype(np.bool_)
        return np.flatnonzero(enough)


def true_counts(release: Rules, table: Table) -> tuple[Ints, Ints]:
    """Count the people of each rule, and of its antecedent."""
    name = release.source.name if release.source else "the release"
    header = release.header
    pairs = release.items.pairs
    if pairs is None or not header.sa or header.coarser:
        remedy = "Mine the rules again with tacit mine rules, without hierarchies"
        raise OptionError("rules are repaired where they go from QI columns to the SA of a table", where=name, remedy=remedy)
    qi = list(dict.fromkeys(pairs[item][0] for item in release.antecedents.members.tolist()))
    lacking = [column for column in (*qi, *header.sa) if column not in table.names]
    if lacking:
        raise OptionError(f"has no column {', '.join(lacking)}, which the rules are about", where="--data", remedy=CHECK)
    people = table.select([*qi, *header.sa]).merged()
    sensitive = [replace(people, schema=Schema(qi=tuple(qi), sa=header.sa)).sa]
    if header.marginals:
        sensitive = [people.column(name) for name in header.sa]
    where = {
        (column.name, value): column.codes == code
        for column in (*people.columns[: len(qi)], *sensitive)
        for code, value in enumerate(column.values)
    }
    for group in (one for one in header.groups if one.column in people.names):
        column = people.column(group.column)
        inside = np.isin(np.array(column.values, object), group.among(column.values))
        where[group.column, group.name] = inside[column.codes]
    nobody = np.zeros(len(people.weights), np.bool_)
    counts = np.zeros(len(release), np.int64)
    wholes = np.zeros(len(release), np.int64)
    for line in range(len(release)):
        holds = ~nobody
        for item in release.antecedents[line].tolist():
            holds &= where.get(pairs[item], nobody)
        wholes[line] = people.weights[holds].sum()
        for item in release.consequents[line].tolist():
            column, value = pairs[item]
            holds &= where.get((column if header.marginals else sensitive[0].name, value), nobody)
        counts[line] = people.weights[holds].sum()
    wrong = (counts < release.lo) | (counts > release.hi) | (wholes < release.whole_lo) | (wholes > release.whole_hi)
    if wrong.any():
        where_wrong = f"{name} line {release.line(int(np.argmax(wrong)))}"
        raise InputError("the rule is not true of the data", where=where_wrong, remedy=CHECK)
    return counts, wholes


def safety(audit: Audit) -> int:
    """Grade an audit: 2 safe, 1 nothing found, 0 something found.

    An attack that cannot run or was not asked for says nothing about one candidate rather than another: it does not count here.
    """
    if any(run.findings for run in audit.runs):
        return 0
    wanted = [run for run in audit.runs if run.status not in ("not-relevant", "not-asked", "unavailable")]
    return 2 if wanted and all(run.decides for run in wanted) else 1


MOST_PROOFS = 500  #: Proofs of each attack whose cited lines are looked at; the worst come first.
FEW_PROOFS = 20  #: The same where audits follow each other quickly, so that few are enough.
GROUPS = 8  #: Groups in which lines are put back at first.

Line = tuple[int, int]  #: A published line: the number of its release, and its line there.


def cited_lines(audit: Audit, *, most: int = MOST_PROOFS) -> list[frozenset[Line]]:
    """Return the lines that each proof cites, where it cites any."""
    return [cited for run in audit.runs for cited in proofs_of(run, most) if cited]


def proofs_of(run: AttackRun, most: int) -> Iterator[frozenset[Line]]:
    """Yield the lines that each of the worst proofs cites."""
    if run.claim == "proves" and run.show is not None:
        for index in range(min(most, len(run.severity))):
            places = ((citation.release, citation.place) for citation in run.show(index).because)
            yield frozenset((release, place) for release, place in places if isinstance(place, int))


def breaking(proofs: Iterable[frozenset[Line]], worth: Callable[[Line], float]) -> list[Line]:
    """Choose lines such that every proof cites one of them.

    Again and again the line in most proofs, the least worth where several are.
    """
    left = list(proofs)
    chosen: list[Line] = []
    while left:
        counted = Counter(line for proof in left for line in proof)
        line = min(counted, key=lambda one: (-counted[one], worth(one), one))
        chosen.append(line)
        left = [proof for proof in left if line not in proof]
    return chosen


def some_lines(release: Listed, kept: Ints) -> Listed:
    """Return some of the lines, marked as an incomplete list."""
    if len(kept) == len(release):
        return release
    part = release.take(kept, replace(release.header, complete=False))
    # Closed itemsets of which some are missing are just itemsets.
    return replace(part, only="all") if part.kind == "itemsets" and part.only == "closed" else part


def without_lines(release: Listed, lines: Iterable[int]) -> Listed:
    """Return the release without the lines with these numbers in its file."""
    place = {release.line(index): index for index in range(len(release))}
    named = sorted(set(lines))
    if unknown := [line for line in named if line not in place]:
        what = f"{numbered(unknown)} of the file {'is' if len(unknown) == 1 else 'are'} no line of the list"
        raise OptionError(what, where="--lines", remedy="Name lines as findings cite them; line 1 of a CSV file is its header")
    return some_lines(release, np.delete(np.arange(len(release)), [place[line] for line in named]))


def holding(release: Itemsets, wanted: Iterable[frozenset[str]]) -> set[int]:
    """Return the places of the itemsets that contain one of the sets."""
    having: dict[str, set[int]] = {name: set() for name in release.items.names}
    for place, item in zip(release.sets.owners().tolist(), release.sets.members.tolist(), strict=True):
        having[release.items.names[item]].add(place)
    found: set[int] = set()
    for items in wanted:
        found |= set.intersection(*(having.get(item, set()) for item in items)) if items else set()
    return found


def without_findings(case: RepairCase, release: Itemsets) -> Itemsets:
    """Remove itemsets that findings are about, or else rest on."""
    kept = np.arange(len(release), dtype=np.int64)
    audit = case.audit(release, case.data)
    now = release
    while any(run.findings for run in audit.runs):
        gone = holding(now, mentioned_items(audit)) or holding(now, _cited_itemsets(audit, now))
        if not gone:
            raise RepairError("what is found rests on no itemset of the list", where="repair", remedy="Choose another method")
        kept = np.delete(kept, sorted(gone))
        part = some_lines(release, kept)
        assert part.kind == "itemsets"
        now = part
        audit = case.audit(now, case.data)
    return now


def mentioned_items(audit: Audit) -> set[frozenset[str]]:
    """Return the items that each finding mentions, as present or absent."""
    events = [run.event(index) for run in audit.runs if run.event is not None for index in range(len(run.severity))]
    return {frozenset(event.present + event.absent) for event in events if isinstance(event, ItemEvent)}


def _cited_itemsets(audit: Audit, release: Itemsets) -> set[frozenset[str]]:
    """Return itemsets that together break the worst proofs."""
    place = {release.line(index): index for index in range(len(release))}
    chosen = breaking(cited_lines(audit, most=FEW_PROOFS), lambda one: float(release.hi[place[one[1]]]))
    return {frozenset(release.names(place[line])) for _, line in chosen}


def without_proofs(case: RepairCase) -> Listed:
    """Remove a few lines that all proofs rest on."""
    release = case.release
    kept = np.arange(len(release), dtype=np.int64)
    audit = case.audit(release, case.data)
    people = {release.line(index): float(release.hi[index]) for index in range(len(release))}
    while len(kept) and safety(audit) == 0:
        now = some_lines(release, kept)
        place = {now.line(index): index for index in range(len(now))}
        gone = [place[line] for _, line in breaking(cited_lines(audit), lambda one: people[one[1]])]
        if not gone:
            raise RepairError("what is found rests on no line of the list", where="repair", remedy="Choose another method")
        kept = np.delete(kept, gone)
        audit = case.audit(some_lines(release, kept), case.data)
    # Lines that turn out not to matter are put back, the broadest first.
    return some_lines(release, with_more(case, release, kept, np.argsort(-release.lo, kind="stable"), safety(audit)))


def with_more(case: RepairCase, release: Listed, kept: Ints, order: Ints, reached: int) -> Ints:
    """Return the kept lines and as many others as are safe."""
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


#: Confidences are tried in steps of this, supports in steps of a thousandth of all people: round numbers reveal nothing about single rules.
CONFIDENCE_STEP = Fraction(1, 20)
SUPPORT_STEPS = 1000


def safe_thresholds(case: RepairCase) -> Rules:
    """Find the longest safe part above a support and a confidence."""
    lines = Lines.of(case)
    best = select_above(lines, supports(lines)[-1], lines.release.header)
    best_safety = -1
    for bar in confidences(lines.release.header):
        header = replace(lines.release.header, min_confidence=bar)
        found, how_safe = _find_at_confidence(case, lines, header, len(best) if best_safety >= 2 else -1)
        if found is not None and (how_safe, len(found)) > (best_safety, len(best) if best_safety >= 0 else -1):
            best = found
            best_safety = how_safe
    return best


def above_support(case: RepairCase, min_support: int) -> Rules:
    """Return the rules that reach a support."""
    lines = Lines.of(case)
    return select_above(lines, min_support, lines.release.header)


def _find_at_confidence(case: RepairCase, lines: Lines, header: Header, to_beat: int) -> tuple[Rules | None, int]:
    """Find the most safe rules at one confidence, by bisection."""
    # The last support is above every count. Supports that keep too few rules are not looked at.
    steps = [one for one in supports(lines) if len(lines.reaching(one, header)) > to_beat]
    found: Rules | None = None
    how_safe = -1
    unsafe = -1
    safe = len(steps)
    while safe - unsafe > 1:
        # The threshold as it is comes first: where raising the confidence is enough, the support need not rise.
        middle = 0 if unsafe == -1 and safe == len(steps) else (safe + unsafe) // 2
        candidate = select_above(lines, steps[middle], header)
        judged = safety(case.look(candidate))
        if judged >= max(1, how_safe):
            found = candidate
            how_safe = judged
        if judged == 2:
            safe = middle
        else:
            unsafe = middle
    return found, how_safe


def select_above(lines: Lines, min_support: int, header: Header) -> Rules:
    """Return the lines that reach a support and a header's confidence."""
    release = lines.release
    header = replace(header, min_support=min_support)
    kept = lines.reaching(min_support, header)
    if release.support is None and not release.is_withheld:
        return release.take(kept, header)
    # Thresholds are part of what a line without exact numbers says, so it is printed again.
    part = Lines(release.take(kept, header), lines.counts[kept], lines.wholes[kept])
    if release.support is None:
        return part.printed(Published(withhold_values=True), header)
    digits = header.digits if header.digits is not None else int(release.support.digits.max(initial=0))
    return part.printed(Published(digits=digits, with_confidence=release.confidence is not None), header)


def confidences(header: Header) -> list[Fraction]:
    """Return the confidence, then higher ones in round steps up to 1."""
    now = header.min_confidence
    if now is None:
        return [Fraction(0)]
    first = now // CONFIDENCE_STEP + 1
    last = Fraction(1) - (CONFIDENCE_STEP if header.strict else 0)  # nothing exceeds 1
    return [now, *(one for step in range(int(first), 21) if (one := step * CONFIDENCE_STEP) <= last)]


def supports(lines: Lines) -> list[int]:
    """Return the support, then round ones up to above every count."""
    header = lines.release.header
    n = header.n or 0
    now = header.min_support or 1
    last = max(int(lines.counts.max(initial=0)) + 1, now)
    steps = -(-np.arange(1, SUPPORT_STEPS + 1) * n // SUPPORT_STEPS) if n > SUPPORT_STEPS else np.arange(1, n + 1)
    return sorted({now, last, *steps[(steps > now) & (steps < last)].tolist()})


NOISE = 1e-9  #: One person more or less never counts as information: estimates are computed to about this many nats.


def rule_cost(before: Rules, after: Rules, audit_before: Audit, audit_after: Audit) -> Mapping[str, float]:
    """Measure the loss between two releases of rules.

    A support that is printed rounded is read as printed, one that is withheld as the support threshold: the least that it can be.
    """
    new = {key: index for index, key in enumerate(_rule_keys(after))}
    pairs = [(index, new[key]) for index, key in enumerate(_rule_keys(before)) if key in new]
    was, now = (_read_counts(one)[[pair[side] for pair in pairs]] for side, one in enumerate((before, after)))
    errors = np.abs(now - was)[was > 0] / was[was > 0]
    shown = sum(_prints_support(before, i) and not _prints_support(after, j) for i, j in pairs)
    cost: dict[str, float] = {
        "rules_lost": len(before) - len(pairs),
        "values_withheld": int(shown),
        "support_error_mean": float(errors.mean()) if len(errors) else 0.0,
        "support_error_max": float(errors.max()) if len(errors) else 0.0,
    }
    left_before, left_after = (audit.measures.get("posterior_entropy") for audit in (audit_before, audit_after))
    if left_before is not None and left_after is not None:
        lost = float(left_after) - float(left_before)
        cost["information_lost"] = lost if abs(lost) > NOISE else 0.0
        # Without rules, every value is as probable as every other.
        said = sum(log(max(1, len(one.values))) for one in audit_before.posteriors) - float(left_before)
        if said > NOISE:
            cost["information_lost_share"] = min(max(cost["information_lost"] / said, 0.0), 1.0)
    return cost


def _rule_keys(release: Rules) -> Iterator[tuple[frozenset[str], ...]]:
    names = release.items.names
    for sides in zip(release.antecedents, release.consequents, strict=True):
        yield tuple(frozenset(names[item] for item in side.tolist()) for side in sides)


def _read_counts(release: Rules) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the number of people that a reader takes each line for."""
    if release.support is None:
        return release.lo.astype(float)
    values = [release.support.value(index) for index in range(len(release))]
    n = release.n or 0
    return np.array([float(low if value is None else value * n) for value, low in zip(values, release.lo.tolist(), strict=True)])


def _prints_support(release: Rules, index: int) -> bool:
    return bool(release.support.text(index)) if release.support is not None else int(release.lo[index]) == int(release.hi[index])


def can_lose_lines(release: Release) -> TypeGuard[Listed]:
    """Tell if each line states only its own count."""
    return release.kind == "rules" or (release.kind == "itemsets" and release.only == "all")


def leave_out_lines(releases: Sequence[Release], gone: frozenset[Line]) -> tuple[Release, ...]:
    """Return the releases without these lines; the others keep their line numbers."""
    left = list(releases)
    for number, release in enumerate(releases):
        out = [line for one, line in gone if one == number]
        if out and can_lose_lines(release):
            lines = np.array([release.line(index) for index in range(len(release))], np.int64)
            kept = np.flatnonzero(~np.isin(lines, out))
            left[number] = replace(some_lines(release, kept), lines=lines[kept])
    return tuple(left)
