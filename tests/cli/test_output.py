from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from tacit.cli.output import check_outputs, note, say
from tacit.model.errors import OptionError
from tests.shell import leaking_baskets, program


def refused(outputs: list[str | None], inputs: list[str] | None = None) -> str:
    with pytest.raises(OptionError) as caught:
        check_outputs(outputs, inputs=inputs or [])
    return str(caught.value)


def test_a_missing_folder_is_refused_before_work(tmp_path: Path) -> None:
    assert "the folder does not exist" in refused([str(tmp_path / "no" / "out.csv")])


def test_a_file_is_not_written_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert refused(["r.csv.json", "./r.csv.json"]) == "./r.csv.json: is named twice. Give another name to write to."


def test_an_input_is_not_overwritten(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("a\n1\n")
    os.symlink(data, tmp_path / "link.csv")
    assert "is also read and would be lost" in refused([str(tmp_path / "link.csv")], [str(data)])


def test_standard_output_and_nothing_are_always_writable(tmp_path: Path) -> None:
    check_outputs(["-", None, "/dev/null", "/dev/null", str(tmp_path / "new.csv")], inputs=["-"])


@pytest.mark.parametrize("name", ["\x1b[2Jx.csv", "a\u202egpj.csv", "b\x9b31mred.csv", "c\u2066d\u2069.csv", "bell\x07.csv"])
def test_names_of_files_are_printed_harmless(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    say(f"Written to {name}, 1\u202f029 lines\n\tand ä, 漢字")
    note(f"{name}: is missing")
    printed = capsys.readouterr()
    for text in (printed.out, printed.err):
        assert not {sign for sign in text if unicodedata.category(sign)[0] == "C"} - {"\n", "\t"}
        assert "\\" in text
    assert printed.out.endswith("1\u202f029 lines\n\tand ä, 漢字\n")


def test_errors_print_names_of_columns_harmless(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("\x1b[2Jage\u202e,ill\n" + "1,x\n2,y\n" * 5)
    done = program(
        "mine", "rules", str(path), "--qi", "agee", "--sa", "ill", "--min-support", "1", "--min-confidence", "0.5", cwd=tmp_path
    )
    assert done.returncode == 2
    assert b"\x1b" not in done.stderr
    assert "\u202e" not in done.stderr.decode()


@pytest.mark.parametrize("name", ["x", "x.docx", "x.html.gz"])
def test_a_report_with_another_ending_is_refused_before_anything_is_done(tmp_path: Path, name: str) -> None:
    done = program("audit", "missing.csv", "--report", name, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.decode() == (
        f"--report {name}: reports are not written in a format with this ending. "
        "End the name with .html for a page, .pdf for print, or .md for Markdown.\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_standard_output_by_its_other_name_holds_the_record(tmp_path: Path) -> None:
    made = program("mine", "itemsets", leaking_baskets(tmp_path), "--min-support", "40", "-o", "r.csv", cwd=tmp_path)
    assert made.returncode == 0
    usual = program("audit", "r.csv", "--json", "-", cwd=tmp_path)
    other = program("audit", "r.csv", "--json", "/dev/stdout", cwd=tmp_path)
    assert (usual.returncode, usual.stdout) == (other.returncode, other.stdout)
    page = program("audit", "r.csv", "-q", "--report", "/dev/stdout", cwd=tmp_path)
    assert page.returncode == 1
    assert page.stdout.startswith(b"<!DOCTYPE html>")
