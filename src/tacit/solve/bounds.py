"""Certified bounds by combination and value.

They hold in any assignment of whole people that keeps all statements. Bounds of a class are found first. Each is closed in from two sides:
from outside by weights of the statements, added up exactly (:mod:`tacit.solve.program`), and from inside by witnesses, whole numbers of
people for all classes at once that keep every statement. One program finds all classes that nobody, or everybody, of can have a value. In
large problems exchanges of people (:mod:`tacit.solve.exchanges`) then lead from witness to witness; the rest is looked at one by one. A
bound of a class is not one of a combination: all people of the class with the value may have the same combination.

Statements clash if weights of them prove that nothing at all is less than 0 people (Farkas). :func:`clashing` then removes statements one by
one while the rest still clashes, so that none of those that are named can be spared.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from tacit.model.arrays import Flags, Floats, Ints
from tacit.solve.exchanges import Exchanges
from tacit.solve.program import Answer, Infeasible, Program, Unsolved, branch
from tacit.solve.statements import Clash, Problem, Statements, reduce

#: Called before every program: the seconds that are left, or None; it raises when there are none.
Check = Callable[[], float | None]
WORTH_A_PUSH = 16  #: Ends that a program for all of them has to settle: one for a single end takes so much less time.
IDLE_ROUNDS = 2  #: So many programs in a row may settle fewer.
IN_TURN = 40  #: Open ends that are asked about in turn, each from the answer to the one before.
SMALL = 400_000  #: Columns times statements, below which a program for each end takes less time than exchanges.
LARGE = 3_000_000  #: Columns times statements, above which columns are proved empty or full from a point in the middle.
#: The same, above which the elimination behind exchanges would take too much memory: corners of programs are witnesses then.
MOST_CELLS = 40_000_000
MENDINGS = 5  #: Attempts to mend people near the middle,
MENDING = 400  #: of so many exchanges.
WALKS = 20  #: Random walks between searches.
SEARCHES = (20, 40, 100, 200)  #: Most exchanges to an open end, in each of several rounds before programs are asked,
LATE_SEARCHES = (200, *(400,) * 9)  #: and after.
WORTH_A_ROUND = 0.2  #: Share of the open ends that a round has to settle to be followed by another,
FEW_ENDS = 20  #: where these are more than so few.
FIRST_SHARE = 3  #: Whether a value is possible at all may take so many times the work after which bounds stay as they are.
NOISE = 0.05  #: How much columns that nothing is asked of count beside those that are to move.
MOVED = 1e-7  #: A column that moved less than this has not.


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds ``lo`` and ``hi`` on people by combination and value.

    ``seen_lo`` and ``seen_hi`` are attained by witnesses; where they equal the bounds, nothing tighter is true. ``stopped`` says why the search
    ended early, if it did, ``by_cases`` that somebody's value was settled by telling cases apart: no single sum may prove it.
    """

    lo: Ints
    hi: Ints
    seen_lo: Ints
    seen_hi: Ints
    stopped: Literal["", "time", "work"]
    by_cases: bool = False

    @property
    def loose(self) -> Flags:
        """Places where a tighter bound may be true."""
        return (self.lo < self.seen_lo) | (self.hi > self.seen_hi)

    @property
    def impossible(self) -> Flags:
        """Values that nobody of the combination has."""
        nobody: Flags = self.hi == 0
        return nobody

    @property
    def unsettled(self) -> Flags:
        """Places where the value is still open."""
        return (self.hi > 0) & (self.seen_hi <= 0)


class _Enough(Exception):
    """More work would be too much."""


@dataclass(eq=False)
class _Ends:
    """Outer (``lo``, ``hi``) and inner (``seen_lo``, ``seen_hi``) ends of columns."""

    program: Program
    lo: Ints = field(init=False)
    hi: Ints = field(init=False)
    seen_lo: Ints = field(init=False)
    seen_hi: Ints = field(init=False)
    by_cases: bool = False
    is_new: bool = True  #: Nothing was looked at so far.
    exchanges: Exchanges | None = None

    def __post_init__(self) -> None:
        size = self.program.size
        self.lo = np.zeros_like(size)
        self.hi = size.copy()
        self.seen_lo = size + 1
        self.seen_hi = np.full_like(size, -1)

    def see(self, people: Ints | None) -> None:
        if people is not None:
            self.seen_lo = np.minimum(self.seen_lo, people)
            self.seen_hi = np.maximum(self.seen_hi, people)

    def take_over(self, exchanges: Exchanges) -> None:
        """See the worlds that exchanges led to, once the last is found to keep every statement."""
        self.program.work += exchanges.take_work()
        if self.program.keeps(exchanges.people):
            self.seen_lo = np.minimum(self.seen_lo, exchanges.seen_low)
            self.seen_hi = np.maximum(self.seen_hi, exchanges.seen_high)

    def goals(self, enough: Ints) -> tuple[Ints, Ints, Flags, Flags]:
        """Return each column's goals, and the unseen ends."""
        up = np.minimum(enough, self.hi)
        down = np.maximum(self.program.size - enough, self.lo)
        return up, down, self.seen_hi < up, self.seen_lo > down

    def is_open(self, column: int, sign: int, enough: Ints) -> bool:
        """Tell if the upper (1) or lower (-1) end of a column is still unseen."""
        size = int(self.program.size[column])
        if sign > 0:
            return bool(self.seen_hi[column] < min(int(enough[column]), int(self.hi[column])))
        return bool(self.seen_lo[column] > max(size - int(enough[column]), int(self.lo[column])))

    def list_open(self, enough: Ints) -> list[tuple[int, int]]:
        """Return the unseen ends, by column; 1 is an upper end, -1 a lower one."""
        _, _, up, down = self.goals(enough)
        return sorted((column, sign) for sign, flags in ((1, up), (-1, down)) for column in np.flatnonzero(flags).tolist())

    def gain(self, column: int, sign: int) -> Ints:
        """Return the cost that moves one end of a column."""
        out = np.zeros(len(self.program), np.int64)
        out[column] = sign
        return out

    def open_ends(self, enough: Ints) -> int:
        return int(sum(flags.sum() for flags in self.goals(enough)[2:]))


def bound(
    problem: Problem,
    people: Ints,
    *,
    check: Check = lambda: None,
    stop: type[Exception] = TimeoutError,
    most_work: int | None = None,
    tight: bool = True,
) -> Bounds:
    """Bound the people of each combination with each value.

    Combination q has ``people[q]`` people. When ``check`` raises ``stop``, or after that much work, the bounds known by then are returned.
    Without ``tight`` it is only looked at whether anybody, and whether everybody, of a combination can have a value. Raises
    :class:`tacit.solve.program.Infeasible` or :class:`tacit.solve.program.NoWhole` where no people keep the statements.
    """
    largest = np.zeros(len(problem.people), np.int64)
    np.maximum.at(largest, problem.class_of, people)
    stopped: Literal["", "time", "work"] = ""
    parts = [_Ends(Program(problem, chosen)) for chosen in components(problem)]

    def checked() -> float | None:
        if work is not None and sum(ends.program.work for ends in parts) >= work:
            raise _Enough
        return check()

    try:
        # Whether a value is possible at all is settled everywhere before any bound is made tight.
        for to_the_end in (False, True) if tight else (False,):
            work = most_work if most_work is None or to_the_end else FIRST_SHARE * most_work
            for ends in parts:
                sizes = largest[ends.program.classes]
                _close_in(ends, sizes if to_the_end else np.minimum(sizes, 1), checked)
    except stop:
        stopped = "time"
    except _Enough:
        stopped = "work"
    return _bound_combinations(problem, people, parts, stopped)


def components(problem: Problem) -> list[Ints]:
    """Return the connected components of classes that share statements."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    used = np.flatnonzero(np.diff(problem.starts))
    if len(used) == 0:
        return []
    owner = np.repeat(np.arange(len(problem.people)), np.diff(problem.starts))
    n = len(problem.people)
    m = len(problem.values)
    graph = csr_array((np.ones(len(owner)), (owner, n + problem.rows)), shape=(n + m, n + m))
    part = connected_components(graph, directed=False)[1][used]
    order = np.argsort(part, kind="stable")
    return np.split(used[order], np.flatnonzero(np.diff(part[order])) + 1)


def _close_in(ends: _Ends, enough: Ints, check: Check) -> None:
    if ends.is_new:
        ends.is_new = False
        middle = _shut_together(ends, check)
        if middle is not None and SMALL <= _count_cells(ends.program) <= MOST_CELLS:
            ends.exchanges = _start_exchanges(ends, middle, check)
        else:
            _push_on(ends, enough, check)
    _exchange(ends, enough, SEARCHES, check)
    _bound_in_turn(ends, enough, check)
    _exchange(ends, enough, LATE_SEARCHES, check)
    for column, sign in ends.list_open(enough):
        _settle_end(ends, column, sign, enough, check)


def _start_exchanges(ends: _Ends, middle: Floats, check: Check) -> Exchanges | None:
    """Return exchanges at a world near the middle; None if no world was found."""
    exchanges = Exchanges(ends.program, ends.lo, ends.hi, middle=middle)
    for _ in range(MENDINGS):
        check()
        if exchanges.mend(MENDING):
            return exchanges
    people = ends.program.whole_people(np.zeros(len(ends.program)), check=check)
    if people is None:
        return None
    exchanges.go_to(people)
    return exchanges


def _exchange(ends: _Ends, enough: Ints, searches: Sequence[int], check: Check) -> None:
    """Search for worlds that reach the open ends, with so many exchanges in each of several rounds."""
    exchanges = ends.exchanges
    if exchanges is None:
        return
    for steps in searches:
        if not (before := ends.open_ends(enough)):
            return
        try:
            _search_once(ends, exchanges, enough, steps, check)
        finally:
            ends.take_over(exchanges)
        left = ends.open_ends(enough)
        if left > FEW_ENDS and before - left < WORTH_A_ROUND * before:
            return


def _search_once(ends: _Ends, exchanges: Exchanges, enough: Ints, steps: int, check: Check) -> None:
    for _ in range(WALKS):
        check()
        exchanges.walk()
    goal_up, goal_down, _, _ = ends.goals(enough)
    waiting = ends.list_open(enough)
    for number in exchanges.chance.permutation(len(waiting)).tolist():
        column, sign = waiting[number]
        goal = int((goal_up if sign > 0 else goal_down)[column])
        if not exchanges.has_seen(column, goal, sign):
            check()
            exchanges.reach(column, goal, sign, steps)
            ends.program.work += exchanges.take_work()


def _push_on(ends: _Ends, enough: Ints, check: Check) -> None:
    """Search for witnesses among corners, while programs for all open columns settle many."""
    chance = np.random.default_rng(len(ends.program))
    idle = 0
    while idle < IDLE_ROUNDS and (open_ends := ends.open_ends(enough)):
        _push(ends, enough, chance, check)
        idle = idle + 1 if open_ends - ends.open_ends(enough) < WORTH_A_PUSH else 0


def _choose_sides(ends: _Ends, enough: Ints, chance: np.random.Generator) -> tuple[Flags, Flags]:
    """Return the columns to extend upwards and downwards; only one of both where its goals exclude each other."""
    goal_up, goal_down, up, down = ends.goals(enough)
    first = chance.random(len(up)) < 0.5
    torn = up & down & (goal_up > goal_down)
    return up & (first | ~torn), down & (~first | ~torn)


def _push(ends: _Ends, enough: Ints, chance: np.random.Generator, check: Check) -> None:
    """Search for a witness that extends all open columns."""
    program = ends.program
    goal_up, goal_down, _, _ = ends.goals(enough)
    up, down = _choose_sides(ends, enough, chance)
    size = program.size
    turn_up = np.where(up, goal_up, 0)
    turn_down = np.where(down, goal_down, size)
    worth = chance.uniform(0.5, 1.5, len(program))
    # Solutions of a program without ties between columns are corners, and these are mostly whole.
    noise = NOISE * chance.normal(size=len(program))
    lengths = np.concatenate((turn_up, turn_down - turn_up, size - turn_down)).astype(float)
    gains = np.concatenate((noise + worth, noise, noise - worth))
    kept = lengths > 0
    pieces = np.tile(np.arange(len(program)), 3)[kept], lengths[kept]
    try:
        people = program.most(gains[kept], pieces=pieces, check=check).people
    except Unsolved:
        return
    ends.see(_nearest(program, people))


def _nearest(program: Program, people: npt.NDArray[np.float64]) -> Ints | None:
    whole = np.rint(people).astype(np.int64)
    return whole if program.keeps(whole) else None


def _shut_together(ends: _Ends, check: Check) -> Floats | None:
    """Prove that columns that cannot move are empty or full; return people inside all that is possible."""
    program = ends.program
    empty = np.ones(len(program), np.bool_)
    full = empty.copy()
    try:
        middle = _move_together(program, check)
        _keep_unmoved(program, middle, empty, full)
        while empty.any() or full.any():
            gain = empty.astype(np.int64) - full.astype(np.int64)
            still = -int(program.size[full].sum())
            answer = program.most(gain.astype(float), check=check, interior=_is_large(program))
            proof = program.proof(gain, answer.weights, goal=still)
            if proof is not None and proof.most <= still:
                program.settle(empty, full, proof)
                ends.hi = np.minimum(ends.hi, program.largest)
                ends.lo = np.maximum(ends.lo, program.least)
                break
            if not _keep_unmoved(program, answer.people, empty, full):
                break
            middle = (middle + answer.people) / 2
    except Unsolved:
        return None
    return middle


def _move_together(program: Program, check: Check) -> Floats:
    """Return people of whom every column that can move does, by a small fraction at least.

    Among points that move one column each, all columns that can move do in the mean: by one over their number.
    """
    step = 1 / (2 + 2 * len(program))
    lengths = np.concatenate((np.full(len(program), step), program.size - 2 * step, np.full(len(program), step)))
    gains = np.repeat((1.0, 0.0, -1.0), len(program))
    pieces = np.tile(np.arange(len(program)), 3), lengths
    try:
        return program.most(gains, pieces=pieces, check=check, interior=True).people
    except Unsolved:
        return program.most(gains, pieces=pieces, check=check).people


def _is_large(program: Program) -> bool:
    """Tell if the simplex method would take far longer than a point in the middle."""
    return _count_cells(program) > LARGE


def _count_cells(program: Program) -> int:
    return len(program) * len(program.rows)


def _keep_unmoved(program: Program, people: Floats, at_zero: Flags, at_all: Flags) -> bool:
    """Drop the columns that people have moved; tell if there were any."""
    moved_up = at_zero & (people >= MOVED)
    moved_down = at_all & (people <= program.size - MOVED)
    at_zero &= ~moved_up
    at_all &= ~moved_down
    return bool(moved_up.any() or moved_down.any())


def _bound_in_turn(ends: _Ends, enough: Ints, check: Check) -> None:
    """Bound every open end by a program."""
    for asked, answers in _ask_in_turn(ends, enough, check, lambda column, sign: ends.gain(column, sign).astype(float)):
        for (column, sign), answer in zip(asked, answers, strict=True):
            if answer is not None:
                proof = ends.program.proof(ends.gain(column, sign), answer.weights, goal=int(np.floor(answer.value + 1e-6)))
                if proof is not None:
                    _tighten(ends, column, sign, proof.most)
                ends.see(_nearest(ends.program, answer.people))


def _ask_in_turn(
    ends: _Ends, enough: Ints, check: Check, gain: Callable[[int, int], Floats]
) -> Iterator[tuple[list[tuple[int, int]], list[Answer | None]]]:
    """Yield open ends, and the answers to what is asked of them; what was seen since is not asked."""
    waiting = ends.list_open(enough)
    while waiting:
        asked = waiting[:IN_TURN]
        yield asked, ends.program.most_of_each([gain(*end) for end in asked], check=check)
        is_open = set(ends.list_open(enough))
        waiting = [end for end in waiting[IN_TURN:] if end in is_open]


def _settle_end(ends: _Ends, column: int, sign: int, enough: Ints, check: Check) -> None:
    """Settle an end by a search for whole people, or by telling cases apart."""
    if not ends.is_open(column, sign, enough):
        return
    program = ends.program
    gain = ends.gain(column, sign)
    ends.see(program.whole_people(gain.astype(float), check=check))
    if ends.is_open(column, sign, enough):
        goal_up, goal_down, _, _ = ends.goals(enough)
        seen = int(ends.seen_hi[column]) if sign > 0 else -int(ends.seen_lo[column])
        goal = int(goal_up[column]) if sign > 0 else -int(goal_down[column])
        found = branch(program, gain, seen, goal=goal, check=check)
        for people in found.witnesses:
            ends.see(people)
        if found.most is not None:
            _tighten(ends, column, sign, found.most)
            ends.by_cases |= found.most == (0 if sign > 0 else -int(program.size[column]))


def _tighten(ends: _Ends, column: int, sign: int, most: int) -> None:
    if sign > 0:
        ends.hi[column] = min(int(ends.hi[column]), most)
    else:
        ends.lo[column] = max(int(ends.lo[column]), -most)


def _bound_combinations(problem: Problem, people: Ints, parts: list[_Ends], stopped: Literal["", "time", "work"]) -> Bounds:
    lo, hi, seen_lo, seen_hi = _bound_classes(problem, parts)
    size = problem.people[problem.class_of][:, None]
    own = people[:, None]

    def fewest(of_class: Ints) -> Ints:
        return np.maximum(0, own - (size - of_class[problem.class_of]))

    def most(of_class: Ints) -> Ints:
        return np.minimum(own, of_class[problem.class_of])

    by_cases = any(ends.by_cases for ends in parts)
    return Bounds(fewest(lo), most(hi), fewest(seen_lo), most(seen_hi), stopped=stopped, by_cases=by_cases)


def _bound_classes(problem: Problem, parts: list[_Ends]) -> tuple[Ints, Ints, Ints, Ints]:
    open_ = problem.closed == 0
    all_of_them = np.where(open_, problem.people[:, None], 0)
    certain = open_ & (open_.sum(axis=1) == 1)[:, None]
    lo = np.where(certain, all_of_them, 0)
    hi = all_of_them.copy()
    seen_lo = lo.copy()
    seen_hi = hi.copy()
    for ends in parts:
        program = ends.program
        named = np.zeros(open_.shape, np.bool_)
        real = program.values >= 0
        named[program.classes[real], program.values[real]] = True
        found = (ends.lo, ends.hi, ends.seen_lo, ends.seen_hi)
        for target, source in zip((lo, hi, seen_lo, seen_hi), found, strict=True):
            target[program.classes[real], program.values[real]] = source[real]
        left = tuple(program.size - end for end in (ends.hi, ends.lo, ends.seen_hi, ends.seen_lo))
        for which, ends_of in ((program.alone, left), (~real, found)):
            classes = program.classes[which]
            others = open_[classes] & ~named[classes]
            # Of several values that no statement distinguishes, each may be had by nobody.
            only = (others.sum(axis=1) == 1)[:, None]
            for target, source, lower in zip((lo, hi, seen_lo, seen_hi), ends_of, (True, False, True, False), strict=True):
                values = np.where(only | (not lower), source[which][:, None], 0)
                target[classes] = np.where(others, values, target[classes])
    return lo, hi, seen_lo, seen_hi


Origins = tuple[Hashable, ...]


def clashing(said: Statements, *, check: Check = lambda: None, stop: type[Exception] = TimeoutError) -> Origins | None:
    """Return the origins of few contradictory statements.

    None where fractions of people keep all of them, or nothing could be proved. When ``check`` raises ``stop``, what clashes is named as far as
    it is known by then.
    """
    try:
        found = _clash(said, check)
    except stop:
        return None
    if found is None:
        return None
    try:
        # The last statements go first, so that of two equal explanations the one further up is given.
        order = {one.origin: place for place, one in enumerate(said.listed)}
        for origin in sorted(found, key=lambda one: -order[one]):
            if origin in found:
                kept = set(found) - {origin}
                rest = Statements(said.population, said.n_values)
                for one in said.listed:
                    if one.origin in kept:
                        rest.say(said.events[one.event], one.value, one.lo, one.hi, one.origin)
                found = _clash(rest, check) or found
    except stop:
        pass
    return tuple(sorted(found, key=lambda one: order[one]))


def _clash(said: Statements, check: Check) -> Origins | None:
    try:
        problem = reduce(said, settle=False)
    except Clash as clash:
        return clash.origins
    for chosen in components(problem):
        program = Program(problem, chosen)
        try:
            program.most(np.zeros(len(program)), check=check)
        except Infeasible as why:
            rows = program.rows[np.flatnonzero(why.weights)].tolist()
            return tuple(dict.fromkeys(origin for row in rows for origin in problem.origins[row]))
        except Unsolved:
            continue
    return None
