"""Verdict: the report of the audit, for the project's k or another one."""

from __future__ import annotations

from collections.abc import Mapping

from tacit.web import commands
from tacit.web.commands import Command
from tacit.web.projects import Project
from tacit.web.site import Screen, Site


def _settings(query: Mapping[str, str]) -> Mapping[str, str]:
    k = query.get("k", "")
    return {"k": k} if k.isascii() and k.isdigit() and len(k) < 10 else {}


def _command(_: Site, project: Project, asked: Mapping[str, str]) -> Command:
    return commands.audit_command(project, asked)


SCREEN = Screen("verdict", settings=_settings, command=_command)
