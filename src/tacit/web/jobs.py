"""Commands as processes of their own: queued, watched, cancelled, and kept as answers.

An answer is named by the command and the versions of the files that it reads. It lies in a folder with the record, the report and what was
written. So a reload, a second tab or a restart of the server find it again, and nothing is computed twice.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from tacit.files.disk import replace_file
from tacit.model.errors import TacitError
from tacit.model.version import __version__
from tacit.web import texts
from tacit.web.commands import Command, identity, refuse_outside
from tacit.web.projects import Project, Workspace

WORKERS = 2
MOST_WAITING = 200
PATIENCE = 3.0  #: Seconds that a cancelled command gets to remove its temporary files.
_ID = re.compile(r"[0-9a-f]{20}")
_LONGEST_MESSAGE = 4_000
ANSWERED = frozenset({0, 1, 3})  #: Exit codes of commands that wrote an answer.
MEMORY = (
    os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 3 // 4 // 1024
)  #: Kilobytes of addresses that one command may use.


@dataclass(frozen=True)
class Job:
    """State of a command: waiting, running, done, failed, cancelled or interrupted."""

    id: str
    words: tuple[str, ...]
    shown: str
    status: str = "waiting"
    code: int | None = None
    message: str = ""
    outputs: tuple[str, ...] = ()
    program: str = "tacit"
    state: str = ""  #: State of the project's files when it was asked for.

    @property
    def is_over(self) -> bool:
        """True if nothing more will come."""
        return self.status not in ("waiting", "running")

    @property
    def has_answer(self) -> bool:
        """True if there are a record and a report."""
        return self.status == "done"


class Jobs:
    """Queue of commands and the answers of earlier ones."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._slots = asyncio.Semaphore(WORKERS)
        self._live: dict[tuple[str, str], Job] = {}
        self._tasks: dict[tuple[str, str], asyncio.Task[None]] = {}

    def find(self, project: Project, command: Command) -> Job | None:
        """Return the job of a command, or None if it was never asked for."""
        return self.get(project, self._name(project, command))

    def get(self, project: Project, id: str) -> Job | None:
        """Return a job, or None."""
        if not _ID.fullmatch(id):
            return None
        if live := self._live.get((project.id, id)):
            return live
        try:
            content = json.loads((self.folder(project, id) / "job.json").read_bytes())
            job = Job(**content | {"words": tuple(content["words"]), "outputs": tuple(content["outputs"])})
        except (OSError, ValueError, TypeError, KeyError):
            return None
        return job if job.is_over else replace(job, status="interrupted", message=texts.INTERRUPTED)

    def start(self, project: Project, command: Command) -> Job:
        """Return the job of a command, queued if it has no answer yet."""
        id = self._name(project, command)
        known = self.get(project, id)
        if known is not None and (known.has_answer or not known.is_over):
            return known
        if len(self._tasks) >= MOST_WAITING:
            return Job(id, (), command.shown, "failed", message=texts.TOO_MANY_WAIT)
        refuse_outside(command, self._workspace.files(project.id))
        folder = self.folder(project, id)
        shutil.rmtree(folder, ignore_errors=True)
        job = Job(
            id,
            tuple(command.to_run(folder)),
            command.shown,
            outputs=command.outputs,
            program=command.program,
            state=project.state,
        )
        try:
            (folder / "out").mkdir(mode=0o700, parents=True)
            command.prepare(folder)
            _write(folder, job)
        except Exception:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        key = (project.id, id)
        self._live[key] = job
        self._tasks[key] = asyncio.create_task(self._run(project, job))
        return job

    def answers(self, project: Project, verb: str) -> list[Job]:
        """Return the answers of a verb about the files as they are, the newest first."""
        folders = [path for path in (self._workspace.folder(project.id) / "answers").glob("*") if (path / "job.json").is_file()]
        folders.sort(key=lambda path: (path / "job.json").stat().st_mtime_ns, reverse=True)
        jobs = [job for path in folders if (job := self.get(project, path.name)) is not None]
        return [job for job in jobs if job.has_answer and job.words[0] == verb and job.state == project.state]

    async def cancel(self, project: Project, id: str) -> None:
        """End a command, and wait for that."""
        key = (project.id, id)
        task = self._tasks.get(key)
        if task is None:
            return
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    async def stop_of(self, project: Project) -> None:
        """End the commands of a project."""
        for owner, id in list(self._tasks):
            if owner == project.id:
                await self.cancel(project, id)

    async def stop(self) -> None:
        """End all commands."""
        for owner, id in list(self._tasks):
            await self.cancel(Project(owner, ""), id)

    def progress(self, project: Project, id: str) -> dict[str, Any]:
        """Return how far a command is, as it wrote last."""
        return read_progress(self.folder(project, id) / "progress.json")

    def folder(self, project: Project, id: str) -> Path:
        """Return the folder of an answer."""
        return self._workspace.folder(project.id) / "answers" / id

    def record(self, project: Project, job: Job) -> dict[str, Any]:
        """Return the record of an answer."""
        found: dict[str, Any] = json.loads((self.folder(project, job.id) / "record.json").read_bytes())
        return found

    def _name(self, project: Project, command: Command) -> str:
        used = {file.name: file.fingerprint for file in project.files}
        return identity(command, used, __version__)

    def _keep(self, key: tuple[str, str], job: Job) -> None:
        """Keep a job's state: in memory until it is over and written."""
        self._live[key] = job
        with suppress(OSError, TacitError):
            _write(self._workspace.folder(key[0]) / "answers" / key[1], job)
            if job.is_over:
                del self._live[key]

    async def _run(self, project: Project, job: Job) -> None:
        key = (project.id, job.id)
        over = replace(job, status="cancelled", message=texts.CANCELLED)
        try:
            async with self._slots:
                self._keep(key, replace(job, status="running"))
                over = await self._process(project, job)
        except asyncio.CancelledError:
            over = replace(job, status="cancelled", message=texts.CANCELLED)
        except OSError as exc:
            full = exc.errno in (errno.ENOSPC, errno.EDQUOT)
            message = texts.DISK_IS_FULL if full else texts.NOT_STARTED.format(reason=exc.strerror)
            over = replace(job, status="failed", message=message)
        except TacitError as exc:
            over = replace(job, status="failed", message=str(exc))
        finally:
            self._keep(key, over)
            self._tasks.pop(key, None)

    async def _process(self, project: Project, job: Job) -> Job:
        folder = self.folder(project, job.id)
        process = await start_process(
            [job.program, *job.words],
            folder=self._workspace.files(project.id),
            environment={**environment_of_commands(), "TACIT_PROGRESS": str(folder / "progress.json")},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            _, said = await process.communicate()
        except asyncio.CancelledError:
            await end_process(process)
            raise
        message = _sentence(said, folder)
        if process.returncode in ANSWERED and (folder / "record.json").is_file():
            await asyncio.to_thread(_pack_folders, folder / "out")
            return replace(job, status="done", code=process.returncode, message=message)
        if process.returncode is not None and process.returncode < 0:
            message = texts.ENDED_BY_SYSTEM.format(signal=-process.returncode)
        return replace(job, status="failed", code=process.returncode, message=message or texts.NO_ANSWER)


def _write(folder: Path, job: Job) -> None:
    with replace_file(folder / "job.json") as temporary:
        temporary.write_text(json.dumps(asdict(job)), encoding="utf-8")


def read_progress(path: Path) -> dict[str, Any]:
    """Return how far a process is that writes it to a file."""
    try:
        told = json.loads(path.read_bytes())
        return {"share": float(told["share"]), "stage": str(told["stage"])}
    except (OSError, ValueError, TypeError, KeyError):
        return {"share": 0.0, "stage": ""}


async def start_process(
    words: Sequence[str], *, folder: Path, environment: Mapping[str, str], **streams: Any
) -> asyncio.subprocess.Process:
    """Start a Python module in its own process group with limited memory."""
    return await asyncio.create_subprocess_exec(
        "/bin/sh",
        "-c",
        'ulimit -v "$1" 2>/dev/null; shift; exec "$@"',
        "tacit",
        str(MEMORY),
        *(sys.executable, "-m", *words),
        cwd=folder,
        env=environment,
        start_new_session=True,
        **streams,
    )


async def end_process(process: asyncio.subprocess.Process) -> None:
    """End a process and whatever it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        await asyncio.wait_for(process.wait(), PATIENCE)
    except TimeoutError:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def _pack_folders(out: Path) -> None:
    """Write an archive beside each folder, always the same for the same files."""
    for made in [path for path in out.iterdir() if path.is_dir()]:
        with replace_file(made.with_name(f"{made.name}.zip")) as temporary, ZipFile(temporary, "w", ZIP_DEFLATED) as archive:
            for path in sorted(one for one in made.rglob("*") if one.is_file()):
                archive.writestr(ZipInfo(str(Path(made.name) / path.relative_to(made))), path.read_bytes(), ZIP_DEFLATED)


def environment_of_commands() -> dict[str, str]:
    """Return the variables of a process that ends with this one."""
    return {**os.environ, "TACIT_PARENT": str(os.getpid()), "PYTHONUTF8": "1", "TERM": "dumb"}


def _sentence(said: bytes, folder: Path) -> str:
    """Return the last lines of what a command said, without the folder of its answer."""
    text = said.decode("utf-8", "backslashreplace").replace(f"{folder}{os.sep}", "").strip()
    return text[-_LONGEST_MESSAGE:]
