"""CSV files of R's arules.

Itemsets have the columns ``items``, ``support``, ``count``; rules have ``rules`` (``{a,b} => {c}``) or ``LHS`` and ``RHS``, and
``support``, ``confidence``, ``coverage`` (the support of the antecedent), ``count``. Row names may stand first; cells are divided by commas,
tabs or blanks. arules does not mark commas inside item names: those within round or square brackets (``age=[20,30)``) belong to the name,
all others divide items.
"""

from __future__ import annotations

from tacit.errors import InputError
from tacit.files.delimited import Grid, read_grid
from tacit.files.disk import Input
from tacit.files.header import FileHeader
from tacit.files.printout import Printout, TextColumn, named_sets, place, with_extras

_ARROW = "} => {"


def read(file: Input, known: FileHeader, delimiter: str) -> Printout:
    """Read a file of arules' itemsets or rules."""
    grid = read_grid(file, delimiter, from_r=True)
    whole = grid.column("rules")
    left = grid.column("LHS")
    right = grid.column("RHS")
    if whole is not None:
        sides = _rules(grid, whole)
    elif left is not None and right is not None:
        sides = [_sets(grid, left), _sets(grid, right)]
    else:
        sides = [_sets(grid, grid.need("items"))]
    is_rules = len(sides) > 1
    printout = Printout.of(
        grid.where,
        grid.lines,
        named_sets(*sides),
        known,
        count=grid.column("count"),
        support=grid.column("support"),
        confidence=grid.column("confidence") if is_rules else None,
        whole_support=grid.column("coverage") if is_rules else None,
    )
    return with_extras(printout, grid.others(("rules", "LHS", "RHS", "items", "count", "support", "confidence", "coverage")))


def _sets(grid: Grid, column: TextColumn) -> list[list[str]]:
    found = []
    for line, text in enumerate(column.texts):
        text = text.strip()
        if not (text.startswith("{") and text.endswith("}")):
            where = place(grid.where, int(grid.lines[line]), column.name)
            raise InputError("is not a set in braces", where=where, remedy="Write it like {bread,milk}")
        found.append(split_set(text[1:-1]))
    return found


def _rules(grid: Grid, column: TextColumn) -> list[list[list[str]]]:
    left = []
    right = []
    for line, text in enumerate(column.texts):
        text = text.strip()
        if not (text.startswith("{") and text.endswith("}") and text.count(_ARROW) == 1):
            where = place(grid.where, int(grid.lines[line]), column.name)
            raise InputError("is not a rule", where=where, remedy="Write it like {bread,milk} => {butter}")
        antecedent, consequent = text[1:-1].split(_ARROW)
        left.append(split_set(antecedent))
        right.append(split_set(consequent))
    return [left, right]


def split_set(text: str) -> list[str]:
    """Split a set at commas outside brackets.

    At every comma when the brackets do not close.

    >>> split_set("age=[20,30),sex=F"), split_set("a),b")
    (['age=[20,30)', 'sex=F'], ['a)', 'b'])
    """
    if not text:
        return []
    if "(" not in text and "[" not in text:
        return text.split(",")
    items = []
    depth = 0
    start = 0
    for at, sign in enumerate(text):
        if sign in "([":
            depth += 1
        elif sign in ")]":
            depth -= 1
        elif sign == "," and depth == 0:
            items.append(text[start:at])
            start = at + 1
        if depth < 0:
            break
    return text.split(",") if depth else [*items, text[start:]]
