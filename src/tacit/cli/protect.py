"""``tacit bucketize`` and ``tacit hide``: publish a table of people safely."""

from __future__ import annotations

import os
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Any, Literal

import click

import tacit
from tacit.cli import INCOMPLETE, OF_VERDICT, options, reading
from tacit.cli.options import Options, command, option
from tacit.cli.output import check_outputs, check_release_output, emit, watched, wrote
from tacit.cli.reading import load_settings, rule_thresholds
from tacit.model.errors import OptionError

if TYPE_CHECKING:
    from tacit.buckets.grouping import Method as GroupingMethod
    from tacit.partial.methods import Method as HidingMethod


@dataclass(frozen=True, kw_only=True)
class _BucketizeOptions(Options):
    data: str
    output: str
    method: GroupingMethod
    knowledge: tuple[str, ...]
    suppress: bool
    seed: int
    form: Literal["csv", "parquet"]


@command(
    "bucketize",
    "tacit bucketize adult.csv --qi age,sex --sa occupation -o groups",
    "tacit bucketize adult.csv --qi age,sex --sa occupation --l 6 --knowledge negative.csv -o groups",
    "tacit bucketize adult.csv --qi age,sex --sa occupation --l 3 --max-posterior 40% -o groups",
)
@click.argument("data", metavar="DATA")
@options.roles
@option("--l L", "How many sensitive values must remain possible for everybody.  [2]", type=int)
@option(
    "--method METHOD",
    "How to group: balanced, balanced-1, balanced-2, injector, or anatomy, which ignores knowledge.  [balanced]",
    default="balanced",
)
@option("--knowledge FILE...", "What an adversary knows, such as the file of tacit mine negative (repeatable).")
@option("--max-posterior P", "Highest probability that a value may have for a person.")
@options.policy_file
@option("--suppress", "Leave out people who fit into no such group, instead of giving up.", is_flag=True)
@options.seed
@option("--format", "Format of the two tables.  [csv]", into="form", type=click.Choice(["csv", "parquet"]), default="csv")
@options.missing
@options.person
@option("-o --output DIR", "Write qit, st and buckets.json to the folder DIR.", required=True)
@options.running
def bucketize_command(**given: Any) -> int:
    """Publish a table in groups of at least L sensitive values each.

    Two tables are written: who is in which group (QIT), and which values occur in it (ST). Someone who has both, the knowledge and
    everybody's quasi-identifiers still cannot tell which of at least L values a person has. The result is audited.

    Exit code: 0 the result is clean, 1 something remains (the result is still written), 2 no grouping exists or the input is bad
    (nothing is written).
    """
    from tacit.files.buckets import write_buckets
    from tacit.files.disk import shown
    from tacit.reports.document import first_sentence
    from tacit.reports.repair import bucketized_text
    from tacit.verbs.bucketize import bucketize_parts

    asked = _BucketizeOptions(**given)
    settings = load_settings(asked, near=asked.data)
    settings.require_roles(sa="salary")
    output = asked.output
    if os.path.isfile(output):
        raise OptionError("is a file, not a folder", where=shown(output), remedy="Give another folder with -o")
    outputs = [output.rstrip("/") or output]
    if os.path.isdir(output):
        outputs = [os.path.join(output, name) for name in (f"qit.{asked.form}", f"st.{asked.form}", "buckets.json")]
    check_outputs([asked.json_to, *outputs], inputs=[asked.data, *asked.knowledge])
    with watched("grouping") as progress:
        people = reading.read_people_table(asked.data, settings)
        policy = settings.policy
        is_anatomy = asked.method == "anatomy"
        made = bucketize_parts(
            people,
            l=policy.l,
            knowledge=list(asked.knowledge) or None,
            max_posterior=asked.max_posterior if asked.max_posterior is not None or is_anatomy else policy.max_posterior,
            progress=progress,
            **asked.pick("method", "suppress", "seed", "time_limit"),
        )
        least = made.after.policy.l if made.after else None
        write_buckets(made, output, form=asked.form, seed=asked.seed, facts={"method": made.method, "l": least})
    for name in ("qit", "st"):
        wrote(os.path.join(output, f"{name}.{asked.form}"))
    text = bucketized_text(made, dropped=people.dropped, origin=settings.config.where)
    knowledge = "".join(f" --knowledge {quote(path)}" for path in asked.knowledge)
    audit = f"tacit audit {quote(output)}{knowledge} --l {least or 2}"
    tables = f"{output.rstrip('/')}/qit.{asked.form} and st.{asked.form}"
    survive = "Correlations across groups survive every grouping; to see whose value they suggest"
    external = first_sentence(text) if asked.is_external else None
    emit(made.to_dict(), f"{text}\nWritten to {tables}. {survive}: {audit}\n", json_to=asked.json_to, external=external)
    return OF_VERDICT[made.after.verdict] if made.after is not None else INCOMPLETE


@dataclass(frozen=True, kw_only=True)
class _HideOptions(Options):
    data: str
    output: str
    rows: str | None
    marks: str | None
    may_hide: tuple[str, ...]
    method: HidingMethod | None
    min_confidence: str | None
    min_support: str | None
    other_columns: Literal["drop", "keep"]
    blank: tuple[str, ...]
    seed: int


@command(
    "hide",
    "tacit hide adult.csv --qi sex,education --sa occupation --rows rows.txt -o published.csv",
    "tacit hide adult.csv --qi sex,education --sa occupation --rows rows.txt --may-hide sc -o published.csv",
    "tacit hide adult.csv --qi sex,education --sa occupation --rows 'age<20' --may-hide ns,nc --min-support 60 -o published.csv",
)
@click.argument("data", metavar="DATA")
@options.roles
@options.rows
@option(
    "--may-hide REGIONS...",
    "Where cells may be hidden: ns (sensitive cells of other records), nc (their condition cells), sc (condition cells of the "
    "sensitive records), or all; repeat, or separate with commas.  [the choice that hides fewest cells]",
)
@option(
    "--method METHOD",
    "How to choose them: greedy, uniform, ilp, smc, rgraph-max-descendant, rgraph-random-max, rgraph-random or cr.  "
    "[uniform for sc alone, else greedy]",
)
@options.min_confidence
@options.min_rule_support
@options.policy_file
@option(
    "--marks FILE",
    "Marks of cells: + must be published, - is sensitive; a file of the table's shape, or of lines row,column,mark.",
)
@option(
    "--other-columns",
    "Columns that --qi and --sa do not name: drop them, or keep them and protect against them too.  [drop]",
    type=click.Choice(["drop", "keep"]),
    default="drop",
)
@options.blank
@options.seed
@options.missing
@options.person
@option("-o --output OUT", "Write the table to OUT (.csv, .csv.gz, .parquet) and its roles to OUT.json.", required=True)
@options.running
def hide_command(**given: Any) -> int:
    """Hide cells of a table until no rule reveals the sensitive ones.

    The sensitive cells of the rows that --rows names are hidden, and as few others as necessary: rules learnt from the rest must not
    infer any of them with more than the minimum confidence from more than the minimum support. All rows are kept, and the columns that
    --qi and --sa name (others with --other-columns keep); hidden cells are empty, and nothing written shows which rows are sensitive. The
    result is audited.

    Exit code: 0 the result is clean, 1 something remains (the result is still written), 2 no safe table exists or the input is bad
    (nothing is written).
    """
    from tacit.files.partial import write_partial
    from tacit.reports.document import first_sentence
    from tacit.reports.repair import hidden_text
    from tacit.verbs.hide_source import open_to_hide

    asked = _HideOptions(**given)
    settings = load_settings(asked, near=asked.data)
    settings.require_roles(sa="occupation")
    check_release_output(asked.output, asked.json_to, inputs=[asked.data, asked.marks, asked.rows])
    with watched("hiding") as progress:
        reading.refuse_repeated_people(asked.data, settings)
        reading.table_columns(asked.data)
        roles = settings.merged
        people = open_to_hide(
            asked.data,
            rows=asked.rows,
            marks=asked.marks,
            other_columns=asked.other_columns,
            engine=reading.engine_for(asked.data, asked),
            qi=roles.qi,
            sa=roles.sa,
            blank=asked.blank,
            missing=roles.missing,
            missing_rule=roles.missing_rule or "category",
            bins=reading.bins_of(roles.bins, asked.data),
            where=asked.data,
        )
        thresholds = rule_thresholds(settings, people.table.n, asked.min_confidence, asked.min_support)
        made = tacit.hide(
            people,
            min_confidence=thresholds.confidence,
            min_support=thresholds.support,
            progress=progress,
            may_hide=asked.may_hide or None,
            **asked.pick("rows", "method", "marks", "other_columns", "seed", "time_limit"),
        )
        write_partial(made, asked.output)
    wrote(asked.output)
    text = hidden_text(made, dropped=made.people.dropped, origin=settings.config.where)
    if made.after is not None:
        policy = made.after.policy
        is_in_order = made.people.is_by_row  # if not, no row has the number that it has in the data
        files = {"--rows": asked.rows, "--marks": asked.marks, "--data": None if made.people.dropped else asked.data}
        files = files if is_in_order else {}
        named = "".join(f" {option} {quote(path)}" for option, path in files.items() if path)
        limits = f" --min-confidence {float(policy.min_confidence):g} --min-support {policy.min_support}"
        text += f"\nWritten to {asked.output}. For details: tacit audit {quote(asked.output)}{named}{limits}\n"
    emit(made.to_dict(), text, json_to=asked.json_to, external=first_sentence(text) if asked.is_external else None)
    return OF_VERDICT[made.after.verdict] if made.after is not None else INCOMPLETE
