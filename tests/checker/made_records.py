"""Audits of every kind of finding, as files: releases in a folder and the record that ``tacit audit --json`` writes of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import tacit

Record = dict[str, Any]
#: The record of an audit, and the files that it is about.
Made = tuple[Record, list[Path]]

PATIENTS = {
    "age": ["old"] * 9 + ["young"] * 9 + ["old"] * 3,
    "sex": ["F", "M", "M"] * 7,
    "ill": ["flu"] * 5 + ["cold"] * 4 + ["flu"] * 8 + ["cold"] + ["none"] * 3,
}


def write(path: Path, lines: str, header: Mapping[str, Any] | None = None) -> Path:
    """A file, one line for each part between slashes, with its header beside it."""
    path.write_text("\n".join(lines.split("/")) + "\n", encoding="utf-8")
    if header is not None:
        path.with_name(path.name + ".json").write_text(json.dumps(header), encoding="utf-8")
    return path


def write_itemsets(path: Path, counts: str, **header: Any) -> Path:
    """A list of itemsets, such as ``a:50 a+b:49``."""
    lines = ["itemset,count"]
    for part in counts.split():
        items, _, count = part.partition(":")
        listed = json.dumps(items.split("+")).replace('"', '""')
        lines.append(f'"{listed}",{count}')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    path.with_name(path.name + ".json").write_text(json.dumps({"format": "tacit.itemsets/1"} | header), encoding="utf-8")
    return path


def channels(folder: Path) -> Made:
    """I01 on exact itemsets."""
    path = write_itemsets(folder / "sets.csv", "a:50 b:60 c:55 a+b:45 a+c:30 b+c:35 a+b+c:28", n=100)
    return tacit.audit(path).to_dict(top=30), [path]


def rounded_channels(folder: Path) -> Made:
    """I01 on rounded itemsets."""
    path = write_itemsets(folder / "rounded.csv", "a:500 b:498 a+b:490", n=1000, rounding={"base": 2})
    return tacit.audit(path, policy=tacit.Policy(k=20)).to_dict(top=30), [path]


def unpublished(folder: Path) -> Made:
    """I02 on a complete list."""
    counts = "a:100 b:100 c:200 a+b:80 a+c:75 b+c:80"
    path = write_itemsets(folder / "six.csv", counts, n=1000, min_support=65, complete=True)
    return tacit.audit(path).to_dict(top=30), [path]


def closed(folder: Path) -> Made:
    """I01 and I02 on closed itemsets."""
    rows = [list(row) for row in ("abcd", "bcef", "abc", "cdef", "bef", "acd", "bcdf", "abcdef", "bcdef", "abcde")]
    path = folder / "closed.csv"
    tacit.write_release(tacit.mine_itemsets(tacit.read_transactions(rows), min_support=4, only="closed"), path)
    return tacit.audit(path, policy=tacit.Policy(k=3)).to_dict(top=30), [path]


def maximal(folder: Path) -> Made:
    """I02 on maximal itemsets."""
    rows = [["a", "b"]] * 8 + [["a"]] + [["b"]]
    path = folder / "maximal.csv"
    tacit.write_release(tacit.mine_itemsets(tacit.read_transactions(rows), min_support=9, only="maximal"), path)
    return tacit.audit(path, policy=tacit.Policy(k=3)).to_dict(top=30), [path]


def rules(folder: Path) -> Made:
    """R01 and R03 on rules with printed confidences."""
    table = tacit.read_table(PATIENTS, qi=["age", "sex"], sa="ill")
    path = folder / "rules.csv"
    tacit.write_release(tacit.mine_rules(table, min_support=2, min_confidence=0.3, digits=3, with_confidence=True), path)
    return tacit.audit(path, known=table.qi, policy=tacit.Policy(k=8)).to_dict(top=30), [path]


def certain_rules(folder: Path) -> Made:
    """R03 on rules that leave one value."""
    people = {"education": ["D", "D", "M"], "sex": ["F", "M", "F"], "salary": ["high", "high", "low"]}
    table = tacit.read_table(people, qi=["education", "sex"], sa="salary")
    path = folder / "certain.csv"
    tacit.write_release(tacit.mine_rules(table, min_support=0.6, min_confidence=0.9), path)
    return tacit.audit(path, known=table.qi).to_dict(top=30), [path]


def buckets(folder: Path) -> Made:
    """B01 on a bucketized release with facts."""
    qit = {"sex": list("FMMFFM"), "age": [30, 40, 50, 30, 20, 20], "group": [1, 1, 1, 2, 2, 2]}
    st = {"group": [1, 1, 1, 2, 2], "ill": ["flu", "cold", "baby", "flu", "cold"], "count": [1, 1, 1, 2, 1]}
    path = folder / "buckets"
    tacit.write_release(tacit.read_buckets(qit=qit, st=st), path)
    known = [({"sex": "M"}, "baby"), ({"age": ["50", "60"]}, "flu")]
    return tacit.audit(path, knowledge=known, policy=tacit.Policy(l=3)).to_dict(top=30), [path]


def blanks(folder: Path) -> Made:
    """T01 on a table with blank cells."""
    values = zip("xxxxxxxxyyyy", "uv" * 6, [*"111111", "", "", *"222", ""], strict=True)
    path = write(folder / "blanks.csv", "/".join(["a,b,s", *(",".join(row) for row in values)]))
    release = tacit.read_release(path, qi=["a", "b"], sa="s")
    return tacit.audit(release).to_dict(top=30), [path]


def cells(folder: Path) -> Made:
    """X01 on one frequency table with a hidden cell."""
    path = write(folder / "z.csv", "A,count/x,61/y,63/z,", {"format": "tacit.frequencies/1", "n": 127})
    return tacit.audit(path).to_dict(top=30), [path]


def together(folder: Path) -> Made:
    """X01 on two lists about the same people."""
    first = write_itemsets(folder / "xy.csv", "x:50 y:30 x+y:20", n=100)
    second = write_itemsets(folder / "z.csv", "z:50 x+y+z:19", n=100)
    return tacit.audit([first, second], people=tacit.Same()).to_dict(top=30), [first, second]


def nested(folder: Path) -> Made:
    """X01 where one release's people are among another's."""
    first = write(folder / "o.csv", "A,count/x,61/y,66")
    second = write(folder / "i.csv", "A,count/x,60/y,64")
    return tacit.audit([first, second], people=tacit.Nested()).to_dict(top=30), [first, second]


def churn(folder: Path) -> Made:
    """X01 where people left and joined."""
    first = write(folder / "last.csv", "A,B,count/x,u,61/x,v,30/y,u,66/y,v,40")
    second = write(folder / "this.csv", "A,B,count/x,u,60/x,v,30/y,u,64/y,v,41")
    people = tacit.Churn(left=(0, 3), joined=(0, 2))
    return tacit.audit([first, second], people=people).to_dict(top=30), [first, second]


def changed(folder: Path) -> Made:
    """X01 where somebody changed."""
    first = write(folder / "last.csv", "smokes,region,count/no,N,40/yes,N,11/no,S,35/yes,S,14")
    second = write(folder / "this.csv", "smokes,region,count/no,N,39/yes,N,12/no,S,35/yes,S,14")
    people = tacit.Changed(columns=["smokes"], people=(0, 2))
    return tacit.audit([first, second], people=people).to_dict(top=30), [first, second]


def family(folder: Path) -> Made:
    """X01 by trying all people of a table with means."""
    lines = "sex,age,count,mean_age,median_age/*,*,3,1.3333,2/M,*,1,,/F,0-1,1,,/F,*,2,1,"
    path = write(folder / "family.csv", lines, {"format": "tacit.frequencies/1", "n": 3, "span": [0, 4], "digits": 4})
    return tacit.audit(path).to_dict(top=30), [path]


def known_people(folder: Path) -> Made:
    """R03 and X01 on several releases about people who are known."""
    table = tacit.read_table(PATIENTS, qi=["age", "sex"], sa="ill")
    paths = [folder / "rules.csv", folder / "table.csv"]
    tacit.write_release(tacit.mine_rules(table, min_support=4, min_confidence=0.5), paths[0])
    tacit.write_release(tacit.tabulate(table, by=[["age", "ill"]]), paths[1])
    return tacit.audit(paths, people=tacit.Same(), known=table.qi, policy=tacit.Policy(l=3)).to_dict(top=30), paths


def waived(folder: Path) -> Made:
    """A finding that somebody accepts, beside others."""
    path = write_itemsets(folder / "sets.csv", "a:50 b:60 c:55 a+b:45 a+c:30 b+c:35 a+b+c:28", n=100)
    found = tacit.audit(path).findings[0]
    waiver = tacit.Waiver(finding=found.id, people=found.count.to_list(), reason="known from the census", name="A. Checker")
    return tacit.audit(path, policy=tacit.Policy(waivers=(waiver,))).to_dict(top=30), [path]


def waived_by_pattern(folder: Path) -> Made:
    """Findings that a pattern accepts, beside others."""
    path = write_itemsets(folder / "sets.csv", "a:50 b:60 c:55 a+b:45 a+c:30 b+c:35 a+b+c:28", n=100)
    waiver = tacit.Waiver(items=("a", "b"), people=[1, 9], reason="known from the census", name="A. Checker")
    return tacit.audit(path, policy=tacit.Policy(waivers=(waiver,))).to_dict(top=30), [path]


def estimates(folder: Path) -> Made:
    """R02 under a limit."""
    table = tacit.read_table(PATIENTS, qi=["age", "sex"], sa="ill")
    path = folder / "rules.csv"
    tacit.write_release(tacit.mine_rules(table, min_support=2, min_confidence=0.3), path)
    return tacit.audit(path, known=table.qi, policy=tacit.Policy(max_posterior=0.5)).to_dict(top=30), [path]


_KINDS = (
    channels,
    rounded_channels,
    unpublished,
    closed,
    maximal,
    rules,
    certain_rules,
    buckets,
    blanks,
    cells,
    together,
    nested,
)
_MORE = (churn, changed, family, known_people, waived, waived_by_pattern, estimates)
MADE: dict[str, Callable[[Path], Made]] = {made.__name__: made for made in (*_KINDS, *_MORE)}
