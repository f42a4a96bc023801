"""Processes that keep the releases of projects read, so that a slider answers at once.

Each project that is looked at has one (:mod:`tacit.cli.live`), with a limit of memory like every command. It is ended when nobody has asked it
for some minutes, when the project changes or is removed, when too many others were asked later, and when it takes too long. Attacks that take
longer than a slider can wait run in a second one, which then takes the place of the first: so the lists stay, and grow. The server only
passes text on: a hostile file can harm no more than the process that reads it, and the next question starts another.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tacit.model.errors import InputError
from tacit.model.version import __version__
from tacit.web import texts
from tacit.web.commands import Command, identity, refuse_outside
from tacit.web.jobs import WORKERS, end_process, environment_of_commands, read_progress, start_process
from tacit.web.projects import Project, Workspace

LIVE = "tacit.cli.live"  #: Module that the process runs.
MOST = 3  #: Processes at once.
IDLE = 240.0  #: Seconds without a question after which a process is ended.
FIRST = 120.0  #: Seconds to read the releases and audit them once.
LONGEST = 30.0  #: Seconds for an answer.
LARGEST = 64 << 20  #: Bytes of an answer.
PATIENT = 2.0  #: Seconds that slow attacks get when the slider rests.


@dataclass(eq=False)
class Finishing:
    """Process that runs one step's slow attacks, then replaces the answering one."""

    name: str
    settings: Mapping[str, str]
    progress: Path
    task: asyncio.Task[None] | None = None
    failure: str = ""
    keeper: _Keeper | None = None

    @property
    def is_over(self) -> bool:
        """True if it has finished, well or not."""
        return self.task is not None and self.task.done()

    def describe(self) -> dict[str, Any]:
        """Return how far it is."""
        told = {"is_over": self.is_over, "has_answer": self.is_over and not self.failure, "message": self.failure}
        return {**told, **read_progress(self.progress)}


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


def _name_of(project: Project, command: Command) -> str:
    used = {file.name: file.fingerprint for file in project.files}
    return identity(command, used, __version__)


class Superseded(Exception):
    """A later question of the same kind has come."""


class Keepers:
    """Processes of the projects that were looked at last."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._keepers: dict[str, _Keeper] = {}
        self._starting: dict[str, asyncio.Lock] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._finishing: dict[str, Finishing] = {}
        self._slots = asyncio.Semaphore(WORKERS)

    async def ask(self, project: Project, command: Command, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a question about a command's releases."""
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

    async def finish(self, project: Project, command: Command, settings: Mapping[str, str]) -> Finishing:
        """Return the process that runs the slow attacks of a step, started if need be."""
        name = _name_of(project, command)
        known = self._finishing.get(project.id)
        if known is not None and (known.name, known.settings) == (name, settings) and not known.failure:
            is_lost = known.is_over and self._keepers.get(project.id) is not known.keeper
            if not is_lost:
                return known
        await self.cancel(project.id)
        folder = self._folder(project)
        made = Finishing(name, dict(settings), folder / "progress.json")
        made.progress.unlink(missing_ok=True)
        made.task = asyncio.create_task(self._finish(project, command, made))
        self._finishing[project.id] = made
        return made

    def finishing(self, id: str) -> Finishing | None:
        """Return the process that runs slow attacks for a project, if there is or was one."""
        return self._finishing.get(id)

    async def cancel(self, id: str) -> None:
        """End the process that runs slow attacks for a project."""
        known = self._finishing.pop(id, None)
        if known is None or known.task is None:
            return
        known.task.cancel()
        with suppress(asyncio.CancelledError):
            await known.task

    async def _finish(self, project: Project, command: Command, made: Finishing) -> None:
        keeper = None
        try:
            async with self._slots:
                keeper = await self._start(project, command, {"TACIT_PROGRESS": str(made.progress)})
                first = await self._read(project.id, keeper, FIRST)
                asked = {"part": "head", "settings": made.settings, "finishes": True, "id": -1}
                answer = first if "error" in first else await self._exchange(project.id, keeper, asked, None)
                if "error" in answer:
                    made.failure = str(answer["error"])
                    return
            keeper.ranges = first.get("ranges", [])
            made.keeper = keeper
            await self.stop_of(project.id)
            self._keepers[project.id] = keeper
            self._wait_idle(project.id, keeper)
        except InputError as exc:
            made.failure = str(exc)
        except OSError as exc:
            made.failure = texts.NOT_STARTED.format(reason=exc.strerror)
        finally:
            if keeper is not None and self._keepers.get(project.id) is not keeper:
                await end_process(keeper.process)

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
        for id in list(self._finishing):
            await self.cancel(id)
        for id in list(self._keepers):
            await self.stop_of(id)

    async def _keeper(self, project: Project, command: Command) -> _Keeper:
        name = _name_of(project, command)
        async with self._starting.setdefault(project.id, asyncio.Lock()):
            known = self._keepers.get(project.id)
            if known is not None and known.name == name and known.process.returncode is None:
                self._keepers[project.id] = self._keepers.pop(project.id)  # the last in the order
                return known
            await self.stop_of(project.id)
            finishing = self._finishing.get(project.id)
            if finishing is not None and finishing.name != name:
                await self.cancel(project.id)
            while len(self._keepers) >= MOST:
                await self.stop_of(next(iter(self._keepers)))
            made = await self._start(project, command)
            self._keepers[project.id] = made
            return made

    async def _start(self, project: Project, command: Command, environment: Mapping[str, str] | None = None) -> _Keeper:
        """Return a process that reads the releases of a command."""
        refuse_outside(command, self._workspace.files(project.id))
        folder = self._folder(project)
        command.prepare(folder)
        process = await start_process(
            [LIVE, *command.to_read(folder)],
            folder=self._workspace.files(project.id),
            environment={**environment_of_commands(), **(environment or {})},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=LARGEST,
        )
        return _Keeper(_name_of(project, command), process)

    def _folder(self, project: Project) -> Path:
        folder = self._workspace.folder(project.id) / "live"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    async def _exchange(
        self, id: str, keeper: _Keeper, asked: Mapping[str, Any], seconds: float | None = LONGEST
    ) -> dict[str, Any]:
        assert keeper.process.stdin is not None
        with suppress(ConnectionError):
            keeper.process.stdin.write(json.dumps(asked).encode() + b"\n")
            await keeper.process.stdin.drain()
        while True:
            answer = await self._read(id, keeper, seconds)
            if answer.get("id") == asked["id"]:
                return answer  # an earlier one was for a page that has left

    async def _read(self, id: str, keeper: _Keeper, seconds: float | None) -> dict[str, Any]:
        """Return the next line of a process; end a slow or broken one."""
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
