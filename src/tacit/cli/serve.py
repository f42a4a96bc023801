"""``tacit serve``: the same answers in a browser, on this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from tacit.cli.options import command, option
from tacit.cli.output import note
from tacit.model.errors import EngineError, InputError

_NEEDED = ("starlette", "uvicorn")


@command(
    "serve",
    "tacit serve",
    "tacit serve itemsets.csv adult.csv",
    "tacit serve --register published/",
    "tacit serve --port 8080 --no-browser",
)
@click.argument("files", nargs=-1, metavar="[FILES]...")
@option("--port P", "The port to listen on.  [any free port]", type=click.IntRange(0, 65535), default=0)
@option("--register DIR", "Register of published releases, offered first on the page Register.")
@option("--no-browser", "Only print the address.", is_flag=True)
def serve_command(files: tuple[str, ...], port: int, register: str | None, no_browser: bool) -> int:
    """Show the same answers in a browser, on this machine.

    FILES are releases and data, and stay where they are. The address that is printed works once, in one browser, and on this machine only.
    Ctrl-C stops the server.
    """
    from importlib.util import find_spec

    from tacit.files.disk import shown

    if any(find_spec(name) is None for name in _NEEDED):
        raise EngineError("the web application is not installed", where="tacit serve", remedy="pip install 'tacit[web]'")
    for path in files:
        if not os.path.exists(path):
            raise InputError("there is no such file", where=shown(path), remedy="Check the name")
    from tacit.web.server import serve

    try:
        folder = None if register is None else Path(register).absolute()
        serve([Path(path) for path in files], port=port, tell=_tell, opens_browser=not no_browser, register=folder)
    except KeyboardInterrupt:
        note("Stopped.")
    return 0


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
