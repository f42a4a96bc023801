"""Arguments in, exit code out: one module per verb, one row each in the table.

A verb's module imports only click and light modules at its top, so that ``tacit --help`` stays immediate; everything else is imported when
the verb runs.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

import click

from tacit.cli import options
from tacit.cli.attacks import attacks_command
from tacit.cli.audit import audit_command
from tacit.cli.bucketize import bucketize_command
from tacit.cli.compare import compare_command
from tacit.cli.demo import demo_command
from tacit.cli.explain import explain_command
from tacit.cli.hide import hide_command
from tacit.cli.init import init_command
from tacit.cli.mine import mine_command
from tacit.cli.program import Program
from tacit.cli.repair import repair_command, repairs_command
from tacit.cli.reproduce import reproduce_command
from tacit.cli.signals import watch_signals
from tacit.cli.sweep import sweep_command
from tacit.cli.tabulate import tabulate_command
from tacit.cli.verify import verify_command
from tacit.model.version import __version__

#: The verbs, in the order that ``tacit --help`` lists them.
VERBS: tuple[click.Command, ...] = (
    *(
        demo_command,
        init_command,
        mine_command,
        tabulate_command,
        audit_command,
        explain_command,
        compare_command,
        verify_command,
    ),
    *(repair_command, bucketize_command, hide_command, sweep_command, attacks_command, repairs_command, reproduce_command),
)


@click.group(
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=options.examples(
        "tacit demo                                                  # what this is about, on bundled data",
        "tacit mine itemsets DATA --min-support 5% -o itemsets.csv   # make a release",
        "tacit audit itemsets.csv --data DATA --report report.html   # attack it",
    ),
)
@click.version_option(__version__, message="tacit %(version)s")
def cli() -> None:
    """Tell what a release gives away about single people, before it is published.

    Exit codes: 0 clean or done, 1 exposed, 2 bad input or options, 3 incomplete, 70 a bug in Tacit.
    """


for verb in VERBS:
    cli.add_command(verb)


def main() -> Any:
    """The program ``tacit``."""
    with suppress(AttributeError, ValueError):
        for stream in (sys.stdout, sys.stderr):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    watch_signals()
    cli()
