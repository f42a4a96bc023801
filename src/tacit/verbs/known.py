"""Known people: the case for R02 and R03, and its results."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tacit.files.knowledge import read_counts, read_knowledge
from tacit.files.tables import read_table
from tacit.known.case import PeopleCase, RuleCase
from tacit.known.releases import SeveralCase, name_of
from tacit.known.sensitive_values import baseline_of, compare_estimates, posterior_measures
from tacit.model.audit import AttackRun, Audit
from tacit.model.buckets import Buckets
from tacit.model.errors import InputError, OptionError
from tacit.model.estimates import OTHER, Posterior
from tacit.model.knowledge import Fact
from tacit.model.people import Population, as_released
from tacit.model.release import Release, by_sensitive_column
from tacit.model.table import Column, Table
from tacit.verbs.data import known_roles
from tacit.verbs.kinds import KNOWN_CODES, Given, facts_of, kind_of


def cases_of_one(release: Release, given: Given, index: int) -> tuple[PeopleCase | None, ...]:
    """Return the cases for R02 and R03 on release number ``index``.

    There is one for each sensitive column that rules are about, and none if none can be made.
    """
    columns = by_sensitive_column([release])
    if not columns:
        case = _case_of_one(release, given, index)
        return () if case is None else (case,)
    about = given_by_column([release], given, list(columns))
    cases = tuple(_case_of_one(parts[0], one, index) for parts, one in zip(columns.values(), about, strict=True))
    return cases if any(case is not None for case in cases) else ()


def given_by_column(releases: Sequence[Release], given: Given, columns: Sequence[str]) -> list[Given]:
    """Return what helps to infer each sensitive column: none of the others."""
    facts = _facts_by_column(releases, read_counts(given.knowledge), columns)
    known = None if given.known is None else known_table(given.known, releases)

    def only(table: Table, kept: str) -> Table:
        return table.select([name for name in table.names if name == kept or name not in columns])

    return [
        replace(
            given,
            people=given.people if given.table is None else only(given.table, column),
            known=None if known is None else only(known, column),
            knowledge=None if given.knowledge is None else about,
        )
        for column, about in zip(columns, facts, strict=True)
    ]


def _facts_by_column(releases: Sequence[Release], facts: Iterable[Fact], columns: Sequence[str]) -> list[list[Fact]]:
    named: list[set[str]] = []
    for column in columns:
        listed = [one.values for release in releases for one in release.header.sensitive if one.column == column]
        named.append({*_join(listed), *_join(kind_of(release).named_values(release, column) for release in releases)})
    found: list[list[Fact]] = [[] for _ in columns]
    for fact in facts:
        fitting = [place for place, values in enumerate(named) if fact.value in values]
        if len(fitting) > 1:
            remedy = "Audit the rules about each column by themselves"
            raise InputError("its value is one of several sensitive columns", where=fact.place, remedy=remedy)
        found[fitting[0] if fitting else 0].append(fact)  # a value that no column has is refused there
    return found


def _case_of_one(release: Release, given: Given, index: int) -> PeopleCase | None:
    several = case_alone(release, given)
    return rule_case(release, given) if several is None else replace(several, first=index, withheld=given.withheld)


def case_alone(release: Release, given: Given) -> SeveralCase | None:
    """Return the case for R02 and R03, if needed.

    Other attacks do not use all the knowledge about a bucketized release with facts that exclude nothing, nor about itemsets, frequency
    tables, or rules without all sensitive values, if people are known (from ``known`` or the owner's data).
    """
    kind = kind_of(release)
    if kind.lists_people:
        facts = [fact for fact in read_knowledge(given.knowledge) if fact.mean is None]  # B02 alone uses means, and says so
        return several_case([release], knowledge=facts) if any(not fact.excludes for fact in facts) else None
    if (given.known is None and given.table is None) or not kind.is_read_with_others(release):
        return None
    case = several_case([release], known=given.known, people=given.table, knowledge=given.knowledge)
    if case is None or case.speaking:
        return case
    # Rules that cannot be read say so in their own case; of other kinds, what cannot be used stays undecided.
    is_asked = given.known is not None and bool(release.header.sa)
    return case if is_asked and not (case.unread and kind.takes_known) else None


def rule_case(release: Release, given: Given) -> RuleCase | None:
    """Return rules with quasi-identifiers, or None; check options."""
    kind = kind_of(release)
    if given.known is not None and not kind.takes_known:
        what = "applies to rules and to releases with a known sensitive column; this is neither"
        raise OptionError(what, where="--known", remedy="Remove the option")
    if given.knowledge is not None and not kind.takes_knowledge:
        what = "applies to rules, to bucketized releases, and to others about known people"
        raise OptionError(what, where="--knowledge", remedy="Remove the option, or give their quasi-identifiers with --known")
    if given.known is None:
        case = kind.case_of_known(release, given.table, "--data")
    else:
        case = kind.case_of_known(release, known_table(given.known, [release]), "--known")
    if case is not None:
        case = replace(case, withheld=given.withheld)
    if given.knowledge is None or kind.lists_people:
        return case
    if case is None:
        remedy = "Give their quasi-identifiers with --known, or the data with --data"
        raise OptionError("is about people, and it is not known who they are", where="--knowledge", remedy=remedy)
    return replace(case, facts=read_counts(given.knowledge))


def known_table(known: Any, releases: Sequence[Release]) -> Table:
    """Return the quasi-identifiers, with the releases' roles."""
    table = known
    if not isinstance(known, Table):
        table = read_table(known, **known_roles(releases)) if isinstance(known, (str, os.PathLike)) else read_table(known)
    return as_released(table, releases)


def several_case(
    releases: Sequence[Release], *, known: Any = None, people: Table | None = None, knowledge: Any = None, column: str = ""
) -> SeveralCase | None:
    """Return releases with common people and background facts.

    The sensitive column is ``column``, or follows from the releases.

    Everybody's quasi-identifiers are ``known``, or in the owner's data, or in a bucketized release. None if they are not known, or if the
    releases do not say which column is sensitive or which values it has.
    """
    table = known_table(known, releases) if known is not None else people
    if table is not None:
        table = as_released(table, releases)
    sensitive = column or _sensitive_column(releases, table)
    if not sensitive:
        return None
    values = _join(release.possible_values(sensitive) for release in releases)
    is_open = not values
    if is_open:
        named = _join(kind_of(release).named_values(release, sensitive) for release in releases)
        if not named:
            return None
        values = (*named, OTHER)
    facts = read_counts(knowledge)
    grouped, population = _population(releases, sensitive, table, facts)
    if population is None:
        return None
    return SeveralCase(
        tuple(releases), population, sensitive, values, facts=facts, grouped=grouped, listed=table is None, is_open=is_open
    )


def _join(parts: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for part in parts for name in part))


def _sensitive_column(releases: Sequence[Release], table: Table | None) -> str:
    """Return the sensitive column, named or the only unknown."""
    for release in releases:
        kind = kind_of(release)
        if kind.leads_to_values and (name := kind.sensitive(release)):
            return name
    for release in releases:
        if not kind_of(release).has_sensitive_column and len(release.header.sa) == 1:
            return release.header.sa[0]
    if table is None:
        return ""
    if table.schema.sa:
        return " & ".join(table.schema.sa)
    unknown = {column for release in releases for column in kind_of(release).columns(release)} - set(table.names)
    return unknown.pop() if len(unknown) == 1 else ""


def _population(
    releases: Sequence[Release], sensitive: str, table: Table | None, facts: Iterable[Fact]
) -> tuple[int, Population | None]:
    """Return the number of the release with groups, and the population."""
    used = dict.fromkeys(column for release in releases for column in (*release.header.qi, *kind_of(release).columns(release)))
    used |= dict.fromkeys(column for fact in facts for column in fact.allowed)
    used.pop(sensitive, None)
    for number, release in enumerate(releases):
        if release.kind != "buckets":
            continue
        printed = (*release.people.names, release.group_name)
        if table is None or not set(used) & set(table.names) - set(printed):
            if table is not None:
                _check_same_people(release, number, table)
            groups = Column.from_texts(release.group_name, [release.names[group] for group in release.group.tolist()])
            return number, Population.of(Table((*release.people.columns, groups), release.people.weights))
    if table is None:
        return -1, None
    required = _join(release.header.qi for release in releases if release.kind == "rules")
    missing = [name for name in required if name not in table.names]
    if missing:
        what = f"has no column {', '.join(missing)}, which the rules are about"
        raise OptionError(what, where="the known people", remedy=f"Its columns are: {', '.join(table.names)}")
    known = dict.fromkeys((*table.schema.qi, *(column for column in used if column in table.names)))
    columns = list(known) or [name for name in table.names if name != sensitive]
    return -1, Population.of(table.select(columns))


def _check_same_people(release: Buckets, number: int, table: Table) -> None:
    names = [name for name in release.people.names if name in table.names]
    listed = Population.of(release.people.select(names))
    known = Population.of(table.select(names))
    places = listed.places_of(table.select(names))
    is_same = len(listed) == len(known) and not (places < 0).any()
    if not is_same or (np.bincount(places, table.weights, len(listed)) != listed.people).any():
        remedy = "Give the people that the release was made from, with the same columns and missing-value rule"
        raise InputError("lists other people than those who are known", where=name_of(release, number), remedy=remedy)


def adversary_of(cases: Sequence[PeopleCase | None]) -> dict[str, Any]:
    """Return the adversary's assumed knowledge about people."""
    known = [case for case in cases if case is not None]
    withheld = known[0].withheld
    expected = {} if withheld == "at-threshold" else {"withheld": withheld}
    return {"knows_quasi_identifiers": True} | expected | facts_of([fact for case in known for fact in case.facts])


def posteriors_of(cases: Sequence[PeopleCase | None], runs: Iterable[AttackRun]) -> tuple[Posterior, ...]:
    """Return the estimates and bounds of each sensitive column, if any."""
    columns = [posterior_of(case, _runs_on(runs, place)) for place, case in enumerate(cases)]
    return tuple(one for one in columns if one is not None)


def _runs_on(runs: Iterable[AttackRun], place: int) -> list[AttackRun]:
    """Return the runs about known people on one of several sensitive columns."""
    return [run.parts[place] if run.parts else run for run in runs if run.code in KNOWN_CODES]


def measures_by_column(
    cases: Sequence[PeopleCase | None], found: Audit, people: object, order: Sequence[str] = ()
) -> dict[str, dict[str, Any]]:
    """Return the measures about known people, for each sensitive column."""
    posteriors = {one.sensitive: one for one in found.posteriors}
    ordered = [one.sensitive for one in found.posteriors if set(one.values) <= set(order)]
    out: dict[str, dict[str, Any]] = {}
    for place, case in enumerate(cases):
        if case is not None:
            runs = _runs_on(found.runs, place)
            chosen = order if not ordered or case.sensitive in ordered else ()  # the order of another column's values
            own = {} if len(cases) == 1 else {name: value for run in runs for name, value in run.measures.items()}
            out[case.sensitive] = own | known_measures(case, runs, posteriors.get(case.sensitive), found, people, order=chosen)
    return out


def posterior_of(case: PeopleCase | None, runs: Iterable[AttackRun]) -> Posterior | None:
    """Return estimates of R02 and bounds of R03, if any."""
    details = [run.details for run in runs if run.code in KNOWN_CODES and run.details]
    if case is None or not details:
        return None
    shape = (len(case.population), len(case.values))
    found: dict[str, Any] = dict.fromkeys(("posterior", "lower", "upper"), np.broadcast_to(np.nan, shape))
    for one in details:
        found |= {name: values for name, values in one.items() if name in found}
    return Posterior(
        case.population,
        case.sensitive,
        case.values,
        found["posterior"],
        lower=found["lower"],
        upper=found["upper"],
        baseline=baseline_of(case, found["posterior"]),
        baseline_is_published=bool(case.sa_counts),
    )


def known_measures(
    case: PeopleCase,
    runs: Iterable[AttackRun],
    posterior: Posterior | None,
    found: Audit,
    people: object,
    order: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the measures of estimates, against any truth."""
    is_several = isinstance(case, SeveralCase)
    out: dict[str, Any] = {}
    if is_several:
        out |= {name: value for run in runs if run.code in KNOWN_CODES for name, value in run.measures.items()}
    if posterior is None or not posterior.is_estimated:
        return out
    out |= posterior_measures(posterior, found.policy, order)
    if isinstance(people, Table) and people.schema.sa and (not is_several or set(case.population.names) <= set(people.names)):
        out |= compare_estimates(posterior, people).measures
    return out
