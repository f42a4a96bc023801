"""Release in, findings out: one module per attack, one row each in the table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from tacit.buckets import equally_likely, surviving_correlations, valid_values
from tacit.errors import LimitReached
from tacit.itemsets import inference_channels, unpublished_itemsets
from tacit.joint import certain_values, joint_releases
from tacit.known import sensitive_values
from tacit.model.audit import Attack, AttackRun, Stream, Target
from tacit.model.event import Event, ItemEvent
from tacit.model.numbers import Bound
from tacit.partial import rules_about_blanks, what_blanks_say
from tacit.rules import rule_exceptions

ATTACKS: tuple[Attack, ...] = (
    Attack(
        inference_channels.CODE,
        inference_channels.NAME,
        needs="itemsets",
        claim="proves",
        run=inference_channels.run,
        summary="groups of fewer than k people, by adding and subtracting published supports",
        source="Atzori et al. 2005; PMICD 2008",
    ),
    Attack(
        unpublished_itemsets.CODE,
        unpublished_itemsets.NAME,
        needs="itemsets",
        claim="proves",
        run=unpublished_itemsets.run,
        summary="groups of fewer than k people, through itemsets that a complete list leaves out",
        source="Atzori et al. 2005, section 3; Calders and Goethals 2002",
        reason_against=unpublished_itemsets.reason_against,
    ),
    Attack(
        rule_exceptions.CODE,
        rule_exceptions.NAME,
        needs="rules",
        claim="proves",
        run=rule_exceptions.run,
        summary="the fewer than k people whom a rule leaves out, and groups of fewer than k between several rules",
        source="Atzori et al. 2005, example 1",
    ),
    Attack(
        sensitive_values.CODE,
        sensitive_values.NAME,
        needs="rules",
        claim="estimates",
        run=sensitive_values.run,
        summary="how probable each sensitive value is for whoever has given quasi-identifiers, by maximum entropy",
        source="Zhu, Wang, Du 2009",
    ),
    Attack(
        certain_values.CODE,
        certain_values.NAME,
        needs="rules",
        claim="proves",
        run=certain_values.run,
        summary="sensitive values that nobody with given quasi-identifiers can have, and whoever has one for certain",
        source="ours; Zhu, Wang, Du 2009, examples 1 and 2",
    ),
    Attack(
        valid_values.CODE,
        valid_values.NAME,
        needs="buckets",
        claim="proves",
        run=valid_values.run,
        summary="people of whom fewer than l sensitive values are possible, by negative rules and by who uses the others up",
        source="Li, Li 2008 (Injector)",
    ),
    Attack(
        equally_likely.CODE,
        equally_likely.NAME,
        needs="buckets",
        claim="estimates",
        run=equally_likely.run,
        summary="how probable each sensitive value is for each person of a group, all assignments that fit equally likely",
        source="ours",
    ),
    Attack(
        surviving_correlations.CODE,
        surviving_correlations.NAME,
        needs="buckets",
        claim="estimates",
        run=surviving_correlations.run,
        summary="how probable each sensitive value is for each person of a group, by what all groups show about people like her",
        source="Kifer 2009",
    ),
    Attack(
        rules_about_blanks.CODE,
        rules_about_blanks.NAME,
        needs="table",
        claim="proves",
        run=rules_about_blanks.run,
        summary="blank sensitive cells of a table that a rule tells, which the rest of the table shows",
        source="Li, Shirani-Mehr, Yang 2007",
    ),
    Attack(
        what_blanks_say.CODE,
        what_blanks_say.NAME,
        needs="table",
        claim="estimates",
        run=what_blanks_say.run,
        summary="blank sensitive cells that other readings tell: known values only, blanks that fit anything, what blanks hide, a model",
        source="ours",
    ),
    Attack(
        joint_releases.CODE,
        joint_releases.NAME,
        needs="lines",
        claim="proves",
        run=joint_releases.run,
        summary="groups of fewer than k people that follow from all published lines together, of one release or several",
        source="ours; Dobra, Fienberg 2000",
    ),
)


#: A longer release is not given to the general adversary where another attack has found something.
MOST_LINES = 2_000
#: Findings of other attacks that those of the general adversary are compared with, at most.
MOST_COMPARED = 50_000


def run_attacks(case: Target, asked_for: Collection[str]) -> tuple[AttackRun, ...]:
    """What became of every attack of the table; those that do not apply or were not asked for say so."""
    runs: list[AttackRun] = []
    # Findings of a short release are kept, so that those of the general adversary can be compared with them, and are written afterwards.
    stream = case.stream
    if len(case.release) <= MOST_LINES:
        case = replace(case, stream=None)
    for attack in ATTACKS:
        if attack.needs == "lines" and case.together is None:
            runs.append(attack.skipped("needs lists or tables of counts, or several releases"))
        elif attack.needs not in ("lines", case.release.kind) and not _is_known(attack, case):
            runs.append(attack.skipped(f"needs {_noun(attack.needs)}; the release {_held(case.release.kind)}"))
        elif attack.code not in asked_for:
            runs.append(attack.not_asked(case))
        elif case.first_hit and any(run.findings for run in runs):
            runs.append(AttackRun(attack.code, attack.name, attack.claim, "stopped", "not begun: one finding was enough"))
        elif attack.needs == "lines" and len(case.release) > MOST_LINES and any(run.findings for run in runs):
            reason = f"not begun: the release is exposed already, and has more than {MOST_LINES:,} lines"
            runs.append(AttackRun(attack.code, attack.name, attack.claim, "stopped", reason))
        else:
            found = run_in_time(attack, _in_time(attack, case, asked_for))
            runs.append(_new(found, runs) if attack.needs == "lines" else found)
            _hand_on(runs[-1], stream)
    return tuple(runs)


def run_in_time(attack: Attack, case: Target) -> AttackRun:
    """Run an attack; one that is stopped before it has found anything says so."""
    try:
        return attack.run(case)
    except LimitReached:
        return AttackRun(
            attack.code, attack.name, attack.claim, "stopped", "the time limit was reached before anything was found"
        )


def _in_time(attack: Attack, case: Target, asked_for: Collection[str]) -> Target:
    """The case as an attack gets it: an estimate leaves half of the time to the proofs that are looked for after it."""
    after = ATTACKS[ATTACKS.index(attack) + 1 :]
    proofs = (one for one in after if one.claim == "proves" and one.needs == attack.needs and one.code in asked_for)
    return replace(case, limits=case.limits.part(0.5)) if attack.claim == "estimates" and any(proofs) else case


def _new(run: AttackRun, others: Sequence[AttackRun]) -> AttackRun:
    """The findings of the general adversary that no other attack on the same release tells."""
    told = [one for one in others if one.findings and one.event is not None and one.streamed is None and one.finds_groups]
    if not run.findings or sum(one.findings for one in told) > MOST_COMPARED:
        return run
    known = {_name(one.event(index)) for one in told if one.event is not None for index in range(one.findings)}
    assert run.event is not None
    kept = [index for index in range(run.findings) if _name(run.event(index)) not in known]
    if len(kept) == run.findings:
        return run
    new = run.only(np.array(kept, np.int64))
    return replace(new, people=int(new.columns["count"].max(initial=0)))


def _name(event: Event) -> object:
    """The same for events that say the same of items, in whatever order."""
    return (frozenset(event.present), frozenset(event.absent)) if isinstance(event, ItemEvent) else event


def _is_known(attack: Attack, case: Target) -> bool:
    """Whether an attack on known people has such people before it, whatever the kind of release, or asks about groups of a table."""
    if attack.code == certain_values.CODE and certain_values.asks_groups(case):
        return True
    return case.several is not None and attack.code in (sensitive_values.CODE, certain_values.CODE)


def _noun(kind: str) -> str:
    return "a table" if kind == "table" else kind


def _held(kind: str) -> str:
    told = {"table": "is a table", "frequencies": "is a frequency table"}
    return told.get(kind, f"holds {kind}")


def _hand_on(run: AttackRun, stream: Stream | None) -> None:
    """Write findings to the file that they are wanted in, unless the attack did so itself."""
    event = run.event
    if stream is not None and event is not None and run.streamed is None:
        bounds = (Bound(*pair) for pair in zip(run.columns["count"].tolist(), run.columns["count_hi"].tolist(), strict=True))
        stream.add_events(run.code, ((event(index), count) for index, count in enumerate(bounds)))


__all__ = ["ATTACKS", "Attack", "Target", "run_attacks", "run_in_time"]
