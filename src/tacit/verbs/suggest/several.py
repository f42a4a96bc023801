"""What could be done about several releases: keep one of them back, print one less exactly, or take out the lines that all proofs rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeGuard

import numpy as np

from tacit.errors import RepairError
from tacit.mining.rules import Published
from tacit.model.audit import Audit
from tacit.model.frequencies import FrequencyTable
from tacit.model.policy import Limits
from tacit.model.release import Itemsets, Listed, Release, Rules
from tacit.model.repair import Done, SuggestCase, Way, Words
from tacit.model.rounding import Precision, rounded
from tacit.repairs.lists import Line, Lines, breaking, cited_lines, holding, some_lines
from tacit.repairs.round import DECIMALS
from tacit.verbs.audit import audit
from tacit.verbs.suggest.frequencies import can_be_rounded, cell_error, rounded_cells, tabulate_words

#: How the loss is measured.
MEASURED = "mean over the published lines: 1 for one that is kept back, else the relative error of its count"
BASES = (5, 10, 20, 50, 100)


def ways(case: SuggestCase) -> list[Way]:
    """One release kept back; one, or all, with rounded counts; a few lines taken out."""
    numbers = range(len(case.releases))
    exact = [number for number in numbers if is_exact(case.releases[number])]
    found = [Way("leave out lines", "take out the lines that most proofs rest on", partial(_leave_out, case))]
    found += [Way("round", f"round the numbers of {case_name(case, one)}", partial(_round, case, (one,))) for one in exact]
    if len(exact) > 1:
        found.append(Way("round all", "round the numbers of all of them", partial(_round, case, tuple(exact))))
    return found + [Way("keep back", f"do not publish {case_name(case, one)}", partial(_keep_back, case, one)) for one in numbers]


def case_name(case: SuggestCase, number: int) -> str:
    """What a release is called: its number, so that a record for outsiders names no file."""
    return f"release {number + 1}"


def is_exact(release: Release) -> bool:
    """Whether a release is a list that prints exact numbers, which can be rounded."""
    if isinstance(release, Itemsets):
        return release.is_exact and len(release) > 0
    if isinstance(release, FrequencyTable):
        return can_be_rounded(release)
    if not isinstance(release, Rules) or not len(release) or not release.n:
        return False
    return bool((release.lo == release.hi).all() and (release.whole_lo == release.whole_hi).all())


@dataclass(frozen=True, slots=True, eq=False)
class _Looker:
    """Audits what is left of the releases, within the time."""

    case: SuggestCase
    limits: Limits

    def look(self, releases: Sequence[Release], *, first_hit: bool = False) -> Audit:
        self.limits.check("suggest")
        how: dict[str, Any] = {"policy": self.case.policy, "first_hit": first_hit, "time_limit": self.limits.seconds_left}
        some_rules = any(isinstance(one, Rules) for one in releases)
        if some_rules:
            how |= {"known": self.case.known, "knowledge": self.case.knowledge, "data": self.case.data}
        if len(releases) == 1:
            return audit(releases[0], **how)
        return audit(list(releases), people=self.case.people, **how)


def _audit_words(case: SuggestCase, files: Sequence[str]) -> Words:
    """The command that audits what is left."""
    people: Words = ("--people", case.people.to_text()) if case.people is not None and len(files) > 1 else ()
    return ("tacit", "audit", *files, *people, *case.policy_words("k", "l", "max_posterior", "max_gain"))


def _total(case: SuggestCase) -> int:
    return max(1, sum(len(release) for release in case.releases))


def _keep_back(case: SuggestCase, number: int, seconds: float) -> Done:
    """All releases but one."""
    left = [release for place, release in enumerate(case.releases) if place != number]
    after = _Looker(case, Limits.within(seconds)).look(left)
    gone = len(case.releases[number])
    files = [f"@{place}" for place in range(len(case.releases)) if place != number]
    cost = {"releases_lost": 1, "lines_lost": gone}
    return Done(tuple(left), after, gone / _total(case), MEASURED, cost, (_audit_words(case, files),))


def _round(case: SuggestCase, numbers: tuple[int, ...], seconds: float) -> Done:
    """Some releases with rounded numbers, as fine as no attack breaks; the coarsest where all are broken."""
    looker = _Looker(case, Limits.within(seconds))
    forms = _forms(case.releases, numbers, case.policy.least_base)
    for last, form in enumerate(forms, 1 - len(forms)):
        now = [printed(release, form[place]) if place in form else release for place, release in enumerate(case.releases)]
        if last == 0 or looker.look(now, first_hit=True).ok:
            break
    else:
        raise RepairError("its numbers are small or shares already", where="round", remedy="Choose another way")
    errors = [_error(case.releases[place], now[place]) * len(now[place]) for place in numbers]
    cost = {"lines_rounded": sum(len(now[place]) for place in numbers), "support_error_mean": sum(errors) / _total(case)}
    told = ", ".join(f"release {place + 1} to {form[place].label}" for place in numbers)
    commands = [_round_words(case, place, form[place]) for place in numbers]
    files = [f"@out/{place + 1}" if place in numbers else f"@{place}" for place in range(len(now))]
    after, commands = looker.look(now), [*commands, _audit_words(case, files)]
    return Done(tuple(now), after, cost["support_error_mean"], MEASURED, cost, tuple(commands), f"round the numbers of {told}")


def _forms(releases: Sequence[Release], numbers: tuple[int, ...], least: int) -> list[dict[int, Precision]]:
    """The precisions to try for some releases, all of them coarser from one to the next and none finer than a base."""
    steps = []
    bases = [least, *(base for base in BASES if base > least)]
    for number in numbers:
        release = releases[number]
        if isinstance(release, Itemsets):
            most = int(release.lo.min())
            steps.append([Precision(base=base) for base in bases if base <= most] or [Precision(base=least)])
        elif isinstance(release, FrequencyTable):
            steps.append([Precision(base=base) for base in bases])
        else:
            n = release.n or 0
            steps.append([one for digits in reversed(DECIMALS) if (one := Precision(decimals=digits)).step(n) >= 2])
    length = max((len(one) for one in steps), default=0)
    if not all(steps):
        return []
    return [{number: one[min(turn, len(one) - 1)] for number, one in zip(numbers, steps, strict=True)} for turn in range(length)]


def printed(release: Release, precision: Precision) -> Release:
    """A list or table of exact numbers as it prints in another precision."""
    if isinstance(release, FrequencyTable):
        return rounded_cells(release, precision.base or 1)
    if isinstance(release, Itemsets):
        return rounded(release, precision)
    assert isinstance(release, Rules)
    return Lines(release, release.lo, release.whole_lo).printed(Published(digits=precision.decimals))


def _error(before: Release, after: Release) -> float:
    """The mean relative error of the counts of a list, read as the middles of what they can be."""
    if isinstance(before, FrequencyTable) and isinstance(after, FrequencyTable):
        return cell_error(before, after)
    assert isinstance(before, (Itemsets, Rules))
    assert isinstance(after, (Itemsets, Rules))
    moved = np.abs((after.lo + after.hi) / 2 - before.lo)[before.lo > 0] / before.lo[before.lo > 0]
    return float(moved.mean()) if len(moved) else 0.0


def _round_words(case: SuggestCase, number: int, precision: Precision) -> Words:
    release = case.releases[number]
    if isinstance(release, FrequencyTable):
        return (*tabulate_words(release, {"round_to": precision.base})[:-1], f"@out/{number + 1}")
    how: Words = ("--base", str(precision.base)) if precision.base is not None else ("--decimals", str(precision.decimals))
    return ("tacit", "repair", f"@{number}", "--method", "round", *how, *case.policy_words("k"), "-o", f"@out/{number + 1}")


def _leave_out(case: SuggestCase, seconds: float) -> Done:
    """All releases without a few lines that all proofs rest on; lines that turn out not to matter are put back."""
    looker, patience = _Looker(case, Limits.within(seconds)), Limits.within(0.6 * seconds)
    left = _Left.of(case.releases)
    counts = left.counts
    while (after := looker.look(left.releases())).verdict == "exposed":
        gone = frozenset(breaking(cited_lines(after), lambda line: counts.get(line, np.inf))) & counts.keys()
        if not gone:
            remedy = "Keep a release back, or round its numbers"
            raise RepairError("what is found rests on no line of a list", where="leave out lines", remedy=remedy)
        left = replace(left, gone=left.gone | left.with_larger(gone))
    for line in sorted(left.gone, key=lambda one: (-left.counts[one], one)):
        more = replace(left, gone=left.gone - {line})
        if more.with_larger(more.gone) != more.gone:
            continue  # a smaller itemset is out, and lists keep all subsets of their itemsets
        if (patience.seconds_left or 0) <= 0.001:
            break
        left = more if looker.look(more.releases(), first_hit=True).ok else left
    return _left_out(case, left, looker.look(left.releases()))


def _left_out(case: SuggestCase, left: _Left, after: Audit) -> Done:
    """What is left, in words and commands."""
    touched = {number: [line for release, line in sorted(left.gone) if release == number] for number, _ in sorted(left.gone)}
    told = ", ".join(f"{len(lines):,} of release {number + 1}" for number, lines in touched.items())
    files = [f"@out/{number + 1}" if number in touched else f"@{number}" for number in range(len(left.all))]
    commands = [*(_line_words(case, number, lines) for number, lines in touched.items()), _audit_words(case, files)]
    what = f"take out the lines that most proofs rest on: {told}"
    cost, loss = {"lines_lost": len(left.gone)}, len(left.gone) / _total(case)
    return Done(left.releases(), after, loss, MEASURED, cost, tuple(commands), what)


def _line_words(case: SuggestCase, number: int, lines: Sequence[int]) -> Words:
    named, method = ",".join(map(str, lines)), "withdraw" if isinstance(case.releases[number], Rules) else "leave-out"
    return ("tacit", "repair", f"@{number}", "--method", method, "--lines", named, "-o", f"@out/{number + 1}")


def can_lose_lines(release: Release) -> TypeGuard[Listed]:
    """Whether lines can be taken out of a release: of closed and maximal itemsets each says more than its own count."""
    return isinstance(release, Rules) or (isinstance(release, Itemsets) and release.only == "all")


@dataclass(frozen=True, slots=True, eq=False)
class _Left:
    """Releases, how many people each line of the lists among them is about, and the lines that are taken out."""

    all: tuple[Release, ...]
    counts: Mapping[Line, int]
    gone: frozenset[Line] = frozenset()

    @classmethod
    def of(cls, releases: tuple[Release, ...]) -> _Left:
        listed = [(number, one) for number, one in enumerate(releases) if can_lose_lines(one)]
        return cls(releases, {(n, one.line(index)): int(one.hi[index]) for n, one in listed for index in range(len(one))})

    def with_larger(self, lines: frozenset[Line]) -> frozenset[Line]:
        """Some lines, with those of all larger itemsets."""
        more = set(lines)
        for number, release in enumerate(self.all):
            if isinstance(release, Itemsets) and (mine := {line for one, line in lines if one == number}):
                wanted = {frozenset(release.names(index)) for index in range(len(release)) if release.line(index) in mine}
                more |= {(number, release.line(index)) for index in holding(release, wanted)}
        return frozenset(more)

    def releases(self) -> tuple[Release, ...]:
        """What is left of the releases; every line keeps the number that it has in its file."""
        return tuple(self._release(number) for number in range(len(self.all)))

    def _release(self, number: int) -> Release:
        release = self.all[number]
        gone = {line for one, line in self.gone if one == number}
        if not gone or not isinstance(release, (Itemsets, Rules)):
            return release
        lines = np.array([release.line(index) for index in range(len(release))], np.int64)
        kept = np.flatnonzero(~np.isin(lines, list(gone)))
        return replace(some_lines(release, kept), lines=lines[kept])
