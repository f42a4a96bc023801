"""``tacit explain`` of findings: one release or several, from an audit or from its record, as text, JSON and a picture."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.shell import program, record, tacit

VISITS = 'itemset,count\n"[""x""]",50\n"[""y""]",40\n"[""x"", ""y""]",20\n'
TREATMENTS = 'itemset,count\n"[""z""]",50\n"[""x"", ""y"", ""z""]",19\n'
TOGETHER = ("visits.csv", "treatments.csv", "--n", "100", "--people", "same")


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("visits.csv").write_text(VISITS)
    Path("treatments.csv").write_text(TREATMENTS)
    assert tacit("audit", *TOGETHER, "--json", "audit.json").exit_code == 1
    return tmp_path


def test_several_releases_are_explained_with_their_files_and_lines() -> None:
    told = tacit("explain", *TOGETHER, "--picture", "sum.svg")
    assert told.exit_code == 0, told.output
    assert "1. Start from 20: people with x and y (visits.csv, line 4)." in told.stdout
    assert "2. Take away 19: people with x, y and z (treatments.csv, line 3)." in told.stdout
    assert "3. That leaves 1 person." in told.stdout
    assert "visits.csv, line 4; treatments.csv, line 3" in " ".join(told.stdout.split())
    assert "1 person has x and y but not z." in (ElementTree.parse("sum.svg").getroot()[0].text or "")


def test_a_record_explains_itself_with_and_without_the_releases() -> None:
    listed = json.loads(Path("audit.json").read_text())["findings"]
    again = record("explain", *TOGETHER, "--finding", listed[0]["id"])
    assert again["finding"] == listed[0]
    assert again["explanation"]["steps"][0]["lines"] == [{"file": "visits.csv", "line": 4}]
    assert record("explain", "--audit", "audit.json") == again
    given = ("visits.csv", "treatments.csv", "--n", "100", "--finding", listed[0]["id"])
    assert record("explain", "--audit", "audit.json", *given) == again


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "RELEASE: is missing. Name the release to explain, or the record"),
        (("--audit", "audit.json", "--k", "5"), "--k: says how to audit, and --audit gives the record of an audit"),
        (("--audit", "audit.json", "--finding", "X01-0"), "--finding: the record lists no finding 'X01-0'"),
        (("--audit", "visits.csv"), "visits.csv: is not a record of an audit"),
        (("--audit", "nowhere.json"), "nowhere.json"),
        (("--audit", "audit.json", "treatments.csv", "visits.csv", "--n", "100"), "audit.json: the finding does not follow"),
        (("visits.csv", "treatments.csv", "--pattern", "x"), "--pattern: takes one release, and 2 are given"),
        (("visits.csv", "treatments.csv", "--who", "a=b"), "--who: the releases say nothing about sensitive values"),
        (("visits.csv", "treatments.csv", "--n", "100", "--people", "mates"), "--people"),
        (("visits.csv", "--n", "100", "--people", "same"), "--people"),
        (("--audit", "audit.json", "--picture", "audit.json"), "audit.json: is also read"),
    ],
)
def test_mistakes_are_one_sentence(arguments: tuple[str, ...], said: str) -> None:
    result = tacit("explain", *arguments)
    assert result.exit_code == 2, result.output
    assert said in result.stderr
    assert "Traceback" not in result.output


def test_records_that_hold_nothing_to_explain_say_so() -> None:
    tacit("audit", *TOGETHER, "--report-kind", "external", "--json", "external.json")
    assert "external.json: has counts only" in tacit("explain", "--audit", "external.json").stderr
    verified = tacit("verify", "external.json", "visits.csv", "treatments.csv")
    assert verified.exit_code == 2
    assert "the audit: holds counts only, which cannot be checked. Give the internal record." in verified.stderr
    tacit("audit", *TOGETHER, "--top", "0", "--json", "none.json")
    assert "none.json: lists no finding" in tacit("explain", "--audit", "none.json").stderr
    Path("odd.json").write_text('{"findings": [1]}')
    assert "odd.json: is not a record of an audit" in tacit("explain", "--audit", "odd.json").stderr


def test_a_tampered_record_is_not_explained() -> None:
    made = json.loads(Path("audit.json").read_text())
    made["findings"][0]["certificate"]["least"][-1]["weights"][0]["weight"] = "3"
    Path("audit.json").write_text(json.dumps(made))
    result = tacit("explain", "--audit", "audit.json", "visits.csv", "treatments.csv", "--n", "100")
    assert result.exit_code == 2
    assert "the finding does not follow" in result.stderr


def test_verify_says_how_many_hold_of_which_attack(files: Path) -> None:
    done = program("verify", "audit.json", "visits.csv", "treatments.csv", cwd=files)
    assert done.returncode == 0
    assert done.stdout.decode().splitlines()[0] == "HOLDS: 1 of 1 proved finding re-checked: 1 X01."
    found = record("verify", "audit.json", "visits.csv", "treatments.csv")
    assert (found["holds"], found["proved"], found["held"], found["problems"]) == (True, 1, 1, [])
    assert found["attacks"] == {"X01": {"listed": 1, "held": 1}}
    text = Path("audit.json").read_text()
    Path("audit.json").write_text(text.replace("tacit.certificate/1", "tacit.certificate/7"))
    result = tacit("verify", "audit.json", "visits.csv", "treatments.csv")
    assert result.exit_code == 2
    assert "audit: holds a certificate of another format" in result.stderr
    Path("audit.json").write_text(text)
    Path("visits.csv").write_text(VISITS.replace("40", "41"))
    result = tacit("verify", "audit.json", "visits.csv", "treatments.csv")
    assert result.exit_code == 1
    text = " ".join(result.stdout.split())
    assert text.startswith("REJECTED: the record does not hold. - visits.csv: this is not the file that was audited (SHA-256 ")
    assert text.endswith("Give the audited file.")
    Path("visits.csv").write_text(VISITS)
    assert tacit("verify", "audit.json", "visits.csv", "treatments.csv").exit_code == 0
    swapped = tacit("verify", "audit.json", "treatments.csv", "visits.csv")
    assert swapped.exit_code == 1
    said = "treatments.csv: this is release 2 of the audit, given as release 1. Give the files in the audited order."
    assert said in " ".join(swapped.stdout.split())
    assert "about 2 releases, and 1 is given" in " ".join(tacit("verify", "audit.json", "visits.csv").stdout.split())
