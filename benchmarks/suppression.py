"""How many cells are hidden, against classical heuristics of secondary suppression, written plainly here.

``python -m benchmarks.suppression`` prints the section. The rivals share no code with Tacit. Each is run as published, and its result audited;
where that is exposed, the rival goes on: every cell of a told group is treated as one more small cell, until the audit is clean.
"""

from __future__ import annotations

import csv
import gzip
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import tacit
from benchmarks.models import cpu_seconds
from tacit.joint.protection import find_told
from tacit.model.frequencies import CellPrinting, FrequencyTable
from tacit.model.people import Same
from tacit.model.policy import Limits
from tacit.repairs.suppress import Choice, Separation, SuppressCase, Units, propose
from tacit.verbs.suppress import Options, Plan

K = 10
ANY = "*"
Cell = tuple[str, ...]
Counts = dict[Cell, int]
Rival = Callable[[Counts, set[Cell]], set[Cell]]
FOLDER = os.environ.get("TACIT_BENCH_DATA")  #: A folder with ``adult.csv.gz``, if there is one.
MOST_TURNS = 40  #: Turns of a rival at most.
#: Pairs of columns of Adult, as the documentation of the repair lists them.
PAIRS = (("workclass", "education"), ("education", "marital-status"), ("native-country", "occupation"), ("age", "occupation"))


# Rivals


def lines_of(counts: Counts) -> Iterator[list[Cell]]:
    """A total and its parts along one dimension."""
    values = [sorted({cell[place] for cell in counts} - {ANY}) for place in range(len(next(iter(counts))))]
    for total in counts:
        for place in range(len(total)):
            if total[place] == ANY:
                yield [total, *((*total[:place], value, *total[place + 1 :]) for value in values[place])]


def simple_heuristic(counts: Counts, hidden: set[Cell]) -> set[Cell]:
    """Line by line: where one cell alone is hidden, hide the smallest other one too, until no line has a single one."""
    hidden = set(hidden)
    lines = list(lines_of(counts))
    everything = tuple(ANY for _ in next(iter(counts)))
    changed = True
    while changed:
        changed = False
        for line in lines:
            inside = [cell for cell in line if cell in hidden]
            others = [cell for cell in line if cell not in hidden and counts[cell] > 0 and cell != everything]
            if len(inside) == 1 and others:
                hidden.add(min(others, key=lambda cell: (cell.count(ANY), counts[cell], cell)))
                changed = True
    return hidden


def hypercube(counts: Counts, hidden: set[Cell]) -> set[Cell]:
    """For every small cell the cheapest block with it in a corner, all other corners filled; totals by blocks of totals."""
    hidden = set(hidden)
    values = [sorted({cell[place] for cell in counts} - {ANY}) for place in range(len(next(iter(counts))))]
    for cell in sorted(hidden, key=lambda one: (one.count(ANY), counts[one], one)):
        choices = [[value for value in values[place] if value != own] if own != ANY else [ANY] for place, own in enumerate(cell)]
        best: tuple[int, int, list[Cell]] | None = None
        for opposite in product(*choices):
            corners = [
                corner for corner in set(product(*({a, b} for a, b in zip(cell, opposite, strict=True)))) if corner != cell
            ]
            if any(counts[corner] == 0 for corner in corners):
                continue
            fresh = [corner for corner in corners if corner not in hidden]
            price = (sum(counts[corner] for corner in fresh), len(fresh), sorted(fresh))
            best = price if best is None else min(best, price)
        if best is not None:
            hidden.update(best[2])
    return hidden


RIVALS: dict[str, Rival] = {"simple heuristic": simple_heuristic, "hypercube": hypercube}


# Tables


def with_totals(columns: list[list[str]]) -> Counts:
    """All cells and totals of columns of values."""
    values = [sorted(set(column)) for column in columns]
    single = Counter(zip(*columns, strict=True))
    counts: Counts = {}
    for cell in product(*([*own, ANY] for own in values)):
        chosen = [[value] if value != ANY else own for value, own in zip(cell, values, strict=True)]
        counts[cell] = sum(single[one] for one in product(*chosen))
    return counts


def drawn(shape: tuple[int, ...], n: int, seed: int) -> list[list[str]]:
    """People with skewed, dependent values."""
    random = np.random.default_rng(seed)
    kind = random.random(n)
    columns = []
    for width in shape:
        place = np.minimum((kind * 0.6 + random.beta(0.8, 2.2, n) * 0.7) * width, width - 1).astype(int)
        columns.append([f"v{one:02d}" for one in place.tolist()])
    return columns


def tables() -> Iterator[tuple[str, Counts]]:
    """The tables to be made safe."""
    for shape, n, seed in (((8, 12), 4_000, 1), ((15, 20), 12_000, 2), ((30, 20), 20_000, 3), ((5, 6, 4), 6_000, 4)):
        yield " x ".join(map(str, shape)), with_totals(drawn(shape, n, seed))
    for pair in PAIRS[:3]:
        yield from adult(pair)


def adult(pair: tuple[str, str]) -> Iterator[tuple[str, Counts]]:
    """A table of Adult, if it is there."""
    if FOLDER and (file := Path(FOLDER) / "adult.csv.gz").exists():
        with gzip.open(file, "rt", encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        yield f"Adult, {' x '.join(pair)}", with_totals([[row[name] for row in rows] for name in pair])


def small_cells(counts: Counts) -> set[Cell]:
    """The cells of fewer than k people."""
    everything = tuple(ANY for _ in next(iter(counts)))
    return {cell for cell, count in counts.items() if count < K and cell != everything}


def release_of(counts: Counts, hidden: set[Cell], *, below: bool = False) -> FrequencyTable:
    """The table with hidden cells, which say nothing, or that they are small."""
    columns = [f"column {place + 1}" for place in range(len(next(iter(counts))))]
    n = counts[tuple(ANY for _ in columns)]
    shown = [None if cell in hidden else count for cell, count in counts.items()]
    printing = CellPrinting(hidden_below=K) if below else None
    return FrequencyTable.of(columns, [list(cell) for cell in counts], shown, n=n, printing=printing, no_sa=True)


def audited(counts: Counts, hidden: set[Cell]) -> Any:
    """The audit of a rival's table."""
    table = release_of(counts, hidden)
    return tacit.audit(_open(table), k=K)


def _open(table: FrequencyTable) -> FrequencyTable:
    from dataclasses import replace

    return replace(
        table,
        printing=CellPrinting(),
        lo=np.where(table.is_hidden, 0, table.lo),
        hi=np.where(table.is_hidden, table.n or 0, table.hi),
    )


def until_safe(rival: Rival, counts: Counts, small: set[Cell]) -> tuple[set[Cell], set[Cell], int, bool]:
    """The rival's cells, those after it has gone on until safe, the groups told at first, and whether it ended safe."""
    first = rival(counts, small)
    hidden = first
    told = -1
    for _ in range(MOST_TURNS):
        found = audited(counts, hidden)
        told = len(found.findings) if told < 0 else told
        if found.verdict != "exposed":
            return first, hidden, told, found.ok
        hidden = rival(counts, _more(found, counts, hidden))
    return first, hidden, told, False


def _more(found: Any, counts: Counts, hidden: set[Cell]) -> set[Cell]:
    """One more cell for every told group: the smallest that its proof cites."""
    order = list(counts)
    more = set(hidden)
    everything = tuple(ANY for _ in order[0])
    for finding in found.findings:
        cited = [order[one.place - 2] for one in finding.because if isinstance(one.place, int)]
        free = [cell for cell in cited if cell not in hidden and counts[cell] > 0 and cell != everything]
        if free and not any(cell in more for cell in free):
            more.add(min(free, key=lambda cell: (cell.count(ANY), counts[cell], cell)))
    return more


# What groups of several cells cost


def protect_single_cells(table: FrequencyTable) -> Choice:
    """The fewest further cells if an attacker asked about single cells only, and took no two hidden ones together."""
    plan = Plan((table,), Same(), (0,), K, Options(), attacker="reader")

    def separate(chosen: Units, limits: Limits) -> Separation:
        told = find_told(plan.read(chosen), plan.people, plan.population, plan.needs, limits)
        cuts = (frozenset(plan.unit_of[place] for place in one.cited if place in plan.unit_of) - chosen for one in told.told)
        return Separation(tuple(cuts), is_safe=not told.told and not told.open)

    return propose(SuppressCase(plan.weights, plan.ties, plan.unit, separate, Limits(), sums=plan.sums))


def run_groups() -> list[str]:
    """Measure what it takes to protect single cells, groups of cells, and both from those who know the method."""
    lines = [
        "",
        f"Adult, further cells (small: fewer than {K}, hidden with `tacit tabulate --total --hide-below {K}`), each number proved to be",
        "the least. *Single cells*: if only hidden cells one by one counted, as in the classical problem. But all hidden cells of a row",
        "are a group of people as well: if the total less all shown cells is 5, 5 people are in the hidden ones. The audit finds these",
        "groups, so that *reader* and *method* (the attackers of `tacit repair --method suppress --attacker`) take more cells.",
        "",
        "| table | cells | small | single cells | reader | method | time |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for pair in PAIRS:
        for name, counts in adult(pair):
            start = time.process_time()
            small = small_cells(counts)
            table = release_of(counts, small, below=True)
            single = protect_single_cells(table)
            assert single.is_optimal, "a smaller choice may do"
            told = [str(len(single.hidden))]
            for attacker in ("reader", "method"):
                done = tacit.repair(table, method="suppress", k=K, attacker=attacker)
                assert done.ok, "the result is not clean"
                assert done.facts["optimal"], "a smaller choice may do"
                told.append(f"{done.facts['hidden']:,}")
            lines.append(
                f"| {name} | {len(counts):,} | {len(small):,} | {' | '.join(told)} | {time.process_time() - start:.1f} s |"
            )
    return lines if len(lines) > 8 else []


# Large tables


def large(*, isolated: int) -> Counts:
    """A table of 100 x 100 cells: with so many small cells, each alone in its row and column, or with a third of them small."""
    random = np.random.default_rng(0)
    inner = random.negative_binomial(1, 0.04, (100, 100))
    if isolated:
        inner = random.integers(20, 200, (100, 100))
        inner[random.permutation(100)[:isolated], random.permutation(100)[:isolated]] = random.integers(1, 8, isolated)
    full = np.pad(inner, ((0, 1), (0, 1)))
    full[-1] = full.sum(axis=0)
    full[:, -1] = full.sum(axis=1)
    names = [*(f"{place:02d}" for place in range(100)), ANY]
    return {(row, column): int(full[at, to]) for at, row in enumerate(names) for to, column in enumerate(names)}


def run_large() -> list[str]:
    """Measure tables of ten thousand cells."""
    lines = [
        "",
        "Tables of two columns and 10,201 cells, for the attacker who knows the method. CPU seconds include the solvers. Few small cells,",
        "each alone in its row and its column, are the hard case: nothing else is hidden yet that could protect them. Tables over three",
        "columns of this size are not decided: optima over three columns are fractions of people, so that a population of whole people",
        "has to be found for nearly every question. The audit of 21 x 21 x 21 cells, of which a third are hidden, leaves 3,123 groups",
        "neither proved nor refuted; with `--time-limit`, all cells are hidden then, and the verdict says that nothing is proved.",
        "",
        "| small | cells hidden besides | CPU |",
        "|---|---|---:|",
    ]
    for isolated in (0, 12):
        table = release_of(large(isolated=isolated), set())
        start = cpu_seconds()
        done = tacit.repair(table, method="suppress", k=K)
        assert done.ok, "the result is not clean"
        small = done.facts["primary"]
        proved = "proved the least" if done.facts["optimal"] else f"at least {done.facts['lower_bound'] - small:,}"
        which = f"{small:,}, each alone in its row" if isolated else f"{small:,}"
        lines.append(f"| {which} | {done.facts['hidden'] - small:,} ({proved}) | {cpu_seconds() - start:.0f} s |")
    return lines


def run() -> str:
    """Measure and write the section."""
    lines = [
        "## Suppression of cells",
        "",
        f"Cells and people hidden besides small cells (fewer than {K}) until no attack succeeds, where hidden cells say nothing",
        "(`--attacker reader`). *As published*: the heuristic by itself, with the groups that its result still tells. *Until safe*: after each",
        "audit the heuristic goes on with one more cell for every told group. The simple heuristic hides the smallest cell wherever a line has",
        "a single hidden one; the hypercube method hides the cheapest block around every small cell. Both are written plainly in",
        "`benchmarks/suppression.py`. Where the least is proved, no method can hide less: a rival that hides as many cells or people until",
        "safe has met the optimum, without knowing it.",
        "",
        "| table | cells | small | method | as published: cells, people, told | until safe: cells, people | time |",
        "|---|---:|---:|---|---|---|---:|",
    ]
    for name, counts in tables():
        small = small_cells(counts)

        def people(cells: set[Cell], counts: Counts = counts, small: set[Cell] = small) -> int:
            return sum(counts[cell] for cell in cells - small)

        rows = []
        start = time.process_time()
        given = release_of(counts, small, below=True)
        for cost in ("cells", "people"):
            done = tacit.repair(given, method="suppress", k=K, attacker="reader", cost=cost)
            assert done.ok, "the result is not clean"
            proved = "proved the least" if done.facts["optimal"] else f"at least {done.facts['lower_bound']:,}"
            spent = time.process_time() - start
            start = time.process_time()
            rows.append(
                (f"**Tacit**, `--cost {cost}`", "", f"{done.facts['hidden']:,}, {done.cost['people_hidden']:,} ({proved})", spent)
            )
        for rival, choose in RIVALS.items():
            start = time.process_time()
            first, last, told, is_safe = until_safe(choose, counts, small)
            published = f"{len(first - small):,}, {people(first):,}, {told:,}"
            ended = f"{len(last - small):,}, {people(last):,}" + ("" if is_safe else " (not safe)")
            rows.append((rival, published, ended, time.process_time() - start))
        for place, (who, published, ended, spent) in enumerate(rows):
            head = f"{name} | {len(counts):,} | {len(small):,}" if place == 0 else " | | "
            lines.append(f"| {head} | {who} | {published} | {ended} | {spent:.1f} s |")
    return "\n".join([*lines, *run_groups(), *run_large()])


if __name__ == "__main__":
    print(run())
