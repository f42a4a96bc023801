"""The verb ``describe``: files recognised and read, without an audit.

A screen of the web application shows what it returns as a sentence that can be corrected; whatever is left open is one question.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from tacit.files.disk import split_sheet
from tacit.files.recognition import as_input
from tacit.files.releases import read_release
from tacit.files.transactions import read_data
from tacit.model.audit import described
from tacit.model.errors import TacitError
from tacit.model.release import Release
from tacit.model.table import Table, Transactions
from tacit.verbs.settings import guess_roles

FORMAT = "tacit.files/1"
MOST_COLUMNS = 100  #: Columns of a file that are listed.

#: Options of :func:`tacit.read_release` that are about every release alike.
READING = ("n", "qi", "sa", "form", "missing", "convention", "complete")


def describe_files(releases: Sequence[str], data: Sequence[str], reading: Mapping[str, Any]) -> dict[str, Any]:
    """Return what each file is: a release, data about people, or neither and why.

    ``reading`` holds options of :func:`tacit.read_release`; its ``by`` is a mapping of names of releases to their columns.
    """
    tables = [_describe_data(path, reading) for path in data]
    columns = [column["name"] for table in tables for column in table.get("columns", ())]
    lists = [_describe_release(path, reading, columns) for path in releases]
    return {"format": FORMAT, "files": [*lists, *tables]}


def _describe_release(path: str, reading: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    options = {name: reading[name] for name in READING if reading.get(name) is not None}
    by = reading.get("by", {})
    if by:
        options["by"] = by.get(path) or by.get("") or ()
    entry: dict[str, Any] = {"file": path, "sheets": _sheets(path)}
    try:
        release = read_release(path, **options, columns=columns)
    except TacitError as error:
        return {**_describe_data(path, reading), **entry, "question": str(error)}
    header = release.header
    told = described(release)
    roles = {**dict.fromkeys(header.sa, "sensitive"), **dict.fromkeys(header.qi, "known")}
    listed = [{"name": name, "role": roles.get(name, "")} for name in _columns(release)[:MOST_COLUMNS]]
    return {
        **entry,
        "is": "release",
        "kind": told["kind"],
        "n": told["n"],
        "n_from": told.get("n_from", ""),
        "lines": told["lines"],
        "columns": listed,
        "has_roles": header.has_roles,
        "is_complete": header.complete,
        "missing": header.missing or "",
        "convention": str(told.get("convention") or ""),
        "assumed": list(header.assumed),
        "question": "",
    }


def _columns(release: Release) -> list[str]:
    """Return the columns that a release is about, in its order."""
    header = release.header
    details = release.details()
    pairs = getattr(getattr(release, "items", None), "pairs", None) or ()
    names = (*details.get("by", ()), *header.columns, *(column for column, _ in pairs), *header.qi, *header.sa)
    return list(dict.fromkeys(names))


def _describe_data(path: str, reading: Mapping[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = {"file": path, "sheets": _sheets(path), "question": ""}
    try:
        people = read_data(path)
    except TacitError as error:
        return {**entry, "is": "unread", "question": str(error)}
    if isinstance(people, Transactions):
        return {**entry, "is": "data", "kind": "transactions", "n": people.n, "items": len(people.items), "columns": []}
    return {**entry, "is": "data", "kind": "table", "n": people.n, **_describe_columns(people, reading)}


def _describe_columns(people: Table, reading: Mapping[str, Any]) -> dict[str, Any]:
    guessed = guess_roles(people)
    roles = {
        **dict.fromkeys(guessed.known, "known"),
        **dict.fromkeys(guessed.identifying, "identifying"),
        **({} if guessed.person is None else {guessed.person: "person"}),
    }
    if reading.get("qi") or reading.get("sa"):
        roles = {name: role for name, role in roles.items() if role in ("identifying", "person")}
        roles |= {**dict.fromkeys(reading.get("qi") or (), "known"), **dict.fromkeys(reading.get("sa") or (), "sensitive")}
    listed = [
        {"name": column.name, "role": roles.get(column.name, ""), "values": len(column.values)}
        for column in people.columns[:MOST_COLUMNS]
    ]
    return {"columns": listed, "missing": guessed.missing or ""}


def _sheets(path: str) -> list[str]:
    """Return the names of the sheets of a workbook."""
    file, _ = split_sheet(path)
    if not os.path.isfile(file):
        return []
    try:
        return list(getattr(as_input(file), "sheets", ()))
    except TacitError:
        return []
