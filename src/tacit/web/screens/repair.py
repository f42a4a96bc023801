"""Repair: every repair that was tried with its cost, and one carried out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tacit.model.errors import InputError
from tacit.web import commands, texts
from tacit.web.commands import Command
from tacit.web.projects import Project
from tacit.web.site import Screen, Site, View

SECONDS = 60  #: Time in which repairs are tried.


def _settings(query: Mapping[str, str]) -> Mapping[str, str]:
    choice = query.get("choice", "")
    return {"choice": choice} if choice else {}


def _command(site: Site, project: Project, asked: Mapping[str, str]) -> Command:
    tried = commands.suggest_command(project, SECONDS)
    chosen = asked.get("choice", "")
    return commands.repair_command(project, _options(site, project, tried, chosen)) if chosen else tried


def _options(site: Site, project: Project, tried: Command, chosen: str) -> list[str]:
    """Return the options of a suggestion by its number."""
    job = site.answered(project, tried)
    if job is None:
        raise InputError(texts.NOT_TRIED, where=project.name, remedy=texts.TRY_FIRST)
    ways = {str(number): one["options"] for number, one in enumerate(suggestions(site.jobs.record(project, job)), start=1)}
    if chosen not in ways:
        raise InputError(texts.NO_SUCH_REPAIR, where=project.name, remedy=texts.CHOOSE)
    found: list[str] = ways[chosen]
    return found


def suggestions(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the suggestions of a record with the options that carry them out."""
    made = []
    for one in record.get("suggestions") or []:
        options = [chosen for command in one["commands"] if (chosen := commands.chosen_options(command))]
        loss = one.get("loss")
        finite = isinstance(loss, int | float) and math.isfinite(loss)
        made.append(
            {**one, "options": options[0] if len(one["commands"]) == 1 and options else [], "loss": loss if finite else None}
        )
    return [one for one in made if one["options"]]


def _context(_: Site, __: Project, view: View) -> Mapping[str, Any]:
    return {"suggestions": suggestions(view.record), "seconds": SECONDS}


SCREEN = Screen("repair", settings=_settings, command=_command, context=_context)
