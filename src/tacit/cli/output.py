"""Output: text, records, files and a progress bar."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from unicodedata import category

import click

import tacit
from tacit.model.errors import OptionError

if TYPE_CHECKING:
    from rich.progress import Progress

    from tacit.model.release import Release
    from tacit.reports.document import Document

STDOUT = "-"  #: File name that means standard output.
PATIENCE = 0.5  #: Seconds of work before a progress bar is shown.
Text = str | Callable[[int], str]  #: A text, or a function that folds it to a width.
Record = dict[str, Any] | Callable[[], dict[str, Any]]  #: A record, or a function that makes it if it is wanted.


@dataclass
class Session:
    """Files written by one run of the program."""

    written: list[str] = field(default_factory=list)


def check_outputs(outputs: Iterable[str | None], *, inputs: Iterable[str | None] = ()) -> None:
    """Raise if an output is unwritable, repeated, or input."""
    from tacit.files.disk import check_output, shown

    taken = {os.path.realpath(path): "is also read and would be lost" for path in inputs if path}
    for path in outputs:
        if path is None or path == STDOUT:
            continue
        check_output(path)
        place = os.path.realpath(path)
        if place in taken:
            raise OptionError(taken[place], where=shown(path), remedy="Give another name to write to")
        if os.path.isfile(place) or not os.path.exists(place):  # a device takes more than one
            taken[place] = "is named twice"


def check_release_output(output: str | None, json_to: str | None, *, inputs: Iterable[str | None]) -> None:
    """Raise if a release or header cannot be written."""
    from tacit.files.header import header_path, table_ending

    if output is None:
        check_outputs([json_to], inputs=inputs)
        return
    table_ending(output)
    check_outputs([json_to, output, header_path(output)], inputs=inputs)


def examples(*lines: str) -> str:
    """Return examples for the end of a help text."""
    # click keeps the lines of a paragraph that starts with a backspace
    return "\b\n" + "\n".join([f"Example{'s' if len(lines) > 1 else ''}:", *(f"  {line}" for line in lines)])


def emit(
    record: Record,
    text: Text,
    *,
    json_to: str | None,
    headline: str | None = None,
    head: str = "",
    external: str | None = None,
) -> None:
    """Write the record to file, the text to stdout.

    With ``--json -`` standard output has only the record. The record names the program, its version and the headline: the first sentence
    of the text, unless it is given. ``head`` stands before the text, and may have colours. ``external`` is a headline that describes no group:
    where it is given, record and text hold counts and Tacit's own words only.
    """
    if external is not None:
        from tacit.reports.external import external_record, external_text

        outside = external_record(record if isinstance(record, dict) else record(), external)
        record = outside

        def text(width: int) -> str:
            return external_text(outside, width)

    def fold(width: int) -> str:
        return text if isinstance(text, str) else text(width)

    if json_to is not None:
        from tacit.reports.document import UNBROKEN, first_sentence
        from tacit.reports.record import dump, with_headline

        made = record if isinstance(record, dict) else record()
        if "headline" not in made:
            made = with_headline(made, first_sentence(fold(UNBROKEN)) if headline is None else headline)
        if json_to == STDOUT:
            _write_stdout(dump(made))
            return
        write_file(json_to, dump(made))
    say(fold(width()), head)


def write_file(path: str, content: bytes) -> None:
    """Replace a file atomically."""
    from tacit.files.disk import replace_file

    with replace_file(path) as temporary:
        temporary.write_bytes(content)
    wrote(path)


def write_reports(paths: Iterable[str], document: Document) -> None:
    """Write a report in the form that the ending of each file means."""
    from tacit.reports.pages import page_bytes

    for path in paths:
        name = path.casefold()
        if name.endswith(".pdf"):
            from tacit.reports.print import print_page

            write_file(path, print_page(page_bytes(document, "html")))
        else:
            write_file(path, page_bytes(document, "markdown" if name.endswith((".md", ".markdown")) else "html"))


def write_release(release: Release, path: str | None) -> None:
    """Write a release, if the options name a file."""
    if path is not None:
        tacit.write_release(release, path)
        wrote(path)


def wrote(path: str) -> None:
    """Remember that a file is written."""
    session = click.get_current_context().find_object(Session)
    if session is not None:
        session.written.append(path)


def say(text: str, head: str = "") -> None:
    """Write text to standard output."""
    try:
        click.echo(head + harmless(text), nl=not text.endswith("\n"))
    except BrokenPipeError:
        stop_listening()


def note(text: str) -> None:
    """Write a remark to standard error, if possible."""
    with suppress(OSError, ValueError):
        click.echo(harmless(text), err=True)


def harmless(text: str) -> str:
    """Escape control and text-direction characters."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    is_shown = {one: one in "\n\t" or category(one)[0] not in "CZ" or category(one) == "Zs" for one in set(text)}
    return "".join(one if is_shown[one] else one.encode("unicode_escape", "surrogatepass").decode() for one in text)


def coloured(text: str, colour: str) -> str:
    """Colour a text for a terminal."""
    return text if os.environ.get("NO_COLOR") else click.style(text, fg=colour, bold=True)


def width() -> int:
    """Return the text width: the terminal's, within limits."""
    from tacit.reports.document import WIDTH

    return max(60, min(120, shutil.get_terminal_size((WIDTH, 24)).columns)) if sys.stdout and sys.stdout.isatty() else WIDTH


def _write_stdout(content: bytes) -> None:
    """Write bytes, since the record is always UTF-8."""
    if sys.stdout is None:
        raise OptionError("is closed", where="standard output", remedy="Name a file with --json FILE")
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        stop_listening()


def stop_listening() -> None:
    """Discard further output after a broken pipe."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def watched(label: str) -> Iterator[Bar]:
    """Yield a bar: a function that shows progress.

    The bar is on standard error, if that is a terminal. The first run reports compilation.
    """
    from tacit.kernels.jit import first_run_notice

    bar = Bar(label)
    with first_run_notice(bar.remark):
        try:
            bar.start()
            yield bar
        finally:
            bar.stop()


class Bar:
    """Progress bar that appears only for long work."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._share = 0.0
        self._lock = threading.Lock()
        self._shown: Progress | None = None
        self._timer: threading.Timer | None = None
        self._file = os.environ.get("TACIT_PROGRESS")
        self._written = 0.0

    def start(self) -> None:
        """Show the bar after a while, if there is a terminal."""
        if sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            self._timer = threading.Timer(PATIENCE, self._show)
            self._timer.daemon = True
            self._timer.start()

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
        shown = Progress(*columns, console=Console(stderr=True), transient=True)
        with self._lock:
            if self._timer is None:  # the work has ended in the meantime
                return
            shown.add_task(self._label, total=1.0)
            shown.update(shown.task_ids[0], completed=self._share)
            shown.start()
            self._shown = shown

    def __call__(self, share: float) -> None:
        """Show the progress; thread-safe."""
        with self._lock:
            self._share = share
            if self._shown is not None:
                self._shown.update(self._shown.task_ids[0], completed=share)
            self._tell()

    def _tell(self) -> None:
        """Write the progress for another program, five times a second at most."""
        if not self._file or time.monotonic() - self._written < 0.2:
            return
        self._written = time.monotonic()
        with suppress(OSError):
            temporary = f"{self._file}.new"
            with open(temporary, "w", encoding="utf-8") as stream:
                json.dump({"share": self._share, "stage": self._label}, stream)
            os.replace(temporary, self._file)

    def stage(self, label: str) -> None:
        """Name what is done from now on."""
        with self._lock:
            self._label = label
            if self._shown is not None:
                self._shown.update(self._shown.task_ids[0], description=label)
            self._written = 0.0
            self._tell()

    def remark(self, text: str) -> None:
        """Write a line above the bar."""
        with self._lock:
            if self._shown is not None:
                self._shown.console.print(text, highlight=False, markup=False)
                return
        note(text)

    def stop(self) -> None:
        """Remove the bar."""
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._timer = None
            if self._shown is not None:
                self._shown.stop()
                self._shown = None
