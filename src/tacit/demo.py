"""The first five minutes: what a harmless-looking release of well-known data gives away, measured live.

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

import numpy as np
import numpy.typing as npt

from tacit.api import audit, mine_itemsets, read_release, read_table, repair, write_release
from tacit.formats.files import made_folder, replace_file, replace_text
from tacit.model.audit import Audit
from tacit.model.event import ItemEvent
from tacit.model.finding import Finding
from tacit.model.policy import Policy
from tacit.model.release import Itemsets
from tacit.model.repair import Repair
from tacit.model.table import Column, Table
from tacit.reports.arithmetic import Derivation
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
