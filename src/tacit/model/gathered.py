"""Releases that were gathered from files and folders: which of them are about the same people, and what was not read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from tacit.model.release import Release

#: Why something is left out that the caller names.
AS_TOLD = "is ignored, as --ignore says"


@dataclass(frozen=True, slots=True)
class NotRead:
    """A file in a folder, or a column of a file, that was not read, and why."""

    file: str
    reason: str
    column: str = ""

    def to_dict(self) -> dict[str, str]:
        """The entry of the record."""
        out = {"file": self.file, "reason": self.reason}
        return out | {"column": self.column} if self.column else out


@dataclass(frozen=True, slots=True, eq=False)
class Releases(Sequence[Release]):
    """The releases of one folder, in the order of their names, and the files in it that are none.

    ``not_read`` may say something about people, ``ignored`` does not: it belongs to Tacit, or the caller says so. Given beside others, the
    releases are about the same people; by themselves, ``people`` says how their people hang together.
    """

    name: str
    releases: tuple[Release, ...]
    not_read: tuple[NotRead, ...] = ()
    ignored: tuple[NotRead, ...] = ()

    def __len__(self) -> int:
        return len(self.releases)

    @overload
    def __getitem__(self, index: int) -> Release: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Release]: ...

    def __getitem__(self, index: int | slice) -> Release | Sequence[Release]:
        return self.releases[index]

    def __iter__(self) -> Iterator[Release]:
        return iter(self.releases)


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """All releases of an audit: for each the group of people that it is about (``population``), and what these groups are called."""

    releases: tuple[Release, ...]
    population: tuple[int, ...]
    names: tuple[str, ...]
    not_read: tuple[NotRead, ...] = ()
    ignored: tuple[NotRead, ...] = ()

    @property
    def are_grouped(self) -> bool:
        """Whether some group of people has several releases."""
        return len(self.names) < len(self.releases)


def columns_not_read(releases: Sequence[Release], names: Sequence[str]) -> tuple[tuple[NotRead, ...], tuple[NotRead, ...]]:
    """The columns and fields of releases that were not read, and those that the caller ignores."""
    not_read = []
    ignored = []
    for release, name in zip(releases, names, strict=True):
        not_read += [NotRead(name, "is not read", column) for column in release.header.unread]
        ignored += [NotRead(name, AS_TOLD, column) for column in release.header.ignored]
    return tuple(not_read), tuple(ignored)
