"""The description of a release in the record of an audit."""

from __future__ import annotations

from typing import Any

from tacit.model.buckets import Buckets
from tacit.model.frequencies import FrequencyTable
from tacit.model.partial import PartialTable
from tacit.model.release import Itemsets, Release


def described(release: Release) -> dict[str, Any]:
    """Return what the record says about a release: its kind, its size, its file and how it was read."""
    out: dict[str, Any] = {"kind": release.kind, "n": release.n, "lines": len(release), "min_support": release.min_support}
    if isinstance(release, Buckets):
        out |= {"lines": len(release.value), "groups": len(release)}
    if isinstance(release, PartialTable):
        schema = release.people.schema
        out |= {"qi": list(schema.qi), "sa": list(schema.sa), "blank_cells": dict(release.hidden_by_column())}
    if isinstance(release, Itemsets):
        out["only"] = release.only
    if isinstance(release, FrequencyTable):
        printing = release.printing
        out |= {"tables": len(release.tables()), "hidden_cells": int(release.is_hidden.sum())}
        out |= {"hidden_below": printing.hidden_below, "zeros_shown": printing.zeros_shown, "by": list(release.columns)}
        out |= {} if printing.convention is None else {"convention": printing.convention.name}
        head = release.header
        out |= {"qi": list(head.qi), "sa": list(head.sa) if head.has_roles else None}
    printed = {"base": release.header.base, "digits": release.header.digits, "n_from": release.header.n_from or None}
    out |= {name: value for name, value in printed.items() if value is not None}
    source = release.source
    if source is None:
        return out | {"file": None, "sha256": None, "header_sha256": None, "read": {}}
    return out | {
        "file": source.name,
        "sha256": source.sha256,
        "header_sha256": source.header or None,
        "read": dict(source.options),
    }
