"""Options that several verbs share, each written once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from tacit.errors import OptionError

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
    from tacit.model.waiver import read_date

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
