"""How the verbs that take a release read it: options for files that do not say everything themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.options import together
from tacit.cli.settings import ROLES, Settings
from tacit.errors import OptionError

if TYPE_CHECKING:
    from tacit.model.release import Release
    from tacit.model.table import Table
    from tacit.model.transactions import Transactions

release_file = together(
    click.option("--n", type=int, metavar="N", help="The number of people, where the file does not say it."),
    click.option(
        "--rounding",
        type=click.Choice(["nearest", "truncated", "unknown"]),
        help="How the file's numbers were printed.  [nearest]",
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
)
policy = click.option("--k", type=int, metavar="K", help="The smallest group the policy allows.  [10]")


def read(path: str, given: Mapping[str, Any]) -> Release:
    """A release, read as the options say."""
    from tacit.api import read_release

    return read_release(
        path,
        n=given["n"],
        rounding=given["rounding"] or "nearest",
        only=given["only"],
        complete=given["complete"],
        form=given["form"],
    )


def owners_data(release: Release, settings: Settings) -> Table | Transactions | None:
    """The owner's data, where they are given; options that say how to read them are refused where they are not."""
    from tacit.api import with_coarser_items

    given = settings.given
    if given["data"]:
        people = settings.read(given["data"], header=release.header)
        return with_coarser_items(people, settings.hierarchies_of(people, getattr(people, "names", ())))
    for name in (*ROLES, "hierarchies", "id_column", "item_column"):
        if given.get(name):
            option = "--" + name.replace("_", "-")
            raise OptionError(
                "says how to read the data, and there are none", where=option, remedy="Give them with --data, or leave it out"
            )
    return None
