"""Completion by the shell: commands and options by click, names of attacks and repairs, otherwise files.

Click's scripts complete nothing where an option takes plain text, not even files; here the shell completes files as it always does.
"""

from __future__ import annotations

import click
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ShellComplete, ZshComplete, add_completion_class


class _OrFiles(ShellComplete):
    """Shell that completes a file where nothing else fits."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        return super().get_completions(args, incomplete) or [CompletionItem(incomplete, type="file")]


class _Bash(_OrFiles, BashComplete):
    pass


class _Zsh(_OrFiles, ZshComplete):
    pass


class _Fish(_OrFiles, FishComplete):
    pass


def install_completion() -> None:
    """Let the shells complete files as well."""
    for shell in (_Bash, _Zsh, _Fish):
        add_completion_class(shell)


def complete_attacks(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the codes of attacks that begin so."""
    import tacit

    fitting = [attack for attack in tacit.ATTACKS if attack.code.startswith(incomplete.upper())]
    return [CompletionItem(attack.code, help=attack.name) for attack in fitting]


def complete_repairs(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the repairs whose names begin so."""
    import tacit

    return [CompletionItem(repair.name, help=repair.summary) for repair in tacit.REPAIRS if repair.name.startswith(incomplete)]
