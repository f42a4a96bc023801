"""Objects at a prompt and in a notebook: short, escaped, and without a word about any group; frames hold everything."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields, is_dataclass
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tacit
from tacit.files import frames
from tacit.model.shown import Shown
from tacit.reports.cards import LONGEST_LINE

MARK = "Zq7<b>&"  #: Stands in every name and value of the data.
ROWS = {
    f"sex{MARK}": ["F", "M"] * 50,
    f"job{MARK}": [f"cook{MARK}"] * 34 + [f"nurse{MARK}"] * 64 + [f"pilot{MARK}"] * 2,
    f"ill{MARK}": [f"flu{MARK}", f"none{MARK}", f"none{MARK}", f"none{MARK}"] * 25,
}
QI = [f"sex{MARK}", f"job{MARK}"]
SA = f"ill{MARK}"


@cache
def shown() -> dict[str, Any]:
    """One object of every kind that shows itself, each about data in which the mark stands everywhere."""
    people = tacit.read_table(ROWS, qi=QI, sa=SA)
    itemsets = tacit.mine_itemsets(people, min_support=20)
    rules = tacit.mine_rules(people, min_support=5, min_confidence=0.1)
    frame = pd.DataFrame(ROWS)
    exposed = tacit.audit(itemsets, data=people)
    known = tacit.audit(rules, data=people)
    ways = tacit.suggest(itemsets, data=people, seconds=20)
    clean = tacit.audit(tacit.mine_itemsets([[f"a{MARK}"]] * 30, min_support=10))
    return {
        "table": people,
        "transactions": people.transactions(),
        "itemsets": itemsets,
        "rules": rules,
        "frequencies": tacit.read_release(frame.groupby(QI).size()),
        "partial": tacit.read_partial(people, blank="F"),
        "negative rules": tacit.mine_negative_rules(people, min_expectation=0.3),
        "exposed audit": exposed,
        "audit of known people": known,
        "clean audit": clean,
        "incomplete audit": tacit.audit(itemsets, k=1, attacks=["I01"]),
        "findings": exposed.findings,
        "finding": exposed.findings[0],
        "no findings": clean.findings,
        "run": exposed.attack("X01"),
        "posterior": known.posterior,
        "comparison": tacit.compare(known, people),
        "repair": exposed.repair(method="raise-threshold"),
        "suggestions": ways,
        "suggestion": ways[0],
        "buckets": tacit.bucketize(people, l=2, max_posterior=1),
        "hidden": tacit.hide(people, rows=[0], may_hide="ns"),
        "rounding sweep": tacit.sweep_rounding(itemsets, data=people),
        "repair sweep": tacit.sweep_repairs(itemsets, data=people),
        "itemset sweep": tacit.sweep_itemsets(people, min_support=[20, 30], k=[5]),
        "rule sweep": tacit.sweep_rules(people, min_support=[10], min_confidence=[0.2]),
    }


DRAWN = (
    *("exposed audit", "audit of known people", "clean audit", "posterior", "repair"),
    *("rounding sweep", "repair sweep", "itemset sweep", "rule sweep"),
)
NAMES = (
    *(
        "table",
        "transactions",
        "itemsets",
        "rules",
        "frequencies",
        "partial",
        "negative rules",
        "incomplete audit",
        "findings",
        "finding",
    ),
    *("no findings", "run", "comparison", "suggestions", "suggestion", "buckets", "hidden"),
    *DRAWN,
)


class Tags(HTMLParser):
    """Collects the tags that are open and the text between them."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.used: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.used.add(tag)
        assert [name for name, _ in attrs] in ([], ["style"])

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("name", NAMES)
def test_a_line_is_short_and_describes_nobody(name: str) -> None:
    thing = shown()[name]
    line = repr(thing)
    assert line.startswith(f"<{type(thing).__name__} ")
    assert line.endswith(">")
    assert len(line) < 200
    assert "Zq7" not in line
    assert "\n" not in line


@pytest.mark.parametrize("name", NAMES)
def test_a_card_is_well_formed_and_describes_nobody(name: str) -> None:
    card = shown()[name]._repr_html_()
    tags = Tags()
    tags.feed(card)
    assert tags.open == []
    assert tags.used <= {"div", "strong", "span", "table", "tr", "td"}
    assert type(shown()[name]).__name__ in tags.text
    assert "Zq7" not in card


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_is_svg_and_describes_nobody(name: str, tmp_path: Path) -> None:
    drawn = shown()[name].plot()
    picture = drawn._repr_svg_()
    assert ElementTree.fromstring(picture).tag.endswith("svg")
    assert "Zq7" not in picture
    drawn.save(tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_text("utf-8") == picture


def test_lines_tell_the_numbers() -> None:
    things = shown()
    assert repr(things["table"]) == "<Table 100 people, 3 columns (2 QI, 1 SA)>"
    assert repr(things["finding"]) == f"<Finding {things['finding'].code}: 1 person>"
    assert repr(things["no findings"]) == "<Findings 0 findings>"
    assert re.match(r"<Audit exposed: \d+ groups of 1-9 people can be computed", repr(things["exposed audit"]))
    assert repr(things["clean audit"]).startswith("<Audit clean: ")
    assert "exposed" in things["exposed audit"]._repr_html_()
    assert "the sensitive value of" in things["audit of known people"]._repr_html_()


def test_what_is_named_in_a_card_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.reports.cards.described", lambda _: _card())
    assert "<script>" not in shown()["table"]._repr_html_()
    assert "&lt;script&gt;" in shown()["table"]._repr_html_()
    assert len(repr(shown()["table"])) < 200


def _card() -> Any:
    from tacit.reports.cards import Card

    bad = "<script>alert(1)</script>" * 20
    return Card(bad, bad, [bad], [(bad, bad)], bad)


def test_every_object_is_looked_at() -> None:
    assert set(NAMES) == set(shown())
    assert {name for name in NAMES if hasattr(shown()[name], "plot")} == {*DRAWN, "incomplete audit"}


def test_every_public_type_with_arrays_shows_itself() -> None:
    """A generated repr would print whole arrays, and with them the data."""
    for name in tacit.__all__:
        thing = getattr(tacit, name)
        if not is_dataclass(thing) or not isinstance(thing, type):
            continue
        own = issubclass(thing, Shown)
        assert own == (not thing.__dataclass_params__.repr), name  # type: ignore[attr-defined]
        kinds = str([one.type for one in fields(thing)])
        assert own or not re.search(r"Ints|Codes|Sets|NDArray|Floats|Flags|AttackRun", kinds), name


def test_a_line_is_cut_where_it_is_too_long() -> None:
    assert LONGEST_LINE + len("<AttackRun ...>") < 200


# Frames


def test_findings_as_a_frame() -> None:
    audit = shown()["exposed audit"]
    frame = audit.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.statement.tolist() == [finding.statement for finding in audit.findings]
    assert frame.people_at_least.tolist() == [finding.count.lo for finding in audit.findings]
    assert frame.id.tolist() == [finding.id for finding in audit.findings]
    assert audit.findings.to_frame(top=2).equals(frame.head(2))
    assert MARK in frame.to_csv()
    outside = audit.to_frame(external=True)
    assert list(outside.columns) == ["code", "people_at_least", "people_at_most", "waived"]
    assert "Zq7" not in outside.to_csv()
    empty = shown()["clean audit"].to_frame()
    assert len(empty) == 0
    assert list(empty.columns) == list(frame.columns)


@pytest.mark.parametrize("name", ["itemsets", "rules", "frequencies", "buckets", "partial", "negative rules"])
def test_a_release_as_a_frame_has_its_lines(name: str) -> None:
    release = shown()[name]
    frame = release.to_frame()
    records = list(release.records())
    assert len(frame) == len(records)
    assert list(frame.columns) == list(dict.fromkeys(key for line in records for key in line))
    if "count" in frame.columns:
        assert frame["count"].tolist() == [line["count"] for line in records]


@pytest.mark.parametrize("name", ["itemsets", "rules", "frequencies"])
def test_a_frame_of_a_release_is_read_again(name: str) -> None:
    release = shown()[name]
    again = tacit.read_release(release.to_frame(), n=100, sa=SA if name == "rules" else ())
    assert [line["count"] for line in again.records()] == [line["count"] for line in release.records()]
    assert len(again) == len(release)


def test_hidden_counts_stay_whole_numbers() -> None:
    table = tacit.read_release({"sex": ["F", "M", "All"], "count": ["12", "<5", "15"]})
    assert table.to_frame()["count"].dtype == "Int64"
    assert table.to_frame()["count"].isna().tolist() == [False, True, False]


def test_estimates_as_a_frame() -> None:
    posterior = shown()["posterior"]
    frame = posterior.to_frame()
    assert list(frame.columns) == [*QI, SA, "people", "posterior", "lower", "upper"]
    assert frame.posterior.to_numpy().tolist() == posterior.table()["posterior"].tolist()


def test_frames_are_of_the_first_library_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    there = ["pandas", "polars", "pyarrow"]
    monkeypatch.setattr(frames, "find_spec", lambda name: name if name in there else None)
    kinds: list[type] = []
    while there:
        frame = shown()["exposed audit"].to_frame(top=3)
        kinds.append(type(frame))
        assert frame.shape == (3, 6)
        assert shown()["posterior"].to_frame().shape[1] == 7
        there.pop(0)
    assert kinds == [pd.DataFrame, pl.DataFrame, pa.Table]
    with pytest.raises(tacit.EngineError, match="pandas, polars or pyarrow"):
        shown()["exposed audit"].to_frame()


def test_an_audit_writes_its_report(tmp_path: Path) -> None:
    audit = shown()["exposed audit"]
    audit.report(tmp_path / "x.html")
    audit.report(tmp_path / "x.md", kind="external", top=1)
    tacit.write_report(audit, tmp_path / "y.html", release=audit.asked.releases[0])
    assert (tmp_path / "x.html").read_bytes() == (tmp_path / "y.html").read_bytes()
    assert "Zq7" in (tmp_path / "x.html").read_text("utf-8")
    assert "Zq7" not in (tmp_path / "x.md").read_text("utf-8")


def test_looking_at_a_list_loads_no_library() -> None:
    """A prompt shows at once what it is given."""
    program = (
        "import sys, tacit\nfound = tacit.audit(tacit.mine_itemsets([['a', 'b']] * 30 + [['a']], min_support=10))\n"
        "before = set(sys.modules)\nrepr(found), found._repr_html_(), found.plot()._repr_svg_()\n"
        "print([name for name in ('pandas', 'polars', 'pyarrow', 'duckdb', 'jinja2') if name in set(sys.modules) - before])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
