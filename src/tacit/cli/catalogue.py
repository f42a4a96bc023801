"""``tacit attacks`` and ``tacit repairs``: the tables of both."""

from __future__ import annotations

import tacit
from tacit.cli.options import command, json_option
from tacit.cli.output import emit


@command("attacks", "tacit attacks")
@json_option
def attacks_command(json_to: str | None) -> None:
    """List the attacks.

    Each with what it needs, what it infers, and whether it proves or estimates.
    """
    blocks = [
        f"{attack.code}  {attack.name}: {attack.summary}\n     needs {attack.needs}; {attack.claim}; {attack.source}"
        for attack in tacit.ATTACKS
    ]
    text = "\n".join(blocks) + "\n\nTo run only some of them: tacit audit RELEASE --attack CODE\n"
    fields = ("code", "name", "needs", "claim", "summary", "source")
    rows = [{field: getattr(attack, field) for field in fields} for attack in tacit.ATTACKS]
    emit({"format": "tacit.attacks/1", "attacks": rows}, text, json_to=json_to)


@command("repairs", "tacit repairs")
@json_option
def repairs_command(json_to: str | None) -> None:
    """List the repairs.

    Each with the kinds of release that it changes.
    """
    text = "\n".join(f"{row.name}: {row.summary}\n    of {', '.join(row.of)}; {row.source}" for row in tacit.REPAIRS) + "\n"
    rows = [{"name": row.name, "of": list(row.of), "summary": row.summary, "source": row.source} for row in tacit.REPAIRS]
    emit({"format": "tacit.repairs/1", "repairs": rows}, text, json_to=json_to)
