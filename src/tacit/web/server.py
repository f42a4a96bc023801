"""Server of the web application on the loopback address."""

from __future__ import annotations

import signal
import socket
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path

import uvicorn

from tacit.files.disk import private_folder
from tacit.model.errors import OptionError
from tacit.web import texts
from tacit.web.app import application
from tacit.web.guard import ADDRESS, Guard, Pass
from tacit.web.jobs import Jobs
from tacit.web.live import Keepers
from tacit.web.projects import Project, Workspace
from tacit.web.site import Site

PATIENCE = 2  #: Seconds that open connections get when the server stops.


def serve(
    paths: Sequence[Path], *, port: int, tell: Callable[[str], None], opens_browser: bool, register: Path | None = None
) -> None:
    """Serve until interrupted; ``tell`` is given the address when the server is ready."""
    signal.set_wakeup_fd(-1)  # a signal ends the server in order: commands first, then copies of files
    with private_folder() as sent, _listening(port) as listening:
        workspace = Workspace.opened(sent, register)
        if paths:
            _name_files(workspace, paths)
        entry = Pass(listening.getsockname()[1])
        app = Guard(application(Site(workspace, Jobs(workspace), Keepers(workspace))), entry)
        config = uvicorn.Config(
            app,
            log_level="critical",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=PATIENCE,
            limit_concurrency=400,
        )
        _Server(config, lambda: _announce(entry, tell, opens_browser)).run(sockets=[listening])


class _Server(uvicorn.Server):
    """Server that says when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        if self.started:
            self._ready()


def _announce(entry: Pass, tell: Callable[[str], None], opens_browser: bool) -> None:
    tell(f"Open {entry.address}")
    if opens_browser:
        webbrowser.open(entry.address)


def _listening(port: int) -> socket.socket:
    """Return a socket on the loopback address, which is the only one there is."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((ADDRESS, port))
        made.listen(128)
    except OSError as exc:
        made.close()
        what = texts.PORT_FAILED.format(reason=exc.strerror)
        raise OptionError(what, where=f"--port {port}", remedy=texts.OTHER_PORT) from None
    return made


def _name_files(workspace: Workspace, paths: Sequence[Path]) -> Project:
    """Return the project of the files named at the start."""
    sources = {str(path.resolve()) for path in paths}
    for known in workspace.projects():
        if sources == {file.source for file in known.files if file.role != "unused" or file.source in sources} & sources:
            return workspace.name_files(known, list(paths))
    name = paths[0].name if len(paths) == 1 else f"{paths[0].name} and {len(paths) - 1} more"
    return workspace.name_files(workspace.create(name), list(paths))
