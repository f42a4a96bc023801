"""Options of the command line, and their types.

Every verb fills one frozen dataclass from click's keyword arguments. :class:`Options` has what most verbs share, :class:`ReleaseOptions`
what says how to read a release; options that a verb does not offer keep their defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from tacit.errors import OptionError

if TYPE_CHECKING:
    from datetime import date

    from tacit.model.numbers import Rounding
    from tacit.model.release import Only
    from tacit.model.table import MissingRule

Decorator = Callable[[Any], Any]


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options that ``tacit.toml`` and the organisation's policy complete."""

    json_to: str | None = None
    time_limit: float | None = None
    engine: str | None = None
    config: str | None = None
    # Data
    qi: tuple[str, ...] = ()
    sa: tuple[str, ...] = ()
    missing: str | None = None
    missing_rule: MissingRule | None = None
    id_column: str | None = None
    item_column: str | None = None
    hierarchies: str | None = None
    # Policy
    k: int | None = None
    l: int | None = None  # noqa: E741 - the letter is the field's own name for it
    max_posterior: str | None = None
    max_gain: str | None = None
    policy_file: str | None = None
    today: date | None = None


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions(Options):
    """Options for reading a release, and background knowledge."""

    data: str | None = None
    known: str | None = None
    knowledge: tuple[str, ...] = ()
    people: str | None = None
    # Any release file
    n: int | None = None
    rounding: Rounding | None = None
    only: Only | None = None
    complete: bool | None = None
    form: str | None = None
    ignore: tuple[str, ...] = ()
    # Frequency tables
    by: tuple[str, ...] = ()
    count: str | None = None
    any: tuple[str, ...] = ()
    no_total: tuple[str, ...] = ()
    hidden_below: int | None = None
    zeros_shown: bool = False
    base: int | None = None
    convention: str | None = None
    # Tables with blank cells
    rows: str | None = None
    marks: str | None = None
    blank: tuple[str, ...] = ()
    min_confidence: str | None = None
    min_support: str | None = None


def option_name(field: str) -> str:
    """Return a field's option as it is typed.

    >>> option_name("max_posterior"), option_name("picture_to")
    ('--max-posterior', '--picture')
    """
    return "--" + field.removesuffix("_to").removesuffix("_file").replace("_", "-")


def refuse_options(given: Options, names: Sequence[str], what: str, remedy: str = "Remove the option") -> None:
    """Raise if one of these options was given."""
    for name in names:
        value = getattr(given, name)
        if value is not None and value is not False and value not in ((), ""):
            raise OptionError(what, where=option_name(name), remedy=remedy)


def combine(*decorators: Decorator) -> Decorator:
    """Combine options into one decorator, in help order."""

    def decorate(verb: Any) -> Any:
        for decorator in reversed(decorators):
            verb = decorator(verb)
        return verb

    return decorate


def examples(*lines: str) -> str:
    """Return examples for the end of a help text."""
    # click keeps the lines of a paragraph that starts with a backspace
    return "\b\n" + "\n".join([f"Example{'s' if len(lines) > 1 else ''}:", *(f"  {line}" for line in lines)])


# Callbacks


def not_negative(_ctx: click.Context, param: click.Parameter, value: int | None) -> int | None:
    """Return the number, which must not be negative."""
    if value is not None and value < 0:
        raise OptionError("must be 0 or more", where=param.opts[0], remedy="Write for instance 10")
    return value


def positive(_ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Return a number that is positive and finite."""
    if value is not None and not 0 < value < float("inf"):
        raise OptionError("must be more than 0", where=param.opts[0], remedy="Write for instance 60")
    return value


def _start_time_limit(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Return the seconds, and start the time limit."""
    value = positive(ctx, param, value)
    if value is not None:
        from tacit.cli.program import backstop
        from tacit.model.policy import time_limit

        ctx.with_resource(time_limit(value))
        ctx.with_resource(backstop(value, ctx.command_path))
    return value


def _record_file(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    """Return the file; ``/dev/stdout`` is ``-``."""
    return "-" if value == "/dev/stdout" else value


def _report_file(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    """Return a file with the ending of a report."""
    from tacit.cli.output import check_report

    if value is not None:
        check_report(value)
    return value


def _date(_ctx: click.Context, param: click.Parameter, value: str | None) -> date | None:
    """Return the date."""
    from tacit.model.policy import read_date

    return None if value is None else read_date(value, where=param.opts[0])


# Running and writing

json_option = click.option(
    "--json",
    "json_to",
    metavar="FILE",
    callback=_record_file,
    help="Write the record as JSON to FILE; - is standard output, which then holds nothing else.",
)
running = combine(
    click.option(
        "--time-limit",
        type=float,
        callback=_start_time_limit,
        metavar="SECONDS",
        help="Stop after this time; whatever is undecided by then is never reported as safe.",
    ),
    click.option("--engine", metavar="ENGINE", help="Engine that groups the rows of a table, such as duckdb."),
    click.option(
        "--config", metavar="FILE", help="Take options from FILE.  [tacit.toml here or beside the data, if there is one]"
    ),
    json_option,
)
report = click.option(
    "--report", metavar="FILE", callback=_report_file, help="Write a report: a self-contained page (.html) or Markdown (.md)."
)
output = click.option(
    "-o", "--output", metavar="OUT", help="Write the release to OUT (.csv, .csv.gz, .parquet) and its header to OUT.json."
)
seed = click.option("--seed", type=int, default=0, callback=not_negative, metavar="SEED", help="Random seed.  [0]")

# Data

roles = combine(
    click.option("--qi", multiple=True, metavar="COLUMNS", help="Quasi-identifiers: repeat, or separate with commas."),
    click.option(
        "--sa",
        multiple=True,
        metavar="COLUMNS",
        help="Sensitive columns: repeat, or separate with commas; none means that no column is sensitive.",
    ),
)
missing = combine(
    click.option("--missing", metavar="MARK", help="Mark of a missing value, such as '?'."),
    click.option(
        "--missing-rule",
        type=click.Choice(["category", "drop", "drop-any"]),
        help="Treat the mark as a value, drop rows with it in a column in use, or drop rows with it in any column.  [category]",
    ),
)
long_table = combine(
    click.option("--id-column", metavar="COLUMN", help="In a table of (person, item) rows: the column of the person."),
    click.option("--item-column", metavar="COLUMN", help="In a table of (person, item) rows: the column of the item."),
)
hierarchies = click.option(
    "--hierarchies", metavar="DIR", help="Folder of hierarchy files, <column>.csv each, in the format of ARX."
)
data = click.option(
    "--data",
    metavar="DATA",
    help="The data behind the release: the same findings, found faster. For a table: the table before cells were hidden.",
)
min_support = click.option("--min-support", metavar="S", help="Support threshold: a share (0.05, 5%) or a number of people.")
strict = click.option("--strict", is_flag=True, help="Read thresholds as 'more than' instead of 'at least'.")

# Policy

policy_file = click.option(
    "--policy",
    "policy_file",
    metavar="FILE",
    help="The organisation's policy; tacit.toml and options may only tighten it.  [the file named by TACIT_POLICY, if set]",
)
today = click.option(
    "--date",
    "today",
    callback=_date,
    metavar="DATE",
    help="Today's date, such as 2026-11-15, for waivers that expire; it is never read from the clock.",
)
policy = combine(
    click.option("--k", type=int, metavar="K", help="Smallest group that the policy allows.  [10]"),
    click.option("--l", "l", type=int, metavar="L", help="How many sensitive values must remain possible for everybody.  [2]"),
    click.option("--max-posterior", metavar="P", help="Highest probability that an estimate may give a sensitive value."),
    click.option("--max-gain", metavar="P", help="How far an estimate may exceed the value's share among all people."),
    policy_file,
    today,
)

# Releases

release_file = combine(
    click.option("--n", type=int, metavar="N", help="Number of people, if the file does not give it."),
    click.option(
        "--rounding",
        type=click.Choice(["nearest", "half-up", "half-even", "up", "truncated", "random", "unknown"]),
        help="How the file's numbers were rounded; nearest: halves either way.  [as its header says, else nearest]",
    ),
    click.option(
        "--only", type=click.Choice(["all", "closed", "maximal"]), help="Which itemsets the file lists, if it does not say so."
    ),
    click.option(
        "--complete/--incomplete",
        default=None,
        help="Whether the file lists everything that reaches its threshold.  [as its header says, else not]",
    ),
    click.option("--form", metavar="FORM", help="Format of the file, such as mlxtend or spmf.  [recognised by its content]"),
    click.option(
        "--ignore",
        multiple=True,
        metavar="NAME",
        help="A file of a folder, or a column of a file, that says nothing about people (repeatable); anything else that is not "
        "read makes the verdict incomplete.",
    ),
)
#: How the cells of a frequency table were printed.
frequency_table = combine(
    click.option(
        "--by",
        multiple=True,
        metavar="COLUMNS",
        help="Frequency table: its columns, separated with commas; in a crosstab, the one across comes last. Repeat for more files.",
    ),
    click.option("--count", metavar="COLUMN", help="Frequency table: the column of counts."),
    click.option("--any", multiple=True, metavar="VALUE", help="Frequency table: a value that marks a total (repeatable)."),
    click.option(
        "--no-total",
        multiple=True,
        metavar="VALUE",
        help="Frequency table: a value that is not a total, though it looks like one (repeatable).",
    ),
    click.option(
        "--hidden-below",
        type=int,
        metavar="K",
        help="Frequency table: hidden cells have fewer than K people.  [as its header says]",
    ),
    click.option("--zeros-shown", is_flag=True, help="Frequency table: empty cells are not hidden.  [as its header says]"),
    click.option("--base", type=int, metavar="BASE", help="Frequency table: rounding base of its counts."),
    click.option(
        "--convention",
        metavar="NAME",
        help="Frequency table: the publisher's convention, such as opensafely or rr3; see docs/frequencies.md.",
    ),
)

# Tables with blank cells

rows = click.option(
    "--rows",
    metavar="FILE",
    help="Rows to protect: a file with one row number per line, from 0, or a condition such as 'job=Sales and age<30'.",
)
marks = click.option(
    "--marks",
    metavar="FILE.csv",
    help="Instead of --rows: a mark for each cell, or lines row,column,mark: + must be published, - is sensitive, empty is free.",
)
blank = click.option(
    "--blank",
    multiple=True,
    metavar="MARK",
    help="A mark of a blank cell, such as '*'; empty cells are always blank (repeatable).",
)
min_confidence = click.option(
    "--min-confidence", metavar="C", help="Table: a rule reveals a blank cell if its confidence is above this.  [0.6]"
)
min_rule_support = click.option(
    "--min-support", metavar="S", help="Table: and its support is above this, a number of people or a share such as 0.2%.  [0]"
)
#: Options that only tables with blank cells have.
of_tables = combine(rows, marks, blank, min_confidence, min_rule_support)
OF_TABLES = ("rows", "marks", "blank", "min_confidence", "min_support")
