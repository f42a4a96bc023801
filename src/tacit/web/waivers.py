"""Waivers of a review as the file of settings that the program reads."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from tacit.model.errors import OptionError
from tacit.web import texts

FILE_NAME = "review.toml"
KINDS = ("finding", "items", "columns")
MOST = 100
_LONGEST = 1_000
_PEOPLE = re.compile(r"\s*(\d{1,15})\s*(?:(?:-|to|,)\s*(\d{1,15})\s*)?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def check_waiver(given: Mapping[str, object]) -> dict[str, str]:
    """Return a waiver as a project keeps it; raise if a part is missing."""
    kept = {name: str(given.get(name, "")).strip()[:_LONGEST] for name in ("kind", "what", "people", "reason", "name", "until")}
    if kept["kind"] not in KINDS or not kept["what"]:
        raise OptionError(texts.WAIVER_NEEDS_WHAT, where="waiver", remedy=texts.WAIVER_NAMES)
    if not _PEOPLE.fullmatch(kept["people"]):
        raise OptionError(texts.WAIVER_NEEDS_PEOPLE, where="waiver", remedy=texts.WAIVER_NUMBERS)
    if not kept["reason"] or not kept["name"]:
        raise OptionError(texts.WAIVER_NEEDS_REASON, where="waiver", remedy=texts.FILL_IN)
    if kept["until"] and not _DATE.fullmatch(kept["until"]):
        raise OptionError(texts.WAIVER_NEEDS_DATE, where="waiver", remedy=texts.WAIVER_DATE)
    return kept


def has_dates(waivers: Sequence[Mapping[str, str]]) -> bool:
    """Return True if a waiver ends on a day."""
    return any(one["until"] for one in waivers)


def waivers_text(waivers: Sequence[Mapping[str, str]]) -> str:
    """Return the file of settings with these waivers."""
    blocks = []
    for one in waivers:
        names = [name for part in one["what"].split(",") if (name := part.strip())]
        named = names[0] if one["kind"] == "finding" and len(names) == 1 else names
        numbers = [str(int(number)) for number in re.findall(r"\d+", one["people"])]
        people = numbers[0] if len(numbers) == 1 else f"[{', '.join(numbers)}]"
        lines = ["[[waivers]]", f"{one['kind']} = {_toml(named)}", f"people = {people}"]
        lines += [f"reason = {_toml(one['reason'])}", f"name = {_toml(one['name'])}"]
        lines += [f"until = {one['until']}"] if one["until"] else []
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _toml(value: object) -> str:
    """Return a text or a list of texts in TOML, which takes JSON's strings."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
