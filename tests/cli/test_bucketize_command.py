"""``tacit bucketize`` as it is used."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest

import tacit as package
from tests.shell import program, record, tacit

VALUES = ("flu", "cold", "mumps", "cancer")
ASK = ("bucketize", "people.csv", "--qi", "sex,age", "--sa", "ill")
KNOWLEDGE = 'antecedent,excluded\n"{""sex"": ""M""}",cancer\n'


@pytest.fixture(autouse=True)
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eighty people: nobody of the men has cancer, and an attacker knows it."""
    monkeypatch.chdir(tmp_path)
    rows = [("FM"[i % 2], str(30 + i % 5), VALUES[i // 2 % 4] if i % 2 == 0 else VALUES[i // 2 % 3]) for i in range(80)]
    Path("people.csv").write_text("sex,age,ill\n" + "".join(",".join(row) + "\n" for row in rows))
    Path("known.csv").write_text(KNOWLEDGE)


def groups_in(folder: str) -> tuple[dict[str, list[dict[str, str]]], dict[str, Counter[str]]]:
    """The rows of the QIT and the values of the ST by group."""
    with open(Path(folder) / "qit.csv", newline="") as stream:
        qit = list(csv.DictReader(stream))
    with open(Path(folder) / "st.csv", newline="") as stream:
        st = list(csv.DictReader(stream))
    people: dict[str, list[dict[str, str]]] = defaultdict(list)
    values: dict[str, Counter[str]] = defaultdict(Counter)
    for row in qit:
        people[row["group"]].append(row)
    for row in st:
        values[row["group"]][row["ill"]] += int(row["count"])
    return people, values


@pytest.mark.parametrize("method", ["injector", "balanced", "balanced-1", "balanced-2"])
def test_everybody_keeps_l_values(method: str) -> None:
    told = record(*ASK, "--l", "3", "--method", method, "--knowledge", "known.csv", "-o", "groups")
    assert (told["format"], told["method"]) == ("tacit.repair/1", method)
    assert (told["before"]["verdict"], told["after"]["verdict"]) == ("exposed", "clean")
    assert told["before"]["measures"]["vulnerable"] == 80
    assert told["after"]["measures"]["vulnerable"] == 0
    assert told["cost"]["vulnerable"] == told["cost"]["suppressed"] == 0
    assert told["cost"]["largest_group"] >= 3
    people, values = groups_in("groups")
    assert sum(map(len, people.values())) == 80
    assert {group: len(rows) for group, rows in people.items()} == {group: held.total() for group, held in values.items()}
    for group, rows in people.items():
        if any(row["sex"] == "M" for row in rows):
            assert len(set(values[group]) - {"cancer"}) >= 3


def test_anatomy_is_written_and_what_it_gives_away_is_told() -> None:
    told = record(*ASK, "--l", "3", "--method", "anatomy", "--knowledge", "known.csv", "-o", "groups", code=1)
    assert told["after"]["verdict"] == "exposed"
    assert told["cost"]["vulnerable"] == told["after"]["measures"]["vulnerable"] > 0
    for held in groups_in("groups")[1].values():
        assert len(held) >= 3
        assert set(held.values()) == {1}


def test_without_knowledge_anatomy_is_clean() -> None:
    assert record(*ASK, "--l", "3", "--method", "anatomy", "-o", "groups")["after"]["verdict"] == "clean"


def test_the_rival_stands_beside_the_result() -> None:
    (rival,) = record(*ASK, "--l", "3", "--knowledge", "known.csv", "-o", "groups")["tried"]
    assert (rival["method"], rival["verdict"]) == ("anatomy", "exposed")
    text = tacit(*ASK, "--l", "3", "--knowledge", "known.csv", "-o", "groups").stdout
    assert f"would leave {rival['cost']['vulnerable']} people with fewer than 3 valid values" in text
    assert "Written to groups/qit.csv and st.csv" in text


def test_a_bound_on_probabilities_is_kept() -> None:
    told = record(*ASK, "--l", "2", "--max-posterior", "0.4", "--knowledge", "known.csv", "-o", "groups")
    assert told["after"]["measures"]["max_posterior"] <= 0.4
    assert told["cost"]["beyond_bound"] == 0


def test_the_same_seed_writes_the_same_bytes_and_another_one_others() -> None:
    for folder, seed in (("one", "1"), ("same", "1"), ("other", "2")):
        assert tacit(*ASK, "--l", "2", "--seed", seed, "-o", folder).exit_code == 0
    tables = {folder: (Path(folder) / "qit.csv").read_bytes() for folder in ("one", "same", "other")}
    assert tables["one"] == tables["same"] != tables["other"]


def test_parquet_is_read_back() -> None:
    record(*ASK, "--l", "3", "--format", "parquet", "-o", "groups")
    assert sorted(path.name for path in Path("groups").iterdir()) == ["buckets.json", "qit.parquet", "st.parquet"]
    assert package.read_buckets("groups").n == 80


def test_rows_with_a_missing_value_can_be_dropped() -> None:
    with open("people.csv", "a") as stream:
        stream.write("F,?,flu\n")
    told = record(*ASK, "--l", "2", "--missing", "?", "--missing-rule", "drop", "-o", "groups")
    assert told["after"]["release"][0]["n"] == 80
    assert json.loads(Path("groups/buckets.json").read_text())["missing_rule"] == "drop"


def test_settings_may_stand_in_a_file() -> None:
    Path("tacit.toml").write_text('[data]\nqi = ["sex", "age"]\nsa = ["ill"]\n[policy]\nl = 3\n')
    assert record("bucketize", "people.csv", "-o", "groups")["after"]["policy"]["l"] == 3


def test_who_cannot_have_l_values_is_counted_and_nothing_is_written() -> None:
    Path("known.csv").write_text(KNOWLEDGE)
    result = tacit(*ASK, "--l", "4", "--knowledge", "known.csv", "-o", "groups", "--json", "record.json")
    assert result.exit_code == 2
    assert "40 people of 80 have fewer than 4 possible values in every grouping (rows 1, 3, 5, 7, 9 and 35 more" in result.stderr
    assert "Lower --l to 3" in result.stderr
    assert "leave 40 people out with --suppress" in result.stderr
    assert not Path("groups").exists()
    assert not Path("record.json").exists()


def test_they_can_be_left_out() -> None:
    told = record(*ASK, "--l", "4", "--knowledge", "known.csv", "--suppress", "-o", "groups")
    assert (told["cost"]["suppressed"], told["after"]["verdict"]) == (40, "clean")
    assert all(row["sex"] == "F" for rows in groups_in("groups")[0].values() for row in rows)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--l", "1"), "--l: must be at least 2"),
        (("--l", "5"), "--l: asks for 5 values, and the sensitive column has 4. Ask for 4 at most."),
        (("--l", "2", "--method", "balance"), "there is no method 'balance'. Did you mean 'balanced'?"),
        (("--l", "2", "--method", "anatomy", "--max-posterior", "0.5"), "anatomy does not look at probabilities"),
        (("--l", "2", "--max-posterior", "0.2"), "--max-posterior: asks for more values than the 4 there are"),
        (("--l", "2", "--max-posterior", "2"), "--max-posterior: "),
        (("--l", "4", "--method", "anatomy"), "--method anatomy: 3 values have more than 1 in 4 people"),
        (("--l", "2", "--knowledge", "nothing.csv"), "nothing.csv: "),
        (("--l", "2", "--qi", "nobody"), "there is no column 'nobody'"),
        (("--l", "2", "-o", "people.csv"), "people.csv: is a file, not a folder"),
        (("--l", "2", "-o", "no/such"), "the folder does not exist"),
        (("--l", "2", "--seed", "-1"), "--seed: must be 0 or more"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(more: tuple[str, ...], said: str) -> None:
    output = () if "-o" in more else ("-o", "groups")
    result = tacit(*ASK, *more, *output)
    assert result.exit_code == 2, result.output
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert not Path("groups").exists()


def test_knowledge_that_is_not_true_of_the_data_is_refused_without_its_value() -> None:
    Path("known.csv").write_text('antecedent,excluded\n"{""sex"": ""F""}",cancer\n')
    result = tacit(*ASK, "--l", "2", "--knowledge", "known.csv", "-o", "groups")
    assert result.exit_code == 2
    assert "--knowledge: says of 10 people that they cannot have the value that they have (rows 6, 14, " in result.stderr
    assert "cancer" not in result.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("sex,age,ill\nF,30,flu\nM,31,flu\n", "column ill: holds one value only"),
        ("sex,age,ill\nF,30,flu\n", "column ill: holds one value only"),
        ("sex,age,ill\n", "people.csv"),
        ("", "people.csv"),
    ],
)
def test_a_table_without_enough_in_it_is_refused(content: str, said: str) -> None:
    Path("people.csv").write_text(content)
    result = tacit(*ASK, "--l", "2", "-o", "groups")
    assert result.exit_code == 2
    assert said in result.stderr
    assert not Path("groups").exists()


def test_transactions_have_no_columns() -> None:
    Path("baskets.dat").write_text("a b\nb c\n")
    result = tacit("bucketize", "baskets.dat", "--qi", "a", "--sa", "b", "--l", "2", "-o", "groups")
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_in_a_pipe_there_is_the_record_only(tmp_path: Path) -> None:
    done = program(*ASK, "--l", "2", "-o", "groups", "--json", "-", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["cost"]["groups"] > 0


def test_time_may_run_out() -> None:
    result = tacit(*ASK, "--l", "2", "--time-limit", "0.000001", "-o", "groups")
    assert result.exit_code == 3
    assert not Path("groups").exists()
