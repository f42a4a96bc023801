from __future__ import annotations

import os
from pathlib import Path

import pytest

from tacit.cli.output import check_outputs
from tacit.errors import OptionError


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
    assert "is also read, and would be lost" in refused([str(tmp_path / "link.csv")], [str(data)])


def test_standard_output_and_nothing_are_always_writable(tmp_path: Path) -> None:
    check_outputs(["-", None, "/dev/null", "/dev/null", str(tmp_path / "new.csv")], inputs=["-"])
