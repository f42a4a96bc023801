"""Rule lists in order: a rule is about people whom no earlier one matches.

Every person has one first rule, so that it is a value of a column of its own. A line then counts the people whose first rule it is, and the
conditions of the rules say what the column means (:class:`tacit.model.release.FirstMatch`). Lines with the same antecedent are about one rule.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

from tacit.files.counts import Place
from tacit.files.printout import TextColumn
from tacit.model.errors import InputError
from tacit.model.release import FIRST_RULE, FirstMatch, Header, Items, Sets, ValueGroup

Pair = tuple[str, str]


def in_order(
    named: tuple[Items, list[Sets]], order: TextColumn | None, header: Header, at: Place
) -> tuple[tuple[Items, list[Sets]], Header]:
    """Return rules with their numbers as antecedents, and their header."""
    items, (antecedents, consequents) = named
    if items.pairs is None:
        remedy = 'Write antecedents like {"sex": "F"}, and {} for the default rule'
        raise InputError("a rule in order names values of columns", where=at(0, "antecedent"), remedy=remedy)
    pairs = items.pairs
    _check_header(header, at(0, ""))
    sides = [frozenset(pairs[item] for item in side.tolist()) for side in antecedents]
    ranks = _ranks(order, sides, at)
    rules: dict[frozenset[Pair], int] = {}
    for line in sorted(range(len(sides)), key=ranks.__getitem__):
        rules.setdefault(sides[line], len(rules))
    default = rules.get(frozenset(), len(rules) - 1)
    if default < len(rules) - 1:
        line = next(line for line, side in enumerate(sides) if rules[side] > default)
        what = "comes after the default rule, which everybody matches"
        raise InputError(what, where=at(line, "antecedent"), remedy="Put the rule without conditions last")
    groups = {(group.column, group.name): group for group in header.groups}
    match = _first_match(rules, groups)
    own = [(match.column, str(number)) for number in range(1, len(rules) + 1)]
    used = {item: place for place, item in enumerate(sorted(set(consequents.members.tolist())))}
    fresh = Items.of_columns([*own, *(pairs[item] for item in used)])
    sets = [
        Sets.from_lists([rules[side]] for side in sides),
        Sets.from_lists([len(own) + used[item] for item in side.tolist()] for side in consequents),
    ]
    columns = dict.fromkeys((*header.qi, *(one.column for rule in match.rules for one in rule)))
    listed = ((match.column, match.values),)
    return (fresh, sets), replace(header, qi=tuple(columns), first_match=match, groups=(), all_values=listed)


def _check_header(header: Header, where: str) -> None:
    if header.complete or header.min_support or header.min_confidence or header.coarser:
        what = "is in order, and thresholds and completeness are about rules that stand alone"
        remedy = "Remove complete, min_support, min_confidence and coarser from the header"
        raise InputError(what, where=where, remedy=remedy)


def _ranks(order: TextColumn | None, sides: Sequence[frozenset[Pair]], at: Place) -> list[int]:
    """Return the position of each line; one rule has one position."""
    if order is None:
        return list(range(len(sides)))
    owner: dict[int, frozenset[Pair]] = {}
    rank: dict[frozenset[Pair], int] = {}
    for line, text in enumerate(order.texts):
        if not (text.isascii() and text.isdecimal() and len(text) < 10):
            raise InputError("is not a whole number", where=at(line, order.name), remedy="Number the rules in their order")
        number = int(text)
        if owner.setdefault(number, sides[line]) != sides[line] or rank.setdefault(sides[line], number) != number:
            remedy = "Give each rule one number, and lines of one rule the same"
            raise InputError("two rules have one number, or one rule has two", where=at(line, order.name), remedy=remedy)
    return [rank[side] for side in sides]


def _first_match(rules: Mapping[frozenset[Pair], int], groups: Mapping[Pair, ValueGroup]) -> FirstMatch:
    plain = tuple(
        tuple(groups.get(pair, ValueGroup(*pair, (pair[1],))) for pair in sorted(rule))
        for rule in sorted(rules, key=rules.__getitem__)
    )
    told = json.dumps([[[one.column, sorted(one.values), one.excluded] for one in rule] for rule in plain])
    return FirstMatch(f"{FIRST_RULE}{sha256(told.encode()).hexdigest()[:6]}", plain)
