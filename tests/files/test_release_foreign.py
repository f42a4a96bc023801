"""Release files of other programs, read as they are."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from mlxtend.frequent_patterns import association_rules, fpgrowth

import tacit
from tacit.files.recognition import FORMATS, find_format
from tacit.files.releases import read_listed
from tacit.model.errors import Contradiction, InputError, OptionError
from tacit.model.release import Itemsets, Release, Rules

ROWS = [["a", "b", "c"], ["a", "b"], ["a", "c"], ["b"], ["a", "it's", 'say "x"'], ["a", "b", "c"], ["c"]]
NAMES = sorted({item for row in ROWS for item in row})


def one_hot() -> pd.DataFrame:
    return pd.DataFrame([[name in row for name in NAMES] for row in ROWS], columns=NAMES)


def true_counts(least: int = 1) -> dict[frozenset[str], int]:
    found: dict[frozenset[str], int] = {}
    for mask in range(1, 2 ** len(NAMES)):
        items = frozenset(name for i, name in enumerate(NAMES) if mask >> i & 1)
        count = sum(items <= set(row) for row in ROWS)
        if count >= least:
            found[items] = count
    return found


def counts(release: Release) -> dict[frozenset[str], tuple[int, int]]:
    assert isinstance(release, Itemsets)
    return {frozenset(release.names(i)): (int(release.lo[i]), int(release.hi[i])) for i in range(len(release))}


def exact(release: Release) -> dict[frozenset[str], int]:
    found = counts(release)
    assert all(lo == hi for lo, hi in found.values())
    return {items: lo for items, (lo, _) in found.items()}


def of_rules(release: Release) -> dict[tuple[frozenset[str], frozenset[str]], tuple[list[int], list[int]]]:
    assert isinstance(release, Rules)
    names = release.items.names
    return {
        (frozenset(names[i] for i in release.antecedents[r]), frozenset(names[i] for i in release.consequents[r])): (
            release.count(r).to_list(),
            release.whole(r).to_list(),
        )
        for r in range(len(release))
    }


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


class TestMlxtend:
    @pytest.mark.parametrize("index", [True, False])
    def test_itemsets_of_a_real_run(self, tmp_path: Path, index: bool) -> None:
        frame = fpgrowth(one_hot(), 1 / 7, use_colnames=True)
        frame.to_csv(tmp_path / "m.csv", index=index)
        assert find_format(tmp_path / "m.csv").name == "mlxtend"
        got = read_listed(tmp_path / "m.csv", n=len(ROWS))
        assert exact(got) == true_counts()
        assert got.support is None  # doubles in full: the counts are published
        assert (got.header.complete, got.line(0)) == (False, 2)

    def test_numbers_as_items(self, tmp_path: Path) -> None:
        frame = fpgrowth(one_hot(), 1 / 7)
        frame.to_csv(tmp_path / "m.csv")
        got = read_listed(tmp_path / "m.csv", n=len(ROWS))
        assert exact(got) == {frozenset(str(NAMES.index(i)) for i in items): count for items, count in true_counts().items()}

    @pytest.mark.filterwarnings("ignore:invalid value")
    @pytest.mark.parametrize("as_file", [True, False])
    def test_rules_of_a_real_run(self, tmp_path: Path, as_file: bool) -> None:
        frame = association_rules(fpgrowth(one_hot(), 1 / 7, use_colnames=True), min_threshold=0.5)
        frame.to_csv(tmp_path / "m.csv", index=False)
        got = of_rules(read_listed(tmp_path / "m.csv" if as_file else frame, n=len(ROWS)))
        truth = true_counts()
        assert len(got) == len(frame)
        assert all(part == [truth[a | c]] * 2 and whole == [truth[a]] * 2 for (a, c), (part, whole) in got.items())

    def test_frames_of_every_library(self) -> None:
        frame = fpgrowth(one_hot(), 1 / 7, use_colnames=True)
        lists = {"support": frame["support"].tolist(), "itemsets": [sorted(items) for items in frame["itemsets"]]}
        for given in (frame, pl.DataFrame(lists), pl.DataFrame(lists).lazy(), pa.table(lists)):
            got = read_listed(given, n=len(ROWS))
            assert exact(got) == true_counts()
            assert (got.source, got.line(0)) == (None, 1)

    def test_frame_read_back_from_csv(self, tmp_path: Path) -> None:
        fpgrowth(one_hot(), 1 / 7, use_colnames=True).to_csv(tmp_path / "m.csv")
        assert exact(read_listed(pd.read_csv(tmp_path / "m.csv"), n=len(ROWS))) == true_counts()

    def test_rounded_supports_are_intervals(self) -> None:
        frame = fpgrowth(one_hot(), 1 / 7, use_colnames=True).round(2)
        got = counts(read_listed(frame, n=700, rounding="nearest"))
        assert got[frozenset("a")] == (494, 500)  # 0.71

    def test_floats_of_32_bits(self) -> None:
        frame = pd.DataFrame({"support": np.array([1 / 3, 2 / 3], np.float32), "itemsets": [frozenset("a"), frozenset("b")]})
        assert exact(read_listed(frame, n=300)) == {frozenset("a"): 100, frozenset("b"): 200}

    def test_doubles_in_full_are_not_truncated(self) -> None:
        frame = fpgrowth(one_hot(), 1 / 7, use_colnames=True)
        assert exact(read_listed(frame, n=len(ROWS), rounding="truncated")) == true_counts()

    def test_other_ways_to_print_a_set(self, tmp_path: Path) -> None:
        text = (
            "support,itemsets\n0.5,\"{'a', \"\"b\"\"}\"\n0.5,['a' ]\n0.25,\"('a', 'c',)\"\n"
            "0.25,set(['d\\x41'])\n1,frozenset()\n0.25,\"[1, 2]\"\n"
        )
        got = exact(read_listed(put(tmp_path, "m.csv", text), n=4))
        assert set(got) == {frozenset("ab"), frozenset("a"), frozenset("ac"), frozenset(["dA"]), frozenset("12")}

    @pytest.mark.parametrize(
        "cell",
        [
            "a",
            "frozenset('a')",
            "frozenset({'a'}",
            "frozenset({'a' 'b'})",
            "__import__('os')",
            "frozenset({f(g('a'))})",
            "frozenset({'\\xZZ'})",
            "",
        ],
    )
    def test_what_is_no_set(self, tmp_path: Path, cell: str) -> None:
        quoted = '"' + cell.replace('"', '""') + '"'
        path = put(tmp_path, "m.csv", f"support,itemsets\n0.5,frozenset({{'a'}})\n0.5,{quoted}\n")
        with pytest.raises(InputError) as caught:
            read_listed(path, n=4)
        assert str(caught.value).startswith("m.csv, line 3, column 'itemsets': is not a printed set. ")

    def test_asks_for_n(self, tmp_path: Path) -> None:
        path = put(tmp_path, "m.csv", "support,itemsets\n0.5,frozenset({'a'})\n")
        with pytest.raises(
            InputError, match=r"^m\.csv, line 2, column 'support': is a share.*or the number of people with --n N"
        ):
            read_listed(path)

    def test_frame_errors(self) -> None:
        with pytest.raises(InputError, match=r"^frame: the columns are not those of a known release"):
            read_listed(pd.DataFrame({"x": [7]}))
        for one_hot in (pd.DataFrame({"a": [True, False], "b": [True, True]}), pd.DataFrame({"a": [1, 0], "b": [0, 0]})):
            with pytest.raises(InputError, match=r"If they are one-hot, mine them with tacit\.mine_itemsets"):
                tacit.audit(one_hot)
        with pytest.raises(InputError, match=r"If each row is a person, name the columns with qi= and sa="):
            tacit.audit(pd.DataFrame({"a": [True, False], "b": ["x", "y"]}))
        with pytest.raises(InputError, match=r"^frame, row 2, column 'itemsets': is not a set of items"):
            read_listed(pd.DataFrame({"support": [0.5, 0.5], "itemsets": [frozenset("a"), 3]}), n=2)


class TestArules:
    RULES = '"rules","support","confidence","coverage","lift","count"\n'

    def test_itemsets_as_written_by_default(self, tmp_path: Path) -> None:
        text = '"items" "support" "count"\n"1" "{a,b}" 0.3 30\n"2" "{age=[20,30),sex=F}" 0.25 25\n"3" "{say \\"x\\"}" 0.5 50\n'
        got = read_listed(put(tmp_path, "r.txt", text))
        assert exact(got) == {frozenset("ab"): 30, frozenset(["age=[20,30)", "sex=F"]): 25, frozenset(['say "x"']): 50}
        assert (got.line(0), find_format(tmp_path / "r.txt").name) == (2, "arules")

    @pytest.mark.parametrize("sep", [",", "\t", " "])
    @pytest.mark.parametrize("named", [True, False])
    def test_rules(self, tmp_path: Path, sep: str, named: bool) -> None:
        names = self.RULES.replace(",", sep)
        line = sep.join(['"{a,b} => {c}"', "0.3", "0.75", "0.4", "1.2", "30"])
        text = names + ('"1"' + sep if named else "") + line + "\n"
        got = of_rules(read_listed(put(tmp_path, "r.csv", text), n=100))
        assert got == {(frozenset("ab"), frozenset("c")): ([30, 30], [40, 40])}

    def test_row_names_under_an_empty_name(self, tmp_path: Path) -> None:
        text = '"","items","support","count"\n"1","{a}",0.3,30\n'
        assert exact(read_listed(put(tmp_path, "r.csv", text))) == {frozenset("a"): 30}

    def test_two_columns(self, tmp_path: Path) -> None:
        text = '"LHS","RHS","support","confidence"\n"{a,b}","{c}",0.333333333333333,1\n"{}","{c}",0.333333333333333,0.333333333333333\n'
        got = of_rules(read_listed(put(tmp_path, "r.csv", text), n=300))
        assert got[frozenset("ab"), frozenset("c")] == ([100, 100], [100, 100])
        assert got[frozenset(), frozenset("c")] == ([100, 100], [300, 300])

    def test_counts_beside_supports_give_n(self, tmp_path: Path) -> None:
        text = '"items","support","count"\n"{a}",0.333333333333333,100\n'
        assert read_listed(put(tmp_path, "r.csv", text)).n == 300

    @pytest.mark.parametrize("cell", ["a => b", "{a} => {b} => {c}", "{a}"])
    def test_what_is_no_rule(self, tmp_path: Path, cell: str) -> None:
        path = put(tmp_path, "r.csv", self.RULES + f'"{{a}} => {{b}}",0.3,0.5,0.6,1,30\n"{cell}",0.3,0.5,0.6,1,30\n')
        with pytest.raises(InputError, match=r"^r\.csv, line 3, column 'rules': is not a rule\."):
            read_listed(path, n=100)

    def test_what_is_no_set(self, tmp_path: Path) -> None:
        path = put(tmp_path, "r.csv", '"items","support","count"\n"{a}",0.3,30\n"b",0.3,30\n')
        with pytest.raises(InputError, match=r"^r\.csv, line 3, column 'items': is not a set in braces\."):
            read_listed(path)


class TestSpmf:
    def test_itemsets(self, tmp_path: Path) -> None:
        got = read_listed(put(tmp_path, "s.txt", "1 #SUP: 7\n\n1 2 #SUP: 5\n10 2 1 #SUP: 3\n"))
        assert exact(got) == {frozenset("1"): 7, frozenset("12"): 5, frozenset(["10", "1", "2"]): 3}
        assert ([got.line(i) for i in range(3)], got.n, got.items.names) == ([1, 3, 4], None, ("1", "2", "10"))

    def test_names(self, tmp_path: Path) -> None:
        text = "@CONVERTED_FROM_TEXT\n@ITEM=1=bread\n@ITEM=2=a=b c\n1 2 #SUP: 5\n"
        assert exact(read_listed(put(tmp_path, "s.txt", text))) == {frozenset(["bread", "a=b c"]): 5}

    def test_rules(self, tmp_path: Path) -> None:
        text = "1 2 ==> 3 #SUP: 3 #CONF: 0.75 #LIFT: 1.5\n4,5 ==> 6 #SUP: 2 #CONF: 0.6666666666666666\n"
        got = of_rules(read_listed(put(tmp_path, "s.txt", text)))
        assert got == {
            (frozenset("12"), frozenset("3")): ([3, 3], [4, 4]),
            (frozenset("45"), frozenset("6")): ([2, 2], [3, 3]),
        }

    def test_shares(self, tmp_path: Path) -> None:
        path = put(tmp_path, "s.txt", "1 #SUP: 0.75\n2 #SUP: 1.0\n")
        assert exact(read_listed(path, n=4)) == {frozenset("1"): 3, frozenset("2"): 4}

    @pytest.mark.parametrize(
        ("line", "what"), [("1 2 CANARY", "is not a line of SPMF"), ("1 ==> 2 #SUP: 3", "mixes itemsets and rules")]
    )
    def test_bad_lines(self, tmp_path: Path, line: str, what: str) -> None:
        with pytest.raises(InputError) as caught:
            read_listed(put(tmp_path, "s.txt", f"1 #SUP: 7\n{line}\n"))
        assert str(caught.value).startswith(f"s.txt, line 2: {what}")
        assert "CANARY" not in str(caught.value)


class TestBorgelt:
    def test_percentages(self, tmp_path: Path) -> None:
        path = put(tmp_path, "b.txt", "a b (12.3)\na (50)\n")
        assert counts(read_listed(path, n=1000)) == {frozenset("ab"): (123, 123), frozenset("a"): (500, 500)}
        with pytest.raises(InputError, match=r"^b\.txt, line 1, column 'support': is a share"):
            read_listed(path)

    def test_counts(self, tmp_path: Path) -> None:
        path = put(tmp_path, "b.txt", "(8124)\n1 2 (813)\n1 (25)\n2 (900)\n".replace("1 (25)", "1 (5000)"))
        got = read_listed(path)
        assert exact(got) == {frozenset("12"): 813, frozenset("1"): 5000, frozenset("2"): 900}
        assert got.n == 8124

    def test_the_form_decides_where_numbers_do_not(self, tmp_path: Path) -> None:
        path = put(tmp_path, "b.txt", "1 2 (5)\n1 (25)\n")
        assert exact(read_listed(path, form="fimi")) == {frozenset("12"): 5, frozenset("1"): 25}
        assert exact(read_listed(path, form="borgelt", n=20)) == {frozenset("12"): 1, frozenset("1"): 5}
        with pytest.raises(InputError, match="may be counts or percentages"):
            read_listed(path, n=20)

    def test_rules_print_the_support_of_the_body(self, tmp_path: Path) -> None:
        got = of_rules(read_listed(put(tmp_path, "b.txt", "c <- a b (40.0, 75.0)\n"), n=100))
        assert got == {(frozenset("ab"), frozenset("c")): ([30, 30], [40, 40])}
        got = of_rules(read_listed(put(tmp_path, "b.txt", "c <- a b (400, 75.0)\nc <-  (900, 40.0)\n")))
        assert got[frozenset("ab"), frozenset("c")] == ([300, 300], [400, 400])

    def test_bad_lines(self, tmp_path: Path) -> None:
        for line in ("a b", "a (x)", "c <- a (1, 2)", "a ()"):
            with pytest.raises(InputError, match=r"^b\.txt, line 6: does not read as items and a number"):
                read_listed(put(tmp_path, "b.txt", "a (12.5)\n" * 5 + line + "\n"), n=1000)


class TestSpark:
    TABLE = pa.table({"items": [["a"], ["a", "b"], ["c"]], "freq": pa.array([7, 5, 3], pa.int64())})

    def test_itemsets(self, tmp_path: Path) -> None:
        pq.write_table(self.TABLE, tmp_path / "s.parquet")
        got = read_listed(tmp_path / "s.parquet")
        assert exact(got) == {frozenset("a"): 7, frozenset("ab"): 5, frozenset("c"): 3}
        assert ([got.line(i) for i in range(3)], find_format(tmp_path / "s.parquet").name) == ([1, 2, 3], "spark")

    def test_folder(self, tmp_path: Path) -> None:
        folder = tmp_path / "out.parquet"
        folder.mkdir()
        pq.write_table(self.TABLE.slice(0, 1), folder / "part-00000-x.snappy.parquet")
        pq.write_table(self.TABLE.slice(1), folder / "part-00001-x.snappy.parquet")
        (folder / "_SUCCESS").touch()
        got = read_listed(folder)
        assert exact(got) == {frozenset("a"): 7, frozenset("ab"): 5, frozenset("c"): 3}
        assert got.source is not None
        assert (got.source.name, len(got.source.sha256)) == ("out.parquet", 64)
        before = got.source.sha256
        pq.write_table(self.TABLE.slice(2), folder / "part-00001-x.snappy.parquet")
        changed = read_listed(f"{folder}/").source
        assert changed is not None
        assert changed.name == "out.parquet"
        assert changed.sha256 != before

    def test_numbers_as_items_and_gzip(self, tmp_path: Path) -> None:
        table = pa.table({"items": [[1, 2], [10]], "freq": pa.array([5, 3], pa.int64())})
        pq.write_table(table, tmp_path / "s.parquet")
        (tmp_path / "s.gz").write_bytes(gzip.compress((tmp_path / "s.parquet").read_bytes()))
        assert exact(read_listed(tmp_path / "s.gz")) == {frozenset("12"): 5, frozenset(["10"]): 3}

    def test_rules(self, tmp_path: Path) -> None:
        table = pa.table(
            {
                "antecedent": [["a"], ["b"]],
                "consequent": [["c"], ["c"]],
                "confidence": [3 / 7, 0.5],
                "lift": [1.0, 2.0],
                "support": [3 / 14, 1 / 14],
            }
        )
        pq.write_table(table, tmp_path / "s.parquet")
        got = of_rules(read_listed(tmp_path / "s.parquet", n=14))
        assert got == {(frozenset("a"), frozenset("c")): ([3, 3], [7, 7]), (frozenset("b"), frozenset("c")): ([1, 1], [2, 2])}
        assert of_rules(read_listed(table, n=14)) == got
        with pytest.raises(InputError, match=r"^s\.parquet, row 1, column 'support': is a share"):
            read_listed(tmp_path / "s.parquet")

    def test_rules_without_support(self, tmp_path: Path) -> None:
        table = pa.table({"antecedent": [["a"]], "consequent": [["c"]], "confidence": [2 / 3]})
        pq.write_table(table, tmp_path / "s.parquet")
        got = of_rules(read_listed(tmp_path / "s.parquet", n=10))
        assert got == {(frozenset("a"), frozenset("c")): ([2, 6], [3, 9])}
        with pytest.raises(InputError, match=r"^s\.parquet, row 1: cannot be read without the number of people"):
            read_listed(tmp_path / "s.parquet")

    def test_frame(self) -> None:
        assert (
            exact(read_listed(self.TABLE))
            == exact(read_listed(self.TABLE.to_pandas()))
            == {frozenset("a"): 7, frozenset("ab"): 5, frozenset("c"): 3}
        )

    def test_errors(self, tmp_path: Path) -> None:
        pq.write_table(pa.table({"x": [1]}), tmp_path / "x.parquet")
        with pytest.raises(InputError, match=r"^x\.parquet: is not recognised as a release"):
            read_listed(tmp_path / "x.parquet")
        with pytest.raises(InputError, match=r"has no lists 'items' with 'freq'"):
            read_listed(tmp_path / "x.parquet", form="spark")
        (tmp_path / "cut.parquet").write_bytes((tmp_path / "x.parquet").read_bytes()[:-20])
        with pytest.raises(InputError, match=r"is damaged"):
            read_listed(tmp_path / "cut.parquet")
        (tmp_path / "none").mkdir()
        with pytest.raises(InputError, match=r"the folder holds no Parquet file"):
            read_listed(tmp_path / "none")


PMML = """<?xml version="1.0"?>
<PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4">
  <Header copyright="x"/>
  <DataDictionary><DataField name="item" optype="categorical" dataType="string"/></DataDictionary>
  <AssociationModel functionName="associationRules" numberOfTransactions="4" numberOfItems="3" minimumSupport="0.5"
                    minimumConfidence="0.6" numberOfItemsets="3" numberOfRules="1">
    <MiningSchema><MiningField name="item"/></MiningSchema>
    <Item id="1" value="Cracker"/>
    <Item id="2" field="drink" category="water"/>
    <Itemset id="1" support="1.0" numberOfItems="1"><ItemRef itemRef="1"/></Itemset>
    <Itemset id="2" support="0.75" numberOfItems="1"><ItemRef itemRef="2"/></Itemset>
    <Itemset id="3" support="0.75" numberOfItems="2"><ItemRef itemRef="1"/><ItemRef itemRef="2"/></Itemset>
    RULES
  </AssociationModel>
</PMML>
"""
ONE_RULE = '<AssociationRule support="0.75" confidence="0.75" antecedent="1" consequent="2"/>'


class TestPmml:
    def test_rules(self, tmp_path: Path) -> None:
        got = read_listed(put(tmp_path, "m.xml", PMML.replace("RULES", ONE_RULE)))
        assert of_rules(got) == {(frozenset(["Cracker"]), frozenset(["drink=water"])): ([3, 3], [4, 4])}
        assert (got.n, got.min_support, str(got.header.min_confidence), got.line(0)) == (4, 2, "3/5", 13)

    def test_itemsets(self, tmp_path: Path) -> None:
        got = read_listed(put(tmp_path, "m.pmml", PMML.replace("RULES", "").replace(' xmlns="http://www.dmg.org/PMML-4_4"', "")))
        assert exact(got) == {frozenset(["Cracker"]): 4, frozenset(["drink=water"]): 3, frozenset(["Cracker", "drink=water"]): 3}
        assert ([got.line(i) for i in range(3)], got.header.complete) == ([10, 11, 12], False)

    def test_n_against_the_file(self, tmp_path: Path) -> None:
        path = put(tmp_path, "m.xml", PMML.replace("RULES", ONE_RULE))
        with pytest.raises(OptionError, match=r"^--n: is 5, but m.xml says n = 4"):
            read_listed(path, n=5)
        (tmp_path / "m.xml.json").write_text(json.dumps({"format": "tacit.rules/1", "n": 5}))
        with pytest.raises(InputError, match=r"^m\.xml, line 5: numberOfTransactions is not n = 5"):
            read_listed(path)

    @pytest.mark.parametrize(
        ("old", "new", "where", "what"),
        [
            ("<PMML", '<!DOCTYPE x [<!ENTITY c "CANARY">]>\n<PMML', "m.xml, line 2", "a document type declaration is not read"),
            ("</PMML>", "", "m.xml, line 16", "is not well-formed XML"),
            ("AssociationModel", "OtherModel", "m.xml", "holds no AssociationModel"),
            ('antecedent="1"', 'antecedent="9"', "m.xml, line 13", "the antecedent of a rule names no Itemset"),
            ('consequent="2"', "", "m.xml, line 13", "the consequent of a rule names no Itemset"),
            (
                'itemRef="2"/></Itemset>\n    <Itemset id="3"',
                'itemRef="7"/></Itemset>\n    <Itemset id="3"',
                "m.xml, line 11",
                "an ItemRef names no Item",
            ),
            ('Itemset id="2"', 'Itemset id="1"', "m.xml, line 11", "an Itemset has the id of another one"),
            ('Item id="1"', "Item", "m.xml, line 8", "Item has no attribute 'id'"),
            (
                'numberOfTransactions="4"',
                'numberOfTransactions="four"',
                "m.xml, line 5",
                "numberOfTransactions is not a whole number",
            ),
            (
                'minimumSupport="0.5"',
                'minimumSupport="50"',
                "m.xml, line 5",
                "minimumSupport or minimumConfidence is not a share",
            ),
            (
                'minimumConfidence="0.6"',
                'minimumConfidence="x"',
                "m.xml, line 5",
                "minimumSupport or minimumConfidence is not a share",
            ),
            ("</PMML>", "<AssociationModel/></PMML>", "m.xml, line 15", "is a second AssociationModel"),
        ],
    )
    def test_errors(self, tmp_path: Path, old: str, new: str, where: str, what: str) -> None:
        text = PMML.replace("RULES", ONE_RULE)
        assert old in text
        with pytest.raises(InputError) as caught:
            read_listed(put(tmp_path, "m.xml", text.replace(old, new)))
        assert (caught.value.where, caught.value.what[: len(what)]) == (where, what)
        assert "CANARY" not in str(caught.value)


class TestForms:
    @pytest.mark.parametrize(
        ("text", "what", "remedy"),
        [
            ("age,CANARY\n30,CANARY\n", "2 columns, separated by commas, 1 of them numbers; 1 row", "say --count COLUMN"),
            ("CANARY;b;c\nx;1.5;2\ny;3;4\n", "3 columns, separated by semicolons, 2 of them numbers; 2 rows", "--by ROWS,COLUMN"),
            (
                "a\tCANARY\nF\t1\nF\t2\n",
                "2 columns, separated by tabs, 1 of them numbers; 2 rows",
                "--qi COLUMNS and --sa COLUMN",
            ),
            ("CANARY\nCANARY\n", "text of 2 lines without columns", "Say which program wrote it with --form"),
        ],
    )
    def test_unknown_content_is_described(self, tmp_path: Path, text: str, what: str, remedy: str) -> None:
        with pytest.raises(InputError) as caught:
            tacit.read_release(put(tmp_path, "x.csv", text))
        assert caught.value.what == f"is not recognised as a release ({what})"
        assert remedy in caught.value.remedy
        assert "CANARY" not in str(caught.value)
        if "--form" in remedy:
            assert all(entry.name in caught.value.remedy for entry in FORMATS)

    def test_empty_and_missing(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"^x\.csv: is empty\."):
            read_listed(put(tmp_path, "x.csv", "\n \n"))
        with pytest.raises(InputError, match=r"there is no such file"):
            read_listed(tmp_path / "none.csv")

    @pytest.mark.parametrize("form", [entry.name for entry in FORMATS])
    def test_a_forced_form_that_does_not_fit(self, tmp_path: Path, form: str) -> None:
        with pytest.raises(InputError):
            read_listed(put(tmp_path, "x.csv", "age,sex\n30,f\n"), form=form)

    def test_a_header_beside_a_foreign_file(self, tmp_path: Path) -> None:
        path = put(tmp_path, "s.txt", "1 #SUP: 7\n")
        header: dict[str, Any] = {"format": "tacit.itemsets/1", "n": 9, "min_support": 5, "complete": True, "only": "closed"}
        (tmp_path / "s.txt.json").write_text(json.dumps(header))
        got = read_listed(path)
        assert isinstance(got, Itemsets)
        assert (got.n, got.min_support, got.header.complete, got.only) == (9, 5, True, "closed")

    @pytest.mark.parametrize("text", ["[1, 2]", "{", '{"something": "else"}'])
    def test_a_foreign_json_file_beside_a_foreign_file(self, tmp_path: Path, text: str) -> None:
        put(tmp_path, "s.txt.json", text)
        with pytest.raises(InputError, match=r"^s\.txt\.json"):
            read_listed(put(tmp_path, "s.txt", "1 #SUP: 7\n"))

    def test_below_the_threshold_of_the_header(self, tmp_path: Path) -> None:
        (tmp_path / "s.txt.json").write_text(json.dumps({"format": "tacit.itemsets/1", "min_support": 8}))
        with pytest.raises(
            Contradiction, match=r"^s\.txt, line 1: no whole number of people prints so and reaches the min_support of 8"
        ):
            read_listed(put(tmp_path, "s.txt", "1 #SUP: 7\n"))
