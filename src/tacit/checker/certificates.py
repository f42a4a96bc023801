"""Checks of a certificate's format and claim.

Whether the claim follows is checked where the release is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.checker.rules import Reject
from tacit.errors import InputError
from tacit.model.finding import FORMAT


def check_format(finding: Mapping[str, Any]) -> None:
    """Refuse a certificate of another format."""
    proof = finding.get("certificate")
    if isinstance(proof, Mapping) and proof.get("format") != FORMAT:
        what = f"holds a certificate of another format than {FORMAT}, so it cannot be judged"
        raise InputError(
            what, where="the audit", remedy="Check it with the version of Tacit that wrote it, or audit the release again"
        )


def check_carried(finding: Mapping[str, Any]) -> None:
    """Raise if a proved finding carries no certificate."""
    if not isinstance(finding.get("certificate"), Mapping):
        raise Reject("it carries no certificate")


def check_claim(finding: Mapping[str, Any]) -> None:
    """Raise if a certificate makes another claim."""
    lo, hi = finding["count"]
    if finding["certificate"].get("claim") != {"event": finding["event"], "at_least": lo, "at_most": hi}:
        raise Reject("its certificate claims something else")
