"""The help of every verb: short first, whole on demand."""

from __future__ import annotations

import click
import pytest

from tacit.cli import cli
from tacit.cli.options import MOST_HELP, SECTIONS
from tests.shell import tacit


def verbs() -> list[tuple[str, ...]]:
    context = click.Context(cli)
    found: list[tuple[str, ...]] = []
    for name in cli.list_commands(context):
        verb = cli.get_command(context, name)
        inner = verb.list_commands(context) if isinstance(verb, click.Group) else []
        found += [(name, one) for one in inner] or [(name,)]
    return found


@pytest.mark.parametrize("verb", verbs(), ids=" ".join)
def test_help_fits_on_a_screen_and_the_whole_help_lists_every_option(verb: tuple[str, ...]) -> None:
    short = tacit(*verb, "--help").stdout
    assert len(short.splitlines()) <= MOST_HELP
    assert short.startswith("Usage: ")
    whole = tacit(*verb, "--help-all")
    assert whole.exit_code == 0
    command: click.Command = cli
    for name in verb:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), name)
        assert found is not None
        command = found
    for param in command.params:
        if isinstance(param, click.Option):
            assert param.opts[-1] in whole.stdout


def test_options_stand_in_sections_the_common_path_first() -> None:
    text = tacit("audit", "--help").stdout
    places = [text.find(f"\n{section}:\n") for section in SECTIONS]
    shown = [place for place in places if place >= 0]
    assert len(shown) >= 4
    assert shown == sorted(shown)
    assert text.index("tacit audit itemsets.csv\n") < shown[0]
    assert "--hidden-below" not in text
    assert "--hidden-below" in tacit("audit", "--help-all").stdout
