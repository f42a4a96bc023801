"""``tacit audit``, ``explain`` and ``verify`` of a bucketized release, as a user runs them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import tacit as library
from tests.shell import program, record, tacit

KNOWN = 'antecedent,excluded\n"{""sex"": ""M""}",baby\n"{""age"": [""50""]}",flu\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "b"
    place.mkdir()
    (place / "qit.csv").write_text("sex,age,group\nF,30,1\nM,40,1\nM,50,1\nF,30,2\nF,20,2\nM,20,2\n")
    (place / "st.csv").write_text("group,ill,count\n1,flu,1\n1,cold,1\n1,baby,1\n2,flu,2\n2,cold,1\n")
    (tmp_path / "known.csv").write_text(KNOWN)
    return place


def test_without_knowledge_two_values_are_enough(folder: Path) -> None:
    found = record("audit", folder)
    assert found["verdict"] == "clean"
    assert found["release"][0] | {"sha256": ""} == {
        "kind": "buckets",
        "n": 6,
        "lines": 5,
        "min_support": None,
        "groups": 2,
        "file": "qit.csv and st.csv",
        "sha256": "",
        "header_sha256": None,
        "read": {},
    }
    assert found["measures"]["vulnerable"] == 0
    assert tacit("audit", folder, "--l", "3").exit_code == 1


def test_knowledge_pins_people_and_the_text_says_so_in_people(folder: Path, tmp_path: Path) -> None:
    result = tacit("audit", folder, "--knowledge", tmp_path / "known.csv", "--report", tmp_path / "r.html", "-v")
    assert result.exit_code == 1
    assert result.stdout.startswith("EXPOSED: the sensitive value of 3 people is certain.")
    assert "k = " not in result.stdout
    assert "2 groups about 6 people" in result.stdout
    assert "knows who is in which group" in result.stdout
    assert "The one person with sex=F, age=30 in group 1 certainly has ill baby." in result.stdout
    assert "2 people of the group can only have cold or flu, which occur 2 times: nobody else has it." in result.stdout
    page = (tmp_path / "r.html").read_text()
    assert "people who keep fewer than 2 possible values" in page
    external = tacit("audit", folder, "--knowledge", tmp_path / "known.csv", "--report-kind", "external")
    assert not any(word in external.stdout for word in ("baby", "sex", "known.csv"))


def test_a_record_is_verified_and_a_finding_explained(folder: Path, tmp_path: Path) -> None:
    known = ("--knowledge", tmp_path / "known.csv")
    assert tacit("audit", folder, *known, "--l", "3", "--json", tmp_path / "a.json", "--top", "100", "-q").exit_code == 1
    assert tacit("verify", tmp_path / "a.json", folder).exit_code == 0
    assert "6 of 6 proved findings re-checked: 6 B01" in tacit("verify", tmp_path / "a.json", folder / "qit.csv", *known).stdout
    finding = json.loads((tmp_path / "a.json").read_text())["findings"][1]
    told = tacit("explain", folder, *known, "--l", "3", "--finding", finding["id"])
    assert finding["statement"] in told.stdout
    (folder / "st.csv").write_text((folder / "st.csv").read_text().replace("baby", "gout"))
    assert tacit("verify", tmp_path / "a.json", folder).exit_code == 1


def test_estimates_decide_where_the_policy_sets_a_limit(folder: Path, tmp_path: Path) -> None:
    assert record("audit", folder, "--attack", "B02", code=3)["measures"]["max_posterior"] == pytest.approx(2 / 3)
    found = record("audit", folder, "--attack", "B02", "--max-posterior", "60%", code=1)
    assert [run["people"] for run in found["attacks"] if run["code"] == "B02"] == [3]
    gained = record("audit", folder, "--attack", "B02", "--max-gain", "0.1", code=1)
    assert {tuple(one["event"]["ill"]) for one in gained["findings"]} == {("flu",), ("baby",)}
    assert tacit("audit", folder, "--max-posterior", "60%", "--findings", tmp_path / "f.csv").exit_code == 1
    with open(tmp_path / "f.csv") as stream:
        assert [row["attack"] for row in csv.DictReader(stream)] == ["B02"] * 3


def test_the_same_input_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    options = ("--knowledge", "known.csv", "--l", "3", "--max-posterior", "0.4", "--json", "-")
    first, second = (program("audit", "b", *options, cwd=tmp_path) for _ in range(2))
    assert first.stdout == second.stdout
    assert first.returncode == 1
    assert not first.stderr


@pytest.mark.parametrize(
    ("known", "what"),
    [
        ('antecedent,excluded\n"{""height"": ""M""}",flu\n', "known.csv line 2: names a column that is not quasi-identifying"),
        ("antecedent,excluded\n{},flu\n", "st.csv, lines 2, 3 and 4: the knowledge contradicts the release"),
        ('event,value,at_least\n"{""sex"": ""M""}",gout,1\n', "known.csv line 2: its value is not one of the sensitive column's"),
    ],
)
def test_knowledge_that_does_not_fit_ends_with_2(folder: Path, tmp_path: Path, known: str, what: str) -> None:
    (tmp_path / "known.csv").write_text(known)
    result = tacit("audit", folder, "--knowledge", tmp_path / "known.csv")
    assert result.exit_code == 2
    assert what in result.stderr
    assert not result.stdout


def test_facts_that_rule_nothing_out_are_read_by_the_attacks_on_known_people(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "facts.csv").write_text('event,value,at_most\n"{""sex"": ""M""}",flu,0%\n"{""sex"": ""F""}",cold,1\n')
    found = record("audit", folder, "--knowledge", tmp_path / "facts.csv", "--l", "1")
    ran = {run["code"] for run in found["attacks"] if run["status"] == "ran"}
    assert ran == {"R02", "R03", "B01", "B02", "B03"}
    assert found["adversary"]["background_facts"] == 2


def test_what_helps_with_other_releases_is_refused(folder: Path, tmp_path: Path) -> None:
    for options, what in (
        (("--known", folder / "qit.csv"), "--known: applies to rules"),
        (("--only", "closed"), "are for itemsets and rules"),
        (("--algorithm", "naive"), "is for I01, which does not run here"),
    ):
        result = tacit("audit", folder, *options)
        assert (result.exit_code, what in result.stderr) == (2, True), result.stderr
    assert "this release is bucketized" in tacit("explain", folder, "--pattern", "flu").stderr
    assert "Raise --l" in tacit("explain", folder).stderr
    empty = tmp_path / "empty"
    empty.mkdir()
    assert tacit("audit", empty).exit_code == 2


def test_whoever_fits_is_told_about_with_probabilities_and_steps(folder: Path, tmp_path: Path) -> None:
    known = ("--knowledge", tmp_path / "known.csv")
    told = tacit("explain", folder, *known, "--who", "sex=F,age=30")
    assert told.exit_code == 0
    assert "The one person with sex=F, age=30 in group 1: ill baby 1.000, cold 0.000, flu 0.000." in told.stdout
    assert "The one person with sex=F, age=30 in group 2: ill flu 0.667, cold 0.333." in told.stdout
    found = record("explain", folder, *known, "--who", "sex=M", "--top", "2")["members"]
    assert [one["posterior"] for one in found] == [{"baby": 0.0, "cold": 0.0, "flu": 1.0}, {"baby": 0.0, "cold": 1.0, "flu": 0.0}]
    assert found[0]["steps"][-1] == "So this person has flu."
    for who, what in (("ill=flu", "is what is guessed"), ("height=2", "there is no column"), ("sex=X", "nobody has all these")):
        result = tacit("explain", folder, "--who", who)
        assert (result.exit_code, what in result.stderr) == (2, True)
    assert "this release is bucketized" in tacit("explain", folder, "--who", "sex=F", "--known", folder / "qit.csv").stderr


def test_one_person_alone_in_a_group_is_certain(tmp_path: Path) -> None:
    release = library.read_buckets(qit={"age": ["30"], "group": ["x"]}, st={"group": ["x"], "ill": ["flu"]})
    library.write_release(release, tmp_path / "one")
    found = record("audit", tmp_path / "one", code=1)
    assert found["findings"][0]["statement"] == "The one person with age=30 in group 1 certainly has ill flu."
    assert found["measures"]["pinned"] == found["measures"]["people_certain"] == 1
