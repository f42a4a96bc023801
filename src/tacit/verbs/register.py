"""The verb ``register``: published releases, and a new one audited with them.

A register is a folder. ``register.jsonl`` has one line for each published release. Each line holds the SHA-256 of the line before it, so
that no line can be changed, removed or inserted without breaking the chain. The SHA-256 of the last line, the *head*, stands for the whole
register: written down elsewhere, it also shows whether lines were cut off at the end. Copies of the releases are beside it, in one folder for
each population.

Releases of one population are about the same people. How each population is related to the one before it is declared once, with the first
release of the second population.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields, replace
from datetime import date
from pathlib import Path
from typing import Any

from tacit.files.disk import FilePath, Input, made_folder, replace_file, shown
from tacit.files.recognition import BUCKETS_HEADER, pair_of
from tacit.files.releases import gather, name_with_folder, read_release, source_at
from tacit.model.audit import Audit
from tacit.model.errors import InputError, OptionError, TacitError
from tacit.model.people import MOST_POPULATIONS, Churn, Gathered, NotRead, People, Releases, Same, read_people
from tacit.model.release import Release

FORMAT = "tacit.register/1"
LISTED = "register.jsonl"
_LOCK = ".register.lock"
_LARGEST_LINE = 1 << 20
_NAME_SIGNS = frozenset("-_.+ ")
_FORMS = "Write for instance --people left:0-3,joined:0-2; or same, nested, unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Published release, as a line of the register records it.

    ``read`` are the options that it was read with. ``people`` relates its population to the one before, where this is its first release.
    ``previous`` is the SHA-256 of the line before.
    """

    number: int
    population: str
    file: str
    kind: str
    n: int | None
    sha256: str
    header_sha256: str | None
    read: dict[str, Any]
    people: str | None = None
    date: str | None = None
    by: str | None = None
    note: str | None = None
    previous: str = ""

    def to_line(self) -> str:
        """Line of the register, without its end."""
        return json.dumps({"format": FORMAT, **asdict(self)}, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True, eq=False)
class Register:
    r"""Published releases, in order.

    Examples
    --------
    >>> import tacit, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> _ = Path(folder, "ages.csv").write_text("age,count\nold,40\nyoung,60\n")
    >>> register = tacit.Register.open(folder + "/register", create=True)
    >>> register = register.add(folder + "/ages.csv", population="2025", sa="none")
    >>> [(entry.number, entry.population, entry.file, entry.n) for entry in register.entries]
    [(1, '2025', 'ages.csv', 100)]
    >>> register.audit(k=10).verdict
    'clean'
    """

    folder: Path
    entries: tuple[Entry, ...] = ()

    @classmethod
    def open(cls, folder: FilePath, *, create: bool = False) -> Register:
        """Read the register in a folder, and check its chain.

        With ``create``, a folder without a register is an empty one.
        """
        place = Path(folder)
        path = place / LISTED
        if not path.exists():
            if not create:
                remedy = "Name a folder that `tacit register add` made"
                raise InputError("holds no register", where=shown(place), remedy=remedy)
            return cls(place)
        return cls(place, tuple(_read_lines(path)))

    @property
    def populations(self) -> tuple[str, ...]:
        """Names of the populations, in the order in which they came."""
        return tuple(dict.fromkeys(entry.population for entry in self.entries))

    @property
    def people(self) -> People | None:
        """Relation of each population to the one before it."""
        told = next((entry.people for entry in self.entries if entry.people is not None), None)
        return None if told is None else read_people(told)

    @property
    def head(self) -> str:
        """SHA-256 of the last line."""
        return _digest(self.entries[-1].to_line()) if self.entries else ""

    def to_dict(self) -> dict[str, Any]:
        """Record of the register."""
        return {
            "format": FORMAT,
            "releases": [asdict(entry) for entry in self.entries],
            "populations": list(self.populations),
            "people": None if self.people is None else self.people.to_text(),
            "head": self.head,
        }

    def check_copies(self) -> None:
        """Raise if a copy is not the published file."""
        for entry in self.entries:
            self._find(entry)

    def add(
        self,
        path: FilePath,
        *,
        release: Release | None = None,
        population: str | None = None,
        people: People | None = None,
        date: date | None = None,
        by: str | None = None,
        note: str | None = None,
        **reading: Any,
    ) -> Register:
        """Copy a release into the register and write it down; return the longer register.

        Parameters
        ----------
        path
            The file or folder that leaves.
        release
            What was read from it, if it was read already.
        population
            The people that it is about: a name such as ``2025``; by default the newest population.
        people
            How a second population is related to the first; each later one is related to the one before it in the same way.
        date, by, note
            When it leaves, who says so, and anything else.
        **reading
            Options of :func:`tacit.read_release`.
        """
        if release is None:
            release = read_release(path, **reading)
        if release.source is None:
            raise OptionError("is not a file", where="the release", remedy="Write it to a file first")
        name, relation = self._place(population, people, release.n)
        made_folder(self.folder)
        with _locked(self.folder):
            if Register.open(self.folder, create=True).head != self.head:
                remedy = "Run the command again"
                raise InputError("was changed by another program meanwhile", where=shown(self.folder), remedy=remedy)
            file = self._copy(path, name)
            entry = Entry(
                number=len(self.entries) + 1,
                population=name,
                file=file,
                kind=release.kind,
                n=release.n,
                sha256=release.source.sha256,
                header_sha256=release.source.header or None,
                read=json.loads(json.dumps(dict(release.source.options))),
                people=None if relation is None else relation.to_text(),
                date=None if date is None else date.isoformat(),
                by=by,
                note=note,
                previous=self.head,
            )
            longer = replace(self, entries=(*self.entries, entry))
            try:
                longer._read(entry)
                with replace_file(self.folder / LISTED) as temporary:
                    temporary.write_text("".join(one.to_line() + "\n" for one in longer.entries), encoding="utf-8")
            except BaseException:
                self._remove(name, file)
                raise
        return longer

    def gather(self, new: Sequence[Release] = (), *, population: str | None = None, people: People | None = None) -> Gathered:
        """Return all registered releases, and new ones about a population, as one audit takes them."""
        names = list(self.populations)
        relation = self.people
        place = ""
        if new:
            place, declared = self._place(population, people, next((one.n for one in new if one.n is not None), None))
            relation = declared or relation
            names += [] if place in names else [place]
        elif population is not None or people is not None:
            where = "--people" if population is None else "--population"
            raise OptionError("is about a new release, and none is given", where=where, remedy="Remove the option")
        if not names:
            raise InputError("is empty", where=shown(self.folder), remedy="Add published releases with tacit register add")
        comes_and_goes = isinstance(relation, Churn) and relation.left[1] > 0 and relation.joined[1] > 0
        recent = names[-MOST_POPULATIONS:] if comes_and_goes else names
        parts = []
        for name in recent:
            own = [self._read(entry) for entry in self.entries if entry.population == name]
            own += [name_with_folder(release, name) for release in new] if name == place else []
            # In the order of a folder: once the new releases are added, the folders of the register are what was audited.
            parts.append(Releases(f"{name}/", tuple(sorted(own, key=lambda one: one.source.name if one.source else ""))))
        older = [entry for entry in self.entries if entry.population not in recent]
        reason = f"is about an older population than the last {MOST_POPULATIONS}, which are audited together"
        not_read = tuple(NotRead(f"{entry.population}/{entry.file}", reason) for entry in older)
        found = gather(parts, _refuse)
        if len(parts) == 1:
            relation = Same() if len(found.releases) > 1 else None
        return replace(found, not_read=found.not_read + not_read, people=relation)

    def audit(
        self, new: Any = (), *, population: str | None = None, people: People | None = None, n: int | None = None, **options: Any
    ) -> Audit:
        """Audit new releases together with all published ones; options are those of :func:`tacit.audit`."""
        from tacit.verbs.audit import audit

        reading = {name: options.pop(name) for name in ("qi", "sa", "convention", "ignore") if name in options}
        listed = list(new) if isinstance(new, (list, tuple)) else [new]
        read = [read_release(one, n=n, **reading) for one in listed]
        return audit(self.gather(read, population=population, people=people), **options)

    def _place(self, population: str | None, people: People | None, n: int | None) -> tuple[str, People | None]:
        """Return the population of a new release, and the relation that is declared with it."""
        known = self.populations
        name = population
        if name is None:
            if not known:
                remedy = "Name the people that the release is about, for instance --population 2025"
                raise OptionError("is missing", where="--population", remedy=remedy)
            name = known[-1]
            told = {entry.n for entry in self.entries if entry.population == name and entry.n is not None}
            if n is not None and told and n not in told:
                what = f"is missing: the newest population, {name}, has {max(told):,} people, and the release is about {n:,}"
                remedy = f"Name its population with --population; registered: {', '.join(known)}"
                raise OptionError(what, where="--population", remedy=remedy)
        _check_name(name)
        if name in known or not known:
            if people is not None:
                what = "relates a new population to the one before it; this one is registered already"
                what = what if known else "relates a population to the one before it; this is the first"
                raise OptionError(what, where="--people", remedy="Remove the option")
            return name, None
        if self.people is None and people is None:
            remedy = f"Say how its people are related to those of {known[-1]}. {_FORMS}"
            raise OptionError(f"is missing: {name} is a second population", where="--people", remedy=remedy)
        if self.people is not None and people is not None and people != self.people:
            what = f"differs from the declaration of this register, which is {self.people.to_text()} from each population to the next"
            raise OptionError(what, where="--people", remedy="Remove the option, or keep these releases in another register")
        return name, people if self.people is None else None

    def _copy(self, path: FilePath, population: str) -> str:
        """Copy a release with its header; return the name of the copy."""
        whole = os.fspath(path)
        file, mark, sheet = (whole, "", "") if os.path.exists(whole) else whole.rpartition("#")
        pair = pair_of(file)
        origin = Path(file).resolve() if pair is None else pair[0].resolve().parent
        name = origin.name
        if name in {entry.file.partition("#")[0] for entry in self.entries if entry.population == population}:
            name = f"{len(self.entries) + 1}-{name}"
        folder = self.folder / population
        folder.mkdir(exist_ok=True)
        target = folder / name
        shutil.rmtree(target, ignore_errors=True)  # left over by a run that was killed
        if pair is not None:
            target.mkdir()
            for one in (*pair, origin / BUCKETS_HEADER):
                if one.is_file():
                    shutil.copyfile(one, target / one.name)
            return name
        if origin.is_dir():
            shutil.copytree(origin, target)
        else:
            _copy_file(origin, target)
        header = Path(Input(file).beside.path)
        if header.is_file():
            _copy_file(header, Path(Input(os.fspath(target)).beside.path))
        return name + mark + sheet

    def _remove(self, population: str, file: str) -> None:
        target = self.folder / population / file.partition("#")[0]
        with suppress(OSError):
            if target.is_dir():
                shutil.rmtree(target)
            else:
                target.unlink()
        with suppress(OSError):
            Path(Input(os.fspath(target)).beside.path).unlink()
        with suppress(OSError):
            target.parent.rmdir()

    def _read(self, entry: Entry) -> Release:
        return name_with_folder(read_release(self._find(entry), **entry.read), entry.population)

    def _find(self, entry: Entry) -> str:
        """Return the path of a copy, which must be the published file."""
        path = os.fspath(self.folder / entry.population / entry.file)
        where = f"{entry.population}/{entry.file}"
        try:
            source = source_at(path)
        except TacitError:
            remedy = "Restore the copy of the release"
            raise InputError("is registered, and cannot be read any more", where=where, remedy=remedy) from None
        if (source.sha256, source.header or None) != (entry.sha256, entry.header_sha256):
            remedy = "Restore the published file and its header"
            raise InputError("is not the file that was registered (its SHA-256 differs)", where=where, remedy=remedy)
        return path


def _refuse(one: Any, _: int) -> Release:
    raise AssertionError("releases of a register are read before they are gathered")


def _read_lines(path: Path) -> Iterator[Entry]:
    previous = ""
    with Input(path).open_text() as stream:
        lines = stream.read().split("\n")
    for number, line in enumerate(lines[:-1], start=1):
        entry = _parse(line)
        if entry is None:
            remedy = "Restore the register from a copy"
            raise InputError("is not a line of a register", where=f"{LISTED}, line {number}", remedy=remedy)
        if (entry.number, entry.previous, entry.to_line()) != (number, previous, line):
            what = "does not follow from the line before it: the register was changed after it was written"
            raise InputError(what, where=f"{LISTED}, line {number}", remedy="Restore the register from a copy")
        yield entry
        previous = _digest(line)
    if lines[-1]:
        remedy = "Restore the register from a copy"
        raise InputError("has an unfinished last line", where=LISTED, remedy=remedy)


#: Types that the entries of a line must have.
_TYPES: dict[str, tuple[type, ...]] = {
    "number": (int,),
    "n": (int, type(None)),
    "read": (dict,),
    **dict.fromkeys(("population", "file", "kind", "sha256", "previous"), (str,)),
    **dict.fromkeys(("header_sha256", "people", "date", "by", "note"), (str, type(None))),
}


def _parse(line: str) -> Entry | None:
    try:
        found = json.loads(line) if len(line) <= _LARGEST_LINE else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.pop("format", None) != FORMAT or set(found) != {one.name for one in fields(Entry)}:
        return None
    if not all(isinstance(found[name], kinds) and type(found[name]) is not bool for name, kinds in _TYPES.items()):
        return None
    entry = Entry(**found)
    inside = (entry.population, entry.file.partition("#")[0])
    return entry if all(part not in ("", ".", "..") and "/" not in part and os.sep not in part for part in inside) else None


def _digest(line: str) -> str:
    return hashlib.sha256(line.encode()).hexdigest()


def _check_name(name: str) -> None:
    if not name or name[0] in " ." or len(name) > 80 or not all(sign.isalnum() or sign in _NAME_SIGNS for sign in name):
        remedy = "Use letters, digits, - and _, for instance 2025 or patients-2025"
        raise OptionError("is not a name for a folder", where="--population", remedy=remedy)


def _copy_file(origin: Path, target: Path) -> None:
    with replace_file(target) as temporary:
        shutil.copyfile(origin, temporary)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let one program at a time write to a register."""
    with suppress(ImportError):
        import fcntl

        with open(folder / _LOCK, "w") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            yield
        return
    yield
