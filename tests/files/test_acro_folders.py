"""Folders of ACRO sessions, read with the names and the mitigation that their records give.

The form is that of ACRO 1.0.2: two crosstabs with suppression, whose blanks follow from each other.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.files.releases import gather_releases
from tacit.model.errors import OptionError
from tests.shell import record
from tests.shell import tacit as run

WORK_BY_SCHOOL = "work,high,low,All\nlocal,40.0,30.0,70.0\nstate,25.0,,25.0\nAll,65.0,30.0,95.0\n"
WORK_BY_SEX = "work,F,M,All\nlocal,35,35,70\nstate,14,16,30\nAll,49,51,100\n"
MEANS = "sex,high,low\nF,37.5,40.25\nM,36.5,41.0\n"


def output(name: str, columns: list[str], **changes: Any) -> dict[str, Any]:
    fair = {"statbarn": "Frequencies", "dependent": "unknown", "independent": columns}
    properties = {"method": "crosstab", "mitigation": "suppress"}
    made = {"uid": name, "type": "table", "properties": properties, "fair": fair, "files": [{"name": f"{name}_0.csv", "sdc": {}}]}
    return made | changes


def session(folder: Path, outputs: list[dict[str, Any]], version: str = "1.0.2") -> Path:
    made = folder / "acro_outputs"
    made.mkdir()
    (made / "checksums").mkdir()
    (made / "checksums" / "results.json.txt").write_text("0")
    (made / "results.json").write_text(json.dumps({"version": version, "results": {one["uid"]: one for one in outputs}}))
    (made / "config.json").write_text(json.dumps({"safe_threshold": 8, "suppress": True}))
    (made / "session_summary.json").write_text(json.dumps({"metadata": {}, "outputs": [], "variable_matrix": {}}))
    for name, text in (("a", WORK_BY_SCHOOL), ("b", WORK_BY_SEX), ("means", MEANS)):
        if any(one["uid"] == name for one in outputs):
            (made / f"{name}_0.csv").write_text(text)
    return made


BOTH = [output("a", ["work", "school"]), output("b", ["work", "sex"])]


def test_a_check_between_outputs_is_one_command(tmp_path: Path) -> None:
    folder = session(tmp_path, BOTH)
    made = record("audit", folder, "--json", tmp_path / "audit.json", code=1)
    told = [finding["statement"] for finding in made["findings"]]
    assert "5 people have school=low and work=state." in told
    assert [entry["by"] for entry in made["release"]] == [["work", "school"], ["work", "sex"]]
    assert [entry["hidden_below"] for entry in made["release"]] == [8, 8]
    assert any("taken to be about the same people" in said for said in made["release"][0]["assumed"])
    assert made["policy"]["k"] == 10  # whoever submits a release does not bring its limits
    (tmp_path / "record.json").write_text(json.dumps(made))
    result = run("verify", tmp_path / "record.json", folder)
    assert result.exit_code == 0, result.output


def test_the_record_of_the_session_is_no_release_and_other_outputs_are_named(tmp_path: Path) -> None:
    means = output(
        "means", ["sex", "school"], fair={"statbarn": "LinearAggregations", "dependent": "age", "independent": ["sex"]}
    )
    gathered = gather_releases(session(tmp_path, [*BOTH, means]))
    assert len(gathered.releases) == 2
    assert [one.file for one in gathered.not_read] == ["acro_outputs/means_0.csv"]
    assert {one.file.partition("/")[2] for one in gathered.ignored} == {
        "checksums",
        "config.json",
        "results.json",
        "session_summary.json",
    }


@pytest.mark.parametrize(
    ("changes", "version", "expected"),
    [
        ({}, "1.0.2", {"convention": "acro", "complete": True}),
        ({}, "0.4.12", {"convention": "acro", "complete": False}),
        ({"properties": {"mitigation": "none"}}, "1.0.2", {"convention": None, "complete": True}),
        (
            {"properties": {}, "files": [{"name": "a_0.csv", "sdc": {"summary": {"suppressed": True}}}]},
            "0.4.12",
            {"convention": "acro"},
        ),
    ],
)
def test_mitigation_says_how_blanks_and_totals_are_read(
    tmp_path: Path, changes: dict[str, Any], version: str, expected: dict[str, Any]
) -> None:
    folder = session(tmp_path, [output("a", ["work", "school"], **changes), BOTH[1]], version)
    if changes.get("properties") == {"mitigation": "none"}:
        (folder / "a_0.csv").write_text(WORK_BY_SCHOOL.replace(",,25.0", ",5,30.0").replace("30.0,95.0", "35.0,100.0"))
    table = gather_releases(folder).releases[0]
    assert isinstance(table, tacit.FrequencyTable)
    convention = table.printing.convention
    found = {"convention": None if convention is None else convention.name, "complete": table.header.complete}
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"properties": {"mitigation": "round", "round_base": 5}}, "added up from rounded counts"),
        ({"properties": {"mitigation": "noise"}}, "a way that Tacit does not know"),
        ({"type": "regression"}, "of type regression"),
        ({"fair": {"statbarn": "Frequencies", "dependent": "unknown"}}, "does not name"),
        ({"fair": {}}, "does not say that it counts people"),
    ],
)
def test_what_cannot_be_read_is_never_clean(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    gathered = gather_releases(session(tmp_path, [output("a", ["work", "school"], **changes), BOTH[1]]))
    assert len(gathered.releases) == 1
    assert reason in gathered.not_read[0].reason


def test_rounded_counts_without_totals_are_read(tmp_path: Path) -> None:
    rounded = output("a", ["work", "school"], properties={"mitigation": "round", "round_base": 5})
    folder = session(tmp_path, [rounded])
    (folder / "a_0.csv").write_text("work,high,low\nlocal,40,30\nstate,25,5\n")
    table = gather_releases(folder).releases[0]
    assert isinstance(table, tacit.FrequencyTable)
    assert (table.printing.base, table.printing.rounding) == (5, "half-even")


def test_options_of_the_caller_come_first(tmp_path: Path) -> None:
    folder = session(tmp_path, BOTH)
    for table in gather_releases(folder, hidden_below=4, complete=False).releases:
        assert isinstance(table, tacit.FrequencyTable)
        assert table.printing.hidden_below == 4
        assert not table.header.complete


def test_a_damaged_record_is_no_session(tmp_path: Path) -> None:
    folder = session(tmp_path, BOTH)
    (folder / "results.json").write_text('{"version": "1.0.2", "results": [')
    assert "acro_outputs/results.json" in [one.file for one in gather_releases(folder).not_read]
    with pytest.raises(OptionError, match="--people"):
        tacit.audit(folder)


def test_columns_are_given_by_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("work,x,y\nlocal,40,30\nstate,25,15\n")
    (tmp_path / "b.csv").write_text("work,x,y\nlocal,35,35\nstate,24,16\n")
    files = (tmp_path / "a.csv", tmp_path / "b.csv")
    made = record("audit", *files, "--by", "a.csv=work,school", "--by", "b.csv=work,sex", code=3)
    assert [entry["by"] for entry in made["release"]] == [["work", "school"], ["work", "sex"]]
    result = run("audit", *files, "--by", "c.csv=work,school", "--by", "work,sex")
    assert result.exit_code == 2
    assert "--by" in result.output
