"""Kinds of random releases to judge: each draws people, publishes about them and says what the files mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, product
from random import Random
from typing import Any

from tests.judge.publishers import (
    ABSENT,
    CONVENTIONS,
    EXACT,
    PRESENT,
    ListShape,
    NothingPublished,
    Numbers,
    Published,
    Rows,
    RuleShape,
    TableShape,
    count,
    draw_people,
    publish_blanks,
    publish_buckets,
    publish_itemsets,
    publish_mlxtend,
    publish_rules,
    publish_table,
    publish_visits,
)
from tests.judge.worlds import MANY, OTHER, Box, Problem, Space, between

#: A group of people: a box, in which populations they are, and in which they are not.
Group = tuple[Box, tuple[int, ...], tuple[int, ...]]


@dataclass
class Case:
    """Releases with what is declared about their people, and what may be asked about them.

    ``people`` is what ``--people`` says, ``known`` are everybody's quasi-identifiers. ``sensitive`` is the column whose values are protected,
    ``beside`` are further ones. ``visits`` are the owner's rows, of which somebody may have several, named in the column ``PERSON``. Columns of
    ``secret`` describe no group: nobody knows them of others.
    """

    kind: str
    seed: int
    k: int
    releases: list[Published]
    people: str | None = None
    known: Rows | None = None
    sensitive: str | None = None
    beside: tuple[str, ...] = ()
    knowledge: list[tuple[dict[str, str], str]] = field(default_factory=list)
    groups_count: bool = True
    convention: str | None = None
    visits: Rows | None = None
    secret: tuple[str, ...] = ()

    @property
    def members(self) -> tuple[frozenset[int], ...]:
        """The sets of populations that somebody can be in."""
        if self.people is None or self.people == "same":
            return (frozenset(range(len(self.releases))),)
        both, first, second = frozenset([0, 1]), frozenset([0]), frozenset([1])
        if self.people == "nested":
            return (both, first)
        return (first, second) if self.people == "unknown" else (both, first, second)

    def space(self) -> Space:
        """The cells: values that somebody can have as far as the releases tell."""
        every = dict.fromkeys(column for release in self.releases for column in release.named)
        if self.known:
            every |= dict.fromkeys(self.known[0])
        columns = {}
        for column in every:
            values = dict.fromkeys(value for release in self.releases for value in release.named.get(column, ()))
            if self.known and column in self.known[0]:
                values |= dict.fromkeys(row[column] for row in self.known)
            shut = [column in release.closed for release in self.releases]
            is_open = not (any(shut) if len(self.members) == 1 else all(shut))
            if self.known and column in self.known[0]:
                is_open = False
            columns[column] = (*sorted(values), *([OTHER] if is_open else []))
        return Space(columns, self.members)

    def problem(self, space: Space, known: bool = False) -> Problem:
        """All statements of the releases and of the declaration, and with ``known`` about the known people as well."""
        out = Problem(space)
        several = len(self.members) > 1
        for number, release in enumerate(self.releases):
            scope = number if several else None
            if release.n is not None:
                out.add(between({}, release.n, release.n), scope)
            values = {column: [one for one in values if one != OTHER] for column, values in space.columns.items()}
            for statement in (*release.statements, *release.left_out(values)):
                out.add(statement, scope)
            for column in release.closed:
                others = frozenset(space.columns[column]) - frozenset(release.named[column])
                if others:
                    out.add(between({column: others}, 0, 0), scope)
        for where, ends in self._moves():
            out.add_count(space.flags({}, *where), *ends)
        for facts, value in self.knowledge:
            box = {column: frozenset([one]) for column, one in facts.items()} | {self.sensitive or "": frozenset([value])}
            out.add(between(box, 0, 0))
        if known and self.known:
            for kind in {tuple(sorted(row.items())) for row in self.known}:
                people = sum(tuple(sorted(row.items())) == kind for row in self.known)
                out.add(between({column: frozenset([value]) for column, value in kind}, people, people))
        return out

    def _moves(self) -> Iterator[tuple[tuple[tuple[int, ...], tuple[int, ...]], tuple[int, int]]]:
        if self.people is not None and self.people.startswith("left:"):
            for part in self.people.split(","):
                word, _, ends = part.partition(":")
                lo, _, hi = ends.partition("-")
                where = ((0,), (1,)) if word == "left" else ((1,), (0,))
                yield where, (int(lo), int(hi or lo))

    @property
    def most(self) -> int:
        """No world has more people."""
        told = [release.n for release in self.releases if release.n is not None]
        if not told:  # whoever is on no line may be anybody, and k of them are enough to refute
            lines = [bound for release in self.releases for (bound, *_) in release.statements]
            return self.k + sum(bound.hi for bound in lines if len(bound.terms) == 1 and bound.hi < MANY)
        return told[0] if len(self.members) == 1 or self.people == "nested" else sum(told)

    def memberships(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Sets of people that can be told apart by the releases they are in."""
        if len(self.members) == 1:
            return [((), ())]
        moved = [((0,), (1,))] if self.people == "nested" else [((0,), (1,)), ((1,), (0,))]
        moved = [] if self.people == "unknown" else moved
        both = [((0, 1), ())] if len(self.members) == 3 else []
        return [((0,), ()), ((1,), ()), *moved, *both]

    def groups(self, space: Space) -> list[Group]:
        """All groups that are described by values that people have and lack, and by the releases they are in; each set of cells once."""
        options: list[list[frozenset[str] | None]] = []
        asides = {column for release in self.releases for column in release.asides}
        for column, values in space.columns.items():
            named = [value for value in values if value != OTHER]
            lacking = [
                frozenset(values) - frozenset(some) for size in range(1, len(named) + 1) for some in combinations(named, size)
            ]
            options.append([None, *dict.fromkeys([*(frozenset([value]) for value in named), *(one for one in lacking if one)])])
            if len(values) == 1 or column in asides or column in self.secret:
                options[-1] = [None]
        out: list[Group] = []
        for chosen in product(*options):
            box: Box = {column: one for column, one in zip(space.columns, chosen, strict=True) if one is not None}
            out += [(box, inside, outside) for inside, outside in self.memberships() if box or outside]
        return out

    def declared_span(self, group: Group) -> tuple[int, int] | None:
        """What the declaration and the numbers of people alone say about people who moved; None for groups that values describe."""
        box, inside, outside = group
        if box or not outside or self.people is None:
            return None
        first, second = (release.n or 0 for release in self.releases)
        if self.people == "nested":
            return first - second, first - second
        left, joined = (span for _, span in self._moves())
        grown = second - first
        left = (max(left[0], joined[0] - grown), min(left[1], joined[1] - grown))
        return left if inside == (0,) else (left[0] + grown, left[1] + grown)


# Drawing

ITEM = (ABSENT, PRESENT)


def item_columns(random: Random, most: int = 4) -> dict[str, Sequence[str]]:
    return dict.fromkeys("abcde"[: random.randint(2, most)], ITEM)


def table_columns(random: Random, most: int = 3) -> dict[str, Sequence[str]]:
    size = random.randint(2, most)
    return {name: "xyz"[: random.choice([2, 3]) if size < 3 else 2] for name in "ABC"[:size]}


def exact_shape(random: Random) -> ListShape:
    return ListShape("all", random.randint(1, 4))


def rounded_numbers(random: Random) -> Numbers:
    if random.random() < 0.3:
        return "decimals", random.choice([1, 2]), random.choice(["nearest", "half-up", "truncated"])
    return rounded_counts(random)


def rounded_counts(random: Random) -> Numbers:
    modes = ("nearest", "nearest", "half-up", "half-even", "up", "truncated", "random", "unknown")
    return "base", random.choice([2, 3, 5, 10]), random.choice(modes)


def any_shape(random: Random) -> ListShape:
    which: Any = random.choice(["all", "closed", "maximal", "gaps", "gaps"])
    numbers: Numbers = rounded_numbers(random) if random.random() < 0.35 else EXACT
    return ListShape(which, random.randint(1, 4), numbers, tells_threshold=random.random() < 0.5)


def table_shape(random: Random, columns: Mapping[str, Sequence[str]], how: str = "any") -> TableShape:
    names = list(columns)
    every = [one for size in range(len(names) + 1) for one in combinations(names, size)]
    whole = tuple(names)
    if how == "several":
        tables = random.sample(every, min(len(every), random.randint(2, 4)))
    else:
        margins = [one for one in every if one != whole and random.random() < 0.5]
        tables = [whole, *margins]
    hidden = how in ("hidden", "any", "several") and random.random() < 0.7
    rounded = how == "rounded" or (how in ("any", "several") and random.random() < 0.4)
    numbers = rounded_counts(random) if rounded else EXACT
    if hidden and random.random() < 0.3:
        return TableShape(tuple(tables), hide=random.choice([0.2, 0.4]), numbers=numbers)
    below = random.randint(2, 5) if hidden else None
    return TableShape(tuple(tables), below=below, zeros_shown=hidden and random.random() < 0.5, numbers=numbers)


def rule_shape(random: Random) -> RuleShape:
    show: Any = random.choice(["all", "none", "support", "both"])
    confidence = random.choice([Fraction(1, 2), Fraction(3, 5), Fraction(3, 4), Fraction(9, 10)])
    return RuleShape(random.randint(1, 3), confidence, show, random.choice([1, 2]), complete=random.random() < 0.6)


def _lists(shape: Callable[[Random], ListShape], columns: bool) -> Callable[[Random], dict[str, Any]]:
    def draw(random: Random) -> dict[str, Any]:
        names = table_columns(random) if columns else item_columns(random)
        rows = draw_people(random, names, random.randint(3, 12 if len(names) < 4 else 9))
        return {"releases": [publish_itemsets(random, rows, names, columns, shape(random))]}

    return draw


def _shape(which: Any, rounded: bool = False) -> Callable[[Random], ListShape]:
    def draw(random: Random) -> ListShape:
        numbers = rounded_numbers(random) if rounded else EXACT
        return ListShape(which, random.randint(1, 4), numbers, tells_threshold=random.random() < 0.5)

    return draw


def _tables(how: str) -> Callable[[Random], dict[str, Any]]:
    def draw(random: Random) -> dict[str, Any]:
        columns = table_columns(random)
        rows = draw_people(random, columns, random.randint(3, 12))
        return {"releases": [publish_table(random, rows, columns, table_shape(random, columns, how))]}

    return draw


def _rules_about_two(known: bool) -> Callable[[Random], dict[str, Any]]:
    """Rules about two sensitive columns, each by itself."""

    def draw(random: Random) -> dict[str, Any]:
        columns = {"A": "xyz"[: random.choice([2, 3])], "S": "fg", "T": "gh"}
        if random.random() < 0.5:
            columns["B"] = "uv"
        rows = draw_people(random, columns, random.randint(3, 7))
        release = publish_rules(random, rows, columns, "S", rule_shape(random), beside=["T"])
        seen = [{column: row[column] for column in columns if column not in "ST"} for row in rows] if known else None
        return {"releases": [release], "known": seen, "sensitive": "S" if known else None, "beside": ("T",) if known else ()}

    return draw


def _short(shape: Callable[[Random], ListShape]) -> Callable[[Random], ListShape]:
    """The same, of itemsets up to a length."""
    return lambda random: replace(shape(random), longest=random.choice([1, 2, 2, 3]))


def _rules(known: bool, longest: int | None = None) -> Callable[[Random], dict[str, Any]]:
    def draw(random: Random) -> dict[str, Any]:
        columns = {"A": "xy", "B": "uvw"[: random.choice([2, 3])], "S": "fgh"[: random.choice([2, 3])]}
        if len(columns["B"]) + len(columns["S"]) > 5:
            columns["S"] = "fg"
        rows = draw_people(random, columns, random.randint(3, 9 if known else 7))
        shape = rule_shape(random)
        if longest is not None:  # whatever else is long enough to be missing, two columns are not
            shape = replace(shape, longest=longest, complete=True)
        release = publish_rules(random, rows, columns, "S", shape)
        seen = [{column: row[column] for column in "AB"} for row in rows] if known else None
        return {"releases": [release], "known": seen, "sensitive": "S" if known else None}

    return draw


def _mlxtend(known: bool) -> Callable[[Random], dict[str, Any]]:
    """Rules of mlxtend, which print the supports of consequents as well."""

    def draw(random: Random) -> dict[str, Any]:
        columns = {"A": "xy", "B": "uv", "S": "fgh"[: random.choice([2, 3])]}
        rows = draw_people(random, columns, random.randint(3, 8))
        release = publish_mlxtend(random, rows, columns, "S")
        seen = [{column: row[column] for column in "AB"} for row in rows] if known else None
        return {"releases": [release], "known": seen, "sensitive": "S" if known else None}

    return draw


def _known(how: str, short: bool = False) -> Callable[[Random], dict[str, Any]]:
    """One release, or two, about people whose other columns are known; ``short``: lists are complete up to a length."""

    def draw(random: Random) -> dict[str, Any]:
        columns = {"A": "xy", "B": "uvw"[: random.choice([2, 3])], "S": "fg"}
        rows = draw_people(random, columns, random.randint(3, 8))
        chosen = random.sample(["list", "table", "rules"], 2) if how == "two" else [how]
        releases = []
        for name, one in zip(("one", "two"), chosen, strict=False):
            if one == "list":
                shape = replace(any_shape(random), sensitive="S")
                if short:
                    shape = replace(shape, which="all", longest=random.choice([1, 2, 2]))
                releases.append(publish_itemsets(random, rows, columns, are_columns=True, shape=shape, name=name))
            elif one == "rules":
                rules = replace(rule_shape(random), longest=1, complete=True) if short else rule_shape(random)
                releases.append(publish_rules(random, rows, columns, "S", rules, name=name))
            else:
                releases.append(_table_with_roles(random, rows, columns, name))
        seen = [{column: row[column] for column in "AB"} for row in rows]
        return {"releases": releases, "known": seen, "sensitive": "S", "people": "same" if len(releases) > 1 else None}

    return draw


def _table_with_roles(random: Random, rows: Rows, columns: Mapping[str, Sequence[str]], name: str = "table") -> Published:
    """A table that names its sensitive column."""
    shape = replace(table_shape(random, columns, random.choice(["plain", "several"])), sensitive="S")
    release = publish_table(random, rows, columns, shape, name)
    if "S" not in release.named:
        raise NothingPublished
    return release


def _roles(random: Random) -> dict[str, Any]:
    columns = {"A": "xyz"[: random.choice([2, 3])], "B": "uv", "S": "fg"}
    if random.random() < 0.5:
        columns = {"A": "xyz", "S": "fgh"[: random.choice([2, 3])]}
    rows = draw_people(random, columns, random.randint(3, 10))
    return {"releases": [_table_with_roles(random, rows, columns)]}


def _blanks(random: Random) -> dict[str, Any]:
    columns = {"A": "xy", "S": "fgh"[: random.choice([2, 3])]}
    if random.random() < 0.5:
        columns = {"A": "xy", "B": "uv", "S": "fg"}
    rows = draw_people(random, columns, random.randint(3, 8))
    table = publish_blanks(random, rows, columns, "S")
    if random.random() < 0.5:
        other = publish_table(random, rows, columns, table_shape(random, columns, "several"))
    else:
        other = publish_itemsets(random, rows, columns, True, any_shape(random))
    return {"releases": [table, other], "people": "same", "sensitive": "S"}


def _microdata(random: Random) -> dict[str, Any]:
    """Everybody's row with its sensitive cell; quasi-identifiers may be blank."""
    columns = {"A": "xyz"[: random.choice([2, 3])], "S": "fgh"[: random.choice([2, 3])]}
    if random.random() < 0.5:
        columns = {"A": "xy", "B": "uv", "S": "fg"}
    rows = draw_people(random, columns, random.randint(3, 9))
    return {"releases": [publish_blanks(random, rows, columns, "S", shows_sensitive=True)], "secret": ("S",)}


PERSON = "who"  #: The column of the person, where somebody has several rows.


def _visits(shape: Callable[[Random], ListShape]) -> Callable[[Random], dict[str, Any]]:
    """People with one to three rows each."""

    def draw(random: Random) -> dict[str, Any]:
        columns = {"A": "xy"} if random.random() < 0.3 else {"A": "xy", "B": "uv"}
        visits = []
        for number in range(random.randint(3, 9)):
            visits += [{PERSON: f"p{number}", **row} for row in draw_people(random, columns, random.choice([1, 1, 2, 3]))]
        random.shuffle(visits)
        return {"releases": [publish_visits(random, visits, PERSON, shape(random))], "visits": visits}

    return draw


def _wide(random: Random) -> dict[str, Any]:
    """Five items, a few lines."""
    columns = dict.fromkeys("abcde", ITEM)
    rows = draw_people(random, columns, random.randint(3, 8))
    shape = ListShape("gaps", 1, rounded_numbers(random) if random.random() < 0.5 else EXACT, tells_threshold=False)
    release = publish_itemsets(random, rows, columns, False, shape)
    if len(release.statements) > 7:
        raise NothingPublished
    return {"releases": [release]}


def _long_column(how: str) -> Callable[[Random], dict[str, Any]]:
    """A column of four or five values, so that groups may lack several of them."""

    def draw(random: Random) -> dict[str, Any]:
        columns: dict[str, Sequence[str]] = {"A": "vwxyz"[: random.choice([4, 5])]}
        if random.random() < 0.7:
            columns["B"] = "pq"
        rows = draw_people(random, columns, random.randint(4, 8 if len(columns) > 1 else 14))
        return {"releases": [_one(random, rows, columns, how, how)]}

    return draw


def _without_n(random: Random) -> dict[str, Any]:
    columns = item_columns(random, 3)
    rows = draw_people(random, columns, random.randint(2, 5))
    shape = replace(any_shape(random), numbers=EXACT, tells_n=False)
    return {"releases": [publish_itemsets(random, rows, columns, False, shape)]}


def _convention(random: Random) -> dict[str, Any]:
    """A table of a publisher whose convention has a name, which the file does not tell."""
    name = random.choice(list(CONVENTIONS))
    columns = {"A": "xy", "B": "uvw"[: random.choice([2, 3])]}
    rows = draw_people(random, columns, random.randint(8, 30))
    shape = table_shape(random, columns, "plain")
    return {"releases": [publish_table(random, rows, columns, shape, convention=CONVENTIONS[name])], "convention": name}


def _buckets(random: Random) -> dict[str, Any]:
    columns = {"A": "xyz"[: random.choice([2, 3])], "B": "uv", "S": "fgh"[: random.choice([2, 3])]}
    rows = draw_people(random, columns, random.randint(3, 10))
    release = publish_buckets(random, rows, columns, "S")
    facts = []
    for column in "AB":
        for value, sensitive in product(columns[column], release.named["S"]):
            nobody = not count(rows, {column: frozenset([value]), "S": frozenset([sensitive])})
            if nobody and value in release.named[column] and random.random() < 0.5:
                facts.append(({column: value}, sensitive))
    return {"releases": [release], "sensitive": "S", "knowledge": facts, "groups_count": False}


def _one(random: Random, rows: Rows, columns: Mapping[str, Sequence[str]], name: str, how: str) -> Published:
    """A release of some kind about these people."""
    if how == "list":
        are_columns = set(columns.values()) != {ITEM}
        return publish_itemsets(random, rows, columns, are_columns, any_shape(random), name)
    if how == "rules":
        return publish_rules(random, rows, columns, list(columns)[-1], rule_shape(random), name=name)
    return publish_table(random, rows, columns, table_shape(random, columns), name)


def _two(people: str, how: str) -> Callable[[Random], dict[str, Any]]:
    """Two releases of people who hang together so."""

    def draw(random: Random) -> dict[str, Any]:
        same = people == "same"
        columns = item_columns(random, 4 if same else 2) if how == "lists" else table_columns(random, 3 if same else 2)
        if not same and how != "lists":
            columns = {"A": "xy", "B": "uv"}
        first = draw_people(random, columns, random.randint(3, 9 if same else 7))
        second = list(first)
        declared = people
        if people == "nested":
            second = random.sample(first, random.randint(1, len(first)))
        elif people == "churn":
            gone = random.randint(0, min(2, len(first) - 1))
            came = draw_people(random, columns, random.randint(0, 2))
            second = [*random.sample(first, len(first) - gone), *came]
            low = random.choice([0, gone])
            declared = f"left:{low}-{gone + random.randint(0, 1)},joined:{random.choice([0, len(came)])}-{len(came)}"
        elif people == "unknown":
            second = draw_people(random, columns, random.randint(2, 5))
        chosen = random.sample(["list", "table", "rules"], 2) if how == "mixed" else 2 * [how.removesuffix("s")]
        some = [random_columns(random, columns, one, same) for one in chosen]
        releases = [
            _one(random, rows, names, name, one)
            for rows, names, name, one in zip((first, second), some, ("one", "two"), chosen, strict=True)
        ]
        return {"releases": releases, "people": declared}

    return draw


def random_columns(random: Random, columns: Mapping[str, Sequence[str]], how: str, fewer: bool) -> Mapping[str, Sequence[str]]:
    """All columns, or some of them; rules need two."""
    least = 2 if how == "rules" else 1
    size = random.randint(least, len(columns)) if fewer else random.choice([len(columns), max(least, len(columns) - 1)])
    chosen = set(random.sample(list(columns), size))
    return {column: values for column, values in columns.items() if column in chosen}


KINDS: dict[str, Callable[[Random], dict[str, Any]]] = {
    "exact-list": _lists(_shape("all"), columns=False),
    "closed-list": _lists(_shape("closed"), columns=False),
    "maximal-list": _lists(_shape("maximal"), columns=False),
    "gaps-list": _lists(_shape("gaps"), columns=False),
    "rounded-list": _lists(_shape("all", rounded=True), columns=False),
    "rounded-closed-list": _lists(_shape("closed", rounded=True), columns=False),
    "rounded-maximal-list": _lists(_shape("maximal", rounded=True), columns=False),
    "rounded-gaps-list": _lists(_shape("gaps", rounded=True), columns=False),
    "column-list": _lists(_shape("all"), columns=True),
    "column-any-list": _lists(any_shape, columns=True),
    "short-list": _lists(_short(_shape("all")), columns=False),
    "short-rounded-list": _lists(_short(_shape("all", rounded=True)), columns=False),
    "short-column-list": _lists(_short(_shape("all")), columns=True),
    "short-rules": _rules(known=False, longest=1),
    "short-rules-known": _rules(known=True, longest=1),
    "short-list-known": _known("list", short=True),
    "short-two-known": _known("two", short=True),
    "rules": _rules(known=False),
    "rules-known": _rules(known=True),
    "rules-about-two": _rules_about_two(known=False),
    "rules-about-two-known": _rules_about_two(known=True),
    "mlxtend": _mlxtend(known=False),
    "mlxtend-known": _mlxtend(known=True),
    "table": _tables("plain"),
    "hidden-table": _tables("hidden"),
    "rounded-table": _tables("rounded"),
    "several-tables": _tables("several"),
    "convention-table": _convention,
    "buckets": _buckets,
    "wide-list": _wide,
    "list-without-n": _without_n,
    "long-column-list": _long_column("list"),
    "long-column-table": _long_column("table"),
    "roles-table": _roles,
    "table-known": _known("table"),
    "list-known": _known("list"),
    "two-known": _known("two"),
    "blanks": _blanks,
    "microdata": _microdata,
    "visits-list": _visits(_shape("all")),
    "visits-any-list": _visits(any_shape),
    **{
        f"two-{how}-{people}": _two(people, how)
        for how in ("lists", "tables", "mixed")
        for people in ("same", "nested", "churn", "unknown")
    },
}


def draw(kind: str, seed: int) -> Case:
    """The case of a kind and a seed; draws that leave nothing to publish are drawn again."""
    random = Random(f"{kind} {seed}")
    while True:
        k = random.choice([2, 2, 3, 3, 4, 5])
        try:
            case = Case(kind, seed, k, **KINDS[kind](random))
        except NothingPublished:
            continue
        if all(release.n is None or release.n >= k for release in case.releases):
            return case
