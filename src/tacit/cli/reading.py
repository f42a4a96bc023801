"""How the verbs that take a release read it: options for files that do not say everything themselves."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from tacit.cli import options, tables
from tacit.cli.options import together
from tacit.cli.settings import ROLES, Settings
from tacit.errors import InputError, OptionError

if TYPE_CHECKING:
    from tacit.model.gathered import Gathered
    from tacit.model.partial import PartialTable
    from tacit.model.release import Release
    from tacit.model.table import Table
    from tacit.model.transactions import Transactions

release_file = together(
    click.option("--n", type=int, metavar="N", help="The number of people, where the file does not say it."),
    click.option(
        "--rounding",
        type=click.Choice(["nearest", "half-up", "half-even", "up", "truncated", "random", "unknown"]),
        help="How the file's numbers were rounded; nearest: halves may have gone either way.  [as its header says, else nearest]",
    ),
    click.option(
        "--only", type=click.Choice(["all", "closed", "maximal"]), help="Which itemsets the file lists, where it does not say it."
    ),
    click.option(
        "--complete/--incomplete",
        default=None,
        help="Whether the file lists everything that reaches its threshold, so that what is missing does not.  [as its header says, else not]",
    ),
    click.option("--form", metavar="FORM", help="The form of the file, such as mlxtend or spmf; by default its content decides."),
    click.option(
        "--ignore",
        multiple=True,
        metavar="NAME",
        help="A file of a folder, or a column of a file, that says nothing about people (repeatable); whatever else is not read makes the "
        "verdict incomplete.",
    ),
)
#: What says how the cells of a frequency table were printed, for the verbs that attack one or look again.
frequency_table = together(
    click.option(
        "--by",
        multiple=True,
        metavar="COLUMNS",
        help="Of a frequency table: its columns, separated with commas; of a crosstab that across last. Repeat it for other files.",
    ),
    click.option("--count", metavar="COLUMN", help="Of a frequency table: the column that holds the counts."),
    click.option(
        "--any", multiple=True, metavar="VALUE", help="Of a frequency table: a value that stands for a total (repeatable)."
    ),
    click.option(
        "--no-total",
        multiple=True,
        metavar="VALUE",
        help="Of a frequency table: a value that is no total, though it looks so (repeatable).",
    ),
    click.option(
        "--hidden-below",
        type=int,
        metavar="K",
        help="Of a frequency table: hidden cells hold fewer than K people.  [as its header says]",
    ),
    click.option(
        "--zeros-shown", is_flag=True, help="Of a frequency table: cells with nobody are not hidden.  [as its header says]"
    ),
    click.option("--base", type=int, metavar="BASE", help="Of a frequency table: counts are rounded to multiples of BASE."),
    click.option(
        "--convention",
        metavar="NAME",
        help="Of a frequency table: the publisher's convention, such as opensafely or rr3; see docs/frequencies.md.",
    ),
)
date = click.option(
    "--date",
    callback=options.day,
    metavar="DAY",
    help="Today, such as 2026-11-15: decides which waivers have ended. The clock is never asked.",
)
policy = together(
    click.option("--k", type=int, metavar="K", help="The smallest group the policy allows.  [10]"),
    click.option("--l", "l", type=int, metavar="L", help="How many sensitive values must stay possible for everybody.  [2]"),
    click.option("--max-posterior", metavar="P", help="The largest probability that an estimate may give a sensitive value."),
    click.option("--max-gain", metavar="P", help="By how much an estimate may exceed the share among all people."),
    options.policy_file,
    date,
)


def read(path: str, given: Mapping[str, Any], settings: Settings | None = None) -> Release:
    """A release, read as the options say; the roles of a table may stand in ``tacit.toml``."""
    from tacit.api import read_release

    about_table, roles = tables.are_meant(given), {name: given.get(name, ()) for name in ("qi", "sa")}
    if about_table and settings is not None:
        roles = {name: value or getattr(settings.config, name) for name, value in roles.items()}
    read_with_n = partial(
        read_release,
        path,
        rounding=given["rounding"],
        only=given["only"],
        complete=given["complete"],
        form=given["form"] or ("table" if about_table else None),
        blank=given.get("blank", ()),
        missing=given.get("missing"),
        missing_rule=given.get("missing_rule") or "category",
        ignore=given.get("ignore", ()),
        columns=given.get("columns") or _columns(given),
        **_cell_options(given),
        **roles,
    )
    try:
        return read_with_n(n=given["n"])
    except InputError as error:
        if error.asks_for != "n" or not given.get("data") or settings is None:
            raise
    return read_with_n(n=settings.read(given["data"]).n)


def _columns(given: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns of the data, where they are a table whose rows are people."""
    from tacit.formats.tables import columns_of

    if given.get("id_column") or given.get("item_column"):
        return ()
    return columns_of(given.get("data") or given.get("known") or None)


def _cell_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """How the cells of a frequency table were printed, of verbs that have options for it."""
    if "hidden_below" not in given:
        return {}
    said = {name: given[name] or None for name in ("hidden_below", "zeros_shown", "base", "convention", "count")}
    return said | {name: given[name] for name in ("by", "any", "no_total")}


def gather(paths: Sequence[str], given: Mapping[str, Any], settings: Settings | None = None, record: Any = None) -> Gathered:
    """All releases in files and folders, read as the options say, or as the record of their audit has them."""
    from tacit.formats import folder
    from tacit.formats.releases import is_recognised

    if record is not None:
        given = {**given, "ignore": (*given.get("ignore", ()), *_recorded_ignored(record))}

    groups = _groups_of_columns(given)
    used: set[tuple[str, ...]] = set()

    def read_one(path: str, place: int) -> Release:
        said = tables.as_recorded(record, place, given)
        if groups:
            by = _columns_for(path, groups)
            if not by and not is_recognised(path):
                remedy = "Give --by once for each file, with the names of its first line; of a crosstab that across last"
                raise InputError("no --by names its columns", where=os.path.basename(path), remedy=remedy)
            used.update([by] if by else [])
            said = {**said, "by": by}
        return read(path, said, settings)

    found = folder.gather(paths, read_one, given.get("ignore", ()))
    if len(used) < len(groups):
        raise OptionError("fits none of the files", where="--by", remedy="Write the names as in the first line of the file")
    return found


def _groups_of_columns(given: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The columns of each table, where --by is given several times; names without commas are those of one."""
    groups = [tuple(name.strip() for name in one.split(",")) for one in given.get("by", ())]
    if all(len(group) == 1 for group in groups):
        groups = [tuple(group[0] for group in groups)] if groups else []
    return groups


def _columns_for(path: str, groups: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The columns that --by names for a file; nothing where the file has none of them."""
    from tacit.formats.frequencies import fits_columns

    return next((group for group in groups if fits_columns(path, group)), ())


def _recorded_ignored(record: Any) -> list[str]:
    """The names that the caller of a recorded audit ignored."""
    entries = record.get("ignored", ()) if isinstance(record, Mapping) else ()
    listed = [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []
    return [str(one.get("column") or one.get("file")) for one in listed if "--ignore" in str(one.get("reason"))]


def known_people(release: Release, settings: Settings) -> Table | None:
    """Everybody's quasi-identifiers, where they are given."""
    from tacit.formats.tables import read_table

    given = settings.given
    if not given.get("known"):
        return None
    if given["data"]:
        raise OptionError("is part of what --data holds", where="--known", remedy="Give one of them")
    header = release.header
    roles: dict[str, Any] = {"qi": given["qi"] or header.qi or settings.config.qi}
    roles["missing"] = given["missing"] if given["missing"] is not None else header.missing
    if rule := given["missing_rule"] or header.missing_rule:
        roles["missing_rule"] = rule
    return read_table(given["known"], **roles)


def owners_data(release: Release, settings: Settings) -> Table | Transactions | PartialTable | None:
    """The owner's data, where they are given; options that say how to read them are refused where they are not."""
    from tacit.api import with_coarser_items
    from tacit.auditing import reading_header

    given = settings.given
    if release.kind == "table":
        return tables.read_original(release, settings)
    if given["data"]:
        if release.kind == "frequencies":  # its own columns are those in use, whatever their roles
            settings = replace(settings, given={**given, "qi": (), "sa": ()})
        people = settings.read(given["data"], header=reading_header(release))
        return with_coarser_items(people, settings.hierarchies_of(people, getattr(people, "names", ())))
    roles = ROLES if release.kind == "buckets" else ("missing", "missing_rule")
    for name in () if given.get("known") else (*roles, "hierarchies", "id_column", "item_column"):
        if given.get(name):
            option = "--" + name.replace("_", "-")
            raise OptionError(
                "says how to read the data, and there are none", where=option, remedy="Give them with --data, or leave it out"
            )
    return None
