"""What only a process of its own shows: Ctrl-C, pipes, terminals, closed and full outputs, what is imported."""

from __future__ import annotations

import os
import pty
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.shell import TACIT, endless, leaking_baskets, program


@pytest.fixture(scope="module", autouse=True)
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release that gives one person away; making and auditing it also compiles the kernels, so that later runs are not held up."""
    folder = tmp_path_factory.mktemp("release")
    assert program("mine", "itemsets", leaking_baskets(folder), "--min-support", "40", "-o", "r.csv", cwd=folder).returncode == 0
    assert program("audit", "r.csv", cwd=folder).returncode == 1
    return folder / "r.csv"


ROOM = ("--memory", "1000000000TB")  #: So that a search is begun whose result would fit nowhere.


def test_help_imports_no_heavy_library(tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv = ['tacit', '--help']\n"
        "from tacit.cli import main\n"
        "try: main()\n"
        "finally: print(sorted({name.split('.')[0] for name in sys.modules} & {'numpy', 'numba', 'duckdb', 'rich', 'pandas', 'scipy'}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "[]"


def test_ctrl_c_ends_a_long_search_and_leaves_nothing(tmp_path: Path) -> None:
    data = endless(tmp_path)
    command = [*TACIT, "mine", "itemsets", str(data), "--min-support", "10", *ROOM, "-o", "r.csv", "--json", "r.json"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            time.sleep(2.5)
            assert process.poll() is None, "the search was to be long"
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
        finally:
            process.kill()  # a search that goes on would fill the memory of the machine
    assert process.returncode == 130
    assert out == b""
    assert err.decode().strip().endswith("interrupted; nothing was written")
    assert b"Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["endless.dat"]


def test_a_time_limit_ends_with_3_and_leaves_nothing(tmp_path: Path) -> None:
    done = program(
        "mine", "itemsets", endless(tmp_path), "--min-support", "10", *ROOM, "--time-limit", "0.5", "-o", "r.csv", cwd=tmp_path
    )
    assert done.returncode == 3
    assert b"--time-limit" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["endless.dat"]
    assert b"\x1b" not in done.stderr, "no progress bar in a pipe"


def test_a_terminal_sees_progress_and_the_pipe_stays_pure(tmp_path: Path) -> None:
    leader, follower = pty.openpty()
    command = ["mine", "itemsets", endless(tmp_path), "--min-support", "10", *ROOM, "--time-limit", "1.5", "--json", "-"]
    done = program(*command, cwd=tmp_path, stderr=follower, env={"TERM": "xterm"})
    os.close(follower)
    shown = b""
    while chunk := _read(leader):
        shown += chunk
    os.close(leader)
    assert done.returncode == 3
    assert b"mining" in shown
    assert b"\x1b[" in shown
    assert done.stdout == b""


def _read(leader: int) -> bytes:
    try:
        return os.read(leader, 65536)
    except OSError:  # the other end is closed
        return b""


def test_a_reader_that_leaves_changes_nothing_but_the_output(release: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = program("audit", release, cwd=release.parent, stdout=write)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("arguments", [["audit", "r.csv"], ["audit", "r.csv", "--json", "-"]])
def test_a_full_disk_behind_standard_output_is_one_sentence(release: Path, arguments: list[str], unbuffered: str) -> None:
    with open("/dev/full", "wb") as full:
        done = program(*arguments, cwd=release.parent, stdout=full, env={"PYTHONUNBUFFERED": unbuffered})
    assert done.returncode == 2
    assert done.stderr.startswith(b"standard output: ")
    assert b"Traceback" not in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_closed_streams_are_no_bug(release: Path) -> None:
    for redirect, code in ((">&-", 1), ("2>&-", 1), (">&- --json -", 2)):
        command = f"{' '.join(TACIT)} audit r.csv {redirect}"
        done = subprocess.run(["/bin/sh", "-c", command], cwd=release.parent, capture_output=True, check=False)
        assert done.returncode == code, redirect
        assert b"Traceback" not in done.stderr


def test_names_outside_ascii_are_printed_anywhere(tmp_path: Path) -> None:
    (tmp_path / "b.dat").write_text("Käse 油\n" * 49 + "Käse\n" + "油\n" * 20, encoding="utf-8")
    env = {"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    assert program("mine", "itemsets", "b.dat", "--min-support", "40", "-o", "r.csv", cwd=tmp_path, env=env).returncode == 0
    text = program("audit", "r.csv", "--json", "r.json", "-v", cwd=tmp_path, env=env)
    assert text.returncode == 1
    assert "Käse but not ".encode("latin-1") + b"\\u6cb9" in text.stdout.replace(b"\n     ", b" ")
    assert program("audit", "r.csv", "--json", "-", cwd=tmp_path, env=env).stdout == (tmp_path / "r.json").read_bytes()
    assert "油".encode() in (tmp_path / "r.json").read_bytes()


def test_being_terminated_removes_what_was_begun(tmp_path: Path) -> None:
    command = [*TACIT, "mine", "itemsets", str(endless(tmp_path)), "--min-support", "10", *ROOM, "-o", "r.csv"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        time.sleep(2)
        process.terminate()
        process.communicate(timeout=30)
    assert process.returncode == 143
    assert [path.name for path in tmp_path.iterdir()] == ["endless.dat"]


@pytest.mark.parametrize("kilobytes", [200_000, 300_000, 400_000, 500_000])
def test_a_small_limit_on_memory_is_one_sentence(release: Path, kilobytes: int) -> None:
    command = f"ulimit -v {kilobytes}; exec {shlex.join(TACIT)} audit {shlex.quote(str(release))} -q"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        "tacit: there is not enough memory: this shell allows less than 768 MB. Raise the limit with ulimit -v.\n"
    )
