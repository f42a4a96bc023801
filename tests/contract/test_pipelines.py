"""The hook for pre-commit and the action for build servers, run as they are written."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from tests.shell import leaking_baskets, tacit

ROOT = Path(__file__).parents[2]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with an exposed release, a clean one, and the program on the path."""
    baskets = leaking_baskets(tmp_path)
    assert tacit("mine", "itemsets", baskets, "--min-support", "20", "-o", tmp_path / "exposed.csv").exit_code == 0
    assert (
        tacit("mine", "itemsets", baskets, "--min-support", "20", "--only", "maximal", "-o", tmp_path / "clean.csv").exit_code
        == 0
    )
    program = tmp_path / "bin" / "tacit"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m tacit "$@"\n')
    program.chmod(0o755)
    return tmp_path


def run(command: list[str], place: Path, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": f"{place / 'bin'}:{os.environ['PATH']}", **more}
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(
    ("files", "options", "code"), [("clean.csv", "", 0), ("clean.csv exposed.csv", "", 1), ("exposed.csv", "--k 1", 0)]
)
def test_the_hook_audits_each_file(place: Path, files: str, options: str, code: int) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["id"] == "tacit-audit"
    assert all(re.search(hook["files"], file) for file in files.split())
    # args of a user's configuration replace those of the hook
    args = [*options.split(), "--"] if options else hook["args"]
    done = run([*shlex.split(hook["entry"]), *args, *files.split()], place)
    assert done.returncode == code, done.stderr
    assert done.stdout.count("Audited") == len(files.split())


@pytest.mark.parametrize(("file", "code"), [("clean.csv", 0), ("exposed.csv", 1)])
def test_the_action_fails_where_something_is_exposed(place: Path, file: str, code: int) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    given = {name: one.get("default", "") for name, one in action["inputs"].items()} | {"releases": file}
    install, audit = action["runs"]["steps"]
    assert "pip install" in install["run"]
    environment = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: given[found[1]], text) for name, text in audit["env"].items()
    }
    done = run(["bash", "-euo", "pipefail", "-c", audit["run"]], place, **environment)
    assert done.returncode == code, done.stderr
    log = json.loads((place / given["sarif"]).read_bytes())
    assert bool(log["runs"][0]["results"]) == bool(code)
    assert "<testsuite" in (place / given["junit"]).read_text()
    assert "but not" not in done.stdout
