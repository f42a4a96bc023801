"""What could be done about an exposed release: every way that was really tried, what became of it, and the command that does it.

A changed release, what the change cost, and the audit of the result.

A bucketized release together with how it was made, and the audit of it.

A partial table together with how its cells were chosen, and the audit of it.

What a repair is given, and what a row of the table of repairs holds.

What a search for repairs is given, what a way to try is, and how ways are tried within the time.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args, overload

from tacit.errors import LimitReached, OptionError, TacitError
from tacit.model.audit import Audit, Verdict
from tacit.model.buckets import Buckets
from tacit.model.partial import PartialTable
from tacit.model.policy import Policy
from tacit.model.release import Changes, Itemsets, Listed, MadeBy, Release
from tacit.model.rounding import Precision
from tacit.model.table import Table, Transactions


@dataclass(frozen=True, slots=True)
class Tried:
    """What a method of repair would come to: the verdict on its result and its cost; ``reason`` says why there is none."""

    method: str
    verdict: Verdict | None
    cost: Mapping[str, Any]
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The attempt as in the record."""
        out: dict[str, Any] = {"method": self.method, "verdict": self.verdict, "cost": dict(self.cost)}
        return out | {"reason": self.reason} if self.reason else out


def repair_record(method: str, before: Audit | None, after: Audit | None, cost: Mapping[str, Any]) -> dict[str, Any]:
    """What the record says about a release that was repaired, or made to be safe."""
    summaries = {"before": before.summary() if before else None, "after": after.summary() if after else None}
    return {"format": "tacit.repair/1", "method": method, **summaries, "cost": dict(cost)}


@dataclass(frozen=True, slots=True, eq=False)
class Repair:
    """What a repair did; it succeeded only when its goal is met.

    The ``goal`` ``"all"`` is met when the audit of the result is clean; ``"frequent-only"`` when I01, the only attack that it asks for, finds
    nothing. The verdict of the audits is that of every audit: with attacks that nobody asked for it is at best incomplete.
    ``remark`` says what else is to be known about how it ended, in a sentence. ``tried`` says what every method would come to, this one
    among them, and ``suggested`` which of those that meet the goal is the cheapest, where methods were compared.
    """

    method: str
    release: Release
    before: Audit
    after: Audit
    cost: Mapping[str, Any]
    suggested: str | None = None
    tried: tuple[Tried, ...] = ()
    remark: str = ""
    goal: str = "all"

    @property
    def ok(self) -> bool:
        """Whether the goal is met."""
        return self.after.asked_verdict == "clean" if self.goal == "frequent-only" else self.after.ok

    def to_dict(self) -> dict[str, Any]:
        """The record."""
        out = repair_record(self.method, self.before, self.after, self.cost) | {"goal": self.goal, "goal_met": self.ok}
        out |= {"remark": self.remark} if self.remark else {}
        return out | {"suggested": self.suggested, "tried": [one.to_dict() for one in self.tried]} if self.tried else out


#: Words in a command that stand for files: what they are called where nobody says which files are meant. A release is ``@0``, ``@1``, ..
PLACES = {"@data": "DATA", "@rows": "ROWS", "@knowledge": "KNOWLEDGE", "@out": "OUT"}


@dataclass(frozen=True, slots=True, eq=False)
class Suggestion:
    """One way that was tried: ``what`` it does, the ``verdict`` of the audit of its result, and what it costs.

    ``verdict`` is None, and ``reason`` says why, where it came to nothing. ``loss`` orders the ways: the smaller, the less is lost, measured as
    ``measured`` says. ``release`` is the result (several where several were audited together), ``after`` its audit. ``commands`` are words of
    command lines, ``@0`` for the first release and so on; :meth:`lines` writes them out.
    """

    method: str
    what: str
    verdict: Verdict | None
    loss: float | None = None
    measured: str = ""
    cost: Mapping[str, Any] = field(default_factory=dict)
    commands: tuple[tuple[str, ...], ...] = ()
    reason: str = ""
    release: Release | tuple[Release, ...] | None = None
    after: Audit | None = None
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether the audit of the result is clean; nothing else makes a suggestion safe."""
        return self.verdict == "clean"

    def lines(self, files: Mapping[str, str] | None = None) -> list[str]:
        """The command lines, with the files that are meant.

        >>> one = Suggestion("round", "", "clean", commands=(("tacit", "repair", "@0", "--base", "5", "-o", "@out"),))
        >>> one.lines(), one.lines({"@0": "my list.csv"})
        (['tacit repair RELEASE --base 5 -o OUT'], ["tacit repair 'my list.csv' --base 5 -o OUT"])
        """
        named = files or {}
        return [" ".join(_word(word, named) for word in command) for command in self.commands]

    def to_dict(self) -> dict[str, Any]:
        """The suggestion as in the record, the same for the same input: without the seconds that it took."""
        out: dict[str, Any] = {"method": self.method, "what": self.what, "verdict": self.verdict, "loss": self.loss}
        out |= {"loss_measure": self.measured or None, "cost": dict(self.cost), "commands": self.lines()}
        return out | {"reason": self.reason} if self.reason else out


def _word(word: str, files: Mapping[str, str]) -> str:
    """A word of a command line as it is typed."""
    if not word.startswith("@"):
        return shlex.quote(word)
    if word in files:
        return shlex.quote(files[word])
    head, _, tail = word.partition("/")
    if head in PLACES:
        return PLACES[head] + (f"-{tail}" if tail else "")
    return "RELEASE" if word == "@0" else f"RELEASE{int(word[1:]) + 1}"


@dataclass(frozen=True, slots=True, eq=False)
class Suggestions(Sequence[Suggestion]):
    """All that was tried, the cheapest clean result first, then what is not clean, then what came to nothing.

    ``files`` says which files the words of commands stand for, ``options`` what is to be added to the commands of a verb. The record names
    neither.
    """

    tried: tuple[Suggestion, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, tried: Sequence[Suggestion]) -> Suggestions:
        """What was tried, put in order."""
        return cls(tuple(sorted(tried, key=_rank)))

    @overload
    def __getitem__(self, index: int) -> Suggestion: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Suggestion, ...]: ...

    def __getitem__(self, index: int | slice) -> Suggestion | tuple[Suggestion, ...]:
        return self.tried[index]

    def __len__(self) -> int:
        return len(self.tried)

    def __iter__(self) -> Iterator[Suggestion]:
        return iter(self.tried)

    @property
    def clean(self) -> tuple[Suggestion, ...]:
        """The ways whose result no attack broke, the cheapest first."""
        return tuple(one for one in self.tried if one.ok)

    @property
    def best(self) -> Suggestion | None:
        """The cheapest way whose result no attack broke."""
        return next(iter(self.clean), None)

    def lines(self, one: Suggestion) -> list[str]:
        """The command lines of a suggestion as they are typed here.

        >>> one = Suggestion("round", "", "clean", commands=(("tacit", "repair", "@0", "-o", "@out"),))
        >>> Suggestions((one,), {"@0": "a.csv", "@out": "b.csv"}, {"repair": ("--n", "70")}).lines(one)
        ['tacit repair a.csv -o b.csv --n 70']
        """
        added = [(*command, *self.options.get(command[1], ())) for command in one.commands]
        return replace(one, commands=tuple(added)).lines(self.files)

    def to_list(self) -> list[dict[str, Any]]:
        """The suggestions as in the record."""
        return [one.to_dict() for one in self.tried]


def _rank(one: Suggestion) -> tuple[int, float]:
    """Clean before incomplete before exposed before not done; among equals the smaller loss."""
    place = {"clean": 0, "incomplete": 1, "exposed": 2, None: 3}[one.verdict]
    return place, float("inf") if one.loss is None else one.loss


@dataclass(frozen=True, slots=True, eq=False)
class Bucketized(Buckets):
    """Groups of people as they may be published, made by ``method``; safe only when ``after``, the audit of them, is clean.

    ``before`` is the audit of the table as it is: everybody's value beside her quasi-identifiers. ``cost`` says what the groups are like,
    ``tried`` what other methods come to, for the same people and the same knowledge.
    """

    method: str = ""
    before: Audit | None = None
    after: Audit | None = None
    cost: Mapping[str, Any] = field(default_factory=dict)
    tried: tuple[Tried, ...] = ()

    @classmethod
    def made(cls, buckets: Buckets, **how: Any) -> Bucketized:
        """The release with how it was made."""
        parts = {part.name: getattr(buckets, part.name) for part in fields(Buckets) if part.init}
        return cls(**parts, **how)

    @property
    def ok(self) -> bool:
        """Whether the release may be published under the policy it was made for."""
        return self.after is not None and self.after.ok

    def to_dict(self) -> dict[str, Any]:
        """The record."""
        tried = [one.to_dict() for one in self.tried]
        return repair_record(self.method, self.before, self.after, self.cost) | {"tried": tried}


#: What becomes of columns without a role: they are left out, or published and protected against.
OtherColumns = Literal["drop", "keep"]
OTHER_COLUMNS: tuple[OtherColumns, ...] = get_args(OtherColumns)


@dataclass(frozen=True, slots=True, eq=False)
class Hidden(PartialTable):
    """A table with cells hidden by ``method``, as it may be published; safe only when ``after``, the audit of it, is clean.

    ``before`` is the audit of the table with nothing but the protected cells hidden. ``cost`` says what was hidden, and what that does to the
    table's use; ``tried``, where something remains, what hiding the same attributes of all sensitive records would come to. ``other_names`` are
    the columns of the data that had no role, and ``other_columns`` says what became of them.
    """

    method: str = ""
    before: Audit | None = None
    after: Audit | None = None
    cost: Mapping[str, Any] = field(default_factory=dict)
    tried: tuple[Tried, ...] = ()
    other_columns: OtherColumns = "drop"
    other_names: tuple[str, ...] = ()

    @classmethod
    def made(cls, partial: PartialTable, **how: Any) -> Hidden:
        """The table with how it was made."""
        parts = {part.name: getattr(partial, part.name) for part in fields(PartialTable) if part.init}
        return cls(**parts, **how)

    @property
    def ok(self) -> bool:
        """Whether the table may be published under the policy it was made for."""
        return self.after is not None and self.after.ok

    def to_dict(self) -> dict[str, Any]:
        """The record."""
        tried = [one.to_dict() for one in self.tried]
        others = {"other_columns": {"rule": self.other_columns, "columns": list(self.other_names)}}
        return repair_record(self.method, self.before, self.after, self.cost) | others | {"tried": tried}


#: Which attacks a repair must defeat: every one that applies, or only those on published itemsets (I01).
Goal = Literal["all", "frequent-only"]
GOALS: tuple[Goal, ...] = ("all", "frequent-only")


@dataclass(frozen=True, slots=True, eq=False)
class RepairCase:
    """A release to be repaired.

    ``audit`` attacks a candidate under the policy and the goal, with the data that the candidate was made from where there are any; ``mine``
    makes a release like this one (same kind, same threshold as a count) from other data, ``mine_all`` one of all frequent itemsets. They are
    handed in, so that repairs share no code with the attacks. ``precision`` is asked for by whoever rounds; ``first_look`` is an audit that may
    stop at its first finding: enough to know the verdict. ``table`` holds the people that rules were made from, with their columns;
    ``most_looks`` is how many audits a search may add that only makes the result better, ``lines`` which lines of the file are to be taken
    out, ``least_base`` the smallest base to round to.
    """

    release: Listed
    k: int
    audit: Callable[[Listed, Transactions | None], Audit]
    mine: Callable[[Transactions], Itemsets]
    mine_all: Callable[[Transactions], Itemsets]
    data: Transactions | None = None
    goal: Goal = "all"
    precision: Precision | None = None
    first_look: Callable[..., Audit] | None = None
    table: Table | None = None
    most_looks: int = 150
    lines: tuple[int, ...] | None = None
    least_base: int = 2

    def look(self, candidate: Listed, data: Transactions | None = None) -> Audit:
        """An audit of a candidate that is enough for its verdict; ``data`` that it is true of refute quickly what is not small."""
        if self.first_look is None:
            return self.audit(candidate, data)
        return self.first_look(candidate) if data is None else self.first_look(candidate, data)


@dataclass(frozen=True, slots=True, eq=False)
class Proposal:
    """A changed release, and the data that it is a true release of (None: it has been cut from the original without new data).

    ``remark`` says in a sentence what the owner should know where the goal is not met.
    """

    release: Listed
    data: Transactions | None = None
    remark: str = ""


@dataclass(frozen=True, slots=True)
class RepairMethod:
    """A row of the table: ``of`` names the kinds of release, ``propose`` returns a changed one. The audit decides whether it is safe.

    ``changes`` is what the header of the result tells its readers about the method.
    """

    name: str
    of: tuple[str, ...]
    needs_data: bool
    propose: Callable[[RepairCase], Proposal]
    summary: str
    source: str
    changes: Changes

    def signed(self, made: Listed, start: Listed) -> Listed:
        """The result with its method in the header, where it differs from what was there before."""
        if made is start:
            return made
        return replace(made, header=replace(made.header, made_by=(*start.header.made_by, MadeBy(self.name, self.changes))))


def itemsets_of(case: RepairCase, name: str) -> Itemsets:
    """The release of a case when it lists all or closed itemsets; other releases are refused."""
    if not isinstance(case.release, Itemsets) or case.release.only == "maximal":
        remedy = "Mine with --only closed or --only all; the supports of subsets follow from neither rules nor maximal itemsets"
        raise OptionError("needs a list of all or of closed itemsets", where=f"--method {name}", remedy=remedy)
    return case.release


#: Words of a command line.
Words = tuple[str, ...]

OUT_OF_TIME = "not done: the time was over"


@dataclass(frozen=True, slots=True, eq=False)
class SuggestCase:
    """An exposed release (or several), its audit, and what the owner can give: ``data``, what is known, the rows to protect."""

    releases: tuple[Release, ...]
    before: Audit
    policy: Policy
    data: Any = None
    known: Any = None
    knowledge: Any = None
    rows: Any = None
    people: Any = None

    @property
    def release(self) -> Release:
        """The release, where there is one."""
        return self.releases[0]

    def policy_words(self, *names: str) -> Words:
        """The options that say what the publisher accepts, where that is not the default."""
        usual = Policy()
        words: list[str] = []
        for name in names:
            value = getattr(self.policy, name)
            if value is not None and value != getattr(usual, name):
                words += ["--" + name.replace("_", "-"), f"{float(value):g}" if not isinstance(value, int) else str(value)]
        return tuple(words)


@dataclass(frozen=True, slots=True, eq=False)
class Done:
    """What a way came to: the result with its audit, what it cost, and how it is done again."""

    release: Release | tuple[Release, ...]
    after: Audit
    loss: float
    measured: str
    cost: Mapping[str, Any]
    commands: tuple[Words, ...]
    what: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """Something to try: ``carry_out`` is given the seconds that it may take, and raises where it comes to nothing."""

    method: str
    what: str
    carry_out: Callable[[float], Done] = field(repr=False)


def tried(ways: Sequence[Way], seconds: float, tell: Callable[[float], None]) -> list[Suggestion]:
    """Every way tried once with half of the time that is left; those that needed more, once more with all that the others left."""
    end = time.monotonic() + seconds
    found: dict[int, Suggestion] = {}
    waiting = list(range(len(ways)))
    for again in (False, True):
        late = []
        for turn, number in enumerate(waiting):
            left = end - time.monotonic()
            if left <= 0:
                found.setdefault(number, _not_done(ways[number], OUT_OF_TIME))
                continue
            last = again or turn == len(waiting) - 1
            one = _tried(ways[number], left if last else left / 2)
            found[number] = one
            late += [number] if one.reason == OUT_OF_TIME else []
            tell((0.8 if again else 0.0) + (0.2 if again else 0.8) * (turn + 1) / len(waiting))
        waiting = late
    return [found[number] for number in sorted(found)]


def _tried(way: Way, seconds: float) -> Suggestion:
    """What became of one way within some seconds; a way that is not possible here says why."""
    start = time.monotonic()
    try:
        done = way.carry_out(seconds)
    except LimitReached:
        return _not_done(way, OUT_OF_TIME)
    except TacitError as error:
        return _not_done(way, f"{error.what}. {error.remedy}")
    took = time.monotonic() - start
    told = (done.after.verdict, done.loss, done.measured, done.cost, done.commands)
    return Suggestion(way.method, done.what or way.what, *told, release=done.release, after=done.after, seconds=took)


def _not_done(way: Way, reason: str) -> Suggestion:
    return Suggestion(way.method, way.what, None, reason=reason)
