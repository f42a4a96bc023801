"""Lists of itemsets and rules in all known formats.

Itemsets have the columns ``itemset`` (a JSON list), ``count``, ``support``; rules have ``antecedent`` (a JSON object of columns and values,
or a JSON list of items), ``consequent``, ``count``, ``support``, ``confidence``. An empty cell is a withheld value. If the header names
the ``sa``, a consequent is one of its values as plain text; otherwise it is a JSON list or object like the antecedent, or plain text.
In Parquet ``itemset`` is a list of texts, counts are BIGINT, shares DOUBLE (the header's ``digits`` gives their decimals), the rest text.
The file and its header are written both or neither.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from tacit.errors import InputError, OptionError
from tacit.files.counts import Place
from tacit.files.delimited import add_lists, add_objects, holds, item_name, pair_name, read_grid, read_head
from tacit.files.disk import FilePath, Input
from tacit.files.duckdb import read_parquet, sql_name, text_of, write_by_csv
from tacit.files.header import FileHeader, Plain, header_entries, split_items, write_with_header
from tacit.files.printout import Bags, Numbering, Printout, TextColumn, finish, place, with_extras
from tacit.model.arrays import Ints
from tacit.model.release import Decimals, Items, Itemsets, Listed, Rules, Sets

#: The column that a consequent is filed under when no header names the SA.
UNNAMED_SA = "consequent"


def read(file: Input, known: FileHeader, delimiter: str) -> Printout:
    """Read an own release, CSV or Parquet."""
    head = read_head(file)
    if head.columns:
        columns, lines = _parquet_columns(file, head.columns)
        where = file.name
    else:
        grid = read_grid(file, delimiter)
        columns = {name: column for name in COLUMNS if (column := grid.column(name)) is not None}
        lines = grid.lines
        where = grid.where
    unit = "row" if head.columns else "line"
    found = printout(columns, lines, known, where=where, unit=unit)
    if head.columns:
        return replace(found, unread=tuple(name for name in head.columns if name not in COLUMNS))
    return with_extras(found, grid.others(COLUMNS))


COLUMNS = ("itemset", "antecedent", "consequent", "count", "support", "confidence")


def printout(columns: dict[str, TextColumn], lines: Ints, known: FileHeader, *, where: str, unit: Any) -> Printout:
    """Return the printout of these columns."""

    def at(index: int, column: str) -> str:
        return place(where, int(lines[index]), column, unit)

    kind = "itemsets" if "itemset" in columns else "rules"
    if kind == "rules" and not holds(columns, "antecedent", "consequent"):
        raise InputError(
            "has neither a column 'itemset' nor 'antecedent' and 'consequent'",
            where=f"{where}, line 1",
            remedy="Name the columns so",
        )
    if known.kind not in (None, kind):
        raise InputError(
            f"says {known.kind}, but {where} holds {kind}", where=f"{known.where}, key 'format'", remedy="Correct it"
        )
    consequents: Sets | None = None
    if kind == "itemsets":
        bags = Bags(Numbering(item_name))
        add_lists(bags, columns["itemset"], at)
        items, sets = _itemsets(bags, known.columns or known.header.qi + known.header.sa)
    else:
        items, sets, consequents = _rules(columns["antecedent"], columns["consequent"], known, at)
    return Printout(
        where,
        lines,
        items,
        sets,
        consequents,
        count=columns.get("count"),
        support=columns.get("support"),
        confidence=columns.get("confidence") if kind == "rules" else None,
        header=known.header,
        only=known.only or "all",
        unit=unit,
        exact=known.exact,
    )


def _itemsets(bags: Bags, columns: tuple[str, ...]) -> tuple[Items, Sets]:
    """Items and itemsets.

    Items ``column=value`` stand in the order of the columns and then of their values.
    """
    names = tuple(bags.numbering.numbers)
    pairs = split_items(names, columns) if columns else None
    if pairs is None:
        items, (sets,) = finish([bags])
        return items, sets
    order = sorted(range(len(names)), key=lambda i: (columns.index(pairs[i][0]), pairs[i][1]))
    return Items.of_columns([pairs[i] for i in order]), bags.sets(bags.numbering.ranks([names[i] for i in order]))


def _rules(antecedent: TextColumn, consequent: TextColumn, known: FileHeader, at: Place) -> tuple[Items, Sets, Sets]:
    """Items, antecedents and consequents, all objects or all lists."""
    if antecedent.texts and not any(cell.lstrip().startswith("{") for cell in antecedent.texts):
        bags = [Bags(numbering := Numbering(item_name)), Bags(numbering)]
        add_lists(bags[0], antecedent, at)
        if all(cell.lstrip().startswith("[") for cell in consequent.texts):
            add_lists(bags[1], consequent, at)
        else:
            bags[1].add([(cell,) for cell in consequent.texts])
        items, (antecedents, consequents) = finish(bags)
        return items, antecedents, consequents
    bags = [Bags(numbering := Numbering(pair_name)), Bags(numbering)]
    add_objects(bags[0], antecedent, at)
    if not known.header.sa and consequent.texts and all(cell.lstrip().startswith("{") for cell in consequent.texts):
        add_objects(bags[1], consequent, at)
    else:
        column = " & ".join(known.header.sa) or UNNAMED_SA
        bags[1].add([((column, cell),) for cell in consequent.texts])
    pairs = _sort_pairs(list(numbering.numbers), known)
    ranks = numbering.ranks(pairs)
    return Items.of_columns(pairs), bags[0].sets(ranks), bags[1].sets(ranks)


def _sort_pairs(pairs: list[tuple[str, str]], known: FileHeader) -> list[tuple[str, str]]:
    """Sort pairs by column in header order, then by value."""
    order = {column: i for i, column in enumerate(known.header.qi)}
    for column, _ in pairs:
        order.setdefault(column, len(order))
    return sorted(pairs, key=lambda pair: (order[pair[0]], pair[1]))


def _parquet_columns(file: Input, kinds: dict[str, str]) -> tuple[dict[str, TextColumn], Ints]:
    """Return the columns of a Parquet file, and row numbers."""
    names = [name for name in COLUMNS if name in kinds]
    expressions = [
        f"CAST(to_json({sql_name(name)}) AS VARCHAR)" if kinds[name].endswith("[]") else text_of(name, kinds[name])
        for name in names
    ]
    texts: list[list[str]] = [[] for _ in names]
    for rows in read_parquet(file, expressions):
        for cells, column in zip(texts, zip(*rows, strict=True), strict=True):
            cells.extend("" if cell is None else cell for cell in column)
    columns = {name: TextColumn(name, cells) for name, cells in zip(names, texts, strict=True)}
    return columns, np.arange(1, len(texts[0]) + 1, dtype=np.int64)


_BATCH = 20_000


def write(release: Listed, path: FilePath) -> None:
    """Write a release and its header atomically, in row order."""
    write_with_header(
        path, header_entries(release), lambda: _batches(release), lambda to, plain: _write_parquet(release, to, plain)
    )


def _write_parquet(release: Listed, path: Path, plain: Plain) -> None:
    sides = "from_json(itemset, '[\"VARCHAR\"]') AS itemset" if isinstance(release, Itemsets) else "antecedent, consequent"
    confidence = "" if isinstance(release, Itemsets) else ", CAST(confidence AS DOUBLE) AS confidence"
    texts = ["itemset"] if isinstance(release, Itemsets) else ["antecedent", "consequent"]
    columns = [*texts, "count", "support"] if isinstance(release, Itemsets) else [*texts, "count", "support", "confidence"]
    chosen = f"{sides}, CAST(count AS BIGINT) AS count, CAST(support AS DOUBLE) AS support{confidence}"
    write_by_csv(path, plain, columns, texts, chosen)


# Lines


def _batches(release: Listed) -> Iterator[str]:
    """Yield the text of the file in blocks."""
    itemsets = isinstance(release, Itemsets)
    yield "itemset,count,support\n" if itemsets else "antecedent,consequent,count,support,confidence\n"
    numbers = _numbers(release)
    sides = _itemset_cells(release) if isinstance(release, Itemsets) else _rule_cells(release)
    for start in range(0, len(release), _BATCH):
        stop = min(start + _BATCH, len(release))
        yield "".join(f"{side},{number}\n" for side, number in zip(sides(start, stop), numbers(start, stop), strict=True))


Cells = Callable[[int, int], Iterable[str]]


def _quoted(text: str) -> str:
    """Return a CSV cell."""
    return '"' + text.replace('"', '""') + '"'


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _sets_cells(sets: Sets, fragments: list[str], ends: str) -> Cells:
    """Cells that join one prepared fragment per item."""

    def cells(start: int, stop: int) -> Iterator[str]:
        offsets = sets.offsets[start : stop + 1].tolist()
        parts = [fragments[item] for item in sets.members[offsets[0] : offsets[-1]].tolist()]
        base = offsets[0]
        for first, last in pairwise(offsets):
            yield f'"{ends[0]}{", ".join(parts[first - base : last - base])}{ends[1]}"'

    return cells


def _itemset_cells(release: Itemsets) -> Cells:
    fragments = [_json(name).replace('"', '""') for name in release.items.names]
    return _sets_cells(release.sets, fragments, "[]")


def _rule_cells(release: Rules) -> Cells:
    pairs = release.items.pairs
    if pairs is None:
        fragments = [_json(name).replace('"', '""') for name in release.items.names]
        antecedents = _sets_cells(release.antecedents, fragments, "[]")
        consequents = _sets_cells(release.consequents, fragments, "[]")
    else:
        fragments = [f"{_json(column)}: {_json(value)}".replace('"', '""') for column, value in pairs]
        antecedents = _sets_cells(release.antecedents, fragments, "{}")
        consequents = _sa_cells(release) if release.header.sa else _sets_cells(release.consequents, fragments, "{}")

    def cells(start: int, stop: int) -> Iterator[str]:
        return (f"{left},{right}" for left, right in zip(antecedents(start, stop), consequents(start, stop), strict=True))

    return cells


def _sa_cells(release: Rules) -> Cells:
    """Return the value of the SA as plain text."""
    assert release.items.pairs is not None
    column = " & ".join(release.header.sa)
    chosen = np.unique(release.consequents.members)
    if (release.consequents.lengths != 1).any() or any(release.items.pairs[item][0] != column for item in chosen):
        raise OptionError("a consequent is not one value of the SA", where="release", remedy="Give rules QI => SA, or no 'sa'")
    values = [_quoted(value) for _, value in release.items.pairs]
    return lambda start, stop: (values[item] for item in release.consequents.members[start:stop].tolist())


def _numbers(release: Listed) -> Cells:
    """Return the cells ``count,support`` (and ``,confidence`` of rules)."""
    n = release.n
    rounded = release.rounded if isinstance(release, Itemsets) else None
    if rounded is not None:
        return lambda start, stop: (f"{count}," for count in rounded[start:stop].tolist())

    def cells(start: int, stop: int) -> Iterator[str]:
        lows = release.lo[start:stop].tolist()
        highs = release.hi[start:stop].tolist()
        shares = _texts(release.support, start, stop)
        for low, high, share in zip(lows, highs, shares, strict=True):
            if share or low != high:
                yield f",{share}"
            else:
                yield f"{low},{low / n!r}" if n else f"{low},"

    if isinstance(release, Itemsets):
        return cells
    rules = release

    def with_confidence(start: int, stop: int) -> Iterator[str]:
        return (f"{cell},{ratio}" for cell, ratio in zip(cells(start, stop), _confidences(rules, start, stop), strict=True))

    return with_confidence


def _confidences(rules: Rules, start: int, stop: int) -> Iterator[str]:
    """Yield the printed confidences, or those of exact counts."""
    if rules.confidence is not None:
        yield from _texts(rules.confidence, start, stop)
        return
    ends = (rules.lo, rules.hi, rules.whole_lo, rules.whole_hi)
    for low, high, whole_low, whole_high in zip(*(end[start:stop].tolist() for end in ends), strict=True):
        exact = low == high and whole_low == whole_high and whole_low > 0
        yield repr(low / whole_low) if exact and rules.support is None else ""


def _texts(decimals: Decimals | None, start: int, stop: int) -> Iterable[str]:
    return ("" for _ in range(start, stop)) if decimals is None else (decimals.text(i) for i in range(start, stop))
