"""Cases of R02 and R03: rules about known people.

A published rule says that its count reaches the thresholds, and prints as shown. A rule ``Q => x`` missing from a complete list says that
fewer than ``max(s n, c count(Q))`` people have Q and x. That is news only if Q itself has that many people, so only frequent sets Q are
looked at, and of sets with the same people only closed ones. Most of these bounds hold anyway: the estimate is made without them, checked
against all, and made again with those that it misses, until it misses none.

Missing rules are also counted, as Zhu, Wang and Du list them. A pattern is a set Q of quasi-identifiers that somebody has, with a value x;
all patterns that are not published are missing. By their Theorem 3 a missing rule ``Q and more => x`` follows from a missing rule ``Q =>
x`` if ``c count(Q)`` is at most the support threshold: then Q is *light*. Sets that are not light are closed downwards, so their missing
rules are all kept; of the light ones those are kept whose smaller parts are all not light, or published: the border of a downward closed
family.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from tacit.mining.itemsets import mine_itemsets
from tacit.model.arrays import Codes, Flags, Floats, Ints, Words
from tacit.model.errors import Contradiction, InputError, LimitReached, OptionError, numbered
from tacit.model.knowledge import Fact, Withheld
from tacit.model.people import Population
from tacit.model.release import Items, Rules, Sets
from tacit.model.table import Transactions
from tacit.rules.bounds import Ceiling, Confidences, missing_ceiling
from tacit.solve.bounds import clashing
from tacit.solve.entropy import Solution, solve
from tacit.solve.spread import FIRST, Spread, solve_spread
from tacit.solve.statements import Clash, Problem, Statements
from tacit.solve.statements import reduce as reduce_classes

if TYPE_CHECKING:
    from tacit.known.releases import SeveralCase

#: Origins of statements: a line; a missing rule, by its combinations and its value; the published distribution; a background fact.
LINE = "line"
MISSING = "missing"
DISTRIBUTION = "distribution"
FACT = "fact"

Pair = tuple[str, str]

PeopleCase: TypeAlias = "RuleCase | SeveralCase"  #: Statements of releases about known people's sensitive values.

CHECK = "Give the data that the rules were made from, with the same columns and missing-value rule"


@dataclass(frozen=True, eq=False)
class RuleCase:
    """Rules, everybody's quasi-identifiers, and background knowledge about these people."""

    release: Rules
    population: Population
    facts: tuple[Fact, ...] = ()
    withheld: Withheld = "at-threshold"

    def withheld_lines(self) -> frozenset[Hashable]:
        """Return the origins of lines whose numbers are withheld."""
        return frozenset((LINE, line) for line in np.flatnonzero(self.release.withheld).tolist())

    @cached_property
    def values(self) -> tuple[str, ...]:
        """Values that the sensitive column can have."""
        return self.release.header.sa_values

    @cached_property
    def codes(self) -> list[int]:
        """Number of the sensitive value of each line."""
        code = {value: number for number, value in enumerate(self.values)}
        found = [code.get(self.consequent(line), -1) for line in range(len(self.release))]
        if -1 in found:
            remedy = "List every value in the header's sa_values"
            where = self.place(found.index(-1))
            raise InputError("the sensitive value is not one of those in the header", where=where, remedy=remedy)
        return found

    @cached_property
    def sensitive(self) -> str:
        """Name of the sensitive column."""
        return " & ".join(self.release.header.sa)

    @property
    def sa_counts(self) -> tuple[int, ...]:
        """Published number of people with each value, if any."""
        return self.release.header.sa_counts

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Columns and values that are published."""
        return self.release.items.pairs or ()

    @property
    def n_lines(self) -> int:
        """Number of published rules."""
        return len(self.release)

    def consequent(self, line: int) -> str:
        """Return the sensitive value of a line."""
        return self.pairs[int(self.release.consequents[line][0])][1]

    def antecedent(self, line: int) -> list[Pair]:
        """Return the quasi-identifiers of a line."""
        return [self.pairs[int(item)] for item in self.release.antecedents[line]]

    @cached_property
    def missing(self) -> Missing:
        """Missing rules that say something."""
        return Missing.of(self)

    @cached_property
    def holders(self) -> list[Codes]:
        """Combinations that each line is about."""
        header = self.release.header
        known = self.population
        if header.n is not None and header.n != known.n:
            what = f"the rules are about {header.n:,} people, the known data about {known.n:,}"
            raise InputError(what, where=self._name, remedy=CHECK)
        unknown = {column for line in range(len(self.release)) for column, _ in self.antecedent(line)} - set(known.names)
        if unknown:
            listed = ", ".join(sorted(unknown))
            raise InputError(f"the known data have no column {listed}, which a rule uses", where=self._name, remedy=CHECK)
        found = [self._holding(self.antecedent(line)) for line in range(len(self.release))]
        for line, places in enumerate(found):
            if len(places) == 0 and (header.first_match is None or int(self.release.lo[line]) > 0):
                raise InputError("nobody in the known data has the antecedent of this rule", where=self.place(line), remedy=CHECK)
        return found

    def _holding(self, pairs: list[Pair]) -> Codes:
        groups = {(group.column, group.name): group for group in self.release.header.groups}
        values = {column.name: column.values for column in self.population.columns}
        found = self.population.holding(pair for pair in pairs if pair not in groups)
        for group in (groups[pair] for pair in pairs if pair in groups):
            inside = self.population.among({group.column: group.among(values[group.column])})
            found = np.intersect1d(found, inside, assume_unique=True)
        return found

    @cached_property
    def wholes(self) -> Ints:
        """Number of people with the antecedent of each line."""
        return np.array([int(self.population.people[places].sum()) for places in self.holders], np.int64)

    def published(self) -> Statements:
        """Return the statements of lines, distribution and background facts."""
        said = Statements(self.population, len(self.values))
        for line, (lo, hi) in enumerate(zip(*(bound.tolist() for bound in self.counts), strict=True)):
            if len(self.holders[line]):
                said.say(self.holders[line], self.codes[line], lo, hi, origin=(LINE, line))
        everyone = np.arange(len(self.population), dtype=np.int32)
        for number, count in enumerate(self.release.header.sa_counts):
            said.say(everyone, number, count, count, origin=(DISTRIBUTION, number))
        for fact in self.facts:
            origin = (FACT, fact.file, fact.line, fact.place)
            add_fact(said, fact, self.values, origin, problem="names a column that is not quasi-identifying")
        return said

    @cached_property
    def counts(self) -> tuple[Ints, Ints]:
        """Bounds on the people of each line."""
        release = self.release
        wholes = self.wholes
        lines = np.arange(len(release))
        lo = np.maximum(release.lo, 0)
        hi = np.minimum(release.hi, wholes)
        if release.confidence is not None:
            least, most = Confidences.of(release, lines).parts(wholes, wholes)
            lo = np.maximum(lo, least)
            hi = np.minimum(hi, most)
        header = release.header
        min_support = header.min_support or 0
        if header.min_confidence is None:
            return np.maximum(lo, min_support), hi
        bar = Ceiling(max(min_support, 1), header.min_confidence, header.strict)
        return np.maximum(lo, np.array([bar.of(people) + 1 for people in wholes.tolist()], np.int64)), hi

    @property
    def _name(self) -> str:
        return self.release.source.name if self.release.source else "the release"

    def place(self, line: int) -> str:
        """Return the place of a line, for errors."""
        return f"{self._name} line {self.release.line(line)}"

    def refuse(self, origins: Sequence[object]) -> NoReturn:
        """Raise because these statements contradict the known people."""
        listed = [origin for origin in origins if isinstance(origin, tuple)]
        lines = sorted({self.release.line(origin[1]) for origin in listed if origin[0] == LINE})
        facts = sorted({origin[3] for origin in listed if origin[0] == FACT})
        places = [f"{self._name} {numbered(lines)}"] if lines else []
        places += name_facts(facts)
        kinds = {origin[0] for origin in listed}
        named = {MISSING: "the rules that are missing", FACT: "the background knowledge"}
        also = [text for kind, text in named.items() if kind in kinds]
        beside = f", with {' and '.join(also)}," if also else ""
        raise Contradiction(
            f"the published numbers{beside} cannot all be true of the known people",
            where=" and ".join(places) or self._name,
            remedy="Check the file, how its numbers were rounded (--rounding), whether the list is complete, and the known data",
            lines=lines,
        )


def add_fact(said: Statements, fact: Fact, values: tuple[str, ...], origin: Hashable, problem: str) -> None:
    """Add a background fact; raise ``problem`` at an unknown column."""
    population = said.population
    if set(fact.allowed) - set(population.names):
        raise InputError(problem, where=fact.place, remedy=f"The known columns are: {', '.join(population.names)}")
    if fact.value not in values:
        raise InputError("its value is not one of the sensitive column's", where=fact.place, remedy="Correct or drop it")
    event = population.among(fact.allowed)
    lo, hi = fact.bounds(int(population.people[event].sum()))
    if len(event) or lo > 0:
        said.say(event, values.index(fact.value), lo, hi, origin=origin)


def name_facts(places: Sequence[str]) -> list[str]:
    """Return the places of the first facts, and the number of others."""
    return [*places[:8], *([f"{len(places) - 8} more facts"] if len(places) > 8 else [])]


#: Multipliers by the key of the event (:meth:`Statements.keys`) and the value.
Multipliers = dict[tuple[tuple[int, int], int], float]

BLOCK = 1 << 21  #: Members of events that are added up at once.

TOLERANCE = 1e-12  #: A bound is missed if it is exceeded by more than this share of all people.


@dataclass(frozen=True, eq=False)
class Missing:
    """Informative missing rules: largest counts by event and value.

    ``most[e, v]`` is the whole event if the rule is not missing. ``names[e]`` are the values that a missing rule asks for, where not all values
    that its people share will do: a list of short rules does not say what long ones are missing.
    """

    events: Sets
    most: Ints
    wholes: Ints
    names: tuple[tuple[Pair, ...] | None, ...] = ()

    @classmethod
    def informative(
        cls, events: Sequence[Codes], most: Ints, wholes: Ints, names: Sequence[tuple[Pair, ...] | None] | None = None
    ) -> Missing:
        """Return the events with a bounded value."""
        useful = np.flatnonzero((most < wholes[:, None]).any(axis=1))
        chosen = [events[place] for place in useful.tolist()]
        ends = np.cumsum([0, *map(len, chosen)], dtype=np.int64)
        members = np.concatenate(chosen) if chosen else np.empty(0, np.int32)
        named = tuple(None if names is None else names[place] for place in useful.tolist())
        return cls(Sets(ends, members), most[useful], wholes[useful], named)

    @classmethod
    def of(cls, case: RuleCase) -> Missing:
        """Return the missing rules of a complete list, else none."""
        ceiling = missing_ceiling(case.release)
        if ceiling is None or case.release.header.coarser:
            return cls.informative([], np.empty((0, len(case.values)), np.int64), np.empty(0, np.int64))
        sets, names = antecedents_of(case.population, max(1, ceiling.min_support), case.release.header.max_length)
        said = Statements(case.population, len(case.values))
        events: list[Codes] = []
        kept: list[tuple[Pair, ...] | None] = []
        number: dict[int, int] = {}
        holding = [event for _, event in sorted(case.population.holding_each(sets), key=itemgetter(0))]
        for event, name in zip(holding, names, strict=True):
            if (key := said.event(event)) not in number:
                number[key] = len(events)
                events.append(event)
                kept.append(name)
        wholes = np.array([int(case.population.people[event].sum()) for event in events], np.int64)
        most = np.array([ceiling.of(people) for people in wholes.tolist()], np.int64)[:, None].repeat(len(case.values), axis=1)
        for line, holders in enumerate(case.holders):
            place = number.get(said.event(holders))
            if place is not None:
                most[place, case.codes[line]] = wholes[place]
        return cls.informative(events, most, wholes, kept)

    def missed(self, people: Floats, n: int) -> list[tuple[int, int]]:
        """Return the events and values whose bound ``people`` violates."""
        if len(self.events) == 0:
            return []
        totals = self._totals(people)
        over = totals > self.most + TOLERANCE * n
        over &= self.most < self.wholes[:, None]
        return [(int(event), int(value)) for event, value in np.argwhere(over)]

    def _totals(self, people: Floats) -> Floats:
        from scipy.sparse import csr_array

        members = self.events.members
        offsets = self.events.offsets
        blocks = np.unique(np.searchsorted(offsets, np.arange(0, len(members) + BLOCK, BLOCK)).clip(0, len(self.events)))
        ones = np.ones(int(np.diff(offsets[blocks]).max()))
        parts = []
        for first, last in zip(blocks[:-1].tolist(), blocks[1:].tolist(), strict=True):
            begin = int(offsets[first])
            end = int(offsets[last])
            shape = (last - first, len(people))
            rows = csr_array((ones[: end - begin], members[begin:end], offsets[first : last + 1] - begin), shape=shape)
            parts.append(rows @ people)
        return np.concatenate(parts)

    def say(self, said: Statements, event: int, value: int) -> None:
        """Add one bound to the statements."""
        combinations = self.events[event].astype(np.int32)
        said.say(combinations, value, 0, int(self.most[event, value]), origin=(MISSING, event, value))


def antecedents_of(
    population: Population, least: int, max_length: int | None
) -> tuple[list[tuple[Pair, ...]], list[tuple[Pair, ...] | None]]:
    """Return sets of values that describe each group of ``least`` people, and their names in proofs.

    Without a longest length the closed ones do, and all values that people share name them.
    """
    is_short = max_length is not None and max_length < len(population.columns)
    found = mine_itemsets(
        rows_of(population),
        min_support=least,
        only="all" if is_short else "closed",
        max_length=max_length if is_short else None,
    )
    pairs = found.items.pairs or ()
    sets = [tuple(pairs[item] for item in members.tolist()) for members in found.sets]
    return sets, [one if is_short else None for one in sets]


def rows_of(population: Population) -> Transactions:
    """Return the known people as transactions over their values."""
    pairs = [(column.name, value) for column in population.columns for value in column.values]
    starts = np.cumsum([0] + [len(column.values) for column in population.columns])
    members = np.stack([column.codes + start for column, start in zip(population.columns, starts[:-1], strict=True)], axis=1)
    offsets = np.arange(len(population) + 1, dtype=np.int64) * len(population.columns)
    return Transactions(Sets(offsets, members.reshape(-1).astype(np.int32)), population.people, Items.of_columns(pairs))


@dataclass(frozen=True, eq=False)
class Estimate:
    """Maximum entropy distribution, and the statements that it used.

    ``missing_pairs`` are the missing rules among them, by event and value. ``tilt`` is what withheld lines add to the multipliers if the
    attacker expects them above their thresholds.
    """

    problem: Problem
    solution: Solution
    missing_used: int
    rounds: int
    missing_pairs: tuple[tuple[int, int], ...] = ()
    keys: tuple[tuple[int, int], ...] = ()
    tilt: Floats | None = None

    @property
    def weights(self) -> Floats:
        """Multipliers of the statements, with what the spread of withheld lines adds."""
        return self.solution.multipliers if self.tilt is None else self.solution.multipliers + self.tilt

    @property
    def multipliers(self) -> Multipliers:
        """Multipliers by event and value, as a warm start."""
        events = [self.keys[event] for event in self.problem.events.tolist()]
        return dict(zip(zip(events, self.problem.values.tolist(), strict=True), self.solution.multipliers.tolist(), strict=True))

    def posterior(self) -> Floats:
        """Return P(value | combination), one row for each combination."""
        return self.solution.share[self.problem.class_of]


def estimate(
    case: PeopleCase,
    missing: Missing,
    *,
    check: Callable[[], None] = lambda: None,
    multipliers: Multipliers | None = None,
    left_out: Collection[object] = (),
) -> Estimate:
    """Solve and add violated missing rules until none is left.

    Statements with an origin in ``left_out`` are taken as unknown. ``multipliers`` of a similar estimate save most of the steps.
    """
    said = case.published()
    said.listed = [one for one in said.listed if one.origin not in left_out]
    withheld = case.withheld_lines() if case.withheld == "spread" else frozenset()
    used: set[tuple[int, int]] = set()
    known = dict(multipliers or {})
    spread: Spread | None = None
    rounds = 0
    while True:
        try:
            problem = reduce_classes(said)
        except Clash as clash:
            case.refuse(clashing(said, check=check, stop=LimitReached) or clash.origins)
        keys = said.keys()
        pairs = zip((keys[event] for event in problem.events.tolist()), problem.values.tolist(), strict=True)
        start = np.array([known.get(pair, 0.0) for pair in pairs]) if known else None
        if withheld:
            spread = solve_spread(
                problem, withheld, multipliers=start, first=spread.multiplier or FIRST if spread else FIRST, check=check
            )
            solution = spread.solution
        else:
            solution = solve(problem, multipliers=start, check=check)
        rounds += 1
        reached = partial(
            Estimate, problem, solution, len(used), rounds, keys=tuple(keys), tilt=None if spread is None else spread.tilt
        )
        if not solution.converged:
            # There may be nothing to converge to; then name the lines that clash.
            if origins := clashing(said, check=check, stop=LimitReached):
                case.refuse(origins)
            return reached()
        people = solution.share[problem.class_of] * case.population.people[:, None]
        fresh = [pair for pair in missing.missed(people, case.population.n) if pair not in used]
        fresh = [pair for pair in fresh if (MISSING, *pair) not in left_out]
        if not fresh:
            return reached(missing_pairs=tuple(sorted(used)))
        for event, value in fresh:
            missing.say(said, event, value)
        used.update(fresh)
        known = reached().multipliers
        del problem, solution, reached, people  # large, and not needed for the next round


#: Most numbers to sort or to look up for the counts.
MOST_WORK = 60_000_000
MOST_SETS = 50_000


@dataclass(frozen=True, slots=True)
class Listed:
    """Numbers of missing rules, kept rules and matched combinations."""

    missing: int | None
    kept: int | None
    occurrences: int | None

    @property
    def why_not(self) -> str:
        """Reason for what was not counted, or nothing."""
        left_out = [name for name, number in (("missing rules", self.missing), ("those kept", self.kept)) if number is None]
        return f"{' and '.join(left_out)} were not counted: there are too many patterns" if left_out else ""


def count_missing(case: RuleCase, *, check: Callable[[], None] = lambda: None) -> Listed | None:
    """Count the missing rules of a complete list, or None."""
    ceiling = missing_ceiling(case.release)
    if ceiling is None or case.release.header.coarser:
        return None
    pairs = [(column.name, value) for column in case.population.columns for value in column.values]
    place = {pair: number for number, pair in enumerate(pairs)}
    lines = [
        (tuple(sorted(place[pair] for pair in case.antecedent(line))), case.consequent(line)) for line in range(len(case.release))
    ]
    published = list(dict.fromkeys(lines))
    if case.release.header.max_length is not None:
        return Listed(None, None, None)
    kept = _count_kept(case, ceiling, place, published, check=check)
    patterns = count_patterns(case.population, check=check)
    missing = None if patterns is None else patterns * len(case.values) - len(published)
    return Listed(missing, *(kept or (None, None)))


def count_patterns(population: Population, *, check: Callable[[], None] = lambda: None) -> int | None:
    """Count the occurring sets of quasi-identifiers, or return None."""
    width = len(population.columns)
    if width > 40 or len(population) << width > MOST_WORK:
        return None
    if width == 0 or len(population) == 0:
        return 0
    # Without the column of most values few rows are distinct, so it goes first.
    columns = sorted(population.columns, key=lambda column: -len(column.values))
    bits = [max(1, (len(column.values) - 1).bit_length()) for column in columns]
    if sum(bits) <= 64:
        kind = np.uint32 if sum(bits) <= 32 else np.uint64
        key: npt.NDArray[Any] = np.zeros(len(population), kind)
        for column, size in zip(columns, bits, strict=True):
            key = (key << kind(size)) | column.codes.astype(kind)
        ends = [sum(bits[number:]) for number in range(width + 1)]
        masks = [kind(((1 << ends[0]) - (1 << first)) | ((1 << last) - 1)) for first, last in pairwise(ends)]
        return _count_keys(np.sort(key), masks, check) - 1
    chance = np.random.default_rng(20090402)
    marks = [chance.integers(1, 2**63, len(column.values), np.uint64)[column.codes] for column in columns]
    return _distinct(np.sum(marks, axis=0, dtype=np.uint64), np.stack(marks), check) - 1


def _count_keys(keys: npt.NDArray[Any], masks: Sequence[Any], check: Callable[[], None]) -> int:
    """Count these keys, which are distinct, and the distinct ones left with bits of some masks only.

    Keys are sorted, and remain so without the lowest bits, which the last mask takes away.
    """
    check()
    total = len(keys)
    for number, mask in enumerate(masks):
        left = keys & mask
        if number == len(masks) - 1:
            return total + 1 + int(np.count_nonzero(left[1:] != left[:-1]))
        left.sort()
        first = np.empty(len(left), np.bool_)
        first[0] = True
        np.not_equal(left[1:], left[:-1], out=first[1:])
        total += _count_keys(left[first], masks[number + 1 :], check)
    return total


def _distinct(rows: Words, columns: Words, check: Callable[[], None]) -> int:
    """Count the distinct parts of these rows.

    A row is the sum of the marks of its values, and all rows are distinct. With a column left out fewer are, and only these go on, with the
    columns behind it.
    """
    check()
    total = len(rows)
    for number, column in enumerate(columns):
        left = rows - column
        if number == len(columns) - 1:
            ordered = np.sort(left)
            return total + 1 + int(np.count_nonzero(ordered[1:] != ordered[:-1]))
        order = np.argsort(left)  # much faster than a stable sort, and any of equal rows will do
        ordered = left[order]
        first = np.append(True, ordered[1:] != ordered[:-1])
        total += _distinct(ordered[first], columns[number + 1 :, order[first]], check)
    return total


def _count_kept(
    case: RuleCase,
    ceiling: Ceiling,
    place: Mapping[Pair, int],
    published: Sequence[tuple[tuple[int, ...], str]],
    check: Callable[[], None],
) -> tuple[int, int] | None:
    """Count the missing rules to keep, and their combinations, or None.

    A set is the places of its items in column order.
    """
    population = case.population
    rows = rows_of(population)
    # The fewest people for which the confidence asks for more than the support.
    rare = max(0, ceiling.min_support - 1)
    least = 1 + bisect_left(range(1, population.n + 1), True, key=lambda people: ceiling.of(people) > rare)
    heavy: list[tuple[int, ...]] = []
    people = 0
    if least <= population.n:
        try:
            found = mine_itemsets(rows, min_support=least, max_itemsets=MOST_SETS)
        except OptionError:
            return None
        pairs = found.items.pairs or ()
        heavy = [tuple(sorted(place[pairs[item]] for item in members.tolist())) for members in found.sets]
        people = int(found.lo.sum())
    if (people + int(case.wholes.sum()) + population.n) * len(population.columns) > 10 * MOST_WORK:
        return None
    sets = list(dict.fromkeys([(), *heavy, *sorted({one for one, _ in published})]))
    number = {one: line for line, one in enumerate(sets)}
    grown = _Grown.of(population, rows.rows.members.reshape(len(population), -1), sets, check)
    family = np.arange(len(sets)) <= len(heavy)
    plain = grown.count_border(family)
    everything = int(grown.combinations[1 : len(heavy) + 1].sum())
    rules = occurrences = 0
    for value in case.values:
        said = np.array([number[one] for one, consequent in published if consequent == value], np.int64)
        light = said[~family[said]]
        border = plain
        if len(light):
            larger = family.copy()
            larger[light] = True
            border = grown.count_border(larger)
        known = said[family[said]]
        rules += len(heavy) - len(known) + border[0]
        occurrences += everything - int(grown.combinations[known].sum()) + border[1]
    return rules, occurrences


@dataclass(frozen=True, eq=False)
class _Grown:
    """Sets of items, and each with one more item of a later column.

    Keys of sets are sums of the ``marks`` of their items; line s of ``items`` holds those of set s, and then -1. ``combinations`` counts the
    combinations of each set, ``matched`` those of set ``owner`` with another item, whose key is ``larger``.
    """

    marks: Words
    items: Ints
    keys: Words
    combinations: Ints
    owner: Ints
    larger: Words
    matched: Ints

    @classmethod
    def of(
        cls, population: Population, members: npt.NDArray[Any], sets: Sequence[tuple[int, ...]], check: Callable[[], None]
    ) -> _Grown:
        """Count the combinations of sets, and of sets with another item; ``members`` are the items of each combination."""
        ends = np.cumsum([len(column.values) for column in population.columns])
        pairs = [(column.name, value) for column in population.columns for value in column.values]
        marks = np.random.default_rng(20090403).integers(1, 2**63, len(pairs), np.uint64)
        items = np.full((len(sets), len(population.columns)), -1, np.int64)
        combinations = np.zeros(len(sets), np.int64)
        owner: list[Ints] = [np.empty(0, np.int64)]
        added: list[Ints] = [np.empty(0, np.int64)]
        matched: list[Ints] = [np.empty(0, np.int64)]
        for done, (line, matching) in enumerate(population.holding_each([[pairs[item] for item in one] for one in sets])):
            if done % 256 == 0:
                check()
            one = sets[line]
            items[line, : len(one)] = one
            combinations[line] = len(matching)
            behind = int(np.searchsorted(ends, one[-1], side="right")) + 1 if one else 0
            if behind < len(ends):
                sizes = np.bincount(members[matching, behind:].reshape(-1), minlength=len(pairs))
                items_there = np.flatnonzero(sizes)
                owner.append(np.full(len(items_there), line))
                added.append(items_there)
                matched.append(sizes[items_there])
        owners = np.concatenate(owner)
        keys = np.where(items >= 0, marks[items], np.uint64(0)).sum(axis=1, dtype=np.uint64)
        larger = keys[owners] + marks[np.concatenate(added)]
        return cls(marks, items, keys, combinations, owner=owners, larger=larger, matched=np.concatenate(matched))

    def count_border(self, family: Flags) -> tuple[int, int]:
        """Count the minimal sets outside a family of sets, and their combinations."""
        known = np.sort(self.keys[family])
        outside = np.flatnonzero(family[self.owner])
        outside = outside[~_is_in(self.larger[outside], known)]
        for items in self.items.T:
            item = items[self.owner[outside]]
            outside = outside[(item < 0) | _is_in(self.larger[outside] - self.marks[item], known)]
        return len(outside), int(self.matched[outside].sum())


def _is_in(keys: Words, known: Words) -> Flags:
    """Mark the keys that are among sorted ones."""
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.asarray(known[places] == keys)
