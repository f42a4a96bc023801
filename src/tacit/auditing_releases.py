"""One release under attack, or several: what each gives away by itself, and what all of them give away together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tacit.attacks import ATTACKS, Target, run_attacks, run_in_time
from tacit.attacks.base import Algorithm, Progress
from tacit.attacks.joint.case import JointCase
from tacit.attacks.joint.spelling import look_alikes, refuse_other_codes, words_of
from tacit.attacks.sensitive.several import SeveralCase
from tacit.auditing import (
    TOGETHER,
    adversary,
    asked_for,
    bucket_case,
    check_algorithm,
    owners_people,
    posterior_of,
    rows_of,
    rule_case,
    table_case,
    tables_of,
)
from tacit.auditing_known import (
    asks_groups,
    case_alone,
    case_together,
    excluding,
    known_of,
    measures_together,
    of_one_release,
)
from tacit.errors import OptionError
from tacit.formats.findings import FindingsFile
from tacit.formats.knowledge import read_knowledge
from tacit.formats.listing import check_listing
from tacit.measures import measure
from tacit.measures.buckets import owners_measures
from tacit.measures.posterior import posterior_measures
from tacit.measures.truth import compare
from tacit.model.audit import AttackRun, Audit, Status
from tacit.model.buckets import Buckets
from tacit.model.described import described
from tacit.model.finding import Finding
from tacit.model.gathered import Gathered
from tacit.model.partial import PartialTable
from tacit.model.people import Changed, Churn, Nested, People, Same, Unknown, check_people
from tacit.model.policy import Limits, Policy
from tacit.model.release import Release, Rules
from tacit.model.table import Table
from tacit.model.transactions import Transactions


def joint_case(gathered: Gathered, people: People | None, **given: Any) -> JointCase:
    """The releases with what is declared about their people; options that are about one release are refused."""
    for option, value in given.items():
        if value is not None:
            where = "--" + option.replace("_", "-")
            raise OptionError("is about one release, and there are several", where=where, remedy="Leave it out")
    if people is not None and not isinstance(people, (Same, Nested, Churn, Changed, Unknown)):
        remedy = "Give tacit.Same(), tacit.Nested(), tacit.Churn(), tacit.Changed() or tacit.Unknown()"
        raise OptionError("does not say how the people of the releases hang together", where="people", remedy=remedy)
    counts: list[int | None] = [None] * len(gathered.names)
    for release, population in zip(gathered.releases, gathered.population, strict=True):
        counts[population] = release.n if counts[population] is None else counts[population]
    declared = check_people(people, counts)
    case = JointCase.of(gathered.releases, declared, gathered.population, gathered.names)
    if not isinstance(declared, Unknown):
        refuse_other_codes([case.name(number) for number in range(len(case.releases))], [words_of(one) for one in case.releases])
    return case


def audit_one(
    release: Release,
    *,
    policy: Policy,
    limits: Limits,
    attacks: Iterable[str] | None,
    algorithm: Algorithm,
    first_hit: bool,
    progress: Progress,
    data: Any = None,
    known: Any = None,
    knowledge: Any = None,
    rows: Any = None,
    findings_to: str | Path | None = None,
    index: int = 0,
    alone: bool = True,
) -> Audit:
    """The audit of one release, which is number ``index`` among those that are audited; :func:`tacit.api.audit` says what the options mean.

    Where it is ``alone``, all its lines are also given to the general adversary, X01.
    """
    check_listing(release)
    people = owners_people(release, data)
    several = case_alone(release, known=known, people=people if isinstance(people, Table) else None, knowledge=knowledge)
    several = None if several is None else replace(several, first=index)
    rules = rule_case(release, known, people, knowledge) if several is None else None
    buckets, table = bucket_case(release, people, excluding(several, knowledge)), table_case(release, data, rows)
    wanted = asked_for(attacks)
    named = frozenset() if attacks is None else wanted
    check_algorithm(algorithm, release, wanted)
    own_rows = rows_of(people)
    lines_alone = alone and not isinstance(release, PartialTable | Buckets)
    case = Target(
        release=release,
        policy=policy,
        limits=limits,
        data=own_rows,
        index=index,
        progress=progress,
        algorithm=algorithm,
        first_hit=first_hit,
        rules=rules,
        buckets=buckets,
        named=named,
        table=table,
        together=JointCase.of((release,), Same(), data=own_rows) if lines_alone else None,
        several=several,
    )
    if findings_to is None:
        runs = run_attacks(case, wanted)
    else:
        with FindingsFile(findings_to) as stream:
            runs = run_attacks(replace(case, stream=stream), wanted)
    measures, posterior = dict(measure(release, runs)), posterior_of(several or rules, runs)
    tables, attacker = tables_of(posterior, buckets, runs), adversary(release, rules or buckets or table)
    attacker |= known_of(several) if several is not None else {}
    if case.together is not None:
        attacker = {"people": case.together.people.to_text()} | attacker
    found = Audit((described(release),), attacker, policy, runs, measures, tables, posterior)
    if buckets is not None and isinstance(people, Table):
        known_to = buckets.known if buckets.facts else None
        measures.update(owners_measures(buckets.buckets, people, known_to, check=lambda: limits.check("audit")))
    if several is not None:
        measures.update(measures_together(several, runs, found, people))
    elif posterior is not None and posterior.is_estimated:
        measures.update(posterior_measures(posterior, policy))
        if isinstance(people, Table) and people.schema.sa:
            measures.update(compare(found, people).measures)
    return found


def audit_together(case: JointCase, *, data: Any = None, known: Any = None, knowledge: Any = None, **how: Any) -> Audit:
    """One audit of all releases: every attack on each of them, then those that need several.

    What is known of people helps to attack all releases together where they are about the same people, and rules by themselves elsewhere.
    """
    some_rules = any(isinstance(release, Rules) for release in case.releases)
    rows = _owners_rows(case, data)
    people = rows if isinstance(rows, Table) else None
    case = replace(case, data=rows_of(rows))
    several = case_together(case, known=known, people=people, knowledge=knowledge)
    case = _with_facts(case, several, knowledge)
    # Where nobody is known, what is known besides helps only to attack all releases together.
    given = {"known": known, "knowledge": None if case.facts and several is None and known is None else knowledge}
    # Attacks that take all releases together where their people are the same: on known people, or on groups of frequency tables.
    taken = TOGETHER if several is not None else ("R03",) if asks_groups(case) else ()
    audits = []
    for number, release in enumerate(case.releases):
        own = of_one_release(release, several, given, some_rules=some_rules)
        audits.append(audit_one(release, index=number, alone=False, **how | {"attacks": _for_each(how["attacks"], taken)}, **own))
    names, wanted, first_hit = [case.name(number) for number in range(len(audits))], asked_for(how["attacks"]), how["first_hit"]
    runs: list[AttackRun] = []
    for place, attack in enumerate(ATTACKS):
        if attack.needs != "lines" and attack.code not in taken:
            runs.append(_merged([audit.runs[place] for audit in audits], names))
        elif attack.code not in wanted:
            runs.append(attack.not_asked(Target(case.releases[0], how["policy"], together=case, several=several)))
        elif first_hit and any(run.findings for run in runs):
            runs.append(AttackRun(attack.code, attack.name, attack.claim, "stopped", "not begun: one finding was enough"))
        else:
            target = Target(
                case.releases[0], how["policy"], how["limits"], progress=how["progress"], together=case, several=several
            )
            runs.append(run_in_time(attack, target))
    released, measures = tuple(entry for audit in audits for entry in audit.release), _measures(audits, runs)
    posterior = posterior_of(several, runs)
    attacker = _adversary(case, audits) | ({} if several is None else known_of(several)) | facts_of(case)
    found = Audit(released, attacker, how["policy"], tuple(runs), measures, tables_of(posterior, None, runs), posterior)
    if several is not None:
        measures.update(measures_together(several, runs, found, people))
    return found


def _with_facts(case: JointCase, several: SeveralCase | None, knowledge: Any) -> JointCase:
    """The case with what is known besides, where all people are the same and a release names the sensitive column."""
    if knowledge is None or not isinstance(case.people, Same):
        return case
    named = (
        release.sensitive if isinstance(release, Buckets) else " & ".join(release.header.sa)
        for release in case.releases
        if isinstance(release, Buckets | Rules | PartialTable)
    )
    sensitive = next(filter(None, named), "")
    facts = several.facts if several is not None else read_knowledge(knowledge)
    return replace(case, facts=tuple(facts), sensitive=sensitive) if sensitive else case


def facts_of(case: JointCase) -> dict[str, Any]:
    """What the record says about what is known besides."""
    if not case.facts:
        return {}
    files = sorted({fact.file for fact in case.facts if fact.file})
    return {"background_facts": len(case.facts), "knowledge": files}


def _owners_rows(case: JointCase, data: Any) -> Table | Transactions | None:
    """The owner's data about the people of all releases, read with the roles of the first that names any."""
    if data is None:
        return None
    if not isinstance(case.people, Same):
        what = "is about one group of people, and the releases are declared to be about several or to have changed"
        raise OptionError(what, where="--data", remedy="Leave it out, or audit each release with its own data")
    found = owners_people(next((one for one in case.releases if one.header.qi or one.header.sa), case.releases[0]), data)
    numbers = {release.n for release in case.releases if release.n is not None}
    if found is not None and numbers and {found.n} != numbers:
        remedy = "Give the data that all releases were made from, or correct n"
        raise OptionError("holds another number of people than the releases are about", where="--data", remedy=remedy)
    return found


def _for_each(codes: Iterable[str] | None, taken: Sequence[str]) -> list[str] | None:
    """The attacks to run on each release by itself: none of those that take all releases together."""
    if not taken:
        return None if codes is None else list(codes)
    return [code for code in asked_for(codes) if code not in taken]


def _adversary(case: JointCase, audits: Sequence[Audit]) -> dict[str, Any]:
    """What the adversary is taken to know: how the people hang together, and what holds for all releases."""
    out: dict[str, Any] = {"people": case.people.to_text()}
    if len(case.names) < len(case.releases):
        out["population"] = list(case.population)
    if not isinstance(case.people, Unknown) and (alike := look_alikes([words_of(release) for release in case.releases])):
        out["taken_as_different"] = [list(pair) for pair in alike]
    first = audits[0].adversary
    for name, value in first.items():
        if all(audit.adversary.get(name) == value for audit in audits):
            out[name] = value
    return out


def _measures(audits: Sequence[Audit], runs: Sequence[AttackRun]) -> dict[str, Any]:
    """Lines and groups counted over all releases; measures of a single release stand in its own audit."""
    out: dict[str, Any] = {}
    for name in ("itemsets", "rules"):
        counts = [audit.measures[name] for audit in audits if name in audit.measures]
        out |= {name: sum(counts)} if counts else {}
    sizes = [run.sizes for run in runs if run.claim == "proves" and run.finds_groups]
    out["groups_of_one"] = sum(one.get(1, 0) for one in sizes)
    if any(sizes):
        out["smallest_group"] = min(min(one) for one in sizes if one)
    return out


def _merged(runs: Sequence[AttackRun], names: Sequence[str]) -> AttackRun:
    """What became of one attack on each release, as one run; its columns say which release a finding is about."""
    ended = [(number, run) for number, run in enumerate(runs) if run.status != "not-relevant"]
    if not ended:
        return runs[0]
    statuses = {run.status for _, run in ended}
    worst: tuple[Status, ...] = ("stopped", "unavailable", "not-asked")
    status: Status = next((one for one in worst if one in statuses), "ran")
    reasons = [f"{names[number]}: {run.reason}" for number, run in ended if run.reason]
    severity = np.concatenate([run.severity for _, run in ended])
    order = np.argsort(severity, kind="stable")
    owner = np.concatenate([np.full(len(run.severity), number, np.int64) for number, run in ended])[order]
    inner = np.concatenate([np.arange(len(run.severity)) for _, run in ended])[order]
    found = [run for _, run in ended if len(run.severity)]
    shared = [name for name in (found[0].columns if found else ()) if all(name in run.columns for run in found)]
    columns = {name: np.concatenate([run.columns[name] for run in found])[order] for name in shared}

    def event(index: int) -> Any:
        of_one = runs[int(owner[index])].event
        assert of_one is not None
        return of_one(int(inner[index]))

    def show(index: int) -> Finding:
        of_one = runs[int(owner[index])].show
        assert of_one is not None
        return of_one(int(inner[index]))

    first = ended[0][1]
    return AttackRun(
        first.code,
        first.name,
        first.claim,
        status,
        "; ".join(reasons),
        people=max(run.people for _, run in ended),
        undecided=sum(run.undecided for _, run in ended),
        columns=columns | {"release": owner},
        severity=severity[order],
        event=event,
        show=show,
        cautions=tuple(replace(one, release=number) for number, run in ended for one in run.cautions),
    )
