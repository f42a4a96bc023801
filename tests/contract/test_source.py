"""Rules for every source file: it has a docstring, prints nothing, and names nothing of the machine it was written on."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

from tests.sources import FILES, SRC, nodes_of

ROOT = Path(__file__).parents[2]
IGNORED = {".git", ".venv", "site", "build", "dist", "__pycache__", ".mypy_cache", ".ruff_cache", ".hypothesis", "tacit-demo"}

#: Words of a first line at the median, and tuple assignments in the source, at most.
MEDIAN_WORDS = 9
MOST_PACKED = 20

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


def test_modules_are_described_and_silent() -> None:
    wrong = []
    for path in FILES:
        tree, *nodes = nodes_of(path)
        assert isinstance(tree, ast.Module)
        if not ast.get_docstring(tree):
            wrong.append(f"{name_of(path)}: no docstring")
        if path.relative_to(SRC).parts[0] in ("cli", "reports"):
            continue
        for node in nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
                wrong.append(f"{name_of(path)}:{node.lineno}: prints")
    assert not wrong


def test_files_name_no_host_and_no_path_of_a_machine() -> None:
    wrong = []
    for path in tracked():
        if path.suffix in (".gz", ".parquet", ".png", ".svg"):
            continue
        text = path.read_text(encoding="utf-8")
        if found := FORBIDDEN.search(text):
            wrong.append(f"{name_of(path)}:{text.count(chr(10), 0, found.start()) + 1}")
    assert not wrong


def docstrings() -> list[tuple[str, str]]:
    """Return the first line of every docstring in the source, with its place."""
    out = []
    for path in FILES:
        for node in nodes_of(path):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
                out.append((f"{name_of(path)}:{getattr(node, 'lineno', 1)}", text.partition("\n")[0]))
    return out


def test_first_lines_are_short_and_begin_with_a_noun_or_a_verb() -> None:
    lines = docstrings()
    lengths = sorted(len(line.split()) for _, line in lines)
    questions = [place for place, line in lines if line.split()[0] in ("What", "Whether", "How", "Who")]
    assert lengths[len(lengths) // 2] <= MEDIAN_WORDS
    assert sum(length > 20 for length in lengths) <= len(lengths) / 100
    assert len(questions) <= len(lengths) / 100, questions


def test_one_statement_stands_on_a_line() -> None:
    wrong = []
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        wrong += [name_of(path)] * text.count("# fmt: " + "skip")
        for node in nodes_of(path):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
                names = {ast.unparse(one) for one in node.targets[0].elts}
                if names != {ast.unparse(one) for one in node.value.elts}:  # a swap is one statement
                    wrong.append(f"{name_of(path)}:{node.lineno}")
    assert len(wrong) <= MOST_PACKED, wrong


def test_files_are_small() -> None:
    for path in tracked():
        assert path.stat().st_size <= 2 * 1024 * 1024, name_of(path)


def test_constraints_are_plain_versions() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert all(re.fullmatch(r"#.*|[A-Za-z0-9_.-]+==[A-Za-z0-9_.+!-]+", line) for line in lines)
    names = [line.partition("==")[0].lower() for line in lines if "==" in line]
    assert names == sorted(set(names))
