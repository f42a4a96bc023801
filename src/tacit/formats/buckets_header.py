"""The header file of a bucketized release, ``buckets.json`` beside its two tables: roles, domain, and how it was made."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tacit.errors import InputError
from tacit.formats.files import open_text
from tacit.model.buckets import Buckets
from tacit.model.release import Header
from tacit.model.schema import MISSING_RULES

HEADER = "buckets.json"
FORMAT = "tacit.buckets/1"


@dataclass(frozen=True, slots=True)
class BucketsHeader:
    """What the header says; None or empty where it does not say it."""

    header: Header = field(default_factory=Header)
    group: str | None = None
    sa: str | None = None
    qi: tuple[str, ...] = ()


def read_buckets_header(path: Path) -> BucketsHeader:
    """The header, or an empty one where there is no such file."""
    if not os.path.lexists(path):
        return BucketsHeader()
    with open_text(path) as stream:
        try:
            entries = json.load(stream)
        except (ValueError, RecursionError):
            entries = None
    if not isinstance(entries, dict) or entries.get("format") != FORMAT:
        remedy = f'Write an object with "format": "{FORMAT}", or remove the file'
        raise InputError("is no header of a bucketized release", where=path.name, remedy=remedy)
    text = _Entries(entries, path.name)
    sa = text.one("sa")
    header = Header(
        n=text.whole("n"),
        missing=text.one("missing"),
        missing_rule=text.one("missing_rule", MISSING_RULES),
        sa_values=text.many("sa_values"),
    )
    return BucketsHeader(header, text.one("group"), sa, text.many("qi"))


@dataclass(frozen=True, slots=True)
class _Entries:
    """The entries of the header with their types checked."""

    entries: Mapping[str, Any]
    where: str

    def one(self, key: str, known: tuple[str, ...] = ()) -> str | None:
        """A text."""
        value = self.entries.get(key)
        if value is None or (isinstance(value, str) and (not known or value in known)):
            return value
        raise self._wrong(key, f"must be one of {', '.join(known)}" if known else "must be a text")

    def many(self, key: str) -> tuple[str, ...]:
        """A list of texts."""
        value = self.entries.get(key) or []
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value) or len(set(value)) < len(value):
            raise self._wrong(key, "must be a list of texts, each once")
        return tuple(value)

    def whole(self, key: str) -> int | None:
        """A count."""
        value = self.entries.get(key)
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
            return value
        raise self._wrong(key, "must be a whole number of at least 0")

    def _wrong(self, key: str, what: str) -> InputError:
        return InputError(what, where=f"{self.where}, key {key!r}", remedy="Correct it, or remove the key")


def buckets_header(buckets: Buckets, group: str, facts: Mapping[str, Any]) -> str:
    """The text of the header file; ``facts`` are further entries, such as how the groups were made."""
    header = buckets.header
    entries: dict[str, Any] = {
        "format": FORMAT,
        "n": buckets.n,
        "groups": len(buckets),
        "qi": list(buckets.people.names),
        "sa": buckets.sensitive,
        "sa_values": list(buckets.values),
        "group": group,
        "missing": header.missing,
        "missing_rule": header.missing_rule,
    }
    return json.dumps(entries | dict(facts), indent=2, ensure_ascii=False) + "\n"
