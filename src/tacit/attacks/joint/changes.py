"""Columns whose values may have changed between two releases about the same people.

Such a column is one axis of histories (:mod:`tacit.attacks.joint.histories`). What a release prints is about one half of them, and that
somebody changed is a set of histories, so that a change is nothing but one more group of people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tacit.attacks.joint.boxes import Allowed, Box, Key
from tacit.attacks.joint.histories import OF_KIND, all_histories, with_value
from tacit.attacks.joint.lines import Line, Origin
from tacit.attacks.joint.vocabulary import Vocabulary
from tacit.errors import OptionError, nearest_name
from tacit.model.bound import Bound
from tacit.model.people import Changed, People
from tacit.wording.joint import differs

#: Histories of one column at most.
MOST_HISTORIES = 1_000

#: Axes of histories with their values, by the axis whose values may have changed.
Histories = Mapping[Key, tuple[Key, list[str]]]


def with_changes(
    lines: Sequence[Line], people: People, words: Vocabulary, of: Sequence[int]
) -> tuple[list[Line], Mapping[Key, list[str]]]:
    """The lines as they are said of histories, with how many people changed, and the values of each axis of histories."""
    if not isinstance(people, Changed):
        return list(lines), {}
    histories = dict(_histories(name, words) for name in people.columns)
    out = [_about_half(line, histories, of[line.origin.release]) for line in lines]
    second = list(of).index(1)
    for key, values in histories.values():
        box = {key: Allowed(frozenset(filter(differs, values)))}
        if not box[key].values:
            continue  # a single value, and everybody has it
        out.append(Line(((1, box),), *people.people, Origin(second, "changed", "changed", Bound(*people.people), (key.name,))))
    return out, dict(histories.values())


def _histories(name: str, words: Vocabulary) -> tuple[Key, tuple[Key, list[str]]]:
    """A column that a declaration names, or an item that somebody has or lacks, with its axis of histories."""
    key = next((Key(kind, name) for kind in ("column", "item") if Key(kind, name) in words.values), None)
    if key is None:
        known = sorted({key.name for key in words.values})
        raise OptionError(
            "names a column that no release speaks of", where="--people", remedy=nearest_name(name, known, "columns")
        )
    values = all_histories(key.kind, *words.universe(key))
    if len(values) > MOST_HISTORIES:
        remedy = "Leave the column out of the declaration, or publish it more coarsely"
        what = f"the column {name} has too many values to be followed from one release to the other"
        raise OptionError(what, where="--people", remedy=remedy)
    return key, (Key(OF_KIND[key.kind], name), values)


def _about_half(line: Line, histories: Histories, half: int) -> Line:
    """A line about the values of one release as one about histories."""

    def box_of(box: Box) -> Box:
        out: dict[Key, Allowed] = {}
        for key, allowed in box.items():
            if key in histories:
                axis, values = histories[key]
                out[axis] = Allowed(with_value(values, half, allowed.values, allowed.excluded))
            else:
                out[key] = allowed
        return out

    return Line(tuple((factor, box_of(box)) for factor, box in line.terms), line.lo, line.hi, line.origin)
