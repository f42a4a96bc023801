"""``tacit reproduce`` as a new user meets it."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

from tests.shell import program, tacit


def small_mushroom(folder: Path) -> Path:
    """A folder with a few rows under the name of the FIMI data set."""
    folder.mkdir()
    rows = [[question * 2 + (number * (question + 3) % 11 < 3) for question in range(8)] for number in range(60)]
    (folder / "mushroom.dat").write_text("".join(" ".join(map(str, row)) + "\n" for row in rows))
    return folder


def test_without_data_the_worked_examples_are_done_and_the_rest_is_said() -> None:
    result = tacit("reproduce", "atzori05")
    assert result.exit_code == 0, result.output
    assert "NOT REPRODUCED:" in result.stdout
    assert "mushroom.dat or mushroom.dat.gz of the FIMI repository" in " ".join(result.stdout.split())
    assert "Every numbered item: 18 confirmed, 1 confirmed under a reading, 3 not confirmed" in result.stdout
    assert "CSV files and pictures: add --out DIR" in result.stdout
    assert result.stderr == "tacit reproduce: atzori05 is NOT complete: 3 of its parts are left out; the output says why.\n"


def test_files_are_written_and_say_the_same(tmp_path: Path) -> None:
    data, out = small_mushroom(tmp_path / "fimi"), tmp_path / "out"
    result = tacit("reproduce", "pmicd08", "--data", data, "--out", out, "--json", tmp_path / "r.json", "--time-limit", "60")
    assert result.exit_code == 0, result.output
    assert "chess.dat" in result.stdout
    assert "numbers of the text about MUSHROOM" not in result.stdout
    names = {path.name for path in out.iterdir()}
    figures = {f"pmicd08-figure-{number}.{ending}" for number in (5, 7, 9, 11) for ending in ("csv", "svg")}
    assert names == figures | {"pmicd08-worked-example.csv", "pmicd08-numbers-mushroom.csv", "run-times.csv"}
    assert f"{len(names)} files written to {out}" in result.stdout
    for path in out.glob("*.svg"):
        ElementTree.parse(path)
    parts = {part["name"]: part for part in json.loads((tmp_path / "r.json").read_bytes())["papers"][0]["parts"]}
    with open(out / "pmicd08-figure-7.csv") as stream:
        listed = list(csv.DictReader(stream))
    figure = parts["figure-7"]
    assert [int(row["Tacit"]) for row in listed] == [row[figure["head"].index("Tacit")] for row in figure["rows"]]
    with open(out / "run-times.csv") as stream:
        timed = list(csv.DictReader(stream))
    assert {row["program"] for row in timed} == {"naive", "OICD", "PMICD", "Tacit"}
    assert all(float(row["seconds"]) > 0 for row in timed)


def test_mistakes_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for arguments, said in (
        (
            ("zhu9",),
            "tacit reproduce: there is no reproduction 'zhu9'. Did you mean 'zhu09'? "
            "The papers are: atzori05, injector08, li07, pmicd08, zhu09.",
        ),
        (("--data", tmp_path / "no"), f"{tmp_path / 'no'}: does not exist. Give the folder that holds the files with --data."),
        (("--out", tmp_path / "file"), f"{tmp_path / 'file'}: is a file, not a folder. Choose another with --out."),
        (("--time-limit", "0"), "--time-limit: must be more than 0. Write for instance 60."),
    ):
        result = tacit("reproduce", *arguments)
        assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"{said}\n")


def test_a_file_that_is_no_data_set_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mushroom.dat").write_bytes(b"")
    result = tacit("reproduce", "pmicd08", "--data", tmp_path)
    assert result.exit_code == 2
    assert result.stderr.startswith(str(tmp_path / "mushroom.dat"))


def test_in_a_pipe_there_is_no_bar(tmp_path: Path) -> None:
    done = program("reproduce", "pmicd08", "--json", "-", cwd=tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["papers"][0]["left_out"]
    assert done.stderr.count(b"\n") == 1
