"""Tacit's own release files, written: a CSV or Parquet file and the header file beside it, both or neither."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from tacit.errors import OptionError
from tacit.formats.files import FilePath, packed_text, replace_file, shown
from tacit.formats.header import header_entries, header_path
from tacit.formats.parquet import write_by_csv
from tacit.model.release import Decimals, Itemsets, Listed, Rules
from tacit.model.sets import Sets

_BATCH = 20_000


def write(release: Listed, path: FilePath) -> None:
    """Write a release as ``.csv``, ``.csv.gz`` or ``.parquet``, with its header beside it; rows keep their order."""
    ending = ending_of(path)
    entries = json.dumps(header_entries(release), indent=2, ensure_ascii=False) + "\n"
    # Both temporary files are complete before either is moved to its place.
    with replace_file(path) as temporary, replace_file(header_path(path)) as beside:
        _WRITERS[ending](release, temporary)
        beside.write_text(entries, encoding="utf-8", newline="\n")


def ending_of(path: FilePath) -> str:
    """The ending of the name, which chooses the format; raises when there is no such format, to be asked before long work."""
    name = os.fspath(path).casefold()
    ending = next((ending for ending in _WRITERS if name.endswith(ending)), None)
    if ending is None:
        raise OptionError("the ending names no format that can be written", where=shown(path), remedy=f"End it with {_ENDINGS}")
    return ending


def _write_csv(release: Listed, path: Path) -> None:
    with open(path, "w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(_batches(release))


def _write_gzip(release: Listed, path: Path) -> None:
    with packed_text(path) as stream:
        stream.writelines(_batches(release))


def _write_parquet(release: Listed, path: Path) -> None:
    sides = "from_json(itemset, '[\"VARCHAR\"]') AS itemset" if isinstance(release, Itemsets) else "antecedent, consequent"
    confidence = "" if isinstance(release, Itemsets) else ", CAST(confidence AS DOUBLE) AS confidence"
    texts = ["itemset"] if isinstance(release, Itemsets) else ["antecedent", "consequent"]
    columns = [*texts, "count", "support"] if isinstance(release, Itemsets) else [*texts, "count", "support", "confidence"]
    chosen = f"{sides}, CAST(count AS BIGINT) AS count, CAST(support AS DOUBLE) AS support{confidence}"
    write_by_csv(path, partial(_write_csv, release), columns, texts, chosen)


_WRITERS: dict[str, Callable[[Listed, Path], None]] = {".csv": _write_csv, ".csv.gz": _write_gzip, ".parquet": _write_parquet}
_ENDINGS = ".csv, .csv.gz or .parquet"


# Lines


def _batches(release: Listed) -> Iterator[str]:
    """The text of the file, many lines at a time."""
    itemsets = isinstance(release, Itemsets)
    yield "itemset,count,support\n" if itemsets else "antecedent,consequent,count,support,confidence\n"
    numbers = _numbers(release)
    sides = _itemset_cells(release) if isinstance(release, Itemsets) else _rule_cells(release)
    for start in range(0, len(release), _BATCH):
        stop = min(start + _BATCH, len(release))
        yield "".join(f"{side},{number}\n" for side, number in zip(sides(start, stop), numbers(start, stop), strict=True))


Cells = Callable[[int, int], Iterable[str]]


def _quoted(text: str) -> str:
    """A CSV cell."""
    return '"' + text.replace('"', '""') + '"'


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _sets_cells(sets: Sets, fragments: list[str], ends: str) -> Cells:
    """Cells that join prepared fragments, one per item, between two brackets."""

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
    """The value of the SA as plain text."""
    assert release.items.pairs is not None
    column = " & ".join(release.header.sa)
    chosen = np.unique(release.consequents.members)
    if (release.consequents.lengths != 1).any() or any(release.items.pairs[item][0] != column for item in chosen):
        raise OptionError("a consequent is not one value of the SA", where="release", remedy="Give rules QI => SA, or no 'sa'")
    values = [_quoted(value) for _, value in release.items.pairs]
    return lambda start, stop: (values[item] for item in release.consequents.members[start:stop].tolist())


def _numbers(release: Listed) -> Cells:
    """The cells ``count,support`` (and ``,confidence`` of rules); empty where a value is withheld."""
    n = release.n
    rounded = release.rounded if isinstance(release, Itemsets) else None
    if rounded is not None:
        return lambda start, stop: (f"{count}," for count in rounded[start:stop].tolist())

    def cells(start: int, stop: int) -> Iterator[str]:
        lows, highs = release.lo[start:stop].tolist(), release.hi[start:stop].tolist()
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
    """Printed confidences; exact counts give them exactly, also where only counts are kept."""
    if rules.confidence is not None:
        yield from _texts(rules.confidence, start, stop)
        return
    ends = (rules.lo, rules.hi, rules.whole_lo, rules.whole_hi)
    for low, high, whole_low, whole_high in zip(*(end[start:stop].tolist() for end in ends), strict=True):
        exact = low == high and whole_low == whole_high and whole_low > 0
        yield repr(low / whole_low) if exact and rules.support is None else ""


def _texts(decimals: Decimals | None, start: int, stop: int) -> Iterable[str]:
    return ("" for _ in range(start, stop)) if decimals is None else (decimals.text(i) for i in range(start, stop))
