"""People who have several rows: itemsets count people, and other verbs need one row of each."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

import tacit
from tacit.model.errors import OptionError
from tests.shell import record
from tests.shell import tacit as run


def drawn(seed: int, n: int = 60) -> dict[str, list[str]]:
    random = Random(seed)
    return {
        "patient": [str(random.randrange(n // 2)) for _ in range(n)],
        "sex": [random.choice("FM") for _ in range(n)],
        "ill": [random.choice(["flu", "cold", "none"]) for _ in range(n)],
    }


@pytest.mark.parametrize("seed", range(15))
def test_a_person_has_what_one_of_their_rows_has(seed: int) -> None:
    rows = drawn(seed)
    people: dict[str, set[str]] = {}
    for patient, sex, ill in zip(*rows.values(), strict=True):
        people.setdefault(patient, set()).update({f"sex: {sex}", f"ill: {ill}"})
    items = sorted(set().union(*people.values()))
    found = tacit.mine_itemsets(rows, person="patient", min_support=3)
    wanted = {}
    for size in range(1, len(items) + 1):
        for chosen in combinations(items, size):
            count = sum(set(chosen) <= has for has in people.values())
            if count >= 3:
                wanted[frozenset(chosen)] = count
    assert {frozenset(one["itemset"]): one["count"] for one in found.records()} == wanted
    assert (found.n, found.items.pairs, found.header.person, found.header.columns) == (
        len(people),
        None,
        "patient",
        ("sex", "ill"),
    )


def write(folder: Path, rows: dict[str, list[str]]) -> Path:
    path = folder / "visits.csv"
    lines = [",".join(line) for line in zip(*rows.values(), strict=True)]
    path.write_text("\n".join([",".join(rows), *lines]) + "\n")
    return path


def test_two_values_of_a_column_do_not_exclude_each_other(tmp_path: Path) -> None:
    """Everybody has both values of a column: as values of one column, the counts would contradict each other."""
    rows = {"patient": [str(number // 2) for number in range(80)], "ill": ["flu", "cold"] * 40}
    path = write(tmp_path, rows)
    out = tmp_path / "list.csv"
    made = record("mine", "itemsets", path, "--person", "patient", "--min-support", 10, "-o", out)
    assert (made["n"], made["all"]) == (40, 3)
    header = json.loads(out.with_name("list.csv.json").read_text())
    assert (header["person"], header["columns"], header["qi"]) == ("patient", ["ill"], [])
    for given in ((), ("--data", path)):
        assert record("audit", out, *given)["verdict"] == "clean"
    table = tmp_path / "table.csv"
    table.write_text("ill,count\nflu,39\ncold,1\n")
    shown = record("audit", out, table, "--people", "same", "--n", 40, "--sa", "none", "--k", 2, code=1)
    assert {"X01"} == {one["code"] for one in shown["findings"]}, "only what the table prints itself"
    refused = run("audit", out, "--qi", "ill")
    assert (refused.exit_code, "columns have no roles in a list of people with several rows each" in refused.output) == (2, True)


def test_the_data_are_read_in_the_same_way(tmp_path: Path) -> None:
    path = write(tmp_path, drawn(3, 400))
    out = tmp_path / "list.csv"
    record("mine", "itemsets", path, "--person", "patient", "--min-support", 5, "-o", out)
    alone = record("audit", out, "--k", 40, code=1)
    assert record("audit", out, "--data", path, "--k", 40, code=1)["findings"] == alone["findings"]
    repaired = tmp_path / "repaired.csv"
    run("repair", out, "--data", path, "--k", 10, "--method", "substitute", "-o", repaired)
    again = tacit.read_release(repaired)
    assert again.header.person == "patient"
    assert {name.partition(":")[0] for one in again.records() for name in one["itemset"]} <= {"sex", "ill"}
    only = record("mine", "itemsets", path, "--person", "patient", "--qi", "sex", "--min-support", 5)
    assert only["all"] == 3


VERBS = [
    ("mine", "rules", "--qi", "sex", "--sa", "ill", "--min-support", 1, "--min-confidence", 0.1),
    ("mine", "negative", "--qi", "sex", "--sa", "ill", "--min-expectation", 0.9),
    ("tabulate", "--by", "sex"),
    ("bucketize", "--qi", "sex", "--sa", "ill", "--l", 2, "-o", "groups"),
    ("hide", "--qi", "sex", "--sa", "ill", "--rows", "ill=flu", "-o", "hidden.csv"),
]


@pytest.mark.parametrize("verb", VERBS)
def test_other_verbs_need_one_row_of_each(verb: tuple[Any, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    place = 2 if verb[0] == "mine" else 1
    rows = drawn(1)
    path = write(tmp_path, rows)
    several = sum(rows["patient"].count(one) > 1 for one in set(rows["patient"]))
    shown = run(*verb[:place], path, *verb[place:], "--person", "patient")
    assert shown.exit_code == 2
    assert f"--person patient: {several} people have several rows, and here each person needs one" in shown.output
    write(tmp_path, rows | {"patient": [str(number) for number in range(60)]})
    assert run(*verb[:place], path, *verb[place:], "--person", "patient").exit_code in (0, 1)


@pytest.mark.parametrize("verb", VERBS)
def test_other_verbs_say_that_rows_are_not_people(verb: tuple[Any, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    place = 2 if verb[0] == "mine" else 1
    rows = drawn(1, 160)
    numbers = rows.pop("patient")
    several = len(set(numbers))
    shown = run(*verb[:place], write(tmp_path, rows | {"patient_nbr": numbers}), *verb[place:])
    assert f"Warning: patient_nbr: {several} values in 160 rows, so rows are counted here, and not people." in shown.output
    for name, held in (("patient_nbr", [str(number) for number in range(160)]), ("order_id", numbers)):
        assert "rows are counted here" not in run(*verb[:place], write(tmp_path, rows | {name: held}), *verb[place:]).output


def test_wrong_uses() -> None:
    with pytest.raises(OptionError, match="there is no column 'patients'"):
        tacit.mine_itemsets(drawn(1), person="patients", min_support=1)
    with pytest.raises(OptionError, match=r"^--person: has transactions"):
        tacit.mine_itemsets([["a"]], person="a", min_support=1)
    with pytest.raises(OptionError, match=r"^--person: no other column is left"):
        tacit.mine_itemsets({"patient": ["1", "2"]}, person="patient", min_support=1)
    with pytest.raises(OptionError, match=r"^--person: two columns make items of the same name"):
        tacit.mine_itemsets({"p": ["1"], "a": ["b: c"], "a: b": ["c"]}, person="p", min_support=1)


def test_settings_and_the_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = drawn(2, 300)
    path = write(tmp_path, {"patient_nbr": rows["patient"], "sex": rows["sex"], "ill": rows["ill"]})
    monkeypatch.chdir(tmp_path)
    distinct = len(set(rows["patient"]))
    plain = run("mine", "itemsets", path, "--min-support", 20).output
    assert f"patient_nbr: {distinct} values in 300 rows: rows are counted, not people." in plain
    assert run("init", path).exit_code == 0
    assert 'person = "patient_nbr"' in (tmp_path / "tacit.toml").read_text()
    assert record("mine", "itemsets", path, "--min-support", 20)["n"] == distinct
