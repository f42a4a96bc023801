"""A PostgreSQL server of Debian's package on a private socket, and a proxy that counts what crosses the wire."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from glob import glob
from pathlib import Path
from typing import Any


def program(name: str) -> str:
    """Return the path of a program of PostgreSQL."""
    found = sorted(glob(f"/usr/lib/postgresql/*/bin/{name}")) or [path for path in [shutil.which(name)] if path]
    assert found, f"{name} is not installed; `make needs` installs it"
    return found[-1]


@contextlib.contextmanager
def running_server() -> Iterator[str]:
    """Start a server that listens on a socket in a private folder; yield the folder. Root starts it as another user."""
    as_user: dict[str, Any] = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
    folder = tempfile.mkdtemp(prefix="tacit-pg")
    try:
        if as_user:
            shutil.chown(folder, "postgres", "postgres")
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder, **as_user}
        init = [program("initdb"), "-D", f"{folder}/db", "-A", "trust", "-U", "owner", "--no-sync", "-E", "UTF8", "--locale=C"]
        subprocess.run(init, check=True, **quiet)
        options = [
            "-c",
            "listen_addresses=",
            "-c",
            f"unix_socket_directories={folder}",
            "-c",
            "fsync=off",
            "-c",
            "shared_buffers=8MB",
        ]
        server = subprocess.Popen([program("postgres"), "-D", f"{folder}/db", *options], **quiet)
        try:
            ready = [program("pg_isready"), "-q", "-h", folder]
            for _ in range(200):
                if subprocess.run(ready, check=False).returncode == 0:
                    break
                with contextlib.suppress(subprocess.TimeoutExpired):
                    server.wait(0.05)
            yield folder
        finally:
            server.terminate()
            server.wait(20)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Proxy:
    """Hands connections on to the socket of the server; counts bytes, and can break them after so many."""

    def __init__(self, folder: str, most: int | None = None) -> None:
        self.target = str(Path(folder) / ".s.PGSQL.5432")
        self.most = most
        self.received = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self.target)
                threading.Thread(target=self._pump, args=(client, server, False), daemon=True).start()
                threading.Thread(target=self._pump, args=(server, client, True), daemon=True).start()

    def _pump(self, one: socket.socket, other: socket.socket, counted: bool) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(1 << 16):
                if counted:
                    self.received += len(data)
                    if self.most is not None and self.received > self.most:
                        break
                other.sendall(data)
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def close(self) -> None:
        """Take no more connections."""
        self.listener.close()
