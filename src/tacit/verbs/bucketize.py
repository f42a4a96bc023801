"""Bucketized releases: groups safe against negative rules, and their utility."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.buckets.assignments import Valid, valid_values
from tacit.buckets.classes import Classes, Feasible, count_too_frequent, suppress_infeasible
from tacit.buckets.grouping import METHODS, Made, Method, group_classes
from tacit.buckets.labels import Labels
from tacit.buckets.placing import Placement, secret_seed
from tacit.buckets.statistics import Statistics
from tacit.buckets.surviving_correlations import learn
from tacit.buckets.utility import (
    UtilitySettings,
    grouping_cost,
    measure_guesses_at_release,
    measure_utility,
    plain_figures,
    read_intervals,
)
from tacit.files.buckets import read_buckets, shuffled
from tacit.files.engines import Engine
from tacit.files.inputs import require_table
from tacit.files.knowledge import read_knowledge
from tacit.files.tables import read_table
from tacit.model.arrays import Codes, Ints
from tacit.model.audit import Audit, Target
from tacit.model.buckets import Buckets
from tacit.model.errors import Infeasible, InputError, InternalError, OptionError, nearest_name
from tacit.model.knowledge import Exclusions, Fact
from tacit.model.measures import Utility
from tacit.model.numbers import Threshold, exact, share
from tacit.model.ordered import ordered_values
from tacit.model.policy import Limits, Policy
from tacit.model.release import Header
from tacit.model.repair import Bucketized, BucketizedParts, Tried
from tacit.model.table import Column, Names, Table, row_keys
from tacit.verbs.audit import audit, audit_one
from tacit.verbs.bucket_parts import Whole, merge_audits
from tacit.verbs.data import name_rows, one_row_each, roles_of
from tacit.verbs.kinds import Given

AT_ONCE = 2_000_000  #: Releases of more people are made and audited part by part.


def bucketize(
    people: Table | Any,
    *,
    l: int,  # noqa: E741 - the letter is the field's own name for it
    method: Method = "balanced",
    knowledge: Any = None,
    max_posterior: Any = None,
    suppress: bool = False,
    seed: int = 0,
    time_limit: float | None = None,
    progress: Callable[[float], None] | None = None,
    qi: Names = None,
    sa: Names = None,
    engine: Engine | str | None = None,
) -> Bucketized:
    """Group the people of a table so that everybody has l possible values, and audit the result.

    The release lists people in the order of the table; one of more than two million people, or of merged rows, in its own order.

    Parameters
    ----------
    people
        A table with quasi-identifying columns and a sensitive one; equal rows may be merged, with weights. Or a file or frame, with ``qi`` and
        ``sa`` given.
    l
        How many values everybody must be able to have, given groups and knowledge: matching l-diversity.
    method
        ``"balanced"`` runs ``"balanced-1"`` and ``"balanced-2"`` and keeps the groups with fewer people left over at first, then with the
        smaller largest group; ``"injector"`` is the paper's choice of partners; ``"anatomy"`` does not look at the knowledge, and its audit
        shows what that means.
    knowledge
        What an attacker knows: a file of negative rules, of numbers of people who have a value and of means, a list of ``({column: value},
        excluded value)``, mined negative rules (with exceptions or without), or a list of these.
    max_posterior
        The largest probability that a value may have for a person, by B02. Groups are accepted only if they keep to it; a person for whom no
        such group is found joins one all the same (the audit says so), or is left out with ``suppress``.
    suppress
        Leave out who cannot have l values in any grouping, instead of raising :class:`Infeasible`.
    seed
        Random seed: which of several people who are alike come to which group. Chance depends on the data as well, so that nobody without them
        can repeat it.
    time_limit, progress
        As for :func:`tacit.mine_itemsets`.
    qi, sa
        The columns with these roles, for a file or frame.
    engine
        Program that merges equal rows of a file (see :func:`tacit.engine`).

    Examples
    --------
    >>> import tacit
    >>> rows = {"sex": ["F", "F", "M", "M"], "ill": ["cancer", "flu", "flu", "cold"]}
    >>> people = tacit.read_table(rows, qi="sex", sa="ill")
    >>> made = tacit.bucketize(people, l=2, knowledge=[({"sex": "M"}, "cancer")])
    >>> made.ok, made.cost["groups"], made.cost["largest_group"]
    (True, 2, 2)
    """
    made = bucketize_parts(
        people,
        l=l,
        method=method,
        knowledge=knowledge,
        max_posterior=max_posterior,
        suppress=suppress,
        seed=seed,
        time_limit=time_limit,
        progress=progress,
        qi=qi,
        sa=sa,
        engine=engine,
    )
    return made if isinstance(made, Bucketized) else _joined(made)


def bucketize_parts(
    people: Table | Any,
    *,
    l: int,  # noqa: E741
    method: Method = "balanced",
    knowledge: Any = None,
    max_posterior: Any = None,
    suppress: bool = False,
    seed: int = 0,
    time_limit: float | None = None,
    progress: Callable[[float], None] | None = None,
    qi: Names = None,
    sa: Names = None,
    engine: Engine | str | None = None,
) -> Bucketized | BucketizedParts:
    """Do the same as :func:`bucketize`; a large release comes in parts.

    A release of more than two million people is a :class:`~tacit.model.repair.BucketizedParts`, which makes its parts when they are looked at
    and holds no array of everybody.
    """
    tell = progress or (lambda _share: None)
    limits = Limits.within(time_limit)
    people = require_table(people, "bucketize", qi=qi, sa=sa, engine=engine)
    policy = Policy(l=l, max_posterior=max_posterior)
    if policy.l < 2:
        raise OptionError("must be at least 2: with one value, everybody's is known", where="--l", remedy="Write for instance 3")
    if method not in METHODS:
        raise OptionError(f"there is no method {method!r}", where="--method", remedy=nearest_name(method, METHODS, "methods"))
    if method == "anatomy" and max_posterior is not None:
        remedy = "Leave it out, or choose balanced"
        raise OptionError("anatomy does not look at probabilities", where="--max-posterior", remedy=remedy)
    table, numbering = _merge_equal_people(people)
    values = table.sa.values
    if len(values) < 2:
        what = "holds one value only, so everybody's is known"
        remedy = "Choose another column with --sa, or do not publish this one"
        raise InputError(what, where=f"column {table.sa.name}", remedy=remedy)
    if policy.l > len(values):
        what = f"asks for {policy.l} values, and the sensitive column has {len(values)}"
        raise Infeasible(what, where="--l", remedy=f"Ask for {len(values)} at most")
    facts = read_knowledge(knowledge)
    excluding = tuple(fact for fact in facts if fact.excludes)
    known = Exclusions.of(excluding, table.qi, values)
    wrong = np.asarray(known.patterns[known.kind, table.sa.codes])
    if wrong.any():
        who = f"{_people(int(table.weights[wrong].sum()))} that they cannot have the value that they have"
        what = f"says of {who}{_name_people(wrong, numbering)}"
        raise InputError(what, where="--knowledge", remedy="Leave out what is not true of these data")
    chance = secret_seed(table, seed)
    if table.n <= AT_ONCE:
        # All that follows works on people one by one, in the order of their classes: it is the same however the data were read.
        origin = None if numbering is None else np.argsort(numbering, kind="stable")
        numbering = None if numbering is None else np.arange(table.n)
        table = one_row_each(table)
        known = Exclusions.of(excluding, table.qi, values)
    else:
        origin = None
    statistics = _read_statistics(facts, table, suppress=suppress) if len(excluding) < len(facts) else None
    bound = None if max_posterior is None else exact_bound(max_posterior)
    case = _Case(
        table,
        facts,
        known,
        policy,
        statistics=statistics,
        method=method,
        suppress=suppress,
        seed=seed,
        chance=chance,
        bound=bound,
        limits=limits,
        origin=origin,
    )
    tell(0.1)
    case = case.feasible(numbering)
    tell(0.2)
    made = case.group_classes(method, lambda done: tell(0.2 + 0.4 * done))
    if table.n > AT_ONCE:
        return case.make_parts(made, tell)
    return case.make_release(made, tell)


def _read_statistics(facts: tuple[Fact, ...], people: Table, *, suppress: bool) -> Statistics:
    """Return the totals that facts bound; raise unless they are true."""
    if suppress:
        what = "cannot be used with facts that rule nothing out: they speak of everybody in the table"
        raise OptionError(what, where="--suppress", remedy="Remove the option, or these facts")
    if people.n > AT_ONCE:
        what = f"facts that rule nothing out tie all groups together, and there are {people.n:,} people"
        remedy = f"Leave them out, or give at most {AT_ONCE:,} people"
        raise OptionError(what, where="--knowledge", remedy=remedy)
    found = Statistics.of(facts, people.qi, people.sa.values)
    totals = zip(found.facts, found.lo, found.true_totals(people.sa.codes), found.hi, strict=True)
    wrong = [fact.place for fact, low, total, high in totals if not low <= total <= high]
    if wrong:
        others = f" and {len(wrong) - 1:,} more" if len(wrong) > 1 else ""
        raise InputError("is not true of these data", where=f"{wrong[0]}{others}", remedy="Correct or remove it")
    return found


def exact_bound(given: Any) -> Fraction:
    """Return a bound on probabilities as the fraction that was meant."""
    exactly = share(given, where="--max-posterior", zero=False)
    near = exactly.limit_denominator(1000)
    return near if isinstance(given, float) and float(near) == given else exactly


@dataclass(frozen=True, eq=False)
class _Case:
    """People, one row each or merged with weights, and what their groups must keep to.

    ``seed`` is the one that was given, ``chance`` the one that decides who comes to which group; ``origin`` are the rows of the data.
    """

    people: Table
    facts: tuple[Fact, ...]
    known: Exclusions
    policy: Policy
    statistics: Statistics | None
    method: Method
    suppress: bool
    seed: int
    chance: int
    bound: Fraction | None
    limits: Limits
    origin: Ints | None = None
    dropped: int = 0

    @property
    def codes(self) -> npt.NDArray[np.int32]:
        return self.people.sa.codes

    @cached_property
    def labels(self) -> Labels:
        return Labels.of(self.codes, self.known, self.statistics)

    def classes(self, labels: Labels) -> Classes:
        return labels.classes(seed=self.chance, weights=self.people.weights)

    def feasible(self, numbering: Ints | None) -> _Case:
        if self.method == "anatomy":
            _check_frequent(self.people, self.policy.l)
            return self
        classes = self.classes(self.labels)
        case = self
        found = Feasible.of(classes, self.policy.l)
        if found.people_short:
            kept = suppress_infeasible(classes, self.policy.l)
            if not self.suppress or not len(kept):
                rows = np.zeros(len(self.codes), np.bool_)
                rows[found.rows] = True
                raise _infeasible(found, kept, rows if self.origin is None else rows[np.argsort(self.origin)], numbering)
            weights = np.zeros_like(self.people.weights)
            weights[kept.rows] = self.people.weights[kept.rows]
            case, _ = self.with_weights(weights)
            classes = kept
        if case.bound is not None:
            if case.statistics is None:
                _check_bound(classes, case.bound)
            else:
                plain = Classes.of(case.codes, case.known.kind, case.known.patterns, seed=0, weights=case.people.weights)
                _check_bound(plain, case.bound)
                _check_totals(case.statistics, case.known, case.codes, case.bound)
        return case

    def with_weights(self, weights: Ints) -> tuple[_Case, Ints]:
        """Return the case of fewer people, and the fresh number of each row."""
        rows = np.flatnonzero(weights)
        kept = np.flatnonzero(np.bincount(self.codes[rows], minlength=len(self.known.values)))
        known = Exclusions(tuple(self.known.values[value] for value in kept), self.known.patterns[:, kept], self.known.kind[rows])
        dropped = self.dropped + int(self.people.weights.sum() - weights.sum())
        people = replace(self.people.take(rows), weights=weights[rows])
        origin = None if self.origin is None else self.origin[rows]
        fresh = np.cumsum(weights > 0) - 1
        return replace(self, people=people, known=known, dropped=dropped, origin=origin), fresh

    def group_classes(self, method: Method, progress: Callable[[float], None] = lambda _: None) -> tuple[Made, Classes]:
        if method == "anatomy":
            codes = self.codes
            nothing = Exclusions.none(len(codes), self.known.values)
            labels = Labels.of(codes, nothing, None)
        else:
            labels = self.labels
        classes = self.classes(labels)
        made = group_classes(
            classes,
            least=self.policy.l,
            method=method,
            bound=self.bound,
            suppress=self.suppress,
            seed=self.chance,
            limits=self.limits,
            progress=progress,
        )
        return made, classes

    def make_release(self, grouped: tuple[Made, Classes], tell: Callable[[float], None]) -> Bucketized:
        made, classes = grouped
        case = self
        group = made.recipes.assign(classes, len(self.codes), seed=self.chance)
        if (group < 0).any():
            inside = group >= 0
            case, _ = self.with_weights(np.where(inside, self.people.weights, 0))
            group = group[inside]
        buckets = case.buckets(group)
        valid = valid_values(buckets, case.known, case.codes)
        vulnerable = case.count_vulnerable(valid)
        if vulnerable and case.method != "anatomy":
            raise _unsafe(vulnerable)
        tell(0.7)
        after = case.audit(shuffled(buckets, seed=self.seed), is_plausible=not vulnerable)  # as it is written
        tell(0.9)
        cost = case.cost(made, vulnerable)
        cost |= grouping_cost(valid, case.people, check=lambda: self.limits.check("bucketize"))
        tried = case.rival() if case.facts and case.method != "anatomy" else ()
        listed = buckets if case.origin is None else _reorder(buckets, np.argsort(case.origin))
        before = case.before()
        return Bucketized.made(listed, method=self.method, before=before, after=after, cost=cost, tried=tried)

    def make_parts(self, grouped: tuple[Made, Classes], tell: Callable[[float], None]) -> BucketizedParts:
        """Return the release of a large table, made and audited part by part."""
        made, classes = grouped
        placement = Placement(made.recipes, classes, self.people.weights, self.chance)
        case = self
        fresh: Ints | None = None
        if int(placement.placed.sum()) < self.people.n:
            case, fresh = self.with_weights(placement.placed_weights)

        def parts() -> Iterator[Buckets]:
            return case.parts(placement, fresh)

        whole = Whole.of(made.recipes, classes, case.people.sa)
        first = next(parts())
        valid = valid_values(first, Exclusions.of(case.excluding, first.people, first.values))
        model = learn(valid, seed=self.limits.seed, check=lambda: self.limits.check("bucketize"))
        vulnerable = 0

        def audited() -> Iterator[tuple[Buckets, Audit]]:
            nonlocal vulnerable
            done = 0
            for part in parts():
                audit = case.audit(part, model=model)
                vulnerable += int(audit.measures["vulnerable"] or 0)
                done += part.n
                tell(0.6 + 0.3 * done / case.people.n)
                yield part, audit

        figures = plain_figures(whole.buckets, everybody=whole.everybody)
        after = merge_audits(audited(), whole, figures)
        if vulnerable and case.method != "anatomy":
            raise _unsafe(vulnerable)
        cost = case.cost(made, vulnerable)
        own = case.own_values(placement, fresh)
        known = Exclusions.of(case.excluding, first.people, first.values)
        cost |= measure_guesses_at_release(valid_values(first, known, own), own, check=lambda: self.limits.check("bucketize"))
        cost |= {"group_guess_right": whole.group_guess_right}
        tried = case.rival() if case.facts and case.method != "anatomy" else ()
        return BucketizedParts(
            case.people.n,
            replace(first.header, n=case.people.n),
            first.group_name,
            parts,
            len(whole),
            method=self.method,
            before=case.before(),
            after=after,
            cost=cost,
            tried=tried,
        )

    @property
    def excluding(self) -> tuple[Fact, ...]:
        return tuple(fact for fact in self.facts if fact.excludes)

    @cached_property
    def combination(self) -> Ints:
        """Number of each row's quasi-identifiers."""
        key = row_keys((column.codes for column in self.people.qi.columns), len(self.people.weights))
        return np.unique(key, return_inverse=True)[1].reshape(-1)

    def _placed(self, placement: Placement, fresh: Ints | None) -> Iterator[tuple[int, Ints, Codes]]:
        """Yield the first group, and rows and groups sorted by quasi-identifiers."""
        for begin, rows, group in placement.parts():
            rows = rows if fresh is None else fresh[rows]
            order = np.argsort((group.astype(np.int64) << 32) + self.combination[rows], kind="stable")
            yield begin, rows[order], group[order]

    def parts(self, placement: Placement, fresh: Ints | None) -> Iterator[Buckets]:
        for begin, rows, group in self._placed(placement, fresh):
            self.limits.check("bucketize")
            columns = tuple(Column(one.name, one.values, one.codes[rows]) for one in self.people.columns)
            people = replace(self.people, columns=columns, weights=np.ones(len(rows), np.int64))
            part = replace(self, people=people).buckets(group)
            names = tuple(str(number) for number in range(begin + 1, begin + len(part) + 1))
            yield replace(part, names=names)

    def own_values(self, placement: Placement, fresh: Ints | None) -> npt.NDArray[np.int32]:
        """Return the values of the people of the first part."""
        _, rows, _ = next(self._placed(placement, fresh))
        return np.asarray(self.codes[rows])

    def before(self) -> Audit:
        """Audit the table as it is: everybody's value next to their quasi-identifiers."""
        merged = self.people.merged()
        case = replace(self, people=merged)
        return case.audit(case.buckets(_order_by_value(merged)), attacks=("B01",))

    def buckets(self, group: npt.NDArray[np.int32]) -> Buckets:
        missing = self.people.missing
        header = Header(
            missing=missing.mark, missing_rule=missing.rule if missing.mark is not None else None, bins=self.people.bins
        )
        return Buckets.of(self.people.qi, self.people.sa, group, header)

    def count_vulnerable(self, valid: Valid) -> int:
        """Count people with fewer than l plausible values independently."""
        if self.statistics is not None:
            return int(np.count_nonzero(self.labels.count_plausible(valid.cells.buckets.group) < self.policy.l))
        return int(valid.cells.people[valid.number < self.policy.l].sum())

    def audit(
        self, buckets: Buckets, attacks: tuple[str, ...] | None = None, *, is_plausible: bool = False, model: Any = None
    ) -> Audit:
        self.limits.check("bucketize")
        knowledge = self.facts or None
        if model is not None or (self.statistics is not None and is_plausible):
            # Everybody has l values that all facts together leave possible, so R03 could find nothing; and B02 uses what R02 would.
            given = Given(knowledge=knowledge, is_plausible=True, model=model)
            return audit_one(Target(buckets, self.policy, self.limits), given, attacks)
        return audit(buckets, knowledge=knowledge, policy=self.policy, attacks=attacks, time_limit=self.limits.seconds_left)

    def cost(self, made: Made, vulnerable: int) -> dict[str, Any]:
        recipes = made.recipes
        sizes = recipes.sizes[recipes.groups > 0]
        groups = int(recipes.groups.sum())
        placed = int(recipes.sizes @ recipes.groups)
        out: dict[str, Any] = {"groups": groups, "largest_group": int(sizes.max()), "mean_group": placed / groups}
        out |= {"residue": made.residue, "merges": made.merges, "suppressed": self.dropped, "vulnerable": vulnerable}
        if self.bound is not None:
            out["beyond_bound"] = made.beyond
        return out | {"grouped_by": made.method}

    def rival(self) -> tuple[Tried, ...]:
        """Return the result of Anatomy, which ignores the knowledge."""
        try:
            _check_frequent(self.people, self.policy.l)
        except Infeasible as error:
            return (Tried("anatomy", None, {}, f"{error.what}. {error.remedy}"),)
        made, classes = replace(self, bound=None, suppress=False).group_classes("anatomy")
        if self.people.n <= AT_ONCE:
            buckets = self.buckets(made.recipes.assign(classes, len(self.codes), seed=self.chance))
            vulnerable = self.count_vulnerable(valid_values(buckets, self.known, self.codes))
        else:
            placement = Placement(made.recipes, classes, self.people.weights, self.chance)
            left = (
                valid_values(one, Exclusions.of(self.excluding, one.people, one.values)) for one in self.parts(placement, None)
            )
            vulnerable = sum(int(np.count_nonzero(one.counts < self.policy.l)) for one in left)
        return (Tried("anatomy", "exposed" if vulnerable else "clean", self.cost(made, vulnerable)),)


def _merge_equal_people(people: Table) -> tuple[Table, Ints | None]:
    """Return the classes of equal people, and each row's class."""
    if not people.schema.qi:
        raise OptionError("the table has no quasi-identifying column", where="qi", remedy="Name them with --qi (Python: qi=)")
    sensitive = people.sa
    if people.n == 0:
        raise InputError("holds nobody", where=f"column {sensitive.name}", remedy="Give a table with rows")
    # Several sensitive columns are published as one.
    table = replace(people.select(people.schema.qi), columns=(*people.qi.columns, sensitive))
    table = replace(table, schema=replace(table.schema, sa=(sensitive.name,)))
    merged = table.merged()
    if not people.is_by_row or (people.weights != 1).any():
        return merged, None
    keys = row_keys((column.codes for column in table.columns), len(table.weights))
    return merged, np.unique(keys, return_inverse=True)[1].reshape(-1)


def _joined(made: BucketizedParts) -> Bucketized:
    """Return a release in parts as one."""
    parts = list(made.parts())
    columns = tuple(
        replace(column, codes=np.concatenate([part.people.columns[place].codes for part in parts]))
        for place, column in enumerate(parts[0].people.columns)
    )
    groups = np.cumsum([0, *(len(part) for part in parts)]).tolist()
    entries = np.cumsum([0, *(len(part.value) for part in parts)]).tolist()
    return Bucketized(
        people=replace(parts[0].people, columns=columns, weights=np.ones(made.n, np.int64)),
        group=np.concatenate([part.group + np.int32(first) for part, first in zip(parts, groups, strict=False)]),
        names=tuple(name for part in parts for name in part.names),
        sensitive=parts[0].sensitive,
        values=parts[0].values,
        starts=np.append(0, np.concatenate([part.starts[1:] + first for part, first in zip(parts, entries, strict=False)])),
        value=np.concatenate([part.value for part in parts]),
        count=np.concatenate([part.count for part in parts]),
        header=made.header,
        method=made.method,
        before=made.before,
        after=made.after,
        cost=made.cost,
        tried=made.tried,
    )


def _reorder(buckets: Buckets, order: Ints) -> Buckets:
    """Return the release with its people in another order."""
    columns = tuple(replace(column, codes=column.codes[order]) for column in buckets.people.columns)
    return replace(buckets, people=replace(buckets.people, columns=columns), group=buckets.group[order])


def _order_by_value(people: Table) -> npt.NDArray[np.int32]:
    """Return the groups of distinct rows, ordered by value and then quasi-identifiers."""
    codes = np.stack([*(column.codes for column in reversed(people.qi.columns)), people.sa.codes])
    group = np.empty(codes.shape[1], np.int32)
    group[np.lexsort(codes)] = np.arange(codes.shape[1], dtype=np.int32)
    return group


def _name_people(marked: npt.NDArray[np.bool_], numbering: Ints | None) -> str:
    return "" if numbering is None else f" ({name_rows(np.flatnonzero(marked[numbering]))}, counted from 0)"


def _unsafe(vulnerable: int) -> InternalError:
    what = f"{_people(vulnerable)} have too few valid values in the groups"
    return InternalError(what, where="bucketize", remedy="Please report this; nothing was released")


def _check_frequent(table: Table, least: int) -> None:
    people = np.bincount(table.sa.codes, table.weights).astype(np.int64)
    n = int(people.sum())
    frequent = int(np.count_nonzero(people * least > n))
    if frequent:
        most = n // int(people.max())
        what = f"{_values(frequent)} more than 1 in {least} people, so no groups of {least} different values hold them all"
        lower = f", or lower --l to {most}" if most > 1 else ""
        raise Infeasible(what, where="--method anatomy", remedy=f"Choose --method balanced{lower}")


def _check_bound(classes: Classes, bound: Fraction) -> None:
    values = int(np.count_nonzero(classes.people))
    if bound * values < 1:
        what = f"asks for more values than the {values} there are: one of them has at least 1 in {values}"
        raise Infeasible(what, where="--max-posterior", remedy=f"Allow {-(-10000 // values) / 10000:g} or more")
    frequent, lowest = count_too_frequent(classes, bound)
    if frequent:
        what = f"{_values(frequent)} more people than the bound allows, in every grouping"
        raise Infeasible(what, where="--max-posterior", remedy=f"Allow {-(-lowest * 10000 // 1) / 10000:g} or more")


def _check_totals(statistics: Statistics, known: Exclusions, codes: npt.NDArray[np.int32], bound: Fraction) -> None:
    """Raise if a number of people alone makes a value too probable, in every grouping."""
    able = ~known.patterns[known.kind]
    inside = statistics.inside[statistics.kind]
    lowest = Fraction(0)
    for number, fact in enumerate(statistics.facts):
        if fact.mean is not None:
            continue
        value = known.values.index(fact.value)
        there = able[:, value] & inside[:, number]
        others = able[:, value] & ~inside[:, number]
        rest = int(np.count_nonzero(codes == value)) - statistics.hi[number]
        for people, least in ((there, statistics.lo[number]), (others, rest)):
            if least > 0:
                lowest = max(lowest, least / int(np.count_nonzero(people)))
    if lowest > bound:
        what = "is less than the knowledge alone says of some people, in every grouping"
        raise Infeasible(what, where="--max-posterior", remedy=f"Allow {-(-lowest * 10000 // 1) / 10000:g} or more")


def _infeasible(found: Feasible, kept: Classes, short: npt.NDArray[np.bool_], numbering: Ints | None) -> Infeasible:
    n = found.classes.n
    what = f"{_people(found.people_short)} of {n:,} have fewer than {found.least} possible values in every grouping"
    what += _name_people(short, numbering)
    helps = [f"lower --l to {found.largest}, which everybody can have"] if found.largest > 1 else []
    helps.append("mine the knowledge with a stricter --significance")
    if len(kept):
        helps.append(f"leave {_people(n - kept.n)} out with --suppress")
    told = ", or ".join(helps)
    rows = [] if numbering is None else np.flatnonzero(short[numbering]).tolist()
    return Infeasible(what, where=f"--l {found.least}", remedy=told[0].upper() + told[1:], rows=rows)


def _values(number: int) -> str:
    return "1 value has" if number == 1 else f"{number} values have"


def _people(number: int) -> str:
    return f"{number:,} {'person' if number == 1 else 'people'}"


def utility(
    buckets: Buckets | str | Path,
    *,
    data: Any,
    knowledge: Any = None,
    min_support: Any = "1%",
    min_conviction: Any = 1.1,
    max_length: int = 3,
    intervals: Mapping[str, float] | None = None,
    queries: int = 1000,
    dim: int | None = None,
    selectivity: Any = 0.5,
    seed: int = 0,
    sa_order: Names = (),
    time_limit: float | None = None,
    progress: Callable[[float], None] = lambda _: None,
    engine: Engine | str | None = None,
) -> Utility:
    """Measure the utility of a bucketized release, and what can be guessed from it.

    Parameters
    ----------
    buckets
        The release, or the folder that holds it.
    data
        The table that it was made from, with its roles; or a file, which is read with those of the release.
    knowledge
        Negative rules that a reader of the release knows as well; without them nothing is estimated by rules.
    min_support, min_conviction, max_length
        Which rules of the data are looked at: the people who have both sides, ``P(X) P(not v) / P(X and not v)``, and the most columns on the
        left.
    sa_order
        The sensitive values from the lowest to the highest, as for :func:`tacit.audit`.
    intervals
        Columns of numbers that rules see as intervals of a width, such as ``{"age": 10}``.
    queries, dim, selectivity, seed
        How many questions are asked, about how many columns (2, or the one there is), for up to which share of the values of each, and the
        random seed.
    time_limit, progress
        As for :func:`tacit.mine_itemsets`.
    engine
        Program that merges equal rows of a file (see :func:`tacit.engine`).

    Examples
    --------
    >>> import numpy as np, tacit
    >>> rows = {"sex": ["F", "F", "M", "M"] * 5, "ill": ["flu", "cold", "flu", "flu"] * 5}
    >>> people = tacit.read_table(rows, qi="sex", sa="ill")
    >>> found = tacit.utility(Buckets.of(people.qi, people.sa, np.repeat(np.arange(5, dtype=np.int32), 4)), data=people, dim=1)
    >>> found.rules, round(found.measures["confidence_error"], 3), found.measures["k_anonymity"]
    (2, 0.375, 4)
    """
    release = read_buckets(buckets)
    columns = release.people.names
    if not isinstance(data, Table):
        data = read_table(data, **roles_of(release.header) | {"qi": list(columns), "sa": release.sensitive}, engine=engine)
    support = Threshold.parse(min_support, where="--min-support")
    conviction = exact(min_conviction, where="--min-conviction")
    if conviction <= 0:
        raise OptionError("must be more than 0", where="--min-conviction", remedy="Write for instance 1.1")
    settings = UtilitySettings(
        support,
        conviction,
        _whole(max_length, "--max-length"),
        read_intervals(intervals, columns),
        queries=_whole(queries, "--queries"),
        dim=_dimension(dim, columns),
        selectivity=share(selectivity, where="--selectivity", zero=False),
        seed=_whole(seed, "--seed", least=0),
    )
    facts = read_knowledge(knowledge) if knowledge is not None else ()
    known = Exclusions.of(facts, release.people, release.values) if facts else None
    limits = Limits.within(time_limit)
    return measure_utility(
        release,
        data,
        known,
        settings,
        order=ordered_values(sa_order),
        check=lambda: limits.check("utility"),
        progress=progress,
    )


def _whole(given: Any, where: str, least: int = 1) -> int:
    if isinstance(given, bool) or not hasattr(given, "__index__") or given < least:
        raise OptionError(f"must be a whole number of at least {least}", where=where, remedy=f"Write for instance {least + 1}")
    return int(given)


def _dimension(given: Any, columns: tuple[str, ...]) -> int:
    found = min(2, len(columns)) if given is None else _whole(given, "--dim")
    if found > len(columns):
        what = f"asks for {found} columns, and the release has {len(columns)}"
        raise OptionError(what, where="--dim", remedy=f"Ask for {len(columns)} at most")
    return found
