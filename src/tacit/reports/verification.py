"""What became of re-checking an audit, as text."""

from __future__ import annotations

from collections.abc import Mapping

from tacit.model.verification import Verification
from tacit.reports.layout import WIDTH, bullet
from tacit.reports.summary import counted


def verification_text(outcome: Verification, *, found: int = 0, width: int = WIDTH) -> str:
    """How many findings hold, of which attack, what is not looked at, and what is wrong; ``found`` is how many proved ones the audit counts.

    >>> print(verification_text(Verification(2, (), {"I01": 2}, {"I01": 2}, {"R02": 1}), found=40, width=120), end="")
    HOLDS: 2 of 2 proved findings re-checked: 2 I01.
      - The audit counts 40 proved findings and lists 2: audit with a larger --top to have more of them checked.
      - 1 estimate is listed (1 R02): a probability cannot be proved, so it is not checked.
    """
    verdict = "HOLDS" if outcome.ok else "REJECTED"
    if outcome.proved:
        told = f"{outcome.held:,} of {counted(outcome.proved, 'proved finding')} re-checked"
        parts = f": {_by_attack(outcome.holding)}" if outcome.held else ""
        head = f"{verdict}: {told}{parts}." if outcome.ok else f"{verdict}: {told} and true{parts}."
    else:
        head = f"{verdict}: the record lists no proved finding{'; its verdict and totals fit' if outcome.ok else ''}."
    notes = []
    if found > outcome.proved:
        number = f"{counted(found, 'proved finding')} and lists {outcome.proved:,}"
        notes.append(f"The audit counts {number}: audit with a larger --top to have more of them checked.")
    if outcome.estimates:
        total = sum(outcome.estimates.values())
        are = "estimate is" if total == 1 else "estimates are"
        it = "it is" if total == 1 else "they are"
        why = f"a probability cannot be proved, so {it} not checked"
        notes.append(f"{total:,} {are} listed ({_by_attack(outcome.estimates)}): {why}.")
    lines = [head, *(line for note in [*outcome.problems, *notes] for line in bullet("-", note, width))]
    return "\n".join(lines) + "\n"


def _by_attack(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {code}" for code, number in sorted(numbers.items()))
