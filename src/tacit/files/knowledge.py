"""Background knowledge from files, lists and mined negative rules.

A file is CSV (any usual separator) or JSON (a list of objects) with the same names in both. Facts have ``event`` (a JSON object of columns, each
with a value or a list of values; an empty one is everybody), ``value``, ``at_least``, ``at_most`` (counts such as 5, or shares of the event
such as 0.1 or 10%; empty: nothing is known). Means have ``event`` and ``mean``, the mean of a numeric sensitive column over it, rounded to the
digits that are printed. Negative rules have ``antecedent`` (an object like ``event``) and ``excluded`` (a value that
none of them has, or at most ``at_most`` of them). Other columns are ignored.

Negative rules are written as a CSV file that lists the raw values of coarser ones, so that it stands alone, with a header.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tacit.files.delimited import Grid, holds, item_name, read_grid, read_head
from tacit.files.disk import FilePath, Input, replace_file, shown
from tacit.files.header import bins_entry, header_path
from tacit.model.errors import InputError, OptionError
from tacit.model.knowledge import Amount, Fact
from tacit.model.negative import NegativeRules
from tacit.model.numbers import column_steps, exact

_FACT = ("event", "value")
_NEGATIVE = ("antecedent", "excluded")
_AMOUNTS = ("at_least", "at_most")
_MEAN = ("event", "mean")
_EXAMPLE = 'Write it like {"age": "30", "city": ["Rome", "Oslo"]}'


def read_knowledge(source: Any) -> tuple[Fact, ...]:
    """Read background facts from a file or objects.

    Objects are pairs ``({column: value}, excluded value)``, mined negative rules, facts, or a list of all these.
    """
    if source is None:
        return ()
    if isinstance(source, Fact):
        return (source,)
    if isinstance(source, (str, os.PathLike)):
        return tuple(_from_file(Input.of(source)))
    if hasattr(source, "records"):
        rules = enumerate(source.records(), start=1)
        return tuple(_fact(rule, "the negative rules", number, "rule") for number, rule in rules if rule.get("minimal", True))
    if not isinstance(source, Iterable) or isinstance(source, Mapping):
        what = "is neither a file nor a list of ({column: value}, excluded value)"
        raise OptionError(what, where="knowledge", remedy="Give one of them")
    facts: list[Fact] = []
    for number, entry in enumerate(source, start=1):
        if isinstance(entry, Sequence) and not isinstance(entry, str) and len(entry) == 2 and isinstance(entry[0], Mapping):
            entry = {"antecedent": entry[0], "excluded": entry[1]}
        if isinstance(entry, Mapping):
            facts.append(_fact(entry, "knowledge", number, "entry"))
        else:
            facts += read_knowledge(entry)
    return tuple(facts)


def read_counts(source: Any) -> tuple[Fact, ...]:
    """Read background facts about numbers of people; refuse means."""
    facts = read_knowledge(source)
    for fact in facts:
        if fact.mean is not None:
            what = "is a mean, which only the attacks on a single bucketized release use"
            raise InputError(what, where=fact.place, remedy="Remove it, or give numbers of people who have a value")
    return facts


def _from_file(file: Input) -> Iterable[Fact]:
    where = file.name
    if not os.path.exists(file):
        raise InputError("does not exist", where=where, remedy="Check the name and the folder")
    head = read_head(file)
    if head.columns:
        raise InputError("is a Parquet file", where=where, remedy="Write knowledge as CSV or JSON")
    if head.text.lstrip()[:1] in ("[", "{"):
        try:
            with file.open_text() as stream:
                # Numbers keep their spelling: 1.0 is a share, 1 a count.
                entries = json.load(stream, parse_int=str, parse_float=str, parse_constant=str)
        except (ValueError, RecursionError):
            raise InputError("is not JSON", where=where, remedy="Write a list of objects") from None
        if not isinstance(entries, list):
            raise InputError("is not a list", where=where, remedy="Write a list of objects, one for each fact")
        return [_fact(entry, where, number, "entry") for number, entry in enumerate(entries, start=1)]
    delimiter = head.delimiter(_fits)
    if delimiter is None:
        remedy = "Name the columns event and value (and at_least, at_most), or antecedent and excluded"
        raise InputError("does not say what its columns are", where=f"{where}, line 1", remedy=remedy)
    grid = read_grid(file, delimiter)
    names = [name for name in dict.fromkeys((*_FACT, *_NEGATIVE, *_AMOUNTS, *_MEAN)) if name in grid.names]
    cells = [grid.need(name).texts for name in names]
    kept = _minimal_rules(grid, file) or [True] * len(grid.lines)
    return [
        _fact(dict(zip(names, row, strict=True)), where, line, "line")
        for line, is_kept, row in zip(grid.lines.tolist(), kept, zip(*cells, strict=True), strict=True)
        if is_kept
    ]


def _minimal_rules(grid: Grid, file: Input) -> list[bool] | None:
    """Return flags of the rules not implied by others; None if some are missing."""
    marks = grid.column("minimal") if holds(grid.names, *_NEGATIVE) else None
    if marks is None:
        return None
    minimal = [text.strip().casefold() != "false" for text in marks.texts]
    try:
        with file.beside.open_text() as stream:
            header = json.load(stream)
        return minimal if header["format"] == "tacit.negative/1" and header["minimal_rules"] == sum(minimal) else None
    except (InputError, ValueError, KeyError, TypeError):
        return None


def _fits(names: set[str]) -> bool:
    return (holds(names, *_FACT) and bool(names & set(_AMOUNTS))) or holds(names, *_NEGATIVE) or holds(names, *_MEAN)


def _fact(entry: Any, file: str, line: int, unit: str) -> Fact:
    """Return one fact; errors never quote the cell."""
    place = f"{file} {unit} {line}"
    if not isinstance(entry, Mapping):
        raise InputError("is not an object", where=place, remedy="Write one object for each fact")
    if holds(entry, *_MEAN) and not _is_empty(entry["mean"]):
        return _mean(entry, file, line, unit)
    negative = holds(entry, *_NEGATIVE)
    group, excluded = _NEGATIVE if negative else _FACT
    if not holds(entry, group, excluded):
        raise InputError("lacks event or value", where=place, remedy="Give both, or event and mean, or antecedent and excluded")
    value = entry[excluded]
    if not isinstance(value, (str, int, float, bool)):
        raise InputError("is not a value", where=f"{place}, column {excluded}", remedy="Write one sensitive value")
    allowed = _allowed(entry[group], f"{place}, column {group}")
    limits = {name: _amount(entry.get(name), f"{place}, column {name}") for name in _AMOUNTS}
    if negative:  # a rule with exceptions says for how many people at most it does not hold
        limits = {"at_least": None, "at_most": limits["at_most"] or Amount.parse(0)}
    if limits["at_least"] is None and limits["at_most"] is None:
        raise InputError("says nothing", where=place, remedy="Fill at_least, at_most, or both")
    return Fact(allowed, _text(value), limits["at_least"], limits["at_most"], file=file, line=line, unit=unit)


def _mean(entry: Mapping[str, Any], file: str, line: int, unit: str) -> Fact:
    place = f"{file} {unit} {line}"
    if not all(_is_empty(entry.get(name)) for name in ("value", *_AMOUNTS)):
        remedy = "Leave value, at_least and at_most empty, or write two lines"
        raise InputError("is a mean and a number of people", where=place, remedy=remedy)
    where = f"{place}, column mean"
    text = str(entry["mean"]).strip()
    try:
        value = exact(text, where=where)
    except OptionError as error:
        raise InputError(error.what, where=where, remedy="Write a number such as 41.3") from None
    half = column_steps([text])[0] / 2
    return Fact(
        _allowed(entry["event"], f"{place}, column event"), "", mean=(value - half, value + half), file=file, line=line, unit=unit
    )


def _is_empty(given: Any) -> bool:
    return given is None or (isinstance(given, str) and not given.strip())


def _amount(given: Any, where: str) -> Amount | None:
    if _is_empty(given):
        return None
    try:
        return Amount.parse(given, where=where)
    except OptionError as error:
        raise InputError(error.what, where=where, remedy=error.remedy) from None


def _allowed(given: Any, where: str) -> dict[str, tuple[str, ...]]:
    if isinstance(given, str):
        try:
            given = json.loads(given, parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=_distinct)
        except (ValueError, RecursionError):
            given = None
    if not isinstance(given, Mapping):
        raise InputError("is not a JSON object of columns and values", where=where, remedy=_EXAMPLE)
    allowed: dict[str, tuple[str, ...]] = {}
    for column, values in given.items():
        listed = list(values) if isinstance(values, (list, tuple, set, frozenset)) else [values]
        if any(isinstance(value, (Mapping, list, tuple)) for value in listed):
            raise InputError("holds a list or object where a value belongs", where=where, remedy=_EXAMPLE)
        allowed[str(column)] = tuple(sorted({_text(value) for value in listed}))
    return allowed


def _text(value: Any) -> str:
    return item_name(value) if isinstance(value, (str, bool)) or value is None else str(value)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError
    return dict(pairs)


COLUMNS = ("antecedent", "excluded", "count", "expectation", "confidence", "at_most", "minimal", "nodes")


def check_negative_output(path: FilePath) -> None:
    """Raise unless the ending is that of CSV."""
    if not os.fspath(path).casefold().endswith(".csv"):
        raise OptionError("negative rules are written as CSV", where=shown(path), remedy="End the name with .csv")


def write_negative_rules(rules: NegativeRules, path: FilePath) -> None:
    """Write the rules, with mining parameters in the header."""
    check_negative_output(path)
    header = rules.header
    entries = {
        "format": "tacit.negative/1",
        "n": header.n,
        "qi": list(header.qi),
        "sa": list(header.sa),
        "sa_values": list(header.sa_values),
        "min_expectation": rules.min_expectation,
        "significance": rules.significance,
        "min_confidence": float(rules.min_confidence),
        "fuzzy": dict(rules.fuzzy),
        "rules": rules.all_rules,
        "minimal_rules": rules.minimal_rules,
        "missing": header.missing,
        "missing_rule": header.missing_rule,
        **bins_entry(header),
    }
    with replace_file(path) as temporary, replace_file(header_path(path)) as beside:
        with open(temporary, "w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(COLUMNS)
            for record in rules.records():
                texts = {name: json.dumps(record[name], ensure_ascii=False) for name in ("antecedent", "minimal", "nodes")}
                cells = record | texts
                writer.writerow(cells[name] for name in COLUMNS)
        beside.write_text(json.dumps(entries, indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
