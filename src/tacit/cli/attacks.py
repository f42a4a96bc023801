"""``tacit attacks``: the table of attacks."""

from __future__ import annotations

import click

import tacit
from tacit.cli.options import examples, json_option
from tacit.cli.output import emit


@click.command("attacks", epilog=examples("tacit attacks"))
@json_option
def attacks_command(json_to: str | None) -> None:
    """List the attacks.

    Each with what it needs, what it infers, and whether it proves or estimates.
    """

    def text() -> str:
        blocks = [
            f"{attack.code}  {attack.name}: {attack.summary}\n     needs {attack.needs}; {attack.claim}; {attack.source}"
            for attack in tacit.ATTACKS
        ]
        return "\n".join(blocks) + "\n\nTo run only some of them: tacit audit RELEASE --attack CODE\n"

    fields = ("code", "name", "needs", "claim", "summary", "source")
    rows = [{field: getattr(attack, field) for field in fields} for attack in tacit.ATTACKS]
    emit({"format": "tacit.attacks/1", "attacks": rows}, text, json_to=json_to)
