"""Site customisation of a server whose disk is full while a file exists: what is written then goes to ``/dev/full``."""

from __future__ import annotations

SOURCE = """
import builtins, io, os

FLAG = os.environ.get("FULL_WHILE", "")
opened = io.open
opened_raw = os.open


def is_full(path):
    return bool(FLAG) and isinstance(path, (str, os.PathLike)) and os.path.exists(FLAG) and not is_device(os.fspath(path))


def is_device(path):
    return path.startswith("/dev/") and not path.startswith("/dev/shm/")


def open_file(path, mode="r", *args, **kwargs):
    if is_full(path) and set(mode) & set("wxa"):
        opened(path, mode).close()
        return opened("/dev/full", mode.replace("x", "w"), *args, **kwargs)
    return opened(path, mode, *args, **kwargs)


def open_raw(path, flags, *args, **kwargs):
    made = opened_raw(path, flags, *args, **kwargs)
    if is_full(path) and flags & (os.O_WRONLY | os.O_RDWR):
        os.close(made)
        return opened_raw("/dev/full", os.O_WRONLY)
    return made


builtins.open = io.open = open_file
os.open = open_raw
"""
