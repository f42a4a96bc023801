"""Damaged release files: one sentence that names the file, never a traceback, never a value."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tacit.files.recognition import FORMATS
from tacit.files.releases import read_release, write_release
from tacit.model.errors import InputError, TacitError
from tacit.model.release import Header, Items, Itemsets, Sets
from tests.examples import examples

PMML = """<PMML version="4.4"><AssociationModel numberOfTransactions="8" minimumSupport="0.1" minimumConfidence="0.1">
<Item id="1" value="Xqz"/><Item id="2" value="butter"/>
<Itemset id="1" support="0.75"><ItemRef itemRef="1"/></Itemset><Itemset id="2" support="0.5"><ItemRef itemRef="2"/></Itemset>
<AssociationRule antecedent="1" consequent="2" support="0.375" confidence="0.5"/></AssociationModel></PMML>"""
FILES = {
    "own.csv": 'itemset,count,support\n"[""Xqz""]",6,0.75\n"[""Xqz"", ""b""]",,0.375\n[],8,\n',
    "rules.csv": 'antecedent,consequent,count,support,confidence\n"{""Xqz"": ""1""}",Xqz,3,0.375,0.75\n"{""b"": ""Xqz""}",x,,,\n',
    "mlxtend.csv": "support,itemsets\n0.75,frozenset({'Xqz'})\n0.375,\"frozenset({'Xqz', 'b'})\"\n",
    "arules.csv": '"rules","support","confidence","coverage","lift","count"\n"1","{Xqz,b} => {c}",0.25,0.5,0.5,1,2\n',
    "spmf.txt": "@ITEM=1=Xqz\n1 #SUP: 6\n1 2 #SUP: 3\n",
    "spmf-rules.txt": "1 Xqz ==> 2 #SUP: 3 #CONF: 0.75\n",
    "borgelt.txt": "Xqz (75.0)\nXqz b (37.5)\n",
    "rules.txt": "c <- Xqz b (50.0, 50.0)\n",
    "model.xml": PMML,
    "list.csv": 'order,antecedent,consequent,count\n1,"{""Xqz"": ""1""}",Xqz,3\n2,{},Xqz,1\n',
    "tree.txt": "|--- Xqz <= 2.50\n|   |--- weights: [5.00, 1.00] class: Xqz\n|--- Xqz >  2.50\n|   |--- weights: [0.00, 2.00] class: b\n",
    "naive.csv": "column,value,class,count\n,,Xqz,8\nXqz,b,Xqz,3\nXqz,c,Xqz,5\n",
}
HEADER = {"format": "tacit.itemsets/1", "n": 8, "complete": True, "rounding": "nearest", "digits": 3, "qi": ["Xqz"], "sa": "x"}

PIECES = ('"', "\n", "\r", "9" * 20, "-1", "1e999", "nan", "{", "]", "(", "=>", "<!", "&", "é", "\u2028", "٣")


@st.composite
def damaged(draw: st.DrawFn, text: str) -> str:
    """The text with a few pieces cut out, doubled, moved or replaced."""
    for _ in range(draw(st.integers(1, 3))):
        start, stop = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
        stop = min(stop, start + draw(st.integers(0, 12)))
        piece = draw(st.sampled_from(["", text[start:stop] * 2, *PIECES]))
        text = text[:start] + piece + text[stop:]
    return text


@settings(max_examples=examples(400), deadline=None)
@given(
    st.sampled_from(sorted(FILES)).flatmap(lambda name: st.tuples(st.just(name), damaged(FILES[name]))),
    st.sampled_from([None, 8]),
    st.booleans(),
)
@example(("own.csv", 'itemset,count\n"[""a""]",99999999999999999999\n'), 8, False)
def test_damaged_texts(case: tuple[str, str], n: int | None, forced: bool) -> None:
    name, text = case
    form = {"own": "tacit", "rules": "tacit", "model": "pmml", "naive": "naive-bayes", "list": "tacit", "tree": "tree"}.get(
        name.partition(".")[0], name.partition(".")[0].partition("-")[0]
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_text(text, encoding="utf-8")
        try:
            read_release(path, n=n, sa="x" if name == "naive.csv" else (), form=form if forced and name != "rules.txt" else None)
        except TacitError as error:
            said = str(error)
            assert "Xqz" not in said
            assert folder not in said.replace(str(path), "")
            assert error.where.startswith((name, str(path), "--n"))  # noqa: PT017
            assert error.__cause__ is None  # noqa: PT017


@settings(max_examples=examples(200), deadline=None)
@given(damaged(json.dumps(HEADER)))
def test_damaged_headers(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "own.csv")
        path.write_text(FILES["own.csv"])
        Path(folder, "own.csv.json").write_text(text, encoding="utf-8")
        try:
            read_release(path)
        except TacitError as error:
            assert error.where.startswith(("own.csv", folder))  # noqa: PT017


def small() -> Itemsets:
    counts = np.array([6, 3])
    return Itemsets(Sets.from_lists([[0], [0, 1]]), counts, counts, Items(("Xqz", "b")), Header(n=8))


def test_damaged_parquet(tmp_path: Path) -> None:
    write_release(small(), tmp_path / "whole.parquet")
    whole = (tmp_path / "whole.parquet").read_bytes()

    @settings(max_examples=examples(50), deadline=None)
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        content = bytearray(whole)
        for _ in range(data.draw(st.integers(1, 4))):
            content[data.draw(st.integers(5, len(content) - 1))] = data.draw(st.integers(0, 255))
        cut = data.draw(st.integers(6, len(content)))
        path = tmp_path / "own.parquet"
        path.write_bytes(gzip.compress(content[:cut]) if data.draw(st.booleans()) else bytes(content[:cut]))
        try:
            read_release(path)
        except TacitError as error:
            assert "Xqz" not in str(error)  # noqa: PT017

    holds()


@pytest.mark.parametrize("form", [None, *(entry.name for entry in FORMATS)])
def test_truncated_gzip(tmp_path: Path, form: str | None) -> None:
    path = tmp_path / "r.csv.gz"
    path.write_bytes(gzip.compress(b"itemset,count\n" + bytes(range(97, 123)) * 3000)[:-30])
    with pytest.raises(InputError, match=r"the gzip data are cut short"):
        read_release(path, form=form)


def test_truncated_gzip_of_parquet(tmp_path: Path) -> None:
    write_release(small(), tmp_path / "r.parquet")
    packed = gzip.compress((tmp_path / "r.parquet").read_bytes())
    (tmp_path / "r.gz").write_bytes(packed[: len(packed) - 40])
    with pytest.raises(InputError, match="the gzip data are cut short or damaged"):
        read_release(tmp_path / "r.gz")


@pytest.mark.parametrize("form", [entry.name for entry in FORMATS])
@pytest.mark.parametrize("content", [b"\x00\x01\x02\xff" * 50, b"PAR1\x15" + b"\x00" * 50, b"<a>", b"\xef\xbb\xbf"])
def test_binary_content(tmp_path: Path, form: str, content: bytes) -> None:
    (tmp_path / "x.bin").write_bytes(content)
    with pytest.raises(InputError):
        read_release(tmp_path / "x.bin", form=form)
