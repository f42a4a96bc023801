"""Reading of data and releases by a verb's options."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import tacit
from tacit.cli.options import OF_TABLES, Options, ReleaseOptions, refuse_options
from tacit.cli.settings import Settings, first_set, policy_for
from tacit.errors import InputError, OptionError

if TYPE_CHECKING:
    from tacit.model.audit import Audit
    from tacit.model.partial import PartialTable
    from tacit.model.people import Gathered, People
    from tacit.model.policy import Policy
    from tacit.model.release import Header, Release
    from tacit.model.table import Hierarchy, Table, Transactions

_ROLES = ("qi", "sa", "missing", "missing_rule")
_LONG_TABLE = ("id_column", "item_column")
#: Options of :func:`tacit.read_release` that the record of an audit holds.
_RECORDED = (
    *_ROLES,
    *("n", "rounding", "only", "complete", "form", "ignore", "blank"),
    *("by", "count", "any", "no_total", "hidden_below", "zeros_shown", "base", "convention"),
)


# Data


def read_people(path: str, settings: Settings[Options], *, header: Header | None = None) -> Table | Transactions:
    """Read data with roles from options, release, or settings."""
    from tacit.files.transactions import read_data

    given = settings.given
    if header is not None and header.no_sa:
        given = replace(given, sa=())
    roles = {name: first_set(getattr(given, name), getattr(header, name, None)) for name in _ROLES}
    pairs = {name: getattr(given, name) for name in _LONG_TABLE}
    if not any(pairs.values()) and not _is_transactions(path):
        # The columns in tacit.toml are those of a table; transactions have none.
        if header is None or header.missing_rule is None:  # a release mined from a table says itself how to read it
            roles = {name: first_set(value, getattr(settings.config, name)) for name, value in roles.items()}
        roles["identifying"] = settings.config.identifying
    people = read_data(path, **{name: value for name, value in (roles | pairs).items() if value not in (None, ())})
    return merge_rows(people, given.engine) if given.engine and isinstance(people, tacit.Table) else people


def read_people_table(path: str, settings: Settings[Options]) -> Table:
    """Read data that must be a table."""
    people = read_people(path, settings)
    if not isinstance(people, tacit.Table):
        raise _no_columns(path)
    return people


def read_whole_table(path: str) -> Table:
    """Read a table with all its columns."""
    if _is_transactions(path):
        raise _no_columns(path)
    return tacit.read_table(path)


def _is_transactions(path: str) -> bool:
    from tacit.files.transactions import TRANSACTION_ENDINGS

    return path.casefold().removesuffix(".gz").endswith(TRANSACTION_ENDINGS)


def _no_columns(path: str) -> OptionError:
    return OptionError("has transactions, which have no columns", where=path, remedy="Give a table")


def merge_rows(people: Table, engine: str) -> Table:
    """Merge equal rows with an engine."""
    import numpy as np

    from tacit.files.duckdb import group_rows
    from tacit.model.table import Column

    groups = group_rows(people, people.names, engine=engine)
    columns = tuple(Column.from_texts(name, [values[i] for values, _ in groups]) for i, name in enumerate(people.names))
    return replace(people, columns=columns, weights=np.array([count for _, count in groups], np.int64))


def read_hierarchies(
    people: Table | Transactions, settings: Settings[Options], columns: Sequence[str] | None = None
) -> dict[str, Hierarchy] | None:
    """Read the hierarchies of columns, if any."""
    from tacit.files import hierarchies

    if settings.hierarchies is None:
        return None
    if isinstance(people, tacit.Table):
        return hierarchies.read_hierarchies(settings.hierarchies, people.names if columns is None else columns)
    if settings.given.hierarchies is None:
        return None  # the folder in tacit.toml is about the columns of a table
    raise OptionError(
        "applies to tables; these data are transactions", where="--hierarchies", remedy="Remove the option, or give a table"
    )


# Releases


def read_release(path: str, given: ReleaseOptions, settings: Settings[Options] | None = None, columns: Any = ()) -> Release:
    """Read a release.

    With ``settings``, ``tacit.toml`` may give the roles of a table, and the data the number of people.
    ``columns`` are more columns that the items of a list are values of, by default those of the data.
    """
    is_table = any(getattr(given, name) for name in OF_TABLES)
    qi = given.qi
    sa = given.sa
    if is_table and settings is not None:
        qi = settings.qi
        sa = settings.sa
    read_with_n = partial(
        tacit.read_release,
        path,
        rounding=given.rounding,
        only=given.only,
        complete=given.complete,
        form=given.form or ("table" if is_table else None),
        blank=given.blank,
        missing=given.missing,
        missing_rule=given.missing_rule or "category",
        ignore=given.ignore,
        columns=columns or _data_columns(given),
        by=given.by,
        count=given.count or None,
        any=given.any,
        no_total=given.no_total,
        hidden_below=given.hidden_below or None,
        zeros_shown=given.zeros_shown or None,
        base=given.base or None,
        convention=given.convention or None,
        qi=qi,
        sa=sa,
    )
    try:
        return read_with_n(n=given.n)
    except InputError as error:
        if error.asks_for != "n" or not given.data or settings is None:
            raise
    return read_with_n(n=read_people(given.data, settings).n)


def _data_columns(given: ReleaseOptions) -> tuple[str, ...]:
    """Columns of the data, if they are a table."""
    from tacit.files.tables import columns_of

    if given.id_column or given.item_column:
        return ()
    return columns_of(given.data or given.known or None)


def gather_releases(
    paths: Sequence[str], given: ReleaseOptions, settings: Settings[Options] | None = None, record: Any = None
) -> Gathered:
    """Read all releases in files and folders."""
    from tacit.files.releases import gather, is_recognised

    if record is not None:
        given = replace(given, ignore=(*given.ignore, *_recorded_ignored(record)))
    groups = _column_groups(given.by)
    used: set[tuple[str, ...]] = set()

    def read(path: str, place: int) -> Release:
        recorded = _recorded_options(record, place)
        own = replace(given, **{name: recorded[name] for name in _RECORDED if name in recorded and not getattr(given, name)})
        if groups:
            by = _columns_for(path, groups)
            if by:
                used.add(by)
            elif not is_recognised(path):
                remedy = (
                    "Give --by once for each file, with names from its first line; in a crosstab, the column across comes last"
                )
                raise InputError("has columns that no --by names", where=os.path.basename(path), remedy=remedy)
            own = replace(own, by=by)
        return read_release(path, own, settings, recorded.get("columns", ()))

    found = gather(paths, read, given.ignore)
    if len(used) < len(groups):
        raise OptionError("fits none of the files", where="--by", remedy="Write the names as in the first line of the file")
    return found


def _recorded_options(record: Any, place: int) -> dict[str, Any]:
    """Options of a recorded release; none if damaged."""
    try:
        return dict(record["release"][place]["read"])
    except (KeyError, IndexError, TypeError, ValueError):
        return {}


def _recorded_ignored(record: Any) -> list[str]:
    """Names that a recorded audit was told to ignore."""
    entries = record.get("ignored", ()) if isinstance(record, Mapping) else ()
    listed = [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []
    return [str(entry.get("column") or entry.get("file")) for entry in listed if "--ignore" in str(entry.get("reason"))]


def _column_groups(by: Sequence[str]) -> list[tuple[str, ...]]:
    """Columns of each table, split at commas.

    >>> _column_groups(["sex", "job"]), _column_groups(["sex,job", "age"])
    ([('sex', 'job')], [('sex', 'job'), ('age',)])
    """
    groups = [tuple(name.strip() for name in text.split(",")) for text in by]
    if groups and all(len(group) == 1 for group in groups):
        return [tuple(group[0] for group in groups)]
    return groups


def _columns_for(path: str, groups: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Columns that --by names for a file, if any."""
    from tacit.files.frequencies import fits_columns

    return next((group for group in groups if fits_columns(path, group)), ())


# Data that go with a release


def read_known(release: Release, settings: Settings[ReleaseOptions]) -> Table | None:
    """Read everybody's quasi-identifiers, if they are given."""
    given = settings.given
    if not given.known:
        return None
    if given.data:
        raise OptionError("is part of --data", where="--known", remedy="Give one of them")
    header = release.header
    rule: Any = given.missing_rule or header.missing_rule or "category"
    return tacit.read_table(
        given.known,
        qi=given.qi or header.qi or settings.config.qi,
        missing=first_set(given.missing, header.missing),
        missing_rule=rule,
    )


def read_owners_data(release: Release, settings: Settings[ReleaseOptions]) -> Table | Transactions | PartialTable | None:
    """Read the data behind a release, if given."""
    given = settings.given
    if release.kind == "table":
        return read_original(release, settings)
    if given.data:
        from tacit.verbs.data import with_coarser_items
        from tacit.verbs.kinds import kind_of

        if release.kind == "frequencies":  # all its columns are in use, whatever their roles
            settings = replace(settings, given=replace(given, qi=(), sa=()))
        people = read_people(given.data, settings, header=kind_of(release).reading_header(release))
        return with_coarser_items(people, read_hierarchies(people, settings))
    if not given.known:
        roles = _ROLES if release.kind == "buckets" else ("missing", "missing_rule")
        names = (*roles, "hierarchies", *_LONG_TABLE)
        refuse_options(
            given, names, "says how to read the data, and none are given", "Give them with --data, or remove the option"
        )
    return None


def read_original(release: Release, settings: Settings[ReleaseOptions]) -> PartialTable | None:
    """Read the original table, if given."""
    given = settings.given
    header = release.header
    refuse_options(given, ("hierarchies", *_LONG_TABLE), "does not apply to a table")
    if not given.data:
        return None
    mark = first_set(given.missing, header.missing)
    rule: Any = given.missing_rule or (header.missing_rule if mark is not None else None) or "category"
    return tacit.read_partial(
        given.data,
        qi=header.qi,
        sa=header.sa,
        blank=given.blank,
        missing=mark,
        missing_rule=rule,
    )


def rows_to_protect(release: Release, original: Any, given: ReleaseOptions) -> Any:
    """Return the rows or cells to protect, or None."""
    from tacit.files.selection import read_marks

    if given.marks is None or not isinstance(release, tacit.PartialTable):
        return given.rows
    if given.rows is not None:
        raise OptionError("cannot be combined with --rows", where="--marks", remedy="Give one of them")
    found = read_marks(given.marks, (original or release).people)
    if not len(found.rows):
        raise OptionError("marks no cell as sensitive", where="--marks", remedy="Mark the cells to protect with -")
    return found


@dataclass(frozen=True)
class AuditInputs:
    """Releases, and all other inputs of their audit."""

    gathered: Gathered
    data: Any
    known: Table | None
    knowledge: list[str] | None
    rows: Any
    people: People | None
    policy: Policy

    def audit(self, **how: Any) -> Audit:
        """Attack the releases."""
        return tacit.audit(
            self.gathered,
            data=self.data,
            known=self.known,
            knowledge=self.knowledge,
            rows=self.rows,
            people=self.people,
            policy=self.policy,
            **how,
        )


def read_audit_inputs(paths: Sequence[str], settings: Settings[ReleaseOptions]) -> AuditInputs:
    """Read what an audit takes: one release, or several."""
    from tacit.model.people import read_people as parse_people

    given = settings.given
    people = None if given.people is None else parse_people(given.people)
    gathered = gather_releases(paths, given, settings)
    first = gathered.releases[0]
    is_alone = len(gathered.releases) == 1
    rules = next((release for release in gathered.releases if release.kind == "rules"), first)
    data = read_owners_data(rules, settings) if is_alone or given.data else None
    return AuditInputs(
        gathered,
        data,
        known=read_known(rules, settings),
        knowledge=list(given.knowledge) or None,
        rows=rows_to_protect(first, data, given) if is_alone else given.rows,
        people=people,
        policy=policy_for(first, settings),
    )
