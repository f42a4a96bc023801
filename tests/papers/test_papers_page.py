"""One page about all papers: complete, readable, the same facts as the record."""

from __future__ import annotations

import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tacit.model.errors import InputError
from tacit.model.reproduction import Reproduction
from tacit.papers import PAPERS, reproduce
from tacit.papers.bench import Bench, find_adult, read_adult
from tacit.papers.li07_adult import CONDITIONS
from tacit.papers.report import papers_html, papers_markdown
from tests.shell import tacit

DOCS = Path(__file__).parents[2] / "docs"
STORED = [Reproduction.from_dict(paper) for paper in json.loads((DOCS / "papers.json").read_bytes())["papers"]]


def test_without_a_name_all_papers_are_reproduced_on_one_page(tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = tacit("reproduce", "--out", out, "--json", tmp_path / "record.json")
    assert result.exit_code == 0, result.output
    made = json.loads((tmp_path / "record.json").read_bytes())
    assert made["format"] == "tacit.reproduction/1"
    assert [paper["name"] for paper in made["papers"]] == ["atzori05", "injector08", "li07", "pmicd08", "zhu09"]
    example = made["papers"][1]["parts"][0]
    assert all(len(row) == len(example["head"]) for row in example["rows"])
    assert all(claim["standing"] != "not run" for paper in made["papers"] for part in paper["parts"] for claim in part["claims"])
    names = {path.name for path in out.iterdir()}
    assert {"papers.html", "papers.md"} <= names
    assert f"{len(names)} files written to {out}" in result.stdout
    page, text = (out / "papers.html").read_text(), (out / "papers.md").read_text()
    for paper in PAPERS:
        assert f"<h2>{paper.name}</h2>" in page
        assert f"## {paper.name}" in text
        assert f"{paper.name} is NOT complete" in result.stderr
    assert page.count("Not reproduced:") == text.count("**Not reproduced:**") == len(PAPERS)
    assert not re.search(r"(?:src|href)=['\"]?(?:\w+:)?//", page)
    HTMLParser().feed(page)


def test_one_paper_alone_writes_no_page(tmp_path: Path) -> None:
    assert tacit("reproduce", "zhu09", "--out", tmp_path / "out").exit_code == 0
    assert not list((tmp_path / "out").glob("papers.*"))


def test_the_data_that_come_with_the_program_can_be_named() -> None:
    bench = Bench.open("bundled", None, lambda _: None)
    path = find_adult(bench.folder)
    assert path is not None
    assert path.name == "adult.csv.gz"


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_what_is_stored_for_the_page_is_what_is_found_now_as_far_as_it_needs_no_data(paper: object) -> None:
    name = paper.name  # type: ignore[attr-defined]
    stored = next(one for one in STORED if one.name == name)
    fresh = Reproduction.from_dict(reproduce(name).to_dict())
    assert stored.citation == fresh.citation
    parts = {part.name: part for part in stored.parts}
    assert fresh.parts
    for part in fresh.parts:
        assert parts[part.name] == part
    # What needs data was run for the page: more parts than without.
    assert len(stored.parts) > len(fresh.parts)


def test_every_item_says_where_it_stands_and_every_part_how_it_was_read() -> None:
    text = papers_markdown(STORED)
    page = unescape(papers_html(STORED)).replace("\u00a0", " ")
    for one in STORED:
        assert one.index
        assert not [claim.item for claim in one.index if claim.standing == "not run"]
        assert all(claim.why for claim in one.index if claim.standing in ("not confirmed", "not applicable", "open"))
        for part in one.parts:
            assert part.reading
            assert part.rows
            assert part.title in page
    assert {"confirmed", "confirmed under a reading", "open"} <= {claim.standing for one in STORED for claim in one.index}
    assert text.count("*Read as:*") == sum(len(one.parts) for one in STORED)
    assert not re.search(r"/(?:home|tmp|work|Users)/", text)


def test_the_bundled_data_serve_every_paper_that_uses_adult(tmp_path: Path) -> None:
    """The copy lacks the column that numbers the levels of education; it is made anew, and a file with other levels is refused."""
    path = find_adult(Bench.open("bundled", None, lambda _: None).folder)
    assert path is not None
    assert read_adult(path).n == 30_162
    people = read_adult(path, qi=CONDITIONS, sa="occupation", missing_rule="drop")
    level, number = people.column("education"), people.column("education-num")
    pairs = {(level.values[a], number.values[b]) for a, b in zip(level.codes.tolist(), number.codes.tolist(), strict=True)}
    assert len(pairs) == 16
    assert {("Preschool", "1"), ("HS-grad", "9"), ("Doctorate", "16")} <= pairs
    other = tmp_path / "adult.csv"
    other.write_text("sex,education,occupation\nM,none,clerk\n")
    with pytest.raises(InputError, match="lacks columns"):
        read_adult(other, qi=CONDITIONS, sa="occupation")
