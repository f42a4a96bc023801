"""Reports: documents, and their output formats."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.reports.document import Document


def page_bytes(document: Document, form: str) -> bytes:
    """Return a document as ``html`` or ``markdown``."""
    from tacit.reports.html import render_html
    from tacit.reports.markdown import render_markdown

    text = render_markdown(document) if form == "markdown" else render_html(document)
    return text.encode("utf-8", "backslashreplace")
