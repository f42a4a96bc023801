"""Frames and dicts of columns as releases.

None of the libraries is needed unless its frames are given. Whole numbers print as ``1``, other numbers as Python prints them (``1.0``), truth
values as ``True`` and ``False``, dates as ``2020-01-31``, with times of day only where a column has any. A missing value is the empty text.
Blanks around texts are removed.

A release (of mlxtend, of Spark, or with Tacit's own columns) is read as its CSV file would be: a float stands for the values that print like
it in its column. Lines are row numbers from 1.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.files.delimited import holds
from tacit.files.duckdb import BLANKS, nested
from tacit.files.header import FileHeader
from tacit.files.lists import COLUMNS, printout
from tacit.files.printout import (
    OF_CONSEQUENT,
    Printout,
    TextColumn,
    named_sets,
    place,
    set_tokens,
    token_name,
    with_consequents,
    with_extras,
)
from tacit.model.errors import EngineError, InputError
from tacit.model.table import Column

#: What programs call the column of the counts, whatever the case.
COUNT_NAMES = ("count", "counts", "n", "freq", "frequency", "people")

#: Row numbers to numbers of distinct values (-1 where the value is missing), and those values.
_Coded = tuple[npt.NDArray[np.integer[Any]], Sequence[object]]


@dataclass(frozen=True, slots=True)
class Frame:
    """Frame of any library."""

    names: tuple[str, ...]
    code: Callable[[int], _Coded]
    array: Callable[[int], npt.NDArray[Any]]

    def column(self, name: str, *, where: str) -> Column:
        """Return the column of this name as text."""
        try:
            codes, distinct = self.code(self.names.index(name))
        except TypeError:  # lists and dicts cannot be looked up
            raise nested(name, where) from None
        texts = [*texts_of(distinct, name, where=where), ""]  # the last one answers to -1
        values = tuple(sorted({texts[i] for i in np.unique(codes)}))  # values that print the same become one
        position = {value: i for i, value in enumerate(values)}
        lookup = np.array([position.get(text, 0) for text in texts], np.int32)
        return Column(name, values, lookup[codes])


def as_frame(data: object, *, where: str) -> Frame | None:
    """Return the data as a frame, or None."""
    if _is_a(data, "pandas", "DataFrame"):
        return _pandas(data)
    if _is_a(data, "polars", "LazyFrame"):
        return _polars(data.collect())  # type: ignore[attr-defined]
    if _is_a(data, "polars", "DataFrame"):
        return _polars(data)
    if _is_a(data, "pyarrow", "Table") or _is_a(data, "pyarrow", "RecordBatch"):
        return _arrow(data)
    if isinstance(data, Mapping):
        return mapping_frame(data, where=where)
    if hasattr(data, "__arrow_c_stream__"):
        try:
            import pyarrow
        except ImportError:
            raise InputError("the frame can be read only with pyarrow", where=where, remedy="Install pyarrow") from None
        return _arrow(pyarrow.table(data))
    return None


def _is_a(data: object, library: str, kind: str) -> bool:
    return any(cls.__name__ == kind and cls.__module__.split(".")[0] == library for cls in type(data).__mro__)


def texts_of(values: Iterable[object], name: str, *, where: str) -> list[str]:
    """Return the values of one column as stripped text."""
    listed = list(values)
    dates_only = all(_is_midnight(value) for value in listed if isinstance(value, dt.datetime | np.datetime64))
    texts = []
    for value in listed:
        text = value if isinstance(value, str) else _text_of(value, dates_only=dates_only)
        if text is None:
            raise nested(name, where)
        try:
            text.encode()
        except UnicodeEncodeError:
            what = f"column {name!r} holds text that is not valid Unicode"
            raise InputError(what, where=where, remedy="Repair the text, or leave the column out") from None
        texts.append(text.strip(BLANKS))
    return texts


def _text_of(value: object, *, dates_only: bool) -> str | None:
    """Return a single value as text, or None if it is nested."""
    if isinstance(value, bytes | bytearray | memoryview | list | tuple | dict | set | frozenset | np.ndarray):
        return None
    if isinstance(value, np.datetime64):
        value = None if np.isnat(value) else value.astype("datetime64[us]").item()
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        return ""
    if isinstance(value, np.float32 | np.float16):
        # The shortest digits that name this number in its own precision, laid out as Python lays out a float.
        value = float(np.format_float_scientific(value, unique=True)) if math.isfinite(value) else float(value)
    if isinstance(value, float | np.floating):
        return repr(float(value))
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, dt.datetime) and dates_only:
        return value.date().isoformat()
    if isinstance(value, dt.datetime):
        plain = value if value.tzinfo is None else value.astimezone(dt.UTC).replace(tzinfo=None)
        return _without_zeros(plain.isoformat(sep=" ")) + ("" if value.tzinfo is None else "+00")
    if isinstance(value, dt.time):
        return _without_zeros(value.isoformat())
    return str(value)


def _without_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _is_midnight(value: Any) -> bool:
    if isinstance(value, np.datetime64):
        return bool(np.isnat(value) or value == value.astype("datetime64[D]"))
    if value != value:
        return True  # a missing time of pandas
    return value.tzinfo is None and value.time() == dt.time() and not getattr(value, "nanosecond", 0)


_SMALL_FLOATS: dict[str, type[np.floating[Any]]] = {
    "float16": np.float16,
    "halffloat[pyarrow]": np.float16,
    "float32": np.float32,
    "float[pyarrow]": np.float32,
}


def _pandas(frame: Any) -> Frame:
    import pandas

    def code(number: int) -> _Coded:
        series = frame.iloc[:, number]
        codes, distinct = pandas.factorize(series)
        if series.dtype == object and not all(isinstance(value, str) for value in distinct):
            return _one_by_one(series.tolist())  # 1, 1.0 and True count as one thing there
        kind = _SMALL_FLOATS.get(str(series.dtype).casefold())
        return codes, list(distinct if kind is None else np.asarray(distinct, kind))

    return Frame(tuple(str(name) for name in frame.columns), code, lambda number: np.asarray(frame.iloc[:, number]))


def _polars(frame: Any) -> Frame:
    import polars

    def code(number: int) -> _Coded:
        series = frame.to_series(number)
        if series.dtype.is_nested() or series.dtype in (polars.Binary, polars.Object):
            raise TypeError
        distinct = series.unique(maintain_order=True).drop_nulls()
        numbers = polars.Series(range(len(distinct)), dtype=polars.Int32)
        codes = series.replace_strict(distinct, numbers, default=-1, return_dtype=polars.Int32).to_numpy()
        return codes, list(distinct.to_numpy()) if series.dtype == polars.Float32 else distinct.to_list()

    return Frame(tuple(frame.columns), code, lambda number: np.asarray(frame.to_series(number).to_numpy()))


def _arrow(frame: Any) -> Frame:
    import pyarrow

    def code(number: int) -> _Coded:
        column = frame.column(number)
        if pyarrow.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        kind = column.type
        if pyarrow.types.is_nested(kind) or "binary" in str(kind):
            raise TypeError
        chunks = column.chunks if isinstance(column, pyarrow.ChunkedArray) else [column]
        coded = (pyarrow.concat_arrays(chunks) if chunks else pyarrow.array([], kind)).dictionary_encode()
        codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        small = pyarrow.types.is_float32(kind) or pyarrow.types.is_float16(kind)
        return codes, list(coded.dictionary.to_numpy(zero_copy_only=False)) if small else coded.dictionary.to_pylist()

    return Frame(tuple(frame.schema.names), code, lambda number: np.asarray(frame.column(number)))


def mapping_frame(data: Mapping[Any, Any], *, where: str) -> Frame:
    """Return a dict of sequences as a frame."""
    columns: list[Any] = []
    for name, values in data.items():
        if isinstance(values, str | bytes) or not isinstance(values, Iterable):
            raise InputError(f"column {str(name)!r} is not a sequence of values", where=where, remedy="Give one list per column")
        columns.append(values if isinstance(values, np.ndarray) else list(values))
    heights = {len(values) for values in columns}
    if len(heights) > 1:
        what = f"the columns have different lengths (from {min(heights)} to {max(heights)})"
        raise InputError(what, where=where, remedy="Give every column one value per row")

    def code(number: int) -> _Coded:
        values = columns[number]
        if isinstance(values, np.ndarray):
            if values.ndim != 1:
                raise TypeError
            if values.dtype.kind in "iufbM":
                distinct, codes = np.unique(values, return_inverse=True)
                return codes, list(distinct)
            values = values.tolist()
        return _one_by_one(values)

    return Frame(tuple(str(name) for name in data), code, lambda number: np.asarray(columns[number]))


def _one_by_one(values: Sequence[object]) -> _Coded:
    """Code values one by one, for mixed types."""
    seen: dict[tuple[type, object], int] = {}
    codes = (seen.setdefault((type(value), value), len(seen)) for value in values)
    return np.fromiter(codes, np.int64, len(values)), [value for _, value in seen]


# Counts of pandas and polars

#: What libraries call the counts of groups, where nobody names them.
_UNNAMED_COUNTS = (0, "0", "len", "size", "count_all")


def as_counts(data: Any) -> Any:
    """Return counts by group as a frame with a column of counts; other data as they are.

    Counts are a series whose index says what is counted (``value_counts()``, ``groupby().size()``), a crosstab with several columns across,
    or a frame whose column of counts has the name that a library gives it.
    """
    if _is_a(data, "pandas", "Series"):
        return _counts_of_series(data)
    is_pandas = _is_a(data, "pandas", "DataFrame")
    if is_pandas and None not in (*data.columns.names, *data.index.names):
        return _counts_of_crosstab(data) if max(data.columns.nlevels, data.index.nlevels) > 1 else data
    is_arrow = _is_a(data, "pyarrow", "Table")
    if not (is_pandas or is_arrow or _is_a(data, "polars", "DataFrame")):
        return data
    names = list(data.column_names if is_arrow else data.columns)
    found = [name for name in names if name in _UNNAMED_COUNTS]
    others = [name for name in names if name not in found]
    if len(found) != 1 or not others or not all(isinstance(name, str) and name.casefold() not in COUNT_NAMES for name in others):
        return data
    renamed = {found[0]: "count"}
    return data.rename(columns=renamed) if is_pandas else data.rename_columns(renamed) if is_arrow else data.rename(renamed)


def _counts_of_series(series: Any) -> dict[str, list[Any]]:
    names = series.index.names
    if None in names:
        remedy = "Give value_counts(), or groupby(..).size()"
        raise InputError("its index has no name, so it does not say what is counted", where="the series", remedy=remedy)
    levels = {str(name): series.index.get_level_values(place).tolist() for place, name in enumerate(names)}
    return levels | {"count": series.tolist()}


def _counts_of_crosstab(frame: Any) -> dict[str, list[Any]]:
    """List the cells of a crosstab; empty labels after a total mean any."""
    down = [_label(label, frame.index.nlevels) for label in frame.index]
    across = [_label(label, frame.columns.nlevels) for label in frame.columns]
    names = [str(name) for name in (*frame.index.names, *frame.columns.names)]
    cells = [(*row, *column) for row in down for column in across]
    columns = {name: [cell[place] for cell in cells] for place, name in enumerate(names)}
    return columns | {"count": [value for row in frame.to_numpy().tolist() for value in row]}


def _label(label: Any, levels: int) -> tuple[Any, ...]:
    parts = label if levels > 1 else (label,)
    return tuple(parts[0] if place and part == "" else part for place, part in enumerate(parts))


# Frames to give away


def to_frame(data: Mapping[str, Any] | Iterable[Mapping[str, Any]], names: Sequence[str] = ()) -> Any:
    """Return columns or lines as a frame of the first library that is installed: pandas, polars or pyarrow.

    ``names`` are columns that a frame without lines has, too. Lists and dicts become JSON text, as in the files of Tacit.
    """
    columns = dict(data) if isinstance(data, Mapping) else _columns_of_lines(list(data), names)
    for library, make in (("pandas", _to_pandas), ("polars", _to_polars), ("pyarrow", _to_arrow)):
        if find_spec(library) is not None:
            return make(columns)
    remedy = "Install one of them, or read the lines with records() or table()"
    raise EngineError("needs pandas, polars or pyarrow", where="to_frame", remedy=remedy)


def _columns_of_lines(lines: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, list[Any]]:
    known = dict.fromkeys([*(name for line in lines for name in line), *names])
    return {name: [_cell(line.get(name)) for line in lines] for name in known}


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else value


def _to_pandas(columns: Mapping[str, Any]) -> Any:
    import pandas

    def series(values: Any) -> Any:
        are_whole = isinstance(values, list) and None in values and all(value is None or type(value) is int for value in values)
        return pandas.array(values, "Int64") if are_whole and len(set(values)) > 1 else values

    return pandas.DataFrame({name: series(values) for name, values in columns.items()})


def _to_polars(columns: Mapping[str, Any]) -> Any:
    import polars

    return polars.DataFrame({name: list(values) for name, values in columns.items()})


def _to_arrow(columns: Mapping[str, Any]) -> Any:
    import pyarrow

    return pyarrow.table({name: list(values) for name, values in columns.items()})


# Releases


WHERE = "frame"
Columns = dict[str, Callable[[], list[Any]]]


def columns_of(frame: Any) -> Columns | None:
    """Return a getter for each column of a frame, or None."""
    if hasattr(frame, "collect_schema") and hasattr(frame, "collect"):
        frame = frame.collect()  # a lazy polars frame; an eager one has no collect
    if hasattr(frame, "toPandas"):
        frame = frame.toPandas()
    if hasattr(frame, "column_names") and hasattr(frame, "column"):
        return {name: _values(frame.column(name), "to_pylist", frame.column(name).type) for name in frame.column_names}
    if hasattr(frame, "columns") and hasattr(frame, "__getitem__"):
        if len(set(frame.columns)) < len(frame.columns):
            raise InputError("two columns have the same name", where=WHERE, remedy="Rename one of the two")
        return {str(name): _values(frame[name], "to_list", frame[name].dtype) for name in frame.columns}
    return None


def _values(series: Any, method: str, kind: Any) -> Callable[[], list[Any]]:
    get: Callable[[], list[Any]] = getattr(series, method)
    if str(kind).casefold() in ("float32", "float"):
        return lambda: [None if value is None or math.isnan(value) else f"{value:.6g}" for value in get()]
    return get


def read(columns: Columns, known: FileHeader) -> Printout:
    """Read a frame with the columns of a known result."""
    names = set(columns)
    if holds(names, "support", "itemsets"):
        return _sets(columns, ["itemsets"], known, support="support")
    if holds(names, "antecedents", "consequents"):
        sides = ["antecedents", "consequents"]
        numbers = {"support": "support", "confidence": "confidence", "whole_support": "antecedent support"}
        return _sets(columns, sides, known, **numbers, consequents=OF_CONSEQUENT[0])
    if holds(names, "items", "freq"):
        return _sets(columns, ["items"], known, count="freq")
    if not holds(names, "itemset") and not holds(names, "antecedent", "consequent"):
        remedy = "If each row is a person, name the columns with qi= and sa=; else give the columns of itemsets, rules or counts"
        if columns and all(set(values()) <= {0, 1} for values in columns.values()):
            remedy = "If they are one-hot, mine them with tacit.mine_itemsets(frame, min_support=..), and audit the result"
        raise InputError("the columns are not those of a known release", where=WHERE, remedy=remedy)
    side = columns["itemset" if "itemset" in columns else "antecedent"]()
    if side and all(isinstance(cell, str) for cell in side):
        texts = {name: _text_column(columns, name) for name in columns}
        found = printout(texts, np.arange(1, len(side) + 1, dtype=np.int64), known, where=WHERE, unit="row")
        return with_extras(found, {name: column.texts for name, column in texts.items() if name not in COLUMNS})
    if "itemset" in columns:
        return _sets(columns, ["itemset"], known, count="count", support="support")
    return _sets(columns, ["antecedent", "consequent"], known, count="count", support="support", confidence="confidence")


def _sets(columns: Columns, sides: list[str], known: FileHeader, **numbers: str) -> Printout:
    cells = [[_members(cell, row, name) for row, cell in enumerate(columns[name](), 1)] for name in sides]
    printed: dict[str, Any] = {ours: _text_column(columns, name) for ours, name in numbers.items() if name in columns}
    in_full = "support" in printed and sides[0] in ("itemsets", "antecedents")
    lines = np.arange(1, len(cells[0]) + 1)
    consequents = printed.pop("consequents", None)
    printout = Printout.of(WHERE, lines, named_sets(*cells), known, unit="row", in_full=in_full, **printed)
    beside = [name for name in columns if name not in (*sides, *numbers.values())]
    extras = {name: _text_column(columns, name).texts for name in beside}
    return with_consequents(with_extras(printout, extras), consequents)


def _text_column(columns: Columns, name: str) -> TextColumn:
    return TextColumn(name, [_text(value) for value in columns[name]()])


def _members(cell: Any, row: int, column: str) -> list[str]:
    if isinstance(cell, str):
        tokens = set_tokens(cell)
        names = None if tokens is None else [token_name(token) for token in tokens]
        if names is not None and all(name is not None for name in names):
            return [name or "" for name in names]
    elif isinstance(cell, Iterable):
        return [str(item) for item in cell]
    raise InputError("is not a set of items", where=place(WHERE, row, column, "row"), remedy="Give frozensets or lists")


def _text(value: Any) -> str:
    """Return a number's shortest text, empty if missing."""
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(float(value))
    return str(value) if isinstance(value, (str, int, Decimal, np.integer)) else ""
