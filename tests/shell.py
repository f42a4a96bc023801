"""The command line as tests use it: in this process where that is enough, in another where it is not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from tacit.cli import cli

TACIT = [sys.executable, "-m", "tacit"]


def tacit(*arguments: object) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def record(*arguments: object, code: int = 0) -> dict[str, Any]:
    """What a command writes to standard output with ``--json -``; it must be nothing but JSON."""
    result = tacit(*arguments, "--json", "-")
    assert result.exit_code == code, result.output
    made: dict[str, Any] = json.loads(result.stdout_bytes)
    return made


def content(made: dict[str, Any]) -> dict[str, Any]:
    """A record without what every record has: the program, the headline and the digest."""
    return {name: value for name, value in made.items() if name not in ("tool", "headline", "binding")}


def program(*arguments: object, cwd: Path, **options: Any) -> subprocess.CompletedProcess[Any]:
    """Run the program as a user does, in its own process."""
    environment = {**os.environ, "COLUMNS": "100"} | options.pop("env", {})
    command = [*TACIT, *map(str, arguments)]
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 120} | options
    return subprocess.run(command, cwd=cwd, env=environment, check=False, **piped)


def leaking_baskets(folder: Path) -> Path:
    """A file of transactions whose frequent itemsets give one person away: 50 have a, 49 of them b."""
    path = folder / "baskets.dat"
    path.write_text("a b\n" * 49 + "a\n" + "c\n" * 20)
    return path


def people(folder: Path) -> Path:
    """A table of 60 people with a missing value in a tenth of the rows; one woman is ill."""
    rows = ["sex,age,ill"]
    for number in range(60):
        sex, age = ("F", "M")[number % 2], ("old", "young", "?")[0 if number % 3 else 1 if number % 10 else 2]
        rows.append(f"{sex},{age},{'yes' if sex == 'M' or number == 4 else 'no'}")
    path = folder / "people.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def endless(folder: Path) -> Path:
    """A file whose frequent itemsets are too many to be listed: 40 items, each person lacking one of them."""
    path = folder / "endless.dat"
    path.write_text("".join(" ".join(str(item) for item in range(40) if item != person % 40) + "\n" for person in range(400)))
    return path
