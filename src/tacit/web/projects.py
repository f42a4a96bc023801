"""Projects on disk: files with their roles, settings, comments and results.

What a user has said and what was computed lies in a folder of the user's account that nobody else can read, written whole or not at all, so that
neither a crash nor a closed laptop loses it. Files that were sent by the browser are copies of data: they lie in a folder of one run of the
server, which is removed when it ends, or at the next start if it could not end. Files named on the command line stay where they are.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from tacit.files.disk import new_name, replace_file, shown
from tacit.model.errors import InputError, OptionError
from tacit.web import texts

#: What a file is to a project; an earlier release is one that has been published already.
ROLES = ("release", "earlier", "data", "known", "knowledge", "unused")
REGISTERS = "registers"  #: Folder of the registers, beside that of the projects.
_ID = re.compile(r"[0-9a-f]{16}")
_FORMAT = "tacit.project/1"
MOST_FILES = 200
LONGEST_NAME = 120


@dataclass(frozen=True)
class File:
    """File of a project: its name, its role, and what distinguishes its versions."""

    name: str
    role: str
    fingerprint: str
    source: str = ""  #: Absolute path of a file that was named at the start; empty for one that was sent.
    sheet: str = ""  #: Sheet of a workbook; empty: the first that holds a release.
    is_guess: bool = False  #: True until a person or the recognition has said what the file is.
    parts: Mapping[str, str] = field(default_factory=dict)  #: Of a folder that was sent: its files and their SHA-256.

    @property
    def argument(self) -> str:
        """The file as the command line names it."""
        return f"{self.name}#{self.sheet}" if self.sheet else self.name

    def with_part(self, name: str, sha256: str) -> File:
        """Return a folder with one more file."""
        parts = {**self.parts, name: sha256}
        told = "".join(f"{part}\0{parts[part]}\n" for part in sorted(parts))
        return replace(self, parts=parts, fingerprint=hashlib.sha256(told.encode()).hexdigest())


@dataclass(frozen=True)
class Project:
    """State of a project as it lies on disk."""

    id: str
    name: str
    files: tuple[File, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    review: Mapping[str, str] = field(default_factory=dict)
    waivers: tuple[Mapping[str, str], ...] = ()

    def having(self, role: str) -> list[str]:
        """Return the files in a role as the command line names them, in order."""
        return [file.argument for file in self.files if file.role == role]

    def file(self, name: str) -> File | None:
        """Return a file by its name, or None."""
        return next((file for file in self.files if file.name == name), None)

    def with_file(self, added: File) -> Project:
        """Return the project with a file added or replaced."""
        kept = {file.name: file for file in self.files}
        if added.name not in kept and len(kept) >= MOST_FILES:
            raise OptionError(texts.TOO_MANY_FILES.format(most=MOST_FILES), where=added.name, remedy=texts.FEWER_FILES)
        kept[added.name] = added
        return replace(self, files=tuple(kept.values()))

    def without_file(self, name: str) -> Project:
        """Return the project without a file."""
        return replace(self, files=tuple(file for file in self.files if file.name != name))

    def with_roles(self, roles: Mapping[str, str]) -> Project:
        """Return the project with other roles of files."""
        for name, role in roles.items():
            if role not in ROLES:
                raise OptionError(texts.NO_SUCH_ROLE, where=name, remedy=texts.ROLES_ARE.format(roles=", ".join(ROLES)))
        return replace(
            self,
            files=tuple(
                replace(file, role=roles[file.name], is_guess=False) if file.name in roles else file for file in self.files
            ),
        )

    def with_sheets(self, sheets: Mapping[str, str]) -> Project:
        """Return the project with other sheets of workbooks."""
        return replace(self, files=tuple(replace(file, sheet=sheets.get(file.name, file.sheet)) for file in self.files))

    @property
    def relation(self) -> Mapping[str, str]:
        """How the populations of several releases are related, as the fields of a form."""
        told = self.settings.get("people", "")
        moved = dict(re.findall(r"(left|joined):(\d+(?:-\d+)?)", told))
        choice = "moved" if moved and "changed" not in told else told
        return {"choice": choice, "left": moved.get("left", "0"), "joined": moved.get("joined", "0")}

    @property
    def state(self) -> str:
        """Fingerprint of all files, whatever their roles."""
        told = "".join(f"{file.name}\0{file.fingerprint}\n" for file in sorted(self.files, key=lambda file: file.name))
        return hashlib.sha256(told.encode()).hexdigest()[:20]


class Workspace:
    """All projects, and the files of this run of the server."""

    def __init__(self, root: Path, sent: Path, register: Path | None = None) -> None:
        self.root = root
        self.sent = sent
        self.register = register  #: Folder of a register that was named at the start.

    @classmethod
    def opened(cls, sent: Path, register: Path | None = None) -> Workspace:
        """Return the workspace of this account, made if need be."""
        state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
        root = Path(state) / "tacit" / "projects"
        try:
            for made in (root, root.with_name(REGISTERS)):
                made.mkdir(mode=0o700, parents=True, exist_ok=True)
                made.chmod(0o700)
        except OSError as exc:
            what = texts.FOLDER_FAILED.format(reason=exc.strerror)
            raise InputError(what, where=shown(root), remedy=texts.OTHER_FOLDER) from None
        return cls(root, sent, register)

    def projects(self) -> list[Project]:
        """Return the projects, the newest first."""
        folders = [path for path in self.root.iterdir() if _ID.fullmatch(path.name) and (path / "project.json").is_file()]
        folders.sort(key=lambda path: (path / "project.json").stat().st_mtime_ns, reverse=True)
        return [found for path in folders if (found := self._read(path)) is not None]

    def create(self, name: str) -> Project:
        """Return a new project."""
        made = Project(secrets.token_hex(8), name.strip()[:LONGEST_NAME] or texts.UNTITLED)
        self.folder(made.id).mkdir(mode=0o700)
        try:
            self.save(made)
        except Exception:
            self.remove(made)
            raise
        return made

    def get(self, id: str) -> Project | None:
        """Return a project, or None."""
        return self._read(self.root / id) if _ID.fullmatch(id) else None

    def save(self, project: Project) -> None:
        """Write a project, whole or not at all."""
        content = {"format": _FORMAT} | asdict(project)
        with replace_file(self.folder(project.id) / "project.json") as temporary:
            temporary.write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")

    def remove(self, project: Project) -> None:
        """Remove a project, its results and the copies of its files."""
        shutil.rmtree(self.folder(project.id), ignore_errors=True)
        shutil.rmtree(self.sent / project.id, ignore_errors=True)

    def folder(self, id: str) -> Path:
        """Return the folder of a project's state and results."""
        return self.root / id

    def files(self, id: str) -> Path:
        """Return the folder in which a project's files are found by name."""
        folder = self.sent / id
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def has(self, project: Project, file: File) -> bool:
        """Return True if a file is at hand in this run."""
        return (self.files(project.id) / file.name).exists()

    def take_copy(self, project: Project, origin: Path, name: str) -> None:
        """Copy a file or folder to a project's files, whole or not at all."""
        target = self.files(project.id) / name
        temporary = new_name(target.parent)
        try:
            if origin.is_dir():
                shutil.copytree(origin, temporary, symlinks=True)
            else:
                shutil.copyfile(origin, temporary)
                temporary.chmod(0o600)
            make_room(target)
            os.replace(temporary, target)
        finally:
            make_room(temporary)

    def name_files(self, project: Project, paths: list[Path]) -> Project:
        """Return a project with files or folders named at the start.

        They stay where they are.
        """
        for path in paths:
            source = path.resolve()
            header = source.with_name(source.name + ".json")
            for one in (source, header) if header.is_file() else (source,):
                link = self.files(project.id) / safe_name(one.name)
                link.unlink(missing_ok=True)
                link.symlink_to(one, target_is_directory=one.is_dir())
                role = "release" if one == source else "unused"
                known = {file.name: file.role for file in project.files}
                is_guess = one == source and link.name not in known
                made = File(link.name, known.get(link.name, role), fingerprint(one), str(one), is_guess=is_guess)
                project = project.with_file(made)
        self.save(project)
        return project

    def _read(self, folder: Path) -> Project | None:
        try:
            content = json.loads((folder / "project.json").read_bytes())
            files = tuple(File(**one) for one in content["files"])
            waivers = tuple(content.get("waivers", ()))
            return Project(
                folder.name,
                content["name"],
                files,
                settings=content["settings"],
                review=content["review"],
                waivers=waivers,
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None


def make_room(target: Path) -> None:
    """Remove a file, a link, or a folder with its content."""
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target, ignore_errors=True)
    else:
        target.unlink(missing_ok=True)


def fingerprint(path: Path) -> str:
    """Return what distinguishes versions of a file without reading all of it."""
    told = hashlib.sha256()
    for one in sorted(path.rglob("*")) if path.is_dir() else [path]:
        found = one.stat()
        told.update(f"{one.relative_to(path)}\0{found.st_size}\0{found.st_mtime_ns}\0{found.st_ino}\n".encode())
    return told.hexdigest()


def safe_name(name: str) -> str:
    """Return a printable file name that is not a path, an option or a hidden file."""
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    kept = re.sub(r"[^\w.()+, -]", "_", last).strip(" ")
    kept = re.sub(r"^[.,\- ]+", "", kept)
    stem, dot, ending = kept[-LONGEST_NAME:].rpartition(".")
    kept = f"{stem}{dot}{ending}" if stem else kept
    if not kept:
        raise OptionError(texts.NO_USABLE_NAME, where="file", remedy=texts.RENAME)
    return kept[-LONGEST_NAME:]
