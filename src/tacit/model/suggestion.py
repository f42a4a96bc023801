"""What could be done about an exposed release: every way that was really tried, what became of it, and the command that does it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

from tacit.model.audit import Audit, Verdict
from tacit.model.release import Release

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
