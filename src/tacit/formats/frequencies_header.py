"""The header beside a frequency table: how many people it is about, and how its cells were hidden and rounded."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tacit.errors import InputError
from tacit.formats.files import FilePath
from tacit.formats.header import entries_beside, format_beside, header_path
from tacit.model.bound import Bound
from tacit.model.convention import CONVENTIONS, Convention, find_convention
from tacit.model.frequencies import CellPrinting, FrequencyTable
from tacit.model.number import ROUNDINGS, Rounding
from tacit.model.schema import MISSING_RULES

FORMAT = "tacit.frequencies/1"
#: The keys of the header.
KEYS = frozenset(
    {
        *("format", "n", "columns", "qi", "sa", "sa_values", "complete", "hidden_below", "zeros_shown", "rounding", "any"),
        *("missing", "missing_rule", "convention", "span", "digits", "made_by", "formulas"),
    }
)
#: What the key ``formulas`` says where texts that look like formulas are written with an apostrophe before them.
APOSTROPHE = "apostrophe"
#: Values of a numeric column whose means and medians are printed, at most.
MOST_VALUES = 1_000


@dataclass(frozen=True, slots=True)
class TableHeader:
    """What the header says; None or empty where it does not say it, and ``where`` is empty when there is none."""

    n: int | None = None
    columns: tuple[str, ...] = ()
    complete: bool | None = None
    printing: CellPrinting = field(default_factory=CellPrinting)
    any_mark: str | None = None
    missing: str | None = None
    missing_rule: str | None = None
    span: Bound | None = None
    digits: int | None = None
    qi: tuple[str, ...] = ()
    sa: tuple[str, ...] | None = None
    sa_values: tuple[str, ...] = ()
    where: str = ""
    guarded: bool = False


def is_described(path: FilePath) -> bool:
    """Whether the header beside a file calls it a frequency table."""
    return format_beside(path) == FORMAT


def read_table_header(path: FilePath) -> TableHeader:
    """The header beside a file; an empty one where there is none."""
    entries = entries_beside(path, (FORMAT,), KEYS)
    if entries is None:
        return TableHeader()
    where = os.path.basename(header_path(path))
    check = _Entries(entries, where)
    base, rounding = check.rounding()
    printing = CellPrinting(
        check.whole("hidden_below", least=1), check.flag("zeros_shown") is True, base, rounding, check.convention()
    )
    return TableHeader(
        check.whole("n"),
        check.names("columns"),
        check.flag("complete"),
        printing,
        check.text("any"),
        check.text("missing"),
        check.choice("missing_rule", MISSING_RULES),
        check.span("span"),
        check.whole("digits"),
        check.names("qi"),
        None if entries.get("sa") is None else check.names("sa"),
        check.names("sa_values"),
        where,
        check.choice("formulas", (APOSTROPHE,)) is not None,
    )


def header_entries(table: FrequencyTable) -> dict[str, Any]:
    """The header of a table as the entries of its JSON object."""
    printing, header = table.printing, table.header
    rounding: dict[str, Any] | None = None
    if printing.base is not None:
        rounding = {"base": printing.base} | ({} if printing.rounding == "nearest" else {"mode": printing.rounding})
    out: dict[str, Any] = {
        "format": FORMAT,
        "n": header.n,
        "columns": list(table.columns),
        "qi": list(header.qi),
        "sa": list(header.sa) if header.has_roles else None,
        "sa_values": list(header.sa_values),
        "complete": header.complete,
        "hidden_below": printing.hidden_below,
        "zeros_shown": printing.zeros_shown,
        "rounding": rounding,
        "any": table.any_mark,
        "missing": header.missing,
        "missing_rule": header.missing_rule,
    }
    if printing.convention is not None:
        out["convention"] = printing.convention.name
    measured = table.measured
    return out if measured is None else out | {"span": measured.span.to_list(), "digits": measured.digits}


@dataclass(frozen=True, slots=True)
class _Entries:
    """Typed access to the entries; a wrong type is an error that names the key."""

    entries: Mapping[str, Any]
    where: str

    def wrong(self, key: str, what: str) -> InputError:
        return InputError(what, where=f"{self.where}, key {key!r}", remedy="Correct it, or remove the key")

    def whole(self, key: str, least: int = 0) -> int | None:
        return self._whole(key, self.entries.get(key), least)

    def _whole(self, key: str, value: Any, least: int) -> int | None:
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**49):
            raise self.wrong(key, f"must be a whole number of at least {least}")
        return None if value is None else int(value)

    def flag(self, key: str) -> bool | None:
        value = self.entries.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(key, "must be true or false")
        return value

    def text(self, key: str) -> str | None:
        value = self.entries.get(key)
        if value is not None and not isinstance(value, str):
            raise self.wrong(key, "must be text")
        return value

    def choice(self, key: str, known: tuple[str, ...]) -> str | None:
        value = self.text(key)
        if value is not None and value not in known:
            raise self.wrong(key, f"must be one of {', '.join(known)}")
        return value

    def names(self, key: str) -> tuple[str, ...]:
        value = self.entries.get(key)
        listed = [] if value is None else [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
            raise self.wrong(key, "must be a list of texts")
        return tuple(listed)

    def span(self, key: str) -> Bound | None:
        value = self.entries.get(key)
        if value is None:
            return None
        ends = [self._whole(key, end, 0) for end in value] if isinstance(value, list) and len(value) == 2 else []
        if len(ends) != 2 or ends[0] is None or ends[1] is None or not ends[0] <= ends[1] < ends[0] + MOST_VALUES:
            raise self.wrong(key, f"must be a list of the smallest and the largest value, at most {MOST_VALUES:,} apart")
        return Bound(ends[0], ends[1])

    def convention(self) -> Convention | None:
        name = self.choice("convention", tuple(one.name for one in CONVENTIONS))
        return None if name is None else find_convention(name)

    def rounding(self) -> tuple[int | None, Rounding]:
        value = self.entries.get("rounding")
        if value is None:
            return None, "nearest"
        mode = value.get("mode", "nearest") if isinstance(value, dict) else None
        if not isinstance(value, dict) or mode not in ROUNDINGS:
            raise self.wrong("rounding", f"must be an object with a base, and a mode among {', '.join(ROUNDINGS)}")
        return self._whole("rounding", value.get("base"), 2), mode
