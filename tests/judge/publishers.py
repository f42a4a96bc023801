"""Publishers of small releases, a few lines each: the files, and what they say about their people under the declared convention.

They share no code with Tacit, so that a fault in how it writes or reads a release shows as a disagreement.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, product
from math import floor
from random import Random
from typing import Any, Literal

from tests.judge.worlds import MANY, Bound, Box, Statement, between

Row = Mapping[str, str]
Rows = Sequence[Row]
#: An item: its column and value, and how releases call it. Items that belong to no column are columns of their own.
Item = tuple[str, str, str]
#: How counts are printed: as they are, as multiples of a number, or as shares with so many decimals; and the rule of rounding.
Numbers = tuple[Literal["exact", "base", "decimals"], int, str]
EXACT: Numbers = ("exact", 0, "")

#: The column that tells apart rows of a table with blanks.
ROW = "(row)"
PRESENT = "yes"
ABSENT = "no"


LeftOut = Callable[[Mapping[str, Sequence[str]]], Iterable[Statement]]


@dataclass
class Published:
    """Files of one release and what they say.

    ``named`` are the columns with the values that the release names, ``closed`` those whose people have no other value. Columns of ``asides``
    are a means to say it, and no group is described by them. ``left_out`` is what a complete list says by not listing something, given all
    values that are known of its columns.
    """

    name: str
    files: dict[str, str]
    n: int | None
    statements: list[Statement] = field(default_factory=list)
    named: dict[str, list[str]] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)
    asides: set[str] = field(default_factory=set)
    sensitive: str | None = None
    left_out: LeftOut = lambda _: ()


class NothingPublished(Exception):
    """The draw leaves nothing to publish."""


def draw_people(random: Random, columns: Mapping[str, Sequence[str]], n: int) -> list[Row]:
    """So many people; a few kinds of them are common, so that columns hang together."""
    kinds = list(product(*columns.values()))
    favourites = random.sample(kinds, min(len(kinds), random.randint(1, 4)))
    loyal = random.choice([0.0, 0.5, 0.8, 1.0, 1.0])
    rows: list[Row] = []
    while len(rows) < n:
        kind = random.choice(favourites if random.random() < loyal else kinds)
        times = random.choice([1, 2, 3]) if loyal == 1.0 else 1
        rows += [dict(zip(columns, kind, strict=True))] * min(times, n - len(rows))
    return rows


def count(rows: Rows, box: Box) -> int:
    """The people of a box."""
    return sum(all(row[column] in values for column, values in box.items()) for row in rows)


def items_of(columns: Mapping[str, Sequence[str]], are_columns: bool) -> list[Item]:
    """The items: one for each value of a column, or each column by itself."""
    if are_columns:
        return [(column, value, f"{column}={value}") for column, values in columns.items() for value in values]
    return [(column, PRESENT, column) for column in columns]


def box_of(items: Iterable[Item]) -> Box:
    """The people who have all these items."""
    return {column: frozenset([value]) for column, value, _ in items}


def possible_sets(items: Sequence[Item]) -> list[tuple[Item, ...]]:
    """All sets of items that one person can have."""
    sizes = range(1, len({column for column, _, _ in items}) + 1)
    chosen = (one for size in sizes for one in combinations(items, size))
    return [one for one in chosen if len({column for column, _, _ in one}) == len(one)]


# Numbers


def multiples(value: Fraction, mode: str) -> set[int]:
    """The whole numbers that a value may be printed as under a rule of rounding."""
    down = floor(value)
    rest = value - down
    if mode in ("unknown", "random") and rest:
        return {down, down + 1}
    if mode == "unknown":
        return {down}
    if mode in ("up", "truncated", "random"):
        return {down + (rest > 0 and mode == "up")}
    if rest != Fraction(1, 2):
        return {down + (rest > Fraction(1, 2))}
    return {"half-up": {down + 1}, "half-even": {down + down % 2}}.get(mode, {down, down + 1})


def printed(random: Random, people: int, n: int, numbers: Numbers) -> int:
    """A count as it is printed: so many people, or so many units of the last decimal of a share."""
    how, fine, mode = numbers
    if how == "exact":
        return people
    if how == "base":
        return fine * random.choice(sorted(multiples(Fraction(people, fine), mode)))
    return random.choice(sorted(multiples(Fraction(people * 10**fine, n), mode)))


def meant(shown: int, n: int, numbers: Numbers) -> tuple[int, int]:
    """The fewest and the most people who may be printed so."""
    how, fine, mode = numbers
    if how == "exact":
        return shown, shown
    if how == "base":
        fits = [people for people in range(n + 1) if shown // fine in multiples(Fraction(people, fine), mode)]
    else:
        fits = [people for people in range(n + 1) if shown in multiples(Fraction(people * 10**fine, n), mode)]
    return fits[0], fits[-1]


def share_text(shown: int, decimals: int) -> str:
    """A share as text."""
    return f"{shown // 10**decimals}.{shown % 10**decimals:0{decimals}d}"


# Itemsets


@dataclass(frozen=True)
class ListShape:
    """Which itemsets are listed, from how many people on, and how numbers are printed; the sensitive column, where one is named."""

    which: Literal["all", "closed", "maximal", "gaps"]
    least: int
    numbers: Numbers = EXACT
    tells_threshold: bool = True
    sensitive: str | None = None
    tells_n: bool = True
    longest: int | None = None


def publish_itemsets(
    random: Random, rows: Rows, columns: Mapping[str, Sequence[str]], are_columns: bool, shape: ListShape, name: str = "list"
) -> Published:
    """A list of itemsets of these people."""
    n = len(rows)
    items = items_of(columns, are_columns)
    counts = {one: count(rows, box_of(one)) for one in possible_sets(items) if shape.longest is None or len(one) <= shape.longest}
    frequent = {one for one, people in counts.items() if people >= shape.least}
    if shape.which == "gaps":
        listed = [one for one in counts if one in frequent and random.random() < 0.5]
    elif shape.which == "all":
        listed = [one for one in counts if one in frequent]
    else:
        listed = [one for one in counts if one in frequent and _is_chosen(one, counts, frequent, shape.which)]
    if not listed:
        raise NothingPublished
    complete = shape.which != "gaps"
    random.shuffle(listed)
    lines = []
    statements: list[Statement] = []
    for one in listed:
        shown = printed(random, counts[one], n, shape.numbers)
        lo, hi = meant(shown, n, shape.numbers)
        is_share = shape.numbers[0] == "decimals"
        texts = ["", share_text(shown, shape.numbers[1])] if is_share else [str(shown), ""]
        lines.append([json.dumps([name for _, _, name in one]), *texts])
        least = shape.least if complete or shape.tells_threshold else 0
        statements.append(between(box_of(one), max(lo, least), hi))
    used = sorted({item for one in listed for item in one})

    def left_out(values: Mapping[str, Sequence[str]]) -> Iterable[Statement]:
        known = {column: values[column] for column in columns if column in values}
        return _implied(listed, items_of(known, are_columns=True) if are_columns else used, shape) if complete else ()

    header: dict[str, Any] = {"format": "tacit.itemsets/1", "complete": complete}
    if shape.tells_n:
        header["n"] = n
    if shape.sensitive is not None:
        others = [column for column in columns if column != shape.sensitive]
        header |= {"qi": others, "sa": shape.sensitive, "sa_values": list(columns[shape.sensitive])}
    if complete or shape.tells_threshold:
        header["min_support"] = shape.least
    if shape.which in ("closed", "maximal"):
        header["only"] = shape.which
    if shape.longest is not None:
        header["max_length"] = shape.longest
    if are_columns:
        header["columns"] = list(columns)
    header |= _rounding(shape.numbers)
    named: dict[str, list[str]] = {}
    for column, value, _ in used:
        named.setdefault(column, []).append(value)
    closed = set() if are_columns else set(named)
    if shape.sensitive is not None:
        named[shape.sensitive] = list(columns[shape.sensitive])
        closed = {shape.sensitive}
    if not are_columns:
        named = {column: [ABSENT, PRESENT] for column in named}
    files = _files(name, ["itemset", "count", "support"], lines, header)
    return Published(f"{name}.csv", files, n if shape.tells_n else None, statements, named, closed, left_out=left_out)


def publish_visits(random: Random, visits: Rows, person: str, shape: ListShape, name: str = "list") -> Published:
    """A list of itemsets of people who have several rows: somebody has ``column: value`` if one of their rows does."""
    columns = [column for column in visits[0] if column != person]
    items = sorted({f"{column}: {row[column]}" for row in visits for column in columns})
    people = [
        {item: PRESENT if any(f"{c}: {row[c]}" == item for row in rows for c in columns) else ABSENT for item in items}
        for rows in ([row for row in visits if row[person] == one] for one in sorted({row[person] for row in visits}))
    ]
    made = publish_itemsets(random, people, dict.fromkeys(items, (ABSENT, PRESENT)), False, shape, name)
    header = json.loads(made.files[f"{name}.csv.json"]) | {"person": person, "columns": columns}
    made.files[f"{name}.csv.json"] = json.dumps(header)
    return made


def _rounding(numbers: Numbers) -> dict[str, Any]:
    how, fine, mode = numbers
    if how == "base":
        return {"rounding": {"base": fine, "mode": mode}}
    return {"digits": fine, "rounding": mode} if how == "decimals" else {}


def _is_chosen(one: tuple[Item, ...], counts: Mapping[tuple[Item, ...], int], frequent: set[Any], which: str) -> bool:
    larger = [other for other in counts if len(other) == len(one) + 1 and set(one) < set(other)]
    if which == "maximal":
        return not any(other in frequent for other in larger)
    return all(counts[other] < counts[one] for other in larger)


def _implied(listed: Sequence[tuple[Item, ...]], used: Sequence[Item], shape: ListShape) -> Iterable[Statement]:
    """What a complete list says about sets that it does not print."""
    for one in possible_sets(used):
        if shape.longest is not None and len(one) > shape.longest:
            continue
        around = [other for other in listed if set(one) <= set(other)]
        if one in listed:
            if shape.which == "closed":
                for item in used:
                    if item[0] not in {column for column, _, _ in one}:
                        larger = box_of((*one, item))
                        yield (Bound(((1, box_of(one)), (-1, larger)), 1, MANY),)
        elif not around or shape.which == "all":
            yield between(box_of(one), 0, shape.least - 1)
        elif shape.which == "closed":
            closure = min(around, key=len)
            yield (Bound(((1, box_of(one)), (-1, box_of(closure))), 0, 0),)
        else:
            yield between(box_of(one), shape.least)


# Frequency tables


@dataclass(frozen=True)
class TableShape:
    """Which tables are printed (sets of columns), and what is hidden or rounded.

    ``below`` hides what is smaller; ``hide`` hides cells by chance and does not say why. ``sensitive`` is the column that the header names.
    """

    tables: tuple[tuple[str, ...], ...]
    below: int | None = None
    zeros_shown: bool = False
    numbers: Numbers = EXACT
    hide: float = 0.0
    sensitive: str | None = None


#: What publishers print for a number of people; a text is the mark of a hidden cell. Where chance decides, all that may be printed.
Printing = Callable[[int], set[int | str]]
CONVENTIONS: dict[str, Printing] = {
    "opensafely": lambda people: (
        {0, "[REDACTED]"} if people <= 7 else {5 * one for one in multiples(Fraction(people, 5), "nearest")}
    ),
    "opensafely-midpoint6": lambda people: {people and 6 * ((people + 5) // 6) - 3},
    "nomis": lambda people: {5 * one for one in multiples(Fraction(people, 5), "nearest")},
    "omop": lambda people: {-5, "<5"} if 0 < people < 5 else {people},
    "rr3": lambda people: {3 * one for one in multiples(Fraction(people, 3), "random")},
}


def publish_table(
    random: Random,
    rows: Rows,
    columns: Mapping[str, Sequence[str]],
    shape: TableShape,
    name: str = "table",
    convention: Printing | None = None,
) -> Published:
    """A file of frequency tables of these people."""
    n = len(rows)
    statements: list[Statement] = []
    lines: list[list[Any]] = []
    used = [column for column in columns if any(column in table for table in shape.tables)]
    if not used:
        raise NothingPublished
    seen: set[tuple[str, ...]] = set()
    for table in shape.tables:
        for values in product(*(columns[column] if column in table else ["*"] for column in used)):
            if values in seen:
                continue
            seen.add(values)
            box = {column: frozenset([value]) for column, value in zip(used, values, strict=True) if value != "*"}
            people = count(rows, box)
            shown, statement = (
                _cell(random, people, n, box, shape) if convention is None else _named_cell(random, people, n, box, convention)
            )
            lines.append([*values, shown])
            statements.append(statement)
    header: dict[str, Any] = {"format": "tacit.frequencies/1", "n": n, "columns": used, "sa": [], "any": "*"}
    if shape.sensitive is not None:
        header |= {"sa": shape.sensitive, "qi": [column for column in used if column != shape.sensitive]}
    if shape.below is not None:
        header |= {"hidden_below": shape.below, "zeros_shown": shape.zeros_shown}
    header |= _rounding(shape.numbers)
    named = {column: list(columns[column]) for column in used}
    files = _files(name, [*used, "count"], lines, header)
    return Published(f"{name}.csv", files, n, statements, named, set(used), sensitive=shape.sensitive)


def _cell(random: Random, people: int, n: int, box: Box, shape: TableShape) -> tuple[str | int, Statement]:
    """What a cell prints, and what that says."""
    if shape.hide and random.random() < shape.hide:
        return "", between(box, 0, n)
    below = shape.below or 0
    shows_nobody = shape.zeros_shown and people == 0
    if people < below and not shows_nobody:
        return "", between(box, 1 if shape.zeros_shown else 0, below - 1)
    shown = printed(random, people, n, shape.numbers)
    lo, hi = meant(shown, n, shape.numbers)
    enough = (Bound(((1, box),), max(lo, below), hi),)
    nobody = (Bound(((1, box),), 0, 0),) if shape.zeros_shown and lo == 0 and below else ()
    return shown, (*nobody, *(enough if max(lo, below) <= hi else ()))


def _named_cell(random: Random, people: int, n: int, box: Box, convention: Printing) -> tuple[str | int, Statement]:
    """What a cell prints under a named convention, and what that says."""
    shown = random.choice(sorted(convention(people), key=str))
    fits = [one for one in range(n + 1) if shown in convention(one)]
    return shown, between(box, fits[0], fits[-1])


# Rules


@dataclass(frozen=True)
class RuleShape:
    """Rules with at least so many people and such a confidence; ``show`` is all numbers, none, or shares with some decimals."""

    least: int
    confidence: Fraction
    show: Literal["all", "none", "support", "both"] = "all"
    decimals: int = 2
    complete: bool = True
    longest: int | None = None


def publish_rules(
    random: Random,
    rows: Rows,
    columns: Mapping[str, Sequence[str]],
    sensitive: str,
    shape: RuleShape,
    name: str = "rules",
    beside: Sequence[str] = (),
) -> Published:
    """Rules from the other columns to the sensitive one, or to those ``beside`` it, each by itself."""
    n = len(rows)
    targets = [sensitive, *beside]
    qi = {column: values for column, values in columns.items() if column not in targets}
    every = [one for one in possible_sets(items_of(qi, are_columns=True)) if shape.longest is None or len(one) <= shape.longest]
    wanted = [(column, value) for column in targets for value in columns[column]]
    rules = [(left, *target) for left in every for target in wanted if _is_rule(rows, left, *target, shape)]
    listed = [rule for rule in rules if shape.complete or random.random() < 0.6]
    if not listed:
        raise NothingPublished
    random.shuffle(listed)
    lines = []
    statements: list[Statement] = []
    for left, target, value in listed:
        whole, both = box_of(left), {**box_of(left), target: frozenset([value])}
        texts, said = _rule_line(random, rows, whole, both, shape)
        then = json.dumps({target: value}) if beside else value
        lines.append([json.dumps({column: item for column, item, _ in left}), then, *texts])
        statements += said
    used = sorted({item for left, *_ in listed for item in left})
    named: dict[str, list[str]] = {target: list(columns[target]) for target in targets}
    for column, value, _ in used:
        named.setdefault(column, []).append(value)

    def left_out(values: Mapping[str, Sequence[str]]) -> Iterable[Statement]:
        top, under = shape.confidence.as_integer_ratio()
        known = {column: values[column] for column in qi if column in values}
        every = possible_sets(items_of(known, are_columns=True)) if shape.complete else ()
        for left, (target, value) in product(every, wanted):
            if (left, target, value) not in listed and (shape.longest is None or len(left) <= shape.longest):
                whole, both = box_of(left), {**box_of(left), target: frozenset([value])}
                few = Bound(((1, both),), 0, shape.least - 1)
                weak = Bound(((under, both), (-top, whole)), -MANY, -1)
                yield few, weak

    header = {
        "format": "tacit.rules/1", "n": n, "qi": list(qi), "sa": targets if beside else sensitive,
        "sa_values": {target: list(columns[target]) for target in targets} if beside else list(columns[sensitive]),
        "min_support": shape.least, "min_confidence": str(shape.confidence), "complete": shape.complete,
    }  # fmt: skip
    if shape.show in ("support", "both"):
        header["digits"] = shape.decimals
    if shape.longest is not None:
        header["max_length"] = shape.longest
    files = _files(name, ["antecedent", "consequent", "count", "support", "confidence"], lines, header)
    return Published(f"{name}.csv", files, n, statements, named, set(targets), sensitive=sensitive, left_out=left_out)


def publish_mlxtend(random: Random, rows: Rows, columns: Mapping[str, Sequence[str]], sensitive: str) -> Published:
    """Some rules to the sensitive column as mlxtend writes them: three supports in full, and measures that follow from them."""
    n = len(rows)
    qi = {column: values for column, values in columns.items() if column != sensitive}
    lines = []
    statements: list[Statement] = []
    named: dict[str, list[str]] = {sensitive: list(columns[sensitive])}
    for left, value in product(possible_sets(items_of(qi, are_columns=True)), columns[sensitive]):
        target: Box = {sensitive: frozenset([value])}
        boxes = (box_of(left), target, {**box_of(left), **target})
        whole, then, both = (count(rows, box) for box in boxes)
        if not both or random.random() < 0.5:
            continue
        sides = [
            f"frozenset({{{', '.join(map(repr, names))}}})" for names in ([name for *_, name in left], [f"{sensitive}={value}"])
        ]
        shares = [people / n for people in (whole, then, both)]
        lines.append([*sides, *shares, both / whole, both * n / (whole * then), both / n - whole * then / n**2])
        statements += [between(box, people, people) for box, people in zip(boxes, (whole, then, both), strict=True)]
        for column, item, _ in left:
            named.setdefault(column, []).append(item)
    if not lines:
        raise NothingPublished
    names = [
        "antecedents",
        "consequents",
        "antecedent support",
        "consequent support",
        "support",
        "confidence",
        "lift",
        "leverage",
    ]
    header = {"format": "tacit.rules/1", "n": n, "qi": list(qi), "sa": sensitive, "sa_values": list(columns[sensitive])}
    files = _files("mlxtend", names, lines, header)
    unique = {column: list(dict.fromkeys(values)) for column, values in named.items()}
    return Published("mlxtend.csv", files, n, statements, unique, {sensitive}, sensitive=sensitive)


def _is_rule(rows: Rows, left: Iterable[Item], sensitive: str, value: str, shape: RuleShape) -> bool:
    whole = count(rows, box_of(left))
    both = count(rows, {**box_of(left), sensitive: frozenset([value])})
    return both >= shape.least and both >= shape.confidence * whole


def _rule_line(random: Random, rows: Rows, whole: Box, both: Box, shape: RuleShape) -> tuple[list[Any], list[Statement]]:
    """What a rule prints, and what that says."""
    n, part, all_of_them = len(rows), count(rows, both), count(rows, whole)
    top, under = shape.confidence.as_integer_ratio()
    said = [between(both, shape.least, n), (Bound(((under, both), (-top, whole)), 0, MANY),)]
    if shape.show == "none":
        return ["", "", ""], said
    if shape.show == "all":
        said += [between(both, part, part), between(whole, all_of_them, all_of_them)]
        return [part, "", f"{part / all_of_them:.16f}"], said
    numbers: Numbers = ("decimals", shape.decimals, "nearest")
    shown = printed(random, part, n, numbers)
    said.append(between(both, *meant(shown, n, numbers)))
    support = share_text(shown, shape.decimals)
    if shape.show == "support":
        return ["", support, ""], said
    share = printed(random, part, all_of_them, numbers)
    scale = 2 * 10**shape.decimals
    said.append((Bound(((scale, both), (-(2 * share - 1), whole)), 0, MANY),))
    said.append((Bound(((scale, both), (-(2 * share + 1), whole)), -MANY, 0),))
    return ["", support, share_text(share, shape.decimals)], said


# Tables with blank cells


def publish_blanks(
    random: Random,
    rows: Rows,
    columns: Mapping[str, Sequence[str]],
    sensitive: str,
    name: str = "people",
    *,
    shows_sensitive: bool = False,
) -> Published:
    """Everybody's row, with some cells blank; which row is like which is a column of its own that only the judge sees.

    With ``shows_sensitive`` only quasi-identifiers are blank.
    """
    others = [column for column in columns if column != sensitive]
    if shows_sensitive:
        often = random.choice([0, 0.1, 0.3])
        blank = {(place, column) for place in range(len(rows)) for column in others if random.random() < often}
    else:
        blank = {(place, sensitive) for place in range(len(rows)) if random.random() < 0.3}
        blank |= {(place, column) for place in range(len(rows)) for column in columns if random.random() < 0.05}
    shown = [tuple("" if (place, column) in blank else row[column] for column in columns) for place, row in enumerate(rows)]
    if not shows_sensitive and not any(row[-1] == "" for row in shown):
        raise NothingPublished
    patterns = sorted(set(shown))
    statements = []
    for number, pattern in enumerate(patterns):
        here = {ROW: frozenset([str(number)])}
        people = shown.count(pattern)
        statements.append(between(here, people, people))
        fixed = {column: frozenset([value]) for column, value in zip(columns, pattern, strict=True) if value}
        statements.append(between({**here, **fixed}, people, people))
    named = {column: sorted({row[place] for row in shown} - {""}) for place, column in enumerate(columns)}
    closed = {column for place, column in enumerate(columns) if all(row[place] for row in shown)}
    named[ROW] = [str(number) for number in range(len(patterns))]
    header = {"format": "tacit.table/1", "n": len(rows), "qi": [one for one in columns if one != sensitive], "sa": sensitive}
    files = _files(name, list(columns), shown, header)
    told = sensitive if shows_sensitive else None
    return Published(f"{name}.csv", files, len(rows), statements, named, closed | {ROW}, {ROW}, sensitive=told)


# Bucketized tables


def publish_buckets(
    random: Random, rows: Rows, columns: Mapping[str, Sequence[str]], sensitive: str, name: str = "buckets"
) -> Published:
    """Everybody's other columns with a group, and how often each group has every sensitive value."""
    groups = random.randint(1, max(1, len(rows) // 2))
    group = [str(random.randrange(groups) + 1) for _ in rows]
    qi = [column for column in columns if column != sensitive]
    people = [[*(row[column] for column in qi), number] for row, number in zip(rows, group, strict=True)]
    table: dict[tuple[str, str], int] = {}
    for row, number in zip(rows, group, strict=True):
        table[number, row[sensitive]] = table.get((number, row[sensitive]), 0) + 1
    random.shuffle(people)
    used = sorted(set(group))
    values = sorted({row[sensitive] for row in rows})
    statements = [
        between({"group": frozenset([number]), sensitive: frozenset([value])}, *(2 * (table.get((number, value), 0),)))
        for number in used
        for value in values
    ]
    for kind in {tuple(row) for row in people}:
        box = {column: frozenset([value]) for column, value in zip([*qi, "group"], kind, strict=True)}
        statements.append(between(box, *(2 * (sum(tuple(row) == kind for row in people),))))
    header = {"format": "tacit.buckets/1", "n": len(rows), "qi": qi, "sa": sensitive, "group": "group"}
    files = {
        f"{name}/qit.csv": _text([*qi, "group"], people),
        f"{name}/st.csv": _text(["group", sensitive, "count"], [[*pair, people] for pair, people in sorted(table.items())]),
        f"{name}/buckets.json": json.dumps(header),
    }
    named = {column: sorted({row[column] for row in rows}) for column in qi}
    named |= {"group": used, sensitive: values}
    return Published(name, files, len(rows), statements, named, set(named))


# Files


def _text(names: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(lines)
    return out.getvalue()


def _files(name: str, names: Sequence[str], lines: Iterable[Sequence[Any]], header: Mapping[str, Any]) -> dict[str, str]:
    return {f"{name}.csv": _text(names, lines), f"{name}.csv.json": json.dumps(header)}
