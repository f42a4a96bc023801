"""``tacit register``: published releases are recorded, listed and audited together with a new one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.shell import record, tacit

LAST = "smokes,region,count\nno,N,40\nyes,N,11\nno,S,35\nyes,S,14\n"
MOVED = ("--population", "2025", "--people", "left:1,joined:0")


@pytest.fixture
def left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A register of one table about 2024; the table of 2025 stands beside it."""
    monkeypatch.chdir(tmp_path)
    Path("last.csv").write_text(LAST)
    Path("this.csv").write_text(LAST.replace("yes,N,11", "yes,N,10"))
    done = tacit(
        "register", "add", "left", "last.csv", "--population", "2024", "--sa", "none", "--signed-by", "Ada", "--note", "ours"
    )
    assert done.exit_code == 0, done.output
    return Path("left")


def test_what_has_left_is_listed(left: Path) -> None:
    made = record("register", "list", left)
    assert made["format"] == "tacit.register/1"
    assert [(one["file"], one["population"], one["by"], one["note"]) for one in made["releases"]] == [
        ("last.csv", "2024", "Ada", "ours")
    ]
    told = tacit("register", "list", left).stdout
    assert told.startswith("1 release about 1 population; the list and its copies are unchanged.\n")
    assert made["head"] in told


def test_a_release_that_is_clean_alone_is_exposed_beside_what_has_left(left: Path) -> None:
    assert tacit("audit", "this.csv", "--sa", "none", "-q").stdout == "clean\n"
    found = tacit(
        "register",
        "audit",
        left,
        "this.csv",
        *MOVED,
        "--sa",
        "none",
        "--json",
        "a.json",
        "--sarif",
        "s.json",
        "--report",
        "r.html",
    )
    assert found.exit_code == 1
    assert "1 person has region=N and smokes=yes, among the people of 2024/ who are not in 2025/." in found.stdout
    assert "tacit repair" not in found.stdout + Path("r.html").read_text()
    cited = json.loads(Path("s.json").read_text())["runs"][0]["results"][0]["locations"]
    assert {one["physicalLocation"]["artifactLocation"]["uri"] for one in cited} <= {"2024/last.csv", "2025/this.csv"}
    assert record("register", "list", left)["populations"] == ["2024"], "an audit adds nothing"
    assert tacit("register", "add", left, "this.csv", *MOVED, "--sa", "none").exit_code == 0
    assert tacit("register", "audit", left, "-q").stdout == "exposed\n"
    assert tacit("verify", "a.json", left / "2024", left / "2025").exit_code == 0


def test_several_releases_are_added_at_once(left: Path) -> None:
    Path("jobs.csv").write_text("job,count\ncook,60\nclerk,39\n")
    made = record("register", "add", left, "this.csv", "jobs.csv", *MOVED, "--sa", "none")
    assert [(one["number"], one["population"], one["people"]) for one in made["releases"]] == [
        (1, "2024", None),
        (2, "2025", "left:1-1,joined:0-0"),
        (3, "2025", None),
    ]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("audit", "left", "this.csv"),
            "--population: is missing: the newest population, 2024, has 100 people, and the release is about 99.",
        ),
        (("audit", "left", "this.csv", "--population", "2025"), "--people: is missing: 2025 is a second population."),
        (
            ("audit", "left", "--population", "2025"),
            "--population: is about a new release, and none is given. Remove the option.",
        ),
        (("audit", "nowhere", "this.csv"), "nowhere: holds no register."),
        (("list", "nowhere"), "nowhere: holds no register."),
        (("add", "left", "no.csv"), "no.csv: "),
        (("add", "left", "this.csv", "--population", "../up"), "--population: is not a name for a folder."),
        (("audit", "left", "--suggest"), "tacit register audit: there is no option --suggest."),
    ],
)
def test_mistakes_are_one_sentence_and_change_nothing(left: Path, words: tuple[str, ...], sentence: str) -> None:
    before = (left / "register.jsonl").read_bytes()
    done = tacit("register", *words, *(() if words[0] == "list" else ("--sa", "none")))
    assert done.exit_code == 2
    assert done.stderr.startswith(sentence)
    assert done.stderr.count("\n") == 1
    assert (left / "register.jsonl").read_bytes() == before
    assert sorted(one.name for one in left.iterdir() if one.is_dir()) == ["2024"]


def test_a_changed_register_is_refused_by_every_command(left: Path) -> None:
    path = left / "register.jsonl"
    tacit("register", "add", left, "this.csv", *MOVED, "--sa", "none")
    path.write_text(path.read_text().replace("Ada", "Eve"))
    for words in (("list", left), ("audit", left), ("add", left, "this.csv", "--sa", "none")):
        done = tacit("register", *words)
        assert done.exit_code == 2
        assert "the register was changed after it was written" in done.stderr
