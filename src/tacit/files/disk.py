"""Files: read once, replaced atomically.

Reading: an :class:`Input` is opened once, and kept in memory where it is small. Gzip is known by its first bytes, not by its name. Text is
UTF-8 with or without a byte-order mark, UTF-16 with one (Excel's "Unicode text"), or, when it is not valid UTF-8 but reads as text,
Windows-1252 (older Excel).

Writing: a temporary neighbour is moved over the file at the very end, so that a failure or Ctrl-C leaves what was there before. The names of
temporary files hold a mark of the machine and the number of the process: a process removes its own when it ends, and the next run that
writes into the same folder removes those of processes that were killed.
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
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TextIO, cast

from tacit.model.errors import InputError, OptionError

if TYPE_CHECKING:
    from tacit.model.release import Source

FilePath = str | os.PathLike[str]

MOST_UNPACKED = "TACIT_MAX_UNPACKED"  #: Environment variable that sets how large an unpacked file may become.
#: Bytes up to which a file, and its unpacked content, are kept in memory.
MOST_KEPT = 1 << 24
GZIP_MAGIC = b"\x1f\x8b"
ZIP_MAGIC = b"PK\x03\x04"
#: The magic word and the first byte of the structure that follows it; a table whose first column is called PAR1 goes on differently.
PARQUET_MAGIC = b"PAR1\x15"
_CHUNK = 1 << 20

_AS_CSV = "Save it as CSV and give that file"
_AS_PARQUET = "Save it as Parquet or CSV and give that file"
_FROM_PICKLE = "Save the frame as CSV or Parquet, or call tacit.audit(frame) in Python"
_UNPACK = "Unpack it, or compress it with gzip instead"


#: Files that are given by mistake: their first bytes, where these begin, what such a file is, and a remedy.
_FOREIGN: tuple[tuple[bytes | tuple[bytes, ...], int, str, str], ...] = (
    (ZIP_MAGIC, 0, "is a zip archive or an Excel workbook, not text", _AS_CSV),
    (b"\xd0\xcf\x11\xe0", 0, "is an old Excel workbook, not text", _AS_CSV),
    ((b"$FL2", b"$FL3"), 0, "is an SPSS file, not text", _AS_CSV),
    (b"<stata_dta>", 0, "is a Stata file, not text", _AS_CSV),
    (b"\xc2\xea\x81\x60", 12, "is a SAS file, not text", _AS_CSV),
    ((b"X\n\x00\x00\x00", b"RDX"), 0, "is an R data file, not text", _AS_CSV),
    (b"ARROW1", 0, "is an Arrow (Feather) file, not text", _AS_PARQUET),
    (b"ORC", 0, "is an ORC file, not text", _AS_PARQUET),
    (b"\x89HDF", 0, "is an HDF5 file, not text", _AS_CSV),
    (b"SQLite format 3\x00", 0, "is an SQLite database, not text", "Export the table as CSV and give that file"),
    (b"DUCK", 8, "is a DuckDB database, not text", "Name a table in it, as in FILE::TABLE"),
    ((b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"), 0, "is a Python pickle, and loading one runs code", _FROM_PICKLE),
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


class _OnDisk(NamedTuple):
    start: bytes
    content: bytes | None
    state: tuple[int, int, int]


class Input(os.PathLike[str]):
    """File to read, with the same bytes for all readers.

    A small file is opened once and kept. A larger one is read as a stream by each reader, and refused if it changes meanwhile. Its text begins
    with ``lines_before`` lines that the file does not have.
    """

    lines_before = 0

    def __init__(self, path: FilePath) -> None:
        self.path = os.fspath(path)

    @classmethod
    def of(cls, path: FilePath) -> Input:
        """Return the input at a path, or itself."""
        return path if isinstance(path, Input) else cls(path)

    def __fspath__(self) -> str:
        return self.path

    @property
    def name(self) -> str:
        """Base name, also of a folder."""
        return os.path.basename(self.path.rstrip("/"))

    @cached_property
    def beside(self) -> Input:
        """JSON header of the file: ``r.csv.json`` of ``r.csv``."""
        return Input(self.path.rstrip("/") + ".json")

    @property
    def assumed(self) -> tuple[str, ...]:
        """Sentences about what was inferred on opening."""
        return ()

    @property
    def unread(self) -> tuple[str, ...]:
        """Names of parts of the file that are not read."""
        return ()

    @property
    def is_gzip(self) -> bool:
        """Tell if the file begins as gzip."""
        return self._on_disk.start.startswith(GZIP_MAGIC)

    @property
    def is_parquet(self) -> bool:
        """Tell if the unpacked content begins as Parquet."""
        return self.head(len(PARQUET_MAGIC)) == PARQUET_MAGIC

    @property
    def is_zip(self) -> bool:
        """Tell if the file begins as a zip archive, such as an Excel workbook."""
        return self._on_disk.start.startswith(ZIP_MAGIC)

    @property
    def begins_as_json(self) -> bool:
        """Tell if the unpacked content begins as a JSON object or list."""
        return self.head(64).lstrip(codecs.BOM_UTF8 + b" \t\r\n").startswith((b"{", b"["))

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the file on disk, in hexadecimal."""
        with self._open_packed() as stream, readable(self.path):
            return hashlib.file_digest(cast(io.BufferedReader, stream), "sha256").hexdigest()

    @property
    def source(self) -> Source:
        """Base name and SHA-256 of the file, or of a folder's Parquet files, and of the header."""
        from tacit.model.release import Source

        return Source(self.name, self._parts_sha256 if os.path.isdir(self) else self.sha256, self.header_sha256)

    @property
    def _parts_sha256(self) -> str:
        parts = parquet_files(self, nested=True)
        listed = "".join(f"{part.relative_to(self.path).as_posix()}\0{Input(part).sha256}\n" for part in parts)
        return hashlib.sha256(listed.encode()).hexdigest()

    @property
    def header_sha256(self) -> str:
        """SHA-256 of the file's JSON header, empty if none."""
        return self.beside.sha256 if os.path.isfile(self.beside) else ""

    @cached_property
    def encoding(self) -> str:
        """Name of the codec; all content is read, so that later readers cannot fail half-way."""
        start = self.head(4)
        for marks, codec in _MARKED:
            if start.startswith(marks):
                if not self._decodes(codec):
                    raise InputError(f"is damaged {codec.upper()} text", where=shown(self), remedy="Save it again as UTF-8")
                return codec
        if self._decodes("utf-8"):
            return "utf-8-sig"
        if all(len(chunk.translate(None, _NOT_CP1252)) == len(chunk) for chunk in self._chunks()):
            return "cp1252"
        head = self.head(64)
        for magic, start_at, what, remedy in _FOREIGN:
            if head.startswith(magic, start_at):
                raise InputError(what, where=shown(self), remedy=remedy)
        what = "is not text (binary, or in an unknown encoding)"
        raise InputError(what, where=shown(self), remedy="Save it as CSV in UTF-8")

    def head(self, size: int) -> bytes:
        """Return the first ``size`` bytes of the unpacked content."""
        with self.open_bytes() as stream, readable(self.path):
            return stream.read(size)

    def open_bytes(self) -> BinaryIO:
        """Open the unpacked content as a binary stream."""
        if self._content is not None:
            return io.BytesIO(self._content)
        return self._unpack() if self.is_gzip else self._open_packed()

    def open_text(self, *, keep_newlines: bool = False) -> TextIO:
        r"""Open the content as checked text, with ``\n`` for all line ends unless they are kept."""
        encoding = self.encoding  # read before the stream is opened, which would stay open if this fails
        return io.TextIOWrapper(self.open_bytes(), encoding=encoding, newline="" if keep_newlines else None)

    def check_unchanged(self, descriptor: int | None = None) -> None:
        """Raise if the file has changed since first opened."""
        with readable(self.path):
            state = _state_of(os.stat(self.path if descriptor is None else descriptor))
        if state != self._on_disk.state:
            remedy = "Wait until it is complete, and run the command again"
            raise InputError("changed while it was being read", where=shown(self), remedy=remedy)

    @cached_property
    def _on_disk(self) -> _OnDisk:
        with _open_file(self.path) as stream, readable(self.path):
            state = _state_of(os.fstat(stream.fileno()))
            start = stream.read(64)
            if state[0] > MOST_KEPT:
                return _OnDisk(start, None, state)
            content = start + stream.read(MOST_KEPT)
        return _OnDisk(start, content if len(content) <= MOST_KEPT else None, state)

    @cached_property
    def _content(self) -> bytes | None:
        """Unpacked content; None if too large."""
        packed = self._on_disk.content
        if packed is None or not self.is_gzip:
            return packed
        with self._unpack() as stream, readable(self.path):
            content = stream.read(MOST_KEPT + 1)
        return content if len(content) <= MOST_KEPT else None

    def _open_packed(self) -> BinaryIO:
        if self._on_disk.content is not None:
            return io.BytesIO(self._on_disk.content)
        stream = _open_file(self.path)
        try:
            self.check_unchanged(stream.fileno())
        except InputError:
            stream.close()
            raise
        return stream

    def _unpack(self) -> BinaryIO:
        """Open the unpacked content, whose size is limited."""
        most = max(1 << 28, 200 * self._on_disk.state[0])
        if size := os.environ.get(MOST_UNPACKED, "").strip().casefold():
            found = re.fullmatch(r"(\d{1,12})\s*([kmgt]?)b?", size)
            if found is None:
                raise OptionError("is not a size", where=MOST_UNPACKED, remedy="Write for instance 20GB")
            most = int(found[1]) * int(1000 ** " kmgt".index(found[2] or " "))
        return cast(BinaryIO, io.BufferedReader(_Unpacked(self.path, self._open_packed(), most), _CHUNK))

    def _decodes(self, codec: str) -> bool:
        """Tell if the whole content has this encoding, and no NUL."""
        decoder = codecs.getincrementaldecoder(codec)()
        try:
            if any("\x00" in decoder.decode(chunk) for chunk in self._chunks()):
                return False
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
        return True

    def _chunks(self) -> Iterator[bytes]:
        with self.open_bytes() as stream, readable(self.path):
            while chunk := stream.read(_CHUNK):
                yield chunk


class _Unpacked(io.RawIOBase):
    def __init__(self, path: str, packed: BinaryIO, most: int) -> None:
        super().__init__()
        self._path = path
        self._left = most
        self._packed = packed
        self._stream = gzip.GzipFile(fileobj=packed)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        data = self._stream.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            what = "becomes far larger when it is unpacked than packed text does"
            remedy = f"Unpack it yourself, or allow more in the environment, such as {MOST_UNPACKED}=20GB"
            raise InputError(what, where=shown(self._path), remedy=remedy)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._stream.close()
        self._packed.close()
        super().close()


SHEET_MARKS = ("#", "::")  #: Either stands between a workbook and the name of one of its sheets.


def split_sheet(path: FilePath) -> tuple[str, str]:
    """Return a workbook and the name of its sheet; of other files, the path and nothing."""
    text = os.fspath(path)
    if not os.path.lexists(text):
        for mark in SHEET_MARKS:
            file, _, sheet = text.rpartition(mark)
            if os.path.isfile(file) and Input(file).is_zip:
                return file, sheet
    return text, ""


def parquet_files(folder: Input, *, nested: bool = False) -> list[Path]:
    """Return the Parquet files of a folder; ``nested`` ones may lie in folders of partitions below it."""
    root = Path(folder)
    found = root.rglob("*.parquet") if nested else root.glob("*.parquet")
    hidden = (".", "_")
    parts = sorted(part for part in found if not any(name.startswith(hidden) for name in part.relative_to(root).parts))
    if not parts:
        remedy = "Give the folder that Spark wrote, or a file"
        raise InputError("the folder holds no Parquet file", where=shown(folder), remedy=remedy)
    return parts


def shown(path: FilePath) -> str:
    """Return the path, quoted if not printable."""
    text = os.fspath(path)
    return text if text.strip() and text.isprintable() else repr(text)


def _state_of(found: os.stat_result) -> tuple[int, int, int]:
    return found.st_size, found.st_mtime_ns, found.st_ino


def _open_file(path: str) -> BinaryIO:
    with readable(path):
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise InputError("is a folder, not a file", where=shown(path), remedy="Give a file in it")
        if not stat.S_ISREG(mode):
            remedy = "Save it as a file first"
            raise InputError("is a pipe or device, which can be read only once", where=shown(path), remedy=remedy)
        return open(path, "rb")


@contextlib.contextmanager
def readable(path: FilePath) -> Iterator[None]:
    """Convert system errors on reading into one sentence."""
    try:
        yield
    except FileNotFoundError:
        raise InputError("there is no such file", where=shown(path), remedy=_suggest_neighbour(path)) from None
    except PermissionError:
        raise InputError("may not be read", where=shown(path), remedy="Ask for permission to read it, or copy it") from None
    except (EOFError, gzip.BadGzipFile, zlib.error):
        remedy = "Copy or download the file again"
        raise InputError("the gzip data are cut short or damaged", where=shown(path), remedy=remedy) from None
    except (OSError, ValueError) as exc:
        reason = (exc.strerror if isinstance(exc, OSError) else None) or "is not a valid path"
        raise InputError(f"cannot be read ({reason})", where=shown(path), remedy="Check the path and the disk") from None


def _suggest_neighbour(path: FilePath) -> str:
    folder, name = os.path.split(os.fspath(path))
    with contextlib.suppress(OSError):
        near = get_close_matches(name, sorted(os.listdir(folder or ".")), n=1, cutoff=0.7)
        return f"Perhaps {os.path.join(folder, near[0])!r} is meant" if near else "Check the name"
    return f"There is no folder {folder!r}; check the path"


# Temporary files


_used: set[Path] = set()  #: Folders in which this process has made something.


@cache
def _machine() -> str:
    """Return a mark of this machine: processes of others cannot be looked up."""
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def new_name(folder: FilePath, ending: str = "") -> Path:
    """Return a hidden name for a temporary; remove what killed processes left."""
    place = Path(folder)
    remove_left_over(place)
    _used.add(place)
    return place / f"{_own_prefix()}{secrets.token_hex(4)}{ending}"


def _own_prefix() -> str:
    return f".tacit-{_machine()}-{os.getpid()}-"


def remove_left_over(folder: Path) -> None:
    """Remove temporaries of this user's dead processes."""
    pattern = re.compile(rf"\.tacit-{_machine()}-(\d+)-[0-9a-f]{{8}}")
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            found = pattern.match(entry.name)
            if found is None or _is_alive(int(found[1])):
                continue
            if not hasattr(os, "getuid") or entry.stat(follow_symlinks=False).st_uid == os.getuid():
                _remove(Path(entry.path))


@atexit.register
def remove_own() -> None:
    """Remove all temporaries of this process."""
    for folder in tuple(_used):
        with contextlib.suppress(OSError):
            for name in os.listdir(folder):
                if name.startswith(_own_prefix()):
                    _remove(folder / name)


def _is_alive(process: int) -> bool:
    if os.name != "posix":
        return True  # there, asking whether a process is alive may end it
    try:
        os.kill(process, 0)
    except OSError as exc:
        return not isinstance(exc, ProcessLookupError)
    return True


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


@contextlib.contextmanager
def private_folder(parent: FilePath | None = None) -> Iterator[Path]:
    """Yield a private temporary folder, then remove it."""
    folder = _new_folder(tempfile.gettempdir() if parent is None else parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _new_folder(parent: FilePath) -> Path:
    folder = new_name(parent)
    folder.mkdir(mode=0o700)
    return folder


_spill_folders: dict[int, Path] = {}


def spill_folder() -> Path:
    """Return the private folder for spilled data."""
    process = os.getpid()
    if process not in _spill_folders or not _spill_folders[process].is_dir():
        _spill_folders[process] = _new_folder(tempfile.gettempdir())
    return _spill_folders[process]


# Writing


@contextlib.contextmanager
def replace_file(path: FilePath) -> Iterator[Path]:
    """Yield a temporary file that replaces ``path`` on success.

    The temporary file lies in the same folder and keeps the ending of the name. A link stays a link, and an existing file keeps its
    permissions. Devices and pipes (``/dev/stdout``) get the finished content.
    """
    with _writable(path):
        target, kind = _target_of(path)
        folder = tempfile.gettempdir() if kind == "device" else str(target.parent)
        temporary = new_name(folder, target.suffix[:32])
        # Not mkstemp: its mode 0600 would follow the file to its place.
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        with _writable(path, temporary, target):
            yield temporary
            _move_into_place(temporary, target, kind)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


@contextlib.contextmanager
def replace_text(path: FilePath) -> Iterator[TextIO]:
    """Yield a text stream that replaces the file on success."""
    with replace_file(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as stream:
        yield stream


def made_folder(folder: FilePath) -> Path:
    """Return the output folder, created if necessary."""
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
    """Raise if ``path`` cannot be written."""
    with _writable(path):
        target, kind = _target_of(path)
        if kind != "device" and not os.access(target.parent, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "")


def _target_of(path: FilePath) -> tuple[Path, str]:
    """Return a file's resolved path, and ``nothing``, ``file`` or ``device``."""
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
            remedy = "Create it first, or write elsewhere"
            raise OptionError("the folder does not exist", where=shown(path), remedy=remedy) from None
        return target, "nothing"
    if stat.S_ISDIR(mode):
        raise OptionError("is a folder, not a file", where=shown(path), remedy="Give the name of a file to write")
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "")
    return target, "file"


def _move_into_place(temporary: Path, target: Path, kind: str) -> None:
    if kind == "device":
        with open(temporary, "rb") as done, open(target, "ab") as device:
            shutil.copyfileobj(done, device)
        return
    if kind == "file":
        shutil.copymode(target, temporary)
    with open(temporary, "r+b") as done:
        os.fsync(done.fileno())
    os.replace(temporary, target)
    with contextlib.suppress(OSError):  # not every system lets a folder be synced
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


_OF_THE_DISK = {
    errno.ENOSPC: ("the disk is full", "Free some space, or write elsewhere"),
    errno.EDQUOT: ("your share of the disk is full", "Free some space, or write elsewhere"),
    errno.EFBIG: ("the file becomes too large for this disk", "Write elsewhere"),
    errno.EROFS: ("the disk is read-only", "Write elsewhere"),
    errno.EIO: ("the disk reports a fault", "Write elsewhere"),
}
_REASONS = _OF_THE_DISK | {
    errno.EACCES: ("may not be written", "Ask for permission, or write elsewhere"),
    errno.EPERM: ("may not be written", "Ask for permission, or write elsewhere"),
    errno.ENAMETOOLONG: ("the name is too long", "Give a shorter name"),
}


@contextlib.contextmanager
def _writable(path: FilePath, *ours: Path) -> Iterator[None]:
    """Convert system errors on writing into one sentence; with ``ours``, only those about these files."""
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
            what, remedy = _REASONS[errno.ENOSPC]
            raise OptionError(what, where=shown(path), remedy=remedy) from None
        raise


@contextlib.contextmanager
def replace_folder(path: FilePath) -> Iterator[Path]:
    """Yield a temporary folder that replaces ``path`` on success."""
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
