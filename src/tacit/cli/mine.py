"""``tacit mine`` and ``tacit tabulate``: make a release."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

import tacit
from tacit.cli import Program, options, reading
from tacit.cli.options import Options, command, option, option_name
from tacit.cli.output import check_outputs, check_release_output, emit, examples, watched, write_release, wrote
from tacit.cli.reading import Settings, load_settings
from tacit.model.errors import OptionError

if TYPE_CHECKING:
    from tacit.model.release import Listed, Only
    from tacit.model.table import Table, Transactions

#: Options that an audit needs to read the same data; the header of the release has the others.
_TO_READ_AGAIN = ("id_column", "item_column", "hierarchies")


@click.group(
    "mine",
    cls=Program,
    epilog=examples(
        "tacit mine itemsets adult.csv --min-support 5% -o itemsets.csv",
        "tacit mine rules adult.csv --qi age,sex --sa salary --min-support 10% --min-confidence 60% -o rules.csv",
    ),
)
def mine_command() -> None:
    """Make a release of itemsets or rules, or list negative rules."""


@dataclass(frozen=True, kw_only=True)
class _MineOptions(Options):
    data: str
    output: str | None
    min_support: str | None
    strict: bool
    only: Only | None = None
    max_length: int | None = None


@command(
    "itemsets",
    "tacit mine itemsets mushroom.dat.gz --min-support 10% --only closed",
    "tacit mine itemsets adult.csv --min-support 5% --missing '?' --missing-rule drop -o itemsets.csv",
    group=mine_command,
)
@click.argument("data", metavar="DATA")
@options.min_support
@option("--only", "Which frequent itemsets to list.  [all]", type=click.Choice(["all", "closed", "maximal"]))
@option("--max-length L", "Most items of an itemset.  [any number]", type=int)
@options.strict
@options.any_data
@options.person
@options.output
@options.running
def itemsets_command(**given: Any) -> None:
    """List frequent itemsets.

    DATA are transactions (.dat: one person per line) or a table. The items of a table are column=value, of all columns or of those that
    --qi and --sa name. Unless --qi or --sa is given, columns of identifiers and of dates are left out.
    """
    from tacit.reports.releases import itemsets_record

    asked = _MineOptions(**given)
    settings = load_settings(asked, near=asked.data)
    min_support = _min_support(settings)
    check_release_output(asked.output, asked.json_to, inputs=[asked.data])
    with watched("mining") as progress:
        chosen = reading.frequent_items(min_support, strict=asked.strict)
        engine = reading.engine_for(asked.data, asked)
        people: Any = asked.data
        if engine is None or not engine.is_cluster or not reading.is_transactions(asked.data):
            engine = None
            people = reading.read_people(asked.data, settings, also=settings.merged.person, chosen=chosen)
        found = tacit.mine_itemsets(
            people,
            engine=engine,
            person=settings.merged.person if isinstance(people, tacit.Table) or asked.person else None,
            min_support=min_support,
            only=asked.only or "all",
            strict=asked.strict,
            hierarchies=reading.read_hierarchies(people, settings),
            progress=progress,
            **asked.pick("max_length", "memory", "time_limit"),
        )
    _write(found, people, settings, itemsets_record(found))


@dataclass(frozen=True, kw_only=True)
class _RulesOptions(_MineOptions):
    min_confidence: str | None
    withhold_values: bool
    digits: int | None
    with_confidence: bool
    publish_sa_distribution: bool
    combine_sa: bool
    incomplete: bool


@command(
    "rules",
    "tacit mine rules adult.csv --qi age,sex --sa salary --min-support 10% --min-confidence 60%",
    "tacit mine rules adult.csv --qi age --qi sex --sa salary --min-support 300 --min-confidence 0.6 --digits 3 -o rules.csv",
    group=mine_command,
)
@click.argument("data", metavar="DATA")
@options.roles
@options.min_support
@option("--min-confidence C", "Confidence threshold, a share of the people with the antecedent: 0.6 or 60%.")
@option("--max-length L", "Most items of an antecedent.  [any number]", type=int)
@options.strict
@option("--withhold-values", "Publish the rules that reach the thresholds, without their numbers.", is_flag=True)
@option("--digits D", "Publish supports with D decimals instead of counts.", type=int, callback=options.not_negative)
@option("--with-confidence", "With --digits: publish confidences too; they reveal more.", is_flag=True)
@option("--publish-sa-distribution", "Also publish how many people have each sensitive value.", is_flag=True)
@option("--combine-sa", "Take several sensitive columns as one, whose values are combinations.", is_flag=True)
@option("--incomplete", "Declare the list incomplete, so that nothing follows from a missing rule.", is_flag=True)
@options.missing
@options.person
@options.hierarchies
@options.output
@options.running
def rules_command(**given: Any) -> None:
    """List rules from QI columns to SA columns."""
    from tacit.model.numbers import share
    from tacit.reports.releases import rules_record

    asked = _RulesOptions(**given)
    settings = load_settings(asked, near=asked.data)
    min_support = _min_support(settings)
    min_confidence = share(settings.require("min_confidence", "60%"), where="--min-confidence")
    settings.require_roles(sa="salary")
    check_release_output(asked.output, asked.json_to, inputs=[asked.data])
    with watched("mining") as progress:
        people = reading.read_people_table(asked.data, settings)
        found = tacit.mine_rules(
            people,
            min_support=min_support,
            min_confidence=min_confidence,
            hierarchies=reading.read_hierarchies(people, settings, people.schema.qi),
            progress=progress,
            **asked.pick("strict", "withhold_values", "digits", "with_confidence", "publish_sa_distribution"),
            **asked.pick("combine_sa", "incomplete", "max_length", "time_limit"),
        )
    _write(found, people, settings, rules_record(found))


def _min_support(settings: Settings[_MineOptions]) -> Any:
    from tacit.model.numbers import Threshold

    return Threshold.parse(settings.require("min_support", "5%"), where="--min-support")


def _write(release: Listed, people: Table | Transactions, settings: Settings[_MineOptions], record: dict[str, Any]) -> None:
    from tacit.reports.document import UNBROKEN, first_sentence
    from tacit.reports.releases import mined_text

    asked = settings.given
    write_release(release, asked.output)
    last = f"Nothing was written; add -o {release.kind}.csv to keep the release."
    if asked.output is not None:
        given = [(name, getattr(asked, name)) for name in _TO_READ_AGAIN]
        repeated = "".join(f" {option_name(name)} {quote(value)}" for name, value in given if value)
        audit = f"tacit audit {quote(asked.output)} --data {quote(asked.data)}{repeated}"
        last = f"Written to {asked.output} and {asked.output}.json. Before you publish it: {audit}"

    numbers = _find_many_numbers(release, people)

    def text(width: int) -> str:
        mined = mined_text(
            release,
            dropped=getattr(people, "dropped", 0),
            origin=settings.config.where,
            width=width,
            many_numbers=numbers,
            k=settings.policy.k,
            repeated="" if release.header.person else _describe_repeated(people),
        )
        return f"{mined}\n{last}\n"

    emit(record, text, json_to=asked.json_to, external=first_sentence(text(UNBROKEN)) if asked.is_external else None)


def _find_many_numbers(release: Listed, people: Table | Transactions) -> list[str]:
    """Return the mined columns that are better put into bins."""
    if not isinstance(people, tacit.Table):
        return []
    from tacit.model.columns import find_many_numbers

    unused = {release.header.person, *people.schema.identifying, *(one.column for one in release.header.left_out)}
    return [name for name in find_many_numbers(people) if name not in unused]


def _describe_repeated(people: Table | Transactions) -> str:
    from tacit.model.columns import find_repeated_people
    from tacit.reports.document import visible
    from tacit.verbs.settings import describe_repeated

    column = find_repeated_people(people) if isinstance(people, tacit.Table) else None
    return "" if column is None else f"{visible(column.name)}: {describe_repeated(column, people.n)}"


@dataclass(frozen=True, kw_only=True)
class _NegativeOptions(Options):
    data: str
    output: str | None
    min_expectation: str | None
    min_confidence: str
    fuzzy: tuple[str, ...]
    max_length: int | None
    significance: str | None
    permutations: int
    seed: int
    build_hierarchies: str | None
    verbose: bool


@command(
    "negative",
    "tacit mine negative adult.csv --qi age,sex --sa occupation --min-expectation 0.9 -o negative.csv",
    "tacit mine negative adult.csv --qi age,sex --sa occupation --min-expectation 0.9 --significance 0.05",
    "tacit mine negative adult.csv --qi age,sex --sa occupation --min-expectation 0.9 --fuzzy age=2",
    "tacit mine negative adult.csv --qi age,sex --sa occupation --min-expectation 0.9 --build-hierarchies hierarchies",
    group=mine_command,
)
@click.argument("data", metavar="DATA")
@options.roles
@option("--min-expectation E", "Least probability that someone would have the value by chance: 0.9 or 90%.")
@option(
    "--min-confidence C",
    "Least share of the antecedent's people without the value; below 1, rules have exceptions and exclude no value.  [1]",
    default="1",
)
@option("--fuzzy COLUMN=SPREAD...", "Make a numeric column fuzzy: values up to SPREAD away count in part (repeatable).")
@option("--max-length L", "Most columns in an antecedent.  [all]", type=int)
@option("--significance ALPHA", "Correct for the number of antecedents and values tested (Bonferroni).")
@option(
    "--permutations N",
    "Mine N times with shuffled values, to count the rules that arise by chance.",
    type=int,
    default=0,
    callback=options.not_negative,
)
@options.seed
@options.missing
@options.person
@options.hierarchies
@option(
    "--build-hierarchies DIR",
    "Build hierarchies from the data, write them to the folder DIR, <column>.csv each, and use them.",
)
@option("-o --output OUT", "Write the rules to OUT (.csv) and their origin to OUT.json.")
@option("--verbose -v", "Print how many people have each number of values ruled out.", is_flag=True, section=options.OUTPUT)
@options.running
def negative_command(**given: Any) -> None:
    """List negative rules: QI values that never occur with an SA value.

    With many columns, only the minimal rules are listed, those that no more general rule implies; the others follow from them.
    """
    from tacit.files.disk import shown
    from tacit.files.header import header_path
    from tacit.files.hierarchies import write_hierarchies
    from tacit.files.knowledge import check_negative_output, write_negative_rules
    from tacit.reports.document import first_sentence
    from tacit.reports.releases import negative_record, negative_text

    asked = _NegativeOptions(**given)
    settings = load_settings(asked, near=asked.data)
    settings.require_roles(sa="occupation")
    min_expectation = settings.require("min_expectation", "0.9")
    spreads = _parse_spreads(asked.fuzzy)
    out = asked.output
    if out is not None:
        check_negative_output(out)
    check_outputs([asked.json_to, *([out, header_path(out)] if out is not None else [])], inputs=[asked.data])
    folder = asked.build_hierarchies
    if folder is not None and asked.hierarchies is not None:
        raise OptionError("cannot be used together with --hierarchies", where="--build-hierarchies", remedy="Choose one of them")
    if folder is not None and os.path.exists(folder) and not os.path.isdir(folder):
        raise OptionError("is a file, not a folder", where=shown(folder), remedy="Give another folder")
    built: dict[str, Any] = {}
    with watched("mining") as progress:
        people = reading.read_people_table(asked.data, settings)
        if folder is not None:
            built = tacit.build_hierarchies(people, time_limit=asked.time_limit)
            for path in write_hierarchies(built, folder):
                wrote(path)
        if not spreads:  # columns of tacit.toml that are not in use here do not matter
            spreads = {name: spread for name, spread in settings.config.fuzzy.items() if name in people.schema.qi}
        rules = tacit.mine_negative_rules(
            people,
            min_expectation=min_expectation,
            fuzzy=spreads,
            hierarchies=built if folder is not None else reading.read_hierarchies(people, settings, people.schema.qi),
            progress=progress,
            **asked.pick("min_confidence", "max_length", "significance", "permutations", "seed", "time_limit"),
        )
    if out is not None:
        write_negative_rules(rules, out)
        wrote(out)
    last = f"Written to {out} and {out}.json" if out else "Nothing was written; add -o negative.csv to keep the rules."
    if folder is not None:
        rules_too = f"; rules in {out} and {out}.json" if out else "; add -o negative.csv to keep the rules"
        last = f"Hierarchies of {', '.join(built) or 'no column'} written to {folder}{rules_too}"
    text = negative_text(rules, is_whole=asked.verbose)
    external = first_sentence(text) if asked.is_external else None
    emit(negative_record(rules), f"{text}\n{last}\n", json_to=asked.json_to, external=external)


def _parse_spreads(fuzzy: Sequence[str]) -> dict[str, Any]:
    spreads: dict[str, str] = {}
    for text in fuzzy:
        name, equals, spread = text.rpartition("=")
        if not equals or not name.strip():
            raise OptionError("is not of the form COLUMN=SPREAD", where="--fuzzy", remedy="Write for instance --fuzzy age=2")
        if name.strip() in spreads:
            raise OptionError(f"names column {name.strip()!r} twice", where="--fuzzy", remedy="Give each column one spread")
        spreads[name.strip()] = spread.strip()
    return spreads


# Frequency tables


@dataclass(frozen=True, kw_only=True)
class _TabulateOptions(Options):
    data: str
    output: str | None
    by: tuple[str, ...]
    ways: int | None
    total: bool
    hide_below: int | None
    show_zeros: bool | None
    round_to: int | None
    sums: tuple[str, ...]
    means: tuple[str, ...]
    medians: tuple[str, ...]
    quantiles: tuple[str, ...]
    stds: tuple[str, ...]
    mean_digits: int
    p_percent: str | None
    dominance: str | None


@command(
    "tabulate",
    "tacit tabulate adult.csv --by occupation,salary,sex --sa salary --hide-below 10 -o table.csv",
    "tacit tabulate adult.csv --by education,salary --by sex,salary --round 5 --total -o tables.csv",
    "tacit tabulate adult.csv --by education,marital-status,occupation,sex,salary --ways 2 --hide-below 10 -o tables.csv",
)
@click.argument("data", metavar="DATA")
@option("--by COLUMNS...", "Columns of a table, separated with commas; repeat for more tables.", required=True)
@option("--ways W", "Make all tables over one to W of the columns, instead of one over all.", type=int)
@option("--total", "Also list the totals of every table.", is_flag=True)
@option("--hide-below K", "Hide cells with fewer than K people.", type=int)
@option(
    "--show-zeros/--hide-zeros",
    "With --hide-below: show empty cells, or hide them too.  [hide, unless the policy says zeros_are_disclosive = false]",
    default=None,
)
@option("--round BASE", "Round counts to the nearest multiple of BASE.", into="round_to", type=int)
@option("--hierarchies DIR", "Also list the coarser values of columns, from ARX files such as DIR/age.csv, as subtotals.")
@option("--sum COLUMNS...", "Print the sums of these columns beside the counts.", into="sums")
@option("--mean COLUMNS...", "Print the means of these columns beside the counts.", into="means")
@option("--median COLUMNS...", "Print the medians of these columns beside the counts.", into="medians", rare=True)
@option("--quantile COLUMN:SHARE...", "Print quantiles beside the counts, such as income:0.9.", into="quantiles", rare=True)
@option("--std COLUMNS...", "Print the standard deviations of these columns beside the counts.", into="stds", rare=True)
@option("--mean-digits D", "Digits of means, quantiles and deviations after the point.", type=int, default=1, rare=True)
@option(
    "--p-percent P", "Print no numbers of cells where all but the two largest values are below P % of the largest.", rare=True
)
@option("--dominance N,SHARE", "Print no numbers of cells of which the N largest values are more than SHARE.", rare=True)
@options.roles
@options.policy_file
@options.missing
@options.person
@options.output
@options.running
def tabulate_command(**given: Any) -> None:
    """Make a release of frequency tables.

    Counts the people of DATA in every combination of values, empty ones too. Small cells can be hidden and counts rounded; the header
    beside the file says so, because readers of a published table know it.
    """
    from tacit.model.table import sensitive_names
    from tacit.reports.document import first_sentence
    from tacit.reports.releases import frequencies_record, frequencies_text

    asked = _TabulateOptions(**given)
    settings = load_settings(asked, near=asked.data)
    check_release_output(asked.output, asked.json_to, inputs=[asked.data])
    show_zeros = asked.show_zeros
    if show_zeros is None:
        show_zeros = asked.hide_below is not None and not settings.policy.zeros_are_disclosive
    with watched("counting"):
        reading.refuse_repeated_people(asked.data, settings)
        people = _read_columns(settings)
        sensitive, has_none = sensitive_names(settings.merged.sa, people.names)
        sa = [name for name in sensitive if name in people.names]
        made = tacit.tabulate(
            people,
            qi=[name for name in sensitive_names(settings.merged.qi, people.names)[0] if name in people.names],
            sa=sa or (["none"] if sensitive or has_none else []),
            show_zeros=show_zeros,
            **asked.pick("by", "ways", "total", "hide_below", "round_to", "hierarchies", "time_limit"),
            **asked.pick("sums", "means", "medians", "quantiles", "stds", "mean_digits", "p_percent", "dominance"),
        )
    out = asked.output
    write_release(made, out)
    text = frequencies_text(made, dropped=people.dropped, origin=settings.config.where)
    last = "Nothing was written; add -o table.csv to keep the release."
    if out is not None:
        last = f"Written to {out} and {out}.json. Before you publish it: tacit audit {quote(out)}"
    external = first_sentence(text) if asked.is_external else None
    emit(frequencies_record(made), f"{text}\n{last}\n", json_to=asked.json_to, external=external)


def _read_columns(settings: Settings[_TabulateOptions]) -> Table:
    from tacit.model.table import column_names, require_column, sensitive_names

    asked = settings.given
    everything = reading.table_columns(asked.data)
    for role, columns in (("--qi", asked.qi), ("--sa", asked.sa)):
        for column in sensitive_names(columns, everything)[0]:
            require_column(column, everything, where=role)
    named = [name for text in asked.by for name in ([text] if text in everything else text.split(","))]
    quantiles = tuple(one.strip().rpartition(":")[0] for text in asked.quantiles for one in text.split(","))
    beside = {"--sum": asked.sums, "--mean": asked.means, "--median": asked.medians, "--quantile": quantiles, "--std": asked.stds}
    for wanted, columns in beside.items():
        measured = column_names(columns, everything)
        for column in measured:
            require_column(column, everything, where=wanted)
        named += measured
    used = [name for name in dict.fromkeys(name.strip() for name in named) if name in everything]
    return tacit.read_table(
        asked.data,
        columns=used or list(everything),
        missing=settings.merged.missing,
        missing_rule=settings.merged.missing_rule or "category",
        bins=reading.bins_of(settings.merged.bins, asked.data),
        engine=reading.engine_for(asked.data, asked),
        where=asked.data,
    )
