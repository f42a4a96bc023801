"""Temporary files: removed when a process ends or is told to, and by the next run when it was killed."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tacit.files import disk
from tacit.files.disk import replace_file, replace_folder, replace_text

KILLED = (
    "import os, signal\n"
    "from tacit.files.disk import replace_file\n"
    "from tacit.files.disk import replace_folder\n"
    "with replace_file('r.parquet') as one, replace_folder('pages') as folder:\n"
    "    one.write_text('secret'), one.with_name(one.name + '.csv').write_text('secret'), (folder / 'page').write_text('secret')\n"
    "    os.kill(os.getpid(), signal.SIGKILL)\n"
)


def hidden(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.name.startswith(".tacit"))


def test_what_a_killed_process_left_is_removed_by_the_next_run(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED], cwd=tmp_path, check=False)
    assert len(hidden(tmp_path)) == 3
    with replace_text(tmp_path / "other.csv") as stream:
        stream.write("x\n")
    assert [path.name for path in tmp_path.iterdir()] == ["other.csv"]


def test_temporaries_of_living_processes_and_of_others_stay(tmp_path: Path) -> None:
    node = disk._machine()
    living = tmp_path / f".tacit-{node}-{os.getppid()}-0123abcd.csv"
    elsewhere = tmp_path / ".tacit-00000000-999999999-0123abcd.csv"
    not_ours = [tmp_path / ".tacit-notes", tmp_path / f".tacit-{node}-999999999-readme", tmp_path / ".tacit-old-1-2"]
    kept = [living, elsewhere, *not_ours]
    for path in kept:
        path.write_text("x")
    dead = tmp_path / f".tacit-{node}-999999999-0123abcd.csv"
    dead.write_text("x")
    disk.remove_left_over(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted(kept)


def test_a_link_to_a_folder_is_removed_and_not_followed(tmp_path: Path) -> None:
    aim = tmp_path / "aim"
    aim.mkdir()
    (aim / "file").write_text("x")
    (tmp_path / f".tacit-{disk._machine()}-999999999-0123abcd").symlink_to(aim)
    disk.remove_left_over(tmp_path)
    assert (aim / "file").read_text() == "x"
    assert hidden(tmp_path) == []


def test_a_process_removes_its_own_when_it_is_told_to_end(tmp_path: Path) -> None:
    with replace_file(tmp_path / "a.csv") as one, replace_folder(tmp_path / "pages") as folder:
        (folder / "page").write_text("x")
        one.with_name(one.name + ".csv").write_text("x")
        assert len(hidden(tmp_path)) == 3
        disk.remove_own()
        assert hidden(tmp_path) == []
        one.write_text("x")
        folder.mkdir()


def test_private_folders_are_private(tmp_path: Path) -> None:
    with disk.private_folder(tmp_path) as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == stat.S_IRWXU
        (folder / "file").write_text("x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_the_program_while_a_library_runs(tmp_path: Path, number: signal.Signals, code: int) -> None:
    source = (
        "import ctypes\n"
        "import tacit.cli as program\n"
        "from tacit.files.disk import replace_file\n"
        "program.PATIENCE = 0.2\n"
        "program.watch_signals()\n"
        "with replace_file('r.csv'):\n"
        "    lock = ctypes.CDLL(None)\n"
        "    for _ in iter(int, 1):\n"
        "        try:\n"
        "            print('begun', flush=True)\n"
        "            [lock.usleep(900000) for _ in range(600)]\n"
        "        except BaseException:\n"
        "            pass\n"
    )
    with subprocess.Popen([sys.executable, "-c", source], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(number)
        process.wait(timeout=60)
    assert process.returncode == code
    assert list(tmp_path.iterdir()) == []
