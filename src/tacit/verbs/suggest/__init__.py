"""The verb ``suggest``: try and audit every fitting repair, within the time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from tacit.files.engines import Engine
from tacit.model.audit import Asked, Audit, Progress, silent
from tacit.model.errors import LimitReached, OptionError, RepairError, TacitError
from tacit.model.knowledge import Withheld
from tacit.model.people import People, Same
from tacit.model.policy import Policy, policy_of
from tacit.model.release import Release
from tacit.model.repair import OUT_OF_TIME, Repair, Suggestion, Suggestions, Tried
from tacit.model.table import Names
from tacit.verbs.attacks import building_on
from tacit.verbs.audit import audit
from tacit.verbs.kinds import kind_of

#: Seconds for trying repairs, unless the caller says otherwise.
SECONDS = 10.0
REPAIR_SECONDS = 60.0  #: The same where the cheapest repair is carried out.
LONGEST_SECONDS = 600.0  #: The same where none was clean by then, for those that there was no time for.
Announce = Callable[[str], None]  #: Function that is called with the method of each repair before it is tried.

Words = tuple[str, ...]  #: Words of a command line.


def suggest(
    release: Release | str | Path | Any,
    *,
    data: Any = None,
    known: Any = None,
    knowledge: Any = None,
    withheld: Withheld = "at-threshold",
    rows: Any = None,
    n: int | None = None,
    qi: Names = (),
    sa: Names = (),
    convention: str | None = None,
    people: People | None = None,
    k: int | None = None,
    l: int | None = None,  # noqa: E741 - the letter is the field's own name for it
    max_posterior: float | None = None,
    policy: Policy | Mapping[str, Any] | None = None,
    seconds: float = SECONDS,
    progress: Progress = silent,
    engine: Engine | str | None = None,
) -> Suggestions:
    """Try repairs of an exposed release; return those tried, the cheapest clean one first.

    Parameters
    ----------
    release, data, known, knowledge, withheld, rows, n, qi, sa, convention, people, k, l, max_posterior, policy
        As for :func:`audit`. Without the data only what can be computed from the release alone is tried.
    seconds
        Time for repairs, not counting the audit of the release itself. Repairs that did not fit into it are listed, and say so.
    progress
        Called with the share of the work done, from 0 to 1.
    engine
        Program that merges equal rows of a file (see :func:`tacit.engine`).

    Examples
    --------
    >>> import tacit
    >>> baskets = tacit.read_transactions([["a", "b"]] * 49 + [["a"]] + [["c"]] * 20)
    >>> ways = tacit.suggest(tacit.mine_itemsets(baskets, min_support=20), data=baskets)
    >>> ways.best.method, ways.best.verdict, round(ways.best.loss, 3)
    ('suppressive', 'clean', 0.019)
    >>> ways.best.lines()
    ['tacit repair RELEASE --data DATA --method suppressive -o OUT']
    """
    found = audit(
        release,
        data=data,
        known=known,
        knowledge=knowledge,
        withheld=withheld,
        rows=rows,
        n=n,
        qi=qi,
        sa=sa,
        convention=convention,
        people=people,
        policy=policy_of(policy, k=k, l=l, max_posterior=max_posterior),
        engine=engine,
    )
    return suggestions_of(found, seconds=seconds, progress=progress)


def suggestions_of(found: Audit, *, seconds: float = SECONDS, progress: Progress = silent) -> Suggestions:
    """Try repairs of what was audited, with the inputs of the audit."""
    asked = remembered(found)
    return suggestions_for(found, asked.releases, policy=found.policy, seconds=seconds, progress=progress, **asked.given)


def remembered(found: Audit) -> Asked:
    """Return what was audited; raise if it is not known."""
    asked = found.asked
    if asked is None:
        raise OptionError("does not say what was audited", where="audit", remedy="Audit the release with tacit.audit first")
    stand_alone = len(set(asked.population)) == len(asked.releases)
    if not stand_alone and not isinstance(asked.given["people"], (Same, type(None))):
        what = "several releases are about one of several populations, and are not repaired together"
        raise OptionError(what, where="audit", remedy="Repair the releases of each population by themselves")
    return asked


def suggestions_for(
    found: Audit,
    releases: tuple[Release, ...],
    *,
    policy: Policy,
    seconds: float = SECONDS,
    progress: Progress = silent,
    announce: Announce = lambda _: None,
    only: Set[str] | None = None,
    **given: Any,
) -> Suggestions:
    """Try repairs of releases that are exposed or undecided, or ``only`` those of some methods; none for others."""
    if not 0 < seconds < float("inf"):
        raise OptionError("must be more than 0 seconds", where="--suggest", remedy="Write for instance 10")
    in_order = any(release.header.first_match is not None for release in releases)  # no repair takes rules in order
    if not found.may_be_repaired or in_order:
        return Suggestions()
    case = SuggestCase(releases, found, policy, **given)
    module = "tacit.verbs.suggest.several" if len(releases) > 1 else f"tacit.verbs.suggest.{kind_of(case.release).suggestions}"
    ways: Callable[[SuggestCase], list[Way]] = import_module(module).ways
    chosen = [way for way in ways(case) if only is None or way.method in only]
    with building_on(found):
        return Suggestions.of(try_ways(chosen, seconds, progress, announce), seconds=seconds)


def repair_best(found: Audit, releases: tuple[Release, ...], *, seconds: float | None = None, **given: Any) -> Repair:
    """Carry out the cheapest clean repair of the releases that were audited.

    The options are those of :func:`suggestions_for`. Clean releases stay as they are. If no repair makes the others clean, or the audit lacks
    something, :class:`RepairError` is raised.
    """
    before = releases if len(releases) > 1 else releases[0]
    if found.ok:
        return Repair("none", before, found, found, {}, what="nothing had to be changed", start=before)
    if not found.may_be_repaired:
        what = "the audit is incomplete, so that there is nothing to repair yet"
        raise RepairError(what, where="repair", remedy="Give what it lacks: tacit audit names it")
    tried = suggestions_for(found, releases, seconds=seconds or REPAIR_SECONDS, **given)
    if seconds is None and tried.best is None and tried.late:
        again = suggestions_for(found, releases, seconds=LONGEST_SECONDS, only={one.method for one in tried.late}, **given)
        tried = Suggestions.of([*(one for one in tried if one not in tried.late), *again], seconds=LONGEST_SECONDS)
    best = tried.best
    if best is None or best.release is None or best.after is None:
        outcomes: dict[str, list[str]] = {}
        for one in tried:
            outcome = "not tried (out of time)" if one.reason == OUT_OF_TIME else one.reason.rstrip(".") or str(one.verdict)
            outcomes.setdefault(outcome, []).append(one.method)
        reasons = "; ".join(f"{', '.join(methods)}: {outcome}" for outcome, methods in outcomes.items())
        remedy = "Give more time with --time-limit, or the data with --data, or publish less"
        raise RepairError(
            f"no repair makes it clean ({reasons})" if reasons else "no repair applies", where="repair", remedy=remedy
        )
    return Repair(
        best.method,
        best.release,
        found,
        best.after,
        best.cost,
        suggested=best.method,
        tried=tuple(Tried(one.method, one.verdict, one.cost, one.reason) for one in tried),
        what=best.what,
        start=before,
    )


@dataclass(frozen=True, slots=True, eq=False)
class SuggestCase:
    """Exposed releases, their audit, and further inputs."""

    releases: tuple[Release, ...]
    before: Audit
    policy: Policy
    data: Any = None
    known: Any = None
    knowledge: Any = None
    rows: Any = None
    people: Any = None
    withheld: Withheld = "at-threshold"
    sa_order: Any = ()

    @property
    def release(self) -> Release:
        """The only release, or the first."""
        return self.releases[0]

    @property
    def expectation(self) -> Words:
        """The option for what is expected of withheld numbers, if any."""
        return () if self.withheld == "at-threshold" else ("--withheld", self.withheld)

    def inputs(self, *names: str) -> Words:
        """Return the options for what was given besides the release, by the names of the options."""
        given = {"data": self.data, "known": self.known, "knowledge": self.knowledge}
        return tuple(word for name in names if given[name] is not None for word in (f"--{name}", f"@{name}"))

    def policy_words(self, *names: str) -> Words:
        """Return the options for limits that differ from defaults."""
        usual = Policy()
        words: list[str] = []
        for name in names:
            value = getattr(self.policy, name)
            if value is not None and value != getattr(usual, name):
                words.append("--" + name.replace("_", "-"))
                words.append(str(value) if isinstance(value, int) else f"{float(value):g}")
        return tuple(words)


@dataclass(frozen=True, slots=True, eq=False)
class Done:
    """Result of a repair: audit, cost, and commands."""

    release: Release | tuple[Release, ...]
    after: Audit
    loss: float
    measured: str
    cost: Mapping[str, Any]
    commands: tuple[Words, ...]
    what: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """Repair to try: ``carry_out`` takes seconds, or raises."""

    method: str
    what: str
    carry_out: Callable[[float], Done] = field(repr=False)


def try_ways(
    ways: Sequence[Way], seconds: float, tell: Progress = silent, announce: Announce = lambda _: None
) -> list[Suggestion]:
    """Try every repair in a share of the time, then late ones."""
    end = time.monotonic() + seconds
    found: dict[int, Suggestion] = {}
    waiting = list(range(len(ways)))
    for is_second_round in (False, True):
        late = []
        for turn, number in enumerate(waiting):
            left = end - time.monotonic()
            if left <= 0:
                found.setdefault(number, Suggestion(ways[number].method, ways[number].what, None, reason=OUT_OF_TIME))
                continue
            announce(ways[number].method)
            share = 2 / (len(waiting) - turn + 1)  # twice a fair share; what a quick one leaves is for those after it
            found[number] = _try_way(ways[number], left if is_second_round else left * share)
            if found[number].reason == OUT_OF_TIME:
                late.append(number)
            done = (turn + 1) / len(waiting)
            tell(0.8 + 0.2 * done if is_second_round else 0.8 * done)
        waiting = late
    return [found[number] for number in sorted(found)]


def _try_way(way: Way, seconds: float) -> Suggestion:
    start = time.monotonic()
    try:
        done = way.carry_out(seconds)
    except TacitError as error:
        reason = OUT_OF_TIME if isinstance(error, LimitReached) else f"{error.what}. {error.remedy}"
        return Suggestion(way.method, way.what, None, reason=reason)
    return Suggestion(
        way.method,
        done.what or way.what,
        done.after.verdict,
        loss=done.loss,
        measured=done.measured,
        cost=done.cost,
        commands=done.commands,
        release=done.release,
        after=done.after,
        seconds=time.monotonic() - start,
    )
