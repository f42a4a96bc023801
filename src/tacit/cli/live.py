"""Process behind the sliders of ``tacit serve``: an audit whose settings change.

``python -m tacit.cli.live audit RELEASE.. OPTIONS`` reads the releases once. Each line of standard input is a JSON object that asks for a part
of the screen under other settings; each line of standard output is the answer. Whatever a file does, it does to this process alone.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Any

from tacit.cli import reading, watch_parent, watch_signals
from tacit.cli.audit import AuditOptions, audit_command
from tacit.cli.output import Session, watched
from tacit.cli.reading import Settings, load_settings
from tacit.model.errors import InternalError, OptionError, TacitError

if TYPE_CHECKING:
    from tacit.model.policy import Policy
    from tacit.verbs.live import Change, LiveAudit

_LIMITS = ("k", "l")
_CHANGES = ("min-support", "base", "decimals", "cell-base")


def main(words: Sequence[str]) -> int:
    """Answer until standard input ends."""
    watch_signals()
    watch_parent()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a library prints is not an answer
    try:
        kept = _Kept.of(words)
    except Exception as exc:
        _write(answers, {"error": _sentence(exc), "is_over": True})
        return 2
    _write(answers, {"ranges": kept.ranges()})
    for line in sys.stdin:
        _write(answers, kept.answer(json.loads(line)))
    return 0


@dataclass(frozen=True)
class _Kept:
    """Releases as the options name them, read once."""

    settings: Settings[AuditOptions]
    live: LiveAudit

    @classmethod
    def of(cls, words: Sequence[str]) -> _Kept:
        verb, *rest = words
        if verb != "audit":
            raise OptionError("only an audit can be live", where=verb, remedy="Reload the page")
        with audit_command.make_context("tacit audit", rest, obj=Session()) as context:
            asked = AuditOptions(**context.params)
            settings = load_settings(asked, near=asked.data or asked.known, releases=asked.releases)
            gathered, others = reading.read_audit_inputs(asked.releases, settings)
        from tacit.verbs.live import LiveAudit

        others.pop("policy")
        others["attacks"] = [code.upper() for code in asked.attacks] or None
        return cls(settings, LiveAudit(gathered, others))

    def ranges(self) -> list[dict[str, Any]]:
        """Return the settings that can be changed in steps, after a first audit."""
        step = self.live.audit(self._policy({}))
        return [{"name": one.name, "values": list(one.values), "now": one.now} for one in self.live.ranges(step.audit)]

    def answer(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return a part of the screen, or why there is none."""
        from tacit.verbs.live import FOREVER
        from tacit.web.live_view import PARTS, curves

        out: dict[str, Any] = {"id": asked.get("id")}
        try:
            settings = asked["settings"]
            if asked["part"] == "curves":
                policy = self._policy(settings)
                points = {name: self.live.curve(policy, name) for name in _CHANGES}
                lines = sum(release.n_lines for release in self.live.gathered.releases)
                return out | {"html": curves(points, lines), "pending": [], "verdict": ""}
            seconds = FOREVER if asked.get("finishes") else asked.get("seconds")
            with watched("auditing") as progress:
                step = self.live.audit(self._policy(settings), _change(settings), seconds=seconds, progress=progress)
            markup = PARTS[asked["part"]](step, asked.get("query", {}) | {"told": asked.get("told")})
        except Exception as exc:
            return out | {"error": _sentence(exc)}
        return out | {"html": markup, "pending": list(step.pending), "verdict": step.audit.verdict}

    def _policy(self, settings: Mapping[str, str]) -> Policy:
        changed: dict[str, Any] = {name: int(settings[name]) for name in _LIMITS if settings.get(name)}
        given = replace(self.settings.given, **changed)
        return reading.policy_for(self.live.gathered.releases[0], replace(self.settings, given=given))


def _change(settings: Mapping[str, str]) -> Change:
    from tacit.verbs.live import Change

    return next((Change(name, int(settings[name])) for name in _CHANGES if settings.get(name)), Change())


def _sentence(exc: Exception) -> str:
    """Return the sentence about a failure; only errors of Tacit hold no value."""
    if isinstance(exc, TacitError) and not isinstance(exc, InternalError):
        return str(exc)
    if isinstance(exc, MemoryError):
        return "tacit: there is not enough memory. Use a machine with more."
    return f"tacit: this is a bug in Tacit ({type(exc).__name__})."


def _write(answers: IO[str], answer: Mapping[str, Any]) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
