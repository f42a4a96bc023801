"""Documents as self-contained HTML pages."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from tacit.model.version import __version__
from tacit.reports import pictures
from tacit.reports.document import Document, capitalise
from tacit.reports.sentences import visible

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

#: A command to type: a verb, and options up to the end of the clause.
_COMMAND = re.compile(r"\btacit [a-z]+ [^;()]* -[^;()]*?(?=\.?$| ?[;()])")
#: Signs that not every terminal can print, and every browser can.
_TYPOGRAPHIC = {ord("-"): "−", ord("x"): "×"}


def render_html(document: Document) -> str:
    """Return a document as a whole page."""
    return environment().get_template("report.html").render(document=document)


@cache
def environment() -> Environment:
    """Return the template environment of all pages."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("tacit.reports", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=escape_value,
    )
    made.globals |= {"version": __version__, "light": pictures.LIGHT, "dark": pictures.DARK}
    made.filters |= {"capitalise": capitalise, "commands": mark_commands, "typographic": _typographic}
    return made


def escape_value(value: Any) -> Markup:
    """Return a value escaped, without invisible characters."""
    from markupsafe import Markup

    if isinstance(value, Markup):
        return value
    return Markup(escape(visible(str(value))).replace(" %", "&nbsp;%"))


def mark_commands(sentence: str) -> Markup:
    """Return a sentence whose commands stand out.

    >>> str(mark_commands("Repair it: tacit repair RELEASE --k 5 -o OUT (tacit repairs lists other ways)."))
    'Repair it: <code>tacit repair RELEASE --k 5 -o OUT</code> (tacit repairs lists other ways).'
    """
    from markupsafe import Markup

    code = Markup("<code>{}</code>")
    parts = []
    end = 0
    for found in _COMMAND.finditer(sentence):
        parts += [escape_value(sentence[end : found.start()]), code.format(escape_value(found[0]))]
        end = found.end()
    return Markup("").join([*parts, escape_value(sentence[end:])])


def _typographic(number: str) -> str:
    return number.translate(_TYPOGRAPHIC)
