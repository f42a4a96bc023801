"""What ``import tacit`` offers, what it costs, and that every error is among it."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import click
import pytest

import tacit
from tacit.cli import VERBS, Verb, cli
from tacit.model import errors
from tacit.reports.record import audit_record, dump

HEAVY = ("numba", "duckdb", "scipy", "pandas", "polars", "pyarrow", "click", "rich", "llvmlite", "numpy")
VERB_MODULES = {verb.module for verb in VERBS}


def test_public_names_are_sorted_and_resolve() -> None:
    names = list(tacit.__all__)
    assert names == sorted(set(names))
    for name in names:
        assert getattr(tacit, name) is not None
    assert dir(tacit) == sorted(names)


def test_public_functions_and_classes_are_described() -> None:
    for name in tacit.__all__:
        thing = getattr(tacit, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert inspect.getdoc(thing), name


def test_verbs_take_one_positional_argument() -> None:
    for name in tacit.__all__:
        verb = getattr(tacit, name)
        if inspect.isfunction(verb):
            kinds = [parameter.kind for parameter in inspect.signature(verb).parameters.values()]
            positional = [kind for kind in kinds if kind is not inspect.Parameter.KEYWORD_ONLY]
            assert len(positional) <= (2 if name.startswith(("write_", "compare", "verify")) else 1), name


def test_every_error_is_public_and_drawn_in_the_tree() -> None:
    classes = {name for name, thing in vars(errors).items() if inspect.isclass(thing) and issubclass(thing, errors.TacitError)}
    assert classes <= set(tacit.__all__)
    for name in classes:
        assert name in (errors.__doc__ or "")


def test_import_loads_no_heavy_library() -> None:
    program = f"import sys, tacit; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_verify_loads_no_attack(tmp_path: Path) -> None:
    """Whoever doubts an audit trusts the checker alone."""
    baskets = tacit.read_transactions([["a", "b"]] * 49 + [["a"]] + [["c"]] * 20)
    tacit.write_release(tacit.mine_itemsets(baskets, min_support=40), tmp_path / "r.csv")
    found = tacit.audit(tmp_path / "r.csv")
    (tmp_path / "audit.json").write_bytes(dump(audit_record(found, top=10)))
    attacks = ("itemsets", "rules", "known", "buckets", "partial", "joint", "mining", "kernels", "solve", "repairs")
    unwanted = ("numba", "scipy", "duckdb", "rich", *(f"tacit.{part}" for part in attacks))
    program = (
        "import sys\nsys.argv = ['tacit', 'verify', 'audit.json', 'r.csv']\nfrom tacit.cli import main\n"
        f"try:\n    main()\nfinally:\n    print('loaded', [name for name in {unwanted!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "HOLDS: 1 of 1 proved finding re-checked: 1 I01.\nloaded []\n"


@pytest.mark.parametrize("people", [60, 3_000])
def test_an_audit_of_itemsets_loads_no_heavy_library(people: int, tmp_path: Path) -> None:
    """Importing them takes longer than the audit of a short list."""
    baskets = [["a", "b"]] * (people - 11) + [["a"]] + [["c", "d"]] * 10
    tacit.write_release(tacit.mine_itemsets(tacit.read_transactions(baskets), min_support=5), tmp_path / "r.csv")
    unwanted = [name for name in HEAVY if name not in ("click", "numpy")]
    program = (
        "import sys\nsys.argv = ['tacit', 'audit', 'r.csv', '--k', '10', '-v']\nfrom tacit.cli import main\n"
        f"try:\n    main()\nfinally:\n    print('loaded', [name for name in {unwanted!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("EXPOSED")
    assert "X01 joint-releases: ran, proves" in done.stdout
    assert done.stdout.endswith("loaded []\n")


WALK = """
import sys

import tacit

sys.argv = ["tacit", "audit", "r.csv", "--n", "100", "--k", "10"]
from tacit.cli import main

home = tacit.__path__[0]
ran = set()


def note(frame, event, _):
    file = frame.f_code.co_filename
    if event == "call" and file.startswith(home) and frame.f_code.co_name != "<module>":
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(home):
            caller = caller.f_back
        if caller is not None and caller.f_code.co_filename != file:
            ran.add(file)


sys.setprofile(note)
try:
    main()
finally:
    sys.setprofile(None)
    print(len(ran), sum(name.startswith("tacit") for name in sys.modules))
"""


def test_an_audit_of_a_short_list_is_a_short_walk(tmp_path: Path) -> None:
    """Whoever follows it through the code reads at most 45 modules."""
    (tmp_path / "r.csv").write_text('itemset,count\n"[""a""]",50\n"[""b""]",49\n"[""a"", ""b""]",48\n"[""c""]",30\n')
    done = subprocess.run([sys.executable, "-c", WALK], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    ran, imported = map(int, done.stdout.splitlines()[-1].split())
    assert 20 < ran <= 45
    assert ran < imported <= 120


def test_verbs_are_imported_on_demand() -> None:
    for arguments in (["--help"], ["audit", "--help"], ["mine", "rules", "--help"]):
        program = (
            f"import sys\nsys.argv = {['tacit', *arguments]!r}\nfrom tacit.cli import main\n"
            f"try:\n    main()\nfinally:\n    print('loaded', sorted(name for name in sys.modules if name in {VERB_MODULES!r}))"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        expected = [f"tacit.cli.{name}" for name in arguments[:1] if not name.startswith("-")]
        assert done.stdout.strip().endswith(f"loaded {expected}")


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_a_verb_is_as_its_row_says_and_light(verb: Verb) -> None:
    with click.Context(cli) as context:
        command = cli.get_command(context, verb.name)
    assert command is not None
    assert command.name == verb.name
    assert (command.help or "").partition("\n")[0] == verb.summary
    heavy = tuple(name for name in HEAVY if name != "click")
    program = f"import sys, {verb.module}; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_help_loads_no_heavy_library() -> None:
    heavy = tuple(name for name in HEAVY if name != "click")
    program = (
        "import sys\nsys.argv = ['tacit', '--help']\nfrom tacit.cli import main\n"
        f"try:\n    main()\nfinally:\n    print('loaded', [name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("loaded []")
