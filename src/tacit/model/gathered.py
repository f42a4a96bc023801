"""Releases that were gathered from files and folders: which of them are about the same people, and what was not read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from tacit.model.release import Release


@dataclass(frozen=True, slots=True)
class NotRead:
    """A file in a folder that is no release, and why it was not read as one."""

    file: str
    reason: str

    def to_dict(self) -> dict[str, str]:
        """The file as in the record."""
        return {"file": self.file, "reason": self.reason}


@dataclass(frozen=True, slots=True, eq=False)
class Releases(Sequence[Release]):
    """The releases of one folder, in the order of their names, and the files in it that are none.

    Given beside others, they are about the same people; by themselves, ``people`` says how their people hang together.
    """

    name: str
    releases: tuple[Release, ...]
    not_read: tuple[NotRead, ...] = ()

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

    @property
    def are_grouped(self) -> bool:
        """Whether some group of people has several releases."""
        return len(self.names) < len(self.releases)
