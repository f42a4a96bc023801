"""The pages tell of everything that can be called, typed or chosen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

import tacit
from tacit.buckets.grouping import METHODS as GROUPING
from tacit.cli import VERBS
from tacit.partial.methods import METHODS as HIDING
from tacit.repairs import REPAIRS

DOCS = Path(__file__).parents[2] / "docs"


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def test_every_method_of_grouping_and_of_hiding_is_described() -> None:
    for name, methods in (("bucketize.md", GROUPING), ("hide.md", HIDING)):
        text = page(name)
        for method in methods:
            assert f"`{method}`" in text, (name, method)


def test_every_public_name_is_in_the_python_reference() -> None:
    text = page("python.md")
    for name in tacit.__all__:
        if name != "__version__":
            assert f"`tacit.{name}`" in text, name


def test_every_repair_and_attack_is_in_the_navigation() -> None:
    nav = (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8")
    for name in (*(f"repairs/{row.name}.md" for row in REPAIRS), *(f"attacks/{row.code}.md" for row in tacit.ATTACKS)):
        assert name in nav


def test_the_first_page_leads_to_a_page_for_every_kind_of_release() -> None:
    text = page("index.md")
    for target in ("tutorial", "own-data", "rules", "trees", "frequencies", "bucketize", "hide", "suggest", "python", "limits"):
        assert f"({target}.md)" in text, target


def test_the_first_page_has_a_command_and_three_pages_for_each_role() -> None:
    cards = re.findall(r"^### (.*?)\n(.*?)^</div>", page("index.md"), re.DOTALL | re.MULTILINE)
    assert len(cards) == 4
    for title, card in cards:
        assert re.search(r"^(?:>>> )?tacit", card, re.MULTILINE), title
        assert len(re.findall(r"^\d\. .*?\]\(", card, re.MULTILINE)) == 3, title


def test_every_page_of_a_task_is_on_the_page_of_tasks() -> None:
    nav = yaml.unsafe_load((DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    (tasks,) = [part["Tasks"] for part in nav if "Tasks" in part]
    names = {name for section in tasks[1:] for entry in next(iter(section.values())) for name in entry.values()}
    assert len(names) > 10
    for name in names:
        assert f"({name})" in page("tasks.md"), name


def test_the_tutorial_uses_verbs_that_exist() -> None:
    verbs = set(re.findall(r"^\$ tacit (\w+)", page("tutorial.md"), re.MULTILINE))
    assert {"audit", "repair", "verify"} <= verbs <= {verb.name for verb in VERBS}


@pytest.mark.parametrize(
    "word",
    [
        *("low count", "differencing", "class disclosure", "primary, secondary suppression", "feasibility interval"),
        *("key variables", "airlock", "risk appetite", "linked tables", "safe threshold", "rounding base", "microdata"),
    ],
)
def test_the_words_of_output_checkers_are_explained(word: str) -> None:
    rows = [line for line in page("glossary.md").splitlines() if line.startswith("|") and f"*{word}*" in line]
    assert rows, word
