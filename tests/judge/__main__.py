"""Judge random releases until the time is over, and print a seed for each disagreement.

``python -m tests.judge --seconds 600 --seed 1 --kind rounded-list``; with ``--show`` one case is printed with all that is known about it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from tests.judge.cases import KINDS, draw
from tests.judge.verdicts import WRONG, Verdict, judge


def main() -> int:
    """Run and return 1 where Tacit and the worlds disagree."""
    parser = argparse.ArgumentParser(prog="python -m tests.judge", description="Judge Tacit's verdicts against every world.")
    parser.add_argument("--kind", action="append", choices=list(KINDS), help="only these kinds (repeatable)")
    parser.add_argument(
        "--seed", type=int, default=None, help="the one case to judge and print; with --seconds or --cases the first"
    )
    parser.add_argument("--seconds", type=float, default=None, help="how long to go on")
    parser.add_argument("--cases", type=int, default=None, help="how many seeds of each kind")
    given = parser.parse_args()
    kinds = given.kind or list(KINDS)
    if given.seed is not None and given.seconds is None and given.cases is None:
        return max([show(judge(draw(kind, given.seed))) for kind in kinds])
    outcomes: dict[str, Counter[str]] = {kind: Counter() for kind in kinds}
    spent: dict[str, float] = dict.fromkeys([*kinds, "judge"], 0.0)
    started = time.monotonic()
    seed = given.seed or 0
    while given.cases is None or seed < (given.seed or 0) + given.cases:
        for kind in kinds:
            verdict = judge(draw(kind, seed))
            outcomes[kind][verdict.outcome] += 1
            outcomes[kind][verdict.said] += verdict.outcome == "right"
            spent[kind] += verdict.seconds
            spent["judge"] += verdict.judged
            if verdict.outcome in WRONG:
                say(
                    f"{verdict.outcome}: python -m tests.judge --kind {kind} --seed {seed}   # {verdict.notes[:1] or verdict.said}"
                )
        seed += 1
        if given.seconds is not None and time.monotonic() - started > given.seconds:
            break
    summary(outcomes, spent)
    return int(any(found[word] for found in outcomes.values() for word in WRONG))


def summary(outcomes: dict[str, Counter[str]], spent: dict[str, float]) -> None:
    """Print the counts by kind."""
    words = ("right", "clean", "exposed", "undecided", *WRONG, "too large")
    say(f"{'kind':22}" + "".join(f"{word:>13}" for word in words) + f"{'ms a case':>11}")
    for kind, found in outcomes.items():
        cases = max(1, sum(found[word] for word in ("right", "undecided", *WRONG)))
        say(f"{kind:22}" + "".join(f"{found[word]:13,}" for word in words) + f"{1000 * spent[kind] / cases:11.1f}")
    whole: Counter[str] = sum(outcomes.values(), Counter())
    say(f"{'all':22}" + "".join(f"{whole[word]:13,}" for word in words) + f"   (judge itself: {spent['judge']:.0f} s)")


def show(verdict: Verdict) -> int:
    """Print a case: its files, what Tacit said and what every world has."""
    case = verdict.case
    for release in case.releases:
        for name, text in release.files.items():
            say(f"--- {name}\n{text.rstrip()}")
    say(f"--- k = {case.k}" + (f", --people {case.people}" if case.people else ""))
    if case.known is not None:
        say(f"known: {[tuple(row.values()) for row in case.known]}")
    if case.knowledge:
        say(f"knowledge: {case.knowledge}")
    say(f"Tacit: {verdict.said}   judge: {verdict.outcome}   {1000 * verdict.seconds:.0f} ms")
    for note in verdict.notes:
        say(f"  {note}")
    return int(verdict.outcome in WRONG)


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
