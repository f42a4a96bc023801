"""DuckDB as Tacit uses it: no other files, no extensions, no network, spilling into a private folder."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import tacit
from tacit.files.duckdb import connect
from tacit.model.errors import OptionError


@pytest.fixture
def other(tmp_path: Path) -> Path:
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n")
    return path


@pytest.mark.parametrize(
    "sql",
    [
        "FROM read_csv('{other}')",
        "FROM read_text('{other}')",
        "FROM glob('{other}')",
        "ATTACH '{other}.duckdb' AS more",
        "COPY (SELECT 1) TO '{other}.out'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET autoinstall_known_extensions = true",
        "SET allowed_directories = ['/']",
    ],
)
def test_a_connection_touches_nothing_but_its_files(other: Path, sql: str) -> None:
    mine = other.with_name("mine[1]*.csv")
    mine.write_text("a\n1\n")
    with connect([str(mine)]) as connection:
        with pytest.raises(duckdb.Error):
            connection.execute(sql.format(other=other)).fetchall()
        assert sorted(path.name for path in other.parent.iterdir()) == ["mine[1]*.csv", "other.csv"]


def test_names_with_pattern_signs_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a[1]*?.csv"
    path.write_text("sex,ill\nF,yes\nM,no\n")
    assert tacit.read_table(path).n == 2


def test_a_view_in_a_database_is_refused_and_reads_no_file(tmp_path: Path, other: Path) -> None:
    path = tmp_path / "evil.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute("CREATE TABLE rows AS SELECT 1 AS a")
        made.execute(f"CREATE VIEW people AS FROM read_csv('{other}')")
    with pytest.raises(OptionError, match="'people' is a view, and only tables are read"):
        tacit.read_table(f"{path}::people")
    assert tacit.read_table(f"{path}::rows").n == 1


def test_spilling_goes_into_a_private_folder_that_is_removed(tmp_path: Path) -> None:
    source = (
        "import os, stat\n"
        "from tacit.files.duckdb import connect\n"
        "con = connect(memory=40_000_000)\n"
        "con.execute(\"CREATE TABLE x AS SELECT random() AS r, repeat('x', 60) || range AS s FROM range(800000)\")\n"
        "(spill,) = con.execute(\"SELECT current_setting('temp_directory')\").fetchone()\n"
        "print(spill, oct(stat.S_IMODE(os.stat(spill).st_mode)), len(os.listdir(spill)) > 0)\n"
    )
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", source], env=environment, capture_output=True, text=True, check=True)
    folder, mode, used = done.stdout.split()
    assert (os.path.dirname(folder), mode, used) == (str(tmp_path), oct(stat.S_IRWXU), "True")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_at_home(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    source = (
        "import duckdb, tacit\n"
        "baskets = tacit.read_transactions([['a', 'b']] * 49 + [['a']])\n"
        "tacit.write_release(tacit.mine_itemsets(baskets, min_support=40), 'r.parquet')\n"
        "found = tacit.audit('r.parquet', findings_to='all.parquet')\n"
        "print(found.verdict, duckdb.sql(\"FROM 'all.parquet'\").fetchall()[0][0])\n"
    )
    environment = os.environ | {"HOME": str(home)}
    run = subprocess.run(
        [sys.executable, "-c", source], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == ["exposed", "I01"]
    assert not (home / ".duckdb").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.parquet", "home", "r.parquet", "r.parquet.json"]
