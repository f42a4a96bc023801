"""Bins of columns of numbers: names, edges, quantiles; in headers, in settings, and beside a missing mark."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.model.bins import Bins, split_option
from tacit.model.errors import InputError, OptionError, TacitError
from tests.shell import record
from tests.shell import tacit as run

WHOLE = st.integers(-200, 200).map(str)
DECIMAL = st.decimals(-200, 200, places=2).map(str)
NUMBERS = st.lists(WHOLE, min_size=1, max_size=30) | st.lists(WHOLE | DECIMAL, min_size=1, max_size=30)
EDGES = st.lists(st.integers(-150, 150), min_size=2, max_size=5, unique=True).map(lambda found: ",".join(map(str, sorted(found))))
SPECS = (
    st.integers(1, 60).map(str)
    | EDGES
    | st.integers(-100, 100).map(lambda edge: f"{edge}+")
    | st.sampled_from(["q2", "q4", "2.5"])
)


def binned(values: list[str], bins: Any, **how: Any) -> list[str]:
    column = tacit.read_table({"x": values}, bins={"x": bins}, **how).columns[0]
    return [column.values[code] for code in column.codes.tolist()]


def ends(name: str) -> tuple[Decimal | None, Decimal | None, bool]:
    """What a name says: its ends, and whether the upper one belongs to it. Reads names, and shares nothing with what writes them."""
    number = r"-?\d+(?:\.\d+)?"
    if match := re.fullmatch(rf"<({number})", name):
        return None, Decimal(match[1]), False
    if match := re.fullmatch(rf"({number})\+", name):
        return Decimal(match[1]), None, False
    if match := re.fullmatch(rf"({number}) to <({number})", name):
        return Decimal(match[1]), Decimal(match[2]), False
    if match := re.fullmatch(r"(\d+)-(\d+)|(-\d+) to (-?\d+)", name):
        low, high = [part for part in match.groups() if part is not None]
        return Decimal(low), Decimal(high), True
    return Decimal(name), Decimal(name), True


def holds(name: str, value: str) -> bool:
    low, high, closed = ends(name)
    number = Decimal(value)
    return (low is None or low <= number) and (high is None or number < high or (closed and number == high))


@given(NUMBERS, SPECS)
def test_a_name_says_exactly_which_numbers_are_in_it(values: list[str], bins: str) -> None:
    names = binned(values, bins)
    for value, name in zip(values, names, strict=True):
        assert [other for other in set(names) if holds(other, value)] == [name]


@given(NUMBERS, SPECS)
def test_bins_are_in_the_order_of_their_numbers(values: list[str], bins: str) -> None:
    column = tacit.read_table({"x": values}, bins={"x": bins}).columns[0]
    numbers = [Decimal(value) for value in values]
    for one, other in zip(
        sorted(range(len(values)), key=numbers.__getitem__), sorted(range(len(values)), key=numbers.__getitem__)[1:], strict=False
    ):
        assert column.codes[one] <= column.codes[other]


@given(NUMBERS, SPECS)
def test_what_a_header_says_gives_the_same_bins(values: list[str], bins: str) -> None:
    table = tacit.read_table({"x": values}, bins={"x": bins})
    (used,) = table.bins
    assert Bins.parse("x", used.text) == used
    again = tacit.read_table({"x": values}, bins=table.bins)
    assert (again.columns[0].values, again.columns[0].codes.tolist(), again.bins) == (
        table.columns[0].values,
        table.columns[0].codes.tolist(),
        table.bins,
    )
    fewer = tacit.read_table({"x": values[:1]}, bins=table.bins)
    if used.is_whole == all(Fraction(value).denominator == 1 for value in values[:1]) or not used.is_whole:
        assert fewer.columns[0].values[0] == table.columns[0].values[table.columns[0].codes[0]]


@given(st.lists(st.integers(0, 12), min_size=1, max_size=40), st.integers(2, 6))
def test_quantiles_by_their_definition(numbers: list[int], parts: int) -> None:
    wanted = []
    for place in range(1, parts):
        fitting = [
            number for number in sorted(set(numbers)) if parts * sum(one < number for one in numbers) >= place * len(numbers)
        ]
        wanted += fitting[:1]
    edges = sorted(set(wanted)) or [min(numbers)]
    (used,) = tacit.read_table({"x": numbers}, bins={"x": f"q{parts}"}).bins
    assert [int(edge) for edge in used.edges] == edges


def test_weights_count_in_quantiles() -> None:
    table = tacit.read_table({"x": [1, 1, 1, 2, 3, 4]})
    merged = table.merged()
    assert tacit.read_table(merged, bins={"x": "q2"}).bins == tacit.read_table(table, bins={"x": "q2"}).bins
    dropped = tacit.read_table(
        {"x": [1, 2, 3, 4, 50, 60], "y": ["a", "a", "a", "a", "?", "?"]}, bins={"x": "q2"}, missing="?", missing_rule="drop"
    )
    assert dropped.bins[0].text == "3+"


@pytest.mark.parametrize(
    ("bins", "names"),
    [
        (10, ["0-9", "20-29", "100-109"]),
        ("7,24", ["<7", "7-23", "24+"]),
        ("65+", ["<65", "<65", "65+"]),
        ([18, 19, 60], ["<18", "19-59", "60+"]),
        ("2.5", ["5 to <7.5", "22.5 to <25", "102.5 to <105"]),
        (1, ["6", "23", "104"]),
    ],
)
def test_names(bins: Any, names: list[str]) -> None:
    assert binned(["6", "23", "104"], bins) == names


def test_decimals_are_named_as_such() -> None:
    assert binned(["29", "29.5"], 10) == ["20 to <30", "20 to <30"]
    assert tacit.read_table({"x": ["29", "29.5"]}, bins={"x": 10}).bins[0].text == "10.0"
    assert binned(["0.3", "0.1", "0.2"], "0.1") == ["0.3 to <0.4", "0.1 to <0.2", "0.2 to <0.3"], "exact, unlike floats"


def test_a_missing_mark_stays() -> None:
    assert binned(["20", "?", ""], 10, missing="?") == ["20-29", "?", ""]


@pytest.mark.parametrize("wrong", ["", "x", "q1", "q101", "30,20", "10,10", "0", "-5", "1,,2", "nan", "inf", "10;20", []])
def test_wrong_bins(wrong: Any) -> None:
    with pytest.raises(OptionError, match=r"^--bins age: "):
        tacit.read_table({"age": [1]}, bins={"age": wrong})


@pytest.mark.parametrize("texts", [["age"], ["=10"], ["age="], ["age=10", "age=5"]])
def test_wrong_options(texts: list[str]) -> None:
    with pytest.raises(OptionError, match=r"^--bins: "):
        split_option(texts)


def test_no_value_is_told() -> None:
    with pytest.raises(InputError) as error:
        tacit.read_table({"age": ["20", "30", "canary"]}, bins={"age": 10})
    assert str(error.value).startswith("the frame, column 'age', row 3: is not a number, and --bins is for numbers.")
    assert "canary" not in str(error.value)
    with pytest.raises(InputError, match=r"is not a number.*Write decimal points instead of decimal commas"):
        tacit.read_table({"age": ["20,5", "30", "x"]}, bins={"age": 10})
    with pytest.raises(OptionError, match="there is no column 'agee'"):
        tacit.read_table({"age": ["20"]}, bins={"agee": 10})


def test_bins_are_not_binned_again() -> None:
    table = tacit.read_table({"age": ["20", "35"]}, bins={"age": 10})
    assert tacit.read_table(table, qi="age").columns[0].values == ("20-29", "30-39")
    assert tacit.read_table(table, qi="age", bins={"age": 10}).bins == table.bins
    with pytest.raises(InputError, match="is not a number"):
        tacit.read_table(table, bins={"age": 5})


# Commands


def write(folder: Path) -> Path:
    random = Random(2)
    path = folder / "people.csv"
    rows = []
    for _ in range(400):
        age = random.randint(5, 94)
        rows.append(f"{age},{random.choice('FM')},{random.choice(['none', 'none', 'flu' if age > 50 else 'cold'])}")
    path.write_text("age,sex,ill\n" + "\n".join(rows) + "\n")
    return path


def header(path: Path) -> Any:
    return json.loads(path.with_name(f"{path.name}.json").read_text())


def test_every_verb_takes_them_and_every_header_says_them(tmp_path: Path) -> None:
    data = write(tmp_path)
    roles = ("--qi", "age,sex", "--sa", "ill")
    lists = tmp_path / "list.csv"
    record("mine", "itemsets", data, "--min-support", "5%", "--bins", "age=20", "-o", lists)
    assert header(lists)["bins"] == {"age": "20"}
    assert {"age=20-39", "age=80-99"} <= {name for one in tacit.read_release(lists).records() for name in one["itemset"]}
    alone = record("audit", lists, "--k", 30, code=1)
    assert record("audit", lists, "--data", data, "--k", 30, code=1)["findings"] == alone["findings"]
    repaired = tmp_path / "repaired.csv"
    run("repair", lists, "--data", data, "--method", "substitute", "--k", 5, "-o", repaired)
    assert header(repaired)["bins"] == {"age": "20"}
    rules = tmp_path / "rules.csv"
    record("mine", "rules", data, *roles, "--min-support", 5, "--min-confidence", 0.3, "--bins", "age=18,65", "-o", rules)
    assert header(rules)["bins"] == {"age": "18,65"}
    assert record("audit", rules, "--data", data, code=1)["measures"]["qi_combinations"] == 6
    known = tmp_path / "known.csv"
    known.write_text("\n".join(line.rpartition(",")[0] for line in data.read_text().splitlines()) + "\n")
    assert record("audit", rules, "--known", known, code=1)["measures"]["qi_combinations"] == 6
    table = tmp_path / "table.csv"
    record("tabulate", data, "--by", "age,sex", "--sa", "none", "--bins", "age=q4", "-o", table)
    assert header(table)["bins"] == {"age": ",".join(tacit.read_table(data, bins={"age": "q4"}).bins[0].text.split(","))}
    assert len(table.read_text().splitlines()) == 1 + 4 * 2
    assert tacit.read_release(table).header.bins == tacit.read_table(data, bins={"age": "q4"}).bins
    groups = tmp_path / "groups"
    record("bucketize", data, *roles, "--l", 2, "--bins", "age=30", "-o", groups)
    assert json.loads((groups / "buckets.json").read_text())["bins"] == {"age": "30"}
    assert tacit.read_release(groups).header.bins[0].text == "30"
    assert run("compare", groups, "--data", data).exit_code == 0
    hidden = tmp_path / "hidden.csv"
    record("hide", data, *roles, "--rows", "ill=flu", "--bins", "age=30", "-o", hidden)
    assert header(hidden)["bins"] == {"age": "30"}
    assert record("audit", hidden, "--data", data, "--rows", "ill=flu")["verdict"] == "clean"
    assert (
        record("mine", "negative", data, *roles, "--min-expectation", 0.9, "--bins", "age=50+", "-o", tmp_path / "n.csv")["rules"]
        > 0
    )
    assert header(tmp_path / "n.csv")["bins"] == {"age": "50+"}


def test_settings_hold_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = write(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tacit.toml").write_text('[data]\nbins = { age = 20, pay = "q4", weight = [50, 70] }\n')
    made = record("mine", "itemsets", data, "--min-support", "5%")
    (tmp_path / "tacit.toml").unlink()
    assert record("mine", "itemsets", data, "--min-support", "5%", "--bins", "age=20")["all"] == made["all"]
    (tmp_path / "tacit.toml").write_text("[data]\nbins = { age = -1 }\n")
    shown = run("mine", "itemsets", data, "--min-support", "5%")
    assert (shown.exit_code, "tacit.toml, [data] bins age: its width is not above 0" in shown.output) == (2, True)
    (tmp_path / "tacit.toml").write_text("[data]\nbins = 10\n")
    assert "is not a table of columns and bins" in run("mine", "itemsets", data, "--min-support", "5%").output


def test_errors_of_commands(tmp_path: Path) -> None:
    data = write(tmp_path)
    data.write_text(data.read_text() + "canary,F,none\n")
    shown = run("mine", "itemsets", data, "--min-support", "5%", "--bins", "age=20")
    assert shown.exit_code == 2
    assert "people.csv, column 'age', row 401: is not a number" in shown.output
    assert "canary" not in shown.output
    assert run("mine", "itemsets", data, "--min-support", "5%", "--bins", "age=20", "--missing", "canary").exit_code == 0
    baskets = tmp_path / "baskets.dat"
    baskets.write_text("1 2\n")
    assert (
        "holds transactions, which have no columns"
        in run("mine", "itemsets", baskets, "--min-support", 1, "--bins", "age=2").output
    )


def test_advice_for_columns_of_many_numbers(tmp_path: Path) -> None:
    data = write(tmp_path)
    assert (
        "columns with many different numbers say more in bins: --bins age=q4"
        in run("mine", "itemsets", data, "--min-support", "5%").output
    )
    assert "Advice" not in run("mine", "itemsets", data, "--min-support", "5%", "--bins", "age=q4").output


def test_releases_with_other_bins_are_not_read_together(tmp_path: Path) -> None:
    """Values of one column exclude each other, and 23 and 20-29 do not."""
    data = write(tmp_path)
    for name, bins in (
        ("one", ["--bins", "age=20"]),
        ("two", ["--bins", "age=30"]),
        ("three", []),
        ("four", ["--bins", "age=20"]),
    ):
        record("tabulate", data, "--by", "age", "--sa", "none", *bins, "-o", tmp_path / f"{name}.csv")
    for other in ("two", "three"):
        shown = run("audit", tmp_path / "one.csv", tmp_path / f"{other}.csv", "--people", "same")
        assert (shown.exit_code, "one release has other bins of age than another, or none" in shown.output) == (2, True)
    assert run("audit", tmp_path / "one.csv", tmp_path / "four.csv", "--people", "same", "--k", 2).exit_code == 0


@pytest.mark.parametrize("entry", ['"10"', '{"age": 10}', '{"age": "x"}'])
def test_a_damaged_header(tmp_path: Path, entry: str) -> None:
    path = tmp_path / "list.csv"
    tacit.write_release(tacit.mine_itemsets([["a"]], min_support=1), path)
    beside = path.with_name("list.csv.json")
    beside.write_text(beside.read_text().replace('"strict"', f'"bins": {entry}, "strict"'))
    with pytest.raises(TacitError, match="key 'bins'"):
        tacit.read_release(path)
