"""Several releases as one problem: all their lines over common axes."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.attacks.joint.boxes import MEMBER, Allowed, Axis, Box, Key
from tacit.attacks.joint.changes import with_changes
from tacit.attacks.joint.frequency_lines import FrequencyLines
from tacit.attacks.joint.lines import MOST_GROUPS, Problem, groups_of
from tacit.attacks.joint.listed_lines import ListedLines
from tacit.attacks.joint.populations import populations
from tacit.attacks.joint.vocabulary import Lined, Vocabulary
from tacit.model.frequencies import FrequencyTable
from tacit.model.people import People


def lower(releases: Sequence[Lined], people: People, of: Sequence[int] | None = None) -> Problem:
    """All that the releases print about their people, taken together; ``of`` is the population of each, by default its own."""
    words = Vocabulary(releases, people, of)
    whose = populations(releases, people, of)
    lines, members = list(whose.lines), whose.members
    left_out = 0
    for number, release in enumerate(releases):
        reader = _reader(number, release, words, whose.scopes[number])
        lines += reader.lines()
        left_out += reader.left_out
    lines, histories = with_changes(lines, people, words, whose.of)
    named: dict[Key, list[Allowed]] = {}
    for line in lines:
        for _, box in line.terms:
            for key, allowed in box.items():
                named.setdefault(key, []).append(allowed)
    for values in members:
        if values:
            named.setdefault(MEMBER, []).append(Allowed(values))

    def universe(key: Key) -> tuple[list[str], bool]:
        if key == MEMBER or key in histories:
            return (list(whose.values) if key == MEMBER else histories[key]), False
        return words.universe(key)

    keys = sorted(named, reverse=True)
    axes = tuple(Axis.of(key, *universe(key), named[key]) for key in keys)
    if groups_of(axes) > MOST_GROUPS:  # then those who lack a single value are not looked at
        axes = tuple(Axis.of(key, *universe(key), named[key], lacking=False) for key in keys)
    return Problem(axes, tuple(lines), whose.everybody, members, left_out, {axis.key: place for place, axis in enumerate(axes)})


def _reader(number: int, release: Lined, words: Vocabulary, scope: Box) -> FrequencyLines | ListedLines:
    """What reads the lines of a release of its kind."""
    if isinstance(release, FrequencyTable):
        return FrequencyLines(number, release, scope)
    return ListedLines(number, release, words, scope)
