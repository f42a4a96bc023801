"""``tacit bucketize``: put people into groups, so that nobody's sensitive value follows from hers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from tacit.cli import options
from tacit.cli.options import Settings
from tacit.cli.output import as_argument, check_outputs, emit, watched, wrote
from tacit.cli.program import OF_VERDICT
from tacit.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.model.repair import Bucketized
    from tacit.model.table import Table


@click.command(
    "bucketize",
    epilog=options.examples(
        "tacit bucketize adult.csv --qi age,sex --sa occupation --l 6 --knowledge negative.csv -o groups",
        "tacit bucketize adult.csv --qi age,sex --sa occupation --l 3 --max-posterior 40% -o groups",
    ),
)
@click.argument("data", metavar="DATA")
@options.roles
@click.option("--l", "l", type=int, metavar="L", help="How many sensitive values must stay possible for everybody.")
@click.option(
    "--method",
    default="balanced",
    metavar="METHOD",
    help="How to group: balanced, balanced-1, balanced-2, injector, or anatomy, which does not look at knowledge.  [balanced]",
)
@click.option(
    "--knowledge", multiple=True, metavar="FILE", help="What an attacker knows, such as the file of tacit mine negative.  Repeat."
)
@click.option("--max-posterior", metavar="P", help="Accept only groups in which no value is more probable for anybody.")
@options.policy_file
@click.option("--suppress", is_flag=True, help="Leave out people for whom there is no such group, instead of giving up.")
@click.option("--seed", type=int, default=0, callback=options.not_negative, metavar="SEED", help="What chance starts from.  [0]")
@click.option(
    "--format", "form", type=click.Choice(["csv", "parquet"]), default="csv", help="How the two tables are written.  [csv]"
)
@options.missing
@click.option("-o", "--output", required=True, metavar="DIR", help="Write qit, st and buckets.json to the folder DIR.")
@options.running
def bucketize_command(data: str, output: str, form: str, json_to: str | None, **given: Any) -> int:
    """Put the people of DATA into groups of at least L sensitive values, and audit the result.

    Two tables are written: who is in which group (QIT), and which values occur there (ST). Whoever has them, the knowledge and everybody's
    quasi-identifiers still cannot tell which of at least L values somebody has.

    Exit code: 0 when the audit of the result is clean, 1 when something remains (the result is still written), 2 when no grouping does it
    or the input is bad (nothing is written).
    """
    from tacit.files.buckets import write_buckets

    settings = Settings.of(given, near=data)
    settings.needed("qi", "age,sex")
    settings.needed("sa", "salary")
    _check_outputs(output, form, json_to, [data, *given["knowledge"]])
    with watched("grouping") as progress:
        people = _people(settings, data)
        made = _made(people, settings, progress)
        facts = {"method": made.method, "l": made.after.policy.l if made.after else None}
        write_buckets(made, output, form="parquet" if form == "parquet" else "csv", seed=given["seed"], facts=facts)
    for name in ("qit", "st"):
        wrote(os.path.join(output, f"{name}.{form}"))
    emit(made.to_dict(), lambda: _text(made, people, settings, output, form), json_to=json_to)
    return OF_VERDICT[made.after.verdict] if made.after is not None else OF_VERDICT["incomplete"]


def _made(people: Table, settings: Settings, progress: Callable[[float], None]) -> Bucketized:
    from tacit.verbs.bucketize import bucketize

    given, policy = settings.given, settings.policy
    if "l" not in policy.origin:
        raise OptionError("is missing", where="--l", remedy="Write for instance --l 3, or set it in tacit.toml")
    least = policy.l
    bound = given["max_posterior"]
    if bound is None and given["method"] != "anatomy":
        bound = policy.max_posterior
    return bucketize(
        people,
        l=least,
        method=given["method"],
        knowledge=list(given["knowledge"]) or None,
        max_posterior=bound,
        suppress=given["suppress"],
        seed=given["seed"],
        time_limit=given["time_limit"],
        progress=progress,
    )


def _people(settings: Settings, data: str) -> Table:
    from tacit.model.table import Table

    people = settings.read(data)
    if not isinstance(people, Table):
        raise OptionError("holds transactions, which have no columns", where=data, remedy="Give a table")
    return people


def _check_outputs(output: str, form: str, json_to: str | None, inputs: list[str]) -> None:
    """Refuse before long work what cannot be written after it; nothing is made yet."""
    from tacit.files.disk import shown

    if os.path.isfile(output):
        raise OptionError("is a file, not a folder", where=shown(output), remedy="Give another folder with -o")
    if os.path.isdir(output):
        tables = [os.path.join(output, name) for name in (f"qit.{form}", f"st.{form}", "buckets.json")]
        check_outputs([json_to, *tables], inputs=inputs)
    else:
        check_outputs([json_to, output.rstrip("/") or output], inputs=inputs)


def _text(made: Bucketized, people: Table, settings: Settings, output: str, form: str) -> str:
    from tacit.reports.repair import bucketized_text

    told = bucketized_text(made, dropped=people.dropped, origin=settings.config.where)
    least = made.after.policy.l if made.after else 2
    knowledge = "".join(f" --knowledge {as_argument(path)}" for path in settings.given["knowledge"])
    tables = f"{output.rstrip('/')}/qit.{form} and st.{form}"
    look = f"tacit audit {as_argument(output)}{knowledge} --l {least}"
    return f"{told}\nWritten to {tables}. What goes with what over all groups survives every grouping; to see who is guessed by it: {look}\n"
