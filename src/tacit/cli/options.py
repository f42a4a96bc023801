"""How the verbs that take a release read it: options for files that do not say everything themselves.

Options that several verbs share, each written once.

What a verb works with: its options, then ``tacit.toml``, then the organisation's policy, then the defaults; and the data read accordingly.

Options of tables with blank cells, and how the verbs that attack releases read them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tacit.errors import InputError, OptionError

if TYPE_CHECKING:
    from fractions import Fraction

    from tacit.model.finding import Finding
    from tacit.model.numbers import Threshold
    from tacit.model.partial import PartialTable
    from tacit.model.people import Gathered
    from tacit.model.policy import Level, Policy
    from tacit.model.release import Header, Release
    from tacit.model.table import Hierarchy, Table, Transactions
    from tacit.verbs.settings import Config

Verb = TypeVar("Verb", bound=Callable[..., Any])
Decorator = Callable[[Verb], Verb]


def together(*decorators: Decorator[Any]) -> Decorator[Any]:
    """Several options as one decorator, in the order that help shows them."""

    def decorate(verb: Any) -> Any:
        for decorator in reversed(decorators):
            verb = decorator(verb)
        return verb

    return decorate


def examples(*lines: str) -> str:
    """What help shows at its end; click keeps the lines of a paragraph that starts with a backspace."""
    return "\b\n" + "\n".join([f"Example{'s' if len(lines) > 1 else ''}:", *(f"  {line}" for line in lines)])


def not_negative(_ctx: click.Context, param: click.Parameter, value: int | None) -> int | None:
    """The number as it was given, unless it is negative."""
    if value is not None and value < 0:
        raise OptionError("must be 0 or more", where=param.opts[0], remedy="Write for instance 10")
    return value


def positive(_ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """The number as it was given, unless it is 0, negative or no number at all."""
    if value is not None and not 0 < value < float("inf"):
        raise OptionError("must be more than 0", where=param.opts[0], remedy="Write for instance 60")
    return value


def deadline(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """The seconds as they were given; from now on they run for all that the command does."""
    value = positive(ctx, param, value)
    if value is not None:
        from tacit.cli.signals import backstop
        from tacit.model.policy import time_limit

        ctx.with_resource(time_limit(value))
        ctx.with_resource(backstop(value, ctx.command_path))
    return value


def record_file(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    """The file as it was given; another name of standard output is the usual one."""
    return "-" if value == "/dev/stdout" else value


def report_file(_ctx: click.Context, _param: click.Parameter, value: Any) -> Any:
    """The file or files as they were given, if reports can have their endings."""
    from tacit.cli.output import check_report

    for path in (value,) if isinstance(value, str) else value or ():
        check_report(path)
    return value


def day(_ctx: click.Context, param: click.Parameter, value: str | None) -> Any:
    """The day that is meant, as a date."""
    from tacit.model.policy import read_date

    return None if value is None else read_date(value, where=param.opts[0])


policy_file = click.option(
    "--policy",
    "policy_file",
    metavar="FILE",
    help="The organisation's policy, which tacit.toml and options may only tighten.  [the file that TACIT_POLICY names, if it is set]",
)
json_option = click.option(
    "--json",
    "json_to",
    metavar="FILE",
    callback=record_file,
    help="Write the record as JSON to FILE; - is standard output, which then holds nothing else.",
)
report = click.option(
    "--report", metavar="FILE", callback=report_file, help="Write a report: a self-contained page (.html) or Markdown (.md)."
)
output = click.option(
    "-o", "--output", metavar="OUT", help="Write the release to OUT (.csv, .csv.gz, .parquet), its header to OUT.json."
)
data = click.option(
    "--data",
    metavar="DATA",
    help="The data the release was made from: the same findings, found faster. Of a table: the one before cells were hidden.",
)
min_support = click.option(
    "--min-support", metavar="S", help="How many people a pattern needs: a share (0.05, 5%) or a whole number of people."
)
strict = click.option("--strict", is_flag=True, help="Read thresholds as 'more than' instead of 'at least'.")
hierarchies = click.option(
    "--hierarchies", metavar="DIR", help="Folder of hierarchy files, <column>.csv each, as ARX writes them."
)
roles = together(
    click.option("--qi", multiple=True, metavar="COLUMNS", help="Quasi-identifying columns: repeat, or separate with commas."),
    click.option(
        "--sa",
        multiple=True,
        metavar="COLUMNS",
        help="Sensitive columns: repeat, or separate with commas; none says that there is none.",
    ),
)
missing = together(
    click.option("--missing", metavar="MARK", help="The mark that stands for a missing value, such as '?'."),
    click.option(
        "--missing-rule",
        type=click.Choice(["category", "drop", "drop-any"]),
        help="What the mark means: a value like any other, drop rows with it in a column in use, or in any column.  [category]",
    ),
)
long_table = together(
    click.option("--id-column", metavar="COLUMN", help="In a table of (person, item) rows: the column of the person."),
    click.option("--item-column", metavar="COLUMN", help="In a table of (person, item) rows: the column of the item."),
)
running = together(
    click.option(
        "--time-limit",
        type=float,
        callback=deadline,
        metavar="SECONDS",
        help="Stop after this time; what is then undecided is never shown as safe.",
    ),
    click.option("--engine", metavar="ENGINE", help="The engine that groups the rows of a table, such as duckdb."),
    click.option(
        "--config", metavar="FILE", help="Take options from FILE.  [tacit.toml here or beside the data, if there is one]"
    ),
    json_option,
)


ROLES = ("qi", "sa", "missing", "missing_rule")
#: The limits of a policy that have an option.
POLICY_OPTIONS = ("k", "l", "max_posterior", "max_gain")


@dataclass(frozen=True)
class Settings:
    """Options as given, with those of ``tacit.toml`` and the organisation's policy behind them.

    >>> from tacit.verbs.settings import Config
    >>> settings = Settings({"qi": (), "sa": ("pay",), "k": None}, Config(qi=("age",), sa=("ill",), policy={"k": 5}))
    >>> settings["qi"], settings["sa"], settings.policy.k
    (('age',), ('pay',), 5)
    """

    given: Mapping[str, Any]
    config: Config
    organisation: Config | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any], *, near: str | None, releases: Sequence[str] = ()) -> Settings:
        """The settings of a verb about the data in ``near``; none are read from beside the ``releases`` that it is given."""
        from tacit.cli.output import note
        from tacit.verbs.settings import load_config, load_policy

        if given.get("engine") is not None:
            from tacit.files.duckdb import engine_entry

            engine_entry(given["engine"])  # a mistyped name is said before long work
        config = load_config(given["config"], near=near or None, releases=releases)
        if config.beside:
            note(f"{config.beside}: not read, since it lies beside a release. Name it with --config to use it.")
        return cls(given, config, load_policy(given.get("policy_file")))

    def __getitem__(self, name: str) -> Any:
        return _first(self.given.get(name), getattr(self.config, name, None))

    def needed(self, name: str, example: str) -> Any:
        """An option that must stand on the command line or in ``tacit.toml``."""
        value = self[name]
        if _is_unset(value):
            option = "--" + name.replace("_", "-")
            raise OptionError(
                "is missing", where=option, remedy=f"Write for instance {option} {example}, or set it in tacit.toml"
            )
        return value

    @property
    def min_support(self) -> Threshold:
        """The support threshold."""
        from tacit.model.numbers import Threshold

        return Threshold.parse(self.needed("min_support", "5%"), where="--min-support")

    @property
    def min_confidence(self) -> Fraction:
        """The confidence threshold."""
        from tacit.model.numbers import share

        return share(self.needed("min_confidence", "60%"), where="--min-confidence")

    @property
    def policy(self) -> Policy:
        """What the publisher accepts."""
        from tacit.verbs.settings import Config, joined_policy

        given = {name: self.given[name] for name in POLICY_OPTIONS if not _is_unset(self.given.get(name))}
        return joined_policy(given, self.config, self.organisation or Config(), today=self.given.get("date"))

    def read(self, path: str, *, header: Header | None = None) -> Table | Transactions:
        """The people in a file, with roles and missing-value rule from the options, else from the release, else from ``tacit.toml``."""
        from tacit.files.transactions import TRANSACTION_ENDINGS, read_data
        from tacit.model.table import Table

        pairs = {name: self.given.get(name) for name in ("id_column", "item_column")}
        given = {**self.given, "sa": ()} if header is not None and header.no_sa else self.given
        roles = {name: _first(given.get(name), getattr(header, name, None)) for name in ROLES}
        if not any(pairs.values()) and not path.casefold().removesuffix(".gz").endswith(TRANSACTION_ENDINGS):
            # What tacit.toml says about columns is about a table; transactions have none.
            if header is None or header.missing_rule is None:  # a release that was mined from a table says itself how to read it
                roles = {name: _first(value, getattr(self.config, name)) for name, value in roles.items()}
            roles["identifying"] = self.config.identifying
        people = read_data(path, **{name: value for name, value in (roles | pairs).items() if not _is_unset(value)})
        return grouped(people, self.given["engine"]) if isinstance(people, Table) and self.given.get("engine") else people

    def hierarchies_of(self, people: Table | Transactions, columns: Sequence[str]) -> dict[str, Hierarchy] | None:
        """The hierarchies of these columns, where a folder of them is given."""
        from tacit.files.hierarchies import read_hierarchies
        from tacit.model.table import Table

        folder = self["hierarchies"]
        if folder is None:
            return None
        if not isinstance(people, Table):
            if self.given.get("hierarchies") is None:
                return None  # what tacit.toml says about columns is about a table
            raise OptionError(
                "the data are transactions, which have no columns", where="--hierarchies", remedy="Leave it out, or give a table"
            )
        return read_hierarchies(folder, columns)


def _first(*values: Any) -> Any:
    """The first value that is set; an empty text is one (it can be the mark of a missing value)."""
    return next((value for value in values if not _is_unset(value)), values[-1])


def _is_unset(value: Any) -> bool:
    return value is None or value == ()


def grouped(people: Table, engine: str) -> Table:
    """The same people with equal rows merged by the engine."""
    import numpy as np

    from tacit.files.duckdb import open_engine
    from tacit.model.table import Column

    rows = open_engine(engine, people)
    try:
        groups = rows.groups(people.names)
    finally:
        rows.close()
    columns = tuple(Column.from_texts(name, [values[i] for values, _ in groups]) for i, name in enumerate(people.names))
    return replace(people, columns=columns, weights=np.array([count for _, count in groups], np.int64))


rows = click.option(
    "--rows",
    metavar="FILE",
    help="The rows to protect: a file with one row number in each line, from 0, or a condition such as 'job=Sales and age<30'.",
)
blank = click.option(
    "--blank",
    multiple=True,
    metavar="MARK",
    help="A mark that stands for a blank cell, such as '*'; empty cells always do.  Repeat.",
)
min_confidence = click.option(
    "--min-confidence", metavar="C", help="A rule tells a blank cell when its confidence is above this.  [0.6]"
)
min_rule_support = click.option(
    "--min-support", metavar="S", help="... and its support is above this: a number of people, or a share such as 0.2%.  [0]"
)
marks = click.option(
    "--marks",
    metavar="FILE.csv",
    help="Instead: a mark for each cell, or lines row,column,mark: + must be published, - is sensitive, nothing leaves it free.",
)
#: What says of an audit or an explanation that it is about a table.
of_tables = together(rows, marks, blank, min_confidence, min_rule_support)
_OPTIONS = ("rows", "marks", "blank", "min_confidence", "min_support")


def policy_of(release: Release, settings: Settings) -> Policy:
    """What the publisher accepts; options that are for tables only are refused elsewhere."""
    from tacit.model.partial import PartialTable, Thresholds
    from tacit.verbs.settings import refuse_looser

    given, policy = settings.given, settings.policy
    if not isinstance(release, PartialTable):
        for name in _OPTIONS:
            if given.get(name):
                option = "--" + name.replace("_", "-")
                raise OptionError(
                    "is about a table with blank cells, and the release is none", where=option, remedy="Leave it out"
                )
        return policy
    limits = {
        name: getattr(policy, name) if given.get(name) is None else given[name] for name in ("min_confidence", "min_support")
    }
    bars = Thresholds.of(n=release.n, **limits)
    refuse_looser("min_confidence", bars.confidence, settings.organisation)
    refuse_looser("min_support", bars.support, settings.organisation)
    exact: Any = bars.confidence  # a fraction is as good a share as a float, and keeps what was written
    said: dict[str, Level] = {name: "option" for name in limits if given.get(name) is not None}
    return replace(policy, min_confidence=exact, min_support=bars.support, origin={**policy.origin, **said})


def are_meant(given: Mapping[str, Any]) -> bool:
    """Whether options say that the release is a table."""
    return any(given.get(name) for name in _OPTIONS)


def as_recorded(record: Any, place: int, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options to read a release with: those of its audit where the record of that is given, unless they are given again."""
    try:
        known = dict(record["release"][place]["read"])
    except (KeyError, IndexError, TypeError, ValueError):
        return given  # the checker says what is wrong with such a record
    return {**given, **{name: value for name, value in known.items() if not given.get(name)}}


def rows_of(release: Release, original: Any, given: Mapping[str, Any]) -> Any:
    """The rows, or the single cells, to protect; None where none are named."""
    from tacit.files.selection import read_marks
    from tacit.model.partial import PartialTable

    if given.get("marks") is None or not isinstance(release, PartialTable):
        return given.get("rows")
    if given.get("rows") is not None:
        raise OptionError("says what --rows says, too", where="--marks", remedy="Give one of them")
    found = read_marks(given["marks"], (original or release).people)
    if not len(found.rows):
        raise OptionError("marks no cell as sensitive", where="--marks", remedy="Mark the cells to protect with -")
    return found


def read_original(release: Release, settings: Settings) -> PartialTable | None:
    """The table before cells were hidden, where it is given: read with the roles and the marks of the table."""
    from tacit.files.partial import read_partial

    given, head = settings.given, release.header
    check_reading(given)
    if not given["data"]:
        return None
    mark = head.missing if given.get("missing") is None else given["missing"]
    rule = given.get("missing_rule") or (head.missing_rule if mark is not None else None) or "category"
    marks = {"blank": given.get("blank", ()), "missing": mark, "missing_rule": rule}
    return read_partial(given["data"], qi=head.qi, sa=head.sa, **marks)


def rules_about(release: Release, settings: Settings, who: str) -> tuple[list[Finding], str]:
    """The findings of T01 about whoever fits a description, and how many records those are, in a sentence."""
    import numpy as np

    from tacit.model.estimates import read_who
    from tacit.model.partial import PartialTable
    from tacit.model.table import require_column
    from tacit.verbs.audit import audit

    assert isinstance(release, PartialTable)
    given, fits = settings.given, np.ones(release.n, np.bool_)
    for name, value in read_who(who).items():
        require_column(name, release.people.names, where="--who")
        column = release.people.column(name)
        fits &= (column.codes == column.values.index(value)) if value in column.values else False
    if not fits.any():
        raise OptionError("no record shows all these values", where="--who", remedy="Leave some of them out, or check them")
    policy, original = policy_of(release, settings), read_original(release, settings)
    found = audit(
        release,
        data=original,
        rows=rows_of(release, original, given),
        policy=policy,
        attacks=["T01"],
        time_limit=given["time_limit"],
    )
    rows = {release.line(row) for row in np.flatnonzero(fits).tolist()}
    told = [one for one in found.findings if rows & {cited.place for cited in one.because if isinstance(cited.place, int)}]
    number = int(fits.sum())
    records = "1 record fits" if number == 1 else f"{number:,} records fit"
    rules = (
        f"{len(told):,} rule{'s tell' if len(told) != 1 else ' tells'} a sensitive cell among them"
        if told
        else "no rule tells their sensitive cells"
    )
    return told, f"{records}, and {rules}."


def check_reading(given: Mapping[str, Any]) -> None:
    """Refuse what says how to read data that are no table."""
    for name in ("hierarchies", "id_column", "item_column"):
        if given.get(name):
            raise OptionError("is not used for a table", where="--" + name.replace("_", "-"), remedy="Leave it out")


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
    callback=day,
    metavar="DAY",
    help="Today, such as 2026-11-15: decides which waivers have ended. The clock is never asked.",
)
policy = together(
    click.option("--k", type=int, metavar="K", help="The smallest group the policy allows.  [10]"),
    click.option("--l", "l", type=int, metavar="L", help="How many sensitive values must stay possible for everybody.  [2]"),
    click.option("--max-posterior", metavar="P", help="The largest probability that an estimate may give a sensitive value."),
    click.option("--max-gain", metavar="P", help="By how much an estimate may exceed the share among all people."),
    policy_file,
    date,
)


def read(path: str, given: Mapping[str, Any], settings: Settings | None = None) -> Release:
    """A release, read as the options say; the roles of a table may stand in ``tacit.toml``."""
    from tacit.files.releases import read_release

    about_table, roles = are_meant(given), {name: given.get(name, ()) for name in ("qi", "sa")}
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
    from tacit.files.tables import columns_of

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
    from tacit.files import releases
    from tacit.files.releases import is_recognised

    if record is not None:
        given = {**given, "ignore": (*given.get("ignore", ()), *_recorded_ignored(record))}

    groups = _groups_of_columns(given)
    used: set[tuple[str, ...]] = set()

    def read_one(path: str, place: int) -> Release:
        said = as_recorded(record, place, given)
        if groups:
            by = _columns_for(path, groups)
            if not by and not is_recognised(path):
                remedy = "Give --by once for each file, with the names of its first line; of a crosstab that across last"
                raise InputError("no --by names its columns", where=os.path.basename(path), remedy=remedy)
            used.update([by] if by else [])
            said = {**said, "by": by}
        return read(path, said, settings)

    found = releases.gather(paths, read_one, given.get("ignore", ()))
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
    from tacit.files.frequencies import fits_columns

    return next((group for group in groups if fits_columns(path, group)), ())


def _recorded_ignored(record: Any) -> list[str]:
    """The names that the caller of a recorded audit ignored."""
    entries = record.get("ignored", ()) if isinstance(record, Mapping) else ()
    listed = [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []
    return [str(one.get("column") or one.get("file")) for one in listed if "--ignore" in str(one.get("reason"))]


def known_people(release: Release, settings: Settings) -> Table | None:
    """Everybody's quasi-identifiers, where they are given."""
    from tacit.files.tables import read_table

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
    from tacit.verbs.kinds import kind_of
    from tacit.verbs.people import with_coarser_items

    given = settings.given
    if release.kind == "table":
        return read_original(release, settings)
    if given["data"]:
        if release.kind == "frequencies":  # its own columns are those in use, whatever their roles
            settings = replace(settings, given={**given, "qi": (), "sa": ()})
        people = settings.read(given["data"], header=kind_of(release).reading_header(release))
        return with_coarser_items(people, settings.hierarchies_of(people, getattr(people, "names", ())))
    roles = ROLES if release.kind == "buckets" else ("missing", "missing_rule")
    for name in () if given.get("known") else (*roles, "hierarchies", "id_column", "item_column"):
        if given.get(name):
            option = "--" + name.replace("_", "-")
            raise OptionError(
                "says how to read the data, and there are none", where=option, remedy="Give them with --data, or leave it out"
            )
    return None
