"""Notebooks run from the first cell to the last, need no network, and what they show describes nobody unless it is a frame."""

from __future__ import annotations

import ast
import re
import shutil
import socket
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import tacit
from tacit.model.shown import Shown
from tacit.reports.pictures import Canvas

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.py"))
#: What stands in the data, and in a card nowhere.
VALUES = ("diabetes", "hypertension", "40-64", "65+", "smoker")


def run(text: str) -> list[Any]:
    """Run the cells one after the other; return what their last lines show."""
    names: dict[str, Any] = {}
    shown = []
    for cell in re.split(r"^# %%", text, flags=re.MULTILINE)[1:]:
        if cell.startswith(" [markdown]"):
            continue
        body = ast.parse(cell.partition("\n")[2])
        last = body.body.pop() if isinstance(body.body[-1], ast.Expr) else None
        exec(compile(body, "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            shown.append(eval(compile(ast.Expression(last.value), "cell", "eval"), names))
    return [thing for thing in shown if thing is not None]


def test_there_are_notebooks() -> None:
    assert [path.name for path in NOTEBOOKS] == ["audit_your_frame.py", "rules_about_people.py"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_runs_without_a_network(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(socket, "create_connection", None)
    shown = run(path.read_text(encoding="utf-8"))
    kinds = {type(thing) for thing in shown}
    assert {tacit.Audit, tacit.Repair, Canvas, pd.DataFrame} <= kinds
    for thing in shown:
        if isinstance(thing, Shown):
            assert not any(value in repr(thing) + thing._repr_html_() for value in VALUES)
        elif isinstance(thing, Canvas):
            assert not any(value in thing._repr_svg_() for value in VALUES)
    audits = [thing for thing in shown if isinstance(thing, tacit.Audit)]
    assert {audit.verdict for audit in audits} == {"exposed"}
    assert all(thing.ok for thing in shown if isinstance(thing, tacit.Repair))
