"""Files recognised without an audit, the one question, and the words of commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from tacit.files.recognition import _FORM_NAMES
from tacit.model.rounding import CONVENTIONS
from tacit.verbs.describe import describe_files
from tacit.web import commands, texts
from tacit.web.projects import File, Project
from tacit.web.recognised import Recognised
from tacit.web.screens import SCREENS
from tacit.web.screens.make import MAKES, make_command
from tacit.web.screens.repair import Way, suggestions
from tacit.web.waivers import check_waiver, waivers_text
from tests.shell import people, tacit

COUNTS = "sex,area,count\nF,N,40\nF,S,11\nM,N,35\nM,S,14\n"


def seen(folder: Path, *files: tuple[str, str], **settings: str) -> tuple[Project, Recognised]:
    """Return what files in roles are recognised as."""
    project = Project("p", "test", tuple(File(name, role, "x", is_guess=True) for name, role in files), settings)
    words = dict(zip(*[iter(commands.recognise_command(project).words)] * 2, strict=True))
    reading: dict[str, Any] = json.loads(words["--reading"])
    releases = [str(folder / name) for name in (*project.having("earlier"), *project.having("release"))]
    record = describe_files(releases, [str(folder / name) for name in project.having("data")], reading)
    for entry in record["files"]:
        entry["file"] = Path(entry["file"]).name
    return project, Recognised.of(project, record)


def test_a_frequency_table_asks_for_its_sensitive_column_and_then_nothing(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(COUNTS)
    _, found = seen(tmp_path, ("table.csv", "release"))
    assert found.kinds == {"frequencies"}
    assert found.n == 100
    assert [column.name for column in found.columns] == ["sex", "area"]
    question = found.question([])
    assert question is not None
    assert question.about == "sensitive"
    _, found = seen(tmp_path, ("table.csv", "release"), sa="area", qi="sex")
    assert found.question([]) is None
    assert {column.name: column.role for column in found.columns} == {"sex": "known", "area": "sensitive"}
    lost = found.question(["table.csv"])
    assert lost is not None
    assert lost.about == "files"


def test_a_table_of_people_is_taken_for_the_data(tmp_path: Path) -> None:
    people(tmp_path)
    options = ("--qi", "sex,age", "--sa", "ill", "--min-support", "5", "--min-confidence", "0.6")
    assert tacit("mine", "rules", tmp_path / "people.csv", *options, "-o", tmp_path / "rules.csv").exit_code == 0
    _, found = seen(tmp_path, ("rules.csv", "release"), ("people.csv", "release"))
    assert found.roles() == {"rules.csv": "release", "people.csv": "data"}
    _, found = seen(tmp_path, ("people.csv", "data"))
    question = found.question([])
    assert question is not None
    assert question.about == "publish"
    assert found.missing == "?"
    assert found.with_role("known") == ["sex", "age"]
    _, found = seen(tmp_path, ("people.csv", "release"))
    question = found.question([])
    assert question is not None
    assert question.about == "roles"


def test_what_cannot_be_read_is_asked_about(tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_text("a,North,South\nF,40.5,11\nM,35,14\n")
    (tmp_path / "bomb.csv").write_bytes(b"\x00\xff" * 1000)
    _, found = seen(tmp_path, ("odd.csv", "release"))
    assert found.roles() == {}
    question = found.question([])
    assert question is not None
    assert question.about == "kind"
    assert "not recognised" in question.detail
    _, found = seen(tmp_path, ("bomb.csv", "release"))
    assert found.files["bomb.csv"]["is"] == "unread"


def test_sheets_are_listed_and_chosen(tmp_path: Path) -> None:
    with xlsxwriter.Workbook(str(tmp_path / "book.xlsx")) as book:
        book.add_worksheet("notes").write_row(0, 0, ["see the other sheet"])
        sheet = book.add_worksheet("counts")
        for row, line in enumerate(COUNTS.splitlines()):
            sheet.write_row(row, 0, [int(cell) if cell.isdigit() else cell for cell in line.split(",")])
    record = describe_files([str(tmp_path / "book.xlsx#counts")], [], {})["files"][0]
    assert record["sheets"] == ["notes", "counts"]
    assert record["kind"] == "frequencies"
    project = Project("p", "test", (File("book.xlsx", "release", "x"),)).with_sheets({"book.xlsx": "counts"})
    assert commands.audit_command(project).shown == "tacit audit 'book.xlsx#counts'"


def test_choices_are_those_of_the_program() -> None:
    assert set(commands.FORMS) - {""} == set(_FORM_NAMES)
    assert set(commands.CONVENTIONS) - {""} == {convention.name for convention in CONVENTIONS}
    assert set(texts.CONVENTIONS) == set(commands.CONVENTIONS)
    assert list(SCREENS) == list(texts.SCREENS)
    assert {field.name for made in MAKES.values() for field in made.fields} <= set(texts.MAKE_OPTIONS)


def test_the_attacker_decides_what_is_given() -> None:
    files = [("a.csv", "release"), ("old.csv", "earlier"), ("d.csv", "data"), ("f.csv", "knowledge")]
    project = Project("p", "test", tuple(File(name, role, "x") for name, role in files), {"people": "left:1,joined:0"})

    def shown(attacker: str) -> str:
        settings = {**project.settings, "attacker": attacker}
        return commands.audit_command(Project("p", "test", project.files, settings)).shown

    assert shown("") == "tacit audit old.csv a.csv --data d.csv --knowledge f.csv --people left:1,joined:0"
    assert shown("nothing") == "tacit audit a.csv"
    assert shown("people,facts") == "tacit audit a.csv --data d.csv --knowledge f.csv"
    assert shown("earlier") == "tacit audit old.csv a.csv --people left:1,joined:0"


def test_the_lines_of_python_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.csv").write_text(COUNTS)
    (tmp_path / "new.csv").write_text(COUNTS.replace("11", "10"))
    files = (File("old.csv", "earlier", "x"), File("new.csv", "release", "x"))
    waiver = {"kind": "columns", "what": "sex, area", "people": "1", "reason": "known", "name": "A. B.", "until": ""}
    settings = {"people": "left:1,joined:0", "sa": "none", "form": "frequencies", "k": "8"}
    for waivers in ((), (waiver,)):
        project = Project("p", "test", files, settings, {}, waivers)
        command = commands.audit_command(project)
        (tmp_path / "answer").mkdir(exist_ok=True)
        command.prepare(tmp_path / "answer")
        if waivers:
            (tmp_path / "review.toml").write_text(waivers_text(waivers))
        by_hand = json.loads(tacit(*command.to_run(tmp_path / "answer")[:-4], "--json", "-").stdout_bytes)
        names: dict[str, Any] = {}
        exec(commands.python_lines(project), names)
        assert names["audit"].verdict == by_hand["verdict"]
        assert [finding.id for finding in names["audit"].findings] == [finding["id"] for finding in by_hand["findings"]]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"make": "itemsets", "min-support": "5%", "only": "all"}, "mine itemsets d.csv --min-support 5%"),
        ({"make": "itemsets", "min-support": "9", "only": "closed"}, "mine itemsets d.csv --min-support 9 --only closed"),
        ({"make": "tabulate", "by": "a,b;c", "total": "yes"}, "tabulate d.csv --by a,b --by c --total"),
        ({"make": "bucketize", "qi": "a", "sa": "b", "l": "2", "method": "-x"}, "bucketize d.csv --qi a --sa b"),
        ({"make": "hide", "qi": "a", "sa": "b", "rows": "--config=x"}, "hide d.csv --qi a --sa b --rows=--config=x"),
    ],
)
def test_fields_become_options(asked: dict[str, str], words: str) -> None:
    project = Project("p", "test", (File("d.csv", "data", "x"),))
    assert " ".join(make_command(project, asked).words) == words


def test_waivers_are_written_as_the_program_reads_them() -> None:
    from tacit.verbs.settings import parse_config

    given = {"kind": "columns", "what": 'job, a"b\\', "people": "3-9", "reason": "line\nbreak \U0001f600", "name": "A. B."}
    (waiver,) = parse_config(waivers_text([check_waiver({**given, "until": "2027-12-31"})])).waivers
    assert waiver.reason == given["reason"]
    assert waiver.people == (3, 9)
    with pytest.raises(Exception, match="reason and a name"):
        check_waiver({**given, "reason": " "})
    with pytest.raises(Exception, match="number of people"):
        check_waiver({**given, "people": "some"})


def test_suggestions_are_carried_out_with_the_files_of_the_project() -> None:
    files = (File("a.csv", "release", "x"), File("b.csv", "release", "x"), File("d.csv", "data", "x"))

    def way(line: str, *more: str, **settings: str) -> Way:
        project = Project("p", "test", files, settings)
        entry = {"what": "", "verdict": "clean", "findings": 0, "loss": 0.1, "loss_measure": "", "commands": [line, *more]}
        (found,) = suggestions(project, {"suggestions": [entry, {**entry, "verdict": None}]})
        return found

    found = way("tacit repair RELEASE --data DATA --method round --decimals 1 --k 5 -o OUT", k="5")
    project = Project("p", "test", (files[0], files[2]), {"k": "5"})
    assert commands.repair_command(project, found.options).shown == (
        "tacit repair a.csv --data d.csv --k 5 --method round --decimals 1 -o a-safer.csv"
    )
    found = way("tacit repair RELEASE1 RELEASE2 --people same --method suppress -o OUT")
    assert found.options == ("--people", "same", "--method", "suppress")
    found = way("tacit tabulate DATA --by sex,job --by sex --total --round 5 -o OUT")
    assert found.address == "/p/p/make?make=tabulate&by=sex%2Cjob%3Bsex&total=yes&round=5#made"
    found = way("tacit repair RELEASE1 --method round --base 5 -o OUT/1", "tacit audit OUT/1 RELEASE2")
    assert found.commands == ("tacit repair a.csv --method round --base 5 -o OUT/1", "tacit audit OUT/1 b.csv")
