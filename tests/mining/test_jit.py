"""Kernels: compiled or plain, cached or not, announced only when they really compile."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tacit.kernels import jit

KERNEL = """
import sys, time
sys.path.insert(0, {folder!r})
from tacit.kernels import jit
said = []
with jit.first_run_notice(said.append, patience={patience}):
    import slow
    result = slow.add(1_000_000)
    time.sleep({rest})
print(result, said)
"""

SLOW = """
from tacit.kernels.jit import kernel

@kernel(steps=lambda n: 10 * n)
def add(n):
    total = 0
    for i in range(n):
        total += i
    return total
"""


def run(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_notice_comes_with_the_first_run_only(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    code = KERNEL.format(folder=str(tmp_path), patience=0.01, rest=0)
    assert run(code, **cache) == f"499999500000 ['{jit.NOTICE}']"
    later = KERNEL.format(folder=str(tmp_path), patience=0.01, rest=0.2)
    assert run(later, **cache) == "499999500000 []"


PYTHON = """
import sys, time
sys.path.insert(0, {folder!r})
from tacit.kernels import jit
jit._watch = jit._Watch(jit._tell, 0.01)
import slow
slow.add(1_000_000)
time.sleep(0.2)
"""


def test_python_tells_of_compiling_on_standard_error_once(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW + SLOW.replace("add", "add_again"))
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    code = [sys.executable, "-c", PYTHON.format(folder=str(tmp_path)) + "slow.add_again(1_000_000)\ntime.sleep(0.2)\n"]
    said = [subprocess.run(code, env=environment, capture_output=True, text=True, check=True) for _ in range(2)]
    assert [one.stderr for one in said] == [f"tacit: {jit.NOTICE}\n", ""]
    assert [one.stdout for one in said] == ["", ""]


def test_compiling_is_told_by_default() -> None:
    assert run("from tacit.kernels import jit; print(jit._watch._write is jit._tell)") == "True"


def test_a_quick_compilation_and_a_long_run_are_not_announced(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    code = KERNEL.format(folder=str(tmp_path), patience=30, rest=0)
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path / "cache")) == "499999500000 []"


def test_kernels_work_where_nothing_can_be_cached(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    code = KERNEL.format(folder=str(tmp_path), patience=30, rest=0)
    # The only place that numba may look for is one that never exists outside of a notebook.
    assert run(code, NUMBA_CACHE_LOCATOR_CLASSES="IPythonCacheLocator") == "499999500000 []"


def test_a_changed_source_of_another_kernel_is_noticed(tmp_path: Path) -> None:
    """Numba itself looks only at the file of the kernel, not at those of the kernels it calls."""
    copy = tmp_path / "tacit" / "kernels"
    copy.mkdir(parents=True)
    for name in ("__init__.py", "jit.py"):
        (copy / name).write_text((Path(jit.__file__).parent / name).read_text())
    (tmp_path / "tacit" / "__init__.py").write_text("")
    (copy / "inner.py").write_text("from tacit.kernels.jit import part\n\n@part\ndef step(i):\n    return i + 1\n")
    (copy / "outer.py").write_text(
        "from tacit.kernels.inner import step\nfrom tacit.kernels.jit import kernel\n\n"
        "@kernel(steps=int)\ndef twice(i):\n    return 2 * step(i)\n"
    )
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from tacit.kernels.outer import twice; print(twice.compiled(5))"
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert run(code, **cache) == "12"
    time.sleep(0.02)
    # Of another length, too: Python takes a source of the same length and second for the one that it compiled.
    (copy / "inner.py").write_text("from tacit.kernels.jit import part\n\n@part\ndef step(i):\n    return i + 1 + 1\n")
    assert run(code, **cache) == "14"


def test_watches_nest_and_speak_once() -> None:
    said: list[str] = []
    with jit.first_run_notice(said.append, patience=0.02):
        watch = jit._watch
        assert watch is not None
        with jit.first_run_notice(said.append):
            assert jit._watch is not watch
        assert jit._watch is watch
        for _ in range(3):  # three short compilations that are long together
            watch.begin()
            watch.begin()
            time.sleep(0.015)
            watch.end()
            watch.end()
            time.sleep(0.001)
        time.sleep(0.05)
    assert said == [jit.NOTICE]


PLAIN = """
import random
from tacit.kernels import jit
from tacit.mining import search
from tacit.mining.database import Rows
from tacit.model.release import Sets
from tests.mining import naive_mining
import numpy as np
assert not jit.ENABLED
rng = random.Random(1)
for trial in range(60):
    only, dense = ("all", "closed", "maximal")[trial % 3], trial % 2 == 0
    rows = [[i for i in range(5) if rng.random() < 0.6] for _ in range(rng.randint(0, 9))]
    weights = [rng.randint(1, 5) for _ in rows]
    least = rng.randint(1, 4)
    what = Rows(Sets.from_lists(rows), np.array(weights, np.int64), 5)
    db, found, _ = search.mine(what, least, search.Wanted(only), search.Limits(threads=1), dense=dense)
    sets = [frozenset(db.kept[found.members[a:b]].tolist()) for a, b in zip(found.offsets, found.offsets[1:])]
    assert dict(zip(sets, found.counts.tolist())) == naive_mining.chosen(naive_mining.frequent(rows, least, weights), only)
assert "numba" not in __import__("sys").modules
print("plain")
"""


def test_kernels_are_plain_python_on_demand() -> None:
    root = str(Path(__file__).parents[2])
    assert run(f"import sys; sys.path.insert(0, {root!r})\n{PLAIN}", TACIT_NO_JIT="1", PYTHONWARNINGS="error") == "plain"


@pytest.mark.parametrize("word", [1, 2, 2**63, 2**64 - 1, 0b101000])
def test_word_instructions(word: int) -> None:
    import numpy as np

    @jit.kernel(steps=lambda _word: 1)
    def both(value: np.uint64) -> tuple[int, int]:
        return jit.popcount(value), jit.lowest_one(value)

    expected = (word.bit_count(), (word & -word).bit_length() - 1)
    assert both.plain(np.uint64(word)) == expected
    if jit.ENABLED:
        assert both.compiled(np.uint64(word)) == expected


LITTLE = """
import sys
sys.path.insert(0, {folder!r})
from tacit.kernels import jit
import slow
while jit._steps_done + 1000 <= {steps}:
    assert slow.add(100) == 4950
    assert "numba" not in sys.modules
assert slow.add(100) == 4950
print("numba" in sys.modules)
"""


def test_numba_is_imported_once_it_pays(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert run(LITTLE.format(folder=str(tmp_path), steps=jit.PLAIN_STEPS_AT_FIRST), **cache) == "True"
    assert run(LITTLE.format(folder=str(tmp_path), steps=jit.PLAIN_STEPS), **cache) == "True", "it is compiled already"


THREADS = """
import sys
sys.path.insert(0, {folder!r})
from concurrent.futures import ThreadPoolExecutor
import slow
with ThreadPoolExecutor(8) as pool:
    print(set(pool.map(slow.add, [1_000_000] * 32)))
"""


def test_threads_may_compile_at_once(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    code = THREADS.format(folder=str(tmp_path))
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path / "cache")) == "{499999500000}"


def test_importing_kernels_imports_neither_numba_nor_scipy() -> None:
    names = sorted(path.stem for path in Path(jit.__file__).parent.glob("[a-z]*.py"))
    code = f"import sys, {', '.join(f'tacit.kernels.{name}' for name in names)}; print([m for m in ('numba', 'scipy') if m in sys.modules])"
    assert run(code) == "[]"
