"""``tacit compare`` of a bucketized release: what it is still good for, and how often guesses from it are right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.options import not_negative, together
from tacit.cli.output import emit, watched, width
from tacit.errors import OptionError

if TYPE_CHECKING:
    from tacit.model.buckets import Buckets
    from tacit.model.table import Table

#: Options that are about bucketized releases, and their names in Python.
_OPTIONS = {
    "rule_support": "min_support", "min_conviction": "min_conviction", "max_length": "max_length", "queries": "queries", "dim": "dim",
    "selectivity": "selectivity", "seed": "seed",
}  # fmt: skip

options = together(
    click.option("--knowledge", multiple=True, metavar="FILE", help="Buckets: what a reader of them knows, such as negative rules.  Repeat."),
    click.option(
        "--interval", "intervals", multiple=True, metavar="COLUMN=WIDTH", help="Buckets: take a column of numbers in intervals, age=10.  Repeat."
    ),
    click.option("--rule-support", metavar="S", help="Buckets: how many people a rule of the data needs.  [1%]"),
    click.option("--min-conviction", metavar="C", help="Buckets: the least conviction of a rule of the data.  [1.1]"),
    click.option("--max-length", type=int, metavar="L", help="Buckets: the most columns of a rule of the data.  [3]"),
    click.option("--queries", type=int, metavar="N", help="Buckets: how many questions are asked.  [1000]"),
    click.option("--dim", type=int, metavar="D", help="Buckets: how many columns a question is about.  [2, or fewer]"),
    click.option("--selectivity", metavar="P", help="Buckets: the share of the values of a column that a question asks for at most.  [50%]"),
    click.option("--seed", type=int, callback=not_negative, metavar="SEED", help="Buckets: what chance starts from.  [0]"),
)  # fmt: skip


def refuse(given: Mapping[str, Any]) -> None:
    """Raise where an option about bucketized releases was given for another one."""
    for name in (*_OPTIONS, "knowledge", "intervals"):
        if given[name] not in (None, ()):
            option = "--interval" if name == "intervals" else "--" + name.replace("_", "-")
            raise OptionError("is about bucketized releases, and this is none", where=option, remedy="Leave it out")


def compare_buckets(release: Buckets, people: Table, given: Mapping[str, Any], json_to: str | None) -> None:
    """Measure a bucketized release beside its data, and say it."""
    from tacit.reports.estimates import utility_text
    from tacit.reports.words import UNBROKEN, first_sentence
    from tacit.verbs.compare import utility

    for name, option in (("top", "--top"), ("csv_to", "--csv")):
        if given.get(name) is not None:
            raise OptionError("is about rules, and this is a bucketized release", where=option, remedy="Leave it out")
    chosen = {python: given[name] for name, python in _OPTIONS.items() if given[name] is not None}
    with watched("measuring") as progress:
        found = utility(
            release,
            data=people,
            knowledge=list(given["knowledge"]) or None,
            intervals=_widths(given["intervals"]),
            time_limit=given["time_limit"],
            progress=progress,
            **chosen,
        )
    said = first_sentence(utility_text(found, width=UNBROKEN))
    emit(found.to_dict(), lambda: utility_text(found, width=width()), json_to=json_to, headline=said)


def _widths(given: tuple[str, ...]) -> dict[str, float]:
    """Widths of intervals by column, as they are written on the command line.

    >>> _widths(("age=10", "pay=2.5"))
    {'age': 10.0, 'pay': 2.5}
    """
    out: dict[str, float] = {}
    for text in given:
        name, sign, width = text.rpartition("=")
        try:
            out[name] = float(width)
        except ValueError:
            sign = ""
        if not sign:
            raise OptionError("is no column with a width", where="--interval", remedy="Write for instance age=10") from None
    return out
