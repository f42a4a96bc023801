"""Changes of a release that must not change what is said about it, or only in one direction."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import tacit
from tests.judge.cases import Case
from tests.judge.publishers import Published
from tests.judge.verdicts import L, flags_of, people_of
from tests.judge.worlds import Space

#: A group as the cells that it holds.
Cells = frozenset[int]


@dataclass(frozen=True)
class Told:
    """What an audit said: its verdict and the groups that it names."""

    verdict: str
    groups: frozenset[Cells]

    def misses(self, other: Told) -> list[Cells]:
        """The groups of another answer of which this one names neither them, nor a part of them, nor a group around them."""
        return [one for one in other.groups if not any(one <= mine or mine <= one for mine in self.groups)]


def tell(case: Case, space: Space, files: Mapping[str, str], names: list[str], folder: Path, people: str | None) -> Told:
    """What Tacit says about these files."""
    write_all(files, folder)
    return tell_paths(case, space, [folder / name for name in names], people)


def tell_paths(case: Case, space: Space, paths: list[Path], people: str | None) -> Told:
    """What Tacit says about files that are there."""
    record = record_of(case, paths, people)
    groups = [flags_of(case, space, finding).nonzero()[0].tolist() for finding in record["findings"]]
    return Told(record["verdict"], frozenset(frozenset(group) for group in groups))


def tell_verdict(case: Case, files: Mapping[str, str], names: list[str], folder: Path, people: str | None) -> str:
    """The verdict about these files."""
    write_all(files, folder)
    return str(record_of(case, [folder / name for name in names], people)["verdict"])


def record_of(case: Case, paths: list[Path], people: str | None) -> dict[str, Any]:
    """The record of an audit of these files."""
    given: dict[str, Any] = {"policy": tacit.Policy(k=case.k, l=L)}
    if people is not None:
        given["people"] = people_of(people)
    found = tacit.audit([str(path) for path in paths] if len(paths) > 1 else str(paths[0]), **given)
    return found.to_dict(top=100_000)


def write_all(files: Mapping[str, str], folder: Path) -> None:
    """Write files into a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


# Changes of one file: each returns the new files and their names


def read(release: Published) -> tuple[list[str], list[list[str]], dict[str, Any]]:
    """The names of the columns, the lines and the header of a release."""
    names, *lines = csv.reader(io.StringIO(release.files[release.name]))
    return names, lines, json.loads(release.files[f"{release.name}.json"])


def write(name: str, names: list[str], lines: list[list[str]], header: Mapping[str, Any]) -> dict[str, str]:
    """The files of a release."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([names, *lines])
    return {name: out.getvalue(), f"{name}.json": json.dumps(header)}


def copied(release: Published) -> tuple[dict[str, str], list[str]]:
    """The release beside a copy of itself."""
    copy = {name.replace(release.name, "copy.csv", 1): text for name, text in release.files.items()}
    return {**release.files, **copy}, [release.name, "copy.csv"]


def reordered(release: Published, random: Random) -> tuple[dict[str, str], list[str]]:
    """The same lines in another order."""
    names, lines, header = read(release)
    random.shuffle(lines)
    return write(release.name, names, lines, header), [release.name]


def without_a_line(release: Published, random: Random) -> tuple[dict[str, str], list[str]] | None:
    """One line less, where the rest stays true: of a list that is not complete, of a table whose values stay named."""
    names, lines, header = read(release)
    if len(lines) < 2:
        return None
    kept = list(lines)
    kept.pop(random.randrange(len(kept)))
    if header["format"] == "tacit.frequencies/1":
        if any({line[place] for line in kept} != {line[place] for line in lines} for place in range(len(names) - 1)):
            return None
    elif header.get("complete"):
        return None
    return write(release.name, names, kept, header), [release.name]


def split(release: Published, random: Random) -> tuple[dict[str, str], list[str]] | None:
    """The lines in two files; a list that was complete is so no longer."""
    names, lines, header = read(release)
    first = [line for line in lines if random.random() < 0.5]
    second = [line for line in lines if line not in first]
    if not first or not second:
        return None
    if header["format"] == "tacit.frequencies/1":
        if any(
            {line[place] for line in part} != {line[place] for line in lines}
            for part in (first, second)
            for place in range(len(names) - 1)
        ):
            return None
    else:
        header = {**header, "complete": False}
    return {**write("first.csv", names, first, header), **write("second.csv", names, second, header)}, ["first.csv", "second.csv"]


def as_spmf(release: Published) -> tuple[dict[str, str], list[str]] | None:
    """An exact list as SPMF writes it."""
    _, lines, header = read(release)
    if header["format"] != "tacit.itemsets/1" or "rounding" in header or "digits" in header:
        return None
    text = "".join(f"{' '.join(json.loads(line[0]))} #SUP: {line[1]}\n" for line in lines)
    return {"list.txt": text, "list.txt.json": json.dumps(header)}, ["list.txt"]


def as_parquet(paths: list[Path]) -> list[Path]:
    """The same releases as Parquet."""
    out = []
    for path in paths:
        tacit.write_release(tacit.read_release(str(path)), str(path.with_suffix(".parquet")))
        out.append(path.with_suffix(".parquet"))
    return out


def renamed(case: Case) -> tuple[Case, dict[str, str]] | None:
    """The case with other names for items and columns, and the files so."""
    (release,) = case.releases
    names, lines, header = read(release)
    new = {column: f"n{place}" for place, column in enumerate(sorted(release.named, reverse=True))}

    def item(name: str) -> str:
        column, equals, value = name.partition("=")
        return f"{new[column]}{equals}{value}"

    if header["format"] == "tacit.itemsets/1":
        lines = [[json.dumps([item(one) for one in json.loads(line[0])]), *line[1:]] for line in lines]
        header = {**header, **({"columns": [new.get(one, one) for one in header["columns"]]} if "columns" in header else {})}
    elif header["format"] == "tacit.frequencies/1":
        names = [new.get(name, name) for name in names]
        header = {**header, "columns": [new[one] for one in header["columns"]]}
    else:
        return None
    named = {new[column]: values for column, values in release.named.items()}
    statements = [
        tuple(
            replace(bound, terms=tuple((weight, {new[c]: v for c, v in box.items()}) for weight, box in bound.terms))
            for bound in one
        )
        for one in release.statements
    ]
    files = write(release.name, names, lines, header)
    changed = replace(release, files=files, named=named, statements=statements, closed={new[column] for column in release.closed})
    return replace(case, releases=[changed]), files


Change = Callable[[Published, Random], tuple[dict[str, str], list[str]] | None]
