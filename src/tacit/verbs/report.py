"""Reports as files: HTML, Markdown, record, ACRO folder.

Each is written whole or not at all.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from tacit.files.disk import FilePath, Input, replace_file, replace_folder, shown
from tacit.files.header import header_path
from tacit.files.recognition import BUCKETS_HEADER
from tacit.model.audit import Audit
from tacit.model.errors import OptionError, nearest_name
from tacit.model.release import Release
from tacit.reports import acro
from tacit.reports.audit import audit_document
from tacit.reports.document import REPORT_KINDS, ReportKind
from tacit.reports.pages import page_bytes
from tacit.reports.record import audit_record, dump

#: The endings of reports and what they are.
ENDINGS = {".html": "html", ".htm": "html", ".md": "markdown", ".markdown": "markdown", ".json": "record"}
#: The record of the audit beside ACRO's.
RECORD_FILE = "tacit-audit.json"
_RESULTS = "results.json"
_CONFIG = "config.json"
_CHECKSUMS = "checksums"
#: Names in ACRO's folder that no release may have; the Viewer takes outputs.json for its own.
_TAKEN = {_RESULTS, _CONFIG, _CHECKSUMS, RECORD_FILE, acro.COUNTS_FILE, "outputs.json"}


def write_report(
    audit: Audit, path: FilePath, *, release: Release | None = None, kind: ReportKind = "internal", top: int = 10
) -> None:
    """Write an audit as a page (``.html``), Markdown (``.md``) or record (``.json``).

    ``release`` is the one that was audited, where the audit was not made by this program now.

    Examples
    --------
    >>> import tacit, tempfile
    >>> audit = tacit.audit(tacit.mine_itemsets([["a"]] * 30, min_support=10))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tacit.write_report(audit, f"{folder}/audit.md")
    ...     Path(f"{folder}/audit.md").read_text().splitlines()[0]
    '# Certificate of a disclosure audit: 1 itemset about 30 people'
    """
    _check_kind(kind)
    form = ENDINGS.get(Path(path).suffix.casefold())
    if form is None:
        raise OptionError("has an ending that is not that of a report", where=shown(path), remedy="Choose .html, .md or .json")
    with replace_file(path) as temporary:
        if form == "record":
            temporary.write_bytes(dump(audit_record(audit, top=top, kind=kind)))
        else:
            temporary.write_bytes(page_bytes(audit_document(audit, release=release, top=top, kind=kind), form))


def write_acro(
    audit: Audit,
    folder: FilePath,
    *,
    releases: Sequence[FilePath] = (),
    kind: ReportKind = "internal",
    top: int = 10,
    today: date | None = None,
) -> None:
    """Write an audit as a folder in ACRO's record layout, which SACRO-Viewer opens.

    ``releases`` are the files that were audited, in their order; they are copied, with their headers, and cells that the worst findings rest
    on are marked. An external folder holds a table of counts instead. ``today`` becomes the time of the record; without it, that is
    SOURCE_DATE_EPOCH where it is set, and otherwise the year 1970. The folder is written whole or not at all; one that holds anything but
    such a record is left alone.
    """
    _check_kind(kind)
    check_acro_folder(folder)
    content: dict[str, bytes] = {}
    entries: list[dict[str, Any]] = []
    if kind == "external":
        content[acro.COUNTS_FILE] = acro.counts_csv(audit).encode()
        entries.append({"name": acro.COUNTS_FILE, "sdc": acro.sdc(audit, 0, {})})
    else:
        for place, files in _locate(audit, releases):
            for source in files:
                taken = source.name in content or source.name in _TAKEN
                name = f"{place + 1}_{source.name}" if taken else source.name
                content[name] = source.read_bytes()
                entries.append({"name": name, "sdc": acro.sdc(audit, place, _cells(audit, place, source, top))})
    timestamp, remark = _time(today)
    made = acro.results(audit, entries, kind=kind, timestamp=timestamp, remarks=remark)
    content |= {
        _RESULTS: dump(made),
        _CONFIG: dump(audit.policy.to_dict()),
        RECORD_FILE: dump(audit_record(audit, top=top, kind=kind)),
    }
    with replace_folder(folder) as temporary:
        (temporary / _CHECKSUMS).mkdir()
        for name, data in content.items():
            (temporary / name).write_bytes(data)
            (temporary / _CHECKSUMS / f"{name}.txt").write_text(hashlib.sha256(data).hexdigest(), encoding="utf-8")


def check_acro_folder(folder: FilePath, *, inputs: Sequence[FilePath] = (), beside: Sequence[FilePath | None] = ()) -> None:
    """Raise if the folder cannot be written.

    Its parent must exist, it must be neither an input nor another output (``beside``), and it may contain nothing but such a record.
    """
    place = Path(folder)

    def holds(path: FilePath) -> bool:
        return os.path.realpath(folder) in (os.path.realpath(path), os.path.dirname(os.path.realpath(path)))

    if any(holds(path) for path in beside if path is not None):
        what = "is named twice, or another output lies in it"
        raise OptionError(what, where=shown(folder), remedy="Give another name to write to")
    if any(holds(path) for path in inputs):
        raise OptionError("is also read, and would be lost", where=shown(folder), remedy="Give another folder to write to")
    if not os.fspath(folder) or "\x00" in os.fspath(folder):
        raise OptionError("is not the name of a folder", where=shown(folder), remedy="Give the name of a folder to write")
    if not place.absolute().parent.is_dir():
        raise OptionError("its parent does not exist", where=shown(folder), remedy="Create it first, or write elsewhere")
    if place.exists() and not place.is_dir():
        raise OptionError("is a file, not a folder", where=shown(folder), remedy="Give the name of a folder to write")
    if place.is_dir() and any(place.iterdir()) and not _is_ours(place):
        remedy = "Name a new folder, or empty this one"
        raise OptionError("holds something else than a record of Tacit's", where=shown(folder), remedy=remedy)


def _is_ours(folder: Path) -> bool:
    """Tell if a folder is unchanged output of :func:`write_acro`."""
    try:
        found = json.loads((folder / _RESULTS).read_text("utf-8"))["results"]
        ours = all(one["properties"]["tool"] == acro.TOOL for one in found.values())
        names = {file["name"] for one in found.values() for file in one["files"]}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
    return ours and {one.name for one in folder.iterdir()} <= names | {_RESULTS, _CONFIG, RECORD_FILE, _CHECKSUMS}


def _locate(audit: Audit, given: Sequence[FilePath]) -> Iterator[tuple[int, list[Path]]]:
    left: list[Path] = []
    for path in map(Path, given):
        left += [path, *(sorted(path.iterdir()) if path.is_dir() else ())]
    for place, release in enumerate(audit.release):
        names = [os.path.basename(name) for name in str(release.get("file") or "").split(" and ")]
        files = _pair(names, left) if release["kind"] == "buckets" else _find(names[0], left)
        if not files:
            what = f"the file of release {place + 1} is not among those given"
            raise OptionError(what, where="releases", remedy="Name every file or folder that was audited")
        left = [path for path in left if path != files[0]]
        headers = [Path(header_path(path)) for path in files]
        yield place, [*files, *(header for header in headers if header.is_file() and header not in files)]


def _find(name: str, among: Sequence[Path]) -> list[Path]:
    for path in among:
        if path.name == name or path.resolve().name == name:
            return [one for one in sorted(path.iterdir()) if one.is_file()] if path.is_dir() else [path]
    return []


def _pair(names: Sequence[str], among: Sequence[Path]) -> list[Path]:
    for folder in among:
        if folder.is_dir() and all((folder / name).is_file() for name in names):
            beside = folder / BUCKETS_HEADER
            return [*(folder / name for name in names), *([beside] if beside.is_file() else ())]
    return []


def _cells(audit: Audit, place: int, source: Path, top: int) -> Mapping[str, Sequence[Sequence[int]]]:
    release = audit.release[place]
    names = map(os.path.basename, str(release.get("file") or "").split(" and "))
    if release["kind"] == "buckets" or source.suffix.casefold() != ".csv" or source.name not in names:
        return {}
    with Input(source).open_text(keep_newlines=True) as stream:
        heading = next(csv.reader(stream), [])
    column = next((heading.index(name) for name in ("count", "support") if name in heading), 0)
    return acro.flagged(audit, place, column - 1, top=top)


def _time(today: date | None) -> tuple[str, list[str]]:
    if today is not None:
        return f"{today.isoformat()}T00:00:00", []
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if epoch.isascii() and epoch.isdecimal() and len(epoch) < 12:
        return datetime.fromtimestamp(int(epoch), UTC).replace(tzinfo=None).isoformat(), []
    # No clock is asked, so that the same input gives the same bytes.
    return "1970-01-01T00:00:00", [
        "No date was given (--date), and Tacit never reads the clock: the time of this record is a placeholder."
    ]


def _check_kind(kind: str) -> None:
    if kind not in REPORT_KINDS:
        raise OptionError(f"there is no kind {kind!r}", where="kind", remedy=nearest_name(kind, REPORT_KINDS, "kinds"))
