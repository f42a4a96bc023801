"""Recognition of releases: by container, type, pair of tables, header, options, first line.

No reader is imported to ask whether a file is its own: a row of ``FORMATS`` holds the recogniser, and names the reader.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from tacit.files.delimited import Head, find_delimiter, holds, read_head, records
from tacit.files.disk import MOST_KEPT, SHEET_MARKS, FilePath, Input, shown, split_sheet
from tacit.files.frames import COUNT_NAMES, as_frame
from tacit.files.header import NAIVE_BAYES_FORMAT, FileHeader, format_beside
from tacit.files.printout import Printout
from tacit.files.tables import file_columns
from tacit.model.buckets import Buckets
from tacit.model.errors import InputError, OptionError, TacitError, nearest_name
from tacit.model.frequencies import FrequencyTable
from tacit.model.numbers import ROUNDINGS, Rounding
from tacit.model.partial import PartialTable
from tacit.model.release import Itemsets, Rules
from tacit.model.rounding import find_convention
from tacit.model.table import Names, Table, column_names


def load(function: str) -> Callable[..., Any]:
    """Import ``module.function`` of this package on demand."""
    module, name = function.split(".")
    found: Callable[..., Any] = getattr(import_module(f"tacit.files.{module}"), name)
    return found


# Containers


def as_input(path: FilePath) -> Input:
    """Return the input at a path, rendered as text if it is a workbook or JSON records.

    Of a workbook, the sheet that ``FILE#SHEET`` names is read, or the first that holds a release.
    """
    if isinstance(path, Input):
        return path
    file, sheet = split_sheet(path)
    found = Input(file)
    if not os.path.isfile(file):
        return _refuse_sheet(found)
    if found.is_zip:
        from tacit.files.renditions import Workbook, is_workbook

        if not is_workbook(file):
            return found
        book = Workbook(file, sheet)
        if not sheet and len(book.sheets) > 1:
            book.recognised = next((name for name in book.sheets if is_recognised(Workbook(file, name))), "")
        return book
    if found.begins_as_json:
        from tacit.files.renditions import Records, holds_records

        return Records(file) if holds_records(found) else found
    return found


def _refuse_sheet(found: Input) -> Input:
    """Return what is not a file; raise if it names a sheet of a file without sheets."""
    file, _, _ = found.path.rpartition(SHEET_MARKS[0])
    if os.path.isfile(file) and not os.path.lexists(found):
        remedy = "Leave the name of the sheet out"
        raise InputError("is not an Excel workbook, and has no sheets", where=shown(file), remedy=remedy)
    return found


# Lists of itemsets and rules


class Format(NamedTuple):
    """Form of a list; ``reader`` is a function of a module of this package.

    ``columns`` tells if names are those of a delimited file; its reader is then given the separator. ``content`` says more about its head.
    """

    name: str
    about: str
    reader: str
    content: Callable[[Head], bool] | None = None
    columns: Callable[[set[str]], bool] | None = None

    def looks_like(self, head: Head) -> bool:
        """Tell if a file has this form; never where neither content nor columns can."""
        if self.content is not None:
            return self.content(head)
        return self.columns is not None and head.delimiter(self.columns) is not None

    def read(self, file: Input, known: FileHeader) -> Printout:
        """Read a file with the reader of this form."""
        read: Callable[..., Printout] = load(self.reader)
        if self.columns is None:
            return read(file, known)
        return read(file, known, read_head(file).delimiter(self.columns) or ",")


def _has_own_columns(names: set[str]) -> bool:
    return (holds(names, "itemset") and ("count" in names or "support" in names)) or holds(names, "antecedent", "consequent")


def _has_mlxtend_columns(names: set[str]) -> bool:
    return holds(map(plain_name, names), "support", "itemsets") or holds(names, "antecedents", "consequents")


def _has_arules_columns(names: set[str]) -> bool:
    folded = {name.casefold() for name in names}
    return holds(folded, "items", "support") or holds(folded, "rules", "support") or holds(folded, "lhs", "rhs")


def _has_joined_columns(names: set[str]) -> bool:
    folded = {plain_name(name.casefold()) for name in names}
    numbers = folded & {"support", "count", "freq", "frequency", "confidence"}
    return bool(numbers and (folded & {"itemset", "itemsets", "items"} or holds(folded, "antecedent", "consequent")))


_PERCENT = re.compile(r"(.*?)(?:[\W_]*%[\W_]*|(?:^|[\W_]+)(?:in[\W_]+)?(?:percents?|percentages?|pct)[\W_]*)", re.IGNORECASE)


def plain_name(name: str) -> str:
    """Return a column's name without a word for percent.

    >>> [plain_name(name) for name in ("support %", "Support (%)", "support_pct", "percentile", "pct")]
    ['support', 'Support', 'support', 'percentile', '']
    """
    found = _PERCENT.fullmatch(name)
    return name if found is None else found[1]


def names_percent(name: str) -> bool:
    """Tell if a column says that its numbers are percentages."""
    return plain_name(name) != name


def _columns_of_lists(head: Head) -> set[str]:
    return {name for name, kind in head.columns.items() if kind.endswith("[]")}


def _is_own(head: Head) -> bool:
    if head.columns:
        return _has_own_columns(set(head.columns)) and not _columns_of_lists(head) & {"antecedent", "consequent"}
    return head.delimiter(_has_own_columns) is not None and not _is_joined(head)


def is_spark(head: Head) -> bool:
    """Tell if a Parquet file has Spark's columns."""
    lists = _columns_of_lists(head)
    return (holds(head.columns, "items", "freq") and "items" in lists) or holds(lists, "antecedent", "consequent")


def _is_joined(head: Head) -> bool:
    """Tell if a list has columns of sets whose first cell has no brackets."""
    if head.columns or head.delimiter(_has_joined_columns) is None or len(head.lines) == 1:
        return False
    return not any(sign in head.lines[1] for sign in "[{(")


def _is_arules(head: Head) -> bool:
    return head.delimiter(_has_arules_columns) is not None and (len(head.lines) == 1 or "{" in head.lines[1])


def _is_pmml(head: Head) -> bool:
    return head.text.lstrip("\ufeff \t\r\n").startswith("<") and "PMML" in head.text


def _is_spmf(head: Head) -> bool:
    lines = [line for line in head.lines if not line.startswith(("@", "%"))]
    return bool(lines) and "#SUP:" in lines[0]


#: A line of Borgelt's or of FIMI programs: items, and numbers in parentheses.
LINE_WITH_NUMBERS = re.compile(r"(?P<sets>.*?)\s*\((?P<numbers>[^()]*)\)\s*")
_NUMBER = re.compile(r"[0-9.][0-9.eE+-]*")


def split_numbers(text: str) -> list[str]:
    """Return the numbers in parentheses; nothing if another text is there."""
    parts = re.split(r"[,;\s]+", text.strip().replace("%", ""))
    return parts if all(_NUMBER.fullmatch(part) for part in parts) else []


def _is_borgelt(head: Head) -> bool:
    matches = [LINE_WITH_NUMBERS.fullmatch(line) for line in head.lines[:5]]
    return bool(matches) and all(match and split_numbers(match["numbers"]) for match in matches)


FORMATS = (
    Format("tacit", "Tacit's own CSV or Parquet, with a JSON header beside it", "lists.read", _is_own, _has_own_columns),
    Format("mlxtend", "CSV of mlxtend frames", "foreign_lists.read_mlxtend", columns=_has_mlxtend_columns),
    Format("arules", "CSV of R's arules", "foreign_lists.read_arules", _is_arules, _has_arules_columns),
    Format("spark", "Parquet of Spark's FPGrowth, a file or a folder", "foreign_lists.read_spark", is_spark),
    Format("pmml", "PMML with an AssociationModel", "foreign_lists.read_pmml", _is_pmml),
    Format("spmf", "text of SPMF", "foreign_lists.read_spmf", _is_spmf),
    Format(
        "borgelt-or-fimi",
        "text of Borgelt's or of FIMI programs, distinguished by their numbers",
        "foreign_lists.read_borgelt",
        _is_borgelt,
    ),
    Format(
        "joined",
        "CSV of itemsets or rules whose items are joined by commas",
        "foreign_lists.read_joined",
        _is_joined,
        _has_joined_columns,
    ),
    Format("borgelt", "text of Borgelt's programs, supports in percent", "foreign_lists.read_percentages"),
    Format("fimi", "text of FIMI programs, supports as counts", "foreign_lists.read_counts"),
)

#: What ``--form`` calls releases that are not lists, and what they look like.
BUCKETS = "buckets"
TABLE = "table"
FREQUENCIES = "frequencies"
CROSSTAB = "crosstab"
NAIVE_BAYES = "naive-bayes"
TREE = "tree"
_OTHER_FORMS = {
    BUCKETS: "a folder with qit.csv and st.csv",
    TABLE: "a table of people with blank cells; name its columns with --qi and --sa",
    FREQUENCIES: "a line per cell, its count in a column 'count'",
    CROSSTAB: "name its columns with --by",
    NAIVE_BAYES: "columns 'column', 'value', 'class', and 'count' or 'probability'; name the column of the classes with --sa",
    TREE: "text of scikit-learn's export_text(.., show_weights=True) or export_graphviz",
}


_FORM_NAMES = (*(entry.name for entry in FORMATS), *_OTHER_FORMS)


def find_format(path: FilePath, form: str | None = None) -> Format:
    """Return the form of a list: as named, or as its content looks."""
    if form is not None and form not in {entry.name for entry in FORMATS}:
        raise OptionError("is not a known form", where="--form", remedy=nearest_name(form, _FORM_NAMES, "forms"))
    file = as_input(path)
    head = read_head(file)
    for entry in FORMATS:
        if entry.name == form or (form is None and entry.looks_like(head)):
            return entry
    raise unknown_file(file, head)


_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_NUMERIC = (
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "FLOAT",
    "DOUBLE",
)
_NUMBER_TEXT = re.compile(r"[-+]?\d[\d,. ]*\s*%?")


def unknown_file(file: Input, head: Head) -> InputError:
    """Return the error about a file that is not a release, and what would help."""
    what = "is not recognised as a release"
    if head.columns:
        names = list(head.columns)
        numeric = [name for name, kind in head.columns.items() if kind in _NUMERIC]
        told = f"Parquet of {_write_count(len(names), 'column')}, {len(numeric):,} of them numbers"
        return InputError(f"{what} ({told})", where=file.name, remedy=_what_would_help(len(names), len(numeric)))
    if re.match(r'\s*\{\s*"format": "tacit\.', head.text):
        remedy = "Give the release that it is about; tacit verify takes both"
        return InputError("is a record that Tacit wrote, not a release", where=file.name, remedy=remedy)
    delimiter = find_delimiter(file)
    rows: list[list[str]] = []
    is_large = os.path.getsize(file) > MOST_KEPT
    with suppress(InputError), io.StringIO(head.text) if is_large else file.open_text(keep_newlines=True) as stream:
        rows += [[cell.strip() for cell in row] for _, row in records(stream, delimiter, where=file.name)]
    names = rows[0] if rows else []
    body = [row for row in rows[1:] if len(row) == len(names)]
    if len(names) < 2 or not body:
        remedy = f"Say which program wrote it with --form: {', '.join(_FORM_NAMES)}"
        return InputError(f"{what} (text of {_write_count(len(rows), 'line')} without columns)", where=file.name, remedy=remedy)
    numeric = [name for place, name in enumerate(names) if all(_is_number(row[place]) for row in body)]
    apart = [place for place, name in enumerate(names) if name not in numeric] or [0]
    are_people = len({tuple(row[place] for place in apart) for row in body}) < len(body)
    separator = _SEPARATORS.get(delimiter, repr(delimiter))
    size = f"more than {len(body):,} rows" if is_large else _write_count(len(body), "row")
    told = f"{_write_count(len(names), 'column')}, separated by {separator}, {len(numeric):,} of them numbers; {size}"
    return InputError(
        f"{what} ({told})", where=file.name, remedy=_what_would_help(len(names), len(numeric), are_people=are_people)
    )


def _is_number(text: str) -> bool:
    return not text or _NUMBER_TEXT.fullmatch(text) is not None


def _what_would_help(columns: int, numeric: int, *, are_people: bool = False) -> str:
    """Return the one option that fits; no name, since the first line may be a person."""
    if numeric == 1 < columns and not are_people:
        return "If its column of numbers counts people, say --count COLUMN"
    if numeric > 1 and not are_people:
        return "If its numbers count people, name the columns of the table, that across last: --by ROWS,COLUMN"
    return "If each row is a person, name the columns with --qi COLUMNS and --sa COLUMN"


def _write_count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


# Bucketized releases

BUCKETS_HEADER = "buckets.json"  #: The header of a bucketized release, in the folder of its tables.
#: The names of the two tables: ``qit.csv``, ``patients_QIT.tsv.gz``, ``st.parquet``.
_NAMED = re.compile(r"(?P<stem>.*[^a-z]|)(?P<role>qit|st)(?P<ending>(?:\.(?:csv|tsv|tab|txt|parquet))+(?:\.gz)?)", re.IGNORECASE)


def pair_of(path: FilePath) -> tuple[Path, Path] | None:
    """Return both tables of a folder or file, or None."""
    place = Path(path)
    if place.is_dir():
        found = {role: list(_tables_in(place, role)) for role in ("qit", "st")}
        if not any(found.values()):
            return None
        for role, tables in found.items():
            if len(tables) != 1:
                what = f"holds {len(tables)} tables called {role}" if tables else f"holds no table called {role}"
                raise InputError(what, where=shown(path), remedy="Leave one qit and one st in it, or give the two files")
        return found["qit"][0], found["st"][0]
    match = _NAMED.fullmatch(place.name)
    if match is None or not place.is_file():
        return None
    other = "st" if match["role"].casefold() == "qit" else "qit"
    beside = [one for one, stem in _tables_in(place.parent, other).items() if stem == match["stem"].casefold()]
    if len(beside) != 1:
        return None
    return (place, beside[0]) if other == "st" else (beside[0], place)


def _tables_in(folder: Path, role: str) -> dict[Path, str]:
    """Return the tables of a role, sorted, with the prefixes of their names."""
    found = {}
    for one in sorted(folder.iterdir()):
        match = _NAMED.fullmatch(one.name)
        if match and match["role"].casefold() == role and one.is_file() and not one.name.startswith("."):
            found[one] = match["stem"].casefold()
    return found


# Frequency tables

#: What programs call a last column of counts that nobody has named: polars' ``len``, pandas' ``groupby(..).size()``.
LENGTH_NAMES = ("len", "size", "0")
#: What programs call a column of shares of all people, whatever the case.
SHARE_NAMES = (
    "proportion",
    "proportions",
    "prop",
    "share",
    "shares",
    "fraction",
    "percent",
    "percentage",
    "percentages",
    "pct",
    "%",
)


def names_count(names: Any) -> bool:
    """Tell if one of several columns has a usual name of counts."""
    return len(names) > 1 and any(name.casefold() in COUNT_NAMES for name in names)


def _has_counts(head: Head) -> bool:
    return names_count(head.columns) or head.delimiter(names_count) is not None


def crosstab_columns(data: Any) -> tuple[str, ...]:
    """Return the column names of a pandas crosstab, else none."""
    if type(data).__module__.split(".")[0] != "pandas" or data.columns.name is None or None in data.index.names:
        return ()
    return (*map(str, data.index.names), str(data.columns.name))


@dataclass(frozen=True, slots=True)
class CellOptions:
    """Options about a frequency table beyond its header.

    None means not given. ``count`` names the count column, ``any`` labels of totals, ``no_total`` labels that only look like totals,
    ``ignore`` columns that say nothing about people, and ``columns`` those of the data.
    """

    n: int | None = None
    by: tuple[str, ...] = ()
    count: str | None = None
    any: tuple[str, ...] = ()
    no_total: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    hidden_below: int | None = None
    zeros_shown: bool | None = None
    base: int | None = None
    rounding: Rounding | None = None
    complete: bool | None = None
    convention: str | None = None
    qi: Names = ()
    sa: Names = ()
    columns: Names = ()

    def __post_init__(self) -> None:
        for value, least, where in ((self.hidden_below, 1, "--hidden-below"), (self.base, 2, "--base")):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**49):
                what = f"must be a whole number of at least {least}"
                raise OptionError(what, where=where, remedy=f"Write for instance {where} {max(5, least)}")
        if self.rounding is not None and self.rounding not in ROUNDINGS:
            raise OptionError("is not known", where="--rounding", remedy=f"Choose one of {', '.join(ROUNDINGS)}")
        if self.convention is None:
            return
        convention = find_convention(self.convention)
        said_by_convention = {"--base": self.base, "--rounding": self.rounding, "--zeros-shown": self.zeros_shown or None}
        if not convention.deletes_records:
            said_by_convention["--hidden-below"] = self.hidden_below
        for option, given in said_by_convention.items():
            if given is not None:
                what = f"is part of what --convention {convention.name} says"
                raise OptionError(what, where=option, remedy="Leave one of the two out")

    @property
    def are_given(self) -> bool:
        """Tell if any option is for frequency tables only."""
        cells = (self.hidden_below, self.zeros_shown, self.base, self.convention)
        return any((self.by, self.count, self.any, self.no_total, *cells))


# Naive Bayes models


def has_class_tables(names: Collection[str]) -> bool:
    """Tell if these are the columns of a naive Bayes model."""
    return holds(names, "column", "value", "class") and ("count" in names or "probability" in names)


def _is_naive_bayes(head: Head) -> bool:
    return has_class_tables(head.columns) or head.delimiter(has_class_tables) is not None


# Models


def _is_printed_tree(head: Head) -> bool:
    return re.match(r"digraph Tree \{|\|-+ ", head.text) is not None


def is_model(data: Any) -> bool:
    """Tell if something may be a fitted model of scikit-learn: a tree, a forest, boosted trees, or a pipeline."""
    return any(hasattr(data, name) for name in ("tree_", "estimators_", "_predictors", "steps")) and hasattr(data, "get_params")


# All kinds

LIST = "list"
_KINDS_IN_MEMORY = {
    FrequencyTable: FREQUENCIES,
    Buckets: BUCKETS,
    PartialTable: TABLE,
    Table: TABLE,
    Itemsets: LIST,
    Rules: LIST,
}


def recognise(data: Any, options: CellOptions, form: str | None = None) -> str:
    """Return the kind of a release, models included."""
    if form in (FREQUENCIES, CROSSTAB):
        return FREQUENCIES
    if form is not None and not isinstance(data, Buckets):
        return form if form in (BUCKETS, TABLE, NAIVE_BAYES, TREE) else LIST
    for type_of_release, kind in _KINDS_IN_MEMORY.items():
        if isinstance(data, type_of_release):
            return kind
    if not isinstance(data, str | os.PathLike):
        return _recognise_frame(data, options)
    if pair_of(data) is not None:
        return BUCKETS
    file = as_input(data)
    if _looks_like(file, _is_printed_tree):
        return TREE
    described = _described_kind(file)
    if described is None and not options.are_given and _looks_like(file, _is_naive_bayes):
        return NAIVE_BAYES
    if described is None and (options.are_given or _is_counted(file)):
        return FREQUENCIES
    if described is not None:
        return described
    roles = (*column_names(options.qi, ()), *column_names(options.sa, ()))
    if _looks_like(file, lambda head: _ends_in_counts(head, roles)) and _is_table_of_counts(file):
        return FREQUENCIES
    if _holds_columns(file, options.qi, options.sa):
        return TABLE
    if _is_table_of_counts(file):
        return FREQUENCIES
    # A file with some of the columns, and of no other form, is a table whose reader tells which column it lacks.
    if not roles or os.path.isdir(file) or _looks_like(file, _is_list):
        return LIST
    return TABLE if set(roles) & set(file_columns(file) or ()) else LIST


def _recognise_frame(data: Any, options: CellOptions) -> str:
    if options.are_given or crosstab_columns(data):
        return FREQUENCIES
    frame = as_frame(data, where="the table")
    if frame is None:
        return LIST
    if has_class_tables(frame.names):
        return NAIVE_BAYES
    index = getattr(data, "index", None)
    names = [*frame.names, *(str(name) for name in getattr(index, "names", ()) if name is not None)]
    folded = {name.casefold() for name in names}
    is_list = bool(folded & {"itemset", "itemsets", "items", "antecedent", "antecedents"})
    if "count" in folded and len(folded) > 1 and not is_list:
        return FREQUENCIES
    if _are_columns(frame.names, options.qi, options.sa):
        return TABLE
    return FREQUENCIES if names_count(names) and not is_list else LIST


def _described_kind(file: Input) -> str | None:
    """Return the kind that a header names, other than a list."""
    named = {"tacit.frequencies/1": FREQUENCIES, "tacit.table/1": TABLE, NAIVE_BAYES_FORMAT: NAIVE_BAYES}
    found = named.get(format_beside(file) or "")
    return found if found != TABLE or (os.path.lexists(file) and not os.path.isdir(file)) else None


def _is_counted(file: Input) -> bool:
    """Tell if a file has a column of counts and is not a list."""
    return _looks_like(file, lambda head: not _is_list(head) and _has_counts(head))


def _ends_in_counts(head: Head, roles: Sequence[str]) -> bool:
    """Tell if the last column has no role and a name of counts."""
    last = list(head.columns)[-1:] or re.findall(r"[^,;\t]+", head.lines[0])[-1:]
    name = "".join(last).strip(' "')
    return not _is_list(head) and name not in roles and name.casefold() in (*LENGTH_NAMES, *SHARE_NAMES)


def _is_table_of_counts(file: Input) -> bool:
    """Tell if a file that is not a list is a frequency table by its form."""
    if not os.path.isfile(file) or os.path.getsize(file) > MOST_KEPT or _looks_like(file, _is_list):
        return False
    is_table: Callable[[Input], bool] = load("frequencies.is_table_of_counts")
    return is_table(file)


def _looks_like(file: Input, content: Callable[[Head], bool]) -> bool:
    """Tell if the head of a file can be read and fits."""
    try:
        return content(read_head(file))
    except TacitError:
        return False


def _is_list(head: Head) -> bool:
    return any(entry.looks_like(head) for entry in FORMATS)


def _holds_columns(file: Input, qi: Names, sa: Names) -> bool:
    """Tell if a file is a table with these columns."""
    if not sa or os.path.isdir(file):
        return False
    names = file_columns(file)  # also of a table in a database, FILE::TABLE
    return names is not None and _are_columns(names, qi, sa)


def _are_columns(names: Sequence[str], qi: Names, sa: Names) -> bool:
    return bool(sa) and {*column_names(qi, names), *column_names(sa, names)} <= set(names)


def is_recognised(path: FilePath, *, by_form: bool = True) -> bool:
    """Tell if a file is a release in a known format, or a table of counts ``by_form`` alone."""
    try:
        file = as_input(path)
        if pair_of(file) is not None or _described_kind(file) is not None:
            return True
        head = read_head(file)
    except TacitError:
        return False
    by_head = (_is_list, _has_counts, _is_naive_bayes, _is_printed_tree)
    return any(fits(head) for fits in by_head) or (by_form and _is_table_of_counts(file))
