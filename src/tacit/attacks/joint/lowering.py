"""Several releases as one problem: all their lines over common axes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from tacit.attacks.joint.boxes import MEMBER, Allowed, Axis, Box, Key
from tacit.attacks.joint.bucket_lines import BucketLines
from tacit.attacks.joint.changes import with_changes
from tacit.attacks.joint.fact_lines import fact_lines
from tacit.attacks.joint.frequency_lines import FrequencyLines
from tacit.attacks.joint.groups import MOST_LITERALS
from tacit.attacks.joint.lines import MOST_GROUPS, Condition, Line, Origin, Problem, groups_of
from tacit.attacks.joint.listed_lines import ListedLines
from tacit.attacks.joint.missing_rules import MissingRules
from tacit.attacks.joint.populations import populations
from tacit.attacks.joint.row_lines import RowLines
from tacit.attacks.joint.shown_rows import ShownRows
from tacit.attacks.joint.vocabulary import Vocabulary, all_values
from tacit.model.bound import Bound
from tacit.model.buckets import Buckets
from tacit.model.frequencies import FrequencyTable
from tacit.model.knowledge import Fact
from tacit.model.partial import PartialTable
from tacit.model.people import Changed, People
from tacit.model.release import Release, Rules


def lower(
    releases: Sequence[Release],
    people: People,
    of: Sequence[int] | None = None,
    facts: Sequence[Fact] = (),
    sensitive: str = "",
) -> Problem:
    """All that the releases print about their people, taken together; ``of`` is the population of each, by default its own.

    ``facts`` are known besides, about values of the column ``sensitive``, where all people are the same.
    """
    words = Vocabulary(releases, people, of)
    whose = populations(releases, people, of)
    lines, members = list(whose.lines), whose.members
    # All items are looked up before the first line is read: rows of tables are counted over what others name.
    readers = [_reader(number, release, words, whose.scopes[number]) for number, release in enumerate(releases)]
    for reader in readers:
        lines += reader.lines()
    for number, release in enumerate(releases):
        lines += _no_other_values(number, release, words, whose.scopes[number])
    lines += fact_lines(facts, sensitive, words.columns, releases[0].n)
    left_out = sum(reader.left_out for reader in readers)
    missing = [MissingRules(n, release, whose.scopes[n]) for n, release in enumerate(releases) if isinstance(release, Rules)]
    if not isinstance(people, Changed):  # then lines are about values of one time each, which a rule joins
        lines += [line for one in missing for line in one.lines(tuple(lines))]
        left_out += sum(one.left_out for one in missing)
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
    lacking = tuple(Axis.of(key, *universe(key), named[key]) for key in keys)
    axes = lacking
    if groups_of(axes) > MOST_GROUPS:  # then those who lack a single value are looked at by themselves
        axes = tuple(Axis.of(key, *universe(key), named[key], lacking=False) for key in keys)
    place = {axis.key: number for number, axis in enumerate(axes)}
    kept = tuple(line for line in lines if all(_is_possible(box, axes, place) for _, box in line.terms))
    cells = tuple(number for number, line in enumerate(kept) if _is_long_cell(line, releases))
    by_row = frozenset(number for number, release in enumerate(releases) if isinstance(release, PartialTable | Buckets))
    gaps = (reader.condition() for reader in readers if isinstance(reader, FrequencyLines))
    conditions: list[Condition] = [*(one for one in missing if one.tells), *(one for one in gaps if one is not None)]
    shown = (
        ShownRows(number, tuple(reader.used()), whose.scopes[number])
        for number, reader in enumerate(readers)
        if isinstance(reader, RowLines)
    )
    conditions += [one for one in shown if any(column.has_blanks for column in one.columns)]
    if isinstance(people, Changed):  # then axes are histories, over which conditions are not read
        left_out += len(conditions)
        conditions = []
    return Problem(axes, kept, whose.everybody, members, left_out, place, cells, by_row, tuple(conditions), lacking)


def _no_other_values(number: int, release: Release, words: Vocabulary, scope: Box) -> Iterator[Line]:
    """That nobody of a release has a value of a column besides those that it lists, where it lists all and others are named or possible."""
    for column, known in all_values(release).items():
        key, values = Key("column", column), frozenset(known)
        named, is_open = words.universe(key)
        if not is_open and values >= set(named):
            continue
        box = {key: Allowed(values, excluded=True), **scope}
        yield Line(((1, box),), None, 0, Origin(number, f"all values of {column}", "all-values", Bound.of(0), (column,)))


def _is_long_cell(line: Line, releases: Sequence[Release]) -> bool:
    """Whether a line is a cell of more columns than every group is asked about."""
    columns = sum(key != MEMBER for key in line.terms[0][1])
    return columns > MOST_LITERALS and isinstance(releases[line.origin.release], FrequencyTable)


def _is_possible(box: Box, axes: Sequence[Axis], place: Mapping[Key, int]) -> bool:
    """Whether somebody can be in a box: nobody lacks the only value of a column."""
    return all(axes[place[key]].mask(allowed) for key, allowed in box.items())


class _Reader(Protocol):
    """What reads the lines of one release."""

    @property
    def left_out(self) -> int:
        """How much could not be looked at."""

    def lines(self) -> Iterator[Line]:
        """The lines."""


def _reader(number: int, release: Release, words: Vocabulary, scope: Box) -> _Reader:
    """What reads the lines of a release of its kind."""
    if isinstance(release, PartialTable):
        return RowLines(number, release, words, scope)
    if isinstance(release, Buckets):
        return BucketLines(number, release, words, scope)
    if isinstance(release, FrequencyTable):
        return FrequencyLines(number, release, scope)
    return ListedLines(number, release, words, scope)
