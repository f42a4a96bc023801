"""Suggestions for several releases: withhold, round, remove lines."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tacit.mining.rules import Published
from tacit.model.audit import Audit
from tacit.model.errors import RepairError
from tacit.model.policy import Limits
from tacit.model.release import Itemsets, Listed, Release, Rules
from tacit.model.rounding import Precision, rounded
from tacit.repairs.lists import (
    FEW_PROOFS,
    Line,
    Lines,
    breaking,
    can_lose_lines,
    cited_lines,
    holding,
    leave_out_lines,
)
from tacit.repairs.round import DECIMALS, count_open
from tacit.verbs.audit import audit, whole_of
from tacit.verbs.kinds import kind_of
from tacit.verbs.rounding import can_be_rounded, cell_error, rounded_cells
from tacit.verbs.suggest import Done, SuggestCase, Way, Words

#: How the loss is measured.
MEASURED = "mean over the published lines: 1 for one that is kept back, else the relative error of its count"
BASES = (5, 10, 20, 50, 100)


def ways(case: SuggestCase) -> list[Way]:
    """Return the repairs to try; releases have numbers."""
    exact = [number for number, one in enumerate(case.releases) if one.kind in _ROUNDINGS and _ROUNDINGS[one.kind].is_exact(one)]
    found = [Way("leave out lines", "take out the lines that most proofs rest on", partial(_leave_out, case))]
    found += [Way("round", f"round the numbers of release {one + 1}", partial(_round, case, (one,))) for one in exact]
    if len(exact) > 1:
        found.append(Way("round all", "round the numbers of all of them", partial(_round, case, tuple(exact))))
    if any(one.kind == "frequencies" for one in case.releases):
        found.append(Way("suppress", "hide the fewest further cells and lines", partial(_suppress, case)))
    numbers = range(len(case.releases))
    return found + [Way("keep back", f"do not publish release {one + 1}", partial(_keep_back, case, one)) for one in numbers]


def ways_of_rules(case: SuggestCase) -> list[Way]:
    """Return the repairs to try of one list of rules that names no sensitive column."""

    def round_alone(seconds: float) -> Done:
        done = _round(case, (0,), seconds)
        return replace(_alone(case, done), what="print supports with fewer decimals, and no confidence")

    def leave_out_alone(seconds: float) -> Done:
        done = _leave_out(case, seconds)
        return replace(_alone(case, done), what=f"take out {done.cost['lines_lost']:,} rules that most proofs rest on")

    can_round = _ROUNDINGS["rules"].is_exact(case.releases[0])
    found = [Way("round", "print supports with fewer decimals", round_alone)] if can_round else []
    return [*found, Way("withdraw", "take out the rules that most proofs rest on", leave_out_alone)]


def _alone(case: SuggestCase, done: Done) -> Done:
    """Return a result about the only release; to audit it again is not a step."""
    assert isinstance(done.release, tuple)
    n = case.releases[0].n
    header: Words = ("--sa", "none", *(("--n", str(n)) if n else ()))
    commands = tuple((*words[:3], *header, *words[3:]) for words in done.commands[:-1])
    return replace(done, release=done.release[0], commands=commands)


def _look(case: SuggestCase, limits: Limits, releases: Sequence[Release], *, first_hit: bool = False) -> Audit:
    limits.check("suggest")
    how: dict[str, Any] = {"policy": case.policy, "first_hit": first_hit, "time_limit": limits.seconds_left}
    if any(kind_of(one).takes_known for one in releases):
        how |= {"known": case.known, "knowledge": case.knowledge, "data": case.data, "withheld": case.withheld}
    return audit(releases[0], **how) if len(releases) == 1 else audit(list(releases), people=case.people, **how)


def _takes_known(case: SuggestCase) -> bool:
    """Tell if what is known of people is part of the audit."""
    return any(kind_of(one).takes_known for one in case.releases)


def _words_about(case: SuggestCase, number: int) -> Words:
    """Return the first words of a repair of one release, and what it is repaired with."""
    given = case.inputs("data", "knowledge") if case.releases[number].kind == "rules" else ()
    return ("tacit", "repair", f"@{number}", *given)


def _audit_words(case: SuggestCase, files: Sequence[str]) -> Words:
    people: Words = ("--people", case.people.to_text()) if case.people is not None and len(files) > 1 else ()
    given = case.inputs("data", "known", "knowledge") if _takes_known(case) else ()
    return (
        "tacit",
        "audit",
        *files,
        *people,
        *given,
        *case.expectation,
        *case.policy_words("k", "l", "max_posterior", "max_gain"),
    )


def _count_lines(case: SuggestCase) -> int:
    return max(1, sum(len(release) for release in case.releases))


def _keep_back(case: SuggestCase, number: int, seconds: float) -> Done:
    left = [place for place in range(len(case.releases)) if place != number]
    releases = tuple(case.releases[place] for place in left)
    gone = len(case.releases[number])
    return Done(
        releases,
        _look(case, Limits.within(seconds), releases),
        loss=gone / _count_lines(case),
        measured=MEASURED,
        cost={"releases_lost": 1, "lines_lost": gone},
        commands=(_audit_words(case, [f"@{place}" for place in left]),),
    )


def _suppress(case: SuggestCase, seconds: float) -> Done:
    from tacit.verbs.suppress import suppress_releases

    given: dict[str, Any] = {"people": case.people}
    if any(kind_of(one).takes_known for one in case.releases):
        given |= {"known": case.known, "knowledge": case.knowledge, "data": case.data, "withheld": case.withheld}
    made = suppress_releases(case.releases, policy=case.policy, time_limit=seconds, before=case.before, **given)
    return Done(
        made.release,
        made.after,
        loss=made.facts["hidden"] / _count_lines(case),
        measured=MEASURED,
        cost=made.cost,
        commands=((*_words_about_all(case), "--method", "suppress", *case.policy_words("k"), "-o", "@out"),),
        what=made.what,
    )


def _words_about_all(case: SuggestCase) -> Words:
    """Return the first words of a repair of all releases together."""
    people: Words = ("--people", case.people.to_text()) if case.people is not None else ()
    given = case.inputs("data", "known", "knowledge") if _takes_known(case) else ()
    return ("tacit", "repair", *(f"@{place}" for place in range(len(case.releases))), *people, *given)


# Rounding


@dataclass(frozen=True, slots=True)
class _Rounding:
    """Rounding of one kind of release.

    ``precisions`` takes the bases to try, ``error`` is the mean relative error of the counts.
    """

    is_exact: Callable[[Any], bool]
    precisions: Callable[[Any, Sequence[int]], list[Precision]]
    print: Callable[[Any, Precision], Release]
    error: Callable[[Any, Any], float]


def _are_exact_rules(release: Rules) -> bool:
    is_exact = (release.lo == release.hi).all() and (release.whole_lo == release.whole_hi).all()
    return bool(len(release) and release.n and is_exact)


def _bases_of_itemsets(release: Itemsets, bases: Sequence[int]) -> list[Precision]:
    most = int(release.lo.min())
    return [Precision(base=base) for base in bases if base <= most] or [Precision(base=bases[0])]


def _decimals_of_rules(release: Rules, _: Sequence[int]) -> list[Precision]:
    every = [Precision(decimals=digits) for digits in reversed(DECIMALS)]
    return [one for one in every if one.step(release.n or 0) >= 2]


def _print_rules(release: Rules, precision: Precision) -> Rules:
    return Lines(release, release.lo, release.whole_lo).printed(Published(digits=precision.decimals))


def _line_error(before: Listed, after: Listed) -> float:
    counted = before.lo > 0
    moved = np.abs((after.lo + after.hi) / 2 - before.lo)[counted] / before.lo[counted]
    return float(moved.mean()) if len(moved) else 0.0


def _repair_words(case: SuggestCase, number: int, precision: Precision) -> Words:
    how: Words = ("--base", str(precision.base)) if precision.base is not None else ("--decimals", str(precision.decimals))
    return (*_words_about(case, number), "--method", "round", *how, *case.policy_words("k"), "-o", f"@out/{number + 1}")


_ROUNDINGS: Mapping[str, _Rounding] = {
    "itemsets": _Rounding(
        is_exact=lambda release: release.is_exact and len(release) > 0,
        precisions=_bases_of_itemsets,
        print=rounded,
        error=_line_error,
    ),
    "rules": _Rounding(
        is_exact=_are_exact_rules,
        precisions=_decimals_of_rules,
        print=_print_rules,
        error=_line_error,
    ),
    "frequencies": _Rounding(
        is_exact=can_be_rounded,
        precisions=lambda _, bases: [Precision(base=base) for base in bases],
        print=lambda release, precision: rounded_cells(release, precision.base or 1),
        error=cell_error,
    ),
}


def _round(case: SuggestCase, numbers: tuple[int, ...], seconds: float) -> Done:
    """Round some releases to the finest safe precision."""
    limits = Limits.within(seconds)
    rounding = {number: _ROUNDINGS[case.releases[number].kind] for number in numbers}
    least = case.policy.least_base
    bases = [least, *(base for base in BASES if base > least)]
    steps = {number: row.precisions(case.releases[number], bases) for number, row in rounding.items()}
    if not all(steps.values()):
        raise RepairError("its numbers are small or shares already", where="round", remedy="Choose another way")
    longest = max(len(one) for one in steps.values())
    # What a proof says without these numbers stays proved however they are rounded.
    is_hopeless = _is_proved_without(case.before, numbers)
    waiting = list(range(longest))[-1 if is_hopeless else 0 :]
    quick: Audit | None = None
    while waiting:
        turn = waiting.pop(0)
        form = {number: one[min(turn, len(one) - 1)] for number, one in steps.items()}
        now = list(case.releases)
        for number, row in rounding.items():
            now[number] = row.print(case.releases[number], form[number])
        if is_hopeless:
            break
        before = None if quick is None else count_open(quick)
        quick = _look(case, limits, now, first_hit=True)
        still_open = count_open(quick)
        if quick.ok:
            break
        if before is not None and still_open is not None and still_open >= before:
            waiting = waiting[-1:]  # coarser numbers do not settle what finer ones leave open
    errors = [row.error(case.releases[number], now[number]) * len(now[number]) for number, row in rounding.items()]
    cost = {
        "lines_rounded": sum(len(now[number]) for number in numbers),
        "support_error_mean": sum(errors) / _count_lines(case),
    }
    files = [f"@out/{place + 1}" if place in numbers else f"@{place}" for place in range(len(now))]
    commands = [_repair_words(case, number, form[number]) for number in numbers]
    named = ", ".join(f"release {number + 1} to {form[number].label}" for number in numbers)
    return Done(
        tuple(now),
        (quick and whole_of(quick)) or _look(case, limits, now),
        loss=cost["support_error_mean"],
        measured=MEASURED,
        cost=cost,
        commands=(*commands, _audit_words(case, files)),
        what=f"round the numbers of {named}",
    )


def _is_proved_without(found: Audit, numbers: Collection[int]) -> bool:
    """Tell if one of the worst proofs cites nothing of these releases."""
    runs = [run for run in found.runs if run.claim == "proves" and run.show is not None]
    shown = (run.show(index) for run in runs if run.show is not None for index in range(min(FEW_PROOFS, run.findings)))
    cited = ({one.release for one in finding.because} for finding in shown)
    return any(releases and releases.isdisjoint(numbers) for releases in cited)


# Removal of lines


def _leave_out(case: SuggestCase, seconds: float) -> Done:
    """Remove few lines behind all proofs; restore needless ones."""
    look = partial(_look, case, Limits.within(seconds))
    patience = Limits.within(0.6 * seconds)
    listed = [(number, one) for number, one in enumerate(case.releases) if can_lose_lines(one)]
    counts = {(number, one.line(index)): int(one.hi[index]) for number, one in listed for index in range(len(one))}
    gone: frozenset[Line] = frozenset()
    after = case.before if case.before.verdict == "exposed" else look(case.releases)
    while after.verdict == "exposed":
        cited = frozenset(breaking(cited_lines(after), lambda line: counts.get(line, np.inf))) & counts.keys()
        if not cited:
            remedy = "Keep a release back, or round its numbers"
            raise RepairError("what is found rests on no line of a list", where="leave out lines", remedy=remedy)
        gone |= _with_larger(case.releases, cited)
        after = look(leave_out_lines(case.releases, gone))
    for line in sorted(gone, key=lambda one: (-counts[one], one)):
        fewer = gone - {line}
        if _with_larger(case.releases, fewer) != fewer:
            continue  # a smaller itemset is out, and lists keep all subsets of their itemsets
        if (patience.seconds_left or 0) <= 0.001:
            break
        gone = fewer if look(leave_out_lines(case.releases, fewer), first_hit=True).ok else gone
    left = leave_out_lines(case.releases, gone)
    touched = {number: [line for release, line in sorted(gone) if release == number] for number, _ in sorted(gone)}
    named = ", ".join(f"{len(lines):,} of release {number + 1}" for number, lines in touched.items())
    files = [f"@out/{number + 1}" if number in touched else f"@{number}" for number in range(len(left))]
    commands: list[Words] = []
    for number, lines in touched.items():
        method = "withdraw" if case.releases[number].kind == "rules" else "leave-out"
        how = ("--method", method, "--lines", ",".join(map(str, lines)))
        commands.append((*_words_about(case, number), *how, "-o", f"@out/{number + 1}"))
    return Done(
        left,
        look(left),
        loss=len(gone) / _count_lines(case),
        measured=MEASURED,
        cost={"lines_lost": len(gone)},
        commands=(*commands, _audit_words(case, files)),
        what=f"take out the lines that most proofs rest on: {named}",
    )


def _with_larger(releases: Sequence[Release], lines: frozenset[Line]) -> frozenset[Line]:
    """Add the lines of all larger itemsets."""
    more = set(lines)
    for number, release in enumerate(releases):
        if release.kind == "itemsets" and (mine := {line for one, line in lines if one == number}):
            wanted = {frozenset(release.names(index)) for index in range(len(release)) if release.line(index) in mine}
            more |= {(number, release.line(index)) for index in holding(release, wanted)}
    return frozenset(more)
