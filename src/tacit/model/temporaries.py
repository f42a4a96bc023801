"""Temporary files and folders: private, removed with the process that made them, and later if that was killed.

Their names hold a mark of the machine and the number of the process. So the next run that writes into the same folder knows those of processes
that have ended, and a process that is told to end knows its own.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import platform
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

#: The folders in which this process has made something.
_used: set[Path] = set()


@cache
def _machine() -> str:
    """A mark of this machine: on a shared disk, processes of others cannot be looked up."""
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def new_name(folder: str | os.PathLike[str], ending: str = "") -> Path:
    """Return a hidden name for a temporary file or folder of this process, after removing what killed ones have left there."""
    place = Path(folder)
    remove_left_over(place)
    _used.add(place)
    return place / f"{_own_prefix()}{secrets.token_hex(4)}{ending}"


def _own_prefix() -> str:
    return f".tacit-{_machine()}-{os.getpid()}-"


def remove_left_over(folder: Path) -> None:
    """Remove temporaries of this user whose processes ran on this machine and are dead."""
    pattern = re.compile(rf"\.tacit-{_machine()}-(\d+)-[0-9a-f]{{8}}")
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            found = pattern.match(entry.name)
            if found is not None and _is_own(entry) and not _is_alive(int(found[1])):
                _remove(Path(entry.path))


@atexit.register
def remove_own() -> None:
    """Remove all temporaries of this process."""
    for folder in tuple(_used):
        with contextlib.suppress(OSError):
            for name in os.listdir(folder):
                if name.startswith(_own_prefix()):
                    _remove(folder / name)


def _is_own(entry: os.DirEntry[str]) -> bool:
    return not hasattr(os, "getuid") or entry.stat(follow_symlinks=False).st_uid == os.getuid()


def _is_alive(process: int) -> bool:
    if os.name != "posix":
        return True  # there, asking whether a process is alive may end it
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


@contextlib.contextmanager
def private_folder(parent: str | os.PathLike[str] | None = None) -> Iterator[Path]:
    """Yield a folder that only this user may read, and remove it with all that is in it."""
    folder = new_name(tempfile.gettempdir() if parent is None else parent)
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


_kept: dict[int, Path] = {}


def spill_folder() -> Path:
    """Return the private folder of this process for what does not fit into memory; it is made once, and removed at the end."""
    process = os.getpid()
    if process not in _kept or not _kept[process].is_dir():
        folder = new_name(tempfile.gettempdir())
        folder.mkdir(mode=0o700)
        _kept[process] = folder
    return _kept[process]
