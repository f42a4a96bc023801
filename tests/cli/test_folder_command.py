"""``tacit audit FOLDER..``: everything in folders that is a release, each folder about one group of people, and the rest named."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import tacit as library
from tacit.model.errors import InputError, OptionError
from tests.cli.test_joint_command import write
from tests.shell import program, record, tacit


@pytest.fixture
def years(tmp_path: Path) -> list[Path]:
    """Two years of two files each; one person left."""
    folders = [tmp_path / name for name in ("2024", "2025")]
    for folder, n, less in zip(folders, (100, 99), (0, 1), strict=True):
        folder.mkdir()
        write(folder, "singles.csv", {"N": 51 - less, "yes": 25 - less}, n=n)
        write(folder, "pairs.csv", {"N yes": 11 - less}, n=n)
    return folders


#: Files beside releases that say nothing about people, and those that may.
HARMLESS = ("tacit.toml", "audit.json", "README.md", "report.html", "empty.csv", "empty", ".DS_Store")
UNREAD = ("notes.txt", "page.html", "table.md", ".hidden.csv", "older", "book.xlsx", "cut.csv.gz")


def left_over(folder: Path) -> None:
    """Files beside releases that are none."""
    (folder / "tacit.toml").write_text("k = 10\n")
    (folder / "audit.json").write_text(json.dumps({"format": "tacit.audit/1"}))
    (folder / "README.md").write_text("Ask before this leaves.\n")
    (folder / "report.html").write_text('<!DOCTYPE html>\n<meta name="generator" content="Tacit 1.0">\n<p>12 groups</p>\n')
    (folder / "empty.csv").write_text("")
    (folder / "empty").mkdir()
    (folder / ".DS_Store").write_bytes(b"Bud1")
    (folder / "notes.txt").write_text("Two men of 12 are ill.\n")
    (folder / "page.html").write_text("<table><tr><td>12</td></tr></table>")
    (folder / "table.md").write_text("| sex | count |\n| F | 3 |\n")
    (folder / ".hidden.csv").write_text("sex,count\nF,3\n")
    (folder / "older").mkdir()
    (folder / "older" / "a.csv").write_text("sex,count\nF,3\n")
    (folder / "book.xlsx").write_bytes(b"PK\x03\x04 and more")
    (folder / "cut.csv.gz").write_bytes(gzip.compress(b"sex,count\n" + b"F,300\n" * 1000)[:-12])


def test_each_folder_is_one_group_of_people(years: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "audit.json"
    result = tacit("audit", *years, "--people", "left:1,joined:0", "--json", out)
    assert result.exit_code == 1
    text = " ".join(result.stdout.split())
    assert "1 person has N and yes, among the people of 2024/ who are not in 2025/." in text
    assert "(2024/pairs.csv, line 2)" in text
    made = json.loads(out.read_text())
    names = ["2024/pairs.csv", "2024/singles.csv", "2025/pairs.csv", "2025/singles.csv"]
    assert [entry["file"] for entry in made["release"]] == names
    assert made["adversary"]["population"] == [0, 0, 1, 1]
    assert {entry["release"] for entry in made["findings"][0]["because"]} == {0, 2}
    assert "not_read" not in made
    assert tacit("verify", out, *years).exit_code == 0
    assert tacit("verify", out, *reversed(years)).exit_code == 1
    assert record("audit", *years, "--people", "left:1,joined:0", code=1) == made


def test_folders_of_different_numbers_of_people_need_a_declaration(years: list[Path]) -> None:
    refused = tacit("audit", *years)
    assert refused.exit_code == 2
    assert refused.stderr.startswith("--people: the releases are about different numbers of people")


def test_a_folder_alone_holds_the_releases(years: list[Path]) -> None:
    made = record("audit", years[0])
    assert made["adversary"]["people"] == "same"
    assert [entry["kind"] for entry in made["release"]] == ["itemsets", "itemsets"]
    assert "population" not in made["adversary"]


def test_a_folder_beside_a_file(years: list[Path]) -> None:
    made = record("audit", years[0], years[1] / "pairs.csv", "--people", "nested", code=1)
    assert made["adversary"]["population"] == [0, 0, 1]
    statement = "1 person has N and yes, among the people of 2024/ who are not in pairs.csv."
    assert made["findings"][0]["statement"] == statement


def test_what_is_no_release_is_named(years: list[Path], tmp_path: Path) -> None:
    left_over(years[1])
    page = tmp_path / "page.html"
    result = tacit("audit", *years, "--people", "nested", "--report", page, "-v")
    made = record("audit", *years, "--people", "nested", code=1)
    named = {entry["file"] for entry in made["not_read"]}
    assert named == {f"2025/{name}" for name in UNREAD}
    assert {entry["file"] for entry in made["ignored"]} == {f"2025/{name}" for name in HARMLESS}
    assert all(entry["reason"] for entry in (*made["not_read"], *made["ignored"]))
    assert len(made["release"]) == 4
    text = " ".join(result.stdout.split())
    for file in named:
        assert f"Not read: {file}, which" in text
        assert file in page.read_text()
    outside = record("audit", *years, "--people", "nested", "--report-kind", "external", code=1)
    assert not any(name in json.dumps(outside) for name in ("notes.txt", "2025/", "N yes"))


def test_what_is_not_read_is_never_clean(years: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "audit.json"
    assert tacit("audit", years[0]).exit_code == 0
    (years[0] / "tacit.toml").write_text("k = 10\n")
    assert tacit("audit", years[0]).exit_code == 0
    left_over(years[0])
    for name in UNREAD:
        others = [part for other in UNREAD if other != name for part in ("--ignore", other)]
        result = tacit("audit", years[0], *others, "--json", out)
        assert result.exit_code == 3
        verdict, _, after = result.stdout.partition("\n")
        assert verdict.startswith("INCOMPLETE: nothing was found, but 1 file or column was not read")
        assert f"2024/{name}" in after.partition("\n\n")[0]
        made = json.loads(out.read_text())
        assert [entry["file"] for entry in made["not_read"]] == [f"2024/{name}"]
        assert tacit("verify", out, years[0]).exit_code == 0
        made["verdict"] = "clean"
        out.write_text(json.dumps(made))
        assert tacit("verify", out, years[0]).exit_code == 1
    everything = [part for name in UNREAD for part in ("--ignore", name)]
    assert tacit("audit", years[0], *everything).exit_code == 0
    assert library.audit(years[0], ignore=UNREAD).verdict == "clean"
    with pytest.raises(OptionError, match="--ignore: names neither a file of a folder nor a column"):
        library.audit(years[0], ignore=["nothing.csv"])


@pytest.mark.parametrize(
    "text",
    [
        'itemset,count\n"[""a""]",50\n"[""a"",""b""]",x\n',
        'itemset,count\n"[""a""]",50\n"[""a"",""b""]",60\n',
        "sex,count\nF,?!\n",
    ],
)
def test_a_release_of_a_folder_that_cannot_be_read_is_refused(years: list[Path], text: str) -> None:
    (years[0] / "bad.csv").write_text(text)
    refused = tacit("audit", years[0])
    assert refused.exit_code == 2
    assert refused.stderr.startswith("2024/bad.csv")
    assert "--ignore bad.csv" in refused.stderr
    assert tacit("audit", years[0], "--ignore", "bad.csv").exit_code == 0
    assert tacit("audit", years[0], "--ignore", years[0] / "bad.csv").exit_code == 0
    with pytest.raises(InputError, match=r"2024/bad\.csv"):
        library.audit(years[0])


def test_files_of_one_folder_must_be_about_the_same_people(years: list[Path]) -> None:
    write(years[0], "other.csv", {"N": 40}, n=90)
    refused = tacit("audit", *years, "--people", "nested")
    assert refused.exit_code == 2
    assert refused.stderr.startswith("2024/: is about one group of people, and its files say different numbers of them")
    assert tacit("audit", years[0], "--people", "unknown").exit_code == 0


def test_a_folder_without_a_release_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("nothing here\n")
    refused = tacit("audit", tmp_path / "notes")
    assert refused.exit_code == 2
    assert "holds no release that Tacit can read" in refused.stderr
    (tmp_path / "empty").mkdir()
    assert tacit("audit", tmp_path / "empty").exit_code == 2
    assert "Give the folders in it one by one" in tacit("audit", tmp_path).stderr


def test_a_pair_of_tables_is_one_release_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "qit.csv").write_text("sex,group\nF,1\nM,1\n")
    (tmp_path / "st.csv").write_text("group,ill,count\n1,flu,1\n1,cold,1\n")
    assert record("audit", tmp_path)["release"][0]["kind"] == "buckets"
    write(tmp_path, "sets.csv", {"sex=F": 1, "sex=M": 1}, n=2)
    found = library.read_releases(tmp_path)
    assert [release.kind for release in found] == ["buckets", "itemsets"]
    assert not found.not_read


def test_folders_from_python(years: list[Path]) -> None:
    left_over(years[0])
    folder = library.read_releases(years[0])
    assert len(folder) == 2
    assert folder.name == "2024/"
    assert {file.file for file in folder.not_read} >= {"2024/notes.txt"}
    people = library.Nested()
    audits = [
        library.audit([folder, years[1]], people=people),
        library.audit([str(year) for year in years], people=people),
    ]
    assert audits[0].to_dict() == audits[1].to_dict()
    assert library.verify(audits[0], years).ok
    assert library.audit(str(years[0])).not_read == folder.not_read
    with pytest.raises(InputError, match="is not a folder"):
        library.read_releases(years[0] / "pairs.csv")
    with pytest.raises(OptionError, match="holds no release"):
        library.audit([[], [years[0]]])


def test_files_of_one_name_are_told_apart(years: list[Path]) -> None:
    made: dict[str, Any] = record("audit", *(year / "singles.csv" for year in years), "--people", "nested", code=1)
    assert [entry["file"] for entry in made["release"]] == ["2024/singles.csv", "2025/singles.csv"]


def test_values_that_change_on_the_command_line(tmp_path: Path) -> None:
    last = write(tmp_path, "last.csv", {"N": 51, "yes": 25, "N yes": 11}, n=100)
    this = write(tmp_path, "this.csv", {"N": 51, "yes": 26, "N yes": 12}, n=100)
    done = program("audit", last.name, this.name, "--people", "same,changed:yes:0-2", "--json", "audit.json", cwd=tmp_path)
    assert done.returncode == 1
    told = " ".join(done.stdout.decode().split())
    assert "1 person changed from not yes to yes, with N." in told
    assert "at most 2 of them have another value of each of: yes." in told
    assert program("verify", "audit.json", last.name, this.name, cwd=tmp_path).returncode == 0
    wrong = tacit("audit", last, this, "--people", "same,changed:yess:0-2")
    assert wrong.exit_code == 2
    assert wrong.stderr.startswith("--people: names a column that no release has. Did you mean")
