"""Naive Bayes models as releases of counts by class.

A naive Bayes model is a number of people for each class and, for each column, the share of its values in each class: two-way counts. Each
value and class becomes one rule ``column=value => class``, and the classes are the published distribution of the sensitive column. Nothing of
scikit-learn is imported: the arrays of a fitted model are enough.

A file has a line for each value of a column and each class, with the columns ``column``, ``value``, ``class``, and ``count`` or
``probability``; lines without column and value are about the class alone. A probability prints ``(count + alpha) / (people + alpha values)``,
where alpha is the smoothing (0: none), people are those of the class, and values is the number of values of the column. All its values are
listed, so their counts add up to the people of the class.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from tacit.files.consistency import check_release
from tacit.files.counts import one_n
from tacit.files.disk import Input
from tacit.files.frequencies import file_cells, frame_cells
from tacit.files.frequency_cells import Cells
from tacit.files.header import NAIVE_BAYES_FORMAT, Entries, entries_beside
from tacit.files.recognition import CellOptions, has_class_tables
from tacit.model.errors import Contradiction, InputError, OptionError
from tacit.model.numbers import ROUNDINGS, Bound, Printed, Rounding, column_steps, exact, share
from tacit.model.release import Header, Items, Rules, Sets
from tacit.model.table import Schema, column_names, sensitive_names

KEYS = frozenset({"format", "n", "sa", "alpha", "rounding"})
_MOST = 2**49 - 1  #: Largest number of people.

Pair = tuple[str, str]


def read_naive_bayes(model: Any, *, features: Sequence[str], categories: Sequence[Sequence[object]], sa: str) -> Rules:
    """Return a fitted naive Bayes model as a release of its counts.

    Parameters
    ----------
    model
        A fitted ``CategoricalNB`` of scikit-learn, trained without weights. Its counts are read, not its smoothed probabilities.
    features
        The names of the columns that it was trained on, in their order.
    categories
        The values of each column, in the order of their codes, as ``OrdinalEncoder.categories_`` has them.
    sa
        The name of the sensitive column, which the model predicts.

    Examples
    --------
    >>> from sklearn.naive_bayes import CategoricalNB
    >>> import tacit
    >>> model = CategoricalNB().fit([[0], [0], [1], [1]], ["ill", "ill", "ill", "well"])
    >>> tables = tacit.read_naive_bayes(model, features=["sex"], categories=[["F", "M"]], sa="health")
    >>> [(line["antecedent"], line["consequent"], line["count"]) for line in tables.records()]
    [({'sex': 'F'}, 'ill', 2), ({'sex': 'F'}, 'well', 0), ({'sex': 'M'}, 'ill', 1), ({'sex': 'M'}, 'well', 1)]
    """
    where = "read_naive_bayes"
    counts = getattr(model, "category_count_", None)
    if counts is None or getattr(model, "class_count_", None) is None:
        remedy = "Give a fitted sklearn.naive_bayes.CategoricalNB"
        raise OptionError("is not a fitted naive Bayes model of categories", where=where, remedy=remedy)
    classes = _texts(np.asarray(model.classes_).tolist(), "two of its classes have the same name", where)
    if len(features) != len(counts) or len(set(features)) < len(features):
        remedy = f"Name the {len(counts)} columns that the model was trained on, each once, in their order"
        raise OptionError(f"holds {len(features)} names", where="features", remedy=remedy)
    if sa in features:
        raise OptionError("is a column that the model asks for", where="sa", remedy="Name the column that it predicts")
    if len(categories) != len(counts):
        remedy = "Give the values of each column, such as the categories_ of an OrdinalEncoder"
        raise OptionError(
            f"holds {len(categories)} lists, and there are {len(counts)} columns", where="categories", remedy=remedy
        )
    tables: dict[Pair, list[Bound]] = {}
    for number, (column, table, named) in enumerate(zip(features, counts, categories, strict=True)):
        place = f"categories[{number}]"
        values = _texts(named, "two of its values have the same name", place)
        people = _whole_counts(np.asarray(table, float), where)
        if people[:, len(values) :].any() or people.shape[1] < len(values):
            remedy = f"Name its {people.shape[1]} values, in the order of their codes"
            raise OptionError(f"names {len(values)} values", where=place, remedy=remedy)
        for value, of_class in zip(values, people.T.tolist(), strict=False):
            tables[column, value] = [Bound.of(count) for count in of_class]
    wholes = _whole_counts(np.asarray(model.class_count_, float), where).tolist()
    return _rules(tables, Header(n=sum(wholes), qi=tuple(features), sa=(sa,), sa_values=classes, sa_counts=tuple(wholes)))


def _texts(values: Sequence[object], what: str, where: str) -> tuple[str, ...]:
    texts = tuple(map(str, values))
    if len(set(texts)) < len(texts):
        raise OptionError(what, where=where, remedy="Use texts that differ")
    return texts


def _whole_counts(counts: npt.NDArray[np.float64], where: str) -> npt.NDArray[np.int64]:
    whole = np.rint(counts)
    if (counts != whole).any():
        remedy = "Train it without sample_weight; a weighted count says nothing about whole people"
        raise OptionError("its counts are not whole numbers", where=where, remedy=remedy)
    return np.asarray(whole, np.int64)


def _rules(tables: Mapping[Pair, Sequence[Bound]], header: Header, lines: Mapping[Pair, Sequence[int]] | None = None) -> Rules:
    """Return one rule for each value that a person may have, and class."""
    pairs = [pair for pair, counts in tables.items() if any(count.hi for count in counts)]
    n_classes = len(header.sa_values)
    both = [count for pair in pairs for count in tables[pair]]
    wholes = [(sum(count.lo for count in tables[pair]), sum(count.hi for count in tables[pair])) for pair in pairs]
    sensitive = [(header.sa[0], value) for value in header.sa_values]
    return Rules(
        Sets.from_lists([place] for place in range(len(pairs)) for _ in range(n_classes)),
        Sets.from_lists([len(pairs) + number] for _ in pairs for number in range(n_classes)),
        np.array([count.lo for count in both], np.int64),
        np.array([count.hi for count in both], np.int64),
        whole_lo=np.array([lo for lo, _ in wholes], np.int64).repeat(n_classes),
        whole_hi=np.array([hi for _, hi in wholes], np.int64).repeat(n_classes),
        items=Items.of_columns([*pairs, *sensitive]),
        header=header,
        lines=None if lines is None else np.array([line for pair in pairs for line in lines[pair]], np.int64),
    )


# Files


@dataclass(slots=True)
class _Model:
    """Lines of a file: by value and class, and by class alone."""

    cells: Cells
    rows: dict[Pair, dict[str, int]] = field(default_factory=dict)
    classes: dict[str, int] = field(default_factory=dict)

    @property
    def columns(self) -> dict[str, list[Pair]]:
        """The values of each column."""
        out: dict[str, list[Pair]] = {}
        for pair in self.rows:
            out.setdefault(pair[0], []).append(pair)
        return out


def read_naive_bayes_file(data: Any, *, options: CellOptions) -> Rules:
    """Read a file or frame of counts or probabilities by class."""
    n = options.n
    rounding = options.rounding
    sa, _ = sensitive_names(options.sa, ())
    alpha: Fraction | None = None
    where = "the table"
    if isinstance(data, str | os.PathLike):
        file = Input.of(data)
        where = file.name
        get = entries_beside(file, (NAIVE_BAYES_FORMAT,), KEYS)
        if get is not None:
            n = one_n(get.whole("n", least=1, most=_MOST), n, where=get.where)
            rounding = rounding or cast("Rounding | None", get.choice("rounding", ROUNDINGS))
            sa = sa or get.names("sa")
            alpha = _smoothing(get)
        cells = file_cells(file)
    else:
        cells = frame_cells(data)
    if not has_class_tables(cells.names):
        remedy = "Name the columns 'column', 'value', 'class', and 'count' or 'probability'"
        raise InputError("does not hold counts or probabilities by value and class", where=f"{where}, line 1", remedy=remedy)
    model = _lines_of(cells)
    columns = tuple(model.columns)
    wanted = [name for name in column_names(options.qi, columns) if name not in columns]
    if wanted:
        raise OptionError(f"names {len(wanted)} columns that {where} has no values of", where="--qi", remedy="Correct it")
    numbers = _Numbers(cells, rounding or "nearest", alpha)
    people = _class_counts(model, numbers, n)
    one_n(sum(people.values()), n, where=where)
    tables = {pair: [numbers.count(row, people[name]) for name, row in rows.items()] for pair, rows in model.rows.items()}
    lines = {pair: [int(cells.lines[row]) for row in rows.values()] for pair, rows in model.rows.items()}
    complete = []
    for column, pairs in model.columns.items():
        _add_up(model, {pair: tables[pair] for pair in pairs}, list(people.values()))
        if not all(count.is_exact for pair in pairs for count in tables[pair]):
            complete.append((column, tuple(value for _, value in pairs)))
    if len(sa) != 1:
        remedy = "Name it with --sa COLUMN, or in the header with the key 'sa'"
        raise OptionError("the classes are values of one column, and its name is not given", where=where, remedy=remedy)
    Schema(qi=columns, sa=sa)  # refuses a column with two roles
    used = {"column", "value", "class", "count", "probability"}
    others = [name for name in cells.names if name not in used]
    header = Header(
        n=sum(people.values()),
        rounding=rounding or "nearest",
        qi=columns,
        sa=sa,
        sa_values=tuple(people),
        sa_counts=tuple(people.values()),
        unread=tuple(name for name in others if name not in options.ignore),
        ignored=tuple(name for name in others if name in options.ignore),
        all_values=tuple(complete),
    )
    release = replace(_rules(tables, header, lines), source=cells.source)
    return cast(Rules, check_release(release))


def _smoothing(get: Entries) -> Fraction | None:
    if get.entries.get("alpha") is None:
        return None
    try:
        alpha = exact(get.entries["alpha"], where="alpha")
    except OptionError:
        alpha = Fraction(-1)
    if alpha < 0:
        raise get.wrong("alpha", "must be a number of at least 0")
    return alpha


def _lines_of(cells: Cells) -> _Model:
    """Return the lines by value and class, all classes of each value."""
    named = {name: cells.texts[cells.names.index(name)] for name in ("column", "value", "class")}
    model = _Model(cells)
    classes: dict[str, None] = {}
    for row, (column, value, name) in enumerate(zip(*named.values(), strict=True)):
        if not name or bool(column) != bool(value):
            remedy = "Write a column, a value and a class, or a class alone"
            raise InputError("does not name a value of a column and a class", where=cells.place(row), remedy=remedy)
        classes.setdefault(name)
        lines = model.rows.setdefault((column, value), {}) if column else model.classes
        if name in lines:
            what = f"is about the same people as line {int(cells.lines[lines[name]])}"
            raise InputError(what, where=cells.place(row), remedy="Keep one of the two lines")
        lines[name] = row
    if not model.rows:
        raise InputError("names no value of a column", where=cells.where, remedy="List every value with every class")
    for rows in (*model.rows.values(), *([model.classes] if model.classes else [])):
        if len(rows) < len(classes):
            what = f"is listed with {len(rows)} of {len(classes)} classes"
            remedy = "List every value with every class, also where nobody has both"
            raise InputError(what, where=cells.place(next(iter(rows.values()))), remedy=remedy)
    for pair, rows in model.rows.items():
        model.rows[pair] = {name: rows[name] for name in classes}
    model.classes = {name: model.classes[name] for name in classes if model.classes} or dict.fromkeys(classes, -1)
    return model


class _Numbers:
    """Counts and probabilities of the lines of a file."""

    def __init__(self, cells: Cells, rounding: Rounding, alpha: Fraction | None) -> None:
        self.cells = cells
        self.rounding = rounding
        self.alpha = alpha
        self.n_values: dict[str, int] = {}
        blank = [""] * len(cells.lines)
        self.counts = cells.texts[cells.names.index("count")] if "count" in cells.names else blank
        self.shares = cells.texts[cells.names.index("probability")] if "probability" in cells.names else blank
        self.steps = column_steps(self.shares)
        columns = cells.texts[cells.names.index("column")]
        values = cells.texts[cells.names.index("value")]
        for column, _ in dict.fromkeys(zip(columns, values, strict=True)):
            self.n_values[column] = self.n_values.get(column, 0) + 1
        self.columns = columns
        if alpha is None and any(share and column for share, column in zip(self.shares, columns, strict=True)):
            remedy = 'Write "alpha" in the header file: the number added to every count (Laplace smoothing), 0 if none was'
            raise InputError("does not say if its probabilities are smoothed", where=cells.where, remedy=remedy)

    def count(self, row: int, whole: int) -> Bound:
        """Bound the people of a line, among those of its class or all."""
        least = 0
        most = whole
        if not self.counts[row] and not self.shares[row]:
            raise self._wrong(row, "holds neither a count nor a probability", "Add one")
        if self.counts[row]:
            least = self.people(row)
            most = min(most, least)
        if self.shares[row]:
            printed = self._printed(row)
            column = self.columns[row]
            alpha = (self.alpha or Fraction(0)) if column else Fraction(0)
            scale = whole + alpha * self.n_values[column] if column else Fraction(whole)
            lo = printed.lo * scale - alpha
            hi = printed.hi * scale - alpha
            least = max(least, math.floor(lo) + 1 if printed.lo_open else math.ceil(lo))
            most = min(most, math.ceil(hi) - 1 if printed.hi_open else math.floor(hi))
        if least > most:
            what = f"no whole number of the {whole:,} people prints so"
            raise self._contradiction(row, what, "Correct it, the class counts, the rounding, or the smoothing 'alpha'")
        return Bound(least, most)

    def people(self, row: int) -> int:
        """Return the count of a line."""
        text = self.counts[row]
        if not (text.isascii() and text.isdecimal() and len(text) < 15):
            raise self._wrong(row, "its count is not a whole number", "Write the number of people")
        return int(text)

    def _printed(self, row: int) -> Printed:
        try:
            value = share(self.shares[row], where="probability")
        except OptionError:
            raise self._wrong(row, "its probability is not a number from 0 to 1", "Correct it") from None
        return Printed.decimal(value, self.steps[row], self.rounding)

    def _wrong(self, row: int, what: str, remedy: str) -> InputError:
        return InputError(what, where=self.cells.place(row), remedy=remedy)

    def _contradiction(self, row: int, what: str, remedy: str) -> Contradiction:
        return Contradiction(what, where=self.cells.place(row), remedy=remedy, lines=[int(self.cells.lines[row])])


def _class_counts(model: _Model, numbers: _Numbers, n: int | None) -> dict[str, int]:
    """Return the people of each class: printed, or sums of counts."""
    cells = model.cells
    if -1 not in model.classes.values():
        if all(numbers.counts[row] for row in model.classes.values()):
            return {name: numbers.people(row) for name, row in model.classes.items()}
        if n is None:
            raise InputError("does not say the number of people", where=cells.where, remedy="Give it with --n, or class counts")
        bounds = _tightened([numbers.count(row, n) for row in model.classes.values()], n)
        if bounds is None or any(not bound.is_exact for bound in bounds):
            what = "the numbers of people of its classes do not follow from their probabilities"
            raise InputError(what, where=cells.where, remedy="Give the classes with counts")
        return dict(zip(model.classes, (bound.lo for bound in bounds), strict=True))
    first, *others = model.columns.values()
    if not all(numbers.counts[row] for rows in model.rows.values() for row in rows.values()):
        remedy = "Add a line for each class without column and value"
        raise InputError("does not say how many people its classes have", where=cells.where, remedy=remedy)
    found = {name: sum(numbers.people(model.rows[pair][name]) for pair in first) for name in model.classes}
    for pairs in others:
        if any(found[name] != sum(numbers.people(model.rows[pair][name]) for pair in pairs) for name in found):
            remedy = (
                "Add a line with the count of each class, without column and value; correct the counts if nobody lacks a value"
            )
            raise InputError("its columns count different numbers of people", where=cells.where, remedy=remedy)
    return found


def _tightened(bounds: Sequence[Bound], total: int) -> list[Bound] | None:
    """Return bounds of numbers that add up to a total, or None."""
    least = sum(bound.lo for bound in bounds)
    most = sum(bound.hi for bound in bounds)
    if not least <= total <= most:
        return None
    return [Bound(max(bound.lo, total - (most - bound.hi)), min(bound.hi, total - (least - bound.lo))) for bound in bounds]


def _add_up(model: _Model, tables: Mapping[Pair, list[Bound]], people: Sequence[int]) -> None:
    """Narrow the counts of a column, which add up in each class.

    Exact counts may add up to fewer: then the others have no value.
    """
    for number, total in enumerate(people):
        bounds = [counts[number] for counts in tables.values()]
        found = _tightened(bounds, total)
        if found is None and all(bound.is_exact for bound in bounds) and sum(bound.lo for bound in bounds) <= total:
            continue
        if found is None:
            rows = [list(model.rows[pair].values())[number] for pair in tables]
            what = f"the values of one column do not add up to the {total:,} people of a class"
            remedy = "Correct the numbers, the rounding, or the smoothing 'alpha'"
            lines = sorted(int(model.cells.lines[row]) for row in rows)
            raise Contradiction(what, where=model.cells.place(min(rows)), remedy=remedy, lines=lines)
        for counts, bound in zip(tables.values(), found, strict=True):
            counts[number] = bound
