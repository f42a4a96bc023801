"""The proof that a value is ruled out, in numbers: how often each statement is added, how often known people are, and what that stays below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacit.model.finding import Citation


def proof_of(because: Sequence[Citation]) -> dict[str, Any]:
    """The certificate of a sum as its citations tell it; without citations, that of a column that has no other values.

    >>> from tacit.model.bound import Bound
    >>> cited = [Citation(0, 7, Bound(2, 2), -1), Citation(0, "people with 1", Bound.of(2), None)]
    >>> cited += [Citation(0, "people asked about in 1", Bound.of(2), 1), Citation(0, "denominator", Bound.of(1), None)]
    >>> found = proof_of(cited)
    >>> found["weights"], found["groups"], found["below"]
    ([{'release': 0, 'line': 7, 'count': [2, 2], 'people': 2, 'weight': '-1'}], [{'people': 2, 'asked': True, 'terms': [1], 'weight': '1'}], 1)
    """
    weights: list[dict[str, Any]] = []
    groups: list[dict[str, Any]] = []
    wholes: dict[int, int] = {}
    below = 1
    for cited in because:
        place = str(cited.place)
        if place == "denominator":
            below = cited.count.lo
        elif place.startswith("people with "):
            wholes[int(place.removeprefix("people with "))] = cited.count.lo
        elif place.startswith(("people in ", "people asked about in ")):
            who, _, inside = place.partition(" in ")
            terms = [] if inside == "none" else [int(number) for number in inside.split(", ")]
            asked = who == "people asked about"
            groups.append({"people": cited.count.lo, "asked": asked, "terms": terms, "weight": str(cited.weight)})
        else:
            where = "line" if isinstance(cited.place, int) else "cell"
            weights.append({"release": cited.release, where: cited.place, "count": cited.count.to_list()})
            weights[-1] |= {"people": 0, "weight": str(cited.weight)}
    for number, whole in wholes.items():
        weights[number - 1]["people"] = whole
    return {"weights": weights, "groups": groups, "below": below}
