"""What ``tacit tabulate`` says about the tables that it made: a record and a text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.model.convention import find_convention
from tacit.model.frequencies import FrequencyTable

ALL_VALUES = "The tables are taken to list every value that their people have, so that parts add up to their total."
SOME_VALUES = "The tables are not taken to list every value that their people have: parts may be less than their total."


def printed(release: Mapping[str, Any]) -> str:
    """How the cells of a release of frequency tables were printed, from its entry in a record."""
    parts = [_number(release["tables"], "table"), f"{_number(release['hidden_cells'], 'cell')} hidden"]
    if release.get("convention") is not None:
        about = find_convention(release["convention"]).about
        return "; ".join([*parts, f"read by the convention {release['convention']}: {about}"])
    if release["hidden_below"] is not None:
        zeros = "shown" if release["zeros_shown"] else "hidden, too"
        parts.append(f"each of fewer than {_number(release['hidden_below'], 'person', 'people')}; cells with nobody are {zeros}")
    if release.get("base") is not None:
        parts.append(f"counts rounded to multiples of {release['base']:,}")
    return "; ".join(parts)


def frequencies_record(table: FrequencyTable) -> dict[str, Any]:
    """The record of frequency tables."""
    printing = table.printing
    return {
        "format": "tacit.frequencies/1",
        "n": table.n,
        "columns": list(table.columns),
        "tables": [list(columns) for columns in table.tables()],
        "cells": len(table),
        "hidden_cells": int(table.is_hidden.sum()),
        "hidden_below": printing.hidden_below,
        "zeros_shown": printing.zeros_shown,
        "base": printing.base,
    }


def frequencies_text(table: FrequencyTable, *, dropped: int = 0, origin: str = "") -> str:
    """The same for people to read."""
    record = frequencies_record(table)
    tables, cells, hidden = len(record["tables"]), record["cells"], record["hidden_cells"]
    lines = [f"{_number(tables, 'table')} with {_number(cells, 'cell')} about {_number(table.n or 0, 'person', 'people')}"]
    if table.printing.hidden_below is not None:
        zeros = "cells with nobody are shown" if table.printing.zeros_shown else "cells with nobody are hidden, too"
        lines.append(f"hidden: {_number(hidden, 'cell')} with fewer than {table.printing.hidden_below:,} people; {zeros}")
    if table.printing.base is not None:
        lines.append(f"rounded: to the nearest multiple of {table.printing.base:,}; the header says n exactly")
    if dropped:
        lines.append(f"left out: {_number(dropped, 'row')} with a missing value")
    if origin:
        lines.append(f"options from {origin}")
    return "\n".join(lines) + "\n"


def _number(count: int, one: str, several: str = "") -> str:
    return f"1 {one}" if count == 1 else f"{count:,} {several or one + 's'}"
