"""The Python reference as Markdown, from the docstrings: nothing is written by hand, so nothing can go stale."""

from __future__ import annotations

import ast
import builtins
import doctest
import inspect
import re
from collections.abc import Iterable, Iterator
from textwrap import dedent, fill
from types import ModuleType
from typing import Any

import tacit
from tacit.model.release import Published

#: How wide the lines of a signature are.
WIDTH = 100
_ROLE = re.compile(r":(?:func|class|data|meth|mod):`~?(?:tacit\.)?([^`]+)`")
_IMPORTS = (ast.Import, ast.ImportFrom)
_SECTION = re.compile(r"^(Parameters|Examples|Returns|Raises)\n-+\n", re.MULTILINE)


def pages(package: ModuleType) -> Iterator[str]:
    """All public names in groups: first what one calls, in the order in which the package tells it, then types, then errors."""
    told = package.__doc__ or ""
    called = [name for name in re.findall(r":func:`(\w+)`", told) if name in package.__all__]
    called += [name for name in package.__all__ if inspect.isfunction(getattr(package, name)) and name not in called]
    errors = [name for name in package.__all__ if _is_error(getattr(package, name))]
    types = [name for name in package.__all__ if inspect.isclass(getattr(package, name)) and name not in errors]
    tables = [name for name in package.__all__ if name.isupper()]
    yield "## Functions"
    for name in dict.fromkeys(called):
        yield from _function(name, getattr(package, name))
    yield "\n## Types"
    yield f"\n### Every release\n\n{_first(Published)}\n"
    yield _table(_members(Published))
    for name in types:
        yield from _type(name, getattr(package, name))
    yield "\n## Tables\n"
    for name in tables:
        rows = getattr(package, name)
        fields = ", ".join(f"`{field}`" for field in _fields(rows[0]))
        yield f"- `tacit.{name}`: a tuple of {len(rows)} rows, each with {fields}."
    yield "\n## Errors\n"
    for name in errors:
        yield f"- `tacit.{name}`: {_plain(_first(getattr(package, name)))}"


def _is_error(thing: Any) -> bool:
    return inspect.isclass(thing) and issubclass(thing, Exception)


def _fields(row: Any) -> list[str]:
    return [name for name in getattr(type(row), "__dataclass_fields__", {}) if not callable(getattr(row, name))]


def _function(name: str, thing: Any) -> Iterator[str]:
    """One function: how it is called, what comes back, its parameters, an example that runs."""
    yield f"\n### `tacit.{name}`\n"
    yield f"```text\n{_signature(f'tacit.{name}', thing)}\n```\n"
    yield from _told(inspect.getdoc(thing) or "")


def _signature(name: str, thing: Any) -> str:
    """A call with the defaults of its parameters, without types: those stand in the text."""
    parts, starred = [], False
    for parameter in inspect.signature(thing).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        shown = parameter.default if not callable(parameter.default) else None
        parts.append(parameter.name if parameter.default is parameter.empty else f"{parameter.name}={shown!r}")
    return fill(f"{name}({', '.join(parts)})", WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def _told(text: str) -> Iterator[str]:
    """A docstring as Markdown."""
    parts = _SECTION.split(text)
    yield _paragraphs(parts[0])
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        if title == "Examples":
            yield f"\n{_example(body)}"
        else:
            yield f"\n*{title}*\n\n{_list(body)}"


def _list(body: str) -> str:
    """Names at the margin, each with its indented text, as a list."""
    entries = re.findall(r"^(\S[^\n]*)\n((?:    [^\n]*\n?|\n)+)", body + "\n", re.MULTILINE)
    names = [(", ".join(f"`{one.strip()}`" for one in name.split(",")), " ".join(dedent(told).split())) for name, told in entries]
    return "\n".join(f"- {name}: {_plain(told)}" for name, told in names)


def _paragraphs(text: str) -> str:
    """Paragraphs of a docstring, each in one line; examples without a heading stay as they are, to be run."""
    out = []
    for part in re.split(r"\n\s*\n", text.strip()):
        out.append(_example(part) if part.lstrip().startswith(">>>") else _plain(" ".join(part.split())))
    return "\n\n".join(one for one in out if one)


def _example(session: str) -> str:
    """An example that runs by itself, public names imported; nothing where it needs more than the package offers."""
    import tacit

    code = ast.parse("".join(one.source for one in doctest.DocTestParser().get_examples(session + "\n")))
    bound = {node.id for node in ast.walk(code) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {
        (name.asname or name.name).split(".")[0] for node in ast.walk(code) if isinstance(node, _IMPORTS) for name in node.names
    }
    bound |= {node.arg for node in ast.walk(code) if isinstance(node, ast.arg)} | set(dir(builtins))
    used = {node.id for node in ast.walk(code) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)} - bound
    inside = any(
        isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("tests", "tacit.")) for node in ast.walk(code)
    )
    if inside or not used <= {"tacit", *tacit.__all__}:
        return ""
    named = sorted(used - {"tacit"})
    first = [
        *([">>> import tacit"] if "tacit" in used else []),
        *([f">>> from tacit import {', '.join(named)}"] if named else []),
    ]
    return "\n".join(["```pycon", *first, session.strip(), "", "```"])


def _plain(text: str) -> str:
    """Marks of docstrings as those of Markdown."""
    text = _ROLE.sub(lambda found: f"`{found[1]}`", text).replace("``", "`")
    return re.sub(r"(?<!`)<(?=\w)(?![^`]*`)", r"\\<", text)


def _type(name: str, thing: Any) -> Iterator[str]:
    """One type: what it is, and what it offers."""
    yield f"\n### `tacit.{name}`\n"
    yield from _told(inspect.getdoc(thing) or "")
    offered = list(_members(thing))
    if offered:
        yield f"\n{_table(offered)}"
    if thing is not Published and issubclass(thing, Published):
        yield "\nIt also has the members of [every release](#every-release)."


def _table(offered: Iterable[tuple[str, str]]) -> str:
    return "| name | what |\n|---|---|\n" + "\n".join(f"| `{member}` | {told} |" for member, told in offered)


def _members(thing: Any) -> Iterator[tuple[str, str]]:
    """Properties and methods of a type that are described, in the order of its source; those of an unnamed base last.

    What every release offers is listed once, for :class:`Published`.
    """
    bases = [base for base in thing.__mro__[1:] if base.__module__.startswith("tacit.") and base.__name__ not in tacit.__all__]
    bases = [base for base in bases if base is not Published]
    members: dict[str, Any] = {}
    for one in (thing, *bases):
        for name, member in vars(one).items():
            members.setdefault(name, member)
    for name, member in members.items():
        if name.startswith("_"):
            continue
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", getattr(member, "func", member))
        if not inspect.isfunction(function) or not function.__doc__:
            continue
        call = "" if isinstance(member, property) or hasattr(member, "func") else "()"
        yield f"{name}{call}", _plain(_first(function)).replace("|", "\\|")


def _first(thing: Any) -> str:
    """The first sentence of a docstring."""
    return " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
