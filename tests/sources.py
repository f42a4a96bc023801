"""The source files of Tacit, each parsed once for all tests about them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

SRC = Path(__file__).parents[1] / "src" / "tacit"
FILES = sorted(SRC.rglob("*.py"))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """The syntax tree of a file, node by node; the first is the module."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
