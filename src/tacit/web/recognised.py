"""What a project's files were recognised as: a sentence to correct, columns with roles, and one question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tacit.web import texts
from tacit.web.commands import names_in
from tacit.web.projects import File, Project

FEWEST_PEOPLE = 20  #: Rows of a file that is taken for the data without asking.


@dataclass(frozen=True)
class Column:
    """Column of the files with the role that it has or seems to have."""

    name: str
    role: str
    values: int | None = None


@dataclass(frozen=True)
class Question:
    """The one thing to ask; ``about`` chooses the control below it."""

    about: str
    text: str
    detail: str = ""
    file: str = ""


@dataclass(frozen=True)
class Recognised:
    """Files by the name that the command line gives them, as a process has described them."""

    project: Project
    files: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, project: Project, record: Mapping[str, Any]) -> Recognised:
        """Return what a record of the recognition says."""
        return cls(project, {entry["file"]: entry for entry in record.get("files", ())})

    def entry(self, file: File) -> Mapping[str, Any]:
        """Return what is known about a file."""
        return self.files.get(file.argument, {})

    def having(self, *roles: str) -> list[Mapping[str, Any]]:
        """Return what is known about the files in these roles."""
        return [entry for file in self.project.files if file.role in roles and (entry := self.entry(file))]

    @property
    def releases(self) -> list[Mapping[str, Any]]:
        """Releases that could be read."""
        return [entry for entry in self.having("earlier", "release") if entry["is"] == "release"]

    @property
    def kinds(self) -> set[str]:
        """Kinds of the releases."""
        return {entry["kind"] for entry in self.releases}

    @property
    def n(self) -> int | None:
        """Number of people, if all releases agree."""
        told = {entry["n"] for entry in self.releases}
        return told.pop() if len(told) == 1 else None

    @property
    def missing(self) -> str:
        """Missing mark that the files seem to have."""
        return next((mark for entry in self.files.values() if (mark := entry.get("missing"))), "")

    @property
    def columns(self) -> list[Column]:
        """Columns of all files; what was said wins over headers, headers over guesses."""
        settings = self.project.settings
        found: dict[str, Column] = {}
        for entry in (*self.having("earlier", "release"), *self.having("data", "known")):
            for column in entry.get("columns", ()):
                known = found.get(column["name"])
                role = known.role if known is not None and known.role else column["role"]
                values = column.get("values") or (None if known is None else known.values)
                found[column["name"]] = Column(column["name"], role, values)
        said = {
            **dict.fromkeys(names_in(settings.get("person")), "person"),
            **dict.fromkeys(names_in(settings.get("identifying")), "identifying"),
            **dict.fromkeys(names_in(settings.get("qi")), "known"),
            **dict.fromkeys(names_in(settings.get("sa")), "sensitive"),
        }
        has_said = any(settings.get(name) for name in ("qi", "sa", "identifying", "person"))
        return [replace(one, role=said.get(one.name, "") if has_said else one.role) for one in found.values()]

    def with_role(self, role: str) -> list[str]:
        """Return the names of columns in a role."""
        return [column.name for column in self.columns if column.role == role]

    def describe(self, entry: Mapping[str, Any]) -> str:
        """Return a file as a noun."""
        if entry["is"] == "data":
            if entry["kind"] == "transactions":
                return texts.DATA_BASKETS.format(items=f"{entry['items']:,}")
            return texts.DATA_TABLE.format(columns=len(entry["columns"]))
        one, _ = texts.KINDS.get(entry["kind"], (texts.OTHER_KIND, ""))
        return one.format(lines=f"{entry['lines']:,}", n=f"{entry['n'] or 0:,}")

    def roles(self) -> dict[str, str]:
        """Return the default roles of files: people beside releases are their data."""
        said = {file.role for file in self.project.files if not file.is_guess}
        chosen: dict[str, str] = {}
        for file in self.project.files:
            entry = self.entry(file)
            if not file.is_guess or not entry:
                continue
            is_people = entry["is"] == "data" and _is_of_people(entry)
            if is_people and "data" not in said and "data" not in chosen.values():
                chosen[file.name] = "data"
            elif entry["is"] == "release":
                chosen[file.name] = file.role
        return chosen

    def question(self, missing: Sequence[str]) -> Question | None:
        """Return the first question to answer before the audit can be complete.

        ``missing`` files have to be added first.
        """
        settings = self.project.settings
        if missing:
            return Question("files", texts.FILES_TO_ADD.format(names=", ".join(missing)))
        releases = self.having("earlier", "release")
        if not releases:
            data = next((entry for entry in self.having("data") if entry["is"] == "data"), None)
            return None if data is None else Question("publish", texts.ASK_PUBLISH.format(file=data["file"]), file=data["file"])
        for entry in releases:
            if entry["is"] == "data" and entry.get("columns") and _is_of_people(entry):
                return Question("roles", texts.ASK_ROLES.format(file=entry["file"]), _remark(entry), entry["file"])
            if entry["is"] != "release":
                return Question("kind", texts.ASK_KIND.format(file=entry["file"]), _remark(entry), entry["file"])
        for entry in releases:
            if entry["n"] is None and not settings.get("n"):
                return Question("n", texts.ASK_N.format(file=entry["file"]), file=entry["file"])
        if len(releases) > 1 and self.n is None and not settings.get("people"):
            return Question("people", texts.ASK_PEOPLE)
        needs_roles = [one for one in releases if one["kind"] in ("frequencies", "rules") and not one["has_roles"]]
        if needs_roles and needs_roles[0]["columns"] and not settings.get("sa"):
            return Question("sensitive", texts.ASK_SENSITIVE)
        return None


def _is_of_people(entry: Mapping[str, Any]) -> bool:
    """Return True if a file is long enough to have one row per person."""
    return bool(entry["n"] >= FEWEST_PEOPLE)


def _remark(entry: Mapping[str, Any]) -> str:
    """Return what the program says about a file, without the name of the file."""
    said: str = entry["question"]
    return said.removeprefix(f"{entry['file']}: ")
