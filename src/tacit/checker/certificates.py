"""Re-checks that the certificate of a finding is one that can be read, claims what the finding claims, and says what its citations say.

Like :mod:`tacit.checker`, of which it is a part, it shares no code with the attacks. Whether the claim follows is for the parts to say that know
the release.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tacit.checker.rules import Reject
from tacit.errors import InputError

#: The only format of certificates that is known here.
FORMAT = "tacit.certificate/1"
_GROUP = re.compile(r"people( asked about)? in (none|\d+(?:, \d+)*)")
_WITH = re.compile(r"people with (\d+)")
_FACT = re.compile(r"(?P<where>.*?): (?P<event>\{.*\}) => not (?P<value>.*)", re.DOTALL)


def check_format(finding: Mapping[str, Any]) -> None:
    """Refuse to judge a certificate of another format, which a rule of this version may misread."""
    proof = finding.get("certificate")
    if isinstance(proof, Mapping) and proof.get("format") != FORMAT:
        what = f"holds a certificate of another format than {FORMAT}, so it cannot be judged"
        raise InputError(
            what, where="the audit", remedy="Check it with the version of Tacit that wrote it, or audit the release again"
        )


def check_carried(finding: Mapping[str, Any]) -> None:
    """Raise where a finding that is to be proved carries no certificate."""
    if not isinstance(finding.get("certificate"), Mapping):
        raise Reject("it carries no certificate")


def check_claim(finding: Mapping[str, Any]) -> None:
    """Raise where the certificate of a finding is about something else."""
    lo, hi = finding["count"]
    if finding["certificate"].get("claim") != {"event": finding["event"], "at_least": lo, "at_most": hi}:
        raise Reject("its certificate claims something else")


def check_citations(finding: Mapping[str, Any]) -> None:
    """Raise where the certificate of a finding about values says something else than its citations, which are checked line by line."""
    told = {"R03": _sum, "B01": _matching, "T01": _counts}[finding["code"]](finding["because"])
    proof = finding["certificate"]
    if any(proof.get(name) != value for name, value in told.items()):
        raise Reject("its certificate does not say what its citations say")
    if finding["code"] == "B01":
        _check_left(finding, proof["matching"])


def _sum(because: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The sum of a finding of R03: statements, groups of known people, and what it has to stay below."""
    weights: list[dict[str, Any]] = []
    groups: list[dict[str, Any]] = []
    wholes: list[tuple[int, int]] = []
    below = 1
    for one in because:
        cell = str(one.get("cell", ""))
        if (cell == "denominator" or cell.startswith("people ")) and one["count"][0] != one["count"][1]:
            raise Reject("a number of people that it cites is no single number")
        if cell == "denominator":
            below = one["count"][0]
        elif match := _WITH.fullmatch(cell):
            wholes.append((int(match[1]) - 1, one["count"][0]))
        elif match := _GROUP.fullmatch(cell):
            terms = [int(number) for number in re.findall(r"\d+", match[2])]
            groups.append({"people": one["count"][0], "asked": bool(match[1]), "terms": terms, "weight": str(one.get("weight"))})
        else:
            weights.append(dict(one) | {"people": 0, "weight": str(one.get("weight"))})
    for place, whole in wholes:
        weights[place]["people"] = whole
    return {"weights": weights, "groups": groups, "below": below}


def _matching(because: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Nothing that equals a part of the certificate of B01 by itself; :func:`_check_left` compares the argument."""
    return {}


def _check_left(finding: Mapping[str, Any], matching: Mapping[str, Any]) -> None:
    """The argument of B01: the facts, and which values others use up, as its citations have them; together with what is left, all values."""
    facts: list[dict[str, Any]] = []
    used_up: list[str] = []
    users = 0
    for one in finding["because"]:
        cell = str(one.get("cell", ""))
        if one["count"][0] != one["count"][1]:
            raise Reject("a number of people that it cites is no single number")
        if cell.startswith("used up "):
            used_up, users = json.loads(cell.removeprefix("used up ")), one["count"][0]
        elif match := _FACT.fullmatch(cell):
            facts.append({"where": match["where"], "event": json.loads(match["event"]), "not": match["value"]})
    if (matching["facts"], matching["used_up"], matching["users"]) != (facts, used_up, users):
        raise Reject("its certificate does not say what its citations say")
    left = [values for values in finding["event"].values() if sorted(values) == sorted(matching["left"])]
    if not left or set(matching["ruled_out"]) & {*matching["used_up"], *matching["left"]}:
        raise Reject("what its certificate leaves is something else")
    steps = " ".join(finding["steps"])
    if any(value not in steps for value in matching["ruled_out"]):
        raise Reject("its certificate rules something else out than its steps")


def _counts(because: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The two counts of a finding of T01, and the lines that it tells, each about one record."""
    if any(one["count"][0] != one["count"][1] or ("line" in one and one["count"][0] != 1) for one in because):
        raise Reject("a number of records that it cites is another")
    numbers = [one["count"][0] for one in because if "line" not in one]
    counts = dict(zip(("records", "showing"), numbers, strict=True)) if numbers else {}
    return {"counts": counts, "lines": [one["line"] for one in because if "line" in one]}
