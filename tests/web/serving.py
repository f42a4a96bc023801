"""A running server, and requests that are exactly as they are written."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.shell import TACIT


@dataclass
class Answer:
    """Status, headers and body of an answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> dict[str, Any]:
        made: dict[str, Any] = json.loads(self.body)
        return made


@dataclass
class Served:
    """A server that was started for tests."""

    process: subprocess.Popen[str]
    address: str
    state: Path
    cookie: str = ""
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def port(self) -> int:
        return int(self.address.split(":")[2].split("/")[0])

    @property
    def token(self) -> str:
        return self.address.partition("token=")[2]

    @property
    def own(self) -> dict[str, str]:
        """Headers of a page of this server."""
        return {"Host": f"127.0.0.1:{self.port}", "Cookie": self.cookie, "Origin": f"http://127.0.0.1:{self.port}"}

    def raw(self, method: str, path: str, headers: dict[str, str], body: bytes | None = None) -> Answer:
        """Send just these headers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in headers.items():
                connection.putheader(name, value)
            if body is not None and "Content-Length" not in headers and "Transfer-Encoding" not in headers:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def enter(self) -> None:
        answer = self.raw("GET", f"/enter?token={self.token}", {"Host": f"127.0.0.1:{self.port}"})
        assert answer.status == 303, answer
        self.cookie = answer.headers["set-cookie"].partition(";")[0]

    def call(self, method: str, path: str, body: object = None) -> Answer:
        """Ask as a page does."""
        sent = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        return self.raw(method, path, self.own, sent)

    def project(self, name: str = "test", **files: bytes) -> str:
        """Make a project with files; ``_`` in a name stands for a dot."""
        made: str = self.call("POST", "/p", {"name": name}).json()["project"]
        for file, content in files.items():
            assert self.call("PUT", f"/p/{made}/files/{file.replace('_', '.')}", content).status == 201
        return made

    def answer(self, project: str, screen: str, **asked: str) -> dict[str, Any]:
        """Run the command of a screen to its end."""
        told = self.call("POST", f"/p/{project}/run", {"screen": screen, **asked}).json()
        for _ in range(600):
            if told.get("is_over", True):
                break
            time.sleep(0.1)
            told = self.call("GET", f"/p/{project}/jobs/{told['job']}").json()
        return told

    def file(self, project: str, job: str, name: str) -> bytes:
        return self.call("GET", f"/p/{project}/jobs/{job}/files/{name}").body

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(20)


def wait_for(is_so: Callable[[], bool]) -> None:
    """Wait until something has happened."""
    for _ in range(400):
        if is_so():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen")


@contextmanager
def serving(
    state: Path, *files: Path, temporary: Path | None = None, limit: int = 0, more: dict[str, str] | None = None
) -> Iterator[Served]:
    """Start ``tacit serve`` and stop it again; with ``limit``, with so many kilobytes of addresses for each process."""
    confined = ["/bin/sh", "-c", f'ulimit -v {limit}; exec "$@"', "tacit"] if limit else []
    environment = {**os.environ, "XDG_STATE_HOME": str(state), **(more or {})}
    if temporary is not None:
        environment["TMPDIR"] = str(temporary)
    process = subprocess.Popen(
        [*confined, *TACIT, "serve", "--no-browser", *map(str, files)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("Open http://127.0.0.1:"), (line, process.stderr and process.stderr.read())
        yield Served(process, line.split()[1], state)
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(20)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
