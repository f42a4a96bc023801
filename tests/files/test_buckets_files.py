"""Bucketized releases in files: those of Tacit, those of other tools, and pairs that do not fit together."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.files.buckets import write_buckets
from tacit.model.errors import Contradiction, InputError, OptionError
from tests.buckets.made_buckets import random_buckets

PEOPLE = "sex,age,group\nF,30,1\nM,40,1\nM,50,2\nF,20,2\nF,20,2\n"
VALUES = "group,ill,count\n1,flu,1\n1,cold,1\n2,flu,2\n2,gout,1\n"
#: No message may hold a value of the data.
SECRET = "canary"


def written(folder: Path, people: str = PEOPLE, values: str = VALUES) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "qit.csv").write_text(people)
    (folder / "st.csv").write_text(values)
    return folder


def same(one: tacit.Buckets, two: tacit.Buckets) -> bool:
    told = [(list(one.records()), one.n, one.names), (list(two.records()), two.n, two.names)]
    rows = [
        sorted(zip(*([c.values[x] for x in c.codes] for c in b.people.columns), b.group.tolist(), strict=True))
        for b in (one, two)
    ]
    return told[0] == told[1] and rows[0] == rows[1]


def test_a_folder_and_either_of_its_files_are_the_same_release(tmp_path: Path) -> None:
    folder = written(tmp_path / "b")
    release = tacit.read_buckets(folder)
    assert (release.n, len(release), release.sensitive, release.people.names) == (5, 2, "ill", ("sex", "age"))
    assert release.contents(1) == {"flu": 2, "gout": 1}
    assert [release.line(entry) for entry in range(4)] == [3, 2, 4, 5]
    for path in (folder, folder / "qit.csv", str(folder / "st.csv")):
        again = tacit.read_release(path)
        assert isinstance(again, tacit.Buckets)
        assert same(again, release)
    assert release.source is not None
    assert release.source.name == "qit.csv and st.csv"


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_what_is_written_is_read_back(tmp_path: Path, form: str) -> None:
    for seed in range(12):
        buckets, _, _ = random_buckets(seed, people=30)
        if buckets.n == 0:
            continue
        write_buckets(buckets, tmp_path / f"{seed}", form=form, seed=seed, facts={"l": 3})  # type: ignore[arg-type]
        again = tacit.read_buckets(tmp_path / f"{seed}")
        assert again.values == buckets.values
        assert again.n == buckets.n
        mine, theirs = (
            sorted(
                (
                    sorted(b.contents(g).items()),
                    sorted(b.people.columns[0].values[b.people.columns[0].codes[row]] for row in rows),
                )
                for g in range(len(b))
                for rows in [np.flatnonzero(b.group == g)]
            )
            for b in (buckets, again)
        )
        assert mine == theirs
        assert again.group.tolist() == sorted(again.group.tolist())
    header = json.loads((tmp_path / "1" / "buckets.json").read_text())
    assert header["format"] == "tacit.buckets/1"
    assert (header["l"], header["sa"], header["qi"]) == (3, "ill", ["kind"])
    assert "seed" not in header


def test_cells_that_need_quotation_marks_survive(tmp_path: Path) -> None:
    odd = ['a,"b"', "line\nend", "x;y", "", "ä"]
    release = tacit.read_buckets(qit={"q": odd, "group": [1] * 5}, st={"group": [1] * 5, "s": odd, "count": [1] * 5})
    for form in ("csv", "parquet"):
        write_buckets(release, tmp_path / form, form=form)
        assert sorted(tacit.read_buckets(tmp_path / form).people.columns[0].values) == sorted(odd)
        assert sorted(tacit.read_buckets(tmp_path / form).values) == sorted(odd)


def test_the_seed_changes_the_order_and_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    buckets, _, _ = random_buckets(3, people=60, kinds=9)
    texts = []
    for seed in (0, 0, 1):
        write_buckets(buckets, tmp_path / "b", seed=seed)
        texts.append((tmp_path / "b" / "qit.csv").read_text())
    assert texts[0] == texts[1] != texts[2]
    with pytest.raises(OptionError, match="holds a release in the form csv already"):
        write_buckets(buckets, tmp_path / "b", form="parquet")
    with pytest.raises(OptionError, match="the folder cannot be made"):
        write_buckets(buckets, tmp_path / "no" / "b")
    with pytest.raises(OptionError, match="there is no form"):
        write_buckets(buckets, tmp_path / "b", form="xml")  # type: ignore[arg-type]
    assert (tmp_path / "b" / "qit.csv").read_text() == texts[2]


@pytest.mark.parametrize(
    ("people", "values"),
    [
        (PEOPLE.replace("group", "Group-ID"), VALUES.replace("group", "Group-ID").replace("count", "Count")),
        (PEOPLE.replace("group", "GroupID").replace(",", "\t"), VALUES.replace("group", "gid").replace(",", ";")),
        (PEOPLE.replace("group", "bucket"), "bucket,ill\n1,flu\n1,cold\n2,flu\n2,gout\n2,flu\n"),
        (PEOPLE.replace("group", "bucket_id"), VALUES.replace("group", "bucket").replace("count", "freq")),
        (PEOPLE, VALUES.replace(",1\n", ",1.0\n")),
    ],
)
def test_pairs_of_other_tools(tmp_path: Path, people: str, values: str) -> None:
    expected = tacit.read_buckets(written(tmp_path / "own"))
    assert same(tacit.read_buckets(written(tmp_path / "other", people, values)), expected)


def test_names_endings_packed_files_and_frames(tmp_path: Path) -> None:
    import pandas

    expected = tacit.read_buckets(written(tmp_path / "own"))
    (tmp_path / "clinic_QIT.csv.gz").write_bytes(gzip.compress(PEOPLE.encode()))
    (tmp_path / "clinic_ST.csv").write_text(VALUES)
    assert same(tacit.read_buckets(tmp_path / "clinic_ST.csv"), expected)
    (tmp_path / "p.csv").write_text(PEOPLE.replace("group", "klasse"))
    (tmp_path / "v.csv").write_text(VALUES.replace("group", "klasse"))
    assert same(tacit.read_buckets(qit=tmp_path / "p.csv", st=tmp_path / "v.csv", group="klasse"), expected)
    frames = [pandas.read_csv(tmp_path / "own" / name) for name in ("qit.csv", "st.csv")]
    assert same(tacit.read_buckets(qit=frames[0], st=frames[1]), expected)
    two = frames[1].assign(pay="low")
    with pytest.raises(InputError, match="several sensitive columns: ill, pay"):
        tacit.read_buckets(qit=frames[0], st=two)
    assert same(tacit.read_buckets(qit=frames[0], st=two, sa="ill"), expected)


@pytest.mark.parametrize(
    ("people", "values", "what", "kind"),
    [
        (PEOPLE, VALUES + "3,canary,1\n", "st.csv, line 6: its group does not occur in", Contradiction),
        (PEOPLE + "F,20,7\nF,canary,7\n", VALUES, "qit.csv, lines 7 and 8: their groups do not occur in", Contradiction),
        (PEOPLE + "F,canary,2\n", VALUES, "st.csv, lines 4 and 5: the values of this group are more or fewer", Contradiction),
        (PEOPLE, VALUES.replace("2,flu,2", "2,canary,0"), "st.csv, line 4, column count: is not a whole number", InputError),
        (PEOPLE, VALUES.replace("2,flu,2", "2,flu,canary"), "st.csv, line 4, column count: is not a whole number", InputError),
        (PEOPLE, VALUES + "1,flu,1\n", "st.csv, lines 2 and 6: name the same value of the same group", InputError),
        (PEOPLE, VALUES.replace("group", "klasse"), "st.csv: has no column of groups", InputError),
        (PEOPLE.replace("age", "ill"), VALUES, "qit.csv: holds the sensitive column", InputError),
        ("group\n1\n", "group,ill\n1,canary\n", "qit.csv: has no quasi-identifying column", InputError),
        (PEOPLE, "group,count\n1,2\n2,3\n", None, None),
        (PEOPLE, "group\n1\n2\n", "st.csv: has no sensitive column", InputError),
        (PEOPLE, "group,ill,count\n", "st.csv: has a header and no rows", InputError),
        ("", VALUES, "qit.csv: is empty", InputError),
    ],
)
def test_pairs_that_do_not_fit_together(
    tmp_path: Path, people: str, values: str, what: str | None, kind: type[Exception] | None
) -> None:
    folder = written(tmp_path / "b", people, values)
    if what is None or kind is None:
        with pytest.raises(
            Contradiction
        ):  # a lone column beside the group is taken for the sensitive one: one line for each person
            tacit.read_buckets(folder)
        return
    with pytest.raises(kind) as caught:
        tacit.read_buckets(folder)
    assert what in str(caught.value)
    assert SECRET not in str(caught.value)


def test_headers_that_do_not_fit(tmp_path: Path) -> None:
    folder = written(tmp_path / "b")
    header = folder / "buckets.json"
    for text, what in (
        ("[]", "is not a header"),
        ("{", "is not a header"),
        ('{"format": "tacit.buckets/1", "n": 9}', "9 people, and the tables hold 5"),
        ('{"format": "tacit.buckets/1", "n": "5"}', "key 'n': must be a whole number"),
        ('{"format": "tacit.buckets/1", "qi": ["height"]}', "there is no column 'height'"),
        ('{"format": "tacit.buckets/1", "sa_values": [1]}', "must be a list of texts"),
    ):
        header.write_text(text)
        with pytest.raises((InputError, OptionError), match=what):
            tacit.read_buckets(folder)
    header.write_text(
        '{"format": "tacit.buckets/1", "qi": ["age"], "sa_values": ["cold", "flu", "gout", "mumps"], "note": "kept"}'
    )
    release = tacit.read_buckets(folder)
    assert (release.people.names, release.values) == (("age",), ("cold", "flu", "gout", "mumps"))


def test_calls_and_options_that_make_no_sense(tmp_path: Path) -> None:
    folder = written(tmp_path / "b")
    for call in ({}, {"folder": folder, "qit": "x"}, {"qit": "x"}):
        with pytest.raises(OptionError, match="needs a folder, or both"):
            tacit.read_buckets(**call)
    with pytest.raises(InputError, match="holds no qit and st table"):
        tacit.read_buckets(tmp_path)
    with pytest.raises(OptionError, match="are for itemsets and rules"):
        tacit.read_release(folder, only="closed")
    with pytest.raises(OptionError, match="is 9, but the release says n = 5"):
        tacit.read_release(folder, n=9)
    (folder / "st.tsv").write_text(VALUES)
    with pytest.raises(InputError, match="holds 2 tables called st"):
        tacit.read_buckets(folder)
    with pytest.raises(OptionError, match="holds buckets, which cannot be repaired"):
        tacit.repair(tacit.read_buckets(qit=folder / "qit.csv", st=folder / "st.csv"), method="round")


def test_a_column_called_group_gets_another_name_beside_it(tmp_path: Path) -> None:
    people = tacit.read_table({"group": ["a", "b"], "ill": ["flu", "cold"]}, qi="group", sa="ill")
    buckets = tacit.Buckets.of(people.qi, people.sa, np.zeros(2, np.int32))
    tacit.write_release(buckets, tmp_path / "b")
    assert (tmp_path / "b" / "qit.csv").read_text().splitlines()[0] == "group,group_id"
    again = tacit.read_buckets(tmp_path / "b")
    assert again.people.names == ("group",)
    assert set(tacit.audit(again).table("posterior")) == {"group", "ill", "group_id", "posterior"}


@pytest.mark.parametrize("odd", ["", "007", "+5", "1.0", "-3", "x"])
def test_columns_of_many_whole_numbers_are_text_like_any_other(tmp_path: Path, odd: str) -> None:
    cells = [*(str(number) for number in range(6000, 0, -1)), odd, "12", "6000"]
    (tmp_path / "t.csv").write_text("id,x\n" + "".join(f"{cell},a\n" for cell in cells))
    column = tacit.read_table(tmp_path / "t.csv").column("id")
    assert [column.values[code] for code in column.codes] == cells
    assert list(column.values) == sorted(set(cells))
