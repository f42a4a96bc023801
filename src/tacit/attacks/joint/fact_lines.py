"""What an adversary knows besides the releases, as lines: so many people of a group have a sensitive value, or nobody does."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence

from tacit.attacks.joint.boxes import Allowed, Key
from tacit.attacks.joint.lines import Line, Origin
from tacit.model.bound import Bound
from tacit.model.knowledge import Amount, Fact


def fact_lines(facts: Sequence[Fact], sensitive: str, columns: Collection[str], n: int | None) -> Iterator[Line]:
    """The facts about columns that some release names; shares of groups, other than none of them, are for attacks on known people."""
    for fact in facts:
        if not {*fact.allowed, sensitive} <= set(columns):
            continue
        least, most = _number(fact.at_least), _number(fact.at_most)
        if least is None and most is None:
            continue
        box = {Key("column", name): Allowed(frozenset(values)) for name, values in fact.allowed.items()}
        box[Key("column", sensitive)] = Allowed(frozenset([fact.value]))
        told = {"event": {name: sorted(values) for name, values in fact.allowed.items()}, "value": fact.value}
        text = json.dumps(told | {"at_least": least, "at_most": most}, ensure_ascii=False, sort_keys=True)
        ends = Bound(least or 0, most if most is not None else n or least or 0)
        yield Line(((1, box),), least, most, Origin(0, fact.place, "fact", ends, (text,)))


def _number(amount: Amount | None) -> int | None:
    """A number of people; None of a share, unless it is none of them."""
    if amount is None or (amount.is_share and amount.value):
        return None
    return int(amount.value)
