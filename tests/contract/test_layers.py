"""Imports between the parts of Tacit, read from the source.

Imports inside functions count; those for type checkers alone do not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tacit.model.shown import PROVIDED, provided
from tests.sources import FILES, SRC, nodes_of

#: Parts of Tacit and what each may import besides itself. ``""`` is the package ``tacit``: the public names.
MAY_IMPORT: dict[str, set[str]] = {
    "": set(),
    "model": set(),
    "kernels": {"model"},
    "checker": {"model"},
    "files": {"model"},
    "mining": {"files", "kernels", "model"},
    "reports": {"model"},
    "solve": {"kernels", "model"},
    "itemsets": {"kernels", "model"},
    "repairs": {"kernels", "mining", "model", "solve"},
    "rules": {"itemsets", "kernels", "model", "solve"},
    "known": {"mining", "model", "rules", "solve"},
    "buckets": {"kernels", "known", "model"},
    "joint": {"kernels", "known", "model", "rules", "solve"},
    "partial": {"known", "model", "solve"},
    "verbs": {
        "buckets",
        "checker",
        "files",
        "itemsets",
        "joint",
        "kernels",
        "known",
        "mining",
        "model",
        "partial",
        "repairs",
        "reports",
        "rules",
    },
    "papers": {"buckets", "files", "itemsets", "known", "mining", "model", "partial", "reports", "solve", "verbs"},
    "web": {"files", "model", "reports", "verbs"},
    "cli": {"", "checker", "files", "kernels", "model", "papers", "reports", "verbs", "web"},
    "__main__": {"cli"},
}

#: Parts above it that the model names in the table ``PROVIDED``: objects show themselves with what these provide, once they are looked at.
PROVIDES = {"files", "reports", "verbs"}

#: Heavy or optional libraries, and the only parts that may import them.
LIBRARIES: dict[str, set[str]] = {
    "numba": {"kernels"},
    "duckdb": {"files"},
    "click": {"cli"},
    "rich": {"cli"},
    "pandas": {"files"},  # where the caller gives a frame of it
    "polars": {"files"},
    "scipy": {"joint", "solve", "partial", "rules", "known", "buckets"},
    "highspy": {"solve"},
    "threadpoolctl": {"solve"},
    "jinja2": {"reports"},
    "starlette": {"web"},
    "uvicorn": {"web"},
    "pyspark": {"files"},
    "pyarrow": {"files", "mining"},
    "deltalake": {"files"},
    "pyiceberg": {"files"},
    "adbc_driver_postgresql": {"files"},
}


def part_of(path: Path) -> str:
    """Return the part a file belongs to: its package, or its own name."""
    inside = path.relative_to(SRC)
    return inside.parts[0] if len(inside.parts) > 1 else inside.stem.replace("__init__", "")


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Yield every imported module with the line of the import."""
    typing_only = {id(node) for check in nodes_of(path) if is_for_types(check) for node in ast.walk(check)}
    for node in nodes_of(path):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}:{node.lineno}: a relative import hides which part is meant"
            if node.module == "tacit":
                yield from ((node.lineno, f"tacit.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, node.module or ""


def is_for_types(node: ast.AST) -> bool:
    """Return True for ``if TYPE_CHECKING:``."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def test_imports_respect_the_layers() -> None:
    wrong = []
    for path in FILES:
        part = part_of(path)
        for line, module in imports(path):
            top, _, rest = module.partition(".")
            target = rest.partition(".")[0]
            if top == "tacit" and target != part and target not in MAY_IMPORT[part]:
                wrong.append(f"{path.relative_to(SRC)}:{line}: {part or 'tacit'} may not import {target}")
            if part not in LIBRARIES.get(top, {part}):
                wrong.append(f"{path.relative_to(SRC)}:{line}: {part or 'tacit'} may not import {top}")
    assert not wrong


def test_one_module_opens_databases() -> None:
    places = []
    for path in FILES:
        for node in nodes_of(path):
            if (
                isinstance(node, ast.Attribute)
                and node.attr == "connect"
                and isinstance(node.value, ast.Name)
                and node.value.id == "duckdb"
            ):
                places.append(str(path.relative_to(SRC)))
    assert places == ["files/duckdb.py"]


def test_the_table_of_layers_is_as_strict_as_it_can_be() -> None:
    used: dict[str, set[str]] = {part: set() for part in MAY_IMPORT}
    for path in FILES:
        for _, module in imports(path):
            top, _, rest = module.partition(".")
            if top == "tacit":
                used[part_of(path)].add(rest.partition(".")[0])
    assert [(part, below - used[part]) for part, below in MAY_IMPORT.items() if below - used[part]] == []


def test_the_model_is_shown_by_the_parts_that_it_names_in_one_table() -> None:
    assert {function.split(".")[1] for function in PROVIDED.values()} == PROVIDES
    for name in PROVIDED:
        assert callable(provided(name))
    by_name = [path.name for path in (SRC / "model").glob("*.py") if "import_module" in path.read_text(encoding="utf-8")]
    assert by_name == ["shown.py"]


def test_the_layers_have_no_cycle() -> None:
    done: set[str] = set()
    for part, below in MAY_IMPORT.items():
        assert below <= done, f"{part} must come after {below - done}"
        done.add(part)
