"""round: publish rounded counts, as fine as the attacks allow.

Changes
    Every count is printed as the nearest multiple of a base, or as a share with some decimals; halves go up, and the header says so. The list
    itself, its threshold and the number of people stay. Without a wish for one of them, the policy's ``safe_round_base`` (5), 10, 20, 50, ..
    and 0 to 6 decimals of at least that step are tried from the finest to the coarsest, and the first whose audit is clean is taken; it is the
    finest, because every finer one was audited and refused. Where none is clean, the one is taken in which nothing is found and the fewest
    questions stay open, and the record says so. Rules print their supports with 0 to 6 decimals, and no confidence.
Guarantee
    The original data print exactly so: nothing published is false. Attacks know the base and which way halves go, so they see exactly the
    counts that print the same; a group is safe when no reasoning over all lines together proves it to be small. Rounding is not monotone (a
    coarser grid may lie worse), so each is audited by itself.
Cost
    One audit per precision tried, up to its first finding; an audit looks at up to ``3**|M|`` patterns per maximal itemset M. Sets of more than
    13 items are decided where rounding is coarse, and may stay undecided where it is fine; above 22 items they always do.
Example
    50 people have a, 49 have a and b: rounded to tens both print 50, and from 45 to 54 minus 45 to 54 nothing follows.
Reference
    Our own; rounding is the oldest protection of published tables, see Hundepool et al., Statistical Disclosure Control, Wiley 2012, chapter 5.
"""

from __future__ import annotations

from itertools import count, takewhile

from tacit.mining.rules import Published
from tacit.model.audit import Audit
from tacit.model.errors import OptionError
from tacit.model.release import Itemsets, Rules
from tacit.model.repair import Proposal, RepairCase
from tacit.model.rounding import Precision, rounded
from tacit.repairs.lists import Lines, safety

NAME = "round"

DECIMALS = tuple(range(7))  #: How many decimals are tried where none are asked for.


def propose(case: RepairCase) -> Proposal:
    """Propose the asked precision, or the finest that audits clean.

    Where none is clean, the one in which nothing is found and the fewest questions stay open; else the coarsest.
    """
    release = case.release
    if release.kind == "rules":
        return Proposal(_round_rules(case))
    if case.precision is not None:
        return Proposal(rounded(release, case.precision))
    best = release
    best_open: int | None = None
    label = ""
    tried = 0
    waiting = finest_first(release, case.least_base)
    seen_before: int | None = None
    coarsest: Audit | None = None
    while waiting:
        precision = waiting.pop(0)
        printed = rounded(release, precision)
        found = coarsest if coarsest is not None and not waiting else case.look(printed, case.data)
        tried += 1
        if found.asked_verdict == "clean":
            return Proposal(printed)
        still_open = count_open(found)
        if best_open is None or (still_open is not None and still_open < best_open):
            best = printed
            best_open = still_open
            label = precision.label
        is_stuck = still_open is not None and seen_before is not None and still_open >= seen_before
        if coarsest is None and waiting and is_stuck:
            # Coarser numbers leave more open. Where even the coarsest are not decided, those between are not tried.
            coarsest = case.look(rounded(release, waiting[-1]), case.data)
            if coarsest.asked_verdict != "clean":
                waiting = waiting[-1:]
        seen_before = still_open
    return Proposal(best, remark=_describe_failure(tried, label, best_open))


def count_open(found: Audit) -> int | None:
    """Return the number of open questions, None if something was found."""
    return sum(run.undecided for run in found.runs) if found.asked_verdict == "incomplete" else None


def _describe_failure(tried: int, label: str, still_open: int | None) -> str:
    none = f"None of the {tried:,} precisions tried is proved safe" if tried > 1 else "The precision tried is not proved safe"
    if still_open is None:
        return f"{none}: a small group is still revealed."
    number = "1 question stays" if still_open == 1 else f"{still_open:,} questions stay"
    return f"{none}: with {label} nothing is found, but {number} open."


def _round_rules(case: RepairCase) -> Rules:
    """Round supports to the asked decimals, or the most that are safe."""
    lines = Lines.of(case)
    printed_now = lines.release.header.digits
    if lines.release.is_withheld:
        remedy = "Nothing is left to round; choose withdraw or raise-threshold"
        raise OptionError("the rules print no numbers", where=f"--method {NAME}", remedy=remedy)
    if case.precision is not None:
        if case.precision.decimals is None:
            remedy = "Choose --decimals: rules print their supports as shares"
            raise OptionError("rounds counts of itemsets", where="--base", remedy=remedy)
        return lines.printed(Published(digits=case.precision.decimals))
    best = lines.release
    best_safety = -1
    # A step of less than one person prints every count exactly, and more digits than now would say more than now.
    for decimals in reversed(DECIMALS):
        if Precision(decimals=decimals).step(lines.release.n) < 1 or (printed_now is not None and decimals >= printed_now):
            continue
        printed = lines.printed(Published(digits=decimals))
        how_safe = safety(case.look(printed))
        if how_safe == 2:
            return printed
        if how_safe > best_safety or best_safety == 0:
            best = printed
            best_safety = how_safe
    return best


def finest_first(release: Itemsets, least_base: int = 2) -> list[Precision]:
    """Return the usual precisions that change counts, the finest first."""
    choices = [Precision(base=base) for base in usual_bases(release, least_base)]
    if release.n:
        choices += [one for decimals in DECIMALS if (one := Precision(decimals=decimals)).step(release.n) >= least_base]
    return sorted(choices, key=lambda one: (one.step(release.n), one.base is None))


def usual_bases(release: Itemsets, least: int = 2) -> list[int]:
    """Return the usual bases up to the smallest published count.

    The least base, then 2, 5, 10, 20, 50, .. above it; beyond, counts would print as 0.
    """
    most = max(int(release.lo.min()) if len(release) else 0, least)
    usual = (base * 10**power for power in count() for base in (2, 5, 10))
    return [least, *(base for base in takewhile(lambda base: base <= most, usual) if base > least)]
