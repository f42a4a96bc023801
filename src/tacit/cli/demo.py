"""``tacit demo``: the whole story on bundled data.

The first five minutes: what a harmless-looking release of well-known data gives away, measured live.

The data are the UCI Adult census records that come with Tacit (see ``data/README.md`` for source and licence).
"""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt

from tacit.cli import options
from tacit.cli.output import check_outputs, emit, watched, width
from tacit.files.disk import made_folder, replace_file, replace_text
from tacit.files.releases import read_release, write_release
from tacit.files.tables import read_table
from tacit.model.audit import Audit
from tacit.model.event import ItemEvent
from tacit.model.finding import Finding
from tacit.model.policy import Policy
from tacit.model.release import Itemsets
from tacit.model.repair import Repair
from tacit.model.table import Column, Table
from tacit.reports.explain import Derivation
from tacit.reports.html import audit_html

COLUMNS = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country", "salary")
SENSITIVE = "salary"
MIN_SUPPORT = "5%"
POLICY = Policy(k=10)

DATA, RELEASE, REPORT, SAFER = "adult.csv.gz", "itemsets.csv", "report.html", "safer.csv"
METHOD = "substitute"
#: Among this many of the worst findings the one that is easiest to follow is shown.
_LOOKED_AT = 200


@dataclass(frozen=True, eq=False)
class Story:
    """What the demo did and found. ``rows`` are the numbers of the data rows that the example is about."""

    people: Table
    release: Itemsets
    audit: Audit
    example: Finding | None
    rows: npt.NDArray[np.int64]
    repaired: Repair
    folder: Path

    @property
    def is_confirmed(self) -> bool:
        """Whether the data hold exactly as many people in the example as were computed without them."""
        return self.example is not None and self.example.count.lo <= len(self.rows) <= self.example.count.hi


def tell(folder: str | os.PathLike[str], *, progress: Callable[[float], None]) -> Story:
    """Mine the bundled data, audit the release, check one finding in the data, repair, and write everything into the folder."""
    from tacit.verbs.audit import audit
    from tacit.verbs.mine import mine_itemsets
    from tacit.verbs.repair import repair

    place = made_folder(folder)
    people = in_decades(bundled_adult())
    _write_table(people, place / DATA)
    write_release(mine_itemsets(people, min_support=MIN_SUPPORT), place / RELEASE)
    release = read_release(place / RELEASE)  # what an attacker has: the file
    assert isinstance(release, Itemsets)
    found = audit(release, data=people, policy=POLICY, progress=progress)
    with replace_text(place / REPORT) as stream:
        stream.write(audit_html(found, release=release))
    example = easiest(found)
    repaired = repair(release, method=METHOD, data=people, policy=POLICY)
    write_release(repaired.release, place / SAFER)
    return Story(people, release, found, example, rows_in(example, people), repaired, place)


def bundled_adult() -> Table:
    """The Adult data that come with Tacit, rows with a missing value left out."""
    with as_file(files("tacit.data").joinpath("adult.csv.gz")) as path:
        return read_table(path, columns=COLUMNS, missing="?", missing_rule="drop", where="the bundled Adult data")


def in_decades(people: Table, column: str = "age") -> Table:
    """The same people with their age as ``30-39`` instead of ``34``."""
    ages = people.column(column)
    decades = [f"{int(age) // 10 * 10}-{int(age) // 10 * 10 + 9}" for age in ages.values]
    coarse = Column.from_texts(column, [decades[code] for code in ages.codes])
    return replace(people, columns=tuple(coarse if old.name == column else old for old in people.columns))


def easiest(found: Audit) -> Finding | None:
    """Among the smallest groups the one that a reader can follow best: a sum, of the fewest published lines, about the sensitive column."""
    shown = found.findings[:_LOOKED_AT]
    smallest = [finding for finding in shown if finding.count == shown[0].count]
    return min(smallest, key=_effort, default=None)


def _effort(finding: Finding) -> tuple[bool, int, bool, int, str]:
    told = Derivation.of(finding)
    event = finding.same_people or finding.event
    names = (*event.present, *event.absent) if isinstance(event, ItemEvent) else ()
    tells = any(name.startswith(f"{SENSITIVE}=") for name in names)
    return told.lines == 0, told.lines, not tells, len(names), told.statement


def rows_in(finding: Finding | None, people: Table) -> npt.NDArray[np.int64]:
    """The rows of the data that a finding is about, looked up value by value."""
    if finding is None or not isinstance(finding.event, ItemEvent):
        return np.empty(0, np.int64)
    kept = np.ones(len(people.weights), np.bool_)
    wanted = [(name, True) for name in finding.event.present] + [(name, False) for name in finding.event.absent]
    for name, present in wanted:
        column, _, value = name.partition("=")
        held = people.column(column)
        has = held.codes == held.values.index(value) if value in held.values else np.zeros(len(kept), np.bool_)
        kept &= has == present
    return np.flatnonzero(kept)


def _write_table(people: Table, path: Path) -> None:
    """The prepared data as gzipped CSV, so that every step can be repeated by hand; the same bytes every time."""
    texts = ([column.values[code] for code in column.codes] for column in people.columns)
    with (
        replace_file(path) as temporary,
        open(temporary, "wb") as raw,
        gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed,
        io.TextIOWrapper(packed, encoding="utf-8", newline="") as stream,
    ):
        csv.writer(stream, lineterminator="\n").writerows([people.names, *zip(*texts, strict=True)])


@click.command("demo", epilog=options.examples("tacit demo --out tacit-demo"))
@click.option(
    "--out",
    "folder",
    metavar="DIR",
    default="tacit-demo",
    show_default=True,
    help="The folder to write to; made if it does not exist.",
)
@options.json_option
def demo_command(folder: str, json_to: str | None) -> None:
    """See what a harmless-looking release gives away.

    Mines frequent itemsets of the bundled UCI Adult census data, audits them, checks one finding in the data, repairs the release,
    audits it again, and writes releases and report into a folder. Everything is measured while you wait.
    """
    check_outputs([json_to])
    with watched("mining and auditing") as progress:
        story = tell(folder, progress=progress)
    emit(_record(story), lambda: _text(story, folder), json_to=json_to)


def _record(story: Story) -> dict[str, Any]:
    from tacit.reports.words import Summary

    summary = Summary.of(story.audit)
    return {
        "format": "tacit.demo/1",
        "n": story.release.n,
        "itemsets": len(story.release),
        "min_support": story.release.min_support,
        "smallest_count": story.audit.measures["smallest_count"],
        "k": summary.k,
        "groups": summary.groups,
        "groups_of_one": summary.single,
        "example": story.example.to_dict() if story.example else None,
        "example_rows_in_data": len(story.rows),
        "repair": story.repaired.to_dict(),
    }


def _text(story: Story, folder: str) -> str:
    from tacit.reports.text import finding_lines
    from tacit.reports.words import bullet

    wide = width()
    lines = [line for name, told in _told(story) for line in bullet(f"{name:<10}", told, wide, indent="")]
    if story.example is not None:
        lines += ["For example", *finding_lines(story.example, story.release, width=wide)]
        lines += bullet("Checked   ", _checked(story), wide, indent="")
    lines += bullet("Repaired  ", _repaired(story), wide, indent="")
    lines += bullet("Written   ", _written(folder), wide, indent="")
    return "\n".join([*lines, "", "Now with your own data:", *_OWN_DATA]) + "\n"


def _told(story: Story) -> list[tuple[str, str]]:
    """The story in three sentences."""
    from tacit.reports.words import Summary, as_share, counted

    summary, people, least = Summary.of(story.audit), story.people, story.release.min_support or 0
    shape = f"{people.n:,} people, {len(people.columns)} columns"
    data = f"UCI Adult census: {shape}; {people.dropped:,} rows with a missing value left out, ages put into decades."
    smallest = f"the smallest published count is {story.audit.measures['smallest_count']:,} people"
    published = f"{len(story.release):,} itemsets that at least {least:,} people{as_share(least, people.n)} share; {smallest}. Looks safe."
    single = f"{summary.single:,} of them {'is' if summary.single == 1 else 'are'} a single person"
    computed = (
        f"{counted(summary.groups, 'group')} of {summary.span} follow from these counts by adding and subtracting; {single}."
    )
    return [("Data", data), ("Published", published), ("Computed", computed)]


def _repaired(story: Story) -> str:
    """What the repair changed, and what the audit of the result says."""
    from tacit.reports.words import counted

    done, cost = story.repaired, story.repaired.cost
    moved = f"{counted(cost['people_changed'], 'person', 'people')} in small groups took the values of the people most like them"
    lists = f"{counted(cost['itemsets_lost'], 'itemset')} lost, {cost['itemsets_ghost']:,} new"
    price = f"{lists}, counts off by {cost['support_error_mean']:.1%} on average"
    after = done.after
    still_open = sum(run.undecided for run in after.runs)
    if after.verdict == "incomplete" and not len(after.findings):
        return f"{moved}: {price}. Audited again: nothing is found, {counted(still_open, 'question')} are open (INCOMPLETE)."
    return f"{moved}: {price}. Audited again: {after.verdict.upper()}."


def _written(folder: str) -> str:

    report, release, safer, data = (os.path.join(folder, name) for name in (REPORT, RELEASE, SAFER, DATA))
    return f"{report} (open it in a browser), {release} and the repaired {safer} with their headers, and the data as {data}"


_OWN_DATA = (
    "  tacit mine itemsets YOUR.csv --min-support 5% -o itemsets.csv",
    "  tacit audit itemsets.csv --data YOUR.csv --report report.html",
    "  tacit repair itemsets.csv --data YOUR.csv --method round -o safer.csv",
)


def _checked(story: Story) -> str:
    """What the data say about the example."""
    if not story.is_confirmed:
        return f"the data DISAGREE: {len(story.rows):,} rows fit. This is a bug in Tacit; please report it"
    if len(story.rows) > 1:
        return f"the data agree: exactly {len(story.rows):,} rows fit"
    row = int(story.rows[0])
    event = story.example.event if story.example else None
    told = {name.partition("=")[0] for name in getattr(event, "present", ())}
    rest = ", ".join(
        f"{column.name}={column.values[column.codes[row]]}" for column in story.people.columns if column.name not in told
    )
    return f"the data agree: exactly 1 row fits, a person with {rest}"
