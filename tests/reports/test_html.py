from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from tacit.model.version import __version__
from tacit.reports.proofs import SEARCHED
from tests.reports.audit_cases import LEAKING, audit_html, audit_of, ended, itemsets, with_many_findings

VOID = {"meta", "rect", "line", "br", "link", "img"}
FORBIDDEN = {"link", "iframe", "img", "object", "embed", "base", "form"}


class Reader(HTMLParser):
    """Checks nesting and collects tags, attributes and text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def check_stands_alone(page: str) -> Reader:
    """A page asks for nothing from outside, its only script is the one that its policy names, and its links lead somewhere."""
    reader = read(page)
    assert not [attributes for _, attributes in reader.tags if {"src", "srcset", "action"} & set(attributes)]
    assert not FORBIDDEN & {tag for tag, _ in reader.tags}
    assert not [name for _, attributes in reader.tags for name in attributes if name.startswith("on")]
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) == page.count("<script") == 1
    hashed = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    policy = next(
        attributes["content"] for _, attributes in reader.tags if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{hashed}';" in str(policy)
    named = [str(attributes["id"]) for _, attributes in reader.tags if "id" in attributes]
    assert len(named) == len(set(named))
    links = {str(attributes["href"]) for tag, attributes in reader.tags if tag == "a"}
    assert links <= {f"#{name}" for name in named}
    assert not [tag for tag, attributes in reader.tags if "href" in attributes and tag != "a"]
    assert "url(" not in page
    assert "@import" not in page
    assert re.findall(r"https?://", page) == []
    return reader


PAGES = {
    "exposed": audit_of(itemsets(LEAKING)),
    "clean": audit_of(itemsets({"a": 50})),
    "incomplete": ended(audit_of(itemsets({"a": 50})), status="stopped", reason="the time limit was reached"),
}


@pytest.mark.parametrize("verdict", PAGES)
@pytest.mark.parametrize("kind", ["internal", "external"])
def test_pages_are_well_formed_and_ask_for_nothing_from_outside(verdict: str, kind: str) -> None:
    page = audit_html(PAGES[verdict], release=itemsets(LEAKING), kind=kind)
    check_stands_alone(page)


@pytest.mark.parametrize("verdict", PAGES)
def test_the_verdict_stands_before_everything_else(verdict: str) -> None:
    page = audit_html(PAGES[verdict])
    assert page.index(f"<strong>{verdict.upper()}</strong>") < page.index("<h2>")
    assert f"<title>{verdict}: itemsets.csv (Tacit audit)</title>" in page
    assert "<h1>itemsets.csv</h1>" in page


def page_findings(reader: Reader) -> int:
    return sum(attributes.get("class") == "finding" for _, attributes in reader.tags)


def test_the_page_can_be_read_without_seeing_it() -> None:
    reader = read(audit_html(PAGES["exposed"], release=itemsets(LEAKING)))
    assert ("html", {"lang": "en"}) in reader.tags
    headings = [int(tag[1]) for tag, _ in reader.tags if re.fullmatch(r"h\d", tag)]
    assert headings[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(headings))
    tables = [i for i, (tag, _) in enumerate(reader.tags) if tag == "table"]
    assert all(reader.tags[i + 1][0] == "caption" for i in tables)
    assert all("scope" in attributes for tag, attributes in reader.tags if tag == "th")
    pictures = [attributes for tag, attributes in reader.tags if tag == "svg"]
    assert len(pictures) == 2 + 1 + page_findings(reader)  # sizes, counts; people concerned; a waterfall each
    named = {attributes.get("id") for tag, attributes in reader.tags if tag in ("title", "desc")}
    assert all(set(str(p["aria-labelledby"]).split()) <= named and p["role"] == "img" for p in pictures)


def test_the_arithmetic_and_the_inputs_are_on_the_page() -> None:
    text = " ".join(read(audit_html(PAGES["exposed"])).texts)
    for wanted in (
        "1 person has a but not b.",
        "+ 50",
        "people with a (line 2)",
        "− 49",
        "= 1",
        "ab" * 32,
        "itemsets.csv",
        __version__,
    ):
        assert wanted in text


def test_nothing_undecided_is_shown_as_a_zero() -> None:
    assert "<b>0</b><span>groups of 1-9 people that can be computed</span>" in audit_html(PAGES["clean"])
    assert "<b>0</b>" not in audit_html(PAGES["incomplete"])
    assert "This is not a pass" in audit_html(PAGES["incomplete"])


def test_attacks_that_did_not_run_say_why() -> None:
    assert "the time limit was reached" in audit_html(PAGES["incomplete"])


def test_names_cannot_break_out_of_the_page() -> None:
    evil = "<script>alert(1)</script>\x1b\u202e\"'&"
    page = audit_html(audit_of(itemsets({evil.replace(" ", ""): 50, "b": 80, f"{evil} b": 49}), file=f"{evil}.csv"))
    assert page.count("<script") == 1
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "&lt;script&gt;" in page
    check_stands_alone(page)


def test_an_external_page_names_nothing() -> None:
    release = itemsets({"CANARYa": 50, "CANARYb": 80, "CANARYa CANARYb": 49})
    audit = audit_of(release, file="CANARY.csv")
    assert "CANARY" in audit_html(audit, release=release)
    page = audit_html(audit, release=release, kind="external")
    assert "CANARY" not in page
    assert audit.findings[0].id not in page
    assert "Groups by size" in page


def test_a_million_findings_make_a_small_page() -> None:
    audit = with_many_findings(1_000_000)
    page = audit_html(audit, top=5)
    assert len(page) < 60_000
    assert len(audit.runs[0].columns["shown"]) == SEARCHED  # looked at for variants, not listed
    assert 5 <= page.count('class="finding"') <= 8
    assert "1,000,000" in page


def test_the_same_audit_gives_the_same_bytes() -> None:
    pages = {audit_html(audit_of(itemsets(LEAKING)), release=itemsets(LEAKING)) for _ in range(2)}
    assert len(pages) == 1


def test_commands_in_next_steps_are_set_as_code() -> None:
    page = audit_html(PAGES["exposed"])
    assert "<code>tacit repair RELEASE --k 10 -o OUT</code> tries every repair that fits" in page
