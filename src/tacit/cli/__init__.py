"""Command line of Tacit: one module per verb.

A verb's module is imported when the verb is asked for. Its top imports only light modules, so that help is immediate; heavy ones are
imported by the functions that need them, or with the first use of a public name of :mod:`tacit`.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

import click

from tacit.cli.options import examples
from tacit.cli.program import LazyProgram, Verb, watch_signals
from tacit.model.version import __version__

#: The verbs, in the order of ``tacit --help``; each module defines ``<name>_command``.
VERBS = (
    Verb("demo", "tacit.cli.demo", "See what a harmless-looking release reveals, on bundled data."),
    Verb("init", "tacit.cli.init", "Write a commented tacit.toml for DATA."),
    Verb("mine", "tacit.cli.mine", "Make a release of itemsets or rules, or list negative rules."),
    Verb("tabulate", "tacit.cli.tabulate", "Make a release of frequency tables."),
    Verb("audit", "tacit.cli.audit", "Attack one or more releases and report what they reveal."),
    Verb("explain", "tacit.cli.explain", "Explain a finding, a pattern or an estimate, line by line."),
    Verb("compare", "tacit.cli.compare", "Compare what a release lets others estimate with the truth."),
    Verb("verify", "tacit.cli.verify", "Check the record of an audit and every finding it proves."),
    Verb("repair", "tacit.cli.repair", "Change a release until no attack succeeds, and audit the result."),
    Verb("bucketize", "tacit.cli.bucketize", "Publish a table in groups of at least L sensitive values each."),
    Verb("hide", "tacit.cli.hide", "Hide cells of a table until no rule reveals the sensitive ones."),
    Verb("sweep", "tacit.cli.sweep", "Choose a threshold or a precision: verdicts over a grid."),
    Verb("attacks", "tacit.cli.attacks", "List the attacks."),
    Verb("repairs", "tacit.cli.repair", "List the repairs."),
    Verb("reproduce", "tacit.cli.reproduce", "Compare a paper's tables and figures with ours."),
)


@click.group(
    cls=LazyProgram,
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
    watch_signals()
    cli()
