"""Reading files as they are found, and leaving a whole file or nothing."""

from __future__ import annotations

import errno
import gzip
import hashlib
import os
import random
import stat
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from tacit.files import disk
from tacit.model.errors import InputError, OptionError


def sentence(call: Callable[[], object], kind: type[Exception]) -> str:
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.__cause__ is None
    return str(caught.value)


def read(path: Path) -> str:
    with disk.Input(path).open_text() as stream:
        return stream.read()


TEXT = "naïve;café\r\n1;€\rx\n"


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_every_usual_encoding_reads_the_same(tmp_path: Path, codec: str, packed: bool) -> None:
    data = TEXT.encode(codec)
    if codec in ("utf-16-le", "utf-16-be"):
        data = "\ufeff".encode(codec) + data
    path = tmp_path / "no-ending"
    path.write_bytes(gzip.compress(data) if packed else data)
    assert read(path) == "naïve;café\n1;€\nx\n"
    with disk.Input(path).open_text(keep_newlines=True) as stream:
        assert stream.read() == TEXT
    assert disk.Input(path).is_gzip is packed
    assert disk.Input(path).head(3) == data[:3]


def test_an_invalid_byte_at_the_very_end_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"a,b\n" * 400_000 + "é".encode("cp1252"))
    assert disk.Input(path).encoding == "cp1252"
    path.write_bytes(b"a,b\n" * 400_000 + "é".encode()[:1])  # UTF-8 cut in the middle of a letter reads as Windows text
    assert disk.Input(path).encoding == "cp1252"


def test_an_empty_file_is_empty_text(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"")
    assert read(path) == ""
    assert disk.Input(path).head(10) == b""


def test_missing_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("adult.csv").write_text("a\n1\n")
    assert sentence(lambda: disk.Input("adul.csv").open_text(), InputError) == (
        "adul.csv: there is no such file. Perhaps 'adult.csv' is meant."
    )
    assert sentence(lambda: disk.Input("zzz").open_text(), InputError) == "zzz: there is no such file. Check the name."
    assert sentence(lambda: disk.Input("no/x").sha256, InputError) == (
        "no/x: there is no such file. There is no folder 'no'; check the path."
    )
    assert sentence(lambda: disk.Input("adult.csv/x").open_text(), InputError).startswith("adult.csv/x: ")
    assert sentence(lambda: disk.Input(".").open_text(), InputError) == ".: is a folder, not a file. Give a file in it."
    assert sentence(lambda: disk.Input("").open_text(), InputError).startswith("'': there is no such file. ")
    assert sentence(lambda: disk.Input("a\0b").open_text(), InputError) == (
        "'a\\x00b': cannot be read (is not a valid path). Check the path and the disk."
    )
    os.mkfifo("pipe")
    assert sentence(lambda: disk.Input("pipe").open_text(), InputError) == (
        "pipe: is a pipe or device, which can be read only once. Save it as a file first."
    )


def test_unreadable_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    path.write_text("a")

    def refuse(*_args: object, **_kwargs: object) -> NoReturn:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    assert (
        sentence(lambda: disk.Input(path).open_bytes(), InputError)
        == f"{path}: may not be read. Ask for permission to read it, or copy it."
    )


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"PK\x03\x04\x14\x00\x06\x00", "is a zip archive or an Excel workbook, not text. Save it as CSV and give that file."),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "is an old Excel workbook, not text. Save it as CSV and give that file."),
        (b"$FL2@(#) SPSS\x00\x01", "is an SPSS file, not text. Save it as CSV and give that file."),
        (gzip.compress(b"X\n\x00\x00\x00\x03", mtime=0), "is an R data file, not text. Save it as CSV and give that file."),
        (b"PAR1\x15\x04\x15\x00", "is a Parquet file, not text. Give it where a Parquet file is read, or save it as CSV."),
        (b"BZh91AY&SY\x00\x81", "is compressed with bzip2. Unpack it, or compress it with gzip instead."),
        (b"\x00" * 8 + b"DUCK\x00\x40", "is a DuckDB database, not text. Name a table in it, as in FILE::TABLE."),
        (b"\x00\x01\x02", "is not text (binary, or in an unknown encoding). Save it as CSV in UTF-8."),
        (b"a,b\n1,\x00\n", "is not text (binary, or in an unknown encoding). Save it as CSV in UTF-8."),
        (b"a,b\n1,\x81\n", "is not text (binary, or in an unknown encoding). Save it as CSV in UTF-8."),
        ("a,b\n".encode("utf-16-le"), "is not text (binary, or in an unknown encoding). Save it as CSV in UTF-8."),
        (b"\xff\xfea\x00b", "is damaged UTF-16 text. Save it again as UTF-8."),
        (
            gzip.compress(random.Random(1).randbytes(4000), mtime=0)[:1000],
            "the gzip data are cut short or damaged. Copy or download the file again.",
        ),
        (b"\x1f\x8b\x08nonsense and more", "the gzip data are cut short or damaged. Copy or download the file again."),
    ],
)
def test_what_is_no_text(tmp_path: Path, data: bytes, what: str) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(data)
    assert sentence(lambda: disk.Input(path).open_text(), InputError) == f"{path}: {what}"


def test_gzip_cut_in_its_last_bytes_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" * 10)[:-3])
    assert "cut short or damaged" in sentence(lambda: disk.Input(path).open_text(), InputError)


def test_text_that_begins_like_something_else_is_text(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    for head in ("ORCID,age", "PAR1,PAR2", "PAR1", "BZh,x", "RDX,y", "ARROW1,b"):
        path.write_text(head + "\n1,2\n")
        assert read(path).startswith(head)
        assert not disk.Input(path).is_parquet


def test_source_is_base_name_and_digest(tmp_path: Path) -> None:
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"a\n"))
    source = disk.Input(path).source
    assert source.name == "x.csv.gz"
    assert source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


# Writing


def left(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_a_new_file_gets_the_usual_permissions(tmp_path: Path) -> None:
    with disk.replace_text(tmp_path / "new.csv") as stream:
        stream.write("a\nß\n")
    plain = tmp_path / "plain"
    plain.write_text("")
    assert (tmp_path / "new.csv").read_bytes() == "a\nß\n".encode()
    assert stat.S_IMODE((tmp_path / "new.csv").stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    assert left(tmp_path) == ["new.csv", "plain"]


def test_an_existing_file_keeps_its_permissions_and_a_link_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "real.csv"
    real.write_text("old")
    real.chmod(0o640)
    link = tmp_path / "link.csv"
    link.symlink_to(real)
    with disk.replace_file(link) as temporary:
        assert temporary.parent == real.parent
        assert temporary.suffix == ".csv"
        temporary.write_text("new")
        assert real.read_text() == "old"
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_a_failure_leaves_what_was_there(tmp_path: Path, failure: type[BaseException]) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")

    def fail() -> None:
        with disk.replace_text(path) as stream:
            stream.write("half")
            raise failure

    with pytest.raises(failure):
        fail()
    assert path.read_text() == "old"
    assert left(tmp_path) == ["out.csv"]


def write(path: str | Path) -> None:
    with disk.replace_text(path) as stream:
        stream.write("x")


@pytest.mark.parametrize("call", [write, disk.check_output])
def test_where_nothing_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Callable[[str], None]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    absent = "the folder does not exist. Create it first, or write elsewhere."
    assert sentence(lambda: call("no/out.csv"), OptionError) == f"no/out.csv: {absent}"
    assert sentence(lambda: call("file/out.csv"), OptionError) == f"file/out.csv: {absent}"
    assert sentence(lambda: call("."), OptionError) == ".: is a folder, not a file. Give the name of a file to write."
    nameless = "is not the name of a file. Give the name of a file to write."
    assert sentence(lambda: call(""), OptionError) == f"'': {nameless}"
    assert sentence(lambda: call("a\0b"), OptionError) == f"'a\\x00b': {nameless}"
    assert "too long" in sentence(lambda: call("x" * 400), OptionError)
    assert left(tmp_path) == ["file"]


@pytest.mark.parametrize("call", [write, disk.check_output])
def test_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Callable[[Path], None]) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")
    monkeypatch.setattr(os, "access", lambda *_args: False)
    assert sentence(lambda: call(path), OptionError) == f"{path}: may not be written. Ask for permission, or write elsewhere."
    path.unlink()
    monkeypatch.setattr(os, "open", _raise(PermissionError(errno.EACCES, "Permission denied")))
    assert sentence(lambda: call(path), OptionError) == f"{path}: may not be written. Ask for permission, or write elsewhere."


def _raise(error: BaseException) -> Callable[..., NoReturn]:
    def raiser(*_args: object, **_kwargs: object) -> NoReturn:
        raise error

    return raiser


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), RuntimeError("IO Error: No space left on device: /tmp/x")]
)
def test_a_full_disk(tmp_path: Path, error: Exception) -> None:
    path = tmp_path / "out.csv"

    def fill() -> None:
        with disk.replace_file(path):
            raise error

    assert sentence(fill, OptionError) == f"{path}: the disk is full. Free some space, or write elsewhere."
    assert left(tmp_path) == []


def test_a_full_disk_noticed_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", _raise(OSError(errno.ENOSPC, "No space left on device")))
    assert "the disk is full" in sentence(lambda: write(path), OptionError)
    assert path.read_text() == "old"
    assert left(tmp_path) == ["out.csv"]


def test_errors_about_other_files_pass(tmp_path: Path) -> None:
    def other() -> None:
        with disk.replace_file(tmp_path / "out.csv"), open(tmp_path / "absent"):
            pass

    with pytest.raises(FileNotFoundError):
        other()
    assert left(tmp_path) == []


def test_a_device_gets_the_content_and_stays_a_device(tmp_path: Path) -> None:
    before = os.stat("/dev/null").st_mode
    write("/dev/null")
    assert os.stat("/dev/null").st_mode == before
    disk.check_output("/dev/null")
