"""Attacks: one module and one row each.

A row is light: the module of an attack is imported when the attack first runs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tacit.model.audit import AttackRun, Audit, Status, Stream, Target
from tacit.model.errors import LimitReached, OptionError, nearest_name
from tacit.model.finding import Claim, comparable
from tacit.model.numbers import Bound
from tacit.model.release import Itemsets, Release, Rules
from tacit.verbs.kinds import KINDS
from tacit.verbs.merging import merge_lists

if TYPE_CHECKING:
    from tacit.joint.lower import JointCase
    from tacit.known.case import PeopleCase

#: Case that an attack takes: that of its kind of release; known people; known people, or else groups of a joint case; a joint case.
Takes = Literal["own", "known", "groups", "joint"]


@dataclass(frozen=True, slots=True)
class Attack:
    """A row of the table.

    ``needs`` names the kind of release, ``takes`` the case, and ``module`` holds the function ``run``. ``unless`` returns why the attack does
    not apply to a release of this kind, or an empty text. ``reads`` names the limits of the policy on which its outcome depends. If it
    ``narrows``, its module has functions ``can_narrow`` and ``narrow``, which make the outcome for a smaller k out of that for a larger one.
    """

    code: str
    needs: str
    claim: Claim
    module: str
    summary: str
    source: str
    takes: Takes = "own"
    unless: Callable[[Any], str] = lambda _: ""
    reads: tuple[str, ...] = ()
    narrows: bool = False

    @property
    def name(self) -> str:
        """The name of its module."""
        return self.module.rpartition(".")[2].replace("_", "-")

    @property
    def run(self) -> Callable[[Target], AttackRun]:
        """The function that carries the attack out."""
        found: Callable[[Target], AttackRun] = import_module(self.module).run
        return found

    def can_narrow(self, target: Target) -> bool:
        """Return True if the outcome for a smaller k follows from that for a larger one."""
        return self.narrows and bool(import_module(self.module).can_narrow(target))

    def narrow(self, run: AttackRun, k: int) -> AttackRun:
        """Return a run as it would be with a smaller k."""
        found: AttackRun = import_module(self.module).narrow(run, k)
        return found

    def end(self, status: Status, reason: str) -> AttackRun:
        """Return the run of an attack without results."""
        return AttackRun(self.code, self.name, self.claim, status, reason)

    def not_asked(self, release: Release) -> AttackRun:
        """Return the run of an attack left out."""
        if reason := self.unless(release):
            return self.end("not-relevant", reason)
        return self.end("not-asked", "it applies, and was not asked for")


def _silence_of_missing(release: Itemsets) -> str:
    """Return why missing itemsets say nothing; empty if they do."""
    if not release.header.complete or release.min_support is None:
        return "the list is not said to be complete above a threshold, so a missing itemset says nothing"
    if release.header.coarser and (release.items.pairs is None or release.only == "maximal"):
        return "coarser values are items as well, and what belongs to one column is never listed together"
    return ""


ATTACKS: tuple[Attack, ...] = (
    Attack(
        code="I01",
        needs="itemsets",
        claim="proves",
        module="tacit.itemsets.inference_channels",
        summary="groups of fewer than k people, by adding and subtracting published supports",
        source="Atzori et al. 2005; PMICD 2008",
        reads=("k",),
        narrows=True,
    ),
    Attack(
        code="I02",
        needs="itemsets",
        claim="proves",
        module="tacit.itemsets.unpublished_itemsets",
        summary="groups of fewer than k people, through itemsets that a complete list leaves out",
        source="Atzori et al. 2005, section 3; Calders and Goethals 2002",
        unless=_silence_of_missing,
        reads=("k",),
        narrows=True,
    ),
    Attack(
        code="R01",
        needs="rules",
        claim="proves",
        module="tacit.rules.rule_exceptions",
        summary="the fewer than k people whom a rule leaves out, and groups of fewer than k between several rules",
        source="Atzori et al. 2005, example 1",
        reads=("k",),
    ),
    Attack(
        code="R02",
        needs="rules",
        claim="estimates",
        module="tacit.known.sensitive_values",
        summary="how probable each sensitive value is for people with given quasi-identifiers, by maximum entropy",
        source="Zhu, Wang, Du 2009",
        takes="known",
        reads=("max_posterior", "max_gain"),
    ),
    Attack(
        code="R03",
        needs="rules",
        claim="proves",
        module="tacit.joint.certain_values",
        summary="sensitive values that nobody with given quasi-identifiers can have, and people whose value is certain",
        source="ours; Zhu, Wang, Du 2009, examples 1 and 2",
        takes="groups",
        reads=("l",),
    ),
    Attack(
        code="B01",
        needs="buckets",
        claim="proves",
        module="tacit.buckets.valid_values",
        summary="people for whom fewer than l sensitive values are possible, by negative rules and by values that others use up",
        source="Li, Li 2008 (Injector)",
        reads=("l",),
    ),
    Attack(
        code="B02",
        needs="buckets",
        claim="estimates",
        module="tacit.buckets.equally_likely",
        summary="how probable each sensitive value is for each person of a group, all assignments that fit equally likely",
        source="ours",
        reads=("l", "max_posterior", "max_gain"),
    ),
    Attack(
        code="B03",
        needs="buckets",
        claim="estimates",
        module="tacit.buckets.surviving_correlations",
        summary="how probable each sensitive value is for each person of a group, by what all groups show about similar people",
        source="Kifer 2009",
        reads=("l", "max_posterior", "max_gain"),
    ),
    Attack(
        code="T01",
        needs="table",
        claim="proves",
        module="tacit.partial.rules_about_blanks",
        summary="blank sensitive cells of a table that follow from a rule, which the rest of the table shows",
        source="Li, Shirani-Mehr, Yang 2007",
        reads=("min_confidence", "min_support"),
    ),
    Attack(
        code="T02",
        needs="table",
        claim="estimates",
        module="tacit.partial.what_blanks_say",
        summary="blank sensitive cells that other readings reveal: known values only, blanks that fit anything, what blanks hide, a model",
        source="ours",
        reads=("min_confidence", "min_support", "max_posterior", "max_gain"),
    ),
    Attack(
        code="T03",
        needs="table",
        claim="proves",
        module="tacit.partial.small_classes",
        summary="people who share their quasi-identifiers with fewer than k-1 others in a table, or all have the same sensitive value",
        source="Sweeney 2002; Machanavajjhala et al. 2006",
        reads=("k", "l", "max_posterior"),
    ),
    Attack(
        code="X01",
        needs="lines",
        claim="proves",
        module="tacit.joint.joint_releases",
        summary="groups of fewer than k people that follow from all published lines together, of one release or several",
        source="ours; Dobra, Fienberg 2000",
        takes="joint",
        reads=("k", "l"),
    ),
)

MOST_LINES = 2_000  #: X01 does not attack a longer release if another attack has found something.
MOST_COMPARED = 50_000  #: Findings of X01 are compared with at most this many findings of other attacks.

ONE_WAS_ENOUGH = "not begun: one finding was enough"


@dataclass(frozen=True, slots=True, eq=False)
class Cases:
    """Releases in the forms that attacks take.

    ``known`` is the case of R02 and R03, one for each of ``columns``, the rules about several sensitive columns, if there are several.
    ``joint`` makes the case of X01, and of R03 if it ``asks_groups``; None where X01 does not apply.
    """

    own: object = None
    known: tuple[PeopleCase | None, ...] = ()
    columns: tuple[Rules, ...] = ()
    joint: Callable[[], JointCase] | None = None
    asks_groups: Callable[[], JointCase] | None = None

    def apply_to(self, attack: Attack, kind: str) -> bool:
        """Tell if an attack applies to this kind."""
        if attack.takes == "joint":
            return self.joint is not None
        if attack.takes == "groups" and self.asks_groups is not None:
            return True
        return attack.needs == kind or (attack.takes in ("known", "groups") and bool(self.known))

    def of(self, attack: Attack) -> object:
        """Return the case that an attack takes."""
        if attack.takes == "joint":
            return None if self.joint is None else self.joint()
        if attack.takes == "own":
            return self.own
        if not self.known and attack.takes == "groups" and self.asks_groups is not None:
            return self.asks_groups()
        return self.known[0] if self.known else None

    def run(self, attack: Attack, target: Target) -> AttackRun:
        """Run an attack on its case, or on that of each sensitive column."""
        whole: Any = target.release  # rules, if there are several sensitive columns
        parts: tuple[Rules, ...] = ()
        cases: tuple[object, ...] = self.known
        if attack.needs == "rules" and len(self.columns) > 1:
            if attack.takes != "own":
                parts = self.columns if self.known else ()
            elif whole.leads_to_one_column:
                # Rules about several columns share antecedents; what is missing, and which values there are, is said of each column.
                parts = (whole, *(part for part in self.columns if len(part)))
                cases = (self.own,) * len(parts)
        if parts:
            runs = []
            for number, (part, case) in enumerate(zip(parts, cases, strict=True)):
                limits = target.limits.part(1 / (len(parts) - number))
                if case is None and attack.takes != "own":
                    runs.append(attack.end("unavailable", "no rule is about this column alone"))
                else:
                    runs.append(run_in_time(attack, replace(target, release=part, case=case, limits=limits)))
            return merge_lists(runs, parts, whole)
        return run_in_time(attack, replace(target, case=self.of(attack)))


def chosen_codes(codes: Collection[str] | None) -> frozenset[str]:
    """Return the codes of the attacks to run."""
    every = [attack.code for attack in ATTACKS]
    for code in codes or ():
        if code not in every:
            raise OptionError(f"there is no attack {code!r}", where="--attack", remedy=nearest_name(code, every, "attacks"))
    return frozenset(every if codes is None else codes)


def run_attacks(target: Target, cases: Cases, chosen: Collection[str]) -> tuple[AttackRun, ...]:
    """Run all applicable, chosen attacks; explain the others."""
    runs: list[AttackRun] = []
    kind = target.release.kind
    is_long = len(target.release) > MOST_LINES
    # Findings of a short release are kept, to be compared with those of X01, and written afterwards.
    stream = target.stream
    if not is_long:
        target = replace(target, stream=None)
    for attack in ATTACKS:
        is_general = attack.takes == "joint"
        is_exposed = any(run.findings for run in runs)
        if not cases.apply_to(attack, kind):
            reason = "needs lists or tables of counts, or several releases"
            if not is_general:
                needed = KINDS[attack.needs].held.partition(" ")[2]  # "itemsets" of "holds itemsets", "a table" of "is a table"
                reason = f"needs {needed}; the release {KINDS[kind].held}"
            runs.append(attack.end("not-relevant", reason))
        elif attack.code not in chosen:
            runs.append(attack.not_asked(target.release))
        elif target.first_hit and is_exposed:
            runs.append(attack.end("stopped", ONE_WAS_ENOUGH))
        elif is_general and is_long and is_exposed and not target.rebuild:
            reason = f"not begun: the release is exposed already, and has more than {MOST_LINES:,} lines"
            runs.append(attack.end("stopped", reason))
        else:
            found = cases.run(attack, _with_time(attack, target, chosen))
            runs.append(_only_new(found, runs) if is_general else found)
            _write_findings(runs[-1], stream)
    return tuple(runs)


Carrier = Callable[[Attack, Target], AttackRun]
_carrier: ContextVar[Carrier] = ContextVar("carrier", default=lambda attack, target: attack.run(target))


@contextmanager
def carried_out_by(carrier: Carrier) -> Iterator[None]:
    """Let ``carrier`` run the attacks of audits inside the block.

    ``carrier`` may return what it knows of an attack instead.
    """
    token = _carrier.set(carrier)
    try:
        yield
    finally:
        _carrier.reset(token)


def building_on(found: Audit) -> AbstractContextManager[None]:
    """Let audits inside the block use what an audit settled, where their releases say no more."""
    settled = next((run.settled() for run in found.runs if run.settled is not None), None)
    carry_out = _carrier.get()

    def carrier(attack: Attack, target: Target) -> AttackRun:
        case: Any = target.case
        if attack.takes == "joint" and settled is not None:
            target = replace(target, case=replace(case, settled=settled))
        return carry_out(attack, target)

    return carried_out_by(carrier)


def run_in_time(attack: Attack, target: Target) -> AttackRun:
    """Run an attack if it applies; report if it was stopped."""
    if reason := attack.unless(target.release):
        return attack.end("not-relevant", reason)
    try:
        return _carrier.get()(attack, target)
    except LimitReached:
        return attack.end("stopped", "the time limit was reached before anything was found")


def _with_time(attack: Attack, target: Target, chosen: Collection[str]) -> Target:
    later = ATTACKS[ATTACKS.index(attack) + 1 :]
    proofs = any(one.claim == "proves" and one.needs == attack.needs and one.code in chosen for one in later)
    return replace(target, limits=target.limits.part(0.5)) if attack.claim == "estimates" and proofs else target


def _only_new(run: AttackRun, others: Sequence[AttackRun]) -> AttackRun:
    """Drop findings of X01 that other attacks have."""
    compared = [one for one in others if one.findings and one.event is not None and one.streamed is None and one.finds_groups]
    if not run.findings or sum(one.findings for one in compared) > MOST_COMPARED:
        return run
    known = {comparable(one.event(index)) for one in compared if one.event is not None for index in range(one.findings)}
    assert run.event is not None
    kept = [index for index in range(run.findings) if comparable(run.event(index)) not in known]
    if len(kept) == run.findings:
        return run
    new = run.only(np.array(kept, np.int64))
    return replace(new, people=int(new.columns["count"].max(initial=0)))


def _write_findings(run: AttackRun, stream: Stream | None) -> None:
    event = run.event
    if stream is not None and event is not None and run.streamed is None:
        bounds = (Bound(*pair) for pair in zip(run.columns["count"].tolist(), run.columns["count_hi"].tolist(), strict=True))
        stream.add_events(run.code, ((event(index), count) for index, count in enumerate(bounds)))
