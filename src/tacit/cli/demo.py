"""``tacit demo``: the whole story on bundled data."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from tacit.cli import options
from tacit.cli.output import check_outputs, emit, watched, width

if TYPE_CHECKING:
    from tacit.demo import Story


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
        from tacit.demo import tell

        story = tell(folder, progress=progress)
    emit(_record(story), lambda: _text(story, folder), json_to=json_to)


def _record(story: Story) -> dict[str, Any]:
    from tacit.reports.summary import Summary

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
    from tacit.reports.layout import bullet
    from tacit.reports.text import finding_lines

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
    from tacit.reports.summary import Summary, as_share, counted

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
    from tacit.reports.summary import counted

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
    from tacit.demo import DATA, RELEASE, REPORT, SAFER

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
