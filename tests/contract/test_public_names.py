"""What ``import tacit`` offers, what it costs, and that every error is among it."""

from __future__ import annotations

import inspect
import subprocess
import sys

import tacit
from tacit import errors

HEAVY = ("numba", "duckdb", "scipy", "pandas", "polars", "pyarrow", "click", "rich", "llvmlite", "numpy")


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


def test_help_loads_no_heavy_library() -> None:
    heavy = tuple(name for name in HEAVY if name != "click")
    program = (
        "import sys\nsys.argv = ['tacit', '--help']\nfrom tacit.cli import main\n"
        f"try:\n    main()\nfinally:\n    print('loaded', [name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("loaded []")
