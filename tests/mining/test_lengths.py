"""Itemsets and rules up to a length: those of the whole list that are short enough, and a header that says so."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

import tacit
from tacit.mining.itemsets import mine_itemsets
from tacit.mining.rules import mine_rules
from tacit.model.errors import Contradiction, InputError, OptionError
from tacit.model.table import Hierarchy, Schema, Table, Transactions
from tacit.repairs import REPAIRS
from tests.shell import record
from tests.shell import tacit as run


def drawn_baskets(random: Random, dense: bool) -> Transactions:
    items = range(6 if dense else 40)
    share = 0.6 if dense else 0.1
    return Transactions.from_lists([[item for item in items if random.random() < share] for _ in range(random.randint(1, 60))])


@pytest.mark.parametrize("seed", range(40))
def test_the_short_ones_of_all(seed: int) -> None:
    random = Random(seed)
    baskets = drawn_baskets(random, dense=seed % 2 == 0)
    least = random.randint(1, 6)
    whole = mine_itemsets(baskets, min_support=least)
    for longest in (1, 2, 3, 50):
        found = mine_itemsets(baskets, min_support=least, max_length=longest)
        wanted = [one for one in whole.records() if len(one["itemset"]) <= longest]
        assert list(found.records()) == wanted
        assert found.header.max_length == longest
        assert found.header.complete


@pytest.mark.parametrize("seed", range(20))
def test_the_rules_of_short_antecedents(seed: int) -> None:
    random = Random(seed)
    rows = [[random.choice("xyz"), random.choice("uv"), random.choice("pq"), random.choice("fgh")] for _ in range(50)]
    people = Table.from_rows(["A", "B", "C", "S"], rows, Schema(qi=("A", "B", "C"), sa=("S",)))
    trees = {"A": Hierarchy("A", {"x": ("xy",), "y": ("xy",), "z": ("z*",)})} if seed % 2 else None
    given: dict[str, Any] = {"min_support": random.randint(1, 8), "min_confidence": 0.3, "hierarchies": trees}
    whole = list(mine_rules(people, **given).records())
    for longest in (1, 2, 3):
        found = mine_rules(people, max_length=longest, **given)
        assert list(found.records()) == [one for one in whole if len(one["antecedent"]) <= longest]


def test_one_long_set_does_not_fill_the_memory() -> None:
    """All parts of 40 common items would; the short ones are few."""
    baskets = Transactions.from_lists([range(40)] * 20)
    with pytest.raises(OptionError, match="list shorter itemsets with --max-length 3"):
        mine_itemsets(baskets, min_support=10)
    assert len(mine_itemsets(baskets, min_support=10, max_length=2)) == 40 + 40 * 39 // 2


@pytest.mark.parametrize("only", ["closed", "maximal"])
def test_closed_and_maximal_sets_depend_on_longer_ones(only: Any, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=rf"^--max-length: cannot be combined with --only {only}"):
        mine_itemsets([["a", "b"]], min_support=1, only=only, max_length=1)
    path = tmp_path / "list.csv"
    tacit.write_release(mine_itemsets([["a", "b"]] * 3, min_support=1, max_length=1), path)
    with pytest.raises(OptionError, match=r"^--max-length: is for lists of all itemsets"):
        tacit.read_release(path, only=only)
    header = path.with_name("list.csv.json")
    header.write_text(header.read_text().replace('"only": "all"', f'"only": "{only}"'))
    with pytest.raises(InputError, match=r"key 'max_length': is for lists of all itemsets"):
        tacit.read_release(path)


@pytest.mark.parametrize("length", [0, -1, 1.5, True, "2"])
def test_a_length_is_a_whole_number(length: Any) -> None:
    with pytest.raises(OptionError, match=r"^--max-length: must be a whole number of at least 1"):
        mine_itemsets([["a"]], min_support=1, max_length=length)
    with pytest.raises(OptionError, match=r"^--max-length: must be a whole number of at least 1"):
        tacit.read_release(mine_itemsets([["a"]], min_support=1), max_length=length)


def test_a_line_that_is_too_long_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    tacit.write_release(mine_itemsets([["a", "b"]] * 3, min_support=1), path)
    with pytest.raises(Contradiction, match=r"line 3: holds more than 1 item, the most of this list by its max_length"):
        tacit.read_release(path, max_length=1)
    assert tacit.read_release(path, max_length=2).header.max_length == 2
    with pytest.raises(OptionError, match="--max-length: is 3, but the header says 2"):
        tacit.read_release(tacit.read_release(path, max_length=2), max_length=3)


def test_a_missing_long_set_says_nothing(tmp_path: Path) -> None:
    """Of 10 people 9 have a and 9 have b. With {a, b} missing from a complete list from 9 on, 8 have both; with lines of one item, 8 or 9."""
    path = tmp_path / "list.csv"
    path.write_text('itemset,count,support\n"[""a""]",9,\n"[""b""]",9,\n')
    path.with_name("list.csv.json").write_text('{"format": "tacit.itemsets/1", "n": 10, "min_support": 9, "complete": true}')
    exposed = record("audit", path, "--k", 2, code=1)
    pairs = {(*one["event"]["present"], *one["event"]["absent"]): one["count"] for one in exposed["findings"]}
    assert pairs["a", "b"] == [1, 1]
    short = record("audit", path, "--k", 2, "--max-length", 1, code=1)
    assert {len(one["event"]["present"]) + len(one["event"]["absent"]) for one in short["findings"]} == {1}
    assert short["release"][0]["max_length"] == 1
    assert "It holds nothing of more than 1 items" in run("audit", path, "--k", 2, "--max-length", 1, "-v").output


@pytest.mark.parametrize("method", [one.name for one in REPAIRS if "itemsets" in one.of])
def test_every_repair_keeps_the_length(method: str) -> None:
    baskets = [["a", "b", "c"]] * 49 + [["a"]] + [["c"]] * 30 + [["c", "d"]] * 30
    release = tacit.mine_itemsets(baskets, min_support=20, max_length=2)
    made = tacit.repair(release, data=tacit.read_transactions(baskets), method=method)
    assert made.after.verdict == "clean"
    repaired = made.release
    assert repaired.kind == "itemsets"
    assert repaired.header.max_length == 2
    assert int(repaired.sets.lengths.max(initial=0)) <= 2


def test_the_command(tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text("age,sex,ill\n" + "old,F,yes\nold,M,no\nyoung,F,no\n" * 20)
    made = record("mine", "itemsets", table, "--min-support", "10%", "--max-length", 2)
    assert made["max_length"] == 2
    out = tmp_path / "rules.csv"
    options = ("--qi", "age,sex", "--sa", "ill", "--min-support", 5, "--min-confidence", 0.5)
    assert record("mine", "rules", table, *options, "--max-length", 1, "-o", out)["rules"] == 6
    assert tacit.read_release(out).header.max_length == 1
    assert "antecedents of up to 1 item" in run("mine", "rules", table, *options, "--max-length", 1).output
