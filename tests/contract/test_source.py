"""Rules for every source file: it has a docstring, prints nothing, and names nothing of the machine it was written on."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "tacit"
IGNORED = {".git", ".venv", "site", "build", "dist", "__pycache__", ".mypy_cache", ".ruff_cache", ".hypothesis", "tacit-demo"}

# Spelled in pieces, so that this file does not hold what it looks for.
FORBIDDEN = re.compile(
    "|".join(
        [
            "/(?:ro" + "ot|wo" + "rk|fa" + "rm|ho" + r"me/\w+)/",
            "py" + r"pi\.org",
            "python" + "hosted",
            "npm" + r"js\.org",
            "/o" + "pt/",
        ]
    )
)


def tracked() -> list[Path]:
    """The files of the repository; outside of a clone, all that are not made by tools."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]
    return [path for path in ROOT.rglob("*") if path.is_file() and not IGNORED.intersection(path.relative_to(ROOT).parts)]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


PYTHON = [path for path in tracked() if path.suffix == ".py"]


@pytest.mark.parametrize("path", [p for p in PYTHON if SRC in p.parents], ids=name_of)
def test_source_is_described_and_silent(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)
    part = path.relative_to(SRC).parts[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and part not in ("cli", "reports", "demo.py"):
            assert node.func.id != "print", f"line {node.lineno} prints"


@pytest.mark.parametrize("path", [p for p in tracked() if p.suffix not in (".gz", ".parquet", ".svg")], ids=name_of)
def test_files_name_no_host_and_no_path_of_a_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = FORBIDDEN.search(text)
    assert found is None, f"line {text.count(chr(10), 0, found.start()) + 1}" if found else ""


def test_files_are_small() -> None:
    for path in tracked():
        assert path.stat().st_size <= 2 * 1024 * 1024, name_of(path)


def test_constraints_are_plain_versions() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert all(re.fullmatch(r"#.*|[A-Za-z0-9_.-]+==[A-Za-z0-9_.+!-]+", line) for line in lines)
    names = [line.partition("==")[0].lower() for line in lines if "==" in line]
    assert names == sorted(set(names))
