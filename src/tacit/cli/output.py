"""Where results go: text for people, the record for programs, files whole or not at all, progress for whoever watches a terminal."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from unicodedata import category

import click

from tacit.errors import OptionError

if TYPE_CHECKING:
    from rich.progress import Progress

#: Written as a file name, it stands for standard output.
STDOUT = "-"
#: Endings of reports: pages, and Markdown.
PAGES = (".html", ".htm")
MARKDOWN = (".md", ".markdown")
#: Work that takes less time than this shows no progress bar.
PATIENCE = 0.5
#: The verdict in colour, as :func:`coloured` writes it at the head of a text.
_OWN_COLOUR = re.compile(r"\A(?:\x1b\[[0-9;]+m)+[A-Z]+\x1b\[0m")


@dataclass
class Session:
    """What one run of the program has written so far."""

    written: list[str] = field(default_factory=list)


def check_outputs(outputs: Iterable[str | None], *, inputs: Iterable[str] = ()) -> None:
    """Raise before long work when a file cannot be written, is named twice, or is one of the inputs."""
    from tacit.files.disk import check_output, shown

    taken = {os.path.realpath(path): "is also read, and would be lost" for path in inputs}
    for path in outputs:
        if path is None or path == STDOUT:
            continue
        check_output(path)
        place = os.path.realpath(path)
        if place in taken:
            raise OptionError(taken[place], where=shown(path), remedy="Give another name to write to")
        if os.path.isfile(place) or not os.path.exists(place):  # a device takes more than one
            taken[place] = "is named twice"


def emit(record: dict[str, Any], text: Callable[[], str], *, json_to: str | None, headline: str | None = None) -> None:
    """Write the record where it is wanted and the text to standard output; with ``--json -`` standard output holds only the record.

    The record names the program, its version and the headline: the first sentence of the text, unless another is given (as where lines are
    broken to the width of the terminal).
    """
    from tacit.reports.record import dump, with_headline
    from tacit.reports.words import first_sentence

    if json_to is not None and "headline" not in record:
        record = with_headline(record, first_sentence(text()) if headline is None else headline)
    if json_to == STDOUT:
        _write_stdout(dump(record))
        return
    if json_to is not None:
        write_file(json_to, dump(record))
    say(text())


def write_file(path: str, content: bytes) -> None:
    """Replace a file whole."""
    from tacit.files.disk import replace_file

    with replace_file(path) as temporary:
        temporary.write_bytes(content)
    wrote(path)


def report_form(path: str) -> str:
    """The form of a report by the ending of its name: Markdown, else a page."""
    return "markdown" if path.casefold().endswith(MARKDOWN) else "html"


def check_report(path: str) -> None:
    """Raise where the name of a report ends as another kind of file does."""
    name = os.path.basename(path).casefold()
    if not name.endswith((*PAGES, *MARKDOWN)) and not path.startswith("/dev/"):
        remedy = "End the name with .html for a page, or with .md for Markdown"
        raise OptionError("a report is not written in a format with this ending", where=f"--report {path}", remedy=remedy)


def wrote(path: str) -> None:
    """Remember a file that now lies in its place."""
    session = click.get_current_context().find_object(Session)
    if session is not None:
        session.written.append(path)


def say(text: str) -> None:
    """Text for people on standard output."""
    own = _OWN_COLOUR.match(text)
    head = own[0] if own else ""
    try:
        click.echo(head + harmless(text.removeprefix(head)), nl=not text.endswith("\n"))
    except BrokenPipeError:
        stop_listening()


def note(text: str) -> None:
    """A remark on standard error; nobody depends on it."""
    with suppress(OSError, ValueError):
        click.echo(harmless(text), err=True)


def harmless(text: str) -> str:
    r"""The text with signs that a terminal would obey, or that turn the order of letters, written out.

    >>> harmless("a\x1b[2J\u202eb")
    'a\\x1b[2J\\u202eb'
    """
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(
        sign if sign in "\n\t" or category(sign)[0] not in "CZ" or category(sign) == "Zs" else _escape(sign) for sign in text
    )


def _escape(sign: str) -> str:
    return sign.encode("unicode_escape", "surrogatepass").decode()


def coloured(text: str, colour: str) -> str:
    """The text in colour; click leaves colours out where standard output is no terminal."""
    return text if os.environ.get("NO_COLOR") else click.style(text, fg=colour, bold=True)


def as_argument(text: str) -> str:
    """The text as a shell takes it for one argument, for commands that are shown to be copied."""
    return shlex.quote(text)


def width() -> int:
    """How wide text may be: as the terminal is, within reason."""
    from tacit.reports.words import WIDTH

    return max(60, min(120, shutil.get_terminal_size((WIDTH, 24)).columns)) if sys.stdout and sys.stdout.isatty() else WIDTH


def _write_stdout(content: bytes) -> None:
    """Bytes as they are: the record is UTF-8 whatever the terminal speaks."""
    if sys.stdout is None:
        raise OptionError("is closed", where="standard output", remedy="Name a file with --json FILE")
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        stop_listening()


def stop_listening() -> None:
    """Whoever read standard output has gone (``tacit ... | head``): what is said from now on goes nowhere."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def watched(label: str) -> Iterator[Callable[[float], None]]:
    """A function to call with the share of the work done; on a terminal it moves a bar on standard error.

    The first run says that kernels are being compiled, when that takes more than a second.
    """
    from tacit.kernels.jit import first_run_notice

    bar = _Bar(label)
    with first_run_notice(bar.remark):
        try:
            bar.start()
            yield bar.move
        finally:
            bar.stop()


class _Bar:
    """A bar that appears only when the work takes a while."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._share = 0.0
        self._lock = threading.Lock()
        self._shown: Progress | None = None
        self._timer: threading.Timer | None = None

    def start(self) -> None:
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
            if self._timer is None:  # the work has ended meanwhile
                return
            shown.add_task(self._label, total=1.0)
            shown.update(shown.task_ids[0], completed=self._share)
            shown.start()
            self._shown = shown

    def move(self, share: float) -> None:
        """Show that this share of the work is done; may be called from any thread."""
        with self._lock:
            self._share = share
            if self._shown is not None:
                self._shown.update(self._shown.task_ids[0], completed=share)

    def remark(self, text: str) -> None:
        """A line above the bar."""
        with self._lock:
            if self._shown is not None:
                self._shown.console.print(text, highlight=False, markup=False)
                return
        note(text)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._timer = None
            if self._shown is not None:
                self._shown.stop()
                self._shown = None
