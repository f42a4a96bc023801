"""Bucketized releases: groups safe against negative rules, and their utility."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.buckets.assignments import valid_values
from tacit.buckets.classes import Classes, Feasible, count_too_frequent, suppress_infeasible
from tacit.buckets.grouping import METHODS, Grouped, Method, group_people
from tacit.buckets.labels import Labels
from tacit.buckets.statistics import Statistics
from tacit.buckets.utility import UtilitySettings, grouping_cost, measure_utility, read_intervals
from tacit.files.buckets import read_buckets, shuffled
from tacit.files.inputs import require_table
from tacit.files.knowledge import read_knowledge
from tacit.files.tables import read_table
from tacit.model.audit import Audit, Target
from tacit.model.buckets import Buckets
from tacit.model.errors import Infeasible, InputError, InternalError, OptionError, nearest_name
from tacit.model.knowledge import Exclusions, Fact
from tacit.model.measures import Utility
from tacit.model.numbers import Threshold, exact, share
from tacit.model.ordered import ordered_values
from tacit.model.policy import Limits, Policy
from tacit.model.release import Header
from tacit.model.repair import Bucketized, Tried
from tacit.model.table import Column, Names, Table
from tacit.verbs.audit import audit, audit_one
from tacit.verbs.data import name_rows, one_row_each, roles_of
from tacit.verbs.kinds import Given


def bucketize(
    people: Table,
    *,
    l: int,  # noqa: E741 - the letter is the field's own name for it
    method: Method = "balanced",
    knowledge: Any = None,
    max_posterior: Any = None,
    suppress: bool = False,
    seed: int = 0,
    time_limit: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> Bucketized:
    """Group the people of a table so that everybody has l possible values, and audit the result.

    Parameters
    ----------
    people
        A table with quasi-identifying columns and a sensitive one.
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
        Random seed: which of several people who are alike come to which group.
    time_limit, progress
        As for :func:`tacit.mine_itemsets`.

    Examples
    --------
    >>> import tacit
    >>> rows = {"sex": ["F", "F", "M", "M"], "ill": ["cancer", "flu", "flu", "cold"]}
    >>> people = tacit.read_table(rows, qi="sex", sa="ill")
    >>> made = tacit.bucketize(people, l=2, knowledge=[({"sex": "M"}, "cancer")])
    >>> made.ok, made.cost["groups"], made.cost["largest_group"]
    (True, 2, 2)
    """
    tell = progress or (lambda _share: None)
    limits = Limits.within(time_limit)
    require_table(people, "bucketize")
    policy = Policy(l=l, max_posterior=max_posterior)
    if policy.l < 2:
        raise OptionError("must be at least 2: with one value, everybody's is known", where="--l", remedy="Write for instance 3")
    if method not in METHODS:
        raise OptionError(f"there is no method {method!r}", where="--method", remedy=nearest_name(method, METHODS, "methods"))
    if method == "anatomy" and max_posterior is not None:
        remedy = "Leave it out, or choose balanced"
        raise OptionError("anatomy does not look at probabilities", where="--max-posterior", remedy=remedy)
    table = _one_sensitive_column(people)
    values = table.sa.values
    if len(values) < 2:
        what = "holds one value only, so everybody's is known"
        remedy = "Choose another column with --sa, or do not publish this one"
        raise InputError(what, where=f"column {table.sa.name}", remedy=remedy)
    if policy.l > len(values):
        what = f"asks for {policy.l} values, and the sensitive column has {len(values)}"
        raise Infeasible(what, where="--l", remedy=f"Ask for {len(values)} at the most")
    facts = read_knowledge(knowledge)
    excluding = tuple(fact for fact in facts if fact.excludes)
    known = Exclusions.of(excluding, table.qi, values)
    wrong = np.flatnonzero(known.patterns[known.kind, table.sa.codes])
    if len(wrong):
        who = f"{_people(len(wrong))} that they cannot have the value that they have"
        what = f"says of {who} ({name_rows(wrong)}, counted from 0)"
        raise InputError(what, where="--knowledge", remedy="Leave out what is not true of these data")
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
        bound=bound,
        limits=limits,
    )
    tell(0.1)
    case = case.feasible()
    tell(0.2)
    made = case.group_people(method, lambda done: tell(0.2 + 0.4 * done))
    return case.make_release(made, tell)


def _read_statistics(facts: tuple[Fact, ...], people: Table, *, suppress: bool) -> Statistics:
    """Return the totals that facts bound; raise unless they are true."""
    if suppress:
        what = "cannot be used with facts that rule nothing out: they speak of everybody in the table"
        raise OptionError(what, where="--suppress", remedy="Remove the option, or these facts")
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
    people: Table
    facts: tuple[Fact, ...]
    known: Exclusions
    policy: Policy
    statistics: Statistics | None
    method: Method
    suppress: bool
    seed: int
    bound: Fraction | None
    limits: Limits
    dropped: int = 0

    @property
    def codes(self) -> npt.NDArray[np.int32]:
        return self.people.sa.codes

    @cached_property
    def labels(self) -> Labels:
        return Labels.of(self.codes, self.known, self.statistics)

    def feasible(self) -> _Case:
        if self.method == "anatomy":
            _check_frequent(self.people.sa, self.policy.l)
            return self
        classes = self.labels.classes(seed=self.seed)
        case = self
        found = Feasible.of(classes, self.policy.l)
        if found.people_short:
            kept = suppress_infeasible(classes, self.policy.l)
            if not self.suppress or not len(kept):
                raise _infeasible(found, kept)
            case = self.without(kept.rows)
            classes = kept
        if case.bound is not None:
            if case.statistics is None:
                _check_bound(classes, case.bound)
            else:
                _check_bound(Classes.of(case.codes, case.known.kind, case.known.patterns, seed=case.seed), case.bound)
                _check_totals(case.statistics, case.known, case.codes, case.bound)
        return case

    def without(self, rows: npt.NDArray[np.int64]) -> _Case:
        rows = np.sort(rows)
        kept = np.flatnonzero(np.bincount(self.codes[rows], minlength=len(self.known.values)))
        known = Exclusions(tuple(self.known.values[value] for value in kept), self.known.patterns[:, kept], self.known.kind[rows])
        dropped = self.dropped + len(self.codes) - len(rows)
        return replace(self, people=self.people.take(rows), known=known, dropped=dropped)

    def group_people(self, method: Method, progress: Callable[[float], None] = lambda _: None) -> Grouped:
        labels = Labels.of(self.codes, self.known, None if method == "anatomy" else self.statistics)
        return group_people(
            labels.own,
            labels.kind,
            labels.patterns,
            shown=labels.shown,
            least=self.policy.l,
            method=method,
            bound=self.bound,
            suppress=self.suppress,
            seed=self.seed,
            limits=self.limits,
            progress=progress,
        )

    def make_release(self, made: Grouped, tell: Callable[[float], None]) -> Bucketized:
        case = self
        group = made.group
        if (group < 0).any():
            inside = np.flatnonzero(group >= 0)
            case = self.without(inside)
            group = group[inside]
        buckets = case.buckets(group)
        vulnerable = case.count_vulnerable(buckets)
        if vulnerable and case.method != "anatomy":
            what = f"{_people(vulnerable)} have too few valid values in the groups"
            raise InternalError(what, where="bucketize", remedy="Please report this; nothing was released")
        tell(0.7)
        after = case.audit(shuffled(buckets, seed=self.seed), is_plausible=not vulnerable)  # as it is written
        tell(0.9)
        before = case.audit(case.buckets(_equal_rows(case.people)), attacks=("B01",))
        cost = case.cost(buckets, made, vulnerable)
        cost |= grouping_cost(buckets, case.people, case.known, check=lambda: self.limits.check("bucketize"))
        tried = case.rival() if case.facts and case.method != "anatomy" else ()
        return Bucketized.made(buckets, method=self.method, before=before, after=after, cost=cost, tried=tried)

    def buckets(self, group: npt.NDArray[np.int32]) -> Buckets:
        missing = self.people.missing
        header = Header(
            missing=missing.mark, missing_rule=missing.rule if missing.mark is not None else None, bins=self.people.bins
        )
        return Buckets.of(self.people.qi, self.people.sa, group, header)

    def count_vulnerable(self, buckets: Buckets) -> int:
        """Count people with fewer than l plausible values independently."""
        if self.statistics is not None:
            return int(np.count_nonzero(self.labels.count_plausible(buckets.group) < self.policy.l))
        return int(np.count_nonzero(valid_values(buckets, self.known, self.codes).counts < self.policy.l))

    def audit(self, buckets: Buckets, attacks: tuple[str, ...] | None = None, *, is_plausible: bool = False) -> Audit:
        self.limits.check("bucketize")
        knowledge = self.facts or None
        if self.statistics is not None and is_plausible:
            # Everybody has l values that all facts together leave possible, so R03 could find nothing; and B02 uses what R02 would.
            given = Given(knowledge=knowledge, is_plausible=True)
            return audit_one(Target(buckets, self.policy, self.limits), given, attacks)
        return audit(buckets, knowledge=knowledge, policy=self.policy, attacks=attacks, time_limit=self.limits.seconds_left)

    def cost(self, buckets: Buckets, made: Grouped, vulnerable: int) -> dict[str, Any]:
        sizes = buckets.sizes
        out: dict[str, Any] = {"groups": len(buckets), "largest_group": int(sizes.max()), "mean_group": float(sizes.mean())}
        out |= {"residue": made.residue, "merges": made.merges, "suppressed": self.dropped, "vulnerable": vulnerable}
        if self.bound is not None:
            out["beyond_bound"] = made.beyond
        return out | {"grouped_by": made.method}

    def rival(self) -> tuple[Tried, ...]:
        """Return the result of Anatomy, which ignores the knowledge."""
        try:
            _check_frequent(self.people.sa, self.policy.l)
        except Infeasible as error:
            return (Tried("anatomy", None, {}, f"{error.what}. {error.remedy}"),)
        made = self.group_people("anatomy")
        buckets = self.buckets(made.group)
        vulnerable = self.count_vulnerable(buckets)
        return (Tried("anatomy", "exposed" if vulnerable else "clean", self.cost(buckets, made, vulnerable)),)


def _one_sensitive_column(people: Table) -> Table:
    if not people.schema.qi:
        raise OptionError("the table has no quasi-identifying column", where="qi", remedy="Name them with --qi (Python: qi=)")
    sensitive = people.sa
    if people.n == 0:
        raise InputError("holds nobody", where=f"column {sensitive.name}", remedy="Give a table with rows")
    if len(people.schema.sa) > 1:  # several sensitive columns are published as one
        table = replace(people.select(people.schema.qi), columns=(*people.qi.columns, sensitive))
        people = replace(table, schema=replace(table.schema, sa=(sensitive.name,)))
    return one_row_each(people)


def _equal_rows(people: Table) -> npt.NDArray[np.int32]:
    """Return groups of people with equal rows, in lexicographic order."""
    codes = np.stack([*(column.codes for column in reversed(people.qi.columns)), people.sa.codes])
    order = np.lexsort(codes)
    is_new = (np.diff(codes[:, order], axis=1) != 0).any(axis=0)
    group = np.zeros(len(order), np.int32)
    group[order[1:]] = np.cumsum(is_new)
    return group


def _check_frequent(sensitive: Column, least: int) -> None:
    people = np.bincount(sensitive.codes)
    n = int(people.sum())
    frequent = int(np.count_nonzero(people * least > n))
    if frequent:
        most = n // int(people.max())
        what = f"{_values(frequent)} more than 1 in {least} people, so no groups of {least} different values hold them all"
        lower = f"Lower --l to {most}" if most > 1 else "No l above 1 is possible"
        raise Infeasible(what, where="--method anatomy", remedy=f"{lower}, or choose --method balanced")


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


def _infeasible(found: Feasible, kept: Classes) -> Infeasible:
    rows = found.rows
    n = found.classes.n
    what = f"{_people(len(rows))} of {n:,} have fewer than {found.least} possible values in every grouping"
    what += f" ({name_rows(rows)}, counted from 0)"
    helps = [f"lower --l to {found.largest}, which everybody can have"] if found.largest > 1 else []
    helps.append("mine the knowledge with a stricter --significance")
    if len(kept):
        helps.append(f"leave {_people(n - kept.n)} out with --suppress")
    told = ", or ".join(helps)
    return Infeasible(what, where=f"--l {found.least}", remedy=told[0].upper() + told[1:], rows=rows.tolist())


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
        data = read_table(data, **roles_of(release.header) | {"qi": list(columns), "sa": release.sensitive})
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
        raise OptionError(what, where="--dim", remedy=f"Ask for {len(columns)} at the most")
    return found
