"""One document in three forms: every part is shown, and nothing of the data is obeyed."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import tacit
from tacit.reports.audit import audit_text
from tacit.reports.document import (
    PAGES,
    Cell,
    Command,
    Document,
    Facts,
    Figure,
    Gallery,
    Heading,
    Item,
    Linked,
    Listing,
    Paragraph,
    Part,
    Proof,
    Proofs,
    Section,
    Table,
    render_text,
)
from tacit.reports.pages import page_bytes, render_html, render_markdown
from tacit.reports.pictures import Bar, histogram
from tests.reports.audit_cases import audit_html, audit_markdown
from tests.reports.test_html import check_stands_alone

EVIL = "<script>alert(1)</script>\x1b\u202e\"'&{{ 7 * 7 }}"
RENDERERS = {"text": render_text, "html": render_html, "markdown": render_markdown}


def picture(name: str) -> Figure:
    made = histogram([Bar(EVIL, 3)], name=name, title=EVIL, description=EVIL, x_label=EVIL, y_label=EVIL)
    return Figure(made, EVIL)


PARTS: dict[str, Part] = {
    "paragraph": Paragraph(f"shown {EVIL}", lead=EVIL),
    "heading": Heading(f"shown {EVIL}"),
    "listing": Listing((Item((f"shown {EVIL}", Command(EVIL)), (f"tacit audit {EVIL}",)),), EVIL, is_numbered=True),
    "table": Table.of(EVIL, (EVIL, "shown"), [(EVIL, 12), (EVIL, 3)]),
    "facts": Facts(EVIL, ((EVIL, f"shown {EVIL}"),)),
    "figure": picture("figure"),
    "gallery": Gallery((picture("gallery"), Table.of(EVIL, (EVIL, "shown"), [(EVIL, 1)]))),
    "proof": Proof("1.", f"shown {EVIL}", (("+ 3", EVIL), ("", EVIL)), EVIL, EVIL, EVIL, EVIL),
    "proofs": Proofs(
        tuple(
            Proof(
                f"{number}.", f"shown {EVIL}", (), anchor=f"p{number}", attack=EVIL, columns=(f"{EVIL}{number}",), cited=(EVIL,)
            )
            for number in (1, 2)
        )
    ),
    "marked": Table.of(
        EVIL, (EVIL, "shown"), [(Cell.of(EVIL, anchor="row", mark="used", hint=EVIL), Cell.of(Linked.to("row", EVIL)))]
    ),
}


def document(*parts: Part, **more: object) -> Document:
    return Document(EVIL, (EVIL, EVIL), (Section(EVIL, parts),), remarks=(EVIL,), tiles=((1200, EVIL),), note=EVIL, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("form", RENDERERS)
@pytest.mark.parametrize("kind", PARTS)
def test_every_part_is_shown_and_nothing_is_obeyed(kind: str, form: str) -> None:
    assert PARTS[kind].kind == ("table" if kind == "marked" else kind)
    text = RENDERERS[form](document(PARTS[kind], verdict="exposed"))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "49" not in re.sub(r"#\w+", "", text).replace("1.49", "")
    assert "EXPOSED" in text
    if kind != "figure":
        assert "shown" in text
    if form == "html":
        check_stands_alone(text)
        assert "1,200" in text
    if form == "markdown":
        assert not re.search(r"(?<!\\)<script", re.sub(r"`[^`]*`", "", text))


def test_sections_and_parts_with_nothing_in_them_are_left_out() -> None:
    empty = (Listing.of([]), Table.of("c", ("a",), []), Facts("c", ()))
    made = Document(
        "t", ("lead",), (Section("nothing", empty), Section("some", (*empty, Paragraph("here"))), Section("p", (), PAGES))
    )
    for render in RENDERERS.values():
        text = render(made)
        assert "nothing" not in text
        assert "here" in text
        assert "<table" not in text
        assert "<ul" not in text


def test_a_form_shows_what_is_meant_for_it() -> None:
    made = Document("t", ("lead",), (Section("both", (Paragraph("x"),)), Section("pages", (Paragraph("y"),), PAGES)))
    assert "pages" not in render_text(made)
    assert "pages" in page_bytes(made, "html").decode()
    assert "## pages" in page_bytes(made, "markdown").decode()


def test_columns_of_numbers_are_aligned_to_the_right() -> None:
    table = Table.of("c", ("name", "n"), [("a", "1,200"), ("b", "-")])
    made = Document("t", ("lead",), (Section("s", (table,)),))
    assert '<td data-name="n" class="figure">1,200</td>' in render_html(made)
    assert "|---|---:|" in render_markdown(made)
    assert "b         -" in render_text(made)


def test_every_form_names_the_limits_of_a_frequency_table_alike() -> None:
    people = tacit.read_table({"sex": ["F", "M"] * 20, "ill": ["yes", "no", "no", "no"] * 10})
    audit = tacit.audit(tacit.tabulate(people, by=[["sex", "ill"]], ways=2, hide_below=12))
    assert re.search(r"^Cells +\d+ tables?; \d+ cells? hidden", audit_text(audit, top=3), re.MULTILINE)
    assert re.search(r"^\| Cells \| \d+ tables?; \d+ cells? hidden", audit_markdown(audit), re.MULTILINE)
    assert re.search(r'<th scope="row">Cells</th><td>\d+ tables?; \d+ cells? hidden', audit_html(audit))


def test_templates_are_loaded_for_pages_only() -> None:
    told = (
        "import sys; import tacit.reports.audit; from tacit.reports.pages import render_markdown; "
        "from tacit.reports.document import Document; render_markdown(Document('t', ('lead',), ())); "
        "sys.exit('jinja2' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", told], check=False).returncode == 0
