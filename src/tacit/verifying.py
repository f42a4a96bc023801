"""The verb that re-checks an audit: every proved finding of its record, by its certificate and the published lines alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tacit.checker import check_audit
from tacit.errors import InputError
from tacit.formats.files import open_text, shown
from tacit.formats.folder import gather
from tacit.formats.knowledge import read_knowledge
from tacit.formats.releases import read_release
from tacit.model.audit import Audit
from tacit.model.table import Table
from tacit.model.verification import Verification

__all__ = ["read_record", "verify"]


def verify(
    record: Audit | Mapping[str, Any] | str | Path, releases: Any, *, known: Table | None = None, knowledge: Any = None
) -> Verification:
    """How many proved findings of an audit hold, of which attack, and what is wrong with the others.

    The checker shares no code with the attacks: it looks up each line that a certificate cites and redoes its arithmetic in whole numbers.

    Parameters
    ----------
    record
        What ``tacit audit --json`` wrote (the file, or what is read from it), or an audit, whose ten worst findings are then checked.
    releases
        The release that the audit is about, or a list of them in the same order: read ones, folders of them, or anything
        :func:`read_release` takes.
    known
        For findings about people who are known (R03): everybody's quasi-identifiers, to count them anew instead of trusting the record.
    knowledge
        For bucketized releases: the facts that the audit was given, to compare them instead of trusting the record.

    Examples
    --------
    >>> import tacit
    >>> baskets = tacit.read_transactions([["a", "b"]] * 49 + [["a"]] + [["c"]] * 20)
    >>> itemsets = tacit.mine_itemsets(baskets, min_support=20)
    >>> record = tacit.audit(itemsets).to_dict()
    >>> tacit.verify(record, itemsets).ok
    True
    >>> record["findings"][0]["count"] = [2, 2]
    >>> tacit.verify(record, itemsets).problems
    ('I01-d09f32c01c6f: its lines give 1 to 1, not 2 to 2',)
    """
    told = record.to_dict() if isinstance(record, Audit) else record if isinstance(record, Mapping) else read_record(record)
    listed = list(releases) if isinstance(releases, (list, tuple)) else [releases]
    facts = None if knowledge is None else read_knowledge(knowledge)
    read = gather(listed, lambda one, _: read_release(one)).releases
    return check_audit(told, read, known=known, knowledge=facts)


def read_record(path: str | Path) -> Mapping[str, Any]:
    """The record of an audit, as ``tacit audit --json`` wrote it."""
    remedy = "Give the file that `tacit audit --json` wrote"
    try:
        with open_text(path) as lines:
            record = json.load(lines)
    except (ValueError, RecursionError):
        raise InputError("is not a record of an audit", where=shown(path), remedy=remedy) from None
    if not isinstance(record, Mapping):
        raise InputError("is not a record of an audit", where=shown(path), remedy=remedy)
    return record
