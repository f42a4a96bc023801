"""The page of commands as Markdown, from the program's own help: common options in tables, rare ones folded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import cleandoc

import click

from tacit.cli.options import RUNNING, SECTIONS

#: Options that every command has; the page names them once.
EVERYWHERE = ("--help", "--help-all")


def pages(program: click.Group) -> Iterator[str]:
    """Yield a table of all commands, then a section for each."""
    commands = list(_all_commands(program, ("tacit",)))[1:]
    yield "| command | does |"
    yield "|---|---|"
    for path, command in commands:
        if not isinstance(command, click.Group):
            name = " ".join(path)
            yield f"| [`{name}`](#{'-'.join(path)}) | {_paragraphs(command)[0]} |"
    for path, command in commands:
        if not isinstance(command, click.Group):
            yield from _section(path, command)


def _all_commands(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path[-1])
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if child is not None and not child.hidden:
                yield from _all_commands(child, (*path, name))


def _section(path: tuple[str, ...], command: click.Command) -> Iterator[str]:
    context = click.Context(command, info_name=" ".join(path), help_option_names=["-h", "--help"])
    summary, *more = _paragraphs(command)
    yield f"\n## `{' '.join(path)}`\n\n{summary}\n"
    yield f"```text\n{' '.join([*path, *command.collect_usage_pieces(context)])}\n```"
    for paragraph in more:
        yield f"\n{paragraph}"
    if command.epilog:
        lines = command.epilog.strip("\b\n").splitlines()[1:]
        yield "\n".join(["\n```sh", *(line.strip() for line in lines), "```"])
    common: dict[str, list[str]] = {section: [] for section in SECTIONS}
    rare: dict[str, list[str]] = {section: [] for section in SECTIONS}
    for param in command.get_params(context):
        record = param.get_help_record(context)
        if record is None or isinstance(param, click.Argument) or param.opts[-1] in EVERYWHERE:
            continue
        of = rare if getattr(param, "rare", False) else common
        of[getattr(param, "section", RUNNING)].append(_row(*record))
    yield from _table(common)
    count = sum(map(len, rare.values()))
    if count:
        yield f'\n<details markdown="1">\n<summary>{count} more {"option" if count == 1 else "options"}</summary>'
        yield from _table(rare)
        yield "\n</details>"


def _paragraphs(command: click.Command) -> list[str]:
    """Return the paragraphs of a command's help, each on one line."""
    return [_escape(" ".join(part.split())) for part in cleandoc(command.help or "").split("\n\n")]


def _row(names: str, text: str) -> str:
    """Return a row of a table: the option as typed, its text, its default."""
    said, bracket, default = text.partition("  [")
    default = default.rstrip("]").removeprefix("default: ")
    shown = f"{_escape(said)} *Default: {_escape(default)}.*" if bracket else _escape(said)
    typed, bracket, choices = names.partition(" [")
    if bracket and "|" in choices:  # a bar would end the cell
        *first, last = (f"`{choice}`" for choice in choices.rstrip("]").split("|"))
        return f"| `{typed}` {', '.join(first)} or {last} | {shown} |"
    return f"| `{names}` | {shown} |"


def _escape(text: str) -> str:
    """Return text with options as code, and signs of Markdown as themselves."""
    text = re.sub(r"([<|*_])", r"\\\1", text)
    return re.sub(r"(?<![\w`-])(--[a-z][a-z-]*)", lambda found: f"`{found[1]}`", text)


def _table(listed: dict[str, list[str]]) -> Iterator[str]:
    """Yield one table with a heading row for each section that has options."""
    rows = [(section, row) for section, found in listed.items() for row in found]
    if not rows:
        return
    before = ""
    for section, row in rows:
        if section != before:
            yield f"\n| {section} | |\n|---|---|"
            before = section
        yield row
