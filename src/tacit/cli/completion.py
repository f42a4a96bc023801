"""Completion by the shell: commands and options by click, names of attacks and repairs, otherwise files.

Click's scripts complete nothing where an option takes plain text, not even files; here the shell completes files as it always does.
"""

from __future__ import annotations

import click
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ShellComplete, ZshComplete, add_completion_class


def _or_files(base: type[ShellComplete]) -> type[ShellComplete]:
    """Return a shell's class that falls back to file names."""

    def get_completions(self: ShellComplete, args: list[str], incomplete: str) -> list[CompletionItem]:
        found = super(made, self).get_completions(args, incomplete)
        return found or [CompletionItem(incomplete, type="file")]

    made = type(base.__name__, (base,), {"get_completions": get_completions})
    return made


def install_completion() -> None:
    """Let the shells complete files as well."""
    for base in (BashComplete, ZshComplete, FishComplete):
        add_completion_class(_or_files(base))


def complete_attacks(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the codes of attacks that begin so."""
    import tacit

    fitting = [attack for attack in tacit.ATTACKS if attack.code.startswith(incomplete.upper())]
    return [CompletionItem(attack.code, help=attack.name) for attack in fitting]


def complete_repairs(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the repairs whose names begin so."""
    import tacit

    return [CompletionItem(repair.name, help=repair.summary) for repair in tacit.REPAIRS if repair.name.startswith(incomplete)]
