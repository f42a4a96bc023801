"""B03 surviving-correlations: who is likely to have which value of her group, by what all groups together show about people like her.

Infers
    P(value) for everybody, sharper than the shares of her group: over many groups it shows which quasi-identifiers go with which value, although
    no single group tells. The values of each group are given to its people accordingly.
Assumes
    Who is in which group is known, and negative rules, as for B01 and B02. Groups were formed without regard to who tends to have which value;
    where they were formed by a rule of their own, the model takes part of that rule for a correlation, and is too sure of itself.
Claim
    Estimates. It is measured for every release. It counts against one only where the attack is asked for by name and the policy sets a limit for
    estimates, because no grouping bounds it.
Cost
    A model of one table for each column is learnt from up to 40,000 people in at most 30 rounds, then used for everybody: about a second, and
    two more for each million people.
Example
    Groups of two smokers hold two cancers, and groups of two others two flus. So in a group of a smoker and another person that holds one of
    each, the smoker is the one who has cancer, in all likelihood.
Reference
    Kifer, Attacks on privacy and deFinetti's theorem, SIGMOD 2009; the setting is that of Li, Li, Injector, ICDE 2008, and of Anatomy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tacit.buckets.assignments import Valid
from tacit.buckets.case import BucketCase
from tacit.errors import LimitReached
from tacit.known.sensitive_values import BEHIND_PROOFS, no_limit
from tacit.model.arrays import Floats, Ints
from tacit.model.audit import SURE, AttackRun, Caution, Target, cautions_of
from tacit.model.buckets import Buckets
from tacit.model.event import BoxEvent
from tacit.model.finding import Finding
from tacit.model.numbers import Bound

#: The model is learnt from so many people at the most, whose groups are drawn at random; more hardly change it.
LEARNT_FROM = 40_000
#: So many people are looked at together.
_AT_ONCE = 200_000
#: Learning ends when estimates change by less than this on average, or after so many rounds.
_STILL = 2e-4
_MOST_ROUNDS = 30
#: Groups are filled in so many rounds while learning, and until they fit to this many people when the model is used.
_ROUNDS_LEARNING = 4
_ROUNDS_USING = 30
_FITS = 1e-3
#: A value that the model rules out stays possible by so much: the model is not certain.
_LEAST = 1e-9


@dataclass(frozen=True, eq=False)
class Places:
    """Some people of a release beside the values that they may have: place p is about row ``row[p]`` and the ST entry ``entry[p]``.

    The places of the i-th of these people start at ``first[i]``; ``rows`` are their numbers in the release, ``who[p]`` is i. ``at[p]`` is
    the place in the blocks of :class:`~tacit.buckets.assignments.Cells`.
    """

    buckets: Buckets
    rows: Ints
    first: Ints
    who: Ints
    at: Ints
    entry: Ints

    @classmethod
    def of(cls, valid: Valid, rows: Ints) -> Places:
        """The places of some rows, by what is valid for them; whole groups, so that their contents can be kept."""
        cells = valid.cells
        start = cells.rows[cells.cell[rows]]
        width = np.diff(cells.rows)[cells.cell[rows]]
        ends = np.cumsum(width)
        first = ends - width
        at = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(start - first, width)
        who = np.repeat(np.arange(len(rows)), width)
        possible = valid.possible[at]
        who = who[possible]
        at = at[possible]
        return cls(cells.buckets, rows, np.searchsorted(who, np.arange(len(rows))), who, at=at, entry=cells.entries[at])

    @cached_property
    def value(self) -> Ints:
        """The sensitive value that each place is about."""
        return self.buckets.value[self.entry].astype(np.int64)

    @cached_property
    def known(self) -> tuple[Ints, Ints]:
        """The entries that occur, and the number of that of each place among them."""
        entries, number = np.unique(self.entry, return_inverse=True)
        return entries, number.reshape(-1)

    def by_group(self) -> Floats:
        """The share of each place's value in its group: what groups alone say, among the values that are possible."""
        return self.shared(self.buckets.count[self.entry].astype(np.float64))

    def shared(self, weight: Floats) -> Floats:
        """Weights made shares of each person."""
        return np.asarray(weight / np.add.reduceat(weight, self.first)[self.who]) if len(weight) else weight

    def leading(self, share: Floats) -> tuple[Ints, Floats]:
        """The most probable value of each person, the first of equal ones, and its share."""
        best = np.maximum.reduceat(share, self.first) if len(share) else share
        most = np.flatnonzero(share >= best[self.who])
        first = np.flatnonzero(np.append(True, np.diff(self.who[most]) > 0)[: len(most)])
        return self.value[most[first]], best

    def filled(self, weight: Floats, rounds: int) -> Floats:
        """The shares nearest to weights that give out just the values of each group."""
        entries, number = self.known
        count = self.buckets.count[entries].astype(np.float64)
        factor = np.ones(len(entries))
        found = self.shared(weight)
        for _ in range(rounds):
            given = np.bincount(number, found, len(entries))
            if np.abs(given - count).sum() <= _FITS * len(self.rows):
                break
            factor *= count / np.maximum(given, 1e-300)
            found = self.shared(weight * factor[number])
        return found


@dataclass(frozen=True, eq=False)
class Model:
    """How probable the values of each column are for people with each sensitive value.

    ``tables[c][a, v]`` is the logarithm of the share of people with value a of column c among those with sensitive value v; it was learnt in so
    many ``rounds``.
    """

    tables: tuple[Floats, ...]
    rounds: int

    def weights(self, places: Places, codes: Sequence[npt.NDArray[np.integer]]) -> Floats:
        """How well each place's value fits the person, up to a factor of the person."""
        fit = np.zeros(len(places.who))
        for table, column in zip(self.tables, codes, strict=True):
            fit += table.reshape(-1)[column[places.rows][places.who] * table.shape[1] + places.value]
        best = np.maximum.reduceat(fit, places.first) if len(fit) else fit
        return np.asarray(np.maximum(np.exp(fit - best[places.who]), _LEAST))


def learn(valid: Valid, *, seed: int = 0, check: Callable[[], None] = lambda: None) -> Model:
    """The model that explains the groups best, from what is published alone; ``check`` is called now and then and may raise."""
    buckets = valid.cells.buckets
    places = Places.of(valid, sampled(buckets, seed))
    codes = [column.codes.astype(np.int64) for column in buckets.people.columns]
    found = places.by_group()
    tables: tuple[Floats, ...] = ()
    rounds = 0
    for rounds in range(1, _MOST_ROUNDS + 1):
        check()
        tables = tuple(
            _table(places, column, len(named.values), found) for column, named in zip(codes, buckets.people.columns, strict=True)
        )
        weights = Model(tables, rounds).weights(places, codes)
        before = found
        found = places.filled(weights, _ROUNDS_LEARNING)
        if np.abs(found - before).sum() <= _STILL * len(places.rows):
            break
    return Model(tables, rounds)


def estimated(
    valid: Valid, model: Model, *, rows: Ints | None = None, check: Callable[[], None] = lambda: None
) -> Iterator[tuple[Places, Floats]]:
    """How probable each possible value is for everybody under a model: people in parts, each with the shares of its places.

    With ``rows``, which are those of whole groups, for these people only.
    """
    codes = [column.codes.astype(np.int64) for column in valid.cells.buckets.people.columns]
    for part in blocks(valid.cells.buckets) if rows is None else [rows]:
        check()
        places = Places.of(valid, part)
        yield places, places.filled(model.weights(places, codes), _ROUNDS_USING)


@dataclass(frozen=True, eq=False)
class Guesses:
    """The most probable value of each row and its probability; and every row with a value that is above its limit, where there are limits."""

    top: Ints
    largest: Floats
    row: Ints
    value: Ints
    share: Floats


def guess(valid: Valid, model: Model, *, limit: Floats | None = None, check: Callable[[], None] = lambda: None) -> Guesses:
    """What a model makes one guess about everybody; ``limit`` is that of each value."""
    n = valid.cells.buckets.n
    top = np.zeros(n, np.int64)
    largest = np.zeros(n)
    over: list[tuple[Ints, Ints, Floats]] = []
    for places, share in estimated(valid, model, check=check):
        top[places.rows], largest[places.rows] = places.leading(share)
        beyond = np.flatnonzero(share > limit[places.value]) if limit is not None else np.empty(0, np.int64)
        over.append((places.rows[places.who[beyond]], places.value[beyond], share[beyond]))
    row, value, share = (np.concatenate([part[number] for part in over]) for number in range(3))
    return Guesses(top, largest, row, value, share=share)


def blocks(buckets: Buckets) -> list[Ints]:
    """The rows of a release by groups, in parts that are looked at together."""
    starts, rows = buckets.members()
    ends = starts[np.unique(np.searchsorted(starts, np.arange(_AT_ONCE, len(rows), _AT_ONCE)))]
    return np.split(rows, ends[ends < len(rows)])


def sampled(buckets: Buckets, seed: int) -> Ints:
    """The rows of some groups that together hold enough people to learn from, drawn at random; of all where there are not more."""
    starts, rows = buckets.members()
    if len(rows) <= LEARNT_FROM:
        return rows
    order = np.random.default_rng(seed).permutation(len(buckets))
    chosen = order[: int(np.searchsorted(np.cumsum(buckets.sizes[order]), LEARNT_FROM)) + 1]
    inside = np.zeros(len(buckets), np.bool_)
    inside[chosen] = True
    return rows[np.repeat(inside, np.diff(starts))]


def _table(places: Places, column: Ints, n_values: int, found: Floats) -> Floats:
    """The logarithm of how probable each value of a column is for people with each sensitive value, made smooth by what everybody has."""
    codes = column[places.rows]
    width = len(places.buckets.values)
    counts = np.bincount(codes[places.who] * width + places.value, found, n_values * width).reshape(n_values, width)
    usual = (np.bincount(codes, minlength=n_values) + 1.0) / (len(codes) + n_values)
    smooth = counts + n_values * usual[:, None]
    return np.asarray(np.log(smooth / smooth.sum(axis=0)))


CODE = "B03"
NAME = "surviving-correlations"
#: An estimate passes a limit only where it does so by more than the arithmetic may be off.
ROOM = 1e-9


def run(target: Target) -> AttackRun:
    """How sure the model is about everybody; findings where it is asked for by name and passes what the policy allows."""
    case = BucketCase.of(target)

    def check() -> None:
        target.limits.check(CODE)

    try:
        found = guess(
            case.valid, learn(case.valid, seed=target.limits.seed, check=check), limit=_limit(target, case), check=check
        )
    except LimitReached:
        return AttackRun(CODE, NAME, "estimates", "stopped", reason="the time limit was reached before there was an estimate")
    return _Outcome(target, case, found).run()


def _limit(target: Target, case: BucketCase) -> npt.NDArray[np.float64] | None:
    """The most that the policy allows for each value; None where it sets no limit."""
    policy = target.policy
    if policy.max_posterior is None and policy.max_gain is None:
        return None
    limit = np.full(len(case.baseline), np.inf)
    if policy.max_posterior is not None:
        limit = np.minimum(limit, policy.max_posterior)
    if policy.max_gain is not None:
        limit = np.minimum(limit, case.baseline + policy.max_gain)
    return limit + ROOM


class _Outcome:
    """The findings of one run, written out only when they are looked at."""

    def __init__(self, target: Target, case: BucketCase, found: Guesses) -> None:
        self.target = target
        self.case = case
        self.found = found
        self.decides = CODE in target.named
        # People of one group with the same quasi-identifiers have the same estimates: the first of them stands for all.
        first, people = case.alike(np.unique(found.row))
        chosen = np.flatnonzero(np.isin(found.row, first)) if self.decides else np.empty(0, np.int64)
        many = dict(zip(first.tolist(), people.tolist(), strict=True))
        order = chosen[np.lexsort((found.value[chosen], found.row[chosen], -found.share[chosen]))]
        self.rows = found.row[order]
        self.value = found.value[order]
        self.share = found.share[order]
        self.people = np.array([many[row] for row in self.rows.tolist()], np.int64)

    def run(self) -> AttackRun:
        """The run with its measures and findings."""
        case = self.case
        found = self.found
        concerned = np.unique(self.rows, return_index=True)[1]
        return AttackRun(
            CODE,
            NAME,
            "estimates",
            "ran",
            reason=self._reason(),
            people=int(self.people[concerned].sum()),
            measures=self._measures(),
            columns={
                "row": self.rows,
                "group": case.buckets.group[self.rows].astype(np.int64),
                "value": self.value,
                "count": self.people,
                "count_hi": self.people,
                "posterior": self.share,
            },
            severity=BEHIND_PROOFS + ((1 - self.share) * 1e9).astype(np.int64),
            event=self.event,
            show=self.show,
            details={"surviving": found.largest},
            cautions=self._cautions(),
        )

    def _measures(self) -> dict[str, float | None]:
        largest = self.found.largest
        buckets = self.case.buckets
        most = np.maximum.reduceat(buckets.count, buckets.starts[:-1]) if len(buckets) else np.zeros(1)
        return {
            "surviving_max_posterior": float(largest.max(initial=0.0)),
            "surviving_above_one_in_l": int(np.count_nonzero(largest > 1 / self.target.policy.l + ROOM)),
            "surviving_above_50": int(np.count_nonzero(largest > 0.5)),
            "surviving_above_90": int(np.count_nonzero(largest > SURE)),
            "surviving_expected_right": float(largest.mean()) if len(largest) else 0.0,
            "group_guess_right": float(most.sum()) / max(1, buckets.n),
        }

    def _cautions(self) -> tuple[Caution, ...]:
        """Return how many people are nearly certain, where no limit judges that."""
        limited = not no_limit(self.target)
        if limited and self.decides:
            return ()
        return cautions_of(CODE, int(np.count_nonzero(self.found.largest > SURE)), self.case.buckets.n, limit=limited)

    def _reason(self) -> str:
        """Why estimates are no findings, and for how many people they would be."""
        policy = self.target.policy
        if policy.max_posterior is None and policy.max_gain is None:
            return "the policy sets no limit for estimates"
        if self.decides:
            return ""
        people = len(np.unique(self.found.row))
        told = f"{people:,} {'person passes' if people == 1 else 'people pass'} the limit of the policy by this model"
        return f"{told}; it decides only where it is asked for by name (--attack {CODE})"

    def event(self, index: int) -> BoxEvent:
        """Who has the quasi-identifiers, in this group, and the value."""
        return self.case.event(int(self.rows[index]), [self.case.buckets.values[int(self.value[index])]])

    def show(self, index: int) -> Finding:
        """The finding in words."""
        case = self.case
        row = int(self.rows[index])
        people = int(self.people[index])
        value = int(self.value[index])
        share = float(self.share[index])
        has = "has" if people == 1 else "each have"
        inside = case.buckets.contents(int(case.buckets.group[row])).get(case.buckets.values[value], 0)
        size = int(case.buckets.sizes[int(case.buckets.group[row])])
        text = f"{case.who(row, people)} {has} {case.buckets.sensitive} {case.buckets.values[value]} with probability {share:.3f}"
        steps = (
            f"In the group {inside:,} of {size:,} people have the value; who they are is estimated from what all groups together show.",
            f"Among all people the share is {case.baseline[value]:.3f}.",
        )
        return Finding(CODE, self.event(index), Bound.of(people), f"{text} (estimated).", steps=steps)


@dataclass(frozen=True, eq=False)
class Mixing:
    """What becomes of counts when they are taken by groups.

    ``pi`` is as above, over the values that occur; ``share`` is the share of each among all people, and ``noise`` the variance of the share of
    a value in the group of somebody whose own value is known, summed over values.

    >>> from tacit.model.table import Table
    >>> people = Table.from_rows(["sex", "ill"], [("F", "flu"), ("M", "cold"), ("M", "flu"), ("F", "flu")])
    >>> mixing = Mixing.of(Buckets.of(people.select(["sex"]), people.column("ill"), np.array([0, 0, 1, 1], np.int32)))
    >>> mixing.pi.round(3).tolist(), mixing.share.tolist()
    ([[0.5, 0.5], [0.167, 0.833]], [0.25, 0.75])
    """

    pi: Floats
    share: Floats
    noise: float

    @classmethod
    def of(cls, buckets: Buckets) -> Mixing:
        """How the groups of a release mix values."""
        n_values = len(buckets.values)
        size = buckets.sizes.astype(np.float64)
        owner = np.repeat(np.arange(len(buckets)), np.diff(buckets.starts))
        inside = buckets.count / size[owner]
        pi = np.zeros((n_values, n_values))
        squares = np.zeros((n_values, n_values))
        # Pairs of entries of the same group, entry i of each with entry j of each, so that memory stays small.
        widest = int(np.diff(buckets.starts).max(initial=0))
        for step in range(-widest + 1, widest):
            place = np.arange(max(0, -step), len(owner) - max(0, step))
            place = place[owner[place] == owner[place + step]]
            pair = buckets.value[place].astype(np.int64) * n_values + buckets.value[place + step]
            for table, weight in ((pi, inside), (squares, inside**2)):
                table += np.bincount(pair, buckets.count[place] * weight[place + step], n_values**2).reshape(pi.shape)
        people = np.bincount(buckets.value, buckets.count, n_values)
        held = np.maximum(people, 1)[:, None]
        pi = pi / held
        squares = squares / held
        return cls(pi, people / max(1, buckets.n), float((people / max(1, buckets.n)) @ (squares - pi**2).sum(axis=1)))

    @property
    def condition(self) -> float:
        """The condition number of ``pi`` over the values that occur: by how much errors may grow when the mixing is undone."""
        singular = self._parts[1]
        return float(singular[0] / singular[-1]) if len(singular) and singular[-1] > 0 else float("inf")

    def undone(self, counted: Floats, people: Floats) -> Floats:
        """How many people of each cell have each value, given what is counted for them by groups and how many they are.

        Cells are rows. Directions in which a cell holds too few people to tell anything are damped: the estimate is the mean of what people
        have, when their shares are taken to spread around ``share`` as far as shares can. It lies between 0 and the number of people.
        """
        left, singular, right = self._parts
        usual = people[:, None] * self.share
        spread = float((self.share * (1 - self.share)).sum())
        damping = self.noise / max(spread, 1e-300) / np.maximum(people, 1e-9)
        factor = singular / np.maximum(singular**2 + damping[:, None], 1e-300)
        occurs = self.share > 0
        found = usual.copy()
        found[:, occurs] += ((counted - usual)[:, occurs] @ right.T * factor) @ left.T
        return np.asarray(np.clip(found, 0.0, people[:, None]))

    @cached_property
    def _parts(self) -> tuple[Floats, Floats, Floats]:
        """The singular value decomposition of ``pi`` over the values that occur."""
        occurs = np.flatnonzero(self.share > 0)
        left, singular, right = np.linalg.svd(self.pi[np.ix_(occurs, occurs)])
        return left, singular, right
