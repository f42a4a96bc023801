"""Means and medians beside the counts of a frequency table: read, refused, written and read again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tacit.files.releases import read_release, write_release
from tacit.model.errors import Contradiction, InputError
from tacit.model.frequencies import FrequencyTable
from tacit.model.numbers import Bound
from tests.joint.made_block import BLOCK, BLOCK_HEADER, write_block


def test_means_and_medians_are_read_as_numbers_that_print_so(tmp_path: Path) -> None:
    table = read_release(write_block(tmp_path))
    assert isinstance(table, FrequencyTable)
    assert table.measured is not None
    assert (table.n, table.columns, len(table)) == (7, ("sex", "race", "marital", "age"), 15)
    assert table.count(5) == Bound(0, 2)
    assert [table.measured.total(index, table.count(index).lo) for index in (0, 1, 5)] == [Bound(266, 266), Bound(134, 134), None]
    assert table.measured.total(7, 3) == Bound(110, 110), "36.7 is 110 / 3, rounded"
    assert (table.measured.middle(0), table.measured.middle(3)) == (Bound(60, 60), Bound(102, 102))


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet"])
def test_what_is_written_reads_as_the_same(tmp_path: Path, ending: str) -> None:
    table = read_release(write_block(tmp_path))
    write_release(table, tmp_path / f"again{ending}")
    again = read_release(tmp_path / f"again{ending}")
    assert isinstance(table, FrequencyTable)
    assert isinstance(again, FrequencyTable)
    assert table.measured is not None
    assert again.measured is not None
    assert list(again.records()) == list(table.records())
    for name in ("means", "medians"):
        texts = [[getattr(one.measured, name).text(index) for index in range(len(one))] for one in (table, again)]
        assert texts[0] == texts[1]
    assert (again.measured.span, again.measured.digits, again.n) == (Bound(0, 125), 1, 7)


def changed(tmp_path: Path, old: str, new: str, **header: object) -> Path:
    """The block with one text replaced."""
    path = tmp_path / "changed.csv"
    assert old in BLOCK
    path.write_text(BLOCK.replace(old, new, 1))
    (tmp_path / "changed.csv.json").write_text(json.dumps(BLOCK_HEADER | header))
    return path


def test_what_nobody_can_have_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(Contradiction, match="line 9: no people have this mean or median"):
        read_release(changed(tmp_path, "36.7", "36.5"))
    with pytest.raises(Contradiction, match="line 3: no people"):
        read_release(changed(tmp_path, "33.5,30", "33.5,30.3"))
    with pytest.raises(InputError, match="line 7: the label of the measured column"):
        read_release(changed(tmp_path, "18+", "adult"))
    with pytest.raises(InputError, match="line 2: a mean or median is neither"):
        read_release(changed(tmp_path, "38,30", "about 38,30"))
    with pytest.raises(InputError, match="does not say which values the measured column can have"):
        read_release(changed(tmp_path, "38", "38", span=None))
    with pytest.raises(InputError, match="key 'span': must be a list"):
        read_release(changed(tmp_path, "38", "38", span=[9, 1]))
    with pytest.raises(InputError, match="means or medians of several columns"):
        read_release(changed(tmp_path, "median_age", "median_race"))
