"""Options of tables with blank cells, and how the verbs that attack releases read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.options import together
from tacit.cli.settings import Settings
from tacit.errors import OptionError

if TYPE_CHECKING:
    from tacit.model.finding import Finding
    from tacit.model.partial import PartialTable
    from tacit.model.policy import Level, Policy
    from tacit.model.release import Release

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
min_support = click.option(
    "--min-support", metavar="S", help="... and its support is above this: a number of people, or a share such as 0.2%.  [0]"
)
marks = click.option(
    "--marks",
    metavar="FILE.csv",
    help="Instead: a mark for each cell, or lines row,column,mark: + must be published, - is sensitive, nothing leaves it free.",
)
#: What says of an audit or an explanation that it is about a table.
of_tables = together(rows, marks, blank, min_confidence, min_support)
_OPTIONS = ("rows", "marks", "blank", "min_confidence", "min_support")


def policy_of(release: Release, settings: Settings) -> Policy:
    """What the publisher accepts; options that are for tables only are refused elsewhere."""
    from tacit.config import refuse_looser
    from tacit.model.partial import PartialTable, Thresholds

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
    from tacit.formats.marks import read_marks
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
    from tacit.formats.partial import read_partial

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

    from tacit.api import audit
    from tacit.model.partial import PartialTable
    from tacit.model.person import read_who
    from tacit.model.schema import require_column

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
