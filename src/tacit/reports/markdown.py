"""Documents as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tacit.reports.document import Document, Facts, Figure, Gallery, Heading, Listing, Paragraph, Part, Proof, Table, capitalise
from tacit.reports.sentences import visible

#: Signs that Markdown or HTML would obey instead of show.
_SIGNS = re.compile(r"([\\`*_{}\[\]<>|#~&])")


def render_markdown(document: Document, *, body_only: bool = False) -> str:
    """Return a document as Markdown; ``body_only`` omits title, footer."""
    return "\n\n".join(_blocks(document, body_only)) + "\n"


def _blocks(document: Document, body_only: bool) -> Iterator[str]:
    if not body_only:
        yield f"# {plain(document.title)}"
    if lead := plain(capitalise(" ".join(document.lead))):
        yield f"**{document.verdict.upper()}.** {lead}" if document.verdict else lead
    if document.remarks:
        yield _list_block(Listing.of(document.remarks))
    if document.tiles:
        yield _table_block(Table.of("", ("Number", "What"), [(f"{number:,}", what) for number, what in document.tiles]))
    if document.note:
        yield f"*{plain(document.note)}*"
    for section in document.sections_for("markdown"):
        blocks = [block for part in section.parts for block in _part_blocks(part)]
        if blocks:
            yield f"## {plain(section.title)}"
            yield from blocks
    if not body_only:
        yield plain(document.footer)


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
        case Figure():
            return


def _list_block(listing: Listing) -> str:
    lines = []
    for number, item in enumerate(listing.items, start=1):
        mark = f"{number}." if listing.is_numbered else "-"
        lines.append(f"{mark} {plain(item.text)}")
        lines += [f"{' ' * len(mark)} {_code(command)}" for command in item.commands]
    return "\n".join(lines)


def _code(command: str) -> str:
    shown = visible(command)
    longest = max(map(len, re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {shown} {fence}" if longest else f"`{shown}`"


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
    r"""Return text that Markdown shows as it is.

    >>> plain("a|b *c* <d>")
    'a\\|b \\*c\\* \\<d\\>'
    """
    return _SIGNS.sub(r"\\\1", visible(str(value)))
