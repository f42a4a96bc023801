"""Transactions from FIMI files, tables, lists and one-hot frames.

Items keep their text as names. Equal rows are merged, repeated items removed. In a file a blank line is not a person; in a list of lists an
empty list is a person without items.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from tacit.files.disk import FilePath, Input, readable, shown
from tacit.files.engines import Engine, as_engine
from tacit.files.frames import Frame, as_frame, texts_of
from tacit.files.printout import named_sets
from tacit.files.tables import TRANSACTION_ENDINGS, check_names, read_table
from tacit.model.arrays import Codes, Flags, Ints
from tacit.model.bins import Bins
from tacit.model.errors import InputError, OptionError
from tacit.model.release import Items, Sets
from tacit.model.table import MissingRule, Names, Table, Transactions, sort_names

_TABLE_ENDINGS = (".csv", ".tsv", ".tab", ".parquet", ".pq", ".xlsx", ".xlsm", ".jsonl")
_BLOCK = 8 << 20
_FEW_ROWS = 1 << 20  #: Rows that wait before they are merged, at least.
_SMALL_BLOCKS = 4  #: Files of more blocks are read twice instead of being kept in memory.
#: The longest whole number that int64 holds for certain.
_MOST_DIGITS = 18
_DIGITS_AND_BLANKS = b"0123456789 \t\n\r\f\v"
_TOKEN = re.compile(r"[^ \t\n\r\f\v]+")
_REMEDY = "Give a .dat file, an (id, item) table, a list of lists or a one-hot frame"


#: Choice of items by their names, by how many lines have each (or more, where a line repeats it), and by the number of lines.
Chosen = Callable[[Sequence[str], Ints, int], Flags]


def read_transactions(
    data: object,
    *,
    id_column: str | None = None,
    item_column: str | None = None,
    chosen: Chosen | None = None,
    engine: Engine | str | None = None,
) -> Transactions:
    """Return the transactions in a file, list or frame, equal ones merged.

    Parameters
    ----------
    data
        A path to a FIMI file (one transaction per line, items separated by blanks; in a ``.basket`` file by commas), also gzipped; a table or
        frame of (id, item) pairs, when the two columns are named or are the only ones; a frame of truth values with one column per item; a
        list of lists; or transactions.
    id_column, item_column
        The columns of an (id, item) table. A person with an empty item cell has no item by that row.
    chosen
        Choice of the items to keep, by their names, the lines that have each, and the number of lines. A file of numbers is then read without
        the others, which takes less memory; other data keep all items.
    engine
        Program that reads a file of transactions (see :func:`tacit.engine`); Spark merges equal ones on its cluster.

    Examples
    --------
    >>> baskets = read_transactions([["beer", "crisps"], ["crisps", "beer", "beer"], []])
    >>> baskets.n, len(baskets.rows), baskets.items.names
    (3, 2, ('beer', 'crisps'))
    """
    if isinstance(data, Transactions):
        return data
    pairs = id_column is not None or item_column is not None
    if isinstance(data, str | os.PathLike):
        merging = as_engine(engine)
        if merging is not None and merging.is_cluster and not pairs:
            from tacit.files.spark import SparkBaskets

            path = os.fspath(data)
            return SparkBaskets.open(path, merging, chosen or (lambda names, _lines, _n: np.ones(len(names), np.bool_))).remote()
        file = Input.of(data)
        ending = _ending(file)
        if not pairs and ending not in TRANSACTION_ENDINGS:
            pairs = ending in _TABLE_ENDINGS or "::" in file.path or file.is_parquet
        return _from_pairs(file, id_column, item_column, where=shown(file)) if pairs else _from_lines(file, chosen)
    if isinstance(data, Table):
        return _from_pairs(data, id_column, item_column, where="the table") if pairs else data.transactions().merged()
    frame = as_frame(data, where="the frame")
    if frame is None:
        return _from_lists(data)
    if not pairs and (one_hot := _one_hot(frame, may_be_pairs=True)) is not None:
        return one_hot.merged()
    return _from_pairs(data, id_column, item_column, where="the frame")


def read_one_hot(data: object) -> Transactions | None:
    """Return the transactions of a frame of truth values, or of zeros and ones; None for other data."""
    frame = as_frame(data, where="the frame")
    found = None if frame is None else _one_hot(frame, may_be_pairs=False)
    return None if found is None else found.merged()


def read_data(
    path: FilePath,
    *,
    qi: Names = (),
    sa: Names = (),
    identifying: Names = (),
    columns: Names = None,
    missing: str | None = None,
    missing_rule: MissingRule = "category",
    bins: Mapping[str, Any] | Iterable[Bins] | None = None,
    id_column: str | None = None,
    item_column: str | None = None,
    engine: Engine | None = None,
    chosen: Chosen | None = None,
) -> Table | Transactions:
    """Read a table or transactions, by file ending.

    Named id and item columns make a table one of transactions. ``chosen`` is that of :func:`read_transactions`.
    """
    if id_column is None and item_column is None and _ending(path) not in TRANSACTION_ENDINGS:
        return read_table(
            path,
            qi=qi,
            sa=sa,
            identifying=identifying,
            columns=columns,
            missing=missing,
            missing_rule=missing_rule,
            bins=bins,
            engine=engine,
        )
    given = {
        "--qi": qi,
        "--sa": sa,
        "identifying": identifying,
        "columns": columns,
        "--missing": missing is not None,
        "--missing-rule": missing_rule != "category",
        "--bins": bool(bins),
    }
    for option, value in given.items():
        if value:
            what = f"{shown(path)} holds transactions, which have no columns"
            raise OptionError(what, where=option, remedy=f"Leave {option} out, or give a table")
    return read_transactions(path, id_column=id_column, item_column=item_column, chosen=chosen, engine=engine)


def _ending(path: FilePath) -> str:
    return os.path.splitext(os.fspath(path).casefold().removesuffix(".gz"))[1]


def _from_lines(file: Input, chosen: Chosen | None = None) -> Transactions:
    by_comma = _ending(file) == ".basket" and b"," in file.head(1 << 16)
    found = None if by_comma else _read_numbers(file, chosen)
    if found is None and not by_comma:
        found = _read_blocks_of_names(file, chosen)
    if found is None:
        found = _read_names(file, by_comma=by_comma)
    if not len(found.rows):
        raise InputError("holds no transactions", where=shown(file), remedy="Write the items of one person per line")
    return replace(found.merged(), source=file.source)


class _Merging:
    """Rows that were read so far; equal ones are merged once there are many."""

    def __init__(self, items: Items) -> None:
        self.merged = Transactions(Sets(np.zeros(1, np.int64), np.empty(0, np.int32)), np.empty(0, np.int64), items)
        self.waiting: list[Sets] = []
        self.rows = 0

    def add(self, sets: Sets) -> None:
        self.waiting.append(sets)
        self.rows += len(sets)
        if self.rows >= max(_FEW_ROWS, len(self.merged.rows)):
            self.finish()

    def finish(self) -> Transactions:
        parts = [self.merged.rows, *self.waiting]
        ends = np.cumsum([len(part.members) for part in parts]).tolist()
        offsets = [part.offsets[1:] + (end - len(part.members)) for part, end in zip(parts, ends, strict=True)]
        sets = Sets(np.concatenate([np.zeros(1, np.int64), *offsets]), np.concatenate([part.members for part in parts]))
        weights = np.concatenate([self.merged.weights, np.ones(self.rows, np.int64)])
        self.waiting = []
        self.rows = 0
        self.merged = replace(self.merged, rows=Sets(sets.offsets, sets.members), weights=weights).merged()
        return self.merged


def _parsed_blocks(file: Input) -> Iterator[tuple[Ints, Ints] | None]:
    with file.open_bytes() as stream, readable(file):
        for block in _blocks(stream):
            yield _parse_numbers(block)


def _read_numbers(file: Input, chosen: Chosen | None) -> Transactions | None:
    """Return the transactions of a numeric file, cut to the chosen items, or None.

    The file is read twice, unless it is small: items are counted first, so that no row keeps one that is not wanted.
    """
    small: list[tuple[Ints, Ints]] = []
    count = _Counts()
    read = 0
    for parsed in _parsed_blocks(file):
        if parsed is None:
            return None
        count.add(*parsed)
        read += 1
        if read <= _SMALL_BLOCKS:
            small.append(parsed)
    distinct = count.distinct
    if chosen is not None:
        distinct = distinct[chosen([str(number) for number in distinct.tolist()], count.lines, count.n)]
    merging = _Merging(Items(tuple(str(number) for number in distinct.tolist())))
    for parsed in small if read <= _SMALL_BLOCKS else _parsed_blocks(file):
        assert parsed is not None
        values, per_line = parsed
        place = np.minimum(np.searchsorted(distinct, values), len(distinct) - 1)
        kept = distinct[place] == values if len(distinct) else np.zeros(len(values), np.bool_)
        rows = np.repeat(np.arange(len(per_line), dtype=np.int64), per_line)
        merging.add(Sets.from_pairs(rows[kept], place[kept], len(per_line)))
    return merging.finish()


class _Counts:
    """Distinct numbers, how often each occurs, and the number of lines."""

    def __init__(self) -> None:
        self.distinct = np.empty(0, np.int64)
        self.lines = np.empty(0, np.int64)
        self.n = 0

    def add(self, values: Ints, per_line: Ints) -> None:
        self.n += len(per_line)
        fresh, numbers = np.unique(values, return_counts=True)
        both, place = np.unique(np.concatenate([self.distinct, fresh]), return_inverse=True)
        total = np.zeros(len(both), np.int64)
        np.add.at(total, place.reshape(-1), np.concatenate([self.lines, numbers]))
        self.distinct = both
        self.lines = total


def _blocks(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the content in blocks of whole lines."""
    rest = b""
    while chunk := stream.read(_BLOCK):
        data = rest + chunk
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")  # one that is cut in two adds a blank line
        cut = data.rfind(b"\n") + 1
        rest = data[cut:]
        if cut:
            yield data[:cut]
    if rest:
        yield rest


def _parse_numbers(block: bytes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None:
    """Return a block's numbers and line lengths, or None if some token differs."""
    if block.translate(None, _DIGITS_AND_BLANKS):
        return None
    data = np.frombuffer(block, np.uint8)
    digit = data >= ord("0")
    edges = np.flatnonzero(np.diff(digit, prepend=np.False_, append=np.False_))
    starts = edges[::2]
    widths = edges[1::2] - starts
    if not len(starts):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    if widths.max() > _MOST_DIGITS or ((widths > 1) & (data[starts] == ord("0"))).any():
        return None  # 07 and 7 are different names
    values = np.zeros(len(starts), np.int64)
    for place in range(int(widths.max())):
        there = widths > place
        values[there] = values[there] * 10 + (data[starts[there] + place] - ord("0"))
    per_line = np.diff(np.searchsorted(starts, np.flatnonzero(data == ord("\n"))), prepend=0, append=len(starts))
    return values, per_line[per_line > 0]


def _read_blocks_of_names(file: Input, chosen: Chosen | None) -> Transactions | None:
    """Return the transactions of a file of words, cut to the chosen items, or None if it is not plain UTF-8.

    The file is read twice, as one of numbers is, unless it is small.
    """
    numbers: dict[bytes, int] = {}
    small: list[tuple[Codes, Ints]] = []
    lines: Ints = np.zeros(0, np.int64)
    n = 0
    read = 0
    for parsed in _coded_blocks(file, numbers):
        if parsed is None:
            return None
        codes, per_line = parsed
        lines = np.append(lines, np.zeros(len(numbers) - len(lines), np.int64)) + np.bincount(codes, minlength=len(numbers))
        n += len(per_line)
        read += 1
        if read <= _SMALL_BLOCKS:
            small.append(parsed)
    try:
        texts = [name.decode() for name in numbers]
    except UnicodeDecodeError:
        return None
    flags = np.ones(len(texts), np.bool_) if chosen is None else chosen(texts, lines, n)
    names = sort_names(text for text, is_chosen in zip(texts, flags, strict=True) if is_chosen)
    place = {name: number for number, name in enumerate(names)}
    rank = np.array([place.get(text, -1) for text in texts], np.int64)
    merging = _Merging(Items(names))
    for parsed in small if read <= _SMALL_BLOCKS else _coded_blocks(file, numbers):
        assert parsed is not None
        codes, per_line = parsed
        items = rank[codes]
        kept = items >= 0
        rows = np.repeat(np.arange(len(per_line), dtype=np.int64), per_line)
        merging.add(Sets.from_pairs(rows[kept], items[kept], len(per_line)))
    return merging.finish()


def _coded_blocks(file: Input, numbers: dict[bytes, int]) -> Iterator[tuple[Codes, Ints] | None]:
    """Yield the numbers of a block's words, new ones added, and the length of each line that is not blank; None if it is not text."""
    with file.open_bytes() as stream, readable(file):
        for place, block in enumerate(_blocks(stream)):
            text = block.removeprefix(codecs.BOM_UTF8) if place == 0 else block
            if b"\0" in text:
                yield None
                return
            words = text.split()
            for word in set(words).difference(numbers):
                numbers[word] = len(numbers)
            codes = np.fromiter(map(numbers.__getitem__, words), np.int32, len(words))
            data = np.frombuffer(text, np.uint8)
            is_word = (data != ord(" ")) & ((data < ord("\t")) | (data > ord("\r")))
            starts = np.flatnonzero(is_word & ~np.concatenate([np.zeros(1, np.bool_), is_word[:-1]]))
            per_line = np.diff(np.searchsorted(starts, np.flatnonzero(data == ord("\n"))), prepend=0, append=len(starts))
            yield codes, per_line[per_line > 0]


def _read_names(file: Input, *, by_comma: bool) -> Transactions:
    def split(line: str) -> list[str]:
        if by_comma:
            return [token for part in line.split(",") if (token := part.strip())]
        return _TOKEN.findall(line)

    with file.open_text() as stream:
        items, (sets,) = named_sets(tokens for line in stream if (tokens := split(line)))
    return _one_person_each(sets, items)


def _one_person_each(sets: Sets, items: Items) -> Transactions:
    return Transactions(sets, np.ones(len(sets), np.int64), items)


def _from_lists(data: object) -> Transactions:
    if isinstance(data, str | bytes) or not isinstance(data, Iterable):
        raise InputError(f"a {type(data).__name__} holds no transactions", where="data", remedy=_REMEDY)
    rows: list[list[str]] = []
    for number, row in enumerate(data, 1):
        where = f"row {number} of the list"
        if isinstance(row, str | bytes) or not isinstance(row, Iterable):
            raise InputError("is not a list of items", where=where, remedy="Give one list of item names per person")
        items = list(row)
        texts = items if all(type(item) is str for item in items) else texts_of(items, "items", where=where)
        if "" in texts:
            raise InputError("has a missing value among its items", where=where, remedy="Leave missing items out")
        rows.append(texts)
    if not rows:
        raise InputError("the list is empty", where="data", remedy=_REMEDY)
    return Transactions.from_lists(rows).merged()


def _from_pairs(data: object, id_column: str | None, item_column: str | None, *, where: str) -> Transactions:
    if id_column is None or item_column is None:
        table = read_table(data)
        others = [name for name in table.names if name not in (id_column, item_column)]
        if len(table.names) != 2 or len(others) + (id_column is not None) + (item_column is not None) != 2:
            what = f"has {len(table.names)} columns, so it does not say which one holds the person and which one the item"
            raise OptionError(what, where=where, remedy="Name the two with --id-column and --item-column")
        id_column = id_column or others.pop(0)
        item_column = item_column or others.pop(0)
    table = read_table(data, columns=[id_column, item_column])
    people = table.column(id_column)
    item = table.column(item_column)
    if "" in people.values:
        first = int(np.flatnonzero(people.codes == people.values.index(""))[0]) + 1
        what = f"row {first} names no person in column {id_column!r}"
        raise InputError(what, where=where, remedy="Fill it, or leave the row out")
    names = sort_names(value for value in item.values if value)
    position = {name: i for i, name in enumerate(names)}
    members = np.array([position.get(value, -1) for value in item.values], np.int64)[item.codes]
    kept = members >= 0
    sets = Sets.from_pairs(people.codes[kept], members[kept], len(people.values))
    return replace(_one_person_each(sets, Items(names)).merged(), source=table.source)


def _one_hot(frame: Frame, *, may_be_pairs: bool) -> Transactions | None:
    """Return the transactions of a frame of truth values, or of zeros and ones, or None.

    Zeros and ones in two columns ``may_be_pairs`` (id, item).
    """
    may_be_numbers = not (may_be_pairs and len(frame.names) == 2)
    rows: list[npt.NDArray[np.int64]] = []
    height = 0
    for number in range(len(frame.names)):
        values = frame.array(number)
        zeros_and_ones = values.dtype.kind in "iu" and may_be_numbers and bool(np.isin(values, (0, 1)).all())
        if values.dtype != np.bool_ and not zeros_and_ones:
            return None
        rows.append(np.flatnonzero(values))
        height = len(values)
    if not height:
        return None
    check_names(frame.names, where="the frame")
    names = sort_names(frame.names)
    position = {name: i for i, name in enumerate(names)}
    members = np.repeat([position[name] for name in frame.names], [len(part) for part in rows])
    return _one_person_each(Sets.from_pairs(np.concatenate(rows), members, height), Items(names))
