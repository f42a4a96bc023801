"""Which part may import which, read from the source; imports inside functions count as well."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src" / "tacit"

#: A module or package of Tacit, and what it may import besides itself. ``""`` is the package ``tacit``, the public names.
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "version": set(),
    "kernels": set(),
    "model": {"errors", "version"},
    "engines": {"errors", "model"},
    "formats": {"engines", "errors", "model"},
    "mining": {"errors", "kernels", "model"},
    "inference": {"errors", "kernels", "model"},
    "bucketing": {"errors", "kernels", "model"},
    "hiding": {"errors", "inference", "model"},
    "wording": {"model"},
    "attacks": {"errors", "inference", "kernels", "mining", "model", "wording"},
    "repairs": {"errors", "kernels", "mining", "model"},
    "repairing": {"attacks", "errors", "measures", "model", "repairs"},
    "measures": {"errors", "inference", "model"},
    "checker": {"errors", "model", "wording"},
    "reports": {"measures", "model", "version"},
    "verifying": {"api", "checker", "errors", "formats", "model", "reports"},
    "reporting": {"errors", "formats", "model", "reports"},
    "reproductions": {"api", "attacks", "bucketing", "errors", "formats", "hiding", "inference", "measures", "model", "negative"},
    "auditing": {"attacks", "errors", "formats", "model"},
    "auditing_known": {"attacks", "auditing", "errors", "formats", "measures", "model"},
    "auditing_releases": {"attacks", "auditing", "auditing_known", "errors", "formats", "measures", "model"},
    "api": {
        "attacks",
        "auditing",
        "auditing_releases",
        "errors",
        "formats",
        "measures",
        "mining",
        "model",
        "repairing",
        "repairs",
    },
    "hiding_cells": {"api", "errors", "formats", "hiding", "inference", "measures", "model"},
    "bucketizing": {"api", "bucketing", "errors", "formats", "inference", "measures", "model"},
    "suggesting": {
        "api",
        "attacks",
        "auditing",
        "bucketing",
        "bucketizing",
        "errors",
        "formats",
        "hiding",
        "hiding_cells",
        "mining",
        "model",
        "repairing",
        "repairs",
        "tabulating",
    },
    "sweeps": {"api", "attacks", "errors", "kernels", "measures", "mining", "model", "repairs"},
    "tabulating": {"api", "errors", "formats", "mining", "model"},
    "measuring": {"api", "errors", "formats", "measures", "model"},
    "negative": {"api", "errors", "formats", "mining", "model"},
    "queries": {"attacks", "auditing", "auditing_known", "errors", "formats", "model"},
    "demo": {"api", "formats", "model", "reports"},
    "__main__": {"cli"},
    "appetite": {"errors", "model"},
    "config": {"appetite", "errors", "formats", "model"},
    "cli": {
        "api",
        "attacks",
        "auditing",
        "bucketizing",
        "checker",
        "config",
        "demo",
        "engines",
        "errors",
        "formats",
        "hiding_cells",
        "kernels",
        "measuring",
        "model",
        "negative",
        "queries",
        "repairs",
        "reporting",
        "reports",
        "reproductions",
        "suggesting",
        "sweeps",
        "tabulating",
        "verifying",
        "version",
    },
    "": {
        "api",
        "attacks",
        "bucketizing",
        "errors",
        "formats",
        "hiding_cells",
        "measures",
        "measuring",
        "model",
        "negative",
        "queries",
        "repairs",
        "reporting",
        "suggesting",
        "sweeps",
        "tabulating",
        "verifying",
        "version",
    },
}

#: Where only the package itself may be imported, for its table, and none of its modules.
TABLE_ONLY = {"cli": {"attacks", "engines", "repairs"}, "": {"attacks", "measures", "repairs"}}

#: Heavy or optional libraries, and the only parts that may import them.
LIBRARIES: dict[str, set[str]] = {
    "numba": {"kernels"},
    "duckdb": {"engines", "formats"},
    "click": {"cli"},
    "rich": {"cli"},
    "pandas": {"formats"},  # where the caller gives a frame of it
    "polars": {"formats"},
    "scipy": {"attacks", "hiding", "inference"},
}


def part_of(path: Path) -> str:
    """The part a file belongs to: its package, or its own name."""
    inside = path.relative_to(SRC)
    return inside.parts[0] if len(inside.parts) > 1 else inside.stem.replace("__init__", "")


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Every imported module with the line it is imported in."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}:{node.lineno}: a relative import hides which part is meant"
            if node.module == "tacit":
                yield from ((node.lineno, f"tacit.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, node.module or ""


FILES = sorted(SRC.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_imports_respect_the_layers(path: Path) -> None:
    part = part_of(path)
    assert part in MAY_IMPORT, "a new part needs a row in the table of layers"
    for line, module in imports(path):
        place = f"{path.relative_to(SRC)}:{line}"
        top, _, rest = module.partition(".")
        if top == "tacit":
            target = rest.partition(".")[0]
            assert target == part or target in MAY_IMPORT[part], f"{place}: {part or 'tacit'} may not import {target or 'tacit'}"
            assert target == rest or target not in TABLE_ONLY.get(part, ()), (
                f"{place}: only the table of {target} may be imported"
            )
        elif top in LIBRARIES:
            assert part in LIBRARIES[top], f"{place}: {part} may not import {top}"


def test_the_table_of_layers_is_as_strict_as_it_can_be() -> None:
    used: dict[str, set[str]] = {part: set() for part in MAY_IMPORT}
    for path in FILES:
        for _, module in imports(path):
            if module.startswith("tacit."):
                used[part_of(path)].add(module.split(".")[1])
    for part, allowed in MAY_IMPORT.items():
        assert allowed <= used[part], f"{part}: nothing there imports {', '.join(sorted(allowed - used[part]))} any more"


def test_the_layers_have_no_cycle() -> None:
    done: set[str] = set()
    while len(done) < len(MAY_IMPORT):
        ready = {part for part, below in MAY_IMPORT.items() if part not in done and below <= done}
        assert ready, f"a cycle among {sorted(set(MAY_IMPORT) - done)}"
        done |= ready
