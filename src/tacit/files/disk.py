"""Files as they are found and left: text in any usual encoding goes in, a whole file or nothing comes out.

Reading: gzip is known by its first bytes, not by its name; text is UTF-8 with or without a byte-order mark, UTF-16 with one (Excel's "Unicode
text"), or, when it is no valid UTF-8 but reads as text, Windows-1252 (older Excel). Writing: a temporary neighbour is moved over the file
at the very end, so that a failure or Ctrl-C leaves what was there before.

Temporary files and folders: private, removed with the process that made them, and later if that was killed.

Their names hold a mark of the machine and the number of the process. So the next run that writes into the same folder knows those of processes
that have ended, and a process that is told to end knows its own.

A folder that is written whole or not at all.
"""

from __future__ import annotations

import atexit
import codecs
import contextlib
import errno
import gzip
import hashlib
import io
import os
import platform
import re
import secrets
import shutil
import stat
import tempfile
import zlib
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import IO, Any, BinaryIO, TextIO, cast

from tacit.errors import InputError, OptionError
from tacit.model.release import Source

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


FilePath = str | os.PathLike[str]

#: The environment variable that says how large a packed file may become.
MOST_UNPACKED = "TACIT_MAX_UNPACKED"
GZIP_MAGIC = b"\x1f\x8b"
#: The magic word and the first byte of the structure that follows it; a table whose first column is called PAR1 goes on differently.
PARQUET_MAGIC = b"PAR1\x15"
_CHUNK = 1 << 20

_AS_CSV = "Save it as CSV and give that file"
_UNPACK = "Unpack it, or compress it with gzip instead"

#: First bytes of files that people hand over by mistake: (bytes, where they stand, what it is, what to do).
_FOREIGN: tuple[tuple[bytes, int, str, str], ...] = (
    (b"PK\x03\x04", 0, "is a zip archive or an Excel workbook, not text", _AS_CSV),
    (b"\xd0\xcf\x11\xe0", 0, "is an old Excel workbook, not text", _AS_CSV),
    (b"$FL2", 0, "is an SPSS file, not text", _AS_CSV),
    (b"$FL3", 0, "is an SPSS file, not text", _AS_CSV),
    (b"<stata_dta>", 0, "is a Stata file, not text", _AS_CSV),
    (b"\xc2\xea\x81\x60", 12, "is a SAS file, not text", _AS_CSV),
    (b"X\n\x00\x00\x00", 0, "is an R data file, not text", _AS_CSV),
    (b"RDX", 0, "is an R data file, not text", _AS_CSV),
    (b"ARROW1", 0, "is an Arrow (Feather) file, not text", "Save it as Parquet or CSV and give that file"),
    (b"ORC", 0, "is an ORC file, not text", "Save it as Parquet or CSV and give that file"),
    (b"\x89HDF", 0, "is an HDF5 file, not text", _AS_CSV),
    (b"SQLite format 3\x00", 0, "is an SQLite database, not text", "Export the table as CSV and give that file"),
    (b"DUCK", 8, "is a DuckDB database, not text", "Name a table in it, as in FILE::TABLE"),
    (b"%PDF", 0, "is a PDF document, not text", _AS_CSV),
    (b"BZh", 0, "is compressed with bzip2", _UNPACK),
    (b"\xfd7zXZ\x00", 0, "is compressed with xz", _UNPACK),
    (b"(\xb5/\xfd", 0, "is compressed with zstd", _UNPACK),
    (b"7z\xbc\xaf", 0, "is a 7z archive", _UNPACK),
    (PARQUET_MAGIC, 0, "is a Parquet file, not text", "Give it where a Parquet file is read, or save it as CSV"),
)

#: Bytes that do not occur in Windows-1252 text: undefined ones, and control characters other than tab, line ends, form feed and end-of-file.
_NOT_CP1252 = bytes(set(range(32)) - {0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x1A}) + b"\x7f\x81\x8d\x8f\x90\x9d"


#: Byte-order marks; UTF-32 comes first because its mark begins with that of UTF-16.
_MARKED = (
    ((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE), "utf-32"),
    ((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "utf-16"),
)


# Reading


def open_bytes(path: FilePath) -> BinaryIO:
    """The content of a file as a binary stream, unpacked when it is gzip."""
    if not is_gzip(path):
        return _open_raw(path)
    most = most_unpacked(os.path.getsize(path))
    with readable(path):
        return cast(BinaryIO, io.BufferedReader(_Unpacked(path, most), _CHUNK))


class _Unpacked(io.RawIOBase):
    """The content of a gzip file; an :class:`InputError` where it becomes much larger than packed text usually does."""

    def __init__(self, path: FilePath, most: int) -> None:
        super().__init__()
        self._path = path
        self._left = most
        self._stream = gzip.open(path, "rb")  # noqa: SIM115 - closed with this stream

    def readable(self) -> bool:
        """Whether the stream can be read."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Fill the buffer as far as the content goes, and say how far."""
        data = self._stream.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            raise InputError(
                "becomes far larger when it is unpacked than packed text does",
                where=shown(self._path),
                remedy=f"Unpack it yourself, or allow more in the environment, such as {MOST_UNPACKED}=20GB",
            )
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
        super().close()


def most_unpacked(packed: int) -> int:
    """The bytes that a packed file of this size may become: as the environment says, else 200 times as many and at least 256 MB."""
    told = os.environ.get(MOST_UNPACKED, "").strip().casefold()
    if not told:
        return max(1 << 28, 200 * packed)
    found = re.fullmatch(r"(\d{1,12})\s*([kmgt]?)b?", told)
    if found is None:
        raise OptionError("is not a size", where=MOST_UNPACKED, remedy="Write for instance 20GB")
    size: int = int(found[1]) * 1000 ** " kmgt".index(found[2] or " ")
    return size


def shown(path: FilePath) -> str:
    """The path as the user gave it; quoted where it would not be seen."""
    text = os.fspath(path)
    return text if text.strip() and text.isprintable() else repr(text)


def is_gzip(path: FilePath) -> bool:
    """Whether the file is gzip, by its first bytes."""
    with _open_raw(path) as raw, readable(path):
        return raw.read(2) == GZIP_MAGIC


def read_bytes_head(path: FilePath, size: int) -> bytes:
    """The first ``size`` bytes of the content (fewer when it is shorter), unpacked when the file is gzip."""
    with open_bytes(path) as stream, readable(path):
        return stream.read(size)


def is_parquet(path: FilePath) -> bool:
    """Whether the content is Parquet, by its first bytes, gzipped or not."""
    return read_bytes_head(path, len(PARQUET_MAGIC)) == PARQUET_MAGIC


def text_encoding(path: FilePath) -> str:
    """The name of the codec that reads the whole file as text; raises when it is no text, or damaged.

    The file is read once from end to end, so that what comes later cannot fail half-way.
    """
    head = read_bytes_head(path, 4)
    for marks, codec in _MARKED:
        if head.startswith(marks):
            if not _decodes(path, codec):
                raise InputError(f"is damaged {codec.upper()} text", where=shown(path), remedy="Save it again as UTF-8")
            return codec
    if _decodes(path, "utf-8"):
        return "utf-8-sig"
    if _reads_as_cp1252(path):
        return "cp1252"
    raise _not_text(path)


def open_text(path: FilePath, *, keep_newlines: bool = False) -> TextIO:
    r"""The content of a file as text, checked to be readable to its end.

    Line ends become ``\n``; ``keep_newlines`` leaves them as they are, as the csv module wants them.
    """
    encoding = text_encoding(path)
    return io.TextIOWrapper(open_bytes(path), encoding=encoding, newline="" if keep_newlines else None)


def sha256_of(path: FilePath) -> str:
    """The SHA-256 of the file as it lies on the disk, in hexadecimal."""
    with _open_raw(path) as raw, readable(path):
        return hashlib.file_digest(cast(io.BufferedReader, raw), "sha256").hexdigest()


def source_of(path: FilePath) -> Source:
    """The base name and the SHA-256 of the file, and of the header beside it where there is one."""
    return Source(os.path.basename(os.fspath(path)), sha256_of(path), sha256_beside(path))


def sha256_beside(path: FilePath) -> str:
    """The SHA-256 of the JSON header beside a file (``r.csv.json`` of ``r.csv``); empty where there is none."""
    beside = os.fspath(path).rstrip("/") + ".json"
    return sha256_of(beside) if os.path.isfile(beside) else ""


def _open_raw(path: FilePath) -> BinaryIO:
    with readable(path):
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise InputError("is a folder, not a file", where=shown(path), remedy="Give a file in it")
        if not stat.S_ISREG(mode):
            raise InputError(
                "is a pipe or device, which can be read only once", where=shown(path), remedy="Save it as a file first"
            )
        return open(path, "rb")


@contextlib.contextmanager
def readable(path: FilePath) -> Iterator[None]:
    """Turn the system's reasons for not reading a file into one sentence."""
    try:
        yield
    except FileNotFoundError:
        raise InputError("there is no such file", where=shown(path), remedy=_neighbour(path)) from None
    except PermissionError:
        raise InputError("may not be read", where=shown(path), remedy="Ask for permission to read it, or copy it") from None
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InputError(
            "the gzip data are cut short or damaged", where=shown(path), remedy="Copy or download the file again"
        ) from None
    except (OSError, ValueError) as exc:
        reason = (exc.strerror if isinstance(exc, OSError) else None) or "the path makes no sense"
        raise InputError(f"cannot be read ({reason})", where=shown(path), remedy="Check the path and the disk") from None


def _neighbour(path: FilePath) -> str:
    """A remedy that names a file with nearly the same name, if there is one."""
    folder, name = os.path.split(os.fspath(path))
    with contextlib.suppress(OSError):
        near = get_close_matches(name, sorted(os.listdir(folder or ".")), n=1, cutoff=0.7)
        return f"Perhaps {os.path.join(folder, near[0])!r} is meant" if near else "Check the name"
    return f"There is no folder {folder!r}; check the path"


def _decodes(path: FilePath, codec: str) -> bool:
    """Whether the whole content is text in this encoding; text holds no NUL."""
    decoder = codecs.getincrementaldecoder(codec)()
    with open_bytes(path) as stream, readable(path):
        while chunk := stream.read(_CHUNK):
            try:
                if "\x00" in decoder.decode(chunk):
                    return False
            except UnicodeDecodeError:
                return False
        try:
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True


def _reads_as_cp1252(path: FilePath) -> bool:
    with open_bytes(path) as stream, readable(path):
        while chunk := stream.read(_CHUNK):
            if len(chunk.translate(None, _NOT_CP1252)) != len(chunk):
                return False
    return True


def _not_text(path: FilePath) -> InputError:
    head = read_bytes_head(path, 64)
    for magic, start, what, remedy in _FOREIGN:
        if head[start : start + len(magic)] == magic:
            return InputError(what, where=shown(path), remedy=remedy)
    return InputError("is not text (binary, or in an unknown encoding)", where=shown(path), remedy="Save it as CSV in UTF-8")


# Writing


@contextlib.contextmanager
def replace_file(path: FilePath) -> Iterator[Path]:
    """A temporary path to write to; it is moved over ``path`` when the block ends well, and removed when it does not.

    The temporary file lies in the same folder and keeps the ending of the name. A link stays a link, and an existing file keeps its
    permissions. Devices and pipes (``/dev/stdout``) get the finished content.
    """
    with _writable(path):
        target, kind = _place(path)
        folder = tempfile.gettempdir() if kind == "device" else str(target.parent)
        temporary = new_name(folder, target.suffix[:32])
        # Not mkstemp: its mode 0600 would follow the file to its place.
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        with _writable(path, temporary, target):
            yield temporary
            _finish(temporary, target, kind)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


@contextlib.contextmanager
def replace_text(path: FilePath) -> Iterator[TextIO]:
    r"""A text stream (UTF-8, lines end in ``\n``) whose content becomes the file when the block ends well."""
    with replace_file(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as stream:
        yield stream


def made_folder(folder: FilePath) -> Path:
    """The folder to write to, made where its parent exists."""
    place = Path(folder)
    try:
        place.mkdir(exist_ok=True)
    except FileNotFoundError:
        remedy = "Create its parent first, or choose another with --out"
        raise OptionError("the folder cannot be made", where=shown(folder), remedy=remedy) from None
    except FileExistsError:
        raise OptionError("is a file, not a folder", where=shown(folder), remedy="Choose another with --out") from None
    except OSError:
        raise OptionError("the folder may not be made", where=shown(folder), remedy="Choose another with --out") from None
    return place


def check_output(path: FilePath) -> None:
    """Raise when ``path`` cannot be written; to be asked before long work."""
    with _writable(path):
        target, kind = _place(path)
        if kind != "device" and not os.access(target.parent, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "")


def _place(path: FilePath) -> tuple[Path, str]:
    """Where the file will really lie, and what lies there now: ``nothing``, ``file`` or ``device``."""
    if not os.fspath(path) or "\x00" in os.fspath(path):
        raise OptionError("is not the name of a file", where=shown(path), remedy="Give the name of a file to write")
    with contextlib.suppress(OSError):
        # Not the place that a link such as /dev/stdout leads to: that of a pipe has no name.
        if not stat.S_ISREG(os.stat(path).st_mode) and not os.path.isdir(path):
            return Path(path), "device"
    target = Path(os.path.realpath(path))
    try:
        mode = target.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        if not target.parent.is_dir():
            raise OptionError(
                "the folder does not exist", where=shown(path), remedy="Create it first, or write elsewhere"
            ) from None
        return target, "nothing"
    if stat.S_ISDIR(mode):
        raise OptionError("is a folder, not a file", where=shown(path), remedy="Give the name of a file to write")
    if stat.S_ISREG(mode) and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "")
    return target, "file" if stat.S_ISREG(mode) else "device"


def _finish(temporary: Path, target: Path, kind: str) -> None:
    if kind == "device":
        with open(temporary, "rb") as done, open(target, "ab") as device:
            shutil.copyfileobj(done, device)
        return
    if kind == "file":
        os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
    with open(temporary, "r+b") as done:
        os.fsync(done.fileno())
    os.replace(temporary, target)
    with contextlib.suppress(OSError):  # not every system lets a folder be synced
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


_REASONS = {
    errno.ENOSPC: ("the disk is full", "Free some space, or write elsewhere"),
    errno.EDQUOT: ("your share of the disk is full", "Free some space, or write elsewhere"),
    errno.EFBIG: ("the file becomes too large for this disk", "Write elsewhere"),
    errno.EROFS: ("the disk is read-only", "Write elsewhere"),
    errno.EACCES: ("may not be written", "Ask for permission, or write elsewhere"),
    errno.EPERM: ("may not be written", "Ask for permission, or write elsewhere"),
    errno.ENAMETOOLONG: ("the name is too long", "Give a shorter name"),
    errno.EIO: ("the disk reports a fault", "Write elsewhere"),
}
_OF_THE_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO}


@contextlib.contextmanager
def _writable(path: FilePath, *ours: Path) -> Iterator[None]:
    """Turn the system's reasons for not writing a file into one sentence; with ``ours``, errors about other files pass."""
    try:
        yield
    except OSError as exc:
        named = {str(exc.filename), str(exc.filename2)}
        if ours and exc.errno not in _OF_THE_DISK and named.isdisjoint(map(str, ours)):
            raise
        what, remedy = _REASONS.get(exc.errno or 0, (f"cannot be written ({exc.strerror})", "Write elsewhere"))
        raise OptionError(what, where=shown(path), remedy=remedy) from None
    except Exception as exc:
        # Database drivers raise their own kinds of error when the disk is full.
        if "no space left" in str(exc).casefold():
            raise OptionError("the disk is full", where=shown(path), remedy="Free some space, or write elsewhere") from None
        raise


@contextlib.contextmanager
def packed_text(path: Path) -> Iterator[IO[str]]:
    """A stream into a new gzip file; neither the clock nor a file name goes into it, so that the same text gives the same bytes."""
    with (
        open(path, "wb") as raw,
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0) as packed,
        io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as stream,
    ):
        yield stream


@contextlib.contextmanager
def replace_folder(path: FilePath) -> Iterator[Path]:
    """A new folder to fill; it takes the place of ``path``, and of what is in it, when the block ends well, and is removed when it does not."""
    target = Path(os.path.realpath(path))
    fresh = new_name(target.parent)
    # Not a name that a later run removes: between the two moves it holds what was there before.
    old = target.parent / fresh.name.replace(".tacit-", ".tacit-old-")
    try:
        fresh.mkdir()
        yield fresh
        if target.exists():
            os.replace(target, old)
        try:
            os.replace(fresh, target)
        except OSError:
            if old.exists():
                os.replace(old, target)
            raise
    except OSError as exc:
        raise OptionError(f"cannot be written ({exc.strerror})", where=shown(path), remedy="Write elsewhere") from None
    finally:
        for left in (fresh, old):
            shutil.rmtree(left, ignore_errors=True)
