"""Rule lists in order: a rule is about people whom no earlier one matches."""

from __future__ import annotations

import json
import random
from itertools import product
from pathlib import Path
from typing import Any

import pandas
import pytest

import tacit
from tacit.model.errors import InputError, OptionError
from tests import shell

Row = dict[str, str]
COLUMNS = {"sex": "FM", "town": "AB", "job": "xy"}


def draw(seed: int, n: int) -> tuple[list[Row], list[str], list[Row]]:
    """People, their values, and the conditions of rules, the last without any."""
    chance = random.Random(seed)
    rows = [{name: chance.choice(values) for name, values in COLUMNS.items()} for _ in range(n)]
    rules: list[Row] = []
    for _ in range(chance.randint(1, 3)):
        names = chance.sample(sorted(COLUMNS), chance.randint(1, 2))
        rule = {name: chance.choice(COLUMNS[name]) for name in names}
        if rule not in rules:
            rules.append(rule)
    return rows, [chance.choice(["no", "yes"]) for _ in rows], [*rules, *([{}] if seed % 3 else [])]


def first(row: Row, rules: list[Row]) -> int:
    """The number of the first rule that somebody matches, or -1."""
    matched = [place for place, rule in enumerate(rules) if rule.items() <= row.items()]
    return matched[0] if matched else -1


def told(rows: list[Row], values: list[str] | tuple[str, ...], rules: list[Row]) -> list[tuple[int, int]]:
    """For each rule, how many have it first, and how many of them are ill."""
    firsts = [first(row, rules) for row in rows]
    return [
        (firsts.count(place), sum(one == place and value == "yes" for one, value in zip(firsts, values, strict=True)))
        for place in range(len(rules))
    ]


def write(folder: Path, rules: list[Row], numbers: list[tuple[int, int]], n: int, **header: Any) -> Path:
    lines = ["antecedent,consequent,count,confidence"]
    for rule, (whole, ill) in zip(rules, numbers, strict=True):
        antecedent = json.dumps(rule).replace('"', '""')
        lines.append(f'"{antecedent}",yes,{ill},{ill / whole if whole else ""}')
    path = folder / "list.csv"
    path.write_text("\n".join(lines) + "\n")
    entries = {"format": "tacit.rules/1", "n": n, "qi": list(COLUMNS), "sa": "ill", "sa_values": ["no", "yes"], "ordered": True}
    (folder / "list.csv.json").write_text(json.dumps(entries | header))
    return path


@pytest.mark.parametrize("seed", range(24))
def test_bounds_are_those_of_all_databases(seed: int, tmp_path: Path) -> None:
    """The judge: every way to give these few people their values under which the list prints the same."""
    rows, values, rules = draw(seed, 7)
    numbers = told(rows, values, rules)
    found: dict[tuple[str, ...], tuple[int, int]] = {}
    for world in product(["no", "yes"], repeat=len(rows)):
        if told(rows, world, rules) == numbers:
            for key in {tuple(row.values()) for row in rows}:
                ill = sum(tuple(row.values()) == key and value == "yes" for row, value in zip(rows, world, strict=True))
                low, high = found.get(key, (ill, ill))
                found[key] = min(low, ill), max(high, ill)
    known = tacit.read_table({name: [row[name] for row in rows] for name in COLUMNS}, qi=list(COLUMNS))
    path = write(tmp_path, rules, numbers, len(rows))
    audit = tacit.audit(path, known=known, attacks=["R02", "R03"])
    table = audit.table("posterior")
    lines = zip(*(table[name].tolist() for name in (*COLUMNS, "ill", "people", "lower", "posterior", "upper")), strict=True)
    checked = 0
    for *cell, ill, n, lower, posterior, upper in lines:
        if ill == "yes":
            assert (round(lower * n), round(upper * n)) == found[tuple(cell)]
            place = first(dict(zip(COLUMNS, cell, strict=True)), rules)
            share = numbers[place][1] / numbers[place][0] if place >= 0 else 0.5
            assert posterior == pytest.approx(share, abs=1e-6)  # the list says nothing more about anybody
            checked += 1
    assert checked == len(found)
    assert tacit.verify(audit, path, known=known, again=False).problems == ()


@pytest.mark.parametrize("seed", range(6))
def test_small_groups_are_those_of_some_database(seed: int, tmp_path: Path) -> None:
    """X01 knows what order means: each finding holds in the data that the list was made from, and its proof is accepted."""
    rows, values, rules = draw(seed, 12)
    path = write(tmp_path, rules, told(rows, values, rules), len(rows))
    audit = tacit.audit(path, policy=tacit.Policy(k=4), attacks=["R01", "X01"], time_limit=60)
    (column,) = {name for name, _ in tacit.read_release(path).header.all_values}
    for finding in audit.findings:
        event = finding.event.to_dict()
        assert finding.count.lo <= count(rows, values, rules, event, column) <= finding.count.hi
    assert tacit.verify(audit, path, again=False).problems == ()


def count(rows: list[Row], values: list[str], rules: list[Row], event: dict[str, Any], column: str) -> int:
    people = [
        {**row, "ill": value, column: str(first(row, rules) + 1) if first(row, rules) >= 0 else "none"}
        for row, value in zip(rows, values, strict=True)
    ]
    items = [{f"{name}={value}" for name, value in one.items()} for one in people]
    return sum(set(event["present"]) <= one and not set(event["absent"]) & one for one in items)


def test_order_matters(tmp_path: Path) -> None:
    """Women are ill; of the others in town A nobody is. Out of order, town A would hold ill women and the two lines would clash."""
    rows = [{"sex": sex, "town": town, "job": "x"} for sex, town in ("FA", "FA", "FB", "MA", "MA", "MB")]
    values = ["yes", "yes", "yes", "no", "no", "yes"]
    rules: list[Row] = [{"sex": "F"}, {"town": "A"}]
    known = tacit.read_table({name: [row[name] for row in rows] for name in COLUMNS}, qi=list(COLUMNS))
    audit = tacit.audit(write(tmp_path, rules, told(rows, values, rules), 6), known=known, attacks=["R03"])
    assert audit.measures["people_certain"] == 5
    out_of_order = write(tmp_path, rules, told(rows, values, rules), 6, ordered=False)
    with pytest.raises(tacit.Contradiction):
        tacit.audit(out_of_order, known=known, attacks=["R03"])


def test_a_list_is_audited_from_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("sex,town,job\nF,A,x\nF,A,x\nF,B,x\nM,A,x\nM,A,x\nM,B,x\nM,B,y\n")
    write(Path(), [{"sex": "F"}, {"town": "A"}, {}], [(3, 3), (2, 0), (2, 1)], 7)
    made = shell.record("audit", "list.csv", "--known", "people.csv", "--k", "1", code=1)
    assert made["measures"]["people_certain"] == 5
    assert {one["code"] for one in made["attacks"] if one["status"] == "ran"} == {"R01", "R02", "R03", "X01"}
    Path("audit.json").write_text(json.dumps(made))
    assert shell.tacit("verify", "audit.json", "list.csv", "--known", "people.csv").exit_code == 0
    owner = Path("people.csv").read_text().replace("job\n", "job,ill\n")
    for row, ill in (("F,A,x", "yes"), ("F,B,x", "yes"), ("M,A,x", "no"), ("M,B,x", "no"), ("M,B,y", "yes")):
        owner = owner.replace(f"{row}\n", f"{row},{ill}\n")
    Path("data.csv").write_text(owner)
    assert shell.record("audit", "list.csv", "--data", "data.csv", "--k", "1", code=1)["measures"]["people_certain"] == 5


def test_estimates_are_compared_with_the_data(tmp_path: Path) -> None:
    rows, values, rules = draw(4, 30)
    path = write(tmp_path, rules, told(rows, values, rules), len(rows))
    columns = {name: [row[name] for row in rows] for name in COLUMNS}
    data = tacit.read_table(columns | {"ill": values}, qi=list(COLUMNS), sa="ill")
    by_known = tacit.compare(tacit.audit(path, known=data.qi, attacks=["R02"]), data)
    by_data = tacit.audit(path, data=data, attacks=["R02"])
    assert by_known.D_overall == pytest.approx(by_data.measures["D_overall"], abs=1e-12)
    assert by_data.adversary["knows_the_order_of_rules"]
    with pytest.raises(OptionError, match="have no column"):
        tacit.compare(by_data, data.select(["sex", "town", "ill"]))


def test_nothing_is_suggested_that_no_repair_does(tmp_path: Path) -> None:
    path = write(tmp_path, [{"sex": "F"}, {}], [(3, 3), (2, 0)], 5)
    assert len(tacit.suggest(path)) == 0


def test_a_column_of_numbers_says_that_rules_are_in_order(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text('order,antecedent,consequent,count\n2,{},yes,1\n1,"{""sex"": ""F""}",yes,3\n1,"{""sex"": ""F""}",no,0\n')
    match = tacit.read_release(path, n=5).header.first_match
    assert match is not None
    assert [[one.name for one in rule] for rule in match.rules] == [["F"], []]


def test_groups_of_values_are_conditions(tmp_path: Path) -> None:
    rows = [{"sex": "F", "town": town, "job": "x"} for town in "AABC"]
    groups = [{"column": "town", "name": "elsewhere", "not": ["A"]}]
    path = write(tmp_path, [{"town": "elsewhere"}, {}], [(2, 2), (2, 0)], 4, value_groups=groups)
    known = tacit.read_table({name: [row[name] for row in rows] for name in COLUMNS}, qi=list(COLUMNS))
    assert tacit.audit(path, known=known, attacks=["R03"]).measures["people_certain"] == 4


def test_an_order_of_other_programs_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "rules.csv").write_text("order,antecedents,consequents,support\n1,frozenset({'a'}),frozenset({'b'}),0.5\n")
    assert tacit.read_release(tmp_path / "rules.csv", n=8).header.unread == ("order",)
    frame = pandas.DataFrame({"order": [1], "antecedents": [["a"]], "consequents": [["b"]], "support": [0.5]})
    assert tacit.read_release(frame, n=8).header.unread == ("order",)


RULE = '"{""sex"": ""F""}"'
HEAD = "antecedent,consequent,count"
UNREADABLE = [
    ("after the default rule", f"{HEAD}\n{{}},yes,1\n{RULE},yes,1\n", {}),
    ("names values of columns", f'{HEAD}\n"[""sex""]",yes,1\n', {}),
    ("thresholds", f"{HEAD}\n{RULE},yes,1\n", {"complete": True}),
    ("thresholds", f"{HEAD}\n{RULE},yes,1\n", {"min_support": 1}),
    ("column 'order': is not a whole number", f"order,{HEAD}\nx,{RULE},yes,1\n", {}),
    ("two rules have one number", f"order,{HEAD}\n1,{RULE},yes,1\n1,{{}},yes,1\n", {}),
    ("two rules have one number", f"order,{HEAD}\n1,{RULE},yes,1\n2,{RULE},no,1\n", {}),
    ("Tacit's own form only", "antecedents,consequents,support\nfrozenset({'a'}),frozenset({'b'}),0.5\n", {}),
]


@pytest.mark.parametrize(("what", "text", "header"), UNREADABLE)
def test_lists_that_cannot_be_read_are_refused(what: str, text: str, header: dict[str, Any], tmp_path: Path) -> None:
    path = write(tmp_path, [], [], 5, **header)
    path.write_text(text)
    with pytest.raises(InputError, match=what):
        tacit.read_release(path)


def test_lists_are_neither_written_nor_repaired(tmp_path: Path) -> None:
    release = tacit.read_release(write(tmp_path, [{"sex": "F"}, {}], [(3, 3), (2, 0)], 5))
    with pytest.raises(OptionError, match="in order"):
        tacit.write_release(release, tmp_path / "again.csv")
    with pytest.raises(OptionError, match="in order"):
        tacit.repair(release, method="raise-threshold")


def test_order_is_used_beside_another_release(tmp_path: Path) -> None:
    """18 people live in A; 16 of them have the second rule first, and are no women: 2 women live in A."""
    path = write(tmp_path, [{"sex": "F"}, {"town": "A"}, {}], [(20, 10), (16, 8), (14, 12)], 50, qi=["sex", "town"])
    towns = tacit.read_release({"town": ["A", "B"], "count": ["18", "32"]}, sa="none")
    audit = tacit.audit([tacit.read_release(path), towns], policy=tacit.Policy(k=2 + 1), attacks=["X01"])
    found = {(json.dumps(one.event.to_dict()), one.count.lo, one.count.hi) for one in audit.findings}
    women = [text for text, lo, hi in found if (lo, hi) == (2, 2) and "sex=F" in text and "town=A" in text]
    assert women
    record = audit.to_dict()
    assert any(f'"what": "{what}"' in json.dumps(record) for what in ("matched", "unmatched"))
    assert tacit.verify(audit, [tacit.read_release(path), towns], again=False).problems == ()
