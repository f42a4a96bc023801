"""Lists of itemsets and rules in Tacit's own format.

Itemsets have the columns ``itemset`` (a JSON list), ``count``, ``support``; rules have ``antecedent`` (a JSON object of columns and values,
or a JSON list of items), ``consequent``, ``count``, ``support``, ``confidence``. An empty cell is a withheld value. If the header names
the ``sa``, a consequent is one of its values as plain text; otherwise, or if rules are about each of several ``sa`` columns, it is a JSON
list or object like the antecedent, or plain text.
In Parquet ``itemset`` is a list of texts, counts are BIGINT, shares DOUBLE (the header's ``digits`` gives their decimals), the rest text.
The file and its header are written both or neither.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from tacit.files.counts import Place
from tacit.files.delimited import Pairs, add_cells, holds, item_name, pair_name, read_grid, read_head
from tacit.files.disk import FilePath, Input
from tacit.files.duckdb import read_parquet_texts, sql_name, text_of, write_by_csv
from tacit.files.header import FileHeader, Plain, header_entries, split_items, write_with_header
from tacit.files.printout import Bags, Numbering, Printout, TextColumn, finish, place, with_extras
from tacit.files.rule_lists import in_order
from tacit.model.arrays import Ints
from tacit.model.errors import InputError, OptionError
from tacit.model.release import Decimals, Items, Itemsets, Listed, Marginal, Rules, Sets

COLUMNS = ("itemset", "antecedent", "consequent", "count", "support", "confidence", "order")


def read(file: Input, known: FileHeader, delimiter: str) -> Printout:
    """Read an own release, CSV or Parquet."""
    kinds = read_head(file).columns
    if kinds:
        names = [name for name in COLUMNS if name in kinds]
        expressions = [
            f"CAST(to_json({sql_name(name)}) AS VARCHAR)" if kinds[name].endswith("[]") else text_of(name, kinds[name])
            for name in names
        ]
        texts = read_parquet_texts(file, expressions)
        columns = {name: TextColumn(name, cells) for name, cells in zip(names, texts, strict=True)}
        lines = np.arange(1, len(texts[0]) + 1, dtype=np.int64)
        found = printout(columns, lines, known, where=file.name, unit="row")
        return replace(found, unread=tuple(name for name in kinds if name not in COLUMNS))
    grid = read_grid(file, delimiter)
    columns = {name: column for name in COLUMNS if (column := grid.column(name)) is not None}
    found = printout(columns, grid.lines, known, where=grid.where, unit="line")
    return with_extras(found, grid.others(COLUMNS))


def printout(columns: dict[str, TextColumn], lines: Ints, known: FileHeader, *, where: str, unit: Any) -> Printout:
    """Return the printout of these columns."""

    def at(index: int, column: str) -> str:
        return place(where, int(lines[index]), column, unit)

    kind = "itemsets" if "itemset" in columns else "rules"
    if kind == "rules" and not holds(columns, "antecedent", "consequent"):
        what = "has neither a column 'itemset' nor 'antecedent' and 'consequent'"
        raise InputError(what, where=f"{where}, line 1", remedy="Name the columns so")
    if known.kind not in (None, kind):
        what = f"says {known.kind}, but {where} holds {kind}"
        raise InputError(what, where=f"{known.where}, key 'format'", remedy="Correct it")
    if kind == "itemsets":
        bags = Bags(Numbering(item_name))
        add_cells(bags, columns["itemset"], at)
        named = _itemsets(bags, known.header.columns or known.header.qi + known.header.sa)
    else:
        known = _with_marginals(known, columns["consequent"].texts)
        named = _rules(columns["antecedent"], columns["consequent"], known, at)
        if "order" in columns or known.ordered:
            named, header = in_order(named, columns.get("order"), known.header, at)
            known = replace(known, header=header)
    numbers = ("count", "support", "confidence") if kind == "rules" else ("count", "support")
    printed = {name: columns.get(name) for name in numbers}
    return Printout.of(where, lines, named, known, unit=unit, exact=known.exact, **printed)


def _itemsets(bags: Bags, columns: tuple[str, ...]) -> tuple[Items, list[Sets]]:
    """Items and itemsets; items ``column=value`` in the order of columns, then values."""
    names = tuple(bags.numbering.numbers)
    pairs = split_items(names, columns) if columns else None
    if pairs is None:
        return finish([bags])
    order = sorted(range(len(names)), key=lambda i: (columns.index(pairs[i][0]), pairs[i][1]))
    ranks = bags.numbering.ranks([names[i] for i in order])
    return Items.of_columns([pairs[i] for i in order]), [bags.sets(ranks)]


def _are_objects(cells: Sequence[str]) -> bool:
    return bool(cells) and all(cell.lstrip().startswith("{") for cell in cells)


def _with_marginals(known: FileHeader, consequents: Sequence[str]) -> FileHeader:
    """Read several sensitive columns by themselves where consequents name them."""
    header = known.header
    if len(header.sa) < 2 or header.marginals or not _are_objects(consequents):
        return known
    if header.sa_values:
        remedy = 'Give the values of each column, such as {"ill": ["flu", "none"], "pay": ["high", "low"]}'
        raise InputError(
            "lists combined values, and rules are about single columns", where=f"{known.where}, key 'sa_values'", remedy=remedy
        )
    return replace(known, header=replace(header, marginals=tuple(map(Marginal, header.sa))))


def _rules(antecedent: TextColumn, consequent: TextColumn, known: FileHeader, at: Place) -> tuple[Items, list[Sets]]:
    """Items, antecedents and consequents, all objects or all lists."""
    if antecedent.texts and not any(cell.lstrip().startswith("{") for cell in antecedent.texts):
        bags = [Bags(numbering := Numbering(item_name)), Bags(numbering)]
        add_cells(bags[0], antecedent, at)
        if all(cell.lstrip().startswith("[") for cell in consequent.texts):
            add_cells(bags[1], consequent, at)
        else:
            bags[1].add([(cell,) for cell in consequent.texts])
        return finish(bags)
    bags = [Bags(numbering := Numbering(pair_name)), Bags(numbering)]
    add_cells(bags[0], antecedent, at, Pairs)
    if known.header.marginals or (not known.header.sa and _are_objects(consequent.texts)):
        add_cells(bags[1], consequent, at, Pairs)
    else:
        column = " & ".join(known.header.sa) or "consequent"
        bags[1].add([((column, cell),) for cell in consequent.texts])
    # Pairs stand in the order of the columns in the header, and then of their values.
    marginals = (one.column for one in known.header.marginals)
    order = {column: i for i, column in enumerate((*known.header.qi, *marginals))}
    for column, _ in numbering.numbers:
        order.setdefault(column, len(order))
    pairs = sorted(numbering.numbers, key=lambda pair: (order[pair[0]], pair[1]))
    ranks = numbering.ranks(pairs)
    return Items.of_columns(pairs), [side.sets(ranks) for side in bags]


_BATCH = 20_000


L = TypeVar("L", bound=Listed)
Cells = Callable[[int, int], Iterable[str]]  #: Cells of a column, or of several joined, from one row to another.


class _Writer(Generic[L]):
    """Writer of one kind of list.

    ``sides`` are its columns of items with the way to choose each from its JSON text, ``numbers`` those of numbers with their types.
    """

    sides: ClassVar[Mapping[str, str]]
    numbers: ClassVar[Mapping[str, str]] = {"count": "BIGINT", "support": "DOUBLE"}

    def __init__(self, release: L) -> None:
        self.release = release

    def check(self) -> None:
        """Raise if the file would not say what the release says."""

    def cells(self) -> list[Cells]:
        """Return the cells of all columns."""
        raise NotImplementedError

    def batches(self) -> Iterator[str]:
        """Yield the lines of a CSV file."""
        columns = self.cells()
        yield f"{','.join([*self.sides, *self.numbers])}\n"
        for start in range(0, len(self.release), _BATCH):
            stop = min(start + _BATCH, len(self.release))
            rows = zip(*(cells(start, stop) for cells in columns), strict=True)
            yield "".join(f"{','.join(row)}\n" for row in rows)

    def write_parquet(self, path: Path, plain: Plain) -> None:
        """Write a Parquet file by way of the CSV file."""
        texts = list(self.sides)
        casts = [f"CAST({name} AS {kind}) AS {name}" for name, kind in self.numbers.items()]
        write_by_csv(path, plain, [*texts, *self.numbers], texts, ", ".join([*self.sides.values(), *casts]))


class _ItemsetWriter(_Writer[Itemsets]):
    sides: ClassVar = {"itemset": "from_json(itemset, '[\"VARCHAR\"]') AS itemset"}

    def cells(self) -> list[Cells]:
        names = [_json(name) for name in self.release.items.names]
        return [_set_cells(self.release.sets, names, "[]"), _number_cells(self.release)]


class _RuleWriter(_Writer[Rules]):
    sides: ClassVar = {"antecedent": "antecedent", "consequent": "consequent"}
    numbers: ClassVar = {**_Writer.numbers, "confidence": "DOUBLE"}

    def check(self) -> None:
        if self.release.header.first_match is not None:
            remedy = "Keep the file that it was read from"
            raise OptionError("is a rule list in order, which is not written again", where="release", remedy=remedy)
        _check_ranges(self.release)

    def cells(self) -> list[Cells]:
        return [*_rule_cells(self.release), _number_cells(self.release), partial(_confidences, self.release)]


_WRITERS: Mapping[str, type[_Writer[Any]]] = {"itemsets": _ItemsetWriter, "rules": _RuleWriter}


def write(release: Listed, path: FilePath) -> None:
    """Write a release and its header atomically, in row order."""
    writer = _WRITERS[release.kind](release)
    writer.check()
    write_with_header(path, header_entries(release), writer.batches, writer.write_parquet)


def _check_ranges(release: Rules) -> None:
    """Raise if counts lie in ranges that no number of a line says."""
    header = release.header
    if release.support is not None or release.confidence is not None or header.min_support or header.min_confidence:
        return
    if header.n is not None and bool(((release.lo < release.hi) & ((release.lo > 0) | (release.hi < header.n))).any()):
        remedy = "Keep the file that it was read from"
        raise OptionError("its counts lie in ranges, which rules cannot print", where="release", remedy=remedy)


def _rule_cells(release: Rules) -> list[Cells]:
    """Return the cells of antecedents and of consequents."""
    pairs = release.items.pairs
    consequents = release.consequents
    if pairs is None:
        names = [_json(name) for name in release.items.names]
        return [_set_cells(side, names, "[]") for side in release.sides]
    texts = [f"{_json(column)}: {_json(value)}" for column, value in pairs]
    antecedents = _set_cells(release.antecedents, texts, "{}")
    if not release.header.sa or release.header.marginals:
        return [antecedents, _set_cells(consequents, texts, "{}")]
    # The value of the SA is plain text.
    column = " & ".join(release.header.sa)
    if (consequents.lengths != 1).any() or any(pairs[item][0] != column for item in np.unique(consequents.members)):
        raise OptionError("a consequent is not one value of the SA", where="release", remedy="Give rules QI => SA, or no 'sa'")
    values = ['"' + value.replace('"', '""') + '"' for _, value in pairs]
    return [antecedents, lambda start, stop: (values[item] for item in consequents.members[start:stop].tolist())]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _set_cells(sets: Sets, texts: list[str], ends: str) -> Cells:
    """Return cells that join the text of each item."""
    escaped = [text.replace('"', '""') for text in texts]

    def cells(start: int, stop: int) -> Iterator[str]:
        offsets = sets.offsets[start : stop + 1].tolist()
        parts = [escaped[item] for item in sets.members[offsets[0] : offsets[-1]].tolist()]
        base = offsets[0]
        for first, last in pairwise(offsets):
            yield f'"{ends[0]}{", ".join(parts[first - base : last - base])}{ends[1]}"'

    return cells


def _number_cells(release: Listed) -> Cells:
    """Return the cells ``count,support``."""
    n = release.n
    rounded = release.rounded
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

    return cells


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
