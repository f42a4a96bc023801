"""Audit of one release: attacks, measures and verdict."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.errors import OptionError, nearest_name
from tacit.files.consistency import check_listing
from tacit.model.audit import ALGORITHMS, Algorithm, Audit, Progress, Target, described
from tacit.model.people import Same
from tacit.model.policy import Limits, Policy
from tacit.model.release import Release
from tacit.verbs.attacks import Cases, chosen_codes, run_attacks
from tacit.verbs.kinds import Given, kind_of
from tacit.verbs.known import owners_people, rows_of

if TYPE_CHECKING:
    from tacit.joint.case import JointCase
    from tacit.known.case import PeopleCase


@dataclass(frozen=True, slots=True, eq=False)
class Options:
    """Options of an audit for all its releases."""

    policy: Policy
    limits: Limits
    attacks: tuple[str, ...] | None
    algorithm: Algorithm
    first_hit: bool
    progress: Progress


def audit_one(
    release: Release,
    given: Given,
    options: Options,
    *,
    findings_to: str | Path | None = None,
    index: int = 0,
    alone: bool = True,
) -> Audit:
    """Audit one release, number ``index`` among those audited.

    If it is ``alone``, X01 attacks all its lines as well.
    """
    check_listing(release)
    kind = kind_of(release)
    people = owners_people(release, given.data)
    given = replace(given, people=people)
    rows = rows_of(people)
    known = _known_case(release, given, index)
    own = _own_case(release, given, known)
    chosen = chosen_codes(options.attacks)
    _check_algorithm(options.algorithm, release, chosen)

    @cache
    def joint() -> JointCase:
        from tacit.joint.case import JointCase

        return replace(JointCase.of((release,), Same(), data=rows), known=_several(known))

    is_joint = alone and kind.has_lines
    target = Target(
        release=release,
        policy=options.policy,
        limits=options.limits,
        data=rows,
        index=index,
        progress=options.progress,
        algorithm=options.algorithm,
        first_hit=options.first_hit,
        named=frozenset() if options.attacks is None else chosen,
    )
    cases = Cases(
        own=own,
        known=known,
        joint=joint if is_joint else None,
        asks_groups=joint if kind.asks_groups(release, alone=True) else None,
    )
    with _findings_file(findings_to) as stream:
        runs = run_attacks(replace(target, stream=stream), cases, chosen)
    adversary = kind.adversary(release, own)
    if is_joint:
        adversary = {"people": Same().to_text()} | adversary
    measures = kind.measures(release, runs)
    posterior = None
    if known is not None:
        from tacit.verbs.known import adversary_of, posterior_of

        adversary |= adversary_of(known)
        posterior = posterior_of(known, runs)
    tables = kind.tables(own, runs, posterior)
    found = Audit((described(release),), adversary, options.policy, runs, measures=measures, tables=tables, posterior=posterior)
    if given.table is not None:
        measures.update(kind.owner_measures(own, given.table, lambda: options.limits.check("audit")))
    if known is not None:
        from tacit.verbs.known import known_measures

        measures.update(known_measures(known, runs, found, people))
    return found


def _known_case(release: Release, given: Given, index: int) -> PeopleCase | None:
    if given.known is None and given.knowledge is None and given.table is None:
        return None
    from tacit.verbs.known import case_alone, rule_case

    several = case_alone(release, given)
    return rule_case(release, given) if several is None else replace(several, first=index)


def _several(known: PeopleCase | None) -> Any:
    if known is None:
        return None
    from tacit.known.releases import SeveralCase

    return known if isinstance(known, SeveralCase) else None


def _own_case(release: Release, given: Given, known: PeopleCase | None) -> object:
    """Return the case for this kind's attacks.

    A bucketized release read with known people uses negative rules alone.
    """
    kind = kind_of(release)
    if given.rows is not None and not kind.takes_rows:
        raise OptionError("names rows of a table; the release is not a table", where="--rows", remedy="Remove the option")
    if known is not None:
        given = replace(given, knowledge=[fact for fact in known.facts if fact.excludes] or None)
    return kind.own_case(release, given)


def _findings_file(path: str | Path | None) -> Any:
    if path is None:
        return nullcontext()
    from tacit.files.findings import FindingsFile

    return FindingsFile(path)


def _check_algorithm(name: str, release: Release, chosen: frozenset[str]) -> None:
    if name not in ALGORITHMS:
        remedy = nearest_name(name, ALGORITHMS, "algorithms")
        raise OptionError(f"there is no algorithm {name!r}", where="--algorithm", remedy=remedy)
    if name != "projection" and ("I01" not in chosen or release.kind != "itemsets"):
        raise OptionError("is for I01, which does not run here", where="--algorithm", remedy="Remove the option")
