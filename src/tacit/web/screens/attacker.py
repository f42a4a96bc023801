"""Attacker: what somebody has besides the release, as three presets and in detail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.web import commands, texts
from tacit.web.commands import ATTACKER, NOTHING
from tacit.web.projects import Project
from tacit.web.registers import Registers
from tacit.web.screens.open import recognised
from tacit.web.site import Screen, Site, View

#: Presets and what each has of ``ATTACKER``.
PRESETS: Mapping[str, tuple[str, ...]] = {"release": (), "neighbour": ("people", "facts"), "earlier": ("earlier",)}
_LIMITS = ("k", "l", "max-posterior")


def preset_of(project: Project) -> str:
    """Return the preset that a project's attacker is, or nothing if details were chosen."""
    said = project.settings.get("attacker", "")
    for name, parts in PRESETS.items():
        if said == (",".join(parts) or NOTHING):
            return name
    has = tuple(part for part in ATTACKER if _has(project, part))
    if not has:
        return "release"
    if set(has) <= {"people", "facts"}:
        return "neighbour"
    return "earlier" if has == ("earlier",) else ""


def _has(project: Project, part: str) -> bool:
    return commands.has_of_attacker(project, part) and _gives(project, part)


def _gives(project: Project, part: str) -> bool:
    roles = {"people": ("known", "data"), "facts": ("knowledge",), "earlier": ("earlier",)}[part]
    return any(project.having(role) for role in roles)


def _context(site: Site, project: Project, _: View) -> Mapping[str, Any]:
    registers = Registers.of(site.workspace)
    usable = [file for file in project.files if not file.name.endswith(".json")]
    return {
        "texts": texts,
        "presets": {name: ",".join(parts) or NOTHING for name, parts in PRESETS.items()},
        "chosen": preset_of(project),
        "gives": {part: _gives(project, part) for part in ATTACKER},
        "has": {part: _has(project, part) for part in ATTACKER},
        "files": usable,
        "found": recognised(site, project),
        "last": registers.last(project.settings.get("register", "")),
        "settings": {setting.name: setting for setting in commands.SETTINGS if setting.name in texts.SETTINGS},
        "limits": _LIMITS,
    }


SCREEN = Screen("attacker", context=_context)
