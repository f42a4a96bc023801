"""Options of the command line, and their types.

Every verb fills one frozen dataclass from click's keyword arguments. :class:`Options` has what most verbs share, :class:`ReleaseOptions`
what says how to read a release; options that a verb does not offer keep their defaults.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.output import examples, width
from tacit.model.errors import OptionError
from tacit.model.memory import parse_bytes

if TYPE_CHECKING:
    from datetime import date

    from tacit.model.knowledge import Withheld
    from tacit.model.numbers import Rounding
    from tacit.model.release import Only
    from tacit.model.table import MissingRule
    from tacit.reports.document import ReportKind

Decorator = Callable[[Any], Any]

#: Sections of a verb's help, in their order.
METHOD, GIVEN, KNOWN, ACCEPTED, OUTPUT = "What to do", "What you give", "What the attacker knows", "What you accept", "Output"
DATA, LISTS, TABLES, BLANKS, RUNNING = "Data", "Lists", "Frequency tables", "Tables with blank cells", "Running"
SECTIONS = (METHOD, GIVEN, KNOWN, ACCEPTED, OUTPUT, DATA, LISTS, TABLES, BLANKS, RUNNING)
MOST_HELP = 40  #: Lines of --help; what does not fit is left to --help-all.


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options that ``tacit.toml`` and the organisation's policy complete."""

    json_to: str | None = None
    report_kind: ReportKind = "internal"
    time_limit: float | None = None
    engine: str | None = None
    master: str | None = None
    memory: int | None = None
    config: str | None = None
    # Data
    qi: tuple[str, ...] = ()
    sa: tuple[str, ...] = ()
    sa_order: str | None = None
    missing: str | None = None
    missing_rule: MissingRule | None = None
    bins: tuple[str, ...] = ()
    person: str | None = None
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

    @property
    def is_external(self) -> bool:
        """Tell if what is written may describe no group."""
        return self.report_kind == "external"

    def pick(self, *names: str) -> dict[str, Any]:
        """Return some options as keyword arguments."""
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions(Options):
    """Options for reading a release, and background knowledge."""

    data: str | None = None
    known: str | None = None
    knowledge: tuple[str, ...] = ()
    withheld: Withheld | None = None
    people: str | None = None
    # Any release file
    n: int | None = None
    rounding: Rounding | None = None
    only: Only | None = None
    complete: bool | None = None
    max_length: int | None = None
    form: str | None = None
    ignore: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()  #: Columns that the items of a list are values of; without an option, those of the data.
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
    """Return a field's option as it is typed."""
    return "--" + field.removesuffix("_to").removesuffix("_file").replace("_", "-")


def refuse_options(given: Options, names: Sequence[str], what: str, remedy: str = "Remove the option") -> None:
    """Raise if one of these options was given."""
    for name in names:
        value = getattr(given, name)
        if value is not None and value is not False and value not in ((), ""):
            raise OptionError(what, where=option_name(name), remedy=remedy)


def refuse_external(given: Options, *names: str) -> None:
    """Raise if an option writes values or names, and only an external output is allowed."""
    if given.is_external:
        what = "names groups of people, which an external output may not"
        refuse_options(given, names, what, "Remove one of the two options")


class Option(click.Option):
    """Option in a section of the help; ``rare`` ones are left to --help-all."""

    def __init__(self, *args: Any, section: str = METHOD, rare: bool = False, **extra: Any) -> None:
        super().__init__(*args, **extra)
        self.section = section
        self.rare = rare


def option(declaration: str, text: str, *, into: str = "", **how: Any) -> Decorator:
    """Return an option, declared as ``-o --output OUT``.

    It goes into the field ``into``, by default the one of its name. Dots (``--by COLUMNS...``) let it be repeated. ``section`` and ``rare``
    say where the help lists it.
    """
    words = declaration.split()
    names = [word for word in words if word.startswith("-")]
    metavar = None if words[-1].startswith("-") else words[-1].removesuffix("...")
    multiple = declaration.endswith("...")
    return click.option(*names, *([into] if into else []), cls=Option, metavar=metavar, help=text, multiple=multiple, **how)


class VerbCommand(click.Command):
    """Verb whose help lists options in sections, the common ones first."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return all parameters; --help-all is the last."""
        whole = click.Option(
            ["--help-all"], is_flag=True, is_eager=True, expose_value=False, help="Show all options.", callback=_show_whole_help
        )
        return [*super().get_params(ctx), whole]

    def get_help(self, ctx: click.Context) -> str:
        """Return the help, in full if that is short or asked for."""
        whole = self._help(ctx, is_whole=True)
        if ctx.meta.get(WHOLE_HELP) or whole.count("\n") < MOST_HELP:
            return whole
        return self._help(ctx, is_whole=False)

    def _help(self, ctx: click.Context, *, is_whole: bool) -> str:
        formatter = click.HelpFormatter(width=width())
        self.format_usage(ctx, formatter)
        if is_whole:
            self.format_help_text(ctx, formatter)
        else:
            with formatter.indentation():
                formatter.write_paragraph()
                formatter.write_text(cleandoc(self.help or "").partition("\n\n")[0])
        if self.epilog:
            shown = self.epilog if is_whole else "\n".join(self.epilog.split("\n")[: SHOWN_EXAMPLES + 2])
            with formatter.indentation():
                formatter.write_paragraph()
                formatter.write_text(shown)
        listed: dict[str, list[tuple[str, str]]] = {section: [] for section in SECTIONS}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None or isinstance(param, click.Argument) or (not is_whole and getattr(param, "rare", False)):
                continue
            section = getattr(param, "section", RUNNING)
            listed[section].append(record if is_whole else (record[0], _in_short(record[1])))
        for section, records in listed.items():
            if records:
                with formatter.section(section):
                    formatter.write_dl(records)
        return formatter.getvalue().rstrip("\n")


SHOWN_EXAMPLES = 3  #: Examples in the short help.
_LONGEST_KIND = 20
WHOLE_HELP = "tacit.whole-help"  #: Key of a context whose help is shown in full.


def _show_whole_help(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        ctx.meta[WHOLE_HELP] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def _in_short(text: str) -> str:
    """Return the first clause of an option's text, and its default."""
    said, bracket, default = text.partition("  [")
    ends = [place for mark in ("; ", ". ") if (place := said.find(mark)) > 0]
    if (place := said.find(": ")) > _LONGEST_KIND:  # before it stands more than the kind of release that the option is for
        ends.append(place)
    clause = said[: min(ends)].rstrip(".") + "." if ends else said
    return f"{clause}{bracket}{default}"


def combine(*decorators: Decorator) -> Decorator:
    """Combine options into one decorator, in help order."""

    def decorate(verb: Any) -> Any:
        for decorator in reversed(decorators):
            verb = decorator(verb)
        return verb

    return decorate


def command(name: str, *lines: str, group: click.Group | None = None) -> Callable[[Callable[..., Any]], click.Command]:
    """Return a command with examples, of the program or of a group of it."""
    return (group or click).command(name, cls=VerbCommand, epilog=examples(*lines))


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
    value = positive(ctx, param, value)
    if value is not None:
        from tacit.cli import backstop
        from tacit.model.policy import time_limit

        ctx.with_resource(time_limit(value))
        ctx.with_resource(backstop(value, ctx.command_path))
    return value


def _report_files(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        name = os.path.basename(value).casefold()
        if not value.startswith("/dev/") and not name.endswith((".html", ".htm", ".md", ".markdown", ".pdf")):
            remedy = "End the name with .html for a page, .pdf for print, or .md for Markdown"
            raise OptionError("reports are not written in a format with this ending", where=f"--report {value}", remedy=remedy)
        if name.endswith(".pdf"):
            from tacit.reports.print import find_browser

            find_browser()  # refuse before long work
    return values


def _date(_ctx: click.Context, param: click.Parameter, value: str | None) -> date | None:
    from tacit.model.policy import read_date

    return None if value is None else read_date(value, where=param.opts[0])


# Running and writing

json_option = option(
    "--json FILE",
    "Write the record as JSON to FILE; - is standard output, which then holds nothing else.",
    into="json_to",
    callback=lambda _ctx, _param, value: "-" if value == "/dev/stdout" else value,
    section=OUTPUT,
)
report_kind = option(
    "--report-kind KIND",
    "internal describes groups, external only counts them; in the report, the record and the text.  [internal]",
    type=click.Choice(["internal", "external"]),
    default="internal",
    section=OUTPUT,
    rare=True,
)


def _bytes(_ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    return None if value is None else parse_bytes(value, where=param.opts[0])


running = combine(
    option(
        "--time-limit SECONDS",
        "Stop after this time; whatever is undecided by then is never reported as safe.",
        type=float,
        callback=_start_time_limit,
        section=RUNNING,
    ),
    option(
        "--engine ENGINE",
        "Program that merges equal rows: memory, duckdb or spark.  [duckdb for files from 8 MB on]",
        section=RUNNING,
        rare=True,
    ),
    option("--master URL", "Master of the Spark cluster, with --engine spark.  [local[*]]", section=RUNNING, rare=True),
    option(
        "--memory SIZE",
        "Most memory for merging rows and for lists, such as 4GB.  [half of the machine, and 6 million itemsets]",
        callback=_bytes,
        section=RUNNING,
        rare=True,
    ),
    option(
        "--config FILE",
        "Take options from FILE.  [tacit.toml here or beside the data, if there is one]",
        section=RUNNING,
        rare=True,
    ),
    json_option,
    report_kind,
)
report = option(
    "--report FILE...",
    "Write a report: a self-contained page (.html), for print (.pdf) or Markdown (.md); repeat for several.",
    callback=_report_files,
    section=OUTPUT,
)
output = option(
    "-o --output OUT", "Write the release to OUT (.csv, .csv.gz, .parquet) and its header to OUT.json.", section=OUTPUT
)
seed = option("--seed SEED", "Random seed.  [0]", type=int, default=0, callback=not_negative, section=RUNNING)

# Data

roles = combine(
    option("--qi COLUMNS...", "Quasi-identifiers: repeat, or separate with commas.", section=GIVEN),
    option(
        "--sa COLUMNS...",
        "Sensitive columns: repeat, or separate with commas; none means that no column is sensitive.",
        section=GIVEN,
    ),
)
missing = combine(
    option("--missing MARK", "Mark of a missing value, such as '?'.", section=DATA, rare=True),
    option(
        "--missing-rule",
        "Treat the mark as a value, drop rows with it in a column in use, or drop rows with it in any column.  [category]",
        type=click.Choice(["category", "drop", "drop-any"]),
        section=DATA,
        rare=True,
    ),
    option(
        "--bins COLUMN=BINS...",
        "Put a column of numbers into bins: age=10 (a width), age=18,30,65 (edges), age=q4 (quartiles) (repeatable).",
        section=DATA,
        rare=True,
    ),
)
person = option(
    "--person COLUMN",
    "Column that says whose row it is, if people have several: itemsets then count people; other verbs need one row of each.",
    section=DATA,
    rare=True,
)
long_table = combine(
    option("--id-column COLUMN", "In a table of (person, item) rows: the column of the person.", section=DATA, rare=True),
    option("--item-column COLUMN", "In a table of (person, item) rows: the column of the item.", section=DATA, rare=True),
)
hierarchies = option(
    "--hierarchies DIR", "Folder of hierarchy files, <column>.csv each, in the format of ARX.", section=DATA, rare=True
)
#: How to read a table or transactions.
any_data = combine(roles, missing, long_table, hierarchies)
data = option(
    "--data DATA",
    "The data behind the release: the same findings, found faster. For a table: the table before cells were hidden.",
    section=GIVEN,
)


min_support = option("--min-support S", "Support threshold: a share (0.05, 5%) or a number of people.")
strict = option("--strict", "Read thresholds as 'more than' instead of 'at least'.", is_flag=True)

sa_order = option(
    "--sa-order VALUES",
    "The sensitive values from low to high, with commas: t-closeness then also counts how far values are apart.",
    section=KNOWN,
    rare=True,
)
withheld = option(
    "--withheld",
    "Rules about known people: where R02 expects confidences that are withheld, on thresholds or spread above them.  "
    "[at-threshold]",
    type=click.Choice(["at-threshold", "spread"]),
    section=KNOWN,
    rare=True,
)

# Policy

goal = option(
    "--goal",
    "Which attacks must fail: every one that applies, or only those on published itemsets (I01).  [all]",
    type=click.Choice(["all", "frequent-only"]),
    default="all",
    section=ACCEPTED,
    rare=True,
)
policy_file = option(
    "--policy FILE",
    "The organisation's policy; tacit.toml and options may only tighten it.  [the file named by TACIT_POLICY, if set]",
    into="policy_file",
    section=ACCEPTED,
)
today = option(
    "--date DATE",
    "Today's date, such as 2026-11-15, for waivers that expire; it is never read from the clock.",
    into="today",
    callback=_date,
    section=ACCEPTED,
    rare=True,
)
policy = combine(
    option("--k K", "Smallest group that the policy allows.  [10]", type=int, section=ACCEPTED),
    option("--l L", "How many sensitive values must remain possible for everybody.  [2]", type=int, section=ACCEPTED),
    option("--max-posterior P", "Highest probability that an estimate may give a sensitive value.", section=ACCEPTED),
    option("--max-gain P", "How far an estimate may exceed the value's share among all people.", section=ACCEPTED, rare=True),
    policy_file,
    today,
)

# Releases

release_file = combine(
    option("--n N", "Number of people, if the file does not give it.", type=int, section=GIVEN),
    option(
        "--rounding",
        "How the file's numbers were rounded; nearest: halves either way.  [as its header says, else nearest]",
        type=click.Choice(["nearest", "half-up", "half-even", "up", "truncated", "random", "unknown"]),
        section=LISTS,
        rare=True,
    ),
    option(
        "--only",
        "Which itemsets the file lists, if it does not say so.",
        type=click.Choice(["all", "closed", "maximal"]),
        section=LISTS,
        rare=True,
    ),
    option(
        "--complete/--incomplete",
        "Whether the file lists everything that reaches its threshold.  [as its header says, else not]",
        default=None,
        section=LISTS,
        rare=True,
    ),
    option("--form FORM", "Format of the file, such as mlxtend or spmf.  [recognised by its content]", section=LISTS, rare=True),
    option(
        "--ignore NAME...",
        "A file of a folder, or a column of a file, that says nothing about people (repeatable); anything else that is not "
        "read makes the verdict incomplete.",
        section=LISTS,
        rare=True,
    ),
)
max_length = option(
    "--max-length L",
    "Most items of an itemset, or of a rule's antecedent, that the file was made with.  [as its header says]",
    type=int,
    section=LISTS,
    rare=True,
)
#: How the cells of a frequency table were printed.
frequency_table = combine(
    option(
        "--by COLUMNS...",
        "Frequency table: its columns, separated with commas; in a crosstab, the one across comes last. Repeat for more files, "
        "or say which: FILE=COLUMNS.",
        section=TABLES,
        rare=True,
    ),
    option("--count COLUMN", "Frequency table: the column of counts.", section=TABLES, rare=True),
    option("--any VALUE...", "Frequency table: a value that marks a total (repeatable).", section=TABLES, rare=True),
    option(
        "--no-total VALUE...",
        "Frequency table: a value that is not a total, though it looks like one (repeatable).",
        section=TABLES,
        rare=True,
    ),
    option(
        "--hidden-below K",
        "Frequency table: hidden cells have fewer than K people.  [as its header says]",
        type=int,
        section=TABLES,
        rare=True,
    ),
    option(
        "--zeros-shown",
        "Frequency table: empty cells are not hidden.  [as its header says]",
        is_flag=True,
        section=TABLES,
        rare=True,
    ),
    option(
        "--convention NAME",
        "Frequency table: the publisher's convention, such as opensafely or rr3; see docs/frequencies.md.",
        section=TABLES,
        rare=True,
    ),
)
table_base = option("--base BASE", "Frequency table: rounding base of its counts.", type=int, section=TABLES, rare=True)

# Tables with blank cells

rows = option(
    "--rows FILE",
    "Rows to protect: a file with one row number per line, from 0, or a condition such as 'job=Sales and age<30'.",
    section=BLANKS,
    rare=True,
)
marks = option(
    "--marks FILE.csv",
    "Instead of --rows: a mark for each cell, or lines row,column,mark: + must be published, - is sensitive, empty is free.",
    section=BLANKS,
    rare=True,
)
blank = option(
    "--blank MARK...",
    "A mark of a blank cell, such as '*'; empty cells are always blank (repeatable).",
    section=BLANKS,
    rare=True,
)
min_confidence = option(
    "--min-confidence C", "Table: a rule reveals a blank cell if its confidence is above this.  [0.6]", section=BLANKS, rare=True
)
min_rule_support = option(
    "--min-support S",
    "Table: and its support is above this, a number of people or a share such as 0.2%.  [0]",
    section=BLANKS,
    rare=True,
)
OF_TABLES = ("rows", "marks", "blank", "min_confidence", "min_support")  #: Options that only tables with blank cells have.
#: How to read and judge a release of any kind.
any_release = combine(
    release_file, max_length, frequency_table, table_base, policy, rows, marks, blank, min_confidence, min_rule_support
)
#: What an adversary knows besides the release.
known = option(
    "--known DATA",
    "Everybody's quasi-identifiers, as an adversary may know them: for rules, itemsets, frequency tables and several releases.",
    section=KNOWN,
)
knowledge = option(
    "--knowledge FILE...",
    "Facts about groups of people, or negative rules, that the adversary knows as well: for people in --known or in a "
    "bucketized release (repeatable).",
    section=KNOWN,
)
people = option(
    "--people HOW",
    "How the populations of several releases are related: same, nested (each within the one before), left:0-3,joined:0-2 "
    "(since the one before), same,changed:COLUMN:0-2 (this many have another value there), or unknown.  [same, if n is the same]",
    section=KNOWN,
)
