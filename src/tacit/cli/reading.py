"""Settings of a verb, and the data and releases they describe."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import tacit
from tacit.cli.options import OF_TABLES, Options, ReleaseOptions, option_name, refuse_options
from tacit.cli.output import note
from tacit.model.errors import InputError, OptionError

if TYPE_CHECKING:
    from tacit.files.engines import Engine
    from tacit.files.transactions import Chosen
    from tacit.model.partial import PartialTable, Thresholds
    from tacit.model.people import Gathered
    from tacit.model.policy import Level, Policy
    from tacit.model.release import Header, Release
    from tacit.model.table import Hierarchy, Table, Transactions
    from tacit.verbs.settings import Config

Value = TypeVar("Value")
Given = TypeVar("Given", bound=Options)
Given_co = TypeVar("Given_co", bound=Options, covariant=True)

_ROLES = ("qi", "sa", "missing", "missing_rule", "bins")
_LONG_TABLE = ("id_column", "item_column")
_LIMITS = ("k", "l", "max_posterior", "max_gain")  #: The limits of a policy that have an option.
#: Options that count as not given where they are zero or empty.
_NOT_ZERO = ("form", "count", "hidden_below", "zeros_shown", "base", "convention")
_NO_COLUMNS = "has transactions, which have no columns"
#: Options of :func:`tacit.read_release` that the record of an audit holds, in the order in which it lists them.
_RECORDED = (
    *("rounding", "only", "complete", "max_length", "form", "blank", "missing", "missing_rule", "ignore", "columns"),
    *("by", "count", "any", "no_total", "hidden_below", "zeros_shown", "base", "convention", "qi", "sa", "n"),
)


# Settings


@dataclass(frozen=True)
class Settings(Generic[Given_co]):
    """Options, completed by ``tacit.toml`` and the organisation's policy."""

    given: Given_co
    config: Config
    organisation: Config | None = None

    @property
    def merged(self) -> Given_co:
        """The options; ``tacit.toml`` gives the roles of columns that they leave open."""
        unset = [name for name in (*_ROLES, "person", "hierarchies") if getattr(self.given, name) in (None, ())]
        return replace(self.given, **{name: getattr(self.config, name) for name in unset})

    @property
    def policy(self) -> Policy:
        """Policy that options, ``tacit.toml`` and the organisation make together."""
        from tacit.verbs.settings import Config, joined_policy

        limits = {name: value for name in _LIMITS if (value := getattr(self.given, name)) is not None}
        return joined_policy(limits, self.config, self.organisation or Config(), today=self.given.today)

    def require(self, name: str, example: str) -> Any:
        """Return an option or setting that must be given."""
        value = first_set(getattr(self.given, name, None), getattr(self.config, name))
        if value is None:
            option = option_name(name)
            remedy = f"Write for instance {option} {example}, or set it in tacit.toml"
            raise OptionError("is missing", where=option, remedy=remedy)
        return value

    def require_roles(self, *, sa: str) -> None:
        """Raise if a role has no column."""
        self.require("qi", "age,sex")
        self.require("sa", sa)


def load_settings(given: Given, *, near: str | None, releases: Sequence[str] = ()) -> Settings[Given]:
    """Load the settings for the data in ``near``.

    No ``tacit.toml`` is read from beside the ``releases``: whoever submits one must not bring its limits.
    """
    from tacit.verbs.settings import load_config, load_policy

    if given.engine is not None or given.master is not None:
        named_engine(given)  # refuse a mistyped name before long work
    config = load_config(given.config, near=near or None, releases=releases)
    if config.beside:
        note(f"{config.beside}: not read, because it lies beside a release. Name it with --config to use it.")
    return Settings(given, config, load_policy(given.policy_file))


def first_set(*values: Value | None) -> Value | None:
    """Return the first value that is set."""
    return next((value for value in values if value not in (None, ())), None)


def policy_for(release: Release, settings: Settings[ReleaseOptions]) -> Policy:
    """Return the policy; refuse options of other kinds."""
    from tacit.verbs.kinds import kind_of

    given = settings.given
    policy = settings.policy
    if not kind_of(release).takes_rows:
        refuse_options(given, OF_TABLES, "applies to tables with blank cells; this release is not one")
        return policy
    thresholds = rule_thresholds(settings, release.n or 0, given.min_confidence, given.min_support)
    exact: Any = thresholds.confidence  # a fraction is as good a share as a float, and keeps what was written
    own: dict[str, Level] = {name: "option" for name in ("min_confidence", "min_support") if getattr(given, name) is not None}
    return replace(policy, min_confidence=exact, min_support=thresholds.support, origin={**policy.origin, **own})


def rule_thresholds(settings: Settings[Options], n: int, confidence: str | None, support: str | None) -> Thresholds:
    """Return the thresholds of rules that reveal cells."""
    from tacit.model.partial import Thresholds
    from tacit.verbs.settings import refuse_looser

    policy = settings.policy
    thresholds = Thresholds.of(
        n=n,
        min_confidence=policy.min_confidence if confidence is None else confidence,
        min_support=policy.min_support if support is None else support,
    )
    refuse_looser("min_confidence", thresholds.confidence, settings.organisation)
    refuse_looser("min_support", thresholds.support, settings.organisation)
    return thresholds


# Data


def read_people(
    path: str,
    settings: Settings[Options],
    *,
    header: Header | None = None,
    also: str | None = None,
    chosen: Chosen | None = None,
) -> Table | Transactions:
    """Read data with roles from options, release or settings, and column ``also``.

    An engine reads no items of transactions but the ``chosen`` ones, which all others may do without.
    """
    from tacit.files.transactions import read_data

    given = settings.given
    if header.no_sa if header is not None else _says_none(given.sa, path):
        given = replace(given, sa=())
    roles = {name: first_set(getattr(given, name), getattr(header, name, None)) for name in _ROLES}
    pairs = {name: getattr(given, name) for name in _LONG_TABLE}
    if not any(pairs.values()) and not is_transactions(path):
        # The columns in tacit.toml are those of a table; transactions have none.
        if header is None or header.missing_rule is None:  # a release mined from a table says itself how to read it
            roles = {name: first_set(value, getattr(settings.config, name)) for name, value in roles.items()}
        _check_config(path, settings, roles)
        roles["identifying"] = settings.config.identifying
        roles["bins"] = bins_of(roles["bins"], path)
        if also is not None and (roles["qi"] or roles["sa"]):
            roles["columns"] = [also]
        if also is not None:
            roles["identifying"] = tuple(name for name in settings.config.identifying if name != also)
    engine = None if also is not None else engine_for(path, given)
    if engine is None or engine.is_reference:
        chosen = None
    return read_data(
        path, engine=engine, chosen=chosen, **{name: value for name, value in (roles | pairs).items() if value not in (None, ())}
    )


def _check_config(path: str, settings: Settings[Options], roles: Mapping[str, Any]) -> None:
    """Raise if ``tacit.toml`` gives a role to a column that the data lack: it may be about other data."""
    from tacit.files.tables import columns_of

    config = settings.config
    taken = [name for field in ("qi", "sa") if roles[field] == getattr(config, field) for name in getattr(config, field)]
    known = columns_of(path) if taken or config.identifying else ()
    for name in (*config.identifying, *taken):
        if known and name not in known:
            what = f"there is no column {name!r}, which {config.where} names"
            remedy = "Correct that file, or move it elsewhere if it is about other data"
            raise OptionError(what, where=os.path.basename(path), remedy=remedy)


def frequent_items(min_support: Any, *, strict: bool) -> Chosen:
    """Return the choice of items that reach a threshold."""
    from tacit.model.numbers import Threshold

    threshold = Threshold.parse(min_support)
    return lambda _names, lines, n: lines >= threshold.least_count(n, strict=strict)


def listed_items(release: Release) -> Chosen | None:
    """Return the choice of the items that a list of itemsets names."""
    if release.kind != "itemsets":
        return None
    import numpy as np

    names = frozenset(release.items.names)
    return lambda found, _lines, _n: np.array([name in names for name in found], np.bool_)


def _says_none(sa: Sequence[str], path: str) -> bool:
    """Tell if the option says that no column of the data is sensitive."""
    if "none" not in sa or is_transactions(path):
        return False
    from tacit.model.table import sensitive_names

    return sensitive_names(sa, _columns_of(path))[1]


SMALL = 1 << 23  #: Bytes of a file whose rows are read one by one unless an engine is named: errors then name the row.


def engine_for(path: str, given: Options) -> Engine | None:
    """Return the engine that merges equal rows: the named or the default one."""
    if given.engine is None and os.path.isfile(path) and os.path.getsize(path) < SMALL:
        return None
    return named_engine(given)


def named_engine(given: Options) -> Engine:
    """Return the engine of the options, by default the usual one."""
    return tacit.engine(given.engine or "duckdb", memory=given.memory, master=given.master)


def bins_of(given: Any, path: str) -> Any:
    """Return bins as :func:`tacit.read_table` takes them.

    They are given as texts of options, by ``tacit.toml``, which may know columns that are not in use, or by a header.
    """
    from tacit.files.tables import columns_of
    from tacit.model.bins import parse_bins, split_option

    if isinstance(given, Mapping):
        return tuple(one for one in parse_bins(given) if one.column in columns_of(path))
    return split_option(given) if given and isinstance(given[0], str) else given


def read_people_table(path: str, settings: Settings[Options]) -> Table:
    """Read data that must be a table, with one row of each person."""
    people = read_people(path, settings)
    if not isinstance(people, tacit.Table):
        raise OptionError(_NO_COLUMNS, where=path, remedy="Give a table")
    refuse_repeated_people(path, settings)
    return people


def refuse_repeated_people(path: str, settings: Settings[Options]) -> None:
    """Raise if ``--person`` says that some people have several rows."""
    person = settings.merged.person
    if person is None:
        _warn_of_repeated_people(path, settings)
        return
    people = tacit.read_table(path, columns=[person], engine=engine_for(path, settings.given))
    several = int((people.merged().weights > 1).sum())
    if several:
        have = "1 person has" if several == 1 else f"{several:,} people have"
        what = f"{have} several rows, and here each person needs one: counts of rows say little about people"
        remedy = "Keep one row of each person, such as the first; tacit mine itemsets counts people as they are"
        raise OptionError(what, where=f"--person {person}", remedy=remedy)


def _warn_of_repeated_people(path: str, settings: Settings[Options]) -> None:
    """Say so if a column looks like the numbers of people who have several rows."""
    from tacit.files.tables import columns_of
    from tacit.model.columns import find_repeated_people, names_people

    named = [name for name in columns_of(path) if names_people(name)] if os.path.isfile(path) else []
    if not named:
        return
    people = tacit.read_table(path, columns=named, engine=engine_for(path, settings.given))
    if column := find_repeated_people(people):
        told = f"{len(column.values):,} values in {people.n:,} rows, so rows are counted here, and not people"
        note(f"Warning: {column.name}: {told}. Keep one row of each person, such as the first")


def table_columns(path: str) -> tuple[str, ...]:
    """Return the names of the columns of data that must be a table."""
    from tacit.files.tables import check_names, open_table_file

    if is_transactions(path):
        raise OptionError(_NO_COLUMNS, where=path, remedy="Give a table")
    with closing(open_table_file(path, where=path)) as rows:
        check_names(rows.names, where=path)
        return rows.names


def is_transactions(path: str) -> bool:
    """Tell if a file holds transactions, by its ending."""
    from tacit.files.tables import TRANSACTION_ENDINGS

    return path.casefold().removesuffix(".gz").endswith(TRANSACTION_ENDINGS)


def read_hierarchies(
    people: Table | Transactions, settings: Settings[Options], columns: Sequence[str] | None = None
) -> dict[str, Hierarchy] | None:
    """Read the hierarchies of columns, if any."""
    from tacit.files import hierarchies

    folder = settings.merged.hierarchies
    if folder is None:
        return None
    if isinstance(people, tacit.Table):
        return hierarchies.read_hierarchies(folder, people.names if columns is None else columns)
    if settings.given.hierarchies is None:
        return None  # the folder in tacit.toml is about the columns of a table
    remedy = "Remove the option, or give a table"
    raise OptionError("applies to tables; these data are transactions", where="--hierarchies", remedy=remedy)


# Releases


def read_release(path: str, given: ReleaseOptions, settings: Settings[Options] | None = None) -> Release:
    """Read a release.

    With ``settings``, ``tacit.toml`` may give the roles of a table, and the data the number of people.
    """
    from tacit.files.releases import read_release as read

    how = {name: getattr(given, name) for name in _RECORDED}
    how |= {name: how[name] or None for name in _NOT_ZERO}
    how["missing_rule"] = given.missing_rule or "category"
    if not given.columns and not any(getattr(given, name) for name in _LONG_TABLE):
        how["columns"] = _columns_of(given.data or given.known)
    if any(getattr(given, name) for name in OF_TABLES):
        how["form"] = given.form or "table"
        if settings is not None:
            how |= {"qi": settings.merged.qi, "sa": settings.merged.sa}
    try:
        return read(path, **how)
    except InputError as error:
        people = given.data or given.known
        if error.asks_for != "n" or not people or settings is None:
            raise
    return read(path, **how | {"n": read_people(people, settings).n})


def _columns_of(path: str | None) -> tuple[str, ...]:
    if not path:
        return ()
    from tacit.files.tables import columns_of

    return columns_of(path)


def gather_releases(
    paths: Sequence[str], given: ReleaseOptions, settings: Settings[Options] | None = None, record: Any = None
) -> Gathered:
    """Read all releases in files and folders."""
    from tacit.files.acro_folders import Described
    from tacit.files.frequencies import fits_columns
    from tacit.files.recognition import is_recognised
    from tacit.files.releases import gather

    if record is not None:
        given = replace(given, ignore=(*given.ignore, *_recorded_ignored(record)))
    groups = _column_groups(given.by)
    used: set[int] = set()

    def read(path: Any, place: int) -> Release:
        recorded = _recorded_options(record, place)
        own = replace(given, **{name: recorded[name] for name in _RECORDED if name in recorded and not getattr(given, name)})
        if groups:
            name = os.path.basename(path)
            named = [number for number, (file, _) in enumerate(groups) if file in (name, os.fspath(path))]
            fitting = (number for number, (file, by) in enumerate(groups) if not file and fits_columns(path, by))
            found = named[0] if named else next(fitting, None)
            if found is not None:
                used.add(found)
            elif not isinstance(path, Described) and not is_recognised(path, by_form=False):
                remedy = (
                    "Give --by once for each file, with names from its first line; in a crosstab, the column across comes last"
                )
                raise InputError("has columns that no --by names", where=name, remedy=remedy)
            own = replace(own, by=() if found is None else groups[found][1])
        return read_release(path, own, settings)

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
    entries = record.get("ignored", ()) if isinstance(record, Mapping) else ()
    listed = [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []
    return [str(entry.get("column") or entry.get("file")) for entry in listed if "--ignore" in str(entry.get("reason"))]


def _column_groups(by: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Columns of each table, split at commas, with the file that ``FILE=COLUMNS`` names."""
    groups = []
    for text in by:
        file, mark, columns = text.rpartition("=")
        groups.append((file if mark else "", tuple(name.strip() for name in columns.split(","))))
    if groups and all(not file and len(columns) == 1 for file, columns in groups):
        return [("", tuple(columns[0] for _, columns in groups))]
    return groups


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
        bins=bins_of(first_set(given.bins, header.bins, settings.config.bins or None), given.known),
        engine=engine_for(given.known, given),
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
        header = kind_of(release).reading_header(release)
        people = read_people(given.data, settings, header=header, chosen=listed_items(release))
        return with_coarser_items(people, read_hierarchies(people, settings))
    if not given.known:
        roles = _ROLES if release.kind == "buckets" else ("missing", "missing_rule", "bins")
        names = (*roles, "hierarchies", *_LONG_TABLE)
        remedy = "Give them with --data, or remove the option"
        refuse_options(given, names, "says how to read the data, and none are given", remedy)
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
    bins = bins_of(first_set(given.bins, header.bins), given.data)
    return tacit.read_partial(
        given.data, qi=header.qi, sa=header.sa, blank=given.blank, missing=mark, missing_rule=rule, bins=bins
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


def read_audit_inputs(
    paths: Sequence[str], settings: Settings[ReleaseOptions], gathered: Gathered | None = None
) -> tuple[Gathered, dict[str, Any]]:
    """Read releases, unless they are gathered already, and all other arguments of their audit."""
    from tacit.model.people import read_people as parse_people

    given = settings.given
    people = None if given.people is None else parse_people(given.people)
    if gathered is None:
        gathered = gather_releases(paths, given, settings)
    first = gathered.releases[0]
    is_alone = len(gathered.releases) == 1
    rules = next((release for release in gathered.releases if release.kind == "rules"), first)
    if not is_alone:
        from tacit.verbs.data import with_roles_of

        rules = with_roles_of(rules, gathered.releases, given.data or given.known)
    data = read_owners_data(rules, settings) if is_alone or given.data else None
    known = read_known(rules, settings)
    has_values = data is not None or known is not None or any(release.kind == "buckets" for release in gathered.releases)
    return gathered, {
        "data": data,
        "known": known,
        "knowledge": list(given.knowledge) or None,
        "withheld": given.withheld or "at-threshold",
        "sa_order": given.sa_order or (settings.config.sa_order if has_values else ()),
        "rows": rows_to_protect(first, data, given) if is_alone else given.rows,
        "people": people,
        "policy": policy_for(first, settings),
    }
