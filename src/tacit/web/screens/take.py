"""Take away: reports, records, the same command elsewhere, and the review."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from tacit.model.errors import OptionError
from tacit.web import commands, texts
from tacit.web.commands import Command
from tacit.web.projects import Project
from tacit.web.site import Screen, Site, View, as_mapping

_REVIEW = ("decision", "by", "comment")
_DECISIONS = ("", "approved", "returned")
_LONGEST = 2_000  #: Letters of a comment.


def _command(_: Site, project: Project, __: Mapping[str, str]) -> Command:
    return commands.take_command(project, "external")


def _context(site: Site, project: Project, _: View) -> Mapping[str, Any]:
    context = {"verdict_command": "", "verdict_job": "", "python": "", "newline": Markup("\n")}
    if not project.having("release"):
        return context
    audit = commands.audit_command(project)
    done = site.answered(project, audit)
    return {
        **context,
        "verdict_command": audit.shown,
        "verdict_job": done.id if done is not None else "",
        "python": commands.python_lines(project),
    }


def _review(project: Project, given: object) -> Project:
    review = {name: str(value).strip()[:_LONGEST] for name, value in as_mapping(given).items() if name in _REVIEW}
    decision = review.get("decision", "")
    if decision not in _DECISIONS or (decision and not review.get("by")):
        raise OptionError(texts.DECISION_NEEDS_NAME, where="review", remedy=texts.GIVE_NAME)
    return replace(project, review=review)


SCREEN = Screen("take", command=_command, context=_context, changes={"review": _review})
