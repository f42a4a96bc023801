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
from tacit.formats.releases import is_recognised, read_release, with_source
from tacit.formats.tables import Names
from tacit.model.gathered import AS_TOLD, Gathered, NotRead, Releases, columns_not_read
from tacit.model.release import Release

#: Reads one release; the number says which of all it would be.
Reader = Callable[[Any, int], Release]

#: Files at most that are looked at in one folder.
MOST_FILES = 1_000
#: Files that systems leave in folders.
_OF_SYSTEMS = frozenset({".DS_Store", "Thumbs.db", "desktop.ini", ".gitkeep", ".gitignore", ".gitattributes"})
#: Endings of pages that people read; without a number they say nothing about groups.
_PAGES = frozenset({".html", ".htm", ".md", ".txt", ".rst", ""})
_LARGEST_PAGE = 1 << 24
_HEAD = 1_000
_GENERATOR = '<meta name="generator" content="Tacit '
_WRITTEN_BY = "Written by Tacit "


def read_releases(
    folder: str | Path,
    *,
    n: int | None = None,
    rounding: Any = None,
    complete: bool | None = None,
    qi: Names = (),
    sa: Names = (),
    convention: str | None = None,
    ignore: Names = (),
) -> Releases:
    """The releases in a folder, sorted by name, and the files in it that are none; options are those of :func:`read_release`.

    A pair of tables ``qit.csv`` and ``st.csv`` is one bucketized release, and so is a folder in it that holds such a pair. Files that say how to
    read others (``r.csv.json``) go with these. Files that Tacit wrote, empty ones, pages without a number and those that ``ignore`` names are
    listed as ``ignored``; all others that are no releases as ``not_read``, which makes an audit incomplete.

    Raises
    ------
    InputError
        When there is no such folder, no release in it, or a release in it that cannot be read.
    """
    left_out = ignored_names(ignore)
    options: dict[str, Any] = {"n": n, "rounding": rounding, "complete": complete, "qi": qi, "sa": sa, "convention": convention}
    found = _read_folder(Path(folder), lambda one, _: read_release(one, ignore=left_out, **options), 0, left_out)
    _refuse_unused(left_out, found.ignored, found.releases)
    return found


def ignored_names(names: Names) -> tuple[str, ...]:
    """The names that a caller ignores; a single text is one name, whatever it holds."""
    return (names,) if isinstance(names, str) else tuple(map(str, names or ()))


def gather_releases(given: Any, *, ignore: Names = (), people: Callable[[], int] | None = None, **options: Any) -> Gathered:
    """The releases that a caller gives: one, a folder, or a list of releases, folders and lists; options are those of :func:`read_release`.

    ``people`` says how many people there are, where a release needs it and does not say it.

    >>> gather_releases([])
    Traceback (most recent call last):
    tacit.errors.OptionError: the list: holds 0 releases. Give at least two, or one release by itself.
    """
    if isinstance(given, Gathered):
        return given
    left_out = ignored_names(ignore)

    def read(one: Any, _: int) -> Release:
        try:
            return read_release(one, ignore=left_out, **options)
        except InputError as error:
            if error.asks_for != "n" or people is None:
                raise
        return read_release(one, n=people(), ignore=left_out, **options)

    found = gather([*given] if isinstance(given, (list, tuple)) else [given], read, left_out)
    if isinstance(given, (list, tuple)) and len(found.releases) < 2:
        remedy = "Give at least two, or one release by itself"
        raise OptionError(f"holds {len(found.releases)} releases", where="the list", remedy=remedy)
    return found


def gather(given: Sequence[Any], read: Reader, ignore: Sequence[str] = ()) -> Gathered:
    """All releases that are given: files, folders, lists of both, or releases.

    Each argument is about one group of people, unless it is the only one: then each release may be about another. ``ignore`` names files of
    folders, and columns of files, that say nothing about people.
    """
    found = _gather(given, read, ignore)
    _refuse_unused(ignore, found.ignored, found.releases)
    unread, ignored = columns_not_read(found.releases, _names(found.releases))
    return replace(found, not_read=found.not_read + unread, ignored=found.ignored + ignored)


def _refuse_unused(ignore: Sequence[str], files: Sequence[NotRead], releases: Sequence[Release]) -> None:
    """Refuse a name to ignore that is neither a file of a folder nor a column of a file."""
    used = {part for one in files for part in (one.file, one.file.rpartition("/")[2])}
    used.update(column for release in releases for column in release.header.ignored)
    if any(name not in used and "/".join(Path(os.path.normpath(name)).parts[-2:]) not in used for name in ignore):
        remedy = "Give the name of a file as it stands in its folder, or of a column that is not read"
        raise OptionError("names neither a file of a folder nor a column that is not read", where="--ignore", remedy=remedy)


def _gather(given: Sequence[Any], read: Reader, ignore: Sequence[str]) -> Gathered:
    """All releases that are given, without what their columns leave unread."""
    parts: list[Releases | Release] = []
    total = 0
    for one in given:
        part = _part(one, read, total, ignore)
        parts.append(part)
        total += len(part) if isinstance(part, Releases) else 1
    if len(parts) == 1 and isinstance(parts[0], Releases):
        alone = parts[0]
        return Gathered(alone.releases, tuple(range(len(alone))), _names(alone.releases), alone.not_read, alone.ignored)
    releases: list[Release] = []
    population: list[int] = []
    names: list[str] = []
    not_read: list[NotRead] = []
    ignored: list[NotRead] = []
    for number, part in enumerate(parts):
        own = part.releases if isinstance(part, Releases) else (part,)
        _check_one_group(own, part.name if isinstance(part, Releases) else "")
        releases += own
        population += [number] * len(own)
        not_read += part.not_read if isinstance(part, Releases) else ()
        ignored += part.ignored if isinstance(part, Releases) else ()
        names.append(part.name if isinstance(part, Releases) else "")
    called = _told_apart(releases, given, parts)
    for number, (name, part) in enumerate(zip(names, parts, strict=True)):
        if not name:
            names[number] = f"group {number + 1}" if isinstance(part, Releases) else _names(called)[population.index(number)]
    return Gathered(tuple(called), tuple(population), tuple(names), tuple(not_read), tuple(ignored))


def _part(one: Any, read: Reader, place: int, ignore: Sequence[str]) -> Releases | Release:
    """One argument: a folder or list of releases, or a release."""
    if isinstance(one, Releases):
        return one
    if isinstance(one, (list, tuple)):
        if not one:
            raise OptionError("holds no release", where="the list", remedy="Give at least one release in each list")
        found = _gather([*one], lambda inner, number: read(inner, place + number), ignore) if len(one) > 1 else None
        if found is None:
            return _part(one[0], read, place, ignore)
        return Releases("", found.releases, found.not_read, found.ignored)
    # An empty name is no folder: Path would take it for this one.
    if isinstance(one, (str, os.PathLike)) and os.fspath(one) and _is_folder_of_files(Path(one)):
        return _read_folder(Path(one), read, place, ignore)
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


def _read_folder(folder: Path, read: Reader, place: int, ignore: Sequence[str]) -> Releases:
    if not folder.is_dir():
        raise InputError("is no folder", where=shown(folder), remedy="Give a folder that holds releases")
    name = folder.resolve().name
    releases: list[Release] = []
    not_read: list[NotRead] = []
    ignored: list[NotRead] = []
    for one in _candidates(folder):
        shown_as = f"{name}/{one.name}"
        if _is_named(one, shown_as, ignore):
            ignored.append(NotRead(shown_as, AS_TOLD))
            continue
        if reason := _says_nothing(one):
            ignored.append(NotRead(shown_as, reason))
            continue
        if reason := _no_release(one):
            not_read.append(NotRead(shown_as, reason))
            continue
        try:
            found = read(os.fspath(one), place + len(releases))
        except OptionError:
            raise
        except InputError as error:
            if is_recognised(os.fspath(one)):
                remedy = f"{error.remedy}; or leave the file out with --ignore {shown(one.name)}"
                raise InputError(error.what, where=_in_folder(error.where, one, name), remedy=remedy) from None
            not_read.append(NotRead(shown_as, error.what if error.where == one.name else f"{error.where}: {error.what}"))
            continue
        releases.append(_inside_of(found, name))
    if not releases:
        remedy = "Give a folder with files that tacit mine, tacit tabulate or another tool wrote"
        if any((folder / Path(one.file).name).is_dir() for one in not_read):
            remedy = "Give the folders in it one by one"
        raise InputError("holds no release that Tacit can read", where=shown(folder), remedy=remedy)
    return Releases(f"{name}/", tuple(releases), tuple(not_read), tuple(ignored))


def _in_folder(where: str, path: Path, folder: str) -> str:
    """The place of an error, its file called by its folder as well."""
    told = where.removeprefix(os.fspath(path.parent) + os.sep)
    return f"{folder}/{told}" if told.startswith(path.name) else f"{folder}/{path.name}: {told}"


def _is_named(path: Path, shown_as: str, ignore: Sequence[str]) -> bool:
    """Whether a caller ignores the file: by its name, with its folder, or by its path."""
    return any(os.path.normpath(name) in (path.name, shown_as, os.path.normpath(path)) for name in ignore)


def _candidates(folder: Path) -> Iterator[Path]:
    """The files of a folder that are not read with another one."""
    inside = _inside(folder)
    names = {one.name for one in inside}
    pair = pair_of(folder)
    for one in inside:
        if one.name.endswith(".json") and one.name.removesuffix(".json") in names:
            continue  # the header of a file beside it
        if pair is not None and one in (pair[1], folder / HEADER):
            continue  # read with the first table of the pair
        yield one


def _says_nothing(path: Path) -> str:
    """The reason why a file says nothing about people; empty where it may."""
    if path.name in _OF_SYSTEMS:
        return "belongs to the system, not to a release"
    if path.is_symlink() and not path.exists():
        return ""
    if path.is_dir():
        return "is an empty folder" if not any(path.iterdir()) else ""
    if path.stat().st_size == 0:
        return "is empty"
    if path.name == "tacit.toml":
        return "holds settings"
    if path.suffix == ".json" and _is_record(path):
        return "is a record that Tacit wrote"
    if path.suffix.casefold() not in _PAGES:
        return ""
    text = _text(path)
    if text is None:
        return ""
    if _GENERATOR in text[:_HEAD] or text.rstrip()[-_HEAD:].rpartition("\n")[2].startswith(_WRITTEN_BY):
        return "is a report that Tacit wrote"
    return "" if any(sign.isdigit() for sign in text) else "is a page without numbers"


def _no_release(path: Path) -> str:
    """The reason why a file is not tried as a release; empty where it is."""
    if path.name.startswith("."):
        return "has a name that begins with a dot"
    if path.is_dir():
        return "is a folder, and only releases in the folder that is named are read" if _is_folder_of_files(path) else ""
    if path.suffix.casefold() in (".html", ".htm", ".md"):
        return "is a page, which Tacit does not read"
    return ""


def _text(path: Path) -> str | None:
    """The text of a page of usual size; None where it is none."""
    if path.stat().st_size > _LARGEST_PAGE:
        return None
    try:
        with open_text(os.fspath(path)) as lines:
            return lines.read(_LARGEST_PAGE)
    except TacitError:
        return None


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
