"""``tacit demo``: attack a harmless-looking release, live.

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
from typing import TYPE_CHECKING, Any

import tacit
from tacit.cli.options import command, json_option, option
from tacit.cli.output import check_outputs, emit, watched, width

if TYPE_CHECKING:
    from tacit.model.arrays import Ints
    from tacit.model.audit import Audit
    from tacit.model.finding import Finding
    from tacit.model.release import Release
    from tacit.model.repair import Repair
    from tacit.model.table import Table

COLUMNS = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country", "salary")
SENSITIVE = "salary"
MIN_SUPPORT = "5%"
K = 10
METHOD = "round"

DATA = "adult.csv.gz"
RELEASE = "itemsets.csv"
REPORT = "report.html"
SAFER = "safer.csv"

#: The worst findings, among which the one that is easiest to follow is shown.
_CANDIDATES = 200
_OWN_DATA = (
    "  tacit mine itemsets YOUR.csv --min-support 5% -o itemsets.csv",
    "  tacit audit itemsets.csv --data YOUR.csv --report report.html",
    "  tacit repair itemsets.csv --data YOUR.csv --method round -o safer.csv",
)


@command("demo", "tacit demo --out tacit-demo")
@option("--out DIR", "Folder to write to; made if missing.", into="folder", default="tacit-demo", show_default=True)
@json_option
def demo_command(folder: str, json_to: str | None) -> None:
    """See what a harmless-looking release reveals, on bundled data.

    Mines frequent itemsets of the UCI Adult census data, audits them, checks one finding in the data, repairs the release, audits it
    again, and writes releases and report into a folder. Everything is measured while you wait.
    """
    from tacit.reports.document import first_sentence

    check_outputs([json_to])
    with watched("mining and auditing") as progress:
        story = run_demo(folder, progress=progress)
    text = _text(story, folder, width())
    emit(_record(story), text, json_to=json_to, headline=first_sentence(text))


@dataclass(frozen=True, eq=False)
class Story:
    """Results of the demo; ``rows`` illustrate the example."""

    people: Table
    release: Release
    audit: Audit
    example: Finding | None
    rows: Ints
    repaired: Repair


def run_demo(folder: str | os.PathLike[str], *, progress: Callable[[float], None]) -> Story:
    """Mine, audit, check, repair, and write all files."""
    from tacit.files.disk import made_folder, replace_text
    from tacit.reports.audit import audit_document
    from tacit.reports.pages import render_html

    place = made_folder(folder)
    with as_file(files("tacit.data").joinpath("adult.csv.gz")) as path:
        people = tacit.read_table(path, columns=COLUMNS, missing="?", missing_rule="drop", where="the bundled Adult data")
    people = _group_ages(people)
    _write_table(people, place / DATA)
    tacit.write_release(tacit.mine_itemsets(people, min_support=MIN_SUPPORT), place / RELEASE)
    release = tacit.read_release(place / RELEASE)  # what an attacker has: the file
    policy = tacit.Policy(k=K)
    found = tacit.audit(release, data=people, policy=policy, progress=progress)
    with replace_text(place / REPORT) as stream:
        stream.write(render_html(audit_document(found, release=release)))
    worst = found.findings[:_CANDIDATES]
    example = min((finding for finding in worst if finding.count == worst[0].count), key=_effort, default=None)
    repaired = tacit.repair(release, method=METHOD, data=people, policy=policy, before=found)
    tacit.write_release(repaired.release, place / SAFER)
    return Story(people, release, found, example, rows=_find_rows(example, people), repaired=repaired)


def _group_ages(people: Table) -> Table:
    from tacit.model.table import Column

    ages = people.column("age")
    decades = [f"{int(age) // 10 * 10}-{int(age) // 10 * 10 + 9}" for age in ages.values]
    grouped = Column.from_texts("age", [decades[code] for code in ages.codes])
    return replace(people, columns=tuple(grouped if column.name == "age" else column for column in people.columns))


def _effort(finding: Finding) -> tuple[bool, int, bool, int, str]:
    """Return a sort key: easy findings first."""
    from tacit.model.finding import ItemEvent
    from tacit.reports.proofs import proof_of

    proof = proof_of(finding)
    lines = sum(number[:1] in ("+", "-") for number, _ in proof.terms)
    event = finding.same_people or finding.event
    names = (*event.present, *event.absent) if isinstance(event, ItemEvent) else ()
    is_sensitive = any(name.startswith(f"{SENSITIVE}=") for name in names)
    return lines == 0, lines, not is_sensitive, len(names), proof.statement


def _find_rows(finding: Finding | None, people: Table) -> Ints:
    import numpy as np

    from tacit.model.finding import ItemEvent

    if finding is None or not isinstance(finding.event, ItemEvent):
        return np.empty(0, np.int64)
    kept = np.ones(len(people.weights), np.bool_)
    wanted = [(name, True) for name in finding.event.present] + [(name, False) for name in finding.event.absent]
    for item, is_present in wanted:
        name, _, value = item.partition("=")
        column = people.column(name)
        has = column.codes == column.values.index(value) if value in column.values else np.zeros(len(kept), np.bool_)
        kept &= has == is_present
    return np.flatnonzero(kept)


def _write_table(people: Table, path: Path) -> None:
    """Write the data as reproducible gzipped CSV."""
    from tacit.files.disk import replace_file

    texts = ([column.values[code] for code in column.codes] for column in people.columns)
    with (
        replace_file(path) as temporary,
        open(temporary, "wb") as raw,
        gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed,
        io.TextIOWrapper(packed, encoding="utf-8", newline="") as stream,
    ):
        csv.writer(stream, lineterminator="\n").writerows([people.names, *zip(*texts, strict=True)])


def _record(story: Story) -> dict[str, Any]:
    from tacit.reports.sentences import Summary

    summary = Summary(story.audit)
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


def _text(story: Story, folder: str, width: int) -> str:
    from tacit.reports.document import bullet, proof_lines
    from tacit.reports.proofs import proof_of

    lines = [line for name, sentence in _describe_release(story) for line in bullet(f"{name:<10}", sentence, width, indent="")]
    if story.example is not None:
        lines += ["For example", *proof_lines(proof_of(story.example, story.release), width)]
        lines += bullet("Checked   ", _describe_check(story, story.example), width, indent="")
    lines += bullet("Repaired  ", _describe_repair(story), width, indent="")
    report, release, safer, data = (os.path.join(folder, name) for name in (REPORT, RELEASE, SAFER, DATA))
    written = f"{report} (open it in a browser), {release} and the repaired {safer} with their headers, and the data as {data}"
    lines += bullet("Written   ", written, width, indent="")
    return "\n".join([*lines, "", "Now with your own data:", *_OWN_DATA]) + "\n"


def _describe_release(story: Story) -> list[tuple[str, str]]:
    from tacit.reports.document import as_share, counted
    from tacit.reports.sentences import Summary

    summary = Summary(story.audit)
    people = story.people
    least = story.release.min_support or 0
    shape = f"{people.n:,} people, {len(people.columns)} columns"
    data = f"UCI Adult census: {shape}; {people.dropped:,} rows with a missing value left out, ages grouped into decades."
    smallest = f"the smallest published count is {story.audit.measures['smallest_count']:,} people"
    published = f"{len(story.release):,} itemsets that at least {least:,} people{as_share(least, people.n)} share; {smallest}. Looks safe."
    groups = f"{counted(summary.groups, 'group')} of {summary.span} follow from these counts by adding and subtracting"
    single = f"{summary.single:,} of them {'is' if summary.single == 1 else 'are'} a single person"
    return [("Data", data), ("Published", published), ("Computed", f"{groups}; {single}.")]


def _describe_check(story: Story, example: Finding) -> str:
    if not example.count.lo <= len(story.rows) <= example.count.hi:
        return f"the data DISAGREE: {len(story.rows):,} rows fit. This is a bug in Tacit; please report it"
    if len(story.rows) > 1:
        return f"the data agree: exactly {len(story.rows):,} rows fit"
    row = int(story.rows[0])
    published = {name.partition("=")[0] for name in getattr(example.event, "present", ())}
    others = [column for column in story.people.columns if column.name not in published]
    rest = ", ".join(f"{column.name}={column.values[column.codes[row]]}" for column in others)
    return f"the data agree: exactly 1 row fits, a person with {rest}"


def _describe_repair(story: Story) -> str:
    from tacit.reports.document import counted

    cost = story.repaired.cost
    after = story.repaired.after
    base = story.repaired.release.header.base
    price = f"no itemset is lost, and counts are off by {100 * cost['support_error_mean']:.2f} % on average"
    outcome = after.verdict.upper()
    if after.verdict == "incomplete" and not len(after.findings):
        undecided = sum(run.undecided for run in after.runs)
        outcome = f"nothing is found, {counted(undecided, 'question')} are open (INCOMPLETE)"
    return f"every count is rounded to a multiple of {base}: {price}. Audited again: {outcome}."
