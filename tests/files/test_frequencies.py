"""Frequency tables: how cells are read from files and frames of any origin, what is refused, and what is counted."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.files.frequency_cells import HIDDEN_MARKS, CellText, read_cell
from tacit.model.errors import Contradiction, InputError, OptionError
from tacit.model.frequencies import UNBOUNDED, CellPrinting, FrequencyTable
from tacit.model.table import Table

PEOPLE = Table.from_rows(
    ["sex", "job", "ill"],
    [("F", "cook", "no")] * 12 + [("F", "clerk", "yes")] * 3 + [("M", "cook", "yes")] * 7 + [("M", "smith", "no")] * 11,
)
LONG = "sex,job,count\nF,cook,40\nF,clerk,{hidden}\nM,cook,35\nM,clerk,14\nAll,cook,75\nAll,clerk,16\nAll,All,91\n"
CROSSTAB = "sex,clerk,cook,All\nF,,40,42\nM,14,35,49\nAll,16,75,91\n"


def read(folder: Path, text: str, name: str = "table.csv", **options: Any) -> FrequencyTable:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    found = tacit.read_release(path, **options)
    assert isinstance(found, FrequencyTable)
    return found


def bounds(table: FrequencyTable) -> dict[tuple[tuple[str, str], ...], tuple[int, int]]:
    return {tuple(sorted(table.cell(i).items())): (table.count(i).lo, table.count(i).hi) for i in range(len(table))}


F_CLERK = (("job", "clerk"), ("sex", "F"))


@pytest.mark.parametrize("mark", ["", "*", "NaN", "[REDACTED]", "-", "..", "c", "x", "X", " "])
def test_a_hidden_cell_may_hold_anybody_unless_more_is_known(tmp_path: Path, mark: str) -> None:
    text = LONG.format(hidden=mark)
    assert bounds(read(tmp_path, text))[F_CLERK] == (0, 91)
    assert bounds(read(tmp_path, text, hidden_below=10))[F_CLERK] == (0, 9)
    assert bounds(read(tmp_path, text, hidden_below=10, zeros_shown=True))[F_CLERK] == (1, 9)


@pytest.mark.parametrize(
    ("mark", "ends"), [("<5", (0, 4)), ("< 5", (0, 4)), ("<=5", (0, 5)), ("1-4", (1, 4)), ("2+", (2, 91)), ("≥ 2", (2, 91))]
)
def test_a_mark_may_say_itself_how_small_its_cell_is(tmp_path: Path, mark: str, ends: tuple[int, int]) -> None:
    assert bounds(read(tmp_path, LONG.format(hidden=mark)))[F_CLERK] == ends


def test_every_known_mark_is_one_and_other_words_are_none() -> None:
    assert {read_cell(mark) for mark in HIDDEN_MARKS} == {CellText(None)}
    assert [read_cell(text) for text in ("about 5", "-3", "1.5", "1e3", "<0", "5-2", "12,34")] == [None] * 7
    assert [read_cell(text).number for text in ("7", "7.0", "7.", "1,234", "1 234", "12'345")] == [7, 7, 7, 1234, 1234, 12345]  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["count", "n", "N", "freq", "Freq", "frequency", "Count"])
def test_the_column_of_the_counts_has_many_names(tmp_path: Path, name: str) -> None:
    found = read(tmp_path, f"sex;{name}\nF;3\nM;4\n")
    assert (found.columns, found.n, found.header.complete) == (("sex",), 7, True)


def test_a_crosstab_is_read_once_its_columns_have_names(tmp_path: Path) -> None:
    found = read(tmp_path, CROSSTAB, by="sex,job")
    assert found.n == 91
    assert bounds(found) == bounds(read(tmp_path, LONG.format(hidden=""), "long.csv")) | {
        (("sex", "F"),): (42, 42),
        (("sex", "M"),): (49, 49),
    }
    assert [found.place(index) for index in range(3)] == ["B2", "C2", "D2"]
    (tmp_path / "numbers.csv").write_text("age,no,yes\n17,12,30\n18,14,31\n")
    with pytest.raises(InputError, match="--by ROWS,COLUMN"):
        tacit.read_release(tmp_path / "numbers.csv", form="crosstab")


def test_a_crosstab_may_have_several_columns_down(tmp_path: Path) -> None:
    found = read(tmp_path, "sex,age,no,yes\nF,old,5,1\nF,young,6,0\nM,old,7,\n", by="sex,age,ill")
    assert bounds(found)[(("age", "young"), ("ill", "yes"), ("sex", "F"))] == (0, 0)
    assert found.n is None


def test_frames_are_read_like_files() -> None:
    frame = pd.DataFrame({column.name: [column.values[code] for code in column.codes] for column in PEOPLE.columns})
    long = tacit.read_release(frame.groupby(["sex", "job"]).size().reset_index(name="count"))
    cross = tacit.read_release(pd.crosstab(frame.sex, frame.job, margins=True))
    hidden = pd.crosstab(frame.sex, frame.job).astype(float)
    hidden[hidden < 5] = np.nan
    assert isinstance(long, FrequencyTable)
    assert isinstance(cross, FrequencyTable)
    assert cross.columns == ("sex", "job")
    assert long.n is None  # combinations that nobody has are not listed, so that the cells may not be all
    assert cross.n == 33
    known = bounds(cross)
    assert {cell: ends for cell, ends in bounds(long).items() if known[cell] != ends} == {}
    partly = tacit.read_release(hidden, n=33, hidden_below=5)
    assert isinstance(partly, FrequencyTable)
    assert bounds(partly)[(("job", "clerk"), ("sex", "F"))] == (0, 4)


@pytest.mark.parametrize(
    ("rounding", "ends"),
    [("nearest", (8, 12)), ("random", (6, 14)), ("up", (6, 10)), ("truncated", (10, 14)), ("unknown", (6, 14))],
)
def test_rounded_counts_stand_for_all_that_print_so(tmp_path: Path, rounding: Any, ends: tuple[int, int]) -> None:
    found = read(tmp_path, "sex,count\nF,10\nM,25\n", base=5, rounding=rounding, n=35)
    assert (found.count(0).lo, found.count(0).hi) == ends
    assert found.header.base == 5


def test_what_is_printed_is_not_small_where_small_cells_are_hidden() -> None:
    how = CellPrinting(hidden_below=10, zeros_shown=True, base=5)
    lo, hi = how.numbers(np.array([0, 10, 15]), 100)
    assert list(zip(lo.tolist(), hi.tolist(), strict=True)) == [(0, 0), (10, 12), (13, 17)]
    assert CellPrinting().hidden(None) == (0, UNBOUNDED)


@pytest.mark.parametrize(
    ("text", "options", "what", "lines"),
    [
        ("a,count\nx,5\ny,6\nAll,10\n", {}, "below the sum of its parts", (2, 3, 4)),
        ("a,count\nx,5\ny,6\nAll,12\n", {}, "above the sum of its parts", (2, 3, 4)),
        ("a,b,count\nx,p,5\nx,q,6\nx,*,10\n", {}, "total of line 4 is below", (2, 3, 4)),
        ("a,count\nx,5\ny,7\n", {"base": 5}, "not a multiple of the base 5", (3,)),
        ("a,count\nx,5\ny,70\n", {"hidden_below": 10}, "could not be printed", (2,)),
        ("a,count\nx,0\ny,70\n", {"hidden_below": 10}, "could not be printed", (2,)),
        ("a,count\nx,5\ny,70\n", {"n": 60}, "above n = 60", (3,)),
        ("a,count\nx,50-60\ny,2\n", {"n": 40}, "no number of people fits", (2,)),
    ],
)
def test_numbers_that_cannot_be_are_named(
    tmp_path: Path, text: str, options: dict[str, Any], what: str, lines: tuple[int, ...]
) -> None:
    with pytest.raises(Contradiction, match=what) as caught:
        read(tmp_path, text, **options)
    assert caught.value.lines == lines


def test_parts_may_be_less_than_their_total_where_values_are_left_out(tmp_path: Path) -> None:
    found = read(tmp_path, "a,count\nx,5\ny,6\nAll,12\n", complete=False)
    assert found.n == 12
    told = [finding.statement for finding in tacit.audit(found, policy=tacit.Policy(k=3)).findings]
    assert told == ["1 person has neither a=x nor a=y."]


@pytest.mark.parametrize(
    ("text", "options", "what"),
    [
        ("a,count\nx,5\nx,6\n", {}, "line 3: the cell is listed twice, first in line 2"),
        ("a,count\nx,five\n", {}, "neither a number nor a mark"),
        ("a,,count\nx,y,5\n", {}, "a column has no name"),
        ("a,a,count\nx,y,5\n", {}, "same name"),
        ("a,count,Count\nx,y,5\n", {}, "may both hold the counts"),
        ("a,b\nx,5\n", {"form": "frequencies"}, "no column holds counts"),
        ("a,count\nx,5\n", {"only": "closed"}, "--only"),
        ("a,count\nx,5\n", {"hidden_below": 0}, "--hidden-below"),
        ("a,count\nx,5\n", {"base": 1}, "--base"),
        ("a,count\nx,5\n", {"rounding": "sideways", "form": "mlxtend"}, "--rounding"),
        ("a,count\nx,5\n", {"hidden_below": 3, "form": "mlxtend"}, "frequency tables"),
        ("a,5\nx,5\n", {"by": "a,b,c,d"}, "too few"),
        ("", {"form": "frequencies"}, "is empty"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(tmp_path: Path, text: str, options: dict[str, Any], what: str) -> None:
    with pytest.raises((InputError, OptionError), match=what):
        read(tmp_path, text, **options)


def test_no_message_repeats_a_cell(tmp_path: Path) -> None:
    for text in ("canary,count\ncanary1,canary2\n", "a,count\ncanary,1\ncanary,2\n", "a,count\ncanary,5\nAll,4\n"):
        with pytest.raises(InputError) as caught:
            read(tmp_path, text)
        assert "canary1" not in str(caught.value)
        assert "canary2" not in str(caught.value)
        assert "canary," not in str(caught.value).replace("canary,count", "")


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet"])
def test_tables_come_back_as_they_were_written(tmp_path: Path, name: str) -> None:
    made = tacit.tabulate(PEOPLE, by=["sex,job", "ill"], total=True, hide_below=5, round_to=3)
    tacit.write_release(made, tmp_path / name)
    back = tacit.read_release(tmp_path / name)
    assert isinstance(back, FrequencyTable)
    assert (back.columns, back.values, back.n, back.printing) == (made.columns, made.values, made.n, made.printing)
    for one in ("codes", "lo", "hi"):
        assert getattr(back, one).tolist() == getattr(made, one).tolist()
    assert list(back.records()) == list(made.records())
    if name == "t.csv.gz":
        assert gzip.decompress((tmp_path / name).read_bytes()).startswith(b"sex,job,ill,count\n")


def test_a_second_writing_is_the_same_to_the_byte(tmp_path: Path) -> None:
    for name in ("one.csv", "two.csv"):
        tacit.write_release(tacit.tabulate(PEOPLE, by="sex,job", hide_below=5), tmp_path / name)
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    assert (tmp_path / "one.csv.json").read_bytes() == (tmp_path / "two.csv.json").read_bytes()


def test_a_value_that_looks_like_any_value_gets_another_mark(tmp_path: Path) -> None:
    odd = Table.from_rows(["a", "b"], [("*", "x")] * 4 + [("All", "y")] * 6)
    made = tacit.tabulate(odd, by="a,b", total=True)
    assert made.any_mark == "**"
    tacit.write_release(made, tmp_path / "t.csv")
    assert list(tacit.read_release(tmp_path / "t.csv").records()) == list(made.records())


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("n", -1),
        ("n", "many"),
        ("complete", "yes"),
        ("hidden_below", 0),
        ("rounding", "nearest"),
        ("rounding", {"base": 1}),
        ("rounding", {"base": 5, "mode": "odd"}),
        ("columns", ["sex", "gone"]),
        ("any", 3),
        ("missing_rule", "never"),
    ],
)
def test_a_wrong_header_is_named(tmp_path: Path, entry: str, value: object) -> None:
    tacit.write_release(tacit.tabulate(PEOPLE, by="sex"), tmp_path / "t.csv")
    header = json.loads((tmp_path / "t.csv.json").read_text())
    (tmp_path / "t.csv.json").write_text(json.dumps(header | {entry: value}))
    with pytest.raises(InputError, match=f"key '{entry}'"):
        tacit.read_release(tmp_path / "t.csv")


def test_options_may_not_contradict_the_header(tmp_path: Path) -> None:
    tacit.write_release(tacit.tabulate(PEOPLE, by="sex", hide_below=5, round_to=5), tmp_path / "t.csv")
    options: list[dict[str, Any]] = [{"hidden_below": 6}, {"base": 3}, {"n": 12}, {"rounding": "random"}]
    for option in options:
        with pytest.raises(OptionError, match="says"):
            tacit.read_release(tmp_path / "t.csv", **option)


def test_tables_count_everybody_in_every_cell() -> None:
    made = tacit.tabulate(PEOPLE, by=["sex,job", ["ill"]])
    assert [(record["sex"], record["job"], record["ill"], record["count"]) for record in made.records()] == [
        ("F", "clerk", "*", 3),
        ("F", "cook", "*", 12),
        ("F", "smith", "*", 0),
        ("M", "clerk", "*", 0),
        ("M", "cook", "*", 7),
        ("M", "smith", "*", 11),
        ("*", "*", "no", 23),
        ("*", "*", "yes", 10),
    ]
    assert made.tables() == (("sex", "job"), ("ill",))


def test_all_margins_up_to_some_ways() -> None:
    made = tacit.tabulate(PEOPLE, by="sex,job,ill", ways=2)
    assert made.tables() == (("sex", "job"), ("sex", "ill"), ("job", "ill"), ("sex",), ("job",), ("ill",))
    assert len(tacit.tabulate(PEOPLE, by="sex,job", total=True)) == 6 + 2 + 3 + 1


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"by": "sex,jbo"}, "job"),
        ({"by": []}, "names no column"),
        ({"by": ""}, "names no column"),
        ({"by": "sex,sex"}, "twice"),
        ({"by": "sex", "ways": 2}, "--ways"),
        ({"by": "sex", "hide_below": 0}, "--hide-below"),
        ({"by": "sex", "round_to": 1}, "--round"),
        ({"by": "sex", "show_zeros": True}, "--show-zeros"),
    ],
)
def test_tables_that_make_no_sense_are_refused(options: dict[str, Any], what: str) -> None:
    with pytest.raises(OptionError, match=what):
        tacit.tabulate(PEOPLE, **options)


def test_too_many_cells_are_refused_before_they_are_made() -> None:
    wide = Table.from_rows([f"c{place}" for place in range(7)], [tuple(str(row) for _ in range(7)) for row in range(30)])
    with pytest.raises(OptionError, match="21,870,000,000 cells"):
        tacit.tabulate(wide, by=",".join(wide.names))


def test_extremes() -> None:
    nobody = tacit.tabulate(Table.from_rows(["a"], []), by="a", total=True)
    assert (len(nobody), nobody.n) == (1, 0)
    assert tacit.audit(nobody, sa="none").verdict == "clean"
    one = tacit.tabulate(Table.from_rows(["a"], [("x",)]), by="a", total=True)
    assert [finding.statement for finding in tacit.audit(one).findings] == ["1 person has a=x."]


def test_transactions_have_no_cells() -> None:
    with pytest.raises(OptionError, match="no columns"):
        tacit.tabulate([["a", "b"]], by="a")


def test_a_table_of_its_own_is_no_other_kind() -> None:
    made = tacit.tabulate(PEOPLE, by="sex,job")
    with pytest.raises(OptionError, match="cannot be repaired"):
        tacit.repair(made, method="round")
    with pytest.raises(OptionError, match="--pattern"):
        tacit.support_of(made, pattern="sex=F")
    with pytest.raises(OptionError, match="--knowledge"):
        tacit.audit(made, knowledge=[({"sex": "F"}, "cook")])


def test_a_hidden_cell_of_many_columns_is_a_question_of_its_own() -> None:
    """Four columns: what the totals leave of the one hidden cell is told, or its being open is counted."""
    rows = [("0", "0", "0", "0")] * 30 + [("1", "0", "1", "0")] * 20 + [("1", "1", "1", "1")] * 2
    people = Table.from_rows(["a", "b", "c", "d"], rows)
    made = tacit.tabulate(people, by=["a,b,c,d", "a"], hide_below=5, show_zeros=True)
    audit = tacit.audit(made)
    assert "2 people have a=1, b=1, c=1 and d=1." in {finding.statement for finding in audit.findings} or any(
        finding.count.lo == finding.count.hi == 2 for finding in audit.findings
    )
    apart = tacit.tabulate(people, by="a,b,c,d", hide_below=25, show_zeros=True)
    run = tacit.audit(apart, policy=tacit.Policy(k=25)).attack("X01")
    assert run.findings + run.undecided > 0
