"""Several releases as one problem: all their lines over common axes."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.attacks.joint.boxes import MEMBER, Allowed, Axis, Key
from tacit.attacks.joint.lines import MOST_GROUPS, Problem, groups_of
from tacit.attacks.joint.listed_lines import ListedLines
from tacit.attacks.joint.populations import populations
from tacit.attacks.joint.vocabulary import Vocabulary
from tacit.model.people import People
from tacit.model.release import Itemsets, Listed


def lower(releases: Sequence[Listed], people: People, of: Sequence[int] | None = None) -> Problem:
    """All that the releases print about their people, taken together; ``of`` is the population of each, by default its own."""
    words = Vocabulary(releases, people)
    whose = populations(releases, people, of)
    lines, members = list(whose.lines), whose.members
    left_out = 0
    for number, release in enumerate(releases):
        reader = ListedLines(number, release, words, whose.scopes[number])
        lines += reader.itemsets(release) if isinstance(release, Itemsets) else reader.rules(release)
        left_out += reader.left_out
    named: dict[Key, list[Allowed]] = {}
    for line in lines:
        for _, box in line.terms:
            for key, allowed in box.items():
                named.setdefault(key, []).append(allowed)
    for values in members:
        if values:
            named.setdefault(MEMBER, []).append(Allowed(values))

    def universe(key: Key) -> tuple[list[str], bool]:
        return (list(whose.values), False) if key == MEMBER else words.universe(key)

    keys = sorted(named, reverse=True)
    axes = tuple(Axis.of(key, *universe(key), named[key]) for key in keys)
    if groups_of(axes) > MOST_GROUPS:  # then those who lack a single value are not looked at
        axes = tuple(Axis.of(key, *universe(key), named[key], lacking=False) for key in keys)
    return Problem(axes, tuple(lines), whose.everybody, members, left_out, {axis.key: place for place, axis in enumerate(axes)})
