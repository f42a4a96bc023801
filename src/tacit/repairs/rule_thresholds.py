"""The thresholds of support and confidence at which rules are safe; the part of ``raise-threshold`` that is about rules."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from tacit.mining.publishing import Published
from tacit.model.release import Header, Rules
from tacit.repairs.base import RepairCase
from tacit.repairs.lines import Lines, safety

#: Confidences are tried in steps of this, supports in steps of a thousandth of all people: round numbers, which tell nothing about single rules.
CONFIDENCE_STEP = Fraction(1, 20)
SUPPORT_STEPS = 1000


def safe_thresholds(case: RepairCase, name: str) -> Rules:
    """The longest part of the rules above a support and a confidence whose audit is clean, as far as halving finds it; else an empty list."""
    lines = Lines.of(case, name)
    best, best_safety = _above(lines, _beyond(lines), lines.release.header), -1
    for bar in confidences(lines.release.header):
        header = replace(lines.release.header, min_confidence=bar)
        found, how_safe = _at_confidence(case, lines, header, len(best) if best_safety >= 2 else -1)
        if found is not None and (how_safe, len(found)) > (best_safety, len(best) if best_safety >= 0 else -1):
            best, best_safety = found, how_safe
    return best


def _at_confidence(case: RepairCase, lines: Lines, header: Header, to_beat: int) -> tuple[Rules | None, int]:
    """The most rules above a support, at one confidence, that are safe and more than ``to_beat``; halving over the supports."""
    # The last support is above every count. Supports that keep too few rules are not looked at.
    steps = [one for one in supports(lines) if len(lines.reaching(one, header)) > to_beat]
    found: Rules | None = None
    how_safe, unsafe, safe = -1, -1, len(steps)
    while safe - unsafe > 1:
        # The threshold as it is comes first: where raising the confidence is enough, the support need not rise.
        middle = 0 if unsafe == -1 and safe == len(steps) else (safe + unsafe) // 2
        candidate = _above(lines, steps[middle], header)
        judged = safety(case.look(candidate))
        if judged >= max(1, how_safe):
            found, how_safe = candidate, judged
        if judged == 2:
            safe = middle
        else:
            unsafe = middle
    return found, how_safe


def _above(lines: Lines, min_support: int, header: Header) -> Rules:
    """The rules that reach a support and the header's confidence, printed as before."""
    release = lines.release
    header = replace(header, min_support=min_support)
    kept = lines.reaching(min_support, header)
    if release.support is None and not release.is_withheld:
        return release.take(kept, header)
    # Thresholds are part of what a line without exact numbers says, so it is printed anew.
    part = Lines(release.take(kept, header), lines.counts[kept], lines.wholes[kept])
    if release.support is None:
        return part.printed(Published(withhold_values=True), header)
    digits = header.digits if header.digits is not None else int(release.support.digits.max(initial=0))
    return part.printed(Published(digits=digits, with_confidence=release.confidence is not None), header)


def confidences(header: Header) -> list[Fraction]:
    """The confidence as it is, then higher ones in round steps up to 1.

    >>> [float(one) for one in confidences(Header(min_confidence=Fraction("0.87")))]
    [0.87, 0.9, 0.95, 1.0]
    """
    now = header.min_confidence
    if now is None:
        return [Fraction(0)]
    first = now // CONFIDENCE_STEP + 1
    last = Fraction(1) - (CONFIDENCE_STEP if header.strict else 0)  # nothing exceeds 1
    return [now, *(one for step in range(int(first), 21) if (one := step * CONFIDENCE_STEP) <= last)]


def supports(lines: Lines) -> list[int]:
    """The support as it is, then higher ones in round steps up to one above every count."""
    header = lines.release.header
    n, now, last = header.n or 0, header.min_support or 1, _beyond(lines)
    steps = -(-np.arange(1, SUPPORT_STEPS + 1) * n // SUPPORT_STEPS) if n > SUPPORT_STEPS else np.arange(1, n + 1)
    return sorted({now, last, *steps[(steps > now) & (steps < last)].tolist()})


def _beyond(lines: Lines) -> int:
    """A support that no rule reaches."""
    return max(int(lines.counts.max(initial=0)) + 1, lines.release.header.min_support or 1)
