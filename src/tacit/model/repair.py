"""Repaired releases, suggestions, and the table of repairs."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Self, get_args, overload

from tacit.model.audit import Audit, Verdict
from tacit.model.buckets import Buckets
from tacit.model.changes import LineChange, changes_between
from tacit.model.errors import OptionError
from tacit.model.partial import PartialTable
from tacit.model.release import Changes, Header, Itemsets, Listed, MadeBy, Release
from tacit.model.rounding import Precision
from tacit.model.shown import Drawn, Shown
from tacit.model.table import Table, Transactions

#: Attacks that a repair must defeat: all that apply, or only those on published itemsets (I01).
Goal = Literal["all", "frequent-only"]
GOALS: tuple[Goal, ...] = ("all", "frequent-only")
#: What happens to columns without a role: they are left out, or published and protected against.
OtherColumns = Literal["drop", "keep"]
OTHER_COLUMNS: tuple[OtherColumns, ...] = get_args(OtherColumns)


@dataclass(frozen=True, slots=True)
class Tried:
    """Verdict and cost of a repair method, or a reason."""

    method: str
    verdict: Verdict | None
    cost: Mapping[str, Any]
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the attempt as in the record."""
        out: dict[str, Any] = {"method": self.method, "verdict": self.verdict, "cost": dict(self.cost)}
        return out | {"reason": self.reason} if self.reason else out


class Outcome(Shown):
    """Common part of all repairs: origin, audits, cost."""

    __slots__ = ()

    method: str
    before: Audit | None
    after: Audit | None
    cost: Mapping[str, Any]
    tried: tuple[Tried, ...]

    @classmethod
    def made(cls, release: Any, **how: Any) -> Self:
        """Return a release together with how it was made."""
        parts = {part.name: getattr(release, part.name) for part in fields(release) if part.init}
        return cls(**parts | how)

    @property
    def ok(self) -> bool:
        """Tell if the release satisfies its policy."""
        return self.after is not None and self.after.ok

    def to_dict(self) -> dict[str, Any]:
        """Return the record."""
        return self.record() | {"tried": [one.to_dict() for one in self.tried]}

    def record(self) -> dict[str, Any]:
        """Return the common first entries of repair records."""
        return {
            "format": "tacit.repair/1",
            "method": self.method,
            "before": self.before.summary() if self.before else None,
            "after": self.after.summary() if self.after else None,
            "cost": dict(self.cost),
        }


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Repair(Drawn, Outcome):
    """A repaired list; the repair succeeded only if its goal is met.

    The ``goal`` ``"all"`` is met if the audit of the result is clean; ``"frequent-only"`` if I01, the only attack that it asks for, finds
    nothing. With attacks that were not asked for, the verdict of an audit is at best incomplete. ``remark`` adds a sentence on the result.
    ``tried`` holds the result of every method, this one included, and ``suggested`` the cheapest that meets the goal, if methods were compared.
    ``what`` says in words what was done; ``start`` is the release as it was. Several releases that were repaired together are a tuple.
    ``facts`` are further entries of the record.
    """

    method: str
    release: Any
    before: Audit
    after: Audit
    cost: Mapping[str, Any]
    suggested: str | None = None
    tried: tuple[Tried, ...] = ()
    remark: str = ""
    goal: str = "all"
    what: str = ""
    start: Any = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def changes(self) -> tuple[LineChange, ...]:
        """Lines that differ from those of the release that was repaired."""
        old, new = (one if isinstance(one, tuple) else (one,) for one in (self.start, self.release))
        if self.start is None or len(old) != len(new):
            return ()
        pairs = [changes_between(one, other) for one, other in zip(old, new, strict=True)]
        if len(pairs) == 1:
            return pairs[0]
        return tuple(replace(change, release=number) for number, changes in enumerate(pairs) for change in changes)

    @property
    def ok(self) -> bool:
        """True if the goal is met."""
        return self.after.asked_verdict == "clean" if self.goal == "frequent-only" else self.after.ok

    def to_dict(self) -> dict[str, Any]:
        """Return the record."""
        out = self.record() | {"goal": self.goal, "goal_met": self.ok} | dict(self.facts)
        out["changes"] = [change.to_dict() for change in self.changes]
        if self.remark:
            out["remark"] = self.remark
        if self.tried:
            out |= {"suggested": self.suggested, "tried": [one.to_dict() for one in self.tried]}
        return out


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bucketized(Buckets, Outcome):
    """A bucketized release made by ``method``; safe only if ``after``, its audit, is clean.

    ``before`` is the audit of the table itself: everybody's value next to their quasi-identifiers. ``cost`` describes the groups, and ``tried``
    the results of other methods for the same people and the same knowledge.
    """

    method: str = ""
    before: Audit | None = None
    after: Audit | None = None
    cost: Mapping[str, Any] = field(default_factory=dict)
    tried: tuple[Tried, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BucketizedParts(Outcome):
    """A bucketized release of many people, made part by part whenever it is looked at.

    ``parts()`` yields it as releases of whole groups, in the order in which it is published. The rest is as for :class:`Bucketized`.
    """

    n: int
    header: Header
    group_name: str
    parts: Callable[[], Iterator[Buckets]]
    groups: int
    method: str = ""
    before: Audit | None = None
    after: Audit | None = None
    cost: Mapping[str, Any] = field(default_factory=dict)
    tried: tuple[Tried, ...] = ()

    def __len__(self) -> int:
        return self.groups


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Hidden(PartialTable, Outcome):
    """A table with cells hidden by ``method``; safe only if ``after``, its audit, is clean.

    ``before`` is the audit of the table with only the protected cells hidden. ``cost`` says what was hidden, and what that means for the use of
    the table; if something remains, ``tried`` is the result of hiding the same attributes of all sensitive records. ``other_names`` are the
    columns of the data without a role, and ``other_columns`` says what happened to them.
    """

    method: str = ""
    before: Audit | None = None
    after: Audit | None = None
    cost: Mapping[str, Any] = field(default_factory=dict)
    tried: tuple[Tried, ...] = ()
    other_columns: OtherColumns = "drop"
    other_names: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """Return the entries that its record begins with."""
        return {**Outcome.record(self), "other_columns": {"rule": self.other_columns, "columns": list(self.other_names)}}


OUT_OF_TIME = "out of time"  #: Reason of a suggestion that there was not enough time for.
#: Placeholders of files in a command, with their names where no files are given. Releases are ``@0``, ``@1``, ..
PLACES = {"@data": "DATA", "@known": "KNOWN", "@rows": "ROWS", "@knowledge": "KNOWLEDGE", "@out": "OUT"}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Suggestion(Shown):
    """A repair that was tried: ``what`` it does, the ``verdict`` on its result, and its cost.

    ``verdict`` is None, and ``reason`` says why, if there is no result. ``loss`` orders suggestions, the smallest first; ``measured`` says what
    it measures. ``release`` is the result (several if several were audited together), ``after`` its audit. ``commands`` are words of command
    lines, with ``@0`` for the first release and so on; :meth:`lines` writes them out.
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
        """True if the audit of the result is clean; nothing else makes a suggestion safe."""
        return self.verdict == "clean"

    def lines(self, files: Mapping[str, str] | None = None) -> list[str]:
        """Return the command lines, with these files for placeholders.

        >>> one = Suggestion("round", "", "clean", commands=(("tacit", "repair", "@0", "--base", "5", "-o", "@out"),))
        >>> one.lines(), one.lines({"@0": "my list.csv"})
        (['tacit repair RELEASE --base 5 -o OUT'], ["tacit repair 'my list.csv' --base 5 -o OUT"])
        """
        return [" ".join(_word(word, files or {}) for word in command) for command in self.commands]

    def to_dict(self) -> dict[str, Any]:
        """Return the suggestion as in the record, without the seconds that it took."""
        out: dict[str, Any] = {"method": self.method, "what": self.what, "verdict": self.verdict, "loss": self.loss}
        out |= {"loss_measure": self.measured or None, "cost": dict(self.cost), "commands": self.lines()}
        if self.after is not None:
            out["findings"] = sum(run.findings - self.after.waived.number(place) for place, run in enumerate(self.after.runs))
        return out | {"reason": self.reason} if self.reason else out


def _word(word: str, files: Mapping[str, str]) -> str:
    if not word.startswith("@"):
        return shlex.quote(word)
    if word in files:
        return shlex.quote(files[word])
    head, _, tail = word.partition("/")
    if head in PLACES:
        return PLACES[head] + (f"-{tail}" if tail else "")
    return "RELEASE" if word == "@0" else f"RELEASE{int(word[1:]) + 1}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Suggestions(Shown, Sequence[Suggestion]):
    """All repairs that were tried: clean ones first, the cheapest first, then others.

    ``files`` are the files for placeholders; ``options`` are those of the caller, by verbs that take them: each takes the place of the same
    option in a command, or is added to it. ``at_once`` is the command that finds and carries out the best, where releases are not named one by
    one, as in a folder. ``seconds`` is the time that was allowed. The record names none of them.
    """

    tried: tuple[Suggestion, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    seconds: float = 10.0
    at_once: str = ""

    @classmethod
    def of(cls, tried: Sequence[Suggestion], *, seconds: float = 10.0) -> Suggestions:
        """Return suggestions in order."""
        place = {"clean": 0, "incomplete": 1, "exposed": 2, None: 3}
        order = sorted(tried, key=lambda one: (place[one.verdict], float("inf") if one.loss is None else one.loss))
        return cls(tuple(order), seconds=seconds)

    @overload
    def __getitem__(self, index: int) -> Suggestion: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Suggestion, ...]: ...

    def __getitem__(self, index: int | slice) -> Suggestion | tuple[Suggestion, ...]:
        return self.tried[index]

    def __len__(self) -> int:
        return len(self.tried)

    @property
    def clean(self) -> tuple[Suggestion, ...]:
        """Suggestions with a clean result, the cheapest first."""
        return tuple(one for one in self.tried if one.ok)

    @property
    def best(self) -> Suggestion | None:
        """The cheapest suggestion with a clean result."""
        return next(iter(self.clean), None)

    @property
    def late(self) -> tuple[Suggestion, ...]:
        """Suggestions for which there was not enough time."""
        return tuple(one for one in self.tried if one.reason == OUT_OF_TIME)

    @property
    def more_seconds(self) -> int:
        """Return a time that may be enough for them."""
        return 60 * math.ceil(max(60.0, 4 * self.seconds) / 60)

    def lines(self, one: Suggestion) -> list[str]:
        """Return the command lines of a suggestion, with files and options.

        >>> one = Suggestion("round", "", "clean", commands=(("tacit", "repair", "@0", "-o", "@out"),))
        >>> Suggestions((one,), {"@0": "a.csv", "@out": "b.csv"}, {"repair": (("--n", "70"),)}).lines(one)
        ['tacit repair a.csv -o b.csv --n 70']
        """
        if self.at_once:
            return [self.at_once] if one is self.best else []
        commands = [_with_options(command, self.options.get(command[1], ())) for command in one.commands]
        return replace(one, commands=tuple(commands)).lines(self.files)

    def to_list(self) -> list[dict[str, Any]]:
        """Return the suggestions as in the record."""
        return [one.to_dict() for one in self.tried]


def _with_options(command: tuple[str, ...], options: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return a command with these options, each with all its values, in the place of its own."""
    words = list(command)
    for option in options:
        if option[0] in words:
            place = words.index(option[0])
            words[place : place + 2] = option
        else:
            words += option
    return tuple(words)


@dataclass(frozen=True, slots=True, eq=False)
class RepairCase:
    """A release to be repaired.

    ``audit`` attacks a candidate under the policy and the goal; ``mine`` makes a release like this one (same kind and count threshold) from
    other data, ``mine_all`` one of all frequent itemsets. They are passed in, so that repairs share no code with the attacks. ``first_look`` is
    an audit that may stop at its first finding, which is enough for the verdict. ``table`` holds the people that rules were made from;
    ``most_looks`` limits the audits of a search that only improves the result; ``lines`` of the file are to be removed; ``min_support`` is the
    new threshold, as a number of people, if one was chosen.
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
    min_support: int | None = None

    def look(self, candidate: Listed, data: Transactions | None = None) -> Audit:
        """Audit a candidate as far as its verdict needs."""
        if self.first_look is None:
            return self.audit(candidate, data)
        return self.first_look(candidate) if data is None else self.first_look(candidate, data)


@dataclass(frozen=True, slots=True, eq=False)
class Proposal:
    """Changed release, the data it describes, and a remark for the owner."""

    release: Listed
    data: Transactions | None = None
    remark: str = ""


@dataclass(frozen=True, slots=True)
class RepairMethod:
    """Method of repair for some kinds of release.

    ``propose`` takes a :class:`RepairCase` for itemsets and rules, and returns a :class:`Proposal`; methods for tables have cases of their own.
    """

    name: str
    of: tuple[str, ...]
    needs_data: bool
    propose: Callable[[Any], Any]
    summary: str
    source: str
    changes: Changes

    def signed(self, made: Listed, start: Listed) -> Listed:
        """Name the method in the header of a changed result."""
        if made is start:
            return made
        return replace(made, header=replace(made.header, made_by=(*start.header.made_by, MadeBy(self.name, self.changes))))


def itemsets_of(case: RepairCase, name: str) -> Itemsets:
    """Return the release if it lists all or closed itemsets."""
    if case.release.kind != "itemsets" or case.release.only == "maximal":
        remedy = "Mine with --only closed or --only all; the supports of subsets follow from neither rules nor maximal itemsets"
        raise OptionError("needs a list of all or of closed itemsets", where=f"--method {name}", remedy=remedy)
    return case.release
