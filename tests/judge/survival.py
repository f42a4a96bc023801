"""Small survival tables, judged by every group of people that prints them; shares no code with Tacit.

``python -m tests.judge.survival --cases 300`` draws people with a time, a status and perhaps an arm, prints them as programs do, lists all
groups of people that print the same, and compares: what an audit proves must hold of all of them, and where it says clean, no group of times
may be small in all of them. The judge knows how the table was made; the audit does not.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction
from itertools import accumulate, chain, combinations_with_replacement, pairwise, product
from pathlib import Path
from random import Random
from typing import Any

from tests.judge.survival_groups import holds_of

MOST_WORLDS = 60_000
FORMS = (
    "every time",
    "events and censored",
    "events",
    "survival",
    "chosen times",
    "hidden events",
    "survival alone",
    "cumulated",
)
HIDDEN_AT_CHOSEN = "hidden at chosen times"
LIFE_TABLE = "life table of chosen times"
#: Forms that do not say if somebody leaves at time 0; then nobody does.
FROM_START = ("hidden events", "survival alone", HIDDEN_AT_CHOSEN)

#: Time, whether it is an event, and the arm.
Person = tuple[int, bool, int]
World = tuple[Person, ...]


@dataclass(frozen=True)
class Case:
    """People, and how they are printed."""

    people: World
    times: tuple[int, ...]
    arms: int
    form: str
    digits: int
    chosen: tuple[int, ...]
    k: int
    says_complete: bool

    @property
    def options(self) -> dict[str, Any]:
        """What the reader is told besides the file."""
        known: dict[str, Any] = {"n": len(self.people)} if self.form == "survival alone" else {}
        if self.form == HIDDEN_AT_CHOSEN:
            known |= {"complete": False}
        return known | ({"complete": True} if self.says_complete else {})

    @property
    def possible_times(self) -> range:
        """The times that a person may have."""
        return range(int(self.form in FROM_START), 13)


def draw(seed: int, form: str | None = None) -> Case:
    """Draw people, and a form unless it is given."""
    random = Random(seed)
    arms = random.choice((1, 1, 2))
    times = tuple(sorted(random.sample(range(12), random.randint(2, 4 if arms == 1 else 3))))
    size = random.randint(2, 6 if arms == 1 else 5)
    people = tuple(sorted((random.choice(times), random.random() < 0.6, random.randrange(arms)) for _ in range(size)))
    drawn = random.choice(FORMS)
    form = form or drawn
    chosen = tuple(sorted(random.sample(range(13), random.randint(2, 3))))
    complete = form in ("events", "survival") and random.random() < 0.4
    if form in FROM_START:
        people = tuple(sorted((at or 1, has_event, arm) for at, has_event, arm in people))
        times = tuple(sorted({at or 1 for at in times}))
    if form == HIDDEN_AT_CHOSEN:
        chosen = (0, *(at for at in chosen if at))
    return Case(people, times, arms, form, random.randint(1, 4), chosen, random.randint(2, 4), complete)


def render(case: Case, people: Sequence[Person]) -> list[list[str]]:
    """Return the lines of the table of these people."""
    out: list[list[str]] = []
    for arm in range(case.arms):
        own = [one for one in people if one[2] == arm]
        if own:
            out += [([f"arm {arm}"] if case.arms > 1 else []) + line for line in lines_of(case, own)]
    return out


def header(case: Case) -> list[str]:
    """Return the names of the columns."""
    names = {
        "every time": ["event_at", "removed", "observed", "censored", "at_risk", "KM_estimate"],
        "events and censored": ["time", "n.risk", "n.event", "n.censor"],
        "events": ["time", "n.risk", "n.event"],
        "survival": ["time", "n.risk", "n.event", "survival"],
        "chosen times": ["time", "n.risk", "n.event", "n.censor", "survival"],
        "hidden events": ["time", "n.risk", "n.event", "survival"],
        "survival alone": ["timeline", "KM_estimate"],
        "cumulated": ["time", "Survival", "Failed", "Left"],
        HIDDEN_AT_CHOSEN: ["time", "n.risk", "n.event", "n.censor"],
        LIFE_TABLE: ["event_at", "removed", "observed", "censored", "at_risk"],
    }[case.form]
    return (["arm"] if case.arms > 1 else []) + names


def spans_of(case: Case) -> list[tuple[int, int]]:
    """Return the intervals of a life table, each without its first time but the first, which has everybody."""
    return list(pairwise((-1, *(at for at in case.chosen if at < 12), 12)))


def life_lines(case: Case, people: Sequence[Person]) -> list[list[str]]:
    """Return the lines of a life table, as lifelines collapses times."""
    out = []
    for low, high in spans_of(case):
        inside = [one for one in people if low < one[0] <= high]
        dead = sum(one[1] for one in inside)
        label = f"({'-0.001' if low < 0 else f'{low}.0'}, {high}.0]"
        counts = (len(inside), dead, len(inside) - dead, sum(one[0] > low for one in people))
        out.append([f'"{label}"', *map(str, counts)])
    return out


def lines_of(case: Case, people: Sequence[Person]) -> list[list[str]]:
    """Return the lines of one arm."""
    if case.form == LIFE_TABLE:
        return life_lines(case, people)
    share = Fraction(1)
    shares: dict[int, Fraction] = {}
    for at in sorted({one[0] for one in people}):
        dead = sum(one[0] == at and one[1] for one in people)
        share *= 1 - Fraction(dead, sum(one[0] >= at for one in people))
        shares[at] = share
    every = sorted(shares)
    listed = [at for at in every if any(one[0] == at and one[1] for one in people)]
    if case.form in ("every time", "cumulated") or case.form == "survival alone":
        listed = sorted({0, *every})
    elif case.form.endswith("chosen times"):
        listed = [at for at in case.chosen if any(one[0] >= at for one in people)]
    out = []
    for number, at in enumerate(listed):
        since = listed[number - 1] if number else -1
        until = listed[number + 1] if number + 1 < len(listed) else 10**6
        risk = sum(one[0] >= at for one in people)
        dead = sum(one[0] == at and one[1] for one in people)
        left = sum(at <= one[0] < until and not one[1] for one in people)
        if case.form.endswith("chosen times"):
            dead = sum(since < one[0] <= at and one[1] for one in people)
            left = sum(since < one[0] <= at and not one[1] for one in people)
        printed = digits(next((shares[one] for one in reversed(every) if one <= at), Fraction(1)), case.digits)
        failed = sum(one[0] <= at and one[1] for one in people)
        after = sum(one[0] > at for one in people)
        columns: dict[str, list[Any]] = {
            "every time": [at, dead + left, dead, left, risk, printed],
            "events and censored": [at, risk, dead, left],
            "events": [at, risk, dead],
            "survival": [at, risk, dead, printed],
            "chosen times": [at, risk, dead, left, printed],
            "hidden events": [at, risk, "" if dead < case.k else dead, printed],
            "survival alone": [at, printed],
            "cumulated": [at, printed, failed, after],
            HIDDEN_AT_CHOSEN: [at, risk, *(f"<{case.k}" if one < case.k else one for one in (dead, left))],
        }
        out.append([str(one) for one in columns[case.form]])
    return out


def digits(share: Fraction, places: int) -> str:
    """Print a share with so many decimals."""
    step = Decimal(1).scaleb(-places)
    value = Decimal(share.numerator) / Decimal(share.denominator)
    return str(value.quantize(step, ROUND_HALF_EVEN if places % 2 else ROUND_HALF_UP))


def worlds(case: Case) -> Iterator[World]:
    """Yield all people who print the same table."""
    told = render(case, case.people)
    kinds = [(at, dies, arm) for at in case.possible_times for dies in (False, True) for arm in range(case.arms)]
    if not case.form.endswith("chosen times"):
        listed = {int(line[1 if case.arms > 1 else 0]) for line in told}
        # Times between two listed ones are alike for all that is printed.
        between = {
            min((one for one in case.possible_times if one not in listed and lo < one < hi), default=-1)
            for lo, hi in spans(listed)
        }
        kinds = [kind for kind in kinds if kind[0] in listed | between]
    size = len(case.people)
    number = 1
    for step in range(size):
        number = number * (len(kinds) + step) // (step + 1)
    if number > MOST_WORLDS * 20:
        raise OverflowError
    # Each arm prints its own lines, so that people of the arms can be listed apart.
    arms = []
    for arm in range(case.arms):
        lines = [line[1:] for line in told if line[0] == f"arm {arm}"] if case.arms > 1 else told
        own = [kind for kind in kinds if kind[2] == arm]
        sets = (people for many in range(size + 1) for people in combinations_with_replacement(own, many))
        arms.append(
            [people for people in sets if has_risks(case, people, lines) and (lines_of(case, people) if people else []) == lines]
        )
    for parts in product(*arms):
        if sum(map(len, parts)) == size:
            yield tuple(sorted(chain.from_iterable(parts)))


def has_risks(case: Case, people: World, lines: Sequence[Sequence[str]]) -> bool:
    """Tell if people are there when printed, as many from each time on and with events; quicker than printing their lines."""
    times = [one[0] for one in people]
    if case.form == LIFE_TABLE:
        return all(sum(at > low for at in times) == int(line[-1]) for (low, _), line in zip(spans_of(case), lines, strict=False))
    if case.form in ("survival alone", "cumulated"):
        return not people or {0, *times} == {int(line[0]) for line in lines}
    place = 4 if case.form == "every time" else 1
    if any(sum(at >= int(line[0]) for at in times) != int(line[place]) for line in lines):
        return False
    if case.form != "chosen times":
        return True
    dead = [at for at, has_event, _ in people if has_event]
    total = accumulate(int(line[2]) for line in lines)
    return all(sum(at <= int(line[0]) for at in dead) == so_far for line, so_far in zip(lines, total, strict=True))


def spans(listed: set[int]) -> list[tuple[int, int]]:
    """Return the gaps around listed times."""
    ends = [-1, *sorted(listed), 13]
    return list(pairwise(ends))


def judge(case: Case) -> tuple[str, str]:
    """Return the outcome, and what is wrong."""
    import tacit

    try:
        every = list(worlds(case))
    except OverflowError:
        return "too large", ""
    assert tuple(case.people) in every or not case.form.endswith("chosen times")
    rows = [header(case), *render(case, case.people)]
    if len(rows) == 1:
        return "empty", ""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "km.csv"
        path.write_text("".join(",".join(row) + "\n" for row in rows), encoding="utf-8")
        try:
            release = tacit.read_release(path, sa="none", **case.options)
            audit = tacit.audit(release, k=case.k)
        except tacit.TacitError as error:
            return "refused", f"{error}\n{path.read_text(encoding='utf-8') if path.exists() else rows}"
        record = audit.to_dict(top=1_000)
        if record["findings"] and not tacit.verify(record, release).ok:
            return "not verified", ""
    # Who left before the first line is not among the people of a table that does not say n.
    groups = [at_risk(case, people, release.n) for people in every]
    for finding in record["findings"]:
        event = finding["event"]
        for people, among in zip(every, groups, strict=True):
            count = sum(holds_of(event, one, release) for one in among)
            if not finding["count"][0] <= count <= finding["count"][1]:
                return "wrong", f"{finding['statement']} {people} has {count}"
    told = small(case, groups)
    if audit.verdict == "clean" and told:
        return "missed", str(told)
    return "right", audit.verdict


def at_risk(case: Case, people: World, n: int | None) -> list[Person]:
    """Return the people whom the table is about."""
    if n == len(people):
        return list(people)
    assert case.form != LIFE_TABLE  # which begins with everybody
    first: dict[str, int] = {}
    for line in render(case, people):
        first.setdefault(line[0] if case.arms > 1 else "arm 0", int(line[1] if case.arms > 1 else line[0]))
    starts = {f"arm {one[2]}": first.get(f"arm {one[2]}") for one in people}
    return [one for one in people if (start := starts[f"arm {one[2]}"]) is not None and (n is None or one[0] >= start)]


def small(case: Case, groups: Sequence[Sequence[Person]]) -> list[str]:
    """Return the groups of one arm, status and stretch of time that are small in all worlds."""
    if case.form == LIFE_TABLE:
        listed = [high for _, high in spans_of(case)]
    else:
        listed = sorted({int(line[1] if case.arms > 1 else line[0]) for line in render(case, case.people)})
    marks = [(at, side) for at in listed for side in (0, 1)]
    found = []
    everybody = {len(among) for among in groups}  # how many they are is known
    for place, low in enumerate([(-1, 0), *marks]):
        for high in [*marks[place:], (99, 0)]:
            for status in (None, True, False):
                for arm in (None, *range(case.arms)) if case.arms > 1 else (None,):
                    sizes = {
                        sum(
                            low <= (one[0] * 1, 0) and (one[0], 1) <= high
                            for one in among
                            if status in (None, one[1]) and arm in (None, one[2])
                        )
                        for among in groups
                    }
                    is_everybody = sizes == everybody and status is None and arm is None
                    if min(sizes) > 0 and max(sizes) < case.k and not is_everybody:
                        found.append(f"{low} {high} {status} {arm} {sizes}")
    return found


def main() -> int:
    """Judge many cases; return 1 if one is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.judge.survival", description="Judge audits of survival tables.")
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--form", choices=(*FORMS, HIDDEN_AT_CHOSEN, LIFE_TABLE))
    given = parser.parse_args()
    counted: Counter[tuple[str, str, str]] = Counter()
    started = time.process_time()
    wrong = 0
    for seed in range(given.seed, given.seed + given.cases):
        case = draw(seed, given.form)
        outcome, told = judge(case)
        counted[case.form, outcome, told if outcome == "right" else ""] += 1
        if outcome not in ("right", "too large", "empty"):
            wrong += 1
            sys.stdout.write(f"{outcome}: --seed {seed}: {told}\n  {case}\n  {render(case, case.people)}\n")
    for key, number in sorted(counted.items()):
        sys.stdout.write(f"{number:6,}  {' / '.join(filter(None, key))}\n")
    sys.stdout.write(f"{wrong:,} wrong; {time.process_time() - started:.0f} s\n")
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
