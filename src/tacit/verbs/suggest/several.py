"""Suggestions for several releases: withhold, round, remove lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeGuard

import numpy as np

from tacit.errors import RepairError
from tacit.model.audit import Audit
from tacit.model.policy import Limits
from tacit.model.release import Listed, Release
from tacit.model.rounding import Precision
from tacit.repairs.lists import Line, breaking, cited_lines, holding, some_lines
from tacit.verbs.audit import audit
from tacit.verbs.kinds import kind_of
from tacit.verbs.suggest import Done, SuggestCase, Way, Words
from tacit.verbs.suggest.rounding import rounder_of

#: How the loss is measured.
MEASURED = "mean over the published lines: 1 for one that is kept back, else the relative error of its count"
BASES = (5, 10, 20, 50, 100)


def ways(case: SuggestCase) -> list[Way]:
    """Return the repairs to try; releases have numbers."""
    numbers = range(len(case.releases))
    exact = [number for number in numbers if rounder_of(case.releases[number]).is_exact(case.releases[number])]
    found = [Way("leave out lines", "take out the lines that most proofs rest on", partial(_leave_out, case))]
    found += [Way("round", f"round the numbers of release {one + 1}", partial(_round, case, (one,))) for one in exact]
    if len(exact) > 1:
        found.append(Way("round all", "round the numbers of all of them", partial(_round, case, tuple(exact))))
    found += [Way("keep back", f"do not publish release {one + 1}", partial(_keep_back, case, one)) for one in numbers]
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Looker:
    """Audit of the remaining releases, within the time."""

    case: SuggestCase
    limits: Limits

    def look(self, releases: Sequence[Release], *, first_hit: bool = False) -> Audit:
        self.limits.check("suggest")
        how: dict[str, Any] = {"policy": self.case.policy, "first_hit": first_hit, "time_limit": self.limits.seconds_left}
        if any(kind_of(one).takes_known for one in releases):
            how |= {"known": self.case.known, "knowledge": self.case.knowledge, "data": self.case.data}
        if len(releases) == 1:
            return audit(releases[0], **how)
        return audit(list(releases), people=self.case.people, **how)


def _audit_words(case: SuggestCase, files: Sequence[str]) -> Words:
    people: Words = ("--people", case.people.to_text()) if case.people is not None and len(files) > 1 else ()
    return ("tacit", "audit", *files, *people, *case.policy_words("k", "l", "max_posterior", "max_gain"))


def _total(case: SuggestCase) -> int:
    return max(1, sum(len(release) for release in case.releases))


def _keep_back(case: SuggestCase, number: int, seconds: float) -> Done:
    left = [release for place, release in enumerate(case.releases) if place != number]
    after = _Looker(case, Limits.within(seconds)).look(left)
    gone = len(case.releases[number])
    files = [f"@{place}" for place in range(len(case.releases)) if place != number]
    cost = {"releases_lost": 1, "lines_lost": gone}
    return Done(
        tuple(left),
        after,
        loss=gone / _total(case),
        measured=MEASURED,
        cost=cost,
        commands=(_audit_words(case, files),),
    )


def _round(case: SuggestCase, numbers: tuple[int, ...], seconds: float) -> Done:
    looker = _Looker(case, Limits.within(seconds))
    forms = _forms(case.releases, numbers, case.policy.least_base)
    for last, form in enumerate(forms, 1 - len(forms)):
        now = [_rounded(release, form.get(place)) for place, release in enumerate(case.releases)]
        if last == 0 or looker.look(now, first_hit=True).ok:
            break
    else:
        raise RepairError("its numbers are small or shares already", where="round", remedy="Choose another way")
    errors = [rounder_of(now[place]).error(case.releases[place], now[place]) * len(now[place]) for place in numbers]
    cost = {"lines_rounded": sum(len(now[place]) for place in numbers), "support_error_mean": sum(errors) / _total(case)}
    named = ", ".join(f"release {place + 1} to {form[place].label}" for place in numbers)
    files = [f"@out/{place + 1}" if place in numbers else f"@{place}" for place in range(len(now))]
    commands = [rounder_of(now[place]).words(case.releases[place], case, place, form[place]) for place in numbers]
    return Done(
        tuple(now),
        looker.look(now),
        loss=cost["support_error_mean"],
        measured=MEASURED,
        cost=cost,
        commands=(*commands, _audit_words(case, files)),
        what=f"round the numbers of {named}",
    )


def _rounded(release: Release, precision: Precision | None) -> Release:
    if precision is None:
        return release
    made: Release = rounder_of(release).print(release, precision)
    return made


def _forms(releases: Sequence[Release], numbers: tuple[int, ...], least: int) -> list[dict[int, Precision]]:
    """Return the precisions from ``least`` on, ever coarser."""
    bases = [least, *(base for base in BASES if base > least)]
    steps = {number: rounder_of(releases[number]).precisions(releases[number], bases) for number in numbers}
    if not all(steps.values()):
        return []
    length = max((len(one) for one in steps.values()), default=0)
    return [{number: one[min(turn, len(one) - 1)] for number, one in steps.items()} for turn in range(length)]


def _leave_out(case: SuggestCase, seconds: float) -> Done:
    looker = _Looker(case, Limits.within(seconds))
    patience = Limits.within(0.6 * seconds)
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
    touched = {number: [line for release, line in sorted(left.gone) if release == number] for number, _ in sorted(left.gone)}
    named = ", ".join(f"{len(lines):,} of release {number + 1}" for number, lines in touched.items())
    files = [f"@out/{number + 1}" if number in touched else f"@{number}" for number in range(len(left.all))]
    commands = [*(_line_words(case, number, lines) for number, lines in touched.items()), _audit_words(case, files)]
    what = f"take out the lines that most proofs rest on: {named}"
    return Done(
        left.releases(),
        after,
        loss=len(left.gone) / _total(case),
        measured=MEASURED,
        cost={"lines_lost": len(left.gone)},
        commands=tuple(commands),
        what=what,
    )


def _line_words(case: SuggestCase, number: int, lines: Sequence[int]) -> Words:
    method = "withdraw" if case.releases[number].kind == "rules" else "leave-out"
    named = ",".join(map(str, lines))
    return ("tacit", "repair", f"@{number}", "--method", method, "--lines", named, "-o", f"@out/{number + 1}")


def can_lose_lines(release: Release) -> TypeGuard[Listed]:
    """Tell if each line states only its own count."""
    return release.kind == "rules" or (release.kind == "itemsets" and release.only == "all")


@dataclass(frozen=True, slots=True, eq=False)
class _Left:
    """Releases, counts of their lines, and lines removed."""

    all: tuple[Release, ...]
    counts: Mapping[Line, int]
    gone: frozenset[Line] = frozenset()

    @classmethod
    def of(cls, releases: tuple[Release, ...]) -> _Left:
        listed = [(number, one) for number, one in enumerate(releases) if can_lose_lines(one)]
        return cls(releases, {(n, one.line(index)): int(one.hi[index]) for n, one in listed for index in range(len(one))})

    def with_larger(self, lines: frozenset[Line]) -> frozenset[Line]:
        """Add the lines of all larger itemsets."""
        more = set(lines)
        for number, release in enumerate(self.all):
            if release.kind == "itemsets" and (mine := {line for one, line in lines if one == number}):
                wanted = {frozenset(release.names(index)) for index in range(len(release)) if release.line(index) in mine}
                more |= {(number, release.line(index)) for index in holding(release, wanted)}
        return frozenset(more)

    def releases(self) -> tuple[Release, ...]:
        return tuple(self._release(number) for number in range(len(self.all)))

    def _release(self, number: int) -> Release:
        release = self.all[number]
        gone = {line for one, line in self.gone if one == number}
        if not gone or not can_lose_lines(release):
            return release
        lines = np.array([release.line(index) for index in range(len(release))], np.int64)
        kept = np.flatnonzero(~np.isin(lines, list(gone)))
        return replace(some_lines(release, kept), lines=lines[kept])
