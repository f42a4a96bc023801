"""No message holds a value of the data: a marker is planted in files of every kind that have an error, and looked for in what is said."""

from __future__ import annotations

import gzip
import json
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

import tacit
from tacit.model.errors import TacitError

MARK = "Zq7Canary"
ITEMSETS = "itemset,count,support\n"
RULES = "antecedent,consequent,count,support,confidence\n"
PMML = (
    '<PMML version="4.4" xmlns="http://www.dmg.org/PMML-4_4"><AssociationModel functionName="associationRules" numberOfTransactions="9"'
    ' minimumSupport="0.1" minimumConfidence="0.1" numberOfItems="1" numberOfItemsets="1" numberOfRules="0">'
)
READ: dict[str, Callable[[Path], object]] = {
    "table": lambda path: tacit.read_table(path, qi=["sex"], sa="ill"),
    "transactions": tacit.read_transactions,
    "release": lambda path: tacit.read_release(path, n=100),
}

#: Kind of reader, file name, content; each content has an error, and the marker where a value stands.
BROKEN: dict[str, tuple[str, str, bytes]] = {
    "ragged row": ("table", "t.csv", f"sex,ill\nF,{MARK}\nM,{MARK},extra\n".encode()),
    "ragged row late": ("table", "t.csv", b"sex,ill\n" + f"F,{MARK}\n".encode() * 5000 + f"{MARK}\n".encode()),
    "quote without end": ("table", "t.csv", f'sex,ill\nF,"{MARK}\nM,no\n'.encode()),
    "no such column": ("table", "t.csv", f"gender,ill\n{MARK},yes\n".encode()),
    "time of a survival table": ("release", "km.csv", f"time,n.risk,n.event\n{MARK},9,1\n".encode()),
    "count of a survival table": ("release", "km.csv", f"time,n.risk,n.event\n1,9,{MARK}\n".encode()),
    "survival": ("release", "km.csv", f"time,n.risk,survival\n1,9,{MARK}\n".encode()),
    "stratum of a survival table": ("release", "km.csv", f"arm,time,n.risk,n.event\n{MARK},7,9,1\n{MARK},6,8,1\n".encode()),
    "binary": ("table", "t.csv", f"sex,ill\nF,{MARK}\x00\x01\x02\n".encode()),
    "truncated gzip": ("table", "t.csv.gz", gzip.compress(f"sex,ill\nF,{MARK}\n".encode() * 5000, mtime=0)[:-20]),
    "damaged parquet": ("table", "t.parquet", b"PAR1\x15\x04" + f"sex,ill,{MARK}\0".encode() * 20 + b"PAR1"),
    "header only": ("table", "t.csv", b"sex,ill\n"),
    "damaged database": ("table", "t.duckdb", b"\0" * 8 + b"DUCK" + f"{MARK}".encode() * 200),
    "binary transactions": ("transactions", "b.dat", f"1 2 {MARK}\x00\x01\n".encode()),
    "empty transactions": ("transactions", "b.dat", b""),
    "ragged pairs": ("transactions", "b.csv", f"id,item\n1,{MARK}\n2\n".encode()),
    "count is no number": ("release", "r.csv", f'{ITEMSETS}"[""a""]",{MARK},\n'.encode()),
    "count is negative": ("release", "r.csv", f'{ITEMSETS}"[""{MARK}""]",-4,\n'.encode()),
    "count above n": ("release", "r.csv", f'{ITEMSETS}"[""{MARK}""]",101,\n'.encode()),
    "support above one": ("release", "r.csv", f'{ITEMSETS}"[""{MARK}""]",,1.5\n'.encode()),
    "support is nan": ("release", "r.csv", f'{ITEMSETS}"[""{MARK}""]",,nan\n'.encode()),
    "itemset is no list": ("release", "r.csv", f'{ITEMSETS}"{{""{MARK}"": 1}}",4,\n'.encode()),
    "itemset is no JSON": ("release", "r.csv", f'{ITEMSETS}"[""{MARK}",4,\n'.encode()),
    "itemset twice": ("release", "r.csv", f'{ITEMSETS}"[""{MARK}""]",4,\n"[""{MARK}""]",5,\n'.encode()),
    "superset more frequent": ("release", "r.csv", f'{ITEMSETS}"[""{MARK}""]",4,\n"[""{MARK}"", ""b""]",5,\n'.encode()),
    "count and support differ": ("release", "r.csv", f'{ITEMSETS}"[""{MARK}""]",4,0.9\n'.encode()),
    "confidence above one": ("release", "r.csv", f'{RULES}"{{""sex"": ""{MARK}""}}",yes,4,0.04,1.7\n'.encode()),
    "antecedent is no JSON": ("release", "r.csv", f'{RULES}"{{""sex"": {MARK}",yes,4,0.04,0.5\n'.encode()),
    "mlxtend support": ("release", "m.csv", f"support,itemsets\n{MARK},frozenset({{'a'}})\n".encode()),
    "mlxtend set": ("release", "m.csv", f"support,itemsets\n0.5,frozenset({{'{MARK}\n".encode()),
    "mlxtend call": ("release", "m.csv", f"support,itemsets\n0.5,exit('{MARK}')\n".encode()),
    "rule list": ("release", "l.csv", f'order,{RULES}{MARK},"{{""sex"": ""{MARK}""}}",{MARK},4,0.04,0.5\n'.encode()),
    "naive Bayes count": ("release", "n.csv", f"column,value,class,count\n{MARK},{MARK},{MARK},{MARK}\n".encode()),
    "naive Bayes sum": ("release", "n.csv", f"column,value,class,count\n,,{MARK},100\n{MARK},{MARK},{MARK},101\n".encode()),
    "arules support": (
        "release",
        "a.csv",
        f'"","rules","support","confidence"\n"1","{{{MARK}}} => {{b}}","x{MARK}","0.5"\n'.encode(),
    ),
    "arules rule": ("release", "a.csv", f'"","rules","support","confidence"\n"1","{{{MARK} => b","0.5","0.5"\n'.encode()),
    "spmf": ("release", "s.txt", f"1 2 #SUP: {MARK}\n".encode()),
    "spmf rule": ("release", "s.txt", f"{MARK} ==> 3 #SUP: 4 #CONF: 7\n".encode()),
    "borgelt": ("release", "b.out", b"a (40)\n" * 9000 + f"{MARK} (20\n".encode()),
    "pmml not closed": ("release", "p.pmml", f'{PMML}<Item id="1" value="{MARK}"/>'.encode()),
    "pmml reference": (
        "release",
        "p.pmml",
        f'{PMML}<Item id="1" value="{MARK}"/><Itemset id="1" support="0.5"><ItemRef itemRef="{MARK}"/></Itemset>'.encode()
        + b"</AssociationModel></PMML>",
    ),
    "printed tree": ("release", "t.txt", f"|--- {MARK} <= 0.50\n|   |--- weights: [{MARK}] class: {MARK}\n".encode()),
    "printed tree cut": ("release", "t.txt", f"|--- {MARK} <= 0.50\n|   |--- weights: [1.00, 2.00] class: {MARK}\n".encode()),
    "printed graph": ("release", "t.dot", f'digraph Tree {{\n0 [label="{MARK} <= 1\\nvalue = [1, {MARK}]"] ;\n'.encode()),
    "damaged release parquet": ("release", "r.parquet", b"PAR1\x15\x04" + f"itemset,count,{MARK}\0".encode() * 20 + b"PAR1"),
    "no known form": ("release", "r.csv", f"x,y\n{MARK},2\n".encode()),
}


def complaint(kind: str, path: Path) -> str:
    """What is said about a file: the message, and the traceback with all causes that Python would print."""
    with pytest.raises(TacitError) as caught:
        READ[kind](path)
    message = str(caught.value)
    assert path.name in message.partition(": ")[0], message
    assert message.endswith(".")
    assert ": " in message
    assert message.count("\n") == 0
    lines = traceback.format_exception(caught.value)
    # Lines of source are shown indented by four and hold no data; this file's own would hold the marker's name only.
    return message + "".join(line for line in lines if not line.startswith("  File"))


@pytest.mark.parametrize("case", BROKEN)
def test_no_message_holds_a_value(case: str, tmp_path: Path) -> None:
    kind, name, content = BROKEN[case]
    (tmp_path / name).write_bytes(content)
    assert MARK not in complaint(kind, tmp_path / name)


def test_no_message_about_a_header_holds_a_value(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(ITEMSETS + '"[""a""]",4,\n')
    for header in ('{"n": "' + MARK + '"}', "{" + MARK, json.dumps({"format": MARK}), json.dumps({"n": 9, "min_support": MARK})):
        (tmp_path / "r.csv.json").write_text(header)
        with pytest.raises(TacitError) as caught:
            tacit.read_release(tmp_path / "r.csv")
        assert MARK not in "".join(traceback.format_exception(caught.value))


def test_no_message_about_contradicting_counts_holds_a_value(tmp_path: Path) -> None:
    lines = {"a": 60, MARK: 60, "c": 60, f"a {MARK}": 50, "a c": 50, f"{MARK} c": 10, f"a {MARK} c": 10}
    text = "".join(f'"{json.dumps(items.split()).replace(chr(34), chr(34) * 2)}",{count},\n' for items, count in lines.items())
    (tmp_path / "r.csv").write_text(ITEMSETS + text)
    with pytest.raises(TacitError) as caught:
        tacit.audit(tacit.read_release(tmp_path / "r.csv", n=100))
    assert MARK not in "".join(traceback.format_exception(caught.value))
