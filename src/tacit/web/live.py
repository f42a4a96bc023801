"""Processes that keep the releases of projects read, so that a slider answers at once.

Each project that is looked at has one (:mod:`tacit.cli.live`), with a limit of memory like every command. It is ended when nobody has asked it
for some minutes, when the project changes or is removed, when too many others were asked later, and when it takes too long. The server only
passes text on: a hostile file can harm no more than the process that reads it, and the next question starts another.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tacit.model.errors import InputError
from tacit.model.version import __version__
from tacit.web import texts
from tacit.web.commands import Command, identity, refuse_outside
from tacit.web.jobs import end_process, environment_of_commands, start_process
from tacit.web.projects import Project, Workspace

LIVE = "tacit.cli.live"  #: Module that the process runs.
MOST = 3  #: Processes at once.
IDLE = 240.0  #: Seconds without a question after which a process is ended.
FIRST = 120.0  #: Seconds to read the releases and audit them once.
LONGEST = 30.0  #: Seconds for an answer.
LARGEST = 64 << 20  #: Bytes of an answer.
PATIENT = 2.0  #: Seconds that slow attacks get when the slider rests.


@dataclass(eq=False)
class _Keeper:
    """Process of one project for one version of its files."""

    name: str
    process: asyncio.subprocess.Process
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    ranges: list[dict[str, Any]] | None = None
    latest: dict[str, int] = field(default_factory=dict)
    asked: int = 0
    timer: asyncio.TimerHandle | None = None


class Superseded(Exception):
    """A later question of the same kind has come."""


class Keepers:
    """Processes of the projects that were looked at last."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._keepers: dict[str, _Keeper] = {}
        self._starting: dict[str, asyncio.Lock] = {}
        self._ending: set[asyncio.Task[None]] = set()

    async def ask(self, project: Project, command: Command, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a question about the releases of a command; of several that wait, the last."""
        keeper = await self._keeper(project, command)
        keeper.asked += 1
        ticket = keeper.asked
        part = str(asked["part"])
        keeper.latest[part] = ticket
        async with keeper.lock:
            if keeper.latest[part] != ticket:
                raise Superseded
            self._wait_idle(project.id, keeper)
            if keeper.ranges is None:
                first = await self._read(project.id, keeper, FIRST)
                if "error" in first:
                    return first
                keeper.ranges = first.get("ranges", [])
            answer = await self._exchange(project.id, keeper, {**asked, "id": ticket})
        return {**answer, "ranges": keeper.ranges}

    async def stop_of(self, id: str) -> None:
        """End the process of a project."""
        keeper = self._keepers.pop(id, None)
        if keeper is None:
            return
        if keeper.timer is not None:
            keeper.timer.cancel()
        await end_process(keeper.process)

    async def stop(self) -> None:
        """End all processes."""
        for id in list(self._keepers):
            await self.stop_of(id)

    async def _keeper(self, project: Project, command: Command) -> _Keeper:
        used = {file.name: file.fingerprint for file in project.files}
        name = identity(command, used, __version__)
        async with self._starting.setdefault(project.id, asyncio.Lock()):
            known = self._keepers.get(project.id)
            if known is not None and known.name == name and known.process.returncode is None:
                self._keepers[project.id] = self._keepers.pop(project.id)  # the last in the order
                return known
            refuse_outside(command, self._workspace.files(project.id))
            await self.stop_of(project.id)
            while len(self._keepers) >= MOST:
                await self.stop_of(next(iter(self._keepers)))
            folder = self._workspace.folder(project.id) / "live"
            folder.mkdir(mode=0o700, exist_ok=True)
            command.prepare(folder)
            process = await start_process(
                [LIVE, *command.to_read(folder)],
                folder=self._workspace.files(project.id),
                environment=environment_of_commands(),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                limit=LARGEST,
            )
            made = _Keeper(name, process)
            self._keepers[project.id] = made
            return made

    async def _exchange(self, id: str, keeper: _Keeper, asked: Mapping[str, Any]) -> dict[str, Any]:
        assert keeper.process.stdin is not None
        with suppress(ConnectionError):
            keeper.process.stdin.write(json.dumps(asked).encode() + b"\n")
            await keeper.process.stdin.drain()
        while True:
            answer = await self._read(id, keeper, LONGEST)
            if answer.get("id") == asked["id"]:
                return answer  # an earlier one was for a page that has left

    async def _read(self, id: str, keeper: _Keeper, seconds: float) -> dict[str, Any]:
        """Return the next line of a process; end it if that takes too long or makes no sense."""
        assert keeper.process.stdout is not None
        try:
            line = await asyncio.wait_for(keeper.process.stdout.readline(), seconds)
            answer: dict[str, Any] = json.loads(line) if line else {}
        except (TimeoutError, ValueError):
            await self._drop(id, keeper)
            raise InputError(texts.LIVE_IS_SLOW, where=texts.LIVE, remedy=texts.MOVE_AGAIN) from None
        if not answer:
            await self._drop(id, keeper)
            raise InputError(texts.LIVE_ENDED, where=texts.LIVE, remedy=texts.MOVE_AGAIN)
        if answer.get("is_over"):
            await self._drop(id, keeper)
        return answer

    async def _drop(self, id: str, keeper: _Keeper) -> None:
        if self._keepers.get(id) is keeper:
            await self.stop_of(id)

    def _wait_idle(self, id: str, keeper: _Keeper) -> None:
        """End the process some minutes after its last question."""
        if keeper.timer is not None:
            keeper.timer.cancel()

        def end() -> None:
            task = asyncio.ensure_future(self._drop(id, keeper))
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

        keeper.timer = asyncio.get_running_loop().call_later(IDLE, end)
