"""What releases print, as bounds on weighted sums of numbers of people in boxes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import prod

from tacit.attacks.joint.boxes import HAS, MEMBER, Allowed, Axis, Box, Key, Membership, intersection
from tacit.attacks.rule_numbers import UNBOUNDED, confidence_of
from tacit.model.bound import Bound
from tacit.model.people import Churn, Nested, People, Same
from tacit.model.release import Itemsets, Listed, Rules

#: Itemsets that a closed or maximal list stands for, and candidates for missing ones, are looked at up to these numbers.
MOST_SUBSETS, MOST_CANDIDATES = 20_000, 300_000
#: Groups of one cube at most.
MOST_GROUPS = 100_000


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a statement comes from: a line or a header entry of a release, which of its numbers, and for which items it stands."""

    release: int
    place: int | str
    what: str
    printed: Bound
    items: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The origin as in a certificate."""
        out: dict[str, object] = {"release": self.release, "line" if isinstance(self.place, int) else "cell": self.place}
        out["what"] = self.what
        return out | {"items": list(self.items)} if self.items else out


@dataclass(frozen=True, slots=True)
class Line:
    """``lo <= sum of coefficient * people in box <= hi``; None where an end is open."""

    terms: tuple[tuple[int, Box], ...]
    lo: int | None
    hi: int | None
    origin: Origin


@dataclass(frozen=True, eq=False)
class Problem:
    """All statements of all releases over common axes.

    ``everybody`` are the lines whose boxes together hold each person once, empty where they are not known. ``left_out`` counts lists whose
    missing sets were too many to look at.
    """

    axes: tuple[Axis, ...]
    lines: tuple[Line, ...]
    everybody: tuple[int, ...]
    members: Mapping[frozenset[str], Membership]
    left_out: int = 0
    place: Mapping[Key, int] = field(default_factory=dict)

    @cached_property
    def boxes(self) -> tuple[tuple[tuple[int, dict[int, int]], ...], ...]:
        """The terms of every line, their boxes as classes by axis."""
        return tuple(tuple((factor, self.masks(box)) for factor, box in line.terms) for line in self.lines)

    def masks(self, box: Box) -> dict[int, int]:
        """The classes that a box allows, by axis."""
        return {self.place[key]: self.axes[self.place[key]].mask(allowed) for key, allowed in box.items()}


def groups_of(axes: Iterable[Axis]) -> int:
    """How many groups a cube over these axes holds."""
    return prod(len(axis.slots) for axis in axes)


def lower(releases: Sequence[Listed], people: People) -> Problem:
    """All that the releases print about their people, taken together."""
    words = _Words(releases, people)
    scopes, lines, everybody, members = _populations(releases, people)
    left_out = 0
    for number, release in enumerate(releases):
        reader = _Reader(number, release, words, scopes[number])
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
    keys = sorted(named, reverse=True)
    axes = tuple(Axis.of(key, *words.universe(key, people), named[key]) for key in keys)
    if groups_of(axes) > MOST_GROUPS:  # then those who lack a single value are not looked at
        axes = tuple(Axis.of(key, *words.universe(key, people), named[key], lacking=False) for key in keys)
    return Problem(axes, tuple(lines), everybody, members, left_out, {axis.key: place for place, axis in enumerate(axes)})


class _Words:
    """The axes that items of the releases belong to."""

    def __init__(self, releases: Sequence[Listed], people: People) -> None:
        self.values: dict[Key, dict[str, None]] = {}
        told: dict[Key, int] = {}
        tables = [release for release in releases if release.items.pairs is not None and not release.header.coarser]
        self._columns = {column for release in tables for column, _ in release.items.pairs or ()}
        for release in releases:
            column = Key("column", " & ".join(release.header.sa))
            if release in tables and release.header.sa_values:
                told[column] = told.get(column, 0) + 1
                self.values.setdefault(column, {}).update(dict.fromkeys(release.header.sa_values))
        # What one release says about the values of its people holds for all people only where they are the same.
        self.closed = {column for column, times in told.items() if isinstance(people, Same) or times == len(releases)}

    def meaning(self, release: Listed, item: int) -> tuple[Key, Allowed]:
        """What having an item of a release means."""
        name, pairs, header = release.items.names[item], release.items.pairs, release.header
        if pairs is not None and not header.coarser:
            column, value = pairs[item]
            for group in header.groups:
                if (group.column, group.name) == (column, value):
                    return self._named(Key("column", column), frozenset(group.values), group.excluded)
            return self._named(Key("column", column), frozenset([value]))
        column, equals, value = name.partition("=")
        if pairs is None and equals and column in self._columns:
            return self._named(Key("column", column), frozenset([value]))
        return self._named(Key("item", name), frozenset([HAS]))

    def _named(self, key: Key, values: frozenset[str], excluded: bool = False) -> tuple[Key, Allowed]:
        self.values.setdefault(key, {}).update(dict.fromkeys(sorted(values)))
        return key, Allowed(values, excluded)

    def universe(self, key: Key, people: People) -> tuple[list[str], bool]:
        """The values of an axis, and whether there may be others."""
        if key == MEMBER:
            return (["left", "stayed", "joined"] if isinstance(people, Churn) else ["left", "stayed"]), False
        return sorted(self.values[key]), key not in self.closed


def _populations(
    releases: Sequence[Listed], people: People
) -> tuple[list[Box], list[Line], tuple[int, ...], dict[frozenset[str], Membership]]:
    """The people of each release, the lines about their number, those that count everybody once, and which parts have a name."""
    left, stayed, joined = (frozenset([name]) for name in ("left", "stayed", "joined"))
    scopes: list[Box] = [{} for _ in releases]
    members: dict[frozenset[str], Membership] = {}
    if isinstance(people, Nested):
        outer, inner = people.outer, people.inner
        scopes[inner] = {MEMBER: Allowed(stayed)}
        members = {left: ((outer,), (inner,)), stayed: ((inner,), ()), left | stayed: ((outer,), ()), frozenset(): ((outer,), ())}
    elif isinstance(people, Churn):
        scopes = [{MEMBER: Allowed(left | stayed)}, {MEMBER: Allowed(stayed | joined)}]
        members = {
            left: ((0,), (1,)),
            joined: ((1,), (0,)),
            stayed: ((0, 1), ()),
            left | stayed: ((0,), ()),
            stayed | joined: ((1,), ()),
        }
    lines = [
        Line(((1, scope),), release.n, release.n, Origin(number, "n", "n", Bound.of(release.n)))
        for number, (release, scope) in enumerate(zip(releases, scopes, strict=True))
        if release.n is not None
    ]
    counted = {line.origin.release: place for place, line in enumerate(lines)}
    whole = people.outer if isinstance(people, Nested) else 0 if isinstance(people, Churn) else next(iter(counted), 0)
    everybody = [counted[whole]] if whole in counted else []
    if isinstance(people, Churn):
        for number, name, span in ((0, "left", people.left), (1, "joined", people.joined)):
            box = {MEMBER: Allowed(frozenset([name]))}
            lines.append(Line(((1, box),), *span, Origin(number, name, name, Bound(*span))))
        everybody += [len(lines) - 1] if everybody else []
    return scopes, lines, tuple(everybody), members


class _Reader:
    """The lines of one release, about the people of its scope."""

    def __init__(self, number: int, release: Listed, words: _Words, scope: Box) -> None:
        self._number, self._scope, self._release = number, scope, release
        self._meaning = [words.meaning(release, item) for item in self._used(release)]
        self._of = dict(zip(self._used(release), self._meaning, strict=True))
        self.left_out = 0

    @staticmethod
    def _used(release: Listed) -> list[int]:
        parts = [release.sets] if isinstance(release, Itemsets) else [release.antecedents, release.consequents]
        return sorted({int(item) for part in parts for item in part.members.tolist()})

    def _box(self, items: Sequence[int]) -> Box | None:
        box = intersection(self._of[item] for item in items)
        return None if box is None else {**box, **self._scope}

    def itemsets(self, release: Itemsets) -> Iterator[Line]:
        """What a list of itemsets prints, and what follows from its being complete."""
        listed: dict[frozenset[int], int] = {}
        for index in range(len(release)):
            items = release.sets[index].tolist()
            listed[frozenset(items)] = index
            box, count = self._box(items), release.count(index)
            if box is not None:
                yield Line(((1, box),), count.lo, count.hi, Origin(self._number, release.line(index), "count", count))
        if release.header.complete and release.min_support is not None and not release.header.coarser:
            yield from self._missing(release, listed)

    def _missing(self, release: Itemsets, listed: dict[frozenset[int], int]) -> Iterator[Line]:
        names, threshold = release.items.names, release.min_support or 1
        frequent = dict(listed)
        if release.only != "all":
            if sum(2 ** len(items) for items in listed) > MOST_SUBSETS:
                self.left_out += 1
                return
            # The closed set of the largest count comes last, so that it is the one that a subset is equal to.
            for items, index in sorted(listed.items(), key=lambda pair: (int(release.hi[pair[1]]), -pair[1])):
                for size in range(1, len(items)):
                    frequent.update(
                        (frozenset(part), index) for part in combinations(sorted(items), size) if frozenset(part) not in listed
                    )
        if release.only == "closed" and release.is_exact:
            for items, index in frequent.items():
                box = self._box(sorted(items))
                if items not in listed and box is not None:
                    told = tuple(sorted(names[item] for item in items))
                    count = release.count(index)
                    yield Line(((1, box),), count.lo, count.hi, Origin(self._number, release.line(index), "subset", count, told))
        most = Bound.of(threshold)
        for missing in self._border(frequent):
            box = self._box(missing)
            if box is not None:
                told = tuple(sorted(names[item] for item in missing))
                yield Line(((1, box),), None, threshold - 1, Origin(self._number, "min_support", "missing", most, told))

    def _border(self, frequent: Mapping[frozenset[int], int]) -> Iterator[tuple[int, ...]]:
        """The smallest sets of published items that the list leaves out."""
        items = sorted(self._of)
        if len(frequent) * len(items) > MOST_CANDIDATES:
            self.left_out += 1
            return
        seen: set[frozenset[int]] = set()
        for found in frequent:
            for item in items:
                larger = found | {item}
                if item in found or larger in frequent or larger in seen:
                    continue
                seen.add(larger)
                if len(larger) > 1 and all(larger - {one} in frequent for one in larger):
                    yield tuple(sorted(larger))

    def rules(self, release: Rules) -> Iterator[Line]:
        """What a list of rules prints: how many people fit each side, and the ratio of the two."""
        header = release.header
        for index in range(len(release)):
            left, right = release.antecedents[index].tolist(), release.consequents[index].tolist()
            whole, both = self._box(left), self._box(sorted({*left, *right}))
            if whole is None or both is None:
                continue
            line = release.line(index)
            for box, count, what in ((both, release.count(index), "count"), (whole, release.whole(index), "antecedent")):
                most = None if count.hi >= UNBOUNDED else count.hi
                yield Line(((1, box),), count.lo, most, Origin(self._number, line, what, count))
            if release.count(index).is_exact and release.whole(index).is_exact:
                continue
            allowed = confidence_of(release, index)
            low, high = allowed.low.as_integer_ratio(), allowed.high.as_integer_ratio()
            count = release.count(index)
            if low[0]:
                yield Line(
                    ((low[1], both), (-low[0], whole)), int(allowed.low_open), None, Origin(self._number, line, "least", count)
                )
            if allowed.high < 1 or allowed.high_open:
                yield Line(
                    ((high[0], whole), (-high[1], both)), int(allowed.high_open), None, Origin(self._number, line, "most", count)
                )
        if header.sa_counts and header.sa_values:
            key = Key("column", " & ".join(header.sa))
            for value, people in zip(header.sa_values, header.sa_counts, strict=True):
                box = {key: Allowed(frozenset([value])), **self._scope}
                yield Line(((1, box),), people, people, Origin(self._number, "sa_counts", "value", Bound.of(people), (value,)))
