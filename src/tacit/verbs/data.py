"""The owner's data, read with the roles that a release gives columns."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tacit.files.engines import Engine, as_engine
from tacit.files.inputs import people_of
from tacit.files.tables import columns_of, read_table
from tacit.model.arrays import Ints
from tacit.model.people import as_released
from tacit.model.release import Header, Items, Release
from tacit.model.table import Hierarchy, Table, Transactions, require_column
from tacit.verbs.kinds import kind_of


def owners_people(release: Release, data: Any) -> Table | Transactions | None:
    """Return the owner's data, with the release's roles.

    None for a partial table, which is compared with its original.
    """
    kind = kind_of(release)
    if data is None or kind.takes_rows:
        return None
    people = people_of(data, **roles_of(kind.reading_header(release)))
    person = release.header.person
    if person is not None and isinstance(people, Table):
        for name in (person, *release.header.columns):
            require_column(name, people.names, where="--data")
        people = people.by_person(person, release.header.columns)
    kind.check_people(release, people)
    if isinstance(people, Table):
        people = without_columns(people, [one.column for one in release.header.left_out])
    return as_released(people, [release]) if isinstance(people, Table) else people


def merge_data(releases: Sequence[Release], data: Any, engine: Engine | str | None) -> Any:
    """Return a file of the owner's data as rows that an engine merged; the original of a table with blanks stays as it is."""
    if engine is None:
        return data
    first = first_with_roles(releases, data)
    kind = kind_of(first)
    if kind.takes_rows or not isinstance(data, (str, os.PathLike)):
        return data
    return people_of(data, **roles_of(kind.reading_header(first)), engine=as_engine(engine))


def merge_known(releases: Sequence[Release], known: Any, engine: Engine | str | None) -> Any:
    """Return a file of known people as rows that an engine merged."""
    if engine is None:
        return known
    return read_table(known, **known_roles(releases), engine=engine) if isinstance(known, (str, os.PathLike)) else known


def without_columns(people: Table, names: Sequence[str]) -> Table:
    """Return the table without these columns, if it has them and others."""
    kept = [name for name in people.names if name not in names]
    return people.select(kept) if kept and len(kept) < len(people.names) else people


def first_with_roles(releases: Sequence[Release], data: Any = None) -> Release:
    """Return the first release with roles, else the first; with those of other rules for columns of the data."""
    first = next((one for one in releases if one.header.qi or one.header.sa), releases[0])
    return with_roles_of(first, releases, data)


def with_roles_of(first: Release, releases: Sequence[Release], data: Any) -> Release:
    """Return rules with the quasi-identifiers of all rules about their sensitive column, as far as the data have them."""
    if data is None or len(releases) < 2 or first.kind != "rules" or not first.header.qi:
        return first
    there = set(columns_of(data))
    alike = (one.header for one in releases if one.kind == "rules" and one.header.sa == first.header.sa)
    others = [name for header in alike for name in header.qi if name in there]
    qi = tuple(dict.fromkeys((*first.header.qi, *others)))
    return first if qi == first.header.qi else replace(first, header=replace(first.header, qi=qi))


def roles_of(header: Header) -> dict[str, Any]:
    """Return a header's roles and missing-value rule as options."""
    roles: dict[str, Any] = {"qi": header.qi, "sa": header.sa, "missing": header.missing, "bins": header.bins}
    return roles | ({"missing_rule": header.missing_rule} if header.missing_rule else {})


def known_roles(releases: Sequence[Release]) -> dict[str, Any]:
    """Return the roles that the releases give columns of known people."""
    header = next((release.header for release in releases if release.header.qi), releases[0].header)
    return {name: value for name, value in roles_of(header).items() if name != "sa"}


def rows_of(people: Table | Transactions | None) -> Transactions | None:
    """Return people as transactions over items."""
    return people.transactions() if isinstance(people, Table) else people


def with_coarser_items(people: Table | Transactions, trees: dict[str, Hierarchy] | None) -> Table | Transactions:
    """Return the people with the coarser values as items."""
    from tacit.mining.database import table_rows

    if not trees or not isinstance(people, Table):
        return people
    rows, pairs = table_rows(people, people.names, trees)
    return Transactions(rows.sets, rows.weights, Items.of_columns(pairs), people.source)


def one_row_each(people: Table) -> Table:
    """Return the table with a row for each person."""
    if (people.weights == 1).all():
        return people
    rows = np.repeat(np.arange(len(people.weights)), people.weights)
    return replace(people.take(rows), weights=np.ones(len(rows), np.int64))


def name_rows(rows: Ints) -> str:
    """Name up to five rows by their numbers."""
    shown = ", ".join(str(row) for row in rows[:5].tolist())
    more = f" and {len(rows) - 5:,} more" if len(rows) > 5 else ""
    return f"row{'' if len(rows) == 1 else 's'} {shown}{more}"
