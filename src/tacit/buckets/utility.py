"""How many people of each combination of quasi-identifiers have each sensitive value: in the data, and as estimated from groups.

How well a release answers questions of the form: how many people have these quasi-identifiers and one of these sensitive values?

How well positive rules survive: their confidences as a release lets one estimate them, and which of them are found in it.

How often guesses about people of a bucketized release are right, which only the owner of the data can tell.

All that can be measured of a bucketized release beside the data that it was made from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations as choices

import numpy as np
import numpy.typing as npt

from tacit.buckets.assignments import Valid, share_values, valid_values
from tacit.buckets.diversity import plain_figures
from tacit.buckets.surviving_correlations import Mixing, Model, Places, blocks, estimated, guess, learn, sampled
from tacit.errors import LimitReached, OptionError, nearest_column
from tacit.model.arrays import Flags, Floats, Ints
from tacit.model.buckets import Buckets
from tacit.model.knowledge import Exclusions
from tacit.model.measures import Utility
from tacit.model.numbers import Threshold
from tacit.model.table import Column, Table

REMEDY = "Give the data that the release was made from"


@dataclass(frozen=True, eq=False)
class Estimator:
    """What a way of reading a release counts for each combination and value; ``made`` turns what is counted for some people into an estimate.

    ``made(counted, people)`` takes a row for each set of people.
    """

    name: str
    counted: Floats
    made: Callable[[Floats, Floats], Floats]


@dataclass(frozen=True, eq=False)
class Combinations:
    """The combinations that occur in the data or in the release, column by column as codes into ``columns``.

    ``true[q, v]`` people of combination q of the data have value v; ``published[q]`` people of it are in the release. They differ only where
    people were left out of the release.
    """

    columns: tuple[Column, ...]
    values: tuple[str, ...]
    true: Floats
    published: Floats
    number: Ints

    @classmethod
    def of(cls, buckets: Buckets, people: Table) -> Combinations:
        """The combinations of a release and of the data that it was made from; raises where these are other people."""
        if people.sa.name != buckets.sensitive:
            what = f"the release is about {buckets.sensitive!r}, and the sensitive column of the data is {people.sa.name!r}"
            raise OptionError(what, where="--data", remedy=nearest_column(buckets.sensitive, people.names))
        for name in buckets.people.names:
            if name not in people.names:
                remedy = nearest_column(name, people.names)
                raise OptionError(f"has no column {name!r}, which the release holds", where="--data", remedy=remedy)
        pairs = [_together(column, people.column(column.name)) for column in buckets.people.columns]
        first, number = _numbered([np.concatenate(codes) for _, codes in pairs])
        released = number[: buckets.n]
        owned = number[buckets.n :]
        values, (_, own) = _together(Column(buckets.sensitive, buckets.values, np.empty(0, np.int32)), people.sa)
        if set(buckets.values) - set(people.sa.values) and _unknown(buckets, people.sa.values):
            raise OptionError("has none of some value that the release publishes", where="--data", remedy=REMEDY)
        width = len(values)
        weight = people.weights.astype(np.float64)
        true = np.bincount(owned * width + own, weight, len(first) * width).reshape(len(first), width)
        published = np.bincount(released, minlength=len(first)).astype(np.float64)
        if (published > true.sum(axis=1)).any():
            raise OptionError("does not hold the people of the release", where="--data", remedy=REMEDY)
        columns = tuple(
            Column(column.name, named, np.concatenate(codes)[first].astype(np.int32))
            for column, (named, codes) in zip(buckets.people.columns, pairs, strict=True)
        )
        return cls(columns, values, true.astype(np.float64), published, number=released)

    def __len__(self) -> int:
        return len(self.published)

    def widened(self, buckets: Buckets) -> Ints:
        """The number of each of the release's values among all."""
        place = {value: number for number, value in enumerate(self.values)}
        return np.array([place[value] for value in buckets.values], np.int64)


def by_groups(
    combinations: Combinations, buckets: Buckets, *, check: Callable[[], None] = lambda: None
) -> tuple[Estimator, Estimator, Mixing]:
    """The two ways to read a release that look at groups only, and how groups mix values.

    ``uniform``: everybody has the shares of her group. ``debiased``: the mixing of the groups is undone.
    """
    count = _Count(buckets, combinations)
    free = valid_values(buckets, Exclusions.none(buckets.n, buckets.values))
    uniform = count.empty()
    for rows in blocks(buckets):
        check()
        places = Places.of(free, rows)
        count.add(uniform, places, places.by_group())
    mixing = _wide(Mixing.of(buckets), combinations.widened(buckets), len(combinations.values))
    return Estimator("uniform", uniform, _as_counted), Estimator("debiased", uniform, mixing.undone), mixing


def estimators(
    combinations: Combinations, valid: Valid, model: Model, *, check: Callable[[], None] = lambda: None
) -> tuple[tuple[Estimator, ...], Mixing]:
    """Four ways to read a release, given what is valid for everybody and what was learnt from the groups; and how these mix values.

    Besides those of :func:`by_groups`: ``rule-aware``, where something is known: all assignments that fit are equally likely. ``modelled``:
    what the groups let one learn about who has what is used for everybody.
    """
    buckets = valid.cells.buckets
    count = _Count(buckets, combinations)
    uniform, debiased, mixing = by_groups(combinations, buckets, check=check)
    modelled = count.empty()
    for places, share in estimated(valid, model, check=check):
        count.add(modelled, places, share)
    found = [uniform, debiased, Estimator("modelled", modelled, _as_counted)]
    if valid.cells.known.patterns.any():
        shares = share_values(valid, check=check)
        aware = count.empty()
        for rows in blocks(buckets):
            places = Places.of(valid, rows)
            count.add(aware, places, shares.share[places.at])
        found.insert(1, Estimator("rule-aware", aware, _as_counted))
    return tuple(found), mixing


@dataclass(frozen=True, eq=False)
class _Count:
    """Adds up shares of people by combination and value."""

    buckets: Buckets
    combinations: Combinations

    def empty(self) -> Floats:
        return np.zeros((len(self.combinations), len(self.combinations.values)))

    def add(self, table: Floats, places: Places, share: Floats) -> None:
        """Count the shares of some people."""
        width = table.shape[1]
        value = self.combinations.widened(self.buckets)[places.value]
        cell = self.combinations.number[places.rows][places.who] * width + value
        table += np.bincount(cell, share, table.size).reshape(table.shape)


def _as_counted(counted: Floats, people: Floats) -> Floats:
    del people
    return counted


def _wide(mixing: Mixing, place: Ints, width: int) -> Mixing:
    """The mixing over all values of the data, of which the release may lack some."""
    pi = np.zeros((width, width))
    share = np.zeros(width)
    pi[np.ix_(place, place)] = mixing.pi
    share[place] = mixing.share
    return Mixing(pi, share, mixing.noise)


def _together(one: Column, other: Column) -> tuple[tuple[str, ...], tuple[Ints, Ints]]:
    """The values of two columns together, and the codes of both among them."""
    values = tuple(sorted({*one.values, *other.values}))
    place = {value: number for number, value in enumerate(values)}
    fresh = [np.array([place[value] for value in column.values], np.int64)[column.codes] for column in (one, other)]
    return values, (fresh[0], fresh[1])


def _unknown(buckets: Buckets, values: Sequence[str]) -> bool:
    """Whether somebody of the release has a value that is not among these."""
    known = set(values)
    return any(buckets.values[value] not in known for value in np.unique(buckets.value).tolist())


def _numbered(columns: Sequence[Ints]) -> tuple[Ints, Ints]:
    """A row of each combination of codes, and the number of the combination of each row."""
    key = np.zeros(len(columns[0]), np.int64)
    first = key
    for codes in columns:
        # Numbered anew each time, the key lies below rows x values: it never overflows.
        _, first, key = np.unique(key * (int(codes.max(initial=0)) + 1) + codes, return_index=True, return_inverse=True)
        key = key.reshape(-1)
    return first, key


#: Questions that nobody fits are drawn again, up to so many times as many as there should be.
_REDRAWN = 100
#: So many cells of questions times combinations are looked at together.
_AT_ONCE = 1 << 22


Question = Sequence[tuple[int, Flags]]


@dataclass(frozen=True, eq=False)
class Queries:
    """Questions that somebody fits: columns with the values asked for; ``wanted[i]`` marks sensitive values, ``true`` are the answers."""

    cells: Combinations
    asked: Sequence[Question]
    wanted: Flags
    true: Floats

    def __len__(self) -> int:
        return len(self.true)

    def errors(self, estimators: Sequence[Estimator]) -> dict[str, Floats]:
        """The relative error of each answer, by the name of the estimator."""
        found = {one.name: np.empty(len(self)) for one in estimators}
        size = _at_once(self.cells)
        for part in (slice(begin, begin + size) for begin in range(0, len(self), size)):
            fits = _fitting(self.cells, self.asked[part])
            people = fits @ self.cells.published
            for one in estimators:
                estimate = (one.made(fits @ one.counted, people) * self.wanted[part]).sum(axis=1)
                found[one.name][part] = np.abs(np.minimum(estimate, people) - self.true[part]) / self.true[part]
        return found


def draw_queries(
    cells: Combinations,
    *,
    number: int,
    dim: int,
    selectivity: Fraction,
    seed: int,
    check: Callable[[], None] = lambda: None,
) -> Queries:
    """Questions about ``dim`` columns chosen at random and the sensitive one; fewer than asked for where hardly any fits somebody.

    Each asks for a set of values of each column, whose size is drawn from 1 to ``selectivity`` times the number of values (at least 1).
    """
    chance = np.random.default_rng(seed)
    widths = [len(column.values) for column in cells.columns]
    sizes = [(width, max(1, int(selectivity * width))) for width in (*widths, len(cells.values))]
    asked: list[Question] = []
    wanted = [np.empty((0, len(cells.values)), np.bool_)]
    answers = [np.empty(0)]
    drawn = 0
    at_once = min(number, _at_once(cells))
    while len(asked) < number and drawn < _REDRAWN * number:
        check()
        some = [_question(chance, sizes[:-1], dim) for _ in range(at_once)]
        values = np.stack([_subset(chance, *sizes[-1]) for _ in some])
        true = ((_fitting(cells, some) @ cells.true) * values).sum(axis=1)
        kept = np.flatnonzero(true > 0)[: number - len(asked)]
        drawn += at_once
        asked += [some[place] for place in kept.tolist()]
        wanted.append(values[kept])
        answers.append(true[kept])
    return Queries(cells, asked, np.concatenate(wanted), np.concatenate(answers))


def _at_once(cells: Combinations) -> int:
    """How many questions are looked at together."""
    return max(1, _AT_ONCE // max(1, len(cells)))


def _question(chance: np.random.Generator, sizes: Sequence[tuple[int, int]], dim: int) -> Question:
    """Columns, each with the values that are asked for; ``sizes`` are the number of values of each, and the most to ask for."""
    chosen = chance.choice(len(sizes), dim, replace=False).tolist()
    return [(column, _subset(chance, *sizes[column])) for column in chosen]


def _subset(chance: np.random.Generator, size: int, most: int) -> Flags:
    """From 1 to ``most`` of so many values."""
    marked = np.zeros(size, np.bool_)
    marked[chance.permutation(size)[: int(chance.integers(1, most + 1))]] = True
    return marked


def _fitting(cells: Combinations, asked: Sequence[Question]) -> Floats:
    """Which combinations (columns) fit each question (rows): 1 or 0, so that people can be added up."""
    fits = np.ones((len(asked), len(cells)))
    for row, question in enumerate(asked):
        for column, marked in question:
            fits[row] *= marked[cells.columns[column].codes]
    return fits


#: Estimates are floats: what falls short of a threshold by no more than this share of the people reaches it.
_ROOM = 1e-9


@dataclass(frozen=True, eq=False)
class PositiveRules:
    """The antecedents of up to some columns that enough people have, a row each, and which of their rules hold in the data.

    ``people[x]`` and ``published[x]`` people of the data and of the release have antecedent x; ``true[x, v]`` of them have value v.
    ``holds[x, v]``: the rule reaches the support and the conviction in the data.
    """

    people: Floats
    published: Floats
    true: Floats
    counted: Mapping[str, Floats]
    holds: Flags
    least: Threshold
    conviction: Fraction

    @classmethod
    def of(
        cls,
        cells: Combinations,
        estimators: Sequence[Estimator],
        *,
        least: Threshold,
        conviction: Fraction,
        length: int,
        intervals: Mapping[str, float],
    ) -> PositiveRules:
        """The rules of the data, and what is counted of them in the release."""
        columns = [_cut(column, intervals) for column in cells.columns]
        tables = {"people": cells.true, **{one.name: one.counted for one in estimators}}
        enough = least.least_count(int(cells.true.sum()))
        parts: dict[str, list[Floats]] = {name: [] for name in (*tables, "published")}
        for size in range(1, min(length, len(columns)) + 1):
            for chosen in choices(columns, size):
                number = _frequent(chosen, cells.true.sum(axis=1), enough)
                inside = np.flatnonzero(number >= 0)
                many = int(number.max(initial=-1)) + 1
                for name, table in tables.items():
                    parts[name].append(_added(number[inside], table[inside], many))
                parts["published"].append(_added(number[inside], cells.published[inside, None], many)[:, 0])
        joined = {name: np.concatenate(found) if found else np.empty(0) for name, found in parts.items()}
        true = joined.pop("people")
        people = true.sum(axis=1)
        published = joined.pop("published")
        holds = _rules(true, people, cells.true.sum(axis=0), least, conviction=conviction)
        return cls(people, published, true, joined, holds=holds, least=least, conviction=conviction)

    def __len__(self) -> int:
        return int(self.holds.sum())

    def errors(self, estimator: Estimator, everybody: Floats) -> dict[str, float]:
        """The confidence error and both identification errors of an estimator, as shares; ``everybody`` has each value in the release."""
        estimate = np.minimum(estimator.made(self.counted[estimator.name], self.published), self.published[:, None])
        found = _rules(estimate, self.published, everybody, self.least, conviction=self.conviction, room=_ROOM)
        confidence = np.divide(estimate, self.published[:, None], out=np.zeros_like(estimate), where=self.published[:, None] > 0)
        original = self.true / np.maximum(self.people, 1)[:, None]
        off = np.abs(confidence - original)[self.holds] / original[self.holds]
        return {
            "confidence_error": float(off.mean()),
            "identification_false_positive": int((found & ~self.holds).sum()) / len(self),
            "identification_false_negative": int((self.holds & ~found).sum()) / len(self),
        }


def _rules(
    both: Floats, people: Floats, everybody: Floats, least: Threshold, conviction: Fraction, *, room: float = 0.0
) -> Flags:
    """Which pairs are rules: enough people have both sides, and P(X) P(not v) >= conviction P(X and not v). Whole numbers compare exactly."""
    n = float(everybody.sum())
    enough = least.least_count(round(n)) if room == 0 else float(least.value if least.is_count else least.value * round(n))
    top = conviction.numerator
    bottom = conviction.denominator
    lacking = people[:, None] - both
    convinced = bottom * people[:, None] * (n - everybody) >= top * n * lacking - room * n * n
    return np.asarray((both >= enough - room * n) & convinced & (everybody < n))


def _frequent(chosen: Sequence[Column], people: Floats, enough: int) -> Ints:
    """The number of the antecedent of each combination; -1 where too few people have it for any rule."""
    key = np.zeros(len(people), np.int64)
    for column in chosen:
        key = np.unique(key * len(column.values) + column.codes, return_inverse=True)[1].reshape(-1)
    kept = np.bincount(key, people) >= enough
    return np.where(kept, np.cumsum(kept) - 1, -1)[key]


def _added(number: Ints, table: Floats, many: int) -> Floats:
    """The rows of a table added up by their numbers."""
    return np.stack([np.bincount(number, column, many) for column in table.T], axis=1)


def _cut(column: Column, intervals: Mapping[str, float]) -> Column:
    """A column of numbers cut into intervals of a width, where one is asked for."""
    width = intervals.get(column.name)
    if width is None:
        return column
    try:
        start = [math.floor(float(value) / width) for value in column.values]
    except (ValueError, OverflowError):
        what = f"column {column.name!r} does not hold numbers only, so it has no intervals"
        raise OptionError(what, where="--interval", remedy="Leave it out") from None
    places = {number: code for code, number in enumerate(sorted(set(start)))}
    codes = np.array([places[number] for number in start], np.int32)[column.codes]
    return Column(column.name, tuple(f"{number * width:g}" for number in places), codes)


def read_intervals(given: Mapping[str, float] | None, columns: Sequence[str]) -> dict[str, float]:
    """The widths of intervals by column, checked.

    >>> read_intervals({"age": 10}, ["age", "sex"])
    {'age': 10.0}
    """
    found: dict[str, float] = {}
    for name, width in (given or {}).items():
        if name not in columns:
            raise OptionError(f"there is no column {name!r}", where="--interval", remedy=nearest_column(name, columns))
        if isinstance(width, bool) or not isinstance(width, (int, float)) or not 0 < width < math.inf:
            raise OptionError("must be a width above 0", where="--interval", remedy="Write for instance age=10")
        found[name] = float(width)
    return found


#: Guesses above this are those that give somebody away when they are right.
SURE = 0.9
#: Rounds in which people of the data are found again in the release, where its order tells nothing.
_MOST_ROUNDS = 500
_FITS = 1e-6


def guessed_right(
    valid: Valid, model: Model, people: Table, cells: Combinations, *, check: Callable[[], None] = lambda: None
) -> tuple[Mapping[str, float], str]:
    """For how many people the guess of B03 is right, beside what the groups alone give; and what to say about how that was counted.

    Where the rows of the data are those of the release, in its order, the number is exact. Otherwise people with the same quasi-identifiers in
    different groups cannot be told apart, and it is the mean over the ways to tell them apart that fit, all as likely as the rest allows.
    """
    buckets = valid.cells.buckets
    found = guess(valid, model, check=check)
    own = own_values(buckets, people)
    right = own == found.top if own is not None else linked(buckets, cells, found.top, check=check)
    sure = found.largest > SURE
    groups = np.maximum.reduceat(buckets.count, buckets.starts[:-1])
    note = (
        "" if own is not None else "the order of the release tells nothing, so that right guesses are a mean over who may be who"
    )
    return {
        "surviving_guess_right": float(right.sum()) / buckets.n,
        "group_guess_right": float(groups.sum()) / buckets.n,
        "surviving_above_90": int(sure.sum()),
        "surviving_above_90_right": float(right[sure].sum()) / max(1, int(sure.sum())),
    }, note


def own_values(buckets: Buckets, people: Table) -> Ints | None:
    """The number of everybody's value, where the data are in the order of the release; None where they are not."""
    if len(people.weights) != buckets.n or (people.weights != 1).any():
        return None
    for column in buckets.people.columns:
        other = people.column(column.name)
        place = {value: number for number, value in enumerate(column.values)}
        fresh = np.array([place.get(value, -1) for value in other.values], np.int64)
        if not np.array_equal(fresh[other.codes], column.codes):
            return None
    place = {value: number for number, value in enumerate(buckets.values)}
    own = np.array([place.get(value, -1) for value in people.sa.values], np.int64)[people.sa.codes]
    width = len(buckets.values)
    cells, count = np.unique(buckets.group.astype(np.int64) * width + own, return_counts=True)
    owner = np.repeat(np.arange(len(buckets)), np.diff(buckets.starts))
    same = np.array_equal(cells, owner * width + buckets.value) and np.array_equal(count, buckets.count)
    return own if same else None


def linked(buckets: Buckets, cells: Combinations, top: Ints, *, check: Callable[[], None] = lambda: None) -> Floats:
    """How probable it is that the guess about each row is right, given the data but not which of equal people is in which group.

    The shares are scaled until everybody has one value, each group its contents, and each combination of quasi-identifiers the values that it
    has in the data: the distribution of largest entropy among those that fit.
    """
    width = np.diff(buckets.starts)[buckets.group]
    wide = cells.widened(buckets)
    ends = np.cumsum(width)
    who = np.repeat(np.arange(buckets.n), width)
    entry = np.arange(int(ends[-1])) + np.repeat(buckets.starts[buckets.group] - (ends - width), width)
    pair = cells.number[who] * len(cells.values) + wide[buckets.value[entry]]
    true = cells.true.reshape(-1)
    possible = np.flatnonzero(true[pair] > 0)
    who = who[possible]
    entry = entry[possible]
    pair = pair[possible]
    share = buckets.count[entry].astype(np.float64)
    everybody = float(cells.published.sum()) == float(cells.true.sum())
    for _ in range(_MOST_ROUNDS):
        check()
        share /= np.bincount(who, share, buckets.n)[who]
        share *= (buckets.count / np.maximum(np.bincount(entry, share, len(buckets.count)), 1e-300))[entry]
        have = np.bincount(pair, share, len(true))
        off = np.abs(have - true).sum() if everybody else np.maximum(have - true, 0).sum()
        if off <= _FITS * buckets.n:
            break
        scale = true / np.maximum(have, 1e-300)
        share *= (scale if everybody else np.minimum(scale, 1.0))[pair]
    share /= np.bincount(who, share, buckets.n)[who]
    hit = buckets.value[entry] == top[who]
    return np.asarray(np.bincount(who[hit], share[hit], buckets.n), np.float64)


def guessed_at_release(
    valid: Valid, own: npt.NDArray[np.integer], *, check: Callable[[], None] = lambda: None
) -> Mapping[str, float]:
    """How often guesses are right in a release that is just being made, ``own`` being everybody's value; of many people, of some groups only."""
    buckets = valid.cells.buckets
    model = learn(valid, check=check)
    rows = sampled(buckets, 0)
    ((places, share),) = estimated(valid, model, rows=rows, check=check)
    top, _ = places.leading(share)
    groups = np.maximum.reduceat(buckets.count, buckets.starts[:-1])
    return {
        "surviving_guess_right_exact": float((top == own[rows]).mean()),
        "group_guess_right": float(groups.sum()) / buckets.n,
    }


#: Of more people than this, the errors of a release are not measured while it is made.
MEASURED_AT_ONCE = 50_000


@dataclass(frozen=True, slots=True)
class UtilitySettings:
    """Which rules and which questions are looked at; the defaults are those of the Injector paper."""

    min_support: Threshold = field(default_factory=lambda: Threshold.parse("1%"))
    min_conviction: Fraction = Fraction(11, 10)
    max_length: int = 3
    intervals: Mapping[str, float] = field(default_factory=dict)
    queries: int = 1000
    dim: int = 2
    selectivity: Fraction = Fraction(1, 2)
    seed: int = 0

    def to_dict(self) -> dict[str, object]:
        """The settings as in the record."""
        support = int(self.min_support.value) if self.min_support.is_count else float(self.min_support.value)
        return {
            "min_support": support,
            "min_conviction": float(self.min_conviction),
            "max_length": self.max_length,
            "intervals": dict(self.intervals),
            "dim": self.dim,
            "selectivity": float(self.selectivity),
            "seed": self.seed,
        }


def measure_utility(
    buckets: Buckets,
    people: Table,
    known: Exclusions | None,
    settings: UtilitySettings,
    *,
    check: Callable[[], None] = lambda: None,
    progress: Callable[[float], None] = lambda _: None,
) -> Utility:
    """What a release is good for, and what can be guessed from it, for the owner of the data."""
    cells = Combinations.of(buckets, people)
    valid = valid_values(buckets, known or Exclusions.none(buckets.n, buckets.values))
    progress(0.1)
    model = learn(valid, check=check)
    readers, mixing = estimators(cells, valid, model, check=check)
    progress(0.4)
    rules, of_rules = _rule_errors(buckets, cells, readers, settings)
    check()
    progress(0.6)
    asked = draw_queries(
        cells, number=settings.queries, dim=settings.dim, selectivity=settings.selectivity, seed=settings.seed, check=check
    )
    of_answers = asked.errors(readers) if len(asked) else {}
    progress(0.8)
    guesses, note = guessed_right(valid, model, people, cells, check=check)
    errors = {one.name: of_rules.get(one.name, {}) | _summary(of_answers.get(one.name)) for one in readers}
    notes = [*_notes(cells, settings, rules, len(asked)), note]
    return Utility(
        buckets.n,
        len(buckets),
        buckets.sensitive,
        rules,
        queries=len(asked),
        settings=settings.to_dict(),
        errors=errors,
        condition=mixing.condition,
        figures=plain_figures(buckets),
        guesses=guesses,
        notes=tuple(text for text in notes if text),
    )


def owners_measures(
    buckets: Buckets, people: Table, known: Exclusions | None, *, check: Callable[[], None] = lambda: None
) -> Mapping[str, float]:
    """The same numbers for an audit, by their names and with the usual settings; none where ``check`` says that time is over.

    They decide nothing, so that the rest of an audit is not lost for them.
    """
    try:
        settings = UtilitySettings(dim=min(2, len(buckets.people.names)))
        return measure_utility(buckets, people, known, settings, check=check).measures
    except LimitReached:
        return {}


def grouping_cost(
    buckets: Buckets, people: Table, known: Exclusions, *, check: Callable[[], None] = lambda: None
) -> Mapping[str, float]:
    """What groups that are just being made cost, and what they leave to guess; ``people`` are in the order of the release.

    Errors are those of counting by groups; they are left out where there are so many people that measuring would take longer than grouping.
    """
    found = dict(guessed_at_release(valid_values(buckets, known, people.sa.codes), people.sa.codes, check=check))
    if buckets.n > MEASURED_AT_ONCE:
        return found
    settings = UtilitySettings(dim=min(2, len(buckets.people.names)))
    cells = Combinations.of(buckets, people)
    uniform, _, _ = by_groups(cells, buckets, check=check)
    found |= _rule_errors(buckets, cells, [uniform], settings)[1].get("uniform", {})
    asked = draw_queries(
        cells, number=settings.queries, dim=settings.dim, selectivity=settings.selectivity, seed=settings.seed, check=check
    )
    return found | _summary(asked.errors([uniform])["uniform"] if len(asked) else None)


def _rule_errors(
    buckets: Buckets, cells: Combinations, readers: Sequence[Estimator], settings: UtilitySettings
) -> tuple[int, dict[str, dict[str, float]]]:
    """How many rules the data have, and the errors of each estimator about them."""
    rules = PositiveRules.of(
        cells,
        readers,
        least=settings.min_support,
        conviction=settings.min_conviction,
        length=settings.max_length,
        intervals=settings.intervals,
    )
    everybody = np.zeros(len(cells.values))
    np.add.at(everybody, cells.widened(buckets)[buckets.value], buckets.count)
    return len(rules), {one.name: rules.errors(one, everybody) for one in readers} if len(rules) else {}


def _summary(off: npt.NDArray[np.float64] | None) -> dict[str, float]:
    """The errors of answers in two numbers."""
    return {} if off is None else {"query_error": float(off.mean()), "query_error_median": float(np.median(off))}


def _notes(cells: Combinations, settings: UtilitySettings, rules: int, asked: int) -> Iterator[str]:
    """What a reader must know about the numbers."""
    left_out = int(cells.true.sum() - cells.published.sum())
    if left_out:
        yield f"{left_out:,} people of the data are not in the release"
    if not rules:
        yield "the data have no rule with that support and conviction, so there is no confidence and no identification error"
    if asked < settings.queries:
        yield f"only {asked:,} of {settings.queries:,} questions that somebody fits were found"
