"""``tacit repair`` without a method: the cheapest way that leaves nothing to find."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

import tacit as library
from tests.shell import leaking_baskets, record, tacit

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def mined() -> None:
    assert tacit("mine", "itemsets", leaking_baskets(Path()), "--min-support", "20", "-o", "r.csv").exit_code == 0


def test_the_command_that_an_audit_prints_can_be_pasted() -> None:
    mined()
    told = tacit("audit", "r.csv", "--k", "5").stdout
    command = next(line for line in told.splitlines() if line.startswith("Repair  ")).removeprefix("Repair  ")
    assert command == "tacit repair r.csv --k 5 -o r-safer.csv"
    done = tacit(*shlex.split(command)[1:])
    assert done.exit_code == 0
    assert "After   clean" in done.stdout
    assert tacit("audit", "r-safer.csv", "--k", "5", "-q").stdout == "clean\n"


def test_the_cheapest_clean_way_is_carried_out_and_its_changes_are_listed() -> None:
    mined()
    done = record("repair", "r.csv", "--k", "5", "-o", "safer.csv")
    ways = library.suggest("r.csv", policy=library.Policy(k=5))
    assert ways.best is not None
    assert done["method"] == ways.best.method
    assert done["after"]["verdict"] == "clean"
    before = {tuple(one["itemset"]): one["count"] for one in library.read_release("r.csv").records()}
    after = {tuple(one["itemset"]): one["count"] for one in library.read_release("safer.csv").records()}
    changed = {items for items in before if before[items] != after.get(items)}
    assert {tuple(one["about"]["itemset"]) for one in done["changes"]} == changed
    assert all(one["before"]["count"] == before[tuple(one["about"]["itemset"])] for one in done["changes"])


def test_a_repair_that_loses_itemsets_asks_for_the_data() -> None:
    data = str(EXAMPLES / "patients.csv")
    assert tacit("mine", "itemsets", data, "--min-support", "10%", "-o", "p.csv").exit_code == 0
    alone = tacit("repair", "p.csv", "--k", "40", "-o", "safer.csv").stdout
    assert "itemsets lost: 0" not in alone
    assert "With --data more repairs can be tried" in alone
    assert "With --data" not in tacit("repair", "p.csv", "--k", "40", "-o", "safer.csv", "--data", data).stdout


def test_what_is_clean_stays_as_it_is() -> None:
    mined()
    done = record("repair", "r.csv", "--k", "1", "-o", "same.csv")
    assert done["method"] == "none"
    assert done["changes"] == []
    assert Path("same.csv").read_bytes() == Path("r.csv").read_bytes()


def test_an_incomplete_audit_is_not_repaired() -> None:
    Path("t.csv").write_text("sex,job,count\nF,cook,40\nM,cook,35\n")
    result = tacit("repair", "t.csv", "-o", "safer.csv")
    assert result.exit_code == 3
    assert "incomplete" in result.stderr
    assert not Path("safer.csv").exists()


def test_several_releases_are_repaired_together_into_a_folder() -> None:
    for name, lines in {"one.csv": '"[""a""]",50\n', "two.csv": '"[""a"", ""b""]",49\n'}.items():
        Path(name).write_text("itemset,count\n" + lines)
        Path(f"{name}.json").write_text('{"format":"tacit.itemsets/1","n":100}')
    done = record("repair", "one.csv", "two.csv", "--people", "same", "-o", "safer")
    assert done["after"]["verdict"] == "clean"
    left = sorted(path.name for path in Path("safer").glob("*.csv"))
    assert (
        tacit("audit", *(Path("safer") / name for name in left), *(["--people", "same"] if len(left) > 1 else []), "-q").stdout
        == "clean\n"
    )


def test_options_of_one_method_are_refused_without_it() -> None:
    mined()
    for words in (("--base", "5"), ("--decimals", "2"), ("--lines", "3"), ("--goal", "frequent-only")):
        result = tacit("repair", "r.csv", *words, "-o", "safer.csv")
        assert result.exit_code == 2
        assert f"{words[0]}: is about one method" in result.stderr
