"""Background knowledge: its files, what they say in whole people, and what is said when they are wrong."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.files.knowledge import read_knowledge
from tacit.model.errors import Contradiction, InputError, OptionError, TacitError
from tacit.model.knowledge import Amount, Fact
from tacit.model.release import Rules
from tacit.model.table import Schema, Table

HEAD = "event,value,at_least,at_most\n"


def cell(value: object) -> str:
    return '"' + json.dumps(value).replace('"', '""') + '"'


def people() -> Table:
    """Eight people; one of four women and two of four men are ill."""
    rows = [("F", "old", "ill"), ("F", "old", "well"), ("F", "young", "well"), ("F", "young", "well")]
    rows += [("M", "old", "ill"), ("M", "old", "ill"), ("M", "young", "well"), ("M", "mid", "well")]
    return Table.from_rows(["sex", "age", "health"], rows, Schema(qi=("sex", "age"), sa=("health",)))


def rules() -> Rules:
    """Withheld rules that do not say that the list is complete: about the old men only that both of them are ill."""
    return tacit.mine_rules(people(), min_support=2, min_confidence="70%", withhold_values=True, incomplete=True)


def share_of_ill(knowledge: Any) -> dict[str, float]:
    table = tacit.audit(rules(), known=people().qi, knowledge=knowledge, attacks=["R02"]).table("posterior")
    lines = zip(table["sex"], table["age"], table["health"], table["posterior"], strict=True)
    return {f"{sex} {age}": round(float(share), 6) for sex, age, health, share in lines if health == "ill"}


@pytest.mark.parametrize(
    ("text", "people", "expected"),
    [("5", 8, 5), ("0", 8, 0), ("10%", 30, 3), ("0.1", 25, Fraction(5, 2)), ("1", 8, 1), ("1.0", 8, 8), (3, 8, 3), (0.5, 8, 4)],
)
def test_whole_numbers_are_counts_and_others_shares(text: object, people: int, expected: Fraction) -> None:
    assert Amount.parse(text).of(people) == expected


@pytest.mark.parametrize("text", ["-1", "1.5", "150%", "many", "", "nan", True, -0.1])
def test_other_amounts_are_refused(text: object) -> None:
    with pytest.raises(OptionError):
        Amount.parse(text)


def test_shares_are_exact_and_rounded_inwards() -> None:
    fact = Fact({}, "ill", Amount.parse("30%"), Amount.parse("70%"))
    assert fact.bounds(10) == (3, 7)
    assert fact.bounds(11) == (4, 7)
    assert Fact({}, "ill", at_least=Amount.parse("0.1")).bounds(30) == (3, 30)


def test_facts_change_the_estimate_as_they_say(tmp_path: Path) -> None:
    # 70 % of small groups: both old men, 3 of 4 old people, all 3 young ones, 3 of 4 women; and nothing about the man in between.
    before = {"F old": 0.5, "F young": 0.0, "M mid": 0.5, "M old": 1.0, "M young": 0.0}
    assert share_of_ill(None) == before
    path = tmp_path / "facts.csv"
    path.write_text(HEAD + f"{cell({'sex': 'M', 'age': ['mid', 'old']})},ill,,70%\n" + f"{cell({})},ill,,3\n")
    assert share_of_ill(path) == {**before, "M mid": 0.0}
    path.write_text(HEAD + f"{cell({})},ill,50%,\n")
    assert share_of_ill(path) == {**before, "M mid": 1.0}
    path.write_text(HEAD + f"{cell({'age': ['mid', 'young']})},well,3,3\n")
    assert share_of_ill([path, ({"age": "young"}, "ill")]) == {**before, "M mid": 1.0}


def test_negative_rules_come_from_lists_files_and_mined_objects(tmp_path: Path) -> None:
    listed = share_of_ill([({"sex": "M", "age": "mid"}, "ill")])
    csv, entries = tmp_path / "negative.csv", tmp_path / "negative.json"
    csv.write_text(f"antecedent,excluded,count\n{cell({'sex': 'M', 'age': ['mid', 'nobody']})},ill,1\n")
    entries.write_text(json.dumps([{"antecedent": {"sex": "M", "age": ["mid"]}, "excluded": "ill"}]))

    class Mined:
        def records(self) -> list[dict[str, Any]]:
            return [{"antecedent": {"sex": ["M"], "age": ["mid"]}, "excluded": "ill", "count": 1}]

    assert listed["M mid"] == 0.0
    assert share_of_ill(csv) == share_of_ill(str(entries)) == share_of_ill(Mined()) == listed


def test_what_is_said_about_nobody_changes_nothing() -> None:
    assert share_of_ill([({"sex": "X"}, "ill")]) == share_of_ill(None)


def test_the_record_names_the_files(tmp_path: Path) -> None:
    path = tmp_path / "facts.csv"
    path.write_text(HEAD + f"{cell({'sex': 'M'})},ill,2,\n")
    audit = tacit.audit(rules(), known=people().qi, knowledge=path, attacks=["R02"])
    assert audit.adversary["background_facts"] == 1
    assert audit.adversary["knowledge"] == ["facts.csv"]
    assert "knowledge" not in tacit.audit(rules(), known=people().qi, attacks=["R02"]).adversary


def test_facts_that_clash_with_lines_are_named_with_them(tmp_path: Path) -> None:
    path = tmp_path / "facts.csv"
    path.write_text(HEAD + f"{cell({'sex': 'F'})},ill,,4\n" + f"{cell({'sex': 'M', 'age': 'old'})},ill,,1\n")
    with pytest.raises(Contradiction) as caught:
        share_of_ill(path)
    assert "line " in str(caught.value)
    assert "facts.csv line 3" in str(caught.value)
    assert "facts.csv line 2" not in str(caught.value)
    assert "background knowledge" in str(caught.value)
    chain = [
        {"event": {"sex": "M", "age": ["mid", "old"]}, "value": "ill", "at_least": "70%"},
        {"event": {}, "value": "ill", "at_most": 3},
    ]
    with pytest.raises(Contradiction, match=r"knowledge entry 1 and knowledge entry 2: .*background knowledge"):
        share_of_ill(chain)
    with pytest.raises(Contradiction, match=r"knowledge entry 1"):
        share_of_ill([{"event": {"sex": "X"}, "value": "ill", "at_least": 1}])


BAD = [
    ("event,value\n{},ill\n", "does not say what its columns are"),
    (HEAD + "secret,ill,1,\n", "column event: is not a JSON object"),
    (HEAD + f"{cell(['secret'])},ill,1,\n", "column event: is not a JSON object"),
    (HEAD + f"{cell({'sex': {'secret': 1}})},ill,1,\n", "column event: holds a list or object"),
    (HEAD + '"{""sex"": ""secret"", ""sex"": ""F""}",ill,1,\n', "column event: is not a JSON object"),
    (HEAD + f"{cell({'secret': 'F'})},ill,1,\n", "names a column that is not quasi-identifying"),
    (HEAD + f"{cell({'sex': 'F'})},secret,1,\n", "its value is not one of the sensitive column's"),
    (HEAD + f"{cell({'sex': 'F'})},ill,secret,\n", "column at_least: is not a number"),
    (HEAD + f"{cell({'sex': 'F'})},ill,,120%\n", "column at_most: is neither a count nor a share"),
    (HEAD + f"{cell({'sex': 'F'})},ill,,\n", "line 2: says nothing"),
    (HEAD + f"{cell({'sex': 'F'})},ill\n", "line 2"),
    ("", "is empty"),
    ("[1, 2", "is not JSON"),
    ("{}", "is not a list"),
    ("[1]", "entry 1: is not an object"),
    ('[{"event": {}}]', "entry 1: lacks event or value"),
    ('[{"event": {}, "value": ["secret"], "at_most": 1}]', "column value: is not a value"),
]


@pytest.mark.parametrize(("text", "told"), BAD, ids=range(len(BAD)))
def test_what_is_wrong_is_said_with_its_place_and_without_its_content(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "facts.csv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        share_of_ill(path)
    assert told in str(caught.value)
    assert str(caught.value).startswith("facts.csv")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("wrong", [3, {"sex": "F"}, [3], "none.csv"])
def test_other_things_are_no_knowledge(wrong: Any) -> None:
    with pytest.raises(TacitError):
        read_knowledge(wrong)


def test_knowledge_needs_rules_and_known_people() -> None:
    facts = [({"sex": "M"}, "ill")]
    with pytest.raises(OptionError, match="it is not known who they are"):
        tacit.audit(rules(), knowledge=facts)
    with pytest.raises(OptionError, match="--knowledge: applies to rules"):
        tacit.audit(tacit.mine_itemsets([["a"]], min_support=1), knowledge=facts)
