"""Program ``tacit``: its verbs, exit codes and signals.

A verb's module is imported when the verb is asked for. Its top imports only light modules, so that help is immediate; heavy ones are
imported by the functions that need them, or with the first use of a public name of :mod:`tacit`.

Python runs signal handlers between two of its own instructions, and a call into a library can take minutes; an exception that a handler
raises can also get lost in one. So a separate thread waits for signals and ends the program.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NamedTuple

import click

from tacit.cli.output import Session, examples, note, stop_listening
from tacit.model.errors import InternalError, LimitReached, OptionError, TacitError, nearest_name
from tacit.model.version import __version__

DONE = 0
EXPOSED = 1
BAD_INPUT = 2
INCOMPLETE = 3
BUG = 70
TERMINATED = 128 + signal.SIGTERM
INTERRUPTED = 128 + signal.SIGINT
OF_VERDICT = {"clean": DONE, "exposed": EXPOSED, "incomplete": INCOMPLETE}  #: The exit code of each verdict.

PATIENCE = 3.0  #: Seconds after Ctrl-C in which the program may end by itself, with a sentence about what was written.
BACKSTOP = 2.5  #: Seconds after the time limit at which whatever still runs is told to stop, and then again and again.
MOST_UNNOTICED = 3  #: Number of such alarms after which the program ends although a library does not return.
PARENT = "TACIT_PARENT"  #: Variable with the process id of the server that started the program.
LEAST_MEMORY = 768 << 20  #: Address space that loading the libraries takes, in bytes.

#: Phrases of libraries that are short of memory, in errors of many kinds.
_SHORT_OF_MEMORY = (
    "cannot allocate memory",
    "failed to map segment",
    "out of memory",
    "unable to allocate",
    "can't start new thread",
)
_OUTPUT_FAILED = "standard output: cannot be written. Free some space, or write to a file elsewhere."


# Verbs


class Verb(NamedTuple):
    """Name, module and help of a verb."""

    name: str
    module: str
    summary: str


#: The verbs, in the order of ``tacit --help``; each module defines ``<name>_command``.
VERBS = (
    Verb("demo", "tacit.cli.demo", "See what a harmless-looking release reveals, on bundled data."),
    Verb("init", "tacit.cli.init", "Write a commented tacit.toml for DATA."),
    Verb("mine", "tacit.cli.mine", "Make a release of itemsets or rules, or list negative rules."),
    Verb("tabulate", "tacit.cli.mine", "Make a release of frequency tables."),
    Verb("audit", "tacit.cli.audit", "Attack one or more releases and report what they reveal."),
    Verb("explain", "tacit.cli.explain", "Explain a finding, a pattern or an estimate, line by line."),
    Verb("compare", "tacit.cli.compare", "Compare what a release lets others estimate with the truth."),
    Verb("verify", "tacit.cli.verify", "Check the record of an audit and every finding it proves."),
    Verb("serve", "tacit.cli.serve", "Show the same answers in a browser, on this machine."),
    Verb("register", "tacit.cli.register", "Keep a list of published releases, and audit new ones with them."),
    Verb("repair", "tacit.cli.repair", "Change a release until no attack succeeds, and audit the result."),
    Verb("bucketize", "tacit.cli.protect", "Publish a table in groups of at least L sensitive values each."),
    Verb("hide", "tacit.cli.protect", "Hide cells of a table until no rule reveals the sensitive ones."),
    Verb("sweep", "tacit.cli.sweep", "Choose a threshold, precision or repair by trying a grid of them."),
    Verb("attacks", "tacit.cli.catalogue", "List the attacks."),
    Verb("repairs", "tacit.cli.catalogue", "List the repairs."),
    Verb("reproduce", "tacit.cli.reproduce", "Compare a paper's tables and figures with ours."),
)


class Program(click.Group):
    """Group of verbs that turns failures into exit codes.

    The ``verbs`` are imported on demand, and listed in the order in which they are given.
    """

    def __init__(self, *args: Any, verbs: Sequence[Verb] = (), **extra: Any) -> None:
        super().__init__(*args, **extra)
        self.verbs = {verb.name: verb for verb in verbs}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in order of addition."""
        return [*self.verbs, *self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a verb."""
        if cmd_name not in self.verbs:
            return super().get_command(ctx, cmd_name)
        command: click.Command = getattr(import_module(self.verbs[cmd_name].module), f"{cmd_name}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of verbs without importing any."""
        if not self.verbs:
            super().format_commands(ctx, formatter)
            return
        with formatter.section("Commands"):
            formatter.write_dl([(verb.name, verb.summary) for verb in self.verbs.values()])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the verb that is meant."""
        name = args[0]
        known = self.list_commands(ctx)
        if name not in known and not name.startswith("-") and not ctx.resilient_parsing:
            remedy = nearest_name(name, known, "commands")
            raise OptionError(f"there is no command {name!r}", where=ctx.command_path, remedy=remedy)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb, if memory suffices for its libraries."""
        with suppress(ImportError):  # there are no such limits on Windows
            import resource

            allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
            if 0 <= allowed < LEAST_MEMORY:
                what = f"there is not enough memory: this shell allows less than {LEAST_MEMORY >> 20} MB"
                raise OptionError(what, where="tacit", remedy="Raise the limit with ulimit -v")
        return super().invoke(ctx)

    def main(self, args: Sequence[str] | None = None, **extra: Any) -> Any:  # type: ignore[override]
        """Run a verb and exit with its code."""
        if not extra.pop("standalone_mode", True):
            return super().main(args, standalone_mode=False, **extra)
        code = self._run(args, {"obj": Session()} | extra | {"prog_name": "tacit"})
        try:
            if sys.stdout is not None:
                sys.stdout.flush()
        except BrokenPipeError:
            stop_listening()
        except (OSError, ValueError):
            stop_listening()
            code = _complain(_OUTPUT_FAILED, BAD_INPUT)
        sys.exit(code)

    def _run(self, args: Sequence[str] | None, extra: dict[str, Any]) -> int:
        try:
            code = super().main(args, standalone_mode=False, **extra)
        except (KeyboardInterrupt, click.Abort):
            files = ", ".join(extra["obj"].written)
            written = f"written before: {files}" if files else "nothing was written"
            return _complain(f"interrupted; {written}", INTERRUPTED)
        except LimitReached as exc:
            return _complain(str(exc), INCOMPLETE)
        except InternalError as exc:
            return _report_bug(exc)
        except TacitError as exc:
            return _complain(str(exc), BAD_INPUT)
        except click.UsageError as exc:
            return _complain(_usage(exc), BAD_INPUT)
        except click.ClickException as exc:
            return _complain(f"tacit: {_clause(exc.format_message())}. See tacit --help.", BAD_INPUT)
        except BrokenPipeError:
            stop_listening()
            return DONE
        except Exception as exc:
            if lacks_memory(exc):
                return _complain("tacit: there is not enough memory. Raise --min-support, or use a machine with more.", BAD_INPUT)
            if isinstance(exc, OSError) and exc.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EBADF):
                stop_listening()  # what is still buffered would fail, and be reported, again
                return _complain(_OUTPUT_FAILED, BAD_INPUT)
            return _report_bug(exc)
        return code if isinstance(code, int) else DONE


@click.group(
    cls=Program,
    verbs=VERBS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=examples(
        "tacit demo                                                  # a first look, on bundled data",
        "tacit mine itemsets DATA --min-support 5% -o itemsets.csv   # make a release",
        "tacit audit itemsets.csv --data DATA --report report.html   # attack it",
    ),
)
@click.version_option(__version__, message="tacit %(version)s")
def cli() -> None:
    """Find out what a release reveals about individuals, before you publish it.

    Exit codes: 0 clean or done, 1 exposed, 2 bad input or options, 3 incomplete, 70 a bug in Tacit.
    """


def main() -> None:
    """Run the program ``tacit``."""
    # Idle threads of numpy's linear algebra would keep a core busy for a while; so they sleep after 2**20 cycles.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")
    with suppress(AttributeError, ValueError):
        for stream in (sys.stdout, sys.stderr):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    if "_TACIT_COMPLETE" in os.environ:
        from tacit.cli.completion import install_completion

        install_completion()
    watch_signals()
    watch_parent()
    cli()


# Failures


def lacks_memory(exc: BaseException | None) -> bool:
    """Return True if an error is due to memory."""
    while exc is not None:
        text = str(exc).casefold()
        short = isinstance(exc, OSError) and exc.errno == errno.ENOMEM
        if short or isinstance(exc, MemoryError) or any(words in text for words in _SHORT_OF_MEMORY):
            return True
        exc = exc.__cause__ or exc.__context__
    return False


def _usage(exc: click.UsageError) -> str:
    where = exc.ctx.command_path if exc.ctx else "tacit"
    remedy = f"See {where} --help"
    what = _clause(exc.format_message())
    if getattr(click.exceptions, "NoArgsIsHelpError", None) is type(exc) and exc.ctx:
        return exc.ctx.get_help()
    if isinstance(exc, click.NoSuchOption) and exc.ctx:
        known = [name for param in exc.ctx.command.params for name in param.opts if name.startswith("--")]
        near = get_close_matches(exc.option_name, known, n=3, cutoff=0.6)
        meant = f"Did you mean {' or '.join(near)}? " if near else ""
        lists = "--help" if isinstance(exc.ctx.command, click.Group) else "--help-all"
        remedy = f"{meant}{where} {lists} lists the options"
        what = f"there is no option {exc.option_name}"
    elif isinstance(exc, click.BadOptionUsage):
        what = _clause(exc.message).removeprefix(f"option {exc.option_name!r} ")
        where = exc.option_name
    elif isinstance(exc, click.MissingParameter) and exc.param is not None:
        name = exc.param.opts[0] if exc.param.param_type_name == "option" else exc.param.make_metavar(exc.ctx)  # type: ignore[arg-type]
        what = f"{name.rstrip('.')} is missing"
    elif isinstance(exc, click.BadParameter) and exc.param is not None:
        what = _clause(exc.message)
        where = exc.param.opts[0]
    return str(OptionError(what, where=where, remedy=remedy))


def _clause(message: str) -> str:
    """Return click's sentence as a clause."""
    text = message.strip().rstrip(".")
    return text[:1].lower() + text[1:]


def _complain(sentence: str, code: int) -> int:
    note(sentence)
    return code


def _report_bug(exc: BaseException) -> int:
    if os.environ.get("TACIT_DEBUG") == "1":
        import traceback

        note("".join(traceback.format_exception(exc)))
    what = f"tacit: this is a bug in Tacit ({type(exc).__name__}). "
    return _complain(what + "Run again with TACIT_DEBUG=1 for details (they may show values of your data), and report it.", BUG)


# Signals


class _Alarms:
    """Unnoticed alarms, and the sentence to end with."""

    unnoticed = 0
    sentence = ""


def watch_signals() -> None:
    """End the program on SIGTERM and stubborn Ctrl-C."""
    with suppress(AttributeError, ValueError, OSError):
        signal.signal(signal.SIGTERM, lambda *_: end(TERMINATED))
    with suppress(AttributeError, ValueError, OSError, RuntimeError):
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        thread = threading.Thread(target=_watch, args=(reading,), daemon=True)
        thread.start()
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)


def watch_parent() -> None:
    """End the program when the server that started it has ended, however that happened."""
    parent = os.environ.pop(PARENT, "")
    if not parent.isdecimal():
        return

    def watch() -> None:
        while os.getppid() == int(parent):
            time.sleep(1.0)
        end(TERMINATED)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def backstop(seconds: float, where: str) -> Iterator[None]:
    """Raise :class:`LimitReached` in code without time checks.

    Attacks stop as if they had checked, and keep what they found; reading and writing leave nothing half done. :func:`disarm` ends it.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    reached = LimitReached("the time limit was reached", where=where, remedy="Give more time with --time-limit")

    def over(*_: object) -> None:
        _Alarms.unnoticed = 0
        raise reached

    _Alarms.unnoticed = 0
    _Alarms.sentence = str(reached)
    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds + BACKSTOP, min(BACKSTOP, 1.0))
    try:
        yield
    finally:
        disarm()
        signal.signal(signal.SIGALRM, before)


def disarm() -> None:
    """Cancel the alarm, so that results are written."""
    _Alarms.sentence = ""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)


def _watch(reading: int) -> None:
    """Wait for signals on the wakeup pipe."""
    patience: float | None = None
    while True:
        ready, _, _ = select.select([reading], [], [], patience)
        if not ready:
            end(INTERRUPTED)
        for number in os.read(reading, 64):
            if number == signal.SIGTERM:
                end(TERMINATED)
            if hasattr(signal, "SIGALRM") and number == signal.SIGALRM and _Alarms.sentence:
                _Alarms.unnoticed += 1
                if _Alarms.unnoticed >= MOST_UNNOTICED:
                    with suppress(OSError):
                        os.write(2, f"{_Alarms.sentence}\n".encode(errors="backslashreplace"))
                    end(INCOMPLETE)
            if number == signal.SIGINT and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                patience = PATIENCE


def end(code: int) -> None:
    """Exit at once; remove only temporary files."""
    if "tacit.files.disk" in sys.modules:
        from tacit.files.disk import remove_own

        with suppress(Exception):
            remove_own()
    os._exit(code)
