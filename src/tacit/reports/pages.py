"""Documents as pages: self-contained HTML, and Markdown."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from tacit.model.version import __version__
from tacit.reports.document import (
    Cell,
    Command,
    Document,
    Facts,
    Figure,
    Gallery,
    Heading,
    Linked,
    Listing,
    Paragraph,
    Part,
    Proof,
    Proofs,
    Table,
    capitalise,
    nonempty,
    visible,
)

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

#: Signs that Markdown or HTML would obey instead of show.
_SIGNS = re.compile(r"([\\`*_{}\[\]<>|#~&])")
_TYPOGRAPHIC = {ord("-"): "−", ord("x"): "×"}  #: Signs that not every terminal can print, and every browser can.


def page_bytes(document: Document, form: str) -> bytes:
    """Return a document as ``html`` or ``markdown``."""
    text = render_markdown(document) if form == "markdown" else render_html(document)
    return text.encode("utf-8", "backslashreplace")


# HTML


def render_html(document: Document) -> str:
    """Return a document as a whole page."""
    return environment().get_template("report.html").render(document=document, opening=nonempty(document.opening))


def body_of(page: str) -> str:
    """Return what is between the head and the script of a page that :func:`render_html` made."""
    return page.partition("<body>\n")[2].rpartition("<script>")[0]


def style_sheet() -> str:
    """Return the style of pages and pictures, for pages that load it."""
    return environment().get_template("style.css").render()


@cache
def page_script() -> str:
    """Return the script of a page."""
    return files("tacit.reports").joinpath("templates", "page.js").read_text("utf-8")


def _hash_of_script() -> str:
    """Return the only script that the page may run, as its security policy names it."""
    digest = hashlib.sha256(page_script().encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


@cache
def environment(*packages: str) -> Environment:
    """Return the templates of reports, and of further packages before them."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    from tacit.reports.colours import DARK, LIGHT

    made = Environment(
        loader=ChoiceLoader([PackageLoader(package, "templates") for package in (*packages, "tacit.reports")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_escape,
    )
    made.globals |= {"version": __version__, "light": LIGHT, "dark": DARK}
    made.globals |= {"script": Markup(page_script()), "script_hash": Markup(_hash_of_script())}
    made.filters |= {"capitalise": capitalise, "rich": _mark_parts}
    made.tests["cell"] = lambda text: isinstance(text, Cell)
    made.filters["typographic"] = lambda number: number.translate(_TYPOGRAPHIC)
    return made


def _escape(value: Any) -> Markup:
    from markupsafe import Markup

    if isinstance(value, Markup):
        return value
    return Markup(escape(visible(str(value))).replace(" %", "&nbsp;%"))


def _mark_parts(sentence: Sequence[str]) -> Markup:
    """Return the parts of a sentence, commands as code and links as links."""
    from markupsafe import Markup

    code = Markup("<code>{}</code>")
    link = Markup('<a href="#{}">{}</a>')
    marked = []
    for part in sentence:
        shown = _escape(part)
        if isinstance(part, Command):
            shown = code.format(shown)
        elif isinstance(part, Linked):
            shown = link.format(_escape(part.target), shown)
        marked.append(shown)
    return Markup("").join(marked)


# Markdown


def render_markdown(document: Document, *, body_only: bool = False) -> str:
    """Return a document as Markdown; ``body_only`` omits title, footer."""
    blocks = [] if body_only else [f"# {plain(': '.join(filter(None, (document.subject, document.title))))}"]
    if lead := plain(capitalise(" ".join(document.lead))):
        blocks.append(f"**{document.verdict.upper()}.** {lead}" if document.verdict else lead)
    if document.remarks:
        blocks.append(_list_block(Listing.of(document.remarks)))
    if document.tiles:
        rows = [(f"{number:,}", what) for number, what in document.tiles]
        blocks.append(_table_block(Table.of("", ("Number", "What"), rows)))
    if document.facts:
        blocks.append(_table_block(Table("", ("What", "Fact"), document.facts)))
    if document.note:
        blocks.append(f"*{plain(document.note)}*")
    blocks += [block for part in nonempty(document.opening) for block in _part_blocks(part)]
    for section in document.sections_for("markdown"):
        if inner := [block for part in section.parts for block in _part_blocks(part)]:
            blocks += [f"## {plain(section.title)}", *inner]
    if not body_only:
        blocks.append(plain(document.footer))
    return "\n\n".join(blocks) + "\n"


def _part_blocks(part: Part) -> Iterator[str]:
    match part:
        case Paragraph():
            yield f"*{plain(part.lead)}:* {plain(part.text)}" if part.lead else plain(part.text)
        case Heading():
            yield f"### {plain(part.text)}"
        case Listing():
            if part.title:
                yield f"**{plain(part.title)}:**"
            yield _list_block(part)
        case Table():
            if part.caption:
                yield plain(part.caption)
            yield _table_block(part)
        case Facts():
            yield _table_block(Table(part.caption, ("What", "Fact"), part.rows))
        case Gallery():
            for inner in part.parts:
                yield from _part_blocks(inner)
        case Proof():
            yield from _proof_blocks(part)
        case Proofs():
            for proof in part.items:
                yield from _proof_blocks(proof)
        case Figure():
            return


def _list_block(listing: Listing) -> str:
    lines = []
    for number, item in enumerate(listing.items, start=1):
        mark = f"{number}." if listing.is_numbered else "-"
        lines.append(f"{mark} {plain(''.join(item.parts))}")
        for shown in map(visible, item.commands):
            longest = max(map(len, re.findall("`+", shown)), default=0)
            fence = "`" * (longest + 1)
            lines.append(f"{' ' * len(mark)} " + (f"{fence} {shown} {fence}" if longest else f"`{shown}`"))
    return "\n".join(lines)


def _table_block(table: Table) -> str:
    rows = [table.columns, *table.rows]
    head, *lines = [f"| {' | '.join(plain(cell) for cell in row)} |" for row in rows]
    rule = "|".join("---:" if is_number else "---" for is_number in table.is_numeric)
    return "\n".join([head, f"|{rule}|", *lines])


def _proof_blocks(proof: Proof) -> Iterator[str]:
    yield f"### {plain(proof.mark)} {plain(proof.statement)}"
    if proof.is_sum:
        yield _table_block(Table.of("", ("Sum", "What"), [term for term in proof.terms if term[0]]))
    if steps := [what for number, what in proof.terms if not number]:
        yield _list_block(Listing.of(steps))
    if proof.in_full:
        yield f"In full: {plain(proof.in_full)}"
    if proof.waived_by:
        yield f"**Waived** by {plain(proof.waived_by)}: {plain(proof.waived_for)}"
    if proof.about:
        yield plain(proof.about)


def plain(value: object) -> str:
    """Return text that Markdown shows as it is."""
    return _SIGNS.sub(r"\\\1", visible(str(value)))
