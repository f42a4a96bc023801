"""What the publisher accepts, who set it, and which findings somebody accepts nevertheless; the same for every form of report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tacit.model.audit import Audit
from tacit.model.policy import Level

#: What a limit is about, in words.
MEANINGS = {
    "k": "the smallest group that may be computed (safe_threshold)",
    "l": "how many sensitive values everybody must keep",
    "max_posterior": "the largest probability that an estimate may give a sensitive value",
    "max_gain": "by how much an estimate may exceed the share among all people",
    "min_confidence": "a rule tells a blank cell above this confidence",
    "min_support": "... and above this many people",
    "safe_round_base": "the smallest base that a repair rounds counts to",
    "zeros_are_disclosive": "whether frequency tables hide empty cells like small ones",
}
_SET_BY: dict[Level, str] = {
    "option": "an option",
    "data set": "the data set's file",
    "organisation": "the organisation's policy",
    "given": "the caller",
    "default": "default",
}


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit: its name, its value as text, what it means, and who set it."""

    name: str
    value: str
    meaning: str
    set_by: str


def limits(audit: Audit) -> list[Limit]:
    """Every limit of the policy that the audit was judged by."""
    values, origin = audit.policy.to_dict(), audit.policy.set_by
    return [Limit(name, as_text(values[name]), meaning, _SET_BY[origin[name]]) for name, meaning in MEANINGS.items()]


def as_text(value: object) -> str:
    """A limit as it is written in a file.

    >>> as_text(None), as_text(True), as_text(0.8), as_text(10)
    ('not set', 'true', '0.8', '10')
    """
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def set_by(audit: Audit, name: str) -> str:
    """Which option or file set a limit, as a remark behind it; nothing where none did."""
    level = audit.policy.set_by[name]
    if name in audit.policy.overruled:
        asked = as_text(audit.policy.overruled[name])
        return f" (set by {_SET_BY[level]}; the data set's file asks for {asked}, which is looser and does not count)"
    return "" if level in ("default", "given") else f" (set by {_SET_BY[level]})"


@dataclass(frozen=True, slots=True)
class WaiverLine:
    """A waiver as it is told: what it is about, who accepts it and why, until when, and what became of it."""

    about: str
    name: str
    reason: str
    until: str
    outcome: str


def waivers(audit: Audit, kind: Literal["internal", "external"]) -> list[WaiverLine]:
    """The waivers; an external report does not say what they are about, nor why."""
    out = []
    for number, waiver in enumerate(audit.waived.waivers):
        status, found = audit.waived.status(number)
        outcome = {
            "applied": f"accepts {found:,} finding{'' if found == 1 else 's'}",
            "ended": "has ended, and accepts nothing",
            "unmatched": "matches no finding about these people",
        }[status]
        about = waiver.finding or _event(waiver.to_dict()["event"])
        hidden = kind == "external"
        until = waiver.until.isoformat() if waiver.until else "no end"
        out.append(WaiverLine("" if hidden else about, waiver.name, "" if hidden else waiver.reason, until, outcome))
    return out


def _event(event: dict[str, Sequence[object]]) -> str:
    return "; ".join(f"{column}: {', '.join(map(str, values))}" for column, values in event.items())


def waiver_sentences(audit: Audit, kind: Literal["internal", "external"]) -> list[str]:
    """The waivers, one sentence each."""
    out = []
    for line in waivers(audit, kind):
        about = f"{line.about}: " if line.about else ""
        why = f": {line.reason}" if line.reason else ""
        until = "" if line.until == "no end" else f", until {line.until}"
        out.append(f"{about}waived by {line.name}{until}{why} ({line.outcome})")
    if (number := audit.policy.waivers_overruled) > 0:
        many = "1 waiver" if number == 1 else f"{number} waivers"
        out.append(
            f"{many} of the data set's file {'does' if number == 1 else 'do'} not count: the organisation's policy decides"
        )
    return out
