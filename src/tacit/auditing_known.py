"""Several releases beside everybody's quasi-identifiers: who is known, which column is sensitive, and which values it can have."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tacit.attacks.joint.case import JointCase
from tacit.attacks.joint.full_groups import asked_by
from tacit.attacks.sensitive.known import name_of, pair_of
from tacit.attacks.sensitive.several import SeveralCase
from tacit.auditing import TOGETHER, has_own_case, owners_people, roles_of
from tacit.errors import InputError, OptionError
from tacit.formats.knowledge import read_knowledge
from tacit.formats.tables import read_table
from tacit.measures.posterior import posterior_measures
from tacit.measures.truth import compare
from tacit.model.audit import AttackRun, Audit
from tacit.model.buckets import Buckets
from tacit.model.frequencies import FrequencyTable
from tacit.model.knowledge import Fact
from tacit.model.people import Same
from tacit.model.population import Population
from tacit.model.release import Itemsets, Release, Rules
from tacit.model.table import Column, Table

#: Stands for every value of the sensitive column that no release names, where none lists all of them.
OTHER = "(any other value)"


def several_case(
    releases: Sequence[Release], *, known: Any = None, people: Table | None = None, knowledge: Any = None
) -> SeveralCase | None:
    """The releases beside the people whom they are all about, and what is known besides.

    Everybody's quasi-identifiers are ``known``, or stand in the owner's data, or a bucketized release lists them. None where they are not
    known, or where the releases do not say which column is sensitive or which values it has.
    """
    table = table_of(known, releases) if known is not None else people
    sensitive = _sensitive(releases, table)
    values = _values(releases, sensitive)
    is_open = bool(sensitive) and not values
    if is_open:
        named = dict.fromkeys(value for release in releases for value in _named_values(release, sensitive))
        values = (*named, OTHER) if named else ()
    if not sensitive or not values:
        return None
    facts = read_knowledge(knowledge)
    grouped, population = _population(releases, sensitive, table, facts)
    if population is None:
        return None
    return SeveralCase(tuple(releases), population, sensitive, values, facts, grouped, listed=table is None, is_open=is_open)


def case_alone(release: Release, *, known: Any = None, people: Table | None = None, knowledge: Any = None) -> SeveralCase | None:
    """One release beside known people, where only a reading of all that is known helps; None where its own attacks can use everything.

    That is a bucketized release beside facts that do not rule a value out, or itemsets, frequency tables or rules that do not list all values
    beside known people; these stand in ``known``, or in the owner's data.
    """
    if isinstance(release, Buckets):
        facts = read_knowledge(knowledge)
        return several_case([release], knowledge=facts) if any(not fact.excludes for fact in facts) else None
    if known is None and people is None:
        return None
    if not isinstance(release, Itemsets | FrequencyTable | Rules) or (isinstance(release, Rules) and has_own_case(release)):
        return None
    several = several_case([release], known=known, people=people, knowledge=knowledge)
    asks = several is not None and (several.speaking or (known is not None and release.header.sa and not several.unread))
    return several if asks else None


def excluding(several: SeveralCase | None, knowledge: Any) -> Any:
    """Of what is known besides, what attacks on a bucketized release can use: negative rules."""
    return knowledge if several is None else [fact for fact in several.facts if fact.excludes] or None


def case_together(
    case: JointCase, *, known: Any = None, people: Table | None = None, knowledge: Any = None
) -> SeveralCase | None:
    """What the releases of a joint audit say about known people; None where their people are not the same or at most one says anything."""
    if not isinstance(case.people, Same):
        return None
    several = several_case(case.releases, known=known, people=people, knowledge=knowledge)
    return several if several is not None and len(several.speaking) >= (1 if several.facts else 2) else None


def asks_groups(case: JointCase) -> bool:
    """Whether groups are asked about by all releases together: people are the same, and some release is of a kind that is asked about."""
    return isinstance(case.people, Same) and asked_by(case.releases)


def of_one_release(
    release: Release, several: SeveralCase | None, given: Mapping[str, Any], *, some_rules: bool
) -> dict[str, Any]:
    """What helps to attack one of several releases by itself; of what is known besides, bucketized releases can use negative rules."""
    if several is None:
        fits = isinstance(release, Rules) or not some_rules
        return dict(given) if fits else {"knowledge": given["knowledge"]} if isinstance(release, Buckets) else {}
    facts = [fact for fact in several.facts if fact.excludes and set(fact.allowed) <= set(release.header.qi)]
    return {"knowledge": facts} if isinstance(release, Buckets) and facts else {}


def measures_together(several: SeveralCase, runs: Iterable[AttackRun], found: Audit, people: Any) -> dict[str, Any]:
    """What the attacks on known people measure, with estimates beside the truth where the owner's data are there."""
    out: dict[str, Any] = {name: value for run in runs if run.code in TOGETHER for name, value in run.measures.items()}
    posterior = found.posterior
    if posterior is not None and posterior.is_estimated:
        out |= posterior_measures(posterior, found.policy)
        if isinstance(people, Table) and people.schema.sa and set(several.population.names) <= set(people.names):
            out |= compare(found, people).measures
    return out


def known_of(several: SeveralCase) -> dict[str, Any]:
    """What the adversary is taken to know of people."""
    out: dict[str, Any] = {"knows_quasi_identifiers": True}
    if several.facts:
        out["background_facts"] = len(several.facts)
        out["knowledge"] = sorted({fact.file for fact in several.facts if fact.file})
    return out


def people_of(releases: Sequence[Release], data: Any) -> Table | None:
    """The owner's data as a table, read with the roles of the first release that names any; None where they are none."""
    release = next((one for one in releases if one.header.qi or one.header.sa), releases[0])
    people = owners_people(release, data)
    return people if isinstance(people, Table) else None


def table_of(known: Any, releases: Sequence[Release]) -> Table:
    """Everybody's quasi-identifiers as a table, read with the roles of the first release that names any."""
    if isinstance(known, Table):
        return known
    if isinstance(known, (str, os.PathLike)):
        header = next((release.header for release in releases if release.header.qi), releases[0].header)
        return read_table(known, **{name: value for name, value in roles_of(header).items() if name != "sa"})
    return read_table(known)


def _sensitive(releases: Sequence[Release], table: Table | None) -> str:
    """The sensitive column: as a release names it, or the data; else the one column of the releases that is not known of everybody."""
    for release in releases:
        if isinstance(release, Rules) and release.header.sa:
            return " & ".join(release.header.sa)
        if isinstance(release, Buckets):
            return release.sensitive
    for release in releases:
        if isinstance(release, Itemsets | FrequencyTable) and len(release.header.sa) == 1:
            return release.header.sa[0]
    if table is None:
        return ""
    if table.schema.sa:
        return " & ".join(table.schema.sa)
    unknown = {column for release in releases for column in _columns(release)} - set(table.names)
    return unknown.pop() if len(unknown) == 1 else ""


def _values(releases: Sequence[Release], sensitive: str) -> tuple[str, ...]:
    """All values that a release names as possible."""
    found: dict[str, None] = {}
    for release in releases:
        if isinstance(release, Buckets) and release.sensitive == sensitive:
            found |= dict.fromkeys(release.values)
        elif isinstance(release, FrequencyTable) and sensitive in release.columns and release.header.complete:
            found |= dict.fromkeys(release.values[release.columns.index(sensitive)])
        elif isinstance(release, Itemsets | Rules) and " & ".join(release.header.sa) == sensitive:
            found |= dict.fromkeys(release.header.sa_values)
    return tuple(found)


def _named_values(release: Release, sensitive: str) -> tuple[str, ...]:
    """The values of the sensitive column that a list names."""
    if not isinstance(release, Itemsets | Rules) or sensitive not in _columns(release):
        return ()
    pairs = (pair_of(release, item) for item in range(len(release.items)))
    return tuple(sorted(value for column, value in pairs if column == sensitive))


def _columns(release: Release) -> tuple[str, ...]:
    """The columns that a release speaks of, as far as it says so."""
    if isinstance(release, Itemsets | Rules):
        if release.items.pairs is None and not all("=" in name for name in release.items.names):
            return ()
        return tuple(dict.fromkeys(pair_of(release, item)[0] for item in range(len(release.items))))
    if isinstance(release, Buckets):
        return (*release.people.names, release.sensitive)
    return release.columns if isinstance(release, FrequencyTable) else ()


def _population(
    releases: Sequence[Release], sensitive: str, table: Table | None, facts: Iterable[Fact]
) -> tuple[int, Population | None]:
    """The bucketized release whose groups are one more column (-1: none), and everybody's combination."""
    used = dict.fromkeys(column for release in releases for column in (*release.header.qi, *_columns(release)))
    used |= dict.fromkeys(column for fact in facts for column in fact.allowed)
    used.pop(sensitive, None)
    buckets = [(number, release) for number, release in enumerate(releases) if isinstance(release, Buckets)]
    for number, release in buckets:
        printed = (*release.people.names, release.group_name)
        if table is None or not set(used) & set(table.names) - set(printed):
            if table is not None:
                _compare(release, number, table)
            return number, _with_groups(release)
    if table is None:
        return -1, None
    _refuse_missing(releases, table)
    known = dict.fromkeys((*table.schema.qi, *(column for column in used if column in table.names)))
    columns = list(known) or [name for name in table.names if name != sensitive]
    return -1, Population.of(table.select(columns))


def _with_groups(release: Buckets) -> Population:
    """Everybody's quasi-identifiers and group, as the release lists them."""
    texts = [release.names[number] for number in release.group.tolist()]
    groups = Column.from_texts(release.group_name, texts)
    people = release.people
    return Population.of(Table((*people.columns, groups), people.weights))


def _compare(release: Buckets, number: int, table: Table) -> None:
    """Refuse people who are not those that a bucketized release lists."""
    names = [name for name in release.people.names if name in table.names]
    listed, known = Population.of(release.people.select(names)), Population.of(table.select(names))
    places = listed.places_of(table.select(names))
    same = len(listed) == len(known) and not (places < 0).any()
    if not same or (np.bincount(places, table.weights, len(listed)) != listed.people).any():
        remedy = "Give the people that the release was made from, with the same columns and missing-value rule"
        raise InputError("lists other people than those who are known", where=name_of(release, number), remedy=remedy)


def _refuse_missing(releases: Sequence[Release], table: Table) -> None:
    """Refuse known people without a quasi-identifier that rules are about."""
    missing = {name: None for release in releases if isinstance(release, Rules) for name in release.header.qi}
    for name in [name for name in missing if name in table.names]:
        del missing[name]
    if missing:
        remedy = f"Its columns are: {', '.join(table.names)}"
        what = f"has no column {', '.join(missing)}, which the rules are about"
        raise OptionError(what, where="the known people", remedy=remedy)
