"""What became of re-checking an audit, as text."""

from __future__ import annotations

from collections.abc import Mapping

from tacit.model.verification import Verification
from tacit.reports.layout import WIDTH, bullet
from tacit.reports.summary import counted


def verification_text(outcome: Verification, *, width: int = WIDTH) -> str:
    """Return how many findings hold, of which attack, what is not confirmed, and what is wrong.

    >>> print(verification_text(Verification(2, (), {"I01": 2}, {"I01": 2}, {"R02": 1}), width=120), end="")
    HOLDS: 2 of 2 proved findings re-checked: 2 I01.
      - 1 estimate is listed (1 R02): a probability cannot be proved, so it is not checked.
    >>> print(verification_text(Verification(0, (), again=True)), end="")
    HOLDS: audited again with the same outcome.
    """
    verdict = "HOLDS" if outcome.ok else "REJECTED" if outcome.problems else "CANNOT CONFIRM"
    told = []
    if outcome.proved:
        parts = f": {_by_attack(outcome.holding)}" if outcome.held else ""
        true = "" if outcome.ok else " and true"
        told.append(f"{outcome.held:,} of {counted(outcome.proved, 'proved finding')} re-checked{true}{parts}")
    if outcome.again:
        told.append("audited again with the same outcome")
    if not told:
        told.append("the record does not hold" if outcome.problems else "the record lists no proved finding")
    notes = [*outcome.problems, *([outcome.unconfirmed] if outcome.unconfirmed else []), *outcome.open]
    if outcome.estimates:
        total = sum(outcome.estimates.values())
        are = "estimate is" if total == 1 else "estimates are"
        it = "it is" if total == 1 else "they are"
        why = f"a probability cannot be proved, so {it} not checked"
        notes.append(f"{total:,} {are} listed ({_by_attack(outcome.estimates)}): {why}.")
    lines = [f"{verdict}: {'; '.join(told)}.", *(line for note in notes for line in bullet("-", note, width))]
    return "\n".join(lines) + "\n"


def _by_attack(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {code}" for code, number in sorted(numbers.items()))
