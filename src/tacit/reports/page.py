"""The parts of a page: one HTML file that asks for nothing from outside, with style and pictures inside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from tacit.model.version import __version__
from tacit.reports.words import visible

#: Columns that hold numbers.
FIGURES = frozenset(
    {"Findings", "Waived", "Undecided", "People", "Estimate", "Among all", "Proved bounds", "Before", "After", "Cost", "Groups"}
)
#: A command to type: a verb, and options up to the end of the clause.
_COMMAND = re.compile(r"\btacit [a-z]+ [^;()]* -[^;()]*?(?=\.?$| ?[;()])")


def page(title: str, body: Iterable[str]) -> str:
    """A whole page."""
    style = files("tacit.reports").joinpath("report.css").read_text("utf-8")
    content = "\n".join(part for part in body if part)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="Tacit {safe(__version__)}">
<title>{safe(title)}</title>
<style>
{style}</style>
</head>
<body>
<main>
{content}
</main>
</body>
</html>
"""


def section(title: str, *content: str) -> str:
    """A part of the page under its heading; nothing where there is no content."""
    told = "\n".join(part for part in content if part)
    return f"<section><h2>{safe(title)}</h2>\n{told}</section>" if told else ""


def listed(sentences: Iterable[str]) -> str:
    """Sentences as a list; commands in them are marked as such."""
    return "<ul>" + "".join(f"<li>{with_commands(sentence)}</li>" for sentence in sentences) + "</ul>"


def with_commands(sentence: str) -> str:
    """A sentence whose commands to type stand out.

    >>> with_commands("Repair it: tacit repair RELEASE --k 5 -o OUT (tacit repairs lists other ways).")
    'Repair it: <code>tacit repair RELEASE --k 5 -o OUT</code> (tacit repairs lists other ways).'
    """
    parts, end = [], 0
    for found in _COMMAND.finditer(sentence):
        parts += [safe(sentence[end : found.start()]), f"<code>{safe(found[0])}</code>"]
        end = found.end()
    return "".join([*parts, safe(sentence[end:])])


def figure(picture: str, caption: str) -> str:
    """A picture with its caption."""
    return f"<figure>{picture}<figcaption>{safe(caption)}</figcaption></figure>"


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, style: str = "attacks") -> str:
    """A table that becomes a list on a narrow screen; the first cell of a row is its heading. Text that is already marked up is kept."""
    head = "".join(f'<th scope="col"{_figures(name)}>{safe(name)}</th>' for name in columns)
    body = "\n".join(_row(columns, row) for row in rows)
    whole = (
        f'<table class="{style}"><caption>{safe(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    )
    return scrolled(whole, caption)


def scrolled(content: str, label: str) -> str:
    """Content that may be wider than the screen; whoever uses a keyboard can move it."""
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{safe(label)}">{content}</div>'


def _row(columns: Sequence[str], row: Sequence[object]) -> str:
    cells = "".join(
        f'<td data-name="{safe(name)}"{_figures(name)}>{cell if isinstance(cell, Marked) else safe(cell)}</td>'
        for name, cell in zip(columns[1:], row[1:], strict=True)
    )
    return f'<tr><th scope="row">{row[0] if isinstance(row[0], Marked) else safe(row[0])}</th>{cells}</tr>'


class Marked(str):
    """Text that is HTML already."""

    __slots__ = ()


def code(text: str) -> Marked:
    """Text in letters of one width."""
    return Marked(f"<code>{safe(text)}</code>")


def facts(caption: str, rows: Iterable[tuple[str, object]]) -> str:
    """Names with their values, in two columns."""
    body = "".join(
        f'<tr><th scope="row">{safe(name)}</th><td>{value if isinstance(value, Marked) else safe(value)}</td></tr>'
        for name, value in rows
    )
    return f'<table class="facts"><caption>{safe(caption)}</caption><tbody>{body}</tbody></table>'


def tiles(entries: Iterable[tuple[int, str]]) -> str:
    """The few numbers that matter, large."""
    shown = "".join(f"<li><b>{number:,}</b><span>{safe(what)}</span></li>" for number, what in entries)
    return f'<ul class="tiles">{shown}</ul>' if shown else ""


def _figures(column: str) -> str:
    return ' class="figure"' if column in FIGURES else ""


def safe(value: Any) -> str:
    """Text that a browser shows as it is."""
    return escape(visible(str(value))).replace(" %", "&nbsp;%")
