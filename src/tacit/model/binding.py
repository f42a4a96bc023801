"""The digest that binds a record: whoever edits a word or a number of it by accident is found out.

It is no signature. Whoever forges a record computes it anew; ``tacit verify`` re-checks or re-derives what a record says.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

#: The key under which a record holds its digest.
BINDING = "binding"


def digest(record: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a record without its digest, as canonical JSON.

    >>> digest({"b": 1, "a": 2}) == digest({"a": 2, "b": 1, "binding": "anything"})
    True
    """
    rest = {name: value for name, value in record.items() if name != BINDING}
    plain = json.loads(json.dumps(rest, allow_nan=False))  # names of keys as JSON knows them, before they are sorted
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def bound(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with its digest as the last entry."""
    rest = {name: value for name, value in record.items() if name != BINDING}
    return rest | {BINDING: digest(rest)}
