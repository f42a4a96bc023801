"""Every row of every table is complete: module, docstring, golden case, documentation page."""

from __future__ import annotations

import inspect
import tomllib
from pathlib import Path

import pytest

import tacit
from docs import generate
from tacit.model.repair import RepairMethod
from tacit.repairs import REPAIRS
from tacit.verbs.attacks import ATTACKS, Attack

ROOT = Path(__file__).parents[2]
ATTACK_SECTIONS = ["Infers", "Assumes", "Claim", "Cost", "Example", "Reference"]
REPAIR_SECTIONS = ["Changes", "Guarantee", "Cost", "Example", "Reference"]


def docstring(function: object) -> str:
    module = inspect.getmodule(function)
    assert module is not None
    return inspect.getdoc(module) or ""


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.code)
def test_attack_is_complete(attack: Attack) -> None:
    text = docstring(attack.run)
    assert text.startswith(f"{attack.code} {attack.name}: ")
    assert list(generate.sections(text)) == ATTACK_SECTIONS
    assert generate.sections(text)["Claim"].strip().startswith(attack.claim.capitalize())
    assert attack.needs in ("itemsets", "rules", "buckets", "table", "lines")
    assert list(inspect.signature(attack.run).parameters) == ["target"]
    (golden,) = (ROOT / "tests").glob(f"*/{attack.code}.toml")
    cases = tomllib.loads(golden.read_text(encoding="utf-8"))["case"]
    assert all(case["cite"] and case["where"] for case in cases)
    assert any(case["cite"] != "own" for case in cases)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.code)
def test_attack_has_a_page_with_its_facts_and_limits(attack: Attack) -> None:
    page = (ROOT / "docs" / "attacks" / f"{attack.code}.md").read_text(encoding="utf-8")
    assert page.startswith(f"# {attack.code}: ")
    assert f"<!-- table: attack {attack.code} -->" in page
    for heading in ("## Worked example", "## What it misses"):
        assert heading in page


@pytest.mark.parametrize("repair", REPAIRS, ids=lambda repair: repair.name)
def test_repair_is_complete(repair: RepairMethod) -> None:
    text = docstring(repair.propose)
    assert text.startswith(f"{repair.name}: ")
    assert list(generate.sections(text)) == REPAIR_SECTIONS
    assert repair.of
    assert (ROOT / "docs" / "repairs" / f"{repair.name}.md").exists()


def test_modules_are_named_after_their_attack_or_repair() -> None:
    modules = {attack.name: inspect.getmodule(attack.run) for attack in ATTACKS}
    modules |= {repair.name: inspect.getmodule(repair.propose) for repair in REPAIRS}
    for name, module in modules.items():
        assert module is not None
        assert module.__name__.rpartition(".")[2] == name.replace("-", "_")


def test_names_and_codes_are_used_once() -> None:
    for names in (
        [a.code for a in ATTACKS],
        [a.name for a in ATTACKS],
        [r.name for r in REPAIRS],
        [m.name for m in tacit.MEASURES],
    ):
        assert len(set(names)) == len(names)


def test_measures_of_an_audit_are_in_the_table() -> None:
    baskets = tacit.read_transactions([["a", "b"]] * 49 + [["a"]] + [["c"]] * 20)
    audit = tacit.audit(tacit.mine_itemsets(baskets, min_support=20))
    assert audit.measures
    assert set(audit.measures) <= {measure.name for measure in tacit.MEASURES}
    assert all(measure.unit and measure.meaning for measure in tacit.MEASURES)
