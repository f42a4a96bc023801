"""SARIF and JUnit say what the record says."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tacit.reports.print import BROWSERS
from tests.shell import leaking_baskets, record, tacit


@pytest.fixture
def _release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert tacit("mine", "itemsets", leaking_baskets(tmp_path), "--min-support", "40", "-o", "r.csv").exit_code == 0


@pytest.mark.usefixtures("_release")
def test_sarif_names_the_published_lines() -> None:
    made = record("audit", "r.csv", "--sarif", "a.sarif", code=1)
    log = json.loads(Path("a.sarif").read_bytes())
    assert log["version"] == "2.1.0"
    run = log["runs"][0]
    assert run["tool"]["driver"]["version"] == made["tool"]["version"]
    assert {one["ruleId"] for one in run["results"]} <= {one["id"] for one in run["tool"]["driver"]["rules"]}
    assert [one["message"]["text"] for one in run["results"]] == [one["statement"] for one in made["findings"]]
    assert [one["partialFingerprints"]["tacit/v1"] for one in run["results"]] == [one["id"] for one in made["findings"]]
    places = [one["physicalLocation"] for one in run["results"][0]["locations"]]
    assert [one["region"]["startLine"] for one in places] == [one["line"] for one in made["findings"][0]["because"]]
    assert {one["artifactLocation"]["uri"] for one in places} == {"r.csv"}
    assert run["properties"]["verdict"] == "exposed"


@pytest.mark.usefixtures("_release")
def test_what_could_not_be_decided_is_told() -> None:
    assert tacit("audit", "r.csv", "--attack", "I02", "--sarif", "a.sarif", "--junit", "a.xml").exit_code == 3
    run = json.loads(Path("a.sarif").read_bytes())["runs"][0]
    assert run["results"] == []
    assert run["invocations"][0]["executionSuccessful"] is False
    assert {"I01", "X01"} == {one["descriptor"]["id"] for one in run["invocations"][0]["toolExecutionNotifications"]}
    suite = ElementTree.parse("a.xml").getroot()
    assert suite.get("failures") == "0"
    assert int(suite.get("errors", "0")) == len(suite.findall("testcase/error")) == 3  # I01, X01 and the verdict


@pytest.mark.usefixtures("_release")
def test_junit_fails_for_each_attack_that_finds_something() -> None:
    made = record("audit", "r.csv", "--junit", "a.xml", code=1)
    suite = ElementTree.parse("a.xml").getroot()
    found = {attack["code"] for attack in made["attacks"] if attack["findings"]}
    failed = {case.get("name", "").split()[0] for case in suite.findall("testcase") if case.find("failure") is not None}
    assert failed == found | {"verdict"}
    assert suite.get("tests") == str(len(made["attacks"]) + 1)
    assert suite.get("failures") == str(len(failed))
    assert suite.get("skipped") == str(sum(attack["status"] == "not-relevant" for attack in made["attacks"]))
    assert made["findings"][0]["statement"] in "".join(suite.itertext())


@pytest.mark.usefixtures("_release")
def test_a_clean_release_passes() -> None:
    assert tacit("audit", "r.csv", "--k", "1", "--junit", "a.xml", "--sarif", "a.sarif").exit_code == 0
    suite = ElementTree.parse("a.xml").getroot()
    assert (suite.get("failures"), suite.get("errors")) == ("0", "0")
    assert json.loads(Path("a.sarif").read_bytes())["runs"][0]["results"] == []


@pytest.mark.usefixtures("_release")
def test_external_forms_describe_no_group() -> None:
    words = ("--sarif", "a.sarif", "--junit", "a.xml", "--report-kind", "external")
    assert tacit("audit", "r.csv", *words).exit_code == 1
    assert "a but not b" in "".join(one["statement"] for one in record("audit", "r.csv", code=1)["findings"])
    for file in ("a.sarif", "a.xml"):
        text = Path(file).read_text()
        assert "but not" not in text
        assert "r.csv" not in text


@pytest.mark.usefixtures("_release")
def test_several_reports_and_refused_endings() -> None:
    assert tacit("audit", "r.csv", "--report", "a.html", "--report", "a.md").exit_code == 1
    assert Path("a.html").read_text().startswith("<!doctype html>".upper()) or "<html" in Path("a.html").read_text()
    assert Path("a.md").read_text().startswith("#")
    refused = tacit("audit", "r.csv", "--report", "a.docx")
    assert refused.exit_code == 2
    assert not Path("a.docx").exists()


@pytest.mark.usefixtures("_release")
def test_print_needs_a_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    refused = tacit("audit", "r.csv", "--report", "a.pdf")
    assert refused.exit_code == 2
    assert (
        refused.stderr
        == "--report .pdf: needs a browser, and none is installed. Install chromium, or write .html and print it.\n"
    )
    assert not Path("a.pdf").exists()


@pytest.mark.usefixtures("_release")
def test_a_browser_prints_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser is a small program that prints what it was given, as the installed ones do."""
    browser = tmp_path / "bin" / BROWSERS[0]
    browser.parent.mkdir()
    browser.write_text(
        "#!/bin/sh\nfor word; do case $word in --print-to-pdf=*) out=${word#*=};; file://*) page=${word#file://};; esac; done\n"
        '{ echo "%PDF"; cat "$page"; } > "$out"\n'
    )
    browser.chmod(0o755)
    monkeypatch.setenv("PATH", f"{browser.parent}:/usr/bin:/bin")
    assert tacit("audit", "r.csv", "--report", "a.pdf").exit_code == 1
    assert Path("a.pdf").read_text().startswith("%PDF\n")
    assert "<html" in Path("a.pdf").read_text()
