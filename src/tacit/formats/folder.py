"""Folders of releases: everything in them that is one, and by name everything that is not."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tacit.errors import InputError, OptionError, TacitError
from tacit.formats.buckets import pair_of
from tacit.formats.buckets_header import HEADER
from tacit.formats.files import open_text, shown
from tacit.formats.releases import read_release, with_source
from tacit.formats.tables import Names
from tacit.model.gathered import Gathered, NotRead, Releases
from tacit.model.release import Release

#: Reads one release; the number says which of all it would be.
Reader = Callable[[Any, int], Release]

#: Files at most that are looked at in one folder.
MOST_FILES = 1_000


def read_releases(
    folder: str | Path,
    *,
    n: int | None = None,
    rounding: Any = None,
    complete: bool | None = None,
    qi: Names = (),
    sa: Names = (),
    convention: str | None = None,
) -> Releases:
    """The releases in a folder, sorted by name, and the files in it that are none; options are those of :func:`read_release`.

    A pair of tables ``qit.csv`` and ``st.csv`` is one bucketized release, and so is a folder in it that holds such a pair. Files that say how to
    read others (``r.csv.json``) go with these.

    Raises
    ------
    InputError
        When there is no such folder, or no release in it.
    """
    options: dict[str, Any] = {"n": n, "rounding": rounding, "complete": complete, "qi": qi, "sa": sa, "convention": convention}
    return _read_folder(Path(folder), lambda one, _: read_release(one, **options), 0)


def gather_releases(given: Any, **options: Any) -> Gathered:
    """The releases that a caller gives: one, a folder, or a list of releases, folders and lists; options are those of :func:`read_release`.

    >>> gather_releases([])
    Traceback (most recent call last):
    tacit.errors.OptionError: the list: holds 0 releases. Give at least two, or one release by itself.
    """
    if isinstance(given, Gathered):
        return given
    found = gather([*given] if isinstance(given, (list, tuple)) else [given], lambda one, _: read_release(one, **options))
    if isinstance(given, (list, tuple)) and len(found.releases) < 2:
        remedy = "Give at least two, or one release by itself"
        raise OptionError(f"holds {len(found.releases)} releases", where="the list", remedy=remedy)
    return found


def gather(given: Sequence[Any], read: Reader) -> Gathered:
    """All releases that are given: files, folders, lists of both, or releases.

    Each argument is about one group of people, unless it is the only one: then each release may be about another.
    """
    parts: list[Releases | Release] = []
    total = 0
    for one in given:
        part = _part(one, read, total)
        parts.append(part)
        total += len(part) if isinstance(part, Releases) else 1
    if len(parts) == 1 and isinstance(parts[0], Releases):
        alone = parts[0]
        return Gathered(alone.releases, tuple(range(len(alone))), _names(alone.releases), alone.not_read)
    releases: list[Release] = []
    population: list[int] = []
    names: list[str] = []
    not_read: list[NotRead] = []
    for number, part in enumerate(parts):
        own = part.releases if isinstance(part, Releases) else (part,)
        _check_one_group(own, part.name if isinstance(part, Releases) else "")
        releases += own
        population += [number] * len(own)
        not_read += part.not_read if isinstance(part, Releases) else ()
        names.append(part.name if isinstance(part, Releases) else "")
    called = _told_apart(releases, given, parts)
    for number, (name, part) in enumerate(zip(names, parts, strict=True)):
        if not name:
            names[number] = f"group {number + 1}" if isinstance(part, Releases) else _names(called)[population.index(number)]
    return Gathered(tuple(called), tuple(population), tuple(names), tuple(not_read))


def _part(one: Any, read: Reader, place: int) -> Releases | Release:
    """One argument: a folder or list of releases, or a release."""
    if isinstance(one, Releases):
        return one
    if isinstance(one, (list, tuple)):
        if not one:
            raise OptionError("holds no release", where="the list", remedy="Give at least one release in each list")
        found = gather([*one], lambda inner, number: read(inner, place + number)) if len(one) > 1 else None
        if found is None:
            return _part(one[0], read, place)
        return Releases("", found.releases, found.not_read)
    # An empty name is no folder: Path would take it for this one.
    if isinstance(one, (str, os.PathLike)) and os.fspath(one) and _is_folder_of_files(Path(one)):
        return _read_folder(Path(one), read, place)
    return read(one, place)


def _is_folder_of_files(path: Path) -> bool:
    """Whether a folder holds releases, and is none itself as the parts of a Parquet file or as a pair of tables are."""
    if not path.is_dir():
        return False
    own = [one for one in _inside(path) if one.name != HEADER]
    pair = pair_of(path)
    if pair is not None:
        return any(one not in pair for one in own)
    parts = [one for one in own if one.name.startswith(("part-", "_", "."))]
    return len(parts) < len(own) or not own


def _inside(folder: Path) -> list[Path]:
    found = sorted(folder.iterdir(), key=lambda one: one.name)
    if len(found) > MOST_FILES:
        remedy = "Give a folder that holds releases only"
        raise InputError(f"holds more than {MOST_FILES:,} files", where=shown(folder), remedy=remedy)
    return found


def _read_folder(folder: Path, read: Reader, place: int) -> Releases:
    if not folder.is_dir():
        raise InputError("is no folder", where=shown(folder), remedy="Give a folder that holds releases")
    name = folder.resolve().name
    releases: list[Release] = []
    not_read: list[NotRead] = []
    for one, reason in _candidates(folder):
        shown_as = f"{name}/{one.name}"
        if reason:
            not_read.append(NotRead(shown_as, reason))
            continue
        try:
            found = read(os.fspath(one), place + len(releases))
        except TacitError as error:
            if isinstance(error, OptionError):
                raise
            not_read.append(NotRead(shown_as, error.what if error.where == one.name else f"{error.where}: {error.what}"))
            continue
        releases.append(_inside_of(found, name))
    if not releases:
        remedy = "Give a folder with files that tacit mine, tacit tabulate or another tool wrote"
        if any((folder / Path(one.file).name).is_dir() for one in not_read):
            remedy = "Give the folders in it one by one"
        raise InputError("holds no release that Tacit can read", where=shown(folder), remedy=remedy)
    return Releases(f"{name}/", tuple(releases), tuple(not_read))


def _candidates(folder: Path) -> Iterator[tuple[Path, str]]:
    """The files of a folder, each with the reason why it is no release, where that is known without reading it."""
    inside = _inside(folder)
    names = {one.name for one in inside}
    pair = pair_of(folder)
    for one in inside:
        if one.name.endswith(".json") and one.name.removesuffix(".json") in names:
            continue  # the header of a file beside it
        if pair is not None and one in (pair[1], folder / HEADER):
            continue  # read with the first table of the pair
        yield one, _no_release(one)


def _no_release(path: Path) -> str:
    if path.name.startswith("."):
        return "its name begins with a dot"
    if path.is_dir():
        return "is a folder, and only releases in the folder that is named are read" if _is_folder_of_files(path) else ""
    if path.name == "tacit.toml":
        return "holds settings"
    if path.suffix.casefold() in (".html", ".htm", ".md"):
        return "is a page to be read"
    return "is a record" if path.suffix == ".json" and _is_record(path) else ""


def _is_record(path: Path) -> bool:
    """Whether a file is what a command of Tacit wrote with ``--json``."""
    try:
        with open_text(os.fspath(path)) as lines:
            found = json.load(lines)
    except (ValueError, RecursionError, TacitError):
        return False
    return isinstance(found, dict) and str(found.get("format", "")).startswith("tacit.")


def _inside_of(release: Release, folder: str) -> Release:
    """A release that is called by its folder and its name."""
    return with_source(release, lambda source: replace(source, name=f"{folder}/{source.name}"))


def _told_apart(releases: Sequence[Release], given: Sequence[Any], parts: Sequence[Releases | Release]) -> list[Release]:
    """The releases, those of single files of the same name called by their folders as well."""
    single = {id(part): one for one, part in zip(given, parts, strict=True) if isinstance(one, (str, os.PathLike))}
    names = _names(releases)
    out = []
    for release, name in zip(releases, names, strict=True):
        path = single.get(id(release))
        twice = path is not None and names.count(name) > 1
        out.append(_inside_of(release, Path(path or "").resolve().parent.name) if twice else release)
    return out


def _names(releases: Sequence[Release]) -> tuple[str, ...]:
    return tuple(one.source.name if one.source else f"release {place + 1}" for place, one in enumerate(releases))


def _check_one_group(releases: Sequence[Release], name: str) -> None:
    """Refuse releases that are given as being about the same people and say different numbers of them."""
    if len({one.n for one in releases if one.n is not None}) > 1:
        remedy = (
            "Put the files about each group of people into a folder of their own, or give them one by one, and declare --people"
        )
        what = "is about one group of people, and its files say different numbers of them"
        raise OptionError(what, where=name or "a list of releases", remedy=remedy)
