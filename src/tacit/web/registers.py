"""Registers of published releases: folders of the workspace, or one named at the start.

The list of a register is read here for its names alone; what it says and whether it is whole is the answer of a command.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.model.errors import OptionError
from tacit.web import texts
from tacit.web.commands import Given
from tacit.web.projects import REGISTERS, Workspace

LISTED = "register.jsonl"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")
_LARGEST = 16 << 20  #: Bytes of a list that is looked into for its last line.


@dataclass(frozen=True)
class Registers:
    """Registers by name."""

    root: Path
    named: Path | None = None

    @classmethod
    def of(cls, workspace: Workspace) -> Registers:
        """Return the registers of a workspace."""
        return cls(workspace.root.with_name(REGISTERS), workspace.register)

    @property
    def names(self) -> list[str]:
        """Names of the registers that there are, the one named at the start first."""
        own = sorted(path.name for path in self.root.glob("*") if (path / LISTED).is_file() and _NAME.fullmatch(path.name))
        return [*([] if self.named is None else [self.named.name]), *own]

    def chosen(self, name: str) -> str:
        """Return the register of a project: as it says, or the first."""
        return name or next(iter(self.names), "")

    def folder(self, name: str) -> Path:
        """Return the folder of a register, which need not exist yet."""
        if self.named is not None and name == self.named.name:
            return self.named
        if not _NAME.fullmatch(name):
            raise OptionError(texts.NO_SUCH_REGISTER, where="register", remedy=texts.REGISTER_NAME)
        return self.root / name

    def exists(self, name: str) -> bool:
        """Return True if the register lists a release."""
        return bool(name) and (self.folder(name) / LISTED).is_file()

    def given(self, name: str, at: int) -> Given:
        """Return the register as a word of a command, in its present version."""
        folder = self.folder(name)
        listed = folder / LISTED
        version = hashlib.sha256(listed.read_bytes()).hexdigest() if listed.is_file() else ""
        return Given(at, place=str(folder), version=version)

    def last(self, name: str) -> dict[str, Any] | None:
        """Return the last entry of a register, if it can be read."""
        name = self.chosen(name)
        if not self.exists(name):
            return None
        listed = self.folder(name) / LISTED
        if listed.stat().st_size > _LARGEST:
            return None
        try:
            lines = listed.read_text("utf-8").splitlines()
            entry = json.loads(lines[-1])
            people = [json.loads(line).get("people") for line in lines]
            found = {key: str(entry[key]) for key in ("population", "file")}
        except (ValueError, IndexError, KeyError, AttributeError):
            return None
        return {**found, "register": name, "people": next((one for one in people if one), "")}
