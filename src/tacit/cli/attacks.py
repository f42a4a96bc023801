"""``tacit attacks``: the table of attacks."""

from __future__ import annotations

import click

from tacit.cli import options
from tacit.cli.output import emit


@click.command("attacks", epilog=options.examples("tacit attacks"))
@options.json_option
def attacks_command(json_to: str | None) -> None:
    """List the attacks.

    Each with what it needs, what it infers, and whether it proves or estimates.
    """
    from tacit.verbs.attacks import ATTACKS

    def text() -> str:
        blocks = [
            f"{attack.code}  {attack.name}: {attack.summary}\n     needs {attack.needs}; {attack.claim}; {attack.source}"
            for attack in ATTACKS
        ]
        return "\n".join(blocks) + "\n\nRun some of them only: tacit audit RELEASE --attack CODE\n"

    fields = ("code", "name", "needs", "claim", "summary", "source")
    rows = [{field: getattr(attack, field) for field in fields} for attack in ATTACKS]
    emit({"format": "tacit.attacks/1", "attacks": rows}, text, json_to=json_to)
