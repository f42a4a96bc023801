"""A skipped test fails the run where everything must run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
CASES = {
    "skip": "import pytest\n\ndef test_a():\n    pytest.skip('no reason')\n",
    "mark": "import pytest\n\n@pytest.mark.skip(reason='no reason')\ndef test_a(): ...\n",
    "module": "import pytest\n\npytest.skip('no reason', allow_module_level=True)\n",
    "pass": "def test_a(): ...\n",
    "xfail": "import pytest\n\n@pytest.mark.xfail(reason='known')\ndef test_a():\n    raise AssertionError\n",
}


def run(folder: Path, *, ci: str, workers: int = 0) -> int:
    arguments = ["-q", "-p", "no:cacheprovider", *(["-n", str(workers)] if workers else [])]
    command = [sys.executable, "-m", "pytest", *arguments, str(folder)]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, "CI": ci}, capture_output=True, timeout=120, check=False
    ).returncode


@pytest.mark.parametrize(("case", "expected"), [("skip", 1), ("mark", 1), ("module", 1), ("pass", 0), ("xfail", 0)])
def test_a_skip_is_an_error(tmp_path: Path, case: str, expected: int) -> None:
    shutil.copy(CONFTEST, tmp_path)
    (tmp_path / "test_case.py").write_text(CASES[case])
    (tmp_path / "test_other.py").write_text(CASES["pass"])
    assert run(tmp_path, ci="true") == expected


def test_a_skip_is_an_error_with_several_workers(tmp_path: Path) -> None:
    shutil.copy(CONFTEST, tmp_path)
    (tmp_path / "test_case.py").write_text(CASES["skip"])
    assert (run(tmp_path, ci="true", workers=1), run(tmp_path, ci="")) == (1, 0)
