"""Lists of other programs: mlxtend, arules, Spark, PMML, SPMF, Borgelt and FIMI."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal
from xml.parsers import expat

import numpy as np

from tacit.files.delimited import Grid, Head, holds, read_grid
from tacit.files.disk import Input, readable, shown
from tacit.files.duckdb import parquet_columns, read_parquet, read_parquet_texts, sql_name, text_of
from tacit.files.header import FileHeader
from tacit.files.printout import (
    OF_CONSEQUENT,
    Bags,
    Numbering,
    Printout,
    TextColumn,
    are_percentages,
    as_percentages,
    finish,
    looks_printed,
    named_sets,
    place,
    set_tokens,
    split_joined,
    split_set,
    token_name,
    with_consequents,
    with_extras,
    with_points,
)
from tacit.files.recognition import LINE_WITH_NUMBERS, is_spark, plain_name, split_numbers
from tacit.model.errors import InputError, OptionError
from tacit.model.numbers import Threshold, share
from tacit.model.release import Header

# mlxtend


def read_mlxtend(file: Input, known: FileHeader, delimiter: str) -> Printout:
    """Read a CSV file of mlxtend's itemsets or rules.

    Sets print as ``frozenset({'a', 'b'})``, or in other libraries as ``{'a'}``, ``['a', 'b']`` or ``('a', 'b')``; supports are shares. An index
    column may stand first.
    """
    grid = read_grid(file, delimiter)
    sides = ("antecedents", "consequents") if holds(grid.names, "antecedents", "consequents") else ("itemsets",)
    columns = [grid.need(name) for name in sides]
    if not any(looks_printed(text) for column in columns for text in column.texts):
        return read_joined(file, known, delimiter)
    named = named_sets(*(_tokens(grid, column) for column in columns), name_of=lambda token: token_name(token) or "")
    names = {"support": "support"}
    if len(sides) > 1:
        names |= {"confidence": "confidence", "whole_support": "antecedent support", **_consequents(grid)}
    else:
        need_shares(grid, "support")
    printed, known = numbers_of(grid, names, known)
    read_here = ("antecedents", "consequents", "itemsets", *(column.name for column in printed.values() if column))
    consequents = printed.pop("consequents", None)
    printout = Printout.of(grid.where, grid.lines, named, known, in_full=True, **printed)
    return with_consequents(with_extras(printout, grid.others(read_here)), consequents)


def _consequents(grid: Grid) -> dict[str, str]:
    """Return the role and name of the column with the consequents' supports."""
    found = next((name for name in OF_CONSEQUENT if any(plain_name(one.casefold()) == name for one in grid.names)), None)
    return {} if found is None else {"consequents": found}


def need_shares(grid: Grid, name: str) -> None:
    """Raise if no column has this name, with or without a word for percent."""
    if not any(plain_name(one.casefold()) == name for one in grid.names):
        grid.need(name)


def numbers_of(grid: Grid, names: Mapping[str, str], known: FileHeader) -> tuple[dict[str, TextColumn | None], FileHeader]:
    """Return columns of numbers by role, and a header with what was inferred."""
    out: dict[str, TextColumn | None] = {}
    commas = []
    percentages = []
    for role, name in names.items():
        found = grid.column(name)
        column = found or grid.column(*(one for one in grid.names if plain_name(one.casefold()) == name))
        if column is None or role.endswith("count"):
            out[role] = column
            continue
        texts = with_points(column.texts)
        if texts != column.texts:
            commas.append(column.name)
        if found is None:
            texts = as_percentages(texts)
        elif are_percentages(texts):
            texts = as_percentages(texts)
            percentages.append(column.name)
        out[role] = TextColumn(column.name, texts)
    known = _assuming(known, f"The commas in {', '.join(commas)} are read as decimal points." if commas else "")
    return out, _assuming(
        known, f"The numbers in {', '.join(percentages)}, above 1, are read as percentages." if percentages else ""
    )


def _assuming(known: FileHeader, sentence: str) -> FileHeader:
    assumed = (*known.header.assumed, sentence) if sentence else known.header.assumed
    return replace(known, header=replace(known.header, assumed=assumed))


def _tokens(grid: Grid, column: TextColumn) -> Iterator[list[str]]:
    readable_tokens: set[str] = set()
    for line, text in enumerate(column.texts):
        tokens = set_tokens(text)
        if tokens is not None and not readable_tokens.issuperset(tokens):
            readable_tokens.update(token for token in tokens if token_name(token) is not None)
        if tokens is None or not readable_tokens.issuperset(tokens):
            where = place(grid.where, int(grid.lines[line]), column.name)
            raise InputError("is not a printed set", where=where, remedy="Write it like frozenset({'bread', 'milk'})")
        yield tokens


# Joined items


def read_joined(file: Input, known: FileHeader, delimiter: str) -> Printout:
    """Read a CSV file of itemsets or rules whose items are joined: ``bread, milk``."""
    grid = read_grid(file, delimiter)
    left = grid.column("antecedents", "antecedent")
    right = grid.column("consequents", "consequent")
    sides = [left, right] if left is not None and right is not None else [grid.need("itemsets", "itemset", "items")]
    texts = [text for column in sides if column is not None for text in column.texts]
    split, mark = split_joined(texts)
    size = len(grid.lines)
    named = named_sets(*(split[start : start + size] for start in range(0, len(split), size or 1)))
    if not size:
        named = named_sets(*([] for _ in sides))
    known = _assuming(known, f"Items are taken to be joined by {mark.strip()!r}, which no item's name holds." if mark else "")
    names = {"count": "count", "support": "support"}
    if len(sides) > 1:
        names |= {"confidence": "confidence", "whole_support": "antecedent support", **_consequents(grid)}
    printed, known = numbers_of(grid, names, known)
    if printed["count"] is None and len(sides) == 1:
        printed["count"] = grid.column("freq", "frequency", "counts")
    read_here = [column.name for column in (*sides, *printed.values()) if column is not None]
    consequents = printed.pop("consequents", None)
    printout = Printout.of(grid.where, grid.lines, named, known, **printed)
    return with_consequents(with_extras(printout, grid.others(read_here)), consequents)


# arules


def read_arules(file: Input, known: FileHeader, delimiter: str) -> Printout:
    """Read a CSV file of itemsets or rules of R's arules.

    Itemsets have the columns ``items``, ``support``, ``count``; rules have ``rules`` (``{a,b} => {c}``) or ``LHS`` and ``RHS``, and
    ``support``, ``confidence``, ``coverage`` (the support of the antecedent), ``count``. Row names may stand first; cells are divided by commas,
    tabs or blanks.
    """
    grid = read_grid(file, delimiter, from_r=True)
    whole = grid.column("rules")
    left = grid.column("LHS")
    right = grid.column("RHS")
    if whole is not None:
        sides = _brace_sets(grid, whole, is_rule=True)
    elif left is not None and right is not None:
        sides = [*_brace_sets(grid, left), *_brace_sets(grid, right)]
    else:
        sides = _brace_sets(grid, grid.need("items"))
    named = named_sets(*sides)
    names = {"count": "count", "support": "support"}
    if len(sides) > 1:
        names |= {"confidence": "confidence", "whole_support": "coverage", **_consequents(grid)}
    columns, known = numbers_of(grid, names, known)
    read_here = ("rules", "LHS", "RHS", "items", *(column.name for column in columns.values() if column))
    consequents = columns.pop("consequents", None)
    printout = Printout.of(grid.where, grid.lines, named, known, **columns)
    return with_consequents(with_extras(printout, grid.others(read_here)), consequents)


def _brace_sets(grid: Grid, column: TextColumn, *, is_rule: bool = False) -> list[list[list[str]]]:
    """Return the sets of a column, or of each side of its rules."""
    sides: list[list[list[str]]] = [[], []] if is_rule else [[]]
    for line, text in enumerate(column.texts):
        text = text.strip()
        parts = text[1:-1].split("} => {") if is_rule else [text[1:-1]]
        if not (text.startswith("{") and text.endswith("}")) or len(parts) != len(sides):
            what = "is not a rule" if is_rule else "is not a set in braces"
            remedy = "Write it like {bread,milk}" + " => {butter}" * is_rule
            raise InputError(what, where=place(grid.where, int(grid.lines[line]), column.name), remedy=remedy)
        for side, part in zip(sides, parts, strict=True):
            side.append(split_set(part))
    return sides


# Spark


def read_spark(file: Input, known: FileHeader) -> Printout:
    """Read a Parquet file or folder of Spark's FPGrowth.

    ``freqItemsets`` has the columns ``items`` and ``freq``; ``associationRules`` has the lists ``antecedent`` and ``consequent`` and the doubles
    ``confidence`` and, in newer versions, ``support`` and ``lift``. Lines are row numbers from 1, over the files of a folder by name.
    """
    kinds = parquet_columns(file)
    if not is_spark(Head(columns=kinds)):
        what = "has no lists 'items' with 'freq', nor lists 'antecedent' and 'consequent'"
        raise InputError(what, where=shown(file), remedy="Save freqItemsets or associationRules of Spark's FPGrowth")
    rules = not holds(kinds, "items", "freq")
    lists = ["antecedent", "consequent"] if rules else ["items"]
    numbers = [name for name in (("support", "confidence") if rules else ("freq",)) if name in kinds]
    bags = [Bags(numbering := Numbering()), Bags(numbering)][: len(lists)]
    texts: dict[str, list[str]] = {name: [] for name in numbers}
    expressions = [f"CAST({sql_name(name)} AS VARCHAR[])" for name in lists]
    for rows in read_parquet(file, expressions + [text_of(name, kinds[name]) for name in numbers]):
        columns = list(zip(*rows, strict=True))
        for bag, column in zip(bags, columns, strict=False):
            bag.add([cell or [] for cell in column])
        for name, column in zip(numbers, columns[len(lists) :], strict=True):
            texts[name].extend("" if cell is None else cell for cell in column)
    printed = {"count" if name == "freq" else name: TextColumn(name, cells) for name, cells in texts.items()}
    items, sets = finish(bags)
    printout = Printout.of(file.name, np.arange(1, len(sets[0]) + 1), (items, sets), known, unit="row", **printed)
    beside = [name for name in kinds if name not in (*lists, *numbers)]
    return with_extras(printout, {name: read_parquet_texts(file, [text_of(name, kinds[name])])[0] for name in beside})


# PMML


@dataclass(slots=True)
class _Model:
    """State of reading: attributes with their lines."""

    where: str
    line: int = 1
    inside: int = 0
    model: tuple[int, dict[str, str]] | None = None
    items: dict[str, str] = field(default_factory=dict)
    itemsets: dict[str, list[str]] = field(default_factory=dict)
    itemset_attributes: dict[str, tuple[int, dict[str, str]]] = field(default_factory=dict)
    rules: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    current: str | None = None

    def fault(self, what: str, remedy: str = "Write the PMML file again", line: int | None = None) -> InputError:
        return InputError(what, where=place(self.where, line or self.line), remedy=remedy)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(" ")[2]
        if local == "AssociationModel":
            if self.model is not None:
                raise self.fault("is a second AssociationModel in one file", "Keep one model in a file")
            self.model = (self.line, attributes)
            self.inside = 1
        elif not self.inside:
            return
        elif local == "Item":
            number = self._need(attributes, "id", local)
            # PMML 4.3 and later may give field and category instead of the value.
            parts = [attributes[key] for key in ("field", "category") if key in attributes]
            self.items[number] = attributes.get("value", "=".join(parts)) or number
        elif local == "Itemset":
            self.current = self._need(attributes, "id", local)
            if self.current in self.itemsets:
                raise self.fault("an Itemset has the id of another one")
            self.itemsets[self.current] = []
            self.itemset_attributes[self.current] = (self.line, attributes)
        elif local == "ItemRef" and self.current is not None:
            item = self._need(attributes, "itemRef", local)
            if item not in self.items:
                raise self.fault("an ItemRef names no Item of the file")
            self.itemsets[self.current].append(self.items[item])
        elif local == "AssociationRule":
            self.rules.append((self.line, attributes))

    def end(self, name: str) -> None:
        local = name.rpartition(" ")[2]
        if local == "Itemset":
            self.current = None
        elif local == "AssociationModel":
            self.inside = 0

    def _need(self, attributes: dict[str, str], key: str, element: str) -> str:
        if key not in attributes:
            raise self.fault(f"{element} has no attribute {key!r}")
        return attributes[key]


def read_pmml(file: Input, known: FileHeader) -> Printout:
    """Read the rules or itemsets of a PMML ``AssociationModel``, any version.

    A model without rules is read as itemsets with their supports. The antecedent's support, where its ``Itemset`` prints one, is the number of
    people with the antecedent.
    """
    model = _parse(file)
    if model.model is None:
        raise InputError("holds no AssociationModel", where=model.where, remedy="Give a PMML file of association rules")
    known = replace(known, header=_pmml_header(model, known.header))
    if model.rules:
        return _pmml_rules(model, known)
    entries = model.itemset_attributes.values()
    lines = [line for line, _ in entries]
    support = TextColumn("support", [attributes.get("support", "") for _, attributes in entries])
    return Printout.of(model.where, lines, named_sets(model.itemsets.values()), known, support=support)


def _parse(file: Input) -> _Model:
    """Read a file as a stream, and refuse a document type declaration, which could define entities."""
    model = _Model(file.name)
    parser = expat.ParserCreate(namespace_separator=" ")

    def start(name: str, attributes: dict[str, str]) -> None:
        model.line = parser.CurrentLineNumber
        model.start(name, attributes)

    def doctype(*_: Any) -> None:
        model.line = parser.CurrentLineNumber
        raise model.fault("a document type declaration is not read", "Remove the <!DOCTYPE ...> from the file")

    parser.StartElementHandler = start
    parser.EndElementHandler = model.end
    parser.StartDoctypeDeclHandler = doctype
    try:
        with file.open_bytes() as stream, readable(file):
            parser.ParseFile(stream)
    except expat.ExpatError as exc:
        raise model.fault("is not well-formed XML", line=exc.lineno) from None
    return model


def _pmml_header(model: _Model, header: Header) -> Header:
    assert model.model is not None
    line, attributes = model.model
    people = attributes.get("numberOfTransactions", "").strip()
    if people and not (people.isdecimal() and people.isascii() and len(people) < 19):
        raise model.fault("numberOfTransactions is not a whole number", "Correct it", line)
    n = int(people) if people else header.n
    if header.n not in (None, n):
        raise model.fault(f"numberOfTransactions is not n = {header.n} of the header file", "Correct one of the two", line)
    changes: dict[str, Any] = {"n": n}
    try:
        if header.min_support is None and n is not None and float(attributes.get("minimumSupport", 0)) > 0:
            threshold = Threshold(share(attributes["minimumSupport"], where="minimumSupport"), is_count=False)
            changes["min_support"] = threshold.least_count(n)
        if header.min_confidence is None and float(attributes.get("minimumConfidence", 0)) > 0:
            changes["min_confidence"] = share(attributes["minimumConfidence"], where="minimumConfidence")
    except (ValueError, OptionError):
        raise model.fault("minimumSupport or minimumConfidence is not a share from 0 to 1", "Correct it", line) from None
    return replace(header, **changes)


def _pmml_rules(model: _Model, known: FileHeader) -> Printout:
    sides: list[list[list[str]]] = [[], []]
    for line, attributes in model.rules:
        for side, key in zip(sides, ("antecedent", "consequent"), strict=True):
            if attributes.get(key) not in model.itemsets:
                raise model.fault(f"the {key} of a rule names no Itemset of the file", line=line)
            side.append(model.itemsets[attributes[key]])
    wholes = [model.itemset_attributes[attributes["antecedent"]][1] for _, attributes in model.rules]

    def texts(key: str) -> list[str]:
        return [attributes.get(key, "") for _, attributes in model.rules]

    lines = [line for line, _ in model.rules]
    columns = {name: TextColumn(name, texts(name)) for name in ("support", "confidence")}
    columns["whole_support"] = TextColumn("support of the antecedent", [whole.get("support", "") for whole in wholes])
    printout = Printout.of(model.where, lines, named_sets(*sides), known, **columns)
    read_here = ("id", "antecedent", "consequent", "support", "confidence")
    beside = dict.fromkeys(key for _, attributes in model.rules for key in attributes if key not in read_here)
    return with_extras(printout, {key: texts(key) for key in beside})


# SPMF

_SPMF_LINE = re.compile(
    r"(?P<sets>.*?)\s*#SUP:\s*(?P<support>[^\s#]+)(?:\s*#CONF:\s*(?P<confidence>[^\s#]+))?(?P<rest>(?:\s*#.*)?)\s*"
)
_SPMF_FIELD = re.compile(r"#[^\s:#]*")
_SPMF_ITEM = re.compile(r"@ITEM=(?P<number>[^=]*)=(?P<name>.*)")
_SPMF_NUMBERS = re.compile(r"\d+(?:,\d+)+")


def read_spmf(file: Input, known: FileHeader) -> Printout:
    """Read a text file of SPMF.

    Itemsets are lines ``1 2 3 #SUP: 5``, rules ``1 2 ==> 3 #SUP: 5 #CONF: 0.75``. Supports are counts; numbers with a decimal point are shares.
    Lines ``@ITEM=1=bread`` name the items. Items are divided by blanks, in some rules by commas, so names must not hold blanks.
    """
    where = file.name
    names: dict[str, str] = {}
    lines: list[int] = []
    sets: list[str] = []
    supports: list[str] = []
    confidences: list[str] = []
    unread: dict[str, None] = {}
    with file.open_text() as stream:
        for number, line in enumerate(stream, 1):
            line = line.strip()
            if not line or line.startswith(("@", "%")):
                if item := _SPMF_ITEM.fullmatch(line):
                    names[item["number"].strip()] = item["name"].strip()
                continue
            match = _SPMF_LINE.fullmatch(line)
            if match is None:
                raise InputError("is not a line of SPMF", where=place(where, number), remedy="Write it like 1 2 3 #SUP: 5")
            lines.append(number)
            sets.append(match["sets"])
            supports.append(match["support"])
            confidences.append(match["confidence"] or "")
            unread.update(dict.fromkeys(_SPMF_FIELD.findall(match["rest"])))
    is_rules = bool(sets) and "==>" in sets[0]
    for number, text in zip(lines, sets, strict=True):
        if text.count("==>") != is_rules:
            what = "mixes itemsets and rules, or has more than one arrow"
            raise InputError(what, where=place(where, number), remedy="Write one rule a line")
    named = named_sets(*(_spmf_side(sets, side, names) for side in ((0, 2) if is_rules else (0,))))
    is_share = any("." in text for text in supports)
    columns = {"support" if is_share else "count": TextColumn("#SUP", supports)}
    if is_rules:
        columns["confidence"] = TextColumn("#CONF", confidences)
    return Printout.of(where, lines, named, known, unread=tuple(unread), **columns)


def _spmf_side(sets: list[str], side: int, names: dict[str, str]) -> Iterator[list[str]]:
    """Yield the items before (0) or after (2) arrows."""
    for text in sets:
        tokens = text.partition("==>")[side].split()
        parts = [part for token in tokens for part in (token.split(",") if _SPMF_NUMBERS.fullmatch(token) else [token])]
        yield [names.get(part, part) for part in parts]


# Borgelt and FIMI

_BORGELT_ARROW = re.compile(r"(?:^|(?<=\s))<-(?=\s|$)")


def read_borgelt(file: Input, known: FileHeader, unit: Literal["percentages", "counts"] | None = None) -> Printout:
    """Read a text file of Borgelt's or FIMI programs: ``a b c (12.3)``.

    Borgelt's programs print the support as a percentage of the transactions unless it was asked for as a count; FIMI programs print counts.
    Numbers that are all whole, some of them above 100, are counts; numbers with decimals are percentages; whole numbers up to 100 may be either,
    so the form must be named: ``fimi`` reads counts, ``borgelt`` percentages. Two numbers are a percentage and a count. A rule
    ``head <- body (40, 80)`` prints the support of its **body** and its confidence.
    """
    where = file.name
    lines: list[int] = []
    sides: list[list[str]] = []
    numbers: list[list[str]] = []
    with file.open_text() as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            match = LINE_WITH_NUMBERS.fullmatch(line.strip())
            printed = split_numbers(match["numbers"]) if match else []
            parts = _BORGELT_ARROW.split(match["sets"]) if match else []
            if not printed or len(parts) > 2 or (sides and len(parts) != len(sides[0])):
                what = "does not read as items and a number in parentheses like the lines before"
                remedy = "Write it like a b c (12.3), or a rule like c <- a b (40, 80)"
                raise InputError(what, where=place(where, number), remedy=remedy)
            lines.append(number)
            sides.append(parts)
            numbers.append(printed)
    is_rules = bool(sides) and len(sides[0]) == 2
    if not is_rules and numbers and all(len(printed) == 2 for printed in numbers):
        return _counts_and_percentages(where, lines, sides, numbers, known)
    supports = [printed[0] for printed in numbers]
    if unit is None and supports and all(text.isdecimal() and int(text) <= 100 for text in supports):
        remedy = "Say --form fimi for counts, --form borgelt for percentages"
        raise InputError("the numbers may be counts or percentages", where=where, remedy=remedy)
    # Whole numbers, some of them above 100.
    are_counts = unit == "counts" or (unit is None and bool(supports) and all(text.isdecimal() for text in supports))
    column = TextColumn("support", supports if are_counts else [f"{text}%" for text in supports])
    kept = 2 if is_rules else 1
    unread = [f"number {place} in parentheses" for place in range(kept + 1, 1 + max(map(len, numbers), default=0))]
    # The body, which is the antecedent, stands behind the arrow.
    named = named_sets(*([parts[side].split() for parts in sides] for side in ((1, 0) if is_rules else (0,))))
    name = "count" if are_counts else "support"
    columns = {name: column}
    if is_rules:
        confidences = [f"{printed[1]}%" if len(printed) > 1 else "" for printed in numbers]
        columns = {f"whole_{name}": column, "confidence": TextColumn("confidence", confidences)}
    return Printout.of(where, lines, named, known, unread=tuple(unread), **columns)


def _counts_and_percentages(
    where: str, lines: list[int], sides: list[list[str]], numbers: list[list[str]], known: FileHeader
) -> Printout:
    first, second = ([printed[place] for printed in numbers] for place in (0, 1))
    whole = [all(text.isdecimal() for text in texts) for texts in (first, second)]
    if whole == [True, True]:
        # A count is at least its percentage where there are 100 people or more, and is above 100 somewhere.
        whole = [any(int(text) > 100 for text in texts) for texts in (first, second)]
    if whole not in ([True, False], [False, True]):
        remedy = "Print one number, and say --form fimi for counts or --form borgelt for percentages"
        raise InputError("it is not clear which of the two numbers is the count", where=where, remedy=remedy)
    counts, shares = (first, second) if whole[0] else (second, first)
    columns = {"count": TextColumn("count", counts), "support": TextColumn("support", [f"{text}%" for text in shares])}
    return Printout.of(where, lines, named_sets([parts[0].split() for parts in sides]), known, **columns)


read_percentages = partial(read_borgelt, unit="percentages")
read_counts = partial(read_borgelt, unit="counts")
