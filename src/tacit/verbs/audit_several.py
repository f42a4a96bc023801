"""Audits of several releases, one by one and together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from tacit.files.knowledge import read_counts
from tacit.joint.lower import JointCase
from tacit.joint.readers import look_alikes, refuse_other_codes, words_of
from tacit.known.releases import SeveralCase
from tacit.model.audit import AttackRun, Audit, Target
from tacit.model.errors import OptionError
from tacit.model.estimates import table_of
from tacit.model.people import Changed, Churn, Gathered, Nested, People, Same, Unknown, as_released, check_people
from tacit.model.release import Release, by_sensitive_column, common_cuts
from tacit.model.table import Table, Transactions
from tacit.verbs.attacks import ATTACKS, ONE_WAS_ENOUGH, Cases, chosen_codes, run_in_time
from tacit.verbs.data import first_with_roles, owners_people, rows_of
from tacit.verbs.kinds import KNOWN_CODES, Given, facts_of, group_measures, kind_of
from tacit.verbs.known import adversary_of, given_by_column, measures_by_column, posteriors_of, several_case
from tacit.verbs.merging import merge_columns, merge_runs, worst_measures


def joint_case(gathered: Gathered, people: People | None, **given: Any) -> JointCase:
    """Return releases with the declared relation of populations."""
    for option, value in given.items():
        if value is not None:
            where = "--" + option.replace("_", "-")
            raise OptionError("applies to one release; there are several", where=where, remedy="Remove the option")
    if people is not None and not isinstance(people, (Same, Nested, Churn, Changed, Unknown)):
        remedy = "Give tacit.Same(), tacit.Nested(), tacit.Churn(), tacit.Changed() or tacit.Unknown()"
        raise OptionError("does not say how the populations of the releases are related", where="people", remedy=remedy)
    gathered = replace(gathered, releases=_cut_alike(gathered.releases))
    counts: list[int | None] = [None] * len(gathered.names)
    for release, population in zip(gathered.releases, gathered.population, strict=True):
        counts[population] = release.n if counts[population] is None else counts[population]
    if people is None and gathered.is_session and len({n for n in counts if n is not None}) < 2:
        people = Same()
    declared = check_people(people, counts)
    case = JointCase.of(gathered.releases, declared, gathered.population, gathered.names)
    if not isinstance(declared, Unknown):
        refuse_other_codes([case.name(number) for number in range(len(case.releases))], [words_of(one) for one in case.releases])
    return case


def _cut_alike(releases: Sequence[Release]) -> tuple[Release, ...]:
    """Cut columns of numbers at the same ends in all releases."""
    _refuse_other_bins(releases)
    cut = {one.column for release in releases for one in release.header.cuts}
    if not cut:
        return tuple(releases)
    for release in releases:
        whole = cut.intersection(kind_of(release).columns(release)) - {one.column for one in release.header.cuts}
        if whole:
            what = f"one release cuts {', '.join(sorted(whole))} into intervals, and another has its own values of it"
            raise OptionError(what, where="the releases", remedy="Audit them one by one")
    trees = iter(common_cuts(release for release in releases if release.kind == "rules" and release.header.cuts))
    return tuple(next(trees) if release.header.cuts else release for release in releases)


def _refuse_other_bins(releases: Sequence[Release]) -> None:
    """Raise if one release has other bins of a column than another, or none."""
    for column in sorted({one.column for release in releases for one in release.header.bins}):
        naming = [release for release in releases if column in kind_of(release).columns(release)]
        ways = {next((one.text for one in release.header.bins if one.column == column), "") for release in naming}
        if len(ways) > 1:
            what = f"one release has other bins of {column} than another, or none"
            raise OptionError(what, where="the releases", remedy="Make them with the same --bins, or audit them one by one")


def audit_several(
    case: JointCase, target: Target, codes: tuple[str, ...] | None, given: Given, audit_one: Callable[..., Audit]
) -> Audit:
    """Attack each release by ``audit_one``, then all of them together.

    Known people help to attack all releases together if these are about the same people, and otherwise rules by themselves.
    """
    rows = _owners_rows(case, given.data)
    people = rows if isinstance(rows, Table) else None
    severals = _known_cases(case, replace(given, people=people))
    # Of several sensitive columns, R03 alone gives values of known people.
    several = severals[0] if len(severals) == 1 else None
    case = replace(_with_facts(case, several, given.knowledge), data=rows_of(rows), known=several)
    # If nobody is known, background facts help only to attack all releases together.
    own_knowledge = None if case.facts and not severals and given.known is None else given.knowledge
    own = Given(known=given.known, knowledge=own_knowledge, withheld=given.withheld, sa_order=given.sa_order)
    # The attacks, except X01, that take all releases together.
    taken: tuple[str, ...] = KNOWN_CODES if severals else ()
    if not taken and isinstance(case.people, Same) and any(kind_of(one).asks_groups(one, alone=False) for one in case.releases):
        taken = ("R03",)
    codes_each = tuple(code for code in chosen_codes(codes) if code not in taken) if taken else codes
    audits = [
        audit_one(
            replace(target, release=release, index=number), _given_for(release, case, own, severals), codes_each, alone=False
        )
        for number, release in enumerate(case.releases)
    ]
    runs = _run_all(case, target, chosen_codes(codes), severals, taken, audits=audits)
    posteriors = posteriors_of(severals, runs)
    by_column: dict[str, dict[str, Any]] = {}
    measures: dict[str, Any] = {}
    for name in ("itemsets", "rules"):
        counts = [audit.measures[name] for audit in audits if name in audit.measures]
        measures |= {name: sum(counts)} if counts else {}
    measures |= {"groups_of_one": 0} | group_measures(runs)
    measures |= next((run.measures for run in runs if run.rebuilt is not None), {})
    found = Audit(
        tuple(entry for audit in audits for entry in audit.release),
        _adversary(case, audits) | (adversary_of(severals) if severals else {}) | facts_of(case.facts),
        target.policy,
        runs,
        measures=measures,
        tables={"posterior": partial(table_of, posteriors)} if posteriors else {},
        posteriors=posteriors,
        by_column=by_column,
    )
    if severals:
        columns = measures_by_column(severals, found, people, given.sa_order)
        measures.update(worst_measures(list(columns.values())))
        by_column.update(columns if len(columns) > 1 else {})
    return found


def _owners_rows(case: JointCase, data: Any) -> Table | Transactions | None:
    if data is None:
        return None
    if not isinstance(case.people, Same):
        what = "is about one population; the releases are declared to be about several, or to have changed"
        if isinstance(case.people, Unknown):
            what = "is about one population; it is not known who the releases are about, as of trees trained with bootstrap=True"
        raise OptionError(what, where="--data", remedy="Leave the data out, or audit each release with its own")
    found = owners_people(first_with_roles(case.releases, data), data)
    if isinstance(found, Table):
        found = as_released(found, case.releases)
    numbers = {release.n for release in case.releases if release.n is not None}
    if found is not None and numbers and {found.n} != numbers:
        remedy = "Give the data that all releases were made from, or correct n"
        raise OptionError("holds another number of people than the releases are about", where="--data", remedy=remedy)
    return found


def _known_cases(case: JointCase, given: Given) -> tuple[SeveralCase, ...]:
    """Return two or more releases with known people, for each sensitive column.

    One is enough with background facts. None if populations differ.
    """
    if not isinstance(case.people, Same):
        return ()
    columns = by_sensitive_column(case.releases)
    about = given_by_column(case.releases, given, list(columns)) if columns else [given]
    found = []
    for (column, releases), one in zip(columns.items() or [("", case.releases)], about, strict=True):
        several = several_case(releases, known=one.known, people=one.table, knowledge=one.knowledge, column=column)
        if several is not None and len(several.speaking) >= (1 if several.facts or columns else 2):
            found.append(replace(several, withheld=given.withheld))
    return tuple(found)


def _with_facts(case: JointCase, several: SeveralCase | None, knowledge: Any) -> JointCase:
    if knowledge is None or not isinstance(case.people, Same):
        return case
    named = (kind_of(one).sensitive(one) for one in case.releases if kind_of(one).has_sensitive_column)
    sensitive = next(filter(None, named), "")
    facts = several.facts if several is not None else read_counts(knowledge)
    return replace(case, facts=tuple(facts), sensitive=sensitive) if sensitive else case


def _given_for(release: Release, case: JointCase, given: Given, severals: Sequence[SeveralCase]) -> Given:
    """Return what helps to attack a release by itself.

    If people are known, they help to attack all releases together, and only negative facts are left for the groups of a bucketized one.
    """
    kind = kind_of(release)
    if severals:
        facts = [fact for one in severals for fact in one.facts if fact.excludes and set(fact.allowed) <= set(release.header.qi)]
        return Given(knowledge=facts or None) if kind.lists_people else Given()
    if kind.takes_known or not any(kind_of(one).takes_known for one in case.releases):
        return given
    return Given(knowledge=given.knowledge) if kind.takes_knowledge else Given()


def _run_all(
    case: JointCase,
    each: Target,
    chosen: Collection[str],
    severals: Sequence[SeveralCase],
    taken: Sequence[str],
    audits: Sequence[Audit],
) -> tuple[AttackRun, ...]:
    """Merge the runs on each release; attack all together."""
    names = [case.name(number) for number in range(len(audits))]
    cases = Cases(known=() if case.known is None else (case.known,), joint=lambda: case, asks_groups=lambda: case)
    runs: list[AttackRun] = []
    for place, attack in enumerate(ATTACKS):
        target = Target(
            case.releases[0],
            each.policy,
            each.limits,
            progress=each.progress,
            first_hit=each.first_hit,
            case=cases.of(attack),
            rebuild=each.rebuild,
        )
        if attack.takes != "joint" and attack.code not in taken:
            runs.append(_merge([audit.runs[place] for audit in audits], names))
        elif attack.code not in chosen:
            runs.append(attack.not_asked(target.release))
        elif each.first_hit and any(run.findings for run in runs):
            runs.append(attack.end("stopped", ONE_WAS_ENOUGH))
        elif attack.code in taken and len(severals) > 1:
            parts = [run_in_time(attack, replace(target, case=one)) for one in severals]
            runs.append(merge_columns(parts, [one.sensitive for one in severals]))
        else:
            runs.append(run_in_time(attack, target))
    return tuple(runs)


def _adversary(case: JointCase, audits: Sequence[Audit]) -> dict[str, Any]:
    out: dict[str, Any] = {"people": case.people.to_text()}
    if len(case.names) < len(case.releases):
        out["population"] = list(case.population)
    if not isinstance(case.people, Unknown) and (alike := look_alikes([words_of(release) for release in case.releases])):
        out["taken_as_different"] = [list(pair) for pair in alike]
    for name, value in audits[0].adversary.items():
        if all(audit.adversary.get(name) == value for audit in audits):
            out[name] = value
    if any("knows_no_value_is_negative" in audit.adversary for audit in audits):
        out["knows_no_value_is_negative"] = True
    return out


def _merge(runs: Sequence[AttackRun], names: Sequence[str]) -> AttackRun:
    merged = merge_runs(runs, names, "release")
    cautions = [replace(one, release=number) for number, run in enumerate(runs) for one in run.cautions]
    return replace(merged, cautions=tuple(cautions))
