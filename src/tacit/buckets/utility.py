"""Utility of a bucketized release for its owner, and measures of its groups.

Three kinds of measures: the relative error of random counting queries (how many people have these quasi-identifiers and one of these
sensitive values?), the errors of positive rules (their confidences, and which of them are found), and how often guesses from the release
are right. Measures of groups from the literature are reported as well: k-anonymity, l-diversity, t-closeness.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations as choices
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.buckets.assignments import Valid, concatenate_ranges, valid_values
from tacit.buckets.estimators import Combinations, Estimator, Projection, by_groups, estimators, number_rows, sum_lines
from tacit.buckets.surviving_correlations import Model, estimate, guess, learn, sample_rows
from tacit.model.arrays import Flags, Floats, Ints
from tacit.model.audit import SURE
from tacit.model.buckets import Buckets
from tacit.model.errors import LimitReached, OptionError, nearest_column
from tacit.model.knowledge import Exclusions
from tacit.model.measures import Utility
from tacit.model.numbers import Threshold
from tacit.model.ordered import Order
from tacit.model.policy import Check
from tacit.model.table import Column, Table, number_keys


def plain_figures(release: Buckets | Table, order: Sequence[str] = (), *, everybody: Floats | None = None) -> Mapping[str, float]:
    """Return k, l, t and related ``MEASURES`` by name.

    Each person has each value with its share of the group. The groups of a table are the combinations of quasi-identifiers. ``order`` names
    the sensitive values from the lowest to the highest; numbers have an order of their own. ``everybody`` are the shares of values among all
    people, if the release stands for more people than it holds.
    """
    buckets = release if isinstance(release, Buckets) else _by_combination(release)
    if buckets.n == 0:
        raise OptionError("holds nobody", where="the release", remedy="Give one with people")
    size = buckets.sizes.astype(np.float64)
    owner = np.repeat(np.arange(len(buckets)), np.diff(buckets.starts))
    share = buckets.count / size[owner]
    if everybody is None:
        everybody = np.bincount(buckets.value, buckets.count, len(buckets.values)) / buckets.n
    usual = everybody[buckets.value]
    entropy = -np.bincount(owner, share * np.log(share), len(buckets))
    # A value that a group lacks is as far from the usual share as that is large; the rest of 1 is those the group has.
    apart = np.bincount(owner, np.abs(share - usual) - usual, len(buckets)) + 1.0
    distinct = int(np.diff(buckets.starts).min())
    basic = float((share / usual).max() - 1)
    ordered = Order.of(buckets.values, order)
    return {
        "k_anonymity": int(size.min()),
        "l_diversity": distinct,
        "entropy_l": round(float(np.exp(entropy.min())), 12),
        "recursive_c": _recursive(buckets, distinct),
        "largest_share": float(share.max()),
        "t_closeness": float(max(0.0, apart.max() / 2)),
        **({} if ordered is None else {"t_closeness_ordered": _ordered_closeness(buckets, ordered, everybody)}),
        "beta_likeness": basic,
        "enhanced_beta_likeness": min(basic, float(-np.log(everybody[everybody > 0].min()))),
        "delta_disclosure": float(np.abs(np.log(share / usual)).max()),
    }


GROUPS_AT_ONCE = 1 << 22  #: Shares of groups that are added up at once.


def _ordered_closeness(buckets: Buckets, order: Order, everybody: Floats) -> float:
    """Return the largest earth mover's distance of a group from all people."""
    step = max(1, GROUPS_AT_ONCE // order.size)
    largest = 0.0
    for first in range(0, len(buckets), step):
        sizes = buckets.sizes[first : first + step]
        starts = buckets.starts[first : first + step + 1]
        inside = slice(int(starts[0]), int(starts[-1]))
        share = np.zeros((len(sizes), len(buckets.values)))
        owner = np.repeat(np.arange(len(sizes)), np.diff(starts))
        share[owner, buckets.value[inside]] = buckets.count[inside] / sizes[owner]
        largest = max(largest, float(order.distances(share, everybody).max()))
    return largest


def _recursive(buckets: Buckets, least: int) -> float:
    """Return the infimum of c for recursive (c, l)-diversity.

    It is the largest ratio, over groups, of the most frequent value to the l-th and all rarer ones.
    """
    owner = np.repeat(np.arange(len(buckets)), np.diff(buckets.starts))
    order = np.lexsort((-buckets.count, owner))
    ordered = buckets.count[order]
    rank = np.arange(len(order)) - buckets.starts[owner]
    tail = np.bincount(owner, np.where(rank >= least - 1, ordered, 0), len(buckets))
    return float((ordered[buckets.starts[:-1]] / tail).max())


def _by_combination(people: Table) -> Buckets:
    if not people.schema.qi:
        raise OptionError("the table has no quasi-identifying column", where="qi", remedy="Name them with --qi (Python: qi=)")
    rows = np.repeat(np.arange(len(people.weights)), people.weights)
    _, key = number_rows([column.codes[rows] for column in people.qi.columns])
    known = replace(people.sa, codes=people.sa.codes[rows])
    qi = people.qi if (people.weights == 1).all() else replace(people.qi.take(rows), weights=np.ones(len(rows), np.int64))
    return Buckets.of(qi, known, key.astype(np.int32))


_REDRAWN = 100  #: Queries without a positive answer are drawn again, up to this many times the number wanted.
_AT_ONCE = 1 << 22  #: Pairs of query and combination that are evaluated together.
_ROOM = 1e-9  #: Tolerance of estimates at a threshold, as a share of the people.
#: Rounds of proportional fitting when the order of the release says nothing, and the error that ends it.
_MOST_ROUNDS = 500
_FITS = 1e-6
#: Above this number of people, errors are not measured while a release is made.
MEASURED_AT_ONCE = 50_000
Question = Sequence[tuple[int, Flags]]


@dataclass(frozen=True, eq=False)
class Queries:
    """Counting queries with a positive answer.

    ``asked[i]`` names columns with the values asked for, ``wanted[i]`` marks sensitive values, ``true`` are the answers.
    """

    cells: Combinations
    asked: Sequence[Question]
    wanted: Flags
    true: Floats

    def __len__(self) -> int:
        return len(self.true)

    def errors(self, estimators: Sequence[Estimator]) -> dict[str, Floats]:
        """Return the relative error of each answer, by estimator."""
        width = len(self.cells.values)
        counted = np.concatenate([self.cells.published[:, None], *(one.counted for one in estimators)], axis=1)
        found = _Answers(self.cells, counted).of(self.asked)
        people = found[:, 0]
        out = {}
        for number, one in enumerate(estimators):
            first = 1 + number * width
            estimate = (one.made(found[:, first : first + width], people) * self.wanted).sum(axis=1)
            out[one.name] = np.abs(np.minimum(estimate, people) - self.true) / self.true
        return out


class _Answers:
    """Sums over the combinations that questions ask for.

    Most questions are about a few of the columns, so that the sums of these columns' combinations answer them.
    """

    def __init__(self, cells: Combinations, table: Floats) -> None:
        self._cells = cells
        self._table = table
        self._room = _AT_ONCE
        self._known: dict[tuple[int, ...], tuple[Projection, Floats]] = {}

    def of(self, asked: Sequence[Question]) -> Floats:
        """Return the sums of the table's lines for each question."""
        return np.array([self._sum(question) for question in asked]).reshape(len(asked), self._table.shape[1])

    def _sum(self, question: Question) -> Floats:
        projection, table = self._project(tuple(column for column, _ in question))
        fits = np.ones(len(projection), np.bool_)
        for codes, (_, marked) in zip(projection.codes, question, strict=True):
            fits &= marked[codes]
        return np.asarray(table[fits].sum(axis=0))

    def _project(self, columns: tuple[int, ...]) -> tuple[Projection, Floats]:
        if columns in self._known:
            return self._known[columns]
        projection = self._cells.project(columns)
        table = projection.sums(self._table)
        if table.size <= self._room:
            self._room -= table.size
            self._known[columns] = projection, table
        return projection, table


def draw_queries(
    cells: Combinations, *, number: int, dim: int, selectivity: Fraction, seed: int, check: Check = lambda: None
) -> Queries:
    """Draw queries on ``dim`` columns and the sensitive one.

    Each asks for a set of values of each column, whose size is drawn from 1 to ``selectivity`` times the number of values (at least 1).
    There are fewer queries than asked for if hardly any has a positive answer.
    """
    chance = np.random.default_rng(seed)
    widths = [len(column.values) for column in cells.columns]
    sizes = [(width, max(1, int(selectivity * width))) for width in (*widths, len(cells.values))]
    asked: list[Question] = []
    wanted = [np.empty((0, len(cells.values)), np.bool_)]
    answers = [np.empty(0)]
    drawn = 0
    answered = _Answers(cells, cells.true)
    at_once = min(number, _questions_at_once(cells))
    while len(asked) < number and drawn < _REDRAWN * number:
        check()
        some: list[Question] = []
        for _ in range(at_once):
            chosen = chance.choice(len(widths), dim, replace=False).tolist()
            some.append([(column, _draw_subset(chance, *sizes[column])) for column in chosen])
        values = np.stack([_draw_subset(chance, *sizes[-1]) for _ in some])
        true = (answered.of(some) * values).sum(axis=1)
        kept = np.flatnonzero(true > 0)[: number - len(asked)]
        drawn += at_once
        asked += [some[place] for place in kept.tolist()]
        wanted.append(values[kept])
        answers.append(true[kept])
    return Queries(cells, asked, np.concatenate(wanted), np.concatenate(answers))


def _questions_at_once(cells: Combinations) -> int:
    return max(1, _AT_ONCE // max(1, len(cells)))


def _draw_subset(chance: np.random.Generator, size: int, most: int) -> Flags:
    marked = np.zeros(size, np.bool_)
    marked[chance.permutation(size)[: int(chance.integers(1, most + 1))]] = True
    return marked


@dataclass(frozen=True, eq=False)
class PositiveRules:
    """Frequent antecedents by row, and rules that hold.

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
        """Find the data's rules, and count them in the release."""
        columns = [_cut_into_intervals(column, intervals) for column in cells.columns]
        tables = {"people": cells.true, **{one.name: one.counted for one in estimators}}
        enough = least.least_count(int(cells.true.sum()))
        parts: dict[str, list[Floats]] = {name: [] for name in (*tables, "published")}
        for size in range(1, min(length, len(columns)) + 1):
            for chosen in choices(columns, size):
                number = _number_frequent(chosen, cells.true.sum(axis=1), enough)
                inside = np.flatnonzero(number >= 0)
                many = int(number.max(initial=-1)) + 1
                for name, table in tables.items():
                    parts[name].append(sum_lines(number[inside], table[inside], many))
                parts["published"].append(sum_lines(number[inside], cells.published[inside, None], many)[:, 0])
        joined = {name: np.concatenate(found) if found else np.empty(0) for name, found in parts.items()}
        true = joined.pop("people")
        people = true.sum(axis=1)
        published = joined.pop("published")
        holds = _mark_rules(true, people, cells.true.sum(axis=0), least, conviction=conviction)
        return cls(people, published, true, joined, holds=holds, least=least, conviction=conviction)

    def __len__(self) -> int:
        return int(self.holds.sum())

    def errors(self, estimator: Estimator, everybody: Floats) -> dict[str, float]:
        """Return an estimator's errors; ``everybody`` counts the release's values."""
        estimate = np.minimum(estimator.made(self.counted[estimator.name], self.published), self.published[:, None])
        found = _mark_rules(estimate, self.published, everybody, self.least, conviction=self.conviction, room=_ROOM)
        confidence = np.divide(estimate, self.published[:, None], out=np.zeros_like(estimate), where=self.published[:, None] > 0)
        original = self.true / np.maximum(self.people, 1)[:, None]
        off = np.abs(confidence - original)[self.holds] / original[self.holds]
        return {
            "confidence_error": float(off.mean()),
            "identification_false_positive": int((found & ~self.holds).sum()) / len(self),
            "identification_false_negative": int((self.holds & ~found).sum()) / len(self),
        }


def _mark_rules(
    both: Floats, people: Floats, everybody: Floats, least: Threshold, conviction: Fraction, *, room: float = 0.0
) -> Flags:
    """Mark the pairs with enough support and conviction.

    P(X) P(not v) >= conviction P(X and not v); whole numbers compare exactly.
    """
    n = float(everybody.sum())
    enough = least.least_count(round(n)) if room == 0 else float(least.value if least.is_count else least.value * round(n))
    lacking = conviction.numerator * n * (people[:, None] - both)
    convinced = conviction.denominator * people[:, None] * (n - everybody) >= lacking - room * n * n
    return np.asarray((both >= enough - room * n) & convinced & (everybody < n))


def _number_frequent(chosen: Sequence[Column], people: Floats, enough: int) -> Ints:
    _, key = number_rows([column.codes for column in chosen])
    kept = np.bincount(key, people) >= enough
    return np.where(kept, np.cumsum(kept) - 1, -1)[key]


def _cut_into_intervals(column: Column, intervals: Mapping[str, float]) -> Column:
    width = intervals.get(column.name)
    if width is None:
        return column
    try:
        start = [math.floor(float(value) / width) for value in column.values]
    except (ValueError, OverflowError):
        what = f"column {column.name!r} is not numeric, so it cannot be cut into intervals"
        raise OptionError(what, where="--interval", remedy="Remove the option") from None
    places = {number: code for code, number in enumerate(sorted(set(start)))}
    codes = np.array([places[number] for number in start], np.int32)[column.codes]
    return Column(column.name, tuple(f"{number * width:g}" for number in places), codes)


def read_intervals(given: Mapping[str, float] | None, columns: Sequence[str]) -> dict[str, float]:
    """Check the widths of intervals by column."""
    found: dict[str, float] = {}
    for name, width in (given or {}).items():
        if name not in columns:
            raise OptionError(f"there is no column {name!r}", where="--interval", remedy=nearest_column(name, columns))
        if isinstance(width, bool) or not isinstance(width, (int, float)) or not 0 < width < math.inf:
            raise OptionError("must be a width above 0", where="--interval", remedy="Write for instance age=10")
        found[name] = float(width)
    return found


def measure_guesses(
    valid: Valid, model: Model, people: Table, cells: Combinations, *, check: Check = lambda: None
) -> tuple[Mapping[str, float], str]:
    """Return how often guesses are right, and a note.

    Guesses are those of B03 and of the groups alone. If the data has the rows of the release, in order, the number is exact; otherwise
    it is the mean over all consistent ways to match people with equal quasi-identifiers.
    """
    buckets = valid.cells.buckets
    found = guess(valid, model, check=check)
    own = match_rows(buckets, people)
    right = own == found.top if own is not None else link_guesses(buckets, cells, found.top, check=check)
    sure = found.largest > SURE
    groups = np.maximum.reduceat(buckets.count, buckets.starts[:-1])
    other_order = "the data are in another order than the release, so the share of right guesses is an expected value"
    return {
        "surviving_guess_right": float(right.sum()) / buckets.n,
        "group_guess_right": float(groups.sum()) / buckets.n,
        "surviving_above_90": int(sure.sum()),
        "surviving_above_90_right": float(right[sure].sum()) / max(1, int(sure.sum())),
    }, "" if own is not None else other_order


def match_rows(buckets: Buckets, people: Table) -> Ints | None:
    """Return everybody's value if row orders agree, else None."""
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


def link_guesses(buckets: Buckets, cells: Combinations, top: Ints, *, check: Check = lambda: None) -> Floats:
    """Return the probability that each row's guess is right.

    That of the maximum entropy distribution in which everybody has one value, each group its contents, and each combination its values
    in the data, by iterative proportional fitting of what these leave open.
    """
    everybody = float(cells.published.sum()) == float(cells.true.sum())
    sure, links = _Links.of(buckets, cells).settle(is_equal=everybody)
    share = links.fit(buckets.n, is_equal=everybody, check=check)
    hit = buckets.value[links.entry] == top[links.row]
    right = np.zeros(buckets.n)
    np.add.at(right, links.row[hit], share[hit])
    right[sure.row] = buckets.value[sure.entry] == top[sure.row]
    return right


@dataclass(frozen=True, eq=False)
class _Links:
    """Possible values of people: that of row ``row[i]`` may be the one of ``entry[i]``.

    ``numbers`` are the numbers of the link's person, of its entry, and of its pair of a combination and a value; ``wanted`` is how many links of
    each person, entry and pair are to be found.
    """

    row: Ints
    entry: Ints
    numbers: tuple[Ints, ...]
    wanted: tuple[Ints, ...]

    @classmethod
    def of(cls, buckets: Buckets, cells: Combinations) -> _Links:
        """Return the values of people's groups that the data have of their combination."""
        width = np.diff(buckets.starts)[buckets.group]
        row = np.repeat(np.arange(buckets.n), width)
        entry = concatenate_ranges(buckets.starts[buckets.group], width)
        pair = cells.number[row] * len(cells.values) + cells.value_numbers(buckets)[buckets.value[entry]]
        true = cells.true.reshape(-1).astype(np.int64)
        possible = np.flatnonzero(true[pair])
        row = row[possible]
        entry = entry[possible]
        each = np.ones(buckets.n, np.int64)
        return cls(row, entry, (row, entry, pair[possible]), (each, buckets.count, true)).renumber()

    def __len__(self) -> int:
        return len(self.row)

    def take(self, kept: npt.NDArray[Any]) -> _Links:
        """Return these links only."""
        return replace(self, row=self.row[kept], entry=self.entry[kept], numbers=tuple(numbers[kept] for numbers in self.numbers))

    def renumber(self) -> _Links:
        """Return the links with numbers that occur only."""
        found = [number_keys(numbers, len(wanted)) for numbers, wanted in zip(self.numbers, self.wanted, strict=True)]
        wanted = [wanted[numbers[first]] for (first, _), numbers, wanted in zip(found, self.numbers, self.wanted, strict=True)]
        return replace(self, numbers=tuple(number for _, number in found), wanted=tuple(wanted))

    def settle(self, *, is_equal: bool) -> tuple[_Links, _Links]:
        """Return the links that must be, and those that are open, with the numbers left for them.

        If as many links are possible as are to be found, they all must be; if not ``is_equal``, pairs may have fewer than the data. All links
        are open if that contradicts itself.
        """
        left = self
        found = []
        while True:
            sure = np.zeros(len(left), np.bool_)
            for numbers, wanted in [*zip(left.numbers, left.wanted, strict=True)][: 3 if is_equal else 2]:
                sure |= (np.bincount(numbers, minlength=len(wanted)) == wanted)[numbers]
            held = left.take(sure)
            taken = (
                np.bincount(numbers, minlength=len(wanted)) for numbers, wanted in zip(held.numbers, left.wanted, strict=True)
            )
            rest = tuple(wanted - many for wanted, many in zip(left.wanted, taken, strict=True))
            if min(int(wanted.min(initial=0)) for wanted in rest) < 0:
                return self.take(np.empty(0, np.int64)), self
            found.append(held)
            is_open = np.ones(len(left), np.bool_)
            for numbers, wanted in zip(left.numbers, rest, strict=True):
                is_open &= (wanted > 0)[numbers]
            if is_open.all():
                break
            left = replace(left.take(is_open), wanted=rest).renumber()
        rows, entries = (np.concatenate(parts) for parts in zip(*((one.row, one.entry) for one in found), strict=True))
        return replace(self, row=rows, entry=entries, numbers=(rows,) * 3), left

    def fit(self, people: int, *, is_equal: bool, check: Check) -> Floats:
        """Return the share of each link, fitted to the numbers wanted."""
        who, entry, pair = self.numbers
        _, count, true = self.wanted
        share = count[entry].astype(np.float64)
        factor = np.ones(len(true))  # of each pair, below 1 only while it would have more than the data
        for _ in range(_MOST_ROUNDS):
            check()
            share /= np.bincount(who, share)[who]
            share *= (count / np.maximum(np.bincount(entry, share, len(count)), 1e-300))[entry]
            have = np.bincount(pair, share, len(true))
            scale = true / np.maximum(have, 1e-300)
            if not is_equal:
                scale = np.minimum(scale, 1 / factor)
                factor *= scale
            if np.abs(have * scale - have).sum() <= _FITS * people:
                break
            share *= scale[pair]
        return np.asarray(share / np.bincount(who, share)[who])


def measure_guesses_at_release(valid: Valid, own: npt.NDArray[np.integer], *, check: Check = lambda: None) -> Mapping[str, float]:
    """Return the accuracy of guesses on sampled new groups."""
    buckets = valid.cells.buckets
    rows = sample_rows(buckets, 0)
    ((places, share),) = estimate(valid, learn(valid, check=check), rows=rows, check=check)
    top, _ = places.most_probable(share)
    groups = np.maximum.reduceat(buckets.count, buckets.starts[:-1])
    right = float((top == own[rows]).mean())
    return {"surviving_guess_right_exact": right, "group_guess_right": float(groups.sum()) / buckets.n}


@dataclass(frozen=True, slots=True)
class UtilitySettings:
    """Settings of utility; defaults of the Injector paper."""

    min_support: Threshold = field(default_factory=lambda: Threshold.parse("1%"))
    min_conviction: Fraction = Fraction(11, 10)
    max_length: int = 3
    intervals: Mapping[str, float] = field(default_factory=dict)
    queries: int = 1000
    dim: int = 2
    selectivity: Fraction = Fraction(1, 2)
    seed: int = 0

    def draw(self, cells: Combinations, check: Check) -> Queries:
        """Draw the queries."""
        return draw_queries(cells, number=self.queries, dim=self.dim, selectivity=self.selectivity, seed=self.seed, check=check)

    def to_dict(self) -> dict[str, object]:
        """Return the settings as in the record."""
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
    order: Sequence[str] = (),
    check: Check = lambda: None,
    progress: Callable[[float], None] = lambda _: None,
) -> Utility:
    """Measure utility and correct guesses of a release.

    ``order`` is that of :func:`plain_figures`.
    """
    cells = Combinations.of(buckets, people)
    valid = valid_values(buckets, known or Exclusions.none(buckets.n, buckets.values))
    progress(0.1)
    model = learn(valid, check=check)
    readers, mixing = estimators(cells, valid, model, check=check)
    progress(0.4)
    rules, of_rules = _measure_rule_errors(buckets, cells, readers, settings)
    check()
    progress(0.6)
    asked = settings.draw(cells, check)
    of_answers = asked.errors(readers) if len(asked) else {}
    progress(0.8)
    guesses, note = measure_guesses(valid, model, people, cells, check=check)
    errors = {one.name: of_rules.get(one.name, {}) | _summarize_errors(of_answers.get(one.name)) for one in readers}
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
        figures=plain_figures(buckets, order),
        guesses=guesses,
        notes=tuple(text for text in notes if text),
    )


def owners_measures(
    buckets: Buckets, people: Table, known: Exclusions | None, order: Sequence[str] = (), *, check: Check = lambda: None
) -> Mapping[str, float]:
    """Return the same measures for an audit, if time permits.

    They decide nothing, so the rest of an audit is not lost for them.
    """
    try:
        settings = UtilitySettings(dim=min(2, len(buckets.people.names)))
        return measure_utility(buckets, people, known, settings, order=order, check=check).measures
    except LimitReached:
        return {}


def grouping_cost(valid: Valid, people: Table, *, check: Check = lambda: None) -> Mapping[str, float]:
    """Return the errors and right guesses while making groups.

    ``people``, whose values are ``valid``, are in the order of the release. Errors are those of counting by groups, omitted if measuring would
    take longer than grouping.
    """
    buckets = valid.cells.buckets
    found = dict(measure_guesses_at_release(valid, people.sa.codes, check=check))
    if buckets.n > MEASURED_AT_ONCE:
        return found
    settings = UtilitySettings(dim=min(2, len(buckets.people.names)))
    cells = Combinations.of(buckets, people)
    uniform, _, _ = by_groups(cells, buckets, check=check)
    found |= _measure_rule_errors(buckets, cells, [uniform], settings)[1].get("uniform", {})
    asked = settings.draw(cells, check)
    return found | _summarize_errors(asked.errors([uniform])["uniform"] if len(asked) else None)


def _measure_rule_errors(
    buckets: Buckets, cells: Combinations, readers: Sequence[Estimator], settings: UtilitySettings
) -> tuple[int, dict[str, dict[str, float]]]:
    rules = PositiveRules.of(
        cells,
        readers,
        least=settings.min_support,
        conviction=settings.min_conviction,
        length=settings.max_length,
        intervals=settings.intervals,
    )
    everybody = np.zeros(len(cells.values))
    np.add.at(everybody, cells.value_numbers(buckets)[buckets.value], buckets.count)
    return len(rules), {one.name: rules.errors(one, everybody) for one in readers} if len(rules) else {}


def _summarize_errors(off: Floats | None) -> dict[str, float]:
    return {} if off is None else {"query_error": float(off.mean()), "query_error_median": float(np.median(off))}


def _notes(cells: Combinations, settings: UtilitySettings, rules: int, asked: int) -> Iterator[str]:
    left_out = int(cells.true.sum() - cells.published.sum())
    if left_out:
        yield f"{left_out:,} people of the data are not in the release"
    if not rules:
        yield "the data have no rule with this support and conviction, so errors of rules are not measured"
    if asked < settings.queries:
        yield f"only {asked:,} of {settings.queries:,} queries with a positive answer were found"
