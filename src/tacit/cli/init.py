"""``tacit init``: write a ``tacit.toml`` for a data set."""

from __future__ import annotations

import os
from shlex import quote

import click

from tacit.cli.options import command, json_option, option, report_kind
from tacit.cli.output import check_outputs, emit, write_file
from tacit.model.errors import OptionError


@command("init", "tacit init adult.csv")
@click.argument("data", metavar="DATA")
@option("-o --output FILE", "The file to write.", default="tacit.toml", show_default=True)
@option("--force", "Replace the file if it exists.", is_flag=True)
@report_kind
@json_option
def init_command(data: str, output: str, force: bool, report_kind: str, json_to: str | None) -> None:
    """Write a commented tacit.toml for DATA.

    It has the roles of columns, missing values, thresholds and the policy. Other commands take their options from it if it lies in the
    current folder or beside the data.
    """
    from tacit.files.disk import shown
    from tacit.reports.document import visible
    from tacit.verbs.settings import parse_config, write_config

    check_outputs([output, json_to], inputs=[data])
    if os.path.exists(output) and not force:
        raise OptionError("exists already", where=shown(output), remedy="Replace it with --force, or name another file with -o")
    content = write_config(data)
    write_file(output, content.encode())
    config = parse_config(content)
    guessed = {"qi": list(config.qi), "identifying": list(config.identifying), "missing": config.missing}
    record = {"format": "tacit.init/1", "file": output} | guessed
    named = {"quasi-identifiers": config.qi, "identifying": config.identifying, "missing": (config.missing or "",)}
    shown_guesses = "; ".join(f"{what} {', '.join(map(visible, names))}" for what, names in named.items() if any(names))
    text = (
        f"Written to {output}. The roles of the columns in it are guesses: check them.\n"
        + (f"Guessed: {shown_guesses}.\n" if shown_guesses else "")
        + f"Then for instance:\n  tacit mine itemsets {quote(data)} --min-support 5% -o itemsets.csv\n"
    )
    emit(record, text, json_to=json_to, external="A file of settings was written." if report_kind == "external" else None)
